//===- Reference.h - the definition of e2m1, for the tests -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_RUNTIME_REFERENCE_H
#define GQ_TEST_RUNTIME_REFERENCE_H

#include <math.h>
#include <stdint.h>

/// e2m1 by its thresholds, the midpoints of 0, .5, 1, 1.5, 2, 3, 4, 6: a tie
/// belongs to the even code, so the comparison at it is alternately > and >=.
/// NaN is +6.
static inline uint32_t referenceE2M1(float x) {
  float a = fabsf(x);
  if (isnan(x))
    return 7;
  uint32_t code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) +
                  (a > 2.5f) + (a >= 3.5f) + (a > 5.0f);
  return code | (signbit(x) ? 8 : 0);
}

#endif // GQ_TEST_RUNTIME_REFERENCE_H
