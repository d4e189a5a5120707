//===- Fusion.c - what the fusions share --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"

#include "Build.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

bool gqIsProducerInput(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  MlirType element = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAF32(element) || mlirTypeIsABF16(element) ||
         mlirTypeIsAF16(element);
}

MlirLocation gqFusedLocation(MlirOperation a, MlirOperation b) {
  MlirLocation locations[] = {mlirOperationGetLocation(a),
                              mlirOperationGetLocation(b)};
  return mlirLocationFusedGet(mlirOperationGetContext(a), 2, locations,
                              (MlirAttribute){NULL});
}

void gqReplaceResults(MlirOperation op, MlirOperation fused) {
  const gqOpInfo *info = gqOpInfoOf(op);
  for (intptr_t i = 0; i < info->numOperands; ++i) {
    if (info->operands[i].role == GQ_IN)
      continue;
    MlirValue result = gqResultAt(op, i);
    if (!mlirValueIsNull(result))
      mlirValueReplaceAllUsesOfWith(result, gqResultAt(fused, i));
  }
}

MlirOperation
gqReplaceGroupedBlockQuantize(MlirOperation op, MlirLocation location,
                              const gqGroupedBlockQuantize *desc) {
  MlirOperation replacement = gqGroupedBlockQuantizeRebuild(op, location, desc);
  gqBuilder builder = gqBuilderBefore(op);
  gqInsert(&builder, replacement);
  gqReplaceResults(op, replacement);
  mlirOperationDestroy(op);
  return replacement;
}
