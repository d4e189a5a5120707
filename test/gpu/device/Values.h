//===- Values.h - what tests of products multiply and compare ----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_VALUES_H
#define GQ_TEST_GPU_VALUES_H

#include "Driver.h"

#include "gq/Runtime/Types.h"

#include <stdint.h>

/// Any code but those of NaN and infinities; of GQ_I8 two codes of e2m1.
uint8_t randomCode(gqElementType type);

/// What element i of a row of codes is, without its scale.
double codeValue(gqElementType type, const uint8_t *row, int64_t i);

/// A scale of a block, e4m3 or e8m0, of which a few are far from the others.
uint8_t randomScale(gqElementType type);

/// Between -4 and 4.
float randomFloat(void);

/// What an f32, bf16 or f16 is.
double floatValue(gqElementType type, const uint8_t *element);

/// Half a unit of the last place of x in a type.
double halfUnit(gqElementType type, double x);

/// How far a result may be beyond half a unit, in 2^-24 of the sum of
/// magnitudes.
double errorBound(gqFormat format, gqElementType out);

/// Offsets as integers of 32 bits, where hostile ones saturate, or 64.
DevicePtr offsetsToDevice(const int64_t *offsets, int64_t count, int bits);

#endif // GQ_TEST_GPU_VALUES_H
