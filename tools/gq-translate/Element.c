//===- Element.c - a region as a function of elements ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Python.h"

#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Whether a value is that of a constant.
static bool isConstant(MlirValue value) {
  return mlirValueIsAOpResult(value) &&
         pythonIsOp(mlirOpResultGetOwner(value), "arith.constant");
}

bool elementIsNumber(MlirValue value) {
  static const char *const known[] = {"value", NULL};
  if (!isConstant(value) ||
      !pythonHasDefaults(mlirOpResultGetOwner(value), known))
    return false;
  MlirType type = mlirValueGetType(value);
  MlirAttribute number = pythonAttribute(mlirOpResultGetOwner(value), "value");
  if (mlirTypeIsAIndex(type))
    return true;
  if (mlirTypeIsAInteger(type))
    return mlirIntegerTypeGetWidth(type) > 1 &&
           mlirIntegerTypeGetWidth(type) <= 64;
  return mlirAttributeIsAFloat(number) && pythonIsElement(type) &&
         !isnan(mlirFloatAttrGetValueDouble(number));
}

void elementNameNumber(Program *program, MlirValue value) {
  MlirAttribute number = pythonAttribute(mlirOpResultGetOwner(value), "value");
  if (!mlirAttributeIsAFloat(number)) {
    pythonName(program, value, "%lld",
               (long long)mlirIntegerAttrGetValueInt(number));
    return;
  }
  double found = mlirFloatAttrGetValueDouble(number);
  if (isinf(found))
    pythonName(program, value, "float(\"%sinf\")", found < 0 ? "-" : "");
  else
    // As many digits as a double takes; negative ones as operands too.
    pythonName(program, value, signbit(found) ? "(%.17g)" : "%.17g", found);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// An op and what it is in Python, where %1, %2 and %3 are its operands.
typedef struct Operation {
  const char *name, *python;
} Operation;

static const Operation operations[] = {
    {"arith.addf", "%1 + %2"},
    {"arith.subf", "%1 - %2"},
    {"arith.mulf", "%1 * %2"},
    {"arith.divf", "%1 / %2"},
    {"arith.negf", "-%1"},
    {"arith.maximumf", "gq.producers.maximum(%1, %2)"},
    {"arith.minimumf", "gq.producers.minimum(%1, %2)"},
    {"arith.select", "gq.producers.where(%1, %2, %3)"},
    {"arith.andi", "%1 & %2"},
    {"arith.ori", "%1 | %2"},
    {"arith.extf", "gq.producers.cast(%1, %T)"},
    {"arith.truncf", "gq.producers.cast(%1, %T)"},
    {"math.absf", "abs(%1)"},
    {"math.erf", "gq.producers.erf(%1)"},
    {"math.exp", "gq.producers.exp(%1)"},
    {"math.sqrt", "gq.producers.sqrt(%1)"},
    {"math.tanh", "gq.producers.tanh(%1)"},
};

/// By the number of the predicate of arith.cmpf.
static const char *const comparisons[16] = {
    [2] = "%1 > %2", [3] = "%1 >= %2", [4] = "%1 < %2", [5] = "%1 <= %2"};

/// The equivalent of an op, null if there is none.
static const char *equivalentOf(MlirOperation op) {
  if (pythonIsOp(op, "arith.cmpf")) {
    int64_t predicate =
        mlirIntegerAttrGetValueInt(pythonAttribute(op, "predicate"));
    return predicate >= 0 && predicate < 16 ? comparisons[predicate] : NULL;
  }
  for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); ++i)
    if (pythonIsOp(op, operations[i].name))
      return operations[i].python;
  return NULL;
}

/// Whether an op computes floats, or conditions of them, one of which decides
/// the type of constants.
static bool isComputable(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  bool isCondition = pythonIsOp(op, "arith.cmpf") ||
                     pythonIsOp(op, "arith.andi") ||
                     pythonIsOp(op, "arith.ori");
  if (isCondition
          ? !mlirTypeIsAInteger(type) || mlirIntegerTypeGetWidth(type) != 1
          : !mlirTypeIsAFloat(type) || !pythonIsElement(type))
    return false;
  intptr_t first = pythonIsOp(op, "arith.select") ? 1 : 0, given = 0;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i)
    given += !isConstant(mlirOperationGetOperand(op, i));
  return given > 0;
}

/// Whether a value is an element or computed of such, in the block.
static bool isOf(MlirBlock block, MlirValue value) {
  return mlirBlockEqual(
      block, mlirValueIsABlockArgument(value)
                 ? mlirBlockArgumentGetOwner(value)
                 : mlirOperationGetBlock(mlirOpResultGetOwner(value)));
}

static bool writeOperation(Program *program, MlirOperation op) {
  static const char *const known[] = {"predicate", NULL};
  if (mlirOperationGetNumResults(op) != 1)
    return false;
  MlirValue result = mlirOperationGetResult(op, 0);
  if (elementIsNumber(result)) {
    elementNameNumber(program, result);
    return true;
  }
  const char *python = equivalentOf(op);
  if (!python || !isComputable(op) || !pythonHasDefaults(op, known))
    return false;
  int name = pythonFresh(program);
  gqTextPrintf(program->text, "%s    v%d = ", program->indent, name);
  for (const char *at = python; *at; ++at) {
    if (*at != '%') {
      gqTextAppend(program->text, at, 1);
      continue;
    }
    ++at;
    if (*at == 'T') {
      gqTextPrintf(program->text, "\"");
      pythonAppendType(mlirValueGetType(result), program->text);
      gqTextPrintf(program->text, "\"");
      continue;
    }
    MlirValue operand = mlirOperationGetOperand(op, *at - '1');
    if (!elementIsNumber(operand) && !isOf(mlirOperationGetBlock(op), operand))
      return false;
    gqTextPrintf(program->text, "%s", pythonNameOf(program, operand));
  }
  gqTextPrintf(program->text, "\n");
  pythonName(program, result, "v%d", name);
  return true;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

static bool writeYield(Program *program, MlirOperation op) {
  MlirValue value = mlirOperationGetOperand(op, 0);
  if (isConstant(value) || !isOf(mlirOperationGetBlock(op), value))
    return false;
  gqTextPrintf(program->text, "%s    return %s\n", program->indent,
               pythonNameOf(program, value));
  return true;
}

/// The types that the function takes its values in, if that has to be said.
static void writeTypes(Program *program, MlirBlock block, MlirType usual) {
  gqText types = {0};
  bool isUsual = true;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(block, i));
    isUsual &= mlirTypeIsNull(usual) || mlirTypeEqual(type, usual);
    gqTextPrintf(&types, "\"");
    pythonAppendType(type, &types);
    gqTextPrintf(&types, "\", ");
  }
  if (!isUsual)
    gqTextPrintf(program->text, "(inputs=[%.*s])", (int)types.length - 2,
                 types.data);
  gqTextFree(&types);
}

bool elementWrite(Program *program, MlirRegion region, intptr_t numUnused,
                  MlirType usual, char name[16]) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  intptr_t numArguments = mlirBlockGetNumArguments(block);
  MlirOperation terminator = mlirBlockGetTerminator(block);
  snprintf(name, 16, "f%d", pythonFresh(program));
  gqTextPrintf(program->text, "\n%s@gq.producers.typed", program->indent);
  writeTypes(program, block, usual);
  gqTextPrintf(program->text, "\n%sdef %s(", program->indent, name);
  for (intptr_t i = 0; i < numArguments - numUnused; ++i) {
    gqTextPrintf(program->text, "%se%d", i ? ", " : "", (int)i);
    pythonName(program, mlirBlockGetArgument(block, i), "e%d", (int)i);
  }
  gqTextPrintf(program->text, "):\n");
  for (intptr_t i = numArguments - numUnused; i < numArguments; ++i)
    if (!mlirOpOperandIsNull(
            mlirValueGetFirstUse(mlirBlockGetArgument(block, i))))
      return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op))
    if (!writeOperation(program, op))
      return false;
  if (!writeYield(program, terminator))
    return false;
  gqTextPrintf(program->text, "\n");
  return true;
}
