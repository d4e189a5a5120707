//===- DecodeNvfp4.h - decode of NVFP4 ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights and tokens become halves that have their scales in them, in the order
// of k that Weights.h describes. Of a stage, each warp has a step.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_DECODENVFP4_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_DECODENVFP4_H

#include "runtime_kernels/kernels/grouped_mm/DecodeStage.h"
#include "runtime_kernels/kernels/grouped_mm/Weights.h"

enum { STEP_HALVES = STEP * 2 };

_Static_assert(SHARE == STEP_CODES, "a step");

/// A thread's part of the tokens of a stage: of token 8 * i and some, 32
/// codes, as many as a lane of a fragment has of a step, and their two scales.
/// Eight lanes have those of two tokens, so that what they store is in
/// different banks.
typedef struct Nvfp4Part {
  gq_dev_u32x4 codes[2];
  uint32_t scales[2];
} Nvfp4Part;

/// The token, and which 32 of the k of a stage.
GQ_DEV uint32_t tokenOfThread(uint32_t thread) {
  return thread / 32 * 2 + thread / 4 % 2;
}
GQ_DEV uint32_t partOfThread(uint32_t thread) {
  return thread % 32 / 8 * 4 + thread % 4;
}

GQ_DEV Nvfp4Part loadNvfp4(const Feed *f, uint32_t tokens) {
  const Product *p = f->p;
  uint32_t thread = producerThread();
  uint32_t k = f->chunk * (QUAD * STEP) + partOfThread(thread) * 32;
  Nvfp4Part x;
  UNROLL for (uint32_t i = 0; i < tokens / 8; ++i) {
    uint32_t token = tokenOfThread(thread) + 8 * i;
    bool exists = hasNext(f) && token < f->tile.tokens && k < p->k;
    x.codes[i] = gq_dev_load_streamed16(
        exists, p->a + (f->tile.token + token) * p->aStride + k / 2);
    x.scales[i] = gq_dev_load_streamed2(
        exists, p->aScales + scaleRowOffset(p, f->tile.scaleRow + token) +
                    k / 64 * 512 + k % 64 / 16);
  }
  return x;
}

GQ_DEV void storeNvfp4(const Nvfp4Part *x, uint32_t stage, uint32_t tokens) {
  uint32_t thread = producerThread();
  uint32_t part = partOfThread(thread);
  uint32_t to = stage + TOKENS + tokenOfThread(thread) * TOKEN_ROW +
                part / 4 * STEP_HALVES + part % 4 * 16;
  UNROLL for (uint32_t i = 0; i < tokens / 8; ++i)
      UNROLL for (uint32_t word = 0; word < 4; ++word) {
    uint32_t halves[4];
    gq_dev_nvfp4_half8(x->codes[i][word],
                       gq_dev_nvfp4_half_scale(x->scales[i], word / 2), halves);
    gq_dev_store_shared16(
        to + 8 * i * TOKEN_ROW + word * 64,
        (gq_dev_u32x4){halves[0], halves[1], halves[2], halves[3]});
  }
}

/// sums += the warp's step of 32 rows times the tokens of a stage, whose first
/// k is `k`.
GQ_DEV void multiplyNvfp4(const Product *p, uint32_t stage, uint32_t quad,
                          uint32_t share, uint32_t k, uint32_t tokens,
                          float sums[2][2][4]) {
  uint32_t lane = gq_dev_lane(), g = lane / 4, q = lane % 4;
  uint32_t rows = stage + (quad * QUAD_HEIGHT + g) * ROW +
                  (share * SHARE + q * 16 ^ swizzleOf(p, g));
  uint32_t scales = stage + SCALES + share * STEP_SCALES + q / 2 * 512 +
                    g * 16 + quad * 4 + q % 2 * 2;
  uint32_t from = stage + TOKENS + g * TOKEN_ROW + share * STEP_HALVES + q * 16;
  k += share * STEP;
  bool whole = p->k % (QUAD * STEP) == 0;
  if (!whole && k >= p->k)
    return;
  RowPair x[2];
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    x[i / 2].codes[i % 2] = gq_dev_load_shared16(rows + i * 8 * ROW);
    uint32_t pair = gq_dev_load_shared2(scales + i * 8 * 16);
    // Padding may hold anything, and so may what was not copied.
    x[i / 2].scales[i % 2] = whole || k + q * 32 < p->k ? pair : 0;
  }
  UNROLL for (uint32_t half = 0; half < 2; ++half) {
    uint32_t scale[2][2];
    UNROLL for (uint32_t i = 0; i < 4; ++i) scale[i / 2][i % 2] =
        gq_dev_nvfp4_half_scale(x[i / 2].scales[i % 2], half);
    UNROLL for (uint32_t word = 2 * half; word < 2 * half + 2; ++word) {
      gq_dev_u32x4 b[2];
      UNROLL for (uint32_t j = 0; j < tokens / 8; ++j) b[j] =
          gq_dev_load_shared16(from + 8 * j * TOKEN_ROW + word * 64);
      UNROLL for (uint32_t i = 0; i < 2; ++i) {
        uint32_t a[8];
        dequantizeFragments(p, &x[i], word, scale[i], a);
        UNROLL for (uint32_t j = 0; j < tokens / 8; ++j) {
          const uint32_t even[2] = {b[j].x, b[j].y}, odd[2] = {b[j].z, b[j].w};
          gq_dev_mma_m16n8k16_f16(sums[i][j], a, even);
          gq_dev_mma_m16n8k16_f16(sums[i][j], a + 4, odd);
        }
      }
    }
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_DECODENVFP4_H
