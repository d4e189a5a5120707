//===- dequantize_gpu.c - the kernel of dequantization on a GPU -----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Dequantize.h"
#include "Kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 4096, MAX_SETS = 64 };

static Handle module;
static int device;

static Kernel kernelOf(const DequantizeVariant *v) {
  char name[64];
  snprintf(name, sizeof(name), "dequantize_%s", v->name);
  return kernelGet(module, name, device);
}

static int64_t gridOf(const DequantizeVariant *v,
                      const DequantizeTilesOperands *o, int multiprocessors) {
  bool nvfp4 = v->format == GQ_FORMAT_NVFP4;
  gq_dev_bounds bounds = gq_dev_dequantize_tiles_bounds(
      v->dataType, gq_dev_dequantizes_by_rows(v->parts),
      gq_dev_dequantize_pieces(v->format, v->layout),
      nvfp4 && v->parts & GQ_DEV_COLUMNWISE,
      nvfp4 && v->recipe == GQ_RECIPE_NVFUSER && v->outerKind != GQ_OUTER_NONE,
      false);
  gq_dev_dequantize_tiles_extents extents = {.rows = o->rows,
                                             .columns = o->columns,
                                             .groups = o->groups,
                                             .parts = v->parts,
                                             .format = v->format,
                                             .scaleLayout = v->layout,
                                             .outType = v->outType,
                                             .ctas = bounds.minCtas};
  return gq_dev_dequantize_tiles_plan(&extents, multiprocessors).grid;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static bool run(const DequantizeProblem *p, DequantizeMemory *memory) {
  uint64_t addresses[DEQUANTIZE_ARRAYS];
  DevicePtr at[DEQUANTIZE_ARRAYS];
  for (int i = 0; i < DEQUANTIZE_ARRAYS; ++i) {
    const Guarded *a = &memory->arrays[i];
    int64_t shift = (int64_t)((uint64_t)(uintptr_t)a->bytes % 16);
    at[i] = allocate(2 * GUARD + 16 + a->size);
    CU(MemsetD8(at[i], DEQUANTIZE_POISON, (size_t)(2 * GUARD + 16 + a->size)));
    addresses[i] = at[i] + (uint64_t)(GUARD + shift);
    if (a->size)
      CU(MemcpyHtoD(addresses[i], a->bytes, (size_t)a->size));
  }
  DequantizeTilesOperands o = dequantizeOperands(p, addresses);
  Kernel kernel = kernelOf(&p->v);
  launchKernel(kernel, gridOf(&p->v, &o, kernel.multiprocessors),
               GQ_DEV_DEQUANTIZE_TILES_THREADS, &o, NULL);
  CU(CtxSynchronize());
  bool hold = true;
  for (int i = 0; i < DEQUANTIZE_ARRAYS; ++i) {
    const Guarded *a = &memory->arrays[i];
    uint8_t guards[2][GUARD];
    CU(MemcpyDtoH(guards[0], addresses[i] - GUARD, GUARD));
    CU(MemcpyDtoH(guards[1], addresses[i] + (uint64_t)a->size, GUARD));
    for (int j = 0; j < GUARD; ++j)
      hold &= guards[0][j] == DEQUANTIZE_POISON &&
              guards[1][j] == DEQUANTIZE_POISON;
    if (a->size)
      CU(MemcpyDtoH(a->bytes, addresses[i], (size_t)a->size));
    CU(MemFree(at[i]));
  }
  return hold;
}

int runDequantizeTests(Handle kernels, int ordinal, int argc, char **argv) {
  module = kernels;
  device = ordinal;
  int64_t passed, count = argc ? atoll(argv[0]) : 20 * numDequantizeVariants;
  int64_t failed = dequantizeTest(run, true, true, count, &passed);
  printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
  return failed != 0;
}

//===----------------------------------------------------------------------===//
// Benchmark
//===----------------------------------------------------------------------===//

typedef struct Launches {
  Kernel kernel;
  int64_t grid;
  DequantizeTilesOperands sets[MAX_SETS];
  int numSets;
} Launches;

static void launchOnce(void *context, int i, Handle stream) {
  Launches *l = context;
  launchKernel(l->kernel, l->grid, GQ_DEV_DEQUANTIZE_TILES_THREADS,
               &l->sets[i % l->numSets], stream);
}

/// Of a grid of so many CTAs for each multiprocessor; 0 is that of the
/// lowering.
static void benchVariant(Bench *b, const DequantizeVariant *v, Shape s,
                         int ctas) {
  static int32_t offsets[4097], scaleOffsets[4096];
  gqFormatTraits traits = gqFormatGetTraits(v->format);
  int64_t scaleRows, bits = traits.dataBits;
  int64_t scaleSize = gqElementTypeSize(traits.scaleType);
  bool none = v->format == GQ_FORMAT_NONE;
  randomOffsets(s, offsets, scaleOffsets, &scaleRows);
  int64_t elements = s.rows * s.columns,
          outSize = gqElementTypeSize(v->outType);
  double bytes = (double)elements *
                 ((double)bits / 8 + (double)outSize +
                  (none ? 0.0
                        : (double)scaleSize / (double)(traits.blockColumns *
                                                       traits.blockRows)));
  // As large as either direction may need.
  int64_t dataBytes = (s.rows + 32 * s.groups) * s.columns * bits / 8;
  int64_t scales = none ? 0
                        : (s.rows + 256 * s.groups) *
                              (s.columns / traits.blockColumns + 128);
  Launches l = {.kernel = kernelOf(v)};
  l.numSets = (int)(3 * (double)b->l2 / bytes) + 2;
  l.numSets = l.numSets < MAX_SETS ? l.numSets : MAX_SETS;
  float *ones = malloc((size_t)s.groups * 4);
  for (int64_t e = 0; e < s.groups; ++e)
    ones[e] = 5.0f;
  for (int i = 0; i < l.numSets; ++i) {
    DequantizeTilesOperands *o = &l.sets[i];
    *o = (DequantizeTilesOperands){
        .data = allocate(dataBytes),
        .dataStride = s.columns * bits / 8,
        .dataSize = dataBytes,
        .scales = allocate(scales * scaleSize + 16),
        .scalesStride = traits.blockRows > 1
                            ? 0
                            : s.columns / traits.blockColumns * scaleSize,
        .scalesSize = scales,
        .rows = s.rows,
        .columns = s.columns,
        .offsets = allocate((s.groups + 1) * 4),
        .numOffsets = s.groups + 1,
        .groups = s.groups,
        .outer = allocate(s.groups * 4),
        .out = allocate(elements * outSize),
        .outStride = s.columns * outSize,
        .status = allocate(4),
    };
    fill(o->data, dataBytes, b->stream);
    if (scales)
      fill(o->scales, scales * scaleSize, b->stream);
    CU(MemcpyHtoD(o->offsets, offsets, (size_t)(s.groups + 1) * 4));
    CU(MemcpyHtoD(o->outer, ones, (size_t)s.groups * 4));
    CU(MemsetD8(o->status, 0, 4));
  }
  l.grid = ctas ? ctas * l.kernel.multiprocessors
                : gridOf(v, &l.sets[0], l.kernel.multiprocessors);
  double copyUs = measureCopy(b, bytes), us = measure(b, launchOnce, &l);
  uint32_t status;
  CU(MemcpyDtoH(&status, l.sets[0].status, 4));
  printf("%-24s %6lld x %5lld, G %4lld, CTAs %2d: %8.2f us %.3f of "
         "peak, %.2f of the "
         "copy's time%s\n",
         v->name, (long long)s.rows, (long long)s.columns, (long long)s.groups,
         ctas, us, bytes / us * 1e-6 / b->peak, us / copyUs,
         status ? " FAULT" : "");
  for (int i = 0; i < l.numSets; ++i) {
    DevicePtr all[] = {l.sets[i].data,  l.sets[i].scales, l.sets[i].offsets,
                       l.sets[i].outer, l.sets[i].out,    l.sets[i].status};
    for (size_t j = 0; j < sizeof(all) / sizeof(*all); ++j)
      CU(MemFree(all[j]));
  }
  free(ones);
}

/// Whether a variant is among the arguments, or no variant is.
static bool isMeasured(const DequantizeVariant *v, int argc, char **argv) {
  bool any = false, found = false;
  for (int i = 0; i < argc; ++i) {
    any |= !atoi(argv[i]);
    found |= strcmp(argv[i], v->name) == 0;
  }
  return found || !any;
}

int runDequantizeBenchmark(Handle kernels, int ordinal, int argc, char **argv) {
  module = kernels;
  device = ordinal;
  const Shape shapes[] = {
      {32768, 8192, 8}, {8192, 5120, 128}, {4096, 8192, 128}, {128, 5120, 128}};
  Bench b = benchOpen(ordinal);
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); ++i)
    for (int j = 0; j < NUM_MEASURED_DEQUANTIZE_VARIANTS; ++j) {
      const DequantizeVariant *v = &dequantizeVariants[j];
      if (!isMeasured(v, argc, argv))
        continue;
      benchVariant(&b, v, shapes[i], 0);
      for (int k = 0; k < argc; ++k)
        if (atoi(argv[k]))
          benchVariant(&b, v, shapes[i], atoi(argv[k]));
    }
  return 0;
}
