//===- test_bench_graphs.c - what gq-bench launches, over a fake driver ---===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two sides of gq-bench's comparison are what they claim to be: one kernel
// against one per op, and nothing else in either except the sum of dbias.
//
//===----------------------------------------------------------------------===//

#include "test_cuda_fake.h"

#include "gq/Runtime/Cuda.h"
#include "tools/common/Device.h"
#include "tools/gq-bench/Meter.h"
#include "tools/gq-bench/Problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(gqStatus status) {
  if (status != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
}

/// Compiles an operator in one of its forms, and counts what a call launches.
/// A dbias, and an amax beside codes, is put together by a kernel of its own,
/// in memory of its own; so are tokens that are dequantized first.
static void checkLaunches(const Operator *op, bool isSeparate, int expected) {
  gqCompileOptions options = {.target = "cuda",
                              .noFusion = isSeparate,
                              .cacheDir = "",
                              .chip = "sm_90a",
                              .fuseQuantization = !isSeparate};
  Shape shape;
  Graph graph, all;
  Problem problem;
  Path path = {.graph = &graph, .problem = &problem};
  const Grouping grouping = {.multiple = 1, .capacity = 1};
  assert_true(shapeInit(&shape, /*groupRows=*/200, /*columns=*/128,
                        /*groups=*/3, &grouping));
  assert_true(graphCreate(op, &shape, isSeparate, &graph));
  assert_true(graphCreate(op, &shape, /*isSeparate=*/true, &all));
  check(gqCompile(graph.text, strlen(graph.text), &options, &path.executable));
  check(problemCreate((DLDevice){kDLCUDA, 0}, &shape, &all, 1, &problem));
  check(pathInvoke(&path, 0));
  bool reduces = op->parts & (HAS_DBIAS | HAS_DELAYED_SCALE | HAS_WORKSPACE);
  int launches = fakeCudaCalls("cuLaunchKernelEx");
  int copies = fakeCudaCalls("cuMemcpyAsync");
  int allocations = fakeCudaCalls("cuMemAllocFromPoolAsync");
  check(pathInvoke(&path, 0));
  assert_int_equal(fakeCudaCalls("cuLaunchKernelEx"),
                   launches + expected + reduces);
  assert_int_equal(fakeCudaCalls("cuMemcpyAsync"), copies);
  assert_int_equal(fakeCudaCalls("cuMemAllocFromPoolAsync"),
                   allocations + reduces);
  problemFree(&problem);
  gqExecutableDestroy(path.executable);
  graphFree(&graph);
  graphFree(&all);
  shapeFree(&shape);
}

static void testGroups(void **state) {
  (void)state;
  for (int64_t multiple = 1; multiple <= 256; multiple *= 16) {
    Shape shape;
    const Grouping grouping = {.multiple = multiple, .capacity = 1};
    assert_true(shapeInit(&shape, /*groupRows=*/1000, /*columns=*/64,
                          /*groups=*/9, &grouping));
    int64_t scaleRows = 0;
    assert_int_equal(shape.offsets[0], 0);
    for (int e = 0; e < 9; ++e) {
      assert_int_equal(shape.offsets[e] % multiple, 0);
      assert_true(shape.offsets[e] <= shape.offsets[e + 1]);
      assert_int_equal(shape.scaleOffsets[e], scaleRows);
      scaleRows += (shape.offsets[e + 1] - shape.offsets[e] + 127) / 128 * 128;
    }
    assert_int_equal(shape.offsets[9], 1000);
    assert_int_equal(shape.scaleRows, scaleRows);
    shapeFree(&shape);
  }
}

/// Amaxes are cleared and raised before a scale is known, but those of rows
/// that are fused.
static int amaxLaunches(const Operator *op, bool isSeparate) {
  bool isFused = !isSeparate && !(op->parts & HAS_COLUMNS);
  return op->parts & HAS_CURRENT_SCALE || (op->parts & HAS_TOKENS && !isFused)
             ? 2
             : 0;
}

static int fusedLaunches(const Operator *op) {
  return op->parts & IS_AMAX ? 2 : 1 + amaxLaunches(op, /*isSeparate=*/false);
}

/// Whether an operator is left out, since to compile takes long: by
/// $GQ_TEST_STEP, or because the one before differs only in N.
static bool isLeftOut(size_t i) {
  const Operator *op = &operators[i], *last = i ? op - 1 : op;
  const char *step = getenv("GQ_TEST_STEP");
  return (step && atoi(step) > 0 && i % (size_t)atoi(step) != 0) ||
         (i && op->outColumns != last->outColumns && op->parts == last->parts &&
          op->format == last->format && op->producer == last->producer);
}

static void testFused(void **state) {
  (void)state;
  for (size_t i = 0; i < numOperators; ++i)
    if (!isLeftOut(i))
      checkLaunches(&operators[i], /*isSeparate=*/false,
                    fusedLaunches(&operators[i]));
}

/// A fill and a loop sum up padded rows; rows by themselves are quantized and
/// laid out; directions have an op each. A product, a gradient of weights, a
/// dequantization but for what follows it, or an amax is one op in either form.
static int separateLaunches(const Operator *op) {
  int activation = op->producer || op->parts & HAS_GATHER;
  if (op->parts &
      (HAS_PRODUCT | HAS_GRADIENT | IS_DEQUANTIZED | IS_AMAX | IS_OFFSETS))
    return fusedLaunches(op) + (op->parts & IS_REQUANTIZED ? 1 : activation);
  if (op->parts & (HAS_DELAYED_SCALE | HAS_CURRENT_SCALE | HAS_TOKENS))
    return amaxLaunches(op, /*isSeparate=*/true) +
           ((op->parts & HAS_BOTH) == HAS_BOTH ? 2 : 1);
  switch (op->parts & (HAS_BOTH | HAS_PACKED_SCALES | HAS_DBIAS)) {
  case HAS_ROWS: // What needs an outer amax, or has no tiles, is one op.
    return activation +
           (op->parts & HAS_OUTER_AMAX ||
                    gqFormatGetTraits(op->format).scaleType == GQ_F32
                ? 1
                : 2);
  case HAS_COLUMNS:
  case HAS_ROWS | HAS_DBIAS:
    return activation + 1;
  case HAS_ROWS | HAS_PACKED_SCALES:
    return activation + 3;
  }
  return activation + 2;
}

static void testSeparate(void **state) {
  (void)state;
  for (size_t i = 0; i < numOperators; ++i)
    // What is one op by itself was compiled above.
    if (!isLeftOut(i) && (operators[i].producer ||
                          !(operators[i].parts & (HAS_PRODUCT | HAS_GRADIENT))))
      checkLaunches(&operators[i], /*isSeparate=*/true,
                    separateLaunches(&operators[i]));
}

/// Calls are made and timed, as many as it says; the kernels take no time.
static void testHostTime(void **state) {
  (void)state;
  const Operator *op = operatorFind("quantize-bf16");
  gqCompileOptions options = {
      .target = "cuda", .cacheDir = "", .chip = "sm_90a"};
  Shape shape;
  Graph graph;
  Problem problem;
  Stopwatch stopwatch;
  Path path = {.graph = &graph, .problem = &problem};
  const Grouping grouping = {.multiple = 1, .capacity = 1};
  const DLDevice device = {kDLCUDA, 0};
  assert_true(shapeInit(&shape, /*groupRows=*/200, /*columns=*/128,
                        /*groups=*/3, &grouping));
  assert_true(graphCreate(op, &shape, /*isSeparate=*/false, &graph));
  check(gqCompile(graph.text, strlen(graph.text), &options, &path.executable));
  check(problemCreate(device, &shape, &graph, 1, &problem));
  check(stopwatchCreate(device, &stopwatch));
  int launches = fakeCudaCalls("cuLaunchKernelEx");
  double microseconds = 0;
  check(stopwatchHostTime(&stopwatch, pathInvokeRepeatedly, &path,
                          &microseconds));
  assert_int_equal(fakeCudaCalls("cuLaunchKernelEx"), launches + 1 + 30 * 50);
  assert_true(microseconds > 0 && microseconds < 1000);
  stopwatchDestroy(&stopwatch);
  problemFree(&problem);
  gqExecutableDestroy(path.executable);
  graphFree(&graph);
  shapeFree(&shape);
}

/// The faster of two ways to copy, if both were measured.
static void testCopyTimes(void **state) {
  (void)state;
  static const double cases[][3] = {{4, 3, 3}, {3, 4, 3}, {5, 0, 5}, {0, 2, 2}};
  for (int i = 0; i < 4; ++i)
    assert_true(copyTimesBest(&(CopyTimes){cases[i][0], cases[i][1]}) ==
                cases[i][2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testGroups), cmocka_unit_test(testFused),
      cmocka_unit_test(testSeparate), cmocka_unit_test(testHostTime),
      cmocka_unit_test(testCopyTimes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
