//===- DeviceMemory.c - gq-device-memory -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <string.h>

/// Operations that access elements of memrefs; on the host they would do so in
/// memory that it cannot access.
static bool isHostAccess(MlirOperation op) {
  static const char *const prefixes[] = {
      "linalg.", "memref.load", "memref.store", "memref.get_global", "vector."};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i)
    if (strncmp(name.data, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  return false;
}

static bool isInGpuModule(MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (gqIsNamed(op, "gpu.module"))
      return true;
  return false;
}

static bool isCopy(MlirOperation op) { return gqIsNamed(op, "memref.copy"); }

/// Whether a memref is row-major without gaps, as far as its type tells.
static bool isContiguous(MlirType type) {
  return mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
}

/// memref.copy becomes mgpuMemcpy(target, source, bytes, gqGetStream()).
static bool convertCopy(MlirOperation module, MlirOperation copy) {
  MlirValue source = mlirOperationGetOperand(copy, 0);
  MlirValue target = mlirOperationGetOperand(copy, 1);
  if (!isContiguous(mlirValueGetType(source)) ||
      !isContiguous(mlirValueGetType(target)))
    return gqOpError(copy, "of a strided memref has no GPU lowering yet");
  gqBuilder builder = gqBuilderBefore(copy);
  MlirType i64 = mlirIntegerTypeGet(builder.context, 64);
  MlirType pointer = mlirLLVMPointerTypeGet(builder.context, 0);
  MlirType inputs[] = {pointer, pointer, i64, pointer};
  if (!gqDeclareFunction(
          module, "mgpuMemcpy",
          mlirFunctionTypeGet(builder.context, 4, inputs, 0, NULL)) ||
      !gqDeclareFunction(
          module, "gqGetStream",
          mlirFunctionTypeGet(builder.context, 0, NULL, 1, &pointer)))
    return false;

  gqBufferValues from = gqBuildBufferValues(&builder, source);
  gqBufferValues to = gqBuildBufferValues(&builder, target);
  MlirValue bytes =
      gqBuildConstant(&builder, i64, gqElementTypeSize(from.type));
  for (intptr_t i = 0; i < from.rank; ++i) {
    MlirValue factors[] = {bytes, from.sizes[i]};
    bytes = gqBuildValue(&builder, "arith.muli", 2, factors, i64);
  }
  MlirValue stream = mlirOperationGetResult(
      gqBuildCall(&builder, "gqGetStream", 0, NULL, 1, &pointer), 0);
  MlirValue operands[] = {gqBuildPointer(&builder, to.address, 0),
                          gqBuildPointer(&builder, from.address, 0), bytes,
                          stream};
  gqBuildCall(&builder, "mgpuMemcpy", 4, operands, 0, NULL);
  mlirOperationDestroy(copy);
  return true;
}

MlirLogicalResult gqDeviceMemory(MlirOperation module) {
  bool valid = true;
  gqOpList accesses = gqCollect(module, isHostAccess);
  for (intptr_t i = 0; i < accesses.size; ++i) {
    // The terminator of a linalg op belongs to it.
    if (!isInGpuModule(accesses.ops[i]) &&
        !gqIsNamed(accesses.ops[i], "linalg.yield"))
      valid &= gqOpError(accesses.ops[i],
                         "would run on the host, on device memory; it has no "
                         "GPU lowering yet");
  }
  gqOpListFree(&accesses);
  gqOpList copies = gqCollect(module, isCopy);
  for (intptr_t i = 0; i < copies.size; ++i)
    valid &= convertCopy(module, copies.ops[i]);
  gqOpListFree(&copies);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
