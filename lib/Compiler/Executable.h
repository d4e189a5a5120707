//===- Executable.h - loading a compiled object ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_EXECUTABLE_H
#define GQ_LIB_COMPILER_EXECUTABLE_H

#include "gq/Runtime/Executable.h"

#include <llvm-c/Types.h>

/// Links an object of gqObjectEmit, for a CUDA device or for the CPU, into the
/// process; takes `object`. Needs no device. Errors: GQ_COMPILE_ERROR, such as
/// a function that the module declares and nobody defines.
gqStatus gqExecutableLoad(LLVMMemoryBufferRef object, bool isCuda,
                          gqExecutable **executable);

#endif // GQ_LIB_COMPILER_EXECUTABLE_H
