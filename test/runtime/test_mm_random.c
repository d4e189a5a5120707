//===- test_mm_random.c - matmuls of random, damaged operands -------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gq.grouped_mm and gq.grouped_wgrad on operands that are exactly as large as
// they must be, so that a sanitizer sees each access beyond. Most are damaged
// in one place: then the op refuses them and writes nothing, or they happen to
// be right. What it computes is not looked at.
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "gq/Runtime/Cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 3000, MAX_GROUPS = 4, MAX_BUFFERS = 16 };

static int64_t below(int64_t count) {
  return (int64_t)(randomBits() % (uint32_t)count);
}

/// What is freed after a round.
static void *owned[MAX_BUFFERS];
static int numOwned;

/// Random bytes, no more than `size`.
static void *bytesNew(int64_t size) {
  uint8_t *bytes = malloc((size_t)size);
  assert_true(bytes || size == 0);
  for (int64_t i = 0; i < size; ++i)
    bytes[i] = (uint8_t)randomBits();
  return owned[numOwned++] = bytes;
}

static gqBuffer bufferNew(gqElementType type, int64_t rank, int64_t a,
                          int64_t b, int64_t c) {
  int64_t sizes[] = {a, rank > 1 ? b : 1, rank > 2 ? c : 1};
  void *data =
      bytesNew(sizes[0] * sizes[1] * sizes[2] * gqElementTypeSize(type));
  return rank == 1   ? vector(data, type, a)
         : rank == 2 ? matrix(data, type, a, b)
                     : cube(data, type, a, b, c);
}

/// A pair of formats of the same scale rule, or none.
typedef struct Pair {
  int32_t formats[2];
  bool scaled, tiled;
  int64_t block;
} Pair;

static Pair pairNew(bool oneRow) {
  static const int32_t pairs[][2] = {
      {-1, -1}, {0, 0}, {1, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 2},
      {4, 4},   {4, 5}, {4, 6}, {6, 7}, {5, 5}, {7, 4}, {5, 6},
  };
  const int32_t numOfOneRow = 11;
  const int32_t *chosen = pairs[below(oneRow ? numOfOneRow : 14)];
  gqFormatTraits traits = gqFormatGetTraits((gqFormat)chosen[0]);
  return (Pair){.formats = {chosen[0], chosen[1]},
                .scaled = chosen[0] >= 0,
                .tiled = chosen[0] >= 0 && traits.scaleType != GQ_F32,
                .block = traits.blockColumns};
}

static gqElementType dataType(int32_t format) {
  if (format < 0)
    return below(2) ? GQ_F8E4M3FN : GQ_F8E5M2;
  return gqFormatGetTraits((gqFormat)format).dataType;
}

/// Elements of a row as stored.
static int64_t stored(int32_t format, int64_t count) {
  return count * gqFormatGetTraits((gqFormat)format).dataBits / 8;
}

static int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// Rows of groups, with some before and after.
typedef struct Groups {
  int64_t count, rows[MAX_GROUPS], m;
  gqBuffer offsets;
} Groups;

static Groups groupsNew(void) {
  Groups g = {.count = below(MAX_GROUPS + 1)};
  int64_t starts[MAX_GROUPS + 1] = {below(4)};
  for (int64_t e = 0; e < g.count; ++e) {
    g.rows[e] = below(3) ? below(70) : below(3);
    starts[e + 1] = starts[e] + g.rows[e];
  }
  g.m = starts[g.count] + below(4);
  int64_t *offsets = bytesNew((g.count + 1) * (int64_t)sizeof(int64_t));
  memcpy(offsets, starts, (size_t)(g.count + 1) * sizeof(int64_t));
  g.offsets = vector(offsets, GQ_I64, g.count + 1);
  return g;
}

/// Where tiles of the scales of groups begin, and all their rows in `*rows`.
static gqBuffer scaleOffsetsNew(const Groups *g, int64_t *rows) {
  int64_t *starts = bytesNew(g->count * (int64_t)sizeof(int64_t));
  *rows = 0;
  for (int64_t e = 0; e < g->count; ++e) {
    *rows += 128 * (below(4) == 0);
    starts[e] = *rows;
    *rows += up(g->rows[e], 128);
  }
  return vector(starts, GQ_I64, g->count);
}

static gqElementType floatType(void) {
  static const gqElementType types[] = {GQ_F32, GQ_BF16, GQ_F16};
  return types[below(3)];
}

static gqBuffer outNew(Memory *memory, int64_t rank, int64_t a, int64_t b,
                       int64_t c) {
  gqElementType type = floatType();
  *memory = memoryNew(a * b * c * gqElementTypeSize(type), 0xa5);
  return rank == 2 ? matrix(memory->bytes, type, a, b)
                   : cube(memory->bytes, type, a, b, c);
}

static gqGroupedMmOperands mmNew(const Pair *pair, const Groups *g,
                                 gqMajor major, Memory *out) {
  gqFormatTraits b = gqFormatGetTraits((gqFormat)pair->formats[1]);
  int64_t blocks = 1 + below(3), k = blocks * pair->block;
  int64_t n = 1 + below(140);
  if (major == GQ_MAJOR_N)
    n += n % 2;
  gqElementType type = dataType(pair->formats[1]);
  gqGroupedMmOperands o = {
      .a = bufferNew(dataType(pair->formats[0]), 2, g->m,
                     stored(pair->formats[0], k), 0),
      .b = major == GQ_MAJOR_N
               ? bufferNew(type, 3, g->count, k, stored(pair->formats[1], n))
               : bufferNew(type, 3, g->count, n, stored(pair->formats[1], k)),
      .offsets = g->offsets,
      .out = outNew(out, 2, g->m, n, 1),
  };
  if (pair->tiled) {
    int64_t rows;
    o.scaleOffsets = scaleOffsetsNew(g, &rows);
    o.aScales = bufferNew(b.scaleType, 2, rows, up(blocks, 4), 0);
    o.bScales = bufferNew(b.scaleType, 3, g->count, up(n, 128), up(blocks, 4));
  } else if (pair->scaled) {
    o.aScales = bufferNew(GQ_F32, 2, g->m, blocks, 0);
    o.bScales = bufferNew(GQ_F32, 3, g->count, ceilDiv(n, b.blockRows), blocks);
  }
  if (below(2))
    o.alpha = bufferNew(GQ_F32, 1, g->count, 0, 0);
  if (below(2))
    o.rowScales = bufferNew(GQ_F32, 1, g->m, 0, 0);
  if (below(2))
    o.columnScales = bufferNew(GQ_F32, 2, g->count, n, 0);
  if (below(2))
    o.bias = bufferNew(floatType(), 2, g->count, n, 0);
  return o;
}

/// The columnwise data and scales of a matrix.
static void columnwiseNew(const Groups *g, const Pair *pair, int32_t format,
                          int64_t columns, gqBuffer *data, gqBuffer *scales) {
  gqFormatTraits traits = gqFormatGetTraits((gqFormat)format);
  int64_t size = 0, numScales = 0;
  for (int64_t e = 0; e < g->count; ++e) {
    int64_t rows = up(g->rows[e], 32), lines = columns / traits.blockRows;
    int64_t blocks = ceilDiv(rows, traits.blockColumns);
    size += columns * rows;
    numScales += pair->tiled ? up(lines, 128) * up(blocks, 4) : lines * blocks;
  }
  gqElementType type = dataType(format);
  *data = traits.transposes
              ? bufferNew(type, 1, stored(format, size), 0, 0)
              : bufferNew(type, 2, g->m, stored(format, columns), 0);
  if (pair->scaled)
    *scales = bufferNew(traits.scaleType, 1, numScales, 0, 0);
}

static gqGroupedWgradOperands wgradNew(const Pair *pair, const Groups *g,
                                       Memory *out) {
  int64_t n = (1 + below(3)) * pair->block, k = (1 + below(3)) * pair->block;
  gqGroupedWgradOperands o = {.offsets = g->offsets,
                              .out = outNew(out, 3, g->count, n, k)};
  columnwiseNew(g, pair, pair->formats[0], n, &o.a, &o.aScales);
  columnwiseNew(g, pair, pair->formats[1], k, &o.b, &o.bScales);
  if (below(2))
    o.alpha = bufferNew(GQ_F32, 1, g->count, 0, 0);
  return o;
}

/// Makes an extent smaller, and of an operand that is read its memory.
static void shrink(gqBuffer *buffer, bool read) {
  if (buffer->rank < 1)
    return;
  int64_t *sizes = buffer->sizes, d = below(buffer->rank);
  sizes[d] = below(2) ? 0 : sizes[d] - 1 - below(3);
  if (sizes[d] >= 0 && read)
    *buffer = bufferNew((gqElementType)buffer->type, buffer->rank, sizes[0],
                        sizes[1], sizes[2]);
}

/// Replaces an operand by another one, never larger than its memory.
static void damage(gqBuffer *buffer, bool read) {
  int64_t type = below(GQ_F8E8M0FNU + 3) - 1;
  switch (below(6)) {
  case 0:
    if (gqElementTypeSize((gqElementType)type) <=
        gqElementTypeSize((gqElementType)buffer->type))
      buffer->type = type;
    break;
  case 1:
    buffer->rank = below(5) - 1;
    break;
  case 2:
    *buffer = (gqBuffer){0};
    break;
  case 3:
    buffer->data = NULL;
    break;
  default:
    shrink(buffer, read);
  }
}

/// One entry of offsets, of 64 bits, becomes anything.
static void damageIndices(const gqBuffer *indices) {
  static const int64_t values[] = {-1,        INT64_MIN, INT64_MAX,
                                   1LL << 56, 1LL << 32, 1000};
  if (indices->rank == 1 && indices->sizes[0])
    ((int64_t *)indices->data)[below(indices->sizes[0])] =
        below(2) ? values[below(6)] : below(200);
}

/// Looks at what the op did and frees the round's memory.
static void finish(bool damaged, Memory *out) {
  gqStatus status = gqCpuStatus();
  if (!damaged)
    assert_int_equal(status, GQ_OK);
  if (status != GQ_OK)
    assertUntouched(out);
  assertGuards(out);
  memoryFree(out);
  while (numOwned)
    free(owned[--numOwned]);
}

static void testRandom(bool gradient) {
  for (int round = 0; round < ROUNDS; ++round) {
    Pair pair = pairNew(!gradient);
    Groups groups = groupsNew();
    gqFormatTraits b = gqFormatGetTraits((gqFormat)pair.formats[1]);
    gqMajor major =
        b.transposes || gradient || below(2) ? GQ_MAJOR_K : GQ_MAJOR_N;
    Memory out;
    gqGroupedMmOperands mm = {0};
    gqGroupedWgradOperands wgrad = {0};
    if (gradient)
      wgrad = wgradNew(&pair, &groups, &out);
    else
      mm = mmNew(&pair, &groups, major, &out);
    gqBuffer *buffers = gradient ? (gqBuffer *)&wgrad : (gqBuffer *)&mm;
    int64_t count =
        (int64_t)((gradient ? sizeof(wgrad) : sizeof(mm)) / sizeof(gqBuffer));
    bool damaged = below(4) != 0;
    if (damaged && below(3) == 0)
      damageIndices(gradient || below(2) ? &groups.offsets : &mm.scaleOffsets);
    else if (damaged) {
      int64_t i = below(count);
      damage(&buffers[i], i < count - 1); // What is written is last.
    }
    int32_t layout = pair.tiled || !pair.scaled ? GQ_SCALE_LAYOUT_TILE128X4
                                                : GQ_SCALE_LAYOUT_LINEAR;
    if (gradient)
      gqCpuGroupedWgrad(&wgrad, pair.formats[0], pair.formats[1], layout);
    else
      gqCpuGroupedMm(&mm, pair.formats[0], pair.formats[1], layout, major);
    finish(damaged, &out);
  }
}

static void testGroupedMm(void **state) {
  (void)state;
  testRandom(false);
}

static void testGroupedWgrad(void **state) {
  (void)state;
  testRandom(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testGroupedMm),
      cmocka_unit_test(testGroupedWgrad),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
