//===- Nvfp4.h - a block of 16 elements on the GPU ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of numerics/Nvfp4.h in the instructions of the chip; the bytes
// are the same. Chips from sm_100 on convert to e2m1 themselves; sm_90 converts
// to e4m3 only.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_DEVICE_NVFP4_H
#define GQ_KERNELS_DEVICE_NVFP4_H

#include "runtime_kernels/device/Nvptx.h"
#include "runtime_kernels/numerics/Nvfp4.h"

//===----------------------------------------------------------------------===//
// e2m1
//===----------------------------------------------------------------------===//

#if __CUDA_ARCH__ >= 1000

/// The codes of x[0] to x[7], x[0] in the lowest nibble.
GQ_DEV uint32_t gq_dev_e2m1x8_from_f32(const float x[8]) {
  return gq_dev_e2m1x8_native(x);
}

#else

/// Bits 0 to 2: the magnitude of the code of x. Bit 9: its sign. Bits 3 to 8
/// and 10 to 15 are zero, the others are not.
///
/// Let m be the power of two at or below |c|, at least 1: m / 2 is the step of
/// the grid there. Adding c to m * (2^22 + q / 2) rounds it to a multiple of
/// the step, ties to even, and leaves q plus the multiple in the mantissa. The
/// code is the multiple plus twice the exponent of m, and the exponent field,
/// bits 23 to 30, is 149 more than that exponent: so the sum's bits are added
/// to themselves shifted down by 22. q takes away what is too much, but for a
/// 1 in bit 16. The sign of c comes along in the sign of m.
GQ_DEV uint32_t gq_dev_e2m1_spread(float x) {
  const float factor = 0x1p22f + (65536 - 2 * 149) / 2;
  float c = gq_dev_min_magnitude(x, 6.0f);
  float power = gq_dev_f32_from_bits(gq_dev_f32_bits(c) & 0xff800000);
  float m = gq_dev_max_magnitude(power, 1.0f);
  uint32_t sum = gq_dev_f32_bits(gq_dev_fma(m, factor, c));
  return sum + (sum >> 22);
}

/// Codes i and j of four, i in the low half of the result, as a pair of
/// nibbles in the lowest byte of each half: x[0] and x[1], x[4] and x[5].
GQ_DEV uint32_t gq_dev_e2m1_pairs(const float x[6]) {
  uint32_t low = gq_dev_e2m1_spread(x[0]) + (gq_dev_e2m1_spread(x[1]) << 4);
  uint32_t high = gq_dev_e2m1_spread(x[4]) + (gq_dev_e2m1_spread(x[5]) << 4);
  uint32_t both = gq_dev_permute(low, high, 0x5410);
  const uint32_t signs = 0x00880088;
  return (both & ~signs) | (both >> 6 & signs);
}

/// The codes of x[0] to x[7], x[0] in the lowest nibble.
GQ_DEV uint32_t gq_dev_e2m1x8_from_f32(const float x[8]) {
  return gq_dev_permute(gq_dev_e2m1_pairs(x), gq_dev_e2m1_pairs(x + 2), 0x6240);
}

/// The codes of two elements, given as 2^-14 times them: bits 9 to 11 and 25 to
/// 27 of the result are the magnitudes, bits 15 and 31 the signs.
///
/// 2^-14 is the smallest normal f16, so that from bit 9 on an f16 is the e2m1
/// of 2^14 times its value, denormals and all. What is left is to round there,
/// ties to even.
GQ_DEV uint32_t gq_dev_e2m1_of_f16_pair(float low, float high) {
  uint32_t halves = gq_dev_min_magnitude_f16x2(gq_dev_f16x2_from_f32(low, high),
                                               0x0e000e00); // 6 * 2^-14
  return halves + (halves >> 9 & 0x00010001) + 0x00ff00ff;
}

/// The codes of 2^14 * x[0] to 2^14 * x[7], x[0] in the lowest nibble. Rounding
/// to f16 on the way may not reach the middle between two codes: for elements
/// that are there or a 256th away from it.
GQ_DEV uint32_t gq_dev_e2m1x8_from_spaced(const float x[8]) {
  uint32_t pairs[4];
  for (int i = 0; i < 4; ++i)
    pairs[i] = gq_dev_e2m1_of_f16_pair(x[i], x[i + 4]);
  // A byte an element: the sign, three zeros, the magnitude, and a rest.
  uint32_t even = gq_dev_permute(pairs[0], pairs[2], 0x7351);
  uint32_t odd = gq_dev_permute(pairs[1], pairs[3], 0x7351);
  even = gq_dev_select_bits(0x08080808, even >> 4, even >> 1);
  odd = gq_dev_select_bits(0x80808080, odd, odd << 3);
  return gq_dev_select_bits(0xf0f0f0f0, odd, even);
}

#endif

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// amax / 6, amax in [0, inf]. The remainder of a first quotient corrects it
/// to the rounding of the true one, as long as nothing underflows or
/// overflows; the rest, which data does not contain, goes through float64.
/// There the same correction gives the nearest float64, and no quotient by 6
/// lies so near the middle of two float32 that rounding it once more would
/// matter.
GQ_DEV float gq_dev_sixth(float amax) {
  const float sixth = 1.0f / 6.0f;
  float quotient = amax * sixth;
  float exact = gq_dev_fma(gq_dev_fma(-6.0f, quotient, amax), sixth, quotient);
  if (__builtin_expect(amax >= 0x1p-100f && amax <= GQ_DEV_F32_MAX, 1))
    return exact;
  if (amax > GQ_DEV_F32_MAX)
    return amax;
  const double sixth64 = 1.0 / 6.0;
  double quotient64 = amax * sixth64;
  double remainder64 = __builtin_fma(-6.0, quotient64, (double)amax);
  return (float)__builtin_fma(remainder64, sixth64, quotient64);
}

/// The largest magnitude of a block, NaN dropped; 0 if all are NaN.
GQ_DEV float gq_dev_amax(const float x[16]) {
  float m[8];
  for (int i = 0; i < 8; ++i)
    m[i] = gq_dev_max_number(__builtin_fabsf(x[i]), __builtin_fabsf(x[i + 8]));
  for (int n = 4; n; n /= 2)
    for (int i = 0; i < n; ++i)
      m[i] = gq_dev_max_number(m[i], m[i + n]);
  return gq_dev_max_number(m[0], 0.0f);
}

/// The same of 8 pairs of bf16, two at a time.
GQ_DEV float gq_dev_amax_of_bf16(const uint32_t pairs[8]) {
  uint32_t m[4];
  for (int i = 0; i < 4; ++i)
    m[i] = gq_dev_max_magnitude_bf16x2(pairs[i], pairs[i + 4]);
  m[0] = gq_dev_max_magnitude_bf16x2(m[0], m[2]);
  m[1] = gq_dev_max_magnitude_bf16x2(m[1], m[3]);
  m[0] = gq_dev_max_magnitude_bf16x2(m[0], m[1]);
  float low = __builtin_fabsf(gq_dev_f32_from_bits(m[0] << 16));
  float high = __builtin_fabsf(gq_dev_f32_from_bits(m[0] & 0xffff0000));
  return gq_dev_max_number(gq_dev_max_number(low, high), 0.0f);
}

/// The scale byte of a block of largest magnitude `amax`, without a global
/// scale. A scale below 2^-10 is 0 and one above 448 is 448, so that neither
/// the last bit of a tiny sixth nor the saturation of inf is needed.
GQ_DEV uint32_t gq_dev_nvfp4_plain_scale(float amax) {
  const float sixth = 1.0f / 6.0f;
  float bounded = gq_dev_min(amax, GQ_DEV_F32_MAX);
  float quotient = bounded * sixth;
  return gq_dev_e4m3x2_from_f32(
      gq_dev_fma(gq_dev_fma(-6.0f, quotient, bounded), sixth, quotient), 0.0f);
}

/// Quantizes a block of largest magnitude `amax` to its 16 codes, x[0] in the
/// lowest nibble of codes[0], and returns the scale byte. Without a global
/// scale, `hasGlobalScale` is a constant false and `globalScale` is not looked
/// at.
GQ_DEV uint32_t gq_dev_nvfp4_block(const float x[16], float amax,
                                   bool hasGlobalScale, float globalScale,
                                   uint32_t codes[2]) {
  uint32_t scale;
  float inverse;
  if (hasGlobalScale) {
    scale = gq_dev_e4m3x2_from_f32(
        gq_dev_min(gq_dev_sixth(amax) * globalScale, GQ_DEV_F32_MAX), 0.0f);
    float decoded = gq_dev_f32_from_e4m3_code(scale) * (1.0f / globalScale);
    inverse = gq_dev_min(1.0f / decoded, GQ_DEV_F32_MAX);
  } else {
    scale = gq_dev_nvfp4_plain_scale(amax);
    // One Newton step rounds the reciprocal of any e4m3 value correctly,
    // starting within two units of the last place. That of 0 becomes NaN and,
    // as it should, the largest float.
    float decoded = gq_dev_f32_from_e4m3_code(scale);
    float approx = gq_dev_reciprocal_approx(decoded);
    float error = gq_dev_fma(-decoded, approx, 1.0f);
    inverse = gq_dev_min(gq_dev_fma(error, approx, approx), GQ_DEV_F32_MAX);
  }
  float y[16];
  for (int i = 0; i < 16; ++i)
    y[i] = x[i] * inverse;
  codes[0] = gq_dev_e2m1x8_from_f32(y);
  codes[1] = gq_dev_e2m1x8_from_f32(y + 8);
  return scale;
}

/// The same of elements that are bf16, without a global scale.
///
/// Such an element has 8 significant bits and the scale has 4, so that their
/// quotient is either the middle between two codes or well away from it. What
/// counts is the product with the rounded reciprocal, which misses two kinds of
/// middle: 5/4, 5/2 and 5 are exceeded if the scale is 15 times a power of two,
/// and the largest float, which stands for 1 / 0, reaches none at all. The
/// factors here are as far off as it takes to show in an f16.
GQ_DEV uint32_t gq_dev_nvfp4_block_of_bf16(const float x[16], float amax,
                                           uint32_t codes[2]) {
#if __CUDA_ARCH__ >= 1000
  return gq_dev_nvfp4_block(x, amax, false, 1.0f, codes);
#else
  uint32_t scale = gq_dev_nvfp4_plain_scale(amax);
  float decoded = gq_dev_f32_from_e4m3_code(scale);
  bool fifteen = (~gq_dev_f32_bits(decoded) & 0x700000) == 0;
  float inverse = gq_dev_min(gq_dev_reciprocal_approx(decoded), 0x1.ff8p127f) *
                  (fifteen ? 0x1.004p-14f : 0x1p-14f);
  float y[16];
  for (int i = 0; i < 16; ++i)
    y[i] = x[i] * inverse;
  codes[0] = gq_dev_e2m1x8_from_spaced(y);
  codes[1] = gq_dev_e2m1x8_from_spaced(y + 8);
  return scale;
#endif
}

#endif // GQ_KERNELS_DEVICE_NVFP4_H
