//===- test_threads.c - sixteen threads, and processes, at once -----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads compile into one cache and call one executable, and each makes
// mistakes of its own, which no other thread sees; then processes share a
// cache. Under ThreadSanitizer (the preset "tsan") races show that bytes do
// not.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "gq/Runtime/Cpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 16, PROCESSES = 4, ROWS = 3, CALLS = 40 };

static const char text[] =
    "func.func @main(%x: tensor<?x16xf32>, %o: tensor<?xi32>,\n"
    "    %q0: tensor<?x8xi8>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)\n"
    "    -> (tensor<?x8xi8>, tensor<?x4xf8E4M3FN, #gq.tile128x4>,\n"
    "        tensor<?x16xf32>) {\n"
    "  %q, %s = gq.grouped_block_quantize format(nvfp4)\n"
    "      ins(%x : tensor<?x16xf32>) groups(%o : tensor<?xi32>)\n"
    "      outs(%q0, %s0 : tensor<?x8xi8>,\n"
    "           tensor<?x4xf8E4M3FN, #gq.tile128x4>)\n"
    "      -> tensor<?x8xi8>, tensor<?x4xf8E4M3FN, #gq.tile128x4>\n"
    "  %y = arith.addf %x, %x : tensor<?x16xf32>\n"
    "  return %q, %s, %y : tensor<?x8xi8>,\n"
    "      tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?x16xf32>\n"
    "}\n";

static char cache[] = "gq-test-threads-XXXXXX";

/// What a thread has: `wrong`, if not null, is what went wrong.
typedef struct Worker {
  pthread_t thread;
  int number;
  gqExecutable *executable;
  const char *wrong;
} Worker;

/// Calls the function; with `mistake` the offsets are wrong in a way that names
/// the thread.
static const char *callOnce(gqExecutable *executable, int number,
                            bool mistake) {
  float x[ROWS * 16];
  int32_t offsets[] = {0, 1, mistake ? 1000 + number : ROWS};
  uint8_t q[ROWS * 8], s[256 * 4];
  for (int i = 0; i < ROWS * 16; ++i)
    x[i] = i % 16 == 0 ? 6.0f : (float)(number % 4);
  Tensor tensors[4];
  DLTensor *inputs[] = {
      makeTensor(&tensors[0], float32Type, x, 2, (int64_t[]){ROWS, 16}),
      makeTensor(&tensors[1], int32Type, offsets, 1, (int64_t[]){3}),
      makeTensor(&tensors[2], uint8Type, q, 2, (int64_t[]){ROWS, 8}),
      makeTensor(&tensors[3], uint8Type, s, 2, (int64_t[]){256, 4})};
  DLManagedTensor *outputs[3];
  gqStatus status = gqInvoke(executable, "main", inputs, 4, outputs, 3);
  if (mistake) {
    char expected[16];
    snprintf(expected, sizeof(expected), "%d", 1000 + number);
    return status == GQ_INVALID_OFFSETS &&
                   strstr(gqGetLastErrorMessage(), expected)
               ? NULL
               : "another thread's failure, or none";
  }
  if (status != GQ_OK)
    return "a failure of another thread";
  static const uint8_t codes[] = {0, 2, 4, 5};
  uint8_t code = codes[number % 4];
  bool right = q[0] == (7 | code << 4) && q[1] == (code | code << 4);
  right &= ((const float *)outputs[2]->dl_tensor.data)[16] == 12;
  for (int i = 0; i < 3; ++i)
    outputs[i]->deleter(outputs[i]);
  return right ? NULL : "wrong bytes";
}

static void *work(void *argument) {
  Worker *worker = argument;
  for (int i = 0; i < CALLS && !worker->wrong; ++i)
    worker->wrong = callOnce(worker->executable, worker->number,
                             (i + worker->number) % 3 == 0);
  gqCompileOptions options = {.cacheDir = cache};
  gqExecutable *own = NULL;
  if (!worker->wrong && gqCompile(text, strlen(text), &options, &own) != GQ_OK)
    worker->wrong = "a module that compiles";
  if (!worker->wrong)
    worker->wrong = callOnce(own, worker->number, false);
  gqExecutableDestroy(own);
  // Those who make mistakes are told, in the compiler too.
  if (!worker->wrong && gqCompile("%", 1, &options, &own) != GQ_COMPILE_ERROR)
    worker->wrong = "a module that does not compile";
  return NULL;
}

static void testThreads(void **state) {
  (void)state;
  gqCompileOptions options = {.cacheDir = ""};
  gqExecutable *executable;
  if (gqCompile(text, strlen(text), &options, &executable) != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
  Worker workers[THREADS] = {0};
  for (int i = 0; i < THREADS; ++i) {
    workers[i].number = i;
    workers[i].executable = executable;
    assert_int_equal(
        pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i)
    pthread_join(workers[i].thread, NULL);
  gqExecutableDestroy(executable);
  for (int i = 0; i < THREADS; ++i)
    if (workers[i].wrong)
      fail_msg("thread %d: %s", i, workers[i].wrong);
}

static const char *program;

/// Processes fill one cache and use each other's entries.
static void testProcesses(void **state) {
  (void)state;
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; ++i) {
    children[i] = fork();
    if (children[i] == 0) {
      char number[16];
      snprintf(number, sizeof(number), "%d", i);
      execl(program, program, number, cache, (char *)NULL);
      _exit(127);
    }
  }
  for (int i = 0; i < PROCESSES; ++i) {
    int status;
    assert_int_equal(waitpid(children[i], &status, 0), children[i]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
}

/// One of the processes: it compiles modules that others compile too.
static int runProcess(int number, const char *folder) {
  gqCompileOptions options = {.cacheDir = folder};
  for (int i = 0; i < 6; ++i) {
    char module[sizeof(text) + 32];
    snprintf(module, sizeof(module), "// %d\n%s", (i + number) % 3, text);
    gqExecutable *executable;
    if (gqCompile(module, strlen(module), &options, &executable) != GQ_OK ||
        callOnce(executable, i, false))
      return EXIT_FAILURE;
    gqExecutableDestroy(executable);
  }
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc == 3)
    return runProcess(atoi(argv[1]), argv[2]);
  if (!mkdtemp(cache))
    return EXIT_FAILURE;
  const struct CMUnitTest tests[] = {cmocka_unit_test(testThreads),
                                     cmocka_unit_test(testProcesses)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof(command), "rm -rf %s", cache);
  return system(command) == 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
