//===- Groups.h - which group a row belongs to, on the GPU -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contents of offsets are not known to be right. A group is used only if
// its rows lie in the matrix and its padded rows in a tiled scale buffer; rows
// of another group are treated as rows of no group, and the status word says
// so. Offsets that decrease and groups whose scales overlap can leave wrong
// bytes in the outputs, but they too set the status, and nothing makes an
// access outside of a buffer.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPS_H
#define GQ_KERNELS_KERNELS_GROUPS_H

#include "runtime_kernels/arch/Nvptx.h"
#include "runtime_kernels/kernels/Kernels.h"
#include "runtime_kernels/layout/Tile128x4.h"

/// The groups of an op, as its operands give them.
typedef struct gq_dev_row_groups {
  /// [numOffsets], numOffsets being numGroups or numGroups + 1.
  const void GQ_GLOBAL *offsets;
  /// [numGroups], of tiled scales that are not packed.
  const void GQ_GLOBAL *scaleOffsets;
  uint32_t numOffsets;
  uint32_t numGroups;
  /// Constant: both hold i64 rather than i32.
  bool wide;
  /// Constant: scales are in tiles, or else where scaleOffsets do not matter.
  bool tiled;
  /// Constant: tiled scales of groups follow each other without a gap.
  bool packed;
  /// Of the matrix.
  int64_t numRows;
  /// Of a tiled scale buffer, a multiple of 128.
  int64_t scaleRows;
  /// Filled by gq_dev_prepare_groups. Lane i has offset number
  /// pivotStep * (i + 1) - 1, infinity if there is none.
  int64_t pivot;
  uint32_t pivotStep;
  /// Filled by gq_dev_sum_groups. Lane i has the padded rows of all groups
  /// before group number share * i.
  int64_t before;
  uint32_t share;
} gq_dev_row_groups;

GQ_DEV int64_t gq_dev_load_offset(const void GQ_GLOBAL *offsets, bool wide,
                                  uint32_t i) {
  return wide ? ((const int64_t GQ_GLOBAL *)offsets)[i]
              : ((const int32_t GQ_GLOBAL *)offsets)[i];
}

GQ_DEV void gq_dev_store_offset(void GQ_GLOBAL *offsets, bool wide, uint32_t i,
                                int64_t offset) {
  if (wide)
    ((int64_t GQ_GLOBAL *)offsets)[i] = offset;
  else
    ((int32_t GQ_GLOBAL *)offsets)[i] = (int32_t)offset;
}

/// The first row of group e; for e = numGroups the row after the last one.
GQ_DEV int64_t gq_dev_group_begin(const gq_dev_row_groups *groups, uint32_t e) {
  return e < groups->numOffsets
             ? gq_dev_load_offset(groups->offsets, groups->wide, e)
             : groups->numRows;
}

/// A group's rows and its first row in a tiled scale buffer.
typedef struct gq_dev_group {
  int64_t begin, end;
  int64_t scaleBegin;
  /// -1 for the rows of no group.
  int32_t number;
} gq_dev_group;

/// The rows of the tiles of group e; 0 if its rows are negative.
GQ_DEV int64_t gq_dev_padded_rows(const gq_dev_row_groups *groups, uint32_t e) {
  int64_t begin = gq_dev_load_offset(groups->offsets, groups->wide, e);
  int64_t end = gq_dev_group_begin(groups, e + 1);
  return end > begin ? gq_dev_up(end - begin, GQ_DEV_TILE_ROWS) : 0;
}

/// Sums up the groups, which is needed if they are packed. All lanes take part.
GQ_DEV void gq_dev_sum_groups(gq_dev_row_groups *groups) {
  uint32_t lane = gq_dev_lane();
  groups->share = groups->numGroups / GQ_DEV_WARP + 1;
  int64_t own = 0;
  for (uint32_t i = 0; i < groups->share; ++i) {
    uint32_t e = lane * groups->share + i;
    own += e < groups->numGroups ? gq_dev_padded_rows(groups, e) : 0;
  }
  int64_t all = own;
  for (uint32_t distance = 1; distance < GQ_DEV_WARP; distance *= 2) {
    int64_t below = gq_dev_shuffle_up64(all, distance);
    all += lane >= distance ? below : 0;
  }
  groups->before = all - own;
}

/// Where the scales of group e < numGroups begin. If they are packed, all lanes
/// take part.
GQ_DEV int64_t gq_dev_scale_begin(const gq_dev_row_groups *groups, uint32_t e) {
  if (!groups->tiled)
    return 0;
  if (!groups->packed)
    return gq_dev_load_offset(groups->scaleOffsets, groups->wide, e);
  uint32_t lane = e / groups->share;
  int64_t begin = gq_dev_shuffle64(groups->before, lane);
  for (uint32_t i = lane * groups->share; i < e; ++i)
    begin += gq_dev_padded_rows(groups, i);
  return begin;
}

/// Group e < numGroups. If they are packed, all lanes take part.
GQ_DEV gq_dev_group gq_dev_load_group(const gq_dev_row_groups *groups,
                                      uint32_t e) {
  return (gq_dev_group){
      .begin = gq_dev_load_offset(groups->offsets, groups->wide, e),
      .end = gq_dev_group_begin(groups, e + 1),
      .scaleBegin = gq_dev_scale_begin(groups, e),
      .number = (int32_t)e,
  };
}

/// GQ_DEV_STATUS_ bits: what makes the group unusable.
GQ_DEV uint32_t gq_dev_group_faults(const gq_dev_row_groups *groups,
                                    gq_dev_group group) {
  if (group.begin < 0 || group.end < group.begin || group.end > groups->numRows)
    return GQ_DEV_STATUS_OFFSETS;
  if (!groups->tiled)
    return 0;
  int64_t paddedRows = gq_dev_up(group.end - group.begin, GQ_DEV_TILE_ROWS);
  bool inside = group.scaleBegin >= 0 &&
                group.scaleBegin % GQ_DEV_TILE_ROWS == 0 &&
                group.scaleBegin <= groups->scaleRows &&
                paddedRows <= groups->scaleRows - group.scaleBegin;
  return inside           ? 0
         : groups->packed ? GQ_DEV_STATUS_SIZES
                          : GQ_DEV_STATUS_SCALE_OFFSETS;
}

/// Loads 31 offsets that cut all of them into 32 pieces. This reads every line
/// of up to 1,024 i32 offsets, so that what a search loads later is in L1.
/// Nothing waits for it here.
GQ_DEV void gq_dev_prepare_groups(gq_dev_row_groups *groups) {
  groups->pivotStep = groups->numOffsets / GQ_DEV_WARP + 1;
  uint32_t i = groups->pivotStep * (gq_dev_lane() + 1) - 1;
  groups->pivot = i < groups->numOffsets
                      ? gq_dev_load_offset(groups->offsets, groups->wide, i)
                      : INT64_MAX;
}

/// `row` to compare i32 offsets with.
GQ_DEV int32_t gq_dev_narrow(int64_t row) {
  return (int32_t)(row < INT32_MAX ? row : INT32_MAX);
}

/// Whether offset number i is at most `row`.
GQ_DEV bool gq_dev_offset_at_most(const gq_dev_row_groups *groups, uint32_t i,
                                  int64_t row) {
  return groups->wide ? ((const int64_t GQ_GLOBAL *)groups->offsets)[i] <= row
                      : ((const int32_t GQ_GLOBAL *)groups->offsets)[i] <=
                            gq_dev_narrow(row);
}

/// Whether the pivot of `lane` is. One that is missing may count as at most the
/// largest i32.
GQ_DEV bool gq_dev_pivot_at_most(const gq_dev_row_groups *groups, uint32_t lane,
                                 int64_t row) {
  if (groups->wide)
    return gq_dev_shuffle64(groups->pivot, lane) <= row;
  uint32_t pivot = (uint32_t)gq_dev_narrow(groups->pivot);
  return (int32_t)gq_dev_shuffle(pivot, lane) <= gq_dev_narrow(row);
}

/// The group of each lane's row: the last one that starts at or before the row,
/// if it is usable and has the row; else a group of number -1 and no rows. Five
/// steps are made between the lanes, the next by bisection, and the last four
/// offsets are loaded at once: with 128 groups nothing waits for memory twice.
/// All lanes take part.
GQ_DEV gq_dev_group gq_dev_find_group(const gq_dev_row_groups *groups,
                                      int64_t row) {
  const uint32_t last = 4;
  uint32_t pivots = 0; // that are at most `row`
  for (uint32_t step = GQ_DEV_WARP / 2; step; step /= 2)
    pivots += gq_dev_pivot_at_most(groups, pivots + step - 1, row) ? step : 0;
  uint32_t low = pivots * groups->pivotStep; // that many are at most `row`
  uint32_t high = low + groups->pivotStep - 1;
  high = high < groups->numOffsets ? high : groups->numOffsets;
  while (low + last < high) {
    uint32_t middle = low + (high - low) / 2;
    if (gq_dev_offset_at_most(groups, middle, row))
      low = middle + 1;
    else
      high = middle;
  }
  if (low < high) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < last; ++i) {
      uint32_t at = low + i < high ? low + i : high - 1;
      count += gq_dev_offset_at_most(groups, at, row) & (low + i < high);
    }
    low += count;
  }
  const gq_dev_group none = {.number = -1};
  bool exists = low != 0 && low <= groups->numGroups;
  if (!exists && !groups->packed)
    return none;
  gq_dev_group group = gq_dev_load_group(groups, exists ? low - 1 : 0);
  bool usable = exists && group.begin <= row && row < group.end &&
                !gq_dev_group_faults(groups, group);
  return usable ? group : none;
}

#endif // GQ_KERNELS_KERNELS_GROUPS_H
