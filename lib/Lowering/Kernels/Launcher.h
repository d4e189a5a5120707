//===- Launcher.h - what launches of kernels share ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the operands of kernels (GpuKernel.h) from those of ops.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_KERNELS_LAUNCHER_H
#define GQ_LIB_LOWERING_KERNELS_LAUNCHER_H

#include "../../IR/Checks.h"
#include "../../IR/ElementType.h"
#include "../Functions.h"
#include "../GpuKernel.h"
#include "../Query.h"

#include "gq-c/Dialect.h"

/// What the kernels of an op share.
typedef struct gqLauncher {
  MlirOperation module;
  gqBuilder builder;
  /// Of the calling thread.
  MlirValue stream;
  /// Kernels so far.
  int32_t *number;
  /// What they are for, such as sm_90a.
  const char *chip;
} gqLauncher;

/// A launcher whose launches are where `op` is. `number` counts kernels.
gqLauncher gqLauncherAt(MlirOperation module, MlirOperation op, int32_t *number,
                        const char *chip);

/// Launches a kernel of a family, whose struct of operands this is.
bool gqLaunchKernel(const gqLauncher *launcher, gqKernelFamily family,
                    const char *name, const void *operands,
                    gq_dev_bounds bounds);

/// The same with a plan that was built before, for the sake of its workspace.
bool gqLaunchPlanned(const gqLauncher *launcher, gqKernelFamily family,
                     const char *name, const void *operands,
                     gq_dev_bounds bounds, gqGpuPlan plan);

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

gqExtent gqFixedExtent(const gqLauncher *launcher, int64_t extent);

/// `extent` of a buffer times a constant.
gqExtent gqBuildExtent(const gqLauncher *launcher, MlirValue buffer,
                       intptr_t dim, int64_t factor);

/// How many elements an entry of `data` is.
int64_t gqElementsOf(MlirValue data);

/// M (`dim` 0) or K (1) of an op on groups of rows.
gqExtent gqFindExtent(const gqLauncher *launcher,
                      const gqGroupedBlockQuantize *desc, intptr_t dim);

/// The entries of an optional operand of one dimension.
gqExtent gqBuildCount(const gqLauncher *launcher, MlirValue buffer);

/// G. Without offsets all rows are one group.
gqExtent gqBuildGroups(const gqLauncher *launcher, MlirValue offsets,
                       MlirValue scaleOffsets);

/// The width of a buffer's integers; any width if there is no buffer.
int32_t gqIntegerBits(MlirValue buffer);

/// The element type of an optional buffer; any type if it is absent.
gqElementType gqBufferType(MlirValue buffer);

/// The address of an optional operand.
gqGpuAddress gqBuildAddress(const gqLauncher *launcher, MlirValue buffer);

/// That of an operand which is absent.
static const gqGpuAddress gqNoAddress = {.given = true};

/// The type of the elements that an epilogue takes; without one, of `out`.
gqElementType gqValueType(MlirRegion epilogue, MlirValue out);

/// The address of the stream's status word.
gqGpuAddress gqBuildStatusWord(const gqLauncher *launcher);

/// An operation on extents, a constant where both are.
gqExtent gqBuildArithmetic(const gqLauncher *launcher, const char *name,
                           gqExtent a, gqExtent b, int64_t fixed);

/// The lesser of two extents.
gqExtent gqBuildLesser(const gqLauncher *launcher, gqExtent a, gqExtent b);

/// The bytes from one row of an optional operand to the next; 0 if it is flat.
gqExtent gqBuildStride(const gqLauncher *launcher, MlirValue buffer);

/// gqBuildStride, of a matrix; a constant where it is static.
gqExtent gqBuildRowStride(const gqLauncher *launcher, MlirValue matrix,
                          int64_t elementSize);

/// The number of elements of an optional operand without gaps.
gqExtent gqBuildSize(const gqLauncher *launcher, MlirValue buffer);

/// The number of rows that each input which is read by index has.
gqExtent gqBuildSourceRows(const gqLauncher *launcher,
                           const gqGroupedBlockQuantize *desc);

gqGpuConstant gqConstant(int32_t value);

/// The width of the row indices; 0 without any.
int32_t gqRowIndexBits(const gqGroupedBlockQuantize *desc);

/// What reads the elements of an op, by its producer if it has one.
gqGpuHook gqBuildHook(const gqLauncher *launcher,
                      const gqGroupedBlockQuantize *desc);

/// The type in which the elements to quantize are exact.
gqElementType gqHeldType(const gqGroupedBlockQuantize *desc);

/// The attribute of a direction as the kernels take it.
int32_t gqPackedTraits(const gqDirection *direction);

/// memref.alloc of `bytes`, an i64.
MlirValue gqBuildAlloc(const gqBuilder *builder, MlirValue bytes,
                       int64_t fixed);

void gqBuildDealloc(const gqBuilder *builder, MlirValue buffer);

#endif // GQ_LIB_LOWERING_KERNELS_LAUNCHER_H
