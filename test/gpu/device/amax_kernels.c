//===- amax_kernels.c - the test kernels of largest magnitudes ------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering generates, by hand.
//
//===----------------------------------------------------------------------===//

#include "AmaxKernels.h"
#include "Call.h"

#ifndef KERNEL // on the GPU
#define KERNEL __attribute__((device_kernel)) void
// For bounds.awk.
#define BOUNDS                                                                 \
  __asm__ volatile("// maxntid 128");                                          \
  __asm__ volatile("// minnctapersm 4");
#else
#define BOUNDS
#endif

_Static_assert(GQ_DEV_GROUPED_AMAX_THREADS == 128 &&
                   GQ_DEV_GROUPED_AMAX_CTAS == 4,
               "bounds");

#define VARIANT(NAME, TYPE, LOAD, PARTS, ROWS, BITS, INDEX_BITS)               \
  KERNEL clear_##NAME(ClearAmaxOperands o) {                                   \
    const int32_t parts = PARTS, offsetBits = BITS;                            \
    const int32_t rowsMode = GQ_ROWS_##ROWS;                                   \
    CALL(clear_amax, GQ_CLEAR_AMAX_OPERANDS);                                  \
  }                                                                            \
  KERNEL amax_##NAME(GroupedAmaxOperands o) {                                  \
    BOUNDS                                                                     \
    gq_load16 *const load = gq_dev_load16_##LOAD;                              \
    const int32_t parts = PARTS, offsetBits = BITS;                            \
    const int32_t rowsMode = GQ_ROWS_##ROWS, rowIndexBits = INDEX_BITS;        \
    const int32_t heldType = GQ_##TYPE;                                        \
    CALL(grouped_amax, GQ_GROUPED_AMAX_OPERANDS);                              \
  }
AMAX_VARIANTS(VARIANT)
