//===- Plan.h - what the groups of an op add up to ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CTA first sums up the groups, which says how many jobs there are before
// each and where its outputs begin. All CTAs of a multiprocessor do so at the
// same time, so that what counts is how many instructions it is.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_PLAN_H
#define GQ_KERNELS_KERNELS_TILES_PLAN_H

#include "runtime_kernels/arch/Scan.h"
#include "runtime_kernels/kernels/tiles/Op.h"

/// What is summed up over the groups.
enum {
  SUM_JOBS,
  /// Rows of the scale buffer or, if ragged, scales.
  SUM_SCALES,
  /// Elements of the transposed data.
  SUM_COLUMNWISE_DATA,
  SUM_COLUMNWISE_SCALES,
  NUM_SUMS
};

typedef struct Sums {
  int64_t of[NUM_SUMS];
} Sums;

/// Whether a sum is looked at; a constant.
GQ_DEV bool needsSum(const Op *o, int sum) {
  switch (sum) {
  case SUM_JOBS:
    return true;
  case SUM_SCALES:
    return o->givesScaleOffsets || (o->rowwise.exists && hasPackedScales(o));
  case SUM_COLUMNWISE_DATA:
    return o->columnwise.transposes;
  default:
    return o->columnwise.exists && hasScales(&o->columnwise);
  }
}

/// What sums are made of, unless ragged: of rows only, so that 32 bits suffice
/// for all groups that do not overlap. Counts are at most UINT32_MAX.
enum {
  COUNT_TILES,
  /// Units of 32 rows.
  COUNT_UNITS,
  /// Scales along a column.
  COUNT_COLUMNWISE_SCALES,
  NUM_COUNTS
};

typedef struct Counts {
  uint32_t of[NUM_COUNTS];
} Counts;

/// Whether a count is looked at; a constant.
GQ_DEV bool needsCount(const Op *o, int count) {
  return !o->ragged &&
         (count == COUNT_TILES ||
          (count == COUNT_UNITS ? needsSum(o, SUM_COLUMNWISE_DATA)
                                : needsSum(o, SUM_COLUMNWISE_SCALES)));
}

GQ_DEV Counts countsOf(const Op *o, int64_t rows) {
  return (Counts){{
      min32(numTiles(rows), UINT32_MAX),
      min32(numOf(rows, 32), UINT32_MAX),
      min32(scaleWidth(&o->columnwise, paddedRows(rows)), UINT32_MAX),
  }};
}

/// The sums of groups that have these counts.
GQ_DEV Sums sumsOfCounts(const Op *o, Counts counts) {
  int64_t tiles = counts.of[COUNT_TILES];
  return (Sums){{
      tiles * numTiles(o->columns),
      isSquare(&o->rowwise) ? tiles : tiles * TILE,
      (int64_t)counts.of[COUNT_UNITS] * 32 * o->columns,
      scaleHeight(&o->columnwise, o->columns) *
          counts.of[COUNT_COLUMNWISE_SCALES],
  }};
}

GQ_DEV Sums sumsOf(const Op *o, gq_dev_group group) {
  if (!o->ragged)
    return sumsOfCounts(o, countsOf(o, group.rows));
  return (Sums){{
      numTiles(group.rows) * numTiles(group.columns),
      numScales(&o->rowwise, group.rows, group.columns),
      group.columns * paddedRows(group.rows),
      numScales(&o->columnwise, group.columns, paddedRows(group.rows)),
  }};
}

GQ_DEV Sums addSums(const Op *o, Sums a, Sums b) {
  for (int i = 0; i < NUM_SUMS; ++i)
    a.of[i] = needsSum(o, i) ? a.of[i] + b.of[i] : 0;
  return a;
}

/// The same of counts or, if ragged, of sums.
typedef struct Extent {
  Counts counts;
  Sums sums;
} Extent;

GQ_DEV Extent addExtents(const Op *o, Extent a, Extent b) {
  for (int i = 0; i < NUM_COUNTS; ++i)
    a.counts.of[i] = needsCount(o, i)
                         ? gq_dev_add_bounded(a.counts.of[i], b.counts.of[i])
                         : 0;
  a.sums = addSums(o, a.sums, b.sums);
  return a;
}

GQ_DEV Extent extentOf(const Op *o, gq_dev_group group) {
  Extent extent = {{{0}}, {{0}}};
  if (o->ragged)
    extent.sums = sumsOf(o, group);
  else
    extent.counts = countsOf(o, group.rows);
  return extent;
}

/// An extent in shared memory: as much of it as there is.
GQ_DEV void keepExtent(const Op *o, Extent GQ_SHARED *to, Extent extent) {
  for (int i = 0; i < NUM_COUNTS; ++i)
    if (needsCount(o, i))
      to->counts.of[i] = extent.counts.of[i];
  for (int i = 0; i < NUM_SUMS; ++i)
    if (o->ragged && needsSum(o, i))
      to->sums.of[i] = extent.sums.of[i];
}
GQ_DEV Extent keptExtent(const Op *o, const Extent GQ_SHARED *from) {
  Extent extent = {{{0}}, {{0}}};
  for (int i = 0; i < NUM_COUNTS; ++i)
    if (needsCount(o, i))
      extent.counts.of[i] = from->counts.of[i];
  for (int i = 0; i < NUM_SUMS; ++i)
    if (o->ragged && needsSum(o, i))
      extent.sums.of[i] = from->sums.of[i];
  return extent;
}

/// The extent of all lower lanes'.
GQ_DEV Extent extentBelow(const Op *o, Extent extent) {
  uint32_t lane = gq_dev_lane();
  Extent below = {{{0}}, {{0}}};
  if (o->ragged) {
    for (int i = 0; i < NUM_SUMS; ++i)
      below.sums.of[i] =
          needsSum(o, i) ? gq_dev_scan64(extent.sums.of[i]) - extent.sums.of[i]
                         : 0;
    return below;
  }
  for (int i = 0; i < NUM_COUNTS; ++i)
    if (needsCount(o, i)) {
      uint32_t scanned = gq_dev_scan_bounded(extent.counts.of[i]);
      uint32_t lower = gq_dev_shuffle(scanned, lane ? lane - 1 : 0);
      below.counts.of[i] = lane ? lower : 0;
    }
  return below;
}

GQ_DEV Sums sumsOfExtent(const Op *o, Extent extent) {
  return o->ragged ? extent.sums : sumsOfCounts(o, extent.counts);
}

/// Whether groups overlap so much that they cannot be counted.
GQ_DEV bool isTooMuch(const Op *o, Extent extent) {
  bool much = false;
  for (int i = 0; i < NUM_COUNTS; ++i)
    much |= needsCount(o, i) && extent.counts.of[i] == UINT32_MAX;
  return much;
}

/// The sums of all groups before those of each thread, which has `share`
/// consecutive ones, and the extents of warps.
static GQ_SHARED int64_t table[NUM_SUMS][THREADS] GQ_UNINITIALIZED;
static GQ_SHARED Extent ofWarps[WARPS] GQ_UNINITIALIZED;
/// GQ_DEV_STATUS_ bits. Without any, no group needs to be checked again.
static GQ_SHARED uint32_t sharedFaults GQ_UNINITIALIZED;
/// Whether jobs of groups are left out, and the complement of the number of
/// those that are done.
static GQ_SHARED uint32_t leavesOut GQ_UNINITIALIZED;
static GQ_SHARED uint32_t jobsLeftOut GQ_UNINITIALIZED;

/// The groups as the CTA knows them, and the rows of none before and after.
typedef struct Plan {
  uint32_t share;
  /// Jobs of groups, and all.
  uint32_t groupJobs, jobs;
  int64_t rowsBefore, firstRowAfter;
} Plan;

/// The plan, kept out of registers while jobs are done. Volatile, or it would
/// be read ahead of them again.
static volatile GQ_SHARED Plan kept GQ_UNINITIALIZED;
GQ_DEV void keepPlan(Plan plan) {
  kept.share = plan.share;
  kept.groupJobs = plan.groupJobs;
  kept.jobs = plan.jobs;
  kept.rowsBefore = plan.rowsBefore;
  kept.firstRowAfter = plan.firstRowAfter;
}
GQ_DEV Plan keptPlan(void) {
  return (Plan){
      .share = kept.share,
      .groupJobs = kept.groupJobs,
      .jobs = kept.jobs,
      .rowsBefore = kept.rowsBefore,
      .firstRowAfter = kept.firstRowAfter,
  };
}

/// Tiles of rows in no group that are quantized.
GQ_DEV int64_t rowTilesOfNone(const Op *o, const Plan *plan) {
  return o->allRows ? numTiles(plan->rowsBefore) +
                          numTiles(o->rows - plan->firstRowAfter)
                    : 0;
}

/// Not even groups that overlap make more jobs than the workspace has room for.
GQ_DEV int64_t mostJobs(const Op *o, const Plan *plan) {
  int64_t none = rowTilesOfNone(o, plan);
  return gq_dev_tiles_jobs(o->rows, o->columns, o->groups) -
         (none < 2 ? 2 : none) * numTiles(o->columns);
}

/// Sets the jobs of groups, and all.
GQ_DEV void setJobs(const Op *o, Plan *plan, uint32_t groupJobs) {
  plan->groupJobs = groupJobs;
  plan->jobs =
      groupJobs + (uint32_t)(rowTilesOfNone(o, plan) * numTiles(o->columns));
}

/// Group e, of no rows if it is skipped by itself. Once it is known whether any
/// group has a fault.
GQ_DEV gq_dev_group usedGroup(const Op *o, uint32_t e) {
  gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
  if (__builtin_expect(sharedFaults != 0, 0))
    gq_dev_check_group(&o->allGroups, e, &group);
  return group;
}

/// Whether so much fits into the outputs where groups follow each other.
GQ_DEV bool fitsOutputs(const Op *o, Sums sums) {
  int64_t scales = sums.of[SUM_SCALES];
  if (!o->ragged)
    scales *= scaleWidth(&o->rowwise, o->columns);
  return (!o->rowwise.exists || !needsSum(o, SUM_SCALES) ||
          scales <= o->rowwise.scalesSize) &&
         (!o->columnwise.transposes ||
          dataBytes(&o->columnwise, sums.of[SUM_COLUMNWISE_DATA]) <=
              o->columnwise.dataSize) &&
         (!needsSum(o, SUM_COLUMNWISE_SCALES) ||
          sums.of[SUM_COLUMNWISE_SCALES] <= o->columnwise.scalesSize);
}

/// The jobs before the first of a thread's groups after which there is too much
/// of anything; UINT32_MAX if there is none.
GQ_DEV uint32_t jobsThatFit(const Op *o, const Plan *plan) {
  uint32_t begin = gq_dev_thread() * plan->share;
  Sums before;
  for (int i = 0; i < NUM_SUMS; ++i)
    before.of[i] = needsSum(o, i) ? table[i][gq_dev_thread()] : 0;
  for (uint32_t e = begin; e < begin + plan->share && e < o->groups; ++e) {
    gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
    gq_dev_check_group(&o->allGroups, e, &group);
    Sums after = addSums(o, before, sumsOf(o, group));
    if (!fitsOutputs(o, after) || after.of[SUM_JOBS] > mostJobs(o, plan))
      return min32(before.of[SUM_JOBS], UINT32_MAX);
    before = after;
  }
  return UINT32_MAX;
}

/// Keeps the plan, given the extent of all groups; it leaves nothing out yet.
GQ_DEV void planJobs(const Op *o, uint32_t share, Extent all) {
  Plan plan = {.share = share};
  if (!o->ragged) {
    plan.rowsBefore = gq_dev_rows_before(&o->allGroups);
    plan.firstRowAfter = gq_dev_first_row_after(&o->allGroups);
  }
  Sums sums = sumsOfExtent(o, all);
  bool fits = !isTooMuch(o, all) && fitsOutputs(o, sums);
  if (!fits)
    gq_dev_atomic_or_shared(&sharedFaults, GQ_DEV_STATUS_SIZES);
  leavesOut = !fits || sums.of[SUM_JOBS] > mostJobs(o, &plan);
  setJobs(o, &plan, min32(sums.of[SUM_JOBS], UINT32_MAX));
  keepPlan(plan);
}

/// Fills the table. All threads of the CTA take part.
GQ_DEV Plan makePlan(const Op *o) {
  uint32_t thread = gq_dev_thread(), warp = thread / GQ_DEV_WARP, faults = 0;
  uint32_t share = (o->groups + THREADS - 1) / THREADS;
  uint32_t begin = thread * share, end = begin + share;
  end = end < o->groups ? end : o->groups;
  Extent own = {{{0}}, {{0}}}, all = own;
  for (uint32_t e = begin; e < end; ++e) {
    gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
    uint32_t found = gq_dev_check_group(&o->allGroups, e, &group);
    if (!found)
      found = gq_dev_check_overlap(&o->allGroups, e, group);
    faults |= found;
    own = addExtents(o, own, extentOf(o, group));
  }
  if (thread == 0)
    sharedFaults = jobsLeftOut = 0;
  Extent before = extentBelow(o, own);
  if (gq_dev_lane() == GQ_DEV_WARP - 1)
    keepExtent(o, &ofWarps[warp], addExtents(o, before, own));
  gq_dev_barrier();
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WARPS; ++i) {
    Extent extent = keptExtent(o, &ofWarps[i]);
    all = addExtents(o, all, extent);
    if (i < warp)
      before = addExtents(o, before, extent);
  }
  Sums sums = sumsOfExtent(o, before);
  for (int i = 0; i < NUM_SUMS; ++i)
    if (needsSum(o, i))
      table[i][thread] = sums.of[i];
  if (faults)
    gq_dev_atomic_or_shared(&sharedFaults, faults);
  if (thread == 0)
    planJobs(o, share, all);
  gq_dev_barrier();
  Plan plan = keptPlan();
  if (__builtin_expect(leavesOut, 0)) {
    gq_dev_atomic_max_shared(&jobsLeftOut, ~jobsThatFit(o, &plan));
    gq_dev_barrier();
    setJobs(o, &plan,
            plan.groupJobs < ~jobsLeftOut ? plan.groupJobs : ~jobsLeftOut);
    if (thread == 0)
      keepPlan(plan);
    gq_dev_barrier();
  }
  return plan;
}

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

#endif // GQ_KERNELS_KERNELS_TILES_PLAN_H
