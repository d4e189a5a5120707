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
// i. A warp that does a job alone has all of its blocks, which it goes through
// twice.

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

/// Stores the scale of row number `row` of a job's blocks, or of a column, and
/// returns the factor.
GQ_DEV float scaleLongBlock(const Op *o, const Direction *d,
                            const Job GQ_SHARED *job,
                            const JobOutput GQ_SHARED *to, uint32_t rows,
                            uint32_t row, float amax) {
  gq_dev_block_scale block =
      gq_dev_either_block(d->scaler, amax, to->outer).block;
  gq_dev_store4_if(isInGroup(o, job->group) && row < numScaleRows(d, rows),
                   to->scales + row * to->scalesPitch, block.bits);
  return block.factor;
}

/// Scales the blocks of a job: stores their scales and leaves their factors
/// where conversions expect them. All threads take part.
GQ_DEV void scaleLongBlocks(const Op *o, const Job GQ_SHARED *job,
                            uint32_t parity) {
  bool square = isSquare(&o->rowwise);
  uint32_t thread = gq_dev_here(gq_dev_thread());
  float all = squareAmax(parity);
  if (o->rowwise.exists) {
    float amax =
        square ? all
               : gq_dev_max_number(rowAmax[0][thread], rowAmax[1][thread]);
    longRowFactors[thread] = scaleLongBlock(o, &o->rowwise, job, &job->rowwise,
                                            job->rows, thread, amax);
  }
  if (o->columnwise.exists) {
    float amax = square ? all : 0.0f;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      if (!square && i < TILE / rowsOfWarp(o))
        amax = gq_dev_max_number(amax, columnAmax[i][thread]);
    float factor = scaleLongBlock(o, &o->columnwise, job, &job->columnwise,
                                  job->columns, thread, amax);
    // For both warps that have the column.
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < WARPS; i += 2)
      ((float GQ_SHARED *)
           columnFactors[i + thread / HALF_TILE])[thread % HALF_TILE] = factor;
  }
}

//===----------------------------------------------------------------------===//
// Of warps that do jobs alone, not of square blocks
//===----------------------------------------------------------------------===//

/// Collects the largest magnitudes of a pass, where their factors will be. All
/// lanes take part.
GQ_DEV void measurePassAlone(const Op *o, Place place, uint32_t warp,
                             bool first, const Held *held) {
  float amax[ROWS];
  if (o->rowwise.exists) {
    rowMagnitudes(o, held, place, amax);
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o) && place.column == 0)
        warpRowFactors[warp][place.row + r] = amax[r];
    if (o->hasAmax)
      collectAmax(o, amax, rowsOfLane(o), warp);
  }
  if (o->columnwise.exists) {
    columnMagnitudes(o, held, place, amax);
    float GQ_SHARED *columns = (float GQ_SHARED *)columnFactors[warp];
    uint32_t column = firstOwnColumn(o, place);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 8; ++i)
      if (i < ownColumns(o))
        columns[column + i] =
            first ? amax[i] : gq_dev_max_number(columns[column + i], amax[i]);
    if (o->hasAmax && !o->rowwise.exists)
      collectAmax(o, amax, ownColumns(o), warp);
  }
}

/// scaleLongBlocks of what a warp has collected of so many rows. All lanes take
/// part.
GQ_DEV void scaleLongBlocksAlone(const Op *o, const Job GQ_SHARED *job,
                                 uint32_t warp, uint32_t rows) {
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
  float GQ_SHARED *columns = (float GQ_SHARED *)columnFactors[warp];
#pragma clang loop unroll(disable)
  for (uint32_t row = lane; o->rowwise.exists && row < rows; row += GQ_DEV_WARP)
    warpRowFactors[warp][row] =
        scaleLongBlock(o, &o->rowwise, job, &job->rowwise, job->rows, row,
                       warpRowFactors[warp][row]);
#pragma clang loop unroll(disable)
  for (uint32_t column = lane; o->columnwise.exists && column < TILE;
       column += GQ_DEV_WARP)
    columns[column] = scaleLongBlock(o, &o->columnwise, job, &job->columnwise,
                                     job->columns, column, columns[column]);
}

/// Converts a lane's elements. All lanes take part.
GQ_DEV void convertLongBlocks(const Op *o, const Job GQ_SHARED *job,
                              uint32_t pass, uint32_t parity,
                              const Held *held) {
  Place place = placeOfLane(o, job, pass);
  const float GQ_SHARED *rows =
      longRowFactorsOf(o, place.thread / GQ_DEV_WARP) + place.row;
  float factors[ROWS];
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (o->rowwise.exists && r < rowsOfLane(o))
      factors[r] = rows[r];
  convertLane(o, job, place, parity, held, factors, storesAtOnce(o));
}

#endif // GQ_KERNELS_KERNELS_TILES_LONGBLOCKS_H
