//===- BuildTensor.h - building ops on tensors --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes build that make an op of its own of a region.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_BUILDTENSOR_H
#define GQ_LIB_LOWERING_BUILDTENSOR_H

#include "Build.h"

#ifdef __cplusplus
extern "C" {
#endif

/// tensor.dim
MlirValue gqBuildDim(const gqBuilder *builder, MlirValue tensor, int64_t dim);

/// Appends to an empty or unterminated block.
gqBuilder gqBuilderAtEnd(const gqBuilder *builder, MlirBlock block);

/// Ends the block with `name` of one value, such as "linalg.yield".
void gqBuildTerminator(const gqBuilder *builder, const char *name,
                       MlirValue value);

/// linalg.generic, element-wise over the extents of `out`. Takes over `body`.
MlirValue gqBuildGeneric(const gqBuilder *builder, intptr_t numInputs,
                         const MlirValue *inputs,
                         const MlirAttribute *inputMaps, MlirValue out,
                         MlirRegion body);

/// linalg.index, in the body of one.
MlirValue gqBuildLinalgIndex(const gqBuilder *builder, int64_t dim);

/// scf.if of one result, for whose two empty branches `branches` append.
MlirValue gqBuildIf(const gqBuilder *builder, MlirValue condition,
                    MlirType result, gqBuilder branches[2]);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_BUILDTENSOR_H
