//===- Tiles.c - the grouped matmul by wgmma -----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the kind of tiles. Operands that none of them can have are multiplied
// as Any.h does it.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/TilesFp8.h"
#include "runtime_kernels/kernels/grouped_mm/TilesOf.h"

/// A function that TilesOf.h declares.
#define MULTIPLY(WHAT)                                                         \
  gq_dev_grouped_mm_tiles_##WHAT(GQ_DEV_ARGUMENTS(GQ_GROUPED_MM_OPERANDS))

GQ_DEV_KERNEL void
gq_dev_grouped_mm_tiles(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS)) {
  const Product p = {PRODUCT_INITIALIZERS};
  bool fp8 = isFp8(&p);
  if (!(fp8 || p.all.hasScaleOffsets) || !isAligned(&p))
    multiplyAny(&p, THREADS,
                gq_dev_shared_pointer(gq_dev_dynamic_shared_address()));
  else if (fp8 && tokens == 32)
    MULTIPLY(fp8_32);
  else if (fp8 && tokens == 64)
    MULTIPLY(fp8_64);
  else if (fp8)
    MULTIPLY(fp8_128);
  else if (tokens == 32)
    MULTIPLY(32);
  else if (tokens == 64)
    MULTIPLY(64);
  else if (tokens == 128)
    MULTIPLY(128);
  else
    MULTIPLY(256);
}
