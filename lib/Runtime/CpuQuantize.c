//===- CpuQuantize.c - quantizing a matrix on the CPU --------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuQuantize.h"

#include "CpuKernels.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include <string.h>

gqCpuScaleExtents gqCpuGetScaleExtents(gqFormat format, bool columnwise,
                                       int64_t rows, int64_t columns) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  if (!columnwise)
    return (gqCpuScaleExtents){gqCpuCeilDiv(rows, traits.blockRows),
                               columns / traits.blockColumns};
  return (gqCpuScaleExtents){
      columns / traits.blockRows,
      gqCpuCeilDiv(gq_dev_up(rows, GQ_CPU_TRANSPOSED_UNIT),
                   traits.blockColumns)};
}

void gqCpuQuantize(const gqCpuQuantization *q, const gqCpuJob *job) {
  gqCpuGetKernels()->quantize(q, job);
}

void gqCpuClearAmaxes(int64_t rows, int64_t columns, gqCpuAmaxes amaxes) {
  if (amaxes.amax)
    *amaxes.amax = 0.0f;
  if (amaxes.columnwise)
    *amaxes.columnwise = 0.0f;
  if (amaxes.rows)
    memset(amaxes.rows, 0, (size_t)rows * sizeof(float));
  if (amaxes.columns)
    memset(amaxes.columns, 0, (size_t)columns * sizeof(float));
}

void gqCpuMeasure(const gqBuffer *input, const gqBuffer *rowIndices,
                  const gqCpuJob *job, gqCpuAmaxes amaxes) {
  gqCpuGetKernels()->measure(input, rowIndices, job, amaxes);
}

void gqCpuSumColumns(const gqBuffer *input, const gqBuffer *rowIndices,
                     const gqCpuJob *job, const gqBuffer *out) {
  gqCpuGetKernels()->sumColumns(input, rowIndices, job, out);
}
