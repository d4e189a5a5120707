//===- Tiles.h - the kernel of whole tiles -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gq.grouped_block_quantize where Kernels.h, which goes through rows, cannot:
// columnwise outputs, column sums, the largest magnitude of a group, derived
// scale offsets, linear scales, ragged groups, blocks of 128 by 128; in every
// format. And gq.block_quantize to blocks of 128 by 128.
//
// Launch: gq_dev_grouped_block_quantize_tiles, then, if there is amax or dbias,
// gq_dev_reduce_tiles on the same stream. Both in a one-dimensional grid of
// CTAs of GQ_DEV_TILES_CTA threads, all of which call the function, once.
//
//   CTAs of the first: gq_dev_tiles_grid(gq_dev_tiles_jobs(rows, columns,
//   groups), full, bits of a code), where `full` is the multiprocessors times
//   gq_dev_tiles_ctas(format, columnwise, held_type), which should be its
//   .minnctapersm; of the second: gq_dev_reduce_tiles_grid(rows, columns,
//   groups, parts, multiprocessors). Any grid gives the same bytes, also of
//   dbias.
//
// Shared memory is static, less than 48 KB, declared in this file's bitcode:
// no dynamic shared memory is to be asked for. No output and no workspace needs
// to hold anything before a launch.
//
// Offsets stay on the device and are never trusted: see groups/Faults.h.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_H
#define GQ_KERNELS_KERNELS_TILES_H

#include "runtime_kernels/kernels/Kernels.h"

/// gq.grouped_block_quantize. `block` is the format's blockColumns, m the rows
/// of a group, m32 is up(m, 32). "Flat" buffers hold group after group.
///
/// load(inputs, ...)  the [rows, columns] input, columns > 0, columns % 16 == 0
///                    and, if there is a rowwise direction or blocks are of 128
///                    rows, columns % block == 0. If ragged, elements 0 to
///                    `rows` as row 0. Rows of no group are asked for with
///                    GQ_ROWS_ALL only
/// row_indices        [rows], if there are such, of `source_rows`: see
///                    Kernels.h
/// offsets            [num_offsets] row starts, num_offsets = groups or
///                    groups + 1, below 2^31. If ragged, groups + 1 element
///                    starts, each a multiple of 16. With num_offsets = 0 and
///                    one group, all rows are in it
/// scale_offsets      [groups]; without, the packed form is derived
/// first_dims, last_dims  [groups], if ragged; last_dims as columns above
/// outer              global scale or outer amax, as `outer_kind` says
/// columnwise_outer   the same of the columnwise direction
/// data               [rows, columns] codes, `data_stride` bytes from one row
///                    to the next; flat as the input if ragged
/// scales             tile128x4: flat [up(m, 128), up(columns / block, 4)] in
///                    tiles, or where scale_offsets say. Linear: [rows, columns
///                    / block], `scales_stride` bytes from one row to the next;
///                    flat if ragged. Of blocks of 128 by 128, [up(m, 128) /
///                    128, columns / 128] a group, flat, or `scales_stride`
///                    bytes from one row to the next if that is not 0.
///                    `scales_size` scales
/// columnwise_data    nvfp4 and blockwise fp8: flat [columns, m32] codes,
///                    `columnwise_data_size` bytes. Else like `data`, with its
///                    own stride
/// columnwise_scales  flat, [columns, m32 / block rounded up]; in tile128x4
///                    rounded up to whole tiles; of blocks of 128 by 128,
///                    [columns / 128, up(m, 128) / 128].
///                    `columnwise_scales_size` scales
/// scale_offsets_out  [groups], like `offsets`
/// workspace          gq_dev_tiles_workspace bytes at a multiple of 4, if there
///                    is amax or dbias, for gq_dev_reduce_tiles
/// status             GQ_DEV_STATUS_ bits are ORed into it
///
/// Data and columnwise data are written 8 or 16 bytes at a time, transposed
/// columnwise data 4 to 16, where address and stride allow, else bytewise; so
/// are scales, but for floats, which are at multiples of 4.
///
/// Constants: `parts` what of all this there is (Launch.h), the rest is not
/// looked at; `format`, `recipe`, `scale_layout`,
/// `rows_mode` as in gq/Runtime/Types.h; `offset_bits` 32 or 64; `outer_kind`
/// and `columnwise_outer_kind` a gqOuterKind; `row_index_bits` 32 or 64, 0 if
/// there are no row indices; `held_type` GQ_BF16, GQ_F16 or GQ_F32, in which
/// the values of `load` are exact.
void gq_dev_grouped_block_quantize_tiles(
    gq_load16 *load, const void *inputs, int64_t rows, int64_t columns,
    const void GQ_GLOBAL *row_indices, int64_t source_rows,
    const void GQ_GLOBAL *offsets, int64_t num_offsets,
    const void GQ_GLOBAL *scale_offsets, const void GQ_GLOBAL *first_dims,
    const void GQ_GLOBAL *last_dims, int64_t groups,
    const float GQ_GLOBAL *outer, const float GQ_GLOBAL *columnwise_outer,
    uint8_t GQ_GLOBAL *data, int64_t data_stride, uint8_t GQ_GLOBAL *scales,
    int64_t scales_stride, int64_t scales_size,
    uint8_t GQ_GLOBAL *columnwise_data, int64_t columnwise_data_stride,
    int64_t columnwise_data_size, uint8_t GQ_GLOBAL *columnwise_scales,
    int64_t columnwise_scales_size, void GQ_GLOBAL *scale_offsets_out,
    void GQ_GLOBAL *workspace, uint32_t GQ_GLOBAL *status, int32_t parts,
    int32_t format, int32_t recipe, int32_t scale_layout, int32_t rows_mode,
    int32_t offset_bits, int32_t outer_kind, int32_t columnwise_outer_kind,
    int32_t row_index_bits, int32_t held_type);

/// What of amax and dbias is left to do: to be launched after the kernel above,
/// with CTAs of as many threads, if `parts` has one of them. Also groups that
/// are empty or skipped get theirs: 0.
///
/// workspace, rows, columns, groups, parts  as there
/// amax    [groups]
/// dbias   [groups, columns] of the constant `dbias_type`, GQ_BF16, GQ_F16 or
///         GQ_F32
void gq_dev_reduce_tiles(void GQ_GLOBAL *workspace, int64_t rows,
                         int64_t columns, int64_t groups, float GQ_GLOBAL *amax,
                         void GQ_GLOBAL *dbias, int32_t parts,
                         int32_t dbias_type);

#endif // GQ_KERNELS_KERNELS_TILES_H
