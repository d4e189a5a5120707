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

#include "runtime_kernels/codecs/E2M1.h"
#include "runtime_kernels/codecs/E4M3.h"

enum {
  /// Elements in a block.
  GQ_DEV_NVFP4_BLOCK = 16,
  /// Bytes of a block's codes.
  GQ_DEV_NVFP4_BLOCK_BYTES = 8,
};

/// The scale byte of a block whose largest magnitude is `amax`, by the recipe
/// nvfuser.
GQ_DEV uint8_t gq_dev_nvfp4_scale(float amax, float outer) {
  float scale = amax / 6.0f * outer;
  return gq_dev_e4m3_from_f32(gq_dev_min(scale, GQ_DEV_F32_MAX));
}

/// The outer scale of the recipe te, which maps `outerAmax` to 2688, the
/// largest value of a code times a scale; 1 if there is no such scale.
GQ_DEV float gq_dev_nvfp4_te_outer(float outerAmax) {
  float outer = gq_dev_min(2688.0f / outerAmax, GQ_DEV_F32_MAX);
  return outerAmax == 0.0f || outer == 0.0f ? 1.0f : outer;
}

/// The scale byte by the recipe te. The order of the products counts.
GQ_DEV uint8_t gq_dev_nvfp4_te_scale(float amax, float outer) {
  float scale = amax * (outer * (1.0f / 6.0f));
  return gq_dev_e4m3_from_f32(gq_dev_min(scale, GQ_DEV_F32_MAX));
}

/// What the elements of a block with this scale byte are multiplied by, by
/// either recipe.
GQ_DEV float gq_dev_nvfp4_inverse(uint8_t scale, float outer) {
  float decoded = gq_dev_f32_from_e4m3(scale) * (1.0f / outer);
  return gq_dev_min(1.0f / decoded, GQ_DEV_F32_MAX);
}

/// The values code * scale of a block, exact in float32. Without an outer
/// scale.
GQ_DEV void
gq_dev_nvfp4_dequantize(const uint8_t codes[GQ_DEV_NVFP4_BLOCK_BYTES],
                        uint8_t scale, float x[GQ_DEV_NVFP4_BLOCK]) {
  float decoded = gq_dev_f32_from_e4m3(scale);
  for (int i = 0; i < GQ_DEV_NVFP4_BLOCK_BYTES; ++i) {
    x[2 * i] = gq_dev_f32_from_e2m1(codes[i]) * decoded;
    x[2 * i + 1] = gq_dev_f32_from_e2m1(codes[i] >> 4) * decoded;
  }
}

#endif // GQ_KERNELS_SCALERS_NVFP4_H
