//===- rows.c - the row kernels, on emulated threads ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   emulated_rows GOLDEN-DIRECTORY
//
//===----------------------------------------------------------------------===//

#include "../Kernels.h"

#include <stdio.h>

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s GOLDEN-DIRECTORY\n", argv[0]);
    return 2;
  }
  return runTests(NULL, 0, 2, (char *[]){argv[1], "quick"});
}
