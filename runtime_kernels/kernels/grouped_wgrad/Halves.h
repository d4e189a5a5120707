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

/// A thread's part of a step as it was loaded: words of its codes, and its
/// scales. Nothing is made of them before they are stored, so that no load is
/// waited for.
typedef struct Part {
  uint32_t codes[8];
  uint32_t scale;
} Part;

/// `count` bytes of up to 4, of any address.
GQ_DEV uint32_t loadBytes(const uint8_t GQ_GLOBAL *p, int32_t count) {
  uint32_t x = 0;
  UNROLL for (int32_t i = 0; i < 4; ++i) if (i < count) x |= (uint32_t)p[i]
                                                             << 8 * i;
  return x;
}

/// Half a step of a line, if it exists.
GQ_DEV void loadFlat(const Side *s, const uint8_t GQ_GLOBAL *p, bool exists,
                     uint32_t out[8]) {
  const uint32_t words = bitsOf(s);
  if (s->aligned) {
    UNROLL for (uint32_t i = 0; i < 8; i += 4) if (i < words) {
      gq_dev_u32x4 x = gq_dev_load_streamed16(exists, p + 4 * i);
      out[i] = x.x, out[i + 1] = x.y, out[i + 2] = x.z, out[i + 3] = x.w;
    }
  } else {
    UNROLL for (uint32_t i = 0; i < 8; ++i) if (i < words) out[i] =
        loadBytes(p + 4 * i, exists ? 4 : 0);
  }
}

/// Eight rows of four columns, a word a row, of which `left` exist.
GQ_DEV void loadRows(const Side *s, const Reader *r, int64_t row, int32_t left,
                     uint32_t out[8]) {
  int32_t size = 4 * (int32_t)bitsOf(s) / 8;
  int32_t count = r->left >= 4 ? size : r->left > 0 ? r->left : 0;
  const uint8_t GQ_GLOBAL *p = r->codes + row * s->stride;
  left -= (int32_t)(gq_dev_thread() / GQ_DEV_WARP * 8);
  if (s->aligned && s->extent % 4 == 0) {
    int64_t at = 0;
    UNROLL for (uint32_t i = 0; i < 8; ++i) {
      bool exists = (int32_t)i < left && count;
      out[i] = size == 4 ? gq_dev_load_streamed4(exists, p + at)
                         : gq_dev_load_streamed2(exists, p + at);
      // Addresses are made one after another, not all at once.
      at = gq_dev_here64(at + s->stride);
    }
  } else {
    UNROLL for (uint32_t i = 0; i < 8; ++i) out[i] =
        loadBytes(p + i * s->stride, (int32_t)i < left ? count : 0);
  }
}

/// The scales of the thread's line from row `row` on: two e4m3 codes of NVFP4,
/// one of e8m0, the bits of an f32; 0 if there are `left` <= 0 rows.
GQ_DEV uint32_t loadScales(const Side *s, const uint8_t GQ_GLOBAL *p,
                           int64_t row, int32_t left) {
  if (s->format == GQ_FORMAT_NONE)
    return 0;
  int64_t column = row / gqFormatGetTraits(s->format).blockColumns;
  if (!hasTiledScales(s->format))
    return left > 0 ? ((const uint32_t GQ_GLOBAL *)p)[column] : 0;
  p += column / 4 * 512 + column % 4;
  if (!isScaled(s->format))
    return left > 0 ? *p : 0;
  return s->aligned ? gq_dev_load_streamed2(left > 0, p)
                    : loadBytes(p, left > 16 ? 2 : left > 0);
}

/// Loads the step of a group from row `row` on.
GQ_DEV void loadPart(const Side *s, const Reader *r, const Tile *t, int64_t row,
                     Part *out) {
  int64_t all = t->rows - row;
  int32_t left = all < STEP ? (int32_t)all : STEP;
  int32_t half = (int32_t)ownHalf() * (STEP / 2);
  if (isFlat(s->format))
    loadFlat(s, r->codes + row * bitsOf(s) / 8, r->exists && left > half,
             out->codes);
  else
    loadRows(s, r, row, left, out->codes);
  int32_t first = blocksOfStep(s->format) == 2 ? half : 0;
  out->scale =
      loadScales(s, r->scales, row + first, r->exists ? left - first : 0);
}

/// Makes what is beyond the last row zero, whatever memory holds: `left` rows
/// are left of the thread's half of a flat line.
GQ_DEV void cutOff(const Side *s, int32_t left, Part *part) {
  const int32_t words = (int32_t)bitsOf(s), ofWord = 32 / words;
  UNROLL for (int32_t i = 0; i < 8; ++i) if (i < words) {
    int32_t codes = left - i * ofWord;
    if (codes < ofWord)
      part->codes[i] &= codes <= 0 ? 0 : (1u << codes * words) - 1;
  }
  if (isScaled(s->format) && left <= 16)
    part->scale &= 0xff;
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

/// Stores a part of a step of `left` rows or more to the lines at `at`, and
/// scales to those of blocks at `scales`.
GQ_DEV void storePart(const Side *s, Part *part, int32_t left, uint32_t at,
                      uint32_t scales) {
  uint32_t line = ownLine(), half = ownHalf(), lane = gq_dev_lane();
  if (isFlat(s->format) && left < STEP)
    cutOff(s, left - (int32_t)half * (STEP / 2), part);
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
