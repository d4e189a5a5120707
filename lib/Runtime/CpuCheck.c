//===- CpuCheck.c - running and checking an op on the CPU ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuCheck.h"

#include "CpuQuantize.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

//===----------------------------------------------------------------------===//
// The frame of an op
//===----------------------------------------------------------------------===//

static _Thread_local gqStatus pending = GQ_OK;

gqStatus gqCpuStatus(void) {
  gqStatus status = pending;
  pending = GQ_OK;
  return status;
}

bool gqCpuBegin(gqCpuOp *op, const char *name) {
  if (pending != GQ_OK)
    return false;
  op->name = name;
  op->status = GQ_OK;
  op->numOperands = 0;
  fegetenv(&op->environment);
  fesetenv(FE_DFL_ENV);
  return true;
}

void gqCpuEnd(gqCpuOp *op) {
  fesetenv(&op->environment);
  pending = op->status;
}

bool gqCpuFail(gqCpuOp *op, gqStatus status, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  op->status = gqFail(status, "%s: %s", op->name, text);
  return false;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A set of several types, or the type of another operand.
static const char *typesName(int32_t types) {
  switch (types) {
  case GQ_TYPES_FLOAT:
    return "f32, bf16 or f16";
  case GQ_TYPES_INDEX:
    return "i32 or i64";
  case GQ_TYPES_FP8:
    return "f8E4M3FN or f8E5M2";
  case 1 << GQ_I32:
    return "i32, as offsets";
  case 1 << GQ_I64:
    return "i64, as offsets";
  }
  return gqElementTypeMnemonic(__builtin_ctz((unsigned)types));
}

/// Room for three extents of 20 characters, separators and brackets.
typedef struct gqShapeText {
  char text[72];
} gqShapeText;

static gqShapeText shapeText(int64_t rank, const int64_t *sizes) {
  gqShapeText shape = {"[]"};
  if (rank == 1)
    snprintf(shape.text, sizeof(shape.text), "[%" PRId64 "]", sizes[0]);
  if (rank == 2)
    snprintf(shape.text, sizeof(shape.text), "[%" PRId64 ", %" PRId64 "]",
             sizes[0], sizes[1]);
  if (rank == 3)
    snprintf(shape.text, sizeof(shape.text),
             "[%" PRId64 ", %" PRId64 ", %" PRId64 "]", sizes[0], sizes[1],
             sizes[2]);
  return shape;
}

static gqShapeText shapeOf(const gqBuffer *buffer) {
  return shapeText(buffer->rank, buffer->sizes);
}

/// Bytes that no machine can address.
static const int64_t limit = (int64_t)1 << 56;

/// The number of bytes of the elements, -1 if an extent is negative or no
/// machine can address as much.
static int64_t numBytes(const gqBuffer *buffer) {
  int64_t bytes = gqElementTypeSize((gqElementType)buffer->type);
  bool empty = false;
  for (int64_t d = 0; d < buffer->rank; ++d) {
    if (buffer->sizes[d] < 0 || buffer->sizes[d] > limit)
      return -1;
    empty |= buffer->sizes[d] == 0;
    if (__builtin_mul_overflow(bytes, buffer->sizes[d], &bytes))
      return -1;
  }
  if (empty)
    return 0;
  return bytes <= limit ? bytes : -1;
}

/// Whether the elements lie where a machine can address them all.
static bool isAddressable(const gqBuffer *buffer) {
  int64_t size = gqElementTypeSize((gqElementType)buffer->type);
  for (int64_t d = 0; d < buffer->rank; ++d) {
    int64_t bytes = buffer->sizes[d] - 1;
    if (__builtin_mul_overflow(bytes, buffer->strides[d], &bytes) ||
        __builtin_mul_overflow(bytes, size, &bytes) || bytes > limit ||
        bytes < -limit)
      return false;
  }
  return true;
}

/// Strides of extents of one element mean nothing and are not looked at.
static bool isPlacedAs(const gqBuffer *buffer, gqPlacement placement) {
  int64_t dense = 1;
  for (int64_t d = buffer->rank - 1; d >= 0; --d) {
    int64_t size = buffer->sizes[d], stride = buffer->strides[d];
    bool outer = d < buffer->rank - 1;
    if (size > 1) {
      bool placed = stride == dense;
      if (outer && placement == GQ_ROWS)
        placed = true;
      if (outer && placement == GQ_DISJOINT_ROWS)
        placed = stride >= dense || stride <= -dense;
      if (!placed)
        return false;
    }
    dense *= size;
  }
  return true;
}

bool gqCpuHasType(const gqBuffer *buffer, int32_t types) {
  return buffer->type >= 0 && buffer->type <= GQ_F8E8M0FNU &&
         types >> buffer->type & 1;
}

bool gqCpuCheckOperand(gqCpuOp *op, const gqRequirement *requirement) {
  const char *name = requirement->name;
  const gqBuffer *buffer = requirement->buffer;

  if (!gqCpuHasType(buffer, requirement->types))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT, "%s is %s, expected %s", name,
                     gqElementTypeMnemonic(buffer->type),
                     typesName(requirement->types));

  if (buffer->rank != requirement->rank)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "%s has rank %" PRId64 ", expected %s", name, buffer->rank,
                     requirement->shape);

  bool matches = true;
  int64_t sizes[GQ_OPERAND_RANK] = {0};
  for (int64_t d = 0; d < buffer->rank; ++d) {
    bool any = requirement->sizes[d] == GQ_ANY_EXTENT;
    sizes[d] = any ? buffer->sizes[d] : requirement->sizes[d];
    matches &= sizes[d] == buffer->sizes[d];
  }
  if (!matches)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "%s has shape %s, expected %s = %s", name,
                     shapeOf(buffer).text, shapeText(buffer->rank, sizes).text,
                     requirement->shape);

  int64_t bytes = numBytes(buffer);
  if (bytes < 0)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "%s has shape %s, which no memory can hold", name,
                     shapeOf(buffer).text);
  if (bytes == 0)
    return true;

  if (!buffer->data)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "%s has shape %s but no memory (a null pointer)", name,
                     shapeOf(buffer).text);

  if (!isPlacedAs(buffer, requirement->placement))
    return gqCpuFail(
        op, GQ_INVALID_ARGUMENT, "%s has strides %s for shape %s, expected %s",
        name, shapeText(buffer->rank, buffer->strides).text,
        shapeOf(buffer).text,
        requirement->placement == GQ_CONTIGUOUS ? "a contiguous buffer"
        : requirement->placement == GQ_ROWS
            ? "an inner stride of 1"
            : "an inner stride of 1 and rows that do not overlap");
  if (!isAddressable(buffer))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "%s has strides %s for shape %s, which no memory can hold",
                     name, shapeText(buffer->rank, buffer->strides).text,
                     shapeOf(buffer).text);
  assert(op->numOperands < GQ_CPU_MAX_OPERANDS);
  op->operands[op->numOperands++] =
      (gqCpuOperand){name, gqSpanOf(buffer), requirement->access == GQ_WRITTEN};
  return true;
}

bool gqCpuCheckFlat(gqCpuOp *op, const char *name, gqAccess access,
                    const gqBuffer *buffer, int32_t types, int64_t size,
                    const char *shape) {
  const gqRequirement requirement = {.name = name,
                                     .buffer = buffer,
                                     .types = types,
                                     .placement = GQ_CONTIGUOUS,
                                     .access = access,
                                     .rank = 1,
                                     .sizes = {size},
                                     .shape = shape};
  return gqCpuCheckOperand(op, &requirement);
}

bool gqCpuCheckRoom(gqCpuOp *op, const char *name, const gqBuffer *buffer,
                    int64_t e, int64_t end) {
  int64_t size = 1;
  for (int64_t d = 0; d < buffer->rank; ++d)
    size *= buffer->sizes[d];
  return end <= size ||
         gqCpuFail(op, GQ_INVALID_OFFSETS,
                   "%s has %" PRId64 " elements, too few for group %" PRId64
                   ", which ends at %" PRId64,
                   name, size, e, end);
}

bool gqCpuCheckOverlap(gqCpuOp *op) {
  for (int32_t i = 0; i < op->numOperands; ++i)
    for (int32_t k = 0; k < i; ++k) {
      const gqCpuOperand *a = &op->operands[i], *b = &op->operands[k];
      if ((a->written || b->written) && gqSpansOverlap(a->span, b->span))
        return gqCpuFail(
            op, GQ_INVALID_ARGUMENT, "%s is written and overlaps %s in memory",
            a->written ? a->name : b->name, a->written ? b->name : a->name);
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes and groups
//===----------------------------------------------------------------------===//

static bool checkScaleLayout(gqCpuOp *op, int32_t scaleLayout,
                             int32_t layouts) {
  if (scaleLayout >= 0 && scaleLayout <= GQ_SCALE_LAYOUT_TILE128X4 &&
      layouts >> scaleLayout & 1)
    return true;
  return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "scale_layout %" PRId32 " is not supported, expected %s",
                   scaleLayout,
                   layouts == GQ_LAYOUTS_LINEAR      ? "linear (0)"
                   : layouts == GQ_LAYOUTS_TILE128X4 ? "tile128x4 (1)"
                                                     : "linear (0) or "
                                                       "tile128x4 (1)");
}

bool gqCpuCheckFormat(gqCpuOp *op, int32_t format) {
  return (format >= 0 && format < GQ_NUM_FORMATS) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "format %" PRId32 " is unknown, expected 0 to %d", format,
                   GQ_NUM_FORMATS - 1);
}

bool gqCpuCheckTensorFormat(gqCpuOp *op, int32_t format) {
  gqFormatTraits traits;
  return (gqFormatFind(format, &traits) &&
          traits.scaleRule == GQ_SCALE_RULE_GIVEN) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "format %" PRId32 " has no single scale, expected %d or %d",
                   format, GQ_FORMAT_FP8_E4M3, GQ_FORMAT_FP8_E5M2);
}

bool gqCpuCheckAttributes(gqCpuOp *op, int32_t format, int32_t scaleLayout,
                          int32_t layouts) {
  if (!gqCpuCheckFormat(op, format) ||
      !checkScaleLayout(op, scaleLayout, layouts))
    return false;
  gqFormatTraits traits = gqFormatGetTraits((gqFormat)format);
  if (scaleLayout == GQ_SCALE_LAYOUT_TILE128X4 && traits.scaleType == GQ_F32)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "format %s has f32 scales, which have no tile128x4 layout",
                     traits.name);
  return true;
}

bool gqCpuCheckFlag(gqCpuOp *op, const char *name, const gqBuffer *flag) {
  const gqRequirement requirement = {.name = name,
                                     .buffer = flag,
                                     .types = 1 << GQ_I32,
                                     .placement = GQ_CONTIGUOUS,
                                     .access = GQ_READ,
                                     .rank = 0,
                                     .shape = "[]"};
  return gqBufferIsAbsent(flag) || gqCpuCheckOperand(op, &requirement);
}

bool gqCpuIsSet(const gqBuffer *flag) {
  return !gqBufferIsAbsent(flag) && *(const int32_t *)flag->data != 0;
}

bool gqCpuCheckRows(gqCpuOp *op, int32_t rows) {
  return rows == GQ_ROWS_ALL || rows == GQ_ROWS_GROUPED ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "rows %" PRId32
                   " is unknown, expected all (%d) or grouped (%d)",
                   rows, GQ_ROWS_ALL, GQ_ROWS_GROUPED);
}

bool gqCpuCheckColumns(gqCpuOp *op, const char *name, gqFormat format,
                       int64_t k) {
  int64_t block = gqFormatGetTraits(format).blockColumns;
  if (k > 0 && k % block == 0)
    return true;
  return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "%s has K = %" PRId64
                   " columns, expected a positive multiple of the block of "
                   "%" PRId64,
                   name, k, block);
}

/// Every index is the number of a row of `input`. As of other matrices, rows
/// times columns do not overflow.
static bool checkRowIndices(gqCpuOp *op, const gqBuffer *rowIndices,
                            const gqBuffer *input) {
  const gqRequirement requirement = {.name = "row_indices",
                                     .buffer = rowIndices,
                                     .types = GQ_TYPES_INDEX,
                                     .placement = GQ_CONTIGUOUS,
                                     .rank = 1,
                                     .sizes = {GQ_ANY_EXTENT},
                                     .shape = "[M]"};
  if (!gqCpuCheckOperand(op, &requirement))
    return false;
  int64_t elements, numRows = input->sizes[0];
  if (__builtin_mul_overflow(rowIndices->sizes[0], input->sizes[1],
                             &elements) ||
      elements > limit)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "row_indices has %" PRId64 " rows of the %" PRId64
                     " columns of input, which no memory can hold",
                     rowIndices->sizes[0], input->sizes[1]);
  for (int64_t m = 0; m < rowIndices->sizes[0]; ++m) {
    int64_t row =
        gq_dev_load_index(rowIndices->data, rowIndices->type == GQ_I64, m);
    if (row < 0 || row >= numRows)
      return gqCpuFail(op, GQ_INVALID_ROW_INDICES,
                       "row_indices[%" PRId64 "] = %" PRId64
                       " is not one of the %" PRId64 " rows of input",
                       m, row, numRows);
  }
  return true;
}

bool gqCpuCheckInput(gqCpuOp *op, gqFormat format, const gqBuffer *input,
                     const gqBuffer *rowIndices) {
  bool gathers = rowIndices && !gqBufferIsAbsent(rowIndices);
  const gqRequirement matrix = {.name = "input",
                                .buffer = input,
                                .types = GQ_TYPES_FLOAT,
                                .placement = GQ_ROWS,
                                .rank = 2,
                                .sizes = {GQ_ANY_EXTENT, GQ_ANY_EXTENT},
                                .shape = gathers ? "[N, K]" : "[M, K]"};
  return gqCpuCheckOperand(op, &matrix) &&
         gqCpuCheckColumns(op, "input", format, input->sizes[1]) &&
         (!gathers || checkRowIndices(op, rowIndices, input));
}

/// How an operand made of rows is placed.
static gqPlacement rowsFor(gqAccess access) {
  return access == GQ_WRITTEN ? GQ_DISJOINT_ROWS : GQ_ROWS;
}

bool gqCpuCheckData(gqCpuOp *op, const char *name, gqAccess access,
                    gqFormat format, const gqBuffer *data, int64_t m,
                    int64_t k) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  const gqRequirement codes = {.name = name,
                               .buffer = data,
                               .types = 1 << traits.dataType,
                               .placement = rowsFor(access),
                               .access = access,
                               .rank = 2,
                               .sizes = {m, k * traits.dataBits / 8},
                               .shape = traits.dataBits == 4 ? "[M, K / 2]"
                                                             : "[M, K]"};
  return gqCpuCheckOperand(op, &codes);
}

bool gqCpuCheckLinearScales(gqCpuOp *op, gqAccess access, gqFormat format,
                            const gqBuffer *scales, int64_t m, int64_t k) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  gqCpuScaleExtents extents = gqCpuGetScaleExtents(format, false, m, k);
  char shape[96] = "[M, K / block]";
  if (traits.blockRows > 1)
    snprintf(shape, sizeof(shape),
             "[up(M, %" PRId64 ") / %" PRId64 ", K / %" PRId64 "]",
             traits.blockRows, traits.blockRows, traits.blockColumns);
  const gqRequirement linear = {.name = "scales",
                                .buffer = scales,
                                .types = 1 << traits.scaleType,
                                .placement = rowsFor(access),
                                .access = access,
                                .rank = 2,
                                .sizes = {extents.rows, extents.columns},
                                .shape = shape};
  return gqCpuCheckOperand(op, &linear);
}

bool gqCpuCheckFactor(gqCpuOp *op, const char *name, const gqBuffer *factor,
                      int64_t numGroups) {
  bool grouped = numGroups != GQ_NO_GROUPS;
  bool perGroup = grouped && factor->rank == 1;
  const gqRequirement requirement = {.name = name,
                                     .buffer = factor,
                                     .types = GQ_TYPES_F32,
                                     .placement = GQ_CONTIGUOUS,
                                     .rank = perGroup,
                                     .sizes = {numGroups},
                                     .shape = perGroup  ? "[G]"
                                              : grouped ? "[] or [G]"
                                                        : "[]"};
  return gqBufferIsAbsent(factor) || gqCpuCheckOperand(op, &requirement);
}

bool gqCpuCheckGlobalScale(gqCpuOp *op, gqFormat format,
                           const gqBuffer *globalScale, int64_t numGroups) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  if (!gqBufferIsAbsent(globalScale) && traits.scaleRule != GQ_SCALE_RULE_NVFP4)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "format %s has no global_scale, only nvfp4 has",
                     traits.name);
  return gqCpuCheckFactor(op, "global_scale", globalScale, numGroups);
}

/// Starts do not decrease and lie in [0, count].
static bool checkOffsets(gqCpuOp *op, const char *unit, gq_dev_groups groups) {
  int64_t previous = 0;
  for (int64_t i = 0; i < groups.numOffsets; ++i) {
    int64_t offset = gq_dev_load_index(groups.offsets, groups.wide, i);
    if (offset < 0)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "offsets[%" PRId64 "] = %" PRId64
                       " is negative; %s starts lie in [0, %" PRId64 "]",
                       i, offset, unit, groups.numRows);
    if (offset > groups.numRows)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "offsets[%" PRId64 "] = %" PRId64
                       " lies beyond the %" PRId64 " %ss there are",
                       i, offset, groups.numRows, unit);
    if (offset < previous)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "offsets[%" PRId64 "] = %" PRId64
                       " is smaller than offsets[%" PRId64 "] = %" PRId64
                       "; %s starts must not decrease",
                       i, offset, i - 1, previous, unit);
    previous = offset;
  }
  return true;
}

bool gqCpuCheckGroups(gqCpuOp *op, const gqBuffer *offsets,
                      const gqBuffer *scaleOffsets, const char *unit,
                      int64_t count, gq_dev_groups *groups) {
  bool hasScaleOffsets = !gqBufferIsAbsent(scaleOffsets);
  const gqRequirement offsetsRequirement = {
      .name = "offsets",
      .buffer = offsets,
      .types = GQ_TYPES_INDEX,
      .placement = GQ_CONTIGUOUS,
      .rank = 1,
      .sizes = {GQ_ANY_EXTENT},
      .shape = hasScaleOffsets ? "[G + 1] or [G]" : "[G + 1]"};
  if (!gqCpuCheckOperand(op, &offsetsRequirement))
    return false;
  assert(offsets->type >= 0 && "an index type");
  const gqRequirement scaleOffsetsRequirement = {.name = "scale_offsets",
                                                 .buffer = scaleOffsets,
                                                 .types = 1 << offsets->type,
                                                 .placement = GQ_CONTIGUOUS,
                                                 .rank = 1,
                                                 .sizes = {GQ_ANY_EXTENT},
                                                 .shape = "[G]"};
  if (hasScaleOffsets && !gqCpuCheckOperand(op, &scaleOffsetsRequirement))
    return false;

  int64_t numOffsets = offsets->sizes[0];
  int64_t numGroups = hasScaleOffsets ? scaleOffsets->sizes[0] : numOffsets - 1;
  if (numGroups < 0)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "offsets has 0 entries, expected G + 1 where there are no "
                     "scale_offsets");
  if (numOffsets != numGroups && numOffsets != numGroups + 1)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "offsets has %" PRId64 " entries, expected %" PRId64
                     " or %" PRId64 ", for the %" PRId64
                     " groups of scale_offsets",
                     numOffsets, numGroups + 1, numGroups, numGroups);
  *groups = (gq_dev_groups){
      .offsets = offsets->data,
      .scaleOffsets = hasScaleOffsets ? scaleOffsets->data : NULL,
      .wide = offsets->type == GQ_I64,
      .numOffsets = numOffsets,
      .numGroups = numGroups,
      .numRows = count,
  };
  return checkOffsets(op, unit, *groups);
}

/// Each group's padded rows start at a multiple of 128, after those of the
/// group before, and end inside of the buffer. Given valid offsets. An offset
/// is compared with, and never added to, before it is known to be in range.
static bool checkScaleOffsets(gqCpuOp *op, gq_dev_groups groups,
                              const char *scalesName, int64_t scaleRows) {
  int64_t free = 0;
  for (int64_t e = 0; e < groups.numGroups; ++e) {
    int64_t offset = gq_dev_group_scale_begin(groups, e);
    int64_t rows =
        gq_dev_group_begin(groups, e + 1) - gq_dev_group_begin(groups, e);
    int64_t paddedRows = gq_dev_up(rows, GQ_DEV_TILE_ROWS);
    if (offset % GQ_DEV_TILE_ROWS != 0)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "scale_offsets[%" PRId64 "] = %" PRId64
                       " is not a multiple of 128",
                       e, offset);
    if (offset < 0)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "scale_offsets[%" PRId64 "] = %" PRId64 " is negative",
                       e, offset);
    if (offset < free)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "scale_offsets[%" PRId64 "] = %" PRId64
                       " overlaps group %" PRId64
                       ", whose padded rows end at %" PRId64,
                       e, offset, e - 1, free);
    if (offset > scaleRows || paddedRows > scaleRows - offset)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "scale_offsets[%" PRId64 "] = %" PRId64
                       " leaves no room for the %" PRId64
                       " rows of group %" PRId64 ", padded to %" PRId64
                       ": %s has %" PRId64 " rows",
                       e, offset, rows, e, paddedRows, scalesName, scaleRows);
    free = offset + paddedRows;
  }
  return true;
}

bool gqCpuCheckTiledScales(gqCpuOp *op, const char *name, gqAccess access,
                           gqFormat format, const gqBuffer *scales,
                           int64_t paddedColumns, gq_dev_groups groups) {
  const gqRequirement requirement = {
      .name = name,
      .buffer = scales,
      .types = 1 << gqFormatGetTraits(format).scaleType,
      .placement = GQ_CONTIGUOUS,
      .access = access,
      .rank = 2,
      .sizes = {GQ_ANY_EXTENT, paddedColumns},
      .shape = "[R, up(C, 4)] for C = K / block scale columns"};
  if (!gqCpuCheckOperand(op, &requirement))
    return false;
  if (scales->sizes[0] % GQ_DEV_TILE_ROWS != 0)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "%s has %" PRId64 " rows, expected a multiple of 128",
                     name, scales->sizes[0]);
  return !groups.scaleOffsets ||
         checkScaleOffsets(op, groups, name, scales->sizes[0]);
}
