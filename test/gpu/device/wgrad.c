//===- wgrad.c - the gradient of weights on a GPU -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kernel on every problem that it is for, against sums in float64 of the
// dequantized operands. How far an output may be off, mm.c says; those of 16
// bits too are rounded sums of float32, and have its bound. Operands hold
// NaN and any codes where there are no rows and no lines; outputs lie between
// guards.
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "Hostile.h"
#include "Kernels.h"
#include "PoisonShared.h"
#include "Values.h"
#include "WgradKernels.h"

#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/codecs/E8M0.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  GUARD = 4096,
  POISON = 0xa5,
  /// How often a kernel must give the same bits.
  RUNS = 100,
  MAX_GROUPS = 4096,
};

/// Of a and of b.
typedef struct Formats {
  gqFormat format;
  gqElementType aType;
  gqFormat bFormat;
  gqElementType bType;
} Formats;

/// A kernel.
typedef struct Variant {
  const char *name;
  gqKernelFamily family;
  int offsetBits;
  gqElementType type;
  int64_t n, k;
  Formats formats;
  Handle function;
} Variant;

#define VARIANT(NAME, FUNCTION, FAMILY, BITS, TYPE, N, K, FORMATS)             \
  {#NAME,                                                                      \
   GQ_KERNEL_GROUPED_WGRAD_##FAMILY,                                           \
   BITS,                                                                       \
   GQ_##TYPE,                                                                  \
   N,                                                                          \
   K,                                                                          \
   {WGRAD_##FORMATS},                                                          \
   NULL},
static Variant variants[] = {WGRAD_VARIANTS(VARIANT)};
#undef VARIANT
enum { NUM_VARIANTS = sizeof(variants) / sizeof(*variants) };

static Handle stream, poisonSharedKernel;
static int multiprocessors, passed, failed;
/// How much is tested.
static enum { WGRAD_ALL, WGRAD_QUICK, WGRAD_EMULATED } extent;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// a or b, [rows, lines] before it was quantized.
typedef struct Side {
  gqFormat format;
  gqElementType type;
  int64_t lines;
  uint8_t *codes, *scales;
  int64_t codeBytes, scaleBytes;
  /// [rows of a group, lines]
  double *values;
} Side;

/// What the groups before one take.
typedef struct Place {
  int64_t rows, scales;
} Place;

typedef struct Problem {
  const char *name;
  int64_t rows, n, k, groups;
  int64_t offsets[MAX_GROUPS + 1];
  /// Bytes between rows beyond a row, and bytes that all addresses are off.
  int64_t gap, shift;
  bool hasAlpha, hostile;
  /// Of the kernels that it is for; 0 for any.
  int offsetBits;
  Formats formats;
  Side a, b;
  float *alpha;
  /// What lies in the operands.
  Place room;
  /// Of each output, in float64, and the sums of magnitudes.
  double *sums, *magnitudes;
} Problem;

static Problem p;

static gqFormatTraits traitsOf(const Side *s) {
  return gqFormatGetTraits(s->format);
}
static bool isFlat(void) {
  return gqFormatGetTraits(p.formats.format).transposes;
}
static bool isTiled(const Side *s) {
  return s->format != GQ_FORMAT_NONE && traitsOf(s).scaleType != GQ_F32;
}
static int64_t bits(const Side *s) { return s->type == GQ_I8 ? 4 : 8; }
static int64_t stride(const Side *s) {
  return s->lines * bits(s) / 8 + p.gap * 16;
}

/// Lines of a side's scales, and columns of those of a group.
static int64_t scaleLines(const Side *s) {
  return isTiled(s)
             ? up(s->lines, 128)
             : up(s->lines, traitsOf(s).blockRows) / traitsOf(s).blockRows;
}
static int64_t scaleColumns(const Side *s, int64_t rows) {
  int64_t block = traitsOf(s).blockColumns;
  int64_t columns = up(up(rows, 32), block) / block;
  return s->format == GQ_FORMAT_NONE ? 0
         : isTiled(s)                ? up(columns, 4)
                                     : columns;
}

/// Group number e has sizes[e] rows, of which `first` come before it, and as
/// many after the last one.
static void begin(const char *name, int64_t n, int64_t k, int64_t groups,
                  const int64_t *sizes, int64_t first) {
  p = (Problem){.name = name,
                .n = n,
                .k = k,
                .groups = groups,
                .hasAlpha = true,
                .formats = {WGRAD_NVFP4}};
  p.offsets[0] = first;
  for (int64_t e = 0; e < groups; ++e)
    p.offsets[e + 1] = p.offsets[e] + sizes[e];
  p.rows = p.offsets[groups] + first;
  for (int64_t e = 0; e < groups; ++e) {
    p.room.rows += up(sizes[e], 32);
    p.room.scales += sizes[e] / 16 + 4;
  }
}

/// Whether group e can be used by itself.
static bool isUsable(int64_t e) {
  int64_t most = isFlat() ? (int64_t)1 << 48 : p.rows;
  return p.offsets[e] >= 0 && p.offsets[e + 1] >= p.offsets[e] &&
         p.offsets[e + 1] <= most;
}

/// The rows of group e, none if it is skipped, and what is behind it.
static int64_t rowsOf(int64_t e, Place before, Place *after) {
  int64_t rows = isUsable(e) ? p.offsets[e + 1] - p.offsets[e] : 0;
  *after = (Place){before.rows + up(rows, 32),
                   before.scales + scaleColumns(&p.a, rows)};
  bool fits = (!isFlat() || after->rows <= p.room.rows) &&
              after->scales <= p.room.scales;
  return fits ? rows : 0;
}

/// Where code (row, line) of a group is, in codes.
static int64_t codeAt(const Side *s, int64_t e, Place before, int64_t rows,
                      int64_t row, int64_t line) {
  return isFlat() ? before.rows * s->lines + line * up(rows, 32) + row
                  : (p.offsets[e] + row) * stride(s) * 8 / bits(s) + line;
}

/// Where the scale of a block of a group is, in bytes.
static int64_t scaleAt(const Side *s, Place before, int64_t rows,
                       int64_t column, int64_t line) {
  int64_t columns = scaleColumns(s, rows),
          first = before.scales * scaleLines(s);
  return isTiled(s)
             ? first + gq_dev_tile128x4_offset(line, column, columns)
             : 4 * (first + line / traitsOf(s).blockRows * columns + column);
}

/// What is added up of a group: of flat operands, all that they hold.
static int64_t summedRows(int64_t rows) {
  return isFlat() ? up(rows, 32) : rows;
}

/// Makes the scales of a group, and its values.
static void fillGroup(Side *s, int64_t e, Place before, int64_t rows) {
  int64_t block =
      s->format == GQ_FORMAT_NONE ? rows + 1 : traitsOf(s).blockColumns;
  for (int64_t line = 0; line < s->lines; ++line)
    for (int64_t row = 0; row < summedRows(rows); ++row) {
      double scale = 1;
      if (s->format != GQ_FORMAT_NONE) {
        uint8_t *at = s->scales + scaleAt(s, before, rows, row / block, line);
        bool first = row % block == 0 && line % traitsOf(s).blockRows == 0;
        float wide = randomFloat();
        if (isTiled(s)) {
          if (first)
            *at = randomScale(traitsOf(s).scaleType);
          scale = (double)(traitsOf(s).scaleType == GQ_F8E8M0FNU
                               ? gq_dev_f32_from_e8m0(*at)
                               : gq_dev_f32_from_e4m3(*at));
        } else {
          if (first)
            memcpy(at, &wide, 4);
          memcpy(&wide, at, 4);
          scale = (double)wide;
        }
      }
      s->values[row * s->lines + line] =
          scale *
          codeValue(s->type, s->codes, codeAt(s, e, before, rows, row, line));
    }
}

/// Allocates and fills what a group does not.
static void fillSide(Side *s, gqFormat format, gqElementType type,
                     int64_t lines) {
  *s = (Side){.format = format, .type = type, .lines = lines};
  s->codeBytes =
      isFlat() ? p.room.rows * lines * bits(s) / 8 : p.rows * stride(s);
  s->scaleBytes = format == GQ_FORMAT_NONE
                      ? 0
                      : p.room.scales * scaleLines(s) * (isTiled(s) ? 1 : 4);
  s->codes = allocateHost(s->codeBytes + 1);
  s->scales = allocateHost(s->scaleBytes + 1);
  for (int64_t i = 0; i < s->codeBytes; ++i)
    s->codes[i] = randomCode(type);
  memset(s->scales, traitsOf(s).scaleType == GQ_F8E4M3FN ? 0x7f : 0xff,
         (size_t)s->scaleBytes);
  int64_t most = 1;
  for (int64_t e = 0; e < p.groups; ++e)
    if (isUsable(e) && p.offsets[e + 1] - p.offsets[e] > most)
      most = p.offsets[e + 1] - p.offsets[e];
  most = summedRows(most < p.rows ? most : p.rows);
  s->values = allocateHost((most + 1) * lines * 8);
}

/// Fills the operands, and computes what the outputs must be.
static void fill(void) {
  fillSide(&p.a, p.formats.format, p.formats.aType, p.n);
  fillSide(&p.b, p.formats.bFormat, p.formats.bType, p.k);
  p.alpha = allocateHost(p.groups * 4);
  int64_t size = p.groups * p.n * p.k;
  p.sums = allocateHost(size * 8);
  p.magnitudes = allocateHost(size * 8);
  Place before = {0, 0}, after;
  for (int64_t e = 0; e < p.groups; ++e, before = after) {
    p.alpha[e] = randomFloat();
    int64_t rows = rowsOf(e, before, &after);
    fillGroup(&p.a, e, before, rows);
    fillGroup(&p.b, e, before, rows);
    double *sums = p.sums + e * p.n * p.k;
    double *magnitudes = p.magnitudes + e * p.n * p.k;
    for (int64_t row = 0; row < summedRows(rows); ++row)
      for (int64_t n = 0; n < p.n; ++n) {
        double x = p.a.values[row * p.n + n];
        for (int64_t k = 0; k < p.k; ++k) {
          double product = x * p.b.values[row * p.k + k];
          sums[n * p.k + k] += product;
          magnitudes[n * p.k + k] += fabs(product);
        }
      }
    double alpha = p.hasAlpha ? (double)p.alpha[e] : 1;
    for (int64_t i = 0; i < p.n * p.k; ++i) {
      sums[i] *= alpha;
      magnitudes[i] *= fabs(alpha);
    }
  }
}

static void release(void) {
  void *all[] = {p.a.codes,  p.a.scales,   p.a.values, p.b.codes, p.b.scales,
                 p.b.values, p.magnitudes, p.alpha,    p.sums};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i)
    free(all[i]);
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

static void launch(const Variant *v, const WgradOperands *operands,
                   unsigned grid) {
  gq_dev_bounds bounds = gq_dev_grouped_wgrad_bounds(
      v->formats.format, v->family == GQ_KERNEL_GROUPED_WGRAD_TILES);
  CU(FuncSetAttribute(v->function, FUNCTION_ATTRIBUTE_DYNAMIC_SHARED,
                      bounds.sharedMemory));
  void *parameters[] = {(void *)operands};
  CU(LaunchKernel(v->function, grid, 1, 1, (unsigned)bounds.threads, 1, 1,
                  (unsigned)bounds.sharedMemory, stream, parameters, NULL));
}

/// `shift` bytes beyond an address that is aligned, or null.
static DevicePtr toDevice(const void *host, int64_t bytes, int64_t shift) {
  DevicePtr d;
  CU(MemAlloc(&d, (size_t)(bytes + shift + 1)));
  CU(MemcpyHtoD(d + (uint64_t)shift, host, (size_t)bytes));
  return d + (uint64_t)shift;
}

static int64_t outBytes(const Variant *v) {
  return p.groups * p.n * p.k * gqElementTypeSize(v->type);
}
static int64_t outShift(const Variant *v) {
  return GUARD + (p.shift ? gqElementTypeSize(v->type) : 0);
}
static int64_t scaleShift(void) { return isTiled(&p.a) ? p.shift : 0; }

static WgradOperands upload(const Variant *v) {
  bool scaled = p.formats.format != GQ_FORMAT_NONE;
  WgradOperands o = {
      .a = toDevice(p.a.codes, p.a.codeBytes, p.shift),
      .aStride = isFlat() ? 0 : stride(&p.a),
      .aScales =
          scaled ? toDevice(p.a.scales, p.a.scaleBytes, scaleShift()) : 0,
      .b = toDevice(p.b.codes, p.b.codeBytes, p.shift),
      .bStride = isFlat() ? 0 : stride(&p.b),
      .bScales =
          scaled ? toDevice(p.b.scales, p.b.scaleBytes, scaleShift()) : 0,
      .offsets = offsetsToDevice(p.offsets, p.groups + 1, v->offsetBits),
      .groups = p.groups,
      .alpha = p.hasAlpha ? toDevice(p.alpha, p.groups * 4, 0) : 0,
      .rows = isFlat() ? p.room.rows : p.rows,
      .scaleColumns = p.room.scales,
      .n = p.n,
      .k = p.k,
  };
  CU(MemAlloc(&o.out, (size_t)(outBytes(v) + 2 * GUARD + 16)));
  o.out += (uint64_t)outShift(v);
  CU(MemAlloc(&o.status, 4));
  return o;
}

static void unload(const Variant *v, WgradOperands *o) {
  const uint64_t all[] = {o->a - (uint64_t)p.shift,
                          o->b - (uint64_t)p.shift,
                          o->offsets,
                          o->out - (uint64_t)outShift(v),
                          o->status,
                          o->alpha};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i)
    if (all[i])
      CU(MemFree(all[i]));
  if (o->aScales) {
    CU(MemFree(o->aScales - (uint64_t)scaleShift()));
    CU(MemFree(o->bScales - (uint64_t)scaleShift()));
  }
}

static void poison(const Variant *v, const WgradOperands *o) {
  CU(MemsetD8(o->out - GUARD, POISON, (size_t)(outBytes(v) + 2 * GUARD)));
  CU(MemsetD8(o->status, 0, 4));
  poisonShared(poisonSharedKernel, multiprocessors, stream);
}

/// The output with its guards, and the status.
static uint8_t *readBack(const Variant *v, const WgradOperands *o,
                         uint32_t *status) {
  CU(StreamSynchronize(stream));
  int64_t bytes = outBytes(v) + 2 * GUARD;
  uint8_t *out = allocateHost(bytes);
  CU(MemcpyDtoH(out, o->out - GUARD, (size_t)bytes));
  CU(MemcpyDtoH(status, o->status, 4));
  return out;
}

/// Compares all bytes; `worst` is what is beyond half a unit, of 2^-24 of the
/// sum of magnitudes.
static bool isRight(const Variant *v, const uint8_t *out, double *worst) {
  int64_t size = gqElementTypeSize(v->type), wrong = 0;
  double bound = errorBound(p.formats.format, GQ_F32);
  for (int64_t i = 0; i < GUARD; ++i)
    wrong += out[i] != POISON || out[GUARD + outBytes(v) + i] != POISON;
  if (wrong)
    printf("  %s, %s: %lld bytes outside of the output\n", p.name, v->name,
           (long long)wrong);
  for (int64_t i = 0; i < p.groups * p.n * p.k; ++i) {
    double expected = p.sums[i], magnitude = p.magnitudes[i];
    double got = floatValue(v->type, out + GUARD + i * size);
    // Beyond the largest f16 there is an infinity of its own.
    bool large = v->type == GQ_F16 && fabs(expected) > 65000;
    double beyond = fabs(got - expected) - halfUnit(v->type, expected);
    bool ok = isnan(expected) ? isnan(got)
              : large         ? fabs(got) > 64000
                              : beyond <= bound * 0x1p-24 * magnitude;
    if (!ok && wrong++ < 4)
      printf("  %s, %s: out[%lld, %lld, %lld] is %.9g, not %.9g\n", p.name,
             v->name, (long long)(i / p.k / p.n), (long long)(i / p.k % p.n),
             (long long)(i % p.k), got, expected);
    if (ok && !large && magnitude > 0 &&
        beyond / (magnitude * 0x1p-24) > *worst)
      *worst = beyond / (magnitude * 0x1p-24);
  }
  if (wrong)
    printf("  %s, %s: %lld wrong\n", p.name, v->name, (long long)wrong);
  return wrong == 0;
}

static void report(bool ok, const Variant *v, const char *what) {
  ok ? ++passed : ++failed;
  if (!ok)
    printf("FAILED %s, %s: %s\n", p.name, v->name, what);
  fflush(stdout);
}

static bool isFor(const Variant *v) {
  return memcmp(&v->formats, &p.formats, sizeof(Formats)) == 0 &&
         (!v->n || (v->n == p.n && v->k == p.k)) &&
         (!p.offsetBits || p.offsetBits == v->offsetBits);
}

/// Every kernel on the problem, on a full grid and on small ones, then `runs`
/// times.
static void run(int runs) {
  fill();
  double worst = 0;
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    const Variant *v = &variants[i];
    if (!isFor(v))
      continue;
    WgradOperands o = upload(v);
    const unsigned grids[] = {(unsigned)multiprocessors, 1, 7};
    int numGrids = extent == WGRAD_EMULATED ? 1 : 3 + runs;
    size_t bytes = (size_t)(outBytes(v) + 2 * GUARD);
    uint8_t *first = NULL;
    uint32_t status, expected = 0;
    bool same = true;
    for (int g = 0; g < numGrids; ++g) {
      poison(v, &o);
      launch(v, &o, grids[g < 3 ? g : 0]);
      uint8_t *out = readBack(v, &o, &status);
      if (g == 0) {
        report(isRight(v, out, &worst), v, "wrong");
        report((status != 0) == p.hostile, v, "status");
        first = out;
        expected = status;
        continue;
      }
      same &= memcmp(out, first, bytes) == 0 && status == expected;
      free(out);
    }
    report(same, v, "other bits in another run or on another grid");
    free(first);
    unload(v, &o);
  }
  printf("%-28s at most %.2f * 2^-24 of the magnitudes beyond half a unit\n",
         p.name, worst);
  release();
}

//===----------------------------------------------------------------------===//
// The tests
//===----------------------------------------------------------------------===//

static const int64_t ragged[] = {0,  1,  7,  8, 33,  64,  0,   17,
                                 96, 31, 65, 0, 127, 128, 200, 0};
enum { RAGGED = sizeof(ragged) / sizeof(*ragged) };

static const Formats allFormats[] = {{WGRAD_NVFP4}, {WGRAD_MXFP4},
                                     {WGRAD_MXFP8}, {WGRAD_MIXED},
                                     {WGRAD_FP8},   {WGRAD_PLAIN}};
static const char *const formatNames[] = {
    "nvfp4", "mxfp4", "mxfp8", "mxfp8 by mxfp4", "fp8 in blocks", "plain fp8"};
enum { NUM_FORMATS = sizeof(allFormats) / sizeof(*allFormats) };

/// What extents are a multiple of.
static int64_t unitOf(Formats f) {
  int64_t a = gqFormatGetTraits(f.format).blockColumns;
  int64_t b = gqFormatGetTraits(f.bFormat).blockColumns;
  return a > b ? a : b;
}

/// Sizes[groups] in all formats: N and K of a tile or two, and of a part.
static void testShapes(int64_t groups, const int64_t *sizes, int runs) {
  for (int i = 0; i < NUM_FORMATS; ++i) {
    int64_t unit = unitOf(allFormats[i]);
    for (int turn = 0; turn < 3; ++turn) {
      int64_t n = turn == 0 ? up(129, unit) : turn == 1 ? unit : 256;
      int64_t k = turn == 0 ? up(257, unit) : turn == 1 ? 3 * unit : 512;
      if (extent != WGRAD_ALL && turn == 2)
        continue;
      begin(formatNames[i], n, k, groups, sizes, turn);
      p.formats = allFormats[i];
      p.gap = p.shift = turn == 1;
      p.hasAlpha = turn != 1;
      run(turn == 0 ? runs : 0);
    }
  }
}

/// Whether a group is skipped.
static bool isHostile(void) {
  Place before = {0, 0}, after;
  bool hostile = false;
  for (int64_t e = 0; e < p.groups; ++e, before = after)
    hostile |= !isUsable(e) ||
               rowsOf(e, before, &after) != p.offsets[e + 1] - p.offsets[e];
  return hostile;
}

/// Makes a problem of a case; false if it changes what a gradient does not
/// take.
static bool beginHostile(const HostileCase *c, Formats formats,
                         int offsetBits) {
  begin(c->name, up(40, unitOf(formats)), up(72, unitOf(formats)),
        HOSTILE_GROUPS, hostileRows, 0);
  p.formats = formats;
  p.offsetBits = offsetBits;
  p.rows = HOSTILE_ROWS;
  // Columns of scales are of room for more than there are.
  Place all = {0, 0};
  Side side = {.format = formats.format};
  for (int64_t e = 0; e < p.groups; ++e)
    all.scales += scaleColumns(&side, hostileRows[e]);
  for (const HostileChange *change = c->changes; change->array; ++change) {
    if (change->array == HOSTILE_OFFSETS)
      p.offsets[change->entry] = hostileValue(change->value, offsetBits);
    else if (change->array == HOSTILE_COLUMNWISE_DATA && isFlat())
      p.room.rows -= 1;
    else if (change->array == HOSTILE_COLUMNWISE_SCALES &&
             formats.format != GQ_FORMAT_NONE)
      p.room.scales = all.scales - 1;
    else
      return false;
  }
  p.hostile = isHostile();
  return true;
}

static void testHostile(void) {
  const Formats some[] = {{WGRAD_NVFP4}, {WGRAD_MXFP8}, {WGRAD_FP8}};
  for (int i = 0; i < NUM_HOSTILE_CASES; ++i)
    for (int f = 0; f < (extent == WGRAD_ALL ? 3 : 2); ++f)
      for (int offsetBits = 32; offsetBits <= 64; offsetBits += 32)
        if (beginHostile(&hostileCases[i], some[f], offsetBits))
          run(0);
}

/// Many groups, most without rows.
static void testManyGroups(void) {
  static int64_t sizes[MAX_GROUPS];
  for (int i = 0; i < MAX_GROUPS; ++i)
    sizes[i] = randomBits() % 4 ? 0 : randomBits() % 40;
  begin("4096 groups", 16, 32, MAX_GROUPS, sizes, 3);
  run(0);
  begin("4096 groups", 32, 32, MAX_GROUPS, sizes, 0);
  p.formats = (Formats){WGRAD_MXFP8};
  run(0);
}

/// A graph that was captured with other offsets than it is replayed with.
static void testReplay(void) {
  const int64_t sizes[] = {100, 0, 57, 1, 130, 8};
  const int64_t others[] = {9, 90, 0, 130, 60, 7};
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    const Variant *v = &variants[i];
    begin("replay", 256, 512, 6, sizes, 0);
    Problem captured = p;
    begin("replay", 256, 512, 6, others, 0);
    p.formats = v->formats;
    fill();
    WgradOperands o = upload(v);
    WgradOperands shown = o;
    shown.offsets =
        offsetsToDevice(captured.offsets, p.groups + 1, v->offsetBits);
    Handle graph, executable;
    CU(StreamBeginCapture(stream, 0));
    launch(v, &shown, (unsigned)multiprocessors);
    CU(StreamEndCapture(stream, &graph));
    CU(GraphInstantiate(&executable, graph, 0));
    CU(GraphLaunch(executable, stream));
    CU(StreamSynchronize(stream));
    poison(v, &o);
    CU(MemcpyDtoDAsync(shown.offsets, o.offsets,
                       (size_t)((p.groups + 1) * v->offsetBits / 8), stream));
    CU(GraphLaunch(executable, stream));
    uint32_t status;
    double worst = 0;
    uint8_t *out = readBack(v, &o, &status);
    report(isRight(v, out, &worst) && !status, v, "replayed");
    free(out);
    CU(GraphExecDestroy(executable));
    CU(GraphDestroy(graph));
    CU(MemFree(shown.offsets));
    unload(v, &o);
    release();
  }
}

/// NaN scales reach the outputs that they are summed into, and no others.
static void testNan(void) {
  const int64_t sizes[] = {40, 0, 64};
  begin("NaN", 32, 64, 3, sizes, 0);
  fill();
  p.a.scales[scaleAt(&p.a, (Place){0, 0}, 40, 1, 3)] = 0x7f;
  p.b.scales[scaleAt(&p.b, (Place){64, 4}, 64, 2, 5)] = 0xff;
  for (int64_t e = 0; e < 3; ++e)
    for (int64_t n = 0; n < p.n; ++n)
      for (int64_t k = 0; k < p.k; ++k)
        if ((e == 0 && n == 3) || (e == 2 && k == 5))
          p.sums[(e * p.n + n) * p.k + k] = (double)NAN;
  for (int i = 0; i < NUM_VARIANTS; ++i) {
    const Variant *v = &variants[i];
    if (!isFor(v))
      continue;
    WgradOperands o = upload(v);
    poison(v, &o);
    launch(v, &o, (unsigned)multiprocessors);
    uint32_t status;
    double worst = 0;
    uint8_t *out = readBack(v, &o, &status);
    report(isRight(v, out, &worst) && !status, v, "NaN");
    free(out);
    unload(v, &o);
  }
  release();
}

//===----------------------------------------------------------------------===//
// How fast
//===----------------------------------------------------------------------===//

/// Times kernels on groups of as many rows.
static void bench(void) {
  const int64_t n = 4096, k = 5120, groups = 8;
  const int64_t rows[] = {256, 1024, 2048};
  for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); ++r)
    for (int i = 0; i < NUM_VARIANTS; ++i) {
      const Variant *v = &variants[i];
      int64_t sizes[8];
      for (int e = 0; e < groups; ++e)
        sizes[e] = rows[r];
      if (v->n)
        continue;
      begin("bench", n, k, groups, sizes, 0);
      p.formats = v->formats;
      // Not the values: only where everything is.
      Side *sides[] = {&p.a, &p.b};
      WgradOperands o = {.groups = groups, .n = n, .k = k};
      for (int s = 0; s < 2; ++s) {
        Side *side = sides[s];
        *side = (Side){.format = s ? v->formats.bFormat : v->formats.format,
                       .type = s ? v->formats.bType : v->formats.aType,
                       .lines = s ? k : n};
        int64_t codes = p.room.rows * stride(side);
        int64_t scales = p.room.scales * scaleLines(side) * 4;
        DevicePtr at[2];
        CU(MemAlloc(&at[0], (size_t)codes));
        CU(MemAlloc(&at[1], (size_t)scales));
        CU(MemsetD8(at[0], 0x33, (size_t)codes));
        CU(MemsetD8(at[1], 0x38, (size_t)scales));
        *(s ? &o.b : &o.a) = at[0];
        *(s ? &o.bStride : &o.aStride) = isFlat() ? 0 : stride(side);
        *(s ? &o.bScales : &o.aScales) =
            side->format == GQ_FORMAT_NONE ? 0 : at[1];
      }
      o.rows = isFlat() ? p.room.rows : p.rows;
      o.scaleColumns = p.room.scales;
      o.offsets = offsetsToDevice(p.offsets, groups + 1, v->offsetBits);
      CU(MemAlloc(&o.out, (size_t)outBytes(v)));
      CU(MemAlloc(&o.status, 4));
      CU(MemsetD8(o.status, 0, 4));
      Handle start, end;
      CU(EventCreate(&start, 0));
      CU(EventCreate(&end, 0));
      float least = INFINITY;
      for (int turn = 0; turn < 5; ++turn) {
        CU(EventRecord(start, stream));
        launch(v, &o, (unsigned)multiprocessors);
        CU(EventRecord(end, stream));
        CU(EventSynchronize(end));
        float milliseconds;
        CU(EventElapsedTime(&milliseconds, start, end));
        least = turn && milliseconds < least ? milliseconds : least;
      }
      printf("%-20s %5lld rows a group, N %lld, K %lld: %8.1f us, %6.1f "
             "TFLOP/s, %5.2f TB/s of outputs\n",
             v->name, (long long)rows[r], (long long)n, (long long)k,
             (double)least * 1e3,
             2e-9 * (double)(groups * rows[r] * n * k) / (double)least,
             1e-9 * (double)outBytes(v) / (double)least);
      const uint64_t all[] = {o.a, o.b, o.out, o.offsets, o.status};
      for (size_t j = 0; j < sizeof(all) / sizeof(*all); ++j)
        CU(MemFree(all[j]));
      if (o.aScales) {
        CU(MemFree(o.aScales));
        CU(MemFree(o.bScales));
      }
    }
}

int runWgradTests(Handle module, int device, int argc, char **argv) {
  extent = argc == 0                          ? WGRAD_ALL
           : strcmp(argv[0], "emulated") == 0 ? WGRAD_EMULATED
                                              : WGRAD_QUICK;
  CU(StreamCreate(&stream, STREAM_AFTER_NULL));
  CU(DeviceGetAttribute(&multiprocessors, ATTRIBUTE_MULTIPROCESSORS, device));
  CU(ModuleGetFunction(&poisonSharedKernel, module, "poison_shared"));
  for (int i = 0; i < NUM_VARIANTS; ++i)
    CU(ModuleGetFunction(&variants[i].function, module, variants[i].name));
  if (argc && strcmp(argv[0], "bench") == 0) {
    bench();
    return 0;
  }
  if (extent == WGRAD_ALL) {
    testShapes(RAGGED, ragged, RUNS);
    testManyGroups();
  } else {
    const int64_t few[] = {0, 9, 70, 0, 200};
    testShapes(5, few, 0);
  }
  if (extent != WGRAD_EMULATED)
    testReplay();
  testNan();
  testHostile();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
