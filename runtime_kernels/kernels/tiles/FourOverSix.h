//===- FourOverSix.h - the better of two scales of a block -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane adds up the errors of the blocks whose scales it has, in order: the
// lanes that share these exchange their elements, so that it has 16 of each.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_FOUROVERSIX_H
#define GQ_KERNELS_KERNELS_TILES_FOUROVERSIX_H

#include "runtime_kernels/kernels/tiles/Transform.h"
#include "runtime_kernels/scalers/FourOverSix.h"

/// The 16 elements of the block of a lane's own row number r, a constant. All
/// lanes take part.
GQ_DEV void elementsOfOwnRow(const Op *o, Place place, const Held *held,
                             uint32_t r, float x[GQ_DEV_UNIT]) {
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  uint32_t words = wordsOfLane(o);
  bool second = isSecond(o, place);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS; ++i) {
    if (i >= words)
      continue;
    if (!sharesRows(o)) { // Unpacked for here alone, or they would be kept.
      gq_dev_unpack(o->heldType, gq_dev_here(held->words[r][i]),
                    x + i * perWord);
      continue;
    }
    uint32_t upper = held->words[r][i], lower = held->words[r + 4][i];
    uint32_t own = second ? lower : upper;
    uint32_t other = gq_dev_shuffle_xor(second ? upper : lower, 1);
    gq_dev_unpack(o->heldType, second ? other : own, x + i * perWord);
    gq_dev_unpack(o->heldType, second ? own : other, x + (i + 4) * perWord);
  }
}

/// The 16 elements of the blocks of a lane's own columns, those of word number
/// i of these, a constant. As shareMax, but of whole columns. All lanes take
/// part.
GQ_DEV void elementsOfOwnColumns(const Op *o, Place place, const Held *held,
                                 uint32_t i, float x[2][GQ_DEV_UNIT]) {
  const gqElementType type = o->columnwise.heldType;
  uint32_t lanes = lanesOfBlock(o), rows = rowsOfLane(o);
  uint32_t lines[4][GQ_DEV_UNIT];
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < 4; ++j)
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (j < lanes && r < rows)
        lines[j][r] = held->words[r][j * ownWords(o) + i];
#pragma clang loop unroll(full)
  for (uint32_t distance = 1; distance < 4; distance *= 2) {
    uint32_t half = lanes / distance / 2, there = rows * distance;
    bool upper = place.down & distance;
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < 2; ++j)
#pragma clang loop unroll(full)
      for (uint32_t r = 0; r < GQ_DEV_UNIT / 2; ++r)
        if (distance < lanes && j < half && r < there) {
          uint32_t low = lines[j][r], high = lines[j + half][r];
          uint32_t own = upper ? high : low;
          uint32_t other =
              gq_dev_shuffle_xor(upper ? low : high, distance * lanesAcross(o));
          lines[j][r] = upper ? other : own;
          lines[j][r + there] = upper ? own : other;
        }
  }
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < GQ_DEV_UNIT; ++r) {
    float pair[2];
    gq_dev_unpack(type, lines[0][r], pair);
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 2; ++k)
      if (k < gq_dev_elements_per_word(type))
        x[k][r] = pair[k];
  }
}

/// Whether a job's row or column number `index` has an outer amax.
GQ_DEV bool hasOuterAmax(const Direction *d, const Job GQ_SHARED *job,
                         uint32_t index) {
  switch (d->outerKind) {
  case GQ_OUTER_NONE:
    return false;
  case GQ_OUTER_ONE:
    return true;
  case GQ_OUTER_PER_GROUP:
    return job->group >= 0;
  case GQ_OUTER_PER_ROW:
    return index < job->rows;
  case GQ_OUTER_PER_COLUMN:
    return index < job->columns && job->group >= 0;
  }
}

/// That amax.
GQ_DEV float outerAmax(const Direction *d, const Job GQ_SHARED *job,
                       uint32_t index) {
  if (d->outerKind == GQ_OUTER_PER_ROW)
    return d->outer[job->inputRow + index];
  if (d->outerKind == GQ_OUTER_PER_COLUMN)
    return d
        ->outer[job->group * job->columnsOfGroup + job->inputColumn + index];
  return d->outer[d->outerKind == GQ_OUTER_ONE ? 0 : job->group];
}

/// What the scale of a block of that row or column is chosen from.
GQ_DEV gq_dev_choices choicesOf(const Direction *d, const Job GQ_SHARED *job,
                                uint32_t index, float amax) {
  gqFourOverSix error = d->how.fourOverSix;
  return gq_dev_choices_of(
      hasOuterAmax(d, job, index)
          ? gq_dev_four_over_six_from(error, d->how.scaleMax,
                                      outerAmax(d, job, index))
          : gq_dev_four_over_six_without(error, d->how.scaleMax),
      amax);
}

/// Adds up the sums of 16 rows, of which a lane has its own, as a tree, and
/// leaves them in the first one. All lanes take part.
GQ_DEV void addSquare(const Op *o, float sums[ROWS]) {
#pragma clang loop unroll(full)
  for (uint32_t stride = GQ_DEV_UNIT / 2; stride; stride /= 2) {
    // Rows of lanes below each other, those of two that share them, and own.
    uint32_t distance = stride >= rowsOfLane(o)
                            ? stride / rowsOfLane(o) * lanesAcross(o)
                        : stride >= ownRows(o) ? 1
                                               : 0;
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (distance && r < ownRows(o))
        sums[r] += gq_dev_f32_from_bits(
            gq_dev_shuffle_xor(gq_dev_f32_bits(sums[r]), distance));
      else if (!distance && r < stride)
        sums[r] += sums[r + stride];
  }
}

/// The scale of the square block of 16 by 16 that a lane has a part of, whose
/// largest magnitude is `amax`, in either direction. All lanes take part.
GQ_DEV gq_dev_block_scale chosenOfSquare(const Op *o, const Direction *d,
                                         const Job GQ_SHARED *job, Place place,
                                         const Held *held, float amax) {
  gq_dev_choices choices = choicesOf(d, job, 0, amax);
  float six[ROWS], four[ROWS];
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < ownRows(o)) {
      float x[GQ_DEV_UNIT], sums[GQ_DEV_CANDIDATES];
      gq_dev_warp_barrier(); // So that no more rows are begun.
      elementsOfOwnRow(o, place, held, r, x);
      gq_dev_errors_of(&choices, x, sums);
      six[r] = sums[GQ_DEV_SIX];
      four[r] = sums[GQ_DEV_FOUR];
    }
  addSquare(o, six);
  addSquare(o, four);
  const float sums[] = {[GQ_DEV_SIX] = six[0], [GQ_DEV_FOUR] = four[0]};
  return gq_dev_better_of(&choices, sums);
}

/// The scale of the block of a lane's own row number r, a constant, whose
/// largest magnitude is `amax`; `first` is the number of its first one in the
/// job. All lanes take part.
GQ_DEV gq_dev_block_scale chosenOfRow(const Op *o, const Job GQ_SHARED *job,
                                      Place place, uint32_t first,
                                      const Held *held, uint32_t r,
                                      float amax) {
  float x[GQ_DEV_UNIT], sums[GQ_DEV_CANDIDATES];
  gq_dev_warp_barrier(); // So that no more rows are begun.
  elementsOfOwnRow(o, place, held, r, x);
  gq_dev_choices choices = choicesOf(&o->rowwise, job, first + r, amax);
  gq_dev_errors_of(&choices, x, sums);
  return gq_dev_better_of(&choices, sums);
}

/// The same of the columns in word number i of a lane's own ones.
GQ_DEV void chosenOfColumns(const Op *o, const Job GQ_SHARED *job, Place place,
                            uint32_t first, const Held *held, uint32_t i,
                            const float amax[2], gq_dev_block_scale chosen[2]) {
  uint32_t perWord = gq_dev_elements_per_word(o->columnwise.heldType);
  float x[2][GQ_DEV_UNIT];
  gq_dev_warp_barrier();
  elementsOfOwnColumns(o, place, held, i, x);
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < 2; ++k)
    if (k < perWord) {
      float sums[GQ_DEV_CANDIDATES];
      gq_dev_choices choices =
          choicesOf(&o->columnwise, job, first + i * perWord + k, amax[k]);
      gq_dev_errors_of(&choices, x[k], sums);
      chosen[k] = gq_dev_better_of(&choices, sums);
    }
}

#endif // GQ_KERNELS_KERNELS_TILES_FOUROVERSIX_H
