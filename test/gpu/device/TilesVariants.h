//===- TilesVariants.h - the kernels of tiles that are tested ----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VARIANT(name, element type, what to load, parts, format, recipe, layout,
// rows, offset bits, kind of outer scale, columnwise too, type of dbias)
//
// Parts: R and C are the directions, A amax, B dbias, O scale offsets out, S
// given scale offsets, G ragged, I row indices, M what a producer makes, W
// small groups.
//
// A new format in gq/Runtime/Formats.def has the kernel BOTH.
//
// UNUSUAL has nvfp4, no dbias type, and what gqDirectionPack makes of the
// directions at its end; what includes this defines VARIANT_OF, which has these
// as well.
//
// TILES_PART is 1 to 6 for some of them, which compile in a part of the time;
// all of them if it is not defined.
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Formats.def"

#define VARIANT(...) VARIANT_OF(__VA_ARGS__, 0, 0)
#define UNUSUAL(NAME, TYPE, LOAD, PARTS, RECIPE, LAYOUT, ROWS, BITS, KIND,     \
                COLUMNWISE_KIND, ROWWISE, COLUMNWISE)                          \
  VARIANT_OF(                                                                  \
      NAME, TYPE, LOAD,                                                        \
      (PARTS) | (((ROWWISE) | (COLUMNWISE)) == SQUARES ? 0 : GQ_DEV_UNUSUAL) | \
          FITS(TYPE, PARTS, (ROWWISE) | (COLUMNWISE), COLUMNWISE),             \
      NVFP4, RECIPE, LAYOUT, ROWS, BITS, KIND, COLUMNWISE_KIND, F32, ROWWISE,  \
      COLUMNWISE)
// What the lowering adds to the parts of such, whose load is no producer's.
#define FITS(TYPE, PARTS, EITHER, COLUMNWISE)                                  \
  ((PARTS) & C && !((PARTS) & (A | B | I | M)) && GQ_##TYPE != GQ_F32 &&       \
           !((EITHER) & (MAE | MSE | SQUARES)) &&                              \
           ((PARTS) & R                                                        \
                ? (COLUMNWISE) & OF_COLUMN || ((COLUMNWISE) & STOCHASTIC &&    \
                                               (COLUMNWISE) & TRANSFORMED)     \
                : (COLUMNWISE) & TRANSFORMED && !((COLUMNWISE) & OF_COLUMN))   \
       ? GQ_DEV_FITS_FOUR                                                      \
       : 0)
#define STOCHASTIC 1
#define TRANSFORMED (1 << 2)
#define HADAMARD (int32_t)(0xd7e80000 | TRANSFORMED)
#define SQUARES (1 << 7)
#define OF_ROW (1 << 8)
#define OF_COLUMN (2 << 8)
#define MAE (1 << 4)
#define MSE (2 << 4)
#define MAX256 (1 << 6)

#define R GQ_DEV_ROWWISE
#define C GQ_DEV_COLUMNWISE
#define A GQ_DEV_AMAX
#define B GQ_DEV_DBIAS
#define O GQ_DEV_SCALE_OFFSETS_OUT
#define S GQ_DEV_SCALE_OFFSETS
#define G GQ_DEV_RAGGED
#define I TILES_ROW_INDICES
#define L GQ_DEV_AHEAD
#define M GQ_DEV_MADE
#define V GQ_DEV_SCALE_INVERSES
#define W TILES_SMALL_GROUPS

/// The layout of a scale rule's scales.
#define LAYOUT_NVFP4 TILE128X4
#define LAYOUT_MX TILE128X4
#define LAYOUT_FP8 LINEAR
#define BOTH(VALUE, FORMAT, NAME, CODE, RULE, ...)                             \
  BOTH_IN(NAME##_both, FORMAT, LAYOUT_##RULE)
#define BOTH_IN(NAME, FORMAT, LAYOUT)                                          \
  VARIANT(NAME, BF16, bf16, R | C, FORMAT, NVFUSER, LAYOUT, GROUPED, 32, NONE, \
          NONE, F32)

#if !defined TILES_PART || TILES_PART == 1
// What is measured.
GQ_FORMATS(BOTH)
VARIANT(te_both, BF16, bf16, R | C, NVFP4, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, F32)
VARIANT(nvfp4_row, BF16, bf16, R, NVFP4, NVFUSER, TILE128X4, GROUPED, 32, NONE,
        NONE, F32)
VARIANT(nvfp4_column, BF16, bf16, C, NVFP4, NVFUSER, TILE128X4, GROUPED, 32,
        NONE, NONE, F32)
VARIANT(nvfp4_both_dbias, BF16, bf16, R | C | B, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(nvfp4_both_amax, BF16, bf16, R | C | A, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(mxfp8_row, BF16, bf16, R, MXFP8_E4M3, NVFUSER, TILE128X4, GROUPED, 32,
        NONE, NONE, F32)
VARIANT(mxfp8_column, BF16, bf16, C, MXFP8_E4M3, NVFUSER, TILE128X4, GROUPED,
        32, NONE, NONE, F32)
VARIANT(mxfp8_both_dbias, BF16, bf16, R | C | B, MXFP8_E4M3, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(nvfp4_both_f32, F32, f32, R | C, NVFP4, NVFUSER, TILE128X4, GROUPED, 32,
        NONE, NONE, F32)
#endif

#if !defined TILES_PART || TILES_PART == 2
// What covers the code: nvfp4, and then the others.
VARIANT(nvfp4_all, BF16, bf16, R | C | A | B | O, NVFP4, NVFUSER, TILE128X4,
        ALL, 64, PER_GROUP, PER_GROUP, BF16)
VARIANT(nvfp4_all_f32, F32, f32, R | C | A | B | S, NVFP4, NVFUSER, TILE128X4,
        ALL, 32, ONE, ONE, F16)
VARIANT(nvfp4_linear_f16, F16, f16, R | C | A, NVFP4, NVFUSER, LINEAR, ALL, 32,
        NONE, NONE, F32)
VARIANT(te_all_f16, F16, f16, R | C | A | B | O, NVFP4, TE, TILE128X4, ALL, 32,
        ONE, PER_GROUP, F32)
VARIANT(te_golden, BF16, bf16, R | C, NVFP4, TE, TILE128X4, GROUPED, 64,
        PER_GROUP, PER_GROUP, F32)
VARIANT(te_column_f32, F32, f32, C | A | O, NVFP4, TE, LINEAR, GROUPED, 64,
        PER_GROUP, PER_GROUP, F32)
VARIANT(nvfp4_row_dbias, BF16, bf16, R | B, NVFP4, NVFUSER, TILE128X4, ALL, 32,
        NONE, NONE, F32)
VARIANT(nvfp4_row_all_f32, F32, f32, R | A | B | O, NVFP4, NVFUSER, TILE128X4,
        ALL, 64, PER_GROUP, NONE, BF16)
VARIANT(nvfp4_column_dbias, BF16, bf16, C | B, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(te_row_amax_f16, F16, f16, R | A, NVFP4, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, NONE, F32)
VARIANT(mxfp4_row_dbias, BF16, bf16, R | B, MXFP4, NVFUSER, TILE128X4, GROUPED,
        32, NONE, NONE, F32)
VARIANT(nvfp4_row_gathered, F16, f16, R | B | I, NVFP4, NVFUSER, TILE128X4, ALL,
        32, NONE, NONE, F32)
VARIANT(te_row_ragged, BF16, bf16, R | A | G, NVFP4, TE, LINEAR, GROUPED, 64,
        PER_GROUP, NONE, F32)
VARIANT(nvfp4_ragged, BF16, bf16, R | C | A | G, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(te_ragged_linear, F32, f32, R | C | A | G, NVFP4, TE, LINEAR, GROUPED,
        64, PER_GROUP, PER_GROUP, F32)
VARIANT(nvfp4_gathered, BF16, bf16, R | C | A | B | I, NVFP4, NVFUSER,
        TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(mxfp8_gathered_unaligned, F16, f16_unaligned, R | C | I, MXFP8_E4M3,
        NVFUSER, TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(nvfp4_unaligned, BF16, bf16_unaligned, R | C, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
#endif

#if !defined TILES_PART || TILES_PART == 3
VARIANT(mxfp8_golden, BF16, bf16, R | S, MXFP8_E4M3, NVFUSER, TILE128X4, ALL,
        64, NONE, NONE, F32)
VARIANT(mxfp8_e5m2_golden, BF16, bf16, R | S, MXFP8_E5M2, NVFUSER, TILE128X4,
        ALL, 64, NONE, NONE, F32)
VARIANT(mxfp8_all_f16, F16, f16, R | C | A | B | O, MXFP8_E4M3, NVFUSER,
        TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(mxfp8_e5m2_f32, F32, f32, R | C | A | B, MXFP8_E5M2, NVFUSER, TILE128X4,
        ALL, 32, NONE, NONE, F32)
VARIANT(mxfp8_e5m2_linear, BF16, bf16, R | C, MXFP8_E5M2, NVFUSER, LINEAR,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(mxfp8_ragged, BF16, bf16, R | C | G, MXFP8_E4M3, NVFUSER, TILE128X4,
        GROUPED, 64, NONE, NONE, F32)
VARIANT(mxfp8_unaligned, F16, f16_unaligned, R | C, MXFP8_E4M3, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(mxfp4_all, BF16, bf16, R | C | A | B, MXFP4, NVFUSER, TILE128X4, ALL,
        32, NONE, NONE, F32)
VARIANT(mxfp4_f32, F32, f32, R | C, MXFP4, NVFUSER, TILE128X4, GROUPED, 32,
        NONE, NONE, F32)
VARIANT(mxfp4_ragged_linear, F16, f16, R | C | G, MXFP4, NVFUSER, LINEAR,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(fp8_1x128_all_f16, F16, f16, R | C | A | B, FP8_E5M2_1X128, NVFUSER,
        LINEAR, ALL, 64, NONE, NONE, F16)
VARIANT(fp8_1x128_f32, F32, f32, R | C | A | B, FP8_E4M3_1X128, NVFUSER, LINEAR,
        ALL, 32, NONE, NONE, F32)
VARIANT(fp8_1x128_row_dbias, BF16, bf16, R | A | B, FP8_E4M3_1X128, NVFUSER,
        LINEAR, ALL, 32, NONE, NONE, BF16)
VARIANT(fp8_1x128_column, BF16, bf16, C | A, FP8_E4M3_1X128, NVFUSER, LINEAR,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(fp8_1x128_ragged, BF16, bf16, R | C | A | G, FP8_E4M3_1X128, NVFUSER,
        LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(fp8_1x128_ragged_column_f32, F32, f32, C | G, FP8_E5M2_1X128, NVFUSER,
        LINEAR, GROUPED, 64, NONE, NONE, F32)
VARIANT(fp8_1x128_gathered, BF16, bf16, R | C | I, FP8_E4M3_1X128, NVFUSER,
        LINEAR, ALL, 32, NONE, NONE, F32)
VARIANT(fp8_1x128_unaligned, F16, f16_unaligned, R | C | B, FP8_E4M3_1X128,
        NVFUSER, LINEAR, ALL, 32, NONE, NONE, F32)
VARIANT(fp8_128x128_all, BF16, bf16, R | C | A | B, FP8_E4M3_128X128, NVFUSER,
        LINEAR, ALL, 32, NONE, NONE, F32)
VARIANT(fp8_128x128_f32, F32, f32, R | C | A | B, FP8_E5M2_128X128, NVFUSER,
        LINEAR, ALL, 32, NONE, NONE, F32)
VARIANT(fp8_128x128_row_f16, F16, f16, R, FP8_E4M3_128X128, NVFUSER, LINEAR,
        ALL, 64, NONE, NONE, F32)
VARIANT(fp8_128x128_column, BF16, bf16, C, FP8_E5M2_128X128, NVFUSER, LINEAR,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(fp8_128x128_ragged, BF16, bf16, R | C | A | G, FP8_E4M3_128X128,
        NVFUSER, LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(fp8_128x128_gathered, BF16, bf16, R | C | A | I, FP8_E4M3_128X128,
        NVFUSER, LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(fp8_128x128_unaligned, F32, f32_unaligned, R | C, FP8_E4M3_128X128,
        NVFUSER, LINEAR, ALL, 32, NONE, NONE, F32)
// Of a whole tensor; the recipe says what is given.
VARIANT(fp8_row_amax, BF16, bf16, R | A | V, FP8_E4M3, NVFUSER, LINEAR, GROUPED,
        32, PER_GROUP, PER_GROUP, F32)
VARIANT(fp8_both_amax, BF16, bf16, R | C | A | V, FP8_E4M3, NVFUSER, LINEAR,
        GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(fp8_golden, BF16, bf16, R | A | V, FP8_E4M3, NVFUSER, LINEAR, ALL, 64,
        PER_GROUP, PER_GROUP, F32)
VARIANT(fp8_e5m2_all_f32, F32, f32, R | C | A | B | V, FP8_E5M2, TE, LINEAR,
        ALL, 64, PER_GROUP, PER_GROUP, F32)
VARIANT(fp8_column_f16, F16, f16, C | A | B | V, FP8_E4M3, TE, LINEAR, GROUPED,
        32, ONE, ONE, BF16)
VARIANT(fp8_both_dbias, BF16, bf16, R | C | A | B, FP8_E5M2, NVFUSER, LINEAR,
        GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(fp8_ragged, BF16, bf16, R | C | A | G | V, FP8_E4M3, NVFUSER, LINEAR,
        GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(fp8_gathered, BF16, bf16, R | C | I, FP8_E5M2, NVFUSER, LINEAR, ALL, 32,
        PER_GROUP, PER_GROUP, F32)
VARIANT(fp8_unaligned, F16, f16_unaligned, R | C | A | V, FP8_E4M3, NVFUSER,
        LINEAR, ALL, 32, PER_GROUP, PER_GROUP, F32)
#endif

#if !defined TILES_PART || TILES_PART == 4
// Directions that are not as usual; the first ones are measured.
VARIANT(te_column, BF16, bf16, C, NVFP4, TE, TILE128X4, GROUPED, 32, PER_GROUP,
        PER_GROUP, F32)
UNUSUAL(te_squares, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 32, PER_GROUP,
        PER_GROUP, SQUARES, SQUARES)
UNUSUAL(te_hadamard_column, BF16, bf16, C, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, 0, HADAMARD)
UNUSUAL(te_gradient_column, BF16, bf16, C, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, 0, HADAMARD | STOCHASTIC)
UNUSUAL(te_gradient, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 32, PER_GROUP,
        PER_GROUP, STOCHASTIC, HADAMARD | STOCHASTIC)
UNUSUAL(te_hadamard, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 32, PER_GROUP,
        PER_GROUP, 0, HADAMARD)
UNUSUAL(te_tokens, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 32, PER_ROW,
        PER_COLUMN, OF_ROW, OF_COLUMN)
UNUSUAL(te_four_over_six, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, MAE | MAX256, MAE | MAX256)
UNUSUAL(te_tokens_golden, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 64,
        PER_ROW, PER_COLUMN, OF_ROW, OF_COLUMN)
UNUSUAL(te_hadamard_golden, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 64,
        PER_GROUP, PER_GROUP, 0, HADAMARD)
UNUSUAL(te_stochastic_golden, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 64,
        PER_GROUP, PER_GROUP, STOCHASTIC, STOCHASTIC)
UNUSUAL(te_squares_golden, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 64,
        PER_GROUP, PER_GROUP, SQUARES, SQUARES)
UNUSUAL(te_gradient_f32, F32, f32, R | C | A | B, TE, TILE128X4, ALL, 32,
        PER_GROUP, PER_COLUMN, STOCHASTIC, HADAMARD | STOCHASTIC | OF_COLUMN)
UNUSUAL(te_squares_f32, F32, f32, R | C | S, TE, TILE128X4, ALL, 32, ONE, ONE,
        SQUARES, SQUARES)
UNUSUAL(te_tokens_f16, F16, f16, R | C | A, TE, LINEAR, ALL, 32, PER_ROW,
        PER_GROUP, OF_ROW, HADAMARD)
UNUSUAL(nvfp4_hadamard_f16, F16, f16, C | A | B, NVFUSER, TILE128X4, GROUPED,
        32, NONE, PER_GROUP, 0, HADAMARD | STOCHASTIC)
UNUSUAL(te_gathered, BF16, bf16, R | C | I | O, TE, TILE128X4, ALL, 32, PER_ROW,
        PER_COLUMN, STOCHASTIC | OF_ROW, HADAMARD | STOCHASTIC | OF_COLUMN)
UNUSUAL(te_gradient_ragged, BF16, bf16, R | C | A | G, TE, TILE128X4, GROUPED,
        64, PER_GROUP, PER_GROUP, STOCHASTIC, HADAMARD | STOCHASTIC)
UNUSUAL(te_squares_ragged, BF16, bf16, R | C | G, TE, LINEAR, GROUPED, 32,
        PER_GROUP, PER_GROUP, SQUARES, SQUARES)
UNUSUAL(nvfp4_hadamard, BF16, bf16, R | C | S, NVFUSER, TILE128X4, ALL, 64,
        NONE, NONE, 0, HADAMARD)
UNUSUAL(te_hadamard_f16, F16, f16, R | C, TE, LINEAR, ALL, 32, PER_GROUP,
        PER_COLUMN, 0, HADAMARD | OF_COLUMN)
UNUSUAL(te_tokens_stochastic, F16, f16, R | C | O, TE, TILE128X4, ALL, 64,
        PER_ROW, ONE, STOCHASTIC | OF_ROW, 0)
UNUSUAL(te_hadamard_ragged, BF16, bf16, R | C | G, TE, TILE128X4, GROUPED, 64,
        PER_GROUP, PER_GROUP, STOCHASTIC, HADAMARD)
UNUSUAL(te_row_stochastic, BF16, bf16, R, TE, TILE128X4, ALL, 32, PER_ROW, NONE,
        STOCHASTIC | OF_ROW, 0)
UNUSUAL(te_row_squares_f16, F16, f16, R | B, TE, TILE128X4, ALL, 32, PER_GROUP,
        NONE, SQUARES, 0)
UNUSUAL(te_row_squares, BF16, bf16, R, TE, TILE128X4, GROUPED, 32, PER_GROUP,
        NONE, SQUARES, 0)
UNUSUAL(te_column_squares, BF16, bf16, C, TE, TILE128X4, GROUPED, 32, NONE,
        PER_GROUP, 0, SQUARES)
UNUSUAL(nvfp4_row_stochastic_f32, F32, f32, R | A, NVFUSER, LINEAR, ALL, 32,
        NONE, NONE, STOCHASTIC, 0)
UNUSUAL(te_gradient_unaligned, BF16, bf16_unaligned, R | C, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, STOCHASTIC, HADAMARD | STOCHASTIC)
UNUSUAL(te_tokens_unaligned, F16, f16_unaligned, R | C, TE, TILE128X4, GROUPED,
        32, PER_ROW, PER_COLUMN, OF_ROW, OF_COLUMN)
UNUSUAL(te_gradient_both_ragged, BF16, bf16, R | C | G, TE, TILE128X4, GROUPED,
        32, PER_GROUP, PER_GROUP, STOCHASTIC, HADAMARD | STOCHASTIC)
UNUSUAL(te_gradient_column_unaligned, BF16, bf16_unaligned, C, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, 0, HADAMARD | STOCHASTIC)
UNUSUAL(te_gradient_column_gathered, F16, f16, C | I, TE, TILE128X4, ALL, 32,
        PER_GROUP, PER_GROUP, 0, HADAMARD | STOCHASTIC)
UNUSUAL(te_gradient_column_f16, F16, f16, C, TE, LINEAR, ALL, 64, PER_GROUP,
        PER_COLUMN, 0, HADAMARD | STOCHASTIC | OF_COLUMN)
UNUSUAL(te_column_outer, BF16, bf16, C, TE, TILE128X4, GROUPED, 32, NONE,
        PER_COLUMN, 0, OF_COLUMN)
UNUSUAL(te_hadamard_column_outer, BF16, bf16, C, TE, TILE128X4, GROUPED, 32,
        NONE, PER_COLUMN, 0, HADAMARD | OF_COLUMN)
UNUSUAL(te_column_stochastic_f16, F16, f16, C, TE, TILE128X4, ALL, 32, NONE,
        PER_GROUP, 0, STOCHASTIC)
UNUSUAL(nvfp4_column_stochastic, BF16, bf16, C, NVFUSER, LINEAR, GROUPED, 64,
        NONE, NONE, 0, STOCHASTIC)
UNUSUAL(te_four_over_six_golden, BF16, bf16, R | C, TE, TILE128X4, GROUPED, 64,
        PER_GROUP, PER_GROUP, MAE | MAX256, MAE | MAX256)
UNUSUAL(te_four_over_six_mse_golden, BF16, bf16, R | C, TE, TILE128X4, GROUPED,
        64, PER_GROUP, PER_GROUP, MSE, MSE)
UNUSUAL(te_four_over_six_squares, BF16, bf16, R | C | A, TE, TILE128X4, GROUPED,
        32, PER_GROUP, PER_GROUP, MAE | SQUARES, MAE | SQUARES)
UNUSUAL(te_four_over_six_squares_f32, F32, f32, R | C, TE, TILE128X4, ALL, 32,
        ONE, PER_GROUP, MSE | MAX256 | SQUARES, MAE | SQUARES)
UNUSUAL(te_four_over_six_f32, F32, f32, R | C | B, TE, TILE128X4, ALL, 32,
        PER_ROW, PER_COLUMN, MSE | OF_ROW, MAE | MAX256 | HADAMARD | OF_COLUMN)
UNUSUAL(te_four_over_six_tokens_f16, F16, f16, R | C | I, TE, TILE128X4, ALL,
        32, PER_ROW, PER_COLUMN, MAE | MAX256 | OF_ROW, MSE | OF_COLUMN)
UNUSUAL(te_four_over_six_gradient, BF16, bf16, R | C, TE, TILE128X4, GROUPED,
        32, PER_GROUP, NONE, STOCHASTIC, MAE | MAX256 | HADAMARD)
UNUSUAL(te_four_over_six_ragged, BF16, bf16, R | C | G, TE, LINEAR, GROUPED, 32,
        PER_GROUP, PER_GROUP, MAE, MAE | MAX256)
UNUSUAL(te_row_four_over_six, BF16, bf16, R | B, TE, TILE128X4, ALL, 32,
        PER_ROW, NONE, MAE | MAX256 | OF_ROW, 0)
UNUSUAL(te_row_four_over_six_squares, F16, f16, R, TE, TILE128X4, ALL, 32, NONE,
        NONE, MSE | SQUARES, 0)
UNUSUAL(te_column_four_over_six_f16, F16, f16, C, TE, TILE128X4, GROUPED, 32,
        NONE, ONE, 0, MSE | MAX256 | HADAMARD)
#endif

#if !defined TILES_PART || TILES_PART == 5
// Kernels of small groups: what there is one for (Launch.h).
VARIANT(small_te_both, BF16, bf16, R | C | W, NVFP4, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, F32)
VARIANT(small_nvfp4_both, BF16, bf16, R | C | W, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_column, BF16, bf16, C | W, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_column_dbias, BF16, bf16, C | B | W, NVFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_te_column_amax_f16, F16, f16, C | A | W, NVFP4, TE, TILE128X4,
        GROUPED, 32, NONE, PER_GROUP, F32)
VARIANT(small_nvfp4_both_dbias, BF16, bf16, R | C | B | W, NVFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_row_dbias, BF16, bf16, R | B | W, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_row_gathered, F16, f16, R | B | I | W, NVFP4, NVFUSER,
        TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(small_te_row_unaligned, BF16, bf16_unaligned, R | B | W, NVFP4, TE,
        TILE128X4, GROUPED, 64, PER_GROUP, NONE, BF16)
VARIANT(small_mxfp8_row_dbias, BF16, bf16, R | B | W, MXFP8_E4M3, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_row_amax, BF16, bf16, R | A | W, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(small_te_row_amax_f16, F16, f16, R | A | W, NVFP4, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, NONE, F32)
VARIANT(small_mxfp4_row_amax, BF16, bf16_unaligned, R | A | O | W, MXFP4,
        NVFUSER, TILE128X4, ALL, 64, NONE, NONE, F32)
VARIANT(small_nvfp4_both_amax, BF16, bf16, R | C | A | W, NVFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp8_both, BF16, bf16, R | C | W, MXFP8_E4M3, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp8_both_dbias, BF16, bf16, R | C | B | W, MXFP8_E4M3, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_row_amax, BF16, bf16, R | A | V | W, FP8_E4M3, NVFUSER,
        LINEAR, GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(small_nvfp4_both_f32, F32, f32, R | C | W, NVFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_row, BF16, bf16, R | W, NVFP4, NVFUSER, TILE128X4, ALL, 32,
        NONE, NONE, F32)
VARIANT(small_nvfp4_all, BF16, bf16, R | C | O | W, NVFP4, NVFUSER, TILE128X4,
        ALL, 64, PER_GROUP, PER_GROUP, BF16)
VARIANT(small_te_all_f16, F16, f16, R | C | A | O | W, NVFP4, TE, TILE128X4,
        ALL, 32, ONE, PER_GROUP, F32)
VARIANT(small_nvfp4_gathered, BF16, bf16, R | C | B | I | W, NVFP4, NVFUSER,
        TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_unaligned, BF16, bf16_unaligned, R | C | W, NVFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp8_column, BF16, bf16, C | A | W, MXFP8_E4M3, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp8_all_f16, F16, f16, R | C | A | O | W, MXFP8_E5M2, NVFUSER,
        TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(small_mxfp8_gathered_unaligned, F16, f16_unaligned, R | C | I | W,
        MXFP8_E4M3, NVFUSER, TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_row, F16, f16, R | V | W, FP8_E5M2, TE, LINEAR, ALL, 64,
        PER_GROUP, PER_GROUP, F32)
VARIANT(small_fp8_column, F16, f16, C | B | V | W, FP8_E4M3, TE, LINEAR,
        GROUPED, 32, ONE, ONE, BF16)
VARIANT(small_fp8_gathered, BF16, bf16, R | A | I | W, FP8_E5M2, NVFUSER,
        LINEAR, ALL, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(small_fp8_unaligned, F16, f16_unaligned, R | A | W, FP8_E4M3, NVFUSER,
        LINEAR, ALL, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(small_fp8_both_amax, BF16, bf16, R | C | A | V | W, FP8_E4M3, NVFUSER,
        LINEAR, GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(small_fp8_both, BF16, bf16, R | C | V | W, FP8_E4M3, NVFUSER, LINEAR,
        GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(small_fp8_both_dbias, F16, f16, R | C | B | W, FP8_E5M2, NVFUSER,
        LINEAR, ALL, 64, PER_GROUP, PER_GROUP, F32)
UNUSUAL(small_te_squares, BF16, bf16, R | C | W, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, SQUARES, SQUARES)
UNUSUAL(small_te_squares_f32, F32, f32, R | C | W, TE, TILE128X4, ALL, 32, ONE,
        ONE, SQUARES, SQUARES)
UNUSUAL(small_te_squares_gathered, BF16, bf16, R | C | B | I | W, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, SQUARES, SQUARES)
VARIANT(small_fp8_both_gathered, F16, f16, R | C | A | I | W, FP8_E5M2, NVFUSER,
        LINEAR, GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(small_fp8_both_unaligned, BF16, bf16_unaligned, R | C | A | W, FP8_E4M3,
        NVFUSER, LINEAR, ALL, 64, PER_GROUP, PER_GROUP, F32)
UNUSUAL(small_te_row_squares, F16, f16, R | S | W, TE, TILE128X4, ALL, 64, ONE,
        NONE, SQUARES, 0)
UNUSUAL(small_te_column_squares, BF16, bf16_unaligned, C | W, TE, TILE128X4,
        GROUPED, 32, NONE, PER_GROUP, 0, SQUARES)
UNUSUAL(small_te_hadamard, BF16, bf16, C | W, TE, TILE128X4, GROUPED, 32, NONE,
        PER_GROUP, 0, HADAMARD)
UNUSUAL(small_te_gradient_column, BF16, bf16, C | W, TE, TILE128X4, GROUPED, 32,
        NONE, PER_GROUP, 0, HADAMARD | STOCHASTIC)
UNUSUAL(small_te_gradient, F16, f16, C | W, TE, TILE128X4, ALL, 64, NONE, ONE,
        0, HADAMARD | STOCHASTIC)
UNUSUAL(small_te_gradient_unaligned, BF16, bf16_unaligned, C | W, TE, TILE128X4,
        GROUPED, 32, NONE, PER_GROUP, 0, HADAMARD | STOCHASTIC)
UNUSUAL(small_nvfp4_hadamard, BF16, bf16, C | W, NVFUSER, TILE128X4, GROUPED,
        32, NONE, NONE, 0, HADAMARD)
UNUSUAL(small_te_column_outer, BF16, bf16, C | W, TE, TILE128X4, GROUPED, 32,
        NONE, PER_COLUMN, 0, OF_COLUMN)
UNUSUAL(small_te_column_outer_f16, F16, f16, C | W, TE, TILE128X4, ALL, 64,
        NONE, PER_COLUMN, 0, HADAMARD | STOCHASTIC | OF_COLUMN)
UNUSUAL(small_te_hadamard_both, BF16, bf16, R | C | W, TE, TILE128X4, GROUPED,
        32, PER_GROUP, PER_GROUP, 0, HADAMARD)
UNUSUAL(small_te_gradient_both, BF16, bf16, R | C | W, TE, TILE128X4, GROUPED,
        32, PER_GROUP, PER_GROUP, STOCHASTIC, HADAMARD | STOCHASTIC)
UNUSUAL(small_te_tokens, BF16, bf16, R | C | W, TE, TILE128X4, GROUPED, 32,
        PER_ROW, PER_COLUMN, OF_ROW, OF_COLUMN)
UNUSUAL(small_nvfp4_hadamard_f16, F16, f16, R | C | O | W, NVFUSER, TILE128X4,
        ALL, 64, PER_GROUP, NONE, 0, HADAMARD)
UNUSUAL(small_te_tokens_unaligned, BF16, bf16_unaligned, R | C | W, TE,
        TILE128X4, GROUPED, 32, PER_ROW, PER_COLUMN, STOCHASTIC | OF_ROW,
        OF_COLUMN)
VARIANT(small_mxfp4_both, BF16, bf16, R | C | W, MXFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp4_both_amax, F16, f16, R | C | A | W, MXFP4, NVFUSER,
        TILE128X4, ALL, 64, NONE, NONE, F32)
VARIANT(small_mxfp4_both_dbias, BF16, bf16, R | C | B | W, MXFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, BF16)
VARIANT(small_mxfp4_gathered, BF16, bf16, R | C | I | W, MXFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp4_unaligned, BF16, bf16_unaligned, R | C | W, MXFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_1x128_both, BF16, bf16, R | C | W, FP8_E4M3_1X128, NVFUSER,
        LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_1x128_amax, F16, f16, R | C | A | W, FP8_E5M2_1X128, NVFUSER,
        LINEAR, ALL, 64, NONE, NONE, F32)
VARIANT(small_fp8_1x128_dbias, BF16, bf16, R | C | B | W, FP8_E4M3_1X128,
        NVFUSER, LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_1x128_column, BF16, bf16, C | A | W, FP8_E4M3_1X128, NVFUSER,
        LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_1x128_gathered, F16, f16, R | C | I | W, FP8_E4M3_1X128,
        NVFUSER, LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_1x128_unaligned, BF16, bf16_unaligned, R | C | W,
        FP8_E4M3_1X128, NVFUSER, LINEAR, ALL, 32, NONE, NONE, F32)
VARIANT(small_mxfp4_row, BF16, bf16, R | S | W, MXFP4, NVFUSER, TILE128X4, ALL,
        32, NONE, NONE, F32)
VARIANT(small_mxfp4_column_f16, F16, f16, C | B | W, MXFP4, NVFUSER, TILE128X4,
        GROUPED, 64, NONE, NONE, F32)
#endif

#if !defined TILES_PART || TILES_PART == 6
// What a producer makes.
VARIANT(te_ahead, BF16, ahead, R | C | L | M, NVFP4, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, F32)
VARIANT(te_dbias_ahead, BF16, ahead, R | C | B | L | M, NVFP4, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(nvfp4_all_made, BF16, made16, R | C | A | B | O | M, NVFP4, NVFUSER,
        TILE128X4, ALL, 64, PER_GROUP, PER_GROUP, BF16)
VARIANT(nvfp4_made_f32, F32, made32, R | C | M, NVFP4, NVFUSER, TILE128X4, ALL,
        32, NONE, NONE, F32)
VARIANT(nvfp4_ragged_made, BF16, made16, R | C | A | G | M, NVFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(nvfp4_row_dbias_ahead, BF16, ahead, R | B | L | M, NVFP4, NVFUSER,
        TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(mxfp8_dbias_ahead, BF16, ahead, R | C | B | L | M, MXFP8_E4M3, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(mxfp8_made_f32, F32, made32, R | C | A | M, MXFP8_E5M2, NVFUSER,
        TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(mxfp4_ahead, BF16, ahead, R | C | L | M, MXFP4, NVFUSER, TILE128X4,
        GROUPED, 32, NONE, NONE, F32)
VARIANT(fp8_1x128_ahead, BF16, ahead, R | C | L | M, FP8_E4M3_1X128, NVFUSER,
        LINEAR, ALL, 32, NONE, NONE, F32)
VARIANT(fp8_128x128_made, BF16, made16, R | C | B | M, FP8_E4M3_128X128,
        NVFUSER, LINEAR, ALL, 32, NONE, NONE, F32)
VARIANT(fp8_amax_ahead, BF16, ahead, R | C | A | V | L | M, FP8_E4M3, NVFUSER,
        LINEAR, GROUPED, 32, PER_GROUP, PER_GROUP, F32)
UNUSUAL(te_squares_made, BF16, made16, R | C | M, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, SQUARES, SQUARES)
UNUSUAL(te_hadamard_made, BF16, made16, R | C | M, TE, TILE128X4, GROUPED, 32,
        PER_GROUP, PER_GROUP, 0, HADAMARD)
UNUSUAL(te_gradient_ahead, BF16, ahead, R | C | L | M, TE, TILE128X4, GROUPED,
        32, PER_GROUP, PER_GROUP, STOCHASTIC, HADAMARD | STOCHASTIC)
UNUSUAL(te_tokens_ahead, BF16, ahead, R | C | L | M, TE, TILE128X4, ALL, 64,
        PER_ROW, PER_COLUMN, OF_ROW, OF_COLUMN)
UNUSUAL(te_four_over_six_made, BF16, made16, R | C | A | M, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, MAE, MAE)
VARIANT(small_te_ahead, BF16, ahead, R | C | L | M | W, NVFP4, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, F32)
VARIANT(small_nvfp4_dbias_made, BF16, made16, R | C | B | M | W, NVFP4, NVFUSER,
        TILE128X4, ALL, 64, NONE, NONE, BF16)
VARIANT(small_nvfp4_made_f32, F32, made32, R | C | M | W, NVFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_nvfp4_column_ahead, BF16, ahead, C | A | L | M | W, NVFP4,
        NVFUSER, TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp8_ahead, BF16, ahead, R | C | L | M | W, MXFP8_E4M3, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_mxfp8_row_dbias_made, BF16, made16, R | B | M | W, MXFP8_E4M3,
        NVFUSER, TILE128X4, ALL, 32, NONE, NONE, F32)
VARIANT(small_mxfp4_made, BF16, made16, R | C | M | W, MXFP4, NVFUSER,
        TILE128X4, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_1x128_ahead, BF16, ahead, R | C | L | M | W, FP8_E4M3_1X128,
        NVFUSER, LINEAR, GROUPED, 32, NONE, NONE, F32)
VARIANT(small_fp8_amax_made, BF16, made16, R | C | A | V | M | W, FP8_E4M3,
        NVFUSER, LINEAR, GROUPED, 32, PER_GROUP, PER_GROUP, F32)
UNUSUAL(small_te_squares_made, BF16, made16, R | C | M | W, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, SQUARES, SQUARES)
UNUSUAL(small_te_hadamard_ahead, BF16, ahead, R | C | L | M | W, TE, TILE128X4,
        GROUPED, 32, PER_GROUP, PER_GROUP, 0, HADAMARD)
UNUSUAL(small_te_gradient_column_ahead, BF16, ahead, C | L | M | W, TE,
        TILE128X4, GROUPED, 32, PER_GROUP, PER_GROUP, 0, HADAMARD | STOCHASTIC)
#endif

#undef VARIANT
#undef UNUSUAL
#undef FITS
#undef STOCHASTIC
#undef TRANSFORMED
#undef HADAMARD
#undef SQUARES
#undef OF_ROW
#undef OF_COLUMN
#undef MAE
#undef MSE
#undef MAX256
#undef R
#undef C
#undef A
#undef B
#undef O
#undef S
#undef G
#undef I
#undef L
#undef M
#undef V
#undef W
#undef LAYOUT_NVFP4
#undef LAYOUT_MX
#undef LAYOUT_FP8
#undef BOTH
#undef BOTH_IN
