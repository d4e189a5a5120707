//===- Driver.h - what the emulated driver launches --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_EMULATED_DRIVER_H
#define GQ_TEST_GPU_EMULATED_DRIVER_H

#include <stddef.h>

/// A kernel that is compiled for the CPU, and the bytes of its one parameter.
typedef struct EmulatedKernel {
  const char *name;
  void (*function)(const void *operands);
  size_t size;
} EmulatedKernel;

/// Those of the program; the last one has no name.
extern const EmulatedKernel emulatedKernels[];

#endif // GQ_TEST_GPU_EMULATED_DRIVER_H
