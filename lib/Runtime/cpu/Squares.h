//===- Squares.h - nvfp4 in a direction of any kind --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stochastic rounding, transforms, blocks of 16 by 16, four over six, and outer
// amaxes of rows and columns. All of these work on squares of 16 by 16, which
// hold whole blocks of either direction. It is what four over six is done with;
// of all else Quantize.h has faster ways, which tests compare with this one.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_SQUARES_H
#define GQ_LIB_RUNTIME_CPU_SQUARES_H

#include "lib/Runtime/CpuTiles.h"

#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Block.h"
#include "runtime_kernels/scalers/FourOverSix.h"
#include "runtime_kernels/transforms/Hadamard.h"

#include <string.h>

enum { SIZE = GQ_SQUARE_BLOCK };

/// The elements of a square in lines: a line is a block of the direction. Rows
/// beyond the tile are 0.
typedef struct Square {
  float x[SIZE][SIZE];
  /// Of the tile.
  int64_t row, column;
  /// Lines that there are, of rows.
  int64_t lines;
} Square;

GQ_DEV Square loadSquare(const gqCpuTile *tile,
                         const gqCpuTileDirection *direction, int64_t row,
                         int64_t column) {
  Square square = {.row = row, .column = column, .lines = SIZE};
  int64_t rows = tile->rows - row;
  rows = rows < 0 ? 0 : rows < SIZE ? rows : SIZE;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < SIZE; ++c)
      if (direction->columnwise)
        square.x[c][r] = tile->x[row + r][column + c];
      else
        square.x[r][c] = tile->x[row + r][column + c];
  if (!direction->columnwise)
    square.lines = rows;
  if (direction->traits.transform == GQ_TRANSFORM_HADAMARD16)
    for (int64_t i = 0; i < SIZE; ++i) {
      gq_dev_hadamard16(direction->traits.signs, square.x[i]);
      for (int64_t j = 0; j < SIZE; ++j)
        square.x[i][j] = gq_dev_hadamard_rounded(square.x[i][j]);
    }
  return square;
}

/// The sum of the errors of a block, which is a line of `square` or all of it.
/// Rows of a square are those of the matrix in either direction.
static float errorOf(const gq_dev_four_over_six *f, gq_dev_candidate candidate,
                     const Square *square, const gqCpuTileDirection *direction,
                     int64_t line) {
  if (!gqDirectionHasSquares(&direction->traits))
    return gq_dev_four_over_six_errors(f, candidate, square->x[line], SIZE,
                                       0.0f);
  float sums[SIZE];
  for (int64_t r = 0; r < SIZE; ++r) {
    float row[SIZE];
    for (int64_t c = 0; c < SIZE; ++c)
      row[c] = direction->columnwise ? square->x[c][r] : square->x[r][c];
    sums[r] = gq_dev_four_over_six_errors(f, candidate, row, SIZE, 0.0f);
  }
  for (int64_t half = SIZE / 2; half; half /= 2)
    for (int64_t r = 0; r < half; ++r)
      sums[r] += sums[r + half];
  return sums[0];
}

/// The scale of a block.
static gq_dev_block_scale scaleOf(const Square *square, gqRecipe recipe,
                                  const gqCpuTileDirection *direction,
                                  int64_t line) {
  const gqDirectionTraits *traits = &direction->traits;
  float amax = gq_dev_f32_amax(square->x[line], SIZE);
  if (gqDirectionHasSquares(traits))
    amax = gq_dev_f32_amax(square->x[0], SIZE * SIZE);
  const float *own = NULL;
  if (direction->outerAmaxes)
    own = &direction->outerAmaxes[line + (direction->columnwise ? square->column
                                                                : square->row)];
  if (!gqDirectionHasFourOverSix(traits))
    return gq_dev_block_scale_from_amax(GQ_FORMAT_NVFP4, recipe, amax,
                                        own ? gq_dev_nvfp4_te_outer(*own)
                                            : direction->outer);
  own = own ? own : direction->outerAmax;
  const gq_dev_four_over_six f =
      own ? gq_dev_four_over_six_from(traits->fourOverSix, traits->scaleMax,
                                      *own)
          : gq_dev_four_over_six_without(traits->fourOverSix, traits->scaleMax);
  gq_dev_candidate six = gq_dev_four_over_six_candidate(&f, false, amax);
  gq_dev_candidate four = gq_dev_four_over_six_candidate(&f, true, amax);
  bool better = errorOf(&f, four, square, direction, line) <
                errorOf(&f, six, square, direction, line);
  return better ? (gq_dev_block_scale){four.bits, four.factor}
                : (gq_dev_block_scale){six.bits, six.factor};
}

/// The codes of a line.
GQ_DEV void encode(const Square *square, const gqCpuTileDirection *direction,
                   int64_t line, float factor, uint8_t codes[SIZE]) {
  const float *x = square->x[line];
  if (direction->traits.rounding == GQ_ROUNDING_NEAREST) {
    for (int64_t i = 0; i < SIZE; ++i)
      codes[i] = (uint8_t)gq_dev_e2m1_from_f32(x[i] * factor);
    return;
  }
  int64_t row = square->row + (direction->columnwise ? 0 : line);
  int64_t column = square->column + (direction->columnwise ? line : 0);
  const gq_dev_rng_keys rng = gq_dev_rng_keys_of(direction->rng);
  gq_dev_random random = gq_dev_random_of_block(
      &rng, direction->columnwise,
      direction->first + row * direction->pitch + column);
  for (int64_t i = 0; i < SIZE; ++i)
    codes[i] = (uint8_t)gq_dev_e2m1_stochastic(x[i] * factor,
                                               gq_dev_random_byte(&random, i));
}

GQ_DEV void quantizeSquare(const Square *square, gqRecipe recipe,
                           const gqCpuTileDirection *direction,
                           gqCpuTileCodes codes, gqCpuTileScales *scales) {
  bool columnwise = direction->columnwise;
  gq_dev_block_scale scale = {0};
  for (int64_t i = 0; i < square->lines; ++i) {
    if (i == 0 || !gqDirectionHasSquares(&direction->traits))
      scale = scaleOf(square, recipe, direction, i);
    uint8_t line[SIZE];
    encode(square, direction, i, scale.factor, line);
    for (int64_t j = 0; j < SIZE; ++j)
      codes[square->row + (columnwise ? j : i)]
           [square->column + (columnwise ? i : j)] = line[j];
    scales->bits[i + (columnwise ? square->column : square->row)]
                [(columnwise ? square->row : square->column) / SIZE] =
        scale.bits;
  }
}

static void quantizeSquares(const gqCpuTile *tile, gqRecipe recipe,
                            const gqCpuTileDirection *direction,
                            gqCpuTileCodes codes, gqCpuTileScales *scales) {
  int64_t rows = tile->rows;
  if (direction->columnwise)
    rows = gq_dev_up(rows, GQ_CPU_TRANSPOSED_UNIT);
  int64_t kept = direction->traits.transform == GQ_TRANSFORM_NONE
                     ? tile->rows
                     : gq_dev_up(tile->rows, SIZE);
  for (int64_t row = 0; row < rows; row += SIZE)
    for (int64_t column = 0; column < tile->columns; column += SIZE) {
      Square square = loadSquare(tile, direction, row, column);
      quantizeSquare(&square, recipe, direction, codes, scales);
    }
  if (kept < rows)
    memset(codes[kept], 0, (size_t)(rows - kept) * sizeof(codes[0]));
}

#endif // GQ_LIB_RUNTIME_CPU_SQUARES_H
