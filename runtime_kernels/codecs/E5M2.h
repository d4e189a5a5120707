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
#include "runtime_kernels/codecs/F8.h"

/// The code of x, rounded to nearest even and saturated to +-57344, inf
/// included; NaN gives 0x7f, whatever its sign.
GQ_DEV uint8_t gq_dev_e5m2_from_f32(float x) {
  return gq_dev_f8_from_f32(x, /*mantissaBits=*/2, /*bias=*/15, GQ_E5M2_MAX);
}

/// The value of a code, exact.
GQ_DEV float gq_dev_f32_from_e5m2(uint8_t code) {
  return gq_dev_f32_from_f16((uint16_t)(code << 8));
}

#endif // GQ_KERNELS_CODECS_E5M2_H
