//===- Units.h - parts of rows that are done in registers --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_UNITS_H
#define GQ_LIB_RUNTIME_CPU_UNITS_H

#ifdef __AVX2__
#include "Simd.h"
#endif

enum {
  /// Elements of a unit, and of a part, which a block has one or more of.
  UNIT = 256,
  PART = 16,
  PARTS = UNIT / PART,
};

/// Infinity, as bf16, f16 and float32: bits of magnitudes from there on are no
/// numbers.
#define GQ_BF16_INF 0x7f80
#define GQ_F16_INF 0x7c00
#define GQ_F32_INF 0x7f800000

#ifdef __AVX2__
/// The factors of the lanes of vector `i` of elements of 16 bits.
GQ_DEV Floats factorsOf(const float factors[PARTS], int i) {
#ifdef __AVX512F__
  return (Floats)_mm512_mask_broadcastss_ps(
      _mm512_broadcastss_ps(_mm_load_ss(factors + 2 * i)), 0xff00,
      _mm_load_ss(factors + 2 * i + 1));
#else
  return (Floats)_mm256_broadcast_ss(factors + i);
#endif
}

#endif

#endif // GQ_LIB_RUNTIME_CPU_UNITS_H
