//===- exhaustive_e2m1.c - every float32 against the thresholds ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "runtime_kernels/codecs/E2M1.h"

#include <inttypes.h>
#include <stdio.h>

int main(void) {
  uint64_t numFloats = 0, numWrong = 0;
  for (; numFloats < UINT64_C(1) << 32; ++numFloats) {
    float x = gq_dev_f32_from_bits((uint32_t)numFloats);
    uint32_t code = gq_dev_e2m1_from_f32(x), expected = referenceE2M1(x);
    if (code != expected && numWrong++ < 10)
      printf("%a: code %" PRIu32 ", expected %" PRIu32 "\n", (double)x, code,
             expected);
  }
  printf("%" PRIu64 " of %" PRIu64 " float32 values differ\n", numWrong,
         numFloats);
  return numWrong != 0;
}
