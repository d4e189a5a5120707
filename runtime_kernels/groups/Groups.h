//===- Groups.h - the groups of an op ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups are consecutive ranges of rows. `offsets` holds the first row of each
// group and, optionally, the row after the last one; without it the last group
// runs to the last row. Rows before the first group and after the last one
// belong to no group. Empty groups are ordinary. Ragged groups are ranges of
// elements, each a matrix of its own.
//
// The CPU checks offsets before it does anything. A GPU uses them as they are:
// Faults.h.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_GROUPS_GROUPS_H
#define GQ_KERNELS_GROUPS_GROUPS_H

#include "runtime_kernels/Inline.h"

#include <stdbool.h>
#include <stdint.h>

/// As the operands give them. What is constant on a GPU is marked so.
typedef struct gq_dev_groups {
  /// [numOffsets] i32 or i64.
  const void GQ_GLOBAL *offsets;
  /// [numGroups] of the same type: each group's first row in the padded scale
  /// buffer, a multiple of 128.
  const void GQ_GLOBAL *scaleOffsets;
  /// [numGroups] of the same type, if ragged: rows and columns of each group.
  const void GQ_GLOBAL *firstDims, *lastDims;
  /// numGroups or numGroups + 1. With none, one group has all rows.
  int64_t numOffsets;
  int64_t numGroups;
  /// If ragged, elements.
  int64_t numRows;
  /// If not ragged, and only looked at on a GPU.
  int64_t numColumns;
  /// Of the buffer that scale offsets are about, a multiple of 128.
  int64_t scaleRows;
  /// Constant: indices are i64 rather than i32.
  bool wide;
  /// Constant: there are scale offsets, or first and last dims.
  bool hasScaleOffsets, ragged;
  /// Constant: what the columns of a ragged group are a multiple of.
  int64_t columnUnit;
} gq_dev_groups;

/// Element i of an array of i32, or of i64 if `wide`.
GQ_DEV int64_t gq_dev_load_index(const void GQ_GLOBAL *indices, bool wide,
                                 int64_t i) {
  return wide ? ((const int64_t GQ_GLOBAL *)indices)[i]
              : ((const int32_t GQ_GLOBAL *)indices)[i];
}

GQ_DEV void gq_dev_store_index(void GQ_GLOBAL *indices, bool wide, int64_t i,
                               int64_t index) {
  if (wide)
    ((int64_t GQ_GLOBAL *)indices)[i] = index;
  else
    ((int32_t GQ_GLOBAL *)indices)[i] = (int32_t)index;
}

/// The first row of group e. For e = numGroups the row after the last group;
/// that is also the first row in no group if there are no groups at all.
GQ_DEV int64_t gq_dev_group_begin(gq_dev_groups groups, int64_t e) {
  return e < groups.numOffsets
             ? gq_dev_load_index(groups.offsets, groups.wide, e)
         : e > 0 || groups.numGroups == 0 ? groups.numRows
                                          : 0;
}

/// The row of the padded scale buffer at which group e starts, if there are
/// scale offsets.
GQ_DEV int64_t gq_dev_group_scale_begin(gq_dev_groups groups, int64_t e) {
  return gq_dev_load_index(groups.scaleOffsets, groups.wide, e);
}

#endif // GQ_KERNELS_GROUPS_GROUPS_H
