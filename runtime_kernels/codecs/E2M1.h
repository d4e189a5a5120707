//===- E2M1.h - the 4-bit element code ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sign, two exponent bits and one mantissa bit: the magnitudes 0, 0.5, 1,
// 1.5, 2, 3, 4 and 6. There is no inf and no NaN. Two codes share a byte, the
// element of even index in the low nibble.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_E2M1_H
#define GQ_KERNELS_CODECS_E2M1_H

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
  float c = gq_dev_min(gq_dev_f32_from_bits(bits & 0x7fffffff), 6.0f);
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

/// The value of the code in the low four bits. The constant holds the doubled
/// magnitudes, one a nibble.
GQ_DEV float gq_dev_f32_from_e2m1(uint32_t code) {
  float magnitude = (float)(0xc8643210u >> (code & 7) * 4 & 15) * 0.5f;
  uint32_t sign = (code & 8) << 28;
  return gq_dev_f32_from_bits(gq_dev_f32_bits(magnitude) | sign);
}

#endif // GQ_KERNELS_CODECS_E2M1_H
