//===- CpuBlockDequantize.c - gq.block_dequantize on the CPU -------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuDequantize.h"

static bool check(gqCpuOp *op, const gqBlockDequantizeOperands *operands,
                  int32_t format, int32_t scaleLayout) {
  const gqBuffer *out = &operands->out;
  const gqRequirement matrix = {.name = "out",
                                .buffer = out,
                                .types = GQ_TYPES_FLOAT,
                                .placement = GQ_DISJOINT_ROWS,
                                .access = GQ_WRITTEN,
                                .rank = 2,
                                .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT},
                                .shape = "[M, K]"};
  if (!gqCpuCheckAttributes(op, format, scaleLayout, GQ_LAYOUTS_LINEAR) ||
      !gqCpuCheckOperand(op, &matrix) ||
      !gqCpuCheckColumns(op, "out", (gqFormat)format, out->sizes[1]))
    return false;
  int64_t m = out->sizes[0], k = out->sizes[1];
  return gqCpuCheckData(op, "data", GQ_READ, (gqFormat)format, &operands->data,
                        m, k) &&
         gqCpuCheckLinearScales(op, GQ_READ, (gqFormat)format,
                                &operands->scales, m, k) &&
         gqCpuCheckGlobalScale(op, (gqFormat)format, &operands->globalScale,
                               GQ_NO_GROUPS) &&
         gqCpuCheckOverlap(op);
}

static void doJob(const void *dequantization, const gqCpuJob *job) {
  gqCpuDequantize(dequantization, job);
}

static void run(const gqBlockDequantizeOperands *operands, gqFormat format) {
  const gqBuffer *out = &operands->out;
  const gqCpuMatrices matrices =
      gqCpuOneMatrix(format, out->sizes[0], out->sizes[1]);
  const gqCpuDequantization dequantization = {
      .format = format,
      .recipe = GQ_RECIPE_NVFUSER,
      .type = (gqElementType)operands->data.type,
      .data = operands->data.data,
      .stride = operands->data.strides[0],
      .scales = operands->scales.data,
      .scaleStride = operands->scales.strides[0],
      .outer = operands->globalScale.data,
      .out = *out,
  };
  gqCpuRunMatrices(&matrices, doJob, &dequantization);
}

void gqCpuBlockDequantize(const gqBlockDequantizeOperands *operands,
                          int32_t format, int32_t scaleLayout) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "block_dequantize"))
    return;
  if (check(&op, operands, format, scaleLayout))
    run(operands, (gqFormat)format);
  gqCpuEnd(&op);
}
