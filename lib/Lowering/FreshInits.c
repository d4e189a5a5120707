//===- FreshInits.c - gq-fresh-inits -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Memory.h"
#include "Build.h"
#include "Inits.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

bool gqIsInitUnread(MlirOperation generic, intptr_t operand) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  return mlirOpOperandIsNull(
      mlirValueGetFirstUse(mlirBlockGetArgument(body, operand)));
}

void gqFreshenInit(MlirOperation op, intptr_t operand) {
  gqBuilder builder = gqBuilderBefore(op);
  MlirValue init = mlirOperationGetOperand(op, operand);
  MlirType type = mlirValueGetType(init);
  MlirType index = mlirIndexTypeGet(builder.context);
  intptr_t rank = mlirShapedTypeGetRank(type), numSizes = 0;
  MlirValue *sizes = calloc((size_t)rank + 1, sizeof(MlirValue));
  if (!sizes)
    gqOutOfMemory();
  for (intptr_t i = 0; i < rank; ++i) {
    if (!mlirShapedTypeIsDynamicDim(type, i))
      continue;
    MlirValue operands[] = {init, gqBuildConstant(&builder, index, i)};
    sizes[numSizes++] =
        gqBuildValue(&builder, "tensor.dim", 2, operands, index);
  }
  mlirOperationSetOperand(
      op, operand,
      gqBuildValue(&builder, "tensor.empty", numSizes, sizes, type));
  free(sizes);
}

static bool isGenericOnTensors(MlirOperation op) {
  return gqIsNamed(op, "linalg.generic") && mlirOperationGetNumResults(op);
}

void gqFreshInits(MlirOperation root) {
  gqOpList generics = gqCollect(root, isGenericOnTensors);
  for (intptr_t i = 0; i < generics.size; ++i) {
    MlirOperation generic = generics.ops[i];
    intptr_t end = mlirOperationGetNumOperands(generic);
    for (intptr_t k = end - mlirOperationGetNumResults(generic); k < end; ++k) {
      MlirOperation empty = gqDefiningOp(mlirOperationGetOperand(generic, k));
      bool isEmpty =
          !mlirOperationIsNull(empty) && gqIsNamed(empty, "tensor.empty");
      if (!isEmpty && gqIsInitUnread(generic, k))
        gqFreshenInit(generic, k);
    }
  }
  gqOpListFree(&generics);
}
