//===- CheckNames.c - gq-check-names ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Passes.h"
#include "Query.h"

#include "../Support/Text.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Diagnostics.h"

/// The name of a symbol; empty if `op` is none.
static MlirStringRef symbolName(MlirOperation op) {
  MlirAttribute name = gqGetAttribute(op, "sym_name");
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name))
    return mlirStringRefCreate("", 0);
  return mlirStringAttrGetValue(name);
}

static bool startsWith(MlirStringRef name, const char *prefix) {
  return gqStartsWith(name.data, name.length, prefix);
}

/// A function of libm that convert-math-to-libm may call, in double or, with an
/// "f" at its end, in float.
static bool isMathFunction(MlirStringRef name) {
  static const char *const names[] = {
      "acos", "acosh", "asin",      "asinh", "atan", "atan2",  "atanh", "cbrt",
      "ceil", "cos",   "cosh",      "erf",   "erfc", "exp",    "exp2",  "expm1",
      "fabs", "floor", "fma",       "fmod",  "log",  "log10",  "log1p", "log2",
      "pow",  "round", "roundeven", "rsqrt", "sin",  "sincos", "sinh",  "sqrt",
      "tan",  "tanh",  "trunc",     NULL};
  if (gqIsStringOneOf(name, names))
    return true;
  if (name.length && name.data[name.length - 1] == 'f')
    --name.length;
  return gqIsStringOneOf(name, names);
}

/// Names that the lowering uses: it would take a module's own symbol of that
/// name for the function that it calls or makes.
static bool isReserved(MlirStringRef name) {
  static const char *const names[] = {
      "abort",     "aligned_alloc", "free",       "malloc",
      "memcpy",    "memmove",       "memrefCopy", "memset",
      "printBF16", "printClose",    "printComma", "printF16",
      "printF32",  "printF64",      "printI64",   "printNewline",
      "printOpen", "printString",   "printU64",   "puts",
      NULL};
  static const char *const prefixes[] = {
      "__nv_",       "_mlir_ciface_", "_mlir_memref_to_llvm_",
      "gqCpu",       "gqDevice",      "gqGet",
      "gqHeap",      "gqKernel",      "gqLaunch",
      "gqReduce",    "gqStream",      "gqTiles",
      "gq_kernels_", "gq_operands_",  "mgpu",
  };
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i)
    if (startsWith(name, prefixes[i]))
      return true;
  return gqIsStringOneOf(name, names) || isMathFunction(name);
}

/// A function without a body, which is defined elsewhere.
static bool isDeclaration(MlirOperation op) {
  return (gqIsNamed(op, "func.func") || gqIsNamed(op, "llvm.func")) &&
         mlirBlockIsNull(
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

/// Whether the C interface of one of the module's own functions has this name.
static bool isNameOfCInterface(MlirSymbolTable symbols, MlirStringRef name) {
  static const char prefix[] = "_mlir_ciface_";
  size_t length = sizeof(prefix) - 1;
  return startsWith(name, prefix) &&
         !mlirOperationIsNull(mlirSymbolTableLookup(
             symbols,
             mlirStringRefCreate(name.data + length, name.length - length)));
}

static void failName(MlirOperation op, MlirStringRef name, const char *why) {
  gqText message = {0};
  gqTextPrintf(&message, "the name '%.*s' is reserved for %s", (int)name.length,
               name.data, why);
  mlirEmitError(mlirOperationGetLocation(op), gqTextString(&message));
  gqTextFree(&message);
}

static bool checkSymbol(MlirSymbolTable symbols, MlirOperation op) {
  MlirStringRef name = symbolName(op);
  bool isIntrinsic = startsWith(name, "llvm.");
  if (isIntrinsic)
    failName(op, name, "LLVM's intrinsics; llvm.call_intrinsic calls one");
  else if (isReserved(name) &&
           (!isDeclaration(op) || isNameOfCInterface(symbols, name)))
    failName(op, name, "what generated code calls; choose another");
  else
    return true;
  return false;
}

MlirLogicalResult gqCheckNames(MlirOperation module) {
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  bool valid = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    valid &= checkSymbol(symbols, op);
  mlirSymbolTableDestroy(symbols);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
