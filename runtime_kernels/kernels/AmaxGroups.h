//===- AmaxGroups.h - the groups of gq.grouped_amax ---------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_AMAXGROUPS_H
#define GQ_KERNELS_KERNELS_AMAXGROUPS_H

#include "runtime_kernels/codecs/Elements.h"
#include "runtime_kernels/groups/Faults.h"
#include "runtime_kernels/kernels/Kernels.h"

/// The groups as the kernels of amaxes are given them.
GQ_DEV gq_dev_groups amaxGroupsOf(const void GQ_GLOBAL *offsets,
                                  const void GQ_GLOBAL *firstDims,
                                  const void GQ_GLOBAL *lastDims,
                                  int64_t groups, int64_t rows, int64_t columns,
                                  int32_t offsetBits, int32_t parts) {
  return (gq_dev_groups){
      .offsets = offsets,
      .firstDims = firstDims,
      .lastDims = lastDims,
      .numOffsets = (uint32_t)groups + 1,
      .numGroups = (uint32_t)groups,
      .numRows = rows,
      .numColumns = columns,
      .wide = offsetBits == 64,
      .ragged = parts & GQ_DEV_RAGGED,
      .columnUnit = GQ_DEV_UNIT,
  };
}

#endif // GQ_KERNELS_KERNELS_AMAXGROUPS_H
