//===- Producers.c - arithmetic of producers ------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Producers.h"

#include "runtime_kernels/arch/Division.h"
#include "runtime_kernels/codecs/Elements.h"
#include "runtime_kernels/kernels/Kernels.h"

/// Bits 14 and 30 are set if the magnitudes of both are in [2^-63, 2^65): one
/// of the exponent's upper two bits is set and the other is not.
GQ_DEV uint32_t areUsual(float a, float b) {
  uint32_t upper =
      gq_dev_permute(gq_dev_f32_bits(a), gq_dev_f32_bits(b), 0x7632);
  return upper ^ (upper + upper);
}

GQ_DEV_KERNEL uint32_t gq_dev_divide4_usual(const float a[4], const float b[4],
                                            float quotients[4]) {
  const uint32_t both = 0x40004000;
  uint32_t usual = both;
  for (int i = 0; i < 4; ++i) {
    quotients[i] = gq_dev_divide_usual(a[i], b[i]);
    usual &= areUsual(a[i], quotients[i]);
  }
  return usual == both;
}

GQ_DEV_KERNEL void gq_dev_divide4(const float a[4], const float b[4],
                                  float quotients[4]) {
  if (!gq_dev_divide4_usual(a, b, quotients))
    for (int i = 0; i < 4; ++i)
      quotients[i] = a[i] / b[i];
}

GQ_DEV_KERNEL uint32_t gq_dev_divide4_by_more_usual(const float a[4],
                                                    const float b[4],
                                                    float quotients[4]) {
  bool usual = true;
  for (int i = 0; i < 4; ++i) {
    quotients[i] = gq_dev_divide_usual(a[i], b[i]);
    usual &= __builtin_fabsf(quotients[i]) >= 0x1p-63f;
  }
  return usual;
}

GQ_DEV_KERNEL void gq_dev_divide4_by_more(const float a[4], const float b[4],
                                          float quotients[4]) {
  if (!gq_dev_divide4_by_more_usual(a, b, quotients))
    for (int i = 0; i < 4; ++i)
      quotients[i] = a[i] / b[i];
}

/// The exponential function as libdevice has it, which computes 2^n times 2^f,
/// n an integer: their product is exact, or too small to change the sum.
GQ_DEV_KERNEL float gq_dev_exp_plus(float x, float c) {
  const float magic = 0x1.8p23f + 1.0f;
  float n = gq_dev_saturate(gq_dev_fma(x, 0x1.77313ap-8f, 0.5f));
  n = gq_dev_fma_down(n, 252.0f, magic);
  float f = gq_dev_fma(x, 0x1.715476p0f, -(n - (magic + 126.0f)));
  f = gq_dev_fma(x, 0x1.4ae0cp-26f, f);
  float power = gq_dev_f32_from_bits(gq_dev_f32_bits(n) << 23);
  return gq_dev_fma(gq_dev_exp2_approx(f), power, c);
}

GQ_DEV_KERNEL float gq_dev_rounded_to_bf16(float x) {
  return gq_dev_f32_from_bits(gq_dev_bf16x2_from_f32(0.0f, x));
}

GQ_DEV_KERNEL void gq_dev_round4_to_bf16(const float x[4], float rounded[4]) {
  for (int i = 0; i < 4; i += 2)
    gq_dev_unpack(GQ_BF16, gq_dev_bf16x2_from_f32(x[i], x[i + 1]), rounded + i);
}

GQ_DEV_KERNEL void gq_dev_pack16(const float x[16], uint32_t words[8]) {
  for (int i = 0; i < 8; ++i)
    words[i] = gq_dev_pack(GQ_BF16, x + 2 * i);
}

GQ_DEV_KERNEL void gq_dev_unpack16(const uint32_t words[8], float x[16]) {
  for (int i = 0; i < 8; ++i)
    gq_dev_unpack(GQ_BF16, words[i], x + 2 * i);
}

GQ_DEV_KERNEL void gq_dev_copy16(const uint32_t words[8], uint32_t copy[8]) {
  for (int i = 0; i < 8; ++i)
    copy[i] = words[i];
}

GQ_DEV_KERNEL float gq_dev_shift16(uint32_t words[8], float last) {
  float first = gq_dev_f32_from_bits(words[0] << 16);
  for (int i = 0; i < 7; ++i)
    words[i] = words[i] >> 16 | words[i + 1] << 16;
  words[7] = words[7] >> 16 | (gq_dev_f32_bits(last) & 0xffff0000);
  return first;
}
