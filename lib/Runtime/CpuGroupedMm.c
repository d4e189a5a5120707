//===- CpuGroupedMm.c - gq.grouped_mm on the CPU -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuGroups.h"
#include "CpuMm.h"
#include "CpuTiles.h"
#include "runtime_kernels/codecs/Float.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <inttypes.h>
#include <stddef.h>

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// K elements as they are stored.
static int64_t storedColumns(gqCpuMmSide side, int64_t k) {
  return side.traits.dataBits == 4 ? k / 2 : k;
}

static bool checkFormats(gqCpuOp *op, int32_t format, int32_t bFormat,
                         int32_t scaleLayout) {
  gqFormatTraits a = gqFormatGetTraits((gqFormat)format);
  return gqCpuMmCheckFormats(op, format, bFormat, scaleLayout) &&
         (a.blockRows == 1 ||
          gqCpuFail(op, GQ_INVALID_ARGUMENT,
                    "format %s has blocks of several rows, which only b can "
                    "have",
                    a.name));
}

static bool checkPresences(gqCpuOp *op, const gqGroupedMmOperands *operands,
                           gqCpuMmSide a) {
  return gqCpuMmCheckScalePresence(op, &operands->aScales, &operands->bScales,
                                   a.format) &&
         gqCpuMmCheckPresence(op, "scale_offsets", &operands->scaleOffsets,
                              a.tiled,
                              a.tiled ? "with scales in tile128x4"
                                      : "without scales in tile128x4");
}

static bool checkMajor(gqCpuOp *op, int32_t bFormat, int32_t bMajor) {
  gqFormatTraits b = gqFormatGetTraits((gqFormat)bFormat);
  if (bMajor != GQ_MAJOR_K && bMajor != GQ_MAJOR_N)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "b_major %" PRId32
                     " is unknown, expected k (%d) or n (%d)",
                     bMajor, GQ_MAJOR_K, GQ_MAJOR_N);
  return bMajor == GQ_MAJOR_K || !b.transposes ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "format %s has K innermost in b, b_major must be k", b.name);
}

/// M, N and K.
typedef struct Extents {
  int64_t m, n, k;
} Extents;

static bool checkA(gqCpuOp *op, const gqGroupedMmOperands *operands,
                   gqCpuMmSide side, Extents *x) {
  const gqRequirement a = {.name = "a",
                           .buffer = &operands->a,
                           .types = side.types,
                           .placement = GQ_ROWS,
                           .rank = 2,
                           .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT},
                           .shape = side.traits.dataBits == 4 ? "[M, K / 2]"
                                                              : "[M, K]"};
  if (!gqCpuCheckOperand(op, &a))
    return false;
  x->m = operands->a.sizes[0];
  x->k = operands->a.sizes[1] * (side.traits.dataBits == 4 ? 2 : 1);
  return gqCpuCheckColumns(op, "a", side.format, x->k);
}

static bool checkB(gqCpuOp *op, const gqGroupedMmOperands *operands,
                   gqCpuMmSide side, gqMajor major, int64_t numGroups,
                   Extents *x) {
  bool packed = side.traits.dataBits == 4, majorN = major == GQ_MAJOR_N;
  const gqRequirement b = {
      .name = "b",
      .buffer = &operands->b,
      .types = side.types,
      .placement = GQ_CONTIGUOUS,
      .rank = 3,
      .sizes = {numGroups, majorN ? x->k : GQ_ANY_EXTENT,
                majorN ? GQ_ANY_EXTENT : storedColumns(side, x->k)},
      .shape = majorN   ? packed ? "[G, K, N / 2]" : "[G, K, N]"
               : packed ? "[G, N, K / 2]"
                        : "[G, N, K]"};
  if (!gqCpuCheckOperand(op, &b))
    return false;
  x->n =
      majorN ? operands->b.sizes[2] * (packed ? 2 : 1) : operands->b.sizes[1];
  return true;
}

/// The scales of blocks in tile128x4.
static bool checkTiles(gqCpuOp *op, const gqGroupedMmOperands *operands,
                       gqCpuMmSide a, gqCpuMmSide b, gq_dev_groups groups,
                       Extents x) {
  int64_t columns = gq_dev_up(x.k / a.traits.blockColumns, GQ_DEV_TILE_COLUMNS);
  const gqRequirement bScales = {
      .name = "b_scales",
      .buffer = &operands->bScales,
      .types = 1 << b.traits.scaleType,
      .placement = GQ_CONTIGUOUS,
      .rank = 3,
      .sizes = {groups.numGroups, gq_dev_up(x.n, GQ_DEV_TILE_ROWS), columns},
      .shape = "[G, up(N, 128), up(K / block, 4)]"};
  return gqCpuCheckTiledScales(op, "a_scales", GQ_READ, a.format,
                               &operands->aScales, columns, groups) &&
         gqCpuCheckOperand(op, &bScales);
}

/// Those that are linear.
static bool checkLinear(gqCpuOp *op, const gqGroupedMmOperands *operands,
                        gqCpuMmSide a, gqCpuMmSide b, int64_t numGroups,
                        Extents x) {
  int64_t columns = x.k / a.traits.blockColumns;
  int64_t bRows = gq_dev_up(x.n, b.traits.blockRows) / b.traits.blockRows;
  const gqRequirement aScales = {.name = "a_scales",
                                 .buffer = &operands->aScales,
                                 .types = 1 << a.traits.scaleType,
                                 .placement = GQ_ROWS,
                                 .rank = 2,
                                 .sizes = {x.m, columns},
                                 .shape = "[M, K / block]"};
  const gqRequirement bScales = {.name = "b_scales",
                                 .buffer = &operands->bScales,
                                 .types = 1 << b.traits.scaleType,
                                 .placement = GQ_CONTIGUOUS,
                                 .rank = 3,
                                 .sizes = {numGroups, bRows, columns},
                                 .shape = b.traits.blockRows == 1
                                              ? "[G, N, K / block]"
                                              : "[G, up(N, block) / block, K / "
                                                "block]"};
  return gqCpuCheckOperand(op, &aScales) && gqCpuCheckOperand(op, &bScales);
}

/// An operand that may be absent, of rank 1 or 2.
static bool checkOptional(gqCpuOp *op, const char *name, const gqBuffer *buffer,
                          int32_t types, int32_t rank, int64_t rows,
                          int64_t columns, const char *shape) {
  const gqRequirement requirement = {.name = name,
                                     .buffer = buffer,
                                     .types = types,
                                     .placement = GQ_CONTIGUOUS,
                                     .rank = rank,
                                     .sizes = {rows, rank > 1 ? columns : 0},
                                     .shape = shape};
  return gqBufferIsAbsent(buffer) || gqCpuCheckOperand(op, &requirement);
}

static bool checkOut(gqCpuOp *op, const gqBuffer *buffer, Extents x) {
  const gqRequirement out = {.name = "out",
                             .buffer = buffer,
                             .types = GQ_TYPES_FLOAT,
                             .placement = GQ_DISJOINT_ROWS,
                             .access = GQ_WRITTEN,
                             .rank = 2,
                             .sizes = {x.m, x.n},
                             .shape = "[M, N]"};
  return gqCpuCheckOperand(op, &out);
}

static bool check(gqCpuOp *op, const gqGroupedMmOperands *operands,
                  int32_t format, int32_t bFormat, int32_t scaleLayout,
                  int32_t bMajor, gq_dev_groups *groups) {
  Extents x;
  if (!checkFormats(op, format, bFormat, scaleLayout) ||
      !checkMajor(op, bFormat, bMajor))
    return false;
  gqCpuMmSide a = gqCpuMmSideOf(format), b = gqCpuMmSideOf(bFormat);
  if (!checkPresences(op, operands, a) || !checkA(op, operands, a, &x) ||
      !gqCpuCheckGroups(op, &operands->offsets, &operands->scaleOffsets, "row",
                        x.m, groups) ||
      !checkB(op, operands, b, (gqMajor)bMajor, groups->numGroups, &x))
    return false;
  int64_t g = groups->numGroups;
  return (a.tiled ? checkTiles(op, operands, a, b, *groups, x)
                  : a.format == GQ_FORMAT_NONE ||
                        checkLinear(op, operands, a, b, g, x)) &&
         checkOptional(op, "alpha", &operands->alpha, GQ_TYPES_F32, 1, g, 0,
                       "[G]") &&
         checkOptional(op, "row_scales", &operands->rowScales, GQ_TYPES_F32, 1,
                       x.m, 0, "[M]") &&
         checkOptional(op, "column_scales", &operands->columnScales,
                       GQ_TYPES_F32, 2, g, x.n, "[G, N]") &&
         checkOptional(op, "bias", &operands->bias, GQ_TYPES_FLOAT, 2, g, x.n,
                       "[G, N]") &&
         checkOut(op, &operands->out, x) && gqCpuCheckOverlap(op);
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// The rows of a group from `begin` on; `scaleBegin` is the first of its tiles
/// of scales.
static gqCpuMmMatrix rowsOf(const gqGroupedMmOperands *operands,
                            gqFormat format, int64_t begin,
                            int64_t scaleBegin) {
  const gqBuffer *scales = &operands->aScales;
  int64_t scaleRow = gqCpuMmSideOf(format).tiled ? scaleBegin : begin;
  return (gqCpuMmMatrix){
      .format = format,
      .type = (gqElementType)operands->a.type,
      .data = gqCpuRow(&operands->a, begin),
      .stride = operands->a.strides[0],
      .scales = format == GQ_FORMAT_NONE ? NULL : gqCpuRow(scales, scaleRow),
      .scaleStride = scales->strides[0],
  };
}

/// The weights of group e.
static gqCpuMmMatrix weightsOf(const gqGroupedMmOperands *operands,
                               gqFormat format, gqMajor major, int64_t e) {
  const gqBuffer *b = &operands->b, *scales = &operands->bScales;
  int64_t size = gqElementTypeSize((gqElementType)scales->type);
  return (gqCpuMmMatrix){
      .format = format,
      .type = (gqElementType)b->type,
      .data = (const uint8_t *)b->data + e * b->sizes[1] * b->sizes[2],
      .stride = b->sizes[2],
      .transposed = major == GQ_MAJOR_N,
      .scales = format == GQ_FORMAT_NONE
                    ? NULL
                    : (const uint8_t *)scales->data +
                          e * scales->sizes[1] * scales->sizes[2] * size,
      .scaleStride = scales->sizes[2],
  };
}

/// Element `i` of a buffer without gaps of f32, bf16 or f16.
static double load(const gqBuffer *buffer, int64_t i) {
  if (buffer->type == GQ_F32)
    return (double)((const float *)buffer->data)[i];
  uint16_t bits = ((const uint16_t *)buffer->data)[i];
  return (double)(buffer->type == GQ_BF16 ? gq_dev_f32_from_bf16(bits)
                                          : gq_dev_f32_from_f16(bits));
}

/// Element `i` of a factor, 1 if it is absent.
static double factorAt(const gqBuffer *factors, int64_t i) {
  return gqBufferIsAbsent(factors) ? 1.0 : load(factors, i);
}

/// Scales, adds the bias to and stores the sums of row `row`, which is of group
/// e, from column `column` on.
static void storeRow(const gqGroupedMmOperands *operands, int64_t e,
                     int64_t row, int64_t column, int64_t count,
                     const double *sums) {
  const gqBuffer *out = &operands->out;
  int64_t n = out->sizes[1];
  double ofRow =
      factorAt(&operands->alpha, e) * factorAt(&operands->rowScales, row);
  for (int64_t c = 0; c < count; ++c) {
    int64_t at = e * n + column + c;
    double value = ofRow * factorAt(&operands->columnScales, at) * sums[c];
    if (!gqBufferIsAbsent(&operands->bias))
      value += load(&operands->bias, at);
    gqCpuMmStore(value, (gqElementType)out->type, gqCpuRow(out, row),
                 column + c);
  }
}

/// The op as check() found it. Its matrices are the groups of `out`.
typedef struct Problem {
  const gqGroupedMmOperands *operands;
  gqFormat format, bFormat;
  gqMajor bMajor;
  gqCpuMatrices matrices;
  int64_t k;
  gqCpuMmTile *tiles;
} Problem;

static void work(void *context, int32_t thread, gqCpuJobs *jobs) {
  const Problem *p = context;
  gqCpuMmTile *tile = gqCpuMmTileOf(p->tiles, thread);
  gq_dev_groups groups = p->matrices.grouping.groups;
  gqCpuJob job = gqCpuBeforeFirstJob;
  while (gqCpuTakeJobOf(&p->matrices, jobs, &job)) {
    int64_t e = job.group.index;
    int64_t scaleBegin =
        groups.scaleOffsets ? gq_dev_group_scale_begin(groups, e) : 0;
    gqCpuMmMatrix a =
        rowsOf(p->operands, p->format, job.group.begin, scaleBegin);
    gqCpuMmMatrix b = weightsOf(p->operands, p->bFormat, p->bMajor, e);
    const double *sums = gqCpuMmSum(&a, job.row, job.rows, &b, job.column,
                                    job.columns, p->k, tile);
    for (int64_t r = 0; r < job.rows; ++r)
      storeRow(p->operands, e, job.group.begin + job.row + r, job.column,
               job.columns, sums + r * GQ_CPU_MM_COLUMNS);
  }
}

static void run(gqCpuOp *op, Problem *p) {
  int64_t bits = gqFormatGetTraits(p->format).dataBits; // 8 without a format
  int64_t numJobs;
  p->k = p->operands->a.sizes[1] * 8 / bits;
  p->matrices.grouping.format = GQ_FORMAT_NONE;
  p->matrices.grouping.columns = p->operands->out.sizes[1];
  p->matrices.jobRows = GQ_CPU_MM_ROWS;
  p->matrices.jobColumns = GQ_CPU_MM_COLUMNS;
  p->matrices.cost = (double)p->k * GQ_CPU_MM_COST;
  int32_t numThreads = gqCpuNumThreadsOf(&p->matrices, &numJobs);
  p->tiles = gqCpuMmTilesNew(op, numThreads);
  if (p->tiles)
    gqCpuRun(numThreads, numJobs, work, p);
  gqCpuMmTilesFree(p->tiles);
}

void gqCpuGroupedMm(const gqGroupedMmOperands *operands, int32_t format,
                    int32_t bFormat, int32_t scaleLayout, int32_t bMajor) {
  gqCpuOp op;
  Problem p = {.operands = operands,
               .format = (gqFormat)format,
               .bFormat = (gqFormat)bFormat,
               .bMajor = (gqMajor)bMajor};
  if (!gqCpuBegin(&op, "grouped_mm"))
    return;
  if (check(&op, operands, format, bFormat, scaleLayout, bMajor,
            &p.matrices.grouping.groups))
    run(&op, &p);
  gqCpuEnd(&op);
}
