//===- Scan.h - sums over lanes ----------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_SCAN_H
#define GQ_KERNELS_ARCH_SCAN_H

#include "runtime_kernels/arch/Nvptx.h"

/// The sum of a lane's and all lower lanes' values. All lanes take part.
GQ_DEV int64_t gq_dev_scan64(int64_t x) {
  uint32_t lane = gq_dev_lane();
  for (uint32_t distance = 1; distance < GQ_DEV_WARP; distance *= 2) {
    int64_t below = gq_dev_shuffle_up64(x, distance);
    x += lane >= distance ? below : 0;
  }
  return x;
}

/// a + b, at most UINT32_MAX.
GQ_DEV uint32_t gq_dev_add_bounded(uint32_t a, uint32_t b) {
  uint32_t sum = a + b;
  return sum < a ? UINT32_MAX : sum;
}

/// gq_dev_scan64 of sums of 32 bits, at most UINT32_MAX.
GQ_DEV uint32_t gq_dev_scan_bounded(uint32_t x) {
  uint32_t lane = gq_dev_lane();
  for (uint32_t distance = 1; distance < GQ_DEV_WARP; distance *= 2) {
    uint32_t below =
        gq_dev_shuffle(x, lane >= distance ? lane - distance : lane);
    x = gq_dev_add_bounded(x, lane >= distance ? below : 0);
  }
  return x;
}

#endif // GQ_KERNELS_ARCH_SCAN_H
