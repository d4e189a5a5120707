//===- test_no_threads.c - kernels where no thread can be started ---------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM ends a process in which it cannot start a thread.
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Executable.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/// How many more threads can be started, and how many were asked for.
static _Atomic int left, asked;

/// In the place of libc's, for all libraries.
__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*start)(void *), void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  ++asked;
  return left-- > 0 ? real(thread, attributes, start, argument) : EAGAIN;
}

/// Two kernels.
static const char text[] =
    "func.func @sum(%x: tensor<64xf32>, %y: tensor<64xf32>)\n"
    "    -> tensor<64xf32> {\n"
    "  %z = arith.addf %x, %y : tensor<64xf32>\n"
    "  return %z : tensor<64xf32>\n"
    "}\n"
    "func.func @product(%x: tensor<64xf32>, %y: tensor<64xf32>)\n"
    "    -> tensor<64xf32> {\n"
    "  %z = arith.mulf %x, %y : tensor<64xf32>\n"
    "  return %z : tensor<64xf32>\n"
    "}\n";

static void compile(const char *target) {
  gqCompileOptions options = {
      .target = target, .chip = "sm_90a", .cacheDir = ""};
  gqExecutable *executable = NULL;
  if (gqCompile(text, strlen(text), &options, &executable) != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
  gqExecutableDestroy(executable);
}

static void testKernels(void **state) {
  (void)state;
  cpu_set_t processors;
  assert_int_equal(sched_getaffinity(0, sizeof(processors), &processors), 0);
  for (int some = 0; some < 2 && some < CPU_COUNT(&processors); ++some) {
    left = some;
    asked = 0;
    compile("cuda");
    assert_int_equal(asked, some + 1);
  }
  left = INT32_MAX;
  compile("cuda");
}

/// Code for the CPU is compiled without threads.
static void testCpu(void **state) {
  (void)state;
  left = asked = 0;
  compile("cpu");
  assert_int_equal(asked, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testKernels),
      cmocka_unit_test(testCpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
