//===- E5M2.h - an 8-bit code of elements ------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f8E5M2: a sign, five exponent bits of bias 15, two mantissa bits: the upper
// half of an f16. The largest finite magnitude is 57344 (0x7b); 0x7c is inf,
// what lies above is NaN.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_E5M2_H
#define GQ_KERNELS_CODECS_E5M2_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/Float.h"

/// The code of x, rounded to nearest even and saturated to +-57344, inf
/// included; NaN gives 0x7f, whatever its sign. As e4m3, but the unit of the
/// last place of denormals is 2^-16, that of a float32 in [2^7, 2^8).
GQ_DEV uint8_t gq_dev_e5m2_from_f32(float x) {
  uint32_t bits = gq_dev_f32_bits(x);
  uint32_t sign = bits >> 24 & 0x80;
  float c = gq_dev_min(gq_dev_f32_from_bits(bits & 0x7fffffff), GQ_E5M2_MAX);
  uint32_t magnitude = gq_dev_f32_bits(c);
  uint32_t normal =
      (magnitude - (112u << 23) + 0xfffff + (magnitude >> 21 & 1)) >> 21;
  uint32_t denormal = gq_dev_f32_bits(c + 0x1p7f) - gq_dev_f32_bits(0x1p7f);
  uint32_t code = sign | (c < 0x1p-14f ? denormal : normal);
  return (uint8_t)(x == x ? code : 0x7f);
}

/// The value of a code, exact.
GQ_DEV float gq_dev_f32_from_e5m2(uint8_t code) {
  return gq_dev_f32_from_f16((uint16_t)(code << 8));
}

#endif // GQ_KERNELS_CODECS_E5M2_H
