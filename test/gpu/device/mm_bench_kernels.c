//===- mm_bench_kernels.c - the grouped matmul of three models ------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels that mm_bench.py measures: <shape>_<format>_<kernel>, outputs in
// bf16. Plain FP8 has row and column scales.
//
//===----------------------------------------------------------------------===//

#include "MmKernels.h"

#define MM_PLAIN_BENCH                                                         \
  GQ_FORMAT_NONE, GQ_F8E4M3FN, GQ_FORMAT_NONE, GQ_F8E4M3FN, GQ_MAJOR_K

#define MM_MIXED_BENCH                                                         \
  GQ_FORMAT_MXFP8_E4M3, GQ_F8E4M3FN, GQ_FORMAT_MXFP4, GQ_I8, GQ_MAJOR_K

#define MM_KIND_PLAIN_BENCH fp8_
#define MM_KIND_MIXED_BENCH

#define OF_FORMAT(VARIANT, SHAPE, N, K, FORM, FORMATS, REST)                   \
  VARIANT(SHAPE##_##FORM##_tiles128, TILES, 128, 32, BF16, N, K, FORMATS,      \
          REST)                                                                \
  VARIANT(SHAPE##_##FORM##_tiles64, TILES, 64, 32, BF16, N, K, FORMATS, REST)  \
  VARIANT(SHAPE##_##FORM##_tiles32, TILES, 32, 32, BF16, N, K, FORMATS, REST)  \
  VARIANT(SHAPE##_##FORM##_decode16, DECODE, 16, 32, BF16, N, K, FORMATS,      \
          REST)                                                                \
  VARIANT(SHAPE##_##FORM##_decode8, DECODE, 8, 32, BF16, N, K, FORMATS, REST)
#define PREPARED(VARIANT, SHAPE, N, K, FORM, FORMATS)                          \
  VARIANT(SHAPE##_##FORM##_tiles256, TILES, 256, 32, BF16, N, K, FORMATS, 0)   \
  VARIANT(SHAPE##_##FORM##_prepare, PREPARE, 256, 32, BF16, N, K, FORMATS, 0)
#define OF_SHAPE(VARIANT, SHAPE, N, K)                                         \
  PREPARED(VARIANT, SHAPE, N, K, nvfp4, NVFP4)                                 \
  PREPARED(VARIANT, SHAPE, N, K, mxfp8, MXFP8)                                 \
  PREPARED(VARIANT, SHAPE, N, K, mxfp4, MXFP4)                                 \
  PREPARED(VARIANT, SHAPE, N, K, mixed, MIXED_BENCH)                           \
  OF_FORMAT(VARIANT, SHAPE, N, K, nvfp4, NVFP4, 0)                             \
  OF_FORMAT(VARIANT, SHAPE, N, K, mxfp8, MXFP8, 0)                             \
  OF_FORMAT(VARIANT, SHAPE, N, K, mxfp4, MXFP4, 0)                             \
  OF_FORMAT(VARIANT, SHAPE, N, K, mixed, MIXED_BENCH, 0)                       \
  OF_FORMAT(VARIANT, SHAPE, N, K, fp8, FP8, 0)                                 \
  OF_FORMAT(VARIANT, SHAPE, N, K, plain, PLAIN_BENCH, 2)

#undef MM_VARIANTS
#define MM_VARIANTS(VARIANT)                                                   \
  OF_SHAPE(VARIANT, llama, 8192, 5120)                                         \
  OF_SHAPE(VARIANT, deepseek, 2048, 7168)                                      \
  OF_SHAPE(VARIANT, qwen, 1536, 4096)

#undef MM_PREPARE_VARIANTS
#define MM_PREPARE_VARIANTS(VARIANT)

#include "mm_kernels.c"
