//===- CpuMm.c - products of quantized matrices on the CPU ---------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuMm.h"

#include "CpuClones.h"
#include "runtime_kernels/codecs/Codes.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Dequantize.h"

#include <stdlib.h>
#include <string.h>

enum {
  /// Of K at a time; a multiple of every block's columns.
  TILE_DEPTH = 128,
  /// Outputs whose sums are kept in registers.
  MICRO_ROWS = 4,
  MICRO_COLUMNS = 8,
};

/// Code by code what a byte stands for. Of e2m1 the low four bits count.
typedef struct Values {
  gqCode code;
  double values[256];
} Values;

struct gqCpuMmTile {
  Values a, b;
  double aPanel[GQ_CPU_MM_ROWS][TILE_DEPTH];
  /// Transposed, so that the sums of neighbouring columns are neighbours.
  double bPanel[TILE_DEPTH][GQ_CPU_MM_COLUMNS];
  double sums[GQ_CPU_MM_ROWS][GQ_CPU_MM_COLUMNS];
};

static gqCode codeOf(const gqCpuMmMatrix *matrix) {
  if (matrix->format != GQ_FORMAT_NONE)
    return gqFormatGetTraits(matrix->format).code;
  return matrix->type == GQ_F8E5M2 ? GQ_CODE_E5M2 : GQ_CODE_E4M3;
}

static void makeValues(const gqCpuMmMatrix *matrix, Values *values) {
  values->code = codeOf(matrix);
  for (int byte = 0; byte < 256; ++byte)
    values->values[byte] =
        (double)gq_dev_f32_from_code(values->code, (uint8_t)byte);
}

gqCpuMmTile *gqCpuMmTilesNew(gqCpuOp *op, int32_t numThreads) {
  // Zeroed, because the products of a partial tile also read what no operand
  // filled.
  gqCpuMmTile *tiles = calloc((size_t)numThreads, sizeof(gqCpuMmTile));
  if (!tiles)
    gqCpuFail(op, GQ_OUT_OF_MEMORY, "no memory for a tile");
  return tiles;
}

void gqCpuMmTilesFree(gqCpuMmTile *tiles) { free(tiles); }

gqCpuMmTile *gqCpuMmTileOf(gqCpuMmTile *tiles, int32_t thread) {
  return &tiles[thread];
}

/// The scale of the block that holds element (row, k).
static double scaleAt(const gqCpuMmMatrix *matrix, gqFormatTraits traits,
                      int64_t row, int64_t k) {
  int64_t column = k / traits.blockColumns;
  int64_t index =
      traits.scaleType == GQ_F32
          ? row / traits.blockRows * matrix->scaleStride + column
          : gq_dev_tile128x4_offset(row, column, matrix->scaleStride);
  return (double)gq_dev_f32_from_scale(traits.scaleRule, matrix->scales, index);
}

static uint8_t codeAt(const gqCpuMmMatrix *matrix, gqCode code, int64_t row,
                      int64_t k) {
  int64_t line = matrix->transposed ? k : row;
  int64_t at = matrix->transposed ? row : k;
  const uint8_t *codes = matrix->data + line * matrix->stride;
  return code == GQ_CODE_E2M1 ? codes[at / 2] >> at % 2 * 4 & 15 : codes[at];
}

/// Dequantizes `depth` elements of a row from column `k` on, where a block
/// begins.
static void dequantize(const gqCpuMmMatrix *matrix, const Values *values,
                       int64_t row, int64_t k, int64_t depth, double *x) {
  gqFormatTraits traits = gqFormatGetTraits(matrix->format);
  bool scaled = matrix->format != GQ_FORMAT_NONE;
  int64_t block = scaled ? traits.blockColumns : depth;
  for (int64_t first = 0; first < depth; first += block) {
    double scale = scaled ? scaleAt(matrix, traits, row, k + first) : 1.0;
    int64_t end = first + block < depth ? first + block : depth;
    for (int64_t i = first; i < end; ++i)
      x[i] = values->values[codeAt(matrix, values->code, row, k + i)] * scale;
  }
}

/// sums += a . b over `depth` elements of K.
GQ_CPU_CLONES
static void multiply(gqCpuMmTile *tile, int64_t rows, int64_t depth) {
  for (int64_t i = 0; i < rows; i += MICRO_ROWS)
    for (int64_t j = 0; j < GQ_CPU_MM_COLUMNS; j += MICRO_COLUMNS) {
      double sums[MICRO_ROWS][MICRO_COLUMNS];
      for (int r = 0; r < MICRO_ROWS; ++r)
        for (int c = 0; c < MICRO_COLUMNS; ++c)
          sums[r][c] = tile->sums[i + r][j + c];
      for (int64_t k = 0; k < depth; ++k)
        for (int r = 0; r < MICRO_ROWS; ++r)
          for (int c = 0; c < MICRO_COLUMNS; ++c)
            sums[r][c] += tile->aPanel[i + r][k] * tile->bPanel[k][j + c];
      for (int r = 0; r < MICRO_ROWS; ++r)
        for (int c = 0; c < MICRO_COLUMNS; ++c)
          tile->sums[i + r][j + c] = sums[r][c];
    }
}

const double *gqCpuMmSum(const gqCpuMmMatrix *a, int64_t row, int64_t rows,
                         const gqCpuMmMatrix *b, int64_t column,
                         int64_t columns, int64_t depth, gqCpuMmTile *tile) {
  makeValues(a, &tile->a);
  makeValues(b, &tile->b);
  memset(tile->sums, 0, sizeof(tile->sums));
  for (int64_t k = 0; k < depth; k += TILE_DEPTH) {
    int64_t part = depth - k < TILE_DEPTH ? depth - k : TILE_DEPTH;
    for (int64_t r = 0; r < rows; ++r)
      dequantize(a, &tile->a, row + r, k, part, tile->aPanel[r]);
    for (int64_t c = 0; c < columns; ++c) {
      double x[TILE_DEPTH];
      dequantize(b, &tile->b, column + c, k, part, x);
      for (int64_t i = 0; i < part; ++i)
        tile->bPanel[i][c] = x[i];
    }
    multiply(tile, rows, part);
  }
  return &tile->sums[0][0];
}

gqCpuMmSide gqCpuMmSideOf(int32_t format) {
  gqFormatTraits traits = gqFormatGetTraits((gqFormat)format);
  bool scaled = format != GQ_FORMAT_NONE;
  return (gqCpuMmSide){
      .format = (gqFormat)format,
      .traits = traits,
      .types = scaled ? 1 << traits.dataType : GQ_TYPES_FP8,
      .tiled = scaled && traits.scaleType != GQ_F32,
  };
}

bool gqCpuMmCheckFormats(gqCpuOp *op, int32_t format, int32_t bFormat,
                         int32_t scaleLayout) {
  if (format == GQ_FORMAT_NONE && bFormat == GQ_FORMAT_NONE)
    return true;
  gqCpuMmSide a = gqCpuMmSideOf(format), b = gqCpuMmSideOf(bFormat);
  if (!gqCpuCheckFormat(op, format) || !gqCpuCheckFormat(op, bFormat) ||
      !gqCpuCheckAttributes(op, format, scaleLayout,
                            a.tiled ? GQ_LAYOUTS_TILE128X4 : GQ_LAYOUTS_LINEAR))
    return false;
  return (a.traits.scaleRule == b.traits.scaleRule &&
          a.traits.blockColumns == b.traits.blockColumns) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "formats %s and %s do not have the same scale rule",
                   a.traits.name, b.traits.name);
}

bool gqCpuMmCheckPresence(gqCpuOp *op, const char *name, const gqBuffer *buffer,
                          bool required, const char *condition) {
  return gqBufferIsAbsent(buffer) != required ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT, "expected %s%s %s",
                   required ? "" : "no ", name, condition);
}

bool gqCpuMmCheckScalePresence(gqCpuOp *op, const gqBuffer *aScales,
                               const gqBuffer *bScales, gqFormat format) {
  bool scaled = format != GQ_FORMAT_NONE;
  const char *with = scaled ? "with a format" : "without a format";
  return gqCpuMmCheckPresence(op, "a_scales", aScales, scaled, with) &&
         gqCpuMmCheckPresence(op, "b_scales", bScales, scaled, with);
}

void gqCpuMmStore(double value, gqElementType type, void *row, int64_t index) {
  if (type == GQ_F32)
    ((float *)row)[index] = (float)value;
  else
    ((uint16_t *)row)[index] = type == GQ_BF16 ? gq_dev_bf16_from_f64(value)
                                               : gq_dev_f16_from_f64(value);
}
