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
  MlirValue value = mlirOperationGetOperand(op, 0);
  const char *tensor = pythonNameOf(program, value);
  const char *index = pythonNameOf(program, mlirOperationGetOperand(op, 1));
  if (!tensor || !index || numberOf(index) < 0)
    return pythonRefuse(op, "a dimension that is not a constant");
  // For gq.Graph it is that of the indices, and so another op.
  if (mlirValueIsAOpResult(value) &&
      pythonIsOp(mlirOpResultGetOwner(value), "tensor.gather"))
    return pythonRefuse(op, "an extent of rows that are gathered");
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

/// The tensor that an op writes its result into, null if there is none.
static MlirValue outOf(MlirValue tensor) {
  MlirOperation op = mlirOpResultGetOwner(tensor);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (gqStartsWith(name.data, name.length, "gq."))
    return opOutOf(op, mlirOpResultGetResultNumber(tensor));
  if (gqStartsWith(name.data, name.length, "linalg."))
    return mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - 1);
  return (MlirValue){NULL};
}

/// Whether an index is the extent of dimension `d` of a tensor, which no type
/// says: tensor.dim, or what the tensor, or that it was written into, was made
/// with.
static bool isExtentOf(MlirValue index, MlirValue tensor, int64_t d) {
  MlirOperation dim = mlirValueIsAOpResult(index) ? mlirOpResultGetOwner(index)
                                                  : (MlirOperation){NULL};
  if (pythonIsOp(dim, "tensor.dim") &&
      mlirValueEqual(mlirOperationGetOperand(dim, 0), tensor)) {
    MlirOperation at = mlirOpResultGetOwner(mlirOperationGetOperand(dim, 1));
    return mlirIntegerAttrGetValueInt(pythonAttribute(at, "value")) == d;
  }
  if (!mlirValueIsAOpResult(tensor))
    return false;
  MlirOperation op = mlirOpResultGetOwner(tensor);
  bool isSlice = pythonIsOp(op, "tensor.extract_slice");
  if (!isSlice && !pythonIsOp(op, "tensor.empty")) {
    MlirValue out = outOf(tensor);
    return !mlirValueIsNull(out) && isExtentOf(index, out, d);
  }
  // Offsets of slices are no values where there is an equivalent.
  intptr_t operand = isSlice;
  for (int64_t i = 0; i < d; ++i)
    operand += mlirShapedTypeIsDynamicDim(mlirValueGetType(tensor), i);
  return operand < mlirOperationGetNumOperands(op) &&
         mlirValueEqual(mlirOperationGetOperand(op, operand), index);
}

/// A slice for each extent: all of one that is not known.
static bool writeSlice(Program *program, MlirOperation op) {
  const int64_t dynamic = INT64_MIN;
  MlirValue source = mlirOperationGetOperand(op, 0);
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType from = mlirValueGetType(source), to = mlirValueGetType(result);
  int64_t rank = mlirShapedTypeGetRank(from);
  if (mlirShapedTypeGetRank(to) != rank)
    return pythonRefuse(op, "a slice of another rank");
  if (!mlirAttributeEqual(mlirRankedTensorTypeGetEncoding(from),
                          mlirRankedTensorTypeGetEncoding(to)))
    return pythonRefuse(op, "a slice with another encoding");
  gqText slices = {0};
  bool valid = true;
  intptr_t operand = 1;
  for (int64_t i = 0; i < rank && valid; ++i) {
    int64_t first = staticOf(op, "static_offsets", i);
    int64_t size = staticOf(op, "static_sizes", i);
    int64_t step = staticOf(op, "static_strides", i);
    bool isKnown = !mlirShapedTypeIsDynamicDim(from, i);
    bool isAll =
        first == 0 && step == 1 &&
        (size == dynamic
             ? operand < mlirOperationGetNumOperands(op) &&
                   isExtentOf(mlirOperationGetOperand(op, operand), source, i)
             : isKnown && size == mlirShapedTypeGetDimSize(from, i));
    operand += size == dynamic;
    valid = isAll || (isKnown && first != dynamic && size > 0 && step > 0);
    gqTextPrintf(&slices, i ? ", :" : ":");
    if (valid && !isAll) {
      int64_t end = first + (size - 1) * step + 1;
      slices.length -= 1;
      gqTextPrintf(&slices, "%lld:%lld", (long long)first, (long long)end);
      if (step != 1)
        gqTextPrintf(&slices, ":%lld", (long long)step);
    }
  }
  if (valid && operand == mlirOperationGetNumOperands(op)) {
    int name = pythonFresh(program);
    gqTextPrintf(program->text, "%sv%d = %s[%s]\n", program->indent, name,
                 pythonNameOf(program, source), gqTextString(&slices));
    pythonName(program, result, "v%d", name);
  } else {
    valid = pythonRefuse(op, "a slice of an extent that is not known, or one "
                             "that values decide");
  }
  gqTextFree(&slices);
  return valid;
}

/// linalg.fill with a constant.
static bool writeFill(Program *program, MlirOperation op) {
  MlirValue number = mlirOperationGetOperand(op, 0);
  if (!mlirValueIsAOpResult(number) ||
      !pythonIsOp(mlirOpResultGetOwner(number), "arith.constant"))
    return pythonRefuse(op, "a number that is not a constant");
  if (mlirOperationGetNumResults(op) != 1)
    return pythonRefuse(op, "other than one result, a tensor");
  int name = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = gq.graph.fill(%s, %s)\n",
               program->indent, name, pythonNameOf(program, number),
               pythonNameOf(program, mlirOperationGetOperand(op, 1)));
  pythonName(program, mlirOperationGetResult(op, 0), "v%d", name);
  return true;
}

/// tensor.gather of rows.
static bool writeGather(Program *program, MlirOperation op) {
  MlirValue source = mlirOperationGetOperand(op, 0);
  MlirValue indices = mlirOperationGetOperand(op, 1);
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(indices);
  MlirAttribute dims = pythonAttribute(op, "gather_dims");
  bool isOfRows = mlirDenseArrayGetNumElements(dims) == 1 &&
                  mlirDenseI64ArrayGetElement(dims, 0) == 0 &&
                  mlirShapedTypeGetRank(type) == 2 &&
                  !mlirShapedTypeIsDynamicDim(type, 1) &&
                  mlirShapedTypeGetDimSize(type, 1) == 1 &&
                  mlirShapedTypeGetRank(mlirValueGetType(result)) ==
                      mlirShapedTypeGetRank(mlirValueGetType(source));
  if (!isOfRows || mlirTypeIsAIndex(mlirShapedTypeGetElementType(type)) ||
      !mlirAttributeIsNull(pythonAttribute(op, "unique")))
    return pythonRefuse(op, "other than rows at indices [M, 1] of i32 or i64");
  int name = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = gq.graph.gather(%s, %s)\n",
               program->indent, name, pythonNameOf(program, source),
               pythonNameOf(program, indices));
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
  if (pythonIsOp(op, "linalg.fill"))
    return writeFill(program, op);
  if (pythonIsOp(op, "tensor.gather"))
    return writeGather(program, op);
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

/// Whether `name` can be that of a function in Python, and none that programs
/// call.
static bool isIdentifier(MlirStringRef name) {
  static const char *const taken[] = {
      "False",    "None",  "True",   "abs",     "and",      "as",     "assert",
      "async",    "await", "break",  "class",   "continue", "def",    "del",
      "elif",     "else",  "except", "finally", "float",    "for",    "from",
      "global",   "gq",    "if",     "import",  "in",       "is",     "lambda",
      "nonlocal", "not",   "or",     "pass",    "raise",    "return", "try",
      "while",    "with",  "yield"};
  for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); ++i)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(taken[i])))
      return false;
  for (size_t i = 0; i < name.length; ++i) {
    unsigned char c = (unsigned char)name.data[i];
    if (!isalpha(c) && c != '_' && (i == 0 || !isdigit(c)))
      return false;
  }
  return name.length > 0;
}

bool functionWrite(Program *program, MlirOperation op) {
  if (!checkFunction(op))
    return false;
  MlirStringRef name = mlirStringAttrGetValue(pythonAttribute(op, "sym_name"));
  if (!isIdentifier(name))
    return pythonRefuse(op, "its name is none of a function in Python, or is "
                            "taken");
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
