//===- TilesFp8.c - tiles of 8-bit codes ---------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/grouped_mm/Fp8Blocks.h"

GQ_DEV void multiplyTilesFp8(const Product *p, uint32_t tokens) {
  Fp8Shared shared = layOutFp8(tokens);
  initStages(shared.full, shared.empty, shared.numStages, PRODUCER_WARPS);
  Schedule s = makeSchedule(p, tokens, HEIGHT, THREADS,
                            gq_dev_shared_pointer(shared.table));
  if (gq_dev_cta() >= s.numTiles)
    return;
  if (gq_dev_thread() / WARPGROUP == CONSUMERS) {
    GQ_DEV_GIVE_REGISTERS(40);
    produceFp8(p, &s, &shared, tokens);
  } else {
    GQ_DEV_TAKE_REGISTERS(232);
    if (tokens == 128 && hasBlocksOfRows(p))
      consumeFp8Blocks(p, &s, &shared);
    else
      consumeFp8(p, &s, &shared, tokens);
  }
}

TILES_BY(fp8_32, multiplyTilesFp8(&p, 32))
TILES_BY(fp8_64, multiplyTilesFp8(&p, 64))
TILES_BY(fp8_128, multiplyTilesFp8(&p, 128))
