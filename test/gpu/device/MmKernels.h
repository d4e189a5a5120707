//===- MmKernels.h - the test kernels of the grouped matmul ------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_MMKERNELS_H
#define GQ_TEST_GPU_DEVICE_MMKERNELS_H

#include "Operands.h"

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/Float.h"

/// The one parameter of a kernel; the families have the same operands.
typedef GroupedMmTilesOperands MmOperands;

/// Pairs of formats: gqFormat and gqElementType of a, then of b, and the
/// latter's gqMajor.
#define MM_NVFP4 GQ_FORMAT_NVFP4, GQ_I8, GQ_FORMAT_NVFP4, GQ_I8, GQ_MAJOR_K
#define MM_MXFP4_OF(MAJOR) GQ_FORMAT_MXFP4, GQ_I8, GQ_FORMAT_MXFP4, GQ_I8, MAJOR
#define MM_MXFP8_OF(MAJOR)                                                     \
  GQ_FORMAT_MXFP8_E4M3, GQ_F8E4M3FN, GQ_FORMAT_MXFP8_E4M3, GQ_F8E4M3FN, MAJOR
#define MM_PLAIN_OF(MAJOR)                                                     \
  GQ_FORMAT_NONE, GQ_F8E4M3FN, GQ_FORMAT_NONE, GQ_F8E5M2, MAJOR
#define MM_MXFP4 MM_MXFP4_OF(GQ_MAJOR_K)
#define MM_MXFP4_N MM_MXFP4_OF(GQ_MAJOR_N)
#define MM_MXFP8 MM_MXFP8_OF(GQ_MAJOR_K)
#define MM_MXFP8_N MM_MXFP8_OF(GQ_MAJOR_N)
#define MM_PLAIN MM_PLAIN_OF(GQ_MAJOR_K)
#define MM_PLAIN_N MM_PLAIN_OF(GQ_MAJOR_N)
#define MM_MIXED                                                               \
  GQ_FORMAT_MXFP8_E5M2, GQ_F8E5M2, GQ_FORMAT_MXFP4, GQ_I8, GQ_MAJOR_K
#define MM_MIXED_4_BY_8                                                        \
  GQ_FORMAT_MXFP4, GQ_I8, GQ_FORMAT_MXFP8_E5M2, GQ_F8E5M2, GQ_MAJOR_K
#define MM_FP8                                                                 \
  GQ_FORMAT_FP8_E4M3_1X128, GQ_F8E4M3FN, GQ_FORMAT_FP8_E4M3_128X128,           \
      GQ_F8E4M3FN, GQ_MAJOR_K
#define MM_FP8_ROWS                                                            \
  GQ_FORMAT_FP8_E5M2_1X128, GQ_F8E5M2, GQ_FORMAT_FP8_E4M3_1X128, GQ_F8E4M3FN,  \
      GQ_MAJOR_K

/// The device function of a family for a pair of formats.
#define MM_FUNCTION_TILES(FORMATS, TOKENS)                                     \
  MM_TILES_OF(MM_KIND_##FORMATS, TOKENS)
#define MM_TILES_OF(KIND, TOKENS) MM_TILES(KIND, TOKENS)
#define MM_TILES(KIND, TOKENS) grouped_mm_tiles_##KIND##TOKENS
#define MM_FUNCTION_PREPARE(FORMATS, TOKENS) grouped_mm_prepare
#define MM_FUNCTION_DECODE(FORMATS, TOKENS) grouped_mm_decode
#define MM_FUNCTION_ANY(FORMATS, TOKENS) grouped_mm_any
#define MM_KIND_NVFP4
#define MM_KIND_MXFP4
#define MM_KIND_MXFP8
#define MM_KIND_MIXED
#define MM_KIND_MIXED_4_BY_8
#define MM_KIND_PLAIN fp8_
#define MM_KIND_FP8 fp8_
#define MM_KIND_FP8_ROWS fp8_

/// VARIANT(NAME, FAMILY, tokens, offsetBits, TYPE of out, n, k,
/// FORMATS, rest): kernels whose n and k are constants, if they are not 0.
/// `rest` says if there are row and column scales and a bias: 0, 1, 2 without
/// the bias, or 3, row scales alone.
#define MM_VARIANTS(VARIANT)                                                   \
  VARIANT(tiles128_bf16, TILES, 128, 32, BF16, 0, 0, NVFP4, 0)                 \
  VARIANT(tiles64_f16, TILES, 64, 64, F16, 0, 0, NVFP4, 0)                     \
  VARIANT(tiles32_bf16, TILES, 32, 32, BF16, 0, 0, NVFP4, 0)                   \
  VARIANT(tiles128_f32, TILES, 128, 64, F32, 0, 0, NVFP4, 0)                   \
  VARIANT(decode8_bf16, DECODE, 8, 32, BF16, 0, 0, NVFP4, 0)                   \
  VARIANT(decode16_f32, DECODE, 16, 64, F32, 0, 0, NVFP4, 0)                   \
  VARIANT(any_f32, ANY, 8, 32, F32, 0, 0, NVFP4, 0)                            \
  VARIANT(any_bf16, ANY, 8, 64, BF16, 0, 0, NVFP4, 0)                          \
  VARIANT(tiles128_rest, TILES, 128, 32, BF16, 512, 384, NVFP4, 1)             \
  VARIANT(tiles32_rest, TILES, 32, 64, F32, 512, 384, NVFP4, 1)                \
  VARIANT(tiles64_rest, TILES, 64, 32, BF16, 512, 384, NVFP4, 1)               \
  VARIANT(decode8_rest, DECODE, 8, 32, BF16, 0, 0, NVFP4, 1)                   \
  VARIANT(any_rest, ANY, 8, 32, F16, 0, 0, NVFP4, 1)                           \
  VARIANT(decode16_mxfp4, DECODE, 16, 32, BF16, 0, 0, MXFP4, 0)                \
  VARIANT(decode8_mxfp8, DECODE, 8, 32, F32, 0, 0, MXFP8, 0)                   \
  VARIANT(decode16_mxfp8, DECODE, 16, 32, BF16, 0, 0, MXFP8, 1)                \
  VARIANT(decode16_mixed, DECODE, 16, 32, BF16, 0, 0, MIXED, 0)                \
  VARIANT(decode16_fp8, DECODE, 16, 32, BF16, 0, 0, FP8, 0)                    \
  VARIANT(decode8_fp8_rows, DECODE, 8, 32, F32, 0, 0, FP8_ROWS, 0)             \
  VARIANT(decode16_plain, DECODE, 16, 32, F32, 0, 0, PLAIN, 1)                 \
  VARIANT(any_mxfp4, ANY, 8, 32, BF16, 0, 0, MXFP4, 0)                         \
  VARIANT(any_mxfp8, ANY, 8, 32, F32, 0, 0, MXFP8, 0)                          \
  VARIANT(any_mixed, ANY, 8, 64, BF16, 0, 0, MIXED, 0)                         \
  VARIANT(any_fp8, ANY, 8, 32, BF16, 0, 0, FP8, 1)                             \
  VARIANT(any_fp8_rows, ANY, 8, 64, F32, 0, 0, FP8_ROWS, 0)                    \
  VARIANT(any_plain, ANY, 8, 32, F32, 0, 0, PLAIN, 1)                          \
  VARIANT(any_mxfp8_n, ANY, 8, 32, F32, 0, 0, MXFP8_N, 0)                      \
  VARIANT(any_mxfp4_n, ANY, 8, 32, BF16, 0, 0, MXFP4_N, 0)                     \
  VARIANT(any_plain_n, ANY, 8, 32, BF16, 0, 0, PLAIN_N, 0)                     \
  VARIANT(tiles128_fp8, TILES, 128, 32, BF16, 0, 0, FP8, 0)                    \
  VARIANT(tiles64_fp8, TILES, 64, 64, F16, 0, 0, FP8, 0)                       \
  VARIANT(tiles32_fp8, TILES, 32, 32, F32, 0, 0, FP8, 0)                       \
  VARIANT(tiles128_fp8_rest, TILES, 128, 32, BF16, 0, 0, FP8, 1)               \
  VARIANT(tiles128_fp8_rows, TILES, 128, 64, F32, 0, 0, FP8_ROWS, 0)           \
  VARIANT(tiles64_fp8_rows, TILES, 64, 32, BF16, 0, 0, FP8_ROWS, 0)            \
  VARIANT(tiles128_plain, TILES, 128, 32, BF16, 0, 0, PLAIN, 1)                \
  VARIANT(tiles32_plain, TILES, 32, 64, BF16, 0, 0, PLAIN, 1)                  \
  VARIANT(tiles128_fixed_fp8, TILES, 128, 32, BF16, 512, 384, FP8, 0)          \
  VARIANT(tiles32_fixed_fp8, TILES, 32, 32, BF16, 512, 384, FP8, 0)            \
  VARIANT(tiles128_mxfp8, TILES, 128, 32, BF16, 0, 0, MXFP8, 0)                \
  VARIANT(tiles64_mxfp8, TILES, 64, 64, F16, 0, 0, MXFP8, 0)                   \
  VARIANT(tiles32_mxfp8, TILES, 32, 32, F32, 0, 0, MXFP8, 0)                   \
  VARIANT(tiles128_mxfp8_rest, TILES, 128, 32, BF16, 0, 0, MXFP8, 1)           \
  VARIANT(tiles128_mxfp4, TILES, 128, 64, F32, 0, 0, MXFP4, 0)                 \
  VARIANT(tiles64_mxfp4, TILES, 64, 32, BF16, 0, 0, MXFP4, 0)                  \
  VARIANT(tiles32_mxfp4, TILES, 32, 32, BF16, 0, 0, MXFP4, 0)                  \
  VARIANT(tiles128_mixed, TILES, 128, 32, BF16, 0, 0, MIXED, 0)                \
  VARIANT(tiles32_mixed, TILES, 32, 64, F32, 0, 0, MIXED, 0)                   \
  VARIANT(tiles128_4_by_8, TILES, 128, 32, F32, 0, 0, MIXED_4_BY_8, 0)         \
  VARIANT(tiles64_4_by_8, TILES, 64, 32, BF16, 0, 0, MIXED_4_BY_8, 0)          \
  VARIANT(tiles32_4_by_8, TILES, 32, 32, BF16, 0, 0, MIXED_4_BY_8, 0)          \
  VARIANT(tiles128_fixed_mxfp8, TILES, 128, 32, BF16, 512, 384, MXFP8, 0)      \
  VARIANT(tiles32_fixed_mxfp8, TILES, 32, 32, BF16, 512, 384, MXFP8, 0)        \
  VARIANT(tiles64_fixed_mxfp4, TILES, 64, 32, BF16, 512, 384, MXFP4, 0)        \
  VARIANT(tiles128_fixed, TILES, 128, 32, BF16, 512, 384, NVFP4, 0)            \
  VARIANT(tiles64_fixed, TILES, 64, 32, BF16, 512, 384, NVFP4, 0)              \
  VARIANT(tiles32_fixed, TILES, 32, 32, BF16, 512, 384, NVFP4, 0)              \
  VARIANT(tiles256_bf16, TILES, 256, 32, BF16, 0, 0, NVFP4, 0)                 \
  VARIANT(tiles256_f32, TILES, 256, 64, F32, 0, 0, NVFP4, 0)                   \
  VARIANT(tiles256_rest, TILES, 256, 32, BF16, 512, 384, NVFP4, 1)             \
  VARIANT(tiles256_fixed, TILES, 256, 32, BF16, 512, 384, NVFP4, 0)            \
  VARIANT(tiles256_mxfp8, TILES, 256, 32, BF16, 0, 0, MXFP8, 0)                \
  VARIANT(tiles256_fixed_mxfp8, TILES, 256, 32, F16, 512, 384, MXFP8, 0)       \
  VARIANT(tiles256_mxfp4, TILES, 256, 32, F32, 0, 0, MXFP4, 0)                 \
  VARIANT(tiles256_mixed, TILES, 256, 32, BF16, 0, 0, MIXED, 0)                \
  VARIANT(tiles256_4_by_8, TILES, 256, 32, BF16, 0, 0, MIXED_4_BY_8, 0)        \
  VARIANT(tiles128_rows, TILES, 128, 32, BF16, 0, 0, NVFP4, 3)                 \
  VARIANT(tiles64_rows, TILES, 64, 64, F16, 0, 0, NVFP4, 3)                    \
  VARIANT(tiles128_rows_f32, TILES, 128, 32, F32, 0, 0, NVFP4, 3)              \
  VARIANT(tiles128_rows_mxfp8, TILES, 128, 32, BF16, 0, 0, MXFP8, 3)           \
  VARIANT(tiles32_rows_mxfp8, TILES, 32, 32, BF16, 0, 0, MXFP8, 3)             \
  VARIANT(tiles256_rows_mxfp8, TILES, 256, 32, BF16, 0, 0, MXFP8, 3)           \
  VARIANT(decode8_fixed, DECODE, 8, 32, BF16, 512, 384, NVFP4, 0)              \
  VARIANT(decode16_fixed, DECODE, 16, 32, BF16, 512, 384, NVFP4, 0)

/// What dequantizes tokens for tiles256 of the same formats and offsets. It
/// reads no row and column scales, so that a kernel need not say there are
/// none.
#define MM_PREPARE_VARIANTS(VARIANT)                                           \
  VARIANT(prepare_nvfp4, PREPARE, 256, 32, BF16, 0, 0, NVFP4, 1)               \
  VARIANT(prepare_nvfp4_64, PREPARE, 256, 64, BF16, 0, 0, NVFP4, 1)            \
  VARIANT(prepare_mxfp8, PREPARE, 256, 32, BF16, 0, 0, MXFP8, 1)               \
  VARIANT(prepare_mxfp4, PREPARE, 256, 32, F32, 0, 0, MXFP4, 1)                \
  VARIANT(prepare_mixed, PREPARE, 256, 32, BF16, 0, 0, MIXED, 1)               \
  VARIANT(prepare_4_by_8, PREPARE, 256, 32, BF16, 0, 0, MIXED_4_BY_8, 1)

/// Those with an epilogue, mmEpilogue, which computes what the kernel without
/// stores: VARIANT(as above, TYPE of a product, PAIRS).
#define MM_EPILOGUE_VARIANTS(VARIANT)                                          \
  VARIANT(tiles128_rows_pairs, TILES, 128, 32, BF16, 0, 0, NVFP4, 3, BF16,     \
          INTERLEAVED)                                                         \
  VARIANT(tiles128_rows_f32_halves, TILES, 128, 32, BF16, 0, 0, NVFP4, 3, F32, \
          HALVES)                                                              \
  VARIANT(tiles128_bf16_one, TILES, 128, 32, F32, 0, 0, NVFP4, 0, BF16, NONE)  \
  VARIANT(tiles128_bf16_pairs, TILES, 128, 32, BF16, 0, 0, NVFP4, 0, BF16,     \
          INTERLEAVED)                                                         \
  VARIANT(tiles64_f16_one, TILES, 64, 64, BF16, 0, 0, NVFP4, 0, F16, NONE)     \
  VARIANT(tiles64_f16_pairs, TILES, 64, 64, F32, 0, 0, NVFP4, 0, F16,          \
          INTERLEAVED)                                                         \
  VARIANT(tiles32_bf16_pairs, TILES, 32, 32, F32, 0, 0, NVFP4, 0, BF16,        \
          INTERLEAVED)                                                         \
  VARIANT(tiles64_rest_pairs, TILES, 64, 32, BF16, 512, 384, NVFP4, 1, BF16,   \
          INTERLEAVED)                                                         \
  VARIANT(tiles128_fixed_pairs, TILES, 128, 32, BF16, 512, 384, NVFP4, 0,      \
          BF16, INTERLEAVED)                                                   \
  VARIANT(tiles32_fixed_pairs, TILES, 32, 32, F16, 512, 384, NVFP4, 0, BF16,   \
          INTERLEAVED)                                                         \
  VARIANT(tiles128_mxfp8_pairs, TILES, 128, 32, BF16, 0, 0, MXFP8, 0, BF16,    \
          INTERLEAVED)                                                         \
  VARIANT(tiles64_mxfp8_pairs, TILES, 64, 64, BF16, 0, 0, MXFP8, 0, F16,       \
          INTERLEAVED)                                                         \
  VARIANT(tiles32_mxfp4_one, TILES, 32, 32, BF16, 0, 0, MXFP4, 0, BF16, NONE)  \
  VARIANT(tiles256_bf16_one, TILES, 256, 32, F32, 0, 0, NVFP4, 0, BF16, NONE)  \
  VARIANT(tiles256_fixed_pairs, TILES, 256, 32, BF16, 512, 384, NVFP4, 0,      \
          BF16, INTERLEAVED)                                                   \
  VARIANT(tiles128_fp8_pairs, TILES, 128, 32, BF16, 0, 0, FP8, 0, BF16,        \
          INTERLEAVED)                                                         \
  VARIANT(tiles64_fp8_one, TILES, 64, 64, F32, 0, 0, FP8, 0, F16, NONE)        \
  VARIANT(tiles128_fp8_rest_pairs, TILES, 128, 32, F32, 0, 0, FP8, 1, BF16,    \
          INTERLEAVED)                                                         \
  VARIANT(decode8_bf16_one, DECODE, 8, 32, F32, 0, 0, NVFP4, 0, BF16, NONE)    \
  VARIANT(decode8_bf16_pairs, DECODE, 8, 32, BF16, 0, 0, NVFP4, 0, BF16,       \
          INTERLEAVED)                                                         \
  VARIANT(decode8_rest_pairs, DECODE, 8, 32, BF16, 0, 0, NVFP4, 1, BF16,       \
          INTERLEAVED)                                                         \
  VARIANT(decode16_fp8_pairs, DECODE, 16, 32, F32, 0, 0, FP8, 0, BF16,         \
          INTERLEAVED)                                                         \
  VARIANT(decode16_fixed_pairs, DECODE, 16, 32, F16, 512, 384, NVFP4, 0, BF16, \
          INTERLEAVED)                                                         \
  VARIANT(any_bf16_one, ANY, 8, 64, F16, 0, 0, NVFP4, 0, BF16, NONE)           \
  VARIANT(any_bf16_pairs, ANY, 8, 64, F32, 0, 0, NVFP4, 0, BF16, INTERLEAVED)  \
  VARIANT(any_rest_pairs, ANY, 8, 32, BF16, 0, 0, NVFP4, 1, F16, INTERLEAVED)  \
  VARIANT(any_mxfp4_n_pairs, ANY, 8, 32, BF16, 0, 0, MXFP4_N, 0, BF16,         \
          INTERLEAVED)                                                         \
  VARIANT(tiles128_f32_one, TILES, 128, 64, BF16, 0, 0, NVFP4, 0, F32, NONE)   \
  VARIANT(tiles128_f32_pairs, TILES, 128, 64, F32, 0, 0, NVFP4, 0, F32,        \
          INTERLEAVED)                                                         \
  VARIANT(tiles32_f32_rest, TILES, 32, 64, F16, 512, 384, NVFP4, 1, F32,       \
          INTERLEAVED)                                                         \
  VARIANT(tiles32_mxfp8_f32, TILES, 32, 32, BF16, 0, 0, MXFP8, 0, F32,         \
          INTERLEAVED)                                                         \
  VARIANT(tiles32_fp8_f32, TILES, 32, 32, F32, 0, 0, FP8, 0, F32, NONE)        \
  VARIANT(decode16_f32_pairs, DECODE, 16, 64, BF16, 0, 0, NVFP4, 0, F32,       \
          INTERLEAVED)                                                         \
  VARIANT(any_f32_pairs, ANY, 8, 32, BF16, 0, 0, NVFP4, 0, F32, INTERLEAVED)   \
  VARIANT(tiles128_bf16_halves, TILES, 128, 32, BF16, 0, 0, NVFP4, 0, BF16,    \
          HALVES)                                                              \
  VARIANT(tiles128_fixed_halves, TILES, 128, 32, BF16, 512, 384, NVFP4, 0,     \
          BF16, HALVES)                                                        \
  VARIANT(tiles64_rest_halves, TILES, 64, 32, BF16, 512, 384, NVFP4, 1, BF16,  \
          HALVES)                                                              \
  VARIANT(tiles256_bf16_halves, TILES, 256, 32, BF16, 0, 0, NVFP4, 0, BF16,    \
          HALVES)                                                              \
  VARIANT(tiles128_f32_halves, TILES, 128, 64, F32, 0, 0, NVFP4, 0, F32,       \
          HALVES)                                                              \
  VARIANT(tiles128_mxfp8_halves, TILES, 128, 32, BF16, 0, 0, MXFP8, 0, BF16,   \
          HALVES)                                                              \
  VARIANT(tiles128_fp8_halves, TILES, 128, 32, BF16, 0, 0, FP8, 0, BF16,       \
          HALVES)                                                              \
  VARIANT(tiles64_fp8_rows_halves, TILES, 64, 32, BF16, 0, 0, FP8_ROWS, 0,     \
          BF16, HALVES)                                                        \
  VARIANT(decode8_bf16_halves, DECODE, 8, 32, BF16, 0, 0, NVFP4, 0, BF16,      \
          HALVES)                                                              \
  VARIANT(decode8_rest_halves, DECODE, 8, 32, BF16, 0, 0, NVFP4, 1, BF16,      \
          HALVES)                                                              \
  VARIANT(decode16_mxfp4_halves, DECODE, 16, 32, BF16, 0, 0, MXFP4, 0, BF16,   \
          HALVES)                                                              \
  VARIANT(decode16_fp8_halves, DECODE, 16, 32, BF16, 0, 0, FP8, 0, BF16,       \
          HALVES)                                                              \
  VARIANT(any_bf16_halves, ANY, 8, 64, BF16, 0, 0, NVFP4, 0, BF16, HALVES)     \
  VARIANT(any_mxfp4_n_halves, ANY, 8, 32, BF16, 0, 0, MXFP4_N, 0, BF16, HALVES)

/// Those whose outputs are quantized: VARIANT(as above, whether there is an
/// epilogue, which is mmEpilogue, the format, the recipe, the OUTER kind).
#define MM_QUANTIZED_VARIANTS(VARIANT)                                         \
  VARIANT(tiles128_to_nvfp4, TILES, 128, 32, BF16, 0, 0, NVFP4, 0, BF16, NONE, \
          0, NVFP4, NVFUSER, NONE)                                             \
  VARIANT(tiles128_fixed_pairs_to_nvfp4, TILES, 128, 32, BF16, 512, 384,       \
          NVFP4, 0, BF16, INTERLEAVED, 1, NVFP4, NVFUSER, PER_GROUP)           \
  VARIANT(tiles128_halves_to_mxfp8, TILES, 128, 32, BF16, 0, 0, NVFP4, 0,      \
          BF16, HALVES, 1, MXFP8_E4M3, NVFUSER, NONE)                          \
  VARIANT(tiles128_f32_to_mxfp8, TILES, 128, 64, F32, 0, 0, NVFP4, 0, F32,     \
          NONE, 0, MXFP8_E5M2, NVFUSER, NONE)                                  \
  VARIANT(tiles64_rest_to_nvfp4, TILES, 64, 32, F16, 512, 384, NVFP4, 1, BF16, \
          NONE, 1, NVFP4, TE, ONE)                                             \
  VARIANT(tiles64_pairs_to_mxfp4, TILES, 64, 64, F32, 0, 0, NVFP4, 0, F16,     \
          INTERLEAVED, 1, MXFP4, NVFUSER, NONE)                                \
  VARIANT(tiles32_f32_pairs_to_nvfp4, TILES, 32, 32, F32, 0, 0, MXFP8, 0, F32, \
          INTERLEAVED, 1, NVFP4, TE, PER_GROUP)                                \
  VARIANT(tiles32_mxfp4_to_mxfp8, TILES, 32, 32, BF16, 0, 0, MXFP4, 0, BF16,   \
          NONE, 0, MXFP8_E4M3, NVFUSER, NONE)                                  \
  VARIANT(tiles128_rows_to_nvfp4, TILES, 128, 32, BF16, 0, 0, NVFP4, 3, BF16,  \
          NONE, 0, NVFP4, NVFUSER, NONE)                                       \
  VARIANT(decode8_to_nvfp4, DECODE, 8, 32, BF16, 0, 0, NVFP4, 0, BF16, NONE,   \
          0, NVFP4, NVFUSER, ONE)                                              \
  VARIANT(decode8_pairs_to_nvfp4, DECODE, 8, 32, BF16, 0, 0, NVFP4, 0, BF16,   \
          INTERLEAVED, 1, NVFP4, NVFUSER, NONE)                                \
  VARIANT(decode8_rest_to_mxfp8, DECODE, 8, 32, BF16, 0, 0, NVFP4, 1, BF16,    \
          NONE, 1, MXFP8_E4M3, NVFUSER, NONE)                                  \
  VARIANT(decode16_halves_to_mxfp8, DECODE, 16, 64, F32, 0, 0, NVFP4, 0, F32,  \
          HALVES, 1, MXFP8_E4M3, NVFUSER, NONE)                                \
  VARIANT(decode16_mxfp4_to_mxfp4, DECODE, 16, 32, BF16, 0, 0, MXFP4, 0, BF16, \
          NONE, 0, MXFP4, NVFUSER, NONE)                                       \
  VARIANT(any_to_nvfp4, ANY, 8, 64, BF16, 0, 0, NVFP4, 0, BF16, NONE, 0,       \
          NVFP4, NVFUSER, NONE)                                                \
  VARIANT(any_pairs_to_mxfp8, ANY, 8, 32, BF16, 0, 0, NVFP4, 0, F32,           \
          INTERLEAVED, 1, MXFP8_E4M3, NVFUSER, NONE)                           \
  VARIANT(any_mxfp4_n_to_nvfp4, ANY, 8, 32, BF16, 0, 0, MXFP4_N, 0, BF16,      \
          HALVES, 1, NVFP4, TE, PER_GROUP)

/// 1 - x, or of pairs x - y / 2, of bits of type `from`.
static inline uint32_t mmEpilogue(gqElementType from, gqElementType to,
                                  gqPairs pairs, uint32_t first,
                                  uint32_t second) {
  const uint32_t bits[2] = {first, second};
  float x[2];
  for (int i = 0; i < 2; ++i)
    x[i] = from == GQ_F32    ? gq_dev_f32_from_bits(bits[i])
           : from == GQ_BF16 ? gq_dev_f32_from_bf16((uint16_t)bits[i])
                             : gq_dev_f32_from_f16((uint16_t)bits[i]);
  float y = pairs == GQ_PAIRS_NONE ? 1 - x[0] : x[0] - x[1] * 0.5f;
  return to == GQ_F32    ? gq_dev_f32_bits(y)
         : to == GQ_BF16 ? gq_dev_bf16_from_f32(y)
                         : gq_dev_f16_from_f32(y);
}

#endif // GQ_TEST_GPU_DEVICE_MMKERNELS_H
