//===- dequantize_kernels.c - the test kernels of dequantization ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define KERNEL __attribute__((device_kernel)) void
#define SM120 (__CUDA_ARCH__ == 1200)
// For bounds.awk: comments, of which those in dead code are removed.
#define BOUNDS_CTAS(N)                                                         \
  if (bounds.minCtas == N)                                                     \
    __asm__ volatile("// minnctapersm " #N);
#define BOUNDS(OF)                                                             \
  const gq_dev_bounds bounds = OF;                                             \
  if (bounds.threads == 128)                                                   \
    __asm__ volatile("// maxntid 128");                                        \
  BOUNDS_CTAS(4)                                                               \
  BOUNDS_CTAS(5) BOUNDS_CTAS(6) BOUNDS_CTAS(8)

#include "DequantizeKernels.h"
