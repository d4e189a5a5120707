//===- Weights.h - rows of weights in registers ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix units take k in any order, as long as both operands agree. In a step
// of 128 k, the four lanes q of a row of a fragment each hold 32 consecutive
// codes, 16 bytes, with their two scales. Word v of these is two products of 16
// k, the first of its even codes and the second of its odd ones: no lane needs
// what another one loaded.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_WEIGHTS_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_WEIGHTS_H

#include "runtime_kernels/kernels/grouped_mm/Schedule.h"

enum {
  /// k of a step, and the bytes of it of a row of codes and of a row of tiles
  /// of scales.
  STEP = 128,
  STEP_CODES = STEP / 2,
  STEP_SCALES = STEP / 16 / 4 * 512,
};

/// What sums of products of these halves, times alpha, are multiplied by first:
/// exactly, if no bit is lost at the ends of the exponent range.
GQ_DEV float scaledSum(float sum, float alpha) {
  return sum * GQ_DEV_NVFP4_HALF_UNIT * alpha;
}

/// Steps of all k, the last of which may be a part.
GQ_DEV uint32_t numSteps(const Product *p) { return (p->k + STEP - 1) / STEP; }

/// A lane's part of two rows, 8 apart, of a step.
typedef struct RowPair {
  gq_dev_u32x4 codes[2];
  uint32_t scales[2];
} RowPair;

/// The fragment of k 32 * q + 8 * (word of the step) of a row pair: that of the
/// even codes in the first four, then that of the odd ones.
GQ_DEV void dequantizeWord(const RowPair *x, uint32_t word,
                           const uint32_t scales[2], uint32_t out[8]) {
  uint32_t upper[4], lower[4];
  gq_dev_nvfp4_half8(x->codes[0][word], scales[0], upper);
  gq_dev_nvfp4_half8(x->codes[1][word], scales[1], lower);
  UNROLL for (int i = 0; i < 4; ++i) {
    out[2 * i] = upper[i];
    out[2 * i + 1] = lower[i];
  }
}

/// The four fragments of the first or the second scale, `half`.
GQ_DEV void dequantizeHalf(const RowPair *x, uint32_t half, uint32_t out[16]) {
  const uint32_t scales[2] = {gq_dev_nvfp4_half_scale(x->scales[0], half),
                              gq_dev_nvfp4_half_scale(x->scales[1], half)};
  UNROLL for (uint32_t i = 0; i < 2; ++i)
      dequantizeWord(x, 2 * half + i, scales, out + 8 * i);
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
  uint32_t q = gq_dev_lane() % 4, pitch = p->k / 2;
  bool full = p->n % height == 0;
  bool exists = full || first + n < p->n;
  uint32_t row = first + (exists ? n : 0);
  WeightRows w = {
      .codes = weightsOf(p, e) + (int64_t)row * pitch + q * 16,
      .scales = weightScalesOf(p, e) + scaleRowOffset(p, row) + q / 2 * 512 +
                q % 2 * 2,
      .end = (int32_t)(p->k - 32 * q),
  };
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    uint32_t down = i / 2 * distance + i % 2 * 8;
    bool has = full || first + n + down < p->n;
    w.codesOf[i] = has ? down * pitch : 0;
    // 32 rows are 16 bytes apart each, then come those of the next 4 bytes; a
    // pair does not cross them.
    w.scalesOf[i] = has ? down / 32 * 4 + down % 32 * 16 : 0;
  }
  return w;
}

/// Two row pairs of a step; zeros beyond the end, which is looked at unless
/// `whole`.
GQ_DEV void loadWeights(const WeightRows *w, bool whole, RowPair out[2]) {
  bool exists = whole || w->end > 0;
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    out[i / 2].codes[i % 2] =
        gq_dev_load_streamed16(exists, w->codes + w->codesOf[i]);
    out[i / 2].scales[i % 2] =
        gq_dev_load_streamed2(exists, w->scales + w->scalesOf[i]);
  }
}

GQ_DEV void skipSteps(WeightRows *w, uint32_t steps) {
  w->codes += (int64_t)steps * STEP_CODES;
  w->scales += (int64_t)steps * STEP_SCALES;
  w->end -= (int32_t)(steps * STEP);
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_WEIGHTS_H
