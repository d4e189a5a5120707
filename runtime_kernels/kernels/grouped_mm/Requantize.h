//===- Requantize.h - outputs in codes for the next layer --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outputs are staged in shared memory, by token, until all of a block are
// there; then a thread quantizes a block, of what would have been stored, as
// the op behind would. The tile of a group's last tokens zeroes the scales of
// the rows that pad the group, who has a row's last block those behind it.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_REQUANTIZE_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_REQUANTIZE_H

#include "runtime_kernels/kernels/Units.h"
#include "runtime_kernels/kernels/grouped_mm/Schedule.h"
#include "runtime_kernels/scalers/Block.h"

/// Units of a block of outputs, 1 or 2,
GQ_DEV uint32_t unitsOfBlock(const Product *p) {
  return (uint32_t)gqFormatGetTraits(p->outFormat).blockColumns / GQ_DEV_UNIT;
}

/// and rows of weights of it: 16, 32 or 64.
GQ_DEV uint32_t heightOfBlock(const Product *p) {
  return unitsOfBlock(p) * GQ_DEV_UNIT * widthOf(p);
}

/// Blocks of a row.
GQ_DEV uint32_t numBlocks(const Product *p) { return p->n / heightOfBlock(p); }

GQ_DEV gq_dev_scaler outScaler(const Product *p) {
  bool hasOuter = p->outOuterKind != GQ_OUTER_NONE;
  return (gq_dev_scaler){
      .format = p->outFormat,
      .recipe = p->outRecipe,
      .hasOuter = hasOuter,
      .way = gq_dev_e2m1_way_of(p->outType, hasOuter),
  };
}

/// That of the blocks of a group.
GQ_DEV gq_dev_outer outerOfGroup(const Product *p, uint32_t group) {
  gq_dev_scaler scaler = outScaler(p);
  if (!scaler.hasOuter)
    return gq_dev_no_outer(scaler);
  return gq_dev_outer_from(
      scaler, p->outOuter[p->outOuterKind == GQ_OUTER_PER_GROUP ? group : 0]);
}

/// Tokens of a tile of `tokens` that have scales, with those that pad its
/// group.
GQ_DEV uint32_t tokensWithScales(const Tile *t, uint32_t tokens) {
  uint32_t last = (uint32_t)t->scaleRow + (uint32_t)t->tokens;
  return t->tokens > tokens
             ? tokens
             : (uint32_t)t->tokens + (0 - last) % GQ_DEV_TILE_ROWS;
}

/// Stores the scale of a block of a tile's token.
GQ_DEV void storeOutScale(const Product *p, const Tile *t, uint32_t token,
                          uint32_t block, uint32_t scale) {
  uint32_t blocks = numBlocks(p);
  uint8_t GQ_GLOBAL *at =
      p->outScales +
      gq_dev_tile128x4_offset(t->scaleRow + token, block,
                              gq_dev_up(blocks, GQ_DEV_TILE_COLUMNS));
  *at = (uint8_t)scale;
  if (block + 1 == blocks)
    for (uint32_t i = 1; i < GQ_DEV_TILE_COLUMNS; ++i)
      if (block % GQ_DEV_TILE_COLUMNS + i < GQ_DEV_TILE_COLUMNS)
        at[i] = 0;
}

/// A block of outputs, as gq_dev_pack has them.
typedef struct OutBlock {
  uint32_t words[2][GQ_DEV_UNIT];
} OutBlock;

/// Makes `bits` its output number i, a constant; they come in order.
GQ_DEV void putOut(const Product *p, OutBlock *block, uint32_t i,
                   uint32_t bits) {
  uint32_t *unit = block->words[i / GQ_DEV_UNIT], at = i % GQ_DEV_UNIT;
  if (p->outType == GQ_F32)
    unit[at] = bits;
  else if (at % 2 == 0)
    unit[at / 2] = bits;
  else
    unit[at / 2] |= bits << 16;
}

/// Quantizes block number `number` of a row of outputs: that of a tile's token,
/// which exists.
GQ_DEV void storeOutBlock(const Product *p, const Tile *t, gq_dev_outer outer,
                          uint32_t token, uint32_t number,
                          const OutBlock *block) {
  gqElementType type = p->outType;
  gq_dev_scaler scaler = outScaler(p);
  uint32_t units = unitsOfBlock(p);
  uint32_t count = GQ_DEV_UNIT / gq_dev_elements_per_word(type);
  uint32_t max = gq_dev_max_words(type, block->words[0], count);
  if (units == 2)
    max = gq_dev_max_word(type, max,
                          gq_dev_max_words(type, block->words[1], count));
  gq_dev_any_scale scale =
      gq_dev_either_block(scaler, gq_dev_amax_of_word(type, max), outer);
  uint32_t bytes =
      (uint32_t)gqFormatGetTraits(p->outFormat).dataBits * GQ_DEV_UNIT / 8;
  bool aligned =
      ((uint64_t)(uintptr_t)p->out | (uint64_t)p->outStride) % bytes == 0;
  uint8_t GQ_GLOBAL *to = p->out + (t->token + token) * p->outStride +
                          (int64_t)number * (units * bytes);
  UNROLL for (uint32_t i = 0; i < 2; ++i) if (i < units) {
    float x[GQ_DEV_UNIT], y[GQ_DEV_UNIT];
    uint32_t codes[4];
    if (type == GQ_F32)
      UNROLL for (uint32_t j = 0; j < GQ_DEV_UNIT; ++j) x[j] =
          gq_dev_f32_from_bits(block->words[i][j]);
    else
      UNROLL for (uint32_t j = 0; j < GQ_DEV_UNIT / 2; ++j)
          gq_dev_unpack(type, block->words[i][j], x + 2 * j);
    gq_dev_scale_unit(scaler, scale, x, y);
    gq_dev_codes(scaler.format, scaler.way, y, codes);
    gq_dev_store_codes(to + i * bytes, codes, bytes, aligned);
  }
  storeOutScale(p, t, token, number, scale.block.bits);
}

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_REQUANTIZE_H
