//===- tiles_kernels.c - the tile test kernels, for a GPU -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define KERNEL __attribute__((device_kernel)) void
// For bounds.awk: comments, of which those in dead code are removed.
#define BOUNDS(OF)                                                             \
  const gq_dev_bounds bounds = OF;                                             \
  if (bounds.threads == 128)                                                   \
    __asm__ volatile("// maxntid 128");                                        \
  if (bounds.minCtas == 2)                                                     \
    __asm__ volatile("// minnctapersm 2");                                     \
  else if (bounds.minCtas == 3)                                                \
    __asm__ volatile("// minnctapersm 3");                                     \
  else if (bounds.minCtas == 4)                                                \
    __asm__ volatile("// minnctapersm 4");                                     \
  else if (bounds.minCtas == 5)                                                \
    __asm__ volatile("// minnctapersm 5");

#include "TilesKernels.h"
