//===- wgrad.c - the gradient of weights, on emulated threads
//--------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Kernels.h"
#include "../WgradKernels.h"
#include "Driver.h"

#define VARIANT(NAME, ...)                                                     \
  void NAME(WgradOperands o);                                                  \
  static void run_##NAME(const void *o) { NAME(*(const WgradOperands *)o); }
WGRAD_VARIANTS(VARIANT)
#undef VARIANT

#define VARIANT(NAME, ...) {#NAME, run_##NAME, sizeof(WgradOperands)},
const EmulatedKernel emulatedKernels[] = {
    WGRAD_VARIANTS(VARIANT){NULL, NULL, 0},
};
#undef VARIANT

int main(void) { return runWgradTests(NULL, 0, 1, (char *[]){"emulated"}); }
