//===- Source.c - what the pipeline takes for granted ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"
#include "Nesting.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Diagnostics.h>
#include <stdint.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static bool isBytecode(const char *mlir, size_t length) {
  static const char magic[] = {'M', 'L', '\xef', 'R'};
  return length >= sizeof(magic) && memcmp(mlir, magic, sizeof(magic)) == 0;
}

const char *gqSourceRefuse(const char *mlir, size_t length) {
  if (isBytecode(mlir, length))
    return "expected MLIR text, found bytecode";
  return gqNestingRefuse(mlir, length);
}

/// What the check below walks over, and whether it found nothing.
typedef struct Check {
  MlirOperation module;
  bool valid;
} Check;

static bool hasName(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                            mlirStringRefCreateFromCString(name));
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static MlirWalkResult checkOp(MlirOperation op, void *data) {
  Check *check = data;
  if (mlirOperationEqual(op, check->module))
    return MlirWalkResultAdvance;
  if (hasName(op, "builtin.module")) {
    check->valid = false;
    mlirEmitError(
        mlirOperationGetLocation(op),
        "a module in a module is not compiled; move its functions out");
    return MlirWalkResultInterrupt;
  }
  // Only what gq-finalize-boundary writes is to be believed.
  mlirOperationRemoveDiscardableAttributeByName(
      op, mlirStringRefCreateFromCString("gq.boundary"));
  return MlirWalkResultAdvance;
}

bool gqSourceCheck(MlirModule module) {
  MlirOperation op = mlirModuleGetOperation(module);
  Check check = {op, true};
  mlirOperationWalk(op, checkOp, &check, MlirWalkPreOrder);
  return check.valid;
}
