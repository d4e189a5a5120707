//===- Columns8Bit.h - transposed codes of 8 bits -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of 8 bits a warp has whole sectors of a column: lanes store what they have.
// But lanes beside each other have columns far apart, and of groups with few
// rows, columns follow each other closely. So lanes of a warp alone exchange
// four columns each, and store what is beside each other together: up to 32
// rows, a fourth of the requests.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_COLUMNS8BIT_H
#define GQ_KERNELS_KERNELS_TILES_COLUMNS8BIT_H

#include "runtime_kernels/kernels/tiles/Load.h"

/// Whether a column's codes are bytes that follow each other, a constant.
GQ_DEV bool transposesBytes(const Op *o) {
  return o->columnwise.transposes && !collectsColumns(o);
}

/// Whether lanes exchange codes, a constant. A lane has 8 of a column then.
GQ_DEV bool exchangesColumns(const Op *o) {
  return o->alone && transposesBytes(o) && !o->hasDbias && rowsOfLane(o) == 8;
}

/// Four columns of each lane across, at exchangedAt.
static GQ_SHARED gq_dev_u32x4 exchanged[WARPS][72] GQ_UNINITIALIZED;

/// Where column number j of those of a lane begins, in bytes, such that lanes
/// do not meet banks twice.
GQ_DEV uint32_t exchangedAt(const Op *o, uint32_t across, uint32_t j) {
  return across * (4 * rowsOfWarp(o) + 16) + j * rowsOfWarp(o);
}

/// Leaves the 8 codes of a lane's column number j of four.
GQ_DEV void leaveColumn(const Op *o, Place place, uint32_t j,
                        const uint32_t codes[2]) {
  uint32_t across = place.column % columnsOfWarp(o) / columnsOfLane(o);
  uint8_t GQ_SHARED *warp =
      (uint8_t GQ_SHARED *)exchanged[place.thread / GQ_DEV_WARP];
  *(gq_dev_u32x2 GQ_SHARED *)(warp + exchangedAt(o, across, j) +
                              place.down * 8) =
      (gq_dev_u32x2){codes[0], codes[1]};
}

/// Stores what all lanes have left of a quarter of their columns. All lanes
/// take part.
GQ_DEV void storeLeft(const Op *o, const Job GQ_SHARED *job, Place place,
                      uint32_t quarter, uint32_t pitch) {
  uint32_t lane = place.thread % GQ_DEV_WARP;
  uint32_t pieces = rowsOfWarp(o) / 16;
  const uint8_t GQ_SHARED *warp =
      (const uint8_t GQ_SHARED *)exchanged[place.thread / GQ_DEV_WARP];
  gq_dev_warp_barrier();
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t number = i * GQ_DEV_WARP + lane;
    uint32_t j = number / pieces, piece = number % pieces;
    uint32_t column = firstColumnOfWarp(o, place.thread / GQ_DEV_WARP) +
                      j / 4 * columnsOfLane(o) + quarter * 4 + j % 4;
    uint32_t row = place.row - place.down * 8 + piece * 16;
    gq_dev_u32x4 four =
        *(const gq_dev_u32x4 GQ_SHARED *)(warp + exchangedAt(o, j / 4, j % 4) +
                                          piece * 16);
    uint32_t words[4] = {four.x, four.y, four.z, four.w};
    gq_dev_store16_if(column < job->columns && row < job->paddedRows,
                      job->columnwise.data + (uint64_t)column * pitch + row,
                      words);
  }
}

/// Stores the 4 or 8 codes of a lane's column.
GQ_DEV void storeColumn(const Op *o, bool there, uint8_t GQ_GLOBAL *p,
                        const uint32_t codes[2]) {
  if (rowsOfLane(o) == 8)
    gq_dev_store8_if(there, p, codes);
  else
    gq_dev_store4_if(there, p, codes[0]);
}

/// Where the codes of a lane's first column go.
GQ_DEV uint8_t GQ_GLOBAL *columnCodesAt(const Op *o, Place place,
                                        uint8_t GQ_GLOBAL *data,
                                        int64_t pitch) {
  return data + place.column * pitch + dataBytes(&o->columnwise, place.row);
}

#endif // GQ_KERNELS_KERNELS_TILES_COLUMNS8BIT_H
