//===- Source.c - what the pipeline takes for granted ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"
#include "../Support/Text.h"
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

/// What the checks below walk over, and how many failures they reported.
typedef struct Check {
  MlirOperation module;
  MlirSymbolTable symbols;
  int failures;
} Check;

static void failOp(Check *check, MlirOperation op, const char *message) {
  ++check->failures;
  mlirEmitError(mlirOperationGetLocation(op), message);
}

static bool hasName(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                            mlirStringRefCreateFromCString(name));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The name of a symbol; empty if `op` is none.
static MlirStringRef symbolName(MlirOperation op) {
  MlirAttribute name = mlirOperationGetAttributeByName(
      op, mlirSymbolTableGetSymbolAttributeName());
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return mlirStringRefCreate("", 0);
  return mlirStringAttrGetValue(name);
}

static bool startsWith(MlirStringRef string, const char *prefix) {
  size_t length = strlen(prefix);
  return string.length >= length && memcmp(string.data, prefix, length) == 0;
}

static bool isOneOf(MlirStringRef name, const char *const *names,
                    size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString(names[i])))
      return true;
  return false;
}

#define IS_ONE_OF(NAME, NAMES)                                                 \
  isOneOf(NAME, NAMES, sizeof(NAMES) / sizeof((NAMES)[0]))

/// A function of libm that convert-math-to-libm may call, in double or, with an
/// "f" at its end, in float.
static bool isMathFunction(MlirStringRef name) {
  static const char *const names[] = {
      "acos",  "acosh",  "asin", "asinh", "atan",  "atan2",     "atanh",
      "cbrt",  "ceil",   "cos",  "cosh",  "erf",   "erfc",      "exp",
      "exp2",  "expm1",  "fabs", "floor", "fma",   "fmod",      "log",
      "log10", "log1p",  "log2", "pow",   "round", "roundeven", "rsqrt",
      "sin",   "sincos", "sinh", "sqrt",  "tan",   "tanh",      "trunc"};
  if (IS_ONE_OF(name, names))
    return true;
  if (name.length && name.data[name.length - 1] == 'f')
    --name.length;
  return IS_ONE_OF(name, names);
}

/// Names that the lowering gives a meaning: it would take a module's own symbol
/// for the function that it calls, or that it makes.
static bool isReserved(MlirStringRef name) {
  static const char *const names[] = {
      "abort",        "aligned_alloc", "free",        "malloc",    "memcpy",
      "memmove",      "memrefCopy",    "memset",      "printBF16", "printClose",
      "printComma",   "printF16",      "printF32",    "printF64",  "printI64",
      "printNewline", "printOpen",     "printString", "printU64",  "puts"};
  static const char *const prefixes[] = {
      "__nv_",       "_mlir_ciface_", "_mlir_memref_to_llvm_",
      "gqCpu",       "gqDevice",      "gqGet",
      "gqHeap",      "gqKernel",      "gqLaunch",
      "gqReduce",    "gqStream",      "gqTiles",
      "gq_kernels_", "mgpu",
  };
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i)
    if (startsWith(name, prefixes[i]))
      return true;
  return IS_ONE_OF(name, names) || isMathFunction(name);
}

/// A function without a body, which somebody else defines.
static bool isDeclaration(MlirOperation op) {
  return (hasName(op, "func.func") || hasName(op, "llvm.func")) &&
         mlirBlockIsNull(
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

/// Whether the C interface of one of the module's own functions is called like
/// this.
static bool isNameOfCInterface(const Check *check, MlirStringRef name) {
  static const char prefix[] = "_mlir_ciface_";
  size_t length = sizeof(prefix) - 1;
  return startsWith(name, prefix) &&
         !mlirOperationIsNull(mlirSymbolTableLookup(
             check->symbols,
             mlirStringRefCreate(name.data + length, name.length - length)));
}

static void failName(Check *check, MlirOperation op, MlirStringRef name,
                     const char *why) {
  gqText message = {0};
  gqTextPrintf(&message, "the name '%.*s' is reserved for %s", (int)name.length,
               name.data, why);
  failOp(check, op, gqTextString(&message));
  gqTextFree(&message);
}

static void checkSymbol(Check *check, MlirOperation op) {
  MlirStringRef name = symbolName(op);
  if (startsWith(name, "llvm."))
    failName(check, op, name,
             "LLVM's intrinsics; llvm.call_intrinsic calls one");
  else if (isReserved(name) &&
           (!isDeclaration(op) || isNameOfCInterface(check, name)))
    failName(check, op, name, "what generated code calls; choose another");
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static MlirWalkResult checkOp(MlirOperation op, void *data) {
  Check *check = data;
  if (mlirOperationEqual(op, check->module))
    return MlirWalkResultAdvance;
  if (hasName(op, "builtin.module")) {
    failOp(check, op,
           "a module in a module is not compiled; move its functions out");
    return MlirWalkResultInterrupt;
  }
  // Only what gq-finalize-boundary writes is to be believed.
  mlirOperationRemoveDiscardableAttributeByName(
      op, mlirStringRefCreateFromCString("gq.boundary"));
  if (mlirOperationEqual(mlirOperationGetParentOperation(op), check->module))
    checkSymbol(check, op);
  return MlirWalkResultAdvance;
}

bool gqSourceCheck(MlirModule module) {
  MlirOperation op = mlirModuleGetOperation(module);
  Check check = {op, mlirSymbolTableCreate(op), 0};
  mlirOperationWalk(op, checkOp, &check, MlirWalkPreOrder);
  mlirSymbolTableDestroy(check.symbols);
  return !check.failures;
}
