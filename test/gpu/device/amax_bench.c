//===- amax_bench.c - largest magnitudes, timed on a GPU -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gq.grouped_amax, and the kernel that has rows on the chip until it knows
// their amaxes.
//
//===----------------------------------------------------------------------===//

#include "AmaxKernels.h"
#include "Bench.h"
#include "Host.h"
#include "Kernels.h"

#include <stdio.h>

static Handle module;
static int device;

enum { SETS = 4 };

/// Launches of a kernel, of whole rows or of amaxes, on several inputs in turn.
typedef struct Launches {
  Kernel kernel, clear;
  bool whole;
  unsigned threads, sharedMemory;
  int64_t grid, clearGrid;
  QuantizeWholeRowsOperands rows[SETS];
  GroupedAmaxOperands amax[SETS];
  ClearAmaxOperands cleared[SETS];
} Launches;

static void launchOnce(void *context, int i, Handle stream) {
  Launches *l = context;
  if (l->whole) {
    void *parameters[] = {&l->rows[i % SETS]};
    CU(LaunchKernel(l->kernel.function, (unsigned)l->grid, 1, 1, l->threads, 1,
                    1, l->sharedMemory, stream, parameters, NULL));
    return;
  }
  launchKernel(l->clear, l->clearGrid, GQ_DEV_CLEAR_AMAX_THREADS,
               &l->cleared[i % SETS], stream);
  launchKernel(l->kernel, l->grid, GQ_DEV_GROUPED_AMAX_THREADS,
               &l->amax[i % SETS], stream);
}

/// bf16; `name` is that of a variant with i32 offsets.
static void benchKernel(Bench *b, const char *name, int parts, Shape s) {
  static int32_t offsets[4097], scaleOffsets[4096];
  int64_t scaleRows, input = s.rows * s.columns * 2;
  randomOffsets(s, offsets, scaleOffsets, &scaleRows);
  Launches l = {.whole = parts == 0};
  char kernel[64];
  snprintf(kernel, sizeof(kernel), "%s_%s", parts ? "amax" : "whole", name);
  l.kernel = kernelGet(module, kernel, device);
  snprintf(kernel, sizeof(kernel), "clear_%s", name);
  if (parts)
    l.clear = kernelGet(module, kernel, device);
  gq_dev_bounds bounds =
      gq_dev_quantize_whole_rows_bounds(s.columns, GQ_BF16, true);
  gq_dev_quantize_whole_rows_extents wholeExtents = {.rows = s.rows,
                                                     .columns = s.columns,
                                                     .groups = s.groups,
                                                     .ctas = bounds.minCtas};
  gq_dev_grouped_amax_extents extents = {
      s.rows, s.columns, s.groups,
      gq_dev_grouped_amax_bounds(parts, GQ_BF16, GQ_TRANSFORM_NONE, true)
          .minCtas};
  gq_dev_clear_amax_extents clearExtents = {s.rows, s.columns, s.groups};
  l.threads = (unsigned)bounds.threads;
  l.sharedMemory = (unsigned)bounds.sharedMemory;
  if (l.whole)
    CU(FuncSetAttribute(l.kernel.function, FUNCTION_ATTRIBUTE_DYNAMIC_SHARED,
                        bounds.sharedMemory));
  l.grid =
      l.whole
          ? gq_dev_quantize_whole_rows_plan(&wholeExtents, b->multiprocessors)
                .grid
          : gq_dev_grouped_amax_plan(&extents, b->multiprocessors).grid;
  l.clearGrid = gq_dev_clear_amax_plan(&clearExtents, b->multiprocessors).grid;
  for (int i = 0; i < SETS; ++i) {
    int64_t width = up(s.columns / 16, 4);
    uint64_t in = allocate(input), starts = allocate((s.groups + 1) * 4);
    fill(in, input, b->stream);
    CU(MemcpyHtoD(starts, offsets, (size_t)(s.groups + 1) * 4));
    l.rows[i] = (QuantizeWholeRowsOperands){
        .input = in,
        .inputStride = s.columns,
        .rows = s.rows,
        .columns = s.columns,
        .offsets = starts,
        .numOffsets = s.groups + 1,
        .groups = s.groups,
        .data = allocate(s.rows * s.columns / 2),
        .dataStride = s.columns / 2,
        .scales = allocate((scaleRows + 128) * width),
        .scalesStride = width,
        .scaleRows = scaleRows + 128,
        .status = allocate(4),
        .rowAmax = allocate(s.rows * 4),
    };
    l.cleared[i] = (ClearAmaxOperands){
        .rows = s.rows,
        .columns = s.columns,
        .offsets = starts,
        .groups = s.groups,
        .amax = allocate(s.groups * 4),
        .columnwiseAmax = allocate(s.groups * 4),
        .rowAmax = l.rows[i].rowAmax,
        .columnAmax = allocate(s.groups * s.columns * 4),
    };
    l.amax[i] = (GroupedAmaxOperands){
        .input = in,
        .inputStride = s.columns,
        .rows = s.rows,
        .columns = s.columns,
        .offsets = starts,
        .groups = s.groups,
        .amax = l.cleared[i].amax,
        .columnwiseAmax = l.cleared[i].columnwiseAmax,
        .rowAmax = l.rows[i].rowAmax,
        .columnAmax = l.cleared[i].columnAmax,
        .status = l.rows[i].status,
    };
  }
  double bytes = (double)s.rows * (double)s.columns * (parts ? 2.0 : 2.5625);
  double us = measure(b, launchOnce, &l);
  printf("%-6s %-18s %6lld x %5lld, G %3lld: %8.2f us %.3f of peak\n",
         parts ? "amax" : "whole", name, (long long)s.rows,
         (long long)s.columns, (long long)s.groups, us,
         bytes / us * 1e-6 / b->peak);
  for (int i = 0; i < SETS; ++i) {
    const uint64_t all[] = {
        l.rows[i].input,  l.rows[i].offsets,        l.rows[i].data,
        l.rows[i].scales, l.rows[i].status,         l.rows[i].rowAmax,
        l.amax[i].amax,   l.amax[i].columnwiseAmax, l.amax[i].columnAmax};
    for (size_t k = 0; k < sizeof(all) / sizeof(*all); ++k)
      CU(MemFree(all[k]));
  }
}

int runAmaxBenchmark(Handle kernels, int ordinal, int argc, char **argv) {
  (void)argc;
  (void)argv;
  module = kernels;
  device = ordinal;
  Bench b = benchOpen(ordinal);
  const Shape shapes[] = {
      {32768, 8192, 8},  {32768, 4096, 8}, {32768, 2048, 8}, {8192, 8192, 8},
      {8192, 2048, 8},   {1024, 8192, 8},  {1024, 2048, 8},  {8192, 5120, 128},
      {4096, 8192, 128}, {128, 5120, 128}};
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); ++i) {
    benchKernel(&b, "bf16", 0, shapes[i]);
    benchKernel(&b, "bf16_rows", AMAX_R, shapes[i]);
    benchKernel(&b, "bf16", AMAX_ALL, shapes[i]);
    benchKernel(&b, "bf16_transformed", AMAX_ALL | AMAX_T, shapes[i]);
  }
  return 0;
}
