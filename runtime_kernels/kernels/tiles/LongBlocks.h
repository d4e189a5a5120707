//===- LongBlocks.h - blocks as long as a job --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of 1 by 128 and of 128 by 128.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_LONGBLOCKS_H
#define GQ_KERNELS_KERNELS_TILES_LONGBLOCKS_H

#include "runtime_kernels/kernels/tiles/Codes.h"

// Warps have parts of such blocks. The CTA agrees on their scales, which are
// few, by way of shared memory: thread i has that of row i and that of column
// i.

/// Collects the largest magnitudes of a lane's elements. All lanes take part.
GQ_DEV void measureLane(const Op *o, const Job GQ_SHARED *job, uint32_t pass,
                        uint32_t parity, const Held *held) {
  Place place = placeOfLane(o, job, pass);
  float amax[ROWS];
  if (isSquare(&o->rowwise)) {
    measureSquare(o, parity, held);
    return;
  }
  if (o->rowwise.exists) {
    rowMagnitudes(o, held, place, amax);
    float GQ_SHARED *rows = &rowAmax[place.column / HALF_TILE][place.row];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o) && place.column % HALF_TILE == 0)
        rows[r] = amax[r];
    if (o->hasAmax)
      collectAmax(o, amax, rowsOfLane(o), parity);
  }
  if (o->columnwise.exists) {
    columnMagnitudes(o, held, place, amax);
    float GQ_SHARED *columns =
        &columnAmax[place.row / rowsOfWarp(o)][firstOwnColumn(o, place)];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 8; ++i)
      if (i < ownColumns(o))
        columns[i] = amax[i];
    if (o->hasAmax && !o->rowwise.exists)
      collectAmax(o, amax, ownColumns(o), parity);
  }
}

/// Scales the blocks of a job: stores their scales and leaves their factors
/// where conversions expect them. All threads take part.
GQ_DEV void scaleLongBlocks(const Op *o, const Job GQ_SHARED *job,
                            uint32_t parity) {
  bool square = isSquare(&o->rowwise);
  uint32_t thread = gq_dev_here(gq_dev_thread());
  float all = squareAmax(parity);
  if (o->rowwise.exists) {
    const Direction *d = &o->rowwise;
    const JobOutput GQ_SHARED *to = &job->rowwise;
    float amax =
        square ? all
               : gq_dev_max_number(rowAmax[0][thread], rowAmax[1][thread]);
    gq_dev_block_scale block =
        gq_dev_either_block(d->scaler, amax, to->outer).block;
    longRowFactors[thread] = block.factor;
    gq_dev_store4_if(job->group >= 0 && thread < numScaleRows(d, job->rows),
                     to->scales + thread * to->scalesPitch, block.bits);
  }
  if (o->columnwise.exists) {
    const Direction *d = &o->columnwise;
    const JobOutput GQ_SHARED *to = &job->columnwise;
    float amax = square ? all : 0.0f;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      if (!square && i < TILE / rowsOfWarp(o))
        amax = gq_dev_max_number(amax, columnAmax[i][thread]);
    gq_dev_block_scale block =
        gq_dev_either_block(d->scaler, amax, to->outer).block;
    // For both warps that have the column.
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < WARPS; i += 2)
      ((float GQ_SHARED *)
           columnFactors[i + thread / HALF_TILE])[thread % HALF_TILE] =
          block.factor;
    gq_dev_store4_if(job->group >= 0 && thread < numScaleRows(d, job->columns),
                     to->scales + thread * to->scalesPitch, block.bits);
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
    if (o->rowwise.exists && r < rowsOfLane(o))
      factors[r] = longRowFactors[place.row + r];
  convertLane(o, job, place, parity, held, factors, storesAtOnce(o));
}

#endif // GQ_KERNELS_KERNELS_TILES_LONGBLOCKS_H
