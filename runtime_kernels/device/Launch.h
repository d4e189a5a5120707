//===- Launch.h - what the host knows about the kernels ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the device functions and by the host, which launches kernels made
// from them: grids, and the bits of the status word.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_DEVICE_LAUNCH_H
#define GQ_KERNELS_DEVICE_LAUNCH_H

#include <stdint.h>

/// Bits of the status word.
enum {
  /// Row starts are negative, decrease, or lie beyond the last row.
  GQ_DEV_STATUS_OFFSETS = 1,
  /// Scale offsets are no multiples of 128, decrease, overlap the padded rows
  /// of the group before, or leave too few rows for the group.
  GQ_DEV_STATUS_SCALE_OFFSETS = 2,
  /// A row index is not the number of a row of the gathered inputs.
  GQ_DEV_STATUS_ROW_INDICES = 4,
};

enum {
  /// Threads of a CTA. Kernels work with any multiple of 32.
  GQ_DEV_CTA = 128,
  /// CTAs that a grid should have for each multiprocessor. Each warp keeps its
  /// loads in flight; more warps only disturb each other in memory.
  GQ_DEV_CTAS_PER_MULTIPROCESSOR = 3,
  /// The same of a kernel with a producer, which loads nothing ahead: as many
  /// as fit, so that warps hide each other's latency.
  GQ_DEV_PRODUCER_CTAS_PER_MULTIPROCESSOR = 7,
};

/// The CTAs of the grid for a kernel that has work for `warps` warps, on a
/// device that `full` CTAs fill.
static inline uint32_t gq_dev_grid(int64_t warps, int64_t full) {
  int64_t ctas = (warps + GQ_DEV_CTA / 32 - 1) / (GQ_DEV_CTA / 32);
  return (uint32_t)(ctas < 1 ? 1 : ctas < full ? ctas : full);
}

/// How many warps block_quantize of [rows, columns] has work for.
static inline int64_t gq_dev_block_quantize_warps(int64_t rows,
                                                  int64_t columns) {
  // 128 rows by 16 blocks are 16 pieces.
  return (rows + 127) / 128 * ((columns + 255) / 256) * 16;
}

/// The same of grouped_block_quantize and, with 16 columns for a scale column,
/// of preprocess_grouped_matmul_sf.
static inline int64_t gq_dev_grouped_warps(int64_t rows, int64_t columns,
                                           int64_t groups) {
  // 16 tiles of a group's padding are a warp's share.
  return gq_dev_block_quantize_warps(rows, columns) +
         groups * ((columns + 1023) / 1024);
}

#endif // GQ_KERNELS_DEVICE_LAUNCH_H
