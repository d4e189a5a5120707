//===- Launch.h - what the host knows about the kernels ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the device functions and by the host, which launches kernels made
// from them: grids, and the bits of the status word.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_LAUNCH_H
#define GQ_KERNELS_KERNELS_LAUNCH_H

#include "gq/Runtime/Types.h"

#include <stdbool.h>
#include <stdint.h>

/// Bits of the status word.
enum {
  /// Row starts are negative, decrease, or lie beyond the last row.
  GQ_DEV_STATUS_OFFSETS = 1,
  /// Scale offsets are no multiples of 128, decrease, overlap the padded rows
  /// of the group before, or leave too few rows for the group.
  GQ_DEV_STATUS_SCALE_OFFSETS = 2,
  /// A row index is not the number of a row of the gathered inputs.
  GQ_DEV_STATUS_ROW_INDICES = 4,
  /// A flat output is smaller than the groups need.
  GQ_DEV_STATUS_SIZES = 8,
};

enum {
  /// Threads of a CTA. Kernels work with any multiple of 32.
  GQ_DEV_CTA = 128,
  /// CTAs that a multiprocessor holds at once, by their registers.
  GQ_DEV_CTAS_PER_MULTIPROCESSOR = 6,
};

/// A grid of so many CTAs, as far as there can be such.
GQ_INLINE uint32_t gq_dev_grid_of(int64_t ctas) {
  return (uint32_t)(ctas < 1 ? 1 : ctas < INT32_MAX ? ctas : INT32_MAX);
}

/// The CTAs of the grid for a kernel over [rows, columns] elements in `groups`
/// groups, 0 where it knows no groups, on a device that holds `full` CTAs at
/// once. Where it can hold them all, each warp gets a piece of the matrix,
/// which is the shortest way; else two, which is the least work. A warp does no
/// more than that: one that is done makes room for another, and their loads and
/// stores overlap.
GQ_INLINE uint32_t gq_dev_grid(int64_t rows, int64_t columns, int64_t groups,
                               int64_t full) {
  const int64_t warpsPerCta = GQ_DEV_CTA / 32;
  // 128 rows by 16 blocks are 16 pieces; 16 tiles of a group's padding are a
  // warp's share.
  int64_t pieceColumns = (columns + 255) / 256;
  int64_t piecesDown = (rows + 127) / 128 * 16;
  int64_t shares = groups * ((columns + 1023) / 1024);
  int64_t warps = piecesDown * pieceColumns + shares;
  if (warps > full * warpsPerCta)
    warps = piecesDown * ((pieceColumns + 1) / 2) + shares;
  int64_t ctas = (warps + warpsPerCta - 1) / warpsPerCta;
  return gq_dev_grid_of(ctas);
}

//===----------------------------------------------------------------------===//
// The kernel of whole tiles (Tiles.h)
//===----------------------------------------------------------------------===//

enum {
  /// Threads of a CTA, exactly.
  GQ_DEV_TILES_CTA = 128,
};

/// What a kernel of tiles computes: bits of its constant `parts`.
enum {
  GQ_DEV_ROWWISE = 1,
  GQ_DEV_COLUMNWISE = 2,
  GQ_DEV_AMAX = 4,
  GQ_DEV_DBIAS = 8,
  /// It returns the scale offsets that it derived.
  GQ_DEV_SCALE_OFFSETS_OUT = 16,
  /// It is given scale offsets.
  GQ_DEV_SCALE_OFFSETS = 32,
  /// Groups have their own number of columns.
  GQ_DEV_RAGGED = 64,
};

/// The most jobs, tiles of 128 by 128, that [rows, columns] in groups can make.
/// If ragged, rows are elements and columns 1.
GQ_INLINE int64_t gq_dev_tiles_jobs(int64_t rows, int64_t columns,
                                    int64_t groups) {
  return (rows / 128 + groups + 2) * ((columns + 127) / 128);
}

/// Whether a kernel of `format`, in this direction or not, collects transposed
/// codes in shared memory: those of 4 bits.
GQ_INLINE bool gq_dev_tiles_collects_columns(gqFormat format, bool columnwise) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  return columnwise && traits.transposes && traits.dataBits == 4;
}

/// Whether two lanes share rows of 16 elements in it, if it holds elements of
/// type `held`.
GQ_INLINE bool gq_dev_tiles_shares_rows(gqFormat format, bool columnwise,
                                        gqElementType held) {
  return gq_dev_tiles_collects_columns(format, columnwise) && held != GQ_F32;
}

/// Whether it computes no other codes than those of rows, and these of 4 bits.
GQ_INLINE bool gq_dev_tiles_only_short_rows(gqFormat format, bool columnwise) {
  return !columnwise && gqFormatGetTraits(format).dataBits == 4;
}

/// The CTAs of such a kernel that a multiprocessor holds at once, by their
/// registers.
GQ_INLINE int32_t gq_dev_tiles_ctas(gqFormat format, bool columnwise,
                                    gqElementType held) {
  return gq_dev_tiles_only_short_rows(format, columnwise) ||
                 gq_dev_tiles_shares_rows(format, columnwise, held)
             ? 4
             : 3;
}

/// The CTAs of a grid for so many jobs, on a device that `full` CTAs fill. If
/// there are not many, all begin at once. Of many, a CTA has two, so that one
/// that is done makes room for another whose loads overlap. With 4-bit codes,
/// where arithmetic counts as much as memory, it has more: four rounds of CTAs
/// even out that some multiprocessors are slower and some tiles have rare
/// blocks.
GQ_INLINE uint32_t gq_dev_tiles_grid(int64_t jobs, int64_t full,
                                     int64_t dataBits) {
  return gq_dev_grid_of(jobs < full        ? jobs
                        : jobs < 24 * full ? full
                        : dataBits == 4    ? 4 * full
                                           : jobs / 2);
}

/// The bytes of the workspace of a kernel that computes amax or dbias: four for
/// each group and four more, then for amax four for each job, then for dbias
/// four for each column of 128 rows.
GQ_INLINE int64_t gq_dev_tiles_workspace(int64_t rows, int64_t columns,
                                         int64_t groups, int32_t parts) {
  return 4 *
         (groups + 1 +
          (parts & GQ_DEV_AMAX ? gq_dev_tiles_jobs(rows, columns, groups) : 0) +
          (parts & GQ_DEV_DBIAS ? (rows / 128 + groups) * columns : 0));
}

/// The warps of gq_dev_reduce_tiles that share a column of a group: all of a
/// CTA, or one if groups have no more tiles than that on average. Not of
/// influence on the sum.
GQ_INLINE uint32_t gq_dev_reduce_tiles_warps(int64_t rows, int64_t groups) {
  const uint32_t warps = GQ_DEV_TILES_CTA / 32;
  return rows > groups * warps * 128 ? warps : 1;
}

/// The CTAs that it has work for in a group, one of them for amax.
GQ_INLINE uint32_t gq_dev_reduce_tiles_ctas(int64_t columns, uint32_t warps,
                                            int32_t parts) {
  const int64_t width = GQ_DEV_TILES_CTA / warps;
  return (uint32_t)(parts & GQ_DEV_DBIAS ? (columns + width - 1) / width : 0) +
         (parts & GQ_DEV_AMAX ? 1 : 0);
}

/// The CTAs of its grid.
GQ_INLINE uint32_t gq_dev_reduce_tiles_grid(int64_t rows, int64_t columns,
                                            int64_t groups, int32_t parts,
                                            int64_t multiprocessors) {
  int64_t ctas =
      groups * gq_dev_reduce_tiles_ctas(
                   columns, gq_dev_reduce_tiles_warps(rows, groups), parts);
  int64_t full = 16 * multiprocessors;
  return gq_dev_grid_of(ctas < full ? ctas : full);
}

#endif // GQ_KERNELS_KERNELS_LAUNCH_H
