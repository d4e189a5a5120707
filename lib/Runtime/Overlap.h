//===- Overlap.h - whether two operands share memory -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op may read an operand again after checking it, such as offsets. So what
// it writes must not overlap anything else.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_OVERLAP_H
#define GQ_LIB_RUNTIME_OVERLAP_H

#include "gq/Runtime/Types.h"

/// The bytes of an operand: `rows` runs of `width`, the first at `begin` and
/// each `stride` bytes behind the one before.
typedef struct gqSpan {
  uintptr_t begin;
  int64_t rows, width, stride;
} gqSpan;

/// The bytes of `buffer`, none if it is absent. Of rank 2 the inner stride is 1
/// and rows may be anywhere, else there are no gaps. Its extents are not
/// negative, and their product fits.
gqSpan gqSpanOf(const gqBuffer *buffer);

enum {
  /// Where rows of different strides lie in one range of addresses, each of
  /// them is looked at, up to so many.
  GQ_OVERLAP_ROWS = 1 << 24,
};

/// Whether there is a byte that is part of both. Rows in the gaps of others, as
/// those of two ranges of columns of one matrix are, do not overlap; more than
/// GQ_OVERLAP_ROWS of different strides are taken to.
bool gqSpansOverlap(gqSpan a, gqSpan b);

#endif // GQ_LIB_RUNTIME_OVERLAP_H
