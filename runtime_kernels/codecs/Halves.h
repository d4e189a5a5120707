//===- Halves.h - codes of 4 and 8 bits as f16, exactly ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the chip: f16 has all of them.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_HALVES_H
#define GQ_KERNELS_CODECS_HALVES_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/Nvfp4Half.h"

enum {
  /// The scale with which gq_dev_nvfp4_half8 gives the codes themselves: 2^14.
  GQ_DEV_E2M1_HALF_UNIT = 0x74007400,
};

/// Two codes of 8 bits in either half of x; `type` is f8E4M3FN or f8E5M2.
GQ_DEV uint32_t gq_dev_f16x2_from_fp8(gqElementType type, uint32_t x,
                                      bool high) {
  return type == GQ_F8E4M3FN ? gq_dev_f16x2_from_e4m3x2(high ? x >> 16 : x)
                             : gq_dev_permute(x, 0, high ? 0x3424 : 0x1404);
}

/// What the first `count`, 4 or 8, codes stand for; those of 4 bits, GQ_I8, are
/// in one word.
GQ_DEV void gq_dev_f32_from_codes(gqElementType type, const uint32_t words[2],
                                  uint32_t count, float x[8]) {
  uint32_t halves[4];
  if (type == GQ_I8) {
    // In the order (0, 2), (4, 6), (1, 3), (5, 7).
    gq_dev_nvfp4_half8(words[0], GQ_DEV_E2M1_HALF_UNIT, halves);
    for (uint32_t i = 0; i < 8; ++i)
      if (i < count)
        x[i] = gq_dev_f32_from_f16_native(
            (uint16_t)(halves[i % 2 * 2 + i / 4] >> i / 2 % 2 * 16));
    return;
  }
  for (uint32_t i = 0; i < 4; ++i)
    if (2 * i < count) {
      halves[i] = gq_dev_f16x2_from_fp8(type, words[i / 2], i % 2);
      x[2 * i] = gq_dev_f32_from_f16_native((uint16_t)halves[i]);
      x[2 * i + 1] = gq_dev_f32_from_f16_native((uint16_t)(halves[i] >> 16));
    }
}

//===----------------------------------------------------------------------===//
// Transpositions
//===----------------------------------------------------------------------===//

/// Words 0 to 3 of four lines of four codes of 8 bits, of one place of all
/// lines afterwards.
GQ_DEV void gq_dev_transpose_codes8(uint32_t w[4]) {
  for (uint32_t i = 0; i < 4; i += 2) {
    uint32_t a = w[i], b = w[i + 1];
    w[i] = gq_dev_permute(a, b, 0x6240);
    w[i + 1] = gq_dev_permute(a, b, 0x7351);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t a = w[i], b = w[i + 2];
    w[i] = gq_dev_permute(a, b, 0x5410);
    w[i + 2] = gq_dev_permute(a, b, 0x7632);
  }
}

/// The same of eight lines of eight codes of 4 bits.
GQ_DEV void gq_dev_transpose_codes4(uint32_t w[8]) {
  for (uint32_t i = 0; i < 8; i += 2) {
    uint32_t a = w[i], b = w[i + 1];
    w[i] = gq_dev_select_bits(0x0f0f0f0f, a, b << 4);
    w[i + 1] = gq_dev_select_bits(0x0f0f0f0f, a >> 4, b);
  }
  for (uint32_t i = 0; i < 8; ++i)
    if (!(i & 2)) {
      uint32_t a = w[i], b = w[i + 2];
      w[i] = gq_dev_permute(a, b, 0x6240);
      w[i + 2] = gq_dev_permute(a, b, 0x7351);
    }
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t a = w[i], b = w[i + 4];
    w[i] = gq_dev_permute(a, b, 0x5410);
    w[i + 4] = gq_dev_permute(a, b, 0x7632);
  }
}

#endif // GQ_KERNELS_CODECS_HALVES_H
