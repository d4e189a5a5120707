//===- Text.c - a string that grows ---------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "Memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Makes room for `length` more characters and the null after them.
static bool reserve(gqText *text, size_t length) {
  if (text->failed)
    return false;
  size_t needed = text->length + length + 1;
  if (needed <= text->capacity)
    return true;
  size_t capacity = needed < 2 * text->capacity ? 2 * text->capacity : needed;
  char *data = realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void gqTextAppend(gqText *text, const char *data, size_t length) {
  if (!reserve(text, length))
    return;
  if (length)
    memcpy(text->data + text->length, data, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void gqTextPrintf(gqText *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length >= 0 && reserve(text, length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += length;
  }
  va_end(again);
  va_end(arguments);
}

char *gqTextOrAbort(const gqText *text) {
  if (text->failed)
    gqOutOfMemory();
  return text->data;
}

void gqTextFree(gqText *text) {
  free(text->data);
  *text = (gqText){0};
}

bool gqStartsWith(const char *data, size_t length, const char *prefix) {
  size_t prefixLength = strlen(prefix);
  return length >= prefixLength && memcmp(data, prefix, prefixLength) == 0;
}
