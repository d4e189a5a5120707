//===- Any.h - the grouped matmul of any format ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For any alignment too. A warp has 16 rows of weights by 8 tokens and goes
// through k block by block, 16 at a time. f16 has all codes, so products are
// exact; the sum of a block is multiplied by the two scales in float32. Lane l
// holds codes 4 * (l % 4) to that + 3 of its rows: which k are multiplied when
// does not matter, as long as both operands agree.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_ANY_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_ANY_H

#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/codecs/E8M0.h"
#include "runtime_kernels/kernels/grouped_mm/Requantize.h"

enum {
  ANY_HEIGHT = GQ_DEV_GROUPED_MM_ANY_HEIGHT,
  ANY_TOKENS = GQ_DEV_GROUPED_MM_FEW_TOKENS,
  /// Outputs of a block of the longest rows.
  ANY_STAGED = 32,
};

_Static_assert(ANY_TOKENS * ANY_STAGED * 4 == GQ_DEV_GROUPED_MM_ANY_STAGED,
               "shared memory");

/// Four codes as f16, the first and the third one first.
GQ_DEV void halvesOfAny(gqElementType type, const uint32_t x[4],
                        uint32_t out[2]) {
  if (type == GQ_I8) {
    const uint32_t unit = 0x74007400; // 2^14
    uint32_t all[4];
    gq_dev_nvfp4_half8(x[0] | x[1] << 4 | x[2] << 8 | x[3] << 12, unit, all);
    out[0] = all[0];
    out[1] = all[2];
    return;
  }
  UNROLL for (uint32_t i = 0; i < 2; ++i) out[i] =
      halvesOfPair(type, x[i] | x[i + 2] << 8);
}

/// Element i of a matrix.
GQ_DEV uint32_t codeOf(gqElementType type, const uint8_t GQ_GLOBAL *codes,
                       int64_t i) {
  return type == GQ_I8 ? codes[i / 2] >> i % 2 * 4 & 15 : codes[i];
}

/// Elements `first`, that + `stride`, and so on, of which there are `count`;
/// zeros for more.
GQ_DEV void loadAny(gqElementType type, const uint8_t GQ_GLOBAL *codes,
                    int64_t first, int64_t stride, uint32_t count,
                    uint32_t out[2]) {
  uint32_t x[4];
  UNROLL for (uint32_t i = 0; i < 4; ++i) x[i] =
      i < count ? codeOf(type, codes, first + i * stride) : 0;
  halvesOfAny(type, x, out);
}

/// The scale of a block of a row whose scales begin there.
GQ_DEV float loadScale(gqFormat format, const uint8_t GQ_GLOBAL *row,
                       uint32_t block) {
  if (format == GQ_FORMAT_NONE)
    return 1.0f;
  gqElementType type = gqFormatGetTraits(format).scaleType;
  if (type == GQ_F32)
    return ((const float GQ_GLOBAL *)row)[block];
  uint8_t code = row[block / 4 * 512 + block % 4];
  return type == GQ_F8E8M0FNU ? gq_dev_f32_from_e8m0(code)
                              : gq_dev_f32_from_e4m3_native(code);
}

/// Where the scales of a token of a tile begin,
GQ_DEV const uint8_t GQ_GLOBAL *tokenScales(const Product *p, const Tile *tile,
                                            int64_t token) {
  return p->aScales + (p->all.hasScaleOffsets
                           ? scaleRowOffset(p, tile->scaleRow + token)
                           : (tile->token + token) * p->aScaleStride);
}

/// and those of row n of weights.
GQ_DEV const uint8_t GQ_GLOBAL *weightScales(const Product *p, uint32_t e,
                                             uint32_t n) {
  if (p->all.hasScaleOffsets)
    return weightScalesOf(p, e) + scaleRowOffset(p, n);
  uint32_t height = (uint32_t)gqFormatGetTraits(p->bFormat).blockRows;
  int64_t rows = (p->n + height - 1) / height, row = e * rows + n / height;
  return p->bScales + row * (p->k / blockOf(p)) * (int64_t)sizeof(float);
}

/// Rows of weights of a tile: those of a block of outputs, if there are blocks.
GQ_DEV uint32_t heightOfAny(const Product *p) {
  return quantizes(p) ? heightOfBlock(p) : ANY_HEIGHT;
}

/// Stores output number `column` of a tile's token, which would be x without an
/// epilogue, or of a pair x and y; or stages it, [ANY_TOKENS][ANY_STAGED].
GQ_DEV void leaveAny(const Product *p, const Tile *tile, uint32_t token,
                     uint32_t column, float x, float y,
                     uint32_t GQ_SHARED *staged) {
  if (quantizes(p))
    staged[token * ANY_STAGED + column % (heightOfBlock(p) / widthOf(p))] =
        outBits(p, x, y);
  else
    storeOut(p, outAt(p, tile->token + token, column), x, y);
}

/// Stores the outputs of a fragment's rows `n` and the eighth below, by tokens
/// `t` and t + 1 of a tile, of which `x` are the sums times alpha. Rows 2j and
/// 2j + 1, a pair, are those of lanes that differ in bit 2: each of the two
/// lanes has the pair of one token. All lanes of the warp take part.
GQ_DEV void storePairs(const Product *p, const Tile *tile, const uint32_t n[2],
                       uint32_t t, const float x[4],
                       uint32_t GQ_SHARED *staged) {
  bool second = gq_dev_lane() & 4;
  uint32_t own = t + second;
  UNROLL for (uint32_t i = 0; i < 2; ++i) {
    float y[2];
    UNROLL for (uint32_t j = 0; j < 2; ++j) y[j] =
        finish(p, tile->group, tile->token + t + j, n[i],
               n[i] < p->n && t + j < tile->tokens, x[2 * i + j]);
    float other = gq_dev_f32_from_bits(
        gq_dev_shuffle_xor(gq_dev_f32_bits(second ? y[0] : y[1]), 4));
    if (n[i] < p->n && own < tile->tokens)
      leaveAny(p, tile, own, n[i] / 2, second ? other : y[0],
               second ? y[1] : other, staged);
  }
}

/// 16 rows of weights of a tile, from row `top` on.
GQ_DEV void multiplyAnyRows(const Product *p, const Tile *tile, uint32_t top,
                            uint32_t GQ_SHARED *staged) {
  uint32_t lane = gq_dev_lane(), g = lane / 4, q = lane % 4;
  // Rows beyond the last are computed from the last one, and not stored.
  uint32_t n[2];
  int64_t weights[2];
  const uint8_t GQ_GLOBAL *scales[2];
  const uint8_t GQ_GLOBAL *matrix = weightsOf(p, tile->group);
  int64_t stride = p->bMajor == GQ_MAJOR_K ? 1 : p->n;
  UNROLL for (uint32_t i = 0; i < 2; ++i) {
    n[i] = top + g + 8 * i;
    uint32_t row = weightRow(p, n[i] < p->n ? n[i] : p->n - 1);
    weights[i] = p->bMajor == GQ_MAJOR_K ? (int64_t)row * p->k : row;
    scales[i] = weightScales(p, tile->group, row);
  }
  int64_t last = tile->tokens - 1, token = g < last ? g : last;
  const uint8_t GQ_GLOBAL *row = p->a + (tile->token + token) * p->aStride;
  const uint8_t GQ_GLOBAL *ofTokens[2];
  UNROLL for (uint32_t i = 0; i < 2; ++i) {
    uint32_t t = 2 * q + i;
    ofTokens[i] = tokenScales(p, tile, t < last ? t : last);
  }
  float sums[4] = {0, 0, 0, 0};
  uint32_t size = blockOf(p);
  NO_UNROLL for (uint32_t first = 0, block = 0; first < p->k;
                 first += size, ++block) {
    float c[4] = {0, 0, 0, 0};
    NO_UNROLL for (uint32_t k = first; k < first + size; k += 16) {
      uint32_t own = k + 4 * q, left = own < p->k ? p->k - own : 0;
      uint32_t x[2][2], y[2];
      UNROLL for (int i = 0; i < 2; ++i) loadAny(
          p->bType, matrix, weights[i] + own * stride, stride, left, x[i]);
      loadAny(p->aType, row, own, 1, left, y);
      const uint32_t a[4] = {x[0][0], x[1][0], x[0][1], x[1][1]};
      gq_dev_mma_m16n8k16_f16(c, a, y);
    }
    UNROLL for (uint32_t i = 0; i < 4; ++i) {
      float scale = loadScale(p->format, ofTokens[i % 2], block);
      sums[i] = gq_dev_fma(
          c[i] * scale, loadScale(p->bFormat, scales[i / 2], block), sums[i]);
    }
  }
  float alpha = alphaOf(p, tile->group);
  if (widthOf(p) == 2) {
    const float x[4] = {sums[0] * alpha, sums[1] * alpha, sums[2] * alpha,
                        sums[3] * alpha};
    storePairs(p, tile, n, 2 * q, x, staged);
    return;
  }
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    uint32_t t = 2 * q + i % 2;
    if (n[i / 2] < p->n && t < tile->tokens)
      leaveAny(p, tile, t, n[i / 2],
               finish(p, tile->group, tile->token + t, n[i / 2], true,
                      sums[i] * alpha),
               0, staged);
  }
}

/// Quantizes the outputs of a tile, a block of each token, from `staged`. All
/// lanes of the warp take part.
GQ_DEV void quantizeAny(const Product *p, const Tile *tile,
                        const uint32_t GQ_SHARED *staged) {
  uint32_t end = tokensWithScales(tile, ANY_TOKENS);
  uint32_t number = tile->n / heightOfBlock(p);
  gq_dev_outer outer = outerOfGroup(p, tile->group);
  gq_dev_warp_barrier();
  NO_UNROLL for (uint32_t token = gq_dev_lane(); token < end;
                 token += GQ_DEV_WARP) {
    if (token >= tile->tokens) {
      storeOutScale(p, tile, token, number, 0);
      continue;
    }
    OutBlock out;
    UNROLL for (uint32_t i = 0; i < ANY_STAGED;
                ++i) if (i < unitsOfBlock(p) * GQ_DEV_UNIT)
        putOut(p, &out, i, staged[token * ANY_STAGED + i]);
    storeOutBlock(p, tile, outer, token, number, &out);
  }
  gq_dev_warp_barrier();
}

/// The tiles of the CTA, `table` being as makeSchedule needs it; where outputs
/// are quantized, GQ_DEV_GROUPED_MM_ANY_STAGED bytes for each warp follow. All
/// threads, a constant number, take part.
GQ_DEV void multiplyAny(const Product *p, uint32_t threads,
                        uint32_t GQ_SHARED *table) {
  Schedule s = makeSchedule(p, ANY_TOKENS, heightOfAny(p), threads, table);
  uint32_t warps = threads / GQ_DEV_WARP, warp = gq_dev_thread() / GQ_DEV_WARP;
  uint32_t GQ_SHARED *staged =
      table + threads + GQ_DEV_WARP + warp * (ANY_TOKENS * ANY_STAGED);
  uint64_t stride = (uint64_t)gq_dev_num_ctas() * warps;
  uint64_t index = (uint64_t)gq_dev_cta() * warps + warp;
  NO_UNROLL for (; index < s.numTiles; index += stride) {
    Tile tile = findTile(p, &s, (uint32_t)index);
    if (!quantizes(p)) {
      multiplyAnyRows(p, &tile, tile.n, staged);
      continue;
    }
    NO_UNROLL for (uint32_t top = 0; top < heightOfBlock(p); top += ANY_HEIGHT)
        multiplyAnyRows(p, &tile, tile.n + top, staged);
    quantizeAny(p, &tile, staged);
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_ANY_H
