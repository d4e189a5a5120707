//===- TilesFp8.h - tiles of 8-bit codes, by wgmma of them -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For codes whose scales are float32, of blocks of 128 k or of rows and columns
// as a whole. Nothing is dequantized: the producer has codes of weights and of
// tokens copied to shared memory as they are, with the scales of their blocks,
// 128 k a stage; consumers multiply them from there. Matrix units keep few bits
// of a sum of 8-bit products; so after each stage it is multiplied by its two
// scales and added, in float32, to what came before. The tensor cores have the
// other consumer's work meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_TILESFP8_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_TILESFP8_H

#include "runtime_kernels/kernels/grouped_mm/TilesParts.h"

enum {
  /// k of a stage, and bytes of the weights in it.
  FP8_STAGE = 128,
  FP8_WEIGHTS = HEIGHT * STAGE_ROW,
  /// Rows that the producer copies a piece of 128 bytes of at a time.
  FP8_ROWS = WARPGROUP / 8,
  /// Tokens whose outputs of 16 bits are staged at a time.
  FP8_PART = GQ_DEV_GROUPED_MM_FP8_PART,
};

/// Shared memory, as much as gq_dev_grouped_mm_tiles_bounds says. Of a stage:
/// rows of weights, rows of tokens; their scales, of tokens first; its tile.
typedef struct Fp8Shared {
  uint32_t stages, staging, scales, full, empty, tiles, table;
  uint32_t numStages, stageSize, scalesSize;
} Fp8Shared;

GQ_DEV Fp8Shared layOutFp8(uint32_t tokens) {
  Fp8Shared s = {.stages = gq_dev_dynamic_shared_address(),
                 .numStages = gq_dev_grouped_mm_fp8_stages(tokens),
                 .stageSize = FP8_WEIGHTS + tokens * STAGE_ROW,
                 .scalesSize = (tokens + HEIGHT) * 4};
  s.staging = s.stages + s.numStages * s.stageSize;
  s.tiles = s.staging + HEIGHT * FP8_PART * 2;
  s.full = s.tiles + s.numStages * sizeof(Tile);
  s.empty = s.full + s.numStages * 8;
  s.scales = s.empty + s.numStages * 8;
  s.table = s.scales + s.numStages * s.scalesSize;
  return s;
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// What a thread of the producer copies next: of rows `row` of the tile, and of
/// each FP8_ROWS rows below, 16 bytes of 128; and scales.
typedef struct Fp8Feed {
  const Product *p;
  const Schedule *schedule;
  uint32_t tile, step, steps;
  Tile found;
  /// There is a tile.
  bool more;
  uint32_t thread, row, across;
  const uint8_t GQ_GLOBAL *weights, *tokens;
  const uint8_t GQ_GLOBAL *weightScales[2], *tokenScale;
} Fp8Feed;

GQ_DEV void seekFp8(Fp8Feed *f) {
  const Product *p = f->p;
  f->more = f->tile < f->schedule->numTiles;
  if (!f->more)
    return;
  Tile t = f->found = findTile(p, f->schedule, f->tile);
  f->weights = weightsOf(p, t.group) +
               (int64_t)weightRow(p, t.n + f->row) * p->k + f->across;
  f->tokens = p->a + (t.token + f->row) * p->aStride + f->across;
  bool scaled = p->format != GQ_FORMAT_NONE;
  f->tokenScale = scaled ? tokenScales(p, &t, f->thread) : 0;
  UNROLL for (uint32_t i = 0; i < 2; ++i) f->weightScales[i] =
      scaled ? weightScales(p, t.group,
                            weightRow(p, t.n + f->thread + i * WARPGROUP))
             : 0;
}

/// Where the scale of a token of a tile is: of 16 tokens, a lane's four
/// columns of two products beside each other, are together.
GQ_DEV uint32_t placeOfScale(uint32_t token) {
  return token / 16 * 16 + token % 8 / 2 * 4 + token / 8 % 2 * 2 + token % 2;
}

/// Begins to copy a stage. Of a row, piece c is at c ^ row % 8, as wgmma wants
/// it; rows and k beyond the last are zeros.
GQ_DEV void feedFp8(Fp8Feed *f, const Fp8Shared *shared, uint32_t stage,
                    uint32_t tokens) {
  const Product *p = f->p;
  const Tile *t = &f->found;
  bool has = p->k % FP8_STAGE == 0 || f->step * FP8_STAGE + f->across < p->k;
  uint32_t to = shared->stages + stage * shared->stageSize +
                f->row * STAGE_ROW + (f->across ^ f->row % 8 << 4);
  UNROLL for (uint32_t i = 0; i < HEIGHT; i += FP8_ROWS) gq_dev_begin_copy16_l2(
      has && (p->n % HEIGHT == 0 || t->n + f->row + i < p->n),
      to + i * STAGE_ROW, f->weights + (int64_t)weightRowsBelow(p, i) * p->k);
  UNROLL for (uint32_t i = 0; i < tokens; i += FP8_ROWS) gq_dev_begin_copy16_l2(
      has && f->row + i < t->tokens, to + FP8_WEIGHTS + i * STAGE_ROW,
      f->tokens + i * p->aStride);
  f->weights += FP8_STAGE;
  f->tokens += FP8_STAGE;
  if (p->format != GQ_FORMAT_NONE) {
    uint32_t scales = shared->scales + stage * shared->scalesSize;
    if (f->thread < tokens)
      gq_dev_begin_copy4(f->thread < t->tokens,
                         scales + placeOfScale(f->thread) * 4, f->tokenScale);
    f->tokenScale += sizeof(float);
    UNROLL for (uint32_t i = 0; i < 2; ++i) {
      uint32_t row = f->thread + i * WARPGROUP;
      gq_dev_begin_copy4(p->n % HEIGHT == 0 || t->n + row < p->n,
                         scales + (tokens + row) * 4, f->weightScales[i]);
      f->weightScales[i] += sizeof(float);
    }
  }
  gq_dev_commit_copies();
  if (f->thread == 0)
    ((Tile GQ_SHARED *)gq_dev_shared_pointer(shared->tiles))[stage] = *t;
}

GQ_DEV void handOverFp8(const Fp8Shared *shared, Stage *stage) {
  gq_dev_fence_async();
  gq_dev_warp_barrier();
  if (gq_dev_is_first_lane())
    gq_dev_mbarrier_arrive(shared->full + 8 * stage->index);
  advance(stage, 1, shared->numStages);
}

GQ_DEV void produceFp8(const Product *p, const Schedule *s,
                       const Fp8Shared *shared, uint32_t tokens) {
  uint32_t thread = gq_dev_thread() % WARPGROUP;
  Fp8Feed f = {.p = p,
               .schedule = s,
               .tile = gq_dev_cta(),
               .steps = (p->k + FP8_STAGE - 1) / FP8_STAGE,
               .thread = thread,
               .row = thread / 8,
               .across = thread % 8 * 16};
  seekFp8(&f);
  // A stage is handed over when those of two or three more are under way.
  Stage stage = {0, 1}, handed = {0, 0};
  uint32_t waiting = 0;
  NO_UNROLL while (f.more) {
    gq_dev_mbarrier_wait(shared->empty + 8 * stage.index, stage.phase);
    feedFp8(&f, shared, stage.index, tokens);
    advance(&stage, 1, shared->numStages);
    if (++waiting == shared->numStages - 1) {
      if (tokens == 128)
        GQ_DEV_WAIT_FOR_COPIES(2);
      else
        GQ_DEV_WAIT_FOR_COPIES(3);
      handOverFp8(shared, &handed);
      --waiting;
    }
    if (++f.step == f.steps) {
      f.step = 0;
      f.tile += gq_dev_num_ctas();
      seekFp8(&f);
    }
  }
  GQ_DEV_WAIT_FOR_COPIES(0);
  NO_UNROLL for (; waiting > 0; --waiting) handOverFp8(shared, &handed);
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// d = 64 rows of a stage, of `type`, by `columns` others, of `byType`, begun.
GQ_DEV void multiplyFp8(gqElementType type, gqElementType byType, float *d,
                        uint32_t rows, uint32_t others, uint32_t columns) {
  uint64_t a = gq_dev_wgmma_b(rows), b = gq_dev_wgmma_b(others);
  bool e4m3 = type == GQ_F8E4M3FN, byE4m3 = byType == GQ_F8E4M3FN;
  gq_dev_wgmma_fence();
#define MULTIPLY(N)                                                            \
  UNROLL for (uint32_t i = 0; i < 4; ++i) {                                    \
    if (e4m3 && byE4m3)                                                        \
      gq_dev_wgmma_m64n##N##k32_e4m3_e4m3(d, i > 0, a + 2 * i, b + 2 * i);     \
    else if (e4m3)                                                             \
      gq_dev_wgmma_m64n##N##k32_e4m3_e5m2(d, i > 0, a + 2 * i, b + 2 * i);     \
    else if (byE4m3)                                                           \
      gq_dev_wgmma_m64n##N##k32_e5m2_e4m3(d, i > 0, a + 2 * i, b + 2 * i);     \
    else                                                                       \
      gq_dev_wgmma_m64n##N##k32_e5m2_e5m2(d, i > 0, a + 2 * i, b + 2 * i);     \
  }
  if (columns == 128)
    MULTIPLY(128)
  else if (columns == 64)
    MULTIPLY(64)
  else
    MULTIPLY(32)
#undef MULTIPLY
  gq_dev_wgmma_commit();
}

/// sums += a stage's products times both scales, those of tokens and those of
/// weights from this lane's first one on.
GQ_DEV void promote(const Product *p, float *sums, const float *products,
                    uint32_t ofTokens, uint32_t ofWeights, uint32_t tokens) {
  if (p->format == GQ_FORMAT_NONE) {
    UNROLL for (uint32_t i = 0; i < tokens / 2; ++i) sums[i] += products[i];
    return;
  }
  // Those of a block of 128 rows are all the same.
  bool same = gqFormatGetTraits(p->bFormat).blockRows == CONSUMER_HEIGHT &&
              p->pairs != GQ_PAIRS_HALVES;
  float rows[2];
  UNROLL for (uint32_t i = 0; i < 2; ++i) rows[i] =
      same && i ? rows[0]
                : gq_dev_f32_from_bits(gq_dev_load_shared4(ofWeights + 32 * i));
  UNROLL for (uint32_t j = 0; j < tokens / 8; j += 2) {
    gq_dev_u32x4 bits = gq_dev_load_shared16(ofTokens + 32 * j);
    UNROLL for (uint32_t i = 0; i < 8; ++i) {
      uint32_t at = 4 * j + i;
      float column = gq_dev_f32_from_bits(bits[i / 4 * 2 + i % 2]);
      sums[at] = gq_dev_fma(products[at], column * rows[i / 2 % 2], sums[at]);
    }
  }
}

/// Leaves a stage to the producer; of a tile's last one, notes the tile.
GQ_DEV void leaveFp8(const Fp8Shared *shared, Stage *stage, bool last,
                     Tile *tile) {
  if (last)
    *tile = ((const Tile GQ_SHARED *)gq_dev_shared_pointer(
        shared->tiles))[stage->index];
  gq_dev_warp_barrier();
  if (gq_dev_is_first_lane())
    gq_dev_mbarrier_arrive(shared->empty + 8 * stage->index);
  advance(stage, 1, shared->numStages);
}

GQ_DEV void consumeFp8(const Product *p, const Schedule *s,
                       const Fp8Shared *shared, uint32_t tokens) {
  uint32_t thread = gq_dev_thread(), consumer = thread / WARPGROUP;
  uint32_t lane = thread % GQ_DEV_WARP;
  // The lane's first row, of 64 that are multiplied together.
  uint32_t row = consumer * CONSUMER_HEIGHT +
                 thread % WARPGROUP / GQ_DEV_WARP * 16 + lane / 4;
  uint32_t steps = (p->k + FP8_STAGE - 1) / FP8_STAGE;
  bool staged = storesPieces(p);
  // Of many tokens, one product at a time: there are registers for no more.
  bool few = tokens < 128;
  float products[2][64];
  UNROLL for (uint32_t i = 0; i < tokens / 2; ++i) products[0][i] =
      products[1][i] = 0;
  Stage stage = {0, 0};
  NO_UNROLL for (uint32_t tile = gq_dev_cta(); tile < s->numTiles;
                 tile += gq_dev_num_ctas()) {
    float sums[2][64];
    UNROLL for (uint32_t i = 0; i < tokens / 2; ++i) sums[0][i] = sums[1][i] =
        0;
    Tile t;
    uint32_t left = steps;
    do {
      uint32_t at = shared->stages + stage.index * shared->stageSize;
      uint32_t weights = at + consumer * (CONSUMER_HEIGHT * STAGE_ROW);
      uint32_t scales = shared->scales + stage.index * shared->scalesSize;
      uint32_t ofTokens = scales + lane % 4 * 16;
      uint32_t ofWeights = scales + (tokens + row) * 4;
      gq_dev_mbarrier_wait(shared->full + 8 * stage.index, stage.phase);
      UNROLL for (uint32_t i = 0; i < 2; ++i) {
        // Weights are the A of wgmma.
        multiplyFp8(p->bType, p->aType, products[few && i],
                    weights + i * (WGMMA_HEIGHT * STAGE_ROW), at + FP8_WEIGHTS,
                    tokens);
        if (!few) {
          GQ_DEV_WGMMA_WAIT(0);
          promote(p, sums[i], products[0], ofTokens,
                  ofWeights + i * (WGMMA_HEIGHT * 4), tokens);
          // Before the next product, which has the same registers.
          UNROLL for (uint32_t j = 0; j < 64; ++j) sums[i][j] =
              gq_dev_here_f32(sums[i][j]);
        }
      }
      if (few) {
        GQ_DEV_WGMMA_WAIT(1);
        promote(p, sums[0], products[0], ofTokens, ofWeights, tokens);
        GQ_DEV_WGMMA_WAIT(0);
        promote(p, sums[1], products[1], ofTokens, ofWeights + WGMMA_HEIGHT * 4,
                tokens);
      }
      leaveFp8(shared, &stage, --left == 0, &t);
    } while (left);
    const TileSums all = {{sums[0], sums[1]}, 2, tokens, 1.0f};
    uint32_t staging =
        shared->staging + consumer * (CONSUMER_HEIGHT * FP8_PART * 2);
    if (p->epilogue)
      storeWithEpilogue(p, t, consumer, staging, &all, FP8_PART, FP8_PART / 2);
    else if (staged)
      storeStaged(p, &t, consumer, staging, &all, FP8_PART, true, 0);
    else
      storeDirectly(p, &t, row, &all);
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_TILESFP8_H
