//===- ChooseKernels.h - kernels that an op can be ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_CHOOSEKERNELS_H
#define GQ_LIB_LOWERING_CHOOSEKERNELS_H

#include "gq-c/Dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GQ_MAX_MM_CANDIDATES = 5 };

/// Kernels of sm_90a for a gq.grouped_mm, each for up to so many rows a group.
typedef struct gqMmCandidates {
  int size;
  gqMmKernel kernels[GQ_MAX_MM_CANDIDATES];
  int32_t atMost[GQ_MAX_MM_CANDIDATES];
} gqMmCandidates;

/// Whether an epilogue takes products that were not rounded.
bool gqEpilogueIsOfF32(MlirRegion epilogue);

/// Whether tiles128 and tiles256 have no registers for it: for what an epilogue
/// is of, where that is more than a sum times alpha and row scales, or of 8-bit
/// codes f32.
bool gqMmIsCrowded(MlirOperation op);

/// Fewer where M and G are not static, since then all of them are made.
gqMmCandidates gqMmKernelCandidates(MlirOperation op);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_CHOOSEKERNELS_H
