//===- Meter.c - how long work takes --------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meter.h"
#include "Cpu.h"
#include "Values.h"

#include "gq/Runtime/Cpu.h"
#include "gq/Runtime/Cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const MeterPlan cudaPlan = {.replays = 31,
                                   .room = HUGE_VAL,
                                   .uncounted = 3,
                                   .seconds = HUGE_VAL,
                                   .launches = 24,
                                   .warmUpSeconds = 0.3,
                                   .pauseMilliseconds = 150,
                                   .firstCopy = (size_t)32 << 20,
                                   .lastCopy = (size_t)1 << 30};
static const MeterPlan cpuPlan = {.replays = 31,
                                  .uncounted = 1,
                                  .seconds = 0.5,
                                  .room = 0x1p30,
                                  .launches = 1,
                                  .warmUpSeconds = 0.1,
                                  .firstCopy = (size_t)32 << 20,
                                  .lastCopy = (size_t)256 << 20};
static const MeterPlan quickPlan = {.replays = 5,
                                    .room = HUGE_VAL,
                                    .uncounted = 3,
                                    .seconds = HUGE_VAL,
                                    .launches = 2,
                                    .warmUpSeconds = 0.01,
                                    .firstCopy = (size_t)4 << 20,
                                    .lastCopy = (size_t)16 << 20};

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Makes room for copies of `size` bytes.
static gqStatus reserveCopies(Meter *meter, size_t size) {
  if (size <= meter->room)
    return GQ_OK;
  deviceFree(meter->device, meter->copyFrom);
  deviceFree(meter->device, meter->copyTo);
  meter->copyFrom = meter->copyTo = NULL;
  meter->room = 0;
  gqStatus status = deviceAlloc(meter->device, size, &meter->copyFrom);
  if (status == GQ_OK)
    status = deviceAlloc(meter->device, size, &meter->copyTo);
  if (status == GQ_OK)
    status = valuesFill(meter->device, meter->copyFrom, GQ_F32, size, 1);
  if (status == GQ_OK)
    meter->room = size;
  return status;
}

gqStatus meterCreate(bool isCuda, bool isQuick, Meter *meter) {
  *meter = (Meter){.plan = isQuick ? quickPlan : isCuda ? cudaPlan : cpuPlan};
  gqStatus status = deviceOf(isCuda, &meter->device);
  if (!isCuda) {
    gqCpuInfo info;
    gqGetCpuInfo(&info);
    meter->numThreads = info.numThreads;
    long cacheSize = sysconf(_SC_LEVEL3_CACHE_SIZE);
    // Quick measurements are of small operands, of few sets.
    meter->cacheSize = isQuick || cacheSize < 0 ? 0 : cacheSize;
  }
  if (status == GQ_OK && isCuda) {
    gqDeviceInfo info;
    status = gqGetDeviceInfo(&info);
    meter->cacheSize = info.l2Size;
    if (status == GQ_OK)
      status = gqStreamCreate(&meter->stream);
    gqSetStream(meter->stream);
  }
  if (status == GQ_OK)
    status = stopwatchCreate(meter->device, &meter->stopwatch);
  return status == GQ_OK ? reserveCopies(meter, meter->plan.lastCopy) : status;
}

void meterDestroy(Meter *meter) {
  deviceFree(meter->device, meter->copyFrom);
  deviceFree(meter->device, meter->copyTo);
  gqExecutableDestroy(meter->kernel);
  stopwatchDestroy(&meter->stopwatch);
  if (!meter->stream)
    return;
  gqSynchronize();
  gqSetStream(NULL);
  gqStreamDestroy(meter->stream);
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

int64_t meterSets(const Meter *meter, double bytes, double size) {
  double most = fmax(meter->plan.room / size - 2, 0);
  return (int64_t)fmin(3 * (double)meter->cacheSize / bytes, most) + 2;
}

int64_t meterLaunches(const Meter *meter, int64_t sets) {
  return (meter->plan.launches + sets - 1) / sets * sets;
}

/// What a replay consists of.
typedef struct Launches {
  Work *work;
  void *context;
  int64_t count;
} Launches;

static gqStatus launchAll(void *context) {
  const Launches *launches = context;
  gqStatus status = GQ_OK;
  for (int64_t i = 0; i < launches->count && status == GQ_OK; ++i)
    status = launches->work(launches->context, i);
  return status;
}

/// Measures all launches, which are those of the graph if there is one.
static gqStatus replay(Meter *meter, void *graph, Launches *launches,
                       double *microseconds) {
  gqStatus status = stopwatchStart(&meter->stopwatch);
  if (status == GQ_OK)
    status = graph ? gqGraphLaunch(graph) : launchAll(launches);
  return status == GQ_OK ? stopwatchStop(&meter->stopwatch, microseconds)
                         : status;
}

/// Returns the number of times in `*count`.
static gqStatus replayAll(Meter *meter, void *graph, Launches *launches,
                          double *times, int *count) {
  const MeterPlan *plan = &meter->plan;
  gqStatus status = GQ_OK;
  double spent = 0;
  *count = 0;
  for (int i = -plan->uncounted; i < plan->replays && status == GQ_OK &&
                                 (*count == 0 || spent < plan->seconds * 1e6);
       ++i) {
    double time = 0;
    status = replay(meter, graph, launches, &time);
    spent += time;
    if (i >= 0)
      times[(*count)++] = time;
  }
  return status;
}

gqStatus meterMeasure(Meter *meter, Work *work, void *context, int64_t count,
                      double *microseconds) {
  Launches launches = {work, context, count};
  double *times = calloc((size_t)meter->plan.replays, sizeof(double));
  if (!times)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  void *graph = NULL;
  // The first call loads kernels, which cannot be captured.
  gqStatus status = work(context, 0);
  if (status == GQ_OK && meter->stream)
    status = deviceCapture(launchAll, &launches, &graph);
  thrd_sleep(
      &(struct timespec){.tv_nsec = meter->plan.pauseMilliseconds * 1000000L},
      NULL);
  int numTimes = 0;
  if (status == GQ_OK)
    status = replayAll(meter, graph, &launches, times, &numTimes);
  if (status == GQ_OK) {
    double median = stopwatchMedian(times, (size_t)numTimes);
    // Sorted. On a CPU other programs take turns with this one.
    *microseconds =
        (meter->stopwatch.isCuda ? median : times[0]) / (double)count;
  }
  if (graph)
    gqGraphDestroy(graph);
  free(times);
  return status;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies of `size` bytes that rotate through what there is room for.
typedef struct Copies {
  Meter *meter;
  size_t size;
} Copies;

/// Where the i-th copy begins.
static size_t copyBegin(const Copies *copies, int64_t i) {
  return (size_t)i % (copies->meter->room / copies->size) * copies->size;
}

static gqStatus copyOnce(void *context, int64_t i) {
  const Copies *copies = context;
  const Meter *meter = copies->meter;
  size_t at = copyBegin(copies, i);
  return deviceCopy(meter->device, (char *)meter->copyTo + at,
                    (char *)meter->copyFrom + at, copies->size);
}

static gqStatus copyInThreads(void *context, int64_t i) {
  const Copies *copies = context;
  const Meter *meter = copies->meter;
  size_t at = copyBegin(copies, i);
  return cpuCopy(meter->numThreads, (char *)meter->copyTo + at,
                 (char *)meter->copyFrom + at, copies->size);
}

/// Each number inverted: a copy would not be compiled to a kernel.
static const char kernelText[] =
    "#map = affine_map<(i) -> (i)>\n"
    "func.func @main(%from: tensor<?xi64>, %to: tensor<?xi64>)\n"
    "    -> tensor<?xi64> {\n"
    "  %ones = arith.constant -1 : i64\n"
    "  %r = linalg.generic {indexing_maps = [#map, #map],\n"
    "                       iterator_types = [\"parallel\"]}\n"
    "      ins(%from : tensor<?xi64>) outs(%to : tensor<?xi64>) {\n"
    "  ^bb0(%x: i64, %old: i64):\n"
    "    %y = arith.xori %x, %ones : i64\n"
    "    linalg.yield %y : i64\n"
    "  } -> tensor<?xi64>\n"
    "  return %r : tensor<?xi64>\n"
    "}\n";

static gqStatus callKernel(void *context, int64_t i) {
  const Copies *copies = context;
  const Meter *meter = copies->meter;
  size_t at = copyBegin(copies, i);
  int64_t count = (int64_t)(copies->size / sizeof(int64_t));
  DLTensor from = {.data = (char *)meter->copyFrom + at,
                   .device = meter->device,
                   .ndim = 1,
                   .dtype = {kDLInt, 64, 1},
                   .shape = &count};
  DLTensor to = from, *inputs[] = {&from, &to};
  to.data = (char *)meter->copyTo + at;
  return gqInvoke(meter->kernel, "main", inputs, 2, NULL, 0);
}

/// Whether the kernel inverts numbers.
static gqStatus checkKernel(Meter *meter) {
  enum { COUNT = 1024 };
  uint64_t from[COUNT], to[COUNT];
  Copies copies = {meter, sizeof(from)};
  gqStatus status = callKernel(&copies, 0);
  if (status == GQ_OK && meter->stream)
    status = gqSynchronize();
  if (status == GQ_OK)
    status = deviceRead(meter->device, from, meter->copyFrom, sizeof(from));
  if (status == GQ_OK)
    status = deviceRead(meter->device, to, meter->copyTo, sizeof(to));
  for (int i = 0; status == GQ_OK && i < COUNT; ++i)
    if (to[i] != ~from[i])
      status = gqFail(GQ_CUDA_ERROR, "the kernel that copies does not");
  return status;
}

gqStatus meterAddKernel(Meter *meter) {
  gqCompileOptions options = {
      .target = meter->device.device_type == kDLCUDA ? "cuda" : "cpu"};
  gqStatus status =
      gqCompile(kernelText, strlen(kernelText), &options, &meter->kernel);
  if (status == GQ_OK)
    status = checkKernel(meter);
  if (status != GQ_OK) {
    gqExecutableDestroy(meter->kernel);
    meter->kernel = NULL;
  }
  return status;
}

double copyTimesBest(const CopyTimes *times) {
  double memcpyTime = times->memcpyMicroseconds;
  double kernelTime = times->kernelMicroseconds;
  return kernelTime > 0 && !(memcpyTime > 0 && memcpyTime < kernelTime)
             ? kernelTime
             : memcpyTime;
}

/// The other way to copy; null if there is none.
static Work *otherWay(const Meter *meter) {
  if (meter->device.device_type == kDLCUDA)
    return meter->kernel ? callKernel : NULL;
  return meter->numThreads > 1 ? copyInThreads : NULL;
}

gqStatus meterCopy(Meter *meter, size_t size, CopyTimes *times) {
  // At least one line, so that offsets are aligned.
  Copies copies = {meter, (size + 255) / 256 * 256};
  gqStatus status = reserveCopies(meter, copies.size);
  *times = (CopyTimes){0, 0};
  if (status != GQ_OK)
    return status;
  double bytes = 2.0 * (double)copies.size;
  int64_t sets = meterSets(meter, bytes, bytes);
  int64_t launches = meterLaunches(meter, sets);
  Work *other = otherWay(meter);
  status = meterMeasure(meter, copyOnce, &copies, launches,
                        &times->memcpyMicroseconds);
  if (status == GQ_OK && other)
    status = meterMeasure(meter, other, &copies, launches,
                          &times->kernelMicroseconds);
  return status;
}

gqStatus meterLaunch(Meter *meter, double *microseconds) {
  enum { LEAST = 256, LAUNCHES = 1000 };
  Copies copies = {meter, LEAST};
  *microseconds = 0;
  return meter->kernel
             ? meterMeasure(meter, callKernel, &copies, LAUNCHES, microseconds)
             : GQ_OK;
}

gqStatus meterWarmUp(Meter *meter) {
  Copies copies = {meter, meter->plan.lastCopy};
  Launches launches = {copyOnce, &copies, meter->plan.launches};
  double spent = 0;
  gqStatus status = GQ_OK;
  while (spent < meter->plan.warmUpSeconds * 1e6 && status == GQ_OK) {
    double microseconds = 0;
    status = replay(meter, /*graph=*/NULL, &launches, &microseconds);
    spent += microseconds;
  }
  return status;
}
