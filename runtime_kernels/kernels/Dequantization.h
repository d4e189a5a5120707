//===- Dequantization.h - codes to numbers ------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of the kernel of dequantization, and what it does with the codes
// and scales of a lane, wherever these come from.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_DEQUANTIZATION_H
#define GQ_KERNELS_KERNELS_DEQUANTIZATION_H

#include "runtime_kernels/kernels/Kernels.h"

#include "runtime_kernels/arch/Division.h"
#include "runtime_kernels/codecs/Halves.h"
#include "runtime_kernels/scalers/Dequantize.h"

enum {
  /// The most elements of a lane in a row.
  LANE_ELEMENTS = 8,
  /// Rows of a lane at a time, of blocks along rows those that share 16 bytes
  /// of a tile of scales.
  UNROLL = 4,
};

/// The operands, and what follows from them.
typedef struct Dequantization {
  GQ_DEV_FIELDS(GQ_DEQUANTIZE_TILES_OPERANDS)
  gqFormatTraits traits;
  gq_dev_dequantizer dequantizer;
  bool columnwise, tiled, transposed;
  /// Whether its address and stride are multiples of 16.
  bool outAligned;
} Dequantization;

GQ_DEV uint32_t outSize(const Dequantization *q) {
  return (uint32_t)gqElementTypeSize(q->outType);
}

/// Elements of a lane in a row: 16 bytes of the output.
GQ_DEV uint32_t elementsOf(const Dequantization *q) { return 16 / outSize(q); }

GQ_DEV uint32_t bitsOf(const Dequantization *q) {
  return q->dataType == GQ_I8 ? 4 : 8;
}

/// Bytes of their codes: 2, 4 or 8.
GQ_DEV uint32_t codeBytesOf(const Dequantization *q) {
  return elementsOf(q) * bitsOf(q) / 8;
}

//===----------------------------------------------------------------------===//
// Codes and scales
//===----------------------------------------------------------------------===//

/// The codes of a lane in a row; those of 4 bits fill at most a word.
typedef struct LaneCodes {
  uint32_t words[2];
} LaneCodes;

/// What codes of a block are multiplied by. Where that is divided by the outer
/// scale g, the quotients of d and of 1.5 d, from which those of all codes of
/// e2m1 follow: they are powers of two of them.
typedef struct Factor {
  float one, oneAndHalf;
  /// Of the scale, a byte or a float.
  uint32_t bits;
} Factor;

/// Those of a lane's elements.
typedef struct Factors {
  /// One for all of them, or one for each.
  Factor of[LANE_ELEMENTS];
  bool shared;
  /// Whether some quotients could be denormal or overflow.
  bool rare;
} Factors;

/// From what the scale stands for; a code's own if it is divided.
GQ_DEV float factorWithout(const Dequantization *q, uint32_t bits,
                           float outer) {
  return gq_dev_dequantize_factor(
      q->dequantizer, gq_dev_f32_from_scale_bits(q->traits.scaleRule, bits),
      outer);
}

GQ_DEV void setFactor(const Dequantization *q, uint32_t bits, float outer,
                      Factors *factors, uint32_t i) {
  Factor f = {.one = factorWithout(q, bits, outer), .bits = bits};
  if (gq_dev_dequantize_divides(q->dequantizer)) {
    double quotient = gq_dev_quotient64(f.one, outer);
    f.one = (float)quotient;
    f.oneAndHalf = (float)(quotient * 1.5);
    float magnitude = __builtin_fabsf(f.one);
    factors->rare |=
        f.one != 0.0f && !(magnitude > 0x1p-120f && magnitude < 0x1p120f);
  }
  factors->of[i] = f;
}

/// What a code stands for, given its value without the scale.
GQ_DEV float dequantized(const Dequantization *q, float value, Factor f) {
  if (!gq_dev_dequantize_divides(q->dequantizer))
    return value * f.one;
  uint32_t bits = gq_dev_f32_bits(value);
  return gq_dev_f32_from_bits(bits & 0xff800000) *
         (bits & 0x00400000 ? f.oneAndHalf : f.one);
}

/// The same of any quotient, in float64: see Division.h.
GQ_DEV float dequantizedRare(const Dequantization *q, float value,
                             uint32_t bits, float outer) {
  double quotient = gq_dev_quotient64(factorWithout(q, bits, outer), outer);
  float x = (float)((double)value * quotient);
  // The NaN of a float64 would differ from the chip's float32 NaN.
  return x == x ? x : gq_dev_f32_from_bits(0x7fffffff);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// What a lane's codes of a row stand for, `outer` being what they are divided
/// by, if anything.
GQ_DEV void numbersOf(const Dequantization *q, LaneCodes codes,
                      const Factors *factors, float outer,
                      float x[LANE_ELEMENTS]) {
  float values[LANE_ELEMENTS];
  gq_dev_f32_from_codes(q->dataType, codes.words, elementsOf(q), values);
  bool rare = gq_dev_dequantize_divides(q->dequantizer) && factors->rare;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q))
      x[i] = dequantized(q, values[i], factors->of[factors->shared ? 0 : i]);
  if (__builtin_expect(rare, 0)) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
      if (i < elementsOf(q))
        x[i] = dequantizedRare(
            q, values[i], factors->of[factors->shared ? 0 : i].bits, outer);
  }
}

GQ_DEV void storeElement(const Dequantization *q, uint8_t GQ_GLOBAL *p,
                         const uint32_t words[4], uint32_t i) {
  if (outSize(q) == 4)
    ((uint32_t GQ_GLOBAL *)p)[i] = words[i % 4];
  else
    ((uint16_t GQ_GLOBAL *)p)[i] = (uint16_t)(words[i / 2] >> i % 2 * 16);
}

/// Element `i` of `words`.
GQ_DEV uint32_t bitsOfElement(gqElementType type, const uint32_t *words,
                              uint32_t i) {
  return type == GQ_F32 ? words[i] : words[i / 2] >> i % 2 * 16 & 0xffff;
}

/// The 16 bytes that a lane stores of its elements of a row.
GQ_DEV void wordsOfRow(const Dequantization *q, const float x[LANE_ELEMENTS],
                       uint32_t words[4]) {
  uint32_t values[LANE_ELEMENTS];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i)
    words[i] = 0;
  uint32_t perWord = q->valueType == GQ_F32 ? 1 : 2;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q) / perWord)
      (q->epilogue ? values : words)[i] =
          gq_dev_round_pack(q->valueType, x + i * perWord);
  if (!q->epilogue)
    return;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q)) {
      uint32_t y = q->epilogue(bitsOfElement(q->valueType, values, i), 0);
      words[outSize(q) == 4 ? i % 4 : i / 2] |=
          outSize(q) == 4 ? y : y << i % 2 * 16;
    }
}

/// Stores a lane's `count` elements, 16 bytes at once if they are `aligned`.
GQ_DEV void storeWords(const Dequantization *q, uint8_t GQ_GLOBAL *p,
                       const uint32_t words[4], uint32_t count, bool aligned) {
  if (aligned && (q->format != GQ_FORMAT_NONE || count == elementsOf(q))) {
    gq_dev_store16_streaming(
        p, (gq_dev_u32x4){words[0], words[1], words[2], words[3]});
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q) && (q->format != GQ_FORMAT_NONE || i < count))
      storeElement(q, p, words, i);
}

#endif // GQ_KERNELS_KERNELS_DEQUANTIZATION_H
