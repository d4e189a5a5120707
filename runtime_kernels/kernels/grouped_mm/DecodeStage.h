//===- DecodeStage.h - the stages of decode ----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage is what the consumers multiply at a time: 256 bytes of each of 128
// rows of weights as they are, so 512 k of codes of 4 bits and 256 of 8; their
// scales; and the same k of 8 or 16 tokens as halves. The four warps of a
// quad have 64 bytes each of a row.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_DECODESTAGE_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_DECODESTAGE_H

#include "runtime_kernels/arch/Sm90.h"
#include "runtime_kernels/kernels/grouped_mm/Any.h"

enum {
  THREADS = GQ_DEV_GROUPED_MM_DECODE_THREADS,
  HEIGHT = GQ_DEV_GROUPED_MM_DECODE_HEIGHT,
  QUAD = 4,
  QUADS = 4,
  QUAD_THREADS = QUAD * GQ_DEV_WARP,
  CONSUMER_WARPS = QUADS * QUAD,
  PRODUCER_WARPS = 4,
  PRODUCER_THREADS = PRODUCER_WARPS * GQ_DEV_WARP,
  /// Rows of weights of a quad.
  QUAD_HEIGHT = HEIGHT / QUADS,
  /// Bytes of a row of weights: of all warps of a quad and of one.
  CHUNK = 256,
  SHARE = CHUNK / QUAD,
  /// Bytes from one row of a stage to the next: of weights and of tokens. Eight
  /// lanes of a load of 16 bytes have two rows, which must not be in the same
  /// banks.
  ROW = GQ_DEV_GROUPED_MM_DECODE_ROW,
  TOKEN_ROW = GQ_DEV_GROUPED_MM_DECODE_TOKEN_ROW,
  /// In a stage: scales and tokens.
  SCALES = HEIGHT * ROW,
  TOKENS = GQ_DEV_GROUPED_MM_DECODE_WEIGHTS,
};

_Static_assert(THREADS == (CONSUMER_WARPS + PRODUCER_WARPS) * GQ_DEV_WARP,
               "roles");
_Static_assert(HEIGHT == GQ_DEV_TILE_ROWS, "a tile of scales");
_Static_assert(ROW == CHUNK, "swizzled");
_Static_assert(TOKEN_ROW % 128 == 64 && TOKEN_ROW >= 4 * CHUNK, "banks");

/// With what the place of 16 bytes of row `row` is combined, so that what a
/// load of eight rows reads at a time is in different banks: 16 bytes a lane, 4
/// or 8.
GQ_DEV uint32_t swizzleOf(const Product *p, uint32_t row) {
  return p->format == GQ_FORMAT_NVFP4 ? row % 2 * 64
         : p->bType == GQ_I8          ? row % 8 * 16
                                      : row % 4 * 32;
}

/// k of a stage.
GQ_DEV uint32_t chunkOf(const Product *p) {
  return p->bType == GQ_I8 ? 2 * CHUNK : CHUNK;
}

/// What the producer copies and stores next. Tiles of the same weights follow
/// each other, so that those of many tokens have them from L2.
typedef struct Feed {
  const Product *p;
  const Schedule *schedule;
  uint32_t index, end;
  Tile tile;
  /// Tokens of the tile's group before it.
  int64_t before;
  uint32_t chunk, chunks;
} Feed;

GQ_DEV bool hasNext(const Feed *f) { return f->index < f->end; }

GQ_DEV void seekFeed(Feed *f) {
  f->tile = findTile(f->p, f->schedule, f->index);
  f->before = f->tile.token - gq_dev_group_begin(f->p->all, f->tile.group);
}

GQ_DEV void skipTokens(Feed *f, int64_t tokens) {
  f->tile.token += tokens;
  f->tile.scaleRow += tokens;
  f->tile.tokens -= tokens;
  f->before += tokens;
}

GQ_DEV void skipChunk(Feed *f) {
  if (++f->chunk < f->chunks)
    return;
  f->chunk = 0;
  if (++f->index == f->end)
    return;
  if (f->tile.tokens > f->schedule->tokens) {
    skipTokens(f, f->schedule->tokens);
  } else if (f->tile.n + HEIGHT < f->p->n) {
    f->tile.n += HEIGHT;
    skipTokens(f, -f->before);
  } else {
    seekFeed(f);
  }
}

/// The number of this thread among those of the producer.
GQ_DEV uint32_t producerThread(void) {
  return gq_dev_thread() - CONSUMER_WARPS * GQ_DEV_WARP;
}

/// Begins to copy a thread's part of the weights of a stage: of rows, 16 lanes
/// have 256 bytes; rows and k beyond the last are left out.
GQ_DEV void copyWeights(const Feed *f, uint32_t stage) {
  const Product *p = f->p;
  uint32_t pitch = weightPitch(p), row = producerThread() / 16;
  uint32_t across = producerThread() % 16 * 16,
           code = f->chunk * CHUNK + across;
  const uint8_t GQ_GLOBAL *codes =
      weightsOf(p, f->tile.group) +
      (int64_t)weightRow(p, f->tile.n + row) * pitch + code;
  uint32_t to = stage + row * ROW + (across ^ swizzleOf(p, row));
  bool exists = pitch % CHUNK == 0 || code < pitch;
  UNROLL for (uint32_t i = 0; i < HEIGHT;
              i += PRODUCER_THREADS /
                   16) if (exists &&
                           (p->n % HEIGHT == 0 || f->tile.n + row + i < p->n))
      gq_dev_begin_copy16_l2(true, to + i * ROW,
                             codes + (int64_t)weightRowsBelow(p, i) * pitch);
}

/// The same of their scales in tiles of 512 bytes, `tiles` of a chunk. Of
/// halves, rows are from two places: a thread has one.
GQ_DEV void copyTiledScales(const Feed *f, uint32_t stage, uint32_t tiles) {
  const Product *p = f->p;
  uint32_t size = scaleColumns(p) * HEIGHT, chunk = tiles * 512;
  if (p->pairs == GQ_PAIRS_HALVES) {
    uint32_t row = producerThread(), n = f->tile.n + row;
    const uint8_t GQ_GLOBAL *scales =
        weightScalesOf(p, f->tile.group) + scaleRowOffset(p, weightRow(p, n));
    uint32_t to = stage + SCALES + row % 32 * 16 + row / 32 * 4;
    UNROLL for (uint32_t i = 0; i < TOKENS - SCALES; i += 512) if (i < chunk)
        gq_dev_begin_copy4(n < p->n && f->chunk * chunk + i < size, to + i,
                           scales + f->chunk * chunk + i);
    return;
  }
  uint32_t first = producerThread() * 16, scale = f->chunk * chunk + first;
  const uint8_t GQ_GLOBAL *scales =
      weightScalesOf(p, f->tile.group) + scaleRowOffset(p, f->tile.n) + scale;
  UNROLL for (uint32_t i = 0; i < TOKENS - SCALES;
              i += PRODUCER_THREADS *
                   16) if (first + i < chunk &&
                           (size % chunk == 0 || scale + i < size))
      gq_dev_begin_copy16_l2(true, stage + SCALES + first + i, scales + i);
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_DECODESTAGE_H
