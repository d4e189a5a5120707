//===- Measure.h - largest magnitudes ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of elements where they are, as bits, which without the sign are in the order
// of the magnitudes. Only what is transformed first is loaded as tiles.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_MEASURE_H
#define GQ_LIB_RUNTIME_CPU_MEASURE_H

#include "Elements.h"
#include "Units.h"

#include "lib/Runtime/CpuQuantize.h"

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// Those of infinity; larger ones are NaN's.
GQ_DEV uint32_t infinityOf(gqElementType type) {
  return type == GQ_F32    ? GQ_F32_INF
         : type == GQ_BF16 ? GQ_BF16_INF
                           : GQ_F16_INF;
}

GQ_DEV float magnitudeOf(gqElementType type, uint32_t bits) {
  return type == GQ_F32    ? gq_dev_f32_from_bits(bits)
         : type == GQ_BF16 ? gq_dev_f32_from_bf16((uint16_t)bits)
                           : gq_dev_f32_from_f16((uint16_t)bits);
}

/// The largest magnitude of `count` elements of 16 bits, a multiple of 16,
/// ignoring NaN.
GQ_DEV uint16_t largestBits(const uint16_t *x, int64_t count,
                            uint16_t infinity) {
  enum { AT_ONCE = 16 };
  uint16_t most[AT_ONCE] = {0};
  for (int64_t i = 0; i < count; i += AT_ONCE)
    for (int j = 0; j < AT_ONCE; ++j) {
      uint16_t bits = x[i + j] & 0x7fff;
      bits = bits > infinity ? 0 : bits;
      most[j] = bits > most[j] ? bits : most[j];
    }
  uint16_t largest = 0;
  for (int j = 0; j < AT_ONCE; ++j)
    largest = most[j] > largest ? most[j] : largest;
  return largest;
}

/// The largest magnitude of `count` elements, a multiple of 16, ignoring NaN.
/// `type` is a constant in the callers, here and below.
GQ_DEV float lineAmax(gqElementType type, const void *x, int64_t count) {
  if (type == GQ_F32)
    return gq_dev_f32_amax(x, (int)count);
  return magnitudeOf(type, largestBits(x, count, (uint16_t)infinityOf(type)));
}

/// Raises each of `columns` to the magnitude of its element, ignoring NaN.
GQ_DEV void raiseColumnBits(gqElementType type, const void *x, int64_t count,
                            uint32_t *columns) {
  for (int64_t c = 0; c < count; ++c) {
    uint32_t bits = type == GQ_F32 ? ((const uint32_t *)x)[c] & 0x7fffffff
                                   : ((const uint16_t *)x)[c] & 0x7fff;
    bits = bits > infinityOf(type) ? 0 : bits;
    columns[c] = bits > columns[c] ? bits : columns[c];
  }
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

GQ_DEV void raiseByLines(gqElementType type, const gqBuffer *input,
                         const gqBuffer *rowIndices, const gqCpuJob *job,
                         gqCpuAmaxes amaxes) {
  uint32_t columns[GQ_CPU_JOB_COLUMNS];
  float amax = 0.0f;
  if (amaxes.columns)
    memset(columns, 0, (size_t)job->columns * sizeof(*columns));
  for (int64_t r = 0; r < job->rows; ++r) {
    const void *x = lineAt(input, rowIndices, job->row + r, job->column);
    if (amaxes.amax || amaxes.rows) {
      float ofRow = lineAmax(type, x, job->columns);
      amax = gq_dev_max(ofRow, amax);
      if (amaxes.rows)
        gqCpuRaise(&amaxes.rows[job->row + r], ofRow);
    }
    if (amaxes.columns)
      raiseColumnBits(type, x, job->columns, columns);
  }
  if (amaxes.amax)
    gqCpuRaise(amaxes.amax, amax);
  if (amaxes.columns)
    for (int64_t c = 0; c < job->columns; ++c)
      gqCpuRaise(&amaxes.columns[job->column + c],
                 magnitudeOf(type, columns[c]));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Of what the columns are transformed to.
static void raiseByTiles(const gqBuffer *input, const gqBuffer *rowIndices,
                         const gqCpuJob *job, gqCpuAmaxes amaxes) {
  for (int64_t i = 0; i < job->columns; i += GQ_CPU_TILE) {
    gqCpuTile tile;
    float ofColumns[GQ_CPU_TILE] = {0};
    tile.rows = job->rows;
    tile.columns = tileColumns(job, i);
    loadTile(input, rowIndices, job->row, job->column + i,
             tileColumns(job, i + GQ_CPU_TILE), &tile);
    transformTile(&tile, amaxes.signs);
    if (amaxes.columnwise)
      gqCpuRaise(amaxes.columnwise, tileAmax(&tile));
    if (!amaxes.columns)
      continue;
    raiseToColumns(&tile, 0, tile.rows, ofColumns);
    for (int64_t c = 0; c < tile.columns; ++c)
      gqCpuRaise(&amaxes.columns[job->column + i + c], ofColumns[c]);
  }
}

//===----------------------------------------------------------------------===//
// Either
//===----------------------------------------------------------------------===//

static void measure(const gqBuffer *input, const gqBuffer *rowIndices,
                    const gqCpuJob *job, gqCpuAmaxes amaxes) {
  gqCpuAmaxes ofLines = amaxes;
  if (amaxes.transform != GQ_TRANSFORM_NONE) {
    ofLines.columns = NULL;
    if (amaxes.columnwise || amaxes.columns)
      raiseByTiles(input, rowIndices, job, amaxes);
  }
  if (!ofLines.amax && !ofLines.rows && !ofLines.columns)
    return;
  if (input->type == GQ_F32)
    raiseByLines(GQ_F32, input, rowIndices, job, ofLines);
  else if (input->type == GQ_BF16)
    raiseByLines(GQ_BF16, input, rowIndices, job, ofLines);
  else
    raiseByLines(GQ_F16, input, rowIndices, job, ofLines);
}

#endif // GQ_LIB_RUNTIME_CPU_MEASURE_H
