//===- Dequantize.h - what codes and scales of a tile stand for --*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The codes of a tile, one per byte; the factor of each block; then row by row
// what each code is multiplied by, the product and its rounding.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_DEQUANTIZE_H
#define GQ_LIB_RUNTIME_CPU_DEQUANTIZE_H

#include "Codes.h"

#include "lib/Runtime/CpuDequantize.h"
#include "runtime_kernels/codecs/Codes.h"
#include "runtime_kernels/scalers/Dequantize.h"

/// The matrix, and what follows from it.
typedef struct Source {
  const gqCpuDequantization *q;
  gqFormatTraits traits;
  gqCode code;
  gq_dev_dequantizer dequantizer;
  /// Codes of a column follow each other.
  bool transposed;
} Source;

/// A tile of it.
typedef struct Part {
  int64_t row, rows, column, columns;
} Part;

static Source sourceOf(const gqCpuDequantization *q) {
  bool scaled = q->format != GQ_FORMAT_NONE;
  gqFormatTraits traits = gqFormatGetTraits(q->format);
  return (Source){
      .q = q,
      .traits = traits,
      .code = scaled                 ? traits.code
              : q->type == GQ_F8E5M2 ? GQ_CODE_E5M2
                                     : GQ_CODE_E4M3,
      .dequantizer = {q->format, q->recipe, q->outer != NULL, q->scaleMax},
      .transposed = q->columnwise && (!scaled || traits.transposes),
  };
}

static void loadPart(const Source *s, Part p, gqCpuTileCodes codes) {
  int64_t bits = s->traits.dataBits, stride = s->q->stride;
  if (s->transposed)
    loadTransposedCodes(s->q->data + p.column * stride + p.row * bits / 8,
                        stride, bits, p.rows, p.columns, codes);
  else
    loadCodes(s->q->data + p.row * stride + p.column * bits / 8, stride, bits,
              p.rows, p.columns, codes);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// What the scales of a tile stand for: of block j of line i, a row of the tile
/// or, columnwise, a column. For blocks of 128 by 128, i and j are 0.
typedef float ScaleValues[GQ_CPU_TILE][GQ_CPU_TILE_BLOCKS];

/// Loads the scales of `lines` by `blocks` from (line, block) on.
static void loadScales(const Source *s, int64_t line, int64_t lines,
                       int64_t block, int64_t blocks, ScaleValues values) {
  const gqCpuDequantization *q = s->q;
  uint8_t bytes[GQ_CPU_TILE][GQ_CPU_TILE_BLOCKS] = {0};
  for (int64_t i = 0; i < lines; ++i) {
    int64_t first = (line + i) * q->scaleStride + block;
    if (s->traits.scaleType == GQ_F32)
      memcpy(values[i], (const float *)q->scales + first,
             (size_t)blocks * sizeof(float));
    else if (!q->tiled)
      memcpy(bytes[i], (const uint8_t *)q->scales + first, (size_t)blocks);
    else
      for (int64_t j = 0; j < blocks; j += GQ_DEV_TILE_COLUMNS)
        memcpy(&bytes[i][j],
               (const uint8_t *)q->scales +
                   gq_dev_tile128x4_offset(line + i, block + j, q->scaleStride),
               GQ_DEV_TILE_COLUMNS);
  }
  float *value = &values[0][0];
  if (s->traits.scaleRule == GQ_SCALE_RULE_NVFP4)
    for (int64_t i = 0; i < lines * GQ_CPU_TILE_BLOCKS; ++i)
      value[i] = gq_dev_f32_from_scale(GQ_SCALE_RULE_NVFP4, bytes, i);
  else if (s->traits.scaleRule == GQ_SCALE_RULE_MX)
    for (int64_t i = 0; i < lines * GQ_CPU_TILE_BLOCKS; ++i)
      value[i] = gq_dev_f32_from_scale(GQ_SCALE_RULE_MX, bytes, i);
}

/// The scales of a tile; 1 without a format.
static void loadPartScales(const Source *s, Part p, ScaleValues values) {
  int64_t height = s->traits.blockRows, width = s->traits.blockColumns;
  if (s->q->format == GQ_FORMAT_NONE)
    for (int64_t i = 0; i < GQ_CPU_TILE; ++i)
      values[i][0] = 1.0f;
  else if (s->q->columnwise)
    loadScales(s, p.column / height, gqCpuCeilDiv(p.columns, height),
               p.row / width, gqCpuCeilDiv(p.rows, width), values);
  else
    loadScales(s, p.row / height, gqCpuCeilDiv(p.rows, height),
               p.column / width, gqCpuCeilDiv(p.columns, width), values);
}

/// What the codes of row `r` of a tile are multiplied by.
static void rowFactors(const Source *s, Part p, const ScaleValues values,
                       int64_t r, float factors[GQ_CPU_TILE]) {
  const gqCpuDequantization *q = s->q;
  int64_t height = s->traits.blockRows, width = s->traits.blockColumns;
  bool scaled = q->format != GQ_FORMAT_NONE;
  const float *outers = q->outer ? q->outer + (p.row + r) * q->outerDown : NULL;
  if (q->columnwise || !scaled) {
    int64_t j = scaled ? r / width : 0;
    for (int64_t c = 0; c < p.columns; ++c)
      factors[c] = gq_dev_dequantize_factor(
          s->dequantizer, values[c / height][j],
          outers ? outers[(p.column + c) * q->outerAcross] : 1.0f);
    return;
  }
  for (int64_t b = 0; b < gqCpuCeilDiv(p.columns, width); ++b) {
    float factor = gq_dev_dequantize_factor(
        s->dequantizer, values[r / height][b], outers ? *outers : 1.0f);
    for (int64_t i = 0; i < width; ++i)
      factors[b * width + i] = factor;
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `code` is a constant in the callers.
GQ_DEV void multiplyCodes(gqCode code, const uint8_t *codes,
                          const float *factors, int64_t count, float *x) {
  for (int64_t c = 0; c < count; ++c)
    x[c] = gq_dev_f32_from_code(code, codes[c]) * factors[c];
}

/// Stores a row. NaN becomes the one that GPUs have, whatever it came from.
static void storeRow(const float *x, gqElementType type, int64_t count,
                     void *to) {
  if (type == GQ_F32)
    for (int64_t c = 0; c < count; ++c)
      ((uint32_t *)to)[c] = x[c] == x[c] ? gq_dev_f32_bits(x[c]) : 0x7fffffff;
  else if (type == GQ_BF16)
    for (int64_t c = 0; c < count; ++c)
      ((uint16_t *)to)[c] =
          x[c] == x[c] ? gq_dev_bf16_from_f32(x[c]) : (uint16_t)0x7fff;
  else
    for (int64_t c = 0; c < count; ++c)
      ((uint16_t *)to)[c] =
          x[c] == x[c] ? gq_dev_f16_from_f32(x[c]) : (uint16_t)0x7fff;
}

static void dequantizeRow(const Source *s, const uint8_t *codes,
                          const float *factors, int64_t count, void *to) {
  float x[GQ_CPU_TILE];
  switch (s->code) {
#define GQ_MULTIPLY(NAME, ...)                                                 \
  case GQ_CODE_##NAME:                                                         \
    multiplyCodes(GQ_CODE_##NAME, codes, factors, count, x);                   \
    break;
    GQ_CODES(GQ_MULTIPLY)
#undef GQ_MULTIPLY
  }
  if (gq_dev_dequantize_divides(s->dequantizer)) {
    float outer = *s->q->outer;
    for (int64_t c = 0; c < count; ++c)
      x[c] /= outer;
  }
  storeRow(x, (gqElementType)s->q->out.type, count, to);
}

static void dequantizeTiles(const gqCpuDequantization *q, const gqCpuJob *job) {
  Source s = sourceOf(q);
  int64_t size = gqElementTypeSize((gqElementType)q->out.type);
  bool sharesFactors = q->columnwise || q->format == GQ_FORMAT_NONE;
  for (int64_t i = 0; i < job->columns; i += GQ_CPU_TILE) {
    Part p = {job->row, job->rows, job->column + i,
              gqCpuLeast(job->columns - i, GQ_CPU_TILE)};
    gqCpuTileCodes codes;
    ScaleValues values;
    float factors[GQ_CPU_TILE];
    loadPart(&s, p, codes);
    loadPartScales(&s, p, values);
    for (int64_t r = 0; r < p.rows; ++r) {
      // Those of a column's block, or of all, are those of the row before.
      bool isFirst =
          r % (q->format == GQ_FORMAT_NONE ? GQ_CPU_TILE
                                           : s.traits.blockColumns) ==
          0;
      if (isFirst || !sharesFactors || q->outerDown)
        rowFactors(&s, p, values, r, factors);
      dequantizeRow(&s, codes[r], factors, p.columns,
                    (uint8_t *)gqCpuRow(&q->out, p.row + r) + p.column * size);
    }
  }
}

#endif // GQ_LIB_RUNTIME_CPU_DEQUANTIZE_H
