//===- main.c - calls what gq compiled ahead of time -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Needs libgq_runtime and nothing of LLVM. With -DGPU the arguments are device
// memory; the kernels are in the object file.
//
//===----------------------------------------------------------------------===//

#ifdef GPU
#include "gq/Runtime/Cuda.h"
#else
#include "gq/Runtime/Cpu.h"
#endif
#include "gq/Runtime/Status.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 5, K = 256, SCALES = K / 16, TILE_ROWS = 2 * 128 };

/// Memrefs as MLIR lays them out: two pointers, an offset, extents, strides.
typedef struct Vector {
  void *allocated, *aligned;
  int64_t offset, size, stride;
} Vector;
typedef struct Matrix {
  void *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Matrix;

/// Generated: the function of quantize.mlir.
void _mlir_ciface_quantize(Matrix *x, Vector *offsets, Matrix *codes,
                           Matrix *scales);

/// Stops with the runtime's message if something failed; 77 where there is no
/// GPU, which makes a test skipped.
static void check(gqStatus status) {
  if (status == GQ_OK)
    return;
  fprintf(stderr, "%s: %s\n", gqStatusName(status), gqGetLastErrorMessage());
  exit(status == GQ_NO_DRIVER || status == GQ_NO_DEVICE ? 77 : 1);
}

#ifdef GPU
static void *allocate(size_t size, const void *contents) {
  void *memory;
  check(gqDeviceAlloc(size, &memory));
  if (contents)
    check(gqCopyToDevice(memory, contents, size));
  return memory;
}
static void fetch(void *target, const void *source, size_t size) {
  check(gqCopyToHost(target, source, size));
}
static gqStatus statusOfCall(void) {
  gqStatus status = gqCudaStatus();
  return status == GQ_OK ? gqStreamStatus(gqGetStream()) : status;
}
#else
static void *allocate(size_t size, const void *contents) {
  unsigned char *memory = malloc(size);
  if (!memory)
    exit(1);
  for (size_t i = 0; contents && i < size; ++i)
    memory[i] = ((const unsigned char *)contents)[i];
  return memory;
}
static void fetch(void *target, const void *source, size_t size) {
  for (size_t i = 0; i < size; ++i)
    ((unsigned char *)target)[i] = ((const unsigned char *)source)[i];
}
static gqStatus statusOfCall(void) { return gqCpuStatus(); }
#endif

static Matrix matrix(void *memory, int64_t rows, int64_t columns) {
  return (Matrix){memory, memory, 0, {rows, columns}, {columns, 1}};
}

int main(void) {
  // Two experts: rows 0 to 2 hold 6, rows 3 and 4 hold -3, as bf16.
  static uint16_t input[ROWS * K];
  for (int i = 0; i < ROWS * K; ++i)
    input[i] = i < 3 * K ? 0x40C0 : 0xC040;
  const int32_t offsets[] = {0, 3, ROWS};
  static uint8_t codes[ROWS * K / 2], scales[TILE_ROWS * SCALES];

  Matrix x = matrix(allocate(sizeof(input), input), ROWS, K);
  void *starts = allocate(sizeof(offsets), offsets);
  Vector o = {starts, starts, 0, 3, 1};
  Matrix q = matrix(allocate(sizeof(codes), NULL), ROWS, K / 2);
  Matrix sf = matrix(allocate(sizeof(scales), NULL), TILE_ROWS, SCALES);
  _mlir_ciface_quantize(&x, &o, &q, &sf);
  check(statusOfCall());

  fetch(codes, q.aligned, sizeof(codes));
  fetch(scales, sf.aligned, sizeof(scales));
  for (int e = 0; e < 2; ++e)
    printf("expert %d: codes %02x, scale %02x\n", e, codes[offsets[e] * K / 2],
           scales[128 * e * SCALES]);
  return 0;
}
