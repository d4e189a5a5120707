//===- Load.h - a lane's elements --------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a hook, from a matrix, or from shared memory, to which they are copied
// ahead.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_LOAD_H
#define GQ_KERNELS_KERNELS_TILES_LOAD_H

#include "runtime_kernels/kernels/Gather.h"
#include "runtime_kernels/kernels/tiles/Lanes.h"

/// The first row of a warp's in the tile in a pass, and its first column. The
/// lower warps have the lower half of the tile or, if only the upper one has
/// rows and there are two passes, the lower half of that. Warps that have all
/// columns take rows by turns, and a warp alone has all rows, too.
GQ_DEV uint32_t firstRowOfWarp(const Op *o, const Job GQ_SHARED *job,
                               uint32_t warp, uint32_t pass) {
  if (o->alone)
    return pass * rowsOfWarp(o);
  if (o->isWide)
    return (pass * WARPS + warp) * rowsOfWarp(o);
  bool isHalf = numPasses(o) > 1 && job->rows <= HALF_TILE;
  return isHalf ? warp / 2 * rowsOfWarp(o) + pass * HALF_TILE
                : warp / 2 * HALF_TILE + pass * rowsOfWarp(o);
}
GQ_DEV uint32_t firstColumnOfWarp(const Op *o, uint32_t warp) {
  return o->isWide ? 0 : warp % 2 * HALF_TILE;
}

/// Where a lane's rows and columns begin in the tile.
typedef struct Place {
  uint32_t row, column;
  /// The number of the lane among those below each other.
  uint32_t down;
  uint32_t thread;
} Place;

GQ_DEV Place placeOfLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  uint32_t thread = gq_dev_here(gq_dev_thread());
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  uint32_t down = lane / lanesAcross(o);
  return (Place){
      .row = firstRowOfWarp(o, job, warp, pass) + down * rowsOfLane(o),
      .column =
          firstColumnOfWarp(o, warp) + lane % lanesAcross(o) * columnsOfLane(o),
      .down = down,
      .thread = thread,
  };
}

/// Whether a lane is the second one of two that share rows.
GQ_DEV bool isSecond(const Op *o, Place place) {
  return sharesRows(o) && place.column % GQ_DEV_UNIT;
}

/// A lane's elements as they were loaded.
///
/// Here and elsewhere a loop always runs to its largest bound and skips what
/// does not exist, so that it is unrolled before its bound is known to be
/// constant.
typedef struct Held {
  uint32_t words[ROWS][WORDS];
} Held;

/// Word number i of row number r of a tall lane: the lower rows are beside the
/// upper ones.
GQ_DEV uint32_t *tallWord(Held *held, uint32_t r, uint32_t i) {
  return &held->words[r % ROWS][r / ROWS * (TALL_COLUMNS / 2) + i];
}

GQ_DEV void setTallRow(Held *held, uint32_t r, gq_dev_u32x2 two) {
  *tallWord(held, r, 0) = two.x;
  *tallWord(held, r, 1) = two.y;
}

GQ_DEV void setWords(uint32_t words[4], gq_dev_u32x4 four) {
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < 4; ++k)
    words[k] = four[k];
}

/// Packs what a hook gives, at once: else compilers hold many rows of it.
GQ_DEV void packRow(const Op *o, const float x[GQ_DEV_UNIT],
                    uint32_t words[WORDS]) {
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS; ++i)
    if (i < GQ_DEV_UNIT / perWord)
      words[i] = gq_dev_here(gq_dev_pack(o->heldType, x + i * perWord));
}

/// With row indices: the row of the matrix that a row of a job is; -1 if it
/// does not exist.
GQ_DEV int64_t gatheredRow(const Op *o, const Job GQ_SHARED *job,
                           uint32_t row) {
  return gq_dev_source_row(o->rowIndices, o->rowIndexBits, o->sourceRows,
                           job->inputRow + row);
}

/// How many rows after a lane's first one its row number r is read from or,
/// with row indices, from which row; -1 if it is not `there`.
GQ_DEV int64_t sourceOf(const Op *o, const Job GQ_SHARED *job, Place place,
                        uint32_t r, bool there) {
  int64_t source = there ? (int64_t)r : -1;
  if (o->gathers && source >= 0)
    source = gatheredRow(o, job, place.row + r);
  return source;
}

/// Loads 16 elements of a row, whose number in the tile is `row`, those of a
/// lane among them; zeros where the tile has no elements.
GQ_DEV void loadRow(const Op *o, const Job GQ_SHARED *job, Place place,
                    uint32_t row, float x[GQ_DEV_UNIT]) {
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    x[i] = 0.0f;
  if (row >= job->rows || place.column >= job->columns)
    return;
  int64_t column = job->inputColumn + place.column -
                   (isSecond(o, place) ? columnsOfLane(o) : 0);
  if (o->ragged)
    o->load(o->inputs, 0, row * job->columnsOfGroup + column, x);
  else if (o->gathers)
    gq_dev_load16_gathered(o->load, o->inputs, gatheredRow(o, job, row), column,
                           x);
  else
    o->load(o->inputs, job->inputRow + row, column, x);
}

/// With a matrix: where an element of a tile is, and how far the next row.
GQ_DEV int64_t inputPitch(const Op *o, const Job GQ_SHARED *job) {
  const gq_dev_matrix *matrix = o->inputs;
  return (o->ragged ? job->columnsOfGroup : matrix->stride) *
         gqElementTypeSize(o->heldType);
}
GQ_DEV const uint8_t GQ_GLOBAL *inputAt(const Op *o, const Job GQ_SHARED *job,
                                        int64_t row, uint32_t column) {
  const gq_dev_matrix *matrix = o->inputs;
  return (const uint8_t GQ_GLOBAL *)matrix->data + row * inputPitch(o, job) +
         (job->inputColumn + column) * gqElementTypeSize(o->heldType);
}

/// CTAs of this kernel that a multiprocessor holds, a constant.
GQ_DEV int32_t minCtas(const Op *o) {
  gq_dev_bounds bounds =
      o->alone ? gq_dev_quantize_small_groups_bounds(o->format, o->parts,
                                                     o->heldType)
               : gq_dev_quantize_tiles_bounds(o->format, o->parts, o->heldType);
  return bounds.minCtas;
}

/// Whether lanes copy ahead what they themselves take, a constant: tall ones,
/// and those of a warp alone that share rows, where there is shared memory for
/// it. Not of both directions with four CTAs a multiprocessor, of whose 256 KB
/// too little would be left to L1, by way of which elements are copied: te took
/// 51.0 instead of 47.7 us (H200, 8192 by 5120, 128 groups). Past L1, nvfp4 is
/// up to 6 % faster on an H200, and as much slower on an H100.
GQ_DEV bool stagesOwn(const Op *o) {
  bool own = isTall(o) || (o->alone && sharesRows(o));
  return own && gq_dev_only_loads(o->load) &&
         (!o->rowwise.exists || minCtas(o) < 4) && GQ_DEV_SHARED_KB >= 228;
}

/// Whether elements are copied ahead, a constant: by lanes for themselves, or
/// by lanes for each other, but not if a producer makes them, if they are
/// loaded twice, if columns take the room, or if four CTAs or more have loads
/// under way: of rows of 4 bits, and low lanes.
GQ_DEV bool stages(const Op *o) {
  bool four =
      isLow(o) || gq_dev_tiles_only_short_rows(o->format, o->columnwise.exists);
  return stagesOwn(o) || (gq_dev_only_loads(o->load) && !collectsColumns(o) &&
                          !four && !(hasLongBlocks(o) && numPasses(o) > 1));
}

/// Pieces of 16 bytes in 16 elements.
GQ_DEV uint32_t numPieces(const Op *o) {
  return (uint32_t)gqElementTypeSize(o->heldType);
}

/// Where a piece of a row of a warp's pass is in shared memory, such that
/// neither copying rows nor loading pieces of lanes meets banks twice.
GQ_DEV uint32_t stagedAt(const Op *o, uint32_t row, uint32_t piece) {
  uint32_t inRow = lanesAcross(o) * numPieces(o);
  uint32_t odd = row / rowsOfLane(o) % 2;
  return row * inRow + (piece ^ piece / 8 ^ odd * (numPieces(o) / 2));
}

/// Whether the rows of a job or, of a warp alone, of its pass from row `top` on
/// follow each other in memory, none is missing and no column either.
GQ_DEV bool isWhole(const Op *o, const Job GQ_SHARED *job, uint32_t top) {
  bool whole = o->alone ? top + rowsOfWarp(o) <= job->rows : job->rows == TILE;
  return !o->gathers && whole && job->columns == TILE;
}

/// Begins to copy a lane's own elements of a pass.
GQ_DEV void stageOwn(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  Place place = placeOfLane(o, job, pass);
  uint32_t warp = place.thread / GQ_DEV_WARP, lane = place.thread % GQ_DEV_WARP;
  const uint8_t GQ_GLOBAL *p =
      inputAt(o, job, o->gathers ? 0 : job->inputRow + place.row, place.column);
  int64_t pitch = inputPitch(o, job);
  uint32_t rows = place.column < job->columns ? job->rows : 0;
  // Or the compiler takes it apart:
  int32_t left = (int32_t)gq_dev_here(rows - place.row);
  gq_dev_u32x4 GQ_SHARED *fours = ownStaged[warp];
  gq_dev_u32x2 GQ_SHARED *twos = (gq_dev_u32x2 GQ_SHARED *)fours;
  int64_t sources[ROWS];
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    sources[r] = sourceOf(o, job, place, r, (int32_t)r < left);
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < TALL_ROWS; ++r) {
    if (isTall(o))
      gq_dev_begin_copy8_if((int32_t)r < left, &twos[r * GQ_DEV_WARP + lane],
                            p + r * pitch);
    else if (r < ROWS)
      gq_dev_begin_copy16_if(sources[r] >= 0, &fours[r * GQ_DEV_WARP + lane],
                             p + sources[r] * pitch);
  }
}

/// Takes what a lane has copied itself.
GQ_DEV Held takeOwn(const Op *o, Place place) {
  uint32_t warp = place.thread / GQ_DEV_WARP, lane = place.thread % GQ_DEV_WARP;
  const gq_dev_u32x4 GQ_SHARED *fours = ownStaged[warp];
  const gq_dev_u32x2 GQ_SHARED *twos = (const gq_dev_u32x2 GQ_SHARED *)fours;
  Held held;
  gq_dev_wait_for_copies();
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < TALL_ROWS; ++r) {
    if (isTall(o))
      setTallRow(&held, r, twos[r * GQ_DEV_WARP + lane]);
    else if (r < ROWS)
      setWords(held.words[r], fours[r * GQ_DEV_WARP + lane]);
  }
  return held;
}

/// Begins to copy a warp's elements of a pass. All lanes take part.
GQ_DEV void stage(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  if (stagesOwn(o)) {
    stageOwn(o, job, pass);
    return;
  }
  uint32_t thread = gq_dev_here(gq_dev_thread());
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  // A lane copies a piece of every `step`-th row.
  uint32_t inRow = lanesAcross(o) * numPieces(o), step = GQ_DEV_WARP / inRow;
  uint32_t piece = lane % inRow, first = lane / inRow;
  uint32_t top = firstRowOfWarp(o, job, warp, pass);
  uint32_t column =
      firstColumnOfWarp(o, warp) + piece * (GQ_DEV_UNIT / numPieces(o));
  int64_t pitch = inputPitch(o, job);
  int64_t row = o->gathers ? 0 : job->inputRow + top + first;
  const uint8_t GQ_GLOBAL *p = inputAt(o, job, row, column);
  uint32_t rows = column < job->columns ? job->rows : 0;
  if (o->alone && !o->gathers) {
    // Most passes are partial ones. Or the compiler takes it apart:
    int32_t left = (int32_t)gq_dev_here(rows - top - first);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 16; ++i) {
      gq_dev_begin_copy16_if(
          (int32_t)(i * step) < left,
          &staged[warp][stagedAt(o, i * step + first, piece)], p);
      p += step * pitch;
    }
    return;
  }
  if (isWhole(o, job, top)) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 16; ++i) {
      gq_dev_begin_copy16(&staged[warp][stagedAt(o, i * step + first, piece)],
                          p);
      p += step * pitch;
    }
    return;
  }
#pragma clang loop unroll_count(4)
  for (uint32_t i = 0; i < 16; ++i) {
    uint32_t r = i * step + first;
    int64_t source = 0;
    if (o->gathers)
      source = top + r < rows ? gatheredRow(o, job, top + r) : -1;
    gq_dev_begin_copy16_if(top + r < rows && source >= 0,
                           &staged[warp][stagedAt(o, r, piece)],
                           p + source * pitch);
    p += o->gathers ? 0 : step * pitch;
  }
}

/// Takes what has been copied. All lanes take part.
GQ_DEV Held takeStaged(const Op *o, Place place) {
  if (stagesOwn(o))
    return takeOwn(o, place);
  uint32_t warp = place.thread / GQ_DEV_WARP;
  uint32_t across = place.column % columnsOfWarp(o) / GQ_DEV_UNIT;
  Held held;
  gq_dev_wait_for_copies();
  gq_dev_warp_barrier();
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      if (r < rowsOfLane(o) && i < numPieces(o))
        setWords(held.words[r] + i * 4,
                 staged[warp][stagedAt(o, place.down * rowsOfLane(o) + r,
                                       across * numPieces(o) + i)]);
  gq_dev_warp_barrier();
  return held;
}

/// Whether L2 keeps what is loaded directly by a policy, a constant.
GQ_DEV bool loadsByPolicy(const Op *o) { return o->measures && GQ_DEV_IS_SM90; }

/// 16 bytes of a matrix if they are `there`, else zeros.
GQ_DEV gq_dev_u32x4 load16(const Op *o, bool there,
                           const uint8_t GQ_GLOBAL *p) {
  const gq_dev_u32x4 GQ_GLOBAL *from = (const gq_dev_u32x4 GQ_GLOBAL *)p;
  return loadsByPolicy(o) ? gq_dev_load_by_policy_if(there, from, o->l2Policy)
                          : gq_dev_load_once_if(there, from);
}

/// The same, 8 bytes.
GQ_DEV gq_dev_u32x2 load8(const Op *o, bool there, const uint8_t GQ_GLOBAL *p) {
  const gq_dev_u32x2 GQ_GLOBAL *from = (const gq_dev_u32x2 GQ_GLOBAL *)p;
  return loadsByPolicy(o) ? gq_dev_load8_by_policy_if(there, from, o->l2Policy)
                          : gq_dev_load8_once_if(there, from);
}

/// Loads a lane's words of a row at `p` if it is `there`, else zeros.
GQ_DEV void loadWords(const Op *o, bool there, const uint8_t GQ_GLOBAL *p,
                      uint32_t words[WORDS]) {
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS / 4; ++i)
    if (i < wordsOfLane(o) / 4)
      setWords(words + i * 4, load16(o, there, p + i * 16));
}

/// The first of a tall lane's own rows, of a pass of `rows`.
GQ_DEV uint32_t firstTallRow(Place place, uint32_t rows) {
  return place.row + place.thread % TALL_LANES * (rows / TALL_LANES);
}

/// loadDirectly of tall lanes.
GQ_DEV Held loadTallDirectly(const Op *o, const Job GQ_SHARED *job,
                             Place place) {
  const uint8_t GQ_GLOBAL *p =
      inputAt(o, job, o->gathers ? 0 : job->inputRow + place.row, place.column);
  int64_t pitch = inputPitch(o, job);
  bool whole = isWhole(o, job, place.row);
  uint32_t rows = place.column < job->columns ? job->rows : 0;
  Held held;
  if (whole) {
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < TALL_ROWS; ++r)
      setTallRow(&held, r, load8(o, true, p + r * pitch));
    return held;
  }
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < TALL_ROWS; ++r) {
    bool there = place.row + r < rows;
    int64_t row = r;
    if (o->gathers) {
      row = sourceOf(o, job, place, r, there);
      there = row >= 0;
    }
    setTallRow(&held, r, load8(o, there, p + row * pitch));
  }
  return held;
}

/// Loads a tall lane's elements from a matrix: if that is not aligned, each of
/// the lanes of a block of rows has four rows of it for all. Four times, each
/// passes on one of its rows.
GQ_DEV Held loadTall(const Op *o, const Job GQ_SHARED *job, Place place) {
  if (gq_dev_only_loads(o->load))
    return loadTallDirectly(o, job, place);
  enum { OWN = TALL_ROWS / TALL_LANES };
  uint32_t warp = place.thread / GQ_DEV_WARP, lane = place.thread % GQ_DEV_WARP;
  gq_dev_u32x2 GQ_SHARED *twos =
      (gq_dev_u32x2 GQ_SHARED *)(o->rowwise.exists || o->measures
                                     ? tallRowsOf(o, warp)
                                     : ownStaged[warp]);
  uint32_t first = firstTallRow(place, TALL_ROWS), left = lane % TALL_LANES;
  Place whole = place;
  whole.column -= left * TALL_COLUMNS;
  Held held = {{{0}}};
#pragma clang loop unroll(disable)
  for (uint32_t r = first; r < first + OWN; ++r) {
    uint32_t words[WORDS];
    float x[GQ_DEV_UNIT];
    loadRow(o, job, whole, r, x);
    packRow(o, x, words);
    gq_dev_warp_barrier();
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < TALL_LANES; ++i)
      twos[left * GQ_DEV_WARP + lane - left + i] =
          (gq_dev_u32x2){words[2 * i], words[2 * i + 1]};
    gq_dev_warp_barrier();
    // Each lane's rows move up by one, and the new one comes last.
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < TALL_LANES; ++i) {
#pragma clang loop unroll(full)
      for (uint32_t k = i * OWN; k < i * OWN + OWN - 1; ++k)
        setTallRow(&held, k,
                   (gq_dev_u32x2){*tallWord(&held, k + 1, 0),
                                  *tallWord(&held, k + 1, 1)});
      setTallRow(&held, i * OWN + OWN - 1, twos[i * GQ_DEV_WARP + lane]);
    }
  }
  gq_dev_warp_barrier();
  return held;
}

/// Loads what a lane has of a pass from a matrix: no branches between loads.
GQ_DEV Held loadDirectly(const Op *o, const Job GQ_SHARED *job, Place place) {
  const uint8_t GQ_GLOBAL *p =
      inputAt(o, job, o->gathers ? 0 : job->inputRow + place.row, place.column);
  int64_t pitch = inputPitch(o, job);
  Held held;
  if (isWhole(o, job, place.row - place.down * rowsOfLane(o))) {
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o))
        loadWords(o, true, p + r * pitch, held.words[r]);
    return held;
  }
  uint32_t rows = place.column < job->columns ? job->rows : 0;
  int64_t sources[ROWS];
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    sources[r] = sourceOf(o, job, place, r, place.row + r < rows);
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o))
      loadWords(o, sources[r] >= 0, p + sources[r] * pitch, held.words[r]);
  return held;
}

//===----------------------------------------------------------------------===//
// What a producer makes
//===----------------------------------------------------------------------===//

// A producer makes 16 elements of a row at a time, a unit, in a loop, so that
// its code is there once, and not for rows that there are not. The lanes of a
// warp have units of a row side by side, and the rows of a step one below the
// other; they leave them in shared memory, from which each takes what it
// quantizes. There they stay until the next pass is made.

/// Whether a producer makes the elements, a constant.
GQ_DEV bool makes(const Op *o) { return !gq_dev_reads_matrix(o->load); }

/// Units of a row of a warp, and its rows of a step.
GQ_DEV uint32_t unitsAcross(const Op *o) {
  return columnsOfWarp(o) / GQ_DEV_UNIT;
}
GQ_DEV uint32_t rowsOfStep(const Op *o) { return GQ_DEV_WARP / unitsAcross(o); }

/// Where a lane's words of its row number r are among those of all lanes, such
/// that neither leaving units nor taking rows meets banks twice.
GQ_DEV uint32_t madeAt(const Op *o, uint32_t lane, uint32_t r) {
  uint32_t odd = r % 2;
  return sharesRows(o) ? lane ^ lane / 8 % 2
         : isTall(o)   ? lane ^ lane / 16 ^ odd * 2
         : o->isWide   ? lane
                       : lane ^ odd * 4;
}

/// Piece number i of 16 bytes of a lane's row, or the 8 bytes of a tall one.
GQ_DEV gq_dev_u32x4 GQ_SHARED *madeFour(const Op *o, uint32_t warp,
                                        uint32_t lane, uint32_t r, uint32_t i) {
  uint32_t at =
      (r * (wordsOfLane(o) / 4) + i) * GQ_DEV_WARP + madeAt(o, lane, r);
  return sharesRows(o) ? &ownStaged[warp][at] : &staged[warp][at];
}
GQ_DEV gq_dev_u32x2 GQ_SHARED *madeTwo(const Op *o, uint32_t warp,
                                       uint32_t lane, uint32_t r) {
  gq_dev_u32x2 GQ_SHARED *twos = (gq_dev_u32x2 GQ_SHARED *)ownStaged[warp];
  return &twos[r * GQ_DEV_WARP + madeAt(o, lane, r)];
}

/// Leaves a unit of a row of the warp's pass.
GQ_DEV void leaveUnit(const Op *o, uint32_t warp, uint32_t row, uint32_t unit,
                      const uint32_t words[WORDS]) {
  uint32_t lanes = GQ_DEV_UNIT / columnsOfLane(o), perLane = wordsOfLane(o);
  uint32_t r = row % rowsOfLane(o);
  uint32_t first = row / rowsOfLane(o) * lanesAcross(o) + unit * lanes;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS; i += 2) {
    if (i >= lanes * perLane)
      continue;
    uint32_t lane = first + i / perLane;
    if (isTall(o))
      *madeTwo(o, warp, lane, r) = (gq_dev_u32x2){words[i], words[i + 1]};
    else if (i % 4 == 0)
      *madeFour(o, warp, lane, r, i % perLane / 4) =
          (gq_dev_u32x4){words[i], words[i + 1], words[i + 2], words[i + 3]};
  }
}

/// Takes a lane's words of its row number r.
GQ_DEV void takeRow(const Op *o, uint32_t warp, uint32_t lane, uint32_t r,
                    uint32_t words[WORDS]) {
  if (isTall(o)) {
    gq_dev_u32x2 two = *madeTwo(o, warp, lane, r);
    words[0] = two.x;
    words[1] = two.y;
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS / 4; ++i)
    if (i < wordsOfLane(o) / 4)
      setWords(words + 4 * i, *madeFour(o, warp, lane, r, i));
}

/// Where elements of a row of the warp's pass are, four of a column that is a
/// multiple of four. Not of tall lanes.
GQ_DEV const uint32_t GQ_SHARED *madeElements(const Op *o, uint32_t warp,
                                              uint32_t row, uint32_t column) {
  uint32_t lane =
      row / rowsOfLane(o) * lanesAcross(o) + column / columnsOfLane(o);
  uint32_t word =
      column % columnsOfLane(o) / gq_dev_elements_per_word(o->heldType);
  const gq_dev_u32x4 GQ_SHARED *four =
      madeFour(o, warp, lane, row % rowsOfLane(o), word / 4);
  return (const uint32_t GQ_SHARED *)four + word % 4;
}

/// Where a lane has units, one below the other.
typedef struct Units {
  /// Of the matrix: the job's first row, and the column.
  int64_t row, column;
  /// The rows of the job that have them.
  uint32_t rows;
} Units;

/// Asks a hook that loads ahead for the unit of a row, or for that of the job's
/// first row if there is none. `x` is what it was asked for before, or null.
GQ_DEV void askForUnit(const Op *o, const Units *units, uint32_t row,
                       float *x) {
  o->load(o->inputs, units->row + (row < units->rows ? row : 0), units->column,
          x);
}

/// Makes a warp's elements of a pass. All lanes take part.
GQ_DEV void makePass(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  uint32_t thread = gq_dev_here(gq_dev_thread());
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  uint32_t across = lane % unitsAcross(o), down = lane / unitsAcross(o);
  uint32_t top = firstRowOfWarp(o, job, warp, pass), step = rowsOfStep(o);
  uint32_t left = job->rows > top ? job->rows - top : 0;
  uint32_t end = left < rowsOfWarp(o) ? left : rowsOfWarp(o);
  Place unit = {.row = top + down,
                .column = firstColumnOfWarp(o, warp) + across * GQ_DEV_UNIT,
                .thread = thread};
  bool has = unit.column < job->columns;
  const Units units = {.row = job->inputRow,
                       .column = job->inputColumn + (has ? unit.column : 0),
                       .rows = has ? job->rows : 0};
  gq_dev_warp_barrier(); // Others may still take from the pass before.
  if (o->inputsAhead && end > 0)
    askForUnit(o, &units, unit.row, 0);
#pragma clang loop unroll(disable)
  for (uint32_t first = 0; first < rowsOfWarp(o); first += step) {
    uint32_t words[WORDS] = {0};
    if (first < end) {
      float x[GQ_DEV_UNIT];
      if (o->inputsAhead) {
        // In the last step, for the same once more.
        uint32_t below = first + step < end ? step : 0;
        askForUnit(o, &units, unit.row + below, x);
#pragma clang loop unroll(full)
        for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
          x[i] = unit.row < units.rows ? x[i] : 0.0f;
      } else {
        loadRow(o, job, unit, unit.row, x);
      }
      packRow(o, x, words);
    }
    leaveUnit(o, warp, first + down, across, words);
    unit.row += step;
  }
  gq_dev_warp_barrier();
}

/// Takes a lane's elements of the pass that was made.
GQ_DEV Held takeMade(const Op *o) {
  uint32_t thread = gq_dev_here(gq_dev_thread());
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  Held held;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < TALL_ROWS; ++r) {
    uint32_t words[WORDS];
    if (r >= rowsOfLane(o))
      continue;
    takeRow(o, warp, lane, r, words);
    if (isTall(o))
      setTallRow(&held, r, (gq_dev_u32x2){words[0], words[1]});
    else
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < WORDS; ++i)
        if (i < wordsOfLane(o))
          held.words[r % ROWS][i] = words[i];
  }
  return held;
}

/// Loads a tall lane's elements once more.
GQ_DEV Held loadTallAgain(const Op *o, const Job GQ_SHARED *job, Place place) {
  return makes(o) ? takeMade(o) : loadTall(o, job, place);
}

/// Loads 16 elements of a lane's row number r, as loadRow does, once more.
GQ_DEV void loadRowAgain(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t r, float x[GQ_DEV_UNIT]) {
  if (!makes(o)) {
    loadRow(o, job, place, place.row + r, x);
    return;
  }
  uint32_t warp = place.thread / GQ_DEV_WARP, lane = place.thread % GQ_DEV_WARP;
  uint32_t lanes = GQ_DEV_UNIT / columnsOfLane(o);
  uint32_t words[WORDS], perWord = gq_dev_elements_per_word(o->heldType);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_LANES; ++i)
    if (i < lanes)
      takeRow(o, warp, lane - lane % lanes + i, r, words + i * wordsOfLane(o));
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS; ++i)
    if (perWord == 1)
      x[i] = gq_dev_f32_from_bits(words[i]);
    else if (i < GQ_DEV_UNIT / 2)
      gq_dev_unpack(o->heldType, words[i], x + 2 * i);
}

/// Has what a hook that loads ahead reads of a pass brought to L2: of each
/// matrix 64 bytes a lane at a time, several rows of the warp's.
GQ_DEV void prefetchPass(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  enum { PART = 64 / sizeof(uint16_t) };
  uint32_t thread = gq_dev_here(gq_dev_thread());
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  uint32_t across = columnsOfWarp(o) / PART;
  uint32_t row = firstRowOfWarp(o, job, warp, pass) + lane / across;
  uint32_t column = firstColumnOfWarp(o, warp) + lane % across * PART;
  const gq_dev_matrix *matrices = o->inputs;
#pragma clang loop unroll(full)
  for (uint32_t first = 0; first < TILE; first += GQ_DEV_WARP / across) {
    if (first >= rowsOfWarp(o) || row + first >= job->rows ||
        column >= job->columns)
      continue;
#pragma clang loop unroll(full)
    for (int32_t i = 0; i < o->inputsAhead; ++i)
      gq_dev_prefetch((const uint16_t GQ_GLOBAL *)matrices[i].data +
                      (job->inputRow + row + first) * matrices[i].stride +
                      job->inputColumn + column);
  }
}

/// Whether elements are on their way before they are taken, a constant: copied
/// ahead, or brought to L2 for hooks that load ahead, but not of several passes
/// that are made twice.
GQ_DEV bool bringsAhead(const Op *o) {
  return stages(o) ||
         (o->inputsAhead && !(hasLongBlocks(o) && numPasses(o) > 1));
}
/// Begins to bring those of a warp's pass. All lanes take part.
GQ_DEV void bring(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  if (stages(o))
    stage(o, job, pass);
  else
    prefetchPass(o, job, pass);
}

/// Loads what a lane has of a pass from a matrix that is not aligned. Of two
/// shared rows, each lane loads one, and both exchange halves. All lanes take
/// part.
GQ_DEV Held loadUnaligned(const Op *o, const Job GQ_SHARED *job, Place place) {
  uint32_t step = sharesRows(o) ? 2 : 1;
  bool second = isSecond(o, place);
  Held held;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r) {
    if (r >= rowsOfLane(o) || r % step)
      continue;
    uint32_t words[WORDS];
    float x[GQ_DEV_UNIT];
    loadRow(o, job, place, place.row + r + second, x);
    packRow(o, x, words);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < WORDS; ++i) {
      if (!sharesRows(o)) {
        held.words[r][i] = words[i];
      } else if (i < wordsOfLane(o)) {
        uint32_t high = words[i + wordsOfLane(o)];
        uint32_t own = second ? high : words[i];
        uint32_t other = gq_dev_shuffle_xor(second ? words[i] : high, 1);
        held.words[r][i] = second ? other : own;
        held.words[r + 1][i] = second ? own : other;
      }
    }
  }
  return held;
}

/// Loads what a lane has of a pass. All lanes take part.
GQ_DEV Held loadLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  Place place = placeOfLane(o, job, pass);
  if (makes(o)) {
    makePass(o, job, pass);
    return takeMade(o);
  }
  if (isTall(o))
    return loadTall(o, job, place);
  return gq_dev_only_loads(o->load) ? loadDirectly(o, job, place)
                                    : loadUnaligned(o, job, place);
}

/// The same, of what was brought ahead if that is done. All lanes take part.
GQ_DEV Held takeLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  return stages(o) ? takeStaged(o, placeOfLane(o, job, pass))
                   : loadLane(o, job, pass);
}

#endif // GQ_KERNELS_KERNELS_TILES_LOAD_H
