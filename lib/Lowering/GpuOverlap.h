//===- GpuOverlap.h - operands of a launch must not overlap ------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_GPUOVERLAP_H
#define GQ_LIB_LOWERING_GPUOVERLAP_H

#include "Build.h"

/// Builds calls of the runtime that check where the operands of `op` are: what
/// it writes overlaps nothing else. False after an error.
bool gqBuildOverlapCheck(const gqBuilder *builder, MlirOperation module,
                         MlirOperation op);

#endif // GQ_LIB_LOWERING_GPUOVERLAP_H
