//===- GroupedMm.c - gq.grouped_mm -------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ops.h"

enum {
  A,
  B,
  A_SCALES,
  B_SCALES,
  OFFSETS,
  SCALE_OFFSETS,
  ALPHA,
  OUT,
  NUM_OPERANDS
};

static MlirValue operand(MlirOperation op, intptr_t index) {
  return gqOpOperand(op, index, NUM_OPERANDS, ALPHA);
}

gqGroupedMm gqGroupedMmGet(MlirOperation op) {
  return (gqGroupedMm){
      .format = gqOpFormat(op),
      .scaleLayout = gqOpScaleLayout(op, GQ_SCALE_LAYOUT_TILE128X4),
      .a = operand(op, A),
      .b = operand(op, B),
      .aScales = operand(op, A_SCALES),
      .bScales = operand(op, B_SCALES),
      .offsets = operand(op, OFFSETS),
      .scaleOffsets = operand(op, SCALE_OFFSETS),
      .alpha = operand(op, ALPHA),
      .out = operand(op, OUT),
  };
}

MlirOperation gqGroupedMmCreate(MlirLocation location,
                                const gqGroupedMm *desc) {
  gqOpAttributes attributes =
      gqOpAttributesGet(location, desc->format, desc->scaleLayout);
  MlirValue operands[NUM_OPERANDS] = {desc->a,       desc->b,
                                      desc->aScales, desc->bScales,
                                      desc->offsets, desc->scaleOffsets,
                                      desc->alpha,   desc->out};
  return gqOpCreate(location, "gq.grouped_mm", attributes.list, 2, operands,
                    NUM_OPERANDS, 1);
}

static bool checkAlpha(MlirOperation op, MlirValue alpha, int64_t groups) {
  return mlirValueIsNull(alpha) ||
         (gqCheckExtents(op, "alpha", alpha, &groups) &&
          gqCheckStrides(op, "alpha", alpha, true));
}

MlirLogicalResult gqGroupedMmVerify(MlirOperation op) {
  gqGroupedMm desc = gqGroupedMmGet(op);
  int64_t rows = gqDim(desc.a, 0), columns = gqDataColumns(desc.a);
  int64_t groups = gqDim(desc.b, 0), outColumns = gqDim(desc.b, 1);
  int64_t scaleColumns = gqScaleColumns(desc.format, columns);
  int64_t bExtents[] = {groups, outColumns, columns};
  int64_t bScaleExtents[] = {groups, gqRoundUp(outColumns, 128),
                             gqRoundUp(scaleColumns, 4)};
  int64_t outExtents[] = {rows, outColumns};
  bool valid =
      gqCheckUniform(op) &&                                             // (C3)
      gqCheckBlocks(op, desc.format, columns) &&                        // (C4)
      gqCheckData(op, "b", desc.b, bExtents) &&                         // (C5)
      gqCheckTiledScales(op, "a_scales", desc.aScales, scaleColumns) && // (C6)
      gqCheckExtents(op, "b_scales", desc.bScales, bScaleExtents) &&    // (C7)
      gqCheckScaleLayout(op, desc.scaleLayout,                          // (C8)
                         GQ_SCALE_LAYOUT_TILE128X4) &&
      gqCheckEncoding(op, "a_scales", desc.aScales, desc.scaleLayout) &&
      gqCheckEncoding(op, "b_scales", desc.bScales, desc.scaleLayout) &&
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets) && // (C9)
      gqCheckExtents(op, "scale_offsets", desc.scaleOffsets, &groups) &&
      checkAlpha(op, desc.alpha, groups) &&              // (C10)
      gqCheckExtents(op, "out", desc.out, outExtents) && // (C11)
      gqCheckStrides(op, "a", desc.a, false) &&          // (C12)
      gqCheckStrides(op, "out", desc.out, false) &&
      gqCheckStrides(op, "b", desc.b, true) &&
      gqCheckStrides(op, "a_scales", desc.aScales, true) &&
      gqCheckStrides(op, "b_scales", desc.bScales, true) &&
      gqCheckStrides(op, "offsets", desc.offsets, true) &&
      gqCheckStrides(op, "scale_offsets", desc.scaleOffsets, true);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
