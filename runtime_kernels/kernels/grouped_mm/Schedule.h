//===- Schedule.h - the work of a grouped matmul, tile by tile ---*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is some rows of weights by some tokens of a group. Tiles are numbered
// group by group. Who has which tile follows from its number alone: nothing is
// handed out at run time.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_SCHEDULE_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_SCHEDULE_H

#include "runtime_kernels/groups/Faults.h"
#include "runtime_kernels/kernels/Products.h"

/// The operands, and the groups they describe.
typedef struct Product {
  GQ_DEV_FIELDS(GQ_GROUPED_MM_OPERANDS)
  gq_dev_groups all;
} Product;

/// What initializes a Product from the parameters of a device function.
#define PRODUCT_INITIALIZERS                                                   \
  GQ_DEV_INITIALIZERS(GQ_GROUPED_MM_OPERANDS),                                 \
      .all = {                                                                 \
          .offsets = offsets,                                                  \
          .scaleOffsets = scaleOffsets,                                        \
          .numOffsets = numOffsets,                                            \
          .numGroups = groups,                                                 \
          .numRows = rows,                                                     \
          .scaleRows = scaleRows,                                              \
          .wide = offsetBits == 64,                                            \
          .hasScaleOffsets = gq_dev_has_tiled_scales((gqFormat)format),        \
  }

/// k of a block, which both operands agree on; without a format, those that are
/// added up by matrix units, which cut off, before they are added to the rest.
GQ_DEV uint32_t blockOf(const Product *p) {
  return p->format == GQ_FORMAT_NONE
             ? 32
             : (uint32_t)gqFormatGetTraits(p->format).blockColumns;
}

/// Columns of a tiled scale buffer.
GQ_DEV uint32_t scaleColumns(const Product *p) {
  return (p->k / blockOf(p) + 3) / 4 * 4;
}

/// Of the scale at `row` and column 0 of a tiled buffer.
GQ_DEV int64_t scaleRowOffset(const Product *p, int64_t row) {
  return gq_dev_tile128x4_offset(row, 0, scaleColumns(p));
}

/// Bytes of a row of weights.
GQ_DEV uint32_t weightPitch(const Product *p) {
  return p->bType == GQ_I8 ? p->k / 2 : p->k;
}

/// The first weight and the first tiled scale of matrix e.
GQ_DEV const uint8_t GQ_GLOBAL *weightsOf(const Product *p, uint32_t e) {
  return p->b + (int64_t)e * p->n * weightPitch(p);
}
GQ_DEV const uint8_t GQ_GLOBAL *weightScalesOf(const Product *p, uint32_t e) {
  return p->bScales +
         (int64_t)e * gq_dev_up(p->n, GQ_DEV_TILE_ROWS) * scaleColumns(p);
}

GQ_DEV float alphaOf(const Product *p, uint32_t e) {
  return p->alpha ? p->alpha[e] : 1.0f;
}

GQ_DEV float biasAt(const Product *p, int64_t i) {
  uint16_t half = ((const uint16_t GQ_GLOBAL *)p->bias)[i];
  return p->biasType == GQ_F32    ? ((const float GQ_GLOBAL *)p->bias)[i]
         : p->biasType == GQ_BF16 ? gq_dev_f32_from_bits((uint32_t)half << 16)
                                  : gq_dev_f32_from_f16_native(half);
}

/// The row of weights that row n of tiles is. Halves are computed as pairs next
/// to each other.
GQ_DEV uint32_t weightRow(const Product *p, uint32_t n) {
  return p->pairs == GQ_PAIRS_HALVES ? n / 2 + n % 2 * (p->n / 2) : n;
}

/// Rows of weights from one of tiles to that `down` rows below, an even number.
GQ_DEV uint32_t weightRowsBelow(const Product *p, uint32_t down) {
  return p->pairs == GQ_PAIRS_HALVES ? down / 2 : down;
}

/// What an output of row n of tiles is if the sum times alpha[e] is x. If there
/// is no such output, nothing is read.
GQ_DEV float finish(const Product *p, uint32_t e, int64_t row, uint32_t n,
                    bool exists, float x) {
  int64_t at = (int64_t)e * p->n + weightRow(p, n);
  if (p->rowScales && exists)
    x *= p->rowScales[row];
  if (p->columnScales && exists)
    x *= p->columnScales[at];
  if (p->bias && exists)
    x += biasAt(p, at);
  return x;
}

GQ_DEV uint32_t outSize(const Product *p) { return sizeOfFloat(p->outType); }

/// Whether outputs are quantized.
GQ_DEV bool quantizes(const Product *p) {
  return p->outFormat != GQ_FORMAT_NONE;
}

/// Bytes of what an epilogue, or a quantization, is of.
GQ_DEV uint32_t productSize(const Product *p) {
  return p->epilogue || quantizes(p) ? sizeOfFloat(p->valueType) : 2;
}

/// Rows of weights, which are columns of the product, of an output.
GQ_DEV uint32_t widthOf(const Product *p) {
  return p->pairs == GQ_PAIRS_NONE ? 1 : 2;
}

/// The bits of an output that would be x without an epilogue; of a pair, of
/// that of those that would be x and y.
GQ_DEV uint32_t outBits(const Product *p, float x, float y) {
  if (p->valueType == GQ_F32) {
    uint32_t bits = gq_dev_f32_bits(x);
    return p->epilogue ? p->epilogue(bits, gq_dev_f32_bits(y)) : bits;
  }
  uint32_t bits = gq_dev_round_pair(p->valueType, x, y);
  return p->epilogue ? p->epilogue(bits & 0xffff, bits >> 16) : bits & 0xffff;
}

/// Stores such an output.
GQ_DEV void storeOut(const Product *p, uint8_t GQ_GLOBAL *at, float x,
                     float y) {
  if (p->epilogue)
    storeBits(p->outType, at, outBits(p, x, y));
  else
    storeFloat(p->outType, at, x);
}

/// Where an output is.
GQ_DEV uint8_t GQ_GLOBAL *outAt(const Product *p, int64_t row,
                                uint32_t column) {
  return p->out + row * p->outStride + (int64_t)column * outSize(p);
}

/// Whether kernels other than `any` can run: constant except for the addresses.
GQ_DEV bool isAligned(const Product *p) {
  uint64_t codes = (uint64_t)(uintptr_t)p->a | (uint64_t)(uintptr_t)p->b |
                   (uint64_t)p->aStride;
  uint64_t tiles = p->all.hasScaleOffsets ? (uint64_t)(uintptr_t)p->aScales |
                                                (uint64_t)(uintptr_t)p->bScales
                                          : 0;
  return p->bMajor == GQ_MAJOR_K && p->k && p->k % 32 == 0 &&
         (codes | tiles) % 16 == 0;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The tiles as a CTA knows them.
typedef struct Schedule {
  /// Tokens and rows of weights of a tile, constants, and how many tiles are
  /// below each other in n.
  uint32_t tokens, height, tilesDown;
  /// Groups of a thread.
  uint32_t share;
  uint32_t numThreads;
  uint32_t numTiles;
  /// [numThreads] the tiles of all groups before those of each thread.
  const uint32_t GQ_SHARED *before;
} Schedule;

/// Group e, of no rows if it is skipped.
GQ_DEV gq_dev_group loadUsed(const Product *p, uint32_t e, uint32_t *faults) {
  gq_dev_group group = gq_dev_load_group(&p->all, e);
  *faults = gq_dev_check_group(&p->all, e, &group);
  return group;
}

/// Tiles beyond this number are left out: only groups that overlap have as
/// many.
#define MAX_TILES INT32_MAX

GQ_DEV uint32_t addTiles(uint32_t a, uint64_t b) {
  uint64_t sum = a + b;
  return sum < MAX_TILES ? (uint32_t)sum : MAX_TILES;
}

/// The tiles of a group: side by side along its tokens, and in total.
GQ_DEV uint64_t tilesAlong(const Schedule *s, gq_dev_group group) {
  return ((uint64_t)group.rows + s->tokens - 1) / s->tokens;
}
GQ_DEV uint64_t tilesOf(const Schedule *s, gq_dev_group group) {
  return tilesAlong(s, group) * s->tilesDown;
}

/// Groups of each of so many threads.
GQ_DEV uint32_t shareOf(const Product *p, uint32_t threads) {
  return (p->groups + threads - 1) / threads;
}

/// Counts tiles of `tokens` tokens and `height` rows of weights, in `table`,
/// [threads + 32], `threads` a constant. All threads of the CTA take part, and
/// wait for each other. CTA 0 reports faults.
GQ_DEV Schedule makeSchedule(const Product *p, uint32_t tokens, uint32_t height,
                             uint32_t threads, uint32_t GQ_SHARED *table) {
  uint32_t thread = gq_dev_thread(), lane = thread % GQ_DEV_WARP;
  Schedule s = {.tokens = tokens,
                .height = height,
                .tilesDown = (p->n + height - 1) / height,
                .share = shareOf(p, threads),
                .numThreads = threads,
                .before = table};
  uint32_t own = 0, allFaults = 0;
  NO_UNROLL for (uint32_t i = 0; i < s.share; ++i) {
    uint32_t e = thread * s.share + i, faults;
    if (e >= p->groups)
      break;
    gq_dev_group group = loadUsed(p, e, &faults);
    own = addTiles(own, tilesOf(&s, group));
    allFaults |= faults | gq_dev_check_overlap(&p->all, e, group);
  }
  if (allFaults && gq_dev_cta() == 0)
    gq_dev_atomic_or(p->status, allFaults);
  uint32_t sum = own;
  UNROLL for (uint32_t distance = 1; distance < GQ_DEV_WARP; distance *= 2) {
    uint32_t below = gq_dev_shuffle(sum, lane - distance);
    sum = addTiles(sum, lane >= distance ? below : 0);
  }
  uint32_t GQ_SHARED *warpSums = table + threads;
  uint32_t before = gq_dev_shuffle(sum, lane - 1);
  before = lane ? before : 0;
  if (lane == GQ_DEV_WARP - 1)
    warpSums[thread / GQ_DEV_WARP] = sum;
  gq_dev_barrier();
  NO_UNROLL for (uint32_t warp = 0; warp < threads / GQ_DEV_WARP; ++warp) {
    before = addTiles(before, warp < thread / GQ_DEV_WARP ? warpSums[warp] : 0);
    s.numTiles = addTiles(s.numTiles, warpSums[warp]);
  }
  table[thread] = before;
  gq_dev_barrier();
  return s;
}

/// A tile: its group, its first row of weights, its first token in the matrix
/// and in the scales, and how many tokens of the group there are from there.
typedef struct Tile {
  uint32_t group, n;
  int64_t token, scaleRow;
  int64_t tokens;
} Tile;

/// For how many lanes of the warp it is true.
GQ_DEV uint32_t countLanes(bool predicate) {
  return (uint32_t)__builtin_popcount(gq_dev_ballot(predicate));
}

/// The group of tile number `*index` < numTiles, which becomes its number in
/// it, and that group's number. All lanes of the warp take part.
GQ_DEV gq_dev_group findGroup(const Product *p, const Schedule *s,
                              uint32_t *index, uint32_t *number) {
  // The last thread whose groups begin at or before it: all lanes look, first
  // at one of each part of the threads, then at those of a part.
  const uint32_t part = s->numThreads / GQ_DEV_WARP;
  uint32_t lane = gq_dev_lane();
  bool begun = s->before[lane * part] <= *index;
  uint32_t low = (countLanes(begun) - 1) * part;
  begun = lane < part && s->before[low + lane % part] <= *index;
  low += countLanes(begun) - 1;
  *index -= s->before[low];
  uint32_t e = low * s->share, faults;
  gq_dev_group group = loadUsed(p, e, &faults);
  NO_UNROLL while (*index >= tilesOf(s, group) && e + 1 < p->groups) {
    *index -= (uint32_t)tilesOf(s, group);
    group = loadUsed(p, ++e, &faults);
  }
  *number = e;
  return group;
}

/// Tile number `index` < numTiles. Those for the same weights follow each
/// other, so that CTAs that run together share the weights.
GQ_DEV Tile findTile(const Product *p, const Schedule *s, uint32_t index) {
  uint32_t e;
  gq_dev_group group = findGroup(p, s, &index, &e);
  uint32_t along = (uint32_t)tilesAlong(s, group), down = index / along;
  int64_t first = (int64_t)(index - down * along) * s->tokens;
  return (Tile){
      .group = e,
      .n = down * s->height,
      .token = group.begin + first,
      .scaleRow = (p->all.hasScaleOffsets ? gq_dev_group_scale_begin(p->all, e)
                                          : group.begin) +
                  first,
      .tokens = group.rows - first,
  };
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_SCHEDULE_H
