//===- Functions.c - the functions of a module -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "../IR/OpInfo.h"
#include "../Support/Memory.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <assert.h>
#include <stdlib.h>

/// Whether `op` is in `module` itself, not in a module inside of it.
static bool isDirectlyIn(MlirOperation op, MlirOperation module) {
  do
    op = mlirOperationGetParentOperation(op);
  while (!gqIsNamed(op, "builtin.module") && !gqIsNamed(op, "gpu.module"));
  return mlirOperationEqual(op, module);
}

gqOpList gqCollectDirectly(MlirOperation module,
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
  return gqCollectDirectly(module, isDefinition);
}

gqOpList gqCollectCalls(MlirOperation module) {
  return gqCollectDirectly(module, isCall);
}

gqSignature gqSignatureOf(MlirOperation op) {
  gqSignature signature = {0};
  MlirAttribute attribute = gqGetAttribute(op, "function_type");
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAType(attribute))
    return signature;
  MlirType type = mlirTypeAttrGetValue(attribute);
  if (!mlirTypeIsAFunction(type))
    return signature;
  signature.numInputs = mlirFunctionTypeGetNumInputs(type);
  signature.numResults = mlirFunctionTypeGetNumResults(type);
  intptr_t size = signature.numInputs + signature.numResults;
  signature.types = calloc((size_t)size + 1, sizeof(MlirType));
  if (!signature.types)
    gqOutOfMemory();
  for (intptr_t i = 0; i < signature.numInputs; ++i)
    signature.types[i] = mlirFunctionTypeGetInput(type, i);
  for (intptr_t i = 0; i < signature.numResults; ++i)
    signature.types[signature.numInputs + i] =
        mlirFunctionTypeGetResult(type, i);
  return signature;
}

void gqSetSignature(MlirOperation op, const gqSignature *signature) {
  MlirType type = mlirFunctionTypeGet(
      mlirOperationGetContext(op), signature->numInputs, signature->types,
      signature->numResults, signature->types + signature->numInputs);
  mlirOperationSetAttributeByName(
      op, mlirStringRefCreateFromCString("function_type"),
      mlirTypeAttrGet(type));
}

void gqSignatureFree(gqSignature *signature) {
  free(signature->types);
  *signature = (gqSignature){0};
}

MlirOperation gqEnclosingFunction(MlirOperation op, MlirOperation module) {
  while (!mlirOperationIsNull(op) && !gqIsNamed(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  bool found = !mlirOperationIsNull(op) &&
               mlirOperationEqual(mlirOperationGetParentOperation(op), module);
  return found ? op : (MlirOperation){NULL};
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

//===----------------------------------------------------------------------===//
// Arguments that are only read
//===----------------------------------------------------------------------===//

/// The entry block of the function that `call` names; null if it has none here.
static MlirBlock calleeOf(MlirOperation call, MlirOperation module) {
  gqOpList functions = gqCollectFunctions(module);
  gqOpList one = {.ops = &call, .size = 1};
  MlirBlock entry = {NULL};
  for (intptr_t i = 0; i < functions.size; ++i)
    if (gqIsCalled(functions.ops[i], &one))
      entry =
          mlirRegionGetFirstBlock(mlirOperationGetRegion(functions.ops[i], 0));
  gqOpListFree(&functions);
  return entry;
}

/// Whether `op` passes its operands on other than by its results: to another
/// block, or as an integer that is used as an address.
static bool isEscape(MlirOperation op) {
  if (gqIsNamed(op, "func.return"))
    return false;
  return gqIsNamed(op, "memref.extract_aligned_pointer_as_index") ||
         mlirOperationEqual(mlirBlockGetTerminator(mlirOperationGetBlock(op)),
                            op);
}

/// `budget` is how many more uses are looked at.
static bool isOnlyRead(MlirValue buffer, MlirOperation module, int *budget) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    intptr_t operand = mlirOpOperandGetOperandNumber(use);
    if ((*budget)-- <= 0)
      return false;
    if (gqIsNamed(op, "func.call")) {
      MlirBlock callee = calleeOf(op, module);
      if (mlirBlockIsNull(callee) ||
          !isOnlyRead(mlirBlockGetArgument(callee, operand), module, budget))
        return false;
    } else if (isEscape(op) ||
               (!gqIsNamed(op, "func.return") && !gqOnlyReads(op, operand))) {
      return false;
    }
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
      MlirValue result = mlirOperationGetResult(op, i);
      if (mlirTypeIsAMemRef(mlirValueGetType(result)) &&
          !isOnlyRead(result, module, budget))
        return false;
    }
  }
  return true;
}

bool gqIsOnlyRead(MlirValue buffer, MlirOperation module) {
  int budget = 4096;
  return isOnlyRead(buffer, module, &budget);
}
