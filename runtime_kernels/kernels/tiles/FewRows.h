//===- FewRows.h - jobs of very few rows --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job of at most 8 rows, which a warp does alone. A lane has four columns and
// goes through the rows that there are, so that its part of a column needs no
// other lane and nothing is done for rows that there are not.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_FEWROWS_H
#define GQ_KERNELS_KERNELS_TILES_FEWROWS_H

#include "runtime_kernels/kernels/tiles/LongBlocks.h"

enum {
  FEW_ROWS = 8,
  /// Rows that are loaded at once.
  FEW_AT_ONCE = 2,
  /// Columns of a lane, and their words.
  FEW_COLUMNS = TILE / GQ_DEV_WARP,
};

/// Whether rows can be done so, a constant: not of unaligned inputs, and not if
/// columns are transformed, blocks square or, of what a producer makes, long.
GQ_DEV bool canHaveFewRows(const Op *o) {
  bool squares = gqDirectionHasSquares(&o->rowwise.how) ||
                 gqDirectionHasSquares(&o->columnwise.how);
  return (gq_dev_only_loads(o->load) || (makes(o) && !hasLongBlocks(o))) &&
         !isTall(o) && !squares;
}

/// Whether a job is done as few rows.
GQ_DEV bool hasFewRows(const Op *o, const Job GQ_SHARED *job) {
  return canHaveFewRows(o) && job->rows <= FEW_ROWS &&
         (!transposesBytes(o) || isAligned(o->columnwise.data, 0, 16));
}

/// Loads a lane's words of a row; zeros if there is no such element. What a
/// producer makes was made.
GQ_DEV void loadFew(const Op *o, const Job GQ_SHARED *job, uint32_t row,
                    uint32_t column, uint32_t words[FEW_COLUMNS]) {
  int64_t source = job->inputRow + row;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < FEW_COLUMNS; ++i)
    words[i] = 0;
  if (row >= job->rows || column >= job->columns)
    return;
  if (makes(o)) {
    uint32_t warp = gq_dev_here(gq_dev_thread()) / GQ_DEV_WARP;
    const uint32_t GQ_SHARED *made = madeElements(o, warp, row, column);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < FEW_COLUMNS; ++i)
      if (i * gq_dev_elements_per_word(o->heldType) < FEW_COLUMNS)
        words[i] = made[i];
    return;
  }
  if (o->gathers)
    source = gatheredRow(o, job, row);
  if (source < 0)
    return;
  const uint8_t GQ_GLOBAL *p = inputAt(o, job, source, column);
  if (gq_dev_elements_per_word(o->heldType) == 2) {
    gq_dev_u32x2 two = *(const gq_dev_u32x2 GQ_GLOBAL *)p;
    words[0] = two.x;
    words[1] = two.y;
  } else {
    gq_dev_u32x4 four = *(const gq_dev_u32x4 GQ_GLOBAL *)p;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < FEW_COLUMNS; ++i)
      words[i] = four[i];
  }
}

/// The scale of any block, `single` or not.
GQ_DEV gq_dev_any_scale scaleOfFew(const Direction *d, float amax,
                                   gq_dev_outer outer, bool single) {
  gq_dev_range range = gq_dev_no_range();
  gq_dev_extend_range(&range, amax);
  gq_dev_any_scale any = {gq_dev_regular_block(d->scaler, amax, outer, single),
                          gq_dev_is_regular(d->scaler, range, outer, single)};
  if (__builtin_expect(!any.regular, 0))
    any.block = gq_dev_any_block(d->scaler, amax, outer);
  return any;
}

/// The scale of a block of which no bits are collected.
GQ_DEV gq_dev_any_scale scaleOfFactor(float factor) {
  return (gq_dev_any_scale){{0, factor}, true};
}

/// Codes of four elements, one after the other.
GQ_DEV uint32_t codesOfFew(const Direction *d, const float x[FEW_COLUMNS],
                           const gq_dev_any_scale *scales, uint32_t step) {
  float y[FEW_COLUMNS];
  uint32_t codes[4];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < FEW_COLUMNS; ++i) {
    gq_dev_any_scale any = scales[i * step];
    y[i] = x[i] * any.block.factor;
    if (d->traits.dataBits == 4 && !any.regular)
      y[i] = gq_dev_scaled(d->scaler, true, x[i], any.block.factor);
  }
  codesOf(d, 0, y, 0, codes);
  return d->traits.dataBits == 4 ? halfOfCodes(d, codes) : codes[0];
}

/// Stores the codes of a lane's row.
GQ_DEV void storeFew(const Op *o, const Direction *d,
                     const JobOutput GQ_SHARED *to, uint32_t row,
                     uint32_t column, uint32_t codes) {
  uint8_t GQ_GLOBAL *p = to->data + row * to->dataPitch + dataBytes(d, column);
  uint32_t bytes = (uint32_t)dataBytes(d, FEW_COLUMNS);
  if (storesAtOnce(o)) {
    if (bytes == 4)
      *(uint32_t GQ_GLOBAL *)p = codes;
    else
      *(uint16_t GQ_GLOBAL *)p = (uint16_t)codes;
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < FEW_COLUMNS; ++i)
    if (i < bytes)
      p[i] = (uint8_t)(codes >> i * 8);
}

/// Stores the transposed bytes of a job of few rows, and zeros up to 32 rows.
/// Two neighbours have eight columns: one stores codes, and the other the zeros
/// that follow them. All lanes take part.
GQ_DEV void storeFewBytes(const Op *o, const Job GQ_SHARED *job, Place place,
                          const gq_dev_u32x2 codes[FEW_COLUMNS]) {
  bool second = place.column & FEW_COLUMNS;
  uint32_t first = place.column & ~FEW_COLUMNS;
  uint32_t pitch = (uint32_t)job->columnwise.dataPitch;
  uint8_t GQ_GLOBAL *p =
      job->columnwise.data + (uint64_t)first * pitch + (second ? 16 : 0);
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < 2 * FEW_COLUMNS; ++j) {
    gq_dev_u32x2 two = codes[j % FEW_COLUMNS];
    if (j >= FEW_COLUMNS)
      two = (gq_dev_u32x2){gq_dev_shuffle_xor(two.x, 1),
                           gq_dev_shuffle_xor(two.y, 1)};
    uint32_t words[4] = {second ? 0 : two.x, second ? 0 : two.y};
    gq_dev_store16_if(isInGroup(o, job->group) && first + j < job->columns,
                      p + (uint64_t)j * pitch, words);
  }
}

/// Scales the lane's columns.
GQ_DEV void scaleFewColumns(const Op *o, const Job GQ_SHARED *job, Place place,
                            uint32_t warp, float *most,
                            gq_dev_any_scale scales[FEW_COLUMNS]) {
  const Direction *d = &o->columnwise;
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  // With a scale that is given, the rowwise direction, if there is one, finds
  // the largest magnitude.
  uint32_t rows = hasScales(d) || !o->rowwise.exists ? job->rows : 0;
  uint32_t max[FEW_COLUMNS] = {0};
#pragma clang loop unroll(disable)
  for (uint32_t top = 0; top < rows; top += FEW_AT_ONCE) {
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < FEW_AT_ONCE; ++r) {
      uint32_t words[FEW_COLUMNS];
      loadFew(o, job, top + r, place.column, words);
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < FEW_COLUMNS; ++i)
        if (i * perWord < FEW_COLUMNS)
          max[i] = gq_dev_max_word(o->heldType, max[i], words[i]);
    }
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < FEW_COLUMNS; ++i) {
    float pair[2];
    gq_dev_unpack_amax(o->heldType, max[i / perWord], pair);
    float amax = pair[i % perWord];
    *most = gq_dev_max_number(*most, amax);
    if (!hasScales(d)) {
      scales[i] = scaleOfFactor(job->columnwise.outer.factor);
      continue;
    }
    if (hasLongBlocks(o)) {
      scales[i] = scaleOfFactor(scaleLongBlock(
          o, d, job, &job->columnwise, job->columns, place.column + i, amax));
      continue;
    }
    scales[i] =
        scaleOfFew(d, amax, job->columnwise.outer, isSingle(o, job->rows));
    ((uint8_t GQ_SHARED *)columnScalesOf(
        o, warp))[scaleAt(d, place.column + i, 0)] =
        (uint8_t)scales[i].block.bits;
  }
}

/// Scales a row's block, which several lanes share.
GQ_DEV gq_dev_any_scale scaleFewRow(const Op *o, const Job GQ_SHARED *job,
                                    Place place, uint32_t warp, uint32_t row,
                                    float *most,
                                    const uint32_t words[FEW_COLUMNS]) {
  const Direction *d = &o->rowwise;
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  uint32_t max = words[0], block = (uint32_t)d->traits.blockColumns;
#pragma clang loop unroll(full)
  for (uint32_t i = 1; i < FEW_COLUMNS; ++i)
    if (i * perWord < FEW_COLUMNS)
      max = gq_dev_max_word(o->heldType, max, words[i]);
#pragma clang loop unroll(full)
  for (uint32_t lanes = 1; lanes < GQ_DEV_WARP; lanes *= 2)
    if (lanes * FEW_COLUMNS < block)
      max = gq_dev_max_word(o->heldType, max, gq_dev_shuffle_xor(max, lanes));
  float amax = gq_dev_amax_of_word(o->heldType, max);
  *most = gq_dev_max_number(*most, amax);
  if (!hasScales(d))
    return scaleOfFactor(job->rowwise.outer.factor);
  if (hasLongBlocks(o)) // The first lane stores it: to others it is no row.
    return scaleOfFactor(scaleLongBlock(
        o, d, job, &job->rowwise, place.column ? 0 : job->rows, row, amax));
  gq_dev_any_scale any = scaleOfFew(d, amax, job->rowwise.outer, false);
  if (place.column % block == 0)
    ((uint8_t GQ_SHARED *)rowScalesOf(
        o, warp))[scaleAt(d, row, place.column / block)] =
        place.column < job->columns ? (uint8_t)any.block.bits : 0;
  return any;
}

/// Quantizes the few rows of a job. All lanes take part.
GQ_DEV void quantizeFewRows(const Op *o, const Job GQ_SHARED *job,
                            uint32_t warp) {
  const Direction *rowwise = &o->rowwise, *columnwise = &o->columnwise;
  uint32_t thread = gq_dev_here(gq_dev_thread());
  const Place place = {.column = thread % GQ_DEV_WARP * FEW_COLUMNS,
                       .thread = thread};
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  bool there = place.column < job->columns;
  float most = 0.0f, sums[FEW_COLUMNS] = {0.0f}, above[FEW_COLUMNS] = {0.0f};
  // In other passes two lanes would share these rows: the same order of sums.
  bool splits = rowsOfLane(o) < FEW_ROWS;
  gq_dev_any_scale columns[FEW_COLUMNS];
  uint32_t transposed[FEW_COLUMNS] = {0};
  gq_dev_u32x2 bytes[FEW_COLUMNS] = {{0}};
  if (columnwise->exists)
    scaleFewColumns(o, job, place, warp, &most, columns);
#pragma clang loop unroll(disable)
  for (uint32_t r = 0; r < job->rows; ++r) {
    uint32_t words[FEW_COLUMNS];
    float x[FEW_COLUMNS];
    loadFew(o, job, r, place.column, words);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < FEW_COLUMNS; ++i)
      if (i * perWord < FEW_COLUMNS)
        gq_dev_unpack(o->heldType, words[i], x + i * perWord);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < FEW_COLUMNS; ++i) {
      if (splits && r == rowsOfLane(o)) {
        above[i] = sums[i];
        sums[i] = 0.0f;
      }
      sums[i] += x[i];
    }
    if (rowwise->exists) {
      gq_dev_any_scale any = scaleFewRow(o, job, place, warp, r, &most, words);
      uint32_t codes = codesOfFew(rowwise, x, &any, 0);
      if (there)
        storeFew(o, rowwise, &job->rowwise, r, place.column, codes);
    }
    if (!columnwise->exists)
      continue;
    uint32_t codes = codesOfFew(columnwise, x, columns, 1);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < FEW_COLUMNS; ++i)
      if (collectsColumns(o)) {
        transposed[i] |= (codes >> i * 4 & 15) << r * 4;
      } else if (transposesBytes(o)) {
        uint32_t code = (codes >> i * 8 & 255) << r % 4 * 8;
        bytes[i].x |= r < 4 ? code : 0;
        bytes[i].y |= r < 4 ? 0 : code;
      }
    if (!columnwise->transposes && there && isInGroup(o, job->group))
      storeFew(o, columnwise, &job->columnwise, r, place.column, codes);
  }
  if (transposesBytes(o))
    storeFewBytes(o, job, place, bytes);
  uint8_t GQ_SHARED *codes = (uint8_t GQ_SHARED *)columnCodesOf(o, warp);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < FEW_COLUMNS; ++i) {
    if (o->hasDbias)
      sumsAt(o, place, warp)[place.column + i] =
          splits ? above[i] + sums[i] : sums[i];
    if (collectsColumns(o))
      *(uint32_t GQ_SHARED *)(codes + columnAt(o, place.column + i) * 16) =
          transposed[i];
  }
  if (o->hasAmax)
    collectAmax(o, &most, 1, warp);
}

#endif // GQ_KERNELS_KERNELS_TILES_FEWROWS_H
