//===- AmaxKernels.h - the test kernels of largest magnitudes ----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VARIANT(NAME, TYPE, what to load, parts, rows, offset bits, bits of row
// indices, signs of a transform or -1): kernels clear_NAME(ClearAmaxOperands)
// and amax_NAME(GroupedAmaxOperands). `made16` is what a producer makes of
// bf16.
//
// WHOLE(NAME, TYPE, what to load, layout, packed, rows, offset bits, bits of
// row indices, data): kernels whole_NAME(QuantizeWholeRowsOperands).
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_AMAXKERNELS_H
#define GQ_TEST_GPU_DEVICE_AMAXKERNELS_H

#include "Operands.h"

#include "gq/Runtime/Types.h"

#define AMAX_G GQ_DEV_AMAX_OF_GROUPS
#define AMAX_R GQ_DEV_AMAX_OF_ROWS
#define AMAX_C GQ_DEV_AMAX_OF_COLUMNS
#define AMAX_T GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS
#define AMAX_ALL (AMAX_G | AMAX_R | AMAX_C)

static inline gqTransform transformOf(int signs) {
  return signs < 0 ? GQ_TRANSFORM_NONE : GQ_TRANSFORM_HADAMARD16;
}

#define WHOLE_ROWS_VARIANTS(WHOLE)                                             \
  WHOLE(bf16, BF16, bf16, TILE128X4, 1, GROUPED, 32, 0, I8)                    \
  WHOLE(f32, F32, f32, TILE128X4, 0, ALL, 64, 0, I8)                           \
  WHOLE(f16_linear, F16, f16, LINEAR, 0, ALL, 32, 0, I8)                       \
  WHOLE(bf16_gathered, BF16, bf16, TILE128X4, 1, ALL, 32, 32, I8)              \
  WHOLE(bf16_unaligned, BF16, bf16_unaligned, TILE128X4, 0, ALL, 32, 0, I8)    \
  WHOLE(bf16_to_bf16, BF16, bf16, LINEAR, 0, GROUPED, 32, 0, BF16)             \
  WHOLE(f32_to_f16, F32, f32, LINEAR, 0, ALL, 64, 0, F16)                      \
  WHOLE(bf16_to_f32, BF16, bf16, LINEAR, 0, ALL, 32, 32, F32)

#define AMAX_VARIANTS(VARIANT)                                                 \
  VARIANT(bf16_transformed, BF16, bf16, AMAX_ALL | AMAX_T, ALL, 32, 0, 0xD7E8) \
  VARIANT(f16_transformed, F16, f16, AMAX_T, GROUPED, 64, 0, 0)                \
  VARIANT(f32_transformed, F32, f32, AMAX_T | AMAX_C, ALL, 32, 0, 0xD7E8)      \
  VARIANT(bf16_transformed_ragged, BF16, bf16,                                 \
          AMAX_G | AMAX_T | GQ_DEV_RAGGED, GROUPED, 32, 0, 0x1234)             \
  VARIANT(f16_transformed_columns, F16, f16, AMAX_R | AMAX_C, ALL, 32, 0,      \
          0xD7E8)                                                              \
  VARIANT(f32_transformed_all, F32, f32, AMAX_ALL | AMAX_T, GROUPED, 32, 0,    \
          0xD7E8)                                                              \
  VARIANT(bf16_transformed_unaligned, BF16, bf16_unaligned, AMAX_T, ALL, 32,   \
          0, 0xD7E8)                                                           \
  VARIANT(f16_transformed_unaligned, F16, f16_unaligned, AMAX_ALL | AMAX_T,    \
          GROUPED, 64, 0, 0x1234)                                              \
  VARIANT(bf16_transformed_ragged_unaligned, BF16, bf16_unaligned,             \
          AMAX_T | GQ_DEV_RAGGED, GROUPED, 64, 0, 0xD7E8)                      \
  VARIANT(bf16_transformed_gathered, BF16, bf16, AMAX_ALL | AMAX_T, ALL, 32,   \
          32, 0xD7E8)                                                          \
  VARIANT(f16_transformed_gathered_unaligned, F16, f16_unaligned, AMAX_C,      \
          GROUPED, 32, 64, 1)                                                  \
  VARIANT(f32_transformed_gathered, F32, f32, AMAX_ALL | AMAX_T, ALL, 64, 32,  \
          0xD7E8)                                                              \
  VARIANT(bf16_transformed_made, BF16, made16, AMAX_ALL | AMAX_T, ALL, 32, 0,  \
          0xD7E8)                                                              \
  VARIANT(bf16_made, BF16, made16, AMAX_G | AMAX_R, GROUPED, 32, 0, -1)        \
  VARIANT(f16_rows_unaligned, F16, f16_unaligned, AMAX_G | AMAX_R, ALL, 32, 0, \
          -1)                                                                  \
  VARIANT(bf16_rows_gathered, BF16, bf16, AMAX_R, GROUPED, 64, 32, -1)         \
  VARIANT(bf16, BF16, bf16, AMAX_ALL, GROUPED, 32, 0, -1)                      \
  VARIANT(bf16_rows, BF16, bf16, AMAX_R, ALL, 32, 0, -1)                       \
  VARIANT(bf16_groups, BF16, bf16, AMAX_G, ALL, 32, 0, -1)                     \
  VARIANT(bf16_columns, BF16, bf16, AMAX_G | AMAX_C, GROUPED, 64, 0, -1)       \
  VARIANT(f16, F16, f16, AMAX_ALL, ALL, 32, 0, -1)                             \
  VARIANT(f32, F32, f32, AMAX_ALL, ALL, 64, 0, -1)                             \
  VARIANT(f32_columns, F32, f32, AMAX_C, GROUPED, 32, 0, -1)                   \
  VARIANT(f16_unaligned, F16, f16_unaligned, AMAX_ALL, ALL, 32, 0, -1)         \
  VARIANT(bf16_gathered, BF16, bf16, AMAX_ALL, ALL, 32, 32, -1)                \
  VARIANT(f32_gathered, F32, f32_unaligned, AMAX_ALL, GROUPED, 64, 64, -1)     \
  VARIANT(bf16_ragged, BF16, bf16, AMAX_G | GQ_DEV_RAGGED, GROUPED, 32, 0, -1) \
  VARIANT(f32_ragged, F32, f32, AMAX_G | GQ_DEV_RAGGED, GROUPED, 64, 0, -1)

#endif // GQ_TEST_GPU_DEVICE_AMAXKERNELS_H
