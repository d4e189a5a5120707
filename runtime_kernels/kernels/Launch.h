//===- Launch.h - what the host knows about the kernels ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the device functions and by the host, which launches kernels made
// from them: what a kernel is compiled for, how it is launched, and the bits of
// the status word.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_LAUNCH_H
#define GQ_KERNELS_KERNELS_LAUNCH_H

#include "gq/Runtime/Directions.h"
#include "gq/Runtime/Types.h"
#include "runtime_kernels/kernels/Operands.h"

#include <stdbool.h>
#include <stdint.h>

/// Bits of the status word.
enum {
  /// Row starts are negative, decrease, or lie beyond the last row.
  GQ_DEV_STATUS_OFFSETS = 1,
  /// Scale offsets are not multiples of 128, decrease, overlap the padded rows
  /// of the group before, or leave too few rows for the group.
  GQ_DEV_STATUS_SCALE_OFFSETS = 2,
  /// A row index is not the number of a row of the gathered inputs.
  GQ_DEV_STATUS_ROW_INDICES = 4,
  /// A flat output is smaller than the groups need.
  GQ_DEV_STATUS_SIZES = 8,
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// What a kernel is compiled for, and launched with.
typedef struct gq_dev_bounds {
  /// Threads of a CTA, exactly.
  int32_t threads;
  /// CTAs for which the registers of a multiprocessor must suffice; 0 leaves it
  /// to the assembler.
  int32_t minCtas;
  /// Bytes of dynamic shared memory of a CTA.
  int32_t sharedMemory;
} gq_dev_bounds;

/// Of each family the threads of a CTA, GQ_DEV_<FAMILY>_THREADS, and what its
/// grid and its workspace depend on, gq_dev_<function>_extents: the operands
/// EXTENT and LAUNCH_CONSTANT, in the order of the list.
#define GQ_DEV_EXTENT_FIELD(ROLE, TYPE, NAME) GQ_IF_LAUNCH_##ROLE(int64_t NAME;)
#define GQ_DEV_DECLARE_EXTENTS(FAMILY, NAME, FUNCTION, THREADS)                \
  enum { GQ_DEV_##FAMILY##_THREADS = (THREADS) };                              \
  typedef struct gq_dev_##FUNCTION##_extents {                                 \
    GQ_##FAMILY##_OPERANDS(GQ_DEV_EXTENT_FIELD)                                \
  } gq_dev_##FUNCTION##_extents;
GQ_KERNEL_FAMILIES(GQ_DEV_DECLARE_EXTENTS)

/// A grid of that many CTAs, within the limits of a grid.
GQ_INLINE uint32_t gq_dev_grid_of(int64_t ctas) {
  return (uint32_t)(ctas < 1 ? 1 : ctas < INT32_MAX ? ctas : INT32_MAX);
}

//===----------------------------------------------------------------------===//
// The kernels of rows and of scales
//===----------------------------------------------------------------------===//

enum {
  /// CTAs of them that a multiprocessor holds at once, by their registers.
  GQ_DEV_ROWS_CTAS = 6,
  /// Of those that round stochastically.
  GQ_DEV_ROWS_DRAWN_CTAS = 5,
  /// Of those whose hook loads ahead and divides exactly.
  GQ_DEV_ROWS_AHEAD_CTAS = 5,
  /// Warps that can share a piece: one for each row whose scales share 16
  /// bytes.
  GQ_DEV_ROWS_PIECE_WARPS = 4,
  /// Threads of a CTA that fills a table (Table.h), one to a multiprocessor.
  GQ_DEV_ROWS_TABLE_THREADS = 640,
  /// Elements from which on a table saves more time than it takes, on an H200.
  GQ_DEV_ROWS_TABLE_ELEMENTS = 5 << 20,
};

/// Which matrices a kernel of rows is launched for.
typedef enum gq_dev_rows_size {
  GQ_DEV_ROWS_ANY,
  /// Those that have too few elements for a table.
  GQ_DEV_ROWS_SMALL,
  /// Those that have enough: the kernel has a table, and its CTAs stay.
  GQ_DEV_ROWS_LARGE
} gq_dev_rows_size;

/// Whether a matrix is large.
GQ_INLINE bool gq_dev_rows_are_large(int64_t rows, int64_t columns) {
  return rows * columns >= GQ_DEV_ROWS_TABLE_ELEMENTS;
}

/// `onlyLoads`: elements of two bytes are read as they are, without row indices
/// or a producer. Then registers suffice for so many CTAs, for fewer where
/// scales are packed; without `minCtas` the assembler may spill in order to
/// have more. Other kernels need more registers. Those whose hook loads ahead
/// need no more than they are given, and with exact divisions more than others.
GQ_INLINE gq_dev_bounds gq_dev_quantize_rows_bounds(bool onlyLoads,
                                                    bool loadsAhead,
                                                    bool divides, bool draws,
                                                    bool hasOuter,
                                                    bool packed) {
  int32_t most = draws ? GQ_DEV_ROWS_DRAWN_CTAS : GQ_DEV_ROWS_CTAS;
  return (gq_dev_bounds){
      .threads = GQ_DEV_QUANTIZE_ROWS_THREADS,
      .minCtas = onlyLoads     ? most - (packed ? 1 + hasOuter : 0)
                 : !loadsAhead ? 0
                 : divides     ? GQ_DEV_ROWS_AHEAD_CTAS
                               : GQ_DEV_ROWS_CTAS,
  };
}

/// The CTAs of the grid for a kernel over [rows, columns] elements in `groups`
/// groups, 0 where it knows no groups, on a device that holds `full` CTAs at
/// once. Where it can hold them all, each piece of the matrix gets
/// `warpsPerPiece`, or one, which is the shortest way; else a warp gets two,
/// which is the least work. It does no more than that: one that is done makes
/// room for another, and their loads and stores overlap.
GQ_INLINE uint32_t gq_dev_rows_grid(int64_t rows, int64_t columns,
                                    int64_t groups, int64_t warpsPerPiece,
                                    int64_t full) {
  const int64_t warpsPerCta = GQ_DEV_QUANTIZE_ROWS_THREADS / 32;
  // 128 rows by 16 blocks are 16 pieces; 16 tiles of a group's padding are a
  // warp's share.
  int64_t pieceColumns = (columns + 255) / 256;
  int64_t piecesDown = (rows + 127) / 128 * 16;
  int64_t shares = groups * ((columns + 1023) / 1024);
  int64_t pieces = piecesDown * pieceColumns, most = full * warpsPerCta;
  // 0, of code that is older than this number, stands for 1.
  int64_t warps = pieces * (warpsPerPiece ? warpsPerPiece : 1) + shares;
  if (warps > most)
    warps = pieces + shares;
  if (warps > most)
    warps = piecesDown * ((pieceColumns + 1) / 2) + shares;
  int64_t ctas = (warps + warpsPerCta - 1) / warpsPerCta;
  return gq_dev_grid_of(ctas);
}

GQ_INLINE gqLaunchPlan gq_dev_quantize_rows_plan(
    const gq_dev_quantize_rows_extents *x, int64_t multiprocessors) {
  bool isLarge = gq_dev_rows_are_large(x->rows, x->columns);
  if (x->size == (isLarge ? GQ_DEV_ROWS_SMALL : GQ_DEV_ROWS_LARGE))
    return (gqLaunchPlan){.grid = 0};
  if (x->size == GQ_DEV_ROWS_LARGE)
    return (gqLaunchPlan){.grid = gq_dev_grid_of(multiprocessors)};
  return (gqLaunchPlan){
      .grid = gq_dev_rows_grid(x->rows, x->columns, x->groups, x->warpsPerPiece,
                               GQ_DEV_ROWS_CTAS * multiprocessors)};
}

enum {
  /// Rows that a CTA has on the chip: those that share 16 bytes of scales.
  GQ_DEV_WHOLE_ROWS = 4,
  /// Bytes of shared memory that rows can have on chips of data centers, beside
  /// what the kernel has of its own.
  GQ_DEV_WHOLE_ROWS_MEMORY = 226 << 10,
};

/// The shared memory of so many columns, as units of 16 elements for each lane
/// of a warp, of the type in which they are held.
GQ_INLINE int64_t gq_dev_whole_rows_memory(int64_t columns,
                                           gqElementType held) {
  return (columns + 511) / 512 * 512 * GQ_DEV_WHOLE_ROWS *
         gqElementTypeSize(held);
}

/// Whether rows of any type fit.
GQ_INLINE bool gq_dev_whole_rows_fit(int64_t columns) {
  return gq_dev_whole_rows_memory(columns, GQ_F32) <= GQ_DEV_WHOLE_ROWS_MEMORY;
}

/// The warps of a CTA: the fewest that go through the pieces of 512 elements of
/// its rows as often as the most would, GQ_DEV_QUANTIZE_WHOLE_ROWS_THREADS, and
/// at least four.
GQ_INLINE int32_t gq_dev_whole_rows_warps(int64_t columns) {
  const int64_t most = GQ_DEV_QUANTIZE_WHOLE_ROWS_THREADS / 32;
  int64_t pieces = (columns + 511) / 512;
  int64_t rounds = (pieces + most - 1) / most;
  int64_t warps = rounds ? (pieces + rounds - 1) / rounds : 0;
  return warps < 4 ? 4 : (int32_t)warps;
}

/// `onlyLoads`: elements of two bytes are read as they are, for which 80
/// registers suffice, but with row indices, for which some are spilled: a
/// quarter of a multiprocessor has those of six warps. Other kernels need 128,
/// of which it has those of four. Beside its rows a CTA has 2 KB of shared
/// memory.
GQ_INLINE gq_dev_bounds gq_dev_quantize_whole_rows_bounds(int64_t columns,
                                                          gqElementType held,
                                                          bool onlyLoads) {
  int64_t memory = gq_dev_whole_rows_memory(columns, held);
  int32_t threads = gq_dev_whole_rows_warps(columns) * 32;
  int64_t byMemory = (228 << 10) / (memory + (2 << 10));
  int64_t byRegisters = (onlyLoads ? 4 * 6 : 4 * 4) * 32 / threads;
  return (gq_dev_bounds){
      .threads = threads,
      .minCtas = (int32_t)(byMemory < byRegisters ? byMemory : byRegisters),
      .sharedMemory = (int32_t)memory};
}

/// A CTA for each four rows of 128, and for the padding of groups, but no more
/// than the device holds at once, if that is known. Of two or three rounds, all
/// have equally many.
GQ_INLINE gqLaunchPlan gq_dev_quantize_whole_rows_plan(
    const gq_dev_quantize_whole_rows_extents *x, int64_t multiprocessors) {
  int64_t warps = gq_dev_whole_rows_warps(x->columns);
  int64_t shares = x->groups * ((x->columns + 1023) / 1024);
  int64_t fours = (x->rows + 127) / 128 * 32;
  int64_t ctas = fours + (shares + warps - 1) / warps;
  int64_t full = x->ctas * multiprocessors;
  int64_t rounds = full > 0 && ctas > full ? (ctas + full - 1) / full : 1;
  ctas = rounds > 3 ? full : (ctas + rounds - 1) / rounds;
  return (gqLaunchPlan){.grid = gq_dev_grid_of(ctas)};
}

/// As for the elements whose scales these are.
GQ_INLINE gqLaunchPlan gq_dev_swizzle_scales_plan(
    const gq_dev_swizzle_scales_extents *x, int64_t multiprocessors) {
  int64_t block = gqFormatGetTraits((gqFormat)x->format).blockColumns;
  return (gqLaunchPlan){
      .grid = gq_dev_rows_grid(x->rows, x->scaleColumns * block, x->groups, 1,
                               GQ_DEV_ROWS_CTAS * multiprocessors)};
}

//===----------------------------------------------------------------------===//
// The kernel of tiles
//===----------------------------------------------------------------------===//

/// What a kernel of tiles computes: bits of its constant `parts`.
enum {
  GQ_DEV_ROWWISE = 1,
  GQ_DEV_COLUMNWISE = 2,
  GQ_DEV_AMAX = 4,
  GQ_DEV_DBIAS = 8,
  /// It returns the derived scale offsets.
  GQ_DEV_SCALE_OFFSETS_OUT = 16,
  /// It is given scale offsets.
  GQ_DEV_SCALE_OFFSETS = 32,
  /// Groups have their own number of columns.
  GQ_DEV_RAGGED = 64,
  /// A direction is rounded stochastically, transformed, has the better of two
  /// scales, or outer scales of rows or columns. All blocks are then treated as
  /// rare, but by tall lanes.
  GQ_DEV_UNUSUAL = 128,
  /// It returns the inverses of scales that are given.
  GQ_DEV_SCALE_INVERSES = 256,
  /// Groups that have few rows on average have another kernel.
  GQ_DEV_LARGE_GROUPS = 512,
  /// Blocks are of 16 by 16 in a direction, by which the kernel is chosen.
  GQ_DEV_SQUARES = 1024,
  /// gq_dev_tall_lanes_fit_four says so of its tall lanes, which load elements
  /// as they are: of tiles in both directions, or of small groups of columns
  /// alone, a multiprocessor holds four CTAs instead of three.
  GQ_DEV_FITS_FOUR = 2048,
  /// A producer makes the elements.
  GQ_DEV_MADE = 4096,
  /// Its hook loads ahead (inputsAhead in QuantizeTiles.def).
  GQ_DEV_AHEAD = 8192,
};

/// What a direction adds to the parts of a kernel.
GQ_INLINE int32_t gq_dev_parts_of_direction(const gqDirectionTraits *traits) {
  bool unusual = traits->rounding != GQ_ROUNDING_NEAREST ||
                 traits->transform != GQ_TRANSFORM_NONE ||
                 gqDirectionHasFourOverSix(traits) ||
                 traits->outer != GQ_OUTER_OF_GROUP;
  return (unusual ? GQ_DEV_UNUSUAL : 0) |
         (gqDirectionHasSquares(traits) ? GQ_DEV_SQUARES : 0);
}

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

/// A multiprocessor holds `minCtas` of its CTAs at once. If the op is unusual,
/// that is fewer but for columns alone and what GQ_DEV_FITS_FOUR says.
GQ_INLINE gq_dev_bounds gq_dev_quantize_tiles_bounds(gqFormat format,
                                                     int32_t parts,
                                                     gqElementType held) {
  bool columnwise = parts & GQ_DEV_COLUMNWISE;
  bool alone = !(parts & (GQ_DEV_ROWWISE | GQ_DEV_AMAX | GQ_DEV_DBIAS));
  bool few = parts & GQ_DEV_UNUSUAL && !(parts & GQ_DEV_FITS_FOUR) &&
             (!alone || held == GQ_F32);
  bool four = gq_dev_tiles_only_short_rows(format, columnwise) ||
              gq_dev_tiles_shares_rows(format, columnwise, held);
  // Beside sums, what is made leaves no shared memory for four, and beside
  // either reduction hooks that load ahead leave no registers. With an amax
  // alone four of those that do not would fit: not measured.
  bool reduces = parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS);
  if (reduces && parts & GQ_DEV_MADE && (columnwise || parts & GQ_DEV_AHEAD))
    four = false;
  return (gq_dev_bounds){
      .threads = GQ_DEV_QUANTIZE_TILES_THREADS,
      .minCtas = few    ? (held == GQ_F32 ? 2 : 3)
                 : four ? 4
                        : 3,
  };
}

/// How a grid of many tiles is divided: into so many times the CTAs that fill a
/// device or, if 0, into CTAs of two tiles. With 8-bit codes it is two tiles: a
/// CTA that is done makes room for another, whose loads overlap, and slower
/// multiprocessors get fewer. With 4-bit codes, where arithmetic counts as much
/// as memory, CTAs have more: eight rounds are fastest for both directions, and
/// four for one of them or where a tile takes longer. MXFP4, whose columns are
/// not transposed, has four, since eight are 2 to 6 % slower (H200).
GQ_INLINE int64_t gq_dev_tiles_rounds(gqFormat format, int32_t parts) {
  const int32_t both = GQ_DEV_ROWWISE | GQ_DEV_COLUMNWISE;
  const int32_t longer = GQ_DEV_UNUSUAL | GQ_DEV_AMAX | GQ_DEV_DBIAS;
  gqFormatTraits traits = gqFormatGetTraits(format);
  if (traits.dataBits == 8)
    return 0;
  return traits.transposes && (parts & (both | longer)) == both ? 8 : 4;
}

/// The CTAs of a grid for [rows, columns] in groups, on a device that `full`
/// CTAs fill; `rounds` is gq_dev_tiles_rounds. All begin at once if there are
/// few jobs or, without rounds, if groups have few rows on average: each CTA
/// sums up the groups before its first job, which takes as long as small tiles.
GQ_INLINE uint32_t gq_dev_tiles_grid(int64_t rows, int64_t columns,
                                     int64_t groups, int64_t rounds,
                                     int64_t full) {
  int64_t jobs = gq_dev_tiles_jobs(rows, columns, groups);
  int64_t average = groups ? rows / groups : rows;
  // If ragged, rows are elements.
  int64_t tiles =
      columns > 1 ? rows / 128 * ((columns + 127) / 128) : rows / (128 * 128);
  int64_t ctas = full;
  if (rounds && jobs >= 24 * full)
    ctas = rounds * full;
  else if (!rounds && average > 64)
    ctas = tiles / 2;
  if (ctas < full)
    ctas = full;
  return gq_dev_grid_of(jobs < ctas ? jobs : ctas);
}

enum {
  /// Jobs that gq_dev_quantize_small_groups has at least: fewer have no warps
  /// for all multiprocessors.
  GQ_DEV_SMALL_GROUPS_JOBS = 1024,
};

/// Rows that groups have on average, at most, for that kernel: up to there it
/// is faster than the kernel of tiles (docs/notes/log/quantizing-kernels.md).
/// Where a producer's instructions count, no warp should wait for others, but
/// of blocks as long as a job a warp alone makes most elements twice.
GQ_INLINE int64_t gq_dev_small_groups_rows(gqFormat format, int32_t parts) {
  gqFormatTraits traits = gqFormatGetTraits(format);
  bool columnwise = parts & GQ_DEV_COLUMNWISE;
  bool reduces = parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS);
  bool isMx = traits.scaleRule == GQ_SCALE_RULE_MX;
  if (parts & GQ_DEV_MADE && traits.scaleRule != GQ_SCALE_RULE_FP8)
    return 128;
  if (traits.dataBits == 8)
    return columnwise && !(isMx && parts & GQ_DEV_ROWWISE) ? 40 : 48;
  if (!columnwise || parts & GQ_DEV_SQUARES)
    return 48;
  // Both directions by tall lanes, or of columns that are not collected.
  bool slow = parts & GQ_DEV_UNUSUAL || !traits.transposes;
  return slow && parts & GQ_DEV_ROWWISE && !reduces ? 128 : 64;
}

GQ_INLINE bool gq_dev_has_small_groups(gqFormat format, int32_t parts,
                                       int64_t rows, int64_t columns,
                                       int64_t groups) {
  int64_t most = gq_dev_small_groups_rows(format, parts);
  int64_t across = columns / 128 + (columns % 128 != 0);
  // No products: the lowering asks about extents that no launch has checked.
  return rows / most + (rows % most != 0) <= groups && across > 0 &&
         groups >= (GQ_DEV_SMALL_GROUPS_JOBS + across - 1) / across - 2;
}

/// Whether a lane has 16 rows (Tall.h), if a matrix is read, without row
/// indices, or amaxes are measured: where columns of 16-bit elements are made,
/// alone or beside rows, and a direction is unusual, but neither by four over
/// six nor by square blocks.
GQ_INLINE bool gq_dev_tiles_has_tall_lanes(int32_t parts, bool fourOverSix,
                                           gqElementType held) {
  const int32_t others = GQ_DEV_AMAX | GQ_DEV_DBIAS | GQ_DEV_SQUARES;
  return parts & GQ_DEV_UNUSUAL && parts & GQ_DEV_COLUMNWISE &&
         !(parts & others) && !fourOverSix && held != GQ_F32;
}

/// Whether these, in both directions, do columns two by two: if columns are
/// transformed and rounded stochastically or, but not in warps that do jobs
/// `alone`, have outer scales of their own.
GQ_INLINE bool gq_dev_tall_lanes_do_pairs(int32_t parts, bool alone,
                                          const gqDirectionTraits *columnwise) {
  bool draws = columnwise->transform != GQ_TRANSFORM_NONE &&
               columnwise->rounding != GQ_ROUNDING_NEAREST;
  bool outers = columnwise->outer != GQ_OUTER_OF_GROUP && !alone;
  return parts & GQ_DEV_ROWWISE && (draws || outers);
}

/// Whether a multiprocessor has registers for four CTAs of these: of tiles if
/// they do pairs, and of small groups if they make columns alone, which are
/// transformed. Those with outer scales of their own would be faster with four,
/// too, but then an op for each direction is faster than one for both, which
/// gq-bench refuses.
GQ_INLINE bool gq_dev_tall_lanes_fit_four(int32_t parts,
                                          const gqDirectionTraits *columnwise) {
  if (parts & GQ_DEV_ROWWISE)
    return gq_dev_tall_lanes_do_pairs(parts, false, columnwise);
  return columnwise->transform != GQ_TRANSFORM_NONE &&
         columnwise->outer == GQ_OUTER_OF_GROUP;
}

/// Whether there is such a kernel of what is as usual, or of tall lanes, which
/// a caller with GQ_DEV_UNUSUAL has asked about before: one where a warp has
/// whole blocks and tiles of scales or, of a scale that is given, none, and
/// registers suffice; or blocks of 1 by 128, whose linear scales are few.
GQ_INLINE bool gq_dev_has_small_groups_kernel(gqFormat format,
                                              gqScaleLayout layout,
                                              int32_t parts,
                                              gqElementType held) {
  const int32_t reduced = GQ_DEV_AMAX | GQ_DEV_DBIAS;
  gqFormatTraits traits = gqFormatGetTraits(format);
  bool given = traits.scaleRule == GQ_SCALE_RULE_GIVEN;
  // Rows alone have another kernel.
  bool isLong = traits.scaleRule == GQ_SCALE_RULE_FP8 &&
                traits.blockRows == 1 && parts & GQ_DEV_COLUMNWISE;
  return (layout == GQ_SCALE_LAYOUT_TILE128X4 || given || isLong) &&
         !(parts & GQ_DEV_RAGGED) && (parts & reduced) != reduced &&
         (held != GQ_F32 || (traits.blockColumns == 16 && !given));
}

/// Whether a lane of it has 4 rows, of elements of 16 bits, too, where only
/// rows of blocks with scales are made: of 16 rows at a time groups fill more
/// than of 32. With a scale that is given that is no faster.
GQ_INLINE bool gq_dev_small_groups_has_low_lanes(gqFormat format, int32_t parts,
                                                 gqElementType held) {
  return !(parts & GQ_DEV_COLUMNWISE) && held != GQ_F32 &&
         gqFormatGetTraits(format).scaleRule != GQ_SCALE_RULE_GIVEN;
}

/// gq_dev_quantize_tiles_bounds of that kernel: with what is reduced beside
/// codes of 4 bits, or tall lanes but those of columns that fit, it needs more
/// registers, and low lanes fewer, unless a producer makes the elements.
GQ_INLINE gq_dev_bounds gq_dev_quantize_small_groups_bounds(
    gqFormat format, int32_t parts, gqElementType held) {
  gq_dev_bounds bounds = gq_dev_quantize_tiles_bounds(format, parts, held);
  bool isShort = gqFormatGetTraits(format).dataBits == 4;
  bool fits = parts & GQ_DEV_FITS_FOUR && !(parts & GQ_DEV_ROWWISE);
  bool needs =
      parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS) || (parts & GQ_DEV_UNUSUAL && !fits);
  if (gq_dev_small_groups_has_low_lanes(format, parts, held))
    bounds.minCtas = !isShort ? 4 : parts & GQ_DEV_MADE ? bounds.minCtas : 5;
  else if (needs && isShort && bounds.minCtas > 3)
    bounds.minCtas = 3;
  return bounds;
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

/// None if it computes neither.
GQ_INLINE int64_t gq_dev_tiles_workspace_if(int64_t rows, int64_t columns,
                                            int64_t groups, int32_t parts) {
  return parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS)
             ? gq_dev_tiles_workspace(rows, columns, groups, parts)
             : 0;
}

GQ_INLINE gqLaunchPlan gq_dev_quantize_tiles_plan(
    const gq_dev_quantize_tiles_extents *x, int64_t multiprocessors) {
  gqFormat format = (gqFormat)x->format;
  int32_t parts = (int32_t)x->parts;
  gq_dev_bounds bounds =
      gq_dev_quantize_tiles_bounds(format, parts, (gqElementType)x->heldType);
  bool none =
      parts & GQ_DEV_LARGE_GROUPS &&
      gq_dev_has_small_groups(format, parts, x->rows, x->columns, x->groups);
  return (gqLaunchPlan){
      .grid = none ? 0
                   : gq_dev_tiles_grid(x->rows, x->columns, x->groups,
                                       gq_dev_tiles_rounds(format, parts),
                                       bounds.minCtas * multiprocessors),
      .workspace =
          gq_dev_tiles_workspace_if(x->rows, x->columns, x->groups, parts),
  };
}

/// How many times as many CTAs as fit a grid has at most. With codes of 8 bits
/// in both directions up to three: a CTA that is done makes room for another.
/// Each sums up the groups first, and so should have the elements of one and a
/// half tiles at least. mxfp8 took 42.8 instead of 46.6 us (H200, 4096 by 8192,
/// 128 groups). Codes of 4 bits take 1 to 5 % longer with two.
GQ_INLINE int64_t gq_dev_small_groups_rounds(gqFormat format, int32_t parts,
                                             int64_t rows, int64_t columns,
                                             int64_t full) {
  const int32_t both = GQ_DEV_ROWWISE | GQ_DEV_COLUMNWISE;
  if (gqFormatGetTraits(format).dataBits != 8 || (parts & both) != both)
    return 1;
  int64_t tiles = rows / 128 * (columns / 128), three = 9 * full / 2;
  return tiles >= three ? 3 : tiles >= 3 * full ? 2 : 1;
}

/// A warp for each job, as far as there is room. Without a CTA where groups are
/// not small.
GQ_INLINE gqLaunchPlan gq_dev_quantize_small_groups_plan(
    const gq_dev_quantize_small_groups_extents *x, int64_t multiprocessors) {
  gq_dev_bounds bounds = gq_dev_quantize_small_groups_bounds(
      (gqFormat)x->format, (int32_t)x->parts, (gqElementType)x->heldType);
  const int64_t warps = GQ_DEV_QUANTIZE_SMALL_GROUPS_THREADS / 32;
  int64_t jobs = gq_dev_tiles_jobs(x->rows, x->columns, x->groups);
  int64_t ctas = (jobs + warps - 1) / warps;
  int64_t full = bounds.minCtas * multiprocessors;
  int64_t most =
      full * gq_dev_small_groups_rounds((gqFormat)x->format, (int32_t)x->parts,
                                        x->rows, x->columns, full);
  bool small = gq_dev_has_small_groups((gqFormat)x->format, (int32_t)x->parts,
                                       x->rows, x->columns, x->groups);
  return (gqLaunchPlan){
      .grid = small ? gq_dev_grid_of(ctas < most ? ctas : most) : 0,
      .workspace = gq_dev_tiles_workspace_if(x->rows, x->columns, x->groups,
                                             (int32_t)x->parts),
  };
}

//===----------------------------------------------------------------------===//
// After the kernel of tiles
//===----------------------------------------------------------------------===//

/// A thread has a group.
GQ_INLINE gqLaunchPlan gq_dev_update_scales_plan(
    const gq_dev_update_scales_extents *x, int64_t multiprocessors) {
  (void)multiprocessors;
  int64_t ctas = (x->groups + GQ_DEV_UPDATE_SCALES_THREADS - 1) /
                 GQ_DEV_UPDATE_SCALES_THREADS;
  return (gqLaunchPlan){.grid = ctas ? gq_dev_grid_of(ctas) : 0};
}

/// One warp has all groups.
GQ_INLINE gqLaunchPlan gq_dev_group_offsets_plan(
    const gq_dev_group_offsets_extents *x, int64_t multiprocessors) {
  (void)multiprocessors;
  return (gqLaunchPlan){.grid = x->numOffsets > 0};
}

enum {
  GQ_DEV_REDUCE_TILES_COLUMNS = 4,
};

/// The warps of gq_dev_reduce_tiles that share a column of a group: all of a
/// CTA, or one if groups have no more tiles than that on average. The sum does
/// not depend on it.
GQ_INLINE uint32_t gq_dev_reduce_tiles_warps(int64_t rows, int64_t groups) {
  const uint32_t warps = GQ_DEV_REDUCE_TILES_THREADS / 32;
  return rows > groups * warps * 128 ? warps : 1;
}

/// The columns of a thread of it: several where warps do not share them, since
/// it waits for loads.
GQ_INLINE uint32_t gq_dev_reduce_tiles_columns(uint32_t warps) {
  return warps > 1 ? 1 : GQ_DEV_REDUCE_TILES_COLUMNS;
}

/// The CTAs that it has work for in a group, one of them for amax.
GQ_INLINE uint32_t gq_dev_reduce_tiles_ctas(int64_t columns, uint32_t warps,
                                            int32_t parts) {
  const int64_t width =
      GQ_DEV_REDUCE_TILES_THREADS / warps * gq_dev_reduce_tiles_columns(warps);
  return (uint32_t)(parts & GQ_DEV_DBIAS ? (columns + width - 1) / width : 0) +
         (parts & GQ_DEV_AMAX ? 1 : 0);
}

GQ_INLINE gqLaunchPlan gq_dev_reduce_tiles_plan(
    const gq_dev_reduce_tiles_extents *x, int64_t multiprocessors) {
  uint32_t warps = gq_dev_reduce_tiles_warps(x->rows, x->groups);
  int64_t ctas = x->groups *
                 gq_dev_reduce_tiles_ctas(x->columns, warps, (int32_t)x->parts);
  int64_t full = 16 * multiprocessors;
  return (gqLaunchPlan){.grid = gq_dev_grid_of(ctas < full ? ctas : full)};
}

//===----------------------------------------------------------------------===//
// The kernels of amaxes
//===----------------------------------------------------------------------===//

/// What they compute: bits of their constant `parts`, besides GQ_DEV_RAGGED.
enum {
  GQ_DEV_AMAX_OF_GROUPS = 1,
  GQ_DEV_AMAX_OF_ROWS = 2,
  GQ_DEV_AMAX_OF_COLUMNS = 4,
  /// After the transform of columns.
  GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS = 8,
};

enum {
  /// Tiles of elements are loaded as those of this format are, whose blocks are
  /// as long as a tile.
  GQ_DEV_AMAX_FORMAT = GQ_FORMAT_FP8_E4M3_1X128,
  /// CTAs that share a group that is cleared.
  GQ_DEV_CLEAR_AMAX_SHARES = 16,
};

GQ_INLINE gqLaunchPlan gq_dev_clear_amax_plan(
    const gq_dev_clear_amax_extents *x, int64_t multiprocessors) {
  int64_t ctas = x->groups * GQ_DEV_CLEAR_AMAX_SHARES;
  int64_t full = 8 * multiprocessors;
  return (gqLaunchPlan){.grid = gq_dev_grid_of(ctas < full ? ctas : full)};
}

/// Where columns are not measured, and elements of type `held`, of 16 bits, are
/// read from a matrix without row indices, registers suffice for six CTAs; for
/// columns of float32 that are transformed, whose lanes hold 64 words, for
/// three.
GQ_INLINE gq_dev_bounds gq_dev_grouped_amax_bounds(int32_t parts,
                                                   gqElementType held,
                                                   gqTransform transform,
                                                   bool isPlain) {
  const int32_t ofColumns =
      GQ_DEV_AMAX_OF_COLUMNS | GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS;
  bool six = isPlain && held != GQ_F32 && !(parts & ofColumns);
  bool three = held == GQ_F32 && transform != GQ_TRANSFORM_NONE;
  return (gq_dev_bounds){.threads = GQ_DEV_GROUPED_AMAX_THREADS,
                         .minCtas = six     ? 6
                                    : three ? 3
                                            : 4};
}

GQ_INLINE gqLaunchPlan gq_dev_grouped_amax_plan(
    const gq_dev_grouped_amax_extents *x, int64_t multiprocessors) {
  const int64_t warps = GQ_DEV_GROUPED_AMAX_THREADS / 32;
  int64_t full = x->ctas * multiprocessors;
  int64_t jobs = gq_dev_tiles_jobs(x->rows, x->columns, x->groups);
  int64_t ctas = (jobs + warps - 1) / warps;
  return (gqLaunchPlan){.grid = gq_dev_grid_of(ctas < full ? ctas : full)};
}

//===----------------------------------------------------------------------===//
// The kernel of dequantization
//===----------------------------------------------------------------------===//

/// Whether it goes through rows, with no codes in shared memory, and not
/// through tiles.
GQ_INLINE bool gq_dev_dequantizes_by_rows(int32_t parts) {
  return !(parts & (GQ_DEV_COLUMNWISE | GQ_DEV_RAGGED));
}

/// Pieces side by side that a warp has of each of its four rows, by rows. More
/// than one where scales are in tiles: then there is more to do before a piece.
GQ_INLINE uint32_t gq_dev_dequantize_pieces(gqFormat format,
                                            gqScaleLayout layout) {
  if (format == GQ_FORMAT_NONE || layout != GQ_SCALE_LAYOUT_TILE128X4)
    return 1;
  return gqFormatGetTraits(format).dataBits == 4 ? 2 : 3;
}

/// The CTAs for which registers and, with codes of 8 bits in tiles, shared
/// memory suffice. `manyScales`: nvfp4 along columns; `divides`: by a global
/// scale; `sm120`: for that chip the assembler takes up to 95 registers for
/// what takes 80 on the others.
GQ_INLINE gq_dev_bounds gq_dev_dequantize_tiles_bounds(
    gqElementType dataType, bool byRows, uint32_t pieces, bool manyScales,
    bool divides, bool sm120) {
  bool five = manyScales || sm120 || dataType != GQ_I8;
  int32_t rows = pieces > 2 ? (sm120 ? 5 : 6) : sm120 ? 6 : 8;
  return (gq_dev_bounds){.threads = GQ_DEV_DEQUANTIZE_TILES_THREADS,
                         .minCtas = byRows    ? rows
                                    : divides ? 4
                                    : five    ? 5
                                              : 6};
}

/// By rows, a CTA for each four of 128 rows by 16 bytes a thread and piece:
/// small CTAs, of which one that is done makes room for another. By tiles, of
/// many jobs a few rounds of CTAs, which even out how long jobs take.
GQ_INLINE gqLaunchPlan gq_dev_dequantize_tiles_plan(
    const gq_dev_dequantize_tiles_extents *x, int64_t multiprocessors) {
  if (gq_dev_dequantizes_by_rows((int32_t)x->parts)) {
    int64_t pieces = gq_dev_dequantize_pieces((gqFormat)x->format,
                                              (gqScaleLayout)x->scaleLayout);
    int64_t width = pieces * GQ_DEV_DEQUANTIZE_TILES_THREADS * 16 /
                    gqElementTypeSize((gqElementType)x->outType);
    return (gqLaunchPlan){
        .grid = gq_dev_grid_of((x->rows + 127) / 128 * 32 *
                               ((x->columns + width - 1) / width))};
  }
  int64_t jobs = gq_dev_tiles_jobs(x->rows, x->columns, x->groups);
  int64_t full = x->ctas * multiprocessors;
  return (gqLaunchPlan){.grid = gq_dev_grid_of(jobs < full        ? jobs
                                               : jobs < 16 * full ? full
                                                                  : 4 * full)};
}

//===----------------------------------------------------------------------===//
// The kernels of the grouped matmul
//===----------------------------------------------------------------------===//

enum {
  /// Rows of weights of a tile: of the kernel of tiles, of decode and of any.
  GQ_DEV_GROUPED_MM_TILES_HEIGHT = 256,
  GQ_DEV_GROUPED_MM_DECODE_HEIGHT = 128,
  GQ_DEV_GROUPED_MM_ANY_HEIGHT = 16,
  /// Tokens that any goes through together, and bytes of shared memory of a
  /// warp, for outputs to quantize: 32 of each.
  GQ_DEV_GROUPED_MM_FEW_TOKENS = 8,
  GQ_DEV_GROUPED_MM_ANY_STAGED = 8 * 32 * 4,
  /// Bytes of shared memory: of the producers' copies, of the consumers' tiles,
  /// of partial sums.
  GQ_DEV_GROUPED_MM_TILES_RINGS = 4 * 3 * (32 * 64 + 32 * 8),
  GQ_DEV_GROUPED_MM_TILES_FOUND = 8 * 4 * 32,
  /// Tokens of a tile of 8-bit codes whose outputs of 16 bits are staged at a
  /// time.
  GQ_DEV_GROUPED_MM_FP8_PART = 32,
  GQ_DEV_GROUPED_MM_DECODE_SUMS = 4 * 4 * 8 * 32 * 4,
  /// A tile of tokens that were dequantized before, and its stages of 64 k.
  GQ_DEV_GROUPED_MM_PREPARED_TOKENS = 256,
  GQ_DEV_GROUPED_MM_PREPARED_HEIGHT = 128,
  GQ_DEV_GROUPED_MM_PREPARED_STAGES = 5,
  /// Warps that dequantize tokens, how many at a time, of how many k, and the
  /// shared memory of each warp.
  GQ_DEV_GROUPED_MM_PREPARERS = 3,
  GQ_DEV_GROUPED_MM_PREPARE_TOKENS = 32,
  GQ_DEV_GROUPED_MM_PREPARE_K = 1024,
  GQ_DEV_GROUPED_MM_PREPARE_SHARED = 3 * (32 * 64 + 32 * 8) + 32 * 128,
  GQ_DEV_GROUPED_MM_PREPARE_CTAS = 2,
  /// Of a stage of decode: 512 k of a row of weights, of 128 of them and their
  /// scales, and of a token as halves.
  GQ_DEV_GROUPED_MM_DECODE_ROW = 256,
  GQ_DEV_GROUPED_MM_DECODE_WEIGHTS = 128 * GQ_DEV_GROUPED_MM_DECODE_ROW + 4096,
  GQ_DEV_GROUPED_MM_DECODE_TOKEN_ROW = 1024 + 64,
  GQ_DEV_GROUPED_MM_DECODE_STAGES = 3,
};

/// The table of tiles of a CTA of so many threads, in bytes.
static inline int32_t gq_dev_grouped_mm_table(int32_t threads) {
  return (threads + 32) * 4;
}

/// Stages of a tile: of 64 k of the tokens as halves, beside outputs or
/// products of `size` bytes, or of 128 k of 8-bit codes of tokens and weights.
static inline uint32_t gq_dev_grouped_mm_stages(uint32_t tokens,
                                                uint32_t size) {
  return tokens != 128 ? 8 : size == 4 ? 4 : 6;
}
static inline uint32_t gq_dev_grouped_mm_fp8_stages(uint32_t tokens) {
  return tokens == 128 ? 4 : 5;
}

/// Of formats with scales in tiles.
static inline int32_t gq_dev_grouped_mm_halves_shared(int32_t tokens,
                                                      int32_t size) {
  int32_t stages =
      (int32_t)gq_dev_grouped_mm_stages((uint32_t)tokens, (uint32_t)size);
  return stages * (tokens * 128 + 16) +
         GQ_DEV_GROUPED_MM_TILES_HEIGHT * tokens * size +
         GQ_DEV_GROUPED_MM_TILES_RINGS + GQ_DEV_GROUPED_MM_TILES_FOUND;
}

/// Of the same, tokens having been dequantized.
static inline int32_t gq_dev_grouped_mm_prepared_shared(void) {
  return GQ_DEV_GROUPED_MM_PREPARED_STAGES *
             (GQ_DEV_GROUPED_MM_PREPARED_TOKENS * 128 + 16) +
         GQ_DEV_GROUPED_MM_PREPARED_HEIGHT * GQ_DEV_GROUPED_MM_PREPARED_TOKENS +
         GQ_DEV_GROUPED_MM_PREPARERS * GQ_DEV_GROUPED_MM_PREPARE_SHARED +
         GQ_DEV_GROUPED_MM_TILES_FOUND;
}

/// Of a stage: rows of 128 codes with a scale each, a tile, two barriers.
static inline int32_t gq_dev_grouped_mm_fp8_shared(int32_t tokens) {
  int32_t stages = (int32_t)gq_dev_grouped_mm_fp8_stages((uint32_t)tokens);
  return stages *
             ((GQ_DEV_GROUPED_MM_TILES_HEIGHT + tokens) * (128 + 4) + 32 + 16) +
         GQ_DEV_GROUPED_MM_TILES_HEIGHT * GQ_DEV_GROUPED_MM_FP8_PART * 2;
}

/// Whether the scales of a product's codes are in tile128x4.
GQ_INLINE bool gq_dev_has_tiled_scales(gqFormat format) {
  return format != GQ_FORMAT_NONE &&
         gqFormatGetTraits(format).scaleType != GQ_F32;
}

/// `size`: bytes of what an epilogue or a quantization is of, 2 without one.
static inline gq_dev_bounds
gq_dev_grouped_mm_tiles_bounds(gqFormat format, int32_t tokens, int32_t size) {
  bool fp8 = !gq_dev_has_tiled_scales(format);
  return (gq_dev_bounds){
      .threads = GQ_DEV_GROUPED_MM_TILES_THREADS,
      .minCtas = 1,
      .sharedMemory = (fp8 ? gq_dev_grouped_mm_fp8_shared(tokens)
                       : tokens == GQ_DEV_GROUPED_MM_PREPARED_TOKENS
                           ? gq_dev_grouped_mm_prepared_shared()
                           : gq_dev_grouped_mm_halves_shared(tokens, size)) +
                      gq_dev_grouped_mm_table(GQ_DEV_GROUPED_MM_TILES_THREADS),
  };
}

static inline gq_dev_bounds gq_dev_grouped_mm_prepare_bounds(void) {
  return (gq_dev_bounds){
      .threads = GQ_DEV_GROUPED_MM_PREPARE_THREADS,
      .minCtas = GQ_DEV_GROUPED_MM_PREPARE_CTAS,
  };
}

static inline gq_dev_bounds gq_dev_grouped_mm_decode_bounds(int32_t tokens) {
  return (gq_dev_bounds){
      .threads = GQ_DEV_GROUPED_MM_DECODE_THREADS,
      .minCtas = 1,
      .sharedMemory =
          GQ_DEV_GROUPED_MM_DECODE_STAGES *
              (GQ_DEV_GROUPED_MM_DECODE_WEIGHTS +
               tokens * GQ_DEV_GROUPED_MM_DECODE_TOKEN_ROW + 32 + 16) +
          GQ_DEV_GROUPED_MM_DECODE_SUMS +
          gq_dev_grouped_mm_table(GQ_DEV_GROUPED_MM_DECODE_THREADS),
  };
}

static inline gq_dev_bounds gq_dev_grouped_mm_any_bounds(bool quantizes) {
  return (gq_dev_bounds){
      .threads = GQ_DEV_GROUPED_MM_ANY_THREADS,
      .sharedMemory = gq_dev_grouped_mm_table(GQ_DEV_GROUPED_MM_ANY_THREADS) +
                      (quantizes ? GQ_DEV_GROUPED_MM_ANY_THREADS / 32 *
                                       GQ_DEV_GROUPED_MM_ANY_STAGED
                                 : 0),
  };
}

/// The grid for tiles of `tokens` by `height` rows of weights, `perCta` of
/// which a CTA has at a time, on a device that `full` CTAs fill: as many as
/// there can be tiles, but no more than are on it at once.
static inline gqLaunchPlan
gq_dev_grouped_mm_plan(int64_t rows, int64_t n, int64_t groups, int64_t tokens,
                       int64_t moreThan, int64_t atMost, int64_t height,
                       int64_t perCta, int64_t full) {
  if (rows <= moreThan * groups || rows > atMost * groups)
    return (gqLaunchPlan){.grid = 0};
  int64_t some = rows < groups ? rows : groups;
  int64_t tiles = (rows / tokens + some) * ((n + height - 1) / height);
  int64_t ctas = (tiles + perCta - 1) / perCta;
  return (gqLaunchPlan){.grid = gq_dev_grid_of(ctas < full ? ctas : full)};
}

static inline gqLaunchPlan
gq_dev_grouped_mm_tiles_plan(const gq_dev_grouped_mm_tiles_extents *x,
                             int64_t multiprocessors) {
  return gq_dev_grouped_mm_plan(x->rows, x->n, x->groups, x->tokens,
                                x->moreThan, x->atMost,
                                x->tokens == GQ_DEV_GROUPED_MM_PREPARED_TOKENS
                                    ? GQ_DEV_GROUPED_MM_PREPARED_HEIGHT
                                    : GQ_DEV_GROUPED_MM_TILES_HEIGHT,
                                1, multiprocessors);
}

/// Bytes of tokens that were dequantized, with room for a tile that begins with
/// the last row.
static inline int64_t gq_dev_grouped_mm_panels_size(int64_t rows, int64_t k) {
  return (rows + GQ_DEV_GROUPED_MM_PREPARED_TOKENS) * ((k + 127) / 128 * 256);
}

/// Words behind them: what has been begun, and what is done of each tile's
/// tokens and of each GQ_DEV_GROUPED_MM_PREPARE_K. Groups that do not overlap
/// have at most as many tiles.
static inline int64_t gq_dev_grouped_mm_progress(int64_t rows, int64_t groups,
                                                 int64_t k) {
  return 1 + (rows / GQ_DEV_GROUPED_MM_PREPARED_TOKENS + groups) *
                 ((k + GQ_DEV_GROUPED_MM_PREPARE_K - 1) /
                  GQ_DEV_GROUPED_MM_PREPARE_K);
}

/// Bytes of both.
static inline int64_t
gq_dev_grouped_mm_prepared_size(int64_t rows, int64_t groups, int64_t k) {
  return gq_dev_grouped_mm_panels_size(rows, k) +
         4 * gq_dev_grouped_mm_progress(rows, groups, k);
}

static inline gqLaunchPlan
gq_dev_grouped_mm_prepare_plan(const gq_dev_grouped_mm_prepare_extents *x,
                               int64_t multiprocessors) {
  gqLaunchPlan plan = gq_dev_grouped_mm_plan(
      x->rows, 1, x->groups, GQ_DEV_GROUPED_MM_PREPARE_TOKENS, x->moreThan,
      x->atMost, 1, 1, GQ_DEV_GROUPED_MM_PREPARE_CTAS * multiprocessors);
  plan.workspace = gq_dev_grouped_mm_prepared_size(x->rows, x->groups, x->k);
  return plan;
}

static inline gqLaunchPlan
gq_dev_grouped_mm_decode_plan(const gq_dev_grouped_mm_decode_extents *x,
                              int64_t multiprocessors) {
  return gq_dev_grouped_mm_plan(
      x->rows, x->n, x->groups, x->tokens, x->moreThan, x->atMost,
      GQ_DEV_GROUPED_MM_DECODE_HEIGHT, 1, multiprocessors);
}

static inline gqLaunchPlan
gq_dev_grouped_mm_any_plan(const gq_dev_grouped_mm_any_extents *x,
                           int64_t multiprocessors) {
  return gq_dev_grouped_mm_plan(
      x->rows, x->n, x->groups, GQ_DEV_GROUPED_MM_FEW_TOKENS, x->moreThan,
      x->atMost, GQ_DEV_GROUPED_MM_ANY_HEIGHT,
      GQ_DEV_GROUPED_MM_ANY_THREADS / 32, 4 * multiprocessors);
}

//===----------------------------------------------------------------------===//
// The kernels of the gradient of weights
//===----------------------------------------------------------------------===//

enum {
  /// Rows of a tile.
  GQ_DEV_GROUPED_WGRAD_HEIGHT = 128,
  /// Bytes of the scales of a stage: of up to two blocks of 128 rows and of as
  /// many columns.
  GQ_DEV_GROUPED_WGRAD_SCALES = 2 * 2 * 128 * 4,
};

/// Columns of a tile, and stages of 64 of what is added up, each 128 bytes of a
/// row or column.
static inline uint32_t gq_dev_grouped_wgrad_width(gqFormat format, bool wgmma) {
  return wgmma && format == GQ_FORMAT_NVFP4 ? 256 : 128;
}
static inline uint32_t gq_dev_grouped_wgrad_stages(bool wgmma) {
  return wgmma ? 3 : 2;
}
/// Steps of which codes are copied, and the bytes of one at most: 16 of each
/// thread of each 128 lines of NVFP4, 32 of others, and 4 of scales.
static inline uint32_t gq_dev_grouped_wgrad_ring(bool wgmma) {
  return wgmma ? 3 : 1;
}
static inline uint32_t gq_dev_grouped_wgrad_copied(gqFormat format,
                                                   bool wgmma) {
  uint32_t parts = 1 + gq_dev_grouped_wgrad_width(format, wgmma) / 128;
  return parts * GQ_DEV_GROUPED_WGRAD_TILES_THREADS *
         (format == GQ_FORMAT_NVFP4 ? 20 : 36);
}

static inline gq_dev_bounds gq_dev_grouped_wgrad_bounds(gqFormat format,
                                                        bool wgmma) {
  int32_t lines = GQ_DEV_GROUPED_WGRAD_HEIGHT +
                  (int32_t)gq_dev_grouped_wgrad_width(format, wgmma);
  int32_t stages = (int32_t)gq_dev_grouped_wgrad_stages(wgmma);
  return (gq_dev_bounds){
      .threads = GQ_DEV_GROUPED_WGRAD_TILES_THREADS,
      .minCtas = 1,
      .sharedMemory = stages * (lines * 128 + GQ_DEV_GROUPED_WGRAD_SCALES) +
                      GQ_DEV_GROUPED_WGRAD_TILES_THREADS * 16 +
                      (int32_t)(gq_dev_grouped_wgrad_ring(wgmma) *
                                gq_dev_grouped_wgrad_copied(format, wgmma)),
  };
}

/// One CTA per multiprocessor, or as many as there are tiles.
static inline gqLaunchPlan gq_dev_grouped_wgrad_plan(int64_t groups, int64_t n,
                                                     int64_t k, int64_t width,
                                                     int64_t multiprocessors) {
  const int64_t height = GQ_DEV_GROUPED_WGRAD_HEIGHT;
  int64_t ofGroup = ((n + height - 1) / height) * ((k + width - 1) / width);
  bool few = ofGroup == 0 || groups <= multiprocessors / ofGroup;
  return (gqLaunchPlan){
      .grid = gq_dev_grid_of(few ? groups * ofGroup : multiprocessors)};
}

static inline gqLaunchPlan
gq_dev_grouped_wgrad_tiles_plan(const gq_dev_grouped_wgrad_tiles_extents *x,
                                int64_t multiprocessors) {
  return gq_dev_grouped_wgrad_plan(
      x->groups, x->n, x->k,
      gq_dev_grouped_wgrad_width((gqFormat)x->format, true), multiprocessors);
}

static inline gqLaunchPlan
gq_dev_grouped_wgrad_any_plan(const gq_dev_grouped_wgrad_any_extents *x,
                              int64_t multiprocessors) {
  return gq_dev_grouped_wgrad_plan(
      x->groups, x->n, x->k,
      gq_dev_grouped_wgrad_width((gqFormat)x->format, false), multiprocessors);
}

//===----------------------------------------------------------------------===//
// Any family
//===----------------------------------------------------------------------===//

/// Whether an extent is possible: not negative, at most `most`, and with a
/// product of at most 2^48 with the largest one so far, which it may become.
/// Then no product and no sum in the plans above overflows; no device has room
/// for more elements.
GQ_INLINE bool gq_dev_is_extent(int64_t extent, int64_t most,
                                int64_t *largest) {
  int64_t product;
  if (extent < 0 || extent > most ||
      __builtin_mul_overflow(extent, *largest, &product) ||
      product > (int64_t)1 << 48)
    return false;
  if (extent > *largest)
    *largest = extent;
  return true;
}

/// The result of planning a launch.
typedef enum gq_dev_planned {
  GQ_DEV_PLANNED,
  /// There is no such family.
  GQ_DEV_UNKNOWN_FAMILY,
  /// The extents are impossible.
  GQ_DEV_BAD_EXTENTS,
} gq_dev_planned;

/// How to launch a kernel of a family on a device with so many multiprocessors;
/// `extents` is its struct.
GQ_INLINE gq_dev_planned gq_dev_plan(int64_t family,
                                     const int64_t extents[GQ_LAUNCH_EXTENTS],
                                     int64_t multiprocessors,
                                     gqLaunchPlan *plan) {
  int64_t largest = 1;
#define GQ_DEV_IS_EXTENT(ROLE, TYPE, NAME)                                     \
  GQ_IF_LAUNCH_##ROLE(GQ_IF_NUMBER_##ROLE(&&gq_dev_is_extent(                  \
      x.NAME, sizeof(TYPE) < 8 ? INT32_MAX : INT64_MAX, &largest)))
#define GQ_DEV_PLAN(FAMILY, NAME, FUNCTION, THREADS)                           \
  case GQ_KERNEL_##FAMILY: {                                                   \
    gq_dev_##FUNCTION##_extents x;                                             \
    _Static_assert(sizeof(x) <= GQ_LAUNCH_EXTENTS * sizeof(int64_t),           \
                   "more extents than gqPlanLaunch takes");                    \
    __builtin_memcpy(&x, extents, sizeof(x));                                  \
    if (!(true GQ_##FAMILY##_OPERANDS(GQ_DEV_IS_EXTENT)))                      \
      return GQ_DEV_BAD_EXTENTS;                                               \
    *plan = gq_dev_##FUNCTION##_plan(&x, multiprocessors);                     \
    return GQ_DEV_PLANNED;                                                     \
  }
  switch (family) { GQ_KERNEL_FAMILIES(GQ_DEV_PLAN) }
#undef GQ_DEV_PLAN
#undef GQ_DEV_IS_EXTENT
  return GQ_DEV_UNKNOWN_FAMILY;
}

#endif // GQ_KERNELS_KERNELS_LAUNCH_H
