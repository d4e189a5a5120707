//===- DequantizeTiles.c - launches of dequantization ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

#include <string.h>

bool gqLaunchDequantize(const gqLauncher *launcher,
                        const gqGroupedDequantize *desc, MlirRegion epilogue,
                        gqGpuAddress statusWord) {
  bool ragged = !mlirValueIsNull(desc->firstDims);
  bool columnwise = desc->axis == GQ_AXIS_COLUMNWISE;
  MlirValue outer = desc->format == GQ_FORMAT_NONE ? desc->scaleInv
                    : desc->recipe == GQ_RECIPE_TE ? desc->outerAmax
                                                   : desc->globalScale;
  int32_t parts =
      (columnwise ? GQ_DEV_COLUMNWISE : GQ_DEV_ROWWISE) |
      (ragged ? GQ_DEV_RAGGED : 0) |
      (mlirValueIsNull(desc->scaleOffsets) ? 0 : GQ_DEV_SCALE_OFFSETS);
  gqOuterKind outerKind = desc->outer == GQ_OUTER_OF_ROW ? GQ_OUTER_PER_ROW
                          : desc->outer == GQ_OUTER_OF_COLUMN
                              ? GQ_OUTER_PER_COLUMN
                              : gqOuterKindOf(outer);
  bool divides = !mlirValueIsNull(desc->globalScale);
  bool manyScales = columnwise && desc->format == GQ_FORMAT_NVFP4;
  gq_dev_bounds bounds = gq_dev_dequantize_tiles_bounds(
      gqBufferType(desc->data), gq_dev_dequantizes_by_rows(parts),
      gq_dev_dequantize_pieces(desc->format, desc->scaleLayout), manyScales,
      divides, strcmp(launcher->chip, "sm_120a") == 0);
  gqDequantizeTilesOperands operands = {
      .data = gqBuildAddress(launcher, desc->data),
      .dataStride = gqBuildStride(launcher, desc->data),
      .dataSize = gqBuildSize(launcher, desc->data),
      .scales = gqBuildAddress(launcher, desc->scales),
      .scalesStride = gqBuildStride(launcher, desc->scales),
      .scalesSize = gqBuildSize(launcher, desc->scales),
      .rows = gqBuildExtent(launcher, desc->out, 0, 1),
      .columns = ragged ? gqFixedExtent(launcher, 1)
                        : gqBuildExtent(launcher, desc->out, 1, 1),
      .offsets = gqBuildAddress(launcher, desc->offsets),
      .numOffsets = gqBuildCount(launcher, desc->offsets),
      .scaleOffsets = gqBuildAddress(launcher, desc->scaleOffsets),
      .firstDims = gqBuildAddress(launcher, desc->firstDims),
      .lastDims = gqBuildAddress(launcher, desc->lastDims),
      .groups = gqBuildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .outer = gqBuildAddress(launcher, outer),
      .out = gqBuildAddress(launcher, desc->out),
      .outStride = gqBuildStride(launcher, desc->out),
      .status = statusWord,
      .parts = gqConstant(parts),
      .format = gqConstant((int32_t)desc->format),
      .dataType = gqConstant(gqBufferType(desc->data)),
      .recipe = gqConstant((int32_t)desc->recipe),
      .scaleLayout = gqConstant((int32_t)desc->scaleLayout),
      .offsetBits = gqConstant(gqIntegerBits(desc->offsets)),
      .outerKind = gqConstant(outerKind),
      .scaleMax = gqConstant(desc->scaleMax),
      .epilogue = {true, epilogue},
      .valueType = gqConstant(gqValueType(epilogue, desc->out)),
      .outType = gqConstant(gqBufferType(desc->out)),
      .ctas = gqConstant(bounds.minCtas),
  };
  return gqLaunchKernel(launcher, GQ_KERNEL_DEQUANTIZE_TILES,
                        mlirValueIsNull(desc->offsets) ? "block_dequantize"
                                                       : "grouped_dequantize",
                        &operands, bounds);
}
