//===- CpuUpdateScales.c - gq.update_scales on the CPU -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "runtime_kernels/scalers/Given.h"

#include <inttypes.h>
#include <string.h>

static bool check(gqCpuOp *op, const gqUpdateScalesOperands *operands,
                  int32_t format, int32_t amaxAlgo, int32_t margin) {
  int64_t groups = operands->amax.sizes[0];
  const gqRequirement history = {.name = "history",
                                 .buffer = &operands->history,
                                 .types = GQ_TYPES_F32,
                                 .placement = GQ_CONTIGUOUS,
                                 .access = GQ_WRITTEN,
                                 .rank = 2,
                                 .sizes = {GQ_ANY_EXTENT, groups},
                                 .shape = "[H, G]"};
  if (!gqCpuCheckTensorFormat(op, format))
    return false;
  if (amaxAlgo != GQ_AMAX_ALGO_MAX && amaxAlgo != GQ_AMAX_ALGO_MOST_RECENT)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "amax_algo %" PRId32
                     " is unknown, expected max (%d) or most_recent (%d)",
                     amaxAlgo, GQ_AMAX_ALGO_MAX, GQ_AMAX_ALGO_MOST_RECENT);
  if (margin < 0 || margin > GQ_MAX_MARGIN)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "margin %" PRId32 " is not in [0, %d]", margin,
                     GQ_MAX_MARGIN);
  return gqCpuCheckFlat(op, "amax", GQ_READ, &operands->amax, GQ_TYPES_F32,
                        GQ_ANY_EXTENT, "[G]") &&
         gqCpuCheckOperand(op, &history) &&
         (operands->history.sizes[0] > 0 ||
          gqCpuFail(op, GQ_INVALID_ARGUMENT, "history has no row")) &&
         gqCpuCheckFlat(op, "scale", GQ_WRITTEN, &operands->scale, GQ_TYPES_F32,
                        groups, "[G]") &&
         gqCpuCheckOverlap(op);
}

static void run(const gqUpdateScalesOperands *operands, gqFormat format,
                gqAmaxAlgo algo, gqMargin margin) {
  const float *amax = operands->amax.data;
  float *history = operands->history.data, *scale = operands->scale.data;
  int64_t groups = operands->amax.sizes[0];
  int64_t steps = operands->history.sizes[0];
  const float down = gq_dev_f32_from_bits((uint32_t)(127 - margin) << 23);
  memmove(history + groups, history,
          (size_t)((steps - 1) * groups) * sizeof(float));
  memcpy(history, amax, (size_t)groups * sizeof(float));
  for (int64_t e = 0; e < groups; ++e) {
    float from = amax[e];
    if (algo == GQ_AMAX_ALGO_MAX) {
      from = 0.0f;
      for (int64_t h = 0; h < steps; ++h)
        from = gq_dev_max(history[h * groups + e], from);
    }
    scale[e] = gq_dev_next_scale(format, from, down, scale[e]);
  }
}

void gqCpuUpdateScales(const gqUpdateScalesOperands *operands, int32_t format,
                       int32_t amaxAlgo, int32_t margin) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "update_scales"))
    return;
  // Of no group there may be no memory either, which memcpy must not be given.
  if (check(&op, operands, format, amaxAlgo, margin) &&
      operands->amax.sizes[0] > 0)
    run(operands, (gqFormat)format, (gqAmaxAlgo)amaxAlgo, margin);
  gqCpuEnd(&op);
}
