//===- ConvertToRuntime.c - convert-gq-to-runtime ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op becomes a call f(table, attributes...), where the table holds a
// gqBuffer (gq/Runtime/Types.h) for each row of the op's operands in
// gq/Runtime/Ops.def. What types tell of a table is a constant of the module;
// only addresses and dynamic extents and strides are stored where the op is.
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "../IR/ElementType.h"
#include "../IR/GroupedBlockQuantize.h"
#include "Build.h"
#include "Functions.h"
#include "Lists.h"
#include "Passes.h"
#include "Query.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

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

/// What the types of an op's operands say of its table; GQ_DYNAMIC is what only
/// the op's place in the program knows. Ops of equal contents share a constant,
/// and in one function a copy of it on the stack.
typedef struct Table {
  intptr_t numRows;
  int64_t fields[GQ_MAX_OPERANDS][NUM_FIELDS];
  /// The copy in the function that was lowered last.
  MlirOperation function;
  MlirValue copy;
} Table;

typedef struct Tables {
  MlirOperation module;
  Table *tables;
  intptr_t size, capacity;
} Tables;

/// A row of the table, all of it zeros if `buffer` is absent.
static void fillRow(int64_t *row, MlirValue buffer) {
  memset(row, 0, NUM_FIELDS * sizeof(*row));
  if (mlirValueIsNull(buffer))
    return;
  MlirType type = mlirValueGetType(buffer);
  gqElementType element;
  int64_t strides[GQ_OPERAND_RANK], offset;
  bool valid = gqElementTypeOf(mlirShapedTypeGetElementType(type), &element) &&
               mlirShapedTypeGetRank(type) <= GQ_OPERAND_RANK &&
               mlirLogicalResultIsSuccess(
                   mlirMemRefTypeGetStridesAndOffset(type, strides, &offset));
  assert(valid && "ODS and the verifier allow no other");
  (void)valid;
  row[FIELD_DATA] = GQ_DYNAMIC;
  row[FIELD_TYPE] = element;
  row[FIELD_RANK] = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < row[FIELD_RANK]; ++i) {
    row[FIELD_SIZES + i] = gqDim(buffer, i);
    row[FIELD_STRIDES + i] = mlirShapedTypeIsDynamicStrideOrOffset(strides[i])
                                 ? GQ_DYNAMIC
                                 : strides[i];
  }
}

static MlirType tableType(MlirContext context, intptr_t numRows) {
  int64_t shape[] = {numRows, NUM_FIELDS};
  return mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(context, 64), 2, shape,
                                     mlirAttributeGetNull());
}

/// Such as gq_operands_0.
static MlirAttribute tableName(MlirContext context, intptr_t number,
                               MlirAttribute (*get)(MlirContext,
                                                    MlirStringRef)) {
  char name[32];
  snprintf(name, sizeof(name), "gq_operands_%" PRIdPTR, number);
  return get(context, mlirStringRefCreateFromCString(name));
}

/// memref.global, at the start of the module.
static void buildConstant(MlirOperation module, const Table *table,
                          intptr_t number) {
  MlirContext context = mlirOperationGetContext(module);
  int64_t shape[] = {table->numRows, NUM_FIELDS};
  MlirType contents = mlirRankedTensorTypeGet(
      2, shape, mlirIntegerTypeGet(context, 64), mlirAttributeGetNull());
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "sym_name",
                  tableName(context, number, mlirStringAttrGet)),
      gqAttribute(context, "sym_visibility",
                  mlirStringAttrGet(context,
                                    mlirStringRefCreateFromCString("private"))),
      gqAttribute(context, "type",
                  mlirTypeAttrGet(tableType(context, table->numRows))),
      gqAttribute(context, "constant", mlirUnitAttrGet(context)),
      gqAttribute(context, "initial_value",
                  mlirDenseElementsAttrInt64Get(contents,
                                                table->numRows * NUM_FIELDS,
                                                &table->fields[0][0])),
  };
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString("memref.global"),
                            mlirOperationGetLocation(module));
  mlirOperationStateAddAttributes(
      &state, sizeof(attributes) / sizeof(*attributes), attributes);
  mlirBlockInsertOwnedOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)), 0,
      mlirOperationCreate(&state));
}

/// The table of an op, which is made if no op before had it.
static Table *tableOf(Tables *tables, MlirOperation op) {
  Table table = {.numRows = gqOpInfoOf(op)->numOperands};
  for (intptr_t i = 0; i < table.numRows; ++i)
    fillRow(table.fields[i], gqOperandAt(op, i));
  for (intptr_t i = 0; i < tables->size; ++i)
    if (tables->tables[i].numRows == table.numRows &&
        memcmp(tables->tables[i].fields, table.fields, sizeof(table.fields)) ==
            0)
      return &tables->tables[i];
  tables->tables =
      gqGrow(tables->tables, tables->size, &tables->capacity, sizeof(Table));
  buildConstant(tables->module, &table, tables->size);
  tables->tables[tables->size] = table;
  return &tables->tables[tables->size++];
}

/// The copy of a table in `function`: made at its start, so that an op in a
/// loop does not take more of the stack in each iteration.
static MlirValue copyOf(Tables *tables, Table *table, MlirOperation function) {
  if (mlirOperationEqual(table->function, function))
    return table->copy;
  MlirBlock entry =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  gqBuilder builder = gqBuilderBefore(mlirBlockGetFirstOperation(entry));
  builder.location = mlirOperationGetLocation(function);
  MlirType type = tableType(builder.context, table->numRows);
  int32_t segments[] = {0, 0};
  MlirNamedAttribute sizes =
      gqAttribute(builder.context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(builder.context, 2, segments));
  MlirNamedAttribute name =
      gqAttribute(builder.context, "name",
                  tableName(builder.context, table - tables->tables,
                            mlirFlatSymbolRefAttrGet));
  MlirValue both[] = {
      mlirOperationGetResult(
          gqBuild(&builder, "memref.get_global", 0, NULL, 1, &type, 1, &name),
          0),
      mlirOperationGetResult(
          gqBuild(&builder, "memref.alloca", 0, NULL, 1, &type, 1, &sizes), 0)};
  gqBuild(&builder, "memref.copy", 2, both, 0, NULL, 0, NULL);
  table->function = function;
  table->copy = both[1];
  return both[1];
}

/// memref.store of an i64 to table[row, field].
static void store(const gqBuilder *builder, MlirValue table, intptr_t row,
                  intptr_t field, MlirValue value) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue operands[] = {value, table, gqBuildConstant(builder, index, row),
                          gqBuildConstant(builder, index, field)};
  gqBuild(builder, "memref.store", 4, operands, 0, NULL, 0, NULL);
}

/// Stores what the constant lacks of an operand.
static void storeBuffer(const gqBuilder *builder, const Table *table,
                        intptr_t row, MlirValue buffer) {
  if (mlirValueIsNull(buffer))
    return;
  const int64_t *fields = table->fields[row];
  gqBufferValues values = gqBuildBufferValues(builder, buffer);
  store(builder, table->copy, row, FIELD_DATA, values.address);
  for (intptr_t i = 0; i < values.rank; ++i) {
    if (fields[FIELD_SIZES + i] == GQ_DYNAMIC)
      store(builder, table->copy, row, FIELD_SIZES + i, values.sizes[i]);
    if (fields[FIELD_STRIDES + i] == GQ_DYNAMIC)
      store(builder, table->copy, row, FIELD_STRIDES + i, values.strides[i]);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The most attributes that a function of the runtime takes.
enum { MAX_ATTRIBUTES = 8 };

/// (index, i32...) -> ()
static MlirType callType(MlirContext context, intptr_t numAttributes) {
  MlirType inputs[1 + MAX_ATTRIBUTES] = {mlirIndexTypeGet(context)};
  assert(numAttributes <= MAX_ATTRIBUTES);
  for (intptr_t i = 0; i < numAttributes; ++i)
    inputs[1 + i] = mlirIntegerTypeGet(context, 32);
  return mlirFunctionTypeGet(context, 1 + numAttributes, inputs, 0, NULL);
}

/// What is passed to the function besides the table.
typedef struct Attributes {
  intptr_t size;
  int32_t values[MAX_ATTRIBUTES];
} Attributes;

/// The enumerations of an op, then its directions.
static Attributes attributesOf(MlirOperation op) {
  Attributes attributes = {.size = gqOpInfoOf(op)->numAttributes};
  for (intptr_t i = 0; i < attributes.size; ++i)
    attributes.values[i] = gqEnumAttribute(op, i);
  if (gqOperationIsAGroupedBlockQuantize(op)) {
    gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
    const gqDirectionTraits directions[] = {
        gqDirectionGetTraits(&desc.rowwise),
        gqDirectionGetTraits(&desc.columnwise)};
    for (int i = 0; i < 2; ++i)
      attributes.values[attributes.size++] = gqDirectionPack(&directions[i]);
  }
  if (gqOperationIsAGroupedAmax(op)) {
    gqGroupedAmax desc = gqGroupedAmaxGet(op);
    gqDirectionTraits columnwise = gqDirectionGetTraits(&desc.columnwise);
    attributes.values[attributes.size++] = gqDirectionPack(&columnwise);
  }
  return attributes;
}

/// The table's address, then the attributes.
static void buildRuntimeCall(const gqBuilder *builder, const char *function,
                             const Attributes *attributes, MlirValue table) {
  MlirValue arguments[1 + MAX_ATTRIBUTES] = {
      gqBuildValue(builder, "memref.extract_aligned_pointer_as_index", 1,
                   &table, mlirIndexTypeGet(builder->context))};
  for (intptr_t i = 0; i < attributes->size; ++i)
    arguments[1 + i] =
        gqBuildConstant(builder, mlirIntegerTypeGet(builder->context, 32),
                        attributes->values[i]);
  gqBuildCall(builder, function, 1 + attributes->size, arguments, 0, NULL);
}

static bool convert(Tables *tables, MlirOperation op) {
  MlirOperation module = tables->module;
  if (!gqCheckLowerable(op))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(
            mlirValueGetType(mlirOperationGetOperand(op, i)))))
      return gqOpError(op, "needs memrefs in the default memory space, which "
                           "is the CPU's, to be lowered to the runtime");
  if (gqReadsGroups(op) && mlirOperationGetNumRegions(op))
    return gqOpError(op, "needs its producer as an op of its own to be lowered "
                         "to the runtime; run gq-expand-producers before "
                         "bufferization");
  if (mlirOperationGetNumRegions(op))
    return gqOpError(op, "needs its epilogue as an op of its own to be lowered "
                         "to the runtime; run gq-expand-epilogues before "
                         "bufferization");
  MlirOperation function = gqEnclosingFunction(op, module);
  if (mlirOperationIsNull(function))
    return gqOpError(op, "needs to be in a func.func of the module itself to "
                         "be lowered to the runtime");
  const gqOpInfo *info = gqOpInfoOf(op);
  const Attributes attributes = attributesOf(op);
  if (!gqDeclareFunction(
          module, info->runtimeFunction,
          callType(mlirOperationGetContext(op), attributes.size)))
    return false;

  gqBuilder builder = gqBuilderBefore(op);
  Table *table = tableOf(tables, op);
  MlirValue copy = copyOf(tables, table, function);
  for (intptr_t i = 0; i < info->numOperands; ++i)
    storeBuffer(&builder, table, i, gqOperandAt(op, i));
  buildRuntimeCall(&builder, info->runtimeFunction, &attributes, copy);
  mlirOperationDestroy(op);
  return true;
}

MlirLogicalResult gqConvertToRuntime(MlirOperation module) {
  gqOpList ops = gqCollect(module, gqIsComputeOp);
  Tables tables = {.module = module};
  bool valid = true;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= convert(&tables, ops.ops[i]);
  free(tables.tables);
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
