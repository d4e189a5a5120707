//===- CpuGroupedMm.c - gq.grouped_mm on the CPU -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of TILE_ROWS x TILE_COLUMNS outputs and TILE_DEPTH of K. The operands
// of a tile are dequantized once into float panels that fit a second-level
// cache; the innermost loops then see plain floats.
//
// Each product is a multiple of 2^-20 of at most 12 significant bits. A sum in
// float64 is therefore exact as long as it stays below 2^33, whatever the
// order of the terms.
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuClones.h"
#include "CpuTiles.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Nvfp4.h"

#include <stdlib.h>
#include <string.h>

enum {
  TILE_ROWS = 64,
  TILE_COLUMNS = 64,
  TILE_DEPTH = 256,
  /// Outputs whose sums are kept in registers.
  MICRO_ROWS = 4,
  MICRO_COLUMNS = 8,
};

/// What a tile is computed in.
typedef struct gqMmTile {
  float a[TILE_ROWS][TILE_DEPTH];
  /// Transposed, so that the sums of neighbouring columns are neighbours.
  float b[TILE_DEPTH][TILE_COLUMNS];
  double sums[TILE_ROWS][TILE_COLUMNS];
} gqMmTile;

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

static bool check(gqCpuOp *op, const gqGroupedMmOperands *operands,
                  int32_t format, int32_t scaleLayout, gq_dev_groups *groups) {
  if (!gqCpuCheckAttributes(op, format, GQ_FORMATS_NVFP4, scaleLayout,
                            GQ_LAYOUTS_TILE128X4))
    return false;

  const gqRequirement a = {.name = "a",
                           .buffer = &operands->a,
                           .types = 1 << GQ_I8,
                           .placement = GQ_ROWS,
                           .rank = 2,
                           .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT},
                           .shape = "[M, K / 2]"};
  if (!gqCpuCheckOperand(op, &a))
    return false;
  int64_t m = operands->a.sizes[0], k = operands->a.sizes[1] * 2;
  int64_t paddedColumns =
      gq_dev_up(k / GQ_DEV_NVFP4_BLOCK, GQ_DEV_TILE_COLUMNS);
  if (!gqCpuCheckColumns(op, "a", GQ_FORMAT_NVFP4, k) ||
      !gqCpuCheckGroups(op, &operands->offsets, &operands->scaleOffsets, "row",
                        m, groups) ||
      !gqCpuCheckTiledScales(op, "a_scales", GQ_READ, GQ_FORMAT_NVFP4,
                             &operands->aScales, paddedColumns, *groups))
    return false;

  const gqRequirement b = {.name = "b",
                           .buffer = &operands->b,
                           .types = 1 << GQ_I8,
                           .placement = GQ_CONTIGUOUS,
                           .rank = 3,
                           .sizes = {groups->numGroups, GQ_ANY_EXTENT, k / 2},
                           .shape = "[G, N, K / 2]"};
  if (!gqCpuCheckOperand(op, &b))
    return false;
  int64_t n = operands->b.sizes[1];

  const gqRequirement bScales = {.name = "b_scales",
                                 .buffer = &operands->bScales,
                                 .types = 1 << GQ_F8E4M3FN,
                                 .placement = GQ_CONTIGUOUS,
                                 .rank = 3,
                                 .sizes = {groups->numGroups,
                                           gq_dev_up(n, GQ_DEV_TILE_ROWS),
                                           paddedColumns},
                                 .shape = "[G, up(N, 128), up(K / 16, 4)]"};
  const gqRequirement alpha = {.name = "alpha",
                               .buffer = &operands->alpha,
                               .types = GQ_TYPES_F32,
                               .placement = GQ_CONTIGUOUS,
                               .rank = 1,
                               .sizes = {groups->numGroups},
                               .shape = "[G]"};
  const gqRequirement out = {.name = "out",
                             .buffer = &operands->out,
                             .types = GQ_TYPES_FLOAT,
                             .placement = GQ_DISJOINT_ROWS,
                             .access = GQ_WRITTEN,
                             .rank = 2,
                             .sizes = {m, n},
                             .shape = "[M, N]"};
  return gqCpuCheckOperand(op, &bScales) &&
         (gqBufferIsAbsent(&operands->alpha) ||
          gqCpuCheckOperand(op, &alpha)) &&
         gqCpuCheckOperand(op, &out) && gqCpuCheckOverlap(op);
}

/// Dequantizes `depth` elements of a row from column `k` on; both are multiples
/// of the block.
GQ_DEV void dequantize(const uint8_t *codes, const uint8_t *tiledScales,
                       int64_t tiledRow, int64_t paddedColumns, int64_t k,
                       int64_t depth, float *x) {
  for (int64_t i = 0; i < depth; i += GQ_DEV_NVFP4_BLOCK) {
    int64_t scale = gq_dev_tile128x4_offset(
        tiledRow, (k + i) / GQ_DEV_NVFP4_BLOCK, paddedColumns);
    gq_dev_nvfp4_dequantize(codes + (k + i) / 2, tiledScales[scale], x + i);
  }
}

/// sums += a . b over `depth` elements of K. The order of the terms of a sum is
/// that of K.
GQ_DEV void multiply(gqMmTile *tile, int64_t rows, int64_t depth) {
  for (int64_t i = 0; i < rows; i += MICRO_ROWS)
    for (int64_t j = 0; j < TILE_COLUMNS; j += MICRO_COLUMNS) {
      double sums[MICRO_ROWS][MICRO_COLUMNS];
      for (int r = 0; r < MICRO_ROWS; ++r)
        for (int c = 0; c < MICRO_COLUMNS; ++c)
          sums[r][c] = tile->sums[i + r][j + c];
      for (int64_t k = 0; k < depth; ++k)
        for (int r = 0; r < MICRO_ROWS; ++r)
          for (int c = 0; c < MICRO_COLUMNS; ++c)
            sums[r][c] += (double)tile->a[i + r][k] * (double)tile->b[k][j + c];
      for (int r = 0; r < MICRO_ROWS; ++r)
        for (int c = 0; c < MICRO_COLUMNS; ++c)
          tile->sums[i + r][j + c] = sums[r][c];
    }
}

/// The sums of a tile: `rows` rows of A from `row` on, the first of which has
/// its scales in row `scaleRow`, times `columns` rows of B[e] from `column` on.
/// Rows and columns of the tile beyond those hold values of no meaning.
GQ_CPU_CLONES
static void sumTile(const gqGroupedMmOperands *operands, int64_t e, int64_t row,
                    int64_t scaleRow, int64_t rows, int64_t column,
                    int64_t columns, gqMmTile *tile) {
  int64_t n = operands->b.sizes[1], halfK = operands->b.sizes[2];
  int64_t paddedColumns = operands->bScales.sizes[2];
  const uint8_t *b = (const uint8_t *)operands->b.data + e * n * halfK;
  const uint8_t *bScales = (const uint8_t *)operands->bScales.data +
                           e * operands->bScales.sizes[1] * paddedColumns;

  memset(tile->sums, 0, sizeof(tile->sums));
  for (int64_t k = 0; k < 2 * halfK; k += TILE_DEPTH) {
    int64_t depth = least(2 * halfK - k, TILE_DEPTH);
    for (int64_t r = 0; r < rows; ++r)
      dequantize(gqCpuRow(&operands->a, row + r), operands->aScales.data,
                 scaleRow + r, paddedColumns, k, depth, tile->a[r]);
    for (int64_t c = 0; c < columns; ++c) {
      float x[TILE_DEPTH];
      dequantize(b + (column + c) * halfK, bScales, column + c, paddedColumns,
                 k, depth, x);
      for (int64_t i = 0; i < depth; ++i)
        tile->b[i][c] = x[i];
    }
    multiply(tile, rows, depth);
  }
}

static void storeRow(const double *sums, double alpha, int64_t count,
                     const gqBuffer *out, int64_t row, int64_t column) {
  void *data = gqCpuRow(out, row);
  for (int64_t c = 0; c < count; ++c) {
    double value = alpha * sums[c];
    if (out->type == GQ_F32)
      ((float *)data)[column + c] = (float)value;
    else
      ((uint16_t *)data)[column + c] = out->type == GQ_BF16
                                           ? gq_dev_bf16_from_f64(value)
                                           : gq_dev_f16_from_f64(value);
  }
}

static void run(const gqGroupedMmOperands *operands, gq_dev_groups groups,
                gqMmTile *tile) {
  const float *alpha = operands->alpha.data;
  int64_t n = operands->b.sizes[1];
  for (int64_t e = 0; e < groups.numGroups; ++e) {
    int64_t begin = gq_dev_group_begin(groups, e);
    int64_t end = gq_dev_group_begin(groups, e + 1);
    int64_t scaleBegin = gq_dev_group_scale_begin(groups, e);
    for (int64_t row = begin; row < end; row += TILE_ROWS)
      for (int64_t column = 0; column < n; column += TILE_COLUMNS) {
        int64_t rows = least(end - row, TILE_ROWS);
        int64_t columns = least(n - column, TILE_COLUMNS);
        sumTile(operands, e, row, scaleBegin + row - begin, rows, column,
                columns, tile);
        for (int64_t r = 0; r < rows; ++r)
          storeRow(tile->sums[r], alpha ? (double)alpha[e] : 1.0, columns,
                   &operands->out, row + r, column);
      }
  }
}

void gqCpuGroupedMm(const gqGroupedMmOperands *operands, int32_t format,
                    int32_t scaleLayout) {
  gqCpuOp op;
  gq_dev_groups groups;
  if (!gqCpuBegin(&op, "grouped_mm"))
    return;
  if (check(&op, operands, format, scaleLayout, &groups)) {
    // Zeroed, because the products of a partial tile also read what no operand
    // filled.
    gqMmTile *tile = calloc(1, sizeof(*tile));
    if (tile)
      run(operands, groups, tile);
    else
      gqCpuFail(&op, GQ_OUT_OF_MEMORY, "no memory for a tile of %zu bytes",
                sizeof(*tile));
    free(tile);
  }
  gqCpuEnd(&op);
}
