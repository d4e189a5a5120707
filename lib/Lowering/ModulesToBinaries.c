//===- ModulesToBinaries.c - gq-modules-to-binaries ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gpu-module-to-binary takes the gpu.modules of an op one after the other. An
// op of its own around each makes them a nested pipeline's, which MLIR runs on
// the threads of the context.
//
//===----------------------------------------------------------------------===//

#include "Passes.h"
#include "Query.h"

static MlirBlock bodyOf(MlirOperation module) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
}

/// Puts `op` into a module at the end of `body`.
static void wrap(MlirOperation op, MlirBlock body) {
  MlirModule module = mlirModuleCreateEmpty(mlirOperationGetLocation(op));
  mlirBlockAppendOwnedOperation(body, mlirModuleGetOperation(module));
  mlirOperationRemoveFromParent(op);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module), op);
}

MlirOperation gqSeparateGpuModules(MlirOperation module) {
  MlirModule all = mlirModuleCreateEmpty(mlirOperationGetLocation(module));
  MlirOperation op = mlirBlockGetFirstOperation(bodyOf(module));
  mlirBlockInsertOwnedOperationBefore(bodyOf(module), op,
                                      mlirModuleGetOperation(all));
  while (!mlirOperationIsNull(op)) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    if (gqIsNamed(op, "gpu.module"))
      wrap(op, mlirModuleGetBody(all));
    op = next;
  }
  return mlirModuleGetOperation(all);
}

void gqJoinGpuModules(MlirOperation separated) {
  MlirBlock target = mlirOperationGetBlock(separated);
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(separated));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirOperation binary = mlirBlockGetFirstOperation(bodyOf(op));
    mlirOperationRemoveFromParent(binary);
    mlirBlockInsertOwnedOperationBefore(target, separated, binary);
  }
  mlirOperationDestroy(separated);
}
