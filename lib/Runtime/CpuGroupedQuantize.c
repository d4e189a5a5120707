//===- CpuGroupedQuantize.c - gq.grouped_quantize on the CPU -------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuGroupedBlockQuantize.h"

#include <stddef.h>
#include <string.h>

void gqCpuGroupedQuantize(const gqGroupedQuantizeOperands *operands,
                          int32_t format, int32_t rows) {
  static const size_t absent[] = {
      offsetof(gqGroupedBlockQuantizeOperands, scales),
      offsetof(gqGroupedBlockQuantizeOperands, columnwiseScales),
      offsetof(gqGroupedBlockQuantizeOperands, scaleOffsets),
      offsetof(gqGroupedBlockQuantizeOperands, scaleOffsetsOut),
      offsetof(gqGroupedBlockQuantizeOperands, globalScale),
      offsetof(gqGroupedBlockQuantizeOperands, columnwiseOuterAmax),
      offsetof(gqGroupedBlockQuantizeOperands, rngState),
      offsetof(gqGroupedBlockQuantizeOperands, rowAmax)};
  static const gqDirectionTraits usual[2];
  // One list makes both structs.
  gqGroupedBlockQuantizeOperands same;
  _Static_assert(sizeof(same) == sizeof(*operands), "one list");
  memcpy(&same, operands, sizeof(same));
  bool hasAmax = !gqBufferIsAbsent(&same.outerAmax);
  gqCpuOp op;
  if (!gqCpuBegin(&op, "grouped_quantize"))
    return;
  if (gqCpuCheckTensorFormat(&op, format) && gqCpuCheckRows(&op, rows) &&
      gqCpuCheckAbsent(&op, &same, sizeof(absent) / sizeof(*absent), absent) &&
      (hasAmax == gqBufferIsAbsent(&same.scale) ||
       gqCpuFail(&op, GQ_INVALID_ARGUMENT,
                 "expected one of scale and outer_amax")))
    gqCpuQuantizeGroups(
        &op, &same,
        (gqCpuMethod){(gqFormat)format,
                      hasAmax ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER,
                      GQ_SCALE_LAYOUT_LINEAR},
        (gqRows)rows, usual);
  gqCpuEnd(&op);
}
