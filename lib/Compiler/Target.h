//===- Target.h - what a module is compiled for ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_TARGET_H
#define GQ_LIB_COMPILER_TARGET_H

#include "../Support/Text.h"
#include "gq/Runtime/Cuda.h"
#include "gq/Runtime/Executable.h"

typedef struct gqTarget {
  bool isCuda;
  /// Of the kernels, such as "sm_90a"; empty on the CPU.
  char chip[GQ_CHIP_SIZE];
  /// "fatbin", or "isa" where there is no CUDA toolkit: then the driver
  /// compiles the PTX.
  const char *imageFormat;
} gqTarget;

/// Reads target and chip from `options`, which may ask for the device's.
/// Errors: GQ_INVALID_ARGUMENT, and those of gqDeviceChip().
gqStatus gqTargetCreate(const gqCompileOptions *options, gqTarget *target);

/// Appends the pass pipeline for the target.
void gqTargetWritePipeline(const gqTarget *target,
                           const gqCompileOptions *options, gqText *pipeline);

#endif // GQ_LIB_COMPILER_TARGET_H
