//===- ConvertToRuntime.c - convert-gq-to-runtime ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op becomes a call f(table, format, scale_layout...), where the table
// holds a gqBuffer (gq/Runtime/Types.h) for each operand of the op.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"

#include <assert.h>
#include <stddef.h>

/// A gqBuffer as the table holds it: one i64 a field.
enum {
  FIELD_DATA,
  FIELD_TYPE,
  FIELD_RANK,
  FIELD_SIZES,
  FIELD_STRIDES = FIELD_SIZES + GQ_OPERAND_RANK,
  NUM_FIELDS = FIELD_STRIDES + GQ_OPERAND_RANK
};
static_assert(sizeof(gqBuffer) == NUM_FIELDS * sizeof(int64_t), "");
static_assert(offsetof(gqBuffer, sizes) == FIELD_SIZES * sizeof(int64_t), "");
static_assert(offsetof(gqBuffer, strides) == FIELD_STRIDES * sizeof(int64_t),
              "");

/// What is passed to a function of gq/Runtime/Cpu.h.
enum { MAX_OPERANDS = 8, MAX_ATTRIBUTES = 3 };
typedef struct RuntimeCall {
  const char *function;
  intptr_t numOperands;
  /// In the order of the function's operand struct; null where absent.
  MlirValue operands[MAX_OPERANDS];
  intptr_t numAttributes;
  int32_t attributes[MAX_ATTRIBUTES];
} RuntimeCall;

static RuntimeCall describe(MlirOperation op) {
  if (gqOperationIsABlockQuantize(op)) {
    gqBlockQuantize d = gqBlockQuantizeGet(op);
    return (RuntimeCall){"gqCpuBlockQuantize",
                         4,
                         {d.input, d.globalScale, d.data, d.scales},
                         2,
                         {d.format, d.scaleLayout}};
  }
  if (gqOperationIsAPreprocessGroupedMatmulSf(op)) {
    gqPreprocessGroupedMatmulSf d = gqPreprocessGroupedMatmulSfGet(op);
    return (RuntimeCall){"gqCpuPreprocessGroupedMatmulSf",
                         4,
                         {d.input, d.offsets, d.scaleOffsets, d.scales},
                         2,
                         {d.format, d.scaleLayout}};
  }
  if (gqOperationIsAGroupedBlockQuantize(op)) {
    gqGroupedBlockQuantize d = gqGroupedBlockQuantizeGet(op);
    return (RuntimeCall){"gqCpuGroupedBlockQuantize",
                         6,
                         {d.inputs[0], d.offsets, d.scaleOffsets, d.globalScale,
                          d.data, d.scales},
                         3,
                         {d.format, d.scaleLayout, d.rows}};
  }
  assert(gqOperationIsAGroupedMm(op));
  gqGroupedMm d = gqGroupedMmGet(op);
  return (RuntimeCall){"gqCpuGroupedMm",
                       8,
                       {d.a, d.b, d.aScales, d.bScales, d.offsets,
                        d.scaleOffsets, d.alpha, d.out},
                       2,
                       {d.format, d.scaleLayout}};
}

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

static MlirType i64(const gqBuilder *builder) {
  return mlirIntegerTypeGet(builder->context, 64);
}

/// arith.index_cast to i64.
static MlirValue toI64(const gqBuilder *builder, MlirValue index) {
  return gqBuildValue(builder, "arith.index_cast", 1, &index, i64(builder));
}

/// memref.store of an i64 to table[row, field].
static void store(const gqBuilder *builder, MlirValue table, intptr_t row,
                  intptr_t field, MlirValue value) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue operands[] = {value, table, gqBuildConstant(builder, index, row),
                          gqBuildConstant(builder, index, field)};
  gqBuild(builder, "memref.store", 4, operands, 0, NULL, 0, NULL);
}

static void storeConstant(const gqBuilder *builder, MlirValue table,
                          intptr_t row, intptr_t field, int64_t value) {
  store(builder, table, row, field,
        gqBuildConstant(builder, i64(builder), value));
}

/// Fills row `row` of the table with the address, type, rank, sizes and strides
/// of `buffer`.
static void storeBuffer(const gqBuilder *builder, MlirValue table, intptr_t row,
                        MlirValue buffer) {
  if (mlirValueIsNull(buffer)) {
    for (intptr_t field = 0; field < NUM_FIELDS; ++field)
      storeConstant(builder, table, row, field, 0);
    return;
  }
  MlirType type = mlirValueGetType(buffer);
  MlirType element = mlirShapedTypeGetElementType(type);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirType index = mlirIndexTypeGet(builder->context);

  // memref.extract_strided_metadata: base buffer, offset, sizes, strides.
  MlirType results[2 + 2 * GQ_OPERAND_RANK];
  results[0] = mlirMemRefTypeGet(element, 0, NULL, (MlirAttribute){NULL},
                                 mlirMemRefTypeGetMemorySpace(type));
  for (intptr_t i = 1; i < 2 + 2 * rank; ++i)
    results[i] = index;
  MlirOperation metadata = gqBuild(builder, "memref.extract_strided_metadata",
                                   1, &buffer, 2 + 2 * rank, results, 0, NULL);

  // The aligned pointer leaves the offset out.
  gqElementType gqType = elementType(element);
  MlirValue scaled[] = {
      mlirOperationGetResult(metadata, 1),
      gqBuildConstant(builder, index, gqElementTypeSize(gqType))};
  MlirValue sum[] = {gqBuildValue(builder,
                                  "memref.extract_aligned_pointer_as_index", 1,
                                  &buffer, index),
                     gqBuildValue(builder, "arith.muli", 2, scaled, index)};
  MlirValue address = gqBuildValue(builder, "arith.addi", 2, sum, index);

  store(builder, table, row, FIELD_DATA, toI64(builder, address));
  storeConstant(builder, table, row, FIELD_TYPE, gqType);
  storeConstant(builder, table, row, FIELD_RANK, rank);
  for (intptr_t i = 0; i < GQ_OPERAND_RANK; ++i) {
    if (i >= rank) {
      storeConstant(builder, table, row, FIELD_SIZES + i, 0);
      storeConstant(builder, table, row, FIELD_STRIDES + i, 0);
      continue;
    }
    store(builder, table, row, FIELD_SIZES + i,
          toI64(builder, mlirOperationGetResult(metadata, 2 + i)));
    store(builder, table, row, FIELD_STRIDES + i,
          toI64(builder, mlirOperationGetResult(metadata, 2 + rank + i)));
  }
}

/// The function that contains `op`, or null.
static MlirOperation enclosingFunction(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !gqIsNamed(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  return op;
}

/// memref.alloca at the start of `function`, so that an op in a loop does not
/// take more of the stack in each iteration.
static MlirValue allocateTable(MlirOperation function, MlirLocation location,
                               intptr_t rows) {
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  gqBuilder builder = gqBuilderBefore(mlirBlockGetFirstOperation(entry));
  builder.location = location;
  int64_t shape[] = {rows, NUM_FIELDS};
  MlirType type = mlirMemRefTypeContiguousGet(i64(&builder), 2, shape,
                                              (MlirAttribute){NULL});
  int32_t segments[] = {0, 0};
  MlirNamedAttribute attribute =
      gqAttribute(builder.context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(builder.context, 2, segments));
  return mlirOperationGetResult(
      gqBuild(&builder, "memref.alloca", 0, NULL, 1, &type, 1, &attribute), 0);
}

/// Declares `name` as (index, i32...) at the start of the module, unless it is
/// there already.
static void declare(MlirOperation module, const char *name,
                    intptr_t numAttributes) {
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MlirOperation declared =
      mlirSymbolTableLookup(symbols, mlirStringRefCreateFromCString(name));
  mlirSymbolTableDestroy(symbols);
  if (!mlirOperationIsNull(declared))
    return;
  MlirContext context = mlirOperationGetContext(module);
  MlirType inputs[1 + MAX_ATTRIBUTES] = {mlirIndexTypeGet(context)};
  for (intptr_t i = 0; i < numAttributes; ++i)
    inputs[1 + i] = mlirIntegerTypeGet(context, 32);
  MlirNamedAttribute attributes[] = {
      gqAttribute(
          context, "sym_name",
          mlirStringAttrGet(context, mlirStringRefCreateFromCString(name))),
      gqAttribute(context, "sym_visibility",
                  mlirStringAttrGet(context,
                                    mlirStringRefCreateFromCString("private"))),
      gqAttribute(context, "function_type",
                  mlirTypeAttrGet(mlirFunctionTypeGet(
                      context, 1 + numAttributes, inputs, 0, NULL))),
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
}

static bool emitError(MlirOperation op, const char *message) {
  mlirEmitError(mlirOperationGetLocation(op), message);
  return false;
}

static bool convert(MlirOperation module, MlirOperation op) {
  RuntimeCall call = describe(op);
  for (intptr_t i = 0; i < call.numOperands; ++i) {
    if (mlirValueIsNull(call.operands[i]))
      continue;
    MlirType type = mlirValueGetType(call.operands[i]);
    if (!mlirTypeIsAMemRef(type))
      return emitError(op, "convert-gq-to-runtime needs memrefs; run "
                           "one-shot-bufferize before it");
    if (mlirTypeIsAFloat4E2M1FN(mlirShapedTypeGetElementType(type)))
      return emitError(op, "convert-gq-to-runtime needs packed data; run "
                           "gq-pack-subbyte before bufferization");
  }
  if (gqOperationIsAGroupedBlockQuantize(op) && mlirOperationGetNumRegions(op))
    return emitError(op, "convert-gq-to-runtime needs the producer as an op of "
                         "its own; run gq-expand-producers before "
                         "bufferization");
  MlirOperation function = enclosingFunction(op);
  if (mlirOperationIsNull(function))
    return emitError(op, "convert-gq-to-runtime needs the op in a func.func");

  gqBuilder builder = gqBuilderBefore(op);
  MlirValue table = allocateTable(function, builder.location, call.numOperands);
  for (intptr_t i = 0; i < call.numOperands; ++i)
    storeBuffer(&builder, table, i, call.operands[i]);

  MlirValue arguments[1 + MAX_ATTRIBUTES] = {
      gqBuildValue(&builder, "memref.extract_aligned_pointer_as_index", 1,
                   &table, mlirIndexTypeGet(builder.context))};
  for (intptr_t i = 0; i < call.numAttributes; ++i)
    arguments[1 + i] = gqBuildConstant(
        &builder, mlirIntegerTypeGet(builder.context, 32), call.attributes[i]);
  MlirNamedAttribute callee = gqAttribute(
      builder.context, "callee",
      mlirFlatSymbolRefAttrGet(builder.context,
                               mlirStringRefCreateFromCString(call.function)));
  gqBuild(&builder, "func.call", 1 + call.numAttributes, arguments, 0, NULL, 1,
          &callee);
  declare(module, call.function, call.numAttributes);
  mlirOperationDestroy(op);
  return true;
}

static bool isGqOp(MlirOperation op) {
  return gqOperationIsABlockQuantize(op) ||
         gqOperationIsAPreprocessGroupedMatmulSf(op) ||
         gqOperationIsAGroupedBlockQuantize(op) || gqOperationIsAGroupedMm(op);
}

MlirLogicalResult gqConvertToRuntime(MlirOperation module) {
  gqOpList ops = gqCollect(module, isGqOp);
  bool valid = true;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= convert(module, ops.ops[i]);
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
