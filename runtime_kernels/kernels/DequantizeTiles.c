//===- DequantizeTiles.c - the kernel of dequantization -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jobs are those of the kernel of tiles (tiles/Jobs.h): 128 rows of a group by
// 128 columns, whose inputs begin where that kernel's outputs do. Memory is
// what bounds it, and most of that is the output: a lane stores 16 bytes at a
// time, so that a warp stores one or two rows of a job, and has four rows'
// codes under way.
//
// Blocks along rows: of those four rows, 32 apart, a tile of scales has the
// scales in 16 bytes side by side. Blocks along columns: a warp has 32 rows one
// below the other, and so a lane the same scales in all of them, or in 16.
// Codes that are transposed are transposed back by way of shared memory.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Kernels.h"

#include "runtime_kernels/arch/Division.h"
#include "runtime_kernels/codecs/Halves.h"
#include "runtime_kernels/kernels/tiles/Jobs.h"
#include "runtime_kernels/scalers/Dequantize.h"

enum {
  /// The most elements of a lane in a row.
  LANE_ELEMENTS = 8,
  /// Rows of a lane at a time, and how far apart those are that share 16 bytes
  /// of a tile of scales.
  UNROLL = 4,
  ROW_STEP = 32,
  /// Rows of a warp, of blocks along columns.
  WARP_ROWS = TILE / WARPS,
};

_Static_assert(GQ_DEV_DEQUANTIZE_TILES_THREADS == THREADS, "those of jobs");

/// The operands, and what follows from them.
typedef struct Dequantization {
  GQ_DEV_FIELDS(GQ_DEQUANTIZE_TILES_OPERANDS)
  gqFormatTraits traits;
  gq_dev_dequantizer dequantizer;
  bool columnwise, tiled, transposed;
  /// Alignment of addresses and strides; scales are at a multiple of 16.
  bool dataAligned, scalesAligned, outAligned;
} Dequantization;

/// Codes of a job that are transposed, a row of 128 after the other; words of a
/// row as placeOf() says.
static GQ_SHARED uint32_t turned[TILE * TILE / 4] GQ_UNINITIALIZED;

//===----------------------------------------------------------------------===//
// Who has what
//===----------------------------------------------------------------------===//

GQ_DEV uint32_t outSize(const Dequantization *q) {
  return (uint32_t)gqElementTypeSize(q->outType);
}

/// Elements of a lane in a row: 16 bytes of the output.
GQ_DEV uint32_t elementsOf(const Dequantization *q) { return 16 / outSize(q); }

GQ_DEV uint32_t bitsOf(const Dequantization *q) {
  return q->dataType == GQ_I8 ? 4 : 8;
}

/// Bytes of their codes: 2, 4 or 8.
GQ_DEV uint32_t codeBytesOf(const Dequantization *q) {
  return elementsOf(q) * bitsOf(q) / 8;
}

GQ_DEV uint32_t lanesPerRow(const Dequantization *q) {
  return TILE / elementsOf(q);
}

/// Rows of a warp at a time.
GQ_DEV uint32_t rowsPerWarp(const Dequantization *q) {
  return GQ_DEV_WARP / lanesPerRow(q);
}

GQ_DEV uint32_t columnOfLane(const Dequantization *q) {
  return gq_dev_lane() % lanesPerRow(q) * elementsOf(q);
}

GQ_DEV uint32_t rowOfLane(const Dequantization *q) {
  return gq_dev_lane() / lanesPerRow(q);
}

GQ_DEV uint32_t warpOfThread(void) { return gq_dev_thread() / GQ_DEV_WARP; }

/// A job as a lane holds it.
typedef struct Source {
  const uint8_t GQ_GLOBAL *data, *scales;
  int64_t dataPitch, scalesPitch;
  uint8_t GQ_GLOBAL *out;
  int64_t outPitch;
  /// In the job: the lane's columns, and how many of them exist.
  uint32_t rows, columns, paddedRows, count;
  /// Of the job along the blocks.
  uint32_t scaleColumns;
  float outer;
  /// From the job's first row, or the lane's first column, on.
  const float GQ_GLOBAL *outers;
  /// Whether loads of more than a byte of codes may be made, and stores of more
  /// than an element; loads of 16 bytes of tiles of scales.
  bool dataAligned, outAligned, scalesAligned;
  /// Constant: the tile is whole and all of that is so, as it mostly is.
  bool whole;
} Source;

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// The codes of a lane in a row; those of 4 bits fill at most a word.
typedef struct LaneCodes {
  uint32_t words[2];
} LaneCodes;

/// `bytes` bytes of them; if `partial`, codes of 8 bits of which `count` exist.
GQ_DEV LaneCodes loadCodes(const uint8_t GQ_GLOBAL *p, uint32_t bytes,
                           bool aligned, bool partial, uint32_t count) {
  LaneCodes codes = {{0, 0}};
  if (aligned && !partial) {
    if (bytes == 8) {
      gq_dev_u32x2 pair = *(const gq_dev_u32x2 GQ_GLOBAL *)p;
      codes.words[0] = pair.x;
      codes.words[1] = pair.y;
    } else {
      codes.words[0] = bytes == 4 ? *(const uint32_t GQ_GLOBAL *)p
                                  : *(const uint16_t GQ_GLOBAL *)p;
    }
    return codes;
  }
  for (uint32_t i = 0; i < 8; ++i)
    if (i < bytes && (!partial || i < count))
      codes.words[i / 4] |= (uint32_t)p[i] << i % 4 * 8;
  return codes;
}

/// Where a row has its word number `word` in `turned`. Rows whose codes come
/// from one word of each column differ in it, so that neither those who write
/// nor those who read meet in a bank.
GQ_DEV uint32_t placeOf(const Dequantization *q, uint32_t row, uint32_t word) {
  return bitsOf(q) == 4 ? row * 16 + (word ^ row / 8)
                        : row * 32 + (word ^ row / 4);
}

/// Fills `turned`. A lane turns 8 by 8 codes of 4 bits or 4 by 4 of 8 at a
/// time, a word of as many columns.
GQ_DEV void turnCodes(const Dequantization *q, const Source *s) {
  const uint32_t side = 32 / bitsOf(q), words = TILE / side;
#pragma clang loop unroll(disable)
  for (uint32_t i = gq_dev_thread(); i < words * words; i += THREADS) {
    uint32_t row = i % words * side, column = i / words * side;
    uint32_t w[8];
    const uint8_t GQ_GLOBAL *p =
        s->data + column * s->dataPitch + row * bitsOf(q) / 8;
    bool inside = row < s->paddedRows && column < s->columns;
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 8; ++k)
      if (k < side)
        // Without a format any number of columns.
        w[k] =
            inside && (q->format != GQ_FORMAT_NONE || column + k < s->columns)
                ? loadCodes(p + k * s->dataPitch, 4, s->dataAligned, false, 4)
                      .words[0]
                : 0;
    if (side == 8)
      gq_dev_transpose_codes4(w);
    else
      gq_dev_transpose_codes8(w);
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 8; ++k)
      if (k < side)
        turned[placeOf(q, row + k, column / side)] = w[k];
  }
}

/// Whether the lane has elements in a row of the job.
GQ_DEV bool hasRow(const Source *s, uint32_t row) {
  return s->whole || (row < s->rows && s->count > 0);
}

/// The lane's codes of a row of the job, at `p` if they are not transposed.
GQ_DEV LaneCodes codesOfRow(const Dequantization *q, const Source *s,
                            uint32_t row, const uint8_t GQ_GLOBAL *p) {
  uint32_t column = columnOfLane(q);
  LaneCodes codes = {{0, 0}};
  if (!q->transposed) {
    if (hasRow(s, row))
      codes = loadCodes(p, codeBytesOf(q), s->dataAligned,
                        q->format == GQ_FORMAT_NONE && s->count < elementsOf(q),
                        s->count);
    return codes;
  }
  uint32_t word = column * bitsOf(q) / 32;
  codes.words[0] = turned[placeOf(q, row, word)];
  if (codeBytesOf(q) == 8)
    codes.words[1] = turned[placeOf(q, row, word + 1)];
  if (codeBytesOf(q) == 2)
    codes.words[0] >>= column / 4 % 2 * 16;
  return codes;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// What codes of a block are multiplied by. Where that is divided by the outer
/// scale g, the quotients of d and of 1.5 d, from which those of all codes of
/// e2m1 follow: they are powers of two of them.
typedef struct Factor {
  float one, oneAndHalf;
  /// Of the scale, a byte or a float.
  uint32_t bits;
} Factor;

/// Those of a lane's elements.
typedef struct Factors {
  /// One for all of them, or one for each.
  Factor of[LANE_ELEMENTS];
  bool shared;
  /// Whether some quotients could be denormal or overflow.
  bool rare;
} Factors;

/// From what the scale stands for; a code's own if it is divided.
GQ_DEV float factorWithout(const Dequantization *q, uint32_t bits,
                           float outer) {
  float scale = 1.0f;
  switch (q->traits.scaleRule) {
  case GQ_SCALE_RULE_NVFP4:
    scale = gq_dev_f32_from_e4m3_native(bits);
    break;
  case GQ_SCALE_RULE_MX:
    scale = gq_dev_f32_from_e8m0((uint8_t)bits);
    break;
  case GQ_SCALE_RULE_FP8:
  case GQ_SCALE_RULE_GIVEN:
    scale = gq_dev_f32_from_bits(bits);
    break;
  }
  return gq_dev_dequantize_factor(q->dequantizer, scale, outer);
}

GQ_DEV void setFactor(const Dequantization *q, uint32_t bits, float outer,
                      Factors *factors, uint32_t i) {
  Factor f = {.one = factorWithout(q, bits, outer), .bits = bits};
  if (gq_dev_dequantize_divides(q->dequantizer)) {
    double quotient = gq_dev_quotient64(f.one, outer);
    f.one = (float)quotient;
    f.oneAndHalf = (float)(quotient * 1.5);
    float magnitude = __builtin_fabsf(f.one);
    factors->rare |=
        f.one != 0.0f && !(magnitude > 0x1p-120f && magnitude < 0x1p120f);
  }
  factors->of[i] = f;
}

/// What a code stands for, given its value without the scale.
GQ_DEV float dequantized(const Dequantization *q, float value, Factor f) {
  if (!gq_dev_dequantize_divides(q->dequantizer))
    return value * f.one;
  uint32_t bits = gq_dev_f32_bits(value);
  return gq_dev_f32_from_bits(bits & 0xff800000) *
         (bits & 0x00400000 ? f.oneAndHalf : f.one);
}

/// The same of any quotient, in float64: see Division.h.
GQ_DEV float dequantizedRare(const Dequantization *q, float value,
                             uint32_t bits, float outer) {
  double quotient = gq_dev_quotient64(factorWithout(q, bits, outer), outer);
  float x = (float)((double)value * quotient);
  // The NaN of a float64 would differ from the chip's float32 NaN.
  return x == x ? x : gq_dev_f32_from_bits(0x7fffffff);
}

/// The byte or bits of a scale at `p`.
GQ_DEV uint32_t loadScale(const Dequantization *q, const uint8_t GQ_GLOBAL *p) {
  return q->traits.scaleType == GQ_F32 ? *(const uint32_t GQ_GLOBAL *)p : *p;
}

/// The scale of a linear row of scales, or of a tile, in row `row` of a job.
GQ_DEV const uint8_t GQ_GLOBAL *scaleAddress(const Dequantization *q,
                                             const Source *s, uint32_t row,
                                             uint32_t column) {
  if (q->tiled)
    return s->scales +
           gq_dev_tile128x4_offset(row, column, GQ_DEV_TILE_COLUMNS);
  uint32_t size = (uint32_t)gqElementTypeSize(q->traits.scaleType);
  return s->scales + row / (uint32_t)q->traits.blockRows * s->scalesPitch +
         column * size;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

GQ_DEV void storeElement(const Dequantization *q, uint8_t GQ_GLOBAL *p,
                         const uint32_t words[4], uint32_t i) {
  if (outSize(q) == 4)
    ((uint32_t GQ_GLOBAL *)p)[i] = words[i % 4];
  else
    ((uint16_t GQ_GLOBAL *)p)[i] = (uint16_t)(words[i / 2] >> i % 2 * 16);
}

/// Two elements, or one of 4 bytes, in bits of the type `type`.
GQ_DEV uint32_t wordOf(gqElementType type, const float x[LANE_ELEMENTS],
                       uint32_t i) {
  return type == GQ_F32    ? gq_dev_f32_bits(x[i])
         : type == GQ_BF16 ? gq_dev_bf16x2_from_f32(x[2 * i], x[2 * i + 1])
                           : gq_dev_f16x2_from_f32(x[2 * i], x[2 * i + 1]);
}

/// Element `i` of `words`.
GQ_DEV uint32_t bitsOfElement(gqElementType type, const uint32_t *words,
                              uint32_t i) {
  return type == GQ_F32 ? words[i] : words[i / 2] >> i % 2 * 16 & 0xffff;
}

/// The 16 bytes that a lane stores of its elements of a row.
GQ_DEV void wordsOfRow(const Dequantization *q, const float x[LANE_ELEMENTS],
                       uint32_t words[4]) {
  uint32_t values[LANE_ELEMENTS];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < 4; ++i)
    words[i] = 0;
  uint32_t perWord = q->valueType == GQ_F32 ? 1 : 2;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q) / perWord)
      (q->epilogue ? values : words)[i] = wordOf(q->valueType, x, i);
  if (!q->epilogue)
    return;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q)) {
      uint32_t y = q->epilogue(bitsOfElement(q->valueType, values, i));
      words[outSize(q) == 4 ? i % 4 : i / 2] |=
          outSize(q) == 4 ? y : y << i % 2 * 16;
    }
}

/// Stores a lane's elements of a row at `p`.
GQ_DEV void storeRow(const Dequantization *q, const Source *s, uint32_t row,
                     uint8_t GQ_GLOBAL *p, const float x[LANE_ELEMENTS]) {
  uint32_t words[4];
  wordsOfRow(q, x, words);
  if (!hasRow(s, row))
    return;
  if (s->outAligned &&
      (q->format != GQ_FORMAT_NONE || s->count == elementsOf(q))) {
    *(gq_dev_u32x4 GQ_GLOBAL *)p =
        (gq_dev_u32x4){words[0], words[1], words[2], words[3]};
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q) && (q->format != GQ_FORMAT_NONE || i < s->count))
      storeElement(q, p, words, i);
}

/// Dequantizes and stores a lane's codes of a row.
GQ_DEV void finishRow(const Dequantization *q, const Source *s, uint32_t row,
                      uint8_t GQ_GLOBAL *p, LaneCodes codes,
                      const Factors *factors) {
  float values[LANE_ELEMENTS], x[LANE_ELEMENTS];
  gq_dev_f32_from_codes(q->dataType, codes.words, elementsOf(q), values);
  bool rare = gq_dev_dequantize_divides(q->dequantizer) && factors->rare;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
    if (i < elementsOf(q))
      x[i] = dequantized(q, values[i], factors->of[factors->shared ? 0 : i]);
  if (__builtin_expect(rare, 0)) {
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < LANE_ELEMENTS; ++i)
      if (i < elementsOf(q))
        x[i] = dequantizedRare(
            q, values[i], factors->of[factors->shared ? 0 : i].bits, s->outer);
  }
  storeRow(q, s, row, p, x);
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// The lane's codes and elements of a row.
GQ_DEV const uint8_t GQ_GLOBAL *codesAt(const Dequantization *q,
                                        const Source *s, uint32_t row) {
  return s->data + row * s->dataPitch + columnOfLane(q) * bitsOf(q) / 8;
}
GQ_DEV uint8_t GQ_GLOBAL *elementsAt(const Dequantization *q, const Source *s,
                                     uint32_t row) {
  return s->out + row * s->outPitch + columnOfLane(q) * outSize(q);
}

/// The scales of the lane's block in rows `row`, `row` + 32 and so on.
GQ_DEV void loadRowScales(const Dequantization *q, const Source *s,
                          uint32_t row, uint32_t bits[UNROLL]) {
  uint32_t column = columnOfLane(q) / (uint32_t)q->traits.blockColumns;
  for (uint32_t j = 0; j < UNROLL; ++j)
    bits[j] = 0;
  if (q->tiled && s->scalesAligned) {
    gq_dev_u32x4 words = {0, 0, 0, 0};
    if (hasRow(s, row))
      words = *(const gq_dev_u32x4 GQ_GLOBAL *)(s->scales + column / 4 * 512 +
                                                row * 16);
    bits[0] = words.x >> column % 4 * 8 & 0xff;
    bits[1] = words.y >> column % 4 * 8 & 0xff;
    bits[2] = words.z >> column % 4 * 8 & 0xff;
    bits[3] = words.w >> column % 4 * 8 & 0xff;
    return;
  }
  for (uint32_t j = 0; j < UNROLL; ++j)
    if (hasRow(s, row + j * ROW_STEP))
      bits[j] = loadScale(q, scaleAddress(q, s, row + j * ROW_STEP, column));
}

/// The outer scale of a row of the job.
GQ_DEV float outerOfRow(const Dequantization *q, const Source *s,
                        uint32_t row) {
  if (q->outerKind != GQ_OUTER_PER_ROW)
    return s->outer;
  return hasRow(s, row) ? s->outers[row] : 0.0f;
}

/// That of a lane's column.
GQ_DEV float outerOfColumn(const Dequantization *q, const Source *s,
                           uint32_t k) {
  if (q->outerKind != GQ_OUTER_PER_COLUMN)
    return s->outer;
  return s->whole || k < s->count ? s->outers[k] : 0.0f;
}

/// Blocks along rows, or none.
GQ_DEV void dequantizeRows(const Dequantization *q, const Source *s) {
  bool ofOneScale = q->format == GQ_FORMAT_NONE || q->traits.blockRows > 1;
  Factors of128 = {.shared = true, .rare = false};
  if (ofOneScale)
    setFactor(q, q->format == GQ_FORMAT_NONE ? 0 : loadScale(q, s->scales),
              s->outer, &of128, 0);
  uint32_t step = WARPS * rowsPerWarp(q);
  uint32_t row = warpOfThread() * rowsPerWarp(q) + rowOfLane(q);
  const uint8_t GQ_GLOBAL *from = codesAt(q, s, row);
  uint8_t GQ_GLOBAL *to = elementsAt(q, s, row);
  int64_t fromStep = ROW_STEP * s->dataPitch, toStep = ROW_STEP * s->outPitch;
#pragma clang loop unroll(disable)
  for (uint32_t first = 0; first < ROW_STEP; first += step, row += step,
                from += step * s->dataPitch, to += step * s->outPitch) {
    LaneCodes codes[UNROLL];
    uint32_t bits[UNROLL];
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < UNROLL; ++j)
      codes[j] = codesOfRow(q, s, row + j * ROW_STEP, from + j * fromStep);
    if (!ofOneScale)
      loadRowScales(q, s, row, bits);
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < UNROLL; ++j) {
      Factors factors = of128;
      if (!ofOneScale)
        setFactor(q, bits[j], outerOfRow(q, s, row + j * ROW_STEP), &factors,
                  0);
      finishRow(q, s, row + j * ROW_STEP, to + j * toStep, codes[j], &factors);
    }
  }
}

/// Blocks along columns.
GQ_DEV void dequantizeColumns(const Dequantization *q, const Source *s) {
  uint32_t blockRows = (uint32_t)q->traits.blockColumns;
  uint32_t part = blockRows < WARP_ROWS ? blockRows : WARP_ROWS;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < WARP_ROWS / part; ++i) {
    uint32_t first = warpOfThread() * WARP_ROWS + i * part;
    if (!s->whole && first >= s->rows)
      break;
    Factors factors = {.shared = q->traits.blockRows > 1, .rare = false};
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < LANE_ELEMENTS; ++k)
      if (k < (factors.shared ? 1 : elementsOf(q))) {
        uint32_t bits = 0;
        if (s->whole || s->count > 0)
          bits = loadScale(
              q, scaleAddress(q, s, columnOfLane(q) + k, first / blockRows));
        setFactor(q, bits, outerOfColumn(q, s, k), &factors, k);
      }
    uint32_t row = first + rowOfLane(q), step = rowsPerWarp(q);
    const uint8_t GQ_GLOBAL *from = codesAt(q, s, row);
    uint8_t GQ_GLOBAL *to = elementsAt(q, s, row);
    int64_t fromStep = step * s->dataPitch, toStep = step * s->outPitch;
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < part; r += UNROLL * step, row += UNROLL * step,
                  from += UNROLL * fromStep, to += UNROLL * toStep) {
      LaneCodes codes[UNROLL];
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < UNROLL; ++j)
        codes[j] = codesOfRow(q, s, row + j * step, from + j * fromStep);
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < UNROLL; ++j)
        finishRow(q, s, row + j * step, to + j * toStep, codes[j], &factors);
    }
  }
}

GQ_DEV void dequantizeBlocks(const Dequantization *q, const Source *s) {
  if (q->columnwise && q->format != GQ_FORMAT_NONE)
    dequantizeColumns(q, s);
  else
    dequantizeRows(q, s);
}

/// The outer scale that the rows and columns of a group share.
GQ_DEV float outerOf(const Dequantization *q, int32_t group) {
  switch ((gqOuterKind)q->outerKind) {
  case GQ_OUTER_ONE:
    return *q->outer;
  case GQ_OUTER_PER_GROUP:
    return q->outer[group];
  case GQ_OUTER_NONE:
  case GQ_OUTER_PER_ROW:
  case GQ_OUTER_PER_COLUMN:
    break;
  }
  return 1.0f;
}

/// Source.outers.
GQ_DEV const float GQ_GLOBAL *outersOf(const Dequantization *q,
                                       const Job GQ_SHARED *job) {
  return q->outerKind == GQ_OUTER_PER_ROW ? q->outer + job->inputRow
         : q->outerKind == GQ_OUTER_PER_COLUMN
             ? q->outer + job->group * q->columns + job->inputColumn +
                   columnOfLane(q)
             : 0;
}

GQ_DEV void dequantizeJob(const Dequantization *q, const Job GQ_SHARED *job) {
  const JobOutput GQ_SHARED *from =
      q->columnwise ? &job->columnwise : &job->rowwise;
  bool ragged = q->parts & GQ_DEV_RAGGED;
  uint32_t column = columnOfLane(q);
  Source s = {
      .data = from->data,
      .scales = from->scales,
      .dataPitch = from->dataPitch,
      .scalesPitch = from->scalesPitch,
      .outPitch = ragged ? job->columnsOfGroup * outSize(q) : q->outStride,
      .rows = job->rows,
      .columns = job->columns,
      .paddedRows = job->paddedRows,
      .count = column < job->columns
                   ? min32(job->columns - column, elementsOf(q))
                   : 0,
      .outer = outerOf(q, job->group),
      .outers = outersOf(q, job),
      .dataAligned = q->dataAligned,
      .outAligned = q->outAligned,
      .scalesAligned = q->scalesAligned,
      .whole = false,
  };
  if (q->format == GQ_FORMAT_NONE && ragged) { // Of any number of columns.
    s.dataAligned &= s.dataPitch % 8 == 0;
    s.outAligned &= s.outPitch % 16 == 0;
  }
  s.out = q->out + job->inputRow * s.outPitch +
          (int64_t)job->inputColumn * outSize(q);
  if (q->transposed) {
    gq_dev_barrier();
    turnCodes(q, &s);
    gq_dev_barrier();
  }
  // Columns gain more from the CTAs that the registers of one way leave room
  // for.
  if (!q->columnwise && s.rows == TILE && s.columns == TILE && s.dataAligned &&
      s.outAligned && s.scalesAligned) {
    Source whole = s;
    whole.count = elementsOf(q);
    whole.dataAligned = whole.outAligned = true;
    whole.scalesAligned = whole.whole = true;
    dequantizeBlocks(q, &whole);
  } else {
    dequantizeBlocks(q, &s);
  }
}

/// The operands as the kernel of tiles has them, of which jobs are made.
GQ_DEV Op opOf(const Dequantization *q) {
  bool ragged = q->parts & GQ_DEV_RAGGED;
  Direction direction = {
      .exists = true,
      .traits = q->traits,
      .scaler = {.format = q->format, .recipe = q->recipe},
      .outerKind = GQ_OUTER_NONE,
      .tiled = q->tiled,
      .transposes = q->transposed,
      .data = (uint8_t GQ_GLOBAL *)q->data,
      .dataStride = q->dataStride,
      .dataSize = q->dataSize,
      .scales = (uint8_t GQ_GLOBAL *)q->scales,
      .scalesStride = q->scalesStride,
      // Codes without a format have no scales that must have room.
      .scalesSize = q->format == GQ_FORMAT_NONE ? INT64_MAX : q->scalesSize,
  };
  Op op = {
      .rows = q->rows,
      .columns = q->columns,
      .groups = q->groups,
      .format = q->format,
      .ragged = ragged,
  };
  Direction none = direction;
  none.exists = none.transposes = false;
  op.rowwise = q->columnwise ? none : direction;
  op.columnwise = q->columnwise ? direction : none;
  op.allGroups = (gq_dev_groups){
      .offsets = q->offsets,
      .scaleOffsets = q->scaleOffsets,
      .firstDims = q->firstDims,
      .lastDims = q->lastDims,
      .numOffsets = q->numOffsets,
      .numGroups = q->groups,
      .numRows = q->rows,
      .numColumns = q->columns,
      .scaleRows = (int64_t)((uint64_t)q->scalesSize /
                             (uint64_t)scaleWidth(&op.rowwise, q->columns)),
      .wide = q->offsetBits == 64,
      .hasScaleOffsets = q->parts & GQ_DEV_SCALE_OFFSETS && !ragged,
      .ragged = ragged,
      .columnUnit = q->columnwise && q->format != GQ_FORMAT_NONE &&
                            q->traits.blockRows == 1
                        ? GQ_DEV_UNIT
                        : q->traits.blockColumns,
  };
  return op;
}

GQ_DEV_KERNEL void
gq_dev_dequantize_tiles(GQ_DEV_PARAMETERS(GQ_DEQUANTIZE_TILES_OPERANDS)) {
  Dequantization q = {
      GQ_DEV_INITIALIZERS(GQ_DEQUANTIZE_TILES_OPERANDS),
      .traits = gqFormatGetTraits(format),
      .dequantizer = {format, recipe, outerKind != GQ_OUTER_NONE},
      .columnwise = parts & GQ_DEV_COLUMNWISE,
      .tiled =
          format != GQ_FORMAT_NONE && scaleLayout == GQ_SCALE_LAYOUT_TILE128X4,
  };
  q.transposed =
      q.columnwise && (format == GQ_FORMAT_NONE || q.traits.transposes);
  q.dataAligned = (((uint64_t)data | (uint64_t)dataStride) &
                   (q.transposed ? 3 : codeBytesOf(&q) - 1)) == 0;
  q.scalesAligned = ((uint64_t)scales & 15) == 0;
  q.outAligned = (((uint64_t)out | (uint64_t)outStride) & 15) == 0;
  Op op = opOf(&q);
  Plan plan = makePlan(&op);
  if (sharedFaults && gq_dev_cta() == 0 && gq_dev_thread() == 0)
    gq_dev_atomic_or(status, sharedFaults);
  // Jobs are found two batches at a time, which all warps then go through.
  uint32_t numCtas = gq_dev_num_ctas();
#pragma clang loop unroll(disable)
  for (uint32_t first = 0; gq_dev_cta() + (uint64_t)first * numCtas < plan.jobs;
       first += 2 * BATCH) {
    gq_dev_barrier();
    if (gq_dev_thread() < 2 * BATCH)
      findJobs(&op, &plan, numCtas, first + gq_dev_thread() / BATCH * BATCH);
    gq_dev_barrier();
#pragma clang loop unroll(disable)
    for (uint32_t n = 0;
         n < 2 * BATCH &&
         gq_dev_cta() + (uint64_t)(first + n) * numCtas < plan.jobs;
         ++n)
      dequantizeJob(&q, &jobs[n]);
  }
}
