//===- FuseEpilogues.c - gq-fuse-epilogues -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "Build.h"
#include "Fusion.h"
#include "Inits.h"
#include "Passes.h"
#include "Query.h"
#include "Remarks.h"

#include "gq-c/Dialect.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static const char passName[] = "gq-fuse-epilogues";

/// An element-wise op behind an op that takes epilogues, and how it reads the
/// result, of a matmul the product: its inputs are the result, or the two
/// columns of pairs, in some order.
typedef struct Match {
  MlirOperation op, generic;
  gqPairs pairs;
  /// Of pairs, the tensor.extract_slice of the first and of the second column.
  MlirOperation slices[2];
} Match;

/// linalg.generic or linalg.map, which is one of identities.
static bool isGeneric(MlirOperation op) {
  return gqIsNamed(op, "linalg.generic") || gqIsNamed(op, "linalg.map");
}

static bool isIdentity(MlirOperation generic, intptr_t operand) {
  return gqIsNamed(generic, "linalg.map") ||
         mlirAffineMapIsIdentity(gqIndexingMap(generic, operand));
}

static bool isSlice(MlirOperation op) {
  return gqIsNamed(op, "tensor.extract_slice");
}

/// The 'outs' of an op with one result.
static MlirValue outOf(MlirOperation op) {
  return mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - 1);
}

//===----------------------------------------------------------------------===//
// The columns of pairs
//===----------------------------------------------------------------------===//

/// Entry `i` of an array of a tensor.extract_slice.
static int64_t entryOf(MlirOperation slice, const char *array, intptr_t i) {
  return mlirDenseI64ArrayGetElement(gqGetAttribute(slice, array), i);
}

/// Whether `size` is a value for the rows of the product of `mm`.
static bool isNumRows(MlirValue size, MlirOperation mm) {
  MlirOperation dim = gqDefiningOp(size);
  MlirOperation empty = gqDefiningOp(outOf(mm));
  if (!mlirOperationIsNull(empty) && mlirOperationGetNumOperands(empty) == 1 &&
      mlirValueEqual(mlirOperationGetOperand(empty, 0), size))
    return true;
  if (mlirOperationIsNull(dim) || !gqIsNamed(dim, "tensor.dim"))
    return false;
  MlirOperation number = gqDefiningOp(mlirOperationGetOperand(dim, 1));
  MlirValue of = mlirOperationGetOperand(dim, 0);
  return !mlirOperationIsNull(number) && gqIsNamed(number, "arith.constant") &&
         mlirIntegerAttrGetValueInt(gqGetAttribute(number, "value")) == 0 &&
         (mlirValueEqual(of, mlirOperationGetResult(mm, 0)) ||
          mlirValueEqual(of, outOf(mm)));
}

/// How a slice of all rows is a column of each pair of a matmul's product:
/// `*second` says which. GQ_PAIRS_NONE if it is none.
static gqPairs pairsOf(MlirOperation slice, MlirOperation mm, bool *second) {
  if (!gqOperationIsAGroupedMm(mm))
    return GQ_PAIRS_NONE;
  int64_t n = gqDim(mlirOperationGetResult(mm, 0), 1);
  int64_t rows = gqDim(mlirOperationGetResult(mm, 0), 0);
  int64_t offset = entryOf(slice, "static_offsets", 1);
  int64_t stride = entryOf(slice, "static_strides", 1);
  intptr_t numValues = mlirOperationGetNumOperands(slice) - 1;
  bool allRows =
      numValues == 0
          ? rows != GQ_DYNAMIC && entryOf(slice, "static_sizes", 0) == rows
          : numValues == 1 &&
                entryOf(slice, "static_sizes", 0) ==
                    mlirShapedTypeGetDynamicSize() &&
                isNumRows(mlirOperationGetOperand(slice, 1), mm);
  MlirType type = mlirValueGetType(mlirOperationGetResult(slice, 0));
  if (!allRows || mlirShapedTypeGetRank(type) != 2 || n == GQ_DYNAMIC ||
      n % 2 || entryOf(slice, "static_offsets", 0) != 0 ||
      entryOf(slice, "static_strides", 0) != 1 ||
      entryOf(slice, "static_sizes", 1) != n / 2)
    return GQ_PAIRS_NONE;
  *second = offset != 0;
  return stride == 2 && offset <= 1 ? GQ_PAIRS_INTERLEAVED
         : stride == 1 && (offset == 0 || offset == n / 2) ? GQ_PAIRS_HALVES
                                                           : GQ_PAIRS_NONE;
}

//===----------------------------------------------------------------------===//
// What can be fused
//===----------------------------------------------------------------------===//

/// The one user of `value`, however often; null if there are several.
static MlirOperation onlyUser(MlirValue value) {
  MlirOperation user = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation owner = mlirOpOperandGetOwner(use);
    if (!mlirOperationIsNull(user) && !mlirOperationEqual(user, owner))
      return (MlirOperation){NULL};
    user = owner;
  }
  return user;
}

/// Finds the op behind `op` and how it reads the result. Returns why there is
/// none, or null; "" if there is nothing to say.
static const char *match(MlirOperation op, Match *m) {
  MlirValue result = mlirOperationGetResult(op, 0);
  *m = (Match){.op = op, .generic = onlyUser(result)};
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
    return "";
  if (!mlirOperationIsNull(m->generic) && !isSlice(m->generic))
    return isGeneric(m->generic) ? NULL : "";
  intptr_t numSlices = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(result);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (gqIsNamed(user, "tensor.dim"))
      continue;
    bool second;
    gqPairs pairs = isSlice(user) ? pairsOf(user, op, &second) : GQ_PAIRS_NONE;
    if (pairs == GQ_PAIRS_NONE || numSlices++ == 2 ||
        !mlirOperationIsNull(m->slices[second]))
      return "the result has another user";
    // With N of 2 the first halves are interleaved columns, too.
    m->pairs = pairs;
    m->slices[second] = user;
  }
  if (numSlices < 2)
    return "just one column of each pair is used";
  for (int i = 0; i < 2; ++i) {
    MlirOperation slice = m->slices[i];
    MlirOperation user = onlyUser(mlirOperationGetResult(slice, 0));
    if (mlirOperationIsNull(user) || !isGeneric(user) ||
        (i && !mlirOperationEqual(user, m->generic)))
      return "the columns of pairs do not meet in one linalg.generic";
    m->generic = user;
  }
  bool second;
  return pairsOf(m->slices[0], op, &second) ==
                 pairsOf(m->slices[1], op, &second)
             ? NULL
             : "the columns of pairs are not of one kind";
}

/// Which argument of the epilogue input `i` of the linalg.generic is; -1 if it
/// is none.
static int argumentOf(const Match *m, intptr_t i) {
  MlirValue input = mlirOperationGetOperand(m->generic, i);
  for (int second = 0; second < 2; ++second)
    if (m->pairs != GQ_PAIRS_NONE &&
        mlirValueEqual(mlirOperationGetResult(m->slices[second], 0), input))
      return second;
  return m->pairs == GQ_PAIRS_NONE &&
                 mlirValueEqual(mlirOperationGetResult(m->op, 0), input)
             ? 0
             : -1;
}

/// Returns why the two cannot be one, or null if they can.
static const char *check(const Match *m) {
  MlirOperation generic = m->generic;
  intptr_t numInputs = mlirOperationGetNumOperands(generic) - 1;
  if (!mlirBlockEqual(mlirOperationGetBlock(generic),
                      mlirOperationGetBlock(m->op)))
    return "the two are in different blocks";
  if (mlirOperationGetNumResults(generic) != 1)
    return "the op behind has several results";
  MlirOperation init = gqDefiningOp(outOf(m->op));
  bool writesAll = gqOperationIsABlockDequantize(m->op);
  if (!writesAll &&
      (mlirOperationIsNull(init) || !gqIsNamed(init, "tensor.empty")))
    return "rows of no group come from the 'outs' of the op in front";
  if (gqOperationIsAGroupedDequantize(m->op) &&
      !mlirValueIsNull(gqGroupedDequantizeGet(m->op).firstDims))
    return "groups have numbers of columns of their own";
  for (intptr_t i = 0; i <= numInputs; ++i) {
    if (i < numInputs && argumentOf(m, i) < 0)
      return "the op behind has another input";
    if (!isIdentity(generic, i))
      return "the op behind is not element-wise";
  }
  MlirType out = mlirValueGetType(mlirOperationGetOperand(generic, numInputs));
  if (!gqIsProducerInput(out))
    return "the result is no tensor of f32, bf16 or f16";
  if (!gqIsInitUnread(generic, numInputs))
    return "the op behind reads its 'outs'";
  return gqCheckScalars(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0)));
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// The body of the linalg.generic as an epilogue.
static MlirRegion buildEpilogue(const Match *m, MlirLocation location) {
  MlirBlock from =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(m->generic, 0));
  MlirType element = mlirShapedTypeGetElementType(
      mlirValueGetType(mlirOperationGetResult(m->op, 0)));
  const MlirType types[] = {element, element};
  const MlirLocation locations[] = {location, location};
  MlirBlock body =
      mlirBlockCreate(m->pairs == GQ_PAIRS_NONE ? 1 : 2, types, locations);
  gqValueMap map = {0};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(m->generic) - 1; ++i)
    gqValueMapAdd(&map, mlirBlockGetArgument(from, i),
                  mlirBlockGetArgument(body, argumentOf(m, i)));
  gqCloneConstants(from, body, &map);
  gqCloneBody(from, body, &map);
  gqAppendYield(body,
                gqValueMapGet(&map, mlirOperationGetOperand(
                                        mlirBlockGetTerminator(from), 0)),
                location);
  gqValueMapFree(&map);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  return region;
}

/// What the fused op writes: the 'outs' of the linalg.generic, or an empty
/// tensor where these are the result in front or a slice of it, which it
/// replaces.
static MlirValue buildOut(const gqBuilder *builder, const Match *m) {
  MlirValue out = mlirOperationGetOperand(
      m->generic, mlirOperationGetNumOperands(m->generic) - 1);
  MlirOperation from = gqDefiningOp(out);
  if (mlirOperationEqual(from, m->op))
    return outOf(m->op);
  if (mlirOperationIsNull(from) || (!mlirOperationEqual(from, m->slices[0]) &&
                                    !mlirOperationEqual(from, m->slices[1])))
    return out;
  // Of a slice's sizes only that of rows may be dynamic.
  intptr_t numSizes = mlirOperationGetNumOperands(from) - 1;
  MlirValue rows =
      numSizes ? mlirOperationGetOperand(from, 1) : (MlirValue){NULL};
  return gqBuildValue(builder, "tensor.empty", numSizes, &rows,
                      mlirValueGetType(out));
}

static void fuse(const Match *m) {
  MlirLocation location = gqFusedLocation(m->op, m->generic);
  gqBuilder builder = gqBuilderBefore(m->generic);
  MlirRegion epilogue = buildEpilogue(m, location);
  gqOpExtras extras = {.numAttributes = 1,
                       .attributes = {{.name = "pairs"}},
                       .region = epilogue,
                       .like = m->op};
  if (m->pairs != GQ_PAIRS_NONE)
    extras.attributes[0].attribute = gqPairsAttrGet(builder.context, m->pairs);
  MlirOperation fused =
      gqOpCreateWithOut(m->op, location, buildOut(&builder, m), &extras);
  mlirRegionDestroy(epilogue);
  gqInsert(&builder, fused);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(m->generic, 0),
                                mlirOperationGetResult(fused, 0));
  mlirOperationDestroy(m->generic);
  if (m->pairs != GQ_PAIRS_NONE)
    for (int i = 0; i < 2; ++i)
      mlirOperationDestroy(m->slices[i]);
  gqDestroyIfUnused(m->op);
}

/// Whether an epilogue may be added to the op.
static bool isCandidate(MlirOperation op) {
  return gqTakesEpilogues(op) && !mlirOperationGetNumRegions(op) &&
         mlirOperationGetNumResults(op);
}

void gqFuseEpilogues(MlirOperation root, bool dequantize) {
  gqOpList ops = gqCollect(root, isCandidate);
  for (intptr_t i = 0; i < ops.size; ++i) {
    if (dequantize && !gqIsDequantization(ops.ops[i]))
      continue;
    Match m;
    const char *reason = match(ops.ops[i], &m);
    reason = reason ? reason : check(&m);
    if (!reason) {
      gqRemarkPassed(mlirOperationGetLocation(m.generic), passName,
                     "fused into the op that makes its input");
      fuse(&m);
    } else if (reason[0])
      gqRemarkMissed(mlirOperationGetLocation(ops.ops[i]), passName, reason);
  }
  gqOpListFree(&ops);
}
