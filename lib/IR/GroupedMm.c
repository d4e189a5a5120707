//===- GroupedMm.c - gq.grouped_mm -------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

#include "mlir-c/BuiltinTypes.h"

GQ_DEFINE_OP_OF_ROWS(GroupedMm)

gqMmKernel gqGroupedMmGetKernel(MlirOperation op) {
  MlirAttribute kernel = gqGetAttribute(op, "kernel");
  return mlirAttributeIsNull(kernel) ? GQ_MM_KERNEL_AUTO
                                     : gqMmKernelAttrGetValue(kernel);
}

/// Whether the blocks of both formats can meet: (C13).
static bool checkFormats(MlirOperation op, const gqGroupedMm *desc) {
  gqFormatTraits a = gqFormatGetTraits(desc->format);
  gqFormatTraits b = gqFormatGetTraits(desc->bFormat);
  if (desc->format == GQ_FORMAT_NONE)
    return desc->bFormat == GQ_FORMAT_NONE ||
           gqOpError(op, "requires 'format' where it has 'b_format'");
  if (a.blockRows != 1)
    return gqOpError(op,
                     "requires a 'format' with blocks of one row, not %s; it "
                     "can be 'b_format'",
                     a.name);
  return (a.scaleRule == b.scaleRule && a.blockColumns == b.blockColumns) ||
         gqOpError(op,
                   "requires 'format' and 'b_format' to have one scale rule, "
                   "not %s and %s",
                   a.name, b.name);
}

/// Data of one of the types that need no scales: (C14).
static bool checkPlainData(MlirOperation op, const char *name, MlirValue data) {
  MlirType type = mlirShapedTypeGetElementType(mlirValueGetType(data));
  return mlirTypeIsAFloat8E4M3FN(type) || mlirTypeIsAFloat8E5M2(type) ||
         gqOpError(op,
                   "requires '%s' to be of f8E4M3FN or f8E5M2 where it has no "
                   "'format'",
                   name);
}

static bool checkTypes(MlirOperation op, const gqGroupedMm *desc) {
  if (desc->format == GQ_FORMAT_NONE)
    return checkPlainData(op, "a", desc->a) && checkPlainData(op, "b", desc->b);
  return gqCheckDataType(op, "a", desc->a, desc->format) &&
         gqCheckDataType(op, "b", desc->b, desc->bFormat) &&
         gqCheckScaleType(op, "a_scales", desc->aScales, desc->format) &&
         gqCheckScaleType(op, "b_scales", desc->bScales, desc->bFormat);
}

/// The operand is there if it has to be: (C15).
static bool checkPresence(MlirOperation op, const char *name, MlirValue value,
                          bool required, const char *condition) {
  return mlirValueIsNull(value) != required ||
         gqOpError(op, "requires %s'%s' %s", required ? "" : "no ", name,
                   condition);
}

static bool checkPresences(MlirOperation op, const gqGroupedMm *desc) {
  bool scaled = desc->format != GQ_FORMAT_NONE;
  bool tiled = scaled && gqFormatGetTraits(desc->format).scaleType != GQ_F32;
  const char *format = scaled ? "where it has 'format'" : "without 'format'";
  return checkPresence(op, "a_scales", desc->aScales, scaled, format) &&
         checkPresence(op, "b_scales", desc->bScales, scaled, format) &&
         checkPresence(op, "scale_offsets", desc->scaleOffsets, tiled,
                       tiled ? "where 'a_scales' are in tile128x4"
                             : "unless 'a_scales' are in tile128x4");
}

/// M, N, K and G; GQ_DYNAMIC where no operand says.
typedef struct Extents {
  int64_t rows, columns, k, groups;
} Extents;

static Extents extentsOf(const gqGroupedMm *desc) {
  Extents x = {gqDim(desc->a, 0), gqDim(desc->b, 1), gqDataColumns(desc->a),
               gqDim(desc->b, 0)};
  gqUnify(&x.rows, gqDim(desc->out, 0));
  gqUnify(&x.rows, gqDim(desc->rowScales, 0));
  gqUnify(&x.columns, gqDim(desc->out, 1));
  gqUnify(&x.columns, gqDim(desc->columnScales, 1));
  gqUnify(&x.columns, gqDim(desc->bias, 1));
  gqUnify(&x.k, gqDataColumns(desc->b));
  gqUnify(&x.groups, gqDim(desc->scaleOffsets, 0));
  gqUnify(&x.groups, gqDim(desc->bScales, 0));
  gqUnify(&x.groups, gqDim(desc->alpha, 0));
  gqUnify(&x.groups, gqDim(desc->columnScales, 0));
  gqUnify(&x.groups, gqDim(desc->bias, 0));
  if (mlirValueIsNull(desc->scaleOffsets) && gqDim(desc->offsets, 0) > 0)
    gqUnify(&x.groups, gqDim(desc->offsets, 0) - 1);
  return x;
}

/// Scales in their layout: (C6), (C7).
static bool checkScales(MlirOperation op, const gqGroupedMm *desc, Extents x) {
  if (desc->format == GQ_FORMAT_NONE)
    return true;
  int64_t scaleColumns = gqScaleColumns(desc->format, x.k);
  gqUnify(&scaleColumns, gqDim(desc->aScales, 1));
  if (gqFormatGetTraits(desc->format).scaleType == GQ_F32) {
    int64_t a[] = {x.rows, scaleColumns};
    int64_t b[] = {x.groups, gqScaleRows(desc->bFormat, x.columns),
                   scaleColumns};
    return gqCheckExtents(op, "a_scales", desc->aScales, a) &&
           gqCheckExtents(op, "b_scales", desc->bScales, b);
  }
  int64_t a[] = {GQ_DYNAMIC, scaleColumns};
  int64_t b[] = {x.groups, x.columns, scaleColumns};
  return gqCheckTiledScales(op, "a_scales", desc->aScales, a) &&
         gqCheckTiledScales(op, "b_scales", desc->bScales, b);
}

/// (C8), (C12).
static bool checkStorages(MlirOperation op, const gqGroupedMm *desc) {
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  gqScaleLayout scales = desc->scaleLayout;
  bool tiled = scales == GQ_SCALE_LAYOUT_TILE128X4;
  return gqCheckStorage(op, "a", desc->a, linear, false) &&
         gqCheckStorage(op, "b", desc->b, linear, true) &&
         gqCheckStorage(op, "a_scales", desc->aScales, scales, tiled) &&
         gqCheckStorage(op, "b_scales", desc->bScales, scales, true) &&
         gqCheckStorage(op, "offsets", desc->offsets, linear, true) &&
         gqCheckStorage(op, "scale_offsets", desc->scaleOffsets, linear,
                        true) &&
         gqCheckStorage(op, "alpha", desc->alpha, linear, true) &&
         gqCheckStorage(op, "row_scales", desc->rowScales, linear, true) &&
         gqCheckStorage(op, "column_scales", desc->columnScales, linear,
                        true) &&
         gqCheckStorage(op, "bias", desc->bias, linear, true) &&
         gqCheckStorage(op, "out", desc->out, linear, false);
}

MlirLogicalResult gqGroupedMmVerify(MlirOperation op) {
  if (!gqCheckUniform(op)) // (C3)
    return mlirLogicalResultFailure();
  gqGroupedMm desc = gqGroupedMmGet(op);
  if (!checkFormats(op, &desc) || // (C13)
      !checkTypes(op, &desc) ||   // (C14)
      !checkPresences(op, &desc)) // (C15)
    return mlirLogicalResultFailure();
  Extents x = extentsOf(&desc);
  int64_t bExtents[] = {x.groups, x.columns, x.k};
  int64_t columnExtents[] = {x.groups, x.columns};
  int64_t outExtents[] = {x.rows, x.columns};
  gqScaleLayout layout = gqFormatGetTraits(desc.format).scaleType == GQ_F32
                             ? GQ_SCALE_LAYOUT_LINEAR
                             : GQ_SCALE_LAYOUT_TILE128X4;
  bool valid =
      gqCheckBlocks(op, desc.format, x.k) &&                          // (C4)
      gqCheckData(op, "b", desc.b, bExtents) &&                       // (C5)
      checkScales(op, &desc, x) &&                                    // (C6, 7)
      gqCheckScaleLayout(op, desc.scaleLayout, layout) &&             // (C8)
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets, x.groups) && // (C9)
      gqCheckExtents(op, "alpha", desc.alpha, &x.groups) &&           // (C10)
      gqCheckExtents(op, "row_scales", desc.rowScales, &x.rows) &&    // (C16)
      gqCheckExtents(op, "column_scales", desc.columnScales, columnExtents) &&
      gqCheckExtents(op, "bias", desc.bias, columnExtents) &&
      gqCheckExtents(op, "out", desc.out, outExtents) && // (C11)
      checkStorages(op, &desc);                          // (C8), (C12)
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
