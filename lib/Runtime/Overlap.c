//===- Overlap.c - whether two operands share memory ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Overlap.h"

#include <assert.h>

/// Holds any row number times any stride, next to any address.
__extension__ typedef __int128 Wide;

/// A gqSpan whose stride is positive.
typedef struct Runs {
  Wide begin, rows, width, stride;
} Runs;

gqSpan gqSpanOf(const gqBuffer *buffer) {
  int64_t size = gqElementTypeSize((gqElementType)buffer->type);
  gqSpan span = {(uintptr_t)buffer->data, 1, size, 0};
  if (gqBufferIsAbsent(buffer))
    span.rows = 0;
  if (buffer->rank == 2) {
    span.rows = buffer->sizes[0];
    span.width *= buffer->sizes[1];
    // Beyond what can be addressed it no longer matters.
    if (__builtin_mul_overflow(buffer->strides[0], size, &span.stride))
      span.stride = buffer->strides[0];
    return span;
  }
  for (int64_t d = 0; d < buffer->rank; ++d)
    span.width *= buffer->sizes[d];
  return span;
}

/// Rows without gaps become one.
static Runs runsOf(gqSpan span) {
  Runs runs = {(Wide)span.begin, span.rows, span.width, span.stride};
  if (runs.stride < 0) {
    runs.begin += (runs.rows - 1) * runs.stride;
    runs.stride = -runs.stride;
  }
  if (runs.stride == runs.width || runs.stride == 0) {
    runs.width *= runs.stride ? runs.rows : 1;
    runs.rows = 1;
  }
  if (runs.rows == 1)
    runs.stride = runs.width;
  return runs;
}

/// The end of the last run.
static Wide endOf(const Runs *runs) {
  return runs->begin + (runs->rows - 1) * runs->stride + runs->width;
}

/// Whether one of the runs meets the bytes from `begin` to `end`. Looks at the
/// first that ends behind `begin`.
static bool meets(const Runs *runs, Wide begin, Wide end) {
  assert(runs->stride > 0 && "as runsOf() leaves it");
  Wide before = begin - runs->width - runs->begin;
  Wide row = before < 0 ? 0 : before / runs->stride + 1;
  return row < runs->rows && runs->begin + row * runs->stride < end;
}

bool gqSpansOverlap(gqSpan first, gqSpan second) {
  if (!first.rows || !first.width || !second.rows || !second.width)
    return false;
  Runs a = runsOf(first), b = runsOf(second);
  if (endOf(&a) <= b.begin || endOf(&b) <= a.begin)
    return false;
  // Row j of b meets row i of a where its first meets row i - j: one look at
  // more rows.
  if (a.stride == b.stride) {
    a.begin -= (b.rows - 1) * b.stride;
    a.rows += b.rows - 1;
    return meets(&a, b.begin, b.begin + b.width);
  }
  const Runs *many = a.rows > b.rows ? &a : &b;
  const Runs *few = many == &a ? &b : &a;
  if (few->rows > GQ_OVERLAP_ROWS)
    return true;
  for (Wide row = 0; row < few->rows; ++row) {
    Wide begin = few->begin + row * few->stride;
    if (meets(many, begin, begin + few->width))
      return true;
  }
  return false;
}
