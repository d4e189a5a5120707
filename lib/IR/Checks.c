//===- Checks.c - shapes, and checks that ops share ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "ElementType.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t gqDim(MlirValue value, intptr_t dim) {
  if (mlirValueIsNull(value))
    return GQ_DYNAMIC;
  MlirType type = mlirValueGetType(value);
  return dim >= mlirShapedTypeGetRank(type) ||
                 mlirShapedTypeIsDynamicDim(type, dim)
             ? GQ_DYNAMIC
             : mlirShapedTypeGetDimSize(type, dim);
}

void gqUnify(int64_t *extent, int64_t other) {
  if (*extent == GQ_DYNAMIC)
    *extent = other;
}

/// Whether two extents, each of which may be GQ_DYNAMIC, can be equal.
static bool mayEqual(int64_t a, int64_t b) {
  return a == GQ_DYNAMIC || b == GQ_DYNAMIC || a == b;
}

int64_t gqRoundUp(int64_t value, int64_t multiple) {
  return value == GQ_DYNAMIC ? GQ_DYNAMIC
                             : (value + multiple - 1) / multiple * multiple;
}

int64_t gqFormatBlockSize(gqFormat format) {
  return gqFormatGetTraits(format).blockColumns;
}

int64_t gqScaleRows(gqFormat format, int64_t rows) {
  int64_t block = gqFormatGetTraits(format).blockRows;
  return rows == GQ_DYNAMIC ? GQ_DYNAMIC : (rows + block - 1) / block;
}

int64_t gqDataColumns(MlirValue data) {
  MlirType type = mlirValueGetType(data);
  int64_t columns = gqDim(data, mlirShapedTypeGetRank(type) - 1);
  bool packed = mlirTypeIsAInteger(mlirShapedTypeGetElementType(type));
  return packed && columns != GQ_DYNAMIC ? 2 * columns : columns;
}

int64_t gqScaleColumns(gqFormat format, int64_t columns) {
  return columns == GQ_DYNAMIC ? GQ_DYNAMIC
                               : columns / gqFormatBlockSize(format);
}

int64_t gqElementColumns(gqFormat format, int64_t scaleColumns) {
  return scaleColumns == GQ_DYNAMIC ? GQ_DYNAMIC
                                    : scaleColumns * gqFormatBlockSize(format);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

bool gqOpError(MlirOperation op, const char *format, ...) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  char message[512];
  int length = snprintf(message, sizeof(message), "'%.*s' op ",
                        (int)name.length, name.data);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message + length, sizeof(message) - (size_t)length, format,
            arguments);
  va_end(arguments);
  mlirEmitError(mlirOperationGetLocation(op), message);
  return false;
}

typedef struct TypeText {
  char text[160];
  size_t length;
} TypeText;

/// Appends to a TypeText, as far as it goes.
static void appendText(MlirStringRef string, void *data) {
  TypeText *text = data;
  for (size_t i = 0; i < string.length && text->length + 1 < sizeof(text->text);
       ++i)
    text->text[text->length++] = string.data[i];
}

/// A type as it is written.
static TypeText printType(MlirType type) {
  TypeText text = {{0}, 0};
  mlirTypePrint(type, appendText, &text);
  return text;
}

/// The static extents of a shaped type multiply to no more than
/// GQ_MAX_ELEMENTS, those of an empty one too.
static bool hasBoundedSize(MlirType type) {
  int64_t elements = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i) {
    if (mlirShapedTypeIsDynamicDim(type, i))
      continue;
    int64_t extent = mlirShapedTypeGetDimSize(type, i);
    if (__builtin_mul_overflow(elements, extent ? extent : 1, &elements) ||
        elements > GQ_MAX_ELEMENTS)
      return false;
  }
  return true;
}

/// The name of operand `number` of an operation.
static const char *nameOfOperand(MlirOperation op, intptr_t number) {
  intptr_t position = 0, end = gqNumOperandsAt(op, 0);
  while (end <= number)
    end += gqNumOperandsAt(op, ++position);
  return gqOpInfoOf(op)->operands[position].name;
}

/// All operands are tensors, or all are memrefs, and none has more than
/// GQ_MAX_ELEMENTS.
static bool checkUniform(MlirOperation op) {
  bool tensor = false, memref = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    bool isMemRef = mlirTypeIsAMemRef(type);
    memref |= isMemRef;
    tensor |= !isMemRef;
    if (!hasBoundedSize(type))
      return gqOpError(op,
                       "requires static extents of at most 2^48 elements; "
                       "'%s' has more",
                       nameOfOperand(op, i));
  }
  return !(tensor && memref) ||
         gqOpError(op, "requires all operands to be tensors or all memrefs");
}

/// There is a result for each of `numInits` tensors that are written, of the
/// type of `inits`, which are called `names`.
static bool checkResults(MlirOperation op, intptr_t numInits,
                         const char *const *names, const MlirValue *inits) {
  intptr_t numResults = mlirOperationGetNumResults(op);
  if (numResults != numInits)
    return gqOpError(op,
                     "requires a result for each tensor that it writes, %d in "
                     "all, but has %d",
                     (int)numInits, (int)numResults);
  for (intptr_t i = 0; i < numInits; ++i) {
    MlirType type = mlirValueGetType(inits[i]);
    MlirType found = mlirValueGetType(mlirOperationGetResult(op, i));
    if (!mlirTypeEqual(type, found))
      return gqOpError(op,
                       "requires the result of '%s' to be of its type %s, but "
                       "got %s",
                       names[i], printType(type).text, printType(found).text);
  }
  return true;
}

bool gqCheckOperandTypes(MlirOperation op, const gqOperandType *types) {
  const gqOpInfo *info = gqOpInfoOf(op);
  const char *names[GQ_MAX_OPERANDS];
  MlirValue inits[GQ_MAX_OPERANDS];
  intptr_t numInits = 0, next = 0;
  for (intptr_t i = 0; i < info->numOperands; ++i) {
    const char *name = info->operands[i].name;
    intptr_t count = gqNumOperandsAt(op, i), end = next + count;
    if (info->operands[i].presence != GQ_VARIADIC && count > 1)
      return gqOpError(op, "requires at most one '%s', but got %d", name,
                       (int)count);
    for (; next < end; ++next) {
      MlirValue value = mlirOperationGetOperand(op, next);
      MlirType type = mlirValueGetType(value);
      if (!types[i].matches(type))
        return gqOpError(op, "requires '%s' to be a %s, but got %s", name,
                         types[i].summary, printType(type).text);
      if (info->operands[i].role == GQ_IN || mlirTypeIsAMemRef(type))
        continue;
      names[numInits] = name;
      inits[numInits++] = value;
    }
  }
  intptr_t found = mlirOperationGetNumOperands(op);
  if (next != found)
    return gqOpError(op, "requires at most %d operands, but got %d",
                     (int)info->numOperands, (int)found);
  return checkUniform(op) && checkResults(op, numInits, names, inits);
}

bool gqCheckBlocksOf(MlirOperation op, const char *name, gqFormat format,
                     int64_t columns) {
  int64_t block = gqFormatBlockSize(format);
  if (columns == GQ_DYNAMIC || (columns > 0 && columns % block == 0))
    return true;
  return gqOpError(op,
                   "requires %s to be a positive multiple of %" PRId64
                   ", the block size of the format, but got %" PRId64,
                   name, block, columns);
}

bool gqCheckBlocks(MlirOperation op, gqFormat format, int64_t columns) {
  return gqCheckBlocksOf(op, "K", format, columns);
}

/// Prints extents as they look in a type: 128x?x64.
static void printExtents(char *text, size_t size, const int64_t *extents,
                         intptr_t rank) {
  text[0] = 0;
  size_t length = 0;
  for (intptr_t i = 0; i < rank && length < size; ++i) {
    const char *separator = i ? "x" : "";
    length +=
        (size_t)(extents[i] == GQ_DYNAMIC
                     ? snprintf(text + length, size - length, "%s?", separator)
                     : snprintf(text + length, size - length, "%s%" PRId64,
                                separator, extents[i]));
  }
}

/// Compares the extents of `value`, the last of them given as `columns`.
static bool checkExtents(MlirOperation op, const char *name, MlirValue value,
                         int64_t columns, const int64_t *required,
                         const char *unit) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(value));
  assert(rank <= GQ_OPERAND_RANK && "ODS allows no higher rank");
  int64_t extents[GQ_OPERAND_RANK];
  bool equal = true;
  for (intptr_t i = 0; i < rank; ++i) {
    extents[i] = i == rank - 1 ? columns : gqDim(value, i);
    equal &= mayEqual(extents[i], required[i]);
  }
  if (equal)
    return true;
  char expected[96], found[96];
  printExtents(expected, sizeof(expected), required, rank);
  printExtents(found, sizeof(found), extents, rank);
  return gqOpError(op, "requires '%s' to be %s%s, but got %s", name, expected,
                   unit, found);
}

bool gqCheckData(MlirOperation op, const char *name, MlirValue data,
                 const int64_t *extents) {
  MlirType type = mlirValueGetType(data);
  intptr_t last = mlirShapedTypeGetRank(type) - 1;
  if (!mlirTypeIsAInteger(mlirShapedTypeGetElementType(type)))
    return gqCheckExtents(op, name, data, extents);
  if (extents[last] != GQ_DYNAMIC && extents[last] % 2)
    return checkExtents(op, name, data, gqDataColumns(data), extents,
                        " codes, two an i8");
  int64_t packed[GQ_OPERAND_RANK];
  memcpy(packed, extents, sizeof(*packed) * (size_t)(last + 1));
  if (packed[last] != GQ_DYNAMIC)
    packed[last] /= 2;
  return checkExtents(op, name, data, gqDim(data, last), packed,
                      " of i8, two codes each");
}

bool gqCheckExtents(MlirOperation op, const char *name, MlirValue value,
                    const int64_t *extents) {
  if (mlirValueIsNull(value))
    return true;
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(value));
  int64_t columns = rank ? gqDim(value, rank - 1) : GQ_DYNAMIC;
  return checkExtents(op, name, value, columns, extents, "");
}

/// Whether the operand of that name is only read.
static bool isRead(MlirOperation op, const char *name) {
  const gqOpInfo *info = gqOpInfoOf(op);
  intptr_t position = 0;
  while (strcmp(info->operands[position].name, name) != 0)
    ++position;
  return info->operands[position].role == GQ_IN;
}

static bool checkEncoding(MlirOperation op, const char *name, MlirType type,
                          gqScaleLayout layout) {
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
  if (layout == GQ_SCALE_LAYOUT_LINEAR)
    return mlirAttributeIsNull(encoding) ||
           gqOpError(op,
                     "requires '%s' to have no encoding; only tiled scales "
                     "have one",
                     name);
  return gqAttributeIsATile128x4(encoding) ||
         gqOpError(
             op, "requires '%s' to have the encoding #gq.tile128x4%s", name,
             isRead(op, name) ? "; gq.preprocess_grouped_matmul_sf converts "
                                "linear scales"
                              : " for scale_layout(tile128x4)");
}

bool gqCheckTiledScales(MlirOperation op, const char *name, MlirValue scales,
                        const int64_t *extents) {
  // Linear scales have other extents, too, which are not what is wrong.
  MlirType type = mlirValueGetType(scales);
  if (mlirTypeIsARankedTensor(type) &&
      !checkEncoding(op, name, type, GQ_SCALE_LAYOUT_TILE128X4))
    return false;
  intptr_t columnDim = mlirShapedTypeGetRank(mlirValueGetType(scales)) - 1;
  intptr_t rowDim = columnDim - 1;
  assert(rowDim >= 0 && columnDim < GQ_OPERAND_RANK && "as ODS has it");
  int64_t rows = gqDim(scales, rowDim), columns = gqDim(scales, columnDim);
  int64_t required[GQ_OPERAND_RANK];
  for (intptr_t i = 0; i <= columnDim; ++i)
    required[i] = extents[i];
  gqUnify(&required[columnDim], columns);
  if (required[columnDim] == 0) // K is positive.
    required[columnDim] = 1;
  required[rowDim] = gqRoundUp(required[rowDim], 128);
  required[columnDim] = gqRoundUp(required[columnDim], 4);
  if (!checkExtents(op, name, scales, columns, required,
                    " (whole tiles of 128x4)"))
    return false;
  return rows == GQ_DYNAMIC || rows % 128 == 0 ||
         gqOpError(op,
                   "requires the rows of '%s' to be a multiple of 128, but "
                   "got %" PRId64,
                   name, rows);
}

bool gqCheckBlockFormat(MlirOperation op, gqFormat format) {
  return gqFormatHasBlockScales(format) ||
         gqOpError(op, "requires a format with blocks, not %s",
                   gqFormatGetTraits(format).name);
}

bool gqCheckTensorFormat(MlirOperation op, gqFormat format) {
  return !gqFormatHasBlockScales(format) ||
         gqOpError(op, "requires format(fp8_e4m3) or format(fp8_e5m2), not %s",
                   gqFormatGetTraits(format).name);
}

bool gqCheckScaleLayout(MlirOperation op, gqScaleLayout layout,
                        gqScaleLayout required) {
  return layout == required ||
         gqOpError(op, "requires scale_layout(%s)",
                   required == GQ_SCALE_LAYOUT_LINEAR ? "linear" : "tile128x4");
}

bool gqCheckTileable(MlirOperation op, gqFormat format, gqScaleLayout layout) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  return layout == GQ_SCALE_LAYOUT_LINEAR || traits.scaleType != GQ_F32 ||
         gqOpError(op, "requires scale_layout(linear) for the f32 scales of %s",
                   traits.name);
}

bool gqCheckGlobalScale(MlirOperation op, gqFormat format,
                        MlirValue globalScale) {
  return mlirValueIsNull(globalScale) || format == GQ_FORMAT_NVFP4 ||
         gqOpError(op, "requires format(nvfp4) for 'global_scale'");
}

bool gqCheckRank(MlirOperation op, const char *name, MlirValue value,
                 intptr_t rank) {
  if (mlirValueIsNull(value))
    return true;
  intptr_t found = mlirShapedTypeGetRank(mlirValueGetType(value));
  return found == rank ||
         gqOpError(op, "requires '%s' to be of rank %d, but got %d", name,
                   (int)rank, (int)found);
}

/// Data of 4 bits is packed, two codes an i8, or not yet.
static bool isOfType(MlirValue value, gqElementType type) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(value));
  gqElementType found;
  if (mlirTypeIsAFloat4E2M1FN(element))
    return type == GQ_I8;
  return gqElementTypeOf(element, &found) && found == type;
}

static bool checkType(MlirOperation op, const char *name, MlirValue value,
                      gqElementType type, gqFormat format) {
  return mlirValueIsNull(value) || isOfType(value, type) ||
         gqOpError(
             op, "requires '%s' to be of %s%s for format(%s), not %s", name,
             type == GQ_I8 ? "f4E2M1FN or " : "", gqElementTypeMnemonic(type),
             gqFormatGetTraits(format).name,
             printType(mlirShapedTypeGetElementType(mlirValueGetType(value)))
                 .text);
}

bool gqCheckDataType(MlirOperation op, const char *name, MlirValue data,
                     gqFormat format) {
  return checkType(op, name, data, gqFormatGetTraits(format).dataType, format);
}

bool gqCheckScaleType(MlirOperation op, const char *name, MlirValue scales,
                      gqFormat format) {
  return checkType(op, name, scales, gqFormatGetTraits(format).scaleType,
                   format);
}

bool gqCheckFormats(MlirOperation op, gqFormat format, gqFormat bFormat) {
  gqFormatTraits a = gqFormatGetTraits(format), b = gqFormatGetTraits(bFormat);
  if (format == GQ_FORMAT_NONE)
    return bFormat == GQ_FORMAT_NONE ||
           gqOpError(op, "requires 'format' for 'b_format'");
  if (!gqCheckBlockFormat(op, format) || !gqCheckBlockFormat(op, bFormat))
    return false;
  return (a.scaleRule == b.scaleRule && a.blockColumns == b.blockColumns) ||
         gqOpError(
             op,
             "requires 'format' and 'b_format' to have the same scale rule, "
             "not %s and %s",
             a.name, b.name);
}

bool gqCheckFactor(MlirOperation op, const char *name, MlirValue data,
                   const char *scalesName, MlirValue scales, gqFormat format) {
  if (format != GQ_FORMAT_NONE)
    return gqCheckDataType(op, name, data, format) &&
           gqCheckScaleType(op, scalesName, scales, format);
  return isOfType(data, GQ_F8E4M3FN) || isOfType(data, GQ_F8E5M2) ||
         gqOpError(op,
                   "requires '%s' to be of f8E4M3FN or f8E5M2 where it has no "
                   "'format'",
                   name);
}

bool gqCheckScalePresence(MlirOperation op, MlirValue aScales,
                          MlirValue bScales, bool scaled) {
  bool hasA = !mlirValueIsNull(aScales), hasB = !mlirValueIsNull(bScales);
  if (hasA == scaled && hasB == scaled)
    return true;
  return scaled ? gqOpError(op, "requires '%s' where it has 'format'",
                            hasA ? "b_scales" : "a_scales")
                : gqOpError(op, "requires no '%s' without 'format'",
                            hasA ? "a_scales" : "b_scales");
}

gqScaleLayout gqMmScaleLayout(gqFormat format) {
  return gqFormatGetTraits(format).scaleType == GQ_F32
             ? GQ_SCALE_LAYOUT_LINEAR
             : GQ_SCALE_LAYOUT_TILE128X4;
}

MlirValue gqYieldedValue(MlirBlock body) {
  MlirOperation yield = mlirBlockGetTerminator(body);
  if (mlirOperationIsNull(yield) ||
      !mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(yield)),
                          mlirStringRefCreateFromCString("gq.yield")) ||
      mlirOperationGetNumOperands(yield) != 1)
    return (MlirValue){NULL};
  return mlirOperationGetOperand(yield, 0);
}

MlirRegion gqEpilogueOf(MlirOperation op) {
  return mlirOperationGetNumRegions(op) ? mlirOperationGetRegion(op, 0)
                                        : (MlirRegion){NULL};
}

bool gqIsFloat(MlirType type) {
  return mlirTypeIsAF32(type) || mlirTypeIsABF16(type) || mlirTypeIsAF16(type);
}

bool gqCheckEpilogue(MlirOperation op, intptr_t count, const char *when,
                     MlirValue out) {
  if (mlirOperationGetNumRegions(op) == 0)
    return true;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  bool takes = mlirOperationGetNumRegions(op) == 1 &&
               mlirBlockGetNumArguments(body) == count;
  for (intptr_t i = 0; takes && i < count; ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(body, i));
    takes =
        gqIsFloat(type) &&
        mlirTypeEqual(type, mlirValueGetType(mlirBlockGetArgument(body, 0)));
  }
  if (!takes)
    return gqOpError(op, "requires 'epilogue' to take %s of f32, bf16 or f16%s",
                     count == 1 ? "one element" : "two elements of one type",
                     when);
  MlirValue yielded = gqYieldedValue(body);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(out));
  return (!mlirValueIsNull(yielded) &&
          mlirTypeEqual(mlirValueGetType(yielded), element)) ||
         gqOpError(op, "requires 'epilogue' to yield an element of 'out'");
}

bool gqCheckSameElements(MlirOperation op, const char *name, MlirValue value,
                         const char *otherName, MlirValue other) {
  return mlirValueIsNull(value) ||
         mlirTypeEqual(mlirShapedTypeGetElementType(mlirValueGetType(value)),
                       mlirShapedTypeGetElementType(mlirValueGetType(other))) ||
         gqOpError(op, "requires '%s' and '%s' to have the same element type",
                   otherName, name);
}

bool gqCheckGroups(MlirOperation op, MlirValue offsets, MlirValue scaleOffsets,
                   int64_t groups) {
  if (!gqCheckSameElements(op, "scale_offsets", scaleOffsets, "offsets",
                           offsets) ||
      !gqCheckExtents(op, "scale_offsets", scaleOffsets, &groups))
    return false;
  int64_t entries = gqDim(offsets, 0);
  if (mlirValueIsNull(scaleOffsets)) {
    bool any = entries == GQ_DYNAMIC || groups == GQ_DYNAMIC;
    return (entries != 0 && (any || entries == groups + 1)) ||
           gqOpError(op,
                     "requires 'offsets' to hold G + 1 entries where there are "
                     "no 'scale_offsets', but got %" PRId64,
                     entries);
  }
  if (mayEqual(entries, groups) || entries == groups + 1)
    return true;
  return gqOpError(op,
                   "requires 'offsets' to hold %" PRId64 " or %" PRId64
                   " entries for %" PRId64 " groups, but got %" PRId64,
                   groups, groups + 1, groups, entries);
}

bool gqCheckScaleOffsets(MlirOperation op, const char *name,
                         gqScaleLayout layout, bool ragged,
                         const char *otherwise) {
  if (layout == GQ_SCALE_LAYOUT_LINEAR)
    return gqOpError(
        op,
        "requires no '%s' for scale_layout(linear): they say where "
        "the tiles of a group begin",
        name);
  if (ragged)
    return gqOpError(op, "requires no '%s' where it has 'shapes'", name);
  return !otherwise || gqOpError(op, "requires no '%s' %s", name, otherwise);
}

static bool checkStrides(MlirOperation op, const char *name, MlirValue value,
                         bool contiguous) {
  MlirType type = mlirValueGetType(value);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t strides[GQ_OPERAND_RANK], offset;
  if (mlirLogicalResultIsFailure(
          mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return gqOpError(op, "requires '%s' to have a strided layout", name);
  int64_t expected = 1;
  for (intptr_t i = rank - 1; i >= 0; --i) {
    int64_t extent = gqDim(value, i);
    bool known = expected != GQ_DYNAMIC &&
                 !mlirShapedTypeIsDynamicStrideOrOffset(strides[i]);
    // The stride of a dimension of at most one element is never used.
    bool used = extent == GQ_DYNAMIC || extent > 1;
    if (known && used && strides[i] != expected)
      return gqOpError(op, "requires '%s' to %s", name,
                       contiguous ? "be contiguous"
                                  : "have an innermost stride of 1");
    if (!contiguous)
      break;
    expected = expected == GQ_DYNAMIC || extent == GQ_DYNAMIC
                   ? GQ_DYNAMIC
                   : expected * extent;
  }
  return true;
}

bool gqCheckStorage(MlirOperation op, const char *name, MlirValue value,
                    gqScaleLayout layout, bool contiguous) {
  if (mlirValueIsNull(value))
    return true;
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsARankedTensor(type)
             ? checkEncoding(op, name, type, layout)
             : checkStrides(op, name, value, contiguous);
}
