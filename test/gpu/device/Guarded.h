//===- Guarded.h - memory whose surroundings are watched ---------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_GUARDED_H
#define GQ_TEST_GPU_GUARDED_H

#include <stdbool.h>
#include <stdint.h>

/// Memory between pages that may not be touched; its end is at such a page but
/// for what aligns it to 16 bytes, and for `shift`.
typedef struct Guarded {
  uint8_t *pages, *bytes;
  int64_t size, pagesSize;
  uint8_t poison;
} Guarded;

/// Filled with `poison`, and so is what surrounds it. `shift` bytes behind a
/// multiple of 16. The program ends where there is no memory.
Guarded guardedNew(int64_t size, int64_t shift, uint8_t poison);
void guardedFree(Guarded *g);

/// Whether the bytes around are what they were.
bool guardsHold(const Guarded *g);

#endif // GQ_TEST_GPU_GUARDED_H
