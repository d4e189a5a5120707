//===- FuseQuantization.h - a quantization behind a matmul --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_FUSEQUANTIZATION_H
#define GQ_LIB_LOWERING_FUSEQUANTIZATION_H

#include "Lists.h"

/// Of gq.grouped_mm ops on memrefs, those whose kernels can quantize their
/// outputs as the gq.grouped_block_quantize behind does, and these, in the same
/// order.
typedef struct gqRequantizations {
  gqOpList mms, quantizations;
} gqRequantizations;

/// Finds them in `module`. A remark says what is fused, and of what else reads
/// a product to quantize it why it is not.
gqRequantizations gqFindRequantizations(MlirOperation module);

void gqRequantizationsFree(gqRequantizations *all);

/// The quantization behind `mm`; null if it is none of these matmuls.
MlirOperation gqRequantizationBehind(const gqRequantizations *all,
                                     MlirOperation mm);

/// Destroys an op of `mms`, the quantization behind it, and the memory of what
/// was between them.
void gqDestroyRequantization(MlirOperation mm, MlirOperation quantization);

#endif // GQ_LIB_LOWERING_FUSEQUANTIZATION_H
