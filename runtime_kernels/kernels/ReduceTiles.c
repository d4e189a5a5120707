//===- ReduceTiles.c - adds up what tiles left ----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of tiles leaves the largest magnitude of each job and, of groups
// of several rows of tiles, the sums of the columns of each; here they become
// those of groups.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/tiles/Workspace.h"

enum {
  THREADS = GQ_DEV_REDUCE_TILES_THREADS,
  WARPS = THREADS / GQ_DEV_WARP,
  COLUMNS = GQ_DEV_REDUCE_TILES_COLUMNS,
};

static GQ_SHARED float columnSums[THREADS] GQ_UNINITIALIZED;
static GQ_SHARED uint32_t groupAmax GQ_UNINITIALIZED;

/// The sum of every fourth of the tiles [begin, end) of a column, `pitch`
/// apart.
GQ_DEV float sumEveryFourth(const float GQ_GLOBAL *p, int64_t pitch,
                            uint32_t begin, uint32_t end) {
  float sum = 0.0f;
#pragma clang loop unroll_count(8)
  for (uint32_t tile = begin; tile < end; tile += WARPS)
    sum += p[tile * pitch];
  return sum;
}

GQ_DEV float sumOfFour(const float sums[WARPS]) {
  float sum = sums[0];
#pragma clang loop unroll(full)
  for (uint32_t i = 1; i < WARPS; ++i)
    sum += sums[i];
  return sum;
}

/// The sum of a column of a group, which all warps share: of every fourth tile,
/// a warp each, then of these four. All threads take part.
GQ_DEV float sumSharedColumn(const float GQ_GLOBAL *p, int64_t pitch,
                             uint32_t begin, uint32_t end) {
  uint32_t thread = gq_dev_thread();
  gq_dev_barrier(); // Others may still read those of a column before.
  columnSums[thread] =
      sumEveryFourth(p, pitch, begin + thread / GQ_DEV_WARP, end);
  gq_dev_barrier();
  float sums[WARPS];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WARPS; ++i)
    sums[i] = columnSums[i * GQ_DEV_WARP + gq_dev_lane()];
  return sumOfFour(sums);
}

/// The same of columns of a thread, p[at[j]] and so on, added up in the same
/// order.
GQ_DEV void sumColumns(const float GQ_GLOBAL *p, const uint32_t at[COLUMNS],
                       int64_t pitch, uint32_t begin, uint32_t end,
                       float results[COLUMNS]) {
  float sums[COLUMNS][WARPS] = {{0.0f}};
  uint32_t whole = begin + (end - begin) / WARPS * WARPS;
#pragma clang loop unroll(disable)
  for (uint32_t tile = begin; tile < whole; tile += WARPS)
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < WARPS; ++i)
#pragma clang loop unroll(full)
      for (uint32_t j = 0; j < COLUMNS; ++j)
        sums[j][i] += p[(tile + i) * pitch + at[j]];
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < WARPS - 1; ++i)
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < COLUMNS; ++j)
      if (whole + i < end)
        sums[j][i] += p[(whole + i) * pitch + at[j]];
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < COLUMNS; ++j)
    results[j] = sumOfFour(sums[j]);
}

/// The sums of the columns of a CTA's `part` of a group, where so many warps
/// share a column. All threads take part.
GQ_DEV void reduceSums(const Workspace *workspace, int64_t columns, uint32_t e,
                       uint32_t part, uint32_t warps, void GQ_GLOBAL *dbias,
                       gqElementType type) {
  uint32_t thread = gq_dev_thread(), columnTiles = (uint32_t)numTiles(columns);
  uint32_t begin = workspace->firstJobs[e] / columnTiles;
  uint32_t end = workspace->firstJobs[e + 1] / columnTiles;
  if (end - begin == 1) // Stored with the tiles.
    return;
  if (warps > 1) {
    uint32_t column = part * GQ_DEV_WARP + thread % GQ_DEV_WARP;
    bool has = column < columns;
    float sum = sumSharedColumn(workspace->sums + column, columns, begin,
                                has ? end : begin);
    if (has && thread < GQ_DEV_WARP)
      storeSum(dbias, type, e * columns + column, sum);
    return;
  }
  uint32_t first = part * COLUMNS * THREADS + thread, at[COLUMNS];
  float sums[COLUMNS];
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < COLUMNS; ++j)
    at[j] = first + j * THREADS < columns ? first + j * THREADS : 0;
  sumColumns(workspace->sums, at, columns, begin, end, sums);
#pragma clang loop unroll(full)
  for (uint32_t j = 0; j < COLUMNS; ++j)
    if (first + j * THREADS < columns)
      storeSum(dbias, type, e * columns + first + j * THREADS, sums[j]);
}

/// The largest magnitude of a group. All threads take part.
GQ_DEV void reduceAmax(const Workspace *workspace, uint32_t e,
                       float GQ_GLOBAL *amax) {
  uint32_t thread = gq_dev_thread();
  if (thread == 0)
    groupAmax = 0;
  gq_dev_barrier();
  float max = 0.0f;
#pragma clang loop unroll_count(8)
  for (uint32_t job = workspace->firstJobs[e] + thread;
       job < workspace->firstJobs[e + 1]; job += THREADS)
    max = gq_dev_max_number(max, workspace->amax[job]);
  uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(max));
  if (gq_dev_lane() == 0)
    gq_dev_atomic_max_shared(&groupAmax, bits);
  gq_dev_barrier();
  if (thread == 0)
    amax[e] = gq_dev_f32_from_bits(groupAmax);
}

GQ_DEV_KERNEL void
gq_dev_reduce_tiles(GQ_DEV_PARAMETERS(GQ_REDUCE_TILES_OPERANDS)) {
  if (gq_dev_is_noop(noopFlag))
    return;
  Workspace w = workspaceAt(workspace, rows, columns, groups, parts);
  uint32_t warps = gq_dev_reduce_tiles_warps(rows, groups);
  uint32_t perGroup = gq_dev_reduce_tiles_ctas(columns, warps, parts);
  uint32_t all = (uint32_t)(groups * perGroup);
  for (uint32_t i = gq_dev_cta(); i < all; i += gq_dev_num_ctas()) {
    uint32_t e = i / perGroup, part = i % perGroup;
    if ((parts & GQ_DEV_AMAX) && part == perGroup - 1)
      reduceAmax(&w, e, amax);
    else
      reduceSums(&w, columns, e, part, warps, dbias, (gqElementType)dbiasType);
  }
}
