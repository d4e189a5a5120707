//===- WgradKernels.h - test kernels of the gradient of weights --*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_WGRADKERNELS_H
#define GQ_TEST_GPU_DEVICE_WGRADKERNELS_H

#include "Operands.h"

/// The one parameter of a kernel; the families have the same operands.
typedef GroupedWgradTilesOperands WgradOperands;

/// Pairs of formats: gqFormat and gqElementType of a, then of b.
#define WGRAD_NVFP4 GQ_FORMAT_NVFP4, GQ_I8, GQ_FORMAT_NVFP4, GQ_I8
#define WGRAD_MXFP4 GQ_FORMAT_MXFP4, GQ_I8, GQ_FORMAT_MXFP4, GQ_I8
#define WGRAD_MXFP8                                                            \
  GQ_FORMAT_MXFP8_E4M3, GQ_F8E4M3FN, GQ_FORMAT_MXFP8_E4M3, GQ_F8E4M3FN
#define WGRAD_MIXED GQ_FORMAT_MXFP8_E5M2, GQ_F8E5M2, GQ_FORMAT_MXFP4, GQ_I8
#define WGRAD_FP8                                                              \
  GQ_FORMAT_FP8_E4M3_1X128, GQ_F8E4M3FN, GQ_FORMAT_FP8_E5M2_128X128, GQ_F8E5M2
#define WGRAD_PLAIN GQ_FORMAT_NONE, GQ_F8E4M3FN, GQ_FORMAT_NONE, GQ_F8E5M2

/// VARIANT(NAME, function, FAMILY, offsetBits, TYPE of out, n, k, FORMATS):
/// kernels whose n and k are constants, if they are not 0.
#define WGRAD_VARIANTS(VARIANT)                                                \
  VARIANT(tiles_nvfp4, tiles, TILES, 32, F32, 0, 0, NVFP4)                     \
  VARIANT(tiles_nvfp4_fixed, tiles, TILES, 64, BF16, 256, 512, NVFP4)          \
  VARIANT(tiles_mxfp4, tiles, TILES, 64, F32, 0, 0, MXFP4)                     \
  VARIANT(tiles_mxfp8, tiles, TILES, 32, BF16, 0, 0, MXFP8)                    \
  VARIANT(tiles_mixed, tiles, TILES, 32, F16, 0, 0, MIXED)                     \
  VARIANT(tiles_fp8, tiles, TILES, 64, F32, 0, 0, FP8)                         \
  VARIANT(tiles_plain, tiles, TILES, 32, F32, 0, 0, PLAIN)                     \
  VARIANT(any_nvfp4, any, ANY, 64, BF16, 0, 0, NVFP4)                          \
  VARIANT(any_mxfp4, any, ANY, 32, F16, 0, 0, MXFP4)                           \
  VARIANT(any_mxfp8, any, ANY, 64, F32, 0, 0, MXFP8)                           \
  VARIANT(any_mixed, any, ANY, 64, F32, 0, 0, MIXED)                           \
  VARIANT(any_fp8, any, ANY, 32, BF16, 0, 0, FP8)                              \
  VARIANT(any_plain, any, ANY, 64, F32, 0, 0, PLAIN)

#endif // GQ_TEST_GPU_DEVICE_WGRADKERNELS_H
