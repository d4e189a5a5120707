//===- main.c - the kernel of tiles, on emulated threads ------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   emulated_tiles GOLDEN-DIRECTORY [full|"" [PART-OF-NAME]]
//
// Inputs and outputs end at a page that may not be touched.
//
//===----------------------------------------------------------------------===//

#include "../Guarded.h"
#include "../Tiles.h"
#include "Emulator.h"

#include "runtime_kernels/kernels/Launch.h"

#include <stdio.h>
#include <string.h>

#define KERNEL static void
#define BOUNDS(CTAS)
#include "../TilesKernels.h"

#define VARIANT_OF(NAME, ...) tiles_##NAME,
static void (*const kernels[])(QuantizeTilesOperands) = {
#include "../TilesVariants.h"
};
#undef VARIANT_OF
#define VARIANT_OF(NAME, ...) reduce_##NAME,
static void (*const reductions[])(ReduceTilesOperands) = {
#include "../TilesVariants.h"
};
#undef VARIANT_OF

/// A launch of the kernels of a variant.
typedef struct Launch {
  int variant;
  TilesOperands operands;
} Launch;

static void quantize(void *context) {
  const Launch *launch = context;
  kernels[launch->variant](launch->operands.tiles);
}

static void reduce(void *context) {
  const Launch *launch = context;
  reductions[launch->variant](launch->operands.reduce);
}

static bool run(const TilesProblem *p, unsigned grid,
                uint8_t *computed[TILES_NUM_ARRAYS]) {
  Launch launch = {.variant = 0};
  while (strcmp(tilesVariants[launch.variant].name, p->variant.name) != 0)
    ++launch.variant;
  uint64_t addresses[TILES_NUM_ARRAYS];
  Guarded memory[TILES_NUM_ARRAYS];
  for (int i = 0; i < TILES_NUM_ARRAYS; ++i) {
    int64_t shift = tilesShift(p, i);
    memory[i] = guardedNew(p->arrays[i].bytes ? p->arrays[i].size : 0, shift,
                           TILES_POISON);
    addresses[i] = (uint64_t)(uintptr_t)memory[i].bytes;
    if (!p->arrays[i].bytes)
      continue;
    if (i < TILES_NUM_INPUTS)
      memcpy(memory[i].bytes, p->arrays[i].bytes, (size_t)p->arrays[i].size);
    else
      memset(memory[i].bytes, p->arrays[i].before, (size_t)p->arrays[i].size);
  }
  launch.operands = tilesPlace(p->operands, addresses);
  grid = grid ? grid : 3;
  emulatorRun(grid, GQ_DEV_QUANTIZE_TILES_THREADS, quantize, &launch);
  if (p->variant.parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS))
    emulatorRun(grid, GQ_DEV_REDUCE_TILES_THREADS, reduce, &launch);
  bool hold = true;
  for (int i = 0; i < TILES_NUM_ARRAYS; ++i) {
    hold &= guardsHold(&memory[i]);
    if (computed[i])
      memcpy(computed[i], memory[i].bytes, (size_t)memory[i].size);
    guardedFree(&memory[i]);
  }
  return hold;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s GOLDEN-DIRECTORY [full]\n", argv[0]);
    return 2;
  }
  int passed, failed = tilesTest(run, argv[1], argc < 3 || argv[2][0] == 0,
                                 argc > 3 ? argv[3] : NULL, &passed);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
