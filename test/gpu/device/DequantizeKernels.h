//===- DequantizeKernels.h - the test kernels of dequantization --*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines dequantize_NAME(DequantizeTilesOperands) for each variant. KERNEL is
// how kernels are declared, BOUNDS what is said in one of how many CTAs of it a
// multiprocessor shall hold, SM120 whether it is compiled for that chip.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#define VARIANT(NAME, FORMAT, TYPE, RECIPE, LAYOUT, PARTS, BITS, KIND, OUT,    \
                SCALE_MAX)                                                     \
  KERNEL dequantize_##NAME(DequantizeTilesOperands o) {                        \
    const int32_t parts = PARTS;                                               \
    const int32_t format = GQ_FORMAT_##FORMAT;                                 \
    const int32_t dataType = GQ_##TYPE;                                        \
    const int32_t recipe = GQ_RECIPE_##RECIPE;                                 \
    const int32_t scaleLayout = GQ_SCALE_LAYOUT_##LAYOUT;                      \
    const int32_t offsetBits = BITS;                                           \
    const int32_t outerKind = GQ_OUTER_##KIND, scaleMax = SCALE_MAX;           \
    const int32_t outType = GQ_##OUT, valueType = GQ_##OUT;                    \
    gq_epilogue *const epilogue = 0;                                           \
    const bool nvfp4 = GQ_FORMAT_##FORMAT == GQ_FORMAT_NVFP4;                  \
    BOUNDS(gq_dev_dequantize_tiles_bounds(                                     \
        GQ_##TYPE, gq_dev_dequantizes_by_rows(PARTS),                          \
        gq_dev_dequantize_pieces(GQ_FORMAT_##FORMAT,                           \
                                 GQ_SCALE_LAYOUT_##LAYOUT),                    \
        nvfp4 && (PARTS) & GQ_DEV_COLUMNWISE,                                  \
        nvfp4 && recipe == GQ_RECIPE_NVFUSER && outerKind != GQ_OUTER_NONE,    \
        SM120))                                                                \
    const int32_t ctas = 0;                                                    \
    CALL(dequantize_tiles, GQ_DEQUANTIZE_TILES_OPERANDS);                      \
  }
#include "DequantizeVariants.h"
#undef VARIANT
