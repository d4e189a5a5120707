//===- Elements.h - the elements of a tile -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_ELEMENTS_H
#define GQ_LIB_RUNTIME_CPU_ELEMENTS_H

#include "lib/Runtime/CpuGroups.h"
#include "lib/Runtime/CpuTiles.h"
#include "runtime_kernels/codecs/Float.h"
#include "runtime_kernels/groups/Groups.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/transforms/Hadamard.h"

#include <string.h>

/// Asks for row `row` of the next tile. A few lines at a time, because more
/// than a core can ask for at once would make it wait.
GQ_DEV void prefetchRow(const gqCpuTile *tile, int64_t row) {
  if (tile->next)
    for (int64_t at = 0; at < tile->nextBytes; at += GQ_CPU_LINE)
      __builtin_prefetch(tile->next + row * tile->nextStride + at, 0, 2);
}

/// Elements of a row as floats. `type` is a constant in the callers.
GQ_DEV void loadRow(const void *input, gqElementType type, int64_t count,
                    float *x) {
  if (type == GQ_F32)
    memcpy(x, input, (size_t)count * sizeof(float));
  else
    for (int64_t i = 0; i < count; ++i) {
      uint16_t bits = ((const uint16_t *)input)[i];
      x[i] = type == GQ_BF16 ? gq_dev_f32_from_bf16(bits)
                             : gq_dev_f32_from_f16(bits);
    }
}

/// Where the part of row `row` of `input` begins that begins at `column`. With
/// `rowIndices`, unless it is absent, that is row rowIndices[row].
static const void *lineAt(const gqBuffer *input, const gqBuffer *rowIndices,
                          int64_t row, int64_t column) {
  if (!gqBufferIsAbsent(rowIndices))
    row = gq_dev_load_index(rowIndices->data, rowIndices->type == GQ_I64, row);
  return (const uint8_t *)gqCpuRow(input, row) +
         column * gqElementTypeSize((gqElementType)input->type);
}

/// Fills rows and columns of `tile` with the part that begins at (row, column)
/// of `input`, of f32, bf16 or f16 (lineAt). `columnsAfter` are those of the
/// next tile, to the right.
static void loadTile(const gqBuffer *input, const gqBuffer *rowIndices,
                     int64_t row, int64_t column, int64_t columnsAfter,
                     gqCpuTile *tile) {
  gqElementType type = (gqElementType)input->type;
  int64_t size = gqElementTypeSize(type);
  bool gathers = !gqBufferIsAbsent(rowIndices);
  tile->next = NULL;
  if (columnsAfter > 0 && !gathers) {
    tile->next =
        (const uint8_t *)gqCpuRow(input, row) + (column + tile->columns) * size;
    tile->nextBytes = columnsAfter * size;
    tile->nextStride = input->strides[0] * size;
  }
  for (int64_t r = 0; r < tile->rows; ++r) {
    const void *from = lineAt(input, rowIndices, row + r, column);
    if (type == GQ_F32)
      loadRow(from, GQ_F32, tile->columns, tile->x[r]);
    else if (type == GQ_BF16)
      loadRow(from, GQ_BF16, tile->columns, tile->x[r]);
    else
      loadRow(from, GQ_F16, tile->columns, tile->x[r]);
  }
}

/// The columns of the tile at column `i` of a job; 0 or less if there is none.
static int64_t tileColumns(const gqCpuJob *job, int64_t i) {
  return gqCpuLeast(job->columns - i, GQ_CPU_TILE);
}

/// The largest magnitude, ignoring NaN.
static float tileAmax(const gqCpuTile *tile) {
  float amax = 0.0f;
  for (int64_t r = 0; r < tile->rows; ++r) {
    prefetchRow(tile, r);
    amax = gq_dev_max(gq_dev_f32_amax(tile->x[r], (int)tile->columns), amax);
  }
  return amax;
}

/// Transforms the columns of the tile in blocks of 16 rows, to which zeros are
/// added if need be (runtime_kernels/transforms/Hadamard.h).
static void transformTile(gqCpuTile *tile, uint32_t signs) {
  const int64_t size = GQ_DEV_HADAMARD_SIZE;
  int64_t rows = gq_dev_up(tile->rows, size);
  for (int64_t r = tile->rows; r < rows; ++r)
    memset(tile->x[r], 0, sizeof(tile->x[r]));
  for (int64_t r = 0; r < rows; r += size)
    for (int64_t c = 0; c < tile->columns; ++c) {
      float x[GQ_DEV_HADAMARD_SIZE];
      for (int64_t i = 0; i < size; ++i)
        x[i] = tile->x[r + i][c];
      gq_dev_hadamard16(signs, x);
      for (int64_t i = 0; i < size; ++i)
        tile->x[r + i][c] = gq_dev_hadamard_rounded(x[i]);
    }
  tile->rows = rows;
}

/// Raises each of `columns` to the largest magnitude of its column of `count`
/// rows from row `first` on, ignoring NaN.
GQ_DEV void raiseToColumns(const gqCpuTile *tile, int64_t first, int64_t count,
                           float *columns) {
  enum { AT_ONCE = 16 }; // in registers; columns are a multiple of it
  for (int64_t c = 0; c < tile->columns; c += AT_ONCE) {
    float amax[AT_ONCE];
    memcpy(amax, columns + c, sizeof(amax));
    for (int64_t r = first; r < first + count; ++r)
      for (int j = 0; j < AT_ONCE; ++j)
        amax[j] = gq_dev_max(__builtin_fabsf(tile->x[r][c + j]), amax[j]);
    memcpy(columns + c, amax, sizeof(amax));
  }
}

#endif // GQ_LIB_RUNTIME_CPU_ELEMENTS_H
