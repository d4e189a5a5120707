//===- amax_kernels.c - the test kernels of largest magnitudes ------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering generates, by hand.
//
//===----------------------------------------------------------------------===//

#include "AmaxKernels.h"
#include "Call.h"

#ifndef KERNEL // on the GPU
#include "Bounds.h"
#define WHOLE_BOUNDS(CTAS)                                                     \
  __asm__ volatile("// maxntid 256");                                          \
  if ((CTAS) == 3)                                                             \
    __asm__ volatile("// minnctapersm 3");                                     \
  else                                                                         \
    __asm__ volatile("// minnctapersm 2");
#else
#define BOUNDS(OF)
#define WHOLE_BOUNDS(CTAS)
#endif

#define VARIANT(NAME, TYPE, LOAD, PARTS, ROWS, BITS, INDEX_BITS, SIGNS)        \
  KERNEL clear_##NAME(ClearAmaxOperands o) {                                   \
    const int32_t parts = PARTS, offsetBits = BITS;                            \
    const int32_t rowsMode = GQ_ROWS_##ROWS;                                   \
    CALL_ALWAYS(clear_amax, GQ_CLEAR_AMAX_OPERANDS);                           \
  }                                                                            \
  KERNEL amax_##NAME(GroupedAmaxOperands o) {                                  \
    gq_load16 *const load = gq_dev_load16_##LOAD;                              \
    BOUNDS(gq_dev_grouped_amax_bounds(PARTS, GQ_##TYPE, transformOf(SIGNS),    \
                                      !(INDEX_BITS) &&                         \
                                          load != gq_dev_load16_made16))       \
    const int32_t parts = PARTS, offsetBits = BITS;                            \
    const int32_t rowsMode = GQ_ROWS_##ROWS, rowIndexBits = INDEX_BITS;        \
    const int32_t heldType = GQ_##TYPE, ctas = 0;                              \
    const int32_t signs = (SIGNS) < 0 ? 0 : (SIGNS);                           \
    const int32_t transform = transformOf(SIGNS);                              \
    CALL(grouped_amax, GQ_GROUPED_AMAX_OPERANDS);                              \
  }
AMAX_VARIANTS(VARIANT)

#define WHOLE(NAME, TYPE, LOAD, LAYOUT, PACKED, ROWS, BITS, INDEX_BITS, DATA)  \
  KERNEL whole_##NAME(QuantizeWholeRowsOperands o) {                           \
    WHOLE_BOUNDS(                                                              \
        GQ_##TYPE != GQ_F32 && sizeof(#LOAD) < 8 && GQ_##DATA == GQ_I8 ? 3     \
                                                                       : 2)    \
    gq_load16 *const load = gq_dev_load16_##LOAD;                              \
    const int32_t format = GQ_FORMAT_NVFP4, recipe = GQ_RECIPE_TE;             \
    const int32_t scaleLayout = GQ_SCALE_LAYOUT_##LAYOUT, packed = PACKED;     \
    const int32_t rowsMode = GQ_ROWS_##ROWS, offsetBits = BITS;                \
    const int32_t outerKind = GQ_OUTER_PER_ROW, rowIndexBits = INDEX_BITS;     \
    const int32_t heldType = GQ_##TYPE, dataType = GQ_##DATA;                  \
    const int32_t loadsAhead = false, ctas = 0;                                \
    const int32_t rowwiseTraits = 0;                                           \
    CALL(quantize_whole_rows, GQ_QUANTIZE_WHOLE_ROWS_OPERANDS);                \
  }
WHOLE_ROWS_VARIANTS(WHOLE)
