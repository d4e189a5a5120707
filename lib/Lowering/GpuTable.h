//===- GpuTable.h - a part of a producer that is tabulated -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_GPUTABLE_H
#define GQ_LIB_LOWERING_GPUTABLE_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/// A producer cut in two where that saves what takes long: a function of one
/// input of bf16, which a kernel can tabulate
/// (runtime_kernels/kernels/Table.h), and the rest, whose last argument is the
/// function's value.
typedef struct gqGpuTable {
  /// Of the inputs, that of the function.
  int input;
  /// Owned.
  MlirRegion function, rest;
} gqGpuTable;

/// Cuts a producer whose inputs are of bf16 after the last f32 or bf16 of what
/// depends on one of them. False if it has no such function, or several, if the
/// rest has an exact division or function, if there are operations other than
/// plain arithmetic, or if the two parts may be contracted to one operation;
/// then there is nothing to free.
bool gqGpuTableCut(MlirRegion producer, gqGpuTable *table);

void gqGpuTableFree(gqGpuTable *table);

#endif // GQ_LIB_LOWERING_GPUTABLE_H
