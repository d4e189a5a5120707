//===- BuildTensor.c - building ops on tensors --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildTensor.h"

#include "gq-c/Dialect.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

MlirValue gqBuildDim(const gqBuilder *builder, MlirValue tensor, int64_t dim) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue operands[] = {tensor, gqBuildConstant(builder, index, dim)};
  return gqBuildValue(builder, "tensor.dim", 2, operands, index);
}

void gqBuildTerminator(const gqBuilder *builder, const char *name,
                       MlirValue value) {
  gqBuild(builder, name, 1, &value, 0, NULL, 0, NULL);
}

gqBuilder gqBuilderAtEnd(const gqBuilder *builder, MlirBlock block) {
  gqBuilder inside = *builder;
  inside.block = block;
  inside.before = (MlirOperation){NULL};
  return inside;
}

MlirValue gqBuildGeneric(const gqBuilder *builder, intptr_t numInputs,
                         const MlirValue *inputs,
                         const MlirAttribute *inputMaps, MlirValue out,
                         MlirRegion body) {
  MlirType type = mlirValueGetType(out);
  intptr_t rank = mlirShapedTypeGetRank(type);
  // Row indices and `out` beside the inputs.
  MlirAttribute maps[GQ_MAX_INPUTS + 2];
  for (intptr_t i = 0; i < numInputs; ++i)
    maps[i] = inputMaps[i];
  maps[numInputs] = mlirAffineMapAttrGet(
      mlirAffineMapMultiDimIdentityGet(builder->context, rank));
  MlirAttribute parallel = mlirAttributeParseGet(
      builder->context,
      mlirStringRefCreateFromCString("#linalg.iterator_type<parallel>"));
  MlirAttribute iterators[] = {parallel, parallel};
  int32_t segments[] = {(int32_t)numInputs, 1};
  MlirNamedAttribute attributes[] = {
      gqAttribute(builder->context, "indexing_maps",
                  mlirArrayAttrGet(builder->context, numInputs + 1, maps)),
      gqAttribute(builder->context, "iterator_types",
                  mlirArrayAttrGet(builder->context, rank, iterators)),
      gqAttribute(builder->context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(builder->context, 2, segments)),
  };
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("linalg.generic"), builder->location);
  mlirOperationStateAddAttributes(&state, 3, attributes);
  mlirOperationStateAddOperands(&state, numInputs, inputs);
  mlirOperationStateAddOperands(&state, 1, &out);
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  MlirOperation generic = mlirOperationCreate(&state);
  gqInsert(builder, generic);
  return mlirOperationGetResult(generic, 0);
}

MlirValue gqBuildLinalgIndex(const gqBuilder *builder, int64_t dim) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirNamedAttribute attribute = gqAttribute(
      builder->context, "dim",
      mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), dim));
  return mlirOperationGetResult(
      gqBuild(builder, "linalg.index", 0, NULL, 1, &index, 1, &attribute), 0);
}

MlirValue gqBuildIf(const gqBuilder *builder, MlirValue condition,
                    MlirType result, gqBuilder branches[2]) {
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  for (int i = 0; i < 2; ++i) {
    MlirBlock block = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[i], block);
    branches[i] = gqBuilderAtEnd(builder, block);
  }
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("scf.if"), builder->location);
  mlirOperationStateAddOperands(&state, 1, &condition);
  mlirOperationStateAddResults(&state, 1, &result);
  mlirOperationStateAddOwnedRegions(&state, 2, regions);
  MlirOperation branch = mlirOperationCreate(&state);
  gqInsert(builder, branch);
  return mlirOperationGetResult(branch, 0);
}
