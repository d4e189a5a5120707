//===- Kernels.h - launching the test kernels --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_KERNELS_H
#define GQ_TEST_GPU_KERNELS_H

#include "Driver.h"

#include "gq/Runtime/Types.h"
#include "runtime_kernels/device/Launch.h"

/// Operands of a grouped kernel, on the device.
typedef struct Operands {
  DevicePtr input;
  int64_t inputStride;
  int64_t rows, columns;
  DevicePtr offsets;
  int64_t numOffsets;
  DevicePtr scaleOffsets;
  int64_t groups;
  DevicePtr globalScale;
  DevicePtr data;
  int64_t dataStride;
  DevicePtr scales;
  int64_t scaleRows;
  DevicePtr status;
  /// Of the kernels that gather.
  DevicePtr rowIndices;
  int64_t sourceRows;
  /// Of the two-op path.
  DevicePtr linear;
} Operands;

/// A kernel and the multiprocessors there are for it.
typedef struct Kernel {
  Handle function;
  int multiprocessors;
} Kernel;

Kernel kernelGet(Handle module, const char *name, int device);

/// Launches on a grid of `ctas` CTAs, 0 for the grid that Launch.h gives.
void launchGrouped(Kernel kernel, const Operands *o, unsigned ctas,
                   Handle stream);
void launchBlock(Kernel kernel, const Operands *o, unsigned ctas,
                 Handle stream);
void launchPreprocess(Kernel kernel, const Operands *o, unsigned ctas,
                      Handle stream);

int runTests(Handle module, int device, const char *golden, int quick);
int runBenchmark(Handle module, int device, int argc, char **argv);
int runTilesTests(Handle module, int device, const char *golden, int quick);
int runTilesBenchmark(Handle module, int device, int argc, char **argv);

#endif // GQ_TEST_GPU_KERNELS_H
