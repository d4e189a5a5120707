//===- test_bench_graphs.c - what gq-bench launches, over a fake driver ---===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two sides of gq-bench's comparison are what they are said to be: one
// kernel against one an op, and nothing else in either.
//
//===----------------------------------------------------------------------===//

#include "test_cuda_fake.h"

#include "gq/Runtime/Cuda.h"
#include "tools/gq-bench/Problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void check(gqStatus status) {
  if (status != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
}

/// Compiles an operator in one of its forms, and counts what a call launches.
static void checkLaunches(const Operator *op, bool isSeparate, int expected) {
  gqCompileOptions options = {.target = "cuda",
                              .noFusion = isSeparate,
                              .cacheDir = "",
                              .chip = "sm_90a"};
  Shape shape;
  Graph graph, all;
  Problem problem;
  Path path = {.graph = &graph, .problem = &problem};
  assert_true(shapeInit(&shape, /*rows=*/200, /*columns=*/64, /*groups=*/3));
  assert_true(graphCreate(op, &shape, isSeparate, &graph));
  assert_true(graphCreate(op, &shape, /*keepsIntermediates=*/true, &all));
  check(gqCompile(graph.text, strlen(graph.text), &options, &path.executable));
  check(problemCreate((DLDevice){kDLCUDA, 0}, &shape, &all, 1, &problem));
  check(pathInvoke(&path, 0));
  int launches = fakeCudaCalls("cuLaunchKernelEx");
  int copies = fakeCudaCalls("cuMemcpyAsync");
  int allocations = fakeCudaCalls("cuMemAllocFromPoolAsync");
  check(pathInvoke(&path, 0));
  assert_int_equal(fakeCudaCalls("cuLaunchKernelEx"), launches + expected);
  assert_int_equal(fakeCudaCalls("cuMemcpyAsync"), copies);
  assert_int_equal(fakeCudaCalls("cuMemAllocFromPoolAsync"), allocations);
  problemFree(&problem);
  gqExecutableDestroy(path.executable);
  graphFree(&graph);
  graphFree(&all);
  shapeFree(&shape);
}

static void testFused(void **state) {
  (void)state;
  for (size_t i = 0; i < numOperators; ++i)
    checkLaunches(&operators[i], /*isSeparate=*/false, 1);
}

static void testSeparate(void **state) {
  (void)state;
  for (size_t i = 0; i < numOperators; ++i)
    checkLaunches(&operators[i], /*isSeparate=*/true,
                  operators[i].producer ? 3 : 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testFused),
                                     cmocka_unit_test(testSeparate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
