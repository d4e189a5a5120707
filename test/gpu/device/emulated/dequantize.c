//===- dequantize.c - the kernel of dequantization, emulated --------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   emulated_dequantize [SEED [COUNT]]
//
// Random problems of every format, direction, layout and type, of any bytes,
// against the CPU's ops, which are compared with an oracle elsewhere
// (test_dequantize.py). Then offsets that are not as they must be: then only
// that nothing outside of the operands is touched, and no row of no group.
//
// A NaN is any NaN here: the CPU's operations give other ones than the chip's.
//
//===----------------------------------------------------------------------===//

#include "../Call.h"
#include "../Host.h"
#include "../Hostile.h"
#include "Emulator.h"
#include "Guarded.h"

#include "gq/Runtime/Cpu.h"
#include "runtime_kernels/codecs/Float.h"
#include "runtime_kernels/kernels/Launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 6, POISON = 0xa5 };

/// What is dequantized, and the constants of the kernel.
typedef struct Problem {
  gqFormat format;
  gqFormatTraits traits;
  gqElementType dataType, outType;
  gqRecipe recipe;
  gqScaleLayout layout;
  gqOuterKind outerKind;
  bool columnwise, ragged, givesScaleOffsets;
  int32_t offsetBits;
  int64_t groups, rows, columns;
  /// Of each group.
  int64_t m[MAX_GROUPS], k[MAX_GROUPS];
  /// Integers of offsetBits.
  int64_t offsets[MAX_GROUPS + 1], scaleOffsets[MAX_GROUPS];
  /// In elements as stored, but for `out`.
  int64_t dataSize, dataStride, scalesSize, scaleColumns, outStride;
  int64_t shift;
} Problem;

static int64_t among(int64_t n) { return randomBits() % (uint32_t)n; }

static bool isTiled(const Problem *p) {
  return p->layout == GQ_SCALE_LAYOUT_TILE128X4 && p->format != GQ_FORMAT_NONE;
}

static bool isTransposed(const Problem *p) {
  return p->columnwise && p->traits.transposes;
}

static bool hasFlatScales(const Problem *p) {
  return p->columnwise || p->ragged || (!isTiled(p) && p->traits.blockRows > 1);
}

/// The extents of the scales of [m, k], as stored.
static int64_t scaleLines(const Problem *p, int64_t m, int64_t k) {
  int64_t lines =
      up(p->columnwise ? k : m, p->traits.blockRows) / p->traits.blockRows;
  return isTiled(p) ? up(lines, 128) : lines;
}

static int64_t scaleWidth(const Problem *p, int64_t m, int64_t k) {
  int64_t along = p->columnwise ? up(m, 32) : k;
  int64_t blocks = up(along, p->traits.blockColumns) / p->traits.blockColumns;
  return isTiled(p) ? up(blocks, 4) : blocks;
}

/// Sizes of all operands, given the groups.
static void layOut(Problem *p, int64_t before, int64_t after) {
  int64_t at = before, scaleRow = 0, dataSize = 0, scalesSize = 0;
  int64_t bits = p->traits.dataBits;
  for (int64_t e = 0; e < p->groups; ++e) {
    int64_t m = p->m[e], k = p->k[e];
    p->offsets[e] = at;
    at += p->ragged ? up(m * k, 16) + 16 * among(3) : m;
    p->scaleOffsets[e] = scaleRow;
    scaleRow += up(m, 128) + 128 * among(2) * p->givesScaleOffsets;
    dataSize += k * up(m, 32) * bits / 8;
    if (m && k)
      scalesSize += scaleLines(p, m, k) * scaleWidth(p, m, k);
  }
  p->offsets[p->groups] = at;
  p->rows = at + after;
  p->outStride = p->ragged ? 0 : p->columns + 8 * among(2) + among(2);
  p->dataStride = p->columns * bits / 8 + among(2) * 8 + among(2);
  p->dataSize = isTransposed(p) ? dataSize
                : p->ragged     ? p->rows * bits / 8
                                : p->rows * p->dataStride;
  p->scaleColumns = scaleWidth(p, 0, p->columns);
  p->scalesSize = p->format == GQ_FORMAT_NONE ? 0
                  : hasFlatScales(p)          ? scalesSize
                  : isTiled(p)                ? scaleRow * p->scaleColumns
                                              : p->rows * p->scaleColumns;
}

static Problem randomProblem(void) {
  static const int64_t sizes[] = {0, 1, 5, 16, 31, 33, 127, 128, 130, 200};
  Problem p = {.format = (gqFormat)(among(GQ_NUM_FORMATS + 1) - 1)};
  p.traits = gqFormatGetTraits(p.format);
  bool none = p.format == GQ_FORMAT_NONE, nvfp4 = p.format == GQ_FORMAT_NVFP4;
  p.dataType = none ? among(2) ? GQ_F8E5M2 : GQ_F8E4M3FN : p.traits.dataType;
  p.outType = (gqElementType[]){GQ_F32, GQ_BF16, GQ_F16}[among(3)];
  p.recipe = nvfp4 && among(2) ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER;
  p.layout = p.traits.scaleType == GQ_F32 || among(3) == 0
                 ? GQ_SCALE_LAYOUT_LINEAR
                 : GQ_SCALE_LAYOUT_TILE128X4;
  p.outerKind = none || p.recipe == GQ_RECIPE_TE ? (gqOuterKind)(1 + among(2))
                : nvfp4                          ? (gqOuterKind)among(3)
                                                 : GQ_OUTER_NONE;
  p.columnwise = !none && among(2);
  p.ragged = among(3) == 0;
  p.givesScaleOffsets = !p.columnwise && !p.ragged && isTiled(&p) && among(2);
  p.offsetBits = among(2) ? 32 : 64;
  p.groups = 1 + among(MAX_GROUPS);
  p.shift = among(3) ? 0 : 4 * (1 + among(3));
  int64_t block = none ? 3 : p.traits.blockColumns;
  int64_t most = 300 / block + 1;
  p.columns = p.ragged ? 1 : block * (1 + among(most));
  for (int64_t e = 0; e < p.groups; ++e) {
    p.m[e] = sizes[among(10)];
    p.k[e] = p.ragged ? block * among(most) : p.columns;
  }
  layOut(&p, p.ragged ? 16 * among(3) : among(9), among(9));
  return p;
}

//===----------------------------------------------------------------------===//
// Operands in memory
//===----------------------------------------------------------------------===//

enum {
  DATA,
  SCALES,
  OFFSETS,
  SCALE_OFFSETS,
  FIRST_DIMS,
  LAST_DIMS,
  OUTER,
  OUT,
  STATUS,
  NUM_ARRAYS
};

typedef struct Memory {
  Guarded arrays[NUM_ARRAYS];
} Memory;

static void storeIndices(const Problem *p, uint8_t *to, const int64_t *from,
                         int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (p->offsetBits == 64)
      memcpy(to + i * 8, &from[i], 8);
    else
      memcpy(to + i * 4, &(int32_t){(int32_t)from[i]}, 4);
}

/// Any bytes; of scales that are floats some are.
static void fill(Guarded *g, bool floats) {
  for (int64_t i = 0; i < g->size; ++i)
    g->bytes[i] = (uint8_t)(randomBits() >> 7);
  for (int64_t i = 0; floats && i + 4 <= g->size; i += 4)
    if (among(8))
      memcpy(g->bytes + i, &(float){(float)(1 + among(1000)) / 64.0f}, 4);
}

static Memory memoryNew(const Problem *p) {
  int64_t index = p->offsetBits / 8, out = gqElementTypeSize(p->outType);
  const int64_t sizes[NUM_ARRAYS] = {
      [DATA] = p->dataSize,
      [SCALES] = p->scalesSize * gqElementTypeSize(p->traits.scaleType),
      [OFFSETS] = (p->groups + 1) * index,
      [SCALE_OFFSETS] = p->givesScaleOffsets ? p->groups * index : 0,
      [FIRST_DIMS] = p->ragged ? p->groups * index : 0,
      [LAST_DIMS] = p->ragged ? p->groups * index : 0,
      [OUTER] = p->outerKind == GQ_OUTER_PER_GROUP ? p->groups * 4
                : p->outerKind == GQ_OUTER_ONE     ? 4
                                                   : 0,
      [OUT] = (p->ragged ? p->rows : p->rows * p->outStride) * out,
      [STATUS] = 4,
  };
  Memory memory;
  for (int i = 0; i < NUM_ARRAYS; ++i)
    memory.arrays[i] = guardedNew(
        sizes[i], i == DATA || i == SCALES || i == OUT ? p->shift : 0, POISON);
  fill(&memory.arrays[DATA], false);
  fill(&memory.arrays[SCALES], p->traits.scaleType == GQ_F32);
  fill(&memory.arrays[OUTER], true);
  storeIndices(p, memory.arrays[OFFSETS].bytes, p->offsets, p->groups + 1);
  if (p->givesScaleOffsets)
    storeIndices(p, memory.arrays[SCALE_OFFSETS].bytes, p->scaleOffsets,
                 p->groups);
  if (p->ragged) {
    storeIndices(p, memory.arrays[FIRST_DIMS].bytes, p->m, p->groups);
    storeIndices(p, memory.arrays[LAST_DIMS].bytes, p->k, p->groups);
  }
  memset(memory.arrays[STATUS].bytes, 0, 4);
  return memory;
}

static bool memoryFree(Memory *memory) {
  bool hold = true;
  for (int i = 0; i < NUM_ARRAYS; ++i) {
    hold &= guardsHold(&memory->arrays[i]);
    guardedFree(&memory->arrays[i]);
  }
  return hold;
}

//===----------------------------------------------------------------------===//
// The kernel, and what it must give
//===----------------------------------------------------------------------===//

typedef struct Launch {
  const Problem *p;
  DequantizeTilesOperands operands;
} Launch;

static void dequantize(void *context) {
  const Launch *launch = context;
  const Problem *p = launch->p;
  const DequantizeTilesOperands o = launch->operands;
  const int32_t parts = (p->columnwise ? GQ_DEV_COLUMNWISE : GQ_DEV_ROWWISE) |
                        (p->ragged ? GQ_DEV_RAGGED : 0) |
                        (p->givesScaleOffsets ? GQ_DEV_SCALE_OFFSETS : 0);
  const int32_t format = p->format, dataType = (int32_t)p->dataType;
  const int32_t recipe = p->recipe, scaleLayout = p->layout;
  const int32_t offsetBits = p->offsetBits, outerKind = p->outerKind;
  const int32_t outType = (int32_t)p->outType;
  CALL(dequantize_tiles, GQ_DEQUANTIZE_TILES_OPERANDS);
}

static void runKernel(const Problem *p, const Memory *memory) {
  uint64_t at[NUM_ARRAYS];
  for (int i = 0; i < NUM_ARRAYS; ++i)
    at[i] = memory->arrays[i].size
                ? (uint64_t)(uintptr_t)memory->arrays[i].bytes
                : 0;
  bool flatData = p->ragged || isTransposed(p);
  Launch launch = {
      .p = p,
      .operands = {
          .data = at[DATA],
          .dataStride = flatData ? 0 : p->dataStride,
          .dataSize = p->dataSize,
          .scales = at[SCALES],
          .scalesStride =
              hasFlatScales(p)
                  ? 0
                  : p->scaleColumns * gqElementTypeSize(p->traits.scaleType),
          .scalesSize = p->scalesSize,
          .rows = p->rows,
          .columns = p->columns,
          .offsets = at[OFFSETS],
          .numOffsets = p->groups + 1,
          .scaleOffsets = at[SCALE_OFFSETS],
          .firstDims = at[FIRST_DIMS],
          .lastDims = at[LAST_DIMS],
          .groups = p->groups,
          .outer = at[OUTER],
          .out = at[OUT],
          .outStride = p->outStride * gqElementTypeSize(p->outType),
          .status = at[STATUS],
      }};
  emulatorRun((uint32_t)(1 + among(4)), GQ_DEV_DEQUANTIZE_TILES_THREADS,
              dequantize, &launch);
}

static gqBuffer vector(const Guarded *g, gqElementType type, int64_t n) {
  if (!n)
    return (gqBuffer){.data = NULL};
  return (gqBuffer){
      .data = g->bytes, .type = type, .rank = 1, .sizes = {n}, .strides = {1}};
}

static gqBuffer matrix(const Guarded *g, gqElementType type, int64_t rows,
                       int64_t columns, int64_t stride) {
  return (gqBuffer){.data = g->bytes,
                    .type = type,
                    .rank = 2,
                    .sizes = {rows, columns},
                    .strides = {stride, 1}};
}

/// Dequantizes on the CPU, into `out`. False, after a message, if it refuses.
static bool runReference(const Problem *p, const Memory *memory,
                         const Guarded *out) {
  const Guarded *a = memory->arrays;
  gqElementType index = p->offsetBits == 64 ? GQ_I64 : GQ_I32;
  gqElementType scaleType = p->traits.scaleType;
  int64_t dataColumns = p->columns * p->traits.dataBits / 8;
  bool none = p->format == GQ_FORMAT_NONE;
  gqBuffer outer = vector(&a[OUTER], GQ_F32, p->groups);
  if (p->outerKind == GQ_OUTER_ONE)
    outer = (gqBuffer){.data = a[OUTER].bytes, .type = GQ_F32};
  gqGroupedDequantizeOperands operands = {
      .data = p->ragged || isTransposed(p)
                  ? vector(&a[DATA], p->dataType, p->dataSize)
                  : matrix(&a[DATA], p->dataType, p->rows, dataColumns,
                           p->dataStride),
      .offsets = vector(&a[OFFSETS], index, p->groups + 1),
      .scaleOffsets = vector(&a[SCALE_OFFSETS], index,
                             p->givesScaleOffsets ? p->groups : 0),
      .firstDims = vector(&a[FIRST_DIMS], index, p->ragged ? p->groups : 0),
      .lastDims = vector(&a[LAST_DIMS], index, p->ragged ? p->groups : 0),
      .out = p->ragged
                 ? vector(out, p->outType, p->rows)
                 : matrix(out, p->outType, p->rows, p->columns, p->outStride),
  };
  if (p->ragged && p->rows == 0)
    operands.out = (gqBuffer){
        .data = out->bytes, .type = p->outType, .rank = 1, .strides = {1}};
  if (!none)
    operands.scales =
        hasFlatScales(p)
            ? (gqBuffer){.data = a[SCALES].bytes,
                         .type = scaleType,
                         .rank = 1,
                         .sizes = {p->scalesSize},
                         .strides = {1}}
            : matrix(&a[SCALES], scaleType, p->scalesSize / p->scaleColumns,
                     p->scaleColumns, p->scaleColumns);
  if (isTransposed(p) || p->ragged)
    operands.data = (gqBuffer){.data = a[DATA].bytes,
                               .type = p->dataType,
                               .rank = 1,
                               .sizes = {p->dataSize},
                               .strides = {1}};
  if (p->outerKind != GQ_OUTER_NONE)
    *(none                        ? &operands.scaleInv
      : p->recipe == GQ_RECIPE_TE ? &operands.outerAmax
                                  : &operands.globalScale) = outer;
  gqCpuGroupedDequantize(&operands, p->format, p->recipe, p->layout,
                         p->columnwise);
  if (gqCpuStatus() == GQ_OK)
    return true;
  printf("reference: %s\n", gqGetLastErrorMessage());
  return false;
}

static bool isNan(gqElementType type, const uint8_t *p) {
  if (type == GQ_F32) {
    float x;
    memcpy(&x, p, 4);
    return x != x;
  }
  uint16_t x;
  memcpy(&x, p, 2);
  float value =
      type == GQ_BF16 ? gq_dev_f32_from_bf16(x) : gq_dev_f32_from_f16(x);
  return value != value;
}

static bool equal(const Problem *p, const Guarded *a, const Guarded *b) {
  int64_t size = gqElementTypeSize(p->outType);
  for (int64_t i = 0; i < a->size; i += size)
    if (memcmp(a->bytes + i, b->bytes + i, (size_t)size) &&
        !(isNan(p->outType, a->bytes + i) && isNan(p->outType, b->bytes + i))) {
      printf("element %lld differs\n", (long long)(i / size));
      return false;
    }
  return true;
}

static void describe(const Problem *p) {
  printf("FAIL: %s%s data %s out %s recipe %d layout %d outer %d%s%s, %lld "
         "groups, %lld x %lld, shift %lld\n",
         p->traits.name, p->columnwise ? " columnwise" : "",
         gqElementTypeMnemonic(p->dataType), gqElementTypeMnemonic(p->outType),
         p->recipe, p->layout, p->outerKind, p->ragged ? " ragged" : "",
         p->givesScaleOffsets ? " scale offsets" : "", (long long)p->groups,
         (long long)p->rows, (long long)p->columns, (long long)p->shift);
}

static bool testRandom(void) {
  Problem p = randomProblem();
  Memory memory = memoryNew(&p);
  Guarded expected = guardedNew(memory.arrays[OUT].size, p.shift, POISON);
  bool valid = runReference(&p, &memory, &expected);
  if (valid) {
    runKernel(&p, &memory);
    uint32_t status;
    memcpy(&status, memory.arrays[STATUS].bytes, 4);
    valid = status == 0 && equal(&p, &memory.arrays[OUT], &expected);
  }
  guardedFree(&expected);
  valid &= memoryFree(&memory);
  if (!valid)
    describe(&p);
  return valid;
}

/// One of the list's cases; what has no scale offsets or dimensions ignores
/// changes of them.
static bool testHostile(const HostileCase *c) {
  static const int64_t ragged[HOSTILE_GROUPS] = {160, 32, 64, 96};
  Problem p = randomProblem();
  p.groups = HOSTILE_GROUPS;
  p.columns = p.ragged ? 1 : 256;
  for (int e = 0; e < HOSTILE_GROUPS; ++e) {
    p.m[e] = hostileRows[e];
    p.k[e] = p.ragged ? ragged[e] * 4 : p.columns;
  }
  layOut(&p, 0, 5);
  for (const HostileChange *i = c->changes; i->array; ++i) {
    int64_t value = hostileValue(i->value, p.offsetBits);
    if (i->array == HOSTILE_OFFSETS)
      p.offsets[i->entry] = value;
    else if (i->array == HOSTILE_SCALE_OFFSETS)
      p.scaleOffsets[i->entry] = value;
    else if (i->array == HOSTILE_FIRST_DIMS)
      p.m[i->entry] = value;
    else if (i->array == HOSTILE_LAST_DIMS)
      p.k[i->entry] = value;
    else if (i->array == HOSTILE_COLUMNWISE_DATA && isTransposed(&p))
      p.dataSize = p.dataSize / 2 / 16 * 16;
    else if (hasFlatScales(&p) && p.format != GQ_FORMAT_NONE)
      p.scalesSize = p.scalesSize * (i->entry + 1) / 5;
  }
  Memory memory = memoryNew(&p);
  runKernel(&p, &memory);
  bool valid = true;
  if (!p.ragged && p.offsets[HOSTILE_GROUPS] == HOSTILE_GROUPED_ROWS) {
    int64_t pitch = p.outStride * gqElementTypeSize(p.outType);
    const uint8_t *rest =
        memory.arrays[OUT].bytes + HOSTILE_GROUPED_ROWS * pitch;
    for (int64_t i = 0; i < 5 * pitch; ++i)
      valid &= rest[i] == POISON;
  }
  valid &= memoryFree(&memory);
  if (!valid) {
    printf("%s\n", c->name);
    describe(&p);
  }
  return valid;
}

int main(int argc, char **argv) {
  int64_t seed = argc > 1 ? atoll(argv[1]) : 0;
  int64_t count = argc > 2 ? atoll(argv[2]) : 600, failed = 0;
  for (int64_t i = 0; i < seed; ++i)
    randomBits();
  for (int64_t i = 0; i < count && failed < 10; ++i)
    failed += !testRandom();
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < NUM_HOSTILE_CASES && failed < 10; ++i)
      failed += !testHostile(&hostileCases[i]);
  printf("%lld passed, %lld failed\n",
         (long long)(count + 4 * NUM_HOSTILE_CASES - failed),
         (long long)failed);
  return failed != 0;
}
