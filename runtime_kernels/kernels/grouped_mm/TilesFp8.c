//===- TilesFp8.c - tiles of 8-bit codes ---------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/Fp8Blocks.h"
#include "runtime_kernels/kernels/grouped_mm/TilesOf.h"

GQ_DEV_KERNEL TILES_OF(fp8_32) {
  const Product p = {PRODUCT_INITIALIZERS};
  (void)tokens;
  multiplyTilesFp8(&p, 32);
}

GQ_DEV_KERNEL TILES_OF(fp8_64) {
  const Product p = {PRODUCT_INITIALIZERS};
  (void)tokens;
  multiplyTilesFp8(&p, 64);
}

GQ_DEV_KERNEL TILES_OF(fp8_128) {
  const Product p = {PRODUCT_INITIALIZERS};
  (void)tokens;
  multiplyTilesFp8(&p, 128);
}
