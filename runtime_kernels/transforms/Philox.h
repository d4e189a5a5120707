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

enum {
  GQ_DEV_PHILOX_ROUNDS = 10,
  GQ_DEV_PHILOX_KEYS = 2 * GQ_DEV_PHILOX_ROUNDS,
};

/// The keys of the rounds, two each.
typedef struct gq_dev_philox_keys {
  uint32_t words[GQ_DEV_PHILOX_KEYS];
} gq_dev_philox_keys;

/// Word number `i` of these.
GQ_DEV uint32_t gq_dev_philox_key(uint64_t key, uint32_t i) {
  return i % 2 == 0 ? (uint32_t)key + i / 2 * 0x9E3779B9u
                    : (uint32_t)(key >> 32) + i / 2 * 0xBB67AE85u;
}

GQ_DEV gq_dev_random gq_dev_philox4x32(uint32_t c0, uint32_t c1, uint32_t c2,
                                       uint32_t c3,
                                       const gq_dev_philox_keys *keys) {
#pragma clang loop unroll(full)
  for (int round = 0; round < GQ_DEV_PHILOX_ROUNDS; ++round) {
    uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(b >> 32) ^ c1 ^ keys->words[2 * round];
    c2 = (uint32_t)(a >> 32) ^ c3 ^ keys->words[2 * round + 1];
    c1 = (uint32_t)b;
    c3 = (uint32_t)a;
  }
  return (gq_dev_random){{c0, c1, c2, c3}};
}

/// What stochastic rounding depends on besides the place.
typedef struct gq_dev_rng {
  uint64_t seed, offset;
} gq_dev_rng;

/// The same, as it is used.
typedef struct gq_dev_rng_keys {
  gq_dev_philox_keys keys;
  uint64_t offset;
} gq_dev_rng_keys;

GQ_DEV gq_dev_rng_keys gq_dev_rng_keys_of(gq_dev_rng rng) {
  gq_dev_rng_keys keys = {.offset = rng.offset};
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_PHILOX_KEYS; ++i)
    keys.keys.words[i] = gq_dev_philox_key(rng.seed, i);
  return keys;
}

/// The bytes of the elements of a block of 16, one each. `first` is the index
/// of its first element in the matrix that is quantized, row after row, or in
/// the buffer if that is flat.
GQ_DEV gq_dev_random gq_dev_random_of_block(const gq_dev_rng_keys *rng,
                                            bool columnwise, int64_t first) {
  uint64_t place = columnwise ? (uint64_t)first : (uint64_t)first / 16;
  return gq_dev_philox4x32(
      (uint32_t)place, (uint32_t)(place >> 32) | (uint32_t)columnwise << 31,
      (uint32_t)rng->offset, (uint32_t)(rng->offset >> 32), &rng->keys);
}

/// Byte number `i`.
GQ_DEV uint32_t gq_dev_random_byte(const gq_dev_random *random, int64_t i) {
  return random->words[i / 4] >> i % 4 * 8 & 255;
}

#endif // GQ_KERNELS_TRANSFORMS_PHILOX_H
