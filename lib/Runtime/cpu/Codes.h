//===- Codes.h - codes of a tile, in memory and one per byte -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In memory two codes of 4 bits share a byte. Codes that are stored transposed
// follow each other column by column.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_CODES_H
#define GQ_LIB_RUNTIME_CPU_CODES_H

#include "lib/Runtime/CpuTiles.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <string.h>

/// Bytes from neighbouring codes, and back. They are loaded as numbers whose
/// first byte is the lowest, so that this is arithmetic on whole vectors.
GQ_DEV void packPairs(const uint8_t *codes, int64_t count, uint8_t *bytes) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t pair;
    memcpy(&pair, codes + 2 * i, sizeof(pair));
    bytes[i] = (uint8_t)(pair | pair >> 4);
  }
}
GQ_DEV void unpackPairs(const uint8_t *bytes, int64_t count, uint8_t *codes) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t pair = (uint16_t)((bytes[i] | bytes[i] << 4) & 0x0f0f);
    memcpy(codes + 2 * i, &pair, sizeof(pair));
  }
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the code of even index is in the lower byte");

enum { SQUARE = 16 };
typedef uint8_t Bytes __attribute__((vector_size(SQUARE)));

/// Transposes 16 rows of 16 bytes. What the rows i and i + 8 become by taking
/// turns are rows 2 * i and 2 * i + 1 of the next step; four steps turn the
/// eight bits of an index around by four. Rows are so many bytes apart.
GQ_DEV void transposeSquare(const uint8_t *from, int64_t fromStride,
                            uint8_t *to, int64_t toStride) {
  Bytes a[SQUARE], b[SQUARE];
  for (int i = 0; i < SQUARE; ++i)
    memcpy(&a[i], from + i * fromStride, SQUARE);
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < SQUARE / 2; ++i) {
      b[2 * i] = __builtin_shufflevector(a[i], a[i + 8], 0, 16, 1, 17, 2, 18, 3,
                                         19, 4, 20, 5, 21, 6, 22, 7, 23);
      b[2 * i + 1] =
          __builtin_shufflevector(a[i], a[i + 8], 8, 24, 9, 25, 10, 26, 11, 27,
                                  12, 28, 13, 29, 14, 30, 15, 31);
    }
    memcpy(a, b, sizeof(a));
  }
  for (int i = 0; i < SQUARE; ++i)
    memcpy(to + i * toStride, &a[i], SQUARE);
}

/// Transposes [rows, columns], up to the next multiples of 16.
static void transpose(const uint8_t *from, int64_t fromStride, int64_t rows,
                      int64_t columns, uint8_t *to, int64_t toStride) {
  for (int64_t c = 0; c < columns; c += SQUARE)
    for (int64_t r = 0; r < rows; r += SQUARE)
      transposeSquare(from + r * fromStride + c, fromStride,
                      to + c * toStride + r, toStride);
}

//===----------------------------------------------------------------------===//
// To memory
//===----------------------------------------------------------------------===//

/// Stores codes [rows, columns] as they are.
static void storeCodes(const gqCpuTileCodes codes, int64_t dataBits,
                       int64_t rows, int64_t columns, uint8_t *data,
                       int64_t stride) {
  for (int64_t r = 0; r < rows; ++r)
    if (dataBits == 8)
      memcpy(data + r * stride, codes[r], (size_t)columns);
    else
      packPairs(codes[r], columns / 2, data + r * stride);
}

/// Stores codes [rows, columns], multiples of 32 and 16, as [columns, rows].
static void storeTransposedCodes(const gqCpuTileCodes codes, int64_t dataBits,
                                 int64_t rows, int64_t columns, uint8_t *data,
                                 int64_t stride) {
  _Alignas(GQ_CPU_LINE) gqCpuTileCodes pairs;
  if (dataBits == 4) {
    for (int64_t r = 0; r < rows / 2; ++r)
      for (int64_t c = 0; c < GQ_CPU_TILE; ++c)
        pairs[r][c] = (uint8_t)(codes[2 * r][c] | codes[2 * r + 1][c] << 4);
    rows /= 2;
    codes = pairs;
  }
  transpose(codes[0], GQ_CPU_TILE, rows, columns, data, stride);
}

//===----------------------------------------------------------------------===//
// From memory
//===----------------------------------------------------------------------===//

static void loadCodes(const uint8_t *data, int64_t stride, int64_t dataBits,
                      int64_t rows, int64_t columns, gqCpuTileCodes codes) {
  for (int64_t r = 0; r < rows; ++r)
    if (dataBits == 8)
      memcpy(codes[r], data + r * stride, (size_t)columns);
    else
      unpackPairs(data + r * stride, columns / 2, codes[r]);
}

/// Loads codes [rows, columns] that are stored as [columns, rows].
static void loadTransposedCodes(const uint8_t *data, int64_t stride,
                                int64_t dataBits, int64_t rows, int64_t columns,
                                gqCpuTileCodes codes) {
  gqCpuTileCodes stored, pairs;
  int64_t lines = dataBits == 4 ? (rows + 1) / 2 : rows;
  for (int64_t c = 0; c < columns; ++c)
    memcpy(stored[c], data + c * stride, (size_t)lines);
  transpose(stored[0], GQ_CPU_TILE, columns, lines,
            dataBits == 8 ? codes[0] : pairs[0], GQ_CPU_TILE);
  if (dataBits == 8)
    return;
  for (int64_t r = 0; r < lines; ++r)
    for (int64_t c = 0; c < GQ_CPU_TILE; ++c) {
      codes[2 * r][c] = pairs[r][c] & 15;
      codes[2 * r + 1][c] = pairs[r][c] >> 4;
    }
}

#endif // GQ_LIB_RUNTIME_CPU_CODES_H
