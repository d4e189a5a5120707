//===- GroupedWgrad.c - launches of the gradient of weights ---------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ChooseKernels.h"
#include "Launches.h"

#include "runtime_kernels/layout/Tile128x4.h"

/// a / b, of a b that is at least 1.
static gqExtent buildQuotient(const gqLauncher *launcher, gqExtent a,
                              gqExtent b) {
  return gqBuildArithmetic(launcher, "arith.divsi", a, b,
                           b.fixed > 0 ? a.fixed / b.fixed : 0);
}

/// An extent that must be positive for the launch, but may be 0.
static gqExtent buildPositive(const gqLauncher *launcher, gqExtent extent) {
  return gqBuildArithmetic(launcher, "arith.maxsi", extent,
                           gqFixedExtent(launcher, 1),
                           extent.fixed > 1 ? extent.fixed : 1);
}

/// `a` or `b`: columnwise data, [M, extent] before it was quantized.
typedef struct WgradSide {
  gqFormat format;
  MlirValue data, scales;
  gqExtent extent;
} WgradSide;

/// M; for flat data, the rows that it has room for.
static gqExtent buildRows(const gqLauncher *launcher, const WgradSide *side) {
  if (!gqFormatGetTraits(side->format).transposes)
    return gqBuildExtent(launcher, side->data, 0, 1);
  return buildQuotient(
      launcher,
      gqBuildExtent(launcher, side->data, 0, gqElementsOf(side->data)),
      buildPositive(launcher, side->extent));
}

/// The columns of scales that there is room for.
static gqExtent buildScaleColumns(const gqLauncher *launcher,
                                  const WgradSide *side) {
  gqFormatTraits traits = gqFormatGetTraits(side->format);
  bool tiled = gqMmScaleLayout(side->format) == GQ_SCALE_LAYOUT_TILE128X4;
  int64_t unit = tiled ? GQ_DEV_TILE_ROWS : traits.blockRows;
  gqExtent entries = gqBuildExtent(launcher, side->scales, 0, 1);
  gqExtent extent = buildPositive(launcher, side->extent);
  // Lines of scales, in units of as many as an extent is rounded up to.
  gqExtent lines =
      buildQuotient(launcher,
                    gqBuildArithmetic(launcher, "arith.addi", extent,
                                      gqFixedExtent(launcher, unit - 1),
                                      extent.fixed + unit - 1),
                    gqFixedExtent(launcher, unit));
  return buildQuotient(
      launcher,
      tiled ? buildQuotient(launcher, entries, gqFixedExtent(launcher, unit))
            : entries,
      lines);
}

bool gqLaunchGroupedWgrad(const gqLauncher *launcher, MlirOperation op,
                          gqGpuAddress statusWord) {
  gqGroupedWgrad desc = gqGroupedWgradGet(op);
  bool wgmma = gqMmGetKernel(op) == GQ_MM_KERNEL_TILES128;
  bool scaled = desc.format != GQ_FORMAT_NONE;
  WgradSide a = {desc.format, desc.a, desc.aScales,
                 gqBuildExtent(launcher, desc.out, 1, 1)};
  WgradSide b = {desc.bFormat, desc.b, desc.bScales,
                 gqBuildExtent(launcher, desc.out, 2, 1)};
  bool flat = gqFormatGetTraits(desc.format).transposes;
  // The struct of both families.
  gqGroupedWgradTilesOperands operands = {
      .a = gqBuildAddress(launcher, desc.a),
      .aStride = flat ? gqFixedExtent(launcher, 0)
                      : gqBuildRowStride(launcher, desc.a, 1),
      .aScales = gqBuildAddress(launcher, desc.aScales),
      .b = gqBuildAddress(launcher, desc.b),
      .bStride = flat ? gqFixedExtent(launcher, 0)
                      : gqBuildRowStride(launcher, desc.b, 1),
      .bScales = gqBuildAddress(launcher, desc.bScales),
      .offsets = gqBuildAddress(launcher, desc.offsets),
      .groups = gqBuildExtent(launcher, desc.out, 0, 1),
      .alpha = gqBuildAddress(launcher, desc.alpha),
      .out = gqBuildAddress(launcher, desc.out),
      .rows = gqBuildLesser(launcher, buildRows(launcher, &a),
                            buildRows(launcher, &b)),
      .scaleColumns =
          scaled ? gqBuildLesser(launcher, buildScaleColumns(launcher, &a),
                                 buildScaleColumns(launcher, &b))
                 : gqFixedExtent(launcher, 0),
      .n = a.extent,
      .k = b.extent,
      .status = statusWord,
      .format = gqConstant((int32_t)desc.format),
      .bFormat = gqConstant((int32_t)desc.bFormat),
      .aType = gqConstant(gqBufferType(desc.a)),
      .bType = gqConstant(gqBufferType(desc.b)),
      .offsetBits = gqConstant(gqIntegerBits(desc.offsets)),
      .outType = gqConstant(gqBufferType(desc.out)),
  };
  gqKernelFamily family =
      wgmma ? GQ_KERNEL_GROUPED_WGRAD_TILES : GQ_KERNEL_GROUPED_WGRAD_ANY;
  return gqLaunchKernel(
      launcher, family, wgmma ? "grouped_wgrad_tiles128" : "grouped_wgrad_any",
      &operands, gq_dev_grouped_wgrad_bounds(desc.format, wgmma));
}
