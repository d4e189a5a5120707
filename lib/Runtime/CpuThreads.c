//===- CpuThreads.c - the cores that an op runs on -----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuThreads.h"

#include <dlfcn.h>
#include <fenv.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// For ThreadSanitizer, which does not see what an OpenMP runtime does
//===----------------------------------------------------------------------===//

#if defined(__SANITIZE_THREAD__)
#define GQ_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GQ_TSAN 1
#endif
#endif

#ifdef GQ_TSAN
#include <sanitizer/tsan_interface.h>
static void release(void *what) { __tsan_release(what); }
static void acquire(void *what) { __tsan_acquire(what); }
#else
static void release(void *what) { (void)what; }
static void acquire(void *what) { (void)what; }
#endif

//===----------------------------------------------------------------------===//
// OpenMP's runtime
//===----------------------------------------------------------------------===//

/// The functions of "The libgomp ABI" in GCC's manual, which LLVM's and Intel's
/// runtimes have too.
typedef struct Runtime {
  /// Calls `work` in a team of `numThreads` or fewer.
  void (*parallel)(void (*work)(void *), void *data, unsigned numThreads,
                   unsigned flags);
  int (*maxThreads)(void);
} Runtime;

static Runtime runtime;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/// Whether there has been a team, and whether that was before a fork.
static atomic_bool used, forked;

static void inChild(void) {
  if (atomic_load(&used))
    atomic_store(&forked, true);
}

/// Whether a file is an OpenMP runtime, as those of packages are called: maybe
/// with a digest after the name.
static bool isRuntime(const char *path) {
  static const char *const names[] = {"libgomp", "libomp", "libiomp5"};
  const char *slash = strrchr(path, '/');
  const char *file = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
    size_t length = strlen(names[i]);
    if (strncmp(file, names[i], length) == 0 &&
        (file[length] == '.' || file[length] == '-'))
      return true;
  }
  return false;
}

/// Copies the path of the first runtime that the process has.
static int findLoaded(struct dl_phdr_info *info, size_t size, void *path) {
  (void)size;
  size_t length = strlen(info->dlpi_name) + 1;
  if (!isRuntime(info->dlpi_name) || length > PATH_MAX)
    return 0;
  memcpy(path, info->dlpi_name, length);
  return 1;
}

static bool tryRuntime(void *library) {
  if (!library)
    return false;
  Runtime found;
  // POSIX has a function pointer in an object pointer, C11 has not.
  *(void **)&found.parallel = dlsym(library, "GOMP_parallel");
  *(void **)&found.maxThreads = dlsym(library, "omp_get_max_threads");
  if (found.parallel && found.maxThreads)
    runtime = found;
  return runtime.parallel;
}

/// A runtime stays loaded.
static void findRuntime(void) {
  static const char *const files[] = {"libgomp.so.1", "libomp.so.5",
                                      "libomp.so"};
  char path[PATH_MAX];
  bool found = dl_iterate_phdr(findLoaded, path) &&
               tryRuntime(dlopen(path, RTLD_NOW | RTLD_NOLOAD));
  for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !found; ++i)
    found = tryRuntime(dlopen(files[i], RTLD_NOW));
  pthread_atfork(NULL, NULL, inChild);
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

struct gqCpuJobs {
  gqCpuWork *work;
  void *context;
  int64_t count;
  _Atomic int64_t taken;
  _Atomic int32_t threads;
};

enum {
  /// That take about as long as waking a thread that sleeps, 30 us.
  ELEMENTS_OF_THREAD = 1 << 15,
};

bool gqCpuTakeJob(gqCpuJobs *jobs, int64_t *job) {
  *job = atomic_fetch_add_explicit(&jobs->taken, 1, memory_order_relaxed);
  return *job < jobs->count;
}

int32_t gqCpuNumThreads(int64_t numJobs, double elements) {
  double most = elements / ELEMENTS_OF_THREAD;
  most = (double)numJobs < most ? (double)numJobs : most;
  if (most < 2)
    return 1;
  pthread_once(&once, findRuntime);
  if (!runtime.parallel || atomic_load(&forked))
    return 1;
  int threads = runtime.maxThreads();
  return threads < most ? threads : (int32_t)most;
}

/// What each thread of a team does.
static void work(void *data) {
  gqCpuJobs *jobs = data;
  acquire(jobs);
  fenv_t environment;
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);
  int32_t thread =
      atomic_fetch_add_explicit(&jobs->threads, 1, memory_order_relaxed);
  jobs->work(jobs->context, thread, jobs);
  fesetenv(&environment);
  release(jobs);
}

void gqCpuRun(int32_t numThreads, int64_t numJobs, gqCpuWork *call,
              void *context) {
  gqCpuJobs jobs = {.work = call, .context = context, .count = numJobs};
  if (numThreads <= 1) {
    call(context, 0, &jobs);
    return;
  }
  atomic_store(&used, true);
  release(&jobs);
  runtime.parallel(work, &jobs, (unsigned)numThreads, 0);
  acquire(&jobs);
}

void gqCpuRaise(float *amax, float by) {
  float seen;
  __atomic_load(amax, &seen, __ATOMIC_RELAXED);
  while (by > seen &&
         !__atomic_compare_exchange(amax, &seen, &by, /*weak=*/true,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}
