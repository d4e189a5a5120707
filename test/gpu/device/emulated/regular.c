//===- regular.c - which blocks of nvfp4 the device takes to be regular ---===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block that gq_dev_is_regular accepts gets the scale and the factor of the
// numerics that the CPU runtime uses, and its largest element stays below 7,
// where gq_dev_codes4 needs no clamping (e2m1.c). For largest magnitudes that
// are floats of every exponent and every upper 12 bits of the mantissa, with
// all below 0, 1 and all ones, and of either recipe without and with an outer
// scale. Almost all blocks whose scale is a normal e4m3 are regular.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/kernels/Scales.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t numBlocks, numRegular, numWrong;

static void test(gqRecipe recipe, bool hasOuter, float outerScale, float amax) {
  gq_dev_outer outer = hasOuter ? gq_dev_outer_from(recipe, outerScale)
                                : gq_dev_no_outer(recipe);
  gq_dev_range range = gq_dev_no_range();
  gq_dev_extend_range(&range, amax);
  bool regular =
      gq_dev_is_regular(GQ_FORMAT_NVFP4, recipe, hasOuter, outer, range);
  float scale =
      recipe == GQ_RECIPE_TE ? amax * outer.factor : amax / 6.0f * outer.factor;
  numBlocks += scale >= 0x1p-6f && scale <= 448.0f;
  numRegular += regular && scale >= 0x1p-6f && scale <= 448.0f;
  if (!regular)
    return;
  gq_dev_block block =
      gq_dev_regular_block(GQ_FORMAT_NVFP4, recipe, hasOuter, outer, amax);
  uint32_t code = gq_dev_e4m3_from_f32(scale);
  float decoded = gq_dev_f32_from_e4m3((uint8_t)code) * outer.inverse;
  float unit = gq_dev_e2m1_unit();
  bool right = amax == 0.0f ||
               (block.scale == code && block.factor == 1.0f / decoded * unit &&
                amax * block.factor < 7.0f * unit);
  if (!right && numWrong++ < 10)
    printf("recipe %d, outer %a, largest magnitude %a: scale %02" PRIx32
           " and %a, expected %02" PRIx32 " and %a\n",
           recipe, (double)outerScale, (double)amax, block.scale,
           (double)block.factor, code, (double)(1.0f / decoded * unit));
}

int main(void) {
  const float outers[] = {1.0f, 0.37f, 3.0e5f, 0x1p-30f};
  for (uint32_t high = 0; high < 0x7f800000 >> 11; ++high)
    for (uint32_t i = 0; i < 3; ++i) {
      float amax = gq_dev_f32_from_bits(high << 11 | (i == 2 ? 0x7ff : i));
      for (int recipe = 0; recipe < 2; ++recipe) {
        gqRecipe r = recipe ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER;
        test(r, /*hasOuter=*/false, 1.0f, amax);
        for (uint32_t k = 0; k < sizeof(outers) / sizeof(*outers); ++k)
          test(r, /*hasOuter=*/true, outers[k], amax);
      }
    }
  printf("%" PRIu64 " of %" PRIu64 " regular blocks differ\n", numWrong,
         numRegular);
  return numWrong || numRegular < numBlocks - numBlocks / 100;
}
