//===- Support.h - what the tests of the compiler share ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_COMPILER_SUPPORT_H
#define GQ_TEST_COMPILER_SUPPORT_H

#include "gq/Runtime/Executable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/// A tensor over the caller's data.
typedef struct Tensor {
  DLTensor tensor;
  int64_t shape[GQ_MAX_RANK];
} Tensor;

static const DLDataType boolType = {6, 8, 1};
static const DLDataType int8Type = {kDLInt, 8, 1};
static const DLDataType uint8Type = {kDLUInt, 8, 1};
static const DLDataType uint16Type = {kDLUInt, 16, 1};
static const DLDataType int16Type = {kDLInt, 16, 1};
static const DLDataType int32Type = {kDLInt, 32, 1};
static const DLDataType int64Type = {kDLInt, 64, 1};
static const DLDataType float16Type = {kDLFloat, 16, 1};
static const DLDataType bfloat16Type = {kDLBfloat, 16, 1};
static const DLDataType float32Type = {kDLFloat, 32, 1};
static const DLDataType float64Type = {kDLFloat, 64, 1};
static const DLDataType float8E4M3FNType = {10, 8, 1};
static const DLDataType packedFloat4Type = {17, 4, 2};

/// Fills a tensor of the given extents and returns it as gqInvoke takes it.
static inline DLTensor *makeTensor(Tensor *tensor, DLDataType dtype, void *data,
                                   int rank, const int64_t *shape) {
  for (int i = 0; i < rank; ++i)
    tensor->shape[i] = shape[i];
  tensor->tensor = (DLTensor){.data = data,
                              .device = {kDLCPU, 0},
                              .ndim = rank,
                              .dtype = dtype,
                              .shape = tensor->shape};
  return &tensor->tensor;
}

static inline DLTensor *makeScalar(Tensor *tensor, DLDataType dtype,
                                   void *data) {
  return makeTensor(tensor, dtype, data, 0, NULL);
}

static inline DLTensor *makeVector(Tensor *tensor, DLDataType dtype, void *data,
                                   int64_t size) {
  return makeTensor(tensor, dtype, data, 1, &size);
}

/// Compiles without a cache; the test fails with the diagnostics.
static inline gqExecutable *compile(const char *mlir) {
  gqCompileOptions options = {.cacheDir = ""};
  gqExecutable *executable;
  if (gqCompile(mlir, strlen(mlir), &options, &executable) != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
  return executable;
}

/// Invokes a function that must succeed.
static inline void invoke(gqExecutable *executable, const char *function,
                          DLTensor *const *inputs, size_t numInputs,
                          DLManagedTensor **outputs, size_t numOutputs) {
  if (gqInvoke(executable, function, inputs, numInputs, outputs, numOutputs) !=
      GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
}

static inline void release(DLManagedTensor *tensor) { tensor->deleter(tensor); }

/// Checks the message of the last failure; `part` must occur in it.
static inline void assertMessage(const char *part) {
  if (!strstr(gqGetLastErrorMessage(), part))
    fail_msg("expected '%s' in '%s'", part, gqGetLastErrorMessage());
}

static inline void assertDtype(const DLManagedTensor *tensor,
                               DLDataType dtype) {
  assert_int_equal(tensor->dl_tensor.dtype.code, dtype.code);
  assert_int_equal(tensor->dl_tensor.dtype.bits, dtype.bits);
  assert_int_equal(tensor->dl_tensor.dtype.lanes, dtype.lanes);
}

#endif // GQ_TEST_COMPILER_SUPPORT_H
