//===- Problems.c - sound calls of the ops, of a fuzzer's bytes ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes are those of gq/Runtime/Ops.def and GroupedQuantize.def, computed from
// what is written there and not from what the ops do.
//
//===----------------------------------------------------------------------===//

#include "Problems.h"

enum {
  MAX_GROUPS = 5,
  MAX_ROWS = MAX_INTEGERS - 1,
};

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static bool maybe(Input *input) { return takeChoice(input, 2); }

static gqElementType takeFloatType(Input *input) {
  static const gqElementType types[] = {GQ_F32, GQ_BF16, GQ_F16};
  return types[takeChoice(input, 3)];
}

static gqElementType takeIndexType(Input *input) {
  return maybe(input) ? GQ_I64 : GQ_I32;
}

static gqElementType takeFp8(Input *input) {
  return maybe(input) ? GQ_F8E5M2 : GQ_F8E4M3FN;
}

/// A positive multiple of `block`: two of a large one, several of a small one.
static int64_t takeColumns(Input *input, int64_t block) {
  return block * (1 + takeChoice(input, block > 64 ? 2 : 6));
}

static int64_t up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit * unit;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static char somewhere;

static gqBuffer scalar(gqElementType type) {
  return (gqBuffer){.data = &somewhere, .type = type};
}

static gqBuffer vector(gqElementType type, int64_t size) {
  return (gqBuffer){.data = &somewhere,
                    .type = type,
                    .rank = 1,
                    .sizes = {size},
                    .strides = {1}};
}

/// Of rank 1 and of this size at least.
static gqBuffer flat(Input *input, gqElementType type, int64_t size) {
  static const int64_t more[] = {0, 0, 1, 77};
  return vector(type, size + more[takeChoice(input, 4)]);
}

static gqBuffer matrix(gqElementType type, int64_t rows, int64_t columns) {
  return (gqBuffer){.data = &somewhere,
                    .type = type,
                    .rank = 2,
                    .sizes = {rows, columns},
                    .strides = {columns, 1}};
}

static gqBuffer cube(gqElementType type, int64_t a, int64_t b, int64_t c) {
  return (gqBuffer){.data = &somewhere,
                    .type = type,
                    .rank = 3,
                    .sizes = {a, b, c},
                    .strides = {b * c, c, 1}};
}

/// A matrix whose rows may be apart.
static gqBuffer writtenRows(Input *input, gqElementType type, int64_t rows,
                            int64_t columns) {
  gqBuffer buffer = matrix(type, rows, columns);
  switch (takeChoice(input, 5)) {
  case 0:
    buffer.strides[0] += 1 + takeChoice(input, 16);
    break;
  case 1:
    buffer.strides[0] = -columns - takeChoice(input, 16);
    break;
  default:
    break;
  }
  return buffer;
}

/// One whose rows may lie anywhere.
static gqBuffer readRows(Input *input, gqElementType type, int64_t rows,
                         int64_t columns) {
  gqBuffer buffer = writtenRows(input, type, rows, columns);
  if (takeChoice(input, 8) == 0)
    buffer.strides[0] = takeChoice(input, 16);
  return buffer;
}

/// [] or [G] f32.
static gqBuffer factor(Input *input, int64_t numGroups) {
  return maybe(input) ? vector(GQ_F32, numGroups) : scalar(GQ_F32);
}

/// What an operand holds.
static void holds(Problem *p, const gqBuffer *operand, int64_t count,
                  const int64_t *values) {
  Integers *list = &p->lists[p->numLists++];
  list->count = count;
  memcpy(list->values, values, (size_t)count * sizeof(*values));
  p->integers[operand - p->operands] = list;
}

static void setIntegers(Problem *p, gqBuffer *operand, gqElementType type,
                        int64_t count, const int64_t *values) {
  *operand = vector(type, count);
  holds(p, operand, count, values);
}

static void takeFlag(Input *input, Problem *p, gqBuffer *operand) {
  *operand = scalar(GQ_I32);
  holds(p, operand, 1, (const int64_t[]){takeChoice(input, 4) == 0});
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Groups of the rows of a matrix, or ragged ones.
typedef struct Groups {
  bool ragged;
  int64_t number;
  gqElementType type;
  /// The rows that there are or, if ragged, the elements.
  int64_t count;
  /// Of rows.
  int64_t columns;
  int64_t begins[MAX_GROUPS + 1], rows[MAX_GROUPS], widths[MAX_GROUPS];
} Groups;

/// Groups of the rows of a matrix of `columns`. The last one ends with the
/// matrix if there are `onlyBegins`.
static Groups takeGroupsOfRows(Input *input, int64_t columns, bool onlyBegins) {
  Groups groups = {.type = takeIndexType(input), .columns = columns};
  groups.number = takeChoice(input, MAX_GROUPS + 1);
  groups.count = takeChoice(input, MAX_ROWS + 1);
  for (int64_t i = 0; i <= groups.number; ++i) {
    int64_t begin = onlyBegins && i == groups.number
                        ? groups.count
                        : takeChoice(input, (uint32_t)groups.count + 1);
    int64_t at = i;
    for (; at > 0 && groups.begins[at - 1] > begin; --at)
      groups.begins[at] = groups.begins[at - 1];
    groups.begins[at] = begin;
  }
  for (int64_t e = 0; e < groups.number; ++e) {
    groups.rows[e] = groups.begins[e + 1] - groups.begins[e];
    groups.widths[e] = columns;
  }
  return groups;
}

static Groups takeRaggedGroups(Input *input, int64_t block) {
  Groups groups = {.ragged = true, .type = takeIndexType(input)};
  groups.number = takeChoice(input, MAX_GROUPS + 1);
  int64_t end = 0;
  for (int64_t e = 0; e < groups.number; ++e) {
    groups.begins[e] = up(end, 16) + 16 * takeChoice(input, 2);
    groups.rows[e] = takeChoice(input, block > 64 ? 40 : 140);
    groups.widths[e] = block * takeChoice(input, 4);
    end = groups.begins[e] + groups.rows[e] * groups.widths[e];
  }
  groups.begins[groups.number] = end + takeChoice(input, 16);
  groups.count = groups.begins[groups.number] + takeChoice(input, 16);
  return groups;
}

/// Stores where the groups are in the operands that say so.
static void setGroups(Problem *p, const Groups *groups, gqBuffer *offsets,
                      gqBuffer *firstDims, gqBuffer *lastDims) {
  setIntegers(p, offsets, groups->type, groups->number + 1, groups->begins);
  if (groups->ragged) {
    setIntegers(p, firstDims, groups->type, groups->number, groups->rows);
    setIntegers(p, lastDims, groups->type, groups->number, groups->widths);
  }
}

/// Stores where the groups begin in padded scales, which have the rows that are
/// returned. With them the last offset may be missing.
static int64_t setScaleOffsets(Input *input, Problem *p, const Groups *groups,
                               bool onlyBegins, gqBuffer *offsets,
                               gqBuffer *scaleOffsets) {
  int64_t begins[MAX_GROUPS], end = 0;
  for (int64_t e = 0; e < groups->number; ++e) {
    begins[e] = end + 128 * (takeChoice(input, 4) == 0);
    end = begins[e] + up(groups->rows[e], 128);
  }
  setIntegers(p, offsets, groups->type, groups->number + !onlyBegins,
              groups->begins);
  setIntegers(p, scaleOffsets, groups->type, groups->number, begins);
  return end + 128 * (takeChoice(input, 4) == 0);
}

/// The numbers of elements, for a group of `rows` and `columns`.
typedef int64_t SizeOf(const gqFormatTraits *format, bool tiled, int64_t rows,
                       int64_t columns);

static int64_t inTiles(bool tiled, int64_t rows, int64_t columns) {
  return tiled ? up(rows, 128) * up(columns, 4) : rows * columns;
}

static int64_t rowwiseScales(const gqFormatTraits *format, bool tiled,
                             int64_t rows, int64_t columns) {
  return inTiles(tiled, up(rows, format->blockRows) / format->blockRows,
                 columns / format->blockColumns);
}

static int64_t columnwiseScales(const gqFormatTraits *format, bool tiled,
                                int64_t rows, int64_t columns) {
  return inTiles(tiled, columns / format->blockRows,
                 up(up(rows, 32), format->blockColumns) / format->blockColumns);
}

static int64_t transposedData(const gqFormatTraits *format, bool tiled,
                              int64_t rows, int64_t columns) {
  (void)tiled;
  return columns * up(rows, 32) * format->dataBits / 8;
}

static int64_t sumOf(const Groups *groups, SizeOf *sizeOf,
                     const gqFormatTraits *format, bool tiled) {
  int64_t sum = 0;
  for (int64_t e = 0; e < groups->number; ++e)
    if (groups->rows[e] && groups->widths[e])
      sum += sizeOf(format, tiled, groups->rows[e], groups->widths[e]);
  return sum;
}

//===----------------------------------------------------------------------===//
// Ops without groups
//===----------------------------------------------------------------------===//

/// What gq.block_quantize reads and writes, and gq.block_dequantize the other
/// way round.
static void makeBlocks(Input *input, gqBuffer *floats, gqBuffer *globalScale,
                       gqBuffer *data, gqBuffer *scales, int32_t *attributes) {
  gqFormat format = (gqFormat)takeChoice(input, GQ_NUM_FORMATS);
  gqFormatTraits t = gqFormatGetTraits(format);
  int64_t m = takeByte(input), k = takeColumns(input, t.blockColumns);
  *floats = writtenRows(input, takeFloatType(input), m, k);
  if (t.scaleRule == GQ_SCALE_RULE_NVFP4 && maybe(input))
    *globalScale = scalar(GQ_F32);
  *data = writtenRows(input, t.dataType, m, k * t.dataBits / 8);
  *scales = writtenRows(input, t.scaleType, up(m, t.blockRows) / t.blockRows,
                        k / t.blockColumns);
  attributes[0] = format;
  attributes[1] = GQ_SCALE_LAYOUT_LINEAR;
}

static void makeBlockQuantize(Input *input, Problem *p) {
  gqBlockQuantizeOperands *o = (void *)p->operands;
  makeBlocks(input, &o->input, &o->globalScale, &o->data, &o->scales,
             p->attributes);
}

static void runBlockQuantize(const Problem *p) {
  gqCpuBlockQuantize((const void *)p->operands, p->attributes[0],
                     p->attributes[1]);
}

static void makeBlockDequantize(Input *input, Problem *p) {
  gqBlockDequantizeOperands *o = (void *)p->operands;
  makeBlocks(input, &o->out, &o->globalScale, &o->data, &o->scales,
             p->attributes);
}

static void runBlockDequantize(const Problem *p) {
  gqCpuBlockDequantize((const void *)p->operands, p->attributes[0],
                       p->attributes[1]);
}

static gqFormat takeTensorFormat(Input *input) {
  return maybe(input) ? GQ_FORMAT_FP8_E5M2 : GQ_FORMAT_FP8_E4M3;
}

static void makeUpdateScales(Input *input, Problem *p) {
  gqUpdateScalesOperands *o = (void *)p->operands;
  int64_t groups = takeByte(input);
  o->amax = vector(GQ_F32, groups);
  o->history = matrix(GQ_F32, 1 + takeChoice(input, 20), groups);
  o->scale = vector(GQ_F32, groups);
  p->attributes[0] = takeTensorFormat(input);
  p->attributes[1] = (int32_t)takeChoice(input, 2);
  p->attributes[2] = (int32_t)takeChoice(input, GQ_MAX_MARGIN + 1);
}

static void runUpdateScales(const Problem *p) {
  const int32_t *a = p->attributes;
  gqCpuUpdateScales((const void *)p->operands, a[0], a[1], a[2]);
}

static void makeGroupOffsets(Input *input, Problem *p) {
  gqGroupOffsetsOperands *o = (void *)p->operands;
  int64_t counts[MAX_INTEGERS];
  int64_t number = takeChoice(input, 20);
  for (int64_t e = 0; e < number; ++e)
    counts[e] = takeChoice(input, 300);
  setIntegers(p, &o->counts, takeIndexType(input), number, counts);
  o->offsets = vector(takeIndexType(input), number + maybe(input));
  if (maybe(input))
    o->scaleOffsets = vector((gqElementType)o->offsets.type, number);
}

static void runGroupOffsets(const Problem *p) {
  gqCpuGroupOffsets((const void *)p->operands);
}

//===----------------------------------------------------------------------===//
// Ops that quantize groups
//===----------------------------------------------------------------------===//

/// The input of groups and, unless they are ragged, its gather.
static void setInput(Input *input, Problem *p, const Groups *groups,
                     gqBuffer *operand, gqBuffer *rowIndices) {
  gqElementType type = takeFloatType(input);
  if (groups->ragged) {
    *operand = vector(type, groups->count);
    return;
  }
  int64_t rows = groups->count;
  if (maybe(input)) {
    int64_t indices[MAX_INTEGERS];
    rows = 1 + takeChoice(input, 20);
    for (int64_t m = 0; m < groups->count; ++m)
      indices[m] = takeChoice(input, (uint32_t)rows);
    setIntegers(p, rowIndices, takeIndexType(input), groups->count, indices);
  }
  *operand = readRows(input, type, rows, groups->columns);
}

/// A direction that goes together with the rest; often the default.
static gqDirectionTraits takeDirection(Input *input, gqFormat format,
                                       gqRecipe recipe, bool columnwise,
                                       bool ragged) {
  uint32_t choice = takeChoice(input, 64);
  gqDirectionTraits d = {0};
  d.rounding = (gqRounding)(choice % 4 == 1);
  d.transform = (gqTransform)(choice % 8 == 2 || choice % 8 == 1);
  if (d.transform)
    d.signs = (uint32_t)takeInt(input) & 0xffff;
  if (choice & 16)
    d.outer = columnwise ? GQ_OUTER_OF_COLUMN : GQ_OUTER_OF_ROW;
  if (choice % 8 >= 6)
    d.fourOverSix = (gqFourOverSix)(1 + choice % 2);
  d.scaleMax = d.fourOverSix && choice & 8 ? 256 : 0;
  if (choice % 4 == 3)
    d.blockRows = d.blockColumns = GQ_SQUARE_BLOCK;
  if (gqDirectionLacks(&d, format, recipe, columnwise, ragged))
    d = (gqDirectionTraits){0};
  return d;
}

/// Whether a direction's data are numbers instead of codes.
static bool takeNumbers(Input *input) { return takeChoice(input, 4) == 0; }

/// What gq.grouped_block_quantize and gq.grouped_quantize share: groups, input,
/// the data of the directions that are wanted, codes or `numbers`, and sums.
static Groups makeQuantization(Input *input, Problem *p,
                               const gqFormatTraits *t, bool ragged,
                               bool rowwise, bool columnwise,
                               const bool *numbers) {
  gqGroupedBlockQuantizeOperands *o = (void *)p->operands;
  int64_t columns = takeColumns(input, t->blockColumns);
  Groups groups = ragged ? takeRaggedGroups(input, t->blockColumns)
                         : takeGroupsOfRows(input, columns, false);
  setGroups(p, &groups, &o->offsets, &o->firstDims, &o->lastDims);
  setInput(input, p, &groups, &o->input, &o->rowIndices);
  if (takeChoice(input, 4) == 0)
    takeFlag(input, p, &o->noopFlag);
  gqBuffer *data[2] = {rowwise ? &o->data : NULL,
                       columnwise ? &o->columnwiseData : NULL};
  for (int i = 0; i < 2; ++i) {
    if (!data[i])
      continue;
    gqElementType type = numbers[i] ? takeFloatType(input) : t->dataType;
    int64_t bits = numbers[i] ? 8 : t->dataBits;
    if (i == 1 && t->transposes && !numbers[i])
      *data[i] = flat(input, t->dataType,
                      sumOf(&groups, transposedData, t, /*tiled=*/false));
    else if (ragged)
      *data[i] = vector(type, groups.count * bits / 8);
    else
      *data[i] = writtenRows(input, type, groups.count, columns * bits / 8);
  }
  if (maybe(input))
    o->amax = vector(GQ_F32, groups.number);
  if (!ragged && maybe(input))
    o->dbias = matrix(takeFloatType(input), groups.number, columns);
  return groups;
}

/// The outer scales of gq.grouped_block_quantize.
static void makeOuter(Input *input, gqGroupedBlockQuantizeOperands *o,
                      const Groups *groups, gqRecipe recipe, bool isNvfp4,
                      const gqDirectionTraits *directions, bool rowwise,
                      bool columnwise) {
  if (recipe == GQ_RECIPE_NVFUSER) {
    if (isNvfp4 && maybe(input))
      o->globalScale = factor(input, groups->number);
    return;
  }
  bool ofRow = directions[0].outer == GQ_OUTER_OF_ROW;
  bool ofColumn = directions[1].outer == GQ_OUTER_OF_COLUMN;
  if (columnwise && (ofRow || ofColumn || maybe(input)))
    o->columnwiseOuterAmax =
        ofColumn ? matrix(GQ_F32, groups->number, groups->columns)
                 : factor(input, groups->number);
  if (ofRow && !columnwise && maybe(input))
    o->rowAmax = vector(GQ_F32, groups->count);
  else if (rowwise || gqBufferIsAbsent(&o->columnwiseOuterAmax))
    o->outerAmax =
        ofRow ? vector(GQ_F32, groups->count) : factor(input, groups->number);
}

static void makeGroupedBlockQuantize(Input *input, Problem *p) {
  gqGroupedBlockQuantizeOperands *o = (void *)p->operands;
  gqFormat format = (gqFormat)takeChoice(input, GQ_NUM_FORMATS);
  gqFormatTraits t = gqFormatGetTraits(format);
  bool isNvfp4 = t.scaleRule == GQ_SCALE_RULE_NVFP4;
  bool tiled = t.scaleType != GQ_F32 && maybe(input);
  bool ragged = takeChoice(input, 4) == 0;
  uint32_t wanted = 1 + takeChoice(input, 3);
  bool rowwise = wanted & 1, columnwise = wanted & 2;
  gqRecipe recipe = (gqRecipe)(isNvfp4 && maybe(input));
  const bool numbers[2] = {takeNumbers(input), takeNumbers(input)};
  Groups groups =
      makeQuantization(input, p, &t, ragged, rowwise, columnwise, numbers);
  bool hasScales = rowwise && !numbers[0];

  if (hasScales && ragged) {
    o->scales =
        flat(input, t.scaleType, sumOf(&groups, rowwiseScales, &t, tiled));
  } else if (hasScales && tiled) {
    int64_t rows;
    if (maybe(input)) {
      rows = setScaleOffsets(input, p, &groups, /*onlyBegins=*/false,
                             &o->offsets, &o->scaleOffsets);
    } else {
      rows = 0;
      for (int64_t e = 0; e < groups.number; ++e)
        rows += up(groups.rows[e], 128);
      if (maybe(input))
        o->scaleOffsetsOut = vector(groups.type, groups.number);
    }
    o->scales =
        matrix(t.scaleType, rows, up(groups.columns / t.blockColumns, 4));
  } else if (hasScales && t.blockRows > 1) {
    o->scales =
        flat(input, t.scaleType, sumOf(&groups, rowwiseScales, &t, tiled));
  } else if (hasScales) {
    o->scales = writtenRows(input, t.scaleType, groups.count,
                            groups.columns / t.blockColumns);
  }
  if (columnwise && !numbers[1])
    o->columnwiseScales =
        flat(input, t.scaleType, sumOf(&groups, columnwiseScales, &t, tiled));

  gqDirectionTraits directions[2] = {{0}, {0}};
  for (int i = 0; i < 2; ++i)
    if (i ? columnwise : rowwise)
      directions[i] = takeDirection(input, format, recipe, i, ragged);
  if (directions[0].rounding || directions[1].rounding)
    o->rngState = vector(GQ_I64, 2);
  makeOuter(input, o, &groups, recipe, isNvfp4, directions, rowwise,
            columnwise);
  int32_t *a = p->attributes;
  a[0] = format;
  a[1] = recipe;
  a[2] = tiled ? GQ_SCALE_LAYOUT_TILE128X4 : GQ_SCALE_LAYOUT_LINEAR;
  a[3] = (int32_t)takeChoice(input, 2);
  a[4] = gqDirectionPack(&directions[0]);
  a[5] = gqDirectionPack(&directions[1]);
}

static void runGroupedBlockQuantize(const Problem *p) {
  const int32_t *a = p->attributes;
  gqCpuGroupedBlockQuantize((const void *)p->operands, a[0], a[1], a[2], a[3],
                            a[4], a[5]);
}

static void makeGroupedQuantize(Input *input, Problem *p) {
  gqGroupedQuantizeOperands *o = (void *)p->operands;
  gqFormat format = takeTensorFormat(input);
  gqFormatTraits t = gqFormatGetTraits(format);
  uint32_t wanted = 1 + takeChoice(input, 3);
  bool ragged = takeChoice(input, 4) == 0;
  const bool numbers[2] = {takeNumbers(input), takeNumbers(input)};
  Groups groups =
      makeQuantization(input, p, &t, ragged, wanted & 1, wanted & 2, numbers);
  *(maybe(input) ? &o->scale : &o->outerAmax) = factor(input, groups.number);
  if (maybe(input))
    o->scaleInv = vector(GQ_F32, groups.number);
  p->attributes[0] = format;
  p->attributes[1] = (int32_t)takeChoice(input, 2);
}

static void runGroupedQuantize(const Problem *p) {
  gqCpuGroupedQuantize((const void *)p->operands, p->attributes[0],
                       p->attributes[1]);
}

static void makeGroupedAmax(Input *input, Problem *p) {
  gqGroupedAmaxOperands *o = (void *)p->operands;
  bool ragged = takeChoice(input, 4) == 0;
  Groups groups = ragged ? takeRaggedGroups(input, 16)
                         : takeGroupsOfRows(input, takeColumns(input, 16),
                                            /*onlyBegins=*/false);
  setGroups(p, &groups, &o->offsets, &o->firstDims, &o->lastDims);
  setInput(input, p, &groups, &o->input, &o->rowIndices);
  if (takeChoice(input, 4) == 0)
    takeFlag(input, p, &o->noopFlag);
  gqDirectionTraits d = {0};
  if (maybe(input))
    d = (gqDirectionTraits){.transform = GQ_TRANSFORM_HADAMARD16,
                            .signs = (uint32_t)takeInt(input) & 0xffff};
  uint8_t wanted = takeByte(input);
  if (d.transform && wanted & 1)
    o->columnwiseAmax = vector(GQ_F32, groups.number);
  if (!ragged && wanted & 2)
    o->rowAmax = vector(GQ_F32, groups.count);
  if (!ragged && wanted & 4)
    o->columnAmax = matrix(GQ_F32, groups.number, groups.columns);
  if (wanted & 8 ||
      (gqBufferIsAbsent(&o->columnwiseAmax) && gqBufferIsAbsent(&o->rowAmax) &&
       gqBufferIsAbsent(&o->columnAmax)))
    o->amax = vector(GQ_F32, groups.number);
  p->attributes[0] = (int32_t)takeChoice(input, 2);
  p->attributes[1] = gqDirectionPack(&d);
}

static void runGroupedAmax(const Problem *p) {
  gqCpuGroupedAmax((const void *)p->operands, p->attributes[0],
                   p->attributes[1]);
}

static void makePreprocessGroupedMatmulSf(Input *input, Problem *p) {
  gqPreprocessGroupedMatmulSfOperands *o = (void *)p->operands;
  static const gqFormat formats[] = {GQ_FORMAT_NVFP4, GQ_FORMAT_MXFP4,
                                     GQ_FORMAT_MXFP8_E4M3,
                                     GQ_FORMAT_MXFP8_E5M2};
  gqFormat format = formats[takeChoice(input, 4)];
  gqElementType type = gqFormatGetTraits(format).scaleType;
  bool onlyBegins = maybe(input);
  Groups groups = takeGroupsOfRows(input, takeChoice(input, 80), onlyBegins);
  o->input = readRows(input, type, groups.count, groups.columns);
  int64_t rows = setScaleOffsets(input, p, &groups, onlyBegins, &o->offsets,
                                 &o->scaleOffsets);
  o->scales = matrix(type, rows, up(groups.columns, 4));
  p->attributes[0] = format;
  p->attributes[1] = GQ_SCALE_LAYOUT_TILE128X4;
}

static void runPreprocessGroupedMatmulSf(const Problem *p) {
  gqCpuPreprocessGroupedMatmulSf((const void *)p->operands, p->attributes[0],
                                 p->attributes[1]);
}

static void makeGroupedDequantize(Input *input, Problem *p) {
  gqGroupedDequantizeOperands *o = (void *)p->operands;
  gqFormat format =
      (gqFormat)((int32_t)takeChoice(input, GQ_NUM_FORMATS + 1) - 1);
  gqFormatTraits t = gqFormatGetTraits(format);
  bool scaled = format != GQ_FORMAT_NONE, columnwise = maybe(input);
  bool ragged = takeChoice(input, 4) == 0;
  bool tiled = scaled && t.scaleType != GQ_F32 && maybe(input);
  bool isNvfp4 = scaled && t.scaleRule == GQ_SCALE_RULE_NVFP4;
  gqRecipe recipe = (gqRecipe)(isNvfp4 && maybe(input));
  gqOuter outer = GQ_OUTER_OF_GROUP;
  if (recipe == GQ_RECIPE_TE && !ragged && maybe(input))
    outer = columnwise ? GQ_OUTER_OF_COLUMN : GQ_OUTER_OF_ROW;
  bool hasScaleOffsets = tiled && !columnwise && !ragged && maybe(input);
  bool onlyBegins = hasScaleOffsets && maybe(input);
  int64_t columns = takeColumns(input, scaled ? t.blockColumns : 16);
  Groups groups = ragged ? takeRaggedGroups(input, t.blockColumns)
                         : takeGroupsOfRows(input, columns, onlyBegins);
  setGroups(p, &groups, &o->offsets, &o->firstDims, &o->lastDims);

  gqElementType type = takeFloatType(input);
  gqElementType dataType = scaled ? t.dataType : takeFp8(input);
  o->out = ragged ? vector(type, groups.count)
                  : writtenRows(input, type, groups.count, columns);
  if (columnwise && (!scaled || t.transposes))
    o->data = flat(input, dataType,
                   sumOf(&groups, transposedData, &t, /*tiled=*/false));
  else if (ragged)
    o->data = vector(dataType, groups.count * t.dataBits / 8);
  else
    o->data = readRows(input, dataType, groups.count, columns * t.dataBits / 8);
  if (scaled && !columnwise && !ragged && tiled) {
    int64_t rows = 0;
    for (int64_t e = 0; e < groups.number; ++e)
      rows += up(groups.rows[e], 128);
    if (hasScaleOffsets)
      rows = setScaleOffsets(input, p, &groups, onlyBegins, &o->offsets,
                             &o->scaleOffsets);
    o->scales = matrix(t.scaleType, rows, up(columns / t.blockColumns, 4));
  } else if (scaled && !columnwise && !ragged && t.blockRows == 1) {
    o->scales =
        readRows(input, t.scaleType, groups.count, columns / t.blockColumns);
  } else if (scaled) {
    o->scales =
        flat(input, t.scaleType,
             sumOf(&groups, columnwise ? columnwiseScales : rowwiseScales, &t,
                   tiled));
  }

  if (!scaled)
    o->scaleInv = factor(input, groups.number);
  else if (outer == GQ_OUTER_OF_ROW)
    o->outerAmax = vector(GQ_F32, groups.count);
  else if (outer == GQ_OUTER_OF_COLUMN)
    o->outerAmax = matrix(GQ_F32, groups.number, columns);
  else if (recipe == GQ_RECIPE_TE)
    o->outerAmax = factor(input, groups.number);
  else if (isNvfp4 && maybe(input))
    o->globalScale = factor(input, groups.number);
  int32_t *a = p->attributes;
  a[0] = format;
  a[1] = recipe;
  a[2] = tiled ? GQ_SCALE_LAYOUT_TILE128X4 : GQ_SCALE_LAYOUT_LINEAR;
  a[3] = columnwise ? GQ_AXIS_COLUMNWISE : GQ_AXIS_ROWWISE;
  a[4] = outer;
  a[5] = recipe == GQ_RECIPE_TE && maybe(input) ? 256 : 0;
}

static void runGroupedDequantize(const Problem *p) {
  const int32_t *a = p->attributes;
  gqCpuGroupedDequantize((const void *)p->operands, a[0], a[1], a[2], a[3],
                         a[4], a[5]);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Two formats with one scale rule and as many columns a block, or none.
static void takeFormats(Input *input, gqFormat *a, gqFormat *b) {
  *a = (gqFormat)((int32_t)takeChoice(input, GQ_NUM_FORMATS + 1) - 1);
  *b = (gqFormat)takeChoice(input, GQ_NUM_FORMATS);
  gqFormatTraits of = gqFormatGetTraits(*a), other = gqFormatGetTraits(*b);
  if (*a == GQ_FORMAT_NONE || of.scaleRule != other.scaleRule ||
      of.blockColumns != other.blockColumns)
    *b = *a;
}

static void makeGroupedMm(Input *input, Problem *p) {
  gqGroupedMmOperands *o = (void *)p->operands;
  gqFormat format, bFormat;
  takeFormats(input, &format, &bFormat);
  if (gqFormatGetTraits(format).blockRows > 1)
    format = GQ_FORMAT_FP8_E5M2_1X128;
  gqFormatTraits a = gqFormatGetTraits(format);
  gqFormatTraits b = gqFormatGetTraits(bFormat);
  bool scaled = format != GQ_FORMAT_NONE;
  bool tiled = scaled && a.scaleType != GQ_F32, onlyBegins = false;
  if (!scaled) {
    a.dataType = takeFp8(input);
    b.dataType = takeFp8(input);
  }
  if (tiled)
    onlyBegins = maybe(input);
  bool nIsInner = !b.transposes && maybe(input);
  int64_t k = takeColumns(input, scaled ? a.blockColumns : 16);
  int64_t n = takeChoice(input, 70) * (nIsInner && b.dataBits == 4 ? 2 : 1);
  Groups groups = takeGroupsOfRows(input, k, onlyBegins);
  setGroups(p, &groups, &o->offsets, NULL, NULL);
  int64_t g = groups.number, columns = k / a.blockColumns;
  o->a = readRows(input, a.dataType, groups.count, k * a.dataBits / 8);
  o->b = nIsInner ? cube(b.dataType, g, k, n * b.dataBits / 8)
                  : cube(b.dataType, g, n, k * b.dataBits / 8);
  if (tiled) {
    int64_t rows = setScaleOffsets(input, p, &groups, onlyBegins, &o->offsets,
                                   &o->scaleOffsets);
    o->aScales = matrix(a.scaleType, rows, up(columns, 4));
    o->bScales = cube(b.scaleType, g, up(n, 128), up(columns, 4));
  } else if (scaled) {
    o->aScales = readRows(input, a.scaleType, groups.count, columns);
    o->bScales =
        cube(b.scaleType, g, up(n, b.blockRows) / b.blockRows, columns);
  }
  if (maybe(input))
    o->alpha = vector(GQ_F32, g);
  if (maybe(input))
    o->rowScales = vector(GQ_F32, groups.count);
  if (maybe(input))
    o->columnScales = matrix(GQ_F32, g, n);
  if (maybe(input))
    o->bias = matrix(takeFloatType(input), g, n);
  o->out = writtenRows(input, takeFloatType(input), groups.count, n);
  p->attributes[0] = format;
  p->attributes[1] = bFormat;
  p->attributes[2] = tiled ? GQ_SCALE_LAYOUT_TILE128X4 : GQ_SCALE_LAYOUT_LINEAR;
  p->attributes[3] = nIsInner ? GQ_MAJOR_N : GQ_MAJOR_K;
}

static void runGroupedMm(const Problem *p) {
  const int32_t *a = p->attributes;
  gqCpuGroupedMm((const void *)p->operands, a[0], a[1], a[2], a[3]);
}

/// An operand of gq.grouped_wgrad: columnwise data and its scales.
static void makeSide(Input *input, Groups groups, gqFormat format,
                     int64_t columns, gqBuffer *data, gqBuffer *scales) {
  gqFormatTraits t = gqFormatGetTraits(format);
  bool scaled = format != GQ_FORMAT_NONE;
  for (int64_t e = 0; e < groups.number; ++e)
    groups.widths[e] = columns;
  *data = t.transposes ? flat(input, t.dataType,
                              sumOf(&groups, transposedData, &t, false))
                       : readRows(input, scaled ? t.dataType : takeFp8(input),
                                  groups.count, columns * t.dataBits / 8);
  if (scaled)
    *scales = flat(input, t.scaleType,
                   sumOf(&groups, columnwiseScales, &t, t.scaleType != GQ_F32));
}

static void makeGroupedWgrad(Input *input, Problem *p) {
  gqGroupedWgradOperands *o = (void *)p->operands;
  gqFormat format, bFormat;
  takeFormats(input, &format, &bFormat);
  gqFormatTraits a = gqFormatGetTraits(format);
  bool scaled = format != GQ_FORMAT_NONE;
  int64_t n = takeColumns(input, scaled ? a.blockColumns : 16);
  int64_t k = takeColumns(input, scaled ? a.blockColumns : 16);
  Groups groups = takeGroupsOfRows(input, /*columns=*/0, /*onlyBegins=*/false);
  setGroups(p, &groups, &o->offsets, NULL, NULL);
  makeSide(input, groups, format, n, &o->a, &o->aScales);
  makeSide(input, groups, bFormat, k, &o->b, &o->bScales);
  if (maybe(input))
    o->alpha = vector(GQ_F32, groups.number);
  o->out = cube(takeFloatType(input), groups.number, n, k);
  p->attributes[0] = format;
  p->attributes[1] = bFormat;
  p->attributes[2] = scaled && a.scaleType != GQ_F32 ? GQ_SCALE_LAYOUT_TILE128X4
                                                     : GQ_SCALE_LAYOUT_LINEAR;
}

static void runGroupedWgrad(const Problem *p) {
  const int32_t *a = p->attributes;
  gqCpuGroupedWgrad((const void *)p->operands, a[0], a[1], a[2]);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

#define IS_IN false
#define IS_OUT true
#define GQ_BEGIN_OPERANDS(OP, UPPER) static const bool written##OP[] = {
#define GQ_OPERAND(OP, UPPER, NAME, FIELD, MEMBER, PRESENCE, ROLE) IS_##ROLE,
#define GQ_END_OPERANDS(OP, UPPER)                                             \
  }                                                                            \
  ;                                                                            \
  _Static_assert(sizeof(gq##OP##Operands) <= sizeof((Problem){0}.operands),    \
                 "room for its operands");
#include "gq/Runtime/Ops.def"

const Op ops[] = {
#define GQ_OP(OP, MNEMONIC)                                                    \
  {.name = #MNEMONIC,                                                          \
   .numOperands = sizeof(gq##OP##Operands) / sizeof(gqBuffer),                 \
   .written = written##OP,                                                     \
   .make = make##OP,                                                           \
   .run = run##OP},
#include "gq/Runtime/Ops.def"
};

const uint32_t numOps = sizeof(ops) / sizeof(ops[0]);
