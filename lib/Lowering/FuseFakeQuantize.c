//===- FuseFakeQuantize.c - gq-fuse-fake-quantize ----------------*- C -*-===//
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

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static const char passName[] = "gq-fuse-fake-quantize";
static const char noKernel[] = "there is no GPU kernel for it";

static bool isUnused(MlirValue value) {
  return mlirValueIsNull(value) ||
         mlirOpOperandIsNull(mlirValueGetFirstUse(value));
}

/// Whether a value is absent, or `op` alone uses it, once or not at all.
static bool isOnlyFor(MlirOperation op, MlirValue value) {
  return isUnused(value) ||
         (gqHasOneUse(value) &&
          mlirOperationEqual(mlirOpOperandGetOwner(mlirValueGetFirstUse(value)),
                             op));
}

//===----------------------------------------------------------------------===//
// gq.block_dequantize
//===----------------------------------------------------------------------===//

/// Returns why the two cannot be one, or null if they can.
static const char *checkUngrouped(MlirOperation quantize,
                                  MlirOperation dequantize) {
  gqBlockQuantize q = gqBlockQuantizeGet(quantize);
  gqBlockDequantize d = gqBlockDequantizeGet(dequantize);
  if (!mlirValueEqual(d.scales, gqResultAt(quantize, GQ_BLOCK_QUANTIZE_scales)))
    return "the scales are of another op";
  if (q.format != d.format || !mlirValueEqual(q.globalScale, d.globalScale))
    return "the two differ in format or global scale";
  return isOnlyFor(dequantize, d.data) && isOnlyFor(dequantize, d.scales)
             ? NULL
             : "something else uses the codes or the scales";
}

/// gq.block_quantize as rows of a gq.grouped_block_quantize that are in none of
/// its groups, of which there are none.
static MlirOperation buildUngrouped(const gqBuilder *builder,
                                    MlirOperation quantize, MlirValue out,
                                    MlirLocation location) {
  gqBlockQuantize q = gqBlockQuantizeGet(quantize);
  const int64_t one = 1;
  const int32_t zero = 0;
  MlirType type =
      mlirRankedTensorTypeGet(1, &one, mlirIntegerTypeGet(builder->context, 32),
                              mlirAttributeGetNull());
  MlirNamedAttribute value = gqAttribute(
      builder->context, "value", mlirDenseElementsAttrInt32Get(type, 1, &zero));
  gqGroupedBlockQuantize desc = {
      .format = q.format,
      .recipe = GQ_RECIPE_NVFUSER,
      .scaleLayout = q.scaleLayout,
      .rows = GQ_ROWS_ALL,
      .numInputs = 1,
      .inputs = {q.input},
      .offsets = mlirOperationGetResult(
          gqBuild(builder, "arith.constant", 0, NULL, 1, &type, 1, &value), 0),
      .globalScale = q.globalScale,
      .rowwise = {.data = out}};
  return gqGroupedBlockQuantizeCreate(location, &desc);
}

/// As fuseGrouped.
static const char *fuseUngrouped(MlirOperation quantize,
                                 MlirOperation dequantize, bool kernels) {
  const char *reason = checkUngrouped(quantize, dequantize);
  if (reason)
    return reason;
  gqFormat format = gqBlockQuantizeGet(quantize).format;
  if (kernels && gqFormatGetTraits(format).blockRows > 1)
    return noKernel;
  MlirLocation location = gqFusedLocation(quantize, dequantize);
  gqBuilder builder = gqBuilderBefore(dequantize);
  MlirOperation fused = buildUngrouped(
      &builder, quantize, gqBlockDequantizeGet(dequantize).out, location);
  gqInsert(&builder, fused);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(dequantize, 0),
                                mlirOperationGetResult(fused, 0));
  mlirOperationDestroy(dequantize);
  mlirOperationDestroy(quantize);
  return NULL;
}

//===----------------------------------------------------------------------===//
// gq.grouped_dequantize
//===----------------------------------------------------------------------===//

/// Whether it reads the outer scale that the codes were made with.
static bool hasSameOuter(MlirOperation quantize,
                         const gqGroupedBlockQuantize *q,
                         const gqDirection *direction,
                         const gqGroupedDequantize *d) {
  if (!gqFormatHasBlockScales(q->format))
    return mlirValueEqual(
        d->scaleInv, gqResultAt(quantize, GQ_GROUPED_BLOCK_QUANTIZE_scale_inv));
  MlirValue own = gqResultAt(quantize, GQ_GROUPED_BLOCK_QUANTIZE_row_amax);
  MlirValue amax = mlirValueIsNull(own) ? gqOuterScale(q, direction) : own;
  gqDirectionTraits traits = gqDirectionGetTraits(direction);
  return (traits.scaleMax == 256) == (d->scaleMax == 256) &&
         d->outer == traits.outer &&
         mlirValueEqual(q->globalScale, d->globalScale) &&
         (q->recipe == GQ_RECIPE_NVFUSER || mlirValueEqual(amax, d->outerAmax));
}

/// Whether both have the same groups, and these still have an end where there
/// are no scale offsets to count them.
static bool haveSameGroups(MlirOperation quantize,
                           const gqGroupedBlockQuantize *q,
                           const gqGroupedDequantize *d) {
  MlirValue derived =
      gqResultAt(quantize, GQ_GROUPED_BLOCK_QUANTIZE_scale_offsets_out);
  return mlirValueEqual(q->offsets, d->offsets) &&
         mlirValueEqual(q->firstDims, d->firstDims) &&
         mlirValueEqual(q->lastDims, d->lastDims) &&
         (d->axis == GQ_AXIS_COLUMNWISE ||
          mlirValueEqual(q->scaleOffsets, d->scaleOffsets) ||
          (!mlirValueIsNull(derived) &&
           mlirValueEqual(derived, d->scaleOffsets))) &&
         gqOffsetsHaveEnd(q);
}

/// Whether `out` may have the extents of what is quantized. Flat codes do not
/// say how many rows there are, and `out` may have more than are in groups.
static bool mayHaveSameExtents(const gqGroupedBlockQuantize *q, MlirValue out) {
  int64_t extents[2];
  gqGroupedBlockQuantizeExtents(q, extents);
  for (intptr_t i = 0; i < 2; ++i) {
    int64_t extent = gqDim(out, i);
    if (extent != extents[i] && extent != GQ_DYNAMIC &&
        extents[i] != GQ_DYNAMIC)
      return false;
  }
  return true;
}

/// Returns why the two cannot be one, or null if they can.
static const char *check(MlirOperation quantize, MlirOperation dequantize) {
  gqGroupedBlockQuantize q = gqGroupedBlockQuantizeGet(quantize);
  gqGroupedDequantize d = gqGroupedDequantizeGet(dequantize);
  bool columnwise = d.axis == GQ_AXIS_COLUMNWISE;
  bool scaled = gqFormatHasBlockScales(q.format);
  intptr_t data = columnwise ? GQ_GROUPED_BLOCK_QUANTIZE_columnwise_data
                             : GQ_GROUPED_BLOCK_QUANTIZE_data;
  intptr_t scales = columnwise ? GQ_GROUPED_BLOCK_QUANTIZE_columnwise_scales
                               : GQ_GROUPED_BLOCK_QUANTIZE_scales;
  if (!mlirValueEqual(d.data, gqResultAt(quantize, data)) ||
      !mlirValueEqual(d.scales, gqResultAt(quantize, scales)))
    return "the codes or the scales are of another direction or op";
  if (scaled ? q.format != d.format || q.recipe != d.recipe ||
                   q.scaleLayout != d.scaleLayout
             : d.format != GQ_FORMAT_NONE)
    return "the two differ in format, recipe or scale layout";
  if (!haveSameGroups(quantize, &q, &d))
    return "the two differ in groups, or offsets have no end";
  if (!mayHaveSameExtents(&q, d.out))
    return "the two differ in extents";
  if (!hasSameOuter(quantize, &q, columnwise ? &q.columnwise : &q.rowwise, &d))
    return "the two differ in scales of groups, rows or columns";
  if (!mlirValueIsNull(q.noopFlag))
    return "with a noop_flag the codes may be those of another time";
  if (!isOnlyFor(dequantize, d.data) || !isOnlyFor(dequantize, d.scales))
    return "something else uses the codes or the scales";
  if (columnwise)
    return NULL;
  if (!isOnlyFor(
          dequantize,
          gqResultAt(quantize, GQ_GROUPED_BLOCK_QUANTIZE_scale_offsets_out)))
    return "something else uses the scale offsets";
  return q.rows == GQ_ROWS_GROUPED ||
                 isOnlyFor(
                     dequantize,
                     gqResultAt(quantize, GQ_GROUPED_BLOCK_QUANTIZE_row_amax))
             ? NULL
             : "something else uses the amaxes of rows in no group";
}

/// Where the op that replaces both can stand: at one of them; null if nowhere.
static MlirOperation findPosition(MlirOperation quantize,
                                  MlirOperation dequantize) {
  bool isFree = true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(quantize); ++i)
    isFree &= !gqIsUsedBefore(mlirOperationGetResult(quantize, i), dequantize);
  if (isFree)
    return dequantize;
  return gqIsAvailableAt(gqGroupedDequantizeGet(dequantize).out, quantize)
             ? quantize
             : (MlirOperation){NULL};
}

/// The op with numbers in place of the codes that `dequantize` reads.
static gqGroupedBlockQuantize join(MlirOperation quantize,
                                   MlirOperation dequantize) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(quantize);
  gqGroupedDequantize d = gqGroupedDequantizeGet(dequantize);
  bool columnwise = d.axis == GQ_AXIS_COLUMNWISE;
  gqDirection *direction = columnwise ? &desc.columnwise : &desc.rowwise;
  direction->data = d.out;
  direction->scales = (MlirValue){NULL};
  if (!columnwise) {
    desc.scaleOffsets = desc.scaleOffsetsOut = (MlirValue){NULL};
    desc.rows = GQ_ROWS_GROUPED; // The others keep what `out` has.
  }
  return desc;
}

static void fuse(MlirOperation quantize, MlirOperation dequantize,
                 MlirOperation position, const gqGroupedBlockQuantize *desc) {
  bool columnwise =
      gqGroupedDequantizeGet(dequantize).axis == GQ_AXIS_COLUMNWISE;
  MlirOperation fused = gqGroupedBlockQuantizeRebuild(
      quantize, gqFusedLocation(quantize, dequantize), desc);
  gqBuilder builder = gqBuilderBefore(position);
  gqInsert(&builder, fused);
  mlirValueReplaceAllUsesOfWith(
      mlirOperationGetResult(dequantize, 0),
      gqResultAt(fused, columnwise ? GQ_GROUPED_BLOCK_QUANTIZE_columnwise_data
                                   : GQ_GROUPED_BLOCK_QUANTIZE_data));
  mlirOperationDestroy(dequantize);
  gqReplaceResults(quantize, fused); // Codes and scales have no use any more.
  mlirOperationDestroy(quantize);
}

/// Fuses a dequantization with the op that made its codes. Returns why not, or
/// null.
static const char *fuseGrouped(MlirOperation quantize, MlirOperation dequantize,
                               bool kernels) {
  const char *reason = check(quantize, dequantize);
  if (reason)
    return reason;
  MlirOperation position = findPosition(quantize, dequantize);
  if (mlirOperationIsNull(position))
    return "a result is used before the outs of the dequantization are known";
  gqGroupedBlockQuantize desc = join(quantize, dequantize);
  if (kernels && !gqKernelMakesNumbers(&desc))
    return noKernel;
  fuse(quantize, dequantize, position, &desc);
  return NULL;
}

static bool isCandidate(MlirOperation op) {
  return gqIsDequantization(op) && mlirOperationGetNumResults(op);
}

void gqFuseFakeQuantize(MlirOperation root, bool kernels) {
  gqOpList ops = gqCollect(root, isCandidate);
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation op = ops.ops[i];
    bool ungrouped = gqOperationIsABlockDequantize(op);
    MlirOperation quantize = gqDefiningOp(mlirOperationGetOperand(op, 0));
    if (mlirOperationIsNull(quantize) ||
        !(ungrouped ? gqOperationIsABlockQuantize(quantize)
                    : gqQuantizesGroups(quantize)))
      continue;
    MlirLocation location = mlirOperationGetLocation(op);
    const char *reason = !mlirBlockEqual(mlirOperationGetBlock(op),
                                         mlirOperationGetBlock(quantize))
                             ? "the two are in different blocks"
                         : !mlirRegionIsNull(gqEpilogueOf(op))
                             ? "it has an epilogue"
                         : ungrouped ? fuseUngrouped(quantize, op, kernels)
                                     : fuseGrouped(quantize, op, kernels);
    if (reason)
      gqRemarkMissed(location, passName, reason);
    else
      gqRemarkPassed(location, passName, "fused with the quantization");
  }
  gqOpListFree(&ops);
}
