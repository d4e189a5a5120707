//===- E4M3.h - an 8-bit code of elements and scales -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f8E4M3FN: a sign, four exponent bits of bias 7, three mantissa bits. The
// largest magnitude is 448 (0x7e); 0x7f and 0xff are NaN; there is no inf.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_E4M3_H
#define GQ_KERNELS_CODECS_E4M3_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/F8.h"

/// The code of x, rounded to nearest even and saturated to +-448; NaN gives
/// 0x7f, whatever its sign, which is that of no number.
GQ_DEV uint8_t gq_dev_e4m3_from_f32(float x) {
  return gq_dev_f8_from_f32(x, /*mantissaBits=*/3, /*bias=*/7, GQ_E4M3_MAX);
}

/// The value of a code, exact.
GQ_DEV float gq_dev_f32_from_e4m3(uint8_t code) {
  uint32_t sign = (uint32_t)(code & 0x80) << 24;
  uint32_t magnitude = (uint32_t)(code & 0x7f) << 20;
  uint32_t normal = magnitude + (120u << 23);
  uint32_t denormal =
      gq_dev_f32_bits(gq_dev_f32_from_bits(magnitude + (121u << 23)) - 0x1p-6f);
  uint32_t finite = magnitude < (1u << 23) ? denormal : normal;
  uint32_t nan = 0x7fc00000;
  return gq_dev_f32_from_bits(sign | ((code & 0x7f) == 0x7f ? nan : finite));
}

//===----------------------------------------------------------------------===//
// On the chip
//===----------------------------------------------------------------------===//

#ifdef GQ_DEV_CHIP

#include "runtime_kernels/arch/Nvptx.h"

// Codes come from gq_dev_e4m3x4_from_f32 and its like, which take any element.

/// The code of x, in the low byte of zeros.
GQ_DEV uint32_t gq_dev_e4m3_native(float x) {
  return gq_dev_e4m3x2_from_f32(x, 0.0f);
}

/// The value of a code that is no NaN.
GQ_DEV float gq_dev_f32_from_e4m3_native(uint32_t code) {
  return gq_dev_f32_from_f16_native((uint16_t)gq_dev_f16x2_from_e4m3x2(code));
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_CODECS_E4M3_H
