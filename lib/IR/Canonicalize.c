//===- Canonicalize.c - ops over no rows --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "GroupedBlockQuantize.h"
#include "Ops.h"

/// The number M of rows.
static int64_t numRows(MlirOperation op) {
  if (gqOperationIsAGroupedDequantize(op)) // Its data may be flat.
    return gqDim(gqOperandAt(op, GQ_GROUPED_DEQUANTIZE_out), 0);
  if (!gqReadsGroups(op))
    return gqDim(mlirOperationGetOperand(op, 0), 0);
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  int64_t extents[2];
  gqGroupedBlockQuantizeExtents(&desc, extents);
  return extents[0];
}

/// Whether there are results that describe groups even if those have no rows:
/// any besides data and scales.
static bool describesGroups(MlirOperation op) {
  if (gqOperationIsAGroupedWgrad(op) || gqOperationIsAGroupOffsets(op))
    return true;
  if (!gqReadsGroups(op))
    return false;
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  const MlirValue ofRows[] = {desc.rowwise.data, desc.rowwise.scales,
                              desc.columnwise.data, desc.columnwise.scales};
  intptr_t numOfRows = 0;
  for (size_t i = 0; i < sizeof(ofRows) / sizeof(*ofRows); ++i)
    numOfRows += !mlirValueIsNull(ofRows[i]);
  const gqOpInfo *info = gqOpInfoOf(op);
  intptr_t numInits = 0;
  for (intptr_t i = 0; i < info->numOperands; ++i)
    numInits += info->operands[i].role == GQ_OUT &&
                !mlirValueIsNull(gqOperandAt(op, i));
  return numInits > numOfRows;
}

MlirLogicalResult gqCanonicalizeZeroRows(MlirOperation op,
                                         MlirPatternRewriter rewriter) {
  if (describesGroups(op) || numRows(op) != 0)
    return mlirLogicalResultFailure();
  // Inits come last, one per result; memrefs have none.
  intptr_t numResults = mlirOperationGetNumResults(op);
  intptr_t firstInit = mlirOperationGetNumOperands(op) - numResults;
  MlirValue inits[GQ_MAX_OPERANDS];
  for (intptr_t i = 0; i < numResults; ++i)
    inits[i] = mlirOperationGetOperand(op, firstInit + i);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op,
                                      numResults, inits);
  return mlirLogicalResultSuccess();
}
