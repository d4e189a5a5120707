//===- CpuBlockQuantize.c - gq.block_quantize on the CPU -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuQuantize.h"

static bool check(gqCpuOp *op, const gqBlockQuantizeOperands *operands,
                  int32_t format, int32_t scaleLayout) {
  const gqBuffer *input = &operands->input;
  if (!gqCpuCheckAttributes(op, format, scaleLayout, GQ_LAYOUTS_LINEAR) ||
      !gqCpuCheckInput(op, (gqFormat)format, input, /*rowIndices=*/0))
    return false;
  int64_t m = input->sizes[0], k = input->sizes[1];
  return gqCpuCheckData(op, "data", GQ_WRITTEN, (gqFormat)format,
                        &operands->data, m, k) &&
         gqCpuCheckLinearScales(op, GQ_WRITTEN, (gqFormat)format,
                                &operands->scales, m, k) &&
         gqCpuCheckGlobalScale(op, (gqFormat)format, &operands->globalScale,
                               GQ_NO_GROUPS) &&
         gqCpuCheckOverlap(op);
}

static void doJob(const void *quantization, const gqCpuJob *job) {
  gqCpuQuantize(quantization, job);
}

static void run(const gqBlockQuantizeOperands *operands, gqFormat format) {
  const gqBuffer *input = &operands->input;
  const float *globalScale = operands->globalScale.data;
  const gqCpuMatrices matrices =
      gqCpuOneMatrix(format, input->sizes[0], input->sizes[1]);
  const gqCpuQuantization quantization = {
      .method = {format, GQ_RECIPE_NVFUSER, GQ_SCALE_LAYOUT_LINEAR},
      .rows = input->sizes[0],
      .input = *input,
      .rowwise = {.data = operands->data.data,
                  .stride = operands->data.strides[0],
                  .scales = operands->scales.data,
                  .scaleStride = operands->scales.strides[0],
                  .how = {.outer = globalScale ? *globalScale : 1.0f}},
  };
  gqCpuRunMatrices(&matrices, doJob, &quantization);
}

void gqCpuBlockQuantize(const gqBlockQuantizeOperands *operands, int32_t format,
                        int32_t scaleLayout) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "block_quantize"))
    return;
  if (check(&op, operands, format, scaleLayout))
    run(operands, (gqFormat)format);
  gqCpuEnd(&op);
}
