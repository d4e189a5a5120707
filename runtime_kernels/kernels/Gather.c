//===- Gather.c - rows of the inputs by index -----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Gather.h"

#include "runtime_kernels/kernels/Kernels.h"

/// What is read in the place of a row that does not exist: selecting an address
/// costs less than a branch, which would keep loads from being issued together.
static const gq_dev_u32x4 GQ_GLOBAL zeros[4] = {0};

GQ_DEV_KERNEL int64_t gq_dev_source_row(const void GQ_GLOBAL *indices,
                                        int32_t index_bits, int64_t source_rows,
                                        int64_t row) {
  int64_t index = index_bits == 64 ? ((const int64_t GQ_GLOBAL *)indices)[row]
                                   : ((const int32_t GQ_GLOBAL *)indices)[row];
  return (uint64_t)index < (uint64_t)source_rows ? index : -1;
}

GQ_DEV_KERNEL void gq_dev_load16_gathered(gq_load16 *load, const void *matrix,
                                          int64_t source_row, int64_t column,
                                          float out[16]) {
  gq_dev_matrix source = *(const gq_dev_matrix *)matrix;
  source.data = source_row >= 0 ? source.data : zeros;
  source.stride = source_row >= 0 ? source.stride : 0;
  load(&source, source_row, source_row >= 0 ? column : 0, out);
}

GQ_DEV_KERNEL const void GQ_GLOBAL *
gq_dev_gathered_element(const void *matrix, int64_t source_row, int64_t size) {
  const gq_dev_matrix *source = matrix;
  return source_row >= 0 ? (const uint8_t GQ_GLOBAL *)source->data +
                               source_row * source->stride * size
                         : (const uint8_t GQ_GLOBAL *)zeros;
}

GQ_DEV_KERNEL void gq_dev_check_row_indices(const void GQ_GLOBAL *indices,
                                            int32_t index_bits,
                                            int64_t source_rows, int64_t rows,
                                            uint32_t GQ_GLOBAL *status) {
  int64_t threads = (int64_t)gq_dev_num_ctas() * gq_dev_num_threads();
  int64_t row = (int64_t)gq_dev_cta() * gq_dev_num_threads() + gq_dev_thread();
  for (; row < rows; row += threads)
    if (gq_dev_source_row(indices, index_bits, source_rows, row) < 0)
      gq_dev_atomic_or(status, GQ_DEV_STATUS_ROW_INDICES);
}
