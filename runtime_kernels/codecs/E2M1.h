//===- E2M1.h - the 4-bit element code ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sign, two exponent bits and one mantissa bit: the magnitudes 0, 0.5, 1,
// 1.5, 2, 3, 4 and 6. There is no inf and no NaN. Two codes share a byte, the
// element of even index in the low nibble.
//
// First the reference form, then the fast ones: eight elements become a word,
// the first in the lowest nibble.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_E2M1_H
#define GQ_KERNELS_CODECS_E2M1_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/Float.h"

/// The code of x, rounded to nearest even and saturated to +-6; -0 keeps its
/// sign, NaN gives +6.
///
/// The grid is uniform in three regions: steps of 0.5 up to 2, of 1 up to 4,
/// of 2 up to 6. Adding 1.5 * 2^23 * step rounds to a multiple of the step, and
/// the sum's low bits count the multiples; 0, 2 and 4 make codes of the counts.
/// Outside its own region a count is too high, never too low, so the least of
/// the three is the code. Ties go to even counts, which are the even codes.
/// Verified for all 2^32 float32 values (test/runtime/exhaustive_e2m1.c).
GQ_DEV uint32_t gq_dev_e2m1_from_f32(float x) {
  uint32_t bits = gq_dev_f32_bits(x);
  uint32_t sign = x == x ? bits >> 28 & 8 : 0;
  float c = gq_dev_min(gq_dev_f32_from_bits(bits & 0x7fffffff), GQ_E2M1_MAX);
  // Signed, because that is the comparison that SIMD units have.
  int32_t halves =
      (int32_t)(gq_dev_f32_bits(c + 0x1.8p22f) - gq_dev_f32_bits(0x1.8p22f));
  int32_t ones =
      (int32_t)(gq_dev_f32_bits(c + 0x1.8p23f) - gq_dev_f32_bits(0x1.8p23f)) +
      2;
  int32_t twos =
      (int32_t)(gq_dev_f32_bits(c + 0x1.8p24f) - gq_dev_f32_bits(0x1.8p24f)) +
      4;
  int32_t code = halves < ones ? halves : ones;
  code = code < twos ? code : twos;
  return sign | (uint32_t)code;
}

/// The code of x, rounded up with as many of 256 chances as x is steps of the
/// grid times 1/256 above the code below: `byte` is one of 256. Saturated to
/// +-6; NaN gives +6.
///
/// A float's first mantissa bit makes one of two codes of each exponent; below
/// 1 the code is the multiple of 0.5.
GQ_DEV uint32_t gq_dev_e2m1_stochastic(float x, uint32_t byte) {
  uint32_t bits = gq_dev_f32_bits(x);
  uint32_t sign = x == x ? bits >> 28 & 8 : 0;
  float c = gq_dev_min(gq_dev_f32_from_bits(bits & 0x7fffffff), GQ_E2M1_MAX);
  float step = c < 2.0f ? 0.5f : c < 4.0f ? 1.0f : 2.0f;
  float t = (float)byte * 0x1p-8f * step + c; // the product is exact
  int32_t above = (int32_t)(gq_dev_f32_bits(t) >> 22) - 252;
  int32_t below = t >= 0.5f;
  return sign | (uint32_t)(t < 1.0f ? below : above);
}

/// The value of the code in the low four bits. The constant holds the doubled
/// magnitudes, one a nibble.
GQ_DEV float gq_dev_f32_from_e2m1(uint32_t code) {
  float magnitude = (float)(0xc8643210u >> (code & 7) * 4 & 15) * 0.5f;
  uint32_t sign = (code & 8) << 28;
  return gq_dev_f32_from_bits(gq_dev_f32_bits(magnitude) | sign);
}

//===----------------------------------------------------------------------===//
// On the chip
//===----------------------------------------------------------------------===//

#ifdef GQ_DEV_CHIP

#include "runtime_kernels/arch/Nvptx.h"

/// The fast forms. They take elements multiplied by gq_dev_e2m1_one, which is
/// made part of the factor of a block. Each is compared with the reference form
/// for every input that it may get (e2m1.c and bf16.c of the device's tests).
typedef enum gq_dev_e2m1_way {
  /// The instruction, since sm_100: any element as it is.
  GQ_DEV_E2M1_NATIVE,
  /// Times 2^-6. Magnitudes up to 6.9 are rounded, inf and NaN saturate, what
  /// lies between must not occur.
  GQ_DEV_E2M1_ROUNDED,
  /// Times 2^16. Magnitudes below 7, and NaN.
  GQ_DEV_E2M1_MOVED,
  /// Times 2^-14. Magnitudes below 7, but none that is the middle between two
  /// codes of which the lower one is even.
  GQ_DEV_E2M1_CUT,
  /// Times 2^-14 (1 - 2^-10). They are the middle between two codes or away
  /// from it by more than 2^-8 of themselves.
  GQ_DEV_E2M1_CUT_SPACED,
} gq_dev_e2m1_way;

/// The way for the quotients of elements of `type`, which are constants, by a
/// block's scale: those of bf16 by an e4m3 scale or a power of two are spaced.
/// With an outer scale, rare blocks are clamped.
GQ_DEV gq_dev_e2m1_way gq_dev_e2m1_way_of(gqElementType type, bool hasOuter) {
#if __CUDA_ARCH__ >= 1000
  (void)type, (void)hasOuter;
  return GQ_DEV_E2M1_NATIVE;
#else
  return type != GQ_BF16 ? GQ_DEV_E2M1_ROUNDED
         : hasOuter      ? GQ_DEV_E2M1_MOVED
                         : GQ_DEV_E2M1_CUT_SPACED;
#endif
}

/// The way in which elements can be converted four at a time.
GQ_DEV gq_dev_e2m1_way gq_dev_e2m1_way_in_steps(void) {
#if __CUDA_ARCH__ >= 1000
  return GQ_DEV_E2M1_NATIVE;
#else
  return GQ_DEV_E2M1_MOVED;
#endif
}

/// What 1 is passed as, a power of two.
GQ_DEV float gq_dev_e2m1_one(gq_dev_e2m1_way way) {
  return way == GQ_DEV_E2M1_CUT          ? 0x1p-14f
         : way == GQ_DEV_E2M1_CUT_SPACED ? 0x1p-14f - 0x1p-24f
         : way == GQ_DEV_E2M1_ROUNDED    ? 0x1p-6f
         : way == GQ_DEV_E2M1_MOVED      ? 0x1p16f
                                         : 1.0f;
}

// Rounded

/// 2^6 y rounded to the grid of e2m1, and its sign lost if that is 0; NaN for
/// inf and what overflows. Likewise times 2^-6.
///
/// Let b be y, but at least 1. The unit of the last place of b * 2^22 is half
/// the power of two at or below b, which is the step of the grid there. So b *
/// 2^22 - y is rounded to the grid, ties to even, and what b * 2^22 exceeds it
/// by is y rounded. The difference may lie below the power of two where the
/// unit is finer: then y is next to that power and rounds to it all the same.
/// At 1, where everything below is rounded, 2^-22 keeps it above. (With a sum
/// for the difference the largest numbers below 2 and 4 would go wrong.)
GQ_DEV float gq_dev_e2m1_round(float y) {
  float b = gq_dev_max_magnitude(y, 0x1.000004p-6f);
  float difference = gq_dev_fma(b, 0x1p22f, -y);
  return gq_dev_fma(b, 0x1p22f, -difference);
}

/// 2^-6 is the smallest normal e4m3: up to 6 times that, denormals included,
/// its codes are those of e2m1 shifted by two. The conversion packs them, of y
/// itself it packs the signs.
GQ_DEV uint32_t gq_dev_e2m1x8_rounded(const float y[8]) {
  float r[8];
  for (int i = 0; i < 8; ++i)
    r[i] = gq_dev_e2m1_round(y[i]);
  uint32_t even = gq_dev_e4m3x4_from_f32(r[0], r[2], r[4], r[6]);
  uint32_t odd = gq_dev_e4m3x4_from_f32(r[1], r[3], r[5], r[7]);
  uint32_t evenSigns = gq_dev_e4m3x4_from_f32(y[0], y[2], y[4], y[6]);
  uint32_t oddSigns = gq_dev_e4m3x4_from_f32(y[1], y[3], y[5], y[7]);
  return (even >> 2 & 0x07070707) | (odd << 2 & 0x70707070) |
         (evenSigns >> 4 & 0x08080808) | (oddSigns & 0x80808080);
}

// Moved

/// Of 2^16 y, 2^-6 y rounded to the grid of e2m1 and then moved away from 0 by
/// about a quarter of y or, below 1, of 1. That is less than a step of the
/// grid, and keeps the sign of what is rounded to 0. NaN remains NaN. |y| < 7.
///
/// Let b be 2^16 y, but at least 2^16. The unit of its last place is 2^-6 times
/// half the power of two at or below y, and so is the step of the grid there:
/// b - 2^-6 y is rounded to the grid, ties to even, and what it falls short of
/// b is y rounded. It may lie below a power of two, where the unit is finer:
/// then y is next to what rounds to that power and does so all the same. At 1,
/// where everything below is rounded, 2^-6 keeps it above. Subtracting a little
/// less, 1 - 2^-24 times it, moves the result.
GQ_DEV float gq_dev_e2m1_move(float y) {
  float b = gq_dev_max_magnitude(y, 0x1.000004p16f);
  float difference = gq_dev_fma(y, -0x1p-22f, b);
  return gq_dev_fma(difference, -(1.0f - 0x1p-24f), b);
}

/// 2^-6 is the smallest normal e4m3: up to 7.9 times that, denormals included,
/// its codes are those of e2m1 in bits 2 to 4, and more of the mantissa below.
/// This joins four even and four odd ones.
GQ_DEV uint32_t gq_dev_e2m1_join(uint32_t even, uint32_t odd) {
  even = gq_dev_select_bits(0x80808080, even, even << 2);
  odd = gq_dev_select_bits(0x80808080, odd, odd << 2);
  return gq_dev_select_bits(0xf0f0f0f0, odd, even >> 4);
}

/// Codes 0, 2, 1 and 3 of the first four, as e4m3.
GQ_DEV uint32_t gq_dev_e2m1x4_moved(const float y[4]) {
  return gq_dev_e4m3x4_from_f32(gq_dev_e2m1_move(y[0]), gq_dev_e2m1_move(y[2]),
                                gq_dev_e2m1_move(y[1]), gq_dev_e2m1_move(y[3]));
}

GQ_DEV uint32_t gq_dev_e2m1x8_moved(uint32_t first, const float y[4]) {
  uint32_t even = gq_dev_e4m3x4_after(first, gq_dev_e2m1_move(y[0]),
                                      gq_dev_e2m1_move(y[2]));
  uint32_t odd = gq_dev_e4m3x4_after(first >> 16, gq_dev_e2m1_move(y[1]),
                                     gq_dev_e2m1_move(y[3]));
  return gq_dev_e2m1_join(even, odd);
}

// Cut

/// Four elements as two pairs of f16, 0 and 2, 1 and 3. 2^-14 is the smallest
/// normal f16, so that from bit 9 on they have the magnitudes of the codes
/// below, denormals and all. Bit 8 says whether an element reaches the middle
/// to the next code: since it is cut off and not rounded, it does not reach
/// what it is below of.
GQ_DEV void gq_dev_e2m1x4_cut(const float y[4], uint32_t pairs[2]) {
  pairs[0] = gq_dev_f16x2_truncated(y[0], y[2]);
  pairs[1] = gq_dev_f16x2_truncated(y[1], y[3]);
}

/// Of four bytes, each a sign, three zeros, a code below and the bit of the
/// middle, which is rounded up: the code in the upper half. The factor is 8,
/// and what it is more changes the uppermost bit only, which is not used: so it
/// remains a product, for which there is more room than for shifts.
GQ_DEV uint32_t gq_dev_e2m1_raise_cut(uint32_t bytes) {
  return gq_dev_select_bits(0x80808080, bytes, bytes * 0x80000008 + 0x08080808);
}

/// The codes of two times four elements.
GQ_DEV uint32_t gq_dev_e2m1x8_cut(const uint32_t first[2],
                                  const uint32_t second[2]) {
  uint32_t even = gq_dev_permute(first[0], second[0], 0x7531);
  uint32_t odd = gq_dev_permute(first[1], second[1], 0x7531);
  return gq_dev_select_bits(0xf0f0f0f0, gq_dev_e2m1_raise_cut(odd),
                            gq_dev_e2m1_raise_cut(even) >> 4);
}

// Cut, spaced

/// The same of spaced elements, which may be middles. Units of the f16's last
/// place are taken from these and given back, such that those above an odd code
/// are reached again and the others are not:
///
///     middle, times 1, 2 or 4 from 5/4 on    1/4  3/4  5/4  7/4
///     taken by 1 - 2^-10 and by cutting off   1    1    2    2
///     given back by 1 + 2^-10, rounded        0    1    1    2
///
/// What is not a middle is farther from it.
GQ_DEV void gq_dev_e2m1x4_cut_spaced(const float y[4], uint32_t pairs[2]) {
  gq_dev_e2m1x4_cut(y, pairs);
  for (int i = 0; i < 2; ++i)
    pairs[i] = gq_dev_fma_f16x2(pairs[i], 0x14001400, pairs[i]); // 2^-10
}

/// Of any magnitude, and of NaN.
GQ_DEV uint32_t gq_dev_e2m1x8_cut_spaced(const float y[8]) {
  uint32_t pairs[4];
  gq_dev_e2m1x4_cut_spaced(y, pairs);
  gq_dev_e2m1x4_cut_spaced(y + 4, pairs + 2);
  for (int i = 0; i < 4; ++i)
    pairs[i] = gq_dev_min_magnitude_f16x2(pairs[i], 0x0e000e00); // 6
  return gq_dev_e2m1x8_cut(pairs, pairs + 2);
}

// Stochastic

/// Of a pair, halves whose upper bytes have the codes: the sign, three zeros,
/// the magnitude, and a rest. Bytes 0 and 2 of `bytes`, the
/// others being 0, are what gq_dev_e2m1_stochastic gets.
///
/// Times 2^-14 and rounded to zero, an f16 has the magnitude of the code below
/// from bit 9 on; a byte is as many times 1/256 of a step of the grid there,
/// two of its last places. What is lost of an element is less than that, and a
/// sum with what is lost reaches a code when that without does. But where the
/// reference rounds its sum up to a code, which below 1/4 it may, since that
/// has places beyond the sum's: there elements are rounded to those of the sum
/// first, to 2^-25, which times 2^-124 is the last place of a denormal.
GQ_DEV uint32_t gq_dev_e2m1_stochastic_pair(float low, float high,
                                            uint32_t bytes) {
  uint32_t halves = gq_dev_f16x2_truncated(low * 0x1p-124f * 0x1p110f,
                                           high * 0x1p-124f * 0x1p110f);
  return gq_dev_min_magnitude_f16x2(halves, 0x0e000e00) + bytes + bytes; // 6
}

/// Four codes as two such pairs, of elements 0 and 2 and of 1 and 3, with a
/// byte of `random` for each.
GQ_DEV void gq_dev_e2m1x4_stochastic(const float y[4], uint32_t random,
                                     uint32_t pairs[2]) {
  pairs[0] = gq_dev_e2m1_stochastic_pair(y[0], y[2],
                                         gq_dev_permute(random, 0, 0x4240));
  pairs[1] = gq_dev_e2m1_stochastic_pair(y[1], y[3],
                                         gq_dev_permute(random, 0, 0x4341));
}

/// Joins two of these.
GQ_DEV uint32_t gq_dev_e2m1x8_stochastic(const uint32_t first[2],
                                         const uint32_t second[2]) {
  uint32_t even = gq_dev_permute(first[0], second[0], 0x7531);
  uint32_t odd = gq_dev_permute(first[1], second[1], 0x7531);
  even = gq_dev_select_bits(0x08080808, even >> 4, even >> 1);
  odd = gq_dev_select_bits(0x80808080, odd, odd << 3);
  return gq_dev_select_bits(0xf0f0f0f0, odd, even);
}

// By way

/// In two steps: four codes, good for gq_dev_e2m1x8_after only.
GQ_DEV uint32_t gq_dev_e2m1x4(const float y[4]) {
#if __CUDA_ARCH__ >= 1000
  return gq_dev_e2m1x4_native(y);
#else
  return gq_dev_e2m1x4_moved(y);
#endif
}

/// These four and the other four.
GQ_DEV uint32_t gq_dev_e2m1x8_after(uint32_t first, const float y[4]) {
#if __CUDA_ARCH__ >= 1000
  return first | gq_dev_e2m1x4_native(y) << 16;
#else
  return gq_dev_e2m1x8_moved(first, y);
#endif
}

/// At once.
GQ_DEV uint32_t gq_dev_e2m1x8(gq_dev_e2m1_way way, const float y[8]) {
#if __CUDA_ARCH__ >= 1000
  (void)way;
  return gq_dev_e2m1x8_native(y);
#else
  return way == GQ_DEV_E2M1_CUT_SPACED ? gq_dev_e2m1x8_cut_spaced(y)
         : way == GQ_DEV_E2M1_ROUNDED
             ? gq_dev_e2m1x8_rounded(y)
             : gq_dev_e2m1x8_after(gq_dev_e2m1x4(y), y + 4);
#endif
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_CODECS_E2M1_H
