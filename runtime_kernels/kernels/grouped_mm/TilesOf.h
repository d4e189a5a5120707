//===- TilesOf.h - the kinds of tiles of the grouped matmul ------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function each, which the lowering calls: what links a kernel goes through
// all that its function may call.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_MM_TILESOF_H
#define GQ_KERNELS_KERNELS_GROUPED_MM_TILESOF_H

#include "runtime_kernels/kernels/Kernels.h"

/// Tiles of so many tokens, of codes whose scales are in tiles, and of fp8,
/// codes of 8 bits that have others. Operands that are not aligned they leave
/// to gq_dev_grouped_mm_tiles.
#define TILES_OF(WHAT)                                                         \
  void gq_dev_grouped_mm_tiles_##WHAT(GQ_DEV_PARAMETERS(GQ_GROUPED_MM_OPERANDS))
TILES_OF(32);
TILES_OF(64);
TILES_OF(128);
TILES_OF(256);
TILES_OF(fp8_32);
TILES_OF(fp8_64);
TILES_OF(fp8_128);

#endif // GQ_KERNELS_KERNELS_GROUPED_MM_TILESOF_H
