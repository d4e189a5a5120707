//===- QuantizeRows.c - kernels that go through rows ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the work is cut. In the tile128x4 layout the scales of rows r, r + 32,
// r + 64, r + 96 of a group, four columns each, share 16 bytes, and rows r and
// r + 1 a sector of 32 bytes. So a warp takes a piece of such eight rows by 16
// units of 16 elements: its scales leave in whole sectors, where row by row
// they would leave in words 512 bytes apart, as many L2 transactions as all the
// data. In the piece lane i has unit i % 16 of rows r + i / 16 + {0, 32, 64,
// 96}. A unit is a block of nvfp4; in other formats the lanes of a block find
// its largest magnitude together. Four lanes side by side, or of MX those of
// four blocks, hold a 4 by 4 matrix of scale bytes, rows by columns.
//
// 16 pieces make 128 rows by 16 units. Consecutive warps take consecutive
// pieces, down the 128 rows and then to the right, so that the grid moves
// through the matrix as a whole: far fewer pages are in use at a time than if
// each CTA had a part of its own, which took 1.2 times as long.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Kernels.h"

#include "gq/Runtime/Directions.h"
#include "runtime_kernels/arch/Mma.h"
#include "runtime_kernels/codecs/Halves.h"
#include "runtime_kernels/kernels/FourRows.h"
#include "runtime_kernels/kernels/Gather.h"
#include "runtime_kernels/kernels/Units.h"
#include "runtime_kernels/scalers/Block.h"
#include "runtime_kernels/scalers/Dequantize.h"
#include "runtime_kernels/transforms/SharedRng.h"

enum {
  /// Units of a thread: one in each of the rows that share 16 bytes of scales.
  UNROLL = 4,
  PIECE_COLUMNS = 16,
  /// Pieces in 128 rows.
  PIECES = 16,
};

_Static_assert(GQ_DEV_ROWS_PIECE_WARPS == UNROLL, "a row of four each");

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Four lanes hold a word each: lane i gets byte i of the four, lowest lane
/// first. A 4 by 4 transposition in two steps.
GQ_DEV uint32_t transposeBytes(uint32_t word) {
  uint32_t lane = gq_dev_lane();
  uint32_t other = gq_dev_shuffle_xor(word, 1);
  word = gq_dev_permute(word, other, lane & 1 ? 0x3715 : 0x6240);
  other = gq_dev_shuffle_xor(word, 2);
  return gq_dev_permute(word, other, lane & 2 ? 0x3276 : 0x5410);
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// The operands, and what follows from them.
typedef struct Quantization {
  GQ_DEV_FIELDS(GQ_QUANTIZE_ROWS_OPERANDS)
  /// Whether row indices are applied before the hook is called.
  bool gathers;
  /// Null if rows are in no groups.
  const gq_dev_row_groups *rowGroups;
} Quantization;

/// Whether rows are in groups.
GQ_DEV bool isGrouped(const Quantization *q) { return q->rowGroups; }

/// Lanes side by side that have a block.
GQ_DEV uint32_t lanesPerBlock(const Quantization *q) {
  return (uint32_t)gqFormatGetTraits(q->format).blockColumns / GQ_DEV_UNIT;
}

/// Bytes of a scale.
GQ_DEV uint32_t scaleBytes(const Quantization *q) {
  return gqFormatGetTraits(q->format).scaleType == GQ_F32 ? 4 : 1;
}

/// Whether data are the numbers that codes stand for, without scales.
GQ_DEV bool makesNumbers(const Quantization *q) {
  return q->dataType == GQ_F32 || q->dataType == GQ_BF16 ||
         q->dataType == GQ_F16;
}

GQ_DEV uint32_t dataBytesPerUnit(const Quantization *q) {
  return makesNumbers(q)
             ? (uint32_t)gqElementTypeSize(q->dataType) * GQ_DEV_UNIT
             : (uint32_t)gqFormatGetTraits(q->format).dataBits * GQ_DEV_UNIT /
                   8;
}

/// Whether units are stored in as few pieces as they can be.
GQ_DEV bool isDataAligned(const Quantization *q) {
  uint32_t bytes = dataBytesPerUnit(q);
  return (((uint64_t)q->data | (uint64_t)q->dataStride) &
          ((bytes < 16 ? bytes : 16) - 1)) == 0;
}

/// Of a row, in bytes.
GQ_DEV uint32_t scaleBytesPerRow(const Quantization *q) {
  uint32_t units = (uint32_t)(q->columns / GQ_DEV_UNIT);
  return units / lanesPerBlock(q) * scaleBytes(q);
}

GQ_DEV bool hasTiledScales(const Quantization *q) {
  return q->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4;
}

/// A lane's units in a piece: in `column`, counted in units, and in the rows
/// first + 32 * i for i < count.
typedef struct Units {
  int64_t first;
  uint32_t column;
  uint32_t count;
  /// Which of the four rows is `first`, and how many the warp has from there
  /// on: all, or one.
  uint32_t rowOfFour, most;
  /// With row indices: the row of the source, -1 if there is none.
  int64_t sourceRows[UNROLL];
} Units;

/// How many of the four rows from `first` on there are.
GQ_DEV uint32_t countRows(const Quantization *q, int64_t first) {
  int64_t left = q->rows - first;
  return left <= 0 ? 0
         : left > (UNROLL - 1) * ROW_STEP
             ? UNROLL
             : ((uint32_t)left + ROW_STEP - 1) / ROW_STEP;
}

/// The units of a piece that has one warp, four rows of them, or of a `part` of
/// one that has four.
GQ_DEV Units unitsOf(const Quantization *q, Piece piece, uint32_t run,
                     uint32_t warps, uint32_t part) {
  uint32_t lane = gq_dev_lane();
  Units units = {.first = (int64_t)piece.rowTile * GQ_DEV_TILE_ROWS +
                          piece.number % PIECES * 2 + lane / PIECE_COLUMNS +
                          part * ROW_STEP,
                 .column = piece.number / PIECES * run * PIECE_COLUMNS +
                           lane % PIECE_COLUMNS,
                 .rowOfFour = part,
                 .most = warps == 1 ? UNROLL : 1};
  units.count = countRows(q, units.first);
  if (units.count > units.most)
    units.count = units.most;
  for (uint32_t i = 0; q->gathers && i < UNROLL; ++i)
    units.sourceRows[i] =
        gq_dev_source_row(q->rowIndices, q->rowIndexBits, q->sourceRows,
                          i < units.count ? units.first + ROW_STEP * i : 0);
  return units;
}

GQ_DEV bool roundsStochastically(const Quantization *q) {
  return gqDirectionUnpack(q->rowwiseTraits).rounding == GQ_ROUNDING_STOCHASTIC;
}

GQ_DEV gq_dev_scaler scalerOf(const Quantization *q) {
  bool hasOuter = q->outerKind != GQ_OUTER_NONE;
  return (gq_dev_scaler){
      .format = q->format,
      .recipe = q->recipe,
      .hasOuter = hasOuter,
      .way = roundsStochastically(q)
                 ? GQ_DEV_E2M1_NATIVE // elements as they are
                 : gq_dev_e2m1_way_of(q->heldType, hasOuter),
  };
}

/// A unit as it waits in registers: 16 words of heldType or 8 pairs.
typedef struct Held {
  uint32_t words[GQ_DEV_UNIT];
} Held;

/// Packing undoes the hook's unpacking, so that registers hold what was loaded.
GQ_DEV Held hold(const Quantization *q, const float x[GQ_DEV_UNIT]) {
  gqElementType type = q->heldType;
  Held held;
  if (type == GQ_F32)
    for (uint32_t j = 0; j < GQ_DEV_UNIT; ++j)
      held.words[j] = gq_dev_f32_bits(x[j]);
  else
    for (uint32_t j = 0; j < GQ_DEV_UNIT / 2; ++j)
      held.words[j] = gq_dev_pack(type, x + 2 * j);
  return held;
}

/// The index of the first element of unit i in the matrix.
GQ_DEV int64_t indexOfUnit(const Quantization *q, Units units, uint32_t i) {
  return (units.first + ROW_STEP * i) * q->columns +
         (int64_t)units.column * GQ_DEV_UNIT;
}

/// Loads unit i, or unit (0, 0) where it does not exist: without a branch,
/// loads are issued together.
GQ_DEV Held loadUnit(const Quantization *q, Units units, uint32_t i) {
  bool inside = i < units.count;
  float x[GQ_DEV_UNIT];
  if (q->gathers)
    gq_dev_load16_gathered(q->load, q->inputs,
                           inside ? units.sourceRows[i] : -1,
                           (int64_t)units.column * GQ_DEV_UNIT, x);
  else
    q->load(q->inputs, inside ? units.first + ROW_STEP * i : 0,
            inside ? (int64_t)units.column * GQ_DEV_UNIT : 0, x);
  return hold(q, x);
}

/// Has a hook that loads ahead ask for unit i, as loadUnit does, or for none
/// after the last. `x` is the unit before, or null.
GQ_DEV void askForUnit(const Quantization *q, Units units, uint32_t i,
                       float *x) {
  int64_t row = i < units.count ? units.first + ROW_STEP * i : 0;
  q->load(q->inputs, i < units.most ? row : -1,
          units.count ? (int64_t)units.column * GQ_DEV_UNIT : 0, x);
}

/// Computes unit i with a producer.
GQ_DEV Held computeUnit(const Quantization *q, Units units, uint32_t i) {
  if (!q->loadsAhead)
    return loadUnit(q, units, i);
  float x[GQ_DEV_UNIT];
  askForUnit(q, units, i + 1, x);
  return hold(q, x);
}

/// Loads a lane's units. Where all lanes have all of theirs and the matrix is
/// aligned, as almost always, no address depends on it, and no branch is
/// between the loads.
GQ_DEV void loadUnits(const Quantization *q, Units units, Held held[UNROLL]) {
  Quantization usual = *q;
  gq_dev_matrix matrix;
  bool aligned = true, all = gq_dev_ballot(units.count < UNROLL) == 0;
  if (gq_dev_asks(q->load)) {
    matrix = *(const gq_dev_matrix *)q->inputs;
    aligned = gq_dev_is_aligned(&matrix);
    matrix.alignment = GQ_DEV_KNOWN_ALIGNED;
    usual.inputs = &matrix;
  }
  if (aligned & all) {
    units.count = UNROLL;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i)
      held[i] = loadUnit(&usual, units, i);
  } else {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i)
      held[i] = loadUnit(q, units, i);
  }
}

/// The codes of a scaled unit of nvfp4, rounded stochastically. `first` is the
/// index of its first element in the matrix. All lanes take part.
GQ_DEV void drawCodes(const float y[GQ_DEV_UNIT], int64_t first,
                      uint32_t codes[4]) {
  gq_dev_warp_barrier(); // Or keys would be kept from the unit before.
  gq_dev_rng_keys rng = gq_dev_shared_rng();
  gq_dev_random random = gq_dev_random_of_block(&rng, false, first);
#pragma clang loop unroll(full)
  for (uint32_t half = 0; half < 2; ++half) {
    uint32_t pairs[2][2];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 2; ++i)
      gq_dev_e2m1x4_stochastic(y + 8 * half + 4 * i, random.words[2 * half + i],
                               pairs[i]);
    codes[half] = gq_dev_e2m1x8_stochastic(pairs[0], pairs[1]);
  }
}

/// Quantizes a unit: its codes, and the scale of its block. `first` is as in
/// drawCodes. All lanes take part.
GQ_DEV uint32_t convertUnit(const Quantization *q, Held held,
                            gq_dev_outer outer, int64_t first,
                            uint32_t codes[4]) {
  gqElementType type = q->heldType;
  gq_dev_scaler scaler = scalerOf(q);
  uint32_t max = gq_dev_max_words(type, held.words,
                                  GQ_DEV_UNIT / gq_dev_elements_per_word(type));
  for (uint32_t lanes = 1; lanes < 8; lanes *= 2)
    if (lanes < lanesPerBlock(q))
      max = gq_dev_max_word(type, max, gq_dev_shuffle_xor(max, lanes));
  float amax = gq_dev_amax_of_word(type, max);

  float x[GQ_DEV_UNIT], y[GQ_DEV_UNIT];
  if (type == GQ_F32)
    for (uint32_t j = 0; j < GQ_DEV_UNIT; ++j)
      x[j] = gq_dev_f32_from_bits(held.words[j]);
  else
    for (uint32_t j = 0; j < GQ_DEV_UNIT / 2; ++j)
      gq_dev_unpack(type, held.words[j], x + 2 * j);
  gq_dev_any_scale scale = gq_dev_either_block(scaler, amax, outer);
  gq_dev_scale_unit(scaler, scale, x, y);
  if (roundsStochastically(q))
    drawCodes(y, first, codes);
  else
    gq_dev_codes(scaler.format, scaler.way, y, codes);
  return scale.block.bits;
}

/// What follows from the groups of a lane's rows. Of the four words of scales
/// that four neighbouring lanes have, a lane stores one: its number among the
/// four says which row's.
typedef struct RowPlan {
  /// Of scales in tiles.
  TiledStore store;
  /// Of linear scales: the row has some.
  bool hasScales;
  gq_dev_outer outer;
  /// Of numbers, what `outer` comes from; bit i of `hasOuter` says whether the
  /// row of lane i of the four has one.
  float given;
  uint32_t hasOuter;
} RowPlan;

/// `count` is the number of units whose data may be wanted, from number `begin`
/// of the four on, `target` that of the lane's row if rows are in groups.
GQ_DEV RowPlan planStores(const Quantization *q, uint32_t width, int64_t row,
                          uint32_t begin, uint32_t count, Target target) {
  RowPlan plan = {.hasScales = isGrouped(q) ? target.group >= 0 : row < q->rows,
                  .outer = gq_dev_no_outer(scalerOf(q)),
                  .given = 1.0f,
                  .hasOuter = 15};
  if (hasTiledScales(q))
    plan.store = planTiledStore(q->scales, width, target,
                                ((uint64_t)q->scales & 15) == 0);
  if (q->outerKind == GQ_OUTER_ONE)
    plan.given = *q->outer;
  else if (q->outerKind == GQ_OUTER_PER_GROUP && target.group >= 0)
    plan.given = q->outer[target.group];
  if (q->outerKind == GQ_OUTER_ONE ||
      (q->outerKind == GQ_OUTER_PER_GROUP && target.group >= 0))
    plan.outer = gq_dev_outer_from(scalerOf(q), plan.given);
  if (makesNumbers(q) && q->outerKind == GQ_OUTER_PER_GROUP)
    plan.hasOuter =
        gq_dev_ballot(target.group >= 0) >> (gq_dev_lane() & ~3u) & 15;
  plan.store.wanted = ((1u << count) - 1) << begin;
  if (isGrouped(q)) {
    bool wanted = q->rowsMode == GQ_ROWS_GROUPED
                      ? target.group >= 0
                      : target.group != GQ_DEV_SKIPPED_GROUP;
    plan.store.wanted &= gq_dev_ballot(wanted) >> (gq_dev_lane() & ~3u);
  }
  return plan;
}

/// The same, of any rows of lanes.
GQ_DEV RowPlan planRows(const Quantization *q, uint32_t width, int64_t row,
                        uint32_t begin, uint32_t count) {
  Target target = {.group = -1};
  if (isGrouped(q)) {
    gq_dev_row_groups groups = *q->rowGroups;
    if (groups.packed) // After the loads of the piece have been issued.
      gq_dev_sum_groups(&groups);
    target = findTarget(&groups, row);
  }
  RowPlan plan = planStores(q, width, row, begin, count, target);
  if (q->outerKind == GQ_OUTER_PER_ROW && row < q->rows)
    plan.outer = gq_dev_outer_from(scalerOf(q), q->outer[row]);
  return plan;
}

/// The outer scale of another lane's row.
GQ_DEV gq_dev_outer outerOf(const Quantization *q, const RowPlan *plan,
                            uint32_t lane) {
  gq_dev_outer outer = plan->outer;
  if (q->outerKind != GQ_OUTER_PER_GROUP && q->outerKind != GQ_OUTER_PER_ROW)
    return outer;
  return (gq_dev_outer){.factor = gq_dev_shuffle_f32(outer.factor, lane),
                        .inverse = gq_dev_shuffle_f32(outer.inverse, lane)};
}

/// Stores the numbers that the codes of a unit stand for. All lanes take part,
/// those with a `wanted` unit store.
GQ_DEV void storeNumbers(const Quantization *q, const RowPlan *plan, uint32_t j,
                         const uint32_t codes[4], uint32_t scale, bool wanted,
                         uint8_t GQ_GLOBAL *data, bool aligned) {
  gqFormatTraits traits = gqFormatGetTraits(q->format);
  bool hasOuter = q->outerKind != GQ_OUTER_NONE;
  float outer = plan->given;
  if (q->outerKind == GQ_OUTER_PER_GROUP || q->outerKind == GQ_OUTER_PER_ROW)
    outer = gq_dev_shuffle_f32(outer, (gq_dev_lane() & ~3u) + j);
  gq_dev_dequantizer dequantizer = {
      .format = q->format, .recipe = q->recipe, .hasOuter = hasOuter};
  float d = gq_dev_f32_from_scale_bits(traits.scaleRule, scale);
  float factor = gq_dev_dequantize_factor(dequantizer, d, outer);
  if (hasOuter && !(plan->hasOuter >> j & 1))
    factor = d; // Its `outer` is 1, by which dividing changes nothing.
  float x[GQ_DEV_UNIT];
  uint32_t words[GQ_DEV_UNIT];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 2; ++i)
    gq_dev_f32_from_codes(traits.dataType,
                          codes + i * (uint32_t)traits.dataBits / 4, 8,
                          x + 8 * i);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i) {
    x[i] *= factor;
    if (gq_dev_dequantize_divides(dequantizer))
      x[i] /= outer;
  }
  uint32_t perWord = gq_dev_elements_per_word(q->dataType);
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    if (i < GQ_DEV_UNIT / perWord)
      words[i] = gq_dev_round_pack(q->dataType, x + i * perWord);
  if (!wanted)
    return;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_UNIT; i += 4)
    if (i < GQ_DEV_UNIT / perWord)
      gq_dev_store_codes(data + 4 * i, words + i, 16, aligned);
}

/// Quantizes a lane's unit in row number `j` of four, whose first element has
/// the index `first`, and stores it at `to` if that bit of `wanted` is set.
/// Returns `scales` with its scale: byte j, or of scales of f32 the word of the
/// lane whose row it is.
GQ_DEV uint32_t quantizeUnit(const Quantization *q, const RowPlan *plan,
                             Held held, int64_t first, uint32_t j,
                             uint32_t wanted, uint32_t scales,
                             uint8_t GQ_GLOBAL *to, bool dataAligned) {
  uint32_t lane = gq_dev_lane(), laneInWord = lane % GQ_DEV_TILE_COLUMNS;
  // The lane that knows the group of this unit's row.
  gq_dev_outer outer = outerOf(q, plan, lane - laneInWord + j);
  uint32_t codes[4];
  uint32_t scale = convertUnit(q, held, outer, first, codes);
  if (makesNumbers(q))
    storeNumbers(q, plan, j, codes, scale, wanted >> j & 1, to, dataAligned);
  else if (wanted >> j & 1)
    gq_dev_store_codes(to, codes, dataBytesPerUnit(q), dataAligned);
  if (scaleBytes(q) == 1)
    return scales | scale << 8 * j;
  return j == laneInWord ? scale : scales;
}

/// A lane's units have a byte of scales each, row after row: gives it four
/// bytes of one row, as RowPlan says.
GQ_DEV uint32_t wordOfRow(const Quantization *q, uint32_t scales) {
  uint32_t lane = gq_dev_lane();
  // If two lanes share a block, four neighbouring lanes take four blocks.
  if (lanesPerBlock(q) == 2)
    scales = gq_dev_shuffle(scales, (lane & ~7u) + lane % 4 * 2);
  return transposeBytes(scales);
}

/// How the runs of pieces are shared by warps.
typedef struct Shares {
  /// The pieces of a run.
  uint32_t run;
  /// From run number `whole` on a warp has one of 2^cuts parts of a run: half
  /// of its pieces, if it has two and `cuts` is odd, and one of four rows of
  /// them, if it is 2 or more.
  uint32_t whole, cuts;
  /// How many runs and parts of runs there are.
  uint32_t number;
} Shares;

/// CTAs that stay do runs of two, a warp one after the other. Those that are
/// left in the end are cut such that they take the least time.
GQ_DEV Shares sharesOfStaying(uint32_t runs, bool cutsRows) {
  uint32_t warps = numWarps(), whole = runs / warps * warps;
  uint32_t left = runs - whole, cuts = 0;
  // In eighths of a run: one piece after the other, one row after the other.
  uint32_t pieces = (2 * left + warps - 1) / warps * 4;
  uint32_t rows = (8 * left + warps - 1) / warps;
  if (pieces < 8)
    cuts = 1;
  if (cutsRows && rows < 8 && rows < pieces)
    cuts = 3;
  return (Shares){2, whole, cuts, whole + (left << cuts)};
}

/// What a warp does at a time.
typedef struct Turn {
  /// The number of the run, the first of its pieces and how many.
  uint32_t number, first, pieces;
  /// Warps that share a piece, of which this one has row `row` of four.
  uint32_t warps, row;
} Turn;

GQ_DEV Turn turnOf(Shares shares, uint32_t index) {
  if (index < shares.whole || shares.cuts == 0)
    return (Turn){index, 0, shares.run, 1, 0};
  uint32_t after = index - shares.whole;
  uint32_t part = after & ((1u << shares.cuts) - 1);
  bool halves = shares.cuts & 1, rows = shares.cuts > 1;
  return (Turn){.number = shares.whole + (after >> shares.cuts),
                .first = !halves ? 0
                         : rows  ? part / UNROLL
                                 : part,
                .pieces = halves ? 1 : shares.run,
                .warps = rows ? UNROLL : 1,
                .row = rows ? part % UNROLL : 0};
}

/// A warp takes a run of pieces side by side, which share what is known of
/// their rows: of one if there are as many warps as pieces, else of two. More
/// would leave too few runs for small matrices. With four warps for each piece,
/// every one has one of the four rows. Returns how far behind the last run the
/// warp's next one would be.
GQ_DEV uint32_t quantize(const Quantization *q) {
  uint32_t numUnits = (uint32_t)(q->columns / GQ_DEV_UNIT);
  // In bytes, like all columns of scales here.
  uint32_t numScales = scaleBytesPerRow(q);
  uint32_t width = (uint32_t)gq_dev_up(numScales, GQ_DEV_TILE_COLUMNS);
  // Lanes side by side whose scales are a word.
  uint32_t lanesPerWord =
      GQ_DEV_TILE_COLUMNS * lanesPerBlock(q) / scaleBytes(q);
  uint32_t dataBytes = dataBytesPerUnit(q);
  int64_t rowsApart = ROW_STEP * q->dataStride;
  bool dataAligned = isDataAligned(q);
  bool scalesAligned =
      hasTiledScales(q)
          ? ((uint64_t)q->scales & 15) == 0
          : (((uint64_t)q->scales | (uint64_t)q->scalesStride) & 3) == 0;
  // What a hook loads can be held for later; a fused producer would need
  // registers for 16 results per unit, which cost more warps than loading ahead
  // gains.
  bool ahead = gq_dev_asks(q->load);

  uint32_t rowTiles = numRowTiles(q->rows);
  uint32_t pieceColumns =
      (width / GQ_DEV_TILE_COLUMNS * lanesPerWord + PIECE_COLUMNS - 1) /
      PIECE_COLUMNS;
  uint32_t pieces = rowTiles * pieceColumns * PIECES;
  bool stays = q->size == GQ_DEV_ROWS_LARGE;
  uint32_t run = numWarps() >= pieces && !stays ? 1 : 2;
  // sm_120a lacks a register or two for it.
  bool shares = q->warpsPerPiece > 1 && GQ_DEV_SHARED_KB >= 228;
  uint32_t warps = shares && numWarps() / UNROLL >= pieces ? UNROLL : 1;
  uint32_t runsPerTile = (pieceColumns + run - 1) / run * PIECES;
  uint32_t runs = rowTiles * runsPerTile;
  Shares all = stays ? sharesOfStaying(runs, shares)
                     : (Shares){run, 0, warps == 1 ? 0 : 2, runs * warps};
  uint32_t lane = gq_dev_lane(), laneInWord = lane % GQ_DEV_TILE_COLUMNS;
  uint32_t index = warpNumber();
  for (; index < all.number; index += numWarps()) {
    Turn turn = turnOf(all, index);
    Piece piece = pieceOf(turn.number, runsPerTile);
    Units units = unitsOf(q, piece, run, turn.warps, turn.row);
    units.column += turn.first * PIECE_COLUMNS;
    // Of the lane that has a row's word of scales; none if others see to it.
    int64_t wordRow = units.first + ROW_STEP * laneInWord;
    if (turn.warps > 1)
      wordRow = laneInWord == units.rowOfFour ? units.first : q->rows;
    RowPlan plan;
    // Not unrolled: other warps fill the time that loads take, and registers
    // are what limits their number.
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < turn.pieces; ++i, units.column += PIECE_COLUMNS) {
      Units here = units;
      bool hasColumn = here.column < numUnits;
      here.count = hasColumn ? here.count : 0;
      Held held[UNROLL];
      if (ahead)
        loadUnits(q, here, held);
      uint8_t GQ_GLOBAL *data = q->data + here.first * q->dataStride +
                                (int64_t)here.column * dataBytes;
      if (q->loadsAhead)
        askForUnit(q, here, 0, 0);
      if (i == 0)
        plan = planRows(q, width, wordRow, units.rowOfFour,
                        ahead ? units.count : units.most);

      uint32_t wanted = hasColumn ? plan.store.wanted : 0, scales = 0;
      if (ahead || q->gathers) {
#pragma clang loop unroll(full)
        for (uint32_t j = 0; j < UNROLL; ++j)
          scales = quantizeUnit(
              q, &plan, ahead ? held[j] : loadUnit(q, here, j),
              indexOfUnit(q, here, j), j, ahead || j < here.count ? wanted : 0,
              scales, data + j * rowsApart, dataAligned);
      } else {
        // Not unrolled: four times a producer's code would not fit into the
        // cache of instructions.
#pragma clang loop unroll(disable)
        for (uint32_t j = 0; j < units.most; ++j)
          scales = quantizeUnit(q, &plan, computeUnit(q, here, j),
                                indexOfUnit(q, here, j), units.rowOfFour + j,
                                j < here.count ? wanted : 0, scales,
                                data + j * rowsApart, dataAligned);
      }
      if (makesNumbers(q))
        continue;
      // Blocks that are padding have scale 0.
      if (scaleBytes(q) == 1)
        scales = wordOfRow(q, hasColumn ? scales : 0);

      uint32_t wordColumn = here.column / lanesPerWord * GQ_DEV_TILE_COLUMNS;
      // The first four of eight lanes have the word.
      if (lanesPerWord > 4 && lane % lanesPerWord >= 4)
        wordColumn = width;
      if (hasTiledScales(q)) {
        storeTiled(&plan.store, wordColumn, width, scales, scalesAligned);
      } else if (wordColumn < numScales && plan.hasScales) {
        uint32_t left = numScales - wordColumn;
        storeScales(q->scales + wordRow * q->scalesStride + wordColumn, scales,
                    left < GQ_DEV_TILE_COLUMNS ? left : GQ_DEV_TILE_COLUMNS,
                    scalesAligned);
      }
    }
  }
  return index - all.number;
}

GQ_DEV_KERNEL void
gq_dev_quantize_rows(GQ_DEV_PARAMETERS(GQ_QUANTIZE_ROWS_OPERANDS)) {
  if (gq_dev_is_noop(noopFlag))
    return;
  Quantization quantization = {
      GQ_DEV_INITIALIZERS(GQ_QUANTIZE_ROWS_OPERANDS),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
  };
  if (roundsStochastically(&quantization)) {
    gq_dev_share_rng(rngState);
    gq_dev_barrier();
  }
  if (!offsetBits) {
    // Constants even before a kernel is specialized, so that less has to be
    // folded.
    quantization.gathers = false;
    quantization.scaleLayout = GQ_SCALE_LAYOUT_LINEAR;
    quantization.rowsMode = GQ_ROWS_ALL;
    quantize(&quantization);
    return;
  }
  gq_dev_row_groups rowGroups =
      rowGroupsOf(offsets, numOffsets, scaleOffsets, groups, rows, scaleRows,
                  offsetBits, scaleLayout == GQ_SCALE_LAYOUT_TILE128X4, packed);
  quantization.rowGroups = &rowGroups;
  gq_dev_prepare_groups(&rowGroups,
                        outerKind == GQ_OUTER_PER_GROUP ? outer : 0);
  uint32_t next = quantize(&quantization);
  finishGroups(
      &rowGroups, scales,
      (uint32_t)gq_dev_up(scaleBytesPerRow(&quantization), GQ_DEV_TILE_COLUMNS),
      packed ? scaleOffsetsOut : 0, status, next);
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}

//===----------------------------------------------------------------------===//
// Rows whose amaxes are not known
//===----------------------------------------------------------------------===//

// A CTA has rows r, r + 32, r + 64 and r + 96 of 128, whose scales share 16
// bytes. Its warps load pieces of these four by 32 units, and keep them in
// shared memory, each lane its own units, until the largest magnitudes of the
// rows are known. So the matrix is read once. If it is read as it is, a CTA's
// next rows are copied while it quantizes: each unit that is taken makes room
// for one of theirs. The first ones are loaded, which takes less time.

/// The bits of the largest magnitudes of the CTA's rows, of those before, which
/// may still be read, and of the next ones.
static GQ_SHARED uint32_t wholeAmax[3][UNROLL] GQ_UNINITIALIZED;

/// Whether a CTA's next rows are copied, a constant: not with row indices, for
/// which registers do not suffice, and not on sm_120a, where it never ran.
GQ_DEV bool copiesNext(const Quantization *q) {
  return gq_dev_only_loads(q->load) && !q->gathers && GQ_DEV_SHARED_KB >= 228;
}

/// Parts of 16 bytes in a unit.
GQ_DEV uint32_t numParts(const Quantization *q) {
  return (uint32_t)gqElementTypeSize(q->heldType);
}

/// Where a lane keeps unit `i` of its piece number `piece`: every 16 bytes of
/// it beside those of the other lanes.
GQ_DEV gq_dev_u32x4 GQ_SHARED *keptUnit(const Quantization *q, uint32_t piece,
                                        uint32_t i) {
  gq_dev_u32x4 GQ_SHARED *all =
      gq_dev_shared_pointer(gq_dev_dynamic_shared_address());
  return all + ((piece * UNROLL + i) * numParts(q)) * GQ_DEV_WARP +
         gq_dev_lane();
}

GQ_DEV void keepUnit(const Quantization *q, uint32_t piece, uint32_t i,
                     Held held) {
  gq_dev_u32x4 GQ_SHARED *to = keptUnit(q, piece, i);
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < 4; ++k)
    if (k < numParts(q))
      to[k * GQ_DEV_WARP] =
          (gq_dev_u32x4){held.words[4 * k], held.words[4 * k + 1],
                         held.words[4 * k + 2], held.words[4 * k + 3]};
}

/// Begins to copy a unit to where it is kept, zeros if there is none.
GQ_DEV void copyUnit(const Quantization *q, Units units, uint32_t piece,
                     uint32_t i) {
  const gq_dev_matrix *matrix = q->inputs;
  gq_dev_u32x4 GQ_SHARED *to = keptUnit(q, piece, i);
  int64_t row = units.first + ROW_STEP * i;
  const uint8_t GQ_GLOBAL *from =
      (const uint8_t GQ_GLOBAL *)matrix->data +
      (row * matrix->stride + (int64_t)units.column * GQ_DEV_UNIT) *
          gqElementTypeSize(q->heldType);
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < 4; ++k)
    if (k < numParts(q))
      gq_dev_begin_copy16_if(i < units.count, to + k * GQ_DEV_WARP,
                             from + 16 * k);
}

GQ_DEV Held takeUnit(const Quantization *q, uint32_t piece, uint32_t i) {
  const gq_dev_u32x4 GQ_SHARED *from = keptUnit(q, piece, i);
  Held held;
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < 4; ++k)
    if (k < numParts(q)) {
      gq_dev_u32x4 four = from[k * GQ_DEV_WARP];
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < 4; ++j)
        held.words[4 * k + j] = four[j];
    }
  return held;
}

/// A lane's units of a piece, in four rows from `first` on.
GQ_DEV Units unitsOfRows(const Quantization *q, int64_t first, uint32_t piece) {
  Units units = {.first = first, .column = piece * GQ_DEV_WARP + gq_dev_lane()};
  bool hasColumn = units.column < q->columns / GQ_DEV_UNIT;
  units.count = hasColumn ? countRows(q, first) : 0;
  for (uint32_t i = 0; q->gathers && i < UNROLL; ++i)
    units.sourceRows[i] =
        gq_dev_source_row(q->rowIndices, q->rowIndexBits, q->sourceRows,
                          i < units.count ? units.first + ROW_STEP * i : 0);
  return units;
}

/// Raises the amaxes of the rows by the largest words of a warp's lanes.
GQ_DEV void raiseAmaxes(const Quantization *q, const uint32_t max[UNROLL],
                        uint32_t GQ_SHARED *amaxes) {
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < UNROLL; ++i) {
    uint32_t bits = gq_dev_max_of_lanes(
        gq_dev_f32_bits(gq_dev_amax_of_word(q->heldType, max[i])));
    if (gq_dev_is_first_lane())
      gq_dev_atomic_max_shared(&amaxes[i], bits);
  }
}

/// The largest word of a unit.
GQ_DEV uint32_t largestWord(const Quantization *q, const Held *held) {
  return gq_dev_max_words(q->heldType, held->words,
                          GQ_DEV_UNIT / gq_dev_elements_per_word(q->heldType));
}

/// Loads the pieces of a warp and raises the amaxes of their rows.
GQ_DEV void keepRows(const Quantization *q, int64_t first, uint32_t pieces,
                     uint32_t warp, uint32_t warps,
                     uint32_t GQ_SHARED *amaxes) {
  uint32_t max[UNROLL] = {0};
#pragma clang loop unroll(disable)
  for (uint32_t piece = warp; piece < pieces; piece += warps) {
    Units units = unitsOfRows(q, first, piece);
    Held held[UNROLL];
    loadUnits(q, units, held);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i) {
      // Missing units were loaded from elsewhere.
      if (i < units.count)
        max[i] = gq_dev_max_word(q->heldType, max[i], largestWord(q, &held[i]));
      keepUnit(q, piece, i, held[i]);
    }
  }
  raiseAmaxes(q, max, amaxes);
}

/// Waits for the pieces of a warp that are being copied, and raises the amaxes
/// of their rows.
GQ_DEV void measureRows(const Quantization *q, uint32_t pieces, uint32_t warp,
                        uint32_t warps, uint32_t GQ_SHARED *amaxes) {
  uint32_t max[UNROLL] = {0};
  gq_dev_wait_for_copies();
#pragma clang loop unroll(disable)
  for (uint32_t piece = warp; piece < pieces; piece += warps)
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i) {
      Held held = takeUnit(q, piece, i);
      max[i] = gq_dev_max_word(q->heldType, max[i], largestWord(q, &held));
    }
  raiseAmaxes(q, max, amaxes);
}

/// Quantizes the units that a warp has kept, and begins to copy those of the
/// rows from `next` on to where they were, if that is not negative.
GQ_DEV void quantizeKept(const Quantization *q, const RowPlan *plan,
                         int64_t first, int64_t next, uint32_t pieces,
                         uint32_t warp, uint32_t warps) {
  uint32_t numUnits = (uint32_t)(q->columns / GQ_DEV_UNIT);
  uint32_t width = (uint32_t)gq_dev_up(numUnits, GQ_DEV_TILE_COLUMNS);
  uint32_t bytes = dataBytesPerUnit(q);
  uint32_t lane = gq_dev_lane(), laneInWord = lane % GQ_DEV_TILE_COLUMNS;
  bool dataAligned = isDataAligned(q);
  bool tiledAligned = ((uint64_t)q->scales & 15) == 0;
  bool linearAligned =
      (((uint64_t)q->scales | (uint64_t)q->scalesStride) & 3) == 0;
  int64_t wordRow = first + ROW_STEP * laneInWord;
#pragma clang loop unroll(disable)
  for (uint32_t piece = warp; piece < pieces; piece += warps) {
    uint32_t column = piece * GQ_DEV_WARP + lane;
    bool hasColumn = column < numUnits;
    uint8_t GQ_GLOBAL *data =
        q->data + first * q->dataStride + (int64_t)column * bytes;
    uint32_t wanted = hasColumn ? plan->store.wanted : 0, scales = 0;
    Units nextUnits = {.count = 0};
    if (next >= 0)
      nextUnits = unitsOfRows(q, next, piece);
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < UNROLL; ++j) {
      gq_dev_outer outer = outerOf(q, plan, lane - laneInWord + j);
      uint32_t codes[4];
      Held held = takeUnit(q, piece, j);
      if (next >= 0)
        copyUnit(q, nextUnits, piece, j);
      uint32_t scale = convertUnit(q, held, outer, 0, codes);
      scales |= scale << 8 * j;
      if (makesNumbers(q))
        storeNumbers(q, plan, j, codes, scale, wanted >> j & 1, data,
                     dataAligned);
      else if (wanted >> j & 1)
        gq_dev_store_codes(data, codes, bytes, dataAligned);
      data += ROW_STEP * q->dataStride;
    }
    if (makesNumbers(q))
      continue;
    scales = wordOfRow(q, hasColumn ? scales : 0);
    uint32_t wordColumn = column / GQ_DEV_TILE_COLUMNS * GQ_DEV_TILE_COLUMNS;
    if (hasTiledScales(q)) {
      storeTiled(&plan->store, wordColumn, width, scales, tiledAligned);
    } else if (wordColumn < numUnits && plan->hasScales) {
      uint32_t left = numUnits - wordColumn;
      storeScales(q->scales + wordRow * q->scalesStride + wordColumn, scales,
                  left < GQ_DEV_TILE_COLUMNS ? left : GQ_DEV_TILE_COLUMNS,
                  linearAligned);
    }
  }
}

/// nvfp4 with the recipe te and an outer amax per row, which it computes.
GQ_DEV_KERNEL void
gq_dev_quantize_whole_rows(GQ_DEV_PARAMETERS(GQ_QUANTIZE_WHOLE_ROWS_OPERANDS)) {
  (void)ctas;
  if (gq_dev_is_noop(noopFlag))
    return;
  Quantization quantization = {
      GQ_DEV_INITIALIZERS(GQ_QUANTIZE_ANY_ROWS_OPERANDS),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
  };
  Quantization *q = &quantization;
  gq_dev_row_groups rowGroups =
      rowGroupsOf(offsets, numOffsets, scaleOffsets, groups, rows, scaleRows,
                  offsetBits, scaleLayout == GQ_SCALE_LAYOUT_TILE128X4, packed);
  q->rowGroups = &rowGroups;
  uint32_t thread = gq_dev_thread(), warp = thread / GQ_DEV_WARP;
  const uint32_t warps = (uint32_t)gq_dev_whole_rows_warps(columns);
  const uint32_t threads = warps * GQ_DEV_WARP;
  uint32_t numUnits = (uint32_t)(q->columns / GQ_DEV_UNIT);
  uint32_t width = (uint32_t)gq_dev_up(numUnits, GQ_DEV_TILE_COLUMNS);
  uint32_t pieces = (width + GQ_DEV_WARP - 1) / GQ_DEV_WARP;
  uint32_t all = numRowTiles(q->rows) * ROW_STEP, index = gq_dev_cta();
  if (thread < 3 * UNROLL)
    wholeAmax[thread / UNROLL][thread % UNROLL] = 0;
  beginFourRows();
  for (uint32_t n = 0; index < all; index += gq_dev_num_ctas(), ++n) {
    int64_t first = firstOfFour(index);
    uint32_t laneInWord = gq_dev_lane() % GQ_DEV_TILE_COLUMNS;
    uint32_t GQ_SHARED *amaxes = wholeAmax[n % 3];
    bool copied = copiesNext(q) && n > 0;
    if (!copied)
      keepRows(q, first, pieces, warp, warps, amaxes);
    findFourRows(&rowGroups, threads, first, n);
    if (copied)
      measureRows(q, pieces, warp, warps, amaxes);
    int64_t wordRow = first + ROW_STEP * laneInWord;
    // The only one for these rows: a warp that is done with them goes on.
    gq_dev_barrier();
    RowPlan plan =
        planStores(q, width, wordRow, 0, countRows(q, first),
                   targetOfRow(&rowGroups, threads, first, n, 1, scaleRows));
    float amax = gq_dev_f32_from_bits(amaxes[laneInWord]);
    plan.outer = gq_dev_outer_from(scalerOf(q), amax);
    plan.given = amax;
    if (thread < UNROLL && plan.store.wanted >> thread & 1)
      rowAmax[wordRow] = amax;
    if (thread < UNROLL)
      wholeAmax[(n + 2) % 3][thread] = 0;
    uint32_t next = index + gq_dev_num_ctas();
    bool copies = copiesNext(q) && next < all;
    quantizeKept(q, &plan, first, copies ? firstOfFour(next) : -1, pieces, warp,
                 warps);
  }
  finishGroups(&rowGroups, scales, width, packed ? scaleOffsetsOut : 0, status,
               (index - all) * warps + warp);
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}
