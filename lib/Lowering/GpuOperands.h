//===- GpuOperands.h - what a launch asks of its operands --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_GPUOPERANDS_H
#define GQ_LIB_LOWERING_GPUOPERANDS_H

#include "Build.h"

/// Builds calls of the runtime that check the operands of `op`, which has been
/// verified: that dynamic extents are what the op requires, and that what it
/// writes overlaps nothing else. Kernels check the contents of memory. False
/// after an error.
bool gqBuildOperandChecks(const gqBuilder *builder, MlirOperation module,
                          MlirOperation op);

/// The same of a gq.grouped_mm whose outputs are quantized by the
/// gq.grouped_block_quantize behind: what is between them has no memory.
bool gqBuildRequantizationChecks(const gqBuilder *builder, MlirOperation module,
                                 MlirOperation mm, MlirOperation quantization);

#endif // GQ_LIB_LOWERING_GPUOPERANDS_H
