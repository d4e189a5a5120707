//===- Npy.h - numpy's .npy files --------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes arrays in numpy's file format, versions 1 to 3, as
// numpy.lib.format describes it: little endian, C order.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQRUN_NPY_H
#define GQ_TOOLS_GQRUN_NPY_H

#include "gq/Runtime/Status.h"

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdio.h>

enum {
  NPY_MAX_RANK = 32,
};

typedef struct NpyArray {
  DLDataType dtype;
  int rank;
  int64_t shape[NPY_MAX_RANK];
  /// In bytes.
  size_t size;
  /// Owned; to be freed. Not null, even if the array is empty.
  void *data;
} NpyArray;

/// Reads an array of bool, uint8, int8, uint16, int16, int32, int64, float16,
/// float32 or float64. Raw bytes, as which ml_dtypes saves small floats, become
/// uint8 (one byte) or uint16 (two). Errors: GQ_IO_ERROR; the message does not
/// name the file.
gqStatus npyRead(FILE *file, NpyArray *array);

/// Writes a contiguous tensor on the CPU. What numpy has no name for is
/// written as unsigned integers; all 8-bit data but bool as uint8. Errors:
/// GQ_IO_ERROR; the message does not name the file.
gqStatus npyWrite(FILE *file, const DLTensor *tensor);

#endif // GQ_TOOLS_GQRUN_NPY_H
