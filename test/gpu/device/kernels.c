//===- kernels.c - kernels made from the device functions -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering generates, by hand: each kernel calls one body with its
// parameters and constants. The bodies come from the bitcode.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/device/Kernels.h"

#define KERNEL __attribute__((device_kernel)) void

#define PARAMETERS                                                             \
  const void GQ_GLOBAL *input, int64_t input_stride, int64_t rows,             \
      int64_t columns, const void GQ_GLOBAL *offsets, int64_t num_offsets,     \
      const void GQ_GLOBAL *scale_offsets, int64_t groups,                     \
      const float GQ_GLOBAL *global_scale, uint8_t GQ_GLOBAL *data,            \
      int64_t data_stride, uint8_t GQ_GLOBAL *scales, int64_t scale_rows,      \
      uint32_t GQ_GLOBAL *status

#define CALL(LOAD, INDICES, SOURCE_ROWS, ROWS, BITS, KIND, INDEX_BITS)         \
  gq_dev_matrix matrix = {input, input_stride};                                \
  gq_dev_grouped_block_quantize(LOAD, &matrix, rows, columns, INDICES,         \
                                SOURCE_ROWS, offsets, num_offsets,             \
                                scale_offsets, groups, global_scale, data,     \
                                data_stride, scales, scale_rows, status,       \
                                GQ_FORMAT_NVFP4, ROWS, BITS, KIND, INDEX_BITS)

#define GROUPED(NAME, LOAD, ROWS, BITS, KIND)                                  \
  KERNEL NAME(PARAMETERS) { CALL(LOAD, 0, 0, ROWS, BITS, KIND, 0); }

#define GATHERED(NAME, LOAD, INDEX_BITS)                                       \
  KERNEL NAME(PARAMETERS, const void GQ_GLOBAL *row_indices,                   \
              int64_t source_rows) {                                           \
    CALL(LOAD, row_indices, source_rows, GQ_ROWS_ALL, 32,                      \
         GQ_DEV_GLOBAL_SCALE_NONE, INDEX_BITS);                                \
  }

/// All that a test asks of an element type.
#define GROUPED_OF(TYPE)                                                       \
  GROUPED(grouped_##TYPE, gq_dev_load16_##TYPE, GQ_ROWS_ALL, 32,               \
          GQ_DEV_GLOBAL_SCALE_NONE)                                            \
  GROUPED(grouped_##TYPE##_one, gq_dev_load16_##TYPE, GQ_ROWS_ALL, 32,         \
          GQ_DEV_GLOBAL_SCALE_ONE)                                             \
  GROUPED(grouped_##TYPE##_each, gq_dev_load16_##TYPE, GQ_ROWS_ALL, 32,        \
          GQ_DEV_GLOBAL_SCALE_PER_GROUP)                                       \
  GROUPED(grouped_##TYPE##_i64, gq_dev_load16_##TYPE, GQ_ROWS_GROUPED, 64,     \
          GQ_DEV_GLOBAL_SCALE_NONE)                                            \
  GROUPED(grouped_##TYPE##_unaligned, gq_dev_load16_##TYPE##_unaligned,        \
          GQ_ROWS_ALL, 32, GQ_DEV_GLOBAL_SCALE_NONE)                           \
  GATHERED(gathered_##TYPE, gq_dev_load16_##TYPE, 32)                          \
  GATHERED(gathered_##TYPE##_i64, gq_dev_load16_##TYPE, 64)                    \
  GATHERED(gathered_##TYPE##_unaligned, gq_dev_load16_##TYPE##_unaligned, 32)

GROUPED_OF(bf16)
GROUPED_OF(f16)
GROUPED_OF(f32)

KERNEL block_bf16(const void GQ_GLOBAL *input, int64_t input_stride,
                  int64_t rows, int64_t columns, uint8_t GQ_GLOBAL *data,
                  int64_t data_stride, uint8_t GQ_GLOBAL *scales,
                  int64_t scales_stride) {
  gq_dev_matrix matrix = {input, input_stride};
  gq_dev_block_quantize(gq_dev_load16_bf16, &matrix, rows, columns, 0, data,
                        data_stride, scales, scales_stride, GQ_FORMAT_NVFP4,
                        GQ_DEV_GLOBAL_SCALE_NONE);
}

KERNEL preprocess(const uint8_t GQ_GLOBAL *linear, int64_t linear_stride,
                  int64_t rows, int64_t scale_columns,
                  const void GQ_GLOBAL *offsets, int64_t num_offsets,
                  const void GQ_GLOBAL *scale_offsets, int64_t groups,
                  uint8_t GQ_GLOBAL *scales, int64_t scale_rows,
                  uint32_t GQ_GLOBAL *status) {
  gq_dev_preprocess_grouped_matmul_sf(
      linear, linear_stride, rows, scale_columns, offsets, num_offsets,
      scale_offsets, groups, scales, scale_rows, status, GQ_FORMAT_NVFP4, 32);
}
