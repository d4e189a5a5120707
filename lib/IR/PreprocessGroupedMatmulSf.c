//===- PreprocessGroupedMatmulSf.c -------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

GQ_DEFINE_OP_OF_ROWS(PreprocessGroupedMatmulSf)

MlirLogicalResult gqPreprocessGroupedMatmulSfVerify(MlirOperation op) {
  gqPreprocessGroupedMatmulSf desc = gqPreprocessGroupedMatmulSfGet(op);
  int64_t scaleColumns = gqDim(desc.input, 1);
  int64_t columns = gqElementColumns(desc.format, scaleColumns);
  int64_t groups = gqDim(desc.scaleOffsets, 0);
  int64_t scaleExtents[] = {GQ_DYNAMIC, scaleColumns};
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  const gqScaleLayout tiled = GQ_SCALE_LAYOUT_TILE128X4;
  bool valid =
      gqCheckBlockFormat(op, desc.format) && // (C4)
      gqCheckBlocks(op, desc.format, columns) &&
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets, groups) &&  // (C5)
      gqCheckScaleLayout(op, desc.scaleLayout, tiled) &&             // (C7)
      gqCheckTiledScales(op, "scales", desc.scales, scaleExtents) && // (C6)
      gqCheckTileable(op, desc.format, tiled) &&                     // (C9)
      gqCheckScaleType(op, "input", desc.input, desc.format) &&
      gqCheckScaleType(op, "scales", desc.scales, desc.format) &&
      gqCheckStorage(op, "input", desc.input, linear, false) && // (C7), (C8)
      gqCheckStorage(op, "offsets", desc.offsets, linear, true) &&
      gqCheckStorage(op, "scale_offsets", desc.scaleOffsets, linear, true) &&
      gqCheckStorage(op, "scales", desc.scales, tiled, true);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
