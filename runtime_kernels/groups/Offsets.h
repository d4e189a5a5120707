//===- Offsets.h - where groups begin ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of the rows of groups, and of their rows rounded up to tiles. No sum is
// more than its type holds: with counts that are not negative this is still
// associative, so that lanes may sum in any order.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_GROUPS_OFFSETS_H
#define GQ_KERNELS_GROUPS_OFFSETS_H

#include "runtime_kernels/groups/Groups.h"
#include "runtime_kernels/layout/Tile128x4.h"

/// Of groups one after the other, where the next one begins.
typedef struct gq_dev_place {
  int64_t row, scaleRow;
} gq_dev_place;

/// The last places that are stored as i32, or as i64 if `wide`.
GQ_DEV gq_dev_place gq_dev_last_place(bool wide) {
  int64_t last = wide ? INT64_MAX : INT32_MAX;
  return (gq_dev_place){last, last / GQ_DEV_TILE_ROWS * GQ_DEV_TILE_ROWS};
}

/// What a group of so many rows, at least 0, takes, at most `last`.
GQ_DEV gq_dev_place gq_dev_rows_taken(int64_t rows, gq_dev_place last) {
  return (gq_dev_place){rows < last.row ? rows : last.row,
                        rows < last.scaleRow ? gq_dev_up(rows, GQ_DEV_TILE_ROWS)
                                             : last.scaleRow};
}

/// a + b, at most `last`; so are both.
GQ_DEV gq_dev_place gq_dev_place_after(gq_dev_place a, gq_dev_place b,
                                       gq_dev_place last) {
  return (gq_dev_place){a.row < last.row - b.row ? a.row + b.row : last.row,
                        a.scaleRow < last.scaleRow - b.scaleRow
                            ? a.scaleRow + b.scaleRow
                            : last.scaleRow};
}

/// Whether a group of so many rows that begins at `a` ends at `last` or before.
GQ_DEV bool gq_dev_rows_fit(gq_dev_place a, int64_t rows, gq_dev_place last) {
  return rows <= last.row - a.row;
}
GQ_DEV bool gq_dev_scale_rows_fit(gq_dev_place a, int64_t rows,
                                  gq_dev_place last) {
  // Both are multiples of a tile's rows.
  return rows <= last.scaleRow - a.scaleRow;
}

#endif // GQ_KERNELS_GROUPS_OFFSETS_H
