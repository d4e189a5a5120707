//===- Memref.h - memrefs as generated code lays them out --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_MEMREF_H
#define GQ_LIB_COMPILER_MEMREF_H

#include <stdint.h>

/// A ranked memref: its sizes, then its strides, in elements.
typedef struct gqMemref {
  /// What malloc returned.
  void *allocated;
  void *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
} gqMemref;

/// A memref whose rank is known at run time.
typedef struct gqUnrankedMemref {
  int64_t rank;
  gqMemref *memref;
} gqUnrankedMemref;

/// Copies `source` to `target`, memrefs of the same sizes whose elements have
/// `elementSize` bytes. Generated code calls it as `memrefCopy` where
/// memref.copy meets a layout that is not contiguous.
void gqMemrefCopy(int64_t elementSize, const gqUnrankedMemref *source,
                  const gqUnrankedMemref *target);

#endif // GQ_LIB_COMPILER_MEMREF_H
