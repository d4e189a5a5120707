//===- dequantize.c - the kernel of dequantization, emulated --------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   emulated_dequantize [COUNT]
//
// Constants of a kernel are parameters here, so that all are tried.
//
//===----------------------------------------------------------------------===//

#include "../Dequantize.h"
#include "../Call.h"
#include "../Host.h"
#include "Emulator.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Launch {
  DequantizeVariant v;
  DequantizeTilesOperands operands;
} Launch;

static void dequantize(void *context) {
  const Launch *launch = context;
  const DequantizeVariant *v = &launch->v;
  const DequantizeTilesOperands o = launch->operands;
  const int32_t parts = v->parts, format = v->format, recipe = v->recipe;
  const int32_t dataType = (int32_t)v->dataType, outType = (int32_t)v->outType;
  const int32_t scaleLayout = v->layout, offsetBits = v->offsetBits;
  const int32_t outerKind = v->outerKind, scaleMax = v->scaleMax;
  const int32_t ctas = 0;
  const int32_t valueType = (int32_t)v->valueType;
  gq_epilogue *epilogue = v->hasEpilogue ? dequantizeEpilogue : NULL;
  CALL(dequantize_tiles, GQ_DEQUANTIZE_TILES_OPERANDS);
}

static bool run(const DequantizeProblem *p, DequantizeMemory *memory) {
  uint64_t addresses[DEQUANTIZE_ARRAYS];
  for (int i = 0; i < DEQUANTIZE_ARRAYS; ++i)
    addresses[i] = (uint64_t)(uintptr_t)memory->arrays[i].bytes;
  Launch launch = {p->v, dequantizeOperands(p, addresses)};
  emulatorRun(1 + randomBits() % 4, GQ_DEV_DEQUANTIZE_TILES_THREADS, dequantize,
              &launch);
  return true;
}

int main(int argc, char **argv) {
  int64_t passed, count = argc > 1 ? atoll(argv[1]) : 1500;
  int64_t failed = dequantizeTest(run, false, false, count, &passed);
  printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
  return failed != 0;
}
