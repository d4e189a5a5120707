//===- DequantizeRows.h - dequantization of rows -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing needs the rows of a group together. A CTA takes rows r, r + 32, r +
// 64 and r + 96 of 128 by as many columns as its threads store in 16 bytes
// each, or two or three times as many: consecutive CTAs have consecutive
// columns, so that memory is written in order, as a copy does it, and a thread
// has so little to do that loads and stores of many CTAs overlap.
//
// Lane i of a warp has word i / 4 of the scales of row i % 4 of the four: of
// scales in tiles, those of rows of a group lie side by side.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_DEQUANTIZEROWS_H
#define GQ_KERNELS_KERNELS_DEQUANTIZEROWS_H

#include "runtime_kernels/kernels/Dequantization.h"
#include "runtime_kernels/kernels/FourRows.h"

enum {
  /// The most pieces of a warp.
  PIECES = 3,
};

/// Whether scales lie in their buffer is asked of each row: a product, where
/// the number of rows that it has room for would be a quotient.
#define ANY_SCALE_ROWS ((int64_t)1 << 35)

GQ_DEV bool hasScaleWords(const Dequantization *q) {
  return q->format != GQ_FORMAT_NONE;
}

/// Scales of a word: four bytes or a float.
GQ_DEV uint32_t scalesPerWord(const Dequantization *q) {
  return q->traits.scaleType == GQ_F32 ? 1 : GQ_DEV_TILE_COLUMNS;
}

GQ_DEV uint32_t piecesOf(const Dequantization *q) {
  return gq_dev_dequantize_pieces((gqFormat)q->format,
                                  (gqScaleLayout)q->scaleLayout);
}

/// Columns of a warp at a time.
GQ_DEV uint32_t pieceWidth(const Dequantization *q) {
  return GQ_DEV_WARP * elementsOf(q);
}

/// Scales along a row, of tiles with padding.
GQ_DEV int64_t scaleWidthOf(const Dequantization *q) {
  int64_t blocks =
      (q->columns + q->traits.blockColumns - 1) / q->traits.blockColumns;
  return q->tiled ? gq_dev_up(blocks, GQ_DEV_TILE_COLUMNS) : blocks;
}

/// Whether blocks have 128 rows; the scales of groups then follow each other.
GQ_DEV bool hasSquareBlocks(const Dequantization *q) {
  return hasScaleWords(q) && q->traits.blockRows > 1;
}

/// The first scale of a row or, of square blocks, of a row of the blocks of all
/// groups, which are padded to whole ones.
GQ_DEV const uint8_t GQ_GLOBAL *scalesOfRow(const Dequantization *q,
                                            int64_t row) {
  __builtin_assume(row >= 0);
  if (q->tiled)
    return q->scales + gq_dev_tile128x4_offset(row, 0, scaleWidthOf(q));
  int64_t pitch = q->scalesStride;
  if (hasSquareBlocks(q) && pitch == 0)
    pitch = scaleWidthOf(q) * gqElementTypeSize(q->traits.scaleType);
  return q->scales + row / q->traits.blockRows * pitch;
}

/// What a lane knows of row lane % 4 of its warp.
typedef struct LaneRow {
  /// Its first scale.
  const uint8_t GQ_GLOBAL *scales;
  float outer;
  /// Whether it is to be dequantized, and bit i whether that of lane i of the
  /// four is.
  bool wanted;
  uint32_t allWanted;
} LaneRow;

/// All lanes take part.
GQ_DEV LaneRow planLaneRow(const Dequantization *q,
                           const gq_dev_row_groups *groups, int64_t first,
                           uint32_t n) {
  int64_t row = first + ROW_STEP * (gq_dev_lane() % FOUR), scaleRow = row;
  int32_t group = row < q->rows ? 0 : -1;
  if (q->offsetBits) {
    Target target =
        targetOfRow(groups, GQ_DEV_DEQUANTIZE_TILES_THREADS, first, n,
                    scaleWidthOf(q), q->scalesSize * q->traits.blockRows);
    group = target.group;
    if (hasSquareBlocks(q) || q->tiled)
      scaleRow = target.row;
  }
  LaneRow r = {.outer = 1.0f, .wanted = group >= 0};
  if (hasScaleWords(q) && r.wanted)
    r.scales = scalesOfRow(q, scaleRow);
  if (q->outerKind == GQ_OUTER_ONE)
    r.outer = *q->outer;
  else if (q->outerKind == GQ_OUTER_PER_GROUP && r.wanted)
    r.outer = q->outer[group];
  else if (q->outerKind == GQ_OUTER_PER_ROW && r.wanted)
    r.outer = q->outer[row];
  r.allWanted = gq_dev_ballot(r.wanted) >> (gq_dev_lane() & ~3u) & 15;
  return r;
}

/// Columns that have a word of scales.
GQ_DEV uint32_t columnsPerWord(const Dequantization *q) {
  return scalesPerWord(q) * (uint32_t)q->traits.blockColumns;
}

/// The lane's word of scales of the piece whose first column is `after` columns
/// after `column`; from there on there are `columns`.
GQ_DEV uint32_t loadScaleWord(const Dequantization *q, const LaneRow *r,
                              int64_t column, uint32_t columns,
                              uint32_t after) {
  const uint32_t per = columnsPerWord(q);
  uint32_t word = gq_dev_lane() / FOUR;
  if (!r->wanted || word >= pieceWidth(q) / per ||
      after + word * per >= columns)
    return 0;
  uint64_t number = (uint64_t)column / per + word;
  uint32_t more = after / per; // A constant.
  if (scalesPerWord(q) == 1)
    return ((const uint32_t GQ_GLOBAL *)r->scales + number)[more];
  if (q->tiled)
    return loadScales(r->scales + number * 512 + more * 512,
                      GQ_DEV_TILE_COLUMNS, ((uint64_t)q->scales & 3) == 0);
  const uint8_t GQ_GLOBAL *p =
      r->scales + (number + more) * GQ_DEV_TILE_COLUMNS;
  uint32_t count = (columns - after - word * per + per / 4 - 1) / (per / 4);
  return loadScales(p, count, ((uint64_t)p & 3) == 0);
}

/// The scale of the lane's elements of row j of the four.
GQ_DEV uint32_t scaleOfRow(const Dequantization *q, uint32_t words,
                           uint32_t j) {
  uint32_t perWord = scalesPerWord(q);
  uint32_t scale =
      gq_dev_lane() * elementsOf(q) / (uint32_t)q->traits.blockColumns;
  uint32_t word = gq_dev_shuffle(words, scale / perWord * FOUR + j);
  return perWord == 1 ? word : word >> scale % perWord * 8 & 0xff;
}

/// The codes of a lane at `p`, all of which are there.
GQ_DEV LaneCodes loadCodes(const Dequantization *q,
                           const uint8_t GQ_GLOBAL *p) {
  LaneCodes codes = {{0, 0}};
  if (codeBytesOf(q) == 8) {
    gq_dev_u32x2 pair = *(const gq_dev_u32x2 GQ_GLOBAL *)p;
    codes.words[0] = pair.x;
    codes.words[1] = pair.y;
  } else {
    codes.words[0] = codeBytesOf(q) == 4 ? *(const uint32_t GQ_GLOBAL *)p
                                         : *(const uint16_t GQ_GLOBAL *)p;
  }
  return codes;
}

/// The same of `count` codes that are not aligned.
GQ_DEV LaneCodes loadSomeCodes(const Dequantization *q,
                               const uint8_t GQ_GLOBAL *p, uint32_t count) {
  LaneCodes codes = {{0, 0}};
  for (uint32_t i = 0; i < 8; ++i)
    if (i < codeBytesOf(q) && i * 8 / bitsOf(q) < count)
      codes.words[i / 4] |= (uint32_t)p[i] << i % 4 * 8;
  return codes;
}

/// A lane's `count` codes of the four rows from `first` on, of which `rows`
/// from there on exist, from column `own` on.
GQ_DEV void loadFourCodes(const Dequantization *q, int64_t first, uint32_t rows,
                          int64_t own, uint32_t count, bool aligned,
                          LaneCodes codes[FOUR]) {
  const uint8_t GQ_GLOBAL *from =
      q->data + first * q->dataStride + own * bitsOf(q) / 8;
  if (aligned && rows > (FOUR - 1) * ROW_STEP)
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < FOUR; ++j)
      codes[j] = loadCodes(q, from + j * ROW_STEP * q->dataStride);
  else
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < FOUR; ++j)
      codes[j] = loadSomeCodes(q, from + j * ROW_STEP * q->dataStride,
                               j * ROW_STEP < rows ? count : 0);
}

/// Dequantizes and stores these codes, whose scales are in `words`. `whole`, a
/// constant: all that the warp has is there, and may be stored at once.
GQ_DEV void finishFour(const Dequantization *q, const LaneRow *r, int64_t first,
                       int64_t own, uint32_t count, uint32_t words,
                       const LaneCodes codes[FOUR], bool whole) {
  uint8_t GQ_GLOBAL *to = q->out + first * q->outStride + own * outSize(q);
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < FOUR; ++j) {
    float outer = r->outer;
    if (q->outerKind == GQ_OUTER_PER_GROUP || q->outerKind == GQ_OUTER_PER_ROW)
      outer = gq_dev_shuffle_f32(outer, j);
    Factors factors = {.shared = true, .rare = false};
    setFactor(q, hasScaleWords(q) ? scaleOfRow(q, words, j) : 0, outer,
              &factors, 0);
    float x[LANE_ELEMENTS];
    uint32_t numbers[4];
    numbersOf(q, codes[j], &factors, outer, x);
    wordsOfRow(q, x, numbers);
    if (whole)
      storeWords(q, to, numbers, elementsOf(q), true);
    else if (r->allWanted >> j & 1 && count)
      storeWords(q, to, numbers, count, q->outAligned);
    to += ROW_STEP * q->outStride;
  }
}

/// The groups; `scaleRows` is how many rows' scales the buffer has room for.
GQ_DEV gq_dev_row_groups groupsOf(const Dequantization *q, int64_t scaleRows) {
  bool placed = hasSquareBlocks(q) || q->tiled;
  return rowGroupsOf(q->offsets, q->numOffsets, q->scaleOffsets, q->groups,
                     q->rows, scaleRows, q->offsetBits, placed,
                     placed && !(q->parts & GQ_DEV_SCALE_OFFSETS));
}

/// Rows whose scales the buffer has room for.
GQ_DEV int64_t roomForRows(const Dequantization *q) {
  return (int64_t)((uint64_t)q->scalesSize / (uint64_t)scaleWidthOf(q)) *
         q->traits.blockRows;
}

/// Four rows from `first` on, from column `column` on of the warp.
GQ_DEV void dequantizeFour(const Dequantization *q, int64_t first,
                           int64_t column, uint32_t n, bool aligned) {
  const uint32_t threads = GQ_DEV_DEQUANTIZE_TILES_THREADS;
  const uint32_t width = pieceWidth(q), step = width * (threads / GQ_DEV_WARP);
  // From there on.
  uint32_t rows =
      first < q->rows ? min32(q->rows - first, GQ_DEV_TILE_ROWS) : 0;
  uint32_t columns =
      column < q->columns ? min32(q->columns - column, piecesOf(q) * step) : 0;
  uint32_t own = gq_dev_lane() * elementsOf(q);
  LaneCodes codes[PIECES][FOUR];
  uint32_t counts[PIECES], words[PIECES] = {0};
#pragma clang loop unroll(full)
  for (uint32_t p = 0; p < PIECES; ++p)
    if (p < piecesOf(q)) {
      counts[p] = own + p * step < columns
                      ? min32(columns - own - p * step, elementsOf(q))
                      : 0;
      if (counts[p] && rows)
        loadFourCodes(q, first, rows, column + p * step + own, counts[p],
                      aligned, codes[p]);
    }
  gq_dev_row_groups groups = groupsOf(q, ANY_SCALE_ROWS);
  if (q->offsetBits) {
    findFourRows(&groups, threads, first, n);
    gq_dev_barrier();
  }
  if (columns == 0)
    return;
  LaneRow r = planLaneRow(q, &groups, first, n);
#pragma clang loop unroll(full)
  for (uint32_t p = 0; p < PIECES; ++p)
    if (p < piecesOf(q) && hasScaleWords(q))
      words[p] = loadScaleWord(q, &r, column, columns, p * step);
  bool whole = q->outAligned && r.allWanted == 15;
#pragma clang loop unroll(full)
  for (uint32_t p = 0; p < PIECES; ++p)
    if (p < piecesOf(q)) {
      if (whole && p * step + width <= columns)
        finishFour(q, &r, first, column + p * step + own, counts[p], words[p],
                   codes[p], true);
      else if (p * step < columns)
        finishFour(q, &r, first, column + p * step + own, counts[p], words[p],
                   codes[p], false);
    }
}

GQ_DEV void dequantizeByRows(const Dequantization *q) {
  const uint32_t threads = GQ_DEV_DEQUANTIZE_TILES_THREADS;
  __builtin_assume(q->rows >= 0);
  __builtin_assume(q->columns >= 0);
  // Codes of 4 bits fill whole bytes.
  bool aligned = (((uint64_t)q->data | (uint64_t)q->dataStride) &
                  (codeBytesOf(q) - 1)) == 0 &&
                 (q->format != GQ_FORMAT_NONE ||
                  (uint64_t)q->columns % elementsOf(q) == 0);
  const uint32_t width = piecesOf(q) * pieceWidth(q) * (threads / GQ_DEV_WARP);
  uint32_t across = (uint32_t)((q->columns + width - 1) / width);
  uint32_t jobs = numRowTiles(q->rows) * ROW_STEP * across;
  if (q->offsetBits)
    beginFourRows();
  uint32_t index = gq_dev_cta();
  for (uint32_t n = 0; index < jobs; index += gq_dev_num_ctas(), ++n)
    dequantizeFour(q, firstOfFour(index / across),
                   (int64_t)(index % across) * width +
                       gq_dev_thread() / GQ_DEV_WARP * pieceWidth(q),
                   n, aligned);
  if (q->offsetBits && gq_dev_cta() == 0) {
    gq_dev_row_groups groups =
        groupsOf(q, hasSquareBlocks(q) || q->tiled ? roomForRows(q) : 0);
    uint32_t faults = faultsOfGroups(&groups, threads);
    if (faults)
      gq_dev_atomic_or(q->status, faults);
  }
}

#endif // GQ_KERNELS_KERNELS_DEQUANTIZEROWS_H
