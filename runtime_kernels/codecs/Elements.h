//===- Elements.h - elements as lanes hold them ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the chip: two elements of 16 bits or one of 32 in a word. `type` is
// GQ_BF16, GQ_F16 or GQ_F32, a constant.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_ELEMENTS_H
#define GQ_KERNELS_CODECS_ELEMENTS_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/arch/Nvptx.h"

enum {
  /// Elements that are loaded at once: a block of nvfp4, half of one of the MX
  /// formats, an eighth of a row of one of blockwise fp8.
  GQ_DEV_UNIT = 16,
};

GQ_DEV uint32_t gq_dev_elements_per_word(gqElementType type) {
  return type == GQ_F32 ? 1 : 2;
}

/// Packs floats whose values are of `type`.
GQ_DEV uint32_t gq_dev_pack(gqElementType type, const float *x) {
  return type == GQ_BF16  ? gq_dev_pack_bf16(x[0], x[1])
         : type == GQ_F16 ? gq_dev_pack_f16(x[0], x[1])
                          : gq_dev_f32_bits(x[0]);
}

/// Two floats rounded to bf16 or f16, the first in the low half.
GQ_DEV uint32_t gq_dev_round_pair(gqElementType type, float low, float high) {
  return type == GQ_BF16 ? gq_dev_bf16x2_from_f32(low, high)
                         : gq_dev_f16x2_from_f32(low, high);
}

/// As gq_dev_pack, of any floats, which are rounded.
GQ_DEV uint32_t gq_dev_round_pack(gqElementType type, const float *x) {
  return type == GQ_F32 ? gq_dev_f32_bits(x[0])
                        : gq_dev_round_pair(type, x[0], x[1]);
}

GQ_DEV void gq_dev_unpack(gqElementType type, uint32_t word, float *x) {
  if (type == GQ_F32) {
    x[0] = gq_dev_f32_from_bits(word);
  } else if (type == GQ_BF16) {
    x[0] = gq_dev_f32_from_bits(word << 16);
    x[1] = gq_dev_f32_from_bits(word & 0xffff0000);
  } else {
    x[0] = gq_dev_f32_from_f16_native((uint16_t)word);
    x[1] = gq_dev_f32_from_f16_native((uint16_t)(word >> 16));
  }
}

/// The larger magnitudes of two words, place by place; signs are arbitrary, NaN
/// is dropped.
GQ_DEV uint32_t gq_dev_max_word(gqElementType type, uint32_t a, uint32_t b) {
  return type == GQ_BF16 ? gq_dev_max_magnitude_bf16x2(a, b)
         : type == GQ_F16
             ? gq_dev_max_magnitude_f16x2(a, b)
             : gq_dev_f32_bits(gq_dev_max_magnitude(gq_dev_f32_from_bits(a),
                                                    gq_dev_f32_from_bits(b)));
}

/// The same of elements of 16 bits, but NaN where one of them is, if it is not
/// `dropsNan`.
GQ_DEV uint32_t gq_dev_max_word_with(gqElementType type, bool dropsNan,
                                     uint32_t a, uint32_t b) {
  return dropsNan          ? gq_dev_max_word(type, a, b)
         : type == GQ_BF16 ? gq_dev_max_magnitude_or_nan_bf16x2(a, b)
                           : gq_dev_max_magnitude_or_nan_f16x2(a, b);
}

/// The same of the first `count` of 16 words, a power of two.
///
/// Here and elsewhere a loop always runs to its largest bound and skips what
/// does not exist, so that it is unrolled before its bound is known to be
/// constant.
GQ_DEV uint32_t gq_dev_max_words_with(gqElementType type, bool dropsNan,
                                      const uint32_t words[GQ_DEV_UNIT],
                                      uint32_t count) {
  uint32_t m[GQ_DEV_UNIT];
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    m[i] = words[i];
  for (uint32_t n = GQ_DEV_UNIT / 2; n; n /= 2)
    for (uint32_t i = 0; i < n; ++i)
      if (n < count)
        m[i] = gq_dev_max_word_with(type, dropsNan, m[i], m[i + n]);
  return m[0];
}

/// Without NaN.
GQ_DEV uint32_t gq_dev_max_words(gqElementType type,
                                 const uint32_t words[GQ_DEV_UNIT],
                                 uint32_t count) {
  return gq_dev_max_words_with(type, true, words, count);
}

/// Magnitudes of a word that may be NaN: NaN is 0. So is what is not there.
GQ_DEV void gq_dev_unpack_amax(gqElementType type, uint32_t word,
                               float amax[2]) {
  amax[1] = 0.0f;
  gq_dev_unpack(type, word, amax);
  for (int i = 0; i < 2; ++i)
    amax[i] = gq_dev_max_number(__builtin_fabsf(amax[i]), 0.0f);
}

/// The largest of a word.
GQ_DEV float gq_dev_amax_of_word(gqElementType type, uint32_t word) {
  float x[2] = {0.0f, 0.0f};
  gq_dev_unpack(type, word, x);
  return gq_dev_max_number(
      gq_dev_max_number(__builtin_fabsf(x[0]), __builtin_fabsf(x[1])), 0.0f);
}

#endif // GQ_KERNELS_CODECS_ELEMENTS_H
