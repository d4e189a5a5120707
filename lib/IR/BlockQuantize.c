//===- BlockQuantize.c - gq.block_quantize -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ops.h"

enum { INPUT, GLOBAL_SCALE, DATA, SCALES, NUM_OPERANDS };

static MlirValue operand(MlirOperation op, intptr_t index) {
  return gqOpOperand(op, index, NUM_OPERANDS, GLOBAL_SCALE);
}

gqBlockQuantize gqBlockQuantizeGet(MlirOperation op) {
  return (gqBlockQuantize){
      .format = gqOpFormat(op),
      .scaleLayout = gqOpScaleLayout(op, GQ_SCALE_LAYOUT_LINEAR),
      .input = operand(op, INPUT),
      .globalScale = operand(op, GLOBAL_SCALE),
      .data = operand(op, DATA),
      .scales = operand(op, SCALES),
  };
}

MlirOperation gqBlockQuantizeCreate(MlirLocation location,
                                    const gqBlockQuantize *desc) {
  gqOpAttributes attributes =
      gqOpAttributesGet(location, desc->format, desc->scaleLayout);
  MlirValue operands[NUM_OPERANDS] = {desc->input, desc->globalScale,
                                      desc->data, desc->scales};
  return gqOpCreate(location, "gq.block_quantize", attributes.list, 2, operands,
                    NUM_OPERANDS, 2);
}

MlirLogicalResult gqBlockQuantizeVerify(MlirOperation op) {
  gqBlockQuantize desc = gqBlockQuantizeGet(op);
  int64_t rows = gqDim(desc.input, 0), columns = gqDim(desc.input, 1);
  int64_t dataExtents[] = {rows, columns};
  int64_t scaleExtents[] = {rows, gqScaleColumns(desc.format, columns)};
  bool valid =
      gqCheckUniform(op) &&                                      // (C3)
      gqCheckBlocks(op, desc.format, columns) &&                 // (C4)
      gqCheckData(op, "data", desc.data, dataExtents) &&         // (C5)
      gqCheckExtents(op, "scales", desc.scales, scaleExtents) && // (C6)
      gqCheckScaleLayout(op, desc.scaleLayout,                   // (C7)
                         GQ_SCALE_LAYOUT_LINEAR) &&
      gqCheckEncoding(op, "scales", desc.scales, desc.scaleLayout) &&
      gqCheckStrides(op, "input", desc.input, false) && // (C8)
      gqCheckStrides(op, "data", desc.data, false) &&
      gqCheckStrides(op, "scales", desc.scales, false);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
