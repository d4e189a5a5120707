//===- Heap.h - memory of generated code -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated code does not look at what malloc returns, and the extents that it
// asks memory for come from its arguments. So in place of malloc it calls a
// function that does not return when there is no memory: the call ends there,
// and what it had allocated is freed. Nothing else is lost, because all that
// stands between the call's start and an allocation is generated code: no lock,
// no other owner.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_HEAP_H
#define GQ_LIB_COMPILER_HEAP_H

#include "Object.h"

/// Calls `entry`. Errors: GQ_OUT_OF_MEMORY, after which there are no results.
gqStatus gqHeapCall(gqEntry entry, void *const *results,
                    void *const *arguments);

/// What malloc and free of a module are linked to (see Harden.h). Outside of
/// gqHeapCall, in a module's constructors, they are the C library's.
void *gqHeapAllocate(uint64_t size);
void gqHeapFree(void *memory);

#endif // GQ_LIB_COMPILER_HEAP_H
