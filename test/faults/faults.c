//===- faults.c - everything that can fail, fails once --------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs each scenario once to count its allocations, system calls and calls of
// the CUDA driver, then once for each of these, in a process of its own, and
// makes that one fail. A scenario then ends with a status and a message, or
// succeeds; where MLIR's callbacks leave no way to report it, running out of
// memory ends the process, with a message. Nothing is left open, and the cache
// then holds what belongs there, complete. The same holds when signals
// interrupt system calls or end the process.
//
// Only gq's own calls: it has no control over those of libMLIR, libLLVM and
// libc. With AddressSanitizer leaks are found as well. The last line counts.
//
//   faults [SCENARIO KIND NUMBER]   runs one of them in this process, which
//                                   stops there: for a debugger
//
//===----------------------------------------------------------------------===//

#include "test/runtime/test_cuda_fake.h"

#include "gq/Runtime/Cpu.h"
#include "gq/Runtime/Cuda.h"
#include "gq/Runtime/Executable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// The failing site
//===----------------------------------------------------------------------===//

typedef enum Kind {
  ALLOCATION,
  FULL_DISK, // ENOSPC, after half of what was to be written
  READ_ONLY, // EROFS where something is made or changed
  SYSTEM,    // EIO, whatever the call
  DRIVER,    // one call fails
  LOST,      // from one call on all fail: the device is gone
  KINDS,
} Kind;

static const char *const kindNames[] = {"allocation", "full-disk", "read-only",
                                        "system",     "driver",    "lost"};

/// The site that fails, -1 for none, and how many there were so far.
static struct {
  Kind kind;
  long site, count;
  bool failed;
  /// Stop there, for a debugger.
  bool stops;
} fault = {ALLOCATION, -1, 0, false, false};

static bool fails(Kind kind) {
  if (fault.kind != kind)
    return false;
  bool now = fault.count++ == fault.site;
  fault.failed |= now;
  if (now && fault.stops)
    raise(SIGTRAP);
  return now;
}

// The linker gives gq's objects these in the place of the system's (--wrap).
#define WRAP(RESULT, NAME, PARAMETERS, FAILURE, ...)                           \
  RESULT __real_##NAME PARAMETERS;                                             \
  RESULT __wrap_##NAME PARAMETERS;                                             \
  RESULT __wrap_##NAME PARAMETERS { FAILURE return __real_##NAME(__VA_ARGS__); }
#define NO_MEMORY                                                              \
  if (fails(ALLOCATION)) {                                                     \
    errno = ENOMEM;                                                            \
    return NULL;                                                               \
  }
#define IO_ERROR                                                               \
  if (fails(SYSTEM)) {                                                         \
    errno = EIO;                                                               \
    return -1;                                                                 \
  }
#define CHANGES                                                                \
  if (fails(READ_ONLY)) {                                                      \
    errno = EROFS;                                                             \
    return -1;                                                                 \
  }                                                                            \
  IO_ERROR

WRAP(void *, malloc, (size_t size), NO_MEMORY, size)
WRAP(void *, calloc, (size_t count, size_t size), NO_MEMORY, count, size)
WRAP(void *, realloc, (void *memory, size_t size), NO_MEMORY, memory, size)
WRAP(char *, strdup, (const char *text), NO_MEMORY, text)
WRAP(char *, strndup, (const char *text, size_t size), NO_MEMORY, text, size)
WRAP(ssize_t, read, (int file, void *data, size_t size), IO_ERROR, file, data,
     size)
WRAP(int, fstat, (int file, struct stat *status), IO_ERROR, file, status)
WRAP(int, stat, (const char *path, struct stat *status), IO_ERROR, path, status)
WRAP(int, mkdir, (const char *path, mode_t mode), CHANGES, path, mode)
WRAP(int, renameat, (int from, const char *old, int to, const char *name),
     CHANGES, from, old, to, name)
WRAP(int, unlinkat, (int folder, const char *name, int flags), CHANGES, folder,
     name, flags)

ssize_t __real_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size);
ssize_t __wrap_write(int file, const void *data, size_t size) {
  static bool isFull;
  IO_ERROR
  if (fails(FULL_DISK)) {
    isFull = true;
    return __real_write(file, data, size / 2);
  }
  if (isFull) {
    errno = ENOSPC;
    return -1;
  }
  return __real_write(file, data, size);
}

/// The file is closed however the call ends.
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file) {
  int result = __real_close(file);
  IO_ERROR
  return result;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  IO_ERROR
  return __real_open(path, flags, 0600);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (flags & O_CREAT) {
    CHANGES
  } else {
    IO_ERROR
  }
  return __real_openat(folder, path, flags, mode);
}

//===----------------------------------------------------------------------===//
// Scenarios
//===----------------------------------------------------------------------===//

static char cache[64];

/// The result of a scenario: success, a failure with a message, or what is
/// wrong.
static const char right[] = "right", refused[] = "refused";

static const char *said(gqStatus status) {
  return *gqGetLastErrorMessage() && *gqStatusName(status)
             ? refused
             : "a failure without a message";
}

static const char addText[] =
    "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>)\n"
    "    -> (tensor<?xf32>, tensor<?xf32>, i64) {\n"
    "  %sum = arith.addf %x, %x : tensor<?xf32>\n"
    "  %two = arith.constant dense<2.0> : tensor<4xf32>\n"
    "  %c = tensor.cast %two : tensor<4xf32> to tensor<?xf32>\n"
    "  %out = linalg.mul ins(%x, %c : tensor<?xf32>, tensor<?xf32>)\n"
    "      outs(%y : tensor<?xf32>) -> tensor<?xf32>\n"
    "  %n = arith.constant 7 : i64\n"
    "  return %sum, %out, %n : tensor<?xf32>, tensor<?xf32>, i64\n"
    "}\n";

static const char quantizeText[] =
    "func.func @main(%x: memref<?x16xf32>, %o: memref<?xi32>,\n"
    "    %q: memref<?x8xi8>, %s: memref<?x4xf8E4M3FN>) {\n"
    "  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x16xf32>)\n"
    "      groups(%o : memref<?xi32>)\n"
    "      outs(%q, %s : memref<?x8xi8>, memref<?x4xf8E4M3FN>)\n"
    "  return\n"
    "}\n";

/// Calls @main of addText: a new result, one in an argument, and a scalar.
static const char *callAdd(gqExecutable *executable, bool isCuda) {
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  int64_t size = 4;
  DLDevice device = {isCuda ? kDLCUDA : kDLCPU, 0};
  DLTensor tensors[] = {{.data = x,
                         .device = device,
                         .ndim = 1,
                         .dtype = {kDLFloat, 32, 1},
                         .shape = &size},
                        {.data = y,
                         .device = device,
                         .ndim = 1,
                         .dtype = {kDLFloat, 32, 1},
                         .shape = &size}};
  DLTensor *inputs[] = {&tensors[0], &tensors[1]};
  DLManagedTensor *outputs[3];
  gqStatus status = gqInvoke(executable, NULL, inputs, 2, outputs, 3);
  if (status != GQ_OK) {
    if (outputs[0] || outputs[1] || outputs[2])
      return "outputs of a call that failed";
    return said(status);
  }
  const char *result = right;
  const float *sum = outputs[0]->dl_tensor.data;
  // The kernels of the fake driver do nothing.
  for (int i = 0; i < 4 && !isCuda; ++i)
    if (sum[i] != 2 * x[i] || y[i] != 2 * x[i])
      result = "wrong sums";
  if (*(int64_t *)outputs[2]->dl_tensor.data != 7)
    result = "a wrong scalar";
  for (int i = 0; i < 3; ++i)
    outputs[i]->deleter(outputs[i]);
  return result;
}

static const char *compileAndCall(const char *text, const char *target,
                                  const char *(*call)(gqExecutable *, bool)) {
  gqCompileOptions options = {
      .target = target, .cacheDir = cache, .chip = target ? "sm_90a" : NULL};
  gqExecutable *executable;
  gqStatus status = gqCompile(text, strlen(text), &options, &executable);
  if (status != GQ_OK)
    return executable ? "an executable that failed" : said(status);
  const char *result = call(executable, target != NULL);
  gqExecutableDestroy(executable);
  return result;
}

/// The first time it is compiled, the second time it is in the cache.
static const char *runCpu(void) {
  const char *first = compileAndCall(addText, NULL, callAdd);
  const char *second = compileAndCall(addText, NULL, callAdd);
  return first == right ? second : second == right ? first : second;
}

static const char *callQuantize(gqExecutable *executable, bool isCuda) {
  (void)isCuda;
  float x[48];
  int32_t offsets[] = {0, 1, 3};
  uint8_t q[24], s[256 * 4];
  for (int i = 0; i < 48; ++i)
    x[i] = 6;
  memset(q, 0xa5, sizeof(q));
  int64_t xShape[] = {3, 16}, oShape[] = {3}, qShape[] = {3, 8},
          sShape[] = {256, 4};
  DLTensor tensors[] = {
      {.data = x, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = xShape},
      {.data = offsets, .ndim = 1, .dtype = {kDLInt, 32, 1}, .shape = oShape},
      {.data = q, .ndim = 2, .dtype = {kDLUInt, 8, 1}, .shape = qShape},
      {.data = s, .ndim = 2, .dtype = {kDLUInt, 8, 1}, .shape = sShape}};
  DLTensor *inputs[4];
  for (int i = 0; i < 4; ++i) {
    tensors[i].device = (DLDevice){kDLCPU, 0};
    inputs[i] = &tensors[i];
  }
  gqStatus status = gqInvoke(executable, NULL, inputs, 4, NULL, 0);
  if (status != GQ_OK)
    return q[0] == 0xa5 ? said(status) : "outputs that a failure wrote";
  for (int i = 0; i < 24; ++i)
    if (q[i] != 0x77)
      return "wrong codes";
  return right;
}

static const char *runQuantize(void) {
  return compileAndCall(quantizeText, NULL, callQuantize);
}

static const char *captured(void *executable) {
  return callAdd(executable, /*isCuda=*/true);
}

/// Streams, events, memory and a graph, around a call that was compiled.
static const char *useCuda(gqExecutable *executable, bool isCuda) {
  (void)isCuda;
  void *stream = NULL, *event = NULL, *memory = NULL, *graph = NULL;
  const char *result = callAdd(executable, /*isCuda=*/true);
  gqStatus status = gqStreamCreate(&stream);
  if (status == GQ_OK) {
    gqSetStream(stream);
    status = gqEventCreate(&event);
  }
  if (status == GQ_OK)
    status = gqEventRecord(event);
  if (status == GQ_OK)
    status = gqDeviceAlloc(64, &memory);
  if (status == GQ_OK)
    status = gqCopyToDevice(memory, "0123456789abcdef", 16);
  if (status == GQ_OK)
    status = gqGraphBegin();
  if (status == GQ_OK) {
    gqStatus ended;
    if (result == right)
      result = captured(executable);
    ended = gqGraphEnd(&graph);
    status = ended;
  }
  if (status == GQ_OK)
    status = gqGraphLaunch(graph);
  if (status == GQ_OK)
    status = gqSynchronize();
  if (status == GQ_OK)
    status = gqStreamStatus(stream);
  if (status != GQ_OK && result == right)
    result = said(status);
  gqGraphDestroy(graph);
  gqDeviceFree(memory);
  gqEventDestroy(event);
  gqSetStream(NULL);
  gqStreamDestroy(stream);
  gqCudaStatus();
  return result;
}

static const char *runCuda(void) {
  bool isDriver = fault.kind == DRIVER || fault.kind == LOST;
  fakeCuda = (FakeCuda){.capability = 90,
                        .failsFrom = isDriver ? (int)fault.site + 1 : 0,
                        .staysFailing = fault.kind == LOST,
                        .failure = 719};
  const char *result = compileAndCall(addText, "cuda", useCuda);
  if (isDriver) {
    fault.count = fakeCudaCalls(NULL);
    fault.failed = fault.site >= 0 && fault.site < fault.count;
  }
  return result;
}

static const struct {
  const char *name;
  const char *(*run)(void);
  bool isCuda;
} scenarios[] = {{"cpu", runCpu, false},
                 {"quantize", runQuantize, false},
                 {"cuda", runCuda, true}};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

/// The entries that belong into the cache, as runs without a fault wrote them.
static struct Entry {
  char name[80];
  char *content;
  size_t size;
} entries[8];
static int numEntries;

static char *readWhole(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  struct stat status;
  if (!file || stat(path, &status) != 0)
    return NULL;
  char *content = malloc((size_t)status.st_size + 1);
  *size = fread(content, 1, (size_t)status.st_size, file);
  fclose(file);
  return content;
}

static bool isKnown(const char *name, const char *content, size_t size) {
  for (int i = 0; i < numEntries; ++i)
    if (strcmp(entries[i].name, name) == 0)
      return entries[i].size == size &&
             memcmp(entries[i].content, content, size) == 0;
  return false;
}

/// Empties the cache. With `known` its entries must be those that belong there;
/// without, they are what belongs there. What is being written has another
/// name, and is dropped.
static bool emptyCache(bool known) {
  bool good = true;
  DIR *directory = opendir(cache);
  for (struct dirent *file; directory && (file = readdir(directory));) {
    char path[400];
    if (file->d_name[0] == '.')
      continue;
    snprintf(path, sizeof(path), "%s/%s", cache, file->d_name);
    size_t size = 0;
    char *content = readWhole(path, &size);
    if (strlen(file->d_name) == 64 && known)
      good &= content && isKnown(file->d_name, content, size);
    if (strlen(file->d_name) == 64 && !known && numEntries < 8) {
      entries[numEntries].content = content;
      entries[numEntries].size = size;
      strcpy(entries[numEntries++].name, file->d_name);
      content = NULL;
    }
    free(content);
    unlink(path);
  }
  if (directory)
    closedir(directory);
  rmdir(cache);
  return good;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

static int countOpenFiles(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (directory && readdir(directory))
    ++count;
  if (directory)
    closedir(directory);
  return count;
}

/// Runs a scenario with a fault in this process; null, or what is wrong.
static const char *inject(int scenario, Kind kind, long site) {
  int before = countOpenFiles();
  fault.kind = kind;
  fault.site = site;
  fault.count = 0;
  const char *result = scenarios[scenario].run();
  fault.kind = KINDS;
  // The driver's library stays open.
  if (!scenarios[scenario].isCuda && countOpenFiles() != before)
    return "files that are left open";
  if (result == refused)
    return fault.failed ? NULL : gqGetLastErrorMessage();
  return result == right ? NULL : result;
}

enum { RIGHT = 0, WRONG = 1 };

/// What a process does: its exit status, and the site count through a pipe.
typedef struct Outcome {
  int status;
  long count;
  char text[512];
} Outcome;

static Outcome runInProcess(int scenario, Kind kind, long site,
                            void (*prepare)(void)) {
  Outcome outcome = {0};
  int ends[2], errors[2];
  if (pipe(ends) != 0 || pipe(errors) != 0)
    exit(EXIT_FAILURE);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    dup2(errors[1], STDERR_FILENO);
    close(ends[0]);
    if (prepare)
      prepare();
    const char *wrong = inject(scenario, kind, site);
    if (wrong)
      fprintf(stderr, "%s\n", wrong);
    fault.site = -1;
    if (__real_write(ends[1], &fault.count, sizeof(fault.count)) < 0)
      exit(WRONG);
    exit(wrong ? WRONG : RIGHT);
  }
  close(ends[1]);
  close(errors[1]);
  size_t length = 0;
  for (ssize_t more;
       (more = __real_read(errors[0], outcome.text + length,
                           sizeof(outcome.text) - 1 - length)) > 0;)
    length += (size_t)more;
  // A long report of a sanitizer: its beginning is enough.
  char rest[256];
  while (__real_read(errors[0], rest, sizeof(rest)) > 0)
    continue;
  if (__real_read(ends[0], &outcome.count, sizeof(outcome.count)) < 0)
    outcome.count = 0;
  waitpid(child, &outcome.status, 0);
  close(ends[0]);
  close(errors[0]);
  return outcome;
}

static int numFaults, numFailed;

static void report(int scenario, const char *kind, long site,
                   const char *what) {
  ++numFailed;
  printf("FAIL %s %s %ld: %s\n", scenarios[scenario].name, kind, site, what);
}

/// Whether a process that ended itself said why: memory that ran out.
static bool saidWhy(const Outcome *outcome, Kind kind) {
  return kind == ALLOCATION && WIFSIGNALED(outcome->status) &&
         WTERMSIG(outcome->status) == SIGABRT &&
         strstr(outcome->text, "gq: out of memory");
}

static void judge(int scenario, Kind kind, long site, const Outcome *outcome) {
  ++numFaults;
  bool good = WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 0;
  if (!good && !saidWhy(outcome, kind))
    report(scenario, kindNames[kind], site,
           *outcome->text ? outcome->text : "the process ended");
  if (!emptyCache(/*known=*/true))
    report(scenario, kindNames[kind], site, "the cache holds something else");
}

/// Every site of a scenario, or every `step`-th one.
static void testFaults(int scenario, Kind kind, long step) {
  Outcome outcome = runInProcess(scenario, kind, -1, NULL);
  if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0)
    report(scenario, kindNames[kind], -1, outcome.text);
  emptyCache(/*known=*/numEntries > 0);
  for (long site = 0; site < outcome.count; site += step) {
    Outcome injected = runInProcess(scenario, kind, site, NULL);
    judge(scenario, kind, site, &injected);
  }
  printf("%s, %s: %ld sites\n", scenarios[scenario].name, kindNames[kind],
         outcome.count);
  fflush(stdout);
}

//===----------------------------------------------------------------------===//
// Signals and limits
//===----------------------------------------------------------------------===//

static void ignoreSignal(int signal) { (void)signal; }

/// A signal every 100 microseconds; calls of the system that it interrupts
/// fail with EINTR.
static void interrupt(void) {
  struct sigaction action = {.sa_handler = ignoreSignal};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval timer = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void limitFileSize(void) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {3000, 3000};
  setrlimit(RLIMIT_FSIZE, &limit);
}

static void testPrepared(int scenario, const char *name,
                         void (*prepare)(void)) {
  Outcome outcome = runInProcess(scenario, KINDS, -1, prepare);
  ++numFaults;
  if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0)
    report(scenario, name, -1,
           *outcome.text ? outcome.text : "the process ended");
  if (!emptyCache(/*known=*/true))
    report(scenario, name, -1, "the cache holds something else");
}

/// Kills a process that compiles, sooner or later.
static void testKill(int scenario, int microseconds) {
  pid_t child = fork();
  if (child == 0) {
    scenarios[scenario].run();
    _exit(0);
  }
  usleep((useconds_t)microseconds);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  ++numFaults;
  if (!emptyCache(/*known=*/true))
    report(scenario, "killed", microseconds, "the cache holds something else");
}

int main(int argc, char **argv) {
  strcpy(cache, "gq-faults-XXXXXX");
  if (!mkdtemp(cache))
    return EXIT_FAILURE;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 4) {
    fault.stops = true;
    for (int s = 0; s < SCENARIOS; ++s)
      for (int k = 0; k < KINDS; ++k)
        if (!strcmp(argv[1], scenarios[s].name) &&
            !strcmp(argv[2], kindNames[k])) {
          const char *wrong = inject(s, (Kind)k, atol(argv[3]));
          printf("%s\n", wrong ? wrong : "as it should be");
        }
    return EXIT_SUCCESS;
  }
  // What belongs into the cache.
  for (int s = 0; s < SCENARIOS; ++s) {
    runInProcess(s, KINDS, -1, NULL);
    emptyCache(/*known=*/false);
  }
  // $GQ_FAULT_STEP: only each so-manyth site, where time is short.
  const char *step = getenv("GQ_FAULT_STEP");
  for (int s = 0; s < SCENARIOS; ++s)
    for (int k = 0; k < KINDS; ++k)
      if (scenarios[s].isCuda || (k != DRIVER && k != LOST))
        testFaults(s, (Kind)k, step ? atol(step) : 1);
  testPrepared(0, "interrupted", interrupt);
  testPrepared(2, "interrupted", interrupt);
  testPrepared(0, "limit of file sizes", limitFileSize);
  for (int i = 0; i < 20; ++i)
    testKill(0, 5000 * i);
  emptyCache(/*known=*/true);
  printf("%d faults, %d failed\n", numFaults, numFailed);
  return numFailed ? EXIT_FAILURE : EXIT_SUCCESS;
}
