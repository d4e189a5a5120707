//===- TilesKernels.h - the tile test kernels themselves ---------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines functions tiles_NAME(TilesOperands) and reduce_NAME(TilesOperands)
// for each variant: what the lowering generates, by hand. KERNEL is how kernels
// are declared, BOUNDS what is said in one of how many CTAs of it a
// multiprocessor shall hold.
//
//===----------------------------------------------------------------------===//

#include "TilesOperands.h"

#include "runtime_kernels/kernels/Tiles.h"

#define VARIANT(NAME, TYPE, LOAD, PARTS, FORMAT, RECIPE, LAYOUT, ROWS, BITS,   \
                KIND, COLUMNWISE_KIND, DBIAS)                                  \
  KERNEL tiles_##NAME(TilesOperands o) {                                       \
    BOUNDS(gq_dev_tiles_ctas(GQ_FORMAT_##FORMAT, (PARTS) & GQ_DEV_COLUMNWISE,  \
                             GQ_##TYPE))                                       \
    gq_dev_matrix matrix = {(const void GQ_GLOBAL *)o.input, o.inputStride};   \
    gq_dev_grouped_block_quantize_tiles(                                       \
        gq_dev_load16_##LOAD, &matrix, o.rows, o.columns,                      \
        (const void GQ_GLOBAL *)o.rowIndices, o.sourceRows,                    \
        (const void GQ_GLOBAL *)o.offsets, o.numOffsets,                       \
        (const void GQ_GLOBAL *)o.scaleOffsets,                                \
        (const void GQ_GLOBAL *)o.firstDims,                                   \
        (const void GQ_GLOBAL *)o.lastDims, o.groups,                          \
        (const float GQ_GLOBAL *)o.outer,                                      \
        (const float GQ_GLOBAL *)o.columnwiseOuter,                            \
        (uint8_t GQ_GLOBAL *)o.data, o.dataStride,                             \
        (uint8_t GQ_GLOBAL *)o.scales, o.scalesStride, o.scalesSize,           \
        (uint8_t GQ_GLOBAL *)o.columnwiseData, o.columnwiseDataStride,         \
        o.columnwiseDataSize, (uint8_t GQ_GLOBAL *)o.columnwiseScales,         \
        o.columnwiseScalesSize, (void GQ_GLOBAL *)o.scaleOffsetsOut,           \
        (void GQ_GLOBAL *)o.workspace, (uint32_t GQ_GLOBAL *)o.status, PARTS,  \
        GQ_FORMAT_##FORMAT, GQ_RECIPE_##RECIPE, GQ_SCALE_LAYOUT_##LAYOUT,      \
        GQ_ROWS_##ROWS, BITS, GQ_OUTER_##KIND, GQ_OUTER_##COLUMNWISE_KIND,     \
        (PARTS) & TILES_ROW_INDICES ? 32 : 0, GQ_##TYPE);                      \
  }                                                                            \
  KERNEL reduce_##NAME(TilesOperands o) {                                      \
    gq_dev_reduce_tiles((void GQ_GLOBAL *)o.workspace, o.rows, o.columns,      \
                        o.groups, (float GQ_GLOBAL *)o.amax,                   \
                        (void GQ_GLOBAL *)o.dbias, PARTS, GQ_##DBIAS);         \
  }
#include "TilesVariants.h"
#undef VARIANT
