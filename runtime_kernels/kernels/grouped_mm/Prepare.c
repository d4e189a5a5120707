//===- Prepare.c - tokens dequantized for tiles of 256 of them ------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes all tokens to the workspace as wgmma wants them in shared memory: for
// each 64 k, in the order of TilesPrepared.h, a row of 128 bytes for each row
// of the matrix. The warps of a CTA share 32 tokens and take steps in turn. A
// row that is in two groups, whose offsets are wrong then, may get what neither
// says.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/TilesPrepared.h"
#include "runtime_kernels/kernels/grouped_mm/Tokens.h"

enum {
  PREPARE_THREADS = GQ_DEV_GROUPED_MM_PREPARE_THREADS,
  PREPARE_WARPS = PREPARE_THREADS / GQ_DEV_WARP,
  /// Bytes of shared memory of a warp: its ring, and a stage of its tokens.
  PREPARE_STAGE = GQ_DEV_WARP * STAGE_ROW,
  PREPARE_WARP_BYTES = RING * RING_BYTES + PREPARE_STAGE,
};

_Static_assert(PREPARE_WARP_BYTES == GQ_DEV_GROUPED_MM_PREPARE_SHARED &&
                   GQ_DEV_WARP == GQ_DEV_GROUPED_MM_PREPARE_TOKENS,
               "shared memory");

/// Stores 64 k of a warp's tokens.
GQ_DEV void storePanel(const Product *p, const Tile *t, uint32_t panel,
                       uint32_t from) {
  uint32_t lane = gq_dev_lane(), row = lane / 8;
  uint8_t GQ_GLOBAL *to = panelAt(p, panel, t->token) + lane * 16;
  UNROLL for (uint32_t i = 0; i < 8; ++i) {
    gq_dev_u32x4 x = gq_dev_load_shared16(from + (i * GQ_DEV_WARP + lane) * 16);
    if (row + 4 * i < t->tokens)
      *(gq_dev_u32x4 GQ_GLOBAL *)(to + i * (GQ_DEV_WARP * 16)) = x;
  }
}

GQ_DEV void prepare(const Product *p, const Schedule *s, uint32_t ring) {
  uint32_t lane = gq_dev_lane(), staging = ring + RING * RING_BYTES;
  Feed f = {.p = p,
            .schedule = s,
            .tile = gq_dev_cta(),
            .tileStride = gq_dev_num_ctas(),
            .step = gq_dev_thread() / GQ_DEV_WARP,
            .steps = numSteps(p, p->aType),
            .stride = PREPARE_WARPS};
  NO_UNROLL while (f.step >= f.steps) {
    f.step -= f.steps;
    f.tile += f.tileStride;
  }
  uint32_t tile = f.tile, step = f.step, ahead = 0;
  seekFeed(&f);
  UNROLL for (int i = 0; i < RING - 1; ++i) feed(&f, ring, &ahead);
  Tile t = {0};
  if (ahead)
    t = findTile(p, s, tile);

  // Each lane has a token.
  uint32_t get = ring + lane * 64 + ((lane / 2 % 4) << 4);
  uint32_t getScales = ring + RING_CODES + lane * 4;
  uint32_t row = staging + lane * STAGE_ROW + ((lane % 8) << 4);
  uint32_t slot = 0, halves = halvesOfStep(p->aType);
  NO_UNROLL for (; ahead > 0; --ahead) {
    GQ_DEV_WAIT_FOR_COPIES(1);
    gq_dev_warp_barrier();
    feed(&f, ring, &ahead); // into the slot read last time
    gq_dev_u32x4 codes[4];
    UNROLL for (uint32_t i = 0; i < 4; ++i) codes[i] =
        gq_dev_load_shared16((get ^ i << 4) + slot);
    uint32_t scales[2];
    loadTokenScales(p, getScales + slot, step, scales);
    if (isWide(p->aType) && isWide(p->bType)) // Two of the four.
      scales[0] >>= step % 2 * 16;
    slot = slot == (RING - 1) * RING_BYTES ? 0 : slot + RING_BYTES;
    UNROLL for (uint32_t half = 0; half < 2; ++half) if (half < halves) {
      uint32_t x[4][4], scale[4];
      UNROLL for (uint32_t q = 0; q < 4; ++q) scale[q] =
          scaleOfTokens(p, scales, half, q);
      gq_dev_warp_barrier(); // What was here before has been read.
      UNROLL for (uint32_t eight = 0; eight < 2; ++eight) {
        UNROLL for (uint32_t q = 0; q < 4; ++q)
            dequantizeTokens(p, codes, half, q, eight, scale[q], x[q]);
        UNROLL for (uint32_t i = 0; i < 4; ++i) gq_dev_store_shared16(
            row ^ (4 * eight + i) << 4,
            (gq_dev_u32x4){x[0][i], x[1][i], x[2][i], x[3][i]});
      }
      gq_dev_warp_barrier();
      storePanel(p, &t, halves * step + half, staging);
    }
    step += PREPARE_WARPS;
    if (step >= f.steps && ahead > 1) {
      NO_UNROLL do {
        step -= f.steps;
        tile += f.tileStride;
      }
      while (step >= f.steps)
        ;
      t = findTile(p, s, tile);
    }
  }
  GQ_DEV_WAIT_FOR_COPIES(0);
}

GQ_DEV_KERNEL void
gq_dev_grouped_mm_prepare(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS)) {
  const Product p = {PRODUCT_INITIALIZERS};
  (void)tokens;
  if (!p.all.hasScaleOffsets || !isAligned(&p))
    return;
  uint32_t shared = gq_dev_dynamic_shared_address();
  // All rows of weights at once: no tile is below another one.
  Schedule s = makeSchedule(
      &p, GQ_DEV_WARP, p.n ? p.n : 1, PREPARE_THREADS,
      gq_dev_shared_pointer(shared + PREPARE_WARPS * PREPARE_WARP_BYTES));
  prepare(&p, &s, shared + gq_dev_thread() / GQ_DEV_WARP * PREPARE_WARP_BYTES);
}
