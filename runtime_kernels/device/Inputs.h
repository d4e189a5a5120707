//===- Inputs.h - where a kernel's elements come from ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel reads its input through a hook, a function that gives 16 consecutive
// elements of a row as floats. The hooks here read a matrix; a fused producer
// is another hook, which the compiler generates. A hook is a constant where a
// kernel is instantiated, so it is inlined and costs nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_DEVICE_INPUTS_H
#define GQ_KERNELS_DEVICE_INPUTS_H

#include "runtime_kernels/device/Nvptx.h"

/// Loads the elements (row, column) to (row, column + 15); `column` is a
/// multiple of 16. `inputs` is what the kernel was given. It is called by all
/// lanes at once, for blocks of the matrix only, several times before the
/// first result is used: a hook should do nothing but load and compute.
typedef void gq_load16(const void *inputs, int64_t row, int64_t column,
                       float out[16]);

/// The `inputs` of the hooks below.
typedef struct gq_dev_matrix {
  const void GQ_GLOBAL *data;
  /// Elements from one row to the next.
  int64_t stride;
} gq_dev_matrix;

/// bf16, f16 and f32. `data` and the bytes of a row must be multiples of 16.
gq_load16 gq_dev_load16_bf16, gq_dev_load16_f16, gq_dev_load16_f32;

/// The same, an element at a time: aligned to the element is enough.
gq_load16 gq_dev_load16_bf16_unaligned, gq_dev_load16_f16_unaligned,
    gq_dev_load16_f32_unaligned;

/// Whether a matrix of elements of `size` bytes can be read 16 bytes at a time.
GQ_DEV bool gq_dev_is_aligned(gq_dev_matrix matrix, int64_t size) {
  return (((uint64_t)matrix.data | (uint64_t)(matrix.stride * size)) & 15) == 0;
}

#endif // GQ_KERNELS_DEVICE_INPUTS_H
