//===- Halves.h - codes to f16, with rows innermost --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a step of 64 rows, 128 lines of a side are loaded into registers and
// stored to shared memory as matrix units take them: 128 bytes a line, of which
// the 16 bytes number c are at c ^ line % 8. A line is a row or column of the
// output.
//
// Codes that are flat are lines already. A thread has half a step of a line: 32
// codes. Of others a warp has 8 rows and a lane 4 columns of them, which it
// transposes. NVFP4 becomes what codec Nvfp4Half.h says; others are stored
// without their scales, which go beside them as f32.
//
// Loops have bounds that are constants without the format's, so that they are
// unrolled early.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_WGRAD_HALVES_H
#define GQ_KERNELS_KERNELS_GROUPED_WGRAD_HALVES_H

#include "runtime_kernels/codecs/E8M0.h"
#include "runtime_kernels/kernels/grouped_wgrad/Problem.h"

enum {
  STEP = 64,
  LINE_BYTES = STEP * 2,
  SIDE_BYTES = HEIGHT * LINE_BYTES,
  /// Bytes of the scales of a block of each line.
  SCALE_BYTES = HEIGHT * 4,
};

/// Whether halves have been multiplied by their scales.
GQ_DEV bool isScaled(gqFormat format) { return format == GQ_FORMAT_NVFP4; }

/// Blocks of a step that need a scale each.
GQ_DEV uint32_t blocksOfStep(gqFormat format) {
  return gqFormatGetTraits(format).blockColumns < STEP ? 2 : 1;
}

/// What a thread has of a line: which, and which half.
GQ_DEV uint32_t ownLine(void) { return gq_dev_thread() / 2; }
GQ_DEV uint32_t ownHalf(void) { return gq_dev_thread() % 2; }

/// Where a thread's part of 128 lines of a group begins.
typedef struct Reader {
  const uint8_t GQ_GLOBAL *codes, *scales;
  /// Columns from its first one on, of codes that are not flat, and whether
  /// there is its line.
  int32_t left;
  bool exists;
} Reader;

/// Of lines from `first` on.
GQ_DEV Reader makeReader(const Side *s, const Tile *t, uint32_t first) {
  uint32_t bits = bitsOf(s), line = first + ownLine(), lane = gq_dev_lane();
  bool flat = isFlat(s->format);
  uint32_t column = first + 4 * lane;
  Reader r = {.left = (int32_t)(s->extent - column),
              .exists = line < s->extent};
  int64_t code = flat ? t->before.rows * s->extent +
                            line * gq_dev_up(t->rows, ROW_UNIT) +
                            ownHalf() * (STEP / 2)
                      : column;
  r.codes = s->codes + code * bits / 8;
  if (!flat)
    r.codes += (t->begin + gq_dev_thread() / GQ_DEV_WARP * 8) * s->stride;
  int64_t columns = scaleColumns(s->format, t->rows);
  int64_t scale = t->before.scales * scaleLines(s);
  uint32_t height = (uint32_t)gqFormatGetTraits(s->format).blockRows;
  if (hasTiledScales(s->format))
    r.scales = s->scales + scale + gq_dev_tile128x4_offset(line, 0, columns);
  else
    r.scales = s->scales + (scale + line / height * columns) * 4;
  return r;
}

/// A thread's part of a step: words of its codes, and its scales.
typedef struct Part {
  uint32_t codes[8];
  uint32_t scale;
} Part;

/// `count` bytes, at most 4, whose address is a multiple of as many if
/// `aligned`.
GQ_DEV uint32_t loadBytes(const uint8_t GQ_GLOBAL *p, bool aligned,
                          uint32_t size, int32_t count) {
  if (aligned && count >= (int32_t)size)
    return size == 4 ? *(const uint32_t GQ_GLOBAL *)p
                     : *(const uint16_t GQ_GLOBAL *)p;
  uint32_t x = 0;
  UNROLL for (uint32_t i = 0; i < 4; ++i) if (i < size && (int32_t)i < count)
      x |= (uint32_t)p[i] << 8 * i;
  return x;
}

/// Half a step of a line; `left` rows are left of it, of which there may be
/// none. What is beyond the last row is zero, whatever memory holds.
GQ_DEV void loadFlat(const Side *s, const uint8_t GQ_GLOBAL *p, int64_t left,
                     uint32_t out[8]) {
  const uint32_t words = bitsOf(s), codesOfWord = 32 / bitsOf(s);
  UNROLL for (uint32_t i = 0; i < 8; i += 4) if (i < words) {
    gq_dev_u32x4 x = {0, 0, 0, 0};
    if (s->aligned)
      x = gq_dev_load_streamed16(left > 0, p + 4 * i);
    else if (left > 0)
      x = (gq_dev_u32x4){loadBytes(p + 4 * i, false, 4, 4),
                         loadBytes(p + 4 * i + 4, false, 4, 4),
                         loadBytes(p + 4 * i + 8, false, 4, 4),
                         loadBytes(p + 4 * i + 12, false, 4, 4)};
    out[i] = x.x, out[i + 1] = x.y, out[i + 2] = x.z, out[i + 3] = x.w;
  }
  if (left < STEP / 2)
    UNROLL for (uint32_t i = 0; i < 8; ++i) if (i < words) {
      int64_t codes = left - i * codesOfWord;
      out[i] = codes <= 0 ? 0
               : codes >= codesOfWord
                   ? out[i]
                   : out[i] & ((1u << codes * bitsOf(s)) - 1);
    }
}

/// Eight rows of four columns, a word a row.
GQ_DEV void loadRows(const Side *s, const Reader *r, int64_t row, int64_t rows,
                     uint32_t out[8]) {
  uint32_t size = 4 * bitsOf(s) / 8;
  int32_t count = r->left < 4 ? (r->left > 0 ? r->left : 0) : (int32_t)size;
  int64_t first = row + gq_dev_thread() / GQ_DEV_WARP * 8;
  const uint8_t GQ_GLOBAL *p = r->codes + row * s->stride;
  UNROLL for (uint32_t i = 0; i < 8; ++i) out[i] = loadBytes(
      p + i * s->stride, s->aligned, size, first + i < rows ? count : 0);
}

/// The scales of the thread's line, those of blocks without rows 0: two e4m3
/// codes of NVFP4, one of e8m0, the bits of an f32.
GQ_DEV uint32_t loadScales(const Side *s, const uint8_t GQ_GLOBAL *p,
                           int64_t row, int64_t rows) {
  if (s->format == GQ_FORMAT_NONE)
    return 0;
  uint32_t block = (uint32_t)gqFormatGetTraits(s->format).blockColumns;
  uint32_t each = isScaled(s->format) ? 2 : 1, scale = 0;
  int64_t first = row / block;
  if (blocksOfStep(s->format) == 2)
    first += ownHalf() * each;
  UNROLL for (uint32_t i = 0; i < 2; ++i) {
    int64_t column = first + i;
    if (i >= each || column * block >= rows)
      continue;
    if (hasTiledScales(s->format))
      scale |= (uint32_t)p[column / 4 * 512 + column % 4] << 8 * i;
    else
      scale = ((const uint32_t GQ_GLOBAL *)p)[column];
  }
  return scale;
}

/// Loads the step of a group from row `row` on.
GQ_DEV void loadPart(const Side *s, const Reader *r, const Tile *t, int64_t row,
                     Part *out) {
  if (isFlat(s->format)) {
    int64_t left = t->rows - row - ownHalf() * (STEP / 2);
    loadFlat(s, r->codes + row * bitsOf(s) / 8, r->exists ? left : 0,
             out->codes);
  } else {
    loadRows(s, r, row, t->rows, out->codes);
  }
  out->scale = loadScales(s, r->scales, row, r->exists ? t->rows : 0);
}

/// Halves of 8 rows of one column, 0 to 3.
GQ_DEV void transpose(gqElementType type, const uint32_t codes[8],
                      uint32_t column, uint32_t out[4]) {
  const uint32_t unit = 0x74007400; // 2^14
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    if (type == GQ_I8) {
      uint32_t x = (codes[2 * i] >> 4 * column & 15) |
                   (codes[2 * i + 1] >> 4 * column & 15) << 16;
      out[i] = gq_dev_multiply_f16x2(
          (x & 0x00080008) << 12 | (x & 0x00070007) << 9, unit);
    } else {
      out[i] = halvesOfPair(type, gq_dev_permute(codes[2 * i], codes[2 * i + 1],
                                                 column | (column + 4) << 4));
    }
  }
}

/// Stores a part to the lines at `at`, and scales to those of blocks at
/// `scales`.
GQ_DEV void storePart(const Side *s, const Part *part, uint32_t at,
                      uint32_t scales) {
  uint32_t line = ownLine(), half = ownHalf(), lane = gq_dev_lane();
  UNROLL for (uint32_t i = 0; i < 4; ++i) {
    uint32_t x[4], to = line, piece = 4 * half + i;
    if (isScaled(s->format)) {
      gq_dev_nvfp4_half8(part->codes[i],
                         gq_dev_nvfp4_half_scale(part->scale, i / 2), x);
    } else if (isFlat(s->format)) {
      UNROLL for (uint32_t j = 0; j < 4; ++j) x[j] =
          halvesOfPair(s->type, part->codes[2 * i + j / 2] >> j % 2 * 16);
    } else {
      // Each lane has its own order: no bank has two of eight.
      uint32_t column = (i + lane / 2) % 4;
      transpose(s->type, part->codes, column, x);
      to = 4 * lane + column;
      piece = gq_dev_thread() / GQ_DEV_WARP;
    }
    gq_dev_store_shared16(at + to * LINE_BYTES + ((piece ^ to % 8) << 4),
                          (gq_dev_u32x4){x[0], x[1], x[2], x[3]});
  }
  if (s->format == GQ_FORMAT_NONE || isScaled(s->format))
    return;
  if (hasTiledScales(s->format))
    gq_dev_store_shared4(
        scales + half * SCALE_BYTES + line * 4,
        gq_dev_f32_bits(gq_dev_f32_from_e8m0((uint8_t)part->scale)));
  else if (half == 0)
    gq_dev_store_shared4(scales + line * 4, part->scale);
}

#endif // GQ_KERNELS_KERNELS_GROUPED_WGRAD_HALVES_H
