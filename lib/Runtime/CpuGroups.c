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

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

static int64_t countJobs(const gqCpuMatrices *matrices,
                         const gqCpuGroup *group) {
  int64_t down =
      matrices->jobRows == 0 ? 1 : gqCpuCeilDiv(group->rows, matrices->jobRows);
  return down * gqCpuCeilDiv(group->columns, matrices->jobColumns);
}

bool gqCpuNextMatrix(const gqCpuMatrices *matrices, gqCpuJob *job) {
  const gqCpuGrouping *grouping = &matrices->grouping;
  gq_dev_groups groups = grouping->groups;
  int64_t e = ++job->matrix;
  if (e >= groups.numGroups + (matrices->outside ? 2 : 0))
    return false;
  if (e < groups.numGroups) {
    gqCpuNextGroup(grouping, &job->group);
  } else {
    bool after = e > groups.numGroups;
    int64_t begin = after ? gq_dev_group_begin(groups, groups.numGroups) : 0;
    int64_t end = after ? groups.numRows : gq_dev_group_begin(groups, 0);
    job->group = (gqCpuGroup){.index = -1,
                              .begin = begin,
                              .rows = end - begin,
                              .columns = grouping->columns};
  }
  job->before += job->count;
  job->count = countJobs(matrices, &job->group);
  return true;
}

bool gqCpuTakeJobOf(const gqCpuMatrices *matrices, gqCpuJobs *jobs,
                    gqCpuJob *job) {
  int64_t number;
  if (!gqCpuTakeJob(jobs, &number))
    return false;
  while (number >= job->before + job->count)
    gqCpuNextMatrix(matrices, job);
  int64_t height = matrices->jobRows, width = matrices->jobColumns;
  int64_t across = gqCpuCeilDiv(job->group.columns, width);
  number -= job->before;
  job->row = number / across * height;
  job->rows = job->group.rows;
  if (height != 0)
    job->rows = gqCpuLeast(job->rows - job->row, height);
  job->column = number % across * width;
  job->columns = gqCpuLeast(job->group.columns - job->column, width);
  return true;
}

int32_t gqCpuNumThreadsOf(const gqCpuMatrices *matrices, int64_t *numJobs) {
  gqCpuJob job = gqCpuBeforeFirstJob;
  double elements = 0;
  while (gqCpuNextMatrix(matrices, &job))
    elements += (double)job.group.rows * (double)job.group.columns;
  *numJobs = job.before + job.count;
  return gqCpuNumThreads(*numJobs, elements * matrices->cost);
}

/// What threads share.
typedef struct Run {
  const gqCpuMatrices *matrices;
  gqCpuDoJob *doJob;
  const void *context;
} Run;

static void work(void *context, int32_t thread, gqCpuJobs *jobs) {
  const Run *run = context;
  (void)thread;
  gqCpuJob job = gqCpuBeforeFirstJob;
  while (gqCpuTakeJobOf(run->matrices, jobs, &job))
    run->doJob(run->context, &job);
}

void gqCpuRunMatrices(const gqCpuMatrices *matrices, gqCpuDoJob *doJob,
                      const void *context) {
  enum { JOBS_OF_THREAD = 4 };
  int64_t least = matrices->jobRows == 0 ? GQ_CPU_TALL_JOB_COLUMNS
                                         : GQ_CPU_NARROW_JOB_COLUMNS;
  gqCpuMatrices narrowed = *matrices;
  Run run = {&narrowed, doJob, context};
  int64_t numJobs;
  int32_t numThreads = gqCpuNumThreadsOf(&narrowed, &numJobs);
  while (numJobs < JOBS_OF_THREAD * numThreads && narrowed.jobColumns > least) {
    narrowed.jobColumns /= 2;
    numThreads = gqCpuNumThreadsOf(&narrowed, &numJobs);
  }
  gqCpuRun(numThreads, numJobs, work, &run);
}

gqCpuMatrices gqCpuOneMatrix(gqFormat format, int64_t rows, int64_t columns) {
  return (gqCpuMatrices){
      .grouping = {.format = format,
                   .groups = {.numGroups = 1, .numRows = rows},
                   .columns = columns},
      .jobRows = GQ_CPU_JOB_ROWS,
      .jobColumns = GQ_CPU_JOB_COLUMNS,
      .cost = 1};
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

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
