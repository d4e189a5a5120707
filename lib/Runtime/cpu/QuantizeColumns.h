//===- QuantizeColumns.h - columns of bf16 to codes, in registers -*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns of bf16 that are rounded to nearest are copied a strip at a time: two
// vectors of neighbouring columns, whose codes fill one. Where they are, rows
// may be so far apart that they displace each other in the first-level cache.
// What is computed for each column is in two vectors of float32 for one of
// elements, of columns of even index and of odd ones (QuantizeLines.h).
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_QUANTIZECOLUMNS_H
#define GQ_LIB_RUNTIME_CPU_QUANTIZECOLUMNS_H

#include "QuantizeLines.h"

#ifdef __AVX2__

enum {
  /// Columns of a strip, and of a vector of elements.
  STRIP_COLUMNS = VECTOR,
  VECTOR_COLUMNS = VECTOR / 2,
};

typedef uint16_t StripRow[STRIP_COLUMNS];

/// The rows of a block of a strip, of which there are `count`; and where they
/// begin in the input, and how many elements later the strip after the next
/// does.
typedef struct BlockRows {
  const StripRow *x;
  int64_t count;
  const uint16_t *const *from;
  int64_t ahead;
} BlockRows;

/// What number `i` of a strip's largest magnitudes, scales and factors is of.
GQ_DEV int stripColumn(int i) {
  int vector = i / VECTOR_COLUMNS, lane = i % VECTOR_COLUMNS;
  return vector * VECTOR_COLUMNS + lane % LANES32 * 2 + lane / LANES32;
}

/// The largest magnitude of each column; the result is whether all elements
/// are finite.
GQ_DEV bool stripAmaxes(BlockRows rows, float amax[STRIP_COLUMNS]) {
  Vector a = {0}, b = {0};
  for (int64_t r = 0; r < rows.count; ++r) {
    const uint16_t *x = rows.x[r];
    a = most16(a, (Vector)((Uint32s)loadVector(x) & 0x7fff7fff));
    b = most16(b,
               (Vector)((Uint32s)loadVector(x + VECTOR_COLUMNS) & 0x7fff7fff));
  }
  storeVector((Vector)((Uint32s)a << 16), amax);
  storeVector((Vector)((Uint32s)a & 0xffff0000), amax + LANES32);
  storeVector((Vector)((Uint32s)b << 16), amax + 2 * LANES32);
  storeVector((Vector)((Uint32s)b & 0xffff0000), amax + 3 * LANES32);
  // Too large a magnitude leaves a 1 in the sign.
  return !hasSign16((Vector)((Uint16s)most16(a, b) + (0x8000 - GQ_BF16_INF)));
}

/// The same by the formula, ignoring NaN.
static __attribute__((cold, noinline)) void
stripAmaxesOfAnything(BlockRows rows, float amax[STRIP_COLUMNS]) {
  for (int i = 0; i < STRIP_COLUMNS; ++i) {
    amax[i] = 0.0f;
    for (int64_t r = 0; r < rows.count; ++r) {
      float x = gq_dev_f32_from_bf16(rows.x[r][stripColumn(i)]);
      amax[i] = gq_dev_max(__builtin_fabsf(x), amax[i]);
    }
  }
}

/// The scales of a block's columns and their factors; the result is whether
/// elements and factors are numbers, and factors have no sign.
GQ_DEV bool scaleStrip(const Method *m, BlockRows rows,
                       uint32_t bits[STRIP_COLUMNS],
                       float factors[STRIP_COLUMNS]) {
  _Alignas(GQ_CPU_LINE) float amax[STRIP_COLUMNS];
  bool regular = stripAmaxes(rows, amax);
  if (__builtin_expect(!regular, 0))
    stripAmaxesOfAnything(rows, amax);
  for (int i = 0; i < STRIP_COLUMNS; i += PARTS)
    regular &=
        scaleParts(m, amax + i, m->direction->outer, bits + i, factors + i);
  return regular;
}

/// The codes of a block's columns, one per byte. Asks for the strip after the
/// next, a row at a time, because more than a core can ask for at once would
/// make it wait. It may not exist: then the address is any.
GQ_DEV void encodeStrip(const Method *m, BlockRows rows,
                        const float factors[STRIP_COLUMNS],
                        uint8_t (*codes)[GQ_CPU_TILE]) {
  Floats f[4];
  memcpy(f, factors, sizeof(f));
  for (int64_t r = 0; r < rows.count; ++r) {
    Vector a = loadVector(rows.x[r]);
    Vector b = loadVector(rows.x[r] + VECTOR_COLUMNS);
    for (int i = 0; i < STRIP_COLUMNS; i += GQ_CPU_LINE / 2)
      __builtin_prefetch((const void *)((uintptr_t)rows.from[r] +
                                        (uintptr_t)(rows.ahead + i) * 2),
                         0, 2);
    storeVector(packBytes(encodeElements(m->traits.code, a, f[0], f[1]),
                          encodeElements(m->traits.code, b, f[2], f[3])),
                codes[r]);
  }
}

static __attribute__((cold, noinline)) void
encodeStripOfAnything(gqFormat format, BlockRows rows,
                      const float factors[STRIP_COLUMNS],
                      uint8_t (*codes)[GQ_CPU_TILE]) {
  for (int64_t r = 0; r < rows.count; ++r)
    for (int i = 0; i < STRIP_COLUMNS; ++i) {
      int c = stripColumn(i);
      codes[r][c] = gq_dev_code_from_f32(
          format, gq_dev_f32_from_bf16(rows.x[r][c]) * factors[i]);
    }
}

/// Copies `columns` columns of a strip, with zeros after them.
GQ_DEV void copyStrip(const uint16_t *const *from, int64_t column, int64_t rows,
                      int64_t columns, StripRow *x) {
  if (columns == STRIP_COLUMNS)
    for (int64_t r = 0; r < rows; ++r)
      memcpy(x[r], from[r] + column, sizeof(*x));
  else
    for (int64_t r = 0; r < rows; ++r) {
      memset(x[r], 0, sizeof(*x));
      memcpy(x[r], from[r] + column, (size_t)columns * sizeof(**x));
    }
}

/// Quantizes the `columns` columns of a strip, block by block. `from` are the
/// rows of the tile, in which it begins at `column`.
GQ_DEV void quantizeStrip(const Method *m, const uint16_t *const *from,
                          int64_t column, int64_t rows, int64_t columns,
                          gqCpuTileCodes codes, gqCpuTileScales *scales) {
  _Alignas(GQ_CPU_LINE) StripRow x[GQ_CPU_TILE];
  copyStrip(from, column, rows, columns, x);
  const int64_t block = m->traits.blockColumns;
  int64_t blocks = gqCpuCeilDiv(gq_dev_up(rows, GQ_CPU_TRANSPOSED_UNIT), block);
  for (int64_t b = 0; b < blocks; ++b) {
    int64_t count = gqCpuLeast(rows - b * block, block);
    BlockRows of = {x + b * block, count < 0 ? 0 : count, from + b * block,
                    column + 2 * STRIP_COLUMNS};
    uint8_t (*to)[GQ_CPU_TILE] =
        (uint8_t (*)[GQ_CPU_TILE]) & codes[b * block][column];
    _Alignas(GQ_CPU_LINE) uint32_t bits[STRIP_COLUMNS];
    _Alignas(GQ_CPU_LINE) float factors[STRIP_COLUMNS];
    if (__builtin_expect(scaleStrip(m, of, bits, factors), 1))
      encodeStrip(m, of, factors, to);
    else
      encodeStripOfAnything(m->format, of, factors, to);
    for (int i = 0; i < STRIP_COLUMNS; ++i)
      if (stripColumn(i) < columns)
        scales->bits[column + stripColumn(i)][b] = bits[i];
  }
}

/// Format and recipe are constants in the caller.
GQ_DEV void quantizeStripsAs(gqFormat format, gqRecipe recipe,
                             const gqCpuTileDirection *direction,
                             const uint16_t *const *from, int64_t rows,
                             int64_t columns, gqCpuTileCodes codes,
                             gqCpuTileScales *scales) {
  const Method m = {format, recipe, gqFormatGetTraits(format), direction};
  for (int64_t c = 0; c < columns; c += STRIP_COLUMNS)
    quantizeStrip(&m, from, c, rows, gqCpuLeast(columns - c, STRIP_COLUMNS),
                  codes, scales);
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// Quantizes the columns of `tile`, which begins at (row, column) and has no
/// elements yet, to codes, one per byte, and scales.
static void quantizeStrips(const gqCpuQuantization *q, const gqCpuTile *tile,
                           int64_t row, int64_t column, gqCpuTileCodes codes,
                           gqCpuTileScales *scales) {
  const gqCpuTileDirection *how = &q->columnwise.how;
  const uint16_t *x[GQ_CPU_TILE];
  // Two loops: of one for both, clang loads indices that are not there under a
  // mask, which took a third of the time.
  if (gqBufferIsAbsent(&q->rowIndices))
    for (int64_t r = 0; r < tile->rows; ++r)
      x[r] = (const uint16_t *)gqCpuRow(&q->input, row + r) + column;
  else
    for (int64_t r = 0; r < tile->rows; ++r)
      x[r] = lineAt(&q->input, &q->rowIndices, row + r, column);
  const gqCpuMethod method = q->method;
#define GQ_CALL(FORMAT, RECIPE)                                                \
  quantizeStripsAs(FORMAT, RECIPE, how, x, tile->rows, tile->columns, codes,   \
                   scales)
#include "Method.def"
}

#else

static void quantizeStrips(const gqCpuQuantization *q, const gqCpuTile *tile,
                           int64_t row, int64_t column, gqCpuTileCodes codes,
                           gqCpuTileScales *scales) {
  (void)q, (void)tile, (void)row, (void)column, (void)codes, (void)scales;
}

#endif // __AVX2__

#endif // GQ_LIB_RUNTIME_CPU_QUANTIZECOLUMNS_H
