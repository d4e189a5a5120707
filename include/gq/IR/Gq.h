//===- Gq.h - C++ classes of the gq dialect --------------------*- C++ -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_IR_GQ_H
#define GQ_IR_GQ_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

/// What an operand must be: verification of the dialect knows more of it.
struct gqOperandType;

// libgq.so exports the classes below, and nothing of MLIR.
#pragma GCC visibility push(default)

namespace gq {
/// Verifies types and number of the operands and results of an op of the
/// dialect; `types` has a row for each position in its list of
/// gq/Runtime/Ops.def.
::llvm::LogicalResult verifyOperandTypes(::mlir::Operation *op,
                                         const gqOperandType *types);

/// The trait of ops that do so.
template <typename ConcreteOp>
class OperandTypes
    : public ::mlir::OpTrait::TraitBase<ConcreteOp, OperandTypes> {
public:
  static ::llvm::LogicalResult verifyTrait(::mlir::Operation *op) {
    return verifyOperandTypes(op, ConcreteOp::getOperandTypes());
  }
};
} // namespace gq

#include "gq/IR/GqDialect.h.inc"
#include "gq/IR/GqEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "gq/IR/GqAttrs.h.inc"

#define GET_OP_CLASSES
#include "gq/IR/GqOps.h.inc"

#pragma GCC visibility pop

#endif // GQ_IR_GQ_H
