//===- Measure.h - largest magnitudes ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_MEASURE_H
#define GQ_LIB_RUNTIME_CPU_MEASURE_H

#include "Elements.h"

#include "lib/Runtime/CpuQuantize.h"

/// Raises each of `count` magnitudes.
static void raiseAll(float *amaxes, int64_t count, const float *by) {
  for (int64_t i = 0; i < count; ++i)
    gqCpuRaise(&amaxes[i], by[i]);
}

/// Raises the amaxes by those of a tile, which is transformed.
static void raiseByTile(gqCpuTile *tile, int64_t row, int64_t column,
                        gqCpuAmaxes amaxes) {
  int64_t rows = tile->rows;
  float ofRows[GQ_CPU_TILE] = {0}, ofColumns[GQ_CPU_TILE] = {0};
  if (amaxes.amax)
    gqCpuRaise(amaxes.amax, tileAmax(tile));
  if (amaxes.rows) {
    raiseToRows(tile, ofRows);
    raiseAll(amaxes.rows + row, rows, ofRows);
  }
  if (amaxes.transform == GQ_TRANSFORM_HADAMARD16)
    transformTile(tile, amaxes.signs);
  if (amaxes.columnwise)
    gqCpuRaise(amaxes.columnwise, tileAmax(tile));
  if (amaxes.columns) {
    raiseToColumns(tile, 0, tile->rows, ofColumns);
    raiseAll(amaxes.columns + column, tile->columns, ofColumns);
  }
}

static void measure(const gqBuffer *input, const gqBuffer *rowIndices,
                    const gqCpuJob *job, gqCpuAmaxes amaxes) {
  for (int64_t i = 0; i < job->columns; i += GQ_CPU_TILE) {
    gqCpuTile tile;
    tile.rows = job->rows;
    tile.columns = tileColumns(job, i);
    loadTile(input, rowIndices, job->row, job->column + i,
             tileColumns(job, i + GQ_CPU_TILE), &tile);
    raiseByTile(&tile, job->row, job->column + i, amaxes);
  }
}

#endif // GQ_LIB_RUNTIME_CPU_MEASURE_H
