//===- tiles_gpu.c - the kernel of tiles on a GPU -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Kernels.h"
#include "Tiles.h"
#include "Values.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  GUARD = 4096,
  SETS_AT_MOST = 64,
};

static Handle module;
static int device;

/// The kernels of a variant.
typedef struct Kernels {
  Kernel tiles, reduce;
  const TilesVariant *variant;
} Kernels;

static Kernels kernelsOf(const TilesVariant *variant) {
  char tiles[64], reduce[64];
  snprintf(tiles, sizeof(tiles), "tiles_%s", variant->name);
  snprintf(reduce, sizeof(reduce), "reduce_%s", variant->name);
  return (Kernels){kernelGet(module, tiles, device),
                   kernelGet(module, reduce, device), variant};
}

/// The CTAs that a launch has; of a kernel of small groups on others, as many
/// as fill the device.
static unsigned gridOf(const TilesVariant *v, const QuantizeTilesOperands *o,
                       int64_t multiprocessors) {
  gq_dev_quantize_tiles_extents x = {.rows = o->rows,
                                     .columns = o->columns,
                                     .groups = o->groups,
                                     .parts = v->parts & ~TILES_OWN_PARTS,
                                     .format = v->format,
                                     .heldType = v->type};
  if (!(v->parts & TILES_SMALL_GROUPS))
    return (unsigned)gq_dev_quantize_tiles_plan(&x, multiprocessors).grid;
  gq_dev_quantize_small_groups_extents small;
  _Static_assert(sizeof(small) == sizeof(x), "the same operands");
  memcpy(&small, &x, sizeof(x));
  int64_t grid =
      gq_dev_quantize_small_groups_plan(&small, multiprocessors).grid;
  return (unsigned)(grid ? grid : 3 * multiprocessors);
}

static void launchKernels(const Kernels *kernels, const TilesOperands *operands,
                          unsigned ctas, Handle stream) {
  const TilesVariant *v = kernels->variant;
  const QuantizeTilesOperands *o = &operands->tiles;
  gq_dev_reduce_tiles_extents reduceExtents = {.rows = o->rows,
                                               .columns = o->columns,
                                               .groups = o->groups,
                                               .parts = v->parts};
  int64_t multiprocessors = kernels->tiles.multiprocessors;
  launchKernel(kernels->tiles, ctas ? ctas : gridOf(v, o, multiprocessors),
               GQ_DEV_QUANTIZE_TILES_THREADS, o, stream);
  if (v->parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS))
    launchKernel(kernels->reduce,
                 gq_dev_reduce_tiles_plan(&reduceExtents, multiprocessors).grid,
                 GQ_DEV_REDUCE_TILES_THREADS, &operands->reduce, stream);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static bool run(const TilesProblem *p, unsigned grid,
                uint8_t *computed[TILES_NUM_ARRAYS]) {
  uint64_t addresses[TILES_NUM_ARRAYS];
  DevicePtr memory[TILES_NUM_ARRAYS];
  int64_t starts[TILES_NUM_ARRAYS];
  for (int i = 0; i < TILES_NUM_ARRAYS; ++i) {
    const TilesArray *a = &p->arrays[i];
    int64_t shift = tilesShift(p, i);
    int64_t size = a->bytes ? a->size : 0;
    starts[i] = GUARD + shift;
    memory[i] = allocate(starts[i] + size + GUARD);
    CU(MemsetD8(memory[i], TILES_POISON, (size_t)(starts[i] + size + GUARD)));
    addresses[i] = memory[i] + (uint64_t)starts[i];
    if (size == 0)
      continue;
    if (i < TILES_NUM_INPUTS)
      CU(MemcpyHtoD(addresses[i], a->bytes, (size_t)size));
    else
      CU(MemsetD8(addresses[i], a->before, (size_t)size));
  }
  Kernels kernels = kernelsOf(&p->variant);
  TilesOperands o = tilesPlace(p->operands, addresses);
  launchKernels(&kernels, &o, grid, NULL);
  CU(CtxSynchronize());
  bool hold = true;
  for (int i = 0; i < TILES_NUM_ARRAYS; ++i) {
    int64_t size = computed[i] ? p->arrays[i].size : 0;
    uint8_t guards[GUARD + 64];
    CU(MemcpyDtoH(guards, memory[i], (size_t)starts[i]));
    for (int64_t j = 0; j < starts[i]; ++j)
      hold &= guards[j] == TILES_POISON;
    if (computed[i] || !p->arrays[i].bytes) {
      CU(MemcpyDtoH(guards, addresses[i] + (uint64_t)size, GUARD));
      for (int64_t j = 0; j < GUARD; ++j)
        hold &= guards[j] == TILES_POISON;
    }
    if (size)
      CU(MemcpyDtoH(computed[i], addresses[i], (size_t)size));
    CU(MemFree(memory[i]));
  }
  return hold;
}

int runTilesTests(Handle kernels, int ordinal, int argc, char **argv) {
  module = kernels;
  device = ordinal;
  int passed, failed = tilesTest(run, argv[0], argc > 1 && argv[1][0],
                                 argc > 2 ? argv[2] : NULL, &passed);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}

//===----------------------------------------------------------------------===//
// Benchmark
//===----------------------------------------------------------------------===//

typedef struct Launches {
  Kernels kernels;
  unsigned ctas;
  TilesOperands sets[SETS_AT_MOST];
  uint64_t addresses[SETS_AT_MOST][TILES_NUM_ARRAYS];
  int numSets;
} Launches;

static void launchOnce(void *context, int i, Handle stream) {
  Launches *l = context;
  launchKernels(&l->kernels, &l->sets[i % l->numSets], l->ctas, stream);
}

/// Bytes an element that must be read and written.
static double bytesOfElement(const TilesVariant *v) {
  gqFormatTraits traits = gqFormatGetTraits(v->format);
  double direction = (double)traits.dataBits / 8 +
                     (double)gqElementTypeSize(traits.scaleType) /
                         (double)(traits.blockColumns * traits.blockRows);
  double directions =
      !!(v->parts & GQ_DEV_ROWWISE) + !!(v->parts & GQ_DEV_COLUMNWISE);
  return (double)gqElementTypeSize(v->type) + directions * direction;
}

/// Sets the outer amaxes of rows and of columns, if the variant has them, to
/// those of the matrix that is at its address already.
static void setOuterAmaxes(const TilesVariant *v, const Shape *s,
                           const int32_t *offsets, const uint64_t *addresses) {
  bool ofRows = v->outerKind == GQ_OUTER_PER_ROW;
  bool ofColumns = v->columnwiseOuterKind == GQ_OUTER_PER_COLUMN;
  if (!ofRows && !ofColumns)
    return;
  size_t pitch = (size_t)(s->columns * gqElementTypeSize(v->type));
  float *rows = calloc((size_t)s->rows, sizeof(float));
  float *columns = calloc((size_t)(s->groups * s->columns), sizeof(float));
  uint8_t *matrix = malloc((size_t)s->rows * pitch);
  CU(MemcpyDtoH(matrix, addresses[TILES_INPUT], (size_t)s->rows * pitch));
  for (int64_t e = 0; e < s->groups; ++e)
    for (int64_t m = offsets[e]; m < offsets[e + 1]; ++m)
      for (int64_t k = 0; k < s->columns; ++k) {
        const uint8_t *element = matrix + (size_t)m * pitch +
                                 (size_t)(k * gqElementTypeSize(v->type));
        float x = fabsf((float)floatValue(v->type, element));
        float *ofColumn = &columns[e * s->columns + k];
        rows[m] = fmaxf(rows[m], x);
        *ofColumn = fmaxf(*ofColumn, x);
      }
  if (ofRows)
    CU(MemcpyHtoD(addresses[TILES_OUTER], rows, (size_t)s->rows * 4));
  if (ofColumns)
    CU(MemcpyHtoD(addresses[TILES_COLUMNWISE_OUTER], columns,
                  (size_t)(s->groups * s->columns) * 4));
  free(matrix);
  free(columns);
  free(rows);
}

static void benchVariant(Bench *b, const TilesVariant *v, Shape s, int argc,
                         char **argv) {
  static int32_t offsets[4097], scaleOffsets[4096];
  gqFormatTraits traits = gqFormatGetTraits(v->format);
  int64_t scaleRows, block = traits.blockColumns, bits = traits.dataBits;
  int64_t scaleSize = gqElementTypeSize(traits.scaleType);
  randomOffsets(s, offsets, scaleOffsets, &scaleRows);
  int64_t elements = s.rows * s.columns, padded = (s.rows + 32 * s.groups);
  double bytes = (double)elements * bytesOfElement(v);
  Launches l = {.kernels = kernelsOf(v)};
  l.numSets = (int)(3 * (double)b->l2 / bytes) + 2;
  l.numSets = l.numSets < SETS_AT_MOST ? l.numSets : SETS_AT_MOST;
  float *ones = malloc((size_t)s.groups * 4);
  for (int64_t e = 0; e < s.groups; ++e)
    ones[e] = 5.0f;
  for (int i = 0; i < l.numSets; ++i) {
    uint64_t *addresses = l.addresses[i];
    int64_t scales = (scaleRows + 128) * ((s.columns / block + 3) / 4 * 4);
    const QuantizeTilesOperands o = {
        .inputStride = s.columns,
        .rows = s.rows,
        .columns = s.columns,
        .numOffsets = s.groups + 1,
        .groups = s.groups,
        .dataStride = s.columns * bits / 8,
        .scalesStride =
            traits.blockRows > 1 ? 0 : s.columns / block * scaleSize,
        .scalesSize = scales,
        .columnwiseDataStride = s.columns * bits / 8,
        .columnwiseDataSize = padded * s.columns * bits / 8,
        .columnwiseScalesSize =
            (s.columns + 127) / 128 * 128 * scaleRows / block,
    };
    const int64_t sizes[TILES_NUM_ARRAYS] = {
        elements * gqElementTypeSize(v->type),
        4,
        (s.groups + 1) * 4,
        s.groups * 4,
        4,
        4,
        v->outerKind == GQ_OUTER_PER_ROW ? s.rows * 4 : s.groups * 4,
        v->columnwiseOuterKind == GQ_OUTER_PER_COLUMN ? s.groups * s.columns * 4
                                                      : s.groups * 4,
        16,
        s.rows * o.dataStride,
        scales * scaleSize,
        o.columnwiseDataSize,
        o.columnwiseScalesSize * scaleSize,
        s.groups * 4,
        s.groups * s.columns * 4,
        s.groups * 8,
        s.groups * 4,
        gq_dev_tiles_workspace(s.rows, s.columns, s.groups, v->parts),
        4};
    for (int j = 0; j < TILES_NUM_ARRAYS; ++j)
      addresses[j] = allocate(sizes[j]);
    l.sets[i] = tilesPlace(o, addresses);
    fill(addresses[TILES_INPUT], sizes[TILES_INPUT], b->stream);
    CU(MemcpyHtoD(addresses[TILES_OFFSETS], offsets,
                  (size_t)(s.groups + 1) * 4));
    CU(MemcpyHtoD(addresses[TILES_SCALE_OFFSETS], scaleOffsets,
                  (size_t)s.groups * 4));
    CU(MemcpyHtoD(addresses[TILES_OUTER], ones, (size_t)s.groups * 4));
    CU(MemcpyHtoD(addresses[TILES_COLUMNWISE_OUTER], ones,
                  (size_t)s.groups * 4));
    setOuterAmaxes(v, &s, offsets, addresses);
    CU(MemsetD8(addresses[TILES_STATUS], 0, 4));
  }
  double copyUs = measureCopy(b, bytes);
  for (int i = 0; i < (argc ? argc : 1); ++i) {
    l.ctas = argc ? (unsigned)(atoi(argv[i]) * b->multiprocessors) : 0;
    double us = measure(b, launchOnce, &l), rate = bytes / us * 1e-6;
    printf("%-18s %6lld x %5lld, G %4lld, %s CTAs: %8.2f us %.3f of peak, %.2f "
           "of the copy's time\n",
           v->name, (long long)s.rows, (long long)s.columns,
           (long long)s.groups, argc ? argv[i] : "-", us, rate / b->peak,
           us / copyUs);
  }
  uint32_t status;
  CU(MemcpyDtoH(&status, l.addresses[0][TILES_STATUS], 4));
  if (status)
    printf("  status %u\n", status);
  for (int i = 0; i < l.numSets; ++i)
    for (int j = 0; j < TILES_NUM_ARRAYS; ++j)
      CU(MemFree(l.addresses[i][j]));
  free(ones);
}

int runTilesBenchmark(Handle kernels, int ordinal, int argc, char **argv) {
  module = kernels;
  device = ordinal;
  static const Shape usual[] = {{32768, 8192, 8},
                                {8192, 5120, 128},
                                {6144, 8192, 128},
                                {4096, 8192, 128},
                                {128, 5120, 128}};
  // Arguments are numbers of CTAs behind shapes behind names.
  int names = 0, numShapes = 0;
  while (names < argc && !isdigit(argv[names][0]))
    ++names;
  while (names + numShapes < argc && strchr(argv[names + numShapes], 'x'))
    ++numShapes;
  char **counts = argv + names + numShapes;
  int numCounts = argc - names - numShapes;
  Bench b = benchOpen(ordinal);
  const int numUsual = sizeof(usual) / sizeof(*usual);
  for (int i = 0; i < (numShapes ? numShapes : numUsual); ++i) {
    long long rows, columns, groups;
    Shape shape = usual[numShapes ? 0 : i];
    if (numShapes) {
      if (sscanf(argv[names + i], "%lldx%lldx%lld", &rows, &columns, &groups) !=
          3)
        return 2;
      shape = (Shape){rows, columns, groups};
    }
    for (int j = 0; j < numTilesVariants; ++j) {
      bool wanted = names == 0 && j < NUM_MEASURED_VARIANTS;
      for (int k = 0; k < names; ++k)
        wanted |= strcmp(tilesVariants[j].name, argv[k]) == 0;
      if (wanted)
        benchVariant(&b, &tilesVariants[j], shape, numCounts, counts);
    }
  }
  return 0;
}
