//===- CpuPreprocessGroupedMatmulSf.c - scales into tiles on the CPU -----===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuRows.h"
#include "runtime_kernels/layout/Tile128x4.h"

static bool check(gqCpuOp *op,
                  const gqPreprocessGroupedMatmulSfOperands *operands,
                  int32_t format, int32_t scaleLayout, gq_dev_groups *groups) {
  if (!gqCpuCheckAttributes(op, format, scaleLayout, GQ_SCALE_LAYOUT_TILE128X4))
    return false;

  const gqRequirement input = {.name = "input",
                               .buffer = &operands->input,
                               .types = GQ_TYPES_SCALES,
                               .placement = GQ_ROWS,
                               .rank = 2,
                               .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT},
                               .shape = "[M, C]"};
  return gqCpuCheckOperand(op, &input) &&
         gqCpuCheckGroups(
             op, &operands->offsets, &operands->scaleOffsets, "scales",
             &operands->scales, operands->input.sizes[0],
             gq_dev_up(operands->input.sizes[1], GQ_DEV_TILE_COLUMNS), groups);
}

static void run(const gqPreprocessGroupedMatmulSfOperands *operands,
                gq_dev_groups groups) {
  const gqBuffer *input = &operands->input;
  uint8_t *scales = operands->scales.data;
  int64_t paddedColumns = operands->scales.sizes[1];
  for (int64_t e = 0; e < groups.numGroups; ++e) {
    int64_t begin = gq_dev_group_begin(groups, e);
    int64_t end = gq_dev_group_begin(groups, e + 1);
    int64_t scaleBegin = gq_dev_group_scale_begin(groups, e);
    gqCpuZeroLastTiles(scales, scaleBegin, end - begin, paddedColumns);
    for (int64_t row = begin; row < end; ++row)
      gqCpuStoreScales(gqCpuRow(input, row), 0, input->sizes[1], scales,
                       scaleBegin + row - begin, paddedColumns);
  }
}

void gqCpuPreprocessGroupedMatmulSf(
    const gqPreprocessGroupedMatmulSfOperands *operands, int32_t format,
    int32_t scaleLayout) {
  gqCpuOp op;
  gq_dev_groups groups;
  if (!gqCpuBegin(&op, "preprocess_grouped_matmul_sf"))
    return;
  if (check(&op, operands, format, scaleLayout, &groups))
    run(operands, groups);
  gqCpuEnd(&op);
}
