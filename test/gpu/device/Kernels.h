//===- Kernels.h - launching the test kernels --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_KERNELS_H
#define GQ_TEST_GPU_KERNELS_H

#include "Driver.h"
#include "Operands.h"

#include "gq/Runtime/Types.h"
#include "runtime_kernels/kernels/Launch.h"

/// A kernel and the multiprocessors there are for it.
typedef struct Kernel {
  Handle function;
  int multiprocessors;
} Kernel;

Kernel kernelGet(Handle module, const char *name, int device);

/// Launches a kernel with the one parameter at `operands`.
void launchKernel(Kernel kernel, int64_t ctas, int threads,
                  const void *operands, Handle stream);

/// A kernel of rows, on a grid of `ctas` CTAs, 0 for the grid that Launch.h
/// gives.
void launchRows(Kernel kernel, const QuantizeRowsOperands *o, unsigned ctas,
                Handle stream);

/// Puts scales at `linear`, [rows, scaleColumns] bytes without padding, into
/// the tiles of `o`.
void launchSwizzle(Kernel kernel, const QuantizeRowsOperands *o,
                   uint64_t linear, int64_t scaleColumns, unsigned ctas,
                   Handle stream);

/// Quantizes in two ops: with a kernel that knows no groups, then
/// launchSwizzle.
void launchTwoOps(Kernel block, Kernel swizzle, const QuantizeRowsOperands *o,
                  uint64_t linear, int64_t scaleColumns, Handle stream);

/// Tests of gq.group_offsets, a part of runTests; calls `report` for each.
void testOffsets(Handle module, int device,
                 void (*report)(bool ok, const char *name, const char *what));

/// What the commands of main.c do with the arguments after KERNELS. Of tests
/// these are the folder of golden files and perhaps "quick".
int runTests(Handle module, int device, int argc, char **argv);
int runBenchmark(Handle module, int device, int argc, char **argv);
int runTilesTests(Handle module, int device, int argc, char **argv);
int runTilesBenchmark(Handle module, int device, int argc, char **argv);
int runAmaxBenchmark(Handle module, int device, int argc, char **argv);
int runAmaxTests(Handle module, int device, int argc, char **argv);
int runDequantizeTests(Handle module, int device, int argc, char **argv);
int runDequantizeBenchmark(Handle module, int device, int argc, char **argv);
int runMmTests(Handle module, int device, int argc, char **argv);
int runWgradTests(Handle module, int device, int argc, char **argv);

#endif // GQ_TEST_GPU_KERNELS_H
