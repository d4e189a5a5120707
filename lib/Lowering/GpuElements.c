//===- GpuElements.c - the elements of a producer on GPUs -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A producer computes four elements at once, one operation after the other:
// what the compiler does more slowly for one element than for several becomes a
// call of runtime_kernels/kernels/Producers.h.
//
//===----------------------------------------------------------------------===//

#include "GpuHooks.h"
#include "Query.h"

#include "../Support/Print.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <string.h>

enum { WIDTH = GQ_GPU_ELEMENTS };

/// `width` elements of the inputs as parameters.
static void printParameters(gqText *text, int width, intptr_t numInputs) {
  for (int i = 0; i < width * numInputs; ++i)
    gqTextPrintf(text, "%s%%e%d: f32", i ? ", " : "", i);
}

void gqPrintElementDeclarations(gqText *text) {
  gqTextPrintf(text,
               "llvm.func @gq_dev_divide4(!llvm.ptr, !llvm.ptr, !llvm.ptr)\n"
               "llvm.func @gq_dev_divide4_by_more(!llvm.ptr, !llvm.ptr, "
               "!llvm.ptr)\n"
               "llvm.func @gq_dev_divide4_usual(!llvm.ptr, !llvm.ptr, "
               "!llvm.ptr) -> i32\n"
               "llvm.func @gq_dev_divide4_by_more_usual(!llvm.ptr, !llvm.ptr, "
               "!llvm.ptr) -> i32\n"
               "llvm.func @gq_dev_exp_plus(f32, f32) -> f32\n"
               "llvm.func @gq_dev_rounded_to_bf16(f32) -> f32\n"
               "llvm.func @gq_dev_round4_to_bf16(!llvm.ptr, !llvm.ptr)\n");
}

void gqPrintElements(gqText *text, const char *name, intptr_t numInputs,
                     bool usual) {
  gqTextPrintf(text, "llvm.func internal @%s(", name);
  printParameters(text, WIDTH, numInputs);
  gqTextPrintf(text,
               usual ? ", %%out: !llvm.ptr) -> i32 attributes {always_inline} "
                       "{\n"
                       "  %%usual = llvm.mlir.constant(1 : i32) : i32\n"
                       "  llvm.return %%usual : i32\n}\n"
                     : ", %%out: !llvm.ptr) attributes {always_inline} {\n"
                       "  llvm.return\n}\n");
}

void gqPrintOneElement(gqText *text, intptr_t numInputs) {
  gqTextPrintf(text, "llvm.func internal @one_element(");
  printParameters(text, 1, numInputs);
  gqTextPrintf(text, ") -> f32 attributes {always_inline} {\n"
                     "  %%poison = llvm.mlir.poison : f32\n"
                     "  llvm.return %%poison : f32\n}\n");
}

/// Where the elements are built.
typedef struct Elements {
  gqBuilder builder;
  /// From values of the producer to those of each element. An input becomes a
  /// float, whatever its type.
  gqValueMap maps[WIDTH];
  /// How many there are: WIDTH or 1.
  int width;
  /// An i32, 0 if a quotient may be wrong; null if all have to be right.
  MlirValue usual;
} Elements;

static MlirType pointerType(const Elements *elements) {
  return mlirTypeParseGet(elements->builder.context,
                          mlirStringRefCreateFromCString("!llvm.ptr"));
}

/// The address of element `k` of floats at `array`.
static MlirValue buildAddress(const Elements *elements, MlirValue array,
                              int32_t k) {
  MlirContext context = elements->builder.context;
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "elem_type",
                  mlirTypeAttrGet(mlirF32TypeGet(context))),
      gqAttribute(context, "rawConstantIndices",
                  mlirDenseI32ArrayGet(context, 1, &k)),
  };
  MlirType type = pointerType(elements);
  return mlirOperationGetResult(gqBuild(&elements->builder,
                                        "llvm.getelementptr", 1, &array, 1,
                                        &type, 2, attributes),
                                0);
}

static void buildStore(const Elements *elements, MlirValue value,
                       MlirValue array, int32_t k) {
  MlirValue operands[] = {value, buildAddress(elements, array, k)};
  gqBuild(&elements->builder, "llvm.store", 2, operands, 0, NULL, 0, NULL);
}

/// Floats on the stack, which are in registers in the end.
static MlirValue buildArray(const Elements *elements) {
  const gqBuilder *builder = &elements->builder;
  MlirType type = pointerType(elements);
  MlirValue size =
      gqBuildConstant(builder, mlirIntegerTypeGet(builder->context, 32), WIDTH);
  MlirNamedAttribute elementType =
      gqAttribute(builder->context, "elem_type",
                  mlirTypeAttrGet(mlirF32TypeGet(builder->context)));
  return mlirOperationGetResult(
      gqBuild(builder, "llvm.alloca", 1, &size, 1, &type, 1, &elementType), 0);
}

/// llvm.call of a function of Producers.h.
static MlirOperation buildCall(const Elements *elements, const char *function,
                               intptr_t numOperands, const MlirValue *operands,
                               intptr_t numResults, const MlirType *results) {
  MlirContext context = elements->builder.context;
  int32_t segments[] = {(int32_t)numOperands, 0};
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "callee",
                  mlirFlatSymbolRefAttrGet(
                      context, mlirStringRefCreateFromCString(function))),
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 2, segments)),
      gqAttribute(context, "op_bundle_sizes",
                  mlirDenseI32ArrayGet(context, 0, NULL)),
  };
  return gqBuild(&elements->builder, "llvm.call", numOperands, operands,
                 numResults, results, 3, attributes);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// An operation on f32 called `name` without leave to be less exact.
static bool isStrict(MlirOperation op, const char *name) {
  if (!gqIsNamed(op, name) ||
      !mlirTypeIsAF32(mlirValueGetType(mlirOperationGetResult(op, 0))))
    return false;
  MlirAttribute flags = mlirOperationGetAttributeByName(
      op, mlirStringRefCreateFromCString("fastmath"));
  return mlirAttributeIsNull(flags) ||
         mlirAttributeEqual(
             flags, mlirAttributeParseGet(mlirOperationGetContext(op),
                                          mlirStringRefCreateFromCString(
                                              "#arith.fastmath<none>")));
}

/// A sum of math.exp and a constant that is not tiny.
typedef struct ExpPlus {
  MlirValue argument, constant;
  double added;
} ExpPlus;

static bool isExpPlus(MlirOperation op, ExpPlus *sum) {
  if (!isStrict(op, "arith.addf"))
    return false;
  for (int i = 0; i < 2; ++i) {
    MlirOperation exp = gqDefiningOp(mlirOperationGetOperand(op, i));
    sum->constant = mlirOperationGetOperand(op, 1 - i);
    MlirOperation constant = gqDefiningOp(sum->constant);
    if (mlirOperationIsNull(exp) || mlirOperationIsNull(constant) ||
        !isStrict(exp, "math.exp") || !gqIsNamed(constant, "arith.constant"))
      continue;
    sum->argument = mlirOperationGetOperand(exp, 0);
    sum->added = mlirFloatAttrGetValueDouble(mlirOperationGetAttributeByName(
        constant, mlirStringRefCreateFromCString("value")));
    return fabs(sum->added) >= 0x1p-60 && fabs(sum->added) <= 0x1p60;
  }
  return false;
}

static void buildExpPlus(Elements *elements, MlirOperation op, ExpPlus sum) {
  MlirType f32 = mlirF32TypeGet(elements->builder.context);
  for (int k = 0; k < elements->width; ++k) {
    gqValueMap *map = &elements->maps[k];
    MlirValue operands[] = {gqValueMapGet(map, sum.argument),
                            gqValueMapGet(map, sum.constant)};
    gqValueMapAdd(
        map, mlirOperationGetResult(op, 0),
        mlirOperationGetResult(
            buildCall(elements, "gq_dev_exp_plus", 2, operands, 1, &f32), 0));
  }
}

/// Whether `value` is at least 1 or NaN, as the denominator of a sigmoid.
static bool isOneOrMore(MlirValue value) {
  MlirOperation op = gqDefiningOp(value);
  ExpPlus sum;
  return !mlirOperationIsNull(op) && isExpPlus(op, &sum) && sum.added >= 1.0;
}

static void buildDivision(Elements *elements, MlirOperation op) {
  MlirValue arrays[] = {buildArray(elements), buildArray(elements),
                        buildArray(elements)};
  for (int k = 0; k < WIDTH; ++k)
    for (int i = 0; i < 2; ++i)
      buildStore(
          elements,
          gqValueMapGet(&elements->maps[k], mlirOperationGetOperand(op, i)),
          arrays[i], k);
  bool more = isOneOrMore(mlirOperationGetOperand(op, 1));
  if (mlirValueIsNull(elements->usual)) {
    buildCall(elements, more ? "gq_dev_divide4_by_more" : "gq_dev_divide4", 3,
              arrays, 0, NULL);
  } else {
    MlirType i32 = mlirValueGetType(elements->usual);
    MlirOperation call = buildCall(elements,
                                   more ? "gq_dev_divide4_by_more_usual"
                                        : "gq_dev_divide4_usual",
                                   3, arrays, 1, &i32);
    MlirValue both[] = {elements->usual, mlirOperationGetResult(call, 0)};
    elements->usual =
        gqBuildValue(&elements->builder, "arith.andi", 2, both, i32);
  }
  MlirType f32 = mlirF32TypeGet(elements->builder.context);
  for (int k = 0; k < WIDTH; ++k) {
    MlirValue address = buildAddress(elements, arrays[2], k);
    gqValueMapAdd(
        &elements->maps[k], mlirOperationGetResult(op, 0),
        gqBuildValue(&elements->builder, "llvm.load", 1, &address, f32));
  }
}

/// The f32 that `value`, a bf16, was rounded from to nearest even, or null.
static MlirValue roundedFrom(MlirValue value) {
  if (mlirTypeIsABF16(mlirValueGetType(value)) && mlirValueIsAOpResult(value)) {
    MlirOperation op = mlirOpResultGetOwner(value);
    if (gqIsNamed(op, "arith.truncf") &&
        mlirAttributeIsNull(mlirOperationGetAttributeByName(
            op, mlirStringRefCreateFromCString("roundingmode"))) &&
        mlirTypeIsAF32(mlirValueGetType(mlirOperationGetOperand(op, 0))))
      return mlirOperationGetOperand(op, 0);
  }
  return (MlirValue){NULL};
}

/// `value` of the producer as an f32 of element `k`.
static MlirValue buildF32(const Elements *elements, MlirValue value, int k) {
  const gqValueMap *map = &elements->maps[k];
  MlirType f32 = mlirF32TypeGet(elements->builder.context);
  MlirValue source = roundedFrom(value);
  if (!mlirValueIsNull(source)) {
    MlirValue operand = gqValueMapGet(map, source);
    return mlirOperationGetResult(
        buildCall(elements, "gq_dev_rounded_to_bf16", 1, &operand, 1, &f32), 0);
  }
  MlirValue operand = gqValueMapGet(map, value);
  if (mlirTypeIsAF32(mlirValueGetType(operand)))
    return operand;
  return gqBuildValue(&elements->builder, "arith.extf", 1, &operand, f32);
}

/// The element `x` of an input in the input's own type, in which it is exact:
/// of bf16 the upper half, so that nothing is rounded.
static MlirValue buildNarrowed(const gqBuilder *builder, MlirValue x,
                               MlirType type) {
  if (!mlirTypeIsABF16(type))
    return gqBuildValue(builder, "arith.truncf", 1, &x, type);
  MlirType i32 = mlirIntegerTypeGet(builder->context, 32);
  MlirType i16 = mlirIntegerTypeGet(builder->context, 16);
  MlirValue upper[] = {gqBuildValue(builder, "arith.bitcast", 1, &x, i32),
                       gqBuildConstant(builder, i32, 16)};
  MlirValue half = gqBuildValue(builder, "arith.shrui", 2, upper, i32);
  half = gqBuildValue(builder, "arith.trunci", 1, &half, i16);
  return gqBuildValue(builder, "arith.bitcast", 1, &half, type);
}

/// buildCopy of an operation with regions, in which any input may be read.
static void buildCopyOfRegions(Elements *elements, MlirOperation op, int k) {
  gqValueMap *map = &elements->maps[k];
  gqValueMap narrowed = {0};
  MlirBlock body = mlirOperationGetBlock(op);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue input = mlirBlockGetArgument(body, i);
    MlirType type = mlirValueGetType(input);
    if (!mlirTypeIsAF32(type))
      gqValueMapAdd(
          &narrowed, input,
          buildNarrowed(&elements->builder, gqValueMapGet(map, input), type));
  }
  for (intptr_t i = 0; i < map->size; ++i)
    gqValueMapAdd(&narrowed, map->from[i], map->to[i]);
  MlirOperation copy = gqCloneOp(op, &narrowed);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    gqValueMapAdd(map, mlirOperationGetResult(op, i),
                  mlirOperationGetResult(copy, i));
  gqValueMapFree(&narrowed);
  gqInsert(&elements->builder, copy);
}

static void buildCopy(Elements *elements, MlirOperation op, int k) {
  if (mlirOperationGetNumRegions(op)) {
    buildCopyOfRegions(elements, op, k);
    return;
  }
  gqValueMap *map = &elements->maps[k];
  MlirOperation copy = gqCloneOp(op, map);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue input = mlirOperationGetOperand(op, i);
    MlirType type = mlirValueGetType(input);
    if (mlirValueIsABlockArgument(input) && !mlirTypeIsAF32(type))
      mlirOperationSetOperand(
          copy, i,
          buildNarrowed(&elements->builder, gqValueMapGet(map, input), type));
  }
  gqInsert(&elements->builder, copy);
}

/// An extension to f32 of an input or of what was rounded to bf16.
static bool isPlainExtension(MlirOperation op) {
  if (!gqIsNamed(op, "arith.extf") ||
      !mlirTypeIsAF32(mlirValueGetType(mlirOperationGetResult(op, 0))))
    return false;
  MlirValue operand = mlirOperationGetOperand(op, 0);
  return mlirValueIsABlockArgument(operand) ||
         !mlirValueIsNull(roundedFrom(operand));
}

static void buildOp(Elements *elements, MlirOperation op) {
  ExpPlus sum;
  if (elements->width == WIDTH && isStrict(op, "arith.divf")) {
    buildDivision(elements, op);
    return;
  }
  if (isExpPlus(op, &sum)) {
    buildExpPlus(elements, op, sum);
    return;
  }
  bool extends = isPlainExtension(op);
  for (int k = 0; k < elements->width; ++k)
    if (extends)
      gqValueMapAdd(&elements->maps[k], mlirOperationGetResult(op, 0),
                    buildF32(elements, mlirOperationGetOperand(op, 0), k));
    else
      buildCopy(elements, op, k);
}

/// Stores what the producer yields to `out` as floats.
static void buildResults(Elements *elements, MlirValue yielded, MlirValue out) {
  MlirValue source = roundedFrom(yielded);
  if (mlirValueIsNull(source)) {
    for (int k = 0; k < WIDTH; ++k)
      buildStore(elements, buildF32(elements, yielded, k), out, k);
    return;
  }
  MlirValue arrays[] = {buildArray(elements), out};
  for (int k = 0; k < WIDTH; ++k)
    buildStore(elements, gqValueMapGet(&elements->maps[k], source), arrays[0],
               k);
  buildCall(elements, "gq_dev_round4_to_bf16", 2, arrays, 0, NULL);
}

/// Whether the producer has such an operation.
static bool hasOp(MlirRegion producer, bool (*is)(MlirOperation)) {
  MlirOperation op =
      mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(producer));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (is(op))
      return true;
  return false;
}

static bool isExactDivision(MlirOperation op) {
  return isStrict(op, "arith.divf");
}

bool gqDividesExactly(MlirRegion producer) {
  return hasOp(producer, isExactDivision);
}

bool gqHasFastMathFlag(MlirOperation op, const char *flag) {
  MlirAttribute flags = mlirOperationGetAttributeByName(
      op, mlirStringRefCreateFromCString("fastmath"));
  if (mlirAttributeIsNull(flags))
    return false;
  gqText text = {0};
  mlirAttributePrint(flags, gqAppendString, &text);
  const char *words = gqTextOrAbort(&text);
  bool has = strstr(words, flag) || strstr(words, "<fast>");
  gqTextFree(&text);
  return has;
}

/// An operation of the math dialect that is more than an instruction.
static bool isFunction(MlirOperation op) {
  static const char *const instructions[] = {
      "math.absf",      "math.ceil",  "math.copysign",
      "math.floor",     "math.fma",   "math.isfinite",
      "math.isinf",     "math.isnan", "math.trunc",
      "math.roundeven", NULL};
  return gqIsOfDialect(op, "math.") && !gqIsOneOf(op, instructions);
}

/// Whether it is a call of a function of some length.
static bool isCall(MlirOperation op) {
  return isFunction(op) &&
         // The chip has no approximation of it.
         (gqIsNamed(op, "math.erf") || !gqHasFastMathFlag(op, "afn"));
}

bool gqCallsFunctions(MlirRegion producer) { return hasOp(producer, isCall); }

/// Whether `value` is a constant power of two, division by which is a product.
static bool isPowerOfTwo(MlirValue value) {
  MlirOperation op = gqDefiningOp(value);
  if (mlirOperationIsNull(op) || !gqIsNamed(op, "arith.constant"))
    return false;
  MlirAttribute number = mlirOperationGetAttributeByName(
      op, mlirStringRefCreateFromCString("value"));
  int exponent;
  return mlirAttributeIsAFloat(number) &&
         fabs(frexp(mlirFloatAttrGetValueDouble(number), &exponent)) == 0.5;
}

bool gqTakesLong(MlirOperation op) {
  return gqIsNamed(op, "arith.divf")
             ? !isPowerOfTwo(mlirOperationGetOperand(op, 1))
             : isFunction(op);
}

/// Builds the producer `from` for `width` elements at the end of `to`.
static Elements buildElements(MlirBlock from, MlirBlock to, int width,
                              MlirValue usual) {
  Elements elements = {.builder = gqBuilderBefore(mlirBlockGetTerminator(to)),
                       .width = width,
                       .usual = usual};
  intptr_t numInputs = mlirBlockGetNumArguments(from);
  for (intptr_t i = 0; i < width * numInputs; ++i)
    gqValueMapAdd(&elements.maps[i / numInputs],
                  mlirBlockGetArgument(from, i % numInputs),
                  mlirBlockGetArgument(to, i));
  MlirOperation yield = mlirBlockGetTerminator(from);
  for (MlirOperation op = mlirBlockGetFirstOperation(from);
       !mlirOperationEqual(op, yield); op = mlirOperationGetNextInBlock(op))
    buildOp(&elements, op);
  return elements;
}

static void freeElements(Elements *elements) {
  for (int k = 0; k < elements->width; ++k)
    gqValueMapFree(&elements->maps[k]);
}

static MlirBlock bodyOf(MlirOperation module, const char *function) {
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MlirOperation op =
      mlirSymbolTableLookup(symbols, mlirStringRefCreateFromCString(function));
  mlirSymbolTableDestroy(symbols);
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
}

/// What a producer yields.
static MlirValue yieldedBy(MlirBlock body) {
  return mlirOperationGetOperand(mlirBlockGetTerminator(body), 0);
}

void gqFillElements(MlirOperation module, const char *name, MlirRegion producer,
                    bool usual) {
  MlirBlock from = mlirRegionGetFirstBlock(producer);
  MlirBlock to = bodyOf(module, name);
  MlirOperation end = mlirBlockGetTerminator(to);
  Elements elements = buildElements(from, to, WIDTH,
                                    usual ? mlirOperationGetOperand(end, 0)
                                          : (MlirValue){NULL});
  buildResults(
      &elements, yieldedBy(from),
      mlirBlockGetArgument(to, WIDTH * mlirBlockGetNumArguments(from)));
  if (usual)
    mlirOperationSetOperand(end, 0, elements.usual);
  freeElements(&elements);
}

void gqFillOneElement(MlirOperation module, MlirRegion producer) {
  MlirBlock from = mlirRegionGetFirstBlock(producer);
  MlirBlock to = bodyOf(module, "one_element");
  Elements elements = buildElements(from, to, 1, (MlirValue){NULL});
  mlirOperationSetOperand(mlirBlockGetTerminator(to), 0,
                          buildF32(&elements, yieldedBy(from), 0));
  freeElements(&elements);
}
