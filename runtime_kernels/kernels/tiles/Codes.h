//===- Codes.h - the codes of a job ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts what a lane holds, four rows by four columns at a time, in both
// directions. Codes of rows are stored from where they are; transposed ones as
// Columns4Bit.h and Columns8Bit.h say.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_CODES_H
#define GQ_KERNELS_KERNELS_TILES_CODES_H

#include "runtime_kernels/kernels/tiles/Columns4Bit.h"
#include "runtime_kernels/kernels/tiles/Columns8Bit.h"
#include "runtime_kernels/kernels/tiles/Scales.h"

/// The codes of four scaled elements, quarter number `quarter` of those that
/// gq_dev_codes4 puts together. The one place where this kernel makes codes: a
/// rounding that depends on where an element is gets this from the callers,
/// which know the element's row and column.
GQ_DEV void codesOf(const Direction *d, uint32_t quarter, const float y[4],
                    uint32_t codes[4]) {
  switch (d->rounding) {
  case GQ_ROUNDING_NEAREST:
  case GQ_ROUNDING_STOCHASTIC: // Of no kernel yet.
    gq_dev_codes4(d->scaler.format, quarter, y, codes);
  }
}

/// Converts a quarter of a row of a lane.
GQ_DEV void convertQuarter(const Direction *d, bool clamps, uint32_t quarter,
                           const float x[4], const float *factors,
                           uint32_t factorStep, uint32_t codes[4]) {
  float y[4];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i)
    y[i] = gq_dev_scaled(d->scaler, clamps, x[i], factors[i * factorStep]);
  codesOf(d, quarter, y, codes);
}

/// Whether a lane's codes can be stored at once.
GQ_DEV bool canStoreAtOnce(const Op *o) {
  uint32_t bytes = (uint32_t)dataBytes(&o->rowwise, columnsOfLane(o));
  bool rows =
      isAligned(o->rowwise.data, o->ragged ? 0 : o->rowwise.dataStride, bytes);
  bool columns =
      collectsColumns(o) ||
      (o->columnwise.transposes
           ? isAligned(o->columnwise.data, 0, bytes / 2)
           : isAligned(o->columnwise.data,
                       o->ragged ? 0 : o->columnwise.dataStride, bytes));
  return (!o->rowwise.exists | rows) & (!o->columnwise.exists | columns);
}

/// The same, once a thread has stored it, so that no register holds it where
/// they are scarce.
static volatile GQ_SHARED uint32_t sharedAtOnce GQ_UNINITIALIZED;
GQ_DEV bool storesAtOnce(const Op *o) {
  return collectsColumns(o) ? canStoreAtOnce(o) : sharedAtOnce;
}

/// Stores the codes of a lane's row at once.
GQ_DEV void storeRow(const Op *o, bool there, uint8_t GQ_GLOBAL *p,
                     const uint32_t codes[4]) {
  if (sharesRows(o))
    gq_dev_store4_if(there, p, codes[0]);
  else if (o->rowwise.traits.dataBits == 4)
    gq_dev_store8_if(there, p, codes);
  else
    gq_dev_store16_if(there, p, codes);
}

/// Where the codes of a lane's first row go.
GQ_DEV uint8_t GQ_GLOBAL *rowCodesAt(const Direction *d, Place place,
                                     const JobOutput GQ_SHARED *to) {
  return to->data + place.row * to->dataPitch + dataBytes(d, place.column);
}

/// Unpacks a quarter of row r.
GQ_DEV void unpackQuarter(const Op *o, const Held *held, uint32_t r,
                          uint32_t quarter, float x[4]) {
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < 4; ++j)
    if (j < 4 / perWord)
      gq_dev_unpack(o->heldType, held->words[r][quarter * 4 / perWord + j],
                    x + j * perWord);
}

/// Loads the factors of a quarter of the columns.
GQ_DEV void loadFactors(const Op *o, Place place, uint32_t quarter,
                        float factors[4]) {
  gq_dev_f32x4 four = *(const gq_dev_f32x4 GQ_SHARED *)factorsAt(
      o, place, place.column + quarter * 4);
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < 4; ++j)
    factors[j] = four[j];
}

/// Adds sums of columns `first` on, of which a lane has `count`, 4 or 16, to
/// those of the job. The lanes below each other share them: at each step, one
/// of two takes the first half of what they have left and one the other. All
/// lanes take part.
GQ_DEV void collectSums(const Op *o, Place place, uint32_t parity,
                        bool firstPass, uint32_t first, uint32_t count,
                        float *sums) {
  uint32_t column = first;
#pragma clang loop unroll(full)
  for (uint32_t distance = 1; distance < LANES_DOWN; distance *= 2) {
    if (distance >= lanesDown(o))
      continue;
    uint32_t left = count / 2 / distance;
    bool upper = left && place.down & distance;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < GQ_DEV_UNIT / 2; ++i)
      if (i < (left ? left : 1)) {
        float low = sums[i], high = sums[i + left];
        uint32_t sent = gq_dev_f32_bits(upper ? low : high);
        sums[i] = (upper ? high : low) +
                  gq_dev_f32_from_bits(
                      gq_dev_shuffle_xor(sent, distance * lanesAcross(o)));
      }
    column += upper ? left : 0;
  }
  if (place.down & ~(count - 1))
    return;
  float GQ_SHARED *to =
      &columnSums[parity][place.thread / (THREADS / 2)][column];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT / LANES_DOWN; ++i)
    if (i * lanesDown(o) < count)
      to[i] = firstPass ? sums[i] : to[i] + sums[i];
}

/// Converts a lane's elements, all of whose blocks are regular, and stores
/// their codes at once; collects the sums of its columns. All lanes take part.
GQ_DEV void convert(const Op *o, const Job GQ_SHARED *job, Place place,
                    uint32_t parity, const Held *held,
                    const float rowFactors[ROWS], bool firstPass) {
  const Direction *rowwise = &o->rowwise, *columnwise = &o->columnwise;
  const JobOutput GQ_SHARED *toRows = &job->rowwise;
  const JobOutput GQ_SHARED *toColumns = &job->columnwise;
  bool transposes = columnwise->transposes;
  bool isCrowded =
      rowwise->exists && columnwise->exists && !transposes && o->hasDbias;
  bool hasColumns = place.column < job->columns;
  bool hasTransposed = hasColumns && place.row < job->paddedRows;
  uint32_t rows = hasColumns ? job->rows : 0;
  bool isGrouped = !o->allRows || job->group >= 0;
  uint32_t columnwiseRows = isGrouped ? rows : 0;
  uint32_t pitch = (uint32_t)toColumns->dataPitch; // if it transposes
  uint32_t rowCodes[ROWS][4], sameCodes[ROWS][4];
  // Four columns by four rows at a time, so that little is held.
#pragma clang loop unroll(full)
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    if (quarter * 4 >= columnsOfLane(o))
      continue;
    gq_dev_warp_barrier();
    uint32_t transposed[4][4];
    float factors[4], sums[4];
    if (columnwise->exists)
      loadFactors(o, place, quarter, factors);
#pragma clang loop unroll(full)
    for (uint32_t top = 0; top < ROWS; top += 4) {
      if (top >= rowsOfLane(o))
        continue;
      float y[4][4];
#pragma clang loop unroll(full)
      for (uint32_t r = top; r < top + 4; ++r) {
        float x[4], ofRow[4], ofColumn[4];
        // Or the assembler begins with more rows than there are registers for.
        if (r && r % 2 == 0 && quarter == 3 && isCrowded)
          gq_dev_warp_barrier();
        unpackQuarter(o, held, r, quarter, x);
        unpackQuarter(o, elementsOf(rowwise, held), r, quarter, ofRow);
        unpackQuarter(o, elementsOf(columnwise, held), r, quarter, ofColumn);
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; ++j) {
          sums[j] = r ? sums[j] + x[j] : x[j];
          if (transposes)
            y[j][r % 4] = ofColumn[j] * factors[j];
        }
        if (rowwise->exists)
          convertQuarter(rowwise, false, quarter, ofRow, &rowFactors[r], 0,
                         rowCodes[r]);
        if (columnwise->exists && !transposes)
          convertQuarter(columnwise, false, quarter, ofColumn, factors, 1,
                         sameCodes[r]);
        if (quarter * 4 + 4 < columnsOfLane(o))
          continue;
        if (rowwise->exists)
          storeRow(o, place.row + r < rows,
                   rowCodesAt(rowwise, place, toRows) + r * toRows->dataPitch,
                   rowCodes[r]);
        if (columnwise->exists && !transposes)
          storeRow(o, place.row + r < columnwiseRows,
                   rowCodesAt(columnwise, place, toColumns) +
                       r * toColumns->dataPitch,
                   sameCodes[r]);
      }
      if (!transposes)
        continue;
      uint8_t GQ_GLOBAL *p = columnCodesAt(o, place, toColumns->data, pitch);
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < 4; ++j) {
        codesOf(columnwise, top / 4, y[j], transposed[j]);
        if (top + 4 < rowsOfLane(o))
          continue;
        uint32_t column = quarter * 4 + j;
        if (collectsColumns(o))
          collectColumn(o, place, parity, column,
                        top ? transposed[j][0] : halfOfCodes(transposed[j][0]));
        else
          storeColumn(o, hasTransposed, p + (uint64_t)column * pitch,
                      transposed[j]);
      }
    }
    if (o->hasDbias)
      collectSums(o, place, parity, firstPass, place.column + quarter * 4, 4,
                  sums);
  }
}

/// Scales row number r of a lane, whose block can be any and is outside of the
/// tile if not `there`. Returns the factor. All lanes take part.
GQ_DEV float scaleAnyRow(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t parity, uint32_t r, bool there,
                         const float x[GQ_DEV_UNIT]) {
  const Direction *d = &o->rowwise;
  float amax = gq_dev_f32_amax(x, GQ_DEV_UNIT);
  if (d->traits.blockColumns == 2 * GQ_DEV_UNIT)
    amax = gq_dev_max_number(amax, gq_dev_f32_from_bits(gq_dev_shuffle_xor(
                                       gq_dev_f32_bits(amax), 1)));
  gq_dev_block_scale block = gq_dev_any_block(
      d->scaler, amax, outerOf(d, job->rowwise.outer, place.row + r));
  if (hasRowScales(o, place))
    rowScaleAt(o, place, place.row, parity)[r * scalePitch(d)] =
        there ? (uint8_t)block.bits : 0;
  return block.factor;
}

/// Does the same with any blocks and any outputs, and scales the rows again.
/// This is rare: it goes through the rows one after the other and loads them
/// once more. All lanes take part.
GQ_DEV void convertAny(const Op *o, const Job GQ_SHARED *job, Place place,
                       uint32_t parity, bool firstPass) {
  const Direction *rowwise = &o->rowwise, *columnwise = &o->columnwise;
  const JobOutput GQ_SHARED *toRows = &job->rowwise;
  const JobOutput GQ_SHARED *toColumns = &job->columnwise;
  uint32_t bytes = (uint32_t)dataBytes(rowwise, columnsOfLane(o));
  bool hasColumns = place.column < job->columns, atOnce = storesAtOnce(o);
  bool hasTransposed = hasColumns && place.row < job->paddedRows;
  uint32_t rows = hasColumns ? job->rows : 0;
  uint8_t GQ_GLOBAL *data =
      rowwise->exists ? rowCodesAt(rowwise, place, toRows) : 0;
  uint8_t GQ_GLOBAL *same =
      columnwise->exists ? rowCodesAt(columnwise, place, toColumns) : 0;
  uint8_t GQ_GLOBAL *transposed =
      columnwise->exists
          ? columnCodesAt(o, place, toColumns->data, toColumns->dataPitch)
          : 0;
  uint32_t columns[GQ_DEV_UNIT] = {0};
  float sums[GQ_DEV_UNIT] = {0.0f};
  const float GQ_SHARED *shared = factorsAt(o, place, place.column);
#pragma clang loop unroll(disable)
  for (uint32_t r = 0; r < rowsOfLane(o); ++r) {
    bool there = place.row + r < rows;
    float x[GQ_DEV_UNIT], factors[GQ_DEV_UNIT];
    uint32_t rowCodes[4], sameCodes[4];
    loadRow(o, job, place, place.row + r, x);
    float factor = 0.0f;
    if (rowwise->exists)
      factor = hasLongBlocks(o)
                   ? longRowFactors[place.row + r]
                   : scaleAnyRow(o, job, place, parity, r, there, x);
    if (isSecond(o, place)) // The first half is the other lane's.
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < GQ_DEV_UNIT / 2; ++i)
        x[i] = x[i + GQ_DEV_UNIT / 2];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i) {
      if (columnwise->exists && i < columnsOfLane(o))
        factors[i] = shared[i];
      sums[i] += x[i];
    }
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i) {
      if (i * 4 >= columnsOfLane(o))
        continue;
      if (rowwise->exists)
        convertQuarter(rowwise, true, i, x + 4 * i, &factor, 0, rowCodes);
      if (columnwise->exists)
        convertQuarter(columnwise, true, i, x + 4 * i, factors + 4 * i, 1,
                       sameCodes);
    }
    if (rowwise->exists && there)
      storeBytes(data + r * toRows->dataPitch, rowCodes, bytes, bytes, atOnce);
    if (columnwise->exists && !columnwise->transposes && there &&
        job->group >= 0)
      storeBytes(same + r * toColumns->dataPitch, sameCodes, bytes, bytes,
                 atOnce);
    if (columnwise->transposes) {
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
        if (i >= columnsOfLane(o)) {
          continue;
        } else if (collectsColumns(o)) {
          // Missing rows are 0, also times an infinite factor.
          columns[i] |= (there ? sameCodes[i / 8] >> i % 8 * 4 & 15 : 0)
                        << r * 4;
        } else if (hasTransposed) {
          transposed[i * toColumns->dataPitch + r] =
              (uint8_t)(sameCodes[i / 4] >> i % 4 * 8);
        }
    }
  }
  if (o->hasDbias)
    collectSums(o, place, parity, firstPass, place.column, columnsOfLane(o),
                sums);
  if (!collectsColumns(o))
    return;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    if (i < columnsOfLane(o))
      collectColumn(o, place, parity, i, columns[i]);
}

/// Converts a lane's elements as fits their blocks and the outputs.
GQ_DEV void convertLane(const Op *o, const Job GQ_SHARED *job, Place place,
                        uint32_t parity, const Held *held,
                        const float rowFactors[ROWS], bool regular,
                        bool firstPass) {
  if (__builtin_expect(!regular, 0))
    convertAny(o, job, place, parity, firstPass);
  else
    convert(o, job, place, parity, held, rowFactors, firstPass);
}

/// Quantizes a lane's elements. All lanes take part.
GQ_DEV void quantizeLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                         uint32_t parity, const Held *held) {
  Place place = placeOfLane(o, job, pass);
  float factors[ROWS];
  bool regular = storesAtOnce(o);
  gq_dev_warp_barrier();
  if (o->columnwise.exists)
    regular &= scaleColumns(o, job, place, parity, held);
  if (o->rowwise.exists)
    regular &= scaleRows(o, job, place, parity, held, factors);
  bool allRegular = gq_dev_ballot(!regular) == 0;
  if (!allRegular && o->columnwise.exists)
    scaleAnyColumns(o, job, place, parity, held);
  gq_dev_warp_barrier();
  if (o->rowwise.exists && sharesRows(o))
    loadRowFactors(place, factors);
  convertLane(o, job, place, parity, held, factors, allRegular, pass == 0);
}

/// Whether a warp has elements of a pass or, in columns, padding.
GQ_DEV bool hasElements(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  uint32_t warp = gq_dev_here(gq_dev_thread()) / GQ_DEV_WARP;
  uint32_t row = firstRowOfWarp(o, job, warp, pass);
  return (row < job->rows || row < job->paddedRows) &&
         firstColumnOfWarp(warp) < job->columns;
}

/// Leaves what a lane without elements leaves. All lanes take part.
GQ_DEV void skipLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                     uint32_t parity) {
  Place place = placeOfLane(o, job, pass);
  clearScales(o, place, parity);
  float none[GQ_DEV_UNIT] = {0.0f};
  gq_dev_warp_barrier(); // Other lanes may have had the sums in a pass before.
  if (o->hasDbias)
    collectSums(o, place, parity, pass == 0, place.column, columnsOfLane(o),
                none);
}

#endif // GQ_KERNELS_KERNELS_TILES_CODES_H
