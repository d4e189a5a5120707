//===- kernels.c - kernels made from the device functions -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering generates, by hand: each kernel calls one body with its
// parameters and constants. The bodies come from the bitcode.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

// How kernels are declared.
#ifndef KERNEL
#define KERNEL __attribute__((device_kernel)) void
#endif

static inline gqElementType typeOf(gq_load16 *load) {
  return load == gq_dev_load16_f16_any   ? GQ_F16
         : load == gq_dev_load16_f32_any ? GQ_F32
                                         : GQ_BF16;
}

/// The hook of each: rows that are only loaded ask.
#define LOAD_bf16 gq_dev_load16_bf16_any
#define LOAD_f16 gq_dev_load16_f16_any
#define LOAD_f32 gq_dev_load16_f32_any
#define LOAD_bf16_ahead gq_dev_load16_ahead
#define LOAD_bf16_stays gq_dev_load16_ahead
/// Which matrices it is for: CTAs of large ones stay.
#define SIZE_bf16 GQ_DEV_ROWS_ANY
#define SIZE_f16 GQ_DEV_ROWS_ANY
#define SIZE_f32 GQ_DEV_ROWS_ANY
#define SIZE_bf16_ahead GQ_DEV_ROWS_ANY
#define SIZE_bf16_stays GQ_DEV_ROWS_LARGE

#define QUANTIZE(...) ROWS(__VA_ARGS__, I8, NEAREST)
#define DRAWN(...) ROWS(__VA_ARGS__, I8, STOCHASTIC)
#define NUMBERS(NAME, LOAD, FORMAT, RECIPE, ...)                               \
  ROWS(NAME, LOAD, FORMAT, RECIPE, LINEAR, 0, __VA_ARGS__, NEAREST)
#define ROWS(NAME, LOAD, FORMAT, RECIPE, LAYOUT, PACKED, MODE, BITS, KIND,     \
             INDEX_BITS, DATA, ROUNDING)                                       \
  KERNEL NAME(QuantizeRowsOperands o) {                                        \
    gq_load16 *const load = LOAD_##LOAD;                                       \
    const int32_t format = GQ_FORMAT_##FORMAT;                                 \
    const int32_t recipe = GQ_RECIPE_##RECIPE;                                 \
    const int32_t scaleLayout = GQ_SCALE_LAYOUT_##LAYOUT;                      \
    const int32_t packed = PACKED;                                             \
    const int32_t rowsMode = GQ_ROWS_##MODE;                                   \
    const int32_t offsetBits = BITS;                                           \
    const int32_t outerKind = GQ_OUTER_##KIND;                                 \
    const int32_t rowIndexBits = INDEX_BITS;                                   \
    const int32_t heldType = typeOf(load);                                     \
    const int32_t dataType = GQ_##DATA;                                        \
    const bool loadsAhead = load == gq_dev_load16_ahead;                       \
    const int32_t warpsPerPiece =                                              \
        INDEX_BITS || gq_dev_asks(load) ? 1 : GQ_DEV_ROWS_PIECE_WARPS;         \
    const int32_t size = SIZE_##LOAD;                                          \
    const int32_t rowwiseTraits = GQ_ROUNDING_##ROUNDING;                      \
    CALL(quantize_rows, GQ_QUANTIZE_ROWS_OPERANDS);                            \
  }

#define SWIZZLE(NAME, FORMAT, BITS)                                            \
  KERNEL NAME(SwizzleScalesOperands o) {                                       \
    const int32_t format = GQ_FORMAT_##FORMAT;                                 \
    const int32_t offsetBits = BITS;                                           \
    CALL(swizzle_scales, GQ_SWIZZLE_SCALES_OPERANDS);                          \
  }

#define OFFSETS(NAME, COUNT_BITS, BITS)                                        \
  KERNEL NAME(GroupOffsetsOperands o) {                                        \
    const int32_t countBits = COUNT_BITS;                                      \
    const int32_t offsetBits = BITS;                                           \
    CALL(group_offsets, GQ_GROUP_OFFSETS_OPERANDS);                            \
  }

#include "Variants.h"
