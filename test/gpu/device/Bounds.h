//===- Bounds.h - how test kernels are declared for a GPU --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_BOUNDS_H
#define GQ_TEST_GPU_DEVICE_BOUNDS_H

#define KERNEL __attribute__((device_kernel)) void

#define BOUNDS_CTAS(N)                                                         \
  if (bounds.minCtas == N)                                                     \
    __asm__ volatile("// minnctapersm " #N);
/// Says what a gq_dev_bounds of CTAs of 128 threads says, for bounds.awk: in
/// comments, of which those in dead code are removed.
#define BOUNDS(OF)                                                             \
  const gq_dev_bounds bounds = OF;                                             \
  if (bounds.threads == 128)                                                   \
    __asm__ volatile("// maxntid 128");                                        \
  BOUNDS_CTAS(2)                                                               \
  BOUNDS_CTAS(3)                                                               \
  BOUNDS_CTAS(4) BOUNDS_CTAS(5) BOUNDS_CTAS(6) BOUNDS_CTAS(8)

#endif // GQ_TEST_GPU_DEVICE_BOUNDS_H
