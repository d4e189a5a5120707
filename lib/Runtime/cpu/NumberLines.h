//===- NumberLines.h - rows of bf16 to numbers of MX formats -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What codes and scales would stand for, without making codes (fake
// quantization): a rounded number times its block's scale, which is a power of
// two, rounded to bf16.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_NUMBERLINES_H
#define GQ_LIB_RUNTIME_CPU_NUMBERLINES_H

#include "DequantizeLines.h"
#include "QuantizeLines.h"

/// Whether rows that are plain become numbers so: those that are bf16.
static bool areNumbersOfMx(const gqCpuQuantization *q) {
  return q->rowwise.numbers.type == GQ_BF16 &&
         gqFormatGetTraits(q->method.format).scaleRule == GQ_SCALE_RULE_MX;
}

#ifdef __AVX2__

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

/// The numbers of `columns` elements, of whole blocks, from `x`; scales are
/// made ahead as in quantizeLine.
GQ_DEV void roundLine(const Method *m, const uint16_t *x, const uint16_t *next,
                      int64_t columns, float *amax, uint16_t *to) {
  int64_t units = columns / UNIT, rest = columns % UNIT;
  Scaled scaled[2];
  if (units > 0)
    scaleUnit(m, x, 1.0f, &scaled[0], amax);
  for (int64_t i = 0; i < units; ++i) {
    for (int64_t j = 0; j < UNIT; j += GQ_CPU_LINE / 2)
      __builtin_prefetch(next + i * UNIT + j, 0, 2);
    if (i + 1 < units)
      scaleUnit(m, x + (i + 1) * UNIT, 1.0f, &scaled[(i + 1) % 2], amax);
    roundScaled(m, x + i * UNIT, &scaled[i % 2], to + i * UNIT);
  }
  if (rest == 0)
    return;
  uint16_t last[UNIT] = {0}, numbers[UNIT];
  memcpy(last, x + units * UNIT, (size_t)rest * sizeof(*x));
  scaleUnit(m, last, 1.0f, &scaled[0], amax);
  roundScaled(m, last, &scaled[0], numbers);
  memcpy(to + units * UNIT, numbers, (size_t)rest * sizeof(*to));
}

/// The format is a constant in the caller.
GQ_DEV float roundLinesAs(gqFormat format, Lines l) {
  const gqCpuQuantization *q = l.q;
  const Method m = {format, GQ_RECIPE_NVFUSER, gqFormatGetTraits(format),
                    &q->rowwise.how};
  float amax = 0.0f;
  for (int64_t row = l.row; row < l.row + l.rows; ++row) {
    const uint16_t *x = lineAt(&q->input, &q->rowIndices, row, l.column);
    const uint16_t *next =
        row + 1 < l.row + l.rows
            ? lineAt(&q->input, &q->rowIndices, row + 1, l.column)
            : x;
    roundLine(&m, x, next, l.columns, q->amax ? &amax : NULL,
              (uint16_t *)gqCpuRow(&q->rowwise.numbers, row) + l.column);
  }
  return amax;
}

/// The result is the largest magnitude, if that is wanted.
static float roundLines(Lines l) {
  switch (l.q->method.format) {
  case GQ_FORMAT_MXFP4:
    return roundLinesAs(GQ_FORMAT_MXFP4, l);
  case GQ_FORMAT_MXFP8_E4M3:
    return roundLinesAs(GQ_FORMAT_MXFP8_E4M3, l);
  default:
    return roundLinesAs(GQ_FORMAT_MXFP8_E5M2, l);
  }
}

#else

static float roundLines(Lines l) {
  (void)l;
  return 0.0f;
}

#endif // __AVX2__

#endif // GQ_LIB_RUNTIME_CPU_NUMBERLINES_H
