//===- CpuTiles.c - what the CPU ops do to a tile of a matrix ------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuTiles.h"

#include "CpuKernels.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <string.h>

void gqCpuQuantizeSquares(const gqCpuTile *tile, gqRecipe recipe,
                          const gqCpuTileDirection *direction,
                          gqCpuTileCodes codes, gqCpuTileScales *scales) {
  gqCpuGetKernels()->quantizeSquares(tile, recipe, direction, codes, scales);
}

void gqCpuStoreScaleTiles(const gqCpuTileScales *scales, int64_t numColumns,
                          uint8_t *tiles) {
  for (int64_t c = 0; c < numColumns; c += GQ_DEV_TILE_COLUMNS)
    for (int64_t r = 0; r < GQ_DEV_TILE_ROWS; ++r) {
      uint8_t four[GQ_DEV_TILE_COLUMNS];
      for (int64_t j = 0; j < GQ_DEV_TILE_COLUMNS; ++j)
        four[j] = (uint8_t)scales->bits[r][c + j];
      memcpy(tiles + gq_dev_tile128x4_offset(r, c, GQ_CPU_TILE_BLOCKS), four,
             sizeof(four));
    }
}
