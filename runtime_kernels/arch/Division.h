//===- Division.h - quotients without a call ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the chip. Rounded as IEEE 754 has it, each under its condition.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_DIVISION_H
#define GQ_KERNELS_ARCH_DIVISION_H

#include "runtime_kernels/arch/Nvptx.h"

/// a / b, off by at most an error of the last place.
GQ_DEV double gq_dev_quotient64(float a, float b) {
  double approx = gq_dev_reciprocal_approx64(b);
  double inverse = approx;
  for (int i = 0; i < 2; ++i)
    inverse = gq_dev_fma64(gq_dev_fma64(-b, inverse, 1.0), inverse, inverse);
  double quotient = a * inverse;
  quotient = gq_dev_fma64(gq_dev_fma64(-b, quotient, a), inverse, quotient);
  // NaN, or a 0 of any sign, where one of them is 0 or inf.
  return quotient < 0.0 || quotient > 0.0 ? quotient : a * approx;
}

/// a / b rounded. The compiler's division is a call for unusual operands, and
/// the registers of that call cost more than it is worth here.
///
/// The quotient of two floats is the middle between two others or 2^-49 of it
/// away, which an error of the last place of a float64 cannot bridge.
GQ_DEV float gq_dev_divide(float a, float b) {
  return (float)gq_dev_quotient64(a, b);
}

/// 1 / x if that and x are normal: the rounded quotient, as one Newton step
/// from an approximation that is off by one unit of the last place gives it.
GQ_DEV float gq_dev_reciprocal(float x) {
  float approx = gq_dev_reciprocal_approx(x);
  return gq_dev_fma(gq_dev_fma(-x, approx, 1.0f), approx, approx);
}

/// a / b rounded if the magnitudes of `a` and of what is returned are in
/// [2^-63, 2^65), or of b >= 1 if what is returned is at least 2^-63: the
/// remainder of a first quotient, which is exact, corrects it. A `b` whose
/// reciprocal is no normal number gives 0 or NaN, an inf NaN.
GQ_DEV float gq_dev_divide_usual(float a, float b) {
  float approx = gq_dev_reciprocal_approx(b);
  float inverse =
      gq_dev_fma_flushed(gq_dev_fma(-b, approx, 1.0f), approx, approx);
  float quotient = a * inverse;
  return gq_dev_fma(gq_dev_fma(-b, quotient, a), inverse, quotient);
}

/// amax / 6 rounded, of an amax in [2^-100, the largest float]: the remainder
/// of a first quotient corrects it.
GQ_DEV float gq_dev_sixth_of(float amax) {
  const float sixth = 1.0f / 6.0f;
  float quotient = amax * sixth;
  return gq_dev_fma(gq_dev_fma(-6.0f, quotient, amax), sixth, quotient);
}

#endif // GQ_KERNELS_ARCH_DIVISION_H
