//===- mm_kernels.c - the test kernels of the grouped matmul --------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering generates, by hand.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "MmKernels.h"

#ifndef KERNEL // on the GPU
#define KERNEL __attribute__((device_kernel)) void
// For bounds.awk: comments, of which those in dead code are removed.
#define BOUNDS(THREADS)                                                        \
  __asm__ volatile("// minnctapersm 1");                                       \
  if ((THREADS) == GQ_DEV_GROUPED_MM_TILES_THREADS)                            \
    __asm__ volatile("// maxntid 384");                                        \
  else if ((THREADS) == GQ_DEV_GROUPED_MM_DECODE_THREADS)                      \
    __asm__ volatile("// maxntid 512");                                        \
  else                                                                         \
    __asm__ volatile("// maxntid 256");
#else
#define BOUNDS(THREADS)
#endif

_Static_assert(GQ_DEV_GROUPED_MM_TILES_THREADS == 384 &&
                   GQ_DEV_GROUPED_MM_DECODE_THREADS == 512 &&
                   GQ_DEV_GROUPED_MM_ANY_THREADS == 256,
               "bounds");

#define VARIANT(NAME, FUNCTION, FAMILY, TOKENS, BITS, TYPE, N, K)              \
  KERNEL NAME(MmOperands o) {                                                  \
    BOUNDS(GQ_DEV_GROUPED_MM_##FAMILY##_THREADS)                               \
    const int32_t offsetBits = BITS, outType = GQ_##TYPE, tokens = TOKENS;     \
    const int32_t moreThan = -1, atMost = INT32_MAX;                           \
    if (K) {                                                                   \
      o.n = N;                                                                 \
      o.k = K;                                                                 \
      o.aStride = o.k / 2;                                                     \
      o.outStride = o.n * gqElementTypeSize(outType);                          \
    }                                                                          \
    CALL(grouped_mm_##FUNCTION, GQ_GROUPED_MM_##FAMILY##_OPERANDS);            \
  }
MM_VARIANTS(VARIANT)
