//===- MmKernels.h - the test kernels of the grouped matmul ------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_MMKERNELS_H
#define GQ_TEST_GPU_DEVICE_MMKERNELS_H

#include "Operands.h"

/// The one parameter of a kernel; the families have the same operands.
typedef GroupedMmTilesOperands MmOperands;

/// VARIANT(NAME, function, FAMILY, tokens, offsetBits, TYPE of out, n, k):
/// kernels whose n and k are constants, if they are not 0.
#define MM_VARIANTS(VARIANT)                                                   \
  VARIANT(tiles128_bf16, tiles, TILES, 128, 32, BF16, 0, 0)                    \
  VARIANT(tiles64_f16, tiles, TILES, 64, 64, F16, 0, 0)                        \
  VARIANT(tiles32_bf16, tiles, TILES, 32, 32, BF16, 0, 0)                      \
  VARIANT(tiles128_f32, tiles, TILES, 128, 64, F32, 0, 0)                      \
  VARIANT(decode_bf16, decode, DECODE, 8, 32, BF16, 0, 0)                      \
  VARIANT(decode_f32, decode, DECODE, 8, 64, F32, 0, 0)                        \
  VARIANT(any_f32, any, ANY, 8, 32, F32, 0, 0)                                 \
  VARIANT(any_bf16, any, ANY, 8, 64, BF16, 0, 0)                               \
  VARIANT(tiles128_fixed, tiles, TILES, 128, 32, BF16, 512, 384)               \
  VARIANT(tiles64_fixed, tiles, TILES, 64, 32, BF16, 512, 384)                 \
  VARIANT(tiles32_fixed, tiles, TILES, 32, 32, BF16, 512, 384)                 \
  VARIANT(decode_fixed, decode, DECODE, 8, 32, BF16, 512, 384)

#endif // GQ_TEST_GPU_DEVICE_MMKERNELS_H
