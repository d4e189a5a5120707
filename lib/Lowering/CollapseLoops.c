//===- CollapseLoops.c - gq-collapse-loops -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Support/Memory.h"
#include "Build.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

static MlirValue binary(const gqBuilder *builder, const char *name,
                        MlirValue lhs, MlirValue rhs) {
  MlirValue operands[] = {lhs, rhs};
  return gqBuildValue(builder, name, 2, operands, mlirValueGetType(lhs));
}

/// The number of operands in each of the four groups: lower bounds, upper
/// bounds, steps, initial values.
static intptr_t numLoops(MlirOperation parallel) {
  return mlirDenseI32ArrayGetElement(
      gqGetAttribute(parallel, "operandSegmentSizes"), 0);
}

/// Computes the induction variables from that of the new loop, the block's last
/// argument. `counts` are the numbers of iterations.
static void replaceVariables(MlirOperation parallel, MlirBlock body,
                             const MlirValue *counts) {
  intptr_t size = numLoops(parallel);
  gqBuilder builder = gqBuilderBefore(mlirBlockGetFirstOperation(body));
  builder.location = mlirOperationGetLocation(parallel);
  MlirValue rest = mlirBlockGetArgument(body, size);
  for (intptr_t i = size - 1; i >= 0; --i) {
    MlirValue number =
        i ? binary(&builder, "arith.remui", rest, counts[i]) : rest;
    if (i)
      rest = binary(&builder, "arith.divui", rest, counts[i]);
    MlirValue scaled = binary(&builder, "arith.muli", number,
                              mlirOperationGetOperand(parallel, 2 * size + i));
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i),
                                  binary(&builder, "arith.addi", scaled,
                                         mlirOperationGetOperand(parallel, i)));
  }
  for (intptr_t i = size - 1; i >= 0; --i)
    mlirBlockEraseArgument(body, (unsigned)i);
}

static void collapse(MlirOperation parallel) {
  intptr_t size = numLoops(parallel);
  gqBuilder builder = gqBuilderBefore(parallel);
  MlirType index = mlirIndexTypeGet(builder.context);
  MlirValue *counts = calloc((size_t)size, sizeof(MlirValue));
  if (!counts)
    gqOutOfMemory();
  MlirValue total = gqBuildConstant(&builder, index, 1);
  for (intptr_t i = 0; i < size; ++i) {
    MlirValue length = binary(&builder, "arith.subi",
                              mlirOperationGetOperand(parallel, size + i),
                              mlirOperationGetOperand(parallel, i));
    counts[i] = binary(&builder, "arith.ceildivsi", length,
                       mlirOperationGetOperand(parallel, 2 * size + i));
    total = binary(&builder, "arith.muli", total, counts[i]);
  }

  MlirRegion old = mlirOperationGetRegion(parallel, 0);
  MlirBlock body = mlirRegionGetFirstBlock(old);
  mlirBlockAddArgument(body, index, builder.location);
  replaceVariables(parallel, body, counts);
  free(counts);
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, old);
  gqBuildParallelLoop(&builder, total, region);
  mlirOperationDestroy(parallel);
}

/// Several loops on the host, without results.
static bool isNest(MlirOperation op) {
  return gqIsNamed(op, "scf.parallel") && numLoops(op) > 1 &&
         mlirOperationGetNumResults(op) == 0 && gqIsOnHost(op);
}

void gqCollapseLoops(MlirOperation root) {
  gqOpList nests = gqCollect(root, isNest);
  for (intptr_t i = 0; i < nests.size; ++i)
    collapse(nests.ops[i]);
  gqOpListFree(&nests);
}
