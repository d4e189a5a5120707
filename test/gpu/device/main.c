//===- main.c - the device functions, tested and timed on a GPU ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   device_kernels test KERNELS.cubin GOLDEN-DIRECTORY [quick]
//   device_kernels bench KERNELS.cubin [CTAS-PER-MULTIPROCESSOR]...
//   device_kernels tiles TILES.cubin GOLDEN-DIRECTORY [quick]
//   device_kernels tiles-bench TILES.cubin [CTAS-PER-MULTIPROCESSOR]...
//
// Needs libcuda.so.1 and nothing else. KERNELS may be PTX.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc >= 4 && strcmp(argv[1], "test") == 0) {
    int device = driverOpen();
    return runTests(driverLoad(argv[2]), device, argv[3], argc > 4);
  }
  if (argc >= 3 && strcmp(argv[1], "bench") == 0) {
    int device = driverOpen();
    return runBenchmark(driverLoad(argv[2]), device, argc - 3, argv + 3);
  }
  if (argc >= 4 && strcmp(argv[1], "tiles") == 0) {
    int device = driverOpen();
    return runTilesTests(driverLoad(argv[2]), device, argv[3], argc > 4);
  }
  if (argc >= 3 && strcmp(argv[1], "tiles-bench") == 0) {
    int device = driverOpen();
    return runTilesBenchmark(driverLoad(argv[2]), device, argc - 3, argv + 3);
  }
  fprintf(stderr,
          "usage: %s test KERNELS GOLDEN-DIRECTORY [quick]\n"
          "       %s bench KERNELS [CTAS-PER-MULTIPROCESSOR]...\n"
          "       %s tiles KERNELS GOLDEN-DIRECTORY [quick]\n"
          "       %s tiles-bench KERNELS [CTAS-PER-MULTIPROCESSOR]...\n",
          argv[0], argv[0], argv[0], argv[0]);
  return 2;
}
