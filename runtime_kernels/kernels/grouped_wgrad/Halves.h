//===- Halves.h - codes to f16, with rows innermost --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a step of 64 rows, 128 lines of a side are copied to shared memory and
// from there, by the thread that copied them, stored as matrix units take them:
// 128 bytes per line, of which the 16 bytes number c are at c ^ line % 8. A
// line is a row or column of the output.
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
  int64_t code = flat ? t->before.rows * s->extent + line * t->rows +
                            ownHalf() * (STEP / 2)
                      : column;
  r.codes = s->codes + code * bits / 8;
  if (!flat)
    r.codes += (t->begin + gq_dev_thread() / GQ_DEV_WARP * 8) * s->stride;
  int64_t columns = scaleColumns(s->format, t->rows);
  int64_t scale = t->before.scales * scaleLines(s);
  uint32_t height = (uint32_t)gqFormatGetTraits(s->format).blockRows;
  if (gq_dev_has_tiled_scales(s->format))
    r.scales = s->scales + scale + gq_dev_tile128x4_offset(line, 0, columns);
  else
    r.scales = s->scales + (scale + line / height * columns) * 4;
  return r;
}

/// Bytes of a thread's codes, and of what a CTA copies of 128 lines: words of
/// all threads, after their codes one of scales each.
GQ_DEV uint32_t codesOfPart(const Side *s) {
  return isFlat(s->format) ? 4 * bitsOf(s) : 32;
}
GQ_DEV uint32_t sizeOfPart(const Side *s) {
  return THREADS * (codesOfPart(s) + 4);
}

/// `count` bytes of up to 4, of any address.
GQ_DEV uint32_t loadBytes(const uint8_t GQ_GLOBAL *p, int32_t count) {
  uint32_t x = 0;
  UNROLL for (int32_t i = 0; i < 4; ++i) if (i < count) x |= (uint32_t)p[i]
                                                             << 8 * i;
  return x;
}

/// Half a step of a line, if it exists: 16 bytes of each thread after another.
GQ_DEV void copyFlat(const Side *s, const uint8_t GQ_GLOBAL *p, bool exists,
                     uint32_t to) {
  to += gq_dev_thread() * 16;
  UNROLL for (uint32_t i = 0; i < 32; i += 16) if (i < codesOfPart(s)) {
    uint32_t at = to + i * THREADS;
    int32_t count = exists ? 4 : 0;
    if (s->aligned)
      gq_dev_begin_copy16_l2(exists, at, p + i);
    else
      gq_dev_store_shared16(at, (gq_dev_u32x4){loadBytes(p + i, count),
                                               loadBytes(p + i + 4, count),
                                               loadBytes(p + i + 8, count),
                                               loadBytes(p + i + 12, count)});
  }
}

/// Eight rows of four columns, of which `left` exist: a word of each thread
/// after another. Of codes of 4 bits two lanes have a word together.
GQ_DEV void copyRows(const Side *s, const Reader *r, int64_t row, int32_t left,
                     uint32_t to) {
  bool shared = s->type == GQ_I8;
  uint32_t odd = shared ? gq_dev_lane() % 2 : 0;
  int32_t size = shared ? 2 : 4;
  int32_t count = r->left >= 4 ? size : r->left > 0 ? r->left : 0;
  const uint8_t GQ_GLOBAL *p = r->codes + row * s->stride;
  to += gq_dev_thread() * 4;
  left -= (int32_t)(gq_dev_thread() / GQ_DEV_WARP * 8);
  int64_t at = 0;
  UNROLL for (uint32_t i = 0; i < 8; ++i) {
    bool exists = (int32_t)i < left && count;
    if (s->aligned)
      gq_dev_begin_copy4(exists, to + i * THREADS * 4, p + at - 2 * odd);
    else
      gq_dev_store_shared4(to + i * THREADS * 4,
                           loadBytes(p + at, exists ? count : 0) << 16 * odd);
    // Addresses are made one after another, not all at once.
    at = gq_dev_here64(at + s->stride);
  }
}

/// The word in which the scales of the thread's line from row `row` on are: in
/// tiles, four of them.
GQ_DEV void copyScales(const Side *s, const uint8_t GQ_GLOBAL *p, int64_t row,
                       bool exists, uint32_t to) {
  if (s->format == GQ_FORMAT_NONE)
    return;
  int64_t column = row / gqFormatGetTraits(s->format).blockColumns;
  p += gq_dev_has_tiled_scales(s->format) ? column / 4 * 512 : column * 4;
  to += gq_dev_thread() * 4;
  if (s->aligned)
    gq_dev_begin_copy4(exists, to, p);
  else
    gq_dev_store_shared4(to, loadBytes(p, exists ? 4 : 0));
}

/// Begins to copy the step of a group from row `row` on.
GQ_DEV void copyPart(const Side *s, const Reader *r, const Tile *t, int64_t row,
                     uint32_t to) {
  int64_t all = t->rows - row;
  int32_t left = all < STEP ? (int32_t)all : STEP;
  int32_t half = (int32_t)ownHalf() * (STEP / 2);
  if (isFlat(s->format))
    copyFlat(s, r->codes + row * bitsOf(s) / 8, r->exists && left > half, to);
  else
    copyRows(s, r, row, left, to);
  copyScales(s, r->scales, row, r->exists, to + codesOfPart(s) * THREADS);
}

/// A thread's part of a step: words of its codes, and its scales, two e4m3
/// codes of NVFP4, one of e8m0 or the bits of an f32.
typedef struct Part {
  uint32_t codes[8];
  uint32_t scale;
} Part;

/// Takes what copyPart began to copy and this thread has waited for; `left`
/// rows or more are left from row `row` on.
GQ_DEV Part takePart(const Side *s, int64_t row, int32_t left, uint32_t from) {
  Part part;
  uint32_t thread = gq_dev_thread(), half = ownHalf();
  int32_t ofHalf = left - (int32_t)half * (STEP / 2);
  if (isFlat(s->format)) {
    UNROLL for (uint32_t i = 0; i < 2; ++i) if (16 * i < codesOfPart(s)) {
      gq_dev_u32x4 x =
          gq_dev_load_shared16(from + i * THREADS * 16 + thread * 16);
      uint32_t *to = part.codes + 4 * i;
      to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
    }
  } else {
    UNROLL for (uint32_t i = 0; i < 8; ++i) {
      part.codes[i] = gq_dev_load_shared4(from + (i * THREADS + thread) * 4);
      if (s->type == GQ_I8)
        part.codes[i] >>= thread % 2 * 16;
    }
  }
  part.scale = 0;
  if (s->format == GQ_FORMAT_NONE)
    return part;
  uint32_t word =
      gq_dev_load_shared4(from + codesOfPart(s) * THREADS + thread * 4);
  // Those of blocks without rows may be anything.
  if (isScaled(s->format))
    part.scale = ofHalf > 0 ? word >> 16 * half & 0xffff : 0;
  else if (gq_dev_has_tiled_scales(s->format))
    part.scale = ofHalf > 0
                     ? word >> 8 * ((uint32_t)row / STEP % 2 * 2 + half) & 0xff
                     : 0;
  else
    part.scale = word;
  return part;
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
  if (gq_dev_has_tiled_scales(s->format))
    gq_dev_store_shared4(
        scales + half * SCALE_BYTES + line * 4,
        gq_dev_f32_bits(gq_dev_f32_from_e8m0((uint8_t)part->scale)));
  else if (half == 0)
    gq_dev_store_shared4(scales + line * 4, part->scale);
}

#endif // GQ_KERNELS_KERNELS_GROUPED_WGRAD_HALVES_H
