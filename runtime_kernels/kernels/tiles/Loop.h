//===- Loop.h - a CTA's jobs, one after the other -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_LOOP_H
#define GQ_KERNELS_KERNELS_TILES_LOOP_H

#include "runtime_kernels/kernels/tiles/Load.h"

/// The CTAs and the jobs of this one, kept like the plan.
static volatile GQ_SHARED struct {
  uint32_t numCtas, jobs;
} keptLoop GQ_UNINITIALIZED;

/// Elements of job number n and a pass, once and in order. Begins to bring the
/// next ones, where they are brought ahead.
GQ_DEV Held takeElements(const Op *o, uint32_t n, uint32_t pass) {
  Held held = takeLane(o, &jobs[n % (2 * BATCH)], pass);
  bool last = pass + 1 == numPasses(o);
  if (bringsAhead(o) && (!last || n + 1 < keptLoop.jobs))
    bring(o, &jobs[(n + last) % (2 * BATCH)], last ? 0 : pass + 1);
  return held;
}

/// Finds the first jobs of the CTA and, where elements are brought ahead,
/// begins with those of the first. After a barrier all threads know how many
/// jobs there are, and what was written to shared memory before.
GQ_DEV void beginJobs(const Op *o, const Plan *plan) {
  if (gq_dev_thread() == 0) {
    uint32_t more = plan->jobs + gq_dev_num_ctas() - 1;
    keptLoop.numCtas = gq_dev_num_ctas();
    keptLoop.jobs = (more - gq_dev_cta()) / gq_dev_num_ctas();
  }
  if (gq_dev_thread() < 2 * BATCH)
    findJobs(o, plan, gq_dev_num_ctas(), gq_dev_thread() / BATCH * BATCH);
  gq_dev_barrier();
  if (bringsAhead(o) && keptLoop.jobs > 0)
    bring(o, &jobs[0], 0);
}

/// After job number n: finds more, in place of jobs that all warps are done
/// with.
GQ_DEV void findMoreJobs(const Op *o, uint32_t n) {
  if (n % BATCH != BATCH / 2 || n <= BATCH || gq_dev_thread() >= BATCH)
    return;
  const Plan plan = keptPlan();
  findJobs(o, &plan, keptLoop.numCtas, n + BATCH / 2);
}

#endif // GQ_KERNELS_KERNELS_TILES_LOOP_H
