//===- Supply.h - weights of one tile after another --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_SUPPLY_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_SUPPLY_H

#include "runtime_kernels/kernels/grouped_mm/TilesParts.h"
#include "runtime_kernels/kernels/grouped_mm/Weights.h"

enum {
  /// Steps of weights of few tokens that a consumer has registers for: what it
  /// multiplies and what is under way. They take turns; a copy of what is under
  /// way would wait for it. Of many tokens there are two, and one is copied.
  SETS = 3,
  /// Tiles that a consumer's warp knows: that it is at, as many as it can have
  /// weights of under way, and the next.
  TILES = SETS + 1,
};

_Static_assert(CONSUMER_WARPS * TILES * sizeof(Tile) ==
                   GQ_DEV_GROUPED_MM_TILES_FOUND,
               "shared memory");

/// What a consumer multiplies next: the weights of the tile after this one are
/// under way before it is done.
typedef struct Supply {
  const Product *p;
  const Schedule *schedule;
  uint32_t tile, tileStride;
  uint32_t step, steps;
  /// Rows of a tile, and row pairs of the lane's, 64 rows apart: constants.
  uint32_t height, pairs;
  /// Whether a load fetches the step after the next one as well, a constant:
  /// where weights are what is waited for.
  bool lines;
  /// The lane's first row in a tile.
  uint32_t row;
  WeightRows rows;
  /// The warp's last tiles, in shared memory, and which of them is this one.
  Tile GQ_SHARED *tiles;
  uint32_t number;
} Supply;

GQ_DEV void seekSupply(Supply *s) {
  uint32_t e = 0, n = 0; // of no tile anything, which is not used
  if (s->tile < s->schedule->numTiles) {
    Tile t = findTile(s->p, s->schedule, s->tile);
    if (gq_dev_is_first_lane())
      s->tiles[s->number] = t;
    e = t.group;
    n = t.n;
  }
  s->rows = findWeights(s->p, e, n, s->row, s->height, WGMMA_HEIGHT);
}

GQ_DEV void supply(Supply *s, RowPair *out) {
  loadWeights(s->p, &s->rows, s->p->k % STEP == 0, s->lines, s->pairs, out);
  skipStep(s->p, s->step, &s->rows);
  if (++s->step == s->steps) {
    s->step = 0;
    s->tile += s->tileStride;
    s->number = (s->number + 1) % TILES;
    seekSupply(s);
  }
}

/// Which tile the warp's number `number` is, at or behind that of the supply.
GQ_DEV uint32_t tileOfNumber(const Supply *s, uint32_t number) {
  return s->tile - (s->number - number) % TILES * s->tileStride;
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_SUPPLY_H
