//===- Checks.h - shapes, and checks that ops share ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_IR_CHECKS_H
#define GQ_LIB_IR_CHECKS_H

#include "OpInfo.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

enum { GQ_DYNAMIC = -1 };

/// The most elements that static extents may multiply to, more than any memory
/// holds: sums and products with what a format is made of then fit in 64 bits.
static const int64_t GQ_MAX_ELEMENTS = (int64_t)1 << 48;

/// The extent of dimension `dim` of a shaped value; GQ_DYNAMIC where `value` is
/// null or has no such dimension.
int64_t gqDim(MlirValue value, intptr_t dim);

/// Completes an extent that several operands share: `other` gives it if none
/// before did. The checks then find operands that contradict it.
void gqUnify(int64_t *extent, int64_t other);

/// `value` rounded up to a multiple of `multiple`; GQ_DYNAMIC stays.
int64_t gqRoundUp(int64_t value, int64_t multiple);

/// The number of columns of a block.
int64_t gqFormatBlockSize(gqFormat format);

/// The number of rows of scales of so many rows of elements.
int64_t gqScaleRows(gqFormat format, int64_t rows);

/// The number K of quantized elements along the last dimension of `data`, f4 or
/// packed i8.
int64_t gqDataColumns(MlirValue data);

/// The number of scale columns of K elements, K / block.
int64_t gqScaleColumns(gqFormat format, int64_t columns);

/// The number K of elements of so many columns of linear scales.
int64_t gqElementColumns(gqFormat format, int64_t scaleColumns);

//===----------------------------------------------------------------------===//
// Checks that several ops share. Each emits an error at `op` that starts with
// the op's name, and returns whether the check passed. `name` is the operand's
// name in the op's description.
//===----------------------------------------------------------------------===//

/// Emits an error; always false, so that a check can return it.
bool gqOpError(MlirOperation op, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// The type of an operand: its test, and what it is in words.
typedef struct gqOperandType {
  bool (*matches)(MlirType type);
  const char *summary;
} gqOperandType;

/// Operands are of `types`, which has a row for each position in the op's list
/// (C1); all are tensors, or all are memrefs, and none has more than
/// GQ_MAX_ELEMENTS (C3); on tensors there is a result for each operand that is
/// written, of its type, on memrefs there is none (C2). A trait of all ops,
/// which is verified before the op's own function computes anything from
/// extents.
bool gqCheckOperandTypes(MlirOperation op, const gqOperandType *types);

/// `format` is one of blocks.
bool gqCheckBlockFormat(MlirOperation op, gqFormat format);

/// `format` is one of a whole tensor.
bool gqCheckTensorFormat(MlirOperation op, gqFormat format);

/// K is a positive multiple of the block size.
bool gqCheckBlocks(MlirOperation op, gqFormat format, int64_t columns);

/// The same for an extent of another name.
bool gqCheckBlocksOf(MlirOperation op, const char *name, gqFormat format,
                     int64_t columns);

/// `data` has the given extents, of which the last counts unpacked elements.
bool gqCheckData(MlirOperation op, const char *name, MlirValue data,
                 const int64_t *extents);

/// `value` is null or has the given extents.
bool gqCheckExtents(MlirOperation op, const char *name, MlirValue value,
                    const int64_t *extents);

/// `scales` holds [..., rows, columns] scales in whole tiles of 128x4. Where
/// `extents` leaves rows or columns open, any number of tiles will do.
bool gqCheckTiledScales(MlirOperation op, const char *name, MlirValue scales,
                        const int64_t *extents);

/// The op's scale_layout is `required`.
bool gqCheckScaleLayout(MlirOperation op, gqScaleLayout layout,
                        gqScaleLayout required);

/// Scales of the format can be in `layout`: those of f32 have no tiles.
bool gqCheckTileable(MlirOperation op, gqFormat format, gqScaleLayout layout);

/// Only nvfp4 has a global scale.
bool gqCheckGlobalScale(MlirOperation op, gqFormat format,
                        MlirValue globalScale);

/// `value` is null or has the given rank.
bool gqCheckRank(MlirOperation op, const char *name, MlirValue value,
                 intptr_t rank);

/// `data` is null or of the format's element type, i8 standing for two of f4.
bool gqCheckDataType(MlirOperation op, const char *name, MlirValue data,
                     gqFormat format);

/// `scales` is null or of the format's element type.
bool gqCheckScaleType(MlirOperation op, const char *name, MlirValue scales,
                      gqFormat format);

/// `format` and `bFormat` are of operands that can be multiplied: they are of
/// blocks and have the same scale rule, or there are none.
bool gqCheckFormats(MlirOperation op, gqFormat format, gqFormat bFormat);

/// `data` and `scales` are of the format's element types; without a format,
/// data is of f8.
bool gqCheckFactor(MlirOperation op, const char *name, MlirValue data,
                   const char *scalesName, MlirValue scales, gqFormat format);

/// Both scales are present if `scaled`, else neither.
bool gqCheckScalePresence(MlirOperation op, MlirValue aScales,
                          MlirValue bScales, bool scaled);

/// The value of the gq.yield of one value at the end of `body`; null if there
/// is none: ops of a region are verified after the op that has it.
MlirValue gqYieldedValue(MlirBlock body);

/// Whether a type is f32, bf16 or f16.
bool gqIsFloat(MlirType type);

/// The region `epilogue`, if there is one, takes `count` elements of one type
/// of f32, bf16 or f16 and yields an element of `out`. `when` is "", or says
/// when there are so many.
bool gqCheckEpilogue(MlirOperation op, intptr_t count, const char *when,
                     MlirValue out);

/// The layout that the scales of `format` have as a matmul reads them.
gqScaleLayout gqMmScaleLayout(gqFormat format);

/// `value` is null or of the element type of `other`.
bool gqCheckSameElements(MlirOperation op, const char *name, MlirValue value,
                         const char *otherName, MlirValue other);

/// `scaleOffsets` has G = `groups` entries, `offsets` G or G+1, of one element
/// type. Where `scaleOffsets` is null, `offsets` has G+1.
bool gqCheckGroups(MlirOperation op, MlirValue offsets, MlirValue scaleOffsets,
                   int64_t groups);

/// There can be offsets of tiles, called `name`: scales are in tiles, and
/// groups have no shapes of their own. `otherwise` is null, or says why not.
bool gqCheckScaleOffsets(MlirOperation op, const char *name,
                         gqScaleLayout layout, bool ragged,
                         const char *otherwise);

/// A tensor has the encoding of `layout`: all but tiled scales have none. The
/// innermost stride of a memref is 1; if `contiguous`, all its strides are
/// those of a row-major array. Dynamic strides pass, the runtime checks them. A
/// null value passes.
bool gqCheckStorage(MlirOperation op, const char *name, MlirValue value,
                    gqScaleLayout layout, bool contiguous);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_IR_CHECKS_H
