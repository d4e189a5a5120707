//===- amax.c - largest magnitudes on a GPU -------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kernel of gq.grouped_amax against magnitudes that are compared one by
// one. Outputs lie between guards and are poisoned: what the op does not own
// must keep the poison.
//
//===----------------------------------------------------------------------===//

#include "AmaxKernels.h"
#include "Host.h"
#include "Hostile.h"
#include "Kernels.h"

#include "gq/Runtime/Cpu.h"
#include "runtime_kernels/codecs/Float.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  GUARD = 4096,
  POISON = 0xa5,
  MAX_GROUPS = 512,
};

typedef struct Variant {
  const char *name;
  gqElementType type;
  /// Of the input, and whether a producer makes the elements.
  bool aligned, produced;
  int parts;
  gqRows rows;
  int offsetBits, indexBits;
  /// Of a transform of columns; -1 if there is none.
  int signs;
} Variant;

#define VARIANT(NAME, TYPE, LOAD, PARTS, ROWS, BITS, INDEX_BITS, SIGNS)        \
  {#NAME,                                                                      \
   GQ_##TYPE,                                                                  \
   sizeof(#LOAD) < 8,                                                          \
   sizeof(#LOAD) == sizeof("made16"),                                          \
   PARTS,                                                                      \
   GQ_ROWS_##ROWS,                                                             \
   BITS,                                                                       \
   INDEX_BITS,                                                                 \
   SIGNS},
static const Variant variants[] = {AMAX_VARIANTS(VARIANT)};
#undef VARIANT

static Handle module;
static int device, passed, failed;
static bool emulated;
/// Every kernel with one problem: for racecheck.
static bool quick;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// A result: what it must become, in the middle of poison.
typedef struct Result {
  int64_t bytes;
  uint8_t *expected;
  DevicePtr device;
  /// Of numbers of this type, unless 0, where NaN of the emulation may be
  /// another than a GPU's.
  gqElementType anyNan;
} Result;

typedef struct Problem {
  const char *name;
  const Variant *variant;
  int64_t rows, columns, groups, sourceRows, stride;
  /// Groups of rows; if ragged, also their extents, of elements.
  int64_t offsets[MAX_GROUPS + 1], firstDims[MAX_GROUPS], lastDims[MAX_GROUPS];
  int64_t *rowIndices;
  uint8_t *input;
  uint32_t status;
  /// How often the kernels run.
  int runs;
  Result amax, columnwiseAmax, rowAmax, columnAmax;
} Problem;

static bool has(const Variant *v, int part) { return v->parts & part; }

static Result resultNew(int64_t floats) {
  Result r = {.bytes = floats * 4};
  r.expected = allocateHost(r.bytes + 2 * GUARD);
  memset(r.expected, POISON, (size_t)(r.bytes + 2 * GUARD));
  CU(MemAlloc(&r.device, (size_t)(r.bytes + 2 * GUARD)));
  return r;
}

static float *expectedOf(Result *r) { return (float *)(r->expected + GUARD); }

static float element(const Problem *p, int64_t i) {
  switch (p->variant->type) {
  case GQ_F32:
    return ((const float *)p->input)[i];
  case GQ_BF16:
    return gq_dev_f32_from_bf16(((const uint16_t *)p->input)[i]);
  default:
    return gq_dev_f32_from_f16(((const uint16_t *)p->input)[i]);
  }
}

/// Element (row, column) after the gather.
static float elementAt(const Problem *p, int64_t row, int64_t column) {
  if (p->variant->indexBits) {
    row = p->rowIndices[row];
    if (row < 0 || row >= p->sourceRows)
      return 0.0f;
  }
  return element(p, row * p->stride + column);
}

static void raiseTo(float *amax, float x) {
  if (!isnan(x))
    *amax = fmaxf(*amax, fabsf(x));
}

/// The largest magnitudes of rows of a group, or of none (e < 0).
static void expectRows(Problem *p, int64_t e, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    float amax = 0.0f;
    for (int64_t c = 0; c < p->columns; ++c) {
      float x = elementAt(p, row, c);
      raiseTo(&amax, x);
      if (e >= 0 && has(p->variant, AMAX_C) && p->variant->signs < 0)
        raiseTo(&expectedOf(&p->columnAmax)[e * p->columns + c], x);
    }
    if (has(p->variant, AMAX_R))
      expectedOf(&p->rowAmax)[row] = amax;
    if (e >= 0 && has(p->variant, AMAX_G))
      raiseTo(&expectedOf(&p->amax)[e], amax);
  }
}

/// What the transform of columns makes of `rows` rows of group e, whose element
/// (row, column) `at` gives: the sum of 16 of them with signs, by the
/// definition of the matrix but in the order of additions that is asked for.
static void expectTransformed(Problem *p, int64_t e, int64_t begin,
                              int64_t rows, int64_t columns) {
  bool ragged = has(p->variant, GQ_DEV_RAGGED);
  for (int64_t first = 0; first < rows; first += 16)
    for (int64_t c = 0; c < columns; ++c) {
      float x[16], y[16];
      for (int i = 0; i < 16; ++i) {
        float element_ = first + i >= rows ? 0.0f
                         : ragged
                             ? element(p, begin + (first + i) * columns + c)
                             : elementAt(p, begin + first + i, c);
        x[i] = p->variant->signs >> i & 1 ? -element_ : element_;
      }
      for (int half = 1; half < 16; half *= 2) {
        for (int i = 0; i < 16; ++i)
          y[i] = i & half ? x[i - half] - x[i] : x[i] + x[i + half];
        memcpy(x, y, sizeof(x));
      }
      float amax = 0.0f;
      for (int i = 0; i < 16; ++i)
        raiseTo(&amax,
                gq_dev_f32_from_bf16(gq_dev_bf16_from_f32(x[i] * 0.25f)));
      if (has(p->variant, AMAX_C))
        raiseTo(&expectedOf(&p->columnAmax)[e * p->columns + c], amax);
      if (has(p->variant, AMAX_T))
        raiseTo(&expectedOf(&p->columnwiseAmax)[e], amax);
    }
}

/// Whether group e is used, as Faults.h says.
static bool isUsed(const Problem *p, int64_t e) {
  int64_t begin = p->offsets[e], end = p->offsets[e + 1];
  int64_t m = p->firstDims[e], k = p->lastDims[e];
  bool fits = begin >= 0 && begin <= end && end <= p->rows;
  if (!has(p->variant, GQ_DEV_RAGGED))
    return fits;
  return fits && m >= 0 && k >= 0 && m < 1 << 20 && k < 1 << 20 &&
         k % 16 == 0 && m * k <= end - begin && (m * k == 0 || begin % 16 == 0);
}

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

static void expect(Problem *p) {
  const Variant *v = p->variant;
  for (int64_t e = 0; e < p->groups; ++e) {
    if (has(v, AMAX_G))
      expectedOf(&p->amax)[e] = 0.0f;
    if (has(v, AMAX_T))
      expectedOf(&p->columnwiseAmax)[e] = 0.0f;
    for (int64_t c = 0; has(v, AMAX_C) && c < p->columns; ++c)
      expectedOf(&p->columnAmax)[e * p->columns + c] = 0.0f;
    if (!isUsed(p, e)) {
      p->status |= GQ_DEV_STATUS_OFFSETS;
      continue;
    }
    if (v->signs >= 0 && has(v, GQ_DEV_RAGGED))
      expectTransformed(p, e, p->offsets[e], p->firstDims[e], p->lastDims[e]);
    else if (v->signs >= 0)
      expectTransformed(p, e, p->offsets[e], p->offsets[e + 1] - p->offsets[e],
                        p->columns);
    if (!has(v, GQ_DEV_RAGGED))
      expectRows(p, e, p->offsets[e], p->offsets[e + 1]);
    else if (has(v, AMAX_G))
      for (int64_t i = 0; i < p->firstDims[e] * p->lastDims[e]; ++i)
        raiseTo(&expectedOf(&p->amax)[e], element(p, p->offsets[e] + i));
  }
  if (v->rows == GQ_ROWS_ALL && has(v, AMAX_R)) {
    int64_t before = clamp(p->offsets[0], 0, p->rows);
    expectRows(p, -1, 0, before);
    expectRows(p, -1, clamp(p->offsets[p->groups], before, p->rows), p->rows);
  }
  for (int64_t i = 0; v->indexBits && i < p->rows; ++i)
    if (p->rowIndices[i] < 0 || p->rowIndices[i] >= p->sourceRows)
      p->status |= GQ_DEV_STATUS_ROW_INDICES;
}

/// Half of the elements are near 1, the others any bits at all.
static void fillInput(Problem *p, int64_t elements) {
  int64_t bytes = elements * gqElementTypeSize(p->variant->type);
  p->input = allocateHost(bytes + 64);
  for (int64_t i = 0; i < bytes / 4; ++i) {
    uint32_t bits = randomBits();
    bool near = randomBits() & 1;
    uint32_t one = p->variant->type == GQ_F32    ? 0x3f800000
                   : p->variant->type == GQ_BF16 ? 0x3f803f80
                                                 : 0x3c003c00;
    ((uint32_t *)p->input)[i] = near ? one ^ (bits & 0x807f807f) : bits;
  }
}

static DevicePtr toDevice(const void *host, int64_t bytes, int64_t shift) {
  DevicePtr p;
  CU(MemAlloc(&p, (size_t)(bytes + shift + 64)));
  if (bytes)
    CU(MemcpyHtoD(p + (uint64_t)shift, host, (size_t)bytes));
  return p;
}

static DevicePtr integersToDevice(const int64_t *integers, int64_t n,
                                  int bits) {
  uint8_t *packed = allocateHost(n * 8);
  for (int64_t i = 0; i < n; ++i)
    if (bits == 64)
      ((int64_t *)packed)[i] = integers[i];
    else
      ((int32_t *)packed)[i] = (int32_t)integers[i];
  DevicePtr p = toDevice(packed, n * bits / 8, 0);
  free(packed);
  return p;
}

static bool matches(Result *r, const Problem *p, const char *what) {
  int64_t all = r->bytes + 2 * GUARD;
  uint8_t *found = allocateHost(all);
  CU(MemcpyDtoH(found, r->device, (size_t)all));
  if (r->anyNan)
    takeNan(r->anyNan, found + GUARD, r->expected + GUARD, r->bytes);
  bool same =
      bytesMatch(p->name, what, found, r->expected, all, GUARD, NULL, 0);
  free(found);
  return same;
}

/// Runs a problem on several grids.
static void run(Problem *p) {
  const Variant *v = p->variant;
  bool ragged = has(v, GQ_DEV_RAGGED);
  int64_t shift = v->aligned ? 0 : gqElementTypeSize(v->type);
  int64_t elements =
      ragged ? p->rows : (v->indexBits ? p->sourceRows : p->rows) * p->stride;
  p->amax = resultNew(p->groups);
  p->columnwiseAmax = resultNew(p->groups);
  p->rowAmax = resultNew(ragged ? 0 : p->rows);
  p->columnAmax = resultNew(ragged ? 0 : p->groups * p->columns);
  expect(p);
  DevicePtr memory[] = {
      toDevice(p->input, elements * gqElementTypeSize(v->type), shift),
      integersToDevice(p->offsets, p->groups + 1, v->offsetBits),
      integersToDevice(p->firstDims, p->groups, v->offsetBits),
      integersToDevice(p->lastDims, p->groups, v->offsetBits),
      integersToDevice(p->rowIndices, v->indexBits ? p->rows : 0,
                       v->indexBits ? v->indexBits : 32),
      toDevice(&(uint32_t){0}, 4, 0)};
  ClearAmaxOperands clear = {
      .rows = p->rows,
      .columns = p->columns,
      .offsets = memory[1],
      .firstDims = memory[2],
      .lastDims = memory[3],
      .groups = p->groups,
      .amax = p->amax.device + GUARD,
      .columnwiseAmax = p->columnwiseAmax.device + GUARD,
      .rowAmax = p->rowAmax.device + GUARD,
      .columnAmax = p->columnAmax.device + GUARD,
  };
  GroupedAmaxOperands operands = {
      .input = memory[0] + (uint64_t)shift,
      .inputStride = p->stride,
      .rows = p->rows,
      .columns = p->columns,
      .offsets = memory[1],
      .firstDims = memory[2],
      .lastDims = memory[3],
      .groups = p->groups,
      .amax = clear.amax,
      .columnwiseAmax = clear.columnwiseAmax,
      .rowAmax = clear.rowAmax,
      .columnAmax = clear.columnAmax,
      .rowIndices = memory[4],
      .sourceRows = p->sourceRows,
      .status = memory[5],
  };
  char name[64];
  snprintf(name, sizeof(name), "clear_%s", v->name);
  Kernel clearKernel = kernelGet(module, name, device);
  snprintf(name, sizeof(name), "amax_%s", v->name);
  Kernel kernel = kernelGet(module, name, device);
  gq_dev_clear_amax_extents clearExtents = {p->rows, p->columns, p->groups};
  gq_dev_grouped_amax_extents extents = {
      p->rows, p->columns, p->groups,
      gq_dev_grouped_amax_bounds(v->parts, v->type, transformOf(v->signs),
                                 !v->indexBits && !v->produced)
          .minCtas};
  const int64_t grids[] = {0, 1, 7};
  bool right = true;
  for (int i = emulated; i < p->runs; ++i) {
    int64_t grid = grids[i % 3];
    Result *results[] = {&p->amax, &p->rowAmax, &p->columnAmax,
                         &p->columnwiseAmax};
    for (int r = 0; r < 4; ++r)
      CU(MemsetD8(results[r]->device, POISON,
                  (size_t)(results[r]->bytes + 2 * GUARD)));
    CU(MemsetD8(memory[5], 0, 4));
    launchKernel(
        clearKernel,
        grid ? grid
             : gq_dev_clear_amax_plan(&clearExtents, kernel.multiprocessors)
                   .grid,
        GQ_DEV_CLEAR_AMAX_THREADS, &clear, NULL);
    launchKernel(
        kernel,
        grid ? grid
             : gq_dev_grouped_amax_plan(&extents, kernel.multiprocessors).grid,
        GQ_DEV_GROUPED_AMAX_THREADS, &operands, NULL);
    CU(CtxSynchronize());
    uint32_t status;
    CU(MemcpyDtoH(&status, memory[5], 4));
    if (status != p->status)
      printf("%s: status %u, expected %u\n", p->name, status, p->status);
    right &= status == p->status;
    right &= matches(&p->amax, p, "amax");
    right &= matches(&p->columnwiseAmax, p, "columnwise amax");
    right &= matches(&p->rowAmax, p, "rows");
    right &= matches(&p->columnAmax, p, "columns");
  }
  right ? ++passed : ++failed;
  if (!right)
    printf("FAILED %s of %s\n", p->name, v->name);
  for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); ++i)
    CU(MemFree(memory[i]));
  CU(MemFree(p->amax.device));
  CU(MemFree(p->columnwiseAmax.device));
  CU(MemFree(p->rowAmax.device));
  CU(MemFree(p->columnAmax.device));
  free(p->amax.expected);
  free(p->columnwiseAmax.expected);
  free(p->rowAmax.expected);
  free(p->columnAmax.expected);
  free(p->rowIndices);
  free(p->input);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static Problem *problemOf(const char *name, const Variant *v) {
  static Problem p;
  memset(&p, 0, sizeof(p));
  p.name = name;
  p.variant = v;
  p.runs = 3;
  return &p;
}

/// Groups of rows of these sizes, `outside` rows before and after; row indices
/// of which every `wrong`th is none, if that is not 0.
static void testRows(const char *name, const Variant *v, int64_t columns,
                     int groups, const int64_t *sizes, int64_t outside,
                     int wrong) {
  Problem *p = problemOf(name, v);
  p->columns = columns;
  p->stride = columns + (v->aligned ? 16 : 3);
  p->groups = groups;
  p->offsets[0] = outside;
  for (int e = 0; e < groups; ++e)
    p->offsets[e + 1] = p->offsets[e] + sizes[e];
  p->rows = p->offsets[groups] + outside;
  p->sourceRows = v->indexBits ? p->rows + 5 : 0;
  p->rowIndices = allocateHost(p->rows * 8 + 8);
  for (int64_t i = 0; v->indexBits && i < p->rows; ++i)
    p->rowIndices[i] = wrong && i % wrong == 1
                           ? (i % 2 ? -1 : p->sourceRows)
                           : (int64_t)(randomBits() % (uint32_t)p->sourceRows);
  fillInput(p, (v->indexBits ? p->sourceRows : p->rows) * p->stride);
  run(p);
}

/// The same bits each time: warps raise what is in memory in any order. Uneven
/// groups of up to 40 tiles of rows.
static void testRepeated(const Variant *v, int runs) {
  Problem *p = problemOf("again and again", v);
  p->runs = runs;
  p->columns = p->stride = 272;
  p->groups = 24;
  for (int e = 0; e < p->groups; ++e)
    p->offsets[e + 1] = p->offsets[e] + (e % 8 ? 37 * e : 3 + 200 * e);
  p->rows = p->offsets[p->groups];
  fillInput(p, p->rows * p->stride);
  run(p);
}

static void testRagged(const Variant *v) {
  static const int64_t dims[][2] = {{1, 128}, {33, 16},   {0, 144},
                                    {5, 0},   {127, 272}, {130, 48}};
  Problem *p = problemOf("ragged", v);
  p->columns = 1;
  p->groups = 6;
  for (int e = 0; e < 6; ++e) {
    p->firstDims[e] = dims[e][0];
    p->lastDims[e] = dims[e][1];
    p->offsets[e + 1] = p->offsets[e] + dims[e][0] * dims[e][1] + 16 * e;
  }
  p->rows = p->offsets[6];
  fillInput(p, p->rows);
  run(p);
}

static void testHostile(const Variant *v, const HostileCase *c) {
  bool ragged = has(v, GQ_DEV_RAGGED);
  Problem *p = problemOf(c->name, v);
  int64_t unit = ragged ? 48 : 1;
  p->columns = ragged ? 1 : 160;
  p->stride = ragged ? 0 : 160;
  p->groups = HOSTILE_GROUPS;
  p->rows = HOSTILE_ROWS * unit;
  for (int e = 0; e <= HOSTILE_GROUPS; ++e)
    p->offsets[e] = hostileOffsets[e] * unit;
  for (int e = 0; e < HOSTILE_GROUPS; ++e) {
    p->firstDims[e] = hostileRows[e];
    p->lastDims[e] = unit;
  }
  for (const HostileChange *change = c->changes;
       change->array != HOSTILE_NOTHING; ++change) {
    int64_t value = hostileValue(change->value, v->offsetBits);
    bool huge = value > 1 << 20 || value < -(1 << 20);
    switch (change->array) {
    case HOSTILE_OFFSETS:
      p->offsets[change->entry] = huge ? value : value * unit;
      break;
    case HOSTILE_FIRST_DIMS:
      p->firstDims[change->entry] = value;
      break;
    case HOSTILE_LAST_DIMS:
      p->lastDims[change->entry] = value;
      break;
    default: // The op has no such operand.
      return;
    }
  }
  p->sourceRows = v->indexBits ? p->rows : 0;
  p->rowIndices = allocateHost(p->rows * 8);
  for (int64_t i = 0; i < p->rows; ++i)
    p->rowIndices[i] = i;
  fillInput(p, ragged ? p->rows : p->rows * p->stride);
  run(p);
}

//===----------------------------------------------------------------------===//
// Rows whose amaxes the kernel computes, against the CPU
//===----------------------------------------------------------------------===//

typedef struct WholeVariant {
  const char *name;
  gqElementType type;
  bool aligned;
  gqScaleLayout layout;
  bool packed;
  gqRows rows;
  int offsetBits, indexBits;
  /// i8, or that of numbers, without scales.
  gqElementType data;
} WholeVariant;

#define WHOLE(NAME, TYPE, LOAD, LAYOUT, PACKED, ROWS, BITS, INDEX_BITS, DATA)  \
  {#NAME,                                                                      \
   GQ_##TYPE,                                                                  \
   sizeof(#LOAD) < 8,                                                          \
   GQ_SCALE_LAYOUT_##LAYOUT,                                                   \
   PACKED,                                                                     \
   GQ_ROWS_##ROWS,                                                             \
   BITS,                                                                       \
   INDEX_BITS,                                                                 \
   GQ_##DATA},
static const WholeVariant wholeVariants[] = {WHOLE_ROWS_VARIANTS(WHOLE)};
#undef WHOLE

static gqBuffer bufferOf(void *data, gqElementType type, int64_t rank,
                         int64_t rows, int64_t columns, int64_t stride) {
  return (gqBuffer){.data = data,
                    .type = type,
                    .rank = rank,
                    .sizes = {rows, columns},
                    .strides = {rank == 2 ? stride : 1, 1}};
}

static void testWholeRows(const WholeVariant *v, int64_t columns, int groups,
                          const int64_t *sizes, int64_t outside) {
  const Variant input = {.type = v->type};
  Problem p = {.name = "whole rows", .variant = &input};
  int64_t offsets[8] = {outside}, scaleOffsets[8] = {0}, scaleRows = 0;
  for (int e = 0; e < groups; ++e) {
    offsets[e + 1] = offsets[e] + sizes[e];
    scaleOffsets[e] = scaleRows + (v->packed ? 0 : 128);
    scaleRows = scaleOffsets[e] + up(sizes[e], 128);
  }
  int64_t rows = offsets[groups] + outside, stride = columns + 16;
  int64_t shift = v->aligned ? 0 : gqElementTypeSize(v->type);
  bool tiled = v->layout == GQ_SCALE_LAYOUT_TILE128X4;
  bool numbers = v->data != GQ_I8;
  int64_t width = numbers ? 0 : tiled ? up(columns / 16, 4) : columns / 16;
  scaleRows = tiled ? scaleRows + 128 : rows;
  int64_t dataColumns = numbers ? columns : columns / 2;
  int64_t dataStride = dataColumns * gqElementTypeSize(v->data);
  int64_t sources = rows + 3;
  fillInput(&p, sources * stride);
  // What the CPU reads from the last source row, which is zeros, the GPU is
  // given invalid indices for.
  int32_t *indices = allocateHost(rows * 4 + 4);
  int32_t *invalid = allocateHost(rows * 4 + 4);
  int64_t pitch = stride * gqElementTypeSize(v->type);
  memset(p.input + (sources - 1) * pitch, 0, (size_t)pitch);
  for (int64_t i = 0; i < rows; ++i) {
    bool isLast = i % 5 == 2;
    indices[i] = (int32_t)(isLast ? sources - 1
                                  : randomBits() % (uint32_t)(sources - 1));
    invalid[i] = !isLast ? indices[i] : i % 2 ? -1 : (int32_t)sources;
  }
  uint32_t faults = v->indexBits && rows > 2 ? GQ_DEV_STATUS_ROW_INDICES : 0;

  // What the CPU makes of it.
  Result data = resultNew(up(rows * dataStride, 4) / 4);
  data.anyNan = emulated && numbers ? v->data : 0;
  Result scales = resultNew(up(scaleRows * width, 4) / 4);
  Result amax = resultNew(rows);
  gqElementType indexType = v->offsetBits == 64 ? GQ_I64 : GQ_I32;
  uint8_t packed[2][64];
  for (int e = 0; e <= groups; ++e)
    for (int k = 0; k < 2; ++k)
      if (v->offsetBits == 64)
        ((int64_t *)packed[k])[e] = (k ? scaleOffsets : offsets)[e];
      else
        ((int32_t *)packed[k])[e] = (int32_t)(k ? scaleOffsets : offsets)[e];
  bool given = tiled && !v->packed;
  const gqGroupedBlockQuantizeOperands operands = {
      .input = bufferOf(p.input, v->type, 2, v->indexBits ? sources : rows,
                        columns, stride),
      .rowIndices = v->indexBits ? bufferOf(indices, GQ_I32, 1, rows, 0, 1)
                                 : (gqBuffer){0},
      .offsets = bufferOf(packed[0], indexType, 1, groups + 1, 0, 1),
      .scaleOffsets = given ? bufferOf(packed[1], indexType, 1, groups, 0, 1)
                            : (gqBuffer){0},
      .data = bufferOf(data.expected + GUARD, v->data, 2, rows, dataColumns,
                       dataColumns),
      .scales = numbers ? (gqBuffer){0}
                        : bufferOf(scales.expected + GUARD, GQ_F8E4M3FN, 2,
                                   scaleRows, width, width),
      .rowAmax = bufferOf(amax.expected + GUARD, GQ_F32, 1, rows, 0, 1),
  };
  const gqDirectionTraits rowwise = {.outer = GQ_OUTER_OF_ROW};
  gqCpuGroupedBlockQuantize(&operands, GQ_FORMAT_NVFP4, GQ_RECIPE_TE, v->layout,
                            v->rows, gqDirectionPack(&rowwise), 0);
  bool right = gqCpuStatus() == GQ_OK;

  DevicePtr memory[] = {
      toDevice(p.input, sources * stride * gqElementTypeSize(v->type), shift),
      toDevice(packed[0], sizeof(packed[0]), 0),
      toDevice(packed[1], sizeof(packed[1]), 0),
      toDevice(invalid, rows * 4, 0),
      toDevice(&(uint32_t){0}, 4, 0),
      toDevice(&(int32_t){1}, 4, 0)};
  QuantizeWholeRowsOperands o = {
      .input = memory[0] + (uint64_t)shift,
      .inputStride = stride,
      .rows = rows,
      .columns = columns,
      .rowIndices = v->indexBits ? memory[3] : 0,
      .sourceRows = sources,
      .offsets = memory[1],
      .numOffsets = groups + 1,
      .scaleOffsets = given ? memory[2] : 0,
      .groups = groups,
      .data = data.device + GUARD,
      .dataStride = dataStride,
      .scales = scales.device + GUARD,
      .scalesStride = width,
      .scaleRows = scaleRows,
      .status = memory[4],
      .rowAmax = amax.device + GUARD,
  };
  char name[64];
  snprintf(name, sizeof(name), "whole_%s", v->name);
  Kernel kernel = kernelGet(module, name, device);
  gq_dev_bounds bounds = gq_dev_quantize_whole_rows_bounds(
      columns, v->type, v->aligned && v->type != GQ_F32 && !numbers);
  gq_dev_quantize_whole_rows_extents extents = {.rows = rows,
                                                .columns = columns,
                                                .groups = groups,
                                                .ctas = bounds.minCtas};
  CU(FuncSetAttribute(kernel.function, FUNCTION_ATTRIBUTE_DYNAMIC_SHARED,
                      bounds.sharedMemory));
  Result *results[] = {&data, &scales, &amax};
  // On two grids, then with a flag that says not to.
  for (int run_ = emulated; run_ < 3; ++run_) {
    int64_t ctas =
        run_ == 1
            ? 3
            : gq_dev_quantize_whole_rows_plan(&extents, kernel.multiprocessors)
                  .grid;
    for (int r = 0; r < 3; ++r) {
      int64_t all = results[r]->bytes + 2 * GUARD;
      CU(MemsetD8(results[r]->device, POISON, (size_t)all));
      if (run_ == 2)
        memset(results[r]->expected, POISON, (size_t)all);
    }
    o.noopFlag = run_ == 2 ? memory[5] : 0;
    void *parameters[] = {&o};
    CU(LaunchKernel(kernel.function, (unsigned)ctas, 1, 1,
                    (unsigned)bounds.threads, 1, 1,
                    (unsigned)bounds.sharedMemory, NULL, parameters, NULL));
    CU(CtxSynchronize());
    uint32_t status;
    CU(MemcpyDtoH(&status, memory[4], 4));
    right &= status == faults;
    right &= matches(&data, &p, "data");
    right &= matches(&scales, &p, "scales");
    right &= matches(&amax, &p, "row amax");
  }
  right ? ++passed : ++failed;
  if (!right)
    printf("FAILED whole rows of %s, %lld columns\n", v->name,
           (long long)columns);
  for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); ++i)
    CU(MemFree(memory[i]));
  for (int r = 0; r < 3; ++r) {
    CU(MemFree(results[r]->device));
    free(results[r]->expected);
  }
  free(invalid);
  free(indices);
  free(p.input);
}

int runAmaxTests(Handle kernels, int ordinal, int argc, char **argv) {
  module = kernels;
  device = ordinal;
  emulated = argc > 0 && strcmp(argv[0], "emulated") == 0;
  quick = argc > 0 && strcmp(argv[0], "quick") == 0;
  static int64_t many[MAX_GROUPS];
  for (int e = 0; e < MAX_GROUPS; ++e)
    many[e] = randomBits() % 4;
  for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); ++i) {
    const Variant *v = &variants[i];
    for (int c = 0; c < NUM_HOSTILE_CASES; ++c)
      // Shuffles are slow when they are emulated.
      if (v->aligned && (emulated ? v->signs < 0 || v->type != GQ_F32 : !quick))
        testHostile(v, &hostileCases[c]);
    if (has(v, GQ_DEV_RAGGED)) {
      testRagged(v);
      continue;
    }
    testRows("odd sizes", v, 272, 6, (int64_t[]){0, 127, 1, 33, 257, 0}, 5, 7);
    if (quick)
      continue;
    testRows("one row", v, 16, 1, (int64_t[]){1}, 0, 0);
    testRows("whole tiles", v, 256, 2, (int64_t[]){128, 256}, 0, 0);
    testRows("no groups", v, 48, 0, NULL, 70, 0);
    testRows("many groups", v, 64, MAX_GROUPS, many, 3, 0);
    if (!emulated)
      testRows("large", v, 1040, 5, (int64_t[]){1000, 2000, 3, 700, 1500}, 130,
               0);
  }
  for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); ++i)
    if (strcmp(variants[i].name, "bf16") == 0 && !quick)
      testRepeated(&variants[i], emulated ? 4 : 1000);
  for (size_t i = 0; i < sizeof(wholeVariants) / sizeof(*wholeVariants); ++i) {
    const WholeVariant *v = &wholeVariants[i];
    testWholeRows(v, 272, 4, (int64_t[]){128, 0, 33, 100}, 3);
    if (quick)
      continue;
    testWholeRows(v, 16, 1, (int64_t[]){1}, 0);
    testWholeRows(v, 1040, 2, (int64_t[]){5, 200}, 0);
    testWholeRows(v, 4352, 2, (int64_t[]){5, 60}, 0);
    if (!emulated)
      testWholeRows(v, 8192, 5, (int64_t[]){300, 1, 700, 128, 999}, 7);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
