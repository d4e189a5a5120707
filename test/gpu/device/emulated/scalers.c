//===- scalers.c - the device's scale rules -------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of every rule that the chip has (scalers/Scaler.h), compared with
// the reference form: same scale, same factor; and the largest element of a
// regular block of e2m1 stays below 7, where conversions need no clamping
// (e2m1.c); the code of a block's only element. For largest magnitudes that are
// floats of every exponent and every upper 11 bits of the mantissa, with all
// below 0, 1 and all ones, and inf; of nvfp4 by either recipe without and with
// an outer scale. Almost all blocks of nvfp4 whose scale is a normal e4m3 are
// regular.
//
// Elements of 16 bits of every mantissa, with blocks of every mantissa of a
// scale and many outer scales: whether one is scaled to a middle between codes,
// and where none is, codes by cutting off. Elements of bf16 without an outer
// scale, middles among them, by cutting off.
//
// Outer scales of te as regular blocks have them, of amaxes of every exponent.
//
// Of four over six the quotients of all mantissas, and candidates and errors of
// random blocks, near to 1 or not.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/scalers/Block.h"
#include "runtime_kernels/scalers/FourOverSix.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static uint64_t numNormal, numRegular, numSingle, numBlocks, numWrong;
static int numNear, numNearOuters;

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

  // Of bf16 with an outer scale codes come with their signs.
  for (int i = 0; i <= (isShort && hasOuter); ++i) {
    if (i)
      scaler.way = GQ_DEV_E2M1_MOVED;
    gq_dev_any_scale either = gq_dev_either_block(scaler, amax, outer);
    float one =
        hasOuter && !either.regular ? 1.0f : gq_dev_e2m1_one(scaler.way);
    check(either.block.bits == expected.bits &&
              same(either.block.factor, expected.factor * one),
          "either", scaler, x, amax, either.block, expected);
  }
  scaler.way = isShort ? gq_dev_e2m1_way_in_steps() : GQ_DEV_E2M1_NATIVE;
  gq_dev_block_scale any = gq_dev_any_block(scaler, amax, outer);
  check(any.bits == expected.bits && same(any.factor, expected.factor), "any",
        scaler, x, amax, any, expected);

  gq_dev_range range = gq_dev_no_range();
  gq_dev_extend_range(&range, amax);
  bool regular = gq_dev_is_regular(scaler, range, outer, false);
  bool normal = traits.scaleRule == GQ_SCALE_RULE_NVFP4 && expected.bits >= 8 &&
                amax / 6.0f <= 0x1p126f &&
                gq_dev_nvfp4_unrounded(
                    scaler, amax, gq_dev_used_outer(scaler, outer)) <= 448.0f;
  numNormal += normal;
  numRegular += regular && normal;
  float one = gq_dev_e2m1_one(scaler.way);
  if (isShort && gq_dev_is_regular(scaler, range, outer, true)) {
    gq_dev_block_scale single = gq_dev_regular_block(scaler, amax, outer, true);
    uint32_t code = gq_dev_e2m1_from_f32(amax * single.factor / one);
    numSingle += !regular;
    check(single.bits == expected.bits &&
              code == gq_dev_e2m1_from_f32(amax * expected.factor) &&
              amax * single.factor < 7.0f * one,
          "single", scaler, x, amax, single, expected);
  }
  if (!regular)
    return;
  gq_dev_block_scale block = gq_dev_regular_block(scaler, amax, outer, false);
  check(block.bits == expected.bits &&
            (amax == 0.0f || (same(block.factor, expected.factor * one) &&
                              (!isShort || amax * block.factor < 7.0f * one))),
        "regular", scaler, x, amax, block, expected);
}

/// Quotients by either `most`: scaling a quotient that is normal is exact.
static void testShares(void) {
  for (int32_t scaleMax = 256; scaleMax <= 448; scaleMax += 448 - 256)
    for (uint32_t mantissa = 0; mantissa < 1 << 23; ++mantissa) {
      float x = gq_dev_f32_from_bits(0x3f800000 | mantissa);
      float most = gq_dev_nvfp4_most(scaleMax);
      ++numBlocks;
      if (!same(gq_dev_four_over_six_share(x, most), x / most) &&
          numWrong++ < 10)
        printf("%a / %a\n", (double)x, (double)most);
    }
}

static uint32_t randomBits(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005 + 1442695040888963407;
  return (uint32_t)(state >> 32);
}

/// 2 to a power between -range and range, times something in [1, 2).
static float randomFloat(int range) {
  int exponent = (int)(randomBits() % (uint32_t)(2 * range + 1)) - range;
  return ldexpf(1.0f + (float)(randomBits() >> 9) * 0x1p-23f, exponent);
}

static uint64_t numWithMiddles, numOuters;

/// Whether codes of 8 elements y by cutting off are right.
static void testCut(const float y[8]) {
  float scaled[8];
  uint32_t first[2], second[2], expected = 0;
  for (int i = 0; i < 8; ++i) {
    scaled[i] = y[i] * gq_dev_e2m1_one(GQ_DEV_E2M1_CUT);
    expected |= gq_dev_e2m1_from_f32(y[i]) << i * 4;
  }
  gq_dev_e2m1x4_cut(scaled, first);
  gq_dev_e2m1x4_cut(scaled + 4, second);
  uint32_t found = gq_dev_e2m1x8_cut(first, second);
  ++numBlocks;
  if (found != expected && numWrong++ < 10)
    printf("cut, %a and on: %08" PRIx32 ", expected %08" PRIx32 "\n",
           (double)y[0], found, expected);
}

/// Elements of `type` with the outer scale that follows from `x`.
static void testMiddles(gqElementType type, gqRecipe recipe, float x) {
  const gq_dev_scaler scaler = {
      .format = GQ_FORMAT_NVFP4, .recipe = recipe, .hasOuter = true};
  const gq_dev_outer outer = gq_dev_outer_from(scaler, x);
  float outerScale = recipe == GQ_RECIPE_TE ? gq_dev_nvfp4_te_outer(x) : x;
  uint32_t count = type == GQ_BF16 ? 128 : 1024;
  bool any = false;
  for (uint32_t m = 0; m < 8; ++m) {
    float factor =
        gq_dev_nvfp4_inverse((uint8_t)(56 | m), outerScale); // 1 to 2
    bool has[2] = {false, false};
    for (uint32_t i = count; i < 2 * count; ++i) {
      int exponent;
      float fraction = frexpf((float)i * factor, &exponent);
      has[0] |= fraction == 0.5f;
      has[1] |= fraction == 0.625f;
    }
    for (int k = 0; k < 2; ++k) {
      bool found = gq_dev_nvfp4_has_middle(type, outer, m, k ? 1.25f : 1.0f);
      ++numBlocks;
      if (found != has[k] && numWrong++ < 10)
        printf("middles, outer %a, mantissa %" PRIu32 ": %d, expected %d\n",
               (double)x, m, found, has[k]);
    }
    any |= has[0] || has[1];
    if (has[0] || has[1])
      continue;
    for (uint32_t i = count; i < 2 * count; ++i) {
      float y[8];
      for (int k = 0; k < 8; ++k) {
        int exponent;
        float fraction = frexpf((float)i * factor, &exponent);
        y[k] =
            ldexpf(k % 2 ? -fraction : fraction, k / 2 + (int)(i & 1) * 2 - 4);
        y[k] = fabsf(y[k]) < 7.0f ? y[k] : 0.0f;
      }
      testCut(y);
    }
  }
  ++numOuters;
  numWithMiddles += any;
}

/// All bf16 in blocks of all largest magnitudes of a few exponents.
static void testSpaced(void) {
  const gq_dev_scaler scaler = {.format = GQ_FORMAT_NVFP4,
                                .recipe = GQ_RECIPE_NVFUSER,
                                .way = GQ_DEV_E2M1_CUT_SPACED};
  const gq_dev_outer outer = gq_dev_no_outer(scaler);
  for (uint32_t bits = 0x3c00; bits <= 0x4500; ++bits) {
    float amax = gq_dev_f32_from_bits(bits << 16);
    gq_dev_block_scale block = gq_dev_regular_block(scaler, amax, outer, false);
    gq_dev_range range = gq_dev_no_range();
    gq_dev_extend_range(&range, amax);
    if (!gq_dev_is_regular(scaler, range, outer, false))
      continue;
    float factor = gq_dev_nvfp4_inverse((uint8_t)block.bits, 1.0f);
    for (uint32_t x = bits < 0x800 ? 0 : bits - 0x800; x <= bits; x += 4) {
      float scaled[8];
      uint32_t first[2], second[2], expected = 0;
      for (uint32_t i = 0; i < 8; ++i) {
        float element =
            gq_dev_f32_from_bits((x + i / 2 > bits ? 0 : x + i / 2) << 16);
        element = i % 2 ? -element : element;
        scaled[i] = element * block.factor;
        expected |= gq_dev_e2m1_from_f32(element * factor) << i * 4;
      }
      gq_dev_e2m1x4_cut_spaced(scaled, first);
      gq_dev_e2m1x4_cut_spaced(scaled + 4, second);
      uint32_t found = gq_dev_e2m1x8_cut(first, second);
      ++numBlocks;
      if (found != expected && numWrong++ < 10)
        printf("spaced, largest magnitude %a, element %" PRIx32 ": %08" PRIx32
               ", expected %08" PRIx32 "\n",
               (double)amax, x, found, expected);
    }
  }
  const float scaled[8] = {0.0f, -0.0f, -0x1p-100f, 0x1p-18f};
  uint32_t first[2], second[2];
  gq_dev_e2m1x4_cut_spaced(scaled, first);
  gq_dev_e2m1x4_cut_spaced(scaled + 4, second);
  numWrong += gq_dev_e2m1x8_cut(first, second) != 0x00000880;
}

/// The outer scale of regular blocks, of the outer amax `x`: inf, of which
/// there is none, may be none of these either.
static void testNearOuter(float x) {
  gq_dev_outer exact = gq_dev_nvfp4_outer_from(GQ_RECIPE_TE, x);
  gq_dev_outer found = gq_dev_nvfp4_te_outer_near(x);
  bool isNear = gq_dev_nvfp4_is_near(found);
  bool right =
      isNear
          ? gq_dev_f32_bits(found.factor) == gq_dev_f32_bits(exact.factor) &&
                gq_dev_f32_bits(found.inverse) == gq_dev_f32_bits(exact.inverse)
          : !gq_dev_nvfp4_is_near(exact) || isinf(x);
  numNearOuters += isNear;
  if (!right && numWrong++ < 10)
    printf("outer amax %a: %a and %a, expected %a and %a\n", (double)x,
           (double)found.factor, (double)found.inverse, (double)exact.factor,
           (double)exact.inverse);
}

/// Candidates and sums of a block whose largest magnitude and outer amax are
/// about 2 to a power up to `range` apart from 1, `ratio` apart from each
/// other.
static void testFourOverSix(int range, int ratio) {
  const float hard[] = {0.0f, 0x1p-149f, INFINITY, NAN, -3.0f, 3e38f};
  const int32_t maxima[] = {0, 256, 448};
  gqFourOverSix error =
      randomBits() % 2 ? GQ_FOUR_OVER_SIX_MAE : GQ_FOUR_OVER_SIX_MSE;
  float outer = randomFloat(range);
  float amax = outer * randomFloat(ratio);
  if (randomBits() % 8 == 0)
    outer = hard[randomBits() % 6];
  const gq_dev_four_over_six f =
      gq_dev_four_over_six_from(error, maxima[randomBits() % 3], outer);
  float x[GQ_DEV_NVFP4_BLOCK], most = 0.0f;
  for (int i = 0; i < GQ_DEV_NVFP4_BLOCK; ++i) {
    float part = (float)(randomBits() >> 8) * 0x1p-24f;
    x[i] = (i == 3 ? amax : amax * part) * (randomBits() % 2 ? 1.0f : -1.0f);
    if (randomBits() % 256 == 0)
      x[i] = hard[randomBits() % 6];
    most = fmaxf(most, fabsf(x[i]));
  }
  const gq_dev_choices choices = gq_dev_choices_of(f, most);
  float sums[GQ_DEV_CANDIDATES], expected[GQ_DEV_CANDIDATES];
  gq_dev_errors_of(&choices, x, sums);
  for (int k = 0; k < GQ_DEV_CANDIDATES; ++k) {
    gq_dev_candidate found = choices.choices[k].candidate;
    gq_dev_candidate right =
        gq_dev_four_over_six_candidate(&f, k == GQ_DEV_FOUR, most);
    expected[k] =
        gq_dev_four_over_six_errors(&f, right, x, GQ_DEV_NVFP4_BLOCK, 0.0f);
    ++numBlocks;
    bool equal =
        found.bits == right.bits && same(found.decoded, right.decoded) &&
        same(found.factor, right.factor) &&
        (same(sums[k], expected[k]) || (isnan(sums[k]) && isnan(expected[k])));
    if (!equal && numWrong++ < 10)
      printf("candidate %d, outer amax %a, largest magnitude %a: scale %" PRIx32
             ", %a and errors %a, expected %" PRIx32 ", %a and %a\n",
             k, (double)outer, (double)most, found.bits, (double)found.factor,
             (double)sums[k], right.bits, (double)right.factor,
             (double)expected[k]);
  }
  numNear += choices.near;
}

int main(void) {
  testShares();
  for (int i = 0; i < 1 << 18; ++i)
    testFourOverSix(i % 2 ? 8 : i % 4 ? 102 : 126, i % 16 ? 6 : 30);
  if (numNear < 1 << 17 || numNear > 7 << 15) {
    printf("%d blocks of four over six are near\n", numNear);
    return 1;
  }
  for (uint32_t i = 0; i < 128; ++i)
    for (int recipe = 0; recipe < 2; ++recipe) {
      gqRecipe r = recipe ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER;
      for (int k = -40; k <= 40; k += 8) {
        float few = ldexpf((float)(128 + i), k), many = randomFloat(50);
        testMiddles(GQ_BF16, r, k ? many : few);
        testMiddles(GQ_BF16, r, few);
        if (k == 0)
          testMiddles(GQ_F16, r, few);
      }
    }
  testSpaced();
  const float negative[8] = {-0.0f, -0x1p-40f, -0.2f, 0.2f,
                             0.0f,  6.9f,      -6.9f, -5.1f};
  testCut(negative);
  if (numWithMiddles < numOuters / 8 || numWithMiddles > numOuters / 2) {
    printf("%" PRIu64 " of %" PRIu64 " outer scales have middles\n",
           numWithMiddles, numOuters);
    return 1;
  }
  for (uint32_t i = 0; i < 1 << 22; ++i)
    testNearOuter(
        gq_dev_f32_from_bits(i << 10 | (i % 3 ? randomBits() >> 22 : 0)));
  for (uint32_t i = 0; i < 1 << 20; ++i)
    testNearOuter(randomFloat(80));
  if (numNearOuters < 1 << 20) {
    printf("%d outer scales are near 1\n", numNearOuters);
    return 1;
  }
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
         " normal blocks are regular, and %" PRIu64 " others if single\n",
         numWrong, numBlocks, numRegular, numNormal, numSingle);
  return numWrong || numRegular < numNormal - numNormal / 100 ||
         numSingle < numRegular / 4;
}
