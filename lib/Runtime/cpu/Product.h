//===- Product.h - a tile of a product of quantized matrices -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a tile are dequantized once, into float64 panels that fit a
// second-level cache, so that the innermost loops see plain numbers. These keep
// a block of the tile in registers, along K.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_PRODUCT_H
#define GQ_LIB_RUNTIME_CPU_PRODUCT_H

#include "Codes.h"

#include "lib/Runtime/CpuMm.h"
#include "runtime_kernels/codecs/Codes.h"
#include "runtime_kernels/scalers/Dequantize.h"
#include "runtime_kernels/scalers/Nvfp4.h"

enum {
  /// Of K at a time; a multiple of every block's columns.
  DEPTH = GQ_CPU_MM_DEPTH,
  /// Sums that are kept in registers: as many vectors as hide the latency of an
  /// addition.
  MICRO_ROWS = 4,
  MICRO_VECTORS = 2,
#if defined(__AVX512F__)
  LANES = 8,
#elif defined(__AVX__)
  LANES = 4,
#else
  LANES = 2,
#endif
  MICRO_COLUMNS = MICRO_VECTORS * LANES,
};
typedef double Doubles __attribute__((vector_size(LANES * sizeof(double))));

static gqCode codeOf(const gqCpuMmMatrix *matrix) {
  if (matrix->format != GQ_FORMAT_NONE)
    return gqFormatGetTraits(matrix->format).code;
  return matrix->type == GQ_F8E5M2 ? GQ_CODE_E5M2 : GQ_CODE_E4M3;
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

/// Part of a matrix: `depth` elements of `rows` rows, from column `k` on, where
/// a block begins.
typedef struct Slab {
  const gqCpuMmMatrix *matrix;
  int64_t row, rows, k, depth;
} Slab;

/// What the scales of a slab stand for, of each row in each block of K.
typedef float SlabScales[DEPTH / GQ_DEV_NVFP4_BLOCK][GQ_CPU_TILE];

/// Columns of a block; without a format all are one.
static int64_t blockOf(const gqCpuMmMatrix *matrix) {
  return matrix->format == GQ_FORMAT_NONE
             ? (int64_t)DEPTH
             : gqFormatGetTraits(matrix->format).blockColumns;
}

static void loadSlabScales(const Slab *s, SlabScales scales) {
  const gqCpuMmMatrix *matrix = s->matrix;
  gqFormatTraits traits = gqFormatGetTraits(matrix->format);
  int64_t block = blockOf(matrix), blocks = (s->depth + block - 1) / block;
  int64_t stride = matrix->scaleStride, column = s->k / block;
  uint8_t bytes[DEPTH / GQ_DEV_NVFP4_BLOCK][GQ_CPU_TILE];
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t r = 0; r < s->rows; ++r)
      if (matrix->format == GQ_FORMAT_NONE)
        scales[b][r] = 1.0f;
      else if (traits.scaleType == GQ_F32)
        scales[b][r] =
            ((const float *)
                 matrix->scales)[(s->row + r) / traits.blockRows * stride +
                                 column + b];
      else
        bytes[b][r] = ((const uint8_t *)matrix->scales)[gq_dev_tile128x4_offset(
            s->row + r, column + b, stride)];
  if (matrix->format == GQ_FORMAT_NONE || traits.scaleType == GQ_F32)
    return;
  for (int64_t b = 0; b < blocks; ++b)
    if (traits.scaleRule == GQ_SCALE_RULE_NVFP4)
      for (int64_t r = 0; r < s->rows; ++r)
        scales[b][r] = gq_dev_f32_from_scale(GQ_SCALE_RULE_NVFP4, bytes[b], r);
    else
      for (int64_t r = 0; r < s->rows; ++r)
        scales[b][r] = gq_dev_f32_from_scale(GQ_SCALE_RULE_MX, bytes[b], r);
}

/// The codes of a slab: a line of codes for each row or, with `alongRows`, for
/// each k.
static void loadSlab(const Slab *s, bool alongRows, gqCpuTileCodes codes) {
  const gqCpuMmMatrix *matrix = s->matrix;
  int64_t bits = codeOf(matrix) == GQ_CODE_E2M1 ? 4 : 8;
  bool direct = alongRows == matrix->transposed;
  int64_t first = matrix->transposed ? s->k : s->row;
  int64_t lines = matrix->transposed ? s->depth : s->rows;
  int64_t at = matrix->transposed ? s->row : s->k;
  int64_t count = matrix->transposed ? s->rows : s->depth;
  const uint8_t *data = matrix->data + first * matrix->stride + at * bits / 8;
  gqCpuTileCodes stored;
  uint8_t (*to)[GQ_CPU_TILE] = direct ? codes : stored;
  for (int64_t i = 0; i < lines; ++i)
    if (bits == 8)
      memcpy(to[i], data + i * matrix->stride, (size_t)count);
    else
      unpackPairs(data + i * matrix->stride, (count + 1) / 2, to[i]);
  if (!direct)
    transpose(stored[0], GQ_CPU_TILE, lines, count, codes[0], GQ_CPU_TILE);
}

/// `code` is a constant in the callers.
GQ_DEV void multiplyScales(gqCode code, const uint8_t *codes,
                           const float *scales, int64_t count, double *x) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = (double)gq_dev_f32_from_code(code, codes[i]) * (double)scales[i];
}

static void dequantizeLine(gqCode code, const uint8_t *codes,
                           const float *scales, int64_t count, double *x) {
  switch (code) {
#define GQ_MULTIPLY(NAME, ...)                                                 \
  case GQ_CODE_##NAME:                                                         \
    multiplyScales(GQ_CODE_##NAME, codes, scales, count, x);                   \
    break;
    GQ_CODES(GQ_MULTIPLY)
#undef GQ_MULTIPLY
  }
}

/// The panel of the first operand: its rows.
static void makePanelA(const Slab *s, double (*a)[DEPTH]) {
  gqCpuTileCodes codes;
  SlabScales scales;
  int64_t block = blockOf(s->matrix);
  loadSlab(s, /*alongRows=*/false, codes);
  loadSlabScales(s, scales);
  for (int64_t r = 0; r < s->rows; ++r) {
    float ofRow[DEPTH];
    for (int64_t first = 0; first < s->depth; first += block)
      for (int64_t i = 0; i < block; ++i)
        ofRow[first + i] = scales[first / block][r];
    dequantizeLine(codeOf(s->matrix), codes[r], ofRow, s->depth, a[r]);
  }
}

/// The panel of the second: for each MICRO_COLUMNS of its rows, the columns of
/// the product, what they have for the first k, then for the next.
static void makePanelB(const Slab *s, double *b) {
  gqCpuTileCodes codes;
  SlabScales scales;
  int64_t block = blockOf(s->matrix);
  loadSlab(s, /*alongRows=*/true, codes);
  loadSlabScales(s, scales);
  for (int64_t k = 0; k < s->depth; ++k) {
    double line[GQ_CPU_TILE];
    dequantizeLine(codeOf(s->matrix), codes[k], scales[k / block], s->rows,
                   line);
    for (int64_t j = 0; j < s->rows; j += MICRO_COLUMNS)
      memcpy(b + j * DEPTH + k * MICRO_COLUMNS, line + j,
             MICRO_COLUMNS * sizeof(double));
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// a * b + c. Where `exact`, a constant, products are exact, so that fusing the
/// two changes nothing; otherwise it must not be done.
GQ_DEV Doubles multiplyAdd(bool exact, double a, Doubles b, Doubles c) {
#if defined(__FMA__)
  if (exact) {
    Doubles sums;
    for (int i = 0; i < LANES; ++i)
      sums[i] = __builtin_fma(a, b[i], c[i]);
    return sums;
  }
#endif
  (void)exact;
  return a * b + c;
}

/// sums += a . b over `depth` elements of K; b has the elements of a column of
/// blocks after each other.
GQ_DEV void multiplyPanels(bool exact, const double (*a)[DEPTH],
                           const double *b, int64_t rows, int64_t columns,
                           int64_t depth, double (*sums)[GQ_CPU_MM_COLUMNS]) {
  for (int64_t j = 0; j < columns; j += MICRO_COLUMNS)
    for (int64_t i = 0; i < rows; i += MICRO_ROWS) {
      Doubles block[MICRO_ROWS][MICRO_VECTORS];
      for (int r = 0; r < MICRO_ROWS; ++r)
        memcpy(block[r], &sums[i + r][j], sizeof(block[r]));
      const double *column = b + j * DEPTH;
      for (int64_t k = 0; k < depth; ++k) {
        Doubles x[MICRO_VECTORS];
        memcpy(x, column + k * MICRO_COLUMNS, sizeof(x));
        for (int r = 0; r < MICRO_ROWS; ++r)
          for (int v = 0; v < MICRO_VECTORS; ++v)
            block[r][v] = multiplyAdd(exact, a[i + r][k], x[v], block[r][v]);
      }
      for (int r = 0; r < MICRO_ROWS; ++r)
        memcpy(&sums[i + r][j], block[r], sizeof(block[r]));
    }
}

static void sumProducts(const gqCpuMmMatrix *a, int64_t row, int64_t rows,
                        const gqCpuMmMatrix *b, int64_t column, int64_t columns,
                        int64_t depth, gqCpuMmTile *tile) {
  // Only two float32 scales have more bits than a float64.
  bool exact = gqFormatGetTraits(a->format).scaleType != GQ_F32 ||
               a->format == GQ_FORMAT_NONE;
  memset(tile->sums, 0, sizeof(tile->sums));
  for (int64_t k = 0; k < depth; k += DEPTH) {
    int64_t part = depth - k < DEPTH ? depth - k : (int64_t)DEPTH;
    makePanelA(&(Slab){a, row, rows, k, part}, tile->a);
    for (int64_t j = 0; j < columns; j += GQ_CPU_TILE)
      makePanelB(
          &(Slab){b, column + j, gqCpuLeast(columns - j, GQ_CPU_TILE), k, part},
          tile->b + j * DEPTH);
    if (exact)
      multiplyPanels(true, (const double (*)[DEPTH])tile->a, tile->b, rows,
                     columns, part, tile->sums);
    else
      multiplyPanels(false, (const double (*)[DEPTH])tile->a, tile->b, rows,
                     columns, part, tile->sums);
  }
}

#endif // GQ_LIB_RUNTIME_CPU_PRODUCT_H
