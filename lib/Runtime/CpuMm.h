//===- CpuMm.h - products of quantized matrices on the CPU -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops share how two matrices of codes are multiplied: tile by tile
// (cpu/Product.h), in float64.
//
// A dequantized element is exact in float64: 4 significant bits times 24, at
// most 448 * 2^127. Products are too, but for those of two float32 scales, and
// so are the sums of nvfp4 below 2^33, since its products are multiples of
// 2^-20. Else each addition rounds; the order is that of K. An exact product
// may be fused with its addition, which changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUMM_H
#define GQ_LIB_RUNTIME_CPUMM_H

#include "CpuCheck.h"

#include "gq/Runtime/Types.h"

enum {
  GQ_CPU_MM_ROWS = 128,
  /// Twice as many, so that the first operand is dequantized half as often.
  GQ_CPU_MM_COLUMNS = 256,
  /// Of K at a time.
  GQ_CPU_MM_DEPTH = 128,
};

/// What a product of two elements costs, compared with an element that is
/// quantized.
#define GQ_CPU_MM_COST 0.25

/// A matrix [rows, K] of codes and its scales. The last block of a row may be
/// cut off.
typedef struct gqCpuMmMatrix {
  gqFormat format;
  /// Of the codes in memory; without a format it says what they are.
  gqElementType type;
  /// Row 0.
  const uint8_t *data;
  /// Bytes from row to row, or if `transposed` from column to column, whose
  /// elements are then next to each other.
  int64_t stride;
  bool transposed;
  /// Those of row 0, at the start of a tile in tile128x4. Not read without a
  /// format.
  const void *scales;
  /// Scales from row to row of them; in tile128x4 the padded columns.
  int64_t scaleStride;
} gqCpuMmMatrix;

/// Room for a tile of the product and for what it is computed in: a panel of
/// either operand.
typedef struct gqCpuMmTile {
  double a[GQ_CPU_MM_ROWS][GQ_CPU_MM_DEPTH];
  double b[GQ_CPU_MM_COLUMNS * GQ_CPU_MM_DEPTH];
  double sums[GQ_CPU_MM_ROWS][GQ_CPU_MM_COLUMNS];
} gqCpuMmTile;

/// One for each thread. Null, and a failure, if there is no memory.
gqCpuMmTile *gqCpuMmTilesNew(gqCpuOp *op, int32_t numThreads);
void gqCpuMmTilesFree(gqCpuMmTile *tiles);
gqCpuMmTile *gqCpuMmTileOf(gqCpuMmTile *tiles, int32_t thread);

/// The sums over k < `depth` of a[row + i, k] * b[column + j, k] for i < rows
/// and j < columns, which are at most GQ_CPU_MM_ROWS and GQ_CPU_MM_COLUMNS. The
/// result is that of row 0, GQ_CPU_MM_COLUMNS from row to row; those beyond are
/// of no meaning.
const double *gqCpuMmSum(const gqCpuMmMatrix *a, int64_t row, int64_t rows,
                         const gqCpuMmMatrix *b, int64_t column,
                         int64_t columns, int64_t depth, gqCpuMmTile *tile);

/// What an operand of a matmul can be of: a format, or none.
typedef struct gqCpuMmSide {
  gqFormat format;
  gqFormatTraits traits;
  /// A set of element types.
  int32_t types;
  /// Whether scales are in tile128x4.
  bool tiled;
} gqCpuMmSide;

gqCpuMmSide gqCpuMmSideOf(int32_t format);

/// Checks formats of two operands that are multiplied, and the layout of their
/// scales.
bool gqCpuMmCheckFormats(gqCpuOp *op, int32_t format, int32_t bFormat,
                         int32_t scaleLayout);

/// Checks that an operand is there if it is `required`, else not; `condition`
/// says when, for the message.
bool gqCpuMmCheckPresence(gqCpuOp *op, const char *name, const gqBuffer *buffer,
                          bool required, const char *condition);

/// Checks that both scales are there if there is a format, else not.
bool gqCpuMmCheckScalePresence(gqCpuOp *op, const gqBuffer *aScales,
                               const gqBuffer *bScales, gqFormat format);

/// Stores `value` as element `index` of a row of `type`, f32, bf16 or f16,
/// rounded once.
void gqCpuMmStore(double value, gqElementType type, void *row, int64_t index);

#endif // GQ_LIB_RUNTIME_CPUMM_H
