//===- Gather.h - rows of the inputs by index --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With row indices, row m of an input is row indices[m] of a source of N rows.
// Indices may be invalid: for one that is not in [0, N) nothing of the source
// is read, which may have no rows at all, and the elements are zero.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GATHER_H
#define GQ_KERNELS_KERNELS_GATHER_H

#include "runtime_kernels/kernels/Inputs.h"

/// The row of the source that row `row` is read from; -1 if its index is
/// invalid. `indices` are of constant width `index_bits`, 32 or 64.
int64_t gq_dev_source_row(const void GQ_GLOBAL *indices, int32_t index_bits,
                          int64_t source_rows, int64_t row);

/// load(matrix, source_row, column, out) for a gq_dev_matrix, zeros for row -1.
void gq_dev_load16_gathered(gq_load16 *load, const void *matrix,
                            int64_t source_row, int64_t column, float out[16]);

/// The address of the element of row `source_row` of a gq_dev_matrix of one
/// column and elements of `size` bytes; that of a zero for row -1.
const void GQ_GLOBAL *gq_dev_gathered_element(const void *matrix,
                                              int64_t source_row, int64_t size);

/// Sets a bit of the status word if one of the indices of the [rows] is
/// invalid. All threads of the grid take part.
void gq_dev_check_row_indices(const void GQ_GLOBAL *indices, int32_t index_bits,
                              int64_t source_rows, int64_t rows,
                              uint32_t GQ_GLOBAL *status);

#endif // GQ_KERNELS_KERNELS_GATHER_H
