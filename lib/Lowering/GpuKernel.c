//===- GpuKernel.c - kernels and their launches ---------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "gq/Runtime/Cuda.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/LLVM.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

typedef enum Role { HOOK, FUNCTION, ADDRESS, NUMBER, CONSTANT } Role;

typedef struct Operand {
  const char *name;
  Role role;
  /// Whether the launch depends on it.
  bool plans;
  /// In the family's struct.
  size_t offset;
} Operand;

typedef struct Family {
  /// Of the device function, without gq_dev_.
  const char *function;
  const Operand *operands;
  size_t numOperands;
} Family;

enum {
  MAX_OPERANDS = 64,
  /// Two of each input.
  MAX_PARAMETERS = 2 * GQ_MAX_INPUTS + MAX_OPERANDS
};

/// <Name>Table, the operands of a family in the order of its list.
#define ROLE_OF(ROLE)                                                          \
  GQ_IF_HOOK_##ROLE(HOOK) GQ_IF_FUNCTION_##ROLE(FUNCTION)                      \
      GQ_IF_ADDRESS_##ROLE(ADDRESS) GQ_IF_NUMBER_##ROLE(NUMBER)                \
          GQ_IF_CONSTANT_##ROLE(CONSTANT)
#define OPERAND(ROLE, TYPE, NAME)                                              \
  {#NAME, ROLE_OF(ROLE), 0 GQ_IF_LAUNCH_##ROLE(+1), offsetof(Struct, NAME)},
#define TABLE(FAMILY, NAME, FUNCTION, THREADS)                                 \
  static const Operand *NAME##Table(size_t *size) {                            \
    typedef gq##NAME##Operands Struct;                                         \
    static const Operand table[] = {GQ_##FAMILY##_OPERANDS(OPERAND)};          \
    *size = sizeof(table) / sizeof(*table);                                    \
    _Static_assert(sizeof(table) / sizeof(*table) <= MAX_OPERANDS,             \
                   "more operands than a kernel has");                         \
    return table;                                                              \
  }
GQ_KERNEL_FAMILIES(TABLE)

static Family familyOf(gqKernelFamily family) {
  Family result = {0};
  switch (family) {
#define CASE(FAMILY, NAME, FUNCTION, THREADS)                                  \
  case GQ_KERNEL_##FAMILY:                                                     \
    result.function = #FUNCTION;                                               \
    result.operands = NAME##Table(&result.numOperands);                        \
    break;
    GQ_KERNEL_FAMILIES(CASE)
  }
  return result;
}

/// The field of the family's struct.
static const void *fieldOf(const void *operands, const Operand *operand) {
  return (const char *)operands + operand->offset;
}

static bool isGiven(const void *operands, const Operand *operand) {
  const void *field = fieldOf(operands, operand);
  switch (operand->role) {
  case HOOK:
    return ((const gqGpuHook *)field)->numInputs > 0;
  case FUNCTION:
    return ((const gqGpuFunction *)field)->given;
  case ADDRESS:
    return ((const gqGpuAddress *)field)->given;
  case NUMBER:
    return !mlirValueIsNull(((const gqExtent *)field)->value);
  case CONSTANT:
    return ((const gqGpuConstant *)field)->given;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

bool gqGpuDeclarePlan(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType types[1 + GQ_LAUNCH_EXTENTS];
  for (int i = 0; i < 1 + GQ_LAUNCH_EXTENTS; ++i)
    types[i] = mlirIntegerTypeGet(context, 64);
  return gqDeclareFunction(
      module, "gqPlanLaunch",
      mlirFunctionTypeGet(context, 1 + GQ_LAUNCH_EXTENTS, types, 2, types));
}

gqGpuPlan gqGpuBuildPlan(const gqBuilder *builder, gqKernelFamily number,
                         const void *operands) {
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirType types[] = {i64, i64};
  Family family = familyOf(number);
  MlirValue arguments[1 + GQ_LAUNCH_EXTENTS];
  int numArguments = 0;
  arguments[numArguments++] = gqBuildConstant(builder, i64, number);
  for (size_t i = 0; i < family.numOperands; ++i) {
    const Operand *operand = &family.operands[i];
    const void *field = fieldOf(operands, operand);
    if (!operand->plans)
      continue;
    // One that is missing is an error when the kernel is launched.
    if (operand->role == NUMBER && isGiven(operands, operand))
      arguments[numArguments++] = ((const gqExtent *)field)->value;
    else
      arguments[numArguments++] = gqBuildConstant(
          builder, i64,
          operand->role == CONSTANT ? ((const gqGpuConstant *)field)->value
                                    : 0);
  }
  while (numArguments < 1 + GQ_LAUNCH_EXTENTS)
    arguments[numArguments++] = gqBuildConstant(builder, i64, 0);
  MlirOperation call =
      gqBuildCall(builder, "gqPlanLaunch", numArguments, arguments, 2, types);
  return (gqGpuPlan){mlirOperationGetResult(call, 0),
                     mlirOperationGetResult(call, 1)};
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

enum {
  /// The kernel's parameters: declared, and as names and types of a call.
  PARAMETERS,
  PARAMETER_NAMES,
  PARAMETER_TYPES,
  /// The arguments of the device function, and the constants among them.
  ARGUMENTS,
  ARGUMENT_TYPES,
  CONSTANTS,
  NUM_TEXTS
};

/// A kernel whose text is being written.
typedef struct Kernel {
  const gqGpuKernel *kernel;
  const gqBuilder *builder;
  /// The device function, without gq_dev_.
  char function[64];
  gqText texts[NUM_TEXTS];
  intptr_t numParameters;
  MlirValue parameters[MAX_PARAMETERS];
  /// Null if the family has none.
  const gqGpuHook *hook;
  /// Null if the op has none.
  MlirRegion epilogue;
} Kernel;

/// Adds to a list with commas between.
static void addToList(Kernel *kernel, int text, const char *prefix,
                      const char *item) {
  gqText *list = &kernel->texts[text];
  gqTextPrintf(list, "%s%s%s", list->length ? ", " : "", prefix, item);
}

static void addParameter(Kernel *kernel, const char *name, const char *type,
                         MlirValue value) {
  addToList(kernel, PARAMETERS, "%", name);
  gqTextPrintf(&kernel->texts[PARAMETERS], ": %s", type);
  addToList(kernel, PARAMETER_NAMES, "%", name);
  addToList(kernel, PARAMETER_TYPES, "", type);
  kernel->parameters[kernel->numParameters++] = value;
}

static void addArgument(Kernel *kernel, const char *name, const char *type) {
  addToList(kernel, ARGUMENTS, "%", name);
  addToList(kernel, ARGUMENT_TYPES, "", type);
}

static void addHook(Kernel *kernel, const gqGpuHook *hook) {
  kernel->hook = hook;
  for (int i = 0; i < hook->numInputs; ++i) {
    char name[24];
    snprintf(name, sizeof(name), "x%d", i);
    addParameter(kernel, name, "!llvm.ptr<1>",
                 gqBuildPointer(kernel->builder, hook->addresses[i], 1));
    snprintf(name, sizeof(name), "s%d", i);
    addParameter(kernel, name, "i64", hook->strides[i]);
  }
  addArgument(kernel, "hook", "!llvm.ptr");
  addArgument(kernel, "inputs", "!llvm.ptr");
}

static void addFunction(Kernel *kernel, const char *name,
                        const gqGpuFunction *function) {
  kernel->epilogue = function->epilogue;
  gqTextPrintf(
      &kernel->texts[CONSTANTS], "  %%%s = llvm.mlir.%s : !llvm.ptr\n", name,
      mlirRegionIsNull(function->epilogue) ? "zero" : "addressof @epilogue");
  addArgument(kernel, name, "!llvm.ptr");
}

static void addAddress(Kernel *kernel, const char *name, MlirValue address) {
  if (mlirValueIsNull(address))
    gqTextPrintf(&kernel->texts[CONSTANTS],
                 "  %%%s = llvm.mlir.zero : !llvm.ptr<1>\n", name);
  else
    addParameter(kernel, name, "!llvm.ptr<1>",
                 gqBuildPointer(kernel->builder, address, 1));
  addArgument(kernel, name, "!llvm.ptr<1>");
}

static void addConstant(Kernel *kernel, const char *name, const char *type,
                        int64_t value) {
  gqTextPrintf(&kernel->texts[CONSTANTS],
               "  %%%s = llvm.mlir.constant(%" PRId64 " : %s) : %s\n", name,
               value, type, type);
  addArgument(kernel, name, type);
}

static void addNumber(Kernel *kernel, const char *name, gqExtent extent) {
  if (extent.fixed != GQ_DYNAMIC) {
    addConstant(kernel, name, "i64", extent.fixed);
    return;
  }
  addParameter(kernel, name, "i64", extent.value);
  addArgument(kernel, name, "i64");
}

static void addOperand(Kernel *kernel, const Operand *operand) {
  const void *field = fieldOf(kernel->kernel->operands, operand);
  switch (operand->role) {
  case HOOK:
    addHook(kernel, field);
    return;
  case FUNCTION:
    addFunction(kernel, operand->name, field);
    return;
  case ADDRESS:
    addAddress(kernel, operand->name, ((const gqGpuAddress *)field)->value);
    return;
  case NUMBER:
    addNumber(kernel, operand->name, *(const gqExtent *)field);
    return;
  case CONSTANT:
    addConstant(kernel, operand->name, "i32",
                ((const gqGpuConstant *)field)->value);
  }
}

void gqGpuHookAddInput(gqGpuHook *hook, const gqBuilder *builder,
                       MlirValue buffer, MlirAffineMap map) {
  gqBufferValues values = gqBuildBufferValues(builder, buffer);
  gqGpuInput input = gqGpuInputOf(mlirValueGetType(buffer), map);
  bool strided = input.access == GQ_GPU_ACCESS_COLUMN || values.rank == 2;
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  hook->addresses[hook->numInputs] = values.address;
  hook->strides[hook->numInputs] =
      strided ? values.strides[0] : gqBuildConstant(builder, i64, 0);
  hook->inputs[hook->numInputs++] = input;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static const char *textOf(const Kernel *kernel, int text) {
  const char *data = gqTextOrAbort(&kernel->texts[text]);
  return data ? data : "";
}

/// The function @with_<hook> that calls the device function with a hook. Two
/// calls in the kernel itself would be merged, before they are inlined, into
/// one whose hook is not constant.
static void printWithHook(gqText *text, const Kernel *kernel,
                          const char *hook) {
  gqTextPrintf(
      text,
      "llvm.func internal @with_%s(%%inputs: !llvm.ptr, %s) attributes "
      "{always_inline} {\n%s"
      "  %%hook = llvm.mlir.addressof @%s : !llvm.ptr\n"
      "  llvm.call @gq_dev_%s(%s) : (%s) -> ()\n  llvm.return\n}\n",
      hook, textOf(kernel, PARAMETERS), textOf(kernel, CONSTANTS), hook,
      kernel->function, textOf(kernel, ARGUMENTS),
      textOf(kernel, ARGUMENT_TYPES));
}

static void printCallWithHook(gqText *text, const Kernel *kernel,
                              const char *hook) {
  gqTextPrintf(text,
               "  llvm.call @with_%s(%%inputs, %s) : (!llvm.ptr, %s) -> ()\n"
               "  llvm.return\n",
               hook, textOf(kernel, PARAMETER_NAMES),
               textOf(kernel, PARAMETER_TYPES));
}

static void printKernelHeader(gqText *text, const Kernel *kernel) {
  const gq_dev_bounds bounds = kernel->kernel->bounds;
  gqTextPrintf(text,
               "llvm.func @%s(%s) attributes {gpu.kernel, nvvm.kernel, "
               "nvvm.maxntid = array<i32: %d>",
               kernel->kernel->name, textOf(kernel, PARAMETERS),
               bounds.threads);
  if (bounds.minCtas)
    gqTextPrintf(text, ", nvvm.minctasm = %d : i32", bounds.minCtas);
  gqTextPrintf(text, "} {\n");
}

/// A kernel may start while the one before it in its stream ends (programmatic
/// dependent launch, see GQ_PROGRAMMATIC_LAUNCH). So it touches no memory
/// before that one is complete. An intrinsic would not keep loads behind it,
/// hence the clobber.
static void printWait(gqText *text) {
  gqTextPrintf(text, "  llvm.inline_asm has_side_effects "
                     "\"griddepcontrol.wait;\", \"~{memory}\" : () -> ()\n");
}

/// Whether hooks ask how their input is aligned: then a kernel has one call of
/// the device function. Rows that are only loaded; other kernels were 1 to 7 %
/// slower so.
static bool hooksAsk(const Kernel *kernel) {
  return kernel->kernel->family == GQ_KERNEL_QUANTIZE_ROWS &&
         mlirRegionIsNull(kernel->hook->producer.region);
}

/// A kernel that reads its inputs through a hook: 16 bytes at a time where all
/// of them are aligned to that.
static void printKernelWithInputs(gqText *text, const Kernel *kernel) {
  const gqGpuHook *hook = kernel->hook;
  bool producer = !mlirRegionIsNull(hook->producer.region),
       asks = hooksAsk(kernel);
  char fast[64] = "load16", slow[64] = "load16_unaligned";
  if (!producer) {
    const char *type = hook->inputs[0].type;
    snprintf(fast, sizeof(fast), "gq_dev_load16_%s%s", type,
             asks ? "_any" : "");
    snprintf(slow, sizeof(slow), "gq_dev_load16_%s_unaligned", type);
  }
  printWithHook(text, kernel, fast);
  if (!asks)
    printWithHook(text, kernel, slow);
  printKernelHeader(text, kernel);
  // A table is made of nothing in memory. LLVM would not take %inputs apart
  // after the loop that fills it.
  if (!hook->producer.table)
    printWait(text);
  gqPrintInputs(text, hook->inputs, hook->numInputs,
                producer && hook->rowIndexBits, hook->producer.ahead, asks);
  if (hook->producer.table) {
    gqTextPrintf(text, "  llvm.call @fill_table() : () -> ()\n");
    printWait(text);
  }
  if (!asks)
    gqTextPrintf(text, "  llvm.cond_br %%aligned, ^fast, ^slow\n^fast:\n");
  printCallWithHook(text, kernel, fast);
  if (!asks) {
    gqTextPrintf(text, "^slow:\n");
    printCallWithHook(text, kernel, slow);
  }
  gqTextPrintf(text, "}\n");
}

static void printKernelWithoutInputs(gqText *text, const Kernel *kernel) {
  printKernelHeader(text, kernel);
  printWait(text);
  gqTextPrintf(text,
               "%s  llvm.call @gq_dev_%s(%s) : (%s) -> ()\n  llvm.return\n}\n",
               textOf(kernel, CONSTANTS), kernel->function,
               textOf(kernel, ARGUMENTS), textOf(kernel, ARGUMENT_TYPES));
}

/// The gpu.module of a kernel whose texts are complete.
static MlirOperation parseModule(const Kernel *kernel) {
  const gqGpuHook *hook = kernel->hook;
  gqText module = {0}, *text = &module;
  gqTextPrintf(text,
               "gpu.module @%s {\n"
               "llvm.mlir.global external constant @" GQ_PROGRAMMATIC_LAUNCH
               "(1 : i8) {addr_space = 1 : i32} : i8\n"
               "llvm.func @gq_dev_%s(%s)\n",
               kernel->kernel->symbol, kernel->function,
               textOf(kernel, ARGUMENT_TYPES));
  if (hook) {
    gqPrintHookDeclarations(text, hook->inputs, hook->numInputs);
    if (!mlirRegionIsNull(hook->producer.region))
      gqPrintProducerHooks(text, &hook->producer, hook->inputs, hook->numInputs,
                           hook->rowIndexBits);
    printKernelWithInputs(text, kernel);
  } else {
    printKernelWithoutInputs(text, kernel);
  }
  if (!mlirRegionIsNull(kernel->epilogue))
    gqPrintEpilogue(text, kernel->epilogue);
  gqTextPrintf(text, "}\n");
  MlirOperation op = mlirOperationCreateParse(
      kernel->builder->context,
      mlirStringRefCreate(gqTextOrAbort(text), text->length),
      mlirStringRefCreateFromCString("kernel"));
  gqTextFree(text);
  return op;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

/// gpu.launch_func on the stream. All operands are of LLVM types, so that it is
/// one asynchronous call.
static void buildLaunch(const Kernel *kernel, MlirValue grid,
                        MlirValue stream) {
  const gqBuilder *builder = kernel->builder;
  const gq_dev_bounds bounds = kernel->kernel->bounds;
  MlirContext context = builder->context;
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirValue one = gqBuildConstant(builder, i64, 1);
  MlirValue sizes[] = {
      grid, one, one, gqBuildConstant(builder, i64, bounds.threads), one, one};
  MlirValue sharedMemory = gqBuildConstant(
      builder, mlirIntegerTypeGet(context, 32), bounds.sharedMemory);
  MlirAttribute nested = mlirFlatSymbolRefAttrGet(
      context, mlirStringRefCreateFromCString(kernel->kernel->name));
  MlirAttribute symbol = mlirSymbolRefAttrGet(
      context, mlirStringRefCreateFromCString(kernel->kernel->symbol), 1,
      &nested);
  // Dependencies, grid, block, cluster, shared memory, operands, stream.
  int32_t segments[] = {
      0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, (int32_t)kernel->numParameters, 1};
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "kernel", symbol),
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 13, segments)),
  };
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("gpu.launch_func"), builder->location);
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOperands(&state, 6, sizes);
  mlirOperationStateAddOperands(&state, 1, &sharedMemory);
  mlirOperationStateAddOperands(&state, kernel->numParameters,
                                kernel->parameters);
  mlirOperationStateAddOperands(&state, 1, &stream);
  gqInsert(builder, mlirOperationCreate(&state));
}

static const char *nameOfFormat(int32_t format) {
  switch ((gqFormat)format) {
#define NAME(VALUE, FORMAT, ...)                                               \
  case GQ_FORMAT_##FORMAT:                                                     \
    return #FORMAT;
    GQ_ALL_FORMATS(NAME)
  case GQ_FORMAT_NONE:
    break;
  }
  return "NONE";
}

/// Names the device function, of which some families have several: of the
/// kernels of tiles one for each format (Kernels.h), of the matmul's one for
/// each kind (grouped_mm/TilesOf.h).
static void nameFunction(Kernel *kernel, const char *family) {
  const void *operands = kernel->kernel->operands;
  char *name = kernel->function;
  size_t size = sizeof(kernel->function);
  switch (kernel->kernel->family) {
  case GQ_KERNEL_QUANTIZE_TILES:
  case GQ_KERNEL_QUANTIZE_SMALL_GROUPS: { // Their operands are the same.
    const gqQuantizeTilesOperands *tiles = operands;
    snprintf(name, size, "%s_%s", family, nameOfFormat(tiles->format.value));
    return;
  }
  case GQ_KERNEL_GROUPED_MM_TILES: {
    const gqGroupedMmTilesOperands *tiles = operands;
    bool fp8 = !gq_dev_has_tiled_scales((gqFormat)tiles->format.value);
    snprintf(name, size, "%s_%s%" PRId32, family, fp8 ? "fp8_" : "",
             tiles->tokens.value);
    return;
  }
  default:
    snprintf(name, size, "%s", family);
  }
}

/// Whether the family's struct is complete; else emits an error.
static bool checkOperands(const gqGpuKernel *kernel, const gqBuilder *builder,
                          const Family *family) {
  for (size_t i = 0; i < family->numOperands; ++i)
    if (!isGiven(kernel->operands, &family->operands[i])) {
      char message[256];
      snprintf(message, sizeof(message),
               "the operand '%s' of the device function 'gq_dev_%s' was not "
               "given",
               family->operands[i].name, family->function);
      mlirEmitError(builder->location, message);
      return false;
    }
  return true;
}

bool gqGpuKernelLaunch(const gqGpuKernel *gpuKernel, const gqBuilder *builder,
                       MlirOperation module, MlirValue grid, MlirValue stream) {
  Family family = familyOf(gpuKernel->family);
  if (!checkOperands(gpuKernel, builder, &family))
    return false;
  Kernel kernel = {.kernel = gpuKernel, .builder = builder};
  nameFunction(&kernel, family.function);
  for (size_t i = 0; i < family.numOperands; ++i)
    addOperand(&kernel, &family.operands[i]);
  MlirOperation gpuModule = parseModule(&kernel);
  for (int i = 0; i < NUM_TEXTS; ++i)
    gqTextFree(&kernel.texts[i]);
  if (mlirOperationIsNull(gpuModule)) // The parser has said why.
    return false;
  mlirBlockInsertOwnedOperation(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)), 0, gpuModule);
  if (kernel.hook && !mlirRegionIsNull(kernel.hook->producer.region))
    gqFillProducer(gpuModule, &kernel.hook->producer);
  if (!mlirRegionIsNull(kernel.epilogue))
    gqFillElement(gpuModule, kernel.epilogue);
  buildLaunch(&kernel, grid, stream);
  return true;
}
