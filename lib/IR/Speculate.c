//===- Speculate.c - which ops can fail ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "OpInfo.h"
#include "Ops.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

/// The operation `name` that makes `value`, or null.
static MlirOperation madeBy(MlirValue value, const char *name) {
  if (!mlirValueIsAOpResult(value))
    return (MlirOperation){NULL};
  MlirOperation op = mlirOpResultGetOwner(value);
  bool found = mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                                  mlirStringRefCreateFromCString(name));
  return found ? op : (MlirOperation){NULL};
}

static bool isZero(MlirValue index) {
  MlirOperation constant = madeBy(index, "arith.constant");
  return !mlirOperationIsNull(constant) &&
         mlirIntegerAttrGetValueInt(gqGetAttribute(constant, "value")) == 0;
}

/// What a tensor has as many rows as, where only they are dynamic: an index, or
/// a tensor.
static MlirValue rowsOf(MlirValue tensor) {
  MlirOperation empty = madeBy(tensor, "tensor.empty");
  if (mlirOperationIsNull(empty))
    return tensor;
  MlirValue rows = mlirOperationGetOperand(empty, 0);
  MlirOperation dim = madeBy(rows, "tensor.dim");
  return !mlirOperationIsNull(dim) && isZero(mlirOperationGetOperand(dim, 1))
             ? mlirOperationGetOperand(dim, 0)
             : rows;
}

static bool isStatic(MlirType type) {
  return mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type);
}

/// Whether rows alone are dynamic.
static bool hasDynamicRows(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) != 2)
    return false;
  return mlirShapedTypeIsDynamicDim(type, 0) &&
         !mlirShapedTypeIsDynamicDim(type, 1);
}

/// Whether all extents are static, and so verified.
static bool isVerified(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!isStatic(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return false;
  return true;
}

/// Whether all operands but scalars have dynamic rows, as many as each other.
static bool haveSameRows(MlirOperation op) {
  MlirValue first = {NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    MlirType type = mlirValueGetType(operand);
    if (isStatic(type) && mlirShapedTypeGetRank(type) == 0)
      continue;
    if (!hasDynamicRows(type))
      return false;
    MlirValue rows = rowsOf(operand);
    if (mlirValueIsNull(first))
      first = rows;
    if (!mlirValueEqual(first, rows))
      return false;
  }
  return true;
}

bool gqCannotFail(MlirOperation op) {
  if (gqOperationIsAUpdateScales(op))
    return isVerified(op);
  if (!gqOperationIsABlockQuantize(op) && !gqOperationIsABlockDequantize(op))
    return false; // The others read offsets, or counts.
  if (mlirOperationGetNumRegions(op))
    return false; // An epilogue may divide integers.
  gqFormat format = (gqFormat)gqEnumAttribute(op, 0);
  return isVerified(op) ||
         (gqFormatGetTraits(format).blockRows == 1 && haveSameRows(op));
}
