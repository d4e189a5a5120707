//===- Inputs.c - reading a matrix ----------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Inputs.h"

#include "runtime_kernels/kernels/Kernels.h"

/// The address of element (row, column).
GQ_DEV const void GQ_GLOBAL *element(const void *inputs, int64_t row,
                                     int64_t column, int64_t size) {
  const gq_dev_matrix *matrix = inputs;
  return (const uint8_t GQ_GLOBAL *)matrix->data +
         (row * matrix->stride + column) * size;
}

/// 16 elements of two bytes.
GQ_DEV void loadHalves(const void GQ_GLOBAL *p, uint32_t out[8]) {
  const gq_dev_u32x4 GQ_GLOBAL *words = p;
  gq_dev_u32x4 low = gq_dev_load_once(words);
  gq_dev_u32x4 high = gq_dev_load_once(words + 1);
  for (int i = 0; i < 4; ++i) {
    out[i] = low[i];
    out[i + 4] = high[i];
  }
}

GQ_DEV_KERNEL void gq_dev_load16_bf16(const void *inputs, int64_t row,
                                      int64_t column, float out[16]) {
  uint32_t words[8];
  loadHalves(element(inputs, row, column, 2), words);
  gq_dev_unpack_bf16(words, out);
}

GQ_DEV_KERNEL void gq_dev_load16_f16(const void *inputs, int64_t row,
                                     int64_t column, float out[16]) {
  uint32_t words[8];
  loadHalves(element(inputs, row, column, 2), words);
  gq_dev_unpack_f16(words, out);
}

GQ_DEV_KERNEL void gq_dev_load16_f32(const void *inputs, int64_t row,
                                     int64_t column, float out[16]) {
  const gq_dev_u32x4 GQ_GLOBAL *p = element(inputs, row, column, 4);
  for (int i = 0; i < 4; ++i) {
    gq_dev_u32x4 words = gq_dev_load_once(p + i);
    for (int j = 0; j < 4; ++j)
      out[4 * i + j] = gq_dev_f32_from_bits(words[j]);
  }
}

GQ_DEV_KERNEL void gq_dev_load16_bf16_unaligned(const void *inputs, int64_t row,
                                                int64_t column, float out[16]) {
  const uint16_t GQ_GLOBAL *p = element(inputs, row, column, 2);
  for (int i = 0; i < 16; ++i)
    out[i] = gq_dev_f32_from_bf16(p[i]);
}

GQ_DEV_KERNEL void gq_dev_load16_f16_unaligned(const void *inputs, int64_t row,
                                               int64_t column, float out[16]) {
  const uint16_t GQ_GLOBAL *p = element(inputs, row, column, 2);
  for (int i = 0; i < 16; ++i)
    out[i] = gq_dev_f32_from_f16_native(p[i]);
}

GQ_DEV_KERNEL void gq_dev_load16_f32_unaligned(const void *inputs, int64_t row,
                                               int64_t column, float out[16]) {
  const float GQ_GLOBAL *p = element(inputs, row, column, 4);
  for (int i = 0; i < 16; ++i)
    out[i] = p[i];
}

/// 16 elements of two bytes, as the matrix is aligned.
GQ_DEV void loadAnyHalves(const void *inputs, int64_t row, int64_t column,
                          uint32_t out[8]) {
  const uint16_t GQ_GLOBAL *p = element(inputs, row, column, 2);
  if (gq_dev_is_aligned(inputs)) {
    loadHalves(p, out);
    return;
  }
  for (int i = 0; i < 8; ++i)
    out[i] = p[2 * i] | (uint32_t)p[2 * i + 1] << 16;
}

GQ_DEV_KERNEL void gq_dev_load16_bf16_any(const void *inputs, int64_t row,
                                          int64_t column, float out[16]) {
  uint32_t words[8];
  loadAnyHalves(inputs, row, column, words);
  gq_dev_unpack_bf16(words, out);
}

GQ_DEV_KERNEL void gq_dev_load16_f16_any(const void *inputs, int64_t row,
                                         int64_t column, float out[16]) {
  uint32_t words[8];
  loadAnyHalves(inputs, row, column, words);
  gq_dev_unpack_f16(words, out);
}

GQ_DEV_KERNEL void gq_dev_load16_f32_any(const void *inputs, int64_t row,
                                         int64_t column, float out[16]) {
  if (gq_dev_is_aligned(inputs))
    gq_dev_load16_f32(inputs, row, column, out);
  else
    gq_dev_load16_f32_unaligned(inputs, row, column, out);
}
