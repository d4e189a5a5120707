//===- Ops.h - what Dialect.cpp calls -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification, canonicalization and speculation, which ODS declares and C
// defines.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_IR_OPS_H
#define GQ_LIB_IR_OPS_H

#include "mlir-c/Rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

MlirLogicalResult gqBlockQuantizeVerify(MlirOperation op);
MlirLogicalResult gqPreprocessGroupedMatmulSfVerify(MlirOperation op);
MlirLogicalResult gqGroupedBlockQuantizeVerify(MlirOperation op);
MlirLogicalResult gqGroupedAmaxVerify(MlirOperation op);
MlirLogicalResult gqGroupedQuantizeVerify(MlirOperation op);
MlirLogicalResult gqUpdateScalesVerify(MlirOperation op);
MlirLogicalResult gqGroupOffsetsVerify(MlirOperation op);
MlirLogicalResult gqGroupedMmVerify(MlirOperation op);
MlirLogicalResult gqGroupedWgradVerify(MlirOperation op);
MlirLogicalResult gqBlockDequantizeVerify(MlirOperation op);
MlirLogicalResult gqGroupedDequantizeVerify(MlirOperation op);

/// The version of the dialect in bytecode. It changes where an op gets an
/// operand or what is there changes its meaning: attributes are stored by name,
/// but how many operands there are of each kind by position.
enum { GQ_BYTECODE_VERSION = 1 };

/// Whether an op that runs where the program would not run it, such as before a
/// loop that may have no iteration, could not be noticed. Offsets, row indices
/// and extents that are dynamic may be wrong, which fails.
bool gqCannotFail(MlirOperation op);

/// Replaces any gq op over zero rows by its `outs`: no row means no data, no
/// scale and no group that owns padding.
MlirLogicalResult gqCanonicalizeZeroRows(MlirOperation op,
                                         MlirPatternRewriter rewriter);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_IR_OPS_H
