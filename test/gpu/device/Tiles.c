//===- Tiles.c - problems for the kernel of tiles -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"

#include "../../runtime/Npy.h"
#include "../../runtime/Reference.h"
#include "Host.h"
#include "Hostile.h"
#include "lib/Runtime/CpuTiles.h"
#include "runtime_kernels/codecs/Float.h"
#include "runtime_kernels/kernels/Launch.h"
#include "runtime_kernels/scalers/Nvfp4.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  KIND_NONE,
  KIND_ONE,
  KIND_PER_GROUP,
  KIND_PER_ROW,
  KIND_PER_COLUMN,
};

#define VARIANT_OF(NAME, TYPE, LOAD, PARTS, FORMAT, RECIPE, LAYOUT, ROWS,      \
                   BITS, KIND, COLUMNWISE_KIND, DBIAS, ROWWISE, COLUMNWISE)    \
  {#NAME,                                                                      \
   GQ_##TYPE,                                                                  \
   PARTS,                                                                      \
   GQ_FORMAT_##FORMAT,                                                         \
   GQ_RECIPE_##RECIPE,                                                         \
   GQ_SCALE_LAYOUT_##LAYOUT,                                                   \
   GQ_ROWS_##ROWS,                                                             \
   BITS,                                                                       \
   KIND_##KIND,                                                                \
   KIND_##COLUMNWISE_KIND,                                                     \
   GQ_##DBIAS,                                                                 \
   ROWWISE,                                                                    \
   COLUMNWISE,                                                                 \
   sizeof(#LOAD) < sizeof("f16_unaligned")},
const TilesVariant tilesVariants[] = {
#include "TilesVariants.h"
};
#undef VARIANT_OF
const int numTilesVariants = sizeof(tilesVariants) / sizeof(*tilesVariants);

const char *const tilesArrayNames[TILES_NUM_ARRAYS] = {"input",
                                                       "row indices",
                                                       "offsets",
                                                       "scale offsets",
                                                       "first dims",
                                                       "last dims",
                                                       "outer",
                                                       "columnwise outer",
                                                       "rng state",
                                                       "data",
                                                       "scales",
                                                       "columnwise data",
                                                       "columnwise scales",
                                                       "amax",
                                                       "dbias",
                                                       "scale offsets out",
                                                       "scale inverses",
                                                       "workspace",
                                                       "status"};

TilesOperands tilesPlace(QuantizeTilesOperands operands,
                         const uint64_t addresses[TILES_NUM_ARRAYS]) {
  TilesOperands o = {.tiles = operands};
  o.tiles.input = addresses[TILES_INPUT];
  o.tiles.rowIndices = addresses[TILES_ROWS_OF_INPUT];
  o.tiles.offsets = addresses[TILES_OFFSETS];
  o.tiles.scaleOffsets = addresses[TILES_SCALE_OFFSETS];
  o.tiles.firstDims = addresses[TILES_FIRST_DIMS];
  o.tiles.lastDims = addresses[TILES_LAST_DIMS];
  o.tiles.outer = addresses[TILES_OUTER];
  o.tiles.columnwiseOuter = addresses[TILES_COLUMNWISE_OUTER];
  o.tiles.rngState = addresses[TILES_RNG_STATE];
  o.tiles.data = addresses[TILES_DATA];
  o.tiles.scales = addresses[TILES_SCALES];
  o.tiles.columnwiseData = addresses[TILES_COLUMNWISE_DATA];
  o.tiles.columnwiseScales = addresses[TILES_COLUMNWISE_SCALES];
  o.tiles.scaleOffsetsOut = addresses[TILES_SCALE_OFFSETS_OUT];
  o.tiles.scaleInv = addresses[TILES_SCALE_INV];
  o.tiles.workspace = addresses[TILES_WORKSPACE];
  o.tiles.dbias = addresses[TILES_DBIAS];
  o.tiles.status = addresses[TILES_STATUS];
  o.reduce = (ReduceTilesOperands){
      .workspace = addresses[TILES_WORKSPACE],
      .rows = operands.rows,
      .columns = operands.columns,
      .groups = operands.groups,
      .amax = addresses[TILES_AMAX],
      .dbias = addresses[TILES_DBIAS],
  };
  return o;
}

//===----------------------------------------------------------------------===//
// The formulas
//===----------------------------------------------------------------------===//

static float atMost(float x, float bound) { return fminf(x, bound); }

/// Rounds |x| to `mantissa` bits and the least exponent `least`, to even.
static double roundTo(double x, int mantissa, int least) {
  int exponent;
  frexp(x, &exponent);
  int unit = (exponent - 1 > least ? exponent - 1 : least) - mantissa;
  return ldexp(rint(ldexp(x, -unit)), unit);
}

/// What a positive code of 8 bits stands for, of either number of mantissa
/// bits.
static double fp8Value(int mantissa, int code) {
  static double values[2][128];
  double *all = values[mantissa == 3];
  for (int c = 127; all[1] == 0 && c >= 0; --c) {
    int least = mantissa == 3 ? -6 : -14;
    int e = c >> mantissa, m = c & ((1 << mantissa) - 1);
    all[c] = e ? ldexp(m + (1 << mantissa), e - 1 + least - mantissa)
               : ldexp(m, least - mantissa);
  }
  return all[code];
}

/// The code of a format of 8 bits, by search among all codes.
static uint8_t fp8(float x, int mantissa, float max) {
  if (isnan(x))
    return 0x7f;
  int least = mantissa == 3 ? -6 : -14;
  double rounded = roundTo(fmin(fabs((double)x), (double)max), mantissa, least);
  rounded = fmin(rounded, (double)max);
  int low = 0, high = mantissa == 3 ? 0x7e : 0x7b;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (fp8Value(mantissa, middle) <= rounded)
      low = middle;
    else
      high = middle - 1;
  }
  return (uint8_t)(low | (signbit(x) ? 0x80 : 0));
}

static uint8_t e8m0(float x) {
  if (isnan(x))
    return 255;
  if (isinf(x))
    return 254;
  for (int code = 0; code < 254; ++code)
    if ((double)x <= ldexp(1.0, code - 127))
      return (uint8_t)code;
  return 254;
}

static uint8_t code(gqFormat format, float x) {
  switch (gqFormatGetTraits(format).dataType) {
  case GQ_F8E4M3FN:
    return fp8(x, 3, 448.0f);
  case GQ_F8E5M2:
    return fp8(x, 2, 57344.0f);
  default:
    return (uint8_t)referenceE2M1(x);
  }
}

/// Whether blocks have scales.
static bool hasScales(const TilesVariant *v) {
  return v->format != GQ_FORMAT_FP8_E4M3 && v->format != GQ_FORMAT_FP8_E5M2;
}

/// The scale of a format with a single scale, given that or, to the recipe te,
/// an amax.
static float givenScale(const TilesVariant *v, float given) {
  float max = v->format == GQ_FORMAT_FP8_E4M3 ? 448.0f : 57344.0f;
  if (v->recipe == GQ_RECIPE_NVFUSER)
    return given;
  return given > 0.0f && !isinf(given) ? atMost(max / given, FLT_MAX) : 1.0f;
}

/// Where the elements of a block are: `lines` times `n`.
typedef struct Block {
  int64_t n, stride, lines, pitch;
} Block;

/// Quantizes a block. Returns the bits of the scale.
static uint32_t quantizeBlock(const TilesVariant *v, float outer, bool hasOuter,
                              const float *x, Block block, uint8_t *codes) {
  const gqFormatTraits traits = gqFormatGetTraits(v->format);
  const float max = traits.dataType == GQ_F8E4M3FN ? 448.0f
                    : traits.dataType == GQ_F8E5M2 ? 57344.0f
                                                   : 6.0f;
  float amax = 0.0f;
  for (int64_t j = 0; j < block.lines; ++j)
    for (int64_t i = 0; i < block.n; ++i)
      amax = fmaxf(amax, fabsf(x[j * block.pitch + i * block.stride]));
  uint32_t scale;
  float factor;
  if (!hasScales(v)) {
    factor = hasOuter ? givenScale(v, outer) : 1.0f;
    scale = 0;
  } else if (traits.scaleType == GQ_F32) {
    factor = amax > 0.0f && !isinf(amax) ? atMost(max / amax, FLT_MAX) : 1.0f;
    float inverse = 1.0f / factor;
    memcpy(&scale, &inverse, 4);
  } else if (v->format != GQ_FORMAT_NVFP4) {
    scale = e8m0(amax * (1.0f / max));
    factor = (float)ldexp(1.0, 127 - (int)scale);
  } else if (v->recipe == GQ_RECIPE_TE) {
    float encode = 1.0f;
    if (hasOuter) {
      encode = atMost(2688.0f / outer, FLT_MAX);
      if (outer == 0.0f || encode == 0.0f)
        encode = 1.0f;
    }
    scale = fp8(atMost(amax * (encode * (1.0f / 6.0f)), FLT_MAX), 3, 448.0f);
    factor = atMost(1.0f / ((float)fp8Value(3, (int)scale) * (1.0f / encode)),
                    FLT_MAX);
  } else {
    float s = amax / 6.0f;
    if (hasOuter)
      s = s * outer;
    scale = fp8(atMost(s, FLT_MAX), 3, 448.0f);
    factor = (float)fp8Value(3, scale & 0x7f) * (scale & 0x80 ? -1.0f : 1.0f);
    if (hasOuter)
      factor = factor * (1.0f / outer);
    factor = atMost(1.0f / factor, FLT_MAX);
  }
  for (int64_t j = 0; j < block.lines; ++j)
    for (int64_t i = 0; i < block.n; ++i) {
      int64_t at = j * block.pitch + i * block.stride;
      codes[at] = code(v->format, x[at] * factor);
    }
  return scale;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static gqFormatTraits traitsOf(const TilesVariant *v) {
  return gqFormatGetTraits(v->format);
}

static bool has(const TilesVariant *v, int part) { return v->parts & part; }

static int64_t numRows(const TilesShape *s) {
  int64_t rows = s->rowsBefore + s->rowsAfter;
  for (int e = 0; e < s->groups; ++e)
    rows += s->rows[e];
  return rows;
}

static float loadElement(const TilesVariant *v, const void *p, int64_t i) {
  return v->type == GQ_F32    ? ((const float *)p)[i]
         : v->type == GQ_BF16 ? gq_dev_f32_from_bf16(((const uint16_t *)p)[i])
                              : gq_dev_f32_from_f16(((const uint16_t *)p)[i]);
}

static void storeIndex(const TilesVariant *v, uint8_t *p, int64_t i,
                       int64_t x) {
  if (v->offsetBits == 64)
    ((int64_t *)p)[i] = x;
  else
    ((int32_t *)p)[i] = (int32_t)x;
}

static void storeRowIndex(TilesProblem *p, int64_t i, int64_t x) {
  ((int32_t *)p->arrays[TILES_ROWS_OF_INPUT].bytes)[i] = (int32_t)x;
}

static int64_t loadRowIndex(const TilesProblem *p, int64_t i) {
  return ((const int32_t *)p->arrays[TILES_ROWS_OF_INPUT].bytes)[i];
}

static int64_t loadIndex(const TilesVariant *v, const uint8_t *p, int64_t i) {
  return v->offsetBits == 64 ? ((const int64_t *)p)[i]
                             : ((const int32_t *)p)[i];
}

/// Half of the values are near 1, the others any bits at all; in some blocks
/// all are small, or zero. Of long blocks, not every one has inf in it.
static void randomInput(const TilesVariant *v, uint8_t *bytes, int64_t size) {
  int64_t n = size / gqElementTypeSize(v->type);
  bool longBlocks = traitsOf(v).blockColumns == 128;
  uint32_t mood = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i % (longBlocks ? 1 << 13 : 64) == 0)
      mood = randomBits() % 8;
    uint32_t bits = randomBits();
    uint16_t half = (uint16_t)(bits >> 16);
    if (mood > 1 || randomBits() % (longBlocks ? 1024 : 2)) {
      const float sizes[] = {1.0f,    1.0f,      0.0f, 0x1p-9f,
                             1000.0f, 0x1p-120f, 1.0f, 1.0f};
      float x = (float)(int32_t)bits * 0x1p-31f * sizes[mood];
      half =
          v->type == GQ_BF16 ? gq_dev_bf16_from_f32(x) : gq_dev_f16_from_f32(x);
      memcpy(&bits, &x, 4);
    }
    // NaN in blocks that are regular without it; but sums would be NaN, too.
    if (mood == 6 && !(v->parts & GQ_DEV_DBIAS) && randomBits() % 128 == 0) {
      half = (uint16_t)(half | 0x7fff);
      bits |= 0x7fffffff;
    }
    if (v->type == GQ_F32)
      memcpy(bytes + 4 * i, &bits, 4);
    else
      memcpy(bytes + 2 * i, &half, 2);
  }
}

static void output(TilesProblem *p, int array, int64_t size, uint8_t before) {
  p->arrays[array].size = size;
  p->arrays[array].before = before;
  p->arrays[array].bytes = allocateHost(size);
}

static void input(TilesProblem *p, int array, int64_t size) {
  p->arrays[array].size = size;
  p->arrays[array].bytes = allocateHost(size);
}

static int64_t scaleSize(const TilesVariant *v) {
  return gqElementTypeSize(traitsOf(v).scaleType);
}

static bool hasSquares(const TilesVariant *v) {
  return traitsOf(v).blockRows > 1;
}

/// Scales, as they are stored, of a matrix whose blocks are parts of rows, all
/// rounded up.
static int64_t numScales(const TilesVariant *v, int64_t rows, int64_t columns) {
  int64_t block = traitsOf(v).blockColumns, blockRows = traitsOf(v).blockRows;
  if (!hasScales(v))
    return 0;
  int64_t width = up(columns, block) / block;
  return v->layout == GQ_SCALE_LAYOUT_LINEAR
             ? up(rows, blockRows) / blockRows * width
             : up(rows, 128) * up(width, 4);
}

/// Bytes of the scales of a group.
static int64_t columnwiseScaleBytes(const TilesVariant *v, int64_t rows,
                                    int64_t columns) {
  return numScales(v, columns, up(rows, 32)) * scaleSize(v);
}
static int64_t scaleBytes(const TilesVariant *v, int64_t rows,
                          int64_t columns) {
  return numScales(v, rows, columns) * scaleSize(v);
}

TilesProblem tilesProblemNew(const TilesVariant *v, const TilesShape *s) {
  TilesProblem p = {.variant = *v, .shape = *s};
  bool ragged = has(v, GQ_DEV_RAGGED);
  int64_t block = traitsOf(v).blockColumns, bits = traitsOf(v).dataBits;
  int64_t columns = ragged ? 1 : s->columns[0];
  int64_t offset = ragged ? 0 : s->rowsBefore, scaleRow = 0;
  int64_t scales = 0, transposed = 0, columnwiseScales = 0;
  int64_t index = v->offsetBits / 8;
  input(&p, TILES_OFFSETS, (s->groups + 1) * index);
  input(&p, TILES_SCALE_OFFSETS, s->groups * index);
  input(&p, TILES_FIRST_DIMS, s->groups * index);
  input(&p, TILES_LAST_DIMS, s->groups * index);
  for (int e = 0; e < s->groups; ++e) {
    int64_t k = ragged ? s->columns[e] : columns;
    storeIndex(v, p.arrays[TILES_OFFSETS].bytes, e, offset);
    storeIndex(v, p.arrays[TILES_SCALE_OFFSETS].bytes, e, scaleRow);
    storeIndex(v, p.arrays[TILES_FIRST_DIMS].bytes, e, s->rows[e]);
    storeIndex(v, p.arrays[TILES_LAST_DIMS].bytes, e, k);
    offset += ragged ? s->rows[e] * k + s->gap * 16 : s->rows[e];
    scales += scaleBytes(v, s->rows[e], k);
    transposed += k * up(s->rows[e], 32);
    columnwiseScales += columnwiseScaleBytes(v, s->rows[e], k);
    scaleRow += up(s->rows[e], 128);
    if (has(v, GQ_DEV_SCALE_OFFSETS) && e + 1 < s->groups) // gaps
      scaleRow += randomBits() % 2 * 128;
  }
  storeIndex(v, p.arrays[TILES_OFFSETS].bytes, s->groups, offset);
  int64_t rows = ragged ? offset : numRows(s);
  bool closed = ragged || s->closed || !has(v, GQ_DEV_SCALE_OFFSETS);
  if (s->whole)
    p.arrays[TILES_OFFSETS].size = 0;
  else if (!closed)
    p.arrays[TILES_OFFSETS].size -= index;

  int64_t gap = ragged ? 0 : s->rowGap;
  int64_t stride = columns + gap;
  int64_t sourceRows = has(v, TILES_ROW_INDICES) ? rows / 2 + 1 : rows;
  input(&p, TILES_INPUT, sourceRows * stride * gqElementTypeSize(v->type));
  input(&p, TILES_ROWS_OF_INPUT, rows * 4);
  for (int64_t i = 0; i < rows; ++i)
    storeRowIndex(&p, i, randomBits() % sourceRows);
  randomInput(v, p.arrays[TILES_INPUT].bytes, p.arrays[TILES_INPUT].size);
  // A column of -0, whose sum is 0.
  for (int64_t at = 0, size = gqElementTypeSize(v->type);
       has(v, GQ_DEV_DBIAS) && at < p.arrays[TILES_INPUT].size / size;
       at += stride) {
    uint8_t *element = p.arrays[TILES_INPUT].bytes + at * size;
    memset(element, 0, (size_t)size);
    element[size - 1] = 0x80;
  }
  for (int i = TILES_OUTER; i <= TILES_COLUMNWISE_OUTER; ++i) {
    int kind = i == TILES_OUTER ? v->outerKind : v->columnwiseOuterKind;
    int64_t count = kind == KIND_PER_ROW      ? rows
                    : kind == KIND_PER_COLUMN ? s->groups * columns
                                              : s->groups + 1;
    input(&p, i, count * 4);
    for (int64_t e = 0; e < count; ++e) {
      const float some[] = {1.0f,  37.5f, 2688.0f / 3.3f, 1e-3f,
                            3.25f, 1e30f, 1e-38f,         0.0f};
      // What an outer scale and, the last as well, one that is given may be.
      const float any[] = {0.0f, INFINITY, NAN, 0x1p-140f, 1e38f, -3.0f};
      memcpy(p.arrays[i].bytes + 4 * e,
             randomBits() % (hasScales(v) ? 8 : 2)
                 ? &some[randomBits() % (randomBits() % 4 ? 5 : 8)]
                 : &any[randomBits() % (hasScales(v) ? 5 : 6)],
             4);
    }
  }
  if (!hasScales(v)) // One for both directions.
    memcpy(p.arrays[TILES_COLUMNWISE_OUTER].bytes, p.arrays[TILES_OUTER].bytes,
           (size_t)p.arrays[TILES_OUTER].size);

  input(&p, TILES_RNG_STATE, 16);
  for (int i = 0; i < 16; ++i)
    p.arrays[TILES_RNG_STATE].bytes[i] = (uint8_t)randomBits();

  p.operands = (QuantizeTilesOperands){
      .inputStride = stride,
      .rows = rows,
      .columns = columns,
      .sourceRows = sourceRows,
      .numOffsets = s->whole ? 0 : s->groups + closed,
      .groups = s->groups,
      .dataStride = columns * bits / 8 + gap,
      .scalesStride = hasSquares(v) && !s->whole
                          ? 0
                          : (columns / block + gap) * scaleSize(v),
      .columnwiseDataStride = columns * bits / 8 + gap,
  };
  const int64_t tail = 64;
  if (has(v, GQ_DEV_ROWWISE)) {
    output(&p, TILES_DATA,
           ragged ? rows * bits / 8 : rows * p.operands.dataStride,
           TILES_POISON);
    bool linearRows = v->layout == GQ_SCALE_LAYOUT_LINEAR && !ragged &&
                      p.operands.scalesStride;
    if (linearRows)
      scales = up(rows, traitsOf(v).blockRows) / traitsOf(v).blockRows *
               p.operands.scalesStride;
    else if (has(v, GQ_DEV_SCALE_OFFSETS))
      scales = scaleRow * up(columns / block, 4);
    if (hasScales(v))
      output(&p, TILES_SCALES, scales + (linearRows ? 0 : tail), TILES_POISON);
    p.operands.scalesSize = p.arrays[TILES_SCALES].size / scaleSize(v);
    if (has(v, GQ_DEV_SCALE_OFFSETS))
      p.operands.scalesSize = scales;
  }
  if (has(v, GQ_DEV_COLUMNWISE)) {
    output(&p, TILES_COLUMNWISE_DATA,
           traitsOf(v).transposes ? transposed * bits / 8 + tail
           : ragged               ? rows * bits / 8
                                  : rows * p.operands.columnwiseDataStride,
           TILES_POISON);
    if (hasScales(v))
      output(&p, TILES_COLUMNWISE_SCALES, columnwiseScales + tail,
             TILES_POISON);
    p.operands.columnwiseDataSize = p.arrays[TILES_COLUMNWISE_DATA].size;
    p.operands.columnwiseScalesSize = columnwiseScales / scaleSize(v);
  }
  if (has(v, GQ_DEV_AMAX))
    output(&p, TILES_AMAX, s->groups * 4, TILES_POISON);
  if (has(v, GQ_DEV_DBIAS)) {
    output(&p, TILES_DBIAS,
           s->groups * columns * gqElementTypeSize(v->dbiasType), TILES_POISON);
  }
  if (v->parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS))
    output(&p, TILES_WORKSPACE,
           gq_dev_tiles_workspace(rows, columns, s->groups, v->parts),
           TILES_POISON);
  if (has(v, GQ_DEV_SCALE_OFFSETS_OUT))
    output(&p, TILES_SCALE_OFFSETS_OUT, s->groups * index, TILES_POISON);
  if (has(v, GQ_DEV_SCALE_INVERSES))
    output(&p, TILES_SCALE_INV, s->groups * 4, TILES_POISON);
  output(&p, TILES_STATUS, 4, 0);
  return p;
}

void tilesProblemFree(TilesProblem *p) {
  for (int i = 0; i < TILES_NUM_ARRAYS; ++i) {
    free(p->arrays[i].bytes);
    free(p->arrays[i].claims);
  }
  free(p->exactDbias);
}

//===----------------------------------------------------------------------===//
// Expected bytes
//===----------------------------------------------------------------------===//

static int64_t tile128x4(int64_t row, int64_t column, int64_t paddedColumns) {
  return row / 128 * 128 * paddedColumns + column / 4 * 512 + row % 32 * 16 +
         row % 128 / 32 * 4 + column % 4;
}

static float outerOf(const TilesProblem *p, int array, int kind, int64_t e,
                     bool *hasOuter) {
  *hasOuter = kind == KIND_ONE || (kind == KIND_PER_GROUP && e >= 0);
  float x = 1.0f;
  if (*hasOuter)
    memcpy(&x, p->arrays[array].bytes + (kind == KIND_ONE ? 0 : 4 * e), 4);
  return x;
}

/// The outputs of rows `begin` to `begin + m` of a matrix, or of a ragged
/// group.
typedef struct Target {
  int64_t e; // -1: of no group
  int64_t m, k;
  int64_t row; // of the matrix, 0 if ragged
  int64_t inputAt, inputPitch;
  int64_t dataAt, dataPitch; // in bytes
  int64_t columnwiseDataAt, columnwiseDataPitch;
  int64_t scalesAt, scalesPitch, columnwiseScalesAt;
} Target;

static bool isUnusual(const TilesVariant *v) {
  return has(v, GQ_DEV_UNUSUAL) || v->rowwise || v->columnwise;
}

/// The codes and scales of a direction that is not as usual, as the CPU makes
/// them, from x [m, k]: scales [m, k / 16], or [k, up(m, 32) / 16] of columns,
/// which have codes of up(m, 32) rows.
static void quantizeUnusual(const TilesProblem *p, Target t, bool columnwise,
                            const float *x, uint8_t *codes, uint32_t *scales) {
  const TilesVariant *v = &p->variant;
  int array = columnwise ? TILES_COLUMNWISE_OUTER : TILES_OUTER;
  int kind = columnwise ? v->columnwiseOuterKind : v->outerKind;
  bool hasOuter;
  float outer = outerOf(p, array, kind, t.e, &hasOuter);
  const float *outers = (const float *)p->arrays[array].bytes;
  const gqCpuTileDirection whole = {
      .traits = gqDirectionUnpack(columnwise ? v->columnwise : v->rowwise),
      .columnwise = columnwise,
      .outer = v->recipe == GQ_RECIPE_TE && hasOuter
                   ? gq_dev_nvfp4_te_outer(outer)
                   : outer,
      .outerAmax = hasOuter ? &outer : NULL,
      .outerAmaxes = kind == KIND_PER_ROW      ? outers + t.row
                     : kind == KIND_PER_COLUMN ? outers + t.e * t.k
                                               : NULL,
      .first = has(v, GQ_DEV_RAGGED) ? t.inputAt : t.row * t.k,
      .pitch = t.k,
  };
  int64_t width = (columnwise ? up(t.m, 32) : t.k) / 16;
  for (int64_t row = 0; row < t.m; row += 128)
    for (int64_t column = 0; column < t.k; column += 128) {
      gqCpuTile tile = {
          .rows = t.m - row < 128 ? t.m - row : 128,
          .columns = t.k - column < 128 ? t.k - column : 128,
      };
      for (int64_t r = 0; r < tile.rows; ++r)
        memcpy(tile.x[r], x + (row + r) * t.k + column,
               (size_t)tile.columns * 4);
      gqCpuTileDirection direction = whole;
      memcpy(&direction.rng, p->arrays[TILES_RNG_STATE].bytes, 16);
      direction.first += row * t.k + column;
      if (whole.outerAmaxes)
        direction.outerAmaxes += columnwise ? column : row;
      gqCpuTileCodes tileCodes;
      gqCpuTileScales tileScales;
      gqCpuQuantizeSquares(&tile, v->recipe, &direction, tileCodes,
                           &tileScales);
      int64_t rows = columnwise ? up(tile.rows, 32) : tile.rows;
      for (int64_t r = 0; r < rows; ++r)
        memcpy(codes + (row + r) * t.k + column, tileCodes[r],
               (size_t)tile.columns);
      int64_t lines = columnwise ? tile.columns : tile.rows;
      int64_t blocks = (columnwise ? rows : tile.columns) / 16;
      for (int64_t i = 0; i < lines; ++i)
        for (int64_t b = 0; b < blocks; ++b)
          scales[((columnwise ? column : row) + i) * width +
                 (columnwise ? row : column) / 16 + b] = tileScales.bits[i][b];
    }
}

static void storeCodes(uint8_t *p, int64_t first, int64_t bits,
                       const uint8_t *codes, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (bits == 8)
      p[first + i] = codes[i];
    else if (i % 2 == 0)
      p[(first + i) / 2] = (uint8_t)(codes[i] | codes[i + 1] << 4);
}

/// Scales [rows, columns] of a group, as the layout has them.
static void storeScales(const TilesVariant *v, uint8_t *p, int64_t pitch,
                        const uint32_t *scales, int64_t rows, int64_t columns) {
  if (v->layout == GQ_SCALE_LAYOUT_LINEAR) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) // little-endian
        memcpy(p + r * pitch + c * scaleSize(v), &scales[r * columns + c],
               (size_t)scaleSize(v));
    return;
  }
  int64_t width = up(columns, 4);
  for (int64_t r = 0; r < up(rows, 128); ++r)
    for (int64_t c = 0; c < width; ++c)
      p[tile128x4(r, c, width)] =
          r < rows && c < columns ? (uint8_t)scales[r * columns + c] : 0;
}

static void expectTarget(TilesProblem *p, Target t) {
  const TilesVariant *v = &p->variant;
  int64_t block = traitsOf(v).blockColumns, bits = traitsOf(v).dataBits;
  int64_t lines = traitsOf(v).blockRows;
  int64_t rows32 = up(t.m, 32), padded = up(t.m, 128);
  float *x = allocateHost(padded * t.k * 4);
  for (int64_t r = 0; r < t.m; ++r) {
    int64_t at = t.inputAt + r * t.inputPitch;
    if (has(v, TILES_ROW_INDICES)) {
      int64_t row = loadRowIndex(p, t.row + r);
      if (row < 0 || row >= p->operands.sourceRows)
        continue;
      at = row * t.inputPitch;
    }
    for (int64_t c = 0; c < t.k; ++c)
      x[r * t.k + c] = loadElement(v, p->arrays[TILES_INPUT].bytes, at + c);
  }
  uint8_t *codes = allocateHost(padded * t.k);
  uint32_t *scales = allocateHost(padded * t.k * 4);
  bool hasOuter;
  if (has(v, GQ_DEV_ROWWISE)) {
    float outer = outerOf(p, TILES_OUTER, v->outerKind, t.e, &hasOuter);
    int64_t width = t.k / block, height = up(t.m, lines) / lines;
    Block shape = {.n = block, .stride = 1, .lines = lines, .pitch = t.k};
    if (isUnusual(v))
      quantizeUnusual(p, t, false, x, codes, scales);
    for (int64_t r = 0; r < height && !isUnusual(v); ++r)
      for (int64_t b = 0; b < width; ++b) {
        int64_t at = r * lines * t.k + b * block;
        scales[r * width + b] =
            quantizeBlock(v, outer, hasOuter, x + at, shape, codes + at);
      }
    for (int64_t r = 0; r < t.m; ++r)
      storeCodes(p->arrays[TILES_DATA].bytes + t.dataAt + r * t.dataPitch, 0,
                 bits, codes + r * t.k, t.k);
    if (t.e >= 0 && hasScales(v))
      storeScales(v, p->arrays[TILES_SCALES].bytes + t.scalesAt, t.scalesPitch,
                  scales, height, width);
  }
  if (t.e >= 0 && has(v, GQ_DEV_COLUMNWISE)) {
    float outer = outerOf(p, TILES_COLUMNWISE_OUTER, v->columnwiseOuterKind,
                          t.e, &hasOuter);
    int64_t width = up(rows32, block) / block, height = t.k / lines;
    Block shape = {.n = block, .stride = t.k, .lines = lines, .pitch = 1};
    if (isUnusual(v))
      quantizeUnusual(p, t, true, x, codes, scales);
    for (int64_t c = 0; c < height && !isUnusual(v); ++c)
      for (int64_t b = 0; b < width; ++b) {
        int64_t at = b * block * t.k + c * lines;
        scales[c * width + b] =
            quantizeBlock(v, outer, hasOuter, x + at, shape, codes + at);
      }
    uint8_t *out = p->arrays[TILES_COLUMNWISE_DATA].bytes + t.columnwiseDataAt;
    if (traitsOf(v).transposes) {
      uint8_t *column = allocateHost(rows32);
      for (int64_t c = 0; c < t.k; ++c) {
        for (int64_t r = 0; r < rows32; ++r)
          column[r] = hasScales(v) || r < t.m ? codes[r * t.k + c] : 0;
        storeCodes(out, c * rows32, bits, column, rows32);
      }
      free(column);
    } else {
      for (int64_t r = 0; r < t.m; ++r)
        storeCodes(out + r * t.columnwiseDataPitch, 0, bits, codes + r * t.k,
                   t.k);
    }
    if (hasScales(v))
      storeScales(
          v, p->arrays[TILES_COLUMNWISE_SCALES].bytes + t.columnwiseScalesAt,
          width * scaleSize(v), scales, height, width);
  }
  if (t.e >= 0 && has(v, GQ_DEV_SCALE_INVERSES)) {
    float scale =
        givenScale(v, outerOf(p, TILES_OUTER, v->outerKind, t.e, &hasOuter));
    float inverse = isnan(scale) ? NAN : 1.0f / scale;
    memcpy(p->arrays[TILES_SCALE_INV].bytes + 4 * t.e, &inverse, 4);
  }
  if (t.e >= 0 && has(v, GQ_DEV_AMAX)) {
    float amax = 0.0f;
    for (int64_t i = 0; i < t.m * t.k; ++i)
      amax = fmaxf(amax, fabsf(x[i]));
    memcpy(p->arrays[TILES_AMAX].bytes + 4 * t.e, &amax, 4);
  }
  if (t.e >= 0 && has(v, GQ_DEV_DBIAS))
    for (int64_t c = 0; c < t.k; ++c) {
      // 8 or, of 32 bits or low lanes, 4 rows in order; a tree of 8 of these
      // sums; of these the ones of 64 rows in order; two of these; every fourth
      // tile in order; four such sums.
      float fourths[4] = {0.0f};
      double exact = 0.0;
      bool low =
          v->parts & TILES_SMALL_GROUPS &&
          gq_dev_small_groups_has_low_lanes(v->format, v->parts, v->type);
      int64_t perLane = v->type == GQ_F32 || low ? 4 : 8;
      for (int64_t r = 0; r < t.m; ++r)
        exact += (double)x[r * t.k + c];
      for (int64_t r128 = 0; r128 < t.m; r128 += 128) {
        float halves[2] = {0.0f};
        for (int64_t begin = 0; begin < 128; begin += 8 * perLane) {
          float lanes[8] = {0.0f};
          for (int64_t i = 0; i < 8 * perLane; ++i) {
            int64_t r = r128 + begin + i;
            lanes[i / perLane] += r < t.m ? x[r * t.k + c] : 0.0f;
          }
          for (int distance = 1; distance < 8; distance *= 2)
            for (int i = 0; i < 8; i += 2 * distance)
              lanes[i] += lanes[i + distance];
          halves[begin / 64] += lanes[0];
        }
        fourths[r128 / 128 % 4] += halves[0] + halves[1];
      }
      float all = fourths[0] + fourths[1] + fourths[2] + fourths[3];
      int64_t at = t.e * t.k + c;
      p->exactDbias[at] = exact;
      uint8_t *bytes = p->arrays[TILES_DBIAS].bytes;
      uint16_t half = v->dbiasType == GQ_BF16 ? gq_dev_bf16_from_f32(all)
                                              : gq_dev_f16_from_f32(all);
      if (v->dbiasType == GQ_F32)
        memcpy(bytes + 4 * at, &all, 4);
      else
        memcpy(bytes + 2 * at, &half, 2);
    }
  free(x);
  free(codes);
  free(scales);
}

/// The same where offsets are hostile and others may claim the same bytes: a
/// byte is claimed if it is the same on whatever was there before.
static void expectClaimed(TilesProblem *p, Target t) {
  TilesProblem twice[2] = {*p, *p};
  for (int k = 0; k < 2; ++k) {
    for (int i = TILES_NUM_INPUTS; i < TILES_NUM_ARRAYS; ++i)
      if (p->arrays[i].bytes) {
        twice[k].arrays[i].bytes = allocateHost(p->arrays[i].size);
        memset(twice[k].arrays[i].bytes, k ? 0xff : 0,
               (size_t)p->arrays[i].size);
      }
    expectTarget(&twice[k], t);
  }
  for (int i = TILES_NUM_INPUTS; i < TILES_NUM_ARRAYS; ++i) {
    if (!p->arrays[i].bytes)
      continue;
    TilesArray *a = &p->arrays[i];
    for (int64_t b = 0; b < a->size; ++b)
      if (twice[0].arrays[i].bytes[b] == twice[1].arrays[i].bytes[b]) {
        bool differs =
            a->claims[b] && a->bytes[b] != twice[0].arrays[i].bytes[b];
        a->claims[b] = a->claims[b] == 2 || differs ? 2 : 1;
        a->bytes[b] = twice[0].arrays[i].bytes[b];
      }
    free(twice[0].arrays[i].bytes);
    free(twice[1].arrays[i].bytes);
  }
}

static int64_t groupBegin(const TilesProblem *p, int64_t e) {
  const TilesArray *offsets = &p->arrays[TILES_OFFSETS];
  if (e < p->operands.numOffsets)
    return loadIndex(&p->variant, offsets->bytes, e);
  return p->shape.whole && e == 0 ? 0 : p->operands.rows;
}

/// The extents of a group and GQ_DEV_STATUS_ bits for which it is skipped by
/// itself; it has no rows then.
static uint32_t groupAt(const TilesProblem *p, int64_t e, int64_t *begin,
                        int64_t *m, int64_t *k) {
  const TilesVariant *v = &p->variant;
  const QuantizeTilesOperands *o = &p->operands;
  int64_t end = groupBegin(p, e + 1);
  *begin = groupBegin(p, e);
  *m = 0;
  *k = has(v, GQ_DEV_RAGGED) ? loadIndex(v, p->arrays[TILES_LAST_DIMS].bytes, e)
                             : o->columns;
  uint32_t faults = 0;
  if (*begin < 0 || end < *begin || end > o->rows) {
    faults = GQ_DEV_STATUS_OFFSETS;
  } else if (!has(v, GQ_DEV_RAGGED)) {
    *m = end - *begin;
  } else {
    *m = loadIndex(v, p->arrays[TILES_FIRST_DIMS].bytes, e);
    int64_t unit =
        has(v, GQ_DEV_ROWWISE) || hasSquares(v) ? traitsOf(v).blockColumns : 16;
    bool fits = *m >= 0 && *k >= 0 && *m < 1 << 20 && *k < 1 << 20 &&
                *k % unit == 0 && *m * *k <= end - *begin &&
                (*m * *k == 0 || *begin % 16 == 0);
    faults = fits ? 0 : GQ_DEV_STATUS_OFFSETS;
  }
  *m = faults ? 0 : *m;
  if (has(v, GQ_DEV_SCALE_OFFSETS)) {
    int64_t rows = o->scalesSize / up(*k / traitsOf(v).blockColumns, 4);
    int64_t at = loadIndex(v, p->arrays[TILES_SCALE_OFFSETS].bytes, e);
    if (at < 0 || at % 128 || at > rows || up(*m, 128) > rows - at) {
      faults |= GQ_DEV_STATUS_SCALE_OFFSETS;
      *m = 0;
    }
  }
  return faults;
}

/// Whether the scales of a group of m rows, given scale offsets, reach into
/// those of the next one.
static bool overlaps(const TilesProblem *p, int64_t e, int64_t m) {
  const TilesVariant *v = &p->variant;
  const uint8_t *starts = p->arrays[TILES_SCALE_OFFSETS].bytes;
  return has(v, GQ_DEV_SCALE_OFFSETS) && e + 1 < p->shape.groups &&
         up(m, 128) > loadIndex(v, starts, e + 1) - loadIndex(v, starts, e);
}

void tilesExpect(TilesProblem *p) {
  const TilesVariant *v = &p->variant;
  const TilesShape *s = &p->shape;
  const QuantizeTilesOperands *o = &p->operands;
  bool ragged = has(v, GQ_DEV_RAGGED);
  bool linear = v->layout == GQ_SCALE_LAYOUT_LINEAR;
  int64_t bits = traitsOf(v).dataBits, block = traitsOf(v).blockColumns;
  for (int i = TILES_NUM_INPUTS; i < TILES_NUM_ARRAYS; ++i)
    if (p->arrays[i].bytes)
      memset(p->arrays[i].bytes, p->arrays[i].before,
             (size_t)p->arrays[i].size);
  if (has(v, GQ_DEV_DBIAS) && !p->exactDbias)
    p->exactDbias = allocateHost(s->groups * o->columns * 8);

  // Scales that follow each other, and where they are not looked at.
  bool follow = has(v, GQ_DEV_ROWWISE) && hasScales(v) &&
                !has(v, GQ_DEV_SCALE_OFFSETS) &&
                !(linear && !ragged && o->scalesStride);
  int64_t scalesAt = 0, transposedAt = 0, columnwiseScalesAt = 0, packed = 0;
  uint32_t status = 0;
  for (int64_t e = -1; e <= s->groups; ++e) {
    bool none = e < 0 || e == s->groups;
    if (none && (ragged || !has(v, GQ_DEV_ROWWISE) || v->rows != GQ_ROWS_ALL))
      continue;
    int64_t at = 0, m, k = o->columns;
    if (none) {
      int64_t before = groupBegin(p, 0), after = groupBegin(p, s->groups);
      before = before < 0 ? 0 : before < o->rows ? before : o->rows;
      after = after < before ? before : after < o->rows ? after : o->rows;
      at = e < 0 ? 0 : after;
      m = e < 0 ? before : o->rows - after;
    } else {
      uint32_t faults = groupAt(p, e, &at, &m, &k);
      status |= faults;
      if (!faults && overlaps(p, e, m))
        status |= GQ_DEV_STATUS_SCALE_OFFSETS;
    }
    int64_t kept = m;
    if (!none) {
      int64_t size = scaleSize(v);
      bool fits =
          !(follow &&
            (scalesAt + scaleBytes(v, m, k)) / size > o->scalesSize) &&
          !(has(v, GQ_DEV_COLUMNWISE) && traitsOf(v).transposes &&
            (transposedAt + k * up(m, 32)) * bits / 8 >
                o->columnwiseDataSize) &&
          !(has(v, GQ_DEV_COLUMNWISE) && hasScales(v) &&
            (columnwiseScalesAt + columnwiseScaleBytes(v, m, k)) / size >
                o->columnwiseScalesSize);
      status |= fits ? 0 : GQ_DEV_STATUS_SIZES;
      kept = fits ? m : 0;
    }
    int64_t row = ragged || !kept ? 0 : at;
    // Of a group that is skipped or has no element they can be anything.
    int64_t element = ragged && at >= 0 && at <= o->rows ? at : 0;
    int64_t columns = ragged && !kept ? 0 : k;
    int64_t scaleRow =
        none || !kept ? 0
        : has(v, GQ_DEV_SCALE_OFFSETS)
            ? loadIndex(v, p->arrays[TILES_SCALE_OFFSETS].bytes, e)
            : packed;
    Target t = {
        .e = none ? -1 : e,
        .m = kept,
        .k = k,
        .row = row,
        .inputAt = ragged ? element : row * o->inputStride,
        .inputPitch = ragged ? k : o->inputStride,
        .dataAt = ragged ? element * bits / 8 : row * o->dataStride,
        .dataPitch = ragged ? columns * bits / 8 : o->dataStride,
        .columnwiseDataAt = traitsOf(v).transposes ? transposedAt * bits / 8
                            : ragged ? element * bits / 8
                                     : row * o->columnwiseDataStride,
        .columnwiseDataPitch =
            ragged ? columns * bits / 8 : o->columnwiseDataStride,
        .scalesAt = ragged || hasSquares(v) ? scalesAt
                    : linear                ? row * o->scalesStride
                                            : scaleRow * up(k / block, 4),
        .scalesPitch = ragged || !o->scalesStride ? k / block * scaleSize(v)
                                                  : o->scalesStride,
        .columnwiseScalesAt = columnwiseScalesAt,
    };
    if (ragged && !kept)
      t.k = 0;
    if (p->arrays[TILES_STATUS].claims)
      expectClaimed(p, t);
    else
      expectTarget(p, t);
    if (none)
      continue;
    if (has(v, GQ_DEV_SCALE_OFFSETS_OUT))
      storeIndex(v, p->arrays[TILES_SCALE_OFFSETS_OUT].bytes, e, packed);
    if (m == 0)
      continue;
    packed += up(m, 128);
    scalesAt += scaleBytes(v, m, k);
    transposedAt += k * up(m, 32);
    columnwiseScalesAt += columnwiseScaleBytes(v, m, k);
  }
  memcpy(p->arrays[TILES_STATUS].bytes, &status, 4);
}

/// dbias within 1e-5 * sqrt(rows) of float64, relative to the largest terms,
/// and, as the order of additions is fixed, the very bits; but of NaN any.
static bool dbiasMatches(const TilesProblem *p, const uint8_t *computed) {
  const TilesVariant *v = &p->variant;
  const uint8_t *expected = p->arrays[TILES_DBIAS].bytes;
  int64_t size = gqElementTypeSize(v->dbiasType);
  TilesVariant as = {.type = v->dbiasType};
  for (int64_t i = 0; i < p->arrays[TILES_DBIAS].size / size; ++i) {
    float x = loadElement(&as, computed, i), y = loadElement(&as, expected, i);
    if (memcmp(computed + i * size, expected + i * size, (size_t)size) != 0 &&
        !(isnan(x) && isnan(y)) && !p->leavesOut) {
      printf("  %s, dbias: number %lld is %g, expected %g (%g)\n", v->name,
             (long long)i, (double)x, (double)y, p->exactDbias[i]);
      return false;
    }
  }
  return true;
}

bool tilesArrayMatches(const TilesProblem *p, int array,
                       const uint8_t *computed) {
  const TilesArray *a = &p->arrays[array];
  if (array == TILES_DBIAS)
    return dbiasMatches(p, computed);
  if (array == TILES_WORKSPACE) // What is in it is nobody's business.
    return true;
  return bytesMatch(p->variant.name, tilesArrayNames[array], computed, a->bytes,
                    a->size, 0, a->claims, a->size);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

typedef struct Tests {
  TilesRun *run;
  int passed, failed;
} Tests;

static void check(Tests *tests, const TilesProblem *p, const char *what,
                  unsigned grid) {
  uint8_t *computed[TILES_NUM_ARRAYS] = {0};
  for (int i = TILES_NUM_INPUTS; i < TILES_NUM_ARRAYS; ++i)
    if (p->arrays[i].bytes)
      computed[i] = allocateHost(p->arrays[i].size);
  bool ok = tests->run(p, grid, computed);
  if (!ok)
    printf("  %s: outside of the outputs\n", p->variant.name);
  for (int i = TILES_NUM_INPUTS; i < TILES_NUM_ARRAYS; ++i)
    if (p->arrays[i].bytes) {
      ok &= tilesArrayMatches(p, i, computed[i]);
      free(computed[i]);
    }
  ok ? ++tests->passed : ++tests->failed;
  if (!ok)
    printf("FAILED %s, %s: %d groups of [%lld.., %lld..], grid %u\n",
           p->variant.name, what, p->shape.groups,
           p->shape.groups ? (long long)p->shape.rows[0] : 0,
           (long long)p->shape.columns[0], grid);
}

static void testShape(Tests *tests, const TilesVariant *v, const TilesShape *s,
                      const char *what, unsigned grid) {
  if (isLeftOut())
    return;
  TilesProblem p = tilesProblemNew(v, s);
  tilesExpect(&p);
  check(tests, &p, what, grid);
  tilesProblemFree(&p);
}

/// A multiple of what the variant's columns must be.
static int64_t columnsOf(const TilesVariant *v, int64_t columns) {
  int64_t unit =
      has(v, GQ_DEV_ROWWISE) || hasSquares(v) ? traitsOf(v).blockColumns : 16;
  return up(columns, unit);
}

static void testVariant(Tests *tests, const TilesVariant *v, bool quick) {
  // As elsewhere tested: one group, equal groups, varying rows; then odd ones.
  const int64_t rows[][8] = {{128},
                             {256, 256},
                             {128, 384},
                             {128, 384, 512},
                             {128, 384, 0, 512},
                             {1, 127, 0, 129, 33},
                             {0, 0, 65, 300, 0, 64, 31, 0},
                             // Long groups among short ones, and long ones.
                             {2, 1287, 0, 0},
                             {130, 1500}};
  const int groups[] = {1, 2, 2, 3, 4, 5, 8, 4, 2};
  const int64_t columns[] = {128, 128, 128, 144, 160, 16, 272, 48, 32};
  const int64_t lasts[8] = {
      256, 128, 512, columnsOf(v, 16), 640, 0, columnsOf(v, 96), 1024};
  for (int i = 0; i < 9; ++i) {
    if (quick && (i == 1 || i == 2 || i == 4))
      continue;
    int64_t one = columnsOf(v, columns[i]);
    bool odd = i == 5 || i == 6;
    TilesShape s = {.groups = groups[i],
                    .rows = rows[i],
                    .columns = has(v, GQ_DEV_RAGGED) ? lasts : &one,
                    .rowsBefore = odd ? 3 : 0,
                    .rowsAfter = odd ? 141 : 0,
                    .gap = odd,
                    .closed = i != 3,
                    .rowGap = v->aligned ? (odd ? 32 : 0) : 3,
                    .shift = v->aligned ? 0 : 1};
    const unsigned grids[] = {0, 1, 3, 5, 2, 7, 4, 3, 6};
    testShape(tests, v, &s, "shape", grids[i]);
  }
  // Many groups, of which some share a thread of the plan; and none.
  enum { MANY = 700 };
  int64_t many[MANY], manyLasts[MANY];
  for (int i = 0; i < MANY; ++i) {
    many[i] = randomBits() % 4 ? 0 : randomBits() % 40;
    manyLasts[i] = columnsOf(v, randomBits() % 3 * 16 + 16);
  }
  int64_t one = columnsOf(v, 48);
  TilesShape s = {.groups = quick ? 200 : MANY,
                  .rows = many,
                  .columns = has(v, GQ_DEV_RAGGED) ? manyLasts : &one,
                  .rowsAfter = 2,
                  .closed = true,
                  .rowGap = v->aligned ? 0 : 3,
                  .shift = v->aligned ? 0 : 1};
  testShape(tests, v, &s, "many groups", 6);
  s.groups = 0;
  testShape(tests, v, &s, "no groups", 2);
  // All rows without offsets.
  if (has(v, GQ_DEV_RAGGED | GQ_DEV_SCALE_OFFSETS))
    return;
  const int64_t all = quick ? 300 : 700, three = columnsOf(v, 272);
  TilesShape whole = {.groups = 1,
                      .rows = &all,
                      .columns = &three,
                      .whole = true,
                      .rowGap = v->aligned ? 16 : 3,
                      .shift = v->aligned ? 0 : 1};
  testShape(tests, v, &whole, "no offsets", 4);
}

int64_t tilesShift(const TilesProblem *p, int array) {
  bool shifts =
      array == TILES_INPUT || (array >= TILES_DATA && array < TILES_AMAX);
  if (!shifts || !p->shape.shift)
    return 0;
  return array == TILES_INPUT ? gqElementTypeSize(p->variant.type)
         : array == TILES_SCALES || array == TILES_COLUMNWISE_SCALES
             ? p->shape.shift * scaleSize(&p->variant)
             : p->shape.shift;
}

/// Makes a problem one of hostile offsets.
static void makeHostile(TilesProblem *p) {
  for (int i = TILES_NUM_INPUTS; i < TILES_NUM_ARRAYS; ++i)
    if (p->arrays[i].bytes)
      p->arrays[i].claims = allocateHost(p->arrays[i].size);
}

/// What the groups up to and with group e need in each of the outputs where
/// groups follow each other.
static int64_t needed(const TilesProblem *p, HostileArray array, int last) {
  const TilesVariant *v = &p->variant;
  int64_t scales = 0, data = 0, columnwiseScales = 0;
  for (int e = 0; e <= last; ++e) {
    int64_t k =
        has(v, GQ_DEV_RAGGED) ? p->shape.columns[e] : p->operands.columns;
    scales += scaleBytes(v, p->shape.rows[e], k) / scaleSize(v);
    data += k * up(p->shape.rows[e], 32) * traitsOf(v).dataBits / 8;
    columnwiseScales +=
        columnwiseScaleBytes(v, p->shape.rows[e], k) / scaleSize(v);
  }
  return array == HOSTILE_SCALES            ? scales
         : array == HOSTILE_COLUMNWISE_DATA ? data
                                            : columnwiseScales;
}

/// Makes the change; whether the variant has what is changed.
static bool change(TilesProblem *p, const HostileCase *c) {
  const TilesVariant *v = &p->variant;
  const int arrays[] = {TILES_OFFSETS, TILES_SCALE_OFFSETS, TILES_FIRST_DIMS,
                        TILES_LAST_DIMS};
  int64_t *const sizes[] = {&p->operands.scalesSize,
                            &p->operands.columnwiseDataSize,
                            &p->operands.columnwiseScalesSize};
  for (const HostileChange *change = c->changes; change->array; ++change) {
    HostileArray array = change->array;
    bool rows = has(v, GQ_DEV_ROWWISE), columns = has(v, GQ_DEV_COLUMNWISE);
    bool ragged = has(v, GQ_DEV_RAGGED), given = has(v, GQ_DEV_SCALE_OFFSETS);
    bool follow = v->layout == GQ_SCALE_LAYOUT_TILE128X4
                      ? !given
                      : ragged || hasSquares(v);
    if ((array == HOSTILE_SCALE_OFFSETS && !given) ||
        ((array == HOSTILE_FIRST_DIMS || array == HOSTILE_LAST_DIMS) &&
         !ragged) ||
        (array == HOSTILE_SCALES && !(rows && follow && hasScales(v))) ||
        (array == HOSTILE_COLUMNWISE_DATA &&
         !(columns && traitsOf(v).transposes)) ||
        (array == HOSTILE_COLUMNWISE_SCALES && !(columns && hasScales(v))))
      return false;
    if (array < HOSTILE_SCALES)
      storeIndex(v, p->arrays[arrays[array - HOSTILE_OFFSETS]].bytes,
                 change->entry, hostileValue(change->value, v->offsetBits));
    else
      *sizes[array - HOSTILE_SCALES] = needed(p, array, change->entry) - 1;
  }
  return true;
}

static void testHostile(Tests *tests, const TilesVariant *v) {
  const int64_t one = columnsOf(v, 160);
  const int64_t lasts[] = {columnsOf(v, 160), columnsOf(v, 32),
                           columnsOf(v, 64), columnsOf(v, 96)};
  bool ragged = has(v, GQ_DEV_RAGGED);
  const TilesShape s = {.groups = HOSTILE_GROUPS,
                        .rows = hostileRows,
                        .columns = ragged ? lasts : &one,
                        .rowsAfter = HOSTILE_ROWS - HOSTILE_GROUPED_ROWS,
                        .closed = true,
                        .rowGap = v->aligned ? 0 : 3,
                        .shift = v->aligned ? 0 : 1};
  for (int i = 0; i < NUM_HOSTILE_CASES; ++i) {
    if (isLeftOut())
      continue;
    TilesProblem p = tilesProblemNew(v, &s);
    if (has(v, GQ_DEV_SCALE_OFFSETS)) {
      for (int e = 0; e < HOSTILE_GROUPS; ++e)
        storeIndex(v, p.arrays[TILES_SCALE_OFFSETS].bytes, e,
                   hostileScaleOffsets[e]);
      TilesArray *a = &p.arrays[TILES_SCALES];
      free(a->bytes);
      p.operands.scalesSize =
          HOSTILE_SCALE_ROWS * up(one / traitsOf(v).blockColumns, 4);
      a->size = p.operands.scalesSize;
      a->bytes = allocateHost(a->size);
    }
    makeHostile(&p);
    if (change(&p, &hostileCases[i])) {
      tilesExpect(&p);
      uint32_t status;
      memcpy(&status, p.arrays[TILES_STATUS].bytes, 4);
      if ((status == 0) != hostileIsSound(&hostileCases[i]) && !ragged) {
        printf("FAILED %s: what is wrong with it?\n", hostileCases[i].name);
        ++tests->failed;
      }
      check(tests, &p, hostileCases[i].name, 3);
    }
    tilesProblemFree(&p);
  }
  if (ragged)
    return;

  // Every second group has all rows.
  enum { MANY = 60 };
  int64_t rows[MANY] = {0};
  TilesShape many = s;
  many.groups = MANY;
  many.rows = rows;
  rows[0] = HOSTILE_ROWS;
  TilesProblem p = tilesProblemNew(v, &many);
  for (int e = 0; e <= MANY; ++e)
    storeIndex(v, p.arrays[TILES_OFFSETS].bytes, e, e % 2 * HOSTILE_ROWS);
  makeHostile(&p);
  tilesExpect(&p);
  p.leavesOut = true;
  for (int i = TILES_NUM_INPUTS; i < TILES_STATUS; ++i)
    if (p.arrays[i].bytes)
      memset(p.arrays[i].claims, 2, (size_t)p.arrays[i].size);
  check(tests, &p, "groups of the same rows", 3);
  tilesProblemFree(&p);

  // Sixteen groups have so many rows that what 32 bits count of them is 0. No
  // output has room for one, so that nothing is read or written.
  if (v->offsetBits != 64 || v->rows != GQ_ROWS_GROUPED ||
      !has(v, GQ_DEV_COLUMNWISE) || !traitsOf(v).transposes ||
      has(v, GQ_DEV_AMAX) || has(v, GQ_DEV_DBIAS))
    return;
  p = tilesProblemNew(v, &many);
  p.operands.rows = (int64_t)1 << 35;
  for (int e = 0; e <= MANY; ++e)
    storeIndex(v, p.arrays[TILES_OFFSETS].bytes, e,
               e < 32 ? e % 2 * p.operands.rows : 0);
  makeHostile(&p);
  for (int i = TILES_NUM_INPUTS; i < TILES_STATUS; ++i)
    if (p.arrays[i].bytes)
      memset(p.arrays[i].bytes, TILES_POISON, (size_t)p.arrays[i].size);
  const uint32_t status = GQ_DEV_STATUS_OFFSETS | GQ_DEV_STATUS_SIZES;
  memcpy(p.arrays[TILES_STATUS].bytes, &status, 4);
  check(tests, &p, "groups of 2^35 rows", 3);
  tilesProblemFree(&p);
}

/// Row indices of no row, which count as rows of zeros.
static void testRowIndices(Tests *tests, const TilesVariant *v) {
  const int64_t rows[] = {40, 129}, one = columnsOf(v, 160);
  TilesShape s = {.groups = 2, .rows = rows, .columns = &one, .closed = true};
  TilesProblem p = tilesProblemNew(v, &s);
  const int64_t wrong[] = {-1, p.operands.sourceRows, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; ++i)
    storeRowIndex(&p, 17 + 33 * i, wrong[i]);
  tilesExpect(&p);
  const uint32_t status = GQ_DEV_STATUS_ROW_INDICES;
  memcpy(p.arrays[TILES_STATUS].bytes, &status, 4);
  check(tests, &p, "row indices", 2);
  tilesProblemFree(&p);
}

static const TilesVariant *variantNamed(const char *name) {
  for (int i = 0; i < numTilesVariants; ++i)
    if (strcmp(tilesVariants[i].name, name) == 0)
      return &tilesVariants[i];
  return NULL;
}

/// The bytes of a golden file, and what formulas make of its input.
static void testGolden(Tests *tests, const char *directory, const char *name,
                       const char *variant) {
  const TilesVariant *v = variantNamed(variant);
  const struct {
    const char *file;
    int array;
  } files[] = {{"data", TILES_DATA},
               {"scales", TILES_SCALES},
               {"data_columnwise", TILES_COLUMNWISE_DATA},
               {"scales_columnwise", TILES_COLUMNWISE_SCALES},
               {"amax", hasScales(v) ? TILES_OUTER : TILES_AMAX},
               {"amax_columnwise", TILES_COLUMNWISE_OUTER},
               {"scale_offsets", TILES_SCALE_OFFSETS},
               {"scale", TILES_OUTER},
               {"scale_inv", TILES_SCALE_INV}};
  enum { FILES = sizeof(files) / sizeof(*files) };
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s/input.npy", directory, name);
  Npy in = npyRead(path);
  snprintf(path, sizeof(path), "%s/%s/offsets.npy", directory, name);
  Npy offsets = npyRead(path);
  if (!v || !in.data || !offsets.data) {
    printf("FAILED %s: not read\n", name);
    ++tests->failed;
    return;
  }
  int64_t rows[16];
  int groups = (int)offsets.sizes[0] - 1;
  for (int e = 0; e < groups; ++e)
    rows[e] = ((int64_t *)offsets.data)[e + 1] - ((int64_t *)offsets.data)[e];
  TilesShape s = {
      .groups = groups, .rows = rows, .columns = &in.sizes[1], .closed = true};
  TilesProblem p = tilesProblemNew(v, &s);
  memcpy(p.arrays[TILES_INPUT].bytes, in.data,
         (size_t)p.arrays[TILES_INPUT].size);
  Npy read[FILES] = {0};
  for (int i = 0; i < FILES; ++i) {
    snprintf(path, sizeof(path), "%s/%s/%s.npy", directory, name,
             files[i].file);
    read[i] = npyRead(path);
    if (read[i].data && files[i].array < TILES_NUM_INPUTS) {
      int64_t n = files[i].array == TILES_SCALE_OFFSETS ? v->offsetBits / 8 : 4;
      for (int d = 0; d < read[i].rank; ++d)
        n *= read[i].sizes[d];
      memcpy(p.arrays[files[i].array].bytes, read[i].data, (size_t)n);
    }
  }
  if (!read[5].data) // One for both directions.
    memcpy(p.arrays[TILES_COLUMNWISE_OUTER].bytes, p.arrays[TILES_OUTER].bytes,
           (size_t)groups * 4);
  const uint64_t state[] = {0x243F6A8885A308D3, 0x100000007};
  memcpy(p.arrays[TILES_RNG_STATE].bytes, state, sizeof(state));
  if (has(v, GQ_DEV_SCALE_OFFSETS))
    p.operands.scalesSize = read[1].sizes[0];
  if (hasScales(v)) {
    free(p.arrays[TILES_SCALES].bytes);
    p.arrays[TILES_SCALES].size = read[1].sizes[0];
    p.arrays[TILES_SCALES].bytes = allocateHost(read[1].sizes[0]);
  }
  tilesExpect(&p);
  for (int i = 0; i < FILES; ++i)
    if (read[i].data && files[i].array >= TILES_NUM_INPUTS) {
      bool floats =
          files[i].array == TILES_AMAX || files[i].array == TILES_SCALE_INV;
      int64_t n = floats ? 4 : 1;
      for (int d = 0; d < read[i].rank; ++d)
        n *= read[i].sizes[d];
      uint8_t *expected = p.arrays[files[i].array].bytes;
      // The formulas must agree with the file, where groups own the bytes.
      int64_t differ = 0;
      for (int64_t j = 0; j < n; ++j)
        differ += expected[j] != ((uint8_t *)read[i].data)[j];
      if (differ) {
        printf("FAILED %s, %s: %lld bytes of the file are not expected\n", name,
               files[i].file, (long long)differ);
        ++tests->failed;
      }
    }
  check(tests, &p, name, 5);
  tilesProblemFree(&p);
  npyFree(&in);
  npyFree(&offsets);
  for (int i = 0; i < FILES; ++i)
    if (read[i].data)
      npyFree(&read[i]);
}

int tilesTest(TilesRun *run, const char *golden, bool quick, const char *only,
              int *passed) {
  static const char *const goldens[][2] = {
      {"nvfp4_te_row_and_column", "te_golden"},
      {"nvfp4_te_per_token", "te_tokens_golden"},
      {"nvfp4_te_column_hadamard", "te_hadamard_golden"},
      {"nvfp4_te_stochastic", "te_stochastic_golden"},
      {"nvfp4_te_16x16", "te_squares_golden"},
      {"nvfp4_te_four_over_six", "te_four_over_six_golden"},
      {"nvfp4_te_four_over_six_mse", "te_four_over_six_mse_golden"},
      {"mxfp8_e4m3", "mxfp8_golden"},
      {"mxfp8_e5m2", "mxfp8_e5m2_golden"},
      {"fp8_e4m3_per_tensor", "fp8_golden"},
  };
  Tests tests = {.run = run};
  for (size_t i = 0; i < sizeof(goldens) / sizeof(*goldens); ++i)
    if (!only || strstr(goldens[i][1], only))
      testGolden(&tests, golden, goldens[i][0], goldens[i][1]);
  for (int i = 0; i < numTilesVariants; ++i) {
    if (only && !strstr(tilesVariants[i].name, only))
      continue;
    testVariant(&tests, &tilesVariants[i], quick);
    testHostile(&tests, &tilesVariants[i]);
    if (has(&tilesVariants[i], TILES_ROW_INDICES))
      testRowIndices(&tests, &tilesVariants[i]);
  }
  *passed = tests.passed;
  return tests.failed;
}

static bool hasFourOverSix(int32_t packed) {
  const gqDirectionTraits traits = gqDirectionUnpack(packed);
  return gqDirectionHasFourOverSix(&traits);
}

enum { MOST_DIRECTIONS = 64 };

/// Packs all directions that there are. Returns how many.
static int allDirections(gqRecipe recipe, bool columnwise,
                         int32_t packed[MOST_DIRECTIONS]) {
  int count = 0;
  for (int bits = 0; bits < 2 * 2 * 2 * 3 * 3 * 2; ++bits) {
    const int64_t block = bits / 4 % 2 ? GQ_SQUARE_BLOCK : 0;
    const gqDirectionTraits traits = {
        .rounding = (gqRounding)(bits % 2),
        .transform = (gqTransform)(bits / 2 % 2),
        .signs = bits / 2 % 2 ? 0xd7e8 : 0,
        .outer = (gqOuter)(bits / 8 % 3),
        .fourOverSix = (gqFourOverSix)(bits / 24 % 3),
        .scaleMax = bits / 72 ? 256 : 0,
        .blockRows = block,
        .blockColumns = block,
    };
    if (!gqDirectionLacks(&traits, GQ_FORMAT_NVFP4, recipe, columnwise,
                          /*ragged=*/false))
      packed[count++] = gqDirectionPack(&traits);
  }
  return count;
}

static int partsOfDirection(int32_t packed) {
  gqDirectionTraits traits = gqDirectionUnpack(packed);
  return gq_dev_parts_of_direction(&traits);
}

/// An op of these packed directions, if it has those `part`s.
static void testDirections(Tests *tests, gqRecipe recipe, int part,
                           gqElementType type, int64_t columns, bool hasOuter,
                           int32_t rowwise, int32_t columnwise) {
  const int64_t rows[] = {1, 0, 150, 37};
  const TilesShape shape = {.groups = 4,
                            .rows = rows,
                            .columns = &columns,
                            .rowsBefore = 2,
                            .rowsAfter = 3,
                            .closed = true};
  char name[64];
  bool outer = recipe == GQ_RECIPE_TE || hasOuter;
  TilesVariant v = {
      .name = name,
      .type = type,
      .format = GQ_FORMAT_NVFP4,
      .recipe = recipe,
      .layout = GQ_SCALE_LAYOUT_TILE128X4,
      .rows = hasOuter ? GQ_ROWS_ALL : GQ_ROWS_GROUPED,
      .offsetBits = 32,
      .outerKind = outer ? KIND_PER_GROUP : KIND_NONE,
      .columnwiseOuterKind = outer ? KIND_PER_GROUP : KIND_NONE,
      .dbiasType = GQ_F32,
      .rowwise = part & GQ_DEV_ROWWISE ? rowwise : 0,
      .columnwise = part & GQ_DEV_COLUMNWISE ? columnwise : 0,
      .aligned = true,
  };
  v.parts = part | partsOfDirection(v.rowwise) | partsOfDirection(v.columnwise);
  if (gqDirectionUnpack(v.rowwise).outer == GQ_OUTER_OF_ROW)
    v.outerKind = KIND_PER_ROW;
  if (gqDirectionUnpack(v.columnwise).outer == GQ_OUTER_OF_COLUMN)
    v.columnwiseOuterKind = KIND_PER_COLUMN;
  snprintf(name, sizeof(name), "directions %x and %x, recipe %d",
           (unsigned)v.rowwise, (unsigned)v.columnwise, (int)recipe);
  testShape(tests, &v, &shape, "a direction", 3);
}

int tilesTestDirections(TilesRun *run, int *passed) {
  const int both = GQ_DEV_ROWWISE | GQ_DEV_COLUMNWISE;
  const int parts[] = {GQ_DEV_ROWWISE, GQ_DEV_COLUMNWISE, both};
  const gqElementType types[] = {GQ_BF16, GQ_F16, GQ_F32};
  Tests tests = {.run = run};
  for (int r = 0; r < 2; ++r) {
    int32_t rowwise[MOST_DIRECTIONS], columnwise[MOST_DIRECTIONS];
    gqRecipe recipe = r ? GQ_RECIPE_TE : GQ_RECIPE_NVFUSER;
    int numRowwise = allDirections(recipe, false, rowwise);
    int numColumnwise = allDirections(recipe, true, columnwise);
    int count = numColumnwise > numRowwise ? numColumnwise : numRowwise;
    for (int i = 0; i < 3 * count; ++i)
      testDirections(&tests, recipe, parts[i % 3], types[i / 3 % 3], 160, i % 2,
                     rowwise[i / 3 % numRowwise],
                     columnwise[i / 3 % numColumnwise]);
    // All pairs that tall lanes have, also of rows of 72 bytes.
    int pairs = 0;
    for (int i = 0; i < numRowwise * numColumnwise; ++i) {
      int32_t row = rowwise[i / numColumnwise],
              column = columnwise[i % numColumnwise];
      int all = both | partsOfDirection(row) | partsOfDirection(column);
      if (!gq_dev_tiles_has_tall_lanes(
              all, hasFourOverSix(row) || hasFourOverSix(column), GQ_BF16))
        continue;
      testDirections(&tests, recipe, both, types[pairs % 2],
                     pairs / 4 % 2 ? 144 : 160, pairs / 2 % 2, row, column);
      ++pairs;
    }
  }
  *passed = tests.passed;
  return tests.failed;
}
