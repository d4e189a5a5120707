//===- bf16.c - the device's conversion of bf16 to e2m1, exhaustively -----===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every bf16 and every scale of nvfp4 and mxfp4, compared with the numerics
// that the CPU runtime uses. What this cannot show is the GPU's approximate
// reciprocal: the test "all bf16" of device_kernels does.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/scalers/Block.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t numBlocks, numWrong;

/// Every bf16 in blocks of this scale, whose largest magnitude is said to be
/// `amax`, and whose elements are multiplied by `inverse`.
static void test(gqFormat format, uint32_t scale, float amax, float inverse) {
  const gq_dev_scaler scaler = {.format = format,
                                .recipe = GQ_RECIPE_NVFUSER,
                                .way = GQ_DEV_E2M1_CUT_SPACED};
  for (uint32_t first = 0; first < 65536; first += GQ_DEV_UNIT) {
    float x[GQ_DEV_UNIT], y[GQ_DEV_UNIT];
    uint32_t codes[4], expected[2] = {0};
    for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i) {
      x[i] = gq_dev_f32_from_bf16((uint16_t)(first + i));
      expected[i / 8] |= gq_dev_e2m1_from_f32(x[i] * inverse) << i % 8 * 4;
    }
    gq_dev_any_scale any = gq_dev_either_block(scaler, amax, (gq_dev_outer){0});
    uint32_t found = any.block.bits;
    gq_dev_scale_unit(scaler, any, x, y);
    gq_dev_codes(scaler.format, scaler.way, y, codes);
    ++numBlocks;
    if ((found != scale || codes[0] != expected[0] ||
         codes[1] != expected[1]) &&
        numWrong++ < 10)
      printf("%s, scale %02" PRIx32 ", bf16 %04" PRIx32
             " and on: scale %02" PRIx32 ", codes %08" PRIx32 "%08" PRIx32
             ", expected %08" PRIx32 "%08" PRIx32 "\n",
             gqFormatGetTraits(format).name, scale, first, found, codes[1],
             codes[0], expected[1], expected[0]);
  }
}

int main(void) {
  for (uint32_t scale = 0; scale < 127; ++scale)
    test(GQ_FORMAT_NVFP4, scale, 6.0f * gq_dev_f32_from_e4m3((uint8_t)scale),
         gq_dev_nvfp4_inverse((uint8_t)scale, 1.0f));
  // 253 is the scale of the largest float, and 255 that of inf.
  for (uint32_t scale = 0; scale <= 253; ++scale)
    test(GQ_FORMAT_MXFP4, scale,
         scale == 253 ? GQ_DEV_F32_MAX
                      : 6.0f * gq_dev_f32_from_e8m0((uint8_t)scale),
         gq_dev_mx_inverse((uint8_t)scale));
  printf("%" PRIu64 " of %" PRIu64 " blocks differ\n", numWrong, numBlocks);
  return numWrong != 0;
}
