//===- File.c - reading files ---------------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "File.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

gqStatus fileReadAll(FILE *file, char **content, size_t *length) {
  size_t capacity = 1 << 16;
  *content = NULL;
  *length = 0;
  do {
    capacity *= 2;
    char *larger = realloc(*content, capacity);
    if (!larger) {
      free(*content);
      return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
    }
    *content = larger;
    *length += fread(*content + *length, 1, capacity - 1 - *length, file);
  } while (*length == capacity - 1);
  (*content)[*length] = '\0';
  if (!ferror(file))
    return GQ_OK;
  free(*content);
  return gqFail(GQ_IO_ERROR, "%s", strerror(errno));
}

gqStatus fileRead(const char *path, char **content, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return gqFail(GQ_IO_ERROR, "%s", strerror(errno));
  gqStatus status = fileReadAll(file, content, length);
  fclose(file);
  return status;
}
