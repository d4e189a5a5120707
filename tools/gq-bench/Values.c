//===- Values.c - random numbers ------------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "runtime_kernels/codecs/Float.h"
#include "tools/common/Device.h"

#include <stdlib.h>
#include <string.h>

enum {
  CHUNK = 1 << 20, // elements
};

uint32_t valuesRandom(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/// The sum of four uniform numbers is nearly normal; its variance here is 1.3.
static float nextValue(uint32_t *state) {
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += (float)valuesRandom(state) * 0x1p-23f - 1.0f;
  return sum;
}

/// No NaN: e4m3 from 2^-3 to 30, e8m0 from 2^-7 to 1.
static uint8_t nextByte(gqElementType type, uint32_t *state) {
  uint8_t bits = (uint8_t)valuesRandom(state);
  return type == GQ_I8          ? bits
         : type == GQ_F8E8M0FNU ? (uint8_t)(120 + bits % 8)
                                : (uint8_t)((bits & 0x9f) | 0x20);
}

static void fillChunk(void *chunk, gqElementType type, size_t count,
                      uint32_t seed) {
  if (gqElementTypeSize(type) == 1) {
    for (size_t i = 0; i < count; ++i)
      ((uint8_t *)chunk)[i] = nextByte(type, &seed);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    float value = nextValue(&seed);
    if (type == GQ_F32)
      ((float *)chunk)[i] = value;
    else
      ((uint16_t *)chunk)[i] = type == GQ_F16 ? gq_dev_f16_from_f32(value)
                                              : gq_dev_bf16_from_f32(value);
  }
}

/// Writes the chunk again and again.
gqStatus valuesFill(DLDevice device, void *memory, gqElementType type,
                    size_t size, uint32_t seed) {
  size_t elementSize = (size_t)gqElementTypeSize(type);
  size_t chunkSize = size < CHUNK * elementSize ? size : CHUNK * elementSize;
  void *chunk = malloc(chunkSize);
  if (!chunk)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  fillChunk(chunk, type, chunkSize / elementSize, seed);
  gqStatus status = GQ_OK;
  for (size_t done = 0; done < size && status == GQ_OK; done += chunkSize)
    status = deviceWrite(device, (char *)memory + done, chunk,
                         size - done < chunkSize ? size - done : chunkSize);
  free(chunk);
  return status;
}
