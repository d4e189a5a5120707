//===- CheckTypes.c - gq-check-types ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinTypes.h"

enum { MAX_KERNEL_BITS = 64 };

/// A vector of scalable length, or of such ones or in memory.
static bool isScalable(MlirType type) {
  if (mlirTypeIsAVector(type) && mlirVectorTypeIsScalable(type))
    return true;
  return mlirTypeIsAShaped(type) &&
         isScalable(mlirShapedTypeGetElementType(type));
}

/// A number, or ones in a vector or in memory, of more bits than a kernel's
/// have.
static bool isTooWide(MlirType type) {
  if (mlirTypeIsAShaped(type))
    return isTooWide(mlirShapedTypeGetElementType(type));
  if (mlirTypeIsAFloat(type))
    return mlirFloatTypeGetWidth(type) > MAX_KERNEL_BITS;
  return mlirTypeIsAInteger(type) &&
         mlirIntegerTypeGetWidth(type) > MAX_KERNEL_BITS;
}

static bool isInKernel(MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (gqIsNamed(op, "gpu.module"))
      return true;
  return false;
}

static bool checkOp(MlirOperation op) {
  if (gqMakesType(op, isScalable))
    return gqOpError(op,
                     "has a vector of scalable length, which is not lowered");
  if (isInKernel(op) && gqMakesType(op, isTooWide))
    return gqOpError(op,
                     "has numbers of more than %d bits, which no kernel has",
                     MAX_KERNEL_BITS);
  return true;
}

MlirLogicalResult gqCheckTypes(MlirOperation root) {
  gqOpList ops = gqCollect(root, NULL);
  bool valid = true;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= checkOp(ops.ops[i]);
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
