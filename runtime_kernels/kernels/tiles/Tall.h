//===- Tall.h - lanes that have whole blocks of columns -----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where there are columns only, which are transformed, rounded stochastically
// or have outer scales of their own, a lane has 16 rows of 4 columns: blocks,
// whose transform, scales and random bytes are then its own, without anything
// that lanes exchange. They are taken for regular ones first.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_TALL_H
#define GQ_KERNELS_KERNELS_TILES_TALL_H

#include "runtime_kernels/kernels/tiles/Codes.h"

/// What the elements of a block are multiplied by, beside their factor. Likely
/// blocks that are transformed are not divided by 4 before they are rounded: it
/// makes no difference where nothing overflows and no result that counts is a
/// denormal, as in regular blocks.
GQ_DEV float likelyUnit(const Direction *d, bool likely) {
  return likely && d->how.transform != GQ_TRANSFORM_NONE ? 0.25f : 1.0f;
}

/// A lane's columns, transformed if they are to be.
GQ_DEV Held turnedTall(const Op *o, bool likely, const Held *held) {
  if (o->columnwise.how.transform == GQ_TRANSFORM_NONE)
    return *held;
  float unit = likely ? 1.0f : 0.25f;
  Held result;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_COLUMNS / 2; ++i) {
    float x[2][TALL_ROWS];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < TALL_ROWS; ++r) {
      float pair[2];
      gq_dev_unpack(o->heldType, *tallWord((Held *)held, r, i), pair);
      x[0][r] = pair[0];
      x[1][r] = pair[1];
    }
    gq_dev_hadamard16(o->columnwise.how.signs, x[0]);
    gq_dev_hadamard16(o->columnwise.how.signs, x[1]);
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < TALL_ROWS; ++r)
      *tallWord(&result, r, i) =
          gq_dev_bf16x2_from_f32(x[0][r] * unit, x[1][r] * unit);
  }
  return result;
}

/// The outer amaxes of a lane's columns, if each column has one.
typedef struct TallOuters {
  float amaxes[TALL_COLUMNS];
} TallOuters;

GQ_DEV TallOuters loadTallOuters(const Op *o, const Job GQ_SHARED *job,
                                 Place place) {
  const Direction *d = &o->columnwise;
  TallOuters outers;
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < TALL_COLUMNS; ++j)
    if (d->outerKind == GQ_OUTER_PER_COLUMN &&
        hasOuterAmax(d, job, place.column + j))
      outers.amaxes[j] = outerAmax(d, job, place.column + j);
  return outers;
}

/// The outer scale of column number j of a lane.
GQ_DEV gq_dev_outer outerOfTall(const Direction *d, const Job GQ_SHARED *job,
                                Place place, const TallOuters *outers,
                                uint32_t j) {
  gq_dev_outer outer = job->columnwise.outer;
  if (d->outerKind == GQ_OUTER_PER_COLUMN)
    outer = hasOuterAmax(d, job, place.column + j)
                ? gq_dev_outer_from(d->scaler, outers->amaxes[j])
                : gq_dev_no_outer(d->scaler);
  return gq_dev_used_outer(d->scaler, outer);
}

/// Scales a lane's columns, of likely blocks or of any: collects their scales
/// and returns whether all are regular.
GQ_DEV bool scaleTall(const Op *o, const Job GQ_SHARED *job, Place place,
                      uint32_t parity, bool likely, Held *held,
                      const TallOuters *outers, float factors[TALL_COLUMNS]) {
  const Direction *d = &o->columnwise;
  gq_dev_scaler scaler = d->scaler;
  if (d->how.rounding == GQ_ROUNDING_STOCHASTIC)
    scaler.way = GQ_DEV_E2M1_NATIVE; // Elements as they are.
  uint8_t GQ_SHARED *scales = columnScalesAt(o, place, parity);
  gq_dev_range range = gq_dev_no_range();
  float unit = likelyUnit(d, likely);
  bool regular = true;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_COLUMNS / 2; ++i) {
    uint32_t words[TALL_ROWS];
    float amax[2];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < TALL_ROWS; ++r)
      words[r] = *tallWord(held, r, i);
    uint32_t max =
        gq_dev_max_words_with(d->heldType, !o->keepsNan, words, TALL_ROWS);
    unpackMax(o, d->heldType, max, amax);
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 2; ++k) {
      uint32_t j = 2 * i + k;
      float most = amax[k] * unit;
      gq_dev_outer outer = outerOfTall(d, job, place, outers, j);
      gq_dev_block_scale block = likely
                                     ? gq_dev_nvfp4_regular(scaler, most, outer)
                                     : gq_dev_nvfp4_any(scaler, most, outer);
      bool none = !likely && (place.row >= job->paddedRows ||
                              place.column + j >= job->columns);
      extendRange(o, &range, most);
      scales[j * scalePitch(d)] = none ? 0 : (uint8_t)block.bits;
      factors[j] = block.factor * unit;
      // Those with the same outer scale are asked about together.
      if (d->outerKind == GQ_OUTER_PER_COLUMN || j == TALL_COLUMNS - 1) {
        regular &= gq_dev_nvfp4_is_regular(scaler, range, outer);
        range = gq_dev_no_range();
      }
    }
  }
  return !likely || regular;
}

/// Converts a lane's columns, of likely blocks or of any, and collects their
/// codes. Rows and blocks that are missing are zeros, whatever their factor.
GQ_DEV void convertTall(const Op *o, const Job GQ_SHARED *job, Place place,
                        uint32_t parity, bool likely, Held *held,
                        const float factors[TALL_COLUMNS]) {
  Direction columnwise = o->columnwise, *d = &columnwise;
  d->scaler.format = GQ_FORMAT_NVFP4; // said here, it keeps others away
  bool there = place.row < columnwiseRows(o, job);
  bool draws = d->how.rounding == GQ_ROUNDING_STOCHASTIC;
  gq_dev_rng_keys rng;
  if (draws)
    rng = gq_dev_shared_rng();
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < TALL_COLUMNS; ++j) {
    gq_dev_random random = {{0}};
    if (draws) {
      uint32_t column = place.column + j;
      // Not kept for the next one: of f16 there is no register for it.
      if (o->heldType == GQ_F16)
        column = gq_dev_here(place.column) + j;
      random =
          gq_dev_random_of_block(&rng, true, indexIn(job, place.row, column));
    }
    uint32_t codes[4];
#pragma clang loop unroll(full)
    for (uint32_t quarter = 0; quarter < 4; ++quarter) {
      float y[4];
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < 4; ++k) {
        float pair[2];
        gq_dev_unpack(d->heldType, *tallWord(held, quarter * 4 + k, j / 2),
                      pair);
        uint32_t row = place.row + quarter * 4 + k;
        y[k] = scaledElement(d, !likely, row < columnwiseRows(o, job),
                             pair[j % 2], factors[j]);
      }
      codesOf(d, quarter, y, random.words[quarter], codes);
    }
    collectBlock(o, job, place, parity, j, there ? codes[0] : 0,
                 there ? codes[1] : 0);
  }
}

/// quantizeLane of such lanes, `suitable` being what areSuitable says of the
/// job. All lanes take part.
GQ_DEV void quantizeTall(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                         uint32_t parity, const Held *held, bool suitable) {
  Place place = placeOfLane(o, job, pass);
  float factors[TALL_COLUMNS];
  gq_dev_warp_barrier();
  const TallOuters outers = loadTallOuters(o, job, place);
  const Op either = likelyOp(o, suitable), likely = likelyOp(o, true);
  Held columns = turnedTall(o, true, held);
  bool regular =
      scaleTall(&either, job, place, parity, true, &columns, &outers, factors);
  if (__builtin_expect(gq_dev_ballot(!regular) == 0, 1)) {
    if (likelyWay(o) != o->columnwise.scaler.way && suitable)
      convertTall(&likely, job, place, parity, true, &columns, factors);
    else
      convertTall(o, job, place, parity, true, &columns, factors);
    return;
  }
  // Loaded once more, or they would be held meanwhile.
  const Held again = loadTall(o, job, place);
  columns = turnedTall(o, false, &again);
  scaleTall(o, job, place, parity, false, &columns, &outers, factors);
  convertTall(o, job, place, parity, false, &columns, factors);
}

#endif // GQ_KERNELS_KERNELS_TILES_TALL_H
