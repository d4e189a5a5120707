//===- CpuGroupedBlockQuantize.c - gq.grouped_block_quantize on the CPU --===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuGroupedBlockQuantize.h"
#include "CpuGroups.h"
#include "CpuQuantize.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Block.h"

#include <inttypes.h>
#include <stddef.h>

/// The op as check() found it.
typedef struct Problem {
  const gqGroupedBlockQuantizeOperands *operands;
  gqCpuMethod method;
  gqRows rows;
  gqFormatTraits traits;
  gqDirectionTraits directions[2]; // rowwise, columnwise
  /// Of rows or, if ragged, of elements.
  gq_dev_groups groups;
  bool gathers, ragged, rowwise, columnwise;
  /// Whether data of the directions are the numbers that codes stand for.
  bool numbers[2];
  /// Whether blocks have scales, which are stored with codes.
  bool hasScales;
} Problem;

static bool isTiled(const Problem *p) {
  return p->method.scaleLayout == GQ_SCALE_LAYOUT_TILE128X4;
}

/// Whether a direction's scales are stored.
static bool storesScales(const Problem *p, bool columnwise) {
  return p->hasScales && (columnwise ? p->columnwise : p->rowwise) &&
         !p->numbers[columnwise];
}

/// Whether columns are stored transposed.
static bool isTransposed(const Problem *p) {
  return p->traits.transposes && !p->numbers[1];
}

/// Whether groups follow each other in `scales` without a gap.
static bool hasPackedScales(const Problem *p) {
  if (!storesScales(p, false))
    return false;
  return isTiled(p) ? !p->groups.scaleOffsets
                    : p->ragged || p->traits.blockRows > 1;
}

/// The groups as the functions that ops share take them.
static gqCpuGrouping groupingOf(const Problem *p) {
  return (gqCpuGrouping){.format = p->method.format,
                         .tiled = isTiled(p),
                         .groups = p->groups,
                         .columns = p->operands->input.sizes[1]};
}

static int64_t scaleColumns(const Problem *p, bool columnwise,
                            const gqCpuGroup *group) {
  gqCpuGrouping grouping = groupingOf(p);
  return gqCpuGroupScaleColumns(&grouping, columnwise, group);
}

static int64_t numScales(const Problem *p, bool columnwise,
                         const gqCpuGroup *group) {
  gqCpuGrouping grouping = groupingOf(p);
  return gqCpuGroupNumScales(&grouping, columnwise, group);
}

static void advance(const Problem *p, gqCpuGroup *group) {
  gqCpuGrouping grouping = groupingOf(p);
  gqCpuNextGroup(&grouping, group);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

bool gqCpuCheckAbsent(gqCpuOp *op,
                      const gqGroupedBlockQuantizeOperands *operands,
                      size_t count, const size_t *offsets) {
  static const struct {
    size_t offset;
    const char *name;
  } names[] = {
#define GQ_GROUPED_BLOCK_QUANTIZE_OPERAND(NAME, FIELD, ...)                    \
  {offsetof(gqGroupedBlockQuantizeOperands, FIELD), #NAME},
#include "gq/Runtime/Ops.def"
  };
  for (size_t i = 0; i < count; ++i)
    if (!gqBufferIsAbsent(
            (const gqBuffer *)((const char *)operands + offsets[i])))
      return gqCpuFail(op, GQ_INVALID_ARGUMENT, "expected no %s",
                       names[offsets[i] / sizeof(gqBuffer)].name);
  return true;
}

static bool checkAttributes(gqCpuOp *op, int32_t format, int32_t recipe,
                            int32_t scaleLayout, int32_t rows) {
  if (!gqCpuCheckAttributes(op, format, scaleLayout,
                            GQ_LAYOUTS_LINEAR | GQ_LAYOUTS_TILE128X4))
    return false;
  if (recipe != GQ_RECIPE_NVFUSER && recipe != GQ_RECIPE_TE)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "recipe %" PRId32
                     " is unknown, expected nvfuser (%d) or te (%d)",
                     recipe, GQ_RECIPE_NVFUSER, GQ_RECIPE_TE);
  gqFormatTraits traits = gqFormatGetTraits((gqFormat)format);
  if (recipe == GQ_RECIPE_TE && traits.scaleRule != GQ_SCALE_RULE_NVFP4)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "format %s has no recipe te, only nvfp4 has", traits.name);
  return gqCpuCheckRows(op, rows);
}

static bool holdsNumbers(const gqBuffer *data) {
  return !gqBufferIsAbsent(data) && gqCpuHasType(data, GQ_TYPES_FLOAT);
}

/// Two operands, called `names`, are both present or both absent.
static bool checkBoth(gqCpuOp *op, const char *names, const gqBuffer *a,
                      const gqBuffer *b) {
  return gqBufferIsAbsent(a) == gqBufferIsAbsent(b) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT, "expected both %s or neither",
                   names);
}

/// Scales come with codes, and only with them; `names` are both operands'.
static bool checkScalesOf(gqCpuOp *op, const char *names, const gqBuffer *data,
                          const gqBuffer *scales) {
  if (holdsNumbers(data))
    return gqBufferIsAbsent(scales) ||
           gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "expected no scales of numbers, found both %s", names);
  return checkBoth(op, names, data, scales);
}

/// Which optional operands are present.
static bool checkPresence(gqCpuOp *op, Problem *p) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  p->gathers = !gqBufferIsAbsent(&operands->rowIndices);
  p->ragged = !gqBufferIsAbsent(&operands->firstDims);
  p->rowwise = !gqBufferIsAbsent(&operands->data);
  p->columnwise = !gqBufferIsAbsent(&operands->columnwiseData);
  if (!p->rowwise && !p->columnwise)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "data and columnwise_data are absent, expected one of "
                     "them");
  p->numbers[0] = holdsNumbers(&operands->data);
  p->numbers[1] = holdsNumbers(&operands->columnwiseData);
  if ((p->hasScales &&
       (!checkScalesOf(op, "data and scales", &operands->data,
                       &operands->scales) ||
        !checkScalesOf(op, "columnwise_data and columnwise_scales",
                       &operands->columnwiseData,
                       &operands->columnwiseScales))) ||
      !checkBoth(op, "first_dims and last_dims", &operands->firstDims,
                 &operands->lastDims))
    return false;
  bool hasScaleOffsets = !gqBufferIsAbsent(&operands->scaleOffsets);
  bool wantsScaleOffsets = !gqBufferIsAbsent(&operands->scaleOffsetsOut);
  if (hasScaleOffsets && wantsScaleOffsets)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "scale_offsets are given, there are none to derive for "
                     "scale_offsets_out");
  if ((hasScaleOffsets || wantsScaleOffsets) &&
      (!storesScales(p, false) || p->ragged || !isTiled(p)))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "%s is for rowwise scales in tile128x4 of groups of rows",
                     hasScaleOffsets ? "scale_offsets" : "scale_offsets_out");
  if (p->ragged && p->gathers)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "row_indices needs rows of the same number of columns, "
                     "there must be no last_dims");
  if (p->ragged && !gqBufferIsAbsent(&operands->dbias))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "dbias needs groups of the same number of columns, there "
                     "must be no last_dims");
  return true;
}

/// The settings of the directions, and the state that they need.
static bool checkDirections(gqCpuOp *op, const Problem *p) {
  const gqBuffer *state = &p->operands->rngState;
  bool stochastic = false;
  for (int i = 0; i < 2; ++i) {
    const gqDirectionTraits *d = &p->directions[i];
    const char *lacks = gqDirectionLacks(d, p->method.format, p->method.recipe,
                                         i == 1, p->ragged);
    if (lacks)
      return gqCpuFail(op, GQ_INVALID_ARGUMENT, "expected %s", lacks);
    stochastic |= d->rounding == GQ_ROUNDING_STOCHASTIC;
  }
  if (stochastic == gqBufferIsAbsent(state))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     stochastic ? "stochastic rounding needs rng_state"
                                : "rng_state is for stochastic rounding");
  return gqBufferIsAbsent(state) ||
         gqCpuCheckFlat(op, "rng_state", GQ_READ, state, 1 << GQ_I64, 2, "[2]");
}

/// An outer amax, one per row, a column of a group, or as a factor.
static bool checkOuterAmax(gqCpuOp *op, const Problem *p, const char *name,
                           const gqBuffer *amax, gqOuter outer) {
  if (outer == GQ_OUTER_OF_GROUP)
    return gqCpuCheckFactor(op, name, amax, p->groups.numGroups);
  bool ofRow = outer == GQ_OUTER_OF_ROW;
  const gqRequirement requirement = {
      .name = name,
      .buffer = amax,
      .types = GQ_TYPES_F32,
      .placement = GQ_CONTIGUOUS,
      .rank = ofRow ? 1 : 2,
      .sizes = {ofRow ? p->groups.numRows : p->groups.numGroups,
                ofRow ? 0 : p->operands->input.sizes[1]},
      .shape = ofRow ? "[M]" : "[G, K]"};
  return gqBufferIsAbsent(amax) || gqCpuCheckOperand(op, &requirement);
}

/// The outer scales of the recipe.
static bool checkOuter(gqCpuOp *op, const Problem *p) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  bool te = p->method.recipe == GQ_RECIPE_TE;
  int64_t numGroups = p->groups.numGroups;
  if (!p->hasScales)
    return gqCpuCheckFactor(op, "scale", &operands->scale, numGroups) &&
           gqCpuCheckFactor(op, "outer_amax", &operands->outerAmax, numGroups);
  if (te && !gqBufferIsAbsent(&operands->globalScale))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "recipe te has no global_scale, only nvfuser has");
  bool own = !gqBufferIsAbsent(&operands->columnwiseOuterAmax);
  bool ofGroup = p->directions[0].outer == GQ_OUTER_OF_GROUP &&
                 p->directions[1].outer == GQ_OUTER_OF_GROUP;
  bool ownRows = !gqBufferIsAbsent(&operands->rowAmax);
  if (ownRows && (!te || p->directions[0].outer != GQ_OUTER_OF_ROW ||
                  p->columnwise || !gqBufferIsAbsent(&operands->outerAmax)))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "row_amax is for rows of the recipe te with an outer amax "
                     "each, without outer_amax and columnwise_data");
  if (te && gqBufferIsAbsent(&operands->outerAmax) && !ownRows &&
      (p->rowwise || !own))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT, "recipe te needs outer_amax");
  if (te && p->columnwise && !ofGroup && !own)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "with an outer amax per row or column, columnwise_data "
                     "needs columnwise_outer_amax");
  if (!te && !gqBufferIsAbsent(&operands->outerAmax))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "outer_amax is for the recipe te");
  if (own && !(te && p->columnwise))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "columnwise_outer_amax is for columnwise_data of the "
                     "recipe te");
  return gqCpuCheckGlobalScale(op, p->method.format, &operands->globalScale,
                               numGroups) &&
         checkOuterAmax(op, p, "outer_amax", &operands->outerAmax,
                        p->directions[0].outer) &&
         checkOuterAmax(op, p, "columnwise_outer_amax",
                        &operands->columnwiseOuterAmax, p->directions[1].outer);
}

/// Data in the shape of the input, as it is after a gather.
static bool checkData(gqCpuOp *op, const Problem *p, const char *name,
                      const gqBuffer *data) {
  int64_t count = p->groups.numRows;
  const gqRequirement numbers = {.name = name,
                                 .buffer = data,
                                 .types = GQ_TYPES_FLOAT,
                                 .placement = GQ_DISJOINT_ROWS,
                                 .access = GQ_WRITTEN,
                                 .rank = 2,
                                 .sizes = {count, p->operands->input.sizes[1]},
                                 .shape = "[M, K]"};
  if (holdsNumbers(data))
    return p->ragged ? gqCpuCheckFlat(op, name, GQ_WRITTEN, data,
                                      GQ_TYPES_FLOAT, count, "[N]")
                     : gqCpuCheckOperand(op, &numbers);
  if (!p->ragged)
    return gqCpuCheckData(op, name, GQ_WRITTEN, p->method.format, data, count,
                          p->operands->input.sizes[1]);
  return gqCpuCheckFlat(op, name, GQ_WRITTEN, data, 1 << p->traits.dataType,
                        count * p->traits.dataBits / 8,
                        p->traits.dataBits == 4 ? "[N / 2]" : "[N]");
}

static bool checkRowwise(gqCpuOp *op, const Problem *p) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  const gqBuffer *input = &operands->input;
  if (!p->rowwise)
    return true;
  if (!checkData(op, p, "data", &operands->data))
    return false;
  if (!storesScales(p, false))
    return true;
  if (p->ragged || (!isTiled(p) && p->traits.blockRows > 1))
    return gqCpuCheckFlat(op, "scales", GQ_WRITTEN, &operands->scales,
                          1 << p->traits.scaleType, GQ_ANY_EXTENT,
                          "a flat buffer");
  if (!isTiled(p))
    return gqCpuCheckLinearScales(op, GQ_WRITTEN, p->method.format,
                                  &operands->scales, p->groups.numRows,
                                  input->sizes[1]);
  return gqCpuCheckTiledScales(
      op, "scales", GQ_WRITTEN, p->method.format, &operands->scales,
      gq_dev_up(input->sizes[1] / p->traits.blockColumns, GQ_DEV_TILE_COLUMNS),
      p->groups);
}

static bool checkColumnwise(gqCpuOp *op, const Problem *p) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  if (!p->columnwise)
    return true;
  bool valid =
      isTransposed(p)
          ? gqCpuCheckFlat(op, "columnwise_data", GQ_WRITTEN,
                           &operands->columnwiseData, 1 << p->traits.dataType,
                           GQ_ANY_EXTENT, "a flat buffer")
          : checkData(op, p, "columnwise_data", &operands->columnwiseData);
  return valid &&
         (!storesScales(p, true) ||
          gqCpuCheckFlat(op, "columnwise_scales", GQ_WRITTEN,
                         &operands->columnwiseScales, 1 << p->traits.scaleType,
                         GQ_ANY_EXTENT, "a flat buffer"));
}

/// amax, dbias, scale_offsets_out and scale_inv.
static bool checkMore(gqCpuOp *op, const Problem *p) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  int64_t numGroups = p->groups.numGroups;
  const gqRequirement dbias = {.name = "dbias",
                               .buffer = &operands->dbias,
                               .types = GQ_TYPES_FLOAT,
                               .placement = GQ_CONTIGUOUS,
                               .access = GQ_WRITTEN,
                               .rank = 2,
                               .sizes = {numGroups, operands->input.sizes[1]},
                               .shape = "[G, K]"};
  return (gqBufferIsAbsent(&operands->amax) ||
          gqCpuCheckFlat(op, "amax", GQ_WRITTEN, &operands->amax, GQ_TYPES_F32,
                         numGroups, "[G]")) &&
         (gqBufferIsAbsent(&operands->rowAmax) ||
          gqCpuCheckFlat(op, "row_amax", GQ_WRITTEN, &operands->rowAmax,
                         GQ_TYPES_F32, p->groups.numRows, "[M]")) &&
         gqCpuCheckFlag(op, "noop_flag", &operands->noopFlag) &&
         (gqBufferIsAbsent(&operands->dbias) ||
          gqCpuCheckOperand(op, &dbias)) &&
         (gqBufferIsAbsent(&operands->scaleOffsetsOut) ||
          gqCpuCheckFlat(op, "scale_offsets_out", GQ_WRITTEN,
                         &operands->scaleOffsetsOut,
                         1 << operands->offsets.type, numGroups, "[G]")) &&
         (gqBufferIsAbsent(&operands->scaleInv) ||
          gqCpuCheckFlat(op, "scale_inv", GQ_WRITTEN, &operands->scaleInv,
                         GQ_TYPES_F32, numGroups, "[G]"));
}

/// The input and the groups in it.
static bool checkInput(gqCpuOp *op, Problem *p) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  bool valid = p->ragged
                   ? gqCpuCheckFlat(op, "input", GQ_READ, &operands->input,
                                    GQ_TYPES_FLOAT, GQ_ANY_EXTENT, "[N]")
                   : gqCpuCheckInput(op, p->method.format, &operands->input,
                                     &operands->rowIndices);
  const gqBuffer *counted =
      p->gathers ? &operands->rowIndices : &operands->input;
  if (!valid ||
      !gqCpuCheckGroups(op, &operands->offsets, &operands->scaleOffsets,
                        p->ragged ? "element" : "row", counted->sizes[0],
                        &p->groups))
    return false;
  return !p->ragged ||
         gqCpuCheckGroupDims(op, &operands->firstDims, &operands->lastDims,
                             &operands->offsets, &p->groups);
}

/// What only the contents of the offsets can show.
static bool checkGroups(gqCpuOp *op, const Problem *p) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  gqCpuGrouping grouping = groupingOf(p);
  gqCpuGroup group = gqCpuBeforeFirstGroup;
  for (int64_t e = 0; e < p->groups.numGroups; ++e) {
    if (p->ragged && !gqCpuCheckGroupShape(op, &grouping, e))
      return false;
    advance(p, &group);
    if (p->rowwise && hasPackedScales(p) &&
        !gqCpuCheckRoom(op, "scales", &operands->scales, e,
                        group.scales + numScales(p, false, &group)))
      return false;
    // In bytes, as two elements may share one.
    if (p->columnwise && isTransposed(p) &&
        !gqCpuCheckRoom(
            op, "columnwise_data", &operands->columnwiseData, e,
            (group.columnwiseData + gqCpuGroupTransposedSize(&group)) *
                p->traits.dataBits / 8))
      return false;
    if (storesScales(p, true) &&
        !gqCpuCheckRoom(op, "columnwise_scales", &operands->columnwiseScales, e,
                        group.columnwiseScales + numScales(p, true, &group)))
      return false;
    if (!gqBufferIsAbsent(&operands->scaleOffsetsOut) &&
        operands->scaleOffsetsOut.type == GQ_I32 &&
        group.scales / scaleColumns(p, false, &group) > INT32_MAX)
      return gqCpuFail(
          op, GQ_INVALID_OFFSETS,
          "scale_offsets_out is i32, too narrow for group %" PRId64, e);
  }
  return true;
}

static bool check(gqCpuOp *op, Problem *p) {
  return checkPresence(op, p) && checkInput(op, p) && checkDirections(op, p) &&
         checkOuter(op, p) && checkRowwise(op, p) && checkColumnwise(op, p) &&
         checkMore(op, p) && checkGroups(op, p) && gqCpuCheckOverlap(op);
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// Entry e of a global scale or an outer amax; null if there is none, as for
/// rows in no group (e < 0) where each group has its own.
static const float *factor(const gqBuffer *buffer, int64_t e) {
  const float *values = buffer->data;
  switch (gqBufferOuterKind(buffer)) {
  case GQ_OUTER_NONE:
    return NULL;
  case GQ_OUTER_ONE:
    return values;
  case GQ_OUTER_PER_GROUP:
    return e < 0 ? NULL : &values[e];
  case GQ_OUTER_PER_ROW: // Not of a factor.
  case GQ_OUTER_PER_COLUMN:
    break;
  }
  return NULL;
}

/// The outer scales of a group, or of rows in no group.
static void setOuter(const Problem *p, const gqCpuGroup *group,
                     gqCpuTileDirection *how) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  int64_t e = group->index;
  how->outer = 1.0f;
  if (p->method.recipe == GQ_RECIPE_NVFUSER) {
    const float *scale =
        factor(p->hasScales ? &operands->globalScale : &operands->scale, e);
    how->outer = scale ? *scale : 1.0f;
    return;
  }
  bool own =
      how->columnwise && !gqBufferIsAbsent(&operands->columnwiseOuterAmax);
  const gqBuffer *amax = own ? &operands->columnwiseOuterAmax
                         : gqBufferIsAbsent(&operands->rowAmax)
                             ? &operands->outerAmax
                             : &operands->rowAmax;
  switch (how->traits.outer) {
  case GQ_OUTER_OF_GROUP:
    how->outerAmax = factor(amax, e);
    if (how->outerAmax)
      how->outer = p->hasScales
                       ? gq_dev_nvfp4_te_outer(*how->outerAmax)
                       : gq_dev_given_scale(p->method.format, GQ_RECIPE_TE,
                                            *how->outerAmax);
    break;
  case GQ_OUTER_OF_ROW:
    how->outerAmaxes = (const float *)amax->data + group->begin;
    break;
  case GQ_OUTER_OF_COLUMN:
    how->outerAmaxes = (const float *)amax->data + e * group->columns;
    break;
  }
}

/// How a direction of a group, or of rows in no group, is quantized.
static gqCpuTileDirection howOf(const Problem *p, const gqCpuGroup *group,
                                bool columnwise) {
  gqCpuTileDirection how = {
      .traits = p->directions[columnwise],
      .columnwise = columnwise,
      .first = p->ragged ? group->begin : group->begin * group->columns,
      .pitch = group->columns,
  };
  if (!gqBufferIsAbsent(&p->operands->rngState)) {
    const uint64_t *state = p->operands->rngState.data;
    how.rng = (gq_dev_rng){.seed = state[0], .offset = state[1]};
  }
  setOuter(p, group, &how);
  return how;
}

/// The part of an operand in the shape of the input that begins at row or
/// element `begin`, as a matrix of `rows` rows of `columns` elements.
static gqBuffer part(const Problem *p, const gqBuffer *buffer, int64_t begin,
                     int64_t rows, int64_t columns) {
  gqBuffer matrix = {.data = buffer->data,
                     .type = buffer->type,
                     .rank = 2,
                     .sizes = {rows, columns},
                     .strides = {columns, 1}};
  if (p->ragged) {
    matrix.data = (uint8_t *)buffer->data +
                  begin * gqElementTypeSize((gqElementType)buffer->type);
  } else {
    matrix.data = gqCpuRow(buffer, begin);
    matrix.strides[0] = buffer->strides[0];
  }
  return matrix;
}

/// What is quantized: the input of a group or of rows in no group.
static gqCpuQuantization inputOf(const Problem *p, const gqCpuGroup *group) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  gqCpuQuantization quantization = {.method = p->method, .rows = group->rows};
  if (!p->gathers) {
    quantization.input =
        part(p, &operands->input, group->begin, group->rows, group->columns);
    return quantization;
  }
  quantization.input = operands->input;
  quantization.rowIndices = operands->rowIndices;
  quantization.rowIndices.data =
      (uint8_t *)operands->rowIndices.data +
      group->begin *
          gqElementTypeSize((gqElementType)operands->rowIndices.type);
  return quantization;
}

/// Data in the shape of the input, from row or element `begin` on.
static void setData(const Problem *p, const gqBuffer *buffer,
                    const gqCpuGroup *group, gqCpuDirection *direction) {
  int64_t bits = p->traits.dataBits;
  if (holdsNumbers(buffer)) {
    direction->numbers =
        part(p, buffer, group->begin, group->rows, group->columns);
    return;
  }
  gqBuffer data =
      part(p, buffer, p->ragged ? group->begin * bits / 8 : group->begin,
           group->rows, group->columns * bits / 8);
  direction->data = data.data;
  direction->stride = data.strides[0];
}

static uint8_t *scaleAddress(const Problem *p, const gqBuffer *scales,
                             int64_t index) {
  return (uint8_t *)scales->data +
         index * gqElementTypeSize(p->traits.scaleType);
}

static gqCpuDirection rowwise(const Problem *p, const gqCpuGroup *group) {
  const gqBuffer *scales = &p->operands->scales;
  gqCpuDirection direction = {.how = howOf(p, group, false),
                              .scaleStride = scaleColumns(p, false, group)};
  setData(p, &p->operands->data, group, &direction);
  if (!storesScales(p, false)) {
    direction.scales = NULL;
  } else if (hasPackedScales(p)) {
    direction.scales = scaleAddress(p, scales, group->scales);
  } else if (isTiled(p)) {
    int64_t row = gq_dev_group_scale_begin(p->groups, group->index);
    direction.scales = scaleAddress(p, scales, row * direction.scaleStride);
  } else {
    direction.scales = gqCpuRow(scales, group->begin);
    direction.scaleStride = scales->strides[0];
  }
  return direction;
}

static gqCpuDirection columnwise(const Problem *p, const gqCpuGroup *group) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  gqCpuDirection direction = {
      .scales = storesScales(p, true)
                    ? scaleAddress(p, &operands->columnwiseScales,
                                   group->columnwiseScales)
                    : NULL,
      .scaleStride = scaleColumns(p, true, group),
      .how = howOf(p, group, true)};
  if (isTransposed(p)) {
    int64_t bits = p->traits.dataBits;
    direction.data = (uint8_t *)operands->columnwiseData.data +
                     group->columnwiseData * bits / 8;
    direction.stride =
        gq_dev_up(group->rows, GQ_CPU_TRANSPOSED_UNIT) * bits / 8;
  } else {
    setData(p, &operands->columnwiseData, group, &direction);
  }
  return direction;
}

static void storeIndex(const gqBuffer *indices, int64_t i, int64_t value) {
  if (indices->type == GQ_I64)
    ((int64_t *)indices->data)[i] = value;
  else
    ((int32_t *)indices->data)[i] = (int32_t)value;
}

/// How a group, or rows in no group, are quantized.
static gqCpuQuantization makeQuantization(const Problem *p,
                                          const gqCpuGroup *group) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  gqCpuQuantization quantization = inputOf(p, group);
  if (group->index < 0) { // Only data.
    quantization.rowwise.how = howOf(p, group, false);
    setData(p, &operands->data, group, &quantization.rowwise);
    return quantization;
  }
  if (p->rowwise)
    quantization.rowwise = rowwise(p, group);
  if (p->columnwise)
    quantization.columnwise = columnwise(p, group);
  if (!gqBufferIsAbsent(&operands->amax))
    quantization.amax = (float *)operands->amax.data + group->index;
  return quantization;
}

/// The outer amaxes of the rows of a matrix, which the op computes.
static gqCpuAmaxes rowAmaxes(const Problem *p, const gqCpuGroup *group) {
  return (gqCpuAmaxes){.rows =
                           (float *)p->operands->rowAmax.data + group->begin};
}

/// What is stored for each matrix, and what threads raise.
static void begin(const Problem *p, const gqCpuGroup *group) {
  const gqGroupedBlockQuantizeOperands *operands = p->operands;
  if (!gqBufferIsAbsent(&operands->rowAmax))
    gqCpuClearAmaxes(group->rows, group->columns, rowAmaxes(p, group));
  if (group->index < 0)
    return;
  if (!gqBufferIsAbsent(&operands->amax))
    ((float *)operands->amax.data)[group->index] = 0.0f;
  if (!gqBufferIsAbsent(&operands->scaleInv))
    ((float *)operands->scaleInv.data)[group->index] =
        gq_dev_given_inverse(howOf(p, group, false).outer);
  if (!gqBufferIsAbsent(&operands->scaleOffsetsOut))
    storeIndex(&operands->scaleOffsetsOut, group->index,
               group->scales / scaleColumns(p, false, group));
}

static void measureJob(const void *problem, const gqCpuJob *job) {
  const gqCpuQuantization quantization = inputOf(problem, &job->group);
  gqCpuMeasure(&quantization.input, &quantization.rowIndices, job,
               rowAmaxes(problem, &job->group));
}

static void quantizeJob(const void *problem, const gqCpuJob *job) {
  const gqCpuQuantization quantization = makeQuantization(problem, &job->group);
  gqCpuQuantize(&quantization, job);
}

static void sumJob(const void *problem, const gqCpuJob *job) {
  const Problem *p = problem;
  const gqCpuQuantization quantization = inputOf(p, &job->group);
  gqBuffer dbias = p->operands->dbias;
  dbias.data = gqCpuRow(&dbias, job->group.index);
  gqCpuSumColumns(&quantization.input, &quantization.rowIndices, job, &dbias);
}

static void run(const Problem *p) {
  gqCpuMatrices matrices = {.grouping = groupingOf(p),
                            .outside = p->rows == GQ_ROWS_ALL && p->rowwise &&
                                       !p->ragged,
                            .jobRows = GQ_CPU_JOB_ROWS,
                            .jobColumns = GQ_CPU_JOB_COLUMNS,
                            .cost = 1};
  gqCpuJob job = gqCpuBeforeFirstJob;
  while (gqCpuNextMatrix(&matrices, &job))
    begin(p, &job.group);
  if (!gqBufferIsAbsent(&p->operands->rowAmax))
    gqCpuRunMatrices(&matrices, measureJob, p);
  gqCpuRunMatrices(&matrices, quantizeJob, p);
  if (gqBufferIsAbsent(&p->operands->dbias))
    return;
  // Columns are summed from the first row of a group to the last.
  matrices.outside = false;
  matrices.jobRows = 0;
  gqCpuRunMatrices(&matrices, sumJob, p);
}

void gqCpuQuantizeGroups(gqCpuOp *op,
                         const gqGroupedBlockQuantizeOperands *operands,
                         gqCpuMethod method, gqRows rows,
                         const gqDirectionTraits directions[2]) {
  Problem problem = {
      .operands = operands,
      .method = method,
      .rows = rows,
      .traits = gqFormatGetTraits(method.format),
      .hasScales = gqFormatHasBlockScales(method.format),
      .directions = {directions[0], directions[1]},
  };
  if (check(op, &problem) && !gqCpuIsSet(&operands->noopFlag))
    run(&problem);
}

void gqCpuGroupedBlockQuantize(const gqGroupedBlockQuantizeOperands *operands,
                               int32_t format, int32_t recipe,
                               int32_t scaleLayout, int32_t rows,
                               int32_t rowwise, int32_t columnwise) {
  static const size_t absent[] = {
      offsetof(gqGroupedBlockQuantizeOperands, scale),
      offsetof(gqGroupedBlockQuantizeOperands, scaleInv)};
  const gqDirectionTraits directions[] = {gqDirectionUnpack(rowwise),
                                          gqDirectionUnpack(columnwise)};
  gqCpuOp op;
  if (!gqCpuBegin(&op, "grouped_block_quantize"))
    return;
  if (checkAttributes(&op, format, recipe, scaleLayout, rows) &&
      gqCpuCheckAbsent(&op, operands, 2, absent))
    gqCpuQuantizeGroups(&op, operands,
                        (gqCpuMethod){(gqFormat)format, (gqRecipe)recipe,
                                      (gqScaleLayout)scaleLayout},
                        (gqRows)rows, directions);
  gqCpuEnd(&op);
}
