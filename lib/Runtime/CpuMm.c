//===- CpuMm.c - products of quantized matrices on the CPU ---------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuMm.h"

#include "CpuKernels.h"
#include "runtime_kernels/codecs/Codes.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Dequantize.h"

#include <stdlib.h>
#include <string.h>

gqCpuMmTile *gqCpuMmTilesNew(gqCpuOp *op, int32_t numThreads) {
  // Zeroed, because the products of a partial tile also read what no operand
  // filled.
  gqCpuMmTile *tiles = calloc((size_t)numThreads, sizeof(gqCpuMmTile));
  if (!tiles)
    gqCpuFail(op, GQ_OUT_OF_MEMORY, "no memory for a tile");
  return tiles;
}

void gqCpuMmTilesFree(gqCpuMmTile *tiles) { free(tiles); }

gqCpuMmTile *gqCpuMmTileOf(gqCpuMmTile *tiles, int32_t thread) {
  return &tiles[thread];
}

const double *gqCpuMmSum(const gqCpuMmMatrix *a, int64_t row, int64_t rows,
                         const gqCpuMmMatrix *b, int64_t column,
                         int64_t columns, int64_t depth, gqCpuMmTile *tile) {
  gqCpuGetKernels()->sumProducts(a, row, rows, b, column, columns, depth, tile);
  return &tile->sums[0][0];
}

gqCpuMmSide gqCpuMmSideOf(int32_t format) {
  gqFormatTraits traits = gqFormatGetTraits((gqFormat)format);
  bool scaled = format != GQ_FORMAT_NONE;
  return (gqCpuMmSide){
      .format = (gqFormat)format,
      .traits = traits,
      .types = scaled ? 1 << traits.dataType : GQ_TYPES_FP8,
      .tiled = scaled && traits.scaleType != GQ_F32,
  };
}

bool gqCpuMmCheckFormats(gqCpuOp *op, int32_t format, int32_t bFormat,
                         int32_t scaleLayout) {
  if (format == GQ_FORMAT_NONE && bFormat == GQ_FORMAT_NONE)
    return true;
  gqCpuMmSide a = gqCpuMmSideOf(format), b = gqCpuMmSideOf(bFormat);
  if (!gqCpuCheckFormat(op, format) || !gqCpuCheckFormat(op, bFormat) ||
      !gqCpuCheckAttributes(op, format, scaleLayout,
                            a.tiled ? GQ_LAYOUTS_TILE128X4 : GQ_LAYOUTS_LINEAR))
    return false;
  return (a.traits.scaleRule == b.traits.scaleRule &&
          a.traits.blockColumns == b.traits.blockColumns) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "formats %s and %s do not have the same scale rule",
                   a.traits.name, b.traits.name);
}

bool gqCpuMmCheckPresence(gqCpuOp *op, const char *name, const gqBuffer *buffer,
                          bool required, const char *condition) {
  return gqBufferIsAbsent(buffer) != required ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT, "expected %s%s %s",
                   required ? "" : "no ", name, condition);
}

bool gqCpuMmCheckScalePresence(gqCpuOp *op, const gqBuffer *aScales,
                               const gqBuffer *bScales, gqFormat format) {
  bool scaled = format != GQ_FORMAT_NONE;
  const char *with = scaled ? "with a format" : "without a format";
  return gqCpuMmCheckPresence(op, "a_scales", aScales, scaled, with) &&
         gqCpuMmCheckPresence(op, "b_scales", bScales, scaled, with);
}

void gqCpuMmStore(double value, gqElementType type, void *row, int64_t index) {
  if (type == GQ_F32)
    ((float *)row)[index] = (float)value;
  else
    ((uint16_t *)row)[index] = type == GQ_BF16 ? gq_dev_bf16_from_f64(value)
                                               : gq_dev_f16_from_f64(value);
}
