//===- Tiles.c - operands that tiles by wgmma cannot have ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/TilesParts.h"

GQ_DEV_KERNEL void
gq_dev_grouped_mm_tiles(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS)) {
  const Product p = {PRODUCT_INITIALIZERS};
  (void)tokens;
  multiplyAny(&p, THREADS,
              gq_dev_shared_pointer(gq_dev_dynamic_shared_address()));
}
