//===- QuantizeTiles.c - the kernel of whole tiles ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job is a tile of 128 rows of a group by 128 columns. Of either direction
// such a tile has whole 512-byte tiles of scales, so that it owns the bytes it
// writes, padding included. CTAs take the jobs in turn, so that the grid moves
// through the matrix as a whole, some rows of tiles at a time.
//
// Each of four warps has a quarter of a job, in one pass or two, and a lane 16
// columns of 8 or, of 32-bit elements, 4 consecutive rows, which it holds in
// registers: 4 by 8 lanes are 64 columns and the rows of a pass. (If there are
// two passes and no more than 64 rows, all warps are at those.) While they work
// on these, the next ones are being copied to shared memory. The lanes of a
// block agree on its scale, so that an element is unpacked once for both
// directions, and codes leave in whole sectors without being moved between
// lanes. What does not is collected in shared memory until the job's one
// barrier: scales, which leave in whole tiles, and transposed codes of 4 bits.
//
// Where these are collected, there is no room to copy elements ahead, and most
// is arithmetic. There a lane has 8 columns of 8 rows and shares the rows with
// the one beside it, in two passes: half the code, which fits into the cache of
// instructions, and registers for four CTAs. Rows of 4-bit codes alone are not
// copied ahead either: four CTAs that load directly are faster than three.
//
// Of blocks of 128, warps have parts only: between two barriers the CTA agrees
// on their scales.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/tiles/LongBlocks.h"

/// What CTA 0 knows of all groups: the scale offsets, the first jobs.
GQ_DEV void publishGroups(const Op *o, const Plan *plan) {
  uint32_t thread = gq_dev_thread(), begin = thread * plan->share;
  Sums sums;
  for (int i = 0; i < NUM_SUMS; ++i)
    sums.of[i] = needsSum(o, i) ? table[i][thread] : 0;
  for (uint32_t e = begin; e < begin + plan->share && e < o->groups; ++e) {
    if (o->givesScaleOffsets)
      gq_dev_store_index(o->scaleOffsetsOut, o->allGroups.wide, e,
                         sums.of[SUM_SCALES]);
    if (o->hasAmax || o->hasDbias)
      o->partial.firstJobs[e] = min32(sums.of[SUM_JOBS], plan->groupJobs);
    sums = addSums(o, sums, sumsOf(o, usedGroup(o, e)));
  }
  if ((o->hasAmax || o->hasDbias) && thread == 0)
    o->partial.firstJobs[o->groups] = plan->groupJobs;
}

/// What is known before jobs are done and needed between them, out of the way
/// of what they hold. Volatile, or it would be read again ahead of them.
static volatile GQ_SHARED struct {
  Plan plan;
  uint32_t numCtas;
  /// The jobs of the CTA.
  uint32_t jobs;
  float GQ_GLOBAL *amax, *sums;
} kept GQ_UNINITIALIZED;

/// Stores what the CTA has collected of its job number n before a barrier. All
/// threads take part.
GQ_DEV void finishJob(const Op *o, uint32_t n) {
  const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
  uint32_t thread = gq_dev_here(gq_dev_thread()), parity = n % 2;
  if (o->rowwise && !hasLongBlocks(o))
    storeScales(o, job->scales, job->scalesPitch, job->rows, job->scaleBytes,
                rowScales[parity], thread);
  if (o->columnwise && !hasLongBlocks(o))
    storeScales(o, job->columnwiseScales, job->columnwiseScalesPitch,
                job->columns, job->columnwiseScaleBytes, columnScales[parity],
                thread ^ THREADS / 2);
  if (collectsColumns(o))
    storeColumns(job, parity, thread);
  if (o->hasDbias && job->group >= 0 && thread < job->columns)
    kept.sums[job->sumsRow * o->columns + job->sumsColumn + thread] =
        columnSums[parity][0][thread] + columnSums[parity][1][thread];
  if (o->hasAmax && thread == 0)
    kept.amax[gq_dev_here(gq_dev_cta()) + n * kept.numCtas] =
        gq_dev_f32_from_bits(jobAmax[parity]);
  if ((o->hasAmax || o->traits.blockRows > 1) && thread == 0)
    jobAmax[parity] = 0;
}

/// Elements of job number n and a pass, once and in order. Begins to copy the
/// next ones, where they are copied.
GQ_DEV Held takeElements(const Op *o, uint32_t n, uint32_t pass) {
  if (!stages(o))
    return loadLane(o, &jobs[n % (2 * BATCH)], pass);
  Held held = takeStaged(o, placeOfLane(o, &jobs[n % (2 * BATCH)], pass));
  bool last = pass + 1 == numPasses(o);
  if (!last || n + 1 < kept.jobs)
    stage(o, &jobs[(n + last) % (2 * BATCH)], last ? 0 : pass + 1);
  return held;
}

/// Quantizes the CTA's job number n and finishes the one before it.
GQ_DEV void quantizeJob(const Op *o, const Job GQ_SHARED *job, uint32_t n) {
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
    Held held = takeElements(o, n, pass);
    if (pass == 0 && n > 0) {
      gq_dev_barrier();
      finishJob(o, n - 1);
    }
    if (hasElements(o, job, pass))
      quantizeLane(o, job, pass, n % 2, &held);
    else
      skipLane(o, job, pass, n % 2);
  }
}

/// The same of blocks as long as a job. What a lane does not hold is loaded
/// twice.
GQ_DEV void quantizeLongBlocks(const Op *o, const Job GQ_SHARED *job,
                               uint32_t n) {
  Held held;
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
    held = takeElements(o, n, pass);
    measureLane(o, job, pass, n % 2, &held);
  }
  gq_dev_barrier();
  if (n > 0)
    finishJob(o, n - 1);
  scaleLongBlocks(o, job, n % 2);
  gq_dev_barrier();
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
    if (numPasses(o) > 1)
      held = loadLane(o, job, pass);
    convertLongBlocks(o, job, pass, n % 2, &held);
  }
}

GQ_DEV void quantizeJobs(const Op *o, const Plan *plan) {
  if (gq_dev_thread() == 0) {
    uint32_t more = plan->jobs + gq_dev_num_ctas() - 1;
    kept.numCtas = gq_dev_num_ctas();
    kept.jobs = (more - gq_dev_cta()) / gq_dev_num_ctas();
    kept.plan.share = plan->share;
    kept.plan.groupJobs = plan->groupJobs;
    kept.plan.jobs = plan->jobs;
    kept.plan.rowsBefore = plan->rowsBefore;
    kept.plan.firstRowAfter = plan->firstRowAfter;
    kept.amax = o->partial.amax;
    kept.sums = o->partial.sums;
  }
  if (gq_dev_thread() < 2)
    jobAmax[gq_dev_thread()] = 0;
  if (gq_dev_thread() < 2 * BATCH)
    findJobs(o, plan, gq_dev_num_ctas(), gq_dev_thread() / BATCH * BATCH);
  gq_dev_barrier();

  uint32_t n = 0;
  if (stages(o) && kept.jobs > 0)
    stage(o, &jobs[0], 0);
  for (; n < kept.jobs; ++n) {
    const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
    if (hasLongBlocks(o))
      quantizeLongBlocks(o, job, n);
    else
      quantizeJob(o, job, n);
    // In place of jobs that all warps are done with.
    if (n % BATCH == BATCH / 2 && n > BATCH && gq_dev_thread() < BATCH) {
      const Plan again = {
          .share = kept.plan.share,
          .groupJobs = kept.plan.groupJobs,
          .jobs = kept.plan.jobs,
          .rowsBefore = kept.plan.rowsBefore,
          .firstRowAfter = kept.plan.firstRowAfter,
      };
      findJobs(o, &again, kept.numCtas, n + BATCH / 2);
    }
  }
  gq_dev_barrier();
  if (n > 0)
    finishJob(o, n - 1);
}

GQ_DEV_KERNEL void
gq_dev_quantize_tiles(GQ_DEV_PARAMETERS(GQ_QUANTIZE_TILES_OPERANDS)) {
  Op op = {
      GQ_DEV_INITIALIZERS(GQ_QUANTIZE_TILES_OPERANDS),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
      .partial = workspaceAt(workspace, rows, columns, groups, parts),
      .traits = gqFormatGetTraits((gqFormat)format),
      .rowwise = parts & GQ_DEV_ROWWISE,
      .columnwise = parts & GQ_DEV_COLUMNWISE,
      .hasAmax = parts & GQ_DEV_AMAX,
      .hasDbias = parts & GQ_DEV_DBIAS,
      .ragged = parts & GQ_DEV_RAGGED,
      .givesScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS_OUT,
      .tiled = scaleLayout == GQ_SCALE_LAYOUT_TILE128X4,
      .allRows = rowsMode == GQ_ROWS_ALL,
  };
  op.allGroups = (gq_dev_groups){
      .offsets = offsets,
      .scaleOffsets = scaleOffsets,
      .firstDims = firstDims,
      .lastDims = lastDims,
      .numOffsets = (uint32_t)numOffsets,
      .numGroups = (uint32_t)groups,
      .numRows = rows,
      .numColumns = columns,
      .scaleRows =
          (int64_t)((uint64_t)scalesSize / (uint64_t)scaleWidth(&op, columns)),
      .wide = offsetBits == 64,
      .hasScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS && !op.ragged,
      .ragged = op.ragged,
      .columnUnit = op.rowwise || op.traits.blockRows > 1
                        ? op.traits.blockColumns
                        : GQ_DEV_UNIT,
  };
  Plan plan = makePlan(&op);
  if (sharedFaults && gq_dev_cta() == 0 && gq_dev_thread() == 0)
    gq_dev_atomic_or(status, sharedFaults);
  if (gq_dev_cta() == 0)
    publishGroups(&op, &plan);
  quantizeJobs(&op, &plan);
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}

//===----------------------------------------------------------------------===//
// The second kernel: adds up what the jobs left
//===----------------------------------------------------------------------===//

/// The sum of every `step`-th of the numbers [begin, end) of `p`, `pitch`
/// apart.
GQ_DEV float sumEvery(const float GQ_GLOBAL *p, int64_t pitch, uint32_t begin,
                      uint32_t end, uint32_t step) {
  float sum = 0.0f;
#pragma clang loop unroll_count(8)
  for (uint32_t i = begin; i < end; i += step)
    sum += p[i * pitch];
  return sum;
}

/// The sum of a column of a group: of every fourth tile, then of these four,
/// each of which one warp adds up if warps share a column. All threads take
/// part.
GQ_DEV float sumColumn(const float GQ_GLOBAL *p, int64_t pitch, uint32_t begin,
                       uint32_t end, bool shares) {
  float sums[WARPS] = {0.0f};
  if (shares) {
    uint32_t thread = gq_dev_thread();
    gq_dev_barrier(); // Others may still read those of a column before.
    columnSums[0][0][thread] =
        sumEvery(p, pitch, begin + thread / GQ_DEV_WARP, end, WARPS);
    gq_dev_barrier();
    for (uint32_t i = 0; i < WARPS; ++i)
      sums[i] = columnSums[0][0][i * GQ_DEV_WARP + gq_dev_lane()];
  } else {
    uint32_t whole = begin + (end - begin) / WARPS * WARPS;
#pragma clang loop unroll_count(4)
    for (uint32_t tile = begin; tile < whole; tile += WARPS)
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < WARPS; ++i)
        sums[i] += p[(tile + i) * pitch];
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < WARPS - 1; ++i)
      if (whole + i < end)
        sums[i] += p[(whole + i) * pitch];
  }
  float sum = sums[0];
#pragma clang loop unroll(full)
  for (uint32_t i = 1; i < WARPS; ++i)
    sum += sums[i];
  return sum;
}

/// The sums of the columns of a CTA's `part` of a group, where so many warps
/// share a column. All threads take part.
GQ_DEV void reduceSums(const Workspace *workspace, int64_t columns, uint32_t e,
                       uint32_t part, uint32_t warps, void GQ_GLOBAL *dbias,
                       gqElementType type) {
  uint32_t thread = gq_dev_thread(), width = THREADS / warps;
  uint32_t column = part * width + thread % width,
           columnTiles = (uint32_t)numTiles(columns);
  bool has = column < columns;
  uint32_t begin = workspace->firstJobs[e] / columnTiles;
  uint32_t end = workspace->firstJobs[e + 1] / columnTiles;
  float sum = sumColumn(workspace->sums + column, columns, begin,
                        has ? end : begin, warps > 1);
  if (!has || thread >= width)
    return;
  int64_t at = e * columns + column;
  if (type == GQ_F32)
    ((float GQ_GLOBAL *)dbias)[at] = sum;
  else
    ((uint16_t GQ_GLOBAL *)dbias)[at] =
        type == GQ_BF16 ? gq_dev_bf16_from_f32(sum) : gq_dev_f16_from_f32(sum);
}

/// The largest magnitude of a group. All threads take part.
GQ_DEV void reduceAmax(const Workspace *workspace, uint32_t e,
                       float GQ_GLOBAL *amax) {
  uint32_t thread = gq_dev_thread();
  if (thread == 0)
    jobAmax[0] = 0;
  gq_dev_barrier();
  float max = 0.0f;
#pragma clang loop unroll_count(8)
  for (uint32_t job = workspace->firstJobs[e] + thread;
       job < workspace->firstJobs[e + 1]; job += THREADS)
    max = gq_dev_max_number(max, workspace->amax[job]);
  uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(max));
  if (gq_dev_lane() == 0)
    gq_dev_atomic_max_shared(&jobAmax[0], bits);
  gq_dev_barrier();
  if (thread == 0)
    amax[e] = gq_dev_f32_from_bits(jobAmax[0]);
}

GQ_DEV_KERNEL void
gq_dev_reduce_tiles(GQ_DEV_PARAMETERS(GQ_REDUCE_TILES_OPERANDS)) {
  Workspace w = workspaceAt(workspace, rows, columns, groups, parts);
  uint32_t warps = gq_dev_reduce_tiles_warps(rows, groups);
  uint32_t perGroup = gq_dev_reduce_tiles_ctas(columns, warps, parts);
  uint32_t all = (uint32_t)(groups * perGroup);
  for (uint32_t i = gq_dev_cta(); i < all; i += gq_dev_num_ctas()) {
    uint32_t e = i / perGroup, part = i % perGroup;
    if ((parts & GQ_DEV_AMAX) && part == perGroup - 1)
      reduceAmax(&w, e, amax);
    else
      reduceSums(&w, columns, e, part, warps, dbias, (gqElementType)dbiasType);
  }
}
