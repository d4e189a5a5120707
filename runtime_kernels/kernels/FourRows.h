//===- FourRows.h - the groups of a CTA's four rows --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For kernels whose CTAs have rows r, r + 32, r + 64 and r + 96 of 128 at a
// time. Each thread looks at its share of the groups, which costs a warp less
// than searching by itself, above all where it would have to sum up the groups
// before.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_FOURROWS_H
#define GQ_KERNELS_KERNELS_FOURROWS_H

#include "runtime_kernels/kernels/RowScales.h"

enum {
  FOUR = 4,
  MOST_FOUR_ROWS_WARPS = 8,
};

/// A row of the four, as findTarget says it, but of packed groups `row` does
/// not count the tiles of what the warps before `warp` have.
typedef struct FoundRow {
  int64_t row, rowsAfter;
  int32_t group;
  uint32_t warp;
} FoundRow;

/// The rows at present, those before, which may still be read, and the next
/// ones, in turn among four.
static GQ_SHARED FoundRow foundRows[4][FOUR] GQ_UNINITIALIZED;
/// The tiles that follow each other of all groups of a warp's lanes, which are
/// the same for all rows.
static GQ_SHARED uint32_t tilesOfWarp[MOST_FOUR_ROWS_WARPS] GQ_UNINITIALIZED;
/// The same rows as exact numbers.
static GQ_SHARED int64_t rowsOfWarp[MOST_FOUR_ROWS_WARPS] GQ_UNINITIALIZED;

/// The first of four rows, by their number.
GQ_DEV int64_t firstOfFour(uint32_t number) {
  return (int64_t)(number / ROW_STEP) * GQ_DEV_TILE_ROWS + number % ROW_STEP;
}

/// Groups of each of so many threads, a constant.
GQ_DEV uint32_t shareOfGroups(const gq_dev_row_groups *groups,
                              uint32_t threads) {
  return (groups->numGroups + threads - 1) / threads;
}

/// Before anything else. All threads of the CTA take part.
GQ_DEV void beginFourRows(void) {
  if (gq_dev_thread() < FOUR)
    foundRows[0][gq_dev_thread()].group = GQ_DEV_NO_GROUP;
  gq_dev_barrier();
}

/// Says that group e has rows of the four, and which of them.
GQ_DEV uint32_t placeRowsOfGroup(const gq_dev_row_groups *groups, uint32_t e,
                                 gq_dev_group group, int64_t scaleBegin,
                                 int64_t first, uint32_t n) {
  uint32_t found = 0;
  bool used = group.begin >= 0 && group.end <= groups->all.numRows &&
              gq_dev_group_scales_fit(&groups->all, e, group.rows);
  for (uint32_t j = 0; j < FOUR; ++j) {
    int64_t row = first + j * ROW_STEP;
    if (group.begin > row || group.end <= row)
      continue;
    found |= 1u << j;
    foundRows[n % 4][j] = (FoundRow){
        .row = used ? scaleBegin + row - group.begin : 0,
        .rowsAfter = used ? group.end - 1 - row : 0,
        .group = used ? (int32_t)e : GQ_DEV_SKIPPED_GROUP,
        .warp = gq_dev_thread() / GQ_DEV_WARP,
    };
  }
  return found;
}

/// Finds the groups of the four rows from `first` on, the n-th that the CTA
/// has. All threads take part; a barrier must follow.
GQ_DEV void findFourRows(const gq_dev_row_groups *groups, uint32_t threads,
                         int64_t first, uint32_t n) {
  uint32_t thread = gq_dev_thread(), lane = gq_dev_lane();
  if (thread < FOUR)
    foundRows[(n + 1) % 4][thread].group = GQ_DEV_NO_GROUP;
  uint32_t share = shareOfGroups(groups, threads);
  uint32_t tiles = 0, found = 0;
  for (uint32_t i = 0; i < share; ++i) {
    uint32_t e = thread * share + i;
    if (e >= groups->numGroups)
      break;
    gq_dev_group group = gq_dev_load_group(&groups->all, e);
    if (group.begin <= first + (FOUR - 1) * ROW_STEP && group.end > first)
      found |= placeRowsOfGroup(groups, e, group,
                                !groups->tiled ? 0
                                : groups->packed
                                    ? (int64_t)tiles * GQ_DEV_TILE_ROWS
                                    : gq_dev_group_scale_begin(groups->all, e),
                                first, n);
    if (groups->packed) {
      gq_dev_check_group(&groups->all, e, &group);
      tiles += (uint32_t)(gq_dev_up(group.rows, GQ_DEV_TILE_ROWS) /
                          GQ_DEV_TILE_ROWS);
    }
  }
  if (!groups->packed)
    return;
  uint32_t all = gq_dev_sum_of_lanes(tiles);
  if (lane == 0 && n == 0)
    tilesOfWarp[thread / GQ_DEV_WARP] = all;
  for (uint32_t finders = gq_dev_ballot(found); finders;
       finders &= finders - 1) {
    uint32_t finder = (uint32_t)__builtin_ctz(finders);
    uint32_t before = gq_dev_sum_of_lanes(lane < finder ? tiles : 0);
    for (uint32_t j = 0; j < FOUR; ++j)
      if (lane == finder && found >> j & 1)
        foundRows[n % 4][j].row += (int64_t)before * GQ_DEV_TILE_ROWS;
  }
}

/// The target of row lane % 4 of the four, as findTarget. `width` times the
/// rows of tiles up to its group's end must not be more than `room`.
GQ_DEV Target targetOfRow(const gq_dev_row_groups *groups, uint32_t threads,
                          int64_t first, uint32_t n, int64_t width,
                          int64_t room) {
  uint32_t j = gq_dev_lane() % FOUR;
  FoundRow found = foundRows[n % 4][j];
  Target target = {found.row, found.rowsAfter, found.group};
  if (first + ROW_STEP * j >= groups->all.numRows)
    target.group = GQ_DEV_NO_GROUP;
  if (!groups->tiled || target.group < 0)
    return target;
  uint32_t tiles = 0;
  if (groups->packed)
    for (uint32_t w = 0; w < MOST_FOUR_ROWS_WARPS; ++w)
      if (w < threads / GQ_DEV_WARP)
        tiles += w < found.warp ? tilesOfWarp[w] : 0;
  target.row += (int64_t)tiles * GQ_DEV_TILE_ROWS;
  // Whatever groups that overlap have said at the same time.
  uint64_t end =
      (uint64_t)target.row + (uint64_t)target.rowsAfter + GQ_DEV_TILE_ROWS;
  if (target.row < 0 || target.rowsAfter < 0 ||
      (int64_t)(end / GQ_DEV_TILE_ROWS * GQ_DEV_TILE_ROWS) * width > room)
    target.group = GQ_DEV_SKIPPED_GROUP;
  return target;
}

/// GQ_DEV_STATUS_ bits of a thread's groups. All threads take part.
GQ_DEV uint32_t faultsOfGroups(const gq_dev_row_groups *groups,
                               uint32_t threads) {
  uint32_t share = shareOfGroups(groups, threads), faults = 0;
  uint32_t thread = gq_dev_thread(), warp = thread / GQ_DEV_WARP;
  int64_t before = 0;
  if (groups->packed) {
    int64_t own = 0;
    for (uint32_t i = 0; i < share; ++i)
      own += thread * share + i < groups->numGroups
                 ? gq_dev_padded_rows(groups, thread * share + i)
                 : 0;
    int64_t sum = gq_dev_scan64(own);
    if (gq_dev_lane() == GQ_DEV_WARP - 1)
      rowsOfWarp[warp] = sum;
    gq_dev_barrier();
    before = sum - own;
    for (uint32_t w = 0; w < warp; ++w)
      before += rowsOfWarp[w];
  }
  for (uint32_t i = 0; i < share; ++i) {
    uint32_t e = thread * share + i;
    if (e >= groups->numGroups)
      break;
    gq_dev_group group = gq_dev_load_group(&groups->all, e);
    uint32_t found = gq_dev_check_group(&groups->all, e, &group);
    if (!gq_dev_packed_scales_fit(groups, before, group.rows))
      found |= GQ_DEV_STATUS_SIZES;
    if (!found)
      found = gq_dev_check_overlap(&groups->all, e, group);
    faults |= found;
    before += gq_dev_up(group.rows, GQ_DEV_TILE_ROWS);
  }
  return faults;
}

#endif // GQ_KERNELS_KERNELS_FOURROWS_H
