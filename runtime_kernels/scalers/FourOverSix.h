//===- FourOverSix.h - the better of two scales ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For nvfp4 with the recipe te: the largest magnitude of a block becomes 6, or
// 4, whose neighbours, 6 and 3, are closer. A block is quantized with both
// scales, and the one with the smaller error is kept. Errors are summed in the
// order of a block's elements; those of 16 rows of a square block are added as
// a tree.
//
// First the formulas, then the chip's forms.
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
  /// The outer amax, the outer scale that maps it to `most`, and 1 / that.
  float amax, outer, inverse;
} gq_dev_four_over_six;

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
                                                      gqScaleMax scaleMax,
                                                      float amax) {
  float most = gq_dev_nvfp4_most(scaleMax);
  float outer = gq_dev_min(GQ_DEV_QUOTIENT(most, amax), GQ_DEV_F32_MAX);
  outer = amax == 0.0f || outer == 0.0f ? 1.0f : outer;
  return (gq_dev_four_over_six){error, most, amax, outer,
                                GQ_DEV_QUOTIENT(1.0f, outer)};
}

/// Of blocks without an outer amax: it is what the outer scale 1 maps.
GQ_DEV gq_dev_four_over_six gq_dev_four_over_six_without(gqFourOverSix error,
                                                         gqScaleMax scaleMax) {
  float most = gq_dev_nvfp4_most(scaleMax);
  return (gq_dev_four_over_six){error, most, most, 1.0f, 1.0f};
}

/// The candidate that maps the largest magnitude of a block to 6 or, if `four`,
/// to 4.
GQ_DEV gq_dev_candidate gq_dev_four_over_six_candidate(
    const gq_dev_four_over_six *f, bool four, float amax) {
  float base = GQ_DEV_QUOTIENT(amax, (float)GQ_E2M1_MAX) * f->outer;
  float scale = gq_dev_min(four ? base * 1.5f : base, GQ_E4M3_MAX);
  uint8_t bits = gq_dev_e4m3_from_f32(scale);
  float decoded = gq_dev_f32_from_e4m3(bits);
  float divisor = decoded * f->inverse;
  return (gq_dev_candidate){
      bits, decoded,
      gq_dev_min(GQ_DEV_QUOTIENT(1.0f, divisor), GQ_DEV_F32_MAX)};
}

/// The error of an element x that its code makes `value`, as it is summed up.
GQ_DEV float gq_dev_four_over_six_off(gqFourOverSix error, float value,
                                      float x) {
  float off = value - x;
  return error == GQ_FOUR_OVER_SIX_MAE ? __builtin_fabsf(off) : off * off;
}

GQ_DEV float gq_dev_four_over_six_error(const gq_dev_four_over_six *f,
                                        gq_dev_candidate candidate, float x) {
  float code = gq_dev_f32_from_e2m1(gq_dev_e2m1_from_f32(x * candidate.factor));
  float value = GQ_DEV_QUOTIENT(code * candidate.decoded * f->amax, f->most);
  return gq_dev_four_over_six_off(f->error, value, x);
}

/// Adds the errors of a line of 16 elements to `sum`, in order.
GQ_DEV float gq_dev_four_over_six_errors(const gq_dev_four_over_six *f,
                                         gq_dev_candidate candidate,
                                         const float *x, int count, float sum) {
  for (int i = 0; i < count; ++i)
    sum += gq_dev_four_over_six_error(f, candidate, x[i]);
  return sum;
}

//===----------------------------------------------------------------------===//
// On the chip
//===----------------------------------------------------------------------===//

#ifdef GQ_DEV_CHIP

enum {
  /// The two candidates, and the errors of both.
  GQ_DEV_SIX,
  GQ_DEV_FOUR,
  GQ_DEV_CANDIDATES,
};

/// A candidate, and what its codes of 1 and 1.5 stand for, times 2^6.
typedef struct gq_dev_choice {
  gq_dev_candidate candidate;
  float one, oneAndHalf;
} gq_dev_choice;

/// What a block's scale is chosen from.
typedef struct gq_dev_choices {
  gq_dev_four_over_six of;
  /// Whether the outer amax and the block's are so near to 1 that no quotient
  /// and no product has a corner, as almost all are. A value is then a power of
  /// two times that of 1 or of 1.5.
  bool near;
  gq_dev_choice choices[GQ_DEV_CANDIDATES];
} gq_dev_choices;

/// x / most, of a normal quotient: the remainder of a first one corrects it.
GQ_DEV float gq_dev_four_over_six_share(float x, float most) {
  float share = 1.0f / most; // a constant
  float quotient = x * share;
  return gq_dev_fma(gq_dev_fma(-most, quotient, x), share, quotient);
}

GQ_DEV gq_dev_choice gq_dev_near_choice(const gq_dev_four_over_six *f,
                                        bool four, float amax) {
  float base = gq_dev_sixth_of(amax) * f->outer;
  uint32_t bits =
      gq_dev_e4m3_native(gq_dev_min(four ? base * 1.5f : base, GQ_E4M3_MAX));
  float decoded = gq_dev_f32_from_e4m3_native(bits);
  float factor = gq_dev_reciprocal(decoded * f->inverse); // of 0 it is NaN
  return (gq_dev_choice){
      {bits, decoded, gq_dev_min(factor, GQ_DEV_F32_MAX)},
      gq_dev_four_over_six_share(decoded * f->amax, f->most) * 0x1p6f,
      gq_dev_four_over_six_share(decoded * 1.5f * f->amax, f->most) * 0x1p6f};
}

/// What a block with the largest magnitude `amax` has.
GQ_DEV gq_dev_choices gq_dev_choices_of(gq_dev_four_over_six f, float amax) {
  gq_dev_choices c = {.of = f};
  c.near = f.amax >= 0x1p-100f && f.amax <= 0x1p100f &&
           (amax >= 0x1p-100f || amax == 0.0f);
#pragma clang loop unroll(full)
  for (int i = 0; i < GQ_DEV_CANDIDATES; ++i)
    if (__builtin_expect(c.near, 1))
      c.choices[i] = gq_dev_near_choice(&f, i == GQ_DEV_FOUR, amax);
    else
      c.choices[i].candidate =
          gq_dev_four_over_six_candidate(&f, i == GQ_DEV_FOUR, amax);
  return c;
}

/// gq_dev_four_over_six_error of what is near.
GQ_DEV float gq_dev_near_error(gqFourOverSix error, const gq_dev_choice *c,
                               float x) {
  const float one = 0x1p-6f; // of gq_dev_e2m1_round
  float y =
      gq_dev_min_magnitude(x * (c->candidate.factor * one), GQ_E2M1_MAX * one);
  uint32_t code = gq_dev_f32_bits(gq_dev_e2m1_round(y));
  float power = gq_dev_f32_from_bits(code & 0xff800000);
  return gq_dev_four_over_six_off(
      error, power * (code & 0x400000 ? c->oneAndHalf : c->one), x);
}

/// The sums of the errors of 16 elements with either candidate.
GQ_DEV void gq_dev_errors_of(const gq_dev_choices *c,
                             const float x[GQ_DEV_NVFP4_BLOCK],
                             float sums[GQ_DEV_CANDIDATES]) {
  const gqFourOverSix error = c->of.error;
  sums[GQ_DEV_SIX] = sums[GQ_DEV_FOUR] = 0.0f;
  if (__builtin_expect(c->near, 1)) {
#pragma clang loop unroll(full)
    for (int i = 0; i < GQ_DEV_NVFP4_BLOCK; ++i)
#pragma clang loop unroll(full)
      for (int k = 0; k < GQ_DEV_CANDIDATES; ++k)
        sums[k] += gq_dev_near_error(error, &c->choices[k], x[i]);
    return;
  }
  // This is rare: one after the other, without an index into registers.
  float left[GQ_DEV_NVFP4_BLOCK];
#pragma clang loop unroll(full)
  for (int i = 0; i < GQ_DEV_NVFP4_BLOCK; ++i)
    left[i] = x[i];
#pragma clang loop unroll(disable)
  for (int i = 0; i < GQ_DEV_NVFP4_BLOCK; ++i) {
    float first = left[0];
#pragma clang loop unroll(full)
    for (int j = 1; j < GQ_DEV_NVFP4_BLOCK; ++j)
      left[j - 1] = left[j];
#pragma clang loop unroll(disable)
    for (int k = 0; k < GQ_DEV_CANDIDATES; ++k) {
      gq_dev_candidate candidate = c->choices[GQ_DEV_SIX].candidate;
      if (k == GQ_DEV_FOUR)
        candidate = c->choices[GQ_DEV_FOUR].candidate;
      float off = gq_dev_four_over_six_error(&c->of, candidate, first);
      sums[GQ_DEV_SIX] += k == GQ_DEV_SIX ? off : 0.0f;
      sums[GQ_DEV_FOUR] += k == GQ_DEV_FOUR ? off : 0.0f;
    }
  }
}

/// The better one, of the sums of a block. Its elements are for gq_dev_scaled
/// with clamping.
GQ_DEV gq_dev_block_scale
gq_dev_better_of(const gq_dev_choices *c, const float sums[GQ_DEV_CANDIDATES]) {
  bool better = sums[GQ_DEV_FOUR] < sums[GQ_DEV_SIX];
  const gq_dev_candidate six = c->choices[GQ_DEV_SIX].candidate;
  const gq_dev_candidate four = c->choices[GQ_DEV_FOUR].candidate;
  return (gq_dev_block_scale){better ? four.bits : six.bits,
                              better ? four.factor : six.factor};
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_SCALERS_FOUROVERSIX_H
