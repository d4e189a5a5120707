//===- GpuTable.c - a part of a producer that is tabulated ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuTable.h"

#include "Build.h"
#include "GpuHooks.h"
#include "Query.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinTypes.h"

#include <stdint.h>
#include <stdlib.h>

//===----------------------------------------------------------------------===//
// What operations depend on
//===----------------------------------------------------------------------===//

/// An operation of a producer.
typedef struct Part {
  MlirOperation op;
  /// A bit for each input that it depends on; all where that is not known.
  uint32_t inputs;
  /// Whether it or what it depends on takes long.
  bool slow;
} Part;

typedef struct Parts {
  Part *parts;
  intptr_t size;
} Parts;

enum { ALL_INPUTS = (1 << GQ_MAX_INPUTS) - 1 };

static const Part *partOf(const Parts *parts, MlirOperation op) {
  for (intptr_t i = 0; i < parts->size; ++i)
    if (mlirOperationEqual(parts->parts[i].op, op))
      return &parts->parts[i];
  return NULL;
}

/// Adds an operation, all of whose operands were added.
static void addPart(Parts *parts, MlirBlock body, MlirOperation op) {
  Part part = {op, 0, gqTakesLong(op)};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (mlirValueIsABlockArgument(value)) {
      bool own = mlirBlockEqual(mlirBlockArgumentGetOwner(value), body);
      part.inputs |=
          own ? 1u << mlirBlockArgumentGetArgNumber(value) : ALL_INPUTS;
      continue;
    }
    const Part *operand = partOf(parts, mlirOpResultGetOwner(value));
    part.inputs |= operand ? operand->inputs : ALL_INPUTS;
    part.slow |= operand && operand->slow;
  }
  parts->parts[parts->size++] = part;
}

static Parts partsOf(MlirBlock body) {
  intptr_t size = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    ++size;
  Parts parts = {calloc((size_t)size, sizeof(Part)), 0};
  if (!parts.parts)
    abort();
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    addPart(&parts, body, op);
  return parts;
}

static bool isOfOneInput(const Part *part) {
  return part->inputs && !(part->inputs & (part->inputs - 1));
}

/// Whether its value is a function of one input that takes long, and what is
/// computed from it depends on more or is what the producer yields.
static bool isTabulable(const Parts *parts, const Part *part) {
  if (!part->slow || !isOfOneInput(part) ||
      mlirOperationGetNumResults(part->op) != 1)
    return false;
  MlirValue value = mlirOperationGetResult(part->op, 0);
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    const Part *user = partOf(parts, mlirOpOperandGetOwner(use));
    if (!user || user->inputs != part->inputs ||
        gqIsNamed(user->op, "gq.yield"))
      return true;
  }
  return false;
}

/// The only function; null if there is none or another one.
static const Part *findFunction(const Parts *parts) {
  const Part *found = NULL;
  for (intptr_t i = 0; i < parts->size; ++i)
    if (isTabulable(parts, &parts->parts[i])) {
      if (found)
        return NULL;
      found = &parts->parts[i];
    }
  return found;
}

//===----------------------------------------------------------------------===//
// The cut
//===----------------------------------------------------------------------===//

/// A copy of a producer, with `map` from its values to those of the copy.
static MlirRegion copyProducer(MlirBlock from, gqValueMap *map) {
  MlirBlock to = mlirBlockCreate(0, NULL, NULL);
  MlirOperation yield = mlirBlockGetTerminator(from);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(from); ++i) {
    MlirValue argument = mlirBlockGetArgument(from, i);
    gqValueMapAdd(map, argument,
                  mlirBlockAddArgument(to, mlirValueGetType(argument),
                                       mlirOperationGetLocation(yield)));
  }
  gqCloneBody(from, to, map);
  mlirBlockAppendOwnedOperation(to, gqCloneOp(yield, map));
  MlirRegion copy = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(copy, to);
  return copy;
}

/// Destroys operations of a producer that nothing uses.
static void removeUnused(MlirBlock body) {
  gqOpList ops = {0};
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationEqual(op, yield); op = mlirOperationGetNextInBlock(op))
    gqOpListAdd(&ops, op);
  for (intptr_t i = ops.size; i-- > 0;)
    gqDestroyIfUnused(ops.ops[i]);
  gqOpListFree(&ops);
}

/// What computes `value` of a producer from its input number `input` alone.
static MlirRegion copyFunction(MlirBlock from, MlirValue value, int input) {
  gqValueMap map = {0};
  MlirRegion copy = copyProducer(from, &map);
  MlirBlock body = mlirRegionGetFirstBlock(copy);
  mlirOperationSetOperand(mlirBlockGetTerminator(body), 0,
                          gqValueMapGet(&map, value));
  gqValueMapFree(&map);
  removeUnused(body);
  for (int i = (int)mlirBlockGetNumArguments(body) - 1; i >= 0; --i)
    if (i != input)
      mlirBlockEraseArgument(body, (unsigned)i);
  return copy;
}

/// A producer that is given `value` as one more argument.
static MlirRegion copyRest(MlirBlock from, MlirValue value) {
  gqValueMap map = {0};
  MlirRegion copy = copyProducer(from, &map);
  MlirBlock body = mlirRegionGetFirstBlock(copy);
  MlirValue given = mlirBlockAddArgument(
      body, mlirValueGetType(value),
      mlirOperationGetLocation(mlirBlockGetTerminator(body)));
  mlirValueReplaceAllUsesOfWith(gqValueMapGet(&map, value), given);
  gqValueMapFree(&map);
  removeUnused(body);
  return copy;
}

/// The number of the one bit that is set.
static int numberOfBit(uint32_t bits) {
  int number = 0;
  while (bits >> number != 1)
    ++number;
  return number;
}

/// Whether there are only operations without regions and effects.
static bool isPlain(MlirBlock body) {
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationEqual(op, yield); op = mlirOperationGetNextInBlock(op))
    if (mlirOperationGetNumRegions(op) ||
        !(gqIsOfDialect(op, "arith.") || gqIsOfDialect(op, "math.")))
      return false;
  return true;
}

/// Whether it may be rounded together with what it is an operand of, which
/// would depend on where it is computed.
static bool mayBeContracted(MlirOperation op) {
  return gqHasFastMathFlag(op, "contract") || gqHasFastMathFlag(op, "reassoc");
}

bool gqGpuTableCut(MlirRegion producer, gqGpuTable *table) {
  MlirBlock body = mlirRegionGetFirstBlock(producer);
  if (!isPlain(body))
    return false;
  Parts parts = partsOf(body);
  const Part *part = findFunction(&parts);
  bool found = part && !mayBeContracted(part->op);
  MlirValue value = {NULL};
  if (found) {
    value = mlirOperationGetResult(part->op, 0);
    MlirType type = mlirValueGetType(value);
    table->input = numberOfBit(part->inputs);
    found = mlirTypeIsAF32(type) || mlirTypeIsABF16(type);
  }
  free(parts.parts);
  if (!found)
    return false;
  table->function = copyFunction(body, value, table->input);
  table->rest = copyRest(body, value);
  if (!gqDividesExactly(table->rest) && !gqCallsFunctions(table->rest))
    return true;
  gqGpuTableFree(table);
  return false;
}

void gqGpuTableFree(gqGpuTable *table) {
  mlirRegionDestroy(table->function);
  mlirRegionDestroy(table->rest);
}
