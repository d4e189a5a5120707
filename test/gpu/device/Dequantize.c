//===- Dequantize.c - problems for the kernel of dequantization -----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dequantize.h"

#include "Host.h"
#include "Hostile.h"

#include "gq/Runtime/Cpu.h"
#include "runtime_kernels/codecs/Float.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIANT(NAME, FORMAT, TYPE, RECIPE, LAYOUT, PARTS, BITS, KIND, OUT,    \
                SCALE_MAX)                                                     \
  {#NAME,                                                                      \
   GQ_FORMAT_##FORMAT,                                                         \
   GQ_##TYPE,                                                                  \
   GQ_RECIPE_##RECIPE,                                                         \
   GQ_SCALE_LAYOUT_##LAYOUT,                                                   \
   PARTS,                                                                      \
   BITS,                                                                       \
   GQ_OUTER_##KIND,                                                            \
   SCALE_MAX,                                                                  \
   GQ_##OUT,                                                                   \
   false,                                                                      \
   GQ_##OUT},
const DequantizeVariant dequantizeVariants[] = {
#include "DequantizeVariants.h"
};
#undef VARIANT
const int numDequantizeVariants =
    sizeof(dequantizeVariants) / sizeof(*dequantizeVariants);

static int64_t among(int64_t n) { return randomBits() % (uint32_t)n; }

static bool isTiled(const DequantizeProblem *p) {
  return p->v.layout == GQ_SCALE_LAYOUT_TILE128X4 &&
         p->v.format != GQ_FORMAT_NONE;
}

static bool isTransposed(const DequantizeProblem *p) {
  return p->columnwise &&
         (p->v.format == GQ_FORMAT_NONE || p->traits.transposes);
}

static bool hasFlatScales(const DequantizeProblem *p) {
  return p->columnwise || p->ragged || (!isTiled(p) && p->traits.blockRows > 1);
}

/// The extents of the scales of [m, k], as stored.
static int64_t scaleLines(const DequantizeProblem *p, int64_t m, int64_t k) {
  int64_t lines =
      up(p->columnwise ? k : m, p->traits.blockRows) / p->traits.blockRows;
  return isTiled(p) ? up(lines, 128) : lines;
}

static int64_t scaleWidth(const DequantizeProblem *p, int64_t m, int64_t k) {
  int64_t along = p->columnwise ? up(m, 32) : k;
  int64_t blocks = up(along, p->traits.blockColumns) / p->traits.blockColumns;
  return isTiled(p) ? up(blocks, 4) : blocks;
}

/// Sizes of all operands, given the groups.
static void layOut(DequantizeProblem *p, int64_t before, int64_t after) {
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
  p->scalesSize = p->v.format == GQ_FORMAT_NONE ? 0
                  : hasFlatScales(p)            ? scalesSize
                  : isTiled(p)                  ? scaleRow * p->scaleColumns
                                                : p->rows * p->scaleColumns;
}

static DequantizeVariant anyVariant(void) {
  DequantizeVariant v = {.format = (gqFormat)(among(GQ_NUM_FORMATS + 1) - 1)};
  gqFormatTraits traits = gqFormatGetTraits(v.format);
  bool none = v.format == GQ_FORMAT_NONE, nvfp4 = v.format == GQ_FORMAT_NVFP4;
  v.dataType = none ? among(2) ? GQ_F8E5M2 : GQ_F8E4M3FN : traits.dataType;
  v.outType = (gqElementType[]){GQ_F32, GQ_BF16, GQ_F16}[among(3)];
  v.recipe = nvfp4 && among(2) ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER;
  v.layout = traits.scaleType == GQ_F32 || among(3) == 0
                 ? GQ_SCALE_LAYOUT_LINEAR
                 : GQ_SCALE_LAYOUT_TILE128X4;
  v.outerKind = none || v.recipe == GQ_RECIPE_TE ? (gqOuterKind)(1 + among(2))
                : nvfp4                          ? (gqOuterKind)among(3)
                                                 : GQ_OUTER_NONE;
  v.parts = among(2) ? GQ_DEV_COLUMNWISE : GQ_DEV_ROWWISE;
  if (among(3) == 0)
    v.parts |= GQ_DEV_RAGGED;
  else if (v.parts == GQ_DEV_ROWWISE && !none &&
           v.layout == GQ_SCALE_LAYOUT_TILE128X4 && among(2))
    v.parts |= GQ_DEV_SCALE_OFFSETS;
  if (v.recipe == GQ_RECIPE_TE && !(v.parts & GQ_DEV_RAGGED) && among(3) == 0)
    v.outerKind =
        v.parts & GQ_DEV_COLUMNWISE ? GQ_OUTER_PER_COLUMN : GQ_OUTER_PER_ROW;
  v.scaleMax = v.recipe == GQ_RECIPE_TE && among(3) == 0 ? 256 : 0;
  v.offsetBits = among(2) ? 32 : 64;
  v.hasEpilogue = !(v.parts & GQ_DEV_RAGGED) && among(2);
  v.valueType = v.hasEpilogue
                    ? (gqElementType[]){GQ_F32, GQ_BF16, GQ_F16}[among(3)]
                    : v.outType;
  return v;
}

static DequantizeProblem problemOf(DequantizeVariant v) {
  return (DequantizeProblem){
      .v = v,
      .traits = gqFormatGetTraits(v.format),
      .columnwise = v.parts & GQ_DEV_COLUMNWISE,
      .ragged = v.parts & GQ_DEV_RAGGED,
      .givesScaleOffsets = v.parts & GQ_DEV_SCALE_OFFSETS,
      .shift = among(3) ? 0 : 4 * (1 + among(3)),
  };
}

static DequantizeProblem randomProblem(DequantizeVariant v) {
  static const int64_t sizes[] = {0, 1, 5, 16, 31, 33, 127, 128, 130, 200};
  DequantizeProblem p = problemOf(v);
  bool many = among(16) == 0;
  p.groups = 1 + among(many ? DEQUANTIZE_GROUPS : 6);
  int64_t block = v.format == GQ_FORMAT_NONE ? 3 : p.traits.blockColumns;
  int64_t most = 300 / block + 1;
  p.columns = p.ragged ? 1 : block * (1 + among(most));
  for (int64_t e = 0; e < p.groups; ++e) {
    p.m[e] = !many ? sizes[among(10)] : among(4) ? 0 : sizes[among(5)];
    p.k[e] = p.ragged ? block * among(most) : p.columns;
  }
  layOut(&p, p.ragged ? 16 * among(3) : among(9), among(9));
  return p;
}

//===----------------------------------------------------------------------===//
// Operands in memory
//===----------------------------------------------------------------------===//

static void storeIndices(const DequantizeProblem *p, uint8_t *to,
                         const int64_t *from, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (p->v.offsetBits == 64)
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

/// Outer scales.
static int64_t numOuters(const DequantizeProblem *p) {
  switch (p->v.outerKind) {
  case GQ_OUTER_NONE:
    return 0;
  case GQ_OUTER_ONE:
    return 1;
  case GQ_OUTER_PER_GROUP:
    return p->groups;
  case GQ_OUTER_PER_ROW:
    return p->rows;
  case GQ_OUTER_PER_COLUMN:
    return p->groups * p->columns;
  }
  return 0;
}

static DequantizeMemory memoryNew(const DequantizeProblem *p) {
  int64_t index = p->v.offsetBits / 8, out = gqElementTypeSize(p->v.outType);
  const int64_t sizes[DEQUANTIZE_ARRAYS] = {
      [DEQUANTIZE_DATA] = p->dataSize,
      [DEQUANTIZE_SCALES] =
          p->scalesSize * gqElementTypeSize(p->traits.scaleType),
      [DEQUANTIZE_OFFSETS] = (p->groups + 1) * index,
      [DEQUANTIZE_SCALE_OFFSETS] = p->givesScaleOffsets ? p->groups * index : 0,
      [DEQUANTIZE_FIRST_DIMS] = p->ragged ? p->groups * index : 0,
      [DEQUANTIZE_LAST_DIMS] = p->ragged ? p->groups * index : 0,
      [DEQUANTIZE_OUTER] = numOuters(p) * 4,
      [DEQUANTIZE_OUT] = (p->ragged ? p->rows : p->rows * p->outStride) * out,
      [DEQUANTIZE_STATUS] = 4,
  };
  DequantizeMemory memory;
  for (int i = 0; i < DEQUANTIZE_ARRAYS; ++i)
    memory.arrays[i] = guardedNew(
        sizes[i],
        i == DEQUANTIZE_DATA || i == DEQUANTIZE_SCALES || i == DEQUANTIZE_OUT
            ? p->shift
            : 0,
        DEQUANTIZE_POISON);
  fill(&memory.arrays[DEQUANTIZE_DATA], false);
  fill(&memory.arrays[DEQUANTIZE_SCALES], p->traits.scaleType == GQ_F32);
  fill(&memory.arrays[DEQUANTIZE_OUTER], true);
  storeIndices(p, memory.arrays[DEQUANTIZE_OFFSETS].bytes, p->offsets,
               p->groups + 1);
  if (p->givesScaleOffsets)
    storeIndices(p, memory.arrays[DEQUANTIZE_SCALE_OFFSETS].bytes,
                 p->scaleOffsets, p->groups);
  if (p->ragged) {
    storeIndices(p, memory.arrays[DEQUANTIZE_FIRST_DIMS].bytes, p->m,
                 p->groups);
    storeIndices(p, memory.arrays[DEQUANTIZE_LAST_DIMS].bytes, p->k, p->groups);
  }
  memset(memory.arrays[DEQUANTIZE_STATUS].bytes, 0, 4);
  return memory;
}

static bool memoryFree(DequantizeMemory *memory) {
  bool hold = true;
  for (int i = 0; i < DEQUANTIZE_ARRAYS; ++i) {
    hold &= guardsHold(&memory->arrays[i]);
    guardedFree(&memory->arrays[i]);
  }
  return hold;
}

//===----------------------------------------------------------------------===//
// The kernel, and what it must give
//===----------------------------------------------------------------------===//

DequantizeTilesOperands
dequantizeOperands(const DequantizeProblem *p,
                   const uint64_t at[DEQUANTIZE_ARRAYS]) {
  bool flatData = p->ragged || isTransposed(p);
  return (DequantizeTilesOperands){
      .data = at[DEQUANTIZE_DATA],
      .dataStride = flatData ? 0 : p->dataStride,
      .dataSize = p->dataSize,
      .scales = at[DEQUANTIZE_SCALES],
      .scalesStride =
          hasFlatScales(p)
              ? 0
              : p->scaleColumns * gqElementTypeSize(p->traits.scaleType),
      .scalesSize = p->scalesSize,
      .rows = p->rows,
      .columns = p->columns,
      .offsets = at[DEQUANTIZE_OFFSETS],
      .numOffsets = p->groups + 1,
      .scaleOffsets = at[DEQUANTIZE_SCALE_OFFSETS],
      .firstDims = at[DEQUANTIZE_FIRST_DIMS],
      .lastDims = at[DEQUANTIZE_LAST_DIMS],
      .groups = p->groups,
      .outer = at[DEQUANTIZE_OUTER],
      .out = at[DEQUANTIZE_OUT],
      .outStride = p->outStride * gqElementTypeSize(p->v.outType),
      .status = at[DEQUANTIZE_STATUS],
  };
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
static bool runReference(const DequantizeProblem *p,
                         const DequantizeMemory *memory, const Guarded *out) {
  const Guarded *a = memory->arrays;
  gqElementType index = p->v.offsetBits == 64 ? GQ_I64 : GQ_I32;
  gqElementType scaleType = p->traits.scaleType;
  int64_t dataColumns = p->columns * p->traits.dataBits / 8;
  bool none = p->v.format == GQ_FORMAT_NONE;
  gqOuter outerOf = p->v.outerKind == GQ_OUTER_PER_ROW      ? GQ_OUTER_OF_ROW
                    : p->v.outerKind == GQ_OUTER_PER_COLUMN ? GQ_OUTER_OF_COLUMN
                                                            : GQ_OUTER_OF_GROUP;
  gqBuffer outer = outerOf == GQ_OUTER_OF_COLUMN
                       ? matrix(&a[DEQUANTIZE_OUTER], GQ_F32, p->groups,
                                p->columns, p->columns)
                       : vector(&a[DEQUANTIZE_OUTER], GQ_F32, numOuters(p));
  if (p->v.outerKind == GQ_OUTER_PER_ROW && p->rows == 0)
    outer = (gqBuffer){.data = a[DEQUANTIZE_OUTER].bytes,
                       .type = GQ_F32,
                       .rank = 1,
                       .strides = {1}};
  if (p->v.outerKind == GQ_OUTER_ONE)
    outer = (gqBuffer){.data = a[DEQUANTIZE_OUTER].bytes, .type = GQ_F32};
  gqGroupedDequantizeOperands operands = {
      .data = p->ragged || isTransposed(p)
                  ? vector(&a[DEQUANTIZE_DATA], p->v.dataType, p->dataSize)
                  : matrix(&a[DEQUANTIZE_DATA], p->v.dataType, p->rows,
                           dataColumns, p->dataStride),
      .offsets = vector(&a[DEQUANTIZE_OFFSETS], index, p->groups + 1),
      .scaleOffsets = vector(&a[DEQUANTIZE_SCALE_OFFSETS], index,
                             p->givesScaleOffsets ? p->groups : 0),
      .firstDims =
          vector(&a[DEQUANTIZE_FIRST_DIMS], index, p->ragged ? p->groups : 0),
      .lastDims =
          vector(&a[DEQUANTIZE_LAST_DIMS], index, p->ragged ? p->groups : 0),
      .out = p->ragged
                 ? vector(out, p->v.outType, p->rows)
                 : matrix(out, p->v.outType, p->rows, p->columns, p->outStride),
  };
  if (p->ragged && p->rows == 0)
    operands.out = (gqBuffer){
        .data = out->bytes, .type = p->v.outType, .rank = 1, .strides = {1}};
  if (!none)
    operands.scales = hasFlatScales(p)
                          ? (gqBuffer){.data = a[DEQUANTIZE_SCALES].bytes,
                                       .type = scaleType,
                                       .rank = 1,
                                       .sizes = {p->scalesSize},
                                       .strides = {1}}
                          : matrix(&a[DEQUANTIZE_SCALES], scaleType,
                                   p->scalesSize / p->scaleColumns,
                                   p->scaleColumns, p->scaleColumns);
  if (isTransposed(p) || p->ragged)
    operands.data = (gqBuffer){.data = a[DEQUANTIZE_DATA].bytes,
                               .type = p->v.dataType,
                               .rank = 1,
                               .sizes = {p->dataSize},
                               .strides = {1}};
  if (p->v.outerKind != GQ_OUTER_NONE)
    *(none                          ? &operands.scaleInv
      : p->v.recipe == GQ_RECIPE_TE ? &operands.outerAmax
                                    : &operands.globalScale) = outer;
  gqCpuGroupedDequantize(&operands, p->v.format, p->v.recipe, p->v.layout,
                         p->columnwise, outerOf, p->v.scaleMax);
  if (gqCpuStatus() == GQ_OK)
    return true;
  printf("reference: %s\n", gqGetLastErrorMessage());
  return false;
}

static float floatOf(gqElementType type, uint32_t bits) {
  return type == GQ_F32    ? gq_dev_f32_from_bits(bits)
         : type == GQ_BF16 ? gq_dev_f32_from_bf16((uint16_t)bits)
                           : gq_dev_f32_from_f16((uint16_t)bits);
}

static uint32_t bitsAt(gqElementType type, const uint8_t *p) {
  uint32_t bits = 0;
  memcpy(&bits, p, (size_t)gqElementTypeSize(type));
  return bits;
}

static gqElementType epilogueFrom, epilogueTo;

/// 1 - x
uint32_t dequantizeEpilogue(uint32_t bits, uint32_t second) {
  (void)second;
  float x = 1.0f - floatOf(epilogueFrom, bits);
  return epilogueTo == GQ_F32    ? gq_dev_f32_bits(x)
         : epilogueTo == GQ_BF16 ? gq_dev_bf16_from_f32(x)
                                 : gq_dev_f16_from_f32(x);
}

/// The same with the problem's epilogue, on the rows of groups.
static bool runReferenceWithEpilogue(const DequantizeProblem *p,
                                     const DequantizeMemory *memory,
                                     const Guarded *out) {
  DequantizeProblem without = *p;
  without.v.outType = p->v.valueType;
  int64_t from = gqElementTypeSize(p->v.valueType);
  int64_t to = gqElementTypeSize(p->v.outType);
  Guarded values =
      guardedNew(out->size / to * from, p->shift, DEQUANTIZE_POISON);
  bool valid = runReference(&without, memory, &values);
  for (int64_t row = p->offsets[0]; row < p->offsets[p->groups]; ++row)
    for (int64_t k = 0; valid && k < p->columns; ++k) {
      int64_t i = row * p->outStride + k;
      uint32_t bits = dequantizeEpilogue(
          bitsAt(p->v.valueType, values.bytes + i * from), 0);
      memcpy(out->bytes + i * to, &bits, (size_t)to);
    }
  guardedFree(&values);
  return valid;
}

static bool equal(const DequantizeProblem *p, const Guarded *a,
                  const Guarded *b, bool sameNan) {
  int64_t size = gqElementTypeSize(p->v.outType);
  for (int64_t i = 0; i < a->size; i += size)
    if (memcmp(a->bytes + i, b->bytes + i, (size_t)size) &&
        (sameNan || !(isNanAt(p->v.outType, a->bytes + i) &&
                      isNanAt(p->v.outType, b->bytes + i)))) {
      printf("element %lld differs\n", (long long)(i / size));
      return false;
    }
  return true;
}

static void describe(const DequantizeProblem *p) {
  printf("FAIL: %s%s data %s out %s recipe %d layout %d outer %d scale_max %d"
         "%s%s%s, %lld groups, %lld x %lld, shift %lld\n",
         p->traits.name, p->columnwise ? " columnwise" : "",
         gqElementTypeMnemonic(p->v.dataType),
         gqElementTypeMnemonic(p->v.outType), p->v.recipe, p->v.layout,
         p->v.outerKind, (int)p->v.scaleMax, p->ragged ? " ragged" : "",
         p->givesScaleOffsets ? " scale offsets" : "",
         p->v.hasEpilogue ? " epilogue" : "", (long long)p->groups,
         (long long)p->rows, (long long)p->columns, (long long)p->shift);
}

static bool testRandom(DequantizeRun *run, DequantizeVariant v, bool sameNan) {
  DequantizeProblem p = randomProblem(v);
  DequantizeMemory memory = memoryNew(&p);
  Guarded *out = &memory.arrays[DEQUANTIZE_OUT];
  Guarded expected = guardedNew(out->size, p.shift, DEQUANTIZE_POISON);
  epilogueFrom = v.valueType;
  epilogueTo = v.outType;
  bool valid = v.hasEpilogue ? runReferenceWithEpilogue(&p, &memory, &expected)
                             : runReference(&p, &memory, &expected);
  if (valid) {
    valid = run(&p, &memory);
    uint32_t status;
    memcpy(&status, memory.arrays[DEQUANTIZE_STATUS].bytes, 4);
    valid = valid && status == 0 && equal(&p, out, &expected, sameNan);
  }
  guardedFree(&expected);
  valid &= memoryFree(&memory);
  if (!valid)
    describe(&p);
  return valid;
}

/// One of the list's cases; what has no scale offsets or dimensions ignores
/// changes of them.
static bool testHostile(DequantizeRun *run, DequantizeVariant v,
                        const HostileCase *c) {
  static const int64_t ragged[HOSTILE_GROUPS] = {640, 128, 256, 384};
  DequantizeProblem p = problemOf(v);
  p.groups = HOSTILE_GROUPS;
  p.columns = p.ragged ? 1 : 256;
  for (int e = 0; e < HOSTILE_GROUPS; ++e) {
    p.m[e] = hostileRows[e];
    p.k[e] = p.ragged ? ragged[e] : p.columns;
  }
  layOut(&p, 0, 5);
  for (const HostileChange *i = c->changes; i->array; ++i) {
    int64_t value = hostileValue(i->value, v.offsetBits);
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
    else if (hasFlatScales(&p) && v.format != GQ_FORMAT_NONE)
      p.scalesSize = p.scalesSize * (i->entry + 1) / 5;
  }
  DequantizeMemory memory = memoryNew(&p);
  bool valid = run(&p, &memory);
  if (!p.ragged && p.offsets[HOSTILE_GROUPS] == HOSTILE_GROUPED_ROWS) {
    int64_t pitch = p.outStride * gqElementTypeSize(v.outType);
    const uint8_t *rest =
        memory.arrays[DEQUANTIZE_OUT].bytes + HOSTILE_GROUPED_ROWS * pitch;
    for (int64_t i = 0; i < 5 * pitch; ++i)
      valid &= rest[i] == DEQUANTIZE_POISON;
  }
  valid &= memoryFree(&memory);
  if (!valid) {
    printf("%s\n", c->name);
    describe(&p);
  }
  return valid;
}

int64_t dequantizeTest(DequantizeRun *run, bool ofVariants, bool sameNan,
                       int64_t count, int64_t *passed) {
  int64_t failed = 0, number = 0;
  const int64_t rounds = 4;
  for (; number < count + rounds * NUM_HOSTILE_CASES && failed < 10; ++number) {
    DequantizeVariant v =
        ofVariants ? dequantizeVariants[number % numDequantizeVariants]
                   : anyVariant();
    bool valid =
        number < count
            ? testRandom(run, v, sameNan)
            : testHostile(run, v,
                          &hostileCases[(number - count) % NUM_HOSTILE_CASES]);
    failed += !valid;
  }
  *passed = number - failed;
  return failed;
}
