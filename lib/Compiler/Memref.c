//===- Memref.c - memrefs as generated code lays them out -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memref.h"

#include <string.h>

/// The outer dimensions of a copy, and the bytes that each of their elements
/// is: the inner dimensions, as many as both memrefs hold without gaps.
typedef struct Copy {
  int64_t rank;
  const int64_t *sizes;
  const int64_t *sourceStrides;
  const int64_t *targetStrides;
  /// What strides count.
  int64_t elementSize;
  int64_t chunkSize;
} Copy;

static void copyDimension(const Copy *copy, int64_t dimension,
                          const char *source, char *target) {
  if (dimension == copy->rank) {
    memcpy(target, source, copy->chunkSize);
    return;
  }
  int64_t sourceStep = copy->sourceStrides[dimension] * copy->elementSize;
  int64_t targetStep = copy->targetStrides[dimension] * copy->elementSize;
  for (int64_t i = 0; i < copy->sizes[dimension]; ++i)
    copyDimension(copy, dimension + 1, source + i * sourceStep,
                  target + i * targetStep);
}

void gqMemrefCopy(int64_t elementSize, const gqUnrankedMemref *source,
                  const gqUnrankedMemref *target) {
  int64_t rank = source->rank;
  const int64_t *sizes = source->memref->sizesAndStrides;
  for (int64_t i = 0; i < rank; ++i)
    if (sizes[i] == 0)
      return;
  Copy copy = {rank,         sizes,
               sizes + rank, target->memref->sizesAndStrides + rank,
               elementSize,  elementSize};
  while (copy.rank > 0) {
    int64_t inner = copy.rank - 1;
    if (copy.sourceStrides[inner] * elementSize != copy.chunkSize ||
        copy.targetStrides[inner] * elementSize != copy.chunkSize)
      break;
    copy.chunkSize *= sizes[inner];
    copy.rank = inner;
  }
  copyDimension(
      &copy, 0,
      (char *)source->memref->aligned + source->memref->offset * elementSize,
      (char *)target->memref->aligned + target->memref->offset * elementSize);
}
