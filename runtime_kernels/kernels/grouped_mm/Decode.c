//===- Decode.c - the grouped matmul of a few tokens ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With up to 8 tokens of a group, what takes the time is to read the weights
// once. A CTA has consecutive tiles of 32 rows of weights, as many as any other
// one, and dequantizes the tokens that they are multiplied by into shared
// memory, where they stay. Four quads of warps take the tiles in turn; the
// warps of a quad share k, and add up their sums in a fixed order. A lane has
// up to three steps of weights under way in registers, those of the next tile
// among them, so that loads never stop.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/Any.h"
#include "runtime_kernels/kernels/grouped_mm/Weights.h"

enum {
  THREADS = GQ_DEV_GROUPED_MM_DECODE_THREADS,
  TOKENS = GQ_DEV_GROUPED_MM_FEW_TOKENS,
  HEIGHT = GQ_DEV_GROUPED_MM_DECODE_HEIGHT,
  /// Warps that share a tile, and tiles of a CTA at a time.
  QUAD = 4,
  QUADS = THREADS / GQ_DEV_WARP / QUAD,
  QUAD_THREADS = QUAD * GQ_DEV_WARP,
  /// Steps loaded ahead of the one that is multiplied.
  DEPTH = 2,
  /// Bytes of a step of a token.
  STEP_HALVES = STEP * 2,
};

_Static_assert(QUADS == 4, "four named barriers");
_Static_assert(QUADS * QUAD * TOKENS * HEIGHT * sizeof(float) ==
                   GQ_DEV_GROUPED_MM_DECODE_SUMS,
               "shared memory");
_Static_assert(TOKENS == 8, "columns of an mma");

GQ_DEV uint32_t stepsOfWarp(const Product *p) {
  return (numSteps(p) + QUAD - 1) / QUAD;
}

/// Bytes of a token in shared memory: eight lanes of a load of 16 bytes have
/// two tokens, which must not be in the same banks.
GQ_DEV uint32_t tokenPitch(const Product *p) {
  return gq_dev_grouped_mm_token_pitch(p->k);
}

/// Dequantizes the tile's tokens, zeros for those that it does not have and
/// for k beyond the last. Step by step, words as fragments have them: of lane
/// q, word v at 64 * v + 16 * q. All threads take part.
GQ_DEV void loadTokens(const Product *p, const Tile *tile, uint32_t to) {
  uint32_t blocks = numSteps(p) * (STEP / 16);
  NO_UNROLL for (uint32_t i = gq_dev_thread(); i < TOKENS * blocks;
                 i += THREADS) {
    uint32_t token = i / blocks, block = i - token * blocks;
    uint32_t x[8] = {0};
    if (token < tile->tokens && block < p->k / 16) {
      gq_dev_u32x2 codes =
          *(const gq_dev_u32x2 GQ_GLOBAL *)(p->a +
                                            (tile->token + token) * p->aStride +
                                            block * 8);
      uint32_t scale = gq_dev_nvfp4_half_scale(
          p->aScales[scaleRowOffset(p, tile->scaleRow + token) +
                     block / 4 * 512 + block % 4],
          0);
      gq_dev_nvfp4_half8(codes.x, scale, x);
      gq_dev_nvfp4_half8(codes.y, scale, x + 4);
    }
    uint32_t at = to + token * tokenPitch(p) + block / 8 * STEP_HALVES +
                  block % 2 * 128 + block % 8 / 2 * 16;
    gq_dev_store_shared16(at, (gq_dev_u32x4){x[0], x[1], x[2], x[3]});
    gq_dev_store_shared16(at + 64, (gq_dev_u32x4){x[4], x[5], x[6], x[7]});
  }
}

/// Where a lane's part of a tile begins: its warp's share of k.
GQ_DEV WeightRows findShare(const Product *p, uint32_t e, uint32_t n) {
  uint32_t steps = stepsOfWarp(p);
  uint32_t first = gq_dev_thread() / GQ_DEV_WARP % QUAD * steps;
  WeightRows rows =
      findWeights(p, e, n, gq_dev_lane() / 4, HEIGHT, /*distance=*/16);
  skipSteps(&rows, first);
  int32_t end = (int32_t)(steps * STEP - gq_dev_lane() % 4 * 32);
  rows.end = rows.end < end ? rows.end : end;
  return rows;
}

/// sums += a step of 32 rows times the tokens at `from`.
GQ_DEV void multiplyStep(const RowPair x[2], uint32_t from, float sums[2][4]) {
  UNROLL for (uint32_t half = 0; half < 2; ++half) {
    uint32_t scales[2][2];
    UNROLL for (uint32_t i = 0; i < 4; ++i) scales[i / 2][i % 2] =
        gq_dev_nvfp4_half_scale(x[i / 2].scales[i % 2], half);
    UNROLL for (uint32_t word = 2 * half; word < 2 * half + 2; ++word) {
      gq_dev_u32x4 b = gq_dev_load_shared16(from + word * 64);
      const uint32_t even[2] = {b.x, b.y}, odd[2] = {b.z, b.w};
      UNROLL for (uint32_t i = 0; i < 2; ++i) {
        uint32_t a[8];
        dequantizeWord(&x[i], word, scales[i], a);
        gq_dev_mma_m16n8k16_f16(sums[i], a, even);
        gq_dev_mma_m16n8k16_f16(sums[i], a + 4, odd);
      }
    }
  }
}

GQ_DEV void barrierOfQuad(uint32_t quad) {
  if (quad == 0)
    GQ_DEV_NAMED_BARRIER128(1);
  else if (quad == 1)
    GQ_DEV_NAMED_BARRIER128(2);
  else if (quad == 2)
    GQ_DEV_NAMED_BARRIER128(3);
  else
    GQ_DEV_NAMED_BARRIER128(4);
}

/// Adds up the sums of a quad's warps and stores them. `partial` is shared
/// memory of the quad, [QUAD][TOKENS][HEIGHT].
GQ_DEV void storeSums(const Product *p, const Tile *tile, uint32_t n,
                      float sums[2][4], float GQ_SHARED *partial) {
  uint32_t thread = gq_dev_here(gq_dev_thread()), lane = thread % GQ_DEV_WARP;
  uint32_t quad = thread / QUAD_THREADS, inQuad = thread % QUAD_THREADS;
  float GQ_SHARED *own = partial + inQuad / GQ_DEV_WARP * (TOKENS * HEIGHT);
  UNROLL for (uint32_t i = 0; i < 8; ++i)
      own[(lane % 4 * 2 + i % 2) * HEIGHT + i / 4 * 16 + i / 2 % 2 * 8 +
          lane / 4] = sums[i / 4][i % 4];
  barrierOfQuad(quad);
  float alpha = alphaOf(p, tile->group);
  UNROLL for (uint32_t i = 0; i < TOKENS * HEIGHT; i += QUAD_THREADS) {
    uint32_t at = inQuad + i, token = at / HEIGHT, column = n + at % HEIGHT;
    float sum = 0;
    UNROLL for (uint32_t j = 0; j < QUAD; ++j) sum +=
        partial[at + j * (TOKENS * HEIGHT)];
    if (token < tile->tokens && column < p->n)
      storeOut(p, outAt(p, tile->token + token, column), scaledSum(sum, alpha));
  }
  barrierOfQuad(quad);
}

GQ_DEV void decode(const Product *p) {
  uint32_t tokensAt = gq_dev_dynamic_shared_address();
  uint32_t partialAt = tokensAt + TOKENS * tokenPitch(p);
  uint32_t tableAt = partialAt + GQ_DEV_GROUPED_MM_DECODE_SUMS;
  Schedule s =
      makeSchedule(p, TOKENS, HEIGHT, THREADS, gq_dev_shared_pointer(tableAt));
  uint32_t begin =
      (uint32_t)((uint64_t)s.numTiles * gq_dev_cta() / gq_dev_num_ctas());
  uint32_t end =
      (uint32_t)((uint64_t)s.numTiles * (gq_dev_cta() + 1) / gq_dev_num_ctas());
  if (begin == end)
    return;
  uint32_t lane = gq_dev_lane(), quad = gq_dev_thread() / QUAD_THREADS;
  float GQ_SHARED *partial =
      (float GQ_SHARED *)gq_dev_shared_pointer(partialAt) +
      quad * (QUAD * TOKENS * HEIGHT);
  uint32_t steps = stepsOfWarp(p);
  uint32_t first = gq_dev_thread() / GQ_DEV_WARP % QUAD * steps;
  uint32_t all = numSteps(p);
  // The warp's own steps; no more of all.
  uint32_t own = first < all ? (all - first < steps ? all - first : steps) : 0;
  uint32_t tokenRow =
      tokensAt + lane / 4 * tokenPitch(p) + lane % 4 * 16 + first * STEP_HALVES;

  // The tile of this quad, and the weights to load next: from the beginning
  // on, those of the tile itself.
  uint32_t index = begin + quad;
  Tile tile = findTileOfTokens(p, &s, index < end ? index : begin);
  WeightRows rows = findShare(p, tile.group, tile.n);
  rows.end = index < end ? rows.end : 0;
  RowPair ring[DEPTH][2];
  UNROLL for (uint32_t i = 0; i < DEPTH; ++i) {
    loadWeights(&rows, false, ring[i]);
    skipSteps(&rows, 1);
  }
  for (uint32_t at = begin; at < end;) {
    // All tiles of the same tokens.
    Tile piece = findTileOfTokens(p, &s, at);
    uint32_t pieceEnd = at + s.tilesDown - piece.n / HEIGHT;
    pieceEnd = pieceEnd < end ? pieceEnd : end;
    loadTokens(p, &piece, tokensAt);
    gq_dev_barrier();
    NO_UNROLL while (index < pieceEnd) {
      float sums[2][4] = {{0}};
      uint32_t n = tile.n, from = tokenRow;
      NO_UNROLL for (uint32_t step = 0; step < steps; step += DEPTH) {
        if (step + DEPTH >= steps) { // Loads go on with the next tile.
          index += QUADS;
          if (index < end) {
            if (tile.n + QUADS * HEIGHT < p->n)
              tile.n += QUADS * HEIGHT;
            else
              tile = findTileOfTokens(p, &s, index);
          }
          rows = findShare(p, tile.group, tile.n);
          rows.end = index < end ? rows.end : 0;
        }
        UNROLL for (uint32_t i = 0; i < DEPTH; ++i) {
          RowPair later[2];
          loadWeights(&rows, false, later);
          skipSteps(&rows, 1);
          // Where it stands in the machine code, too.
          gq_dev_warp_barrier();
          if (step + i < own)
            multiplyStep(ring[i], from + i * STEP_HALVES, sums);
          ring[i][0] = later[0];
          ring[i][1] = later[1];
        }
        from += DEPTH * STEP_HALVES;
      }
      storeSums(p, &piece, n, sums, partial);
    }
    gq_dev_barrier(); // The tokens have been used.
    at = pieceEnd;
  }
}

GQ_DEV_KERNEL void
gq_dev_grouped_mm_decode(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS)) {
  const Product p = {PRODUCT_INITIALIZERS};
  if (isAligned(&p))
    decode(&p);
  else
    multiplyAny(&p, THREADS,
                gq_dev_shared_pointer(gq_dev_dynamic_shared_address()));
}
