//===- StrictFloats.c - gq-strict-floats -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static bool isConversion(MlirOperation op) {
  return gqIsNamed(op, "arith.extf") || gqIsNamed(op, "arith.truncf");
}

/// A square root in a kernel, in a type that has an instruction for it.
static bool isKernelSquareRoot(MlirOperation op) {
  if (!gqIsNamed(op, "math.sqrt") || gqIsOnHost(op))
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  return mlirTypeIsAF32(type) || mlirTypeIsAF64(type);
}

/// Replaces a square root by LLVM's. As llvm.intr.sqrt, convert-gpu-to-nvvm
/// would make it libdevice's again.
static void convertSquareRoot(MlirOperation op) {
  gqBuilder builder = gqBuilderBefore(op);
  MlirValue operand = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(operand);
  int32_t segments[] = {1, 0};
  MlirNamedAttribute attributes[] = {
      gqAttribute(
          builder.context, "intrin",
          mlirStringAttrGet(builder.context,
                            mlirStringRefCreateFromCString("llvm.sqrt"))),
      gqAttribute(builder.context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(builder.context, 2, segments)),
      gqAttribute(builder.context, "op_bundle_sizes",
                  mlirDenseI32ArrayGet(builder.context, 0, NULL)),
  };
  MlirOperation root = gqBuild(&builder, "llvm.call_intrinsic", 1, &operand, 1,
                               &type, 3, attributes);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                mlirOperationGetResult(root, 0));
  mlirOperationDestroy(op);
}

void gqStrictFloats(MlirOperation root) {
  gqOpList ops = gqCollect(root, isConversion);
  for (intptr_t i = 0; i < ops.size; ++i)
    mlirOperationRemoveAttributeByName(
        ops.ops[i], mlirStringRefCreateFromCString("fastmath"));
  gqOpListFree(&ops);

  gqOpList roots = gqCollect(root, isKernelSquareRoot);
  for (intptr_t i = 0; i < roots.size; ++i)
    convertSquareRoot(roots.ops[i]);
  gqOpListFree(&roots);
}
