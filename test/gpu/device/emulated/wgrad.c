//===- wgrad.c - the gradient of weights, on emulated threads -------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Kernels.h"
#include "../PoisonShared.h"
#include "../WgradKernels.h"
#include "Driver.h"

#define VARIANT(NAME, ...)                                                     \
  void NAME(WgradOperands o);                                                  \
  static void run_##NAME(const void *o) { NAME(*(const WgradOperands *)o); }
WGRAD_VARIANTS(VARIANT)
#undef VARIANT
void poison_shared(PoisonSharedOperands o);
static void runPoison(const void *o) {
  poison_shared(*(const PoisonSharedOperands *)o);
}

#define VARIANT(NAME, ...) {#NAME, run_##NAME, sizeof(WgradOperands)},
const EmulatedKernel emulatedKernels[] = {
    WGRAD_VARIANTS(VARIANT) //
    {"poison_shared", runPoison, sizeof(PoisonSharedOperands)},
    {NULL, NULL, 0},
};
#undef VARIANT

int main(void) { return runWgradTests(NULL, 0, 1, (char *[]){"emulated"}); }
