//===- GpuOperands.c - what a launch asks of its operands --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuOperands.h"

#include "../IR/Checks.h"
#include "../IR/GroupedBlockQuantize.h"
#include "../IR/OpInfo.h"
#include "Functions.h"

#include "gq-c/Dialect.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// The op whose operands are checked, and its number in Ops.def.
typedef struct Check {
  const gqBuilder *builder;
  MlirOperation operation;
  int64_t op;
  /// An operand that has no memory, and about which nothing is asked; or null.
  MlirValue product;
} Check;

/// An extent of the op: that of a dimension of one of its operands, the source,
/// less `less`, times the elements that an entry is.
typedef struct Extent {
  MlirValue source;
  intptr_t dim;
  int64_t factor, less;
} Extent;

static bool isProduct(const Check *c, MlirValue value) {
  return !mlirValueIsNull(c->product) && mlirValueEqual(c->product, value);
}

static MlirValue buildI64(const Check *c, int64_t value) {
  return gqBuildConstant(c->builder,
                         mlirIntegerTypeGet(c->builder->context, 64), value);
}

static MlirValue buildBinary(const Check *c, const char *name, MlirValue a,
                             int64_t b) {
  MlirValue both[] = {a, buildI64(c, b)};
  return gqBuildValue(c->builder, name, 2, both, mlirValueGetType(a));
}

static MlirValue buildDim(const Check *c, MlirValue buffer, intptr_t dim) {
  return gqBuildBufferValues(c->builder, buffer).sizes[dim];
}

static MlirValue buildExtent(const Check *c, Extent extent) {
  MlirValue value = buildDim(c, extent.source, extent.dim);
  if (extent.less)
    value = buildBinary(c, "arith.subi", value, extent.less);
  return extent.factor == 1
             ? value
             : buildBinary(c, "arith.muli", value, extent.factor);
}

/// Requires dimension `dim` of an operand to be `extent`, an i64, divided by
/// `divisor` and rounded up, and then rounded up to a multiple of `multiple`.
static void buildCheck(const Check *c, int64_t operand, MlirValue buffer,
                       intptr_t dim, MlirValue extent, int64_t divisor,
                       int64_t multiple) {
  MlirValue arguments[] = {buildI64(c, c->op),
                           buildI64(c, operand),
                           buildI64(c, dim),
                           buildDim(c, buffer, dim),
                           extent,
                           buildI64(c, divisor),
                           buildI64(c, multiple)};
  gqBuildCall(c->builder, "gqLaunchExtent", 7, arguments, 0, NULL);
}

/// The same if the verifier could not check it. Absent operands and dimensions
/// pass.
static void askRounded(const Check *c, int64_t operand, MlirValue buffer,
                       intptr_t dim, Extent extent, int64_t divisor,
                       int64_t multiple) {
  if (mlirValueIsNull(buffer) || isProduct(c, buffer) ||
      isProduct(c, extent.source) ||
      dim >= mlirShapedTypeGetRank(mlirValueGetType(buffer)))
    return;
  bool same = mlirValueEqual(buffer, extent.source) && dim == extent.dim;
  if (!same && (gqDim(buffer, dim) == GQ_DYNAMIC ||
                gqDim(extent.source, extent.dim) == GQ_DYNAMIC))
    buildCheck(c, operand, buffer, dim, buildExtent(c, extent), divisor,
               multiple);
}

static void ask(const Check *c, int64_t operand, MlirValue buffer, intptr_t dim,
                Extent extent) {
  askRounded(c, operand, buffer, dim, extent, 1, 1);
}

/// The number of an operand; that of the first one if it is one of several.
static int64_t operandOf(const Check *c, MlirValue value) {
  for (intptr_t i = gqOpInfoOf(c->operation)->numOperands - 1; i > 0; --i)
    if (mlirValueEqual(gqOperandAt(c->operation, i), value))
      return i;
  return 0;
}

/// Requires the dimension that gives the number of columns to be positive and a
/// multiple of the entries of a block.
static void askBlocks(const Check *c, Extent columns, int64_t block) {
  if (gqDim(columns.source, columns.dim) != GQ_DYNAMIC)
    return;
  MlirValue entries = buildDim(c, columns.source, columns.dim);
  buildCheck(c, operandOf(c, columns.source), columns.source, columns.dim,
             buildBinary(c, "arith.maxsi", entries, 1), 1,
             block / columns.factor);
}

/// Requires scales in tiles to be whole tiles.
static void askTiles(const Check *c, int64_t operand, MlirValue scales,
                     Extent columns, int64_t block) {
  if (gqDim(scales, 0) == GQ_DYNAMIC)
    buildCheck(c, operand, scales, 0, buildDim(c, scales, 0), 1, 128);
  askRounded(c, operand, scales, 1, columns, block, 4);
}

/// How many elements an entry of `data` is.
static int64_t elementsOf(MlirValue data) {
  return mlirTypeIsAInteger(
             mlirShapedTypeGetElementType(mlirValueGetType(data)))
             ? 2
             : 1;
}

/// Data of [rows, columns] elements.
static void askData(const Check *c, int64_t operand, MlirValue data,
                    Extent rows, Extent columns) {
  if (mlirValueIsNull(data))
    return;
  ask(c, operand, data, 0, rows);
  askRounded(c, operand, data, 1, columns, elementsOf(data), 1);
}

static void askOfBlockQuantize(const Check *c, MlirOperation op) {
  gqBlockQuantize desc = gqBlockQuantizeGet(op);
  gqFormatTraits traits = gqFormatGetTraits(desc.format);
  Extent rows = {desc.data, 0, 1, 0};
  Extent columns = {desc.data, 1, elementsOf(desc.data), 0};
  askBlocks(c, columns, traits.blockColumns);
  askData(c, GQ_BLOCK_QUANTIZE_input, desc.input, rows, columns);
  askRounded(c, GQ_BLOCK_QUANTIZE_scales, desc.scales, 0, rows,
             traits.blockRows, 1);
  askRounded(c, GQ_BLOCK_QUANTIZE_scales, desc.scales, 1, columns,
             traits.blockColumns, 1);
}

static void askOfPreprocess(const Check *c, MlirOperation op) {
  gqPreprocessGroupedMatmulSf desc = gqPreprocessGroupedMatmulSfGet(op);
  Extent columns = {desc.input, 1, 1, 0};
  askBlocks(c, columns, 1);
  askTiles(c, GQ_PREPROCESS_GROUPED_MATMUL_SF_scales, desc.scales, columns, 1);
}

/// G.
static Extent groupsOf(MlirValue offsets, MlirValue scaleOffsets) {
  return mlirValueIsNull(scaleOffsets) ? (Extent){offsets, 0, 1, 1}
                                       : (Extent){scaleOffsets, 0, 1, 0};
}

/// The scales of both matrices of a matmul, where it has them.
static void askMmScales(const Check *c, const gqGroupedMm *desc, Extent rows,
                        Extent outColumns, Extent columns) {
  int64_t block = gqFormatGetTraits(desc->format).blockColumns;
  bool tiled = desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4;
  MlirValue a = desc->aScales, b = desc->bScales;
  if (mlirValueIsNull(a))
    return;
  if (tiled) {
    askTiles(c, GQ_GROUPED_MM_a_scales, a, columns, block);
  } else {
    ask(c, GQ_GROUPED_MM_a_scales, a, 0, rows);
    askRounded(c, GQ_GROUPED_MM_a_scales, a, 1, columns, block, 1);
  }
  askRounded(c, GQ_GROUPED_MM_b_scales, b, 1, outColumns,
             tiled ? 1 : gqFormatGetTraits(desc->bFormat).blockRows,
             tiled ? 128 : 1);
  askRounded(c, GQ_GROUPED_MM_b_scales, b, 2, columns, block, tiled ? 4 : 1);
}

static void askOfGroupedMm(const Check *c, MlirOperation op) {
  gqGroupedMm desc = gqGroupedMmGet(op);
  int64_t block = gqFormatGetTraits(desc.format).blockColumns;
  Extent rows = {desc.a, 0, 1, 0}, outer = {desc.b, 1, 1, 0};
  Extent inner = {desc.b, 2, elementsOf(desc.b), 0};
  Extent columns = desc.bMajor == GQ_MAJOR_K ? inner : outer;
  Extent outColumns = desc.bMajor == GQ_MAJOR_K ? outer : inner;
  Extent groups = groupsOf(desc.offsets, desc.scaleOffsets);
  const struct {
    intptr_t operand;
    MlirValue value;
  } perGroup[] = {{GQ_GROUPED_MM_b, desc.b},
                  {GQ_GROUPED_MM_b_scales, desc.bScales},
                  {GQ_GROUPED_MM_alpha, desc.alpha},
                  {GQ_GROUPED_MM_column_scales, desc.columnScales},
                  {GQ_GROUPED_MM_bias, desc.bias}};
  for (size_t i = 0; i < sizeof(perGroup) / sizeof(*perGroup); ++i)
    ask(c, perGroup[i].operand, perGroup[i].value, 0, groups);
  askBlocks(c, columns, block);
  askData(c, GQ_GROUPED_MM_a, desc.a, rows, columns);
  askMmScales(c, &desc, rows, outColumns, columns);
  ask(c, GQ_GROUPED_MM_row_scales, desc.rowScales, 0, rows);
  ask(c, GQ_GROUPED_MM_column_scales, desc.columnScales, 1, outColumns);
  ask(c, GQ_GROUPED_MM_bias, desc.bias, 1, outColumns);
  ask(c, GQ_GROUPED_MM_out, desc.out, 0, rows);
  if (gqGroupedMmGetPairs(op) == GQ_PAIRS_NONE)
    ask(c, GQ_GROUPED_MM_out, desc.out, 1, outColumns);
  else // N is even.
    askRounded(c, GQ_GROUPED_MM_b, desc.b, outColumns.dim,
               (Extent){desc.out, 1, 2, 0}, outColumns.factor, 1);
}

/// Inputs have the extents that their maps ask for, without maps M and K.
static void askInputs(const Check *c, const gqGroupedBlockQuantize *desc,
                      Extent rows, Extent columns) {
  const Extent extents[] = {rows, columns};
  if (mlirAttributeIsNull(desc->maps)) {
    if (mlirValueIsNull(desc->rowIndices))
      ask(c, GQ_GROUPED_BLOCK_QUANTIZE_inputs, desc->inputs[0], 0, rows);
    ask(c, GQ_GROUPED_BLOCK_QUANTIZE_inputs, desc->inputs[0], 1, columns);
    return;
  }
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    MlirAffineMap map =
        mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, i));
    for (intptr_t dim = 0; dim < mlirAffineMapGetNumResults(map); ++dim) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, dim);
      if (mlirAffineExprIsADim(expr))
        ask(c, GQ_GROUPED_BLOCK_QUANTIZE_inputs, desc->inputs[i], dim,
            extents[mlirAffineDimExprGetPosition(expr)]);
    }
  }
}

static void askPerGroup(const Check *c, MlirOperation op, Extent groups) {
  static const intptr_t perGroup[] = {
      GQ_GROUPED_BLOCK_QUANTIZE_first_dims,
      GQ_GROUPED_BLOCK_QUANTIZE_last_dims,
      GQ_GROUPED_BLOCK_QUANTIZE_global_scale,
      GQ_GROUPED_BLOCK_QUANTIZE_columnwise_outer_amax,
      GQ_GROUPED_BLOCK_QUANTIZE_scale,
      GQ_GROUPED_BLOCK_QUANTIZE_amax,
      GQ_GROUPED_BLOCK_QUANTIZE_dbias,
      GQ_GROUPED_BLOCK_QUANTIZE_scale_offsets_out,
      GQ_GROUPED_BLOCK_QUANTIZE_scale_inv,
  };
  for (size_t i = 0; i < sizeof(perGroup) / sizeof(*perGroup); ++i)
    ask(c, perGroup[i], gqOperandAt(op, perGroup[i]), 0, groups);
}

static Extent findExtent(const gqGroupedBlockQuantize *desc, intptr_t dim) {
  Extent extent = {.factor = 1};
  extent.source = gqGroupedBlockQuantizeFindExtent(desc, dim, &extent.dim);
  if (dim == 1)
    extent.factor = elementsOf(extent.source);
  return extent;
}

/// `columnwise_data`, where it has the shape of the input.
static MlirValue shapedColumns(const gqGroupedBlockQuantize *desc) {
  return gqFormatGetTraits(desc->format).transposes &&
                 !gqHoldsNumbers(&desc->columnwise)
             ? (MlirValue){NULL}
             : desc->columnwise.data;
}

/// Outer amaxes of rows are M, those of groups G, of columns also K.
static void askOuter(const Check *c, const gqGroupedBlockQuantize *desc,
                     Extent groups) {
  bool ofRow = gqDirectionGetTraits(&desc->rowwise).outer == GQ_OUTER_OF_ROW;
  ask(c, GQ_GROUPED_BLOCK_QUANTIZE_outer_amax, desc->rowwise.outerAmax, 0,
      ofRow ? findExtent(desc, 0) : groups);
  if (!gqIsRagged(desc))
    ask(c, GQ_GROUPED_BLOCK_QUANTIZE_columnwise_outer_amax,
        desc->columnwise.outerAmax, 1, findExtent(desc, 1));
}

static void askOfRows(const Check *c, const gqGroupedBlockQuantize *desc) {
  gqFormatTraits traits = gqFormatGetTraits(desc->format);
  MlirValue scales = desc->rowwise.scales;
  Extent rows = findExtent(desc, 0), columns = findExtent(desc, 1);
  askBlocks(c, columns, traits.blockColumns);
  askInputs(c, desc, rows, columns);
  ask(c, GQ_GROUPED_BLOCK_QUANTIZE_row_indices, desc->rowIndices, 0, rows);
  askData(c, GQ_GROUPED_BLOCK_QUANTIZE_data, desc->rowwise.data, rows, columns);
  askData(c, GQ_GROUPED_BLOCK_QUANTIZE_columnwise_data, shapedColumns(desc),
          rows, columns);
  ask(c, GQ_GROUPED_BLOCK_QUANTIZE_row_amax, desc->rowAmax, 0, rows);
  ask(c, GQ_GROUPED_BLOCK_QUANTIZE_dbias, desc->dbias, 1, columns);
  if (mlirValueIsNull(scales) ||
      mlirShapedTypeGetRank(mlirValueGetType(scales)) == 1)
    return;
  if (desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4) {
    askTiles(c, GQ_GROUPED_BLOCK_QUANTIZE_scales, scales, columns,
             traits.blockColumns);
  } else {
    ask(c, GQ_GROUPED_BLOCK_QUANTIZE_scales, scales, 0, rows);
    askRounded(c, GQ_GROUPED_BLOCK_QUANTIZE_scales, scales, 1, columns,
               traits.blockColumns, 1);
  }
}

/// What is flat and has the elements of the input.
static void askOfRagged(const Check *c, const gqGroupedBlockQuantize *desc) {
  Extent elements = {desc->inputs[0], 0, 1, 0};
  const struct {
    intptr_t operand;
    MlirValue data;
  } all[] = {
      {GQ_GROUPED_BLOCK_QUANTIZE_data, desc->rowwise.data},
      {GQ_GROUPED_BLOCK_QUANTIZE_columnwise_data, shapedColumns(desc)},
  };
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i)
    if (!mlirValueIsNull(all[i].data))
      askRounded(c, all[i].operand, all[i].data, 0, elements,
                 elementsOf(all[i].data), 1);
}

static void askOfGroupedBlockQuantize(const Check *c, MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  Extent groups = groupsOf(desc.offsets, desc.scaleOffsets);
  askPerGroup(c, op, groups);
  askOuter(c, &desc, groups);
  if (!mlirValueIsNull(desc.rngState) && gqDim(desc.rngState, 0) == GQ_DYNAMIC)
    buildCheck(c, GQ_GROUPED_BLOCK_QUANTIZE_rng_state, desc.rngState, 0,
               buildI64(c, 2), 1, 1);
  if (gqIsRagged(&desc))
    askOfRagged(c, &desc);
  else
    askOfRows(c, &desc);
}

static void askOfGroupedAmax(const Check *c, MlirOperation op) {
  gqGroupedAmax desc = gqGroupedAmaxGet(op);
  Extent groups = groupsOf(desc.offsets, (MlirValue){NULL});
  static const intptr_t perGroup[] = {
      GQ_GROUPED_AMAX_first_dims, GQ_GROUPED_AMAX_last_dims,
      GQ_GROUPED_AMAX_amax, GQ_GROUPED_AMAX_columnwise_amax,
      GQ_GROUPED_AMAX_column_amax};
  for (size_t i = 0; i < sizeof(perGroup) / sizeof(*perGroup); ++i)
    ask(c, perGroup[i], gqOperandAt(op, perGroup[i]), 0, groups);
  if (gqIsRagged(&desc))
    return;
  Extent rows = findExtent(&desc, 0), columns = findExtent(&desc, 1);
  askBlocks(c, columns, 16);
  askInputs(c, &desc, rows, columns);
  ask(c, GQ_GROUPED_AMAX_row_indices, desc.rowIndices, 0, rows);
  ask(c, GQ_GROUPED_AMAX_row_amax, desc.rowAmax, 0, rows);
  ask(c, GQ_GROUPED_AMAX_column_amax, desc.columnAmax, 1, columns);
}

/// `a` or `b` of a gradient; the kernel checks flat data.
static void askWgradSide(const Check *c, int64_t operand, MlirValue data,
                         gqFormat format, Extent rows, Extent columns) {
  askBlocks(c, columns, gqFormatGetTraits(format).blockColumns);
  if (!gqFormatGetTraits(format).transposes)
    askData(c, operand, data, rows, columns);
}

static void askOfGroupedWgrad(const Check *c, MlirOperation op) {
  gqGroupedWgrad desc = gqGroupedWgradGet(op);
  Extent rows = {desc.a, 0, 1, 0}, n = {desc.out, 1, 1, 0};
  Extent k = {desc.out, 2, 1, 0};
  const MlirValue none = {NULL};
  Extent groups = groupsOf(desc.offsets, none);
  ask(c, GQ_GROUPED_WGRAD_alpha, desc.alpha, 0, groups);
  ask(c, GQ_GROUPED_WGRAD_out, desc.out, 0, groups);
  askWgradSide(c, GQ_GROUPED_WGRAD_a, desc.a, desc.format, rows, n);
  askWgradSide(c, GQ_GROUPED_WGRAD_b, desc.b, desc.bFormat, rows, k);
}

static void askOfBlockDequantize(const Check *c, MlirOperation op) {
  gqBlockDequantize desc = gqBlockDequantizeGet(op);
  gqFormatTraits traits = gqFormatGetTraits(desc.format);
  Extent rows = {desc.out, 0, 1, 0}, columns = {desc.out, 1, 1, 0};
  askBlocks(c, columns, traits.blockColumns);
  askData(c, GQ_BLOCK_DEQUANTIZE_data, desc.data, rows, columns);
  askRounded(c, GQ_BLOCK_DEQUANTIZE_scales, desc.scales, 0, rows,
             traits.blockRows, 1);
  askRounded(c, GQ_BLOCK_DEQUANTIZE_scales, desc.scales, 1, columns,
             traits.blockColumns, 1);
}

/// The extents of flat packed operands are per group, and the kernel checks
/// them.
static void askOfGroupedDequantize(const Check *c, MlirOperation op) {
  static const intptr_t perGroup[] = {
      GQ_GROUPED_DEQUANTIZE_first_dims,
      GQ_GROUPED_DEQUANTIZE_last_dims,
      GQ_GROUPED_DEQUANTIZE_global_scale,
      GQ_GROUPED_DEQUANTIZE_scale_inv,
  };
  gqGroupedDequantize desc = gqGroupedDequantizeGet(op);
  gqFormatTraits traits = gqFormatGetTraits(desc.format);
  Extent rows = {desc.out, 0, 1, 0}, columns = {desc.out, 1, 1, 0};
  Extent groups = groupsOf(desc.offsets, desc.scaleOffsets);
  for (size_t i = 0; i < sizeof(perGroup) / sizeof(*perGroup); ++i)
    ask(c, perGroup[i], gqOperandAt(op, perGroup[i]), 0, groups);
  ask(c, GQ_GROUPED_DEQUANTIZE_outer_amax, desc.outerAmax, 0,
      desc.outer == GQ_OUTER_OF_ROW ? rows : groups);
  if (desc.outer == GQ_OUTER_OF_COLUMN)
    ask(c, GQ_GROUPED_DEQUANTIZE_outer_amax, desc.outerAmax, 1, columns);
  bool transposed = desc.axis == GQ_AXIS_COLUMNWISE &&
                    (desc.format == GQ_FORMAT_NONE || traits.transposes);
  if (!mlirValueIsNull(desc.firstDims)) {
    if (!transposed)
      askRounded(c, GQ_GROUPED_DEQUANTIZE_data, desc.data, 0, rows,
                 elementsOf(desc.data), 1);
    return;
  }
  askBlocks(c, columns, traits.blockColumns);
  if (!transposed)
    askData(c, GQ_GROUPED_DEQUANTIZE_data, desc.data, rows, columns);
  if (mlirValueIsNull(desc.scales) ||
      mlirShapedTypeGetRank(mlirValueGetType(desc.scales)) == 1)
    return;
  if (desc.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4) {
    askTiles(c, GQ_GROUPED_DEQUANTIZE_scales, desc.scales, columns,
             traits.blockColumns);
  } else {
    ask(c, GQ_GROUPED_DEQUANTIZE_scales, desc.scales, 0, rows);
    askRounded(c, GQ_GROUPED_DEQUANTIZE_scales, desc.scales, 1, columns,
               traits.blockColumns, 1);
  }
}

static void askOfUpdateScales(const Check *c, MlirOperation op) {
  gqUpdateScales desc = gqUpdateScalesGet(op);
  Extent groups = {desc.amax, 0, 1, 0};
  ask(c, GQ_UPDATE_SCALES_history, desc.history, 1, groups);
  ask(c, GQ_UPDATE_SCALES_scale, desc.scale, 0, groups);
}

static void askOfGroupOffsets(const Check *c, MlirOperation op) {
  gqGroupOffsets desc = gqGroupOffsetsGet(op);
  ask(c, GQ_GROUP_OFFSETS_scale_offsets, desc.scaleOffsets, 0,
      (Extent){desc.counts, 0, 1, 0});
  if (gqDim(desc.offsets, 0) != GQ_DYNAMIC &&
      gqDim(desc.counts, 0) != GQ_DYNAMIC)
    return;
  // G or G + 1 entries: the nearer one of the two.
  MlirValue groups = buildDim(c, desc.counts, 0);
  MlirType i64 = mlirValueGetType(groups);
  MlirValue atLeast[] = {buildDim(c, desc.offsets, 0), groups};
  MlirValue atMost[] = {
      gqBuildValue(c->builder, "arith.maxsi", 2, atLeast, i64),
      buildBinary(c, "arith.addi", groups, 1)};
  buildCheck(c, GQ_GROUP_OFFSETS_offsets, desc.offsets, 0,
             gqBuildValue(c->builder, "arith.minsi", 2, atMost, i64), 1, 1);
}

static void buildExtentChecks(const Check *c, MlirOperation op) {
  if (gqOperationIsAUpdateScales(op))
    askOfUpdateScales(c, op);
  else if (gqOperationIsAGroupOffsets(op))
    askOfGroupOffsets(c, op);
  else if (gqOperationIsABlockQuantize(op))
    askOfBlockQuantize(c, op);
  else if (gqOperationIsAPreprocessGroupedMatmulSf(op))
    askOfPreprocess(c, op);
  else if (gqOperationIsAGroupedMm(op))
    askOfGroupedMm(c, op);
  else if (gqOperationIsAGroupedWgrad(op))
    askOfGroupedWgrad(c, op);
  else if (gqOperationIsABlockDequantize(op))
    askOfBlockDequantize(c, op);
  else if (gqOperationIsAGroupedDequantize(op))
    askOfGroupedDequantize(c, op);
  else if (gqQuantizesGroups(op))
    askOfGroupedBlockQuantize(c, op);
  else if (gqOperationIsAGroupedAmax(op))
    askOfGroupedAmax(c, op);
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

/// `factors` multiplied.
static MlirValue product(const gqBuilder *builder, intptr_t count,
                         const MlirValue *factors) {
  MlirValue result = factors[0];
  for (intptr_t i = 1; i < count; ++i) {
    MlirValue both[] = {result, factors[i]};
    result =
        gqBuildValue(builder, "arith.muli", 2, both, mlirValueGetType(result));
  }
  return result;
}

/// Calls gqLaunchOperand for a buffer, null where absent.
static void buildOperand(const gqBuilder *builder, int64_t number,
                         MlirValue buffer) {
  if (mlirValueIsNull(buffer))
    return;
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  gqBufferValues values = gqBuildBufferValues(builder, buffer);
  intptr_t outer = values.rank > 1;
  MlirValue size =
      gqBuildConstant(builder, i64, gqElementTypeSize(values.type));
  MlirValue width[1 + GQ_OPERAND_RANK] = {size};
  for (intptr_t i = outer; i < values.rank; ++i)
    width[1 + i - outer] = values.sizes[i];
  MlirValue stride[] = {size, values.strides[0]};
  MlirValue arguments[] = {
      gqBuildConstant(builder, i64, number), values.address,
      outer ? values.sizes[0] : gqBuildConstant(builder, i64, 1),
      product(builder, 1 + values.rank - outer, width),
      outer ? product(builder, 2, stride) : gqBuildConstant(builder, i64, 0)};
  gqBuildCall(builder, "gqLaunchOperand", 5, arguments, 0, NULL);
}

/// The number of an op in Ops.def.
static int64_t numberOf(MlirOperation op) {
  enum {
#define GQ_OP(OP, MNEMONIC) NUMBER_OF_##OP,
#include "gq/Runtime/Ops.def"
  };
#define GQ_OP(OP, MNEMONIC)                                                    \
  if (gqOperationIsA##OP(op))                                                  \
    return NUMBER_OF_##OP;
#include "gq/Runtime/Ops.def"
  return -1;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// Declares what is called. False after an error.
static bool declareFunctions(MlirOperation module, MlirContext context) {
  static const struct {
    const char *name;
    intptr_t numOperands;
  } functions[] = {
      {"gqLaunchExtent", 7}, {"gqLaunchOperand", 5}, {"gqLaunchCheck", 1}};
  MlirType types[7];
  for (int i = 0; i < 7; ++i)
    types[i] = mlirIntegerTypeGet(context, 64);
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i)
    if (!gqDeclareFunction(module, functions[i].name,
                           mlirFunctionTypeGet(context,
                                               functions[i].numOperands, types,
                                               0, NULL)))
      return false;
  return true;
}

/// Asks about the operands of the op, and calls gqLaunchOperand for them.
static void buildOperands(const Check *check) {
  MlirOperation op = check->operation;
  buildExtentChecks(check, op);
  intptr_t count = gqOpInfoOf(op)->numOperands;
  for (intptr_t i = 0; i < count; ++i)
    if (!isProduct(check, gqOperandAt(op, i)))
      buildOperand(check->builder, i, gqOperandAt(op, i));
  if (gqReadsGroups(op)) {
    gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
    for (intptr_t i = 1; i < desc.numInputs; ++i)
      buildOperand(check->builder, 0, desc.inputs[i]);
  }
}

/// Calls gqLaunchCheck.
static void buildEnd(const Check *check) {
  MlirValue number = buildI64(check, check->op);
  gqBuildCall(check->builder, "gqLaunchCheck", 1, &number, 0, NULL);
}

bool gqBuildOperandChecks(const gqBuilder *builder, MlirOperation module,
                          MlirOperation op) {
  if (!declareFunctions(module, builder->context))
    return false;
  Check check = {builder, op, numberOf(op), {NULL}};
  buildOperands(&check);
  buildEnd(&check);
  return true;
}

bool gqBuildRequantizationChecks(const gqBuilder *builder, MlirOperation module,
                                 MlirOperation mm, MlirOperation quantization) {
  if (!declareFunctions(module, builder->context))
    return false;
  gqGroupedMm desc = gqGroupedMmGet(mm);
  MlirValue data = gqGroupedBlockQuantizeGet(quantization).rowwise.data;
  Check ofMm = {builder, mm, numberOf(mm), desc.out};
  Check check = {builder, quantization, numberOf(quantization), desc.out};
  // M and N.
  bool kInnermost = desc.bMajor == GQ_MAJOR_K;
  int64_t width = gqGroupedMmGetPairs(mm) == GQ_PAIRS_NONE ? 1 : 2;
  ask(&ofMm, GQ_GROUPED_MM_a, desc.a, 0, (Extent){data, 0, 1, 0});
  askRounded(&ofMm, GQ_GROUPED_MM_b, desc.b, kInnermost ? 1 : 2,
             (Extent){data, 1, width * elementsOf(data), 0},
             kInnermost ? 1 : elementsOf(desc.b), 1);
  buildExtentChecks(&ofMm, mm);
  buildOperands(&check);
  // What the quantization writes must not be what the matmul reads.
  for (intptr_t i = 0; i < gqOpInfoOf(mm)->numOperands; ++i)
    if (!isProduct(&check, gqOperandAt(mm, i)))
      buildOperand(builder, GQ_GROUPED_BLOCK_QUANTIZE_inputs,
                   gqOperandAt(mm, i));
  buildEnd(&check);
  return true;
}
