//===- Tall.h - lanes that have whole blocks of columns -----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a direction is transformed, rounded stochastically or has outer scales
// of its own rows or columns, a lane has 16 rows of 4 columns: blocks of
// columns, whose transform, scales and random bytes are then its own, without
// anything that lanes exchange. Blocks of rows are those of four lanes, each of
// which scales four of their 16 rows. Directions are quantized one after the
// other, and blocks are taken for regular ones first.
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

/// The first `count` of a lane's columns, transformed if they are to be.
GQ_DEV Held turnedTall(const Op *o, uint32_t count, bool likely,
                       const Held *held) {
  if (o->columnwise.how.transform == GQ_TRANSFORM_NONE)
    return *held;
  float unit = likely ? 1.0f : 0.25f;
  Held result;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_COLUMNS / 2; ++i) {
    if (i * 2 >= count)
      continue;
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

/// The outer amaxes of a lane's own rows or columns, if each has one.
typedef struct TallOuters {
  float amaxes[TALL_COLUMNS];
} TallOuters;

/// `count` of them, from row or column `first` of a job on; 0 where there is
/// none.
GQ_DEV TallOuters loadTallOuters(const Direction *d, const Job GQ_SHARED *job,
                                 uint32_t count, uint32_t first) {
  TallOuters outers = {{0.0f}};
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < TALL_COLUMNS; ++j)
    if (j < count && hasOwnOuters(d) && hasOuterAmax(d, job, first + j))
      outers.amaxes[j] = outerAmax(d, job, first + j);
  return outers;
}

/// The outer scale of number j of these, given the job's; if `likely`, right of
/// one that regular blocks can have. Those of rows and columns are te's, for
/// which an amax of 0 and none are the same.
GQ_DEV gq_dev_outer outerOfTall(const Direction *d, gq_dev_outer ofJob,
                                bool likely, uint32_t j,
                                const TallOuters *outers) {
  if (!hasOwnOuters(d))
    return gq_dev_used_outer(d->scaler, ofJob);
  return likely ? gq_dev_nvfp4_te_outer_near(outers->amaxes[j])
                : gq_dev_outer_from(d->scaler, outers->amaxes[j]);
}

/// Scales a lane's own `count` blocks of a direction, likely ones or any, of
/// which so many are `there`. Collects the scales and returns whether all are
/// regular.
GQ_DEV bool scaleTall(const Op *o, const Direction *d, gq_dev_outer ofJob,
                      uint32_t count, int32_t there, bool likely,
                      const TallOuters *outers, const float amax[TALL_COLUMNS],
                      uint8_t GQ_SHARED *scales, float factors[TALL_COLUMNS]) {
  gq_dev_scaler scaler = d->scaler;
  if (d->how.rounding == GQ_ROUNDING_STOCHASTIC)
    scaler.way = GQ_DEV_E2M1_NATIVE; // Elements as they are.
  gq_dev_range range = gq_dev_no_range();
  float unit = likelyUnit(d, likely);
  bool regular = true;
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < TALL_COLUMNS; ++j) {
    if (j >= count)
      continue;
    float most = amax[j] * unit;
    gq_dev_outer outer = outerOfTall(d, ofJob, likely, j, outers);
    gq_dev_block_scale block =
        likely ? gq_dev_nvfp4_regular(scaler, most, outer, false)
               : gq_dev_nvfp4_any(scaler, most, outer);
    bool none = !likely && (int32_t)j >= there;
    extendRange(o, &range, most);
    scales[j * scalePitch(d)] = none ? 0 : (uint8_t)block.bits;
    factors[j] = block.factor * unit;
    // Those with the same outer scale are asked about together.
    if (hasOwnOuters(d) || j == count - 1) {
      regular &= gq_dev_nvfp4_is_regular(scaler, range, outer, false);
      range = gq_dev_no_range();
    }
  }
  return !likely || regular;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

// A warp has `rows` of them, a constant: 16 or, if a warp alone has a pass that
// has no more, the first 4. Each of the lanes of a block owns a quarter.

/// The largest magnitudes of the blocks of a lane's own rows. All lanes take
/// part.
GQ_DEV void rowMagnitudesTall(const Op *o, Place place, uint32_t rows,
                              const Held *held, float amax[TALL_COLUMNS]) {
  const gqElementType type = o->heldType;
  uint32_t max[WORDS], words = rows / 2;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < TALL_ROWS; ++r)
    if (r < rows)
      max[r] = maxOf(o, type, *tallWord((Held *)held, r, 0),
                     *tallWord((Held *)held, r, 1));
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_ROWS / 2; ++i)
    if (i < words)
      max[i] = maxOfPairs(o, type, max[2 * i], max[2 * i + 1]);
  halveMax(o, type, place.thread & 2, 2, words / 2, max);
  if (rows == TALL_ROWS) {
    halveMax(o, type, place.thread & 1, 1, words / 4, max);
    unpackMax(o, type, max[0], amax);
    unpackMax(o, type, max[1], amax + 2);
    return;
  }
  float pair[2];
  unpackMax(o, type, maxOf(o, type, max[0], gq_dev_shuffle_xor(max[0], 1)),
            pair);
  amax[0] = place.thread & 1 ? pair[1] : pair[0];
}

/// Draws the bytes of a lane's own rows, from `first` on, for the lanes of
/// their blocks.
GQ_DEV void drawTallRows(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t rows, uint32_t first) {
  const gq_dev_rng_keys rng = gq_dev_shared_rng();
  uint32_t warp = place.thread / GQ_DEV_WARP, lane = place.thread % GQ_DEV_WARP;
  uint32_t column = place.column / GQ_DEV_UNIT * GQ_DEV_UNIT;
  gq_dev_u32x4 GQ_SHARED *to = tallRowsOf(o, warp) + lane / TALL_LANES;
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < TALL_COLUMNS; ++j) {
    if (j >= rows / TALL_LANES)
      continue;
    gq_dev_random random =
        gq_dev_random_of_block(&rng, false, indexIn(job, first + j, column));
    to[(first + j) % TALL_ROWS * (GQ_DEV_WARP / 4)] = (gq_dev_u32x4){
        random.words[0], random.words[1], random.words[2], random.words[3]};
  }
}

/// Where the factors of a warp's rows are, those of a block's after each other.
GQ_DEV float GQ_SHARED *tallFactors(Place place, uint32_t rows) {
  uint32_t lane = place.thread % GQ_DEV_WARP;
  return (float GQ_SHARED *)rowFactors[place.thread / GQ_DEV_WARP] +
         lane / TALL_LANES * rows;
}

/// Converts a lane's part of rows, of likely blocks or of any, and collects
/// their codes. Those of rows that are missing do not leave.
GQ_DEV void convertTallRows(const Op *o, Place place, uint32_t rows,
                            bool likely, const Held *held) {
  Direction rowwise = o->rowwise, *d = &rowwise;
  d->scaler.format = GQ_FORMAT_NVFP4; // said here, it keeps others away
  uint32_t warp = place.thread / GQ_DEV_WARP, lane = place.thread % GQ_DEV_WARP;
  bool draws = d->how.rounding == GQ_ROUNDING_STOCHASTIC;
  const gq_dev_f32x4 GQ_SHARED *factors =
      (const gq_dev_f32x4 GQ_SHARED *)tallFactors(place, rows);
  uint32_t GQ_SHARED *to = (uint32_t GQ_SHARED *)tallRowsOf(o, warp) + lane;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_ROWS / 4; ++i) {
    if (i * 4 >= rows)
      continue;
    gq_dev_f32x4 four = factors[i];
    uint32_t codes[4];
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 4; ++k) {
      uint32_t r = i * 4 + k;
      float x[4], y[4];
      gq_dev_unpack(o->heldType, *tallWord((Held *)held, r, 0), x);
      gq_dev_unpack(o->heldType, *tallWord((Held *)held, r, 1), x + 2);
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < 4; ++j)
        y[j] = scaledElement(d, !likely, true, x[j], four[k]);
      codesOf(d, k % 2, y, draws ? to[r * GQ_DEV_WARP] : 0, codes);
      if (k % 2 == 1)
        to[r / 2 * tallPitch(o) * 4] = codes[0];
    }
  }
}

/// Stores these: a lane has 32 columns of two rows.
GQ_DEV void storeTallRows(const Op *o, const Job GQ_SHARED *job, Place place) {
  const JobOutput GQ_SHARED *to = &job->rowwise;
  uint32_t warp = place.thread / GQ_DEV_WARP, lane = place.thread % GQ_DEV_WARP;
  uint32_t pair = lane / 4, column = lane % 4 * GQ_DEV_WARP;
  const gq_dev_u32x4 GQ_SHARED *from =
      tallRowsOf(o, warp) + pair * tallPitch(o) + lane % 4 * 2;
  gq_dev_u32x4 left = from[0], right = from[1];
  uint32_t row = place.row + pair * 2;
  uint32_t columns = column < job->columns ? job->columns - column : 0;
  uint32_t bytes = columns < GQ_DEV_WARP ? columns / 2 : 16;
  uint8_t GQ_GLOBAL *p =
      to->data + row * to->dataPitch + dataBytes(&o->rowwise, column);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t selector = i ? 0x7632 : 0x5410;
    uint32_t words[4] = {gq_dev_permute(left.x, left.y, selector),
                         gq_dev_permute(left.z, left.w, selector),
                         gq_dev_permute(right.x, right.y, selector),
                         gq_dev_permute(right.z, right.w, selector)};
    if (row + i < job->rows)
      storeBytes(p + i * to->dataPitch, words, bytes, 16,
                 isAligned(p + i * to->dataPitch, 0, 16));
  }
}

/// Collects the scales and the factors of a lane's own rows, of likely blocks
/// or of any, whose largest magnitudes are `amax`. Returns whether all are
/// regular.
GQ_DEV bool scaleTallRows(const Op *o, const Job GQ_SHARED *job, Place place,
                          uint32_t parity, uint32_t rows, bool likely,
                          const TallOuters *outers, uint32_t first,
                          const float amax[TALL_COLUMNS]) {
  const Direction *d = &o->rowwise;
  uint32_t own = rows / TALL_LANES;
  int32_t there =
      place.column < job->columns ? (int32_t)(job->rows - first) : 0;
  float factors[TALL_COLUMNS];
  bool regular = scaleTall(o, d, job->rowwise.outer, own, there, likely, outers,
                           amax, rowScaleAt(o, place, first, parity), factors);
  float GQ_SHARED *to =
      tallFactors(place, rows) + place.thread % TALL_LANES * own;
  if (rows == TALL_ROWS)
    *(gq_dev_f32x4 GQ_SHARED *)to =
        (gq_dev_f32x4){factors[0], factors[1], factors[2], factors[3]};
  else
    *to = factors[0];
  return regular;
}

/// Quantizes the rows of a warp. All lanes take part.
GQ_DEV void quantizeTallRows(const Op *o, const Job GQ_SHARED *job, Place place,
                             uint32_t parity, uint32_t rows, const Held *held,
                             bool suitable) {
  const Direction *d = &o->rowwise;
  bool draws = d->how.rounding == GQ_ROUNDING_STOCHASTIC;
  uint32_t first = firstTallRow(place, rows);
  const Op either = likelyOp(o, suitable), likely = likelyOp(o, true);
  const TallOuters outers = loadTallOuters(d, job, TALL_COLUMNS, first);
  float amax[TALL_COLUMNS];
  rowMagnitudesTall(&either, place, rows, held, amax);
  bool regular = scaleTallRows(&either, job, place, parity, rows, true, &outers,
                               first, amax);
  if (draws)
    drawTallRows(o, job, place, rows, first);
  bool allRegular = gq_dev_ballot(!regular) == 0;
  gq_dev_warp_barrier();
  if (__builtin_expect(!allRegular, 0)) {
    const TallOuters again = loadTallOuters(d, job, TALL_COLUMNS, first);
    rowMagnitudesTall(o, place, rows, held, amax);
    scaleTallRows(o, job, place, parity, rows, false, &again, first, amax);
    gq_dev_warp_barrier();
  }
  // What is rounded stochastically is not clamped before, of any block.
  if (__builtin_expect(!allRegular && !draws, 0))
    convertTallRows(o, place, rows, false, held);
  else if (suitable && likelyWay(o, d) != d->scaler.way)
    convertTallRows(&likely, place, rows, true, held);
  else
    convertTallRows(o, place, rows, true, held);
  gq_dev_warp_barrier();
  storeTallRows(o, job, place);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

// Of a lane's columns, `count`, all or two, from number `first` on, are the
// first ones of `held`.

/// The last two of a lane's columns in place of the first two.
GQ_DEV Held secondPairTall(const Held *held) {
  Held pair = *held;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < TALL_ROWS; ++r)
    *tallWord(&pair, r, 0) = *tallWord(&pair, r, 1);
  return pair;
}

/// Their largest magnitudes.
GQ_DEV void columnMagnitudesTall(const Op *o, uint32_t count, const Held *held,
                                 float amax[TALL_COLUMNS]) {
  const gqElementType type = o->columnwise.heldType;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_COLUMNS / 2; ++i) {
    if (i * 2 >= count)
      continue;
    uint32_t words[TALL_ROWS];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < TALL_ROWS; ++r)
      words[r] = *tallWord((Held *)held, r, i);
    uint32_t max = gq_dev_max_words_with(type, !o->keepsNan, words, TALL_ROWS);
    unpackMax(o, type, max, amax + 2 * i);
  }
}

/// Converts pair number `i` of `held`, a lane's columns from number `first` on,
/// of likely blocks or of any, and collects their codes. Rows that are missing
/// are zeros, whatever the factor, and so are both blocks unless `there`.
GQ_DEV void convertTallPair(const Op *o, const Job GQ_SHARED *job, Place place,
                            uint32_t parity, uint32_t first, bool likely,
                            bool there, const gq_dev_rng_keys *rng,
                            const Held *held, uint32_t i,
                            const float factors[2]) {
  Direction columnwise = o->columnwise, *d = &columnwise;
  d->scaler.format = GQ_FORMAT_NVFP4; // said here, it keeps others away
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < 2; ++j) {
    gq_dev_random random = {{0}};
    if (d->how.rounding == GQ_ROUNDING_STOCHASTIC) {
      uint32_t column = place.column + first + j;
      // Not kept for the next one: of f16 there is no register for it.
      if (o->heldType == GQ_F16)
        column = gq_dev_here(place.column) + first + j;
      random =
          gq_dev_random_of_block(rng, true, indexIn(job, place.row, column));
    }
    uint32_t codes[4];
#pragma clang loop unroll(full)
    for (uint32_t quarter = 0; quarter < 4; ++quarter) {
      float y[4];
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < 4; ++k) {
        float two[2];
        gq_dev_unpack(d->heldType, *tallWord((Held *)held, quarter * 4 + k, i),
                      two);
        uint32_t row = place.row + quarter * 4 + k;
        y[k] = scaledElement(d, !likely, row < columnwiseRows(o, job), two[j],
                             factors[j]);
      }
      codesOf(d, quarter, y, random.words[quarter], codes);
    }
    collectBlock(o, job, place, parity, first + j, there ? codes[0] : 0,
                 there ? codes[1] : 0);
  }
}

/// Converts all `count` of them, pair by pair.
GQ_DEV void convertTall(const Op *o, const Job GQ_SHARED *job, Place place,
                        uint32_t parity, uint32_t first, uint32_t count,
                        bool likely, const Held *columns,
                        const float factors[TALL_COLUMNS]) {
  bool there = place.row < columnwiseRows(o, job);
  gq_dev_rng_keys rng;
  if (o->columnwise.how.rounding == GQ_ROUNDING_STOCHASTIC)
    rng = gq_dev_shared_rng();
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_COLUMNS / 2; ++i)
    if (i * 2 < count)
      convertTallPair(o, job, place, parity, first + i * 2, likely, there, &rng,
                      columns, i, factors + i * 2);
}

/// The outer scale of their job, how many columns the job has from the first of
/// them on, which may be less than 0 or more than `count`, and where their
/// scales go.
typedef struct TallScales {
  gq_dev_outer ofJob;
  int32_t there;
  uint8_t GQ_SHARED *to;
} TallScales;

GQ_DEV TallScales scalesOfTall(const Op *o, const Job GQ_SHARED *job,
                               Place place, uint32_t parity, uint32_t first) {
  uint32_t column = place.column + first;
  return (TallScales){
      .ofJob = job->columnwise.outer,
      .there =
          place.row < job->paddedRows ? (int32_t)(job->columns - column) : 0,
      .to =
          columnScalesAt(o, place, parity) + first * scalePitch(&o->columnwise),
  };
}

/// Quantizes them.
GQ_DEV void quantizeTallColumnsFrom(const Op *o, const Job GQ_SHARED *job,
                                    Place place, uint32_t parity,
                                    uint32_t first, uint32_t count,
                                    const Held *held, bool suitable) {
  const Direction *d = &o->columnwise;
  uint32_t column = place.column + first;
  const Op either = likelyOp(o, suitable), likely = likelyOp(o, true);
  const TallOuters outers = loadTallOuters(d, job, count, column);
  TallScales scales = scalesOfTall(o, job, place, parity, first);
  float amax[TALL_COLUMNS], factors[TALL_COLUMNS];
  Held columns = turnedTall(o, count, true, held);
  // Of a pair they are read only here, and take no registers meanwhile: 452 to
  // 448 us of gradients (H200, 32768 by 8192). Of all four more is spilled.
  if (count < TALL_COLUMNS)
    scales = scalesOfTall(o, job, place, parity, first);
  columnMagnitudesTall(&either, count, &columns, amax);
  bool regular =
      scaleTall(&either, &either.columnwise, scales.ofJob, count, scales.there,
                true, &outers, amax, scales.to, factors);
  if (__builtin_expect(gq_dev_ballot(!regular) == 0, 1)) {
    if (suitable && likelyWay(o, d) != d->scaler.way)
      convertTall(&likely, job, place, parity, first, count, true, &columns,
                  factors);
    else
      convertTall(o, job, place, parity, first, count, true, &columns, factors);
    return;
  }
  // Loaded once more, or they would be held meanwhile.
  Held again = loadTallAgain(o, job, place);
  if (first > 0)
    again = secondPairTall(&again);
  const TallOuters outersAgain = loadTallOuters(d, job, count, column);
  columns = turnedTall(o, count, false, &again);
  columnMagnitudesTall(o, count, &columns, amax);
  scaleTall(o, d, scales.ofJob, count, scales.there, false, &outersAgain, amax,
            scales.to, factors);
  convertTall(o, job, place, parity, first, count, false, &columns, factors);
}

/// Quantizes the columns of a lane. Where both directions are so long that
/// warps wait for their own instructions, or four CTAs have the registers then,
/// two after the other two by the same ones.
GQ_DEV void quantizeTallColumns(const Op *o, const Job GQ_SHARED *job,
                                Place place, uint32_t parity, const Held *held,
                                bool suitable) {
  if (!gq_dev_tall_lanes_do_pairs(o->parts, o->alone, &o->columnwise.how)) {
    quantizeTallColumnsFrom(o, job, place, parity, 0, TALL_COLUMNS, held,
                            suitable);
    return;
  }
  Held next = *held;
#pragma clang loop unroll(disable)
  for (uint32_t first = 0; first < TALL_COLUMNS; first += 2) {
    const Held pair = next;
    next = secondPairTall(held);
    quantizeTallColumnsFrom(o, job, place, parity, first, 2, &pair, suitable);
  }
}

/// Whether passes with few rows have a way of their own, a constant: where each
/// row has much to do, and passes may have one row. Elsewhere more code costs
/// more, 3 % of full passes.
GQ_DEV bool hasFewTallRows(const Op *o) {
  return o->alone && (o->rowwise.how.rounding == GQ_ROUNDING_STOCHASTIC ||
                      hasOwnOuters(&o->rowwise));
}

/// quantizeLane of such lanes, `suitable` being what areSuitable says of the
/// job. All lanes take part.
GQ_DEV void quantizeTall(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                         uint32_t parity, const Held *held, bool suitable) {
  Place place = placeOfLane(o, job, pass);
  gq_dev_warp_barrier();
  if (o->rowwise.exists) {
    if (hasFewTallRows(o) && job->rows <= place.row + FEW_TALL_ROWS)
      quantizeTallRows(o, job, place, parity, FEW_TALL_ROWS, held, false);
    else
      quantizeTallRows(o, job, place, parity, TALL_ROWS, held, suitable);
  }
  quantizeTallColumns(o, job, place, parity, held, suitable);
}

#endif // GQ_KERNELS_KERNELS_TILES_TALL_H
