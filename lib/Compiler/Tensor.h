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

/// A tensor of the given type and rank over `data`, which owns `memory` (null
/// for a view): its deleter passes it to free(). If memory runs out, this frees
/// it and returns null.
DLManagedTensor *gqTensorCreate(DLDataType dtype, int rank,
                                const int64_t *sizes, void *data, void *memory);

/// The DLPack data type of fresh results of `type`.
DLDataType gqTensorDtype(gqElementType type);

#endif // GQ_LIB_COMPILER_TENSOR_H
