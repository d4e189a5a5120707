//===- Device.h - arguments, results and times on a target -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU or the current CUDA device, behind the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_COMMON_DEVICE_H
#define GQ_TOOLS_COMMON_DEVICE_H

#include "gq/Runtime/Status.h"

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>

/// The device that a target's tensors are on. Errors: those of gqGetDevice().
gqStatus deviceOf(bool isCuda, DLDevice *device);

/// Memory for `size` bytes, to be freed with deviceFree.
gqStatus deviceAlloc(DLDevice device, size_t size, void **memory);
void deviceFree(DLDevice device, void *memory);

gqStatus deviceWrite(DLDevice device, void *target, const void *source,
                     size_t size);
gqStatus deviceRead(DLDevice device, void *target, const void *source,
                    size_t size);

/// Copies within the device; on a CUDA device this only puts the copy into the
/// stream.
gqStatus deviceCopy(DLDevice device, void *target, const void *source,
                    size_t size);

/// Captures what `work` puts into the stream of this thread in a CUDA graph.
/// On failure, of `work` too, `*graph` is null and nothing is being captured.
gqStatus deviceCapture(gqStatus (*work)(void *context), void *context,
                       void **graph);

/// Measures what happens between start and stop: on the CPU by its clock, on a
/// CUDA device by events in the stream.
typedef struct Stopwatch {
  bool isCuda;
  /// Nanoseconds.
  double startTime;
  void *startEvent, *stopEvent;
} Stopwatch;

gqStatus stopwatchCreate(DLDevice device, Stopwatch *stopwatch);
void stopwatchDestroy(Stopwatch *stopwatch);
gqStatus stopwatchStart(Stopwatch *stopwatch);

/// Waits for what was measured, and says if a kernel found something wrong
/// with its data.
gqStatus stopwatchStop(Stopwatch *stopwatch, double *microseconds);

/// The time that a call takes the host: the best mean of several calls, as many
/// as a stream's queue holds, none of which is waited for. `callRepeatedly`
/// makes `count` of them. On the CPU a call is all that it does.
gqStatus stopwatchHostTime(const Stopwatch *stopwatch,
                           gqStatus (*callRepeatedly)(void *context, int count),
                           void *context, double *microseconds);

/// The median of `count` times, which it sorts.
double stopwatchMedian(double *times, size_t count);

#endif // GQ_TOOLS_COMMON_DEVICE_H
