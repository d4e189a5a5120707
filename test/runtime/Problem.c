//===- Problem.c - memory and operands for the tests ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

//===----------------------------------------------------------------------===//
// Memory and operands
//===----------------------------------------------------------------------===//

Memory memoryNew(int64_t size, uint8_t poison) {
  Memory memory = {.size = size, .poison = poison};
  memory.allocation = malloc((size_t)size + 2 * GUARD);
  assert_non_null(memory.allocation);
  memset(memory.allocation, poison, (size_t)size + 2 * GUARD);
  memory.bytes = memory.allocation + GUARD;
  return memory;
}

void memoryFree(Memory *memory) { free(memory->allocation); }

void assertGuards(const Memory *memory) {
  for (int i = 0; i < GUARD; ++i) {
    assert_int_equal(memory->allocation[i], memory->poison);
    assert_int_equal(memory->bytes[memory->size + i], memory->poison);
  }
}

void assertBytes(const char *what, const Memory *memory,
                 const uint8_t *expected) {
  assertGuards(memory);
  for (int64_t i = 0; i < memory->size; ++i)
    if (memory->bytes[i] != expected[i])
      fail_msg("%s: byte %lld is %#x, expected %#x", what, (long long)i,
               memory->bytes[i], expected[i]);
}

void assertUntouched(const Memory *memory) {
  for (int64_t i = -GUARD; i < memory->size + GUARD; ++i)
    assert_int_equal(memory->bytes[i], memory->poison);
}

gqBuffer scalar(void *data, gqElementType type) {
  return (gqBuffer){.data = data, .type = type};
}

gqBuffer vector(void *data, gqElementType type, int64_t size) {
  return (gqBuffer){
      .data = data, .type = type, .rank = 1, .sizes = {size}, .strides = {1}};
}

gqBuffer matrix(void *data, gqElementType type, int64_t rows, int64_t columns) {
  return (gqBuffer){.data = data,
                    .type = type,
                    .rank = 2,
                    .sizes = {rows, columns},
                    .strides = {columns, 1}};
}

gqBuffer cube(void *data, gqElementType type, int64_t a, int64_t b, int64_t c) {
  return (gqBuffer){.data = data,
                    .type = type,
                    .rank = 3,
                    .sizes = {a, b, c},
                    .strides = {b * c, c, 1}};
}

int64_t up(int64_t x, int64_t unit) {
  return x % unit == 0 ? x : x + unit - x % unit;
}

static uint64_t randomState = 1;

/// xorshift64*, so that a test has the same data everywhere.
uint32_t randomBits(void) {
  randomState ^= randomState >> 12;
  randomState ^= randomState << 25;
  randomState ^= randomState >> 27;
  return (uint32_t)(randomState * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

int64_t tiledByte(int64_t scaleOffset, int64_t r, int64_t c, int64_t p) {
  return scaleOffset * p + (r / 128) * 128 * p + (c / 4) * 512 + (r % 32) * 16 +
         ((r % 128) / 32) * 4 + c % 4;
}

void assertOk(void) {
  gqStatus status = gqCpuStatus();
  if (status != GQ_OK)
    fail_msg("%s: %s", gqStatusName(status), gqGetLastErrorMessage());
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

Problem problemNew(gqElementType type, uint8_t poison) {
  Problem p = {
      .offsets = {20, 20, 120, 120, 249, 549, 549},
      .scaleOffsets = {128, 128, 384, 512, 896, 1408},
      .globalScale = 37.5f,
      .globalScales = {5.0f, 3.0f, 0.25f, 100.0f, 7.0f, 2.0f},
      .alpha = {1.0f, 0.5f, -2.0f, 0.37f, 1e-3f, 9.0f},
  };
  randomState = 1;
  p.input = malloc((size_t)M * K * sizeof(float));
  for (int i = 0; i < M * K; ++i) {
    // Half of the values are near 1; the others are any bits at all.
    float x = (float)(int32_t)randomBits() * 0x1p-31f;
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    if (randomBits() % 2)
      bits = randomBits();
    if (type == GQ_F32)
      ((uint32_t *)p.input)[i] = bits;
    else
      ((uint16_t *)p.input)[i] = (uint16_t)(bits >> 16);
  }
  p.b = malloc((size_t)G * N * K / 2);
  for (int i = 0; i < G * N * K / 2; ++i)
    p.b[i] = (uint8_t)randomBits();
  p.bScales = malloc((size_t)G * 128 * P);
  for (int i = 0; i < G * 128 * P; ++i)
    p.bScales[i] = (uint8_t)(0x08 + randomBits() % 0x70);

  p.data = memoryNew(M * K / 2, poison);
  p.scales = memoryNew(R * P, poison);
  p.linearScales = memoryNew(M * C, poison);
  p.out = memoryNew(M * N * 4, poison);
  return p;
}

void makeOperands(Problem *p, gqElementType type) {
  p->quantize = (gqBlockQuantizeOperands){
      .input = matrix(p->input, type, M, K),
      .globalScale = scalar(NULL, GQ_F32),
      .data = matrix(p->data.bytes, GQ_I8, M, K / 2),
      .scales = matrix(p->linearScales.bytes, GQ_F8E4M3FN, M, C),
  };
  p->preprocess = (gqPreprocessGroupedMatmulSfOperands){
      .input = p->quantize.scales,
      .offsets = vector(p->offsets, GQ_I64, G + 1),
      .scaleOffsets = vector(p->scaleOffsets, GQ_I64, G),
      .scales = matrix(p->scales.bytes, GQ_F8E4M3FN, R, P),
  };
  p->grouped = (gqGroupedBlockQuantizeOperands){
      .input = p->quantize.input,
      .offsets = p->preprocess.offsets,
      .scaleOffsets = p->preprocess.scaleOffsets,
      .globalScale = p->quantize.globalScale,
      .data = p->quantize.data,
      .scales = p->preprocess.scales,
  };
  p->mm = (gqGroupedMmOperands){
      .a = p->quantize.data,
      .b = cube(p->b, GQ_I8, G, N, K / 2),
      .aScales = p->preprocess.scales,
      .bScales = cube(p->bScales, GQ_F8E4M3FN, G, 128, P),
      .offsets = p->preprocess.offsets,
      .scaleOffsets = p->preprocess.scaleOffsets,
      .alpha = vector(p->alpha, GQ_F32, G),
      .out = matrix(p->out.bytes, GQ_F32, M, N),
  };
}

void problemFree(Problem *p) {
  free(p->input);
  free(p->b);
  free(p->bScales);
  memoryFree(&p->data);
  memoryFree(&p->scales);
  memoryFree(&p->linearScales);
  memoryFree(&p->out);
}

void runQuantize(Problem *p) {
  gqCpuBlockQuantize(&p->quantize, GQ_FORMAT_NVFP4, GQ_SCALE_LAYOUT_LINEAR);
}

void runPreprocess(Problem *p) {
  gqCpuPreprocessGroupedMatmulSf(&p->preprocess, GQ_FORMAT_NVFP4,
                                 GQ_SCALE_LAYOUT_TILE128X4);
}

void runGrouped(Problem *p) {
  gqCpuGroupedBlockQuantize(&p->grouped, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER,
                            GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0, 0);
}

void runMm(Problem *p) {
  gqCpuGroupedMm(&p->mm, GQ_FORMAT_NVFP4, GQ_FORMAT_NVFP4,
                 GQ_SCALE_LAYOUT_TILE128X4, GQ_MAJOR_K);
}
