//===- Build.c - building operations ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build.h"

#include "../IR/Checks.h"
#include "../IR/ElementType.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/LLVM.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/// Replaces operands of `op`, and of what is in its regions.
static void mapOperands(MlirOperation op, const gqValueMap *map) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(op, i,
                            gqValueMapGet(map, mlirOperationGetOperand(op, i)));
  for (MlirRegion region = mlirOperationGetFirstRegion(op);
       !mlirRegionIsNull(region); region = mlirRegionGetNextInOperation(region))
    for (MlirBlock block = mlirRegionGetFirstBlock(region);
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation inner = mlirBlockGetFirstOperation(block);
           !mlirOperationIsNull(inner);
           inner = mlirOperationGetNextInBlock(inner))
        mapOperands(inner, map);
}

MlirOperation gqCloneOp(MlirOperation op, gqValueMap *map) {
  MlirOperation clone = mlirOperationClone(op);
  mapOperands(clone, map);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(clone); ++i)
    gqValueMapAdd(map, mlirOperationGetResult(op, i),
                  mlirOperationGetResult(clone, i));
  return clone;
}

void gqCloneBody(MlirBlock from, MlirBlock to, gqValueMap *map) {
  MlirOperation terminator = mlirBlockGetTerminator(from);
  for (MlirOperation op = mlirBlockGetFirstOperation(from);
       !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op)) {
    if (mlirOperationGetNumResults(op) == 1 &&
        gqValueMapHas(map, mlirOperationGetResult(op, 0)))
      continue;
    mlirBlockAppendOwnedOperation(to, gqCloneOp(op, map));
  }
}

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

MlirValue gqBuildCompare(const gqBuilder *builder, gqPredicate predicate,
                         MlirValue a, MlirValue b) {
  MlirValue operands[] = {a, b};
  MlirType i1 = mlirIntegerTypeGet(builder->context, 1);
  MlirNamedAttribute attribute = gqAttribute(
      builder->context, "predicate",
      mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), predicate));
  return mlirOperationGetResult(
      gqBuild(builder, "arith.cmpi", 2, operands, 1, &i1, 1, &attribute), 0);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// arith.index_cast to i64.
static MlirValue toI64(const gqBuilder *builder, MlirValue index) {
  return gqBuildValue(builder, "arith.index_cast", 1, &index,
                      mlirIntegerTypeGet(builder->context, 64));
}

/// `fixed`, or `index` where that is dynamic.
static MlirValue i64Of(const gqBuilder *builder, int64_t fixed,
                       MlirValue index) {
  return mlirShapedTypeIsDynamicStrideOrOffset(fixed)
             ? toI64(builder, index)
             : gqBuildConstant(builder,
                               mlirIntegerTypeGet(builder->context, 64), fixed);
}

gqBufferValues gqBuildBufferValues(const gqBuilder *builder, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirType index = mlirIndexTypeGet(builder->context);
  gqBufferValues values = {.rank = mlirShapedTypeGetRank(type)};
  int64_t strides[GQ_OPERAND_RANK], offset;
  bool valid = gqElementTypeOf(element, &values.type) &&
               values.rank <= GQ_OPERAND_RANK &&
               mlirLogicalResultIsSuccess(
                   mlirMemRefTypeGetStridesAndOffset(type, strides, &offset));
  assert(valid && "ODS and the verifier allow no other");
  (void)valid;

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
    values.sizes[i] = i64Of(builder, mlirShapedTypeGetDimSize(type, i),
                            mlirOperationGetResult(metadata, 2 + i));
    values.strides[i] =
        i64Of(builder, strides[i],
              mlirOperationGetResult(metadata, 2 + values.rank + i));
  }

  MlirValue address = gqBuildValue(
      builder, "memref.extract_aligned_pointer_as_index", 1, &buffer, index);
  if (offset != 0) { // Which the aligned pointer leaves out.
    MlirValue scaled[] = {
        mlirOperationGetResult(metadata, 1),
        gqBuildConstant(builder, index, gqElementTypeSize(values.type))};
    MlirValue sum[] = {address,
                       gqBuildValue(builder, "arith.muli", 2, scaled, index)};
    address = gqBuildValue(builder, "arith.addi", 2, sum, index);
  }
  values.address = toI64(builder, address);
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
