//===- GpuKernel.c - kernels and their launches ---------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

gqGpuKernel gqGpuKernelBegin(const gqBuilder *builder, const char *name,
                             const char *function, int32_t threads) {
  gqGpuKernel kernel = {.name = name,
                        .function = function,
                        .builder = builder,
                        .threads = threads};
  for (int i = 0; i < GQ_GPU_NUM_TEXTS; ++i)
    kernel.texts[i].file =
        gqOpenText(&kernel.texts[i].text, &kernel.texts[i].length);
  return kernel;
}

/// Adds to a list with commas between.
static void addToList(gqGpuKernel *kernel, int text, const char *prefix,
                      const char *item) {
  FILE *file = kernel->texts[text].file;
  fprintf(file, "%s%s%s", ftell(file) ? ", " : "", prefix, item);
}

static void addParameter(gqGpuKernel *kernel, const char *name,
                         const char *type, MlirValue value) {
  assert(kernel->numParameters < GQ_GPU_MAX_PARAMETERS);
  addToList(kernel, GQ_GPU_TEXT_PARAMETERS, "%", name);
  fprintf(kernel->texts[GQ_GPU_TEXT_PARAMETERS].file, ": %s", type);
  addToList(kernel, GQ_GPU_TEXT_PARAMETER_NAMES, "%", name);
  addToList(kernel, GQ_GPU_TEXT_PARAMETER_TYPES, "", type);
  kernel->parameters[kernel->numParameters++] = value;
}

static void addArgument(gqGpuKernel *kernel, const char *name,
                        const char *type) {
  addToList(kernel, GQ_GPU_TEXT_ARGUMENTS, "%", name);
  addToList(kernel, GQ_GPU_TEXT_ARGUMENT_TYPES, "", type);
}

void gqGpuKernelPassPointer(gqGpuKernel *kernel, const char *name,
                            MlirValue address) {
  if (mlirValueIsNull(address))
    fprintf(kernel->texts[GQ_GPU_TEXT_CONSTANTS].file,
            "  %%%s = llvm.mlir.zero : !llvm.ptr<1>\n", name);
  else
    addParameter(kernel, name, "!llvm.ptr<1>",
                 gqBuildPointer(kernel->builder, address, 1));
  addArgument(kernel, name, "!llvm.ptr<1>");
}

void gqGpuKernelPassInteger(gqGpuKernel *kernel, const char *name,
                            MlirValue value) {
  addParameter(kernel, name, "i64", value);
  addArgument(kernel, name, "i64");
}

void gqGpuKernelPassConstant(gqGpuKernel *kernel, const char *name,
                             const char *type, int64_t value) {
  fprintf(kernel->texts[GQ_GPU_TEXT_CONSTANTS].file,
          "  %%%s = llvm.mlir.constant(%" PRId64 " : %s) : %s\n", name, value,
          type, type);
  addArgument(kernel, name, type);
}

void gqGpuKernelPassExtent(gqGpuKernel *kernel, const char *name,
                           gqExtent extent) {
  if (extent.fixed == GQ_DYNAMIC)
    gqGpuKernelPassInteger(kernel, name, extent.value);
  else
    gqGpuKernelPassConstant(kernel, name, "i64", extent.fixed);
}

void gqGpuKernelAddInput(gqGpuKernel *kernel, MlirValue buffer,
                         MlirAffineMap map) {
  gqBufferValues values = gqBuildBufferValues(kernel->builder, buffer);
  gqGpuInput input = gqGpuInputOf(mlirValueGetType(buffer), map);
  bool strided = input.access == GQ_GPU_ACCESS_COLUMN || values.rank == 2;
  MlirType i64 = mlirIntegerTypeGet(kernel->builder->context, 64);
  char name[24];
  snprintf(name, sizeof(name), "x%d", (int)kernel->numInputs);
  addParameter(kernel, name, "!llvm.ptr<1>",
               gqBuildPointer(kernel->builder, values.address, 1));
  snprintf(name, sizeof(name), "s%d", (int)kernel->numInputs);
  addParameter(kernel, name, "i64",
               strided ? values.strides[0]
                       : gqBuildConstant(kernel->builder, i64, 0));
  kernel->inputs[kernel->numInputs++] = input;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static const char *textOf(const gqGpuKernel *kernel, int text) {
  return kernel->texts[text].text;
}

/// The function @with_<hook> that calls the device function with a hook. Two
/// calls in the kernel itself would be merged, before they are inlined, into
/// one whose hook is not constant.
static void printWithHook(FILE *text, const gqGpuKernel *kernel,
                          const char *hook) {
  fprintf(text,
          "llvm.func internal @with_%s(%%inputs: !llvm.ptr, %s) attributes "
          "{always_inline} {\n%s"
          "  %%hook = llvm.mlir.addressof @%s : !llvm.ptr\n"
          "  llvm.call @gq_dev_%s(%%hook, %%inputs, %s) : "
          "(!llvm.ptr, !llvm.ptr, %s) -> ()\n  llvm.return\n}\n",
          hook, textOf(kernel, GQ_GPU_TEXT_PARAMETERS),
          textOf(kernel, GQ_GPU_TEXT_CONSTANTS), hook, kernel->function,
          textOf(kernel, GQ_GPU_TEXT_ARGUMENTS),
          textOf(kernel, GQ_GPU_TEXT_ARGUMENT_TYPES));
}

static void printCallWithHook(FILE *text, const gqGpuKernel *kernel,
                              const char *hook) {
  fprintf(text,
          "  llvm.call @with_%s(%%inputs, %s) : (!llvm.ptr, %s) -> ()\n"
          "  llvm.return\n",
          hook, textOf(kernel, GQ_GPU_TEXT_PARAMETER_NAMES),
          textOf(kernel, GQ_GPU_TEXT_PARAMETER_TYPES));
}

static void printKernelHeader(FILE *text, const gqGpuKernel *kernel) {
  fprintf(text,
          "llvm.func @%s(%s) attributes {gpu.kernel, nvvm.kernel, "
          "nvvm.maxntid = array<i32: %d>",
          kernel->name, textOf(kernel, GQ_GPU_TEXT_PARAMETERS),
          kernel->threads);
  if (kernel->minCtas)
    fprintf(text, ", nvvm.minctasm = %d : i32", kernel->minCtas);
  fprintf(text, "} {\n");
}

/// A kernel that reads its inputs through a hook: 16 bytes at a time where all
/// of them are aligned to that.
static void printKernelWithInputs(FILE *text, const gqGpuKernel *kernel) {
  bool producer = !mlirRegionIsNull(kernel->producer);
  char fast[64] = "load16", slow[64] = "load16_unaligned";
  if (!producer) {
    const char *type = kernel->inputs[0].type;
    snprintf(fast, sizeof(fast), "gq_dev_load16_%s", type);
    snprintf(slow, sizeof(slow), "gq_dev_load16_%s_unaligned", type);
  }
  printWithHook(text, kernel, fast);
  printWithHook(text, kernel, slow);
  printKernelHeader(text, kernel);
  gqPrintInputs(text, kernel->inputs, kernel->numInputs,
                producer && kernel->rowIndexBits);
  fprintf(text, "  llvm.cond_br %%aligned, ^fast, ^slow\n^fast:\n");
  printCallWithHook(text, kernel, fast);
  fprintf(text, "^slow:\n");
  printCallWithHook(text, kernel, slow);
  fprintf(text, "}\n");
}

static void printKernelWithoutInputs(FILE *text, const gqGpuKernel *kernel) {
  printKernelHeader(text, kernel);
  fprintf(text, "%s  llvm.call @gq_dev_%s(%s) : (%s) -> ()\n  llvm.return\n}\n",
          textOf(kernel, GQ_GPU_TEXT_CONSTANTS), kernel->function,
          textOf(kernel, GQ_GPU_TEXT_ARGUMENTS),
          textOf(kernel, GQ_GPU_TEXT_ARGUMENT_TYPES));
}

/// The gpu.module of a kernel whose texts are complete.
static MlirOperation parseModule(const gqGpuKernel *kernel,
                                 const char *symbol) {
  gqText module;
  FILE *text = gqOpenText(&module.text, &module.length);
  fprintf(text, "gpu.module @%s {\nllvm.func @gq_dev_%s(%s%s)\n", symbol,
          kernel->function, kernel->numInputs ? "!llvm.ptr, !llvm.ptr, " : "",
          textOf(kernel, GQ_GPU_TEXT_ARGUMENT_TYPES));
  gqPrintHookDeclarations(text, kernel->inputs, kernel->numInputs);
  if (!mlirRegionIsNull(kernel->producer))
    gqPrintProducerHooks(text, kernel->inputs, kernel->numInputs,
                         kernel->rowIndexBits);
  if (kernel->numInputs)
    printKernelWithInputs(text, kernel);
  else
    printKernelWithoutInputs(text, kernel);
  fprintf(text, "}\n");
  fclose(text);
  MlirOperation op = mlirOperationCreateParse(
      kernel->builder->context, mlirStringRefCreate(module.text, module.length),
      mlirStringRefCreateFromCString("kernel"));
  free(module.text);
  return op;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

/// gpu.launch_func on the stream. All operands are of LLVM types, so that it is
/// one asynchronous call.
static void buildLaunch(const gqGpuKernel *kernel, const char *symbol,
                        MlirValue grid, MlirValue stream) {
  const gqBuilder *builder = kernel->builder;
  MlirContext context = builder->context;
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirValue one = gqBuildConstant(builder, i64, 1);
  MlirValue sizes[] = {
      grid, one, one, gqBuildConstant(builder, i64, kernel->threads), one, one};
  MlirAttribute nested = mlirFlatSymbolRefAttrGet(
      context, mlirStringRefCreateFromCString(kernel->name));
  // Dependencies, grid, block, cluster, shared memory, operands, stream.
  int32_t segments[] = {
      0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, (int32_t)kernel->numParameters, 1};
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "kernel",
                  mlirSymbolRefAttrGet(context,
                                       mlirStringRefCreateFromCString(symbol),
                                       1, &nested)),
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 13, segments)),
  };
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("gpu.launch_func"), builder->location);
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOperands(&state, 6, sizes);
  mlirOperationStateAddOperands(&state, kernel->numParameters,
                                kernel->parameters);
  mlirOperationStateAddOperands(&state, 1, &stream);
  gqInsert(builder, mlirOperationCreate(&state));
}

bool gqGpuKernelLaunch(gqGpuKernel *kernel, MlirOperation module,
                       const char *symbol, MlirValue grid, MlirValue stream) {
  for (int i = 0; i < GQ_GPU_NUM_TEXTS; ++i)
    fclose(kernel->texts[i].file);
  MlirOperation gpuModule = parseModule(kernel, symbol);
  for (int i = 0; i < GQ_GPU_NUM_TEXTS; ++i)
    free(kernel->texts[i].text);
  if (mlirOperationIsNull(gpuModule))
    return false;
  mlirBlockInsertOwnedOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)), 0, gpuModule);
  if (!mlirRegionIsNull(kernel->producer))
    gqFillElement(gpuModule, kernel->producer);
  buildLaunch(kernel, symbol, grid, stream);
  return true;
}
