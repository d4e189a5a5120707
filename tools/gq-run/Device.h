//===- Device.h - arguments, results and times on a target -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU or the current CUDA device, behind the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQRUN_DEVICE_H
#define GQ_TOOLS_GQRUN_DEVICE_H

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

#endif // GQ_TOOLS_GQRUN_DEVICE_H
