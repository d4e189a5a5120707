//===- CpuGroupOffsets.c - gq.group_offsets on the CPU -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "runtime_kernels/groups/Offsets.h"

#include <inttypes.h>

static bool isWide(const gqBuffer *indices) { return indices->type == GQ_I64; }

/// Goes through the groups and stores where they begin; `store` is false while
/// that is only tried.
static bool run(gqCpuOp *op, const gqGroupOffsetsOperands *operands,
                bool store) {
  const gqBuffer *counts = &operands->counts, *offsets = &operands->offsets;
  const gqBuffer *scaleOffsets = &operands->scaleOffsets;
  bool wide = isWide(offsets), hasScales = !gqBufferIsAbsent(scaleOffsets);
  const gq_dev_place last = gq_dev_last_place(wide);
  int64_t groups = counts->sizes[0];
  gq_dev_place place = {0, 0};
  for (int64_t e = 0; e < groups; ++e) {
    int64_t rows = gq_dev_load_index(counts->data, isWide(counts), e);
    if (rows < 0)
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "counts[%" PRId64 "] = %" PRId64 " is negative", e,
                       rows);
    if (!gq_dev_rows_fit(place, rows, last) ||
        (hasScales && !gq_dev_scale_rows_fit(place, rows, last)))
      return gqCpuFail(op, GQ_INVALID_OFFSETS,
                       "counts[%" PRId64 "] = %" PRId64
                       " makes the sum more than an %s holds",
                       e, rows, wide ? "i64" : "i32");
    if (store) {
      gq_dev_store_index(offsets->data, wide, e, place.row);
      if (hasScales)
        gq_dev_store_index(scaleOffsets->data, wide, e, place.scaleRow);
    }
    place = gq_dev_place_after(place, gq_dev_rows_taken(rows, last), last);
  }
  if (store && offsets->sizes[0] > groups)
    gq_dev_store_index(offsets->data, wide, groups, place.row);
  return true;
}

static bool check(gqCpuOp *op, const gqGroupOffsetsOperands *operands) {
  const gqBuffer *offsets = &operands->offsets;
  if (!gqCpuCheckFlat(op, "counts", GQ_READ, &operands->counts, GQ_TYPES_INDEX,
                      GQ_ANY_EXTENT, "[G]") ||
      !gqCpuCheckFlat(op, "offsets", GQ_WRITTEN, offsets, GQ_TYPES_INDEX,
                      GQ_ANY_EXTENT, "[G] or [G+1]"))
    return false;
  int64_t groups = operands->counts.sizes[0];
  if (offsets->sizes[0] != groups && offsets->sizes[0] != groups + 1)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "offsets has %" PRId64 " entries, expected %" PRId64
                     " or %" PRId64 " for %" PRId64 " counts",
                     offsets->sizes[0], groups, groups + 1, groups);
  return (gqBufferIsAbsent(&operands->scaleOffsets) ||
          gqCpuCheckFlat(op, "scale_offsets", GQ_WRITTEN,
                         &operands->scaleOffsets, 1 << offsets->type, groups,
                         "[G]")) &&
         gqCpuCheckOverlap(op) && run(op, operands, false);
}

void gqCpuGroupOffsets(const gqGroupOffsetsOperands *operands) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "group_offsets"))
    return;
  if (check(&op, operands))
    run(&op, operands, true);
  gqCpuEnd(&op);
}
