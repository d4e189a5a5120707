//===- Host.h - what the tests need on the host -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_HOST_H
#define GQ_TEST_GPU_DEVICE_HOST_H

#include <stdint.h>

/// The next of a fixed sequence.
uint32_t randomBits(void);

/// `bytes` zeros, to be freed; the program ends where there is no memory.
void *allocateHost(int64_t bytes);

/// x rounded up to a multiple of `unit`.
static inline int64_t up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit * unit;
}

#endif // GQ_TEST_GPU_DEVICE_HOST_H
