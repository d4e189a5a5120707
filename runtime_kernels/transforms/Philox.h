//===- Philox.h - random bits by place ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy
// as 1, 2, 3): a counter and a key become four words. The counter here is where
// a block is, so that no state is kept and the bits of a block depend on
// nothing but its place.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_TRANSFORMS_PHILOX_H
#define GQ_KERNELS_TRANSFORMS_PHILOX_H

#include "runtime_kernels/Inline.h"

#include <stdbool.h>
#include <stdint.h>

/// 16 bytes, the first in the lowest byte of the first word.
typedef struct gq_dev_random {
  uint32_t words[4];
} gq_dev_random;

GQ_DEV gq_dev_random gq_dev_philox4x32(uint32_t c0, uint32_t c1, uint32_t c2,
                                       uint32_t c3, uint64_t key) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
#pragma clang loop unroll(full)
  for (int round = 0; round < 10; ++round) {
    uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)b;
    c3 = (uint32_t)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (gq_dev_random){{c0, c1, c2, c3}};
}

/// What stochastic rounding depends on besides the place.
typedef struct gq_dev_rng {
  uint64_t seed, offset;
} gq_dev_rng;

/// The bytes of the elements of a block of 16, one each. `first` is the index
/// of its first element in the matrix that is quantized, row after row, or in
/// the buffer if that is flat.
GQ_DEV gq_dev_random gq_dev_random_of_block(gq_dev_rng rng, bool columnwise,
                                            int64_t first) {
  uint64_t place = columnwise ? (uint64_t)first : (uint64_t)first / 16;
  return gq_dev_philox4x32(
      (uint32_t)place, (uint32_t)(place >> 32) | (uint32_t)columnwise << 31,
      (uint32_t)rng.offset, (uint32_t)(rng.offset >> 32), rng.seed);
}

/// Byte number `i`.
GQ_DEV uint32_t gq_dev_random_byte(const gq_dev_random *random, int64_t i) {
  return random->words[i / 4] >> i % 4 * 8 & 255;
}

#endif // GQ_KERNELS_TRANSFORMS_PHILOX_H
