//===- CpuTiles.h - what the CPU ops do to a tile of a matrix ----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is not done in lines and strips (cpu/QuantizeLines.h, QuantizeColumns.h)
// is done in tiles of 128 by 128 elements. Every block of every format and
// direction lies in one of them, and the scales of a tile are whole tiles of
// the layout tile128x4, padding included. The ops share what is done to a tile
// (cpu/), so they cannot differ in a byte.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUTILES_H
#define GQ_LIB_RUNTIME_CPUTILES_H

#include "gq/Runtime/Directions.h"
#include "runtime_kernels/transforms/Philox.h"

enum {
  /// Bytes of a cache line. Elements of tiles and strips begin at one, since a
  /// vector in two lines takes twice as long.
  GQ_CPU_LINE = 64,
  GQ_CPU_TILE = 128,
  /// The most blocks of a row or column of a tile.
  GQ_CPU_TILE_BLOCKS = 8,
  /// Columnwise data that is stored transposed has a multiple of this many
  /// columns, padded with zeros.
  GQ_CPU_TRANSPOSED_UNIT = 32,
};

static inline int64_t gqCpuLeast(int64_t x, int64_t y) { return x < y ? x : y; }

/// x / y rounded up, of x >= 0.
static inline int64_t gqCpuCeilDiv(int64_t x, int64_t y) {
  return (x + y - 1) / y;
}

/// Address of row `row` of a matrix.
static inline void *gqCpuRow(const gqBuffer *matrix, int64_t row) {
  return (uint8_t *)matrix->data +
         row * matrix->strides[0] *
             gqElementTypeSize((gqElementType)matrix->type);
}

/// The elements of a tile. At the matrix's end there are fewer rows and columns
/// than the tile has room for; the number of columns is a multiple of 16.
typedef struct gqCpuTile {
  int64_t rows, columns;
  /// Where the next tile's first row is, its bytes, and how far its next row
  /// is; null if that is not known. What works on a row of the tile asks for
  /// the same row of the next.
  const uint8_t *next;
  int64_t nextBytes, nextStride;
  _Alignas(GQ_CPU_LINE) float x[GQ_CPU_TILE][GQ_CPU_TILE];
} gqCpuTile;

/// How a matrix is quantized.
typedef struct gqCpuMethod {
  gqFormat format;
  gqRecipe recipe;
  gqScaleLayout scaleLayout;
} gqCpuMethod;

/// Scales as they are stored, a byte or the bits of a float32: of block j of
/// row i or, columnwise, of column i. Where there is no block they are zero.
/// For blocks of 128 by 128, i and j are 0.
typedef struct gqCpuTileScales {
  uint32_t bits[GQ_CPU_TILE][GQ_CPU_TILE_BLOCKS];
} gqCpuTileScales;

/// A direction of a tile or, of the tile at (0, 0), of a matrix.
typedef struct gqCpuTileDirection {
  gqDirectionTraits traits;
  bool columnwise;
  /// Of all blocks: the outer scale (Nvfp4.h), 1 for none, or with four over
  /// six the outer amax, NULL for none.
  float outer;
  const float *outerAmax;
  /// With an outer amax per row or column: those of the rows or columns from
  /// the first on. Null otherwise.
  const float *outerAmaxes;
  /// Of stochastic rounding: the state, the index of the first element in what
  /// is quantized, and how far the next row is.
  gq_dev_rng rng;
  int64_t first, pitch;
} gqCpuTileDirection;

/// Codes of a tile, one per byte.
typedef uint8_t gqCpuTileCodes[GQ_CPU_TILE][GQ_CPU_TILE];

/// The codes and scales of a tile of nvfp4 in a direction of any kind
/// (cpu/Squares.h). Columns have up(rows, 32) codes: those of missing rows are
/// zero, but what a transform makes of a block with some rows are 16.
void gqCpuQuantizeSquares(const gqCpuTile *tile, gqRecipe recipe,
                          const gqCpuTileDirection *direction,
                          gqCpuTileCodes codes, gqCpuTileScales *scales);

/// Stores the first `numColumns` columns of `scales` and those that pad them to
/// a multiple of 4, as consecutive tiles of the layout tile128x4.
void gqCpuStoreScaleTiles(const gqCpuTileScales *scales, int64_t numColumns,
                          uint8_t *tiles);

#endif // GQ_LIB_RUNTIME_CPUTILES_H
