//===- ElementType.h - element types of MLIR and of gq ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_IR_ELEMENTTYPE_H
#define GQ_LIB_IR_ELEMENTTYPE_H

#include "gq/Runtime/Types.h"

#include "mlir-c/IR.h"

/// The gqElementType of a scalar type as it lies in memory, an index being
/// 64 bits; false if there is none. Elements of f4E2M1FN have no memory of
/// their own before they are packed.
bool gqElementTypeOf(MlirType type, gqElementType *result);

#endif // GQ_LIB_IR_ELEMENTTYPE_H
