//===- Dequantize.h - what a scale stands for, and a code with it -*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inverse of each scale rule. A code of a block is multiplied by one
// factor; only the recipe nvfuser with a global scale g divides after that,
// because code * d / g is not code * (d / g).
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_DEQUANTIZE_H
#define GQ_KERNELS_SCALERS_DEQUANTIZE_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/E8M0.h"
#include "runtime_kernels/scalers/Nvfp4.h"

/// What scale number `index` of a buffer stands for.
GQ_DEV float gq_dev_f32_from_scale(gqScaleRule rule,
                                   const void GQ_GLOBAL *scales,
                                   int64_t index) {
  switch (rule) {
  case GQ_SCALE_RULE_NVFP4:
    return gq_dev_f32_from_e4m3(((const uint8_t GQ_GLOBAL *)scales)[index]);
  case GQ_SCALE_RULE_MX:
    return gq_dev_f32_from_e8m0(((const uint8_t GQ_GLOBAL *)scales)[index]);
  case GQ_SCALE_RULE_FP8:
  case GQ_SCALE_RULE_GIVEN:
    return ((const float GQ_GLOBAL *)scales)[index];
  }
}

#ifdef GQ_DEV_CHIP
/// The same of a scale's byte or bits.
GQ_DEV float gq_dev_f32_from_scale_bits(gqScaleRule rule, uint32_t bits) {
  switch (rule) {
  case GQ_SCALE_RULE_NVFP4:
    return gq_dev_f32_from_e4m3_native(bits);
  case GQ_SCALE_RULE_MX:
    return gq_dev_f32_from_e8m0((uint8_t)bits);
  case GQ_SCALE_RULE_FP8:
  case GQ_SCALE_RULE_GIVEN:
    return gq_dev_f32_from_bits(bits);
  }
}
#endif

/// How codes become numbers. Constant in a kernel.
typedef struct gq_dev_dequantizer {
  gqFormat format;
  gqRecipe recipe;
  /// There is a global scale, an outer amax or, without a format, the scale of
  /// all codes.
  bool hasOuter;
  gqScaleMax scaleMax;
} gq_dev_dequantizer;

/// Whether the product of code and factor is divided by the outer scale.
GQ_DEV bool gq_dev_dequantize_divides(gq_dev_dequantizer d) {
  return d.hasOuter && d.format != GQ_FORMAT_NONE &&
         d.recipe == GQ_RECIPE_NVFUSER;
}

/// What the codes of a block are multiplied by, given what its scale stands for
/// and the outer scale, if there are any.
GQ_DEV float gq_dev_dequantize_factor(gq_dev_dequantizer d, float scale,
                                      float outer) {
  if (d.format == GQ_FORMAT_NONE)
    return outer;
  return d.hasOuter && d.recipe == GQ_RECIPE_TE
             ? scale * outer * (1 / gq_dev_nvfp4_most(d.scaleMax))
             : scale;
}

#endif // GQ_KERNELS_SCALERS_DEQUANTIZE_H
