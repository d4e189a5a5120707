//===- CpuRows.c - what the CPU ops do to a row --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuRows.h"

#include "CpuClones.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/numerics/Nvfp4.h"

#include <string.h>

/// The elements of a block as floats. `type` is a constant in the callers.
GQ_DEV void loadBlock(const void *input, gqElementType type, int64_t block,
                      float x[GQ_DEV_NVFP4_BLOCK]) {
  int64_t first = block * GQ_DEV_NVFP4_BLOCK;
  if (type == GQ_F32)
    memcpy(x, (const float *)input + first, sizeof(float[GQ_DEV_NVFP4_BLOCK]));
  else
    for (int i = 0; i < GQ_DEV_NVFP4_BLOCK; ++i) {
      uint16_t bits = ((const uint16_t *)input)[first + i];
      x[i] = type == GQ_BF16 ? gq_dev_f32_from_bf16(bits)
                             : gq_dev_f32_from_f16(bits);
    }
}

GQ_DEV void quantizeBlocks(const void *input, gqElementType type,
                           int64_t numBlocks, float globalScale, uint8_t *codes,
                           uint8_t *scales) {
  for (int64_t b = 0; b < numBlocks; ++b) {
    float x[GQ_DEV_NVFP4_BLOCK];
    uint8_t packed[GQ_DEV_NVFP4_BLOCK_BYTES];
    loadBlock(input, type, b, x);
    scales[b] = gq_dev_nvfp4_quantize(x, globalScale, packed);
    memcpy(codes + b * GQ_DEV_NVFP4_BLOCK_BYTES, packed, sizeof(packed));
  }
}

GQ_CPU_CLONES
void gqCpuQuantizeBlocks(const void *input, gqElementType type,
                         int64_t numBlocks, float globalScale, uint8_t *codes,
                         uint8_t *scales) {
  if (type == GQ_F32)
    quantizeBlocks(input, GQ_F32, numBlocks, globalScale, codes, scales);
  else if (type == GQ_BF16)
    quantizeBlocks(input, GQ_BF16, numBlocks, globalScale, codes, scales);
  else
    quantizeBlocks(input, GQ_F16, numBlocks, globalScale, codes, scales);
}

void gqCpuStoreScales(const uint8_t *linear, int64_t firstColumn,
                      int64_t numColumns, uint8_t *tiled, int64_t tiledRow,
                      int64_t paddedColumns) {
  for (int64_t i = 0; i < numColumns; i += GQ_DEV_TILE_COLUMNS) {
    uint8_t four[GQ_DEV_TILE_COLUMNS] = {0};
    for (int64_t j = 0; j < GQ_DEV_TILE_COLUMNS && i + j < numColumns; ++j)
      four[j] = linear[i + j];
    memcpy(tiled + gq_dev_tile128x4_offset(tiledRow, firstColumn + i,
                                           paddedColumns),
           four, sizeof(four));
  }
}

void gqCpuZeroLastTiles(uint8_t *tiled, int64_t firstRow, int64_t numRows,
                        int64_t paddedColumns) {
  int64_t wholeRows = numRows / GQ_DEV_TILE_ROWS * GQ_DEV_TILE_ROWS;
  if (wholeRows < numRows)
    memset(tiled + (firstRow + wholeRows) * paddedColumns, 0,
           (size_t)(GQ_DEV_TILE_ROWS * paddedColumns));
}
