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
// dynamic in the IR, contiguity, the contents of offsets and row indices. On a
// failure it writes nothing and leaves a status for gqCpuStatus(). While a
// failure is pending it does nothing.
//
// Offsets: `offsets` holds G+1 row starts (the last bounds the last group) or
// G starts (the last group runs to M). `scale_offsets` holds G row starts in
// the padded scale buffer. Both are i32 or i64. Valid offsets do not decrease
// and lie in [0, M]; valid scale offsets are multiples of 128, in increasing
// order without overlap (scale_offsets[e+1] >= scale_offsets[e] +
// up(rows_e, 128)), and every group's padded rows lie inside the buffer.
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
  /// [] f32, or absent.
  gqBuffer globalScale;
  /// [M, K/2] i8, inner stride 1.
  gqBuffer data;
  /// [M, K/16] f8E4M3FN, inner stride 1.
  gqBuffer scales;
} gqBlockQuantizeOperands;

/// Operands of gq.preprocess_grouped_matmul_sf.
typedef struct gqPreprocessGroupedMatmulSfOperands {
  /// [M, C] f8E4M3FN linear scales, inner stride 1.
  gqBuffer input;
  /// [G+1] or [G] i32 or i64, contiguous.
  gqBuffer offsets;
  /// [G] of the type of `offsets`, contiguous.
  gqBuffer scaleOffsets;
  /// [R, up(C, 4)] f8E4M3FN in tile128x4, contiguous.
  gqBuffer scales;
} gqPreprocessGroupedMatmulSfOperands;

/// Operands of gq.grouped_block_quantize.
typedef struct gqGroupedBlockQuantizeOperands {
  /// [M, K], or [N, K] with row indices, f32, bf16 or f16, inner stride 1.
  gqBuffer input;
  /// [M] i32 or i64 in [0, N), contiguous: row m is that of row rowIndices[m]
  /// of the input. Or absent.
  gqBuffer rowIndices;
  /// [G+1] or [G] i32 or i64, contiguous.
  gqBuffer offsets;
  /// [G] of the type of `offsets`, contiguous.
  gqBuffer scaleOffsets;
  /// [] or [G] f32, or absent.
  gqBuffer globalScale;
  /// [M, K/2] i8, inner stride 1.
  gqBuffer data;
  /// [R, up(K/16, 4)] f8E4M3FN in tile128x4, contiguous.
  gqBuffer scales;
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

/// Both of the above in one pass. `rows` is a gqRows: whether the data of rows
/// in no group is quantized too. With a global scale a group, rows in no group
/// are quantized without a global scale.
GQ_EXPORT void
gqCpuGroupedBlockQuantize(const gqGroupedBlockQuantizeOperands *operands,
                          int32_t format, int32_t scaleLayout, int32_t rows);

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
