//===- Faults.h - which groups a kernel uses ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets stay on the device and are never trusted. All kernels do the same
// with those that are invalid:
//
//   A group is skipped if its rows are not 0 <= begin <= end <= all rows, if
//   its extents do not fit between its offsets (ragged groups), or if its tiles
//   of scales do not begin at a multiple of 128 or do not lie in the buffer
//   (given scale offsets). In outputs where groups follow each other without a
//   gap, it counts as having no rows. A group that does not fit into one of
//   those outputs is skipped too, and so are all later groups that have rows:
//   by the kernel that writes that output, where directions have one each.
//
//   Nothing of a skipped group is written except its sums and its largest
//   magnitudes, of columns too, which are 0. Its rows do not count as rows in
//   no group. Everything else is written as always.
//
//   If offsets decrease, rows may be in several groups, or both in a group and
//   in none; if tiles of scales overlap, bytes belong to two groups. It is not
//   specified which one wins, nor, if the rows of several groups make more work
//   than M rows in G groups can, which groups are left out.
//
// The status word has a bit for each kind of fault that a group has, and
// nothing outside of the outputs is touched.
//
// So whether a group is skipped depends only on its own offsets and on the sum
// of those before it, which a kernel computes anyway; valid offsets cost only
// the check.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_GROUPS_FAULTS_H
#define GQ_KERNELS_GROUPS_FAULTS_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/groups/Groups.h"
#include "runtime_kernels/kernels/Launch.h"
#include "runtime_kernels/layout/Tile128x4.h"

/// A group, whose extents may be invalid.
typedef struct gq_dev_group {
  /// Its first row or, if ragged, element, and the one after it.
  int64_t begin, end;
  int64_t rows, columns;
} gq_dev_group;

GQ_DEV gq_dev_group gq_dev_load_group(const gq_dev_groups *groups, uint32_t e) {
  gq_dev_group group = {.begin = gq_dev_group_begin(*groups, e),
                        .end = gq_dev_group_begin(*groups, e + 1)};
  if (groups->ragged) {
    group.rows = gq_dev_load_index(groups->firstDims, groups->wide, e);
    group.columns = gq_dev_load_index(groups->lastDims, groups->wide, e);
  } else {
    group.rows = (int64_t)((uint64_t)group.end - (uint64_t)group.begin);
    group.columns = groups->numColumns;
  }
  return group;
}

/// Rows in no group: those before the first group, and those from this one on.
GQ_DEV int64_t gq_dev_rows_before(const gq_dev_groups *groups) {
  int64_t first = gq_dev_group_begin(*groups, 0);
  return first < 0 ? 0 : first < groups->numRows ? first : groups->numRows;
}
GQ_DEV int64_t gq_dev_first_row_after(const gq_dev_groups *groups) {
  int64_t before = gq_dev_rows_before(groups);
  int64_t last = gq_dev_group_begin(*groups, groups->numGroups);
  return last < before            ? before
         : last < groups->numRows ? last
                                  : groups->numRows;
}

/// Whether the group's rows lie in the matrix or, if ragged, its elements where
/// its offsets say.
GQ_DEV bool gq_dev_group_fits(const gq_dev_groups *groups, gq_dev_group group) {
  // Negative ones are large.
  bool inside = (uint64_t)group.begin <= (uint64_t)group.end &&
                (uint64_t)group.end <= (uint64_t)groups->numRows;
  if (!groups->ragged)
    return inside;
  return inside && group.rows >= 0 && group.columns >= 0 &&
         group.columns % groups->columnUnit == 0 && group.rows <= INT32_MAX &&
         group.columns <= INT32_MAX &&
         group.rows * group.columns <= group.end - group.begin &&
         (group.rows == 0 || group.columns == 0 ||
          group.begin % GQ_RAGGED_ALIGNMENT == 0);
}

/// Whether the tiles of scales of group e, if it had so many rows, lie in the
/// buffer, given scale offsets.
GQ_DEV bool gq_dev_group_scales_fit(const gq_dev_groups *groups, uint32_t e,
                                    int64_t rows) {
  if (!groups->hasScaleOffsets)
    return true;
  int64_t begin = gq_dev_group_scale_begin(*groups, e);
  return (uint64_t)begin <= (uint64_t)groups->scaleRows &&
         begin % GQ_DEV_TILE_ROWS == 0 &&
         gq_dev_up(rows, GQ_DEV_TILE_ROWS) <= groups->scaleRows - begin;
}

/// The GQ_DEV_STATUS_ bits for which group e itself is skipped; if there are
/// any, the group is left with no rows.
GQ_DEV uint32_t gq_dev_check_group(const gq_dev_groups *groups, uint32_t e,
                                   gq_dev_group *group) {
  bool fits = gq_dev_group_fits(groups, *group);
  group->rows = fits ? group->rows : 0;
  bool scalesFit = gq_dev_group_scales_fit(groups, e, group->rows);
  group->rows = scalesFit ? group->rows : 0;
  return (fits ? 0 : GQ_DEV_STATUS_OFFSETS) |
         (scalesFit ? 0 : GQ_DEV_STATUS_SCALE_OFFSETS);
}

/// GQ_DEV_STATUS_ bits: whether the tiles of scales of group e, which is used,
/// reach into those of the next one.
GQ_DEV uint32_t gq_dev_check_overlap(const gq_dev_groups *groups, uint32_t e,
                                     gq_dev_group group) {
  if (!groups->hasScaleOffsets || e + 1 >= groups->numGroups)
    return 0;
  int64_t end = gq_dev_group_scale_begin(*groups, e) +
                gq_dev_up(group.rows, GQ_DEV_TILE_ROWS);
  return gq_dev_group_scale_begin(*groups, e + 1) < end
             ? GQ_DEV_STATUS_SCALE_OFFSETS
             : 0;
}

#endif // GQ_KERNELS_GROUPS_FAULTS_H
