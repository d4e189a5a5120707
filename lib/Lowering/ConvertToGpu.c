//===- ConvertToGpu.c - convert-gq-to-gpu ------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op becomes a gpu.module with one kernel and a launch of it. The kernel
// calls a function of runtime_kernels/device/Kernels.h, which the bitcode of
// the chip provides, with the op's attributes as constants; inlining makes it
// the kernel for just this op. Its input comes through a hook, load16: that of
// the element type, or one made of the op's producer.
//
// Both the kernel and the launch work on LLVM pointers and integers: memref
// descriptors would become parameters that nobody reads.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "gq-c/Dialect.h"
#include "runtime_kernels/device/Launch.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 32 };

//===----------------------------------------------------------------------===//
// The kernel's parameters: one list for its text and for the launch
//===----------------------------------------------------------------------===//

typedef struct Parameters {
  const gqBuilder *builder;
  intptr_t size;
  MlirValue values[MAX_PARAMETERS];
  /// "%name: type, ..." as the kernel declares them, and both parts apart, as
  /// a call has them.
  FILE *text, *names, *types;
} Parameters;

static void addParameter(Parameters *parameters, const char *type,
                         MlirValue value, const char *name, ...)
    __attribute__((format(printf, 4, 5)));

static void addParameter(Parameters *parameters, const char *type,
                         MlirValue value, const char *name, ...) {
  const char *separator = parameters->size ? ", " : "";
  char text[32];
  va_list arguments;
  va_start(arguments, name);
  vsnprintf(text, sizeof(text), name, arguments);
  va_end(arguments);
  fprintf(parameters->text, "%s%%%s: %s", separator, text, type);
  fprintf(parameters->names, "%s%%%s", separator, text);
  fprintf(parameters->types, "%s%s", separator, type);
  parameters->values[parameters->size++] = value;
}

/// A pointer to global memory from an address; null for an absent operand.
static MlirValue buildPointer(const gqBuilder *builder, MlirValue address) {
  return mlirValueIsNull(address)
             ? gqBuildValue(builder, "llvm.mlir.zero", 0, NULL,
                            mlirLLVMPointerTypeGet(builder->context, 1))
             : gqBuildPointer(builder, address, 1);
}

static void addPointer(Parameters *parameters, const char *name,
                       MlirValue address) {
  addParameter(parameters, "!llvm.ptr<1>",
               buildPointer(parameters->builder, address), "%s", name);
}

static void addInteger(Parameters *parameters, const char *name,
                       MlirValue value) {
  addParameter(parameters, "i64", value, "%s", name);
}

/// The address of an optional operand.
static MlirValue addressOf(const gqBuilder *builder, MlirValue buffer) {
  return mlirValueIsNull(buffer) ? (MlirValue){NULL}
                                 : gqBuildBufferValues(builder, buffer).address;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// How an input is read.
typedef enum Access {
  /// 16 elements of its row.
  ACCESS_MATRIX,
  /// 16 elements of the only row.
  ACCESS_ROW,
  /// The element of the row.
  ACCESS_COLUMN,
  /// The only element.
  ACCESS_SCALAR
} Access;

typedef struct Input {
  Access access;
  /// Of the row that the op's row indices give, in an op with a producer.
  bool gathered;
  /// The element type, as MLIR writes it and as the hooks are named.
  const char *type;
  int64_t elementSize;
} Input;

static const char *elementName(MlirType element) {
  return mlirTypeIsABF16(element)  ? "bf16"
         : mlirTypeIsAF16(element) ? "f16"
                                   : "f32";
}

static Access accessOf(MlirAffineMap map) {
  intptr_t rank = mlirAffineMapGetNumResults(map);
  if (rank != 1)
    return rank ? ACCESS_MATRIX : ACCESS_SCALAR;
  if (gqIsGatherMap(map))
    return ACCESS_COLUMN;
  return mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, 0))
             ? ACCESS_ROW
             : ACCESS_COLUMN;
}

/// Adds %x<i>, its pointer, and %s<i>, the elements from one row to the next,
/// to the parameters.
static Input addInput(Parameters *parameters, intptr_t i, MlirValue buffer,
                      MlirAffineMap map) {
  gqBufferValues values = gqBuildBufferValues(parameters->builder, buffer);
  Input input = {
      .access = mlirAffineMapIsNull(map) ? ACCESS_MATRIX : accessOf(map),
      .gathered = !mlirAffineMapIsNull(map) && gqIsGatherMap(map),
      .type =
          elementName(mlirShapedTypeGetElementType(mlirValueGetType(buffer))),
      .elementSize = gqElementTypeSize(values.type),
  };
  addParameter(parameters, "!llvm.ptr<1>",
               buildPointer(parameters->builder, values.address), "x%d",
               (int)i);
  MlirType i64 = mlirIntegerTypeGet(parameters->builder->context, 64);
  bool strided = input.access == ACCESS_MATRIX || input.access == ACCESS_COLUMN;
  addParameter(parameters, "i64",
               strided ? values.strides[0]
                       : gqBuildConstant(parameters->builder, i64, 0),
               "s%d", (int)i);
  return input;
}

//===----------------------------------------------------------------------===//
// The text of the kernel
//===----------------------------------------------------------------------===//

static const char matrixType[] = "!llvm.struct<(ptr<1>, i64)>";

/// The function that computes an element from those of the inputs; its body is
/// the op's producer, which `fillElement` puts there.
static void printElement(FILE *text, const Input *inputs, intptr_t numInputs) {
  fprintf(text, "llvm.func internal @element(");
  for (intptr_t i = 0; i < numInputs; ++i)
    fprintf(text, "%s%%e%d: %s", i ? ", " : "", (int)i, inputs[i].type);
  fprintf(text, ") -> f32 attributes {always_inline} {\n"
                "  %%poison = llvm.mlir.poison : f32\n"
                "  llvm.return %%poison : f32\n}\n");
}

/// %v<i>_<k> = element k of what was loaded for input i, in its own type. The
/// loaded float is exact in it.
static void printLoaded(FILE *text, const Input *input, int i, int k) {
  fprintf(text,
          "  %%p%d_%d = llvm.getelementptr %%b%d[%d] : (!llvm.ptr) -> "
          "!llvm.ptr, f32\n"
          "  %%f%d_%d = llvm.load %%p%d_%d : !llvm.ptr -> f32\n",
          i, k, i, k, i, k, i, k);
  if (input->type[0] == 'b') // bf16: the upper half, so that nothing rounds.
    fprintf(text,
            "  %%i%d_%d = llvm.bitcast %%f%d_%d : f32 to i32\n"
            "  %%u%d_%d = llvm.lshr %%i%d_%d, %%c16 : i32\n"
            "  %%h%d_%d = llvm.trunc %%u%d_%d : i32 to i16\n"
            "  %%v%d_%d = llvm.bitcast %%h%d_%d : i16 to bf16\n",
            i, k, i, k, i, k, i, k, i, k, i, k, i, k, i, k);
  else if (input->elementSize == 2)
    fprintf(text, "  %%v%d_%d = llvm.fptrunc %%f%d_%d : f32 to f16\n", i, k, i,
            k);
}

/// The value of element k of input i.
static void printValue(FILE *text, const Input *input, int i, int k) {
  bool vector = input->access == ACCESS_MATRIX || input->access == ACCESS_ROW;
  if (!vector)
    fprintf(text, "%%v%d", i);
  else
    fprintf(text, "%%%c%d_%d", input->elementSize == 4 ? 'f' : 'v', i, k);
}

/// %source = the row that inputs are gathered from. The row indices and the
/// number of rows follow the inputs as another gq_dev_matrix would.
static void printSourceRow(FILE *text, intptr_t numInputs,
                           int32_t rowIndexBits) {
  fprintf(
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
static void printLoad16(FILE *text, const Input *input, int i,
                        const char *suffix) {
  fprintf(text, "  %%b%d = llvm.alloca %%c16 x f32 : (i32) -> !llvm.ptr\n", i);
  if (input->gathered)
    fprintf(text,
            "  %%g%d = llvm.mlir.addressof @gq_dev_load16_%s%s : !llvm.ptr\n"
            "  llvm.call @gq_dev_load16_gathered(%%g%d, %%m%d, %%source, "
            "%%column, %%b%d) : (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> "
            "()\n",
            i, input->type, suffix, i, i, i);
  else
    fprintf(text,
            "  llvm.call @gq_dev_load16_%s%s(%%m%d, %s, %%column, %%b%d) : "
            "(!llvm.ptr, i64, i64, !llvm.ptr) -> ()\n",
            input->type, suffix, i,
            input->access == ACCESS_MATRIX ? "%row" : "%zero", i);
}

/// %a<i> = the address of the element of the row of input i, a column or a
/// scalar.
static void printElementAddress(FILE *text, const Input *input, int i) {
  if (input->gathered)
    fprintf(text,
            "  %%t%d = llvm.mlir.constant(%" PRId64 " : i64) : i64\n"
            "  %%a%d = llvm.call @gq_dev_gathered_element(%%m%d, %%source, "
            "%%t%d) : (!llvm.ptr, i64, i64) -> !llvm.ptr<1>\n",
            i, input->elementSize, i, i, i);
  else
    fprintf(text,
            "  %%q%d = llvm.load %%m%d : !llvm.ptr -> !llvm.ptr<1>\n"
            "  %%t%d = llvm.getelementptr %%m%d[0, 1] : (!llvm.ptr) -> "
            "!llvm.ptr, %s\n"
            "  %%s%d = llvm.load %%t%d : !llvm.ptr -> i64\n"
            "  %%o%d = llvm.mul %%row, %%s%d : i64\n"
            "  %%a%d = llvm.getelementptr %%q%d[%%o%d] : (!llvm.ptr<1>, "
            "i64) -> !llvm.ptr<1>, %s\n",
            i, i, i, i, matrixType, i, i, i, i, i, i, i, input->type);
}

/// A hook that loads the inputs for 16 elements and computes them. `suffix`
/// is that of the hooks that it loads matrices with; `rowIndexBits` is the
/// width of the row indices, 0 if there are none.
static void printHook(FILE *text, const Input *inputs, intptr_t numInputs,
                      int32_t rowIndexBits, const char *suffix) {
  fprintf(text,
          "llvm.func internal @load16%s(%%inputs: !llvm.ptr, %%row: i64, "
          "%%column: i64, %%out: !llvm.ptr) attributes {always_inline} {\n"
          "  %%c16 = llvm.mlir.constant(16 : i32) : i32\n"
          "  %%zero = llvm.mlir.constant(0 : i64) : i64\n",
          suffix);
  if (rowIndexBits)
    printSourceRow(text, numInputs, rowIndexBits);
  for (int i = 0; i < numInputs; ++i) {
    fprintf(text,
            "  %%m%d = llvm.getelementptr %%inputs[%d] : (!llvm.ptr) -> "
            "!llvm.ptr, %s\n",
            i, i, matrixType);
    switch (inputs[i].access) {
    case ACCESS_MATRIX:
    case ACCESS_ROW:
      printLoad16(text, &inputs[i], i, suffix);
      break;
    case ACCESS_COLUMN:
    case ACCESS_SCALAR:
      printElementAddress(text, &inputs[i], i);
      fprintf(text, "  %%v%d = llvm.load %%a%d : !llvm.ptr<1> -> %s\n", i, i,
              inputs[i].type);
    }
  }
  for (int k = 0; k < 16; ++k) {
    for (int i = 0; i < numInputs; ++i)
      if (inputs[i].access == ACCESS_MATRIX || inputs[i].access == ACCESS_ROW)
        printLoaded(text, &inputs[i], i, k);
    fprintf(text, "  %%r%d = llvm.call @element(", k);
    for (int i = 0; i < numInputs; ++i) {
      fprintf(text, "%s", i ? ", " : "");
      printValue(text, &inputs[i], i, k);
    }
    fprintf(text, ") : (");
    for (int i = 0; i < numInputs; ++i)
      fprintf(text, "%s%s", i ? ", " : "", inputs[i].type);
    fprintf(text,
            ") -> f32\n"
            "  %%w%d = llvm.getelementptr %%out[%d] : (!llvm.ptr) -> "
            "!llvm.ptr, f32\n"
            "  llvm.store %%r%d, %%w%d : f32, !llvm.ptr\n",
            k, k, k, k);
  }
  fprintf(text, "  llvm.return\n}\n");
}

/// Declarations of the hooks of the inputs' types, each once.
static void printHookDeclarations(FILE *text, const Input *inputs,
                                  intptr_t numInputs) {
  for (intptr_t i = 0; i < numInputs; ++i) {
    bool declared = false;
    for (intptr_t j = 0; j < i; ++j)
      declared |= inputs[i].type == inputs[j].type;
    if (!declared)
      fprintf(text,
              "llvm.func @gq_dev_load16_%s(!llvm.ptr, i64, i64, !llvm.ptr)\n"
              "llvm.func @gq_dev_load16_%s_unaligned(!llvm.ptr, i64, i64, "
              "!llvm.ptr)\n",
              inputs[i].type, inputs[i].type);
  }
}

/// What hooks call that gather.
static void printGatherDeclarations(FILE *text) {
  fprintf(text,
          "llvm.func @gq_dev_source_row(!llvm.ptr<1>, i32, i64, i64) -> i64\n"
          "llvm.func @gq_dev_load16_gathered(!llvm.ptr, !llvm.ptr, i64, i64, "
          "!llvm.ptr)\n"
          "llvm.func @gq_dev_gathered_element(!llvm.ptr, i64, i64) -> "
          "!llvm.ptr<1>\n");
}

/// Fills %inputs, an array of gq_dev_matrix, with what a hook that gathers
/// needs behind them, and computes %aligned: whether each can be read 16 bytes
/// at a time.
static void printInputs(FILE *text, const Input *inputs, intptr_t numInputs,
                        bool gathers) {
  fprintf(text,
          "  %%count = llvm.mlir.constant(%d : i32) : i32\n"
          "  %%inputs = llvm.alloca %%count x %s : (i32) -> !llvm.ptr\n"
          "  %%none = llvm.mlir.constant(0 : i64) : i64\n"
          "  %%mask = llvm.mlir.constant(15 : i64) : i64\n",
          (int)numInputs + gathers, matrixType);
  if (gathers)
    fprintf(text,
            "  %%indices_at = llvm.getelementptr %%inputs[%d, 0] : (!llvm.ptr) "
            "-> !llvm.ptr, %s\n"
            "  llvm.store %%row_indices, %%indices_at : !llvm.ptr<1>, "
            "!llvm.ptr\n"
            "  %%rows_at = llvm.getelementptr %%inputs[%d, 1] : (!llvm.ptr) -> "
            "!llvm.ptr, %s\n"
            "  llvm.store %%source_rows, %%rows_at : i64, !llvm.ptr\n",
            (int)numInputs, matrixType, (int)numInputs, matrixType);
  const char *bits = "none";
  char name[16];
  for (int i = 0; i < numInputs; ++i) {
    fprintf(text,
            "  %%m%d = llvm.getelementptr %%inputs[%d, 0] : (!llvm.ptr) -> "
            "!llvm.ptr, %s\n"
            "  llvm.store %%x%d, %%m%d : !llvm.ptr<1>, !llvm.ptr\n"
            "  %%n%d = llvm.getelementptr %%inputs[%d, 1] : (!llvm.ptr) -> "
            "!llvm.ptr, %s\n"
            "  llvm.store %%s%d, %%n%d : i64, !llvm.ptr\n",
            i, i, matrixType, i, i, i, i, matrixType, i, i);
    if (inputs[i].access != ACCESS_MATRIX && inputs[i].access != ACCESS_ROW)
      continue;
    fprintf(text,
            "  %%z%d = llvm.mlir.constant(%" PRId64 " : i64) : i64\n"
            "  %%y%d = llvm.mul %%s%d, %%z%d : i64\n"
            "  %%i%d = llvm.ptrtoint %%x%d : !llvm.ptr<1> to i64\n"
            "  %%j%d = llvm.or %%y%d, %%i%d : i64\n"
            "  %%k%d = llvm.or %%j%d, %%%s : i64\n",
            i, inputs[i].elementSize, i, i, i, i, i, i, i, i, i, i, bits);
    snprintf(name, sizeof(name), "k%d", i);
    bits = name;
  }
  fprintf(text,
          "  %%low = llvm.and %%%s, %%mask : i64\n"
          "  %%aligned = llvm.icmp \"eq\" %%low, %%none : i64\n",
          bits);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A text that grows; what `file` was given is in `text` once it is closed.
typedef struct Text {
  FILE *file;
  char *text;
  size_t length;
} Text;

static FILE *openText(Text *text) {
  return text->file = gqOpenText(&text->text, &text->length);
}

enum {
  /// The kernel's parameters: declared, and as names and types of a call.
  TEXT_PARAMETERS,
  TEXT_PARAMETER_NAMES,
  TEXT_PARAMETER_TYPES,
  /// The arguments of the device function after the hook and its inputs, and
  /// the constants among them.
  TEXT_ARGUMENTS,
  TEXT_ARGUMENT_TYPES,
  TEXT_CONSTANTS,
  NUM_TEXTS
};

/// A kernel under construction.
typedef struct Kernel {
  /// The op's name without the dialect.
  const char *name;
  Parameters parameters;
  Text texts[NUM_TEXTS];
  Input inputs[GQ_MAX_INPUTS];
  intptr_t numInputs;
  /// The width of the row indices; 0 if there are none.
  int32_t rowIndexBits;
  /// CTAs that the registers of a multiprocessor must suffice for, 0 for as
  /// many as the assembler sees fit.
  int32_t minCtas;
  /// What there is to do, as i64: [rows, columns] elements in groups.
  MlirValue rows, columns, groups;
} Kernel;

static void openKernel(Kernel *kernel, const char *name,
                       const gqBuilder *builder) {
  *kernel = (Kernel){.name = name, .parameters = {.builder = builder}};
  for (int i = 0; i < NUM_TEXTS; ++i)
    openText(&kernel->texts[i]);
  kernel->parameters.text = kernel->texts[TEXT_PARAMETERS].file;
  kernel->parameters.names = kernel->texts[TEXT_PARAMETER_NAMES].file;
  kernel->parameters.types = kernel->texts[TEXT_PARAMETER_TYPES].file;
}

static void closeKernel(Kernel *kernel) {
  for (int i = 0; i < NUM_TEXTS; ++i)
    fclose(kernel->texts[i].file);
}

static void freeKernel(Kernel *kernel) {
  for (int i = 0; i < NUM_TEXTS; ++i)
    free(kernel->texts[i].text);
}

static void addArgument(Kernel *kernel, const char *name, const char *type) {
  FILE *arguments = kernel->texts[TEXT_ARGUMENTS].file;
  const char *separator = ftell(arguments) ? ", " : "";
  fprintf(arguments, "%s%%%s", separator, name);
  fprintf(kernel->texts[TEXT_ARGUMENT_TYPES].file, "%s%s", separator, type);
}

static void passPointer(Kernel *kernel, const char *name, MlirValue address) {
  addPointer(&kernel->parameters, name, address);
  addArgument(kernel, name, "!llvm.ptr<1>");
}

static void passInteger(Kernel *kernel, const char *name, MlirValue value) {
  addInteger(&kernel->parameters, name, value);
  addArgument(kernel, name, "i64");
}

static void passNull(Kernel *kernel, const char *name) {
  fprintf(kernel->texts[TEXT_CONSTANTS].file,
          "  %%%s = llvm.mlir.zero : !llvm.ptr<1>\n", name);
  addArgument(kernel, name, "!llvm.ptr<1>");
}

static void passConstant(Kernel *kernel, const char *name, const char *type,
                         int64_t value) {
  fprintf(kernel->texts[TEXT_CONSTANTS].file,
          "  %%%s = llvm.mlir.constant(%" PRId64 " : %s) : %s\n", name, value,
          type, type);
  addArgument(kernel, name, type);
}

/// An extent: a constant where it is static.
static void passExtent(Kernel *kernel, const char *name, MlirValue buffer,
                       intptr_t dim, MlirValue value) {
  MlirType type = mlirValueGetType(buffer);
  if (mlirShapedTypeIsDynamicDim(type, dim))
    passInteger(kernel, name, value);
  else
    passConstant(kernel, name, "i64", mlirShapedTypeGetDimSize(type, dim));
}

static const char *textOf(const Kernel *kernel, int text) {
  return kernel->texts[text].text;
}

/// The function @with_<hook> that calls the device function with a hook. Two
/// calls in the kernel itself would be merged, before they are inlined, into
/// one whose hook is not constant.
static void printWithHook(FILE *text, const Kernel *kernel, const char *hook) {
  fprintf(text,
          "llvm.func internal @with_%s(%%inputs: !llvm.ptr, %s) attributes "
          "{always_inline} {\n%s"
          "  %%hook = llvm.mlir.addressof @%s : !llvm.ptr\n"
          "  llvm.call @gq_dev_%s(%%hook, %%inputs, %s) : "
          "(!llvm.ptr, !llvm.ptr, %s) -> ()\n  llvm.return\n}\n",
          hook, textOf(kernel, TEXT_PARAMETERS), textOf(kernel, TEXT_CONSTANTS),
          hook, kernel->name, textOf(kernel, TEXT_ARGUMENTS),
          textOf(kernel, TEXT_ARGUMENT_TYPES));
}

static void printCallWithHook(FILE *text, const Kernel *kernel,
                              const char *hook) {
  fprintf(text,
          "  llvm.call @with_%s(%%inputs, %s) : (!llvm.ptr, %s) -> ()\n"
          "  llvm.return\n",
          hook, textOf(kernel, TEXT_PARAMETER_NAMES),
          textOf(kernel, TEXT_PARAMETER_TYPES));
}

static void printKernelHeader(FILE *text, const Kernel *kernel) {
  fprintf(text,
          "llvm.func @%s(%s) attributes {gpu.kernel, nvvm.kernel, "
          "nvvm.maxntid = array<i32: %d>",
          kernel->name, textOf(kernel, TEXT_PARAMETERS), GQ_DEV_CTA);
  if (kernel->minCtas)
    fprintf(text, ", nvvm.minctasm = %d : i32", kernel->minCtas);
  fprintf(text, "} {\n");
}

/// A kernel that reads its inputs through a hook: 16 bytes at a time where all
/// of them are aligned to that.
static void printKernelWithInputs(FILE *text, const Kernel *kernel,
                                  bool producer) {
  char fast[64] = "load16", slow[64] = "load16_unaligned";
  if (!producer) {
    const char *type = kernel->inputs[0].type;
    snprintf(fast, sizeof(fast), "gq_dev_load16_%s", type);
    snprintf(slow, sizeof(slow), "gq_dev_load16_%s_unaligned", type);
  }
  printWithHook(text, kernel, fast);
  printWithHook(text, kernel, slow);
  printKernelHeader(text, kernel);
  printInputs(text, kernel->inputs, kernel->numInputs,
              producer && kernel->rowIndexBits);
  fprintf(text, "  llvm.cond_br %%aligned, ^fast, ^slow\n^fast:\n");
  printCallWithHook(text, kernel, fast);
  fprintf(text, "^slow:\n");
  printCallWithHook(text, kernel, slow);
  fprintf(text, "}\n");
}

static void printKernelWithoutInputs(FILE *text, const Kernel *kernel) {
  printKernelHeader(text, kernel);
  fprintf(text, "%s  llvm.call @gq_dev_%s(%s) : (%s) -> ()\n  llvm.return\n}\n",
          textOf(kernel, TEXT_CONSTANTS), kernel->name,
          textOf(kernel, TEXT_ARGUMENTS), textOf(kernel, TEXT_ARGUMENT_TYPES));
}

/// The gpu.module of a closed kernel. `producer`: the hooks are made of
/// @element.
static MlirOperation parseModule(const Kernel *kernel, MlirContext context,
                                 const char *symbol, bool producer) {
  Text module;
  FILE *text = openText(&module);
  fprintf(text, "gpu.module @%s {\nllvm.func @gq_dev_%s(%s%s)\n", symbol,
          kernel->name, kernel->numInputs ? "!llvm.ptr, !llvm.ptr, " : "",
          textOf(kernel, TEXT_ARGUMENT_TYPES));
  printHookDeclarations(text, kernel->inputs, kernel->numInputs);
  if (producer) {
    printElement(text, kernel->inputs, kernel->numInputs);
    if (kernel->rowIndexBits)
      printGatherDeclarations(text);
    for (int unaligned = 0; unaligned < 2; ++unaligned)
      printHook(text, kernel->inputs, kernel->numInputs, kernel->rowIndexBits,
                unaligned ? "_unaligned" : "");
  }
  if (kernel->numInputs)
    printKernelWithInputs(text, kernel, producer);
  else
    printKernelWithoutInputs(text, kernel);
  fprintf(text, "}\n");
  fclose(text);
  MlirOperation op = mlirOperationCreateParse(
      context, mlirStringRefCreate(module.text, module.length),
      mlirStringRefCreateFromCString("kernel"));
  free(module.text);
  return op;
}

/// Puts the producer's body into @element, in the place of its poison.
static void fillElement(MlirOperation module, MlirRegion producer) {
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MlirOperation element =
      mlirSymbolTableLookup(symbols, mlirStringRefCreateFromCString("element"));
  mlirSymbolTableDestroy(symbols);
  MlirBlock from = mlirRegionGetFirstBlock(producer);
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

  gqBuilder builder = gqBuilderBefore(ret);
  MlirType f32 = mlirF32TypeGet(builder.context);
  if (!mlirTypeEqual(mlirValueGetType(value), f32))
    value = gqBuildValue(&builder, "arith.extf", 1, &value, f32);
  mlirOperationSetOperand(ret, 0, value);
  mlirOperationDestroy(poison);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// Declares what the launches call.
static bool declareHostFunctions(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType pointer = mlirLLVMPointerTypeGet(context, 0);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirType extents[] = {i64, i64, i64};
  return gqDeclareFunction(
             module, "gqGetStream",
             mlirFunctionTypeGet(context, 0, NULL, 1, &pointer)) &&
         gqDeclareFunction(
             module, "gqStreamStatusWord",
             mlirFunctionTypeGet(context, 1, &pointer, 1, &pointer)) &&
         gqDeclareFunction(module, "gqKernelGrid",
                           mlirFunctionTypeGet(context, 3, extents, 1, &i64));
}

/// The stream of the calling thread.
static MlirValue buildStream(const gqBuilder *builder) {
  MlirType pointer = mlirLLVMPointerTypeGet(builder->context, 0);
  return mlirOperationGetResult(
      gqBuildCall(builder, "gqGetStream", 0, NULL, 1, &pointer), 0);
}

/// The address of the stream's status word, in global memory.
static MlirValue buildStatusWord(const gqBuilder *builder, MlirValue stream) {
  MlirType pointer = mlirLLVMPointerTypeGet(builder->context, 0);
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue word = mlirOperationGetResult(
      gqBuildCall(builder, "gqStreamStatusWord", 1, &stream, 1, &pointer), 0);
  return gqBuildValue(builder, "llvm.ptrtoint", 1, &word, i64);
}

/// The number of CTAs.
static MlirValue buildGrid(const gqBuilder *builder, const Kernel *kernel) {
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue extents[] = {kernel->rows, kernel->columns, kernel->groups};
  return mlirOperationGetResult(
      gqBuildCall(builder, "gqKernelGrid", 3, extents, 1, &i64), 0);
}

/// gpu.launch_func on the stream. All operands are of LLVM types, so that it is
/// one asynchronous call.
static void buildLaunch(const gqBuilder *builder, const char *module,
                        const Kernel *kernel, MlirValue grid,
                        MlirValue stream) {
  MlirContext context = builder->context;
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirValue one = gqBuildConstant(builder, i64, 1);
  MlirValue sizes[] = {
      grid, one, one, gqBuildConstant(builder, i64, GQ_DEV_CTA), one, one};
  MlirAttribute nested = mlirFlatSymbolRefAttrGet(
      context, mlirStringRefCreateFromCString(kernel->name));
  // Dependencies, grid, block, cluster, shared memory, operands, stream.
  int32_t segments[] = {
      0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, (int32_t)kernel->parameters.size, 1};
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "kernel",
                  mlirSymbolRefAttrGet(context,
                                       mlirStringRefCreateFromCString(module),
                                       1, &nested)),
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 13, segments)),
  };
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("gpu.launch_func"), builder->location);
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOperands(&state, 6, sizes);
  mlirOperationStateAddOperands(&state, kernel->parameters.size,
                                kernel->parameters.values);
  mlirOperationStateAddOperands(&state, 1, &stream);
  gqInsert(builder, mlirOperationCreate(&state));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// offsets, scale_offsets and their lengths.
static void passGroups(Kernel *kernel, MlirValue offsets,
                       MlirValue scaleOffsets) {
  const gqBuilder *builder = kernel->parameters.builder;
  gqBufferValues starts = gqBuildBufferValues(builder, offsets);
  gqBufferValues scaleStarts = gqBuildBufferValues(builder, scaleOffsets);
  passPointer(kernel, "offsets", starts.address);
  passExtent(kernel, "num_offsets", offsets, 0, starts.sizes[0]);
  passPointer(kernel, "scale_offsets", scaleStarts.address);
  passExtent(kernel, "groups", scaleOffsets, 0, scaleStarts.sizes[0]);
}

/// The width of the integers of a buffer.
static int32_t integerBits(MlirValue buffer) {
  return (int32_t)mlirIntegerTypeGetWidth(
      mlirShapedTypeGetElementType(mlirValueGetType(buffer)));
}

/// The number of rows that each input which is read by index has.
static MlirValue buildSourceRows(const gqBuilder *builder,
                                 const gqGroupedBlockQuantize *desc) {
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue rows = {NULL};
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    if (!mlirAttributeIsNull(desc->maps) &&
        !gqIsGatherMap(
            mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, i))))
      continue;
    MlirValue both[] = {rows,
                        gqBuildBufferValues(builder, desc->inputs[i]).sizes[0]};
    rows = mlirValueIsNull(rows)
               ? both[1]
               : gqBuildValue(builder, "arith.minsi", 2, both, i64);
  }
  return rows;
}

/// row_indices and source_rows.
static void passRowIndices(Kernel *kernel, const gqGroupedBlockQuantize *desc) {
  const gqBuilder *builder = kernel->parameters.builder;
  if (mlirValueIsNull(desc->rowIndices)) {
    passNull(kernel, "row_indices");
    passConstant(kernel, "source_rows", "i64", 0);
    return;
  }
  kernel->rowIndexBits = integerBits(desc->rowIndices);
  passPointer(kernel, "row_indices", addressOf(builder, desc->rowIndices));
  passInteger(kernel, "source_rows", buildSourceRows(builder, desc));
}

/// Says how much there is to do: `units` of `elements` elements a row.
static void setWork(Kernel *kernel, MlirValue rows, MlirValue units,
                    int64_t elements, MlirValue scaleOffsets) {
  const gqBuilder *builder = kernel->parameters.builder;
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue factors[] = {units, gqBuildConstant(builder, i64, elements)};
  kernel->rows = rows;
  kernel->columns = gqBuildValue(builder, "arith.muli", 2, factors, i64);
  kernel->groups = mlirValueIsNull(scaleOffsets)
                       ? gqBuildConstant(builder, i64, 0)
                       : gqBuildBufferValues(builder, scaleOffsets).sizes[0];
}

/// The number K of elements in a row of packed data: a constant where static.
static void passColumns(Kernel *kernel, MlirValue data) {
  MlirType type = mlirValueGetType(data);
  if (mlirShapedTypeIsDynamicDim(type, 1))
    passInteger(kernel, "columns", kernel->columns);
  else
    passConstant(kernel, "columns", "i64",
                 2 * mlirShapedTypeGetDimSize(type, 1));
}

static void describeGroupedBlockQuantize(Kernel *kernel, MlirOperation op,
                                         MlirValue statusWord) {
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  const gqBuilder *builder = kernel->parameters.builder;
  kernel->numInputs = desc.numInputs;
  for (intptr_t i = 0; i < desc.numInputs; ++i)
    kernel->inputs[i] = addInput(
        &kernel->parameters, i, desc.inputs[i],
        mlirAttributeIsNull(desc.maps)
            ? (MlirAffineMap){NULL}
            : mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc.maps, i)));
  gqBufferValues data = gqBuildBufferValues(builder, desc.data);
  gqBufferValues scales = gqBuildBufferValues(builder, desc.scales);
  bool hasScale = !mlirValueIsNull(desc.globalScale);
  // Others take more registers.
  if (!hasScale && mlirValueIsNull(desc.rowIndices) &&
      mlirRegionIsNull(desc.producer) && strcmp(kernel->inputs[0].type, "f32"))
    kernel->minCtas = GQ_DEV_CTAS_PER_MULTIPROCESSOR;
  bool perGroup = hasScale && mlirShapedTypeGetRank(
                                  mlirValueGetType(desc.globalScale)) == 1;

  setWork(kernel, data.sizes[0], data.sizes[1], 2, desc.scaleOffsets);
  passExtent(kernel, "rows", desc.data, 0, data.sizes[0]);
  passColumns(kernel, desc.data);
  passRowIndices(kernel, &desc);
  passGroups(kernel, desc.offsets, desc.scaleOffsets);
  passPointer(kernel, "global_scale", addressOf(builder, desc.globalScale));
  passPointer(kernel, "data", data.address);
  passInteger(kernel, "data_stride", data.strides[0]);
  passPointer(kernel, "scales", scales.address);
  passExtent(kernel, "scale_rows", desc.scales, 0, scales.sizes[0]);
  passPointer(kernel, "status", statusWord);
  passConstant(kernel, "format", "i32", desc.format);
  passConstant(kernel, "rows_mode", "i32", desc.rows);
  passConstant(kernel, "offset_bits", "i32", integerBits(desc.offsets));
  passConstant(kernel, "global_scale_kind", "i32", hasScale ? 1 + perGroup : 0);
  passConstant(kernel, "row_index_bits", "i32", kernel->rowIndexBits);
}

static void describeBlockQuantize(Kernel *kernel, MlirOperation op) {
  gqBlockQuantize desc = gqBlockQuantizeGet(op);
  const gqBuilder *builder = kernel->parameters.builder;
  kernel->numInputs = 1;
  kernel->inputs[0] =
      addInput(&kernel->parameters, 0, desc.input, (MlirAffineMap){NULL});
  gqBufferValues data = gqBuildBufferValues(builder, desc.data);
  gqBufferValues scales = gqBuildBufferValues(builder, desc.scales);
  setWork(kernel, data.sizes[0], data.sizes[1], 2, (MlirValue){NULL});
  passExtent(kernel, "rows", desc.data, 0, data.sizes[0]);
  passColumns(kernel, desc.data);
  passPointer(kernel, "global_scale", addressOf(builder, desc.globalScale));
  passPointer(kernel, "data", data.address);
  passInteger(kernel, "data_stride", data.strides[0]);
  passPointer(kernel, "scales", scales.address);
  passInteger(kernel, "scales_stride", scales.strides[0]);
  passConstant(kernel, "format", "i32", desc.format);
  passConstant(kernel, "global_scale_kind", "i32",
               !mlirValueIsNull(desc.globalScale));
}

static void describePreprocess(Kernel *kernel, MlirOperation op,
                               MlirValue statusWord) {
  gqPreprocessGroupedMatmulSf desc = gqPreprocessGroupedMatmulSfGet(op);
  const gqBuilder *builder = kernel->parameters.builder;
  gqBufferValues linear = gqBuildBufferValues(builder, desc.input);
  gqBufferValues scales = gqBuildBufferValues(builder, desc.scales);
  setWork(kernel, linear.sizes[0], linear.sizes[1],
          gqFormatBlockSize(desc.format), desc.scaleOffsets);
  passPointer(kernel, "linear", linear.address);
  passInteger(kernel, "linear_stride", linear.strides[0]);
  passExtent(kernel, "rows", desc.input, 0, linear.sizes[0]);
  passExtent(kernel, "scale_columns", desc.input, 1, linear.sizes[1]);
  passGroups(kernel, desc.offsets, desc.scaleOffsets);
  passPointer(kernel, "scales", scales.address);
  passExtent(kernel, "scale_rows", desc.scales, 0, scales.sizes[0]);
  passPointer(kernel, "status", statusWord);
  passConstant(kernel, "format", "i32", desc.format);
  passConstant(kernel, "offset_bits", "i32", integerBits(desc.offsets));
}

/// What the op has that no kernel does yet; null if there is a kernel.
static const char *findMissing(MlirOperation op) {
  if (gqOpFormat(op) != GQ_FORMAT_NVFP4)
    return "formats other than nvfp4";
  if (!gqOperationIsAGroupedBlockQuantize(op))
    return NULL;
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  if (desc.recipe != GQ_RECIPE_NVFUSER)
    return "recipe(te)";
  if (!mlirValueIsNull(desc.columnwiseData))
    return "'columnwise_outs'";
  if (gqIsRagged(&desc))
    return "'shapes'";
  if (desc.scaleLayout != GQ_SCALE_LAYOUT_TILE128X4)
    return "scale_layout(linear)";
  if (!mlirValueIsNull(desc.amax))
    return "'amax_out'";
  if (!mlirValueIsNull(desc.dbias))
    return "'dbias_out'";
  if (mlirValueIsNull(desc.scaleOffsets))
    return "groups without 'scale_offsets'";
  return NULL;
}

static bool convert(MlirOperation module, MlirOperation op, intptr_t number) {
  if (gqOperationIsAGroupedMm(op))
    return gqOpError(op, "has no GPU kernel yet");
  const char *missing = findMissing(op);
  if (missing)
    return gqOpError(op, "has no GPU kernel yet for %s", missing);
  if (!gqCheckLowerable(op) || !declareHostFunctions(module))
    return false;
  gqBuilder builder = gqBuilderBefore(op);
  MlirValue stream = buildStream(&builder);
  MlirStringRef opName = mlirIdentifierStr(mlirOperationGetName(op));
  MlirRegion producer = {NULL};

  Kernel kernel;
  openKernel(&kernel, opName.data + sizeof("gq.") - 1, &builder);
  if (gqOperationIsABlockQuantize(op)) {
    describeBlockQuantize(&kernel, op);
  } else {
    MlirValue statusWord = buildStatusWord(&builder, stream);
    if (gqOperationIsAGroupedBlockQuantize(op)) {
      describeGroupedBlockQuantize(&kernel, op, statusWord);
      producer = gqGroupedBlockQuantizeGet(op).producer;
    } else {
      describePreprocess(&kernel, op, statusWord);
    }
  }
  closeKernel(&kernel);

  char symbol[32];
  snprintf(symbol, sizeof(symbol), "gq_kernels_%d", (int)number);
  MlirOperation gpuModule = parseModule(&kernel, builder.context, symbol,
                                        !mlirRegionIsNull(producer));
  bool valid = !mlirOperationIsNull(gpuModule);
  if (valid) {
    mlirBlockInsertOwnedOperation(
        mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)), 0,
        gpuModule);
    if (!mlirRegionIsNull(producer))
      fillElement(gpuModule, producer);
    buildLaunch(&builder, symbol, &kernel, buildGrid(&builder, &kernel),
                stream);
    mlirOperationDestroy(op);
  }
  freeKernel(&kernel);
  return valid || gqOpError(op, "has become a kernel that does not parse");
}

MlirLogicalResult gqConvertToGpu(MlirOperation module) {
  gqOpList ops = gqCollect(module, gqIsComputeOp);
  bool valid = true;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= convert(module, ops.ops[i], i);
  if (ops.size)
    mlirOperationSetAttributeByName(
        module, mlirStringRefCreateFromCString("gpu.container_module"),
        mlirUnitAttrGet(mlirOperationGetContext(module)));
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
