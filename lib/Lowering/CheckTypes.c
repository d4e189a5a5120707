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

static bool checkType(MlirOperation op, MlirType type, bool inKernel) {
  if (isScalable(type))
    return gqOpError(op,
                     "has a vector of scalable length, which is not lowered");
  if (inKernel && isTooWide(type))
    return gqOpError(op,
                     "has numbers of more than %d bits, which no kernel has",
                     MAX_KERNEL_BITS);
  return true;
}

/// What an op makes, and what its blocks take: the types of all values.
static bool checkOp(MlirOperation op) {
  bool inKernel = isInKernel(op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!checkType(op, mlirValueGetType(mlirOperationGetResult(op, i)),
                   inKernel))
      return false;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        if (!checkType(op, mlirValueGetType(mlirBlockGetArgument(block, i)),
                       inKernel))
          return false;
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
