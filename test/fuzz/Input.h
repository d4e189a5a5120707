//===- Input.h - choices made of a fuzzer's bytes ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where there are no bytes left, every choice is the first one.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_FUZZ_INPUT_H
#define GQ_TEST_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Input {
  const uint8_t *at;
  size_t left;
} Input;

static inline uint8_t takeByte(Input *input) {
  if (!input->left)
    return 0;
  --input->left;
  return *input->at++;
}

static inline int64_t takeInt(Input *input) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= (uint64_t)takeByte(input) << (8 * i);
  return (int64_t)value;
}

/// A choice out of `count`.
static inline uint32_t takeChoice(Input *input, uint32_t count) {
  uint32_t value = takeByte(input);
  if (count > 256)
    value |= (uint32_t)takeByte(input) << 8;
  return value % count;
}

/// Ends the process, so that the fuzzer keeps the input: `what` should hold.
static inline void expect(bool holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "fuzz: expected %s\n", what);
  abort();
}

/// Random numbers of a mutator.
static inline uint32_t nextRandom(unsigned *seed, uint32_t count) {
  *seed = *seed * 1664525 + 1013904223;
  return (*seed >> 8) % count;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

#endif // GQ_TEST_FUZZ_INPUT_H
