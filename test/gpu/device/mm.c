//===- mm.c - the grouped matmul on a GPU ---------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kernel on every problem that it is for, against sums in float64 of the
// dequantized operands, which are exact: an output may be off by half a unit of
// its last place, and 4 * 2^-24 of the sum of magnitudes; if it is not rounded
// to 16 bits, twice that, since matrix units cut off what they add up, and of
// codes of 8 bits, whose products differ more, four times; of MX formats in
// tiles, whose terms differ much more, a unit for each 16 k besides, since each
// may cut off a sum that one term has made; 2^-9 of it if 8-bit
// matrix units multiply, which keep 14 bits of a sum. Outputs lie between
// guards and are poisoned; what the op does not own must keep the poison. With
// an epilogue, or where outputs are quantized, the bytes must be those of
// several ops.
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "Hostile.h"
#include "Kernels.h"
#include "MmKernels.h"
#include "PoisonShared.h"
#include "Values.h"

#include "gq/Runtime/Cpu.h"

#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/codecs/E8M0.h"
#include "runtime_kernels/kernels/Launch.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  GUARD = 4096,
  POISON = 0xa5,
  /// How often a kernel must give the same bits.
  RUNS = 100,
};

/// Of a and of b.
typedef struct Formats {
  gqFormat format;
  gqElementType aType;
  gqFormat bFormat;
  gqElementType bType;
  gqMajor bMajor;
} Formats;

/// A kernel.
typedef struct Variant {
  const char *name;
  gqKernelFamily family;
  int tokens, offsetBits;
  gqElementType type;
  int64_t n, k;
  Formats formats;
  int rest;
  /// Whether it has mmEpilogue, of what, and of which pairs.
  bool hasEpilogue;
  gqElementType valueType;
  gqPairs pairs;
  /// Whether outputs are quantized, and to what.
  bool quantizes;
  gqFormat outFormat;
  gqRecipe outRecipe;
  gqOuterKind outOuterKind;
  /// What it stored last for this problem, with guards; or null.
  uint8_t *stored;
  Handle function;
} Variant;

#define FIELDS(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST)          \
  .name = #NAME, .family = GQ_KERNEL_GROUPED_MM_##FAMILY, .tokens = TOKENS,    \
  .offsetBits = BITS, .type = GQ_##TYPE, .n = N, .k = K,                       \
  .formats = {MM_##FORMATS}, .rest = REST
#define VARIANT(...) {FIELDS(__VA_ARGS__)},
#define EPILOGUE_VARIANT(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS,      \
                         REST, FROM, PAIRS)                                    \
  {FIELDS(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST),              \
   .hasEpilogue = true, .valueType = GQ_##FROM, .pairs = GQ_PAIRS_##PAIRS},
#define QUANTIZED_VARIANT(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS,     \
                          REST, FROM, PAIRS, EPILOGUE, OUT, RECIPE, OUTER)     \
  {FIELDS(NAME, FAMILY, TOKENS, BITS, TYPE, N, K, FORMATS, REST),              \
   .hasEpilogue = EPILOGUE,                                                    \
   .valueType = GQ_##FROM,                                                     \
   .pairs = GQ_PAIRS_##PAIRS,                                                  \
   .quantizes = true,                                                          \
   .outFormat = GQ_FORMAT_##OUT,                                               \
   .outRecipe = GQ_RECIPE_##RECIPE,                                            \
   .outOuterKind = GQ_OUTER_##OUTER},
static Variant variants[] = {MM_VARIANTS(VARIANT) MM_EPILOGUE_VARIANTS(
    EPILOGUE_VARIANT) MM_QUANTIZED_VARIANTS(QUANTIZED_VARIANT)};
static Variant prepareVariants[] = {MM_PREPARE_VARIANTS(VARIANT)};
#undef QUANTIZED_VARIANT
#undef EPILOGUE_VARIANT
#undef VARIANT
#undef FIELDS
enum {
  NUM_VARIANTS = sizeof(variants) / sizeof(*variants),
  NUM_PREPARE_VARIANTS = sizeof(prepareVariants) / sizeof(*prepareVariants),
};

static Handle stream, poisonSharedKernel;
static int multiprocessors, passed, failed;
/// How much is tested.
static enum { MM_ALL, MM_QUICK, MM_EMULATED } extent;

/// Whether its tokens are dequantized before.
static bool isPrepared(const Variant *v) {
  return v->tokens == GQ_DEV_GROUPED_MM_PREPARED_TOKENS;
}

/// The kernel that does it.
static const Variant *prepareOf(const Variant *v) {
  for (int i = 0; i < NUM_PREPARE_VARIANTS; ++i) {
    const Variant *w = &prepareVariants[i];
    if (w->offsetBits == v->offsetBits &&
        memcmp(&w->formats, &v->formats, sizeof(Formats)) == 0)
      return w;
  }
  fprintf(stderr, "nothing prepares tokens for %s\n", v->name);
  exit(1);
}

static gq_dev_bounds boundsOf(const Variant *v) {
  return v->family == GQ_KERNEL_GROUPED_MM_PREPARE
             ? gq_dev_grouped_mm_prepare_bounds()
         : v->family == GQ_KERNEL_GROUPED_MM_TILES
             ? gq_dev_grouped_mm_tiles_bounds(
                   v->formats.format, v->tokens,
                   (v->hasEpilogue || v->quantizes) && v->valueType == GQ_F32
                       ? 4
                       : 2)
         : v->family == GQ_KERNEL_GROUPED_MM_DECODE
             ? gq_dev_grouped_mm_decode_bounds(v->tokens)
             : gq_dev_grouped_mm_any_bounds(v->quantizes);
}

static void launch(const Variant *v, const MmOperands *operands,
                   unsigned grid) {
  if (isPrepared(v) && v->family != GQ_KERNEL_GROUPED_MM_PREPARE)
    launch(prepareOf(v), operands, grid);
  gq_dev_bounds bounds = boundsOf(v);
  CU(FuncSetAttribute(v->function, FUNCTION_ATTRIBUTE_DYNAMIC_SHARED,
                      bounds.sharedMemory));
  void *parameters[] = {(void *)operands};
  CU(LaunchKernel(v->function, grid, 1, 1, (unsigned)bounds.threads, 1, 1,
                  (unsigned)bounds.sharedMemory, stream, parameters, NULL));
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

typedef struct Problem {
  const char *name;
  int64_t rows, n, k, groups, numOffsets;
  int64_t offsets[4097], scaleOffsets[4096];
  int64_t scaleRows;
  /// Bytes between rows of a and elements between rows of out, beyond a row,
  /// and bytes that all addresses are off.
  int64_t gap, shift;
  bool hasAlpha, hostile;
  /// MX scales at the ends of the exponent range.
  bool hasEnds;
  /// Row and column scales, and a bias.
  int rest;
  /// For kernels that quantize alone; of these, for two of few tokens alone.
  bool quantized, fewQuantized;
  Formats formats;
  uint8_t *a, *aScales, *b, *bScales;
  float *alpha, *rowScales, *columnScales, *outOuter;
  uint16_t *bias;
  /// Of each output, in float64, and the sums of magnitudes. Of rows that are
  /// left alone, the owner is -1; of those that two groups claim, which may
  /// hold what either says, -2.
  double *sums, *magnitudes;
  int32_t *owners;
} Problem;

static Problem p;

/// What problems are of unless they say otherwise.
static Formats testedFormats = {MM_NVFP4};
static int testedRest;

static int64_t pitchOf(gqElementType type) {
  return type == GQ_I8 ? p.k / 2 : p.k;
}
static int64_t aStride(void) { return pitchOf(p.formats.aType) + p.gap * 16; }
/// Of an output.
static int64_t columnsOf(const Variant *v) {
  return v->pairs == GQ_PAIRS_NONE ? p.n : p.n / 2;
}
static int64_t outStride(const Variant *v) { return columnsOf(v) + p.gap * 8; }
/// The same in bytes: of codes, or of outputs.
static int64_t outPitch(const Variant *v) {
  return v->quantizes
             ? columnsOf(v) * gqFormatGetTraits(v->outFormat).dataBits / 8 +
                   p.gap * 8
             : outStride(v) * gqElementTypeSize(v->type);
}
/// Of a block of quantized outputs.
static int64_t outBlockOf(const Variant *v) {
  return gqFormatGetTraits(v->outFormat).blockColumns;
}
static int64_t outScaleColumns(const Variant *v) {
  return up(columnsOf(v) / outBlockOf(v), 4);
}
static int64_t blockOf(void) {
  return p.formats.format == GQ_FORMAT_NONE
             ? p.k
             : gqFormatGetTraits(p.formats.format).blockColumns;
}
static gqElementType scaleType(void) {
  return p.formats.format == GQ_FORMAT_NONE
             ? GQ_I1
             : gqFormatGetTraits(p.formats.format).scaleType;
}
static bool isTiled(void) {
  return scaleType() != GQ_I1 && scaleType() != GQ_F32;
}
/// Of a row of scales.
static int64_t scaleColumns(void) {
  return isTiled() ? up(p.k / blockOf(), 4) : p.k / blockOf();
}
static int64_t aScaleStride(void) { return (scaleColumns() + p.gap) * 4; }
static int64_t aScaleBytes(void) {
  return scaleType() == GQ_I1 ? 0
         : isTiled()          ? p.scaleRows * scaleColumns()
                              : p.rows * aScaleStride();
}
/// Rows of scales of a matrix of weights.
static int64_t weightScaleRows(void) {
  int64_t height = gqFormatGetTraits(p.formats.bFormat).blockRows;
  return isTiled() ? up(p.n, 128) : up(p.n, height) / height;
}
static int64_t weightScaleBytes(void) {
  return scaleType() == GQ_I1 ? 0
                              : p.groups * weightScaleRows() * scaleColumns() *
                                    (isTiled() ? 1 : 4);
}

/// Group number e has sizes[e] rows. `first` rows come before it, and as many
/// after the last one; `scaleGap` rows of 128 lie between the groups' scales.
static void begin(const char *name, int64_t n, int64_t k, int64_t groups,
                  const int64_t *sizes, int64_t first, int64_t scaleGap) {
  p = (Problem){.name = name,
                .n = n,
                .k = k,
                .groups = groups,
                .hasAlpha = true,
                .rest = testedRest,
                .formats = testedFormats};
  int64_t row = first, scaleRow = 0;
  for (int64_t e = 0; e < groups; ++e) {
    p.offsets[e] = row;
    p.scaleOffsets[e] = scaleRow;
    row += sizes[e];
    scaleRow += up(sizes[e], 128) + scaleGap * 128;
  }
  p.offsets[groups] = row;
  p.rows = row + first;
  p.scaleRows = scaleRow + 128;
  p.numOffsets = groups + 1;
}

/// Of weights the smallest scales with which no bit of a bf16 is lost, of
/// tokens the largest ones with which none is infinite; and some after or
/// before.
static uint8_t scaleAtEnd(gqElementType type, bool ofWeights) {
  bool e4m3 = type == GQ_F8E4M3FN, e5m2 = type == GQ_F8E5M2;
  return (uint8_t)(ofWeights ? (e4m3   ? 3
                                : e5m2 ? 10
                                       : 0) +
                                   randomBits() % 8
                             : (e4m3   ? 246
                                : e5m2 ? 239
                                       : 252) -
                                   randomBits() % 8);
}

/// Scales of `rows` rows from `first` on, `stride` bytes apart if they are not
/// tiled; padding of tiles is NaN, which no result may show.
static void fillScales(uint8_t *scales, int64_t first, int64_t rows,
                       int64_t stride) {
  for (int64_t r = 0; r < rows && scaleType() != GQ_I1; ++r)
    for (int64_t c = 0; c < p.k / blockOf(); ++c) {
      float wide = randomFloat();
      if (isTiled())
        scales[gq_dev_tile128x4_offset(first + r, c, scaleColumns())] =
            p.hasEnds ? scaleAtEnd(scales == p.bScales ? p.formats.bType
                                                       : p.formats.aType,
                                   scales == p.bScales)
                      : randomScale(scaleType());
      else
        memcpy(scales + (first + r) * stride + 4 * c, &wide, 4);
    }
}

/// The scale of column c of a row; `stride` as above.
static double scaleAt(const uint8_t *scales, int64_t row, int64_t c,
                      int64_t stride) {
  float wide = 1;
  if (scaleType() == GQ_F32)
    memcpy(&wide, scales + row * stride + 4 * c, 4);
  if (!isTiled())
    return (double)wide;
  uint8_t code = scales[gq_dev_tile128x4_offset(row, c, scaleColumns())];
  return (double)(scaleType() == GQ_F8E8M0FNU ? gq_dev_f32_from_e8m0(code)
                                              : gq_dev_f32_from_e4m3(code));
}

static void dequantize(gqElementType type, const uint8_t *row,
                       const uint8_t *scales, int64_t scaleRow, int64_t stride,
                       double *out) {
  for (int64_t c = 0; c < p.k / blockOf(); ++c) {
    double scale = scaleAt(scales, scaleRow, c, stride);
    for (int64_t i = c * blockOf(); i < (c + 1) * blockOf(); ++i)
      out[i] = codeValue(type, row, i) * scale;
  }
}

/// Whether group e can be used: what Groups.h says.
static bool isUsable(int64_t e, int64_t begin, int64_t end) {
  int64_t scaleBegin = p.scaleOffsets[e];
  if (!isTiled())
    return begin >= 0 && end >= begin && end <= p.rows;
  return begin >= 0 && end >= begin && end <= p.rows && scaleBegin >= 0 &&
         scaleBegin % 128 == 0 && scaleBegin <= p.scaleRows &&
         up(end - begin, 128) <= p.scaleRows - scaleBegin;
}

static void computeReference(void) {
  for (int64_t i = 0; i < p.rows; ++i)
    p.owners[i] = -1;
  double *x = allocateHost(p.k * 8), *y = allocateHost(p.n * p.k * 8);
  for (int64_t e = 0; e < p.groups; ++e) {
    int64_t begin = p.offsets[e];
    int64_t end = e + 1 < p.numOffsets ? p.offsets[e + 1] : p.rows;
    if (!isUsable(e, begin, end) || begin == end)
      continue;
    int64_t height =
        isTiled() ? 1 : gqFormatGetTraits(p.formats.bFormat).blockRows;
    for (int64_t n = 0; n < p.n; ++n)
      dequantize(p.formats.bType,
                 p.b + (e * p.n + n) * pitchOf(p.formats.bType), p.bScales,
                 e * weightScaleRows() + n / height, scaleColumns() * 4,
                 y + n * p.k);
    double alpha = p.hasAlpha ? (double)p.alpha[e] : 1;
    for (int64_t row = begin; row < end; ++row) {
      dequantize(p.formats.aType, p.a + row * aStride(), p.aScales,
                 isTiled() ? p.scaleOffsets[e] + row - begin : row,
                 aScaleStride(), x);
      p.owners[row] = p.owners[row] == -1 ? (int32_t)e : -2;
      for (int64_t n = 0; n < p.n; ++n) {
        double sums[4] = {0}, magnitudes[4] = {0};
        for (int64_t k = 0; k < p.k; k += 4)
          for (int64_t i = 0; i < 4 && k + i < p.k; ++i) {
            double product = x[k + i] * y[n * p.k + k + i];
            sums[i] += product;
            magnitudes[i] += fabs(product);
          }
        double factor = alpha, bias = 0;
        if (p.rest)
          factor *= (double)p.rowScales[row];
        if (p.rest == 1) {
          factor *= (double)p.columnScales[e * p.n + n];
          bias = (double)gq_dev_f32_from_bf16(p.bias[e * p.n + n]);
        }
        p.sums[row * p.n + n] =
            factor * (sums[0] + sums[1] + sums[2] + sums[3]) + bias;
        p.magnitudes[row * p.n + n] =
            fabs(factor) * (magnitudes[0] + magnitudes[1] + magnitudes[2] +
                            magnitudes[3]) +
            fabs(bias);
      }
    }
  }
  free(x);
  free(y);
}

/// Fills the operands.
static void fill(void) {
  int64_t bPitch = pitchOf(p.formats.bType);
  p.a = allocateHost(p.rows * aStride());
  p.aScales = allocateHost(aScaleBytes());
  p.b = allocateHost(p.groups * p.n * bPitch);
  p.bScales = allocateHost(weightScaleBytes());
  p.alpha = allocateHost(p.groups * 4);
  p.outOuter = allocateHost(p.groups * 4);
  p.rowScales = allocateHost(p.rows * 4);
  p.columnScales = allocateHost(p.groups * p.n * 4);
  p.bias = allocateHost(p.groups * p.n * 2);
  p.sums = allocateHost(p.rows * p.n * 8);
  p.magnitudes = allocateHost(p.rows * p.n * 8);
  p.owners = allocateHost(p.rows * 4);
  for (int64_t i = 0; i < p.rows * aStride(); ++i)
    p.a[i] = randomCode(p.formats.aType);
  for (int64_t i = 0; i < p.groups * p.n * bPitch; ++i)
    p.b[i] = randomCode(p.formats.bType);
  for (int64_t i = 0; i < p.rows; ++i)
    p.rowScales[i] = randomFloat();
  for (int64_t i = 0; i < p.groups * p.n; ++i) {
    p.columnScales[i] = randomFloat();
    p.bias[i] = (uint16_t)(0x3c00 + randomBits() % 0x1000);
  }
  int padding = scaleType() == GQ_F8E8M0FNU ? 0xff : 0x7f;
  memset(p.aScales, padding, (size_t)aScaleBytes());
  memset(p.bScales, padding, (size_t)weightScaleBytes());
  if (!isTiled())
    fillScales(p.aScales, 0, p.rows, aScaleStride());
  for (int64_t e = 0; e < p.groups; ++e) {
    p.alpha[e] = randomFloat();
    p.outOuter[e] = 0.5f + fabsf(randomFloat());
    fillScales(p.bScales, e * weightScaleRows(),
               isTiled() ? p.n : weightScaleRows(), scaleColumns() * 4);
    int64_t begin = p.offsets[e];
    int64_t end = e + 1 < p.numOffsets ? p.offsets[e + 1] : p.rows;
    if (isTiled() && isUsable(e, begin, end))
      fillScales(p.aScales, p.scaleOffsets[e], end - begin, 0);
  }
}

static void release(void) {
  void *all[] = {p.a,         p.aScales,      p.b,     p.bScales, p.bias,
                 p.rowScales, p.columnScales, p.alpha, p.sums,    p.magnitudes,
                 p.owners,    p.outOuter};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i)
    free(all[i]);
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    free(variants[i].stored);
    variants[i].stored = NULL;
  }
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

static DevicePtr toDevice(const void *host, int64_t bytes) {
  DevicePtr d;
  CU(MemAlloc(&d, (size_t)(bytes + p.shift + 1)));
  if (bytes)
    CU(MemcpyHtoD(d + (uint64_t)p.shift, host, (size_t)bytes));
  return d + (uint64_t)p.shift;
}

/// The same without a shift.
static DevicePtr copyToDevice(const void *host, int64_t bytes) {
  DevicePtr d;
  CU(MemAlloc(&d, (size_t)bytes + 16));
  if (bytes)
    CU(MemcpyHtoD(d, host, (size_t)bytes));
  return d;
}

/// Between the codes and the scales of quantized outputs there is a guard.
static int64_t outBytes(const Variant *v) {
  return p.rows * outPitch(v) +
         (v->quantizes ? GUARD + p.scaleRows * outScaleColumns(v) : 0);
}

/// The bytes by which an output is off.
static uint64_t outShift(const Variant *v) {
  return !p.shift ? 0 : v->quantizes ? 1 : (uint64_t)gqElementTypeSize(v->type);
}

/// b as its major wants it, for the caller to free. Ours has k innermost.
static uint8_t *arrangeWeights(void) {
  gqElementType type = p.formats.bType;
  int64_t size = p.groups * p.n * pitchOf(type);
  uint8_t *b = allocateHost(size);
  if (p.formats.bMajor == GQ_MAJOR_K) {
    memcpy(b, p.b, (size_t)size);
    return b;
  }
  memset(b, 0, (size_t)size);
  for (int64_t e = 0; e < p.groups; ++e)
    for (int64_t n = 0; n < p.n; ++n)
      for (int64_t k = 0; k < p.k; ++k) {
        int64_t from = (e * p.n + n) * p.k + k, to = (e * p.k + k) * p.n + n;
        if (type == GQ_I8)
          b[to / 2] |=
              (uint8_t)((p.b[from / 2] >> from % 2 * 4 & 15) << to % 2 * 4);
        else
          b[to] = p.b[from];
      }
  return b;
}

static int64_t workspaceBytes(void) {
  const gq_dev_grouped_mm_prepare_extents extents = {
      .rows = p.rows, .groups = p.groups, .k = p.k, .atMost = INT32_MAX};
  return gq_dev_grouped_mm_prepare_plan(&extents, 1).workspace;
}

static MmOperands upload(const Variant *v) {
  uint8_t *b = arrangeWeights();
  MmOperands o = {
      .a = toDevice(p.a, p.rows * aStride()),
      .aScales = toDevice(p.aScales, aScaleBytes()),
      .b = toDevice(b, p.groups * p.n * pitchOf(p.formats.bType)),
      .bScales = toDevice(p.bScales, weightScaleBytes()),
      .offsets = offsetsToDevice(p.offsets, p.numOffsets, v->offsetBits),
      .scaleOffsets =
          isTiled() ? offsetsToDevice(p.scaleOffsets, p.groups, v->offsetBits)
                    : 0,
      .aStride = aStride(),
      .aScaleStride = aScaleStride(),
      .scaleRows = p.scaleRows,
      .numOffsets = p.numOffsets,
      .groups = p.groups,
      .outStride = outPitch(v),
      .rows = p.rows,
      .n = p.n,
      .k = p.k,
  };
  free(b);
  if (p.hasAlpha) {
    CU(MemAlloc(&o.alpha, (size_t)p.groups * 4 + 4));
    CU(MemcpyHtoD(o.alpha, p.alpha, (size_t)p.groups * 4));
  }
  if (p.rest) {
    o.rowScales = copyToDevice(p.rowScales, p.rows * 4);
    o.columnScales = copyToDevice(p.columnScales, p.groups * p.n * 4);
    o.bias = copyToDevice(p.bias, p.groups * p.n * 2);
  }
  int64_t bytes = outBytes(v);
  CU(MemAlloc(&o.out, (size_t)(bytes + 2 * GUARD + 16)));
  o.out += GUARD + outShift(v);
  if (v->quantizes) {
    o.outScales = o.out + (uint64_t)(p.rows * outPitch(v) + GUARD);
    o.outOuter = copyToDevice(p.outOuter, p.groups * 4);
  }
  CU(MemAlloc(&o.status, 4));
  if (isPrepared(v))
    CU(MemAlloc(&o.workspace, (size_t)workspaceBytes()));
  return o;
}

static void unload(const Variant *v, MmOperands *o) {
  uint64_t shifted[] = {o->a, o->aScales, o->b, o->bScales};
  for (size_t i = 0; i < sizeof(shifted) / sizeof(*shifted); ++i)
    CU(MemFree(shifted[i] - (uint64_t)p.shift));
  CU(MemFree(o->offsets));
  const uint64_t optional[] = {o->scaleOffsets, o->alpha, o->rowScales,
                               o->columnScales, o->bias,  o->outOuter};
  for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); ++i)
    if (optional[i])
      CU(MemFree(optional[i]));
  CU(MemFree(o->out - GUARD - outShift(v)));
  CU(MemFree(o->status));
  if (isPrepared(v))
    CU(MemFree(o->workspace));
}

static void poison(const Variant *v, const MmOperands *o) {
  CU(MemsetD8(o->out - GUARD, POISON, (size_t)(outBytes(v) + 2 * GUARD)));
  CU(MemsetD8(o->status, 0, 4));
  if (isPrepared(v)) // NaN
    CU(MemsetD8(o->workspace, 0xff, (size_t)workspaceBytes()));
  poisonShared(poisonSharedKernel, multiprocessors, stream);
}

/// The output with its guards, and the status.
static uint8_t *readBack(const Variant *v, const MmOperands *o,
                         uint32_t *status) {
  CU(StreamSynchronize(stream));
  int64_t bytes = outBytes(v) + 2 * GUARD;
  uint8_t *out = allocateHost(bytes);
  CU(MemcpyDtoH(out, o->out - GUARD, (size_t)bytes));
  CU(MemcpyDtoH(status, o->status, 4));
  return out;
}

/// Whether matrix units of 8-bit codes do it.
static bool multipliesBytes(const Variant *v) {
  return v->family == GQ_KERNEL_GROUPED_MM_TILES && !isTiled() &&
         v->formats.bMajor == GQ_MAJOR_K && p.k % 32 == 0 && !p.shift;
}

/// Whether matrix units add up all k of an MX format.
static bool addsUpMx(const Variant *v) {
  return v->family == GQ_KERNEL_GROUPED_MM_TILES &&
         scaleType() == GQ_F8E8M0FNU && v->formats.bMajor == GQ_MAJOR_K;
}

/// Compares all bytes; `worst` is what is beyond half a unit, of 2^-24 of the
/// sum of magnitudes.
static bool isClose(const Variant *v, const uint8_t *out, double *worst) {
  int64_t size = gqElementTypeSize(v->type), wrong = 0;
  double bound = multipliesBytes(v) ? 0x1p15
                                    : errorBound(p.formats.format, v->type) +
                                          (addsUpMx(v) ? (double)p.k / 8 : 0);
  *worst = 0;
  for (int64_t i = 0; i < GUARD; ++i)
    wrong += out[i] != POISON || out[GUARD + outBytes(v) + i] != POISON;
  if (wrong)
    printf("  %s, %s: %lld bytes outside of the output\n", p.name, v->name,
           (long long)wrong);
  for (int64_t row = 0; row < p.rows; ++row)
    for (int64_t n = 0; n < outStride(v); ++n) {
      const uint8_t *at = out + GUARD + (row * outStride(v) + n) * size;
      if (p.owners[row] == -2 && n < p.n)
        continue;
      if (n >= p.n || p.owners[row] < 0) {
        for (int64_t i = 0; i < size; ++i)
          if (at[i] != POISON && wrong++ < 4)
            printf("  %s, %s: row %lld, column %lld is not left alone\n",
                   p.name, v->name, (long long)row, (long long)n);
        continue;
      }
      double expected = p.sums[row * p.n + n];
      double magnitude = p.magnitudes[row * p.n + n];
      double got = floatValue(v->type, at);
      // Beyond the largest f16 there is an infinity of its own.
      double slack = bound * 0x1p-24 * magnitude;
      bool large = v->type == GQ_F16 && fabs(expected) + slack > 65000;
      double beyond = fabs(got - expected) - halfUnit(v->type, expected);
      bool ok = isnan(expected) ? isnan(got)
                : large         ? fabs(got) > 64000 - slack || beyond <= slack
                                : beyond <= slack;
      if (!ok && wrong++ < 4)
        printf("  %s, %s: out[%lld, %lld] of group %d is %.9g, not %.9g\n",
               p.name, v->name, (long long)row, (long long)n, p.owners[row],
               got, expected);
      if (ok && !large && magnitude > 0 && beyond > 0 &&
          beyond / (magnitude * 0x1p-24) > *worst)
        *worst = beyond / (magnitude * 0x1p-24);
    }
  if (wrong)
    printf("  %s, %s: %lld wrong\n", p.name, v->name, (long long)wrong);
  return wrong == 0;
}

/// The kernel that stores what the epilogue of `v` is of.
static Variant *twinOf(const Variant *v) {
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    Variant *w = &variants[i];
    if (!w->hasEpilogue && !w->quantizes && w->type == v->valueType &&
        w->family == v->family && w->tokens == v->tokens &&
        w->offsetBits == v->offsetBits && w->n == v->n && w->k == v->k &&
        w->rest == v->rest &&
        memcmp(&w->formats, &v->formats, sizeof(Formats)) == 0)
      return w;
  }
  fprintf(stderr, "%s has no twin\n", v->name);
  exit(1);
}

/// An element of `v` or the bits of what it is computed from.
static uint32_t bitsOf(gqElementType type, const uint8_t *out, int64_t i) {
  uint32_t bits = 0;
  int64_t size = gqElementTypeSize(type);
  memcpy(&bits, out + GUARD + i * size, (size_t)size);
  return bits;
}

/// What the epilogue of `v` makes of the product at a row and a column, or of a
/// pair of them, `products` being what the twin stored.
static uint32_t outputOf(const Variant *v, const Variant *twin,
                         const uint8_t *products, int64_t row, int64_t n) {
  bool pairs = v->pairs != GQ_PAIRS_NONE, halves = v->pairs == GQ_PAIRS_HALVES;
  int64_t from = row * outStride(twin);
  int64_t other = from + (halves ? n + p.n / 2 : 2 * n + 1);
  uint32_t bits =
      bitsOf(v->valueType, products, from + (pairs && !halves ? 2 * n : n));
  return v->hasEpilogue
             ? mmEpilogue(v->valueType, v->type, v->pairs, bits,
                          pairs ? bitsOf(v->valueType, products, other) : 0)
             : bits;
}

/// Of bytes that may be anything, makes those of `expected` what was found.
static void acceptBytes(uint8_t *expected, const uint8_t *found, int64_t at,
                        int64_t count) {
  memcpy(expected + at, found + at, (size_t)count);
}

static gqBuffer matrix(void *data, gqElementType type, int64_t rows,
                       int64_t columns, int64_t stride) {
  return (gqBuffer){.data = data,
                    .type = type,
                    .rank = 2,
                    .sizes = {rows, columns},
                    .strides = {stride, 1}};
}

/// What the CPU's quantization makes of the outputs of a group, in `expected`.
static bool quantizeGroup(const Variant *v, int64_t e, void *outputs,
                          int64_t rows, uint8_t *codes, uint8_t *scales) {
  gqFormatTraits traits = gqFormatGetTraits(v->outFormat);
  int32_t offsets[] = {0, (int32_t)rows}, scaleOffset = 0;
  gqBuffer outer = {0};
  if (v->outOuterKind != GQ_OUTER_NONE)
    outer =
        (gqBuffer){.data = &p.outOuter[v->outOuterKind == GQ_OUTER_ONE ? 0 : e],
                   .type = GQ_F32};
  gqGroupedBlockQuantizeOperands operands = {
      .input = matrix(outputs, v->type, rows, columnsOf(v), columnsOf(v)),
      .offsets = {.data = offsets,
                  .type = GQ_I32,
                  .rank = 1,
                  .sizes = {2},
                  .strides = {1}},
      .scaleOffsets = {.data = &scaleOffset,
                       .type = GQ_I32,
                       .rank = 1,
                       .sizes = {1},
                       .strides = {1}},
      .data = matrix(codes, traits.dataType, rows,
                     columnsOf(v) * traits.dataBits / 8, outPitch(v)),
      .scales = matrix(scales, traits.scaleType, up(rows, 128),
                       outScaleColumns(v), outScaleColumns(v)),
  };
  *(v->outRecipe == GQ_RECIPE_TE ? &operands.outerAmax
                                 : &operands.globalScale) = outer;
  gqCpuGroupedBlockQuantize(&operands, v->outFormat, v->outRecipe,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_GROUPED, 0, 0);
  if (gqCpuStatus() == GQ_OK)
    return true;
  printf("  %s: the CPU: %s\n", v->name, gqGetLastErrorMessage());
  return false;
}

/// The codes and scales of the outputs, as `expected` of the bytes `found`.
/// What two groups claim may be anything.
static bool quantizeOutputs(const Variant *v, const Variant *twin,
                            const uint8_t *products, uint8_t *expected,
                            const uint8_t *found) {
  int64_t size = gqElementTypeSize(v->type), columns = columnsOf(v);
  int64_t scalesAt = GUARD + p.rows * outPitch(v) + GUARD;
  int64_t pitch = outScaleColumns(v);
  uint8_t *claims = allocateHost(p.scaleRows / 128 + 1);
  memset(claims, 0, (size_t)(p.scaleRows / 128 + 1));
  bool ok = true, claimed = false;
  for (int64_t e = 0; e < p.groups; ++e) {
    int64_t begin = p.offsets[e];
    int64_t end = e + 1 < p.numOffsets ? p.offsets[e + 1] : p.rows;
    if (!isUsable(e, begin, end) || begin == end)
      continue;
    uint8_t *outputs = allocateHost((end - begin) * columns * size);
    for (int64_t row = begin; row < end; ++row)
      for (int64_t n = 0; n < columns; ++n) {
        uint32_t bits = outputOf(v, twin, products, row, n);
        memcpy(outputs + ((row - begin) * columns + n) * size, &bits,
               (size_t)size);
      }
    int64_t scaleRow = p.scaleOffsets[e];
    ok &= quantizeGroup(v, e, outputs, end - begin,
                        expected + GUARD + begin * outPitch(v),
                        expected + scalesAt + scaleRow * pitch);
    free(outputs);
    for (int64_t i = 0; i < up(end - begin, 128) / 128; ++i)
      claimed |= claims[scaleRow / 128 + i]++ != 0;
    for (int64_t row = begin; row < end; ++row)
      claimed |= p.owners[row] == -2;
  }
  // Rows of either may be in tiles of the other: all that is claimed is left
  // out.
  for (int64_t i = 0; claimed && i < p.scaleRows / 128; ++i)
    if (claims[i])
      acceptBytes(expected, found, scalesAt + i * 128 * pitch, 128 * pitch);
  for (int64_t row = 0; row < p.rows; ++row)
    if (p.owners[row] == -2)
      acceptBytes(expected, found, GUARD + row * outPitch(v),
                  columns * gqFormatGetTraits(v->outFormat).dataBits / 8);
  free(claims);
  return ok;
}

/// The outputs, as above. NaN may be any.
static void storeOutputs(const Variant *v, const Variant *twin,
                         const uint8_t *products, uint8_t *expected,
                         const uint8_t *found) {
  int64_t size = gqElementTypeSize(v->type);
  for (int64_t row = 0; row < p.rows; ++row)
    for (int64_t n = 0; n < columnsOf(v) && p.owners[row] != -1; ++n) {
      int64_t at = GUARD + (row * outStride(v) + n) * size;
      uint32_t bits = outputOf(v, twin, products, row, n);
      memcpy(expected + at, &bits, (size_t)size);
      if (p.owners[row] == -2 || (isnan(floatValue(v->type, expected + at)) &&
                                  isnan(floatValue(v->type, found + at))))
        acceptBytes(expected, found, at, size);
    }
}

/// Whether the bytes are those of several ops, the first of which is the twin,
/// which is compared with float64 itself.
static bool isOfTwin(const Variant *v, const uint8_t *out) {
  Variant *twin = twinOf(v);
  if (!twin->stored) {
    MmOperands o = upload(twin);
    uint32_t status;
    poison(twin, &o);
    launch(twin, &o, (unsigned)multiprocessors);
    twin->stored = readBack(twin, &o, &status);
    unload(twin, &o);
  }
  const uint8_t *products = twin->stored;
  int64_t bytes = outBytes(v) + 2 * GUARD, wrong = 0;
  uint8_t *expected = allocateHost(bytes);
  memset(expected, POISON, (size_t)bytes);
  bool right = true;
  if (v->quantizes)
    right = quantizeOutputs(v, twin, products, expected, out);
  else
    storeOutputs(v, twin, products, expected, out);
  for (int64_t i = 0; i < bytes; ++i)
    if (expected[i] != out[i] && wrong++ < 4) {
      int64_t row = (i - GUARD) / outPitch(v);
      printf("  %s, %s: byte %lld (row %lld, byte %lld) is %02x, not %02x\n",
             p.name, v->name, (long long)i, (long long)row,
             (long long)(i - GUARD - row * outPitch(v)), out[i], expected[i]);
    }
  free(expected);
  return right && !wrong;
}

static bool isRight(const Variant *v, const uint8_t *out, double *worst) {
  *worst = 0;
  return v->hasEpilogue || v->quantizes ? isOfTwin(v, out)
                                        : isClose(v, out, worst);
}

static void report(bool ok, const Variant *v, const char *what) {
  ok ? ++passed : ++failed;
  if (!ok)
    printf("FAILED %s, %s: %s\n", p.name, v->name, what);
  fflush(stdout);
}

static bool isFor(const Variant *v) {
  return memcmp(&v->formats, &p.formats, sizeof(Formats)) == 0 &&
         v->rest == p.rest &&
         (!p.hasEnds || v->family == GQ_KERNEL_GROUPED_MM_TILES) &&
         (v->pairs == GQ_PAIRS_NONE || p.n % 2 == 0) &&
         (!v->quantizes || columnsOf(v) % outBlockOf(v) == 0) &&
         (!p.quantized || v->quantizes) &&
         (!p.fewQuantized || !v->quantizes ||
          (v->tokens == 8 && v->pairs == GQ_PAIRS_NONE)) &&
         (!v->n || (v->n == p.n && v->k == p.k && !p.gap));
}

/// Every kernel on the problem, on a full grid and on small ones, then `runs`
/// times.
static void run(int runs) {
  // Not every problem can be of all formats.
  if (p.k % blockOf() || (p.shift && scaleType() == GQ_F32))
    return;
  fill();
  computeReference();
  double all[2] = {0, 0};
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    Variant *v = &variants[i];
    if (!isFor(v) || isLeftOut())
      continue;
    MmOperands o = upload(v);
    uint8_t *first = NULL;
    uint32_t status, expected = 0;
    const unsigned grids[] = {(unsigned)multiprocessors, 1, 7};
    int numGrids = extent == MM_EMULATED ? 1 : 3;
    size_t bytes = (size_t)(outBytes(v) + 2 * GUARD);
    for (int g = 0; g < numGrids; ++g) {
      poison(v, &o);
      launch(v, &o, grids[g]);
      uint8_t *out = readBack(v, &o, &status);
      if (g == 0 || p.hostile) {
        double worst;
        report(isRight(v, out, &worst), v, "wrong");
        report((status != 0) == p.hostile, v, "status");
        double *most = &all[multipliesBytes(v)];
        *most = worst > *most ? worst : *most;
      }
      if (g == 0) {
        first = out;
        expected = status;
        continue;
      }
      report((p.hostile || memcmp(out, first, bytes) == 0) &&
                 status == expected,
             v, "other bits on another grid");
      free(out);
    }
    bool same = true;
    for (int r = 0; r < runs; ++r) {
      poison(v, &o);
      launch(v, &o, (unsigned)multiprocessors);
      uint8_t *out = readBack(v, &o, &status);
      same &= memcmp(out, first, bytes) == 0;
      free(out);
    }
    report(same, v, "other bits in another run");
    free(v->stored);
    v->stored = first;
    unload(v, &o);
  }
  printf("%-28s at most %.2f * 2^-24 of the magnitudes beyond half a unit",
         p.name, all[0]);
  if (all[1] > 0)
    printf("; of 8-bit products %.2f * 2^-14", all[1] * 0x1p-10);
  printf("\n");
  release();
}

//===----------------------------------------------------------------------===//
// The tests
//===----------------------------------------------------------------------===//

static const int64_t ragged[] = {0,  1,  7, 8,  9,   16,  0,   17,
                                 33, 64, 0, 65, 127, 128, 129, 0};
enum { RAGGED = sizeof(ragged) / sizeof(*ragged) };

/// All other formats, and what an output is multiplied by and added to.
static void testFormats(bool small) {
  const struct {
    const char *name;
    Formats formats;
    /// What k is a multiple of.
    int64_t unit;
    int rest;
  } all[] = {
      {"nvfp4 and the rest", {MM_NVFP4}, 32, 1},
      {"nvfp4 and row scales", {MM_NVFP4}, 32, 3},
      {"mxfp4", {MM_MXFP4}, 32, 0},
      {"mxfp8", {MM_MXFP8}, 32, 0},
      {"mxfp8 and the rest", {MM_MXFP8}, 32, 1},
      {"mxfp8 and row scales", {MM_MXFP8}, 32, 3},
      {"mxfp8 by mxfp4", {MM_MIXED}, 32, 0},
      {"mxfp4 by mxfp8", {MM_MIXED_4_BY_8}, 32, 0},
      {"fp8 in blocks", {MM_FP8}, 128, 0},
      {"fp8 in blocks and the rest", {MM_FP8}, 128, 1},
      {"fp8 in rows", {MM_FP8_ROWS}, 128, 0},
      {"plain fp8", {MM_PLAIN}, 32, 1},
      {"plain fp8 of an odd k", {MM_PLAIN}, 33, 1},
      {"mxfp8, n innermost", {MM_MXFP8_N}, 32, 0},
      {"mxfp4, n innermost", {MM_MXFP4_N}, 32, 0},
      {"plain fp8, n innermost", {MM_PLAIN_N}, 33, 0},
  };
  const int64_t few[] = {0, 1, 9, 0, 40, 0}, more[] = {130, 0, 8, 300};
  // The tokens of a tile that is full, and of the next one.
  const int64_t many[] = {0, 1, 9, 0, 140, 0};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i)
    for (int turn = 0; turn < (small ? 1 : 3); ++turn) {
      // Blocks of 128 by 128 that n does not fill, but in the last turn.
      if (small)
        begin(all[i].name, 160, 3 * all[i].unit, 6,
              all[i].rest == 3 ? many : few, 1, 1);
      else if (turn < 2)
        begin(all[i].name, 328, 9 * all[i].unit, 6, few, 2, 1);
      else
        begin(all[i].name, 512, 12 * all[i].unit, 4, more, 0, 0);
      p.formats = all[i].formats;
      p.rest = all[i].rest;
      p.gap = turn < 2 ? turn : 0;
      p.shift = turn == 1 && scaleType() != GQ_F32;
      run(0);
    }
}

/// MX formats at the ends of the exponent range, where the kernels of tiles are
/// exact.
static void testEnds(void) {
  const Formats all[] = {{MM_MXFP4}, {MM_MXFP8}, {MM_MIXED}, {MM_MIXED_4_BY_8}};
  const int64_t sizes[] = {3, 40};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    begin("exponents", 72, 160, 2, sizes, 0, 0);
    p.formats = all[i];
    p.rest = 0;
    p.hasEnds = true;
    run(0);
  }
}

/// Blocks of outputs that are no whole columns of tiles: of 16, 32 and 64 rows
/// of weights.
static void testBlocks(void) {
  const int64_t sizes[] = {0, 1, 9, 0, 40, 0};
  begin("blocks of outputs", 320, 96, 6, sizes, 1, 1);
  p.quantized = true;
  p.gap = 1;
  run(0);
}

/// What threads on the CPU can do in some seconds.
static void testEmulated(void) {
  const int64_t sizes[] = {0, 1, 9, 0, 40, 0};
  begin("fixed", 512, 384, 3, sizes, 1, 1);
  run(0);
  begin("parts", 264 + 8, 160, 6, sizes, 0, 0);
  p.gap = 1;
  run(0);
  begin("narrow", 33, 96, 6, sizes, 2, 0);
  run(0);
  begin("an odd number of blocks", 24, 48, 6, sizes, 0, 0);
  p.hasAlpha = false;
  run(0);
  const int64_t one[] = {130};
  begin("one group, no end", 40, 64, 1, one, 0, 0);
  p.numOffsets = 1;
  run(0);
  testBlocks();
}

static void testShapes(int runs) {
  begin("ragged", 512, 384, RAGGED, ragged, 0, 0);
  run(runs);
  begin("gaps", 512, 384, RAGGED, ragged, 5, 1);
  p.hasAlpha = false;
  run(0);
  begin("one more row a stride", 512, 384, 5, ragged, 3, 2);
  p.gap = 1;
  run(0);
  begin("a part of a step", 328, 160, 9, ragged, 0, 0);
  run(0);
  begin("half a step", 264, 192, RAGGED, ragged, 1, 0);
  run(0);
  begin("narrow", 130, 96, 6, ragged, 0, 0);
  run(0);
  begin("no more than a block", 24, 16, 6, ragged, 0, 0);
  run(0);
  begin("an odd number of blocks", 96, 1040 + 16, 9, ragged, 2, 0);
  run(0);
  testBlocks();
  begin("unaligned blocks of outputs", 192, 256, 9, ragged, 2, 0);
  p.quantized = true;
  p.shift = 1;
  run(0);
  begin("unaligned", 40, 256, 9, ragged, 2, 0);
  p.shift = 1;
  run(0);
  begin("an odd number of columns", 33, 128, 9, ragged, 2, 0);
  run(0);
  const int64_t few[] = {3, 0, 11};
  begin("long", 256, 5120, 3, few, 0, 0);
  run(0);
  const int64_t large[] = {700};
  begin("one group, no end", 1024, 256, 1, large, 0, 0);
  p.numOffsets = 1;
  run(runs / 5);
}

/// Small N and many groups: quads of decode go on in the next group.
static void testManyGroups(void) {
  static int64_t sizes[4096];
  for (int i = 0; i < 4096; ++i)
    sizes[i] = randomBits() % 4 ? 0 : randomBits() % 3;
  begin("4096 groups", 32, 128, 4096, sizes, 0, 0);
  run(0);
  for (int i = 0; i < 300; ++i)
    sizes[i] = randomBits() % 10;
  begin("300 groups", 48, 256, 300, sizes, 1, 0);
  run(0);
  for (int i = 0; i < 500; ++i)
    sizes[i] = i % 100 == 99 ? 40 : 0;
  begin("most groups empty", 160, 128, 500, sizes, 0, 0);
  run(0);
}

/// Makes a problem of a case; false if it changes what a matmul does not take.
static bool beginHostile(const HostileCase *c) {
  begin(c->name, 64, 128, HOSTILE_GROUPS, hostileRows, 0, 0);
  p.fewQuantized = extent == MM_EMULATED;
  p.rows = HOSTILE_ROWS;
  memcpy(p.scaleOffsets, hostileScaleOffsets, sizeof(hostileScaleOffsets));
  p.scaleRows = HOSTILE_SCALE_ROWS;
  for (const HostileChange *change = c->changes; change->array; ++change) {
    if (change->array > HOSTILE_SCALE_OFFSETS)
      return false;
    // Offsets of 32 bits saturate.
    (change->array == HOSTILE_OFFSETS ? p.offsets
                                      : p.scaleOffsets)[change->entry] =
        hostileValue(change->value, 64);
  }
  if (!isTiled()) // Scale offsets are not looked at.
    for (const HostileChange *change = c->changes; change->array; ++change)
      if (change->array == HOSTILE_SCALE_OFFSETS)
        return false;
  p.hostile = !hostileIsSound(c);
  return true;
}

static void testHostile(void) {
  for (int i = 0; i < NUM_HOSTILE_CASES; ++i)
    if (beginHostile(&hostileCases[i]))
      run(0);
  const int64_t sizes[] = {20, 30, 40, 50, 60, 70, 80, 90};
  begin("all overlap", 40, 64, 8, sizes, 0, 0);
  for (int e = 0; e <= 8; ++e)
    p.offsets[e] = e % 2 ? p.rows : p.rows + 1 + e;
  p.hostile = true;
  run(0);
}

/// A graph that was captured with other offsets than it is replayed with.
static void testReplay(void) {
  const int64_t sizes[] = {100, 0, 57, 1, 130, 8};
  const int64_t others[] = {9, 90, 0, 130, 60, 7};
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    const Variant *v = &variants[i];
    begin("replay", 512, 384, 6, sizes, 0, 1);
    Problem captured = p;
    begin("replay", 512, 384, 6, others, 0, 1);
    p.formats = v->formats;
    p.rest = v->rest;
    fill();
    computeReference();
    MmOperands o = upload(v);
    DevicePtr offsets =
        offsetsToDevice(captured.offsets, p.numOffsets, v->offsetBits);
    DevicePtr scaleOffsets =
        offsetsToDevice(captured.scaleOffsets, p.groups, v->offsetBits);
    MmOperands shown = o;
    shown.offsets = offsets;
    if (o.scaleOffsets)
      shown.scaleOffsets = scaleOffsets;
    Handle graph, executable;
    CU(StreamBeginCapture(stream, 0));
    launch(v, &shown, (unsigned)multiprocessors);
    CU(StreamEndCapture(stream, &graph));
    CU(GraphInstantiate(&executable, graph, 0));
    poison(v, &o);
    CU(GraphLaunch(executable, stream));
    CU(StreamSynchronize(stream));
    poison(v, &o);
    size_t bytes = (size_t)v->offsetBits / 8;
    CU(MemcpyDtoDAsync(offsets, o.offsets, (size_t)p.numOffsets * bytes,
                       stream));
    if (o.scaleOffsets)
      CU(MemcpyDtoDAsync(scaleOffsets, o.scaleOffsets, (size_t)p.groups * bytes,
                         stream));
    CU(GraphLaunch(executable, stream));
    uint32_t status;
    double worst;
    uint8_t *out = readBack(v, &o, &status);
    report(isRight(v, out, &worst) && !status, v, "replayed");
    free(out);
    CU(GraphExecDestroy(executable));
    CU(GraphDestroy(graph));
    CU(MemFree(offsets));
    CU(MemFree(scaleOffsets));
    unload(v, &o);
    release();
  }
}

/// Of an e4m3 code.
static void makePositive(uint8_t *code) { *code = (*code & 0x77) | 0x10; }

/// NaN scales, and a code, reach the outputs that they are summed into, and no
/// others.
static void testNan(Formats formats, uint8_t nan) {
  begin("NaN", 264, 128, 6, ragged, 0, 0);
  p.formats = formats;
  p.rest = 0;
  fill();
  for (int64_t e = 0; e < 6; e += 2)
    p.bScales[gq_dev_tile128x4_offset(e * up(p.n, 128) + 17 * e + 3, 1,
                                      scaleColumns())] = nan;
  if (p.rows > 9)
    p.aScales[gq_dev_tile128x4_offset(
        p.scaleOffsets[4] + 2, p.k / blockOf() - 3, scaleColumns())] = 0xff;
  if (p.formats.bType == GQ_F8E4M3FN) {
    p.b[(5 * p.n + 100) * p.k + 77] = 0xff;
    // In those blocks all codes are positive: an infinite scale would give an
    // infinite sum.
    for (int64_t k = 32; k < 64; ++k) {
      for (int64_t e = 0; e < 6; e += 2)
        makePositive(&p.b[(e * p.n + 17 * e + 3) * p.k + k]);
      for (int64_t row = 0; row < p.rows; ++row)
        makePositive(&p.a[row * aStride() + k]);
    }
  }
  computeReference();
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    const Variant *v = &variants[i];
    if (!isFor(v))
      continue;
    MmOperands o = upload(v);
    poison(v, &o);
    launch(v, &o, (unsigned)multiprocessors);
    uint32_t status;
    double worst;
    uint8_t *out = readBack(v, &o, &status);
    report(isRight(v, out, &worst) && !status, v, "NaN");
    free(out);
    unload(v, &o);
  }
  release();
}

int runMmTests(Handle module, int device, int argc, char **argv) {
  extent = argc == 0                          ? MM_ALL
           : strcmp(argv[0], "emulated") == 0 ? MM_EMULATED
                                              : MM_QUICK;
  CU(StreamCreate(&stream, STREAM_AFTER_NULL));
  CU(DeviceGetAttribute(&multiprocessors, ATTRIBUTE_MULTIPROCESSORS, device));
  CU(ModuleGetFunction(&poisonSharedKernel, module, "poison_shared"));
  for (int i = 0; i < NUM_VARIANTS; ++i)
    CU(ModuleGetFunction(&variants[i].function, module, variants[i].name));
  for (int i = 0; i < NUM_PREPARE_VARIANTS; ++i)
    CU(ModuleGetFunction(&prepareVariants[i].function, module,
                         prepareVariants[i].name));
  const struct {
    Formats formats;
    int rest;
  } tested[] = {
      {{MM_NVFP4}, 0}, {{MM_FP8}, 0}, {{MM_PLAIN}, 1}, {{MM_MXFP8}, 0}};
  for (size_t i = 0; i < sizeof(tested) / sizeof(*tested); ++i) {
    testedFormats = tested[i].formats;
    testedRest = tested[i].rest;
    if (extent == MM_EMULATED)
      testEmulated();
    else
      testShapes(extent == MM_QUICK ? 1 : RUNS);
    if (extent == MM_ALL)
      testManyGroups();
    // CPU threads have time for those who read groups in different ways.
    if (extent != MM_EMULATED || testedFormats.format != GQ_FORMAT_MXFP8_E4M3)
      testHostile();
  }
  testFormats(extent == MM_EMULATED);
  testEnds();
  testNan((Formats){MM_NVFP4}, 0x7f);
  testNan((Formats){MM_MXFP8}, 0xff);
  if (extent != MM_EMULATED)
    testReplay();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
