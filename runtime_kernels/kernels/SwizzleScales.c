//===- SwizzleScales.c - the kernel that puts scales into tiles -----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/RowScales.h"

/// A lane takes a word of four scales.
GQ_DEV_KERNEL void
gq_dev_swizzle_scales(GQ_DEV_PARAMETERS(GQ_SWIZZLE_SCALES_OPERANDS)) {
  (void)format; // Scales are bytes, of whatever meaning.
  gq_dev_row_groups rowGroups =
      rowGroupsOf(offsets, numOffsets, scaleOffsets, groups, rows, scaleRows,
                  offsetBits, /*tiled=*/true, /*packed=*/false);
  uint32_t width = (uint32_t)gq_dev_up(scaleColumns, GQ_DEV_TILE_COLUMNS);
  uint32_t words = width / GQ_DEV_TILE_COLUMNS;
  bool linearAligned = (((uint64_t)linear | (uint64_t)linearStride) & 3) == 0;
  bool scalesAligned = ((uint64_t)scales & 15) == 0;

  // Four lanes side by side have the rows of 16 bytes, the others the columns.
  uint32_t rowInGroup = gq_dev_lane() % 4 * ROW_STEP;
  uint32_t wordInPiece = gq_dev_lane() / 4;
  uint32_t rowTiles = numRowTiles(rows);
  uint32_t piecesPerTile = (words + 7) / 8 * ROW_STEP;
  uint32_t pieces = rowTiles * piecesPerTile;
  uint32_t index = warpNumber();
  gq_dev_prepare_groups(&rowGroups, 0);
  for (; index < pieces; index += numWarps()) {
    Piece piece = pieceOf(index, piecesPerTile);
    int64_t row = (int64_t)piece.rowTile * GQ_DEV_TILE_ROWS +
                  piece.number % ROW_STEP + rowInGroup;
    uint32_t column =
        (piece.number / ROW_STEP * 8 + wordInPiece) * GQ_DEV_TILE_COLUMNS;
    bool inside = row < rows && column < width;
    uint32_t word = 0;
    if (inside)
      word = loadScales(linear + row * linearStride + column,
                        (uint32_t)scaleColumns - column, linearAligned);
    TiledStore store = planTiledStore(
        scales, width, findTarget(&rowGroups, row), scalesAligned);
    storeTiled(&store, column, width, word, scalesAligned);
  }
  finishGroups(&rowGroups, scales, width, 0, status, index - pieces);
}
