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
#include "CpuThreads.h"
#include "CpuTiles.h"

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

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// The matrices that an op works on, cut into jobs: those of the groups, then,
/// if `outside`, the rows before the first group and those after the last one.
typedef struct gqCpuMatrices {
  gqCpuGrouping grouping;
  bool outside;
  /// The extents of a job, less at a matrix's end. With 0 rows it has all rows,
  /// and there are jobs of a matrix without rows too.
  int64_t jobRows, jobColumns;
  /// What an element costs, compared with one that is quantized.
  double cost;
} gqCpuMatrices;

enum {
  /// The most rows and columns of a job of an op that goes through a matrix in
  /// tiles. Long rows are read at the speed of memory.
  GQ_CPU_JOB_ROWS = GQ_CPU_TILE,
  GQ_CPU_JOB_COLUMNS = 64 * GQ_CPU_TILE,
  /// Where there would be too few jobs they are narrower, but not below this;
  /// the second is of jobs of all rows.
  GQ_CPU_NARROW_JOB_COLUMNS = 8 * GQ_CPU_TILE,
  GQ_CPU_TALL_JOB_COLUMNS = 2 * GQ_CPU_TILE,
};

/// A job: a part of a matrix.
typedef struct gqCpuJob {
  /// The matrix. Rows in no group have the index -1.
  gqCpuGroup group;
  int64_t row, rows, column, columns;
  /// Which matrix it is, the jobs of those before, and its own.
  int64_t matrix, before, count;
} gqCpuJob;

/// Before the first matrix.
static const gqCpuJob gqCpuBeforeFirstJob = {.group = {.index = -1},
                                             .matrix = -1};

/// Goes from matrix to matrix; false after the last one. For what is done once
/// for each of them.
bool gqCpuNextMatrix(const gqCpuMatrices *matrices, gqCpuJob *job);

/// Takes a job, which `job` becomes. Each thread has one of its own, which is
/// gqCpuBeforeFirstJob in the beginning.
bool gqCpuTakeJobOf(const gqCpuMatrices *matrices, gqCpuJobs *jobs,
                    gqCpuJob *job);

/// The number of threads that should do the jobs, and of jobs.
int32_t gqCpuNumThreadsOf(const gqCpuMatrices *matrices, int64_t *numJobs);

/// Does a job.
typedef void gqCpuDoJob(const void *context, const gqCpuJob *job);

/// Has threads do all jobs, which are narrower if there are few.
void gqCpuRunMatrices(const gqCpuMatrices *matrices, gqCpuDoJob *doJob,
                      const void *context);

/// The one matrix of an op without groups.
gqCpuMatrices gqCpuOneMatrix(gqFormat format, int64_t rows, int64_t columns);

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Checks that `firstDims` and `lastDims` are [G] of the type of `offsets`, and
/// makes `groups`, which gqCpuCheckGroups() has filled, ragged.
bool gqCpuCheckGroupDims(gqCpuOp *op, const gqBuffer *firstDims,
                         const gqBuffer *lastDims, const gqBuffer *offsets,
                         gq_dev_groups *groups);

/// Checks that ragged group e lies between its offset and the next.
bool gqCpuCheckGroupShape(gqCpuOp *op, const gqCpuGrouping *grouping,
                          int64_t e);

#endif // GQ_LIB_RUNTIME_CPUGROUPS_H
