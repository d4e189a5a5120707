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

static bool writeDim(Program *program, MlirOperation op) {
  MlirValue value = mlirOperationGetOperand(op, 0);
  MlirValue index = mlirOperationGetOperand(op, 1);
  // For gq.Graph it is that of the indices, and so another op.
  if (!elementIsNumber(index) ||
      (mlirValueIsAOpResult(value) &&
       pythonIsOp(mlirOpResultGetOwner(value), "tensor.gather")))
    return false;
  const char *number = pythonNameOf(program, index);
  int64_t rank = mlirShapedTypeGetRank(mlirValueGetType(value));
  if (*number == '-' || strtoll(number, NULL, 10) >= rank)
    return false;
  pythonName(program, mlirOperationGetResult(op, 0), "%s.shape[%s]",
             pythonNameOf(program, value), number);
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
      return mlirTypeIsAIndex(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return false;
}

static bool writeArithmetic(Program *program, MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  size_t prefix = strlen("arith.");
  int fresh = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = gq.graph.index(\"%.*s\", %s, %s)\n",
               program->indent, fresh, (int)(name.length - prefix),
               name.data + prefix,
               pythonNameOf(program, mlirOperationGetOperand(op, 0)),
               pythonNameOf(program, mlirOperationGetOperand(op, 1)));
  pythonName(program, mlirOperationGetResult(op, 0), "v%d", fresh);
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
  int name = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = g.empty(", program->indent, name);
  pythonAppendTensor(mlirValueGetType(result), extents, program->text);
  gqTextPrintf(program->text, ")\n");
  pythonName(program, result, "v%d", name);
  free(extents);
  return true;
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
    MlirValue at = mlirOperationGetOperand(dim, 1);
    return elementIsNumber(at) && mlirIntegerAttrGetValueInt(pythonAttribute(
                                      mlirOpResultGetOwner(at), "value")) == d;
  }
  if (!mlirValueIsAOpResult(tensor))
    return false;
  MlirOperation op = mlirOpResultGetOwner(tensor);
  bool isSlice = pythonIsOp(op, "tensor.extract_slice");
  if (!isSlice && !pythonIsOp(op, "tensor.empty")) {
    MlirValue out = outOf(tensor);
    return !mlirValueIsNull(out) && isExtentOf(index, out, d);
  }
  intptr_t operand = 0;
  if (isSlice)
    operand = 1 + mlirDenseI32ArrayGetElement(
                      pythonAttribute(op, "operandSegmentSizes"), 1);
  for (int64_t i = 0; i < d; ++i)
    operand += mlirShapedTypeIsDynamicDim(mlirValueGetType(tensor), i);
  return operand < mlirOperationGetNumOperands(op) &&
         mlirValueEqual(mlirOperationGetOperand(op, operand), index);
}

/// A slice for each extent, all of one that is not known, or a number.
static bool writeSlice(Program *program, MlirOperation op) {
  const int64_t dynamic = INT64_MIN;
  MlirValue source = mlirOperationGetOperand(op, 0);
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType from = mlirValueGetType(source), to = mlirValueGetType(result);
  int64_t rank = mlirShapedTypeGetRank(from), numOnes = 0;
  for (int64_t i = 0; i < rank; ++i)
    numOnes += staticOf(op, "static_sizes", i) == 1;
  // What is left out are all extents of 1, or none.
  bool dropsOnes = mlirShapedTypeGetRank(to) != rank;
  if (mlirShapedTypeGetRank(to) != rank - (dropsOnes ? numOnes : 0) ||
      !mlirAttributeEqual(mlirRankedTensorTypeGetEncoding(from),
                          mlirRankedTensorTypeGetEncoding(to)))
    return false;
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
    if (valid && dropsOnes && size == 1) {
      slices.length -= 1;
      gqTextPrintf(&slices, "%lld", (long long)first);
    } else if (valid && !isAll) {
      int64_t end = first + (size - 1) * step + 1;
      slices.length -= 1;
      gqTextPrintf(&slices, "%lld:%lld", (long long)first, (long long)end);
      if (step != 1)
        gqTextPrintf(&slices, ":%lld", (long long)step);
    }
  }
  valid &= operand == mlirOperationGetNumOperands(op);
  if (valid) {
    int name = pythonFresh(program);
    gqTextPrintf(program->text, "%sv%d = %s[%s]\n", program->indent, name,
                 pythonNameOf(program, source), gqTextString(&slices));
    pythonName(program, result, "v%d", name);
  }
  gqTextFree(&slices);
  return valid;
}

/// linalg.fill with a constant.
static bool writeFill(Program *program, MlirOperation op) {
  MlirValue number = mlirOperationGetOperand(op, 0);
  if (!elementIsNumber(number) || mlirOperationGetNumResults(op) != 1)
    return false;
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
  if (!isOfRows)
    return false;
  int name = pythonFresh(program);
  gqTextPrintf(program->text, "%sv%d = gq.graph.gather(%s, %s)\n",
               program->indent, name, pythonNameOf(program, source),
               pythonNameOf(program, indices));
  pythonName(program, result, "v%d", name);
  return true;
}

/// Appends an operand that is indexed by loops in their order: the last ones,
/// or some, x[:, None]. Returns false for others.
static bool appendRead(const Program *program, MlirValue operand,
                       MlirAffineMap map, gqText *text) {
  MlirType type = mlirValueGetType(operand);
  if (!mlirTypeIsARankedTensor(type) ||
      !mlirTypeIsAFloat(mlirShapedTypeGetElementType(type)) ||
      mlirAffineMapGetNumSymbols(map))
    return false;
  intptr_t loops = mlirAffineMapGetNumDims(map), next = 0;
  gqText index = {0};
  bool valid = true, isTrailing = true;
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map) && valid; ++i) {
    MlirAffineExpr expression = mlirAffineMapGetResult(map, i);
    valid = mlirAffineExprIsADim(expression) &&
            mlirAffineDimExprGetPosition(expression) >= next;
    if (!valid)
      break;
    intptr_t position = mlirAffineDimExprGetPosition(expression);
    isTrailing &= i == 0 || position == next;
    for (; i > 0 && next < position; ++next)
      gqTextPrintf(&index, ", None");
    gqTextPrintf(&index, i ? ", :" : ":");
    next = position + 1;
  }
  isTrailing &= next == loops || index.length == 0;
  for (; index.length > 0 && next < loops; ++next)
    gqTextPrintf(&index, ", None");
  gqTextPrintf(text, isTrailing ? "%s" : "%s[%s]",
               pythonNameOf(program, operand), gqTextString(&index));
  gqTextFree(&index);
  return valid;
}

/// Whether each loop is parallel.
static bool isElementWise(MlirOperation op) {
  MlirAttribute loops = pythonAttribute(op, "iterator_types");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(loops); ++i) {
    gqText text = {0};
    pythonAppendAttribute(mlirArrayAttrGetElement(loops, i), &text);
    bool parallel = strstr(gqTextString(&text), "parallel");
    gqTextFree(&text);
    if (!parallel)
      return false;
  }
  return true;
}

static bool writeGeneric(Program *program, MlirOperation op) {
  MlirAttribute maps = pythonAttribute(op, "indexing_maps");
  intptr_t numOperands = mlirOperationGetNumOperands(op);
  if (mlirOperationGetNumResults(op) != 1 || numOperands < 2 ||
      !isElementWise(op))
    return false;
  gqText operands = {0};
  bool valid = true;
  for (intptr_t i = 0; i < numOperands && valid; ++i) {
    MlirAffineMap map =
        mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    bool last = i == numOperands - 1;
    gqTextPrintf(&operands, last ? ", out=" : ", ");
    valid = (!last || mlirAffineMapIsIdentity(map)) &&
            appendRead(program, mlirOperationGetOperand(op, i), map, &operands);
  }
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

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// An op that has a form of its own in Python, and the attributes that this
/// says, or that it knows of.
typedef struct Natural {
  const char *name;
  bool (*write)(Program *program, MlirOperation op);
  const char *attributes[4];
} Natural;

static const Natural naturals[] = {
    {"tensor.dim", writeDim, {NULL}},
    {"tensor.empty", writeEmpty, {NULL}},
    {"tensor.extract_slice",
     writeSlice,
     {"static_offsets", "static_sizes", "static_strides",
      "operandSegmentSizes"}},
    {"linalg.generic",
     writeGeneric,
     {"indexing_maps", "iterator_types", "operandSegmentSizes"}},
    {"linalg.fill", writeFill, {"operandSegmentSizes"}},
    {"tensor.gather", writeGather, {"gather_dims"}},
};

/// Whether the values of an op are what such forms take: Tensors, extents and
/// numbers.
static bool isNatural(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    MlirType type = mlirValueGetType(operand);
    if (!pythonIsTensor(type) && !mlirTypeIsAIndex(type) &&
        !elementIsNumber(operand))
      return false;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
    if (!pythonIsTensor(type) && !mlirTypeIsAIndex(type))
      return false;
  }
  return true;
}

/// Writes what a user would. Returns false where there is no such form.
static bool writeNatural(Program *program, MlirOperation op) {
  static const char *const none[] = {NULL};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (gqStartsWith(name.data, name.length, "gq."))
    return opWrite(program, op);
  if (isArithmetic(op))
    return pythonHasDefaults(op, none) && writeArithmetic(program, op);
  for (size_t i = 0; i < sizeof(naturals) / sizeof(naturals[0]); ++i) {
    const char *known[5] = {NULL};
    memcpy(known, naturals[i].attributes, sizeof(naturals[i].attributes));
    if (pythonIsOp(op, naturals[i].name))
      return pythonHasDefaults(op, known) && naturals[i].write(program, op);
  }
  return false;
}

static void writeReturn(Program *program, MlirOperation op) {
  gqTextPrintf(program->text, "%sg.output(", program->indent);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    gqTextPrintf(program->text, i ? ", " : "");
    genericAppendOperand(program, mlirOperationGetOperand(op, i),
                         program->text);
  }
  gqTextPrintf(program->text, ")\n");
}

static bool writeOp(Program *program, MlirOperation op) {
  if (mlirOperationGetNumResults(op) == 1 &&
      elementIsNumber(mlirOperationGetResult(op, 0))) {
    elementNameNumber(program, mlirOperationGetResult(op, 0));
    return true;
  }
  if (pythonIsOp(op, "func.return")) {
    writeReturn(program, op);
    return true;
  }
  Program before = *program;
  size_t length = program->text->length;
  if (isNatural(op) && writeNatural(program, op))
    return true;
  // What was written of it is taken back.
  program->text->length = length;
  pythonForget(program, before.numNames);
  program->count = before.count;
  return genericWrite(program, op);
}

bool functionWriteBlock(Program *program, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (!writeOp(program, op))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool functionIsDefined(MlirOperation op) {
  return pythonIsOp(op, "func.func") &&
         !mlirBlockIsNull(
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

MlirOperation functionFind(MlirOperation from, MlirStringRef name) {
  while (!mlirOperationIsNull(mlirOperationGetParentOperation(from)))
    from = mlirOperationGetParentOperation(from);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(from, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (functionIsDefined(op) &&
        mlirStringRefEqual(
            mlirStringAttrGetValue(pythonAttribute(op, "sym_name")), name))
      return op;
  return (MlirOperation){NULL};
}

typedef struct Depth {
  int left;
  bool isRecursive;
} Depth;

/// Follows the calls in a function. One that follows more than there are
/// functions has met one twice.
static MlirWalkResult followCalls(MlirOperation op, void *data) {
  Depth *depth = data;
  if (!pythonIsOp(op, "func.call"))
    return MlirWalkResultAdvance;
  MlirOperation callee = functionFind(
      op, mlirFlatSymbolRefAttrGetValue(pythonAttribute(op, "callee")));
  if (mlirOperationIsNull(callee))
    return MlirWalkResultAdvance;
  if (depth->left == 0) {
    depth->isRecursive = true;
    return MlirWalkResultInterrupt;
  }
  Depth next = {depth->left - 1, false};
  mlirOperationWalk(callee, followCalls, &next, MlirWalkPreOrder);
  depth->isRecursive = next.isRecursive;
  return next.isRecursive ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool isRecursive(MlirOperation function) {
  Depth depth = {0, false};
  for (MlirOperation op =
           mlirBlockGetFirstOperation(mlirOperationGetBlock(function));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    depth.left += functionIsDefined(op);
  mlirOperationWalk(function, followCalls, &depth, MlirWalkPreOrder);
  return depth.isRecursive;
}

/// Whether `name` can be that of a function in Python, and none that programs
/// use.
static bool isIdentifier(MlirStringRef name) {
  static const char *const taken[] = {
      "BESIDE", "False",  "None",     "True",   "abs",     "and",      "as",
      "assert", "async",  "await",    "break",  "class",   "continue", "def",
      "del",    "elif",   "else",     "except", "finally", "float",    "for",
      "from",   "g",      "global",   "gq",     "if",      "import",   "in",
      "is",     "lambda", "nonlocal", "not",    "or",      "pass",     "raise",
      "return", "try",    "while",    "with",   "yield"};
  for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); ++i)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(taken[i])))
      return false;
  bool isMade = name.length > 1 && strchr("abefrv_", name.data[0]);
  for (size_t i = 0; i < name.length; ++i) {
    unsigned char c = (unsigned char)name.data[i];
    if (!isalpha(c) && c != '_' && (i == 0 || !isdigit(c)))
      return false;
    isMade &= i == 0 || isdigit(c);
  }
  return name.length > 0 && !isMade;
}

void functionAppendName(MlirOperation function, gqText *text) {
  MlirStringRef name =
      mlirStringAttrGetValue(pythonAttribute(function, "sym_name"));
  if (isIdentifier(name)) {
    gqTextAppend(text, name.data, name.length);
    return;
  }
  // Its place in the module.
  int place = 0;
  for (MlirOperation op =
           mlirBlockGetFirstOperation(mlirOperationGetBlock(function));
       !mlirOperationEqual(op, function); op = mlirOperationGetNextInBlock(op))
    ++place;
  gqTextPrintf(text, "_%d", place);
}

/// Whether gq.Graph takes the name of a function.
static bool isName(MlirStringRef name) {
  for (size_t i = 0; i < name.length; ++i) {
    unsigned char c = (unsigned char)name.data[i];
    if (!isalpha(c) && c != '_' &&
        (i == 0 || (!isdigit(c) && c != '$' && c != '.')))
      return false;
  }
  return name.length > 0;
}

static void writeInput(Program *program, MlirValue argument, int number) {
  MlirType type = mlirValueGetType(argument);
  gqText *text = program->text;
  gqTextPrintf(text, "%sa%d = g.input(\"a%d\", ", program->indent, number,
               number);
  if (pythonIsTensor(type)) {
    pythonAppendTensor(type, NULL, text);
  } else {
    gqText printed = {0};
    pythonAppendType(type, &printed);
    gqTextPrintf(text, "type=");
    pythonAppendLiteral(gqTextString(&printed), text);
    gqTextFree(&printed);
  }
  gqTextPrintf(text, ")\n");
  pythonName(program, argument, "a%d", number);
}

bool functionWrite(Program *program, MlirOperation op) {
  static const char *const said[] = {"sym_name", "function_type", NULL};
  MlirStringRef name = mlirStringAttrGetValue(pythonAttribute(op, "sym_name"));
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return pythonRefuse(op, "it has several blocks");
  if (!isName(name))
    return pythonRefuse(op, "its name has other characters than letters, "
                            "digits, '_', '$' and '.'");
  if (isRecursive(op))
    return pythonRefuse(op, "it calls itself, or what does");
  gqTextPrintf(program->text, "\n\ndef ");
  functionAppendName(op, program->text);
  gqTextPrintf(program->text, "():\n    with gq.Graph(\"%.*s\"",
               (int)name.length, name.data);
  pythonAppendAttributes(op, "attributes", said, program->text);
  gqTextPrintf(program->text, "%s) as g:\n",
               program->hasBeside ? ", beside=BESIDE" : "");
  program->indent -= 8;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    writeInput(program, mlirBlockGetArgument(block, i), (int)i);
  bool valid = functionWriteBlock(program, block);
  program->indent += 8;
  gqTextPrintf(program->text, "    return g\n");
  return valid;
}
