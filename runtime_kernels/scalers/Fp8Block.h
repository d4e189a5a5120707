//===- Fp8Block.h - a block of fp8 with a float32 scale ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 128 or 128 * 128 codes of e4m3 or e5m2. The scale maps the largest magnitude
// to the largest code; its reciprocal, the factor that dequantizes, is stored.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_FP8BLOCK_H
#define GQ_KERNELS_SCALERS_FP8BLOCK_H

#include "runtime_kernels/scalers/Scaler.h"
#ifdef GQ_DEV_CHIP
#include "runtime_kernels/arch/Division.h"
#endif

/// What the elements of a block whose largest magnitude is `amax` are
/// multiplied by, for codes of at most `codeMax`; 1 if all are 0 or one is inf.
GQ_DEV float gq_dev_fp8_block_scale(float amax, float codeMax) {
  float scale = gq_dev_min(codeMax / amax, GQ_DEV_F32_MAX);
  return amax > 0.0f && amax <= GQ_DEV_F32_MAX ? scale : 1.0f;
}

GQ_DEV gq_dev_block_scale gq_dev_fp8_block_reference(gq_dev_scaler scaler,
                                                     float amax, float outer) {
  (void)outer;
  float scale = gq_dev_fp8_block_scale(amax, gq_dev_code_max(scaler.format));
  return (gq_dev_block_scale){gq_dev_f32_bits(1.0f / scale), scale};
}

//===----------------------------------------------------------------------===//
// On the chip
//===----------------------------------------------------------------------===//

// There are so few of these blocks that each may take a branch.

#ifdef GQ_DEV_CHIP

GQ_DEV gq_dev_any_scale gq_dev_fp8_block_either(gq_dev_scaler scaler,
                                                float amax) {
  float max = gq_dev_code_max(scaler.format);
  float inverse = gq_dev_reciprocal(amax);
  float scale = max * inverse;
  scale = gq_dev_fma(gq_dev_fma(-amax, scale, max), inverse, scale);
  float stored = gq_dev_reciprocal(scale);
  if (__builtin_expect(!(amax >= 0x1p-100f && amax <= 0x1p100f), 0)) {
    scale = gq_dev_min(gq_dev_divide(max, amax), GQ_DEV_F32_MAX);
    scale = amax > 0.0f && amax <= GQ_DEV_F32_MAX ? scale : 1.0f;
    stored = gq_dev_divide(1.0f, scale);
  }
  return (gq_dev_any_scale){{gq_dev_f32_bits(stored), scale}, true};
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_SCALERS_FP8BLOCK_H
