//===- Quantize.h - codes and scales of a tile -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In three steps, each a plain loop over a line of numbers, which compilers
// turn into SIMD code: the largest magnitudes of blocks, their scales, the
// codes. Rows are quantized a band at a time, columns a row of blocks at a
// time, so that what a step leaves is in the first-level cache for the next.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_QUANTIZE_H
#define GQ_LIB_RUNTIME_CPU_QUANTIZE_H

#include "Codes.h"
#include "DequantizeLines.h"
#include "Elements.h"
#include "Method.h"
#include "QuantizeColumns.h"
#include "QuantizeLines.h"
#include "Squares.h"

enum {
  /// Rows of a band, at least a block's; those of a square block.
  BAND = GQ_SQUARE_BLOCK,
  /// The most blocks of a band.
  BAND_BLOCKS = GQ_CPU_TILE * GQ_CPU_TILE_BLOCKS,
};

/// Only nvfp4 is rounded so.
GQ_DEV bool isStochastic(const Method *m) {
  return m->traits.scaleRule == GQ_SCALE_RULE_NVFP4 &&
         m->direction->traits.rounding == GQ_ROUNDING_STOCHASTIC;
}

/// The scales and factors of `count` blocks. `outers` is null, or the outer
/// scale of each.
GQ_DEV void scaleBlocks(const Method *m, const float *amax, const float *outers,
                        int64_t count, uint32_t *bits, float *factors) {
  float outer = m->direction->outer;
  if (outers)
    for (int64_t i = 0; i < count; ++i) {
      gq_dev_block_scale scale = gq_dev_block_scale_from_amax(
          m->format, m->recipe, amax[i], outers[i]);
      bits[i] = scale.bits;
      factors[i] = scale.factor;
    }
  else
    for (int64_t i = 0; i < count; ++i) {
      gq_dev_block_scale scale =
          gq_dev_block_scale_from_amax(m->format, m->recipe, amax[i], outer);
      bits[i] = scale.bits;
      factors[i] = scale.factor;
    }
}

/// Random bytes of the elements of `count` blocks of 16, `step` elements apart:
/// element j of block i has word number j / 4 of `words`, there the number i.
GQ_DEV void drawBytes(const gqCpuTileDirection *direction, int64_t first,
                      int64_t step, int64_t count,
                      uint32_t words[4][GQ_CPU_TILE]) {
  const gq_dev_rng_keys rng = gq_dev_rng_keys_of(direction->rng);
  for (int64_t i = 0; i < count; ++i) {
    gq_dev_random random =
        gq_dev_random_of_block(&rng, direction->columnwise, first + i * step);
    for (int w = 0; w < 4; ++w)
      words[w][i] = random.words[w];
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Of each `block` of a row of GQ_CPU_TILE elements. Neighbours are compared,
/// then the largest of neighbours: compilers do that in vectors.
GQ_DEV void rowAmax(const float *x, int64_t block, float *amax) {
  float m[GQ_CPU_TILE], next[GQ_CPU_TILE];
  for (int64_t i = 0; i < GQ_CPU_TILE; ++i)
    m[i] = gq_dev_max(__builtin_fabsf(x[i]), 0.0f);
  for (int64_t n = GQ_CPU_TILE / 2; n >= GQ_CPU_TILE / block; n /= 2) {
    for (int64_t i = 0; i < n; ++i)
      next[i] = gq_dev_max(m[2 * i], m[2 * i + 1]);
    memcpy(m, next, (size_t)n * sizeof(float));
  }
  memcpy(amax, m, (size_t)(GQ_CPU_TILE / block) * sizeof(float));
}

/// Of each block of `count` rows, amax[row][block].
GQ_DEV void rowAmaxes(const Method *m, const gqCpuTile *tile, int64_t first,
                      int64_t count, float *amax) {
  const int64_t block = m->traits.blockColumns;
  int64_t blocks = tile->columns / block;
  for (int64_t r = 0; r < count; ++r) {
    float ofRow[GQ_CPU_TILE_BLOCKS];
    rowAmax(tile->x[first + r], block, ofRow);
    memcpy(amax + r * blocks, ofRow, (size_t)blocks * sizeof(float));
  }
  if (m->traits.blockRows == 1 && !gqDirectionHasSquares(&m->direction->traits))
    return;
  for (int64_t b = 0; b < blocks; ++b) {
    float all = 0.0f;
    for (int64_t r = 0; r < count; ++r)
      all = gq_dev_max(amax[r * blocks + b], all);
    for (int64_t r = 0; r < count; ++r)
      amax[r * blocks + b] = all;
  }
}

/// The outer scale of each block of rows that have one of their own; null if
/// all have the same.
GQ_DEV const float *rowOuters(const Method *m, int64_t first, int64_t count,
                              int64_t blocks, float *outers) {
  const float *amaxes = m->direction->outerAmaxes;
  if (!amaxes)
    return NULL;
  for (int64_t r = 0; r < count; ++r) {
    float outer = gq_dev_nvfp4_te_outer(amaxes[first + r]);
    for (int64_t b = 0; b < blocks; ++b)
      outers[r * blocks + b] = outer;
  }
  return outers;
}

/// The codes of a row from its blocks' factors.
GQ_DEV void encodeRow(const Method *m, const float *x, const float *factors,
                      int64_t columns, uint8_t *codes) {
  const int64_t block = m->traits.blockColumns;
  for (int64_t b = 0; b < columns / block; ++b) {
    float factor = factors[b];
    for (int64_t i = b * block; i < (b + 1) * block; ++i)
      codes[i] = gq_dev_code_from_f32(m->format, x[i] * factor);
  }
}

/// The same of nvfp4, rounded stochastically; the row begins at element
/// `first`.
GQ_DEV void encodeRowStochastically(const Method *m, const float *x,
                                    const float *factors, int64_t first,
                                    int64_t columns, uint8_t *codes) {
  enum { BLOCK = GQ_DEV_NVFP4_BLOCK };
  uint32_t words[4][GQ_CPU_TILE];
  drawBytes(m->direction, first, BLOCK, columns / BLOCK, words);
  for (int64_t b = 0; b < columns / BLOCK; ++b)
    for (int64_t i = 0; i < BLOCK; ++i)
      codes[b * BLOCK + i] = (uint8_t)gq_dev_e2m1_stochastic(
          x[b * BLOCK + i] * factors[b], words[i / 4][b] >> i % 4 * 8 & 255);
}

GQ_DEV void quantizeRows(const Method *m, const gqCpuTile *tile, uint8_t *data,
                         int64_t stride, gqCpuTileScales *scales) {
  const gqFormatTraits traits = m->traits;
  const gqCpuTileDirection *d = m->direction;
  int64_t blocks = tile->columns / traits.blockColumns;
  int64_t band = traits.blockRows > BAND ? traits.blockRows : BAND;
  for (int64_t first = 0; first < tile->rows; first += band) {
    int64_t count = tile->rows - first < band ? tile->rows - first : band;
    float amax[BAND_BLOCKS], outers[BAND_BLOCKS], factors[BAND_BLOCKS];
    uint32_t bits[BAND_BLOCKS];
    uint8_t codes[GQ_CPU_TILE];
    rowAmaxes(m, tile, first, count, amax);
    scaleBlocks(m, amax, rowOuters(m, first, count, blocks, outers),
                count * blocks, bits, factors);
    for (int64_t r = 0; r < count; r += traits.blockRows)
      memcpy(scales->bits[(first + r) / traits.blockRows], bits + r * blocks,
             (size_t)blocks * sizeof(uint32_t));
    for (int64_t r = 0; r < count; ++r) {
      const float *x = tile->x[first + r];
      prefetchRow(tile, first + r);
      if (isStochastic(m))
        encodeRowStochastically(m, x, factors + r * blocks,
                                d->first + (first + r) * d->pitch,
                                tile->columns, codes);
      else
        encodeRow(m, x, factors + r * blocks, tile->columns, codes);
      uint8_t *to = data + (first + r) * stride;
      if (traits.dataBits == 4)
        packPairs(codes, tile->columns / 2, to);
      else
        memcpy(to, codes, (size_t)tile->columns);
    }
  }
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Of the blocks of `count` rows from row `first` on, one in each column.
GQ_DEV void columnAmaxes(const Method *m, const gqCpuTile *tile, int64_t first,
                         int64_t count, float *amax) {
  memset(amax, 0, GQ_CPU_TILE * sizeof(float));
  raiseToColumns(tile, first, count, amax);
  int64_t width = m->traits.blockRows;
  if (gqDirectionHasSquares(&m->direction->traits))
    width = GQ_SQUARE_BLOCK;
  if (width > 1)
    for (int64_t c = 0; c < tile->columns; c += width) {
      float all = gq_dev_f32_amax(amax + c, (int)width);
      for (int64_t i = 0; i < width; ++i)
        amax[c + i] = all;
    }
}

GQ_DEV const float *columnOuters(const Method *m, int64_t columns,
                                 float *outers) {
  const float *amaxes = m->direction->outerAmaxes;
  if (!amaxes)
    return NULL;
  for (int64_t c = 0; c < columns; ++c)
    outers[c] = gq_dev_nvfp4_te_outer(amaxes[c]);
  return outers;
}

/// The codes of `count` rows from row `first` on.
GQ_DEV void encodeColumns(const Method *m, const gqCpuTile *tile,
                          const float *factors, int64_t first, int64_t count,
                          gqCpuTileCodes codes) {
  uint32_t words[4][GQ_CPU_TILE];
  const gqCpuTileDirection *d = m->direction;
  if (isStochastic(m)) {
    drawBytes(d, d->first + first * d->pitch, 1, tile->columns, words);
    for (int64_t i = 0; i < count; ++i) {
      prefetchRow(tile, first + i);
      for (int64_t c = 0; c < tile->columns; ++c)
        codes[first + i][c] =
            (uint8_t)gq_dev_e2m1_stochastic(tile->x[first + i][c] * factors[c],
                                            words[i / 4][c] >> i % 4 * 8 & 255);
    }
    return;
  }
  for (int64_t r = first; r < first + count; ++r) {
    prefetchRow(tile, r);
    for (int64_t c = 0; c < tile->columns; ++c)
      codes[r][c] = gq_dev_code_from_f32(m->format, tile->x[r][c] * factors[c]);
  }
}

/// Zeros the codes of the rows that pad a tile to be transposed.
GQ_DEV void clearMissing(const gqCpuTile *tile, gqCpuTileCodes codes) {
  int64_t paddedRows = gq_dev_up(tile->rows, GQ_CPU_TRANSPOSED_UNIT);
  memset(codes[tile->rows], 0,
         (size_t)(paddedRows - tile->rows) * sizeof(codes[0]));
}

/// Stores codes of columns, those of missing rows too.
GQ_DEV void storeColumns(const gqCpuTile *tile, gqFormatTraits traits,
                         gqCpuTileCodes codes, uint8_t *data, int64_t stride) {
  int64_t paddedRows = gq_dev_up(tile->rows, GQ_CPU_TRANSPOSED_UNIT);
  if (traits.transposes)
    storeTransposedCodes(codes, traits.dataBits, paddedRows, tile->columns,
                         data, stride);
  else
    storeCodes(codes, traits.dataBits, tile->rows, tile->columns, data, stride);
}

GQ_DEV void quantizeColumns(const Method *m, const gqCpuTile *tile,
                            uint8_t *data, int64_t stride,
                            gqCpuTileScales *scales) {
  const gqFormatTraits traits = m->traits;
  int64_t paddedRows = gq_dev_up(tile->rows, GQ_CPU_TRANSPOSED_UNIT);
  float amax[GQ_CPU_TILE], outerScales[GQ_CPU_TILE], factors[GQ_CPU_TILE];
  uint32_t bits[GQ_CPU_TILE];
  gqCpuTileCodes codes;
  const float *outers = columnOuters(m, tile->columns, outerScales);
  for (int64_t r = 0; r < paddedRows; r += traits.blockColumns) {
    int64_t rows = tile->rows - r;
    rows = rows < 0                     ? 0
           : rows < traits.blockColumns ? rows
                                        : traits.blockColumns;
    columnAmaxes(m, tile, r, rows, amax);
    scaleBlocks(m, amax, outers, tile->columns, bits, factors);
    for (int64_t c = 0; c < tile->columns; ++c)
      scales->bits[c / traits.blockRows][r / traits.blockColumns] = bits[c];
    encodeColumns(m, tile, factors, r, rows, codes);
  }
  clearMissing(tile, codes);
  storeColumns(tile, traits, codes, data, stride);
}

//===----------------------------------------------------------------------===//
// Either
//===----------------------------------------------------------------------===//

/// Format and recipe are constants in the callers.
GQ_DEV void quantizeAs(gqFormat format, gqRecipe recipe, const gqCpuTile *tile,
                       const gqCpuTileDirection *direction, uint8_t *data,
                       int64_t stride, gqCpuTileScales *scales) {
  const Method m = {format, recipe, gqFormatGetTraits(format), direction};
  if (direction->columnwise)
    quantizeColumns(&m, tile, data, stride, scales);
  else
    quantizeRows(&m, tile, data, stride, scales);
}

/// By squares, for four over six.
static void quantizeBySquares(const gqCpuTile *tile, gqRecipe recipe,
                              const gqCpuTileDirection *direction,
                              uint8_t *data, int64_t stride,
                              gqCpuTileScales *scales) {
  gqCpuTileCodes codes;
  quantizeSquares(tile, recipe, direction, codes, scales);
  if (direction->columnwise)
    storeColumns(tile, gqFormatGetTraits(GQ_FORMAT_NVFP4), codes, data, stride);
  else
    storeCodes(codes, GQ_E2M1_BITS, tile->rows, tile->columns, data, stride);
}

/// Quantizes a tile in one direction. Writes the codes to `data`, whose rows
/// are `stride` bytes apart: [rows, columns] or, where the format transposes
/// columns, [columns, up(rows, 32)].
static void quantizeTile(const gqCpuTile *tile, gqCpuMethod method,
                         const gqCpuTileDirection *direction, uint8_t *data,
                         int64_t stride, gqCpuTileScales *scales) {
  memset(scales, 0, sizeof(*scales));
  if (gqDirectionHasFourOverSix(&direction->traits)) {
    quantizeBySquares(tile, method.recipe, direction, data, stride, scales);
    return;
  }
  gqCpuTile transformed;
  if (direction->traits.transform != GQ_TRANSFORM_NONE) {
    transformed = *tile;
    transformTile(&transformed, direction->traits.signs);
    tile = &transformed;
  }
#define GQ_CALL(FORMAT, RECIPE)                                                \
  quantizeAs(FORMAT, RECIPE, tile, direction, data, stride, scales)
#include "Method.def"
}

//===----------------------------------------------------------------------===//
// A job of tiles
//===----------------------------------------------------------------------===//

/// Stores the scales of the tile at (row, column).
static void storeScales(gqCpuMethod method, bool columnwise,
                        const gqCpuDirection *direction, const gqCpuTile *tile,
                        int64_t row, int64_t column,
                        const gqCpuTileScales *scales) {
  // A tile's own scales; and those before it, in either dimension.
  gqCpuScaleExtents own = gqCpuGetScaleExtents(method.format, columnwise,
                                               tile->rows, tile->columns);
  gqCpuScaleExtents before =
      gqCpuGetScaleExtents(method.format, columnwise, row, column);
  if (method.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4) {
    gqCpuStoreScaleTiles(
        scales, own.columns,
        direction->scales + gq_dev_tile128x4_offset(before.rows, before.columns,
                                                    direction->scaleStride));
    return;
  }
  bool wide = gqFormatGetTraits(method.format).scaleType == GQ_F32;
  for (int64_t i = 0; i < own.rows; ++i)
    for (int64_t j = 0; j < own.columns; ++j) {
      int64_t to =
          (before.rows + i) * direction->scaleStride + before.columns + j;
      if (wide)
        ((float *)direction->scales)[to] =
            gq_dev_f32_from_bits(scales->bits[i][j]);
      else
        direction->scales[to] = (uint8_t)scales->bits[i][j];
    }
}

//===----------------------------------------------------------------------===//
// Numbers in place of codes
//===----------------------------------------------------------------------===//

/// What a format's numbers are multiplied or divided by besides their blocks'
/// scales; null if nothing. `inverse` is of the caller.
static const float *outerBack(gqCpuMethod method, const gqCpuTileDirection *how,
                              float *inverse) {
  if (!gqFormatHasBlockScales(method.format)) {
    *inverse = gq_dev_given_inverse(how->outer);
    return inverse;
  }
  if (gqFormatGetTraits(method.format).scaleRule != GQ_SCALE_RULE_NVFP4)
    return NULL;
  if (method.recipe == GQ_RECIPE_NVFUSER)
    return how->outer == 1.0f ? NULL : &how->outer;
  return how->outerAmaxes ? how->outerAmaxes : how->outerAmax;
}

/// How codes and linear scales become the numbers that they stand for, as those
/// of a tile or of lines would if they were stored. `inverse` is of the caller.
static gqCpuDequantization
wayBack(gqCpuMethod method, const gqCpuTileDirection *how, float *inverse) {
  return (gqCpuDequantization){
      .format = gqFormatHasBlockScales(method.format) ? method.format
                                                      : GQ_FORMAT_NONE,
      .recipe = method.recipe,
      .columnwise = how->columnwise,
      .type = gqFormatGetTraits(method.format).dataType,
      .outer = outerBack(method, how, inverse),
      .outerDown = how->traits.outer == GQ_OUTER_OF_ROW,
      .outerAcross = how->traits.outer == GQ_OUTER_OF_COLUMN,
      .scaleMax = how->traits.scaleMax,
  };
}

/// Where the numbers of what begins at (row, column) go.
static gqBuffer numbersAt(const gqCpuDirection *d, int64_t row,
                          int64_t column) {
  gqBuffer out = d->numbers;
  out.data = (uint8_t *)gqCpuRow(&out, row) +
             column * gqElementTypeSize((gqElementType)out.type);
  return out;
}

/// The numbers of a tile, by way of `how`, its direction, to `out`.
static void fakeQuantize(gqCpuMethod method, const gqCpuTileDirection *how,
                         const gqCpuTile *tile, gqBuffer out) {
  gqFormatTraits traits = gqFormatGetTraits(method.format);
  bool transposed = how->columnwise && traits.transposes;
  uint8_t codes[sizeof(gqCpuTileCodes)];
  gqCpuTileScales scales;
  _Alignas(float) uint8_t bytes[sizeof(scales)];
  gqCpuDirection linear = {
      .scales = bytes,
      .scaleStride = gqCpuGetScaleExtents(method.format, how->columnwise,
                                          tile->rows, tile->columns)
                         .columns};
  float inverse;
  gqCpuDequantization back = wayBack(method, how, &inverse);
  back.data = codes;
  back.stride =
      (transposed ? GQ_CPU_TILE : tile->columns) * traits.dataBits / 8;
  back.scales = bytes;
  back.scaleStride = linear.scaleStride;
  back.out = out;
  const gqCpuJob all = {.rows = tile->rows, .columns = tile->columns};
  quantizeTile(tile, method, how, codes, back.stride, &scales);
  method.scaleLayout = GQ_SCALE_LAYOUT_LINEAR;
  if (gqFormatHasBlockScales(method.format))
    storeScales(method, how->columnwise, &linear, tile, 0, 0, &scales);
  dequantize(&back, &all);
}

/// The numbers of lines, of at most GQ_CPU_JOB_COLUMNS columns, as many rows at
/// a time as there is room for; the result is the largest magnitude, if that is
/// wanted.
static float fakeQuantizeLines(Lines l) {
  const gqCpuQuantization *q = l.q;
  const gqFormatTraits traits = gqFormatGetTraits(q->method.format);
  uint8_t codes[GQ_CPU_JOB_COLUMNS];
  float scales[GQ_CPU_JOB_COLUMNS / PART];
  gqCpuQuantization part = *q;
  if (becomeNumbers(q)) {
    part.rowwise.scales = NULL;
    l.q = &part;
    return quantizeLines(l);
  }
  part.method.scaleLayout = GQ_SCALE_LAYOUT_LINEAR;
  part.rowwise.data = codes;
  part.rowwise.stride = l.columns * traits.dataBits / 8;
  part.rowwise.scales =
      gqFormatHasBlockScales(q->method.format) ? (uint8_t *)scales : NULL;
  part.rowwise.scaleStride = l.columns / traits.blockColumns;
  int64_t end = l.row + l.rows, most = GQ_CPU_JOB_COLUMNS / l.columns;
  float amax = 0.0f, inverse;
  for (int64_t row = l.row; row < end; row += most) {
    int64_t rows = gqCpuLeast(end - row, most);
    const gqCpuJob all = {.rows = rows, .columns = l.columns};
    bool gathers = !gqBufferIsAbsent(&q->rowIndices);
    if (gathers)
      part.rowIndices.data =
          (uint8_t *)q->rowIndices.data +
          row * gqElementTypeSize((gqElementType)q->rowIndices.type);
    part.input.data =
        (uint16_t *)gqCpuRow(&q->input, gathers ? 0 : row) + l.column;
    if (q->rowwise.how.outerAmaxes)
      part.rowwise.how.outerAmaxes = q->rowwise.how.outerAmaxes + row;
    amax =
        gq_dev_max(quantizeLines((Lines){&part, 0, rows, 0, l.columns}), amax);
    gqCpuDequantization back = wayBack(q->method, &part.rowwise.how, &inverse);
    back.data = codes;
    back.stride = part.rowwise.stride;
    back.scales = scales;
    back.scaleStride = part.rowwise.scaleStride;
    back.out = numbersAt(&q->rowwise, row, l.column);
    dequantize(&back, &all);
  }
  return amax;
}

//===----------------------------------------------------------------------===//
// A job
//===----------------------------------------------------------------------===//

static bool hasNumbers(const gqCpuDirection *direction) {
  return !gqBufferIsAbsent(&direction->numbers);
}

static bool wants(const gqCpuDirection *direction) {
  return direction->data || hasNumbers(direction);
}

/// Where the codes of the tile at (row, column) go.
static uint8_t *codesAt(gqCpuMethod method, const gqCpuDirection *direction,
                        int64_t row, int64_t column) {
  gqFormatTraits traits = gqFormatGetTraits(method.format);
  bool transposed = direction->how.columnwise && traits.transposes;
  int64_t dataRow = transposed ? column : row;
  int64_t dataColumn = transposed ? row : column;
  return direction->data + dataRow * direction->stride +
         dataColumn * traits.dataBits / 8;
}

/// Quantizes the columns of the tile at (row, column), which is not loaded.
static void quantizeColumnsInStrips(const gqCpuQuantization *q,
                                    const gqCpuTile *tile, int64_t row,
                                    int64_t column) {
  const gqCpuDirection *d = &q->columnwise;
  _Alignas(GQ_CPU_LINE) gqCpuTileCodes codes;
  gqCpuTileScales scales = {0};
  quantizeStrips(q, tile, row, column, codes, &scales);
  clearMissing(tile, codes);
  storeColumns(tile, gqFormatGetTraits(q->method.format), codes,
               codesAt(q->method, d, row, column), d->stride);
  if (d->scales)
    storeScales(q->method, true, d, tile, row, column, &scales);
}

/// Quantizes the tile at (row, column) in a direction, if that is wanted.
static void quantizeDirection(gqCpuMethod method,
                              const gqCpuDirection *direction,
                              const gqCpuTile *tile, int64_t row,
                              int64_t column) {
  bool columnwise = direction->how.columnwise;
  gqCpuTileScales scales;
  gqCpuTileDirection how = direction->how;
  how.first += row * how.pitch + column;
  if (how.outerAmaxes)
    how.outerAmaxes += columnwise ? column : row;
  if (hasNumbers(direction))
    fakeQuantize(method, &how, tile, numbersAt(direction, row, column));
  if (!direction->data)
    return;
  quantizeTile(tile, method, &how, codesAt(method, direction, row, column),
               direction->stride, &scales);
  if (direction->scales)
    storeScales(method, columnwise, direction, tile, row, column, &scales);
}

/// Lines are as long as the job: short ones end before what they have asked for
/// arrives. Tiles of the same rows come after them and find them in a cache.
static void quantize(const gqCpuQuantization *q, const gqCpuJob *job) {
  bool asLines = wants(&q->rowwise) && isPlain(q, &q->rowwise);
  bool inStrips = q->columnwise.data && isPlain(q, &q->columnwise) &&
                  !q->columnwise.how.outerAmaxes;
  bool rows = !asLines && wants(&q->rowwise);
  bool columns = !inStrips && wants(&q->columnwise);
  bool ofTile = !asLines && q->amax;
  float amax = 0.0f;
  for (int64_t r = 0; r < job->rows; r += GQ_CPU_TILE) {
    int64_t row = job->row + r;
    gqCpuTile tile;
    tile.rows = gqCpuLeast(job->rows - r, GQ_CPU_TILE);
    if (asLines) {
      Lines lines = {q, row, tile.rows, job->column, job->columns};
      amax = gq_dev_max(hasNumbers(&q->rowwise) ? fakeQuantizeLines(lines)
                                                : quantizeLines(lines),
                        amax);
    }
    for (int64_t c = 0; c < job->columns; c += GQ_CPU_TILE) {
      int64_t column = job->column + c;
      tile.columns = tileColumns(job, c);
      if (inStrips)
        quantizeColumnsInStrips(q, &tile, row, column);
      if (!rows && !columns && !ofTile)
        continue;
      loadTile(&q->input, &q->rowIndices, row, column,
               tileColumns(job, c + GQ_CPU_TILE), &tile);
      if (ofTile)
        amax = gq_dev_max(tileAmax(&tile), amax);
      if (rows)
        quantizeDirection(q->method, &q->rowwise, &tile, row, column);
      if (columns)
        quantizeDirection(q->method, &q->columnwise, &tile, row, column);
    }
  }
  if (q->amax)
    gqCpuRaise(q->amax, amax);
}

#endif // GQ_LIB_RUNTIME_CPU_QUANTIZE_H
