//===- GroupOffsets.c - gq.group_offsets --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Ops.h"

#include <inttypes.h>

GQ_DEFINE_OP_OF_ROWS(GroupOffsets)

MlirLogicalResult gqGroupOffsetsVerify(MlirOperation op) {
  gqGroupOffsets desc = gqGroupOffsetsGet(op);
  int64_t groups = gqDim(desc.counts, 0), entries = gqDim(desc.offsets, 0);
  gqUnify(&groups, gqDim(desc.scaleOffsets, 0));
  const gqScaleLayout linear = GQ_SCALE_LAYOUT_LINEAR;
  bool valid =
      gqCheckExtents(op, "counts", desc.counts, &groups) && // (C4)
      gqCheckExtents(op, "scale_offsets", desc.scaleOffsets, &groups) &&
      (entries == GQ_DYNAMIC || groups == GQ_DYNAMIC || entries == groups ||
       entries == groups + 1 ||
       gqOpError(op,
                 "requires 'offsets' to hold %" PRId64 " or %" PRId64
                 " entries for %" PRId64 " counts, but got %" PRId64,
                 groups, groups + 1, groups, entries)) &&
      gqCheckSameElements(op, "scale_offsets", desc.scaleOffsets, "offsets",
                          desc.offsets) &&                       // (C5)
      gqCheckStorage(op, "counts", desc.counts, linear, true) && // (C6)
      gqCheckStorage(op, "offsets", desc.offsets, linear, true) &&
      gqCheckStorage(op, "scale_offsets", desc.scaleOffsets, linear, true);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
