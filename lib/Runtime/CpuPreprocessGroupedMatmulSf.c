//===- CpuPreprocessGroupedMatmulSf.c - scales into tiles on the CPU -----===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuTiles.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <string.h>

static bool check(gqCpuOp *op,
                  const gqPreprocessGroupedMatmulSfOperands *operands,
                  int32_t format, int32_t scaleLayout, gq_dev_groups *groups) {
  if (!gqCpuCheckAttributes(op, format, scaleLayout, GQ_LAYOUTS_TILE128X4))
    return false;

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

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/// Stores the scales of rows begin to end in the tiles from row `scaleBegin`
/// on.
static void tile(const gqPreprocessGroupedMatmulSfOperands *operands,
                 int64_t begin, int64_t end, int64_t scaleBegin) {
  const gqBuffer *input = &operands->input;
  int64_t paddedColumns = operands->scales.sizes[1];
  for (int64_t row = begin; row < end; row += GQ_CPU_TILE)
    for (int64_t column = 0; column < input->sizes[1];
         column += GQ_CPU_TILE_BLOCKS) {
      int64_t rows = least(end - row, GQ_CPU_TILE);
      int64_t columns = least(input->sizes[1] - column, GQ_CPU_TILE_BLOCKS);
      gqCpuTileScales scales;
      memset(&scales, 0, sizeof(scales));
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          scales.bits[r][c] =
              ((const uint8_t *)gqCpuRow(input, row + r))[column + c];
      gqCpuStoreScaleTiles(&scales, columns,
                           (uint8_t *)operands->scales.data +
                               gq_dev_tile128x4_offset(scaleBegin + row - begin,
                                                       column, paddedColumns));
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
    for (int64_t e = 0; e < groups.numGroups; ++e)
      tile(operands, gq_dev_group_begin(groups, e),
           gq_dev_group_begin(groups, e + 1),
           gq_dev_group_scale_begin(groups, e));
  gqCpuEnd(&op);
}
