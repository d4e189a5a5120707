//===- Functions.c - the functions of a module -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir-c/BuiltinAttributes.h"

#include <assert.h>

/// Whether `op` is in `module` itself, not in a module inside of it.
static bool isDirectlyIn(MlirOperation op, MlirOperation module) {
  do
    op = mlirOperationGetParentOperation(op);
  while (!gqIsNamed(op, "builtin.module") && !gqIsNamed(op, "gpu.module"));
  return mlirOperationEqual(op, module);
}

static gqOpList collectDirectly(MlirOperation module,
                                bool (*matches)(MlirOperation)) {
  assert(gqIsNamed(module, "builtin.module"));
  gqOpList list = gqCollect(module, matches);
  intptr_t size = 0;
  for (intptr_t i = 0; i < list.size; ++i)
    if (isDirectlyIn(list.ops[i], module))
      list.ops[size++] = list.ops[i];
  list.size = size;
  return list;
}

static bool isDefinition(MlirOperation op) {
  return gqIsNamed(op, "func.func") && !mlirBlockIsNull(mlirRegionGetFirstBlock(
                                           mlirOperationGetRegion(op, 0)));
}

static bool isCall(MlirOperation op) {
  return gqIsNamed(op, "func.call") || gqIsNamed(op, "func.constant");
}

gqOpList gqCollectFunctions(MlirOperation module) {
  return collectDirectly(module, isDefinition);
}

gqOpList gqCollectCalls(MlirOperation module) {
  return collectDirectly(module, isCall);
}

bool gqIsPublic(MlirOperation function) {
  MlirAttribute visibility = gqGetAttribute(function, "sym_visibility");
  return mlirAttributeIsNull(visibility) ||
         mlirStringRefEqual(mlirStringAttrGetValue(visibility),
                            mlirStringRefCreateFromCString("public"));
}

bool gqIsCalled(MlirOperation function, const gqOpList *calls) {
  MlirStringRef name =
      mlirStringAttrGetValue(gqGetAttribute(function, "sym_name"));
  for (intptr_t i = 0; i < calls->size; ++i) {
    const char *attribute =
        gqIsNamed(calls->ops[i], "func.call") ? "callee" : "value";
    if (mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(
                               gqGetAttribute(calls->ops[i], attribute)),
                           name))
      return true;
  }
  return false;
}
