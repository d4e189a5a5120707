//===- TilesPrepared.h - tiles of tokens that were dequantized ---*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of 128 rows of weights by 256 tokens, which preparers, three warps of
// each CTA, dequantize: a thread of a fourth one has them copied, 64 k of all
// tokens at a time, in one piece. A consumer has 64 rows of weights, which it
// dequantizes in registers while matrix units multiply those before. So half as
// many weights are dequantized for each product as in tiles of 128 tokens, and
// no tokens.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_TILESPREPARED_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_TILESPREPARED_H

#include "runtime_kernels/kernels/grouped_mm/Preparers.h"
#include "runtime_kernels/kernels/grouped_mm/Supply.h"

enum {
  PREPARED_HEIGHT = GQ_DEV_GROUPED_MM_PREPARED_HEIGHT,
  PREPARED_STAGES = GQ_DEV_GROUPED_MM_PREPARED_STAGES,
  PREPARED_STAGE = PREPARED_TOKENS * STAGE_ROW,
  /// Tokens whose outputs are staged at a time.
  PREPARED_PART = PREPARED_TOKENS / 2,
};

_Static_assert(PREPARED_HEIGHT == CONSUMERS * WGMMA_HEIGHT &&
                   GQ_DEV_GROUPED_MM_PREPARERS == PRODUCER_WARPS - 1,
               "roles");

/// Shared memory, as much as gq_dev_grouped_mm_tiles_bounds says.
typedef struct PreparedShared {
  uint32_t stages, staging, rings, full, empty, tiles, table;
} PreparedShared;

GQ_DEV PreparedShared layOutPrepared(void) {
  PreparedShared s = {.stages = gq_dev_dynamic_shared_address()};
  s.staging = s.stages + PREPARED_STAGES * PREPARED_STAGE;
  s.rings = s.staging + PREPARED_HEIGHT * PREPARED_PART * 2;
  s.full = s.rings + GQ_DEV_GROUPED_MM_PREPARERS * PREPARE_BYTES;
  s.empty = s.full + PREPARED_STAGES * 8;
  s.tiles = s.empty + PREPARED_STAGES * 8;
  s.table = s.tiles + CONSUMER_WARPS * TILES * sizeof(Tile);
  return s;
}

/// The number of the tokens of tile number `index`.
GQ_DEV uint32_t tokensOf(const Product *p, const Schedule *s, uint32_t index) {
  uint32_t e, own = index;
  gq_dev_group group = findGroup(p, s, &own, &e);
  return (index - own) / s->tilesDown + own % (uint32_t)tilesAlong(s, group);
}

GQ_DEV void producePrepared(const Product *p, const Schedule *s,
                            PreparedShared shared) {
  const uint32_t partPanels = PIECE_STEPS * 2;
  uint32_t panels = numPanels(p);
  Stage stage = {0, 1};
  NO_UNROLL for (uint32_t tile = gq_dev_cta(); tile < s->numTiles;
                 tile += gq_dev_num_ctas()) {
    uint32_t number = tokensOf(p, s, tile);
    Tile t = findTile(p, s, tile);
    bool counted = isCounted(p, number);
    uint32_t rows =
        (uint32_t)(t.tokens < PREPARED_TOKENS ? t.tokens : PREPARED_TOKENS);
    const uint8_t GQ_GLOBAL *from = panelAt(p, 0, t.token);
    NO_UNROLL for (uint32_t i = 0; i < panels; ++i) {
      if (i % partPanels == 0 && counted) {
        gq_dev_wait_for_word(done(p, number, i / partPanels), PIECES);
        gq_dev_fence_async_global();
      }
      gq_dev_mbarrier_wait(shared.empty + 8 * stage.index, stage.phase);
      if (gq_dev_is_first_lane())
        gq_dev_copy_bulk(shared.stages + stage.index * PREPARED_STAGE, from,
                         rows * STAGE_ROW, shared.full + 8 * stage.index);
      from += panelSize(p);
      advance(&stage, 1, PREPARED_STAGES);
    }
  }
}

/// A consumer's sums of a tile, and the fragments that it adds next.
typedef struct PreparedSums {
  float d[PREPARED_TOKENS / 2];
  uint32_t even[16], odd[16];
  /// The barrier of the stage that was read last, to be told.
  uint32_t last;
} PreparedSums;

/// d += four fragments of 64 rows times a stage; what was begun before is done
/// afterwards, and its stage is free.
GQ_DEV void multiplyPrepared(const Product *p, PreparedSums *sums,
                             const uint32_t a[16], PreparedShared shared,
                             Stage *stage, bool first) {
  uint32_t full = shared.full + 8 * stage->index;
  gq_dev_mbarrier_wait(full, stage->phase);
  uint64_t b = gq_dev_wgmma_b(shared.stages + stage->index * PREPARED_STAGE);
  gq_dev_wgmma_fence();
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    if (isNvfp4(p))
      gq_dev_wgmma_m64n256k16_f16(sums->d, a + 4 * i, b + 2 * i);
    else
      gq_dev_wgmma_m64n256k16_bf16(sums->d, a + 4 * i, b + 2 * i);
  }
  gq_dev_wgmma_commit();
  GQ_DEV_WGMMA_WAIT(1);
  if (!first && gq_dev_is_first_lane())
    gq_dev_mbarrier_arrive(sums->last);
  sums->last = shared.empty + 8 * stage->index;
  advance(stage, 1, PREPARED_STAGES);
}

GQ_DEV void consumePrepared(const Product *p, const Schedule *s,
                            PreparedShared shared) {
  uint32_t thread = gq_dev_thread(), consumer = thread / WARPGROUP;
  uint32_t warp = thread % WARPGROUP / GQ_DEV_WARP;
  bool wide = isWide(p->bType);
  Supply next = {.p = p,
                 .schedule = s,
                 .tile = gq_dev_cta(),
                 .tileStride = gq_dev_num_ctas(),
                 .steps = numSteps(p, p->bType),
                 .height = PREPARED_HEIGHT,
                 .pairs = 1,
                 .row = consumer * WGMMA_HEIGHT + warp * 16 + gq_dev_lane() / 4,
                 .tiles =
                     (Tile GQ_SHARED *)gq_dev_shared_pointer(shared.tiles) +
                     thread / GQ_DEV_WARP * TILES};
  bool staged = !p->columnScales && !p->bias && storesPieces(p);
  seekSupply(&next);
  // Of 128 k: codes of 4 bits of this one and the next, those of 8 bits as two
  // halves.
  RowPair weights[2];
  supply(&next, &weights[0]);
  if (wide)
    supply(&next, &weights[1]);
  PreparedSums sums;
  dequantizeHalf(p, &weights[0], 0, sums.even);
  Stage stage = {0, 0};
  NO_UNROLL for (uint32_t number = 0; tileOfNumber(&next, number) < s->numTiles;
                 number = (number + 1) % TILES) {
    UNROLL for (uint32_t i = 0; i < PREPARED_TOKENS / 2; ++i) sums.d[i] = 0;
    uint32_t left = numPanels(p) / 2;
    bool first = true;
    // At least once: wgmma's sums must not merge with zeros behind the loop.
    do {
      supply(&next, &weights[wide ? 0 : 1]);
      multiplyPrepared(p, &sums, sums.even, shared, &stage, first);
      first = false;
      dequantizeHalf(p, &weights[wide ? 1 : 0], wide ? 0 : 1, sums.odd);
      if (wide)
        supply(&next, &weights[1]);
      multiplyPrepared(p, &sums, sums.odd, shared, &stage, false);
      if (!wide)
        weights[0] = weights[1];
      dequantizeHalf(p, &weights[0], 0, sums.even);
    } while (--left);
    GQ_DEV_WGMMA_WAIT(0);
    if (gq_dev_is_first_lane())
      gq_dev_mbarrier_arrive(sums.last);
    gq_dev_warp_barrier(); // The tile was stored by the first lane.
    Tile t = next.tiles[number];
    TileSums all = {{sums.d}, 1, PREPARED_TOKENS, unitOf(p)};
    uint32_t staging =
        shared.staging + consumer * (WGMMA_HEIGHT * PREPARED_PART * 2);
    if (p->epilogue || staged) {
      const Product rest = takeRowScales(p, &t, &all);
      if (p->epilogue)
        storeWithEpilogue(&rest, t, consumer, staging, &all, PREPARED_PART,
                          PREPARED_PART);
      else
        storeStaged(&rest, &t, consumer, staging, &all, PREPARED_PART, false,
                    0);
    } else {
      // What both ways have in common stays where it is.
      if (p->rowScales)
        t.token = gq_dev_here64(t.token);
      const Product rest = takeRowScales(p, &t, &all);
      storeDirectly(&rest, &t, next.row, &all);
    }
  }
}

GQ_DEV void multiplyTilesPrepared(const Product *p) {
  PreparedShared shared = layOutPrepared();
  initStages(shared.full, shared.empty, PREPARED_STAGES, 1);
  Schedule s = makeSchedule(p, PREPARED_TOKENS, PREPARED_HEIGHT, THREADS,
                            gq_dev_shared_pointer(shared.table));
  if (gq_dev_cta() >= s.numTiles)
    return;
  if (gq_dev_thread() / WARPGROUP == CONSUMERS) {
    GQ_DEV_GIVE_REGISTERS(56);
    uint32_t warp = gq_dev_thread() % WARPGROUP / GQ_DEV_WARP;
    if (warp == 0)
      producePrepared(p, &s, shared);
    else
      prepareTokens(p, &s, shared.rings + (warp - 1) * PREPARE_BYTES);
  } else {
    GQ_DEV_TAKE_REGISTERS(224);
    consumePrepared(p, &s, shared);
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_TILESPREPARED_H
