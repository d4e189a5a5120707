//===- CpuTiles.c - what the CPU ops do to a tile of a matrix ------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuTiles.h"

#include "CpuClones.h"
#include "runtime_kernels/groups/Groups.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Block.h"
#include "runtime_kernels/transforms/Hadamard.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Elements of a row as floats. `type` is a constant in the callers.
GQ_DEV void loadRow(const void *input, gqElementType type, int64_t count,
                    float *x) {
  if (type == GQ_F32)
    memcpy(x, input, (size_t)count * sizeof(float));
  else
    for (int64_t i = 0; i < count; ++i) {
      uint16_t bits = ((const uint16_t *)input)[i];
      x[i] = type == GQ_BF16 ? gq_dev_f32_from_bf16(bits)
                             : gq_dev_f32_from_f16(bits);
    }
}

GQ_CPU_CLONES
void gqCpuLoadTile(const gqBuffer *input, const gqBuffer *rowIndices,
                   int64_t row, int64_t column, gqCpuTile *tile) {
  gqElementType type = (gqElementType)input->type;
  bool gathers = !gqBufferIsAbsent(rowIndices);
  for (int64_t r = 0; r < tile->rows; ++r) {
    int64_t source = row + r;
    if (gathers)
      source = gq_dev_load_index(rowIndices->data, rowIndices->type == GQ_I64,
                                 source);
    const void *from = (const uint8_t *)gqCpuRow(input, source) +
                       column * gqElementTypeSize(type);
    if (type == GQ_F32)
      loadRow(from, GQ_F32, tile->columns, tile->x[r]);
    else if (type == GQ_BF16)
      loadRow(from, GQ_BF16, tile->columns, tile->x[r]);
    else
      loadRow(from, GQ_F16, tile->columns, tile->x[r]);
  }
}

GQ_DEV float tileAmax(const gqCpuTile *tile) {
  float amax = 0.0f;
  for (int64_t r = 0; r < tile->rows; ++r)
    amax = gq_dev_max(gq_dev_f32_amax(tile->x[r], (int)tile->columns), amax);
  return amax;
}

GQ_CPU_CLONES
float gqCpuTileAmax(const gqCpuTile *tile) { return tileAmax(tile); }

GQ_CPU_CLONES
void gqCpuTransformTile(gqCpuTile *tile, uint32_t signs) {
  const int64_t size = GQ_DEV_HADAMARD_SIZE;
  int64_t rows = gq_dev_up(tile->rows, size);
  for (int64_t r = tile->rows; r < rows; ++r)
    memset(tile->x[r], 0, sizeof(tile->x[r]));
  for (int64_t r = 0; r < rows; r += size)
    for (int64_t c = 0; c < tile->columns; ++c) {
      float x[GQ_DEV_HADAMARD_SIZE];
      for (int64_t i = 0; i < size; ++i)
        x[i] = tile->x[r + i][c];
      gq_dev_hadamard16(signs, x);
      for (int64_t i = 0; i < size; ++i)
        tile->x[r + i][c] = gq_dev_hadamard_rounded(x[i]);
    }
  tile->rows = rows;
}

GQ_CPU_CLONES
void gqCpuRaiseToTileRows(const gqCpuTile *tile, float *rows) {
  for (int64_t r = 0; r < tile->rows; ++r)
    rows[r] =
        gq_dev_max(gq_dev_f32_amax(tile->x[r], (int)tile->columns), rows[r]);
}

GQ_CPU_CLONES
void gqCpuRaiseToTileColumns(const gqCpuTile *tile, float *columns) {
  for (int64_t r = 0; r < tile->rows; ++r)
    for (int64_t c = 0; c < tile->columns; ++c)
      columns[c] = gq_dev_max(__builtin_fabsf(tile->x[r][c]), columns[c]);
}

GQ_CPU_CLONES
void gqCpuAddTileSums(const gqCpuTile *tile, float sums[GQ_CPU_TILE]) {
  float tileSums[GQ_CPU_TILE] = {0};
  for (int64_t r = 0; r < tile->rows; ++r)
    for (int64_t c = 0; c < tile->columns; ++c)
      tileSums[c] += tile->x[r][c];
  for (int64_t c = 0; c < tile->columns; ++c)
    sums[c] += tileSums[c];
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Stores the codes of a block, `count` a constant.
GQ_DEV void encodeBlock(gqFormat format, const float *x, int64_t count,
                        float factor, uint8_t *data) {
  uint8_t codes[GQ_CPU_TILE];
  if (gqFormatGetTraits(format).dataBits == 8) {
    for (int64_t i = 0; i < count; ++i)
      codes[i] = gq_dev_code_from_f32(format, x[i] * factor);
    memcpy(data, codes, (size_t)count);
    return;
  }
  for (int64_t i = 0; i < count / 2; ++i) {
    uint32_t low = gq_dev_code_from_f32(format, x[2 * i] * factor);
    uint32_t high = gq_dev_code_from_f32(format, x[2 * i + 1] * factor);
    codes[i] = (uint8_t)(low | high << 4);
  }
  memcpy(data, codes, (size_t)count / 2);
}

GQ_DEV void quantizeRows(const gqCpuTile *tile, gqFormat format,
                         gqRecipe recipe, float outer, uint8_t *data,
                         int64_t stride, gqCpuTileScales *scales) {
  const gqFormatTraits traits = gqFormatGetTraits(format);
  const int64_t block = traits.blockColumns;
  const int64_t blockBytes = block * traits.dataBits / 8;
  for (int64_t first = 0; first < tile->rows; first += traits.blockRows)
    for (int64_t b = 0; b < tile->columns / block; ++b) {
      int64_t end = first + traits.blockRows;
      end = end < tile->rows ? end : tile->rows;
      float amax = 0.0f;
      for (int64_t r = first; r < end; ++r)
        amax = gq_dev_max(gq_dev_f32_amax(tile->x[r] + b * block, (int)block),
                          amax);
      gq_dev_block_scale scale =
          gq_dev_block_scale_from_amax(format, recipe, amax, outer);
      scales->bits[first / traits.blockRows][b] = scale.bits;
      for (int64_t r = first; r < end; ++r)
        encodeBlock(format, tile->x[r] + b * block, block, scale.factor,
                    data + r * stride + b * blockBytes);
    }
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Quantizes the blocks of `count` rows from row `first` on, one in each
/// column, all columns at once.
GQ_DEV void quantizeColumnBlocks(const gqCpuTile *tile, gqFormat format,
                                 gqRecipe recipe, float outer, int64_t first,
                                 int64_t count, gqCpuTileCodes codes,
                                 gqCpuTileScales *scales) {
  const gqFormatTraits traits = gqFormatGetTraits(format);
  float amax[GQ_CPU_TILE] = {0}, factors[GQ_CPU_TILE];
  uint32_t bits[GQ_CPU_TILE];
  for (int64_t r = first; r < first + count; ++r)
    for (int64_t c = 0; c < tile->columns; ++c)
      amax[c] = gq_dev_max(__builtin_fabsf(tile->x[r][c]), amax[c]);
  if (traits.blockRows > 1)
    for (int64_t c = 0; c < tile->columns; c += traits.blockRows) {
      float all = gq_dev_f32_amax(amax + c, (int)traits.blockRows);
      for (int64_t i = 0; i < traits.blockRows; ++i)
        amax[c + i] = all;
    }
  for (int64_t c = 0; c < tile->columns; ++c) {
    gq_dev_block_scale scale =
        gq_dev_block_scale_from_amax(format, recipe, amax[c], outer);
    bits[c] = scale.bits;
    factors[c] = scale.factor;
  }
  for (int64_t c = 0; c < tile->columns; ++c)
    scales->bits[c / traits.blockRows][first / traits.blockColumns] = bits[c];
  for (int64_t r = first; r < first + count; ++r)
    for (int64_t c = 0; c < tile->columns; ++c)
      codes[r][c] = gq_dev_code_from_f32(format, tile->x[r][c] * factors[c]);
}

/// Stores codes [rows, columns] as they are.
GQ_DEV void storeCodes(const gqCpuTileCodes codes, int64_t dataBits,
                       int64_t rows, int64_t columns, uint8_t *data,
                       int64_t stride) {
  for (int64_t r = 0; r < rows; ++r)
    if (dataBits == 8)
      memcpy(data + r * stride, codes[r], (size_t)columns);
    else
      for (int64_t c = 0; c < columns / 2; ++c)
        data[r * stride + c] =
            (uint8_t)(codes[r][2 * c] | codes[r][2 * c + 1] << 4);
}

/// Stores codes [rows, columns] as [columns, rows]; `rows` is even.
GQ_DEV void storeTransposedCodes(const gqCpuTileCodes codes, int64_t dataBits,
                                 int64_t rows, int64_t columns, uint8_t *data,
                                 int64_t stride) {
  for (int64_t c = 0; c < columns; ++c)
    if (dataBits == 8)
      for (int64_t r = 0; r < rows; ++r)
        data[c * stride + r] = codes[r][c];
    else
      for (int64_t r = 0; r < rows / 2; ++r)
        data[c * stride + r] =
            (uint8_t)(codes[2 * r][c] | codes[2 * r + 1][c] << 4);
}

/// Stores codes of columns, those of missing rows too.
GQ_DEV void storeColumns(const gqCpuTile *tile, gqFormat format,
                         gqCpuTileCodes codes, uint8_t *data, int64_t stride) {
  const gqFormatTraits traits = gqFormatGetTraits(format);
  int64_t paddedRows = gq_dev_up(tile->rows, GQ_CPU_TRANSPOSED_UNIT);
  if (traits.transposes)
    storeTransposedCodes(codes, traits.dataBits, paddedRows, tile->columns,
                         data, stride);
  else
    storeCodes(codes, traits.dataBits, tile->rows, tile->columns, data, stride);
}

GQ_DEV void quantizeColumns(const gqCpuTile *tile, gqFormat format,
                            gqRecipe recipe, float outer, uint8_t *data,
                            int64_t stride, gqCpuTileScales *scales) {
  const gqFormatTraits traits = gqFormatGetTraits(format);
  int64_t paddedRows = gq_dev_up(tile->rows, GQ_CPU_TRANSPOSED_UNIT);
  gqCpuTileCodes codes;
  for (int64_t r = 0; r < paddedRows; r += traits.blockColumns) {
    int64_t rows = tile->rows - r;
    rows = rows < 0                     ? 0
           : rows < traits.blockColumns ? rows
                                        : traits.blockColumns;
    quantizeColumnBlocks(tile, format, recipe, outer, r, rows, codes, scales);
  }
  memset(codes[tile->rows], 0,
         (size_t)(paddedRows - tile->rows) * sizeof(codes[0]));
  storeColumns(tile, format, codes, data, stride);
}

//===----------------------------------------------------------------------===//
// Either
//===----------------------------------------------------------------------===//

/// `format` is a constant in the callers.
GQ_DEV void quantize(const gqCpuTile *tile, gqFormat format, gqRecipe recipe,
                     bool columnwise, float outer, uint8_t *data,
                     int64_t stride, gqCpuTileScales *scales) {
  if (columnwise)
    quantizeColumns(tile, format, recipe, outer, data, stride, scales);
  else
    quantizeRows(tile, format, recipe, outer, data, stride, scales);
}

/// By squares, for directions of nvfp4 that differ from the default.
static void quantizeBySquares(const gqCpuTile *tile, gqRecipe recipe,
                              const gqCpuTileDirection *direction,
                              uint8_t *data, int64_t stride,
                              gqCpuTileScales *scales) {
  gqCpuTileCodes codes;
  gqCpuQuantizeSquares(tile, recipe, direction, codes, scales);
  if (direction->columnwise)
    storeColumns(tile, GQ_FORMAT_NVFP4, codes, data, stride);
  else
    storeCodes(codes, GQ_E2M1_BITS, tile->rows, tile->columns, data, stride);
}

GQ_CPU_CLONES
void gqCpuQuantizeTile(const gqCpuTile *tile, gqCpuMethod method,
                       const gqCpuTileDirection *direction, uint8_t *data,
                       int64_t stride, gqCpuTileScales *scales) {
  memset(scales, 0, sizeof(*scales));
  if (!gqDirectionIsUsual(&direction->traits) || direction->outerAmaxes) {
    quantizeBySquares(tile, method.recipe, direction, data, stride, scales);
    return;
  }
  switch (method.format) {
#define GQ_QUANTIZE(VALUE, NAME, ...)                                          \
  case GQ_FORMAT_##NAME:                                                       \
    quantize(tile, GQ_FORMAT_##NAME, method.recipe, direction->columnwise,     \
             direction->outer, data, stride, scales);                          \
    return;
    GQ_ALL_FORMATS(GQ_QUANTIZE)
#undef GQ_QUANTIZE
  case GQ_FORMAT_NONE: // Not an op's that quantizes.
    break;
  }
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
