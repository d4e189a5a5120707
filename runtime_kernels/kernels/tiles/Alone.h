//===- Alone.h - warps that do jobs alone -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where groups have few rows, most jobs do too: of four warps that share a job,
// some would have nothing to do but wait. Here a warp has all columns of a job,
// goes through the rows that there are, 16 or 32 at a time, and waits for no
// other warp. What it collects leaves after up to 96 rows, or every 64, with
// zeros for rows that there are not.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_ALONE_H
#define GQ_KERNELS_KERNELS_TILES_ALONE_H

#include "runtime_kernels/kernels/tiles/FewRows.h"
#include "runtime_kernels/kernels/tiles/LongBlocks.h"
#include "runtime_kernels/kernels/tiles/Loop.h"
#include "runtime_kernels/kernels/tiles/Tall.h"

enum {
  /// Jobs of a warp that are found at once.
  WARP_BATCH = 2,
};

/// Jobs of each warp: number n is at n % (2 * WARP_BATCH).
static GQ_SHARED Job warpJobs[WARPS][2 * WARP_BATCH] GQ_UNINITIALIZED;

GQ_DEV uint32_t thisWarp(void) {
  return gq_dev_here(gq_dev_thread()) / GQ_DEV_WARP;
}

/// The number of a warp's job number n among all. Those of a CTA are
/// neighbours: where they were not, te took 62 instead of 56 us (H200, 8192 by
/// 5120, 128 groups).
GQ_DEV uint64_t numberOf(uint32_t warp, uint32_t n) {
  return ((uint64_t)n * gq_dev_num_ctas() + gq_dev_cta()) * WARPS + warp;
}

GQ_DEV const Job GQ_SHARED *warpJob(uint32_t n) {
  return &warpJobs[thisWarp()][n % (2 * WARP_BATCH)];
}

/// Finds job number n of a warp for each lane that wants one, if there is one.
/// All lanes take part.
GQ_DEV void findWarpJob(const Op *o, const Plan *plan, bool wants,
                        uint32_t warp, uint32_t n) {
  uint64_t number = numberOf(warp, n);
  gq_dev_warp_barrier();
  if (wants && number < plan->jobs)
    warpJobs[warp][n % (2 * WARP_BATCH)] = findJob(o, plan, (uint32_t)number);
  gq_dev_warp_barrier();
}

/// Finds the first jobs of all warps, by one of them, which takes it as long as
/// its own. All threads take part.
GQ_DEV void beginWarpJobs(const Op *o, const Plan *plan) {
  uint32_t thread = gq_dev_here(gq_dev_thread());
  findWarpJob(o, plan, thread < WARPS * 2 * WARP_BATCH,
              thread / (2 * WARP_BATCH), thread % (2 * WARP_BATCH));
  gq_dev_barrier();
}

/// After job number n of the warp: finds more. All lanes take part.
GQ_DEV void findMoreJobsOfWarp(const Op *o, uint32_t n) {
  if (n % WARP_BATCH != WARP_BATCH - 1)
    return;
  const Plan plan = keptPlan();
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
  findWarpJob(o, &plan, lane < WARP_BATCH, thisWarp(),
              n + 1 + WARP_BATCH + lane);
}

/// Whether job number n exists; known after a barrier.
GQ_DEV bool hasJob(uint32_t n) { return numberOf(thisWarp(), n) < kept.jobs; }

GQ_DEV uint32_t passesOf(const Op *o, const Job GQ_SHARED *job) {
  return (job->rows + rowsOfWarp(o) - 1) / rowsOfWarp(o);
}

//===----------------------------------------------------------------------===//
// What a job stores
//===----------------------------------------------------------------------===//

/// 16 bytes of transposed codes, of which `first` rows on have codes up to row
/// `done`; the others are zeros.
GQ_DEV gq_dev_u32x4 codesUpTo(gq_dev_u32x4 words, uint32_t first,
                              uint32_t done) {
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < 4; ++k)
    words[k] = first + k * 8 < done ? words[k] : 0;
  return words;
}

/// Stores transposed codes of a job that were collected, from row `top` on; of
/// these `done` have codes and the others are zeros. All lanes take part.
GQ_DEV void storeColumnsOfWarp(const Op *o, const Job GQ_SHARED *job,
                               uint32_t warp, uint32_t top, uint32_t done) {
  if (job->paddedRows <= top)
    return;
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
  uint32_t pitch = (uint32_t)job->columnwise.dataPitch;
  // A lane has pieces of 16 bytes, of which a column has up to three.
  uint32_t rows = job->paddedRows - top;
  uint32_t pieces = rows > GQ_DEV_WARP ? 2 : 1;
  if (o->collectedRows > HALF_TILE && job->paddedRows == o->collectedRows)
    pieces = 3;
  uint8_t GQ_GLOBAL *data =
      job->columnwise.data + dataBytes(&o->columnwise, top);
  const gq_dev_u32x4 GQ_SHARED *codes = columnCodesOf(o, warp);
  if (__builtin_expect(!isAligned(data, 0, 16), 0)) {
#pragma clang loop unroll(disable)
    for (uint32_t i = lane; i < TILE * pieces; i += GQ_DEV_WARP) {
      uint32_t c = i / pieces, piece = i % pieces;
      gq_dev_u32x4 words =
          codesUpTo(codes[columnAt(o, c) + piece], piece * 32, done);
      uint32_t w[4] = {words.x, words.y, words.z, words.w};
      if (c < job->columns)
        storeBytes(data + (uint64_t)c * pitch + piece * 16, w, 16, 16, false);
    }
    return;
  }
  // 32 lanes have as many columns in `pieces` steps; the same of all four times
  // 32 columns are at the same distance.
#pragma clang loop unroll(disable)
  for (uint32_t step = 0; step < pieces; ++step) {
    uint32_t number = step * GQ_DEV_WARP + lane, c = number >> (pieces - 1);
    if (o->collectedRows > HALF_TILE && pieces == 3)
      c = number * 21846 >> 16; // A third, of up to 96.
    uint32_t piece = number - c * pieces;
    const gq_dev_u32x4 GQ_SHARED *from = codes + columnAt(o, c) + piece;
    uint8_t GQ_GLOBAL *p = data + (uint64_t)c * pitch + piece * 16;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < TILE / GQ_DEV_WARP; ++i) {
      gq_dev_u32x4 words =
          codesUpTo(from[i * columnAt(o, GQ_DEV_WARP)], piece * 32, done);
      uint32_t w[4] = {words.x, words.y, words.z, words.w};
      gq_dev_store16_if(c + i * GQ_DEV_WARP < job->columns, p, w);
      p += (uint64_t)GQ_DEV_WARP * pitch;
    }
  }
}

/// Adds the sums of 64 rows to those of the job, if they are not its first, and
/// stores them with the last.
GQ_DEV void storeSumsOfWarp(const Op *o, const Job GQ_SHARED *job,
                            uint32_t warp, uint32_t top, uint32_t done) {
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
#pragma clang loop unroll(disable)
  for (uint32_t column = lane; column < job->columns; column += GQ_DEV_WARP) {
    float sum = sumOfPasses(o, warp, done, column);
    if (top)
      sum = job->partialSums[column] + sum;
    if (top + HALF_TILE < job->rows)
      job->partialSums[column] = sum;
    else
      storeJobSum(o, job, column, sum);
  }
}

/// Stores what was collected from row `top` on.
GQ_DEV void storeRowsOfWarp(const Op *o, const Job GQ_SHARED *job,
                            uint32_t warp, uint32_t top, uint32_t done) {
  if (collectsColumns(o))
    storeColumnsOfWarp(o, job, warp, top, done);
  if (o->hasDbias && isInGroup(o, job->group))
    storeSumsOfWarp(o, job, warp, top, done);
}

/// The lowest `count` bytes of a word.
GQ_DEV uint32_t lowBytes(int32_t count) {
  return count <= 0   ? 0
         : count >= 4 ? UINT32_MAX
                      : UINT32_MAX >> (4 - count) * 8;
}

/// Whether a job has scales in tile number `tile` of a row, 0 or 1.
GQ_DEV bool hasScaleTile(const Direction *d, const JobOutput GQ_SHARED *to,
                         uint32_t tile) {
  return d->exists && hasScales(d) && tile * 4 < numScaleColumns(d) &&
         tile * 4 * TILE < to->scaleBytes;
}

/// Stores the scales of a job: those of rows, and of columns those of the first
/// `done` rows; blocks below are zeros. All lanes take part.
GQ_DEV void storeScalesOfWarp(const Op *o, const Job GQ_SHARED *job,
                              uint32_t warp, uint32_t done) {
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
#pragma clang loop unroll(full)
  for (uint32_t tile = 0; tile < 2; ++tile) {
    const Direction *d = &o->rowwise;
    const JobOutput GQ_SHARED *to = &job->rowwise;
    if (hasScaleTile(d, to, tile)) {
      gq_dev_u32x4 words = rowScalesOf(o, warp)[tile * GQ_DEV_WARP + lane];
      uint32_t w[4] = {words.x, words.y, words.z, words.w};
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < 4; ++k)
        w[k] = k * 32 + lane < job->rows ? w[k] : 0;
      uint8_t GQ_GLOBAL *p = to->scales + tile * 4 * TILE + lane * 16;
      storeBytes(p, w, 16, 16, isAligned(p, 0, 16));
    }
    d = &o->columnwise;
    to = &job->columnwise;
    if (hasScaleTile(d, to, tile)) {
      int32_t block = d->traits.blockColumns;
      int32_t blocks = ((int32_t)done + block - 1) / block;
      int32_t padded = (int32_t)job->paddedRows / block;
      uint32_t zero = gq_dev_any_block(d->scaler, 0.0f, to->outer).bits;
      uint32_t mask = lowBytes(blocks - (int32_t)tile * 4);
      uint32_t fill =
          zero * 0x01010101u & ~mask & lowBytes(padded - (int32_t)tile * 4);
      gq_dev_u32x4 words = columnScalesOf(o, warp)[tile * GQ_DEV_WARP + lane];
      uint32_t w[4] = {words.x, words.y, words.z, words.w};
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < 4; ++k)
        w[k] = k * 32 + lane < job->columns ? (w[k] & mask) | fill : 0;
      uint8_t GQ_GLOBAL *p = to->scales + tile * 4 * TILE + lane * 16;
      storeBytes(p, w, 16, 16, isAligned(p, 0, 16));
    }
  }
}

//===----------------------------------------------------------------------===//
// The jobs of a warp
//===----------------------------------------------------------------------===//

/// Begins to bring the first elements of job number n, if there is one and they
/// are brought ahead.
GQ_DEV void bringJob(const Op *o, uint32_t n) {
  if (bringsAhead(o) && hasJob(n) && (makes(o) || !hasFewRows(o, warpJob(n))))
    bring(o, warpJob(n), 0);
}

/// Has the rows of job number n brought to L2, if it has few: while a warp does
/// such a job, it would have nothing under way. Of more rows it is slower.
GQ_DEV void prefetchFewRows(const Op *o, uint32_t n) {
  enum { LINE = 128 };
  const Job GQ_SHARED *job = warpJob(n);
  uint32_t lane = gq_dev_here(gq_dev_thread()) % GQ_DEV_WARP;
  uint32_t size = (uint32_t)gqElementTypeSize(o->heldType);
  uint32_t lines = TILE * size / LINE, column = lane % lines * (LINE / size);
  if (hasJob(n) && !o->gathers && hasFewRows(o, job) &&
      lane / lines < job->rows && column < job->columns)
    gq_dev_prefetch(inputAt(o, job, job->inputRow + lane / lines, column));
}

/// Elements of job number n and a pass, once and in order. Begins to bring the
/// next ones, where they are brought ahead.
GQ_DEV Held takeElementsOfWarp(const Op *o, uint32_t n, uint32_t pass) {
  const Job GQ_SHARED *job = warpJob(n);
  Held held = takeLane(o, job, pass);
  if (!bringsAhead(o))
    return held;
  if ((pass + 1) * rowsOfWarp(o) >= job->rows)
    bringJob(o, n + 1);
  else
    bring(o, job, pass + 1);
  return held;
}

/// Finds the scales of a job's long blocks. Returns the elements of its first
/// pass, if it has one; the others will be loaded once more. All lanes take
/// part.
GQ_DEV Held scaleJobAlone(const Op *o, const Job GQ_SHARED *job,
                          uint32_t warp) {
  Held held = {{{0}}};
  uint32_t passes = passesOf(o, job);
#pragma clang loop unroll(disable)
  for (uint32_t pass = passes; pass-- > 0;) {
    held = loadLane(o, job, pass);
    measurePassAlone(o, placeOfLane(o, job, pass), warp, pass == passes - 1,
                     &held);
  }
  gq_dev_warp_barrier();
  scaleLongBlocksAlone(o, job, warp, passes * rowsOfWarp(o));
  gq_dev_warp_barrier();
  return held;
}

/// Quantizes the warp's job number n. All lanes take part.
GQ_DEV void quantizeWarpJob(const Op *o, uint32_t n) {
  const Job GQ_SHARED *job = warpJob(n);
  uint32_t warp = thisWarp(), rows = rowsOfWarp(o);
  // What a producer makes is few rows in the loop, so that its code is there
  // once.
  bool few = hasFewRows(o, job), loadsFew = few && !makes(o);
  bool suitable = few || areSuitable(o, job, placeOfLane(o, job, 0));
  if (o->hasAmax) {
    if (gq_dev_is_first_lane())
      *jobAmaxOf(o, warp) = 0;
    gq_dev_warp_barrier();
  }
  if (loadsFew) {
    prefetchFewRows(o, n + 1);
    bringJob(o, n + 1);
    quantizeFewRows(o, job, warp);
    gq_dev_warp_barrier();
    storeRowsOfWarp(o, job, warp, 0, FEW_ROWS);
  }
  Held held;
  if (hasLongBlocks(o) && !few)
    held = scaleJobAlone(o, job, warp);
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; !loadsFew && pass < passesOf(o, job); ++pass) {
    uint32_t first = pass * rows, below = first + rows;
    if (!hasLongBlocks(o))
      held = takeElementsOfWarp(o, n, pass);
    Place place = placeOfLane(o, job, pass);
    if (hasLongBlocks(o)) {
      convertLongBlocks(o, job, pass, warp, &held);
      if (below < job->rows)
        held = loadLane(o, job, pass + 1);
    } else if (few)
      quantizeFewRows(o, job, warp);
    else if (isTall(o))
      quantizeTall(o, job, pass, warp, &held, suitable);
    else if (takesTurns(o))
      quantizeInTurn(o, job, place, warp, &held);
    else
      quantizeAtOnce(o, job, place, warp, &held, suitable);
    uint32_t top = firstCollected(o, job, first);
    if (below < job->rows && firstCollected(o, job, below) == top)
      continue;
    gq_dev_warp_barrier();
    storeRowsOfWarp(o, job, warp, top, few ? FEW_ROWS : below - top);
  }
  if (!hasLongBlocks(o))
    storeScalesOfWarp(o, job, warp, few ? FEW_ROWS : passesOf(o, job) * rows);
  if (o->hasAmax && gq_dev_is_first_lane())
    partial.amax[numberOf(warp, n)] = gq_dev_f32_from_bits(*jobAmaxOf(o, warp));
  gq_dev_warp_barrier();
}

/// All jobs of the warp.
GQ_DEV void quantizeWarpJobs(const Op *o, const Plan *plan) {
  beginWarpJobs(o, plan);
  bringJob(o, 0);
  for (uint32_t n = 0; hasJob(n); ++n) {
    quantizeWarpJob(o, n);
    findMoreJobsOfWarp(o, n);
  }
}

#endif // GQ_KERNELS_KERNELS_TILES_ALONE_H
