//===- GroupedAmax.c - gq.grouped_amax ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its description, reading and building are those of the ops that quantize
// groups (GroupedBlockQuantize.c).
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "GroupedBlockQuantize.h"
#include "Ops.h"

#include <inttypes.h>

static bool isPresent(MlirValue value) { return !mlirValueIsNull(value); }

/// What the columns are transformed by (C18).
static bool checkColumnwise(MlirOperation op, const gqGroupedAmax *desc) {
  gqDirectionTraits traits = gqDirectionGetTraits(&desc->columnwise);
  bool transforms = traits.transform != GQ_TRANSFORM_NONE;
  if (!mlirAttributeIsNull(desc->columnwise.attribute) &&
      !isPresent(desc->columnwiseAmax) && !isPresent(desc->columnAmax))
    return gqOpError(op, "requires 'columnwise_amax' or 'column_amax' for "
                         "'columnwise'");
  const gqDirectionTraits only = {.transform = traits.transform,
                                  .signs = traits.signs};
  if (gqDirectionPack(&traits) != gqDirectionPack(&only) || traits.blockRows ||
      traits.scaleMax)
    return gqOpError(op, "requires 'columnwise' to have only a "
                         "transform and its signs");
  const char *lacks =
      gqDirectionLacks(&traits, GQ_FORMAT_NVFP4, GQ_RECIPE_TE, true, false);
  if (lacks)
    return gqOpError(op, "requires %s", lacks);
  return transforms || !isPresent(desc->columnwiseAmax) ||
         gqOpError(op, "requires a transform of 'columnwise' for "
                       "'columnwise_amax'; without one it is 'amax'");
}

/// (C5), (C13)
static bool checkPresences(MlirOperation op, const gqGroupedAmax *desc) {
  bool ofRows = isPresent(desc->rowAmax) || isPresent(desc->columnAmax);
  if (!isPresent(desc->amax) && !isPresent(desc->columnwiseAmax) &&
      !ofRows) // (C5)
    return gqOpError(op, "requires 'amax', 'columnwise_amax', 'row_amax' or "
                         "'column_amax'");
  return gqCheckShapes(op, desc,
                       !mlirRegionIsNull(desc->producer) ||
                           isPresent(desc->rowIndices) || ofRows,
                       "'producer', 'row_indices', 'row_amax' or "
                       "'column_amax'");
}

/// (C4)
static bool checkColumns(MlirOperation op, int64_t columns) {
  return columns == GQ_DYNAMIC || (columns > 0 && columns % 16 == 0) ||
         gqOpError(op,
                   "requires K to be a positive multiple of 16, but got "
                   "%" PRId64,
                   columns);
}

/// The operands with one entry per group, row or column (C6), (C13), (C14).
static bool checkExtents(MlirOperation op, const gqGroupedAmax *desc,
                         const int64_t *extents) {
  int64_t groups =
      gqDim(desc->offsets, 0) > 0 ? gqDim(desc->offsets, 0) - 1 : GQ_DYNAMIC;
  const MlirValue perGroup[] = {desc->firstDims, desc->lastDims, desc->amax,
                                desc->columnwiseAmax, desc->columnAmax};
  for (size_t i = 0; i < sizeof(perGroup) / sizeof(*perGroup); ++i)
    gqUnify(&groups, gqDim(perGroup[i], 0));
  int64_t columns[] = {groups, extents[1]};
  return gqCheckGroups(op, desc->offsets, (MlirValue){NULL}, groups) &&
         gqCheckGroupIndices(op, desc, "first_dims", desc->firstDims, groups) &&
         gqCheckGroupIndices(op, desc, "last_dims", desc->lastDims, groups) &&
         gqCheckExtents(op, "amax", desc->amax, &groups) &&
         gqCheckExtents(op, "columnwise_amax", desc->columnwiseAmax, &groups) &&
         gqCheckExtents(op, "row_amax", desc->rowAmax, extents) &&
         gqCheckExtents(op, "column_amax", desc->columnAmax, columns);
}

/// All operands but the inputs (C16), (C17).
static bool checkStorage(MlirOperation op) {
  bool valid = true;
  for (intptr_t i = GQ_GROUPED_AMAX_inputs + 1;
       valid && i < gqGroupedAmaxInfo.numOperands; ++i)
    valid = gqCheckStorage(op, gqGroupedAmaxInfo.operands[i].name,
                           gqOperandAt(op, i), GQ_SCALE_LAYOUT_LINEAR, true);
  return valid;
}

MlirLogicalResult gqGroupedAmaxVerify(MlirOperation op) {
  gqGroupedAmax desc = gqGroupedAmaxGet(op);
  int64_t extents[2];
  if (!checkPresences(op, &desc) || !checkColumnwise(op, &desc))
    return mlirLogicalResultFailure();
  gqGroupedBlockQuantizeExtents(&desc, extents);
  bool valid = gqCheckGroupInputs(op, &desc, extents) && // (C7) to (C12), (C15)
               (gqIsRagged(&desc) || checkColumns(op, extents[1])) &&
               checkExtents(op, &desc, extents) && checkStorage(op);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
