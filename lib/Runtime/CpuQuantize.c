//===- CpuQuantize.c - quantizing a matrix on the CPU --------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuQuantize.h"

#include "runtime_kernels/codecs/Float.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <string.h>

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

static int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

gqCpuScaleExtents gqCpuGetScaleExtents(gqFormat format, bool columnwise,
                                       int64_t rows, int64_t columns) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  if (!columnwise)
    return (gqCpuScaleExtents){ceilDiv(rows, traits.blockRows),
                               columns / traits.blockColumns};
  return (gqCpuScaleExtents){
      columns / traits.blockRows,
      ceilDiv(gq_dev_up(rows, GQ_CPU_TRANSPOSED_UNIT), traits.blockColumns)};
}

/// Stores the scales of the tile at (row, column).
static void storeScales(gqCpuMethod method, bool columnwise,
                        const gqCpuDirection *direction, const gqCpuTile *tile,
                        int64_t row, int64_t column,
                        const gqCpuTileScales *scales) {
  // A tile's own scales; and those before it, in either dimension.
  gqCpuScaleExtents own = gqCpuGetScaleExtents(method.format, columnwise,
                                               tile->rows, tile->columns);
  gqCpuScaleExtents before =
      gqCpuGetScaleExtents(method.format, columnwise, row, column);
  if (method.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4) {
    gqCpuStoreScaleTiles(
        scales, own.columns,
        direction->scales + gq_dev_tile128x4_offset(before.rows, before.columns,
                                                    direction->scaleStride));
    return;
  }
  bool wide = gqFormatGetTraits(method.format).scaleType == GQ_F32;
  for (int64_t i = 0; i < own.rows; ++i)
    for (int64_t j = 0; j < own.columns; ++j) {
      int64_t to =
          (before.rows + i) * direction->scaleStride + before.columns + j;
      if (wide)
        ((float *)direction->scales)[to] =
            gq_dev_f32_from_bits(scales->bits[i][j]);
      else
        direction->scales[to] = (uint8_t)scales->bits[i][j];
    }
}

static void quantizeTile(gqCpuMethod method, const gqCpuDirection *direction,
                         const gqCpuTile *tile, int64_t row, int64_t column) {
  if (!direction->data)
    return;
  bool columnwise = direction->how.columnwise;
  gqFormatTraits traits = gqFormatGetTraits(method.format);
  bool transposed = columnwise && traits.transposes;
  int64_t dataRow = transposed ? column : row;
  int64_t dataColumn = transposed ? row : column;
  gqCpuTileScales scales;
  gqCpuTileDirection how = direction->how;
  how.first += row * how.pitch + column;
  if (how.outerAmaxes)
    how.outerAmaxes += columnwise ? column : row;
  gqCpuQuantizeTile(tile, method, &how,
                    direction->data + dataRow * direction->stride +
                        dataColumn * traits.dataBits / 8,
                    direction->stride, &scales);
  if (direction->scales)
    storeScales(method, columnwise, direction, tile, row, column, &scales);
}

static void storeSums(const float *sums, int64_t column, int64_t count,
                      const gqBuffer *dbias) {
  for (int64_t c = 0; c < count; ++c)
    if (dbias->type == GQ_F32)
      ((float *)dbias->data)[column + c] = sums[c];
    else
      ((uint16_t *)dbias->data)[column + c] =
          dbias->type == GQ_BF16 ? gq_dev_bf16_from_f32(sums[c])
                                 : gq_dev_f16_from_f32(sums[c]);
}

void gqCpuQuantize(const gqCpuQuantization *q, const gqCpuJob *job) {
  int64_t endRow = job->row + job->rows;
  bool hasDbias = !gqBufferIsAbsent(&q->dbias);
  float amax = 0.0f;
  for (int64_t i = 0; i < job->columns; i += GQ_CPU_TILE) {
    int64_t column = job->column + i;
    int64_t columns = least(job->columns - i, GQ_CPU_TILE);
    float sums[GQ_CPU_TILE] = {0};
    for (int64_t row = job->row; row < endRow; row += GQ_CPU_TILE) {
      gqCpuTile tile;
      tile.rows = least(endRow - row, GQ_CPU_TILE);
      tile.columns = columns;
      gqCpuLoadTile(&q->input, &q->rowIndices, row, column, &tile);
      if (q->amax)
        amax = gq_dev_max(gqCpuTileAmax(&tile), amax);
      if (hasDbias)
        gqCpuAddTileSums(&tile, sums);
      quantizeTile(q->method, &q->rowwise, &tile, row, column);
      quantizeTile(q->method, &q->columnwise, &tile, row, column);
    }
    if (hasDbias)
      storeSums(sums, column, columns, &q->dbias);
  }
  if (q->amax)
    gqCpuRaise(q->amax, amax);
}

//===----------------------------------------------------------------------===//
// Largest magnitudes
//===----------------------------------------------------------------------===//

void gqCpuClearAmaxes(int64_t rows, int64_t columns, gqCpuAmaxes amaxes) {
  if (amaxes.amax)
    *amaxes.amax = 0.0f;
  if (amaxes.columnwise)
    *amaxes.columnwise = 0.0f;
  if (amaxes.rows)
    memset(amaxes.rows, 0, (size_t)rows * sizeof(float));
  if (amaxes.columns)
    memset(amaxes.columns, 0, (size_t)columns * sizeof(float));
}

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
    gqCpuRaise(amaxes.amax, gqCpuTileAmax(tile));
  if (amaxes.rows) {
    gqCpuRaiseToTileRows(tile, ofRows);
    raiseAll(amaxes.rows + row, rows, ofRows);
  }
  if (amaxes.transform == GQ_TRANSFORM_HADAMARD16)
    gqCpuTransformTile(tile, amaxes.signs);
  if (amaxes.columnwise)
    gqCpuRaise(amaxes.columnwise, gqCpuTileAmax(tile));
  if (amaxes.columns) {
    gqCpuRaiseToTileColumns(tile, ofColumns);
    raiseAll(amaxes.columns + column, tile->columns, ofColumns);
  }
}

void gqCpuMeasure(const gqBuffer *input, const gqBuffer *rowIndices,
                  const gqCpuJob *job, gqCpuAmaxes amaxes) {
  for (int64_t i = 0; i < job->columns; i += GQ_CPU_TILE) {
    gqCpuTile tile;
    tile.rows = job->rows;
    tile.columns = least(job->columns - i, GQ_CPU_TILE);
    gqCpuLoadTile(input, rowIndices, job->row, job->column + i, &tile);
    raiseByTile(&tile, job->row, job->column + i, amaxes);
  }
}
