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
#include "runtime_kernels/scalers/Scaler.h"

/// The scale byte of a block whose largest magnitude is `amax`, for codes of at
/// most `codeMax`. A product with the rounded reciprocal, not a quotient.
GQ_DEV uint8_t gq_dev_mx_scale(float amax, float codeMax) {
  return gq_dev_e8m0_from_f32(amax * (1.0f / codeMax));
}

/// What the elements of a block with this scale byte are multiplied by.
GQ_DEV float gq_dev_mx_inverse(uint8_t scale) {
  return gq_dev_f32_from_e8m0_inverse(scale);
}

GQ_DEV gq_dev_block_scale gq_dev_mx_reference(gq_dev_scaler scaler, float amax,
                                              float outer) {
  (void)outer;
  uint8_t scale = gq_dev_mx_scale(amax, gq_dev_code_max(scaler.format));
  return (gq_dev_block_scale){scale, gq_dev_mx_inverse(scale)};
}

//===----------------------------------------------------------------------===//
// On the chip
//===----------------------------------------------------------------------===//

// The formula takes no branch: only e2m1, which is not saturated by its fast
// conversions, has blocks that are rare.

#ifdef GQ_DEV_CHIP

GQ_DEV gq_dev_block_scale gq_dev_mx_any(gq_dev_scaler scaler, float amax) {
  uint32_t code =
      gq_dev_e8m0_from_f32(amax * (1.0f / gq_dev_code_max(scaler.format)));
  return (gq_dev_block_scale){code,
                              gq_dev_f32_from_e8m0_inverse((uint8_t)code)};
}

/// Of a block of zeros any factor will do, but that of its scale is too large.
GQ_DEV gq_dev_block_scale gq_dev_mx_regular(gq_dev_scaler scaler, float amax) {
  float one = gq_dev_e2m1_one(scaler.way);
  gq_dev_block_scale block = gq_dev_mx_any(scaler, amax);
  if (gqFormatGetTraits(scaler.format).dataBits == 4)
    block.factor = amax == 0.0f ? one : block.factor * one;
  return block;
}

/// Whether elements and factors, times gq_dev_e2m1_one, are normal and finite.
GQ_DEV bool gq_dev_mx_is_regular(gq_dev_scaler scaler, gq_dev_range range) {
  float least = gq_dev_f32_from_bits(range.least + 1);
  bool none = range.least == UINT32_MAX;
  return gqFormatGetTraits(scaler.format).dataBits == 8 || none ||
         (gq_dev_mx_any(scaler, least).bits >= 32 &&
          gq_dev_mx_any(scaler, range.most).bits < 254);
}

GQ_DEV gq_dev_any_scale gq_dev_mx_either(gq_dev_scaler scaler, float amax) {
  gq_dev_any_scale any = {gq_dev_mx_any(scaler, amax), true};
  if (gqFormatGetTraits(scaler.format).dataBits != 4)
    return any;
  // A factor of spaced elements would be denormal, and lose what it is off by:
  // elements are multiplied by both in turn.
  any.regular = scaler.way != GQ_DEV_E2M1_CUT_SPACED || any.block.bits < 253;
  if (any.regular)
    any.block.factor *= gq_dev_e2m1_one(scaler.way);
  return any;
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_SCALERS_MX_H
