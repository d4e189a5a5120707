//===- GroupedMm.c - gq.grouped_mm -------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

static const gqAttributeInfo attributes[] = {
#define GQ_GROUPED_MM_ATTRIBUTE(NAME, FIELD, ENUM)                             \
  GQ_ATTRIBUTE_INFO(gqGroupedMm, NAME, FIELD, ENUM)
#include "gq/Runtime/Ops.def"
};
static const gqOperandInfo operands[] = {
#define GQ_GROUPED_MM_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  GQ_OPERAND_INFO(gqGroupedMm, NAME, MEMBER, PRESENCE, ROLE)
#include "gq/Runtime/Ops.def"
};
const gqOpInfo gqGroupedMmInfo = GQ_OP_INFO("gq.grouped_mm", "gqCpuGroupedMm");

gqGroupedMm gqGroupedMmGet(MlirOperation op) {
  gqGroupedMm desc = {0};
  gqOpRead(op, &desc, 0);
  return desc;
}

gqMmKernel gqGroupedMmGetKernel(MlirOperation op) {
  MlirAttribute kernel = gqGetAttribute(op, "kernel");
  return mlirAttributeIsNull(kernel) ? GQ_MM_KERNEL_AUTO
                                     : gqMmKernelAttrGetValue(kernel);
}

MlirOperation gqGroupedMmCreate(MlirLocation location,
                                const gqGroupedMm *desc) {
  return gqOpCreate(location, &gqGroupedMmInfo, desc, NULL);
}

MlirLogicalResult gqGroupedMmVerify(MlirOperation op) {
  if (!gqCheckUniform(op)) // (C3)
    return mlirLogicalResultFailure();
  gqGroupedMm desc = gqGroupedMmGet(op);
  int64_t rows = gqDim(desc.a, 0), columns = gqDataColumns(desc.a);
  gqUnify(&columns, gqDataColumns(desc.b));
  int64_t outColumns = gqDim(desc.b, 1);
  gqUnify(&outColumns, gqDim(desc.out, 1));
  int64_t groups = gqDim(desc.b, 0);
  gqUnify(&groups, gqDim(desc.scaleOffsets, 0));
  gqUnify(&groups, gqDim(desc.bScales, 0));
  gqUnify(&groups, gqDim(desc.alpha, 0));
  int64_t scaleColumns = gqScaleColumns(desc.format, columns);
  gqUnify(&scaleColumns, gqDim(desc.aScales, 1));
  int64_t bExtents[] = {groups, outColumns, columns};
  int64_t aScaleExtents[] = {GQ_DYNAMIC, scaleColumns};
  int64_t bScaleExtents[] = {groups, outColumns, scaleColumns};
  int64_t outExtents[] = {rows, outColumns};
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  const gqScaleLayout tiled = GQ_SCALE_LAYOUT_TILE128X4;
  bool valid =
      gqCheckFormat(op, desc.format, GQ_FORMAT_NVFP4) && // (C13)
      gqCheckBlocks(op, desc.format, columns) &&         // (C4)
      gqCheckData(op, "b", desc.b, bExtents) &&          // (C5)
      gqCheckTiledScales(op, "a_scales", desc.aScales, aScaleExtents) && // (C6)
      gqCheckTiledScales(op, "b_scales", desc.bScales, bScaleExtents) && // (C7)
      gqCheckScaleLayout(op, desc.scaleLayout, tiled) &&                 // (C8)
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets, groups) &&      // (C9)
      gqCheckExtents(op, "alpha", desc.alpha, &groups) && // (C10)
      gqCheckExtents(op, "out", desc.out, outExtents) &&  // (C11)
      gqCheckStorage(op, "a", desc.a, linear, false) &&   // (C8), (C12)
      gqCheckStorage(op, "b", desc.b, linear, true) &&
      gqCheckStorage(op, "a_scales", desc.aScales, tiled, true) &&
      gqCheckStorage(op, "b_scales", desc.bScales, tiled, true) &&
      gqCheckStorage(op, "offsets", desc.offsets, linear, true) &&
      gqCheckStorage(op, "scale_offsets", desc.scaleOffsets, linear, true) &&
      gqCheckStorage(op, "alpha", desc.alpha, linear, true) &&
      gqCheckStorage(op, "out", desc.out, linear, false);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
