//===- Host.c - what the tests need on the host ---------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t randomBits(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 16);
}

static uint32_t caseStep = 1;

void leaveOutCases(void) {
  const char *step = getenv("GQ_TEST_STEP");
  if (step && atoi(step) > 0)
    caseStep = (uint32_t)atoi(step);
}

bool isLeftOut(void) {
  static uint32_t number = 0;
  // Not every so-manyth: what is in turn would always be the same.
  return (number++ * 2654435769u >> 16) % caseStep != 0;
}

void *allocateHost(int64_t bytes) {
  void *p = calloc(1, (size_t)bytes + 1);
  if (!p) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  return p;
}

bool bytesMatch(const char *name, const char *what, const uint8_t *found,
                const uint8_t *expected, int64_t size, int64_t origin,
                const uint8_t *claims, int64_t numClaims) {
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < size; ++i)
    if (found[i] != expected[i] &&
        !(claims && i >= origin && i - origin < numClaims &&
          claims[i - origin] == 2)) {
      if (first < 0)
        first = i;
      ++wrong;
    }
  if (wrong)
    printf("  %s, %s: %lld of %lld bytes differ, first byte %lld is %#x, "
           "expected %#x\n",
           name, what, (long long)wrong, (long long)size,
           (long long)(first - origin), found[first], expected[first]);
  return wrong == 0;
}

bool isNanAt(gqElementType type, const void *p) {
  uint32_t bits = 0;
  memcpy(&bits, p, (size_t)gqElementTypeSize(type));
  return type == GQ_F32    ? (bits & 0x7fffffff) > 0x7f800000
         : type == GQ_BF16 ? (bits & 0x7fff) > 0x7f80
                           : (bits & 0x7fff) > 0x7c00;
}

void takeNan(gqElementType type, uint8_t *found, const uint8_t *expected,
             int64_t bytes) {
  int64_t size = gqElementTypeSize(type);
  for (int64_t i = 0; i < bytes; i += size)
    if (isNanAt(type, found + i) && isNanAt(type, expected + i))
      memcpy(found + i, expected + i, (size_t)size);
}
