//===- Tensor.c - DLPack tensors ------------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"
#include "../Support/Text.h"

#include "gq/Runtime/Cuda.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Data types
//===----------------------------------------------------------------------===//

/// The codes of DLPack 1.1 that older headers lack.
enum {
  DL_BOOL = 6,
  DL_FLOAT8_E4M3FN = 10,
  DL_FLOAT8_E5M2 = 12,
  DL_FLOAT8_E8M0FNU = 14,
  DL_FLOAT4_E2M1FN = 17,
};

static const DLDataType uint8 = {kDLUInt, 8, 1};
static const DLDataType int8 = {kDLInt, 8, 1};
static const DLDataType uint16 = {kDLUInt, 16, 1};
/// Two codes per byte.
static const DLDataType packedFloat4 = {DL_FLOAT4_E2M1FN, 4, 2};

/// What a gqElementType is outside. `alternatives` are the other data types
/// that its bytes may come in, up to the first with no bits.
static const struct {
  const char *name;
  DLDataType dtype;
  const DLDataType *alternatives[3];
} elementTypes[] = {
    [GQ_I1] = {"bool", {DL_BOOL, 8, 1}, {&uint8}},
    [GQ_I8] = {"int8", {kDLInt, 8, 1}, {&uint8, &packedFloat4}},
    [GQ_I16] = {"int16", {kDLInt, 16, 1}, {0}},
    [GQ_I32] = {"int32", {kDLInt, 32, 1}, {0}},
    [GQ_I64] = {"int64", {kDLInt, 64, 1}, {0}},
    [GQ_F16] = {"float16", {kDLFloat, 16, 1}, {0}},
    [GQ_BF16] = {"bfloat16", {kDLBfloat, 16, 1}, {&uint16}},
    [GQ_F32] = {"float32", {kDLFloat, 32, 1}, {0}},
    [GQ_F64] = {"float64", {kDLFloat, 64, 1}, {0}},
    [GQ_F8E4M3FN] = {"float8_e4m3fn",
                     {DL_FLOAT8_E4M3FN, 8, 1},
                     {&uint8, &int8}},
    [GQ_F8E5M2] = {"float8_e5m2", {DL_FLOAT8_E5M2, 8, 1}, {&uint8, &int8}},
    [GQ_F8E8M0FNU] = {"float8_e8m0fnu",
                      {DL_FLOAT8_E8M0FNU, 8, 1},
                      {&uint8, &int8}},
};

const char *gqElementTypeName(gqElementType type) {
  size_t count = sizeof(elementTypes) / sizeof(elementTypes[0]);
  return (size_t)type < count ? elementTypes[type].name : "unknown";
}

DLDataType gqTensorDtype(gqElementType type) {
  return elementTypes[type].dtype;
}

static bool isSameDtype(DLDataType lhs, DLDataType rhs) {
  return lhs.code == rhs.code && lhs.bits == rhs.bits && lhs.lanes == rhs.lanes;
}

static bool acceptsDtype(gqElementType type, DLDataType dtype) {
  if (isSameDtype(elementTypes[type].dtype, dtype))
    return true;
  for (const DLDataType *const *other = elementTypes[type].alternatives; *other;
       ++other)
    if (isSameDtype(**other, dtype))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static void appendDtype(gqText *text, DLDataType dtype) {
  for (size_t i = 0; i < sizeof(elementTypes) / sizeof(elementTypes[0]); ++i) {
    if (!isSameDtype(elementTypes[i].dtype, dtype))
      continue;
    gqTextPrintf(text, "%s", elementTypes[i].name);
    return;
  }
  static const char *const names[] = {
      [kDLInt] = "int",       [kDLUInt] = "uint",
      [kDLFloat] = "float",   [kDLOpaqueHandle] = "handle",
      [kDLBfloat] = "bfloat", [kDLComplex] = "complex",
      [DL_BOOL] = "bool"};
  if (isSameDtype(dtype, packedFloat4))
    gqTextPrintf(text, "float4_e2m1fn_x2");
  else if (dtype.code < sizeof(names) / sizeof(names[0]))
    gqTextPrintf(text, "%s%d", names[dtype.code], dtype.bits);
  else
    gqTextPrintf(text, "DLPack code %d, %d bits", dtype.code, dtype.bits);
  if (dtype.lanes != 1 && !isSameDtype(dtype, packedFloat4))
    gqTextPrintf(text, "x%d", dtype.lanes);
}

/// Writes extents as "[?, 5120]".
static void appendShape(gqText *text, int rank, const int64_t *sizes) {
  gqTextPrintf(text, "[");
  for (int i = 0; i < rank; ++i) {
    gqTextPrintf(text, i ? ", " : "");
    if (sizes[i] < 0)
      gqTextPrintf(text, "?");
    else
      gqTextPrintf(text, "%lld", (long long)sizes[i]);
  }
  gqTextPrintf(text, "]");
}

/// "expected int32 [?], found float32 [5]"
static gqStatus failType(const gqType *type, const DLTensor *tensor) {
  gqText text = {0};
  gqTextPrintf(&text, "expected %s ", gqElementTypeName(type->type));
  appendShape(&text, type->rank, type->sizes);
  gqTextPrintf(&text, ", found ");
  if (tensor) {
    appendDtype(&text, tensor->dtype);
    gqTextPrintf(&text, " ");
    appendShape(&text, tensor->ndim, tensor->shape);
  } else {
    gqTextPrintf(&text, "null");
  }
  gqStatus status = gqFail(GQ_INVALID_ARGUMENT, "%s", gqTextString(&text));
  gqTextFree(&text);
  return status;
}

static gqStatus failStrides(const DLTensor *tensor) {
  gqText text = {0};
  gqTextPrintf(&text, "expected row-major contiguous memory, found shape ");
  appendShape(&text, tensor->ndim, tensor->shape);
  gqTextPrintf(&text, " with strides ");
  appendShape(&text, tensor->ndim, tensor->strides);
  gqStatus status = gqFail(GQ_INVALID_ARGUMENT, "%s", gqTextString(&text));
  gqTextFree(&text);
  return status;
}

static gqStatus failSize(const DLTensor *tensor) {
  gqText text = {0};
  appendShape(&text, tensor->ndim, tensor->shape);
  gqStatus status =
      gqFail(GQ_INVALID_ARGUMENT, "found shape %s, which no memory can hold",
             gqTextString(&text));
  gqTextFree(&text);
  return status;
}

/// "expected a tensor on CUDA device 0, found the CPU"
static gqStatus failDevice(DLDevice expected, DLDevice found) {
  gqText text = {0};
  if (expected.device_type == kDLCPU)
    gqTextPrintf(&text, "expected a tensor on the CPU, found ");
  else
    gqTextPrintf(&text, "expected a tensor on CUDA device %d, found ",
                 expected.device_id);
  if (found.device_type == kDLCPU)
    gqTextPrintf(&text, "the CPU");
  else if (found.device_type == expected.device_type)
    gqTextPrintf(&text, "device %d; see gqSetDevice", found.device_id);
  else
    gqTextPrintf(&text, "DLPack device type %d", (int)found.device_type);
  gqStatus status = gqFail(GQ_INVALID_ARGUMENT, "%s", gqTextString(&text));
  gqTextFree(&text);
  return status;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool hasShape(const gqType *type, const DLTensor *tensor) {
  int32_t rank = type->rank < 0 ? 0 : type->rank;
  if (tensor->ndim != rank)
    return false;
  for (int32_t i = 0; i < rank; ++i)
    if (tensor->shape[i] < 0 ||
        (type->sizes[i] >= 0 && tensor->shape[i] != type->sizes[i]))
      return false;
  return true;
}

static bool isEmpty(const DLTensor *tensor) {
  for (int i = 0; i < tensor->ndim; ++i)
    if (tensor->shape[i] == 0)
      return true;
  return false;
}

/// The stride of a dimension of one element means nothing.
bool gqTensorIsContiguous(const DLTensor *tensor) {
  if (!tensor->strides || isEmpty(tensor))
    return true;
  int64_t stride = 1;
  for (int i = tensor->ndim - 1; i >= 0; --i) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != stride)
      return false;
    stride *= tensor->shape[i];
  }
  return true;
}

/// Whether there can be memory for it, so that its strides and its size in
/// bytes do not overflow. Also while it is empty.
static bool fitsMemory(const gqType *type, const DLTensor *tensor) {
  int64_t bytes = gqElementTypeSize(type->type);
  for (int i = 0; i < tensor->ndim; ++i)
    if (tensor->shape[i] > 0 &&
        __builtin_mul_overflow(bytes, tensor->shape[i], &bytes))
      return false;
  return true;
}

size_t gqTensorNumBytes(const gqType *type, const DLTensor *tensor) {
  size_t bytes = (size_t)gqElementTypeSize(type->type);
  for (int i = 0; i < tensor->ndim; ++i)
    bytes *= (size_t)tensor->shape[i];
  return bytes;
}

static bool isOn(DLDevice device, DLDevice expected) {
  return device.device_type == expected.device_type &&
         (device.device_type == kDLCPU ||
          device.device_id == expected.device_id);
}

gqStatus gqTypeCheck(const gqType *type, const DLTensor *tensor) {
  return gqTensorCheck(type, tensor, (DLDevice){kDLCPU, 0});
}

gqStatus gqTensorCheck(const gqType *type, const DLTensor *tensor,
                       DLDevice device) {
  if (!tensor || !acceptsDtype(type->type, tensor->dtype) ||
      !hasShape(type, tensor))
    return failType(type, tensor);
  if (!isOn(tensor->device, device))
    return failDevice(device, tensor->device);
  if (!fitsMemory(type, tensor))
    return failSize(tensor);
  if (!gqTensorIsContiguous(tensor))
    return failStrides(tensor);
  if (isEmpty(tensor))
    return GQ_OK;
  if (!tensor->data)
    return gqFail(GQ_INVALID_ARGUMENT, "expected data, found null");
  int64_t size = gqElementTypeSize(type->type);
  if ((uintptr_t)gqTensorData(tensor) % (uintptr_t)size)
    return gqFail(GQ_INVALID_ARGUMENT,
                  "expected data aligned to %d bytes, found address %p",
                  (int)size, gqTensorData(tensor));
  return GQ_OK;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A tensor with the memory that it points to.
typedef struct Result {
  DLManagedTensor tensor;
  gqMemory memory;
  int64_t sizes[GQ_MAX_RANK];
  int64_t strides[GQ_MAX_RANK];
} Result;

static void freeMemory(const gqMemory *memory) {
  if (memory->device.device_type == kDLCPU)
    free(memory->owned);
  else
    gqDeviceRelease(memory->device.device_id, memory->stream, memory->owned);
}

static void deleteResult(DLManagedTensor *tensor) {
  Result *result = tensor->manager_ctx;
  freeMemory(&result->memory);
  free(result);
}

DLManagedTensor *gqTensorCreate(DLDataType dtype, int rank,
                                const int64_t *sizes, void *data,
                                const gqMemory *memory) {
  Result *result = calloc(1, sizeof(Result));
  if (!result) {
    freeMemory(memory);
    return NULL;
  }
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    result->sizes[i] = sizes[i];
    result->strides[i] = stride;
    // Of an empty result the extents may be anything.
    if (__builtin_mul_overflow(stride, sizes[i], &stride))
      stride = 0;
  }
  result->memory = *memory;
  result->tensor = (DLManagedTensor){.dl_tensor = {.data = data,
                                                   .device = memory->device,
                                                   .ndim = rank,
                                                   .dtype = dtype,
                                                   .shape = result->sizes,
                                                   .strides = result->strides},
                                     .manager_ctx = result,
                                     .deleter = deleteResult};
  return &result->tensor;
}
