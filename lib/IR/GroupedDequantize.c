//===- GroupedDequantize.c - gq.grouped_dequantize ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

#include "mlir-c/BuiltinTypes.h"

GQ_DEFINE_OP_OF_ROWS(GroupedDequantize)

static bool isPresent(MlirValue value) { return !mlirValueIsNull(value); }

static bool isRagged(const gqGroupedDequantize *desc) {
  return isPresent(desc->firstDims);
}

static bool isColumnwise(const gqGroupedDequantize *desc) {
  return desc->axis == GQ_AXIS_COLUMNWISE;
}

static bool isTiled(const gqGroupedDequantize *desc) {
  return desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4;
}

static bool isTransposed(const gqGroupedDequantize *desc) {
  return isColumnwise(desc) && (desc->format == GQ_FORMAT_NONE ||
                                gqFormatGetTraits(desc->format).transposes);
}

static bool hasFlatData(const gqGroupedDequantize *desc) {
  return isRagged(desc) || isTransposed(desc);
}

static bool hasFlatScales(const gqGroupedDequantize *desc) {
  return isRagged(desc) || isColumnwise(desc) ||
         (!isTiled(desc) && gqFormatGetTraits(desc->format).blockRows > 1);
}

/// Which optional operands there are (C12) to (C14), (C16) to (C18), and
/// `scale_max` (C20).
static bool checkPresence(MlirOperation op, const gqGroupedDequantize *desc) {
  bool scaled = desc->format != GQ_FORMAT_NONE;
  bool te = desc->recipe == GQ_RECIPE_TE;
  bool nvfp4 = desc->format == GQ_FORMAT_NVFP4;
  if (isPresent(desc->scales) != scaled) // (C12)
    return gqOpError(op, scaled ? "requires 'scales' where it has 'format'"
                                : "requires no 'scales' without 'format'");
  if (isPresent(desc->scaleInv) == scaled)
    return gqOpError(op, scaled
                             ? "requires no 'scale_inv' where it has 'format'"
                             : "requires 'scale_inv' without 'format'");
  if (te && !nvfp4) // (C13)
    return gqOpError(op, "requires format(nvfp4) for recipe(te)");
  if (te != isPresent(desc->outerAmax))
    return gqOpError(op, te ? "requires 'outer_amax' for recipe(te)"
                            : "requires recipe(te) for 'outer_amax'");
  if (isPresent(desc->globalScale) && (te || !nvfp4)) // (C14)
    return gqOpError(op, "requires format(nvfp4) and recipe(nvfuser) for "
                         "'global_scale'");
  if (isPresent(desc->scaleOffsets) && // (C16)
      !gqCheckScaleOffsets(op, "scale_offsets", desc->scaleLayout,
                           isRagged(desc),
                           !scaled              ? "without 'format'"
                           : isColumnwise(desc) ? "for axis(columnwise)"
                                                : NULL))
    return false;
  if (isPresent(desc->firstDims) != isPresent(desc->lastDims)) // (C17)
    return gqOpError(op, "requires both 'first_dims' and 'last_dims'");
  if (desc->scaleMax != 0 && // (C20)
      (!te || (desc->scaleMax != 256 && desc->scaleMax != 448)))
    return gqOpError(op, "requires 'scale_max' to be 256 or 448 and of "
                         "recipe(te)");
  if (desc->outer == GQ_OUTER_OF_GROUP)
    return true;
  bool ofRow = desc->outer == GQ_OUTER_OF_ROW; // (C18)
  const char *outer = ofRow ? "outer(row)" : "outer(column)";
  if (ofRow == isColumnwise(desc))
    return gqOpError(op, "requires axis(%s) for %s",
                     ofRow ? "rowwise" : "columnwise", outer);
  return (te && !isRagged(desc)) ||
         gqOpError(op, "requires recipe(te) and no 'shapes' for %s", outer);
}

/// (C7), (C11)
static bool checkData(MlirOperation op, const gqGroupedDequantize *desc,
                      const int64_t *extents) {
  return gqCheckFactor(op, "data", desc->data, "scales", desc->scales,
                       desc->format) && // (C11)
         gqCheckRank(op, "data", desc->data, hasFlatData(desc) ? 1 : 2) &&
         (isTransposed(desc) || gqCheckData(op, "data", desc->data, extents));
}

/// (C8), (C15)
static bool checkScales(MlirOperation op, const gqGroupedDequantize *desc,
                        const int64_t *extents) {
  if (!isPresent(desc->scales))
    return true;
  if (!gqCheckTileable(op, desc->format, desc->scaleLayout) || // (C15)
      !gqCheckRank(op, "scales", desc->scales, hasFlatScales(desc) ? 1 : 2))
    return false;
  if (hasFlatScales(desc))
    return true;
  int64_t columns = gqScaleColumns(desc->format, extents[1]);
  int64_t tiled[] = {GQ_DYNAMIC, columns}, linear[] = {extents[0], columns};
  return isTiled(desc) ? gqCheckTiledScales(op, "scales", desc->scales, tiled)
                       : gqCheckExtents(op, "scales", desc->scales, linear);
}

/// (C6)
static bool checkOuterAmax(MlirOperation op, const gqGroupedDequantize *desc,
                           int64_t groups, const int64_t *extents) {
  MlirValue amax = desc->outerAmax;
  if (!isPresent(amax))
    return true;
  int64_t perColumn[] = {groups, extents[1]};
  switch (desc->outer) {
  case GQ_OUTER_OF_GROUP:
    return mlirShapedTypeGetRank(mlirValueGetType(amax)) == 0 ||
           (gqCheckRank(op, "outer_amax", amax, 1) &&
            gqCheckExtents(op, "outer_amax", amax, &groups));
  case GQ_OUTER_OF_ROW:
    return gqCheckRank(op, "outer_amax", amax, 1) &&
           gqCheckExtents(op, "outer_amax", amax, extents);
  case GQ_OUTER_OF_COLUMN:
    break;
  }
  return gqCheckRank(op, "outer_amax", amax, 2) &&
         gqCheckExtents(op, "outer_amax", amax, perColumn);
}

/// The operands with one entry per group (C5), (C6), (C17).
static bool checkPerGroup(MlirOperation op, const gqGroupedDequantize *desc,
                          const int64_t *extents) {
  int64_t groups = gqDim(desc->scaleOffsets, 0);
  if (!isPresent(desc->scaleOffsets) && gqDim(desc->offsets, 0) > 0)
    groups = gqDim(desc->offsets, 0) - 1;
  const struct {
    const char *name;
    MlirValue value;
    bool isIndex;
  } perGroup[] = {{"first_dims", desc->firstDims, true},
                  {"last_dims", desc->lastDims, true},
                  {"global_scale", desc->globalScale, false},
                  {"scale_inv", desc->scaleInv, false}};
  const size_t count = sizeof(perGroup) / sizeof(*perGroup);
  for (size_t i = 0; i < count; ++i)
    gqUnify(&groups, gqDim(perGroup[i].value, 0));
  if (desc->outer != GQ_OUTER_OF_ROW)
    gqUnify(&groups, gqDim(desc->outerAmax, 0));
  bool valid = gqCheckGroups(op, desc->offsets, desc->scaleOffsets, groups);
  for (size_t i = 0; valid && i < count; ++i)
    valid = (!perGroup[i].isIndex ||
             gqCheckSameElements(op, perGroup[i].name, perGroup[i].value,
                                 "offsets", desc->offsets)) &&
            gqCheckExtents(op, perGroup[i].name, perGroup[i].value, &groups);
  return valid && checkOuterAmax(op, desc, groups, extents);
}

/// (C9), (C10)
static bool checkStorage(MlirOperation op, const gqGroupedDequantize *desc) {
  for (intptr_t i = 0; i < gqGroupedDequantizeInfo.numOperands; ++i) {
    bool isScales = i == GQ_GROUPED_DEQUANTIZE_scales;
    bool hasRows = (i == GQ_GROUPED_DEQUANTIZE_data && !hasFlatData(desc)) ||
                   (isScales && !isTiled(desc) && !hasFlatScales(desc)) ||
                   (i == GQ_GROUPED_DEQUANTIZE_out && !isRagged(desc));
    if (!gqCheckStorage(
            op, gqGroupedDequantizeInfo.operands[i].name, gqOperandAt(op, i),
            isScales ? desc->scaleLayout : GQ_SCALE_LAYOUT_LINEAR, !hasRows))
      return false;
  }
  return true;
}

/// (C19)
static bool checkEpilogue(MlirOperation op, const gqGroupedDequantize *desc) {
  if (isRagged(desc) && !mlirRegionIsNull(gqEpilogueOf(op)))
    return gqOpError(op, "requires no 'shapes' for an 'epilogue'");
  return gqCheckEpilogue(op, 1, "", desc->out);
}

MlirLogicalResult gqGroupedDequantizeVerify(MlirOperation op) {
  gqGroupedDequantize desc = gqGroupedDequantizeGet(op);
  if (!checkPresence(op, &desc) || // (C12) to (C14), (C16) to (C18), (C20)
      !gqCheckRank(op, "out", desc.out, isRagged(&desc) ? 1 : 2)) // (C17)
    return mlirLogicalResultFailure();
  int64_t extents[] = {gqDim(desc.out, 0), gqDim(desc.out, 1)};
  if (!hasFlatData(&desc) &&
      mlirShapedTypeGetRank(mlirValueGetType(desc.data)) == 2) {
    gqUnify(&extents[0], gqDim(desc.data, 0));
    gqUnify(&extents[1], gqDataColumns(desc.data));
  }
  bool valid =
      gqCheckBlockFormat(op, desc.format) &&                             // (C4)
      (isRagged(&desc) || gqCheckBlocks(op, desc.format, extents[1])) && // (C4)
      checkPerGroup(op, &desc, extents) && // (C5), (C6), (C17)
      checkData(op, &desc, extents) &&     // (C7), (C11)
      checkScales(op, &desc, extents) &&   // (C8), (C15)
      checkEpilogue(op, &desc) &&          // (C19)
      checkStorage(op, &desc);             // (C9), (C10)
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
