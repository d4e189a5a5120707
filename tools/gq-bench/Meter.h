//===- Meter.h - how long work takes -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a CUDA device: medians over replays of a graph of launches, measured by
// events in the stream, on a GPU that was busy just before. On the CPU the same
// launches are calls, measured by the clock, and the least time counts.
//
// Copies are made in two ways, the faster of which counts: by memcpy or
// cuMemcpyAsync, and by a kernel or, on the CPU, by memcpy in all threads. On
// an H200 cuMemcpyAsync falls from 4.25 to 2.7 TB/s at 512 MiB.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQBENCH_METER_H
#define GQ_TOOLS_GQBENCH_METER_H

#include "gq/Runtime/Executable.h"
#include "gq/Runtime/Status.h"
#include "tools/common/Device.h"

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>

/// How long and how often. Sizes are in bytes.
typedef struct MeterPlan {
  int replays, uncounted;
  /// When a measurement has taken so long, it ends after the replay, if one has
  /// counted.
  double seconds;
  /// The least launches of a replay.
  int64_t launches;
  double warmUpSeconds;
  /// The rest before each measurement. A card that has been busy for a second
  /// may be at its power limit, and slower for the next one.
  int pauseMilliseconds;
  /// Operands have no more bytes than this, unless two sets have.
  double room;
  /// The sizes of copies, doubling from the first to the last.
  size_t firstCopy, lastCopy;
} MeterPlan;

typedef struct Meter {
  DLDevice device;
  MeterPlan plan;
  /// Operands rotate through more than this many bytes.
  int64_t cacheSize;
  void *stream;
  Stopwatch stopwatch;
  /// What is copied, `room` bytes each.
  void *copyFrom, *copyTo;
  size_t room;
  /// Of the CPU.
  int numThreads;
  /// Inverts numbers one by one, which moves as many bytes as a copy. Null if
  /// it does not work.
  gqExecutable *kernel;
} Meter;

/// Sets the thread's stream until meterDestroy(), which must also be called
/// after a failure. Quick measurements only show that everything works.
gqStatus meterCreate(bool isCuda, bool isQuick, Meter *meter);
void meterDestroy(Meter *meter);

/// Compiles the kernel that copies, and looks at what it writes. Without it the
/// meter has one way to copy, and no launch.
gqStatus meterAddKernel(Meter *meter);

/// The i-th launch of a replay.
typedef gqStatus Work(void *context, int64_t i);

/// The launches that rotate through all of `sets` sets of operands, the same
/// number of times through each.
int64_t meterLaunches(const Meter *meter, int64_t sets);

/// The sets that are more than the cache holds, if a launch touches `bytes` of
/// a set of `size`.
int64_t meterSets(const Meter *meter, double bytes, double size);

/// Measures a launch, of `count` in a replay.
gqStatus meterMeasure(Meter *meter, Work *work, void *context, int64_t count,
                      double *microseconds);

/// Keeps the device busy for a while, so that its clocks go up.
gqStatus meterWarmUp(Meter *meter);

/// What a copy takes; 0 where it was not measured.
typedef struct CopyTimes {
  /// By memcpy or cuMemcpyAsync; by a kernel or by all threads.
  double memcpyMicroseconds, kernelMicroseconds;
} CopyTimes;

/// The lesser one.
double copyTimesBest(const CopyTimes *times);

/// Measures copies of `size` bytes within the device.
gqStatus meterCopy(Meter *meter, size_t size, CopyTimes *times);

/// Measures a launch that does nearly nothing; 0 without the kernel.
gqStatus meterLaunch(Meter *meter, double *microseconds);

#endif // GQ_TOOLS_GQBENCH_METER_H
