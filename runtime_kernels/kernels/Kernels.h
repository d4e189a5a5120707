//===- Kernels.h - the bodies of the GPU kernels -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function an op. A kernel calls one of them with its own parameters and
// constants; inlining specializes it. It is compiled to LLVM bitcode, one file
// a chip, for the lowering to link.
//
// Launch: a one-dimensional grid of CTAs of whole warps, all of whose threads
// call the function, once. Any grid gives the same bytes; Launch.h has a fast
// one.
//
// Offsets stay on the device and are never trusted: see groups/Faults.h.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_KERNELS_H
#define GQ_KERNELS_KERNELS_KERNELS_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/kernels/Inputs.h"
#include "runtime_kernels/kernels/Launch.h"

/// Declares a function that the bitcode exports.
#define GQ_DEV_KERNEL __attribute__((always_inline))

/// gq.grouped_block_quantize, its rowwise direction. `block` is the format's
/// blockColumns, which columns are a multiple of.
///
/// load(inputs, ...)  the [rows, columns] input; columns > 0
/// row_indices        [rows], or null: the input has `source_rows` rows, and
///                    row m of what is quantized is its row row_indices[m].
///                    Hooks of Inputs.h get that row; others, which know which
///                    of their inputs are meant, get m. See Gather.h.
/// offsets            [num_offsets] row starts, num_offsets = groups or
///                    groups + 1, below 2^31
/// scale_offsets      [groups]; not looked at if scales are linear or packed
/// outer              as `outer_kind` says
/// data               [rows, columns] codes, `data_stride` bytes from one row
///                    to the next. Written 8 bytes at a time, or 16 if codes
///                    have 8 bits, if address and stride are multiples of
///                    that, else bytewise.
/// scales             tile128x4: [scale_rows, up(columns / block, 4)] bytes in
///                    tiles, scale_rows % 128 == 0. Written 4 and 16 bytes at a
///                    time if the address is a multiple of 16, else bytewise.
///                    Linear: [rows, columns / block], `scales_stride` bytes
///                    from one row to the next; rows of no group are left
///                    alone. Written 4 bytes at a time if address and stride
///                    are multiples of that, else bytewise.
/// scale_offsets_out  [groups], like `offsets`, or null: the derived ones, if
///                    scales are packed
/// status             GQ_DEV_STATUS_ bits are ORed into it
///
/// Constants: `format` a gqFormat of blocks of one row (f32 scales are linear),
/// `recipe` a gqRecipe, `scale_layout` a gqScaleLayout, `packed` whether tiles
/// of groups follow each other without a gap, `rows_mode` a gqRows,
/// `offset_bits` 32 or 64, the width of both offsets, `outer_kind` as above,
/// `row_index_bits` 32 or 64, 0 if there are no row indices.
void gq_dev_grouped_block_quantize(
    gq_load16 *load, const void *inputs, int64_t rows, int64_t columns,
    const void GQ_GLOBAL *row_indices, int64_t source_rows,
    const void GQ_GLOBAL *offsets, int64_t num_offsets,
    const void GQ_GLOBAL *scale_offsets, int64_t groups,
    const float GQ_GLOBAL *outer, uint8_t GQ_GLOBAL *data, int64_t data_stride,
    uint8_t GQ_GLOBAL *scales, int64_t scales_stride, int64_t scale_rows,
    void GQ_GLOBAL *scale_offsets_out, uint32_t GQ_GLOBAL *status,
    int32_t format, int32_t recipe, int32_t scale_layout, int32_t packed,
    int32_t rows_mode, int32_t offset_bits, int32_t outer_kind,
    int32_t row_index_bits);

/// gq.block_quantize: linear scales; `outer_kind` is none or one.
void gq_dev_block_quantize(gq_load16 *load, const void *inputs, int64_t rows,
                           int64_t columns, const float GQ_GLOBAL *outer,
                           uint8_t GQ_GLOBAL *data, int64_t data_stride,
                           uint8_t GQ_GLOBAL *scales, int64_t scales_stride,
                           int32_t format, int32_t recipe, int32_t outer_kind);

/// gq.preprocess_grouped_matmul_sf: `linear` is [rows, scale_columns],
/// `linear_stride` bytes from one row to the next.
void gq_dev_preprocess_grouped_matmul_sf(
    const uint8_t GQ_GLOBAL *linear, int64_t linear_stride, int64_t rows,
    int64_t scale_columns, const void GQ_GLOBAL *offsets, int64_t num_offsets,
    const void GQ_GLOBAL *scale_offsets, int64_t groups,
    uint8_t GQ_GLOBAL *scales, int64_t scale_rows, uint32_t GQ_GLOBAL *status,
    int32_t format, int32_t offset_bits);

#endif // GQ_KERNELS_KERNELS_KERNELS_H
