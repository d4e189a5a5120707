//===- e2m1.c - the device's conversion of float32 to e2m1 ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gq_dev_e2m1x4 and gq_dev_e2m1x8_after, compared with the numerics that the
// CPU runtime uses: every float32 below 7 of either sign whose last 8 bits are
// near those of a middle between two codes, which all are 0, and NaN.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/codecs/E2M1.h"
#include "runtime_kernels/kernels/Scales.h"

#include <inttypes.h>
#include <stdio.h>

int main(void) {
  const uint32_t ends[4] = {0, 1, 0x80, 0xff};
  uint64_t numWords = 0, numWrong = 0;
  for (uint32_t high = 0; high < 0x800000; ++high) {
    float x[8], y[8];
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      x[i] = gq_dev_f32_from_bits(high << 8 | ends[i / 2] | i % 2 << 31);
      y[i] = x[i] * gq_dev_e2m1_unit();
      expected |= gq_dev_e2m1_from_f32(x[i]) << i * 4;
    }
    bool isNaN = x[0] != x[0];
    if (!isNaN && !(x[6] < 7.0f))
      continue;
    uint32_t found = gq_dev_e2m1x8_after(gq_dev_e2m1x4(y), y + 4);
    ++numWords;
    if (found != expected && numWrong++ < 10)
      printf("%a and on: %08" PRIx32 ", expected %08" PRIx32 "\n", (double)x[0],
             found, expected);
    // All NaN are alike.
    if (isNaN)
      high += 0xffff;
  }
  printf("%" PRIu64 " of %" PRIu64 " words differ\n", numWrong, numWords);
  return numWrong != 0;
}
