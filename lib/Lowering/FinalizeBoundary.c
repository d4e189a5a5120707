//===- FinalizeBoundary.c - gq-finalize-boundary -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "../Support/Memory.h"
#include "Build.h"
#include "Functions.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

static MlirStringRef string(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool isReturn(MlirOperation op) { return gqIsNamed(op, "func.return"); }

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

/// Whether `op` gives another view of its first operand's buffer.
static bool isView(MlirOperation op) {
  static const char *const views[] = {
      "memref.cast",
      "memref.expand_shape",
      "memref.collapse_shape",
      "memref.subview",
      "memref.view",
      "memref.reshape",
      "memref.reinterpret_cast",
      "memref.transpose",
      "memref.memory_space_cast",
      "memref.assume_alignment",
      "memref.extract_strided_metadata",
      NULL,
  };
  return gqIsOneOf(op, views);
}

/// What `value` is a view of.
static MlirValue rootOf(MlirValue value) {
  while (mlirValueIsAOpResult(value) && isView(mlirOpResultGetOwner(value)))
    value = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
  return value;
}

/// Whether `root` and its views are the only values of the function in that
/// buffer: an allocation, an argument, or what another function returns, which
/// never returns a buffer twice.
static bool isUnique(MlirValue root, MlirBlock entry) {
  MlirOperation op = gqDefiningOp(root);
  if (mlirOperationIsNull(op))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(root), entry);
  return gqIsNamed(op, "memref.alloc") || gqIsNamed(op, "func.call") ||
         gqIsNamed(op, "bufferization.clone");
}

/// Whether two values may share a buffer.
static bool mayShare(MlirValue a, MlirValue b, MlirBlock entry) {
  a = rootOf(a);
  b = rootOf(b);
  return mlirValueEqual(a, b) || !isUnique(a, entry) || !isUnique(b, entry);
}

static void cloneResult(MlirOperation ret, intptr_t i) {
  gqBuilder builder = gqBuilderBefore(ret);
  MlirValue value = mlirOperationGetOperand(ret, i);
  mlirOperationSetOperand(ret, i,
                          gqBuildValue(&builder, "bufferization.clone", 1,
                                       &value, mlirValueGetType(value)));
}

/// Results must not share a buffer, since each is freed: another view of an
/// argument is cloned, and so is, from the second time on, a buffer that is
/// returned more than once.
static void cloneSharedResults(MlirOperation ret, MlirBlock entry) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(ret); ++i) {
    MlirValue value = mlirOperationGetOperand(ret, i);
    MlirValue root = rootOf(value);
    if (mlirTypeIsAMemRef(mlirValueGetType(value)) &&
        mlirValueIsABlockArgument(root) && isUnique(root, entry) &&
        sourceOf(value, entry) < 0)
      cloneResult(ret, i);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(ret); ++i) {
    MlirValue value = mlirOperationGetOperand(ret, i);
    bool isShared = false;
    for (intptr_t j = 0; j < i; ++j) {
      MlirValue other = mlirOperationGetOperand(ret, j);
      isShared |= mlirTypeIsAMemRef(mlirValueGetType(other)) &&
                  mayShare(value, other, entry);
    }
    if (isShared && mlirTypeIsAMemRef(mlirValueGetType(value)))
      cloneResult(ret, i);
  }
}

static MlirAttribute typeArray(MlirContext context, intptr_t count,
                               const MlirType *types) {
  MlirAttribute *attributes = calloc((size_t)count + 1, sizeof(MlirAttribute));
  if (!attributes)
    gqOutOfMemory();
  for (intptr_t i = 0; i < count; ++i)
    attributes[i] = mlirTypeAttrGet(types[i]);
  MlirAttribute array = mlirArrayAttrGet(context, count, attributes);
  free(attributes);
  return array;
}

/// Makes `ret` return only the values that are not arguments, and changes the
/// type of its function accordingly.
static void dropResults(MlirOperation function, MlirOperation ret,
                        const int32_t *sources) {
  gqSignature signature = gqSignatureOf(function);
  MlirType *results = signature.types + signature.numInputs;
  MlirValue *kept = calloc((size_t)signature.numResults + 1, sizeof(MlirValue));
  if (!kept)
    gqOutOfMemory();
  intptr_t numKept = 0;
  for (intptr_t i = 0; i < signature.numResults; ++i) {
    if (sources[i] >= 0)
      continue;
    kept[numKept] = mlirOperationGetOperand(ret, i);
    results[numKept++] = results[i];
  }
  signature.numResults = numKept;
  mlirOperationSetOperands(ret, numKept, kept);
  free(kept);
  gqSetSignature(function, &signature);
  gqSignatureFree(&signature);
  // Attributes of single results would no longer match.
  mlirOperationRemoveAttributeByName(function, string("res_attrs"));
}

/// For each argument, whether the function may write to its memory.
static MlirAttribute writtenArguments(MlirOperation function) {
  MlirOperation module = mlirOperationGetParentOperation(function);
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  intptr_t count = mlirBlockGetNumArguments(entry);
  int *written = calloc((size_t)count + 1, sizeof(int));
  if (!written)
    gqOutOfMemory();
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue argument = mlirBlockGetArgument(entry, i);
    written[i] = mlirTypeIsAMemRef(mlirValueGetType(argument)) &&
                 !gqIsOnlyRead(argument, module);
  }
  MlirAttribute attribute =
      mlirDenseBoolArrayGet(mlirOperationGetContext(function), count, written);
  free(written);
  return attribute;
}

/// Records what the function takes and returns, which arguments it writes to
/// and where each result comes from.
static void recordBoundary(MlirOperation function, const int32_t *sources) {
  MlirContext context = mlirOperationGetContext(function);
  gqSignature signature = gqSignatureOf(function);
  MlirNamedAttribute entries[] = {
      gqAttribute(context, "inputs",
                  typeArray(context, signature.numInputs, signature.types)),
      gqAttribute(context, "results",
                  typeArray(context, signature.numResults,
                            signature.types + signature.numInputs)),
      gqAttribute(context, "sources",
                  mlirDenseI32ArrayGet(context, signature.numResults, sources)),
      gqAttribute(context, "written", writtenArguments(function)),
  };
  mlirOperationSetAttributeByName(function, string("gq.boundary"),
                                  mlirDictionaryAttrGet(context, 4, entries));
  mlirOperationSetAttributeByName(function, string("llvm.emit_c_interface"),
                                  mlirUnitAttrGet(context));
  gqSignatureFree(&signature);
}

static void finalize(MlirOperation function, const gqOpList *returns,
                     bool keepResults) {
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  // With several returns, a result may come from different places. Without one,
  // there never is a result.
  bool canDrop = returns->size == 1 && !keepResults;
  intptr_t numResults = mlirFunctionTypeGetNumResults(
      mlirTypeAttrGetValue(gqGetAttribute(function, "function_type")));
  int32_t *sources = calloc((size_t)numResults + 1, sizeof(int32_t));
  if (!sources)
    gqOutOfMemory();
  for (intptr_t i = 0; i < numResults; ++i)
    sources[i] =
        canDrop ? sourceOf(mlirOperationGetOperand(returns->ops[0], i), entry)
                : -1;
  recordBoundary(function, sources);
  if (canDrop)
    dropResults(function, returns->ops[0], sources);
  free(sources);
}

/// Why no caller can pass or get a value of this type; null if one can.
/// Upstream's conversion would end the process when it makes the C interface.
static const char *findUnpassable(MlirType type) {
  if (mlirTypeIsAUnrankedMemRef(type))
    return "a memref without a rank";
  MlirStringRef dialect = mlirDialectGetNamespace(mlirTypeGetDialect(type));
  if (mlirStringRefEqual(dialect, mlirStringRefCreateFromCString("async")))
    return "a token or a value of the async dialect";
  return NULL;
}

/// The same for everything that `function` takes and returns.
static const char *findUnpassableOf(MlirOperation function) {
  gqSignature signature = gqSignatureOf(function);
  const char *found = NULL;
  for (intptr_t i = 0; !found && i < signature.numInputs + signature.numResults;
       ++i)
    found = findUnpassable(signature.types[i]);
  gqSignatureFree(&signature);
  return found;
}

static bool isFunction(MlirOperation op) { return gqIsNamed(op, "func.func"); }

/// Functions with callers outside of the module take and return only what those
/// can have.
static bool checkInterfaces(MlirOperation module) {
  gqOpList functions = gqCollectDirectly(module, isFunction);
  bool valid = true;
  for (intptr_t i = 0; i < functions.size; ++i) {
    MlirOperation function = functions.ops[i];
    bool hasInterface =
        gqIsPublic(function) ||
        !mlirAttributeIsNull(gqGetAttribute(function, "llvm.emit_c_interface"));
    const char *unpassable = hasInterface ? findUnpassableOf(function) : NULL;
    if (unpassable)
      valid = gqOpError(function,
                        "has a caller, who cannot pass %s; make the function "
                        "private and without llvm.emit_c_interface",
                        unpassable);
  }
  gqOpListFree(&functions);
  return valid;
}

MlirLogicalResult gqFinalizeBoundary(MlirOperation module) {
  if (!checkInterfaces(module))
    return mlirLogicalResultFailure();
  gqOpList functions = gqCollectFunctions(module);
  gqOpList calls = gqCollectCalls(module);
  for (intptr_t i = 0; i < functions.size; ++i) {
    MlirOperation function = functions.ops[i];
    MlirBlock entry =
        mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    gqOpList returns = gqCollect(function, isReturn);
    for (intptr_t k = 0; k < returns.size; ++k)
      cloneSharedResults(returns.ops[k], entry);
    if (gqIsPublic(function))
      finalize(function, &returns, gqIsCalled(function, &calls));
    gqOpListFree(&returns);
  }
  gqOpListFree(&calls);
  gqOpListFree(&functions);
  return mlirLogicalResultSuccess();
}
