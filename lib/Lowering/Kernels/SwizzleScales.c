//===- SwizzleScales.c - launches of scale pre-processing -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

bool gqLaunchSwizzleScales(const gqLauncher *launcher,
                           const gqPreprocessGroupedMatmulSf *desc,
                           gqGpuAddress statusWord) {
  gqSwizzleScalesOperands operands = {
      .linear = gqBuildAddress(launcher, desc->input),
      .linearStride = gqBuildStride(launcher, desc->input),
      .rows = gqBuildExtent(launcher, desc->input, 0, 1),
      .scaleColumns = gqBuildExtent(launcher, desc->input, 1, 1),
      .offsets = gqBuildAddress(launcher, desc->offsets),
      .numOffsets = gqBuildCount(launcher, desc->offsets),
      .scaleOffsets = gqBuildAddress(launcher, desc->scaleOffsets),
      .groups = gqBuildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .scales = gqBuildAddress(launcher, desc->scales),
      .scaleRows = gqBuildExtent(launcher, desc->scales, 0, 1),
      .status = statusWord,
      .format = gqConstant(desc->format),
      .offsetBits = gqConstant(gqIntegerBits(desc->offsets)),
  };
  return gqLaunchKernel(
      launcher, GQ_KERNEL_SWIZZLE_SCALES, "preprocess_grouped_matmul_sf",
      &operands, (gq_dev_bounds){.threads = GQ_DEV_SWIZZLE_SCALES_THREADS});
}
