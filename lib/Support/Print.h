//===- Print.h - what MLIR prints, as text -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_SUPPORT_PRINT_H
#define GQ_LIB_SUPPORT_PRINT_H

#include "Text.h"

#include "mlir-c/Support.h"

/// A MlirStringCallback: appends the string to `text`, a gqText.
static inline void gqAppendString(MlirStringRef string, void *text) {
  gqTextAppend(text, string.data, string.length);
}

#endif // GQ_LIB_SUPPORT_PRINT_H
