//===- Harden.h - LLVM IR for arguments of any value -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_HARDEN_H
#define GQ_LIB_COMPILER_HARDEN_H

#include <llvm-c/Types.h>

#define GQ_HEAP_ALLOCATE_SYMBOL "gqHeapAllocate"
#define GQ_HEAP_FREE_SYMBOL "gqHeapFree"

/// Changes what MLIR's lowering takes for granted, in a module that has its
/// target's data layout:
///
/// * A bool in memory is false if it is 0 and true otherwise. LLVM's i1 has
///   only 0 and 1, and callers may pass bytes.
/// * The size of an allocation is the number of its bytes or, if that is
///   negative or more than fits, 2^64 - 1: not what is left after wrapping
///   around.
/// * Memory comes from Heap.h instead of malloc.
void gqModuleHarden(LLVMModuleRef module);

#endif // GQ_LIB_COMPILER_HARDEN_H
