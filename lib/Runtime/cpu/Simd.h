//===- Simd.h - vectors of an instruction set --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where order within a vector counts, the compiler is told: loads of pairs,
// largest magnitudes of neighbours, codes that are packed. Arithmetic is C on
// vector types. Included where there is AVX2 or AVX-512; other machines have
// the plain loops, with which all this is compared.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_SIMD_H
#define GQ_LIB_RUNTIME_CPU_SIMD_H

#include "runtime_kernels/Inline.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
enum { VECTOR = 64 };
typedef __m512i Vector;
/// The intrinsic of this name for whole vectors.
#define GQ_SIMD(NAME) _mm512_##NAME
#else
enum { VECTOR = 32 };
typedef __m256i Vector;
#define GQ_SIMD(NAME) _mm256_##NAME
#endif

/// The same bits; conversions between these types keep them.
typedef int32_t Int32s __attribute__((vector_size(VECTOR)));
typedef uint32_t Uint32s __attribute__((vector_size(VECTOR)));
typedef int8_t Int8s __attribute__((vector_size(VECTOR)));
typedef uint16_t Uint16s __attribute__((vector_size(VECTOR)));
typedef float Floats __attribute__((vector_size(VECTOR)));

enum { LANES32 = VECTOR / 4 };

GQ_DEV Vector loadVector(const void *from) {
  Vector x;
  memcpy(&x, from, sizeof(x));
  return x;
}
GQ_DEV void storeVector(Vector x, void *to) { memcpy(to, &x, sizeof(x)); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

GQ_DEV Int32s all32(int32_t x) { return (Int32s){0} + x; }

GQ_DEV Int32s least32(Int32s a, Int32s b) {
  return (Int32s)GQ_SIMD(min_epi32)((Vector)a, (Vector)b);
}
GQ_DEV Int32s most32(Int32s a, Int32s b) {
  return (Int32s)GQ_SIMD(max_epi32)((Vector)a, (Vector)b);
}

GQ_DEV Vector most16(Vector a, Vector b) { return GQ_SIMD(max_epu16)(a, b); }

/// a * b + c, rounded once.
GQ_DEV Floats multiplyAdd32(Floats a, Floats b, Floats c) {
  return GQ_SIMD(fmadd_ps)(a, b, c);
}

/// a - b, or 0 if that is negative.
GQ_DEV Uint16s subtractSaturated16(Uint16s a, Uint16s b) {
  return (Uint16s)GQ_SIMD(subs_epu16)((Vector)a, (Vector)b);
}

/// Bits of `a` where `mask` has ones, else of `b`.
GQ_DEV Vector selectBits(uint32_t mask, Vector a, Vector b) {
  return (Vector)(((Uint32s)a & mask) | ((Uint32s)b & ~mask));
}

/// Of each 32 bits the lower 16 of `a` and the upper 16 of `b`.
GQ_DEV Vector takeTurns16(Vector a, Vector b) {
#ifdef __AVX512F__
  return _mm512_mask_mov_epi16(a, 0xaaaaaaaa, b);
#else
  return _mm256_blend_epi16(a, b, 0xaa);
#endif
}

/// Whether any number of 32 bits is negative.
GQ_DEV bool hasSign32(Vector x) {
#ifdef __AVX512F__
  return _mm512_movepi32_mask(x);
#else
  return _mm256_movemask_ps((__m256)x);
#endif
}

/// Whether any number of 16 bits is negative.
GQ_DEV bool hasSign16(Vector x) {
#ifdef __AVX512F__
  return _mm512_movepi16_mask(x);
#else
  return _mm256_movemask_epi8(x) & 0xaaaaaaaa;
#endif
}

//===----------------------------------------------------------------------===//
// Largest of neighbours
//===----------------------------------------------------------------------===//

/// Numbers of 16 bits. Each 128 bits of the results hold the larger ones of
/// numbers, pairs and fours in the same 128 bits, of `a` and `b` in turn.
GQ_DEV Vector largerOf1(Vector a, Vector b) {
  return GQ_SIMD(max_epu16)(GQ_SIMD(unpacklo_epi16)(a, b),
                            GQ_SIMD(unpackhi_epi16)(a, b));
}
GQ_DEV Vector largerOf2(Vector a, Vector b) {
  return GQ_SIMD(max_epu16)(GQ_SIMD(unpacklo_epi32)(a, b),
                            GQ_SIMD(unpackhi_epi32)(a, b));
}
GQ_DEV Vector largerOf4(Vector a, Vector b) {
  return GQ_SIMD(max_epu16)(GQ_SIMD(unpacklo_epi64)(a, b),
                            GQ_SIMD(unpackhi_epi64)(a, b));
}

/// Of eight vectors: what is largest in each 128 bits, in the order of the
/// vectors.
GQ_DEV Vector largestOfEight(const Vector x[8]) {
  return largerOf4(largerOf2(largerOf1(x[0], x[1]), largerOf1(x[2], x[3])),
                   largerOf2(largerOf1(x[4], x[5]), largerOf1(x[6], x[7])));
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// The lower bytes of the halves of `a`, then those of `b`; the upper ones are
/// zero.
GQ_DEV Vector packBytes(Vector a, Vector b) {
  Vector packed = GQ_SIMD(packus_epi16)(a, b);
#ifdef __AVX512F__
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                  packed);
#else
  return _mm256_permute4x64_epi64(packed, 0xd8);
#endif
}

/// All bytes 0 of 32 bits, then all bytes 1, and so on.
GQ_DEV Vector gatherBytes(Vector x) {
  const __m128i order =
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
#ifdef __AVX512F__
  return _mm512_permutexvar_epi32(
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
      _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order)));
#else
  return _mm256_permutevar8x32_epi32(
      _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order)),
      _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#endif
}

/// Moves each 64 bits to where unpacking, which is done in each 128 bits,
/// leaves what it makes of all in order.
GQ_DEV Vector orderToUnpack(Vector x) {
#ifdef __AVX512F__
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), x);
#else
  return _mm256_permute4x64_epi64(x, 0xd8);
#endif
}

/// Half as many bytes as a vector has, in 16 bits each.
GQ_DEV Vector loadWidened(const void *from) {
#ifdef __AVX512F__
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(from));
#else
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(from));
#endif
}

/// The byte of `table` that the lower four bits of each byte say; bit 7 must
/// be 0.
GQ_DEV Vector lookUp(__m128i table, Vector x) {
#ifdef __AVX512F__
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), x);
#else
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), x);
#endif
}

#endif // GQ_LIB_RUNTIME_CPU_SIMD_H
