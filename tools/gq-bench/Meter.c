//===- Meter.c - how long work takes --------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meter.h"
#include "Values.h"

#include "gq/Runtime/Cuda.h"

#include <stdlib.h>
#include <threads.h>
#include <time.h>

enum {
  /// Replays before those that count.
  UNCOUNTED = 3,
};

static const MeterPlan fullPlan = {.replays = 31,
                                   .launches = 24,
                                   .warmUpSeconds = 1,
                                   .pauseMilliseconds = 150,
                                   .firstCopy = (size_t)32 << 20,
                                   .lastCopy = (size_t)1 << 30};
static const MeterPlan quickPlan = {.replays = 5,
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
  *meter = (Meter){.plan = isQuick ? quickPlan : fullPlan};
  gqStatus status = deviceOf(isCuda, &meter->device);
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

int64_t meterSets(const Meter *meter, double bytes) {
  return (int64_t)(3 * (double)meter->cacheSize / bytes) + 2;
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

static gqStatus replayAll(Meter *meter, void *graph, Launches *launches,
                          double *times) {
  gqStatus status = GQ_OK;
  double ignored;
  for (int i = -UNCOUNTED; i < meter->plan.replays && status == GQ_OK; ++i)
    status = replay(meter, graph, launches, i < 0 ? &ignored : &times[i]);
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
  if (status == GQ_OK)
    status = replayAll(meter, graph, &launches, times);
  *microseconds =
      stopwatchMedian(times, (size_t)meter->plan.replays) / (double)count;
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

static gqStatus copyOnce(void *context, int64_t i) {
  const Copies *copies = context;
  const Meter *meter = copies->meter;
  size_t at = (size_t)i % (meter->room / copies->size) * copies->size;
  return deviceCopy(meter->device, (char *)meter->copyTo + at,
                    (char *)meter->copyFrom + at, copies->size);
}

gqStatus meterCopy(Meter *meter, size_t size, double *microseconds) {
  // At least one line, so that offsets are aligned.
  Copies copies = {meter, (size + 255) / 256 * 256};
  gqStatus status = reserveCopies(meter, copies.size);
  if (status != GQ_OK)
    return status;
  int64_t sets = meterSets(meter, 2.0 * (double)copies.size);
  return meterMeasure(meter, copyOnce, &copies, meterLaunches(meter, sets),
                      microseconds);
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
