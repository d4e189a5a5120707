//===- amax.c - largest magnitudes, on emulated threads -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../AmaxKernels.h"
#include "../Kernels.h"
#include "Driver.h"

#define VARIANT(NAME, ...)                                                     \
  void clear_##NAME(ClearAmaxOperands o);                                      \
  void amax_##NAME(GroupedAmaxOperands o);                                     \
  static void runClear_##NAME(const void *o) {                                 \
    clear_##NAME(*(const ClearAmaxOperands *)o);                               \
  }                                                                            \
  static void runAmax_##NAME(const void *o) {                                  \
    amax_##NAME(*(const GroupedAmaxOperands *)o);                              \
  }
AMAX_VARIANTS(VARIANT)
#undef VARIANT

#define VARIANT(NAME, ...)                                                     \
  {"clear_" #NAME, runClear_##NAME, sizeof(ClearAmaxOperands)},                \
      {"amax_" #NAME, runAmax_##NAME, sizeof(GroupedAmaxOperands)},
const EmulatedKernel emulatedKernels[] = {
    AMAX_VARIANTS(VARIANT){NULL, NULL, 0},
};
#undef VARIANT

int main(void) { return runAmaxTests(NULL, 0, 1, (char *[]){"emulated"}); }
