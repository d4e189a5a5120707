//===- Kernels.c - the bodies of the GPU kernels --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the work is cut. In the tile128x4 layout the scales of rows r, r + 32,
// r + 64, r + 96 of a group, four columns each, share 16 bytes, and rows r and
// r + 1 a sector of 32 bytes. So a warp takes a piece of such eight rows by 16
// blocks: its scales leave in whole sectors, where row by row they would leave
// in words 512 bytes apart, as many L2 transactions as all the data. In the
// piece lane i has block i % 16 of rows r + i / 16 + {0, 32, 64, 96}. Four
// lanes side by side hold a 4 by 4 matrix of scale bytes, rows by columns.
//
// 16 pieces make 128 rows by 16 blocks. Consecutive warps take consecutive
// pieces, down the 128 rows and then to the right, so that the grid moves
// through the matrix as a whole: far fewer pages are in use at a time than if
// each CTA had a part of its own, which took 1.2 times as long.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/device/Kernels.h"

#include "runtime_kernels/device/Gather.h"
#include "runtime_kernels/device/Groups.h"
#include "runtime_kernels/device/Nvfp4.h"

enum {
  /// Blocks of a thread: one in each of the rows that share 16 bytes of scales.
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

GQ_DEV void storeCodes(uint8_t GQ_GLOBAL *p, const uint32_t codes[2],
                       bool aligned) {
  if (aligned) {
    *(gq_dev_u32x2 GQ_GLOBAL *)p = (gq_dev_u32x2){codes[0], codes[1]};
    return;
  }
  for (int i = 0; i < GQ_DEV_NVFP4_BLOCK_BYTES; ++i)
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
  /// -1 if the row is in no group: nowhere.
  int32_t group;
} Target;

/// The target of each lane's row. All lanes take part.
GQ_DEV Target findTarget(const gq_dev_row_groups *groups, int64_t row) {
  gq_dev_group group = gq_dev_find_group(groups, row);
  return (Target){.row = group.scaleBegin + row - group.begin,
                  .rowsAfter = group.end - 1 - row,
                  .group = group.number};
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
  // The slot's first row is `place` lanes below, if these four have it.
  bool stored = whole || (joined >> lane & 1 && place <= lane % 4 &&
                          wholes >> (lane - place) & 1);
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
/// a group at a time, share number `first` to begin with.
GQ_DEV void finishGroups(const gq_dev_row_groups *groups,
                         uint8_t GQ_GLOBAL *scales, uint32_t width,
                         uint32_t GQ_GLOBAL *status, uint32_t first) {
  const uint32_t share = 16;
  bool aligned = ((uint64_t)scales & 15) == 0;
  uint32_t tiles = width / GQ_DEV_TILE_COLUMNS;
  uint32_t shares = (tiles + share - 1) / share;
  uint64_t total = (uint64_t)groups->numGroups * shares;
  for (uint64_t i = first; i < total; i += numWarps()) {
    uint32_t e = (uint32_t)(i / shares);
    uint32_t begin = (uint32_t)(i % shares) * share;
    uint32_t end = begin + share < tiles ? begin + share : tiles;
    gq_dev_group group = gq_dev_load_group(groups, e);
    int64_t next =
        e + 1 < groups->numGroups
            ? gq_dev_load_offset(groups->scaleOffsets, groups->wide, e + 1)
            : groups->scaleRows;
    uint32_t faults = gq_dev_group_faults(groups, group);
    if (!faults) {
      int64_t rows = group.end - group.begin;
      uint32_t used = (uint32_t)rows % GQ_DEV_TILE_ROWS;
      if (used != 0 && gq_dev_lane() >= used) {
        uint8_t GQ_GLOBAL *slot = scales +
                                  (group.scaleBegin + rows - used) * width +
                                  begin * 512 + gq_dev_lane() * 16;
        for (uint32_t tile = begin; tile < end; ++tile, slot += 512)
          storeZeroSlot(slot, aligned);
      }
      if (next < group.scaleBegin + gq_dev_up(rows, GQ_DEV_TILE_ROWS))
        faults = GQ_DEV_STATUS_SCALE_OFFSETS;
    }
    if (faults && begin == 0 && gq_dev_lane() == 0)
      gq_dev_atomic_or(status, faults);
  }
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// What both quantizing kernels share. `groups` is null for linear scales.
typedef struct Quantization {
  gq_load16 *load;
  const void *inputs;
  int64_t rows, columns;
  /// Row indices that are applied before the hook is called, if the constant
  /// rowIndexBits is not 0.
  const void GQ_GLOBAL *rowIndices;
  int64_t sourceRows;
  int32_t rowIndexBits;
  const gq_dev_row_groups *groups;
  const float GQ_GLOBAL *globalScale;
  int32_t globalScaleKind;
  bool onlyGrouped;
  uint8_t GQ_GLOBAL *data;
  int64_t dataStride;
  uint8_t GQ_GLOBAL *scales;
  /// Linear scales only.
  int64_t scalesStride;
} Quantization;

/// A lane's blocks in a piece: in `column`, and in the rows first + 32 * i for
/// i < count.
typedef struct Blocks {
  int64_t first;
  uint32_t column;
  uint32_t count;
  /// With row indices: the row of the source, -1 if there is none.
  int64_t sourceRows[UNROLL];
} Blocks;

GQ_DEV Blocks blocksOf(const Quantization *q, Piece piece, uint32_t run) {
  uint32_t lane = gq_dev_lane();
  Blocks blocks = {.first = (int64_t)piece.rowTile * GQ_DEV_TILE_ROWS +
                            piece.number % PIECES * 2 + lane / PIECE_COLUMNS,
                   .column = piece.number / PIECES * run * PIECE_COLUMNS +
                             lane % PIECE_COLUMNS};
  int64_t left = q->rows - blocks.first;
  blocks.count = left <= 0 ? 0
                 : left > (UNROLL - 1) * ROW_STEP
                     ? UNROLL
                     : ((uint32_t)left + ROW_STEP - 1) / ROW_STEP;
  for (uint32_t i = 0; q->rowIndexBits && i < UNROLL; ++i)
    blocks.sourceRows[i] =
        gq_dev_source_row(q->rowIndices, q->rowIndexBits, q->sourceRows,
                          i < blocks.count ? blocks.first + ROW_STEP * i : 0);
  return blocks;
}

/// A block as it waits in registers: 8 pairs of bf16 or f16 if the hook is
/// known to give those, otherwise 16 floats.
typedef struct Held {
  uint32_t words[GQ_DEV_NVFP4_BLOCK];
} Held;

/// Loads block i, or where there is none block (0, 0): without a branch the
/// loads are issued together. Packing undoes the hook's unpacking, so that what
/// the loads gave is held as it is.
GQ_DEV Held loadBlock(const Quantization *q, Blocks blocks, uint32_t i) {
  bool inside = i < blocks.count;
  float x[GQ_DEV_NVFP4_BLOCK];
  if (q->rowIndexBits)
    gq_dev_load16_gathered(q->load, q->inputs,
                           inside ? blocks.sourceRows[i] : -1,
                           (int64_t)blocks.column * GQ_DEV_NVFP4_BLOCK, x);
  else
    q->load(q->inputs, inside ? blocks.first + ROW_STEP * i : 0,
            inside ? (int64_t)blocks.column * GQ_DEV_NVFP4_BLOCK : 0, x);
  Held held;
  if (q->load == gq_dev_load16_bf16)
    for (uint32_t j = 0; j < GQ_DEV_NVFP4_BLOCK / 2; ++j)
      held.words[j] = gq_dev_pack_bf16(x[2 * j], x[2 * j + 1]);
  else if (q->load == gq_dev_load16_f16)
    for (uint32_t j = 0; j < GQ_DEV_NVFP4_BLOCK / 2; ++j)
      held.words[j] = gq_dev_pack_f16(x[2 * j], x[2 * j + 1]);
  else
    for (uint32_t j = 0; j < GQ_DEV_NVFP4_BLOCK; ++j)
      held.words[j] = gq_dev_f32_bits(x[j]);
  return held;
}

/// Loads a lane's blocks. Where all lanes have all of theirs, which they mostly
/// have, no address depends on it.
GQ_DEV void loadBlocks(const Quantization *q, Blocks blocks,
                       Held held[UNROLL]) {
  if (gq_dev_ballot(blocks.count < UNROLL) == 0) {
    blocks.count = UNROLL;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i)
      held[i] = loadBlock(q, blocks, i);
  } else {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < UNROLL; ++i)
      held[i] = loadBlock(q, blocks, i);
  }
}

/// Quantizes a block: see gq_dev_nvfp4_block.
GQ_DEV uint32_t convertBlock(const Quantization *q, Held held,
                             float globalScale, uint32_t codes[2]) {
  bool hasGlobalScale = q->globalScaleKind != GQ_DEV_GLOBAL_SCALE_NONE;
  float x[GQ_DEV_NVFP4_BLOCK];
  if (q->load == gq_dev_load16_bf16) {
    gq_dev_unpack_bf16(held.words, x);
    float amax = gq_dev_amax_of_bf16(held.words);
    return hasGlobalScale
               ? gq_dev_nvfp4_block(x, amax, true, globalScale, codes)
               : gq_dev_nvfp4_block_of_bf16(x, amax, codes);
  }
  if (q->load == gq_dev_load16_f16)
    gq_dev_unpack_f16(held.words, x);
  else
    for (uint32_t j = 0; j < GQ_DEV_NVFP4_BLOCK; ++j)
      x[j] = gq_dev_f32_from_bits(held.words[j]);
  return gq_dev_nvfp4_block(x, gq_dev_amax(x), hasGlobalScale, globalScale,
                            codes);
}

/// Whether the hook only loads. What it gives can be held for later; a fused
/// producer would take up registers for 16 results a block, which cost more
/// warps than loading ahead gains.
GQ_DEV bool onlyLoads(gq_load16 *load) {
  return load == gq_dev_load16_bf16 || load == gq_dev_load16_f16 ||
         load == gq_dev_load16_f32;
}

/// Whether the hook reads a matrix, so that another row can be asked of it.
GQ_DEV bool readsMatrix(gq_load16 *load) {
  return onlyLoads(load) || load == gq_dev_load16_bf16_unaligned ||
         load == gq_dev_load16_f16_unaligned ||
         load == gq_dev_load16_f32_unaligned;
}

/// What the groups of a lane's rows make of them. Of the four words of scales
/// that four lanes side by side have, a lane stores one: its number in the four
/// says of which row.
typedef struct RowPlan {
  /// Of scales in tiles.
  TiledStore store;
  float globalScale;
  /// Bit i: the data of lane i's row is wanted.
  uint32_t wanted;
} RowPlan;

GQ_DEV RowPlan planRows(const Quantization *q, uint32_t width, int64_t row) {
  RowPlan plan = {.globalScale = 1.0f, .wanted = -1u};
  Target target = {.group = -1};
  if (q->groups) {
    target = findTarget(q->groups, row);
    plan.store = planTiledStore(q->scales, width, target,
                                ((uint64_t)q->scales & 15) == 0);
  }
  if (q->globalScaleKind == GQ_DEV_GLOBAL_SCALE_ONE)
    plan.globalScale = *q->globalScale;
  else if (q->globalScaleKind == GQ_DEV_GLOBAL_SCALE_PER_GROUP &&
           target.group >= 0)
    plan.globalScale = q->globalScale[target.group];
  if (q->onlyGrouped)
    plan.wanted = gq_dev_ballot(target.group >= 0);
  return plan;
}

/// A warp takes a run of pieces side by side, which share what is known of
/// their rows: of one if there are as many warps as pieces, else of two. More
/// would leave too few runs for small matrices. Returns how far behind the last
/// run the warp's next one would be.
GQ_DEV uint32_t quantize(const Quantization *q) {
  uint32_t numBlocks = (uint32_t)(q->columns / GQ_DEV_NVFP4_BLOCK);
  uint32_t width = (uint32_t)gq_dev_up(numBlocks, GQ_DEV_TILE_COLUMNS);
  bool perGroup = q->globalScaleKind == GQ_DEV_GLOBAL_SCALE_PER_GROUP;
  bool dataAligned = (((uint64_t)q->data | (uint64_t)q->dataStride) & 7) == 0;
  bool scalesAligned =
      q->groups ? ((uint64_t)q->scales & 15) == 0
                : (((uint64_t)q->scales | (uint64_t)q->scalesStride) & 3) == 0;
  bool ahead = onlyLoads(q->load);

  uint32_t rowTiles = numRowTiles(q->rows);
  uint32_t pieceColumns = (width + PIECE_COLUMNS - 1) / PIECE_COLUMNS;
  uint32_t run = numWarps() >= rowTiles * pieceColumns * PIECES ? 1 : 2;
  uint32_t runsPerTile = (pieceColumns + run - 1) / run * PIECES;
  uint32_t runs = rowTiles * runsPerTile;
  uint32_t lane = gq_dev_lane(), laneInWord = lane % GQ_DEV_TILE_COLUMNS;
  uint32_t index = warpNumber();
  for (; index < runs; index += numWarps()) {
    Piece piece = pieceOf(index, runsPerTile);
    Blocks blocks = blocksOf(q, piece, run);
    int64_t wordRow = blocks.first + ROW_STEP * laneInWord;
    RowPlan plan;
    // Not unrolled: other warps fill the time that loads take, and registers
    // are what limits their number.
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < run; ++i, blocks.column += PIECE_COLUMNS) {
      Blocks here = blocks;
      if (here.column >= numBlocks)
        here.count = 0;
      Held held[UNROLL];
      if (ahead)
        loadBlocks(q, here, held);
      uint8_t GQ_GLOBAL *data = q->data + here.first * q->dataStride +
                                (int64_t)here.column * GQ_DEV_NVFP4_BLOCK_BYTES;
      if (i == 0)
        plan = planRows(q, width, wordRow);

      uint32_t scales = 0;
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < UNROLL; ++j) {
        // The lane that knows the group of this block's row.
        uint32_t informed = lane - laneInWord + j;
        float globalScale = perGroup
                                ? gq_dev_shuffle_f32(plan.globalScale, informed)
                                : plan.globalScale;
        if (!ahead)
          held[j] = loadBlock(q, here, j);
        uint32_t codes[2];
        scales |= convertBlock(q, held[j], globalScale, codes) << 8 * j;
        if (j < here.count && plan.wanted >> informed & 1)
          storeCodes(data, codes, dataAligned);
        data += ROW_STEP * q->dataStride;
      }
      // Blocks that are not there have scale 0.
      uint32_t missing = 8 * (UNROLL - here.count);
      scales = here.count ? scales << missing >> missing : 0;

      scales = transposeBytes(scales);
      uint32_t wordColumn = here.column - laneInWord;
      if (q->groups) {
        storeTiled(&plan.store, wordColumn, width, scales, scalesAligned);
      } else if (wordColumn < numBlocks && wordRow < q->rows) {
        uint32_t left = numBlocks - wordColumn;
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
                                     int64_t scaleRows, int32_t offsetBits) {
  return (gq_dev_row_groups){
      .offsets = offsets,
      .scaleOffsets = scaleOffsets,
      .numOffsets = (uint32_t)numOffsets,
      .numGroups = (uint32_t)numGroups,
      .wide = offsetBits == 64,
      .numRows = rows,
      .scaleRows = scaleRows,
  };
}

GQ_DEV_KERNEL void gq_dev_grouped_block_quantize(
    gq_load16 *load, const void *inputs, int64_t rows, int64_t columns,
    const void GQ_GLOBAL *row_indices, int64_t source_rows,
    const void GQ_GLOBAL *offsets, int64_t num_offsets,
    const void GQ_GLOBAL *scale_offsets, int64_t groups,
    const float GQ_GLOBAL *global_scale, uint8_t GQ_GLOBAL *data,
    int64_t data_stride, uint8_t GQ_GLOBAL *scales, int64_t scale_rows,
    uint32_t GQ_GLOBAL *status, int32_t format, int32_t rows_mode,
    int32_t offset_bits, int32_t global_scale_kind, int32_t row_index_bits) {
  (void)format; // nvfp4 is the only one.
  gq_dev_row_groups rowGroups =
      rowGroupsOf(offsets, num_offsets, scale_offsets, groups, rows, scale_rows,
                  offset_bits);
  const Quantization quantization = {
      .load = load,
      .inputs = inputs,
      .rows = rows,
      .columns = columns,
      .rowIndices = row_indices,
      .sourceRows = source_rows,
      .rowIndexBits = readsMatrix(load) ? row_index_bits : 0,
      .groups = &rowGroups,
      .globalScale = global_scale,
      .globalScaleKind = global_scale_kind,
      .onlyGrouped = rows_mode == GQ_ROWS_GROUPED,
      .data = data,
      .dataStride = data_stride,
      .scales = scales,
  };
  gq_dev_prepare_groups(&rowGroups);
  uint32_t next = quantize(&quantization);
  finishGroups(
      &rowGroups, scales,
      (uint32_t)gq_dev_up(columns / GQ_DEV_NVFP4_BLOCK, GQ_DEV_TILE_COLUMNS),
      status, next);
  if (row_index_bits)
    gq_dev_check_row_indices(row_indices, row_index_bits, source_rows, rows,
                             status);
}

GQ_DEV_KERNEL void
gq_dev_block_quantize(gq_load16 *load, const void *inputs, int64_t rows,
                      int64_t columns, const float GQ_GLOBAL *global_scale,
                      uint8_t GQ_GLOBAL *data, int64_t data_stride,
                      uint8_t GQ_GLOBAL *scales, int64_t scales_stride,
                      int32_t format, int32_t global_scale_kind) {
  (void)format; // nvfp4 is the only one.
  const Quantization quantization = {
      .load = load,
      .inputs = inputs,
      .rows = rows,
      .columns = columns,
      .globalScale = global_scale,
      .globalScaleKind = global_scale_kind,
      .data = data,
      .dataStride = data_stride,
      .scales = scales,
      .scalesStride = scales_stride,
  };
  quantize(&quantization);
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
GQ_DEV_KERNEL void gq_dev_preprocess_grouped_matmul_sf(
    const uint8_t GQ_GLOBAL *linear, int64_t linear_stride, int64_t rows,
    int64_t scale_columns, const void GQ_GLOBAL *offsets, int64_t num_offsets,
    const void GQ_GLOBAL *scale_offsets, int64_t groups,
    uint8_t GQ_GLOBAL *scales, int64_t scale_rows, uint32_t GQ_GLOBAL *status,
    int32_t format, int32_t offset_bits) {
  (void)format; // nvfp4 is the only one.
  gq_dev_row_groups rowGroups =
      rowGroupsOf(offsets, num_offsets, scale_offsets, groups, rows, scale_rows,
                  offset_bits);
  uint32_t width = (uint32_t)gq_dev_up(scale_columns, GQ_DEV_TILE_COLUMNS);
  uint32_t words = width / GQ_DEV_TILE_COLUMNS;
  bool linearAligned = (((uint64_t)linear | (uint64_t)linear_stride) & 3) == 0;
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
      word = loadScales(linear + row * linear_stride + column,
                        (uint32_t)scale_columns - column, linearAligned);
    TiledStore store = planTiledStore(
        scales, width, findTarget(&rowGroups, row), scalesAligned);
    storeTiled(&store, column, width, word, scalesAligned);
  }
  finishGroups(&rowGroups, scales, width, status, index - pieces);
}
