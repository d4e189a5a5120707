//===- Build.h - building operations ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few functions, so that a lowering reads like the IR it emits.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_BUILD_H
#define GQ_LIB_LOWERING_BUILD_H

#include "../IR/OpInfo.h"
#include "Lists.h"
#include "gq/Runtime/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A copy of `op`, in no block yet, whose results replace its own in the map.
MlirOperation gqCloneOp(MlirOperation op, gqValueMap *map);

/// Appends copies of the operations of `from` to `to`, except its terminator
/// and those whose result is already in the map.
void gqCloneBody(MlirBlock from, MlirBlock to, gqValueMap *map);

/// Where new operations go: before `before`, at its location.
typedef struct gqBuilder {
  MlirContext context;
  MlirLocation location;
  MlirBlock block;
  MlirOperation before;
} gqBuilder;

gqBuilder gqBuilderBefore(MlirOperation op);

/// Inserts an operation that was created elsewhere.
void gqInsert(const gqBuilder *builder, MlirOperation op);

/// Creates and inserts `name` with the given operands, results and attributes.
MlirOperation gqBuild(const gqBuilder *builder, const char *name,
                      intptr_t numOperands, const MlirValue *operands,
                      intptr_t numResults, const MlirType *results,
                      intptr_t numAttributes,
                      const MlirNamedAttribute *attributes);

/// gqBuild for an operation with one result.
MlirValue gqBuildValue(const gqBuilder *builder, const char *name,
                       intptr_t numOperands, const MlirValue *operands,
                       MlirType result);

/// arith.constant of an integer or index type.
MlirValue gqBuildConstant(const gqBuilder *builder, MlirType type,
                          int64_t value);

/// Predicates as arith numbers them.
typedef enum gqPredicate {
  GQ_CMPI_EQ = 0,
  GQ_CMPI_NE = 1,
  GQ_CMPI_SLT = 2,
  GQ_CMPI_SLE = 3,
  GQ_CMPI_ULT = 6,
  GQ_CMPI_UGT = 8
} gqPredicate;

/// arith.cmpi of two indices or integers of one type.
MlirValue gqBuildCompare(const gqBuilder *builder, gqPredicate predicate,
                         MlirValue a, MlirValue b);

/// llvm.inttoptr
MlirValue gqBuildPointer(const gqBuilder *builder, MlirValue address,
                         unsigned addressSpace);

/// func.call
MlirOperation gqBuildCall(const gqBuilder *builder, const char *function,
                          intptr_t numOperands, const MlirValue *operands,
                          intptr_t numResults, const MlirType *results);

/// Declares a private func.func of the runtime at the start of the module,
/// unless it is declared already. Emits an error and returns false if the
/// module has something else of that name.
bool gqDeclareFunction(MlirOperation module, const char *name, MlirType type);

/// scf.parallel from 0 to `count`; `body` is its region, which it takes: a
/// block with one argument.
void gqBuildParallelLoop(const gqBuilder *builder, MlirValue count,
                         MlirRegion body);

/// What is known about a memref where it is used; values are i64.
typedef struct gqBufferValues {
  gqElementType type;
  intptr_t rank;
  /// Of the first element, the memref's offset included, in bytes.
  MlirValue address;
  /// In elements.
  MlirValue sizes[GQ_OPERAND_RANK];
  MlirValue strides[GQ_OPERAND_RANK];
} gqBufferValues;

/// Reads the address, sizes and strides of an operand of a gq op.
gqBufferValues gqBuildBufferValues(const gqBuilder *builder, MlirValue buffer);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_BUILD_H
