//===- CpuGroupedWgrad.c - gq.grouped_wgrad on the CPU -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuMm.h"
#include "CpuQuantize.h"
#include "CpuThreads.h"
#include "CpuTiles.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <inttypes.h>
#include <stddef.h>

/// `a` or `b`: columnwise data, [M, columns] before it was quantized.
typedef struct Operand {
  const char *name, *scalesName;
  const gqBuffer *data, *scales;
  gqCpuMmSide side;
  /// N or K.
  int64_t columns;
} Operand;

/// Where a group begins in an operand: an element of flat data, and a scale.
typedef struct Part {
  int64_t data, scales;
} Part;

static bool isFlat(const Operand *o) { return o->side.traits.transposes; }

/// Elements of a row of flat data of a group of so many rows.
static int64_t paddedRows(int64_t rows) {
  return gq_dev_up(rows, GQ_CPU_TRANSPOSED_UNIT);
}

/// The scales of a row of them, as stored.
static int64_t scaleStride(const Operand *o, int64_t rows) {
  int64_t columns =
      gqCpuGetScaleExtents(o->side.format, true, rows, o->columns).columns;
  return o->side.tiled ? gq_dev_up(columns, GQ_DEV_TILE_COLUMNS) : columns;
}

/// The number of a group's scales as stored.
static int64_t numScales(const Operand *o, int64_t rows) {
  if (o->side.format == GQ_FORMAT_NONE)
    return 0;
  int64_t lines =
      gqCpuGetScaleExtents(o->side.format, true, rows, o->columns).rows;
  return (o->side.tiled ? gq_dev_up(lines, GQ_DEV_TILE_ROWS) : lines) *
         scaleStride(o, rows);
}

/// Goes on to the next group, after one of so many rows.
static Part behind(const Operand *o, Part part, int64_t rows) {
  return (Part){part.data + o->columns * paddedRows(rows),
                part.scales + numScales(o, rows)};
}

static int64_t rowsOf(gq_dev_groups groups, int64_t e) {
  return gq_dev_group_begin(groups, e + 1) - gq_dev_group_begin(groups, e);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Type, rank and extents; `m` is M, or GQ_ANY_EXTENT where it is not known,
/// which data that is not flat gives.
static bool checkData(gqCpuOp *op, const Operand *o, int64_t *m) {
  if (isFlat(o))
    return gqCpuCheckFlat(op, o->name, GQ_READ, o->data, o->side.types,
                          GQ_ANY_EXTENT, "a flat buffer");
  bool packed = o->side.traits.dataBits == 4;
  const gqRequirement data = {
      .name = o->name,
      .buffer = o->data,
      .types = o->side.types,
      .placement = GQ_ROWS,
      .rank = 2,
      .sizes = {*m, packed ? o->columns / 2 : o->columns},
      .shape = packed ? "[M, columns of out / 2]" : "[M, columns of out]"};
  if (!gqCpuCheckOperand(op, &data))
    return false;
  *m = o->data->sizes[0];
  return true;
}

/// N or K is a positive multiple of the block.
static bool checkColumns(gqCpuOp *op, const Operand *o) {
  int64_t block = o->side.traits.blockColumns;
  return (o->columns > 0 && o->columns % block == 0) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "out has %" PRId64 " columns of %s, expected a positive "
                   "multiple of the block of %" PRId64,
                   o->columns, o->name, block);
}

static bool checkOperand(gqCpuOp *op, const Operand *o, int64_t *m) {
  return checkColumns(op, o) && checkData(op, o, m) &&
         (o->side.format == GQ_FORMAT_NONE ||
          gqCpuCheckFlat(op, o->scalesName, GQ_READ, o->scales,
                         1 << o->side.traits.scaleType, GQ_ANY_EXTENT,
                         "a flat buffer"));
}

/// Data and scales of a group lie inside of the operand. No offset is
/// multiplied before it is known to be in range.
static bool checkPart(gqCpuOp *op, const Operand *o, Part part, int64_t e,
                      int64_t rows) {
  int64_t size = o->data->sizes[0] * 8 / o->side.traits.dataBits;
  if (isFlat(o) && paddedRows(rows) > (size - part.data) / o->columns)
    return gqCpuFail(op, GQ_INVALID_OFFSETS,
                     "%s has %" PRId64 " elements, too few for the %" PRId64
                     " rows of group %" PRId64 ", which begin at %" PRId64,
                     o->name, size, rows, e, part.data);
  return o->side.format == GQ_FORMAT_NONE ||
         gqCpuCheckRoom(op, o->scalesName, o->scales, e,
                        part.scales + numScales(o, rows));
}

static bool checkParts(gqCpuOp *op, const Operand *o, gq_dev_groups groups) {
  Part part = {0, 0};
  for (int64_t e = 0; e < groups.numGroups; ++e) {
    int64_t rows = rowsOf(groups, e);
    if (!checkPart(op, o, part, e, rows))
      return false;
    part = behind(o, part, rows);
  }
  return true;
}

static bool check(gqCpuOp *op, const gqGroupedWgradOperands *operands,
                  const Operand *a, const Operand *b, gq_dev_groups *groups) {
  static const gqBuffer noScaleOffsets;
  const gqRequirement out = {
      .name = "out",
      .buffer = &operands->out,
      .types = GQ_TYPES_FLOAT,
      .placement = GQ_CONTIGUOUS,
      .access = GQ_WRITTEN,
      .rank = 3,
      .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT, GQ_ANY_EXTENT},
      .shape = "[G, N, K]"};
  int64_t m = GQ_ANY_EXTENT;
  if (!gqCpuMmCheckScalePresence(op, &operands->aScales, &operands->bScales,
                                 a->side.format) ||
      !gqCpuCheckOperand(op, &out) || !checkOperand(op, a, &m) ||
      !checkOperand(op, b, &m))
    return false;
  // For flat data, each group's check shows whether there are that many rows.
  int64_t most = m == GQ_ANY_EXTENT ? (int64_t)1 << 56 : m;
  if (!gqCpuCheckGroups(op, &operands->offsets, &noScaleOffsets, "row", most,
                        groups))
    return false;
  int64_t numGroups = operands->out.sizes[0];
  if (groups->numGroups != numGroups)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "offsets has %" PRId64 " entries, expected %" PRId64
                     " for the %" PRId64 " groups of out",
                     groups->numOffsets, numGroups + 1, numGroups);
  return (gqBufferIsAbsent(&operands->alpha) ||
          gqCpuCheckFlat(op, "alpha", GQ_READ, &operands->alpha, GQ_TYPES_F32,
                         numGroups, "[G]")) &&
         checkParts(op, a, *groups) && checkParts(op, b, *groups) &&
         gqCpuCheckOverlap(op);
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// The group's part of an operand, a column a row.
static gqCpuMmMatrix matrixOf(const Operand *o, Part part, int64_t begin,
                              int64_t rows) {
  bool flat = isFlat(o);
  int64_t bits = o->side.traits.dataBits;
  int64_t scaleSize = gqElementTypeSize(o->side.traits.scaleType);
  bool scaled = o->side.format != GQ_FORMAT_NONE;
  return (gqCpuMmMatrix){
      .format = o->side.format,
      .type = (gqElementType)o->data->type,
      .data = flat ? (const uint8_t *)o->data->data + part.data * bits / 8
                   : gqCpuRow(o->data, begin),
      .stride = flat ? paddedRows(rows) * bits / 8 : o->data->strides[0],
      .transposed = !flat,
      .scales = scaled
                    ? (const uint8_t *)o->scales->data + part.scales * scaleSize
                    : NULL,
      .scaleStride = scaled ? scaleStride(o, rows) : 0,
  };
}

/// The op as check() found it. The jobs of a group are the tiles of its result.
typedef struct Problem {
  const gqGroupedWgradOperands *operands;
  Operand a, b;
  gq_dev_groups groups;
  gqCpuMmTile *tiles;
  int64_t across, jobsOfGroup;
} Problem;

/// A group, as threads go through them.
typedef struct Group {
  int64_t index, rows;
  Part aPart, bPart;
  gqCpuMmMatrix a, b;
} Group;

/// Goes from group to group, from -1 to the first.
static void goToNext(const Problem *p, Group *group) {
  if (group->index >= 0) {
    group->aPart = behind(&p->a, group->aPart, group->rows);
    group->bPart = behind(&p->b, group->bPart, group->rows);
  }
  int64_t e = ++group->index, begin = gq_dev_group_begin(p->groups, e);
  group->rows = rowsOf(p->groups, e);
  group->a = matrixOf(&p->a, group->aPart, begin, group->rows);
  group->b = matrixOf(&p->b, group->bPart, begin, group->rows);
}

/// The tile at (i, j) of a group's result.
static void runTile(const Problem *p, const Group *group, int64_t i, int64_t j,
                    gqCpuMmTile *tile) {
  const gqBuffer *out = &p->operands->out, *alphas = &p->operands->alpha;
  int64_t e = group->index, n = out->sizes[1], k = out->sizes[2];
  int64_t size = gqElementTypeSize((gqElementType)out->type);
  double alpha =
      gqBufferIsAbsent(alphas) ? 1.0 : (double)((const float *)alphas->data)[e];
  int64_t rows = gqCpuLeast(n - i, GQ_CPU_MM_ROWS);
  int64_t columns = gqCpuLeast(k - j, GQ_CPU_MM_COLUMNS);
  // The padding of flat data is zero, or the rest of a transformed block.
  int64_t depth =
      isFlat(&p->a) && isFlat(&p->b) ? paddedRows(group->rows) : group->rows;
  const double *sums =
      gqCpuMmSum(&group->a, i, rows, &group->b, j, columns, depth, tile);
  for (int64_t r = 0; r < rows; ++r) {
    uint8_t *row = (uint8_t *)out->data + (e * n + i + r) * k * size;
    for (int64_t c = 0; c < columns; ++c)
      gqCpuMmStore(alpha * sums[r * GQ_CPU_MM_COLUMNS + c],
                   (gqElementType)out->type, row, j + c);
  }
}

static void work(void *context, int32_t thread, gqCpuJobs *jobs) {
  const Problem *p = context;
  Group group = {.index = -1};
  int64_t job;
  while (gqCpuTakeJob(jobs, &job)) {
    while (group.index < job / p->jobsOfGroup)
      goToNext(p, &group);
    int64_t inGroup = job % p->jobsOfGroup;
    runTile(p, &group, inGroup / p->across * GQ_CPU_MM_ROWS,
            inGroup % p->across * GQ_CPU_MM_COLUMNS,
            gqCpuMmTileOf(p->tiles, thread));
  }
}

static void run(gqCpuOp *op, Problem *p) {
  const int64_t *sizes = p->operands->out.sizes;
  p->across = gqCpuCeilDiv(sizes[2], GQ_CPU_MM_COLUMNS);
  p->jobsOfGroup = gqCpuCeilDiv(sizes[1], GQ_CPU_MM_ROWS) * p->across;
  int64_t numJobs = p->jobsOfGroup * p->groups.numGroups;
  double rows = 0;
  for (int64_t e = 0; e < p->groups.numGroups; ++e)
    rows += (double)rowsOf(p->groups, e);
  int32_t numThreads = gqCpuNumThreads(
      numJobs, rows * (double)sizes[1] * (double)sizes[2] * GQ_CPU_MM_COST);
  p->tiles = gqCpuMmTilesNew(op, numThreads);
  if (p->tiles)
    gqCpuRun(numThreads, numJobs, work, p);
  gqCpuMmTilesFree(p->tiles);
}

void gqCpuGroupedWgrad(const gqGroupedWgradOperands *operands, int32_t format,
                       int32_t bFormat, int32_t scaleLayout) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "grouped_wgrad"))
    return;
  Problem p = {.operands = operands,
               .a = {"a", "a_scales", &operands->a, &operands->aScales,
                     gqCpuMmSideOf(format), operands->out.sizes[1]},
               .b = {"b", "b_scales", &operands->b, &operands->bScales,
                     gqCpuMmSideOf(bFormat), operands->out.sizes[2]}};
  // Without groups N and K can be anything.
  if (gqCpuMmCheckFormats(&op, format, bFormat, scaleLayout) &&
      check(&op, operands, &p.a, &p.b, &p.groups) && p.groups.numGroups > 0)
    run(&op, &p);
  gqCpuEnd(&op);
}
