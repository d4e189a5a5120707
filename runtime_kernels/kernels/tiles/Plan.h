//===- Plan.h - what the groups of an op add up to ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CTA first sums up the groups, which says how many jobs there are before
// each and where its outputs begin. One warp does it: all CTAs of a
// multiprocessor begin with it, so that more warps would wait for each other's
// instructions.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_PLAN_H
#define GQ_KERNELS_KERNELS_TILES_PLAN_H

#include "runtime_kernels/arch/Scan.h"
#include "runtime_kernels/kernels/tiles/Op.h"

enum {
  /// Shares of groups, and how many of them a lane sums up.
  SHARES = 128,
  SHARES_OF_LANE = SHARES / GQ_DEV_WARP,
};
_Static_assert(SHARES == THREADS, "a thread publishes a share");

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

/// The sums of all groups before each share of `share` consecutive ones.
static GQ_SHARED __attribute__((
    aligned(16))) int64_t table[NUM_SUMS][SHARES] GQ_UNINITIALIZED;
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
  return !o->ragged && o->rowwise.exists && o->allRows
             ? numTiles(plan->rowsBefore) +
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
  uint32_t share = gq_dev_thread(), begin = share * plan->share;
  Sums before;
  for (int i = 0; i < NUM_SUMS; ++i)
    before.of[i] = needsSum(o, i) ? table[i][share] : 0;
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

/// Fills the table and keeps the plan, which leaves nothing out yet. The lanes
/// of a warp take part.
GQ_DEV void sumUpGroups(const Op *o) {
  uint32_t lane = gq_dev_lane(), faults = 0;
  Plan plan = {.share = (o->groups + SHARES - 1) / SHARES};
  // Loaded beside the groups.
  if (!o->ragged) {
    plan.rowsBefore = gq_dev_rows_before(&o->allGroups);
    plan.firstRowAfter = gq_dev_first_row_after(&o->allGroups);
  }
  Sums sums = {{0}}, ofShares[SHARES_OF_LANE];
#pragma clang loop unroll(full)
  for (uint32_t k = 0; k < SHARES_OF_LANE; ++k) {
    uint32_t begin = (lane * SHARES_OF_LANE + k) * plan.share;
    uint32_t end = begin + plan.share;
    end = end < o->groups ? end : o->groups;
    ofShares[k] = sums;
    for (uint32_t e = begin; e < end; ++e) {
      gq_dev_group group = gq_dev_load_group(&o->allGroups, e);
      uint32_t found = gq_dev_check_group(&o->allGroups, e, &group);
      if (!found)
        found = gq_dev_check_overlap(&o->allGroups, e, group);
      faults |= found;
      sums = addSums(o, sums, sumsOf(o, group));
    }
  }
  if (lane == 0)
    sharedFaults = 0;
  Sums scanned = scanWarp(o, sums);
  for (int i = 0; i < NUM_SUMS; ++i)
    if (needsSum(o, i))
#pragma clang loop unroll(full)
      for (uint32_t k = 0; k < SHARES_OF_LANE; ++k)
        table[i][lane * SHARES_OF_LANE + k] =
            scanned.of[i] - sums.of[i] + ofShares[k].of[i];
  gq_dev_warp_barrier();
  if (lane == GQ_DEV_WARP - 1) {
    bool fits = fitsOutputs(o, scanned);
    faults |= fits ? 0 : GQ_DEV_STATUS_SIZES;
    jobsLeftOut = 0;
    leavesOut = !fits || scanned.of[SUM_JOBS] > mostJobs(o, &plan);
    setJobs(o, &plan, min32(scanned.of[SUM_JOBS], UINT32_MAX));
    keepPlan(plan);
  }
  if (faults)
    gq_dev_atomic_or_shared(&sharedFaults, faults);
}

/// Sums up the groups. All threads of the CTA take part, and know the plan and
/// the table.
GQ_DEV Plan makePlan(const Op *o) {
  if (gq_dev_thread() < GQ_DEV_WARP)
    sumUpGroups(o);
  gq_dev_barrier();
  Plan plan = keptPlan();
  if (__builtin_expect(leavesOut, 0)) {
    gq_dev_atomic_max_shared(&jobsLeftOut, ~jobsThatFit(o, &plan));
    gq_dev_barrier();
    setJobs(o, &plan,
            plan.groupJobs < ~jobsLeftOut ? plan.groupJobs : ~jobsLeftOut);
    if (gq_dev_thread() == 0)
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
