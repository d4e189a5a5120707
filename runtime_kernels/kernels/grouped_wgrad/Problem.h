//===- Problem.h - the gradients of a launch, tile by tile -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is 128 rows of a group's output by 128 or 256 columns. All groups have
// as many tiles, also those without rows, so that a tile's number tells which
// it is; where a group's codes and scales begin, sums over the groups before it
// tell, which a CTA makes at its beginning.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_WGRAD_PROBLEM_H
#define GQ_KERNELS_KERNELS_GROUPED_WGRAD_PROBLEM_H

#include "runtime_kernels/arch/Scan.h"
#include "runtime_kernels/groups/Faults.h"
#include "runtime_kernels/kernels/Products.h"

enum {
  THREADS = GQ_DEV_GROUPED_WGRAD_TILES_THREADS,
  WARPS = THREADS / GQ_DEV_WARP,
  /// Rows of a tile, and what its columns are made of.
  HEIGHT = GQ_DEV_GROUPED_WGRAD_HEIGHT,
  /// Rows of tiles of a group that CTAs go down together, so that they share
  /// what they read.
  BAND = 8,
  /// What flat rows are a multiple of.
  ROW_UNIT = 32,
};

_Static_assert(GQ_DEV_GROUPED_WGRAD_ANY_THREADS ==
                   GQ_DEV_GROUPED_WGRAD_TILES_THREADS,
               "one kernel");

/// The operands, and the groups they describe.
typedef struct Problem {
  GQ_DEV_FIELDS(GQ_GROUPED_WGRAD_OPERANDS)
  gq_dev_groups all;
} Problem;

/// In formats of the same scale rule either all transpose or none does.
GQ_DEV bool isFlat(gqFormat format) {
  return gqFormatGetTraits(format).transposes;
}

/// What initializes a Problem from the parameters of a device function. Of flat
/// operands no number of rows is known that offsets must not exceed.
#define PROBLEM_INITIALIZERS                                                   \
  GQ_DEV_INITIALIZERS(GQ_GROUPED_WGRAD_OPERANDS),                              \
      .all = {                                                                 \
          .offsets = offsets,                                                  \
          .numOffsets = groups + 1,                                            \
          .numGroups = groups,                                                 \
          .numRows = isFlat((gqFormat)format) ? (int64_t)1 << 48 : rows,       \
          .wide = offsetBits == 64,                                            \
  }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// a or b. Everything that does not depend on addresses is constant in a kernel
/// if extents are.
typedef struct Side {
  const uint8_t GQ_GLOBAL *codes, *scales;
  /// Bytes from row to row of codes that are not flat.
  int64_t stride;
  /// N or K.
  uint32_t extent;
  gqFormat format;
  gqElementType type;
  /// Codes and scales can be copied 16 or 4 bytes at a time.
  bool aligned;
} Side;

GQ_DEV uint32_t bitsOf(const Side *s) { return s->type == GQ_I8 ? 4 : 8; }

GQ_DEV Side makeSide(const uint8_t GQ_GLOBAL *codes,
                     const uint8_t GQ_GLOBAL *scales, int64_t stride,
                     uint32_t extent, gqFormat format, gqElementType type) {
  Side s = {codes, scales, stride, extent, format, type, false};
  uint64_t at = (uint64_t)(uintptr_t)codes;
  s.aligned = (isFlat(format) ? at % 16 == 0
                              : (at | (uint64_t)stride | extent) % 4 == 0) &&
              (uint64_t)(uintptr_t)scales % 4 == 0;
  return s;
}

GQ_DEV Side sideA(const Problem *p) {
  return makeSide(p->a, p->aScales, p->aStride, p->n, p->format, p->aType);
}
GQ_DEV Side sideB(const Problem *p) {
  return makeSide(p->b, p->bScales, p->bStride, p->k, p->bFormat, p->bType);
}

/// Lines of a side's scales, and columns of a group's; the latter agree in both
/// sides.
GQ_DEV int64_t scaleLines(const Side *s) {
  uint32_t height = (uint32_t)gqFormatGetTraits(s->format).blockRows;
  return gq_dev_has_tiled_scales(s->format)
             ? gq_dev_up(s->extent, GQ_DEV_TILE_ROWS)
             : (s->extent + height - 1) / height;
}
GQ_DEV int64_t scaleColumns(gqFormat format, int64_t rows) {
  if (format == GQ_FORMAT_NONE)
    return 0;
  int64_t block = gqFormatGetTraits(format).blockColumns;
  int64_t columns = (gq_dev_up(rows, ROW_UNIT) + block - 1) / block;
  return gq_dev_has_tiled_scales(format)
             ? gq_dev_up(columns, GQ_DEV_TILE_COLUMNS)
             : columns;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Padded rows and columns of scales of all groups before one.
typedef struct Place {
  int64_t rows, scales;
} Place;

GQ_DEV Place behind(const Problem *p, Place place, int64_t rows) {
  return (Place){place.rows + gq_dev_up(rows, ROW_UNIT),
                 place.scales + scaleColumns(p->format, rows)};
}

/// Whether what ends there lies in the operands.
GQ_DEV bool isInside(const Problem *p, Place end) {
  return (!isFlat(p->format) || end.rows <= p->rows) &&
         (p->format == GQ_FORMAT_NONE || end.scales <= p->scaleColumns);
}

/// The rows of group e; none if it is skipped by itself.
GQ_DEV gq_dev_group loadGroup(const Problem *p, uint32_t e, uint32_t *faults) {
  gq_dev_group group = gq_dev_load_group(&p->all, e);
  *faults |= gq_dev_check_group(&p->all, e, &group);
  return group;
}

/// Groups of a thread.
GQ_DEV uint32_t shareOf(const Problem *p) {
  return (p->groups + THREADS - 1) / THREADS;
}

/// Fills places[THREADS], those of each thread's first group. All threads take
/// part, and wait for each other. CTA 0 reports faults.
GQ_DEV void makePlaces(const Problem *p, Place GQ_SHARED *places) {
  uint32_t thread = gq_dev_thread(), share = shareOf(p), faults = 0;
  Place own = {0, 0};
  NO_UNROLL for (uint32_t i = 0; i < share; ++i) {
    uint32_t e = thread * share + i;
    if (e >= p->groups)
      break;
    own = behind(p, own, loadGroup(p, e, &faults).rows);
  }
  Place sum = {gq_dev_scan64(own.rows), gq_dev_scan64(own.scales)};
  if (gq_dev_lane() == GQ_DEV_WARP - 1)
    places[thread / GQ_DEV_WARP] = sum;
  gq_dev_barrier();
  Place before = {sum.rows - own.rows, sum.scales - own.scales};
  NO_UNROLL for (uint32_t warp = 0; warp < thread / GQ_DEV_WARP; ++warp) {
    before.rows += places[warp].rows;
    before.scales += places[warp].scales;
  }
  gq_dev_barrier();
  places[thread] = before;
  // Sums do not decrease: that of the last group says it of all.
  if (thread == THREADS - 1 &&
      !isInside(p, (Place){before.rows + own.rows, before.scales + own.scales}))
    faults |= GQ_DEV_STATUS_SIZES;
  if (faults && gq_dev_cta() == 0)
    gq_dev_atomic_or(p->status, faults);
  gq_dev_barrier();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

typedef struct Tile {
  uint32_t group;
  /// Its first row and column in the output.
  uint32_t n, k;
  /// The group's first row, and those that are added up: none if it is skipped,
  /// of flat operands with what fills them up to 32. That is zero, or the rest
  /// of blocks that were transformed.
  int64_t begin, rows;
  Place before;
} Tile;

GQ_DEV uint32_t tilesOf(uint32_t extent, uint32_t size) {
  return (extent + size - 1) / size;
}

/// Tile `index` of group e.
GQ_DEV Tile findTile(const Problem *p, const Place GQ_SHARED *places,
                     uint32_t e, uint32_t index, uint32_t width) {
  uint32_t down = tilesOf(p->n, HEIGHT), across = tilesOf(p->k, width);
  uint32_t band = index / (BAND * across), first = band * BAND;
  uint32_t rows = down - first < BAND ? down - first : BAND;
  index -= first * across;
  Tile t = {.group = e,
            .n = (first + index % rows) * HEIGHT,
            .k = index / rows * width};
  uint32_t share = shareOf(p), owner = e / share, faults = 0;
  t.before = places[owner];
  NO_UNROLL for (uint32_t i = owner * share; i < e; ++i) t.before =
      behind(p, t.before, loadGroup(p, i, &faults).rows);
  gq_dev_group group = loadGroup(p, e, &faults);
  t.begin = group.begin;
  t.rows = isFlat(p->format) ? gq_dev_up(group.rows, ROW_UNIT) : group.rows;
  if (!isInside(p, behind(p, t.before, group.rows)))
    t.rows = 0;
  return t;
}

#endif // GQ_KERNELS_KERNELS_GROUPED_WGRAD_PROBLEM_H
