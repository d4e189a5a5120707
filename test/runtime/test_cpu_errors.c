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
  /// What the test changes.
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

  gqCpuBlockQuantize(&p->quantize, 8, GQ_SCALE_LAYOUT_LINEAR);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "format 8 is unknown, expected 0 to 7");

  gqCpuBlockQuantize(&p->quantize, -1, GQ_SCALE_LAYOUT_LINEAR);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "format -1 is unknown, expected 0 to 7");

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

  p->quantize.input.strides[0] = (int64_t)1 << 59;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has strides [576460752303423488, 1] for shape [700, 1136], "
          "which no memory can hold");

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
          "scales has shape [700, 72], expected [700, 71] = [M, K / block]");

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

  p->preprocess.scaleOffsets = (gqBuffer){0};
  refuses(&r, GQ_INVALID_ARGUMENT, "scale_offsets is absent, expected [G]");

  p->preprocess.input.type = GQ_F8E5M2;
  refuses(&r, GQ_INVALID_ARGUMENT, "input is f8E5M2, expected f8E4M3FN");

  p->preprocess.input.sizes[0] = -1;
  p->preprocess.input.sizes[1] = -1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has shape [-1, -1], which no memory can hold");

  p->preprocess.scales.sizes[1] = 68;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scales has shape [1408, 68], expected [1408, 72] = [R, up(C, 4)] "
          "for C = K / block scale columns");

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

  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_TILE128X4, 2, 0, 0);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "rows 2 is unknown, expected all (0) or grouped (1)");

  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_LINEAR, GQ_ROWS_ALL, 0, 0);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "scale_offsets is for rowwise scales in tile128x4 of groups of "
                "rows");

  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER, 2,
                            GQ_ROWS_ALL, 0, 0);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "scale_layout 2 is not supported, expected linear (0) or "
                "tile128x4 (1)");

  p->grouped.input.sizes[1] = K - 8;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has K = 1128 columns, expected a positive multiple of the "
          "block of 16");

  p->grouped.data.sizes[0] = M + 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has shape [701, 568], expected [700, 568] = [M, K / 2]");

  // Neither codes nor numbers.
  p->grouped.data.type = 32 + GQ_F32;
  refuses(&r, GQ_INVALID_ARGUMENT, "data is an unknown type, expected i8");

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

  // More elements than there can be, of extents that are in order.
  p->grouped.rowIndices = vector(indices, GQ_I32, M);
  p->grouped.input.sizes[0] = 1;
  p->grouped.input.sizes[1] = (int64_t)1 << 54;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "row_indices has 700 rows of the 18014398509481984 columns of input, "
          "which no memory can hold");

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
          "for C = K / block scale columns");

  p->grouped.scales.type = GQ_I8;
  refuses(&r, GQ_INVALID_ARGUMENT, "scales is i8, expected f8E4M3FN");

  problemFree(&r.sound);
}

/// Operands that are refused, so none of this memory is written: both
/// directions, from offsets alone.
static void makeBothDirections(Problem *p) {
  gqGroupedBlockQuantizeOperands *o = &p->grouped;
  o->scaleOffsets = scalar(NULL, GQ_I64);
  // Groups of 100, 129 and 300 rows: 128 + 160 + 320 columns of columns.
  o->columnwiseData = vector(p->out.bytes, GQ_I8, K * 608 / 2);
  o->columnwiseScales =
      vector(p->out.bytes, GQ_F8E4M3FN, up(K, 128) * (8 + 12 + 20));
}

static void runTe(Problem *p) {
  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4, GQ_RECIPE_TE,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0, 0);
}
static void runLinear(Problem *p) {
  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_LINEAR, GQ_ROWS_ALL, 0, 0);
}
static void runMxfp8(Problem *p) {
  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_MXFP8_E5M2,
                            GQ_RECIPE_NVFUSER, GQ_SCALE_LAYOUT_TILE128X4,
                            GQ_ROWS_ALL, 0, 0);
}

static void testDirectionsRefuse(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "grouped_block_quantize", runGrouped);
  Problem *p = &r.problem;
  gqGroupedBlockQuantizeOperands *o = &p->grouped;
  const gqBuffer absent = {0};

  o->data = o->scales = absent;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data and columnwise_data are absent, expected one of them");

  o->scales = absent;
  refuses(&r, GQ_INVALID_ARGUMENT, "expected both data and scales or neither");

  makeBothDirections(p);
  o->columnwiseScales = absent;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "expected both columnwise_data and columnwise_scales or neither");

  makeBothDirections(p);
  o->columnwiseData = matrix(p->out.bytes, GQ_I8, M, K / 2);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "columnwise_data has rank 2, expected a flat buffer");

  makeBothDirections(p);
  o->columnwiseScales.type = GQ_F8E8M0FNU;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "columnwise_scales is f8E8M0FNU, expected f8E4M3FN");

  makeBothDirections(p);
  o->columnwiseData.sizes[0] -= 1;
  refuses(&r, GQ_INVALID_OFFSETS,
          "columnwise_data has 345343 elements, too few for group 4, which "
          "ends at 345344");

  makeBothDirections(p);
  o->columnwiseScales.sizes[0] -= 1;
  refuses(&r, GQ_INVALID_OFFSETS,
          "columnwise_scales has 46079 elements, too few for group 4, which "
          "ends at 46080");

  makeBothDirections(p);
  o->scales = matrix(p->scales.bytes, GQ_F8E4M3FN, 640, P);
  refuses(&r, GQ_INVALID_OFFSETS,
          "scales has 46080 elements, too few for group 4, which ends at "
          "55296");

  makeBothDirections(p);
  o->offsets.sizes[0] = 0;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "offsets has 0 entries, expected G + 1 where there are no "
          "scale_offsets");

  o->scaleOffsetsOut = vector(p->out.bytes, GQ_I64, G);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scale_offsets are given, there are none to derive for "
          "scale_offsets_out");

  makeBothDirections(p);
  o->scaleOffsetsOut = vector(p->out.bytes, GQ_I64, G);
  o->data = o->scales = absent;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scale_offsets_out is for rowwise scales in tile128x4 of groups of "
          "rows");

  makeBothDirections(p);
  o->scaleOffsetsOut = vector(p->out.bytes, GQ_I32, G);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scale_offsets_out is i32, expected i64, as offsets");

  makeBothDirections(p);
  o->scaleOffsetsOut = vector(p->out.bytes, GQ_I64, G + 1);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scale_offsets_out has shape [7], expected [6] = [G]");

  o->amax = vector(p->out.bytes, GQ_F32, 1);
  refuses(&r, GQ_INVALID_ARGUMENT, "amax has shape [1], expected [6] = [G]");

  o->dbias = matrix(p->out.bytes, GQ_BF16, G, K / 2);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "dbias has shape [6, 568], expected [6, 1136] = [G, K]");

  o->dbias = matrix(p->out.bytes, GQ_F64, G, K);
  refuses(&r, GQ_INVALID_ARGUMENT, "dbias is f64, expected f32, bf16 or f16");

  // The last group begins at 2^31, after the padding of the one before.
  int32_t narrow[] = {0, 0x40000000, 0x7fffffff, 0x7fffffff};
  makeBothDirections(p);
  o->input = matrix(p->input, GQ_BF16, INT32_MAX, 16);
  o->data = matrix(p->data.bytes, GQ_I8, INT32_MAX, 8);
  o->scales = matrix(p->scales.bytes, GQ_F8E4M3FN, (int64_t)1 << 32, 4);
  o->columnwiseData = o->columnwiseScales = absent;
  o->offsets = vector(narrow, GQ_I32, 4);
  o->scaleOffsetsOut = vector(p->out.bytes, GQ_I32, 3);
  refuses(&r, GQ_INVALID_OFFSETS,
          "scale_offsets_out is i32, too narrow for group 2");

  problemFree(&r.sound);
}

static void testRecipesRefuse(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "grouped_block_quantize", runTe);
  Problem *p = &r.problem;
  gqGroupedBlockQuantizeOperands *o = &p->grouped;

  gqCpuGroupedBlockQuantize(o, GQ_FORMAT_NVFP4, 2, GQ_SCALE_LAYOUT_TILE128X4,
                            GQ_ROWS_ALL, 0, 0);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "recipe 2 is unknown, expected nvfuser (0) or te (1)");

  gqCpuGroupedBlockQuantize(o, GQ_FORMAT_MXFP4, GQ_RECIPE_TE,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0, 0);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "format mxfp4 has no recipe te, only nvfp4 has");

  refuses(&r, GQ_INVALID_ARGUMENT, "recipe te needs outer_amax");

  o->globalScale = scalar(&p->globalScale, GQ_F32);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "recipe te has no global_scale, only nvfuser has");

  o->outerAmax = vector(p->globalScales, GQ_F32, G - 1);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "outer_amax has shape [5], expected [6] = [G]");

  o->outerAmax = scalar(&p->globalScale, GQ_F32);
  o->columnwiseOuterAmax = scalar(&p->globalScale, GQ_F32);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "columnwise_outer_amax is for columnwise_data of the recipe te");

  makeBothDirections(p);
  o->outerAmax = scalar(&p->globalScale, GQ_F32);
  o->columnwiseOuterAmax = matrix(p->globalScales, GQ_F32, 1, G);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "columnwise_outer_amax has rank 2, expected [] or [G]");

  r.run = runGrouped;
  o->outerAmax = scalar(&p->globalScale, GQ_F32);
  refuses(&r, GQ_INVALID_ARGUMENT, "outer_amax is for the recipe te");

  o->rowAmax = vector(p->out.bytes, GQ_F32, M);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "row_amax is for rows of the recipe te with an outer amax each, "
          "without outer_amax and columnwise_data");

  const gqDirectionTraits columns = {.outer = GQ_OUTER_OF_COLUMN};
  makeBothDirections(p);
  o->outerAmax = scalar(&p->globalScale, GQ_F32);
  gqCpuGroupedBlockQuantize(o, GQ_FORMAT_NVFP4, GQ_RECIPE_TE,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0,
                            gqDirectionPack(&columns));
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "with an outer amax per row or column, columnwise_data needs "
                "columnwise_outer_amax");

  problemFree(&r.sound);
}

static void testUpdateScalesRefuses(void **state) {
  (void)state;
  float amax[2] = {1, 2}, history[4] = {3, 4, 5, 6}, scale[2] = {7, 8};
  const gqUpdateScalesOperands sound = {
      .amax = vector(amax, GQ_F32, 2),
      .history = matrix(history, GQ_F32, 2, 2),
      .scale = vector(scale, GQ_F32, 2),
  };
  gqUpdateScalesOperands empty = sound;
  empty.history = matrix(history, GQ_F32, 0, 2);
  const struct {
    const gqUpdateScalesOperands *operands;
    int32_t format, amaxAlgo, margin;
    const char *message;
  } cases[] = {
      {&sound, GQ_FORMAT_NVFP4, 0, 0,
       "update_scales: format 0 has no single scale, expected 64 or 65"},
      {&sound, GQ_FORMAT_FP8_E4M3, 2, 0,
       "update_scales: amax_algo 2 is unknown, expected max (0) or most_recent "
       "(1)"},
      {&sound, GQ_FORMAT_FP8_E4M3, 0, 127,
       "update_scales: margin 127 is not in [0, 126]"},
      {&sound, GQ_FORMAT_FP8_E4M3, 0, -1,
       "update_scales: margin -1 is not in [0, 126]"},
      {&empty, GQ_FORMAT_FP8_E4M3, 0, 0, "update_scales: history has no row"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    gqCpuUpdateScales(cases[i].operands, cases[i].format, cases[i].amaxAlgo,
                      cases[i].margin);
    assert_int_equal(gqCpuStatus(), GQ_INVALID_ARGUMENT);
    assert_string_equal(gqGetLastErrorMessage(), cases[i].message);
    assert_true(history[0] == 3 && scale[0] == 7);
  }
}

static void testFormatsRefuse(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "grouped_block_quantize", runMxfp8);
  Problem *p = &r.problem;
  gqGroupedBlockQuantizeOperands *o = &p->grouped;

  refuses(&r, GQ_INVALID_ARGUMENT,
          "input has K = 1136 columns, expected a positive multiple of the "
          "block of 32");

  gqCpuGroupedBlockQuantize(o, GQ_FORMAT_FP8_E5M2_128X128, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0, 0);
  assertRefused(&r, GQ_INVALID_ARGUMENT,
                "format fp8_e5m2_128x128 has f32 scales, which have no "
                "tile128x4 layout");

  o->input.sizes[1] = 1024;
  refuses(&r, GQ_INVALID_ARGUMENT, "data is i8, expected f8E5M2");

  o->input.sizes[1] = 1024;
  o->data = matrix(p->data.bytes, GQ_F8E5M2, M, 512);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has shape [700, 512], expected [700, 1024] = [M, K]");

  o->input.sizes[1] = 1024;
  o->data = matrix(p->data.bytes, GQ_F8E5M2, M, 1024);
  refuses(&r, GQ_INVALID_ARGUMENT, "scales is f8E4M3FN, expected f8E8M0FNU");

  // Not transposed: the shape of the input.
  o->input.sizes[1] = 1024;
  o->data = matrix(p->data.bytes, GQ_F8E5M2, M, 1024);
  o->scales = matrix(p->scales.bytes, GQ_F8E8M0FNU, R, 32);
  o->columnwiseData = vector(p->out.bytes, GQ_F8E5M2, M * 1024);
  o->columnwiseScales = vector(p->out.bytes, GQ_F8E8M0FNU, 1 << 20);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "columnwise_data has rank 1, expected [M, K]");

  o->input.sizes[1] = 1024;
  o->data = matrix(p->data.bytes, GQ_F8E5M2, M, 1024);
  o->scales = matrix(p->scales.bytes, GQ_F8E8M0FNU, R, 32);
  o->globalScale = scalar(&p->globalScale, GQ_F32);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "format mxfp8_e5m2 has no global_scale, only nvfp4 has");

  r.run = runLinear;
  o->scaleOffsets = scalar(NULL, GQ_I64);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scales has shape [1408, 72], expected [700, 71] = [M, K / block]");

  gqCpuGroupedMm(&p->mm, GQ_FORMAT_NVFP4, GQ_FORMAT_MXFP4,
                 GQ_SCALE_LAYOUT_TILE128X4, GQ_MAJOR_K);
  assert_int_equal(gqCpuStatus(), GQ_INVALID_ARGUMENT);
  assert_string_equal(
      gqGetLastErrorMessage(),
      "grouped_mm: formats nvfp4 and mxfp4 do not have the same scale rule");

  problemFree(&r.sound);
}

/// Groups of shape [2, 32] and [16, 64] in 1600 elements.
typedef struct Ragged {
  int64_t offsets[3], rows[2], columns[2];
} Ragged;

static void makeRagged(Problem *p, Ragged *g) {
  *g = (Ragged){{0, 64, 1088}, {2, 16}, {32, 64}};
  p->grouped = (gqGroupedBlockQuantizeOperands){
      .input = vector(p->input, GQ_BF16, 1600),
      .offsets = vector(g->offsets, GQ_I64, 3),
      .firstDims = vector(g->rows, GQ_I64, 2),
      .lastDims = vector(g->columns, GQ_I64, 2),
      .data = vector(p->data.bytes, GQ_I8, 800),
      .scales = vector(p->scales.bytes, GQ_F8E4M3FN, 1024),
  };
}

static void testRaggedRefuses(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "grouped_block_quantize", runGrouped);
  Problem *p = &r.problem;
  gqGroupedBlockQuantizeOperands *o = &p->grouped;
  Ragged g;

  makeRagged(p, &g);
  o->lastDims = scalar(NULL, GQ_I64);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "expected both first_dims and last_dims or neither");

  makeRagged(p, &g);
  o->dbias = matrix(p->out.bytes, GQ_F32, 2, 64);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "dbias needs groups of the same number of columns, there must be no "
          "last_dims");

  makeRagged(p, &g);
  o->rowIndices = vector(g.rows, GQ_I64, 2);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "row_indices needs rows of the same number of columns, there must be "
          "no last_dims");

  makeRagged(p, &g);
  o->scaleOffsets = vector(p->scaleOffsets, GQ_I64, 2);
  refuses(&r, GQ_INVALID_ARGUMENT,
          "scale_offsets is for rowwise scales in tile128x4 of groups of rows");

  makeRagged(p, &g);
  o->input = matrix(p->input, GQ_BF16, 100, 16);
  refuses(&r, GQ_INVALID_ARGUMENT, "input has rank 2, expected [N]");

  makeRagged(p, &g);
  o->data.sizes[0] = 600;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "data has shape [600], expected [800] = [N / 2]");

  makeRagged(p, &g);
  o->scales.sizes[0] = 511;
  refuses(&r, GQ_INVALID_OFFSETS,
          "scales has 511 elements, too few for group 0, which ends at 512");

  makeRagged(p, &g);
  o->lastDims.type = GQ_I32;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "last_dims is i32, expected i64, as offsets");

  makeRagged(p, &g);
  o->firstDims.sizes[0] = 1;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "first_dims has shape [1], expected [2] = [G]");

  makeRagged(p, &g);
  g.rows[1] = -1;
  refuses(&r, GQ_INVALID_OFFSETS, "first_dims[1] = -1 is negative");

  makeRagged(p, &g);
  g.columns[0] = 24;
  refuses(&r, GQ_INVALID_OFFSETS,
          "last_dims[0] = 24 is not a multiple of the block of 16");

  makeRagged(p, &g);
  g.columns[1] = -16;
  refuses(&r, GQ_INVALID_OFFSETS,
          "last_dims[1] = -16 is not a multiple of the block of 16");

  makeRagged(p, &g);
  g.rows[1] = 17;
  refuses(&r, GQ_INVALID_OFFSETS,
          "group 1 has shape [17, 64], too large for elements 64 to 1088");

  makeRagged(p, &g);
  g.rows[1] = (int64_t)1 << 62;
  refuses(&r, GQ_INVALID_OFFSETS,
          "group 1 has shape [4611686018427387904, 64], too large for elements "
          "64 to 1088");

  makeRagged(p, &g);
  g.offsets[1] = 65;
  g.rows[1] = 15;
  refuses(&r, GQ_INVALID_OFFSETS, "offsets[1] = 65 is not a multiple of 16");

  makeRagged(p, &g);
  g.offsets[2] = 1601;
  refuses(&r, GQ_INVALID_OFFSETS,
          "offsets[2] = 1601 lies beyond the 1600 elements there are");

  problemFree(&r.sound);
}

static void testGroupedMmRefuses(void **state) {
  (void)state;
  Refusal r;
  refusalInit(&r, "grouped_mm", runMm);
  Problem *p = &r.problem;

  gqCpuGroupedMm(&p->mm, GQ_FORMAT_NVFP4, GQ_FORMAT_NVFP4,
                 GQ_SCALE_LAYOUT_LINEAR, GQ_MAJOR_K);
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
          "for C = K / block scale columns");

  p->mm.bScales.sizes[1] = N;
  refuses(&r, GQ_INVALID_ARGUMENT,
          "b_scales has shape [6, 77, 72], expected [6, 128, 72] = [G, up(N, "
          "128), up(K / block, 4)]");

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

/// Without groups nothing is done, whatever the other extents are.
static void testNoGroups(void **state) {
  (void)state;
  const int64_t large = (int64_t)1 << 56;
  int32_t offsets[] = {0};
  gqUpdateScalesOperands update = {
      .amax = vector(NULL, GQ_F32, 0),
      .history = matrix(NULL, GQ_F32, 2, 0),
      .scale = vector(NULL, GQ_F32, 0),
  };
  gqCpuUpdateScales(&update, GQ_FORMAT_FP8_E4M3, GQ_AMAX_ALGO_MAX, 0);
  assertOk();
  gqGroupedWgradOperands gradient = {
      .a = matrix(NULL, GQ_F8E4M3FN, 0, large),
      .b = matrix(NULL, GQ_F8E4M3FN, 0, large),
      .offsets = vector(offsets, GQ_I32, 1),
      .out = cube(NULL, GQ_F32, 0, 1, 1),
  };
  gradient.out.sizes[1] = gradient.out.sizes[2] = large;
  gqCpuGroupedWgrad(&gradient, GQ_FORMAT_NONE, GQ_FORMAT_NONE,
                    GQ_SCALE_LAYOUT_LINEAR);
  assertOk();
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
  // A message that is too long shows that it was cut.
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
      cmocka_unit_test(testDirectionsRefuse),
      cmocka_unit_test(testRecipesRefuse),
      cmocka_unit_test(testUpdateScalesRefuses),
      cmocka_unit_test(testFormatsRefuse),
      cmocka_unit_test(testRaggedRefuses),
      cmocka_unit_test(testGroupedMmRefuses),
      cmocka_unit_test(testNoGroups),
      cmocka_unit_test(testOutOfMemory),
      cmocka_unit_test(testPending),
      cmocka_unit_test(testThreads),
      cmocka_unit_test(testMessages),
      cmocka_unit_test(testEnvironment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
