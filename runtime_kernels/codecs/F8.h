//===- F8.h - rounding to 8 bits ----------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What e4m3 and e5m2 have in common.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_F8_H
#define GQ_KERNELS_CODECS_F8_H

#include "runtime_kernels/codecs/Float.h"

/// The 8-bit code of x, of so many mantissa bits and this exponent bias,
/// rounded to nearest even and saturated to +-max, inf included; NaN gives
/// 0x7f, whatever its sign. Normal codes round in the bits, as bf16 does. Below
/// 2^(1 - bias) the unit of the last place is that of the smallest code,
/// whatever the exponent. It is also the unit of float32 beside `magic`, so
/// adding that rounds there and leaves the code in the low bits.
GQ_DEV uint8_t gq_dev_f8_from_f32(float x, uint32_t mantissaBits, uint32_t bias,
                                  float max) {
  const uint32_t shift = 23 - mantissaBits;
  const float smallest = gq_dev_f32_from_bits((127 + 1 - bias) << 23);
  const float magic =
      gq_dev_f32_from_bits((127 + 24 - mantissaBits - bias) << 23);
  uint32_t bits = gq_dev_f32_bits(x);
  uint32_t sign = bits >> 24 & 0x80;
  float c = gq_dev_min(gq_dev_f32_from_bits(bits & 0x7fffffff), max);
  uint32_t magnitude = gq_dev_f32_bits(c);
  uint32_t normal = (magnitude - ((127 - bias) << 23) +
                     ((1u << (shift - 1)) - 1) + (magnitude >> shift & 1)) >>
                    shift;
  uint32_t denormal = gq_dev_f32_bits(c + magic) - gq_dev_f32_bits(magic);
  uint32_t code = sign | (c < smallest ? denormal : normal);
  return (uint8_t)(x == x ? code : 0x7f);
}

#endif // GQ_KERNELS_CODECS_F8_H
