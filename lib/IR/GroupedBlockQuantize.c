//===- GroupedBlockQuantize.c - gq.grouped_block_quantize --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupedBlockQuantize.h"
#include "Checks.h"
#include "Ops.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <assert.h>
#include <inttypes.h>

bool gqQuantizesGroups(MlirOperation op) {
  return gqOperationIsAGroupedBlockQuantize(op) ||
         gqOperationIsAGroupedQuantize(op);
}

bool gqReadsGroups(MlirOperation op) {
  return gqQuantizesGroups(op) || gqOperationIsAGroupedAmax(op);
}

// Operands read by position have the same position in all of them.
static_assert((int)GQ_GROUPED_AMAX_inputs == GQ_GROUPED_BLOCK_QUANTIZE_inputs &&
                  (int)GQ_GROUPED_AMAX_row_indices ==
                      GQ_GROUPED_BLOCK_QUANTIZE_row_indices,
              "");

gqGroupedBlockQuantize gqGroupedBlockQuantizeGet(MlirOperation op) {
  gqGroupedBlockQuantize desc = {
      .numInputs = gqNumOperandsAt(op, GQ_GROUPED_BLOCK_QUANTIZE_inputs),
      .rowwise = {.attribute = gqGetAttribute(op, "rowwise")},
      .columnwise = {.attribute = gqGetAttribute(op, "columnwise")},
      .maps = gqGetAttribute(op, "maps"),
      .producer = mlirOperationGetNumRegions(op) ? mlirOperationGetRegion(op, 0)
                                                 : (MlirRegion){NULL},
  };
  gqOpRead(op, &desc, GQ_MAX_INPUTS);
  if (!gqFormatHasBlockScales(desc.format) &&
      !mlirValueIsNull(desc.rowwise.outerAmax))
    desc.recipe = GQ_RECIPE_TE;
  return desc;
}

gqGroupedQuantize gqGroupedQuantizeGet(MlirOperation op) {
  return gqGroupedBlockQuantizeGet(op);
}

/// `like`, which may be null, has the attributes that are not in `desc`.
static MlirOperation create(MlirLocation location, const gqOpInfo *info,
                            const gqGroupedBlockQuantize *desc,
                            MlirOperation like) {
  const gqOpExtras extras = {
      .numVariadic = desc->numInputs,
      .numAttributes = 3,
      .attributes = {{"rowwise", desc->rowwise.attribute},
                     {"columnwise", desc->columnwise.attribute},
                     {"maps", desc->maps}},
      .region = desc->producer,
      .like = like,
  };
  return gqOpCreate(location, info, desc, &extras);
}

MlirOperation gqGroupedBlockQuantizeCreate(MlirLocation location,
                                           const gqGroupedBlockQuantize *desc) {
  return create(location, &gqGroupedBlockQuantizeInfo, desc,
                (MlirOperation){NULL});
}

MlirOperation gqGroupedQuantizeCreate(MlirLocation location,
                                      const gqGroupedQuantize *desc) {
  return create(location, &gqGroupedQuantizeInfo, desc, (MlirOperation){NULL});
}

MlirOperation gqGroupedAmaxCreate(MlirLocation location,
                                  const gqGroupedAmax *desc) {
  return create(location, &gqGroupedAmaxInfo, desc, (MlirOperation){NULL});
}

gqGroupedAmax gqGroupedAmaxGet(MlirOperation op) {
  return gqGroupedBlockQuantizeGet(op);
}

MlirOperation
gqGroupedBlockQuantizeRebuild(MlirOperation op, MlirLocation location,
                              const gqGroupedBlockQuantize *desc) {
  const gqOpInfo *info =
      gqReadsGroups(op) ? gqOpInfoOf(op) : &gqGroupedBlockQuantizeInfo;
  return create(location, info, desc, op);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// K as `data` gives it is that of an input, but twice where i8 holds a code
/// and not two: then the data is wrong, not the input.
static bool checkPacking(MlirOperation op, const char *name, MlirValue data,
                         MlirValue input, int64_t columns) {
  if (mlirValueIsNull(data))
    return true;
  intptr_t last = mlirShapedTypeGetRank(mlirValueGetType(data)) - 1;
  intptr_t lastOfInput = mlirShapedTypeGetRank(mlirValueGetType(input)) - 1;
  int64_t stored = gqDim(data, last);
  return stored <= 0 || stored == gqDataColumns(data) ||
         gqDataColumns(data) != columns || lastOfInput != last ||
         gqDim(input, last) != stored ||
         gqOpError(op,
                   "requires %" PRId64 " columns of '%s' for K = %" PRId64
                   ", since i8 holds two codes, but got %" PRId64,
                   stored / 2, name, stored, stored);
}

static bool checkInput(MlirOperation op, const gqGroupedBlockQuantize *desc,
                       MlirValue input, const int64_t *extents) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(input));
  int64_t columns = rank ? extents[rank - 1] : GQ_DYNAMIC;
  return checkPacking(op, "data", desc->rowwise.data, input, columns) &&
         checkPacking(op, "columnwise_data", desc->columnwise.data, input,
                      columns) &&
         gqCheckExtents(op, "inputs", input, extents) &&
         gqCheckStorage(op, "inputs", input, GQ_SCALE_LAYOUT_LINEAR, false);
}

bool gqIsGatherMap(MlirAffineMap map) {
  return mlirAffineMapGetNumSymbols(map) == 1;
}

/// The dimension of (m, k) that `expr` is, r being a row as m is; -1 if none.
static intptr_t dimensionOf(MlirAffineExpr expr, bool gathered) {
  if (mlirAffineExprIsASymbol(expr))
    return 0;
  if (!mlirAffineExprIsADim(expr))
    return -1;
  intptr_t dim = mlirAffineDimExprGetPosition(expr);
  return dim == 0 && gathered ? -1 : dim;
}

/// An input has the extents that its map asks for: a subset of (m, k) in order,
/// or of (r, k) with r in it. `extents` are M and K, `numRows` is N.
static bool checkMap(MlirOperation op, const gqGroupedBlockQuantize *desc,
                     MlirValue input, MlirAffineMap map, int64_t *extents,
                     int64_t *numRows) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(input));
  if (mlirAffineMapGetNumDims(map) != 2 ||
      mlirAffineMapGetNumSymbols(map) > 1 ||
      mlirAffineMapGetNumResults(map) != rank)
    return gqOpError(op, "requires each of 'maps' to go from (m, k) to the "
                         "rank of its input");
  bool gathered = gqIsGatherMap(map), hasRow = false, valid = true;
  int64_t required[2];
  intptr_t previous = -1;
  for (intptr_t i = 0; i < rank; ++i) {
    intptr_t dim = dimensionOf(mlirAffineMapGetResult(map, i), gathered);
    valid = dim > previous;
    if (!valid)
      break;
    int64_t *extent = dim == 0 && gathered ? numRows : &extents[dim];
    gqUnify(extent, gqDim(input, i));
    required[i] = *extent;
    hasRow |= dim == 0;
    previous = dim;
  }
  if (!valid || (gathered && !hasRow))
    return gqOpError(op, "requires each of 'maps' to be (m, k) -> (m, k), (m), "
                         "(k) or (), or (m, k)[r] -> (r, k) or (r)");
  return checkInput(op, desc, input, required);
}

/// The producer's arguments are elements of the inputs, and it yields one.
static bool checkArguments(MlirOperation op,
                           const gqGroupedBlockQuantize *desc) {
  MlirBlock body = mlirRegionGetFirstBlock(desc->producer);
  bool match = mlirBlockGetNumArguments(body) == desc->numInputs;
  for (intptr_t i = 0; match && i < desc->numInputs; ++i)
    match = mlirTypeEqual(
        mlirValueGetType(mlirBlockGetArgument(body, i)),
        mlirShapedTypeGetElementType(mlirValueGetType(desc->inputs[i])));
  if (!match)
    return gqOpError(op, "requires 'producer' to take an element of each "
                         "input");
  return !mlirValueIsNull(gqYieldedValue(body)) ||
         gqOpError(op, "requires 'producer' to yield an element with gq.yield");
}

/// Whether one of the maps reads rows by index.
static bool hasGatherMap(MlirAttribute maps) {
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps); ++i)
    if (gqIsGatherMap(
            mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i))))
      return true;
  return false;
}

/// Without a producer (C7): a single input, of rank 2 or flat.
static bool checkOnlyInput(MlirOperation op, const gqGroupedBlockQuantize *desc,
                           const int64_t *extents) {
  intptr_t rank = gqIsRagged(desc) ? 1 : 2;
  if (!mlirAttributeIsNull(desc->maps) || desc->numInputs != 1 ||
      mlirShapedTypeGetRank(mlirValueGetType(desc->inputs[0])) != rank)
    return gqOpError(op,
                     "requires a single input of rank %d and no 'maps' "
                     "where it has no 'producer'",
                     (int)rank);
  bool gathers = !mlirValueIsNull(desc->rowIndices);
  return checkInput(op, desc, desc->inputs[0],
                    (int64_t[]){gathers ? GQ_DYNAMIC : extents[0], extents[1]});
}

/// Checks the inputs and the region. Completes `extents`, those of M and K that
/// other operands leave open, by what the inputs say.
static bool checkProducer(MlirOperation op, const gqGroupedBlockQuantize *desc,
                          int64_t *extents) {
  if (mlirRegionIsNull(desc->producer))
    return checkOnlyInput(op, desc, extents);
  bool gathers = !mlirValueIsNull(desc->rowIndices);
  int64_t numRows = GQ_DYNAMIC;
  if (desc->numInputs > GQ_MAX_INPUTS) // (C11)
    return gqOpError(op, "requires at most %d inputs", GQ_MAX_INPUTS);
  if (mlirAttributeIsNull(desc->maps) ||
      mlirArrayAttrGetNumElements(desc->maps) != desc->numInputs)
    return gqOpError(op, "requires 'maps' to hold a map for each input of "
                         "'producer'");
  for (intptr_t i = 0; i < desc->numInputs; ++i)
    if (!checkMap(
            op, desc, desc->inputs[i],
            mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, i)),
            extents, &numRows)) // (C15)
      return false;
  if (hasGatherMap(desc->maps) != gathers) // (C14)
    return gqOpError(op, gathers ? "requires one of 'maps' to have the symbol "
                                   "r, the row of 'row_indices'"
                                 : "requires 'row_indices' for maps with the "
                                   "symbol r");
  return checkArguments(op, desc); // (C12)
}

//===----------------------------------------------------------------------===//
// The other operands
//===----------------------------------------------------------------------===//

static bool isPresent(MlirValue value) { return !mlirValueIsNull(value); }

bool gqIsRagged(const gqGroupedBlockQuantize *desc) {
  return isPresent(desc->firstDims);
}

bool gqHasDirection(const gqDirection *direction) {
  return isPresent(direction->data);
}

bool gqHoldsNumbers(const gqDirection *direction) {
  return isPresent(direction->data) && gqIsFloat(mlirShapedTypeGetElementType(
                                           mlirValueGetType(direction->data)));
}

MlirValue gqOuterScale(const gqGroupedBlockQuantize *desc,
                       const gqDirection *direction) {
  if (desc->recipe == GQ_RECIPE_NVFUSER)
    return gqFormatHasBlockScales(desc->format) ? desc->globalScale
                                                : desc->scale;
  return isPresent(direction->outerAmax) ? direction->outerAmax
                                         : desc->rowwise.outerAmax;
}

gqOuterKind gqOuterKindOf(MlirValue outer) {
  if (!isPresent(outer))
    return GQ_OUTER_NONE;
  return mlirShapedTypeGetRank(mlirValueGetType(outer)) ? GQ_OUTER_PER_GROUP
                                                        : GQ_OUTER_ONE;
}

gqDirectionTraits gqDirectionGetTraits(const gqDirection *direction) {
  return mlirAttributeIsNull(direction->attribute)
             ? (gqDirectionTraits){0}
             : gqDirectionAttrGetTraits(direction->attribute);
}

gqOuterKind gqOuterKindOfDirection(const gqGroupedBlockQuantize *desc,
                                   const gqDirection *direction) {
  switch (gqDirectionGetTraits(direction).outer) {
  case GQ_OUTER_OF_GROUP:
    return gqOuterKindOf(gqOuterScale(desc, direction));
  case GQ_OUTER_OF_ROW:
    return GQ_OUTER_PER_ROW;
  case GQ_OUTER_OF_COLUMN:
    return GQ_OUTER_PER_COLUMN;
  }
  return GQ_OUTER_NONE;
}

bool gqIsStochastic(const gqGroupedBlockQuantize *desc) {
  return gqDirectionGetTraits(&desc->rowwise).rounding ==
             GQ_ROUNDING_STOCHASTIC ||
         gqDirectionGetTraits(&desc->columnwise).rounding ==
             GQ_ROUNDING_STOCHASTIC;
}

/// The number of columns of `columnwise_data` has nothing to do with K.
static bool isTransposed(const gqGroupedBlockQuantize *desc) {
  return gqFormatGetTraits(desc->format).transposes &&
         !gqHoldsNumbers(&desc->columnwise);
}

static bool isTiled(const gqGroupedBlockQuantize *desc) {
  return desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4;
}

/// Whether the rowwise scales follow each other group after group.
static bool hasFlatScales(const gqGroupedBlockQuantize *desc) {
  return gqIsRagged(desc) ||
         (!isTiled(desc) && gqFormatGetTraits(desc->format).blockRows > 1);
}

/// A direction with what errors call it, and the extents of its blocks.
typedef struct NamedDirection {
  const gqDirection *direction;
  const char *name, *data, *scales, *outs;
  int64_t blockRows, blockColumns;
} NamedDirection;

typedef struct Directions {
  NamedDirection list[2];
} Directions;

static Directions directionsOf(const gqGroupedBlockQuantize *desc) {
  gqFormatTraits traits = gqFormatGetTraits(desc->format);
  return (Directions){
      {{&desc->rowwise, "rowwise", "data", "scales", "outs", traits.blockRows,
        traits.blockColumns},
       {&desc->columnwise, "columnwise", "columnwise_data", "columnwise_scales",
        "columnwise_outs", traits.blockColumns, traits.blockRows}}};
}

/// Operands that must come together do (C16), (C39).
static bool checkPairs(MlirOperation op, const gqGroupedBlockQuantize *desc) {
  Directions directions = directionsOf(desc);
  bool hasScales = gqFormatHasBlockScales(desc->format);
  gqElementType type = gqFormatGetTraits(desc->format).dataType;
  bool any = false, paired = true;
  for (int i = 0; i < 2; ++i) {
    const NamedDirection *d = &directions.list[i];
    const gqDirection *direction = d->direction;
    bool numbers = gqHoldsNumbers(direction);
    any |= isPresent(direction->data);
    paired &= !hasScales || numbers ||
              isPresent(direction->data) == isPresent(direction->scales);
    if (numbers && isPresent(direction->scales)) // (C39)
      return gqOpError(op,
                       "requires no '%s' for '%s' of numbers, or codes of %s%s",
                       d->scales, d->data, type == GQ_I8 ? "f4E2M1FN or " : "",
                       gqElementTypeMnemonic(type));
  }
  return (any && paired) || // (C16)
         gqOpError(op, "requires %s of 'outs', of 'columnwise_outs' or of both",
                   hasScales ? "data and scales" : "data");
}

bool gqCheckShapes(MlirOperation op, const gqGroupedBlockQuantize *desc,
                   bool others, const char *names) {
  if (isPresent(desc->firstDims) != isPresent(desc->lastDims))
    return gqOpError(op, "requires both 'first_dims' and 'last_dims'");
  return !gqIsRagged(desc) || !others ||
         gqOpError(op, "requires no %s where it has 'shapes'", names);
}

/// The attributes of the directions (C26) to (C33).
static bool checkDirections(MlirOperation op,
                            const gqGroupedBlockQuantize *desc) {
  Directions directions = directionsOf(desc);
  for (int i = 0; i < 2; ++i) {
    const NamedDirection *d = &directions.list[i];
    if (mlirAttributeIsNull(d->direction->attribute))
      continue;
    if (!gqHasDirection(d->direction)) // (C26)
      return gqOpError(op, "requires '%s' for '%s'", d->outs, d->name);
    gqDirectionTraits traits = gqDirectionGetTraits(d->direction);
    if (traits.blockRows && !gqDirectionHasSquares(&traits) && // (C27)
        (traits.blockRows != d->blockRows ||
         traits.blockColumns != d->blockColumns))
      return gqOpError(op,
                       "requires the block of '%s' to be %" PRId64 "x%" PRId64
                       ", that of the format, or 16x16, but got %" PRId64
                       "x%" PRId64,
                       d->name, d->blockRows, d->blockColumns, traits.blockRows,
                       traits.blockColumns);
    const char *lacks = // (C28) to (C32)
        gqDirectionLacks(&traits, desc->format, desc->recipe, i == 1,
                         gqIsRagged(desc));
    if (lacks)
      return gqOpError(op, "requires %s", lacks);
  }
  const int64_t two = 2;
  bool stochastic = gqIsStochastic(desc); // (C33)
  if (stochastic != isPresent(desc->rngState))
    return gqOpError(op, stochastic
                             ? "requires 'rng_state' for stochastic rounding"
                             : "requires stochastic rounding for 'rng_state'");
  return gqCheckExtents(op, "rng_state", desc->rngState, &two);
}

/// The outer amaxes that the recipe te needs (C18).
static bool checkOuterAmaxes(MlirOperation op,
                             const gqGroupedBlockQuantize *desc) {
  bool rowwise = gqHasDirection(&desc->rowwise);
  bool own = isPresent(desc->columnwise.outerAmax);
  bool ofRow = gqDirectionGetTraits(&desc->rowwise).outer == GQ_OUTER_OF_ROW;
  bool ofColumn =
      gqDirectionGetTraits(&desc->columnwise).outer == GQ_OUTER_OF_COLUMN;
  MlirValue outer = desc->rowwise.outerAmax;
  if (isPresent(desc->rowAmax)) // (C38)
    return (ofRow && !isPresent(outer) && !gqHasDirection(&desc->columnwise)) ||
           gqOpError(op, "requires 'outer = row' of 'rowwise', and no "
                         "'outer_amax' or 'columnwise_outs', for 'row_amax'");
  if (!isPresent(outer) && (rowwise || !own))
    return gqOpError(op, "requires 'outer_amax' for recipe(te)");
  if (gqHasDirection(&desc->columnwise) && (ofRow || ofColumn) && !own)
    return gqOpError(op, "requires 'columnwise_outer_amax', since the outer "
                         "amax is per row or per column");
  if (isPresent(outer) && ofRow &&
      mlirShapedTypeGetRank(mlirValueGetType(outer)) != 1)
    return gqOpError(op, "requires 'outer_amax' of rank 1 for one per row");
  int64_t rank =
      own ? mlirShapedTypeGetRank(mlirValueGetType(desc->columnwise.outerAmax))
          : 0;
  return (rank == 2) == ofColumn ||
         gqOpError(op, "requires 'columnwise_outer_amax' of rank 2 if and only "
                       "if there is one per column");
}

/// The recipe and its operands (C18), (C19).
static bool checkRecipe(MlirOperation op, const gqGroupedBlockQuantize *desc) {
  bool te = desc->recipe == GQ_RECIPE_TE;
  if (te && desc->format != GQ_FORMAT_NVFP4) // (C18)
    return gqOpError(op, "requires format(nvfp4) for recipe(te)");
  if (!te && isPresent(desc->rowwise.outerAmax))
    return gqOpError(op, "requires recipe(te) for 'outer_amax'");
  if (isPresent(desc->columnwise.outerAmax) &&
      !(te && gqHasDirection(&desc->columnwise)))
    return gqOpError(op, "requires recipe(te) and 'columnwise_outs' for "
                         "'columnwise_outer_amax'");
  if (!te && isPresent(desc->rowAmax))
    return gqOpError(op, "requires recipe(te) for 'row_amax'");
  if (te && !checkOuterAmaxes(op, desc))
    return false;
  return !isPresent(desc->globalScale) || // (C19)
         (!te && desc->format == GQ_FORMAT_NVFP4) ||
         gqOpError(op, "requires format(nvfp4) and recipe(nvfuser) for "
                       "'global_scale'");
}

/// Operands that are only for some kinds of groups (C21), (C23).
static bool checkGroupKind(MlirOperation op,
                           const gqGroupedBlockQuantize *desc) {
  bool derives = isPresent(desc->scaleOffsetsOut);
  if (isPresent(desc->scaleOffsets) && derives) // (C21)
    return gqOpError(op, "requires no 'scale_offsets' where it has "
                         "'scale_offsets_out'");
  if ((isPresent(desc->scaleOffsets) || derives) &&
      !gqCheckScaleOffsets(op, derives ? "scale_offsets_out" : "scale_offsets",
                           desc->scaleLayout, gqIsRagged(desc),
                           !gqHasDirection(&desc->rowwise)  ? "without 'outs'"
                           : gqHoldsNumbers(&desc->rowwise) ? "without 'scales'"
                                                            : NULL))
    return false;
  return gqCheckShapes(op, desc, // (C23)
                       !mlirRegionIsNull(desc->producer) ||
                           isPresent(desc->rowIndices) ||
                           isPresent(desc->dbias),
                       "'producer', 'row_indices' or 'dbias'");
}

/// Data in the shape of the input, of which `extents` are M and K or, flat, the
/// number of elements. A null value passes.
static bool checkData(MlirOperation op, const gqGroupedBlockQuantize *desc,
                      const char *name, MlirValue data,
                      const int64_t *extents) {
  return !isPresent(data) ||
         (gqCheckRank(op, name, data, gqIsRagged(desc) ? 1 : 2) && // (C22)
          gqCheckData(op, name, data, extents));
}

/// (C8)
static bool checkScales(MlirOperation op, const gqGroupedBlockQuantize *desc,
                        const int64_t *extents) {
  if (!isPresent(desc->rowwise.scales))
    return true;
  if (!gqCheckRank(op, "scales", desc->rowwise.scales,
                   hasFlatScales(desc) ? 1 : 2))
    return false;
  if (hasFlatScales(desc))
    return true;
  int64_t columns = gqScaleColumns(desc->format, extents[1]);
  int64_t tiled[] = {GQ_DYNAMIC, columns}, linear[] = {extents[0], columns};
  return isTiled(desc)
             ? gqCheckTiledScales(op, "scales", desc->rowwise.scales, tiled)
             : gqCheckExtents(op, "scales", desc->rowwise.scales, linear);
}

static bool checkColumnwise(MlirOperation op,
                            const gqGroupedBlockQuantize *desc,
                            const int64_t *extents) { // (C22)
  if (!isPresent(desc->columnwise.data))
    return true;
  return isTransposed(desc)
             ? gqCheckRank(op, "columnwise_data", desc->columnwise.data, 1)
             : checkData(op, desc, "columnwise_data", desc->columnwise.data,
                         extents);
}

/// (C17)
static bool checkTypes(MlirOperation op, const gqGroupedBlockQuantize *desc) {
  Directions directions = directionsOf(desc);
  bool valid = true;
  for (int i = 0; valid && i < 2; ++i) {
    const NamedDirection *d = &directions.list[i];
    valid = (gqHoldsNumbers(d->direction) ||
             gqCheckDataType(op, d->data, d->direction->data, desc->format)) &&
            gqCheckScaleType(op, d->scales, d->direction->scales, desc->format);
  }
  return valid;
}

bool gqCheckGroupIndices(MlirOperation op, const gqGroupedBlockQuantize *desc,
                         const char *name, MlirValue indices, int64_t groups) {
  return gqCheckSameElements(op, name, indices, "offsets", desc->offsets) &&
         gqCheckExtents(op, name, indices, &groups);
}

/// The operands with one entry per group, or each row or column of a group.
/// `extents` are M and K.
static bool checkPerGroup(MlirOperation op, const gqGroupedBlockQuantize *desc,
                          const int64_t *extents) {
  bool ofRow = gqDirectionGetTraits(&desc->rowwise).outer == GQ_OUTER_OF_ROW;
  int64_t groups = gqDim(desc->scaleOffsets, 0);
  if (!isPresent(desc->scaleOffsets) && gqDim(desc->offsets, 0) > 0)
    groups = gqDim(desc->offsets, 0) - 1;
  const MlirValue perGroup[] = {desc->firstDims,
                                desc->lastDims,
                                desc->globalScale,
                                ofRow ? (MlirValue){NULL}
                                      : desc->rowwise.outerAmax,
                                desc->columnwise.outerAmax,
                                desc->scale,
                                desc->amax,
                                desc->dbias,
                                desc->scaleOffsetsOut,
                                desc->scaleInv};
  for (size_t i = 0; i < sizeof(perGroup) / sizeof(*perGroup); ++i)
    gqUnify(&groups, gqDim(perGroup[i], 0));
  int64_t perColumn[] = {groups, extents[1]};
  return gqCheckGroups(op, desc->offsets, desc->scaleOffsets, groups) && // (C5)
         gqCheckExtents(op, "global_scale", desc->globalScale,
                        &groups) && // (C6)
         gqCheckExtents(op, "outer_amax", desc->rowwise.outerAmax,
                        ofRow ? extents : &groups) && // (C18)
         gqCheckExtents(op, "columnwise_outer_amax", desc->columnwise.outerAmax,
                        perColumn) &&
         gqCheckExtents(op, "scale", desc->scale, &groups) && // (C36)
         gqCheckGroupIndices(op, desc, "scale_offsets_out",
                             desc->scaleOffsetsOut,
                             groups) && // (C21)
         gqCheckGroupIndices(op, desc, "first_dims", desc->firstDims,
                             groups) && // (C23)
         gqCheckGroupIndices(op, desc, "last_dims", desc->lastDims, groups) &&
         gqCheckExtents(op, "amax", desc->amax, &groups) &&        // (C24)
         gqCheckExtents(op, "row_amax", desc->rowAmax, extents) && // (C38)
         gqCheckExtents(op, "dbias", desc->dbias, perColumn) &&
         gqCheckExtents(op, "scale_inv", desc->scaleInv, &groups); // (C37)
}

/// Whether the operand at a position may have gaps between its rows.
static bool hasRows(const gqGroupedBlockQuantize *desc, intptr_t position) {
  switch (position) {
  case GQ_GROUPED_BLOCK_QUANTIZE_data:
    return !gqIsRagged(desc);
  case GQ_GROUPED_BLOCK_QUANTIZE_scales:
    return !isTiled(desc) && !hasFlatScales(desc);
  case GQ_GROUPED_BLOCK_QUANTIZE_columnwise_data:
    return !gqIsRagged(desc) && !isTransposed(desc);
  default:
    return false;
  }
}

/// All operands but the inputs, which checkInput has seen (C9), (C10).
static bool checkStorage(MlirOperation op, const gqGroupedBlockQuantize *desc) {
  for (intptr_t i = GQ_GROUPED_BLOCK_QUANTIZE_inputs + 1;
       i < gqGroupedBlockQuantizeInfo.numOperands; ++i) {
    bool isScales = i == GQ_GROUPED_BLOCK_QUANTIZE_scales ||
                    i == GQ_GROUPED_BLOCK_QUANTIZE_columnwise_scales;
    if (!gqCheckStorage(op, gqGroupedBlockQuantizeInfo.operands[i].name,
                        gqOperandAt(op, i),
                        isScales ? desc->scaleLayout : GQ_SCALE_LAYOUT_LINEAR,
                        !hasRows(desc, i)))
      return false;
  }
  return true;
}

/// M and K, or the number of elements if flat, of data in the shape of the
/// input.
static void unifyData(int64_t *extents, const gqGroupedBlockQuantize *desc,
                      MlirValue data) {
  if (!isPresent(data))
    return;
  if (gqIsRagged(desc)) {
    gqUnify(&extents[0], gqDataColumns(data));
    return;
  }
  gqUnify(&extents[0], gqDim(data, 0));
  gqUnify(&extents[1], gqDataColumns(data));
}

void gqGroupedBlockQuantizeExtents(const gqGroupedBlockQuantize *desc,
                                   int64_t extents[2]) {
  extents[0] = extents[1] = GQ_DYNAMIC;
  unifyData(extents, desc, desc->rowwise.data);
  if (!isTransposed(desc))
    unifyData(extents, desc, desc->columnwise.data);
  gqUnify(&extents[0], gqDim(desc->rowAmax, 0));
  gqUnify(&extents[0], gqDim(desc->rowIndices, 0));
  gqUnify(&extents[1], gqDim(desc->dbias, 1));
  gqUnify(&extents[1], gqDim(desc->columnAmax, 1));
  if (mlirRegionIsNull(desc->producer)) {
    if (!isPresent(desc->rowIndices))
      gqUnify(&extents[0], gqDim(desc->inputs[0], 0));
    gqUnify(&extents[1], gqDim(desc->inputs[0], 1));
  }
}

/// The dimension of an input that is read element by element which its map
/// makes `dim` of (m, k); -1 if none.
static intptr_t positionIn(MlirAffineMap map, intptr_t dim) {
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); ++i) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, i);
    if (mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == dim)
      return i;
  }
  return -1;
}

MlirValue gqGroupedBlockQuantizeFindExtent(const gqGroupedBlockQuantize *desc,
                                           intptr_t dim, intptr_t *position) {
  *position = dim;
  if (isPresent(desc->rowwise.data))
    return desc->rowwise.data;
  if (!isTransposed(desc))
    return desc->columnwise.data;
  if (dim == 0 && isPresent(desc->rowIndices))
    return desc->rowIndices;
  if (dim == 0 && isPresent(desc->rowAmax))
    return desc->rowAmax;
  if (dim == 1 && isPresent(desc->dbias))
    return desc->dbias;
  if (dim == 1 && isPresent(desc->columnAmax))
    return desc->columnAmax;
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    if (!mlirAttributeIsNull(desc->maps))
      *position = positionIn(
          mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, i)),
          dim);
    if (*position >= 0)
      return desc->inputs[i];
  }
  return (MlirValue){NULL};
}

bool gqGroupedBlockQuantizeHasExtents(const gqGroupedBlockQuantize *desc) {
  intptr_t position;
  return gqIsRagged(desc) ||
         (isPresent(gqGroupedBlockQuantizeFindExtent(desc, 0, &position)) &&
          isPresent(gqGroupedBlockQuantizeFindExtent(desc, 1, &position)));
}

/// M and K can be found (C25).
static bool checkFound(MlirOperation op, const gqGroupedBlockQuantize *desc) {
  return gqGroupedBlockQuantizeHasExtents(desc) ||
         gqOpError(op, "requires an operand that has the extent M, and one "
                       "that has K");
}

bool gqCheckGroupInputs(MlirOperation op, const gqGroupedBlockQuantize *desc,
                        int64_t extents[2]) {
  return checkProducer(op, desc, extents) &&
         gqCheckExtents(op, "row_indices", desc->rowIndices, extents) &&
         checkFound(op, desc);
}

bool gqCheckQuantizedGroups(MlirOperation op,
                            const gqGroupedBlockQuantize *desc) {
  int64_t extents[2];
  if (!checkPairs(op, desc) ||      // (C16)
      !checkDirections(op, desc) || // (C26) to (C33)
      !checkGroupKind(op, desc) ||  // (C21), (C23)
      !checkTypes(op, desc) ||      // (C17)
      (isPresent(desc->rowwise.data) &&
       !gqCheckRank(op, "data", desc->rowwise.data, gqIsRagged(desc) ? 1 : 2)))
    return false;
  gqGroupedBlockQuantizeExtents(desc, extents);
  return gqCheckGroupInputs(op, desc, extents) && // (C7), (C11) to (C15), (C25)
         (gqIsRagged(desc) ||
          gqCheckBlocks(op, desc->format, extents[1])) && // (C4)
         checkPerGroup(op, desc, extents) &&
         gqCheckTileable(op, desc->format, desc->scaleLayout) && // (C20)
         checkScales(op, desc, extents) &&                       // (C8)
         checkColumnwise(op, desc, extents) &&                   // (C22)
         checkStorage(op, desc);                                 // (C9), (C10)
}

bool gqCheckAbsent(MlirOperation op, intptr_t count,
                   const intptr_t *positions) {
  for (intptr_t i = 0; i < count; ++i)
    if (isPresent(gqOperandAt(op, positions[i])))
      return gqOpError(op, "requires no '%s'",
                       gqOpInfoOf(op)->operands[positions[i]].name);
  return true;
}

MlirLogicalResult gqGroupedBlockQuantizeVerify(MlirOperation op) {
  static const intptr_t absent[] = {GQ_GROUPED_BLOCK_QUANTIZE_scale,
                                    GQ_GROUPED_BLOCK_QUANTIZE_scale_inv};
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  bool valid = gqCheckBlockFormat(op, desc.format) && // (C4)
               gqCheckAbsent(op, 2, absent) &&        // (C34)
               checkRecipe(op, &desc) &&              // (C18), (C19)
               gqCheckQuantizedGroups(op, &desc);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
