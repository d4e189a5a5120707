//===- DequantizeRows.h - dequantization of rows -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where scales are not in tiles, nothing needs the rows of a group together. A
// CTA takes rows r, r + 32, r + 64 and r + 96 of 128 by as many columns as its
// threads store in 16 bytes each: consecutive CTAs have consecutive columns, so
// that memory is written in order, as a copy does it, and a thread has so
// little to do that loads and stores of many CTAs overlap.
//
// Lane i of a warp has word i / 4 of the scales of row i % 4 of the four.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_DEQUANTIZEROWS_H
#define GQ_KERNELS_KERNELS_DEQUANTIZEROWS_H

#include "runtime_kernels/kernels/Dequantization.h"
#include "runtime_kernels/kernels/FourRows.h"

GQ_DEV bool hasScaleWords(const Dequantization *q) {
  return q->format != GQ_FORMAT_NONE;
}

/// Scales of a word: four bytes or a float.
GQ_DEV uint32_t scalesPerWord(const Dequantization *q) {
  return q->traits.scaleType == GQ_F32 ? 1 : GQ_DEV_TILE_COLUMNS;
}

/// Columns of a warp at a time.
GQ_DEV uint32_t pieceWidth(const Dequantization *q) {
  return GQ_DEV_WARP * elementsOf(q);
}

/// Scales along a row.
GQ_DEV int64_t scaleWidthOf(const Dequantization *q) {
  return (q->columns + q->traits.blockColumns - 1) / q->traits.blockColumns;
}

/// Whether blocks have 128 rows; the scales of groups then follow each other.
GQ_DEV bool hasSquareBlocks(const Dequantization *q) {
  return hasScaleWords(q) && q->traits.blockRows > 1;
}

/// The first scale of a row or, of square blocks, of a row of the blocks of all
/// groups, which are padded to whole ones.
GQ_DEV const uint8_t GQ_GLOBAL *scalesOfRow(const Dequantization *q,
                                            int64_t row) {
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
        targetOfRow(groups, GQ_DEV_DEQUANTIZE_TILES_THREADS, first, n);
    group = target.group;
    if (hasSquareBlocks(q))
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

/// The lane's word of scales of the piece whose first column is `column`.
GQ_DEV uint32_t loadScaleWord(const Dequantization *q, const LaneRow *r,
                              int64_t column) {
  uint32_t perWord = scalesPerWord(q), word = gq_dev_lane() / FOUR;
  int64_t all = scaleWidthOf(q);
  int64_t first = column / q->traits.blockColumns + word * perWord;
  uint32_t words = pieceWidth(q) / (uint32_t)q->traits.blockColumns / perWord;
  if (!r->wanted || word >= words || first >= all)
    return 0;
  if (perWord == 1)
    return ((const uint32_t GQ_GLOBAL *)r->scales)[first];
  const uint8_t GQ_GLOBAL *p = r->scales + first;
  return loadScales(p, min32(all - first, 4), ((uint64_t)p & 3) == 0);
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

/// A lane's `count` codes of the four rows from `first` on, from column `own`
/// on.
GQ_DEV void loadFourCodes(const Dequantization *q, int64_t first, int64_t own,
                          uint32_t count, bool aligned, LaneCodes codes[FOUR]) {
  const uint8_t GQ_GLOBAL *from =
      q->data + first * q->dataStride + own * bitsOf(q) / 8;
  if (aligned && first + (FOUR - 1) * ROW_STEP < q->rows)
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < FOUR; ++j)
      codes[j] = loadCodes(q, from + j * ROW_STEP * q->dataStride);
  else
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < FOUR; ++j)
      codes[j] = loadSomeCodes(q, from + j * ROW_STEP * q->dataStride,
                               first + j * ROW_STEP < q->rows ? count : 0);
}

/// Dequantizes and stores these codes; `column` is the warp's first.
GQ_DEV void finishFour(const Dequantization *q, const LaneRow *r, int64_t first,
                       int64_t column, int64_t own, uint32_t count,
                       const LaneCodes codes[FOUR]) {
  uint32_t words = hasScaleWords(q) ? loadScaleWord(q, r, column) : 0;
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
    if (r->allWanted >> j & 1 && count)
      storeWords(q, to, numbers, count, q->outAligned);
    to += ROW_STEP * q->outStride;
  }
}

GQ_DEV void dequantizeByRows(const Dequantization *q) {
  const uint32_t threads = GQ_DEV_DEQUANTIZE_TILES_THREADS;
  int64_t scaleRows =
      hasSquareBlocks(q)
          ? (int64_t)((uint64_t)q->scalesSize / (uint64_t)scaleWidthOf(q)) *
                q->traits.blockRows
          : 0;
  gq_dev_row_groups groups =
      rowGroupsOf(q->offsets, q->numOffsets, 0, q->groups, q->rows, scaleRows,
                  q->offsetBits, hasSquareBlocks(q), hasSquareBlocks(q));
  // Codes of 4 bits fill whole bytes.
  bool aligned = (((uint64_t)q->data | (uint64_t)q->dataStride) &
                  (codeBytesOf(q) - 1)) == 0 &&
                 (q->format != GQ_FORMAT_NONE ||
                  (uint64_t)q->columns % elementsOf(q) == 0);
  uint32_t width = pieceWidth(q) * (threads / GQ_DEV_WARP);
  uint32_t across = (uint32_t)((q->columns + width - 1) / width);
  uint32_t jobs = numRowTiles(q->rows) * ROW_STEP * across;
  if (q->offsetBits)
    beginFourRows();
  uint32_t index = gq_dev_cta();
  for (uint32_t n = 0; index < jobs; index += gq_dev_num_ctas(), ++n) {
    int64_t first = firstOfFour(index / across);
    int64_t column = (int64_t)(index % across) * width +
                     gq_dev_thread() / GQ_DEV_WARP * pieceWidth(q);
    int64_t own = column + gq_dev_lane() * elementsOf(q);
    uint32_t count = own < q->columns && first < q->rows
                         ? min32(q->columns - own, elementsOf(q))
                         : 0;
    LaneCodes codes[FOUR];
    if (count)
      loadFourCodes(q, first, own, count, aligned, codes);
    if (q->offsetBits) {
      findFourRows(&groups, threads, first, n);
      gq_dev_barrier();
    }
    if (column < q->columns) {
      LaneRow r = planLaneRow(q, &groups, first, n);
      finishFour(q, &r, first, column, own, count, codes);
    }
  }
  if (q->offsetBits && gq_dev_cta() == 0) {
    if (jobs == 0) { // Nothing has been found.
      findFourRows(&groups, threads, 0, 0);
      gq_dev_barrier();
    }
    uint32_t faults = faultsOfGroups(&groups, threads);
    if (faults)
      gq_dev_atomic_or(q->status, faults);
  }
}

#endif // GQ_KERNELS_KERNELS_DEQUANTIZEROWS_H
