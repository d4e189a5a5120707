//===- GpuKernel.h - kernels and their launches ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel calls the device function of its family (runtime_kernels/kernels/),
// which the bitcode of the chip provides, with the op's attributes as
// constants; inlining makes it the kernel for just this op. It is a gpu.module
// of its own.
//
// From the list of the family's operands come the struct that the lowering
// fills by name and, in the order of the list, the declaration, the call and
// the launch. Kernel and launch use LLVM pointers and integers: memref
// descriptors would become parameters that nothing reads.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_GPUKERNEL_H
#define GQ_LIB_LOWERING_GPUKERNEL_H

#include "GpuHooks.h"

#include "runtime_kernels/kernels/Launch.h"

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

// The value of an operand, by its role. All zeros means not given.

/// HOOK: what is read, and how.
typedef struct gqGpuHook {
  gqGpuInput inputs[GQ_MAX_INPUTS];
  /// i64, in elements: 0 for one row.
  MlirValue addresses[GQ_MAX_INPUTS], strides[GQ_MAX_INPUTS];
  intptr_t numInputs;
  gqGpuProducer producer;
  /// The width of the row indices; 0 if there are none.
  int32_t rowIndexBits;
} gqGpuHook;

/// FUNCTION: an op's epilogue, of which the kernel gets a gq_epilogue, or null.
typedef struct gqGpuFunction {
  bool given;
  MlirRegion epilogue;
} gqGpuFunction;

/// INPUT, OUTPUT: an i64, or null for a null pointer.
typedef struct gqGpuAddress {
  bool given;
  MlirValue value;
} gqGpuAddress;

/// EXTENT, SIZE: an i64, and its value where that is static; GQ_DYNAMIC
/// elsewhere.
typedef struct gqExtent {
  MlirValue value;
  int64_t fixed;
} gqExtent;

/// CONSTANT, LAUNCH_CONSTANT
typedef struct gqGpuConstant {
  bool given;
  int32_t value;
} gqGpuConstant;

/// Of each family gq<Name>Operands: its operands, which are filled by name.
#define GQ_GPU_OPERAND(ROLE, TYPE, NAME)                                       \
  GQ_IF_HOOK_##ROLE(gqGpuHook NAME;)                                           \
      GQ_IF_FUNCTION_##ROLE(gqGpuFunction NAME;)                               \
          GQ_IF_ADDRESS_##ROLE(gqGpuAddress NAME;)                             \
              GQ_IF_NUMBER_##ROLE(gqExtent NAME;)                              \
                  GQ_IF_CONSTANT_##ROLE(gqGpuConstant NAME;)
#define GQ_GPU_DECLARE_OPERANDS(FAMILY, NAME, FUNCTION, THREADS)               \
  typedef struct gq##NAME##Operands {                                          \
    GQ_##FAMILY##_OPERANDS(GQ_GPU_OPERAND)                                     \
  } gq##NAME##Operands;
GQ_KERNEL_FAMILIES(GQ_GPU_DECLARE_OPERANDS)

/// Adds an input to what a hook reads. `map` is null without a producer. A
/// buffer of rank 1 is one row.
void gqGpuHookAddInput(gqGpuHook *hook, const gqBuilder *builder,
                       MlirValue buffer, MlirAffineMap map);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// How to launch a kernel: a gqLaunchPlan of i64.
typedef struct gqGpuPlan {
  MlirValue grid, workspace;
} gqGpuPlan;

/// Calls gqPlanLaunch, which gqGpuDeclarePlan declares. `operands` is the
/// family's struct, of which only what the launch depends on has to be there.
gqGpuPlan gqGpuBuildPlan(const gqBuilder *builder, gqKernelFamily family,
                         const void *operands);

/// False, after an error, if the module has something else of that name.
bool gqGpuDeclarePlan(MlirOperation module);

typedef struct gqGpuKernel {
  /// Of the gpu.module, and of the kernel in it.
  const char *symbol, *name;
  gqKernelFamily family;
  /// The family's struct.
  const void *operands;
  gq_dev_bounds bounds;
} gqGpuKernel;

/// Makes the gpu.module, at the beginning of `module`, and launches the kernel
/// where `builder` is, with `grid` CTAs, an i64, on `stream`. False, after an
/// error, if an operand was not given.
bool gqGpuKernelLaunch(const gqGpuKernel *kernel, const gqBuilder *builder,
                       MlirOperation module, MlirValue grid, MlirValue stream);

#endif // GQ_LIB_LOWERING_GPUKERNEL_H
