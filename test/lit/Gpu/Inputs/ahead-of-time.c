//===- ahead-of-time.c - calls code compiled for a GPU -----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cuda.h"

#include <stdio.h>

/// A memref of rank 1, as generated code lays it out.
typedef struct Memref {
  void *allocated, *aligned;
  int64_t offset, size, stride;
} Memref;

typedef struct Results {
  Memref table, zeros;
} Results;

void _mlir_ciface_table(Results *results, int64_t n);
void _mlir_ciface_plan(gqLaunchPlan *plan, int64_t family, int64_t rows,
                       int64_t columns);

int main(void) {
  Results results;
  float table[2];
  _mlir_ciface_table(&results, 1000);
  gqStatus status = gqCudaStatus();
  if (status == GQ_OK)
    status = gqCopyToHost(table, results.table.aligned, sizeof(table));
  if (status == GQ_OK)
    status = gqDeviceFree(results.table.allocated);
  if (status == GQ_OK)
    status = gqDeviceFree(results.zeros.allocated);
  printf("%g %g %s\n", table[0], table[1], gqStatusName(status));
  gqLaunchPlan plan;
  _mlir_ciface_plan(&plan, GQ_KERNEL_QUANTIZE_ROWS, 128, 256);
  printf("grid %lld, workspace %lld\n", (long long)plan.grid,
         (long long)plan.workspace);
  return status != GQ_OK;
}
