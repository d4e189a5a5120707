//===- Tensor.h - DLPack tensors ---------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_TENSOR_H
#define GQ_LIB_COMPILER_TENSOR_H

#include "gq/Runtime/Executable.h"

/// The first element of `tensor`.
static inline void *gqTensorData(const DLTensor *tensor) {
  return (char *)tensor->data + tensor->byte_offset;
}

/// Memory of a device and who frees it.
typedef struct gqMemory {
  DLDevice device;
  /// The CUDA stream that it is freed in order with; null on the CPU.
  void *stream;
  /// What malloc or gqDeviceAlloc returned; null if somebody else owns it.
  void *owned;
} gqMemory;

/// A tensor of the given type and rank over `data`, part of `memory`, which its
/// deleter frees. If memory runs out, this frees it and returns null.
DLManagedTensor *gqTensorCreate(DLDataType dtype, int rank,
                                const int64_t *sizes, void *data,
                                const gqMemory *memory);

/// gqTypeCheck() for a tensor that must be on `device`, the CPU or a CUDA
/// device.
gqStatus gqTensorCheck(const gqType *type, const DLTensor *tensor,
                       DLDevice device);

/// Whether `tensor` is row-major without gaps.
bool gqTensorIsContiguous(const DLTensor *tensor);

/// The number of bytes of the elements of a tensor that gqTensorCheck() has
/// accepted for `type`.
size_t gqTensorNumBytes(const gqType *type, const DLTensor *tensor);

/// The DLPack data type of fresh results of `type`.
DLDataType gqTensorDtype(gqElementType type);

#endif // GQ_LIB_COMPILER_TENSOR_H
