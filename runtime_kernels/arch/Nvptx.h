//===- Nvptx.h - what the GPU has and C does not -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Global memory, the lanes of a warp, conversions. One function an
// instruction; nothing here knows what it is used for.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_NVPTX_H
#define GQ_KERNELS_ARCH_NVPTX_H

#include "runtime_kernels/codecs/Float.h"

/// Marks what a pointer points to as memory that the threads of a CTA share. A
/// variable is declared `static GQ_SHARED` and GQ_UNINITIALIZED.
#define GQ_SHARED __attribute__((address_space(3)))
#define GQ_UNINITIALIZED __attribute__((loader_uninitialized))

enum {
  GQ_DEV_WARP = 32,
  /// Of a multiprocessor.
  GQ_DEV_SHARED_KB = __CUDA_ARCH__ >= 1200 ? 100 : 228,
  GQ_DEV_IS_SM90 = __CUDA_ARCH__ / 10 == 90,
};

//===----------------------------------------------------------------------===//
// The grid, one-dimensional
//===----------------------------------------------------------------------===//

GQ_DEV uint32_t gq_dev_lane(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_tid_x() % GQ_DEV_WARP;
}

/// Whether this is the warp's first lane. Asked of another register than
/// gq_dev_lane, so that compilers do not keep the answer for as long.
GQ_DEV bool gq_dev_is_first_lane(void) {
  return __nvvm_read_ptx_sreg_laneid() == 0;
}

/// The number of this thread in its CTA.
GQ_DEV uint32_t gq_dev_thread(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_tid_x();
}

/// x, but unknown to the compiler: what depends on it is computed where it is
/// needed, instead of ahead of a loop and kept.
GQ_DEV uint32_t gq_dev_here(uint32_t x) {
  __asm__ volatile("" : "+r"(x));
  return x;
}

GQ_DEV int64_t gq_dev_here64(int64_t x) {
  __asm__ volatile("" : "+l"(x));
  return x;
}

GQ_DEV float gq_dev_here_f32(float x) {
  __asm__ volatile("" : "+f"(x));
  return x;
}

/// The threads of a CTA, a multiple of 32.
GQ_DEV uint32_t gq_dev_num_threads(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
}

GQ_DEV uint32_t gq_dev_cta(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_ctaid_x();
}

GQ_DEV uint32_t gq_dev_num_ctas(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_nctaid_x();
}

/// All threads of the CTA wait for each other; what they wrote is seen.
GQ_DEV void gq_dev_barrier(void) { __nvvm_bar_sync(0); }

/// The same for the lanes of a warp.
GQ_DEV void gq_dev_warp_barrier(void) { __nvvm_bar_warp_sync((unsigned)-1); }

//===----------------------------------------------------------------------===//
// Between the lanes of a warp, all of which must take part
//===----------------------------------------------------------------------===//

/// Bit i is the predicate of lane i.
GQ_DEV uint32_t gq_dev_ballot(bool predicate) {
  return (uint32_t)__nvvm_vote_ballot_sync(-1, predicate);
}

GQ_DEV uint32_t gq_dev_shuffle(uint32_t x, uint32_t lane) {
  return (uint32_t)__nvvm_shfl_sync_idx_i32(-1, (int)x, (int)lane, 31);
}

GQ_DEV int64_t gq_dev_shuffle64(int64_t x, uint32_t lane) {
  uint64_t low = gq_dev_shuffle((uint32_t)x, lane);
  uint64_t high = gq_dev_shuffle((uint32_t)((uint64_t)x >> 32), lane);
  return (int64_t)(high << 32 | low);
}

GQ_DEV float gq_dev_shuffle_f32(float x, uint32_t lane) {
  return gq_dev_f32_from_bits(gq_dev_shuffle(gq_dev_f32_bits(x), lane));
}

/// The value of the lane whose number differs in the bits of `mask` from this
/// one's.
GQ_DEV uint32_t gq_dev_shuffle_xor(uint32_t x, uint32_t mask) {
  return (uint32_t)__nvvm_shfl_sync_bfly_i32(-1, (int)x, (int)mask, 31);
}

/// The value of the lane `distance` below; a lane that has none gets its own.
GQ_DEV int64_t gq_dev_shuffle_up64(int64_t x, uint32_t distance) {
  uint32_t lane = gq_dev_lane();
  return gq_dev_shuffle64(x, lane >= distance ? lane - distance : lane);
}

/// The largest of the lanes' values.
GQ_DEV uint32_t gq_dev_max_of_lanes(uint32_t x) {
  return (uint32_t)__nvvm_redux_sync_umax((int)x, -1);
}

/// Their sum.
GQ_DEV uint32_t gq_dev_sum_of_lanes(uint32_t x) {
  return (uint32_t)__nvvm_redux_sync_add((int)x, -1);
}

//===----------------------------------------------------------------------===//
// Bytes and bits
//===----------------------------------------------------------------------===//

/// Four of the eight bytes of low and high: result byte i is byte
/// (selector >> 4 * i & 7), counted from the lowest of `low`.
GQ_DEV uint32_t gq_dev_permute(uint32_t low, uint32_t high, uint32_t selector) {
  return (uint32_t)__nvvm_prmt((int)low, (int)high, (int)selector);
}

/// The smaller of each half, which are unsigned.
GQ_DEV uint32_t gq_dev_min_u16x2(uint32_t a, uint32_t b) {
  uint32_t smaller;
  __asm__("min.u16x2 %0, %1, %2;" : "=r"(smaller) : "r"(a), "r"(b));
  return smaller;
}

GQ_DEV uint32_t gq_dev_max_u16x2(uint32_t a, uint32_t b) {
  uint32_t larger;
  __asm__("max.u16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}

/// The smaller of each half of a + b and of c: one instruction.
GQ_DEV uint32_t gq_dev_add_min_u16x2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t smaller;
  __asm__("{.reg .b32 sum;\n\t"
          "add.u16x2 sum, %1, %2;\n\t"
          "min.u16x2 %0, sum, %3;}"
          : "=r"(smaller)
          : "r"(a), "r"(b), "r"(c));
  return smaller;
}

/// The bits of `ones` where `mask` is 1, those of `zeros` where it is 0.
GQ_DEV uint32_t gq_dev_select_bits(uint32_t mask, uint32_t ones,
                                   uint32_t zeros) {
  uint32_t bits;
  __asm__("lop3.b32 %0, %1, %2, %3, 0xca;"
          : "=r"(bits)
          : "r"(mask), "r"(ones), "r"(zeros));
  return bits;
}

//===----------------------------------------------------------------------===//
// Float32 and float64
//===----------------------------------------------------------------------===//

/// min(|a|, |b|), ignoring NaN, with the product of the signs.
GQ_DEV float gq_dev_min_magnitude(float a, float b) {
  return __nvvm_fmin_xorsign_abs_f(a, b);
}

/// max(|a|, |b|), likewise.
GQ_DEV float gq_dev_max_magnitude(float a, float b) {
  return __nvvm_fmax_xorsign_abs_f(a, b);
}

/// max(a, b), ignoring NaN.
GQ_DEV float gq_dev_max_number(float a, float b) { return __nvvm_fmax_f(a, b); }

/// max(a, b), NaN if one of them is.
GQ_DEV float gq_dev_max_or_nan(float a, float b) {
  return __nvvm_fmax_nan_f(a, b);
}

/// a * b + c, rounded once.
GQ_DEV float gq_dev_fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}

/// The same with 0 in the place of a denormal, which b and c may not be.
GQ_DEV float gq_dev_fma_flushed(float a, float b, float c) {
  return __nvvm_fma_rn_ftz_f(a, b, c);
}

/// 1 / x, at most one unit of the last place off; denormals count as 0.
GQ_DEV float gq_dev_reciprocal_approx(float x) {
  return __nvvm_rcp_approx_ftz_f(x);
}

/// a * b + c, rounded down.
GQ_DEV float gq_dev_fma_down(float a, float b, float c) {
  return __nvvm_fma_rm_f(a, b, c);
}

/// x between 0 and 1; NaN is 0.
GQ_DEV float gq_dev_saturate(float x) { return __nvvm_saturate_f(x); }

/// 2^x, approximately; denormals count as 0.
GQ_DEV float gq_dev_exp2_approx(float x) { return __nvvm_ex2_approx_ftz_f(x); }

GQ_DEV double gq_dev_fma64(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

/// 1 / x, to about 20 bits.
GQ_DEV double gq_dev_reciprocal_approx64(double x) {
  return __nvvm_rcp_approx_ftz_d(x);
}

//===----------------------------------------------------------------------===//
// bf16 and f16, two in a word, the first in the low half
//===----------------------------------------------------------------------===//

/// gq_dev_max_magnitude of both.
GQ_DEV uint32_t gq_dev_max_magnitude_bf16x2(uint32_t a, uint32_t b) {
  uint32_t max;
  __asm__("max.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(max) : "r"(a), "r"(b));
  return max;
}

/// gq_dev_max_magnitude of both.
GQ_DEV uint32_t gq_dev_max_magnitude_f16x2(uint32_t a, uint32_t b) {
  uint32_t max;
  __asm__("max.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(max) : "r"(a), "r"(b));
  return max;
}

/// The same, but NaN where one of them is.
GQ_DEV uint32_t gq_dev_max_magnitude_or_nan_bf16x2(uint32_t a, uint32_t b) {
  uint32_t max;
  __asm__("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;"
          : "=r"(max)
          : "r"(a), "r"(b));
  return max;
}
GQ_DEV uint32_t gq_dev_max_magnitude_or_nan_f16x2(uint32_t a, uint32_t b) {
  uint32_t max;
  __asm__("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(max) : "r"(a), "r"(b));
  return max;
}

/// gq_dev_min_magnitude of both.
GQ_DEV uint32_t gq_dev_min_magnitude_f16x2(uint32_t a, uint32_t b) {
  uint32_t min;
  __asm__("min.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(min) : "r"(a), "r"(b));
  return min;
}

/// gq_dev_fma of both.
GQ_DEV uint32_t gq_dev_fma_f16x2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t sum;
  __asm__("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  return sum;
}

/// Rounded to nearest even.
GQ_DEV uint32_t gq_dev_f16x2_from_f32(float low, float high) {
  uint32_t halves;
  __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
  return halves;
}

/// Rounded to zero; f16 denormals are kept.
GQ_DEV uint32_t gq_dev_f16x2_truncated(float low, float high) {
  uint32_t halves;
  __asm__("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
  return halves;
}

/// Rounded to nearest even.
GQ_DEV uint32_t gq_dev_bf16x2_from_f32(float low, float high) {
  uint32_t halves;
  __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(high), "f"(low));
  return halves;
}

GQ_DEV void gq_dev_unpack_bf16(const uint32_t words[8], float out[16]) {
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = gq_dev_f32_from_bits(words[i] << 16);
    out[2 * i + 1] = gq_dev_f32_from_bits(words[i] & 0xffff0000);
  }
}

/// Of floats that are bf16.
GQ_DEV uint32_t gq_dev_pack_bf16(float low, float high) {
  return gq_dev_f32_bits(low) >> 16 | (gq_dev_f32_bits(high) & 0xffff0000);
}

GQ_DEV float gq_dev_f32_from_f16_native(uint16_t x) {
  _Float16 half;
  __builtin_memcpy(&half, &x, sizeof(half));
  return (float)half;
}

GQ_DEV void gq_dev_unpack_f16(const uint32_t words[8], float out[16]) {
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = gq_dev_f32_from_f16_native((uint16_t)words[i]);
    out[2 * i + 1] = gq_dev_f32_from_f16_native((uint16_t)(words[i] >> 16));
  }
}

/// Of floats that are f16.
GQ_DEV uint32_t gq_dev_pack_f16(float low, float high) {
  _Float16 halves[2] = {(_Float16)low, (_Float16)high};
  uint32_t word;
  __builtin_memcpy(&word, halves, sizeof(word));
  return word;
}

//===----------------------------------------------------------------------===//
// fp8 and e2m1, rounded to nearest even and saturated; NaN is 0x7f, or +6
//===----------------------------------------------------------------------===//

/// Two codes, that of `low` in the low byte.
GQ_DEV uint32_t gq_dev_e4m3x2_from_f32(float low, float high) {
  uint16_t pair;
  __asm__("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
          : "=h"(pair)
          : "f"(high), "f"(low));
  return pair;
}

/// Four codes, that of x0 in the lowest byte. In one piece, so that the second
/// conversion also merges.
GQ_DEV uint32_t gq_dev_e4m3x4_from_f32(float x0, float x1, float x2, float x3) {
  uint32_t codes;
  __asm__("{\n\t"
          ".reg .b16 low, high;\n\t"
          "cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n\t"
          "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n\t"
          "mov.b32 %0, {low, high};\n\t"
          "}"
          : "=r"(codes)
          : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
  return codes;
}

/// Four codes, the first two of which are in the low half of `first`.
GQ_DEV uint32_t gq_dev_e4m3x4_after(uint32_t first, float x2, float x3) {
  uint32_t codes;
  __asm__("{\n\t"
          ".reg .b16 high;\n\t"
          "cvt.rn.satfinite.e4m3x2.f32 high, %3, %2;\n\t"
          "mov.b32 %0, {%1, high};\n\t"
          "}"
          : "=r"(codes)
          : "h"((uint16_t)first), "f"(x2), "f"(x3));
  return codes;
}

GQ_DEV uint32_t gq_dev_e5m2x4_from_f32(float x0, float x1, float x2, float x3) {
  uint32_t codes;
  __asm__("{\n\t"
          ".reg .b16 low, high;\n\t"
          "cvt.rn.satfinite.e5m2x2.f32 low, %2, %1;\n\t"
          "cvt.rn.satfinite.e5m2x2.f32 high, %4, %3;\n\t"
          "mov.b32 %0, {low, high};\n\t"
          "}"
          : "=r"(codes)
          : "f"(x0), "f"(x1), "f"(x2), "f"(x3));
  return codes;
}

/// The values of two e4m3 codes.
GQ_DEV uint32_t gq_dev_f16x2_from_e4m3x2(uint32_t codes) {
  uint32_t halves;
  __asm__("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((uint16_t)codes));
  return halves;
}

#if __CUDA_ARCH__ >= 1000
/// The codes of x[0] to x[3], x[0] in the lowest nibble.
GQ_DEV uint32_t gq_dev_e2m1x4_native(const float x[4]) {
  uint16_t codes;
  __asm__("{\n\t"
          ".reg .b8 b0, b1;\n\t"
          "cvt.rn.satfinite.e2m1x2.f32 b0, %2, %1;\n\t"
          "cvt.rn.satfinite.e2m1x2.f32 b1, %4, %3;\n\t"
          "mov.b16 %0, {b0, b1};\n\t"
          "}"
          : "=h"(codes)
          : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]));
  return codes;
}

/// The codes of x[0] to x[7], x[0] in the lowest nibble.
GQ_DEV uint32_t gq_dev_e2m1x8_native(const float x[8]) {
  uint32_t codes;
  __asm__("{\n\t"
          ".reg .b8 b0, b1, b2, b3;\n\t"
          "cvt.rn.satfinite.e2m1x2.f32 b0, %2, %1;\n\t"
          "cvt.rn.satfinite.e2m1x2.f32 b1, %4, %3;\n\t"
          "cvt.rn.satfinite.e2m1x2.f32 b2, %6, %5;\n\t"
          "cvt.rn.satfinite.e2m1x2.f32 b3, %8, %7;\n\t"
          "mov.b32 %0, {b0, b1, b2, b3};\n\t"
          "}"
          : "=r"(codes)
          : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]),
            "f"(x[6]), "f"(x[7]));
  return codes;
}
#endif

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

typedef uint32_t gq_dev_u32x4 __attribute__((ext_vector_type(4)));
typedef uint32_t gq_dev_u32x2 __attribute__((ext_vector_type(2)));
typedef float gq_dev_f32x4 __attribute__((ext_vector_type(4)));
typedef float gq_dev_f32x2 __attribute__((ext_vector_type(2)));

/// 16 bytes at a multiple of 16 that are read once: not kept in L1. Volatile
/// only to stay where it is written, ahead of what uses it.
GQ_DEV gq_dev_u32x4 gq_dev_load_once(const gq_dev_u32x4 GQ_GLOBAL *p) {
  gq_dev_u32x4 x;
  __asm__ volatile("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                   : "l"(p));
  return x;
}

/// `x` by an instruction if operand 4 is not 0, else zeros: without a branch,
/// which would cut up what can be scheduled together. Then come the address,
/// operand 5, and others.
#define GQ_DEV_LOAD16_IF(X, INSTRUCTION, CONDITION, ...)                       \
  __asm__ volatile("{\n\t"                                                     \
                   ".reg .pred p;\n\t"                                         \
                   "setp.ne.b32 p, %4, 0;\n\t"                                 \
                   "mov.b32 %0, 0;\n\t"                                        \
                   "mov.b32 %1, 0;\n\t"                                        \
                   "mov.b32 %2, 0;\n\t"                                        \
                   "mov.b32 %3, 0;\n\t"                                        \
                   "@p " INSTRUCTION ";\n\t"                                   \
                   "}"                                                         \
                   : "=&r"((X).x), "=&r"((X).y), "=&r"((X).z), "=&r"((X).w)    \
                   : "r"((uint32_t)(CONDITION)), __VA_ARGS__)

/// The same of 8 bytes: the condition is operand 2, the address operand 3.
#define GQ_DEV_LOAD8_IF(X, INSTRUCTION, CONDITION, ...)                        \
  __asm__ volatile("{\n\t"                                                     \
                   ".reg .pred p;\n\t"                                         \
                   "setp.ne.b32 p, %2, 0;\n\t"                                 \
                   "mov.b32 %0, 0;\n\t"                                        \
                   "mov.b32 %1, 0;\n\t"                                        \
                   "@p " INSTRUCTION ";\n\t"                                   \
                   "}"                                                         \
                   : "=&r"((X).x), "=&r"((X).y)                                \
                   : "r"((uint32_t)(CONDITION)), __VA_ARGS__)

/// gq_dev_load_once if `condition`, else zeros, and the same of 8 bytes.
GQ_DEV gq_dev_u32x4 gq_dev_load_once_if(bool condition,
                                        const gq_dev_u32x4 GQ_GLOBAL *p) {
  gq_dev_u32x4 x;
  GQ_DEV_LOAD16_IF(x, "ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%5]", condition,
                   "l"(p));
  return x;
}

GQ_DEV gq_dev_u32x2 gq_dev_load8_once_if(bool condition,
                                         const gq_dev_u32x2 GQ_GLOBAL *p) {
  gq_dev_u32x2 x;
  GQ_DEV_LOAD8_IF(x, "ld.global.nc.v2.b32 {%0, %1}, [%3]", condition, "l"(p));
  return x;
}

/// A policy by which L2 keeps what is loaded: as anything else, or as what it
/// gives up first.
GQ_DEV uint64_t gq_dev_l2_policy(bool evictFirst) {
  uint64_t first, normal;
  __asm__("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
  __asm__("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;"
          : "=l"(normal));
  return evictFirst ? first : normal;
}

/// gq_dev_load_once_if and gq_dev_load8_once_if by such a policy.
GQ_DEV gq_dev_u32x4 gq_dev_load_by_policy_if(bool condition,
                                             const gq_dev_u32x4 GQ_GLOBAL *p,
                                             uint64_t policy) {
  gq_dev_u32x4 x;
  GQ_DEV_LOAD16_IF(
      x, "ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%5], %6",
      condition, "l"(p), "l"(policy));
  return x;
}

GQ_DEV gq_dev_u32x2 gq_dev_load8_by_policy_if(bool condition,
                                              const gq_dev_u32x2 GQ_GLOBAL *p,
                                              uint64_t policy) {
  gq_dev_u32x2 x;
  GQ_DEV_LOAD8_IF(x, "ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%3], %4",
                  condition, "l"(p), "l"(policy));
  return x;
}

/// Stores 4, 8 or 16 bytes at a multiple of as much, if `condition`: without
/// a branch, too.
GQ_DEV void gq_dev_store4_if(bool condition, void GQ_GLOBAL *p, uint32_t x) {
  __asm__ volatile("{\n\t"
                   ".reg .pred p;\n\t"
                   "setp.ne.b32 p, %0, 0;\n\t"
                   "@p st.global.b32 [%1], %2;\n\t"
                   "}"
                   :
                   : "r"((uint32_t)condition), "l"(p), "r"(x)
                   : "memory");
}

GQ_DEV void gq_dev_store8_if(bool condition, void GQ_GLOBAL *p,
                             const uint32_t x[2]) {
  __asm__ volatile("{\n\t"
                   ".reg .pred p;\n\t"
                   "setp.ne.b32 p, %0, 0;\n\t"
                   "@p st.global.v2.b32 [%1], {%2, %3};\n\t"
                   "}"
                   :
                   : "r"((uint32_t)condition), "l"(p), "r"(x[0]), "r"(x[1])
                   : "memory");
}

GQ_DEV void gq_dev_store16_if(bool condition, void GQ_GLOBAL *p,
                              const uint32_t x[4]) {
  __asm__ volatile("{\n\t"
                   ".reg .pred p;\n\t"
                   "setp.ne.b32 p, %0, 0;\n\t"
                   "@p st.global.v4.b32 [%1], {%2, %3, %4, %5};\n\t"
                   "}"
                   :
                   : "r"((uint32_t)condition), "l"(p), "r"(x[0]), "r"(x[1]),
                     "r"(x[2]), "r"(x[3])
                   : "memory");
}

/// Stores what nothing reads soon.
GQ_DEV void gq_dev_store16_streaming(void GQ_GLOBAL *p, gq_dev_u32x4 x) {
  __asm__ volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p),
                   "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w)
                   : "memory");
}

/// Has the 128 bytes that p is in brought to L2, without a fault if there is no
/// such memory.
GQ_DEV void gq_dev_prefetch(const void GQ_GLOBAL *p) {
  __asm__ volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/// Begins to copy 16 bytes to shared memory, both aligned to 16; a missing
/// source is not read and gives zeros. They have arrived after
/// gq_dev_wait_for_copies. By way of L1: past it, each sector came twice from
/// L2.
GQ_DEV void gq_dev_begin_copy16(gq_dev_u32x4 GQ_SHARED *to,
                                const void GQ_GLOBAL *from) {
  __nvvm_cp_async_ca_shared_global_16(to, from);
}
GQ_DEV void gq_dev_begin_copy16_if(bool condition, gq_dev_u32x4 GQ_SHARED *to,
                                   const void GQ_GLOBAL *from) {
  __nvvm_cp_async_ca_shared_global_16(to, from, condition ? 16 : 0);
}

/// The same of 8 bytes, both aligned to 8.
GQ_DEV void gq_dev_begin_copy8_if(bool condition, gq_dev_u32x2 GQ_SHARED *to,
                                  const void GQ_GLOBAL *from) {
  __nvvm_cp_async_ca_shared_global_8(to, from, condition ? 8 : 0);
}

/// The same of 16 past L1, of what no other lane of the multiprocessor reads.
GQ_DEV void gq_dev_begin_copy16_past_l1(gq_dev_u32x4 GQ_SHARED *to,
                                        const void GQ_GLOBAL *from) {
  __nvvm_cp_async_cg_shared_global_16(to, from);
}

/// The same of a word, both aligned to 4.
GQ_DEV void gq_dev_begin_copy_word(uint32_t GQ_SHARED *to,
                                   const void GQ_GLOBAL *from) {
  __nvvm_cp_async_ca_shared_global_4(to, from);
}

/// The same, and has the 128 bytes that the word is in brought to L2.
GQ_DEV void gq_dev_begin_copy_word_of_line(uint32_t GQ_SHARED *to,
                                           const void GQ_GLOBAL *from) {
  __asm__ volatile(
      "cp.async.ca.shared.global.L2::128B [%0], [%1], 4;" ::"r"(to), "l"(from)
      : "memory");
}

/// Waits for the copies of this thread.
GQ_DEV void gq_dev_wait_for_copies(void) { __nvvm_cp_async_wait_all(); }

/// ORs into a word that other threads OR into as well.
GQ_DEV void gq_dev_atomic_or(uint32_t GQ_GLOBAL *p, uint32_t bits) {
  __atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
}

/// Adds to a word, and returns what it was.
GQ_DEV uint32_t gq_dev_atomic_add(uint32_t GQ_GLOBAL *p, uint32_t x) {
  return __atomic_fetch_add(p, x, __ATOMIC_RELAXED);
}

GQ_DEV void gq_dev_atomic_or_shared(uint32_t GQ_SHARED *p, uint32_t bits) {
  __atomic_fetch_or(p, bits, __ATOMIC_RELAXED);
}

/// Raises a word to x, which other threads raise as well.
GQ_DEV void gq_dev_atomic_max(uint32_t GQ_GLOBAL *p, uint32_t x) {
  __atomic_fetch_max(p, x, __ATOMIC_RELAXED);
}

GQ_DEV void gq_dev_atomic_max_shared(uint32_t GQ_SHARED *p, uint32_t x) {
  __atomic_fetch_max(p, x, __ATOMIC_RELAXED);
}

#endif // GQ_KERNELS_ARCH_NVPTX_H
