//===- ExpandProducers.c - gq-expand-producers -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "gq-c/Dialect.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

/// tensor.dim
static MlirValue buildDim(const gqBuilder *builder, MlirValue tensor,
                          int64_t dim) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue operands[] = {tensor, gqBuildConstant(builder, index, dim)};
  return gqBuildValue(builder, "tensor.dim", 2, operands, index);
}

/// The number of elements in a row of `data`, as an index.
static MlirValue buildColumns(const gqBuilder *builder, MlirValue data) {
  MlirValue columns = buildDim(builder, data, 1);
  MlirType type = mlirValueGetType(data);
  if (!mlirTypeIsAInteger(mlirShapedTypeGetElementType(type)))
    return columns;
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue operands[] = {columns, gqBuildConstant(builder, index, 2)};
  return gqBuildValue(builder, "arith.muli", 2, operands, index);
}

/// tensor.empty of [M, K] elements; `data` is [M, K] of f4 or packed.
static MlirValue buildEmpty(const gqBuilder *builder, MlirValue data,
                            MlirType element) {
  MlirType type = mlirValueGetType(data);
  bool packed = mlirTypeIsAInteger(mlirShapedTypeGetElementType(type));
  int64_t shape[2];
  MlirValue sizes[2];
  intptr_t numSizes = 0;
  for (intptr_t i = 0; i < 2; ++i) {
    shape[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[numSizes++] =
          i == 0 ? buildDim(builder, data, 0) : buildColumns(builder, data);
    else if (i == 1 && packed)
      shape[i] *= 2;
  }
  return gqBuildValue(
      builder, "tensor.empty", numSizes, sizes,
      mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull()));
}

/// Moves the producer's block into a region for linalg.generic: an argument
/// more, for 'outs', and another terminator.
static MlirRegion takeBody(const gqBuilder *builder, MlirRegion producer,
                           MlirType element) {
  MlirRegion body = mlirRegionCreate();
  mlirRegionTakeBody(body, producer);
  MlirBlock block = mlirRegionGetFirstBlock(body);
  mlirBlockAddArgument(block, element, builder->location);
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirValue value = mlirOperationGetOperand(yield, 0);
  gqBuilder inside = gqBuilderBefore(yield);
  gqBuild(&inside, "linalg.yield", 1, &value, 0, NULL, 0, NULL);
  mlirOperationDestroy(yield);
  return body;
}

/// linalg.generic over (m, k) that computes the input of the op.
static MlirValue buildGeneric(const gqBuilder *builder,
                              const gqGroupedBlockQuantize *desc) {
  MlirOperation yield =
      mlirBlockGetTerminator(mlirRegionGetFirstBlock(desc->producer));
  MlirType element = mlirValueGetType(mlirOperationGetOperand(yield, 0));
  MlirValue out = buildEmpty(builder, desc->data, element);
  MlirType type = mlirValueGetType(out);

  MlirAttribute maps[GQ_MAX_INPUTS + 1];
  for (intptr_t i = 0; i < desc->numInputs; ++i)
    maps[i] = mlirArrayAttrGetElement(desc->maps, i);
  maps[desc->numInputs] = mlirAffineMapAttrGet(
      mlirAffineMapMultiDimIdentityGet(builder->context, 2));
  MlirAttribute parallel = mlirAttributeParseGet(
      builder->context,
      mlirStringRefCreateFromCString("#linalg.iterator_type<parallel>"));
  MlirAttribute iterators[] = {parallel, parallel};
  int32_t segments[] = {(int32_t)desc->numInputs, 1};
  MlirNamedAttribute attributes[] = {
      gqAttribute(
          builder->context, "indexing_maps",
          mlirArrayAttrGet(builder->context, desc->numInputs + 1, maps)),
      gqAttribute(builder->context, "iterator_types",
                  mlirArrayAttrGet(builder->context, 2, iterators)),
      gqAttribute(builder->context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(builder->context, 2, segments)),
  };
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("linalg.generic"), builder->location);
  mlirOperationStateAddAttributes(&state, 3, attributes);
  mlirOperationStateAddOperands(&state, desc->numInputs, desc->inputs);
  mlirOperationStateAddOperands(&state, 1, &out);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirRegion body = takeBody(builder, desc->producer, element);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  MlirOperation generic = mlirOperationCreate(&state);
  gqInsert(builder, generic);
  return mlirOperationGetResult(generic, 0);
}

static void expand(MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  gqBuilder builder = gqBuilderBefore(op);
  desc.inputs[0] = buildGeneric(&builder, &desc);
  desc.numInputs = 1;
  desc.maps = mlirAttributeGetNull();
  desc.producer = (MlirRegion){NULL};
  MlirOperation expanded =
      gqGroupedBlockQuantizeCreate(builder.location, &desc);
  gqInsert(&builder, expanded);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  mlirOperationGetResult(expanded, i));
  mlirOperationDestroy(op);
}

void gqExpandProducers(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqOperationIsAGroupedBlockQuantize);
  for (intptr_t i = 0; i < ops.size; ++i)
    if (mlirOperationGetNumResults(ops.ops[i]) &&
        mlirOperationGetNumRegions(ops.ops[i]))
      expand(ops.ops[i]);
  gqOpListFree(&ops);
}
