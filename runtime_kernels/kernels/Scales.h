//===- Scales.h - scales of blocks apart from their elements -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Blocks.h does, in steps: for lanes that agree on the scale of a block
// before its elements are converted, and convert four elements at a time.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_SCALES_H
#define GQ_KERNELS_KERNELS_SCALES_H

#include "runtime_kernels/kernels/Blocks.h"

//===----------------------------------------------------------------------===//
// e2m1
//===----------------------------------------------------------------------===//

// Eight codes come as a word, the first in the lowest nibble. They are
// converted in two steps: four by gq_dev_e2m1x4, whose result is only good for
// gq_dev_e2m1x8_after, which converts the other four.

/// What elements are multiplied by for these functions: a power of two.
GQ_DEV float gq_dev_e2m1_unit(void) {
#if __CUDA_ARCH__ >= 1000
  return 1.0f;
#else
  return 0x1p16f;
#endif
}

#if __CUDA_ARCH__ >= 1000

GQ_DEV uint32_t gq_dev_e2m1x4(const float y[4]) {
  return gq_dev_e2m1x4_native(y);
}

GQ_DEV uint32_t gq_dev_e2m1x8_after(uint32_t first, const float y[4]) {
  return first | gq_dev_e2m1x4_native(y) << 16;
}

#else

/// Of 2^16 y, 2^-6 y rounded to the grid of e2m1 and then moved away from 0 by
/// about a quarter of y or, below 1, of 1. That is less than a step of the
/// grid, and keeps the sign of what is rounded to 0. NaN remains NaN. |y| < 7.
///
/// Let b be 2^16 y, but at least 2^16. The unit of its last place is 2^-6 times
/// half the power of two at or below y, and so is the step of the grid there:
/// b - 2^-6 y is rounded to the grid, ties to even, and what it falls short of
/// b is y rounded. It may lie below a power of two, where the unit is finer:
/// then y is next to what rounds to that power and does so all the same. At 1,
/// where everything below is rounded, 2^-6 keeps it above. Subtracting a little
/// less, 1 - 2^-24 times it, moves the result.
GQ_DEV float gq_dev_e2m1_move(float y) {
  float b = gq_dev_max_magnitude(y, 0x1.000004p16f);
  float difference = gq_dev_fma(y, -0x1p-22f, b);
  return gq_dev_fma(difference, -(1.0f - 0x1p-24f), b);
}

/// 2^-6 is the smallest normal e4m3: up to 7.9 times that, denormals included,
/// its codes are those of e2m1 in bits 2 to 4, and more of the mantissa below.
/// This joins four even and four odd ones.
GQ_DEV uint32_t gq_dev_e2m1_join(uint32_t even, uint32_t odd) {
  even = gq_dev_select_bits(0x80808080, even, even << 2);
  odd = gq_dev_select_bits(0x80808080, odd, odd << 2);
  return gq_dev_select_bits(0xf0f0f0f0, odd, even >> 4);
}

/// Codes 0, 2, 1 and 3 of the first four, as e4m3.
GQ_DEV uint32_t gq_dev_e2m1x4(const float y[4]) {
  return gq_dev_e4m3x4_from_f32(gq_dev_e2m1_move(y[0]), gq_dev_e2m1_move(y[2]),
                                gq_dev_e2m1_move(y[1]), gq_dev_e2m1_move(y[3]));
}

GQ_DEV uint32_t gq_dev_e2m1x8_after(uint32_t first, const float y[4]) {
  uint32_t even = gq_dev_e4m3x4_after(first, gq_dev_e2m1_move(y[0]),
                                      gq_dev_e2m1_move(y[2]));
  uint32_t odd = gq_dev_e4m3x4_after(first >> 16, gq_dev_e2m1_move(y[1]),
                                     gq_dev_e2m1_move(y[3]));
  return gq_dev_e2m1_join(even, odd);
}

#endif

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

// Factors are what elements are multiplied by for gq_dev_codes4: see there.

GQ_DEV gq_dev_block gq_dev_mx_scale(gqFormat format, float amax) {
  float max = format == GQ_FORMAT_MXFP8_E4M3 ? 448.0f
              : gq_dev_is_e5m2(format)       ? 57344.0f
                                             : 6.0f;
  uint32_t code = gq_dev_e8m0_from_f32(amax * (1.0f / max));
  return (gq_dev_block){code, gq_dev_f32_from_e8m0_inverse((uint8_t)code)};
}

/// The scale of a block of nvfp4 before it is rounded. `hasOuter` is a
/// constant; without, `outer` is not looked at.
GQ_DEV float gq_dev_nvfp4_scale(gqRecipe recipe, bool hasOuter,
                                gq_dev_outer outer, float amax) {
  if (recipe == GQ_RECIPE_TE)
    return amax * (hasOuter ? outer : gq_dev_no_outer(recipe)).factor;
  float scale = gq_dev_sixth_of(amax);
  return hasOuter ? scale * outer.factor : scale;
}

/// A regular block, as almost all are: its elements need no clamping and no
/// corner of a division occurs, so that this is right for gq_dev_codes4 without
/// clamping. Of nvfp4 that is a block whose scale is rounded down by less than
/// a seventh: its elements cannot reach 7, up to which the conversion makes
/// them 6. A block of zeros is regular, too.
GQ_DEV gq_dev_block gq_dev_regular_block(gqFormat format, gqRecipe recipe,
                                         bool hasOuter, gq_dev_outer outer,
                                         float amax) {
  float one = gq_dev_e2m1_unit();
  gq_dev_block block;
  if (format != GQ_FORMAT_NVFP4) {
    block = gq_dev_mx_scale(format, amax);
    if (format == GQ_FORMAT_MXFP4)
      block.factor = amax == 0.0f ? one : block.factor * one;
    return block;
  }
  if (!hasOuter)
    outer = gq_dev_no_outer(recipe);
  block.scale = gq_dev_e4m3x2_from_f32(
      gq_dev_nvfp4_scale(recipe, hasOuter, outer, amax), 0.0f);
  float decoded = gq_dev_f32_from_e4m3_code(block.scale);
  float divisor = decoded * (outer.inverse * (1.0f / one));
  // Of a block of zeros it is 0: any factor will do.
  block.factor = gq_dev_reciprocal(gq_dev_max_number(divisor, 0x1p-120f));
  return block;
}

/// The largest of several blocks' largest magnitudes, and the bits of the
/// smallest one that is not 0, less 1.
typedef struct gq_dev_range {
  float most;
  uint32_t least;
} gq_dev_range;

GQ_DEV gq_dev_range gq_dev_no_range(void) {
  return (gq_dev_range){0.0f, UINT32_MAX};
}

GQ_DEV void gq_dev_extend_range(gq_dev_range *range, float amax) {
  uint32_t bits = gq_dev_f32_bits(amax) - 1;
  range->most = gq_dev_max_number(range->most, amax);
  range->least = bits < range->least ? bits : range->least;
}

/// Whether all blocks of a range are regular.
GQ_DEV bool gq_dev_is_regular(gqFormat format, gqRecipe recipe, bool hasOuter,
                              gq_dev_outer outer, gq_dev_range range) {
  float least = gq_dev_f32_from_bits(range.least + 1);
  bool none = range.least == UINT32_MAX;
  if (format == GQ_FORMAT_MXFP4)
    return none || (gq_dev_mx_scale(format, least).scale >= 32 &&
                    gq_dev_mx_scale(format, range.most).scale < 254);
  if (format != GQ_FORMAT_NVFP4)
    return true;
  bool near =
      !hasOuter || (outer.factor >= 0x1p-60f && outer.factor <= 0x1p60f);
  float low = gq_dev_nvfp4_scale(recipe, hasOuter, outer, least);
  float high = gq_dev_nvfp4_scale(recipe, hasOuter, outer, range.most);
  // A scale of up to 522 instead of 448 makes less than 7 of 6. So does one of
  // up to 4.5 steps of denormal e4m3 instead of 4, while 2.5 may become 2.
  return none || (near && low >= 3.5f * 0x1p-9f && high <= 520.0f);
}

/// Any block, for gq_dev_codes4 with clamping.
GQ_DEV gq_dev_block gq_dev_any_block(gqFormat format, gqRecipe recipe,
                                     bool hasOuter, gq_dev_outer outer,
                                     float amax) {
  if (format != GQ_FORMAT_NVFP4)
    return gq_dev_mx_scale(format, amax);
  if (!hasOuter)
    outer = gq_dev_no_outer(recipe);
  float scale = recipe == GQ_RECIPE_TE
                    ? amax * outer.factor
                    : gq_dev_divide(amax, 6.0f) * outer.factor;
  uint32_t code =
      gq_dev_e4m3x2_from_f32(gq_dev_min(scale, GQ_DEV_F32_MAX), 0.0f);
  float decoded = gq_dev_f32_from_e4m3_code(code) * outer.inverse;
  return (gq_dev_block){
      code, gq_dev_min(gq_dev_divide(1.0f, decoded), GQ_DEV_F32_MAX)};
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// An element as it is converted, from the factor of its block. `clamps` is a
/// constant.
GQ_DEV float gq_dev_scaled(gqFormat format, bool clamps, float x,
                           float factor) {
  float y = x * factor;
  if (clamps && gqFormatGetTraits(format).dataBits == 4)
    y = gq_dev_min_magnitude(y, 6.0f) * gq_dev_e2m1_unit();
  return y;
}

/// Converts quarter number `quarter` of 16 scaled elements; the quarters come
/// in order. `codes` becomes 2 words of 4 bits each or 4 words of 8.
GQ_DEV void gq_dev_codes4(gqFormat format, uint32_t quarter, const float y[4],
                          uint32_t codes[4]) {
  if (gqFormatGetTraits(format).dataBits == 4)
    codes[quarter / 2] = quarter % 2 == 0
                             ? gq_dev_e2m1x4(y)
                             : gq_dev_e2m1x8_after(codes[quarter / 2], y);
  else if (gq_dev_is_e5m2(format))
    codes[quarter] = gq_dev_e5m2x4_from_f32(y[0], y[1], y[2], y[3]);
  else
    codes[quarter] = gq_dev_e4m3x4_from_f32(y[0], y[1], y[2], y[3]);
}

#endif // GQ_KERNELS_KERNELS_SCALES_H
