//===- GpuOverlap.c - the host's check of a launch ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuOverlap.h"

#include "../IR/OpInfo.h"
#include "Functions.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinTypes.h"

/// `factors` multiplied.
static MlirValue product(const gqBuilder *builder, intptr_t count,
                         const MlirValue *factors) {
  MlirValue result = factors[0];
  for (intptr_t i = 1; i < count; ++i) {
    MlirValue both[] = {result, factors[i]};
    result =
        gqBuildValue(builder, "arith.muli", 2, both, mlirValueGetType(result));
  }
  return result;
}

/// Calls gqLaunchOperand for a buffer, null where absent.
static void buildOperand(const gqBuilder *builder, int64_t number,
                         MlirValue buffer) {
  if (mlirValueIsNull(buffer))
    return;
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  gqBufferValues values = gqBuildBufferValues(builder, buffer);
  intptr_t outer = values.rank > 1;
  MlirValue size =
      gqBuildConstant(builder, i64, gqElementTypeSize(values.type));
  MlirValue width[1 + GQ_OPERAND_RANK] = {size};
  for (intptr_t i = outer; i < values.rank; ++i)
    width[1 + i - outer] = values.sizes[i];
  MlirValue stride[] = {size, values.strides[0]};
  MlirValue arguments[] = {
      gqBuildConstant(builder, i64, number), values.address,
      outer ? values.sizes[0] : gqBuildConstant(builder, i64, 1),
      product(builder, 1 + values.rank - outer, width),
      outer ? product(builder, 2, stride) : gqBuildConstant(builder, i64, 0)};
  gqBuildCall(builder, "gqLaunchOperand", 5, arguments, 0, NULL);
}

/// The number of an op in Ops.def.
static int64_t numberOf(MlirOperation op) {
  enum {
#define GQ_OP(OP, MNEMONIC) NUMBER_OF_##OP,
#include "gq/Runtime/Ops.def"
  };
#define GQ_OP(OP, MNEMONIC)                                                    \
  if (gqOperationIsA##OP(op))                                                  \
    return NUMBER_OF_##OP;
#include "gq/Runtime/Ops.def"
  return -1;
}

bool gqBuildOverlapCheck(const gqBuilder *builder, MlirOperation module,
                         MlirOperation op) {
  MlirContext context = builder->context;
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirType extents[] = {i64, i64, i64, i64, i64};
  if (!gqDeclareFunction(module, "gqLaunchOperand",
                         mlirFunctionTypeGet(context, 5, extents, 0, NULL)) ||
      !gqDeclareFunction(module, "gqLaunchCheck",
                         mlirFunctionTypeGet(context, 1, extents, 0, NULL)))
    return false;
  intptr_t count = gqOpInfoOf(op)->numOperands;
  for (intptr_t i = 0; i < count; ++i)
    buildOperand(builder, i, gqOperandAt(op, i));
  if (gqOperationIsAGroupedBlockQuantize(op)) {
    gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
    for (intptr_t i = 1; i < desc.numInputs; ++i)
      buildOperand(builder, 0, desc.inputs[i]);
  }
  MlirValue number = gqBuildConstant(builder, i64, numberOf(op));
  gqBuildCall(builder, "gqLaunchCheck", 1, &number, 0, NULL);
  return true;
}
