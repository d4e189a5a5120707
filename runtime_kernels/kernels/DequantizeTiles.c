//===- DequantizeTiles.c - the kernel of dequantization -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jobs are those of the kernel of tiles (tiles/Jobs.h): 128 rows of a group by
// 128 columns, whose inputs begin where that kernel's outputs do. Memory is
// what bounds it, and most of that is the output: a lane stores 16 bytes at a
// time, so that a warp stores one or two rows of a job. Codes and scales of the
// next job are copied to shared memory meanwhile.
//
// Blocks along rows: of four rows of a lane, 32 apart, a tile of scales has the
// scales in 16 bytes side by side. Blocks along columns: a warp has 8 to 32
// rows one below the other, and so a lane the same scales in all of them. Codes
// that are transposed are transposed back in shared memory.
//
// Rows that are not of ragged groups have a shorter way: DequantizeRows.h.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/tiles/Jobs.h"

#include "runtime_kernels/kernels/DequantizeRows.h"

enum {
  /// Rows that a warp has at a time at most, of blocks along columns.
  WARP_ROWS = TILE / WARPS,
};

_Static_assert(GQ_DEV_DEQUANTIZE_TILES_THREADS == THREADS, "those of jobs");

enum {
  /// Bytes of shared memory, each of two jobs: codes of 4 bits, of 8, scales.
  CODES_4 = TILE * TILE / 2,
  CODES_8 = TILE * TILE,
  SCALES = TILE * TILE / 16,
};

/// Codes of a job and of the next one, a line of 128 after the other, and their
/// scales: tiles of them as they are, linear ones a line after the other. Codes
/// that are transposed are copied to the first part, and transposed back to the
/// second, in which words of a row are as placeOf() says.
static GQ_SHARED gq_dev_u32x4 codes4[2][CODES_4 / 16] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4 codes8[2][CODES_8 / 16] GQ_UNINITIALIZED;
static GQ_SHARED gq_dev_u32x4 scales16[2][SCALES / 16] GQ_UNINITIALIZED;

//===----------------------------------------------------------------------===//
// Who has what
//===----------------------------------------------------------------------===//

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
  /// In shared memory.
  const uint8_t GQ_SHARED *codes, *scales;
  uint8_t GQ_GLOBAL *out;
  int64_t outPitch;
  /// Of the job, and how many of the lane's columns exist.
  uint32_t rows, count;
  float outer;
  /// From the lane's first column on, if columns have their own.
  const float GQ_GLOBAL *outers;
  /// Whether stores of more than an element may be made.
  bool outAligned;
  /// Constant: the tile is whole and all of that is so, as it mostly is.
  bool whole;
} Source;

//===----------------------------------------------------------------------===//
// Copies to shared memory
//===----------------------------------------------------------------------===//

/// Copies `lines` lines of `bytes` bytes, `pitch` bytes apart in global memory
/// and `lineBytes`, a constant, in shared memory, `unit` bytes at a time, a
/// constant which divides all of these: 16 or 4, which arrive after
/// gq_dev_wait_for_copies, or 1. All threads take part.
GQ_DEV void copyUnits(const Dequantization *q, uint8_t GQ_SHARED *to,
                      const uint8_t GQ_GLOBAL *from, int64_t pitch,
                      uint32_t lines, uint32_t bytes, uint32_t lineBytes,
                      uint32_t unit) {
  uint32_t perLine = lineBytes / unit, units = TILE * perLine;
  uint32_t thread = gq_dev_here(gq_dev_thread());
#pragma clang loop unroll_count(4)
  for (uint32_t first = 0; first < units; first += THREADS) {
    uint32_t line = (first + thread) / perLine;
    uint32_t at = (first + thread) % perLine * unit;
    if (line >= lines || at >= bytes)
      continue;
    uint8_t GQ_SHARED *target = to + line * lineBytes + at;
    const uint8_t GQ_GLOBAL *source = from + line * pitch + at;
    if (unit == 16 && q->format != GQ_FORMAT_NONE &&
        q->traits.scaleType == GQ_F32)
      // Single scales go by way of L1, where codes would be in their way.
      gq_dev_begin_copy16_past_l1((gq_dev_u32x4 GQ_SHARED *)target, source);
    else if (unit == 16)
      gq_dev_begin_copy16((gq_dev_u32x4 GQ_SHARED *)target, source);
    else if (unit == 4)
      gq_dev_begin_copy_word((uint32_t GQ_SHARED *)target, source);
    else
      *target = *source;
  }
}

/// The same of any alignment of what is in global memory.
GQ_DEV void copyLines(const Dequantization *q, uint8_t GQ_SHARED *to,
                      const uint8_t GQ_GLOBAL *from, int64_t pitch,
                      uint32_t lines, uint32_t bytes, uint32_t lineBytes) {
  uint64_t low = (uint64_t)from | (uint64_t)pitch | bytes;
  if (lineBytes % 16 == 0 && low % 16 == 0)
    copyUnits(q, to, from, pitch, lines, bytes, lineBytes, 16);
  else if (low % 4 == 0)
    copyUnits(q, to, from, pitch, lines, bytes, lineBytes, 4);
  else
    copyUnits(q, to, from, pitch, lines, bytes, lineBytes, 1);
}

GQ_DEV uint8_t GQ_SHARED *sharedCodes(const Dequantization *q, uint32_t part) {
  return (uint8_t GQ_SHARED *)(bitsOf(q) == 4 ? codes4[part] : codes8[part]);
}

GQ_DEV uint8_t GQ_SHARED *sharedScales(uint32_t part) {
  return (uint8_t GQ_SHARED *)scales16[part];
}

/// Bytes of a line of codes in shared memory.
GQ_DEV uint32_t lineBytesOf(const Dequantization *q) {
  return TILE * bitsOf(q) / 8;
}

GQ_DEV uint32_t scaleSizeOf(const Dequantization *q) {
  return (uint32_t)gqElementTypeSize(q->traits.scaleType);
}

/// The same of linear scales.
GQ_DEV uint32_t scaleLineBytes(const Dequantization *q) {
  return TILE / (uint32_t)q->traits.blockColumns * scaleSizeOf(q);
}

GQ_DEV const JobOutput GQ_SHARED *inputOf(const Dequantization *q,
                                          const Job GQ_SHARED *job) {
  return q->columnwise ? &job->columnwise : &job->rowwise;
}

/// Begins to copy the scales of a job to a part.
GQ_DEV void copyScales(const Dequantization *q, const Job GQ_SHARED *job,
                       uint32_t part) {
  const JobOutput GQ_SHARED *from = inputOf(q, job);
  if (q->format == GQ_FORMAT_NONE)
    return;
  if (q->tiled) { // One piece, which has up to 64 lines of 16 bytes.
    const uint32_t line = 16;
    copyLines(q, sharedScales(part), from->scales, line,
              from->scaleBytes / line, line, line);
    return;
  }
  uint32_t across = q->columnwise ? job->columns : job->rows;
  uint32_t lines = (uint32_t)numOf(across, q->traits.blockRows);
  copyLines(q, sharedScales(part), from->scales, from->scalesPitch, lines,
            from->scaleBytes * scaleSizeOf(q), scaleLineBytes(q));
}

/// Begins to copy the codes of a job to a part.
GQ_DEV void copyCodes(const Dequantization *q, const Job GQ_SHARED *job,
                      uint32_t part) {
  const JobOutput GQ_SHARED *from = inputOf(q, job);
  uint32_t lines = q->transposed ? job->columns : job->rows;
  uint32_t codes = q->transposed ? job->paddedRows : job->columns;
  copyLines(q, sharedCodes(q, part), from->data, from->dataPitch, lines,
            codes * bitsOf(q) / 8, lineBytesOf(q));
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Where a row has its word number `word` once it is transposed back. Rows
/// whose codes come from one word of each column differ in it, so that neither
/// those who write nor those who read meet in a bank.
GQ_DEV uint32_t placeOf(const Dequantization *q, uint32_t row, uint32_t word) {
  return bitsOf(q) == 4 ? row * 16 + (word ^ row / 8)
                        : row * 32 + (word ^ row / 4);
}

/// Transposes the codes of a job back. A lane turns 8 by 8 codes of 4 bits or 4
/// by 4 of 8 at a time, a word of as many columns.
GQ_DEV void turnCodes(const Dequantization *q) {
  const uint32_t side = 32 / bitsOf(q), words = TILE / side;
  const uint32_t GQ_SHARED *from =
      (const uint32_t GQ_SHARED *)sharedCodes(q, 0);
  uint32_t GQ_SHARED *to = (uint32_t GQ_SHARED *)sharedCodes(q, 1);
#pragma clang loop unroll(disable)
  for (uint32_t i = gq_dev_here(gq_dev_thread()); i < words * words;
       i += THREADS) {
    uint32_t row = i % words, column = i / words * side;
    uint32_t w[8];
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 8; ++k)
      if (k < side)
        w[k] = from[(column + k) * words + row];
    if (side == 8)
      gq_dev_transpose_codes4(w);
    else
      gq_dev_transpose_codes8(w);
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 8; ++k)
      if (k < side)
        to[placeOf(q, row * side + k, column / side)] = w[k];
  }
}

/// Whether the lane has elements in a row of the job.
GQ_DEV bool hasRow(const Source *s, uint32_t row) {
  return s->whole || (row < s->rows && s->count > 0);
}

/// The lane's codes of a row of the job.
GQ_DEV LaneCodes codesOfRow(const Dequantization *q, const Source *s,
                            uint32_t row) {
  uint32_t column = columnOfLane(q);
  LaneCodes codes = {{0, 0}};
  if (!q->transposed) {
    const uint8_t GQ_SHARED *p =
        s->codes + row * lineBytesOf(q) + column * bitsOf(q) / 8;
    if (codeBytesOf(q) == 8) {
      gq_dev_u32x2 pair = *(const gq_dev_u32x2 GQ_SHARED *)p;
      codes.words[0] = pair.x;
      codes.words[1] = pair.y;
    } else {
      codes.words[0] = codeBytesOf(q) == 4 ? *(const uint32_t GQ_SHARED *)p
                                           : *(const uint16_t GQ_SHARED *)p;
    }
    return codes;
  }
  const uint32_t GQ_SHARED *words = (const uint32_t GQ_SHARED *)s->codes;
  uint32_t word = column * bitsOf(q) / 32;
  codes.words[0] = words[placeOf(q, row, word)];
  if (codeBytesOf(q) == 8)
    codes.words[1] = words[placeOf(q, row, word + 1)];
  if (codeBytesOf(q) == 2)
    codes.words[0] >>= column / 4 % 2 * 16;
  return codes;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The byte or bits of a scale of the job.
GQ_DEV uint32_t loadScale(const Dequantization *q, const Source *s,
                          uint32_t row, uint32_t column) {
  const uint8_t GQ_SHARED *p =
      s->scales +
      (q->tiled
           ? (uint32_t)gq_dev_tile128x4_offset(row, column, GQ_DEV_TILE_COLUMNS)
           : row / (uint32_t)q->traits.blockRows * scaleLineBytes(q) +
                 column * scaleSizeOf(q));
  return q->traits.scaleType == GQ_F32 ? *(const uint32_t GQ_SHARED *)p : *p;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Stores a lane's elements of a row at `p`.
GQ_DEV void storeRow(const Dequantization *q, const Source *s, uint32_t row,
                     uint8_t GQ_GLOBAL *p, const float x[LANE_ELEMENTS]) {
  uint32_t words[4];
  wordsOfRow(q, x, words);
  if (hasRow(s, row))
    storeWords(q, p, words, s->count, s->outAligned);
}

/// Dequantizes and stores a lane's codes of a row.
GQ_DEV void finishRow(const Dequantization *q, const Source *s, uint32_t row,
                      uint8_t GQ_GLOBAL *p, LaneCodes codes,
                      const Factors *factors) {
  float x[LANE_ELEMENTS];
  numbersOf(q, codes, factors, s->outer, x);
  storeRow(q, s, row, p, x);
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// The lane's elements of a row.
GQ_DEV uint8_t GQ_GLOBAL *elementsAt(const Dequantization *q, const Source *s,
                                     uint32_t row) {
  return s->out + row * s->outPitch + columnOfLane(q) * outSize(q);
}

/// The scales of the lane's block in rows `row`, `row` + 32 and so on.
GQ_DEV void loadRowScales(const Dequantization *q, const Source *s,
                          uint32_t row, uint32_t bits[UNROLL]) {
  uint32_t column = columnOfLane(q) / (uint32_t)q->traits.blockColumns;
  if (q->tiled) {
    gq_dev_u32x4 words =
        *(const gq_dev_u32x4 GQ_SHARED *)(s->scales + column / 4 * 512 +
                                          row * 16);
    bits[0] = words.x >> column % 4 * 8 & 0xff;
    bits[1] = words.y >> column % 4 * 8 & 0xff;
    bits[2] = words.z >> column % 4 * 8 & 0xff;
    bits[3] = words.w >> column % 4 * 8 & 0xff;
    return;
  }
  for (uint32_t j = 0; j < UNROLL; ++j)
    bits[j] = loadScale(q, s, row + j * ROW_STEP, column);
}

/// The outer scale of a lane's column.
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
    setFactor(q, q->format == GQ_FORMAT_NONE ? 0 : loadScale(q, s, 0, 0),
              s->outer, &of128, 0);
  uint32_t step = WARPS * rowsPerWarp(q);
  uint32_t row = warpOfThread() * rowsPerWarp(q) + rowOfLane(q);
  uint8_t GQ_GLOBAL *to = elementsAt(q, s, row);
  int64_t toStep = ROW_STEP * s->outPitch;
#pragma clang loop unroll(disable)
  for (uint32_t first = 0; first < ROW_STEP;
       first += step, row += step, to += step * s->outPitch) {
    LaneCodes codes[UNROLL];
    uint32_t bits[UNROLL];
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < UNROLL; ++j)
      codes[j] = codesOfRow(q, s, row + j * ROW_STEP);
    if (!ofOneScale)
      loadRowScales(q, s, row, bits);
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < UNROLL; ++j) {
      Factors factors = of128;
      if (!ofOneScale)
        setFactor(q, bits[j], s->outer, &factors, 0);
      finishRow(q, s, row + j * ROW_STEP, to + j * toStep, codes[j], &factors);
    }
  }
}

/// Blocks along columns. Warps take parts of them by turns: of few rows small
/// ones, so that all have some.
GQ_DEV void dequantizeColumns(const Dequantization *q, const Source *s) {
  uint32_t blockRows = (uint32_t)q->traits.blockColumns;
  uint32_t part = s->rows > WARPS * 16  ? WARP_ROWS
                  : s->rows > WARPS * 8 ? 16
                                        : 8;
  part = part < blockRows ? part : blockRows;
#pragma clang loop unroll(disable)
  for (uint32_t first = warpOfThread() * part; first < s->rows;
       first += WARPS * part) {
    Factors factors = {.shared = q->traits.blockRows > 1, .rare = false};
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < LANE_ELEMENTS; ++k)
      if (k < (factors.shared ? 1 : elementsOf(q))) {
        uint32_t bits = loadScale(q, s, columnOfLane(q) + k, first / blockRows);
        setFactor(q, bits, outerOfColumn(q, s, k), &factors, k);
      }
    uint32_t row = first + rowOfLane(q), step = rowsPerWarp(q);
    uint8_t GQ_GLOBAL *to = elementsAt(q, s, row);
    int64_t toStep = step * s->outPitch;
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < part;
         r += UNROLL * step, row += UNROLL * step, to += UNROLL * toStep) {
      LaneCodes codes[UNROLL];
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < UNROLL; ++j)
        codes[j] = codesOfRow(q, s, row + j * step);
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
  return q->outerKind == GQ_OUTER_PER_COLUMN
             ? q->outer + job->group * q->columns + job->inputColumn +
                   columnOfLane(q)
             : 0;
}

/// Job number `n` of the CTA, whose codes and scales are in shared memory.
GQ_DEV void dequantizeJob(const Dequantization *q, uint32_t n) {
  const Job GQ_SHARED *job = &jobs[n];
  bool ragged = q->parts & GQ_DEV_RAGGED;
  uint32_t column = columnOfLane(q);
  Source s = {
      .codes = sharedCodes(q, q->transposed ? 1 : n % 2),
      .scales = sharedScales(n % 2),
      .outPitch = ragged ? job->columnsOfGroup * outSize(q) : q->outStride,
      .rows = job->rows,
      .count = column < job->columns
                   ? min32(job->columns - column, elementsOf(q))
                   : 0,
      .outer = outerOf(q, job->group),
      .outers = outersOf(q, job),
      .outAligned = q->outAligned,
      .whole = false,
  };
  if (q->format == GQ_FORMAT_NONE && ragged) // Of any number of columns.
    s.outAligned &= s.outPitch % 16 == 0;
  s.out = q->out + job->inputRow * s.outPitch +
          (int64_t)job->inputColumn * outSize(q);
  // Columns gain more from the CTAs that the registers of one way leave room
  // for.
  if (!q->columnwise && s.rows == TILE && job->columns == TILE &&
      s.outAligned) {
    Source whole = s;
    whole.count = elementsOf(q);
    whole.outAligned = whole.whole = true;
    dequantizeBlocks(q, &whole);
  } else {
    dequantizeBlocks(q, &s);
  }
}

/// Begins to copy what job number `n` of the CTA reads.
GQ_DEV void copyJob(const Dequantization *q, uint32_t n) {
  copyCodes(q, &jobs[n], q->transposed ? 0 : n % 2);
  copyScales(q, &jobs[n], n % 2);
}

/// Jobs 0 to `count` - 1 of the CTA.
GQ_DEV void dequantizeJobs(const Dequantization *q, uint32_t count) {
  copyJob(q, 0);
#pragma clang loop unroll(disable)
  for (uint32_t n = 0; n < count; ++n) {
    // The job is there, and nothing reads the one before any more.
    gq_dev_wait_for_copies();
    gq_dev_barrier();
    if (q->transposed) {
      turnCodes(q);
      gq_dev_barrier();
    }
    if (n + 1 < count)
      copyJob(q, n + 1);
    dequantizeJob(q, n);
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
      .firstDims = q->firstDims,
      .lastDims = q->lastDims,
      .numOffsets = q->numOffsets,
      .numGroups = q->groups,
      .numRows = q->rows,
      .numColumns = q->columns,
      .wide = q->offsetBits == 64,
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
      .dequantizer = {format, recipe, outerKind != GQ_OUTER_NONE, scaleMax},
      .columnwise = parts & GQ_DEV_COLUMNWISE,
      .tiled =
          format != GQ_FORMAT_NONE && scaleLayout == GQ_SCALE_LAYOUT_TILE128X4,
  };
  q.transposed =
      q.columnwise && (format == GQ_FORMAT_NONE || q.traits.transposes);
  q.outAligned = (((uint64_t)out | (uint64_t)outStride) & 15) == 0;
  if (gq_dev_dequantizes_by_rows(parts)) {
    dequantizeByRows(&q);
    return;
  }
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
    uint64_t left = (plan.jobs - 1 - gq_dev_cta()) / numCtas + 1 - first;
    dequantizeJobs(&q, min32((int64_t)left, 2 * BATCH));
  }
}
