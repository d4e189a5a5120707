//===- Tokens.h - codes of tokens, copied and dequantized --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp copies the codes of 32 tokens, a step after another, to a ring in
// shared memory. From there each lane reads those of its token and makes of
// them what weights are multiplied with, in the same order of k.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_TOKENS_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_TOKENS_H

#include "runtime_kernels/arch/Sm90.h"
#include "runtime_kernels/kernels/grouped_mm/Weights.h"

enum {
  /// Steps of codes that a warp copies ahead, and what it keeps of a step: 32
  /// tokens of 64 bytes, and two words of scales of each.
  RING = 3,
  RING_CODES = GQ_DEV_WARP * STEP_CODES,
  RING_BYTES = RING_CODES + GQ_DEV_WARP * 8,
};

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// What a producer's warp copies next.
typedef struct Feed {
  const Product *p;
  const Schedule *schedule;
  uint32_t tile, tileStride;
  /// Of the step in the tile; the warp has every `stride`th step of all.
  uint32_t step, steps, stride;
  /// The warp's first token in a tile, and the lane.
  uint32_t warpToken, lane;
  /// There is a tile.
  bool more;
  /// The lane's codes of the tile's first token, and that token's scales. Of
  /// codes, it copies those of every eighth token from `warpToken` + lane / 4
  /// on, up to the last one.
  const uint8_t GQ_GLOBAL *codes, *scales;
  uint32_t lastToken;
  /// In shared memory: the slot to fill, from the ring's beginning.
  uint32_t slot;
} Feed;

/// The first code of a step that is in piece `piece`, 16 bytes, of its row in
/// the ring: in the order in which weights are multiplied.
GQ_DEV uint32_t firstOfPiece(const Product *p, uint32_t step, uint32_t piece) {
  return !isWide(p->aType)  ? step * STEP + piece * 32
         : isWide(p->bType) ? step * (STEP / 2) + piece * 16
                            : step / 2 * STEP + step % 2 * 16 + piece * 32;
}

/// Bytes of a row before the first one of a step, and of its scales before
/// theirs.
GQ_DEV uint32_t codesBefore(const Product *p, uint32_t step) {
  uint32_t k = firstOfPiece(p, step, 0);
  return isWide(p->aType) ? k : k / 2;
}
GQ_DEV uint32_t scalesBefore(const Product *p, uint32_t step) {
  return step / stepsOf128(p->aType) * scalesOf128(p);
}

/// From step f->step of tile t on.
GQ_DEV void aimFeed(Feed *f, Tile t) {
  const Product *p = f->p;
  uint32_t lane = f->lane;
  f->lastToken = (uint32_t)(t.tokens < 128 ? t.tokens - 1 : 127);
  uint32_t own = firstOfPiece(p, f->step, lane % 4);
  f->codes = p->a + t.token * p->aStride + (isWide(p->aType) ? own : own / 2);
  // Tokens beyond the last are those of the last, and their scales those of the
  // group's last 128: padding, of which nothing is stored.
  int64_t row = t.scaleRow + f->warpToken, last = t.scaleRow + t.tokens - 1;
  int64_t block = row / 128 < last / 128 ? row / 128 : last / 128;
  f->scales = p->aScales + scaleRowOffset(p, block * 128 + row % 128 + lane) +
              scalesBefore(p, f->step);
}

GQ_DEV void seekFeed(Feed *f) {
  f->more = f->tile < f->schedule->numTiles;
  if (f->more)
    aimFeed(f, findTile(f->p, f->schedule, f->tile));
}

/// Begins to copy a step into the next slot. Of a row, which is 64 bytes, piece
/// s is at s ^ row / 2 % 4: no bank has two of eight lanes.
GQ_DEV void copyStep(Feed *f, uint32_t ring) {
  const Product *p = f->p;
  uint32_t lane = f->lane;
  bool whole = p->k % STEP == 0;
  bool hasCodes = whole || firstOfPiece(p, f->step, lane % 4) < p->k;
  uint32_t to = ring + f->slot + lane / 4 * 64 + ((lane % 4 ^ lane / 8) << 4);
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    uint32_t token = f->warpToken + lane / 4 + 8 * i;
    token = token < f->lastToken ? token : f->lastToken;
    gq_dev_begin_copy16_l2(hasCodes, to + 512 * i,
                           f->codes + token * p->aStride);
  }
  uint32_t toScales = ring + f->slot + RING_CODES + lane * 4;
  gq_dev_begin_copy4(true, toScales, f->scales);
  if (isNvfp4(p)) // Those of the second 64 k.
    gq_dev_begin_copy4(whole || f->step * STEP + STEP / 2 < p->k,
                       toScales + GQ_DEV_WARP * 4, f->scales + 512);
  uint32_t next = f->step + f->stride;
  f->codes += codesBefore(p, next) - codesBefore(p, f->step);
  f->scales += scalesBefore(p, next) - scalesBefore(p, f->step);
  f->step = next;
}

/// The slot after that which was filled.
GQ_DEV void nextSlot(Feed *f) {
  gq_dev_commit_copies();
  f->slot = f->slot == (RING - 1) * RING_BYTES ? 0 : f->slot + RING_BYTES;
}

/// Copies the next step, if there is one.
GQ_DEV void feed(Feed *f, uint32_t ring, uint32_t *ahead) {
  if (f->more) {
    copyStep(f, ring);
    if (f->step >= f->steps) {
      NO_UNROLL do {
        f->step -= f->steps;
        f->tile += f->tileStride;
      }
      while (f->step >= f->steps)
        ;
      seekFeed(f);
    }
    ++*ahead;
  }
  nextSlot(f);
}

//===----------------------------------------------------------------------===//
// Dequantization
//===----------------------------------------------------------------------===//

/// A token's scales of a step as they were copied: of NVFP4 four and four, else
/// the four of the 128 k that the step is of. Those beyond the last k, padding
/// that may be anything, are 0.
GQ_DEV void loadTokenScales(const Product *p, uint32_t from, uint32_t step,
                            uint32_t scales[2]) {
  UNROLL for (uint32_t i = 0; i < 2; ++i) if (i == 0 || isNvfp4(p)) {
    scales[i] = gq_dev_load_shared4(from + i * GQ_DEV_WARP * 4);
    uint32_t first =
        isNvfp4(p) ? 8 * step + 4 * i : 4 * (step / stepsOf128(p->aType));
    if (p->k % (4 * blockOf(p)) != 0) {
      uint32_t left = p->k / blockOf(p) - first;
      if (left < 4)
        scales[i] &= (1u << 8 * left) - 1;
    }
  }
}

/// The scale of those 16 of a token's codes of stage `half` of a step that
/// lanes q of weights multiply.
GQ_DEV uint32_t scaleOfTokens(const Product *p, const uint32_t scales[2],
                              uint32_t half, uint32_t q) {
  if (isNvfp4(p))
    return gq_dev_nvfp4_half_scale(scales[q / 2], q % 2 * 2 + half);
  uint32_t byte = isWide(p->bType) ? 2 * half + q / 2 : q;
  return gq_dev_mx_bf16_scale(scales[0] >> 8 * byte & 0xff);
}

/// Eight of these codes, the first ones or the other ones, with their scale.
GQ_DEV void dequantizeTokens(const Product *p, const gq_dev_u32x4 codes[4],
                             uint32_t half, uint32_t q, uint32_t eight,
                             uint32_t scale, uint32_t out[4]) {
  if (isWide(p->aType))
    dequantizeEight(p, p->aType, gq_dev_here(codes[q][2 * eight]),
                    codes[q][2 * eight + 1], scale, out);
  else if (isWide(p->bType))
    dequantizeEight(p, p->aType, codes[2 * half + q / 2][q % 2 * 2 + eight], 0,
                    scale, out);
  else
    dequantizeEight(p, p->aType, codes[q][2 * half + eight], 0, scale, out);
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_TOKENS_H
