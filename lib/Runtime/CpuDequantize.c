//===- CpuDequantize.c - dequantizing a matrix on the CPU ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuDequantize.h"

#include "CpuKernels.h"

void gqCpuDequantize(const gqCpuDequantization *q, const gqCpuJob *job) {
  gqCpuGetKernels()->dequantize(q, job);
}
