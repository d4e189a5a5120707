//===- SquareBlocks.h - blocks of a whole job ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a square block both directions have the same elements, which all lanes of
// a CTA share. Blocks are as large as a job; those of 16 by 16, which some of
// the lanes of a warp share, are in Scales.h.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_SQUAREBLOCKS_H
#define GQ_KERNELS_KERNELS_TILES_SQUAREBLOCKS_H

#include "runtime_kernels/kernels/tiles/Scales.h"

#define GQ_SQUARES_ARE_JOBS(VALUE, FORMAT, NAME, CODE, RULE, ROWS, ...)        \
  _Static_assert((ROWS) == 1 || (ROWS) == TILE, "square blocks are jobs");
GQ_FORMATS(GQ_SQUARES_ARE_JOBS)
#undef GQ_SQUARES_ARE_JOBS

/// The largest magnitude of a job, after a barrier.
GQ_DEV float squareAmax(uint32_t parity) {
  return gq_dev_f32_from_bits(jobAmax[parity]);
}

#endif // GQ_KERNELS_KERNELS_TILES_SQUAREBLOCKS_H
