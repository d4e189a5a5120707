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
  /// CTAs that a multiprocessor holds at once, by their registers.
  GQ_DEV_CTAS_PER_MULTIPROCESSOR = 6,
};

/// The CTAs of the grid for a kernel over [rows, columns] elements in `groups`
/// groups, 0 where it knows no groups, on a device that holds `full` CTAs at
/// once. Where it can hold them all, each warp gets a piece of the matrix,
/// which is the shortest way; else two, which is the least work. A warp does no
/// more than that: one that is done makes room for another, and their loads and
/// stores overlap.
static inline uint32_t gq_dev_grid(int64_t rows, int64_t columns,
                                   int64_t groups, int64_t full) {
  const int64_t warpsPerCta = GQ_DEV_CTA / 32;
  // 128 rows by 16 blocks are 16 pieces; 16 tiles of a group's padding are a
  // warp's share.
  int64_t pieceColumns = (columns + 255) / 256;
  int64_t piecesDown = (rows + 127) / 128 * 16;
  int64_t shares = groups * ((columns + 1023) / 1024);
  int64_t warps = piecesDown * pieceColumns + shares;
  if (warps > full * warpsPerCta)
    warps = piecesDown * ((pieceColumns + 1) / 2) + shares;
  int64_t ctas = (warps + warpsPerCta - 1) / warpsPerCta;
  return (uint32_t)(ctas < 1 ? 1 : ctas < INT32_MAX ? ctas : INT32_MAX);
}

#endif // GQ_KERNELS_DEVICE_LAUNCH_H
