//===- Lines.h - rows of bf16 to codes, without a tile -----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of bf16 that are rounded to nearest are read where they are, a unit of
// 256 elements at a time, and what they become is stored from registers. The
// numbers of 16 of them are next to each other: 32 bits of two elements, of
// even index in the lower half, are two float32 after a shift and a mask.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_LINES_H
#define GQ_LIB_RUNTIME_CPU_LINES_H

#include "Codes.h"
#include "Elements.h"
#include "Method.h"

#include "lib/Runtime/CpuQuantize.h"

enum {
  /// Elements of a unit, and of a part, which a block has one or more of.
  UNIT = 256,
  PART = 16,
  PARTS = UNIT / PART,
};

/// A part of a matrix, of whole blocks.
typedef struct Lines {
  const gqCpuQuantization *q;
  int64_t row, rows, column, columns;
} Lines;

#ifdef __AVX2__
#include "Simd.h"

/// Infinity, as bf16 and as float32: bits of magnitudes from there on are no
/// numbers.
#define GQ_BF16_INF 0x7f80
#define GQ_F32_INF 0x7f800000

//===----------------------------------------------------------------------===//
// Largest magnitudes
//===----------------------------------------------------------------------===//

/// The bits of the largest magnitude of each part, NaN being larger than inf.
GQ_DEV void partAmaxes(const uint16_t *x, uint16_t amax[PARTS]) {
  Vector magnitudes[UNIT * 2 / VECTOR];
  for (int i = 0; i < UNIT * 2 / VECTOR; ++i)
    magnitudes[i] =
        (Vector)((Uint32s)loadVector(x + i * VECTOR / 2) & 0x7fff7fff);
#ifdef __AVX512F__
  // Halves of even parts, then halves of odd ones.
  Vector halves = largestOfEight(magnitudes);
  Vector all = _mm512_max_epu16(
      halves, _mm512_shuffle_i64x2(halves, halves, _MM_SHUFFLE(2, 3, 0, 1)));
  __m128i even = _mm512_castsi512_si128(all);
  __m128i odd = _mm512_extracti32x4_epi32(all, 2);
  __m128i first = _mm_unpacklo_epi16(even, odd);
  __m128i second = _mm_unpackhi_epi16(even, odd);
  memcpy(amax, &first, sizeof(first));
  memcpy(amax + PARTS / 2, &second, sizeof(second));
#else
  // First halves of parts, then second halves.
  Vector a = largestOfEight(magnitudes), b = largestOfEight(magnitudes + 8);
  storeVector(_mm256_max_epu16(_mm256_permute2x128_si256(a, b, 0x20),
                               _mm256_permute2x128_si256(a, b, 0x31)),
              amax);
#endif
}

/// The largest magnitude of each block for each of its parts; the result is
/// whether all are finite.
GQ_DEV bool blockAmaxes(const Method *m, const uint16_t *x, float amax[PARTS]) {
  const int64_t width = m->traits.blockColumns / PART;
  uint16_t bits[PARTS], special = 0;
  partAmaxes(x, bits);
  for (int i = 0; i < PARTS; ++i) {
    special |= bits[i] >= GQ_BF16_INF;
    amax[i] = gq_dev_f32_from_bf16(bits[i]);
  }
  if (__builtin_expect(special, 0))
    for (int i = 0; i < PARTS; ++i) {
      float numbers[PART];
      loadRow(x + i * PART, GQ_BF16, PART, numbers);
      amax[i] = gq_dev_f32_amax(numbers, PART);
    }
  for (int64_t step = 1; step < width; step *= 2) {
    float other[PARTS];
    for (int64_t i = 0; i < PARTS; ++i)
      other[i] = amax[i ^ step];
    for (int64_t i = 0; i < PARTS; ++i)
      amax[i] = gq_dev_max(amax[i], other[i]);
  }
  return !special;
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// The codes of y >= 0, which may be infinite, in the lowest byte of each lane.
///
/// Let p be the power of two at or below y or, if that is more, the smallest
/// one that has a normal code. The step of the grid there is the unit of the
/// last place beside a float32 larger by as many powers as the mantissas differ
/// in. Adding that rounds, ties to even, and the low bits of the sum are how
/// many steps y is: for a code, 2^mantissa more with each power. The constant
/// is such that the smallest normal code comes out right.
GQ_DEV Vector roundToCodes(gqCode code, Floats y) {
  const int32_t mantissa = code == GQ_CODE_E2M1   ? 1
                           : code == GQ_CODE_E4M3 ? 3
                                                  : 2;
  const int32_t bias = code == GQ_CODE_E2M1 ? 1 : code == GQ_CODE_E4M3 ? 7 : 15;
  const float max = code == GQ_CODE_E2M1   ? GQ_E2M1_MAX
                    : code == GQ_CODE_E4M3 ? GQ_E4M3_MAX
                                           : GQ_E5M2_MAX;
  const int32_t shift = 23 - mantissa;
  const int32_t first = -((128 - bias) << mantissa) & 0xff;
  Int32s c = __builtin_elementwise_min(
      (Int32s)y, (Int32s){} + (int32_t)gq_dev_f32_bits(max));
  Int32s p = __builtin_elementwise_max(c, (Int32s){} + ((128 - bias) << 23)) &
             GQ_F32_INF;
  Int32s magic = p + (shift << 23 | 1 << 22 | first);
  Int32s sum = (Int32s)((Floats)magic + (Floats)c);
  return (Vector)(sum + (p >> shift));
}

/// The factors of lanes of vector `i` of elements.
GQ_DEV Floats factorsOf(const float factors[PARTS], int i) {
#ifdef __AVX512F__
  return (Floats)_mm512_mask_broadcastss_ps(
      _mm512_broadcastss_ps(_mm_load_ss(factors + 2 * i)), 0xff00,
      _mm_load_ss(factors + 2 * i + 1));
#else
  return (Floats)_mm256_broadcast_ss(factors + i);
#endif
}

/// The codes of vector `i` of a unit, one in each 16 bits, without a sign and
/// with any bits above.
GQ_DEV Vector encodeMagnitudes(gqCode code, Vector elements, Floats factor) {
  Uint32s magnitudes = (Uint32s)elements & 0x7fff7fff;
  Vector even = roundToCodes(code, (Floats)(magnitudes << 16) * factor);
  Vector odd = roundToCodes(code, (Floats)(magnitudes & 0xffff0000) * factor);
  return selectBits(0xffff, even, (Vector)((Uint32s)odd << 16));
}

/// With signs, and zeros above.
GQ_DEV Vector encodeVector(gqCode code, const uint16_t *x,
                           const float factors[PARTS], int i) {
  Vector elements = loadVector(x + i * VECTOR / 2);
  Vector codes = encodeMagnitudes(code, elements, factorsOf(factors, i));
  return code == GQ_CODE_E2M1
             ? selectBits(0x00070007, codes, (Vector)((Uint16s)elements >> 12))
             : selectBits(0x007f007f, codes, (Vector)((Uint16s)elements >> 8));
}

/// The codes of a unit of numbers.
GQ_DEV void encodeUnit(gqCode code, const uint16_t *x,
                       const float factors[PARTS], uint8_t *to) {
  const int vectors = UNIT * 2 / VECTOR;
  if (code != GQ_CODE_E2M1) {
    for (int i = 0; i < vectors; i += 2)
      storeVector(packBytes(encodeVector(code, x, factors, i),
                            encodeVector(code, x, factors, i + 1)),
                  to + i * VECTOR / 2);
    return;
  }
  for (int i = 0; i < vectors; i += 4) {
    // Bytes of vectors in turn, in the lower half of each lane.
    Uint32s pairs[2];
    for (int j = 0; j < 2; ++j) {
      Uint32s a = (Uint32s)encodeVector(code, x, factors, i + 2 * j);
      Uint32s b = (Uint32s)encodeVector(code, x, factors, i + 2 * j + 1);
      Uint32s both = a | b << 8;
      pairs[j] = both | both >> 12;
    }
    storeVector(gatherBytes(selectBits(0xffff, (Vector)pairs[0],
                                       (Vector)(pairs[1] << 16))),
                to + i * VECTOR / 4);
  }
}

/// The same by the formula, for anything.
static void encodeAnything(gqFormat format, const uint16_t *x,
                           const float factors[PARTS], uint8_t *to) {
  uint8_t codes[UNIT];
  for (int i = 0; i < UNIT; ++i)
    codes[i] = gq_dev_code_from_f32(format, gq_dev_f32_from_bf16(x[i]) *
                                                factors[i / PART]);
  if (gqFormatGetTraits(format).dataBits == 4)
    packPairs(codes, UNIT / 2, to);
  else
    memcpy(to, codes, UNIT);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// Stores the scales of `count` blocks, of which one has `width` entries of
/// `bits`, from (row, column) on.
GQ_DEV void storeLineScales(gqScaleLayout layout, gqFormatTraits traits,
                            const gqCpuDirection *direction, int64_t row,
                            int64_t column, int64_t count,
                            const uint32_t bits[PARTS]) {
  const int64_t width = traits.blockColumns / PART;
  if (traits.scaleType == GQ_F32) {
    float *to =
        (float *)direction->scales + row * direction->scaleStride + column;
    for (int64_t i = 0; i < count; ++i)
      to[i] = gq_dev_f32_from_bits(bits[i * width]);
    return;
  }
  uint8_t bytes[PARTS] = {0};
  for (int64_t i = 0; i < PARTS / width; ++i)
    bytes[i] = i < count ? (uint8_t)bits[i * width] : 0;
  if (layout == GQ_SCALE_LAYOUT_LINEAR) {
    memcpy(direction->scales + row * direction->scaleStride + column, bytes,
           (size_t)count);
    return;
  }
  for (int64_t i = 0; i < count; i += GQ_DEV_TILE_COLUMNS)
    memcpy(direction->scales +
               gq_dev_tile128x4_offset(row, column + i, direction->scaleStride),
           bytes + i, GQ_DEV_TILE_COLUMNS);
}

/// Quantizes a unit; `amax` is raised to its largest magnitude.
GQ_DEV void quantizeUnit(const Method *m, const uint16_t *x, float outer,
                         uint8_t *codes, uint32_t bits[PARTS], float *amax) {
  float amaxes[PARTS], factors[PARTS];
  bool finite = blockAmaxes(m, x, amaxes);
  uint32_t special = !finite;
  for (int i = 0; i < PARTS; ++i) {
    gq_dev_block_scale scale =
        gq_dev_block_scale_from_amax(m->format, m->recipe, amaxes[i], outer);
    bits[i] = scale.bits;
    factors[i] = scale.factor;
    // Negative ones too.
    special |= gq_dev_f32_bits(scale.factor) >= GQ_F32_INF;
  }
  *amax = gq_dev_max(gq_dev_f32_amax(amaxes, PARTS), *amax);
  if (__builtin_expect(special, 0))
    encodeAnything(m->format, x, factors, codes);
  else
    encodeUnit(m->traits.code, x, factors, codes);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Whether the rows of a matrix can be quantized as lines.
static bool hasLines(const gqCpuQuantization *q) {
  const gqDirectionTraits *how = &q->rowwise.how.traits;
  return q->rowwise.data && gqBufferIsAbsent(&q->rowwise.numbers) &&
         q->input.type == GQ_BF16 &&
         gqFormatGetTraits(q->method.format).blockRows == 1 &&
         how->rounding == GQ_ROUNDING_NEAREST &&
         how->transform == GQ_TRANSFORM_NONE &&
         how->fourOverSix == GQ_FOUR_OVER_SIX_NONE &&
         !gqDirectionHasSquares(how);
}

/// Where row `row` of the matrix begins in the input.
GQ_DEV const uint16_t *lineOf(const gqCpuQuantization *q, int64_t row) {
  if (!gqBufferIsAbsent(&q->rowIndices))
    row = gq_dev_load_index(q->rowIndices.data, q->rowIndices.type == GQ_I64,
                            row);
  return gqCpuRow(&q->input, row);
}

/// Format and recipe are constants in the caller.
GQ_DEV float quantizeLinesAs(gqFormat format, gqRecipe recipe, Lines l) {
  const gqCpuQuantization *q = l.q;
  const gqCpuDirection *d = &q->rowwise;
  const Method m = {format, recipe, gqFormatGetTraits(format), &d->how};
  const int64_t bits = m.traits.dataBits, block = m.traits.blockColumns;
  float amax = 0.0f;
  for (int64_t row = l.row; row < l.row + l.rows; ++row) {
    const uint16_t *x = lineOf(q, row) + l.column;
    const uint16_t *next =
        row + 1 < l.row + l.rows ? lineOf(q, row + 1) + l.column : x;
    uint8_t *to = d->data + row * d->stride + l.column * bits / 8;
    float outer = d->how.outerAmaxes
                      ? gq_dev_nvfp4_te_outer(d->how.outerAmaxes[row])
                      : d->how.outer;
    for (int64_t c = 0; c < l.columns; c += UNIT) {
      int64_t count = gqCpuLeast(l.columns - c, UNIT);
      uint32_t scales[PARTS];
      if (count == UNIT) {
        for (int64_t i = 0; i < UNIT; i += CACHE_LINE / 2)
          __builtin_prefetch(next + c + i, 0, 2);
        quantizeUnit(&m, x + c, outer, to + c * bits / 8, scales, &amax);
      } else {
        uint16_t rest[UNIT] = {0};
        uint8_t codes[UNIT];
        memcpy(rest, x + c, (size_t)count * sizeof(*x));
        quantizeUnit(&m, rest, outer, codes, scales, &amax);
        memcpy(to + c * bits / 8, codes, (size_t)(count * bits / 8));
      }
      if (d->scales)
        storeLineScales(q->method.scaleLayout, m.traits, d, row,
                        (l.column + c) / block, count / block, scales);
    }
  }
  return amax;
}

/// Zeros the scales of the rows after these that are in the same tiles.
static void padLineScales(Lines l) {
  const gqCpuDirection *d = &l.q->rowwise;
  int64_t block = gqFormatGetTraits(l.q->method.format).blockColumns;
  int64_t end = gq_dev_up(l.row + l.rows, GQ_DEV_TILE_ROWS);
  for (int64_t row = l.row + l.rows; row < end; ++row)
    for (int64_t c = l.column / block; c < (l.column + l.columns) / block;
         c += GQ_DEV_TILE_COLUMNS)
      memset(d->scales + gq_dev_tile128x4_offset(row, c, d->scaleStride), 0,
             GQ_DEV_TILE_COLUMNS);
}

/// Quantizes rows; the result is their largest magnitude, ignoring NaN.
static float quantizeLines(Lines l) {
  gqCpuMethod method = l.q->method;
  if (l.q->rowwise.scales && method.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4)
    padLineScales(l);
  switch (method.format) {
#define GQ_QUANTIZE(VALUE, NAME, ...)                                          \
  case GQ_FORMAT_##NAME:                                                       \
    return gqFormatGetTraits(GQ_FORMAT_##NAME).scaleRule ==                    \
                       GQ_SCALE_RULE_NVFP4 &&                                  \
                   method.recipe == GQ_RECIPE_TE                               \
               ? quantizeLinesAs(GQ_FORMAT_##NAME, GQ_RECIPE_TE, l)            \
               : quantizeLinesAs(GQ_FORMAT_##NAME, GQ_RECIPE_NVFUSER, l);
    GQ_ALL_FORMATS(GQ_QUANTIZE)
#undef GQ_QUANTIZE
  case GQ_FORMAT_NONE: // Not an op's that quantizes.
    break;
  }
  return 0.0f;
}

#else

static bool hasLines(const gqCpuQuantization *q) {
  (void)q;
  return false;
}
static float quantizeLines(Lines l) {
  (void)l;
  return 0.0f;
}

#endif // __AVX2__

#endif // GQ_LIB_RUNTIME_CPU_LINES_H
