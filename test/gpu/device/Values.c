//===- Values.c - what tests of products multiply and compare -------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "Host.h"

#include "runtime_kernels/codecs/E2M1.h"
#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/codecs/E5M2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint8_t randomCode(gqElementType type) {
  uint8_t code = (uint8_t)randomBits();
  uint8_t largest = type == GQ_F8E4M3FN ? 0x7e
                    : type == GQ_F8E5M2 ? 0x7b
                                        : 0xff;
  return (code & 0x7f) > (largest & 0x7f) ? (uint8_t)(code & 0xb3) : code;
}

double codeValue(gqElementType type, const uint8_t *row, int64_t i) {
  return (double)(type == GQ_I8
                      ? gq_dev_f32_from_e2m1(row[i / 2] >> i % 2 * 4 & 15)
                  : type == GQ_F8E4M3FN ? gq_dev_f32_from_e4m3(row[i])
                                        : gq_dev_f32_from_e5m2(row[i]));
}

uint8_t randomScale(gqElementType type) {
  uint32_t bits = randomBits() % 64;
  if (type == GQ_F8E8M0FNU)
    return (uint8_t)(bits == 0 ? 60 + randomBits() % 100
                               : 120 + randomBits() % 12);
  // Mostly of any magnitude in the middle, sometimes denormal, 0 or negative.
  return bits == 0   ? 0
         : bits < 3  ? (uint8_t)(randomBits() % 8)
         : bits == 3 ? (uint8_t)(0x80 | (0x20 + randomBits() % 32))
                     : (uint8_t)(0x20 + randomBits() % 40);
}

float randomFloat(void) {
  return (float)((int)(randomBits() % 2001) - 1000) * 0x1p-8f;
}

double floatValue(gqElementType type, const uint8_t *element) {
  uint16_t half;
  float value;
  memcpy(&half, element, 2);
  memcpy(&value, element, 4);
  return (double)(type == GQ_F32    ? value
                  : type == GQ_BF16 ? gq_dev_f32_from_bf16(half)
                                    : gq_dev_f32_from_f16(half));
}

double halfUnit(gqElementType type, double x) {
  int bits = type == GQ_F32 ? 24 : type == GQ_BF16 ? 8 : 11;
  int least = type == GQ_F16 ? -14 : -126, exponent;
  frexp(x, &exponent);
  exponent = exponent - 1 < least ? least : exponent - 1;
  return ldexp(1, exponent - bits);
}

double errorBound(gqFormat format, gqElementType out) {
  bool ofFourBits =
      format != GQ_FORMAT_NONE && gqFormatGetTraits(format).dataBits == 4;
  return out != GQ_F32 ? 4 : ofFourBits ? 8 : 16;
}

DevicePtr offsetsToDevice(const int64_t *offsets, int64_t count, int bits) {
  DevicePtr d;
  if (bits == 64) {
    CU(MemAlloc(&d, (size_t)count * 8 + 8));
    CU(MemcpyHtoD(d, offsets, (size_t)count * 8));
    return d;
  }
  int32_t *narrow = allocateHost(count * 4);
  for (int64_t i = 0; i < count; ++i)
    narrow[i] = (int32_t)(offsets[i] > INT32_MAX   ? INT32_MAX
                          : offsets[i] < INT32_MIN ? INT32_MIN
                                                   : offsets[i]);
  CU(MemAlloc(&d, (size_t)count * 4 + 8));
  CU(MemcpyHtoD(d, narrow, (size_t)count * 4));
  free(narrow);
  return d;
}
