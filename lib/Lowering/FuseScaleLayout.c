//===- FuseScaleLayout.c - gq-fuse-scale-layout ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "Fusion.h"
#include "Passes.h"
#include "Query.h"
#include "Remarks.h"

#include "gq-c/Dialect.h"

static const char passName[] = "gq-fuse-scale-layout";

/// The two ops differ in the layout.
static bool isScaleLayout(MlirStringRef name) {
  return mlirStringRefEqual(name,
                            mlirStringRefCreateFromCString("scale_layout"));
}

/// Whether attributes that both ops have are equal.
static bool haveSameAttributes(MlirOperation quantize, MlirOperation layout) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(quantize); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(quantize, i);
    MlirStringRef name = mlirIdentifierStr(attribute.name);
    MlirAttribute other = mlirOperationGetAttributeByName(layout, name);
    if (!isScaleLayout(name) && !mlirAttributeIsNull(other) &&
        !mlirAttributeEqual(attribute.attribute, other))
      return false;
  }
  return true;
}

/// Adds the attributes of `layout` that `fused` does not have.
static void addAttributes(MlirOperation layout, MlirOperation fused) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(layout); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(layout, i);
    MlirStringRef name = mlirIdentifierStr(attribute.name);
    if (mlirAttributeIsNull(mlirOperationGetAttributeByName(fused, name)))
      mlirOperationSetAttributeByName(fused, name, attribute.attribute);
  }
}

// `fuse` passes each operand on by name: a new one must not be lost.
_Static_assert(GQ_BLOCK_QUANTIZE_NUM_OPERANDS == 4 &&
                   GQ_PREPROCESS_GROUPED_MATMUL_SF_NUM_OPERANDS == 4,
               "an operand that fuse() does not know");

/// Fuses `layout`, a gq.preprocess_grouped_matmul_sf on tensors, with the op
/// that makes its scales. Returns the reason if it cannot.
static const char *fuse(MlirOperation layout) {
  gqPreprocessGroupedMatmulSf sf = gqPreprocessGroupedMatmulSfGet(layout);
  MlirOperation quantize = gqDefiningOp(sf.input);
  if (mlirOperationIsNull(quantize) || !gqOperationIsABlockQuantize(quantize))
    return "the scales do not come from gq.block_quantize";
  if (!gqHasOneUse(sf.input))
    return "the linear scales have another user";
  if (!mlirBlockEqual(mlirOperationGetBlock(quantize),
                      mlirOperationGetBlock(layout)))
    return "gq.block_quantize is in another block";

  if (!haveSameAttributes(quantize, layout))
    return "the two ops differ in an attribute";

  // The fused op can stand where the second op is, unless the data is needed
  // earlier; then where the first one is, if the groups are known there.
  MlirValue data = gqResultAt(quantize, GQ_BLOCK_QUANTIZE_data);
  MlirOperation position = layout;
  if (!gqIsUsedOnlyAfter(data, layout)) {
    if (!gqIsAvailableAt(sf.offsets, quantize) ||
        !gqIsAvailableAt(sf.scaleOffsets, quantize) ||
        !gqIsAvailableAt(sf.scales, quantize))
      return "the data is used before the groups and 'outs' of the scales are "
             "known";
    position = quantize;
  }

  gqBlockQuantize bq = gqBlockQuantizeGet(quantize);
  gqGroupedBlockQuantize fused = {
      .format = bq.format,
      .scaleLayout = sf.scaleLayout,
      .rows = GQ_ROWS_ALL,
      .numInputs = 1,
      .inputs = {bq.input},
      .offsets = sf.offsets,
      .scaleOffsets = sf.scaleOffsets,
      .globalScale = bq.globalScale,
      .rowwise = {.data = bq.data, .scales = sf.scales},
  };
  MlirOperation op = gqGroupedBlockQuantizeRebuild(
      quantize, gqFusedLocation(quantize, layout), &fused);
  gqBuilder builder = gqBuilderBefore(position);
  gqInsert(&builder, op);
  addAttributes(layout, op);
  mlirValueReplaceAllUsesOfWith(data,
                                gqResultAt(op, GQ_GROUPED_BLOCK_QUANTIZE_data));
  mlirValueReplaceAllUsesOfWith(
      gqResultAt(layout, GQ_PREPROCESS_GROUPED_MATMUL_SF_scales),
      gqResultAt(op, GQ_GROUPED_BLOCK_QUANTIZE_scales));
  mlirOperationDestroy(layout);
  mlirOperationDestroy(quantize);
  return NULL;
}

/// Whether `op` is a gq.grouped_mm that reads `data` as its activations, over
/// the groups of `quantize`, by the scale offsets that it has or returns.
static bool readsOnlyGroups(MlirOperation op, MlirValue data,
                            const gqGroupedBlockQuantize *quantize,
                            MlirValue scaleOffsets) {
  if (!gqOperationIsAGroupedMm(op))
    return false;
  gqGroupedMm mm = gqGroupedMmGet(op);
  return mlirValueEqual(mm.a, data) &&
         mlirValueEqual(mm.offsets, quantize->offsets) &&
         mlirValueEqual(mm.scaleOffsets, scaleOffsets);
}

/// Leaves rows in no group alone where nothing reads their data or amaxes.
static void skipRowsInNoGroup(MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  if (!gqHasDirection(&desc.rowwise) || desc.rows == GQ_ROWS_GROUPED)
    return;
  MlirValue data = gqResultAt(op, GQ_GROUPED_BLOCK_QUANTIZE_data);
  MlirValue rowAmax = gqResultAt(op, GQ_GROUPED_BLOCK_QUANTIZE_row_amax);
  MlirValue scaleOffsets = desc.scaleOffsets;
  if (!mlirValueIsNull(desc.scaleOffsetsOut))
    scaleOffsets = gqResultAt(op, GQ_GROUPED_BLOCK_QUANTIZE_scale_offsets_out);
  bool any = false;
  bool all = mlirValueIsNull(rowAmax) ||
             mlirOpOperandIsNull(mlirValueGetFirstUse(rowAmax));
  for (MlirOpOperand use = mlirValueGetFirstUse(data);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    bool reads =
        readsOnlyGroups(mlirOpOperandGetOwner(use), data, &desc, scaleOffsets);
    any |= reads;
    all &= reads;
  }
  MlirLocation location = mlirOperationGetLocation(op);
  if (any && !all)
    gqRemarkMissed(location, passName,
                   "rows in no group are quantized too: not all that reads the "
                   "data is a gq.grouped_mm over the same groups, or something "
                   "reads the amaxes of rows");
  if (!all)
    return;
  gqRemarkPassed(location, passName, "rows in no group are left out");
  mlirOperationSetAttributeByName(
      op, mlirStringRefCreateFromCString("rows"),
      gqRowsAttrGet(mlirOperationGetContext(op), GQ_ROWS_GROUPED));
}

void gqFuseScaleLayout(MlirOperation root) {
  gqOpList layouts = gqCollect(root, gqOperationIsAPreprocessGroupedMatmulSf);
  for (intptr_t i = 0; i < layouts.size; ++i) {
    if (mlirOperationGetNumResults(layouts.ops[i]) == 0)
      continue; // Memrefs: what else writes them is not known here.
    MlirLocation location = mlirOperationGetLocation(layouts.ops[i]);
    const char *reason = fuse(layouts.ops[i]);
    if (reason)
      gqRemarkMissed(location, passName, reason);
    else
      gqRemarkPassed(location, passName, "fused with gq.block_quantize");
  }
  gqOpListFree(&layouts);

  gqOpList quantizes = gqCollect(root, gqQuantizesGroups);
  for (intptr_t i = 0; i < quantizes.size; ++i)
    if (mlirOperationGetNumResults(quantizes.ops[i]))
      skipRowsInNoGroup(quantizes.ops[i]);
  gqOpListFree(&quantizes);
}
