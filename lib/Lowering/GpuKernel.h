//===- GpuKernel.h - kernels and their launches ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel calls one function of runtime_kernels/kernels/, which the bitcode of
// the chip provides, with the op's attributes as constants; inlining makes it
// the kernel for just this op. It is a gpu.module of its own.
//
// Both the kernel and the launch work on LLVM pointers and integers: memref
// descriptors would become parameters that nobody reads. So the list of the
// function's arguments makes the text of the kernel and the launch at once.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_GPUKERNEL_H
#define GQ_LIB_LOWERING_GPUKERNEL_H

#include "GpuHooks.h"

enum { GQ_GPU_MAX_PARAMETERS = 48 };

/// A text that grows; what `file` was given is in `text` once it is closed.
typedef struct gqText {
  FILE *file;
  char *text;
  size_t length;
} gqText;

enum {
  /// The kernel's parameters: declared, and as names and types of a call.
  GQ_GPU_TEXT_PARAMETERS,
  GQ_GPU_TEXT_PARAMETER_NAMES,
  GQ_GPU_TEXT_PARAMETER_TYPES,
  /// The arguments of the device function after the hook and its inputs, and
  /// the constants among them.
  GQ_GPU_TEXT_ARGUMENTS,
  GQ_GPU_TEXT_ARGUMENT_TYPES,
  GQ_GPU_TEXT_CONSTANTS,
  GQ_GPU_NUM_TEXTS
};

/// An i64, and its value where that is static; GQ_DYNAMIC elsewhere.
typedef struct gqExtent {
  MlirValue value;
  int64_t fixed;
} gqExtent;

/// A kernel under construction.
typedef struct gqGpuKernel {
  /// The device function is called gq_dev_<function>, the kernel <name>.
  const char *name, *function;
  const gqBuilder *builder;
  gqText texts[GQ_GPU_NUM_TEXTS];
  intptr_t numParameters;
  MlirValue parameters[GQ_GPU_MAX_PARAMETERS];
  gqGpuInput inputs[GQ_MAX_INPUTS];
  intptr_t numInputs;
  /// Computes an element from those of the inputs; null if there is none.
  MlirRegion producer;
  /// The width of the row indices; 0 if there are none.
  int32_t rowIndexBits;
  /// Threads of a CTA.
  int32_t threads;
  /// CTAs that the registers of a multiprocessor must suffice for, 0 for as
  /// many as the assembler sees fit.
  int32_t minCtas;
} gqGpuKernel;

/// Begins a kernel that is launched where `builder` is. `name` and `function`
/// outlive it. Ends with gqGpuKernelLaunch.
gqGpuKernel gqGpuKernelBegin(const gqBuilder *builder, const char *name,
                             const char *function, int32_t threads);

/// Adds an input: what the hook loads from, not an argument of the function.
/// `map` is null without a producer. A buffer of rank 1 is one row.
void gqGpuKernelAddInput(gqGpuKernel *kernel, MlirValue buffer,
                         MlirAffineMap map);

/// The next argument of the function: a pointer to global memory from an i64
/// address, null where `address` is null,
void gqGpuKernelPassPointer(gqGpuKernel *kernel, const char *name,
                            MlirValue address);

/// an i64,
void gqGpuKernelPassInteger(gqGpuKernel *kernel, const char *name,
                            MlirValue value);

/// a constant of type `type`, i32 or i64,
void gqGpuKernelPassConstant(gqGpuKernel *kernel, const char *name,
                             const char *type, int64_t value);

/// an i64 that is a constant where it is static.
void gqGpuKernelPassExtent(gqGpuKernel *kernel, const char *name,
                           gqExtent extent);

/// Makes the gpu.module, called `symbol`, at the beginning of `module`, and
/// launches the kernel with `grid` CTAs, an i64, on `stream`. Returns false,
/// without an error message, if the kernel does not parse.
bool gqGpuKernelLaunch(gqGpuKernel *kernel, MlirOperation module,
                       const char *symbol, MlirValue grid, MlirValue stream);

#endif // GQ_LIB_LOWERING_GPUKERNEL_H
