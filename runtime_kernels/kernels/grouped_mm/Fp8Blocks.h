//===- Fp8Blocks.h - many tokens by 8-bit codes in square blocks -*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consumers of weights in blocks of 128 by 128. Tokens are the A of wgmma: all
// sums of a lane for 128 rows of weights have one scale of these and two of
// tokens, where else each lane reads the scales of a quarter of the tokens. Of
// a stage, a consumer multiplies 64 tokens by all rows of weights, a block at a
// time.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_FP8BLOCKS_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_FP8BLOCKS_H

#include "runtime_kernels/kernels/grouped_mm/TilesFp8.h"

enum {
  /// Rows of weights of a block, and of a product.
  FP8_BLOCK = 128,
  /// Tokens of a tile and of a warp.
  FP8_TOKENS = 128,
  FP8_OWN = 16,
};

/// Whether FP8_BLOCK rows of a tile have the same scales.
GQ_DEV bool hasBlocksOfRows(const Product *p) {
  return p->format != GQ_FORMAT_NONE && p->pairs != GQ_PAIRS_HALVES &&
         gqFormatGetTraits(p->bFormat).blockRows == FP8_BLOCK;
}

/// Stores a warp's sums of 16 tokens from number `first` of the tile on, 64
/// columns at a time by way of its own 2 KiB of shared memory, swizzled as in
/// storeStaged, whose `rest` and `width` these are.
GQ_DEV void storeFp8Blocks(const Product *p, const Tile *t, uint32_t first,
                           uint32_t staging, const float sums[128], bool rest,
                           uint32_t width) {
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
  float alpha = alphaOf(p, t->group);
  uint32_t matrix = lane / 8, down = lane / 8, across = lane % 8;
  uint32_t to = staging + (matrix % 2 * 8 + lane % 8) * STAGE_ROW;
  UNROLL for (uint32_t part = 0; part < HEIGHT / 64; ++part) {
    // What is read for columns is read again, not kept.
    uint32_t column = gq_dev_here(t->n + part * 64);
    gq_dev_warp_barrier(); // What was staged before has been read.
    UNROLL for (uint32_t j = 0; j < 8; j += 2) {
      uint32_t x[4];
      UNROLL for (uint32_t i = 0; i < 4; ++i) {
        // Matrices: tokens 0 to 7 and 8 to 15 of 8 columns, then of 8 more.
        uint32_t at = 4 * (8 * part + j + i / 2) + i % 2 * 2;
        float low = sums[at] * alpha, high = sums[at + 1] * alpha;
        if (rest) {
          // Without an epilogue there are branches, or ptxas would spill; with
          // one there are none: of what there is none, the last.
          int64_t own = first + lane / 4 + i % 2 * 8, last = t->tokens - 1;
          bool has = own <= last;
          own = width && !has ? last : own;
          uint32_t of = column + 8 * (j + i / 2) + lane % 4 * 2;
          UNROLL for (uint32_t c = 0; c < 2; ++c) {
            bool exists = of + c < p->n;
            uint32_t row = width && !exists ? p->n - 1 : of + c;
            float *y = c ? &high : &low;
            *y = finish(p, t->group, t->token + own, row,
                        width || (has && exists), *y);
          }
        }
        x[i] = gq_dev_round_pair(width ? p->valueType : p->outType, low, high);
      }
      gq_dev_store_matrices(to + ((j + matrix / 2 ^ lane % 8) << 4), x);
    }
    gq_dev_warp_barrier();
    uint32_t piece = column + across * 8;
    bool has = p->n % HEIGHT == 0 || piece < p->n;
    if (width) {
      NO_UNROLL for (uint32_t row = down;
                     row < FP8_OWN && first + row < t->tokens; row += 4)
          storePiece(p, t->token + first + row, piece,
                     staging + row * STAGE_ROW + ((across ^ row % 8) << 4),
                     width);
      continue;
    }
    UNROLL for (uint32_t i = 0; i < FP8_OWN; i += 4) {
      uint32_t row = down + i;
      gq_dev_u32x4 x = gq_dev_load_shared16(staging + row * STAGE_ROW +
                                            ((across ^ row % 8) << 4));
      if (has && first + row < t->tokens)
        *(gq_dev_u32x4 GQ_GLOBAL *)outAt(p, t->token + first + row, piece) = x;
    }
  }
}

/// The same from registers.
GQ_DEV void storeFp8BlocksDirectly(const Product *p, const Tile *t,
                                   uint32_t first, const float sums[128]) {
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
  float alpha = alphaOf(p, t->group);
  UNROLL for (uint32_t i = 0; i < 2; ++i) {
    int64_t own = first + lane / 4 + i * 8;
    uint32_t column = t->n + lane % 4 * 2;
    UNROLL for (uint32_t j = 0; j < HEIGHT / 8; ++j) {
      column = gq_dev_here(column);
      uint8_t GQ_GLOBAL *out = outAt(p, t->token + own, column);
      UNROLL for (uint32_t c = 0; c < 2;
                  ++c) if (own < t->tokens && column + c < p->n)
          storeFloat(p->outType, out + c * outSize(p),
                     finish(p, t->group, t->token + own, column + c, true,
                            sums[4 * j + i * 2 + c] * alpha));
      column += 8;
    }
  }
}

/// The float32 at an address of shared memory.
GQ_DEV float scaleAt(uint32_t address) {
  return gq_dev_f32_from_bits(gq_dev_load_shared4(address));
}

GQ_DEV void consumeFp8Blocks(const Product *p, const Schedule *s,
                             const Fp8Shared *shared) {
  uint32_t thread = gq_dev_thread(), lane = thread % GQ_DEV_WARP;
  // The warp's first token in a tile.
  uint32_t warp = thread / GQ_DEV_WARP, first = warp * FP8_OWN;
  uint32_t steps = (p->k + FP8_STAGE - 1) / FP8_STAGE;
  float products[64];
  UNROLL for (uint32_t i = 0; i < 64; ++i) products[i] = 0;
  Stage stage = {0, 0};
  NO_UNROLL for (uint32_t tile = gq_dev_cta(); tile < s->numTiles;
                 tile += gq_dev_num_ctas()) {
    float sums[128];
    UNROLL for (uint32_t i = 0; i < 128; ++i) sums[i] = 0;
    Tile t;
    uint32_t left = steps;
    do {
      uint32_t at = shared->stages + stage.index * shared->stageSize;
      uint32_t scales = shared->scales + stage.index * shared->scalesSize;
      gq_dev_mbarrier_wait(shared->full + 8 * stage.index, stage.phase);
      uint32_t own =
          at + FP8_WEIGHTS + thread / WARPGROUP * (WGMMA_HEIGHT * STAGE_ROW);
      float ofTokens[2], ofWeights[2];
      UNROLL for (uint32_t i = 0; i < 2; ++i) {
        ofTokens[i] =
            scaleAt(scales + placeOfScale(first + lane / 4 + 8 * i) * 4);
        ofWeights[i] = scaleAt(scales + (FP8_TOKENS + i * FP8_BLOCK) * 4);
      }
      UNROLL for (uint32_t h = 0; h < 2; ++h) {
        multiplyFp8(p->aType, p->bType, products, own,
                    at + h * (FP8_BLOCK * STAGE_ROW), FP8_BLOCK);
        float factors[] = {ofTokens[0] * ofWeights[h],
                           ofTokens[1] * ofWeights[h]};
        GQ_DEV_WGMMA_WAIT(0);
        // Before the next product, which has the same registers.
        UNROLL for (uint32_t i = 0; i < 64; ++i) sums[64 * h + i] =
            gq_dev_here_f32(
                gq_dev_fma(products[i], factors[i / 2 % 2], sums[64 * h + i]));
      }
      leaveFp8(shared, &stage, --left == 0, &t);
    } while (left);
    uint32_t staging = shared->staging + warp * (FP8_OWN * STAGE_ROW);
    if (p->epilogue && widthOf(p) == 1)
      storeFp8Blocks(p, &t, first, staging, sums, true, 1);
    else if (p->epilogue)
      storeFp8Blocks(p, &t, first, staging, sums, true, 2);
    else if (storesPieces(p))
      storeFp8Blocks(p, &t, first, staging, sums, hasRest(p), 0);
    else
      storeFp8BlocksDirectly(p, &t, first, sums);
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_FP8BLOCKS_H
