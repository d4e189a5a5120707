//===- Variants.h - the row kernels that are tested --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// QUANTIZE(name, what to load, format, recipe, layout, packed, rows, offset
//          bits, kind of outer scale, bits of row indices)
// DRAWN(the same) is rounded stochastically.
// NUMBERS(name, what to load, format, recipe, rows, offset bits, kind of outer
//         scale, bits of row indices, data)
// SWIZZLE(name, format, offset bits)
// OFFSETS(name, bits of counts, offset bits)
//
// A new format in gq/Runtime/Formats.def has the kernels of OF_FORMAT.
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Formats.def"

/// Without outer scale and row indices.
#define PLAIN(NAME, LOAD, FORMAT, LAYOUT, ROWS, BITS)                          \
  QUANTIZE(NAME, LOAD, FORMAT, NVFUSER, LAYOUT, 0, ROWS, BITS, NONE, 0)

#define PACKED(NAME, LOAD, FORMAT, ROWS, BITS)                                 \
  QUANTIZE(NAME, LOAD, FORMAT, NVFUSER, TILE128X4, 1, ROWS, BITS, NONE, 0)

#define OUTER(NAME, LOAD, RECIPE, KIND)                                        \
  QUANTIZE(NAME, LOAD, NVFP4, RECIPE, TILE128X4, 0, ALL, 32, KIND, 0)

#define OUTER_DRAWN(NAME, LOAD, RECIPE, KIND)                                  \
  DRAWN(NAME, LOAD, NVFP4, RECIPE, TILE128X4, 0, ALL, 32, KIND, 0)

#define GATHERED(NAME, LOAD, FORMAT, INDEX_BITS)                               \
  QUANTIZE(NAME, LOAD, FORMAT, NVFUSER, TILE128X4, 0, ALL, 32, NONE, INDEX_BITS)

/// gq.block_quantize
#define UNGROUPED(NAME, LOAD, FORMAT)                                          \
  QUANTIZE(NAME, LOAD, FORMAT, NVFUSER, LINEAR, 0, ALL, 0, NONE, 0)

/// Calls ROWS for a format whose blocks are parts of rows.
#define IF_ROWS_1(ROWS) ROWS
#define IF_ROWS_128(ROWS)

/// Calls TILED or LINEAR, whichever layout is that of its scales.
#define IF_TILED_NVFP4(TILED, LINEAR) TILED
#define IF_TILED_MX(TILED, LINEAR) TILED
#define IF_TILED_FP8(TILED, LINEAR) LINEAR

/// What is tested of every format.
#define OF_FORMAT(TYPE, VALUE, FORMAT, NAME, CODE, RULE, BLOCK_ROWS, ...)      \
  IF_ROWS_##BLOCK_ROWS(IF_TILED_##RULE(                                        \
      PLAIN(NAME##_##TYPE, TYPE, FORMAT, TILE128X4, ALL, 32),                  \
      PLAIN(NAME##_##TYPE##_linear, TYPE, FORMAT, LINEAR, ALL, 32)))
#define OF_FORMAT_bf16(...) OF_FORMAT(bf16, __VA_ARGS__)
#define OF_FORMAT_f16(...) OF_FORMAT(f16, __VA_ARGS__)
#define OF_FORMAT_f32(...) OF_FORMAT(f32, __VA_ARGS__)

#define BLOCK_OF_FORMAT(VALUE, FORMAT, NAME, CODE, RULE, BLOCK_ROWS, ...)      \
  IF_ROWS_##BLOCK_ROWS(IF_TILED_##RULE(UNGROUPED(block_##NAME, bf16, FORMAT), ))

/// The numbers that codes stand for.
#define NUMBERS_OF_FORMAT(VALUE, FORMAT, NAME, CODE, RULE, BLOCK_ROWS, ...)    \
  IF_ROWS_##BLOCK_ROWS(NUMBERS(NAME##_bf16_to_bf16, bf16, FORMAT, NVFUSER,     \
                               ALL, 32, NONE, 0, BF16)                         \
                           NUMBERS(NAME##_f32_to_f32_i64, f32, FORMAT,         \
                                   NVFUSER, GROUPED, 64, NONE, 0, F32))

#define NUMBERS_OF_OUTER(RECIPE, NAME)                                         \
  NUMBERS(NAME##_bf16_to_f16_one, bf16, NVFP4, RECIPE, ALL, 32, ONE, 0, F16)   \
  NUMBERS(NAME##_f16_to_f32_each, f16, NVFP4, RECIPE, ALL, 32, PER_GROUP, 0,   \
          F32)                                                                 \
  NUMBERS(NAME##_bf16_to_bf16_each, bf16, NVFP4, RECIPE, ALL, 32, PER_GROUP,   \
          0, BF16)

/// All that a test asks of an element type.
#define OF_TYPE(TYPE)                                                          \
  GQ_FORMATS(OF_FORMAT_##TYPE)                                                 \
  OUTER(nvfp4_##TYPE##_one, TYPE, NVFUSER, ONE)                                \
  OUTER(nvfp4_##TYPE##_each, TYPE, NVFUSER, PER_GROUP)                         \
  PLAIN(nvfp4_##TYPE##_i64, TYPE, NVFP4, TILE128X4, GROUPED, 64)               \
  GATHERED(nvfp4_##TYPE##_gathered, TYPE, NVFP4, 32)                           \
  GATHERED(nvfp4_##TYPE##_gathered_i64, TYPE, NVFP4, 64)                       \
  OUTER(te_##TYPE##_one, TYPE, TE, ONE)                                        \
  OUTER(te_##TYPE##_each, TYPE, TE, PER_GROUP)                                 \
  GATHERED(mxfp8_e4m3_##TYPE##_gathered, TYPE, MXFP8_E4M3, 32)

OF_TYPE(bf16)
OF_TYPE(f16)
OF_TYPE(f32)

QUANTIZE(te_bf16_each_i64, bf16, NVFP4, TE, TILE128X4, 0, GROUPED, 64,
         PER_GROUP, 0)
OUTER(te_bf16_rows, bf16, TE, PER_ROW)
OUTER(te_f32_rows, f32, TE, PER_ROW)
OUTER_DRAWN(te_bf16_rows_drawn, bf16, TE, PER_ROW)
OUTER_DRAWN(te_f16_each_drawn, f16, TE, PER_GROUP)
OUTER_DRAWN(nvfp4_bf16_drawn, bf16, NVFUSER, NONE)
OUTER_DRAWN(nvfp4_f32_drawn, f32, NVFUSER, NONE)
PLAIN(nvfp4_bf16_ahead, bf16_ahead, NVFP4, TILE128X4, ALL, 32)
PLAIN(mxfp8_e4m3_bf16_ahead, bf16_ahead, MXFP8_E4M3, TILE128X4, ALL, 32)
PLAIN(nvfp4_bf16_stays, bf16_stays, NVFP4, TILE128X4, ALL, 32)
PLAIN(mxfp8_e4m3_bf16_stays, bf16_stays, MXFP8_E4M3, TILE128X4, ALL, 32)
PACKED(nvfp4_bf16_packed, bf16, NVFP4, ALL, 32)
PACKED(nvfp4_f32_packed_i64, f32, NVFP4, GROUPED, 64)
PACKED(mxfp8_e4m3_f16_packed, f16, MXFP8_E4M3, ALL, 32)
PLAIN(nvfp4_bf16_linear, bf16, NVFP4, LINEAR, ALL, 32)
PLAIN(mxfp4_f32_i64, f32, MXFP4, TILE128X4, GROUPED, 64)
PLAIN(mxfp4_f16_linear, f16, MXFP4, LINEAR, ALL, 32)
PLAIN(mxfp8_e4m3_bf16_i64, bf16, MXFP8_E4M3, TILE128X4, GROUPED, 64)
PLAIN(mxfp8_e5m2_bf16_i64, bf16, MXFP8_E5M2, TILE128X4, GROUPED, 64)
PLAIN(mxfp8_e4m3_f32_linear, f32, MXFP8_E4M3, LINEAR, ALL, 32)
PLAIN(mxfp8_e5m2_bf16_linear, bf16, MXFP8_E5M2, LINEAR, ALL, 32)
PLAIN(fp8_e5m2_1x128_f32_linear_i64, f32, FP8_E5M2_1X128, LINEAR, GROUPED, 64)

GQ_FORMATS(BLOCK_OF_FORMAT)

GQ_FORMATS(NUMBERS_OF_FORMAT)
NUMBERS_OF_OUTER(NVFUSER, nvfp4)
NUMBERS_OF_OUTER(TE, te)
NUMBERS(nvfp4_bf16_to_bf16_gathered, bf16, NVFP4, NVFUSER, ALL, 32, NONE, 32,
        BF16)
NUMBERS(nvfp4_f32_to_f16, f32, NVFP4, NVFUSER, ALL, 32, NONE, 0, F16)
NUMBERS(mxfp8_e4m3_bf16_to_f32, bf16, MXFP8_E4M3, NVFUSER, ALL, 32, NONE, 0,
        F32)

SWIZZLE(preprocess, NVFP4, 32)

OFFSETS(offsets_i32, 32, 32)
OFFSETS(offsets_i64, 64, 64)
OFFSETS(offsets_i32_of_i64, 64, 32)
OFFSETS(offsets_i64_of_i32, 32, 64)

#undef PLAIN
#undef PACKED
#undef OUTER
#undef OUTER_DRAWN
#undef GATHERED
#undef UNGROUPED
#undef IF_ROWS_1
#undef IF_ROWS_128
#undef IF_TILED_NVFP4
#undef IF_TILED_MX
#undef IF_TILED_FP8
#undef OF_FORMAT
#undef OF_FORMAT_bf16
#undef OF_FORMAT_f16
#undef OF_FORMAT_f32
#undef BLOCK_OF_FORMAT
#undef NUMBERS_OF_FORMAT
#undef NUMBERS_OF_OUTER
#undef OF_TYPE
