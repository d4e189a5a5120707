//===- CpuGroups.h - where groups are in an op's operands --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the ops on groups of quantized data: rows of one matrix, or ragged
// groups, which are matrices of their own. Scales and, where the format
// transposes, columnwise data follow each other group after group.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUGROUPS_H
#define GQ_LIB_RUNTIME_CPUGROUPS_H

#include "CpuCheck.h"

/// What the places of groups follow from.
typedef struct gqCpuGrouping {
  gqFormat format;
  /// Whether scales are in tile128x4.
  bool tiled;
  /// Of rows or, if ragged, of elements.
  gq_dev_groups groups;
  /// K, unless ragged.
  int64_t columns;
} gqCpuGrouping;

/// A group's shape and where it begins: in the matrix, a row or an element; in
/// flat operands, an element.
typedef struct gqCpuGroup {
  int64_t index, rows, columns;
  int64_t begin;
  int64_t scales, columnwiseData, columnwiseScales;
} gqCpuGroup;

static const gqCpuGroup gqCpuBeforeFirstGroup = {.index = -1};

/// Goes from group `index` to the next one, from -1 to the first.
void gqCpuNextGroup(const gqCpuGrouping *grouping, gqCpuGroup *group);

/// The number of columns of a row of a group's scales as stored.
int64_t gqCpuGroupScaleColumns(const gqCpuGrouping *grouping, bool columnwise,
                               const gqCpuGroup *group);

/// The number of a group's scales as stored.
int64_t gqCpuGroupNumScales(const gqCpuGrouping *grouping, bool columnwise,
                            const gqCpuGroup *group);

/// The elements of a row of a group's columnwise data that is transposed.
int64_t gqCpuGroupTransposedColumns(const gqCpuGroup *group);

/// The elements of that data.
int64_t gqCpuGroupTransposedSize(const gqCpuGroup *group);

/// Checks that `firstDims` and `lastDims` are [G] of the type of `offsets`, and
/// makes `groups`, which gqCpuCheckGroups() has filled, ragged.
bool gqCpuCheckGroupDims(gqCpuOp *op, const gqBuffer *firstDims,
                         const gqBuffer *lastDims, const gqBuffer *offsets,
                         gq_dev_groups *groups);

/// Checks that ragged group e lies between its offset and the next.
bool gqCpuCheckGroupShape(gqCpuOp *op, const gqCpuGrouping *grouping,
                          int64_t e);

#endif // GQ_LIB_RUNTIME_CPUGROUPS_H
