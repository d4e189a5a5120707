//===- ConvertToRuntime.c - convert-gq-to-runtime ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op becomes a call f(table, attributes...), where the table holds a
// gqBuffer (gq/Runtime/Types.h) for each row of the op's operands in
// gq/Runtime/Ops.def.
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "../IR/GroupedBlockQuantize.h"
#include "Build.h"
#include "Functions.h"
#include "Passes.h"
#include "Query.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

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

static MlirType i64(const gqBuilder *builder) {
  return mlirIntegerTypeGet(builder->context, 64);
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
  gqBufferValues values = gqBuildBufferValues(builder, buffer);
  store(builder, table, row, FIELD_DATA, values.address);
  storeConstant(builder, table, row, FIELD_TYPE, values.type);
  storeConstant(builder, table, row, FIELD_RANK, values.rank);
  for (intptr_t i = 0; i < GQ_OPERAND_RANK; ++i) {
    if (i >= values.rank) {
      storeConstant(builder, table, row, FIELD_SIZES + i, 0);
      storeConstant(builder, table, row, FIELD_STRIDES + i, 0);
      continue;
    }
    store(builder, table, row, FIELD_SIZES + i, values.sizes[i]);
    store(builder, table, row, FIELD_STRIDES + i, values.strides[i]);
  }
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

/// What the function gets besides the table.
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

static bool convert(MlirOperation module, MlirOperation op) {
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
  MlirValue table =
      allocateTable(function, builder.location, info->numOperands);
  for (intptr_t i = 0; i < info->numOperands; ++i)
    storeBuffer(&builder, table, i, gqOperandAt(op, i));
  buildRuntimeCall(&builder, info->runtimeFunction, &attributes, table);
  mlirOperationDestroy(op);
  return true;
}

MlirLogicalResult gqConvertToRuntime(MlirOperation module) {
  gqOpList ops = gqCollect(module, gqIsComputeOp);
  bool valid = true;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= convert(module, ops.ops[i]);
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
