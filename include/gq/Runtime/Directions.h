//===- Directions.h - how one direction is quantized -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `#gq.direction` says about a direction of an op, for the dialect, the
// CPU runtime and the device functions; and which settings go together.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_DIRECTIONS_H
#define GQ_RUNTIME_DIRECTIONS_H

#include "gq/Runtime/Types.h"

/// All zeros is the default direction.
typedef struct gqDirectionTraits {
  gqRounding rounding;
  gqTransform transform;
  /// For the transform: bit i is set if row i of a block changes its sign.
  uint32_t signs;
  gqOuter outer;
  gqFourOverSix fourOverSix;
  /// For four over six.
  gqScaleMax scaleMax;
  /// Rows and columns of the matrix that share a scale: 0 for those of the
  /// format, or these explicitly, or 16 and 16.
  int64_t blockRows, blockColumns;
} gqDirectionTraits;

enum {
  /// Rows and columns of a square block of the formats whose blocks are parts
  /// of rows.
  GQ_SQUARE_BLOCK = 16,
};

/// Whether blocks are 16 by 16: their scales are stored as if each row of a
/// block (or column, in the columnwise direction) had its own.
GQ_INLINE bool gqDirectionHasSquares(const gqDirectionTraits *traits) {
  return traits->blockRows == GQ_SQUARE_BLOCK &&
         traits->blockColumns == GQ_SQUARE_BLOCK;
}

/// Whether each block's scale is the better of two.
GQ_INLINE bool gqDirectionHasFourOverSix(const gqDirectionTraits *traits) {
  return traits->fourOverSix != GQ_FOUR_OVER_SIX_NONE;
}

/// The traits as one number, for generated code.
GQ_INLINE int32_t gqDirectionPack(const gqDirectionTraits *traits) {
  return (int32_t)((uint32_t)traits->rounding |
                   (uint32_t)traits->transform << 2 |
                   (uint32_t)traits->fourOverSix << 4 |
                   (uint32_t)(traits->scaleMax == 256) << 6 |
                   (uint32_t)gqDirectionHasSquares(traits) << 7 |
                   (uint32_t)traits->outer << 8 | traits->signs << 16);
}

/// The inverse of gqDirectionPack(). Blocks of the format are 0 by 0. Invalid
/// bits become values outside of the enumerations.
GQ_INLINE gqDirectionTraits gqDirectionUnpack(int32_t packed) {
  uint32_t bits = (uint32_t)packed;
  int64_t block = bits >> 7 & 1 ? GQ_SQUARE_BLOCK : 0;
  return (gqDirectionTraits){
      .rounding = (gqRounding)(bits & 3),
      .transform = (gqTransform)(bits >> 2 & 3),
      .signs = bits >> 16,
      .outer = (gqOuter)(bits >> 8 & 255),
      .fourOverSix = (gqFourOverSix)(bits >> 4 & 3),
      .scaleMax = bits >> 6 & 1 ? 256 : 0,
      .blockRows = block,
      .blockColumns = block,
  };
}

/// Whether a direction differs from the default in at most its outer scale.
GQ_INLINE bool gqDirectionIsUsual(const gqDirectionTraits *traits) {
  return traits->rounding == GQ_ROUNDING_NEAREST &&
         traits->transform == GQ_TRANSFORM_NONE &&
         !gqDirectionHasFourOverSix(traits) && !gqDirectionHasSquares(traits);
}

/// What a direction of `format`, rowwise or columnwise, of groups of rows or
/// ragged, lacks: what it requires, as an error says it, or null if all goes
/// together. The numbers are those of the constraints of
/// gq.grouped_block_quantize.
GQ_INLINE const char *gqDirectionLacks(const gqDirectionTraits *d,
                                       gqFormat format, gqRecipe recipe,
                                       bool columnwise, bool ragged) {
  bool squares = gqDirectionHasSquares(d);
  bool selects = gqDirectionHasFourOverSix(d);
  if ((uint32_t)d->rounding > GQ_ROUNDING_STOCHASTIC ||
      (uint32_t)d->transform > GQ_TRANSFORM_HADAMARD16 ||
      (uint32_t)d->outer > GQ_OUTER_OF_COLUMN ||
      (uint32_t)d->fourOverSix > GQ_FOUR_OVER_SIX_MSE)
    return "a direction whose parts are known";
  if (!gqDirectionIsUsual(d) && format != GQ_FORMAT_NVFP4) // (C28)
    return "format(nvfp4) for stochastic rounding, a transform, blocks of "
           "16x16 or four over six";
  if (d->outer != GQ_OUTER_OF_GROUP && // (C29)
      (recipe != GQ_RECIPE_TE || format != GQ_FORMAT_NVFP4))
    return "recipe(te) for an outer amax per row or column";
  if (d->outer == (columnwise ? GQ_OUTER_OF_ROW : GQ_OUTER_OF_COLUMN))
    return columnwise ? "'outer' of 'columnwise' to be group or column"
                      : "'outer' of 'rowwise' to be group or row";
  if (d->outer != GQ_OUTER_OF_GROUP && ragged)
    return "no 'shapes' for an outer amax per row or column";
  if (d->transform != GQ_TRANSFORM_NONE && !columnwise) // (C30)
    return "a transform to be of 'columnwise'";
  if (d->signs > (d->transform != GQ_TRANSFORM_NONE ? 0xffffu : 0u))
    return "'signs' to be 16 bits and of a transform";
  if (squares &&
      (d->rounding != GQ_ROUNDING_NEAREST || // (C31)
       d->transform != GQ_TRANSFORM_NONE || d->outer != GQ_OUTER_OF_GROUP))
    return "blocks of 16x16, which both directions share, to be rounded to "
           "nearest, without a transform and with an outer amax of the group";
  if (selects && (recipe != GQ_RECIPE_TE || // (C32)
                  d->rounding != GQ_ROUNDING_NEAREST))
    return "recipe(te) and rounding to nearest for four over six";
  if (d->scaleMax != 0 &&
      (!selects || (d->scaleMax != 256 && d->scaleMax != 448)))
    return "'scale_max' to be 256 or 448 and of four over six";
  return 0;
}

#endif // GQ_RUNTIME_DIRECTIONS_H
