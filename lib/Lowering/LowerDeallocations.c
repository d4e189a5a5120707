//===- LowerDeallocations.c - gq-lower-deallocations -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Memory.h"
#include "Build.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

/// A bufferization.dealloc: its buffers, whether each is owned (as many), and
/// those that are kept.
typedef struct Dealloc {
  MlirOperation op;
  intptr_t numBuffers, numKept;
} Dealloc;

static Dealloc describe(MlirOperation op) {
  MlirAttribute segments = gqGetAttribute(op, "operandSegmentSizes");
  return (Dealloc){op, mlirDenseI32ArrayGetElement(segments, 0),
                   mlirDenseI32ArrayGetElement(segments, 2)};
}

static bool hasSeveralBuffers(MlirOperation op) {
  return gqIsNamed(op, "bufferization.dealloc") && describe(op).numBuffers > 1;
}

static MlirValue isOwned(const Dealloc *dealloc, intptr_t i) {
  return mlirOperationGetOperand(dealloc->op, dealloc->numBuffers + i);
}

/// An operation on two conditions.
static MlirValue combine(const gqBuilder *builder, const char *name,
                         MlirValue lhs, MlirValue rhs) {
  MlirValue operands[] = {lhs, rhs};
  return gqBuildValue(builder, name, 2, operands, mlirValueGetType(lhs));
}

/// scf.if that frees a buffer.
static void buildConditionalDealloc(const gqBuilder *builder,
                                    MlirValue condition, MlirValue buffer) {
  MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirBlock body = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(regions[0], body);
  MlirOperationState end = mlirOperationStateGet(
      mlirStringRefCreateFromCString("scf.yield"), builder->location);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&end));
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("scf.if"), builder->location);
  mlirOperationStateAddOperands(&state, 1, &condition);
  mlirOperationStateAddOwnedRegions(&state, 2, regions);
  gqInsert(builder, mlirOperationCreate(&state));
  gqBuilder inside = gqBuilderBefore(mlirBlockGetTerminator(body));
  gqBuild(&inside, "memref.dealloc", 1, &buffer, 0, NULL, 0, NULL);
}

/// Whether the buffer at `address` is owned by one of the first `count`.
static MlirValue isOwnedByOneOf(const gqBuilder *builder,
                                const Dealloc *dealloc,
                                const MlirValue *addresses, intptr_t count,
                                MlirValue address) {
  MlirValue found =
      gqBuildConstant(builder, mlirIntegerTypeGet(builder->context, 1), 0);
  for (intptr_t i = 0; i < count; ++i)
    found = combine(
        builder, "arith.ori", found,
        combine(builder, "arith.andi", isOwned(dealloc, i),
                gqBuildCompare(builder, GQ_CMPI_EQ, address, addresses[i])));
  return found;
}

static void lower(MlirOperation op) {
  Dealloc dealloc = describe(op);
  gqBuilder builder = gqBuilderBefore(op);
  MlirType index = mlirIndexTypeGet(builder.context);
  MlirValue yes =
      gqBuildConstant(&builder, mlirIntegerTypeGet(builder.context, 1), 1);
  intptr_t numAddresses = dealloc.numBuffers + dealloc.numKept;
  MlirValue *addresses = calloc((size_t)numAddresses, sizeof(MlirValue));
  if (!addresses)
    gqOutOfMemory();
  const MlirValue *kept = addresses + dealloc.numBuffers;
  for (intptr_t i = 0; i < numAddresses; ++i) {
    intptr_t number = i < dealloc.numBuffers ? i : i + dealloc.numBuffers;
    MlirValue buffer = mlirOperationGetOperand(op, number);
    addresses[i] = gqBuildValue(
        &builder, "memref.extract_aligned_pointer_as_index", 1, &buffer, index);
  }

  // What is kept is owned if one of the buffers that it may be was.
  for (intptr_t i = 0; i < dealloc.numKept; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  isOwnedByOneOf(&builder, &dealloc, addresses,
                                                 dealloc.numBuffers, kept[i]));
  // The first of equal buffers that is owned is freed.
  for (intptr_t i = 0; i < dealloc.numBuffers; ++i) {
    MlirValue stays =
        isOwnedByOneOf(&builder, &dealloc, addresses, i, addresses[i]);
    for (intptr_t k = 0; k < dealloc.numKept; ++k)
      stays =
          combine(&builder, "arith.ori", stays,
                  gqBuildCompare(&builder, GQ_CMPI_EQ, addresses[i], kept[k]));
    buildConditionalDealloc(
        &builder,
        combine(&builder, "arith.andi", isOwned(&dealloc, i),
                combine(&builder, "arith.xori", stays, yes)),
        mlirOperationGetOperand(op, i));
  }
  free(addresses);
  mlirOperationDestroy(op);
}

void gqLowerDeallocations(MlirOperation root) {
  gqOpList ops = gqCollect(root, hasSeveralBuffers);
  for (intptr_t i = 0; i < ops.size; ++i)
    lower(ops.ops[i]);
  gqOpListFree(&ops);
}
