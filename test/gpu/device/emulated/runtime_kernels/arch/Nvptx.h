//===- Nvptx.h - the GPU's instructions, emulated ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the place of runtime_kernels/arch/Nvptx.h where device functions are
// compiled for the CPU: see Emulator.h. What it declares is described there.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_NVPTX_H
#define GQ_KERNELS_ARCH_NVPTX_H

#include "Emulator.h"

#include "runtime_kernels/codecs/Float.h"

#include <fenv.h>
#include <math.h>

#define GQ_SHARED
#define GQ_UNINITIALIZED

enum {
  GQ_DEV_WARP = EMULATOR_WARP,
  GQ_DEV_SHARED_KB = 228,
  GQ_DEV_IS_SM90 = true,
};

GQ_DEV uint32_t gq_dev_thread(void) { return emulatorThread(); }
GQ_DEV uint32_t gq_dev_here(uint32_t x) { return x; }
GQ_DEV int64_t gq_dev_here64(int64_t x) { return x; }
GQ_DEV float gq_dev_here_f32(float x) { return x; }
GQ_DEV uint32_t gq_dev_lane(void) { return emulatorThread() % GQ_DEV_WARP; }
GQ_DEV bool gq_dev_is_first_lane(void) { return gq_dev_lane() == 0; }
GQ_DEV uint32_t gq_dev_num_threads(void) { return emulatorNumThreads(); }
GQ_DEV uint32_t gq_dev_cta(void) { return emulatorCta(); }
GQ_DEV uint32_t gq_dev_num_ctas(void) { return emulatorNumCtas(); }
GQ_DEV void gq_dev_barrier(void) { emulatorBarrier(); }
GQ_DEV void gq_dev_warp_barrier(void) { emulatorExchange('w', 0); }

GQ_DEV uint32_t gq_dev_ballot(bool predicate) {
  const uint64_t *lanes = emulatorExchange('b', predicate);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < GQ_DEV_WARP; ++i)
    bits |= (uint32_t)lanes[i] << i;
  return bits;
}

GQ_DEV int64_t gq_dev_shuffle64(int64_t x, uint32_t lane) {
  return (int64_t)emulatorExchange('s', (uint64_t)x)[lane % GQ_DEV_WARP];
}

GQ_DEV uint32_t gq_dev_shuffle(uint32_t x, uint32_t lane) {
  return (uint32_t)gq_dev_shuffle64(x, lane);
}

GQ_DEV float gq_dev_shuffle_f32(float x, uint32_t lane) {
  return gq_dev_f32_from_bits(gq_dev_shuffle(gq_dev_f32_bits(x), lane));
}

GQ_DEV uint32_t gq_dev_shuffle_xor(uint32_t x, uint32_t mask) {
  return gq_dev_shuffle(x, gq_dev_lane() ^ mask);
}

GQ_DEV int64_t gq_dev_shuffle_up64(int64_t x, uint32_t distance) {
  uint32_t lane = gq_dev_lane();
  return gq_dev_shuffle64(x, lane >= distance ? lane - distance : lane);
}

GQ_DEV uint32_t gq_dev_max_of_lanes(uint32_t x) {
  const uint64_t *lanes = emulatorExchange('m', x);
  for (uint32_t i = 0; i < GQ_DEV_WARP; ++i)
    x = (uint32_t)lanes[i] > x ? (uint32_t)lanes[i] : x;
  return x;
}

GQ_DEV uint32_t gq_dev_sum_of_lanes(uint32_t x) {
  const uint64_t *lanes = emulatorExchange('a', x);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < GQ_DEV_WARP; ++i)
    sum += (uint32_t)lanes[i];
  return sum;
}

GQ_DEV float gq_dev_min_magnitude(float a, float b) {
  float min = fminf(fabsf(a), fabsf(b));
  bool negative = isnan(a) || isnan(b) ? false : signbit(a) != signbit(b);
  return negative ? -min : min;
}

GQ_DEV float gq_dev_max_magnitude(float a, float b) {
  float max = fmaxf(fabsf(a), fabsf(b));
  bool negative = isnan(a) || isnan(b) ? false : signbit(a) != signbit(b);
  return negative ? -max : max;
}

GQ_DEV float gq_dev_max_number(float a, float b) { return fmaxf(a, b); }
GQ_DEV float gq_dev_max_or_nan(float a, float b) {
  return isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
}

GQ_DEV float gq_dev_fma(float a, float b, float c) { return fmaf(a, b, c); }

GQ_DEV float gq_dev_flushed(float x) {
  return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

GQ_DEV float gq_dev_fma_flushed(float a, float b, float c) {
  return gq_dev_flushed(fmaf(gq_dev_flushed(a), b, c));
}

/// Off by one unit of the last place now and then, but not for the few x of
/// which one Newton step would not give the rounded quotient then: the chip's
/// is such that the step does, rcp.rn is made of it.
GQ_DEV float gq_dev_reciprocal_approx(float x) {
  x = gq_dev_flushed(x);
  float r = gq_dev_flushed(1.0f / x);
  if (r == 0.0f || !isfinite(r))
    return r;
  uint32_t bits = gq_dev_f32_bits(r);
  float off = gq_dev_f32_from_bits(bits + bits % 3 - 1);
  return fmaf(fmaf(-x, off, 1.0f), off, off) == r ? off : r;
}

GQ_DEV double gq_dev_fma64(double a, double b, double c) {
  return fma(a, b, c);
}

GQ_DEV float gq_dev_fma_down(float a, float b, float c) {
  int mode = fegetround();
  fesetround(FE_DOWNWARD);
  volatile float result = fmaf(a, b, c);
  fesetround(mode);
  return result;
}

GQ_DEV float gq_dev_saturate(float x) { return fmaxf(fminf(x, 1.0f), 0.0f); }

GQ_DEV float gq_dev_exp2_approx(float x) {
  return gq_dev_flushed(exp2f(gq_dev_flushed(x)));
}

GQ_DEV double gq_dev_reciprocal_approx64(double x) {
  double r = 1.0 / x;
  return isfinite(r) ? r * (1.0 + 0x1p-21) : r;
}

GQ_DEV float gq_dev_f32_from_f16_native(uint16_t x) {
  return gq_dev_f32_from_f16(x);
}

GQ_DEV uint32_t gq_dev_max_magnitude_bf16x2(uint32_t a, uint32_t b) {
  float low = gq_dev_max_magnitude(gq_dev_f32_from_bits(a << 16),
                                   gq_dev_f32_from_bits(b << 16));
  float high = gq_dev_max_magnitude(gq_dev_f32_from_bits(a & 0xffff0000),
                                    gq_dev_f32_from_bits(b & 0xffff0000));
  return gq_dev_f32_bits(low) >> 16 | (gq_dev_f32_bits(high) & 0xffff0000);
}

GQ_DEV uint32_t gq_dev_max_magnitude_f16x2(uint32_t a, uint32_t b) {
  uint32_t max = 0;
  for (int i = 0; i < 32; i += 16)
    max |= (uint32_t)gq_dev_f16_from_f32(
               gq_dev_max_magnitude(gq_dev_f32_from_f16((uint16_t)(a >> i)),
                                    gq_dev_f32_from_f16((uint16_t)(b >> i))))
           << i;
  return max;
}

GQ_DEV uint32_t gq_dev_max_magnitude_or_nan_bf16x2(uint32_t a, uint32_t b) {
  uint32_t max = gq_dev_max_magnitude_bf16x2(a, b);
  for (int i = 0; i < 32; i += 16)
    if ((a >> i & 0x7fff) > 0x7f80 || (b >> i & 0x7fff) > 0x7f80)
      max |= 0x7fffu << i;
  return max;
}

GQ_DEV uint32_t gq_dev_max_magnitude_or_nan_f16x2(uint32_t a, uint32_t b) {
  uint32_t max = gq_dev_max_magnitude_f16x2(a, b);
  for (int i = 0; i < 32; i += 16)
    if ((a >> i & 0x7fff) > 0x7c00 || (b >> i & 0x7fff) > 0x7c00)
      max |= 0x7fffu << i;
  return max;
}

GQ_DEV uint32_t gq_dev_min_magnitude_f16x2(uint32_t a, uint32_t b) {
  uint32_t min = 0;
  for (int i = 0; i < 32; i += 16)
    min |= (uint32_t)gq_dev_f16_from_f32(
               gq_dev_min_magnitude(gq_dev_f32_from_f16((uint16_t)(a >> i)),
                                    gq_dev_f32_from_f16((uint16_t)(b >> i))))
           << i;
  return min;
}

/// Where what is added in float32 is exact or far from a middle between two
/// f16. There is one NaN.
GQ_DEV uint32_t gq_dev_fma_f16x2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (int i = 0; i < 32; i += 16) {
    float sum = fmaf(gq_dev_f32_from_f16((uint16_t)(a >> i)),
                     gq_dev_f32_from_f16((uint16_t)(b >> i)),
                     gq_dev_f32_from_f16((uint16_t)(c >> i)));
    result |= (isnan(sum) ? 0x7fffu : gq_dev_f16_from_f32(sum)) << i;
  }
  return result;
}

GQ_DEV uint32_t gq_dev_f16x2_from_f32(float low, float high) {
  return gq_dev_f16_from_f32(low) | (uint32_t)gq_dev_f16_from_f32(high) << 16;
}

/// Of magnitudes below 2^-11, so that the unit of the last place is 2^-24 for
/// denormals or at most 2^-22.
GQ_DEV uint16_t emulatorF16Truncated(float x) {
  uint16_t nearest = gq_dev_f16_from_f32(x);
  bool away = fabsf(gq_dev_f32_from_f16(nearest)) > fabsf(x);
  return (uint16_t)(nearest - away);
}

GQ_DEV uint32_t gq_dev_f16x2_truncated(float low, float high) {
  return emulatorF16Truncated(low) | (uint32_t)emulatorF16Truncated(high) << 16;
}

GQ_DEV uint32_t gq_dev_bf16x2_from_f32(float low, float high) {
  return gq_dev_bf16_from_f32(low) | (uint32_t)gq_dev_bf16_from_f32(high) << 16;
}

GQ_DEV uint32_t gq_dev_permute(uint32_t low, uint32_t high, uint32_t selector) {
  uint64_t bytes = (uint64_t)high << 32 | low;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= (uint32_t)(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return result;
}

GQ_DEV uint32_t gq_dev_min_u16x2(uint32_t a, uint32_t b) {
  uint32_t low = (a & 0xffff) < (b & 0xffff) ? a & 0xffff : b & 0xffff;
  uint32_t high = a >> 16 < b >> 16 ? a >> 16 : b >> 16;
  return high << 16 | low;
}

GQ_DEV uint32_t gq_dev_max_u16x2(uint32_t a, uint32_t b) {
  return ~gq_dev_min_u16x2(~a, ~b);
}

GQ_DEV uint32_t gq_dev_add_min_u16x2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t sum = ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16;
  return gq_dev_min_u16x2(sum, c);
}

GQ_DEV uint32_t gq_dev_select_bits(uint32_t mask, uint32_t ones,
                                   uint32_t zeros) {
  return (ones & mask) | (zeros & ~mask);
}

GQ_DEV void gq_dev_unpack_bf16(const uint32_t words[8], float out[16]) {
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = gq_dev_f32_from_bits(words[i] << 16);
    out[2 * i + 1] = gq_dev_f32_from_bits(words[i] & 0xffff0000);
  }
}

GQ_DEV void gq_dev_unpack_f16(const uint32_t words[8], float out[16]) {
  for (int i = 0; i < 16; ++i)
    out[i] = gq_dev_f32_from_f16((uint16_t)(words[i / 2] >> i % 2 * 16));
}

GQ_DEV uint32_t gq_dev_pack_bf16(float low, float high) {
  return gq_dev_f32_bits(low) >> 16 | (gq_dev_f32_bits(high) & 0xffff0000);
}

GQ_DEV uint32_t gq_dev_pack_f16(float low, float high) {
  return gq_dev_f16_from_f32(low) | (uint32_t)gq_dev_f16_from_f32(high) << 16;
}

GQ_DEV uint32_t gq_dev_e4m3x2_from_f32(float low, float high) {
  return emulatorFp8(low, 3, 448.0f) | (uint32_t)emulatorFp8(high, 3, 448.0f)
                                           << 8;
}

GQ_DEV uint32_t gq_dev_e4m3x4_from_f32(float x0, float x1, float x2, float x3) {
  return gq_dev_e4m3x2_from_f32(x0, x1) | gq_dev_e4m3x2_from_f32(x2, x3) << 16;
}

GQ_DEV uint32_t gq_dev_e4m3x4_after(uint32_t first, float x2, float x3) {
  return (first & 0xffff) | gq_dev_e4m3x2_from_f32(x2, x3) << 16;
}

GQ_DEV uint32_t gq_dev_e5m2x4_from_f32(float x0, float x1, float x2, float x3) {
  const float x[4] = {x0, x1, x2, x3};
  uint32_t codes = 0;
  for (int i = 0; i < 4; ++i)
    codes |= (uint32_t)emulatorFp8(x[i], 2, 57344.0f) << 8 * i;
  return codes;
}

GQ_DEV uint32_t gq_dev_f16x2_from_e4m3x2(uint32_t codes) {
  uint32_t halves = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t code = codes >> 8 * i & 0xff;
    int exponent = (int)(code >> 3 & 15), mantissa = (int)(code & 7);
    float value = exponent ? ldexpf((float)(8 + mantissa), exponent - 10)
                           : ldexpf((float)mantissa, -9);
    if ((code & 0x7f) == 0x7f)
      value = NAN;
    halves |= (uint32_t)gq_dev_f16_from_f32(code & 0x80 ? -value : value)
              << 16 * i;
  }
  return halves;
}

typedef uint32_t gq_dev_u32x4 __attribute__((ext_vector_type(4)));
typedef uint32_t gq_dev_u32x2 __attribute__((ext_vector_type(2)));
typedef float gq_dev_f32x4 __attribute__((ext_vector_type(4)));
typedef float gq_dev_f32x2 __attribute__((ext_vector_type(2)));

GQ_DEV void gq_dev_begin_copy16_if(bool condition, gq_dev_u32x4 *to,
                                   const void *from) {
  emulatorBeginCopy(to, condition ? from : 0, sizeof(*to));
}
GQ_DEV void gq_dev_begin_copy8_if(bool condition, gq_dev_u32x2 *to,
                                  const void *from) {
  emulatorBeginCopy(to, condition ? from : 0, sizeof(*to));
}
GQ_DEV void gq_dev_begin_copy16_past_l1(gq_dev_u32x4 *to, const void *from) {
  gq_dev_begin_copy16_if(true, to, from);
}
GQ_DEV void gq_dev_store16_streaming(void *p, gq_dev_u32x4 x) {
  *(gq_dev_u32x4 *)p = x;
}
GQ_DEV void gq_dev_begin_copy_word(uint32_t *to, const void *from) {
  emulatorBeginCopy(to, from, sizeof(*to));
}
GQ_DEV void gq_dev_begin_copy_word_of_line(uint32_t *to, const void *from) {
  gq_dev_begin_copy_word(to, from);
}
/// Reads it: what is not there is not to be brought, either.
GQ_DEV void gq_dev_prefetch(const void *p) {
  (void)*(const volatile uint8_t *)p;
}
GQ_DEV void gq_dev_begin_copy16(gq_dev_u32x4 *to, const void *from) {
  gq_dev_begin_copy16_if(true, to, from);
}
GQ_DEV void gq_dev_wait_for_copies(void) { emulatorWaitForCopies(); }

GQ_DEV gq_dev_u32x4 gq_dev_load_once(const gq_dev_u32x4 *p) { return *p; }
GQ_DEV gq_dev_u32x4 gq_dev_load_once_if(bool condition, const gq_dev_u32x4 *p) {
  return condition ? *p : (gq_dev_u32x4){0};
}

GQ_DEV gq_dev_u32x2 gq_dev_load8_once_if(bool condition,
                                         const gq_dev_u32x2 *p) {
  return condition ? *p : (gq_dev_u32x2){0};
}

GQ_DEV uint64_t gq_dev_l2_policy(bool evictFirst) { return evictFirst; }
GQ_DEV gq_dev_u32x4 gq_dev_load_by_policy_if(bool condition,
                                             const gq_dev_u32x4 *p,
                                             uint64_t policy) {
  (void)policy;
  return gq_dev_load_once_if(condition, p);
}
GQ_DEV gq_dev_u32x2 gq_dev_load8_by_policy_if(bool condition,
                                              const gq_dev_u32x2 *p,
                                              uint64_t policy) {
  (void)policy;
  return gq_dev_load8_once_if(condition, p);
}

GQ_DEV void gq_dev_store4_if(bool condition, void *p, uint32_t x) {
  if (condition)
    *(uint32_t *)p = x;
}

GQ_DEV void gq_dev_store8_if(bool condition, void *p, const uint32_t x[2]) {
  if (condition)
    *(gq_dev_u32x2 *)p = (gq_dev_u32x2){x[0], x[1]};
}

GQ_DEV void gq_dev_store16_if(bool condition, void *p, const uint32_t x[4]) {
  if (condition)
    *(gq_dev_u32x4 *)p = (gq_dev_u32x4){x[0], x[1], x[2], x[3]};
}

GQ_DEV void gq_dev_atomic_or(uint32_t *p, uint32_t bits) { *p |= bits; }
GQ_DEV uint32_t gq_dev_atomic_add(uint32_t *p, uint32_t x) {
  return (*p += x) - x;
}
GQ_DEV void gq_dev_atomic_or_shared(uint32_t *p, uint32_t bits) { *p |= bits; }
GQ_DEV void gq_dev_atomic_max(uint32_t *p, uint32_t x) { *p = *p > x ? *p : x; }
GQ_DEV void gq_dev_atomic_max_shared(uint32_t *p, uint32_t x) {
  *p = *p > x ? *p : x;
}

#endif // GQ_KERNELS_ARCH_NVPTX_H
