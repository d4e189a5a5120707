//===- GpuHooks.c - the inputs of GPU kernels -----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuHooks.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/BuiltinTypes.h"

#include <inttypes.h>
#include <stdio.h>

static const char *elementName(MlirType element) {
  return mlirTypeIsABF16(element)  ? "bf16"
         : mlirTypeIsAF16(element) ? "f16"
                                   : "f32";
}

static gqGpuAccess accessOf(MlirAffineMap map) {
  if (mlirAffineMapIsNull(map))
    return GQ_GPU_ACCESS_MATRIX;
  intptr_t rank = mlirAffineMapGetNumResults(map);
  if (rank != 1)
    return rank ? GQ_GPU_ACCESS_MATRIX : GQ_GPU_ACCESS_SCALAR;
  if (gqIsGatherMap(map))
    return GQ_GPU_ACCESS_COLUMN;
  return mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, 0))
             ? GQ_GPU_ACCESS_ROW
             : GQ_GPU_ACCESS_COLUMN;
}

gqGpuInput gqGpuInputOf(MlirType buffer, MlirAffineMap map) {
  MlirType element = mlirShapedTypeGetElementType(buffer);
  return (gqGpuInput){
      .access = accessOf(map),
      .gathered = !mlirAffineMapIsNull(map) && gqIsGatherMap(map),
      .type = elementName(element),
      .elementSize = mlirTypeIsAF32(element) ? 4 : 2,
  };
}

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

/// gq_dev_matrix
static const char matrixType[] = "!llvm.struct<(ptr<1>, i64)>";

void gqPrintEpilogue(gqText *text, MlirRegion epilogue) {
  static const char *const words[] = {"bits", "second"};
  MlirBlock body = mlirRegionGetFirstBlock(epilogue);
  MlirType argument = mlirValueGetType(mlirBlockGetArgument(body, 0));
  MlirType result = mlirValueGetType(
      mlirOperationGetOperand(mlirBlockGetTerminator(body), 0));
  const char *from = elementName(argument), *to = elementName(result);
  gqTextPrintf(text,
               "llvm.func internal @element(%%e0: %s, %%e1: %s) -> %s "
               "attributes {always_inline} {\n",
               from, from, to);
  gqTextPrintf(text,
               "  %%poison = llvm.mlir.poison : %s\n"
               "  llvm.return %%poison : %s\n}\n"
               "llvm.func internal @epilogue(%%bits: i32, %%second: i32) -> "
               "i32 attributes {always_inline} {\n",
               to, to);
  for (int i = 0; i < 2; ++i)
    if (mlirTypeIsAF32(argument))
      gqTextPrintf(text, "  %%x%d = llvm.bitcast %%%s : i32 to f32\n", i,
                   words[i]);
    else
      gqTextPrintf(text,
                   "  %%half%d = llvm.trunc %%%s : i32 to i16\n"
                   "  %%x%d = llvm.bitcast %%half%d : i16 to %s\n",
                   i, words[i], i, i, from);
  gqTextPrintf(text,
               "  %%y = llvm.call @element(%%x0, %%x1) : (%s, %s) -> %s\n",
               from, from, to);
  if (mlirTypeIsAF32(result))
    gqTextPrintf(text, "  %%word = llvm.bitcast %%y : f32 to i32\n");
  else
    gqTextPrintf(text,
                 "  %%low = llvm.bitcast %%y : %s to i16\n"
                 "  %%word = llvm.zext %%low : i16 to i32\n",
                 to);
  gqTextPrintf(text, "  llvm.return %%word : i32\n}\n");
}

/// %f<i>_<k> = element k of what was loaded for input i, in which it is exact.
static void printLoaded(gqText *text, int i, int k) {
  gqTextPrintf(text,
               "  %%p%d_%d = llvm.getelementptr %%b%d[%d] : (!llvm.ptr) -> "
               "!llvm.ptr, f32\n"
               "  %%f%d_%d = llvm.load %%p%d_%d : !llvm.ptr -> f32\n",
               i, k, i, k, i, k, i, k);
}

/// Whether there is an element of the input for each element of a row.
static bool isVector(const gqGpuInput *input) {
  return input->access == GQ_GPU_ACCESS_MATRIX ||
         input->access == GQ_GPU_ACCESS_ROW;
}

/// %source = the row that inputs are gathered from. The row indices and the
/// number of rows follow the inputs as another gq_dev_matrix would.
static void printSourceRow(gqText *text, intptr_t numInputs,
                           int32_t rowIndexBits) {
  gqTextPrintf(
      text,
      "  %%indices_at = llvm.getelementptr %%inputs[%d, 0] : (!llvm.ptr) -> "
      "!llvm.ptr, %s\n"
      "  %%indices = llvm.load %%indices_at : !llvm.ptr -> !llvm.ptr<1>\n"
      "  %%rows_at = llvm.getelementptr %%inputs[%d, 1] : (!llvm.ptr) -> "
      "!llvm.ptr, %s\n"
      "  %%rows = llvm.load %%rows_at : !llvm.ptr -> i64\n"
      "  %%bits = llvm.mlir.constant(%d : i32) : i32\n"
      "  %%source = llvm.call @gq_dev_source_row(%%indices, %%bits, "
      "%%rows, %%row) : (!llvm.ptr<1>, i32, i64, i64) -> i64\n",
      (int)numInputs, matrixType, (int)numInputs, matrixType, rowIndexBits);
}

/// Loads 16 elements of input i, a matrix or a row, to %b<i>.
static void printLoad16(gqText *text, const gqGpuInput *input, int i,
                        const char *suffix) {
  gqTextPrintf(text, "  %%b%d = llvm.alloca %%c16 x f32 : (i32) -> !llvm.ptr\n",
               i);
  if (input->gathered)
    gqTextPrintf(
        text,
        "  %%g%d = llvm.mlir.addressof @gq_dev_load16_%s%s : !llvm.ptr\n"
        "  llvm.call @gq_dev_load16_gathered(%%g%d, %%m%d, %%source, "
        "%%column, %%b%d) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> "
        "()\n",
        i, input->type, suffix, i, i, i);
  else
    gqTextPrintf(
        text,
        "  llvm.call @gq_dev_load16_%s%s(%%m%d, %s, %%column, %%b%d) : "
        "(!llvm.ptr, i64, i64, !llvm.ptr) -> ()\n",
        input->type, suffix, i,
        input->access == GQ_GPU_ACCESS_MATRIX ? "%row" : "%zero", i);
}

/// %a<i> = the address of the element of the row of input i, a column or a
/// scalar.
static void printElementAddress(gqText *text, const gqGpuInput *input, int i) {
  if (input->gathered)
    gqTextPrintf(
        text,
        "  %%t%d = llvm.mlir.constant(%" PRId64 " : i64) : i64\n"
        "  %%a%d = llvm.call @gq_dev_gathered_element(%%m%d, %%source, "
        "%%t%d) : (!llvm.ptr, i64, i64) -> !llvm.ptr<1>\n",
        i, input->elementSize, i, i, i);
  else
    gqTextPrintf(text,
                 "  %%q%d = llvm.load %%m%d : !llvm.ptr -> !llvm.ptr<1>\n"
                 "  %%t%d = llvm.getelementptr %%m%d[0, 1] : (!llvm.ptr) -> "
                 "!llvm.ptr, %s\n"
                 "  %%s%d = llvm.load %%t%d : !llvm.ptr -> i64\n"
                 "  %%o%d = llvm.mul %%row, %%s%d : i64\n"
                 "  %%a%d = llvm.getelementptr %%q%d[%%o%d] : (!llvm.ptr<1>, "
                 "i64) -> !llvm.ptr<1>, %s\n",
                 i, i, i, i, matrixType, i, i, i, i, i, i, i, input->type);
}

/// Computes elements from `first` on, as many as @elements does.
static void printCallOfElements(gqText *text, const gqGpuInput *inputs,
                                intptr_t numInputs, int first) {
  for (int k = first; k < first + GQ_GPU_ELEMENTS; ++k)
    for (int i = 0; i < numInputs; ++i)
      if (isVector(&inputs[i]))
        printLoaded(text, i, k);
  gqTextPrintf(text,
               "  %%out_%d = llvm.getelementptr %%out[%d] : (!llvm.ptr) -> "
               "!llvm.ptr, f32\n"
               "  llvm.call @elements(",
               first, first);
  for (int k = first; k < first + GQ_GPU_ELEMENTS; ++k)
    for (int i = 0; i < numInputs; ++i)
      gqTextPrintf(text, isVector(&inputs[i]) ? "%%f%d_%d, " : "%%f%d, ", i, k);
  gqTextPrintf(text, "%%out_%d) : (", first);
  for (int k = 0; k < GQ_GPU_ELEMENTS * numInputs; ++k)
    gqTextPrintf(text, "f32, ");
  gqTextPrintf(text, "!llvm.ptr) -> ()\n");
}

/// A hook that loads the inputs for 16 elements and computes them. `suffix`
/// is that of the hooks that it loads matrices with; `rowIndexBits` is the
/// width of the row indices, 0 if there are none.
static void printHook(gqText *text, const gqGpuInput *inputs,
                      intptr_t numInputs, int32_t rowIndexBits,
                      const char *suffix) {
  gqTextPrintf(text,
               "llvm.func internal @load16%s(%%inputs: !llvm.ptr, %%row: i64, "
               "%%column: i64, %%out: !llvm.ptr) attributes {always_inline} {\n"
               "  %%c16 = llvm.mlir.constant(16 : i32) : i32\n"
               "  %%zero = llvm.mlir.constant(0 : i64) : i64\n",
               suffix);
  if (rowIndexBits)
    printSourceRow(text, numInputs, rowIndexBits);
  for (int i = 0; i < numInputs; ++i) {
    gqTextPrintf(text,
                 "  %%m%d = llvm.getelementptr %%inputs[%d] : (!llvm.ptr) -> "
                 "!llvm.ptr, %s\n",
                 i, i, matrixType);
    switch (inputs[i].access) {
    case GQ_GPU_ACCESS_MATRIX:
    case GQ_GPU_ACCESS_ROW:
      printLoad16(text, &inputs[i], i, suffix);
      break;
    case GQ_GPU_ACCESS_COLUMN:
    case GQ_GPU_ACCESS_SCALAR:
      printElementAddress(text, &inputs[i], i);
      gqTextPrintf(text, "  %%%c%d = llvm.load %%a%d : !llvm.ptr<1> -> %s\n",
                   inputs[i].elementSize == 4 ? 'f' : 'v', i, i,
                   inputs[i].type);
      if (inputs[i].elementSize != 4)
        gqTextPrintf(text, "  %%f%d = llvm.fpext %%v%d : %s to f32\n", i, i,
                     inputs[i].type);
    }
  }
  for (int first = 0; first < 16; first += GQ_GPU_ELEMENTS)
    printCallOfElements(text, inputs, numInputs, first);
  gqTextPrintf(text, "  llvm.return\n}\n");
}

void gqPrintHookDeclarations(gqText *text, const gqGpuInput *inputs,
                             intptr_t numInputs) {
  for (intptr_t i = 0; i < numInputs; ++i) {
    bool declared = false;
    for (intptr_t j = 0; j < i; ++j)
      declared |= inputs[i].type == inputs[j].type;
    if (!declared)
      gqTextPrintf(
          text,
          "llvm.func @gq_dev_load16_%s(!llvm.ptr, i64, i64, !llvm.ptr)\n"
          "llvm.func @gq_dev_load16_%s_unaligned(!llvm.ptr, i64, i64, "
          "!llvm.ptr)\n",
          inputs[i].type, inputs[i].type);
  }
}

/// What gathering hooks call.
static void printGatherDeclarations(gqText *text) {
  gqTextPrintf(
      text, "llvm.func @gq_dev_source_row(!llvm.ptr<1>, i32, i64, i64) -> i64\n"
            "llvm.func @gq_dev_load16_gathered(!llvm.ptr, !llvm.ptr, i64, i64, "
            "!llvm.ptr)\n"
            "llvm.func @gq_dev_gathered_element(!llvm.ptr, i64, i64) -> "
            "!llvm.ptr<1>\n");
}

void gqPrintProducerHooks(gqText *text, const gqGpuInput *inputs,
                          intptr_t numInputs, int32_t rowIndexBits) {
  gqPrintElements(text, numInputs);
  if (rowIndexBits)
    printGatherDeclarations(text);
  printHook(text, inputs, numInputs, rowIndexBits, "");
  printHook(text, inputs, numInputs, rowIndexBits, "_unaligned");
}

void gqPrintInputs(gqText *text, const gqGpuInput *inputs, intptr_t numInputs,
                   bool gathers) {
  gqTextPrintf(text,
               "  %%count = llvm.mlir.constant(%d : i32) : i32\n"
               "  %%inputs = llvm.alloca %%count x %s : (i32) -> !llvm.ptr\n"
               "  %%none = llvm.mlir.constant(0 : i64) : i64\n"
               "  %%mask = llvm.mlir.constant(15 : i64) : i64\n",
               (int)numInputs + gathers, matrixType);
  if (gathers)
    gqTextPrintf(
        text,
        "  %%indices_at = llvm.getelementptr %%inputs[%d, 0] : (!llvm.ptr) "
        "-> !llvm.ptr, %s\n"
        "  llvm.store %%rowIndices, %%indices_at : !llvm.ptr<1>, "
        "!llvm.ptr\n"
        "  %%rows_at = llvm.getelementptr %%inputs[%d, 1] : (!llvm.ptr) -> "
        "!llvm.ptr, %s\n"
        "  llvm.store %%sourceRows, %%rows_at : i64, !llvm.ptr\n",
        (int)numInputs, matrixType, (int)numInputs, matrixType);
  const char *bits = "none";
  char name[16];
  for (int i = 0; i < numInputs; ++i) {
    gqTextPrintf(
        text,
        "  %%m%d = llvm.getelementptr %%inputs[%d, 0] : (!llvm.ptr) -> "
        "!llvm.ptr, %s\n"
        "  llvm.store %%x%d, %%m%d : !llvm.ptr<1>, !llvm.ptr\n"
        "  %%n%d = llvm.getelementptr %%inputs[%d, 1] : (!llvm.ptr) -> "
        "!llvm.ptr, %s\n"
        "  llvm.store %%s%d, %%n%d : i64, !llvm.ptr\n",
        i, i, matrixType, i, i, i, i, matrixType, i, i);
    if (inputs[i].access != GQ_GPU_ACCESS_MATRIX &&
        inputs[i].access != GQ_GPU_ACCESS_ROW)
      continue;
    gqTextPrintf(text,
                 "  %%z%d = llvm.mlir.constant(%" PRId64 " : i64) : i64\n"
                 "  %%y%d = llvm.mul %%s%d, %%z%d : i64\n"
                 "  %%i%d = llvm.ptrtoint %%x%d : !llvm.ptr<1> to i64\n"
                 "  %%j%d = llvm.or %%y%d, %%i%d : i64\n"
                 "  %%k%d = llvm.or %%j%d, %%%s : i64\n",
                 i, inputs[i].elementSize, i, i, i, i, i, i, i, i, i, i, bits);
    snprintf(name, sizeof(name), "k%d", i);
    bits = name;
  }
  gqTextPrintf(text,
               "  %%low = llvm.and %%%s, %%mask : i64\n"
               "  %%aligned = llvm.icmp \"eq\" %%low, %%none : i64\n",
               bits);
}

void gqFillElement(MlirOperation module, MlirRegion epilogue) {
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MlirOperation element =
      mlirSymbolTableLookup(symbols, mlirStringRefCreateFromCString("element"));
  mlirSymbolTableDestroy(symbols);
  MlirBlock from = mlirRegionGetFirstBlock(epilogue);
  MlirBlock to = mlirRegionGetFirstBlock(mlirOperationGetRegion(element, 0));
  MlirOperation ret = mlirBlockGetTerminator(to);
  MlirOperation poison = mlirOpResultGetOwner(mlirOperationGetOperand(ret, 0));
  mlirOperationRemoveFromParent(ret);

  gqValueMap map = {0};
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(from); ++i)
    gqValueMapAdd(&map, mlirBlockGetArgument(from, i),
                  mlirBlockGetArgument(to, i));
  gqCloneBody(from, to, &map);
  mlirBlockAppendOwnedOperation(to, ret);
  MlirValue value = gqValueMapGet(
      &map, mlirOperationGetOperand(mlirBlockGetTerminator(from), 0));
  gqValueMapFree(&map);

  mlirOperationSetOperand(ret, 0, value);
  mlirOperationDestroy(poison);
}
