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

#define WHOLE(NAME, ...)                                                       \
  void whole_##NAME(QuantizeWholeRowsOperands o);                              \
  static void runWhole_##NAME(const void *o) {                                 \
    whole_##NAME(*(const QuantizeWholeRowsOperands *)o);                       \
  }
WHOLE_ROWS_VARIANTS(WHOLE)
#undef WHOLE

#define VARIANT(NAME, ...)                                                     \
  {"clear_" #NAME, runClear_##NAME, sizeof(ClearAmaxOperands)},                \
      {"amax_" #NAME, runAmax_##NAME, sizeof(GroupedAmaxOperands)},
#define WHOLE(NAME, ...)                                                       \
  {"whole_" #NAME, runWhole_##NAME, sizeof(QuantizeWholeRowsOperands)},
const EmulatedKernel emulatedKernels[] = {
    AMAX_VARIANTS(VARIANT) WHOLE_ROWS_VARIANTS(WHOLE){NULL, NULL, 0},
};
#undef WHOLE
#undef VARIANT

int main(void) { return runAmaxTests(NULL, 0, 1, (char *[]){"emulated"}); }
