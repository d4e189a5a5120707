//===- PreprocessGroupedMatmulSf.c -------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

static const gqAttributeInfo attributes[] = {
#define GQ_PREPROCESS_GROUPED_MATMUL_SF_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE) \
  GQ_ATTRIBUTE_INFO(gqPreprocessGroupedMatmulSf, NAME, FIELD, ENUM, PRESENCE)
#include "gq/Runtime/Ops.def"
};
static const gqOperandInfo operands[] = {
#define GQ_PREPROCESS_GROUPED_MATMUL_SF_OPERAND(NAME, FIELD, MEMBER, PRESENCE, \
                                                ROLE)                          \
  GQ_OPERAND_INFO(gqPreprocessGroupedMatmulSf, NAME, MEMBER, PRESENCE, ROLE)
#include "gq/Runtime/Ops.def"
};
const gqOpInfo gqPreprocessGroupedMatmulSfInfo = GQ_OP_INFO(
    "gq.preprocess_grouped_matmul_sf", "gqCpuPreprocessGroupedMatmulSf");

gqPreprocessGroupedMatmulSf gqPreprocessGroupedMatmulSfGet(MlirOperation op) {
  gqPreprocessGroupedMatmulSf desc = {0};
  gqOpRead(op, &desc, 0);
  return desc;
}

MlirOperation
gqPreprocessGroupedMatmulSfCreate(MlirLocation location,
                                  const gqPreprocessGroupedMatmulSf *desc) {
  return gqOpCreate(location, &gqPreprocessGroupedMatmulSfInfo, desc, NULL);
}

MlirLogicalResult gqPreprocessGroupedMatmulSfVerify(MlirOperation op) {
  if (!gqCheckUniform(op)) // (C3)
    return mlirLogicalResultFailure();
  gqPreprocessGroupedMatmulSf desc = gqPreprocessGroupedMatmulSfGet(op);
  int64_t scaleColumns = gqDim(desc.input, 1);
  int64_t columns = gqElementColumns(desc.format, scaleColumns);
  int64_t groups = gqDim(desc.scaleOffsets, 0);
  int64_t scaleExtents[] = {GQ_DYNAMIC, scaleColumns};
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  const gqScaleLayout tiled = GQ_SCALE_LAYOUT_TILE128X4;
  bool valid =
      gqCheckBlocks(op, desc.format, columns) &&                     // (C4)
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets, groups) &&  // (C5)
      gqCheckTiledScales(op, "scales", desc.scales, scaleExtents) && // (C6)
      gqCheckScaleLayout(op, desc.scaleLayout, tiled) &&             // (C7)
      gqCheckTileable(op, desc.format, tiled) &&                     // (C9)
      gqCheckScaleType(op, "input", desc.input, desc.format) &&
      gqCheckScaleType(op, "scales", desc.scales, desc.format) &&
      gqCheckStorage(op, "input", desc.input, linear, false) && // (C7), (C8)
      gqCheckStorage(op, "offsets", desc.offsets, linear, true) &&
      gqCheckStorage(op, "scale_offsets", desc.scaleOffsets, linear, true) &&
      gqCheckStorage(op, "scales", desc.scales, tiled, true);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
