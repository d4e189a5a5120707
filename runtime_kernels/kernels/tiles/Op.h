//===- Op.h - the operands of a kernel of tiles ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel computes: one or two directions, as values, and what they
// share. Everything else in this folder follows from these.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_OP_H
#define GQ_KERNELS_KERNELS_TILES_OP_H

#include "runtime_kernels/kernels/Kernels.h"

#include "gq/Runtime/Directions.h"
#include "runtime_kernels/groups/Faults.h"
#include "runtime_kernels/kernels/tiles/Workspace.h"
#include "runtime_kernels/scalers/Block.h"
#include "runtime_kernels/transforms/SharedRng.h"

enum {
  THREADS = GQ_DEV_QUANTIZE_TILES_THREADS,
  WARPS = THREADS / GQ_DEV_WARP,
};

/// A direction of the op: how its elements become codes and scales, and where
/// these go. All but the addresses, strides and sizes is constant in a kernel.
typedef struct Direction {
  bool exists;
  /// Of blocks, as the rowwise direction has them: those along columns are
  /// traits.blockColumns high and traits.blockRows wide.
  gqFormatTraits traits;
  /// From a block's largest magnitude to its scale.
  gq_dev_scaler scaler;
  gqDirectionTraits how;
  /// In which what is quantized is exact: the op's, but of a transform's
  /// results.
  gqElementType heldType;
  gqOuterKind outerKind;
  const float GQ_GLOBAL *outer;
  /// Scales are in tile128x4, else linear.
  bool tiled;
  /// Codes of a column follow each other.
  bool transposes;
  uint8_t GQ_GLOBAL *data;
  /// From one row to the next, in bytes, if not transposed.
  int64_t dataStride;
  /// In bytes, if transposed.
  int64_t dataSize;
  uint8_t GQ_GLOBAL *scales;
  /// From one row to the next, in bytes; 0 if groups follow each other.
  int64_t scalesStride;
  /// In scales.
  int64_t scalesSize;
} Direction;

/// The operands, and what follows from the constants among them.
typedef struct Op {
  GQ_DEV_FIELDS(GQ_QUANTIZE_TILES_OPERANDS)
  Direction rowwise, columnwise;
  /// Whether row indices are applied before the hook is called.
  bool gathers;
  /// The operand `workspace`, if there is amax or dbias.
  Workspace partial;
  /// As they are given.
  gq_dev_groups allGroups;
  bool hasAmax, hasDbias, ragged, givesScaleOffsets, givesScaleInverses;
  /// Whether rows in no group have jobs, too.
  bool allRows;
  /// Parts have GQ_DEV_UNUSUAL: then codes are made with care for any block,
  /// but by tall lanes.
  bool unusual;
  /// Whether only magnitudes are found: then tall lanes also have rows that are
  /// gathered.
  bool measures;
  /// If loadsByPolicy (Load.h).
  uint64_t l2Policy;
  /// Whether a warp does a job alone, rather than a CTA, and whether it has all
  /// columns of its rows (Lanes.h).
  bool alone, isWide;
  /// The rows of a job whose transposed codes a warp alone collects before they
  /// leave (Columns4Bit.h).
  uint32_t collectedRows;
  /// Where sums of columns are collected, if there are any (Lanes.h).
  float GQ_SHARED *sums;
  /// Whether the largest magnitude of a block with NaN is NaN, so that it is
  /// not regular.
  bool keepsNan;
} Op;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

GQ_DEV uint32_t min32(int64_t x, uint32_t bound) {
  return x < (int64_t)bound ? (uint32_t)x : bound;
}

/// Whether a job's rows are in a group, given its number or -1.
GQ_DEV bool isInGroup(const Op *o, int32_t group) {
  return !o->allRows || group >= 0;
}

GQ_DEV int64_t dataBytes(const Direction *d, int64_t elements) {
  return d->traits.dataBits == 4 ? (int64_t)((uint64_t)elements / 2) : elements;
}

/// Whether blocks are square: both directions cut a matrix in the same ones.
GQ_DEV bool isSquare(const Direction *d) { return d->traits.blockRows > 1; }

/// Whether blocks have scales, which are stored. If not, one that is given is
/// that of all of a job.
GQ_DEV bool hasScales(const Direction *d) {
  return d->traits.scaleRule != GQ_SCALE_RULE_GIVEN;
}

/// Whether each row or column has an outer amax of its own, a constant.
GQ_DEV bool hasOwnOuters(const Direction *d) {
  return d->outerKind == GQ_OUTER_PER_ROW ||
         d->outerKind == GQ_OUTER_PER_COLUMN;
}

/// Scales of a job along a row of blocks: 8, 4 or 1.
GQ_DEV uint32_t numScaleColumns(const Direction *d) {
  return TILE / (uint32_t)d->traits.blockColumns;
}

/// Rows of scales of a job, along each of which there are so many.
GQ_DEV uint32_t numScaleRows(const Direction *d, uint32_t elements) {
  return (uint32_t)numOf(elements, d->traits.blockRows);
}

/// Scales along so many elements, as their layout pads them.
GQ_DEV int64_t scaleWidth(const Direction *d, int64_t elements) {
  int64_t blocks = numOf(elements, d->traits.blockColumns);
  return d->tiled ? gq_dev_up(blocks, GQ_DEV_TILE_COLUMNS) : blocks;
}

/// Rows of scales of so many rows or, of the columnwise direction, columns, as
/// their layout pads them.
GQ_DEV int64_t scaleHeight(const Direction *d, int64_t elements) {
  return d->tiled ? numTiles(elements) * TILE
                  : numOf(elements, d->traits.blockRows);
}

/// The scales of a group: `across` elements of which those in a block have a
/// scale each unless blocks are square, by `along` elements that share them.
/// Columns count missing rows.
GQ_DEV int64_t numScales(const Direction *d, int64_t across, int64_t along) {
  return scaleHeight(d, across) * scaleWidth(d, along);
}

/// Bytes of so many scales.
GQ_DEV int64_t bytesOfScales(const Direction *d, int64_t scales) {
  return scales * gqElementTypeSize(d->traits.scaleType);
}

/// Rows of a group as transposed columns have them.
GQ_DEV int64_t paddedRows(int64_t rows) { return gq_dev_up(rows, 32); }

/// Whether the rowwise scales of groups follow each other without a gap.
GQ_DEV bool hasPackedScales(const Op *o) {
  if (!hasScales(&o->rowwise))
    return false;
  return o->rowwise.tiled ? !o->allGroups.hasScaleOffsets
                          : o->ragged || isSquare(&o->rowwise);
}

#endif // GQ_KERNELS_KERNELS_TILES_OP_H
