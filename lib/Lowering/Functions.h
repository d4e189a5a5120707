//===- Functions.h - the functions of a module --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_FUNCTIONS_H
#define GQ_LIB_LOWERING_FUNCTIONS_H

#include "Lists.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// The types that a function takes and returns. Freed with gqSignatureFree.
typedef struct gqSignature {
  /// The inputs, and after them the results.
  MlirType *types;
  intptr_t numInputs, numResults;
} gqSignature;

/// That of `op`, its attribute function_type; empty if it has none.
gqSignature gqSignatureOf(MlirOperation op);
void gqSetSignature(MlirOperation op, const gqSignature *signature);
void gqSignatureFree(gqSignature *signature);

/// Whether code outside of the module can call `function`.
bool gqIsPublic(MlirOperation function);

/// Whether one of `calls` names `function`.
bool gqIsCalled(MlirOperation function, const gqOpList *calls);

/// Whether the op's effects on memory (Passes.cpp) are known, and none is on
/// what operand `operand` points to but reading it.
bool gqOnlyReads(MlirOperation op, intptr_t operand);

/// Whether two operations are equal, regions included, but for the values that
/// they take and their locations.
bool gqAreEquivalent(MlirOperation a, MlirOperation b);

/// Whether the function only reads what `buffer`, a memref in it, points to, as
/// far as can be told: through views, and calls of functions of `module`.
bool gqIsOnlyRead(MlirValue buffer, MlirOperation module);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_FUNCTIONS_H
