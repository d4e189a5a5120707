//===- Build.c - walking and building IR -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/LLVM.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool gqIsDefinedIn(MlirValue value, MlirBlock block) {
  return mlirBlockEqual(mlirValueIsABlockArgument(value)
                            ? mlirBlockArgumentGetOwner(value)
                            : mlirOperationGetBlock(gqDefiningOp(value)),
                        block);
}

bool gqIsUsedOnlyAfter(MlirValue value, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  MlirRegion region = mlirBlockGetParentRegion(block);
  for (MlirOpOperand use = mlirValueGetFirstUse(value);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    while (!mlirRegionEqual(
        mlirBlockGetParentRegion(mlirOperationGetBlock(user)), region))
      user = mlirOperationGetParentOperation(user);
    if (mlirBlockEqual(mlirOperationGetBlock(user), block) &&
        !mlirOperationIsBeforeInBlock(op, user))
      return false;
  }
  return true;
}

bool gqIsAvailableAt(MlirValue value, MlirOperation op) {
  MlirOperation definition = gqDefiningOp(value);
  return mlirOperationIsNull(definition) ||
         !mlirBlockEqual(mlirOperationGetBlock(definition),
                         mlirOperationGetBlock(op)) ||
         mlirOperationIsBeforeInBlock(definition, op);
}

void gqDestroyIfUnused(MlirOperation op) {
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, 0))))
    mlirOperationDestroy(op);
}

MlirAffineMap gqIndexingMap(MlirOperation generic, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(
      gqGetAttribute(generic, "indexing_maps"), operand));
}

bool gqIsComputeOp(MlirOperation op) { return gqOpInfoOf(op) != NULL; }

bool gqCheckLowerable(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!mlirTypeIsAMemRef(type))
      return gqOpError(op, "needs memrefs to be lowered; run "
                           "one-shot-bufferize before");
    if (mlirTypeIsAFloat4E2M1FN(mlirShapedTypeGetElementType(type)))
      return gqOpError(op, "needs packed data to be lowered; run "
                           "gq-pack-subbyte before bufferization");
  }
  return true;
}

bool gqIsNamed(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                            mlirStringRefCreateFromCString(name));
}

FILE *gqOpenText(char **text, size_t *length) {
  FILE *file = open_memstream(text, length);
  if (!file)
    abort(); // As MLIR itself does when it is out of memory.
  return file;
}

bool gqIsOfDialect(MlirOperation op, const char *prefix) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  size_t length = strlen(prefix);
  return name.length > length && memcmp(name.data, prefix, length) == 0;
}

bool gqIsOnHost(MlirOperation op) {
  for (op = mlirOperationGetParentOperation(op); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op))
    if (gqIsNamed(op, "scf.parallel") || gqIsNamed(op, "gpu.module") ||
        gqIsOfDialect(op, "linalg."))
      return false;
  return true;
}

bool gqIsPlainCopy(MlirOperation op) {
  if (!gqIsNamed(op, "memref.copy"))
    return false;
  for (intptr_t i = 0; i < 2; ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (mlirTypeIsAMemRef(type) &&
        !mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
      return false;
  }
  return true;
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

bool gqValueMapHas(const gqValueMap *map, MlirValue value) {
  for (intptr_t i = 0; i < map->size; ++i)
    if (mlirValueEqual(map->from[i], value))
      return true;
  return false;
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
    if (mlirOperationGetNumResults(op) == 1 &&
        gqValueMapHas(map, mlirOperationGetResult(op, 0)))
      continue;
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

//===----------------------------------------------------------------------===//
// gq.grouped_block_quantize
//===----------------------------------------------------------------------===//

bool gqIsProducerInput(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  MlirType element = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAF32(element) || mlirTypeIsABF16(element) ||
         mlirTypeIsAF16(element);
}

void gqReplaceResults(MlirOperation op, MlirOperation fused) {
  const gqOpInfo *info = gqOpInfoOf(op);
  for (intptr_t i = 0; i < info->numOperands; ++i) {
    if (info->operands[i].access == GQ_IN)
      continue;
    MlirValue result = gqResultAt(op, i);
    if (!mlirValueIsNull(result))
      mlirValueReplaceAllUsesOfWith(result, gqResultAt(fused, i));
  }
}

MlirOperation
gqReplaceGroupedBlockQuantize(MlirOperation op, MlirLocation location,
                              const gqGroupedBlockQuantize *desc) {
  MlirOperation replacement = gqGroupedBlockQuantizeRebuild(op, location, desc);
  gqBuilder builder = gqBuilderBefore(op);
  gqInsert(&builder, replacement);
  gqReplaceResults(op, replacement);
  mlirOperationDestroy(op);
  return replacement;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The gqElementType of a type that an operand of a gq op can have.
static gqElementType elementType(MlirType type) {
  if (mlirTypeIsAF32(type))
    return GQ_F32;
  if (mlirTypeIsABF16(type))
    return GQ_BF16;
  if (mlirTypeIsAF16(type))
    return GQ_F16;
  if (mlirTypeIsAFloat8E4M3FN(type))
    return GQ_F8E4M3FN;
  if (mlirTypeIsAFloat8E5M2(type))
    return GQ_F8E5M2;
  if (mlirTypeIsAFloat8E8M0FNU(type))
    return GQ_F8E8M0FNU;
  assert(mlirTypeIsAInteger(type) && "ODS allows no other type");
  switch (mlirIntegerTypeGetWidth(type)) {
  case 8:
    return GQ_I8;
  case 32:
    return GQ_I32;
  default:
    return GQ_I64;
  }
}

/// arith.index_cast to i64.
static MlirValue toI64(const gqBuilder *builder, MlirValue index) {
  return gqBuildValue(builder, "arith.index_cast", 1, &index,
                      mlirIntegerTypeGet(builder->context, 64));
}

gqBufferValues gqBuildBufferValues(const gqBuilder *builder, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirType index = mlirIndexTypeGet(builder->context);
  gqBufferValues values = {.type = elementType(element),
                           .rank = mlirShapedTypeGetRank(type)};
  assert(values.rank <= GQ_OPERAND_RANK);

  // memref.extract_strided_metadata: base buffer, offset, sizes, strides.
  MlirType results[2 + 2 * GQ_OPERAND_RANK];
  results[0] = mlirMemRefTypeGet(element, 0, NULL, mlirAttributeGetNull(),
                                 mlirMemRefTypeGetMemorySpace(type));
  for (intptr_t i = 1; i < 2 + 2 * values.rank; ++i)
    results[i] = index;
  MlirOperation metadata =
      gqBuild(builder, "memref.extract_strided_metadata", 1, &buffer,
              2 + 2 * values.rank, results, 0, NULL);
  for (intptr_t i = 0; i < values.rank; ++i) {
    values.sizes[i] = toI64(builder, mlirOperationGetResult(metadata, 2 + i));
    values.strides[i] =
        toI64(builder, mlirOperationGetResult(metadata, 2 + values.rank + i));
  }

  // The aligned pointer leaves the offset out.
  MlirValue scaled[] = {
      mlirOperationGetResult(metadata, 1),
      gqBuildConstant(builder, index, gqElementTypeSize(values.type))};
  MlirValue sum[] = {gqBuildValue(builder,
                                  "memref.extract_aligned_pointer_as_index", 1,
                                  &buffer, index),
                     gqBuildValue(builder, "arith.muli", 2, scaled, index)};
  values.address =
      toI64(builder, gqBuildValue(builder, "arith.addi", 2, sum, index));
  return values;
}

/// The operation of `module` whose symbol is `name`, or null. What was declared
/// last is found first, so that this is cheap for the runtime's functions.
static MlirOperation lookUp(MlirOperation module, const char *name) {
  MlirAttribute symbol = mlirStringAttrGet(
      mlirOperationGetContext(module), mlirStringRefCreateFromCString(name));
  MlirOperation op = mlirBlockGetFirstOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)));
  while (!mlirOperationIsNull(op) &&
         !mlirAttributeEqual(gqGetAttribute(op, "sym_name"), symbol))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

/// Whether `op` declares a func.func of this type.
static bool isDeclaration(MlirOperation op, MlirType type) {
  return gqIsNamed(op, "func.func") &&
         mlirBlockIsNull(
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))) &&
         mlirAttributeEqual(gqGetAttribute(op, "function_type"),
                            mlirTypeAttrGet(type));
}

bool gqDeclareFunction(MlirOperation module, const char *name, MlirType type) {
  MlirOperation found = lookUp(module, name);
  if (!mlirOperationIsNull(found)) {
    if (isDeclaration(found, type))
      return true;
    char message[192];
    snprintf(message, sizeof(message),
             "'%s' is a function of the gq runtime that is called here; no "
             "other symbol may have its name",
             name);
    mlirEmitError(mlirOperationGetLocation(found), message);
    return false;
  }
  MlirContext context = mlirOperationGetContext(module);
  MlirNamedAttribute attributes[] = {
      gqAttribute(
          context, "sym_name",
          mlirStringAttrGet(context, mlirStringRefCreateFromCString(name))),
      gqAttribute(context, "sym_visibility",
                  mlirStringAttrGet(context,
                                    mlirStringRefCreateFromCString("private"))),
      gqAttribute(context, "function_type", mlirTypeAttrGet(type)),
  };
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("func.func"),
                            mlirOperationGetLocation(module));
  mlirOperationStateAddAttributes(&state, 3, attributes);
  MlirRegion body = mlirRegionCreate();
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  mlirBlockInsertOwnedOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)), 0,
      mlirOperationCreate(&state));
  return true;
}

MlirValue gqBuildPointer(const gqBuilder *builder, MlirValue address,
                         unsigned addressSpace) {
  return gqBuildValue(builder, "llvm.inttoptr", 1, &address,
                      mlirLLVMPointerTypeGet(builder->context, addressSpace));
}

MlirOperation gqBuildCall(const gqBuilder *builder, const char *function,
                          intptr_t numOperands, const MlirValue *operands,
                          intptr_t numResults, const MlirType *results) {
  MlirNamedAttribute callee = gqAttribute(
      builder->context, "callee",
      mlirFlatSymbolRefAttrGet(builder->context,
                               mlirStringRefCreateFromCString(function)));
  return gqBuild(builder, "func.call", numOperands, operands, numResults,
                 results, 1, &callee);
}

void gqBuildParallelLoop(const gqBuilder *builder, MlirValue count,
                         MlirRegion body) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue operands[] = {gqBuildConstant(builder, index, 0), count,
                          gqBuildConstant(builder, index, 1)};
  // Lower and upper bounds, steps, initial values.
  int32_t segments[] = {1, 1, 1, 0};
  MlirNamedAttribute attribute =
      gqAttribute(builder->context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(builder->context, 4, segments));
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("scf.parallel"), builder->location);
  mlirOperationStateAddOperands(&state, 3, operands);
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  gqInsert(builder, mlirOperationCreate(&state));
}
