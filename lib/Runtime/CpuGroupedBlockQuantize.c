//===- CpuGroupedBlockQuantize.c - gq.grouped_block_quantize on the CPU --===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuRows.h"
#include "runtime_kernels/layout/Tile128x4.h"

enum {
  /// Blocks whose linear scales wait on the stack for their tiles; a multiple
  /// of a tile's columns.
  CHUNK = 64,
};

static bool check(gqCpuOp *op, const gqGroupedBlockQuantizeOperands *operands,
                  int32_t format, int32_t scaleLayout, int32_t rows,
                  gq_dev_groups *groups) {
  if (!gqCpuCheckAttributes(op, format, scaleLayout, GQ_SCALE_LAYOUT_TILE128X4))
    return false;
  if (rows != GQ_ROWS_ALL && rows != GQ_ROWS_GROUPED)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "rows %d is unknown, expected all (%d) or grouped (%d)",
                     rows, GQ_ROWS_ALL, GQ_ROWS_GROUPED);

  if (!gqCpuCheckQuantized(op, &operands->input, &operands->rowIndices,
                           &operands->data))
    return false;
  int64_t m = operands->data.sizes[0], k = operands->input.sizes[1];
  if (!gqCpuCheckGroups(op, &operands->offsets, &operands->scaleOffsets,
                        "scales", &operands->scales, m,
                        gq_dev_up(k / 16, GQ_DEV_TILE_COLUMNS), groups))
    return false;

  bool perGroup = operands->globalScale.rank == 1;
  const gqRequirement globalScale = {.name = "global_scale",
                                     .buffer = &operands->globalScale,
                                     .types = GQ_TYPES_F32,
                                     .placement = GQ_CONTIGUOUS,
                                     .rank = perGroup,
                                     .sizes = {groups->numGroups},
                                     .shape = perGroup ? "[G]" : "[] or [G]"};
  return !operands->globalScale.data || gqCpuCheckOperand(op, &globalScale);
}

/// The row of the input that row `row` is read from.
static int64_t sourceRow(const gqGroupedBlockQuantizeOperands *operands,
                         int64_t row) {
  const gqBuffer *indices = &operands->rowIndices;
  return indices->data
             ? gq_dev_load_index(indices->data, indices->type == GQ_I64, row)
             : row;
}

/// Quantizes rows begin to end. Their scales go to the tiles from row
/// `scaleBegin` on, or nowhere if that is negative.
static void quantizeRows(const gqGroupedBlockQuantizeOperands *operands,
                         int64_t begin, int64_t end, float globalScale,
                         int64_t scaleBegin) {
  const gqBuffer *input = &operands->input;
  gqElementType type = (gqElementType)input->type;
  int64_t numBlocks = input->sizes[1] / 16;
  int64_t blockSize = 16 * gqElementTypeSize(type);
  for (int64_t row = begin; row < end; ++row) {
    const uint8_t *blocks = gqCpuRow(input, sourceRow(operands, row));
    uint8_t *codes = gqCpuRow(&operands->data, row);
    for (int64_t first = 0; first < numBlocks; first += CHUNK) {
      uint8_t scales[CHUNK];
      int64_t count = numBlocks - first < CHUNK ? numBlocks - first : CHUNK;
      gqCpuQuantizeBlocks(blocks + first * blockSize, type, count, globalScale,
                          codes + first * 8, scales);
      if (scaleBegin >= 0)
        gqCpuStoreScales(scales, first, count, operands->scales.data,
                         scaleBegin + row - begin, operands->scales.sizes[1]);
    }
  }
}

static void run(const gqGroupedBlockQuantizeOperands *operands,
                gq_dev_groups groups, gqRows rows) {
  const float *globalScale = operands->globalScale.data;
  bool perGroup = operands->globalScale.rank == 1;
  float shared = globalScale && !perGroup ? *globalScale : 1.0f;

  for (int64_t e = 0; e < groups.numGroups; ++e) {
    int64_t begin = gq_dev_group_begin(groups, e);
    int64_t end = gq_dev_group_begin(groups, e + 1);
    int64_t scaleBegin = gq_dev_group_scale_begin(groups, e);
    gqCpuZeroLastTiles(operands->scales.data, scaleBegin, end - begin,
                       operands->scales.sizes[1]);
    quantizeRows(operands, begin, end,
                 globalScale && perGroup ? globalScale[e] : shared, scaleBegin);
  }

  if (rows == GQ_ROWS_ALL) {
    quantizeRows(operands, 0, gq_dev_group_begin(groups, 0), shared, -1);
    quantizeRows(operands, gq_dev_group_begin(groups, groups.numGroups),
                 groups.numRows, shared, -1);
  }
}

void gqCpuGroupedBlockQuantize(const gqGroupedBlockQuantizeOperands *operands,
                               int32_t format, int32_t scaleLayout,
                               int32_t rows) {
  gqCpuOp op;
  gq_dev_groups groups;
  if (!gqCpuBegin(&op, "grouped_block_quantize"))
    return;
  if (check(&op, operands, format, scaleLayout, rows, &groups))
    run(operands, groups, (gqRows)rows);
  gqCpuEnd(&op);
}
