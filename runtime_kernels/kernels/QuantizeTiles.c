//===- QuantizeTiles.c - the kernel of whole tiles ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job is a tile of 128 rows of a group by 128 columns. Of either direction
// such a tile has whole 512-byte tiles of scales, so that it owns the bytes it
// writes, padding included. CTAs take the jobs in turn, so that the grid moves
// through the matrix as a whole, some rows of tiles at a time.
//
// Each of four warps has a quarter of a job, in one pass or two, and a lane 16
// columns of 8 or, of 32-bit elements, 4 consecutive rows, which it holds in
// registers: 4 by 8 lanes are 64 columns and the rows of a pass. (If there are
// two passes and no more than 64 rows, all warps are at those.) While they work
// on these, the next ones are being copied to shared memory. The lanes of a
// block agree on its scale, so that an element is unpacked once for both
// directions, and codes leave in whole sectors without being moved between
// lanes. What does not is collected in shared memory until the job's one
// barrier: scales, which leave in whole tiles, and transposed codes of 4 bits.
//
// Where these are collected, there is no room to copy elements ahead, and most
// is arithmetic. There a lane has 8 columns of 8 rows and shares the rows with
// the one beside it, in two passes: half the code, which fits into the cache of
// instructions, and registers for four CTAs. Rows of 4-bit codes alone are not
// copied ahead either: four CTAs that load directly are faster than three.
//
// Of blocks of 128, warps have parts only: between two barriers the CTA agrees
// on their scales.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Gather.h"
#include "runtime_kernels/kernels/Jobs.h"

enum {
  /// Rows and columns of a warp's part of a job.
  QUARTER = TILE / 2,
  /// The most lanes of a warp one below the other, rows of a lane, and words of
  /// a row of it.
  LANES_DOWN = 8,
  ROWS = 8,
  WORDS = GQ_DEV_UNIT,
};

_Static_assert(WARPS * QUARTER * QUARTER == TILE * TILE, "four warps");

/// Whether transposed codes are collected, a constant: of 4 bits, a warp has
/// only a sector of a column, and half of the columns may begin in the middle
/// of one. Of all four warps they leave 64 bytes at a time.
GQ_DEV bool collectsColumns(const Op *o) {
  return gq_dev_tiles_collects_columns(o->format, o->columnwise);
}

/// Rows and columns of a lane in a pass, and words of a row. Two lanes share
/// rows of 16 columns where that makes two passes of half the code of one.
GQ_DEV uint32_t rowsOfLane(const Op *o) {
  return 4 * gq_dev_elements_per_word(o->heldType);
}
GQ_DEV bool sharesRows(const Op *o) {
  return gq_dev_tiles_shares_rows(o->format, o->columnwise, o->heldType);
}
GQ_DEV uint32_t columnsOfLane(const Op *o) {
  return sharesRows(o) ? GQ_DEV_UNIT / 2 : GQ_DEV_UNIT;
}
GQ_DEV uint32_t wordsOfLane(const Op *o) {
  return columnsOfLane(o) / gq_dev_elements_per_word(o->heldType);
}

/// Lanes of a warp side by side, and one below the other.
GQ_DEV uint32_t lanesAcross(const Op *o) { return QUARTER / columnsOfLane(o); }
GQ_DEV uint32_t lanesDown(const Op *o) { return GQ_DEV_WARP / lanesAcross(o); }

/// Rows of a warp in a pass, and passes.
GQ_DEV uint32_t rowsOfWarp(const Op *o) { return lanesDown(o) * rowsOfLane(o); }
GQ_DEV uint32_t numPasses(const Op *o) { return QUARTER / rowsOfWarp(o); }

/// Whether blocks are as long as a job: their scales are floats.
GQ_DEV bool hasLongBlocks(const Op *o) {
  return o->traits.blockColumns == TILE;
}

/// Lanes of a warp that share a block of a column.
GQ_DEV uint32_t lanesOfBlock(const Op *o) {
  return hasLongBlocks(o) ? lanesDown(o)
                          : (uint32_t)o->traits.blockColumns / rowsOfLane(o);
}
/// Rows and columns of which a lane has the scales, and words of the columns.
GQ_DEV uint32_t ownRows(const Op *o) {
  return sharesRows(o) ? rowsOfLane(o) / 2 : rowsOfLane(o);
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
// may be at the next job: hence two of each.

/// Scales of a job, as they leave.
static GQ_SHARED gq_dev_u32x4 rowScales[2][TILE * 8 / 16] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4 columnScales[2][TILE * 8 / 16] GQ_UNINITIALIZED;
/// Transposed codes of 4 bits: columns of 64 bytes, at columnAt.
static GQ_SHARED gq_dev_u32x4
    columnCodes[2][TILE * 4 + TILE / 8] GQ_UNINITIALIZED;
/// Sums of the columns of the upper and the lower warps.
static GQ_SHARED float columnSums[2][2][TILE] GQ_UNINITIALIZED;
/// The largest magnitude.
static GQ_SHARED uint32_t jobAmax[2] GQ_UNINITIALIZED;
/// Of each warp, the factors of its blocks along columns: 64 by at most 4.
static GQ_SHARED gq_dev_u32x4 columnFactors[WARPS][QUARTER] GQ_UNINITIALIZED;
/// Of each warp, those of its blocks along rows, if two lanes share them: 32
/// rows by 4.
static GQ_SHARED gq_dev_u32x4 rowFactors[WARPS][GQ_DEV_WARP] GQ_UNINITIALIZED;

/// Of each warp, the elements of the next pass: 64 columns in rows of 128 or
/// 256 bytes, pieces of 16 bytes where stagedAt says.
static GQ_SHARED gq_dev_u32x4 staged[WARPS][16 * GQ_DEV_WARP] GQ_UNINITIALIZED;

// Of blocks as long as a job. Two barriers are between uses, so that one of
// each is enough.

/// The largest magnitudes of each row, in either half of the columns, and of
/// each column, in the rows that warps have in a pass.
static GQ_SHARED float rowAmax[TILE / QUARTER][TILE] GQ_UNINITIALIZED;
static GQ_SHARED float columnAmax[4][TILE] GQ_UNINITIALIZED;
/// The factors of the rows.
static GQ_SHARED float longRowFactors[TILE] GQ_UNINITIALIZED;

/// The byte of the scale (row, column) of a job, and that of the next row. Rows
/// of a lane are in one unit of 32.
GQ_DEV uint32_t scaleAt(const Op *o, uint32_t row, uint32_t column) {
  return o->tiled ? (uint32_t)gq_dev_tile128x4_offset(row, column,
                                                      GQ_DEV_TILE_COLUMNS)
                  : row * numScaleColumns(o) + column;
}
GQ_DEV uint32_t scalePitch(const Op *o) {
  return o->tiled ? 16 : numScaleColumns(o);
}

/// Where 16 bytes of a column begin, such that lanes do not meet banks twice.
GQ_DEV uint32_t columnAt(uint32_t column) { return column * 4 + column / 8; }

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Stores the first `count` bytes of `words`, all at once if `aligned` and
/// there are `full`, 4, 8 or 16, of them.
GQ_DEV void storeBytes(uint8_t GQ_GLOBAL *p, const uint32_t words[4],
                       uint32_t count, uint32_t full, bool aligned) {
  if (aligned && count == full) {
    if (full == 16)
      *(gq_dev_u32x4 GQ_GLOBAL *)p =
          (gq_dev_u32x4){words[0], words[1], words[2], words[3]};
    else if (full == 8)
      *(gq_dev_u32x2 GQ_GLOBAL *)p = (gq_dev_u32x2){words[0], words[1]};
    else
      *(uint32_t GQ_GLOBAL *)p = words[0];
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 16; ++i)
    if (i < full && i < count)
      p[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
}

GQ_DEV bool isAligned(const void GQ_GLOBAL *p, int64_t stride, uint32_t unit) {
  return (((uint64_t)p | (uint64_t)stride) & (unit - 1)) == 0;
}

/// Stores the scales of a job that are in shared memory: tiles of 512 bytes, or
/// `rows` rows of `bytes` bytes.
GQ_DEV void storeScales(const Op *o, uint8_t GQ_GLOBAL *to, int64_t pitch,
                        uint32_t rows, uint32_t bytes,
                        const gq_dev_u32x4 GQ_SHARED *from, uint32_t thread) {
  if (o->tiled) {
    if (thread * 16 < bytes) {
      gq_dev_u32x4 words = from[thread];
      uint32_t w[4] = {words.x, words.y, words.z, words.w};
      storeBytes(to + thread * 16, w, 16, 16, isAligned(to, 0, 16));
    }
    return;
  }
  uint32_t full = numScaleColumns(o);
  if (thread < rows) {
    const uint32_t GQ_SHARED *p =
        (const uint32_t GQ_SHARED *)from + thread * (full / 4);
    uint32_t w[4] = {p[0], full == 8 ? p[1] : 0};
    uint8_t GQ_GLOBAL *row = to + thread * pitch;
    storeBytes(row, w, bytes, full, isAligned(row, 0, full));
  }
}

/// Stores transposed codes of a job that are in shared memory.
GQ_DEV void storeColumns(const Job GQ_SHARED *job, uint32_t parity,
                         uint32_t thread) {
  uint32_t piece = thread % 4, pitch = (uint32_t)job->columnwiseDataPitch;
  bool aligned = isAligned(job->columnwiseData, 0, 16);
  uint8_t GQ_GLOBAL *p = job->columnwiseData + piece * 16;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t column = i * (TILE / 4) + thread / 4;
    gq_dev_u32x4 words = columnCodes[parity][columnAt(column) + piece];
    uint32_t w[4] = {words.x, words.y, words.z, words.w};
    if (piece * 32 < job->paddedRows && column < job->columns)
      storeBytes(p + (uint64_t)column * pitch, w, 16, 16, aligned);
  }
}

//===----------------------------------------------------------------------===//
// A lane's elements
//===----------------------------------------------------------------------===//

/// The first row of a warp's in the tile in a pass, and its first column. The
/// lower warps have the lower half of the tile or, if only the upper one has
/// rows and there are two passes, the lower half of that.
GQ_DEV uint32_t firstRowOfWarp(const Op *o, const Job GQ_SHARED *job,
                               uint32_t warp, uint32_t pass) {
  bool isLow = numPasses(o) > 1 && job->rows <= QUARTER;
  return isLow ? warp / 2 * rowsOfWarp(o) + pass * QUARTER
               : warp / 2 * QUARTER + pass * rowsOfWarp(o);
}
GQ_DEV uint32_t firstColumnOfWarp(uint32_t warp) { return warp % 2 * QUARTER; }

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
          firstColumnOfWarp(warp) + lane % lanesAcross(o) * columnsOfLane(o),
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
/// Here and elsewhere a loop goes as far as it ever does and skips what there
/// is not, so that it is unrolled before its bound is known to be constant.
typedef struct Held {
  uint32_t words[ROWS][WORDS];
} Held;

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

/// Whether elements are copied ahead: a constant. What a producer makes is not,
/// nor what is loaded twice, nor if columns take the room, nor if four CTAs
/// have loads under way.
GQ_DEV bool stages(const Op *o) {
  return gq_dev_only_loads(o->load) && !collectsColumns(o) &&
         !gq_dev_tiles_only_short_rows(o->format, o->columnwise) &&
         !(hasLongBlocks(o) && numPasses(o) > 1);
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

/// Whether the rows of a job follow each other in memory, none is missing and
/// no column either.
GQ_DEV bool isWhole(const Op *o, const Job GQ_SHARED *job) {
  return !o->gathers && job->rows == TILE && job->columns == TILE;
}

/// Begins to copy a warp's elements of a pass. All lanes take part.
GQ_DEV void stage(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  uint32_t thread = gq_dev_here(gq_dev_thread());
  uint32_t warp = thread / GQ_DEV_WARP, lane = thread % GQ_DEV_WARP;
  // A lane copies a piece of every `step`-th row.
  uint32_t inRow = lanesAcross(o) * numPieces(o), step = GQ_DEV_WARP / inRow;
  uint32_t piece = lane % inRow, first = lane / inRow;
  uint32_t top = firstRowOfWarp(o, job, warp, pass);
  uint32_t column =
      firstColumnOfWarp(warp) + piece * (GQ_DEV_UNIT / numPieces(o));
  int64_t pitch = inputPitch(o, job);
  int64_t row = o->gathers ? 0 : job->inputRow + top + first;
  const uint8_t GQ_GLOBAL *p = inputAt(o, job, row, column);
  if (isWhole(o, job)) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 16; ++i) {
      gq_dev_begin_copy16(&staged[warp][stagedAt(o, i * step + first, piece)],
                          p);
      p += step * pitch;
    }
    return;
  }
  uint32_t rows = column < job->columns ? job->rows : 0;
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
  uint32_t warp = place.thread / GQ_DEV_WARP;
  uint32_t across = place.column % QUARTER / GQ_DEV_UNIT;
  Held held;
  gq_dev_wait_for_copies();
  gq_dev_warp_barrier();
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      if (r < rowsOfLane(o) && i < numPieces(o)) {
        gq_dev_u32x4 four = staged[warp][stagedAt(
            o, place.down * rowsOfLane(o) + r, across * numPieces(o) + i)];
#pragma clang loop unroll(full)
        for (uint32_t k = 0; k < 4; ++k)
          held.words[r][i * 4 + k] = four[k];
      }
  gq_dev_warp_barrier();
  return held;
}

/// Loads a lane's words of a row at `p` if it is `there`, else zeros.
GQ_DEV void loadWords(const Op *o, bool there, const uint8_t GQ_GLOBAL *p,
                      uint32_t words[WORDS]) {
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS / 4; ++i)
    if (i < wordsOfLane(o) / 4) {
      gq_dev_u32x4 four =
          gq_dev_load_once_if(there, (const gq_dev_u32x4 GQ_GLOBAL *)p + i);
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < 4; ++k)
        words[i * 4 + k] = four[k];
    }
}

/// Loads what a lane has of a pass from a matrix: no branches between loads.
GQ_DEV Held loadDirectly(const Op *o, const Job GQ_SHARED *job, Place place) {
  const uint8_t GQ_GLOBAL *p =
      inputAt(o, job, o->gathers ? 0 : job->inputRow + place.row, place.column);
  int64_t pitch = inputPitch(o, job);
  Held held;
  if (isWhole(o, job)) {
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o))
        loadWords(o, true, p + r * pitch, held.words[r]);
    return held;
  }
  uint32_t rows = place.column < job->columns ? job->rows : 0;
  int64_t sources[ROWS];
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r) {
    sources[r] = place.row + r < rows ? (int64_t)r : -1;
    if (o->gathers && sources[r] >= 0)
      sources[r] = gatheredRow(o, job, place.row + r);
  }
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o))
      loadWords(o, sources[r] >= 0, p + sources[r] * pitch, held.words[r]);
  return held;
}

/// Loads what a lane has of a pass. All lanes take part.
GQ_DEV Held loadLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass) {
  Place place = placeOfLane(o, job, pass);
  if (gq_dev_only_loads(o->load))
    return loadDirectly(o, job, place);
  uint32_t step = sharesRows(o) ? 2 : 1;
  bool second = isSecond(o, place);
  Held held;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r) {
    if (r >= rowsOfLane(o) || r % step)
      continue;
    // Of two rows that are shared, a lane loads one, and both exchange halves.
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

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Of two words of two elements each, both elements' larger magnitudes.
GQ_DEV uint32_t maxOfPairs(gqElementType type, uint32_t a, uint32_t b) {
  return gq_dev_max_word(type, gq_dev_permute(a, b, 0x5410),
                         gq_dev_permute(a, b, 0x7632));
}

/// Of 2 * `count` words of maxima, two lanes at a `distance` take one half
/// each, the `upper` one the second.
GQ_DEV void halveMax(const Op *o, bool upper, uint32_t distance, uint32_t count,
                     uint32_t max[WORDS]) {
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t low = max[i], high = max[i + count];
    uint32_t other = gq_dev_shuffle_xor(upper ? low : high, distance);
    max[i] = gq_dev_max_word(o->heldType, upper ? high : low, other);
  }
}

/// The first of a lane's own rows.
GQ_DEV uint32_t firstOwnRow(const Op *o, Place place) {
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
      max[r] = gq_dev_max_words(o->heldType, held->words[r], wordsOfLane(o));
  // Maxima of rows are by twos now, if a word holds two.
  if (sharesRows(o)) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      max[i] = maxOfPairs(o->heldType, max[2 * i], max[2 * i + 1]);
    halveMax(o, isSecond(o, place), 1, 2, max);
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i) {
    if (i * perWord >= ownRows(o))
      continue;
    uint32_t word = perWord == 2 && !sharesRows(o)
                        ? maxOfPairs(o->heldType, max[2 * i], max[2 * i + 1])
                        : max[i];
#pragma clang loop unroll(full)
    for (uint32_t lanes = 1; lanes < 4; lanes *= 2)
      if (!sharesRows(o) && o->traits.blockColumns > lanes * GQ_DEV_UNIT)
        word =
            gq_dev_max_word(o->heldType, word, gq_dev_shuffle_xor(word, lanes));
    float pair[2];
    gq_dev_unpack_amax(o->heldType, word, pair);
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
  halveMax(o, place.down & distance, distance * lanesAcross(o), count, max);
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

/// The same of a lane's own columns.
GQ_DEV void columnMagnitudes(const Op *o, const Held *held, Place place,
                             float amax[8]) {
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  uint32_t max[WORDS];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WORDS; ++i)
    if (i < wordsOfLane(o)) {
      max[i] =
          gq_dev_max_word(o->heldType, held->words[0][i], held->words[1][i]);
#pragma clang loop unroll(full)
      for (uint32_t r = 2; r < ROWS; ++r)
        if (r < rowsOfLane(o))
          max[i] = gq_dev_max_word(o->heldType, max[i], held->words[r][i]);
    }
  shareMax(o, place, 8, max);
  shareMax(o, place, 4, max);
  shareMax(o, place, 2, max);
  shareMax(o, place, 1, max);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i)
    if (i < ownWords(o)) {
      float pair[2];
      gq_dev_unpack_amax(o->heldType, max[i], pair);
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < 2; ++k)
        if (k < perWord)
          amax[i * perWord + k] = pair[k];
    }
}

/// Adds `count` magnitudes to that of the job. All lanes take part.
GQ_DEV void collectAmax(const float amax[8], uint32_t count, uint32_t parity) {
  float max = 0.0f;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 8; ++i)
    if (i < count)
      max = gq_dev_max_number(max, amax[i]);
  uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(max));
  if (gq_dev_is_first_lane())
    gq_dev_atomic_max_shared(&jobAmax[parity], bits);
}

/// How the blocks of rows are scaled, or those of columns.
GQ_DEV gq_dev_scaler scalerOf(const Op *o, int32_t outerKind) {
  return (gq_dev_scaler){
      .format = o->format,
      .recipe = o->recipe,
      .hasOuter = outerKind != GQ_OUTER_NONE,
      .way = gq_dev_e2m1_way_in_steps(),
  };
}
GQ_DEV gq_dev_scaler rowScaler(const Op *o) {
  return scalerOf(o, o->outerKind);
}
GQ_DEV gq_dev_scaler columnScaler(const Op *o) {
  return scalerOf(o, o->columnwiseOuterKind);
}

/// Where the scale of a row is collected, and whether the lane has it.
GQ_DEV uint8_t GQ_SHARED *rowScaleAt(const Op *o, Place place, uint32_t row,
                                     uint32_t parity) {
  uint32_t block = (uint32_t)o->traits.blockColumns;
  return (uint8_t GQ_SHARED *)rowScales[parity] +
         scaleAt(o, row, place.column / block);
}
GQ_DEV bool hasRowScales(const Op *o, Place place) {
  return sharesRows(o) || place.column % (uint32_t)o->traits.blockColumns == 0;
}

/// Where those of its own columns are.
GQ_DEV uint8_t GQ_SHARED *columnScalesAt(const Op *o, Place place,
                                         uint32_t parity) {
  uint32_t block = (uint32_t)o->traits.blockColumns;
  return (uint8_t GQ_SHARED *)columnScales[parity] +
         scaleAt(o, firstOwnColumn(o, place), place.row / block);
}

/// Where the factors of a block's columns are in shared memory.
GQ_DEV float GQ_SHARED *factorsAt(const Op *o, Place place, uint32_t column) {
  float GQ_SHARED *warp =
      (float GQ_SHARED *)columnFactors[place.thread / GQ_DEV_WARP];
  return warp + place.down / lanesOfBlock(o) * QUARTER + column % QUARTER;
}

/// Where those of a block's rows are, if two lanes share them.
GQ_DEV gq_dev_f32x4 GQ_SHARED *rowFactorsAt(Place place, uint32_t row) {
  gq_dev_f32x4 GQ_SHARED *warp =
      (gq_dev_f32x4 GQ_SHARED *)rowFactors[place.thread / GQ_DEV_WARP];
  return warp + place.column % QUARTER / GQ_DEV_UNIT * (GQ_DEV_WARP / 4) +
         row % GQ_DEV_WARP / 4;
}

/// Scales a lane's own rows: collects their scales and returns whether all are
/// regular. Leaves their factors in shared memory if two lanes share them. All
/// lanes take part.
GQ_DEV bool scaleRows(const Op *o, const Job GQ_SHARED *job, Place place,
                      uint32_t parity, const Held *held, float factors[ROWS]) {
  gq_dev_outer outer = job->outer;
  uint32_t row = firstOwnRow(o, place);
  uint8_t GQ_SHARED *scales = rowScaleAt(o, place, row, parity);
  gq_dev_range range = gq_dev_no_range();
  float amax[ROWS];
  rowMagnitudes(o, held, place, amax);
  if (o->hasAmax)
    collectAmax(amax, ownRows(o), parity);
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < ownRows(o)) {
      gq_dev_block_scale block =
          gq_dev_regular_block(rowScaler(o), amax[r], outer);
      gq_dev_extend_range(&range, amax[r]);
      factors[r] = block.factor;
      if (hasRowScales(o, place))
        scales[r * scalePitch(o)] = (uint8_t)block.bits;
    }
  if (sharesRows(o))
    *rowFactorsAt(place, row) =
        (gq_dev_f32x4){factors[0], factors[1], factors[2], factors[3]};
  return gq_dev_is_regular(rowScaler(o), range, outer);
}

/// Loads the factors of rows that two lanes share.
GQ_DEV void loadRowFactors(Place place, float factors[ROWS]) {
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; r += 4) {
    gq_dev_f32x4 four = *rowFactorsAt(place, place.row + r);
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 4; ++k)
      factors[r + k] = four[k];
  }
}

/// The same of a lane's own columns; leaves their factors in shared memory.
GQ_DEV bool scaleColumns(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t parity, const Held *held) {
  gq_dev_outer outer = job->columnwiseOuter;
  uint8_t GQ_SHARED *scales = columnScalesAt(o, place, parity);
  float GQ_SHARED *factors = factorsAt(o, place, firstOwnColumn(o, place));
  gq_dev_range range = gq_dev_no_range();
  float amax[8], pair[2];
  columnMagnitudes(o, held, place, amax);
  if (o->hasAmax && !o->rowwise)
    collectAmax(amax, ownColumns(o), parity);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 8; ++i)
    if (i < ownColumns(o)) {
      gq_dev_block_scale block =
          gq_dev_regular_block(columnScaler(o), amax[i], outer);
      gq_dev_extend_range(&range, amax[i]);
      scales[i * scalePitch(o)] = (uint8_t)block.bits;
      pair[i % 2] = block.factor;
      if (i % 2 == 1)
        *(gq_dev_f32x2 GQ_SHARED *)(factors + i - 1) =
            (gq_dev_f32x2){pair[0], pair[1]};
    }
  return gq_dev_is_regular(columnScaler(o), range, outer);
}

/// Scales the lane's own columns again, whose blocks can be any, one after the
/// other. Blocks outside of the tile get scale 0. All lanes take part.
GQ_DEV void scaleAnyColumns(const Op *o, const Job GQ_SHARED *job, Place place,
                            uint32_t parity, const Held *held) {
  uint32_t column = firstOwnColumn(o, place);
  uint8_t GQ_SHARED *scales = columnScalesAt(o, place, parity);
  // The magnitudes are where their factors are to be.
  float GQ_SHARED *factors = factorsAt(o, place, column);
  float amax[8];
  columnMagnitudes(o, held, place, amax);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 8; ++i)
    if (i < ownColumns(o))
      factors[i] = amax[i];
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < ownColumns(o); ++i) {
    bool inside = place.row < job->paddedRows && column + i < job->columns;
    gq_dev_block_scale block =
        gq_dev_any_block(columnScaler(o), factors[i], job->columnwiseOuter);
    factors[i] = block.factor;
    scales[i * scalePitch(o)] = inside ? (uint8_t)block.bits : 0;
  }
}

/// Leaves zeros for the scales of a lane's blocks.
GQ_DEV void clearScales(const Op *o, Place place, uint32_t parity) {
  uint32_t row = firstOwnRow(o, place);
  if (o->rowwise && hasRowScales(o, place))
    for (uint32_t r = 0; r < ownRows(o); ++r)
      rowScaleAt(o, place, row, parity)[r * scalePitch(o)] = 0;
  if (o->columnwise)
    for (uint32_t i = 0; i < ownColumns(o); ++i)
      columnScalesAt(o, place, parity)[i * scalePitch(o)] = 0;
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Converts a quarter of a row of a lane.
GQ_DEV void convertQuarter(const Op *o, bool clamps, uint32_t quarter,
                           const float x[4], const float *factors,
                           uint32_t factorStep, uint32_t codes[4]) {
  float y[4];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i)
    y[i] = gq_dev_scaled(rowScaler(o), clamps, x[i], factors[i * factorStep]);
  gq_dev_codes4(o->format, quarter, y, codes);
}

/// Whether a lane's codes can be stored at once.
GQ_DEV bool storesAtOnce(const Op *o) {
  uint32_t bytes = (uint32_t)dataBytes(o, columnsOfLane(o));
  bool rows = isAligned(o->data, o->ragged ? 0 : o->dataStride, bytes);
  bool columns =
      collectsColumns(o) ||
      (o->traits.transposes
           ? isAligned(o->columnwiseData, 0, bytes / 2)
           : isAligned(o->columnwiseData,
                       o->ragged ? 0 : o->columnwiseDataStride, bytes));
  return (!o->rowwise | rows) & (!o->columnwise | columns);
}

/// Stores the codes of a lane's row at once.
GQ_DEV void storeRow(const Op *o, bool there, uint8_t GQ_GLOBAL *p,
                     const uint32_t codes[4]) {
  if (sharesRows(o))
    gq_dev_store4_if(there, p, codes[0]);
  else if (o->traits.dataBits == 4)
    gq_dev_store8_if(there, p, codes);
  else
    gq_dev_store16_if(there, p, codes);
}

/// The same of a transposed column of fp8.
GQ_DEV void storeColumn(const Op *o, bool there, uint8_t GQ_GLOBAL *p,
                        const uint32_t codes[2]) {
  if (rowsOfLane(o) == 8)
    gq_dev_store8_if(there, p, codes);
  else
    gq_dev_store4_if(there, p, codes[0]);
}

/// Collects those of a lane's column number j: 4 or 8 codes of 4 bits.
GQ_DEV void collectColumn(const Op *o, Place place, uint32_t parity, uint32_t j,
                          uint32_t codes) {
  uint8_t GQ_SHARED *p =
      (uint8_t GQ_SHARED *)&columnCodes[parity][columnAt(place.column)] +
      place.row / 2;
  p += columnAt(j) * 16;
  if (rowsOfLane(o) == 8)
    *(uint32_t GQ_SHARED *)p = codes;
  else
    *(uint16_t GQ_SHARED *)p = (uint16_t)codes;
}

/// Codes of 4 bits of 4 rows, as gq_dev_codes4 leaves them, in order.
GQ_DEV uint32_t halfOfCodes(uint32_t codes) {
  const float none[4] = {0.0f};
  return gq_dev_e2m1x8_after(codes, none);
}

/// Where the codes of a lane's first row go, and those of its first column.
GQ_DEV uint8_t GQ_GLOBAL *rowCodesAt(const Op *o, Place place,
                                     uint8_t GQ_GLOBAL *data, int64_t pitch) {
  return data + place.row * pitch + dataBytes(o, place.column);
}
GQ_DEV uint8_t GQ_GLOBAL *columnCodesAt(const Op *o, Place place,
                                        uint8_t GQ_GLOBAL *data,
                                        int64_t pitch) {
  return data + place.column * pitch + dataBytes(o, place.row);
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
  bool transposes = o->columnwise && o->traits.transposes;
  bool hasColumns = place.column < job->columns;
  bool hasTransposed = hasColumns && place.row < job->paddedRows;
  uint32_t rows = hasColumns ? job->rows : 0;
  uint32_t columnwiseRows = job->group >= 0 ? rows : 0;
  uint32_t pitch = (uint32_t)job->columnwiseDataPitch; // if it transposes
  uint32_t rowCodes[ROWS][4], sameCodes[ROWS][4];
  // Four columns by four rows at a time, so that little is held.
#pragma clang loop unroll(full)
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    if (quarter * 4 >= columnsOfLane(o))
      continue;
    gq_dev_warp_barrier();
    uint32_t transposed[4][4];
    float factors[4], sums[4];
    if (o->columnwise)
      loadFactors(o, place, quarter, factors);
#pragma clang loop unroll(full)
    for (uint32_t top = 0; top < ROWS; top += 4) {
      if (top >= rowsOfLane(o))
        continue;
      float y[4][4];
#pragma clang loop unroll(full)
      for (uint32_t r = top; r < top + 4; ++r) {
        float x[4];
        unpackQuarter(o, held, r, quarter, x);
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < 4; ++j) {
          sums[j] = r ? sums[j] + x[j] : x[j];
          if (transposes)
            y[j][r % 4] = x[j] * factors[j];
        }
        if (o->rowwise)
          convertQuarter(o, false, quarter, x, &rowFactors[r], 0, rowCodes[r]);
        if (o->columnwise && !transposes)
          convertQuarter(o, false, quarter, x, factors, 1, sameCodes[r]);
        if (quarter * 4 + 4 < columnsOfLane(o))
          continue;
        if (o->rowwise)
          storeRow(o, place.row + r < rows,
                   rowCodesAt(o, place, job->data, job->dataPitch) +
                       r * job->dataPitch,
                   rowCodes[r]);
        if (o->columnwise && !transposes)
          storeRow(o, place.row + r < columnwiseRows,
                   rowCodesAt(o, place, job->columnwiseData,
                              job->columnwiseDataPitch) +
                       r * job->columnwiseDataPitch,
                   sameCodes[r]);
      }
      if (!transposes)
        continue;
      uint8_t GQ_GLOBAL *p =
          columnCodesAt(o, place, job->columnwiseData, pitch);
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < 4; ++j) {
        gq_dev_codes4(o->format, top / 4, y[j], transposed[j]);
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
  float amax = gq_dev_f32_amax(x, GQ_DEV_UNIT);
  if (o->traits.blockColumns == 2 * GQ_DEV_UNIT)
    amax = gq_dev_max_number(amax, gq_dev_f32_from_bits(gq_dev_shuffle_xor(
                                       gq_dev_f32_bits(amax), 1)));
  gq_dev_block_scale block = gq_dev_any_block(rowScaler(o), amax, job->outer);
  if (hasRowScales(o, place))
    rowScaleAt(o, place, place.row, parity)[r * scalePitch(o)] =
        there ? (uint8_t)block.bits : 0;
  return block.factor;
}

/// Does the same with any blocks and any outputs, and scales the rows again.
/// This is rare: it goes through the rows one after the other and loads them
/// once more. All lanes take part.
GQ_DEV void convertAny(const Op *o, const Job GQ_SHARED *job, Place place,
                       uint32_t parity, bool firstPass) {
  uint32_t bytes = (uint32_t)dataBytes(o, columnsOfLane(o));
  bool hasColumns = place.column < job->columns, atOnce = storesAtOnce(o);
  bool hasTransposed = hasColumns && place.row < job->paddedRows;
  uint32_t rows = hasColumns ? job->rows : 0;
  uint8_t GQ_GLOBAL *data = rowCodesAt(o, place, job->data, job->dataPitch);
  uint8_t GQ_GLOBAL *columnwise =
      rowCodesAt(o, place, job->columnwiseData, job->columnwiseDataPitch);
  uint8_t GQ_GLOBAL *transposed =
      columnCodesAt(o, place, job->columnwiseData, job->columnwiseDataPitch);
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
    if (o->rowwise)
      factor = hasLongBlocks(o)
                   ? longRowFactors[place.row + r]
                   : scaleAnyRow(o, job, place, parity, r, there, x);
    if (isSecond(o, place)) // The first half is the other lane's.
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < GQ_DEV_UNIT / 2; ++i)
        x[i] = x[i + GQ_DEV_UNIT / 2];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i) {
      if (o->columnwise && i < columnsOfLane(o))
        factors[i] = shared[i];
      sums[i] += x[i];
    }
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i) {
      if (i * 4 >= columnsOfLane(o))
        continue;
      if (o->rowwise)
        convertQuarter(o, true, i, x + 4 * i, &factor, 0, rowCodes);
      if (o->columnwise)
        convertQuarter(o, true, i, x + 4 * i, factors + 4 * i, 1, sameCodes);
    }
    if (o->rowwise && there)
      storeBytes(data + r * job->dataPitch, rowCodes, bytes, bytes, atOnce);
    if (o->columnwise && !o->traits.transposes && there && job->group >= 0)
      storeBytes(columnwise + r * job->columnwiseDataPitch, sameCodes, bytes,
                 bytes, atOnce);
    if (o->columnwise && o->traits.transposes) {
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
        if (i >= columnsOfLane(o)) {
          continue;
        } else if (collectsColumns(o)) {
          // Missing rows are 0, also times an infinite factor.
          columns[i] |= (there ? sameCodes[i / 8] >> i % 8 * 4 & 15 : 0)
                        << r * 4;
        } else if (hasTransposed) {
          transposed[i * job->columnwiseDataPitch + r] =
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
  if (o->columnwise)
    regular &= scaleColumns(o, job, place, parity, held);
  if (o->rowwise)
    regular &= scaleRows(o, job, place, parity, held, factors);
  bool allRegular = gq_dev_ballot(!regular) == 0;
  if (!allRegular && o->columnwise)
    scaleAnyColumns(o, job, place, parity, held);
  gq_dev_warp_barrier();
  if (o->rowwise && sharesRows(o))
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

//===----------------------------------------------------------------------===//
// Blocks as long as a job
//===----------------------------------------------------------------------===//

// Warps have parts of such blocks. The CTA agrees on their scales, which are
// few, by way of shared memory: thread i has that of row i and that of column
// i.

/// Collects the largest magnitudes of a lane's elements. All lanes take part.
GQ_DEV void measureLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                        uint32_t parity, const Held *held) {
  Place place = placeOfLane(o, job, pass);
  float amax[ROWS];
  if (o->traits.blockRows > 1) {
    uint32_t max = 0;
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o))
        max = gq_dev_max_word(
            o->heldType, max,
            gq_dev_max_words(o->heldType, held->words[r], wordsOfLane(o)));
    amax[0] = gq_dev_amax_of_word(o->heldType, max);
    collectAmax(amax, 1, parity);
    return;
  }
  if (o->rowwise) {
    rowMagnitudes(o, held, place, amax);
    float GQ_SHARED *rows = &rowAmax[place.column / QUARTER][place.row];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o) && place.column % QUARTER == 0)
        rows[r] = amax[r];
    if (o->hasAmax)
      collectAmax(amax, rowsOfLane(o), parity);
  }
  if (o->columnwise) {
    columnMagnitudes(o, held, place, amax);
    float GQ_SHARED *columns =
        &columnAmax[place.row / rowsOfWarp(o)][firstOwnColumn(o, place)];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 8; ++i)
      if (i < ownColumns(o))
        columns[i] = amax[i];
    if (o->hasAmax && !o->rowwise)
      collectAmax(amax, ownColumns(o), parity);
  }
}

/// Scales the blocks of a job: stores their scales and leaves their factors
/// where conversions expect them. All threads take part.
GQ_DEV void scaleLongBlocks(const Op *o, const Job GQ_SHARED *job,
                            uint32_t parity) {
  bool squares = o->traits.blockRows > 1;
  uint32_t thread = gq_dev_here(gq_dev_thread());
  float all = gq_dev_f32_from_bits(jobAmax[parity]);
  if (o->rowwise) {
    float amax =
        squares ? all
                : gq_dev_max_number(rowAmax[0][thread], rowAmax[1][thread]);
    gq_dev_block_scale block =
        gq_dev_either_block(rowScaler(o), amax, job->outer).block;
    longRowFactors[thread] = block.factor;
    gq_dev_store4_if(job->group >= 0 && thread < (squares ? 1 : job->rows),
                     job->scales + thread * job->scalesPitch, block.bits);
  }
  if (o->columnwise) {
    float amax = squares ? all : 0.0f;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      if (!squares && i < TILE / rowsOfWarp(o))
        amax = gq_dev_max_number(amax, columnAmax[i][thread]);
    gq_dev_block_scale block =
        gq_dev_either_block(columnScaler(o), amax, job->columnwiseOuter).block;
    // For both warps that have the column.
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < WARPS; i += 2)
      ((float GQ_SHARED *)
           columnFactors[i + thread / QUARTER])[thread % QUARTER] =
          block.factor;
    gq_dev_store4_if(job->group >= 0 && thread < (squares ? 1 : job->columns),
                     job->columnwiseScales +
                         thread * job->columnwiseScalesPitch,
                     block.bits);
  }
}

/// Converts a lane's elements. All lanes take part.
GQ_DEV void convertLongBlocks(const Op *o, const Job GQ_SHARED *job,
                              uint32_t pass, uint32_t parity,
                              const Held *held) {
  Place place = placeOfLane(o, job, pass);
  float factors[ROWS];
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (o->rowwise && r < rowsOfLane(o))
      factors[r] = longRowFactors[place.row + r];
  convertLane(o, job, place, parity, held, factors, storesAtOnce(o), pass == 0);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// What CTA 0 knows of all groups: the scale offsets, the first jobs.
GQ_DEV void publishGroups(const Op *o, const Plan *plan) {
  uint32_t thread = gq_dev_thread(), begin = thread * plan->share;
  Sums sums;
  for (int i = 0; i < NUM_SUMS; ++i)
    sums.of[i] = needsSum(o, i) ? table[i][thread] : 0;
  for (uint32_t e = begin; e < begin + plan->share && e < o->groups; ++e) {
    if (o->givesScaleOffsets)
      gq_dev_store_index(o->scaleOffsetsOut, o->allGroups.wide, e,
                         sums.of[SUM_SCALES]);
    if (o->hasAmax || o->hasDbias)
      o->partial.firstJobs[e] = min32(sums.of[SUM_JOBS], plan->groupJobs);
    sums = addSums(o, sums, sumsOf(o, usedGroup(o, e)));
  }
  if ((o->hasAmax || o->hasDbias) && thread == 0)
    o->partial.firstJobs[o->groups] = plan->groupJobs;
}

/// What is known before jobs are done and needed between them, out of the way
/// of what they hold. Volatile, or it would be read again ahead of them.
static volatile GQ_SHARED struct {
  Plan plan;
  uint32_t numCtas;
  /// The jobs of the CTA.
  uint32_t jobs;
  float GQ_GLOBAL *amax, *sums;
} kept GQ_UNINITIALIZED;

/// Stores what the CTA has collected of its job number n before a barrier. All
/// threads take part.
GQ_DEV void finishJob(const Op *o, uint32_t n) {
  const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
  uint32_t thread = gq_dev_here(gq_dev_thread()), parity = n % 2;
  if (o->rowwise && !hasLongBlocks(o))
    storeScales(o, job->scales, job->scalesPitch, job->rows, job->scaleBytes,
                rowScales[parity], thread);
  if (o->columnwise && !hasLongBlocks(o))
    storeScales(o, job->columnwiseScales, job->columnwiseScalesPitch,
                job->columns, job->columnwiseScaleBytes, columnScales[parity],
                thread ^ THREADS / 2);
  if (collectsColumns(o))
    storeColumns(job, parity, thread);
  if (o->hasDbias && job->group >= 0 && thread < job->columns)
    kept.sums[job->sumsRow * o->columns + job->sumsColumn + thread] =
        columnSums[parity][0][thread] + columnSums[parity][1][thread];
  if (o->hasAmax && thread == 0)
    kept.amax[gq_dev_here(gq_dev_cta()) + n * kept.numCtas] =
        gq_dev_f32_from_bits(jobAmax[parity]);
  if ((o->hasAmax || o->traits.blockRows > 1) && thread == 0)
    jobAmax[parity] = 0;
}

/// Elements of job number n and a pass, once and in order. Begins to copy the
/// next ones, where they are copied.
GQ_DEV Held takeElements(const Op *o, uint32_t n, uint32_t pass) {
  if (!stages(o))
    return loadLane(o, &jobs[n % (2 * BATCH)], pass);
  Held held = takeStaged(o, placeOfLane(o, &jobs[n % (2 * BATCH)], pass));
  bool last = pass + 1 == numPasses(o);
  if (!last || n + 1 < kept.jobs)
    stage(o, &jobs[(n + last) % (2 * BATCH)], last ? 0 : pass + 1);
  return held;
}

/// Quantizes the CTA's job number n and finishes the one before it.
GQ_DEV void quantizeJob(const Op *o, const Job GQ_SHARED *job, uint32_t n) {
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
    Held held = takeElements(o, n, pass);
    if (pass == 0 && n > 0) {
      gq_dev_barrier();
      finishJob(o, n - 1);
    }
    if (hasElements(o, job, pass))
      quantizeLane(o, job, pass, n % 2, &held);
    else
      skipLane(o, job, pass, n % 2);
  }
}

/// The same of blocks as long as a job. What a lane does not hold is loaded
/// twice.
GQ_DEV void quantizeLongBlocks(const Op *o, const Job GQ_SHARED *job,
                               uint32_t n) {
  Held held;
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
    held = takeElements(o, n, pass);
    measureLane(o, job, pass, n % 2, &held);
  }
  gq_dev_barrier();
  if (n > 0)
    finishJob(o, n - 1);
  scaleLongBlocks(o, job, n % 2);
  gq_dev_barrier();
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
    if (numPasses(o) > 1)
      held = loadLane(o, job, pass);
    convertLongBlocks(o, job, pass, n % 2, &held);
  }
}

GQ_DEV void quantizeJobs(const Op *o, const Plan *plan) {
  if (gq_dev_thread() == 0) {
    uint32_t more = plan->jobs + gq_dev_num_ctas() - 1;
    kept.numCtas = gq_dev_num_ctas();
    kept.jobs = (more - gq_dev_cta()) / gq_dev_num_ctas();
    kept.plan.share = plan->share;
    kept.plan.groupJobs = plan->groupJobs;
    kept.plan.jobs = plan->jobs;
    kept.plan.rowsBefore = plan->rowsBefore;
    kept.plan.firstRowAfter = plan->firstRowAfter;
    kept.amax = o->partial.amax;
    kept.sums = o->partial.sums;
  }
  if (gq_dev_thread() < 2)
    jobAmax[gq_dev_thread()] = 0;
  if (gq_dev_thread() < 2 * BATCH)
    findJobs(o, plan, gq_dev_num_ctas(), gq_dev_thread() / BATCH * BATCH);
  gq_dev_barrier();

  uint32_t n = 0;
  if (stages(o) && kept.jobs > 0)
    stage(o, &jobs[0], 0);
  for (; n < kept.jobs; ++n) {
    const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
    if (hasLongBlocks(o))
      quantizeLongBlocks(o, job, n);
    else
      quantizeJob(o, job, n);
    // In place of jobs that all warps are done with.
    if (n % BATCH == BATCH / 2 && n > BATCH && gq_dev_thread() < BATCH) {
      const Plan again = {
          .share = kept.plan.share,
          .groupJobs = kept.plan.groupJobs,
          .jobs = kept.plan.jobs,
          .rowsBefore = kept.plan.rowsBefore,
          .firstRowAfter = kept.plan.firstRowAfter,
      };
      findJobs(o, &again, kept.numCtas, n + BATCH / 2);
    }
  }
  gq_dev_barrier();
  if (n > 0)
    finishJob(o, n - 1);
}

GQ_DEV_KERNEL void
gq_dev_quantize_tiles(GQ_DEV_PARAMETERS(GQ_QUANTIZE_TILES_OPERANDS)) {
  Op op = {
      GQ_DEV_INITIALIZERS(GQ_QUANTIZE_TILES_OPERANDS),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
      .partial = workspaceAt(workspace, rows, columns, groups, parts),
      .traits = gqFormatGetTraits((gqFormat)format),
      .rowwise = parts & GQ_DEV_ROWWISE,
      .columnwise = parts & GQ_DEV_COLUMNWISE,
      .hasAmax = parts & GQ_DEV_AMAX,
      .hasDbias = parts & GQ_DEV_DBIAS,
      .ragged = parts & GQ_DEV_RAGGED,
      .givesScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS_OUT,
      .tiled = scaleLayout == GQ_SCALE_LAYOUT_TILE128X4,
      .allRows = rowsMode == GQ_ROWS_ALL,
  };
  op.allGroups = (gq_dev_groups){
      .offsets = offsets,
      .scaleOffsets = scaleOffsets,
      .firstDims = firstDims,
      .lastDims = lastDims,
      .numOffsets = (uint32_t)numOffsets,
      .numGroups = (uint32_t)groups,
      .numRows = rows,
      .numColumns = columns,
      .scaleRows =
          (int64_t)((uint64_t)scalesSize / (uint64_t)scaleWidth(&op, columns)),
      .wide = offsetBits == 64,
      .hasScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS && !op.ragged,
      .ragged = op.ragged,
      .columnUnit = op.rowwise || op.traits.blockRows > 1
                        ? op.traits.blockColumns
                        : GQ_DEV_UNIT,
  };
  Plan plan = makePlan(&op);
  if (sharedFaults && gq_dev_cta() == 0 && gq_dev_thread() == 0)
    gq_dev_atomic_or(status, sharedFaults);
  if (gq_dev_cta() == 0)
    publishGroups(&op, &plan);
  quantizeJobs(&op, &plan);
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}

//===----------------------------------------------------------------------===//
// The second kernel: adds up what the jobs left
//===----------------------------------------------------------------------===//

/// The sum of every `step`-th of the numbers [begin, end) of `p`, `pitch`
/// apart.
GQ_DEV float sumEvery(const float GQ_GLOBAL *p, int64_t pitch, uint32_t begin,
                      uint32_t end, uint32_t step) {
  float sum = 0.0f;
#pragma clang loop unroll_count(8)
  for (uint32_t i = begin; i < end; i += step)
    sum += p[i * pitch];
  return sum;
}

/// The sum of a column of a group: of every fourth tile, then of these four,
/// each of which one warp adds up if warps share a column. All threads take
/// part.
GQ_DEV float sumColumn(const float GQ_GLOBAL *p, int64_t pitch, uint32_t begin,
                       uint32_t end, bool shares) {
  float sums[WARPS] = {0.0f};
  if (shares) {
    uint32_t thread = gq_dev_thread();
    gq_dev_barrier(); // Others may still read those of a column before.
    columnSums[0][0][thread] =
        sumEvery(p, pitch, begin + thread / GQ_DEV_WARP, end, WARPS);
    gq_dev_barrier();
    for (uint32_t i = 0; i < WARPS; ++i)
      sums[i] = columnSums[0][0][i * GQ_DEV_WARP + gq_dev_lane()];
  } else {
    uint32_t whole = begin + (end - begin) / WARPS * WARPS;
#pragma clang loop unroll_count(4)
    for (uint32_t tile = begin; tile < whole; tile += WARPS)
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < WARPS; ++i)
        sums[i] += p[(tile + i) * pitch];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < WARPS - 1; ++i)
      if (whole + i < end)
        sums[i] += p[(whole + i) * pitch];
  }
  float sum = sums[0];
#pragma clang loop unroll(full)
  for (uint32_t i = 1; i < WARPS; ++i)
    sum += sums[i];
  return sum;
}

/// The sums of the columns of a CTA's `part` of a group, where so many warps
/// share a column. All threads take part.
GQ_DEV void reduceSums(const Workspace *workspace, int64_t columns, uint32_t e,
                       uint32_t part, uint32_t warps, void GQ_GLOBAL *dbias,
                       gqElementType type) {
  uint32_t thread = gq_dev_thread(), width = THREADS / warps;
  uint32_t column = part * width + thread % width,
           columnTiles = (uint32_t)numTiles(columns);
  bool has = column < columns;
  uint32_t begin = workspace->firstJobs[e] / columnTiles;
  uint32_t end = workspace->firstJobs[e + 1] / columnTiles;
  float sum = sumColumn(workspace->sums + column, columns, begin,
                        has ? end : begin, warps > 1);
  if (!has || thread >= width)
    return;
  int64_t at = e * columns + column;
  if (type == GQ_F32)
    ((float GQ_GLOBAL *)dbias)[at] = sum;
  else
    ((uint16_t GQ_GLOBAL *)dbias)[at] =
        type == GQ_BF16 ? gq_dev_bf16_from_f32(sum) : gq_dev_f16_from_f32(sum);
}

/// The largest magnitude of a group. All threads take part.
GQ_DEV void reduceAmax(const Workspace *workspace, uint32_t e,
                       float GQ_GLOBAL *amax) {
  uint32_t thread = gq_dev_thread();
  if (thread == 0)
    jobAmax[0] = 0;
  gq_dev_barrier();
  float max = 0.0f;
#pragma clang loop unroll_count(8)
  for (uint32_t job = workspace->firstJobs[e] + thread;
       job < workspace->firstJobs[e + 1]; job += THREADS)
    max = gq_dev_max_number(max, workspace->amax[job]);
  uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(max));
  if (gq_dev_lane() == 0)
    gq_dev_atomic_max_shared(&jobAmax[0], bits);
  gq_dev_barrier();
  if (thread == 0)
    amax[e] = gq_dev_f32_from_bits(jobAmax[0]);
}

GQ_DEV_KERNEL void
gq_dev_reduce_tiles(GQ_DEV_PARAMETERS(GQ_REDUCE_TILES_OPERANDS)) {
  Workspace w = workspaceAt(workspace, rows, columns, groups, parts);
  uint32_t warps = gq_dev_reduce_tiles_warps(rows, groups);
  uint32_t perGroup = gq_dev_reduce_tiles_ctas(columns, warps, parts);
  uint32_t all = (uint32_t)(groups * perGroup);
  for (uint32_t i = gq_dev_cta(); i < all; i += gq_dev_num_ctas()) {
    uint32_t e = i / perGroup, part = i % perGroup;
    if ((parts & GQ_DEV_AMAX) && part == perGroup - 1)
      reduceAmax(&w, e, amax);
    else
      reduceSums(&w, columns, e, part, warps, dbias, (gqElementType)dbiasType);
  }
}
