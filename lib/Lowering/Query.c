//===- Query.c - what passes ask of operations --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Query.h"

#include "../IR/Checks.h"
#include "../Support/Text.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

typedef struct Collection {
  gqOpList list;
  bool (*matches)(MlirOperation);
} Collection;

static MlirWalkResult collect(MlirOperation op, void *userData) {
  Collection *collection = userData;
  if (!collection->matches || collection->matches(op))
    gqOpListAdd(&collection->list, op);
  return MlirWalkResultAdvance;
}

gqOpList gqCollect(MlirOperation root, bool (*matches)(MlirOperation)) {
  Collection collection = {.matches = matches};
  mlirOperationWalk(root, collect, &collection, MlirWalkPreOrder);
  return collection.list;
}

MlirOperation gqDefiningOp(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value)
                                     : (MlirOperation){NULL};
}

bool gqHasOneUse(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) &&
         mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

bool gqIsDefinedIn(MlirValue value, MlirBlock block) {
  return mlirBlockEqual(mlirValueIsABlockArgument(value)
                            ? mlirBlockArgumentGetOwner(value)
                            : mlirOperationGetBlock(gqDefiningOp(value)),
                        block);
}

/// Whether `op`, if `itself`, or an op of its block before it, or one inside of
/// such an op, uses `value`.
static bool isUsedUpTo(MlirValue value, MlirOperation op, bool itself) {
  MlirBlock block = mlirOperationGetBlock(op);
  MlirRegion region = mlirBlockGetParentRegion(block);
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    while (!mlirRegionEqual(
        mlirBlockGetParentRegion(mlirOperationGetBlock(user)), region))
      user = mlirOperationGetParentOperation(user);
    if (mlirBlockEqual(mlirOperationGetBlock(user), block) &&
        (mlirOperationEqual(user, op) ? itself
                                      : mlirOperationIsBeforeInBlock(user, op)))
      return true;
  }
  return false;
}

bool gqIsUsedOnlyAfter(MlirValue value, MlirOperation op) {
  return !isUsedUpTo(value, op, true);
}

bool gqIsUsedBefore(MlirValue value, MlirOperation op) {
  return isUsedUpTo(value, op, false);
}

bool gqIsAvailableAt(MlirValue value, MlirOperation op) {
  MlirOperation definition = gqDefiningOp(value);
  return mlirOperationIsNull(definition) ||
         !mlirBlockEqual(mlirOperationGetBlock(definition),
                         mlirOperationGetBlock(op)) ||
         mlirOperationIsBeforeInBlock(definition, op);
}

void gqDestroyIfUnused(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirOpOperandIsNull(
            mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return;
  mlirOperationDestroy(op);
}

bool gqMakesType(MlirOperation op, bool (*check)(MlirType)) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (check(mlirValueGetType(mlirOperationGetResult(op, i))))
      return true;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        if (check(mlirValueGetType(mlirBlockGetArgument(block, i))))
          return true;
  return false;
}

MlirAffineMap gqIndexingMap(MlirOperation generic, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(
      gqGetAttribute(generic, "indexing_maps"), operand));
}

bool gqIsComputeOp(MlirOperation op) { return gqOpInfoOf(op) != NULL; }

bool gqCheckLowerable(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!mlirTypeIsAMemRef(type))
      return gqOpError(op, "needs memrefs to be lowered; run "
                           "one-shot-bufferize before");
    if (mlirTypeIsAFloat4E2M1FN(mlirShapedTypeGetElementType(type)))
      return gqOpError(op, "needs packed data to be lowered; run "
                           "gq-pack-subbyte before bufferization");
  }
  return true;
}

static MlirStringRef nameOf(MlirOperation op) {
  return mlirIdentifierStr(mlirOperationGetName(op));
}

bool gqIsStringOneOf(MlirStringRef string, const char *const *strings) {
  for (; *strings; ++strings)
    if (mlirStringRefEqual(string, mlirStringRefCreateFromCString(*strings)))
      return true;
  return false;
}

bool gqIsNamed(MlirOperation op, const char *name) {
  return mlirStringRefEqual(nameOf(op), mlirStringRefCreateFromCString(name));
}

bool gqIsOneOf(MlirOperation op, const char *const *names) {
  return gqIsStringOneOf(nameOf(op), names);
}

bool gqIsOfDialect(MlirOperation op, const char *prefix) {
  MlirStringRef name = nameOf(op);
  return gqStartsWith(name.data, name.length, prefix);
}

bool gqIsOnHost(MlirOperation op) {
  for (op = mlirOperationGetParentOperation(op); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op))
    if (gqIsNamed(op, "scf.parallel") || gqIsNamed(op, "gpu.module") ||
        gqIsOfDialect(op, "linalg."))
      return false;
  return true;
}

bool gqIsPlainCopy(MlirOperation op) {
  if (!gqIsNamed(op, "memref.copy"))
    return false;
  for (intptr_t i = 0; i < 2; ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (mlirTypeIsAMemRef(type) &&
        !mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
      return false;
  }
  return true;
}
