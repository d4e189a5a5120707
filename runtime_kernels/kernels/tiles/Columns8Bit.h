//===- Columns8Bit.h - transposed codes of 8 bits -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of 8 bits a warp has whole sectors of a column: lanes store what they have.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_COLUMNS8BIT_H
#define GQ_KERNELS_KERNELS_TILES_COLUMNS8BIT_H

#include "runtime_kernels/kernels/tiles/Load.h"

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
