//===- TilesCodes.c - tiles of codes that are dequantized ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is 256 rows of weights by 32, 64 or 128 tokens. Two warpgroups, the
// consumers, have 128 rows of weights each: they load codes and scales from
// global memory into registers, dequantize them there, and multiply, weights
// being the A of wgmma and tokens its n, so that a group's last tokens cost
// nothing but stores that are left out. A third warpgroup, the producer, copies
// codes of tokens to shared memory, dequantizes them and stores them as the B
// of wgmma, in a ring of stages of 64 k. Each stage has two barriers: it is
// full when the producer's warps arrived, empty when the consumers' did.
//
// Why so: what the tensor cores wait for is arithmetic. Weights in registers
// are dequantized once by those who multiply them, tokens once for 256 rows,
// and a tile of 128 tokens halves the stores to shared memory of one of 256.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/Supply.h"
#include "runtime_kernels/kernels/grouped_mm/TilesPrepared.h"
#include "runtime_kernels/kernels/grouped_mm/Tokens.h"

_Static_assert(PRODUCER_WARPS * RING * RING_BYTES ==
                   GQ_DEV_GROUPED_MM_TILES_RINGS,
               "shared memory");

/// Stages of the ring of tokens.
GQ_DEV uint32_t numStages(const Product *p, uint32_t tokens) {
  return gq_dev_grouped_mm_stages(tokens, productSize(p));
}

/// Warps that fill a stage together, 32 tokens each. Where one or two are
/// enough, the others are at other steps.
GQ_DEV uint32_t warpsOfStage(uint32_t tokens) { return tokens / GQ_DEV_WARP; }

/// Shared memory, as much as gq_dev_grouped_mm_tiles_bounds says.
typedef struct Shared {
  uint32_t stages, staging, rings, full, empty, tiles, table;
} Shared;

GQ_DEV Shared layOut(const Product *p, uint32_t tokens) {
  Shared s = {.stages = gq_dev_dynamic_shared_address()};
  uint32_t stages = numStages(p, tokens);
  s.staging = s.stages + stages * tokens * STAGE_ROW;
  s.rings = s.staging + HEIGHT * tokens * productSize(p);
  s.full = s.rings + PRODUCER_WARPS * RING * RING_BYTES;
  s.empty = s.full + stages * 8;
  s.tiles = s.empty + stages * 8;
  s.table = s.tiles + CONSUMER_WARPS * TILES * sizeof(Tile);
  return s;
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Hands a stage to the consumers, if there is one.
GQ_DEV void handOver(uint32_t barrier) {
  if (barrier) {
    gq_dev_fence_async();
    gq_dev_warp_barrier();
    if (gq_dev_is_first_lane())
      gq_dev_mbarrier_arrive(barrier);
  }
}

GQ_DEV void produce(const Product *p, const Schedule *s, Shared shared,
                    uint32_t tokens) {
  uint32_t lane = gq_dev_lane();
  uint32_t warp = gq_dev_thread() / GQ_DEV_WARP - CONSUMER_WARPS;
  uint32_t stages = numStages(p, tokens), warps = warpsOfStage(tokens);
  uint32_t units = PRODUCER_WARPS / warps, unit = warp / warps;
  uint32_t ring = shared.rings + warp * (RING * RING_BYTES);
  Feed f = {.p = p,
            .schedule = s,
            .tile = gq_dev_cta(),
            .tileStride = gq_dev_num_ctas(),
            .step = unit,
            .steps = numSteps(p, p->aType),
            .stride = units,
            .warpToken = warp % warps * GQ_DEV_WARP,
            .lane = lane};
  NO_UNROLL while (f.step >= f.steps) {
    f.step -= f.steps;
    f.tile += f.tileStride;
  }
  seekFeed(&f);
  uint32_t ahead = 0;
  UNROLL for (int i = 0; i < RING - 1; ++i) feed(&f, ring, &ahead);

  // The consumer of this ring: each lane has a token.
  uint32_t get = ring + lane * 64 + ((lane / 2 % 4) << 4);
  uint32_t getScales = ring + RING_CODES + lane * 4;
  uint32_t row =
      shared.stages + (f.warpToken + lane) * STAGE_ROW + ((lane % 8) << 4);
  uint32_t slot = 0, step = unit % f.steps;
  uint32_t halves = halvesOfStep(p->aType);
  Stage stage = {halves * unit, 1};
  // A stage is handed over when the first words of the next one are made: by
  // then its stores are done, and the fence need not wait for them.
  uint32_t stored = 0;
  NO_UNROLL for (; ahead > 0; --ahead) {
    GQ_DEV_WAIT_FOR_COPIES(1);
    gq_dev_warp_barrier();
    feed(&f, ring, &ahead); // into the slot read last time
    gq_dev_u32x4 codes[4];
    uint32_t from = gq_dev_here(get);
    UNROLL for (uint32_t i = 0; i < 4; ++i) codes[i] =
        gq_dev_load_shared16((from ^ i << 4) + slot);
    uint32_t scales[2];
    loadTokenScales(p, getScales + slot, step, scales);
    if (isWide(p->aType) && isWide(p->bType)) // Two of the four.
      scales[0] >>= step % 2 * 16;
    slot = slot == (RING - 1) * RING_BYTES ? 0 : slot + RING_BYTES;
    if (halves == 1 || p->k % (4 * blockOf(p)) != 0) {
      step += units;
      NO_UNROLL while (step >= f.steps) step -= f.steps;
    }
    UNROLL for (uint32_t half = 0; half < 2; ++half) if (half < halves) {
      uint32_t at = stage.index + half;
      uint32_t to = row + at * (tokens * STAGE_ROW), x[4][4], scale[4];
      UNROLL for (uint32_t q = 0; q < 4; ++q) scale[q] =
          scaleOfTokens(p, scales, half, q);
      UNROLL for (uint32_t eight = 0; eight < 2; ++eight) {
        UNROLL for (uint32_t q = 0; q < 4; ++q)
            dequantizeTokens(p, codes, half, q, eight, scale[q], x[q]);
        if (eight == 0) {
          handOver(stored);
          gq_dev_mbarrier_wait(shared.empty + 8 * at, stage.phase);
        }
        UNROLL for (uint32_t i = 0; i < 4; ++i) gq_dev_store_shared16(
            to ^ (4 * eight + i) << 4,
            (gq_dev_u32x4){x[0][i], x[1][i], x[2][i], x[3][i]});
      }
      stored = shared.full + 8 * at;
    }
    advance(&stage, halves * units, stages);
  }
  GQ_DEV_WAIT_FOR_COPIES(0);
  handOver(stored);
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// d += four fragments of 64 rows times a stage.
GQ_DEV void multiply(const Product *p, float *d, const uint32_t a[16],
                     uint32_t stage, uint32_t tokens) {
  uint64_t b = gq_dev_wgmma_b(stage);
  gq_dev_wgmma_fence();
#define MULTIPLY(N)                                                            \
  UNROLL for (uint32_t i = 0; i < 4; ++i) {                                    \
    if (isNvfp4(p))                                                            \
      gq_dev_wgmma_m64n##N##k16_f16(d, a + 4 * i, b + 2 * i);                  \
    else                                                                       \
      gq_dev_wgmma_m64n##N##k16_bf16(d, a + 4 * i, b + 2 * i);                 \
  }
  if (tokens == 128)
    MULTIPLY(128)
  else if (tokens == 64)
    MULTIPLY(64)
  else
    MULTIPLY(32)
#undef MULTIPLY
  gq_dev_wgmma_commit();
}

/// A consumer's sums of a tile, and the fragments that it adds next.
typedef struct Sums {
  float d[2][64];
  uint32_t even[16], odd[16];
  /// The barrier of the stage that was read last, to be told.
  uint32_t last;
} Sums;

/// Multiplies a step: the weights in `now`, whose first fragments are made, and
/// makes the first ones of `following`.
GQ_DEV void multiplyStep(const Product *p, Sums *sums, Shared shared,
                         Stage *stage, bool first, RowPair now[2],
                         const RowPair following[2], uint32_t tokens) {
  uint32_t halves = halvesOfStep(p->bType);
  UNROLL for (uint32_t half = 0; half < 2; ++half) if (half < halves) {
    bool last = half == halves - 1;
    uint32_t at = shared.stages + stage->index * (tokens * STAGE_ROW);
    gq_dev_mbarrier_wait(shared.full + 8 * stage->index, stage->phase);
    multiply(p, sums->d[0], sums->even, at, tokens);
    GQ_DEV_WGMMA_WAIT(1);
    if ((half || !first) && gq_dev_is_first_lane())
      gq_dev_mbarrier_arrive(sums->last);
    sums->last = shared.empty + 8 * stage->index;
    dequantizeHalf(p, &now[1], half, sums->odd);
    multiply(p, sums->d[1], sums->odd, at, tokens);
    GQ_DEV_WGMMA_WAIT(1);
    advance(stage, 1, numStages(p, tokens));
    if (last && tokens == 128)
      UNROLL for (int i = 0; i < 2; ++i) now[i] = following[i];
    dequantizeHalf(p, last && tokens < 128 ? &following[0] : &now[0],
                   last ? 0 : half + 1, sums->even);
  }
}

/// Multiplies a step whose weights are in set number `turn`, a constant, and
/// has the set before it filled. After the tile's last step the one after it is
/// the first set.
GQ_DEV bool takeTurn(uint32_t turn, Sums *sums, Shared shared, Stage *stage,
                     Supply *next, uint32_t *left, RowPair weights[SETS][2],
                     uint32_t tokens) {
  supply(next, weights[(turn + SETS - 1) % SETS]);
  multiplyStep(next->p, sums, shared, stage, *left == next->steps,
               weights[turn], weights[(turn + 1) % SETS], tokens);
  if (--*left)
    return false;
  RowPair moved[SETS][2];
  UNROLL for (uint32_t i = 0; i < 2 * SETS; ++i) moved[i / 2][i % 2] =
      weights[(i / 2 + turn + 1) % SETS][i % 2];
  UNROLL for (uint32_t i = 0; i < 2 * SETS; ++i) weights[i / 2][i % 2] =
      moved[i / 2][i % 2];
  return true;
}

GQ_DEV void consume(const Product *p, const Schedule *s, Shared shared,
                    uint32_t tokens) {
  uint32_t thread = gq_dev_thread(), consumer = thread / WARPGROUP;
  uint32_t warp = thread % WARPGROUP / GQ_DEV_WARP;
  Supply next = {
      .p = p,
      .schedule = s,
      .tile = gq_dev_cta(),
      .tileStride = gq_dev_num_ctas(),
      .steps = numSteps(p, p->bType),
      .height = HEIGHT,
      .pairs = 2,
      .lines = tokens < 128,
      .row = consumer * CONSUMER_HEIGHT + warp * 16 + gq_dev_lane() / 4,
      .tiles = (Tile GQ_SHARED *)gq_dev_shared_pointer(shared.tiles) +
               thread / GQ_DEV_WARP * TILES};
  // What is read for each output does not fit into registers beside all sums.
  bool staged = !p->columnScales && !p->bias && storesPieces(p);
  seekSupply(&next);
  RowPair weights[SETS][2];
  UNROLL for (uint32_t i = 0; i < (tokens == 128 ? 1 : SETS - 1); ++i)
      supply(&next, weights[i]);
  Sums sums;
  dequantizeHalf(p, &weights[0][0], 0, sums.even);
  Stage stage = {0, 0};
  NO_UNROLL for (uint32_t number = 0; tileOfNumber(&next, number) < s->numTiles;
                 number = (number + 1) % TILES) {
    UNROLL for (uint32_t i = 0; i < tokens / 2; ++i) sums.d[0][i] =
        sums.d[1][i] = 0;
    uint32_t left = next.steps;
    // At least once: wgmma's sums must not merge with zeros behind the loop.
    if (tokens == 128)
      do {
        supply(&next, weights[1]);
        multiplyStep(p, &sums, shared, &stage, left == next.steps, weights[0],
                     weights[1], tokens);
      } while (--left);
    else
      while (
          !takeTurn(0, &sums, shared, &stage, &next, &left, weights, tokens) &&
          !takeTurn(1, &sums, shared, &stage, &next, &left, weights, tokens) &&
          !takeTurn(2, &sums, shared, &stage, &next, &left, weights, tokens))
        ;
    GQ_DEV_WGMMA_WAIT(0);
    if (gq_dev_is_first_lane())
      gq_dev_mbarrier_arrive(sums.last);
    gq_dev_warp_barrier(); // The tile was stored by the first lane.
    Tile t = next.tiles[number];
    TileSums all = {{sums.d[0], sums.d[1]}, 2, tokens, unitOf(p)};
    uint32_t staging =
        shared.staging + consumer * (CONSUMER_HEIGHT * tokens * productSize(p));
    if (quantizes(p) || p->epilogue || staged) {
      const Product rest = takeRowScales(p, &t, &all);
      if (quantizes(p))
        storeQuantized(&rest, t, consumer, staging, &all);
      else if (p->epilogue)
        storeWithEpilogue(&rest, t, consumer, staging, &all, tokens, tokens);
      else
        storeStaged(&rest, &t, consumer, staging, &all, tokens, false, 0);
    } else {
      // What both ways have in common stays where it is.
      if (p->rowScales)
        t.token = gq_dev_here64(t.token);
      const Product rest = takeRowScales(p, &t, &all);
      storeDirectly(&rest, &t, next.row, &all);
    }
  }
}

/// Whether consumers of 128 tokens have fewer registers, and the producer more:
/// codes of 4 bits take more to become bf16.
GQ_DEV bool hasFewer(const Product *p) {
  return !isNvfp4(p) && !isWide(p->aType);
}

GQ_DEV void multiplyTiles(const Product *p, uint32_t tokens) {
  Shared shared = layOut(p, tokens);
  uint32_t stages = numStages(p, tokens);
  initStages(shared.full, shared.empty, stages, warpsOfStage(tokens));
  Schedule s = makeSchedule(p, tokens, HEIGHT, THREADS,
                            gq_dev_shared_pointer(shared.table));
  if (gq_dev_cta() >= s.numTiles)
    return;
  if (gq_dev_thread() / WARPGROUP == CONSUMERS) {
    if (tokens == 128 && hasFewer(p))
      GQ_DEV_GIVE_REGISTERS(72);
    else if (tokens == 128)
      GQ_DEV_GIVE_REGISTERS(56);
    else
      GQ_DEV_GIVE_REGISTERS(88);
    produce(p, &s, shared, tokens);
  } else {
    if (tokens == 128 && hasFewer(p))
      GQ_DEV_TAKE_REGISTERS(216);
    else if (tokens == 128)
      GQ_DEV_TAKE_REGISTERS(224);
    else
      GQ_DEV_TAKE_REGISTERS(208);
    consume(p, &s, shared, tokens);
  }
}

TILES_BY(32, multiplyTiles(&p, 32))
TILES_BY(64, multiplyTiles(&p, 64))
TILES_BY(128, multiplyTiles(&p, 128))
TILES_BY(256, multiplyTilesPrepared(&p))
