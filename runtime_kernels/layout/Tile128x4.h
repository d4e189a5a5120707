//===- Tile128x4.h - where a scale is stored ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of block scales that block-scaled tensor-core instructions read:
// tiles of 128 rows by 4 columns, 512 consecutive bytes each, the tiles of the
// same 128 rows one after another. In a tile, rows r, r + 32, r + 64, r + 96
// share the 16 bytes from 16 * r, four bytes each.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_LAYOUT_TILE128X4_H
#define GQ_KERNELS_LAYOUT_TILE128X4_H

#include "runtime_kernels/Inline.h"

#include <stdint.h>

enum {
  GQ_DEV_TILE_ROWS = 128,
  GQ_DEV_TILE_COLUMNS = 4,
};

/// x rounded up to a multiple of `unit`; x >= 0, unit > 0, no overflow.
GQ_DEV int64_t gq_dev_up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit * unit;
}

/// The byte of the scale at (row, column) in a buffer of `paddedColumns`
/// columns, a multiple of 4. A group's first row is a multiple of 128, so the
/// row may be counted from the start of the buffer. The bytes of columns c to
/// c + 3, c a multiple of 4, are consecutive.
GQ_DEV int64_t gq_dev_tile128x4_offset(int64_t row, int64_t column,
                                       int64_t paddedColumns) {
  int64_t rowTile = row / GQ_DEV_TILE_ROWS * GQ_DEV_TILE_ROWS * paddedColumns;
  int64_t tile = column / GQ_DEV_TILE_COLUMNS * 512;
  return rowTile + tile + row % 32 * 16 + row % GQ_DEV_TILE_ROWS / 32 * 4 +
         column % GQ_DEV_TILE_COLUMNS;
}

#endif // GQ_KERNELS_LAYOUT_TILE128X4_H
