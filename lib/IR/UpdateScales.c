//===- UpdateScales.c - gq.update_scales --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

GQ_DEFINE_OP_OF_ROWS(UpdateScales)

MlirLogicalResult gqUpdateScalesVerify(MlirOperation op) {
  gqUpdateScales desc = gqUpdateScalesGet(op);
  int64_t steps = gqDim(desc.history, 0), groups = gqDim(desc.amax, 0);
  gqUnify(&groups, gqDim(desc.history, 1));
  gqUnify(&groups, gqDim(desc.scale, 0));
  int64_t history[] = {steps, groups};
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  bool valid = gqCheckTensorFormat(op, desc.format) && // (C4)
               (steps != 0 ||                          // (C5)
                gqOpError(op, "requires 'history' to have a row")) &&
               gqCheckExtents(op, "amax", desc.amax, &groups) &&
               gqCheckExtents(op, "history", desc.history, history) &&
               gqCheckExtents(op, "scale", desc.scale, &groups) &&
               ((desc.margin >= 0 && desc.margin <= GQ_MAX_MARGIN) || // (C6)
                gqOpError(op, "requires 'margin' to lie in [0, %d], but got %d",
                          GQ_MAX_MARGIN, (int)desc.margin)) &&
               gqCheckStorage(op, "amax", desc.amax, linear, true) && // (C7)
               gqCheckStorage(op, "history", desc.history, linear, true) &&
               gqCheckStorage(op, "scale", desc.scale, linear, true);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
