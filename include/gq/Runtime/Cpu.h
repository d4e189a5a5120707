//===- Cpu.h - the gq ops on the CPU -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `convert-gq-to-runtime` calls, one function per op. The operands are an
// array of gqBuffer in the order of the op's ODS arguments, which the structs
// below name; the attributes follow as integers.
//
// A function checks everything before it writes anything: extents that were
// dynamic in the IR, contiguity, overlap, the contents of offsets and row
// indices. On failure it writes nothing and leaves a status for gqCpuStatus().
// While a failure is pending it does nothing.
//
// Large ops run on all cores, in the threads of OpenMP's runtime if the process
// or the system has one: OMP_NUM_THREADS and the like apply. Loops use AVX2 or
// AVX-512 if the machine has them; GQ_CPU_ISA in the environment (baseline,
// avx2, avx512), read when it is first needed, chooses a lesser one. The bytes
// are the same for any number of threads and any instruction set.
//
// What an op writes must not share a byte with any other of its operands; those
// that it only reads may overlap. Rows that lie in the gaps between those of
// another operand, as two ranges of columns of one matrix do, do not overlap.
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

#include "gq/Runtime/Directions.h"
#include "gq/Runtime/Status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What ops on the CPU use, for reports.
typedef struct gqCpuInfo {
  /// "baseline", "avx2" or "avx512".
  const char *isa;
  /// Of a large op that this thread calls.
  int32_t numThreads;
} gqCpuInfo;

GQ_EXPORT void gqGetCpuInfo(gqCpuInfo *info);

// gq<Op>Operands: the operands of each op, one gqBuffer for each row of
// gq/Runtime/Ops.def, which says what they hold.
#define GQ_BEGIN_OPERANDS(OP, UPPER) typedef struct gq##OP##Operands {
#define GQ_OPERAND(OP, UPPER, NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  gqBuffer FIELD;
#define GQ_END_OPERANDS(OP, UPPER)                                             \
  }                                                                            \
  gq##OP##Operands;
#include "gq/Runtime/Ops.def"

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
/// in no group is quantized too (not with ragged groups). With an outer scale
/// or amax per group, rows in no group are quantized without. `rowwise` and
/// `columnwise` are the results of gqDirectionPack() (gq/Runtime/Directions.h),
/// 0 for the default.
GQ_EXPORT void
gqCpuGroupedBlockQuantize(const gqGroupedBlockQuantizeOperands *operands,
                          int32_t format, int32_t recipe, int32_t scaleLayout,
                          int32_t rows, int32_t rowwise, int32_t columnwise);

/// The largest magnitudes of groups, rows and columns. `rows` is a gqRows:
/// whether rows in no group have one too. `columnwise` is the result of
/// gqDirectionPack() for the transform of columns, 0 if there is none.
GQ_EXPORT void gqCpuGroupedAmax(const gqGroupedAmaxOperands *operands,
                                int32_t rows, int32_t columnwise);

/// Quantizes each group with its scale, rowwise, columnwise or both. `format`
/// is one with a single scale, `rows` a gqRows; rows in no group have the scale
/// 1 if scales are per group. Operands for blocks are absent, and so is either
/// `scale` or `outerAmax`.
GQ_EXPORT void gqCpuGroupedQuantize(const gqGroupedQuantizeOperands *operands,
                                    int32_t format, int32_t rows);

/// history = [amax, all but the last of history]; scale[e] = max/a * 2^-margin,
/// at most the largest finite float32, where a, the largest of history[:, e] or
/// amax[e] as `amaxAlgo`, a gqAmaxAlgo, says, is positive and finite. `format`
/// is one with a single scale, `margin` lies in [0, 126].
GQ_EXPORT void gqCpuUpdateScales(const gqUpdateScalesOperands *operands,
                                 int32_t format, int32_t amaxAlgo,
                                 int32_t margin);

/// offsets[e] = counts[0] + ... + counts[e-1], and scaleOffsets[e] likewise, of
/// counts rounded up to 128. A negative count and a sum that does not fit its
/// type are GQ_INVALID_OFFSETS.
GQ_EXPORT void gqCpuGroupOffsets(const gqGroupOffsetsOperands *operands);

/// out[i, n] = factor * sum_k deq(a)[i, k] * deq(b[e])[n, k] + bias[e, n] with
/// factor = alpha[e] * row_scales[i] * column_scales[e, n] for the rows i of
/// each group e; absent operands are left out. Computed in float64, in the
/// order of k, and rounded once to the type of `out`. Rows in no group are left
/// alone. `format` is that of `a` and `bFormat` that of `b`, with one scale
/// rule, or both are GQ_FORMAT_NONE: then there are no scales. Where those are
/// f32, `scaleLayout` must be GQ_SCALE_LAYOUT_LINEAR, else
/// GQ_SCALE_LAYOUT_TILE128X4. `bMajor` is a gqMajor; GQ_MAJOR_N is for a
/// `bFormat` that does not transpose.
GQ_EXPORT void gqCpuGroupedMm(const gqGroupedMmOperands *operands,
                              int32_t format, int32_t bFormat,
                              int32_t scaleLayout, int32_t bMajor);

/// out[e, n, k] = alpha[e] * sum_i deq(a)[i, n] * deq(b)[i, k] over the rows i
/// of each group e, 0 for an empty one; without `alpha` the factor is 1.
/// Computed in float64, in the order of i, and rounded once to the type of
/// `out`. The attributes are those of gqCpuGroupedMm().
GQ_EXPORT void gqCpuGroupedWgrad(const gqGroupedWgradOperands *operands,
                                 int32_t format, int32_t bFormat,
                                 int32_t scaleLayout);

/// out = code * d, in float32: d is what the scale of the code's block stands
/// for. With a global scale g, the product is divided by g. Rounded to the type
/// of `out`; NaN is 0x7FFFFFFF, 0x7FFF in 16 bits, as on GPUs. `scaleLayout`
/// must be GQ_SCALE_LAYOUT_LINEAR.
GQ_EXPORT void gqCpuBlockDequantize(const gqBlockDequantizeOperands *operands,
                                    int32_t format, int32_t scaleLayout);

/// The same for each group. With the recipe te and an outer amax a it is code *
/// (d * a * (1 / (6 * scaleMax))), where 0 stands for 448; without a format,
/// GQ_FORMAT_NONE, code * scale_inv. Rows and elements in no group are left
/// alone. `axis` is a gqAxis, `outer` a gqOuter, `scaleMax` a gqScaleMax.
GQ_EXPORT void
gqCpuGroupedDequantize(const gqGroupedDequantizeOperands *operands,
                       int32_t format, int32_t recipe, int32_t scaleLayout,
                       int32_t axis, int32_t outer, int32_t scaleMax);

#ifdef __cplusplus
}
#endif

#endif // GQ_RUNTIME_CPU_H
