//===- Launch.c - launching the row kernels -------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

Kernel kernelGet(Handle module, const char *name, int device) {
  Kernel kernel;
  CU(ModuleGetFunction(&kernel.function, module, name));
  CU(DeviceGetAttribute(&kernel.multiprocessors, ATTRIBUTE_MULTIPROCESSORS,
                        device));
  return kernel;
}

void launchKernel(Kernel kernel, int64_t ctas, int threads,
                  const void *operands, Handle stream) {
  // The driver copies what it reads.
  void *parameters[] = {(void *)(uintptr_t)operands};
  CU(LaunchKernel(kernel.function, (unsigned)ctas, 1, 1, (unsigned)threads, 1,
                  1, 0, stream, parameters, NULL));
}

void launchRows(Kernel kernel, const QuantizeRowsOperands *o, unsigned ctas,
                Handle stream) {
  gq_dev_quantize_rows_extents extents = {.rows = o->rows,
                                          .columns = o->columns,
                                          .groups = o->groups,
                                          .warpsPerPiece = 1};
  launchKernel(
      kernel,
      ctas ? ctas
           : gq_dev_quantize_rows_plan(&extents, kernel.multiprocessors).grid,
      GQ_DEV_QUANTIZE_ROWS_THREADS, o, stream);
}

/// Scales of nvfp4.
void launchSwizzle(Kernel kernel, const QuantizeRowsOperands *o,
                   uint64_t linear, int64_t scaleColumns, unsigned ctas,
                   Handle stream) {
  SwizzleScalesOperands scales = {.linear = linear,
                                  .linearStride = scaleColumns,
                                  .rows = o->rows,
                                  .scaleColumns = scaleColumns,
                                  .offsets = o->offsets,
                                  .numOffsets = o->numOffsets,
                                  .scaleOffsets = o->scaleOffsets,
                                  .groups = o->groups,
                                  .scales = o->scales,
                                  .scaleRows = o->scaleRows,
                                  .status = o->status};
  gq_dev_swizzle_scales_extents extents = {.rows = o->rows,
                                           .scaleColumns = scaleColumns,
                                           .groups = o->groups,
                                           .format = GQ_FORMAT_NVFP4};
  launchKernel(
      kernel,
      ctas ? ctas
           : gq_dev_swizzle_scales_plan(&extents, kernel.multiprocessors).grid,
      GQ_DEV_SWIZZLE_SCALES_THREADS, &scales, stream);
}

void launchTwoOps(Kernel block, Kernel swizzle, const QuantizeRowsOperands *o,
                  uint64_t linear, int64_t scaleColumns, Handle stream) {
  QuantizeRowsOperands ungrouped = *o;
  ungrouped.groups = 0;
  ungrouped.scales = linear;
  ungrouped.scalesStride = scaleColumns;
  launchRows(block, &ungrouped, 0, stream);
  launchSwizzle(swizzle, o, linear, scaleColumns, 0, stream);
}
