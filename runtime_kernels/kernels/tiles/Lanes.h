//===- Lanes.h - who has what of a job ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a job is divided among warps and lanes, which follows from constants, and
// what its warps share.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_LANES_H
#define GQ_KERNELS_KERNELS_TILES_LANES_H

#include "runtime_kernels/kernels/tiles/Jobs.h"

enum {
  /// Rows and columns of a warp's part of a job that four warps share.
  HALF_TILE = TILE / 2,
  /// The most lanes of a warp one below the other, rows of a lane, and words of
  /// a row of it.
  LANES_DOWN = 8,
  ROWS = 8,
  WORDS = GQ_DEV_UNIT,
  /// Rows and columns of tall lanes.
  TALL_ROWS = 16,
  TALL_COLUMNS = 4,
  /// Of those that share blocks of rows, 4, each has the scales of as many.
  TALL_LANES = GQ_DEV_UNIT / TALL_COLUMNS,
  /// Rows that are quantized of a pass that has no more (hasFewTallRows).
  FEW_TALL_ROWS = TALL_LANES,
};

_Static_assert(WARPS * HALF_TILE * HALF_TILE == TILE * TILE, "four warps");

/// Whether transposed codes are collected, a constant. With 4 bits, a warp has
/// at most a sector of a column, and half of the columns may begin in the
/// middle of one; collected from all four warps they leave 64 bytes at a time.
GQ_DEV bool collectsColumns(const Op *o) {
  return gq_dev_tiles_collects_columns(o->format, o->columnwise.exists);
}

/// Whether lanes are tall (Tall.h).
GQ_DEV bool isTall(const Op *o) {
  bool fourOverSix = gqDirectionHasFourOverSix(&o->rowwise.how) ||
                     gqDirectionHasFourOverSix(&o->columnwise.how);
  return gq_dev_tiles_has_tall_lanes(o->parts, fourOverSix, o->heldType) &&
         (o->measures || !o->gathers);
}

/// Whether lanes are low: 4 rows each, of elements of 16 bits, too.
GQ_DEV bool isLow(const Op *o) {
  return o->alone &&
         gq_dev_small_groups_has_low_lanes(o->format, o->parts, o->heldType);
}

/// Rows and columns of a lane in a pass, and words of a row. Two lanes share
/// rows of 16 columns where that makes two passes of half the code of one.
GQ_DEV uint32_t rowsOfLane(const Op *o) {
  return isTall(o)  ? TALL_ROWS
         : isLow(o) ? 4
                    : 4 * gq_dev_elements_per_word(o->heldType);
}
GQ_DEV bool sharesRows(const Op *o) {
  return !isTall(o) &&
         gq_dev_tiles_shares_rows(o->format, o->columnwise.exists, o->heldType);
}
GQ_DEV uint32_t columnsOfLane(const Op *o) {
  return isTall(o)       ? TALL_COLUMNS
         : sharesRows(o) ? GQ_DEV_UNIT / 2
                         : GQ_DEV_UNIT;
}
GQ_DEV uint32_t wordsOfLane(const Op *o) {
  return columnsOfLane(o) / gq_dev_elements_per_word(o->heldType);
}

/// What Op says as `isWide`: whether a warp has all columns of its rows. If it
/// does a job alone, and of 4 bits, so that codes of a row leave as 64 bytes
/// rather than twice 32, unless blocks of columns are higher than what it has
/// then. Gathered rows and sums leave no registers for it.
GQ_DEV bool hasWideWarps(const Op *o) {
  uint32_t rows = GQ_DEV_WARP * columnsOfLane(o) / TILE * rowsOfLane(o);
  uint32_t block = (uint32_t)o->columnwise.traits.blockColumns;
  return o->alone || (o->columnwise.traits.dataBits == 4 && rows % block == 0 &&
                      !(o->gathers && o->hasDbias));
}

/// Columns of a warp.
GQ_DEV uint32_t columnsOfWarp(const Op *o) {
  return o->isWide ? TILE : HALF_TILE;
}

/// Lanes of a warp side by side, and one below the other.
GQ_DEV uint32_t lanesAcross(const Op *o) {
  return columnsOfWarp(o) / columnsOfLane(o);
}
GQ_DEV uint32_t lanesDown(const Op *o) { return GQ_DEV_WARP / lanesAcross(o); }

/// Rows of a warp in a pass, and passes.
GQ_DEV uint32_t rowsOfWarp(const Op *o) { return lanesDown(o) * rowsOfLane(o); }
GQ_DEV uint32_t numPasses(const Op *o) {
  return (o->alone    ? TILE
          : o->isWide ? TILE / WARPS
                      : HALF_TILE) /
         rowsOfWarp(o);
}

/// Whether blocks are as long as a job: their scales are floats.
GQ_DEV bool hasLongBlocks(const Op *o) {
  return o->columnwise.traits.blockColumns == TILE;
}

/// Lanes of a warp that share a block of a column.
GQ_DEV uint32_t lanesOfBlock(const Op *o) {
  return hasLongBlocks(o)
             ? lanesDown(o)
             : (uint32_t)o->columnwise.traits.blockColumns / rowsOfLane(o);
}
/// Rows and columns of which a lane has the scales, and words of the columns.
GQ_DEV uint32_t ownRows(const Op *o) {
  return isTall(o)       ? TALL_ROWS / TALL_LANES
         : sharesRows(o) ? rowsOfLane(o) / 2
                         : rowsOfLane(o);
}
GQ_DEV uint32_t ownColumns(const Op *o) {
  return columnsOfLane(o) / lanesOfBlock(o);
}
GQ_DEV uint32_t ownWords(const Op *o) {
  return wordsOfLane(o) / lanesOfBlock(o);
}

//===----------------------------------------------------------------------===//
// Shared memory of a job
//===----------------------------------------------------------------------===//

// What is collected there is used after the job's barrier, while a fast warp
// may be at the next job: hence two of each, of which the parity of the job's
// number says which. Warps that do jobs alone have one each, and their own
// number for the parity.

/// Scales of a job, as they leave.
static GQ_SHARED gq_dev_u32x4 rowScales[2][TILE * 8 / 16] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4 columnScales[2][TILE * 8 / 16] GQ_UNINITIALIZED;
/// The same of warps, if there are 8 in a row.
static GQ_SHARED gq_dev_u32x4
    wideRowScales[WARPS][TILE * 8 / 16] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4
    wideColumnScales[WARPS][TILE * 8 / 16] GQ_UNINITIALIZED;
GQ_DEV gq_dev_u32x4 GQ_SHARED *rowScalesOf(const Op *o, uint32_t parity) {
  if (!o->alone)
    return rowScales[parity];
  return numScaleColumns(&o->rowwise) == 8 ? wideRowScales[parity]
                                           : rowScales[0] + parity * (TILE / 4);
}
GQ_DEV gq_dev_u32x4 GQ_SHARED *columnScalesOf(const Op *o, uint32_t parity) {
  if (!o->alone)
    return columnScales[parity];
  return numScaleColumns(&o->columnwise) == 8
             ? wideColumnScales[parity]
             : columnScales[0] + parity * (TILE / 4);
}

/// The most passes of warps over a job.
enum { PASSES = TILE / GQ_DEV_UNIT };

/// How many sums of a column a job or, of a warp that does one alone, 64 rows
/// have: one for each pass of a warp.
GQ_DEV uint32_t numSumsOf(const Op *o) {
  return (o->alone ? HALF_TILE : TILE) / rowsOfWarp(o);
}

/// What Op says as `sums`: where these are, of the two jobs, or four warps,
/// that are under way. The arrays that a kernel does not use take no room in
/// it.
static GQ_SHARED float sumsOf4[4][TILE] GQ_UNINITIALIZED;
static GQ_SHARED float sumsOf8[8][TILE] GQ_UNINITIALIZED;
static GQ_SHARED float sumsOf16[16][TILE] GQ_UNINITIALIZED;
GQ_DEV float GQ_SHARED *placeOfSums(const Op *o) {
  uint32_t all = (o->alone ? WARPS : 2) * numSumsOf(o);
  return all <= 4 ? sumsOf4[0] : all <= 8 ? sumsOf8[0] : sumsOf16[0];
}
GQ_DEV float GQ_SHARED *sumsOfPass(const Op *o, uint32_t parity,
                                   uint32_t number) {
  return o->sums + (parity * numSumsOf(o) + number) * TILE;
}

/// The largest magnitude.
static GQ_SHARED uint32_t jobAmax[2] GQ_UNINITIALIZED;
static GQ_SHARED uint32_t warpAmax[WARPS] GQ_UNINITIALIZED;
GQ_DEV uint32_t GQ_SHARED *jobAmaxOf(const Op *o, uint32_t parity) {
  return o->alone ? &warpAmax[parity] : &jobAmax[parity];
}
/// Of each warp, the factors of its blocks along columns: 64 by at most 4, or
/// 128 by one.
static GQ_SHARED gq_dev_u32x4 columnFactors[WARPS][HALF_TILE] GQ_UNINITIALIZED;
/// Of each warp, those of its blocks along rows, if lanes share them: two lanes
/// 32 rows by 4 or 16 by 8, or four tall ones 16 by 8.
static GQ_SHARED gq_dev_u32x4 rowFactors[WARPS][GQ_DEV_WARP] GQ_UNINITIALIZED;

/// Of each warp of tall lanes, codes of two rows of a lane's columns in a word,
/// of all lanes one after the other, and those of the next two rows at
/// tallPitch, such that reading does not meet banks twice. Or, if rows are
/// rounded stochastically, random bytes of each row, in the place of which
/// codes come. Earlier in a pass, elements of unaligned inputs that lanes
/// exchange.
static GQ_SHARED gq_dev_u32x4
    tallRows[WARPS][TALL_ROWS / 2 * (GQ_DEV_WARP / 4 + 1)] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4
    drawnRows[WARPS][TALL_ROWS * GQ_DEV_WARP / 4] GQ_UNINITIALIZED;
GQ_DEV gq_dev_u32x4 GQ_SHARED *tallRowsOf(const Op *o, uint32_t warp) {
  return o->rowwise.how.rounding == GQ_ROUNDING_STOCHASTIC ? drawnRows[warp]
                                                           : tallRows[warp];
}
GQ_DEV uint32_t tallPitch(const Op *o) {
  return o->rowwise.how.rounding == GQ_ROUNDING_STOCHASTIC
             ? 2 * GQ_DEV_WARP / 4
             : GQ_DEV_WARP / 4 + 1;
}

/// Of each warp, the elements of the next pass: 64 columns in rows of 128 or
/// 256 bytes, pieces of 16 bytes where stagedAt says. Or what a producer makes.
static GQ_SHARED gq_dev_u32x4 staged[WARPS][16 * GQ_DEV_WARP] GQ_UNINITIALIZED;

/// The same where lanes take what they themselves copied (stagesOwn), share
/// rows that a producer makes, or tall ones of columns alone exchange rows of
/// unaligned inputs: in rows of 16 or 8 bytes of all lanes.
static GQ_SHARED gq_dev_u32x4
    ownStaged[WARPS][ROWS * GQ_DEV_WARP] GQ_UNINITIALIZED;

// Of blocks as long as a job. Two barriers are between uses, so that one of
// each is enough.

/// The largest magnitudes of each row, in either half of the columns, and of
/// each column, in the rows that warps have in a pass or, where only these are
/// found, in those of a warp's job.
static GQ_SHARED float rowAmax[TILE / HALF_TILE][TILE] GQ_UNINITIALIZED;
static GQ_SHARED float columnAmax[WARPS][TILE] GQ_UNINITIALIZED;
/// The factors of the rows.
static GQ_SHARED float longRowFactors[TILE] GQ_UNINITIALIZED;
/// The same of warps that do jobs alone: the largest magnitudes first.
static GQ_SHARED float warpRowFactors[WARPS][TILE] GQ_UNINITIALIZED;
GQ_DEV float GQ_SHARED *longRowFactorsOf(const Op *o, uint32_t warp) {
  return o->alone ? warpRowFactors[warp] : longRowFactors;
}

/// Whether a direction is rounded stochastically.
GQ_DEV bool roundsStochastically(const Op *o) {
  return o->rowwise.how.rounding == GQ_ROUNDING_STOCHASTIC ||
         o->columnwise.how.rounding == GQ_ROUNDING_STOCHASTIC;
}

/// The byte of the scale (row, column) of a job, and that of the next row. Rows
/// of a lane are in one unit of 32.
GQ_DEV uint32_t scaleAt(const Direction *d, uint32_t row, uint32_t column) {
  return d->tiled ? (uint32_t)gq_dev_tile128x4_offset(row, column,
                                                      GQ_DEV_TILE_COLUMNS)
                  : row * numScaleColumns(d) + column;
}
GQ_DEV uint32_t scalePitch(const Direction *d) {
  return d->tiled ? 16 : numScaleColumns(d);
}

#endif // GQ_KERNELS_KERNELS_TILES_LANES_H
