//===- test_cpu_ops.c - the ops through their C entry points -------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Golden bytes; which bytes an op owns; fused against unfused. A test runs with
// two poisons, so that a byte that is right by accident in one run is wrong in
// the other.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "Problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const uint8_t poisons[] = {0xa5, 0x5a};

//===----------------------------------------------------------------------===//
// Golden data
//===----------------------------------------------------------------------===//

static Npy golden(const char *name, const char *array) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s/%s.npy", GQ_GOLDEN_DIR, name, array);
  Npy npy = npyRead(path);
  if (!npy.data)
    fail_msg("cannot read %s", path);
  return npy;
}

/// Offsets as i32 or as i64, whichever the file holds.
static void *indices(const Npy *npy, gqElementType type) {
  int64_t count = npyNumElements(npy);
  void *result = malloc((size_t)count * 8 + 1);
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = npy->elementSize == 8 ? ((int64_t *)npy->data)[i]
                                          : ((int32_t *)npy->data)[i];
    if (type == GQ_I64)
      ((int64_t *)result)[i] = value;
    else
      ((int32_t *)result)[i] = (int32_t)value;
  }
  return result;
}

typedef struct GoldenCase {
  const char *name;
  gqFormat format;
  gqElementType type;
  bool hasGlobalScale;
  const char *input;
} GoldenCase;

static const GoldenCase goldenCases[] = {
    {"nvfp4_f32_four_groups", GQ_FORMAT_NVFP4, GQ_F32, false, "input"},
    {"nvfp4_bf16_four_groups", GQ_FORMAT_NVFP4, GQ_BF16, false, "input"},
    {"nvfp4_bf16_global_scale", GQ_FORMAT_NVFP4, GQ_BF16, true, "input"},
    {"nvfp4_f16_padded_scale_columns", GQ_FORMAT_NVFP4, GQ_F16, false, "input"},
    {"nvfp4_bf16_empty_groups", GQ_FORMAT_NVFP4, GQ_BF16, false, "input"},
    {"nvfp4_f32_edge_blocks", GQ_FORMAT_NVFP4, GQ_F32, false, "input"},
    {"nvfp4_grouped_mm", GQ_FORMAT_NVFP4, GQ_BF16, false, "a_source"},
    {"mxfp8_e4m3", GQ_FORMAT_MXFP8_E4M3, GQ_BF16, false, "input"},
    {"mxfp8_e5m2", GQ_FORMAT_MXFP8_E5M2, GQ_BF16, false, "input"},
};

/// Runs a case fused and as two ops. `bounded` gives the end of the last group
/// as well.
static void runGolden(const GoldenCase *test, gqElementType indexType,
                      bool bounded, uint8_t poison) {
  Npy input = golden(test->name, test->input);
  Npy offsets = golden(test->name, "offsets");
  Npy scaleOffsets = golden(test->name, "scale_offsets");
  Npy data = golden(test->name, "data");
  Npy scales = golden(test->name, "scales");
  Npy globalScale = {0};
  if (test->hasGlobalScale)
    globalScale = golden(test->name, "global_scale");

  const gqFormatTraits traits = gqFormatGetTraits(test->format);
  int64_t m = input.sizes[0], k = input.sizes[1];
  int64_t row = k * traits.dataBits / 8, scaleRow = k / traits.blockColumns;
  int64_t numGroups = scaleOffsets.sizes[0];
  int64_t paddedColumns = up(scaleRow, 4);
  int64_t scaleRows = npyNumElements(&scales) / paddedColumns;
  void *offsetsData = indices(&offsets, indexType);
  void *scaleOffsetsData = indices(&scaleOffsets, indexType);

  Memory fusedData = memoryNew(m * row, poison);
  Memory fusedScales = memoryNew(npyNumElements(&scales), poison);
  gqGroupedBlockQuantizeOperands fused = {
      .input = matrix(input.data, test->type, m, k),
      .offsets = vector(offsetsData, indexType, numGroups + bounded),
      .scaleOffsets = vector(scaleOffsetsData, indexType, numGroups),
      .globalScale = scalar(globalScale.data, GQ_F32),
      .data = matrix(fusedData.bytes, traits.dataType, m, row),
      .scales =
          matrix(fusedScales.bytes, traits.scaleType, scaleRows, paddedColumns),
  };
  gqCpuGroupedBlockQuantize(&fused, test->format, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_GROUPED, 0, 0);
  assertOk();
  assertBytes(test->name, &fusedData, data.data);
  assertBytes(test->name, &fusedScales, scales.data);

  Memory linearData = memoryNew(m * row, poison);
  Memory linearScales = memoryNew(m * scaleRow, poison);
  Memory tiledScales = memoryNew(npyNumElements(&scales), poison);
  gqBlockQuantizeOperands quantize = {
      .input = fused.input,
      .globalScale = fused.globalScale,
      .data = matrix(linearData.bytes, traits.dataType, m, row),
      .scales = matrix(linearScales.bytes, traits.scaleType, m, scaleRow),
  };
  gqPreprocessGroupedMatmulSfOperands preprocess = {
      .input = quantize.scales,
      .offsets = fused.offsets,
      .scaleOffsets = fused.scaleOffsets,
      .scales =
          matrix(tiledScales.bytes, traits.scaleType, scaleRows, paddedColumns),
  };
  gqCpuBlockQuantize(&quantize, test->format, GQ_SCALE_LAYOUT_LINEAR);
  gqCpuPreprocessGroupedMatmulSf(&preprocess, test->format,
                                 GQ_SCALE_LAYOUT_TILE128X4);
  assertOk();
  assertBytes(test->name, &linearData, data.data);
  assertBytes(test->name, &tiledScales, scales.data);
  assertGuards(&linearScales);

  memoryFree(&fusedData);
  memoryFree(&fusedScales);
  memoryFree(&linearData);
  memoryFree(&linearScales);
  memoryFree(&tiledScales);
  free(offsetsData);
  free(scaleOffsetsData);
  npyFree(&input);
  npyFree(&offsets);
  npyFree(&scaleOffsets);
  npyFree(&data);
  npyFree(&scales);
  npyFree(&globalScale);
}

static void testGoldenQuantize(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(goldenCases); ++i)
    for (size_t p = 0; p < COUNT(poisons); ++p)
      for (int bounded = 0; bounded < 2; ++bounded) {
        runGolden(&goldenCases[i], GQ_I32, bounded, poisons[p]);
        runGolden(&goldenCases[i], GQ_I64, bounded, poisons[p]);
      }
}

/// Transformer Engine's recipe, from offsets alone: the scale offsets come out,
/// and so does the largest magnitude of a group, which is the outer amax. In
/// the case with a Hadamard transform only the rows are the op's.
static void runGoldenTe(const char *name, bool columnwise, bool rowwise,
                        uint8_t poison) {
  Npy input = golden(name, "input"), offsets = golden(name, "offsets");
  Npy amax = golden(name, "amax");
  Npy columnwiseAmax = golden(name, "amax_columnwise");
  Npy data = golden(name, "data"), scales = golden(name, "scales");
  Npy columnwiseData = golden(name, "data_columnwise");
  Npy columnwiseScales = golden(name, "scales_columnwise");
  int64_t m = input.sizes[0], k = input.sizes[1];
  int64_t numGroups = amax.sizes[0], paddedColumns = up(k / 16, 4);

  Memory q = memoryNew(npyNumElements(&data), poison);
  Memory s = memoryNew(npyNumElements(&scales), poison);
  Memory cq = memoryNew(npyNumElements(&columnwiseData), poison);
  Memory cs = memoryNew(npyNumElements(&columnwiseScales), poison);
  Memory outAmax = memoryNew(numGroups * 4, poison);
  Memory scaleOffsets = memoryNew(numGroups * 8, poison);
  gqGroupedBlockQuantizeOperands operands = {
      .input = matrix(input.data, GQ_BF16, m, k),
      .offsets = vector(offsets.data, GQ_I64, numGroups + 1),
      .outerAmax = vector(amax.data, GQ_F32, numGroups),
      .amax = vector(outAmax.bytes, GQ_F32, numGroups),
  };
  if (rowwise) {
    operands.data = matrix(q.bytes, GQ_I8, m, k / 2);
    operands.scales =
        matrix(s.bytes, GQ_F8E4M3FN, s.size / paddedColumns, paddedColumns);
    operands.scaleOffsetsOut = vector(scaleOffsets.bytes, GQ_I64, numGroups);
  }
  if (columnwise) {
    operands.columnwiseOuterAmax =
        vector(columnwiseAmax.data, GQ_F32, numGroups);
    operands.columnwiseData = vector(cq.bytes, GQ_I8, cq.size);
    operands.columnwiseScales = vector(cs.bytes, GQ_F8E4M3FN, cs.size);
  }
  gqCpuGroupedBlockQuantize(&operands, GQ_FORMAT_NVFP4, GQ_RECIPE_TE,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0, 0);
  assertOk();
  assertBytes("amax", &outAmax, amax.data);
  if (rowwise) {
    assertBytes("data", &q, data.data);
    assertBytes("scales", &s, scales.data);
    assertGuards(&scaleOffsets);
    int64_t expected = 0;
    for (int64_t e = 0; e < numGroups; ++e) {
      assert_int_equal(((int64_t *)scaleOffsets.bytes)[e], expected);
      expected += up(
          ((int64_t *)offsets.data)[e + 1] - ((int64_t *)offsets.data)[e], 128);
    }
  } else {
    assertUntouched(&q);
    assertUntouched(&s);
    assertUntouched(&scaleOffsets);
  }
  if (columnwise) {
    assertBytes("columnwise data", &cq, columnwiseData.data);
    assertBytes("columnwise scales", &cs, columnwiseScales.data);
  }
  memoryFree(&q);
  memoryFree(&s);
  memoryFree(&cq);
  memoryFree(&cs);
  memoryFree(&outAmax);
  memoryFree(&scaleOffsets);
  npyFree(&input);
  npyFree(&offsets);
  npyFree(&amax);
  npyFree(&columnwiseAmax);
  npyFree(&data);
  npyFree(&scales);
  npyFree(&columnwiseData);
  npyFree(&columnwiseScales);
}

static void testGoldenTe(void **state) {
  (void)state;
  for (size_t p = 0; p < COUNT(poisons); ++p) {
    runGoldenTe("nvfp4_te_row_and_column", true, true, poisons[p]);
    runGoldenTe("nvfp4_te_row_and_column", true, false, poisons[p]);
    runGoldenTe("nvfp4_te_row_and_column", false, true, poisons[p]);
    runGoldenTe("nvfp4_te_column_hadamard", false, true, poisons[p]);
  }
}

static double bf16Value(uint16_t code) {
  uint32_t bits = (uint32_t)code << 16;
  float x;
  memcpy(&x, &bits, sizeof(x));
  return (double)x;
}

/// Finite codes only.
static double f16Value(uint16_t code) {
  int exponent = code >> 10 & 31, mantissa = code & 1023;
  double magnitude = exponent == 0 ? ldexp(mantissa, -24)
                                   : ldexp(1024 + mantissa, exponent - 25);
  return code >> 15 ? -magnitude : magnitude;
}

/// Output element i must be the one nearest to `expected`; a tie must be even.
static void assertRounded(gqElementType type, const void *out, int64_t i,
                          double expected) {
  if (type == GQ_F32) {
    float found = ((const float *)out)[i];
    if (found != (float)expected)
      fail_msg("out[%lld] is %a, expected %a", (long long)i, (double)found,
               expected);
    return;
  }
  double (*value)(uint16_t) = type == GQ_BF16 ? bf16Value : f16Value;
  uint16_t code = ((const uint16_t *)out)[i];
  double error = fabs(value(code) - expected);
  double next = fabs(value((uint16_t)(code + 1)) - expected);
  // Below a zero of either sign is the other side's smallest value.
  uint16_t previous = code & 0x7fff ? (uint16_t)(code - 1) : (code ^ 0x8001);
  double before = fabs(value(previous) - expected);
  bool even = code % 2 == 0;
  if (error > next || error > before ||
      (!even && (error == next || error == before)))
    fail_msg("out[%lld] is %a, which is not the nearest to %a", (long long)i,
             value(code), expected);
}

static void testGoldenGroupedMm(void **state) {
  (void)state;
  const char *name = "nvfp4_grouped_mm";
  Npy data = golden(name, "data"), scales = golden(name, "scales");
  Npy bData = golden(name, "b_data"), bScales = golden(name, "b_scales");
  Npy offsets = golden(name, "offsets");
  Npy scaleOffsets = golden(name, "scale_offsets");
  Npy alpha = golden(name, "alpha"), expected = golden(name, "out");
  int64_t m = data.sizes[0], k = data.sizes[1] * 2;
  int64_t numGroups = bData.sizes[0], n = bData.sizes[1];
  int64_t paddedColumns = up(k / 16, 4);

  const gqElementType types[] = {GQ_F32, GQ_BF16, GQ_F16};
  for (size_t t = 0; t < COUNT(types); ++t) {
    Memory out = memoryNew(m * n * gqElementTypeSize(types[t]), 0xa5);
    gqGroupedMmOperands operands = {
        .a = matrix(data.data, GQ_I8, m, k / 2),
        .b = cube(bData.data, GQ_I8, numGroups, n, k / 2),
        .aScales =
            matrix(scales.data, GQ_F8E4M3FN,
                   npyNumElements(&scales) / paddedColumns, paddedColumns),
        .bScales = cube(bScales.data, GQ_F8E4M3FN, numGroups, up(n, 128),
                        paddedColumns),
        .offsets = vector(offsets.data, GQ_I32, numGroups + 1),
        .scaleOffsets = vector(scaleOffsets.data, GQ_I32, numGroups),
        .alpha = vector(alpha.data, GQ_F32, numGroups),
        .out = matrix(out.bytes, types[t], m, n),
    };
    gqCpuGroupedMm(&operands, GQ_FORMAT_NVFP4, GQ_FORMAT_NVFP4,
                   GQ_SCALE_LAYOUT_TILE128X4, GQ_MAJOR_K);
    assertOk();
    assertGuards(&out);
    for (int64_t i = 0; i < m * n; ++i)
      assertRounded(types[t], out.bytes, i, ((double *)expected.data)[i]);
    memoryFree(&out);
  }
  npyFree(&data);
  npyFree(&scales);
  npyFree(&bData);
  npyFree(&bScales);
  npyFree(&offsets);
  npyFree(&scaleOffsets);
  npyFree(&alpha);
  npyFree(&expected);
}

//===----------------------------------------------------------------------===//
// Ownership; fused against unfused
//===----------------------------------------------------------------------===//
/// The tiled buffer that these linear scales must give: the poison outside of
/// the groups' padded rows, zero in the padding.
static uint8_t *expectedTiles(const Problem *p, const uint8_t *linear,
                              int64_t numGroups, uint8_t poison) {
  uint8_t *expected = malloc((size_t)R * P);
  memset(expected, poison, (size_t)R * P);
  for (int64_t e = 0; e < numGroups; ++e) {
    int64_t rows = p->offsets[e + 1] - p->offsets[e];
    for (int64_t r = 0; r < up(rows, 128); ++r)
      for (int64_t c = 0; c < P; ++c)
        expected[tiledByte(p->scaleOffsets[e], r, c, P)] =
            r < rows && c < C ? linear[(p->offsets[e] + r) * C + c] : 0;
  }
  return expected;
}

static const gqElementType inputTypes[] = {GQ_F32, GQ_BF16, GQ_F16};

/// Calls the test for every input type and poison.
static void forEachProblem(void (*test)(Problem *, gqElementType, uint8_t)) {
  for (size_t t = 0; t < COUNT(inputTypes); ++t)
    for (size_t i = 0; i < COUNT(poisons); ++i) {
      Problem p = problemNew(inputTypes[t], poisons[i]);
      makeOperands(&p, inputTypes[t]);
      test(&p, inputTypes[t], poisons[i]);
      problemFree(&p);
    }
}

/// The fused op writes what the two ops write, and nothing else.
static void checkOwnership(Problem *p, gqElementType type, uint8_t poison) {
  runQuantize(p);
  runPreprocess(p);
  assertOk();
  assertGuards(&p->linearScales);
  uint8_t *tiles = expectedTiles(p, p->linearScales.bytes, G, poison);
  assertBytes("preprocess", &p->scales, tiles);

  Problem q = problemNew(type, poison);
  makeOperands(&q, type);
  runGrouped(&q);
  assertOk();
  assertBytes("fused data", &q.data, p->data.bytes);
  assertBytes("fused scales", &q.scales, tiles);
  problemFree(&q);

  q = problemNew(type, poison);
  makeOperands(&q, type);
  gqCpuGroupedBlockQuantize(&q.grouped, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_GROUPED, 0, 0);
  assertOk();
  // Data of rows in no group are left alone.
  uint8_t *data = malloc(M * K / 2);
  memset(data, poison, M * K / 2);
  memcpy(data + p->offsets[0] * K / 2, p->data.bytes + p->offsets[0] * K / 2,
         (size_t)((p->offsets[G] - p->offsets[0]) * K / 2));
  assertBytes("grouped data", &q.data, data);
  assertBytes("grouped scales", &q.scales, tiles);
  problemFree(&q);
  free(data);
  free(tiles);
}

static void testOwnership(void **state) {
  (void)state;
  forEachProblem(checkOwnership);
}

/// One scale for all groups is that of the linear op; one per group is that of
/// a linear op with this group's scale, and rows in no group have none.
static void checkGlobalScale(Problem *p, gqElementType type, uint8_t poison) {
  uint8_t *data = malloc(M * K / 2), *scales = malloc(M * C);
  for (int64_t e = -1; e < G; ++e) {
    float g = e < 0 ? 1.0f : p->globalScales[e];
    p->quantize.globalScale = scalar(&g, GQ_F32);
    runQuantize(p);
    assertOk();
    int64_t begin = e < 0 ? 0 : p->offsets[e];
    int64_t end = e < 0 ? M : p->offsets[e + 1];
    memcpy(data + begin * K / 2, p->data.bytes + begin * K / 2,
           (size_t)((end - begin) * K / 2));
    memcpy(scales + begin * C, p->linearScales.bytes + begin * C,
           (size_t)((end - begin) * C));
  }
  uint8_t *tiles = expectedTiles(p, scales, G, poison);
  p->grouped.globalScale = vector(p->globalScales, GQ_F32, G);
  runGrouped(p);
  assertOk();
  assertBytes("data", &p->data, data);
  assertBytes("scales", &p->scales, tiles);
  free(tiles);

  Problem q = problemNew(type, poison);
  makeOperands(&q, type);
  p->quantize.globalScale = scalar(&p->globalScale, GQ_F32);
  q.grouped.globalScale = scalar(&q.globalScale, GQ_F32);
  runQuantize(p);
  runGrouped(&q);
  assertOk();
  tiles = expectedTiles(p, p->linearScales.bytes, G, poison);
  assertBytes("data", &q.data, p->data.bytes);
  assertBytes("scales", &q.scales, tiles);
  problemFree(&q);
  free(tiles);
  free(data);
  free(scales);
}

static void testGlobalScale(void **state) {
  (void)state;
  forEachProblem(checkGlobalScale);
}

/// With row indices the bytes are those of the rows gathered beforehand,
/// whatever the number of rows that they are gathered from.
static void checkRowIndices(Problem *p, gqElementType type, uint8_t poison) {
  int64_t rowBytes = K * gqElementTypeSize(type);
  uint8_t *gathered = malloc((size_t)(M * rowBytes));
  int64_t numRows = type == GQ_F32 ? M : 5;
  int32_t *indices = malloc(M * sizeof(int32_t));
  int64_t *wideIndices = malloc(M * sizeof(int64_t));
  for (int64_t m = 0; m < M; ++m) {
    indices[m] = (int32_t)(randomBits() % numRows);
    wideIndices[m] = indices[m];
    memcpy(gathered + m * rowBytes, (uint8_t *)p->input + indices[m] * rowBytes,
           (size_t)rowBytes);
  }
  p->grouped.input = matrix(gathered, type, M, K);
  runGrouped(p);
  assertOk();
  for (int wide = 0; wide < 2; ++wide) {
    Problem q = problemNew(type, poison);
    makeOperands(&q, type);
    q.grouped.input = matrix(p->input, type, numRows, K);
    q.grouped.rowIndices =
        wide ? vector(wideIndices, GQ_I64, M) : vector(indices, GQ_I32, M);
    runGrouped(&q);
    assertOk();
    assertBytes("data", &q.data, p->data.bytes);
    assertBytes("scales", &q.scales, p->scales.bytes);
    problemFree(&q);
  }
  free(gathered);
  free(indices);
  free(wideIndices);
}

static void testRowIndices(void **state) {
  (void)state;
  forEachProblem(checkRowIndices);
}

/// Rows with space between; a reversed input.
static void testStrides(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  runGrouped(&p);
  assertOk();

  enum { ROW = K / 2 + 24 };
  Memory data = memoryNew(M * ROW, 0x5a);
  Memory scales = memoryNew(R * P, 0xa5);
  uint16_t *input = malloc((size_t)M * (K + 8) * 2);
  for (int64_t r = 0; r < M; ++r)
    memcpy(input + (M - 1 - r) * (K + 8), (uint16_t *)p.input + r * K, K * 2);
  gqGroupedBlockQuantizeOperands operands = p.grouped;
  operands.input = matrix(input + (M - 1) * (K + 8), GQ_BF16, M, K);
  operands.input.strides[0] = -(K + 8);
  operands.data = matrix(data.bytes, GQ_I8, M, K / 2);
  operands.data.strides[0] = ROW;
  operands.scales = matrix(scales.bytes, GQ_F8E4M3FN, R, P);
  gqCpuGroupedBlockQuantize(&operands, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0, 0);
  assertOk();
  uint8_t *expected = malloc(M * ROW);
  memset(expected, 0x5a, M * ROW);
  for (int64_t r = 0; r < M; ++r)
    memcpy(expected + r * ROW, p.data.bytes + r * K / 2, K / 2);
  assertBytes("data", &data, expected);
  assertBytes("scales", &scales, p.scales.bytes);
  free(expected);
  free(input);
  memoryFree(&data);
  memoryFree(&scales);
  problemFree(&p);
}

/// No rows, no groups, or neither; nothing but the data of rows in no group
/// may be written.
static void testEmpty(void **state) {
  (void)state;
  Problem p = problemNew(GQ_F32, 0xa5);
  makeOperands(&p, GQ_F32);

  // No rows: all groups are empty, and no operand with rows needs memory.
  int64_t zeros[G + 1] = {0};
  p.grouped.offsets = p.preprocess.offsets = p.mm.offsets =
      vector(zeros, GQ_I64, G + 1);
  p.grouped.input = p.quantize.input = matrix(NULL, GQ_F32, 0, K);
  p.grouped.data = p.quantize.data = p.mm.a = matrix(NULL, GQ_I8, 0, K / 2);
  p.preprocess.input = p.quantize.scales = matrix(NULL, GQ_F8E4M3FN, 0, C);
  p.mm.out = matrix(NULL, GQ_F32, 0, N);
  runQuantize(&p);
  runPreprocess(&p);
  runGrouped(&p);
  runMm(&p);
  assertOk();
  assertUntouched(&p.scales);
  p.grouped.rowIndices = vector(NULL, GQ_I32, 0);
  p.grouped.input = matrix(p.input, GQ_F32, M, K);
  runGrouped(&p);
  assertOk();
  assertUntouched(&p.scales);
  p.grouped.rowIndices = (gqBuffer){0};
  p.grouped.input = p.quantize.input;

  // No groups: no offsets at all, or one.
  Problem q = problemNew(GQ_F32, 0xa5);
  makeOperands(&q, GQ_F32);
  runQuantize(&q);
  for (int64_t numOffsets = 0; numOffsets < 2; ++numOffsets) {
    makeOperands(&p, GQ_F32);
    p.grouped.offsets = p.preprocess.offsets = p.mm.offsets =
        vector(numOffsets ? p.offsets : NULL, GQ_I64, numOffsets);
    p.grouped.scaleOffsets = p.preprocess.scaleOffsets = p.mm.scaleOffsets =
        vector(NULL, GQ_I64, 0);
    p.mm.b = cube(NULL, GQ_I8, 0, N, K / 2);
    p.mm.bScales = cube(NULL, GQ_F8E4M3FN, 0, 128, P);
    p.mm.alpha = vector(NULL, GQ_F32, 0);
    runPreprocess(&p);
    runMm(&p);
    runGrouped(&p);
    assertOk();
    assertUntouched(&p.scales);
    assertUntouched(&p.out);
    assertBytes("data", &p.data, q.data.bytes);
  }
  problemFree(&p);
  problemFree(&q);
}

//===----------------------------------------------------------------------===//
// grouped_mm
//===----------------------------------------------------------------------===//

static double e2m1Value(uint32_t code) {
  const double magnitudes[] = {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}

static double e4m3Value(uint32_t code) {
  double mantissa = code & 7, exponent = code >> 3 & 15;
  if ((code & 0x7f) == 0x7f)
    return (double)NAN;
  double magnitude = exponent == 0 ? ldexp(mantissa, -9)
                                   : ldexp(8 + mantissa, (int)exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

/// Element (r, k) of a packed row whose scales start at row `scaleRow`.
static double dequantized(const uint8_t *codes, const uint8_t *scales,
                          int64_t scaleOffset, int64_t r, int64_t k) {
  uint32_t code = codes[k / 2] >> (k % 2 * 4) & 15;
  return e2m1Value(code) *
         e4m3Value(scales[tiledByte(scaleOffset, r, k / 16, P)]);
}

/// Against the definition, over shapes that fill no tile; rows in no group and
/// the space between rows stay as they were.
static void checkMm(gqElementType outType, bool hasAlpha, uint8_t poison) {
  enum { OUT_ROW = N + 5 };
  Problem p = problemNew(GQ_BF16, poison);
  makeOperands(&p, GQ_BF16);
  // Random bits make scales of all sizes: sums of float64 would round. Keep
  // to inputs of one magnitude.
  for (int i = 0; i < M * K; ++i)
    ((uint16_t *)p.input)[i] = (uint16_t)(0x3f00 + randomBits() % 0x180) |
                               (uint16_t)(randomBits() % 2 << 15);
  runGrouped(&p);
  int64_t size = gqElementTypeSize(outType);
  Memory out = memoryNew(M * OUT_ROW * size, poison);
  p.mm.out = matrix(out.bytes, outType, M, N);
  p.mm.out.strides[0] = OUT_ROW;
  if (!hasAlpha)
    p.mm.alpha = scalar(NULL, GQ_F32);
  runMm(&p);
  assertOk();
  assertGuards(&out);

  double *a = malloc(K * sizeof(double));
  for (int64_t i = 0, e = 0; i < M; ++i) {
    while (e < G && i >= p.offsets[e + 1])
      ++e;
    bool grouped = i >= p.offsets[0] && e < G;
    for (int64_t k = 0; grouped && k < K; ++k)
      a[k] = dequantized(p.data.bytes + i * K / 2, p.scales.bytes,
                         p.scaleOffsets[e], i - p.offsets[e], k);
    for (int64_t n = 0; n < OUT_ROW; ++n) {
      const uint8_t *element = out.bytes + (i * OUT_ROW + n) * size;
      if (!grouped || n >= N) {
        for (int64_t byte = 0; byte < size; ++byte)
          assert_int_equal(element[byte], poison);
        continue;
      }
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += a[k] * dequantized(p.b + (e * N + n) * K / 2,
                                  p.bScales + e * 128 * P, 0, n, k);
      assertRounded(outType, element, 0,
                    hasAlpha ? sum * (double)p.alpha[e] : sum);
    }
  }
  free(a);
  memoryFree(&out);
  problemFree(&p);
}

static void testGroupedMm(void **state) {
  (void)state;
  checkMm(GQ_F32, true, 0xa5);
  checkMm(GQ_F32, false, 0x5a);
  checkMm(GQ_BF16, true, 0x5a);
  checkMm(GQ_F16, true, 0xa5);
}

/// A NaN scale reaches the outputs of its row or column, and no others: not
/// even through the unused part of a tile.
static void testGroupedMmNaN(void **state) {
  (void)state;
  Problem p = problemNew(GQ_BF16, 0xa5);
  makeOperands(&p, GQ_BF16);
  for (int i = 0; i < M * K; ++i)
    ((uint16_t *)p.input)[i] = 0x3f80;
  runGrouped(&p);
  const int64_t e = 3, row = 6, column = 70;
  p.scales.bytes[tiledByte(p.scaleOffsets[e], row, 50, P)] = 0x7f;
  p.bScales[e * 128 * P + tiledByte(0, column, 3, P)] = 0xff;
  runMm(&p);
  assertOk();
  const float *out = (const float *)p.out.bytes;
  for (int64_t i = p.offsets[0]; i < p.offsets[G]; ++i)
    for (int64_t n = 0; n < N; ++n) {
      bool inGroup = i >= p.offsets[e] && i < p.offsets[e + 1];
      bool expected = inGroup && (i == p.offsets[e] + row || n == column);
      assert_int_equal(isnan(out[i * N + n]) != 0, expected);
    }
  problemFree(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testGoldenQuantize),  cmocka_unit_test(testGoldenTe),
      cmocka_unit_test(testGoldenGroupedMm), cmocka_unit_test(testOwnership),
      cmocka_unit_test(testGlobalScale),     cmocka_unit_test(testRowIndices),
      cmocka_unit_test(testStrides),         cmocka_unit_test(testEmpty),
      cmocka_unit_test(testGroupedMm),       cmocka_unit_test(testGroupedMmNaN),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
