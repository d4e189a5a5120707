//===- CpuPreprocessGroupedMatmulSf.c - scales into tiles on the CPU -----===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuGroups.h"
#include "CpuTiles.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <string.h>

static bool check(gqCpuOp *op,
                  const gqPreprocessGroupedMatmulSfOperands *operands,
                  int32_t format, int32_t scaleLayout, gq_dev_groups *groups) {
  if (!gqCpuCheckAttributes(op, format, scaleLayout, GQ_LAYOUTS_TILE128X4))
    return false;
  if (gqBufferIsAbsent(&operands->scaleOffsets))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "scale_offsets is absent, expected [G]");

  const gqRequirement input = {
      .name = "input",
      .buffer = &operands->input,
      .types = 1 << gqFormatGetTraits((gqFormat)format).scaleType,
      .placement = GQ_ROWS,
      .rank = 2,
      .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT},
      .shape = "[M, C]"};
  return gqCpuCheckOperand(op, &input) &&
         gqCpuCheckGroups(op, &operands->offsets, &operands->scaleOffsets,
                          "row", operands->input.sizes[0], groups) &&
         gqCpuCheckTiledScales(
             op, "scales", GQ_WRITTEN, (gqFormat)format, &operands->scales,
             gq_dev_up(operands->input.sizes[1], GQ_DEV_TILE_COLUMNS),
             *groups) &&
         gqCpuCheckOverlap(op);
}

/// The op as check() found it. Its matrices are those of scales.
typedef struct Problem {
  const gqPreprocessGroupedMatmulSfOperands *operands;
  gqCpuMatrices matrices;
} Problem;

/// Stores the scales of a job as tiles.
static void doJob(const void *problem, const gqCpuJob *job) {
  const Problem *p = problem;
  const gqBuffer *input = &p->operands->input;
  int64_t paddedColumns = p->operands->scales.sizes[1];
  gq_dev_groups groups = p->matrices.grouping.groups;
  int64_t to = gq_dev_group_scale_begin(groups, job->group.index) + job->row;
  for (int64_t i = 0; i < job->columns; i += GQ_CPU_TILE_BLOCKS) {
    int64_t column = job->column + i;
    int64_t columns = gqCpuLeast(job->columns - i, GQ_CPU_TILE_BLOCKS);
    gqCpuTileScales scales;
    memset(&scales, 0, sizeof(scales));
    for (int64_t r = 0; r < job->rows; ++r) {
      const uint8_t *row = gqCpuRow(input, job->group.begin + job->row + r);
      for (int64_t c = 0; c < columns; ++c)
        scales.bits[r][c] = row[column + c];
    }
    gqCpuStoreScaleTiles(
        &scales, columns,
        (uint8_t *)p->operands->scales.data +
            gq_dev_tile128x4_offset(to, column, paddedColumns));
  }
}

void gqCpuPreprocessGroupedMatmulSf(
    const gqPreprocessGroupedMatmulSfOperands *operands, int32_t format,
    int32_t scaleLayout) {
  gqCpuOp op;
  Problem problem = {.operands = operands,
                     .matrices = {.jobRows = GQ_CPU_JOB_ROWS,
                                  .jobColumns = GQ_CPU_JOB_COLUMNS,
                                  .cost = 1}};
  gqCpuGrouping *grouping = &problem.matrices.grouping;
  if (!gqCpuBegin(&op, "preprocess_grouped_matmul_sf"))
    return;
  if (check(&op, operands, format, scaleLayout, &grouping->groups)) {
    grouping->format = (gqFormat)format;
    grouping->columns = operands->input.sizes[1];
    gqCpuRunMatrices(&problem.matrices, doJob, &problem);
  }
  gqCpuEnd(&op);
}
