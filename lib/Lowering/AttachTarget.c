//===- AttachTarget.c - gq-attach-target -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "../Support/Print.h"
#include "Passes.h"
#include "Query.h"
#include "Toolkit.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Diagnostics.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A chip that there are device functions for, and the version of PTX that its
/// instructions need.
typedef struct Chip {
  const char *name, *features;
} Chip;

static const Chip chips[] = {
    {"sm_90a", "+ptx86"}, {"sm_100a", "+ptx86"}, {"sm_120a", "+ptx87"}};

static const Chip *findChip(const char *name) {
  for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); ++i)
    if (strcmp(chips[i].name, name) == 0)
      return &chips[i];
  return NULL;
}

static bool isGpuModule(MlirOperation op) {
  return gqIsNamed(op, "gpu.module");
}

/// A function of libdevice.
static bool isLibdevice(MlirOperation op) {
  if (!gqIsNamed(op, "llvm.func"))
    return false;
  MlirStringRef name = mlirStringAttrGetValue(gqGetAttribute(op, "sym_name"));
  return name.length > 5 && memcmp(name.data, "__nv_", 5) == 0;
}

/// Without a toolkit a call of libdevice would stay in the PTX, unresolved.
static bool checkLibdevice(MlirOperation gpuModule) {
  gqOpList calls = gqCollect(gpuModule, isLibdevice);
  bool resolved = !calls.size || gqCudaToolkit();
  if (!resolved) {
    MlirStringRef name =
        mlirStringAttrGetValue(gqGetAttribute(calls.ops[0], "sym_name"));
    char message[256];
    snprintf(message, sizeof(message),
             "the kernel needs '%.*s' of libdevice, and there is no CUDA "
             "toolkit; set GQ_CUDA_TOOLKIT to its folder",
             (int)name.length, name.data);
    mlirEmitError(mlirOperationGetLocation(gpuModule), message);
  }
  gqOpListFree(&calls);
  return resolved;
}

/// An operation that convert-gpu-to-nvvm did not convert.
static bool isUnlowered(MlirOperation op) {
  static const char *const lowered[] = {"llvm.", "nvvm.", "gpu.", "builtin."};
  for (size_t i = 0; i < sizeof(lowered) / sizeof(lowered[0]); ++i)
    if (gqIsOfDialect(op, lowered[i]))
      return false;
  return true;
}

/// The translation to LLVM IR would not say which operation it was.
static bool checkLowered(MlirOperation gpuModule) {
  gqOpList ops = gqCollect(gpuModule, isUnlowered);
  for (intptr_t i = 0; i < ops.size; ++i)
    gqOpError(ops.ops[i], "on these types has no GPU lowering");
  bool valid = !ops.size;
  gqOpListFree(&ops);
  return valid;
}

/// Kernels for a chip that call functions of the bitcode at `path`. The list of
/// targets has no C API, so it is parsed; MLIR quotes the path for that.
static MlirAttribute createTargets(MlirContext context, const Chip *chip,
                                   int32_t opt, const char *path) {
  gqText text = {0};
  gqTextPrintf(
      &text, "[#nvvm.target<O = %d, chip = \"%s\", features = \"%s\", link = [",
      opt, chip->name, chip->features);
  mlirAttributePrint(
      mlirStringAttrGet(context, mlirStringRefCreateFromCString(path)),
      gqAppendString, &text);
  gqTextPrintf(&text, "]>]");
  MlirAttribute targets = mlirAttributeParseGet(
      context, mlirStringRefCreate(gqTextOrAbort(&text), text.length));
  gqTextFree(&text);
  return targets;
}

static MlirLogicalResult fail(MlirOperation module, const char *format, ...) {
  char message[PATH_MAX + 256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  mlirEmitError(mlirOperationGetLocation(module), message);
  return mlirLogicalResultFailure();
}

MlirLogicalResult gqAttachTarget(MlirOperation module, const char *chipName,
                                 int32_t opt) {
  char path[PATH_MAX];
  const Chip *chip = findChip(chipName);
  if (!chip)
    return fail(module,
                "there are no device functions for the chip '%s', only for "
                "sm_90a, sm_100a and sm_120a",
                chipName);
  if (!gqDeviceBitcode(chip->name, path, sizeof(path)))
    return fail(module, "the device functions '%s' are missing", path);
  if (!gqIsBitcodeCurrent(path))
    return fail(module,
                "the device functions '%s' take other operands than this build "
                "of gq passes; rebuild them together",
                path);
  MlirAttribute targets =
      createTargets(mlirOperationGetContext(module), chip, opt, path);
  if (mlirAttributeIsNull(targets)) // The parser has said why.
    return mlirLogicalResultFailure();
  gqOpList modules = gqCollect(module, isGpuModule);
  bool valid = true;
  for (intptr_t i = 0; i < modules.size; ++i) {
    valid &= checkLowered(modules.ops[i]) && checkLibdevice(modules.ops[i]);
    mlirOperationSetAttributeByName(
        modules.ops[i], mlirStringRefCreateFromCString("targets"), targets);
  }
  gqOpListFree(&modules);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
