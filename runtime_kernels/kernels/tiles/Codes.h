//===- Codes.h - the codes of a job ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts what a lane holds, four rows by four columns at a time, in both
// directions. Codes of rows are stored directly; transposed ones as
// Columns4Bit.h and Columns8Bit.h describe.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_CODES_H
#define GQ_KERNELS_KERNELS_TILES_CODES_H

#include "runtime_kernels/kernels/tiles/Columns4Bit.h"
#include "runtime_kernels/kernels/tiles/Columns8Bit.h"
#include "runtime_kernels/kernels/tiles/SquareBlocks.h"

/// The codes of four scaled elements, quarter number `quarter` of those that
/// gq_dev_codes4 puts together, with a byte of `random` for each. The one place
/// where this kernel makes codes. Half of eight that are made of pairs are two
/// words until the others are there.
GQ_DEV void codesOf(const Direction *d, uint32_t quarter, const float y[4],
                    uint32_t random, uint32_t codes[4]) {
  bool spaced = d->scaler.way == GQ_DEV_E2M1_CUT_SPACED;
  if (spaced || d->scaler.way == GQ_DEV_E2M1_CUT) {
    uint32_t pairs[2];
    if (spaced)
      gq_dev_e2m1x4_cut_spaced(y, pairs);
    else
      gq_dev_e2m1x4_cut(y, pairs);
    if (quarter % 2 == 0) {
      codes[2] = pairs[0];
      codes[3] = pairs[1];
    } else {
      codes[quarter / 2] = gq_dev_e2m1x8_cut(codes + 2, pairs);
    }
    return;
  }
  switch (d->how.rounding) {
  case GQ_ROUNDING_NEAREST:
    gq_dev_codes4(d->scaler.format, quarter, y, codes);
    break;
  case GQ_ROUNDING_STOCHASTIC: {
    uint32_t pairs[2];
    gq_dev_e2m1x4_stochastic(y, random, pairs);
    if (quarter % 2 == 0) {
      codes[2] = pairs[0];
      codes[3] = pairs[1];
    } else {
      codes[quarter / 2] = gq_dev_e2m1x8_stochastic(codes + 2, pairs);
    }
  }
  }
}

/// Four codes of 4 bits, as codesOf leaves them, in order.
GQ_DEV uint32_t halfOfCodes(const Direction *d, const uint32_t codes[4]) {
  const float none[4] = {0.0f};
  const uint32_t noPairs[2] = {0};
  return d->how.rounding == GQ_ROUNDING_NEAREST
             ? gq_dev_e2m1x8_after(codes[0], none)
             : gq_dev_e2m1x8_stochastic(codes + 2, noPairs);
}

/// An element as codesOf takes it, 0 if it is not `there`.
GQ_DEV float scaledElement(const Direction *d, bool clamps, bool there, float x,
                           float factor) {
  // A missing element is 0, but its product with the factor may not be.
  if (clamps && !there)
    return 0.0f;
  return d->how.rounding == GQ_ROUNDING_STOCHASTIC
             ? x * factor
             : gq_dev_scaled(d->scaler, clamps, x, factor);
}

/// Converts a quarter of a row of a lane.
GQ_DEV void convertQuarter(const Direction *d, bool clamps, uint32_t quarter,
                           const float x[4], const float *factors,
                           uint32_t factorStep, uint32_t random,
                           uint32_t codes[4]) {
  float y[4];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i)
    y[i] = scaledElement(d, clamps, true, x[i], factors[i * factorStep]);
  codesOf(d, quarter, y, random, codes);
}

/// The index of the element (row, column) of a job in what is quantized.
GQ_DEV int64_t indexIn(const Job GQ_SHARED *job, uint32_t row,
                       uint32_t column) {
  return (job->inputRow + row) * job->columnsOfGroup + job->inputColumn +
         column;
}

/// Word number i, which is not constant.
GQ_DEV uint32_t wordOf(const gq_dev_random *random, uint32_t i) {
  uint32_t low = i & 1 ? random->words[1] : random->words[0];
  uint32_t high = i & 1 ? random->words[3] : random->words[2];
  return i & 2 ? high : low;
}

/// The random bytes of four rows of a lane from row `top` on, of a quarter of
/// its columns, if rows are rounded stochastically. All lanes take part.
GQ_DEV void randomOfRows(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t top, uint32_t quarter, uint32_t words[4]) {
  if (o->rowwise.how.rounding != GQ_ROUNDING_STOCHASTIC)
    return;
  const gq_dev_rng_keys rng = gq_dev_shared_rng();
  uint32_t column = place.column / GQ_DEV_UNIT * GQ_DEV_UNIT;
  bool second = isSecond(o, place);
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < 4; ++r) {
    if (sharesRows(o) && r >= 2)
      continue;
    // Of two lanes that share rows, each has the bytes of two.
    uint32_t row = top + r + (sharesRows(o) && second ? 2 : 0);
    gq_dev_random random = gq_dev_random_of_block(
        &rng, false, indexIn(job, place.row + row, column));
    if (!sharesRows(o)) {
      words[r] = random.words[quarter];
      continue;
    }
    uint32_t first = random.words[quarter];
    uint32_t last = random.words[quarter % 2 + 2];
    uint32_t own = second ? last : first;
    uint32_t other = gq_dev_shuffle_xor(second ? first : last, 1);
    words[r] = second ? other : own;
    words[r + 2] = second ? own : other;
  }
}

/// Those of four columns, of a lane's rows 0 to 3 and 4 to 7, if columns are.
GQ_DEV void randomOfColumns(const Op *o, const Job GQ_SHARED *job, Place place,
                            uint32_t quarter, uint32_t words[2][4]) {
  if (o->columnwise.how.rounding != GQ_ROUNDING_STOCHASTIC)
    return;
  const gq_dev_rng_keys rng = gq_dev_shared_rng();
  uint32_t row = place.row / GQ_DEV_UNIT * GQ_DEV_UNIT;
  bool two = rowsOfLane(o) == 8, lower = place.down & 1;
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < 4; ++j) {
    if (two && j >= 2)
      continue;
    // Of two lanes that share columns, each has the bytes of two.
    uint32_t column = quarter * 4 + j + (two && lower ? 2 : 0);
    gq_dev_random random = gq_dev_random_of_block(
        &rng, true, indexIn(job, row, place.column + column));
    if (!two) {
      words[0][j] = wordOf(&random, place.down % 4);
      continue;
    }
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 2; ++i) {
      uint32_t above = random.words[i], below = random.words[i + 2];
      uint32_t own = lower ? below : above;
      uint32_t other =
          gq_dev_shuffle_xor(lower ? above : below, lanesAcross(o));
      words[i][j] = lower ? other : own;
      words[i][j + 2] = lower ? own : other;
    }
  }
}

/// Whether a lane's codes can be stored at once.
GQ_DEV bool canStoreAtOnce(const Op *o) {
  uint32_t bytes = (uint32_t)dataBytes(&o->rowwise, columnsOfLane(o));
  bool rows =
      isAligned(o->rowwise.data, o->ragged ? 0 : o->rowwise.dataStride, bytes);
  bool columns =
      collectsColumns(o) ||
      (o->columnwise.transposes
           ? isAligned(o->columnwise.data, 0,
                       exchangesColumns(o) ? bytes : bytes / 2)
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

/// Stores the codes of a lane's row, at once unless the op is unusual and they
/// cannot be.
GQ_DEV void storeRow(const Op *o, bool there, uint8_t GQ_GLOBAL *p,
                     const uint32_t codes[4]) {
  if (o->unusual && !storesAtOnce(o)) {
    uint32_t bytes = (uint32_t)dataBytes(&o->rowwise, columnsOfLane(o));
    if (there)
      storeBytes(p, codes, bytes, bytes, false);
  } else if (sharesRows(o))
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
GQ_DEV void unpackQuarter(gqElementType type, const Held *held, uint32_t r,
                          uint32_t quarter, float x[4]) {
  uint32_t perWord = gq_dev_elements_per_word(type);
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < 4 / perWord; ++j)
    gq_dev_unpack(type, held->words[r][quarter * 4 / perWord + j],
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

/// Where the sums of a lane's pass go.
GQ_DEV float GQ_SHARED *sumsAt(const Op *o, Place place, uint32_t parity) {
  return sumsOfPass(o, parity, place.row / rowsOfWarp(o) % numSumsOf(o));
}

/// The sum of a column, of `rows` rows that are there: by twos, so that it is
/// the same however rows are divided.
GQ_DEV float sumOfPasses(const Op *o, uint32_t parity, uint32_t rows,
                         uint32_t column) {
  float sums[PASSES];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < PASSES; ++i)
    sums[i] = i < numSumsOf(o) && i * rowsOfWarp(o) < rows
                  ? sumsOfPass(o, parity, i)[column]
                  : 0.0f;
#pragma clang loop unroll(full)
  for (uint32_t step = 1; step < PASSES; step *= 2)
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i + step < PASSES; i += 2 * step)
      sums[i] += sums[i + step];
  return sums[0];
}

/// Collects sums of columns `first` on, of which a lane has `count`, 4 or 16.
/// The lanes below each other share them: at each step, one of two takes the
/// first half of what they have left and one the other. All lanes take part.
GQ_DEV void collectSums(const Op *o, Place place, uint32_t parity,
                        uint32_t first, uint32_t count, float *sums) {
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
  float GQ_SHARED *to = sumsAt(o, place, parity) + column;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT / 2; ++i)
    if (i * lanesDown(o) < count)
      to[i] = sums[i];
}

/// Whether one direction is quantized after the other: else there would be more
/// at a time than registers.
GQ_DEV bool takesTurns(const Op *o) {
  return o->columnwise.how.transform != GQ_TRANSFORM_NONE ||
         roundsStochastically(o);
}

/// Whether codes of both directions are made and stored row after row, a
/// constant: MXFP4's, whose columns are not transposed, of elements of 16 bits.
/// MXFP8 is not faster by it.
GQ_DEV bool convertsByRows(const Op *o) {
  return o->format == GQ_FORMAT_MXFP4 && o->rowwise.exists &&
         o->columnwise.exists && !o->hasDbias && !o->unusual &&
         o->heldType != GQ_F32;
}

/// Four rows of a lane.
typedef struct FourRows {
  uint32_t words[4][GQ_DEV_UNIT / 2];
  float factors[4];
} FourRows;

GQ_DEV FourRows fourRowsOf(const Held *held, const float factors[ROWS],
                           uint32_t first) {
  FourRows four;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < 4; ++r) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < GQ_DEV_UNIT / 2; ++i)
      four.words[r][i] = held->words[first + r][i];
    four.factors[r] = factors[first + r];
  }
  return four;
}

/// convert of such. Four rows after the other four, by the same instructions:
/// all at once were so many that warps waited for them.
GQ_DEV void convertByRows(const Op *o, const Job GQ_SHARED *job, Place place,
                          const Held *held, const float rowFactors[ROWS]) {
  const Direction *rowwise = &o->rowwise, *columnwise = &o->columnwise;
  const JobOutput GQ_SHARED *toRows = &job->rowwise;
  const JobOutput GQ_SHARED *toColumns = &job->columnwise;
  uint32_t rows = place.column < job->columns ? job->rows : 0;
  uint32_t groupedRows = isInGroup(o, job->group) ? rows : 0;
  float factors[GQ_DEV_UNIT];
#pragma clang loop unroll(full)
  for (uint32_t quarter = 0; quarter < 4; ++quarter)
    loadFactors(o, place, quarter, factors + 4 * quarter);
  uint8_t GQ_GLOBAL *p = rowCodesAt(rowwise, place, toRows);
  uint8_t GQ_GLOBAL *same = rowCodesAt(columnwise, place, toColumns);
  FourRows next = fourRowsOf(held, rowFactors, 0);
#pragma clang loop unroll(disable)
  for (uint32_t first = 0; first < ROWS; first += 4) {
    const FourRows four = next;
    next = fourRowsOf(held, rowFactors, 4);
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < 4; ++r) {
      uint32_t rowCodes[4], sameCodes[4], row = place.row + first + r;
#pragma clang loop unroll(full)
      for (uint32_t quarter = 0; quarter < 4; ++quarter) {
        float x[4];
        gq_dev_unpack(o->heldType, four.words[r][quarter * 2], x);
        gq_dev_unpack(o->heldType, four.words[r][quarter * 2 + 1], x + 2);
        convertQuarter(rowwise, false, quarter, x, &four.factors[r], 0, 0,
                       rowCodes);
        convertQuarter(columnwise, false, quarter, x, factors + 4 * quarter, 1,
                       0, sameCodes);
      }
      storeRow(o, row < rows, p, rowCodes);
      storeRow(o, row < groupedRows, same, sameCodes);
      p += toRows->dataPitch;
      same += toColumns->dataPitch;
    }
  }
}

/// Converts a lane's elements, all of whose blocks are regular unless the op is
/// unusual, and stores their codes at once; collects the sums of its columns,
/// which quantize `columns`. Does those `parts` of this, GQ_DEV_ROWWISE,
/// GQ_DEV_COLUMNWISE and GQ_DEV_DBIAS, that the op has. All lanes take part.
GQ_DEV void convert(const Op *o, const Job GQ_SHARED *job, Place place,
                    uint32_t parity, int32_t parts, const Held *held,
                    const Held *columns, const float rowFactors[ROWS]) {
  const Direction *rowwise = &o->rowwise, *columnwise = &o->columnwise;
  const JobOutput GQ_SHARED *toRows = &job->rowwise;
  const JobOutput GQ_SHARED *toColumns = &job->columnwise;
  bool hasRows = parts & GQ_DEV_ROWWISE && rowwise->exists;
  bool hasColumnwise = parts & GQ_DEV_COLUMNWISE && columnwise->exists;
  bool hasSums = parts & GQ_DEV_DBIAS && o->hasDbias;
  if (convertsByRows(o)) {
    convertByRows(o, job, place, held, rowFactors);
    return;
  }
  bool transposes = hasColumnwise && columnwise->transposes;
  bool isCrowded = hasRows && hasColumnwise && !transposes && hasSums;
  bool hasColumns = place.column < job->columns;
  bool hasTransposed = hasColumns && place.row < job->paddedRows;
  uint32_t rows = hasColumns ? job->rows : 0;
  uint32_t groupedRows = isInGroup(o, job->group) ? rows : 0;
  uint32_t transposedRows = columnwiseRows(o, job);
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
    uint32_t columnRandom[2][4] = {{0}};
    if (hasColumnwise && hasScales(columnwise) && !sharesSquares(o))
      loadFactors(o, place, quarter, factors);
    if (!hasScales(columnwise) || sharesSquares(o))
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < 4; ++j)
        factors[j] = rowFactors[0];
    if (hasColumnwise)
      randomOfColumns(o, job, place, quarter, columnRandom);
#pragma clang loop unroll(full)
    for (uint32_t top = 0; top < ROWS; top += 4) {
      if (top >= rowsOfLane(o))
        continue;
      float y[4][4];
      uint32_t rowRandom[4] = {0};
      if (takesTurns(o) && hasRows) // So that no more rows are begun.
        gq_dev_warp_barrier();
      if (hasRows)
        randomOfRows(o, job, place, top, quarter, rowRandom);
#pragma clang loop unroll(full)
      for (uint32_t r = top; r < top + 4; ++r) {
        float x[4], ofRow[4], ofColumn[4];
        // Or the assembler begins with more rows than there are registers for.
        if (r && r % 2 == 0 && quarter == 3 && isCrowded)
          gq_dev_warp_barrier();
        unpackQuarter(o->heldType, held, r, quarter, x);
        unpackQuarter(o->heldType, held, r, quarter, ofRow);
        unpackQuarter(columnwise->heldType, columns, r, quarter, ofColumn);
        bool there = place.row + r < transposedRows;
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; ++j) {
          sums[j] = r ? sums[j] + x[j] : x[j];
          if (transposes)
            y[j][r % 4] = scaledElement(columnwise, o->unusual, there,
                                        ofColumn[j], factors[j]);
        }
        if (hasRows)
          convertQuarter(rowwise, o->unusual, quarter, ofRow, &rowFactors[r], 0,
                         rowRandom[r % 4], rowCodes[r]);
        if (hasColumnwise && !transposes)
          convertQuarter(columnwise, false, quarter, ofColumn, factors, 1, 0,
                         sameCodes[r]);
        if (quarter * 4 + 4 < columnsOfLane(o))
          continue;
        if (hasRows)
          storeRow(o, place.row + r < rows,
                   rowCodesAt(rowwise, place, toRows) + r * toRows->dataPitch,
                   rowCodes[r]);
        if (hasColumnwise && !transposes)
          storeRow(o, place.row + r < groupedRows,
                   rowCodesAt(columnwise, place, toColumns) +
                       r * toColumns->dataPitch,
                   sameCodes[r]);
      }
      if (!transposes)
        continue;
      uint8_t GQ_GLOBAL *p = columnCodesAt(o, place, toColumns->data, pitch);
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < 4; ++j) {
        codesOf(columnwise, top / 4, y[j], columnRandom[top / 4][j],
                transposed[j]);
        if (top + 4 < rowsOfLane(o))
          continue;
        uint32_t column = quarter * 4 + j;
        if (collectsColumns(o))
          collectColumn(o, job, place, parity, column,
                        top ? transposed[j][0]
                            : halfOfCodes(columnwise, transposed[j]));
        else if (exchangesColumns(o))
          leaveColumn(o, place, j, transposed[j]);
        else
          storeColumn(o, hasTransposed, p + (uint64_t)column * pitch,
                      transposed[j]);
      }
    }
    if (transposes && exchangesColumns(o))
      storeLeft(o, job, place, quarter, pitch);
    if (hasSums)
      collectSums(o, place, parity, place.column + quarter * 4, 4, sums);
  }
}

/// Scales row number r of a lane, for any kind of block; it is outside of the
/// tile if not `there`. `square` is the largest magnitude of a square block.
/// Returns the factor. All lanes take part.
GQ_DEV float scaleAnyRow(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t parity, uint32_t r, bool there, float square,
                         const float x[GQ_DEV_UNIT]) {
  const Direction *d = &o->rowwise;
  float amax = gq_dev_f32_amax(x, GQ_DEV_UNIT);
  if (d->traits.blockColumns == 2 * GQ_DEV_UNIT)
    amax = gq_dev_max_number(amax, gq_dev_f32_from_bits(gq_dev_shuffle_xor(
                                       gq_dev_f32_bits(amax), 1)));
  if (gqDirectionHasSquares(&d->how))
    amax = square;
  gq_dev_block_scale block = gq_dev_any_block(
      d->scaler, amax, outerOf(d, job, job->rowwise.outer, place.row + r));
  if (hasRowScales(o, place))
    rowScaleAt(o, place, place.row, parity)[r * scalePitch(d)] =
        there ? (uint8_t)block.bits : 0;
  return block.factor;
}

/// What convert does, for any blocks and any outputs, and scales the rows
/// again. This is rare, but for unaligned inputs: it goes through the rows one
/// after the other and loads them once more. All lanes take part.
GQ_DEV void convertAny(const Op *o, const Job GQ_SHARED *job, Place place,
                       uint32_t parity, float square) {
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
  float given[ROWS] = {0.0f};
  if (!hasScales(columnwise))
    useGivenScale(o, job, given);
#pragma clang loop unroll(disable)
  for (uint32_t r = 0; r < rowsOfLane(o); ++r) {
    bool there = place.row + r < rows;
    float x[GQ_DEV_UNIT], factors[GQ_DEV_UNIT];
    uint32_t rowCodes[4], sameCodes[4];
    loadRowAgain(o, job, place, r, x);
    float factor = given[0];
    if (rowwise->exists && hasScales(rowwise))
      factor =
          hasLongBlocks(o)
              ? longRowFactorsOf(o, place.thread / GQ_DEV_WARP)[place.row + r]
              : scaleAnyRow(o, job, place, parity, r, there, square, x);
    if (isSecond(o, place)) // The first half is the other lane's.
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < GQ_DEV_UNIT / 2; ++i)
        x[i] = x[i + GQ_DEV_UNIT / 2];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i) {
      if (columnwise->exists && i < columnsOfLane(o))
        factors[i] = hasScales(columnwise) ? shared[i] : given[0];
      sums[i] += x[i];
    }
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i) {
      if (i * 4 >= columnsOfLane(o))
        continue;
      if (rowwise->exists)
        convertQuarter(rowwise, true, i, x + 4 * i, &factor, 0, 0, rowCodes);
      if (columnwise->exists)
        convertQuarter(columnwise, true, i, x + 4 * i, factors + 4 * i, 1, 0,
                       sameCodes);
    }
    if (rowwise->exists && there)
      storeBytes(data + r * toRows->dataPitch, rowCodes, bytes, bytes, atOnce);
    if (columnwise->exists && !columnwise->transposes && there &&
        isInGroup(o, job->group))
      storeBytes(same + r * toColumns->dataPitch, sameCodes, bytes, bytes,
                 atOnce);
    // Missing rows are 0, even times an infinite factor.
    if (columnwise->transposes) {
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
        if (i >= columnsOfLane(o)) {
          continue;
        } else if (collectsColumns(o)) {
          columns[i] |= (there ? sameCodes[i / 8] >> i % 8 * 4 & 15 : 0)
                        << r * 4;
        } else if (hasTransposed) {
          transposed[i * toColumns->dataPitch + r] =
              there ? (uint8_t)(sameCodes[i / 4] >> i % 4 * 8) : 0;
        }
    }
  }
  if (o->hasDbias)
    collectSums(o, place, parity, place.column, columnsOfLane(o), sums);
  if (!collectsColumns(o))
    return;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    if (i < columnsOfLane(o))
      collectColumn(o, job, place, parity, i, columns[i]);
}

/// What convert does unless directions take turns.
enum { ALL_PARTS = GQ_DEV_ROWWISE | GQ_DEV_COLUMNWISE | GQ_DEV_DBIAS };

/// Converts a lane's elements in the way that suits their blocks and the
/// outputs.
GQ_DEV void convertLane(const Op *o, const Job GQ_SHARED *job, Place place,
                        uint32_t parity, const Held *held,
                        const float rowFactors[ROWS], bool regular) {
  if (!o->unusual && __builtin_expect(!regular, 0))
    convertAny(o, job, place, parity,
               gqDirectionHasSquares(&o->rowwise.how) ? squareMagnitude(o, held)
                                                      : 0.0f);
  else
    convert(o, job, place, parity, ALL_PARTS, held, held, rowFactors);
}

/// quantizeLane where one direction takes turns with the other.
GQ_DEV void quantizeInTurn(const Op *o, const Job GQ_SHARED *job, Place place,
                           uint32_t parity, const Held *held) {
  float factors[ROWS];
  gq_dev_warp_barrier();
  if (o->hasDbias)
    convert(o, job, place, parity, GQ_DEV_DBIAS, held, held, factors);
  if (o->rowwise.exists) {
    scaleRows(o, job, place, parity, held, factors);
    gq_dev_warp_barrier();
    if (sharesRows(o))
      loadRowFactors(o, place, factors);
    convert(o, job, place, parity, GQ_DEV_ROWWISE, held, held, factors);
  }
  if (o->columnwise.exists) {
    const Held columns = elementsOfColumns(o, place, held);
    scaleColumns(o, job, place, parity, held, &columns);
    gq_dev_warp_barrier();
    convert(o, job, place, parity, GQ_DEV_COLUMNWISE, &columns, &columns,
            factors);
  }
}

/// Whether all blocks are converted by convertAny, a constant: those of
/// unaligned inputs, which are rare, so that the code of regular blocks is not
/// compiled a second time. What is unusual has no convertAny.
GQ_DEV bool alwaysConvertsAny(const Op *o) {
  return gq_dev_reads_matrix(o->load) && !gq_dev_only_loads(o->load) &&
         !o->unusual;
}

/// quantizeLane where both directions are quantized at once, `suitable` being
/// what areSuitable says of the job.
GQ_DEV void quantizeAtOnce(const Op *o, const Job GQ_SHARED *job, Place place,
                           uint32_t parity, const Held *held, bool suitable) {
  float factors[ROWS];
  bool regular = o->unusual || storesAtOnce(o), given = !hasScales(&o->rowwise);
  // convertAny scales blocks itself, but collects no amax.
  bool always = alwaysConvertsAny(o),
       scales = !given && (!always || o->hasAmax);
  gq_dev_warp_barrier();
  const Op either = likelyOp(o, suitable), likely = likelyOp(o, true);
  if (given) {
    regular &= useGivenScale(o, job, factors);
    if (o->hasAmax)
      measureSquare(o, parity, held);
  }
  if (scales && sharesSquares(o))
    regular &= scaleSquares(&either, job, place, parity, held, factors);
  if (scales && o->columnwise.exists && !sharesSquares(o))
    regular &= scaleColumns(&either, job, place, parity, held, held);
  if (scales && o->rowwise.exists && !sharesSquares(o))
    regular &= scaleRows(&either, job, place, parity, held, factors);
  bool allRegular =
      !always && ((!given && o->unusual) || gq_dev_ballot(!regular) == 0);
  // Blocks with NaN have others that count.
  if (o->hasAmax && likely.keepsNan && !allRegular)
    measureSquare(o, parity, held);
  if (!given && !allRegular && o->columnwise.exists)
    scaleAnyColumns(o, job, place, parity, held);
  if (!given)
    gq_dev_warp_barrier();
  if (!always && o->rowwise.exists && sharesRows(o) && !sharesSquares(o))
    loadRowFactors(o, place, factors);
  if (suitable && allRegular &&
      likelyWay(o, &o->columnwise) != o->columnwise.scaler.way)
    convert(&likely, job, place, parity, ALL_PARTS, held, held, factors);
  else
    convertLane(o, job, place, parity, held, factors, allRegular);
}

/// Quantizes a lane's elements. All lanes take part.
GQ_DEV void quantizeLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                         uint32_t parity, const Held *held) {
  Place place = placeOfLane(o, job, pass);
  if (takesTurns(o))
    quantizeInTurn(o, job, place, parity, held);
  else
    quantizeAtOnce(o, job, place, parity, held, areSuitable(o, job, place));
}

/// Whether a warp has elements of a pass or, in columns, padding.
GQ_DEV bool hasElements(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  uint32_t warp = gq_dev_here(gq_dev_thread()) / GQ_DEV_WARP;
  uint32_t row = firstRowOfWarp(o, job, warp, pass);
  return (row < job->rows || row < job->paddedRows) &&
         firstColumnOfWarp(o, warp) < job->columns;
}

/// Leaves the results of a lane without elements. All lanes take part.
GQ_DEV void skipLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                     uint32_t parity) {
  Place place = placeOfLane(o, job, pass);
  clearScales(o, place, parity);
  float none[GQ_DEV_UNIT] = {0.0f};
  gq_dev_warp_barrier(); // Other lanes may have had the sums in a pass before.
  if (o->hasDbias)
    collectSums(o, place, parity, place.column, columnsOfLane(o), none);
}

#endif // GQ_KERNELS_KERNELS_TILES_CODES_H
