//===- Transform.h - what a direction makes of a lane's elements --*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Hadamard transform of 16 rows: those that a lane has it adds up by
// itself, the others by exchanging all elements with the lanes of the block.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_TRANSFORM_H
#define GQ_KERNELS_KERNELS_TILES_TRANSFORM_H

#include "runtime_kernels/kernels/tiles/Load.h"
#include "runtime_kernels/transforms/Hadamard.h"

/// Rows of a job that columns have: with a transform, all of a block of which
/// there is one.
GQ_DEV uint32_t columnwiseRows(const Op *o, const Job GQ_SHARED *job) {
  return o->columnwise.how.transform == GQ_TRANSFORM_NONE
             ? job->rows
             : (job->rows + GQ_DEV_HADAMARD_SIZE - 1) / GQ_DEV_HADAMARD_SIZE *
                   GQ_DEV_HADAMARD_SIZE;
}

/// A step of gq_dev_hadamard16 between a lane's rows, whose number is constant.
GQ_DEV void addRows(float x[ROWS], uint32_t rows, uint32_t stride) {
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r + stride < rows && !(r & stride)) {
      float a = x[r], b = x[r + stride];
      x[r] = a + b;
      x[r + stride] = a - b;
    }
}

/// The same between rows of two lanes, `distance` rows of lanes apart.
GQ_DEV void addLanes(const Op *o, Place place, float x[ROWS],
                     uint32_t distance) {
  // a + b and a - b, without a branch: the product is exact.
  float sign = place.down & distance ? -1.0f : 1.0f;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o)) {
      float other = gq_dev_f32_from_bits(
          gq_dev_shuffle_xor(gq_dev_f32_bits(x[r]), distance * lanesAcross(o)));
      x[r] = gq_dev_fma(x[r], sign, other);
    }
}

/// The steps of gq_dev_hadamard16 between rows less than 8 apart, of a lane's
/// `rows` rows of a column, with the signs of these, the first in the lowest
/// bit; of four, those 4 apart are the next lane's. All lanes take part.
GQ_DEV void addNear(const Op *o, Place place, uint32_t signs, uint32_t rows,
                    float x[ROWS]) {
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rows) {
      uint32_t flip = signs << (31 - r) & 0x80000000;
      x[r] = gq_dev_f32_from_bits(gq_dev_f32_bits(x[r]) ^ flip);
    }
  addRows(x, rows, 1);
  addRows(x, rows, 2);
  if (rows == 8)
    addRows(x, rows, 4);
  else
    addLanes(o, place, x, 1);
}

/// The bit of Place.down in which the lane differs that has a block's rows 8
/// above or below.
GQ_DEV uint32_t partnerOf(const Op *o) {
  return GQ_DEV_HADAMARD_SIZE / 2 / rowsOfLane(o);
}

/// Transforms a lane's elements. All lanes take part.
GQ_DEV Held turned(const Op *o, Place place, const Held *held) {
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  uint32_t rows = rowsOfLane(o);
  uint32_t signs =
      o->columnwise.how.signs >> place.down * rows % GQ_DEV_HADAMARD_SIZE;
  Held result;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS; ++i) {
    if (i >= wordsOfLane(o))
      continue;
    float x[2][ROWS];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rows) {
        float pair[2];
        gq_dev_unpack(o->heldType, held->words[r][i], pair);
#pragma clang loop unroll(full)
        for (uint32_t k = 0; k < 2; ++k)
          if (k < perWord)
            x[k][r] = pair[k];
      }
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 2; ++k)
      if (k < perWord) {
        addNear(o, place, signs, rows, x[k]);
        addLanes(o, place, x[k], partnerOf(o));
      }
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rows) {
        float second = perWord == 2 ? x[1][r] : 0.0f;
        uint32_t word = gq_dev_bf16x2_from_f32(x[0][r] * 0.25f, second * 0.25f);
        result.words[r][i] = perWord == 2 ? word : word << 16;
      }
  }
  return result;
}

/// What the columnwise direction quantizes: the elements, or what its transform
/// makes of them. All lanes take part.
GQ_DEV Held elementsOfColumns(const Op *o, Place place, const Held *held) {
  switch (o->columnwise.how.transform) {
  case GQ_TRANSFORM_NONE:
    return *held;
  case GQ_TRANSFORM_HADAMARD16:
    return turned(o, place, held);
  }
}

#endif // GQ_KERNELS_KERNELS_TILES_TRANSFORM_H
