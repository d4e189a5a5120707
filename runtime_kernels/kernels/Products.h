//===- Products.h - what kernels of matrix products share --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_PRODUCTS_H
#define GQ_KERNELS_KERNELS_PRODUCTS_H

#include "runtime_kernels/arch/Mma.h"
#include "runtime_kernels/codecs/Elements.h"
#include "runtime_kernels/codecs/Nvfp4Half.h"
#include "runtime_kernels/kernels/Kernels.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define NO_UNROLL _Pragma("clang loop unroll(disable)")

/// Two 8-bit codes in the low half of a word as f16, which has all their
/// values.
GQ_DEV uint32_t halvesOfPair(gqElementType type, uint32_t codes) {
  return type == GQ_F8E4M3FN ? gq_dev_f16x2_from_e4m3x2(codes)
                             : gq_dev_permute(codes, 0, 0x1404);
}

/// The bytes of an output of f32, bf16 or f16.
GQ_DEV uint32_t sizeOfFloat(gqElementType type) {
  return type == GQ_F32 ? 4 : 2;
}

/// Stores an output.
GQ_DEV void storeFloat(gqElementType type, uint8_t GQ_GLOBAL *at, float x) {
  if (type == GQ_F32)
    *(float GQ_GLOBAL *)at = x;
  else
    *(uint16_t GQ_GLOBAL *)at = (uint16_t)gq_dev_round_pair(type, x, 0);
}

/// Stores an output that has these bits, in the low half or all of a word.
GQ_DEV void storeBits(gqElementType type, uint8_t GQ_GLOBAL *at,
                      uint32_t bits) {
  if (type == GQ_F32)
    *(uint32_t GQ_GLOBAL *)at = bits;
  else
    *(uint16_t GQ_GLOBAL *)at = (uint16_t)bits;
}

#endif // GQ_KERNELS_KERNELS_PRODUCTS_H
