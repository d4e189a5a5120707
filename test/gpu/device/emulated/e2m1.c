//===- e2m1.c - the device's conversions of float32 to e2m1 ---------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fast forms of codecs/E2M1.h, compared with the reference form: every
// float32 of either sign that they may get, if its last 8 bits are near those
// of a middle between two codes, which all are 0. What is spaced is in bf16.c.
// And stochastic rounding.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/codecs/E2M1.h"

#include <inttypes.h>
#include <stdio.h>

/// Whether a form may get x.
static bool isInput(gq_dev_e2m1_way way, float x) {
  float magnitude = __builtin_fabsf(x);
  if (way == GQ_DEV_E2M1_MOVED)
    return magnitude < 7.0f || x != x;
  return magnitude <= 6.9f || magnitude > GQ_DEV_F32_MAX || x != x;
}

/// Counts the words of stochastic rounding that differ from the reference, of
/// `x` of either sign and bytes about the one from which on x < 1 is rounded
/// up.
static uint64_t wrongOf(float x) {
  int32_t edge = x < 1.0f ? 256 - (int32_t)(x * 512.0f) : 128;
  float y[8];
  uint32_t random[2] = {0}, expected = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    uint32_t byte = (uint32_t)(edge - 2 + (int32_t)(i / 2)) & 255;
    y[i] = i % 2 ? -x : x;
    random[i / 4] |= byte << i % 4 * 8;
    expected |= gq_dev_e2m1_stochastic(y[i], byte) << i * 4;
  }
  uint32_t first[2], second[2];
  gq_dev_e2m1x4_stochastic(y, random[0], first);
  gq_dev_e2m1x4_stochastic(y + 4, random[1], second);
  uint32_t found = gq_dev_e2m1x8_stochastic(first, second);
  if (found != expected)
    printf("stochastic, %a: %08" PRIx32 ", expected %08" PRIx32 "\n", (double)x,
           found, expected);
  return found != expected;
}

/// Of all positive floats with few bits, and of those beside where a byte more
/// or less rounds to another code.
static uint64_t wrongOfStochastic(void) {
  uint64_t wrong = 0;
  for (uint32_t high = 0; high < 0x7f8000; high += 0x10)
    wrong += wrongOf(gq_dev_f32_from_bits(high << 8));
  for (uint32_t n = 1; n <= 6 * 512; ++n)
    for (int32_t ulps = -300; ulps <= 300; ++ulps)
      wrong += wrongOf(gq_dev_f32_from_bits(gq_dev_f32_bits((float)n / 512.0f) +
                                            (uint32_t)ulps));
  for (uint32_t n = 1; n < 128; ++n)
    for (int32_t k = 20; k < 32; ++k)
      wrong += wrongOf((float)((double)n / 512.0 - 1.0 / (double)(1ll << k)));
  return wrong;
}

int main(void) {
  const uint32_t ends[4] = {0, 1, 0x80, 0xff};
  const gq_dev_e2m1_way ways[] = {GQ_DEV_E2M1_ROUNDED, GQ_DEV_E2M1_MOVED};
  uint64_t numWords = 0, numWrong = 0;
  for (uint32_t high = 0; high < 0x800000; ++high)
    for (uint32_t w = 0; w < sizeof(ways) / sizeof(*ways); ++w) {
      float x[8], y[8];
      uint32_t expected = 0;
      for (uint32_t i = 0; i < 8; ++i) {
        x[i] = gq_dev_f32_from_bits(high << 8 | ends[i / 2] | i % 2 << 31);
        if (!isInput(ways[w], x[i]))
          x[i] = 0.0f;
        y[i] = x[i] * gq_dev_e2m1_one(ways[w]);
        expected |= gq_dev_e2m1_from_f32(x[i]) << i * 4;
      }
      uint32_t found = gq_dev_e2m1x8(ways[w], y);
      ++numWords;
      if (found != expected && numWrong++ < 10)
        printf("way %d, %08" PRIx32 " and on: %08" PRIx32
               ", expected %08" PRIx32 "\n",
               ways[w], high << 8, found, expected);
    }
  printf("%" PRIu64 " of %" PRIu64 " words differ\n", numWrong, numWords);
  numWrong += wrongOfStochastic();
  return numWrong != 0;
}
