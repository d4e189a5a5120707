//===- test_overlap.c - operands that share memory ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All pairs of small matrices in a few bytes against a count of each byte; and
// each op with every pair of operands in one place.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "lib/Runtime/Overlap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

//===----------------------------------------------------------------------===//
// Spans
//===----------------------------------------------------------------------===//

enum { ORIGIN = 64, MAX_SPANS = 4096 };

/// A set of bytes around ORIGIN, one bit each.
typedef unsigned __int128 Bytes;

static Bytes bytesOf(gqSpan span) {
  Bytes bytes = 0;
  for (int64_t i = 0; i < span.rows; ++i)
    for (int64_t k = 0; k < span.width; ++k)
      bytes |= (Bytes)1 << ((int64_t)span.begin + i * span.stride + k);
  return bytes;
}

static void testSpans(void **state) {
  (void)state;
  static gqSpan spans[MAX_SPANS];
  static Bytes bytes[MAX_SPANS];
  int count = 0;
  for (int64_t begin = ORIGIN; begin < ORIGIN + 8; ++begin)
    for (int64_t rows = 0; rows <= 3; ++rows)
      for (int64_t width = 0; width <= 3; ++width)
        for (int64_t stride = -4; stride <= 6; ++stride) {
          spans[count] = (gqSpan){(uintptr_t)begin, rows, width, stride};
          bytes[count] = bytesOf(spans[count]);
          ++count;
        }
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < count; ++k)
      if (gqSpansOverlap(spans[i], spans[k]) != !!(bytes[i] & bytes[k]))
        fail_msg("%d and %d", i, k);
}

static void testExtremes(void **state) {
  (void)state;
  const int64_t most = (int64_t)1 << 56;
  gqSpan all = {0, 1, most, 0};
  assert_true(gqSpansOverlap(all, (gqSpan){(uintptr_t)most - 1, 1, 1, 0}));
  assert_false(gqSpansOverlap(all, (gqSpan){(uintptr_t)most, 1, 1, 0}));
  // Rows far apart, without walking over them.
  gqSpan even = {0, most / 2, 1, 2}, odd = {1, most / 2, 1, 2};
  assert_false(gqSpansOverlap(even, odd));
  odd.begin = (uintptr_t)most - 2;
  assert_true(gqSpansOverlap(even, odd));
  gqSpan wild = {8, most, 1, INT64_MIN};
  assert_false(gqSpansOverlap(wild, (gqSpan){9, 1, 8, 0}));
  // Nothing takes long.
  assert_true(gqSpansOverlap(even, (gqSpan){1, most / 4, 1, 4}));
}

static void testSpanOf(void **state) {
  (void)state;
  char memory[64];
  gqBuffer buffer = {.data = memory,
                     .type = GQ_F32,
                     .rank = 2,
                     .sizes = {3, 2},
                     .strides = {5, 1}};
  gqSpan span = gqSpanOf(&buffer);
  assert_int_equal(span.begin, (uintptr_t)memory);
  assert_int_equal(span.rows, 3);
  assert_int_equal(span.width, 8);
  assert_int_equal(span.stride, 20);
  gqBuffer whole = cube(memory, GQ_BF16, 2, 3, 4);
  span = gqSpanOf(&whole);
  assert_int_equal(span.rows, 1);
  assert_int_equal(span.width, 48);
  gqBuffer absent = {0};
  assert_int_equal(gqSpanOf(&absent).rows, 0);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The op has refused its operands, of which `written` and `other` overlap, and
/// has written nothing.
static void assertRefused(Problem *p, const char *op, const char *written,
                          const char *other) {
  char message[128];
  snprintf(message, sizeof(message),
           "%s: %s is written and overlaps %s in memory", op, written, other);
  assert_int_equal(gqCpuStatus(), GQ_INVALID_ARGUMENT);
  assert_string_equal(gqGetLastErrorMessage(), message);
  assertUntouched(&p->data);
  assertUntouched(&p->scales);
  assertUntouched(&p->linearScales);
  assertUntouched(&p->out);
}

static void testBlockQuantize(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  p.quantize.scales.data = (char *)p.quantize.data.data + M * K / 2 - 1;
  runQuantize(&p);
  assertRefused(&p, "block_quantize", "scales", "data");
  makeOperands(&p, GQ_BF16);
  p.quantize.data.data = (char *)p.quantize.input.data + 1;
  runQuantize(&p);
  assertRefused(&p, "block_quantize", "data", "input");
  problemFree(&p);
}

/// Data and scales in the columns of one matrix: rows lie in each other's gaps.
static void testColumnsOfOneMatrix(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  Memory packed = memoryNew((int64_t)M * (K / 2 + C), 0xa5);
  gqBlockQuantizeOperands *o = &p.quantize;
  runQuantize(&p);
  assertOk();
  o->data.data = packed.bytes;
  o->scales.data = packed.bytes + K / 2;
  o->data.strides[0] = o->scales.strides[0] = K / 2 + C;
  runQuantize(&p);
  assertOk();
  for (int64_t m = 0; m < M; ++m) {
    const uint8_t *row = packed.bytes + m * (K / 2 + C);
    assert_memory_equal(row, p.data.bytes + m * K / 2, K / 2);
    assert_memory_equal(row + K / 2, p.linearScales.bytes + m * C, C);
  }
  assertGuards(&packed);
  // A byte of each row is in both.
  memset(packed.bytes, 0xa5, (size_t)packed.size);
  o->scales.data = packed.bytes + K / 2 - 1;
  runQuantize(&p);
  assert_int_equal(gqCpuStatus(), GQ_INVALID_ARGUMENT);
  assertUntouched(&packed);
  memoryFree(&packed);
  problemFree(&p);
}

static void testPreprocess(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  p.preprocess.input.data = p.preprocess.scales.data;
  runPreprocess(&p);
  assertRefused(&p, "preprocess_grouped_matmul_sf", "scales", "input");
  problemFree(&p);
}

/// The operands that follow offsets: scale offsets that are derived would be
/// stored over offsets that are yet to be read.
static void testGrouped(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  p.grouped.scaleOffsets = (gqBuffer){0};
  p.grouped.scaleOffsetsOut = vector(p.offsets + 1, GQ_I64, G);
  runGrouped(&p);
  assertRefused(&p, "grouped_block_quantize", "scale_offsets_out", "offsets");
  // Inputs may overlap.
  makeOperands(&p, GQ_BF16);
  p.grouped.globalScale = vector(p.grouped.input.data, GQ_F32, G);
  runGrouped(&p);
  assertOk();
  problemFree(&p);

  p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  p.grouped.amax = vector(p.grouped.scales.data, GQ_F32, G);
  runGrouped(&p);
  assertRefused(&p, "grouped_block_quantize", "amax", "scales");
  problemFree(&p);
}

static void testGroupedMm(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  p.mm.out.data = p.mm.b.data;
  runMm(&p);
  assertRefused(&p, "grouped_mm", "out", "b");
  problemFree(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testSpans),
      cmocka_unit_test(testExtremes),
      cmocka_unit_test(testSpanOf),
      cmocka_unit_test(testBlockQuantize),
      cmocka_unit_test(testColumnsOfOneMatrix),
      cmocka_unit_test(testPreprocess),
      cmocka_unit_test(testGrouped),
      cmocka_unit_test(testGroupedMm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
