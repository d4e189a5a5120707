//===- UpdateScales.c - the kernel of delayed scales ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Kernels.h"

#include "runtime_kernels/scalers/Given.h"

GQ_DEV_KERNEL void
gq_dev_update_scales(GQ_DEV_PARAMETERS(GQ_UPDATE_SCALES_OPERANDS)) {
  const float down = gq_dev_f32_from_bits((uint32_t)(127 - margin) << 23);
  int64_t threads = (int64_t)gq_dev_num_ctas() * gq_dev_num_threads();
  int64_t first =
      (int64_t)gq_dev_cta() * gq_dev_num_threads() + gq_dev_thread();
  for (int64_t e = first; e < groups; e += threads) {
    float latest = amax[e], largest = 0.0f, moved = latest;
    for (int64_t h = 0; h < steps; ++h) {
      float GQ_GLOBAL *p = history + h * groups + e;
      float here = *p;
      *p = moved;
      largest = gq_dev_max(moved, largest);
      moved = here;
    }
    scale[e] = gq_dev_next_scale(
        format, amaxAlgo == GQ_AMAX_ALGO_MAX ? largest : latest, down,
        scale[e]);
  }
}
