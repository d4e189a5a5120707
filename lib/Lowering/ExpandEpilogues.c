//===- ExpandEpilogues.c - gq-expand-epilogues -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "BuildTensor.h"
#include "Fusion.h"
#include "Passes.h"
#include "Query.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

/// An extent of a slice: static, or a value.
typedef struct Size {
  int64_t fixed;
  MlirValue value;
} Size;

static Size sizeOf(const gqBuilder *builder, MlirValue tensor, int64_t dim) {
  int64_t fixed = gqDim(tensor, dim);
  return (Size){fixed, fixed == GQ_DYNAMIC ? gqBuildDim(builder, tensor, dim)
                                           : (MlirValue){NULL}};
}

static bool isDynamic(Size size) { return size.fixed == GQ_DYNAMIC; }

/// tensor.empty of [M, N] products, `out` being [M, N] or, of pairs, [M, N/2].
static MlirValue buildProducts(const gqBuilder *builder, MlirValue out,
                               gqPairs pairs, MlirType element) {
  int64_t shape[2];
  MlirValue sizes[2];
  intptr_t numSizes = 0;
  for (int64_t dim = 0; dim < 2; ++dim) {
    Size size = sizeOf(builder, out, dim);
    bool twice = dim == 1 && pairs != GQ_PAIRS_NONE;
    shape[dim] = size.fixed;
    if (!isDynamic(size)) {
      shape[dim] *= twice ? 2 : 1;
      continue;
    }
    shape[dim] = mlirShapedTypeGetDynamicSize();
    MlirType index = mlirIndexTypeGet(builder->context);
    MlirValue factors[] = {size.value, gqBuildConstant(builder, index, 2)};
    sizes[numSizes++] =
        twice ? gqBuildValue(builder, "arith.muli", 2, factors, index)
              : size.value;
  }
  return gqBuildValue(
      builder, "tensor.empty", numSizes, sizes,
      mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull()));
}

/// tensor.extract_slice of the first or second column of each pair.
static MlirValue buildColumns(const gqBuilder *builder, MlirValue products,
                              MlirValue out, gqPairs pairs, int64_t second) {
  const int64_t dynamic = mlirShapedTypeGetDynamicSize();
  Size rows = sizeOf(builder, out, 0), columns = sizeOf(builder, out, 1);
  bool halves = pairs == GQ_PAIRS_HALVES;
  int64_t offsets[] = {0, !second ? 0 : halves ? columns.fixed : 1};
  int64_t sizes[] = {isDynamic(rows) ? dynamic : rows.fixed,
                     isDynamic(columns) ? dynamic : columns.fixed};
  int64_t strides[] = {1, halves ? 1 : 2};
  bool moved = second && halves && isDynamic(columns);
  if (moved)
    offsets[1] = dynamic;
  MlirValue operands[4] = {products};
  intptr_t numOperands = 1;
  int32_t segments[] = {1, moved, isDynamic(rows) + isDynamic(columns), 0};
  if (moved)
    operands[numOperands++] = columns.value;
  if (isDynamic(rows))
    operands[numOperands++] = rows.value;
  if (isDynamic(columns))
    operands[numOperands++] = columns.value;
  MlirContext context = builder->context;
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "static_offsets",
                  mlirDenseI64ArrayGet(context, 2, offsets)),
      gqAttribute(context, "static_sizes",
                  mlirDenseI64ArrayGet(context, 2, sizes)),
      gqAttribute(context, "static_strides",
                  mlirDenseI64ArrayGet(context, 2, strides)),
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 4, segments)),
  };
  MlirType type = mlirRankedTensorTypeGet(
      2, sizes, mlirShapedTypeGetElementType(mlirValueGetType(products)),
      mlirAttributeGetNull());
  return mlirOperationGetResult(gqBuild(builder, "tensor.extract_slice",
                                        numOperands, operands, 1, &type, 4,
                                        attributes),
                                0);
}

//===----------------------------------------------------------------------===//
// Rows of groups
//===----------------------------------------------------------------------===//

/// What a body needs to know which rows are of groups.
typedef struct Groups {
  MlirValue offsets;
  /// Indices: how many offsets there are, the number of the last one that may
  /// end a group, and M.
  MlirValue count, last, rows;
  /// Whether offset `last` ends the last group; else M does.
  MlirValue closed;
} Groups;

/// Of an op on groups of the rows of `out`.
static Groups buildGroups(const gqBuilder *builder, MlirValue offsets,
                          MlirValue scaleOffsets, MlirValue out) {
  MlirType index = mlirIndexTypeGet(builder->context);
  Groups g = {.offsets = offsets,
              .count = gqBuildDim(builder, offsets, 0),
              .rows = gqBuildDim(builder, out, 0)};
  MlirValue all[] = {g.count, gqBuildConstant(builder, index, 1)};
  g.last = gqBuildValue(builder, "arith.subi", 2, all, index);
  MlirValue groups = mlirValueIsNull(scaleOffsets)
                         ? g.last
                         : gqBuildDim(builder, scaleOffsets, 0);
  g.closed = gqBuildCompare(builder, GQ_CMPI_NE, g.count, groups);
  return g;
}

static MlirValue buildOffset(const gqBuilder *builder, const Groups *groups,
                             MlirValue number) {
  MlirValue operands[] = {groups->offsets, number};
  MlirValue offset = gqBuildValue(
      builder, "tensor.extract", 2, operands,
      mlirShapedTypeGetElementType(mlirValueGetType(groups->offsets)));
  return gqBuildValue(builder, "arith.index_cast", 1, &offset,
                      mlirIndexTypeGet(builder->context));
}

/// In the body of a linalg.map, whether its row is one of a group. Groups
/// follow each other, so it is if it lies between the first and the last one.
static MlirValue buildIsGrouped(const gqBuilder *builder,
                                const Groups *groups) {
  MlirContext context = builder->context;
  MlirType index = mlirIndexTypeGet(context),
           i1 = mlirIntegerTypeGet(context, 1);
  MlirValue zero = gqBuildConstant(builder, index, 0);
  MlirValue row = gqBuildLinalgIndex(builder, 0);
  gqBuilder branches[2];
  MlirValue isGrouped = gqBuildIf(
      builder, gqBuildCompare(builder, GQ_CMPI_NE, groups->count, zero), i1,
      branches);
  const gqBuilder *some = &branches[0];
  MlirValue ends[] = {groups->closed, buildOffset(some, groups, groups->last),
                      groups->rows};
  MlirValue end = gqBuildValue(some, "arith.select", 3, ends, index);
  MlirValue both[] = {
      gqBuildCompare(some, GQ_CMPI_SLE, buildOffset(some, groups, zero), row),
      gqBuildCompare(some, GQ_CMPI_SLT, row, end)};
  gqBuildTerminator(some, "scf.yield",
                    gqBuildValue(some, "arith.andi", 2, both, i1));
  gqBuildTerminator(&branches[1], "scf.yield",
                    gqBuildConstant(&branches[1], i1, 0));
  return isGrouped;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

/// arith.select of floats, as integers: CPUs have no bf16 to select.
static MlirValue buildSelect(const gqBuilder *builder, MlirValue condition,
                             MlirValue value, MlirValue otherwise) {
  MlirType type = mlirValueGetType(value);
  MlirType bits =
      mlirIntegerTypeGet(builder->context, mlirTypeIsAF32(type) ? 32 : 16);
  MlirValue choices[] = {
      condition, gqBuildValue(builder, "arith.bitcast", 1, &value, bits),
      gqBuildValue(builder, "arith.bitcast", 1, &otherwise, bits)};
  MlirValue chosen = gqBuildValue(builder, "arith.select", 3, choices, bits);
  return gqBuildValue(builder, "arith.bitcast", 1, &chosen, type);
}

/// Moves the epilogue's block into a region for linalg.map that leaves rows of
/// no group as they are; all rows are of one without `groups`.
static MlirRegion takeBody(const gqBuilder *builder, MlirRegion epilogue,
                           const Groups *groups, MlirType element) {
  MlirRegion body = mlirRegionCreate();
  mlirRegionTakeBody(body, epilogue);
  MlirBlock block = mlirRegionGetFirstBlock(body);
  MlirValue before = mlirBlockAddArgument(block, element, builder->location);
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirValue value = mlirOperationGetOperand(yield, 0);
  gqBuilder inside = gqBuilderBefore(yield);
  gqBuildTerminator(
      &inside, "linalg.yield",
      groups
          ? buildSelect(&inside, buildIsGrouped(&inside, groups), value, before)
          : value);
  mlirOperationDestroy(yield);
  return body;
}

/// linalg.map, which writes `out` even where it does not read it:
/// gq-fresh-inits gives a linalg.generic another one.
static MlirValue buildMap(const gqBuilder *builder, intptr_t numInputs,
                          const MlirValue *inputs, MlirValue out,
                          MlirRegion body) {
  MlirType type = mlirValueGetType(out);
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("linalg.map"), builder->location);
  mlirOperationStateAddOperands(&state, numInputs, inputs);
  mlirOperationStateAddOperands(&state, 1, &out);
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddOwnedRegions(&state, 1, &body);
  MlirOperation map = mlirOperationCreate(&state);
  gqInsert(builder, map);
  return mlirOperationGetResult(map, 0);
}

/// An op with an epilogue.
typedef struct Op {
  MlirOperation op;
  MlirValue offsets, scaleOffsets, out;
  gqPairs pairs;
} Op;

static Op opOf(MlirOperation operation) {
  Op op = {.op = operation, .pairs = GQ_PAIRS_NONE};
  if (gqOperationIsAGroupedMm(operation)) {
    gqGroupedMm desc = gqGroupedMmGet(operation);
    op.offsets = desc.offsets;
    op.scaleOffsets = desc.scaleOffsets;
    op.out = desc.out;
    op.pairs = gqGroupedMmGetPairs(operation);
  } else if (gqOperationIsAGroupedDequantize(operation)) {
    gqGroupedDequantize desc = gqGroupedDequantizeGet(operation);
    op.offsets = desc.offsets;
    op.scaleOffsets = desc.scaleOffsets;
    op.out = desc.out;
  } else {
    op.out = gqBlockDequantizeGet(operation).out;
  }
  return op;
}

static void expand(MlirOperation operation) {
  const Op op = opOf(operation);
  gqBuilder builder = gqBuilderBefore(operation);
  MlirRegion epilogue = gqEpilogueOf(operation);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(op.out));
  MlirValue empty = buildProducts(&builder, op.out, op.pairs,
                                  mlirValueGetType(mlirBlockGetArgument(
                                      mlirRegionGetFirstBlock(epilogue), 0)));
  const gqOpExtras extras = {
      .numAttributes = 1, .attributes = {{.name = "pairs"}}, .like = operation};
  MlirOperation product =
      gqOpCreateWithOut(operation, builder.location, empty, &extras);
  gqInsert(&builder, product);
  MlirValue inputs[] = {mlirOperationGetResult(product, 0), {NULL}};
  intptr_t numInputs = op.pairs == GQ_PAIRS_NONE ? 1 : 2;
  if (numInputs == 2) {
    MlirValue products = inputs[0];
    for (int64_t i = 0; i < 2; ++i)
      inputs[i] = buildColumns(&builder, products, op.out, op.pairs, i);
  }
  Groups groups;
  bool grouped = !mlirValueIsNull(op.offsets);
  if (grouped)
    groups = buildGroups(&builder, op.offsets, op.scaleOffsets, op.out);
  MlirValue result =
      buildMap(&builder, numInputs, inputs, op.out,
               takeBody(&builder, epilogue, grouped ? &groups : NULL, element));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0), result);
  mlirOperationDestroy(operation);
}

static bool hasEpilogue(MlirOperation op) {
  return gqTakesEpilogues(op) && mlirOperationGetNumRegions(op) &&
         mlirOperationGetNumResults(op);
}

void gqExpandEpilogues(MlirOperation root, bool kernels) {
  gqOpList ops = gqCollect(root, hasEpilogue);
  for (intptr_t i = 0; i < ops.size; ++i)
    if (!kernels || gqCheckKernelEpilogue(ops.ops[i]))
      expand(ops.ops[i]);
  gqOpListFree(&ops);
}
