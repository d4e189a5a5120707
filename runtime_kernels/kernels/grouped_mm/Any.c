//===- Any.c - the grouped matmul of any format ---------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/Any.h"

GQ_DEV_KERNEL void
gq_dev_grouped_mm_any(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS)) {
  const Product p = {PRODUCT_INITIALIZERS};
  multiplyAny(&p, GQ_DEV_GROUPED_MM_ANY_THREADS,
              gq_dev_shared_pointer(gq_dev_dynamic_shared_address()));
}
