//===- Weights.h - rows of weights in registers ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix units take k in any order, as long as both operands agree. Of a step,
// 64 bytes of a row, the four lanes q of a row of a fragment each hold 16, with
// their scales: of 128 k 32 consecutive codes of 4 bits, of 64 k 16 of 8 bits.
// Eight codes are two products of 16 k: no lane needs what another one loaded.
//
// NVFP4 becomes f16, MX formats become bf16; either way the products are exact.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_WEIGHTS_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_WEIGHTS_H

#include "runtime_kernels/codecs/MxBf16.h"
#include "runtime_kernels/kernels/grouped_mm/Schedule.h"

enum {
  /// k of a step of codes of 4 bits, and the bytes of a step of a row of codes;
  /// of a row of tiles of NVFP4's scales.
  STEP = 128,
  STEP_CODES = STEP / 2,
  STEP_SCALES = STEP / 16 / 4 * 512,
};

/// Whether a code has 8 bits.
GQ_DEV bool isWide(gqElementType type) { return type != GQ_I8; }

GQ_DEV bool isNvfp4(const Product *p) { return p->format == GQ_FORMAT_NVFP4; }

/// Steps of 128 k, and stages of 64 k in a step, of codes of `type`.
GQ_DEV uint32_t stepsOf128(gqElementType type) { return isWide(type) ? 2 : 1; }
GQ_DEV uint32_t halvesOfStep(gqElementType type) {
  return isWide(type) ? 1 : 2;
}

/// Steps of all k, the last ones of which may be parts or nothing: each 128 k
/// has all.
GQ_DEV uint32_t numSteps(const Product *p, gqElementType type) {
  return (p->k + STEP - 1) / STEP * stepsOf128(type);
}

/// Bytes from the scales of a row's first k to those of 128 k on.
GQ_DEV uint32_t scalesOf128(const Product *p) {
  return isNvfp4(p) ? STEP_SCALES : 512;
}

/// What sums of products, times alpha, are multiplied by first: exactly, if no
/// bit is lost at the ends of the exponent range.
GQ_DEV float unitOf(const Product *p) {
  return isNvfp4(p) ? GQ_DEV_NVFP4_HALF_UNIT : 1.0f;
}

//===----------------------------------------------------------------------===//
// Codes as what is multiplied
//===----------------------------------------------------------------------===//

/// Eight codes times a scale: of 4 bits in `low`, of 8 in both. In the same
/// order for both operands.
GQ_DEV void dequantizeEight(const Product *p, gqElementType type, uint32_t low,
                            uint32_t high, uint32_t scale, uint32_t out[4]) {
  if (isNvfp4(p))
    gq_dev_nvfp4_half8(low, scale, out);
  else
    gq_dev_mx_bf16x8(type, !isWide(p->aType) || !isWide(p->bType), low, high,
                     scale, out);
}

//===----------------------------------------------------------------------===//
// Rows of weights
//===----------------------------------------------------------------------===//

/// A lane's part of two rows, 8 apart, of a step.
typedef struct RowPair {
  gq_dev_u32x4 codes[2];
  uint32_t scales[2];
} RowPair;

/// The two fragments of the lane's codes number 8 * `eight` and so on of a row
/// pair.
GQ_DEV void dequantizeFragments(const Product *p, const RowPair *x,
                                uint32_t eight, const uint32_t scales[2],
                                uint32_t out[8]) {
  bool wide = isWide(p->bType);
  uint32_t low = wide ? 2 * eight : eight, high = wide ? low + 1 : low;
  uint32_t upper[4], lower[4];
  dequantizeEight(p, p->bType, x->codes[0][low], x->codes[0][high], scales[0],
                  upper);
  dequantizeEight(p, p->bType, x->codes[1][low], x->codes[1][high], scales[1],
                  lower);
  UNROLL for (int i = 0; i < 4; ++i) {
    out[2 * i] = upper[i];
    out[2 * i + 1] = lower[i];
  }
}

/// The four fragments of stage `half` of a step.
GQ_DEV void dequantizeHalf(const Product *p, const RowPair *x, uint32_t half,
                           uint32_t out[16]) {
  uint32_t scales[2];
  UNROLL for (uint32_t i = 0; i < 2; ++i) scales[i] =
      isNvfp4(p) ? gq_dev_nvfp4_half_scale(x->scales[i], half)
                 : gq_dev_mx_bf16_scale(x->scales[i]);
  UNROLL for (uint32_t i = 0; i < 2; ++i)
      dequantizeFragments(p, x, 2 * half + i, scales, out + 8 * i);
}

/// Where a lane loads two row pairs, `distance` rows apart, from. Rows beyond
/// the last are loaded from the tile's first row.
typedef struct WeightRows {
  const uint8_t GQ_GLOBAL *codes, *scales;
  /// From there to each row: pair i / 2, row 8 * (i % 2).
  uint32_t codesOf[4], scalesOf[4];
  /// k from which on there are none, counted from the lane's first one.
  int32_t end;
} WeightRows;

/// Of row `n` of the tile of matrix e whose first row is `first`: constants but
/// for the pointers, if tiles of `height` rows fill n and steps fill k.
GQ_DEV WeightRows findWeights(const Product *p, uint32_t e, uint32_t first,
                              uint32_t n, uint32_t height, uint32_t distance) {
  uint32_t q = gq_dev_lane() % 4, pitch = weightPitch(p);
  bool full = p->n % height == 0;
  bool exists = full || first + n < p->n;
  uint32_t row = weightRow(p, first + (exists ? n : 0));
  // Halves may begin anywhere in a tile of scales.
  bool aligned =
      p->pairs != GQ_PAIRS_HALVES || p->n % (2 * GQ_DEV_TILE_ROWS) == 0;
  uint32_t base = aligned ? row : row - row % GQ_DEV_TILE_ROWS;
  WeightRows w = {
      .codes = weightsOf(p, e) + (int64_t)row * pitch + q * 16,
      .scales = weightScalesOf(p, e) + scaleRowOffset(p, base) +
                (isNvfp4(p)         ? q / 2 * 512 + q % 2 * 2
                 : isWide(p->bType) ? q / 2
                                    : q),
      .end = (int32_t)(p->k - 32 / stepsOf128(p->bType) * q),
  };
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    uint32_t down = i / 2 * distance + i % 2 * 8;
    bool has = full || first + n + down < p->n;
    uint32_t below = weightRowsBelow(p, down);
    w.codesOf[i] = has ? below * pitch : 0;
    // 32 rows are 16 bytes apart each, then come those of the next 4 bytes; a
    // pair does not cross them.
    if (aligned)
      w.scalesOf[i] = has ? below / 32 * 4 + below % 32 * 16 : 0;
    else
      w.scalesOf[i] = has ? (uint32_t)(scaleRowOffset(p, row + below) -
                                       scaleRowOffset(p, base))
                          : 0;
  }
  return w;
}

/// One or two row pairs of a step; zeros beyond the end, which is looked at
/// unless `whole`. With `lines` what follows them is fetched, too.
GQ_DEV void loadWeights(const Product *p, const WeightRows *w, bool whole,
                        bool lines, uint32_t pairs, RowPair *out) {
  bool exists = whole || w->end > 0;
  UNROLL for (uint32_t i = 0; i < 2 * pairs; ++i) {
    const uint8_t GQ_GLOBAL *codes = w->codes + w->codesOf[i];
    out[i / 2].codes[i % 2] = lines ? gq_dev_load_streamed16_line(exists, codes)
                                    : gq_dev_load_streamed16(exists, codes);
    const uint8_t GQ_GLOBAL *scales = w->scales + w->scalesOf[i];
    out[i / 2].scales[i % 2] = isNvfp4(p)
                                   ? gq_dev_load_streamed2(exists, scales)
                                   : gq_dev_load_streamed1(exists, scales);
  }
}

/// From step number `step` to the next.
GQ_DEV void skipStep(const Product *p, uint32_t step, WeightRows *w) {
  w->codes += STEP_CODES;
  if (!isWide(p->bType))
    w->scales += scalesOf128(p);
  else // Scales 0 and 1 of four, then 2 and 3.
    w->scales += step % 2 ? 510 : 2;
  w->end -= STEP / (int32_t)stepsOf128(p->bType);
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_WEIGHTS_H
