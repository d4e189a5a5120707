//===- Nvfp4.h - a block of 16 elements --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVFP4: 16 e2m1 codes and one e4m3 scale. The elements are multiplied by the
// reciprocal of the rounded scale, not divided by it (which would differ in
// five bf16 codes of ten thousand).
//
// Both recipes have an outer scale g of the whole tensor or group. nvFuser's
// is an operand, the global scale; Transformer Engine's comes from the outer
// amax. They differ in how a block's scale is computed from its amax and g, and
// agree in what follows. 1 stands for no outer scale: multiplying by 1 and
// dividing by 1 are exact, so the bytes are the same.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_NVFP4_H
#define GQ_KERNELS_SCALERS_NVFP4_H

#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/scalers/Scaler.h"
#ifdef GQ_DEV_CHIP
#include "runtime_kernels/arch/Division.h"
#include "runtime_kernels/codecs/Elements.h"
#endif

enum {
  /// Elements in a block.
  GQ_DEV_NVFP4_BLOCK = GQ_BLOCK_COLUMNS_NVFP4,
  /// The largest value of a code times a scale: 2688.
  GQ_DEV_NVFP4_MAX = GQ_E2M1_MAX * GQ_E4M3_MAX,
};

/// The same where scales go up to `scaleMax`: what an outer amax becomes.
GQ_DEV float gq_dev_nvfp4_most(gqScaleMax scaleMax) {
  return scaleMax == 256 ? GQ_E2M1_MAX * 256.0f : GQ_DEV_NVFP4_MAX;
}

/// The scale byte of a block whose largest magnitude is `amax`, by the recipe
/// nvfuser.
GQ_DEV uint8_t gq_dev_nvfp4_scale(float amax, float outer) {
  float scale = amax / GQ_E2M1_MAX * outer;
  return gq_dev_e4m3_from_f32(gq_dev_min(scale, GQ_DEV_F32_MAX));
}

/// The outer scale of the recipe te, which maps `outerAmax` to
/// GQ_DEV_NVFP4_MAX; 1 if there is no such scale.
GQ_DEV float gq_dev_nvfp4_te_outer(float outerAmax) {
  float outer = gq_dev_min(GQ_DEV_NVFP4_MAX / outerAmax, GQ_DEV_F32_MAX);
  return outerAmax == 0.0f || outer == 0.0f ? 1.0f : outer;
}

/// The scale byte by the recipe te. The order of the products counts.
GQ_DEV uint8_t gq_dev_nvfp4_te_scale(float amax, float outer) {
  float scale = amax * (outer * (1.0f / GQ_E2M1_MAX));
  return gq_dev_e4m3_from_f32(gq_dev_min(scale, GQ_DEV_F32_MAX));
}

/// What the elements of a block with this scale byte are multiplied by, by
/// either recipe.
GQ_DEV float gq_dev_nvfp4_inverse(uint8_t scale, float outer) {
  float decoded = gq_dev_f32_from_e4m3(scale) * (1.0f / outer);
  return gq_dev_min(1.0f / decoded, GQ_DEV_F32_MAX);
}

GQ_DEV gq_dev_block_scale gq_dev_nvfp4_reference(gq_dev_scaler scaler,
                                                 float amax, float outer) {
  uint8_t scale = scaler.recipe == GQ_RECIPE_TE
                      ? gq_dev_nvfp4_te_scale(amax, outer)
                      : gq_dev_nvfp4_scale(amax, outer);
  return (gq_dev_block_scale){scale, gq_dev_nvfp4_inverse(scale, outer)};
}

//===----------------------------------------------------------------------===//
// On the chip: the outer scale
//===----------------------------------------------------------------------===//

#ifdef GQ_DEV_CHIP

// The factor of nvfuser's is the scale itself, since a largest magnitude is
// divided by 6 first; that of te's is a sixth of the scale.

/// `x` is the global scale or the outer amax.
GQ_DEV gq_dev_outer gq_dev_nvfp4_outer_from(gqRecipe recipe, float x) {
  float scale = x;
  if (recipe == GQ_RECIPE_TE) {
    scale = gq_dev_min(gq_dev_divide(GQ_DEV_NVFP4_MAX, x), GQ_DEV_F32_MAX);
    scale = x == 0.0f || scale == 0.0f ? 1.0f : scale;
  }
  return (gq_dev_outer){
      .factor = recipe == GQ_RECIPE_TE ? scale * (1.0f / GQ_E2M1_MAX) : scale,
      .inverse = gq_dev_divide(1.0f, scale),
  };
}

/// The same of te, without a branch, if gq_dev_nvfp4_is_near holds of what is
/// returned. That it does where it holds of the exact outer scale, but for an
/// amax of inf, whose blocks are rare ones here.
GQ_DEV gq_dev_outer gq_dev_nvfp4_te_outer_near(float x) {
  float scale = gq_dev_divide_usual(GQ_DEV_NVFP4_MAX, x);
  scale = x == 0.0f ? 1.0f : scale;
  return (gq_dev_outer){.factor = scale * (1.0f / GQ_E2M1_MAX),
                        .inverse = gq_dev_reciprocal(scale)};
}

GQ_DEV gq_dev_outer gq_dev_nvfp4_no_outer(gqRecipe recipe) {
  return (gq_dev_outer){
      .factor = recipe == GQ_RECIPE_TE ? 1.0f / GQ_E2M1_MAX : 1.0f,
      .inverse = 1.0f,
  };
}

//===----------------------------------------------------------------------===//
// On the chip: the scale of a block
//===----------------------------------------------------------------------===//

/// Before it is rounded. Of nvfuser's rule, gq_dev_sixth_of says of which
/// magnitudes it is right.
GQ_DEV float gq_dev_nvfp4_unrounded(gq_dev_scaler scaler, float amax,
                                    gq_dev_outer outer) {
  if (scaler.recipe == GQ_RECIPE_TE)
    return amax * outer.factor;
  float scale = gq_dev_sixth_of(amax);
  return scaler.hasOuter ? scale * outer.factor : scale;
}

/// Any block. Its factor is without gq_dev_e2m1_one, for which it may be too
/// small: elements are clamped before.
GQ_DEV gq_dev_block_scale gq_dev_nvfp4_any(gq_dev_scaler scaler, float amax,
                                           gq_dev_outer outer) {
  float scale = scaler.recipe == GQ_RECIPE_TE
                    ? amax * outer.factor
                    : gq_dev_divide(amax, GQ_E2M1_MAX) * outer.factor;
  uint32_t code = gq_dev_e4m3_native(gq_dev_min(scale, GQ_DEV_F32_MAX));
  float decoded = gq_dev_f32_from_e4m3_native(code) * outer.inverse;
  return (gq_dev_block_scale){
      code, gq_dev_min(gq_dev_divide(1.0f, decoded), GQ_DEV_F32_MAX)};
}

/// What factors of spaced elements (E2M1.h) are to be multiplied by, for a
/// block's scale.
///
/// A bf16 has 8 significant bits and a scale 4, so that their quotient is the
/// middle between two codes or well away from it. Its product with the rounded
/// reciprocal, which counts, is beside the middle in two cases. 5/4, 5/2 and 5
/// are exceeded when the scale is 15 times a power of two: they are to lose
/// half as much. And the largest float, which stands for 1 / 0, stays below all
/// middles (gq_dev_nvfp4_spaced).
GQ_DEV float gq_dev_nvfp4_spacing(float scale) {
  return (~gq_dev_f32_bits(scale) & 0x700000) == 0 ? 1.0f + 0x1p-11f : 1.0f;
}

/// A regular block, as almost all are: its elements need no clamping and no
/// corner of a division occurs. Its scale is rounded down by less than a
/// seventh, so that its elements cannot reach 7, up to which the conversions
/// make them 6. A block of zeros is regular, too, and one whose only element
/// that is not zero is `single`, even if its scale was rounded down by more or
/// to 0: then a factor that makes 6 of the element will do.
GQ_DEV gq_dev_block_scale gq_dev_nvfp4_regular(gq_dev_scaler scaler, float amax,
                                               gq_dev_outer outer,
                                               bool single) {
  float one = gq_dev_e2m1_one(scaler.way);
  uint32_t code =
      gq_dev_e4m3_native(gq_dev_nvfp4_unrounded(scaler, amax, outer));
  float decoded = gq_dev_f32_from_e4m3_native(code);
  float divisor = decoded * (outer.inverse * (1.0f / one));
  // Of a block of zeros it is 0: any factor will do.
  float least = single ? amax * (1.0f / one / GQ_E2M1_MAX) : 0.0f;
  float factor =
      gq_dev_reciprocal(gq_dev_max_number(divisor, least + 0x1p-120f));
  if (scaler.way == GQ_DEV_E2M1_CUT_SPACED)
    factor *= gq_dev_nvfp4_spacing(decoded);
  return (gq_dev_block_scale){code, factor};
}

/// Whether divisions by an outer scale have no corner: it is not too far from
/// 1.
GQ_DEV bool gq_dev_nvfp4_is_near(gq_dev_outer outer) {
  return outer.factor >= 0x1p-60f && outer.factor <= 0x1p60f;
}

GQ_DEV bool gq_dev_nvfp4_is_regular(gq_dev_scaler scaler, gq_dev_range range,
                                    gq_dev_outer outer, bool single) {
  float least = gq_dev_f32_from_bits(range.least + 1);
  bool none = range.least == UINT32_MAX;
  bool near = !scaler.hasOuter || gq_dev_nvfp4_is_near(outer);
  float low = gq_dev_nvfp4_unrounded(scaler, least, outer);
  float high = gq_dev_nvfp4_unrounded(scaler, range.most, outer);
  // A scale of up to 522 instead of 448 makes less than 7 of 6. So does one of
  // up to 4.5 steps of denormal e4m3 instead of 4, while 2.5 may become 2.
  bool isAbove = single ? least >= 0x1p-90f : low >= 3.5f * 0x1p-9f;
  return near && (none || (isAbove && high <= 520.0f));
}

/// Whether an element of `type`, of 16 bits, of a regular block with this outer
/// scale can be `middle`, 1 or 5/4, times a power of two, once it is scaled.
/// `mantissa` is that of the block's scale, one of 8.
///
/// Such an element is `middle` times what it is divided by, rounded. So it is
/// the nearest one to that, if any.
GQ_DEV bool gq_dev_nvfp4_has_middle(gqElementType type, gq_dev_outer outer,
                                    uint32_t mantissa, float middle) {
  float scale = gq_dev_f32_from_bits(0x3f800000 | mantissa << 20);
  uint32_t divisor = gq_dev_f32_bits(scale * outer.inverse);
  float unit = gq_dev_f32_from_bits((divisor & 0x7fffff) | 0x3f800000);
  float pair[2], product = middle * unit;
  gq_dev_unpack(type, gq_dev_round_pair(type, product, product), pair);
  return pair[0] * gq_dev_reciprocal(unit) == middle;
}

/// Any block of spaced elements. A scale below 2^-10 is 0 and one above 448 is
/// 448, so that neither the last bit of a tiny sixth nor the saturation of inf
/// is needed. Of a scale of 0 elements lose half as much again, so that none
/// reaches a middle.
GQ_DEV gq_dev_block_scale gq_dev_nvfp4_spaced(float amax) {
  float bounded = gq_dev_min(amax, GQ_DEV_F32_MAX);
  uint32_t code = gq_dev_e4m3_native(gq_dev_sixth_of(bounded));
  float decoded = gq_dev_f32_from_e4m3_native(code);
  float inverse = gq_dev_min(gq_dev_reciprocal_approx(decoded),
                             (1.0f - 0x1p-11f) * 0x1p127f * 2.0f);
  return (gq_dev_block_scale){
      code, inverse * gq_dev_e2m1_one(GQ_DEV_E2M1_CUT_SPACED) *
                gq_dev_nvfp4_spacing(decoded)};
}

/// A block whose scale is a normal e4m3 needs no clamping, since it cannot
/// exceed 6 by more than the scale was rounded down, and with an outer scale
/// that is not too far from 1 no corner of a division. Without an outer scale
/// clamping is all that the others need.
GQ_DEV gq_dev_any_scale gq_dev_nvfp4_either(gq_dev_scaler scaler, float amax,
                                            gq_dev_outer outer) {
  if (scaler.way == GQ_DEV_E2M1_CUT_SPACED)
    return (gq_dev_any_scale){gq_dev_nvfp4_spaced(amax), true};
  float scale = gq_dev_nvfp4_unrounded(
      scaler, scaler.hasOuter ? amax : gq_dev_min(amax, GQ_DEV_F32_MAX), outer);
  uint32_t code = gq_dev_e4m3_native(scale);
  float decoded = gq_dev_f32_from_e4m3_native(code);
  if (scaler.hasOuter)
    decoded *= outer.inverse;
  float inverse = gq_dev_reciprocal(decoded);
  if (!scaler.hasOuter) // that of 0 is NaN
    inverse = gq_dev_min(inverse, GQ_DEV_F32_MAX);
  gq_dev_any_scale any = {
      {code, inverse * gq_dev_e2m1_one(scaler.way)},
      scale >= 0x1p-6f && scale <= GQ_E4M3_MAX &&
          (!scaler.hasOuter || gq_dev_nvfp4_is_near(outer)),
  };
  if (scaler.hasOuter && __builtin_expect(!any.regular, 0))
    any.block = gq_dev_nvfp4_any(scaler, amax, outer);
  return any;
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_SCALERS_NVFP4_H
