//===- CpuGroupedBlockQuantize.h - quantizing groups on the CPU --*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the ops that quantize groups, which have one list of operands.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUGROUPEDBLOCKQUANTIZE_H
#define GQ_LIB_RUNTIME_CPUGROUPEDBLOCKQUANTIZE_H

#include "CpuCheck.h"
#include "CpuTiles.h"

#include "gq/Runtime/Cpu.h"

#include <stddef.h>

/// Checks that the operands with these offsets in the struct are absent.
bool gqCpuCheckAbsent(gqCpuOp *op,
                      const gqGroupedBlockQuantizeOperands *operands,
                      size_t count, const size_t *offsets);

/// Checks the operands and does it. Of a format with a single scale, the recipe
/// says whether `outerAmax` is given rather than `scale`. `directions` are the
/// rowwise and the columnwise one.
void gqCpuQuantizeGroups(gqCpuOp *op,
                         const gqGroupedBlockQuantizeOperands *operands,
                         gqCpuMethod method, gqRows rows,
                         const gqDirectionTraits directions[2]);

#endif // GQ_LIB_RUNTIME_CPUGROUPEDBLOCKQUANTIZE_H
