//===- BlockDequantize.c - gq.block_dequantize -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

GQ_DEFINE_OP_OF_ROWS(BlockDequantize)

MlirLogicalResult gqBlockDequantizeVerify(MlirOperation op) {
  gqBlockDequantize desc = gqBlockDequantizeGet(op);
  int64_t rows = gqDim(desc.out, 0), columns = gqDim(desc.out, 1);
  gqUnify(&rows, gqDim(desc.data, 0));
  gqUnify(&columns, gqDataColumns(desc.data));
  gqUnify(&columns, gqElementColumns(desc.format, gqDim(desc.scales, 1)));
  int64_t dataExtents[] = {rows, columns};
  int64_t scaleExtents[] = {gqScaleRows(desc.format, rows),
                            gqScaleColumns(desc.format, columns)};
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  bool valid =
      gqCheckBlockFormat(op, desc.format) &&                 // (C4)
      gqCheckBlocks(op, desc.format, columns) &&             // (C4)
      gqCheckDataType(op, "data", desc.data, desc.format) && // (C5)
      gqCheckData(op, "data", desc.data, dataExtents) &&
      gqCheckScaleType(op, "scales", desc.scales, desc.format) && // (C6)
      gqCheckExtents(op, "scales", desc.scales, scaleExtents) &&
      gqCheckGlobalScale(op, desc.format, desc.globalScale) && // (C9)
      gqCheckEpilogue(op, 1, "", desc.out) &&                  // (C10)
      gqCheckScaleLayout(op, desc.scaleLayout, linear) &&      // (C7)
      gqCheckStorage(op, "data", desc.data, linear, false) &&  // (C7), (C8)
      gqCheckStorage(op, "scales", desc.scales, linear, false) &&
      gqCheckStorage(op, "global_scale", desc.globalScale, linear, false) &&
      gqCheckStorage(op, "out", desc.out, linear, false);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
