//===- Build.c - walking and building IR -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

/// Returns `array` with room for one more element after `size`.
static void *grow(void *array, intptr_t size, intptr_t *capacity,
                  size_t elementSize) {
  if (size < *capacity)
    return array;
  *capacity = *capacity ? 2 * *capacity : 16;
  array = realloc(array, (size_t)*capacity * elementSize);
  if (!array)
    abort(); // As MLIR itself does when it is out of memory.
  return array;
}

typedef struct Collection {
  gqOpList list;
  intptr_t capacity;
  bool (*matches)(MlirOperation);
} Collection;

static MlirWalkResult collect(MlirOperation op, void *userData) {
  Collection *collection = userData;
  gqOpList *list = &collection->list;
  if (collection->matches && !collection->matches(op))
    return MlirWalkResultAdvance;
  list->ops =
      grow(list->ops, list->size, &collection->capacity, sizeof(MlirOperation));
  list->ops[list->size++] = op;
  return MlirWalkResultAdvance;
}

gqOpList gqCollect(MlirOperation root, bool (*matches)(MlirOperation)) {
  Collection collection = {.matches = matches};
  mlirOperationWalk(root, collect, &collection, MlirWalkPreOrder);
  return collection.list;
}

void gqOpListFree(gqOpList *list) {
  free(list->ops);
  *list = (gqOpList){0};
}

void gqTypeListAdd(gqTypeList *list, MlirType type) {
  list->types =
      grow(list->types, list->size, &list->capacity, sizeof(MlirType));
  list->types[list->size++] = type;
}

void gqTypeListFree(gqTypeList *list) {
  free(list->types);
  *list = (gqTypeList){0};
}

MlirOperation gqDefiningOp(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value)
                                     : (MlirOperation){NULL};
}

bool gqHasOneUse(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) &&
         mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

bool gqIsNamed(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                            mlirStringRefCreateFromCString(name));
}

//===----------------------------------------------------------------------===//
// Copying
//===----------------------------------------------------------------------===//

void gqValueMapAdd(gqValueMap *map, MlirValue from, MlirValue to) {
  map->from = grow(map->from, map->size, &map->fromCapacity, sizeof(MlirValue));
  map->to = grow(map->to, map->size, &map->toCapacity, sizeof(MlirValue));
  map->from[map->size] = from;
  map->to[map->size++] = to;
}

MlirValue gqValueMapGet(const gqValueMap *map, MlirValue value) {
  for (intptr_t i = 0; i < map->size; ++i)
    if (mlirValueEqual(map->from[i], value))
      return map->to[i];
  return value;
}

void gqValueMapFree(gqValueMap *map) {
  free(map->from);
  free(map->to);
  *map = (gqValueMap){0};
}

void gqCloneBody(MlirBlock from, MlirBlock to, gqValueMap *map) {
  MlirOperation terminator = mlirBlockGetTerminator(from);
  for (MlirOperation op = mlirBlockGetFirstOperation(from);
       !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation clone = mlirOperationClone(op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(clone); ++i)
      mlirOperationSetOperand(
          clone, i, gqValueMapGet(map, mlirOperationGetOperand(clone, i)));
    for (intptr_t i = 0; i < mlirOperationGetNumResults(clone); ++i)
      gqValueMapAdd(map, mlirOperationGetResult(op, i),
                    mlirOperationGetResult(clone, i));
    mlirBlockAppendOwnedOperation(to, clone);
  }
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

gqBuilder gqBuilderBefore(MlirOperation op) {
  return (gqBuilder){
      .context = mlirOperationGetContext(op),
      .location = mlirOperationGetLocation(op),
      .block = mlirOperationGetBlock(op),
      .before = op,
  };
}

void gqInsert(const gqBuilder *builder, MlirOperation op) {
  mlirBlockInsertOwnedOperationBefore(builder->block, builder->before, op);
}

MlirOperation gqBuild(const gqBuilder *builder, const char *name,
                      intptr_t numOperands, const MlirValue *operands,
                      intptr_t numResults, const MlirType *results,
                      intptr_t numAttributes,
                      const MlirNamedAttribute *attributes) {
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString(name), builder->location);
  mlirOperationStateAddOperands(&state, numOperands, operands);
  mlirOperationStateAddResults(&state, numResults, results);
  mlirOperationStateAddAttributes(&state, numAttributes, attributes);
  MlirOperation op = mlirOperationCreate(&state);
  gqInsert(builder, op);
  return op;
}

MlirValue gqBuildValue(const gqBuilder *builder, const char *name,
                       intptr_t numOperands, const MlirValue *operands,
                       MlirType result) {
  return mlirOperationGetResult(
      gqBuild(builder, name, numOperands, operands, 1, &result, 0, NULL), 0);
}

MlirValue gqBuildConstant(const gqBuilder *builder, MlirType type,
                          int64_t value) {
  MlirNamedAttribute attribute =
      gqAttribute(builder->context, "value", mlirIntegerAttrGet(type, value));
  return mlirOperationGetResult(
      gqBuild(builder, "arith.constant", 0, NULL, 1, &type, 1, &attribute), 0);
}

MlirNamedAttribute gqAttribute(MlirContext context, const char *name,
                               MlirAttribute attribute) {
  return mlirNamedAttributeGet(
      mlirIdentifierGet(context, mlirStringRefCreateFromCString(name)),
      attribute);
}

MlirAttribute gqGetAttribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op,
                                         mlirStringRefCreateFromCString(name));
}
