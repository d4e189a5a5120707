//===- CpuThreads.h - the cores that an op runs on ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads are those of OpenMP's runtime: the one that the process has, be
// it GCC's, LLVM's or Intel's, else the system's, else there is one thread. It
// is found when it is first needed, so that nothing has to be linked, and its
// settings are honoured: OMP_NUM_THREADS, omp_set_num_threads(), affinity.
//
// A child of fork() has one thread if its parent has used more: GCC's runtime
// would wait for threads that the child does not have.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUTHREADS_H
#define GQ_LIB_RUNTIME_CPUTHREADS_H

#include <stdbool.h>
#include <stdint.h>

/// The jobs of an op, which threads take in turn. What a job writes, no other
/// one does, so that the bytes do not depend on who takes it; but for what is
/// raised by gqCpuRaise().
typedef struct gqCpuJobs gqCpuJobs;

/// Takes the next job, whose number is greater than that of any before; false
/// if none is left.
bool gqCpuTakeJob(gqCpuJobs *jobs, int64_t *job);

/// Takes jobs until none is left. `thread` is below the number of threads.
typedef void gqCpuWork(void *context, int32_t thread, gqCpuJobs *jobs);

/// How many threads a call with so many jobs should have: one if it takes less
/// time than waking others does. `elements` is what it takes, in elements that
/// are quantized.
int32_t gqCpuNumThreads(int64_t numJobs, double elements);

/// Calls `work` in so many threads or fewer, in the default floating-point
/// environment, and returns when all jobs are done.
void gqCpuRun(int32_t numThreads, int64_t numJobs, gqCpuWork *work,
              void *context);

/// Raises a largest magnitude that threads have in common, to the same value in
/// whatever order they do.
void gqCpuRaise(float *amax, float by);

#endif // GQ_LIB_RUNTIME_CPUTHREADS_H
