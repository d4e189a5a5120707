//===- Scales.h - the blocks of a job ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes that share a block agree on its largest magnitude; each scales the
// blocks of its own rows and columns.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_SCALES_H
#define GQ_KERNELS_KERNELS_TILES_SCALES_H

#include "runtime_kernels/kernels/tiles/FourOverSix.h"

/// gq_dev_max_word, of NaN as the op has it.
GQ_DEV uint32_t maxOf(const Op *o, gqElementType type, uint32_t a, uint32_t b) {
  return gq_dev_max_word_with(type, !o->keepsNan, a, b);
}

/// Of two words of two elements each, both elements' larger magnitudes.
GQ_DEV uint32_t maxOfPairs(const Op *o, gqElementType type, uint32_t a,
                           uint32_t b) {
  return maxOf(o, type, gq_dev_permute(a, b, 0x5410),
               gq_dev_permute(a, b, 0x7632));
}

/// Of 2 * `count` words of maxima, two lanes at a `distance` take one half
/// each, the `upper` one the second.
GQ_DEV void halveMax(const Op *o, gqElementType type, bool upper,
                     uint32_t distance, uint32_t count, uint32_t max[WORDS]) {
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t low = max[i], high = max[i + count];
    uint32_t other = gq_dev_shuffle_xor(upper ? low : high, distance);
    max[i] = maxOf(o, type, upper ? high : low, other);
  }
}

/// Both magnitudes of a word of maxima.
GQ_DEV void unpackMax(const Op *o, gqElementType type, uint32_t word,
                      float amax[2]) {
  if (!o->keepsNan) {
    gq_dev_unpack_amax(type, word, amax);
    return;
  }
  gq_dev_unpack(type, word, amax);
  for (int i = 0; i < 2; ++i)
    amax[i] = __builtin_fabsf(amax[i]);
}

/// Adds a block to those that may all be regular.
GQ_DEV void extendRange(const Op *o, gq_dev_range *range, float amax) {
  float most = range->most;
  gq_dev_extend_range(range, amax);
  if (o->keepsNan)
    range->most = gq_dev_max_or_nan(most, amax);
}

/// The first of a lane's own rows.
GQ_DEV uint32_t firstOwnRow(const Op *o, Place place) {
  if (isTall(o))
    return firstTallRow(place, TALL_ROWS);
  return place.row + (isSecond(o, place) ? ownRows(o) : 0);
}

/// The largest magnitudes of the blocks of a lane's own rows, as far as the
/// warp has them.
GQ_DEV void rowMagnitudes(const Op *o, const Held *held, Place place,
                          float amax[ROWS]) {
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  uint32_t max[WORDS];
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o))
      max[r] = gq_dev_max_words_with(o->heldType, !o->keepsNan, held->words[r],
                                     wordsOfLane(o));
  // Maxima of rows are by twos now, if a word holds two.
  if (sharesRows(o)) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      max[i] = maxOfPairs(o, o->heldType, max[2 * i], max[2 * i + 1]);
    halveMax(o, o->heldType, isSecond(o, place), 1, 2, max);
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i) {
    if (i * perWord >= ownRows(o))
      continue;
    uint32_t word = perWord == 2 && !sharesRows(o)
                        ? maxOfPairs(o, o->heldType, max[2 * i], max[2 * i + 1])
                        : max[i];
#pragma clang loop unroll(full)
    for (uint32_t lanes = 1; lanes < 8; lanes *= 2)
      if (!sharesRows(o) && lanes < lanesAcross(o) &&
          o->rowwise.traits.blockColumns > lanes * GQ_DEV_UNIT)
        word =
            gq_dev_max_word(o->heldType, word, gq_dev_shuffle_xor(word, lanes));
    float pair[2];
    unpackMax(o, o->heldType, word, pair);
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 2; ++k)
      if (k < perWord)
        amax[i * perWord + k] = pair[k];
  }
}

/// The lanes of a block share its columns: at each step, one of two takes the
/// first half of what they have left and one the other. This is a step, of
/// words of maxima of which `count`, a constant, are left.
GQ_DEV void shareMax(const Op *o, Place place, uint32_t count,
                     uint32_t max[WORDS]) {
  if (count >= wordsOfLane(o) || count < ownWords(o))
    return;
  uint32_t distance = wordsOfLane(o) / count / 2;
  halveMax(o, o->columnwise.heldType, place.down & distance,
           distance * lanesAcross(o), count, max);
}

/// The first of a lane's own columns.
GQ_DEV uint32_t firstOwnColumn(const Op *o, Place place) {
  uint32_t column = place.column;
#pragma clang loop unroll(full)
  for (uint32_t distance = 1; distance < LANES_DOWN; distance *= 2)
    if (distance < lanesOfBlock(o) && (place.down & distance))
      column += columnsOfLane(o) / 2 / distance;
  return column;
}

/// The largest magnitudes of a lane's own columns.
GQ_DEV void columnMagnitudes(const Op *o, const Held *held, Place place,
                             float amax[8]) {
  const gqElementType type = o->columnwise.heldType;
  uint32_t perWord = gq_dev_elements_per_word(type);
  uint32_t max[WORDS];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS; ++i)
    if (i < wordsOfLane(o)) {
      max[i] = maxOf(o, type, held->words[0][i], held->words[1][i]);
#pragma clang loop unroll(full)
      for (uint32_t r = 2; r < ROWS; ++r)
        if (r < rowsOfLane(o))
          max[i] = maxOf(o, type, max[i], held->words[r][i]);
    }
  shareMax(o, place, 8, max);
  shareMax(o, place, 4, max);
  shareMax(o, place, 2, max);
  shareMax(o, place, 1, max);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i)
    if (i < ownWords(o)) {
      float pair[2];
      unpackMax(o, type, max[i], pair);
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < 2; ++k)
        if (k < perWord)
          amax[i * perWord + k] = pair[k];
    }
}

/// Adds `count` magnitudes to that of the job. All lanes take part.
GQ_DEV void collectAmax(const Op *o, const float amax[8], uint32_t count,
                        uint32_t parity) {
  float max = 0.0f;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 8; ++i)
    if (i < count)
      max = gq_dev_max_number(max, amax[i]);
  uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(max));
  if (gq_dev_is_first_lane())
    gq_dev_atomic_max_shared(jobAmaxOf(o, parity), bits);
}

/// Collects the largest magnitude of a lane's elements. All lanes take part.
GQ_DEV void measureSquare(const Op *o, uint32_t parity, const Held *held) {
  uint32_t max = 0;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o))
      max = gq_dev_max_word(
          o->heldType, max,
          gq_dev_max_words(o->heldType, held->words[r], wordsOfLane(o)));
  float amax[1] = {gq_dev_amax_of_word(o->heldType, max)};
  collectAmax(o, amax, 1, parity);
}

/// The largest magnitude of the square block of 16 by 16 that a lane has a part
/// of. All lanes take part.
GQ_DEV float squareMagnitude(const Op *o, const Held *held) {
  uint32_t max = 0;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o))
      max = maxOf(o, o->heldType, max,
                  gq_dev_max_words_with(o->heldType, !o->keepsNan,
                                        held->words[r], wordsOfLane(o)));
  if (sharesRows(o))
    max = maxOf(o, o->heldType, max, gq_dev_shuffle_xor(max, 1));
#pragma clang loop unroll(full)
  for (uint32_t distance = 1; distance < LANES_DOWN; distance *= 2)
    if (distance * rowsOfLane(o) < GQ_SQUARE_BLOCK)
      max = maxOf(o, o->heldType, max,
                  gq_dev_shuffle_xor(max, distance * lanesAcross(o)));
  if (!o->keepsNan)
    return gq_dev_amax_of_word(o->heldType, max);
  float pair[2];
  unpackMax(o, o->heldType, max, pair);
  return gq_dev_max_or_nan(pair[0], pair[1]);
}

/// Makes all magnitudes that of the block, if blocks are such squares. All
/// lanes take part.
GQ_DEV void spreadSquare(const Op *o, const Direction *d, const Held *held,
                         float amax[8]) {
  if (!gqDirectionHasSquares(&d->how))
    return;
  float all = squareMagnitude(o, held);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 8; ++i)
    amax[i] = all;
}

/// The outer scale of a job's row or column number `index`, given the job's.
GQ_DEV gq_dev_outer outerOf(const Direction *d, const Job GQ_SHARED *job,
                            gq_dev_outer ofJob, uint32_t index) {
  if (!hasOwnOuters(d))
    return ofJob;
  if (!hasOuterAmax(d, job, index))
    return gq_dev_no_outer(d->scaler);
  return gq_dev_outer_from(d->scaler, outerAmax(d, job, index));
}

/// Whether a block of a column, of `rows` rows, has a single element. Without
/// an outer scale, such blocks would often be rare ones.
GQ_DEV bool isSingle(const Op *o, uint32_t rows) {
  const Direction *d = &o->columnwise;
  return !d->scaler.hasOuter && d->how.transform == GQ_TRANSFORM_NONE &&
         !gqDirectionHasSquares(&d->how) && rows == 1;
}

/// The scale of a block, of any one if the op is unusual.
GQ_DEV gq_dev_block_scale blockScale(const Op *o, const Direction *d,
                                     float amax, gq_dev_outer outer,
                                     bool single) {
  return o->unusual ? gq_dev_any_block(d->scaler, amax, outer)
                    : gq_dev_regular_block(d->scaler, amax, outer, single);
}

/// Where the scale of a row is collected, and whether the lane has it.
GQ_DEV uint8_t GQ_SHARED *rowScaleAt(const Op *o, Place place, uint32_t row,
                                     uint32_t parity) {
  uint32_t block = (uint32_t)o->rowwise.traits.blockColumns;
  return (uint8_t GQ_SHARED *)rowScalesOf(o, parity) +
         scaleAt(&o->rowwise, row, place.column / block);
}
GQ_DEV bool hasRowScales(const Op *o, Place place) {
  return sharesRows(o) || isTall(o) ||
         place.column % (uint32_t)o->rowwise.traits.blockColumns == 0;
}

/// Where those of its own columns are.
GQ_DEV uint8_t GQ_SHARED *columnScalesAt(const Op *o, Place place,
                                         uint32_t parity) {
  uint32_t block = (uint32_t)o->columnwise.traits.blockColumns;
  return (uint8_t GQ_SHARED *)columnScalesOf(o, parity) +
         scaleAt(&o->columnwise, firstOwnColumn(o, place), place.row / block);
}

/// Where the factors of a block's columns are in shared memory.
GQ_DEV float GQ_SHARED *factorsAt(const Op *o, Place place, uint32_t column) {
  float GQ_SHARED *warp =
      (float GQ_SHARED *)columnFactors[place.thread / GQ_DEV_WARP];
  return warp + place.down / lanesOfBlock(o) * columnsOfWarp(o) +
         column % columnsOfWarp(o);
}

/// Where those of a block's rows are, if two lanes share them.
GQ_DEV gq_dev_f32x4 GQ_SHARED *rowFactorsAt(const Op *o, Place place,
                                            uint32_t row) {
  gq_dev_f32x4 GQ_SHARED *warp =
      (gq_dev_f32x4 GQ_SHARED *)rowFactors[place.thread / GQ_DEV_WARP];
  return warp +
         place.column % columnsOfWarp(o) / GQ_DEV_UNIT * (rowsOfWarp(o) / 4) +
         row % rowsOfWarp(o) / 4;
}

/// Scales a lane's own rows: collects their scales and returns whether all are
/// regular. Leaves their factors in shared memory if two lanes share them. All
/// lanes take part.
GQ_DEV bool scaleRows(const Op *o, const Job GQ_SHARED *job, Place place,
                      uint32_t parity, const Held *held, float factors[ROWS]) {
  const Direction *d = &o->rowwise;
  gq_dev_outer outer = job->rowwise.outer;
  uint32_t row = firstOwnRow(o, place);
  uint8_t GQ_SHARED *scales = rowScaleAt(o, place, row, parity);
  gq_dev_range range = gq_dev_no_range();
  float amax[ROWS];
  rowMagnitudes(o, held, place, amax);
  if (o->hasAmax)
    collectAmax(o, amax, ownRows(o), parity);
  spreadSquare(o, d, held, amax);
  gq_dev_block_scale block = {0};
  if (gqDirectionHasFourOverSix(&d->how) && gqDirectionHasSquares(&d->how))
    block = chosenOfSquare(o, d, job, place, held, amax[0]);
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < ownRows(o)) {
      if (!gqDirectionHasFourOverSix(&d->how))
        block =
            blockScale(o, d, amax[r], outerOf(d, job, outer, row + r), false);
      else if (!gqDirectionHasSquares(&d->how))
        block = chosenOfRow(o, job, place, row, held, r, amax[r]);
      extendRange(o, &range, amax[r]);
      factors[r] = block.factor;
      // Missing rows of a square block have no scale.
      bool none = (o->unusual || gqDirectionHasSquares(&d->how)) &&
                  (row + r >= job->rows || place.column >= job->columns);
      if (hasRowScales(o, place))
        scales[r * scalePitch(d)] = none ? 0 : (uint8_t)block.bits;
    }
  if (sharesRows(o))
    *rowFactorsAt(o, place, row) =
        (gq_dev_f32x4){factors[0], factors[1], factors[2], factors[3]};
  return o->unusual || gq_dev_is_regular(d->scaler, range, outer, false);
}

/// Loads the factors of rows that two lanes share.
GQ_DEV void loadRowFactors(const Op *o, Place place, float factors[ROWS]) {
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; r += 4) {
    gq_dev_f32x4 four = *rowFactorsAt(o, place, place.row + r);
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 4; ++k)
      factors[r + k] = four[k];
  }
}

/// What scaleRows does, of a lane's own columns, `held` being what columns
/// quantize of `input`; leaves their factors in shared memory.
GQ_DEV bool scaleColumns(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t parity, const Held *input, const Held *held) {
  const Direction *d = &o->columnwise;
  gq_dev_outer outer = job->columnwise.outer;
  uint32_t column = firstOwnColumn(o, place);
  uint8_t GQ_SHARED *scales = columnScalesAt(o, place, parity);
  float GQ_SHARED *factors = factorsAt(o, place, column);
  gq_dev_range range = gq_dev_no_range();
  float amax[8], pair[2];
  columnMagnitudes(o, held, place, amax);
  if (o->hasAmax && !o->rowwise.exists) {
    if (d->how.transform == GQ_TRANSFORM_NONE)
      collectAmax(o, amax, ownColumns(o), parity);
    else
      measureSquare(o, parity, input);
  }
  spreadSquare(o, d, held, amax);
  gq_dev_block_scale block = {0}, chosen[2];
  if (gqDirectionHasFourOverSix(&d->how) && gqDirectionHasSquares(&d->how))
    block = chosenOfSquare(o, d, job, place, held, amax[0]);
  uint32_t perWord = gq_dev_elements_per_word(d->heldType);
  uint32_t rows = (uint32_t)d->traits.blockColumns;
  bool single = isSingle(o, job->rows - place.row / rows * rows);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 8; ++i)
    if (i < ownColumns(o)) {
      if (!gqDirectionHasFourOverSix(&d->how)) {
        block = blockScale(o, d, amax[i], outerOf(d, job, outer, column + i),
                           single);
      } else if (!gqDirectionHasSquares(&d->how)) {
        if (i % perWord == 0)
          chosenOfColumns(o, job, place, column, held, i / perWord, &amax[i],
                          chosen);
        block = chosen[i % perWord];
      }
      extendRange(o, &range, amax[i]);
      bool none = o->unusual &&
                  (place.row >= job->paddedRows || column + i >= job->columns);
      scales[i * scalePitch(d)] = none ? 0 : (uint8_t)block.bits;
      pair[i % 2] = block.factor;
      if (i % 2 == 1)
        *(gq_dev_f32x2 GQ_SHARED *)(factors + i - 1) =
            (gq_dev_f32x2){pair[0], pair[1]};
    }
  return o->unusual || gq_dev_is_regular(d->scaler, range, outer, single);
}

//===----------------------------------------------------------------------===//
// The way of regular blocks
//===----------------------------------------------------------------------===//

/// Whether elements of regular blocks may have a way of their own, a constant.
/// Gathered rows and sums leave no registers for it.
GQ_DEV bool hasLikelyWay(const Op *o, const Direction *d) {
  if (isTall(o))
    return d->how.rounding == GQ_ROUNDING_NEAREST && !hasOwnOuters(d);
  bool same = !o->rowwise.exists ||
              o->rowwise.scaler.hasOuter == o->columnwise.scaler.hasOuter;
  return !o->unusual && o->format == GQ_FORMAT_NVFP4 && sharesRows(o) && same &&
         !(o->gathers && o->hasDbias);
}

/// The way in which elements of regular blocks are converted, if all are
/// suitable: a constant. Without outer scales those of bf16 are; with them,
/// those that lie on no middle. Except for tall lanes, it is the same of both
/// directions.
GQ_DEV gq_dev_e2m1_way likelyWay(const Op *o, const Direction *d) {
  if (d->scaler.way != GQ_DEV_E2M1_MOVED || !hasLikelyWay(o, d))
    return d->scaler.way;
  if (d->scaler.hasOuter) // There are no registers for both.
    return o->hasAmax && o->hasDbias ? d->scaler.way : GQ_DEV_E2M1_CUT;
  return d->heldType == GQ_BF16 ? GQ_DEV_E2M1_CUT_SPACED : d->scaler.way;
}

/// Whether elements of a direction have to be suitable for their likely way.
GQ_DEV bool haveToSuit(const Op *o, const Direction *d) {
  return d->exists && likelyWay(o, d) == GQ_DEV_E2M1_CUT;
}

/// Whether the likely way of a direction cuts elements off, which is wrong of
/// NaN.
GQ_DEV bool areCutOff(const Op *o, const Direction *d) {
  return haveToSuit(o, d) ||
         (d->exists && likelyWay(o, d) == GQ_DEV_E2M1_CUT_SPACED);
}

/// Whether all elements are suitable for the likely way, whatever the scale of
/// their block: lanes ask about 8 mantissas of one, two middles and both
/// directions. All lanes take part.
GQ_DEV bool areSuitable(const Op *o, const Job GQ_SHARED *job, Place place) {
  bool rows = haveToSuit(o, &o->rowwise);
  bool columns = haveToSuit(o, &o->columnwise);
  if (!rows && !columns)
    return true;
  uint32_t lane = place.thread % GQ_DEV_WARP;
  bool ofRows = rows && (!columns || lane & 16);
  gq_dev_outer outer = ofRows ? job->rowwise.outer : job->columnwise.outer;
  float middle = lane & 8 ? 1.25f : 1.0f;
  bool has;
  if (o->rowwise.heldType == o->columnwise.heldType)
    has = gq_dev_nvfp4_has_middle(o->heldType, outer, lane & 7, middle);
  else // What a transform makes of f16 is bf16.
    has = ofRows ? gq_dev_nvfp4_has_middle(o->rowwise.heldType, outer, lane & 7,
                                           middle)
                 : gq_dev_nvfp4_has_middle(o->columnwise.heldType, outer,
                                           lane & 7, middle);
  return gq_dev_ballot(has) == 0;
}

/// The op in the likely way, if all elements are `suitable`; if not, blocks are
/// regular all the same.
GQ_DEV Op likelyOp(const Op *o, bool suitable) {
  Op op = *o;
  if (suitable) {
    op.rowwise.scaler.way = likelyWay(o, &o->rowwise);
    op.columnwise.scaler.way = likelyWay(o, &o->columnwise);
  }
  op.keepsNan = areCutOff(o, &o->rowwise) || areCutOff(o, &o->columnwise);
  return op;
}

/// Whether both directions of an op that is not unusual have the same square
/// blocks: their elements are scaled once for both, where outer scales are the
/// same.
GQ_DEV bool sharesSquares(const Op *o) {
  return !o->unusual && o->rowwise.exists && o->columnwise.exists &&
         gqDirectionHasSquares(&o->rowwise.how) &&
         gqDirectionHasSquares(&o->columnwise.how);
}

/// Scales the block that a lane has a part of, for both directions: the same
/// factor for all rows. Returns whether it is regular and outer scales are the
/// same. All lanes take part.
GQ_DEV bool scaleSquares(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t parity, const Held *held,
                         float factors[ROWS]) {
  const Direction *rowwise = &o->rowwise, *columnwise = &o->columnwise;
  gq_dev_outer outer = gq_dev_used_outer(rowwise->scaler, job->rowwise.outer);
  gq_dev_outer other =
      gq_dev_used_outer(columnwise->scaler, job->columnwise.outer);
  const float amax[1] = {squareMagnitude(o, held)};
  if (o->hasAmax)
    collectAmax(o, amax, 1, parity);
  gq_dev_block_scale block =
      gq_dev_nvfp4_regular(rowwise->scaler, amax[0], outer, false);
  uint32_t row = firstOwnRow(o, place);
  uint8_t GQ_SHARED *rows = rowScaleAt(o, place, row, parity);
  uint8_t GQ_SHARED *columns = columnScalesAt(o, place, parity);
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r) {
    factors[r] = block.factor;
    // Missing rows of a block have no scale.
    bool there = row + r < job->rows && place.column < job->columns;
    if (r < ownRows(o))
      rows[r * scalePitch(rowwise)] = there ? (uint8_t)block.bits : 0;
    if (r < ownColumns(o))
      columns[r * scalePitch(columnwise)] = (uint8_t)block.bits;
  }
  gq_dev_range range = gq_dev_no_range();
  extendRange(o, &range, amax[0]);
  return gq_dev_nvfp4_is_regular(rowwise->scaler, range, outer, false) &&
         gq_dev_f32_bits(outer.factor) == gq_dev_f32_bits(other.factor) &&
         gq_dev_f32_bits(outer.inverse) == gq_dev_f32_bits(other.inverse);
}

/// Scales the lane's own columns again, whose blocks can be any, one after the
/// other. Blocks outside of the tile get scale 0. All lanes take part.
GQ_DEV void scaleAnyColumns(const Op *o, const Job GQ_SHARED *job, Place place,
                            uint32_t parity, const Held *held) {
  const Direction *d = &o->columnwise;
  uint32_t column = firstOwnColumn(o, place);
  uint8_t GQ_SHARED *scales = columnScalesAt(o, place, parity);
  // The magnitudes are where their factors are to be.
  float GQ_SHARED *factors = factorsAt(o, place, column);
  float amax[8];
  columnMagnitudes(o, held, place, amax);
  spreadSquare(o, d, held, amax);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 8; ++i)
    if (i < ownColumns(o))
      factors[i] = amax[i];
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < ownColumns(o); ++i) {
    bool inside = place.row < job->paddedRows && column + i < job->columns;
    gq_dev_block_scale block =
        gq_dev_any_block(d->scaler, factors[i],
                         outerOf(d, job, job->columnwise.outer, column + i));
    factors[i] = block.factor;
    scales[i * scalePitch(d)] = inside ? (uint8_t)block.bits : 0;
  }
}

/// Of a job whose scale is given: sets the factors of its rows, which are those
/// of its columns too, and returns whether missing rows, which are zeros, have
/// the code 0.
GQ_DEV bool useGivenScale(const Op *o, const Job GQ_SHARED *job,
                          float factors[ROWS]) {
  float factor = o->rowwise.exists ? job->rowwise.outer.factor
                                   : job->columnwise.outer.factor;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    factors[r] = factor;
  return gq_dev_f32_bits(factor) < 0x7f800000;
}

/// Leaves zeros for the scales of a lane's blocks.
GQ_DEV void clearScales(const Op *o, Place place, uint32_t parity) {
  uint32_t row = firstOwnRow(o, place);
  if (o->rowwise.exists && hasScales(&o->rowwise) && hasRowScales(o, place))
    for (uint32_t r = 0; r < ownRows(o); ++r)
      rowScaleAt(o, place, row, parity)[r * scalePitch(&o->rowwise)] = 0;
  if (o->columnwise.exists && hasScales(&o->columnwise))
    for (uint32_t i = 0; i < ownColumns(o); ++i)
      columnScalesAt(o, place, parity)[i * scalePitch(&o->columnwise)] = 0;
}

#endif // GQ_KERNELS_KERNELS_TILES_SCALES_H
