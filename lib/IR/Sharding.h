//===- Sharding.h - what of an op can be on several devices -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_IR_SHARDING_H
#define GQ_LIB_IR_SHARDING_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The loops of an op whose iterations need nothing of each other. All further
/// ones are of one dimension of one operand each, which stays whole.
enum { GQ_LOOP_ROWS, GQ_LOOP_COLUMNS, GQ_NUM_SHARED_LOOPS };

/// How many loops an op on tensors has.
intptr_t gqNumLoops(MlirOperation op);

/// The loop that goes along a dimension of an operand, by its number in the
/// operation.
intptr_t gqLoopOf(MlirOperation op, intptr_t operand, intptr_t dim);

#ifdef __cplusplus
}

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace gq {
/// Attaches upstream's ShardingInterface to all ops.
void attachSharding(mlir::MLIRContext *context);
} // namespace gq
#endif

#endif // GQ_LIB_IR_SHARDING_H
