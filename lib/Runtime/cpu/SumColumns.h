//===- SumColumns.h - sums of columns ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In float32: of 128 rows in the order of the rows, then of these sums.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_SUMCOLUMNS_H
#define GQ_LIB_RUNTIME_CPU_SUMCOLUMNS_H

#include "Elements.h"

#include "lib/Runtime/CpuQuantize.h"

static void storeSums(const float *sums, int64_t column, int64_t count,
                      const gqBuffer *out) {
  for (int64_t c = 0; c < count; ++c)
    if (out->type == GQ_F32)
      ((float *)out->data)[column + c] = sums[c];
    else
      ((uint16_t *)out->data)[column + c] = out->type == GQ_BF16
                                                ? gq_dev_bf16_from_f32(sums[c])
                                                : gq_dev_f16_from_f32(sums[c]);
}

/// Adds a line. `type` is a constant in the callers.
GQ_DEV void addLine(const void *x, gqElementType type, int64_t count,
                    float *sums) {
  for (int64_t c = 0; c < count; c += GQ_CPU_TILE) {
    float numbers[GQ_CPU_TILE];
    int64_t columns = gqCpuLeast(count - c, GQ_CPU_TILE);
    loadRow((const uint8_t *)x + c * gqElementTypeSize(type), type, columns,
            numbers);
    for (int64_t i = 0; i < columns; ++i)
      sums[c + i] += numbers[i];
  }
}

static void sumColumns(const gqBuffer *input, const gqBuffer *rowIndices,
                       const gqCpuJob *job, const gqBuffer *out) {
  float sums[GQ_CPU_JOB_COLUMNS], ofTile[GQ_CPU_JOB_COLUMNS];
  size_t size = (size_t)job->columns * sizeof(float);
  memset(sums, 0, size);
  for (int64_t first = 0; first < job->rows; first += GQ_CPU_TILE) {
    memset(ofTile, 0, size);
    for (int64_t r = first; r < gqCpuLeast(job->rows, first + GQ_CPU_TILE);
         ++r) {
      const void *x = lineAt(input, rowIndices, job->row + r, job->column);
      if (input->type == GQ_F32)
        addLine(x, GQ_F32, job->columns, ofTile);
      else if (input->type == GQ_BF16)
        addLine(x, GQ_BF16, job->columns, ofTile);
      else
        addLine(x, GQ_F16, job->columns, ofTile);
    }
    for (int64_t c = 0; c < job->columns; ++c)
      sums[c] += ofTile[c];
  }
  storeSums(sums, job->column, job->columns, out);
}

#endif // GQ_LIB_RUNTIME_CPU_SUMCOLUMNS_H
