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

/// Launch on a grid of `ctas` CTAs, 0 for the grid that Launch.h gives.
/// Kernels that know groups, and those that do not.
void launchGrouped(Kernel kernel, const Operands *o, unsigned ctas,
                   Handle stream);
void launchBlock(Kernel kernel, const Operands *o, unsigned ctas,
                 Handle stream);

/// What the commands of main.c do with the arguments after KERNELS. Of tests
/// these are the folder of golden files and perhaps "quick".
int runTests(Handle module, int device, int argc, char **argv);
int runBenchmark(Handle module, int device, int argc, char **argv);
int runTilesTests(Handle module, int device, int argc, char **argv);
int runTilesBenchmark(Handle module, int device, int argc, char **argv);

#endif // GQ_TEST_GPU_KERNELS_H
