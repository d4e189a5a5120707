//===- Host.h - what the tests need on the host -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_HOST_H
#define GQ_TEST_GPU_DEVICE_HOST_H

#include "gq/Runtime/Types.h"

#include <stdbool.h>
#include <stdint.h>

/// The next of a fixed sequence.
uint32_t randomBits(void);

/// From now on isLeftOut leaves out all cases but one in $GQ_TEST_STEP, which
/// are drawn by their numbers; before, none. For emulated threads, which would
/// take minutes for all of them.
void leaveOutCases(void);

/// Whether a test leaves out its next case.
bool isLeftOut(void);

/// `bytes` zeros, to be freed; the program ends where there is no memory.
void *allocateHost(int64_t bytes);

/// Compares `size` bytes, printing how many differ and where they begin to,
/// byte `origin` being number 0. `claims`, unless null, has an entry for each
/// of `numClaims` bytes from there on: 2 where several groups claim the byte,
/// which may be anything.
bool bytesMatch(const char *name, const char *what, const uint8_t *found,
                const uint8_t *expected, int64_t size, int64_t origin,
                const uint8_t *claims, int64_t numClaims);

/// Whether the float of a type at `p` is NaN.
bool isNanAt(gqElementType type, const void *p);

/// Makes floats of a type the expected ones where both are NaN.
void takeNan(gqElementType type, uint8_t *found, const uint8_t *expected,
             int64_t bytes);

/// x rounded up to a multiple of `unit`.
static inline int64_t up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit * unit;
}

#endif // GQ_TEST_GPU_DEVICE_HOST_H
