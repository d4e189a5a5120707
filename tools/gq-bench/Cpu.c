//===- Cpu.c - what all cores can do --------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpu.h"

#include "tools/common/Device.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// What a thread does. Not one of C11, of which ThreadSanitizer knows nothing.
typedef void *Work(void *context);

/// Calls `work` with each of `count` contexts of `size` bytes, one in this
/// thread.
static gqStatus runTeam(Work *work, char *contexts, size_t size, int count) {
  pthread_t *threads = calloc((size_t)count, sizeof(pthread_t));
  int started = 1;
  while (threads && started < count &&
         pthread_create(&threads[started], NULL, work,
                        contexts + (size_t)started * size) == 0)
    ++started;
  if (threads)
    work(contexts);
  for (int i = 1; i < started; ++i)
    pthread_join(threads[i], NULL);
  free(threads);
  return started == count ? GQ_OK
                          : gqFail(GQ_OUT_OF_MEMORY, "no memory for threads");
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

typedef struct Part {
  char *to;
  const char *from;
  size_t size;
} Part;

static void *copyPart(void *context) {
  const Part *part = context;
  memcpy(part->to, part->from, part->size);
  return NULL;
}

gqStatus cpuCopy(int numThreads, void *to, const void *from, size_t size) {
  enum { PAGE = 4096 };
  assert(numThreads > 0);
  Part *parts = calloc((size_t)numThreads, sizeof(Part));
  if (!parts)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  size_t each = (size / (size_t)numThreads / PAGE + 1) * PAGE;
  for (int i = 0; i < numThreads; ++i) {
    size_t begin = (size_t)i * each < size ? (size_t)i * each : size;
    parts[i] = (Part){(char *)to + begin, (const char *)from + begin,
                      size - begin < each ? size - begin : each};
  }
  gqStatus status = runTeam(copyPart, (char *)parts, sizeof(Part), numThreads);
  free(parts);
  return status;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

enum {
  /// Sums that do not depend on each other: they hide the latency of an
  /// operation, and are in registers.
  SUMS = 10,
  STEPS = 1 << 20,
  /// Short ones, of which the best counts: others may use the cores too.
  TIMES = 100,
};

/// What a thread is given and what it makes.
typedef struct Arithmetic {
  float factor, term, sum;
} Arithmetic;

/// A function NAME that does it, with vectors of LANES; HAS_FMA is a constant.
#define GQ_ARITHMETIC(NAME, TARGET, LANES, HAS_FMA)                            \
  TARGET static void *NAME(void *context) {                                    \
    typedef float Floats __attribute__((vector_size(4 * (LANES))));            \
    Arithmetic *a = context;                                                   \
    Floats sums[SUMS], factors, terms, total = {0};                            \
    for (int l = 0; l < (LANES); ++l) {                                        \
      factors[l] = a->factor;                                                  \
      terms[l] = a->term;                                                      \
    }                                                                          \
    for (int i = 0; i < SUMS; ++i)                                             \
      sums[i] = terms * (float)i;                                              \
    for (int step = 0; step < STEPS; ++step)                                   \
      for (int i = 0; i < SUMS; ++i)                                           \
        if (HAS_FMA)                                                           \
          for (int l = 0; l < (LANES); ++l)                                    \
            sums[i][l] = __builtin_fmaf(sums[i][l], factors[l], terms[l]);     \
        else                                                                   \
          sums[i] = sums[i] * factors + terms;                                 \
    for (int i = 0; i < SUMS; ++i)                                             \
      total += sums[i];                                                        \
    for (int l = 0; l < (LANES); ++l)                                          \
      a->sum += total[l];                                                      \
    return NULL;                                                               \
  }

GQ_ARITHMETIC(work, , 4, 0)
#ifdef __x86_64__
GQ_ARITHMETIC(workAvx2, __attribute__((target("avx2,fma"))), 8, 1)
GQ_ARITHMETIC(workAvx512, __attribute__((target("avx512f,avx512vl,fma"))), 16,
              1)
#endif

/// The best of them, and its lanes.
static Work *choose(int *lanes) {
  *lanes = 4;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    *lanes = 16;
    return workAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    *lanes = 8;
    return workAvx2;
  }
#endif
  return work;
}

gqStatus cpuFlopRate(int numThreads, double *teraflopsPerSecond) {
  int lanes;
  Work *chosen = choose(&lanes);
  double flops = 2.0 * STEPS * SUMS * lanes * numThreads, least = HUGE_VAL;
  Stopwatch clock;
  Arithmetic *contexts = calloc((size_t)numThreads, sizeof(Arithmetic));
  if (!contexts)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  gqStatus status = stopwatchCreate((DLDevice){kDLCPU, 0}, &clock);
  for (int i = 0; i < TIMES && status == GQ_OK; ++i) {
    for (int j = 0; j < numThreads; ++j)
      contexts[j] = (Arithmetic){.factor = 0.5f, .term = 1.0f};
    double microseconds = 0;
    status = stopwatchStart(&clock);
    if (status == GQ_OK)
      status =
          runTeam(chosen, (char *)contexts, sizeof(Arithmetic), numThreads);
    if (status == GQ_OK)
      status = stopwatchStop(&clock, &microseconds);
    least = fmin(least, microseconds);
  }
  stopwatchDestroy(&clock);
  free(contexts);
  *teraflopsPerSecond = flops / least * 1e-6;
  return status;
}
