//===- Find.h - which group a row belongs to ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the chip, for a warp whose lanes have rows of any groups.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_GROUPS_FIND_H
#define GQ_KERNELS_GROUPS_FIND_H

#include "runtime_kernels/arch/Scan.h"
#include "runtime_kernels/groups/Faults.h"

/// The groups, and what a warp knows of them.
typedef struct gq_dev_row_groups {
  gq_dev_groups all;
  /// Those of `all`.
  uint32_t numOffsets, numGroups;
  /// Constant: scales are in tiles, and those of groups follow each other
  /// without a gap. all.scaleRows is then the size of the buffer, too.
  bool tiled, packed;
  /// Filled by gq_dev_prepare_groups. Lane i has offset number
  /// pivotStep * (i + 1) - 1, infinity if there is none.
  int64_t pivot;
  uint32_t pivotStep;
  /// Filled by gq_dev_sum_groups. Lane i has the padded rows of all groups
  /// before group number share * i.
  int64_t before;
  uint32_t share;
} gq_dev_row_groups;

//===----------------------------------------------------------------------===//
// Where the scales of a group are
//===----------------------------------------------------------------------===//

enum {
  /// The numbers of rows in no group, and of rows of a group that is skipped.
  GQ_DEV_NO_GROUP = -1,
  GQ_DEV_SKIPPED_GROUP = -2,
};

/// A group and its first row in a tiled scale buffer.
typedef struct gq_dev_placed_group {
  gq_dev_group group;
  int64_t scaleBegin;
  int32_t number;
} gq_dev_placed_group;

/// The rows of the tiles of group e; 0 if it is skipped by itself.
GQ_DEV int64_t gq_dev_padded_rows(const gq_dev_row_groups *groups, uint32_t e) {
  gq_dev_group group = gq_dev_load_group(&groups->all, e);
  gq_dev_check_group(&groups->all, e, &group);
  return gq_dev_up(group.rows, GQ_DEV_TILE_ROWS);
}

/// Sums up the groups, which is needed if they are packed. All lanes take part.
GQ_DEV void gq_dev_sum_groups(gq_dev_row_groups *groups) {
  groups->share = groups->numGroups / GQ_DEV_WARP + 1;
  int64_t own = 0;
  for (uint32_t i = 0; i < groups->share; ++i) {
    uint32_t e = gq_dev_lane() * groups->share + i;
    own += e < groups->numGroups ? gq_dev_padded_rows(groups, e) : 0;
  }
  groups->before = gq_dev_scan64(own) - own;
}

/// Where the scales of group e < numGroups begin. If they are packed, all lanes
/// take part.
GQ_DEV int64_t gq_dev_scale_begin(const gq_dev_row_groups *groups, uint32_t e) {
  if (!groups->tiled)
    return 0;
  if (!groups->packed)
    return gq_dev_group_scale_begin(groups->all, e);
  uint32_t lane = e / groups->share;
  int64_t begin = gq_dev_shuffle64(groups->before, lane);
  for (uint32_t i = lane * groups->share; i < e; ++i)
    begin += gq_dev_padded_rows(groups, i);
  return begin;
}

/// Whether the tiles of a group of so many rows lie in the buffer, if groups
/// are packed.
GQ_DEV bool gq_dev_packed_scales_fit(const gq_dev_row_groups *groups,
                                     int64_t scaleBegin, int64_t rows) {
  return !groups->packed || rows == 0 ||
         gq_dev_up(rows, GQ_DEV_TILE_ROWS) <=
             groups->all.scaleRows - scaleBegin;
}

/// Group e < numGroups, whose faults are added to `faults`; one of no rows if
/// it is skipped. If groups are packed, all lanes take part.
GQ_DEV gq_dev_placed_group gq_dev_place_group(const gq_dev_row_groups *groups,
                                              uint32_t e, uint32_t *faults) {
  gq_dev_placed_group placed = {
      .group = gq_dev_load_group(&groups->all, e),
      .scaleBegin = gq_dev_scale_begin(groups, e),
      .number = (int32_t)e,
  };
  uint32_t found = gq_dev_check_group(&groups->all, e, &placed.group);
  if (!gq_dev_packed_scales_fit(groups, placed.scaleBegin, placed.group.rows)) {
    found |= GQ_DEV_STATUS_SIZES;
    placed.group.rows = 0;
  }
  if (found)
    placed.number = GQ_DEV_SKIPPED_GROUP;
  *faults |= found;
  return placed;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// Arrays of which a warp touches what a search loads later.
enum { GQ_DEV_TOUCHED_SCALE_OFFSETS, GQ_DEV_TOUCHED_OUTER, GQ_DEV_TOUCHED };

/// Has the 32 bytes around a word of an array, which is aligned to 4, brought
/// to L1, by copying it to where nobody looks: a load that nobody uses would be
/// removed, and a prefetch, be it to L1 or to L2, made the kernel of rows 1.3
/// times as slow (H200). All warps of a CTA touch the same, so that the
/// first ones do it.
GQ_DEV void gq_dev_touch(uint32_t array, const void GQ_GLOBAL *p) {
  static GQ_SHARED uint32_t
      copies[GQ_DEV_TOUCHED][GQ_DEV_QUANTIZE_ROWS_THREADS] GQ_UNINITIALIZED;
  if (gq_dev_thread() < GQ_DEV_QUANTIZE_ROWS_THREADS)
    gq_dev_begin_copy_word(&copies[array][gq_dev_thread()], p);
}

/// Loads 31 offsets that cut all of them into 32 pieces, and touches as many
/// scale offsets and, if there is one a group, outer scales. Up to 255 groups,
/// or 127 of i64, this brings nearly all of them to L1, so that a search finds
/// there what it loads later, behind the elements that the warp asks for
/// meanwhile. Nothing waits for it here.
GQ_DEV void gq_dev_prepare_groups(gq_dev_row_groups *groups,
                                  const float GQ_GLOBAL *outer) {
  groups->pivotStep = groups->numOffsets / GQ_DEV_WARP + 1;
  uint32_t i = groups->pivotStep * (gq_dev_lane() + 1) - 1;
  groups->pivot =
      i < groups->numOffsets
          ? gq_dev_load_index(groups->all.offsets, groups->all.wide, i)
          : INT64_MAX;
  if (i >= groups->numGroups)
    return;
  if (groups->all.hasScaleOffsets)
    gq_dev_touch(
        GQ_DEV_TOUCHED_SCALE_OFFSETS,
        (const uint8_t GQ_GLOBAL *)groups->all.scaleOffsets +
            i * (groups->all.wide ? sizeof(int64_t) : sizeof(int32_t)));
  if (outer)
    gq_dev_touch(GQ_DEV_TOUCHED_OUTER, outer + i);
}

/// `row` to compare i32 offsets with.
GQ_DEV int32_t gq_dev_narrow(int64_t row) {
  return (int32_t)(row < INT32_MAX ? row : INT32_MAX);
}

/// Whether offset number i is at most `row`.
GQ_DEV bool gq_dev_offset_at_most(const gq_dev_row_groups *groups, uint32_t i,
                                  int64_t row) {
  return groups->all.wide
             ? ((const int64_t GQ_GLOBAL *)groups->all.offsets)[i] <= row
             : ((const int32_t GQ_GLOBAL *)groups->all.offsets)[i] <=
                   gq_dev_narrow(row);
}

/// Whether the pivot of `lane` is. One that is missing may count as at most the
/// largest i32.
GQ_DEV bool gq_dev_pivot_at_most(const gq_dev_row_groups *groups, uint32_t lane,
                                 int64_t row) {
  if (groups->all.wide)
    return gq_dev_shuffle64(groups->pivot, lane) <= row;
  uint32_t pivot = (uint32_t)gq_dev_narrow(groups->pivot);
  return (int32_t)gq_dev_shuffle(pivot, lane) <= gq_dev_narrow(row);
}

/// The group of each lane's row, which starts at or before the row and ends
/// after it; if there is none, its number is GQ_DEV_NO_GROUP and its rows are
/// arbitrary. The first five steps are made between the lanes, the next by
/// bisection, and the last four offsets are loaded at once: with 128 groups
/// nothing waits for memory twice. All lanes take part.
GQ_DEV gq_dev_placed_group gq_dev_find_group(const gq_dev_row_groups *groups,
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
    // The first that is not, should they decrease.
    bool atMost = true;
    uint32_t count = 0;
    for (uint32_t i = 0; i < last; ++i) {
      uint32_t at = low + i < high ? low + i : high - 1;
      atMost &= (low + i < high) & gq_dev_offset_at_most(groups, at, row);
      count += atMost;
    }
    low += count;
  }
  // The row is before offset number `low`, which may be missing.
  bool exists =
      low != 0 && low <= groups->numGroups && row < groups->all.numRows;
  if (!exists && !groups->packed)
    return (gq_dev_placed_group){.number = GQ_DEV_NO_GROUP};
  uint32_t e = exists ? low - 1 : 0;
  gq_dev_placed_group found = {
      .group = gq_dev_load_group(&groups->all, e),
      .scaleBegin = gq_dev_scale_begin(groups, e),
  };
  // As gq_dev_place_group; that the group does not end before it begins, the
  // search has seen.
  bool used =
      found.group.begin >= 0 && found.group.end <= groups->all.numRows &&
      gq_dev_group_scales_fit(&groups->all, e, found.group.rows) &&
      gq_dev_packed_scales_fit(groups, found.scaleBegin, found.group.rows);
  found.number = !exists ? GQ_DEV_NO_GROUP
                 : used  ? (int32_t)e
                         : GQ_DEV_SKIPPED_GROUP;
  return found;
}

#endif // GQ_KERNELS_GROUPS_FIND_H
