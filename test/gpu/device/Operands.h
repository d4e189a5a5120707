//===- Operands.h - what the row test kernels are given ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_OPERANDS_H
#define GQ_TEST_GPU_OPERANDS_H

#include <stdint.h>

/// Those of the functions of runtime_kernels/kernels/Kernels.h, addresses as
/// integers.
typedef struct Operands {
  uint64_t input;
  int64_t inputStride;
  int64_t rows, columns;
  uint64_t rowIndices;
  int64_t sourceRows;
  uint64_t offsets;
  int64_t numOffsets;
  uint64_t scaleOffsets;
  int64_t groups;
  uint64_t outer;
  uint64_t data;
  int64_t dataStride;
  uint64_t scales;
  int64_t scalesStride, scaleRows;
  /// Null if none are wanted.
  uint64_t scaleOffsetsOut;
  uint64_t status;
  /// Of the two-op path: linear scales without padding.
  uint64_t linear;
  int64_t scaleColumns;
} Operands;

#endif // GQ_TEST_GPU_OPERANDS_H
