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
#include "runtime_kernels/kernels/grouped_mm/TilesOf.h"

#ifndef KERNEL // on the GPU
#define KERNEL __attribute__((device_kernel)) void
// For bounds.awk: comments, of which those in dead code are removed.
#define BOUNDS(THREADS, CTAS)                                                  \
  if ((CTAS) == GQ_DEV_GROUPED_MM_PREPARE_CTAS)                                \
    __asm__ volatile("// minnctapersm 2");                                     \
  else                                                                         \
    __asm__ volatile("// minnctapersm 1");                                     \
  if ((THREADS) == GQ_DEV_GROUPED_MM_TILES_THREADS)                            \
    __asm__ volatile("// maxntid 384");                                        \
  else if ((THREADS) == GQ_DEV_GROUPED_MM_DECODE_THREADS)                      \
    __asm__ volatile("// maxntid 640");                                        \
  else                                                                         \
    __asm__ volatile("// maxntid 256");
#else
#define BOUNDS(THREADS, CTAS)
#endif

_Static_assert(GQ_DEV_GROUPED_MM_TILES_THREADS == 384 &&
                   GQ_DEV_GROUPED_MM_DECODE_THREADS == 640 &&
                   GQ_DEV_GROUPED_MM_ANY_THREADS == 256 &&
                   GQ_DEV_GROUPED_MM_PREPARE_THREADS == 256 &&
                   GQ_DEV_GROUPED_MM_PREPARE_CTAS == 2,
               "bounds");

/// A kernel whose epilogue is EPILOGUE, a function or 0, from products of FROM;
/// outputs are quantized to OUT, with an outer scale of kind OUTER.
#define MM_KERNEL(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST,       \
                  EPILOGUE, FROM, PAIRS, OUT, RECIPE, OUTER)                   \
  KERNEL NAME(const MmOperands operands) {                                     \
    MmOperands o = operands;                                                   \
    BOUNDS(GQ_DEV_GROUPED_MM_##FAMILY##_THREADS,                               \
           GQ_KERNEL_GROUPED_MM_##FAMILY == GQ_KERNEL_GROUPED_MM_PREPARE ? 2   \
                                                                         : 1)  \
    const int32_t formats[] = {MM_##FORMATS};                                  \
    const int32_t format = formats[0], aType = formats[1];                     \
    const int32_t bFormat = formats[2], bType = formats[3];                    \
    const int32_t bMajor = formats[4];                                         \
    const int32_t biasType = GQ_BF16;                                          \
    const int32_t offsetBits = BITS, outType = GQ_##TYPE, tokens = TOKENS;     \
    const int32_t moreThan = -1, atMost = INT32_MAX;                           \
    gq_epilogue *const epilogue = EPILOGUE;                                    \
    const int32_t valueType = GQ_##FROM, pairs = GQ_PAIRS_##PAIRS;             \
    const int32_t outFormat = GQ_FORMAT_##OUT, outRecipe = GQ_RECIPE_##RECIPE; \
    const int32_t outOuterKind = GQ_OUTER_##OUTER;                             \
    if (outFormat == GQ_FORMAT_NONE)                                           \
      o.outScales = 0;                                                         \
    if (outOuterKind == GQ_OUTER_NONE)                                         \
      o.outOuter = 0;                                                          \
    if (K) {                                                                   \
      o.n = N;                                                                 \
      o.k = K;                                                                 \
      o.aStride = aType == GQ_I8 ? o.k / 2 : o.k;                              \
      o.outStride = o.n / (pairs == GQ_PAIRS_NONE ? 1 : 2) *                   \
                    (outFormat == GQ_FORMAT_NONE                               \
                         ? 8 * gqElementTypeSize(outType)                      \
                         : gqFormatGetTraits(GQ_FORMAT_##OUT).dataBits) /      \
                    8;                                                         \
    }                                                                          \
    if (!(REST))                                                               \
      o.rowScales = 0;                                                         \
    else                                                                       \
      __builtin_assume(o.rowScales);                                           \
    if ((REST) % 3 == 0)                                                       \
      o.columnScales = 0;                                                      \
    else                                                                       \
      __builtin_assume(o.columnScales);                                        \
    if ((REST) != 1)                                                           \
      o.bias = 0;                                                              \
    else                                                                       \
      __builtin_assume(o.bias);                                                \
    CALL(MM_FUNCTION_##FAMILY(FORMATS, TOKENS),                                \
         GQ_GROUPED_MM_##FAMILY##_OPERANDS);                                   \
  }

#define VARIANT(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST)         \
  MM_KERNEL(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST, 0, TYPE,    \
            NONE, NONE, NVFUSER, NONE)
MM_VARIANTS(VARIANT)
MM_PREPARE_VARIANTS(VARIANT)
#undef VARIANT

#define VARIANT(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST, FROM,   \
                PAIRS)                                                         \
  static uint32_t NAME##_epilogue(uint32_t bits, uint32_t second) {            \
    return mmEpilogue(GQ_##FROM, GQ_##TYPE, GQ_PAIRS_##PAIRS, bits, second);   \
  }                                                                            \
  MM_KERNEL(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST,             \
            NAME##_epilogue, FROM, PAIRS, NONE, NVFUSER, NONE)
MM_EPILOGUE_VARIANTS(VARIANT)
#undef VARIANT

#define VARIANT(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST, FROM,   \
                PAIRS, EPILOGUE, OUT, RECIPE, OUTER)                           \
  static uint32_t NAME##_epilogue(uint32_t bits, uint32_t second) {            \
    return mmEpilogue(GQ_##FROM, GQ_##TYPE, GQ_PAIRS_##PAIRS, bits, second);   \
  }                                                                            \
  MM_KERNEL(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST,             \
            (EPILOGUE) ? NAME##_epilogue : 0, FROM, PAIRS, OUT, RECIPE, OUTER)
MM_QUANTIZED_VARIANTS(VARIANT)
#undef VARIANT

DEFINE_POISON_SHARED
