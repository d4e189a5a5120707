//===- Hadamard.h - the random Hadamard transform ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spreads an outlier over the 16 elements of a block. Some elements change
// their signs, then sums and differences are formed of elements 1, 2, 4 and 8
// apart, in this order; a quarter of the result, rounded to bf16, is quantized.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_TRANSFORMS_HADAMARD_H
#define GQ_KERNELS_TRANSFORMS_HADAMARD_H

#include "runtime_kernels/codecs/Float.h"

enum {
  GQ_DEV_HADAMARD_SIZE = 16,
};

/// All but the division by 4 and the rounding. Bit i of `signs`, a constant on
/// GPUs, is whether x[i] changes its sign.
GQ_DEV void gq_dev_hadamard16(uint32_t signs, float x[GQ_DEV_HADAMARD_SIZE]) {
#pragma clang loop unroll(full)
  for (int i = 0; i < GQ_DEV_HADAMARD_SIZE; ++i)
    x[i] = signs >> i & 1 ? -x[i] : x[i];
#pragma clang loop unroll(full)
  for (int stride = 1; stride < GQ_DEV_HADAMARD_SIZE; stride *= 2)
#pragma clang loop unroll(full)
    for (int i = 0; i < GQ_DEV_HADAMARD_SIZE; ++i)
      if (!(i & stride)) {
        float a = x[i], b = x[i + stride];
        x[i] = a + b;
        x[i + stride] = a - b;
      }
}

/// What is quantized, from what gq_dev_hadamard16 gives.
GQ_DEV float gq_dev_hadamard_rounded(float x) {
  return gq_dev_f32_from_bf16(gq_dev_bf16_from_f32(x * 0.25f));
}

#endif // GQ_KERNELS_TRANSFORMS_HADAMARD_H
