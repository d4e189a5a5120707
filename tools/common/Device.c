//===- Device.c - arguments, results and times on a target ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "gq/Runtime/Cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool isCuda(DLDevice device) { return device.device_type == kDLCUDA; }

gqStatus deviceOf(bool isCuda, DLDevice *device) {
  *device = (DLDevice){isCuda ? kDLCUDA : kDLCPU, 0};
  return isCuda ? gqGetDevice(&device->device_id) : GQ_OK;
}

gqStatus deviceAlloc(DLDevice device, size_t size, void **memory) {
  if (isCuda(device))
    return gqDeviceAlloc(size, memory);
  // One more than needed: malloc(0) may return null.
  *memory = malloc(size + 1);
  return *memory ? GQ_OK : gqFail(GQ_OUT_OF_MEMORY, "out of memory");
}

void deviceFree(DLDevice device, void *memory) {
  if (isCuda(device))
    gqDeviceFree(memory);
  else
    free(memory);
}

gqStatus deviceWrite(DLDevice device, void *target, const void *source,
                     size_t size) {
  if (isCuda(device))
    return gqCopyToDevice(target, source, size);
  memcpy(target, source, size);
  return GQ_OK;
}

gqStatus deviceRead(DLDevice device, void *target, const void *source,
                    size_t size) {
  if (isCuda(device))
    return gqCopyToHost(target, source, size);
  memcpy(target, source, size);
  return GQ_OK;
}

gqStatus deviceCopy(DLDevice device, void *target, const void *source,
                    size_t size) {
  if (!isCuda(device)) {
    memcpy(target, source, size);
    return GQ_OK;
  }
  mgpuMemcpy(target, (void *)source, size, gqGetStream());
  return gqCudaStatus();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

gqStatus deviceCapture(gqStatus (*work)(void *context), void *context,
                       void **graph) {
  *graph = NULL;
  gqStatus status = gqGraphBegin();
  if (status != GQ_OK)
    return status;
  status = work(context);
  if (status == GQ_OK)
    return gqGraphEnd(graph);
  // A capture has to end. That this fails too is only a consequence.
  char message[512];
  snprintf(message, sizeof(message), "%s", gqGetLastErrorMessage());
  gqGraphEnd(graph);
  gqGraphDestroy(*graph);
  *graph = NULL;
  return gqFail(status, "%s", message);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

gqStatus stopwatchCreate(DLDevice device, Stopwatch *stopwatch) {
  *stopwatch = (Stopwatch){.isCuda = isCuda(device)};
  if (!stopwatch->isCuda)
    return GQ_OK;
  gqStatus status = gqEventCreate(&stopwatch->startEvent);
  return status == GQ_OK ? gqEventCreate(&stopwatch->stopEvent) : status;
}

void stopwatchDestroy(Stopwatch *stopwatch) {
  if (!stopwatch->isCuda)
    return;
  gqEventDestroy(stopwatch->startEvent);
  gqEventDestroy(stopwatch->stopEvent);
}

gqStatus stopwatchStart(Stopwatch *stopwatch) {
  if (stopwatch->isCuda)
    return gqEventRecord(stopwatch->startEvent);
  stopwatch->startTime = now();
  return GQ_OK;
}

gqStatus stopwatchStop(Stopwatch *stopwatch, double *microseconds) {
  if (!stopwatch->isCuda) {
    *microseconds = (now() - stopwatch->startTime) * 1e-3;
    return GQ_OK;
  }
  gqStatus status = gqEventRecord(stopwatch->stopEvent);
  if (status == GQ_OK)
    status = gqStreamStatus(gqGetStream());
  if (status != GQ_OK)
    return status;
  return gqEventElapsed(stopwatch->startEvent, stopwatch->stopEvent,
                        microseconds);
}

gqStatus stopwatchHostTime(const Stopwatch *stopwatch,
                           gqStatus (*callRepeatedly)(void *context, int count),
                           void *context, double *microseconds) {
  enum { NUM_TIMES = 30, NUM_CALLS = 50 };
  // The first call loads kernels.
  gqStatus status = callRepeatedly(context, 1);
  *microseconds = HUGE_VAL;
  for (int i = 0; i < NUM_TIMES && status == GQ_OK; ++i) {
    double start = now();
    status = callRepeatedly(context, NUM_CALLS);
    *microseconds = fmin(*microseconds, (now() - start) * 1e-3 / NUM_CALLS);
    if (status == GQ_OK && stopwatch->isCuda)
      status = gqSynchronize();
  }
  return status;
}

static int compareTimes(const void *a, const void *b) {
  double lhs = *(const double *)a, rhs = *(const double *)b;
  return (lhs > rhs) - (lhs < rhs);
}

double stopwatchMedian(double *times, size_t count) {
  qsort(times, count, sizeof(double), compareTimes);
  return (times[(count - 1) / 2] + times[count / 2]) / 2;
}
