//===- Text.h - a string that grows ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What diagnostics, signatures, cache keys, pipelines and kernels are written
// into.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_SUPPORT_TEXT_H
#define GQ_LIB_SUPPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/// Starts as `{0}`. `data` is null while nothing was appended, and ends in a
/// null character that `length` does not count.
typedef struct gqText {
  char *data;
  size_t length;
  size_t capacity;
  /// Memory ran out; what was appended since is lost.
  bool failed;
} gqText;

void gqTextAppend(gqText *text, const char *data, size_t length);

void gqTextPrintf(gqText *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// The text as a C string, never null.
static inline const char *gqTextString(const gqText *text) {
  return text->data ? text->data : "";
}

/// What was written, for a caller that cannot report that memory ran out: then
/// ends the process, as MLIR itself does. Null while nothing was appended.
char *gqTextOrAbort(const gqText *text);

void gqTextFree(gqText *text);

/// Whether a string of so many bytes begins with `prefix`.
bool gqStartsWith(const char *data, size_t length, const char *prefix);

#endif // GQ_LIB_SUPPORT_TEXT_H
