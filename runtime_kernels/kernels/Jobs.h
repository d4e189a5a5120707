//===- Jobs.h - the jobs of a kernel of tiles --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of Tiles.h, what its groups add up to, and how a CTA finds its
// jobs: it first sums up the groups, which says how many jobs there are before
// each and where its outputs begin. A lane finds a job in these sums; 8 of
// them find the next jobs of the CTA at once.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_JOBS_H
#define GQ_KERNELS_KERNELS_JOBS_H

#include "runtime_kernels/kernels/Tiles.h"

#include "runtime_kernels/kernels/Groups.h"
#include "runtime_kernels/kernels/Scales.h"

enum {
  THREADS = GQ_DEV_TILES_CTA,
  WARPS = THREADS / GQ_DEV_WARP,
  /// Rows and columns of a job.
  TILE = 128,
  /// Jobs of a CTA that are found at once.
  BATCH = 8,
};

/// What the kernel leaves for the one that adds it up.
typedef struct Workspace {
  /// Whether the groups cannot be used.
  uint32_t GQ_GLOBAL *faults;
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
      .faults = words,
      .firstJobs = words + 1,
      .amax = floats + gq_dev_tiles_workspace(rows, columns, groups, 0) / 4,
      .sums = floats + gq_dev_tiles_workspace(rows, columns, groups,
                                              parts & GQ_DEV_AMAX) /
                           4,
  };
}

/// The operands, and the constants that specialize the kernel.
typedef struct Op {
  gq_load16 *load;
  const void *inputs;
  int64_t rows, columns;
  const void GQ_GLOBAL *rowIndices;
  int64_t sourceRows;
  int32_t rowIndexBits;
  const void GQ_GLOBAL *offsets;
  uint32_t numOffsets, groups;
  const void GQ_GLOBAL *scaleOffsets, *firstDims, *lastDims;
  const float GQ_GLOBAL *outer, *columnwiseOuter;
  uint8_t GQ_GLOBAL *data;
  int64_t dataStride;
  uint8_t GQ_GLOBAL *scales;
  int64_t scalesStride, scalesSize;
  uint8_t GQ_GLOBAL *columnwiseData;
  int64_t columnwiseDataStride, columnwiseDataSize;
  uint8_t GQ_GLOBAL *columnwiseScales;
  int64_t columnwiseScalesSize;
  void GQ_GLOBAL *scaleOffsetsOut;
  Workspace workspace;
  uint32_t GQ_GLOBAL *status;
  gqFormat format;
  gqFormatTraits traits;
  gqRecipe recipe;
  bool rowwise, columnwise, hasAmax, hasDbias, ragged;
  bool givesScaleOffsets, hasScaleOffsets;
  bool tiled, allRows, wide;
  int32_t outerKind, columnwiseOuterKind;
  gqElementType type;
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
  return o->tiled ? !o->hasScaleOffsets : o->ragged || o->traits.blockRows > 1;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

typedef struct Group {
  /// Its first row or, if ragged, element.
  int64_t begin;
  int64_t rows, columns;
} Group;

GQ_DEV int64_t loadIndex(const Op *o, const void GQ_GLOBAL *indices,
                         uint32_t i) {
  return gq_dev_load_offset(indices, o->wide, i);
}

/// The first row of group e; for e = groups the row after the last one. Without
/// offsets there is one group, of all rows.
GQ_DEV int64_t groupBegin(const Op *o, uint32_t e) {
  return e < o->numOffsets ? loadIndex(o, o->offsets, e) : e > 0 ? o->rows : 0;
}

GQ_DEV Group loadGroup(const Op *o, uint32_t e) {
  int64_t begin = groupBegin(o, e);
  if (o->ragged)
    return (Group){begin, loadIndex(o, o->firstDims, e),
                   loadIndex(o, o->lastDims, e)};
  return (Group){begin, groupBegin(o, e + 1) - begin, o->columns};
}

/// GQ_DEV_STATUS_ bits: what of group e is not as it must be.
GQ_DEV uint32_t groupFaults(const Op *o, uint32_t e, Group group) {
  int64_t end = groupBegin(o, e + 1);
  if (group.begin < 0 || end < group.begin || end > o->rows)
    return GQ_DEV_STATUS_OFFSETS;
  if (o->ragged) {
    int64_t unit = o->rowwise || o->traits.blockRows > 1
                       ? o->traits.blockColumns
                       : GQ_DEV_UNIT;
    int64_t room = end - group.begin;
    bool fits = group.rows >= 0 && group.columns >= 0 &&
                group.columns % unit == 0 && group.rows <= INT32_MAX &&
                group.columns <= INT32_MAX &&
                group.rows * group.columns <= room;
    bool empty = group.rows == 0 || group.columns == 0;
    return fits && (empty || group.begin % GQ_RAGGED_ALIGNMENT == 0)
               ? 0
               : GQ_DEV_STATUS_OFFSETS;
  }
  if (!o->hasScaleOffsets)
    return 0;
  int64_t scaleRows =
      (int64_t)((uint64_t)o->scalesSize / (uint64_t)scaleWidth(o, o->columns));
  int64_t scaleBegin = loadIndex(o, o->scaleOffsets, e);
  int64_t scaleEnd =
      e + 1 < o->groups ? loadIndex(o, o->scaleOffsets, e + 1) : scaleRows;
  int64_t padded = gq_dev_up(group.rows, TILE);
  bool fits = scaleBegin >= 0 && scaleBegin % TILE == 0 &&
              scaleBegin <= scaleRows && padded <= scaleRows - scaleBegin &&
              padded <= scaleEnd - scaleBegin;
  return fits ? 0 : GQ_DEV_STATUS_SCALE_OFFSETS;
}

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

GQ_DEV Sums sumsOf(const Op *o, Group group) {
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
  uint32_t lane = gq_dev_lane();
  for (uint32_t distance = 1; distance < GQ_DEV_WARP; distance *= 2)
    for (int i = 0; i < NUM_SUMS; ++i)
      if (needsSum(o, i)) {
        int64_t below = gq_dev_shuffle_up64(sums.of[i], distance);
        sums.of[i] += lane >= distance ? below : 0;
      }
  return sums;
}

/// The sums of all groups before those of each thread, which has `share`
/// consecutive ones.
static GQ_SHARED int64_t table[NUM_SUMS][THREADS] GQ_UNINITIALIZED;
static GQ_SHARED int64_t warpSums[NUM_SUMS][WARPS] GQ_UNINITIALIZED;
static GQ_SHARED uint32_t sharedFaults GQ_UNINITIALIZED;

/// The groups as the CTA knows them, and the rows of none before and after.
typedef struct Plan {
  uint32_t share;
  uint32_t groupJobs, jobs;
  int64_t rowsBefore, firstRowAfter;
  /// Nothing is to be done if it is not 0.
  uint32_t faults;
} Plan;

/// Fills the table. All threads of the CTA take part.
GQ_DEV Plan makePlan(const Op *o) {
  uint32_t thread = gq_dev_thread();
  Plan plan = {.share = (o->groups + THREADS - 1) / THREADS};
  uint32_t begin = thread * plan.share, end = begin + plan.share;
  end = end < o->groups ? end : o->groups;
  Sums sums = {{0}};
  uint32_t faults = 0;
  for (uint32_t e = begin; e < end; ++e) {
    Group group = loadGroup(o, e);
    faults |= groupFaults(o, e, group);
    sums = addSums(o, sums, sumsOf(o, group));
  }
  if (thread == 0)
    sharedFaults = 0;
  Sums scanned = scanWarp(o, sums);
  if (gq_dev_lane() == GQ_DEV_WARP - 1)
    for (int i = 0; i < NUM_SUMS; ++i)
      if (needsSum(o, i))
        warpSums[i][thread / GQ_DEV_WARP] = scanned.of[i];
  gq_dev_barrier();
  Sums total = {{0}};
  for (int i = 0; i < NUM_SUMS; ++i)
    if (needsSum(o, i)) {
      int64_t before = scanned.of[i] - sums.of[i];
      for (uint32_t warp = 0; warp < WARPS; ++warp) {
        before += warp < thread / GQ_DEV_WARP ? warpSums[i][warp] : 0;
        total.of[i] += warpSums[i][warp];
      }
      table[i][thread] = before;
    }

  if (!o->ragged) {
    plan.rowsBefore = groupBegin(o, 0);
    plan.firstRowAfter = groupBegin(o, o->groups);
    if (plan.rowsBefore < 0 || plan.firstRowAfter < plan.rowsBefore ||
        plan.firstRowAfter > o->rows)
      faults |= GQ_DEV_STATUS_OFFSETS;
    total.of[SUM_SCALES] *= scaleWidth(o, o->columns);
  }
  if ((o->rowwise && needsSum(o, SUM_SCALES) &&
       total.of[SUM_SCALES] > o->scalesSize) ||
      (o->columnwise && o->traits.transposes &&
       dataBytes(o, total.of[SUM_COLUMNWISE_DATA]) > o->columnwiseDataSize) ||
      (o->columnwise &&
       total.of[SUM_COLUMNWISE_SCALES] > o->columnwiseScalesSize))
    faults |= GQ_DEV_STATUS_SIZES;
  if (faults)
    gq_dev_atomic_or_shared(&sharedFaults, faults);
  gq_dev_barrier();
  plan.faults = sharedFaults;
  if (plan.faults & GQ_DEV_STATUS_OFFSETS) // No wonder then about sizes.
    plan.faults &= ~(uint32_t)GQ_DEV_STATUS_SIZES;

  plan.groupJobs = plan.jobs = (uint32_t)total.of[SUM_JOBS];
  if (o->rowwise && o->allRows && !o->ragged)
    plan.jobs += (uint32_t)((numTiles(plan.rowsBefore) +
                             numTiles(o->rows - plan.firstRowAfter)) *
                            numTiles(o->columns));
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
GQ_DEV Job jobOfGroup(const Op *o, uint32_t index, int32_t number, Group group,
                      Sums before) {
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
      at = (o->ragged            ? before.of[SUM_SCALES]
            : o->hasScaleOffsets ? (number < 0 ? 0
                                               : loadIndex(o, o->scaleOffsets,
                                                           (uint32_t)number)) *
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
    Group group = {0, plan->rowsBefore, o->columns};
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
    Group group = loadGroup(o, e);
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
  here.columns = gq_dev_here64(o->columns);
  if (index < plan->jobs)
    jobs[n % (2 * BATCH)] = findJob(&here, plan, (uint32_t)index);
}

#endif // GQ_KERNELS_KERNELS_JOBS_H
