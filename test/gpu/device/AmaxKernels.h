//===- AmaxKernels.h - the test kernels of largest magnitudes ----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VARIANT(NAME, TYPE, what to load, parts, rows, offset bits, bits of row
// indices): kernels clear_NAME(ClearAmaxOperands) and
// amax_NAME(GroupedAmaxOperands).
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_AMAXKERNELS_H
#define GQ_TEST_GPU_DEVICE_AMAXKERNELS_H

#include "Operands.h"

#define AMAX_G GQ_DEV_AMAX_OF_GROUPS
#define AMAX_R GQ_DEV_AMAX_OF_ROWS
#define AMAX_C GQ_DEV_AMAX_OF_COLUMNS
#define AMAX_ALL (AMAX_G | AMAX_R | AMAX_C)

#define AMAX_VARIANTS(VARIANT)                                                 \
  VARIANT(bf16, BF16, bf16, AMAX_ALL, GROUPED, 32, 0)                          \
  VARIANT(bf16_rows, BF16, bf16, AMAX_R, ALL, 32, 0)                           \
  VARIANT(bf16_groups, BF16, bf16, AMAX_G, ALL, 32, 0)                         \
  VARIANT(bf16_columns, BF16, bf16, AMAX_G | AMAX_C, GROUPED, 64, 0)           \
  VARIANT(f16, F16, f16, AMAX_ALL, ALL, 32, 0)                                 \
  VARIANT(f32, F32, f32, AMAX_ALL, ALL, 64, 0)                                 \
  VARIANT(f32_columns, F32, f32, AMAX_C, GROUPED, 32, 0)                       \
  VARIANT(f16_unaligned, F16, f16_unaligned, AMAX_ALL, ALL, 32, 0)             \
  VARIANT(bf16_gathered, BF16, bf16, AMAX_ALL, ALL, 32, 32)                    \
  VARIANT(f32_gathered, F32, f32_unaligned, AMAX_ALL, GROUPED, 64, 64)         \
  VARIANT(bf16_ragged, BF16, bf16, AMAX_G | GQ_DEV_RAGGED, GROUPED, 32, 0)     \
  VARIANT(f32_ragged, F32, f32, AMAX_G | GQ_DEV_RAGGED, GROUPED, 64, 0)

#endif // GQ_TEST_GPU_DEVICE_AMAXKERNELS_H
