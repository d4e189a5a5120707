//===- Lowering.h - bodies of the gq passes ----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One C function a pass, called by Passes.cpp, and what they share.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_LOWERING_H
#define GQ_LIB_LOWERING_LOWERING_H

#include "gq/Runtime/Types.h"

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

void gqFuseScaleLayout(MlirOperation root);
void gqFuseProducers(MlirOperation root);
void gqExpandProducers(MlirOperation root);
MlirLogicalResult gqPackSubbyte(MlirOperation module);
MlirLogicalResult gqFinalizeBoundary(MlirOperation module);
MlirLogicalResult gqConvertToRuntime(MlirOperation module);

/// The text of the pipeline from tensors to the LLVM dialect. A string with
/// static lifetime.
const char *gqCpuPipeline(bool fuse);

/// Reports that `pass` left something as it was (Passes.cpp).
void gqRemarkMissed(MlirLocation location, const char *pass,
                    const char *message);

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

/// The operations below a root, in pre-order. Freed with gqOpListFree.
typedef struct gqOpList {
  MlirOperation *ops;
  intptr_t size;
} gqOpList;

/// Collects the operations for which `matches` is true; all if it is null. A
/// list, because the passes change what they walk over.
gqOpList gqCollect(MlirOperation root, bool (*matches)(MlirOperation));
void gqOpListFree(gqOpList *list);

/// The operation that produces `value`; null if it is a block argument.
MlirOperation gqDefiningOp(MlirValue value);

/// Whether there is exactly one use of `value`.
bool gqHasOneUse(MlirValue value);

/// Whether `op` is called `name`, such as "func.return".
bool gqIsNamed(MlirOperation op, const char *name);

/// A growing list of types.
typedef struct gqTypeList {
  MlirType *types;
  intptr_t size, capacity;
} gqTypeList;

void gqTypeListAdd(gqTypeList *list, MlirType type);
void gqTypeListFree(gqTypeList *list);

//===----------------------------------------------------------------------===//
// Building: a few functions, so that a lowering reads like the IR it emits
//===----------------------------------------------------------------------===//

/// A map from the values of a body to those of its copy. Values that it does
/// not hold are not part of the body and stay as they are.
typedef struct gqValueMap {
  MlirValue *from, *to;
  intptr_t size, fromCapacity, toCapacity;
} gqValueMap;

void gqValueMapAdd(gqValueMap *map, MlirValue from, MlirValue to);
MlirValue gqValueMapGet(const gqValueMap *map, MlirValue value);
void gqValueMapFree(gqValueMap *map);

/// Appends copies of the operations of `from`, but its terminator, to `to`.
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

MlirNamedAttribute gqAttribute(MlirContext context, const char *name,
                               MlirAttribute attribute);
MlirAttribute gqGetAttribute(MlirOperation op, const char *name);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_LOWERING_H
