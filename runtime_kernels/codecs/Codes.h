//===- Codes.h - elements to the codes of any format, and back ---*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements have been multiplied by their block's factor. `format` is a constant
// in the callers.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_CODES_H
#define GQ_KERNELS_CODECS_CODES_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/E2M1.h"
#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/codecs/E5M2.h"

/// The code of an element.
GQ_DEV uint8_t gq_dev_code_from_f32(gqFormat format, float x) {
  switch (gqFormatGetTraits(format).code) {
  case GQ_CODE_E2M1:
    return (uint8_t)gq_dev_e2m1_from_f32(x);
  case GQ_CODE_E4M3:
    return gq_dev_e4m3_from_f32(x);
  case GQ_CODE_E5M2:
    return gq_dev_e5m2_from_f32(x);
  }
}

/// What a code stands for; a 4-bit code is in the low four bits.
GQ_DEV float gq_dev_f32_from_code(gqCode code, uint8_t byte) {
  switch (code) {
  case GQ_CODE_E2M1:
    return gq_dev_f32_from_e2m1(byte);
  case GQ_CODE_E4M3:
    return gq_dev_f32_from_e4m3(byte);
  case GQ_CODE_E5M2:
    return gq_dev_f32_from_e5m2(byte);
  }
}

//===----------------------------------------------------------------------===//
// On the chip: the codes of many elements
//===----------------------------------------------------------------------===//

#ifdef GQ_DEV_CHIP

#include "runtime_kernels/codecs/Elements.h"

/// Four codes of 8 bits.
GQ_DEV uint32_t gq_dev_fp8x4(gqFormat format, const float y[4]) {
  return gqFormatGetTraits(format).code == GQ_CODE_E5M2
             ? gq_dev_e5m2x4_from_f32(y[0], y[1], y[2], y[3])
             : gq_dev_e4m3x4_from_f32(y[0], y[1], y[2], y[3]);
}

/// The bytes of the codes of a unit, in the order of y: 2 words of 4 bits or 4
/// of 8. For 4 bits y comes as `way` says.
GQ_DEV void gq_dev_codes(gqFormat format, gq_dev_e2m1_way way,
                         const float y[GQ_DEV_UNIT], uint32_t codes[4]) {
  if (gqFormatGetTraits(format).dataBits == 4) {
    codes[0] = gq_dev_e2m1x8(way, y);
    codes[1] = gq_dev_e2m1x8(way, y + 8);
    return;
  }
  for (int i = 0; i < GQ_DEV_UNIT; i += 4)
    codes[i / 4] = gq_dev_fp8x4(format, y + i);
}

/// Converts quarter number `quarter` of a unit; the quarters come in order. For
/// 4 bits y comes as gq_dev_e2m1_way_in_steps says.
GQ_DEV void gq_dev_codes4(gqFormat format, uint32_t quarter, const float y[4],
                          uint32_t codes[4]) {
  if (gqFormatGetTraits(format).dataBits == 4)
    codes[quarter / 2] = quarter % 2 == 0
                             ? gq_dev_e2m1x4(y)
                             : gq_dev_e2m1x8_after(codes[quarter / 2], y);
  else
    codes[quarter] = gq_dev_fp8x4(format, y);
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_CODECS_CODES_H
