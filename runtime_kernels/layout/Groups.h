//===- Groups.h - which rows belong to a group -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups are consecutive ranges of rows. `offsets` holds the first row of each
// group and, optionally, the row after the last one; without it the last group
// runs to the last row. Rows before the first group and after the last one
// belong to no group. Empty groups are ordinary.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_LAYOUT_GROUPS_H
#define GQ_KERNELS_LAYOUT_GROUPS_H

#include "runtime_kernels/Inline.h"

#include <stdbool.h>
#include <stdint.h>

/// The groups of an op, as its operands give them.
typedef struct gq_dev_groups {
  /// [numOffsets] i32 or i64.
  const void *offsets;
  /// [numGroups] of the same type: each group's first row in the padded scale
  /// buffer, a multiple of 128.
  const void *scaleOffsets;
  /// i64 rather than i32.
  bool wide;
  /// numGroups or numGroups + 1.
  int64_t numOffsets;
  int64_t numGroups;
  int64_t numRows;
} gq_dev_groups;

/// Element i of an array of i32, or of i64 if `wide`.
GQ_DEV int64_t gq_dev_load_index(const void *indices, bool wide, int64_t i) {
  return wide ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
}

/// The first row of group e. For e = numGroups the row after the last group;
/// that is also the first row of no group if there are no groups at all.
GQ_DEV int64_t gq_dev_group_begin(gq_dev_groups groups, int64_t e) {
  if (e >= groups.numOffsets)
    return groups.numRows;
  return gq_dev_load_index(groups.offsets, groups.wide, e);
}

/// The row of the padded scale buffer at which group e starts.
GQ_DEV int64_t gq_dev_group_scale_begin(gq_dev_groups groups, int64_t e) {
  return gq_dev_load_index(groups.scaleOffsets, groups.wide, e);
}

/// The group that `row` belongs to, -1 if none: the last one that starts at or
/// before the row, which passes over empty groups. Offsets that decrease give
/// some group, never an access outside of `offsets`.
GQ_DEV int64_t gq_dev_group_of_row(gq_dev_groups groups, int64_t row) {
  int64_t low = 0, high = groups.numOffsets;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (gq_dev_load_index(groups.offsets, groups.wide, middle) <= row)
      low = middle + 1;
    else
      high = middle;
  }
  // `low` offsets are at most `row`; numGroups + 1 of them means that the row
  // lies beyond the last group.
  return low <= groups.numGroups ? low - 1 : -1;
}

#endif // GQ_KERNELS_LAYOUT_GROUPS_H
