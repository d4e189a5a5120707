//===- Mx.h - a block of an MX format ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 32 codes of e2m1, e4m3 or e5m2 and one e8m0 scale, the largest magnitude over
// that of the code, rounded up to a power of two.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_MX_H
#define GQ_KERNELS_SCALERS_MX_H

#include "runtime_kernels/codecs/E8M0.h"

/// The scale byte of a block whose largest magnitude is `amax`, for codes of at
/// most `codeMax`. A product with the rounded reciprocal, not a quotient.
GQ_DEV uint8_t gq_dev_mx_scale(float amax, float codeMax) {
  return gq_dev_e8m0_from_f32(amax * (1.0f / codeMax));
}

/// What the elements of a block with this scale byte are multiplied by.
GQ_DEV float gq_dev_mx_inverse(uint8_t scale) {
  return gq_dev_f32_from_e8m0_inverse(scale);
}

#endif // GQ_KERNELS_SCALERS_MX_H
