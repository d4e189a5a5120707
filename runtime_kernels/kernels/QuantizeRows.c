//===- QuantizeRows.c - kernels that go through rows
//-----------------------===//
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

#include "runtime_kernels/groups/Find.h"
#include "runtime_kernels/kernels/Gather.h"
#include "runtime_kernels/scalers/Block.h"

enum {
  /// Units of a thread: one in each of the rows that share 16 bytes of scales.
  UNROLL = 4,
  /// Between those rows.
  ROW_STEP = 32,
  PIECE_COLUMNS = 16,
  /// Pieces in 128 rows.
  PIECES = 16,
};

/// A piece of the matrix, by its number in 128 rows and these rows' number.
typedef struct Piece {
  uint32_t rowTile;
  uint32_t number;
} Piece;

GQ_DEV Piece pieceOf(uint32_t index, uint32_t piecesPerTile) {
  return (Piece){index / piecesPerTile, index % piecesPerTile};
}

GQ_DEV uint32_t numRowTiles(int64_t rows) {
  return (uint32_t)((rows + GQ_DEV_TILE_ROWS - 1) / GQ_DEV_TILE_ROWS);
}

/// This warp's number, and how many there are.
GQ_DEV uint32_t warpNumber(void) {
  return gq_dev_cta() * (gq_dev_num_threads() / GQ_DEV_WARP) +
         gq_dev_thread() / GQ_DEV_WARP;
}

GQ_DEV uint32_t numWarps(void) {
  return gq_dev_num_ctas() * (gq_dev_num_threads() / GQ_DEV_WARP);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Stores the `bytes` bytes of a unit's codes, 8 or 16.
GQ_DEV void storeCodes(uint8_t GQ_GLOBAL *p, const uint32_t codes[4],
                       uint32_t bytes, bool aligned) {
  if (aligned) {
    if (bytes == 8)
      *(gq_dev_u32x2 GQ_GLOBAL *)p = (gq_dev_u32x2){codes[0], codes[1]};
    else
      *(gq_dev_u32x4 GQ_GLOBAL *)p =
          (gq_dev_u32x4){codes[0], codes[1], codes[2], codes[3]};
    return;
  }
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    if (i < bytes)
      p[i] = (uint8_t)(codes[i / 4] >> i % 4 * 8);
}

/// Stores the lowest `count` bytes of a word.
GQ_DEV void storeScales(uint8_t GQ_GLOBAL *p, uint32_t word, uint32_t count,
                        bool aligned) {
  if (aligned && count == GQ_DEV_TILE_COLUMNS) {
    *(uint32_t GQ_GLOBAL *)p = word;
    return;
  }
  for (uint32_t i = 0; i < GQ_DEV_TILE_COLUMNS; ++i)
    if (i < count)
      p[i] = (uint8_t)(word >> 8 * i);
}

GQ_DEV void storeZeroSlot(uint8_t GQ_GLOBAL *p, bool aligned) {
  if (aligned)
    *(gq_dev_u32x4 GQ_GLOBAL *)p = (gq_dev_u32x4){0, 0, 0, 0};
  else
    for (uint32_t i = 0; i < 4; ++i)
      storeScales(p + 4 * i, 0, GQ_DEV_TILE_COLUMNS, false);
}

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
// Scales in tiles
//===----------------------------------------------------------------------===//

/// Where the scales of a row go.
typedef struct Target {
  /// The row of the scale buffer.
  int64_t row;
  /// Rows of the group after this one.
  int64_t rowsAfter;
  /// Negative if the row has none: GQ_DEV_NO_GROUP, GQ_DEV_SKIPPED_GROUP.
  int32_t group;
} Target;

/// The target of each lane's row. All lanes take part.
GQ_DEV Target findTarget(const gq_dev_row_groups *groups, int64_t row) {
  gq_dev_placed_group placed = gq_dev_find_group(groups, row);
  return (Target){.row = placed.scaleBegin + row - placed.group.begin,
                  .rowsAfter = placed.group.end - 1 - row,
                  .group = placed.number};
}

/// How a lane stores the words of its row, the same in every column of tiles.
/// Four lanes side by side have rows 32 apart. Rows 32 apart in a tile share a
/// slot of 16 bytes, and the slot's last row of the group sees to the padding
/// after it. Where lanes and padding make up a whole slot, which is so but for
/// tiles that the four lanes meet in part, the first of the lanes stores it at
/// once. In few registers: a warp keeps this while it quantizes.
typedef struct TiledStore {
  /// The slot in the first column of tiles.
  uint8_t GQ_GLOBAL *slot;
  /// The word of the slot that is the lane's.
  uint32_t place : 2;
  /// Lanes after this one that have words of the same slot.
  uint32_t lanesAfter : 2;
  /// The lane stores the whole slot, or else its own word,
  uint32_t whole : 1, own : 1;
  /// and the padding after it.
  uint32_t padding : 1;
  /// Bit i: the data of the row that lane i of the four has is wanted. Here,
  /// where there is room.
  uint32_t wanted : 4;
} TiledStore;

GQ_DEV TiledStore planTiledStore(uint8_t GQ_GLOBAL *scales, uint32_t width,
                                 Target target, bool aligned) {
  uint32_t lane = gq_dev_lane();
  uint32_t rowInTile = (uint32_t)target.row % GQ_DEV_TILE_ROWS;
  uint32_t place = rowInTile / ROW_STEP;
  bool active = target.group >= 0;

  // Which lanes share the slot of the lane below.
  int32_t groupBelow =
      (int32_t)gq_dev_shuffle((uint32_t)target.group, lane - 1);
  uint32_t joined = gq_dev_ballot(active && lane % 4 != 0 && place != 0 &&
                                  groupBelow == target.group);
  uint32_t lanesAfter = (uint32_t)__builtin_ctz(~(joined >> lane >> 1));
  int64_t rowsAfter = target.rowsAfter - (int64_t)lanesAfter * ROW_STEP;
  bool endsGroup = rowsAfter < ROW_STEP;
  bool whole =
      active && aligned && place == 0 && (endsGroup || lanesAfter == 3);
  uint32_t wholes = gq_dev_ballot(whole);
  // The slot's first row is `place` lanes below, if these four have it and no
  // lane between, as it may if offsets decrease, another group.
  uint32_t between = (1u << place) - 1;
  bool stored = whole || (place != 0 && place <= lane % 4 &&
                          wholes >> (lane - place) & 1 &&
                          (joined >> (lane - place + 1) & between) == between);
  return (TiledStore){
      .slot =
          scales + (target.row - rowInTile) * width + rowInTile % ROW_STEP * 16,
      .place = place,
      .lanesAfter = lanesAfter,
      .whole = whole,
      .own = active && !stored,
      .padding = endsGroup && lanesAfter == 0,
  };
}

/// Stores a word of each lane, from `column` < `width` on. All lanes take part.
GQ_DEV void storeTiled(const TiledStore *store, uint32_t column, uint32_t width,
                       uint32_t word, bool aligned) {
  uint32_t lane = gq_dev_lane();
  gq_dev_u32x4 words = {word, gq_dev_shuffle(word, lane + 1),
                        gq_dev_shuffle(word, lane + 2),
                        gq_dev_shuffle(word, lane + 3)};
  for (uint32_t i = 1; i < 4; ++i)
    words[i] = i <= store->lanesAfter ? words[i] : 0;
  if (column >= width)
    return;
  uint8_t GQ_GLOBAL *slot =
      store->slot + (uint64_t)(column / GQ_DEV_TILE_COLUMNS) * 512;
  if (store->whole)
    *(gq_dev_u32x4 GQ_GLOBAL *)slot = words;
  if (store->own) {
    storeScales(slot + 4 * store->place, word, GQ_DEV_TILE_COLUMNS, aligned);
    if (store->padding)
      for (uint32_t i = 1; i < 4; ++i)
        if (i > store->place)
          storeScales(slot + 4 * i, 0, GQ_DEV_TILE_COLUMNS, aligned);
  }
}

/// Zeroes the slots that hold nothing but padding, those from the used rows on
/// in the last tiles of a group that uses less than 32 rows of them, and
/// reports groups that break the contract. A warp takes up to 16 tiles of
/// a group at a time, share number `first` to begin with. Linear scales have no
/// padding.
GQ_DEV void finishGroups(gq_dev_row_groups *groups, uint8_t GQ_GLOBAL *scales,
                         uint32_t width, void GQ_GLOBAL *scaleOffsetsOut,
                         uint32_t GQ_GLOBAL *status, uint32_t first) {
  const uint32_t share = 16;
  bool aligned = ((uint64_t)scales & 15) == 0;
  uint32_t tiles = groups->tiled ? width / GQ_DEV_TILE_COLUMNS : 1;
  uint32_t shares = (tiles + share - 1) / share;
  uint64_t total = (uint64_t)groups->numGroups * shares;
  if (groups->packed && first < total)
    gq_dev_sum_groups(groups);
  for (uint64_t i = first; i < total; i += numWarps()) {
    uint32_t e = (uint32_t)(i / shares);
    uint32_t begin = (uint32_t)(i % shares) * share;
    uint32_t end = begin + share < tiles ? begin + share : tiles;
    uint32_t faults = 0;
    gq_dev_placed_group placed = gq_dev_place_group(groups, e, &faults);
    if (scaleOffsetsOut && begin == 0 && gq_dev_lane() == 0)
      gq_dev_store_index(scaleOffsetsOut, groups->all.wide, e,
                         placed.scaleBegin);
    int64_t rows = placed.group.rows;
    uint32_t used = (uint32_t)rows % GQ_DEV_TILE_ROWS;
    if (groups->tiled && used != 0 && gq_dev_lane() >= used) {
      uint8_t GQ_GLOBAL *slot = scales +
                                (placed.scaleBegin + rows - used) * width +
                                begin * 512 + gq_dev_lane() * 16;
      for (uint32_t tile = begin; tile < end; ++tile, slot += 512)
        storeZeroSlot(slot, aligned);
    }
    if (!faults)
      faults = gq_dev_check_overlap(&groups->all, e, placed.group);
    if (faults && begin == 0 && gq_dev_lane() == 0)
      gq_dev_atomic_or(status, faults);
  }
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

GQ_DEV uint32_t dataBytesPerUnit(const Quantization *q) {
  return (uint32_t)gqFormatGetTraits(q->format).dataBits * GQ_DEV_UNIT / 8;
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
  /// With row indices: the row of the source, -1 if there is none.
  int64_t sourceRows[UNROLL];
} Units;

GQ_DEV Units unitsOf(const Quantization *q, Piece piece, uint32_t run) {
  uint32_t lane = gq_dev_lane();
  Units units = {.first = (int64_t)piece.rowTile * GQ_DEV_TILE_ROWS +
                          piece.number % PIECES * 2 + lane / PIECE_COLUMNS,
                 .column = piece.number / PIECES * run * PIECE_COLUMNS +
                           lane % PIECE_COLUMNS};
  int64_t left = q->rows - units.first;
  units.count = left <= 0 ? 0
                : left > (UNROLL - 1) * ROW_STEP
                    ? UNROLL
                    : ((uint32_t)left + ROW_STEP - 1) / ROW_STEP;
  for (uint32_t i = 0; q->gathers && i < UNROLL; ++i)
    units.sourceRows[i] =
        gq_dev_source_row(q->rowIndices, q->rowIndexBits, q->sourceRows,
                          i < units.count ? units.first + ROW_STEP * i : 0);
  return units;
}

/// The type in which the results of a hook are held: f32 unless it is known to
/// give bf16 or f16.
GQ_DEV gqElementType heldType(gq_load16 *load) {
  return load == gq_dev_load16_bf16  ? GQ_BF16
         : load == gq_dev_load16_f16 ? GQ_F16
                                     : GQ_F32;
}

GQ_DEV gq_dev_scaler scalerOf(const Quantization *q) {
  bool hasOuter = q->outerKind != GQ_OUTER_NONE;
  return (gq_dev_scaler){
      .format = q->format,
      .recipe = q->recipe,
      .hasOuter = hasOuter,
      .way = gq_dev_e2m1_way_of(heldType(q->load), hasOuter),
  };
}

/// A unit as it waits in registers: 16 words of its type or 8 pairs.
typedef struct Held {
  uint32_t words[GQ_DEV_UNIT];
} Held;

/// Loads unit i, or where there is none unit (0, 0): without a branch the loads
/// are issued together. Packing undoes the hook's unpacking, so that what the
/// loads gave is held as it is.
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
  gqElementType type = heldType(q->load);
  Held held;
  if (type == GQ_F32)
    for (uint32_t j = 0; j < GQ_DEV_UNIT; ++j)
      held.words[j] = gq_dev_f32_bits(x[j]);
  else
    for (uint32_t j = 0; j < GQ_DEV_UNIT / 2; ++j)
      held.words[j] = gq_dev_pack(type, x + 2 * j);
  return held;
}

/// Loads a lane's units. Where all lanes have all of theirs, which they mostly
/// have, no address depends on it.
GQ_DEV void loadUnits(const Quantization *q, Units units, Held held[UNROLL]) {
  if (gq_dev_ballot(units.count < UNROLL) == 0) {
    units.count = UNROLL;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i)
      held[i] = loadUnit(q, units, i);
  } else {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i)
      held[i] = loadUnit(q, units, i);
  }
}

/// Quantizes a unit: its codes, and the scale of its block. All lanes take
/// part.
GQ_DEV uint32_t convertUnit(const Quantization *q, Held held,
                            gq_dev_outer outer, uint32_t codes[4]) {
  gqElementType type = heldType(q->load);
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
  gq_dev_codes(scaler.format, scaler.way, y, codes);
  return scale.block.bits;
}

/// What the groups of a lane's rows make of them. Of the four words of scales
/// that four lanes side by side have, a lane stores one: its number in the four
/// says of which row.
typedef struct RowPlan {
  /// Of scales in tiles.
  TiledStore store;
  /// Of linear scales: the row has some.
  bool hasScales;
  gq_dev_outer outer;
} RowPlan;

GQ_DEV RowPlan planRows(const Quantization *q, uint32_t width, int64_t row) {
  RowPlan plan = {.hasScales = row < q->rows,
                  .outer = gq_dev_no_outer(q->recipe)};
  Target target = {.group = -1};
  if (isGrouped(q)) {
    gq_dev_row_groups groups = *q->rowGroups;
    if (groups.packed) // After the loads of the piece have been issued.
      gq_dev_sum_groups(&groups);
    target = findTarget(&groups, row);
    plan.hasScales = target.group >= 0;
  }
  if (hasTiledScales(q))
    plan.store = planTiledStore(q->scales, width, target,
                                ((uint64_t)q->scales & 15) == 0);
  if (q->outerKind == GQ_OUTER_ONE)
    plan.outer = gq_dev_outer_from(q->recipe, *q->outer);
  else if (q->outerKind == GQ_OUTER_PER_GROUP && target.group >= 0)
    plan.outer = gq_dev_outer_from(q->recipe, q->outer[target.group]);
  plan.store.wanted = 15;
  if (isGrouped(q)) {
    bool wanted = q->rowsMode == GQ_ROWS_GROUPED
                      ? target.group >= 0
                      : target.group != GQ_DEV_SKIPPED_GROUP;
    plan.store.wanted = gq_dev_ballot(wanted) >> (gq_dev_lane() & ~3u);
  }
  return plan;
}

/// The outer scale of another lane's row.
GQ_DEV gq_dev_outer outerOf(const Quantization *q, const RowPlan *plan,
                            uint32_t lane) {
  gq_dev_outer outer = plan->outer;
  if (q->outerKind != GQ_OUTER_PER_GROUP)
    return outer;
  return (gq_dev_outer){.factor = gq_dev_shuffle_f32(outer.factor, lane),
                        .inverse = gq_dev_shuffle_f32(outer.inverse, lane)};
}

/// A lane's units have a byte of scales each, row after row: gives it four
/// bytes of one row, as RowPlan says.
GQ_DEV uint32_t wordOfRow(const Quantization *q, uint32_t scales) {
  uint32_t lane = gq_dev_lane();
  // Of blocks that two lanes have, each four lanes side by side take four.
  if (lanesPerBlock(q) == 2)
    scales = gq_dev_shuffle(scales, (lane & ~7u) + lane % 4 * 2);
  return transposeBytes(scales);
}

/// A warp takes a run of pieces side by side, which share what is known of
/// their rows: of one if there are as many warps as pieces, else of two. More
/// would leave too few runs for small matrices. Returns how far behind the last
/// run the warp's next one would be.
GQ_DEV uint32_t quantize(const Quantization *q) {
  uint32_t numUnits = (uint32_t)(q->columns / GQ_DEV_UNIT);
  // In bytes, as all columns of scales here.
  uint32_t numScales = scaleBytesPerRow(q);
  uint32_t width = (uint32_t)gq_dev_up(numScales, GQ_DEV_TILE_COLUMNS);
  // Lanes side by side whose scales are a word.
  uint32_t lanesPerWord =
      GQ_DEV_TILE_COLUMNS * lanesPerBlock(q) / scaleBytes(q);
  uint32_t dataBytes = dataBytesPerUnit(q);
  bool dataAligned =
      (((uint64_t)q->data | (uint64_t)q->dataStride) & (dataBytes - 1)) == 0;
  bool scalesAligned =
      hasTiledScales(q)
          ? ((uint64_t)q->scales & 15) == 0
          : (((uint64_t)q->scales | (uint64_t)q->scalesStride) & 3) == 0;
  // What a hook loads can be held for later; a fused producer would take up
  // registers for 16 results a unit, which cost more warps than loading ahead
  // gains.
  bool ahead = gq_dev_only_loads(q->load);

  uint32_t rowTiles = numRowTiles(q->rows);
  uint32_t pieceColumns =
      (width / GQ_DEV_TILE_COLUMNS * lanesPerWord + PIECE_COLUMNS - 1) /
      PIECE_COLUMNS;
  uint32_t run = numWarps() >= rowTiles * pieceColumns * PIECES ? 1 : 2;
  uint32_t runsPerTile = (pieceColumns + run - 1) / run * PIECES;
  uint32_t runs = rowTiles * runsPerTile;
  uint32_t lane = gq_dev_lane(), laneInWord = lane % GQ_DEV_TILE_COLUMNS;
  uint32_t index = warpNumber();
  for (; index < runs; index += numWarps()) {
    Piece piece = pieceOf(index, runsPerTile);
    Units units = unitsOf(q, piece, run);
    int64_t wordRow = units.first + ROW_STEP * laneInWord;
    RowPlan plan;
    // Not unrolled: other warps fill the time that loads take, and registers
    // are what limits their number.
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < run; ++i, units.column += PIECE_COLUMNS) {
      Units here = units;
      if (here.column >= numUnits)
        here.count = 0;
      Held held[UNROLL];
      if (ahead)
        loadUnits(q, here, held);
      uint8_t GQ_GLOBAL *data = q->data + here.first * q->dataStride +
                                (int64_t)here.column * dataBytes;
      if (i == 0)
        plan = planRows(q, width, wordRow);

      uint32_t scales = 0;
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < UNROLL; ++j) {
        // The lane that knows the group of this unit's row.
        uint32_t informed = lane - laneInWord + j;
        gq_dev_outer outer = outerOf(q, &plan, informed);
        if (!ahead)
          held[j] = loadUnit(q, here, j);
        uint32_t codes[4];
        uint32_t scale = convertUnit(q, held[j], outer, codes);
        if (scaleBytes(q) == 1)
          scales |= scale << 8 * j;
        else if (j == laneInWord)
          scales = scale;
        if (j < here.count && plan.store.wanted >> j & 1)
          storeCodes(data, codes, dataBytes, dataAligned);
        data += ROW_STEP * q->dataStride;
      }
      if (scaleBytes(q) == 1) {
        // Blocks that are not there have scale 0.
        uint32_t missing = 8 * (UNROLL - here.count);
        scales = here.count ? scales << missing >> missing : 0;
        scales = wordOfRow(q, scales);
      }

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
  return index - runs;
}

/// The groups as the kernels are given them.
GQ_DEV gq_dev_row_groups rowGroupsOf(const void GQ_GLOBAL *offsets,
                                     int64_t numOffsets,
                                     const void GQ_GLOBAL *scaleOffsets,
                                     int64_t numGroups, int64_t rows,
                                     int64_t scaleRows, int32_t offsetBits,
                                     bool tiled, bool packed) {
  return (gq_dev_row_groups){
      .all = {.offsets = offsets,
              .scaleOffsets = scaleOffsets,
              .numOffsets = (uint32_t)numOffsets,
              .numGroups = (uint32_t)numGroups,
              .numRows = rows,
              .scaleRows = scaleRows,
              .wide = offsetBits == 64,
              .hasScaleOffsets = tiled && !packed},
      .numOffsets = (uint32_t)numOffsets,
      .numGroups = (uint32_t)numGroups,
      .tiled = tiled,
      .packed = packed,
  };
}

GQ_DEV_KERNEL void
gq_dev_quantize_rows(GQ_DEV_PARAMETERS(GQ_QUANTIZE_ROWS_OPERANDS)) {
  Quantization quantization = {
      GQ_DEV_INITIALIZERS(GQ_QUANTIZE_ROWS_OPERANDS),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
  };
  if (!offsetBits) {
    // Constants before a kernel is specialized: it has less to fold then.
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
  gq_dev_prepare_groups(&rowGroups);
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
// Scales into tiles
//===----------------------------------------------------------------------===//

/// `count` scales as a word, the others zero.
GQ_DEV uint32_t loadScales(const uint8_t GQ_GLOBAL *p, uint32_t count,
                           bool aligned) {
  if (aligned && count >= GQ_DEV_TILE_COLUMNS)
    return *(const uint32_t GQ_GLOBAL *)p;
  uint32_t word = 0;
  for (uint32_t i = 0; i < GQ_DEV_TILE_COLUMNS; ++i)
    if (i < count)
      word |= (uint32_t)p[i] << 8 * i;
  return word;
}

/// A lane takes a word of four scales.
GQ_DEV_KERNEL void
gq_dev_swizzle_scales(GQ_DEV_PARAMETERS(GQ_SWIZZLE_SCALES_OPERANDS)) {
  (void)format; // Scales are bytes, of whatever meaning.
  gq_dev_row_groups rowGroups =
      rowGroupsOf(offsets, numOffsets, scaleOffsets, groups, rows, scaleRows,
                  offsetBits, /*tiled=*/true, /*packed=*/false);
  uint32_t width = (uint32_t)gq_dev_up(scaleColumns, GQ_DEV_TILE_COLUMNS);
  uint32_t words = width / GQ_DEV_TILE_COLUMNS;
  bool linearAligned = (((uint64_t)linear | (uint64_t)linearStride) & 3) == 0;
  bool scalesAligned = ((uint64_t)scales & 15) == 0;

  // Four lanes side by side have the rows of 16 bytes, the others the columns.
  uint32_t rowInGroup = gq_dev_lane() % 4 * ROW_STEP;
  uint32_t wordInPiece = gq_dev_lane() / 4;
  uint32_t rowTiles = numRowTiles(rows);
  uint32_t piecesPerTile = (words + 7) / 8 * ROW_STEP;
  uint32_t pieces = rowTiles * piecesPerTile;
  uint32_t index = warpNumber();
  gq_dev_prepare_groups(&rowGroups);
  for (; index < pieces; index += numWarps()) {
    Piece piece = pieceOf(index, piecesPerTile);
    int64_t row = (int64_t)piece.rowTile * GQ_DEV_TILE_ROWS +
                  piece.number % ROW_STEP + rowInGroup;
    uint32_t column =
        (piece.number / ROW_STEP * 8 + wordInPiece) * GQ_DEV_TILE_COLUMNS;
    bool inside = row < rows && column < width;
    uint32_t word = 0;
    if (inside)
      word = loadScales(linear + row * linearStride + column,
                        (uint32_t)scaleColumns - column, linearAligned);
    TiledStore store = planTiledStore(
        scales, width, findTarget(&rowGroups, row), scalesAligned);
    storeTiled(&store, column, width, word, scalesAligned);
  }
  finishGroups(&rowGroups, scales, width, 0, status, index - pieces);
}
