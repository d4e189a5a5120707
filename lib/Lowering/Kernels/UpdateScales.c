//===- UpdateScales.c - launches of the update of scales ------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

bool gqLaunchUpdateScales(const gqLauncher *launcher,
                          const gqUpdateScales *desc) {
  gqUpdateScalesOperands operands = {
      .amax = gqBuildAddress(launcher, desc->amax),
      .history = gqBuildAddress(launcher, desc->history),
      .scale = gqBuildAddress(launcher, desc->scale),
      .groups = gqBuildExtent(launcher, desc->amax, 0, 1),
      .steps = gqBuildExtent(launcher, desc->history, 0, 1),
      .format = gqConstant(desc->format),
      .amaxAlgo = gqConstant(desc->amaxAlgo),
      .margin = gqConstant(desc->margin),
  };
  return gqLaunchKernel(
      launcher, GQ_KERNEL_UPDATE_SCALES, "update_scales", &operands,
      (gq_dev_bounds){.threads = GQ_DEV_UPDATE_SCALES_THREADS});
}
