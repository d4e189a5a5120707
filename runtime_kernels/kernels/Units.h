//===- Units.h - units of 16 elements -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_UNITS_H
#define GQ_KERNELS_KERNELS_UNITS_H

#include "runtime_kernels/codecs/Elements.h"

/// Stores 8 or 16 `bytes` of a unit.
GQ_DEV void gq_dev_store_codes(uint8_t GQ_GLOBAL *p, const uint32_t codes[4],
                               uint32_t bytes, bool aligned) {
  if (aligned) {
    if (bytes == 8)
      *(gq_dev_u32x2 GQ_GLOBAL *)p = (gq_dev_u32x2){codes[0], codes[1]};
    else
      *(gq_dev_u32x4 GQ_GLOBAL *)p =
          (gq_dev_u32x4){codes[0], codes[1], codes[2], codes[3]};
    return;
  }
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    if (i < bytes)
      p[i] = (uint8_t)(codes[i / 4] >> i % 4 * 8);
}

#endif // GQ_KERNELS_KERNELS_UNITS_H
