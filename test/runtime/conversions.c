//===- conversions.c - the scalar conversions, for Python ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library that applies each conversion of runtime_kernels/numerics to an
// array, so that test/python/test_conversions.py can hold it against ml_dtypes.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/codecs/E2M1.h"
#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/codecs/E5M2.h"
#include "runtime_kernels/codecs/E8M0.h"

#include <stddef.h>

#define CONVERSION(NAME, FROM, TO)                                             \
  __attribute__((visibility("default"))) void NAME(const FROM *from, TO *to,   \
                                                   size_t count);              \
  void NAME(const FROM *from, TO *to, size_t count) {                          \
    for (size_t i = 0; i < count; ++i)                                         \
      to[i] = (TO)gq_dev_##NAME(from[i]);                                      \
  }

CONVERSION(e2m1_from_f32, float, uint8_t)
CONVERSION(e4m3_from_f32, float, uint8_t)
CONVERSION(f32_from_e4m3, uint8_t, float)
CONVERSION(e5m2_from_f32, float, uint8_t)
CONVERSION(f32_from_e5m2, uint8_t, float)
CONVERSION(e8m0_from_f32, float, uint8_t)
CONVERSION(f32_from_e8m0, uint8_t, float)
CONVERSION(f32_from_e8m0_inverse, uint8_t, float)
