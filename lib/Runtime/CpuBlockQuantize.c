//===- CpuBlockQuantize.c - gq.block_quantize on the CPU -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuRows.h"

static bool check(gqCpuOp *op, const gqBlockQuantizeOperands *operands,
                  int32_t format, int32_t scaleLayout) {
  if (!gqCpuCheckAttributes(op, format, scaleLayout, GQ_SCALE_LAYOUT_LINEAR))
    return false;

  if (!gqCpuCheckQuantized(op, &operands->input, /*rowIndices=*/0,
                           &operands->data))
    return false;
  int64_t m = operands->input.sizes[0], k = operands->input.sizes[1];

  const gqRequirement globalScale = {.name = "global_scale",
                                     .buffer = &operands->globalScale,
                                     .types = GQ_TYPES_F32,
                                     .placement = GQ_CONTIGUOUS,
                                     .rank = 0,
                                     .shape = "[]"};
  const gqRequirement scales = {.name = "scales",
                                .buffer = &operands->scales,
                                .types = GQ_TYPES_SCALES,
                                .placement = GQ_DISJOINT_ROWS,
                                .rank = 2,
                                .sizes = {m, k / 16},
                                .shape = "[M, K / 16]"};
  return (!operands->globalScale.data || gqCpuCheckOperand(op, &globalScale)) &&
         gqCpuCheckOperand(op, &scales);
}

static void run(const gqBlockQuantizeOperands *operands) {
  const gqBuffer *input = &operands->input;
  const float *globalScale = operands->globalScale.data;
  for (int64_t row = 0; row < input->sizes[0]; ++row)
    gqCpuQuantizeBlocks(gqCpuRow(input, row), (gqElementType)input->type,
                        input->sizes[1] / 16, globalScale ? *globalScale : 1.0f,
                        gqCpuRow(&operands->data, row),
                        gqCpuRow(&operands->scales, row));
}

void gqCpuBlockQuantize(const gqBlockQuantizeOperands *operands, int32_t format,
                        int32_t scaleLayout) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "block_quantize"))
    return;
  if (check(&op, operands, format, scaleLayout))
    run(operands);
  gqCpuEnd(&op);
}
