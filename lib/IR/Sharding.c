//===- Sharding.c - what of an op can be on several devices -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sharding.h"
#include "Checks.h"
#include "OpInfo.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

/// No dimension.
enum { NONE = -1 };

/// The dimensions of an operand that the shared loops go along.
typedef struct Dims {
  intptr_t rows, columns;
} Dims;

static const Dims WHOLE = {NONE, NONE};

static bool isAbsent(MlirOperation op, intptr_t position) {
  return mlirValueIsNull(gqOperandAt(op, position));
}

/// Columns of an extent can be split where no block and no tile has padding.
/// That the parts cut none, the verifier checks.
static intptr_t columnsIf(bool canSplit, int64_t extent, int64_t unit,
                          intptr_t dim) {
  return canSplit && extent > 0 && extent % unit == 0 ? dim : (intptr_t)NONE;
}

/// gq.block_quantize and gq.block_dequantize: each row and each block of it.
static Dims ofBlocks(gqFormat format, MlirValue data, MlirValue value) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  if (mlirShapedTypeGetRank(mlirValueGetType(value)) != 2)
    return WHOLE;
  return (Dims){traits.blockRows == 1 ? 0 : NONE,
                columnsIf(true, gqDataColumns(data), traits.blockColumns, 1)};
}

/// The dimension of an input that k goes along.
static intptr_t columnsOfInput(MlirOperation op, intptr_t input) {
  MlirAttribute maps = gqGetAttribute(op, "maps");
  if (mlirAttributeIsNull(maps))
    return 1;
  MlirAffineMap map =
      mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, input));
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); ++i) {
    MlirAffineExpr result = mlirAffineMapGetResult(map, i);
    if (mlirAffineExprIsADim(result) &&
        mlirAffineDimExprGetPosition(result) == 1)
      return i;
  }
  return NONE;
}

/// gq.grouped_block_quantize of rows with linear scales: columns, where nothing
/// else is computed from a whole row or counts its elements. Columns of tiles
/// are not columns in memory, which upstream's ops would gather.
static Dims ofGroups(MlirOperation op, intptr_t position, intptr_t number) {
  MlirValue data = gqOperandAt(op, GQ_GROUPED_BLOCK_QUANTIZE_data);
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  gqFormatTraits traits = gqFormatGetTraits(desc.format);
  bool canSplit = traits.blockRows == 1 && !mlirValueIsNull(data) &&
                  desc.scaleLayout == GQ_SCALE_LAYOUT_LINEAR &&
                  isAbsent(op, GQ_GROUPED_BLOCK_QUANTIZE_rng_state) &&
                  isAbsent(op, GQ_GROUPED_BLOCK_QUANTIZE_columnwise_data) &&
                  isAbsent(op, GQ_GROUPED_BLOCK_QUANTIZE_amax) &&
                  isAbsent(op, GQ_GROUPED_BLOCK_QUANTIZE_row_amax);
  intptr_t dim = NONE;
  switch (position) {
  case GQ_GROUPED_BLOCK_QUANTIZE_inputs:
    dim = columnsOfInput(op, number);
    break;
  case GQ_GROUPED_BLOCK_QUANTIZE_data:
  case GQ_GROUPED_BLOCK_QUANTIZE_scales:
  case GQ_GROUPED_BLOCK_QUANTIZE_dbias:
    dim = 1;
  }
  return (Dims){NONE, columnsIf(canSplit, canSplit ? gqDataColumns(data) : 0,
                                traits.blockColumns, dim)};
}

/// gq.grouped_mm: the columns of the result, N.
static Dims ofMatmul(MlirOperation op, intptr_t position) {
  gqGroupedMm desc = gqGroupedMmGet(op);
  bool majorN = desc.bMajor == GQ_MAJOR_N;
  bool scaled = desc.format != GQ_FORMAT_NONE;
  int64_t unit = scaled ? gqFormatGetTraits(desc.bFormat).blockRows : 1;
  if (scaled && desc.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4)
    unit = 128; // Rows of tiles are rows in memory.
  int64_t columns = majorN ? gqDataColumns(desc.b) : gqDim(desc.b, 1);
  intptr_t dim = NONE;
  switch (position) {
  case GQ_GROUPED_MM_b:
    dim = majorN ? 2 : 1;
    break;
  case GQ_GROUPED_MM_b_scales:
  case GQ_GROUPED_MM_column_scales:
  case GQ_GROUPED_MM_bias:
  case GQ_GROUPED_MM_out:
    dim = 1;
  }
  return (Dims){NONE, columnsIf(gqGroupedMmGetPairs(op) != GQ_PAIRS_HALVES,
                                columns, unit, dim)};
}

/// The position in the op's list of the operand with a number, and which one it
/// is of a variadic one.
static intptr_t positionOf(MlirOperation op, intptr_t *number) {
  intptr_t position = 0;
  for (intptr_t count; *number >= (count = gqNumOperandsAt(op, position));
       ++position)
    *number -= count;
  return position;
}

static Dims dimsOf(MlirOperation op, intptr_t number) {
  const gqOpInfo *info = gqOpInfoOf(op);
  MlirValue value = mlirOperationGetOperand(op, number);
  intptr_t position = positionOf(op, &number);
  if (info == &gqBlockQuantizeInfo) {
    gqBlockQuantize desc = gqBlockQuantizeGet(op);
    return ofBlocks(desc.format, desc.data, value);
  }
  if (info == &gqBlockDequantizeInfo) {
    gqBlockDequantize desc = gqBlockDequantizeGet(op);
    return ofBlocks(desc.format, desc.data, value);
  }
  if (info == &gqGroupedBlockQuantizeInfo)
    return ofGroups(op, position, number);
  if (info == &gqGroupedMmInfo)
    return ofMatmul(op, position);
  return WHOLE;
}

/// The dimensions of all operands before one.
static intptr_t numDimsBefore(MlirOperation op, intptr_t operand) {
  intptr_t dims = 0;
  for (intptr_t i = 0; i < operand; ++i)
    dims +=
        mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(op, i)));
  return dims;
}

intptr_t gqNumLoops(MlirOperation op) {
  return GQ_NUM_SHARED_LOOPS +
         numDimsBefore(op, mlirOperationGetNumOperands(op));
}

intptr_t gqLoopOf(MlirOperation op, intptr_t operand, intptr_t dim) {
  Dims dims = dimsOf(op, operand);
  if (dim == dims.rows)
    return GQ_LOOP_ROWS;
  if (dim == dims.columns)
    return GQ_LOOP_COLUMNS;
  return GQ_NUM_SHARED_LOOPS + numDimsBefore(op, operand) + dim;
}
