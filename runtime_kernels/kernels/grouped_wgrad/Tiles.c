//===- Tiles.c - the gradient of weights by wgmma -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_wgrad/Multiply.h"

GQ_DEV_KERNEL void
gq_dev_grouped_wgrad_tiles(GQ_DEV_PARAMETERS(GQ_GROUPED_WGRAD_OPERANDS)) {
  const Problem p = {PROBLEM_INITIALIZERS};
  multiplyTiles(&p, true);
}
