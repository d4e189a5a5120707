//===- Memory.h - when there is none -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_SUPPORT_MEMORY_H
#define GQ_LIB_SUPPORT_MEMORY_H

/// Ends the process with a message, as MLIR itself does where memory runs out:
/// for what it calls, which has no way to report it.
_Noreturn void gqOutOfMemory(void);

#endif // GQ_LIB_SUPPORT_MEMORY_H
