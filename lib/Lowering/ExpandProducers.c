//===- ExpandProducers.c - gq-expand-producers -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "BuildTensor.h"
#include "Fusion.h"
#include "Passes.h"
#include "Query.h"

#include "gq-c/Dialect.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

/// tensor.empty of [M, K] elements, the extents being those of operands, of
/// which i8 holds two elements each.
static MlirValue buildEmpty(const gqBuilder *builder,
                            const gqGroupedBlockQuantize *desc,
                            MlirType element) {
  MlirType index = mlirIndexTypeGet(builder->context);
  int64_t shape[2];
  MlirValue sizes[2];
  intptr_t numSizes = 0;
  for (intptr_t i = 0; i < 2; ++i) {
    intptr_t position;
    MlirValue operand = gqGroupedBlockQuantizeFindExtent(desc, i, &position);
    MlirType type = mlirValueGetType(operand);
    MlirType elementType = mlirShapedTypeGetElementType(type);
    bool packed = i == 1 && mlirTypeIsAInteger(elementType);
    shape[i] = mlirShapedTypeGetDimSize(type, position);
    if (!mlirShapedTypeIsDynamicDim(type, position)) {
      shape[i] *= packed ? 2 : 1;
      continue;
    }
    sizes[numSizes] = gqBuildDim(builder, operand, position);
    if (packed) {
      MlirValue factors[] = {sizes[numSizes],
                             gqBuildConstant(builder, index, 2)};
      sizes[numSizes] = gqBuildValue(builder, "arith.muli", 2, factors, index);
    }
    ++numSizes;
  }
  return gqBuildValue(
      builder, "tensor.empty", numSizes, sizes,
      mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull()));
}

//===----------------------------------------------------------------------===//
// Inputs that are read by index
//===----------------------------------------------------------------------===//

static MlirAffineMap mapOf(const gqGroupedBlockQuantize *desc, intptr_t input) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, input));
}

/// The number N of rows that all inputs which are read by index have.
static MlirValue buildNumRows(const gqBuilder *builder,
                              const gqGroupedBlockQuantize *desc) {
  MlirValue rows = {NULL};
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    if (!gqIsGatherMap(mapOf(desc, i)))
      continue;
    MlirValue both[] = {rows, gqBuildDim(builder, desc->inputs[i], 0)};
    rows = mlirValueIsNull(rows)
               ? both[1]
               : gqBuildValue(builder, "arith.minui", 2, both,
                              mlirIndexTypeGet(builder->context));
  }
  return rows;
}

/// A row index as an index, and whether it is below `numRows`.
typedef struct Row {
  MlirValue index, isValid;
} Row;

static Row buildRow(const gqBuilder *builder, MlirValue element,
                    MlirValue numRows) {
  Row row = {.index = gqBuildValue(builder, "arith.index_cast", 1, &element,
                                   mlirIndexTypeGet(builder->context))};
  row.isValid = gqBuildCompare(builder, GQ_CMPI_ULT, row.index, numRows);
  return row;
}

/// scf.if: the element of `input` in `row` and, if it has columns, `column`;
/// zero where there is no such row.
static MlirValue buildExtract(const gqBuilder *builder, MlirValue input,
                              Row row, MlirValue column) {
  MlirType type = mlirShapedTypeGetElementType(mlirValueGetType(input));
  gqBuilder branches[2];
  MlirValue extracted = gqBuildIf(builder, row.isValid, type, branches);
  MlirValue operands[] = {input, row.index, column};
  gqBuildTerminator(
      &branches[0], "scf.yield",
      gqBuildValue(&branches[0], "tensor.extract",
                   1 + mlirShapedTypeGetRank(mlirValueGetType(input)), operands,
                   type));
  MlirNamedAttribute zero =
      gqAttribute(builder->context, "value",
                  mlirFloatAttrDoubleGet(builder->context, type, 0.0));
  gqBuildTerminator(
      &branches[1], "scf.yield",
      mlirOperationGetResult(
          gqBuild(&branches[1], "arith.constant", 0, NULL, 1, &type, 1, &zero),
          0));
  return extracted;
}

/// Makes the producer's block take the row index and extract the elements of
/// inputs read by index, which it took as arguments.
static void extractInBody(const gqGroupedBlockQuantize *desc, MlirBlock block,
                          MlirValue numRows) {
  gqBuilder builder = gqBuilderBefore(mlirBlockGetFirstOperation(block));
  MlirValue element = mlirBlockAddArgument(
      block, mlirShapedTypeGetElementType(mlirValueGetType(desc->rowIndices)),
      builder.location);
  Row row = buildRow(&builder, element, numRows);
  MlirValue column = gqBuildLinalgIndex(&builder, 1);
  for (intptr_t i = desc->numInputs - 1; i >= 0; --i) {
    if (!gqIsGatherMap(mapOf(desc, i)))
      continue;
    mlirValueReplaceAllUsesOfWith(
        mlirBlockGetArgument(block, i),
        buildExtract(&builder, desc->inputs[i], row, column));
    mlirBlockEraseArgument(block, (unsigned)i);
  }
}

/// Row indices for the rows as computed: m, or -1 where there is no row
/// row_indices[m], so that the op fails.
static MlirValue buildComputedRowIndices(const gqBuilder *builder,
                                         MlirValue rowIndices,
                                         MlirValue numRows) {
  MlirType type = mlirValueGetType(rowIndices);
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirValue size = {NULL};
  bool dynamic = mlirShapedTypeIsDynamicDim(type, 0);
  if (dynamic)
    size = gqBuildDim(builder, rowIndices, 0);
  MlirValue out = gqBuildValue(builder, "tensor.empty", dynamic, &size, type);

  MlirType types[] = {element, element};
  MlirLocation locations[] = {builder->location, builder->location};
  MlirBlock block = mlirBlockCreate(2, types, locations);
  MlirRegion body = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(body, block);
  gqBuilder inside = gqBuilderAtEnd(builder, block);
  Row row = buildRow(&inside, mlirBlockGetArgument(block, 0), numRows);
  MlirValue m = gqBuildLinalgIndex(&inside, 0);
  MlirValue operands[] = {
      row.isValid, gqBuildValue(&inside, "arith.index_cast", 1, &m, element),
      gqBuildConstant(&inside, element, -1)};
  gqBuildTerminator(
      &inside, "linalg.yield",
      gqBuildValue(&inside, "arith.select", 3, operands, element));
  MlirAttribute map = mlirAffineMapAttrGet(
      mlirAffineMapMultiDimIdentityGet(builder->context, 1));
  return gqBuildGeneric(builder, 1, &rowIndices, &map, out, body);
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

/// Moves the producer's block into a region for linalg.generic, with one more
/// argument, for 'outs', and a different terminator.
static MlirRegion takeBody(const gqBuilder *builder, MlirRegion producer,
                           MlirType element) {
  MlirRegion body = mlirRegionCreate();
  mlirRegionTakeBody(body, producer);
  MlirBlock block = mlirRegionGetFirstBlock(body);
  mlirBlockAddArgument(block, element, builder->location);
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirValue value = mlirOperationGetOperand(yield, 0);
  gqBuilder inside = gqBuilderBefore(yield);
  gqBuildTerminator(&inside, "linalg.yield", value);
  mlirOperationDestroy(yield);
  return body;
}

/// linalg.generic over (m, k) that computes the input of the op. `numRows` is
/// N, if there are row indices.
static MlirValue buildProducer(const gqBuilder *builder,
                               const gqGroupedBlockQuantize *desc,
                               MlirValue numRows) {
  MlirBlock block = mlirRegionGetFirstBlock(desc->producer);
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirType element = mlirValueGetType(mlirOperationGetOperand(yield, 0));
  MlirValue out = buildEmpty(builder, desc, element);

  MlirValue inputs[GQ_MAX_INPUTS + 1];
  MlirAttribute maps[GQ_MAX_INPUTS + 1];
  intptr_t numInputs = 0;
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    if (gqIsGatherMap(mapOf(desc, i)))
      continue;
    maps[numInputs] = mlirArrayAttrGetElement(desc->maps, i);
    inputs[numInputs++] = desc->inputs[i];
  }
  if (!mlirValueIsNull(desc->rowIndices)) {
    extractInBody(desc, block, numRows);
    MlirAffineExpr m = mlirAffineDimExprGet(builder->context, 0);
    maps[numInputs] =
        mlirAffineMapAttrGet(mlirAffineMapGet(builder->context, 2, 0, 1, &m));
    inputs[numInputs++] = desc->rowIndices;
  }
  return gqBuildGeneric(builder, numInputs, inputs, maps, out,
                        takeBody(builder, desc->producer, element));
}

static void expand(MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  gqBuilder builder = gqBuilderBefore(op);
  MlirValue numRows = {NULL}, rowIndices = {NULL};
  if (!mlirValueIsNull(desc.rowIndices)) {
    numRows = buildNumRows(&builder, &desc);
    rowIndices = buildComputedRowIndices(&builder, desc.rowIndices, numRows);
  }
  desc.inputs[0] = buildProducer(&builder, &desc, numRows);
  desc.numInputs = 1;
  desc.rowIndices = rowIndices;
  desc.maps = mlirAttributeGetNull();
  desc.producer = (MlirRegion){NULL};
  gqReplaceGroupedBlockQuantize(op, builder.location, &desc);
}

void gqExpandProducers(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqReadsGroups);
  for (intptr_t i = 0; i < ops.size; ++i)
    if (mlirOperationGetNumResults(ops.ops[i]) &&
        mlirOperationGetNumRegions(ops.ops[i]))
      expand(ops.ops[i]);
  gqOpListFree(&ops);
}
