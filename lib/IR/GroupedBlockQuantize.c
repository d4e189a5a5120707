//===- GroupedBlockQuantize.c - gq.grouped_block_quantize --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ops.h"

#include "mlir-c/BuiltinTypes.h"

enum {
  INPUT,
  OFFSETS,
  SCALE_OFFSETS,
  GLOBAL_SCALE,
  DATA,
  SCALES,
  NUM_OPERANDS
};

static MlirValue operand(MlirOperation op, intptr_t index) {
  return gqOpOperand(op, index, NUM_OPERANDS, GLOBAL_SCALE);
}

gqGroupedBlockQuantize gqGroupedBlockQuantizeGet(MlirOperation op) {
  MlirAttribute rows = mlirOperationGetAttributeByName(
      op, mlirStringRefCreateFromCString("rows"));
  return (gqGroupedBlockQuantize){
      .format = gqOpFormat(op),
      .scaleLayout = gqOpScaleLayout(op, GQ_SCALE_LAYOUT_TILE128X4),
      .rows =
          mlirAttributeIsNull(rows) ? GQ_ROWS_ALL : gqRowsAttrGetValue(rows),
      .input = operand(op, INPUT),
      .offsets = operand(op, OFFSETS),
      .scaleOffsets = operand(op, SCALE_OFFSETS),
      .globalScale = operand(op, GLOBAL_SCALE),
      .data = operand(op, DATA),
      .scales = operand(op, SCALES),
  };
}

MlirOperation gqGroupedBlockQuantizeCreate(MlirLocation location,
                                           const gqGroupedBlockQuantize *desc) {
  gqOpAttributes attributes =
      gqOpAttributesGet(location, desc->format, desc->scaleLayout);
  attributes.list[2] = gqNamedAttribute(
      "rows", gqRowsAttrGet(mlirLocationGetContext(location), desc->rows));
  MlirValue operands[NUM_OPERANDS] = {desc->input,        desc->offsets,
                                      desc->scaleOffsets, desc->globalScale,
                                      desc->data,         desc->scales};
  return gqOpCreate(location, "gq.grouped_block_quantize", attributes.list, 3,
                    operands, NUM_OPERANDS, 2);
}

/// A global scale of rank 1 has an entry for each group.
static bool checkGlobalScale(MlirOperation op, MlirValue globalScale,
                             MlirValue scaleOffsets) {
  if (mlirValueIsNull(globalScale) ||
      mlirShapedTypeGetRank(mlirValueGetType(globalScale)) == 0)
    return true;
  int64_t groups = gqDim(scaleOffsets, 0);
  return gqCheckExtents(op, "global_scale", globalScale, &groups) &&
         gqCheckStrides(op, "global_scale", globalScale, true);
}

MlirLogicalResult gqGroupedBlockQuantizeVerify(MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  int64_t columns = gqDim(desc.input, 1);
  int64_t dataExtents[] = {gqDim(desc.input, 0), columns};
  bool valid =
      gqCheckUniform(op) &&                                        // (C3)
      gqCheckBlocks(op, desc.format, columns) &&                   // (C4)
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets) &&        // (C5)
      checkGlobalScale(op, desc.globalScale, desc.scaleOffsets) && // (C6)
      gqCheckData(op, "data", desc.data, dataExtents) &&           // (C7)
      gqCheckTiledScales(op, "scales", desc.scales,                // (C8)
                         gqScaleColumns(desc.format, columns)) &&
      gqCheckScaleLayout(op, desc.scaleLayout, // (C9)
                         GQ_SCALE_LAYOUT_TILE128X4) &&
      gqCheckEncoding(op, "scales", desc.scales, desc.scaleLayout) &&
      gqCheckStrides(op, "input", desc.input, false) && // (C10)
      gqCheckStrides(op, "data", desc.data, false) &&
      gqCheckStrides(op, "offsets", desc.offsets, true) &&
      gqCheckStrides(op, "scale_offsets", desc.scaleOffsets, true) &&
      gqCheckStrides(op, "scales", desc.scales, true);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
