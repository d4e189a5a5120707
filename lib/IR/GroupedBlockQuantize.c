//===- GroupedBlockQuantize.c - gq.grouped_block_quantize --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ops.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <inttypes.h>
#include <stdio.h>

/// The segments of the operands.
enum {
  INPUTS,
  ROW_INDICES,
  OFFSETS,
  SCALE_OFFSETS,
  GLOBAL_SCALE,
  DATA,
  SCALES,
  NUM_SEGMENTS
};

gqGroupedBlockQuantize gqGroupedBlockQuantizeGet(MlirOperation op) {
  MlirAttribute rows = gqGetAttribute(op, "rows");
  gqGroupedBlockQuantize desc = {
      .format = gqOpFormat(op),
      .scaleLayout = gqOpScaleLayout(op, GQ_SCALE_LAYOUT_TILE128X4),
      .rows =
          mlirAttributeIsNull(rows) ? GQ_ROWS_ALL : gqRowsAttrGetValue(rows),
      .maps = gqGetAttribute(op, "maps"),
      .producer = mlirOperationGetNumRegions(op) ? mlirOperationGetRegion(op, 0)
                                                 : (MlirRegion){NULL},
  };
  MlirAttribute segments = gqGetAttribute(op, "operandSegmentSizes");
  intptr_t next = mlirDenseI32ArrayGetElement(segments, INPUTS);
  for (intptr_t i = 0; i < next && i < GQ_MAX_INPUTS; ++i)
    desc.inputs[i] = mlirOperationGetOperand(op, i);
  desc.numInputs = next;
  if (mlirDenseI32ArrayGetElement(segments, ROW_INDICES))
    desc.rowIndices = mlirOperationGetOperand(op, next++);
  desc.offsets = mlirOperationGetOperand(op, next++);
  desc.scaleOffsets = mlirOperationGetOperand(op, next++);
  if (mlirDenseI32ArrayGetElement(segments, GLOBAL_SCALE))
    desc.globalScale = mlirOperationGetOperand(op, next++);
  desc.data = mlirOperationGetOperand(op, next++);
  desc.scales = mlirOperationGetOperand(op, next);
  return desc;
}

MlirOperation gqGroupedBlockQuantizeCreate(MlirLocation location,
                                           const gqGroupedBlockQuantize *desc) {
  MlirContext context = mlirLocationGetContext(location);
  gqOpAttributes attributes =
      gqOpAttributesGet(location, desc->format, desc->scaleLayout);
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("gq.grouped_block_quantize"), location);
  mlirOperationStateAddAttributes(&state, 2, attributes.list);

  int32_t segments[NUM_SEGMENTS] = {
      [INPUTS] = (int32_t)desc->numInputs,
      [ROW_INDICES] = !mlirValueIsNull(desc->rowIndices),
      [OFFSETS] = 1,
      [SCALE_OFFSETS] = 1,
      [GLOBAL_SCALE] = !mlirValueIsNull(desc->globalScale),
      [DATA] = 1,
      [SCALES] = 1};
  MlirNamedAttribute more[] = {
      gqAttribute(context, "rows", gqRowsAttrGet(context, desc->rows)),
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, NUM_SEGMENTS, segments)),
  };
  mlirOperationStateAddAttributes(&state, 2, more);
  if (!mlirAttributeIsNull(desc->maps)) {
    MlirNamedAttribute maps = gqAttribute(context, "maps", desc->maps);
    mlirOperationStateAddAttributes(&state, 1, &maps);
  }

  mlirOperationStateAddOperands(&state, desc->numInputs, desc->inputs);
  if (!mlirValueIsNull(desc->rowIndices))
    mlirOperationStateAddOperands(&state, 1, &desc->rowIndices);
  mlirOperationStateAddOperands(&state, 1, &desc->offsets);
  mlirOperationStateAddOperands(&state, 1, &desc->scaleOffsets);
  if (!mlirValueIsNull(desc->globalScale))
    mlirOperationStateAddOperands(&state, 1, &desc->globalScale);
  MlirValue outs[] = {desc->data, desc->scales};
  mlirOperationStateAddOperands(&state, 2, outs);
  for (int i = 0; i < 2; ++i) {
    MlirType type = mlirValueGetType(outs[i]);
    if (mlirTypeIsARankedTensor(type))
      mlirOperationStateAddResults(&state, 1, &type);
  }
  if (!mlirRegionIsNull(desc->producer)) {
    MlirRegion producer = mlirRegionCreate();
    mlirRegionTakeBody(producer, desc->producer);
    mlirOperationStateAddOwnedRegions(&state, 1, &producer);
  }
  return mlirOperationCreate(&state);
}

static bool checkInput(MlirOperation op, MlirValue input,
                       const int64_t *extents) {
  return gqCheckExtents(op, "inputs", input, extents) &&
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
static bool checkMap(MlirOperation op, MlirValue input, MlirAffineMap map,
                     int64_t *extents, int64_t *numRows) {
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
  return checkInput(op, input, required);
}

/// The producer's arguments are elements of the inputs.
static bool checkArguments(MlirOperation op,
                           const gqGroupedBlockQuantize *desc) {
  MlirBlock body = mlirRegionGetFirstBlock(desc->producer);
  bool match = mlirBlockGetNumArguments(body) == desc->numInputs;
  for (intptr_t i = 0; match && i < desc->numInputs; ++i)
    match = mlirTypeEqual(
        mlirValueGetType(mlirBlockGetArgument(body, i)),
        mlirShapedTypeGetElementType(mlirValueGetType(desc->inputs[i])));
  return match || gqOpError(op, "requires 'producer' to take an element of "
                                "each input");
}

/// Whether one of the maps reads rows by index.
static bool hasGatherMap(MlirAttribute maps) {
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps); ++i)
    if (gqIsGatherMap(
            mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i))))
      return true;
  return false;
}

/// Checks the inputs and the region. Completes `extents`, those of M and K that
/// `data` and `row_indices` leave open, by what the inputs say.
static bool checkProducer(MlirOperation op, const gqGroupedBlockQuantize *desc,
                          int64_t *extents) {
  bool gathers = !mlirValueIsNull(desc->rowIndices);
  int64_t numRows = GQ_DYNAMIC;
  if (mlirRegionIsNull(desc->producer)) { // (C7)
    if (!mlirAttributeIsNull(desc->maps) || desc->numInputs != 1 ||
        mlirShapedTypeGetRank(mlirValueGetType(desc->inputs[0])) != 2)
      return gqOpError(op, "requires a single input of rank 2 and no 'maps' "
                           "where it has no 'producer'");
    int64_t *rows = gathers ? &numRows : &extents[0];
    gqUnify(rows, gqDim(desc->inputs[0], 0));
    gqUnify(&extents[1], gqDim(desc->inputs[0], 1));
    return checkInput(op, desc->inputs[0], (int64_t[]){*rows, extents[1]});
  }
  if (desc->numInputs > GQ_MAX_INPUTS) // (C11)
    return gqOpError(op, "requires at most %d inputs", GQ_MAX_INPUTS);
  if (mlirAttributeIsNull(desc->maps) ||
      mlirArrayAttrGetNumElements(desc->maps) != desc->numInputs)
    return gqOpError(op, "requires 'maps' to hold a map for each input of "
                         "'producer'");
  for (intptr_t i = 0; i < desc->numInputs; ++i)
    if (!checkMap(
            op, desc->inputs[i],
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

MlirLogicalResult gqGroupedBlockQuantizeVerify(MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  int64_t extents[] = {gqDim(desc.data, 0), gqDataColumns(desc.data)};
  gqUnify(&extents[0], gqDim(desc.rowIndices, 0));
  if (!gqCheckUniform(op) ||                // (C3)
      !checkProducer(op, &desc, extents) || // (C7), (C11), (C12), (C14), (C15)
      !gqCheckExtents(op, "row_indices", desc.rowIndices, extents)) // (C13)
    return mlirLogicalResultFailure();
  int64_t groups = gqDim(desc.scaleOffsets, 0);
  gqUnify(&groups, gqDim(desc.globalScale, 0));
  int64_t scaleExtents[] = {GQ_DYNAMIC,
                            gqScaleColumns(desc.format, extents[1])};
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  const gqScaleLayout tiled = GQ_SCALE_LAYOUT_TILE128X4;
  bool valid =
      gqCheckBlocks(op, desc.format, extents[1]) &&                    // (C4)
      gqCheckGroups(op, desc.offsets, desc.scaleOffsets, groups) &&    // (C5)
      gqCheckExtents(op, "global_scale", desc.globalScale, &groups) && // (C6)
      gqCheckTiledScales(op, "scales", desc.scales, scaleExtents) &&   // (C8)
      gqCheckScaleLayout(op, desc.scaleLayout, tiled) &&               // (C9)
      gqCheckStorage(op, "data", desc.data, linear, false) && // (C9), (C10)
      gqCheckStorage(op, "row_indices", desc.rowIndices, linear, true) &&
      gqCheckStorage(op, "offsets", desc.offsets, linear, true) &&
      gqCheckStorage(op, "scale_offsets", desc.scaleOffsets, linear, true) &&
      gqCheckStorage(op, "global_scale", desc.globalScale, linear, true) &&
      gqCheckStorage(op, "scales", desc.scales, tiled, true);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
