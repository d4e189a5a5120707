//===- Any.h - the grouped matmul of any alignment ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp has 16 rows of weights by 8 tokens and goes through k, 16 at a time,
// which is a block of either operand. Lane l holds codes 4 * (l % 4) to that
// + 3 of its rows: which k of a block are multiplied when does not matter, as
// long as both operands agree.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_ANY_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_ANY_H

#include "runtime_kernels/kernels/grouped_mm/Schedule.h"

enum {
  ANY_HEIGHT = GQ_DEV_GROUPED_MM_ANY_HEIGHT,
  ANY_TOKENS = GQ_DEV_GROUPED_MM_FEW_TOKENS,
};

/// Four codes, times 2^-14 and their scale, as f16 of k 0 and 2, 1 and 3.
GQ_DEV void loadAny(const uint8_t GQ_GLOBAL *codes,
                    const uint8_t GQ_GLOBAL *scale, uint32_t out[2]) {
  uint32_t x[4];
  gq_dev_nvfp4_half8(codes[0] | (uint32_t)codes[1] << 8,
                     gq_dev_nvfp4_half_scale(*scale, 0), x);
  out[0] = x[0];
  out[1] = x[2];
}

/// The tiles of the CTA, `table` being as makeSchedule needs it. All threads, a
/// constant number, take part.
GQ_DEV void multiplyAny(const Product *p, uint32_t threads,
                        uint32_t GQ_SHARED *table) {
  Schedule s = makeSchedule(p, ANY_TOKENS, ANY_HEIGHT, threads, table);
  uint32_t lane = gq_dev_lane(), g = lane / 4, q = lane % 4;
  uint32_t warps = threads / GQ_DEV_WARP;
  uint64_t stride = (uint64_t)gq_dev_num_ctas() * warps;
  uint64_t index =
      (uint64_t)gq_dev_cta() * warps + gq_dev_thread() / GQ_DEV_WARP;
  NO_UNROLL for (; index < s.numTiles; index += stride) {
    Tile tile = findTile(p, &s, (uint32_t)index);
    // Rows beyond the last are computed from the last one, and not stored.
    const uint8_t GQ_GLOBAL *codes[3], *scales[3];
    UNROLL for (uint32_t i = 0; i < 2; ++i) {
      uint32_t n = tile.n + g + 8 * i;
      n = n < p->n ? n : p->n - 1;
      codes[i] = weightsOf(p, tile.group) + (int64_t)n * (p->k / 2);
      scales[i] = weightScalesOf(p, tile.group) + scaleRowOffset(p, n);
    }
    int64_t token = g < tile.tokens ? g : tile.tokens - 1;
    codes[2] = p->a + (tile.token + token) * p->aStride;
    scales[2] = p->aScales + scaleRowOffset(p, tile.scaleRow + token);
    float c[4] = {0, 0, 0, 0};
    NO_UNROLL for (uint32_t block = 0; block < p->k / 16; ++block) {
      uint32_t x[3][2];
      UNROLL for (int i = 0; i < 3; ++i)
          loadAny(codes[i] + block * 8 + q * 2,
                  scales[i] + block / 4 * 512 + block % 4, x[i]);
      const uint32_t a[4] = {x[0][0], x[1][0], x[0][1], x[1][1]};
      gq_dev_mma_m16n8k16_f16(c, a, x[2]);
    }
    float alpha = alphaOf(p, tile.group);
    UNROLL for (uint32_t i = 0; i < 4; ++i) {
      uint32_t n = tile.n + g + i / 2 * 8, t = 2 * q + i % 2;
      if (n < p->n && t < tile.tokens)
        storeOut(p, outAt(p, tile.token + t, n), scaledSum(c[i], alpha));
    }
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_ANY_H
