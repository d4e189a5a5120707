//===- DecodeBlocks.h - decode of all formats but NVFP4 ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 has all codes of 4 and 8 bits, so products are exact; what has a power of
// two or a float32 as its scale has no room in f16. So codes are multiplied
// without their scales, 32 k at a time, which all have the same two scales,
// and these sums are multiplied by them in float32. Weights of 4 bits are
// halves times 2^-14, without a product; what all sums lack is multiplied in at
// the end.
//
// Of 32 k, each lane q of a row of a fragment has 8 consecutive codes. Halves
// of these are in the order of k if weights have 8 bits, else in that in which
// words of e2m1 are taken apart: (0, 2), (4, 6), (1, 3), (5, 7).
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_DECODEBLOCKS_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_DECODEBLOCKS_H

#include "runtime_kernels/codecs/Halves.h"
#include "runtime_kernels/kernels/grouped_mm/DecodeStage.h"

enum {
  PIECE = 32,
  /// Bytes of a piece of a token as halves.
  PIECE_HALVES = 2 * PIECE,
  /// In a stage: the tokens' scales in float32, [blocks][tokens], behind those
  /// of the weights.
  TOKEN_SCALES = SCALES + 2048,
};

/// Pieces of the k of a stage.
GQ_DEV uint32_t piecesOf(const Product *p) { return chunkOf(p) / PIECE; }

/// Eight codes as halves: of 4 bits in `low`, of 8 in both. `natural` says in
/// which order.
GQ_DEV void halvesOf(gqElementType type, bool natural, uint32_t low,
                     uint32_t high, uint32_t out[4]) {
  if (type == GQ_I8) {
    uint32_t x[4];
    gq_dev_nvfp4_half8(low, GQ_DEV_E2M1_HALF_UNIT, x);
    UNROLL for (uint32_t i = 0; i < 4; ++i) out[i] =
        natural
            ? gq_dev_permute(x[i / 2], x[i / 2 + 2], i % 2 ? 0x7632 : 0x5410)
            : x[i];
    return;
  }
  uint32_t first = natural ? low : gq_dev_permute(low, high, 0x6420);
  uint32_t second = natural ? high : gq_dev_permute(low, high, 0x7531);
  out[0] = gq_dev_f16x2_from_fp8(type, first, false);
  out[1] = gq_dev_f16x2_from_fp8(type, first, true);
  out[2] = gq_dev_f16x2_from_fp8(type, second, false);
  out[3] = gq_dev_f16x2_from_fp8(type, second, true);
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Whether all rows of a tile have the same scales.
GQ_DEV bool haveOneScale(const Product *p) {
  return gqFormatGetTraits(p->bFormat).blockRows == HEIGHT &&
         p->pairs != GQ_PAIRS_HALVES;
}

/// Begins to copy a thread's part of the scales of the weights of a stage.
GQ_DEV void copyBlockScales(const Feed *f, uint32_t stage) {
  const Product *p = f->p;
  if (p->format == GQ_FORMAT_NONE)
    return;
  if (p->all.hasScaleOffsets) {
    copyTiledScales(f, stage, piecesOf(p) / 4);
    return;
  }
  // A row's, or those of all rows: [rows][2].
  bool together = haveOneScale(p);
  uint32_t row = producerThread(), n = f->tile.n + row;
  if (n >= p->n || (together && row))
    return;
  const uint8_t GQ_GLOBAL *from =
      weightScales(p, f->tile.group, weightRow(p, n));
  UNROLL for (uint32_t i = 0; i < 2; ++i) {
    uint32_t block = 2 * f->chunk + i;
    gq_dev_begin_copy4(block < p->k / 128, stage + SCALES + row * 8 + i * 4,
                       from + block * 4);
  }
}

/// A thread's part of the tokens of a stage: pieces, and the scales of their
/// blocks as float32.
typedef struct PiecesPart {
  gq_dev_u32x4 codes[2][2];
  uint32_t scales[2];
} PiecesPart;

GQ_DEV void loadPiece(const Feed *f, uint32_t tokens, uint32_t i,
                      PiecesPart *x) {
  const Product *p = f->p;
  uint32_t pieces = piecesOf(p), at = producerThread() + i * PRODUCER_THREADS;
  uint32_t token = at / pieces;
  uint32_t k = f->chunk * chunkOf(p) + at % pieces * PIECE;
  bool exists = at < tokens * pieces && token < f->tile.tokens && k < p->k;
  const uint8_t GQ_GLOBAL *row = p->a + (f->tile.token + token) * p->aStride;
  bool wide = p->aType != GQ_I8;
  x->codes[i][0] = gq_dev_load_streamed16(exists, row + (wide ? k : k / 2));
  if (wide)
    x->codes[i][1] = gq_dev_load_streamed16(exists, row + k + 16);
  x->scales[i] =
      exists ? gq_dev_f32_bits(loadScale(
                   p->format, tokenScales(p, &f->tile, token), k / blockOf(p)))
             : 0;
}

GQ_DEV void storePiece(const Product *p, const PiecesPart *x, uint32_t stage,
                       uint32_t tokens, uint32_t i) {
  uint32_t pieces = piecesOf(p), at = producerThread() + i * PRODUCER_THREADS;
  uint32_t token = at / pieces, piece = at % pieces;
  if (at >= tokens * pieces)
    return;
  UNROLL for (uint32_t eight = 0; eight < 4; ++eight) {
    bool wide = p->aType != GQ_I8;
    uint32_t halves[4];
    halvesOf(p->aType, p->bType != GQ_I8,
             wide ? x->codes[i][eight / 2][eight % 2 * 2]
                  : x->codes[i][0][eight],
             wide ? x->codes[i][eight / 2][eight % 2 * 2 + 1] : 0, halves);
    gq_dev_store_shared16(
        stage + TOKENS + token * TOKEN_ROW + piece * PIECE_HALVES + eight * 16,
        (gq_dev_u32x4){halves[0], halves[1], halves[2], halves[3]});
  }
  uint32_t perBlock = blockOf(p) / PIECE;
  if (p->format != GQ_FORMAT_NONE && piece % perBlock == 0)
    gq_dev_store_shared4(stage + TOKEN_SCALES +
                             (piece / perBlock * tokens + token) * 4,
                         x->scales[i]);
}

/// Whether a thread has two pieces; else it may have none.
GQ_DEV bool hasTwo(const Product *p, uint32_t tokens) {
  return tokens * piecesOf(p) > PRODUCER_THREADS;
}

GQ_DEV PiecesPart loadPieces(const Feed *f, uint32_t tokens) {
  PiecesPart x;
  loadPiece(f, tokens, 0, &x);
  if (hasTwo(f->p, tokens))
    loadPiece(f, tokens, 1, &x);
  return x;
}

GQ_DEV void storePieces(const Product *p, const PiecesPart *x, uint32_t stage,
                        uint32_t tokens) {
  storePiece(p, x, stage, tokens, 0);
  if (hasTwo(p, tokens))
    storePiece(p, x, stage, tokens, 1);
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// A warp's scales of a stage: of rows 8 apart, those of its pieces if they are
/// e8m0, else that of all of them.
typedef struct BlockScales {
  uint32_t x[4];
} BlockScales;

GQ_DEV BlockScales loadBlockScales(const Product *p, uint32_t stage,
                                   uint32_t quad, uint32_t share) {
  uint32_t g = gq_dev_lane() / 4;
  BlockScales s = {{0}};
  if (p->format == GQ_FORMAT_NONE)
    return s;
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    uint32_t row = g + 8 * i, at = stage + SCALES;
    if (!p->all.hasScaleOffsets) {
      at += share / 2 * 4 +
            (haveOneScale(p) ? 0 : (quad * QUAD_HEIGHT + row) * 8);
      s.x[i] = gq_dev_load_shared4(at);
    } else if (p->bType == GQ_I8) {
      s.x[i] = gq_dev_load_shared4(at + share * 512 + row * 16 + quad * 4);
    } else {
      s.x[i] = gq_dev_load_shared2(at + share / 2 * 512 + row * 16 + quad * 4 +
                                   share % 2 * 2);
    }
  }
  return s;
}

/// The value of the e8m0 code in byte `i`. What the kernel waits for is
/// integer arithmetic, of which gq_dev_f32_from_e8m0 has more.
GQ_DEV float scaleOfByte(uint32_t codes, uint32_t i) {
  uint32_t bits = gq_dev_permute(codes, 0, i << 12 | 0x444) >> 1;
  const uint32_t smallest = 0x400000; // of code 0
  float x = gq_dev_f32_from_bits(bits > smallest ? bits : smallest);
  return gq_dev_fma(x, 0.0f, x); // of code 255 NaN
}

/// The scale of row pair member `i` of a piece.
GQ_DEV float blockScale(const Product *p, const BlockScales *s, uint32_t i,
                        uint32_t piece) {
  return p->all.hasScaleOffsets ? scaleOfByte(s->x[i], piece)
                                : gq_dev_f32_from_bits(s->x[i]);
}

/// sums += the warp's part of 32 rows times the tokens of a stage, whose first
/// k is `k`.
GQ_DEV void multiplyPieces(const Product *p, uint32_t stage, uint32_t quad,
                           uint32_t share, uint32_t k, uint32_t tokens,
                           float sums[2][2][4]) {
  uint32_t lane = gq_dev_lane(), g = lane / 4, q = lane % 4;
  bool wide = p->bType != GQ_I8, scaled = p->format != GQ_FORMAT_NONE;
  uint32_t pieces = piecesOf(p) / QUAD;
  uint32_t rows = stage + (quad * QUAD_HEIGHT + g) * ROW;
  uint32_t across = share * SHARE + q * (wide ? 8 : 4);
  uint32_t swizzle = swizzleOf(p, g);
  uint32_t from =
      stage + TOKENS + g * TOKEN_ROW + share * pieces * PIECE_HALVES + q * 16;
  BlockScales scales = loadBlockScales(p, stage, quad, share);
  // One after another: the sums of several do not fit into registers.
  NO_UNROLL for (uint32_t piece = 0; piece < pieces; ++piece) {
    uint32_t number = share * pieces + piece;
    if (p->k % chunkOf(p) != 0 && k + number * PIECE >= p->k)
      break;
    uint32_t x[4][4];
    float scale[4];
    uint32_t own = rows + (across + piece * (wide ? 32 : 16) ^ swizzle);
    UNROLL for (uint32_t i = 0; i < 4; ++i) {
      uint32_t at = own + i * 8 * ROW;
      gq_dev_u32x2 codes = {0, 0};
      if (wide)
        codes = gq_dev_load_shared8(at);
      else
        codes.x = gq_dev_load_shared4(at);
      if (wide)
        halvesOf(p->bType, true, codes.x, codes.y, x[i]);
      else
        gq_dev_e2m1_half8(codes.x, x[i]);
      scale[i] = blockScale(p, &scales, i, piece);
    }
    uint32_t block = number / (blockOf(p) / PIECE);
    UNROLL for (uint32_t j = 0; j < tokens / 8; ++j) {
      gq_dev_u32x4 b =
          gq_dev_load_shared16(from + 8 * j * TOKEN_ROW + piece * PIECE_HALVES);
      gq_dev_u32x2 bits = {0, 0};
      if (scaled)
        bits = gq_dev_load_shared8(stage + TOKEN_SCALES +
                                   (block * tokens + 8 * j + 2 * q) * 4);
      const float ofTokens[2] = {gq_dev_f32_from_bits(bits.x),
                                 gq_dev_f32_from_bits(bits.y)};
      const uint32_t first[2] = {b.x, b.y}, second[2] = {b.z, b.w};
      UNROLL for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t *upper = x[2 * i], *lower = x[2 * i + 1];
        const uint32_t a[2][4] = {{upper[0], lower[0], upper[1], lower[1]},
                                  {upper[2], lower[2], upper[3], lower[3]}};
        float c[4] = {0, 0, 0, 0};
        gq_dev_mma_m16n8k16_f16(c, a[0], first);
        gq_dev_mma_m16n8k16_f16(c, a[1], second);
        UNROLL for (uint32_t n = 0; n < 4; ++n) sums[i][j][n] =
            scaled ? gq_dev_fma(c[n] * ofTokens[n % 2], scale[2 * i + n / 2],
                                sums[i][j][n])
                   : sums[i][j][n] + c[n];
      }
    }
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_DECODEBLOCKS_H
