//===- FuseRowGather.c - gq-fuse-row-gather ----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "Build.h"
#include "Fusion.h"
#include "Passes.h"
#include "Query.h"
#include "Remarks.h"

#include "gq-c/Dialect.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static const char passName[] = "gq-fuse-row-gather";

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

static intptr_t rankOf(MlirValue tensor) {
  return mlirShapedTypeGetRank(mlirValueGetType(tensor));
}

static bool isSource(MlirValue value) {
  return gqIsProducerInput(mlirValueGetType(value)) && rankOf(value) >= 1 &&
         rankOf(value) <= 2;
}

/// Of i32 or i64, which an op takes as row indices.
static bool isIndexTensor(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  MlirType element = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAInteger(element) && mlirIntegerTypeIsSignless(element) &&
         (mlirIntegerTypeGetWidth(element) == 32 ||
          mlirIntegerTypeGetWidth(element) == 64);
}

bool gqIsRowIndexInput(MlirOperation generic, intptr_t input) {
  MlirAffineMap map = gqIndexingMap(generic, input);
  if (mlirAffineMapGetNumResults(map) != 1)
    return false;
  MlirAffineExpr expr = mlirAffineMapGetResult(map, 0);
  return mlirAffineExprIsADim(expr) &&
         mlirAffineDimExprGetPosition(expr) == 0 &&
         isIndexTensor(
             mlirValueGetType(mlirOperationGetOperand(generic, input)));
}

/// The operand of `generic` that `value` is an arith.index_cast of, if those
/// are row indices; null otherwise.
static MlirValue indicesOf(MlirOperation generic, MlirValue value) {
  const MlirValue none = {NULL};
  MlirOperation cast = gqDefiningOp(value);
  if (mlirOperationIsNull(cast) || !gqIsNamed(cast, "arith.index_cast"))
    return none;
  MlirValue element = mlirOperationGetOperand(cast, 0);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  if (!mlirValueIsABlockArgument(element) || !gqIsDefinedIn(element, body))
    return none;
  intptr_t input = mlirBlockArgumentGetArgNumber(element);
  return gqIsRowIndexInput(generic, input)
             ? mlirOperationGetOperand(generic, input)
             : none;
}

/// Whether `value` is linalg.index 1.
static bool isColumn(MlirValue value) {
  MlirOperation op = gqDefiningOp(value);
  return !mlirOperationIsNull(op) && gqIsNamed(op, "linalg.index") &&
         mlirIntegerAttrGetValueInt(gqGetAttribute(op, "dim")) == 1;
}

const char *gqMatchRowExtract(MlirOperation generic, MlirOperation extract,
                              gqRowGather *gather) {
  gather->source = mlirOperationGetOperand(extract, 0);
  if (!isSource(gather->source))
    return "what is gathered is not a tensor of f32, bf16 or f16";
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  if (gqIsDefinedIn(gather->source, body))
    return "the gathered tensor is computed for each element";
  intptr_t rank = rankOf(gather->source);
  gather->indices = indicesOf(generic, mlirOperationGetOperand(extract, 1));
  if (mlirValueIsNull(gather->indices))
    return "the rows are not given by a tensor of i32 or i64";
  if (rank == 1)
    return NULL;
  if (!isColumn(mlirOperationGetOperand(extract, 2)))
    return "only parts of rows are gathered";
  MlirValue out = mlirOperationGetResult(generic, 0);
  int64_t columns = gqDim(gather->source, 1);
  return columns != GQ_DYNAMIC && columns == gqDim(out, 1)
             ? NULL
             : "the gathered rows may not be read in full";
}

/// A linalg.generic that does nothing but gather: its yield is a
/// tensor.extract.
static MlirOperation yieldedExtract(MlirOperation generic) {
  const MlirOperation none = {NULL};
  if (!gqIsNamed(generic, "linalg.generic") ||
      mlirOperationGetNumResults(generic) != 1 ||
      !mlirAffineMapIsIdentity(
          gqIndexingMap(generic, mlirOperationGetNumOperands(generic) - 1)))
    return none;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  MlirOperation extract =
      gqDefiningOp(mlirOperationGetOperand(mlirBlockGetTerminator(body), 0));
  bool gathers = !mlirOperationIsNull(extract) &&
                 gqIsNamed(extract, "tensor.extract") &&
                 rankOf(mlirOperationGetOperand(extract, 0)) ==
                     rankOf(mlirOperationGetResult(generic, 0));
  return gathers ? extract : none;
}

/// A tensor.gather of rows [N, K] or elements [N] by indices [M, 1].
static const char *matchGatherOp(MlirOperation op, gqRowGather *gather) {
  gather->source = mlirOperationGetOperand(op, 0);
  gather->indices = mlirOperationGetOperand(op, 1);
  MlirAttribute dims = gqGetAttribute(op, "gather_dims");
  if (!isSource(gather->source))
    return "what is gathered is not a tensor of f32, bf16 or f16";
  if (mlirDenseArrayGetNumElements(dims) != 1 ||
      mlirDenseI64ArrayGetElement(dims, 0) != 0 ||
      rankOf(mlirOperationGetResult(op, 0)) != rankOf(gather->source) ||
      rankOf(gather->indices) != 2)
    return "only parts of rows are gathered";
  if (!isIndexTensor(mlirValueGetType(gather->indices)))
    return "the rows are not given by a tensor of i32 or i64";
  return NULL;
}

//===----------------------------------------------------------------------===//
// The one index tensor of an op
//===----------------------------------------------------------------------===//

/// The tensor that `indices` are, with or without a last extent of 1.
static MlirValue withoutReshape(MlirValue indices) {
  MlirOperation op = gqDefiningOp(indices);
  bool reshape =
      !mlirOperationIsNull(op) && (gqIsNamed(op, "tensor.expand_shape") ||
                                   gqIsNamed(op, "tensor.collapse_shape"));
  if (!reshape)
    return indices;
  MlirValue source = mlirOperationGetOperand(op, 0);
  return rankOf(source) + rankOf(indices) == 3 ? source : indices;
}

/// `indices`, [M] or [M, 1], as [M].
static MlirValue buildFlat(const gqBuilder *builder, MlirValue indices) {
  if (rankOf(indices) == 1)
    return indices;
  MlirValue source = withoutReshape(indices);
  if (rankOf(source) == 1)
    return source;
  MlirType type = mlirValueGetType(indices);
  int64_t size = mlirShapedTypeGetDimSize(type, 0);
  MlirType flat = mlirRankedTensorTypeGet(
      1, &size, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  MlirNamedAttribute reassociation = gqAttribute(
      builder->context, "reassociation",
      mlirAttributeParseGet(builder->context,
                            mlirStringRefCreateFromCString("[[0, 1]]")));
  return mlirOperationGetResult(gqBuild(builder, "tensor.collapse_shape", 1,
                                        &indices, 1, &flat, 1, &reassociation),
                                0);
}

gqGatheredRows gqGatheredRowsOf(const gqGroupedBlockQuantize *desc) {
  gqGatheredRows rows = {.indices = desc->rowIndices, .count = GQ_DYNAMIC};
  if (mlirValueIsNull(desc->rowIndices))
    return rows;
  for (intptr_t i = 0; i < desc->numInputs; ++i)
    if (mlirAttributeIsNull(desc->maps) ||
        gqIsGatherMap(
            mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, i))))
      gqUnify(&rows.count, gqDim(desc->inputs[i], 0));
  return rows;
}

const char *gqJoinGather(gqGatheredRows *rows, const gqRowGather *gather) {
  if (mlirValueIsNull(rows->indices))
    rows->indices = gather->indices;
  if (!mlirValueEqual(withoutReshape(rows->indices),
                      withoutReshape(gather->indices)))
    return "the op already gathers by another index tensor";
  int64_t count = gqDim(gather->source, 0);
  gqUnify(&rows->count, count);
  return count == GQ_DYNAMIC || count == rows->count
             ? NULL
             : "the op already gathers from another number of rows";
}

MlirAttribute gqGatherMap(MlirContext context, intptr_t rank) {
  MlirAffineExpr exprs[] = {mlirAffineSymbolExprGet(context, 0),
                            mlirAffineDimExprGet(context, 1)};
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, 2, 1, rank, exprs));
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// Whether input `input` of an op is read by (m, k) or by (m).
static bool isReadByRow(const gqGroupedBlockQuantize *desc, intptr_t input) {
  if (mlirAttributeIsNull(desc->maps))
    return mlirValueIsNull(desc->rowIndices);
  MlirAffineMap map =
      mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, input));
  if (mlirAffineMapGetNumResults(map) == 0)
    return false;
  MlirAffineExpr expr = mlirAffineMapGetResult(map, 0);
  return mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == 0;
}

/// Leaves out input `input` of an op with a producer if an equal one is there,
/// so that each is read once.
static void shareInput(gqGroupedBlockQuantize *desc, MlirAttribute *maps,
                       intptr_t input) {
  MlirBlock body = mlirRegionGetFirstBlock(desc->producer);
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    if (i == input || !mlirAttributeEqual(maps[i], maps[input]) ||
        !mlirValueEqual(desc->inputs[i], desc->inputs[input]))
      continue;
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, input),
                                  mlirBlockGetArgument(body, i));
    mlirBlockEraseArgument(body, (unsigned)input);
    --desc->numInputs;
    for (intptr_t j = input; j < desc->numInputs; ++j) {
      desc->inputs[j] = desc->inputs[j + 1];
      maps[j] = maps[j + 1];
    }
    return;
  }
}

/// Lets input `input` of the op be read from the source of the gather.
static MlirOperation readSource(MlirOperation op, intptr_t input,
                                const gqRowGather *gather) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  gqBuilder builder = gqBuilderBefore(op);
  if (mlirValueIsNull(desc.rowIndices))
    desc.rowIndices = buildFlat(&builder, gather->indices);
  desc.inputs[input] = gather->source;
  if (!mlirAttributeIsNull(desc.maps)) {
    MlirAttribute maps[GQ_MAX_INPUTS];
    for (intptr_t i = 0; i < desc.numInputs; ++i)
      maps[i] = mlirArrayAttrGetElement(desc.maps, i);
    maps[input] = gqGatherMap(builder.context, rankOf(gather->source));
    shareInput(&desc, maps, input);
    desc.maps = mlirArrayAttrGet(builder.context, desc.numInputs, maps);
  }
  return gqReplaceGroupedBlockQuantize(op, builder.location, &desc);
}

/// Lets a tensor.dim of the gathered rows ask the source or the indices, so
/// that the gather is not kept for its extents.
static void redirectDims(MlirOperation gatherOp, const gqRowGather *gather) {
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(gatherOp, 0));
  while (!mlirOpOperandIsNull(use)) {
    MlirOperation dim = mlirOpOperandGetOwner(use);
    use = mlirOpOperandGetNextUse(use);
    if (!gqIsNamed(dim, "tensor.dim"))
      continue;
    MlirOperation constant = gqDefiningOp(mlirOperationGetOperand(dim, 1));
    if (mlirOperationIsNull(constant) || !gqIsNamed(constant, "arith.constant"))
      continue;
    bool rows =
        mlirIntegerAttrGetValueInt(gqGetAttribute(constant, "value")) == 0;
    mlirOperationSetOperand(dim, 0, rows ? gather->indices : gather->source);
  }
}

bool gqIsRowGather(MlirOperation op) {
  return !mlirOperationIsNull(op) && (gqIsNamed(op, "tensor.gather") ||
                                      !mlirOperationIsNull(yieldedExtract(op)));
}

MlirOperation gqFuseRowGather(MlirOperation op, intptr_t input) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  MlirOperation definition = gqDefiningOp(desc.inputs[input]);
  gqRowGather gather;
  const char *reason =
      gqIsNamed(definition, "tensor.gather")
          ? matchGatherOp(definition, &gather)
          : gqMatchRowExtract(definition, yieldedExtract(definition), &gather);
  gqGatheredRows rows = gqGatheredRowsOf(&desc);
  if (!reason && !isReadByRow(&desc, input))
    reason = "the gathered rows are broadcast or gathered again";
  if (!reason)
    reason = gqJoinGather(&rows, &gather);
  if (reason) {
    gqRemarkMissed(mlirOperationGetLocation(definition), passName, reason);
    return (MlirOperation){NULL};
  }
  gqRemarkPassed(mlirOperationGetLocation(definition), passName,
                 "fused into the op that reads its result, by row index");
  MlirOperation fused = readSource(op, input, &gather);
  redirectDims(definition, &gather);
  gqDestroyIfUnused(definition);
  return fused;
}

void gqFuseRowGathers(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqReadsGroups);
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation op = ops.ops[i];
    intptr_t input = 0;
    while (input < gqGroupedBlockQuantizeGet(op).numInputs) {
      MlirValue value = gqGroupedBlockQuantizeGet(op).inputs[input];
      MlirOperation fused = {NULL};
      if (gqIsRowGather(gqDefiningOp(value)))
        fused = gqFuseRowGather(op, input);
      if (mlirOperationIsNull(fused))
        ++input;
      else
        op = fused; // Of which that may be another input.
    }
  }
  gqOpListFree(&ops);
}
