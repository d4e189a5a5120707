//===- DequantizeLines.h - rows of codes to bf16, in registers ---*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every code is a bf16, whose two bytes are looked up: each depends on four
// bits of the code. Multiplied and rounded they are as in QuantizeLines.h: 32
// bits of two elements are two float32.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_DEQUANTIZELINES_H
#define GQ_LIB_RUNTIME_CPU_DEQUANTIZELINES_H

#include "Dequantize.h"
#include "Elements.h"
#include "Units.h"

#ifdef __AVX2__

/// What is done with the product of code and factor.
typedef enum Ending {
  /// It is a bf16.
  ENDING_EXACT,
  ENDING_ROUND,
  /// It is divided by the outer scale, and rounded.
  ENDING_DIVIDE,
} Ending;

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Codes of 4 bits, one in each byte.
GQ_DEV Vector loadNibbles(const uint8_t *data) {
  Uint16s bytes = (Uint16s)loadWidened(data);
  return (Vector)((bytes | bytes << 4) & 0x0f0f);
}

/// The upper bytes of codes that are bf16, and the lower ones.
typedef struct Bytes2 {
  Vector upper, lower;
} Bytes2;

GQ_DEV Bytes2 bytesOfE2m1(Vector codes) {
  const __m128i upper =
      _mm_setr_epi8(0, 0x3f, 0x3f, 0x3f, 0x40, 0x40, 0x40, 0x40, -0x80, -0x41,
                    -0x41, -0x41, -0x40, -0x40, -0x40, -0x40);
  const __m128i lower =
      _mm_setr_epi8(0, 0, -0x80, -0x40, 0, 0x40, -0x80, -0x40, 0, 0, -0x80,
                    -0x40, 0, 0x40, -0x80, -0x40);
  return (Bytes2){lookUp(upper, codes), lookUp(lower, codes)};
}

/// Of codes that are neither infinite nor NaN. The exponent and the upper bits
/// of the mantissa are moved and have 127 - bias added; denormals are looked
/// up.
GQ_DEV Bytes2 bytesOfF8(gqCode code, Vector codes) {
  const bool isE4m3 = code == GQ_CODE_E4M3;
  const int mantissa = isE4m3 ? 3 : 2;
  const int8_t first = isE4m3 ? 120 / 2 : 112 / 2;
  const __m128i upper = isE4m3
                            ? _mm_setr_epi8(0, 0x3b, 0x3b, 0x3b, 0x3c, 0x3c,
                                            0x3c, 0x3c, 0, 0, 0, 0, 0, 0, 0, 0)
                            : _mm_setr_epi8(0, 0x37, 0x38, 0x38, 0, 0, 0, 0, 0,
                                            0, 0, 0, 0, 0, 0, 0);
  const __m128i lower = isE4m3
                            ? _mm_setr_epi8(0, 0, -0x80, -0x40, 0, 0x20, 0x40,
                                            0x60, 0, 0, 0, 0, 0, 0, 0, 0)
                            : _mm_setr_epi8(0, -0x80, 0, 0x40, 0, 0, 0, 0, 0, 0,
                                            0, 0, 0, 0, 0, 0);
  Int8s magnitudes = (Int8s)codes & 0x7f;
  Int8s signs = (Int8s)codes ^ magnitudes;
  Int8s isDenormal = magnitudes < (int8_t)(1 << mantissa);
  Int8s normalUpper =
      ((Int8s)((Uint16s)magnitudes >> (mantissa + 1)) & 0x0f) + first;
  Int8s normalLower = (Int8s)((Uint16s)magnitudes << (7 - mantissa)) &
                      (int8_t)(isE4m3 ? 0xf0 : 0xe0);
  Int8s denormalUpper = (Int8s)lookUp(upper, (Vector)magnitudes);
  Int8s denormalLower = (Int8s)lookUp(lower, (Vector)magnitudes);
  return (Bytes2){
      (Vector)(signs | (isDenormal & denormalUpper) |
               (~isDenormal & normalUpper)),
      (Vector)((isDenormal & denormalLower) | (~isDenormal & normalLower))};
}

/// Whether all codes of a unit are numbers.
GQ_DEV bool areNumbers(gqCode code, const uint8_t codes[UNIT]) {
  uint8_t limit = code == GQ_CODE_E4M3 ? 0x7f : 0x7c, special = 0;
  for (int i = 0; i < UNIT; ++i)
    special |= (codes[i] & 0x7f) >= limit;
  return !special;
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// x as bf16 in the upper half of each lane, rounded to nearest even.
GQ_DEV Uint32s roundToBf16(Floats x) {
  Uint32s bits = (Uint32s)x;
  return bits + 0x7fff + (bits >> 16 & 1);
}

/// Vector `i` of a unit, from its codes as bf16.
GQ_DEV Vector multiplyVector(Ending ending, Vector codes,
                             const float factors[PARTS], float outer, int i) {
  Floats factor = factorsOf(factors, i);
  Floats even = (Floats)((Uint32s)codes << 16) * factor;
  Floats odd = (Floats)((Uint32s)codes & 0xffff0000) * factor;
  if (ending == ENDING_DIVIDE) {
    even /= outer;
    odd /= outer;
  }
  Uint32s lower = ending == ENDING_EXACT ? (Uint32s)even : roundToBf16(even);
  Uint32s upper = ending == ENDING_EXACT ? (Uint32s)odd : roundToBf16(odd);
  return takeTurns16((Vector)(lower >> 16), (Vector)upper);
}

/// Code and ending are constants in the caller; codes and factors are numbers.
GQ_DEV void multiplyUnit(gqCode code, Ending ending, const uint8_t *data,
                         const float factors[PARTS], float outer,
                         uint16_t *to) {
  for (int i = 0; i < UNIT / VECTOR; ++i) {
    Bytes2 bytes =
        code == GQ_CODE_E2M1
            ? bytesOfE2m1(orderToUnpack(loadNibbles(data + i * VECTOR / 2)))
            : bytesOfF8(code, orderToUnpack(loadVector(data + i * VECTOR)));
    Vector first = GQ_SIMD(unpacklo_epi8)(bytes.lower, bytes.upper);
    Vector second = GQ_SIMD(unpackhi_epi8)(bytes.lower, bytes.upper);
    storeVector(multiplyVector(ending, first, factors, outer, 2 * i),
                to + i * VECTOR);
    storeVector(multiplyVector(ending, second, factors, outer, 2 * i + 1),
                to + i * VECTOR + VECTOR / 2);
  }
}

/// Any unit, as tiles are done.
static __attribute__((cold, noinline)) void
dequantizeAnything(const Source *s, const uint8_t *data,
                   const float factors[PARTS], uint16_t *to) {
  uint8_t codes[UNIT];
  if (s->traits.dataBits == 4)
    unpackPairs(data, UNIT / 2, codes);
  else
    memcpy(codes, data, UNIT);
  for (int i = 0; i < UNIT; i += GQ_CPU_TILE) {
    float each[GQ_CPU_TILE];
    for (int j = 0; j < GQ_CPU_TILE; ++j)
      each[j] = factors[(i + j) / PART];
    dequantizeRow(s, codes + i, each, GQ_CPU_TILE, to + i);
  }
}

GQ_DEV bool isFinite(float x) {
  return (gq_dev_f32_bits(x) & 0x7fffffff) < GQ_F32_INF;
}

/// The factors of a unit's parts, of which `count` blocks are there, from
/// number `block` of line `line` of scales on; the result is whether all are
/// finite.
GQ_DEV bool unitFactors(const Source *s, gqFormat format, int64_t line,
                        int64_t block, int64_t count, float outer,
                        float factors[PARTS]) {
  const gqCpuDequantization *q = s->q;
  const gqFormatTraits traits = gqFormatGetTraits(format);
  const int64_t width = traits.blockColumns / PART;
  uint8_t bytes[PARTS] = {0};
  float values[PARTS] = {0};
  if (traits.scaleType == GQ_F32)
    memcpy(values, (const float *)q->scales + line * q->scaleStride + block,
           (size_t)count * sizeof(float));
  else if (!q->tiled)
    memcpy(bytes, (const uint8_t *)q->scales + line * q->scaleStride + block,
           (size_t)count);
  else
    for (int64_t i = 0; i < count; i += GQ_DEV_TILE_COLUMNS)
      memcpy(bytes + i,
             (const uint8_t *)q->scales +
                 gq_dev_tile128x4_offset(line, block + i, q->scaleStride),
             GQ_DEV_TILE_COLUMNS);
  if (traits.scaleType != GQ_F32)
    for (int i = 0; i < PARTS; ++i)
      values[i] = gq_dev_f32_from_scale(traits.scaleRule, bytes, i);
  uint32_t special = 0;
  for (int i = 0; i < PARTS; ++i) {
    factors[i] =
        gq_dev_dequantize_factor(s->dequantizer, values[i / width], outer);
    special |= !isFinite(factors[i]);
  }
  return !special;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Whether the rows of a matrix can be dequantized as lines.
static bool hasLinesBack(const gqCpuDequantization *q) {
  return !q->columnwise && q->out.type == GQ_BF16 && q->outerAcross == 0;
}

/// Format, code and ending are constants in the caller; without a format there
/// is one factor, `outer`.
GQ_DEV void dequantizeUnit(const Source *s, gqFormat format, gqCode code,
                           Ending ending, const uint8_t *data, int64_t line,
                           int64_t column, int64_t count, float outer,
                           uint16_t *to) {
  float factors[PARTS];
  bool regular = true;
  if (format == GQ_FORMAT_NONE) {
    for (int i = 0; i < PARTS; ++i)
      factors[i] = outer;
    regular = isFinite(outer);
  } else {
    int64_t block = gqFormatGetTraits(format).blockColumns;
    regular = unitFactors(s, format, line, column / block, count / block, outer,
                          factors);
  }
  if (ending == ENDING_DIVIDE)
    regular &= isFinite(outer) && outer != 0.0f;
  if (code != GQ_CODE_E2M1)
    regular &= areNumbers(code, data);
  if (__builtin_expect(regular, 1))
    multiplyUnit(code, ending, data, factors, outer, to);
  else
    dequantizeAnything(s, data, factors, to);
}

/// Constants as in dequantizeUnit().
GQ_DEV void dequantizeLinesAs(const Source *s, gqFormat format, gqCode code,
                              Ending ending, const gqCpuJob *job) {
  const gqCpuDequantization *q = s->q;
  const int64_t bits = code == GQ_CODE_E2M1 ? 4 : 8;
  const int64_t height =
      format == GQ_FORMAT_NONE ? 1 : gqFormatGetTraits(format).blockRows;
  for (int64_t row = job->row; row < job->row + job->rows; ++row) {
    const uint8_t *data = q->data + row * q->stride + job->column * bits / 8;
    int64_t ahead = row + 1 < job->row + job->rows ? q->stride : 0;
    uint16_t *to = (uint16_t *)gqCpuRow(&q->out, row) + job->column;
    float outer = q->outer ? q->outer[row * q->outerDown] : 1.0f;
    int64_t c = 0;
    for (; c + UNIT <= job->columns; c += UNIT) {
      for (int64_t i = 0; i < UNIT * bits / 8; i += GQ_CPU_LINE)
        __builtin_prefetch(data + ahead + c * bits / 8 + i, 0, 2);
      dequantizeUnit(s, format, code, ending, data + c * bits / 8, row / height,
                     job->column + c, UNIT, outer, to + c);
    }
    if (c == job->columns)
      continue;
    uint8_t rest[UNIT] = {0};
    uint16_t numbers[UNIT];
    memcpy(rest, data + c * bits / 8, (size_t)((job->columns - c) * bits / 8));
    dequantizeUnit(s, format, code, ending, rest, row / height, job->column + c,
                   job->columns - c, outer, numbers);
    memcpy(to + c, numbers, (size_t)(job->columns - c) * sizeof(*to));
  }
}

static void dequantizeLines(const gqCpuDequantization *q, const gqCpuJob *job) {
  const Source s = sourceOf(q);
  switch (q->format) {
#define GQ_DEQUANTIZE(VALUE, NAME, MNEMONIC, CODE, RULE, ...)                  \
  case GQ_FORMAT_##NAME:                                                       \
    if (GQ_SCALE_RULE_##RULE == GQ_SCALE_RULE_NVFP4 &&                         \
        gq_dev_dequantize_divides(s.dequantizer))                              \
      dequantizeLinesAs(&s, GQ_FORMAT_##NAME, GQ_CODE_##CODE, ENDING_DIVIDE,   \
                        job);                                                  \
    else if (GQ_SCALE_RULE_##RULE == GQ_SCALE_RULE_NVFP4 && !q->outer)         \
      dequantizeLinesAs(&s, GQ_FORMAT_##NAME, GQ_CODE_##CODE, ENDING_EXACT,    \
                        job);                                                  \
    else                                                                       \
      dequantizeLinesAs(&s, GQ_FORMAT_##NAME, GQ_CODE_##CODE, ENDING_ROUND,    \
                        job);                                                  \
    return;
    GQ_FORMATS(GQ_DEQUANTIZE)
#undef GQ_DEQUANTIZE
  default: // None.
    if (s.code == GQ_CODE_E4M3)
      dequantizeLinesAs(&s, GQ_FORMAT_NONE, GQ_CODE_E4M3, ENDING_ROUND, job);
    else
      dequantizeLinesAs(&s, GQ_FORMAT_NONE, GQ_CODE_E5M2, ENDING_ROUND, job);
  }
}

#else

static bool hasLinesBack(const gqCpuDequantization *q) {
  (void)q;
  return false;
}
static void dequantizeLines(const gqCpuDequantization *q, const gqCpuJob *job) {
  (void)q;
  (void)job;
}

#endif // __AVX2__

static void dequantize(const gqCpuDequantization *q, const gqCpuJob *job) {
  if (hasLinesBack(q))
    dequantizeLines(q, job);
  else
    dequantizeTiles(q, job);
}

#endif // GQ_LIB_RUNTIME_CPU_DEQUANTIZELINES_H
