//===- TilesKernels.h - the tile test kernels themselves ---------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines functions tiles_NAME(QuantizeTilesOperands) and
// reduce_NAME(ReduceTilesOperands)
// for each variant: what the lowering generates, by hand. KERNEL is how kernels
// are declared, BOUNDS what is said in one of how many CTAs of it a
// multiprocessor shall hold.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "Tiles.h"

#define VARIANT_OF(NAME, TYPE, LOAD, PARTS, FORMAT, RECIPE, LAYOUT, ROWS,      \
                   BITS, KIND, COLUMNWISE_KIND, DBIAS, ROWWISE, COLUMNWISE)    \
  KERNEL tiles_##NAME(QuantizeTilesOperands o) {                               \
    gq_load16 *const load = gq_dev_load16_##LOAD;                              \
    const int32_t parts = (PARTS) & ~TILES_OWN_PARTS;                          \
    const int32_t format = GQ_FORMAT_##FORMAT;                                 \
    const int32_t recipe = GQ_RECIPE_##RECIPE;                                 \
    const int32_t scaleLayout = GQ_SCALE_LAYOUT_##LAYOUT;                      \
    const int32_t rowsMode = GQ_ROWS_##ROWS;                                   \
    const int32_t offsetBits = BITS;                                           \
    const int32_t outerKind = GQ_OUTER_##KIND;                                 \
    const int32_t columnwiseOuterKind = GQ_OUTER_##COLUMNWISE_KIND;            \
    const int32_t rowIndexBits = (PARTS) & TILES_ROW_INDICES ? 32 : 0;         \
    const int32_t heldType = GQ_##TYPE;                                        \
    const int32_t inputsAhead = (PARTS) & GQ_DEV_AHEAD ? 1 : 0;                \
    const int32_t dbiasType = GQ_##DBIAS;                                      \
    const int32_t rowwiseTraits = ROWWISE;                                     \
    const int32_t columnwiseTraits = COLUMNWISE;                               \
    BOUNDS(((PARTS) & TILES_SMALL_GROUPS ? gq_dev_quantize_small_groups_bounds \
                                         : gq_dev_quantize_tiles_bounds)(      \
        GQ_FORMAT_##FORMAT, parts, GQ_##TYPE))                                 \
    if (IS_LEFT_OUT)                                                           \
      __builtin_trap();                                                        \
    else if ((PARTS) & TILES_SMALL_GROUPS)                                     \
      CALL_ALWAYS(quantize_small_groups_##FORMAT,                              \
                  GQ_QUANTIZE_SMALL_GROUPS_OPERANDS);                          \
    else                                                                       \
      CALL_ALWAYS(quantize_tiles_##FORMAT, GQ_QUANTIZE_TILES_OPERANDS);        \
  }                                                                            \
  KERNEL reduce_##NAME(ReduceTilesOperands o) {                                \
    const int32_t parts = (PARTS) & ~TILES_OWN_PARTS;                          \
    const int32_t dbiasType = GQ_##DBIAS;                                      \
    BOUNDS((gq_dev_bounds){.threads = GQ_DEV_REDUCE_TILES_THREADS})            \
    CALL_ALWAYS(reduce_tiles, GQ_REDUCE_TILES_OPERANDS);                       \
  }
#include "TilesVariants.h"
#undef VARIANT_OF
