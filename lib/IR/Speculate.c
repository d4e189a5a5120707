//===- Speculate.c - which ops can fail ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpInfo.h"
#include "Ops.h"

#include "mlir-c/BuiltinTypes.h"

bool gqCannotFail(MlirOperation op) {
  if (!gqOperationIsABlockQuantize(op) && !gqOperationIsABlockDequantize(op))
    return false; // The others read offsets.
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type))
      return false;
  }
  return true;
}
