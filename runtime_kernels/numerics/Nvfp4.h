//===- Nvfp4.h - a block of 16 elements --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVFP4: 16 e2m1 codes and one e4m3 scale. The recipe is nvFuser's: the scale
// is amax / 6 as e4m3, and the elements are multiplied by the reciprocal of
// the rounded scale, not divided by it (which would differ in five bf16 codes
// of ten thousand).
//
// `globalScale` is the encoding scale of the whole tensor or group, usually
// 2688 / amax. 1 stands for none: multiplying by 1 and dividing by 1 are
// exact, so the bytes are the same.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_NUMERICS_NVFP4_H
#define GQ_KERNELS_NUMERICS_NVFP4_H

#include "runtime_kernels/numerics/E2M1.h"
#include "runtime_kernels/numerics/E4M3.h"

enum {
  /// Elements in a block.
  GQ_DEV_NVFP4_BLOCK = 16,
  /// Bytes of a block's codes.
  GQ_DEV_NVFP4_BLOCK_BYTES = 8,
};

/// The largest magnitude of a block, NaN dropped; 0 if all are NaN. A tree,
/// because the compiler may not reorder a chain of maxima on its own.
GQ_DEV float gq_dev_nvfp4_amax(const float x[GQ_DEV_NVFP4_BLOCK]) {
  float m[8];
  for (int i = 0; i < 8; ++i)
    m[i] = gq_dev_max(__builtin_fabsf(x[i + 8]),
                      gq_dev_max(__builtin_fabsf(x[i]), 0.0f));
  for (int i = 0; i < 4; ++i)
    m[i] = gq_dev_max(m[i + 4], m[i]);
  for (int i = 0; i < 2; ++i)
    m[i] = gq_dev_max(m[i + 2], m[i]);
  return gq_dev_max(m[1], m[0]);
}

/// The scale byte of a block whose largest magnitude is `amax`.
GQ_DEV uint8_t gq_dev_nvfp4_scale(float amax, float globalScale) {
  float scale = amax / 6.0f * globalScale;
  return gq_dev_e4m3_from_f32(gq_dev_min(scale, GQ_DEV_F32_MAX));
}

/// What the elements of a block with this scale byte are multiplied by.
GQ_DEV float gq_dev_nvfp4_inverse(uint8_t scale, float globalScale) {
  float decoded = gq_dev_f32_from_e4m3(scale) * (1.0f / globalScale);
  return gq_dev_min(1.0f / decoded, GQ_DEV_F32_MAX);
}

/// Quantizes a block: writes its codes and returns its scale byte.
GQ_DEV uint8_t gq_dev_nvfp4_quantize(const float x[GQ_DEV_NVFP4_BLOCK],
                                     float globalScale,
                                     uint8_t codes[GQ_DEV_NVFP4_BLOCK_BYTES]) {
  uint8_t scale = gq_dev_nvfp4_scale(gq_dev_nvfp4_amax(x), globalScale);
  float inverse = gq_dev_nvfp4_inverse(scale, globalScale);
  for (int i = 0; i < GQ_DEV_NVFP4_BLOCK_BYTES; ++i) {
    uint32_t low = gq_dev_e2m1_from_f32(x[2 * i] * inverse);
    uint32_t high = gq_dev_e2m1_from_f32(x[2 * i + 1] * inverse);
    codes[i] = (uint8_t)(low | high << 4);
  }
  return scale;
}

/// The values code * scale of a block, exact in float32. Without a global
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

#endif // GQ_KERNELS_NUMERICS_NVFP4_H
