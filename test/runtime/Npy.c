//===- Npy.c - reading .npy files ----------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t npyNumElements(const Npy *array) {
  int64_t count = 1;
  for (int d = 0; d < array->rank; ++d)
    count *= array->sizes[d];
  return count;
}

/// The header is a Python dictionary of three entries, written by numpy in one
/// way: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
static bool parseHeader(const char *header, Npy *array) {
  const char *descr = strstr(header, "'descr': '");
  const char *shape = strstr(header, "'shape': (");
  if (!descr || !shape || !strstr(header, "'fortran_order': False") ||
      sscanf(descr, "'descr': '%7[^']'", array->descr) != 1)
    return false;
  array->elementSize = strtol(array->descr + 2, NULL, 10);
  shape += strlen("'shape': (");
  while (*shape >= '0' && *shape <= '9') {
    char *end;
    if (array->rank == 4)
      return false;
    array->sizes[array->rank++] = strtoll(shape, &end, 10);
    shape = end + strspn(end, ", ");
  }
  return true;
}

Npy npyRead(const char *path) {
  Npy array = {0};
  FILE *file = fopen(path, "rb");
  if (!file)
    return array;

  // Magic, version, and the header's length in two bytes.
  uint8_t prefix[10];
  char header[1024] = {0};
  if (fread(prefix, 1, sizeof(prefix), file) == sizeof(prefix) &&
      !memcmp(prefix, "\x93NUMPY\x01", 7)) {
    size_t length = prefix[8] | (size_t)prefix[9] << 8;
    if (length < sizeof(header) && fread(header, 1, length, file) == length &&
        parseHeader(header, &array)) {
      size_t bytes = (size_t)(npyNumElements(&array) * array.elementSize);
      array.data = malloc(bytes + 1);
      if (array.data && fread(array.data, 1, bytes, file) != bytes)
        npyFree(&array);
    }
  }
  fclose(file);
  return array;
}

void npyFree(Npy *array) {
  free(array->data);
  array->data = NULL;
}
