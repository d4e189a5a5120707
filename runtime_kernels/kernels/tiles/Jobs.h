//===- Jobs.h - the jobs of a kernel of tiles --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of the kernel, what its groups add up to, and how a CTA finds
// its jobs: it first sums up the groups, which says how many jobs there are
// before each and where its outputs begin. A lane finds a job in these sums; 8
// of them find the next jobs of the CTA at once.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_JOBS_H
#define GQ_KERNELS_KERNELS_TILES_JOBS_H

#include "runtime_kernels/kernels/Kernels.h"

#include "runtime_kernels/arch/Scan.h"
#include "runtime_kernels/groups/Faults.h"
#include "runtime_kernels/scalers/Block.h"

enum {
  THREADS = GQ_DEV_QUANTIZE_TILES_THREADS,
  WARPS = THREADS / GQ_DEV_WARP,
  /// Rows and columns of a job.
  TILE = 128,
  /// Jobs of a CTA that are found at once.
  BATCH = 8,
};

/// What the kernel leaves for the one that adds it up.
typedef struct Workspace {
  /// [groups + 1], the number of the first job of a group.
  uint32_t GQ_GLOBAL *firstJobs;
  /// [jobs], the largest magnitude of each.
  float GQ_GLOBAL *amax;
  /// [row tiles, columns], sums of 128 rows.
  float GQ_GLOBAL *sums;
} Workspace;

GQ_DEV Workspace workspaceAt(void GQ_GLOBAL *at, int64_t rows, int64_t columns,
                             int64_t groups, int32_t parts) {
  uint32_t GQ_GLOBAL *words = at;
  float GQ_GLOBAL *floats = (float GQ_GLOBAL *)at;
  return (Workspace){
      .firstJobs = words,
      .amax = floats + gq_dev_tiles_workspace(rows, columns, groups, 0) / 4,
      .sums = floats + gq_dev_tiles_workspace(rows, columns, groups,
                                              parts & GQ_DEV_AMAX) /
                           4,
  };
}

/// The operands, and what follows from the constants among them.
typedef struct Op {
  GQ_DEV_FIELDS(GQ_QUANTIZE_TILES_OPERANDS)
  /// Whether row indices are applied before the hook is called.
  bool gathers;
  /// The operand `workspace`, if there is amax or dbias.
  Workspace partial;
  /// As they are given.
  gq_dev_groups allGroups;
  gqFormatTraits traits;
  bool rowwise, columnwise, hasAmax, hasDbias, ragged;
  bool givesScaleOffsets, tiled, allRows;
} Op;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

GQ_DEV uint32_t min32(int64_t x, uint32_t bound) {
  return x < (int64_t)bound ? (uint32_t)x : bound;
}

GQ_DEV int64_t numTiles(int64_t extent) {
  return (int64_t)((uint64_t)(extent + TILE - 1) / TILE);
}

GQ_DEV int64_t dataBytes(const Op *o, int64_t elements) {
  return o->traits.dataBits == 4 ? (int64_t)((uint64_t)elements / 2) : elements;
}

/// Scales of a job along a row or a column: 8, 4 or 1.
GQ_DEV uint32_t numScaleColumns(const Op *o) {
  return TILE / (uint32_t)o->traits.blockColumns;
}

/// Scales along so many elements, as their layout pads them.
GQ_DEV int64_t scaleWidth(const Op *o, int64_t elements) {
  int64_t block = o->traits.blockColumns;
  int64_t blocks =
      (int64_t)((uint64_t)(elements + block - 1) / (uint64_t)block);
  return o->tiled ? gq_dev_up(blocks, GQ_DEV_TILE_COLUMNS) : blocks;
}

/// Rows of scales of so many rows of blocks or, of the columnwise direction,
/// columns, as their layout pads them.
GQ_DEV int64_t scaleHeight(const Op *o, int64_t elements) {
  return o->tiled                  ? numTiles(elements) * TILE
         : o->traits.blockRows > 1 ? numTiles(elements)
                                   : elements;
}

/// The scales of a group in either direction. Those along a column count
/// missing rows.
GQ_DEV int64_t numScales(const Op *o, int64_t rows, int64_t columns) {
  return scaleHeight(o, rows) * scaleWidth(o, columns);
}
GQ_DEV int64_t numColumnwiseScales(const Op *o, int64_t rows, int64_t columns) {
  return scaleHeight(o, columns) * scaleWidth(o, gq_dev_up(rows, 32));
}

/// Bytes of so many scales.
GQ_DEV int64_t bytesOfScales(const Op *o, int64_t scales) {
  return scales * gqElementTypeSize(o->traits.scaleType);
}

/// Whether the rowwise scales of groups follow each other without a gap.
GQ_DEV bool hasPackedScales(const Op *o) {
  return o->tiled ? !o->allGroups.hasScaleOffsets
                  : o->ragged || o->traits.blockRows > 1;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// What is summed up over the groups.
enum {
  SUM_JOBS,
  /// Rows of the scale buffer or, if ragged, scales.
  SUM_SCALES,
  /// Elements of the transposed data.
  SUM_COLUMNWISE_DATA,
  SUM_COLUMNWISE_SCALES,
  NUM_SUMS
};

typedef struct Sums {
  int64_t of[NUM_SUMS];
} Sums;

/// Whether a sum is looked at; a constant.
GQ_DEV bool needsSum(const Op *o, int sum) {
  switch (sum) {
  case SUM_JOBS:
    return true;
  case SUM_SCALES:
    return o->givesScaleOffsets || (o->rowwise && hasPackedScales(o));
  case SUM_COLUMNWISE_DATA:
    return o->columnwise && o->traits.transposes;
  default:
    return o->columnwise;
  }
}

GQ_DEV Sums sumsOf(const Op *o, gq_dev_group group) {
  return (Sums){{
      numTiles(group.rows) * numTiles(group.columns),
      o->ragged                 ? numScales(o, group.rows, group.columns)
      : o->traits.blockRows > 1 ? numTiles(group.rows)
                                : numTiles(group.rows) * TILE,
      group.columns * gq_dev_up(group.rows, 32),
      numColumnwiseScales(o, group.rows, group.columns),
  }};
}

GQ_DEV Sums addSums(const Op *o, Sums a, Sums b) {
  for (int i = 0; i < NUM_SUMS; ++i)
    a.of[i] = needsSum(o, i) ? a.of[i] + b.of[i] : 0;
  return a;
}

/// The sum of a lane's and all lower lanes' sums.
GQ_DEV Sums scanWarp(const Op *o, Sums sums) {
  for (int i = 0; i < NUM_SUMS; ++i)
    sums.of[i] = needsSum(o, i) ? gq_dev_scan64(sums.of[i]) : 0;
  return sums;
}

/// The sums of all groups before those of each thread, which has `share`
/// consecutive ones.
static GQ_SHARED int64_t table[NUM_SUMS][THREADS] GQ_UNINITIALIZED;
static GQ_SHARED int64_t warpSums[NUM_SUMS][WARPS] GQ_UNINITIALIZED;
/// GQ_DEV_STATUS_ bits. Without any, no group needs to be checked again.
static GQ_SHARED uint32_t sharedFaults GQ_UNINITIALIZED;
/// The complement of the number of jobs that are done of groups.
static GQ_SHARED uint32_t jobsLeftOut GQ_UNINITIALIZED;

/// The groups as the CTA knows them, and the rows of none before and after.
typedef struct Plan {
  uint32_t share;
  uint32_t groupJobs, jobs;
  int64_t rowsBefore, firstRowAfter;
} Plan;

/// Group e, of no rows if it is skipped by itself. Once it is known whether any
/// group has a fault.
GQ_DEV gq_dev_group usedGroup(const Op *o, uint32_t e) {
  gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
  if (__builtin_expect(sharedFaults != 0, 0))
    gq_dev_check_group(&o->allGroups, e, &group);
  return group;
}

/// Whether so much fits into the outputs where groups follow each other.
GQ_DEV bool fitsOutputs(const Op *o, Sums sums) {
  int64_t scales = sums.of[SUM_SCALES];
  if (!o->ragged)
    scales *= scaleWidth(o, o->columns);
  return (!o->rowwise || !needsSum(o, SUM_SCALES) || scales <= o->scalesSize) &&
         (!o->columnwise || !o->traits.transposes ||
          dataBytes(o, sums.of[SUM_COLUMNWISE_DATA]) <=
              o->columnwiseDataSize) &&
         (!o->columnwise ||
          sums.of[SUM_COLUMNWISE_SCALES] <= o->columnwiseScalesSize);
}

/// The jobs before the first of a thread's groups, from `before` on, after
/// which there is too much of anything; UINT32_MAX if there is none.
GQ_DEV uint32_t jobsThatFit(const Op *o, const Plan *plan, Sums before,
                            int64_t mostJobs) {
  uint32_t begin = gq_dev_thread() * plan->share;
  for (uint32_t e = begin; e < begin + plan->share && e < o->groups; ++e) {
    gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
    gq_dev_check_group(&o->allGroups, e, &group);
    Sums after = addSums(o, before, sumsOf(o, group));
    if (!fitsOutputs(o, after) || after.of[SUM_JOBS] > mostJobs)
      return min32(before.of[SUM_JOBS], UINT32_MAX);
    before = after;
  }
  return UINT32_MAX;
}

/// Fills the table. All threads of the CTA take part.
GQ_DEV Plan makePlan(const Op *o) {
  uint32_t thread = gq_dev_thread();
  Plan plan = {.share = (o->groups + THREADS - 1) / THREADS};
  uint32_t begin = thread * plan.share, end = begin + plan.share;
  end = end < o->groups ? end : o->groups;
  Sums sums = {{0}};
  uint32_t faults = 0;
  for (uint32_t e = begin; e < end; ++e) {
    gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
    uint32_t found = gq_dev_check_group(&o->allGroups, e, &group);
    if (!found)
      found = gq_dev_check_overlap(&o->allGroups, e, group);
    faults |= found;
    sums = addSums(o, sums, sumsOf(o, group));
  }
  if (thread == 0)
    sharedFaults = jobsLeftOut = 0;
  Sums scanned = scanWarp(o, sums);
  if (gq_dev_lane() == GQ_DEV_WARP - 1)
    for (int i = 0; i < NUM_SUMS; ++i)
      if (needsSum(o, i))
        warpSums[i][thread / GQ_DEV_WARP] = scanned.of[i];
  gq_dev_barrier();
  Sums before = {{0}}, total = {{0}};
  for (int i = 0; i < NUM_SUMS; ++i)
    if (needsSum(o, i)) {
      before.of[i] = scanned.of[i] - sums.of[i];
      for (uint32_t warp = 0; warp < WARPS; ++warp) {
        before.of[i] += warp < thread / GQ_DEV_WARP ? warpSums[i][warp] : 0;
        total.of[i] += warpSums[i][warp];
      }
      table[i][thread] = before.of[i];
    }

  int64_t columnTiles = numTiles(o->columns);
  int64_t rowTilesOfNone = 0;
  if (!o->ragged) {
    int64_t first = gq_dev_group_begin(o->allGroups, 0);
    int64_t last = gq_dev_group_begin(o->allGroups, o->groups);
    plan.rowsBefore = first < 0 ? 0 : first < o->rows ? first : o->rows;
    plan.firstRowAfter = last < plan.rowsBefore ? plan.rowsBefore
                         : last < o->rows       ? last
                                                : o->rows;
    if (o->rowwise && o->allRows)
      rowTilesOfNone =
          numTiles(plan.rowsBefore) + numTiles(o->rows - plan.firstRowAfter);
  }
  // Not even groups that overlap make more jobs than the workspace has room
  // for.
  int64_t mostJobs = gq_dev_tiles_jobs(o->rows, o->columns, o->groups) -
                     (rowTilesOfNone < 2 ? 2 : rowTilesOfNone) * columnTiles;
  bool fits = fitsOutputs(o, total);
  if (!fits)
    faults |= GQ_DEV_STATUS_SIZES;
  if (faults)
    gq_dev_atomic_or_shared(&sharedFaults, faults);
  if (__builtin_expect(!fits || total.of[SUM_JOBS] > mostJobs, 0)) {
    gq_dev_atomic_max_shared(&jobsLeftOut,
                             ~jobsThatFit(o, &plan, before, mostJobs));
  }
  gq_dev_barrier();
  plan.groupJobs = min32(total.of[SUM_JOBS], ~jobsLeftOut);
  plan.jobs = plan.groupJobs + (uint32_t)(rowTilesOfNone * columnTiles);
  return plan;
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// A tile, and where its outputs begin.
typedef struct Job {
  /// Of element (0, 0) of the tile. If ragged, the row is 0 and the next row is
  /// `columnsOfGroup` columns on.
  int64_t inputRow, inputColumn;
  int64_t columnsOfGroup;
  uint8_t GQ_GLOBAL *data;
  int64_t dataPitch;
  uint8_t GQ_GLOBAL *scales;
  int64_t scalesPitch;
  uint8_t GQ_GLOBAL *columnwiseData;
  int64_t columnwiseDataPitch;
  uint8_t GQ_GLOBAL *columnwiseScales;
  int64_t columnwiseScalesPitch;
  gq_dev_outer outer, columnwiseOuter;
  /// -1 for rows of no group, which have data only.
  int32_t group;
  /// That the tile has, and the rows of columnwise data, a multiple of 32.
  uint32_t rows, columns, paddedRows;
  /// Bytes of tiles of scales or, if they are linear, bytes along a row.
  uint32_t scaleBytes, columnwiseScaleBytes;
  /// The first row of its sums and its first column.
  uint32_t sumsRow, sumsColumn;
} Job;

/// Jobs of the CTA: number n is at n % (2 * BATCH).
static GQ_SHARED Job jobs[2 * BATCH] GQ_UNINITIALIZED;

GQ_DEV gq_dev_outer loadOuter(const Op *o, const float GQ_GLOBAL *outer,
                              int32_t kind, int32_t group) {
  if (kind == GQ_OUTER_ONE)
    return gq_dev_outer_from(o->recipe, *outer);
  if (kind == GQ_OUTER_PER_GROUP && group >= 0)
    return gq_dev_outer_from(o->recipe, outer[group]);
  return gq_dev_no_outer(o->recipe);
}

/// The scales of a tile: its bytes, given the width of all and the first one.
GQ_DEV uint32_t scaleBytesOf(const Op *o, int64_t width, int64_t first) {
  uint32_t columns = min32(width - first, numScaleColumns(o));
  return o->tiled ? columns * TILE : columns;
}

/// Rows of tiles that are gone through together, in each column after column:
/// few make what is written at a time of rows long, many that of transposed
/// columns, which begin anywhere in a sector.
GQ_DEV uint32_t rowTilesOfBand(const Op *o) {
  return o->columnwise && o->traits.transposes ? 64 : 4;
}

/// Makes job `index` of a group, `before` being the sums before it.
GQ_DEV Job jobOfGroup(const Op *o, uint32_t index, int32_t number,
                      gq_dev_group group, Sums before) {
  int64_t block = o->traits.blockColumns;
  uint32_t columnTiles = (uint32_t)numTiles(group.columns);
  uint32_t height = rowTilesOfBand(o), band = index / (height * columnTiles);
  uint32_t bandRows = min32(numTiles(group.rows) - band * height, height);
  index -= band * height * columnTiles;
  uint32_t rowTile = band * height + index % bandRows;
  uint32_t columnTile = index / bandRows;
  int64_t row = (int64_t)rowTile * TILE, column = (int64_t)columnTile * TILE;
  int64_t rows32 = gq_dev_up(group.rows, 32);
  int64_t element = group.begin + row * group.columns + column; // if ragged
  Job job = {
      .inputRow = o->ragged ? 0 : group.begin + row,
      .inputColumn = o->ragged ? element : column,
      .columnsOfGroup = group.columns,
      .outer = loadOuter(o, o->outer, o->outerKind, number),
      .columnwiseOuter =
          loadOuter(o, o->columnwiseOuter, o->columnwiseOuterKind, number),
      .group = number,
      .rows = min32(group.rows - row, TILE),
      .columns = min32(group.columns - column, TILE),
      .paddedRows = number < 0 ? 0 : min32(rows32 - row, TILE),
  };
  if (o->hasDbias) {
    job.sumsRow = (uint32_t)before.of[SUM_JOBS] / columnTiles + rowTile;
    job.sumsColumn = columnTile * TILE;
  }

  if (o->rowwise) {
    job.dataPitch = o->ragged ? dataBytes(o, group.columns) : o->dataStride;
    job.data = o->data + (o->ragged ? dataBytes(o, element)
                                    : (group.begin + row) * o->dataStride +
                                          dataBytes(o, column));
    int64_t width = scaleWidth(o, group.columns), first = column / block;
    bool squares = o->traits.blockRows > 1;
    bool flat = o->ragged || (squares && !o->scalesStride);
    job.scalesPitch = flat ? bytesOfScales(o, width) : o->scalesStride;
    int64_t at;
    if (!o->tiled)
      at = (o->ragged ? bytesOfScales(o, before.of[SUM_SCALES])
                      : (squares ? before.of[SUM_SCALES] : group.begin) *
                            job.scalesPitch) +
           (squares ? rowTile : row) * job.scalesPitch +
           bytesOfScales(o, first);
    else
      at =
          (o->ragged ? before.of[SUM_SCALES]
           : o->allGroups.hasScaleOffsets
               ? (number < 0 ? 0
                             : gq_dev_group_scale_begin(o->allGroups, number)) *
                     width
               : before.of[SUM_SCALES] * width) +
          row * width + first * TILE;
    job.scales = o->scales + at;
    job.scaleBytes = number < 0 ? 0 : scaleBytesOf(o, width, first);
  }

  if (o->columnwise) {
    if (o->traits.transposes) {
      job.columnwiseDataPitch = dataBytes(o, rows32);
      job.columnwiseData = o->columnwiseData +
                           dataBytes(o, before.of[SUM_COLUMNWISE_DATA]) +
                           column * job.columnwiseDataPitch + dataBytes(o, row);
    } else {
      job.columnwiseDataPitch =
          o->ragged ? dataBytes(o, group.columns) : o->columnwiseDataStride;
      job.columnwiseData =
          o->columnwiseData +
          (o->ragged ? dataBytes(o, element)
                     : (group.begin + row) * o->columnwiseDataStride +
                           dataBytes(o, column));
    }
    int64_t width = scaleWidth(o, rows32), first = row / block;
    int64_t scaleRow = o->traits.blockRows > 1 ? columnTile : column;
    job.columnwiseScalesPitch = bytesOfScales(o, width);
    job.columnwiseScales =
        o->columnwiseScales +
        bytesOfScales(o, before.of[SUM_COLUMNWISE_SCALES] + scaleRow * width +
                             (o->tiled ? first * TILE : first));
    job.columnwiseScaleBytes = number < 0 ? 0 : scaleBytesOf(o, width, first);
  }
  return job;
}

/// Finds job `index`.
GQ_DEV Job findJob(const Op *o, const Plan *plan, uint32_t index) {
  if (index >= plan->groupJobs) {
    index -= plan->groupJobs;
    uint32_t above =
        (uint32_t)(numTiles(plan->rowsBefore) * numTiles(o->columns));
    gq_dev_group group = {0, plan->rowsBefore, plan->rowsBefore, o->columns};
    if (index >= above) {
      index -= above;
      group.begin = plan->firstRowAfter;
      group.rows = o->rows - plan->firstRowAfter;
    }
    return jobOfGroup(o, index, -1, group, (Sums){{0}});
  }

  // The last thread whose groups begin at or before the job, then among its
  // groups.
  uint32_t owner = 0;
  for (uint32_t step = THREADS / 2; step; step /= 2)
    if (table[SUM_JOBS][owner + step] <= (int64_t)index)
      owner += step;
  Sums before;
  for (int i = 0; i < NUM_SUMS; ++i)
    before.of[i] = needsSum(o, i) ? table[i][owner] : 0;
  for (uint32_t e = owner * plan->share;; ++e) {
    gq_dev_group group = usedGroup(o, e);
    Sums after = addSums(o, before, sumsOf(o, group));
    if ((int64_t)index < after.of[SUM_JOBS])
      return jobOfGroup(o, index - (uint32_t)before.of[SUM_JOBS], (int32_t)e,
                        group, before);
    before = after;
  }
}

/// Finds jobs `first` to `first` + BATCH - 1 of the CTA. BATCH threads take
/// part.
GQ_DEV void findJobs(const Op *o, const Plan *plan, uint32_t numCtas,
                     uint32_t first) {
  uint32_t n = first + gq_dev_thread() % BATCH;
  uint64_t index = gq_dev_here(gq_dev_cta()) + (uint64_t)n * numCtas;
  Op here = *o;
  here.columns = here.allGroups.numColumns = gq_dev_here64(o->columns);
  if (index < plan->jobs)
    jobs[n % (2 * BATCH)] = findJob(&here, plan, (uint32_t)index);
}

#endif // GQ_KERNELS_KERNELS_TILES_JOBS_H
