//===- main.c - the device functions, tested and timed on a GPU ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   device_kernels test KERNELS.cubin GOLDEN-DIRECTORY [quick]
//   device_kernels bench KERNELS.cubin [CTAS-PER-MULTIPROCESSOR]...
//   device_kernels tiles TILES.cubin GOLDEN-DIRECTORY [quick|""
//                  [PART-OF-NAME]]
//   device_kernels tiles-bench TILES.cubin [NAME]... [ROWSxCOLUMNSxGROUPS]...
//                  [CTAS-PER-MULTIPROCESSOR (0: as the host plans)]...
//   device_kernels mm MM.cubin [quick]
//   device_kernels dequantize DEQUANTIZE.cubin [COUNT]
//   device_kernels dequantize-bench DEQUANTIZE.cubin
//   device_kernels amax AMAX.cubin [quick]
//   device_kernels amax-bench AMAX.cubin
//   device_kernels wgrad WGRAD.cubin [quick|bench]
//
// Needs libcuda.so.1 and nothing else. KERNELS may be PTX.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *arguments;
  /// At least.
  int numArguments;
  int (*run)(Handle module, int device, int argc, char **argv);
} commands[] = {
    {"test", "GOLDEN-DIRECTORY [quick]", 1, runTests},
    {"bench", "[CTAS-PER-MULTIPROCESSOR]...", 0, runBenchmark},
    {"tiles", "GOLDEN-DIRECTORY [quick]", 1, runTilesTests},
    {"tiles-bench",
     "[NAME]... [ROWSxCOLUMNSxGROUPS]... [CTAS-PER-MULTIPROCESSOR]...", 0,
     runTilesBenchmark},
    {"mm", "[quick]", 0, runMmTests},
    {"dequantize", "[COUNT]", 0, runDequantizeTests},
    {"dequantize-bench", "[VARIANT | CTAS-PER-MULTIPROCESSOR]...", 0,
     runDequantizeBenchmark},
    {"amax", "[quick]", 0, runAmaxTests},
    {"amax-bench", "", 0, runAmaxBenchmark},
    {"wgrad", "[quick|bench]", 0, runWgradTests},
};
enum { NUM_COMMANDS = sizeof(commands) / sizeof(*commands) };

int main(int argc, char **argv) {
  for (int i = 0; i < NUM_COMMANDS; ++i)
    if (argc >= 3 + commands[i].numArguments &&
        strcmp(argv[1], commands[i].name) == 0) {
      int device = driverOpen();
      return commands[i].run(driverLoad(argv[2]), device, argc - 3, argv + 3);
    }
  for (int i = 0; i < NUM_COMMANDS; ++i)
    fprintf(stderr, "%s %s %s KERNELS %s\n", i ? "      " : "usage:", argv[0],
            commands[i].name, commands[i].arguments);
  return 2;
}
