//===- FreshInits.c - gq-fresh-inits -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

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
