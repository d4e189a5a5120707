//===- Decode.c - the grouped matmul of a few tokens ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With few tokens in a group, what takes the time is to read the weights once.
// A tile is 128 rows of weights by 8 or 16 tokens; a CTA has consecutive
// tiles, as many as any other one. It goes through k in a ring of stages in
// shared memory: four warps, the producer, have the weights copied there as
// they are, and store the tokens as halves. So loads never stop, whatever the
// others do. Sixteen warps, the consumers, make halves of the weights in
// registers and multiply by mma.sync: four quads have 32 rows each, and the
// warps of a quad share the k of a stage, and add up their sums in a fixed
// order.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/DecodeBlocks.h"
#include "runtime_kernels/kernels/grouped_mm/DecodeNvfp4.h"
#include "runtime_kernels/kernels/grouped_mm/Requantize.h"

enum {
  /// Tokens whose sums the warps of a quad exchange at a time.
  PART = 8,
};

_Static_assert(SCALES + QUAD * STEP_SCALES == TOKENS, "shared memory");
_Static_assert(CONSUMER_WARPS * PART * QUAD_HEIGHT * sizeof(float) ==
                   GQ_DEV_GROUPED_MM_DECODE_SUMS,
               "shared memory");

/// Shared memory, as much as gq_dev_grouped_mm_decode_bounds says. A stage has
/// rows of weights, tiles of their scales, then rows of tokens.
typedef struct Shared {
  uint32_t stages, sums, tiles, full, empty, table;
  uint32_t numStages, stageSize;
} Shared;

GQ_DEV Shared layOut(uint32_t tokens) {
  Shared s = {.stages = gq_dev_dynamic_shared_address(),
              .numStages = GQ_DEV_GROUPED_MM_DECODE_STAGES,
              .stageSize =
                  GQ_DEV_GROUPED_MM_DECODE_WEIGHTS + tokens * TOKEN_ROW};
  s.sums = s.stages + s.numStages * s.stageSize;
  s.tiles = s.sums + GQ_DEV_GROUPED_MM_DECODE_SUMS;
  s.full = s.tiles + s.numStages * sizeof(Tile);
  s.empty = s.full + s.numStages * 8;
  s.table = s.empty + s.numStages * 8;
  return s;
}

/// A place in the ring of stages, and how often it was passed.
typedef struct Stage {
  uint32_t index, phase;
} Stage;

GQ_DEV void advance(Stage *stage, const Shared *shared) {
  if (++stage->index == shared->numStages) {
    stage->index = 0;
    stage->phase ^= 1;
  }
}

/// The CTA's tiles.
typedef struct Range {
  uint32_t begin, end;
} Range;

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// A thread's part of the tokens of a stage: one of the two.
typedef struct TokenPart {
  Nvfp4Part nvfp4;
  PiecesPart pieces;
} TokenPart;

GQ_DEV TokenPart loadTokens(const Feed *f, uint32_t tokens) {
  TokenPart x;
  if (f->p->format == GQ_FORMAT_NVFP4)
    x.nvfp4 = loadNvfp4(f, tokens);
  else
    x.pieces = loadPieces(f, tokens);
  return x;
}

GQ_DEV void produce(const Product *p, const Schedule *s, Range range,
                    const Shared *shared, uint32_t tokens) {
  Feed feed = {.p = p,
               .schedule = s,
               .index = range.begin,
               .end = range.end,
               .chunks = (p->k + chunkOf(p) - 1) / chunkOf(p)};
  seekFeed(&feed);
  Stage stage = {0, 1};
  NO_UNROLL while (hasNext(&feed)) {
    uint32_t at = shared->stages + stage.index * shared->stageSize;
    uint32_t full = shared->full + 8 * stage.index;
    // Tokens are under way while it waits.
    TokenPart part = loadTokens(&feed, tokens);
    gq_dev_mbarrier_wait(shared->empty + 8 * stage.index, stage.phase);
    copyWeights(&feed, at);
    if (p->format == GQ_FORMAT_NVFP4)
      copyTiledScales(&feed, at, QUAD * 2);
    else
      copyBlockScales(&feed, at);
    gq_dev_mbarrier_arrive_copied(full);
    if (producerThread() == 0)
      ((Tile GQ_SHARED *)gq_dev_shared_pointer(shared->tiles))[stage.index] =
          feed.tile;
    if (p->format == GQ_FORMAT_NVFP4)
      storeNvfp4(&part.nvfp4, at, tokens);
    else
      storePieces(p, &part.pieces, at, tokens);
    gq_dev_warp_barrier();
    if (gq_dev_is_first_lane())
      gq_dev_mbarrier_arrive(full);
    skipChunk(&feed);
    advance(&stage, shared);
  }
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

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

/// What a sum is multiplied by.
GQ_DEV float unitOfDecode(const Product *p) {
  return isNvfp4(p)          ? GQ_DEV_NVFP4_HALF_UNIT
         : p->bType == GQ_I8 ? GQ_DEV_E2M1_UNIT
                             : 1.0f;
}

/// Quads that have a block of outputs.
GQ_DEV uint32_t quadsOfBlock(const Product *p) {
  return heightOfBlock(p) > QUAD_HEIGHT ? heightOfBlock(p) / QUAD_HEIGHT : 1;
}

/// The threads of these quads, one or two, wait for each other.
GQ_DEV void barrierOfBlock(const Product *p, uint32_t quad) {
  if (quadsOfBlock(p) == 1)
    barrierOfQuad(quad);
  else if (quad < 2)
    GQ_DEV_NAMED_BARRIER256(5);
  else
    GQ_DEV_NAMED_BARRIER256(6);
}

/// Quantizes PART tokens, number `part` of a tile, of which the bits of outputs
/// are in `partial`, each at its first product.
GQ_DEV void quantizePart(const Product *p, const Tile *tile, uint32_t tokens,
                         uint32_t part, const float GQ_SHARED *partial) {
  uint32_t thread = gq_dev_here(gq_dev_thread()), quad = thread / QUAD_THREADS;
  uint32_t each = heightOfBlock(p), quads = quadsOfBlock(p);
  uint32_t blocks = quads * QUAD_HEIGHT / each, first = part * PART;
  uint32_t end =
      first + PART < tokens ? first + PART : tokensWithScales(tile, tokens);
  if (quad % quads)
    return;
  gq_dev_outer outer = outerOfGroup(p, tile->group);
  NO_UNROLL for (uint32_t i = thread % QUAD_THREADS; i < (end - first) * blocks;
                 i += QUAD_THREADS) {
    uint32_t own = i % blocks, token = i / blocks;
    uint32_t block = (tile->n + quad * QUAD_HEIGHT) / each + own;
    if (block >= numBlocks(p))
      continue;
    if (first + token >= tile->tokens) {
      storeOutScale(p, tile, first + token, block, 0);
      continue;
    }
    OutBlock out;
    UNROLL for (uint32_t j = 0; j < 2 * GQ_DEV_UNIT;
                ++j) if (j * widthOf(p) < each) {
      uint32_t n = own * each + j * widthOf(p);
      putOut(p, &out, j,
             gq_dev_f32_bits(
                 partial[n / QUAD_HEIGHT * (QUAD * PART * QUAD_HEIGHT) +
                         token * QUAD_HEIGHT + n % QUAD_HEIGHT]));
    }
    storeOutBlock(p, tile, outer, first + token, block, &out);
  }
}

/// Adds up the sums of a quad's warps and stores them, PART tokens at a time.
/// `partial` is shared memory of the quad, [QUAD][PART][QUAD_HEIGHT]. `width`
/// is widthOf(p) with an epilogue or a quantization, 0 without: a constant.
GQ_DEV void storeSums(const Product *p, const Tile *tile, uint32_t tokens,
                      float sums[2][2][4], float GQ_SHARED *partial,
                      uint32_t width) {
  uint32_t thread = gq_dev_here(gq_dev_thread()), lane = thread % GQ_DEV_WARP;
  uint32_t quad = thread / QUAD_THREADS, inQuad = thread % QUAD_THREADS;
  const uint32_t size = PART * QUAD_HEIGHT, each = width == 2 ? 2 : 1;
  float GQ_SHARED *own = partial + inQuad / GQ_DEV_WARP * size;
  // Kernels without an epilogue share nothing with this.
  uint32_t group = width ? gq_dev_here(tile->group) : tile->group;
  float alpha = alphaOf(p, group);
  UNROLL for (uint32_t j = 0; j < tokens / PART; ++j) {
    UNROLL for (uint32_t i = 0; i < 8; ++i)
        own[(lane % 4 * 2 + i % 2) * QUAD_HEIGHT + i / 4 * 16 + i / 2 % 2 * 8 +
            lane / 4] = sums[i / 4][j][i % 4];
    barrierOfQuad(quad);
    UNROLL for (uint32_t i = 0; i < size; i += QUAD_THREADS * each) {
      uint32_t at = inQuad * each + i, token = PART * j + at / QUAD_HEIGHT;
      uint32_t n = tile->n + quad * QUAD_HEIGHT + at % QUAD_HEIGHT;
      int64_t row = tile->token + token;
      float x[2] = {0, 0};
      UNROLL for (uint32_t c = 0; c < each; ++c)
          UNROLL for (uint32_t w = 0; w < QUAD; ++w) x[c] +=
          partial[at + c + w * size];
      if (token < tile->tokens && n < p->n && width == 0) {
        storeFloat(
            p->outType, outAt(p, row, n),
            finish(p, group, row, n, true, x[0] * unitOfDecode(p) * alpha));
      } else if (token < tile->tokens && n < p->n) {
        UNROLL for (uint32_t c = 0; c < each; ++c) x[c] =
            finish(p, group, row, n + c, true, x[c] * unitOfDecode(p) * alpha);
        if (quantizes(p)) // There the thread alone has read.
          partial[at] = gq_dev_f32_from_bits(outBits(p, x[0], x[1]));
        else
          storeOut(p, outAt(p, row, n / each), x[0], x[1]);
      }
    }
    if (width && quantizes(p)) {
      barrierOfBlock(p, quad);
      quantizePart(p, tile, tokens, j, partial);
      barrierOfBlock(p, quad);
    } else {
      barrierOfQuad(quad);
    }
  }
}

GQ_DEV void consume(const Product *p, Range range, const Shared *shared,
                    uint32_t tokens) {
  uint32_t thread = gq_dev_thread(), quad = thread / QUAD_THREADS;
  uint32_t share = thread / GQ_DEV_WARP % QUAD, chunk = chunkOf(p);
  float GQ_SHARED *partial =
      (float GQ_SHARED *)gq_dev_shared_pointer(shared->sums) +
      quad * (QUAD * PART * QUAD_HEIGHT);
  Stage stage = {0, 0};
  NO_UNROLL for (uint32_t index = range.begin; index < range.end; ++index) {
    float sums[2][2][4] = {{{0}}};
    Tile tile;
    NO_UNROLL for (uint32_t k = 0; k < p->k; k += chunk) {
      uint32_t at = shared->stages + stage.index * shared->stageSize;
      gq_dev_mbarrier_wait(shared->full + 8 * stage.index, stage.phase);
      if (p->format == GQ_FORMAT_NVFP4)
        multiplyNvfp4(p, at, quad, share, k, tokens, sums);
      else
        multiplyPieces(p, at, quad, share, k, tokens, sums);
      if (k + chunk >= p->k)
        tile = ((const Tile GQ_SHARED *)gq_dev_shared_pointer(
            shared->tiles))[stage.index];
      gq_dev_warp_barrier();
      if (gq_dev_is_first_lane())
        gq_dev_mbarrier_arrive(shared->empty + 8 * stage.index);
      advance(&stage, shared);
    }
    if (!p->epilogue && !quantizes(p))
      storeSums(p, &tile, tokens, sums, partial, 0);
    else if (widthOf(p) == 1)
      storeSums(p, &tile, tokens, sums, partial, 1);
    else
      storeSums(p, &tile, tokens, sums, partial, 2);
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

GQ_DEV void decode(const Product *p, uint32_t tokens) {
  Shared shared = layOut(tokens);
  if (gq_dev_thread() == 0) {
    for (uint32_t i = 0; i < shared.numStages; ++i) {
      gq_dev_mbarrier_init(shared.full + 8 * i,
                           PRODUCER_THREADS + PRODUCER_WARPS);
      gq_dev_mbarrier_init(shared.empty + 8 * i, CONSUMER_WARPS);
    }
    gq_dev_fence_barriers();
  }
  Schedule s = makeSchedule(p, tokens, HEIGHT, THREADS,
                            gq_dev_shared_pointer(shared.table));
  uint64_t cta = gq_dev_cta(), ctas = gq_dev_num_ctas();
  Range range = {(uint32_t)(s.numTiles * cta / ctas),
                 (uint32_t)(s.numTiles * (cta + 1) / ctas)};
  if (range.begin == range.end)
    return;
  if (gq_dev_thread() / GQ_DEV_WARP >= CONSUMER_WARPS)
    produce(p, &s, range, &shared, tokens);
  else
    consume(p, range, &shared, tokens);
}

GQ_DEV_KERNEL void
gq_dev_grouped_mm_decode(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS)) {
  const Product p = {PRODUCT_INITIALIZERS};
  if (!isAligned(&p))
    multiplyAny(&p, THREADS,
                gq_dev_shared_pointer(gq_dev_dynamic_shared_address()));
  else if (tokens == 8)
    decode(&p, 8);
  else
    decode(&p, 16);
}
