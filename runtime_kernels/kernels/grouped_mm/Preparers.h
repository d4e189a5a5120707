//===- Preparers.h - tokens dequantized while others multiply ----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of 256 tokens are of tokens that some warps of all CTAs, the preparers,
// write to the workspace as wgmma wants them in shared memory: for each 64 k, a
// panel, a row of 128 bytes for each row of the matrix. A piece of this work is
// 32 tokens by PREPARE_K; preparers take one after another from a counter, in
// the order in which CTAs need them, and wait for nobody: so those who wait for
// a piece wait for a warp that runs. Who does which piece differs from run to
// run, what is written does not. A row that is in two groups, whose offsets are
// wrong then, may get what neither says.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_PREPARERS_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_PREPARERS_H

#include "runtime_kernels/kernels/grouped_mm/TilesParts.h"
#include "runtime_kernels/kernels/grouped_mm/Tokens.h"

enum {
  PREPARED_TOKENS = GQ_DEV_GROUPED_MM_PREPARED_TOKENS,
  /// Pieces of 32 tokens of a tile, and steps of 128 k of a piece.
  PIECES = PREPARED_TOKENS / GQ_DEV_WARP,
  PIECE_STEPS = GQ_DEV_GROUPED_MM_PREPARE_K / STEP,
  /// Bytes of shared memory of a preparer: its ring, and a panel of its tokens.
  PREPARE_PANEL = GQ_DEV_WARP * STAGE_ROW,
  PREPARE_BYTES = RING * RING_BYTES + PREPARE_PANEL,
};

_Static_assert(PREPARE_BYTES == GQ_DEV_GROUPED_MM_PREPARE_SHARED &&
                   GQ_DEV_WARP == GQ_DEV_GROUPED_MM_PREPARE_TOKENS,
               "shared memory");

//===----------------------------------------------------------------------===//
// The workspace
//===----------------------------------------------------------------------===//

/// Panels of all k.
GQ_DEV uint32_t numPanels(const Product *p) {
  return numSteps(p, p->aType) * halvesOfStep(p->aType);
}

/// Where 64 k of tokens from `row` of the matrix on are. The next 64 k follow
/// `panelSize` bytes later. The last rows are never written, but may be copied.
GQ_DEV int64_t panelSize(const Product *p) {
  return (p->rows + PREPARED_TOKENS) * STAGE_ROW;
}
GQ_DEV uint8_t GQ_GLOBAL *panelAt(const Product *p, uint32_t panel,
                                  int64_t row) {
  return p->workspace + panel * panelSize(p) + row * STAGE_ROW;
}

/// Parts of k that are told of one by one.
GQ_DEV uint32_t numParts(const Product *p) {
  return (p->k + GQ_DEV_GROUPED_MM_PREPARE_K - 1) / GQ_DEV_GROUPED_MM_PREPARE_K;
}

/// How many pieces were taken; and, behind it, how many are done of each part
/// of the tokens of each tile.
GQ_DEV uint32_t GQ_GLOBAL *taken(const Product *p) {
  return (uint32_t GQ_GLOBAL *)(p->workspace +
                                gq_dev_grouped_mm_panels_size(p->rows, p->k));
}
GQ_DEV uint32_t GQ_GLOBAL *done(const Product *p, uint32_t number,
                                uint32_t part) {
  return taken(p) + 1 + (int64_t)number * numParts(p) + part;
}

/// Whether there is room for what is done of the tokens of tile `number`. If
/// not, groups overlap, and nobody prepares them or waits for them.
GQ_DEV bool isCounted(const Product *p, uint32_t number) {
  return number < p->rows / PREPARED_TOKENS + p->groups;
}

//===----------------------------------------------------------------------===//
// Preparers
//===----------------------------------------------------------------------===//

/// Stores 64 k of a warp's tokens.
GQ_DEV void storePanel(uint8_t GQ_GLOBAL *to, uint32_t tokens, uint32_t lane,
                       uint32_t from) {
  uint32_t row = lane / 8;
  from += lane * 16;
  to += lane * 16;
  NO_UNROLL for (uint32_t i = 0; i < 8; i += 4) {
    UNROLL for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t piece = j * GQ_DEV_WARP * 16;
      gq_dev_u32x4 x = gq_dev_load_shared16(from + piece);
      if (row + 4 * (i + j) < tokens)
        *(gq_dev_u32x4 GQ_GLOBAL *)(to + piece) = x;
    }
    from += GQ_DEV_WARP * 64;
    to += GQ_DEV_WARP * 64;
  }
}

/// Whether piece i, 16 bytes, has codes that lanes q and q + 1 of weights
/// multiply in stage `half` of a step.
GQ_DEV bool hasCodesOf(const Product *p, uint32_t i, uint32_t half,
                       uint32_t q) {
  return !isWide(p->aType) && isWide(p->bType) ? i == 2 * half + q / 2
                                               : i / 2 == q / 2;
}

/// Dequantizes a part of k of the first 32 tokens of t.
GQ_DEV void preparePiece(const Product *p, Tile t, uint32_t part,
                         uint32_t ring) {
  uint32_t tokens = (uint32_t)(t.tokens < GQ_DEV_WARP ? t.tokens : GQ_DEV_WARP);
  // There are not enough registers for what could be computed ahead.
  uint32_t lane = gq_dev_here(gq_dev_lane());
  ring = gq_dev_here(ring);
  uint32_t staging = ring + RING * RING_BYTES;
  const uint32_t steps = PIECE_STEPS * stepsOf128(p->aType);
  uint32_t step = part * steps, end = numSteps(p, p->aType);
  end = end < step + steps ? end : step + steps;
  uint8_t GQ_GLOBAL *to = panelAt(p, halvesOfStep(p->aType) * step, t.token);
  Feed f = {.p = p, .step = step, .stride = 1, .lane = lane};
  aimFeed(&f, t);
  UNROLL for (int i = 0; i < RING - 1; ++i) {
    if (f.step < end)
      copyStep(&f, ring);
    nextSlot(&f);
  }

  uint32_t halves = halvesOfStep(p->aType);
  NO_UNROLL for (; step < end; ++step) {
    GQ_DEV_WAIT_FOR_COPIES(1);
    gq_dev_warp_barrier();
    // Each lane has a token.
    lane = f.lane = gq_dev_here(lane);
    f.lastToken = gq_dev_here(f.lastToken);
    uint32_t get = ring + lane * 64 + ((lane / 2 % 4) << 4);
    uint32_t getScales = ring + RING_CODES + lane * 4;
    uint32_t row = staging + lane * STAGE_ROW + ((lane % 8) << 4);
    f.step = step + RING - 1;
    if (f.step < end)
      copyStep(&f, ring); // into the slot read last time
    nextSlot(&f);
    uint32_t slot = f.slot; // the first one that was filled
    uint32_t scales[2];
    loadTokenScales(p, getScales + slot, step, scales);
    if (isWide(p->aType) && isWide(p->bType)) // Two of the four.
      scales[0] >>= step % 2 * 16;
    UNROLL for (uint32_t half = 0; half < 2; ++half) if (half < halves) {
      gq_dev_warp_barrier(); // What was here before has been read.
      // The codes of two lanes of weights at a time.
      UNROLL for (uint32_t q = 0; q < 4; q += 2) {
        gq_dev_u32x4 codes[4];
        UNROLL for (uint32_t i = 0; i < 4; ++i) if (hasCodesOf(p, i, half, q))
            codes[i] = gq_dev_load_shared16((get ^ i << 4) + slot);
        UNROLL for (uint32_t eight = 0; eight < 2; ++eight) {
          uint32_t x[2][4];
          UNROLL for (uint32_t i = 0; i < 2; ++i)
              dequantizeTokens(p, codes, half, q + i, eight,
                               scaleOfTokens(p, scales, half, q + i), x[i]);
          UNROLL for (uint32_t i = 0; i < 4; ++i) gq_dev_store_shared8(
              (row ^ (4 * eight + i) << 4) + 4 * q, x[0][i], x[1][i]);
        }
      }
      gq_dev_warp_barrier();
      storePanel(to, tokens, lane, staging);
      to += panelSize(p);
    }
  }
  GQ_DEV_WAIT_FOR_COPIES(0);
  gq_dev_warp_barrier(); // The next piece begins with the first slot.
}

/// The tokens number `number` of those that tiles are of.
GQ_DEV Tile findTokens(const Product *p, const Schedule *s, uint32_t number) {
  uint32_t e, index = number * s->tilesDown;
  gq_dev_group group = findGroup(p, s, &index, &e);
  int64_t first = (int64_t)(index / s->tilesDown) * PREPARED_TOKENS;
  return (Tile){
      .group = e,
      .token = group.begin + first,
      .scaleRow = gq_dev_group_scale_begin(p->all, e) + first,
      .tokens = group.rows - first,
  };
}

/// p, what depends on whose extents is computed where it is needed.
GQ_DEV Product here(const Product *p) {
  Product own = *p;
  own.rows = gq_dev_here64(p->rows);
  own.groups = gq_dev_here(p->groups);
  return own;
}

/// What a preparer does. It has few registers.
GQ_DEV void prepareTokens(const Product *p, const Schedule *s, uint32_t ring) {
  for (;;) {
    const Product own = here(p);
    Schedule mine = *s;
    mine.share = shareOf(&own, s->numThreads);
    uint32_t piece = 0;
    if (gq_dev_is_first_lane())
      piece = gq_dev_atomic_add(taken(&own), 1);
    piece = gq_dev_shuffle(piece, 0);
    // Tokens that CTAs begin with are prepared part by part, then the next.
    uint32_t atOnce = gq_dev_here(gq_dev_num_ctas()) / s->tilesDown + 1;
    uint32_t perPart = atOnce * PIECES, parts = numParts(&own);
    uint32_t numTokens = gq_dev_here(s->numTiles) / s->tilesDown;
    uint32_t row = piece / perPart, part = row % parts;
    uint32_t first = row / parts * atOnce;
    uint32_t number = first + piece % perPart / PIECES;
    if (first >= numTokens || !isCounted(&own, first))
      break;
    if (number >= numTokens || !isCounted(&own, number))
      continue;
    Tile t = findTokens(&own, &mine, number);
    uint32_t down = piece % PIECES * GQ_DEV_WARP;
    t.token += down;
    t.scaleRow += down;
    t.tokens -= down;
    if (t.tokens > 0)
      preparePiece(&own, t, part, ring);
    gq_dev_fence_async_global();
    gq_dev_warp_barrier();
    const Product again = here(p);
    if (gq_dev_is_first_lane())
      gq_dev_tell(done(&again, number, part), 1);
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_PREPARERS_H
