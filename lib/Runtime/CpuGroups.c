//===- CpuGroups.c - where groups are in an op's operands ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGroups.h"

#include "CpuQuantize.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <inttypes.h>

int64_t gqCpuGroupScaleColumns(const gqCpuGrouping *grouping, bool columnwise,
                               const gqCpuGroup *group) {
  int64_t columns = gqCpuGetScaleExtents(grouping->format, columnwise,
                                         group->rows, group->columns)
                        .columns;
  return grouping->tiled ? gq_dev_up(columns, GQ_DEV_TILE_COLUMNS) : columns;
}

int64_t gqCpuGroupNumScales(const gqCpuGrouping *grouping, bool columnwise,
                            const gqCpuGroup *group) {
  int64_t rows = gqCpuGetScaleExtents(grouping->format, columnwise, group->rows,
                                      group->columns)
                     .rows;
  return (grouping->tiled ? gq_dev_up(rows, GQ_DEV_TILE_ROWS) : rows) *
         gqCpuGroupScaleColumns(grouping, columnwise, group);
}

int64_t gqCpuGroupTransposedColumns(const gqCpuGroup *group) {
  return gq_dev_up(group->rows, GQ_CPU_TRANSPOSED_UNIT);
}

int64_t gqCpuGroupTransposedSize(const gqCpuGroup *group) {
  return group->columns * gqCpuGroupTransposedColumns(group);
}

void gqCpuNextGroup(const gqCpuGrouping *grouping, gqCpuGroup *group) {
  group->scales += gqCpuGroupNumScales(grouping, false, group);
  group->columnwiseData += gqCpuGroupTransposedSize(group);
  group->columnwiseScales += gqCpuGroupNumScales(grouping, true, group);

  gq_dev_groups groups = grouping->groups;
  int64_t e = ++group->index;
  group->begin = gq_dev_group_begin(groups, e);
  if (groups.ragged) {
    group->rows = gq_dev_load_index(groups.firstDims, groups.wide, e);
    group->columns = gq_dev_load_index(groups.lastDims, groups.wide, e);
    // Without an element there are no scales either.
    if (group->rows == 0 || group->columns == 0)
      group->rows = group->columns = 0;
  } else {
    group->rows = gq_dev_group_begin(groups, e + 1) - group->begin;
    group->columns = grouping->columns;
  }
}

bool gqCpuCheckGroupDims(gqCpuOp *op, const gqBuffer *firstDims,
                         const gqBuffer *lastDims, const gqBuffer *offsets,
                         gq_dev_groups *groups) {
  int32_t type = 1 << offsets->type;
  if (!gqCpuCheckFlat(op, "first_dims", GQ_READ, firstDims, type,
                      groups->numGroups, "[G]") ||
      !gqCpuCheckFlat(op, "last_dims", GQ_READ, lastDims, type,
                      groups->numGroups, "[G]"))
    return false;
  groups->ragged = true;
  groups->firstDims = firstDims->data;
  groups->lastDims = lastDims->data;
  return true;
}

bool gqCpuCheckGroupShape(gqCpuOp *op, const gqCpuGrouping *grouping,
                          int64_t e) {
  gq_dev_groups groups = grouping->groups;
  int64_t block = gqFormatGetTraits(grouping->format).blockColumns;
  int64_t rows = gq_dev_load_index(groups.firstDims, groups.wide, e);
  int64_t columns = gq_dev_load_index(groups.lastDims, groups.wide, e);
  int64_t begin = gq_dev_group_begin(groups, e);
  int64_t end = gq_dev_group_begin(groups, e + 1);
  int64_t size;
  if (rows < 0)
    return gqCpuFail(op, GQ_INVALID_OFFSETS,
                     "first_dims[%" PRId64 "] = %" PRId64 " is negative", e,
                     rows);
  if (columns < 0 || columns % block != 0)
    return gqCpuFail(op, GQ_INVALID_OFFSETS,
                     "last_dims[%" PRId64 "] = %" PRId64
                     " is not a multiple of the block of %" PRId64,
                     e, columns, block);
  if (__builtin_mul_overflow(rows, columns, &size) || size > end - begin)
    return gqCpuFail(op, GQ_INVALID_OFFSETS,
                     "group %" PRId64 " has shape [%" PRId64 ", %" PRId64
                     "], too large for elements %" PRId64 " to %" PRId64,
                     e, rows, columns, begin, end);
  if (size > 0 && begin % GQ_RAGGED_ALIGNMENT != 0)
    return gqCpuFail(op, GQ_INVALID_OFFSETS,
                     "offsets[%" PRId64 "] = %" PRId64
                     " is not a multiple of %d",
                     e, begin, GQ_RAGGED_ALIGNMENT);
  return true;
}
