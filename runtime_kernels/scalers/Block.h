//===- Block.h - a block of any format ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses among the scale rules (Scaler.h) and scales a block's elements. The
// fields of a scaler are constants in the callers.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_BLOCK_H
#define GQ_KERNELS_SCALERS_BLOCK_H

#include "runtime_kernels/codecs/Codes.h"
#include "runtime_kernels/scalers/Fp8Block.h"
#include "runtime_kernels/scalers/Given.h"
#include "runtime_kernels/scalers/Mx.h"
#include "runtime_kernels/scalers/Nvfp4.h"

/// The scale of a block whose largest magnitude is `amax`. `outer` is the outer
/// scale of the recipe (Nvfp4.h), or the one that is given (Given.h); other
/// formats have none.
GQ_DEV gq_dev_block_scale gq_dev_block_scale_from_amax(gqFormat format,
                                                       gqRecipe recipe,
                                                       float amax,
                                                       float outer) {
  const gq_dev_scaler scaler = {.format = format, .recipe = recipe};
  switch (gqFormatGetTraits(format).scaleRule) {
  case GQ_SCALE_RULE_NVFP4:
    return gq_dev_nvfp4_reference(scaler, amax, outer);
  case GQ_SCALE_RULE_MX:
    return gq_dev_mx_reference(scaler, amax, outer);
  case GQ_SCALE_RULE_FP8:
    return gq_dev_fp8_block_reference(scaler, amax, outer);
  case GQ_SCALE_RULE_GIVEN:
    return gq_dev_given_reference(scaler, amax, outer);
  }
}

//===----------------------------------------------------------------------===//
// On the chip
//===----------------------------------------------------------------------===//

#ifdef GQ_DEV_CHIP

/// The outer scale, `x` being what the recipe has as an operand.
GQ_DEV gq_dev_outer gq_dev_outer_from(gq_dev_scaler scaler, float x) {
  return gqFormatHasBlockScales(scaler.format)
             ? gq_dev_nvfp4_outer_from(scaler.recipe, x)
             : gq_dev_given_outer_from(scaler.format, scaler.recipe, x);
}

/// That of a block without one.
GQ_DEV gq_dev_outer gq_dev_no_outer(gq_dev_scaler scaler) {
  return gqFormatHasBlockScales(scaler.format)
             ? gq_dev_nvfp4_no_outer(scaler.recipe)
             : gq_dev_given_no_outer();
}

/// `outer` if the scaler uses one.
GQ_DEV gq_dev_outer gq_dev_used_outer(gq_dev_scaler scaler,
                                      gq_dev_outer outer) {
  return scaler.hasOuter ? outer : gq_dev_no_outer(scaler);
}

/// A regular block, of which one element is not zero if it is `single`. Its
/// elements are for gq_dev_scaled without clamping.
GQ_DEV gq_dev_block_scale gq_dev_regular_block(gq_dev_scaler scaler, float amax,
                                               gq_dev_outer outer,
                                               bool single) {
  switch (gqFormatGetTraits(scaler.format).scaleRule) {
  case GQ_SCALE_RULE_NVFP4:
    return gq_dev_nvfp4_regular(scaler, amax, gq_dev_used_outer(scaler, outer),
                                single);
  case GQ_SCALE_RULE_MX:
    return gq_dev_mx_regular(scaler, amax);
  case GQ_SCALE_RULE_FP8:
    return gq_dev_fp8_block_either(scaler, amax).block;
  case GQ_SCALE_RULE_GIVEN:
    return gq_dev_given_either(outer).block;
  }
}

/// Whether all blocks of a range, `single` ones or not, are regular.
GQ_DEV bool gq_dev_is_regular(gq_dev_scaler scaler, gq_dev_range range,
                              gq_dev_outer outer, bool single) {
  switch (gqFormatGetTraits(scaler.format).scaleRule) {
  case GQ_SCALE_RULE_NVFP4:
    return gq_dev_nvfp4_is_regular(scaler, range,
                                   gq_dev_used_outer(scaler, outer), single);
  case GQ_SCALE_RULE_MX:
    return gq_dev_mx_is_regular(scaler, range);
  case GQ_SCALE_RULE_FP8:
  case GQ_SCALE_RULE_GIVEN:
    return true;
  }
}

/// Any block. Its elements are for gq_dev_scaled with clamping.
GQ_DEV gq_dev_block_scale gq_dev_any_block(gq_dev_scaler scaler, float amax,
                                           gq_dev_outer outer) {
  switch (gqFormatGetTraits(scaler.format).scaleRule) {
  case GQ_SCALE_RULE_NVFP4:
    return gq_dev_nvfp4_any(scaler, amax, gq_dev_used_outer(scaler, outer));
  case GQ_SCALE_RULE_MX:
    return gq_dev_mx_any(scaler, amax);
  case GQ_SCALE_RULE_FP8:
    return gq_dev_fp8_block_either(scaler, amax).block;
  case GQ_SCALE_RULE_GIVEN:
    return gq_dev_given_either(outer).block;
  }
}

/// Any block, with a branch for rare ones. Its elements are for
/// gq_dev_scale_unit.
GQ_DEV gq_dev_any_scale gq_dev_either_block(gq_dev_scaler scaler, float amax,
                                            gq_dev_outer outer) {
  switch (gqFormatGetTraits(scaler.format).scaleRule) {
  case GQ_SCALE_RULE_NVFP4:
    return gq_dev_nvfp4_either(scaler, amax, gq_dev_used_outer(scaler, outer));
  case GQ_SCALE_RULE_MX:
    return gq_dev_mx_either(scaler, amax);
  case GQ_SCALE_RULE_FP8:
    return gq_dev_fp8_block_either(scaler, amax);
  case GQ_SCALE_RULE_GIVEN:
    return gq_dev_given_either(outer);
  }
}

/// An element as gq_dev_codes4 takes it, from the factor of its block. `clamps`
/// is a constant.
GQ_DEV float gq_dev_scaled(gq_dev_scaler scaler, bool clamps, float x,
                           float factor) {
  float y = x * factor;
  if (clamps && gqFormatGetTraits(scaler.format).dataBits == 4)
    y = gq_dev_min_magnitude(y, GQ_E2M1_MAX) * gq_dev_e2m1_one(scaler.way);
  return y;
}

/// A unit of a block's elements as gq_dev_codes takes them.
GQ_DEV void gq_dev_scale_unit(gq_dev_scaler scaler, gq_dev_any_scale any,
                              const float x[GQ_DEV_UNIT],
                              float y[GQ_DEV_UNIT]) {
  float one = gq_dev_e2m1_one(scaler.way);
  for (int i = 0; i < GQ_DEV_UNIT; ++i)
    y[i] = x[i] * any.block.factor;
  if (__builtin_expect(any.regular, 1))
    return;
  if (gqFormatGetTraits(scaler.format).scaleRule == GQ_SCALE_RULE_MX) {
    for (int i = 0; i < GQ_DEV_UNIT; ++i)
      y[i] *= one;
    return;
  }
  for (int i = 0; i < GQ_DEV_UNIT; ++i)
    y[i] = scaler.hasOuter ? gq_dev_min_magnitude(y[i], GQ_E2M1_MAX) * one
                           : gq_dev_min_magnitude(y[i], GQ_E2M1_MAX * one);
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_SCALERS_BLOCK_H
