//===- QuantizeRows.c - launches of the kernels of rows -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

static bool isPacked(const gqGroupedBlockQuantize *desc) {
  return !mlirValueIsNull(desc->rowwise.scales) &&
         desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4 &&
         mlirValueIsNull(desc->scaleOffsets);
}

static gqQuantizeRowsOperands rowsOperands(const gqLauncher *launcher,
                                           const gqGroupedBlockQuantize *desc,
                                           gqGpuAddress statusWord) {
  MlirValue outer = gqOuterScale(desc, &desc->rowwise);
  return (gqQuantizeRowsOperands){
      .load = gqBuildHook(launcher, desc),
      .rows = gqFindExtent(launcher, desc, 0),
      .columns = gqFindExtent(launcher, desc, 1),
      .rowIndices = gqBuildAddress(launcher, desc->rowIndices),
      .sourceRows = gqBuildSourceRows(launcher, desc),
      .offsets = gqBuildAddress(launcher, desc->offsets),
      .numOffsets = gqBuildCount(launcher, desc->offsets),
      .scaleOffsets = gqBuildAddress(launcher, desc->scaleOffsets),
      .groups = gqBuildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .outer = gqBuildAddress(launcher, outer),
      .rngState = gqBuildAddress(launcher, desc->rngState),
      .data = gqBuildAddress(launcher, desc->rowwise.data),
      .dataStride = gqBuildStride(launcher, desc->rowwise.data),
      .scales = gqBuildAddress(launcher, desc->rowwise.scales),
      .scalesStride = gqBuildStride(launcher, desc->rowwise.scales),
      .scaleRows = gqBuildCount(launcher, desc->rowwise.scales),
      .scaleOffsetsOut = gqBuildAddress(launcher, desc->scaleOffsetsOut),
      .noopFlag = gqBuildAddress(launcher, desc->noopFlag),
      .status = statusWord,
      .format = gqConstant(desc->format),
      .recipe = gqConstant(desc->recipe),
      .scaleLayout = gqConstant(mlirValueIsNull(desc->rowwise.scales)
                                    ? GQ_SCALE_LAYOUT_LINEAR
                                    : desc->scaleLayout),
      .packed = gqConstant(isPacked(desc)),
      .rowsMode = gqConstant(desc->rows),
      .offsetBits = gqConstant(gqIntegerBits(desc->offsets)),
      .outerKind = gqConstant(gqOuterKindOfDirection(desc, &desc->rowwise)),
      .rowIndexBits = gqConstant(gqRowIndexBits(desc)),
      .heldType = gqConstant(gqHeldType(desc)),
      .dataType = gqConstant(gqBufferType(desc->rowwise.data)),
      .loadsAhead = gqConstant(false),
      .warpsPerPiece = gqConstant(mlirRegionIsNull(desc->producer) ||
                                          !mlirValueIsNull(desc->rowIndices)
                                      ? 1
                                      : GQ_DEV_ROWS_PIECE_WARPS),
      .rowwiseTraits = gqConstant(gqPackedTraits(&desc->rowwise)),
      .size = gqConstant(GQ_DEV_ROWS_ANY),
  };
}

/// Which kernels there are for a matrix: that of a large one has a table.
static gqSizes sizesOf(const gqQuantizeRowsOperands *operands) {
  int64_t rows = operands->rows.fixed, columns = operands->columns.fixed;
  if (rows == GQ_DYNAMIC || columns == GQ_DYNAMIC)
    return (gqSizes){true, true};
  bool large = gq_dev_rows_are_large(rows, columns);
  return (gqSizes){!large, large};
}

/// Launches a kernel whose producer is tabulated.
static bool launchWithTable(const gqLauncher *launcher,
                            const gqQuantizeRowsOperands *rows,
                            const gqGpuTable *table) {
  gqQuantizeRowsOperands operands = *rows;
  operands.load.producer.ahead = GQ_AHEAD_LAST;
  operands.load.producer.table = table;
  operands.loadsAhead = gqConstant(true);
  operands.size = gqConstant(GQ_DEV_ROWS_LARGE);
  return gqLaunchKernel(
      launcher, GQ_KERNEL_QUANTIZE_ROWS, "grouped_block_quantize_table",
      &operands,
      (gq_dev_bounds){.threads = GQ_DEV_ROWS_TABLE_THREADS, .minCtas = 1});
}

bool gqLaunchQuantizeRows(const gqLauncher *launcher,
                          const gqGroupedBlockQuantize *desc,
                          gqGpuAddress statusWord) {
  bool hasOuter = !mlirValueIsNull(gqOuterScale(desc, &desc->rowwise));
  gqQuantizeRowsOperands operands = rowsOperands(launcher, desc, statusWord);
  bool numbers = gqHoldsNumbers(&desc->rowwise);
  bool draws = gqIsStochastic(desc); // There are only rows.
  gqGpuProducer *producer = &operands.load.producer;
  // There are registers for it where there is nothing else to hold.
  bool canLoadAhead = !isPacked(desc) && !numbers && !draws &&
                      gqCanLoadAhead(producer->region, operands.load.inputs,
                                     operands.load.numInputs);
  gqGpuTable table;
  if (canLoadAhead && gqGpuTableCut(producer->region, &table)) {
    gqSizes sizes = sizesOf(&operands);
    bool valid = !sizes.large || launchWithTable(launcher, &operands, &table);
    gqGpuTableFree(&table);
    if (!valid || !sizes.small)
      return valid;
    if (sizes.large)
      operands.size = gqConstant(GQ_DEV_ROWS_SMALL);
  }
  bool loadsAhead =
      canLoadAhead && !hasOuter && gqShouldLoadAhead(producer->region);
  producer->ahead = loadsAhead ? GQ_AHEAD_LAST : GQ_AHEAD_NEVER;
  operands.loadsAhead = gqConstant(loadsAhead);
  bool onlyLoads = mlirValueIsNull(desc->rowIndices) && !numbers &&
                   mlirRegionIsNull(desc->producer) &&
                   operands.load.inputs[0].elementSize == 2;
  return gqLaunchKernel(launcher, GQ_KERNEL_QUANTIZE_ROWS,
                        "grouped_block_quantize", &operands,
                        gq_dev_quantize_rows_bounds(
                            onlyLoads, loadsAhead,
                            loadsAhead && gqDividesExactly(producer->region),
                            draws, hasOuter, isPacked(desc)));
}

bool gqLaunchQuantizeWholeRows(const gqLauncher *launcher, MlirOperation op,
                               const gqGroupedBlockQuantize *desc,
                               gqGpuAddress statusWord) {
  int64_t columns = gqFindExtent(launcher, desc, 1).fixed;
  gqDirectionTraits traits = gqDirectionGetTraits(&desc->rowwise);
  if (!mlirValueIsNull(desc->amax) || !mlirValueIsNull(desc->dbias) ||
      !gqDirectionIsUsual(&traits))
    return gqOpError(op,
                     "has no GPU kernel for 'row_amax' with 'amax', "
                     "'dbias' or the attributes of 'rowwise'; gq.grouped_amax "
                     "computes it");
  if (columns == GQ_DYNAMIC || !gq_dev_whole_rows_fit(columns))
    return gqOpError(op,
                     "requires a static K of at most %d bytes of elements for "
                     "'row_amax' on a GPU; gq.grouped_amax computes it for any "
                     "K",
                     GQ_DEV_WHOLE_ROWS_MEMORY / GQ_DEV_WHOLE_ROWS);
  gqQuantizeRowsOperands rows = rowsOperands(launcher, desc, statusWord);
  bool onlyLoads = mlirRegionIsNull(desc->producer) &&
                   !gqHoldsNumbers(&desc->rowwise) &&
                   rows.load.inputs[0].elementSize == 2;
  gq_dev_bounds bounds =
      gq_dev_quantize_whole_rows_bounds(columns, gqHeldType(desc), onlyLoads);
  gqQuantizeWholeRowsOperands operands = {
#define GQ_SAME_OPERAND(ROLE, TYPE, NAME) .NAME = rows.NAME,
      GQ_QUANTIZE_ANY_ROWS_OPERANDS(GQ_SAME_OPERAND)
#undef GQ_SAME_OPERAND
          .rowAmax = gqBuildAddress(launcher, desc->rowAmax),
      .ctas = gqConstant(bounds.minCtas),
  };
  return gqLaunchKernel(launcher, GQ_KERNEL_QUANTIZE_WHOLE_ROWS,
                        "grouped_block_quantize_whole_rows", &operands, bounds);
}

bool gqLaunchBlockQuantize(const gqLauncher *launcher,
                           const gqBlockQuantize *desc) {
  gqGpuHook hook = {.numInputs = 0};
  gqGpuHookAddInput(&hook, &launcher->builder, desc->input,
                    (MlirAffineMap){NULL});
  gqQuantizeRowsOperands operands = {
      .load = hook,
      .rows = gqBuildExtent(launcher, desc->data, 0, 1),
      .columns =
          gqBuildExtent(launcher, desc->data, 1, gqElementsOf(desc->data)),
      .rowIndices = gqNoAddress,
      .sourceRows = gqFixedExtent(launcher, 0),
      .offsets = gqNoAddress,
      .numOffsets = gqFixedExtent(launcher, 0),
      .scaleOffsets = gqNoAddress,
      .groups = gqFixedExtent(launcher, 0),
      .outer = gqBuildAddress(launcher, desc->globalScale),
      .rngState = gqNoAddress,
      .data = gqBuildAddress(launcher, desc->data),
      .dataStride = gqBuildStride(launcher, desc->data),
      .scales = gqBuildAddress(launcher, desc->scales),
      .scalesStride = gqBuildStride(launcher, desc->scales),
      .scaleRows = gqFixedExtent(launcher, 0),
      .scaleOffsetsOut = gqNoAddress,
      .noopFlag = gqNoAddress,
      .status = gqNoAddress,
      .format = gqConstant(desc->format),
      .recipe = gqConstant(GQ_RECIPE_NVFUSER),
      .scaleLayout = gqConstant(GQ_SCALE_LAYOUT_LINEAR),
      .packed = gqConstant(false),
      .rowsMode = gqConstant(GQ_ROWS_ALL),
      .offsetBits = gqConstant(0),
      .outerKind = gqConstant(gqOuterKindOf(desc->globalScale)),
      .rowIndexBits = gqConstant(0),
      .heldType = gqConstant(gqBufferType(desc->input)),
      .dataType = gqConstant(gqBufferType(desc->data)),
      .loadsAhead = gqConstant(false),
      .warpsPerPiece = gqConstant(1),
      .rowwiseTraits = gqConstant(0),
      .size = gqConstant(GQ_DEV_ROWS_ANY),
  };
  return gqLaunchKernel(
      launcher, GQ_KERNEL_QUANTIZE_ROWS, "block_quantize", &operands,
      (gq_dev_bounds){.threads = GQ_DEV_QUANTIZE_ROWS_THREADS});
}
