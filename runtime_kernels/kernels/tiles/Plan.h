//===- Plan.h - what the groups of an op add up to ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CTA first sums up the groups, which says how many jobs there are before
// each and where its outputs begin.
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

GQ_DEV Sums sumsOf(const Op *o, gq_dev_group group) {
  return (Sums){{
      numTiles(group.rows) * numTiles(group.columns),
      o->ragged ? numScales(&o->rowwise, group.rows, group.columns)
      : isSquare(&o->rowwise) ? numOf(group.rows, o->rowwise.traits.blockRows)
                              : numTiles(group.rows) * TILE,
      group.columns * paddedRows(group.rows),
      numScales(&o->columnwise, group.columns, paddedRows(group.rows)),
  }};
}

GQ_DEV Sums addSums(const Op *o, Sums a, Sums b) {
  for (int i = 0; i < NUM_SUMS; ++i)
    a.of[i] = needsSum(o, i) ? a.of[i] + b.of[i] : 0;
  return a;
}

/// The sum of a lane's and all lower lanes' sums.
GQ_DEV Sums scanWarp(const Op *o, Sums sums) {
  for (int i = 0; i < NUM_SUMS; ++i)
    sums.of[i] = needsSum(o, i) ? gq_dev_scan64(sums.of[i]) : 0;
  return sums;
}

/// The sums of all groups before those of each thread, which has `share`
/// consecutive ones.
static GQ_SHARED int64_t table[NUM_SUMS][THREADS] GQ_UNINITIALIZED;
static GQ_SHARED int64_t warpSums[NUM_SUMS][WARPS] GQ_UNINITIALIZED;
/// GQ_DEV_STATUS_ bits. Without any, no group needs to be checked again.
static GQ_SHARED uint32_t sharedFaults GQ_UNINITIALIZED;
/// The complement of the number of jobs that are done of groups.
static GQ_SHARED uint32_t jobsLeftOut GQ_UNINITIALIZED;

/// The groups as the CTA knows them, and the rows of none before and after.
typedef struct Plan {
  uint32_t share;
  uint32_t groupJobs, jobs;
  int64_t rowsBefore, firstRowAfter;
} Plan;

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

/// The jobs before the first of a thread's groups, from `before` on, after
/// which there is too much of anything; UINT32_MAX if there is none.
GQ_DEV uint32_t jobsThatFit(const Op *o, const Plan *plan, Sums before,
                            int64_t mostJobs) {
  uint32_t begin = gq_dev_thread() * plan->share;
  for (uint32_t e = begin; e < begin + plan->share && e < o->groups; ++e) {
    gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
    gq_dev_check_group(&o->allGroups, e, &group);
    Sums after = addSums(o, before, sumsOf(o, group));
    if (!fitsOutputs(o, after) || after.of[SUM_JOBS] > mostJobs)
      return min32(before.of[SUM_JOBS], UINT32_MAX);
    before = after;
  }
  return UINT32_MAX;
}

/// Fills the table. All threads of the CTA take part.
GQ_DEV Plan makePlan(const Op *o) {
  uint32_t thread = gq_dev_thread();
  Plan plan = {.share = (o->groups + THREADS - 1) / THREADS};
  uint32_t begin = thread * plan.share, end = begin + plan.share;
  end = end < o->groups ? end : o->groups;
  // Loaded beside the groups; what becomes of them is used after the barriers.
  int64_t rowTilesOfNone = 0;
  if (!o->ragged) {
    plan.rowsBefore = gq_dev_rows_before(&o->allGroups);
    plan.firstRowAfter = gq_dev_first_row_after(&o->allGroups);
    if (o->rowwise.exists && o->allRows)
      rowTilesOfNone =
          numTiles(plan.rowsBefore) + numTiles(o->rows - plan.firstRowAfter);
  }
  Sums sums = {{0}};
  uint32_t faults = 0;
  for (uint32_t e = begin; e < end; ++e) {
    gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
    uint32_t found = gq_dev_check_group(&o->allGroups, e, &group);
    if (!found)
      found = gq_dev_check_overlap(&o->allGroups, e, group);
    faults |= found;
    sums = addSums(o, sums, sumsOf(o, group));
  }
  if (thread == 0)
    sharedFaults = jobsLeftOut = 0;
  Sums scanned = scanWarp(o, sums);
  if (gq_dev_lane() == GQ_DEV_WARP - 1)
    for (int i = 0; i < NUM_SUMS; ++i)
      if (needsSum(o, i))
        warpSums[i][thread / GQ_DEV_WARP] = scanned.of[i];
  gq_dev_barrier();
  Sums before = {{0}}, total = {{0}};
  for (int i = 0; i < NUM_SUMS; ++i)
    if (needsSum(o, i)) {
      before.of[i] = scanned.of[i] - sums.of[i];
      for (uint32_t warp = 0; warp < WARPS; ++warp) {
        before.of[i] += warp < thread / GQ_DEV_WARP ? warpSums[i][warp] : 0;
        total.of[i] += warpSums[i][warp];
      }
      table[i][thread] = before.of[i];
    }

  int64_t columnTiles = numTiles(o->columns);
  // Not even groups that overlap make more jobs than the workspace has room
  // for.
  int64_t mostJobs = gq_dev_tiles_jobs(o->rows, o->columns, o->groups) -
                     (rowTilesOfNone < 2 ? 2 : rowTilesOfNone) * columnTiles;
  bool fits = fitsOutputs(o, total);
  if (!fits)
    faults |= GQ_DEV_STATUS_SIZES;
  if (faults)
    gq_dev_atomic_or_shared(&sharedFaults, faults);
  if (__builtin_expect(!fits || total.of[SUM_JOBS] > mostJobs, 0)) {
    gq_dev_atomic_max_shared(&jobsLeftOut,
                             ~jobsThatFit(o, &plan, before, mostJobs));
  }
  gq_dev_barrier();
  plan.groupJobs = min32(total.of[SUM_JOBS], ~jobsLeftOut);
  plan.jobs = plan.groupJobs + (uint32_t)(rowTilesOfNone * columnTiles);
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
