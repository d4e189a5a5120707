//===- test.c - the device functions against golden files and the CPU ----===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every output lies between guards and is poisoned beforehand; what is compared
// is all of it, so bytes that the op does not own must keep the poison.
//
//===----------------------------------------------------------------------===//

#include "Host.h"
#include "Hostile.h"
#include "Kernels.h"

#include "../../runtime/Npy.h"
#include "gq/Runtime/Cpu.h"
#include "runtime_kernels/scalers/Nvfp4.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  GUARD = 4096,
  POISON = 0xa5,
};

static Handle module;
static int device, passed, failed;
/// On fewer and smaller grids.
static bool quickly;

static void report(bool ok, const char *name, const char *what) {
  ok ? ++passed : ++failed;
  if (!ok)
    printf("FAILED %s: %s\n", name, what);
}

//===----------------------------------------------------------------------===//
// Memory in both places
//===----------------------------------------------------------------------===//

/// An output: `host` is what it must become, the device's is what it does.
typedef struct Output {
  uint8_t *host; // with guards
  DevicePtr device;
  int64_t bytes, shift;
  /// Of hostile offsets, null otherwise: which bytes are expected by nobody
  /// (0), by somebody, or by two who do not agree (2).
  uint8_t *claims;
  /// Of numbers of this type, unless 0, where NaN of the emulation may be
  /// another than a GPU's.
  gqElementType anyNan;
} Output;

/// `shift` moves the output off its alignment.
static Output outputNew(int64_t bytes, int64_t shift) {
  Output o = {.bytes = bytes, .shift = shift};
  int64_t all = bytes + shift + 2 * GUARD;
  o.host = allocateHost(all);
  memset(o.host, POISON, (size_t)all);
  CU(MemAlloc(&o.device, (size_t)all));
  CU(MemsetD8(o.device, POISON, (size_t)all));
  return o;
}

static void *outputHost(Output *o) { return o->host + GUARD + o->shift; }
static DevicePtr outputDevice(Output *o) {
  return o->device + (uint64_t)(GUARD + o->shift);
}

static void outputPoison(Output *o) {
  CU(MemsetD8(o->device, POISON, (size_t)(o->bytes + o->shift + 2 * GUARD)));
}

/// The device's bytes, guards included.
static uint8_t *outputRead(Output *o) {
  int64_t all = o->bytes + o->shift + 2 * GUARD;
  uint8_t *bytes = allocateHost(all);
  CU(MemcpyDtoH(bytes, o->device, (size_t)all));
  return bytes;
}

static bool outputMatches(Output *o, const char *name, const char *what) {
  int64_t begin = GUARD + o->shift, all = o->bytes + begin + GUARD;
  uint8_t *bytes = outputRead(o);
  if (o->anyNan)
    takeNan(o->anyNan, bytes + begin, o->host + begin, o->bytes);
  bool matches =
      bytesMatch(name, what, bytes, o->host, all, begin, o->claims, o->bytes);
  free(bytes);
  return matches;
}

static void outputFree(Output *o) {
  free(o->host);
  free(o->claims);
  CU(MemFree(o->device));
}

/// Without `host` the memory holds anything.
static DevicePtr toDevice(const void *host, int64_t bytes) {
  DevicePtr p;
  CU(MemAlloc(&p, (size_t)(bytes ? bytes : 1)));
  if (bytes && host)
    CU(MemcpyHtoD(p, host, (size_t)bytes));
  return p;
}

static uint32_t readStatus(DevicePtr status) {
  uint32_t bits;
  CU(MemcpyDtoH(&bits, status, 4));
  return bits;
}

//===----------------------------------------------------------------------===//
// A problem
//===----------------------------------------------------------------------===//

typedef struct Problem {
  const char *name;
  gqElementType type;
  gqFormat format;
  gqRecipe recipe;
  /// Scales are linear, not in tiles, or tiles of groups without gaps.
  bool linear, packed;
  /// By a hook that loads ahead; and by CTAs that stay.
  bool ahead, stays;
  /// Data are numbers of this type, without scales; 0 for codes.
  gqElementType numbers;
  /// 0: no outer scale, 1: one, 2: one per group, 3: one per row.
  int kind;
  /// Rounded stochastically.
  bool draws;
  /// i64 offsets, and rows = grouped.
  bool wide;
  int64_t rows, columns, groups, numOffsets, scaleRows;
  /// Elements between rows beyond the columns, and bytes that pointers are off
  /// their alignment.
  int64_t gap, shift;
  int64_t *offsets, *scaleOffsets;
  void *input; // inputRows * (columns + gap) elements
  float *outer;
  /// Of row indices, 0 if there are none.
  int indexBits;
  int64_t sourceRows;
  int64_t *rowIndices;
} Problem;

static int64_t inputRows(const Problem *p) {
  return p->indexBits ? p->sourceRows : p->rows;
}

static gqFormatTraits traitsOf(const Problem *p) {
  return gqFormatGetTraits(p->format);
}

/// Of a row, without padding.
static int64_t dataBytes(const Problem *p) {
  return p->numbers ? p->columns * gqElementTypeSize(p->numbers)
                    : p->columns * traitsOf(p).dataBits / 8;
}

static int64_t scaleColumns(const Problem *p) {
  return p->columns / traitsOf(p).blockColumns;
}

/// Of an element of the outputs as they are shifted.
static int64_t dataUnit(const Problem *p) {
  return p->numbers ? gqElementTypeSize(p->numbers) : 1;
}

/// Bytes from one row of the outputs to the next.
static int64_t dataStride(const Problem *p) {
  return dataBytes(p) + (p->gap ? p->gap / 2 + p->shift : 0) * dataUnit(p);
}

static int64_t scalesStride(const Problem *p) {
  if (p->numbers)
    return 0;
  if (!p->linear)
    return up(scaleColumns(p), 4);
  return (scaleColumns(p) + (p->gap != 0)) *
         gqElementTypeSize(traitsOf(p).scaleType);
}

static int64_t scalesSize(const Problem *p) {
  return (p->linear ? p->rows : p->scaleRows) * scalesStride(p);
}

static const char *kernelName(const Problem *p) {
  static char name[64];
  const char *types[] = {"f16", "bf16", "f32"};
  const char *to[] = {"_to_f16", "_to_bf16", "_to_f32"};
  const char *kinds[] = {"", "_one", "_each", "_rows"};
  snprintf(name, sizeof(name), "%s_%s%s%s%s%s%s%s",
           p->recipe == GQ_RECIPE_TE ? "te" : traitsOf(p).name,
           types[p->type - GQ_F16],
           p->numbers  ? to[p->numbers - GQ_F16]
           : p->linear ? "_linear"
                       : "",
           p->packed ? "_packed" : "", p->indexBits ? "_gathered" : "",
           kinds[p->kind], p->draws ? "_drawn" : "",
           p->stays                        ? "_stays"
           : p->ahead                      ? "_ahead"
           : p->wide || p->indexBits == 64 ? "_i64"
                                           : "");
  return name;
}

/// Integers as i64 or i32.
static void *packIntegers(bool wide, const int64_t *integers, int64_t n) {
  void *packed = allocateHost(n * 8);
  for (int64_t i = 0; i < n; ++i)
    if (wide)
      ((int64_t *)packed)[i] = integers[i];
    else
      ((int32_t *)packed)[i] = (int32_t)integers[i];
  return packed;
}

/// Offsets in the type of the problem.
static void *packOffsets(const Problem *p, const int64_t *offsets, int64_t n) {
  return packIntegers(p->wide, offsets, n);
}

static void *packRowIndices(const Problem *p) {
  return packIntegers(p->indexBits == 64, p->rowIndices,
                      p->indexBits ? p->rows : 0);
}

/// Half of the values are near 1, the others any bits at all.
static void randomInput(Problem *p) {
  int64_t n = inputRows(p) * (p->columns + p->gap);
  int64_t size = gqElementTypeSize(p->type);
  p->input = allocateHost(n * size);
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits = randomBits();
    if (randomBits() % 2) {
      float x = (float)(int32_t)bits * 0x1p-31f;
      memcpy(&bits, &x, 4);
    }
    if (p->type == GQ_F32)
      ((uint32_t *)p->input)[i] = bits;
    else if (p->type == GQ_BF16)
      ((uint16_t *)p->input)[i] = (uint16_t)(bits >> 16);
    else
      ((uint16_t *)p->input)[i] = (uint16_t)(bits >> 13);
  }
}

/// Outer scales that a problem has memory for.
static int64_t numOuter(const Problem *p) {
  return p->kind == 3 ? p->rows : p->groups + 1;
}

/// Sizes of the groups at random, many of them zero, with rows before the first
/// and after the last group and gaps between the scales.
static void randomGroups(Problem *p) {
  p->offsets = allocateHost((p->groups + 1) * 8);
  p->scaleOffsets = allocateHost(p->groups * 8 + 8);
  int64_t row = p->rows / 50, scaleRow = 0;
  for (int64_t e = 0; e < p->groups; ++e) {
    p->offsets[e] = row;
    int64_t left = p->rows - row, most = 2 * p->rows / p->groups + 2;
    int64_t size = randomBits() % 3 ? randomBits() % most : 0;
    row += size < left ? size : left;
    p->scaleOffsets[e] = scaleRow;
    int64_t end =
        p->numOffsets == p->groups && e == p->groups - 1 ? p->rows : row;
    scaleRow += up(end - p->offsets[e], 128);
    if (!p->packed)
      scaleRow += randomBits() % 2 * 128;
  }
  p->offsets[p->groups] = row;
  p->scaleRows = up(scaleRow, 128);
  p->outer = allocateHost(numOuter(p) * 4);
  for (int64_t e = 0; e < numOuter(p); ++e) {
    const float some[] = {1.0f,  37.5f,  2688.0f / 3.3f, 1e-3f,
                          1e30f, 1e-38f, 0.0f,           -3.0f};
    p->outer[e] = some[randomBits() % (e % 4 ? 5 : 8)];
  }
}

/// Each row from any row of the source.
static void randomRowIndices(Problem *p) {
  p->rowIndices = allocateHost(p->rows * 8);
  for (int64_t m = 0; m < p->rows; ++m)
    p->rowIndices[m] = (int64_t)(randomBits() % p->sourceRows);
}

static void problemFree(Problem *p) {
  free(p->rowIndices);
  free(p->offsets);
  free(p->scaleOffsets);
  free(p->input);
  free(p->outer);
}

static gqBuffer buffer(const void *data, gqElementType type, int64_t rank,
                       int64_t a, int64_t b, int64_t stride) {
  gqBuffer result = {.data = (void *)data, .type = type, .rank = rank};
  if (rank > 0) {
    result.sizes[0] = a;
    result.strides[0] = rank > 1 ? stride : 1;
  }
  if (rank > 1) {
    result.sizes[1] = b;
    result.strides[1] = 1;
  }
  return result;
}

/// Seed and offset of stochastic rounding.
static const uint64_t rngState[2] = {0x123456789abcdef0, 77};

/// What the CPU makes of the problem. Returns whether it accepted it.
static bool runCpu(const Problem *p, Output *data, Output *scales) {
  gqFormatTraits traits = traitsOf(p);
  gqElementType index = p->wide ? GQ_I64 : GQ_I32;
  gqBuffer outer = buffer(p->kind ? p->outer : NULL, GQ_F32, p->kind >= 2,
                          p->kind == 3 ? p->rows : p->groups, 0, 0);
  const gqDirectionTraits rowwise = {
      .rounding = p->draws ? GQ_ROUNDING_STOCHASTIC : GQ_ROUNDING_NEAREST,
      .outer = p->kind == 3 ? GQ_OUTER_OF_ROW : GQ_OUTER_OF_GROUP};
  bool te = p->recipe == GQ_RECIPE_TE;
  void *offsets = packOffsets(p, p->offsets, p->numOffsets);
  void *scaleOffsets = packOffsets(p, p->scaleOffsets, p->groups);
  void *rowIndices = packRowIndices(p);
  gqGroupedBlockQuantizeOperands operands = {
      .input = buffer(p->input, p->type, 2, inputRows(p), p->columns,
                      p->columns + p->gap),
      .rowIndices = p->indexBits ? buffer(rowIndices,
                                          p->indexBits == 64 ? GQ_I64 : GQ_I32,
                                          1, p->rows, 0, 0)
                                 : (gqBuffer){0},
      .offsets = buffer(offsets, index, 1, p->numOffsets, 0, 0),
      .scaleOffsets = p->linear || p->packed
                          ? (gqBuffer){0}
                          : buffer(scaleOffsets, index, 1, p->groups, 0, 0),
      .globalScale = te ? (gqBuffer){0} : outer,
      .outerAmax = te ? outer : (gqBuffer){0},
      .rngState =
          p->draws ? buffer(rngState, GQ_I64, 1, 2, 0, 0) : (gqBuffer){0},
      .data = buffer(outputHost(data),
                     p->numbers ? p->numbers : traits.dataType, 2, p->rows,
                     dataBytes(p) / dataUnit(p), dataStride(p) / dataUnit(p)),
  };
  if (!p->numbers)
    operands.scales =
        buffer(outputHost(scales), traits.scaleType, 2,
               p->linear ? p->rows : p->scaleRows,
               p->linear ? scaleColumns(p) : scalesStride(p),
               scalesStride(p) / gqElementTypeSize(traits.scaleType));
  gqCpuGroupedBlockQuantize(
      &operands, p->format, p->recipe,
      p->linear ? GQ_SCALE_LAYOUT_LINEAR : GQ_SCALE_LAYOUT_TILE128X4,
      p->wide ? GQ_ROWS_GROUPED : GQ_ROWS_ALL, gqDirectionPack(&rowwise), 0);
  bool ok = gqCpuStatus() == GQ_OK;
  if (!ok)
    printf("  %s: the CPU: %s\n", p->name, gqGetLastErrorMessage());
  free(rowIndices);
  free(offsets);
  free(scaleOffsets);
  return ok;
}

/// The problem's operands on the device.
static QuantizeRowsOperands makeOperands(const Problem *p, Output *data,
                                         Output *scales) {
  int64_t size = gqElementTypeSize(p->type);
  int64_t bytes = inputRows(p) * (p->columns + p->gap) * size;
  int64_t shift = p->shift ? size : 0;
  QuantizeRowsOperands o = {
      .inputStride = p->columns + p->gap,
      .rows = p->rows,
      .columns = p->columns,
      .numOffsets = p->numOffsets,
      .groups = p->groups,
      .data = outputDevice(data),
      .dataStride = dataStride(p),
      .scales = outputDevice(scales),
      .scalesStride = scalesStride(p),
      .scaleRows = p->scaleRows,
      .sourceRows = p->sourceRows,
  };
  uint8_t *shifted = allocateHost(bytes + shift);
  if (bytes)
    memcpy(shifted + shift, p->input, (size_t)bytes);
  o.input = toDevice(shifted, bytes + shift) + (uint64_t)shift;
  free(shifted);
  void *packed = packOffsets(p, p->offsets, p->numOffsets);
  o.offsets = toDevice(packed, p->numOffsets * (p->wide ? 8 : 4));
  free(packed);
  packed = packOffsets(p, p->scaleOffsets, p->groups);
  o.scaleOffsets = toDevice(packed, p->groups * (p->wide ? 8 : 4));
  free(packed);
  packed = packRowIndices(p);
  o.rowIndices =
      toDevice(packed, p->indexBits ? p->rows * (p->indexBits / 8) : 0);
  free(packed);
  o.outer = toDevice(p->outer, numOuter(p) * 4);
  o.rngState = toDevice(rngState, sizeof(rngState));
  o.status = toDevice(&(uint32_t){0}, 4);
  if (p->packed)
    o.scaleOffsetsOut = toDevice(NULL, p->groups * (p->wide ? 8 : 4));
  return o;
}

static void freeOperands(const Problem *p, QuantizeRowsOperands *o) {
  int64_t shift = p->shift ? gqElementTypeSize(p->type) : 0;
  CU(MemFree(o->input - (uint64_t)shift));
  CU(MemFree(o->rowIndices));
  CU(MemFree(o->offsets));
  CU(MemFree(o->scaleOffsets));
  if (p->packed)
    CU(MemFree(o->scaleOffsetsOut));
  CU(MemFree(o->outer));
  CU(MemFree(o->rngState));
  CU(MemFree(o->status));
}

static Output newData(const Problem *p) {
  Output data = outputNew(p->rows * dataStride(p), p->shift * dataUnit(p));
  data.anyNan = module ? 0 : p->numbers; // Without a module it is emulated.
  return data;
}

static Output newScales(const Problem *p) {
  return outputNew(scalesSize(p), p->shift);
}

static bool returnsScaleOffsets(const Problem *p,
                                const QuantizeRowsOperands *o) {
  int64_t bytes = p->groups * (p->wide ? 8 : 4);
  void *expected = packOffsets(p, p->scaleOffsets, p->groups);
  void *computed = allocateHost(bytes);
  CU(MemcpyDtoH(computed, o->scaleOffsetsOut, (size_t)bytes));
  bool equal = memcmp(expected, computed, (size_t)bytes) == 0;
  free(expected);
  free(computed);
  return equal;
}

/// Runs a kernel on poisoned outputs and a status of 0, and waits for it.
static void runKernel(Kernel kernel, const QuantizeRowsOperands *o,
                      unsigned ctas, Output *data, Output *scales) {
  outputPoison(data);
  outputPoison(scales);
  CU(MemsetD8(o->status, 0, 4));
  launchRows(kernel, o, ctas, NULL);
  CU(CtxSynchronize());
}

/// Frees a problem that the CPU has solved too.
static void freeAll(Problem *p, QuantizeRowsOperands *o, Output *data,
                    Output *scales) {
  freeOperands(p, o);
  outputFree(data);
  outputFree(scales);
  problemFree(p);
}

/// Runs a problem on several grids. `data` and `scales` are expected bytes, or
/// null: the CPU's.
static void runProblem(const Problem *p, const void *data, const void *scales) {
  Output out = newData(p), outScales = newScales(p);
  bool accepted = true;
  if (data) {
    memcpy(outputHost(&out), data, (size_t)out.bytes);
    memcpy(outputHost(&outScales), scales, (size_t)outScales.bytes);
  } else {
    accepted = runCpu(p, &out, &outScales);
  }
  QuantizeRowsOperands o = makeOperands(p, &out, &outScales);
  Kernel kernel = kernelGet(module, kernelName(p), device);
  const unsigned grids[] = {1, 0, quickly ? 21 : 1777, 3};
  for (int i = p->rows * p->columns > 1 << 22 ? 1 : 0;
       accepted && i < (quickly ? 3 : 4); ++i) {
    runKernel(kernel, &o, grids[i], &out, &outScales);
    char name[128];
    snprintf(name, sizeof(name), "%s (%s, %lldx%lld, G %lld, grid %u)", p->name,
             kernelName(p), (long long)p->rows, (long long)p->columns,
             (long long)p->groups, grids[i]);
    bool ok = outputMatches(&out, name, "data");
    ok &= outputMatches(&outScales, name, "scales");
    ok &= readStatus(o.status) == 0;
    ok &= !p->packed || returnsScaleOffsets(p, &o);
    report(ok, name, "bytes, offsets or status");
  }
  if (!accepted)
    report(false, p->name, "not accepted by the CPU");
  freeOperands(p, &o);
  outputFree(&out);
  outputFree(&outScales);
}

//===----------------------------------------------------------------------===//
// Golden files
//===----------------------------------------------------------------------===//

static Npy golden(const char *directory, const char *name, const char *array) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s/%s.npy", directory, name, array);
  return npyRead(path);
}

/// i32 or i64 of a file.
static int64_t *unpackIntegers(const Npy *array) {
  int64_t n = npyNumElements(array);
  int64_t *integers = allocateHost(n * 8);
  for (int64_t i = 0; i < n; ++i)
    integers[i] = array->elementSize == 8 ? ((int64_t *)array->data)[i]
                                          : ((int32_t *)array->data)[i];
  return integers;
}

static void testGolden(const char *directory) {
  const struct {
    const char *name;
    gqElementType type;
    gqFormat format;
    gqRecipe recipe;
    /// The file of outer scales, one of all or one per group.
    const char *outer;
  } cases[] = {
      {"nvfp4_f32_four_groups", GQ_F32, GQ_FORMAT_NVFP4, 0, NULL},
      {"nvfp4_bf16_four_groups", GQ_BF16, GQ_FORMAT_NVFP4, 0, NULL},
      {"nvfp4_bf16_global_scale", GQ_BF16, GQ_FORMAT_NVFP4, 0, "global_scale"},
      {"nvfp4_f16_padded_scale_columns", GQ_F16, GQ_FORMAT_NVFP4, 0, NULL},
      {"nvfp4_bf16_empty_groups", GQ_BF16, GQ_FORMAT_NVFP4, 0, NULL},
      {"nvfp4_f32_edge_blocks", GQ_F32, GQ_FORMAT_NVFP4, 0, NULL},
      {"nvfp4_te_row_and_column", GQ_BF16, GQ_FORMAT_NVFP4, GQ_RECIPE_TE,
       "amax"},
      {"mxfp8_e4m3", GQ_BF16, GQ_FORMAT_MXFP8_E4M3, 0, NULL},
      {"mxfp8_e5m2", GQ_BF16, GQ_FORMAT_MXFP8_E5M2, 0, NULL},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    const char *name = cases[i].name;
    Npy input = golden(directory, name, "input");
    Npy offsets = golden(directory, name, "offsets");
    Npy scaleOffsets = golden(directory, name, "scale_offsets");
    Npy data = golden(directory, name, "data");
    Npy scales = golden(directory, name, "scales");
    Npy outer = {0};
    if (cases[i].outer)
      outer = golden(directory, name, cases[i].outer);
    if (!input.data || !offsets.data || !data.data || !scales.data ||
        (cases[i].outer && !outer.data)) {
      report(false, name, "not read");
      continue;
    }
    Problem p = {.name = name,
                 .type = cases[i].type,
                 .format = cases[i].format,
                 .recipe = cases[i].recipe,
                 .rows = input.sizes[0],
                 .columns = input.sizes[1],
                 .numOffsets = offsets.sizes[0],
                 .offsets = unpackIntegers(&offsets),
                 .input = input.data};
    p.groups = scaleOffsets.data ? scaleOffsets.sizes[0] : p.numOffsets - 1;
    if (scaleOffsets.data) {
      p.scaleOffsets = unpackIntegers(&scaleOffsets);
    } else { // packed
      p.scaleOffsets = allocateHost(p.numOffsets * 8);
      for (int64_t e = 0; e < p.groups; ++e)
        p.scaleOffsets[e + 1] =
            p.scaleOffsets[e] + up(p.offsets[e + 1] - p.offsets[e], 128);
    }
    p.outer = allocateHost(numOuter(&p) * 4);
    if (outer.data) {
      int64_t n = npyNumElements(&outer);
      p.kind = n == 1 ? 1 : 2;
      memcpy(p.outer, outer.data, (size_t)n * 4);
    }
    int64_t width = scalesStride(&p);
    p.scaleRows = scales.sizes[0] / width;
    // Bytes of the file that no group owns are zero, on the device poison.
    uint8_t *owned = allocateHost(scales.sizes[0]);
    memset(owned, POISON, (size_t)scales.sizes[0]);
    for (int64_t e = 0; e < p.groups; ++e) {
      int64_t end = e + 1 < p.numOffsets ? p.offsets[e + 1] : p.rows;
      int64_t at = p.scaleOffsets[e] * width;
      memcpy(owned + at, (uint8_t *)scales.data + at,
             (size_t)(up(end - p.offsets[e], 128) * width));
    }
    runProblem(&p, data.data, owned);
    free(owned);
    p.input = NULL;
    problemFree(&p);
    npyFree(&input);
    npyFree(&offsets);
    npyFree(&scaleOffsets);
    npyFree(&data);
    npyFree(&scales);
    npyFree(&outer);
  }
}

//===----------------------------------------------------------------------===//
// Random problems
//===----------------------------------------------------------------------===//

static void randomProblem(Problem p, bool closed) {
  if (isLeftOut())
    return;
  p.numOffsets = p.groups + closed;
  randomInput(&p);
  randomGroups(&p);
  runProblem(&p, NULL, NULL);
  problemFree(&p);
}

static void testRandom(bool quick) {
  const gqElementType types[] = {GQ_F32, GQ_BF16, GQ_F16};
  const int64_t rows[] = {0, 1, 127, 128, 129, 777};
  const int64_t columns[] = {16, 48, 144, 1136, 5120, 16384};
  const int64_t groups[] = {1, 2, 7, 33, 128, 1000, 4096};
  for (int t = 0; t < 3; ++t) {
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) {
        int g = (r + 2 * c + t) % 7, variant = (r + c) % 4;
        if (quick && rows[r] * columns[c] > 100000)
          continue;
        randomProblem((Problem){.name = "random",
                                .type = types[t],
                                .kind = variant % 3,
                                .wide = variant == 3,
                                .rows = rows[r],
                                .columns = columns[c],
                                .groups = groups[g]},
                      (r + c + t) % 2);
      }
    for (int g = 0; g < 7; ++g)
      randomProblem((Problem){.name = "groups",
                              .type = types[t],
                              .kind = g % 3,
                              .rows = quick ? 300 : 3000,
                              .columns = quick ? 64 : 256,
                              .groups = groups[g]},
                    g % 2);
    Problem small = {.type = types[t],
                     .rows = 300,
                     .columns = 208,
                     .groups = 5,
                     .gap = 16,
                     .name = "gap"};
    for (small.kind = 0; small.kind < 3; ++small.kind)
      randomProblem(small, true);
    small.kind = 0;
    small.shift = 1;
    small.name = "unaligned";
    randomProblem(small, true);
    small.gap = 2;
    small.shift = 0;
    small.name = "stride";
    randomProblem(small, true);
    small.gap = 3;
    small.shift = 1;
    small.columns = 144;
    small.name = "both";
    randomProblem(small, false);
  }
  // Runs of pieces are fewer than warps, not a multiple of them, and have one
  // piece or two.
  for (int i = 0; i < 24; ++i)
    randomProblem(
        (Problem){.name = i < 12 ? "ahead" : "stays",
                  .type = GQ_BF16,
                  .format = i % 2 ? GQ_FORMAT_MXFP8_E4M3 : GQ_FORMAT_NVFP4,
                  .ahead = true,
                  .stays = i >= 12,
                  .rows = rows[i % 12 / 2],
                  .columns = 32 * (1 + 37 * (i % 3)),
                  .groups = 1 + i % 12},
        i % 4 < 2);
  if (quick)
    return;
  Problem large = {.name = "million rows",
                   .type = GQ_BF16,
                   .rows = 1000003,
                   .columns = 48,
                   .groups = 4096};
  randomProblem(large, true);
  large.name = "large";
  large.rows = 8192;
  large.columns = 5120;
  large.groups = 128;
  randomProblem(large, true);
  large.format = GQ_FORMAT_MXFP8_E4M3;
  randomProblem(large, true);
  large.format = GQ_FORMAT_NVFP4;
  large.kind = 2;
  large.rows = 4096;
  large.columns = 8192;
  randomProblem(large, true);
  large.type = GQ_F32;
  large.kind = 1;
  large.rows = 5000;
  large.columns = 2880;
  large.groups = 33;
  randomProblem(large, true);
}

//===----------------------------------------------------------------------===//
// Other formats and layouts
//===----------------------------------------------------------------------===//

/// A format, a recipe or a layout beside nvfp4 in tiles: its kernels differ
/// from those above only in how a block becomes codes and a scale.
static void formatProblems(Problem p, bool quick) {
  const int64_t rows[] = {0, 1, 129, 777}, groups[] = {1, 7, 33, 1000};
  const int64_t columns[] = {1, 3, 11, 40}; // in blocks
  int64_t block = traitsOf(&p).blockColumns;
  p.name = "format";
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) {
      p.rows = rows[r];
      p.columns = columns[c] * block;
      p.groups = groups[(r + c) % 4];
      if (!quick || p.rows * p.columns <= 100000)
        randomProblem(p, p.linear || p.packed || (r + c) % 2);
    }
  // Padding of four columns of scales, and outputs that are written bytewise.
  p.rows = 300;
  p.columns = 9 * block;
  p.groups = 5;
  for (p.gap = 0; p.gap <= 16; p.gap += 16)
    randomProblem(p, true);
}

static void testFormats(bool quick) {
  enum {
    MXFP4 = GQ_FORMAT_MXFP4,
    E4M3 = GQ_FORMAT_MXFP8_E4M3,
    E5M2 = GQ_FORMAT_MXFP8_E5M2,
    E5M2_ROWS = GQ_FORMAT_FP8_E5M2_1X128
  };
  const gqElementType types[] = {GQ_F32, GQ_BF16, GQ_F16};
  for (int t = 0; t < 3; ++t) {
    Problem p = {.type = types[t], .recipe = GQ_RECIPE_TE, .kind = 1};
    formatProblems(p, quick);
    p.kind = 2;
    formatProblems(p, quick);
    for (int f = 0; f < GQ_NUM_FORMATS; ++f) {
      gqFormatTraits traits = gqFormatGetTraits((gqFormat)f);
      if (f != GQ_FORMAT_NVFP4 && traits.blockRows == 1)
        formatProblems((Problem){.type = types[t],
                                 .format = (gqFormat)f,
                                 .linear = traits.scaleType == GQ_F32},
                       quick);
    }
  }
  const Problem others[] = {
      {.type = GQ_BF16, .packed = true},
      {.type = GQ_F32, .packed = true, .wide = true},
      {.type = GQ_F16, .format = E4M3, .packed = true},
      {.type = GQ_BF16, .recipe = GQ_RECIPE_TE, .kind = 2, .wide = true},
      {.type = GQ_BF16, .linear = true},
      {.type = GQ_F32, .format = MXFP4, .wide = true},
      {.type = GQ_F16, .format = MXFP4, .linear = true},
      {.type = GQ_BF16, .format = E4M3, .wide = true},
      {.type = GQ_BF16, .format = E5M2, .wide = true},
      {.type = GQ_F32, .format = E4M3, .linear = true},
      {.type = GQ_BF16, .format = E5M2, .linear = true},
      {.type = GQ_F32, .format = E5M2_ROWS, .linear = true, .wide = true},
      {.type = GQ_BF16, .recipe = GQ_RECIPE_TE, .kind = 3},
      {.type = GQ_F32, .recipe = GQ_RECIPE_TE, .kind = 3},
      {.type = GQ_BF16, .recipe = GQ_RECIPE_TE, .kind = 3, .draws = true},
      {.type = GQ_F16, .recipe = GQ_RECIPE_TE, .kind = 2, .draws = true},
      {.type = GQ_BF16, .draws = true},
      {.type = GQ_F32, .draws = true}};
  for (size_t i = 0; i < sizeof(others) / sizeof(*others); ++i)
    formatProblems(others[i], quick);

  // Inputs and outputs off their alignment.
  for (int t = 0; t < 4; ++t)
    for (int gap = 2; gap <= 16; gap += 14)
      randomProblem((Problem){.name = "unaligned",
                              .type = types[t < 3 ? t : 2],
                              .format = t < 3 ? E4M3 : MXFP4,
                              .rows = 300,
                              .columns = 224,
                              .groups = 5,
                              .gap = gap,
                              .shift = gap == 16},
                    true);
  randomProblem((Problem){.name = "unaligned",
                          .type = GQ_BF16,
                          .draws = true,
                          .rows = 300,
                          .columns = 224,
                          .groups = 5,
                          .gap = 2},
                true);
}

/// The numbers that codes stand for; what is not asked of codes is not asked of
/// these either.
static void testNumbers(bool quick) {
  const gqElementType f16 = GQ_F16, bf16 = GQ_BF16, f32 = GQ_F32;
  const gqRecipe te = GQ_RECIPE_TE;
  for (int f = 0; f < GQ_NUM_FORMATS; ++f) {
    gqFormat format = (gqFormat)f;
    Problem p = {.type = bf16, .format = format, .numbers = bf16};
    if (traitsOf(&p).blockRows > 1)
      continue;
    p.linear = true;
    formatProblems(p, quick);
    p.type = p.numbers = f32;
    p.wide = true;
    formatProblems(p, quick);
  }
  for (gqRecipe recipe = 0; recipe <= te; ++recipe) {
    const Problem outers[] = {{.type = bf16, .numbers = f16, .kind = 1},
                              {.type = f16, .numbers = f32, .kind = 2},
                              {.type = bf16, .numbers = bf16, .kind = 2}};
    for (int i = 0; i < 3; ++i) {
      Problem p = outers[i];
      p.recipe = recipe;
      p.linear = true;
      formatProblems(p, quick);
    }
  }
  const Problem unaligned[] = {
      {.type = f32, .numbers = f16},
      {.type = bf16, .format = GQ_FORMAT_MXFP8_E4M3, .numbers = f32}};
  for (int i = 0; i < 2; ++i) {
    Problem p = unaligned[i];
    p.name = "unaligned numbers";
    p.linear = true;
    p.rows = 300;
    p.columns = 224;
    p.groups = 5;
    p.shift = 1;
    p.gap = 3;
    randomProblem(p, true);
  }
}

//===----------------------------------------------------------------------===//
// All bf16
//===----------------------------------------------------------------------===//

/// The largest bf16 that as a block's largest magnitude makes this scale.
static uint16_t largestAmax(uint8_t scale) {
  uint16_t bits = 0x7f80; // inf
  while (gq_dev_nvfp4_scale(gq_dev_f32_from_bf16(bits), 1.0f) != scale)
    --bits;
  return bits;
}

/// Every bf16 in blocks of every scale that it can be in: bf16 is converted in
/// a way of its own, see gq_dev_nvfp4_spaced.
static void testAllBf16(void) {
  enum { COLUMNS = 1024, SCALES = 127 };
  const int64_t capacity = SCALES * (INT64_C(65536) / 15 + 1) * 16;
  Problem p = {.name = "all bf16",
               .type = GQ_BF16,
               .columns = COLUMNS,
               .groups = 1,
               .numOffsets = 2};
  uint16_t *input = allocateHost((capacity + COLUMNS) * 2);
  int64_t n = 0;
  for (int scale = 0; scale < SCALES; ++scale) {
    uint16_t amax = largestAmax((uint8_t)scale);
    for (uint32_t x = 0; x < 65536; ++x) {
      uint32_t magnitude = x & 0x7fff;
      if (magnitude > amax && magnitude <= 0x7f80)
        continue;
      if (n % 16 == 0)
        input[n++] = amax;
      input[n++] = (uint16_t)x;
    }
    while (n % 16)
      input[n++] = amax;
  }
  for (; n % COLUMNS; ++n)
    input[n] = 0;
  p.input = input;
  p.rows = n / COLUMNS;
  p.scaleRows = up(p.rows, 128);
  p.offsets = allocateHost(2 * 8);
  p.scaleOffsets = allocateHost(8);
  p.offsets[1] = p.rows;
  runProblem(&p, NULL, NULL);
  problemFree(&p);
}

//===----------------------------------------------------------------------===//
// Row indices
//===----------------------------------------------------------------------===//

static void runGathered(Problem p) {
  p.name = "gather";
  p.groups = 7;
  p.numOffsets = 8;
  randomInput(&p);
  randomGroups(&p);
  randomRowIndices(&p);
  runProblem(&p, NULL, NULL);
  problemFree(&p);
}

static void gatheredProblem(gqElementType type, gqFormat format, int indexBits,
                            int64_t rows, int64_t sourceRows, int64_t columns,
                            int64_t gap, int64_t shift) {
  runGathered((Problem){.type = type,
                        .format = format,
                        .rows = rows,
                        .columns = columns,
                        .gap = gap,
                        .shift = shift,
                        .indexBits = indexBits,
                        .sourceRows = sourceRows});
}

/// Rows with a wrong index are zeros, nothing is read for them, and the status
/// tells: as if the source had one more row, of zeros.
static void hostileRowIndices(const char *name, gqElementType type,
                              gqFormat format, int indexBits,
                              int64_t sourceRows, int64_t columns, int64_t gap,
                              int64_t wrong) {
  Problem p = {.name = name,
               .type = type,
               .format = format,
               .rows = 300,
               .columns = columns,
               .groups = 7,
               .numOffsets = 8,
               .gap = gap,
               .indexBits = indexBits,
               .sourceRows = sourceRows + 1};
  randomInput(&p);
  randomGroups(&p);
  randomRowIndices(&p);
  int64_t rowBytes = (columns + gap) * gqElementTypeSize(type);
  memset((uint8_t *)p.input + sourceRows * rowBytes, 0, (size_t)rowBytes);
  p.rowIndices[17] = sourceRows;
  Output data = newData(&p), scales = newScales(&p);
  bool ok = runCpu(&p, &data, &scales);
  // On the device the source ends before the zeros, and others follow.
  for (int64_t m = 0; m < p.rows; ++m)
    if (p.rowIndices[m] == sourceRows)
      p.rowIndices[m] = wrong;
  memset((uint8_t *)p.input + sourceRows * rowBytes, 0x3c, (size_t)rowBytes);
  p.sourceRows = sourceRows;
  QuantizeRowsOperands o = makeOperands(&p, &data, &scales);
  Kernel kernel = kernelGet(module, kernelName(&p), device);
  for (unsigned ctas = 1; ctas < 100; ctas += 70) {
    runKernel(kernel, &o, ctas, &data, &scales);
    ok &= outputMatches(&data, name, "data");
    ok &= outputMatches(&scales, name, "scales");
    report(ok && readStatus(o.status) == GQ_DEV_STATUS_ROW_INDICES, name,
           "bytes or status");
  }
  freeAll(&p, &o, &data, &scales);
}

static void testGather(void) {
  const gqElementType types[] = {GQ_F32, GQ_BF16, GQ_F16};
  runGathered((Problem){.type = GQ_BF16,
                        .numbers = GQ_BF16,
                        .linear = true,
                        .rows = 777,
                        .columns = 1136,
                        .indexBits = 32,
                        .sourceRows = 100});
  for (int t = 0; t < 3; ++t) {
    for (int bits = 32; bits <= 64; bits += 32) {
      gatheredProblem(types[t], GQ_FORMAT_NVFP4, bits, 777, 100, 1136, 0, 0);
      gatheredProblem(types[t], GQ_FORMAT_NVFP4, bits, 129, 3000, 64, 16, 0);
      gatheredProblem(types[t], GQ_FORMAT_NVFP4, bits, 0, 5, 64, 0, 0);
      gatheredProblem(types[t], GQ_FORMAT_NVFP4, bits, 1, 1, 16, 0, 0);
      hostileRowIndices("index -1", types[t], GQ_FORMAT_NVFP4, bits, 50, 144, 0,
                        -1);
      hostileRowIndices("index N", types[t], GQ_FORMAT_NVFP4, bits, 50, 144, 0,
                        50);
      hostileRowIndices("N = 0", types[t], GQ_FORMAT_NVFP4, bits, 0, 144, 0, 0);
    }
    gatheredProblem(types[t], GQ_FORMAT_NVFP4, 32, 300, 40, 208, 3, 1);
    gatheredProblem(types[t], GQ_FORMAT_MXFP8_E4M3, 32, 777, 100, 1120, 0, 0);
    gatheredProblem(types[t], GQ_FORMAT_MXFP8_E4M3, 32, 129, 3000, 64, 16, 0);
    hostileRowIndices("MX, index -1", types[t], GQ_FORMAT_MXFP8_E4M3, 32, 50,
                      160, 0, -1);
    hostileRowIndices("unaligned index -1", types[t], GQ_FORMAT_NVFP4, 32, 50,
                      144, 2, -1);
    hostileRowIndices("unaligned N = 0", types[t], GQ_FORMAT_NVFP4, 32, 0, 144,
                      2, 7);
    hostileRowIndices("index 2^62", types[t], GQ_FORMAT_NVFP4, 64, 50, 144, 0,
                      INT64_C(1) << 62);
    hostileRowIndices("index -2^62", types[t], GQ_FORMAT_NVFP4, 64, 50, 144, 0,
                      -(INT64_C(1) << 62));
  }
}

/// The two ops give what the one gives.
static void testTwoOps(void) {
  const int64_t shapes[][3] = {
      {777, 1120, 7}, {129, 96, 33}, {1000, 5120, 128}};
  for (int i = 0; i < 3 * GQ_NUM_FORMATS; ++i) {
    gqFormat format = (gqFormat)(i / 3);
    gqFormatTraits traits = gqFormatGetTraits(format);
    if (traits.blockRows > 1 || traits.scaleType == GQ_F32)
      continue;
    Problem p = {.name = "two ops",
                 .type = GQ_BF16,
                 .format = format,
                 .rows = shapes[i % 3][0],
                 .columns = shapes[i % 3][1],
                 .groups = shapes[i % 3][2],
                 .numOffsets = shapes[i % 3][2] + 1};
    randomInput(&p);
    randomGroups(&p);
    Output data = newData(&p), scales = newScales(&p);
    bool ok = runCpu(&p, &data, &scales);
    QuantizeRowsOperands o = makeOperands(&p, &data, &scales);
    char name[64];
    snprintf(name, sizeof(name), "block_%s", traits.name);
    DevicePtr linear = toDevice(NULL, p.rows * scaleColumns(&p));
    launchTwoOps(kernelGet(module, name, device),
                 kernelGet(module, "preprocess", device), &o, linear,
                 scaleColumns(&p), NULL);
    CU(CtxSynchronize());
    ok &= outputMatches(&data, name, "data");
    ok &= outputMatches(&scales, name, "scales");
    report(ok && readStatus(o.status) == 0, name, "bytes or status");
    CU(MemFree(linear));
    freeAll(&p, &o, &data, &scales);
  }
}

//===----------------------------------------------------------------------===//
// Hostile offsets
//===----------------------------------------------------------------------===//

enum { NOT_WRITTEN = -1 };

/// Expects a byte, or that it is left alone.
static void claim(Output *o, int64_t at, int byte) {
  uint8_t *expected = (uint8_t *)outputHost(o) + at;
  uint8_t value = byte == NOT_WRITTEN ? POISON : (uint8_t)byte;
  o->claims[at] = o->claims[at] && *expected != value ? 2 : o->claims[at] | 1;
  *expected = value;
}

static void claimAnything(Output *o, int64_t at) { o->claims[at] = 2; }

/// The groups of a hostile problem, by what Faults.h says.
typedef struct HostileRows {
  /// Of groups that are skipped, 0.
  int64_t rows[HOSTILE_GROUPS], scaleBegin[HOSTILE_GROUPS];
  /// Who has a row: how many groups and none, and how many of those are not
  /// skipped.
  int owners[HOSTILE_ROWS], users[HOSTILE_ROWS];
  /// How many groups that are not skipped.
  int groups[HOSTILE_ROWS];
  uint32_t status;
} HostileRows;

static HostileRows hostileRowsOf(const Problem *p) {
  HostileRows h = {.status = 0};
  bool given = !p->linear && !p->packed;
  int64_t packed = 0;
  for (int64_t e = 0; e < p->groups; ++e) {
    int64_t begin = p->offsets[e], end = p->offsets[e + 1];
    bool used = begin >= 0 && begin <= end && end <= p->rows;
    h.status |= used ? 0 : GQ_DEV_STATUS_OFFSETS;
    int64_t rows = used ? end - begin : 0, at = packed;
    if (given) {
      at = p->scaleOffsets[e];
      bool inside = at >= 0 && at % 128 == 0 && at <= p->scaleRows &&
                    up(rows, 128) <= p->scaleRows - at;
      h.status |= inside ? 0 : GQ_DEV_STATUS_SCALE_OFFSETS;
      used &= inside;
      if (used && e + 1 < p->groups &&
          up(rows, 128) > p->scaleOffsets[e + 1] - at)
        h.status |= GQ_DEV_STATUS_SCALE_OFFSETS;
    }
    if (p->packed) {
      p->scaleOffsets[e] = packed; // what is to be returned
      packed += up(rows, 128);
      h.status |= packed > p->scaleRows ? GQ_DEV_STATUS_SIZES : 0;
      used &= packed <= p->scaleRows;
    }
    h.rows[e] = used ? rows : 0;
    h.scaleBegin[e] = at;
    for (int64_t r = 0; r < p->rows; ++r)
      if (begin <= r && r < end) {
        ++h.owners[r];
        h.users[r] += used;
        h.groups[r] += used;
      }
  }
  for (int64_t r = 0; r < p->rows; ++r)
    if (r < p->offsets[0] || r >= p->offsets[p->groups]) {
      ++h.owners[r];
      h.users[r] += !p->wide; // rows = grouped
    }
  return h;
}

/// What becomes of the scales: `linear` holds those of all rows.
static void claimScales(const Problem *p, const HostileRows *h,
                        const uint8_t *linear, Output *scales) {
  int64_t columns = scaleColumns(p), width = scalesStride(p);
  for (int64_t r = 0; p->linear && r < p->rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      if (h->groups[r] != 0 && h->groups[r] != h->owners[r])
        claimAnything(scales, r * width + c);
      else
        claim(scales, r * width + c,
              h->groups[r] ? linear[r * columns + c] : NOT_WRITTEN);
  for (int64_t e = 0; !p->linear && e < p->groups; ++e) {
    // Rows that others have too may be missing, and padding with them.
    bool isAlone = true;
    for (int64_t r = 0; r < h->rows[e]; ++r)
      isAlone &= h->owners[p->offsets[e] + r] == 1;
    for (int64_t i = 0; i < up(h->rows[e], 128); ++i) {
      int64_t row = p->offsets[e] + i, to = h->scaleBegin[e] + i;
      bool hasRow = i < h->rows[e];
      for (int64_t c = 0; c < width; ++c) {
        int64_t at = to / 128 * 128 * width + c / 4 * 512 + to % 32 * 16 +
                     to % 128 / 32 * 4 + c % 4;
        if (hasRow ? h->owners[row] != 1 : !isAlone)
          claimAnything(scales, at);
        else
          claim(scales, at,
                hasRow && c < columns ? linear[row * columns + c] : 0);
      }
    }
  }
}

/// Runs a kernel of rows, or that of scales, on hostile offsets.
static void hostileProblem(const HostileCase *c, Problem p, bool onlyScales) {
  p.name = c->name;
  p.type = GQ_BF16;
  p.rows = HOSTILE_ROWS;
  p.columns = 160;
  p.groups = HOSTILE_GROUPS;
  p.numOffsets = HOSTILE_GROUPS + 1;
  randomInput(&p);
  p.offsets = allocateHost(5 * 8);
  p.scaleOffsets = allocateHost(4 * 8);
  p.outer = allocateHost(numOuter(&p) * 4);

  // All rows as one group, with linear scales.
  Problem plain = p;
  plain.linear = true;
  plain.packed = false;
  for (int e = 1; e <= HOSTILE_GROUPS; ++e)
    p.offsets[e] = HOSTILE_ROWS;
  Output rightData = newData(&plain), rightScales = newScales(&plain);
  report(runCpu(&plain, &rightData, &rightScales), c->name, "the CPU");

  memcpy(p.offsets, hostileOffsets, sizeof(hostileOffsets));
  memcpy(p.scaleOffsets, hostileScaleOffsets, sizeof(hostileScaleOffsets));
  int64_t needed[HOSTILE_GROUPS + 1] = {0};
  for (int e = 0; e < HOSTILE_GROUPS; ++e)
    needed[e + 1] = needed[e] + up(hostileRows[e], 128);
  p.scaleRows = p.packed ? needed[HOSTILE_GROUPS] : HOSTILE_SCALE_ROWS;
  bool applies = true;
  for (const HostileChange *change = c->changes; change->array; ++change) {
    int entry = change->entry;
    int64_t value = hostileValue(change->value, p.wide ? 64 : 32);
    if (change->array == HOSTILE_OFFSETS)
      p.offsets[entry] = value;
    else if (change->array == HOSTILE_SCALE_OFFSETS && !p.linear && !p.packed)
      p.scaleOffsets[entry] = value;
    else if (change->array == HOSTILE_SCALES && p.packed)
      p.scaleRows = needed[entry + 1] - 128;
    else
      applies = false;
  }
  Output data = newData(&p), scales = newScales(&p);
  if (applies) {
    HostileRows h = hostileRowsOf(&p);
    report((h.status == 0) == hostileIsSound(c), c->name, "what is wrong?");
    data.claims = allocateHost(data.bytes);
    scales.claims = allocateHost(scales.bytes);
    const uint8_t *codes = outputHost(&rightData);
    int64_t width = dataStride(&p);
    for (int64_t r = 0; !onlyScales && r < p.rows; ++r)
      for (int64_t b = 0; b < width; ++b)
        if (h.users[r] != 0 && h.users[r] != h.owners[r])
          claimAnything(&data, r * width + b);
        else
          claim(&data, r * width + b,
                h.users[r] ? codes[r * width + b] : NOT_WRITTEN);
    claimScales(&p, &h, outputHost(&rightScales), &scales);

    QuantizeRowsOperands o = makeOperands(&p, &data, &scales);
    DevicePtr linear =
        toDevice(outputHost(&rightScales), p.rows * scaleColumns(&p));
    Kernel kernel =
        kernelGet(module, onlyScales ? "preprocess" : kernelName(&p), device);
    for (unsigned ctas = 1; ctas < 100; ctas += 70) {
      char name[128];
      snprintf(name, sizeof(name), "%s (%s)", c->name,
               onlyScales ? "preprocess" : kernelName(&p));
      outputPoison(&data);
      outputPoison(&scales);
      CU(MemsetD8(o.status, 0, 4));
      if (onlyScales)
        launchSwizzle(kernel, &o, linear, scaleColumns(&p), ctas, NULL);
      else
        launchRows(kernel, &o, ctas, NULL);
      CU(CtxSynchronize());
      report(outputMatches(&data, name, "data"), name, "data");
      report(outputMatches(&scales, name, "scales"), name, "scales");
      report(!p.packed || returnsScaleOffsets(&p, &o), name, "scale offsets");
      uint32_t status = readStatus(o.status);
      if (status != h.status)
        printf("  %s: status %u, expected %u\n", name, status, h.status);
      report(status == h.status, name, "status");
    }
    CU(MemFree(linear));
    freeOperands(&p, &o);
  }
  outputFree(&data);
  outputFree(&scales);
  outputFree(&rightData);
  outputFree(&rightScales);
  problemFree(&p);
}

static void testHostile(void) {
  const Problem problems[] = {
      {.format = GQ_FORMAT_NVFP4},
      {.format = GQ_FORMAT_NVFP4, .wide = true},
      {.format = GQ_FORMAT_NVFP4, .packed = true},
      {.format = GQ_FORMAT_MXFP8_E4M3},
      {.format = GQ_FORMAT_MXFP8_E4M3, .wide = true},
      {.format = GQ_FORMAT_MXFP8_E5M2, .linear = true},
  };
  for (int i = 0; i < NUM_HOSTILE_CASES; ++i) {
    for (size_t k = 0; k < sizeof(problems) / sizeof(*problems); ++k)
      hostileProblem(&hostileCases[i], problems[k], false);
    hostileProblem(&hostileCases[i], problems[0], true);
  }
}

//===----------------------------------------------------------------------===//
// Graphs and large matrices
//===----------------------------------------------------------------------===//

/// A captured launch reads the offsets when it is replayed.
static void testGraph(void) {
  Problem p = {.name = "graph",
               .type = GQ_BF16,
               .rows = 500,
               .columns = 256,
               .groups = 16,
               .numOffsets = 17};
  randomInput(&p);
  randomGroups(&p);
  p.scaleRows = 512 + 16 * 256;
  Output data = newData(&p), scales = newScales(&p);
  QuantizeRowsOperands o = makeOperands(&p, &data, &scales);
  Kernel kernel = kernelGet(module, kernelName(&p), device);
  Handle stream, graph, executable;
  CU(StreamCreate(&stream, STREAM_AFTER_NULL));
  CU(StreamBeginCapture(stream, 2));
  launchRows(kernel, &o, 0, stream);
  CU(StreamEndCapture(stream, &graph));
  CU(GraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 4; ++i) {
    if (i) {
      free(p.offsets);
      free(p.scaleOffsets);
      free(p.outer);
      randomGroups(&p);
      p.scaleRows = 512 + 16 * 256;
    }
    memset(outputHost(&data), POISON, (size_t)data.bytes);
    memset(outputHost(&scales), POISON, (size_t)scales.bytes);
    bool ok = runCpu(&p, &data, &scales);
    void *packed = packOffsets(&p, p.offsets, 17);
    CU(MemcpyHtoD(o.offsets, packed, 17 * 4));
    free(packed);
    packed = packOffsets(&p, p.scaleOffsets, 16);
    CU(MemcpyHtoD(o.scaleOffsets, packed, 16 * 4));
    free(packed);
    outputPoison(&data);
    outputPoison(&scales);
    CU(CtxSynchronize());
    CU(GraphLaunch(executable, stream));
    CU(StreamSynchronize(stream));
    ok &= outputMatches(&data, p.name, "data");
    ok &= outputMatches(&scales, p.name, "scales");
    report(ok && readStatus(o.status) == 0, p.name, "bytes or status");
  }
  freeAll(&p, &o, &data, &scales);
}

/// More than 2^31 elements. All rows are copies of 512 rows; the last ones are
/// compared.
static void testHuge(gqFormat format) {
  enum { K = 5120, PERIOD = 512, LAST = 300 };
  int64_t rows = (INT64_C(1) << 31) / K / PERIOD * PERIOD + 5 * PERIOD;
  Problem p = {.name = "2^31 elements",
               .type = GQ_BF16,
               .format = format,
               .rows = PERIOD,
               .columns = K,
               .groups = 2,
               .numOffsets = 3};
  randomInput(&p);
  int64_t width = scalesStride(&p), rowBytes = dataBytes(&p);
  p.offsets = allocateHost(3 * 8);
  p.scaleOffsets = allocateHost(2 * 8);
  p.outer = allocateHost(numOuter(&p) * 4);
  memcpy(p.offsets, (int64_t[]){PERIOD - LAST, PERIOD - 100, PERIOD}, 3 * 8);
  memcpy(p.scaleOffsets, (int64_t[]){0, 256}, 2 * 8);
  p.scaleRows = 384;
  Output data = newData(&p), scales = newScales(&p);
  bool ok = runCpu(&p, &data, &scales);

  // Groups: two small ones, a large one, and those of the small problem.
  int64_t middle = up(rows - LAST - 300, 128);
  int32_t offsets[] = {0,
                       100,
                       300,
                       (int32_t)(rows - LAST),
                       (int32_t)(rows - 100),
                       (int32_t)rows};
  int32_t scaleOffsets[] = {0, 128, 384, (int32_t)(384 + middle),
                            (int32_t)(384 + middle + 256)};
  int64_t scaleRows = 384 + middle + 384;
  QuantizeRowsOperands o = {.inputStride = K,
                            .rows = rows,
                            .columns = K,
                            .numOffsets = 6,
                            .groups = 5,
                            .dataStride = rowBytes,
                            .scaleRows = scaleRows};
  o.input = toDevice(NULL, rows * K * 2);
  int64_t done = PERIOD * K * 2, bytes = rows * K * 2;
  CU(MemcpyHtoD(o.input, p.input, (size_t)done));
  while (done < bytes) {
    int64_t n = bytes - done < done ? bytes - done : done;
    CU(MemcpyDtoDAsync(o.input + (uint64_t)done, o.input, (size_t)n, NULL));
    done += n;
  }
  o.data = toDevice(NULL, rows * rowBytes);
  o.scales = toDevice(NULL, scaleRows * width);
  CU(MemsetD8(o.scales, POISON, (size_t)(scaleRows * width)));
  o.offsets = toDevice(offsets, sizeof(offsets));
  o.scaleOffsets = toDevice(scaleOffsets, sizeof(scaleOffsets));
  o.status = toDevice(&(uint32_t){0}, 4);
  Kernel kernel = kernelGet(module, kernelName(&p), device);
  launchRows(kernel, &o, 0, NULL);
  CU(CtxSynchronize());
  uint8_t *lastData = allocateHost(LAST * rowBytes);
  uint8_t *lastScales = allocateHost(384 * width);
  CU(MemcpyDtoH(lastData, o.data + (uint64_t)((rows - LAST) * rowBytes),
                LAST * rowBytes));
  CU(MemcpyDtoH(lastScales, o.scales + (uint64_t)((384 + middle) * width),
                (size_t)(384 * width)));
  ok &= memcmp(lastData,
               (uint8_t *)outputHost(&data) + (PERIOD - LAST) * rowBytes,
               LAST * rowBytes) == 0;
  ok &= memcmp(lastScales, outputHost(&scales), (size_t)(384 * width)) == 0;
  report(ok && readStatus(o.status) == 0, p.name, "bytes or status");
  free(lastData);
  free(lastScales);
  CU(MemFree(o.input));
  CU(MemFree(o.data));
  CU(MemFree(o.scales));
  CU(MemFree(o.offsets));
  CU(MemFree(o.scaleOffsets));
  CU(MemFree(o.status));
  outputFree(&data);
  outputFree(&scales);
  problemFree(&p);
}

int runTests(Handle kernels, int ordinal, int argc, char **argv) {
  bool quick = argc > 1;
  module = kernels;
  device = ordinal;
  quickly = quick;
  testGolden(argv[0]);
  testRandom(quick);
  if (!quick)
    testAllBf16();
  testGather();
  testFormats(quick);
  testNumbers(quick);
  testTwoOps();
  testHostile();
  testOffsets(module, device, report);
  testGraph();
  if (!quick) {
    testHuge(GQ_FORMAT_NVFP4);
    testHuge(GQ_FORMAT_MXFP8_E4M3);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
