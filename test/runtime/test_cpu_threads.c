//===- test_cpu_threads.c - ops on several threads ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// That jobs are done by as many threads as OpenMP's runtime is told, each once,
// and that nothing else changes: not the floating-point environment, not what
// callers in several threads or after a fork get. That the bytes of every op
// are the same is in test/python/test_threads.py.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "gq/Runtime/Cpu.h"
#include "lib/Runtime/CpuThreads.h"

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { JOBS = 1000, MANY = 1 << 30, CALLERS = 4, SECONDS = 60 };

static const int32_t counts[] = {1, 2, 3, 7};

static void (*setNumThreads)(int);

static int findRuntime(void **state) {
  (void)state;
  void *library = dlopen("libgomp.so.1", RTLD_NOW);
  if (!library)
    return -1;
  *(void **)&setNumThreads = dlsym(library, "omp_set_num_threads");
  return setNumThreads ? 0 : -1;
}

/// What threads did.
typedef struct Log {
  int32_t numThreads;
  atomic_int done[JOBS], threads, arrived;
  atomic_bool wrong;
  float amax;
} Log;

static void work(void *context, int32_t thread, gqCpuJobs *jobs) {
  Log *log = context;
  atomic_fetch_add(&log->threads, 1);
  // Nobody takes all jobs before the others have come.
  atomic_fetch_add(&log->arrived, 1);
  while (atomic_load(&log->arrived) < log->numThreads)
    ;
  if (thread < 0 || thread >= log->numThreads || fegetround() != FE_TONEAREST)
    atomic_store(&log->wrong, true);
  int64_t job, last = -1;
  while (gqCpuTakeJob(jobs, &job)) {
    if (job <= last || job >= JOBS)
      atomic_store(&log->wrong, true);
    last = job;
    atomic_fetch_add(&log->done[job], 1);
    gqCpuRaise(&log->amax, (float)(job * 7 % JOBS));
  }
}

static void testJobs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i) {
    setNumThreads(counts[i]);
    Log log = {.numThreads = gqCpuNumThreads(JOBS, MANY)};
    assert_int_equal(log.numThreads, counts[i]);
    gqCpuInfo info;
    gqGetCpuInfo(&info);
    assert_int_equal(info.numThreads, counts[i]);
    gqCpuRun(log.numThreads, JOBS, work, &log);
    assert_int_equal(log.threads, counts[i]);
    assert_false(log.wrong);
    assert_true(log.amax == (float)(JOBS - 1));
    for (int j = 0; j < JOBS; ++j)
      assert_int_equal(log.done[j], 1);
  }
}

static void testFewThreads(void **state) {
  (void)state;
  setNumThreads(7);
  assert_int_equal(gqCpuNumThreads(JOBS, 1000), 1); // little to do
  assert_int_equal(gqCpuNumThreads(3, MANY), 3);    // few jobs
  assert_int_equal(gqCpuNumThreads(0, 0), 1);
  assert_int_equal(gqCpuNumThreads(0, MANY), 1);
}

static void roundUp(void *context, int32_t thread, gqCpuJobs *jobs) {
  Log *log = context;
  (void)thread;
  (void)jobs;
  fesetround(FE_UPWARD);
  atomic_fetch_add(&log->arrived, 1);
  while (atomic_load(&log->arrived) < log->numThreads)
    ;
}

/// What one call leaves behind in a thread, the next one does not find.
static void testEnvironment(void **state) {
  (void)state;
  setNumThreads(3);
  Log log = {.numThreads = 3};
  gqCpuRun(3, 0, roundUp, &log);
  assert_int_equal(fegetround(), FE_TONEAREST);
  fesetround(FE_UPWARD);
  Log other = {.numThreads = 3};
  gqCpuRun(3, JOBS, work, &other);
  assert_int_equal(fegetround(), FE_UPWARD);
  fesetround(FE_TONEAREST);
  assert_false(other.wrong);
}

/// Quantizes, multiplies and returns whether the bytes are those of `expected`.
static bool isSame(const Problem *expected) {
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  runGrouped(&p);
  runMm(&p);
  bool same =
      gqCpuStatus() == GQ_OK &&
      memcmp(p.data.bytes, expected->data.bytes, (size_t)p.data.size) == 0 &&
      memcmp(p.scales.bytes, expected->scales.bytes, (size_t)p.scales.size) ==
          0 &&
      memcmp(p.out.bytes, expected->out.bytes, (size_t)p.out.size) == 0;
  problemFree(&p);
  return same;
}

static Problem expected;

static void expect(void) {
  setNumThreads(1);
  expected = problemNew(GQ_BF16, 0xa5);
  makeOperands(&expected, GQ_BF16);
  runGrouped(&expected);
  runMm(&expected);
  assertOk();
}

/// problemNew() draws from one sequence.
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;

/// A caller: it has operands of its own, and a pool.
static void *call(void *same) {
  setNumThreads(3);
  pthread_mutex_lock(&drawing);
  Problem p = problemNew(GQ_BF16, 0xa5);
  pthread_mutex_unlock(&drawing);
  makeOperands(&p, GQ_BF16);
  for (int i = 0; i < 5; ++i) {
    runGrouped(&p);
    runMm(&p);
  }
  *(bool *)same =
      gqCpuStatus() == GQ_OK &&
      memcmp(p.scales.bytes, expected.scales.bytes, (size_t)p.scales.size) ==
          0 &&
      memcmp(p.out.bytes, expected.out.bytes, (size_t)p.out.size) == 0;
  problemFree(&p);
  return NULL;
}

static void testCallers(void **state) {
  (void)state;
  expect();
  pthread_t threads[CALLERS];
  bool same[CALLERS] = {0};
  for (int i = 0; i < CALLERS; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, call, &same[i]), 0);
  for (int i = 0; i < CALLERS; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < CALLERS; ++i)
    assert_true(same[i]);
  problemFree(&expected);
}

/// The child of a process that has used its threads has none of them.
static void testFork(void **state) {
  (void)state;
  expect();
  setNumThreads(3);
  assert_true(isSame(&expected));
  pid_t child = fork();
  if (child == 0) {
    alarm(SECONDS);
    _exit(isSame(&expected) && gqCpuNumThreads(JOBS, MANY) == 1 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_int_equal(gqCpuNumThreads(JOBS, MANY), 3); // the parent
  assert_true(isSame(&expected));
  problemFree(&expected);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testJobs), cmocka_unit_test(testFewThreads),
      cmocka_unit_test(testEnvironment), cmocka_unit_test(testCallers),
      cmocka_unit_test(testFork)};
  return cmocka_run_group_tests(tests, findRuntime, NULL);
}
