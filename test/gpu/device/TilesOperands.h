//===- TilesOperands.h - parameters of the tile test kernels -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_TILESOPERANDS_H
#define GQ_TEST_GPU_TILESOPERANDS_H

#include <stdint.h>

/// A part of a variant besides those of Launch.h: 32-bit row indices.
enum { TILES_ROW_INDICES = 1 << 16 };

/// Those of gq_dev_grouped_block_quantize_tiles and gq_dev_reduce_tiles,
/// addresses as integers.
typedef struct TilesOperands {
  uint64_t input;
  int64_t inputStride, rows, columns;
  uint64_t rowIndices;
  int64_t sourceRows;
  uint64_t offsets;
  int64_t numOffsets;
  uint64_t scaleOffsets, firstDims, lastDims;
  int64_t groups;
  uint64_t outer, columnwiseOuter;
  uint64_t data;
  int64_t dataStride;
  uint64_t scales;
  int64_t scalesStride, scalesSize;
  uint64_t columnwiseData;
  int64_t columnwiseDataStride, columnwiseDataSize;
  uint64_t columnwiseScales;
  int64_t columnwiseScalesSize;
  uint64_t amax, dbias, scaleOffsetsOut, workspace, status;
} TilesOperands;

#endif // GQ_TEST_GPU_TILESOPERANDS_H
