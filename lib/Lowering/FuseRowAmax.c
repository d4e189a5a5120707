//===- FuseRowAmax.c - gq-fuse-row-amax --------------------------*- C -*-===//
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

#include "mlir-c/BuiltinTypes.h"

static const char passName[] = "gq-fuse-row-amax";

/// Whether both read the same rows, of the same groups.
static bool haveSameRows(MlirOperation amax, MlirOperation quantize) {
  gqGroupedAmax a = gqGroupedAmaxGet(amax);
  gqGroupedBlockQuantize q = gqGroupedBlockQuantizeGet(quantize);
  return a.numInputs == 1 && q.numInputs == 1 &&
         mlirValueEqual(a.inputs[0], q.inputs[0]) &&
         mlirValueEqual(a.rowIndices, q.rowIndices) &&
         mlirValueEqual(a.offsets, q.offsets) &&
         mlirValueEqual(a.noopFlag, q.noopFlag) && a.rows == q.rows &&
         (q.rows == GQ_ROWS_ALL || gqOffsetsHaveEnd(&q));
}

/// Returns why the two cannot be fused, or null if they can.
static const char *check(MlirOperation amax, MlirOperation quantize) {
  gqGroupedAmax a = gqGroupedAmaxGet(amax);
  gqGroupedBlockQuantize q = gqGroupedBlockQuantizeGet(quantize);
  if (!mlirRegionIsNull(a.producer) || !mlirRegionIsNull(q.producer))
    return "one of the two has a producer; fuse amaxes before producers";
  if (!haveSameRows(amax, quantize))
    return "the amaxes are of other rows";
  if (mlirOperationGetNumResults(amax) != 1)
    return "gq.grouped_amax has other results, for which it reads the input";
  if (gqHasDirection(&q.columnwise))
    return "columns are quantized too";
  if (!mlirValueIsNull(q.amax) || !mlirValueIsNull(q.dbias) ||
      !mlirValueIsNull(q.rngState))
    return "the op computes more than the kernel of whole rows can";
  if (!gqFitsWholeRows(&q))
    return "a row does not fit on the chip, or K is not static";
  return gqIsUsedBefore(mlirOperationGetResult(amax, 0), quantize)
             ? "the amaxes are used before the quantization"
             : NULL;
}

/// Fuses the two.
static void fuse(MlirOperation amax, MlirOperation quantize) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(quantize);
  desc.rowAmax = gqOperandAt(amax, GQ_GROUPED_AMAX_row_amax);
  desc.rowwise.outerAmax = (MlirValue){NULL};
  MlirOperation fused = gqGroupedBlockQuantizeRebuild(
      quantize, gqFusedLocation(amax, quantize), &desc);
  gqBuilder builder = gqBuilderBefore(quantize);
  gqInsert(&builder, fused);
  gqReplaceResults(quantize, fused);
  mlirOperationDestroy(quantize);
  mlirValueReplaceAllUsesOfWith(
      mlirOperationGetResult(amax, 0),
      gqResultAt(fused, GQ_GROUPED_BLOCK_QUANTIZE_row_amax));
  mlirOperationDestroy(amax);
}

void gqFuseRowAmax(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqOperationIsAGroupedBlockQuantize);
  for (intptr_t i = 0; i < ops.size; ++i) {
    gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(ops.ops[i]);
    gqDirectionTraits rowwise = gqDirectionGetTraits(&desc.rowwise);
    if (rowwise.outer != GQ_OUTER_OF_ROW ||
        mlirValueIsNull(desc.rowwise.outerAmax) ||
        !mlirOperationGetNumResults(ops.ops[i]))
      continue;
    MlirOperation amax = gqDefiningOp(desc.rowwise.outerAmax);
    if (mlirOperationIsNull(amax) || !gqOperationIsAGroupedAmax(amax))
      continue;
    const char *reason =
        !gqDirectionIsUsual(&rowwise)
            ? "the kernel of whole rows cannot quantize rows in this way"
        : mlirBlockEqual(mlirOperationGetBlock(amax),
                         mlirOperationGetBlock(ops.ops[i]))
            ? check(amax, ops.ops[i])
            : "the two are in different blocks";
    MlirLocation location = mlirOperationGetLocation(ops.ops[i]);
    if (reason) {
      gqRemarkMissed(location, passName, reason);
      continue;
    }
    fuse(amax, ops.ops[i]);
    gqRemarkPassed(location, passName, "fused with gq.grouped_amax");
  }
  gqOpListFree(&ops);
}
