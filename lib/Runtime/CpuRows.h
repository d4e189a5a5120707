//===- CpuRows.h - what the CPU ops do to a row ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fused op and the two that it is made of share these, so they cannot
// differ in a byte.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUROWS_H
#define GQ_LIB_RUNTIME_CPUROWS_H

#include "gq/Runtime/Types.h"

/// Address of row `row` of a matrix.
static inline void *gqCpuRow(const gqBuffer *matrix, int64_t row) {
  return (uint8_t *)matrix->data +
         row * matrix->strides[0] *
             gqElementTypeSize((gqElementType)matrix->type);
}

/// Quantizes `numBlocks` consecutive blocks of f32, bf16 or f16: 8 bytes of
/// codes and a scale byte each. A `globalScale` of 1 is none.
void gqCpuQuantizeBlocks(const void *input, gqElementType type,
                         int64_t numBlocks, float globalScale, uint8_t *codes,
                         uint8_t *scales);

/// Stores the `numColumns` scales of a row into its tiles, from column
/// `firstColumn`, a multiple of 4. Columns up to the next multiple of 4 are
/// padding and become zero.
void gqCpuStoreScales(const uint8_t *linear, int64_t firstColumn,
                      int64_t numColumns, uint8_t *tiled, int64_t tiledRow,
                      int64_t paddedColumns);

/// Zeroes the tiles of 128 rows that a group of `numRows` rows, from row
/// `firstRow` of the tiled buffer on, fills in part. Called before the group's
/// rows are stored, which leaves its padding rows zero: padding is scattered
/// over a tile, the tiles of 128 rows are one piece of memory.
void gqCpuZeroLastTiles(uint8_t *tiled, int64_t firstRow, int64_t numRows,
                        int64_t paddedColumns);

#endif // GQ_LIB_RUNTIME_CPUROWS_H
