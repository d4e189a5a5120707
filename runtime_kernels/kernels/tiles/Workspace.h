//===- Workspace.h - what tiles leave to be added up --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernel of tiles leaves for the kernel that reduces it.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_WORKSPACE_H
#define GQ_KERNELS_KERNELS_TILES_WORKSPACE_H

#include "runtime_kernels/kernels/Kernels.h"

enum {
  /// Rows and columns of a job.
  TILE = 128,
};

/// How many of `size` elements, a constant, so many elements make.
GQ_DEV int64_t numOf(int64_t elements, int64_t size) {
  return (int64_t)((uint64_t)(elements + size - 1) / (uint64_t)size);
}

GQ_DEV int64_t numTiles(int64_t extent) { return numOf(extent, TILE); }

/// What the kernel leaves for the one that reduces it.
typedef struct Workspace {
  /// [groups + 1], the number of the first job of a group.
  uint32_t GQ_GLOBAL *firstJobs;
  /// [jobs], the largest magnitude of each.
  float GQ_GLOBAL *amax;
  /// [row tiles, columns], sums of 128 rows.
  float GQ_GLOBAL *sums;
} Workspace;

/// Stores the sum of a column of a group: element `at` of dbias.
GQ_DEV void storeSum(void GQ_GLOBAL *dbias, gqElementType type, int64_t at,
                     float sum) {
  if (type == GQ_F32)
    ((float GQ_GLOBAL *)dbias)[at] = sum;
  else
    ((uint16_t GQ_GLOBAL *)dbias)[at] =
        type == GQ_BF16 ? gq_dev_bf16_from_f32(sum) : gq_dev_f16_from_f32(sum);
}

GQ_DEV Workspace workspaceAt(void GQ_GLOBAL *at, int64_t rows, int64_t columns,
                             int64_t groups, int32_t parts) {
  uint32_t GQ_GLOBAL *words = at;
  float GQ_GLOBAL *floats = (float GQ_GLOBAL *)at;
  return (Workspace){
      .firstJobs = words,
      .amax = floats + gq_dev_tiles_workspace(rows, columns, groups, 0) / 4,
      .sums = floats + gq_dev_tiles_workspace(rows, columns, groups,
                                              parts & GQ_DEV_AMAX) /
                           4,
  };
}

#endif // GQ_KERNELS_KERNELS_TILES_WORKSPACE_H
