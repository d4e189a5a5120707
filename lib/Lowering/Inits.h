//===- Inits.h - the outs of linalg.generic -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_INITS_H
#define GQ_LIB_LOWERING_INITS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Whether the body of a linalg.generic does not use the initial value of its
/// operand `operand`, which is one of its 'outs'.
bool gqIsInitUnread(MlirOperation generic, intptr_t operand);

/// Replaces a tensor operand by a tensor.empty of its extents.
void gqFreshenInit(MlirOperation op, intptr_t operand);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_INITS_H
