//===- CpuQuantize.h - quantizing a matrix on the CPU ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gq.block_quantize is one matrix, gq.grouped_block_quantize one per group.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUQUANTIZE_H
#define GQ_LIB_RUNTIME_CPUQUANTIZE_H

#include "CpuGroups.h"
#include "CpuTiles.h"

/// Where a direction's codes and scales go, or the numbers that they stand for.
typedef struct gqCpuDirection {
  /// [rows, K] f32, bf16 or f16; absent if codes and scales are wanted.
  gqBuffer numbers;
  /// Null if codes are not wanted.
  uint8_t *data;
  /// In bytes, from row to row of the data as stored.
  int64_t stride;
  /// Null if the scales are not wanted.
  uint8_t *scales;
  /// The number of scales from row to row; in tile128x4 the padded columns.
  int64_t scaleStride;
  /// Of the matrix.
  gqCpuTileDirection how;
} gqCpuDirection;

/// How a matrix is quantized, and its outputs.
typedef struct gqCpuQuantization {
  gqCpuMethod method;
  int64_t rows;
  /// [rows, K] f32, bf16 or f16; K is a multiple of the block.
  gqBuffer input;
  /// [rows] i32 or i64, contiguous, or absent: row r is row rowIndices[r] of
  /// the input, which then has another number of rows.
  gqBuffer rowIndices;
  gqCpuDirection rowwise, columnwise;
  /// The largest magnitude of the matrix; null if not wanted.
  float *amax;
} gqCpuQuantization;

/// Does a job of it, of at most GQ_CPU_JOB_COLUMNS columns. The largest
/// magnitude is raised, and so has to be 0 before.
void gqCpuQuantize(const gqCpuQuantization *quantization, const gqCpuJob *job);

/// Largest magnitudes of a matrix: of all of it, of each row, and after the
/// transform of columns, if there is one, of all of it and of each column. Null
/// if not wanted; `columnwise` is null without a transform.
typedef struct gqCpuAmaxes {
  float *amax, *rows, *columnwise, *columns;
  gqTransform transform;
  uint32_t signs;
} gqCpuAmaxes;

/// Makes those of `rows` by `columns` 0.
void gqCpuClearAmaxes(int64_t rows, int64_t columns, gqCpuAmaxes amaxes);

/// Raises them to those of a job's part of `input`, of at most
/// GQ_CPU_JOB_COLUMNS columns, which `rowIndices` may gather, as those of
/// gqCpuQuantization.
void gqCpuMeasure(const gqBuffer *input, const gqBuffer *rowIndices,
                  const gqCpuJob *job, gqCpuAmaxes amaxes);

/// Stores the sums of a job's columns, at most GQ_CPU_JOB_COLUMNS, to `out`,
/// [K] f32, bf16 or f16. The job has all rows of `input`, which `rowIndices`
/// may gather.
void gqCpuSumColumns(const gqBuffer *input, const gqBuffer *rowIndices,
                     const gqCpuJob *job, const gqBuffer *out);

/// The extents of the scales of a matrix of `rows` by `columns` in one
/// direction: a row of scales for each row of blocks or, columnwise, for each
/// column of blocks.
typedef struct gqCpuScaleExtents {
  int64_t rows, columns;
} gqCpuScaleExtents;
gqCpuScaleExtents gqCpuGetScaleExtents(gqFormat format, bool columnwise,
                                       int64_t rows, int64_t columns);

#endif // GQ_LIB_RUNTIME_CPUQUANTIZE_H
