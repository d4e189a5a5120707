//===- Tiles.c - the kernel of whole tiles --------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job is a tile of 128 rows of a group by 128 columns. Of either direction
// such a tile has whole 512-byte tiles of scales, so that it owns the bytes it
// writes, padding included. CTAs take the jobs in turn, along the rows of the
// matrix, so that the grid moves through it as a whole.
//
// A job goes in passes of 32 words a row, a word being two elements of 16 bits
// or one of 32. In a pass a thread quantizes what it loaded along the row and
// leaves it in shared memory; after a barrier it takes 16 rows of a word, which
// it quantizes along the columns. Those codes go through shared memory once
// more, so that they leave in runs. Before that, the loads of the next pass are
// issued.
//
// A CTA first sums up the groups: how many jobs there are before each, and
// where its outputs begin. One warp finds the next job in these sums while the
// others compute.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/device/Tiles.h"

#include "runtime_kernels/device/Blocks.h"
#include "runtime_kernels/device/Gather.h"
#include "runtime_kernels/device/Groups.h"

enum {
  THREADS = GQ_DEV_TILES_CTA,
  WARPS = THREADS / GQ_DEV_WARP,
  /// Rows and columns of a job.
  TILE = 128,
  /// Words of a row in a pass.
  WORDS = 32,
  /// Units of 16 rows in a job.
  ROW_UNITS = TILE / GQ_DEV_UNIT,
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

/// Scales of a job along a row or a column: 8 or 4.
GQ_DEV uint32_t scaleColumns(const Op *o) {
  return TILE / (uint32_t)o->traits.blockColumns;
}

/// Scales along so many elements, as their layout pads them.
GQ_DEV int64_t scaleWidth(const Op *o, int64_t elements) {
  int64_t blocks =
      (int64_t)((uint64_t)elements / (uint64_t)o->traits.blockColumns);
  return o->tiled ? gq_dev_up(blocks, GQ_DEV_TILE_COLUMNS) : blocks;
}

/// Columns of a pass, and units of 16 columns in it.
GQ_DEV uint32_t passColumns(const Op *o) {
  return WORDS * gq_dev_elements_per_word(o->type);
}
GQ_DEV uint32_t passUnits(const Op *o) { return passColumns(o) / GQ_DEV_UNIT; }
GQ_DEV uint32_t numPasses(const Op *o) { return TILE / passColumns(o); }
/// Units that a thread has in a pass.
GQ_DEV uint32_t unitsOfThread(const Op *o) {
  return TILE * passUnits(o) / THREADS;
}
GQ_DEV uint32_t wordsOfUnit(const Op *o) {
  return GQ_DEV_UNIT / gq_dev_elements_per_word(o->type);
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

/// The first row of group e; for e = groups the row after the last one.
GQ_DEV int64_t groupBegin(const Op *o, uint32_t e) {
  return e < o->numOffsets ? loadIndex(o, o->offsets, e) : o->rows;
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
    int64_t unit = o->rowwise ? o->traits.blockColumns : GQ_DEV_UNIT;
    int64_t room = end - group.begin;
    bool fits = group.rows >= 0 && group.columns >= 0 &&
                group.columns % unit == 0 && group.rows <= INT32_MAX &&
                group.columns <= INT32_MAX &&
                group.rows * group.columns <= room;
    bool empty = group.rows == 0 || group.columns == 0;
    return fits && (empty || group.begin % GQ_DEV_UNIT == 0)
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
  /// Scales in tiles.
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
    return o->ragged ? o->rowwise
                     : o->givesScaleOffsets ||
                           (o->rowwise && o->tiled && !o->hasScaleOffsets);
  case SUM_COLUMNWISE_DATA:
    return o->columnwise && (o->traits.transposes || !o->tiled);
  default:
    return o->columnwise && o->tiled;
  }
}

GQ_DEV Sums sumsOf(const Op *o, Group group) {
  int64_t rowTiles = numTiles(group.rows);
  int64_t columnTiles = numTiles(group.columns);
  int64_t rows32 = gq_dev_up(group.rows, 32);
  int64_t scaleRows = o->tiled ? rowTiles * TILE : group.rows;
  return (Sums){{
      rowTiles * columnTiles,
      o->ragged ? scaleRows * scaleWidth(o, group.columns) : rowTiles * TILE,
      group.columns * rows32,
      columnTiles * TILE * scaleWidth(o, rows32),
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

GQ_DEV Sums sumsOfLane(const Op *o, Sums sums, uint32_t lane) {
  for (int i = 0; i < NUM_SUMS; ++i)
    if (needsSum(o, i))
      sums.of[i] = gq_dev_shuffle64(sums.of[i], lane);
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
       (o->tiled ? total.of[SUM_COLUMNWISE_SCALES]
                 : scaleWidth(o, total.of[SUM_COLUMNWISE_DATA])) >
           o->columnwiseScalesSize))
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

/// The current job and the next one.
static GQ_SHARED Job jobs[2] GQ_UNINITIALIZED;

GQ_DEV gq_dev_outer loadOuter(const Op *o, const float GQ_GLOBAL *outer,
                              int32_t kind, int32_t group) {
  if (kind == GQ_DEV_GLOBAL_SCALE_ONE)
    return gq_dev_outer_from(o->recipe, *outer);
  if (kind == GQ_DEV_GLOBAL_SCALE_PER_GROUP && group >= 0)
    return gq_dev_outer_from(o->recipe, outer[group]);
  return gq_dev_no_outer(o->recipe);
}

/// The scales of a tile: its bytes, given the width of all and the first one.
GQ_DEV uint32_t scaleBytesOf(const Op *o, int64_t width, int64_t first) {
  uint32_t columns = min32(width - first, scaleColumns(o));
  return o->tiled ? columns * TILE : columns;
}

/// Makes job `index` of a group, `before` being the sums before it.
GQ_DEV Job jobOfGroup(const Op *o, uint32_t index, int32_t number, Group group,
                      Sums before) {
  int64_t block = o->traits.blockColumns;
  uint32_t columnTiles = (uint32_t)numTiles(group.columns);
  uint32_t rowTile = index / columnTiles, columnTile = index % columnTiles;
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
    job.scalesPitch = o->ragged ? width : o->scalesStride;
    int64_t at;
    if (!o->tiled)
      at = (o->ragged ? before.of[SUM_SCALES] + row * width
                      : (group.begin + row) * o->scalesStride) +
           first;
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
    job.columnwiseScalesPitch = width;
    job.columnwiseScales =
        o->columnwiseScales +
        (o->tiled
             ? before.of[SUM_COLUMNWISE_SCALES] + column * width + first * TILE
             : scaleWidth(o, before.of[SUM_COLUMNWISE_DATA]) + column * width +
                   first);
    job.columnwiseScaleBytes = number < 0 ? 0 : scaleBytesOf(o, width, first);
  }
  return job;
}

/// Finds job `index`. All lanes of a warp take part; all get it.
GQ_DEV Job findJob(const Op *o, const Plan *plan, uint32_t index) {
  uint32_t lane = gq_dev_lane();
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

  // The last thread whose groups begin at or before the job: 32 threads 8
  // apart, then the 8.
  const uint32_t step = THREADS / GQ_DEV_WARP;
  uint32_t atMost =
      gq_dev_ballot(table[SUM_JOBS][lane * step] <= (int64_t)index);
  uint32_t base = ((uint32_t)__builtin_popcount(atMost) - 1) * step;
  atMost = gq_dev_ballot(lane < step &&
                         table[SUM_JOBS][base + lane % step] <= (int64_t)index);
  uint32_t thread = base + (uint32_t)__builtin_popcount(atMost) - 1;
  Sums before;
  for (int i = 0; i < NUM_SUMS; ++i)
    before.of[i] = needsSum(o, i) ? table[i][thread] : 0;

  // Among that thread's groups, 32 at a time.
  uint32_t e = thread * plan->share;
  for (;;) {
    Group group = {0};
    Sums sums = {{0}};
    if (lane < plan->share && e + lane < o->groups) {
      group = loadGroup(o, e + lane);
      sums = sumsOf(o, group);
    }
    Sums scanned = plan->share > 1 ? scanWarp(o, sums) : sums;
    int64_t left = (int64_t)index - before.of[SUM_JOBS];
    uint32_t passed = (uint32_t)__builtin_popcount(
        gq_dev_ballot(plan->share > 1 && scanned.of[SUM_JOBS] <= left));
    if (passed < GQ_DEV_WARP) {
      for (int i = 0; i < NUM_SUMS; ++i)
        scanned.of[i] -= sums.of[i];
      before = addSums(o, before, sumsOfLane(o, scanned, passed));
      group.begin = gq_dev_shuffle64(group.begin, passed);
      group.rows = gq_dev_shuffle64(group.rows, passed);
      group.columns =
          o->ragged ? gq_dev_shuffle64(group.columns, passed) : o->columns;
      return jobOfGroup(o, index - (uint32_t)before.of[SUM_JOBS],
                        (int32_t)(e + passed), group, before);
    }
    before = addSums(o, before, sumsOfLane(o, scanned, GQ_DEV_WARP - 1));
    e += GQ_DEV_WARP;
  }
}

//===----------------------------------------------------------------------===//
// Shared memory of a pass and of a job
//===----------------------------------------------------------------------===//

/// The elements of a pass. Groups of four words are permuted within a row, so
/// that neither rows nor columns of words meet in a bank.
static GQ_SHARED gq_dev_u32x4 elements[TILE * WORDS / 4] GQ_UNINITIALIZED;
/// Columnwise codes of a pass, as they leave.
static GQ_SHARED gq_dev_u32x4 staged[TILE * 4] GQ_UNINITIALIZED;
/// Scales of a job, as they leave. Those of rows for two jobs: they are written
/// while a slow thread still stores the last ones.
static GQ_SHARED gq_dev_u32x4 rowScales[2][TILE * 8 / 16] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4 columnScales[TILE * 8 / 16] GQ_UNINITIALIZED;
/// Sums of 16 rows of a column of a pass.
static GQ_SHARED float unitSums[ROW_UNITS][2 * WORDS] GQ_UNINITIALIZED;
/// The largest magnitude of a job, and of the next.
static GQ_SHARED uint32_t jobAmax[2] GQ_UNINITIALIZED;

/// Where in `elements` four words of a row are.
GQ_DEV uint32_t elementsAt(uint32_t row, uint32_t fourth) {
  return row * (WORDS / 4) + (fourth ^ (row & 3) ^ (row >> 2 & 4));
}

/// The byte of the scale (row, column) of a job.
GQ_DEV uint32_t scaleAt(const Op *o, uint32_t row, uint32_t column) {
  return o->tiled ? (uint32_t)gq_dev_tile128x4_offset(row, column,
                                                      GQ_DEV_TILE_COLUMNS)
                  : row * scaleColumns(o) + column;
}

/// Where in `staged` 16 bytes of a transposed column are: lines of two columns,
/// permuted against bank conflicts.
GQ_DEV uint32_t stagedColumnAt(uint32_t column, uint32_t chunk) {
  uint32_t line = column / 2;
  return (column ^ (line >> 2 & 1)) * 4 + (chunk ^ (line & 3));
}

/// Bytes of a row of codes of a pass; where in `staged` a byte of one is.
GQ_DEV uint32_t stagedPitch(const Op *o) {
  return passColumns(o) * (uint32_t)o->traits.dataBits / 8;
}
GQ_DEV uint32_t stagedRowAt(const Op *o, uint32_t row, uint32_t byte) {
  uint32_t pitch = stagedPitch(o);
  return row * pitch + (byte ^ (row >> 4 & 1) * (pitch / 2));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Stores the first `count` bytes of `words`, all at once if `aligned` and
/// there are `full`, 4, 8 or 16, of them.
GQ_DEV void storeBytes(uint8_t GQ_GLOBAL *p, const uint32_t words[4],
                       uint32_t count, uint32_t full, bool aligned) {
  if (aligned && count == full) {
    if (full == 16)
      *(gq_dev_u32x4 GQ_GLOBAL *)p =
          (gq_dev_u32x4){words[0], words[1], words[2], words[3]};
    else if (full == 8)
      *(gq_dev_u32x2 GQ_GLOBAL *)p = (gq_dev_u32x2){words[0], words[1]};
    else
      *(uint32_t GQ_GLOBAL *)p = words[0];
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 16; ++i)
    if (i < full && i < count)
      p[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
}

GQ_DEV bool isAligned(const void GQ_GLOBAL *p, int64_t stride, uint32_t unit) {
  return (((uint64_t)p | (uint64_t)stride) & (unit - 1)) == 0;
}

/// Stores the scales of a job that are in shared memory: tiles of 512 bytes, or
/// `rows` rows of `bytes` bytes.
GQ_DEV void storeScales(const Op *o, uint8_t GQ_GLOBAL *to, int64_t pitch,
                        uint32_t rows, uint32_t bytes,
                        const gq_dev_u32x4 GQ_SHARED *from, uint32_t thread) {
  if (o->tiled) {
    if (thread * 16 < bytes) {
      gq_dev_u32x4 words = from[thread];
      uint32_t w[4] = {words.x, words.y, words.z, words.w};
      storeBytes(to + thread * 16, w, 16, 16, isAligned(to, 0, 16));
    }
    return;
  }
  uint32_t full = scaleColumns(o);
  if (thread < rows) {
    const uint32_t GQ_SHARED *p =
        (const uint32_t GQ_SHARED *)from + thread * (full / 4);
    uint32_t w[4] = {p[0], full == 8 ? p[1] : 0};
    uint8_t GQ_GLOBAL *row = to + thread * pitch;
    storeBytes(row, w, bytes, full, isAligned(row, 0, full));
  }
}

//===----------------------------------------------------------------------===//
// A pass: rows
//===----------------------------------------------------------------------===//

/// A unit as it was loaded.
typedef struct Held {
  uint32_t words[GQ_DEV_UNIT];
} Held;

/// A thread's unit i of a pass: a row of the tile and a unit of the pass.
GQ_DEV uint32_t rowOfUnit(const Op *o, uint32_t i) {
  return gq_dev_thread() / passUnits(o) + i * (THREADS / passUnits(o));
}
GQ_DEV uint32_t unitOfPass(const Op *o) {
  return gq_dev_thread() % passUnits(o);
}

/// Loads unit i; zeros where the tile has no elements.
GQ_DEV Held loadUnit(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                     uint32_t i) {
  uint32_t row = rowOfUnit(o, i);
  uint32_t column = pass * passColumns(o) + unitOfPass(o) * GQ_DEV_UNIT;
  Held held = {{0}};
  if (row < job->rows && column < job->columns) {
    float x[GQ_DEV_UNIT];
    if (o->ragged)
      o->load(o->inputs, 0,
              job->inputColumn + row * job->columnsOfGroup + column, x);
    else if (o->rowIndexBits)
      gq_dev_load16_gathered(o->load, o->inputs,
                             gq_dev_source_row(o->rowIndices, o->rowIndexBits,
                                               o->sourceRows,
                                               job->inputRow + row),
                             job->inputColumn + column, x);
    else
      o->load(o->inputs, job->inputRow + row, job->inputColumn + column, x);
    for (uint32_t j = 0; j < GQ_DEV_UNIT; ++j)
      if (j < wordsOfUnit(o))
        held.words[j] =
            gq_dev_pack(o->type, x + j * gq_dev_elements_per_word(o->type));
  }
  return held;
}

/// Leaves unit i in shared memory.
GQ_DEV void storeUnit(const Op *o, uint32_t i, Held held) {
  uint32_t fourths = wordsOfUnit(o) / 4;
  for (uint32_t j = 0; j < GQ_DEV_UNIT / 4; ++j)
    if (j < fourths)
      elements[elementsAt(rowOfUnit(o, i), unitOfPass(o) * fourths + j)] =
          (gq_dev_u32x4){held.words[4 * j], held.words[4 * j + 1],
                         held.words[4 * j + 2], held.words[4 * j + 3]};
}

/// Quantizes unit i along the row. Returns its largest magnitude, that of its
/// block with blocks of two units.
GQ_DEV float quantizeUnit(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                          uint32_t i, Held held, uint8_t GQ_SHARED *scales) {
  uint32_t unitBytes = (uint32_t)dataBytes(o, GQ_DEV_UNIT);
  uint32_t row = rowOfUnit(o, i);
  uint32_t unit = pass * passUnits(o) + unitOfPass(o);
  uint32_t column = unit * GQ_DEV_UNIT;
  uint32_t block = (uint32_t)o->traits.blockColumns;

  float pair[2];
  gq_dev_unpack_amax(
      o->type, gq_dev_max_words(o->type, held.words, wordsOfUnit(o)), pair);
  float amax = gq_dev_max_number(pair[0], pair[1]);
  if (block == 2 * GQ_DEV_UNIT)
    amax = gq_dev_max_number(amax, gq_dev_f32_from_bits(gq_dev_shuffle_xor(
                                       gq_dev_f32_bits(amax), 1)));

  uint32_t scale = 0;
  if (row < job->rows && column < job->columns) {
    float x[GQ_DEV_UNIT], y[GQ_DEV_UNIT];
    for (uint32_t j = 0; j < GQ_DEV_UNIT; ++j)
      if (j < wordsOfUnit(o))
        gq_dev_unpack(o->type, held.words[j],
                      x + j * gq_dev_elements_per_word(o->type));
    gq_dev_outer outer = job->outer;
    bool hasOuter = o->outerKind != GQ_DEV_GLOBAL_SCALE_NONE;
    gq_dev_e2m1_way way = gq_dev_e2m1_way_of(o->type, hasOuter);
    scale = gq_dev_scale_block(o->format, o->recipe, hasOuter, outer, way, x,
                               amax, y);
    uint32_t codes[4];
    gq_dev_codes(o->format, way, y, codes);
    bool aligned = isAligned(o->data, o->ragged ? 0 : o->dataStride, unitBytes);
    storeBytes(job->data + row * job->dataPitch + dataBytes(o, column), codes,
               unitBytes, unitBytes, aligned);
  }
  if (column % block == 0)
    scales[scaleAt(o, row, column / block)] = (uint8_t)scale;
  return amax;
}

//===----------------------------------------------------------------------===//
// A pass: columns
//===----------------------------------------------------------------------===//

/// What a thread has of a pass: 16 rows, a unit, of a word. A warp has 32 rows
/// of 16 words.
typedef struct Strip {
  uint32_t word, unit;
} Strip;

GQ_DEV Strip stripOfThread(void) {
  uint32_t warp = gq_dev_thread() / GQ_DEV_WARP, lane = gq_dev_lane();
  return (Strip){warp % 2 * 16 + lane % 16, warp / 2 * 2 + lane / 16};
}

/// Writes the codes of transposed column `column` of the pass.
GQ_DEV void stageTransposed(uint32_t column, uint32_t unit,
                            const uint32_t codes[4]) {
  gq_dev_u32x2 GQ_SHARED *p =
      (gq_dev_u32x2 GQ_SHARED *)(staged + stagedColumnAt(column, unit / 2));
  p[unit % 2] = (gq_dev_u32x2){codes[0], codes[1]};
}

/// Writes the codes of 16 rows of a word where rows stay rows.
GQ_DEV void stageRows(const Op *o, Strip strip, gq_dev_e2m1_way way,
                      const float y[2][GQ_DEV_UNIT]) {
  uint8_t GQ_SHARED *bytes = (uint8_t GQ_SHARED *)staged;
  uint32_t row = strip.unit * GQ_DEV_UNIT;
  bool paired = gq_dev_elements_per_word(o->type) == 2;
  if (o->traits.dataBits == 8) {
    for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
      if (paired)
        *(uint16_t GQ_SHARED *)(bytes +
                                stagedRowAt(o, row + i, 2 * strip.word)) =
            (uint16_t)gq_dev_fp8x2(o->format, y[0][i], y[1][i]);
      else
        bytes[stagedRowAt(o, row + i, strip.word)] =
            (uint8_t)gq_dev_fp8x2(o->format, y[0][i], 0.0f);
    return;
  }
  if (paired) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < GQ_DEV_UNIT; i += 4) {
      float both[8];
      for (uint32_t j = 0; j < 4; ++j) {
        both[2 * j] = y[0][i + j];
        both[2 * j + 1] = y[1][i + j];
      }
      uint32_t codes = gq_dev_e2m1x8(way, both);
      for (uint32_t j = 0; j < 4; ++j)
        bytes[stagedRowAt(o, row + i + j, strip.word)] =
            (uint8_t)(codes >> 8 * j);
    }
    return;
  }
  // Two lanes have the halves of a byte: each stores 8 of the 16 rows.
  uint32_t codes[2] = {gq_dev_e2m1x8(way, y[0]), gq_dev_e2m1x8(way, y[0] + 8)};
  bool odd = strip.word % 2;
  uint32_t other = gq_dev_shuffle_xor(odd ? codes[0] : codes[1], 1);
  uint32_t low = odd ? other : codes[0], high = odd ? codes[1] : other;
  uint32_t even = (low & 0x0f0f0f0f) | (high << 4 & 0xf0f0f0f0);
  uint32_t odds = (low >> 4 & 0x0f0f0f0f) | (high & 0xf0f0f0f0);
  for (uint32_t j = 0; j < 8; ++j)
    bytes[stagedRowAt(o, row + 8 * odd + j, strip.word / 2)] =
        (uint8_t)((j % 2 ? odds : even) >> j / 2 * 8);
}

/// Sums up and quantizes the thread's strip along the columns. Returns its
/// largest magnitude.
GQ_DEV float quantizeStrip(const Op *o, const Job GQ_SHARED *job,
                           uint32_t pass) {
  uint32_t perWord = gq_dev_elements_per_word(o->type);
  Strip strip = stripOfThread();
  uint32_t column = strip.word * perWord;
  uint32_t tileColumn = pass * passColumns(o) + column;
  uint32_t block = (uint32_t)o->traits.blockColumns;
  uint32_t scaleColumn = strip.unit * GQ_DEV_UNIT / block;
  bool storesScale = strip.unit * GQ_DEV_UNIT % block == 0;
  uint8_t GQ_SHARED *scales = (uint8_t GQ_SHARED *)columnScales;
  // 32 rows at a time, so that a warp goes one way.
  if (strip.unit / 2 * 32 >= job->paddedRows) {
    for (uint32_t k = 0; k < 2; ++k)
      if (k < perWord) {
        if (o->columnwise && storesScale)
          scales[scaleAt(o, tileColumn + k, scaleColumn)] = 0;
        if (o->hasDbias)
          unitSums[strip.unit][column + k] = 0.0f;
      }
    return 0.0f;
  }

  uint32_t words[GQ_DEV_UNIT];
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    words[i] =
        ((const uint32_t GQ_SHARED *)(elements +
                                      elementsAt(strip.unit * GQ_DEV_UNIT + i,
                                                 strip.word /
                                                     4)))[strip.word % 4];
  float x[2][GQ_DEV_UNIT];
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i) {
    float pair[2] = {0.0f, 0.0f};
    gq_dev_unpack(o->type, words[i], pair);
    for (uint32_t k = 0; k < 2; ++k)
      x[k][i] = pair[k];
  }
  if (o->hasDbias)
    for (uint32_t k = 0; k < 2; ++k) {
      float sum = x[k][0];
      for (uint32_t i = 1; i < GQ_DEV_UNIT; ++i)
        sum += x[k][i];
      if (k < perWord)
        unitSums[strip.unit][column + k] = sum;
    }
  if (!o->columnwise)
    return 0.0f;

  uint32_t max = gq_dev_max_words(o->type, words, GQ_DEV_UNIT);
  if (block == 2 * GQ_DEV_UNIT)
    max =
        gq_dev_max_word(o->type, max, gq_dev_shuffle_xor(max, GQ_DEV_WARP / 2));
  float amax[2];
  gq_dev_unpack_amax(o->type, max, amax);
  gq_dev_outer outer = job->columnwiseOuter;
  bool hasOuter = o->columnwiseOuterKind != GQ_DEV_GLOBAL_SCALE_NONE;
  gq_dev_e2m1_way way = gq_dev_e2m1_way_of(o->type, hasOuter);
  float y[2][GQ_DEV_UNIT];
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < 2; ++k) {
    if (k >= perWord)
      continue;
    uint32_t scale = gq_dev_scale_block(o->format, o->recipe, hasOuter, outer,
                                        way, x[k], amax[k], y[k]);
    if (storesScale)
      scales[scaleAt(o, tileColumn + k, scaleColumn)] =
          tileColumn + k < job->columns ? (uint8_t)scale : 0;
    if (o->traits.transposes) {
      uint32_t codes[4];
      gq_dev_codes(o->format, way, y[k], codes);
      stageTransposed(column + k, strip.unit, codes);
    }
  }
  if (!o->traits.transposes)
    stageRows(o, strip, way, y);
  return gq_dev_max_number(amax[0], amax[1]);
}

/// Stores the columnwise codes of a pass.
GQ_DEV void storeStaged(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  uint32_t firstColumn = pass * passColumns(o);
  if (o->traits.transposes) {
    // 16 bytes are 32 rows.
    bool aligned = isAligned(o->columnwiseData, 0, 16);
    for (uint32_t i = gq_dev_thread(); i < passColumns(o) * 4; i += THREADS) {
      uint32_t column = i / 4, chunk = i % 4;
      if (firstColumn + column < job->columns && chunk * 32 < job->paddedRows) {
        gq_dev_u32x4 words = staged[stagedColumnAt(column, chunk)];
        uint32_t w[4] = {words.x, words.y, words.z, words.w};
        storeBytes(job->columnwiseData +
                       (firstColumn + column) * job->columnwiseDataPitch +
                       chunk * 16,
                   w, 16, 16, aligned);
      }
    }
    return;
  }
  // Units of 16 columns.
  uint32_t bytes = (uint32_t)dataBytes(o, GQ_DEV_UNIT);
  bool aligned = isAligned(o->columnwiseData,
                           o->ragged ? 0 : o->columnwiseDataStride, bytes);
  for (uint32_t i = gq_dev_thread(); i < TILE * passUnits(o); i += THREADS) {
    uint32_t row = i / passUnits(o), unit = i % passUnits(o);
    uint32_t column = firstColumn + unit * GQ_DEV_UNIT;
    if (job->group >= 0 && row < job->rows && column < job->columns) {
      const uint32_t GQ_SHARED *p =
          (const uint32_t GQ_SHARED *)((const uint8_t GQ_SHARED *)staged +
                                       stagedRowAt(o, row, unit * bytes));
      uint32_t w[4];
      for (uint32_t j = 0; j < 4; ++j)
        w[j] = 4 * j < bytes ? p[j] : 0;
      storeBytes(job->columnwiseData + row * job->columnwiseDataPitch +
                     dataBytes(o, column),
                 w, bytes, bytes, aligned);
    }
  }
}

//===----------------------------------------------------------------------===//
// dbias and amax
//===----------------------------------------------------------------------===//

/// Stores the sums of the columns of a pass.
GQ_DEV void sumPass(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  uint32_t column = gq_dev_thread();
  uint32_t tileColumn = pass * passColumns(o) + column;
  if (column >= passColumns(o) || tileColumn >= job->columns || job->group < 0)
    return;
  float sum = unitSums[0][column];
  for (uint32_t unit = 1; unit < ROW_UNITS; ++unit)
    sum += unitSums[unit][column];
  o->workspace.sums[job->sumsRow * o->columns + job->sumsColumn + tileColumn] =
      sum;
}

/// Adds a thread's largest magnitude to that of the job.
GQ_DEV void addAmax(float amax, uint32_t parity) {
  uint32_t max = gq_dev_max_of_lanes(gq_dev_f32_bits(amax));
  if (gq_dev_lane() == 0)
    gq_dev_atomic_max_shared(&jobAmax[parity], max);
}

/// What CTA 0 knows of all groups: the scale offsets, the first jobs.
GQ_DEV void publishGroups(const Op *o, const Plan *plan) {
  uint32_t thread = gq_dev_thread(), begin = thread * plan->share;
  Sums sums;
  for (int i = 0; i < NUM_SUMS; ++i)
    sums.of[i] = needsSum(o, i) ? table[i][thread] : 0;
  for (uint32_t e = begin; e < begin + plan->share && e < o->groups; ++e) {
    if (o->givesScaleOffsets && o->wide)
      ((int64_t GQ_GLOBAL *)o->scaleOffsetsOut)[e] = sums.of[SUM_SCALES];
    else if (o->givesScaleOffsets)
      ((int32_t GQ_GLOBAL *)o->scaleOffsetsOut)[e] =
          (int32_t)sums.of[SUM_SCALES];
    if (o->hasAmax || o->hasDbias)
      o->workspace.firstJobs[e] = (uint32_t)sums.of[SUM_JOBS];
    sums = addSums(o, sums, sumsOf(o, loadGroup(o, e)));
  }
  if ((o->hasAmax || o->hasDbias) && thread == 0)
    o->workspace.firstJobs[o->groups] = plan->groupJobs;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Whether the hook only loads. What it gives can be held for later; a fused
/// producer's results would be too many registers.
GQ_DEV bool onlyLoads(gq_load16 *load) {
  return load == gq_dev_load16_bf16 || load == gq_dev_load16_f16 ||
         load == gq_dev_load16_f32;
}

/// Whether the hook reads a matrix, so that another row can be asked of it.
GQ_DEV bool readsMatrix(gq_load16 *load) {
  return onlyLoads(load) || load == gq_dev_load16_bf16_unaligned ||
         load == gq_dev_load16_f16_unaligned ||
         load == gq_dev_load16_f32_unaligned;
}

GQ_DEV void quantizeJobs(const Op *o, const Plan *plan) {
  bool strips = o->columnwise || o->hasDbias;
  bool ahead = onlyLoads(o->load);
  uint32_t index = gq_dev_cta(), numCtas = gq_dev_num_ctas();
  uint32_t warp = gq_dev_thread() / GQ_DEV_WARP;
  if (index >= plan->jobs)
    return;
  if (warp == 0) {
    Job job = findJob(o, plan, index);
    if (gq_dev_lane() == 0)
      jobs[0] = job;
  }
  if (gq_dev_thread() < 2)
    jobAmax[gq_dev_thread()] = 0;
  gq_dev_barrier();

  Held held[2];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 2; ++i)
    if (ahead && i < unitsOfThread(o))
      held[i] = loadUnit(o, &jobs[0], 0, i);
  for (uint32_t parity = 0; index < plan->jobs; parity ^= 1) {
    const Job GQ_SHARED *job = &jobs[parity];
    uint32_t next = index + numCtas;
    float amax = 0.0f;
#pragma clang loop unroll(disable)
    for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
      bool last = pass == numPasses(o) - 1;
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < 2; ++i) {
        if (i >= unitsOfThread(o))
          continue;
        if (!ahead)
          held[i] = loadUnit(o, job, pass, i);
        if (strips)
          storeUnit(o, i, held[i]);
        if (o->rowwise)
          amax = gq_dev_max_number(
              amax, quantizeUnit(o, job, pass, i, held[i],
                                 (uint8_t GQ_SHARED *)rowScales[parity]));
      }
      gq_dev_barrier();
      const Job GQ_SHARED *source = &jobs[last ? parity ^ 1 : parity];
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < 2; ++i)
        if (ahead && i < unitsOfThread(o) && (!last || next < plan->jobs))
          held[i] = loadUnit(o, source, last ? 0 : pass + 1, i);
      if (strips) {
        float stripAmax = quantizeStrip(o, job, pass);
        if (!o->rowwise)
          amax = gq_dev_max_number(amax, stripAmax);
      }
      if (pass == 0 && warp == 0 && next < plan->jobs) {
        Job found = findJob(o, plan, next);
        if (gq_dev_lane() == 0)
          jobs[parity ^ 1] = found;
      }
      if (last && o->hasAmax)
        addAmax(amax, parity);
      gq_dev_barrier();
      if (o->columnwise)
        storeStaged(o, job, pass);
      if (o->hasDbias)
        sumPass(o, job, pass);
    }
    uint32_t thread = gq_dev_thread();
    if (o->rowwise)
      storeScales(o, job->scales, job->scalesPitch, job->rows, job->scaleBytes,
                  rowScales[parity], thread);
    if (o->columnwise)
      storeScales(o, job->columnwiseScales, job->columnwiseScalesPitch,
                  job->columns, job->columnwiseScaleBytes, columnScales,
                  thread ^ TILE);
    if (o->hasAmax && thread == 0) {
      o->workspace.amax[index] = gq_dev_f32_from_bits(jobAmax[parity]);
      jobAmax[parity] = 0;
    }
    index = next;
  }
}

GQ_DEV_KERNEL void gq_dev_grouped_block_quantize_tiles(
    gq_load16 *load, const void *inputs, int64_t rows, int64_t columns,
    const void GQ_GLOBAL *row_indices, int64_t source_rows,
    const void GQ_GLOBAL *offsets, int64_t num_offsets,
    const void GQ_GLOBAL *scale_offsets, const void GQ_GLOBAL *first_dims,
    const void GQ_GLOBAL *last_dims, int64_t groups,
    const float GQ_GLOBAL *outer, const float GQ_GLOBAL *columnwise_outer,
    uint8_t GQ_GLOBAL *data, int64_t data_stride, uint8_t GQ_GLOBAL *scales,
    int64_t scales_stride, int64_t scales_size,
    uint8_t GQ_GLOBAL *columnwise_data, int64_t columnwise_data_stride,
    int64_t columnwise_data_size, uint8_t GQ_GLOBAL *columnwise_scales,
    int64_t columnwise_scales_size, void GQ_GLOBAL *scale_offsets_out,
    void GQ_GLOBAL *workspace, uint32_t GQ_GLOBAL *status, int32_t parts,
    int32_t format, int32_t recipe, int32_t scale_layout, int32_t rows_mode,
    int32_t offset_bits, int32_t outer_kind, int32_t columnwise_outer_kind,
    int32_t row_index_bits, int32_t held_type) {
  const Op op = {
      .load = load,
      .inputs = inputs,
      .rows = rows,
      .columns = columns,
      .rowIndices = row_indices,
      .sourceRows = source_rows,
      .rowIndexBits = readsMatrix(load) ? row_index_bits : 0,
      .offsets = offsets,
      .numOffsets = (uint32_t)num_offsets,
      .groups = (uint32_t)groups,
      .scaleOffsets = scale_offsets,
      .firstDims = first_dims,
      .lastDims = last_dims,
      .outer = outer,
      .columnwiseOuter = columnwise_outer,
      .data = data,
      .dataStride = data_stride,
      .scales = scales,
      .scalesStride = scales_stride,
      .scalesSize = scales_size,
      .columnwiseData = columnwise_data,
      .columnwiseDataStride = columnwise_data_stride,
      .columnwiseDataSize = columnwise_data_size,
      .columnwiseScales = columnwise_scales,
      .columnwiseScalesSize = columnwise_scales_size,
      .scaleOffsetsOut = scale_offsets_out,
      .workspace = workspaceAt(workspace, rows, columns, groups, parts),
      .status = status,
      .format = (gqFormat)format,
      .traits = gqFormatGetTraits((gqFormat)format),
      .recipe = (gqRecipe)recipe,
      .rowwise = parts & GQ_DEV_ROWWISE,
      .columnwise = parts & GQ_DEV_COLUMNWISE,
      .hasAmax = parts & GQ_DEV_AMAX,
      .hasDbias = parts & GQ_DEV_DBIAS,
      .ragged = parts & GQ_DEV_RAGGED,
      .givesScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS_OUT,
      .hasScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS,
      .tiled = scale_layout == GQ_SCALE_LAYOUT_TILE128X4,
      .allRows = rows_mode == GQ_ROWS_ALL,
      .wide = offset_bits == 64,
      .outerKind = outer_kind,
      .columnwiseOuterKind = columnwise_outer_kind,
      .type = (gqElementType)held_type,
  };
  Plan plan = makePlan(&op);
  bool first = gq_dev_cta() == 0 && gq_dev_thread() == 0;
  if (first && (op.hasAmax || op.hasDbias))
    *op.workspace.faults = plan.faults;
  if (plan.faults) {
    if (first)
      gq_dev_atomic_or(status, plan.faults);
    return;
  }
  if (gq_dev_cta() == 0)
    publishGroups(&op, &plan);
  quantizeJobs(&op, &plan);
  if (row_index_bits)
    gq_dev_check_row_indices(row_indices, row_index_bits, source_rows, rows,
                             status);
}

//===----------------------------------------------------------------------===//
// The second kernel: adds up what the jobs left
//===----------------------------------------------------------------------===//

/// The sums of 32 columns of a group: each warp adds up every eighth tile, then
/// one adds up these. All threads take part.
GQ_DEV void reduceSums(const Workspace *workspace, int64_t columns, uint32_t e,
                       uint32_t firstColumn, void GQ_GLOBAL *dbias,
                       gqElementType type) {
  uint32_t warp = gq_dev_thread() / GQ_DEV_WARP, lane = gq_dev_lane();
  uint32_t column = firstColumn + lane,
           columnTiles = (uint32_t)numTiles(columns);
  uint32_t begin = workspace->firstJobs[e] / columnTiles;
  uint32_t end = workspace->firstJobs[e + 1] / columnTiles;
  float sum = 0.0f;
  if (column < columns) {
    const float GQ_GLOBAL *p = workspace->sums + column;
#pragma clang loop unroll_count(8)
    for (uint32_t tile = begin + warp; tile < end; tile += WARPS)
      sum += p[tile * columns];
  }
  unitSums[warp][lane] = sum;
  gq_dev_barrier();
  if (warp == 0 && column < columns) {
    for (uint32_t i = 1; i < WARPS; ++i)
      sum += unitSums[i][lane];
    int64_t at = e * columns + column;
    if (type == GQ_F32)
      ((float GQ_GLOBAL *)dbias)[at] = sum;
    else
      ((uint16_t GQ_GLOBAL *)dbias)[at] = type == GQ_BF16
                                              ? gq_dev_bf16_from_f32(sum)
                                              : gq_dev_f16_from_f32(sum);
  }
  gq_dev_barrier();
}

/// The largest magnitude of a group. All threads take part.
GQ_DEV void reduceAmax(const Workspace *workspace, uint32_t e,
                       float GQ_GLOBAL *amax) {
  uint32_t thread = gq_dev_thread();
  if (thread == 0)
    jobAmax[0] = 0;
  gq_dev_barrier();
  float max = 0.0f;
  for (uint32_t job = workspace->firstJobs[e] + thread;
       job < workspace->firstJobs[e + 1]; job += THREADS)
    max = gq_dev_max_number(max, workspace->amax[job]);
  addAmax(max, 0);
  gq_dev_barrier();
  if (thread == 0)
    amax[e] = gq_dev_f32_from_bits(jobAmax[0]);
}

GQ_DEV_KERNEL void gq_dev_reduce_tiles(void GQ_GLOBAL *workspace, int64_t rows,
                                       int64_t columns, int64_t groups,
                                       float GQ_GLOBAL *amax,
                                       void GQ_GLOBAL *dbias, int32_t parts,
                                       int32_t dbias_type) {
  Workspace w = workspaceAt(workspace, rows, columns, groups, parts);
  if (*w.faults)
    return;
  uint32_t perGroup = (uint32_t)gq_dev_reduce_tiles_ctas(columns, 1, parts);
  uint32_t all = (uint32_t)gq_dev_reduce_tiles_ctas(columns, groups, parts);
  for (uint32_t i = gq_dev_cta(); i < all; i += gq_dev_num_ctas()) {
    uint32_t e = i / perGroup, part = i % perGroup;
    if ((parts & GQ_DEV_AMAX) && part == perGroup - 1)
      reduceAmax(&w, e, amax);
    else
      reduceSums(&w, columns, e, part * GQ_DEV_WARP, dbias,
                 (gqElementType)dbias_type);
  }
}
