//===- GroupedWgrad.c - gq.grouped_wgrad -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

#include "mlir-c/BuiltinTypes.h"

GQ_DEFINE_OP_OF_ROWS(GroupedWgrad)

/// Of data that is not flat rows and columns; GQ_DYNAMIC of other data.
static int64_t rowsOf(MlirValue data) {
  return mlirShapedTypeGetRank(mlirValueGetType(data)) == 2 ? gqDim(data, 0)
                                                            : GQ_DYNAMIC;
}
static int64_t columnsOf(MlirValue data) {
  return mlirShapedTypeGetRank(mlirValueGetType(data)) == 2
             ? gqDataColumns(data)
             : GQ_DYNAMIC;
}

/// Flat where the format transposes, else [rows, columns]: (C6).
static bool checkData(MlirOperation op, const char *name, MlirValue data,
                      gqFormat format, int64_t rows, int64_t columns) {
  bool flat = gqFormatGetTraits(format).transposes;
  int64_t extents[] = {rows, columns};
  return gqCheckRank(op, name, data, flat ? 1 : 2) &&
         (flat || gqCheckData(op, name, data, extents));
}

/// (C8), (C11)
static bool checkStorages(MlirOperation op, const gqGroupedWgrad *desc) {
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  bool aFlat = gqFormatGetTraits(desc->format).transposes;
  bool bFlat = gqFormatGetTraits(desc->bFormat).transposes;
  gqScaleLayout scales = desc->scaleLayout;
  return gqCheckStorage(op, "a", desc->a, linear, aFlat) &&
         gqCheckStorage(op, "b", desc->b, linear, bFlat) &&
         gqCheckStorage(op, "a_scales", desc->aScales, scales, true) &&
         gqCheckStorage(op, "b_scales", desc->bScales, scales, true) &&
         gqCheckStorage(op, "offsets", desc->offsets, linear, true) &&
         gqCheckStorage(op, "alpha", desc->alpha, linear, true) &&
         gqCheckStorage(op, "out", desc->out, linear, true);
}

MlirLogicalResult gqGroupedWgradVerify(MlirOperation op) {
  gqGroupedWgrad desc = gqGroupedWgradGet(op);
  bool scaled = desc.format != GQ_FORMAT_NONE;
  if (!gqCheckFormats(op, desc.format, desc.bFormat) || // (C12)
      !gqCheckFactor(op, "a", desc.a, "a_scales", desc.aScales,
                     desc.format) || // (C13)
      !gqCheckFactor(op, "b", desc.b, "b_scales", desc.bScales, desc.bFormat) ||
      !gqCheckScalePresence(op, desc.aScales, desc.bScales, scaled)) // (C14)
    return mlirLogicalResultFailure();
  int64_t rows = rowsOf(desc.a), n = columnsOf(desc.a), k = columnsOf(desc.b);
  int64_t entries = gqDim(desc.offsets, 0);
  int64_t groups = entries > 0 ? entries - 1 : GQ_DYNAMIC;
  gqUnify(&rows, rowsOf(desc.b));
  gqUnify(&n, gqDim(desc.out, 1));
  gqUnify(&k, gqDim(desc.out, 2));
  gqUnify(&groups, gqDim(desc.alpha, 0));
  gqUnify(&groups, gqDim(desc.out, 0));
  int64_t outExtents[] = {groups, n, k};
  const MlirValue none = {NULL};
  bool valid = gqCheckBlocks(op, desc.bFormat, k) &&                // (C4)
               gqCheckBlocksOf(op, "N", desc.format, n) &&          // (C5)
               checkData(op, "a", desc.a, desc.format, rows, n) &&  // (C6)
               checkData(op, "b", desc.b, desc.bFormat, rows, k) && // (C6)
               gqCheckScaleLayout(op, desc.scaleLayout,
                                  gqMmScaleLayout(desc.format)) && // (C8)
               gqCheckGroups(op, desc.offsets, none, groups) &&    // (C9)
               gqCheckExtents(op, "alpha", desc.alpha, &groups) && // (C10)
               gqCheckExtents(op, "out", desc.out, outExtents) &&  // (C7)
               checkStorages(op, &desc); // (C8), (C11)
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
