//===- FuseProducers.c - gq-fuse-producers -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "Fusion.h"
#include "Inits.h"
#include "Passes.h"
#include "Query.h"
#include "Remarks.h"

#include "gq-c/Dialect.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

static const char passName[] = "gq-fuse-producers";

//===----------------------------------------------------------------------===//
// What can be fused
//===----------------------------------------------------------------------===//

static bool isGeneric(MlirOperation op) {
  return gqIsNamed(op, "linalg.generic");
}

/// (m, k) -> (m, k), (m), (k) or ().
static bool isBroadcast(MlirAffineMap map) {
  intptr_t previous = -1;
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); ++i) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, i);
    if (!mlirAffineExprIsADim(expr) ||
        mlirAffineDimExprGetPosition(expr) <= previous)
      return false;
    previous = mlirAffineDimExprGetPosition(expr);
  }
  return true;
}

static bool isExtract(MlirOperation op) {
  return gqIsNamed(op, "tensor.extract");
}

/// Whether `op` yields an index, which a producer cannot contain.
static bool givesIndex(MlirOperation op) {
  return mlirOperationGetNumResults(op) == 1 &&
         mlirTypeIsAIndex(mlirValueGetType(mlirOperationGetResult(op, 0)));
}

/// Whether each use of `value` is by an op for which `matches` is true.
static bool isUsedOnlyBy(MlirValue value, bool (*matches)(MlirOperation)) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!matches(mlirOpOperandGetOwner(use)))
      return false;
  return true;
}

/// Returns why a tensor.extract in the body of `generic`, or an op that gives
/// an index for one, cannot become an input that is read by row index; null if
/// it can.
static const char *checkGather(MlirOperation generic, MlirOperation op,
                               gqGatheredRows *rows) {
  if (givesIndex(op))
    return isUsedOnlyBy(mlirOperationGetResult(op, 0), isExtract)
               ? NULL
               : "the producer computes with indices";
  gqRowGather gather;
  const char *reason = gqMatchRowExtract(generic, op, &gather);
  return reason ? reason : gqJoinGather(rows, &gather);
}

/// Returns why the body of `generic` cannot move, or null if it can. Adds what
/// it gathers to `rows`.
static const char *checkBody(MlirOperation generic, intptr_t numInputs,
                             gqGatheredRows *rows) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  if (!gqIsInitUnread(generic, numInputs))
    return "the producer reads its 'outs'";
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (isExtract(op) || givesIndex(op)) {
      const char *reason = checkGather(generic, op, rows);
      if (reason)
        return reason;
      continue;
    }
    const char *reason = gqCheckScalar(op, body);
    if (reason)
      return reason;
  }
  return NULL;
}

/// Whether input `input` of `generic` only says which row is read.
static bool isOnlyRowIndex(MlirOperation generic, intptr_t input) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  return gqIsRowIndexInput(generic, input) &&
         isUsedOnlyBy(mlirBlockGetArgument(body, input), givesIndex);
}

/// Returns why `generic` cannot become the producer of an op over (m, k), or
/// null if it can. Adds what it gathers to `rows`, the op's.
static const char *checkGeneric(MlirOperation generic, gqGatheredRows *rows) {
  intptr_t numOperands = mlirOperationGetNumOperands(generic);
  if (mlirOperationGetNumResults(generic) != 1)
    return "the producer has several results";
  MlirAffineMap outMap = gqIndexingMap(generic, numOperands - 1);
  if (mlirAffineMapGetNumDims(outMap) != 2 || !mlirAffineMapIsIdentity(outMap))
    return "the producer is not element-wise over two dimensions";
  for (intptr_t i = 0; i < numOperands - 1; ++i) {
    if (isOnlyRowIndex(generic, i))
      continue;
    if (!gqIsProducerInput(
            mlirValueGetType(mlirOperationGetOperand(generic, i))))
      return "the producer has an input that is not a tensor of f32, bf16 or "
             "f16";
    if (!isBroadcast(gqIndexingMap(generic, i)))
      return "the producer has a map that is neither identity nor broadcast";
  }
  return checkBody(generic, numOperands - 1, rows);
}

/// Whether the result of `generic` costs no more to compute than to load: it is
/// one element, no wider, of one input, read by row index or not, in another
/// type. Where it is computed twice, nothing is lost.
static bool isFree(MlirOperation generic) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  intptr_t numReads = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(generic) - 1; ++i)
    numReads += !isOnlyRowIndex(generic, i);
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    numReads += isExtract(op);
    if (!isExtract(op) && !givesIndex(op) && !gqIsNamed(op, "arith.extf") &&
        !gqIsNamed(op, "linalg.yield"))
      return false;
  }
  return numReads == 1;
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// The inputs of the op to be made, with their maps and block arguments. Equal
/// inputs share one, so that each is read once.
typedef struct Inputs {
  intptr_t size;
  MlirValue values[GQ_MAX_INPUTS];
  MlirAttribute maps[GQ_MAX_INPUTS];
  MlirBlock body;
} Inputs;

/// The block argument for `value` read through `map`; null if there is no room.
static MlirValue addInput(Inputs *inputs, MlirValue value, MlirAttribute map) {
  for (intptr_t i = 0; i < inputs->size; ++i)
    if (mlirValueEqual(inputs->values[i], value) &&
        mlirAttributeEqual(inputs->maps[i], map))
      return mlirBlockGetArgument(inputs->body, i);
  if (inputs->size == GQ_MAX_INPUTS)
    return (MlirValue){NULL};
  inputs->values[inputs->size] = value;
  inputs->maps[inputs->size++] = map;
  MlirType type = mlirValueGetType(value);
  return mlirBlockAddArgument(inputs->body, mlirShapedTypeGetElementType(type),
                              mlirLocationUnknownGet(mlirTypeGetContext(type)));
}

/// Inputs for what the body of `generic` extracts. Neither that nor the indices
/// are copied. Returns whether there is room.
static bool addGathers(MlirOperation generic, Inputs *inputs, gqValueMap *map) {
  MlirContext context = mlirOperationGetContext(generic);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!isExtract(op) && !givesIndex(op))
      continue;
    MlirValue result = mlirOperationGetResult(op, 0), value = result;
    if (isExtract(op)) {
      MlirValue source = mlirOperationGetOperand(op, 0);
      value = addInput(inputs, source,
                       gqGatherMap(context, mlirShapedTypeGetRank(
                                                mlirValueGetType(source))));
      if (mlirValueIsNull(value))
        return false;
    }
    gqValueMapAdd(map, result, value);
  }
  return true;
}

/// Copies `generic` into the new body and returns what it yields there; null if
/// there are too many inputs.
static MlirValue inlineGeneric(MlirOperation generic, Inputs *inputs) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  MlirValue yielded = {NULL};
  gqValueMap map = {0};
  bool fits = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(generic) - 1; ++i) {
    if (isOnlyRowIndex(generic, i))
      continue;
    MlirValue argument =
        addInput(inputs, mlirOperationGetOperand(generic, i),
                 mlirAffineMapAttrGet(gqIndexingMap(generic, i)));
    fits &= !mlirValueIsNull(argument);
    gqValueMapAdd(&map, mlirBlockGetArgument(body, i), argument);
  }
  fits = fits && addGathers(generic, inputs, &map);
  if (fits) {
    gqCloneConstants(body, inputs->body, &map);
    gqCloneBody(body, inputs->body, &map);
    yielded = gqValueMapGet(
        &map, mlirOperationGetOperand(mlirBlockGetTerminator(body), 0));
  }
  gqValueMapFree(&map);
  return yielded;
}

/// Copies the op's own producer, if any, into the new body, its argument
/// `replaced` being `value`. Returns whether all inputs fit.
static bool inlineProducer(const gqGroupedBlockQuantize *desc,
                           intptr_t replaced, MlirValue value, Inputs *inputs,
                           MlirLocation location) {
  if (mlirRegionIsNull(desc->producer)) {
    gqAppendYield(inputs->body, value, location);
    return true;
  }
  MlirBlock body = mlirRegionGetFirstBlock(desc->producer);
  gqValueMap map = {0};
  bool fits = true;
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    MlirValue argument = i == replaced
                             ? value
                             : addInput(inputs, desc->inputs[i],
                                        mlirArrayAttrGetElement(desc->maps, i));
    fits &= !mlirValueIsNull(argument);
    gqValueMapAdd(&map, mlirBlockGetArgument(body, i), argument);
  }
  if (fits) {
    gqCloneBody(body, inputs->body, &map);
    gqAppendYield(inputs->body,
                  gqValueMapGet(&map, mlirOperationGetOperand(
                                          mlirBlockGetTerminator(body), 0)),
                  location);
  }
  gqValueMapFree(&map);
  return fits;
}

/// Replaces `op` by one that computes its input `index`, the result of
/// `generic`, itself and gathers by `rowIndices`. Returns the new op, or null
/// and why not in `reason`.
static MlirOperation fuse(MlirOperation op, intptr_t index,
                          MlirOperation generic, MlirValue rowIndices,
                          const char **reason) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  MlirLocation location = gqFusedLocation(generic, op);

  Inputs inputs = {.body = mlirBlockCreate(0, NULL, NULL)};
  MlirValue value = inlineGeneric(generic, &inputs);
  if (mlirValueIsNull(value) ||
      !inlineProducer(&desc, index, value, &inputs, location)) {
    mlirBlockDestroy(inputs.body);
    *reason = "the op would have more than 8 inputs";
    return (MlirOperation){NULL};
  }

  desc.rowIndices = rowIndices;
  desc.numInputs = inputs.size;
  memcpy(desc.inputs, inputs.values, sizeof(desc.inputs));
  desc.maps =
      mlirArrayAttrGet(mlirOperationGetContext(op), inputs.size, inputs.maps);
  if (!gqGroupedBlockQuantizeHasExtents(&desc)) {
    mlirBlockDestroy(inputs.body);
    *reason = "nothing else says how many rows, or columns, there are";
    return (MlirOperation){NULL};
  }
  MlirRegion producer = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(producer, inputs.body);
  desc.producer = producer;
  MlirOperation fused = gqReplaceGroupedBlockQuantize(op, location, &desc);
  mlirRegionDestroy(producer);
  gqDestroyIfUnused(generic);
  return fused;
}

/// Whether an input of the op is read element by element.
static bool isIdentityInput(const gqGroupedBlockQuantize *desc,
                            intptr_t input) {
  if (mlirAttributeIsNull(desc->maps))
    return mlirValueIsNull(desc->rowIndices);
  return mlirAffineMapIsIdentity(
      mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, input)));
}

/// Tries to fuse one producer of `op`. Returns the new op, or null if there is
/// none (then the remarks have been made).
static MlirOperation fuseOne(MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  for (intptr_t i = 0; i < desc.numInputs; ++i) {
    MlirOperation generic = gqDefiningOp(desc.inputs[i]);
    if (gqIsRowGather(generic)) {
      MlirOperation fused = gqFuseRowGather(op, i);
      if (!mlirOperationIsNull(fused))
        return fused;
      continue;
    }
    if (mlirOperationIsNull(generic) || !isGeneric(generic))
      continue;
    gqGatheredRows rows = gqGatheredRowsOf(&desc);
    const char *reason = NULL;
    if (!isIdentityInput(&desc, i))
      reason = "the producer's result is broadcast or gathered";
    else if (!gqHasOneUse(desc.inputs[i]) && !isFree(generic))
      reason = "the producer's result has another user and would be computed "
               "twice";
    else
      reason = checkGeneric(generic, &rows);
    MlirLocation location = mlirOperationGetLocation(generic);
    if (!reason) {
      MlirOperation fused = fuse(op, i, generic, rows.indices, &reason);
      if (!mlirOperationIsNull(fused)) {
        gqRemarkPassed(location, passName,
                       "fused into the op that reads its result");
        return fused;
      }
    }
    gqRemarkMissed(location, passName, reason);
  }
  return (MlirOperation){NULL};
}

void gqFuseProducers(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqReadsGroups);
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation op = ops.ops[i];
    while (!mlirOperationIsNull(op))
      op = fuseOne(op);
  }
  gqOpListFree(&ops);
}
