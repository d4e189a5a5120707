//===- GroupedAmax.c - launches of the kernels of amaxes ------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

bool gqLaunchGroupedAmax(const gqLauncher *launcher, const gqGroupedAmax *desc,
                         gqGpuAddress statusWord) {
  bool ragged = gqIsRagged(desc);
  gqDirectionTraits columnwise = gqDirectionGetTraits(&desc->columnwise);
  int32_t parts =
      (mlirValueIsNull(desc->amax) ? 0 : GQ_DEV_AMAX_OF_GROUPS) |
      (mlirValueIsNull(desc->rowAmax) ? 0 : GQ_DEV_AMAX_OF_ROWS) |
      (mlirValueIsNull(desc->columnAmax) ? 0 : GQ_DEV_AMAX_OF_COLUMNS) |
      (mlirValueIsNull(desc->columnwiseAmax)
           ? 0
           : GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS) |
      (ragged ? GQ_DEV_RAGGED : 0);
  bool isPlain =
      mlirRegionIsNull(desc->producer) && mlirValueIsNull(desc->rowIndices);
  gq_dev_bounds bounds = gq_dev_grouped_amax_bounds(
      parts, gqHeldType(desc), columnwise.transform, isPlain);
  gqClearAmaxOperands clear = {
      .rows = ragged ? gqBuildExtent(launcher, desc->inputs[0], 0, 1)
                     : gqFindExtent(launcher, desc, 0),
      .columns =
          ragged ? gqFixedExtent(launcher, 1) : gqFindExtent(launcher, desc, 1),
      .offsets = gqBuildAddress(launcher, desc->offsets),
      .firstDims = gqBuildAddress(launcher, desc->firstDims),
      .lastDims = gqBuildAddress(launcher, desc->lastDims),
      .groups = gqBuildGroups(launcher, desc->offsets, (MlirValue){NULL}),
      .noopFlag = gqBuildAddress(launcher, desc->noopFlag),
      .columnwiseAmax = gqBuildAddress(launcher, desc->columnwiseAmax),
      .amax = gqBuildAddress(launcher, desc->amax),
      .rowAmax = gqBuildAddress(launcher, desc->rowAmax),
      .columnAmax = gqBuildAddress(launcher, desc->columnAmax),
      .parts = gqConstant(parts),
      .rowsMode = gqConstant(desc->rows),
      .offsetBits = gqConstant(gqIntegerBits(desc->offsets)),
  };
  gqGroupedAmaxOperands operands = {
      .load = gqBuildHook(launcher, desc),
      .rows = clear.rows,
      .columns = clear.columns,
      .offsets = clear.offsets,
      .firstDims = clear.firstDims,
      .lastDims = clear.lastDims,
      .groups = clear.groups,
      .noopFlag = clear.noopFlag,
      .columnwiseAmax = clear.columnwiseAmax,
      .amax = clear.amax,
      .rowAmax = clear.rowAmax,
      .columnAmax = clear.columnAmax,
      .parts = clear.parts,
      .rowsMode = clear.rowsMode,
      .offsetBits = clear.offsetBits,
      .rowIndices = gqBuildAddress(launcher, desc->rowIndices),
      .sourceRows = gqBuildSourceRows(launcher, desc),
      .status = statusWord,
      .rowIndexBits = gqConstant(gqRowIndexBits(desc)),
      .transform = gqConstant((int32_t)columnwise.transform),
      .signs = gqConstant((int32_t)columnwise.signs),
      .heldType = gqConstant(gqHeldType(desc)),
      .ctas = gqConstant(bounds.minCtas),
  };
  return gqLaunchKernel(
             launcher, GQ_KERNEL_CLEAR_AMAX, "grouped_amax_clear", &clear,
             (gq_dev_bounds){.threads = GQ_DEV_CLEAR_AMAX_THREADS}) &&
         gqLaunchKernel(launcher, GQ_KERNEL_GROUPED_AMAX, "grouped_amax",
                        &operands, bounds);
}
