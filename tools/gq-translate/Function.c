//===- Function.c - a function as one that records a graph ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Python.h"

#include <ctype.h>
#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// The number that the expression of an index is, or -1.
static long long numberOf(const char *name) {
  char *end;
  long long number = strtoll(name, &end, 10);
  return *name && !*end ? number : -1;
}

static bool writeDim(Program *program, MlirOperation op) {
  const char *tensor = pythonNameOf(program, mlirOperationGetOperand(op, 0));
  const char *index = pythonNameOf(program, mlirOperationGetOperand(op, 1));
  if (!tensor || !index || numberOf(index) < 0)
    return pythonRefuse(op, "a dimension that is not a constant");
  pythonName(program, mlirOperationGetResult(op, 0), "%s.shape[%s]", tensor,
             index);
  return true;
}

/// What gq.graph.index() computes of extents.
static bool isArithmetic(MlirOperation op) {
  static const char *const names[] = {
      "arith.addi",      "arith.subi",      "arith.muli",  "arith.floordivsi",
      "arith.divui",     "arith.divsi",     "arith.remui", "arith.remsi",
      "arith.ceildivui", "arith.ceildivsi", "arith.minui", "arith.minsi",
      "arith.maxui",     "arith.maxsi"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    if (pythonIsOp(op, names[i]))
      return true;
  return false;
}

static bool writeArithmetic(Program *program, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  if (!mlirTypeIsAIndex(mlirValueGetType(result)))
    return pythonRefuse(op, "on values that are not extents");
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  size_t prefix = strlen("arith.");
  int fresh = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = gq.graph.index(\"%.*s\", %s, %s)\n",
               program->indent, fresh, (int)(name.length - prefix),
               name.data + prefix,
               pythonNameOf(program, mlirOperationGetOperand(op, 0)),
               pythonNameOf(program, mlirOperationGetOperand(op, 1)));
  pythonName(program, result, "v%d", fresh);
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static bool writeEmpty(Program *program, MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  const char **extents = calloc((size_t)count + 1, sizeof(char *));
  if (!extents)
    abort();
  for (intptr_t i = 0; i < count; ++i)
    extents[i] = pythonNameOf(program, mlirOperationGetOperand(op, i));
  MlirValue result = mlirOperationGetResult(op, 0);
  gqText type = {0};
  bool valid = pythonAppendType(op, mlirValueGetType(result), extents, &type);
  int name = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = g.empty(%s)\n", program->indent, name,
               gqTextString(&type));
  pythonName(program, result, "v%d", name);
  gqTextFree(&type);
  free(extents);
  return valid;
}

/// The element of an array of i64 that stays what it is.
static int64_t staticOf(MlirOperation op, const char *name, intptr_t i) {
  return mlirDenseI64ArrayGetElement(pythonAttribute(op, name), i);
}

/// Whether `value` is tensor.dim of the rows of `tensor`.
static bool isRowsOf(MlirValue value, MlirValue tensor) {
  MlirOperation op = mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value)
                                                 : (MlirOperation){NULL};
  if (!pythonIsOp(op, "tensor.dim") ||
      !mlirValueEqual(mlirOperationGetOperand(op, 0), tensor))
    return false;
  MlirOperation index = mlirOpResultGetOwner(mlirOperationGetOperand(op, 1));
  return mlirIntegerAttrGetValueInt(pythonAttribute(index, "value")) == 0;
}

/// Columns of all rows of a matrix.
static bool writeSlice(Program *program, MlirOperation op) {
  MlirValue source = mlirOperationGetOperand(op, 0);
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType from = mlirValueGetType(source), to = mlirValueGetType(result);
  static const char why[] = "a slice other than columns of all rows";
  if (mlirShapedTypeGetRank(from) != 2 || mlirShapedTypeGetRank(to) != 2)
    return pythonRefuse(op, why);
  int64_t dynamic = INT64_MIN;
  int64_t rows = staticOf(op, "static_sizes", 0);
  int64_t first = staticOf(op, "static_offsets", 1);
  int64_t columns = staticOf(op, "static_sizes", 1);
  bool allRows = rows == dynamic
                     ? mlirOperationGetNumOperands(op) == 2 &&
                           isRowsOf(mlirOperationGetOperand(op, 1), source)
                     : !mlirShapedTypeIsDynamicDim(from, 0) &&
                           rows == mlirShapedTypeGetDimSize(from, 0);
  if (!allRows || staticOf(op, "static_offsets", 0) != 0 || first == dynamic ||
      columns == dynamic || staticOf(op, "static_strides", 0) != 1 ||
      staticOf(op, "static_strides", 1) != 1 ||
      mlirShapedTypeIsDynamicDim(from, 1))
    return pythonRefuse(op, why);
  int64_t last = first + columns;
  int name = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = %s[:, %lld:%lld]\n", program->indent,
               name, pythonNameOf(program, source), (long long)first,
               (long long)last);
  pythonName(program, result, "v%d", name);
  return true;
}

/// Whether an operand of so many dimensions is indexed by the last loops, in
/// their order.
static bool isTrailing(MlirAffineMap map, intptr_t rank) {
  intptr_t loops = mlirAffineMapGetNumDims(map);
  if (mlirAffineMapGetNumSymbols(map) ||
      mlirAffineMapGetNumResults(map) != rank)
    return false;
  for (intptr_t i = 0; i < rank; ++i) {
    MlirAffineExpr expression = mlirAffineMapGetResult(map, i);
    if (!mlirAffineExprIsADim(expression) ||
        mlirAffineDimExprGetPosition(expression) != loops - rank + i)
      return false;
  }
  return true;
}

static bool writeGeneric(Program *program, MlirOperation op) {
  MlirAttribute maps = pythonAttribute(op, "indexing_maps");
  MlirAttribute loops = pythonAttribute(op, "iterator_types");
  intptr_t numOperands = mlirOperationGetNumOperands(op);
  if (mlirOperationGetNumResults(op) != 1)
    return pythonRefuse(op, "other than one result, a tensor");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(loops); ++i) {
    gqText text = {0};
    pythonAppendAttribute(mlirArrayAttrGetElement(loops, i), &text);
    bool parallel = strstr(gqTextString(&text), "parallel");
    gqTextFree(&text);
    if (!parallel)
      return pythonRefuse(op, "a loop that is not parallel");
  }
  gqText operands = {0};
  bool valid = true;
  for (intptr_t i = 0; i < numOperands && valid; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    MlirType type = mlirValueGetType(operand);
    MlirAffineMap map =
        mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    if (!mlirTypeIsARankedTensor(type) ||
        !isTrailing(map, mlirShapedTypeGetRank(type)))
      valid = pythonRefuse(op, "operand %d is not indexed by the last loops",
                           (int)i);
    bool last = i == numOperands - 1;
    if (valid && last &&
        mlirShapedTypeGetRank(type) != mlirArrayAttrGetNumElements(loops))
      valid = pythonRefuse(op, "the result has fewer dimensions than loops");
    gqTextPrintf(&operands, last ? ", out=%s" : ", %s",
                 pythonNameOf(program, operand));
  }
  if (valid && numOperands < 2)
    valid = pythonRefuse(op, "it has no input");
  char function[16];
  valid = valid && elementWrite(program, mlirOperationGetRegion(op, 0), 1,
                                (MlirType){NULL}, function);
  if (valid) {
    int name = pythonFresh(program);
    gqTextPrintf(program->text, "%sv%d = gq.graph.map(%s%s)\n", program->indent,
                 name, function, gqTextString(&operands));
    pythonName(program, mlirOperationGetResult(op, 0), "v%d", name);
  }
  gqTextFree(&operands);
  return valid;
}

static bool writeReturn(Program *program, MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  if (count == 0)
    return pythonRefuse(op, "a function without results");
  gqTextPrintf(program->text, "%sg.output(", program->indent);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
      return pythonRefuse(op, "a result that is not a tensor");
    gqTextPrintf(program->text, "%s%s", i ? ", " : "",
                 pythonNameOf(program, value));
  }
  gqTextPrintf(program->text, ")\n    return g\n");
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static bool writeOp(Program *program, MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (gqStartsWith(name.data, name.length, "gq."))
    return opWrite(program, op);
  if (elementIsConstant(program, op))
    return true;
  if (pythonIsOp(op, "tensor.dim"))
    return writeDim(program, op);
  if (pythonIsOp(op, "tensor.empty"))
    return writeEmpty(program, op);
  if (pythonIsOp(op, "tensor.extract_slice"))
    return writeSlice(program, op);
  if (pythonIsOp(op, "linalg.generic"))
    return writeGeneric(program, op);
  if (pythonIsOp(op, "func.return"))
    return writeReturn(program, op);
  if (isArithmetic(op))
    return writeArithmetic(program, op);
  return pythonRefuse(op, NULL);
}

static bool checkFunction(MlirOperation op) {
  if (!pythonIsOp(op, "func.func"))
    return pythonRefuse(op, NULL);
  MlirRegion body = mlirOperationGetRegion(op, 0);
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(body)))
    return pythonRefuse(op, "it has no body");
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(mlirRegionGetFirstBlock(body))))
    return pythonRefuse(op, "it has several blocks");
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(op, i);
    MlirStringRef name = mlirIdentifierStr(attribute.name);
    if (!mlirStringRefEqual(name, mlirStringRefCreateFromCString("sym_name")) &&
        !mlirStringRefEqual(name,
                            mlirStringRefCreateFromCString("function_type")))
      return pythonRefuse(op, "the attribute '%.*s'", (int)name.length,
                          name.data);
  }
  return true;
}

/// Whether `name` can be that of a function in Python.
static bool isIdentifier(MlirStringRef name) {
  static const char *const keywords[] = {
      "and",    "as",       "assert", "async", "await",   "break",   "class",
      "def",    "del",      "elif",   "else",  "except",  "finally", "for",
      "from",   "global",   "gq",     "if",    "import",  "in",      "is",
      "lambda", "nonlocal", "not",    "or",    "pass",    "raise",   "return",
      "try",    "while",    "with",   "yield", "continue"};
  for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); ++i)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(keywords[i])))
      return false;
  for (size_t i = 0; i < name.length; ++i)
    if (!isalpha(name.data[i]) && name.data[i] != '_' &&
        (i == 0 || !isdigit(name.data[i])))
      return false;
  return name.length > 0;
}

bool functionWrite(Program *program, MlirOperation op) {
  if (!checkFunction(op))
    return false;
  MlirStringRef name = mlirStringAttrGetValue(pythonAttribute(op, "sym_name"));
  if (!isIdentifier(name))
    return pythonRefuse(op, "its name is none in Python");
  gqTextPrintf(program->text,
               "\n\ndef %.*s():\n    with gq.Graph(\"%.*s\") as g:\n",
               (int)name.length, name.data, (int)name.length, name.data);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    gqText type = {0};
    bool valid = pythonAppendType(op, mlirValueGetType(argument), NULL, &type);
    gqTextPrintf(program->text, "%sa%d = g.input(\"a%d\", %s)\n",
                 program->indent, (int)i, (int)i, gqTextString(&type));
    gqTextFree(&type);
    if (!valid)
      return false;
    pythonName(program, argument, "a%d", (int)i);
  }
  for (MlirOperation each = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(each); each = mlirOperationGetNextInBlock(each))
    if (!writeOp(program, each))
      return false;
  return true;
}
