//===- test_cpu_errors.c - what the ops refuse, and in which words -------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

/// An op that must refuse one defect after another of a sound problem.
typedef struct Refusal {
  const char *op;
  void (*run)(Problem *p);
  Problem sound;
  /// What the test spoils.
  Problem problem;
} Refusal;

static void restore(Refusal *r) {
  r->problem = r->sound;
  makeOperands(&r->problem, GQ_BF16);
}

/// In place, because the operands point into the problem.
static void refusalInit(Refusal *r, const char *op, void (*run)(Problem *p)) {
  *r = (Refusal){.op = op, .run = run, .sound = problemNew(GQ_BF16, 0xa5)};
  restore(r);
}

/// The op ran and failed with this status and message, without writing a byte
/// of any output. The problem is sound again.
static void assertRefused(Refusal *r, gqStatus expected, const char *text) {
  char message[512];
  snprintf(message, sizeof(message), "%s: %s", r->op, text);
  gqStatus status = gqCpuStatus();
  if (status != expected)
    fail_msg("status %s, expected %s: %s", gqStatusName(status),
             gqStatusName(expected), message);
  assert_string_equal(gqGetLastErrorMessage(), message);
  assertUntouched(&r->problem.data);
  assertUntouched(&r->problem.scales);
  assertUntouched(&r->problem.linearScales);
  assertUntouched(&r->problem.out);
  restore(r);
}

/// The op, run on the spoilt problem, refuses it.
static void refuses(Refusal *r, gqStatus expected, const char *text) {
  r->run(&r->problem);
  assertRefused(r, expected, text);
}

static void testBlockQuantizeRefuses(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "block_quantize", runQuantize);
  Problem *p = &r.problem;

  gqCpuBlockQuantize(&p->quantize, 3, GQ_SCALE_LAYOUT_LINEAR);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "format 3 is not supported, expected nvfp4 (0)");

  gqCpuBlockQuantize(&p->quantize, GQ_FORMAT_NVFP4, GQ_SCALE_LAYOUT_TILE128X4);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "scale_layout 1 is not supported, expected linear (0)");

  p->quantize.input.type = GQ_F64;
  refuses(&r, GQ_INVALID_ARGUMENT, "input is f64, expected f32, bf16 or f16");

  p->quantize.input.type = 32 + GQ_F32;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input is an unknown type, expected f32, bf16 or f16");

  p->quantize.input.type = GQ_F32 - 32;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input is an unknown type, expected f32, bf16 or f16");

  p->quantize.input.rank = 3;
  refuses(&r, GQ_INVALID_ARGUMENT, "input has rank 3, expected [M, K]");

  p->quantize.input.rank = -1;
  refuses(&r, GQ_INVALID_ARGUMENT, "input has rank -1, expected [M, K]");

  p->quantize.input.sizes[0] = -1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has shape [-1, 1136], which no memory can hold");

  p->quantize.input.sizes[0] = INT64_MAX;
  refuses(
      &r, GQ_INVALID_ARGUMENT,
      "input has shape [9223372036854775807, 1136], which no memory can hold");

  p->quantize.input.sizes[0] = (int64_t)1 << 50;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has shape [1125899906842624, 1136], which no memory can hold");

  p->quantize.input.strides[1] = 2;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has strides [1136, 2] for shape [700, 1136], expected an "
          "inner stride of 1");

  p->quantize.input.data = NULL;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has shape [700, 1136] but no memory (a null pointer)");

  p->quantize.input.sizes[1] = 0;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has K = 0 columns, expected a positive multiple of the block "
          "of 16");

  p->quantize.input.sizes[1] = 1128;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has K = 1128 columns, expected a positive multiple of the "
          "block of 16");

  p->quantize.data.sizes[1] = K / 2 - 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has shape [700, 567], expected [700, 568] = [M, K / 2]");

  p->quantize.data.sizes[0] = M - 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has shape [699, 568], expected [700, 568] = [M, K / 2]");

  p->quantize.data.strides[0] = K / 2 - 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has strides [567, 1] for shape [700, 568], expected an inner "
          "stride of 1 and rows that do not overlap");

  p->quantize.data.type = GQ_I16;
  refuses(&r, GQ_INVALID_ARGUMENT, "data is i16, expected i8");

  p->quantize.scales.sizes[1] = P;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scales has shape [700, 72], expected [700, 71] = [M, K / 16]");

  p->quantize.globalScale = vector(p->globalScales, GQ_F32, G);
  refuses(&r, GQ_INVALID_ARGUMENT, "global_scale has rank 1, expected []");

  p->quantize.globalScale = scalar(p->globalScales, GQ_F64);
  refuses(&r, GQ_INVALID_ARGUMENT, "global_scale is f64, expected f32");

  problemFree(&r.sound);
}

static void testPreprocessRefuses(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "preprocess_grouped_matmul_sf", runPreprocess);
  Problem *p = &r.problem;

  gqCpuPreprocessGroupedMatmulSf(&p->preprocess, GQ_FORMAT_NVFP4,
                                 GQ_SCALE_LAYOUT_LINEAR);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "scale_layout 0 is not supported, expected tile128x4 (1)");

  p->preprocess.input.type = GQ_F8E5M2;
  refuses(&r, GQ_INVALID_ARGUMENT, "input is f8E5M2, expected f8E4M3FN");

  p->preprocess.input.sizes[0] = -1;
  p->preprocess.input.sizes[1] = -1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has shape [-1, -1], which no memory can hold");

  p->preprocess.scales.sizes[1] = 68;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scales has shape [1408, 68], expected [1408, 72] = [R, up(C, 4)] "
          "for C = K / 16 scale columns");

  p->preprocess.scales.strides[0] = P + 4;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scales has strides [76, 1] for shape [1408, 72], expected a "
          "contiguous buffer");

  p->preprocess.scales.sizes[0] = R - 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scales has 1407 rows, expected a multiple of 128");

  p->offsets[3] = 7;
  refuses(&r, GQ_INVALID_OFFSETS,
          "offsets[3] = 7 is smaller than offsets[2] = 120; row starts must "
          "not decrease");

  problemFree(&r.sound);
}

static void testGroupedBlockQuantizeRefuses(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "grouped_block_quantize", runGrouped);
  Problem *p = &r.problem;

  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4,
                            GQ_SCALE_LAYOUT_TILE128X4, 2);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "rows 2 is unknown, expected all (0) or grouped (1)");

  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4,
                            GQ_SCALE_LAYOUT_LINEAR, GQ_ROWS_ALL);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "scale_layout 0 is not supported, expected tile128x4 (1)");

  p->grouped.input.sizes[1] = K - 8;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has K = 1128 columns, expected a positive multiple of the "
          "block of 16");

  p->grouped.data.sizes[0] = M + 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has shape [701, 568], expected [700, 568] = [M, K / 2]");

  int32_t indices[M] = {0};
  p->grouped.rowIndices = vector(indices, GQ_I32, M - 1);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has shape [700, 568], expected [699, 568] = [M, K / 2]");

  p->grouped.rowIndices = matrix(indices, GQ_I32, M, 1);
  refuses(&r, GQ_INVALID_ARGUMENT, "row_indices has rank 2, expected [M]");

  p->grouped.rowIndices = scalar(indices, GQ_I32);
  refuses(&r, GQ_INVALID_ARGUMENT, "row_indices has rank 0, expected [M]");

  p->grouped.rowIndices = vector(indices, GQ_F32, M);
  refuses(&r, GQ_INVALID_ARGUMENT, "row_indices is f32, expected i32 or i64");

  p->grouped.rowIndices = vector(NULL, GQ_I32, M);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "row_indices has shape [700] but no memory (a null pointer)");

  p->grouped.rowIndices = vector(indices, GQ_I32, M);
  p->grouped.rowIndices.strides[0] = 2;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "row_indices has strides [2] for shape [700], expected a contiguous "
          "buffer");

  p->grouped.rowIndices = vector(indices, GQ_I32, M);
  indices[M - 1] = M;
  refuses(&r, GQ_INVALID_ROW_INDICES,
          "row_indices[699] = 700 is not one of the 700 rows of input");
  indices[M - 1] = 0;

  // A row in no group counts too.
  p->grouped.rowIndices = vector(indices, GQ_I32, M);
  indices[0] = -1;
  refuses(&r, GQ_INVALID_ROW_INDICES,
          "row_indices[0] = -1 is not one of the 700 rows of input");
  indices[0] = 0;

  int64_t wideIndices[M] = {[3] = INT64_C(1) << 62};
  p->grouped.rowIndices = vector(wideIndices, GQ_I64, M);
  refuses(&r, GQ_INVALID_ROW_INDICES,
          "row_indices[3] = 4611686018427387904 is not one of the 700 rows of "
          "input");

  p->grouped.rowIndices = vector(indices, GQ_I32, M);
  p->grouped.input = matrix(NULL, GQ_BF16, 0, K);
  refuses(&r, GQ_INVALID_ROW_INDICES,
          "row_indices[0] = 0 is not one of the 0 rows of input");

  p->grouped.globalScale = vector(p->globalScales, GQ_F32, G - 1);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "global_scale has shape [5], expected [6] = [G]");

  p->grouped.globalScale = matrix(p->globalScales, GQ_F32, 1, G);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "global_scale has rank 2, expected [] or [G]");

  p->offsets[3] = 7;
  refuses(&r, GQ_INVALID_OFFSETS,
          "offsets[3] = 7 is smaller than offsets[2] = 120; row starts must "
          "not decrease");

  p->offsets[0] = -1;
  refuses(&r, GQ_INVALID_OFFSETS,
          "offsets[0] = -1 is negative; row starts lie in [0, 700]");

  p->offsets[2] = INT64_MIN;
  refuses(&r, GQ_INVALID_OFFSETS,
          "offsets[2] = -9223372036854775808 is negative; row starts lie in "
          "[0, 700]");

  p->offsets[G] = M + 1;
  refuses(&r, GQ_INVALID_OFFSETS,
          "offsets[6] = 701 lies beyond the 700 rows there are");

  p->offsets[1] = (int64_t)1 << 62;
  refuses(
      &r, GQ_INVALID_OFFSETS,
      "offsets[1] = 4611686018427387904 lies beyond the 700 rows there are");

  p->grouped.offsets.sizes[0] = G + 2;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "offsets has 8 entries, expected 7 or 6, for the 6 groups of "
          "scale_offsets");

  p->grouped.offsets.sizes[0] = G - 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "offsets has 5 entries, expected 7 or 6, for the 6 groups of "
          "scale_offsets");

  p->grouped.offsets.type = GQ_I16;
  refuses(&r, GQ_INVALID_ARGUMENT, "offsets is i16, expected i32 or i64");

  p->grouped.offsets.strides[0] = 2;
  refuses(
      &r, GQ_INVALID_ARGUMENT,
      "offsets has strides [2] for shape [7], expected a contiguous buffer");

  p->grouped.offsets.rank = 2;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "offsets has rank 2, expected [G + 1] or [G]");

  p->grouped.offsets.data = NULL;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "offsets has shape [7] but no memory (a null pointer)");

  p->grouped.scaleOffsets.type = GQ_I32;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scale_offsets is i32, expected i64, as offsets");

  p->scaleOffsets[3] = 513;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[3] = 513 is not a multiple of 128");

  p->scaleOffsets[0] = -128;
  refuses(&r, GQ_INVALID_OFFSETS, "scale_offsets[0] = -128 is negative");

  p->scaleOffsets[0] = INT64_MIN;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[0] = -9223372036854775808 is negative");

  p->scaleOffsets[4] = 640;
  refuses(
      &r, GQ_INVALID_OFFSETS,
      "scale_offsets[4] = 640 overlaps group 3, whose padded rows end at 768");

  p->scaleOffsets[2] = 0;
  refuses(
      &r, GQ_INVALID_OFFSETS,
      "scale_offsets[2] = 0 overlaps group 1, whose padded rows end at 256");

  p->scaleOffsets[4] = 1152;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[4] = 1152 leaves no room for the 300 rows of group 4, "
          "padded to 384: scales has 1408 rows");

  p->scaleOffsets[4] = (int64_t)1 << 62;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[4] = 4611686018427387904 leaves no room for the 300 "
          "rows of group 4, padded to 384: scales has 1408 rows");

  p->scaleOffsets[4] = INT64_MAX - 127;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[4] = 9223372036854775680 leaves no room for the 300 "
          "rows of group 4, padded to 384: scales has 1408 rows");

  p->scaleOffsets[5] = INT64_MAX - 127;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[5] = 9223372036854775680 leaves no room for the 0 "
          "rows of group 5, padded to 0: scales has 1408 rows");

  p->scaleOffsets[5] = R + 128;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[5] = 1536 leaves no room for the 0 rows of group 5, "
          "padded to 0: scales has 1408 rows");

  // Without the bound, group 5 runs to M.
  p->grouped.offsets.sizes[0] = G;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[5] = 1408 leaves no room for the 151 rows of group 5, "
          "padded to 256: scales has 1408 rows");

  p->grouped.scales.sizes[1] = C;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scales has shape [1408, 71], expected [1408, 72] = [R, up(C, 4)] "
          "for C = K / 16 scale columns");

  p->grouped.scales.type = GQ_I8;
  refuses(&r, GQ_INVALID_ARGUMENT, "scales is i8, expected f8E4M3FN");

  problemFree(&r.sound);
}

static void testGroupedMmRefuses(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "grouped_mm", runMm);
  Problem *p = &r.problem;

  gqCpuGroupedMm(&p->mm, GQ_FORMAT_NVFP4, GQ_SCALE_LAYOUT_LINEAR);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "scale_layout 0 is not supported, expected tile128x4 (1)");

  p->mm.a.type = GQ_F8E4M3FN;
  refuses(&r, GQ_INVALID_ARGUMENT, "a is f8E4M3FN, expected i8");

  p->mm.a.sizes[1] = K / 2 - 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "a has K = 1134 columns, expected a positive multiple of the block "
          "of 16");

  p->mm.b.sizes[0] = G - 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "b has shape [5, 77, 568], expected [6, 77, 568] = [G, N, K / 2]");

  p->mm.b.sizes[2] = K / 2 + 8;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "b has shape [6, 77, 576], expected [6, 77, 568] = [G, N, K / 2]");

  p->mm.b.strides[1] = K;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "b has strides [43736, 1136, 1] for shape [6, 77, 568], expected a "
          "contiguous buffer");

  p->mm.b.sizes[1] = INT64_MAX;
  refuses(
      &r, GQ_INVALID_ARGUMENT,
      "b has shape [6, 9223372036854775807, 568], which no memory can hold");

  // Empty, so that no product of extents tells; up(N, 128) would overflow.
  p->mm.offsets.sizes[0] = 1;
  p->mm.scaleOffsets.sizes[0] = 0;
  p->mm.b.sizes[0] = 0;
  p->mm.b.sizes[1] = INT64_MAX;
  refuses(
      &r, GQ_INVALID_ARGUMENT,
      "b has shape [0, 9223372036854775807, 568], which no memory can hold");

  p->mm.aScales.sizes[1] = C;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "a_scales has shape [1408, 71], expected [1408, 72] = [R, up(C, 4)] "
          "for C = K / 16 scale columns");

  p->mm.bScales.sizes[1] = N;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "b_scales has shape [6, 77, 72], expected [6, 128, 72] = [G, up(N, "
          "128), up(K / 16, 4)]");

  p->mm.alpha.sizes[0] = G + 1;
  refuses(&r, GQ_INVALID_ARGUMENT, "alpha has shape [7], expected [6] = [G]");

  p->mm.alpha.type = GQ_F64;
  refuses(&r, GQ_INVALID_ARGUMENT, "alpha is f64, expected f32");

  p->mm.out.sizes[1] = N + 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "out has shape [700, 78], expected [700, 77] = [M, N]");

  p->mm.out.type = GQ_F64;
  refuses(&r, GQ_INVALID_ARGUMENT, "out is f64, expected f32, bf16 or f16");

  p->mm.out.strides[0] = 0;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "out has strides [0, 1] for shape [700, 77], expected an inner "
          "stride of 1 and rows that do not overlap");

  p->offsets[3] = 7;
  refuses(&r, GQ_INVALID_OFFSETS,
          "offsets[3] = 7 is smaller than offsets[2] = 120; row starts must "
          "not decrease");

  p->scaleOffsets[4] = 1152;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets[4] = 1152 leaves no room for the 300 rows of group 4, "
          "padded to 384: a_scales has 1408 rows");

  problemFree(&r.sound);
}

/// The linker gives the runtime this function for calloc.
static bool callocFails = false;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
  return callocFails ? NULL : __real_calloc(count, size);
}

static void testOutOfMemory(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  callocFails = true;
  runMm(&p);
  callocFails = false;
  assert_int_equal(gqCpuStatus(), GQ_OUT_OF_MEMORY);
  assert_non_null(strstr(gqGetLastErrorMessage(), "grouped_mm: no memory"));
  assertUntouched(&p.out);
  problemFree(&p);
}

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

/// While a failure is pending every op does nothing; reading it clears it.
static void testPending(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  p.quantize.input.sizes[1] = 8;
  runQuantize(&p);
  char message[256];
  snprintf(message, sizeof(message), "%s", gqGetLastErrorMessage());

  p.quantize.input.sizes[1] = K;
  p.offsets[0] = -1;
  runGrouped(&p);
  p.offsets[0] = 20;
  runQuantize(&p);
  runPreprocess(&p);
  runGrouped(&p);
  runMm(&p);
  assertUntouched(&p.data);
  assertUntouched(&p.scales);
  assertUntouched(&p.linearScales);
  assertUntouched(&p.out);
  assert_int_equal(gqCpuStatus(), GQ_INVALID_ARGUMENT);
  assert_string_equal(gqGetLastErrorMessage(), message);

  assert_int_equal(gqCpuStatus(), GQ_OK);
  runQuantize(&p);
  assertOk();
  problemFree(&p);
}

/// Returns null if this thread sees neither a status nor a message of another,
/// and leaves its own.
static void *failInThread(void *unused) {
  (void)unused;
  bool clean = gqCpuStatus() == GQ_OK && *gqGetLastErrorMessage() == '\0';
  gqBlockQuantizeOperands operands = {.input = scalar(NULL, GQ_F32)};
  gqCpuBlockQuantize(&operands, GQ_FORMAT_NVFP4, GQ_SCALE_LAYOUT_LINEAR);
  return clean ? NULL : "not clean";
}

static void testThreads(void **state) {
  (void)state;
  gqBlockQuantizeOperands operands = {.input = scalar(NULL, GQ_F32)};
  gqCpuBlockQuantize(&operands, GQ_FORMAT_NVFP4, GQ_SCALE_LAYOUT_LINEAR);
  pthread_t thread;
  void *result;
  assert_int_equal(pthread_create(&thread, NULL, failInThread, NULL), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_null(result);
  assert_int_equal(gqCpuStatus(), GQ_INVALID_ARGUMENT);

  assert_int_equal(pthread_create(&thread, NULL, failInThread, NULL), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_int_equal(gqCpuStatus(), GQ_OK);
}

static void testMessages(void **state) {
  (void)state;
  assert_int_equal(gqFail(GQ_IO_ERROR, "no %s", "file"), GQ_IO_ERROR);
  assert_string_equal(gqGetLastErrorMessage(), "no file");
  // The last message may be part of the next; a failure that is no CPU op's
  // is not pending.
  gqFail(GQ_COMPILE_ERROR, "first: %s", gqGetLastErrorMessage());
  assert_string_equal(gqGetLastErrorMessage(), "first: no file");
  assert_int_equal(gqCpuStatus(), GQ_OK);
  // What is too long says so.
  char *text = malloc(100001);
  memset(text, 'x', 100000);
  text[100000] = '\0';
  gqFail(GQ_COMPILE_ERROR, "%s", text);
  free(text);
  size_t length = strlen(gqGetLastErrorMessage());
  assert_in_range(length, 1000, 99999);
  assert_string_equal(gqGetLastErrorMessage() + length - 4, "x...");

  assert_string_equal(gqStatusName(GQ_OK), "OK");
  assert_string_equal(gqStatusName(GQ_INVALID_ARGUMENT), "INVALID_ARGUMENT");
  assert_string_equal(gqStatusName(GQ_INVALID_OFFSETS), "INVALID_OFFSETS");
  assert_string_equal(gqStatusName(GQ_COMPILE_ERROR), "COMPILE_ERROR");
  assert_string_equal(gqStatusName(GQ_OUT_OF_MEMORY), "OUT_OF_MEMORY");
  assert_string_equal(gqStatusName(GQ_IO_ERROR), "IO_ERROR");
  assert_string_equal(gqStatusName(GQ_INVALID_ROW_INDICES),
                      "INVALID_ROW_INDICES");
  assert_string_equal(gqStatusName((gqStatus)77), "UNKNOWN");
}

/// A process may round upwards and flush denormals; the bytes stay the same,
/// and so do the process's settings, also after a failure.
static void testEnvironment(void **state) {
  (void)state;
  Problem p = problemNew(GQ_F32, 0xa5), q = problemNew(GQ_F32, 0xa5);
  makeOperands(&p, GQ_F32);
  makeOperands(&q, GQ_F32);
  // Denormals with a global scale that makes ordinary numbers of them.
  for (int i = 0; i < M * K; ++i)
    ((uint32_t *)p.input)[i] = ((uint32_t *)q.input)[i] =
        randomBits() & 0x807fffff;
  p.globalScale = q.globalScale = 0x1p120f;
  p.grouped.globalScale = scalar(&p.globalScale, GQ_F32);
  q.grouped.globalScale = scalar(&q.globalScale, GQ_F32);
  runGrouped(&p);
  runMm(&p);

  fenv_t original;
  fegetenv(&original);
  fesetround(FE_UPWARD);
#ifdef __SSE__
  const unsigned flush = 0x8040;
  _mm_setcsr(_mm_getcsr() | flush);
#endif
  runGrouped(&q);
  runMm(&q);
  int rounding = fegetround();
  q.offsets[0] = -1;
  gqStatus status = gqCpuStatus();
  runGrouped(&q);
  gqStatus failure = gqCpuStatus();
  int roundingAfterFailure = fegetround();
#ifdef __SSE__
  unsigned flushes = _mm_getcsr() & flush;
#endif
  fesetenv(&original);

  assert_int_equal(status, GQ_OK);
  assert_int_equal(failure, GQ_INVALID_OFFSETS);
  assert_int_equal(rounding, FE_UPWARD);
  assert_int_equal(roundingAfterFailure, FE_UPWARD);
#ifdef __SSE__
  assert_int_equal(flushes, flush);
#endif
  assertBytes("data", &q.data, p.data.bytes);
  assertBytes("scales", &q.scales, p.scales.bytes);
  assertBytes("out", &q.out, p.out.bytes);
  problemFree(&p);
  problemFree(&q);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testBlockQuantizeRefuses),
      cmocka_unit_test(testPreprocessRefuses),
      cmocka_unit_test(testGroupedBlockQuantizeRefuses),
      cmocka_unit_test(testGroupedMmRefuses),
      cmocka_unit_test(testOutOfMemory),
      cmocka_unit_test(testPending),
      cmocka_unit_test(testThreads),
      cmocka_unit_test(testMessages),
      cmocka_unit_test(testEnvironment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
