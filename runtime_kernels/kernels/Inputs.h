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

#ifndef GQ_KERNELS_KERNELS_INPUTS_H
#define GQ_KERNELS_KERNELS_INPUTS_H

#include "runtime_kernels/arch/Nvptx.h"

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

/// Whether the hook only loads, 16 bytes at a time: not one of a producer.
GQ_DEV bool gq_dev_only_loads(gq_load16 *load) {
  return load == gq_dev_load16_bf16 || load == gq_dev_load16_f16 ||
         load == gq_dev_load16_f32;
}

/// Whether the hook reads a matrix, so that another row can be asked of it.
GQ_DEV bool gq_dev_reads_matrix(gq_load16 *load) {
  return gq_dev_only_loads(load) || load == gq_dev_load16_bf16_unaligned ||
         load == gq_dev_load16_f16_unaligned ||
         load == gq_dev_load16_f32_unaligned;
}

#endif // GQ_KERNELS_KERNELS_INPUTS_H
