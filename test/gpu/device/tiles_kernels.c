//===- tiles_kernels.c - the tile test kernels, for a GPU -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define KERNEL __attribute__((device_kernel)) void
// For bounds.awk: a comment, of two the one that is not removed as dead code.
#define BOUNDS(CTAS)                                                           \
  if ((CTAS) == 3)                                                             \
    __asm__ volatile("// minnctapersm 3");                                     \
  else if ((CTAS) == 4)                                                        \
    __asm__ volatile("// minnctapersm 4");

#include "TilesKernels.h"
