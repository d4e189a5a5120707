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

/// The group that a row is in, -1 if there is none, of the rows at present, of
/// those before, which may still be read, and of the next ones.
static GQ_SHARED int32_t groupsOfRows[3][FOUR] GQ_UNINITIALIZED;
/// The rows of tiles of all groups before a thread's in its warp, and of all of
/// a warp.
static GQ_SHARED int64_t
    tilesBefore[MOST_FOUR_ROWS_WARPS * GQ_DEV_WARP] GQ_UNINITIALIZED;
static GQ_SHARED int64_t tilesOfWarp[MOST_FOUR_ROWS_WARPS] GQ_UNINITIALIZED;

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
    groupsOfRows[0][gq_dev_thread()] = -1;
  gq_dev_barrier();
}

/// Finds the groups of the four rows from `first` on, the n-th that the CTA
/// has. All threads take part; a barrier must follow.
GQ_DEV void findFourRows(const gq_dev_row_groups *groups, uint32_t threads,
                         int64_t first, uint32_t n) {
  uint32_t thread = gq_dev_thread();
  if (thread < FOUR)
    groupsOfRows[(n + 1) % 3][thread] = -1;
  uint32_t share = shareOfGroups(groups, threads);
  int64_t rows = 0;
  for (uint32_t i = 0; i < share; ++i) {
    uint32_t e = thread * share + i;
    if (e >= groups->numGroups)
      break;
    gq_dev_group group = gq_dev_load_group(&groups->all, e);
    if (group.begin <= first + (FOUR - 1) * ROW_STEP && group.end > first)
      for (uint32_t j = 0; j < FOUR; ++j)
        if (group.begin <= first + j * ROW_STEP &&
            group.end > first + j * ROW_STEP)
          groupsOfRows[n % 3][j] = (int32_t)e;
    gq_dev_check_group(&groups->all, e, &group);
    rows += gq_dev_up(group.rows, GQ_DEV_TILE_ROWS);
  }
  if (!groups->packed || n != 0)
    return;
  int64_t sum = gq_dev_scan64(rows);
  tilesBefore[thread] = sum - rows;
  if (gq_dev_lane() == GQ_DEV_WARP - 1)
    tilesOfWarp[thread / GQ_DEV_WARP] = sum;
}

/// As gq_dev_scale_begin, once groups have been found.
GQ_DEV int64_t scaleBeginOf(const gq_dev_row_groups *groups, uint32_t threads,
                            uint32_t e) {
  if (!groups->tiled)
    return 0;
  if (!groups->packed)
    return gq_dev_group_scale_begin(groups->all, e);
  uint32_t share = shareOfGroups(groups, threads), thread = e / share;
  int64_t begin = tilesBefore[thread];
  for (uint32_t w = 0; w < MOST_FOUR_ROWS_WARPS; ++w)
    if (w < threads / GQ_DEV_WARP)
      begin += w < thread / GQ_DEV_WARP ? tilesOfWarp[w] : 0;
  for (uint32_t i = thread * share; i < e; ++i)
    begin += gq_dev_padded_rows(groups, i);
  return begin;
}

/// The target of row lane % 4 of the four, as findTarget.
GQ_DEV Target targetOfRow(const gq_dev_row_groups *groups, uint32_t threads,
                          int64_t first, uint32_t n) {
  uint32_t j = gq_dev_lane() % FOUR;
  int64_t row = first + ROW_STEP * j;
  int32_t e = groupsOfRows[n % 3][j];
  if (e < 0 || row >= groups->all.numRows)
    return (Target){.group = GQ_DEV_NO_GROUP};
  gq_dev_group group = gq_dev_load_group(&groups->all, (uint32_t)e);
  int64_t scaleBegin = scaleBeginOf(groups, threads, (uint32_t)e);
  bool used = group.begin >= 0 && group.end <= groups->all.numRows &&
              gq_dev_group_scales_fit(&groups->all, (uint32_t)e, group.rows) &&
              gq_dev_packed_scales_fit(groups, scaleBegin, group.rows);
  return (Target){.row = scaleBegin + row - group.begin,
                  .rowsAfter = group.end - 1 - row,
                  .group = used ? e : GQ_DEV_SKIPPED_GROUP};
}

/// GQ_DEV_STATUS_ bits of a thread's groups, once groups have been found.
GQ_DEV uint32_t faultsOfGroups(const gq_dev_row_groups *groups,
                               uint32_t threads) {
  uint32_t share = shareOfGroups(groups, threads), faults = 0;
  for (uint32_t i = 0; i < share; ++i) {
    uint32_t e = gq_dev_thread() * share + i;
    if (e >= groups->numGroups)
      break;
    gq_dev_group group = gq_dev_load_group(&groups->all, e);
    uint32_t found = gq_dev_check_group(&groups->all, e, &group);
    if (!gq_dev_packed_scales_fit(groups, scaleBeginOf(groups, threads, e),
                                  group.rows))
      found |= GQ_DEV_STATUS_SIZES;
    if (!found)
      found = gq_dev_check_overlap(&groups->all, e, group);
    faults |= found;
  }
  return faults;
}

#endif // GQ_KERNELS_KERNELS_FOURROWS_H
