//===- RowScales.h - scales of rows into tiles -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For kernels that go through rows, whichever groups these belong to: lanes
// have words of four scales, of rows 32 apart.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_ROWSCALES_H
#define GQ_KERNELS_KERNELS_ROWSCALES_H

#include "runtime_kernels/groups/Find.h"
#include "runtime_kernels/kernels/Kernels.h"

enum {
  /// Between the rows that share 16 bytes of scales.
  ROW_STEP = 32,
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

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// `count` scales, or four of more, as a word, the others zero.
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
  if (placed.number < 0) // What else there is of it can be anything.
    return (Target){.group = placed.number};
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
  gq_dev_wait_for_copies(); // Of what was touched, long ago.
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

#endif // GQ_KERNELS_KERNELS_ROWSCALES_H
