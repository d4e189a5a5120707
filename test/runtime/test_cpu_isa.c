//===- test_cpu_isa.c - the same bytes for every instruction set ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops that this machine can run, on random bits, against those that are
// compiled for any machine: every format, direction, element type and layout.
// Prints which instruction sets were compared.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "lib/Runtime/CpuKernels.h"

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

#define GQ_ISA(NAME, TABLE, ...) extern const gqCpuKernels TABLE;
#include "lib/Runtime/CpuIsa.def"

typedef struct Isa {
  const char *name;
  const gqCpuKernels *kernels;
} Isa;

static Isa isas[8];
static size_t numIsas;

static int findIsas(void **state) {
  (void)state;
#define GQ_ISA(NAME, TABLE, CONDITION)                                         \
  if (CONDITION)                                                               \
    isas[numIsas++] = (Isa){NAME, &TABLE};
#include "lib/Runtime/CpuIsa.def"
  for (size_t i = 0; i < numIsas; ++i)
    printf("%s%s", i ? ", " : "instruction sets: ", isas[i].name);
  printf("\n");
  return 0;
}

enum {
  // Of a matrix: more than a tile in both extents, and parts of one.
  LENGTH = 260,
  WIDTH = 384,
  SIZE = LENGTH * WIDTH,
  // Of an output: room for any format and for padding.
  ROOM = 4 * 384 * 512,
};

static uint32_t input[SIZE];
static float amaxes[LENGTH + WIDTH];

/// What an instruction set writes, poisoned before.
static uint8_t outputs[2][4][ROOM];

static void poison(int which) {
  memset(outputs[which], 0xa5, sizeof(outputs[which]));
}

static void assertSame(const char *isa, const char *what) {
  for (size_t i = 0; i < COUNT(outputs[0]); ++i)
    if (memcmp(outputs[0][i], outputs[1][i], ROOM) != 0)
      fail_msg("%s: output %zu of %s differs", isa, i, what);
}

/// Fills the input with numbers near each other, and many of its first quarter
/// with any bits: there nearly every high block of columns has a NaN or an
/// infinity, and after it none has.
static void fillInput(gqElementType type) {
  for (int i = 0; i < SIZE; ++i) {
    float x = (float)(int32_t)randomBits() * 0x1p-29f;
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bool any = i < SIZE / 4 && randomBits() % 4 == 0;
    bool infinite = any && randomBits() % 16 == 0;
    if (any)
      bits = infinite ? 0x7f800000 : randomBits();
    if (type == GQ_F32)
      input[i] = bits;
    else
      ((uint16_t *)input)[i] = type == GQ_BF16
                                   ? (uint16_t)(bits >> 16)
                                   : (uint16_t)((bits >> 16 & 0x8fff) | 0x3000);
    if (type == GQ_F16 && any)
      ((uint16_t *)input)[i] = infinite ? 0x7c00 : (uint16_t)randomBits();
  }
}

static const gqElementType elements[] = {GQ_F32, GQ_BF16, GQ_F16};

/// Does a matrix of `rows` rows from the first on as the ops do, job by job.
typedef void Do(const gqCpuKernels *kernels, void *context,
                const gqCpuJob *job);

static void doJobs(const gqCpuKernels *kernels, Do *work, void *context,
                   int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; row += GQ_CPU_JOB_ROWS) {
    gqCpuJob job = {.row = row, .columns = columns};
    job.rows =
        rows - row < GQ_CPU_JOB_ROWS ? rows - row : (int64_t)GQ_CPU_JOB_ROWS;
    work(kernels, context, &job);
  }
}

/// Runs it with each instruction set, and compares with the first.
static void compare(const char *what, gqCpuQuantization *q, Do *work,
                    void *context, int64_t rows, int64_t columns) {
  for (size_t i = 0; i < numIsas; ++i) {
    int which = i > 0;
    poison(which);
    if (q) {
      q->rowwise.data = outputs[which][0];
      q->rowwise.scales = outputs[which][1];
      q->columnwise.data = outputs[which][2];
      q->columnwise.scales = outputs[which][3];
    }
    doJobs(isas[i].kernels, work, context, rows, columns);
    if (i > 0)
      assertSame(isas[i].name, what);
  }
}

static void quantize(const gqCpuKernels *kernels, void *q,
                     const gqCpuJob *job) {
  kernels->quantize(q, job);
}

/// To the numbers that the codes and scales stand for.
static void fakeQuantize(const gqCpuKernels *kernels, void *context,
                         const gqCpuJob *job) {
  gqCpuQuantization q = *(const gqCpuQuantization *)context;
  uint8_t (*to)[ROOM] = outputs[kernels != isas[0].kernels];
  gqElementType type = (gqElementType)q.input.type;
  q.rowwise.data = q.columnwise.data = NULL;
  q.rowwise.numbers = matrix(to[0], type, q.rows, q.input.sizes[1]);
  q.columnwise.numbers = matrix(to[2], type, q.rows, q.input.sizes[1]);
  kernels->quantize(&q, job);
}

/// The scales of a direction; in tiles if `tiled`.
static int64_t scaleStride(gqFormat format, bool columnwise, bool tiled,
                           int64_t rows, int64_t columns) {
  int64_t stride =
      gqCpuGetScaleExtents(format, columnwise, rows, columns).columns;
  return tiled ? up(stride, 4) : stride;
}

static void compareWithOuter(gqFormat format, gqRecipe recipe, bool tiled,
                             gqElementType type, int64_t rows, int64_t columns,
                             gqDirectionTraits traits, float outer) {
  gqFormatTraits f = gqFormatGetTraits(format);
  float amax = 3.7f;
  gqCpuTileDirection how = {
      .traits = traits,
      .outer = outer,
      .outerAmax = &amax,
      .rng = {0x243f6a8885a308d3, 0x100000007},
      .pitch = columns,
  };
  gqCpuQuantization q = {
      .method = {format, recipe,
                 tiled ? GQ_SCALE_LAYOUT_TILE128X4 : GQ_SCALE_LAYOUT_LINEAR},
      .rows = rows,
      .input = matrix(input, type, rows, columns),
      .rowwise = {.stride = columns * f.dataBits / 8,
                  .scaleStride =
                      scaleStride(format, false, tiled, rows, columns),
                  .how = how},
      .columnwise = {.stride = (f.transposes ? up(rows, 32) : columns) *
                               f.dataBits / 8,
                     .scaleStride =
                         scaleStride(format, true, tiled, rows, columns),
                     .how = how},
  };
  q.rowwise.how.traits.transform = GQ_TRANSFORM_NONE;
  q.columnwise.how.columnwise = true;
  if (traits.outer != GQ_OUTER_OF_GROUP) {
    q.rowwise.how.outerAmaxes = amaxes;
    q.columnwise.how.outerAmaxes = amaxes + LENGTH;
  }
  char what[128];
  snprintf(what, sizeof(what), "%s, recipe %d, type %d, %dx%d, direction %x",
           f.name, (int)recipe, (int)type, (int)rows, (int)columns,
           (unsigned)gqDirectionPack(&traits));
  compare(what, &q, quantize, &q, rows, columns);
  compare(what, NULL, fakeQuantize, &q, rows, columns);
  // Rows in another order, and some of them twice.
  int32_t indices[LENGTH];
  for (int64_t r = 0; r < rows; ++r)
    indices[r] = (int32_t)(randomBits() % (uint32_t)rows);
  q.rowIndices = (gqBuffer){.data = indices,
                            .rank = 1,
                            .type = GQ_I32,
                            .sizes = {rows},
                            .strides = {1}};
  compare(what, &q, quantize, &q, rows, columns);
  compare(what, NULL, fakeQuantize, &q, rows, columns);
}

static void compareQuantization(gqFormat format, gqRecipe recipe, bool tiled,
                                gqElementType type, int64_t rows,
                                int64_t columns, gqDirectionTraits traits) {
  compareWithOuter(format, recipe, tiled, type, rows, columns, traits,
                   recipe == GQ_RECIPE_TE ? 726.5f : 1.25f);
}

static void testQuantize(void **state) {
  (void)state;
  static const int64_t heights[] = {LENGTH, 128, 33, 1};
  static const gqFormat formats[] = {
#define GQ_FORMAT(VALUE, NAME, ...) GQ_FORMAT_##NAME,
      GQ_ALL_FORMATS(GQ_FORMAT)
#undef GQ_FORMAT
  };
  for (size_t e = 0; e < COUNT(elements); ++e) {
    fillInput(elements[e]);
    for (size_t f = 0; f < COUNT(formats); ++f)
      for (size_t h = 0; h < COUNT(heights); ++h) {
        bool tiled = gqFormatGetTraits(formats[f]).scaleType != GQ_F32;
        gqDirectionTraits usual = {0};
        compareQuantization(formats[f], GQ_RECIPE_NVFUSER, tiled, elements[e],
                            heights[h], WIDTH, usual);
        compareQuantization(formats[f], GQ_RECIPE_NVFUSER, false, elements[e],
                            heights[h], 128, usual);
      }
  }
}

/// Outer and given scales of any value.
static void testOuters(void **state) {
  (void)state;
  static const uint32_t outers[] = {
      0x00000000, 0x80000000, // zeros
      0xbfa00000,             // -1.25
      0x00000001, 0x0a000000, // 2^-149, 2^-107
      0x7e800000, 0x7f7fffff, // 2^126, the largest number
      0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
  };
  static const struct {
    gqFormat format;
    gqRecipe recipe;
  } methods[] = {{GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER},
                 {GQ_FORMAT_NVFP4, GQ_RECIPE_TE},
                 {GQ_FORMAT_FP8_E4M3, GQ_RECIPE_NVFUSER},
                 {GQ_FORMAT_FP8_E5M2, GQ_RECIPE_NVFUSER}};
  gqDirectionTraits usual = {0};
  for (int finite = 0; finite < 2; ++finite) {
    fillInput(GQ_BF16);
    for (int i = 0; finite && i < SIZE; ++i)
      ((uint16_t *)input)[i] &= 0xbfff;
    for (size_t i = 0; i < COUNT(outers); ++i)
      for (size_t j = 0; j < COUNT(methods); ++j) {
        float outer;
        memcpy(&outer, &outers[i], sizeof(outer));
        bool tiled = gqFormatHasBlockScales(methods[j].format);
        compareWithOuter(methods[j].format, methods[j].recipe, tiled, GQ_BF16,
                         5, 272, usual, outer);
      }
  }
}

static void testDirections(void **state) {
  (void)state;
  static const gqDirectionTraits directions[] = {
      {0},
      {.outer = GQ_OUTER_OF_ROW},
      {.rounding = GQ_ROUNDING_STOCHASTIC},
      {.transform = GQ_TRANSFORM_HADAMARD16, .signs = 0xd7e8},
      {.rounding = GQ_ROUNDING_STOCHASTIC,
       .transform = GQ_TRANSFORM_HADAMARD16,
       .signs = 0x1234,
       .outer = GQ_OUTER_OF_ROW},
      {.blockRows = 16, .blockColumns = 16},
      {.fourOverSix = GQ_FOUR_OVER_SIX_MAE, .scaleMax = 256},
      {.fourOverSix = GQ_FOUR_OVER_SIX_MSE,
       .blockRows = 16,
       .blockColumns = 16},
  };
  for (size_t i = 0; i < COUNT(amaxes); ++i)
    amaxes[i] = i % 7 == 0 ? 0.0f : (float)(randomBits() % 1000) * 0x1p-6f;
  for (size_t e = 0; e < COUNT(elements); ++e) {
    fillInput(elements[e]);
    for (size_t d = 0; d < COUNT(directions); ++d) {
      compareQuantization(GQ_FORMAT_NVFP4, GQ_RECIPE_TE, true, elements[e],
                          LENGTH, 208, directions[d]);
      compareQuantization(GQ_FORMAT_NVFP4, GQ_RECIPE_TE, true, elements[e], 17,
                          WIDTH, directions[d]);
    }
  }
}

/// What tiles and squares, the two ways to do the same, give.
static void testSquares(void **state) {
  (void)state;
  static const gqDirectionTraits directions[] = {
      {0},
      {.outer = GQ_OUTER_OF_ROW},
      {.rounding = GQ_ROUNDING_STOCHASTIC},
      {.blockRows = 16, .blockColumns = 16},
      {.transform = GQ_TRANSFORM_HADAMARD16, .signs = 0xd7e8},
      {.rounding = GQ_ROUNDING_STOCHASTIC,
       .transform = GQ_TRANSFORM_HADAMARD16,
       .signs = 0xd7e8},
  };
  static gqCpuTile tile;
  fillInput(GQ_F32);
  for (size_t d = 0; d < COUNT(directions); ++d)
    for (int columnwise = 0; columnwise < 2; ++columnwise)
      for (int64_t rows = 1; rows <= 128; rows += 127) {
        gqCpuTileDirection how = {.traits = directions[d],
                                  .columnwise = columnwise,
                                  .outer = 3.5f,
                                  .pitch = 128};
        if (how.traits.outer != GQ_OUTER_OF_GROUP)
          how.outerAmaxes = amaxes;
        if (!columnwise && how.traits.transform != GQ_TRANSFORM_NONE)
          continue;
        tile = (gqCpuTile){.rows = rows, .columns = 128};
        memcpy(tile.x, input, sizeof(tile.x));
        gqCpuTileCodes codes;
        gqCpuTileScales scales = {0};
        gqCpuQuantizeSquares(&tile, GQ_RECIPE_TE, &how, codes, &scales);
        int64_t lines = columnwise ? 128 : rows;
        gqCpuQuantization q = {
            .method = {GQ_FORMAT_NVFP4, GQ_RECIPE_TE, GQ_SCALE_LAYOUT_LINEAR},
            .rows = rows,
            .input = matrix(input, GQ_F32, rows, 128)};
        gqCpuDirection direction = {
            .data = outputs[0][0],
            .stride = columnwise ? up(rows, 32) / 2 : 64,
            .scales = outputs[0][1],
            .scaleStride =
                scaleStride(GQ_FORMAT_NVFP4, columnwise, false, rows, 128),
            .how = how};
        if (columnwise)
          q.columnwise = direction;
        else
          q.rowwise = direction;
        poison(0);
        doJobs(gqCpuGetKernels(), quantize, &q, rows, 128);
        for (int64_t i = 0; i < lines; ++i) {
          for (int64_t j = 0; j < 2 * direction.stride; ++j) {
            uint8_t byte = outputs[0][0][i * direction.stride + j / 2];
            assert_int_equal(byte >> j % 2 * 4 & 15,
                             columnwise ? codes[j][i] : codes[i][j]);
          }
          for (int64_t j = 0; j < direction.scaleStride; ++j)
            assert_int_equal(outputs[0][1][i * direction.scaleStride + j],
                             scales.bits[i][j]);
        }
      }
}

/// A dequantization whose result is outputs[...][0].
static void dequantize(const gqCpuKernels *kernels, void *context,
                       const gqCpuJob *job) {
  gqCpuDequantization q = *(const gqCpuDequantization *)context;
  q.out.data = outputs[kernels != isas[0].kernels][0];
  kernels->dequantize(&q, job);
}

static void compareDequantization(const uint8_t *data, const uint8_t *scales,
                                  float outer) {
  for (int32_t format = GQ_FORMAT_NONE; format < GQ_NUM_FORMATS; ++format)
    for (int columnwise = 0; columnwise < 2; ++columnwise)
      for (size_t e = 0; e < COUNT(elements); ++e)
        for (int variant = 0; variant < 4; ++variant) {
          gqFormatTraits f = gqFormatGetTraits((gqFormat)format);
          bool none = format == GQ_FORMAT_NONE;
          bool tiled = !none && f.scaleType != GQ_F32 && variant % 2;
          int64_t rows = variant < 2 ? LENGTH : 33, columns = WIDTH;
          bool transposed = columnwise && (none || f.transposes);
          gqCpuDequantization q = {
              .format = (gqFormat)format,
              .recipe = format == GQ_FORMAT_NVFP4 && variant > 1
                            ? GQ_RECIPE_TE
                            : GQ_RECIPE_NVFUSER,
              .columnwise = columnwise,
              .tiled = tiled,
              .type = variant % 2 ? GQ_F8E5M2 : GQ_F8E4M3FN,
              .data = data,
              .stride = (transposed ? up(rows, 32) : columns) * f.dataBits / 8,
              .scales = scales,
              .scaleStride = none ? 0
                                  : scaleStride((gqFormat)format, columnwise,
                                                tiled, rows, columns),
              .outer = none || format == GQ_FORMAT_NVFP4 ? &outer : NULL,
              .out = matrix(NULL, elements[e], rows, columns),
          };
          if (q.recipe == GQ_RECIPE_TE) {
            q.outer = amaxes;
            q.outerDown = !columnwise;
            q.outerAcross = columnwise;
          }
          compare(f.name, NULL, dequantize, &q, rows, columns);
        }
}

static void testDequantize(void **state) {
  (void)state;
  static uint8_t data[ROOM], scales[ROOM];
  for (int i = 0; i < ROOM; ++i) {
    data[i] = (uint8_t)randomBits();
    scales[i] = (uint8_t)randomBits();
  }
  compareDequantization(data, scales, 0.75f);
  // Codes that are numbers in every format, and scales, but for some.
  for (int i = 0; i < ROOM; ++i) {
    if ((data[i] & 0x7c) == 0x7c)
      data[i] ^= 0x40;
    if (scales[i] % 128 >= 126 && i % 16 != 0)
      scales[i] ^= 0x40;
  }
  static const float outers[] = {0.75f,    -3.0f,    0.0f, 0x1p-140f,
                                 0x1p127f, INFINITY, NAN};
  for (size_t i = 0; i < COUNT(outers); ++i)
    compareDequantization(data, scales, outers[i]);
}

static void measure(const gqCpuKernels *kernels, void *context,
                    const gqCpuJob *job) {
  const gqBuffer none = {0};
  for (int i = 0; i < 2; ++i) {
    float *out = (float *)outputs[kernels != isas[0].kernels][i];
    if (job->row == 0)
      memset(out, 0, sizeof(outputs[0][0]));
    gqCpuAmaxes wanted = {.amax = out,
                          .columnwise = i == 0 ? out + 1 : NULL,
                          .rows = out + 2,
                          .columns = out + 2 + LENGTH,
                          .transform = i == 0 ? GQ_TRANSFORM_HADAMARD16
                                              : GQ_TRANSFORM_NONE,
                          .signs = 0xd7e8};
    kernels->measure(context, &none, job, wanted);
  }
}

static void testMeasure(void **state) {
  (void)state;
  for (size_t e = 0; e < COUNT(elements); ++e) {
    fillInput(elements[e]);
    gqBuffer x = matrix(input, elements[e], LENGTH, WIDTH);
    compare("amax", NULL, measure, &x, LENGTH, WIDTH);
  }
}

// Of what is summed: rows of numbers near each other.
enum { FIRST_SUMMED = LENGTH / 4, SUMMED = LENGTH - FIRST_SUMMED };

/// Sums of the columns in the middle, in f32, bf16 and f16. All rows are a job.
static void sum(const gqCpuKernels *kernels, void *context,
                const gqCpuJob *job) {
  const gqBuffer *x = context, none = {0};
  int64_t columns = x->sizes[1];
  bool all = columns > WIDTH;
  const gqCpuJob part = {.rows = x->sizes[0],
                         .column = all ? 0 : columns / 4,
                         .columns = all ? columns : columns / 2};
  for (size_t i = 0; job->row == 0 && i < COUNT(elements); ++i) {
    gqBuffer out =
        matrix(outputs[kernels != isas[0].kernels][i], elements[i], 1, columns);
    kernels->sumColumns(x, &none, &part, &out);
  }
}

/// The same sums of f32, in the order that SumColumns.h says.
static void checkSums(void) {
  const float *sums = (const float *)outputs[0][0];
  for (int c = WIDTH / 4; c < WIDTH * 3 / 4; ++c) {
    float expected = 0.0f;
    for (int first = 0; first < SUMMED; first += 128) {
      float ofTile = 0.0f;
      for (int r = first; r < SUMMED && r < first + 128; ++r) {
        float x;
        memcpy(&x, &input[(FIRST_SUMMED + r) * WIDTH + c], sizeof(x));
        ofTile += x;
      }
      expected += ofTile;
    }
    assert_true(sums[c] == expected);
  }
}

static void testSums(void **state) {
  (void)state;
  for (size_t e = 0; e < COUNT(elements); ++e) {
    fillInput(elements[e]);
    gqBuffer x = matrix(input, elements[e], LENGTH, WIDTH);
    x.data = gqCpuRow(&x, FIRST_SUMMED);
    x.sizes[0] = SUMMED;
    compare("sums", NULL, sum, &x, SUMMED, WIDTH);
    if (elements[e] == GQ_F32)
      checkSums();
  }
}

/// The widest jobs.
static void testWide(void **state) {
  (void)state;
  enum { ROWS = 9 };
  _Static_assert(ROWS * GQ_CPU_JOB_COLUMNS <= SIZE &&
                     ROWS * GQ_CPU_JOB_COLUMNS * 4 <= ROOM,
                 "there is room for them");
  fillInput(GQ_BF16);
  gqDirectionTraits usual = {0};
  for (int32_t f = 0; f < GQ_NUM_FORMATS; ++f)
    compareQuantization((gqFormat)f, GQ_RECIPE_NVFUSER, false, GQ_BF16, ROWS,
                        GQ_CPU_JOB_COLUMNS, usual);
  gqBuffer x = matrix(input, GQ_BF16, ROWS, GQ_CPU_JOB_COLUMNS);
  compare("wide amax", NULL, measure, &x, ROWS, GQ_CPU_JOB_COLUMNS);
  compare("wide sums", NULL, sum, &x, ROWS, GQ_CPU_JOB_COLUMNS);
}

/// Two matrices, and how much of them is multiplied.
typedef struct Product {
  gqCpuMmMatrix a, b;
  int64_t columns, depth;
} Product;

static void multiply(const gqCpuKernels *kernels, void *context,
                     const gqCpuJob *job) {
  const Product *p = context;
  gqCpuMmTile *tile = calloc(1, sizeof(gqCpuMmTile));
  assert_non_null(tile);
  kernels->sumProducts(&p->a, job->row, job->rows, &p->b, 0, p->columns,
                       p->depth, tile);
  double *out = (double *)outputs[kernels != isas[0].kernels];
  for (int64_t r = 0; r < job->rows; ++r)
    memcpy(out + (job->row + r) * p->columns, tile->sums[r],
           (size_t)p->columns * sizeof(double));
  free(tile);
}

static void testProducts(void **state) {
  (void)state;
  static uint8_t codes[2][SIZE];
  static uint8_t bytes[2][ROOM];
  static float floats[2][SIZE];
  for (int i = 0; i < SIZE; ++i)
    for (int j = 0; j < 2; ++j) {
      codes[j][i] = (uint8_t)(randomBits() & 0xf3); // finite in every format
      floats[j][i] = (float)randomBits() * 0x1p-31f;
    }
  for (int i = 0; i < ROOM; ++i)
    for (int j = 0; j < 2; ++j)
      bytes[j][i] = (uint8_t)(0x30 + randomBits() % 0x40);
  for (int32_t format = GQ_FORMAT_NONE; format < GQ_NUM_FORMATS; ++format)
    for (int transposed = 0; transposed < 2; ++transposed) {
      gqFormatTraits f = gqFormatGetTraits((gqFormat)format);
      bool wide = f.scaleType == GQ_F32;
      Product p = {.columns = 246, .depth = transposed ? 200 : 256};
      for (int j = 0; j < 2; ++j)
        *(j ? &p.b : &p.a) = (gqCpuMmMatrix){
            .format = (gqFormat)format,
            .type = GQ_F8E4M3FN,
            .data = codes[j],
            .stride = (transposed ? LENGTH : WIDTH) * f.dataBits / 8,
            .transposed = transposed,
            .scales = wide ? (const void *)floats[j] : bytes[j],
            .scaleStride = up(256 / f.blockColumns, 4),
        };
      compare(f.name, NULL, multiply, &p, 130, p.columns);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testQuantize),   cmocka_unit_test(testOuters),
      cmocka_unit_test(testDirections), cmocka_unit_test(testSquares),
      cmocka_unit_test(testDequantize), cmocka_unit_test(testMeasure),
      cmocka_unit_test(testSums),       cmocka_unit_test(testWide),
      cmocka_unit_test(testProducts),
  };
  return cmocka_run_group_tests(tests, findIsas, NULL);
}
