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
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "gq/IR/GqDialect.h.inc"
#include "gq/IR/GqEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "gq/IR/GqAttrs.h.inc"

#define GET_OP_CLASSES
#include "gq/IR/GqOps.h.inc"

#endif // GQ_IR_GQ_H
