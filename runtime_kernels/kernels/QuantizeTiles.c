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
// registers: 4 by 8 lanes are 64 columns and the rows of a pass or, of 4 bits,
// 8 by 4 lanes all columns of fewer rows (hasWideWarps). (If there are two
// passes and no more than 64 rows, all warps are at those.) While they work on
// these, the next ones are being copied to shared memory. The lanes of a block
// agree on its scale, so that an element is unpacked once for both directions,
// and codes leave in whole sectors without being moved between lanes. What does
// not is collected in shared memory until the job's one barrier: scales, which
// leave in whole tiles, and transposed codes of 4 bits.
//
// Where these are collected, there is no room to copy elements ahead, and most
// of the work is arithmetic. There a lane has 8 columns of 8 rows and shares
// the rows with its neighbour, in two passes: half the code, which fits into
// the instruction cache, and registers for four CTAs. Tall lanes have 4 columns
// of 16 rows (Tall.h), which they copy ahead unless four CTAs fit in both
// directions. Rows of 4-bit codes alone are not: four CTAs that load directly
// are faster than three.
//
// Warps have only parts of blocks of 128: between two barriers the CTA agrees
// on their scales.
//
// Where groups have few rows on average, which a launch knows, the kernel is
// another one: each warp does jobs of its own (Alone.h).
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/tiles/Alone.h"
#include "runtime_kernels/kernels/tiles/LongBlocks.h"

/// Stores what the CTA has collected of its job number n before a barrier. All
/// threads take part.
GQ_DEV void finishJob(const Op *o, uint32_t n) {
  const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
  uint32_t thread = gq_dev_here(gq_dev_thread()), parity = n % 2;
  if (o->rowwise.exists && hasScales(&o->rowwise) && !hasLongBlocks(o))
    storeScales(&o->rowwise, &job->rowwise, job->rows, rowScales[parity],
                thread);
  if (o->columnwise.exists && hasScales(&o->columnwise) && !hasLongBlocks(o))
    storeScales(&o->columnwise, &job->columnwise, job->columns,
                columnScales[parity], thread ^ THREADS / 2);
  if (collectsColumns(o))
    storeColumns(o, job, parity, thread);
  if (o->hasDbias && isInGroup(o, job->group) && thread < job->columns)
    storeJobSum(o, job, thread, sumOfPasses(o, parity, TILE, thread));
  if (o->hasAmax && thread == 0)
    partial.amax[gq_dev_here(gq_dev_cta()) + n * keptLoop.numCtas] =
        gq_dev_f32_from_bits(jobAmax[parity]);
  if ((o->hasAmax || isSquare(&o->rowwise)) && thread == 0)
    jobAmax[parity] = 0;
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
      if (isTall(o))
        quantizeTall(o, job, pass, n % 2, &held,
                     areSuitable(o, job, placeOfLane(o, job, pass)));
      else
        quantizeLane(o, job, pass, n % 2, &held);
    else
      skipLane(o, job, pass, n % 2);
  }
}

/// The same for blocks as long as a job. What a lane does not hold is loaded
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

/// What is known to all threads after a barrier.
GQ_DEV void share(const Op *o) {
  if (gq_dev_thread() == 0) {
    sharedAtOnce = canStoreAtOnce(o);
    partial.amax = o->partial.amax;
  }
  if (roundsStochastically(o))
    gq_dev_share_rng(o->rngState);
}

GQ_DEV void quantizeJobs(const Op *o, const Plan *plan) {
  if (gq_dev_thread() < 2)
    jobAmax[gq_dev_thread()] = 0;
  beginJobs(o, plan);
  uint32_t n = 0;
  for (; n < keptLoop.jobs; ++n) {
    const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
    if (hasLongBlocks(o))
      quantizeLongBlocks(o, job, n);
    else
      quantizeJob(o, job, n);
    findMoreJobs(o, n);
  }
  gq_dev_barrier();
  if (n > 0)
    finishJob(o, n - 1);
}

/// Stores the inverses of scales that are given. All threads of a CTA take
/// part.
GQ_DEV void publishInverses(const Op *o) {
  for (uint32_t e = gq_dev_thread(); e < o->groups; e += THREADS)
    o->scaleInv[e] = outerOfGroup(o, &o->rowwise, (int32_t)e,
                                  loadOuter(o, &o->rowwise, (int32_t)e))
                         .inverse;
}

/// Direction `exists`; its addresses and sizes are set later. It is not
/// returned: of a struct in a returned one LLVM sees no constants before
/// InstCombine.
GQ_DEV void setDirection(Direction *direction, bool exists, gqFormat format,
                         gqRecipe recipe, gqScaleLayout layout,
                         gqOuterKind outerKind, int32_t traits,
                         gqElementType heldType) {
  gqDirectionTraits how = gqDirectionUnpack(traits);
  bool halves = heldType == GQ_F16 && how.transform != GQ_TRANSFORM_NONE;
  *direction = (Direction){
      .exists = exists,
      .traits = gqFormatGetTraits(format),
      .scaler = {.format = format,
                 .recipe = recipe,
                 .hasOuter = outerKind != GQ_OUTER_NONE,
                 .way = gq_dev_e2m1_way_in_steps()},
      .how = how,
      .heldType = halves ? GQ_BF16 : heldType,
      .outerKind = outerKind,
      .tiled = layout == GQ_SCALE_LAYOUT_TILE128X4,
  };
}

/// `alone`: warps do jobs alone, of which Launch.h says what there is; saying
/// it here again keeps the rest out of the bitcode. `of` is `format`.
GQ_DEV void quantizeTiles(bool alone, gqFormat of,
                          GQ_DEV_PARAMETERS(GQ_QUANTIZE_TILES_OPERANDS)) {
  if (gq_dev_is_noop(noopFlag))
    return;
  format = (int32_t)of;
  Op op = {
      GQ_DEV_INITIALIZERS(GQ_QUANTIZE_TILES_OPERANDS),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
      .partial = workspaceAt(workspace, rows, columns, groups, parts),
      .hasAmax = parts & GQ_DEV_AMAX,
      .hasDbias = parts & GQ_DEV_DBIAS,
      .ragged = parts & GQ_DEV_RAGGED,
      .givesScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS_OUT,
      .givesScaleInverses = parts & GQ_DEV_SCALE_INVERSES,
      .allRows = rowsMode == GQ_ROWS_ALL && parts & GQ_DEV_ROWWISE &&
                 !(parts & GQ_DEV_RAGGED),
      .unusual = parts & GQ_DEV_UNUSUAL,
      .alone = alone,
  };
  setDirection(&op.rowwise, parts & GQ_DEV_ROWWISE, of, recipe, scaleLayout,
               outerKind, rowwiseTraits, heldType);
  setDirection(&op.columnwise, parts & GQ_DEV_COLUMNWISE, of, recipe,
               scaleLayout, columnwiseOuterKind, columnwiseTraits, heldType);
  op.rowwise.outer = outer;
  op.rowwise.data = data;
  op.rowwise.dataStride = dataStride;
  op.rowwise.scales = scales;
  op.rowwise.scalesStride = scalesStride;
  op.rowwise.scalesSize = scalesSize;
  op.columnwise.outer = columnwiseOuter;
  op.columnwise.transposes =
      op.columnwise.exists && op.columnwise.traits.transposes;
  op.columnwise.data = columnwiseData;
  op.columnwise.dataStride = columnwiseDataStride;
  op.columnwise.dataSize = columnwiseDataSize;
  op.columnwise.scales = columnwiseScales;
  op.columnwise.scalesSize = columnwiseScalesSize;
  op.allGroups = (gq_dev_groups){
      .offsets = offsets,
      .scaleOffsets = scaleOffsets,
      .firstDims = firstDims,
      .lastDims = lastDims,
      .numOffsets = (uint32_t)numOffsets,
      .numGroups = (uint32_t)groups,
      .numRows = rows,
      .numColumns = columns,
      .scaleRows = (int64_t)((uint64_t)scalesSize /
                             (uint64_t)scaleWidth(&op.rowwise, columns)),
      .wide = offsetBits == 64,
      .hasScaleOffsets = parts & GQ_DEV_SCALE_OFFSETS && !op.ragged,
      .ragged = op.ragged,
      .columnUnit = op.rowwise.exists || isSquare(&op.columnwise)
                        ? op.columnwise.traits.blockColumns
                        : GQ_DEV_UNIT,
  };
  op.isWide = hasWideWarps(&op);
  op.sums = placeOfSums(&op);
  op.collectedRows = collectedRowsOf(&op);
  Plan plan = makePlan(&op);
  if (sharedFaults && gq_dev_cta() == 0 && gq_dev_thread() == 0)
    gq_dev_atomic_or(status, sharedFaults);
  if (gq_dev_cta() == 0)
    publishGroups(&op, &plan);
  if (op.givesScaleInverses && gq_dev_cta() == 0)
    publishInverses(&op);
  share(&op);
  if (!op.alone)
    quantizeJobs(&op, &plan);
  else
    quantizeWarpJobs(&op, &plan);
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}

// With blocks of several rows, of which no warp has all, warps do not work
// alone.
#define QUANTIZE_TILES(VALUE, FORMAT, ...)                                     \
  GQ_DEV_KERNEL GQ_QUANTIZE_TILES_OF(FORMAT) {                                 \
    quantizeTiles(false, GQ_FORMAT_##FORMAT,                                   \
                  GQ_DEV_ARGUMENTS(GQ_QUANTIZE_TILES_OPERANDS));               \
  }                                                                            \
  GQ_DEV_KERNEL GQ_QUANTIZE_SMALL_GROUPS_OF(FORMAT) {                          \
    if (gqFormatGetTraits(GQ_FORMAT_##FORMAT).blockRows == 1)                  \
      quantizeTiles(true, GQ_FORMAT_##FORMAT,                                  \
                    GQ_DEV_ARGUMENTS(GQ_QUANTIZE_SMALL_GROUPS_OPERANDS));      \
  }
GQ_ALL_FORMATS(QUANTIZE_TILES)
