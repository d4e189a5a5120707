//===- Block.h - a block of any format ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the formats have in common: the largest magnitude of a block gives its
// scale, and a factor by which elements are multiplied before they are rounded
// to codes. `format` is a constant in the callers.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_BLOCK_H
#define GQ_KERNELS_SCALERS_BLOCK_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/E5M2.h"
#include "runtime_kernels/scalers/Fp8Block.h"
#include "runtime_kernels/scalers/Mx.h"
#include "runtime_kernels/scalers/Nvfp4.h"

typedef struct gq_dev_block_scale {
  /// As it is stored: a byte, or the bits of a float32.
  uint32_t bits;
  /// What the elements are multiplied by.
  float factor;
} gq_dev_block_scale;

/// The largest magnitude that a code of the format stands for.
GQ_DEV float gq_dev_code_max(gqFormat format) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  if (traits.dataBits == 4)
    return 6.0f;
  return traits.dataType == GQ_F8E4M3FN ? 448.0f : 57344.0f;
}

/// The scale of a block whose largest magnitude is `amax`. `outer` is the outer
/// scale of the recipe (Nvfp4.h); other formats have none.
GQ_DEV gq_dev_block_scale gq_dev_block_scale_from_amax(gqFormat format,
                                                       gqRecipe recipe,
                                                       float amax,
                                                       float outer) {
  float codeMax = gq_dev_code_max(format);
  switch (gqFormatGetTraits(format).scaleType) {
  case GQ_F8E4M3FN: {
    uint8_t scale = recipe == GQ_RECIPE_TE ? gq_dev_nvfp4_te_scale(amax, outer)
                                           : gq_dev_nvfp4_scale(amax, outer);
    return (gq_dev_block_scale){scale, gq_dev_nvfp4_inverse(scale, outer)};
  }
  case GQ_F8E8M0FNU: {
    uint8_t scale = gq_dev_mx_scale(amax, codeMax);
    return (gq_dev_block_scale){scale, gq_dev_mx_inverse(scale)};
  }
  default: {
    float scale = gq_dev_fp8_block_scale(amax, codeMax);
    return (gq_dev_block_scale){gq_dev_f32_bits(1.0f / scale), scale};
  }
  }
}

/// The code of an element that has been multiplied by its block's factor.
GQ_DEV uint8_t gq_dev_code_from_f32(gqFormat format, float x) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  if (traits.dataBits == 4)
    return (uint8_t)gq_dev_e2m1_from_f32(x);
  return traits.dataType == GQ_F8E4M3FN ? gq_dev_e4m3_from_f32(x)
                                        : gq_dev_e5m2_from_f32(x);
}

#endif // GQ_KERNELS_SCALERS_BLOCK_H
