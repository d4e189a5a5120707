//===- Fp8Block.h - a block of fp8 with a float32 scale ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 128 or 128 * 128 codes of e4m3 or e5m2. The scale maps the largest magnitude
// to that of the code; what is stored is its reciprocal, the factor that
// dequantizes.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_FP8BLOCK_H
#define GQ_KERNELS_SCALERS_FP8BLOCK_H

#include "runtime_kernels/codecs/Float.h"

/// What the elements of a block whose largest magnitude is `amax` are
/// multiplied by, for codes of at most `codeMax`; 1 if all are 0 or one is inf.
GQ_DEV float gq_dev_fp8_block_scale(float amax, float codeMax) {
  float scale = gq_dev_min(codeMax / amax, GQ_DEV_F32_MAX);
  return amax > 0.0f && amax <= GQ_DEV_F32_MAX ? scale : 1.0f;
}

#endif // GQ_KERNELS_SCALERS_FP8BLOCK_H
