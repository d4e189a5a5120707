//===- E8M0.h - the power-of-two scales of the MX formats --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f8E8M0FNU: code e stands for 2^(e - 127), 255 for NaN. There is no zero and
// no infinity.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_E8M0_H
#define GQ_KERNELS_CODECS_E8M0_H

#include "runtime_kernels/codecs/Float.h"

/// The code of x >= 0, rounded up to a power of two, so that what is divided by
/// it cannot overflow; infinity gives the largest, 254, and 0 the smallest. A
/// denormal up to 2^-127 rounds up to that, code 0, a greater one to 2^-126.
GQ_DEV uint8_t gq_dev_e8m0_from_f32(float x) {
  uint32_t bits = gq_dev_f32_bits(x) & 0x7fffffff;
  uint32_t exponent = bits >> 23, mantissa = bits & 0x7fffff;
  uint32_t exact = exponent == 0 ? 0x400000 : 0;
  uint32_t code = exponent + (mantissa > exact);
  return (uint8_t)(x != x ? 255 : code > 254 ? 254 : code);
}

/// The value of a code, exact; NaN for 255.
GQ_DEV float gq_dev_f32_from_e8m0(uint8_t code) {
  uint32_t bits = code == 0     ? 0x400000
                  : code == 255 ? 0x7fc00000
                                : (uint32_t)code << 23;
  return gq_dev_f32_from_bits(bits);
}

/// 1 / the value of a code, exact; NaN for 255.
GQ_DEV float gq_dev_f32_from_e8m0_inverse(uint8_t code) {
  return gq_dev_f32_from_e8m0(code == 255 ? 255 : (uint8_t)(254 - code));
}

#endif // GQ_KERNELS_CODECS_E8M0_H
