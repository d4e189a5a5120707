//===- GpuOperands.h - what a launch asks of its operands --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_GPUOPERANDS_H
#define GQ_LIB_LOWERING_GPUOPERANDS_H

#include "Build.h"

/// Builds calls of the runtime that check the operands of `op`, which has
/// verified: that extents which were dynamic are those that the op asks for,
/// and that what it writes overlaps nothing else. What is in memory the kernels
/// look at. False after an error.
bool gqBuildOperandChecks(const gqBuilder *builder, MlirOperation module,
                          MlirOperation op);

#endif // GQ_LIB_LOWERING_GPUOPERANDS_H
