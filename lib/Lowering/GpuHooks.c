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
#include <string.h>

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
static const char matrixType[] = "!llvm.struct<(ptr<1>, i64, i32)>";

/// Of it, as many as 16 bf16 take.
enum { HELD = 2 };

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

/// %<array><i> = room for 16 floats.
static void printArray(gqText *text, const char *array, int i) {
  gqTextPrintf(text,
               "  %%%s%d = llvm.alloca %%c16 x f32 : (i32) -> !llvm.ptr\n",
               array, i);
}

/// Loads 16 elements of input i, a matrix or a row, to %<array><i>.
static void printLoad16(gqText *text, const gqGpuInput *input, int i,
                        const char *suffix, const char *array) {
  if (input->gathered)
    gqTextPrintf(
        text,
        "  %%g%d = llvm.mlir.addressof @gq_dev_load16_%s%s : !llvm.ptr\n"
        "  llvm.call @gq_dev_load16_gathered(%%g%d, %%m%d, %%source, "
        "%%column, %%%s%d) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> "
        "()\n",
        i, input->type, suffix, i, i, array, i);
  else
    gqTextPrintf(
        text,
        "  llvm.call @gq_dev_load16_%s%s(%%m%d, %s, %%column, %%%s%d) : "
        "(!llvm.ptr, i64, i64, !llvm.ptr) -> ()\n",
        input->type, suffix, i,
        input->access == GQ_GPU_ACCESS_MATRIX ? "%row" : "%zero", array, i);
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

/// Computes elements from `first` on, as many as @elements does, to %<out>.
/// With `usual` there is a %usual_<first>.
static void printCallOfElements(gqText *text, const gqGpuInput *inputs,
                                intptr_t numInputs, int first, const char *out,
                                bool usual) {
  for (int k = first; k < first + GQ_GPU_ELEMENTS; ++k)
    for (int i = 0; i < numInputs; ++i)
      if (isVector(&inputs[i]))
        printLoaded(text, i, k);
  gqTextPrintf(text,
               "  %%out_%d = llvm.getelementptr %%%s[%d] : (!llvm.ptr) -> "
               "!llvm.ptr, f32\n",
               first, out, first);
  if (usual)
    gqTextPrintf(text, "  %%usual_%d =", first);
  gqTextPrintf(text, "  llvm.call @elements(");
  for (int k = first; k < first + GQ_GPU_ELEMENTS; ++k)
    for (int i = 0; i < numInputs; ++i)
      gqTextPrintf(text, isVector(&inputs[i]) ? "%%f%d_%d, " : "%%f%d, ", i, k);
  gqTextPrintf(text, "%%out_%d) : (", first);
  for (int k = 0; k < GQ_GPU_ELEMENTS * numInputs; ++k)
    gqTextPrintf(text, "f32, ");
  gqTextPrintf(text, "!llvm.ptr) -> %s\n", usual ? "i32" : "()");
}

/// Begins a hook, with %m<i> = input i.
static void printHookHeader(gqText *text, intptr_t numInputs,
                            const char *suffix) {
  gqTextPrintf(text,
               "llvm.func internal @load16%s(%%inputs: !llvm.ptr, %%row: i64, "
               "%%column: i64, %%out: !llvm.ptr) attributes {always_inline} {\n"
               "  %%c16 = llvm.mlir.constant(16 : i32) : i32\n"
               "  %%zero = llvm.mlir.constant(0 : i64) : i64\n",
               suffix);
  for (int i = 0; i < numInputs; ++i)
    gqTextPrintf(text,
                 "  %%m%d = llvm.getelementptr %%inputs[%d] : (!llvm.ptr) -> "
                 "!llvm.ptr, %s\n",
                 i, i, matrixType);
}

/// A hook that loads the inputs for 16 elements and computes them. `suffix`
/// is that of the hooks that it loads matrices with; `rowIndexBits` is the
/// width of the row indices, 0 if there are none.
static void printHook(gqText *text, const gqGpuInput *inputs,
                      intptr_t numInputs, int32_t rowIndexBits,
                      const char *suffix) {
  printHookHeader(text, numInputs, suffix);
  if (rowIndexBits)
    printSourceRow(text, numInputs, rowIndexBits);
  for (int i = 0; i < numInputs; ++i)
    switch (inputs[i].access) {
    case GQ_GPU_ACCESS_MATRIX:
    case GQ_GPU_ACCESS_ROW:
      printArray(text, "b", i);
      printLoad16(text, &inputs[i], i, suffix, "b");
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
  for (int first = 0; first < 16; first += GQ_GPU_ELEMENTS)
    printCallOfElements(text, inputs, numInputs, first, "out", false);
  gqTextPrintf(text, "  llvm.return\n}\n");
}

/// Calls a function of two arrays, from %<from><i> to %<to><j>.
static void printCopy(gqText *text, const char *function, const char *from,
                      int i, const char *to, int j) {
  gqTextPrintf(text,
               "  llvm.call @gq_dev_%s16(%%%s%d, %%%s%d) : (!llvm.ptr, "
               "!llvm.ptr) -> ()\n",
               function, from, i, to, j);
}

/// Computes the elements again, one by one, rarely and in little code: the
/// first of those that are left each time.
static void printLoop(gqText *text, intptr_t numInputs) {
  gqTextPrintf(text, "^again(%%n: i32):\n");
  for (int i = 0; i < numInputs; ++i)
    gqTextPrintf(
        text,
        "  %%first%d = llvm.call @gq_dev_shift16(%%old%d, %%nothing) : "
        "(!llvm.ptr, f32) -> f32\n",
        i, i);
  gqTextPrintf(text, "  %%y = llvm.call @one_element(");
  for (int i = 0; i < numInputs; ++i)
    gqTextPrintf(text, "%s%%first%d", i ? ", " : "", i);
  gqTextPrintf(text, ") : (");
  for (int i = 0; i < numInputs; ++i)
    gqTextPrintf(text, "%sf32", i ? ", " : "");
  gqTextPrintf(text,
               ") -> f32\n"
               "  %%gone = llvm.call @gq_dev_shift16(%%words0, %%y) : "
               "(!llvm.ptr, f32) -> f32\n"
               "  %%next = llvm.add %%n, %%one : i32\n"
               "  %%left = llvm.icmp \"ult\" %%next, %%c16 : i32\n"
               "  llvm.cond_br %%left, ^again(%%next : i32), ^done "
               "{loop_annotation = #llvm.loop_annotation<unroll = <disable = "
               "true>>}\n");
}

/// Computes what the call before loaded, to %words0; %all_<the last k> says
/// whether all of it is usual.
static void printHeldElements(gqText *text, const gqGpuTable *table,
                              const gqGpuInput *inputs, intptr_t numInputs) {
  // What is looked up is one more input of elements.
  gqGpuInput all[GQ_MAX_INPUTS + 1];
  memcpy(all, inputs, (size_t)numInputs * sizeof(*inputs));
  all[numInputs] = (gqGpuInput){.access = GQ_GPU_ACCESS_MATRIX};
  for (int i = 0; i < numInputs; ++i) {
    printCopy(text, "copy", "held", i, "old", i);
    printCopy(text, "unpack", "held", i, "b", i);
  }
  if (table)
    gqTextPrintf(text,
                 "  %%found = llvm.call @gq_dev_look_up16(%%held%d, %%b%d) : "
                 "(!llvm.ptr, !llvm.ptr) -> i32\n",
                 table->input, (int)numInputs);
  for (int first = 0; first < 16; first += GQ_GPU_ELEMENTS)
    printCallOfElements(text, all, numInputs + (table != NULL), first,
                        "results0", true);
  gqTextPrintf(text, "  %%all_0 = llvm.and %%usual_0, %%%s : i32\n",
               table ? "found" : "one");
  for (int k = GQ_GPU_ELEMENTS; k < 16; k += GQ_GPU_ELEMENTS)
    gqTextPrintf(text, "  %%all_%d = llvm.and %%all_%d, %%usual_%d : i32\n", k,
                 k - GQ_GPU_ELEMENTS, k);
  printCopy(text, "pack", "results", 0, "words", 0);
}

/// Loads what the next call will compute to %ahead<i>.
static void printLoadsAhead(gqText *text, const gqGpuInput *inputs,
                            intptr_t numInputs, const char *suffix) {
  for (int i = 0; i < numInputs; ++i)
    printLoad16(text, &inputs[i], i, suffix, "ahead");
}

/// Holds it until then.
static void printHold(gqText *text, intptr_t numInputs) {
  for (int i = 0; i < numInputs; ++i)
    printCopy(text, "pack", "ahead", i, "held", i);
}

/// What follows where %rare was found, and ^done, with the elements in %out.
static void printRare(gqText *text, intptr_t numInputs) {
  gqTextPrintf(text, "  llvm.cond_br %%rare, ^again(%%no : i32), ^done\n");
  printLoop(text, numInputs);
  gqTextPrintf(text, "^done:\n"
                     "  llvm.call @gq_dev_unpack16(%%words0, %%out) : "
                     "(!llvm.ptr, !llvm.ptr) -> ()\n");
}

/// The body of a hook that loads first. Its rows always exist: a branch would
/// leave it to compilers to load last.
static void printLoadsFirst(gqText *text, const gqGpuTable *table,
                            const gqGpuInput *inputs, intptr_t numInputs,
                            const char *suffix) {
  printLoadsAhead(text, inputs, numInputs, suffix);
  gqTextPrintf(text, "  llvm.cond_br %%first, ^hold, ^compute\n"
                     "^compute:\n");
  printHeldElements(text, table, inputs, numInputs);
  gqTextPrintf(text, "  %%rare = llvm.icmp \"eq\" %%all_%d, %%no : i32\n",
               16 - GQ_GPU_ELEMENTS);
  printRare(text, numInputs);
  gqTextPrintf(text, "  llvm.br ^hold\n"
                     "^hold:\n");
  printHold(text, numInputs);
}

/// The body of one that loads last, if `row` is not negative.
static void printLoadsLast(gqText *text, const gqGpuTable *table,
                           const gqGpuInput *inputs, intptr_t numInputs,
                           const char *suffix) {
  gqTextPrintf(text, "  %%more = llvm.icmp \"sge\" %%row, %%zero : i64\n"
                     "  llvm.cond_br %%first, ^load(%%one : i32), ^compute\n"
                     "^compute:\n");
  printHeldElements(text, table, inputs, numInputs);
  gqTextPrintf(text,
               "  llvm.cond_br %%more, ^load(%%all_%d : i32), ^check(%%all_%d "
               ": i32)\n"
               "^load(%%all: i32):\n",
               16 - GQ_GPU_ELEMENTS, 16 - GQ_GPU_ELEMENTS);
  printLoadsAhead(text, inputs, numInputs, suffix);
  printHold(text, numInputs);
  gqTextPrintf(text, "  llvm.cond_br %%first, ^end, ^check(%%all : i32)\n"
                     "^check(%%usual: i32):\n"
                     "  %%rare = llvm.icmp \"eq\" %%usual, %%no : i32\n");
  printRare(text, numInputs);
  gqTextPrintf(text, "  llvm.br ^end\n^end:\n");
}

/// A hook that computes what it loaded at the call before: see loadsAhead in
/// QuantizeRows.def and inputsAhead in QuantizeTiles.def.
static void printHookAhead(gqText *text, const gqGpuProducer *producer,
                           const gqGpuInput *inputs, intptr_t numInputs,
                           const char *suffix) {
  printHookHeader(text, numInputs, suffix);
  gqTextPrintf(text,
               "  %%no = llvm.mlir.constant(0 : i32) : i32\n"
               "  %%one = llvm.mlir.constant(1 : i32) : i32\n"
               "  %%nothing = llvm.mlir.constant(0.0 : f32) : f32\n"
               "  %%null = llvm.mlir.zero : !llvm.ptr\n"
               "  %%first = llvm.icmp \"eq\" %%out, %%null : !llvm.ptr\n");
  printArray(text, "results", 0);
  printArray(text, "words", 0);
  for (int i = 0; i < numInputs; ++i) {
    gqTextPrintf(
        text,
        "  %%held%d = llvm.getelementptr %%inputs[%d] : (!llvm.ptr) -> "
        "!llvm.ptr, %s\n",
        i, (int)numInputs + HELD * i, matrixType);
    printArray(text, "b", i);
    printArray(text, "old", i);
    printArray(text, "ahead", i);
  }
  if (producer->table)
    printArray(text, "b", (int)numInputs);
  if (producer->ahead == GQ_AHEAD_FIRST)
    printLoadsFirst(text, producer->table, inputs, numInputs, suffix);
  else
    printLoadsLast(text, producer->table, inputs, numInputs, suffix);
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
          "!llvm.ptr)\n"
          "llvm.func @gq_dev_load16_%s_any(!llvm.ptr, i64, i64, !llvm.ptr)\n",
          inputs[i].type, inputs[i].type, inputs[i].type);
  }
}

/// What hooks that load ahead call.
static void printAheadDeclarations(gqText *text) {
  gqTextPrintf(text, "llvm.func @gq_dev_copy16(!llvm.ptr, !llvm.ptr)\n"
                     "llvm.func @gq_dev_pack16(!llvm.ptr, !llvm.ptr)\n"
                     "llvm.func @gq_dev_unpack16(!llvm.ptr, !llvm.ptr)\n"
                     "llvm.func @gq_dev_shift16(!llvm.ptr, f32) -> f32\n");
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

/// What looks up a table, @tabulated, and @fill_table, a function of its own:
/// in the kernel itself LLVM would inline one hook too many to take %inputs
/// apart.
static void printTable(gqText *text) {
  gqPrintElements(text, "tabulated", 1, false);
  gqTextPrintf(
      text, "llvm.func @gq_dev_look_up16(!llvm.ptr, !llvm.ptr) -> i32\n"
            "llvm.func @gq_dev_fill_table(!llvm.ptr)\n"
            "llvm.func internal @fill_table() attributes {always_inline} {\n"
            "  %%tabulated = llvm.mlir.addressof @tabulated : !llvm.ptr\n"
            "  llvm.call @gq_dev_fill_table(%%tabulated) : (!llvm.ptr) -> ()\n"
            "  llvm.return\n}\n");
}

void gqPrintProducerHooks(gqText *text, const gqGpuProducer *producer,
                          const gqGpuInput *inputs, intptr_t numInputs,
                          int32_t rowIndexBits) {
  const gqGpuTable *table = producer->table;
  gqPrintElementDeclarations(text);
  gqPrintElements(text, "elements", numInputs + (table != NULL),
                  producer->ahead);
  if (table)
    printTable(text);
  if (producer->ahead) {
    gqPrintOneElement(text, numInputs);
    printAheadDeclarations(text);
    printHookAhead(text, producer, inputs, numInputs, "");
    printHookAhead(text, producer, inputs, numInputs, "_unaligned");
    return;
  }
  if (rowIndexBits)
    printGatherDeclarations(text);
  printHook(text, inputs, numInputs, rowIndexBits, "");
  printHook(text, inputs, numInputs, rowIndexBits, "_unaligned");
}

void gqFillProducer(MlirOperation module, const gqGpuProducer *producer) {
  const gqGpuTable *table = producer->table;
  gqFillElements(module, "elements", table ? table->rest : producer->region,
                 producer->ahead);
  if (producer->ahead)
    gqFillOneElement(module, producer->region);
  if (table)
    gqFillElements(module, "tabulated", table->function, false);
}

bool gqShouldLoadAhead(MlirRegion producer) {
  intptr_t numInputs =
      mlirBlockGetNumArguments(mlirRegionGetFirstBlock(producer));
  return numInputs == 2 &&
         (gqDividesExactly(producer) || !gqCallsFunctions(producer));
}

bool gqCanLoadAhead(MlirRegion producer, const gqGpuInput *inputs,
                    intptr_t numInputs) {
  if (mlirRegionIsNull(producer))
    return false;
  for (intptr_t i = 0; i < numInputs; ++i)
    if (!isVector(&inputs[i]) || inputs[i].gathered ||
        strcmp(inputs[i].type, "bf16") != 0)
      return false;
  MlirOperation yield =
      mlirBlockGetTerminator(mlirRegionGetFirstBlock(producer));
  MlirType result = mlirValueGetType(mlirOperationGetOperand(yield, 0));
  return numInputs <= 2 && mlirTypeIsABF16(result);
}

void gqPrintInputs(gqText *text, const gqGpuInput *inputs, intptr_t numInputs,
                   bool gathers, bool ahead, bool asks) {
  gqTextPrintf(text,
               "  %%count = llvm.mlir.constant(%d : i32) : i32\n"
               "  %%inputs = llvm.alloca %%count x %s : (i32) -> !llvm.ptr\n"
               "  %%none = llvm.mlir.constant(0 : i64) : i64\n"
               "  %%mask = llvm.mlir.constant(15 : i64) : i64\n",
               (int)numInputs * (ahead ? 1 + HELD : 1) + gathers, matrixType);
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
  if (asks)
    gqTextPrintf(text,
                 "  %%alignment = llvm.zext %%aligned : i1 to i32\n"
                 "  %%a0 = llvm.getelementptr %%inputs[0, 2] : (!llvm.ptr) -> "
                 "!llvm.ptr, %s\n"
                 "  llvm.store %%alignment, %%a0 : i32, !llvm.ptr\n",
                 matrixType);
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
