//===- Prepare.c - before tokens are prepared for tiles of 256 of them ----===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing of what Preparers.h describes has been begun.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/Preparers.h"

GQ_DEV_KERNEL void
gq_dev_grouped_mm_prepare(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS)) {
  const Product p = {PRODUCT_INITIALIZERS};
  (void)tokens;
  int64_t words = gq_dev_grouped_mm_progress(p.rows, p.groups, p.k);
  int64_t stride =
      (int64_t)gq_dev_num_ctas() * GQ_DEV_GROUPED_MM_PREPARE_THREADS;
  for (int64_t i = (int64_t)gq_dev_cta() * GQ_DEV_GROUPED_MM_PREPARE_THREADS +
                   gq_dev_thread();
       i < words; i += stride)
    taken(&p)[i] = 0;
}
