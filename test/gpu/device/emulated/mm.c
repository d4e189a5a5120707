//===- mm.c - the grouped matmul, on emulated threads ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host.h"
#include "../Kernels.h"
#include "../MmKernels.h"
#include "../PoisonShared.h"
#include "Driver.h"

#define VARIANT(NAME, ...)                                                     \
  void NAME(MmOperands o);                                                     \
  static void run_##NAME(const void *o) { NAME(*(const MmOperands *)o); }
MM_VARIANTS(VARIANT)
MM_PREPARE_VARIANTS(VARIANT)
MM_EPILOGUE_VARIANTS(VARIANT)
MM_QUANTIZED_VARIANTS(VARIANT)
#undef VARIANT
void poison_shared(PoisonSharedOperands o);
static void runPoison(const void *o) {
  poison_shared(*(const PoisonSharedOperands *)o);
}

#define VARIANT(NAME, ...) {#NAME, run_##NAME, sizeof(MmOperands)},
const EmulatedKernel emulatedKernels[] = {
    MM_VARIANTS(VARIANT) MM_PREPARE_VARIANTS(VARIANT)
        MM_EPILOGUE_VARIANTS(VARIANT) MM_QUANTIZED_VARIANTS(VARIANT) //
    {"poison_shared", runPoison, sizeof(PoisonSharedOperands)},
    {NULL, NULL, 0},
};
#undef VARIANT

int main(void) {
  leaveOutCases();
  return runMmTests(NULL, 0, 1, (char *[]){"emulated"});
}
