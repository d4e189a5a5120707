//===- Columns4Bit.h - transposed codes of 4 bits -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of 4 bits a warp has at most a sector of a column of a job, and half of the
// columns may begin in the middle of one. So codes are collected in shared
// memory and leave with all four warps' together, 64 bytes of a column at a
// time, or of a warp alone, whose groups have few rows, up to 48.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_COLUMNS4BIT_H
#define GQ_KERNELS_KERNELS_TILES_COLUMNS4BIT_H

#include "runtime_kernels/kernels/tiles/Load.h"
#include "runtime_kernels/kernels/tiles/Store.h"

/// Columns of 64 bytes, at columnAt. One set is used while the other is filled.
static GQ_SHARED gq_dev_u32x4
    columnCodes[2][TILE * 4 + TILE / 8] GQ_UNINITIALIZED;
/// The same of warps that do jobs alone: of 64 rows, or of 96.
static GQ_SHARED gq_dev_u32x4
    columnCodesOf64[WARPS][TILE * 2 + TILE / 8] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4
    columnCodesOf96[WARPS][TILE * 3 + TILE / 8] GQ_UNINITIALIZED;
GQ_DEV gq_dev_u32x4 GQ_SHARED *columnCodesOf(const Op *o, uint32_t parity) {
  return !o->alone                       ? columnCodes[parity]
         : o->collectedRows == HALF_TILE ? columnCodesOf64[parity]
                                         : columnCodesOf96[parity];
}

/// What Op says as `collectedRows`: 96 where there is room, else 64. Columns of
/// 65 to 96 rows are 48 bytes, of which 32 would leave as parts of sectors.
/// There is room in both directions, if they are as usual and no more is
/// computed; what a producer makes takes it, and columns alone, tall lanes and
/// what is reduced have elements that are copied ahead, if inputs are aligned.
/// A kernel has a way for those and one for others, which must have the same
/// arrays.
GQ_DEV uint32_t collectedRowsOf(const Op *o) {
  bool both = collectsColumns(o) && o->rowwise.exists && !o->unusual;
  return both && !o->hasAmax && !o->hasDbias && !makes(o) ? 96 : HALF_TILE;
}

/// The first row of a job whose codes leave together with those of `row`: of a
/// warp alone all rows, if they are collected, and else 64 at a time.
GQ_DEV uint32_t firstCollected(const Op *o, const Job GQ_SHARED *job,
                               uint32_t row) {
  bool all = o->collectedRows > HALF_TILE && job->rows <= o->collectedRows;
  return !o->alone || all ? 0 : row & ~(HALF_TILE - 1);
}

/// Where 16 bytes of a column begin, such that lanes do not meet banks twice.
GQ_DEV uint32_t columnAt(const Op *o, uint32_t column) {
  return column * (o->alone ? o->collectedRows / 32 : 4) + column / 8;
}

/// Where the codes of a lane's column number j are collected.
GQ_DEV uint8_t GQ_SHARED *collectedAt(const Op *o, const Job GQ_SHARED *job,
                                      Place place, uint32_t parity,
                                      uint32_t j) {
  uint32_t row = place.row - firstCollected(o, job, place.row);
  uint8_t GQ_SHARED *p = (uint8_t GQ_SHARED *)(columnCodesOf(o, parity) +
                                               columnAt(o, place.column)) +
                         row / 2;
  return p + columnAt(o, j) * 16;
}

/// Collects the 4 or 8 codes of a lane's column number j.
GQ_DEV void collectColumn(const Op *o, const Job GQ_SHARED *job, Place place,
                          uint32_t parity, uint32_t j, uint32_t codes) {
  uint8_t GQ_SHARED *p = collectedAt(o, job, place, parity, j);
  if (rowsOfLane(o) == 8)
    *(uint32_t GQ_SHARED *)p = codes;
  else
    *(uint16_t GQ_SHARED *)p = (uint16_t)codes;
}

/// The 16 codes of a tall lane's column number j.
GQ_DEV void collectBlock(const Op *o, const Job GQ_SHARED *job, Place place,
                         uint32_t parity, uint32_t j, uint32_t first,
                         uint32_t second) {
  *(gq_dev_u32x2 GQ_SHARED *)collectedAt(o, job, place, parity, j) =
      (gq_dev_u32x2){first, second};
}

/// Stores those of a job.
GQ_DEV void storeColumns(const Op *o, const Job GQ_SHARED *job, uint32_t parity,
                         uint32_t thread) {
  uint32_t piece = thread % 4, pitch = (uint32_t)job->columnwise.dataPitch;
  bool aligned = isAligned(job->columnwise.data, 0, 16);
  uint8_t GQ_GLOBAL *p = job->columnwise.data + piece * 16;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t column = i * (TILE / 4) + thread / 4;
    gq_dev_u32x4 words = columnCodes[parity][columnAt(o, column) + piece];
    uint32_t w[4] = {words.x, words.y, words.z, words.w};
    if (piece * 32 < job->paddedRows && column < job->columns)
      storeBytes(p + (uint64_t)column * pitch, w, 16, 16, aligned);
  }
}

#endif // GQ_KERNELS_KERNELS_TILES_COLUMNS4BIT_H
