//===- main.c - the kernel of tiles, on emulated threads ------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   emulated_tiles GOLDEN-DIRECTORY [full|"" [PART-OF-NAME]]
//
// Without a part of a name also all directions that there are.
//
// Inputs and outputs end at a page that may not be touched.
//
//===----------------------------------------------------------------------===//

#include "../Guarded.h"
#include "../Host.h"
#include "../Tiles.h"
#include "Emulator.h"

#include "runtime_kernels/kernels/Launch.h"

#include <stdio.h>
#include <stdlib.h>
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

/// A launch of the kernels of a variant; those of one that is in no list have
/// no reduction.
typedef struct Launch {
  int number;
  const TilesVariant *variant;
  TilesOperands operands;
} Launch;

/// A kernel of any variant: what are constants in others are values here.
static void quantizeAny(const TilesVariant *v, QuantizeTilesOperands o) {
  gq_load16 *const loads[] = {[GQ_BF16] = gq_dev_load16_bf16,
                              [GQ_F16] = gq_dev_load16_f16,
                              [GQ_F32] = gq_dev_load16_f32};
  gq_load16 *const load = loads[v->type];
  const int32_t parts = v->parts, format = v->format, recipe = v->recipe;
  const int32_t scaleLayout = v->layout, rowsMode = v->rows;
  const int32_t offsetBits = v->offsetBits, outerKind = v->outerKind;
  const int32_t columnwiseOuterKind = v->columnwiseOuterKind;
  const int32_t rowIndexBits = 0, heldType = v->type, dbiasType = v->dbiasType;
  const int32_t inputsAhead = 0;
  const int32_t rowwiseTraits = v->rowwise, columnwiseTraits = v->columnwise;
#define CASE(VALUE, FORMAT, ...)                                               \
  case GQ_FORMAT_##FORMAT:                                                     \
    CALL_ALWAYS(quantize_tiles_##FORMAT, GQ_QUANTIZE_TILES_OPERANDS);          \
    break;
  switch (v->format) {
    GQ_ALL_FORMATS(CASE)
  default:
    abort();
  }
}

static void quantize(void *context) {
  const Launch *launch = context;
  if (launch->number < numTilesVariants)
    kernels[launch->number](launch->operands.tiles);
  else
    quantizeAny(launch->variant, launch->operands.tiles);
}

static void reduce(void *context) {
  const Launch *launch = context;
  reductions[launch->number](launch->operands.reduce);
}

static bool run(const TilesProblem *p, unsigned grid,
                uint8_t *computed[TILES_NUM_ARRAYS]) {
  Launch launch = {.number = 0, .variant = &p->variant};
  while (launch.number < numTilesVariants &&
         strcmp(tilesVariants[launch.number].name, p->variant.name) != 0)
    ++launch.number;
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
  leaveOutCases();
  int passed, failed = tilesTest(run, argv[1], argc < 3 || argv[2][0] == 0,
                                 argc > 3 ? argv[3] : NULL, &passed);
  int more = 0;
  if (argc <= 3 || strcmp(argv[3], "directions") == 0)
    failed += tilesTestDirections(run, &more);
  passed += more;
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
