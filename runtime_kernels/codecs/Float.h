//===- Float.h - bits, saturation, bf16 and f16 ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the codes are built from. Everything is free of branches on data, so
// that loops over it become SIMD code.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_FLOAT_H
#define GQ_KERNELS_CODECS_FLOAT_H

#include "runtime_kernels/Inline.h"

#include <stdbool.h>
#include <stdint.h>

/// The largest finite float32.
#define GQ_DEV_F32_MAX 0x1.fffffep+127f

GQ_DEV uint32_t gq_dev_f32_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return bits;
}

GQ_DEV float gq_dev_f32_from_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof(x));
  return x;
}

/// min(x, bound) for a `bound` that is no NaN. A NaN x is dropped: the
/// comparison is false and the bound is the result. One instruction on either
/// machine.
GQ_DEV float gq_dev_min(float x, float bound) { return x < bound ? x : bound; }

/// max(x, bound), likewise.
GQ_DEV float gq_dev_max(float x, float bound) { return x > bound ? x : bound; }

/// The largest magnitude of `count` values, a multiple of 8; NaN is dropped, 0
/// if all are NaN. A tree, because the compiler may not reorder a chain of
/// maxima on its own.
GQ_DEV float gq_dev_f32_amax(const float *x, int count) {
  float m[8] = {0};
  for (int i = 0; i < count; i += 8)
    for (int j = 0; j < 8; ++j)
      m[j] = gq_dev_max(__builtin_fabsf(x[i + j]), m[j]);
  for (int half = 4; half > 0; half /= 2)
    for (int j = 0; j < half; ++j)
      m[j] = gq_dev_max(m[j + half], m[j]);
  return m[0];
}

//===----------------------------------------------------------------------===//
// To float32, exact
//===----------------------------------------------------------------------===//

GQ_DEV float gq_dev_f32_from_bf16(uint16_t x) {
  return gq_dev_f32_from_bits((uint32_t)x << 16);
}

/// A normal f16 has its exponent rebiased by 127 - 15 = 112, an inf or NaN
/// twice that. A denormal's mantissa is put below the implicit one of 2^-14,
/// which the subtraction takes away again, exactly.
GQ_DEV float gq_dev_f32_from_f16(uint16_t x) {
  uint32_t sign = (uint32_t)(x & 0x8000) << 16;
  uint32_t magnitude = (uint32_t)(x & 0x7fff) << 13;
  uint32_t normal = magnitude + (112u << 23);
  uint32_t special = magnitude + (224u << 23);
  uint32_t denormal = gq_dev_f32_bits(
      gq_dev_f32_from_bits(magnitude + (113u << 23)) - 0x1p-14f);
  uint32_t finite = magnitude < (1u << 23) ? denormal : normal;
  return gq_dev_f32_from_bits(sign |
                              (magnitude < (31u << 23) ? finite : special));
}

//===----------------------------------------------------------------------===//
// From float32, rounded to nearest even; overflow gives inf, NaN a quiet NaN
//===----------------------------------------------------------------------===//

/// Adding one less than half a unit of the last place, plus that place's bit,
/// carries exactly when nearest-even rounds up.
GQ_DEV uint16_t gq_dev_bf16_from_f32(float x) {
  uint32_t bits = gq_dev_f32_bits(x);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  uint32_t nan = bits >> 16 | 0x40;
  return (uint16_t)(x == x ? rounded : nan);
}

/// Normal results round as above. Below 2^-14 the unit of the last place is
/// 2^-24 whatever the exponent; that is the unit of a float32 in [0.5, 1), so
/// adding 0.5 rounds there and leaves the code in the low bits.
GQ_DEV uint16_t gq_dev_f16_from_f32(float x) {
  uint32_t bits = gq_dev_f32_bits(x);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  uint32_t normal =
      (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t denormal = gq_dev_f32_bits(gq_dev_f32_from_bits(magnitude) + 0.5f) -
                      gq_dev_f32_bits(0.5f);
  uint32_t finite = magnitude < (113u << 23) ? denormal : normal;
  uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  // From 65520 on `normal` carries into the code of inf by itself; from 2^16 on
  // there is no code to carry from.
  uint32_t code = magnitude < (143u << 23) ? finite : 0x7c00;
  return (uint16_t)(sign | (x == x ? code : nan));
}

//===----------------------------------------------------------------------===//
// From float64, rounded once
//===----------------------------------------------------------------------===//

/// x as a float32 rounded to odd: an inexact x gives that neighbour whose last
/// bit is 1. It keeps on which side of every bf16 and f16, and of every tie
/// between two, x lies; so rounding it to nearest is the same as rounding x.
GQ_DEV float gq_dev_f32_from_f64_to_odd(double x) {
  float nearest = (float)x;
  uint32_t bits = gq_dev_f32_bits(nearest);
  double error = x - (double)nearest;
  // The other neighbour: away from zero if `nearest` lost magnitude, else
  // towards it. A NaN fails the comparison and is kept.
  uint32_t step = ((double)nearest < x) == !(bits >> 31) ? 1u : -1u;
  bool inexact = error < 0.0 || error > 0.0;
  return gq_dev_f32_from_bits(inexact && !(bits & 1) ? bits + step : bits);
}

GQ_DEV uint16_t gq_dev_bf16_from_f64(double x) {
  return gq_dev_bf16_from_f32(gq_dev_f32_from_f64_to_odd(x));
}

GQ_DEV uint16_t gq_dev_f16_from_f64(double x) {
  return gq_dev_f16_from_f32(gq_dev_f32_from_f64_to_odd(x));
}

#endif // GQ_KERNELS_CODECS_FLOAT_H
