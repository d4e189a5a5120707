//===- ShareKernels.c - gq-share-kernels --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gpu.module holds one kernel and everything about it: constants of the op
// and the body of its producer. So two that are equal except for names are the
// same kernel.
//
//===----------------------------------------------------------------------===//

#include "../Support/Memory.h"
#include "Functions.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

/// A gpu.module of one kernel.
typedef struct Module {
  MlirOperation op, kernel;
  /// Their names, and what launches call them.
  MlirAttribute name, kernelName, symbol;
  /// The first one that is equal.
  intptr_t first;
} Module;

static bool isGpuModule(MlirOperation op) {
  return gqIsNamed(op, "gpu.module");
}

static bool isLaunch(MlirOperation op) {
  return gqIsNamed(op, "gpu.launch_func");
}

static void setName(MlirOperation op, MlirAttribute name) {
  mlirOperationSetAttributeByName(
      op, mlirStringRefCreateFromCString("sym_name"), name);
}

/// The kernel of a gpu.module; null if it has none or several.
static MlirOperation onlyKernel(MlirOperation module) {
  MlirOperation kernel = {NULL};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (mlirAttributeIsNull(gqGetAttribute(op, "gpu.kernel")))
      continue;
    if (!mlirOperationIsNull(kernel))
      return (MlirOperation){NULL};
    kernel = op;
  }
  return kernel;
}

static Module moduleOf(MlirOperation op, MlirOperation kernel) {
  MlirAttribute name = gqGetAttribute(op, "sym_name");
  MlirAttribute kernelName = gqGetAttribute(kernel, "sym_name");
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute nested =
      mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(kernelName));
  return (Module){
      op,
      kernel,
      name,
      kernelName,
      mlirSymbolRefAttrGet(context, mlirStringAttrGetValue(name), 1, &nested),
      0};
}

/// Finds the first module that is equal to each module, ignoring names.
static void findEqual(Module *modules, intptr_t size) {
  for (intptr_t i = 0; i < size; ++i) {
    setName(modules[i].op, modules[0].name);
    setName(modules[i].kernel, modules[0].kernelName);
    while (!gqAreEquivalent(modules[modules[i].first].op, modules[i].op))
      ++modules[i].first;
  }
  for (intptr_t i = 0; i < size; ++i) {
    setName(modules[i].op, modules[i].name);
    setName(modules[i].kernel, modules[i].kernelName);
  }
}

static void redirect(MlirOperation launch, const Module *modules,
                     intptr_t size) {
  MlirAttribute symbol = gqGetAttribute(launch, "kernel");
  for (intptr_t i = 0; i < size; ++i)
    if (mlirAttributeEqual(modules[i].symbol, symbol)) {
      mlirOperationSetAttributeByName(launch,
                                      mlirStringRefCreateFromCString("kernel"),
                                      modules[modules[i].first].symbol);
      return;
    }
}

void gqShareKernels(MlirOperation root) {
  gqOpList ops = gqCollectDirectly(root, isGpuModule);
  gqOpList launches = gqCollectDirectly(root, isLaunch);
  Module *modules = malloc(((size_t)ops.size + 1) * sizeof(*modules));
  if (!modules)
    gqOutOfMemory();
  intptr_t size = 0;
  for (intptr_t i = 0; i < ops.size; ++i) {
    MlirOperation kernel = onlyKernel(ops.ops[i]);
    if (!mlirOperationIsNull(kernel))
      modules[size++] = moduleOf(ops.ops[i], kernel);
  }
  findEqual(modules, size);
  for (intptr_t i = 0; i < launches.size; ++i)
    redirect(launches.ops[i], modules, size);
  for (intptr_t i = 0; i < size; ++i)
    if (modules[i].first != i)
      mlirOperationDestroy(modules[i].op);
  free(modules);
  gqOpListFree(&launches);
  gqOpListFree(&ops);
}
