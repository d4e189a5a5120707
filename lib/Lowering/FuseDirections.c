//===- FuseDirections.c - gq-fuse-directions ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "gq-c/Dialect.h"

static const char passName[] = "gq-fuse-directions";

static bool isPresent(MlirValue value) { return !mlirValueIsNull(value); }

/// Whether `op`, on tensors, quantizes in one direction alone: rowwise or
/// columnwise.
static bool isOnly(MlirOperation op, bool columnwise) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  return mlirOperationGetNumResults(op) > 0 &&
         isPresent(desc.columnwiseData) == columnwise &&
         isPresent(desc.data) != columnwise;
}

static bool haveSameInputs(const gqGroupedBlockQuantize *a,
                           const gqGroupedBlockQuantize *b) {
  bool same = a->numInputs == b->numInputs &&
              mlirAttributeEqual(a->maps, b->maps) &&
              mlirValueEqual(a->rowIndices, b->rowIndices);
  for (intptr_t i = 0; same && i < a->numInputs; ++i)
    same = mlirValueEqual(a->inputs[i], b->inputs[i]);
  return same;
}

/// Whether both ops have the same groups. Columns have one fewer than there are
/// offsets; rows that have scale offsets may have one an offset.
static bool haveSameGroups(const gqGroupedBlockQuantize *rowwise,
                           const gqGroupedBlockQuantize *columnwise) {
  if (!mlirValueEqual(rowwise->offsets, columnwise->offsets) ||
      !mlirValueEqual(rowwise->firstDims, columnwise->firstDims) ||
      !mlirValueEqual(rowwise->lastDims, columnwise->lastDims))
    return false;
  int64_t groups = gqDim(rowwise->scaleOffsets, 0);
  return !isPresent(rowwise->scaleOffsets) ||
         (groups != GQ_DYNAMIC && gqDim(rowwise->offsets, 0) == groups + 1);
}

/// Returns why the two ops, of the same inputs, cannot be one, or null.
static const char *checkPair(MlirOperation rowwise, MlirOperation columnwise) {
  gqGroupedBlockQuantize r = gqGroupedBlockQuantizeGet(rowwise);
  gqGroupedBlockQuantize c = gqGroupedBlockQuantizeGet(columnwise);
  if (!mlirBlockEqual(mlirOperationGetBlock(rowwise),
                      mlirOperationGetBlock(columnwise)))
    return "the two directions are in different blocks";
  if (r.format != c.format || r.recipe != c.recipe ||
      r.scaleLayout != c.scaleLayout)
    return "the two directions have another format, recipe or scale layout";
  if (!haveSameGroups(&r, &c))
    return "the two directions have other groups, or scale offsets of an "
           "unknown number of groups";
  if (!mlirValueEqual(r.globalScale, c.globalScale))
    return "the two directions have another global scale";
  if (!mlirRegionIsNull(r.producer) || !mlirRegionIsNull(c.producer))
    return "one of the two directions has a producer; fuse directions before "
           "producers";
  if ((isPresent(r.amax) && isPresent(c.amax)) ||
      (isPresent(r.dbias) && isPresent(c.dbias)))
    return "both directions return amax or dbias";
  return NULL;
}

/// Where the op that replaces `first` and the later `second` can stand: at one
/// of them; null if nowhere.
static MlirOperation findPosition(MlirOperation first, MlirOperation second) {
  bool isFree = true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(first); ++i)
    isFree &= gqIsUsedOnlyAfter(mlirOperationGetResult(first, i), second);
  if (isFree)
    return second;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(second); ++i)
    if (!gqIsAvailableAt(mlirOperationGetOperand(second, i), first))
      return (MlirOperation){NULL};
  return first;
}

/// Replaces the results of `op` by those of `fused` that are written to the
/// same operand of the op.
static void replaceResults(MlirOperation op, MlirOperation fused) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  gqGroupedBlockQuantize fusedDesc = gqGroupedBlockQuantizeGet(fused);
  MlirValue own[GQ_GROUPED_BLOCK_QUANTIZE_OPERANDS];
  MlirValue all[GQ_GROUPED_BLOCK_QUANTIZE_OPERANDS];
  gqGroupedBlockQuantizeOperands(&desc, own);
  gqGroupedBlockQuantizeOperands(&fusedDesc, all);
  intptr_t result = 0, fusedResult = 0;
  for (intptr_t i = GQ_GROUPED_BLOCK_QUANTIZE_FIRST_INIT;
       i < GQ_GROUPED_BLOCK_QUANTIZE_OPERANDS; ++i) {
    if (isPresent(own[i]))
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, result++),
                                    mlirOperationGetResult(fused, fusedResult));
    fusedResult += isPresent(all[i]);
  }
}

/// Makes one op of the two. Returns the reason if it cannot.
static const char *fuse(MlirOperation rowwise, MlirOperation columnwise) {
  const char *reason = checkPair(rowwise, columnwise);
  if (reason)
    return reason;
  bool rowsFirst = mlirOperationIsBeforeInBlock(rowwise, columnwise);
  MlirOperation position = findPosition(rowsFirst ? rowwise : columnwise,
                                        rowsFirst ? columnwise : rowwise);
  if (mlirOperationIsNull(position))
    return "a result of one direction is used before the operands of the other "
           "are known";

  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(rowwise);
  gqGroupedBlockQuantize c = gqGroupedBlockQuantizeGet(columnwise);
  desc.columnwiseData = c.columnwiseData;
  desc.columnwiseScales = c.columnwiseScales;
  MlirValue outer =
      isPresent(c.columnwiseOuterAmax) ? c.columnwiseOuterAmax : c.outerAmax;
  if (!mlirValueEqual(outer, desc.outerAmax))
    desc.columnwiseOuterAmax = outer;
  if (isPresent(c.amax))
    desc.amax = c.amax;
  if (isPresent(c.dbias))
    desc.dbias = c.dbias;

  MlirLocation locations[] = {mlirOperationGetLocation(rowwise),
                              mlirOperationGetLocation(columnwise)};
  MlirOperation fused = gqGroupedBlockQuantizeCreate(
      mlirLocationFusedGet(mlirOperationGetContext(rowwise), 2, locations,
                           (MlirAttribute){NULL}),
      &desc);
  gqBuilder builder = gqBuilderBefore(position);
  gqInsert(&builder, fused);
  replaceResults(rowwise, fused);
  replaceResults(columnwise, fused);
  mlirOperationDestroy(rowwise);
  mlirOperationDestroy(columnwise);
  return NULL;
}

/// Fuses `columnwise` with one of `ops`, which then is null.
static void fuseWithOneOf(gqOpList *ops, MlirOperation columnwise) {
  const char *reason = NULL;
  MlirLocation location = mlirOperationGetLocation(columnwise);
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(columnwise);
  for (intptr_t i = 0; i < ops->size; ++i) {
    MlirOperation op = ops->ops[i];
    if (mlirOperationIsNull(op) || !isOnly(op, false))
      continue;
    gqGroupedBlockQuantize other = gqGroupedBlockQuantizeGet(op);
    if (!haveSameInputs(&desc, &other))
      continue;
    reason = fuse(op, columnwise);
    if (!reason) {
      ops->ops[i] = (MlirOperation){NULL};
      return;
    }
  }
  if (reason)
    gqRemarkMissed(location, passName, reason);
}

void gqFuseDirections(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqOperationIsAGroupedBlockQuantize);
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation op = ops.ops[i];
    if (mlirOperationIsNull(op) || !isOnly(op, true))
      continue;
    ops.ops[i] = (MlirOperation){NULL};
    fuseWithOneOf(&ops, op);
  }
  gqOpListFree(&ops);
}
