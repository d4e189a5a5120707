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

gqMmKernel gqMmGetKernel(MlirOperation op) {
  MlirAttribute kernel = gqGetAttribute(op, "kernel");
  return mlirAttributeIsNull(kernel) ? GQ_MM_KERNEL_AUTO
                                     : gqMmKernelAttrGetValue(kernel);
}

gqPairs gqGroupedMmGetPairs(MlirOperation op) {
  MlirAttribute pairs = gqGetAttribute(op, "pairs");
  return mlirAttributeIsNull(pairs) ? GQ_PAIRS_NONE
                                    : gqPairsAttrGetValue(pairs);
}

/// Whether the op stores one element of two columns.
static bool hasPairs(MlirOperation op) {
  return gqGroupedMmGetPairs(op) != GQ_PAIRS_NONE;
}

/// (C18), (C19)
static bool checkEpilogue(MlirOperation op, const gqGroupedMm *desc) {
  if (hasPairs(op) && mlirRegionIsNull(gqEpilogueOf(op)))
    return gqOpError(op, "requires an 'epilogue' for 'pairs'"); // (C19)
  return gqCheckEpilogue(op, hasPairs(op) ? 2 : 1,
                         hasPairs(op) ? " with 'pairs'" : " without 'pairs'",
                         desc->out);
}

/// (C13)
static bool checkFormats(MlirOperation op, const gqGroupedMm *desc) {
  gqFormatTraits a = gqFormatGetTraits(desc->format);
  return (a.blockRows == 1 ||
          gqOpError(op,
                    "requires a 'format' with blocks of one row, not %s; it "
                    "can be 'b_format'",
                    a.name)) &&
         gqCheckFormats(op, desc->format, desc->bFormat);
}

/// (C14)
static bool checkTypes(MlirOperation op, const gqGroupedMm *desc) {
  return gqCheckFactor(op, "a", desc->a, "a_scales", desc->aScales,
                       desc->format) &&
         gqCheckFactor(op, "b", desc->b, "b_scales", desc->bScales,
                       desc->bFormat);
}

/// (C15)
static bool checkPresences(MlirOperation op, const gqGroupedMm *desc) {
  bool scaled = desc->format != GQ_FORMAT_NONE;
  bool tiled =
      scaled && gqMmScaleLayout(desc->format) == GQ_SCALE_LAYOUT_TILE128X4;
  return gqCheckScalePresence(op, desc->aScales, desc->bScales, scaled) &&
         (mlirValueIsNull(desc->scaleOffsets) != tiled ||
          gqOpError(op, "requires %s",
                    tiled ? "'scale_offsets' where 'a_scales' are in tile128x4"
                          : "no 'scale_offsets' unless 'a_scales' are in "
                            "tile128x4"));
}

static bool isMajorN(const gqGroupedMm *desc) {
  return desc->bMajor == GQ_MAJOR_N;
}

/// (C17)
static bool checkMajor(MlirOperation op, const gqGroupedMm *desc) {
  gqFormatTraits b = gqFormatGetTraits(desc->bFormat);
  return !isMajorN(desc) || !b.transposes ||
         gqOpError(op,
                   "requires no b_major(n) for %s, whose columnwise data is "
                   "transposed: it has K innermost",
                   b.name);
}

/// M, N, K and G; GQ_DYNAMIC where no operand says.
typedef struct Extents {
  int64_t rows, columns, k, groups;
} Extents;

static Extents extentsOf(MlirOperation op, const gqGroupedMm *desc) {
  bool majorN = isMajorN(desc);
  int64_t outColumns = gqDim(desc->out, 1);
  int64_t inner = gqDataColumns(desc->b), outer = gqDim(desc->b, 1);
  Extents x = {gqDim(desc->a, 0), majorN ? inner : outer,
               gqDataColumns(desc->a), gqDim(desc->b, 0)};
  gqUnify(&x.rows, gqDim(desc->out, 0));
  gqUnify(&x.rows, gqDim(desc->rowScales, 0));
  gqUnify(&x.columns, outColumns == GQ_DYNAMIC || !hasPairs(op)
                          ? outColumns
                          : 2 * outColumns);
  gqUnify(&x.columns, gqDim(desc->columnScales, 1));
  gqUnify(&x.columns, gqDim(desc->bias, 1));
  gqUnify(&x.k, majorN ? outer : inner);
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
  gqGroupedMm desc = gqGroupedMmGet(op);
  if (!checkFormats(op, &desc) ||   // (C13)
      !checkTypes(op, &desc) ||     // (C14)
      !checkPresences(op, &desc) || // (C15)
      !checkMajor(op, &desc) ||     // (C17)
      !checkEpilogue(op, &desc))    // (C18, 19)
    return mlirLogicalResultFailure();
  Extents x = extentsOf(op, &desc);
  int64_t bExtents[] = {x.groups, isMajorN(&desc) ? x.k : x.columns,
                        isMajorN(&desc) ? x.columns : x.k};
  int64_t columnExtents[] = {x.groups, x.columns};
  bool pairs = hasPairs(op) && x.columns != GQ_DYNAMIC;
  int64_t outExtents[] = {x.rows, pairs ? x.columns / 2 : x.columns};
  bool valid =
      gqCheckBlocks(op, desc.format, x.k) &&    // (C4)
      gqCheckData(op, "b", desc.b, bExtents) && // (C5)
      checkScales(op, &desc, x) &&              // (C6, 7)
      gqCheckScaleLayout(op, desc.scaleLayout,
                         gqMmScaleLayout(desc.format)) &&             // (C8)
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets, x.groups) && // (C9)
      gqCheckExtents(op, "alpha", desc.alpha, &x.groups) &&           // (C10)
      gqCheckExtents(op, "row_scales", desc.rowScales, &x.rows) &&    // (C16)
      gqCheckExtents(op, "column_scales", desc.columnScales, columnExtents) &&
      gqCheckExtents(op, "bias", desc.bias, columnExtents) &&
      (!pairs || x.columns % 2 == 0 ||
       gqOpError(op, "requires an even N for 'pairs'")) &&
      gqCheckExtents(op, "out", desc.out, outExtents) && // (C11)
      checkStorages(op, &desc);                          // (C8), (C12)
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
