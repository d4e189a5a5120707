//===- scalers.c - the device's scale rules -------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of every rule that the chip has (scalers/Scaler.h), compared with
// the reference form: same scale, same factor; and the largest element of a
// regular block of e2m1 stays below 7, where conversions need no clamping
// (e2m1.c). For largest magnitudes that are floats of every exponent and every
// upper 11 bits of the mantissa, with all below 0, 1 and all ones, and inf; of
// nvfp4 by either recipe without and with an outer scale. Almost all blocks of
// nvfp4 whose scale is a normal e4m3 are regular.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/scalers/Block.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static uint64_t numNormal, numRegular, numBlocks, numWrong;

static bool same(float a, float b) {
  return gq_dev_f32_bits(a) == gq_dev_f32_bits(b);
}

static void check(bool right, const char *form, gq_dev_scaler scaler,
                  float outerScale, float amax, gq_dev_block_scale found,
                  gq_dev_block_scale expected) {
  ++numBlocks;
  if (!right && numWrong++ < 10)
    printf("%s of %s, recipe %d, outer %a, largest magnitude %a: scale %" PRIx32
           " and %a, expected %" PRIx32 " and %a\n",
           form, gqFormatGetTraits(scaler.format).name, scaler.recipe,
           (double)outerScale, (double)amax, found.bits, (double)found.factor,
           expected.bits, (double)expected.factor);
}

/// `x` is the outer scale as an operand.
static void test(gqFormat format, gqRecipe recipe, bool hasOuter, float x,
                 float amax) {
  const gqFormatTraits traits = gqFormatGetTraits(format);
  bool isShort = traits.dataBits == 4;
  gq_dev_scaler scaler = {.format = format,
                          .recipe = recipe,
                          .hasOuter = hasOuter,
                          .way = isShort ? GQ_DEV_E2M1_ROUNDED
                                         : GQ_DEV_E2M1_NATIVE};
  gq_dev_outer outer = {NAN, NAN}; // not to be looked at
  float outerScale = 1.0f;
  if (hasOuter) {
    outer = gq_dev_outer_from(scaler, x);
    outerScale = !gqFormatHasBlockScales(format)
                     ? gq_dev_given_scale(format, recipe, x)
                 : recipe == GQ_RECIPE_TE ? gq_dev_nvfp4_te_outer(x)
                                          : x;
  }
  if (!gqFormatHasBlockScales(format))
    check(same(outer.factor, outerScale) &&
              same(outer.inverse, gq_dev_given_inverse(outerScale)),
          "inverse", scaler, x, amax, (gq_dev_block_scale){0, outer.inverse},
          (gq_dev_block_scale){0, gq_dev_given_inverse(outerScale)});
  const gq_dev_block_scale expected =
      gq_dev_block_scale_from_amax(format, recipe, amax, outerScale);

  gq_dev_any_scale either = gq_dev_either_block(scaler, amax, outer);
  float one = hasOuter && !either.regular ? 1.0f : gq_dev_e2m1_one(scaler.way);
  check(either.block.bits == expected.bits &&
            same(either.block.factor, expected.factor * one),
        "either", scaler, x, amax, either.block, expected);
  scaler.way = isShort ? gq_dev_e2m1_way_in_steps() : GQ_DEV_E2M1_NATIVE;
  gq_dev_block_scale any = gq_dev_any_block(scaler, amax, outer);
  check(any.bits == expected.bits && same(any.factor, expected.factor), "any",
        scaler, x, amax, any, expected);

  gq_dev_range range = gq_dev_no_range();
  gq_dev_extend_range(&range, amax);
  bool regular = gq_dev_is_regular(scaler, range, outer);
  bool normal = traits.scaleRule == GQ_SCALE_RULE_NVFP4 && expected.bits >= 8 &&
                amax / 6.0f <= 0x1p126f &&
                gq_dev_nvfp4_unrounded(
                    scaler, amax, gq_dev_used_outer(scaler, outer)) <= 448.0f;
  numNormal += normal;
  numRegular += regular && normal;
  if (!regular)
    return;
  one = gq_dev_e2m1_one(scaler.way);
  gq_dev_block_scale block = gq_dev_regular_block(scaler, amax, outer);
  check(block.bits == expected.bits &&
            (amax == 0.0f || (same(block.factor, expected.factor * one) &&
                              (!isShort || amax * block.factor < 7.0f * one))),
        "regular", scaler, x, amax, block, expected);
}

int main(void) {
  const float outers[] = {1.0f, 0.37f, 3.0e5f, 0x1p-30f};
  for (uint32_t high = 0; high <= 0x7f800000 >> 12; ++high)
    for (uint32_t i = 0; i < 3; ++i) {
      float amax = gq_dev_f32_from_bits(high << 12 | (i == 2 ? 0xfff : i));
      if (amax != amax)
        continue;
      for (int recipe = 0; recipe < 2; ++recipe) {
        gqRecipe r = recipe ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER;
        test(GQ_FORMAT_NVFP4, r, /*hasOuter=*/false, 1.0f, amax);
        for (uint32_t k = 0; k < sizeof(outers) / sizeof(*outers); ++k)
          test(GQ_FORMAT_NVFP4, r, /*hasOuter=*/true, outers[k], amax);
      }
      // Given scales and amaxes, which need not be finite.
      for (int recipe = 0; recipe < 2; ++recipe) {
        gqRecipe r = recipe ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER;
        test(GQ_FORMAT_FP8_E4M3, r, /*hasOuter=*/true, amax, amax);
        test(GQ_FORMAT_FP8_E5M2, r, /*hasOuter=*/true, amax, amax);
      }
      for (int format = 0; format < GQ_NUM_FORMATS; ++format)
        if (format != GQ_FORMAT_NVFP4)
          test((gqFormat)format, GQ_RECIPE_NVFUSER, /*hasOuter=*/false, 1.0f,
               amax);
    }
  printf("%" PRIu64 " of %" PRIu64 " scales differ; %" PRIu64 " of %" PRIu64
         " normal blocks are regular\n",
         numWrong, numBlocks, numRegular, numNormal);
  return numWrong || numRegular < numNormal - numNormal / 100;
}
