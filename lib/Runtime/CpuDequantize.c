//===- CpuDequantize.c - dequantizing a matrix on the CPU ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDequantize.h"

#include "CpuTiles.h"
#include "runtime_kernels/codecs/Codes.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Dequantize.h"

#include <stddef.h>

/// The matrix, and what follows from it.
typedef struct Source {
  const gqCpuDequantization *q;
  gqFormatTraits traits;
  gq_dev_dequantizer dequantizer;
  /// Codes of a column follow each other.
  bool transposed;
  /// Code by code what a byte stands for. Of e2m1 the low four bits count.
  float values[256];
} Source;

static uint8_t codeAt(const Source *s, int64_t row, int64_t k) {
  int64_t line = s->transposed ? k : row, at = s->transposed ? row : k;
  const uint8_t *codes = s->q->data + line * s->q->stride;
  return s->traits.dataBits == 4 ? codes[at / 2] >> at % 2 * 4 & 15 : codes[at];
}

/// What the code of element (row, k) is multiplied by.
static float factorAt(const Source *s, int64_t row, int64_t k) {
  const gqCpuDequantization *q = s->q;
  float outer =
      q->outer ? q->outer[row * q->outerDown + k * q->outerAcross] : 1.0f;
  if (q->format == GQ_FORMAT_NONE)
    return gq_dev_dequantize_factor(s->dequantizer, 1.0f, outer);
  int64_t across = (q->columnwise ? k : row) / s->traits.blockRows;
  int64_t along = (q->columnwise ? row : k) / s->traits.blockColumns;
  int64_t index = q->tiled
                      ? gq_dev_tile128x4_offset(across, along, q->scaleStride)
                      : across * q->scaleStride + along;
  return gq_dev_dequantize_factor(
      s->dequantizer,
      gq_dev_f32_from_scale(s->traits.scaleRule, q->scales, index), outer);
}

/// NaN as GPUs have it, whatever it came from.
static void store(float x, gqElementType type, void *row, int64_t k) {
  if (type == GQ_F32)
    ((uint32_t *)row)[k] = x == x ? gq_dev_f32_bits(x) : 0x7fffffff;
  else
    ((uint16_t *)row)[k] = x != x            ? 0x7fff
                           : type == GQ_BF16 ? gq_dev_bf16_from_f32(x)
                                             : gq_dev_f16_from_f32(x);
}

void gqCpuDequantize(const gqCpuDequantization *q, const gqCpuJob *job) {
  Source s = {
      .q = q,
      .traits = gqFormatGetTraits(q->format),
      .dequantizer = {q->format, q->recipe, q->outer != NULL},
  };
  s.transposed =
      q->columnwise && (q->format == GQ_FORMAT_NONE || s.traits.transposes);
  gqCode code = q->format != GQ_FORMAT_NONE ? s.traits.code
                : q->type == GQ_F8E5M2      ? GQ_CODE_E5M2
                                            : GQ_CODE_E4M3;
  for (int byte = 0; byte < 256; ++byte)
    s.values[byte] = gq_dev_f32_from_code(code, (uint8_t)byte);
  bool divides = gq_dev_dequantize_divides(s.dequantizer);
  // Elements of a row that share a scale.
  int64_t endRow = job->row + job->rows;
  int64_t endColumn = job->column + job->columns;
  int64_t shared = q->format == GQ_FORMAT_NONE ? job->columns
                   : q->columnwise             ? s.traits.blockRows
                                               : s.traits.blockColumns;
  for (int64_t row = job->row; row < endRow; ++row)
    for (int64_t first = job->column; first < endColumn; first += shared) {
      float factor = factorAt(&s, row, first);
      int64_t end = first + shared < endColumn ? first + shared : endColumn;
      for (int64_t k = first; k < end; ++k) {
        float x = s.values[codeAt(&s, row, k)] * factor;
        store(divides ? x / *q->outer : x, (gqElementType)q->out.type,
              gqCpuRow(&q->out, row), k);
      }
    }
}
