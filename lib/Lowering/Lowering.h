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

#include "../IR/GroupedBlockQuantize.h"
#include "../IR/Ops.h"
#include "gq/Runtime/Types.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/IR.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

void gqFuseScaleLayout(MlirOperation root);
void gqFuseDirections(MlirOperation root);
void gqFuseRowGathers(MlirOperation root);
void gqFuseProducers(MlirOperation root);
void gqExpandProducers(MlirOperation root);
MlirLogicalResult gqProtectArguments(MlirOperation module);
void gqFreshInits(MlirOperation root);
void gqStrictFloats(MlirOperation root);
MlirLogicalResult gqPackSubbyte(MlirOperation module);
MlirLogicalResult gqFinalizeBoundary(MlirOperation module);
void gqLowerDeallocations(MlirOperation root);
MlirLogicalResult gqConvertToRuntime(MlirOperation module);
MlirLogicalResult gqConvertToGpu(MlirOperation module);
void gqPrepareKernels(MlirOperation root);
void gqCollapseLoops(MlirOperation root);
MlirLogicalResult gqDeviceMemory(MlirOperation module);
MlirLogicalResult gqAttachTarget(MlirOperation module, const char *chip,
                                 int32_t opt);

/// The text of the pipeline from tensors to the LLVM dialect. Owned by the
/// caller. No text of a user's is ever part of a pipeline's: it would have to
/// be quoted, and not everything can be.
char *gqCpuPipeline(bool fuse);

/// The same with kernels for an NVIDIA GPU: what comes before gq-attach-target,
/// and what comes between that and gpu-module-to-binary, which end it.
char *gqNvvmPipeline(bool fuse);
char *gqNvvmPipelineToLlvm(void);

/// Says why kernels cannot be made with an image format, "fatbin", "bin" or
/// "isa", and an optimization level, 0 to 3; null if they can.
const char *gqNvvmOptionsCheck(const char *format, int32_t opt);

/// Whether the op's effects on memory (Passes.cpp) are known, and none is on
/// what operand `operand` points to but reading it.
bool gqOnlyReads(MlirOperation op, intptr_t operand);

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

/// Whether `value` is an argument of `block` or defined by an operation in it.
bool gqIsDefinedIn(MlirValue value, MlirBlock block);

/// Whether every use of `value` comes after `op`, which is in the block that
/// defines `value`. Uses in other blocks that `value` dominates come after.
bool gqIsUsedOnlyAfter(MlirValue value, MlirOperation op);

/// Whether `value`, which is visible at some operation of the block of `op`, is
/// visible at `op` too.
bool gqIsAvailableAt(MlirValue value, MlirOperation op);

/// Destroys an operation with one result, unless something uses that.
void gqDestroyIfUnused(MlirOperation op);

/// The indexing map of an operand of a linalg.generic.
MlirAffineMap gqIndexingMap(MlirOperation generic, intptr_t operand);

/// Whether `op` is a gq op that computes, not a terminator.
bool gqIsComputeOp(MlirOperation op);

/// What both lowerings of gq ops ask for: memrefs, and packed data. Emits an
/// error and returns false otherwise.
bool gqCheckLowerable(MlirOperation op);

/// Whether `op` is called `name`, such as "func.return".
bool gqIsNamed(MlirOperation op, const char *name);

/// Whether the name of `op` starts with `prefix`, such as "linalg.".
bool gqIsOfDialect(MlirOperation op, const char *prefix);

/// Whether `op` runs on the host where parallel loops run on a device: it is in
/// no scf.parallel, linalg op or gpu.module.
bool gqIsOnHost(MlirOperation op);

/// Whether `op` is a memref.copy between memrefs without gaps, as far as their
/// types tell: one copy of consecutive bytes.
bool gqIsPlainCopy(MlirOperation op);

/// A growing list of types.
typedef struct gqTypeList {
  MlirType *types;
  intptr_t size, capacity;
} gqTypeList;

void gqTypeListAdd(gqTypeList *list, MlirType type);
void gqTypeListFree(gqTypeList *list);

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// gqCollect, without the operations in a module inside of `module`: those have
/// symbols of their own.
gqOpList gqCollectDirectly(MlirOperation module,
                           bool (*matches)(MlirOperation));

/// The func.func of `module` itself that `op` is in; null if there is none.
MlirOperation gqEnclosingFunction(MlirOperation op, MlirOperation module);

/// The func.func with a body of a builtin.module, and its func.call and
/// func.constant. Those of a module inside of it, such as a gpu.module, are not
/// its own.
gqOpList gqCollectFunctions(MlirOperation module);
gqOpList gqCollectCalls(MlirOperation module);

/// Whether code outside of the module can call `function`.
bool gqIsPublic(MlirOperation function);

/// Whether one of `calls` names `function`.
bool gqIsCalled(MlirOperation function, const gqOpList *calls);

/// Whether the function only reads what `buffer`, a memref in it, points to, as
/// far as can be told: through views, and calls of functions of `module`.
bool gqIsOnlyRead(MlirValue buffer, MlirOperation module);

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

/// Whether the body of a linalg.generic does not use the initial value of its
/// operand `operand`, which is one of its 'outs'.
bool gqIsInitUnread(MlirOperation generic, intptr_t operand);

/// Replaces a tensor operand by a tensor.empty of its extents.
void gqFreshenInit(MlirOperation op, intptr_t operand);

//===----------------------------------------------------------------------===//
// gq.grouped_block_quantize
//===----------------------------------------------------------------------===//

/// Whether a tensor of this type can be an input of an op with a producer.
bool gqIsProducerInput(MlirType type);

/// Replaces the results of `op` by those of `fused`, an op of the same kind,
/// that are written to the same operand.
void gqReplaceResults(MlirOperation op, MlirOperation fused);

/// Replaces `op` by one that `desc` describes, of the same outs and with the
/// other attributes of `op`, and returns that.
MlirOperation gqReplaceGroupedBlockQuantize(MlirOperation op,
                                            MlirLocation location,
                                            const gqGroupedBlockQuantize *desc);

//===----------------------------------------------------------------------===//
// Gathers of rows (FuseRowGather.c)
//===----------------------------------------------------------------------===//

/// Rows of `source`, [N, K], or elements of it, [N], by `indices`, [M] or
/// [M, 1].
typedef struct gqRowGather {
  MlirValue source, indices;
} gqRowGather;

/// Whether input `input` of a linalg.generic is one row index a row.
bool gqIsRowIndexInput(MlirOperation generic, intptr_t input);

/// Matches a tensor.extract in the body of `generic`, a linalg.generic over
/// (m, k) or (m), that reads the element of a gathered row. Returns why it is
/// none, or null.
const char *gqMatchRowExtract(MlirOperation generic, MlirOperation extract,
                              gqRowGather *gather);

/// The rows that an op gathers from: by `indices`, null if it does not, of
/// `count` or GQ_DYNAMIC rows.
typedef struct gqGatheredRows {
  MlirValue indices;
  int64_t count;
} gqGatheredRows;

gqGatheredRows gqGatheredRowsOf(const gqGroupedBlockQuantize *desc);

/// Adds a gather to those of an op. Returns why it cannot be, or null.
const char *gqJoinGather(gqGatheredRows *rows, const gqRowGather *gather);

/// (m, k)[r] -> (r, k) for rank 2, (r) for rank 1.
MlirAttribute gqGatherMap(MlirContext context, intptr_t rank);

/// Whether `op`, which may be null, does nothing but gather.
bool gqIsRowGather(MlirOperation op);

/// Lets the op read input `input`, which comes from such a gather, by row
/// index. Returns the new op; null, and a remark says why, if that cannot be.
MlirOperation gqFuseRowGather(MlirOperation op, intptr_t input);

//===----------------------------------------------------------------------===//
// Building: a few functions, so that a lowering reads like the IR it emits
//===----------------------------------------------------------------------===//

/// Opens a text that grows; `*text` is complete after fclose and is freed by
/// the caller.
FILE *gqOpenText(char **text, size_t *length);

/// A map from the values of a body to those of its copy. Values that it does
/// not hold are not part of the body and stay as they are.
typedef struct gqValueMap {
  MlirValue *from, *to;
  intptr_t size, fromCapacity, toCapacity;
} gqValueMap;

void gqValueMapAdd(gqValueMap *map, MlirValue from, MlirValue to);
bool gqValueMapHas(const gqValueMap *map, MlirValue value);
MlirValue gqValueMapGet(const gqValueMap *map, MlirValue value);
void gqValueMapFree(gqValueMap *map);

/// Appends copies of the operations of `from` to `to`, but its terminator and
/// those of which the map has the result already.
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

/// What is known of a memref where it is used; values are i64.
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

#endif // GQ_LIB_LOWERING_LOWERING_H
