//===- TilesParts.h - what the kernels of tiles have in common ---*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who does what, the ring of stages, and how outputs leave.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_TILESPARTS_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_TILESPARTS_H

#include "runtime_kernels/arch/Sm90.h"
#include "runtime_kernels/kernels/grouped_mm/Any.h"
#include "runtime_kernels/kernels/grouped_mm/Requantize.h"
#include "runtime_kernels/kernels/grouped_mm/TilesOf.h"

enum {
  THREADS = GQ_DEV_GROUPED_MM_TILES_THREADS,
  WARPGROUP = 128,
  CONSUMERS = 2,
  CONSUMER_WARPS = CONSUMERS * WARPGROUP / GQ_DEV_WARP,
  PRODUCER_WARPS = 4,
  /// Rows of weights of a tile, of a consumer and of a wgmma.
  HEIGHT = GQ_DEV_GROUPED_MM_TILES_HEIGHT,
  CONSUMER_HEIGHT = 128,
  WGMMA_HEIGHT = 64,
  /// Bytes of a token in a stage.
  STAGE_ROW = 128,
};

_Static_assert(THREADS == (CONSUMERS + 1) * WARPGROUP, "roles");

/// Defines a function of TilesOf.h, which is MULTIPLY of the Product p. What is
/// not aligned is multiplied as Any.h does it.
#define TILES_BY(WHAT, MULTIPLY)                                               \
  GQ_DEV_KERNEL TILES_OF(WHAT) {                                               \
    const Product p = {PRODUCT_INITIALIZERS};                                  \
    if (isAligned(&p))                                                         \
      MULTIPLY;                                                                \
    else                                                                       \
      gq_dev_grouped_mm_tiles(GQ_DEV_ARGUMENTS(GQ_GROUPED_MM_OPERANDS));       \
  }

/// A place in the ring of stages, and how often it was passed.
typedef struct Stage {
  uint32_t index, phase;
} Stage;

GQ_DEV void advance(Stage *stage, uint32_t by, uint32_t stages) {
  stage->index += by;
  if (stage->index >= stages) {
    stage->index -= stages;
    stage->phase ^= 1;
  }
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The threads of this consumer wait for each other.
GQ_DEV void barrierOfConsumer(uint32_t consumer) {
  if (consumer)
    GQ_DEV_NAMED_BARRIER128(2);
  else
    GQ_DEV_NAMED_BARRIER128(1);
}

/// What an output is multiplied by and added to, if there is more than alpha.
GQ_DEV bool hasRest(const Product *p) {
  return p->rowScales || p->columnScales || p->bias;
}

/// Whether rows of outputs are whole pieces of 16 bytes.
GQ_DEV bool storesPieces(const Product *p) {
  return p->outType != GQ_F32 && p->n % 8 == 0 && p->outStride % 16 == 0 &&
         (uint64_t)(uintptr_t)p->out % 16 == 0;
}

/// Eight products of a token that were staged as f32, or as 16 bits.
GQ_DEV void loadStaged(const Product *p, uint32_t from, uint32_t out[8]) {
  if (productSize(p) == 4) {
    UNROLL for (uint32_t i = 0; i < 2; ++i) {
      gq_dev_u32x4 x = gq_dev_load_shared16(from + 16 * i);
      UNROLL for (uint32_t j = 0; j < 4; ++j) out[4 * i + j] = x[j];
    }
    return;
  }
  gq_dev_u32x4 x = gq_dev_load_shared16(from);
  UNROLL for (uint32_t i = 0; i < 8; i += 2) {
    out[i] = x[i / 2] & 0xffff;
    out[i + 1] = x[i / 2] >> 16;
  }
}

/// Stores what the epilogue makes of eight products of a token, columns `n` on,
/// which were staged at `from`. `width` is widthOf(p) as a constant.
GQ_DEV void storePiece(const Product *p, int64_t row, uint32_t n, uint32_t from,
                       uint32_t width) {
  uint32_t x[8], y[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  loadStaged(p, from, x);
  UNROLL for (uint32_t i = 0; i < 8; i += width) y[i / width] =
      p->epilogue(x[i], x[i | 1]);
  uint8_t GQ_GLOBAL *at = outAt(p, row, n / width);
  uint32_t starts =
      (uint32_t)((uint64_t)(uintptr_t)p->out | (uint64_t)p->outStride);
  // 8 or 16 bytes at a time.
  if (n + 8 <= p->n && starts % 16 == 0 && p->outType == GQ_F32) {
    UNROLL for (uint32_t i = 0; i < 8 / width; i += 4) *
        (gq_dev_u32x4 GQ_GLOBAL *)(at + 4 * i) =
        (gq_dev_u32x4){y[i], y[i + 1], y[i + 2], y[i + 3]};
  } else if (n + 8 <= p->n && starts % 16 == 0) {
    UNROLL for (uint32_t i = 0; i < 8 / width; i += 4) *
        (gq_dev_u32x2 GQ_GLOBAL *)(at + 2 * i) =
        (gq_dev_u32x2){y[i] | y[i + 1] << 16, y[i + 2] | y[i + 3] << 16};
  } else {
    UNROLL for (uint32_t i = 0; i < 8; i += width) if (n + i < p->n)
        storeBits(p->outType, at + i / width * outSize(p), y[i / width]);
  }
}

/// A consumer's sums of a tile: of `blocks`, 1 or 2, times 64 rows of weights
/// by `tokens`, each as wgmma has them. All but the pointers are constants.
typedef struct TileSums {
  float *d[2];
  uint32_t blocks, tokens;
  /// What they are multiplied by first.
  float unit;
} TileSums;

/// Rows of weights of a consumer, of which there are two.
GQ_DEV uint32_t heightOf(const TileSums *sums) {
  return sums->blocks * WGMMA_HEIGHT;
}

/// Multiplies sums by alpha and by the scales of their tokens, if tokens have
/// scales, and says what is left to be done. A lane loads the scale of one
/// token in 32, and gets the others' from where they are needed: of a load for
/// each output addresses alone would not fit into registers beside all sums.
/// All lanes of the warp take part.
GQ_DEV Product takeRowScales(const Product *p, const Tile *t, TileSums *sums) {
  Product left = *p;
  if (!p->rowScales)
    return left;
  uint32_t lane = gq_dev_here(gq_dev_lane());
  uint32_t last =
      (uint32_t)(t->tokens < sums->tokens ? t->tokens : sums->tokens) - 1;
  const float GQ_GLOBAL *of = p->rowScales + t->token;
  float alpha = alphaOf(p, t->group), scales[8];
  UNROLL for (uint32_t i = 0; i < sums->tokens / GQ_DEV_WARP; ++i) {
    uint32_t own = i * GQ_DEV_WARP + lane;
    scales[i] = of[own < last ? own : last];
  }
  UNROLL for (uint32_t i = 0; i < sums->tokens / 4; ++i) {
    uint32_t token = i / 2 * 8 + i % 2, pair = gq_dev_here(lane % 4 * 2);
    float scale = gq_dev_shuffle_f32(scales[token / GQ_DEV_WARP],
                                     token % GQ_DEV_WARP + pair);
    UNROLL for (uint32_t j = 0; j < 2 * sums->blocks; ++j) {
      float *x = &sums->d[j / 2][i / 2 * 4 + j % 2 * 2 + i % 2];
      *x = gq_dev_here_f32(*x * sums->unit * alpha * scale);
    }
  }
  sums->unit = 1;
  left.alpha = left.rowScales = 0;
  return left;
}

/// What the sum times alpha of a tile's token `own` and of row `row` of weights
/// becomes; of what there is none, that of the last: no branches.
GQ_DEV float finishStaged(const Product *p, const Tile *t, uint32_t own,
                          uint32_t row, float x) {
  int64_t last = t->tokens - 1, of = own < last ? own : last;
  return finish(p, t->group, t->token + of, row < p->n ? row : p->n - 1, true,
                x);
}

/// What the place of a row, in bytes, of a token that was staged as f32 is
/// swizzled with: of 8 rows, or 32 bytes.
GQ_DEV uint32_t swizzleOfF32(uint32_t token) { return token / 2 % 4 << 5; }

/// Where a lane stages what it has.
GQ_DEV uint32_t placeOfHalves(uint32_t staging, uint32_t thread) {
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  uint32_t matrix = lane / 8, token = 8 * (matrix / 2) + lane % 8;
  uint32_t piece = warp * 2 + matrix % 2;
  return staging + token * STAGE_ROW + ((piece ^ token % 8) << 4);
}

/// Stages `part` tokens from `first` on, as 16 bits of `type`: for each 64 of
/// the consumer's rows, tokens of 128 bytes, swizzled. `rest` says whether an
/// output has more factors or terms than alpha, and `branches` whether nothing
/// is computed of what there is none: constants.
GQ_DEV void stageHalves(const Product *p, const Tile *t, uint32_t consumer,
                        uint32_t thread, uint32_t to, float alpha,
                        const TileSums *sums, uint32_t first, uint32_t part,
                        gqElementType type, bool rest, bool branches) {
  uint32_t height = heightOf(sums), half = part * STAGE_ROW;
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  UNROLL for (uint32_t h = 0; h < sums->blocks; ++h)
      UNROLL for (uint32_t j = 0; j < part / 8; j += 2) {
    uint32_t x[4];
    UNROLL for (uint32_t i = 0; i < 4; ++i) {
      uint32_t at = first / 2 + 4 * j + 2 * i;
      float low = sums->d[h][at] * sums->unit * alpha;
      float high = sums->d[h][at + 1] * sums->unit * alpha;
      uint32_t own = first + 8 * j + at / 4 % 2 * 8 + lane % 4 * 2;
      uint32_t row = t->n + consumer * height + h * WGMMA_HEIGHT + warp * 16 +
                     lane / 4 + at / 2 % 2 * 8;
      if (rest && branches) {
        low = finish(p, t->group, t->token + own, row,
                     row < p->n && own < t->tokens, low);
        high = finish(p, t->group, t->token + own + 1, row,
                      row < p->n && own + 1 < t->tokens, high);
      } else if (rest) {
        low = finishStaged(p, t, own, row, low);
        high = finishStaged(p, t, own + 1, row, high);
      }
      x[i] = gq_dev_round_pair(type, low, high);
    }
    gq_dev_store_matrices_transposed(to + h * half + j * 8 * STAGE_ROW, x);
  }
}

/// The same of f32: tokens of 4 bytes for each row, swizzled. What there is
/// none of is computed from what there is.
GQ_DEV void stageF32(const Product *p, const Tile *t, uint32_t consumer,
                     uint32_t thread, uint32_t staging, float alpha,
                     const TileSums *sums, uint32_t first, uint32_t part) {
  uint32_t height = heightOf(sums), pitch = height * 4;
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  uint32_t row = warp * 16 + lane / 4, own = lane % 4 * 2;
  uint32_t to = staging + own * pitch + (row * 4 ^ swizzleOfF32(own));
  uint32_t top = t->n + consumer * height;
  UNROLL for (uint32_t h = 0; h < sums->blocks; ++h)
      UNROLL for (uint32_t i = 0; i < part / 2; ++i) {
    uint32_t below = h * WGMMA_HEIGHT + i / 2 % 2 * 8;
    uint32_t along = i / 4 * 8 + i % 2;
    float x = sums->d[h][first / 2 + i] * sums->unit * alpha;
    x = finishStaged(p, t, first + own + along, top + row + below, x);
    // Eight rows below is the other piece of 32 bytes of two.
    gq_dev_store_shared4((to ^ i / 2 % 2 << 5) + h * (WGMMA_HEIGHT * 4) +
                             along * pitch,
                         gq_dev_f32_bits(x));
  }
}

/// Stores a consumer's part of a tile by way of shared memory, `part` tokens at
/// a time: for each 64 of its rows, tokens of 128 bytes, swizzled. A token
/// leaves in pieces of all its rows. `rest` says whether an output has more
/// factors or terms than alpha, `width` is 0, and with an epilogue widthOf(p):
/// constants. With an epilogue outputs may be of any type and alignment, and
/// are computed in a loop.
GQ_DEV void storeStaged(const Product *p, const Tile *t, uint32_t consumer,
                        uint32_t staging, const TileSums *sums, uint32_t part,
                        bool rest, uint32_t width) {
  uint32_t tokens = sums->tokens, height = heightOf(sums);
  // Pieces of 16 bytes of a token, and tokens that the threads have at a time.
  uint32_t pieces = height / 8, along = WARPGROUP / pieces;
  uint32_t thread = gq_dev_here(gq_dev_thread()) % WARPGROUP;
  uint32_t half = part * STAGE_ROW;
  float alpha = alphaOf(p, t->group);
  uint32_t to = placeOfHalves(staging, thread);
  uint32_t down = thread / pieces, across = thread % pieces;
  uint32_t from = staging + across / 8 * half + down * STAGE_ROW +
                  ((across % 8 ^ down % 8) << 4);
  uint32_t n = t->n + consumer * height + across * 8;
  uint8_t GQ_GLOBAL *out =
      p->out + (t->token + down) * p->outStride + (int64_t)n * 2;
  bool has = p->n % (CONSUMERS * height) == 0 || n < p->n;
  UNROLL for (uint32_t first = 0; first < tokens; first += part) {
    barrierOfConsumer(consumer); // What was staged before has been read.
    stageHalves(p, t, consumer, thread, to, alpha, sums, first, part,
                width ? p->valueType : p->outType, rest, !width);
    barrierOfConsumer(consumer);
    if (width) {
      NO_UNROLL for (uint32_t token = down;
                     token < part && first + token < t->tokens; token += along)
          storePiece(p, t->token + first + token, n,
                     from + (token - down) * STAGE_ROW, width);
      continue;
    }
    UNROLL for (uint32_t i = 0; i < part / along; ++i) {
      gq_dev_u32x4 x = gq_dev_load_shared16(from + i * along * STAGE_ROW);
      if (has && down + first + along * i < t->tokens)
        *(gq_dev_u32x4 GQ_GLOBAL *)out = x;
      out += along * p->outStride;
    }
  }
}

/// The same of an epilogue of f32.
GQ_DEV void storeStagedF32(const Product *p, const Tile *t, uint32_t consumer,
                           uint32_t staging, const TileSums *sums,
                           uint32_t part, uint32_t width) {
  uint32_t tokens = sums->tokens, height = heightOf(sums), pitch = height * 4;
  uint32_t thread = gq_dev_here(gq_dev_thread()) % WARPGROUP;
  uint32_t pieces = height / 8, down = thread / pieces,
           across = thread % pieces;
  uint32_t from = staging + (across * 32 ^ swizzleOfF32(down));
  uint32_t top = t->n + consumer * height;
  float alpha = alphaOf(p, t->group);
  UNROLL for (uint32_t first = 0; first < tokens; first += part) {
    barrierOfConsumer(consumer); // What was staged before has been read.
    stageF32(p, t, consumer, thread, staging, alpha, sums, first, part);
    barrierOfConsumer(consumer);
    NO_UNROLL for (uint32_t token = down;
                   token < part && first + token < t->tokens;
                   token += WARPGROUP / pieces)
        storePiece(p, t->token + first + token, top + across * 8,
                   from + token * pitch, width);
  }
}

/// The same with an epilogue, `part` tokens of 16 bits at a time or
/// `partOfF32` of f32.
GQ_DEV void storeWithEpilogue(const Product *p, Tile t, uint32_t consumer,
                              uint32_t staging, const TileSums *sums,
                              uint32_t part, uint32_t partOfF32) {
  // Kernels without an epilogue share nothing with this.
  t.group = gq_dev_here(t.group);
  if (productSize(p) == 4 && widthOf(p) == 1)
    storeStagedF32(p, &t, consumer, staging, sums, partOfF32, 1);
  else if (productSize(p) == 4)
    storeStagedF32(p, &t, consumer, staging, sums, partOfF32, 2);
  else if (widthOf(p) == 1)
    storeStaged(p, &t, consumer, staging, sums, part, true, 1);
  else
    storeStaged(p, &t, consumer, staging, sums, part, true, 2);
}

/// Quantizes the outputs of a consumer's part of a tile, all of whose products
/// have been staged. `width` is widthOf(p) as a constant.
GQ_DEV void quantizeStaged(const Product *p, const Tile *t, uint32_t consumer,
                           uint32_t thread, uint32_t staging,
                           const TileSums *sums, uint32_t width) {
  uint32_t height = heightOf(sums), pieces = heightOfBlock(p) / 8;
  uint32_t across = height / 8 / pieces, own = thread % across;
  uint32_t block = (t->n + consumer * height) / 8 / pieces + own;
  uint32_t end = tokensWithScales(t, sums->tokens);
  if (block >= numBlocks(p))
    return;
  gq_dev_outer outer = outerOfGroup(p, t->group);
  NO_UNROLL for (uint32_t token = thread / across; token < end;
                 token += WARPGROUP / across) {
    if (token >= t->tokens) {
      storeOutScale(p, t, token, block, 0);
      continue;
    }
    OutBlock out;
    UNROLL for (uint32_t i = 0; i < 4 * width; ++i) if (i < pieces) {
      uint32_t piece = own * pieces + i, x[8];
      loadStaged(p,
                 productSize(p) == 4
                     ? staging + token * (height * 4) +
                           (piece * 32 ^ swizzleOfF32(token))
                     : staging +
                           (piece / 8 * sums->tokens + token) * STAGE_ROW +
                           ((piece % 8 ^ token % 8) << 4),
                 x);
      UNROLL for (uint32_t j = 0; j < 8; j += width)
          putOut(p, &out, (8 * i + j) / width,
                 p->epilogue ? p->epilogue(x[j], x[j | 1]) : x[j]);
    }
    storeOutBlock(p, t, outer, token, block, &out);
  }
}

/// The same as storeStaged where outputs are quantized.
GQ_DEV void storeQuantized(const Product *p, Tile t, uint32_t consumer,
                           uint32_t staging, const TileSums *sums) {
  uint32_t thread = gq_dev_here(gq_dev_thread()) % WARPGROUP;
  // Other kernels share nothing with this.
  t.group = gq_dev_here(t.group);
  float alpha = alphaOf(p, t.group);
  barrierOfConsumer(consumer); // What was staged before has been read.
  if (productSize(p) == 4)
    stageF32(p, &t, consumer, thread, staging, alpha, sums, 0, sums->tokens);
  else
    stageHalves(p, &t, consumer, thread, placeOfHalves(staging, thread), alpha,
                sums, 0, sums->tokens, p->valueType, true, false);
  barrierOfConsumer(consumer);
  if (widthOf(p) == 1)
    quantizeStaged(p, &t, consumer, thread, staging, sums, 1);
  else
    quantizeStaged(p, &t, consumer, thread, staging, sums, 2);
}

/// The same as storeStaged from registers: 32-bit outputs are whole sectors,
/// others are where rows are not aligned. `row` is the lane's first one in the
/// tile.
GQ_DEV void storeDirectly(const Product *p, const Tile *t, uint32_t row,
                          const TileSums *sums) {
  uint32_t token = 2 * (gq_dev_here(gq_dev_lane()) % 4), n = t->n + row;
  uint8_t GQ_GLOBAL *out = outAt(p, t->token + token, n);
  float alpha = alphaOf(p, t->group);
  int64_t left = t->tokens - token, at = 0;
  UNROLL for (uint32_t j = 0; j < sums->tokens / 2; j += 4) {
    UNROLL for (uint32_t i = 0; i < 4 * sums->blocks; ++i) {
      uint32_t down = i / 4 * WGMMA_HEIGHT + i / 2 % 2 * 8;
      if (n + down < p->n && i % 2 < left)
        storeFloat(
            p->outType, out + at + i % 2 * p->outStride + down * outSize(p),
            finish(p, t->group, t->token + token + 2 * j + i % 2, n + down,
                   true, sums->d[i / 4][j + i % 4] * sums->unit * alpha));
    }
    // Addresses are made one after another, not all at once.
    at = gq_dev_here64(at + 8 * p->outStride);
    left -= 8;
  }
}

/// Initializes the barriers of all stages: a stage is full when so many have
/// arrived, and empty when the consumers' warps have.
GQ_DEV void initStages(uint32_t full, uint32_t empty, uint32_t stages,
                       uint32_t arrivals) {
  if (gq_dev_thread() != 0)
    return;
  for (uint32_t i = 0; i < stages; ++i) {
    gq_dev_mbarrier_init(full + 8 * i, arrivals);
    gq_dev_mbarrier_init(empty + 8 * i, CONSUMER_WARPS);
  }
  gq_dev_fence_barriers();
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_TILESPARTS_H
