//===- ProtectArguments.c - gq-protect-arguments -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A caller may only see writes to what is returned as a view: `sources` of
// gq-finalize-boundary. So an argument is writable only if bufferization is
// known to either leave it alone or return it as a result. Where that is not
// known, a copy is made.
//
//===----------------------------------------------------------------------===//

#include "../Support/Memory.h"
#include "Build.h"
#include "Functions.h"
#include "Inits.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

static MlirStringRef string(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool isReturn(MlirOperation op) { return gqIsNamed(op, "func.return"); }

/// Whether `op` has as many 'outs' as results, and they are its last operands:
/// the gq ops, and those of linalg but a few with other operands behind.
static bool hasTrailingInits(MlirOperation op) {
  return gqIsOfDialect(op, "gq.") ||
         (gqIsOfDialect(op, "linalg.") && !gqIsNamed(op, "linalg.pack") &&
          !gqIsNamed(op, "linalg.unpack"));
}

//===----------------------------------------------------------------------===//
// From a result to the argument that it is written into
//===----------------------------------------------------------------------===//

/// An operand of `owner` whose buffer a result of `owner` lives in. Null, if
/// there is none or it is not sure.
typedef struct Tie {
  MlirOperation owner;
  intptr_t operand;
} Tie;

static Tie tieOf(MlirValue value) {
  MlirOperation op = gqDefiningOp(value);
  if (mlirOperationIsNull(op))
    return (Tie){0};
  intptr_t number = mlirOpResultGetResultNumber(value);
  if (hasTrailingInits(op))
    return (Tie){op, mlirOperationGetNumOperands(op) -
                         mlirOperationGetNumResults(op) + number};
  if (gqIsNamed(op, "tensor.cast"))
    return (Tie){op, 0};
  if (gqIsNamed(op, "tensor.insert") || gqIsNamed(op, "tensor.insert_slice"))
    return (Tie){op, 1};
  // After the bounds and the step.
  if (gqIsNamed(op, "scf.for"))
    return (Tie){op, 3 + number};
  return (Tie){0};
}

/// Whether `use` reads the tensor and cannot alias it.
static bool isRead(MlirOpOperand use) {
  MlirOperation op = mlirOpOperandGetOwner(use);
  if (hasTrailingInits(op))
    return mlirOpOperandGetOperandNumber(use) <
           mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op);
  if (gqIsNamed(op, "arith.select"))
    return false;
  // Element-wise, and then with inits of their own (gq-fresh-inits).
  return isReturn(op) || gqIsOfDialect(op, "arith.") ||
         gqIsOfDialect(op, "math.") || gqIsNamed(op, "tensor.dim") ||
         gqIsNamed(op, "tensor.extract");
}

/// Whether no use of `value` but `tie` can write to its buffer; with `alone`,
/// whether there is no other use at all.
static bool isOnlyWrittenBy(MlirValue value, Tie tie, bool alone) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    bool isTie = mlirOperationEqual(mlirOpOperandGetOwner(use), tie.owner) &&
                 mlirOpOperandGetOperandNumber(use) == tie.operand;
    if (!isTie && (alone || !isRead(use)))
      return false;
  }
  return true;
}

/// Follows `value` to the argument of `block` in whose buffer it lives, through
/// operations of that block and loops in it; null if that is not sure.
static MlirValue argumentOf(MlirValue value, MlirBlock block) {
  while (!mlirValueIsABlockArgument(value)) {
    Tie tie = tieOf(value);
    if (mlirOperationIsNull(tie.owner) ||
        !mlirBlockEqual(mlirOperationGetBlock(tie.owner), block))
      return (MlirValue){0};
    if (gqIsNamed(tie.owner, "scf.for")) {
      MlirBlock body =
          mlirRegionGetFirstBlock(mlirOperationGetRegion(tie.owner, 0));
      intptr_t number = mlirOpResultGetResultNumber(value);
      MlirValue carried = argumentOf(
          mlirOperationGetOperand(mlirBlockGetTerminator(body), number), body);
      // After the induction variable.
      if (mlirValueIsNull(carried) ||
          mlirBlockArgumentGetArgNumber(carried) != 1 + number)
        return (MlirValue){0};
    }
    // If a tensor on the way were also read, what precedes it could be in place
    // and what follows in a copy. A read of the argument makes all of it a
    // copy.
    MlirValue into = mlirOperationGetOperand(tie.owner, tie.operand);
    if (!isOnlyWrittenBy(into, tie, !mlirValueIsABlockArgument(into)))
      return (MlirValue){0};
    value = into;
  }
  return mlirBlockEqual(mlirBlockArgumentGetOwner(value), block)
             ? value
             : (MlirValue){0};
}

//===----------------------------------------------------------------------===//
// Results of linalg.generic
//===----------------------------------------------------------------------===//

/// Fusion gives a linalg.generic that does not read its init a new one. If
/// its result is returned and the init is an argument that has no other use,
/// says so in a way that survives.
static void keepDestination(MlirOperation ret, intptr_t operand) {
  MlirValue value = mlirOperationGetOperand(ret, operand);
  MlirOperation generic = gqDefiningOp(value);
  if (mlirOperationIsNull(generic) || !gqIsNamed(generic, "linalg.generic"))
    return;
  intptr_t init = tieOf(value).operand;
  MlirValue destination = mlirOperationGetOperand(generic, init);
  if (!mlirValueIsABlockArgument(destination) || !gqHasOneUse(destination) ||
      !gqIsInitUnread(generic, init))
    return;
  gqFreshenInit(generic, init);
  gqBuilder builder = gqBuilderBefore(ret);
  MlirValue operands[] = {value, destination};
  mlirOperationSetOperand(
      ret, operand,
      gqBuildValue(&builder, "bufferization.materialize_in_destination", 2,
                   operands, mlirValueGetType(value)));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Sets bufferization.writable = false on each tensor argument of `function`
/// that is not one of `written`, unless its author has set it.
static void protect(MlirOperation function, MlirBlock entry,
                    const bool *written) {
  MlirContext context = mlirOperationGetContext(function);
  intptr_t count = mlirBlockGetNumArguments(entry);
  MlirAttribute old = gqGetAttribute(function, "arg_attrs");
  MlirAttribute *all = calloc((size_t)count + 1, sizeof(MlirAttribute));
  if (!all)
    gqOutOfMemory();
  for (intptr_t i = 0; i < count; ++i) {
    all[i] = mlirAttributeIsNull(old) ? mlirDictionaryAttrGet(context, 0, NULL)
                                      : mlirArrayAttrGetElement(old, i);
    MlirType type = mlirValueGetType(mlirBlockGetArgument(entry, i));
    if (written[i] || !mlirTypeIsATensor(type) ||
        !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(
            all[i], string("bufferization.writable"))))
      continue;
    intptr_t size = mlirDictionaryAttrGetNumElements(all[i]);
    MlirNamedAttribute *elements =
        calloc((size_t)size + 1, sizeof(MlirNamedAttribute));
    if (!elements)
      gqOutOfMemory();
    for (intptr_t k = 0; k < size; ++k)
      elements[k] = mlirDictionaryAttrGetElement(all[i], k);
    elements[size] = gqAttribute(context, "bufferization.writable",
                                 mlirBoolAttrGet(context, false));
    all[i] = mlirDictionaryAttrGet(context, size + 1, elements);
    free(elements);
  }
  mlirOperationSetAttributeByName(function, string("arg_attrs"),
                                  mlirArrayAttrGet(context, count, all));
  free(all);
}

static void protectFunction(MlirOperation function, bool isCalled) {
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  intptr_t count = mlirBlockGetNumArguments(entry);
  if (!count)
    return;
  gqOpList returns = gqCollect(function, isReturn);
  bool *written = calloc((size_t)count, sizeof(bool));
  if (!written)
    gqOutOfMemory();
  // As in gq-finalize-boundary: otherwise no result is an argument.
  if (returns.size == 1 && !isCalled) {
    MlirOperation ret = returns.ops[0];
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(ret); ++i) {
      MlirValue argument = argumentOf(mlirOperationGetOperand(ret, i), entry);
      if (mlirValueIsNull(argument))
        continue;
      written[mlirBlockArgumentGetArgNumber(argument)] = true;
      keepDestination(ret, i);
    }
  }
  protect(function, entry, written);
  free(written);
  gqOpListFree(&returns);
}

MlirLogicalResult gqProtectArguments(MlirOperation module) {
  gqOpList functions = gqCollectFunctions(module);
  gqOpList calls = gqCollectCalls(module);
  for (intptr_t i = 0; i < functions.size; ++i)
    if (gqIsPublic(functions.ops[i]))
      protectFunction(functions.ops[i], gqIsCalled(functions.ops[i], &calls));
  gqOpListFree(&calls);
  gqOpListFree(&functions);
  return mlirLogicalResultSuccess();
}
