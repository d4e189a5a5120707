//===- Source.h - what the pipeline takes for granted ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's passes trust what they are given: some names are taken for functions
// that they call, and some inputs end the process. What is checked here does
// not get that far.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_SOURCE_H
#define GQ_LIB_COMPILER_SOURCE_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>

/// Why MLIR must not parse this; null if it may. The reader of bytecode trusts
/// the numbers in it: corrupt bytecode hangs it, or ends the process. And the
/// parser calls itself for what is nested, until there is no stack left.
const char *gqSourceRefuse(const char *mlir, size_t length);

/// Checks a module as its author wrote it, and drops attributes that mean
/// something only where gq's passes write them. Emits an error for each thing
/// that is wrong and returns whether there is none.
bool gqSourceCheck(MlirModule module);

#endif // GQ_LIB_COMPILER_SOURCE_H
