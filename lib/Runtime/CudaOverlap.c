//===- CudaOverlap.c - operands of kernels that share memory --------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"
#include "Overlap.h"

#include "gq/Runtime/Cuda.h"

enum { MAX_OPERANDS = 64, MAX_NAMES = 16 };

/// The operands of an op in the order of its struct in gq/Runtime/Cpu.h.
typedef struct Names {
  const char *op;
  /// The first operand that is written; so are those behind it.
  int64_t firstWritten;
  const char *operands[MAX_NAMES];
} Names;

static const Names names[] = {
    [GQ_LAUNCH_BLOCK_QUANTIZE] = {"block_quantize",
                                  2,
                                  {"input", "global_scale", "data", "scales"}},
    [GQ_LAUNCH_PREPROCESS_GROUPED_MATMUL_SF] = {"preprocess_grouped_matmul_sf",
                                                3,
                                                {"input", "offsets",
                                                 "scale_offsets", "scales"}},
    [GQ_LAUNCH_GROUPED_BLOCK_QUANTIZE] =
        {"grouped_block_quantize",
         9,
         {"input", "row_indices", "offsets", "scale_offsets", "first_dims",
          "last_dims", "global_scale", "outer_amax", "columnwise_outer_amax",
          "data", "scales", "columnwise_data", "columnwise_scales", "amax",
          "dbias", "scale_offsets_out"}},
};

/// Of the op that generated code is about to launch in this thread.
static _Thread_local struct {
  int32_t count;
  int64_t operands[MAX_OPERANDS];
  gqSpan spans[MAX_OPERANDS];
} launched;

void gqLaunchOperand(int64_t operand, int64_t address, int64_t rows,
                     int64_t width, int64_t stride) {
  if (launched.count == MAX_OPERANDS || operand < 0 || operand >= MAX_NAMES)
    return;
  launched.operands[launched.count] = operand;
  launched.spans[launched.count++] =
      (gqSpan){(uintptr_t)address, rows, width, stride};
}

static gqStatus check(const Names *op) {
  for (int32_t i = 0; i < launched.count; ++i)
    for (int32_t k = 0; k < launched.count; ++k)
      if (k != i && launched.operands[i] >= op->firstWritten &&
          gqSpansOverlap(launched.spans[i], launched.spans[k]))
        return gqFail(GQ_INVALID_ARGUMENT,
                      "%s: %s is written and overlaps %s in memory", op->op,
                      op->operands[launched.operands[i]],
                      op->operands[launched.operands[k]]);
  return GQ_OK;
}

void gqLaunchCheck(int64_t op) {
  if (op >= 0 && op < (int64_t)(sizeof(names) / sizeof(names[0])))
    gqCudaPend(check(&names[op]));
  launched.count = 0;
}
