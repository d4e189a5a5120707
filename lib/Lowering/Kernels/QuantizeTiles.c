//===- QuantizeTiles.c - launches of the kernels of tiles -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

/// Whether the kernel of tiles has tall lanes for an op with these parts.
static bool hasTallLanes(const gqGroupedBlockQuantize *desc, int32_t parts) {
  gqDirectionTraits rowwise = gqDirectionGetTraits(&desc->rowwise);
  gqDirectionTraits columnwise = gqDirectionGetTraits(&desc->columnwise);
  bool fourOverSix = gqDirectionHasFourOverSix(&rowwise) ||
                     gqDirectionHasFourOverSix(&columnwise);
  return gq_dev_tiles_has_tall_lanes(parts, fourOverSix, gqHeldType(desc)) &&
         (mlirValueIsNull(desc->rowIndices) ||
          !mlirRegionIsNull(desc->producer));
}

int32_t gqPartsOf(const gqGroupedBlockQuantize *desc) {
  const struct {
    MlirValue operand;
    int32_t part;
  } table[] = {
      {desc->rowwise.data, GQ_DEV_ROWWISE},
      {desc->columnwise.data, GQ_DEV_COLUMNWISE},
      {desc->amax, GQ_DEV_AMAX},
      {desc->dbias, GQ_DEV_DBIAS},
      {desc->scaleOffsetsOut, GQ_DEV_SCALE_OFFSETS_OUT},
      {desc->scaleOffsets, GQ_DEV_SCALE_OFFSETS},
      {desc->firstDims, GQ_DEV_RAGGED},
      {desc->scaleInv, GQ_DEV_SCALE_INVERSES},
  };
  int32_t parts = 0;
  for (size_t i = 0; i < sizeof(table) / sizeof(*table); ++i)
    if (!mlirValueIsNull(table[i].operand))
      parts |= table[i].part;
  const gqDirection *directions[] = {&desc->rowwise, &desc->columnwise};
  for (size_t i = 0; i < 2; ++i) {
    gqDirectionTraits traits = gqDirectionGetTraits(directions[i]);
    parts |= gq_dev_parts_of_direction(&traits);
  }
  gqDirectionTraits columnwise = gqDirectionGetTraits(&desc->columnwise);
  if (!mlirRegionIsNull(desc->producer))
    parts |= GQ_DEV_MADE;
  else if (hasTallLanes(desc, parts) &&
           gq_dev_tall_lanes_fit_four(parts, &columnwise))
    parts |= GQ_DEV_FITS_FOUR;
  return parts;
}

/// Computes amax and dbias from what the kernel of tiles has stored for them.
static bool launchReduceTiles(const gqLauncher *launcher,
                              const gqGroupedBlockQuantize *desc,
                              const gqQuantizeTilesOperands *tiles) {
  gqReduceTilesOperands operands = {
      .workspace = tiles->workspace,
      .rows = tiles->rows,
      .columns = tiles->columns,
      .groups = tiles->groups,
      .noopFlag = tiles->noopFlag,
      .amax = gqBuildAddress(launcher, desc->amax),
      .dbias = tiles->dbias,
      .parts = tiles->parts,
      .dbiasType = tiles->dbiasType,
  };
  return gqLaunchKernel(
      launcher, GQ_KERNEL_REDUCE_TILES, "grouped_block_quantize_reduce",
      &operands, (gq_dev_bounds){.threads = GQ_DEV_REDUCE_TILES_THREADS});
}

/// Which kernels there are for the groups of an op.
static gqSizes sizesOfGroups(const gqGroupedBlockQuantize *desc,
                             const gqQuantizeTilesOperands *operands) {
  int64_t rows = operands->rows.fixed, columns = operands->columns.fixed;
  int64_t groups = operands->groups.fixed;
  // What is reduced beside codes of 4 bits was not measured of float32.
  int32_t parts = (int32_t)operands->parts.value;
  bool isShort = gqFormatGetTraits(desc->format).dataBits == 4;
  bool reduces = parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS);
  bool isUsual = !(parts & GQ_DEV_UNUSUAL) &&
                 !(isShort && reduces && operands->heldType.value == GQ_F32);
  bool fits = isUsual || hasTallLanes(desc, parts);
  if (!fits || !gq_dev_has_small_groups_kernel(
                   desc->format, desc->scaleLayout, operands->parts.value,
                   (gqElementType)operands->heldType.value))
    return (gqSizes){false, true};
  if (columns == GQ_DYNAMIC || groups == GQ_DYNAMIC)
    return (gqSizes){true, true};
  bool small = gq_dev_has_small_groups(
      desc->format, parts, rows == GQ_DYNAMIC ? 0 : rows, columns, groups);
  return (gqSizes){small, !small || rows == GQ_DYNAMIC};
}

/// Has the hooks of a producer load ahead, if they can and should; whether they
/// do.
static bool loadAhead(gqGpuHook *hook) {
  MlirRegion producer = hook->producer.region;
  if (!gqCanLoadAhead(producer, hook->inputs, hook->numInputs) ||
      !gqShouldLoadAhead(producer))
    return false;
  hook->producer.ahead = GQ_AHEAD_FIRST;
  return true;
}

bool gqLaunchQuantizeTiles(const gqLauncher *launcher,
                           const gqGroupedBlockQuantize *desc,
                           gqGpuAddress statusWord) {
  bool ragged = gqIsRagged(desc);
  gqGpuHook load = gqBuildHook(launcher, desc);
  bool ahead = loadAhead(&load);
  int32_t parts = gqPartsOf(desc) | (ahead ? GQ_DEV_AHEAD : 0);
  MlirValue outer = gqOuterScale(desc, &desc->rowwise);
  MlirValue columnwiseOuter = gqOuterScale(desc, &desc->columnwise);
  gqQuantizeTilesOperands operands = {
      .load = load,
      .rows = ragged ? gqBuildExtent(launcher, desc->inputs[0], 0, 1)
                     : gqFindExtent(launcher, desc, 0),
      .columns =
          ragged ? gqFixedExtent(launcher, 1) : gqFindExtent(launcher, desc, 1),
      .rowIndices = gqBuildAddress(launcher, desc->rowIndices),
      .sourceRows = gqBuildSourceRows(launcher, desc),
      .offsets = gqBuildAddress(launcher, desc->offsets),
      .numOffsets = gqBuildCount(launcher, desc->offsets),
      .scaleOffsets = gqBuildAddress(launcher, desc->scaleOffsets),
      .firstDims = gqBuildAddress(launcher, desc->firstDims),
      .lastDims = gqBuildAddress(launcher, desc->lastDims),
      .groups = gqBuildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .outer = gqBuildAddress(launcher, outer),
      .columnwiseOuter = gqBuildAddress(launcher, columnwiseOuter),
      .rngState = gqBuildAddress(launcher, desc->rngState),
      .data = gqBuildAddress(launcher, desc->rowwise.data),
      .dataStride = gqBuildStride(launcher, desc->rowwise.data),
      .scales = gqBuildAddress(launcher, desc->rowwise.scales),
      .scalesStride = gqBuildStride(launcher, desc->rowwise.scales),
      .scalesSize = gqBuildSize(launcher, desc->rowwise.scales),
      .columnwiseData = gqBuildAddress(launcher, desc->columnwise.data),
      .columnwiseDataStride = gqBuildStride(launcher, desc->columnwise.data),
      .columnwiseDataSize = gqBuildSize(launcher, desc->columnwise.data),
      .columnwiseScales = gqBuildAddress(launcher, desc->columnwise.scales),
      .columnwiseScalesSize = gqBuildSize(launcher, desc->columnwise.scales),
      .scaleOffsetsOut = gqBuildAddress(launcher, desc->scaleOffsetsOut),
      .scaleInv = gqBuildAddress(launcher, desc->scaleInv),
      .workspace = gqNoAddress,
      .dbias = gqBuildAddress(launcher, desc->dbias),
      .noopFlag = gqBuildAddress(launcher, desc->noopFlag),
      .status = statusWord,
      .parts = gqConstant(parts),
      .format = gqConstant(desc->format),
      .recipe = gqConstant(desc->recipe),
      .scaleLayout = gqConstant(desc->scaleLayout),
      .rowsMode = gqConstant(desc->rows),
      .offsetBits = gqConstant(gqIntegerBits(desc->offsets)),
      .outerKind = gqConstant(gqOuterKindOfDirection(desc, &desc->rowwise)),
      .columnwiseOuterKind =
          gqConstant(gqOuterKindOfDirection(desc, &desc->columnwise)),
      .rowwiseTraits = gqConstant(gqPackedTraits(&desc->rowwise)),
      .columnwiseTraits = gqConstant(gqPackedTraits(&desc->columnwise)),
      .rowIndexBits = gqConstant(gqRowIndexBits(desc)),
      .heldType = gqConstant(gqHeldType(desc)),
      .inputsAhead = gqConstant(ahead ? load.numInputs : 0),
      .dbiasType = gqConstant(gqBufferType(desc->dbias)),
  };
  const gqSizes sizes = sizesOfGroups(desc, &operands);
  const struct {
    bool exists;
    gqKernelFamily family;
    const char *name;
  } kernels[] = {
      {sizes.large, GQ_KERNEL_QUANTIZE_TILES, "grouped_block_quantize"},
      {sizes.small, GQ_KERNEL_QUANTIZE_SMALL_GROUPS,
       "grouped_block_quantize_small_groups"},
  };
  bool reduces = parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS), valid = true;
  MlirValue workspace = {NULL};
  if (sizes.small && sizes.large)
    operands.parts = gqConstant(parts | GQ_DEV_LARGE_GROUPS);
  for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); ++i) {
    if (!kernels[i].exists)
      continue;
    gqGpuPlan plan =
        gqGpuBuildPlan(&launcher->builder, kernels[i].family, &operands);
    if (reduces && mlirValueIsNull(workspace)) {
      workspace = gqBuildAlloc(&launcher->builder, plan.workspace, GQ_DYNAMIC);
      operands.workspace = gqBuildAddress(launcher, workspace);
    }
    bool small = kernels[i].family == GQ_KERNEL_QUANTIZE_SMALL_GROUPS;
    gqElementType held = gqHeldType(desc);
    gq_dev_bounds bounds =
        small ? gq_dev_quantize_small_groups_bounds(desc->format, parts, held)
              : gq_dev_quantize_tiles_bounds(desc->format, parts, held);
    valid = valid && gqLaunchPlanned(launcher, kernels[i].family,
                                     kernels[i].name, &operands, bounds, plan);
    operands.parts = gqConstant(parts);
  }
  if (reduces) {
    valid = valid && launchReduceTiles(launcher, desc, &operands);
    gqBuildDealloc(&launcher->builder, workspace);
  }
  return valid;
}
