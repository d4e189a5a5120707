//===- Given.h - the scale of a whole tensor ----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes of fp8 with one scale for the whole tensor or a group: it does not
// depend on blocks, and none is stored. It is an operand, or is computed from
// an operand, the largest magnitude, as in Fp8Block.h. It may have any value:
// 0, infinite or NaN.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_GIVEN_H
#define GQ_KERNELS_SCALERS_GIVEN_H

#include "runtime_kernels/scalers/Fp8Block.h"

/// The scale, `given` being what the recipe has as an operand.
GQ_DEV float gq_dev_given_scale(gqFormat format, gqRecipe recipe, float given) {
  return recipe == GQ_RECIPE_TE
             ? gq_dev_fp8_block_scale(given, gq_dev_code_max(format))
             : given;
}

/// 1 / scale, which dequantizes. Of a NaN the one that chips and CPUs agree on.
GQ_DEV float gq_dev_given_inverse(float scale) {
  return scale == scale ? 1.0f / scale : gq_dev_f32_from_bits(0x7fc00000);
}

/// Any block: `outer` is the scale.
GQ_DEV gq_dev_block_scale gq_dev_given_reference(gq_dev_scaler scaler,
                                                 float amax, float outer) {
  (void)scaler;
  (void)amax;
  return (gq_dev_block_scale){0, outer};
}

/// The next scale of a tensor with this amax, if that is positive and finite;
/// else the scale stays what it is. `down` is 2^-margin.
GQ_DEV float gq_dev_next_scale(gqFormat format, float amax, float down,
                               float scale) {
  float next =
      gq_dev_min(gq_dev_code_max(format) / amax * down, GQ_DEV_F32_MAX);
  return amax > 0.0f && amax <= GQ_DEV_F32_MAX ? next : scale;
}

//===----------------------------------------------------------------------===//
// On the chip
//===----------------------------------------------------------------------===//

#ifdef GQ_DEV_CHIP

/// The scale and its inverse, as other rules have their outer scales.
GQ_DEV gq_dev_outer gq_dev_given_outer_from(gqFormat format, gqRecipe recipe,
                                            float given) {
  float scale = given;
  if (recipe == GQ_RECIPE_TE) {
    float max = gq_dev_code_max(format);
    scale = gq_dev_min(gq_dev_divide(max, given), GQ_DEV_F32_MAX);
    scale = given > 0.0f && given <= GQ_DEV_F32_MAX ? scale : 1.0f;
  }
  float inverse = gq_dev_divide(1.0f, scale);
  return (gq_dev_outer){
      .factor = scale,
      .inverse = scale == scale ? inverse : gq_dev_f32_from_bits(0x7fc00000),
  };
}

GQ_DEV gq_dev_outer gq_dev_given_no_outer(void) {
  return (gq_dev_outer){1.0f, 1.0f};
}

/// Any block, without a branch: conversions to fp8 saturate.
GQ_DEV gq_dev_any_scale gq_dev_given_either(gq_dev_outer outer) {
  return (gq_dev_any_scale){{0, outer.factor}, true};
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_SCALERS_GIVEN_H
