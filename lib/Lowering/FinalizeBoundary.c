//===- FinalizeBoundary.c - gq-finalize-boundary -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

static MlirStringRef string(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool isFunction(MlirOperation op) { return gqIsNamed(op, "func.func"); }
static bool isReturn(MlirOperation op) { return gqIsNamed(op, "func.return"); }
static bool isCall(MlirOperation op) {
  return gqIsNamed(op, "func.call") || gqIsNamed(op, "func.constant");
}

/// A function with a body that code outside of the module can call.
static bool isPublicDefinition(MlirOperation function) {
  MlirAttribute visibility = gqGetAttribute(function, "sym_visibility");
  bool isPublic =
      mlirAttributeIsNull(visibility) ||
      mlirStringRefEqual(mlirStringAttrGetValue(visibility), string("public"));
  return isPublic && !mlirBlockIsNull(mlirRegionGetFirstBlock(
                         mlirOperationGetRegion(function, 0)));
}

/// Whether one of `calls` names `function`.
static bool isCalled(MlirOperation function, const gqOpList *calls) {
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

/// The argument of `entry` that `value` is, or -1. A cast changes only how much
/// of the shape is static.
static int32_t sourceOf(MlirValue value, MlirBlock entry) {
  while (mlirValueIsAOpResult(value) &&
         gqIsNamed(mlirOpResultGetOwner(value), "memref.cast"))
    value = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
  if (!mlirValueIsABlockArgument(value) ||
      !mlirTypeIsAMemRef(mlirValueGetType(value)) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(value), entry))
    return -1;
  return (int32_t)mlirBlockArgumentGetArgNumber(value);
}

/// Two results may not share a buffer that the caller frees: from the second
/// on, a buffer that is returned again is cloned.
static void cloneRepeatedResults(MlirOperation ret) {
  gqBuilder builder = gqBuilderBefore(ret);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(ret); ++i)
    for (intptr_t j = 0; j < i; ++j) {
      MlirValue value = mlirOperationGetOperand(ret, i);
      if (!mlirTypeIsAMemRef(mlirValueGetType(value)) ||
          !mlirValueEqual(value, mlirOperationGetOperand(ret, j)))
        continue;
      mlirOperationSetOperand(ret, i,
                              gqBuildValue(&builder, "bufferization.clone", 1,
                                           &value, mlirValueGetType(value)));
      break;
    }
}

static MlirAttribute typeArray(MlirContext context, const gqTypeList *types) {
  MlirAttribute *attributes =
      calloc((size_t)types->size + 1, sizeof(MlirAttribute));
  if (!attributes)
    abort();
  for (intptr_t i = 0; i < types->size; ++i)
    attributes[i] = mlirTypeAttrGet(types->types[i]);
  MlirAttribute array = mlirArrayAttrGet(context, types->size, attributes);
  free(attributes);
  return array;
}

/// Replaces `ret` by a return of the values that are no argument, and the type
/// of its function accordingly.
static void dropResults(MlirOperation function, MlirOperation ret,
                        const int32_t *sources) {
  MlirContext context = mlirOperationGetContext(function);
  MlirType type =
      mlirTypeAttrGetValue(gqGetAttribute(function, "function_type"));
  MlirOperationState state = mlirOperationStateGet(
      string("func.return"), mlirOperationGetLocation(ret));
  gqTypeList inputs = {0}, results = {0};
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    gqTypeListAdd(&inputs, mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(ret); ++i) {
    MlirValue value = mlirOperationGetOperand(ret, i);
    if (sources[i] >= 0)
      continue;
    mlirOperationStateAddOperands(&state, 1, &value);
    gqTypeListAdd(&results, mlirValueGetType(value));
  }
  gqBuilder builder = gqBuilderBefore(ret);
  gqInsert(&builder, mlirOperationCreate(&state));
  mlirOperationDestroy(ret);
  mlirOperationSetAttributeByName(
      function, string("function_type"),
      mlirTypeAttrGet(mlirFunctionTypeGet(context, inputs.size, inputs.types,
                                          results.size, results.types)));
  // Attributes of single results would no longer match.
  mlirOperationRemoveAttributeByName(function, string("res_attrs"));
  gqTypeListFree(&inputs);
  gqTypeListFree(&results);
}

/// Records what the function takes and gives, where each result comes from.
static void recordBoundary(MlirOperation function, const int32_t *sources) {
  MlirContext context = mlirOperationGetContext(function);
  MlirType type =
      mlirTypeAttrGetValue(gqGetAttribute(function, "function_type"));
  gqTypeList inputs = {0}, results = {0};
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    gqTypeListAdd(&inputs, mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    gqTypeListAdd(&results, mlirFunctionTypeGetResult(type, i));
  MlirNamedAttribute entries[] = {
      gqAttribute(context, "inputs", typeArray(context, &inputs)),
      gqAttribute(context, "results", typeArray(context, &results)),
      gqAttribute(context, "sources",
                  mlirDenseI32ArrayGet(context, results.size, sources)),
  };
  mlirOperationSetAttributeByName(function, string("gq.boundary"),
                                  mlirDictionaryAttrGet(context, 3, entries));
  mlirOperationSetAttributeByName(function, string("llvm.emit_c_interface"),
                                  mlirUnitAttrGet(context));
  gqTypeListFree(&inputs);
  gqTypeListFree(&results);
}

static void finalize(MlirOperation function, bool keepResults) {
  gqOpList returns = gqCollect(function, isReturn);
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (intptr_t i = 0; i < returns.size; ++i)
    cloneRepeatedResults(returns.ops[i]);

  // With several returns, a result may come from different places.
  bool canDrop = returns.size == 1 && !keepResults;
  intptr_t numResults = mlirOperationGetNumOperands(returns.ops[0]);
  int32_t *sources = malloc(((size_t)numResults + 1) * sizeof(int32_t));
  if (!sources)
    abort();
  for (intptr_t i = 0; i < numResults; ++i)
    sources[i] =
        canDrop ? sourceOf(mlirOperationGetOperand(returns.ops[0], i), entry)
                : -1;
  recordBoundary(function, sources);
  if (canDrop)
    dropResults(function, returns.ops[0], sources);
  free(sources);
  gqOpListFree(&returns);
}

MlirLogicalResult gqFinalizeBoundary(MlirOperation module) {
  gqOpList functions = gqCollect(module, isFunction);
  gqOpList calls = gqCollect(module, isCall);
  for (intptr_t i = 0; i < functions.size; ++i)
    if (isPublicDefinition(functions.ops[i]))
      finalize(functions.ops[i], isCalled(functions.ops[i], &calls));
  gqOpListFree(&calls);
  gqOpListFree(&functions);
  return mlirLogicalResultSuccess();
}
