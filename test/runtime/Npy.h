//===- Npy.h - reading .npy files --------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_RUNTIME_NPY_H
#define GQ_TEST_RUNTIME_NPY_H

#include <stdbool.h>
#include <stdint.h>

/// An array as it lies in the file, row-major.
typedef struct Npy {
  /// Owned; null if the file could not be read. Free with npyFree.
  void *data;
  /// numpy's name, such as "<f4" or "|u1".
  char descr[8];
  int rank;
  int64_t sizes[4];
  /// Of one element, in bytes.
  int64_t elementSize;
} Npy;

/// Reads a version 1 file in C order. Check `data`.
Npy npyRead(const char *path);

void npyFree(Npy *array);

int64_t npyNumElements(const Npy *array);

#endif // GQ_TEST_RUNTIME_NPY_H
