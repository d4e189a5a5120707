//===- ClearAmax.c - what amaxes are raised from --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/AmaxGroups.h"

/// Sets `count` words to 0, every `step`-th of them from `first` on.
GQ_DEV void clear(uint32_t GQ_GLOBAL *p, int64_t count, int64_t first,
                  int64_t step) {
  for (int64_t i = first; i < count; i += step)
    p[i] = 0;
}

/// Rows of skipped groups are left alone, and so are rows in no group unless
/// they are wanted.
GQ_DEV_KERNEL void
gq_dev_clear_amax(GQ_DEV_PARAMETERS(GQ_CLEAR_AMAX_OPERANDS)) {
  if (gq_dev_is_noop(noopFlag))
    return;
  gq_dev_groups all = amaxGroupsOf(offsets, firstDims, lastDims, groups, rows,
                                   columns, offsetBits, parts);
  const uint32_t threads = GQ_DEV_CLEAR_AMAX_THREADS;
  const uint32_t step = GQ_DEV_CLEAR_AMAX_SHARES * threads;
  uint32_t thread = gq_dev_thread();
  uint64_t shares = (uint64_t)groups * GQ_DEV_CLEAR_AMAX_SHARES;
  for (uint64_t i = gq_dev_cta(); i < shares; i += gq_dev_num_ctas()) {
    uint32_t e = (uint32_t)(i / GQ_DEV_CLEAR_AMAX_SHARES);
    uint32_t first =
        (uint32_t)(i % GQ_DEV_CLEAR_AMAX_SHARES) * threads + thread;
    gq_dev_group group = gq_dev_load_group(&all, e);
    gq_dev_check_group(&all, e, &group);
    if (parts & GQ_DEV_AMAX_OF_GROUPS)
      clear(amax + e, 1, first, step);
    if (parts & GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS)
      clear(columnwiseAmax + e, 1, first, step);
    if (parts & GQ_DEV_AMAX_OF_ROWS)
      clear(rowAmax + group.begin, group.rows, first, step);
    if (parts & GQ_DEV_AMAX_OF_COLUMNS)
      clear(columnAmax + e * columns, columns, first, step);
  }
  if (!(parts & GQ_DEV_AMAX_OF_ROWS) || rowsMode != GQ_ROWS_ALL)
    return;
  int64_t first = (int64_t)gq_dev_cta() * threads + thread;
  int64_t every = (int64_t)gq_dev_num_ctas() * threads;
  int64_t after = gq_dev_first_row_after(&all);
  clear(rowAmax, gq_dev_rows_before(&all), first, every);
  clear(rowAmax + after, rows - after, first, every);
}
