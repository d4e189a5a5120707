//===- FuseDirections.c - gq-fuse-directions ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "Build.h"
#include "Fusion.h"
#include "Passes.h"
#include "Query.h"
#include "Remarks.h"

#include "gq-c/Dialect.h"

#include <stdarg.h>
#include <stdio.h>

static const char passName[] = "gq-fuse-directions";

/// Why two ops cannot be fused; empty if they can.
typedef struct Reason {
  char text[160];
} Reason;

/// Always false, so that a check can return it.
static bool refuse(Reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(Reason *reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason->text, sizeof(reason->text), format, arguments);
  va_end(arguments);
  return false;
}

/// Whether `op`, on tensors, quantizes in one direction only: rowwise or
/// columnwise.
static bool isOnly(MlirOperation op, bool columnwise) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  return mlirOperationGetNumResults(op) > 0 &&
         gqHasDirection(&desc.columnwise) == columnwise &&
         gqHasDirection(&desc.rowwise) != columnwise;
}

/// Whether both ops, of one kind, quantize the same matrix, so that a remark is
/// due if they cannot be fused.
static bool haveSameInputs(MlirOperation a, MlirOperation b) {
  return gqOpInfoOf(a) == gqOpInfoOf(b) &&
         gqHaveSameOperand(a, b, GQ_GROUPED_BLOCK_QUANTIZE_inputs) &&
         gqHaveSameOperand(a, b, GQ_GROUPED_BLOCK_QUANTIZE_row_indices) &&
         mlirAttributeEqual(gqGetAttribute(a, "maps"),
                            gqGetAttribute(b, "maps"));
}

//===----------------------------------------------------------------------===//
// What must be the same
//===----------------------------------------------------------------------===//

/// Whether an attribute is that of one direction or says how many operands
/// there are. Of rows in no group only rowwise data is written.
static bool isOfOneDirection(MlirStringRef name) {
  static const char *const names[] = {"rowwise", "columnwise", "rows",
                                      "operandSegmentSizes"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(names[i])))
      return true;
  return false;
}

/// Whether `b` has each attribute of `a` that is for both directions, with the
/// same value.
static bool checkAttributes(MlirOperation a, MlirOperation b, Reason *reason) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(a); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(a, i);
    MlirStringRef name = mlirIdentifierStr(attribute.name);
    if (!isOfOneDirection(name) &&
        !mlirAttributeEqual(attribute.attribute,
                            mlirOperationGetAttributeByName(b, name)))
      return refuse(reason, "the two directions differ in '%.*s'",
                    (int)name.length, name.data);
  }
  return true;
}

/// Whether an operand belongs to one direction only. Without block scales, both
/// directions share a scale.
static bool isOperandOfOneDirection(MlirOperation op, intptr_t position) {
  gqFormat format = gqGroupedBlockQuantizeGet(op).format;
  return position == GQ_GROUPED_BLOCK_QUANTIZE_scale_offsets ||
         (gqFormatHasBlockScales(format) &&
          (position == GQ_GROUPED_BLOCK_QUANTIZE_outer_amax ||
           position == GQ_GROUPED_BLOCK_QUANTIZE_columnwise_outer_amax));
}

/// Operands that are read must be the same, except those of one direction; of
/// operands that are written, only one of the ops has each.
static bool checkOperands(MlirOperation rowwise, MlirOperation columnwise,
                          Reason *reason) {
  const gqOpInfo *info = gqOpInfoOf(rowwise);
  for (intptr_t i = 0; i < info->numOperands; ++i) {
    const char *name = info->operands[i].name;
    if (info->operands[i].role == GQ_OUT) {
      if (gqNumOperandsAt(rowwise, i) && gqNumOperandsAt(columnwise, i))
        return refuse(reason, "both directions return '%s'", name);
      continue;
    }
    // An op that does not round stochastically reads no state.
    bool ofOneDirection =
        isOperandOfOneDirection(rowwise, i) ||
        (i == GQ_GROUPED_BLOCK_QUANTIZE_rng_state &&
         gqNumOperandsAt(rowwise, i) != gqNumOperandsAt(columnwise, i));
    if (!ofOneDirection && !gqHaveSameOperand(rowwise, columnwise, i))
      return refuse(reason, "the two directions differ in '%s'", name);
  }
  return true;
}

/// Whether the two ops, of the same inputs, can be fused.
static bool checkPair(MlirOperation rowwise, MlirOperation columnwise,
                      Reason *reason) {
  if (!mlirBlockEqual(mlirOperationGetBlock(rowwise),
                      mlirOperationGetBlock(columnwise)))
    return refuse(reason, "the two directions are in different blocks");
  if (mlirOperationGetNumRegions(rowwise) ||
      mlirOperationGetNumRegions(columnwise))
    return refuse(reason, "one of the two directions has a producer; fuse "
                          "directions before producers");
  if (gqNumOperandsAt(rowwise, GQ_GROUPED_BLOCK_QUANTIZE_row_amax))
    return refuse(reason, "the rowwise direction computes its outer amaxes");
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(rowwise);
  if (gqHoldsNumbers(&desc.rowwise))
    return refuse(reason, "the rowwise direction makes numbers in place of "
                          "codes, which GPU kernels make alone");
  if (!checkAttributes(rowwise, columnwise, reason) ||
      !checkAttributes(columnwise, rowwise, reason) ||
      !checkOperands(rowwise, columnwise, reason))
    return false;
  return gqOffsetsHaveEnd(&desc) ||
         refuse(reason, "rows with scale offsets have an unknown number of "
                        "groups");
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

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

/// The fused op.
static gqGroupedBlockQuantize join(MlirOperation rowwise,
                                   MlirOperation columnwise) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(rowwise);
  gqGroupedBlockQuantize c = gqGroupedBlockQuantizeGet(columnwise);
  desc.columnwise = c.columnwise;
  MlirValue outer = gqOuterScale(&c, &c.columnwise);
  bool isShared = mlirValueEqual(outer, gqOuterScale(&desc, &desc.rowwise)) &&
                  gqOuterKindOfDirection(&c, &c.columnwise) ==
                      gqOuterKindOfDirection(&desc, &desc.rowwise);
  desc.columnwise.outerAmax = isShared ? (MlirValue){NULL} : outer;
  if (mlirValueIsNull(desc.rngState))
    desc.rngState = c.rngState;
  // What only one of them writes.
  const gqOpInfo *info = gqOpInfoOf(rowwise);
  for (intptr_t i = 0; i < info->numOperands; ++i)
    if (info->operands[i].role == GQ_OUT && gqNumOperandsAt(columnwise, i))
      *gqOperandMember(info, &desc, i) = gqOperandAt(columnwise, i);
  return desc;
}

/// Fuses the two, unless there is a reason not to.
static bool fuse(MlirOperation rowwise, MlirOperation columnwise,
                 Reason *reason) {
  if (!checkPair(rowwise, columnwise, reason))
    return false;
  bool rowsFirst = mlirOperationIsBeforeInBlock(rowwise, columnwise);
  MlirOperation position = findPosition(rowsFirst ? rowwise : columnwise,
                                        rowsFirst ? columnwise : rowwise);
  if (mlirOperationIsNull(position))
    return refuse(reason, "a result of one direction is used before the "
                          "operands of the other are known");

  gqGroupedBlockQuantize desc = join(rowwise, columnwise);
  MlirOperation fused = gqGroupedBlockQuantizeRebuild(
      rowwise, gqFusedLocation(rowwise, columnwise), &desc);
  gqBuilder builder = gqBuilderBefore(position);
  gqInsert(&builder, fused);
  gqReplaceResults(rowwise, fused);
  gqReplaceResults(columnwise, fused);
  mlirOperationDestroy(rowwise);
  mlirOperationDestroy(columnwise);
  return true;
}

/// Fuses `columnwise` with one of `ops`, which is then set to null.
static void fuseWithOneOf(gqOpList *ops, MlirOperation columnwise) {
  Reason reason = {""};
  for (intptr_t i = 0; i < ops->size; ++i) {
    MlirOperation op = ops->ops[i];
    if (mlirOperationIsNull(op) || !isOnly(op, false) ||
        !haveSameInputs(op, columnwise))
      continue;
    MlirLocation location = mlirOperationGetLocation(columnwise);
    if (fuse(op, columnwise, &reason)) {
      gqRemarkPassed(location, passName, "fused with the rowwise direction");
      ops->ops[i] = (MlirOperation){NULL};
      return;
    }
  }
  if (reason.text[0])
    gqRemarkMissed(mlirOperationGetLocation(columnwise), passName, reason.text);
}

void gqFuseDirections(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqQuantizesGroups);
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation op = ops.ops[i];
    if (mlirOperationIsNull(op) || !isOnly(op, true))
      continue;
    ops.ops[i] = (MlirOperation){NULL};
    fuseWithOneOf(&ops, op);
  }
  gqOpListFree(&ops);
}
