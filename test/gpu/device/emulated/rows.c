//===- rows.c - the row kernels, on emulated threads ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   emulated_rows GOLDEN-DIRECTORY
//
//===----------------------------------------------------------------------===//

#include "../Host.h"
#include "../Kernels.h"
#include "Driver.h"

#include <stdio.h>

#define QUANTIZE(NAME, ...) KERNEL(NAME, QuantizeRowsOperands)
#define DRAWN(NAME, ...) KERNEL(NAME, QuantizeRowsOperands)
#define NUMBERS(NAME, ...) KERNEL(NAME, QuantizeRowsOperands)
#define SWIZZLE(NAME, ...) KERNEL(NAME, SwizzleScalesOperands)
#define OFFSETS(NAME, ...) KERNEL(NAME, GroupOffsetsOperands)

#define KERNEL(NAME, TYPE)                                                     \
  void NAME(TYPE o);                                                           \
  static void run_##NAME(const void *o) { NAME(*(const TYPE *)o); }
#include "../Variants.h"
#undef KERNEL

#define KERNEL(NAME, TYPE) {#NAME, run_##NAME, sizeof(TYPE)},
const EmulatedKernel emulatedKernels[] = {
#include "../Variants.h"
    {NULL, NULL, 0},
};
#undef KERNEL

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s GOLDEN-DIRECTORY\n", argv[0]);
    return 2;
  }
  leaveOutCases();
  return runTests(NULL, 0, 2, (char *[]){argv[1], "quick"});
}
