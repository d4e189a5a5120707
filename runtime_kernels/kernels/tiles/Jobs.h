//===- Jobs.h - the jobs of a kernel of tiles ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a CTA finds its jobs, in the sums of Plan.h: a lane finds one, and 8 of
// them the next jobs of the CTA at once.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_JOBS_H
#define GQ_KERNELS_KERNELS_TILES_JOBS_H

#include "runtime_kernels/kernels/tiles/Plan.h"

enum {
  /// Jobs of a CTA that are found at once.
  BATCH = 8,
};

/// Where a direction's outputs of a tile begin.
typedef struct JobOutput {
  uint8_t GQ_GLOBAL *data;
  /// In bytes, from one row to the next or, if transposed, from one column.
  int64_t dataPitch;
  uint8_t GQ_GLOBAL *scales;
  int64_t scalesPitch;
  /// Bytes of tiles of scales or, if they are linear, bytes along a row.
  uint32_t scaleBytes;
  gq_dev_outer outer;
} JobOutput;

/// A tile, and where its outputs begin.
typedef struct Job {
  /// Of element (0, 0) of the tile. If ragged, the row is 0 and the next row is
  /// `columnsOfGroup` columns on.
  int64_t inputRow, inputColumn;
  int64_t columnsOfGroup;
  JobOutput rowwise, columnwise;
  /// -1 for rows in no group, which have data only.
  int32_t group;
  /// That the tile has, and the rows of columnwise data, a multiple of 32.
  uint32_t rows, columns, paddedRows;
  /// Where its sums of columns go: to the group's, if that has no other row of
  /// tiles, else to the workspace, where there is a place for them in any case.
  void GQ_GLOBAL *sums;
  float GQ_GLOBAL *partialSums;
  bool hasGroupSums;
} Job;

/// Jobs of the CTA: number n is at n % (2 * BATCH).
static GQ_SHARED Job jobs[2 * BATCH] GQ_UNINITIALIZED;

/// Where the outer scale of a group is, or null.
GQ_DEV const float GQ_GLOBAL *outerAt(const Op *o, const Direction *d,
                                      int32_t group) {
  bool perGroup = d->outerKind == GQ_OUTER_PER_GROUP && isInGroup(o, group);
  return d->outerKind == GQ_OUTER_ONE ? d->outer
         : perGroup                   ? d->outer + group
                                      : 0;
}

/// What is there, if anything is.
GQ_DEV float loadOuter(const Op *o, const Direction *d, int32_t group) {
  const float GQ_GLOBAL *p = outerAt(o, d, group);
  return p ? *p : 0.0f;
}

/// What follows from it.
GQ_DEV gq_dev_outer outerOfGroup(const Op *o, const Direction *d, int32_t group,
                                 float loaded) {
  return outerAt(o, d, group) ? gq_dev_outer_from(d->scaler, loaded)
                              : gq_dev_no_outer(d->scaler);
}

/// The scales of a tile: its bytes, given the width of all and the first one.
GQ_DEV uint32_t scaleBytesOf(const Direction *d, int64_t width, int64_t first) {
  uint32_t columns = min32(width - first, numScaleColumns(d));
  return d->tiled ? columns * TILE : columns;
}

/// Rows of tiles that are gone through together, in each column after column:
/// few make what is written at a time of rows long, many that of transposed
/// columns, which begin anywhere in a sector.
GQ_DEV uint32_t rowTilesOfBand(const Op *o) {
  return o->columnwise.transposes ? 64 : 4;
}

/// Where codes go that are not transposed.
GQ_DEV void placeData(const Op *o, const Direction *d, gq_dev_group group,
                      int64_t row, int64_t column, JobOutput *to) {
  to->dataPitch = o->ragged ? dataBytes(d, group.columns) : d->dataStride;
  to->data =
      d->data +
      (o->ragged ? dataBytes(d, group.begin + row * group.columns + column)
                 : (group.begin + row) * d->dataStride + dataBytes(d, column));
}

/// Where the rowwise codes and scales go of the tile whose first element is
/// (row, column) of a group.
GQ_DEV JobOutput rowwiseOutput(const Op *o, gq_dev_group group, int32_t number,
                               Sums before, int64_t row, int64_t column,
                               float outer) {
  const Direction *d = &o->rowwise;
  int64_t width = scaleWidth(d, group.columns);
  int64_t first = column / d->traits.blockColumns;
  int64_t scaleRow = row / d->traits.blockRows;
  JobOutput to = {.outer = outerOfGroup(o, d, number, outer)};
  placeData(o, d, group, row, column, &to);
  if (!hasScales(d))
    return to;
  bool flat = o->ragged || (isSquare(d) && !d->scalesStride);
  to.scalesPitch = flat ? bytesOfScales(d, width) : d->scalesStride;
  int64_t at;
  if (!d->tiled)
    at = (o->ragged ? bytesOfScales(d, before.of[SUM_SCALES])
                    : (isSquare(d) ? before.of[SUM_SCALES] : group.begin) *
                          to.scalesPitch) +
         scaleRow * to.scalesPitch + bytesOfScales(d, first);
  else
    at = (o->ragged ? before.of[SUM_SCALES]
          : o->allGroups.hasScaleOffsets
              ? (isInGroup(o, number)
                     ? gq_dev_group_scale_begin(o->allGroups, number)
                     : 0) *
                    width
              : before.of[SUM_SCALES] * width) +
         scaleRow * width + first * TILE;
  to.scales = d->scales + at;
  to.scaleBytes = isInGroup(o, number) ? scaleBytesOf(d, width, first) : 0;
  return to;
}

/// The same of the columnwise ones.
GQ_DEV JobOutput columnwiseOutput(const Op *o, gq_dev_group group,
                                  int32_t number, Sums before, int64_t row,
                                  int64_t column, float outer) {
  const Direction *d = &o->columnwise;
  JobOutput to = {.outer = outerOfGroup(o, d, number, outer)};
  if (d->transposes) {
    to.dataPitch = dataBytes(d, paddedRows(group.rows));
    to.data = d->data + dataBytes(d, before.of[SUM_COLUMNWISE_DATA]) +
              column * to.dataPitch + dataBytes(d, row);
  } else {
    placeData(o, d, group, row, column, &to);
  }
  if (!hasScales(d))
    return to;
  int64_t width = scaleWidth(d, paddedRows(group.rows));
  int64_t first = row / d->traits.blockColumns;
  int64_t scaleRow = column / d->traits.blockRows;
  to.scalesPitch = bytesOfScales(d, width);
  to.scales =
      d->scales +
      bytesOfScales(d, before.of[SUM_COLUMNWISE_SCALES] + scaleRow * width +
                           (d->tiled ? first * TILE : first));
  to.scaleBytes = isInGroup(o, number) ? scaleBytesOf(d, width, first) : 0;
  return to;
}

/// Makes job `index` of a group, `before` being the sums before it.
GQ_DEV Job jobOfGroup(const Op *o, uint32_t index, int32_t number,
                      gq_dev_group group, Sums before) {
  // Both loads before what either is used for.
  float rowwiseOuter =
      o->rowwise.exists ? loadOuter(o, &o->rowwise, number) : 0.0f;
  float columnwiseOuter =
      o->columnwise.exists ? loadOuter(o, &o->columnwise, number) : 0.0f;
  uint32_t columnTiles = (uint32_t)numTiles(group.columns);
  uint32_t rowTile = 0, columnTile = index;
  // Divisions take long, and most groups have one row of tiles.
  if (group.rows > TILE) {
    uint32_t height = rowTilesOfBand(o), band = index / (height * columnTiles);
    uint32_t bandRows = min32(numTiles(group.rows) - band * height, height);
    index -= band * height * columnTiles;
    rowTile = band * height + index % bandRows;
    columnTile = index / bandRows;
  }
  int64_t row = (int64_t)rowTile * TILE, column = (int64_t)columnTile * TILE;
  Job job = {
      .inputRow = o->ragged ? 0 : group.begin + row,
      .inputColumn =
          o->ragged ? group.begin + row * group.columns + column : column,
      .columnsOfGroup = group.columns,
      .group = number,
      .rows = min32(group.rows - row, TILE),
      .columns = min32(group.columns - column, TILE),
      .paddedRows =
          isInGroup(o, number) ? min32(paddedRows(group.rows) - row, TILE) : 0,
  };
  if (o->hasDbias) {
    uint32_t sumsRow = (uint32_t)before.of[SUM_JOBS] / columnTiles + rowTile;
    job.partialSums = o->partial.sums + sumsRow * o->columns + column;
    job.hasGroupSums = isInGroup(o, number) && group.rows <= TILE;
    job.sums = job.hasGroupSums ? (uint8_t GQ_GLOBAL *)o->dbias +
                                      (number * o->columns + column) *
                                          gqElementTypeSize(o->dbiasType)
                                : (void GQ_GLOBAL *)job.partialSums;
  }
  if (o->rowwise.exists)
    job.rowwise =
        rowwiseOutput(o, group, number, before, row, column, rowwiseOuter);
  if (o->columnwise.exists)
    job.columnwise = columnwiseOutput(o, group, number, before, row, column,
                                      columnwiseOuter);
  return job;
}

/// Finds job `index`.
GQ_DEV Job findJob(const Op *given, const Plan *plan, uint32_t index) {
  // What follows from columns is found again, not kept in registers until then.
  Op here = *given;
  here.columns = here.allGroups.numColumns = gq_dev_here64(given->columns);
  const Op *o = &here;
  if (o->allRows && index >= plan->groupJobs) {
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
  if (index < plan->jobs)
    jobs[n % (2 * BATCH)] = findJob(o, plan, (uint32_t)index);
}

#endif // GQ_KERNELS_KERNELS_TILES_JOBS_H
