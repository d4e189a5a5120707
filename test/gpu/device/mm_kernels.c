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
#include "PoisonShared.h"

#include "runtime_kernels/arch/Mma.h"

#ifndef KERNEL // on the GPU
#define KERNEL __attribute__((device_kernel)) void
// For bounds.awk: comments, of which those in dead code are removed.
#define BOUNDS(THREADS)                                                        \
  __asm__ volatile("// minnctapersm 1");                                       \
  if ((THREADS) == GQ_DEV_GROUPED_MM_TILES_THREADS)                            \
    __asm__ volatile("// maxntid 384");                                        \
  else if ((THREADS) == GQ_DEV_GROUPED_MM_DECODE_THREADS)                      \
    __asm__ volatile("// maxntid 640");                                        \
  else                                                                         \
    __asm__ volatile("// maxntid 256");
#else
#define BOUNDS(THREADS)
#endif

_Static_assert(GQ_DEV_GROUPED_MM_TILES_THREADS == 384 &&
                   GQ_DEV_GROUPED_MM_DECODE_THREADS == 640 &&
                   GQ_DEV_GROUPED_MM_ANY_THREADS == 256,
               "bounds");

#define VARIANT(NAME, FUNCTION, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS,     \
                REST)                                                          \
  KERNEL NAME(MmOperands o) {                                                  \
    BOUNDS(GQ_DEV_GROUPED_MM_##FAMILY##_THREADS)                               \
    const int32_t formats[] = {MM_##FORMATS};                                  \
    const int32_t format = formats[0], aType = formats[1];                     \
    const int32_t bFormat = formats[2], bType = formats[3];                    \
    const int32_t bMajor = formats[4];                                         \
    const int32_t biasType = GQ_BF16;                                          \
    const int32_t offsetBits = BITS, outType = GQ_##TYPE, tokens = TOKENS;     \
    const int32_t moreThan = -1, atMost = INT32_MAX;                           \
    if (K) {                                                                   \
      o.n = N;                                                                 \
      o.k = K;                                                                 \
      o.aStride = aType == GQ_I8 ? o.k / 2 : o.k;                              \
      o.outStride = o.n * gqElementTypeSize(outType);                          \
    }                                                                          \
    if (!(REST))                                                               \
      o.rowScales = o.columnScales = 0;                                        \
    else                                                                       \
      __builtin_assume(o.rowScales && o.columnScales);                         \
    if ((REST) != 1)                                                           \
      o.bias = 0;                                                              \
    else                                                                       \
      __builtin_assume(o.bias);                                                \
    CALL(grouped_mm_##FUNCTION, GQ_GROUPED_MM_##FAMILY##_OPERANDS);            \
  }
MM_VARIANTS(VARIANT)
DEFINE_POISON_SHARED
