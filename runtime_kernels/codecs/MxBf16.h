//===- MxBf16.h - MX elements as bf16, exactly -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What matrix units multiply on chips that have no MX formats: an e2m1, e4m3 or
// e5m2 code times its block's e8m0 scale. A bf16 has the exponents of float32
// and more significant bits than any code, so it is exact, NaN included, from
// 2^-133 on, bf16's smallest denormal, to below 2^128: what is beyond becomes
// infinite, and smaller bits are lost. f16 has not enough exponents.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_MXBF16_H
#define GQ_KERNELS_CODECS_MXBF16_H

#include "runtime_kernels/codecs/Halves.h"

/// The e8m0 code as bf16, in both halves: the bits of the exponent, but 0
/// is a denormal, and 255, which would be infinite, is NaN: infinity times 0.
GQ_DEV uint32_t gq_dev_mx_bf16_scale(uint32_t code) {
  const uint32_t least = 0x00400040; // 2^-127
  uint32_t scale = code * 0x00800080;
  scale = scale > least ? scale : least;
  return gq_dev_fma_bf16x2(scale, 0, scale);
}

/// Two f16 that bf16 has, as bf16.
GQ_DEV uint32_t gq_dev_bf16x2_from_f16x2(uint32_t halves) {
  return gq_dev_bf16x2_from_f32(
      gq_dev_f32_from_f16_native((uint16_t)halves),
      gq_dev_f32_from_f16_native((uint16_t)(halves >> 16)));
}

/// Codes 0 to 7 times a scale in both halves: of 4 bits in `low`, of 8 in
/// both. In the order (0, 4), (1, 5), (2, 6), (3, 7), which is that of codes
/// of 4 bits, or, those of 8, in their own if not `spread`.
///
/// As bits of a bf16 of exponent bias 127, a code of 4 bits and bias 1 is
/// itself times 2^-126. That times the scale needs two products, since what
/// both factors make together can be beyond bf16.
GQ_DEV void gq_dev_mx_bf16x8(gqElementType type, bool spread, uint32_t low,
                             uint32_t high, uint32_t scale, uint32_t out[4]) {
  if (type == GQ_I8) {
    const uint32_t unit = 0x7e807e80; // 2^126
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t sign = low << (12 - 4 * i) & 0x80008000;
      uint32_t rest = i < 2 ? low << (6 - 4 * i) : low >> (4 * i - 6);
      out[i] = gq_dev_multiply_bf16x2(
          gq_dev_multiply_bf16x2(sign | (rest & 0x01c001c0), unit), scale);
    }
    return;
  }
  const uint32_t words[2] = {spread ? gq_dev_permute(low, high, 0x5140) : low,
                             spread ? gq_dev_permute(low, high, 0x7362) : high};
  for (uint32_t i = 0; i < 4; ++i)
    out[i] =
        gq_dev_multiply_bf16x2(gq_dev_bf16x2_from_f16x2(gq_dev_f16x2_from_fp8(
                                   type, words[i / 2], i % 2)),
                               scale);
}

#endif // GQ_KERNELS_CODECS_MXBF16_H
