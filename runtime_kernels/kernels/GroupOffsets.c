//===- GroupOffsets.c - the kernel of offsets -------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each lane of one warp has as many consecutive groups as any other. It sums
// its counts, learns what lanes below it have, and goes through them again.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Kernels.h"

#include "runtime_kernels/arch/Nvptx.h"
#include "runtime_kernels/groups/Offsets.h"

/// The sum of the values of all lower lanes. All lanes take part.
GQ_DEV gq_dev_place placeOfLane(gq_dev_place own, gq_dev_place last) {
  uint32_t lane = gq_dev_lane();
  gq_dev_place sum = own;
  for (uint32_t distance = 1; distance < GQ_DEV_WARP; distance *= 2) {
    gq_dev_place below = {gq_dev_shuffle_up64(sum.row, distance),
                          gq_dev_shuffle_up64(sum.scaleRow, distance)};
    if (lane >= distance)
      sum = gq_dev_place_after(sum, below, last);
  }
  gq_dev_place below = {gq_dev_shuffle_up64(sum.row, 1),
                        gq_dev_shuffle_up64(sum.scaleRow, 1)};
  return lane ? below : (gq_dev_place){0, 0};
}

GQ_DEV_KERNEL void
gq_dev_group_offsets(GQ_DEV_PARAMETERS(GQ_GROUP_OFFSETS_OPERANDS)) {
  const bool wideCounts = countBits == 64, wide = offsetBits == 64;
  const gq_dev_place last = gq_dev_last_place(wide);
  if (gq_dev_cta() != 0)
    return;
  int64_t share = (groups + GQ_DEV_WARP - 1) / GQ_DEV_WARP;
  int64_t first = share * gq_dev_lane();
  int64_t end = first + share < groups ? first + share : groups;

  gq_dev_place own = {0, 0};
  for (int64_t e = first; e < end; ++e) {
    int64_t rows = gq_dev_load_index(counts, wideCounts, e);
    own = gq_dev_place_after(own, gq_dev_rows_taken(rows < 0 ? 0 : rows, last),
                             last);
  }
  gq_dev_place place = placeOfLane(own, last);

  uint32_t faults = 0;
  for (int64_t e = first; e < end; ++e) {
    int64_t count = gq_dev_load_index(counts, wideCounts, e);
    int64_t rows = count < 0 ? 0 : count;
    if (e < numOffsets)
      gq_dev_store_index(offsets, wide, e, place.row);
    if (scaleOffsets)
      gq_dev_store_index(scaleOffsets, wide, e, place.scaleRow);
    if (count < 0 || !gq_dev_rows_fit(place, rows, last))
      faults |= GQ_DEV_STATUS_OFFSETS;
    if (scaleOffsets && !gq_dev_scale_rows_fit(place, rows, last))
      faults |= GQ_DEV_STATUS_SCALE_OFFSETS;
    place = gq_dev_place_after(place, gq_dev_rows_taken(rows, last), last);
  }
  // The lane that has the last group, or none has one.
  bool isLast = end == groups && first < groups;
  if ((isLast || (groups == 0 && gq_dev_lane() == 0)) && groups < numOffsets)
    gq_dev_store_index(offsets, wide, groups, place.row);
  if (faults)
    gq_dev_atomic_or(status, faults);
}
