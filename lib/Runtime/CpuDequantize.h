//===- CpuDequantize.h - dequantizing a matrix on the CPU --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gq.block_dequantize is one matrix, gq.grouped_dequantize one per group.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUDEQUANTIZE_H
#define GQ_LIB_RUNTIME_CPUDEQUANTIZE_H

#include "CpuGroups.h"

/// A matrix of codes and scales, and what it becomes.
typedef struct gqCpuDequantization {
  gqFormat format;
  gqRecipe recipe;
  bool columnwise;
  /// Whether scales are in tile128x4.
  bool tiled;
  /// Of the codes in memory; without a format it says what they are.
  gqElementType type;
  const uint8_t *data;
  /// In bytes, from row to row of the data as stored.
  int64_t stride;
  /// Not read without a format.
  const void *scales;
  /// The number of scales from row to row; in tile128x4 the padded columns.
  int64_t scaleStride;
  /// The global scale, the outer amax or, without a format, scale_inv; null if
  /// there is none.
  const float *outer;
  /// How far apart those of rows and of columns are, 0 where they share one.
  int64_t outerDown, outerAcross;
  gqScaleMax scaleMax;
  /// [rows, K] f32, bf16 or f16.
  gqBuffer out;
} gqCpuDequantization;

/// Does a job of it.
void gqCpuDequantize(const gqCpuDequantization *dequantization,
                     const gqCpuJob *job);

#endif // GQ_LIB_RUNTIME_CPUDEQUANTIZE_H
