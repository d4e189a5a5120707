//===- CpuGroupedDequantize.c - gq.grouped_dequantize on the CPU ---------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuDequantize.h"
#include "CpuGroups.h"
#include "CpuTiles.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <inttypes.h>
#include <stddef.h>

/// The op as check() found it.
typedef struct Problem {
  const gqGroupedDequantizeOperands *operands;
  gqCpuGrouping grouping;
  gqFormatTraits traits;
  gqRecipe recipe;
  gqOuter outer;
  gqScaleMax scaleMax;
  bool columnwise, ragged;
} Problem;

static bool isScaled(const Problem *p) {
  return p->grouping.format != GQ_FORMAT_NONE;
}

/// Whether groups follow each other in the data without a gap.
static bool isTransposed(const Problem *p) {
  return p->columnwise && (!isScaled(p) || p->traits.transposes);
}

/// The same of the scales.
static bool hasPackedScales(const Problem *p) {
  return p->columnwise ||
         (p->grouping.tiled ? !p->grouping.groups.scaleOffsets
                            : p->ragged || p->traits.blockRows > 1);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool checkAttributes(gqCpuOp *op, int32_t format, int32_t recipe,
                            int32_t scaleLayout, int32_t axis, int32_t outer,
                            int32_t scaleMax) {
  bool scaled = format != GQ_FORMAT_NONE;
  if (scaled && !gqCpuCheckAttributes(op, format, scaleLayout,
                                      GQ_LAYOUTS_LINEAR | GQ_LAYOUTS_TILE128X4))
    return false;
  gqFormatTraits traits = gqFormatGetTraits((gqFormat)format);
  if (recipe != GQ_RECIPE_NVFUSER && recipe != GQ_RECIPE_TE)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "recipe %" PRId32
                     " is unknown, expected nvfuser (%d) or te (%d)",
                     recipe, GQ_RECIPE_NVFUSER, GQ_RECIPE_TE);
  if (recipe == GQ_RECIPE_TE &&
      (!scaled || traits.scaleRule != GQ_SCALE_RULE_NVFP4))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "format %s has no recipe te, only nvfp4 has", traits.name);
  if (axis != GQ_AXIS_ROWWISE && axis != GQ_AXIS_COLUMNWISE)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "axis %" PRId32
                     " is unknown, expected rowwise (%d) or columnwise (%d)",
                     axis, GQ_AXIS_ROWWISE, GQ_AXIS_COLUMNWISE);
  if (scaleMax != 0 && scaleMax != 256 && scaleMax != 448)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "scale_max %" PRId32 " is neither 256 nor 448", scaleMax);
  if (scaleMax != 0 && recipe != GQ_RECIPE_TE)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT, "scale_max needs the recipe te");
  if (outer == GQ_OUTER_OF_GROUP)
    return true;
  if (outer != (axis == GQ_AXIS_ROWWISE ? GQ_OUTER_OF_ROW : GQ_OUTER_OF_COLUMN))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "outer %" PRId32
                     " is none of the axis, expected group (%d), row (%d) of "
                     "rowwise or column (%d) of columnwise",
                     outer, GQ_OUTER_OF_GROUP, GQ_OUTER_OF_ROW,
                     GQ_OUTER_OF_COLUMN);
  return recipe == GQ_RECIPE_TE ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "an outer amax per row or column needs the recipe te");
}

/// An operand is present if and only if it is `required`.
static bool checkPresence(gqCpuOp *op, const char *name, const gqBuffer *buffer,
                          bool required, const char *condition) {
  return gqBufferIsAbsent(buffer) != required ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT, "expected %s%s %s",
                   required ? "" : "no ", name, condition);
}

static bool checkPresences(gqCpuOp *op, const Problem *p) {
  const gqGroupedDequantizeOperands *operands = p->operands;
  bool scaled = isScaled(p), te = p->recipe == GQ_RECIPE_TE;
  const char *with = scaled ? "with a format" : "without a format";
  if (!checkPresence(op, "scales", &operands->scales, scaled, with) ||
      !checkPresence(op, "scale_inv", &operands->scaleInv, !scaled, with) ||
      !checkPresence(op, "outer_amax", &operands->outerAmax, te,
                     te ? "with the recipe te" : "with the recipe nvfuser") ||
      !checkPresence(op, "last_dims", &operands->lastDims, p->ragged,
                     p->ragged ? "with first_dims" : "without first_dims"))
    return false;
  if ((te || !scaled) && !gqBufferIsAbsent(&operands->globalScale))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "global_scale is for the recipe nvfuser of nvfp4");
  return gqBufferIsAbsent(&operands->scaleOffsets) ||
         (p->grouping.tiled && !p->columnwise && !p->ragged) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "scale_offsets is for rowwise scales in tile128x4 of groups "
                   "of rows");
}

/// `out`, and the groups in it.
static bool checkOut(gqCpuOp *op, Problem *p) {
  const gqGroupedDequantizeOperands *operands = p->operands;
  const gqBuffer *out = &operands->out;
  const gqRequirement matrix = {.name = "out",
                                .buffer = out,
                                .types = GQ_TYPES_FLOAT,
                                .placement = GQ_DISJOINT_ROWS,
                                .access = GQ_WRITTEN,
                                .rank = 2,
                                .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT},
                                .shape = "[M, K]"};
  bool valid = p->ragged ? gqCpuCheckFlat(op, "out", GQ_WRITTEN, out,
                                          GQ_TYPES_FLOAT, GQ_ANY_EXTENT, "[N]")
                         : gqCpuCheckOperand(op, &matrix) &&
                               gqCpuCheckColumns(op, "out", p->grouping.format,
                                                 out->sizes[1]);
  p->grouping.columns = out->sizes[1];
  return valid &&
         gqCpuCheckGroups(op, &operands->offsets, &operands->scaleOffsets,
                          p->ragged ? "element" : "row", out->sizes[0],
                          &p->grouping.groups) &&
         (!p->ragged ||
          gqCpuCheckGroupDims(op, &operands->firstDims, &operands->lastDims,
                              &operands->offsets, &p->grouping.groups));
}

static bool checkData(gqCpuOp *op, const Problem *p) {
  const gqBuffer *data = &p->operands->data, *out = &p->operands->out;
  gqFormatTraits traits = p->traits;
  int32_t types = isScaled(p) ? 1 << traits.dataType : GQ_TYPES_FP8;
  const gqRequirement codes = {.name = "data",
                               .buffer = data,
                               .types = types,
                               .placement = GQ_ROWS,
                               .rank = 2,
                               .sizes = {out->sizes[0], out->sizes[1]},
                               .shape = "[M, K]"};
  if (isTransposed(p))
    return gqCpuCheckFlat(op, "data", GQ_READ, data, types, GQ_ANY_EXTENT,
                          "a flat buffer");
  if (p->ragged)
    return gqCpuCheckFlat(op, "data", GQ_READ, data, types,
                          out->sizes[0] * traits.dataBits / 8,
                          traits.dataBits == 4 ? "[N / 2]" : "[N]");
  return isScaled(p) ? gqCpuCheckData(op, "data", GQ_READ, p->grouping.format,
                                      data, out->sizes[0], out->sizes[1])
                     : gqCpuCheckOperand(op, &codes);
}

static bool checkScales(gqCpuOp *op, const Problem *p) {
  const gqBuffer *scales = &p->operands->scales, *out = &p->operands->out;
  gqFormat format = p->grouping.format;
  if (!isScaled(p))
    return true;
  if (p->columnwise || p->ragged ||
      (!p->grouping.tiled && p->traits.blockRows > 1))
    return gqCpuCheckFlat(op, "scales", GQ_READ, scales,
                          1 << p->traits.scaleType, GQ_ANY_EXTENT,
                          "a flat buffer");
  if (!p->grouping.tiled)
    return gqCpuCheckLinearScales(op, GQ_READ, format, scales, out->sizes[0],
                                  out->sizes[1]);
  return gqCpuCheckTiledScales(
      op, "scales", GQ_READ, format, scales,
      gq_dev_up(out->sizes[1] / p->traits.blockColumns, GQ_DEV_TILE_COLUMNS),
      p->grouping.groups);
}

/// One a row, a column of a group, or as a factor.
static bool checkOuterAmax(gqCpuOp *op, const Problem *p) {
  const gqBuffer *amax = &p->operands->outerAmax, *out = &p->operands->out;
  int64_t numGroups = p->grouping.groups.numGroups;
  if (p->outer == GQ_OUTER_OF_GROUP)
    return gqCpuCheckFactor(op, "outer_amax", amax, numGroups);
  if (p->ragged)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "an outer amax per row or column needs groups of the same "
                     "number of columns, there must be no last_dims");
  bool ofRow = p->outer == GQ_OUTER_OF_ROW;
  const gqRequirement requirement = {
      .name = "outer_amax",
      .buffer = amax,
      .types = GQ_TYPES_F32,
      .placement = GQ_CONTIGUOUS,
      .rank = ofRow ? 1 : 2,
      .sizes = {ofRow ? out->sizes[0] : numGroups, ofRow ? 0 : out->sizes[1]},
      .shape = ofRow ? "[M]" : "[G, K]"};
  return gqCpuCheckOperand(op, &requirement);
}

static bool checkOuter(gqCpuOp *op, const Problem *p) {
  const gqGroupedDequantizeOperands *operands = p->operands;
  int64_t numGroups = p->grouping.groups.numGroups;
  return gqCpuCheckGlobalScale(op, p->grouping.format, &operands->globalScale,
                               numGroups) &&
         checkOuterAmax(op, p) &&
         gqCpuCheckFactor(op, "scale_inv", &operands->scaleInv, numGroups);
}

/// What only the contents of the offsets can show.
static bool checkGroups(gqCpuOp *op, const Problem *p) {
  const gqGroupedDequantizeOperands *operands = p->operands;
  gqCpuGroup group = gqCpuBeforeFirstGroup;
  for (int64_t e = 0; e < p->grouping.groups.numGroups; ++e) {
    if (p->ragged && !gqCpuCheckGroupShape(op, &p->grouping, e))
      return false;
    gqCpuNextGroup(&p->grouping, &group);
    // In bytes, as two elements may share one.
    if (isTransposed(p) && !gqCpuCheckRoom(op, "data", &operands->data, e,
                                           (group.columnwiseData +
                                            gqCpuGroupTransposedSize(&group)) *
                                               p->traits.dataBits / 8))
      return false;
    int64_t scales = p->columnwise ? group.columnwiseScales : group.scales;
    if (isScaled(p) && hasPackedScales(p) &&
        !gqCpuCheckRoom(
            op, "scales", &operands->scales, e,
            scales + gqCpuGroupNumScales(&p->grouping, p->columnwise, &group)))
      return false;
  }
  return true;
}

static bool check(gqCpuOp *op, Problem *p) {
  return checkPresences(op, p) && checkOut(op, p) && checkOuter(op, p) &&
         checkData(op, p) && checkScales(op, p) && checkGroups(op, p) &&
         gqCpuCheckOverlap(op);
}

//===----------------------------------------------------------------------===//
// Dequantization
//===----------------------------------------------------------------------===//

/// The outer scale of a group, or the first of its rows or columns; null if
/// there is none.
static const float *outerOf(const Problem *p, const gqCpuGroup *group) {
  const gqGroupedDequantizeOperands *operands = p->operands;
  const gqBuffer *outer = !isScaled(p)                ? &operands->scaleInv
                          : p->recipe == GQ_RECIPE_TE ? &operands->outerAmax
                                                      : &operands->globalScale;
  const float *values = outer->data;
  switch (p->outer) {
  case GQ_OUTER_OF_GROUP:
    break;
  case GQ_OUTER_OF_ROW:
    return values + group->begin;
  case GQ_OUTER_OF_COLUMN:
    return values + group->index * group->columns;
  }
  return gqBufferOuterKind(outer) == GQ_OUTER_PER_GROUP ? values + group->index
                                                        : values;
}

/// Where the codes of a group begin, and the bytes from row to row of them.
static const uint8_t *dataOf(const Problem *p, const gqCpuGroup *group,
                             int64_t *stride) {
  const gqBuffer *data = &p->operands->data;
  int64_t bits = p->traits.dataBits;
  if (isTransposed(p)) {
    *stride = gqCpuGroupTransposedColumns(group) * bits / 8;
    return (const uint8_t *)data->data + group->columnwiseData * bits / 8;
  }
  *stride = p->ragged ? group->columns * bits / 8 : data->strides[0];
  return p->ragged ? (const uint8_t *)data->data + group->begin * bits / 8
                   : gqCpuRow(data, group->begin);
}

/// Where its scales begin, and the scales from row to row of them.
static const void *scalesOf(const Problem *p, const gqCpuGroup *group,
                            int64_t *stride) {
  const gqBuffer *scales = &p->operands->scales;
  gq_dev_groups groups = p->grouping.groups;
  if (!isScaled(p))
    return NULL;
  *stride = gqCpuGroupScaleColumns(&p->grouping, p->columnwise, group);
  if (!hasPackedScales(p) && !p->grouping.tiled) {
    *stride = scales->strides[0];
    return gqCpuRow(scales, group->begin);
  }
  int64_t at = p->columnwise ? group->columnwiseScales
               : hasPackedScales(p)
                   ? group->scales
                   : gq_dev_group_scale_begin(groups, group->index) * *stride;
  return (const uint8_t *)scales->data +
         at * gqElementTypeSize(p->traits.scaleType);
}

/// The group's part of `out`.
static gqBuffer outOf(const Problem *p, const gqCpuGroup *group) {
  const gqBuffer *out = &p->operands->out;
  int64_t size = gqElementTypeSize((gqElementType)out->type);
  return (gqBuffer){
      .data = p->ragged ? (uint8_t *)out->data + group->begin * size
                        : gqCpuRow(out, group->begin),
      .type = out->type,
      .rank = 2,
      .sizes = {group->rows, group->columns},
      .strides = {p->ragged ? group->columns : out->strides[0], 1}};
}

/// How a group is dequantized.
static gqCpuDequantization makeDequantization(const Problem *p,
                                              const gqCpuGroup *group) {
  gqCpuDequantization dequantization = {
      .format = p->grouping.format,
      .recipe = p->recipe,
      .columnwise = p->columnwise,
      .tiled = p->grouping.tiled,
      .type = (gqElementType)p->operands->data.type,
      .outer = outerOf(p, group),
      .outerDown = p->outer == GQ_OUTER_OF_ROW,
      .outerAcross = p->outer == GQ_OUTER_OF_COLUMN,
      .scaleMax = p->scaleMax,
      .out = outOf(p, group),
  };
  dequantization.data = dataOf(p, group, &dequantization.stride);
  dequantization.scales = scalesOf(p, group, &dequantization.scaleStride);
  return dequantization;
}

static void doJob(const void *problem, const gqCpuJob *job) {
  const gqCpuDequantization dequantization =
      makeDequantization(problem, &job->group);
  gqCpuDequantize(&dequantization, job);
}

static void run(const Problem *p) {
  const gqCpuMatrices matrices = {.grouping = p->grouping,
                                  .jobRows = GQ_CPU_JOB_ROWS,
                                  .jobColumns = GQ_CPU_JOB_COLUMNS,
                                  .cost = 1};
  gqCpuRunMatrices(&matrices, doJob, p);
}

void gqCpuGroupedDequantize(const gqGroupedDequantizeOperands *operands,
                            int32_t format, int32_t recipe, int32_t scaleLayout,
                            int32_t axis, int32_t outer, int32_t scaleMax) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "grouped_dequantize"))
    return;
  if (checkAttributes(&op, format, recipe, scaleLayout, axis, outer,
                      scaleMax)) {
    Problem problem = {
        .operands = operands,
        .grouping = {.format = (gqFormat)format,
                     .tiled = format != GQ_FORMAT_NONE &&
                              scaleLayout == GQ_SCALE_LAYOUT_TILE128X4},
        .traits = gqFormatGetTraits((gqFormat)format),
        .recipe = (gqRecipe)recipe,
        .outer = (gqOuter)outer,
        .scaleMax = scaleMax,
        .columnwise = axis == GQ_AXIS_COLUMNWISE,
        .ragged = !gqBufferIsAbsent(&operands->firstDims),
    };
    if (check(&op, &problem))
      run(&problem);
  }
  gqCpuEnd(&op);
}
