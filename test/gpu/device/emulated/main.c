//===- main.c - the kernel of tiles, on emulated threads ------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   emulated_tiles GOLDEN-DIRECTORY [full]
//
// Inputs and outputs end at a page that may not be touched.
//
//===----------------------------------------------------------------------===//

#include "../Tiles.h"
#include "Emulator.h"

#include "runtime_kernels/kernels/Launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KERNEL static void
#define BOUNDS(CTAS)
#include "../TilesKernels.h"

#define VARIANT(NAME, ...) tiles_##NAME,
static void (*const kernels[])(QuantizeTilesOperands) = {
#include "../TilesVariants.h"
};
#undef VARIANT
#define VARIANT(NAME, ...) reduce_##NAME,
static void (*const reductions[])(ReduceTilesOperands) = {
#include "../TilesVariants.h"
};
#undef VARIANT

/// Memory between pages that may not be touched; its end is at such a page but
/// for what aligns it to 16 bytes, and for `shift`.
typedef struct Guarded {
  uint8_t *pages, *bytes;
  int64_t size, pagesSize;
} Guarded;

static Guarded guardedNew(int64_t size, int64_t shift) {
  int64_t page = sysconf(_SC_PAGESIZE), padded = (size + 15) / 16 * 16 + 16;
  int64_t inner = (padded + page - 1) / page * page;
  Guarded g = {.size = size, .pagesSize = inner + 2 * page};
  g.pages = mmap(NULL, (size_t)g.pagesSize, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (g.pages == MAP_FAILED) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  mprotect(g.pages, (size_t)page, PROT_NONE);
  mprotect(g.pages + page + inner, (size_t)page, PROT_NONE);
  memset(g.pages + page, TILES_POISON, (size_t)inner);
  g.bytes = g.pages + page + inner - padded + (shift ? 16 - shift : 16);
  if (shift == 0 && size % 16 == 0)
    g.bytes = g.pages + page + inner - size;
  return g;
}

/// Whether the bytes around are what they were.
static bool guardsHold(const Guarded *g) {
  int64_t page = sysconf(_SC_PAGESIZE);
  bool hold = true;
  for (const uint8_t *p = g->pages + page; p < g->bytes; ++p)
    hold &= *p == TILES_POISON;
  for (const uint8_t *p = g->bytes + g->size;
       p < g->pages + g->pagesSize - page; ++p)
    hold &= *p == TILES_POISON;
  return hold;
}

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
    memory[i] = guardedNew(p->arrays[i].bytes ? p->arrays[i].size : 0, shift);
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
    munmap(memory[i].pages, (size_t)memory[i].pagesSize);
  }
  return hold;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s GOLDEN-DIRECTORY [full]\n", argv[0]);
    return 2;
  }
  int passed, failed = tilesTest(run, argv[1], argc < 3, &passed);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
