//===- bench.c - how fast the device functions are ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The measure: bytes the op must read and write once, over its time, over the
// best device-to-device copy of the same run. Times are medians over replays of
// a graph of launches whose operands rotate through more than the L2.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum {
  LAUNCHES = 24, // in a graph
  REPLAYS = 30,
  SETS_AT_MOST = 96,
  // Nanoseconds before a measurement: a card that has been busy for a second
  // may be at its power limit, and slower in the next one.
  PAUSE = 150000000,
};

static int compareFloats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

double measure(Bench *b, Work *work, void *context) {
  Handle graph, executable;
  CU(StreamBeginCapture(b->stream, 2));
  for (int i = 0; i < LAUNCHES; ++i)
    work(context, i, b->stream);
  CU(StreamEndCapture(b->stream, &graph));
  CU(GraphInstantiate(&executable, graph, 0));
  thrd_sleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
  float times[REPLAYS];
  for (int i = -3; i < REPLAYS; ++i) {
    CU(EventRecord(b->begin, b->stream));
    CU(GraphLaunch(executable, b->stream));
    CU(EventRecord(b->end, b->stream));
    CU(EventSynchronize(b->end));
    float ms;
    CU(EventElapsedTime(&ms, b->begin, b->end));
    if (i >= 0)
      times[i] = ms;
  }
  CU(GraphExecDestroy(executable));
  CU(GraphDestroy(graph));
  qsort(times, REPLAYS, sizeof(float), compareFloats);
  return 1e3 * times[REPLAYS / 2] / LAUNCHES;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

typedef struct Copy {
  DevicePtr from, to;
  size_t bytes, room;
} Copy;

/// What all copies are made in.
static Copy copies;

static void copyOnce(void *context, int i, Handle stream) {
  Copy *copy = context;
  size_t sets = copy->room / copy->bytes;
  size_t at = (size_t)i % sets * copy->bytes;
  CU(MemcpyDtoDAsync(copy->to + at, copy->from + at, copy->bytes, stream));
}

static double peakCopy(Bench *b) {
  double best = 0;
  Copy copy = copies;
  for (size_t mib = 32; mib <= 1024; mib *= 2) {
    copy.bytes = mib << 20;
    double us = measure(b, copyOnce, &copy);
    double rate = 2.0 * (double)copy.bytes / us * 1e-6;
    printf("  copy of %4zu MiB: %7.1f us, %.3f TB/s\n", mib, us, rate);
    best = rate > best ? rate : best;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

typedef struct Run {
  const char *name;
  Kernel grouped, block, preprocess;
  gqFormatTraits format;
  /// The two ops are measured too.
  bool hasTwoOps;
  unsigned ctas;
  QuantizeRowsOperands sets[SETS_AT_MOST];
  /// Of the two ops.
  DevicePtr linear[SETS_AT_MOST];
  int numSets;
} Run;

static void groupedOnce(void *context, int i, Handle stream) {
  Run *run = context;
  launchRows(run->grouped, &run->sets[i % run->numSets], run->ctas, stream);
}

static void twoOpsOnce(void *context, int i, Handle stream) {
  Run *run = context;
  int set = i % run->numSets;
  launchTwoOps(run->block, run->preprocess, &run->sets[set], run->linear[set],
               run->sets[set].columns / run->format.blockColumns, stream);
}

static uint32_t randomState = 1;
static uint32_t randomNext(void) {
  randomState = randomState * 1664525 + 1013904223;
  return randomState >> 8;
}

void randomOffsets(Shape s, int32_t *offsets, int32_t *scaleOffsets,
                   int64_t *scaleRows) {
  int64_t sum = 0, weights[4096], at = 0;
  randomState = 1;
  for (int64_t e = 0; e < s.groups; ++e)
    sum += weights[e] = 64 + randomNext() % 128;
  int64_t row = 0;
  for (int64_t e = 0; e < s.groups; ++e) {
    offsets[e] = (int32_t)(row * s.rows / sum);
    row += weights[e];
    int64_t end = row * s.rows / sum;
    scaleOffsets[e] = (int32_t)at;
    at += (end - offsets[e] + 127) / 128 * 128;
  }
  offsets[s.groups] = (int32_t)s.rows;
  *scaleRows = at;
}

void fill(DevicePtr to, int64_t bytes, Handle stream) {
  enum { CHUNK = 1 << 20 };
  static uint16_t chunk[CHUNK];
  if (!chunk[0])
    for (int i = 0; i < CHUNK; ++i) {
      double u = (randomNext() % 65536 + 1) / 65537.0;
      float x = (float)(sqrt(-2 * log(u)) * cos(randomNext() * 1e-3));
      uint32_t bits;
      memcpy(&bits, &x, 4);
      chunk[i] = (uint16_t)(bits >> 16);
    }
  int64_t done =
      bytes < (int64_t)sizeof(chunk) ? bytes : (int64_t)sizeof(chunk);
  CU(MemcpyHtoD(to, chunk, (size_t)done));
  CU(CtxSynchronize()); // The copy may still be under way.
  while (done < bytes) {
    int64_t n = bytes - done < done ? bytes - done : done;
    CU(MemcpyDtoDAsync(to + (uint64_t)done, to, (size_t)n, stream));
    done += n;
  }
  CU(StreamSynchronize(stream));
}

DevicePtr allocate(int64_t bytes) {
  DevicePtr p;
  CU(MemAlloc(&p, (size_t)bytes));
  return p;
}

/// Bytes to read and to write.
static int64_t bytesOf(Shape s, gqFormatTraits format) {
  return s.rows * s.columns * (16 + format.dataBits) / 8 +
         s.rows * s.columns / format.blockColumns;
}

static void makeSets(Bench *b, Shape s, Run *run) {
  static int32_t offsets[4097], scaleOffsets[4096];
  static float outer[4096];
  for (int64_t e = 0; e < s.groups; ++e)
    outer[e] = 5.0f;
  int64_t scaleRows, scaleColumns = s.columns / run->format.blockColumns;
  randomOffsets(s, offsets, scaleOffsets, &scaleRows);
  int64_t sets = 3 * b->l2 / bytesOf(s, run->format) + 2;
  run->numSets = sets < SETS_AT_MOST ? (int)sets : SETS_AT_MOST;
  for (int i = 0; i < run->numSets; ++i) {
    QuantizeRowsOperands o = {.inputStride = s.columns,
                              .rows = s.rows,
                              .columns = s.columns,
                              .numOffsets = s.groups + 1,
                              .groups = s.groups,
                              .dataStride =
                                  s.columns * run->format.dataBits / 8,
                              .scaleRows = scaleRows};
    o.input = allocate(s.rows * s.columns * 2);
    fill(o.input, s.rows * s.columns * 2, b->stream);
    o.offsets = allocate((s.groups + 1) * 4);
    CU(MemcpyHtoD(o.offsets, offsets, (size_t)(s.groups + 1) * 4));
    o.scaleOffsets = allocate(s.groups * 4);
    CU(MemcpyHtoD(o.scaleOffsets, scaleOffsets, (size_t)s.groups * 4));
    o.outer = allocate(s.groups * 4);
    CU(MemcpyHtoD(o.outer, outer, (size_t)s.groups * 4));
    o.data = allocate(s.rows * o.dataStride);
    o.scales = allocate(scaleRows * ((scaleColumns + 3) / 4 * 4));
    run->linear[i] = allocate(s.rows * scaleColumns);
    o.status = allocate(4);
    CU(MemsetD8(o.status, 0, 4));
    run->sets[i] = o;
  }
}

static void freeSets(Run *run) {
  for (int i = 0; i < run->numSets; ++i) {
    QuantizeRowsOperands *o = &run->sets[i];
    DevicePtr all[] = {o->input, o->offsets, o->scaleOffsets, o->outer,
                       o->data,  o->scales,  run->linear[i],  o->status};
    for (size_t j = 0; j < sizeof(all) / sizeof(*all); ++j)
      CU(MemFree(all[j]));
  }
}

static void benchShape(Bench *b, Shape s, Run *run, int argc, char **argv) {
  makeSets(b, s, run);
  double bytes = (double)bytesOf(s, run->format);
  double copyUs = measureCopy(b, bytes);
  printf("%s, %lld x %lld, G = %lld: copy of as many bytes %.2f us\n",
         run->name, (long long)s.rows, (long long)s.columns,
         (long long)s.groups, copyUs);
  for (int i = 0; i < (argc ? argc : 1); ++i) {
    run->ctas = argc ? (unsigned)(atoi(argv[i]) * b->multiprocessors) : 0;
    double us = measure(b, groupedOnce, run);
    double rate = bytes / us * 1e-6;
    printf("  fused, %3s CTAs each: %8.2f us  %.3f TB/s  %.3f of peak  %.2f of "
           "the copy's time\n",
           run->ctas ? argv[i] : "its", us, rate, rate / b->peak, us / copyUs);
  }
  if (run->hasTwoOps) {
    double us = measure(b, twoOpsOnce, run);
    double rate = bytes / us * 1e-6;
    printf("  two ops             : %8.2f us  %.3f TB/s  %.3f of peak\n", us,
           rate, rate / b->peak);
  }
  freeSets(run);
}

double measureCopy(Bench *b, double bytes) {
  Copy copy = copies;
  copy.bytes = (size_t)(bytes / 2) / 256 * 256;
  return measure(b, copyOnce, &copy);
}

Bench benchOpen(int device) {
  Bench b = {.device = device};
  char name[128];
  int l2;
  CU(DeviceGetName(name, sizeof(name), device));
  CU(DeviceGetAttribute(&b.multiprocessors, ATTRIBUTE_MULTIPROCESSORS, device));
  CU(DeviceGetAttribute(&l2, ATTRIBUTE_L2_BYTES, device));
  b.l2 = l2;
  CU(StreamCreate(&b.stream, STREAM_AFTER_NULL));
  CU(EventCreate(&b.begin, 0));
  CU(EventCreate(&b.end, 0));
  printf("%s, %d multiprocessors, L2 %d MiB\n", name, b.multiprocessors,
         l2 >> 20);

  copies.room = (size_t)1 << 30;
  copies.from = allocate((int64_t)copies.room);
  copies.to = allocate((int64_t)copies.room);
  fill(copies.from, (int64_t)copies.room, b.stream);
  copies.bytes = copies.room;
  for (time_t start = time(NULL); time(NULL) - start < 2;)
    measure(&b, copyOnce, &copies);
  b.peak = peakCopy(&b);
  printf("  peak %.3f TB/s\n", b.peak);
  return b;
}

int runBenchmark(Handle module, int device, int argc, char **argv) {
  const Shape shapes[] = {{32768, 8192, 8},  {8192, 5120, 128},
                          {4096, 8192, 128}, {128, 5120, 128},
                          {8192, 5120, 8},   {4096, 8192, 8}};
  const struct {
    const char *name;
    gqFormat format;
    const char *block;
  } kernels[] = {{"nvfp4_bf16", GQ_FORMAT_NVFP4, "block_nvfp4"},
                 {"te_bf16_each", GQ_FORMAT_NVFP4, NULL},
                 {"mxfp4_bf16", GQ_FORMAT_MXFP4, NULL},
                 {"mxfp8_e4m3_bf16", GQ_FORMAT_MXFP8_E4M3, "block_mxfp8_e4m3"},
                 {"mxfp8_e5m2_bf16", GQ_FORMAT_MXFP8_E5M2, NULL}};
  static Run run;
  run.preprocess = kernelGet(module, "preprocess", device);

  Bench b = benchOpen(device);
  for (size_t k = 0; k < sizeof(kernels) / sizeof(*kernels); ++k) {
    run.name = kernels[k].name;
    run.format = gqFormatGetTraits(kernels[k].format);
    run.grouped = kernelGet(module, kernels[k].name, device);
    run.hasTwoOps = kernels[k].block;
    if (run.hasTwoOps)
      run.block = kernelGet(module, kernels[k].block, device);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); ++i)
      benchShape(&b, shapes[i], &run, argc, argv);
  }
  return 0;
}
