//===- FourOverSix.h - the better of two scales ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of nvfp4 with the recipe te: the largest magnitude of a block becomes 6, or
// 4, which leaves its neighbours, 6 and 3, closer. A block is quantized with
// either scale, and that of the smaller error is stored. Errors are summed up
// in the order of a block's elements; those of 16 rows of a square block are
// added as a tree.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_FOUROVERSIX_H
#define GQ_KERNELS_SCALERS_FOUROVERSIX_H

#include "runtime_kernels/scalers/Nvfp4.h"

/// What the candidates of all blocks with one outer amax have in common.
typedef struct gq_dev_four_over_six {
  gqFourOverSix error;
  /// The largest code times the largest scale, 6 * 256 or 6 * 448.
  float most;
  /// The outer amax, and the outer scale that maps it to `most`.
  float amax, outer;
} gq_dev_four_over_six;

/// `scaleMax` is 256, 448, or 0 for 448.
GQ_DEV float gq_dev_four_over_six_most(int32_t scaleMax) {
  return GQ_E2M1_MAX * (scaleMax == 256 ? 256.0f : 448.0f);
}

/// A candidate: the scale of a block, its value and the factor.
typedef struct gq_dev_candidate {
  uint32_t bits;
  float decoded, factor;
} gq_dev_candidate;

#ifdef GQ_DEV_CHIP
#define GQ_DEV_QUOTIENT(A, B) gq_dev_divide(A, B)
#else
#define GQ_DEV_QUOTIENT(A, B) ((A) / (B))
#endif

GQ_DEV gq_dev_four_over_six gq_dev_four_over_six_from(gqFourOverSix error,
                                                      int32_t scaleMax,
                                                      float amax) {
  float most = gq_dev_four_over_six_most(scaleMax);
  float outer = gq_dev_min(GQ_DEV_QUOTIENT(most, amax), GQ_DEV_F32_MAX);
  outer = amax == 0.0f || outer == 0.0f ? 1.0f : outer;
  return (gq_dev_four_over_six){error, most, amax, outer};
}

/// Of blocks without an outer amax: it is what the outer scale 1 maps.
GQ_DEV gq_dev_four_over_six gq_dev_four_over_six_without(gqFourOverSix error,
                                                         int32_t scaleMax) {
  float most = gq_dev_four_over_six_most(scaleMax);
  return (gq_dev_four_over_six){error, most, most, 1.0f};
}

/// The candidate that maps the largest magnitude of a block to 6 or, if `four`,
/// to 4.
GQ_DEV gq_dev_candidate gq_dev_four_over_six_candidate(
    const gq_dev_four_over_six *f, bool four, float amax) {
  float base = GQ_DEV_QUOTIENT(amax, (float)GQ_E2M1_MAX) * f->outer;
  float scale = gq_dev_min(four ? base * 1.5f : base, GQ_E4M3_MAX);
  uint8_t bits = gq_dev_e4m3_from_f32(scale);
  float decoded = gq_dev_f32_from_e4m3(bits);
  float divisor = decoded * GQ_DEV_QUOTIENT(1.0f, f->outer);
  return (gq_dev_candidate){
      bits, decoded,
      gq_dev_min(GQ_DEV_QUOTIENT(1.0f, divisor), GQ_DEV_F32_MAX)};
}

/// The error of an element, as it is summed up.
GQ_DEV float gq_dev_four_over_six_error(const gq_dev_four_over_six *f,
                                        gq_dev_candidate candidate, float x) {
  float code = gq_dev_f32_from_e2m1(gq_dev_e2m1_from_f32(x * candidate.factor));
  float value = GQ_DEV_QUOTIENT(code * candidate.decoded * f->amax, f->most);
  float off = value - x;
  return f->error == GQ_FOUR_OVER_SIX_MAE ? __builtin_fabsf(off) : off * off;
}

/// Adds the errors of a line of 16 elements to `sum`, in order.
GQ_DEV float gq_dev_four_over_six_errors(const gq_dev_four_over_six *f,
                                         gq_dev_candidate candidate,
                                         const float *x, int count, float sum) {
  for (int i = 0; i < count; ++i)
    sum += gq_dev_four_over_six_error(f, candidate, x[i]);
  return sum;
}

#endif // GQ_KERNELS_SCALERS_FOUROVERSIX_H
