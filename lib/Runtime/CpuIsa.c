//===- CpuIsa.c - which instruction set is used --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuKernels.h"
#include "CpuThreads.h"

#include "gq/Runtime/Cpu.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/// The tables that there are.
#define GQ_ISA(NAME, TABLE, ...) extern const gqCpuKernels TABLE;
#include "CpuIsa.def"

typedef struct Isa {
  const char *name;
  const gqCpuKernels *kernels;
  bool (*isThere)(void);
} Isa;

// __builtin_cpu_supports also asks whether the system saves the registers.
#define GQ_ISA(NAME, TABLE, CONDITION)                                         \
  static bool TABLE##IsThere(void) { return CONDITION; }
#include "CpuIsa.def"

/// From the least to the best.
static const Isa isas[] = {
#define GQ_ISA(NAME, TABLE, ...) {NAME, &TABLE, TABLE##IsThere},
#include "CpuIsa.def"
};

static const Isa *chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void) {
  const char *wanted = getenv("GQ_CPU_ISA");
  for (size_t i = 0; i < sizeof(isas) / sizeof(*isas); ++i)
    if (isas[i].isThere() &&
        (!chosen || !wanted || !*wanted || strcmp(wanted, isas[i].name) == 0))
      chosen = &isas[i];
}

const gqCpuKernels *gqCpuGetKernels(void) {
  pthread_once(&once, choose);
  return chosen->kernels;
}

const char *gqCpuIsa(void) {
  gqCpuGetKernels();
  return chosen->name;
}

void gqGetCpuInfo(gqCpuInfo *info) {
  *info = (gqCpuInfo){gqCpuIsa(), gqCpuNumThreads(INT64_MAX, HUGE_VAL)};
}
