//===- Generic.c - any op as a call of Graph.op() -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Python.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void genericAppendOperand(const Program *program, MlirValue value,
                          gqText *text) {
  const char *name = pythonNameOf(program, value);
  MlirType type = mlirValueGetType(value);
  bool isNumber = elementIsNumber(value) && !mlirTypeIsAIndex(type);
  gqTextPrintf(text, isNumber ? "g.constant(%s, \"" : "%s", name);
  if (isNumber) {
    pythonAppendType(type, text);
    gqTextPrintf(text, "\")");
  }
}

static void appendOperands(const Program *program, MlirOperation op,
                           gqText *text) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    gqTextPrintf(text, i ? ", " : "");
    genericAppendOperand(program, mlirOperationGetOperand(op, i), text);
  }
}

/// Names results "v0, v1 = ", which are written before the call.
static void writeResults(Program *program, MlirOperation op) {
  intptr_t count = mlirOperationGetNumResults(op);
  gqTextPrintf(program->text, "%s", program->indent);
  for (intptr_t i = 0; i < count; ++i) {
    int name = pythonFresh(program);
    gqTextPrintf(program->text, i ? ", v%d" : "v%d", name);
    pythonName(program, mlirOperationGetResult(op, i), "v%d", name);
  }
  gqTextPrintf(program->text, count ? " = " : "");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static void appendType(MlirType type, gqText *text) {
  gqText printed = {0};
  pythonAppendType(type, &printed);
  pythonAppendLiteral(gqTextString(&printed), text);
  gqTextFree(&printed);
}

static void appendResultTypes(MlirOperation op, gqText *text) {
  intptr_t count = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < count; ++i) {
    gqTextPrintf(text, i ? ", " : ", results=[");
    appendType(mlirValueGetType(mlirOperationGetResult(op, i)), text);
  }
  gqTextPrintf(text, count ? "]" : "");
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Writes a function that records a region, and appends its name.
static bool writeRegion(Program *program, MlirOperation op, MlirRegion region,
                        gqText *names) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (mlirBlockIsNull(block)) {
    gqTextPrintf(names, "None");
    return true;
  }
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return pythonRefuse(op, "a region of several blocks");
  if (strlen(program->indent) > 100)
    return pythonRefuse(op, "regions in each other, more than 20");
  int function = pythonFresh(program);
  intptr_t count = mlirBlockGetNumArguments(block);
  gqText arguments = {0};
  gqTextPrintf(program->text, "\n");
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    int name = pythonFresh(program);
    gqTextPrintf(program->text, i ? ", " : "%s@gq.graph.region(",
                 program->indent);
    appendType(mlirValueGetType(argument), program->text);
    gqTextPrintf(&arguments, i ? ", b%d" : "b%d", name);
    pythonName(program, argument, "b%d", name);
  }
  gqTextPrintf(program->text,
               count ? ")\n%sdef r%d(%s):\n" : "%sdef r%d(%s):\n",
               program->indent, function, gqTextString(&arguments));
  gqTextFree(&arguments);
  program->indent -= 4;
  if (mlirOperationIsNull(mlirBlockGetFirstOperation(block)))
    gqTextPrintf(program->text, "%spass\n", program->indent);
  bool valid = functionWriteBlock(program, block);
  program->indent += 4;
  gqTextPrintf(program->text, "\n");
  gqTextPrintf(names, "r%d", function);
  return valid;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Graph.call() of a function that the module defines.
static bool writeCall(Program *program, MlirOperation op) {
  static const char *const said[] = {"callee", NULL};
  if (!pythonIsOp(op, "func.call") || !pythonHasDefaults(op, said))
    return false;
  MlirOperation callee = functionFind(
      op, mlirFlatSymbolRefAttrGetValue(pythonAttribute(op, "callee")));
  if (mlirOperationIsNull(callee))
    return false;
  gqText operands = {0};
  appendOperands(program, op, &operands);
  writeResults(program, op);
  gqTextPrintf(program->text, "g.call(");
  functionAppendName(callee, program->text);
  gqTextPrintf(program->text, operands.length ? "(), %s)\n" : "()%s)\n",
               gqTextString(&operands));
  gqTextFree(&operands);
  return true;
}

bool genericWrite(Program *program, MlirOperation op) {
  static const char *const none[] = {NULL};
  if (writeCall(program, op))
    return true;
  gqText regions = {0}, operands = {0};
  appendOperands(program, op, &operands);
  bool valid = true;
  intptr_t count = mlirOperationGetNumRegions(op);
  for (intptr_t i = 0; i < count && valid; ++i) {
    gqTextPrintf(&regions, i ? ", " : ", regions=[");
    valid = writeRegion(program, op, mlirOperationGetRegion(op, i), &regions);
  }
  gqTextPrintf(&regions, count ? "]" : "");
  writeResults(program, op);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  gqTextPrintf(program->text,
               operands.length ? "g.op(\"%.*s\", [%s]" : "g.op(\"%.*s\"%s",
               (int)name.length, name.data, gqTextString(&operands));
  pythonAppendAttributes(op, "attributes", none, program->text);
  appendResultTypes(op, program->text);
  gqTextPrintf(program->text, "%s)\n", gqTextString(&regions));
  gqTextFree(&regions);
  gqTextFree(&operands);
  return valid;
}
