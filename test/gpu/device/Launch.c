//===- Launch.c - launching the row kernels -------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

Kernel kernelGet(Handle module, const char *name, int device) {
  Kernel kernel;
  CU(ModuleGetFunction(&kernel.function, module, name));
  CU(DeviceGetAttribute(&kernel.multiprocessors, ATTRIBUTE_MULTIPROCESSORS,
                        device));
  return kernel;
}

static void launch(Kernel kernel, const Operands *operands, int64_t groups,
                   unsigned ctas, Handle stream) {
  Operands o = *operands;
  void *parameters[] = {&o};
  if (!ctas)
    ctas = gq_dev_grid(o.rows, o.columns, groups,
                       (int64_t)kernel.multiprocessors *
                           GQ_DEV_CTAS_PER_MULTIPROCESSOR);
  CU(LaunchKernel(kernel.function, ctas, 1, 1, GQ_DEV_CTA, 1, 1, 0, stream,
                  parameters, NULL));
}

void launchGrouped(Kernel kernel, const Operands *operands, unsigned ctas,
                   Handle stream) {
  launch(kernel, operands, operands->groups, ctas, stream);
}

void launchBlock(Kernel kernel, const Operands *operands, unsigned ctas,
                 Handle stream) {
  launch(kernel, operands, 0, ctas, stream);
}
