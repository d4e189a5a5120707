//===- Query.h - what passes ask of operations --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_QUERY_H
#define GQ_LIB_LOWERING_QUERY_H

#include "../IR/OpInfo.h"
#include "Lists.h"

#include "mlir-c/AffineMap.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Collects the operations below a root, in pre-order, for which `matches` is
/// true; all if it is null. A list, because the passes change what they walk
/// over.
gqOpList gqCollect(MlirOperation root, bool (*matches)(MlirOperation));

/// The operation that produces `value`; null if it is a block argument.
MlirOperation gqDefiningOp(MlirValue value);

/// Whether there is exactly one use of `value`.
bool gqHasOneUse(MlirValue value);

/// Whether `value` is an argument of `block` or defined by an operation in it.
bool gqIsDefinedIn(MlirValue value, MlirBlock block);

/// Whether every use of `value` comes after `op`, which is in the block that
/// defines `value`. Uses in other blocks that `value` dominates come after.
bool gqIsUsedOnlyAfter(MlirValue value, MlirOperation op);

/// Whether an op before `op` uses `value`, which is defined in its block: one
/// of that block, or one inside of such an op.
bool gqIsUsedBefore(MlirValue value, MlirOperation op);

/// Whether `value`, which is visible at some operation of the block of `op`, is
/// visible at `op` too.
bool gqIsAvailableAt(MlirValue value, MlirOperation op);

/// Destroys an operation without effects, unless something uses a result.
void gqDestroyIfUnused(MlirOperation op);

/// Whether `check` is true of the type of a result of `op` or of an argument of
/// its blocks.
bool gqMakesType(MlirOperation op, bool (*check)(MlirType));

/// The indexing map of an operand of a linalg.generic.
MlirAffineMap gqIndexingMap(MlirOperation generic, intptr_t operand);

/// Whether `op` is a gq op that computes, not a terminator.
bool gqIsComputeOp(MlirOperation op);

/// Checks what both lowerings of gq ops require: memrefs, and packed data.
/// Emits an error and returns false otherwise.
bool gqCheckLowerable(MlirOperation op);

/// Whether a string is one of `strings`, which a null pointer ends.
bool gqIsStringOneOf(MlirStringRef string, const char *const *strings);

/// Whether `op` is called `name`, such as "func.return".
bool gqIsNamed(MlirOperation op, const char *name);

/// Whether `op` is called one of `names`, which a null pointer ends.
bool gqIsOneOf(MlirOperation op, const char *const *names);

/// Whether the name of `op` starts with `prefix`, such as "linalg.".
bool gqIsOfDialect(MlirOperation op, const char *prefix);

/// Whether `op` runs on the host if parallel loops run on a device: it is not
/// in an scf.parallel, linalg op or gpu.module.
bool gqIsOnHost(MlirOperation op);

/// Whether `op` is a memref.copy between memrefs without gaps, as far as their
/// types tell: one copy of consecutive bytes.
bool gqIsPlainCopy(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_QUERY_H
