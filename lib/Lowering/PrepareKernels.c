//===- PrepareKernels.c - gq-prepare-kernels ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Memory.h"
#include "Build.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

static MlirAttribute parallelAttribute(MlirContext context) {
  return mlirAttributeParseGet(context, mlirStringRefCreateFromCString(
                                            "#linalg.iterator_type<parallel>"));
}

//===----------------------------------------------------------------------===//
// Iterators
//===----------------------------------------------------------------------===//

/// The new order of a linalg.generic's loops.
typedef struct Order {
  intptr_t size, numParallel;
  /// The new number of each.
  intptr_t *position;
} Order;

/// The parallel loops come first; otherwise the order is kept.
static Order parallelFirst(MlirOperation generic) {
  MlirAttribute types = gqGetAttribute(generic, "iterator_types");
  MlirAttribute parallel = parallelAttribute(mlirOperationGetContext(generic));
  Order order = {.size = mlirArrayAttrGetNumElements(types)};
  order.position = calloc((size_t)order.size + 1, sizeof(intptr_t));
  if (!order.position)
    gqOutOfMemory();
  for (intptr_t i = 0; i < order.size; ++i)
    order.numParallel +=
        mlirAttributeEqual(mlirArrayAttrGetElement(types, i), parallel);
  for (intptr_t i = 0, p = 0, r = order.numParallel; i < order.size; ++i)
    order.position[i] =
        mlirAttributeEqual(mlirArrayAttrGetElement(types, i), parallel) ? p++
                                                                        : r++;
  return order;
}

/// Sets an array attribute of `op`.
static void setArray(MlirOperation op, const char *name, intptr_t size,
                     const MlirAttribute *elements) {
  mlirOperationSetAttributeByName(
      op, mlirStringRefCreateFromCString(name),
      mlirArrayAttrGet(mlirOperationGetContext(op), size, elements));
}

static MlirAffineMap renameDims(MlirContext context, MlirAffineMap map,
                                MlirAffineMap names) {
  intptr_t count = mlirAffineMapGetNumResults(map);
  MlirAffineExpr *results = calloc((size_t)count + 1, sizeof(MlirAffineExpr));
  if (!results)
    gqOutOfMemory();
  for (intptr_t i = 0; i < count; ++i)
    results[i] = mlirAffineExprCompose(mlirAffineMapGetResult(map, i), names);
  MlirAffineMap renamed = mlirAffineMapGet(
      context, mlirAffineMapGetNumDims(map), 0, count, results);
  free(results);
  return renamed;
}

static bool isLinalgIndex(MlirOperation op) {
  return gqIsNamed(op, "linalg.index");
}

static void renameLoops(MlirOperation generic, const Order *order) {
  MlirContext context = mlirOperationGetContext(generic);
  MlirAttribute oldTypes = gqGetAttribute(generic, "iterator_types");
  MlirAttribute oldMaps = gqGetAttribute(generic, "indexing_maps");
  intptr_t numMaps = mlirArrayAttrGetNumElements(oldMaps);
  MlirAffineExpr *dims = calloc((size_t)order->size, sizeof(MlirAffineExpr));
  MlirAttribute *types = calloc((size_t)order->size, sizeof(MlirAttribute));
  MlirAttribute *maps = calloc((size_t)numMaps, sizeof(MlirAttribute));
  if (!dims || !types || !maps)
    gqOutOfMemory();
  for (intptr_t i = 0; i < order->size; ++i) {
    dims[i] = mlirAffineDimExprGet(context, order->position[i]);
    types[order->position[i]] = mlirArrayAttrGetElement(oldTypes, i);
  }
  MlirAffineMap names =
      mlirAffineMapGet(context, order->size, 0, order->size, dims);
  for (intptr_t i = 0; i < numMaps; ++i)
    maps[i] = mlirAffineMapAttrGet(renameDims(
        context, mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(oldMaps, i)),
        names));
  setArray(generic, "iterator_types", order->size, types);
  setArray(generic, "indexing_maps", numMaps, maps);
  free(dims);
  free(types);
  free(maps);

  gqOpList indices = gqCollect(generic, isLinalgIndex);
  for (intptr_t i = 0; i < indices.size; ++i) {
    MlirAttribute dim = gqGetAttribute(indices.ops[i], "dim");
    mlirOperationSetAttributeByName(
        indices.ops[i], mlirStringRefCreateFromCString("dim"),
        mlirIntegerAttrGet(mlirAttributeGetType(dim),
                           order->position[mlirIntegerAttrGetValueInt(dim)]));
  }
  gqOpListFree(&indices);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Puts `op` into a parallel loop of one iteration.
static void wrap(MlirOperation op) {
  gqBuilder builder = gqBuilderBefore(op);
  MlirType index = mlirIndexTypeGet(builder.context);
  MlirBlock body = mlirBlockCreate(1, &index, &builder.location);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  gqBuildParallelLoop(&builder, gqBuildConstant(&builder, index, 1), region);
  mlirOperationRemoveFromParent(op);
  mlirBlockAppendOwnedOperation(body, op);
  MlirOperationState end = mlirOperationStateGet(
      mlirStringRefCreateFromCString("scf.reduce"), builder.location);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&end));
}

/// Replaces a memref.copy by the linalg.generic that yields what it reads.
static MlirOperation convertCopy(MlirOperation copy) {
  gqBuilder builder = gqBuilderBefore(copy);
  MlirContext context = builder.context;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(copy, 0));
  MlirType element = mlirShapedTypeGetElementType(type);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirValue operands[] = {mlirOperationGetOperand(copy, 0),
                          mlirOperationGetOperand(copy, 1)};
  MlirAttribute identity =
      mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank));
  MlirAttribute maps[] = {identity, identity};
  MlirAttribute *types = calloc((size_t)rank + 1, sizeof(MlirAttribute));
  if (!types)
    gqOutOfMemory();
  for (intptr_t i = 0; i < rank; ++i)
    types[i] = parallelAttribute(context);
  int32_t segments[] = {1, 1};
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "indexing_maps", mlirArrayAttrGet(context, 2, maps)),
      gqAttribute(context, "iterator_types",
                  mlirArrayAttrGet(context, rank, types)),
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 2, segments)),
  };
  free(types);
  MlirType elements[] = {element, element};
  MlirLocation locations[] = {builder.location, builder.location};
  MlirBlock body = mlirBlockCreate(2, elements, locations);
  MlirValue read = mlirBlockGetArgument(body, 0);
  MlirOperationState yield = mlirOperationStateGet(
      mlirStringRefCreateFromCString("linalg.yield"), builder.location);
  mlirOperationStateAddOperands(&yield, 1, &read);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&yield));
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("linalg.generic"), builder.location);
  mlirOperationStateAddOperands(&state, 2, operands);
  mlirOperationStateAddAttributes(&state, 3, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation generic = mlirOperationCreate(&state);
  gqInsert(&builder, generic);
  mlirOperationDestroy(copy);
  return generic;
}

static void prepareGeneric(MlirOperation generic) {
  Order order = parallelFirst(generic);
  if (order.size)
    renameLoops(generic, &order);
  free(order.position);
  if (!order.numParallel)
    wrap(generic);
}

static bool isPrepared(MlirOperation op) {
  return (gqIsNamed(op, "linalg.generic") || gqIsNamed(op, "memref.store") ||
          (gqIsNamed(op, "memref.copy") && !gqIsPlainCopy(op))) &&
         gqIsOnHost(op);
}

void gqPrepareKernels(MlirOperation root) {
  gqOpList ops = gqCollect(root, isPrepared);
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation op = ops.ops[i];
    if (gqIsNamed(op, "memref.store"))
      wrap(op);
    else
      prepareGeneric(gqIsNamed(op, "memref.copy") ? convertCopy(op) : op);
  }
  gqOpListFree(&ops);
}
