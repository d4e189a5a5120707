//===- FuseProducers.c - gq-fuse-producers -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

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

static MlirAffineMap mapOf(MlirOperation generic, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(
      gqGetAttribute(generic, "indexing_maps"), operand));
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

static bool isInputType(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  MlirType element = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAF32(element) || mlirTypeIsABF16(element) ||
         mlirTypeIsAF16(element);
}

static bool isConstant(MlirValue value) {
  MlirOperation op = gqDefiningOp(value);
  return !mlirOperationIsNull(op) && gqIsNamed(op, "arith.constant");
}

/// Whether `value` is defined in `block`.
static bool isIn(MlirValue value, MlirBlock block) {
  return mlirBlockEqual(mlirValueIsABlockArgument(value)
                            ? mlirBlockArgumentGetOwner(value)
                            : mlirOperationGetBlock(gqDefiningOp(value)),
                        block);
}

/// Whether `op`, in the body `block`, uses only values of the body and
/// constants.
static bool usesOnly(MlirOperation op, MlirBlock block) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (!isIn(operand, block) && !isConstant(operand))
      return false;
  }
  return true;
}

/// Returns why the body of `generic` cannot move, or null if it can.
static const char *checkBody(MlirOperation generic, intptr_t numInputs) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  if (!gqIsInitUnread(generic, numInputs))
    return "the producer reads its 'outs'";
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    bool scalar = gqIsOfDialect(op, "arith.") || gqIsOfDialect(op, "math.") ||
                  gqIsNamed(op, "linalg.yield");
    if (!scalar || mlirOperationGetNumRegions(op))
      return "the producer has an op that is not one of arith or math";
    if (!usesOnly(op, body))
      return "the producer uses a value from outside that is no constant";
  }
  return NULL;
}

/// Returns why `generic` cannot become the producer of an op over (m, k), or
/// null if it can.
static const char *checkGeneric(MlirOperation generic) {
  intptr_t numOperands = mlirOperationGetNumOperands(generic);
  if (mlirOperationGetNumResults(generic) != 1)
    return "the producer has several results";
  MlirAffineMap outMap = mapOf(generic, numOperands - 1);
  if (mlirAffineMapGetNumDims(outMap) != 2 || !mlirAffineMapIsIdentity(outMap))
    return "the producer is not element-wise over two dimensions";
  for (intptr_t i = 0; i < numOperands - 1; ++i) {
    if (!isInputType(mlirValueGetType(mlirOperationGetOperand(generic, i))))
      return "the producer has an input that is no tensor of f32, bf16 or f16";
    if (!isBroadcast(mapOf(generic, i)))
      return "the producer has a map that is no identity or broadcast";
  }
  return checkBody(generic, numOperands - 1);
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

/// Constants from outside of the body of `generic` move into the copy.
static void cloneConstants(MlirOperation generic, MlirBlock to,
                           gqValueMap *map) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
      MlirValue operand = mlirOperationGetOperand(op, i);
      if (isIn(operand, body) ||
          !mlirValueEqual(gqValueMapGet(map, operand), operand))
        continue;
      MlirOperation clone = mlirOperationClone(gqDefiningOp(operand));
      mlirBlockAppendOwnedOperation(to, clone);
      gqValueMapAdd(map, operand, mlirOperationGetResult(clone, 0));
    }
}

/// Copies `generic` into the new body and returns what it yields there; null if
/// there are too many inputs.
static MlirValue inlineGeneric(MlirOperation generic, Inputs *inputs) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(generic, 0));
  MlirValue yielded = {NULL};
  gqValueMap map = {0};
  bool fits = true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(generic) - 1; ++i) {
    MlirValue argument = addInput(inputs, mlirOperationGetOperand(generic, i),
                                  mlirAffineMapAttrGet(mapOf(generic, i)));
    fits &= !mlirValueIsNull(argument);
    gqValueMapAdd(&map, mlirBlockGetArgument(body, i), argument);
  }
  if (fits) {
    cloneConstants(generic, inputs->body, &map);
    gqCloneBody(body, inputs->body, &map);
    yielded = gqValueMapGet(
        &map, mlirOperationGetOperand(mlirBlockGetTerminator(body), 0));
  }
  gqValueMapFree(&map);
  return yielded;
}

static void appendYield(MlirBlock body, MlirValue value,
                        MlirLocation location) {
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("gq.yield"), location);
  mlirOperationStateAddOperands(&state, 1, &value);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&state));
}

/// Copies the op's own producer, if any, into the new body, its argument
/// `replaced` being `value`. Returns whether all inputs fit.
static bool inlineProducer(const gqGroupedBlockQuantize *desc,
                           intptr_t replaced, MlirValue value, Inputs *inputs,
                           MlirLocation location) {
  if (mlirRegionIsNull(desc->producer)) {
    appendYield(inputs->body, value, location);
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
    appendYield(inputs->body,
                gqValueMapGet(&map, mlirOperationGetOperand(
                                        mlirBlockGetTerminator(body), 0)),
                location);
  }
  gqValueMapFree(&map);
  return fits;
}

/// Replaces `op` by one that computes its input `index`, the result of
/// `generic`, itself. Returns the new op, or null and why not in `reason`.
static MlirOperation fuse(MlirOperation op, intptr_t index,
                          MlirOperation generic, const char **reason) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  MlirContext context = mlirOperationGetContext(op);
  MlirLocation locations[] = {mlirOperationGetLocation(generic),
                              mlirOperationGetLocation(op)};
  MlirLocation location =
      mlirLocationFusedGet(context, 2, locations, (MlirAttribute){NULL});

  Inputs inputs = {.body = mlirBlockCreate(0, NULL, NULL)};
  MlirValue value = inlineGeneric(generic, &inputs);
  if (mlirValueIsNull(value) ||
      !inlineProducer(&desc, index, value, &inputs, location)) {
    mlirBlockDestroy(inputs.body);
    *reason = "the op would have more than 8 inputs";
    return (MlirOperation){NULL};
  }

  MlirRegion producer = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(producer, inputs.body);
  desc.numInputs = inputs.size;
  memcpy(desc.inputs, inputs.values, sizeof(desc.inputs));
  desc.maps = mlirArrayAttrGet(context, inputs.size, inputs.maps);
  desc.producer = producer;
  MlirOperation fused = gqGroupedBlockQuantizeCreate(location, &desc);
  mlirRegionDestroy(producer);
  gqBuilder builder = gqBuilderBefore(op);
  gqInsert(&builder, fused);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  mlirOperationGetResult(fused, i));
  mlirOperationDestroy(op);
  mlirOperationDestroy(generic);
  return fused;
}

/// Whether an input of the op is read element by element.
static bool isIdentityInput(const gqGroupedBlockQuantize *desc,
                            intptr_t input) {
  return mlirAttributeIsNull(desc->maps) ||
         mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(
             mlirArrayAttrGetElement(desc->maps, input)));
}

/// Tries to fuse one producer of `op`. Returns the new op, or null if there is
/// none (then the remarks have been made).
static MlirOperation fuseOne(MlirOperation op) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  for (intptr_t i = 0; i < desc.numInputs; ++i) {
    MlirOperation generic = gqDefiningOp(desc.inputs[i]);
    if (mlirOperationIsNull(generic) || !isGeneric(generic))
      continue;
    const char *reason = NULL;
    if (!gqHasOneUse(desc.inputs[i]))
      reason = "the producer's result has another user, it would be computed "
               "twice";
    else if (!isIdentityInput(&desc, i))
      reason = "the producer's result is broadcast";
    else
      reason = checkGeneric(generic);
    if (!reason) {
      MlirOperation fused = fuse(op, i, generic, &reason);
      if (!mlirOperationIsNull(fused))
        return fused;
    }
    gqRemarkMissed(mlirOperationGetLocation(generic), passName, reason);
  }
  return (MlirOperation){NULL};
}

void gqFuseProducers(MlirOperation root) {
  gqOpList ops = gqCollect(root, gqOperationIsAGroupedBlockQuantize);
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation op = ops.ops[i];
    while (!mlirOperationIsNull(op))
      op = fuseOne(op);
  }
  gqOpListFree(&ops);
}
