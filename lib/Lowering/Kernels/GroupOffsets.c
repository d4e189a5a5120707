//===- GroupOffsets.c - launches of the kernel of offsets -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

bool gqLaunchGroupOffsets(const gqLauncher *launcher,
                          const gqGroupOffsets *desc, gqGpuAddress statusWord) {
  gqGroupOffsetsOperands operands = {
      .counts = gqBuildAddress(launcher, desc->counts),
      .offsets = gqBuildAddress(launcher, desc->offsets),
      .scaleOffsets = gqBuildAddress(launcher, desc->scaleOffsets),
      .groups = gqBuildExtent(launcher, desc->counts, 0, 1),
      .numOffsets = gqBuildExtent(launcher, desc->offsets, 0, 1),
      .status = statusWord,
      .countBits = gqConstant(gqIntegerBits(desc->counts)),
      .offsetBits = gqConstant(gqIntegerBits(desc->offsets)),
  };
  return gqLaunchKernel(
      launcher, GQ_KERNEL_GROUP_OFFSETS, "group_offsets", &operands,
      (gq_dev_bounds){.threads = GQ_DEV_GROUP_OFFSETS_THREADS});
}
