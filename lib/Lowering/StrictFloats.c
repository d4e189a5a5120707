//===- StrictFloats.c - gq-strict-floats -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

static bool isConversion(MlirOperation op) {
  return gqIsNamed(op, "arith.extf") || gqIsNamed(op, "arith.truncf");
}

void gqStrictFloats(MlirOperation root) {
  gqOpList ops = gqCollect(root, isConversion);
  for (intptr_t i = 0; i < ops.size; ++i)
    mlirOperationRemoveAttributeByName(
        ops.ops[i], mlirStringRefCreateFromCString("fastmath"));
  gqOpListFree(&ops);
}
