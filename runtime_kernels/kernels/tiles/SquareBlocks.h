//===- SquareBlocks.h - blocks of a whole job ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a square block both directions have the same elements, which all lanes of
// a CTA share. Blocks are as large as a job; smaller ones would be what some of
// the lanes of a warp share.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_SQUAREBLOCKS_H
#define GQ_KERNELS_KERNELS_TILES_SQUAREBLOCKS_H

#include "runtime_kernels/kernels/tiles/Scales.h"

#define GQ_SQUARES_ARE_JOBS(VALUE, FORMAT, NAME, CODE, RULE, ROWS, ...)        \
  _Static_assert((ROWS) == 1 || (ROWS) == TILE, "square blocks are jobs");
GQ_FORMATS(GQ_SQUARES_ARE_JOBS)
#undef GQ_SQUARES_ARE_JOBS

/// Collects the largest magnitude of a lane's elements. All lanes take part.
GQ_DEV void measureSquare(const Op *o, uint32_t parity, const Held *held) {
  uint32_t max = 0;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o))
      max = gq_dev_max_word(
          o->heldType, max,
          gq_dev_max_words(o->heldType, held->words[r], wordsOfLane(o)));
  float amax[1] = {gq_dev_amax_of_word(o->heldType, max)};
  collectAmax(amax, 1, parity);
}

/// The largest magnitude of a job, after a barrier.
GQ_DEV float squareAmax(uint32_t parity) {
  return gq_dev_f32_from_bits(jobAmax[parity]);
}

#endif // GQ_KERNELS_KERNELS_TILES_SQUAREBLOCKS_H
