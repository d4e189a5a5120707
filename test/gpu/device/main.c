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

Kernel kernelGet(Handle module, const char *name, int device) {
  Kernel kernel;
  CU(ModuleGetFunction(&kernel.function, module, name));
  CU(DeviceGetAttribute(&kernel.multiprocessors, ATTRIBUTE_MULTIPROCESSORS,
                        device));
  return kernel;
}

static void launch(Kernel kernel, unsigned ctas, int64_t rows, int64_t columns,
                   int64_t groups, Handle stream, void **parameters) {
  if (!ctas)
    ctas = gq_dev_grid(rows, columns, groups,
                       (int64_t)kernel.multiprocessors *
                           GQ_DEV_CTAS_PER_MULTIPROCESSOR);
  CU(LaunchKernel(kernel.function, ctas, 1, 1, GQ_DEV_CTA, 1, 1, 0, stream,
                  parameters, NULL));
}

void launchGrouped(Kernel kernel, const Operands *operands, unsigned ctas,
                   Handle stream) {
  Operands o = *operands;
  void *parameters[] = {
      &o.input, &o.inputStride, &o.rows, &o.columns, &o.offsets, &o.numOffsets,
      &o.scaleOffsets, &o.groups, &o.globalScale, &o.data, &o.dataStride,
      &o.scales, &o.scaleRows, &o.status,
      // What kernels without row indices have no parameter for.
      &o.rowIndices, &o.sourceRows};
  launch(kernel, ctas, o.rows, o.columns, o.groups, stream, parameters);
}

void launchBlock(Kernel kernel, const Operands *operands, unsigned ctas,
                 Handle stream) {
  Operands o = *operands;
  int64_t scalesStride = o.columns / 16;
  void *parameters[] = {&o.input, &o.inputStride, &o.rows,   &o.columns,
                        &o.data,  &o.dataStride,  &o.linear, &scalesStride};
  launch(kernel, ctas, o.rows, o.columns, 0, stream, parameters);
}

void launchPreprocess(Kernel kernel, const Operands *operands, unsigned ctas,
                      Handle stream) {
  Operands o = *operands;
  int64_t scaleColumns = o.columns / 16;
  void *parameters[] = {&o.linear,       &scaleColumns, &o.rows,
                        &scaleColumns,   &o.offsets,    &o.numOffsets,
                        &o.scaleOffsets, &o.groups,     &o.scales,
                        &o.scaleRows,    &o.status};
  launch(kernel, ctas, o.rows, o.columns, o.groups, stream, parameters);
}

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
