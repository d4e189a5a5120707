//===- QuantizeLines.h - rows of bf16 to codes, in registers -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of bf16 that are rounded to nearest are read where they are, a unit of
// 256 elements at a time, and what they become is stored from registers. The
// numbers of 16 of them are next to each other: 32 bits of two elements, of
// even index in the lower half, are two float32 after a shift and a mask.
//
// Of MX formats, they also become the bf16 that codes and scales would stand
// for (fake quantization), without codes: a rounded number times its block's
// scale, a power of two.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_QUANTIZELINES_H
#define GQ_LIB_RUNTIME_CPU_QUANTIZELINES_H

#include "Codes.h"
#include "DequantizeLines.h"
#include "Elements.h"
#include "Method.h"
#include "Units.h"

#include "lib/Runtime/CpuQuantize.h"

/// Whether rows that are plain become numbers, bf16, without codes.
static bool becomeNumbers(const gqCpuQuantization *q) {
  return !q->rowwise.data && q->rowwise.numbers.type == GQ_BF16 &&
         gqFormatGetTraits(q->method.format).scaleRule == GQ_SCALE_RULE_MX;
}

/// A part of a matrix, of whole blocks.
typedef struct Lines {
  const gqCpuQuantization *q;
  int64_t row, rows, column, columns;
} Lines;

#ifdef __AVX2__

//===----------------------------------------------------------------------===//
// Largest magnitudes
//===----------------------------------------------------------------------===//

/// A number of 16 bits of each part, and one of 32 bits. In memory they would
/// be stored in pieces: a vector that is loaded from several stores waits until
/// these, and all before them, are in the cache.
typedef uint16_t PartBits __attribute__((vector_size(PARTS * 2)));
typedef uint32_t PartWords __attribute__((vector_size(PARTS * 4)));

/// The bits of the largest magnitude of each part, NaN being larger than inf.
GQ_DEV PartBits partAmaxes(const uint16_t *x) {
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
  return (PartBits)_mm256_set_m128i(_mm_unpackhi_epi16(even, odd),
                                    _mm_unpacklo_epi16(even, odd));
#else
  // First halves of parts, then second halves.
  Vector a = largestOfEight(magnitudes), b = largestOfEight(magnitudes + 8);
  return (PartBits)_mm256_max_epu16(_mm256_permute2x128_si256(a, b, 0x20),
                                    _mm256_permute2x128_si256(a, b, 0x31));
#endif
}

/// The larger one of each and of its neighbour `step` away.
GQ_DEV PartBits largerOfNeighbours(PartBits x, int64_t step) {
  PartBits other =
      step == 1   ? __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8,
                                            11, 10, 13, 12, 15, 14)
      : step == 2 ? __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10,
                                            11, 8, 9, 14, 15, 12, 13)
                  : __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12,
                                            13, 14, 15, 8, 9, 10, 11);
  return (PartBits)_mm256_max_epu16((__m256i)x, (__m256i)other);
}

/// The largest magnitude of each block, `width` parts, for each of them,
/// ignoring NaN.
static __attribute__((cold, noinline)) void
blockAmaxesOfAnything(int64_t width, const uint16_t *x, float amax[PARTS]) {
  for (int64_t i = 0; i < PARTS; i += width) {
    float numbers[UNIT];
    loadRow(x + i * PART, GQ_BF16, width * PART, numbers);
    float all = gq_dev_f32_amax(numbers, (int)(width * PART));
    for (int64_t j = 0; j < width; ++j)
      amax[i + j] = all;
  }
}

/// The same if all are finite; the result is whether they are.
GQ_DEV bool blockAmaxes(int64_t width, const uint16_t *x, float amax[PARTS]) {
  PartBits bits = partAmaxes(x);
  for (int64_t step = 1; step < width; step *= 2)
    bits = largerOfNeighbours(bits, step);
  PartWords words = __builtin_convertvector(bits, PartWords) << 16;
  memcpy(amax, &words, sizeof(words));
  // Too large a magnitude leaves a 1 in the sign.
  int signs = _mm256_movemask_epi8((__m256i)(bits + (0x8000 - GQ_BF16_INF)));
  bool regular = !(signs & 0xaaaaaaaa);
  if (__builtin_expect(!regular, 0))
    blockAmaxesOfAnything(width, x, amax);
  return regular;
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Numbers y >= 0 rounded to codes: the code is in the lowest byte of each
/// lane, and what it stands for is `value`.
typedef struct Rounded {
  Int32s codes;
  Floats values;
} Rounded;

/// Infinity is saturated. Let p be the power of two at or below y or, if that
/// is more, the smallest one that has a normal code. The step of the grid there
/// is the unit of the last place beside a float32 larger by as many powers as
/// the mantissas differ in. Adding that rounds, ties to even, and the low bits
/// of the sum are how many steps y is: for a code, 2^mantissa more with each
/// power. The constant is such that the smallest normal code comes out right.
GQ_DEV Rounded roundToCodes(gqCode code, Floats y) {
  const int32_t mantissa = code == GQ_CODE_E2M1   ? 1
                           : code == GQ_CODE_E4M3 ? 3
                                                  : 2;
  const int32_t bias = code == GQ_CODE_E2M1 ? 1 : code == GQ_CODE_E4M3 ? 7 : 15;
  const float max = code == GQ_CODE_E2M1   ? GQ_E2M1_MAX
                    : code == GQ_CODE_E4M3 ? GQ_E4M3_MAX
                                           : GQ_E5M2_MAX;
  const int32_t shift = 23 - mantissa;
  const int32_t first = -((128 - bias) << mantissa) & 0xff;
  Int32s c = least32((Int32s)y, all32((int32_t)gq_dev_f32_bits(max)));
  Int32s p = most32(c, all32((128 - bias) << 23)) & GQ_F32_INF;
  Floats magic = (Floats)(p + (shift << 23 | 1 << 22 | first));
  Floats sum = magic + (Floats)c;
  return (Rounded){(Int32s)sum + (p >> shift), sum - magic};
}

/// The codes of e2m1 in another way, 252 more than they are or, for 0, 250, in
/// the upper bits of each lane from E2M1_AT on.
///
/// Let b be y, but more than 1. The unit of the last place of 2^22 b is the
/// step of the grid at y. So the difference to y is rounded to the grid, ties
/// to even, and what it falls short of 2^22 b is y rounded; also beside a power
/// of two below which the unit is finer, since then y rounds to that power.
/// Subtracting a little less, 1 - 2^-24 times it, moves the result up by a
/// quarter of b, less than a step: then exponents and first mantissa bits are
/// consecutive. (gq_dev_e2m1_move is the same.)
GQ_DEV Int32s moveToE2m1(Floats y) {
  Int32s c = least32((Int32s)y, all32((int32_t)gq_dev_f32_bits(GQ_E2M1_MAX)));
  Int32s b = most32(c, all32((int32_t)gq_dev_f32_bits(0x1.000004p0f)));
  Floats large = (Floats)(b + (22 << 23));
  Floats difference = large - (Floats)c;
  return (Int32s)multiplyAdd32(difference, (Floats){0} - (1.0f - 0x1p-24f),
                               large);
}
enum { E2M1_AT = 22, E2M1_FIRST = 252 };

/// The codes of a vector of elements, one in each 16 bits, from the factors of
/// elements of even index and of odd ones.
GQ_DEV Vector encodeElements(gqCode code, Vector elements, Floats evenFactors,
                             Floats oddFactors) {
  Floats even = (Floats)((Uint32s)elements << 16 & 0x7fff0000) * evenFactors;
  Floats odd = (Floats)((Uint32s)elements & 0x7fff0000) * oddFactors;
  if (code != GQ_CODE_E2M1)
    return selectBits(
        0x007f007f,
        takeTurns16((Vector)roundToCodes(code, even).codes,
                    (Vector)(roundToCodes(code, odd).codes << 16)),
        (Vector)((Uint16s)elements >> 8));
  Uint16s codes = (Uint16s)takeTurns16(
      (Vector)((Uint32s)moveToE2m1(even) >> E2M1_AT),
      (Vector)((Uint32s)moveToE2m1(odd) >> (E2M1_AT - 16)));
  codes = subtractSaturated16(codes, (Uint16s){0} + E2M1_FIRST);
  return (Vector)(codes | ((Uint16s)elements >> 12 & 8));
}

/// Those of vector `i` of a unit.
GQ_DEV Vector encodeVector(gqCode code, const uint16_t *x,
                           const float factors[PARTS], int i) {
  Floats factor = factorsOf(factors, i);
  return encodeElements(code, loadVector(x + i * VECTOR / 2), factor, factor);
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
    storeVector(
        gatherBytes(takeTurns16((Vector)pairs[0], (Vector)(pairs[1] << 16))),
        to + i * VECTOR / 4);
  }
}

/// The same by the formula, for anything.
static __attribute__((cold, noinline)) void
encodeAnything(gqFormat format, const uint16_t *x, const float factors[PARTS],
               uint8_t *to) {
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

/// The scales of blocks, as they are stored, and the factors; the result is
/// whether all factors are numbers and none has a sign.
GQ_DEV bool scaleByFormula(const Method *m, const float amax[PARTS],
                           float outer, uint32_t bits[PARTS],
                           float factors[PARTS]) {
  uint32_t special = 0;
  for (int i = 0; i < PARTS; ++i) {
    gq_dev_block_scale scale =
        gq_dev_block_scale_from_amax(m->format, m->recipe, amax[i], outer);
    bits[i] = scale.bits;
    factors[i] = scale.factor;
    special |= gq_dev_f32_bits(scale.factor) >= GQ_F32_INF;
  }
  return !special;
}

/// The same of nvfp4, by the same formulas, if no scale has a sign; else
/// nothing is of meaning but the result.
GQ_DEV bool scaleNvfp4Parts(gqRecipe recipe, const float amax[PARTS],
                            float outer, uint32_t bits[PARTS],
                            float factors[PARTS]) {
  Int32s special = {0};
  for (int i = 0; i < PARTS; i += LANES32) {
    Floats a = (Floats)loadVector(amax + i);
    Floats scale = recipe == GQ_RECIPE_TE ? a * (outer * (1.0f / GQ_E2M1_MAX))
                                          : a / (float)GQ_E2M1_MAX * outer;
    // A NaN is saturated, as anything large.
    Rounded rounded = roundToCodes(GQ_CODE_E4M3, scale);
    Floats factor = 1.0f / (rounded.values * (1.0f / outer));
    // The lesser of it and the largest number, or that of NaN.
    Int32s finite = least32((Int32s)factor,
                            all32((int32_t)gq_dev_f32_bits(GQ_DEV_F32_MAX)));
    storeVector((Vector)(rounded.codes & 0xff), bits + i);
    storeVector((Vector)finite, factors + i);
    special |= (Int32s)scale | (Int32s)factor;
  }
  return !hasSign32((Vector)special);
}

/// As scaleByFormula, in the fastest way.
GQ_DEV bool scaleParts(const Method *m, const float amax[PARTS], float outer,
                       uint32_t bits[PARTS], float factors[PARTS]) {
  if (m->traits.scaleRule == GQ_SCALE_RULE_NVFP4 &&
      scaleNvfp4Parts(m->recipe, amax, outer, bits, factors))
    return true;
  return scaleByFormula(m, amax, outer, bits, factors);
}

/// The scales of a unit's blocks for each of their parts, and whether its
/// elements and factors are numbers, and factors without a sign.
typedef struct Scaled {
  _Alignas(GQ_CPU_LINE) uint32_t bits[PARTS];
  _Alignas(GQ_CPU_LINE) float factors[PARTS];
  bool regular;
} Scaled;

/// `amax`, unless it is null, is raised to the largest magnitude.
GQ_DEV void scaleUnit(const Method *m, const uint16_t *x, float outer,
                      Scaled *unit, float *amax) {
  _Alignas(GQ_CPU_LINE) float amaxes[PARTS];
  unit->regular = blockAmaxes(m->traits.blockColumns / PART, x, amaxes);
  if (amax)
    *amax = gq_dev_max(gq_dev_f32_amax(amaxes, PARTS), *amax);
  unit->regular &= scaleParts(m, amaxes, outer, unit->bits, unit->factors);
}

GQ_DEV void encodeScaled(const Method *m, const uint16_t *x, const Scaled *unit,
                         uint8_t *codes) {
  if (__builtin_expect(unit->regular, 1))
    encodeUnit(m->traits.code, x, unit->factors, codes);
  else
    encodeAnything(m->format, x, unit->factors, codes);
}

//===----------------------------------------------------------------------===//
// Numbers in place of codes
//===----------------------------------------------------------------------===//

/// What scales of parts stand for, which are not NaN: 2^-127 is a denormal.
GQ_DEV void valuesOfScales(const uint32_t bits[PARTS], float values[PARTS]) {
  for (int i = 0; i < PARTS; i += LANES32)
    storeVector(
        (Vector)most32((Int32s)(loadVector(bits + i)) << 23, all32(1 << 22)),
        values + i);
}

/// A unit of numbers.
GQ_DEV void roundUnit(gqCode code, const uint16_t *x, const Scaled *unit,
                      uint16_t *to) {
  _Alignas(GQ_CPU_LINE) float values[PARTS];
  valuesOfScales(unit->bits, values);
  for (int i = 0; i < UNIT * 2 / VECTOR; ++i) {
    Vector elements = loadVector(x + i * VECTOR / 2);
    Floats factor = factorsOf(unit->factors, i), scale = factorsOf(values, i);
    Floats even = (Floats)((Uint32s)elements << 16 & 0x7fff0000) * factor;
    Floats odd = (Floats)((Uint32s)elements & 0x7fff0000) * factor;
    Uint32s lower = roundToBf16(roundToCodes(code, even).values * scale);
    Uint32s upper = roundToBf16(roundToCodes(code, odd).values * scale);
    Vector magnitudes = takeTurns16((Vector)(lower >> 16), (Vector)upper);
    storeVector(selectBits(0x7fff7fff, magnitudes, elements),
                to + i * VECTOR / 2);
  }
}

/// Any unit, by way of codes.
static __attribute__((cold, noinline)) void roundAnything(const Method *m,
                                                          const uint16_t *x,
                                                          const Scaled *unit,
                                                          uint16_t *to) {
  const gqCpuDequantization back = {.format = m->format,
                                    .recipe = m->recipe,
                                    .type = m->traits.dataType,
                                    .out = {.type = GQ_BF16}};
  const Source s = sourceOf(&back);
  uint8_t codes[UNIT];
  float values[PARTS];
  encodeAnything(m->format, x, unit->factors, codes);
  for (int i = 0; i < PARTS; ++i)
    values[i] = gq_dev_f32_from_e8m0((uint8_t)unit->bits[i]);
  dequantizeAnything(&s, codes, values, to);
}

GQ_DEV void roundScaled(const Method *m, const uint16_t *x, const Scaled *unit,
                        uint16_t *to) {
  if (__builtin_expect(unit->regular, 1))
    roundUnit(m->traits.code, x, unit, to);
  else
    roundAnything(m, x, unit, to);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Whether a direction can be quantized in vectors: bf16 to codes of blocks of
/// one row or column, rounded to nearest.
static bool isPlain(const gqCpuQuantization *q, const gqCpuDirection *d) {
  const gqDirectionTraits *how = &d->how.traits;
  return q->input.type == GQ_BF16 &&
         gqFormatGetTraits(q->method.format).blockRows == 1 &&
         gqDirectionIsUsual(how);
}

/// Where the scales of a row's blocks from number `block` on are, a multiple of
/// 4 in tile128x4.
GQ_DEV uint8_t *lineScales(const gqCpuQuantization *q, int64_t row,
                           int64_t block) {
  const gqCpuDirection *d = &q->rowwise;
  int64_t at = q->method.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4
                   ? gq_dev_tile128x4_offset(row, block, d->scaleStride)
                   : row * d->scaleStride + block;
  return d->scales +
         at * gqElementTypeSize(gqFormatGetTraits(q->method.format).scaleType);
}

/// Stores the scales of the first `count` blocks of a unit, number `block` of
/// those whose scales begin at `to`.
GQ_DEV void storeUnitScales(const Method *m, bool tiled,
                            const uint32_t bits[PARTS], int64_t count,
                            int64_t block, uint8_t *to) {
  const int64_t width = m->traits.blockColumns / PART;
  if (m->traits.scaleType == GQ_F32) {
    for (int64_t i = 0; i < count; ++i)
      memcpy(to + (block + i) * 4, &bits[i * width], 4);
    return;
  }
  uint8_t bytes[PARTS];
  for (int64_t i = 0; i < PARTS / width; ++i)
    bytes[i] = (uint8_t)bits[i * width];
  if (!tiled) {
    memcpy(to + block, bytes, (size_t)count);
    return;
  }
  memset(bytes + count, 0, (size_t)(PARTS - count));
  for (int64_t i = 0; i < count; i += GQ_DEV_TILE_COLUMNS)
    memcpy(to + gq_dev_tile128x4_offset(0, block + i, 0), bytes + i,
           GQ_DEV_TILE_COLUMNS);
}

/// Quantizes `columns` elements, of whole blocks, from `x`, to codes and scales
/// or, unless that is null, to `numbers`. While a unit is encoded, the scales
/// of the next one are computed.
GQ_DEV void quantizeLine(const Method *m, bool tiled, const uint16_t *x,
                         const uint16_t *next, int64_t columns, float outer,
                         uint8_t *codes, uint8_t *scales, uint16_t *numbers,
                         float *amax) {
  const int64_t bits = m->traits.dataBits, block = m->traits.blockColumns;
  int64_t units = columns / UNIT, rest = columns % UNIT;
  Scaled scaled[2];
  if (units > 0)
    scaleUnit(m, x, outer, &scaled[0], amax);
  for (int64_t i = 0; i < units; ++i) {
    for (int64_t j = 0; j < UNIT; j += GQ_CPU_LINE / 2)
      __builtin_prefetch(next + i * UNIT + j, 0, 2);
    if (i + 1 < units)
      scaleUnit(m, x + (i + 1) * UNIT, outer, &scaled[(i + 1) % 2], amax);
    if (numbers)
      roundScaled(m, x + i * UNIT, &scaled[i % 2], numbers + i * UNIT);
    else
      encodeScaled(m, x + i * UNIT, &scaled[i % 2],
                   codes + i * UNIT * bits / 8);
    if (scales)
      storeUnitScales(m, tiled, scaled[i % 2].bits, UNIT / block,
                      i * UNIT / block, scales);
  }
  if (rest == 0)
    return;
  uint16_t last[UNIT] = {0}, lastNumbers[UNIT];
  uint8_t lastCodes[UNIT];
  memcpy(last, x + units * UNIT, (size_t)rest * sizeof(*x));
  scaleUnit(m, last, outer, &scaled[0], amax);
  if (numbers) {
    roundScaled(m, last, &scaled[0], lastNumbers);
    memcpy(numbers + units * UNIT, lastNumbers,
           (size_t)rest * sizeof(*numbers));
    return;
  }
  encodeScaled(m, last, &scaled[0], lastCodes);
  memcpy(codes + units * UNIT * bits / 8, lastCodes, (size_t)(rest * bits / 8));
  if (scales)
    storeUnitScales(m, tiled, scaled[0].bits, rest / block,
                    units * UNIT / block, scales);
}

/// Format and recipe are constants in the caller.
GQ_DEV float quantizeLinesAs(gqFormat format, gqRecipe recipe, Lines l) {
  const gqCpuQuantization *q = l.q;
  const gqCpuDirection *d = &q->rowwise;
  const Method m = {format, recipe, gqFormatGetTraits(format), &d->how};
  const int64_t bits = m.traits.dataBits, block = m.traits.blockColumns;
  bool tiled = q->method.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4;
  bool toNumbers = m.traits.scaleRule == GQ_SCALE_RULE_MX && becomeNumbers(q);
  float amax = 0.0f;
  for (int64_t row = l.row; row < l.row + l.rows; ++row) {
    bool isLast = row + 1 == l.row + l.rows;
    const uint16_t *x = lineAt(&q->input, &q->rowIndices, row, l.column);
    const uint16_t *next =
        isLast ? x : lineAt(&q->input, &q->rowIndices, row + 1, l.column);
    float outer = d->how.outerAmaxes
                      ? gq_dev_nvfp4_te_outer(d->how.outerAmaxes[row])
                      : d->how.outer;
    quantizeLine(
        &m, tiled, x, next, l.columns, outer,
        toNumbers ? NULL : d->data + row * d->stride + l.column * bits / 8,
        d->scales ? lineScales(q, row, l.column / block) : NULL,
        toNumbers ? (uint16_t *)gqCpuRow(&d->numbers, row) + l.column : NULL,
        q->amax ? &amax : NULL);
  }
  return amax;
}

/// Zeros the scales of the rows after these that are in the same tiles.
static void padLineScales(Lines l) {
  int64_t block = gqFormatGetTraits(l.q->method.format).blockColumns;
  int64_t end = gq_dev_up(l.row + l.rows, GQ_DEV_TILE_ROWS);
  for (int64_t row = l.row + l.rows; row < end; ++row)
    for (int64_t c = l.column / block; c < (l.column + l.columns) / block;
         c += GQ_DEV_TILE_COLUMNS)
      memset(lineScales(l.q, row, c), 0, GQ_DEV_TILE_COLUMNS);
}

/// Quantizes rows; the result is their largest magnitude, ignoring NaN.
static float quantizeLines(Lines l) {
  gqCpuMethod method = l.q->method;
  if (l.q->rowwise.scales && method.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4)
    padLineScales(l);
  float amax = 0.0f;
#define GQ_CALL(FORMAT, RECIPE) amax = quantizeLinesAs(FORMAT, RECIPE, l)
#include "Method.def"
  return amax;
}

#else

static bool isPlain(const gqCpuQuantization *q, const gqCpuDirection *d) {
  (void)q, (void)d;
  return false;
}
static float quantizeLines(Lines l) {
  (void)l;
  return 0.0f;
}

#endif // __AVX2__

#endif // GQ_LIB_RUNTIME_CPU_QUANTIZELINES_H
