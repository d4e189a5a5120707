//===- Frontend.h - from MLIR text to LLVM IR --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_FRONTEND_H
#define GQ_LIB_COMPILER_FRONTEND_H

#include "Target.h"

#include <llvm-c/Types.h>

/// Parses the MLIR text, runs the pass pipeline and translates the module into
/// `context`. `mlir` ends in a null character. On success `*module` is owned by
/// the caller and `signatures` is the text that Signature.h describes. Errors:
/// GQ_COMPILE_ERROR with the diagnostics.
gqStatus gqFrontendRun(const char *mlir, size_t length,
                       const gqCompileOptions *options, const gqTarget *target,
                       LLVMContextRef context, LLVMModuleRef *module,
                       gqText *signatures);

#endif // GQ_LIB_COMPILER_FRONTEND_H
