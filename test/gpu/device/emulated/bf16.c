//===- bf16.c - the device's conversion of bf16 to nvfp4, exhaustively ----===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every bf16 and every scale, compared with the numerics that the CPU runtime
// uses. What this cannot show is the GPU's approximate reciprocal: the test
// "all bf16" of device_kernels does.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/scalers/Block.h"

#include <inttypes.h>
#include <stdio.h>

int main(void) {
  const gq_dev_scaler scaler = {.format = GQ_FORMAT_NVFP4,
                                .recipe = GQ_RECIPE_NVFUSER,
                                .way = GQ_DEV_E2M1_SPACED};
  uint64_t numBlocks = 0, numWrong = 0;
  for (uint32_t scale = 0; scale < 127; ++scale) {
    float amax = 6.0f * gq_dev_f32_from_e4m3((uint8_t)scale);
    float inverse = gq_dev_nvfp4_inverse((uint8_t)scale, 1.0f);
    for (uint32_t first = 0; first < 65536; first += 16) {
      float x[16], y[16];
      uint32_t codes[4], expected[2] = {0};
      for (uint32_t i = 0; i < 16; ++i) {
        x[i] = gq_dev_f32_from_bf16((uint16_t)(first + i));
        expected[i / 8] |= gq_dev_e2m1_from_f32(x[i] * inverse) << i % 8 * 4;
      }
      gq_dev_any_scale any =
          gq_dev_either_block(scaler, amax, (gq_dev_outer){0});
      uint32_t found = any.block.bits;
      gq_dev_scale_unit(scaler, any, x, y);
      gq_dev_codes(scaler.format, scaler.way, y, codes);
      ++numBlocks;
      if ((found != scale || codes[0] != expected[0] ||
           codes[1] != expected[1]) &&
          numWrong++ < 10)
        printf("scale %02" PRIx32 ", bf16 %04" PRIx32
               " and on: scale %02" PRIx32 ", codes %08" PRIx32 "%08" PRIx32
               ", expected %08" PRIx32 "%08" PRIx32 "\n",
               scale, first, found, codes[1], codes[0], expected[1],
               expected[0]);
    }
  }
  printf("%" PRIu64 " of %" PRIu64 " blocks differ\n", numWrong, numBlocks);
  return numWrong != 0;
}
