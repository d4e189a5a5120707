//===- Nesting.h - how deep a text is nested ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_NESTING_H
#define GQ_LIB_COMPILER_NESTING_H

#include <stdbool.h>
#include <stddef.h>

/// What is wrong with the nesting of MLIR text; null if MLIR can take it. It
/// calls itself for what is nested, until there is no stack left, and writes
/// out attributes and types that have others many times over, until there is no
/// time left. Both can be had by names that stand for attributes and types,
/// without a single bracket that is deep.
const char *gqNestingRefuse(const char *mlir, size_t length);

#endif // GQ_LIB_COMPILER_NESTING_H
