//===- Bench.h - timing on a GPU ---------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_BENCH_H
#define GQ_TEST_GPU_BENCH_H

#include "Driver.h"

typedef struct Bench {
  int device, multiprocessors;
  int64_t l2;
  Handle stream, begin, end;
  /// Bytes a second of the best copy, read and written bytes counted.
  double peak;
} Bench;

/// Measures the peak copy and prints it.
Bench benchOpen(int device);

/// The i-th of the launches that a graph consists of.
typedef void Work(void *context, int i, Handle stream);

/// Microseconds a launch.
double measure(Bench *b, Work *work, void *context);

/// Microseconds of a copy that reads and writes `bytes` in all.
double measureCopy(Bench *b, double bytes);

DevicePtr allocate(int64_t bytes);

/// Fills memory with bf16 of both signs and magnitudes around 1, as activations
/// have.
void fill(DevicePtr to, int64_t bytes, Handle stream);

typedef struct Shape {
  int64_t rows, columns, groups;
} Shape;

/// Uneven groups, the same whenever it is called: times depend on how many rows
/// the last 16, 32 and 128 of a group are short of.
void randomOffsets(Shape s, int32_t *offsets, int32_t *scaleOffsets,
                   int64_t *scaleRows);

#endif // GQ_TEST_GPU_BENCH_H
