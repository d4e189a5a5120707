//===- wgrad_kernels.c - test kernels of the gradient of weights ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering generates, by hand.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "PoisonShared.h"
#include "WgradKernels.h"

#include "runtime_kernels/arch/Mma.h"

#ifndef KERNEL // on the GPU
#define KERNEL __attribute__((device_kernel)) void
// For bounds.awk: comments, of which those in dead code are removed.
#define BOUNDS                                                                 \
  __asm__ volatile("// minnctapersm 1");                                       \
  __asm__ volatile("// maxntid 256");
#else
#define BOUNDS
#endif

_Static_assert(GQ_DEV_GROUPED_WGRAD_TILES_THREADS == 256 &&
                   GQ_DEV_GROUPED_WGRAD_ANY_THREADS == 256,
               "bounds");

#define VARIANT(NAME, FUNCTION, FAMILY, BITS, TYPE, N, K, FORMATS)             \
  KERNEL NAME(WgradOperands o) {                                               \
    BOUNDS                                                                     \
    const int32_t formats[] = {WGRAD_##FORMATS};                               \
    const int32_t format = formats[0], aType = formats[1];                     \
    const int32_t bFormat = formats[2], bType = formats[3];                    \
    const int32_t offsetBits = BITS, outType = GQ_##TYPE;                      \
    if (N) {                                                                   \
      o.n = N;                                                                 \
      o.k = K;                                                                 \
    }                                                                          \
    CALL(grouped_wgrad_##FUNCTION, GQ_GROUPED_WGRAD_##FAMILY##_OPERANDS);      \
  }
WGRAD_VARIANTS(VARIANT)
DEFINE_POISON_SHARED
