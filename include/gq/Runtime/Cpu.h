//===- Cpu.h - the gq ops on the CPU -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `convert-gq-to-runtime` calls, one function an op. The operands come as
// an array of gqBuffer in the order of the op's ODS arguments, which the
// structs below name; the attributes follow as integers.
//
// A function checks everything before it writes anything: extents that were
// dynamic in the IR, contiguity, overlap, the contents of offsets and row
// indices. On a failure it writes nothing and leaves a status for
// gqCpuStatus(). While a failure is pending it does nothing.
//
// What an op writes shares no byte with another of its operands; those that it
// only reads may overlap. Rows that lie in the gaps between those of another
// operand, as two ranges of columns of one matrix do, are apart.
//
// Offsets: `offsets` holds G+1 row starts (the last bounds the last group) or
// G starts (the last group runs to M). `scale_offsets` holds G row starts in
// the padded scale buffer. Both are i32 or i64. Valid offsets do not decrease
// and lie in [0, M]; valid scale offsets are multiples of 128, in increasing
// order without overlap (scale_offsets[e+1] >= scale_offsets[e] +
// up(rows_e, 128)), and every group's padded rows lie inside the buffer.
//
// Below, `block` is the format's blockColumns (gq/Runtime/Types.h). Data is i8
// for formats of 4 bits, [M, K / 2] for M * K elements, else of the format's
// dataType. Scales are of its scaleType. An absent operand is a null pointer of
// rank 0.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_CPU_H
#define GQ_RUNTIME_CPU_H

#include "gq/Runtime/Status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Operands of gq.block_quantize.
typedef struct gqBlockQuantizeOperands {
  /// [M, K] f32, bf16 or f16, inner stride 1.
  gqBuffer input;
  /// [] f32, or absent; nvfp4 only.
  gqBuffer globalScale;
  /// [M, K], inner stride 1.
  gqBuffer data;
  /// [M, K / block] or, for blocks of 128x128, [up(M, 128) / 128, K / 128];
  /// inner stride 1.
  gqBuffer scales;
} gqBlockQuantizeOperands;

/// Operands of gq.preprocess_grouped_matmul_sf.
typedef struct gqPreprocessGroupedMatmulSfOperands {
  /// [M, C] linear scales, inner stride 1.
  gqBuffer input;
  /// [G+1] or [G] i32 or i64, contiguous.
  gqBuffer offsets;
  /// [G] of the type of `offsets`, contiguous.
  gqBuffer scaleOffsets;
  /// [R, up(C, 4)] in tile128x4, contiguous.
  gqBuffer scales;
} gqPreprocessGroupedMatmulSfOperands;

/// Operands of gq.grouped_block_quantize. All but the rows of `input`, of
/// `data`, of `columnwiseData` and of linear `scales`, whose inner stride is 1,
/// are contiguous.
///
/// Groups of rows: `input` is [M, K]. Ragged groups, if there are `firstDims`
/// and `lastDims`: `input` is [N], `offsets` holds element starts, group e is a
/// row-major [m, K] matrix from element offsets[e] on, with m = firstDims[e]
/// and K = lastDims[e]. It ends at or before offsets[e+1]; elements in between
/// are left alone. K must be a multiple of the block, and the start of a group
/// that is not empty one of GQ_RAGGED_ALIGNMENT.
///
/// "Flat" is a buffer of rank 1 in which groups follow each other without a
/// gap; it may be longer. For a group of m rows, m32 is up(m, 32).
typedef struct gqGroupedBlockQuantizeOperands {
  /// [M, K], [N, K] with row indices, or [N], f32, bf16 or f16.
  gqBuffer input;
  /// [M] i32 or i64 in [0, N): row m is that of row rowIndices[m] of the input.
  /// Or absent. Not for ragged groups.
  gqBuffer rowIndices;
  /// [G+1] i32 or i64. With scale offsets also [G].
  gqBuffer offsets;
  /// [G] of the type of `offsets`: where groups begin in `scales`. Only with
  /// scales in tile128x4 of groups of rows. If absent, groups are packed:
  /// scale_offsets[e+1] = scale_offsets[e] + up(m, 128), beginning with 0.
  gqBuffer scaleOffsets;
  /// [G] of the type of `offsets`, both or none.
  gqBuffer firstDims, lastDims;
  /// [] or [G] f32, or absent; recipe nvfuser of nvfp4 only.
  gqBuffer globalScale;
  /// [] or [G] f32: the outer amax of the recipe te, which needs it.
  gqBuffer outerAmax;
  /// [] or [G] f32: the outer amax of the columnwise direction, if another.
  gqBuffer columnwiseOuterAmax;
  /// Rowwise data, [M, K] or [N]; or absent, as `scales` then is.
  gqBuffer data;
  /// In tile128x4 [R, up(K / block, 4)], or flat if ragged, m rounded up to
  /// 128 in each group. Linear [M, K / block], or flat if ragged; flat for
  /// blocks of 128x128, with [up(m, 128) / 128, K / 128] a group.
  gqBuffer scales;
  /// Columnwise data, or absent, as `columnwiseScales` then is. Where the
  /// format transposes flat, [K, m32] a group, elements of no row being zero;
  /// else as `data`.
  gqBuffer columnwiseData;
  /// Flat, [K, up(m32, block) / block] a group, or for blocks of 128x128 [K /
  /// 128, up(m32, 128) / 128]. In tile128x4 both are rounded up to whole tiles.
  gqBuffer columnwiseScales;
  /// [G] f32: the largest magnitude of each group, NaN dropped. Or absent.
  gqBuffer amax;
  /// [G, K] f32, bf16 or f16: the sum of each column of a group, in f32: sums
  /// of 128 rows, each in the order of the rows, added in order. Or absent. Not
  /// for ragged groups.
  gqBuffer dbias;
  /// [G] of the type of `offsets`: the scale offsets that were derived. Or
  /// absent. Only where `scaleOffsets` could be.
  gqBuffer scaleOffsetsOut;
} gqGroupedBlockQuantizeOperands;

/// Operands of gq.grouped_mm.
typedef struct gqGroupedMmOperands {
  /// [M, K/2] i8, inner stride 1.
  gqBuffer a;
  /// [G, N, K/2] i8, contiguous.
  gqBuffer b;
  /// [R, up(K/16, 4)] f8E4M3FN in tile128x4, contiguous.
  gqBuffer aScales;
  /// [G, up(N, 128), up(K/16, 4)] f8E4M3FN in tile128x4, contiguous.
  gqBuffer bScales;
  /// [G+1] or [G] i32 or i64, contiguous.
  gqBuffer offsets;
  /// [G] of the type of `offsets`, contiguous.
  gqBuffer scaleOffsets;
  /// [G] f32, or absent (all 1).
  gqBuffer alpha;
  /// [M, N] f32, bf16 or f16, inner stride 1.
  gqBuffer out;
} gqGroupedMmOperands;

/// Quantizes all rows; `scaleLayout` must be GQ_SCALE_LAYOUT_LINEAR.
GQ_EXPORT void gqCpuBlockQuantize(const gqBlockQuantizeOperands *operands,
                                  int32_t format, int32_t scaleLayout);

/// Copies the scales of each group into its tiles and zeroes the padding rows
/// and columns. `scaleLayout` (of the output) must be
/// GQ_SCALE_LAYOUT_TILE128X4.
GQ_EXPORT void gqCpuPreprocessGroupedMatmulSf(
    const gqPreprocessGroupedMatmulSfOperands *operands, int32_t format,
    int32_t scaleLayout);

/// Quantizes each group rowwise, columnwise or both, and lays out its scales.
/// `recipe` is a gqRecipe. `rows` is a gqRows: whether the rowwise data of rows
/// in no group is quantized too (not of ragged groups). With an outer scale or
/// amax a group, rows in no group are quantized without.
GQ_EXPORT void
gqCpuGroupedBlockQuantize(const gqGroupedBlockQuantizeOperands *operands,
                          int32_t format, int32_t recipe, int32_t scaleLayout,
                          int32_t rows);

/// out[i, n] = alpha[e] * sum_k deq(a)[i, k] * deq(b[e])[n, k] for the rows i
/// of each group e. Products are exact in float32; they are summed and scaled
/// in float64 and rounded once to the type of `out`. Rows in no group are left
/// alone.
GQ_EXPORT void gqCpuGroupedMm(const gqGroupedMmOperands *operands,
                              int32_t format, int32_t scaleLayout);

#ifdef __cplusplus
}
#endif

#endif // GQ_RUNTIME_CPU_H
