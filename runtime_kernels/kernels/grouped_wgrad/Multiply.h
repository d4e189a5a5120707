//===- Multiply.h - the gradient of weights, a tile a CTA --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CTA goes through the rows of a group step by step. Two warpgroups have 64
// rows of a tile each and, of shared memory, stages of halves of both sides:
// while matrix units multiply a stage, the same threads store the next one, of
// codes whose copies they began two steps before that.
//
// With NVFP4 the sums of all rows stay in the matrix units' registers. Other
// halves have not been multiplied by their scales: the sum of a block is, in
// float32, and added to the rest; without a format it is that of 32 rows, since
// matrix units cut off what they add up.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_GROUPED_WGRAD_MULTIPLY_H
#define GQ_KERNELS_KERNELS_GROUPED_WGRAD_MULTIPLY_H

#include "runtime_kernels/arch/Sm90.h"
#include "runtime_kernels/kernels/grouped_wgrad/Halves.h"

enum {
  WARPGROUP = 128,
  WGMMA_HEIGHT = 64,
  /// Per thread, with 256 columns.
  MAX_SUMS = 128,
};

/// The constants that differ between the kernels.
typedef struct Shape {
  /// Columns of a tile.
  uint32_t width;
  /// Stages; wgmma is one behind. Steps whose codes are copied, and their size.
  uint32_t stages, ring, copied;
  bool wgmma;
} Shape;

/// A stage: lines of a and of b, then, of blocks, the scales of all lines.
typedef struct Stage {
  uint32_t a, b, aScales, bScales;
} Stage;

GQ_DEV Stage stageAt(Shape shape, uint32_t index) {
  uint32_t lines = SIDE_BYTES + shape.width * LINE_BYTES;
  uint32_t a = gq_dev_dynamic_shared_address() + index * lines;
  uint32_t scales = gq_dev_dynamic_shared_address() + shape.stages * lines +
                    index * GQ_DEV_GROUPED_WGRAD_SCALES;
  return (Stage){a, a + SIDE_BYTES, scales, scales + 2 * SCALE_BYTES};
}

/// Behind all stages: the ring of copies, and what a CTA knows of the groups.
GQ_DEV uint32_t ringOf(Shape shape) {
  uint32_t stage = SIDE_BYTES + shape.width * LINE_BYTES;
  return gq_dev_dynamic_shared_address() +
         shape.stages * (stage + GQ_DEV_GROUPED_WGRAD_SCALES);
}
GQ_DEV Place GQ_SHARED *placesOf(Shape shape) {
  return gq_dev_shared_pointer(ringOf(shape) + shape.ring * shape.copied);
}

/// Where a thread's sums are in a tile: d[4 * j + i] is that of row `row` +
/// 8 * (i / 2) and column `column` + 8 * j + i % 2.
GQ_DEV uint32_t ownRow(void) {
  return gq_dev_thread() / GQ_DEV_WARP * 16 + gq_dev_lane() / 4;
}
GQ_DEV uint32_t ownColumn(void) { return gq_dev_lane() % 4 * 2; }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The same as a wgmma of each warpgroup, by warps: the lanes of a line load 16
/// bytes each, two products of 16 rows. Which rows these are does not matter,
/// as long as both sides agree.
GQ_DEV void multiplyWarps(float *d, bool add, Stage stage, uint32_t width,
                          uint32_t first, uint32_t count) {
  uint32_t lane = gq_dev_lane(), line = lane / 4;
  uint32_t a = stage.a + ownRow() * LINE_BYTES;
  if (!add)
    UNROLL for (uint32_t i = 0; i < MAX_SUMS; ++i) if (i < width / 2) d[i] = 0;
  UNROLL for (uint32_t i = 0; i < 4;
              i += 2) if (i >= first && i < first + count) {
    uint32_t at = ((2 * i + lane % 4) ^ line) << 4;
    gq_dev_u32x4 upper = gq_dev_load_shared16(a + at);
    gq_dev_u32x4 lower = gq_dev_load_shared16(a + 8 * LINE_BYTES + at);
    const uint32_t x[2][4] = {{upper.x, lower.x, upper.y, lower.y},
                              {upper.z, lower.z, upper.w, lower.w}};
    UNROLL for (uint32_t j = 0; j < MAX_SUMS / 4; ++j) if (j < width / 8) {
      gq_dev_u32x4 both =
          gq_dev_load_shared16(stage.b + (8 * j + line) * LINE_BYTES + at);
      const uint32_t y[2][2] = {{both.x, both.y}, {both.z, both.w}};
      gq_dev_mma_m16n8k16_f16(d + 4 * j, x[0], y[0]);
      gq_dev_mma_m16n8k16_f16(d + 4 * j, x[1], y[1]);
    }
  }
}

/// d = or d += `count` products of 16 rows of a stage, from number `first` on.
GQ_DEV void multiply(float *d, bool add, Stage stage, Shape shape,
                     uint32_t first, uint32_t count) {
  if (!shape.wgmma) {
    multiplyWarps(d, add, stage, shape.width, first, count);
    return;
  }
  uint32_t rows = gq_dev_thread() / WARPGROUP * WGMMA_HEIGHT;
  uint64_t a = gq_dev_wgmma_b(stage.a + rows * LINE_BYTES);
  uint64_t b = gq_dev_wgmma_b(stage.b);
  gq_dev_wgmma_fence();
  UNROLL for (uint32_t i = 0; i < 4; ++i) if (i >= first && i < first + count) {
    bool adds = add || i > first;
    if (shape.width == 256)
      gq_dev_wgmma_shared_m64n256k16_f16(d, adds, a + 2 * i, b + 2 * i);
    else
      gq_dev_wgmma_shared_m64n128k16_f16(d, adds, a + 2 * i, b + 2 * i);
  }
  gq_dev_wgmma_commit();
}

/// sums += d, the sums of a block of a tile of 128 columns, times its scales.
GQ_DEV void promote(gqFormat format, float *sums, const float *d, Stage stage,
                    uint32_t block) {
  if (format == GQ_FORMAT_NONE) {
    UNROLL for (uint32_t i = 0; i < MAX_SUMS / 2; ++i) sums[i] += d[i];
    return;
  }
  uint32_t a = stage.aScales + block * SCALE_BYTES + ownRow() * 4;
  uint32_t b = stage.bScales + block * SCALE_BYTES + ownColumn() * 4;
  float ofRows[2];
  UNROLL for (uint32_t i = 0; i < 2; ++i) ofRows[i] =
      gq_dev_f32_from_bits(gq_dev_load_shared4(a + i * 32));
  UNROLL for (uint32_t j = 0; j < MAX_SUMS / 8; ++j) {
    gq_dev_u32x2 x = gq_dev_load_shared8(b + j * 32);
    const float ofColumns[2] = {gq_dev_f32_from_bits(x.x),
                                gq_dev_f32_from_bits(x.y)};
    UNROLL for (uint32_t i = 4 * j; i < 4 * j + 4; ++i) sums[i] =
        gq_dev_fma(d[i] * ofRows[i / 2 % 2], ofColumns[i % 2], sums[i]);
  }
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// Stores two neighbours, those of them that exist.
GQ_DEV void storeTwo(const Problem *p, uint8_t GQ_GLOBAL *at, bool paired,
                     uint32_t left, float x, float y) {
  if (paired && left >= 2) {
    const uint32_t bits[] = {gq_dev_f32_bits(x), gq_dev_f32_bits(y)};
    if (p->outType == GQ_F32)
      gq_dev_store8_if(true, at, bits);
    else
      *(uint32_t GQ_GLOBAL *)at = gq_dev_round_pair(p->outType, x, y);
    return;
  }
  if (left >= 1)
    storeFloat(p->outType, at, x);
  if (left >= 2)
    storeFloat(p->outType, at + sizeOfFloat(p->outType), y);
}

/// Stores the sums of a tile.
GQ_DEV void storeTile(const Problem *p, const Tile *t, uint32_t width,
                      const float *sums) {
  float alpha = p->alpha ? p->alpha[t->group] : 1.0f;
  float unit = isScaled(p->format) ? GQ_DEV_NVFP4_HALF_UNIT : 1.0f;
  uint32_t size = sizeOfFloat(p->outType), column = t->k + ownColumn();
  bool paired = p->k % 2 == 0 && (uint64_t)(uintptr_t)p->out % (2 * size) == 0;
  UNROLL for (uint32_t half = 0; half < 2; ++half) {
    uint32_t n = t->n + ownRow() + 8 * half;
    if (n >= p->n)
      continue;
    uint8_t GQ_GLOBAL *at =
        p->out + (((int64_t)t->group * p->n + n) * p->k + column) * size;
    uint32_t left = column < p->k ? p->k - column : 0;
    UNROLL for (uint32_t j = 0; j < MAX_SUMS / 4; ++j) if (j < width / 8)
        storeTwo(p, at + 8 * j * size, paired, left > 8 * j ? left - 8 * j : 0,
                 sums[4 * j + 2 * half] * unit * alpha,
                 sums[4 * j + 2 * half + 1] * unit * alpha);
  }
}

/// The sides of a tile: 128 lines of a, then those of b.
typedef struct Sides {
  Side a, b;
  Reader readers[3];
} Sides;

GQ_DEV const Side *sideOf(const Sides *s, uint32_t i) {
  return i == 0 ? &s->a : &s->b;
}

/// Where part i of a step is in a slot of the ring.
GQ_DEV uint32_t partAt(const Sides *s, uint32_t slot, uint32_t i) {
  return slot + (i > 0 ? sizeOfPart(&s->a) : 0) +
         (i > 1 ? sizeOfPart(&s->b) : 0);
}

/// Begins to copy a step, if there is one.
GQ_DEV void copyStep(const Sides *s, const Tile *t, uint32_t step,
                     uint32_t steps, uint32_t slot, uint32_t width) {
  if (step < steps)
    UNROLL for (uint32_t i = 0; i < 3; ++i) if (i <= width / HEIGHT)
        copyPart(sideOf(s, i), &s->readers[i], t, (int64_t)step * STEP,
                 partAt(s, slot, i));
  gq_dev_commit_copies();
}

/// Stores a step that this thread has waited for, if there is one.
GQ_DEV void storeStep(const Sides *s, const Tile *t, uint32_t step,
                      uint32_t steps, uint32_t slot, Stage stage,
                      uint32_t width) {
  int64_t row = (int64_t)step * STEP, left = t->rows - row;
  if (step >= steps)
    return;
  UNROLL for (uint32_t i = 0; i < 3; ++i) if (i <= width / HEIGHT) {
    Part part = takePart(sideOf(s, i), row, left < STEP ? (int32_t)left : STEP,
                         partAt(s, slot, i));
    storePart(sideOf(s, i), &part, stage.a + i * SIDE_BYTES,
              i == 0 ? stage.aScales : stage.bScales);
  }
}

/// The slot of the ring after one.
GQ_DEV uint32_t nextSlot(Shape shape, uint32_t slot) {
  slot += shape.copied;
  return slot == ringOf(shape) + shape.ring * shape.copied ? ringOf(shape)
                                                           : slot;
}

/// Waits for the copies of the oldest step under way.
GQ_DEV void waitForStep(Shape shape) {
  if (shape.ring == 3)
    GQ_DEV_WAIT_FOR_COPIES(2);
  else
    GQ_DEV_WAIT_FOR_COPIES(0);
}

GQ_DEV void multiplyTile(const Problem *p, const Tile *t, Shape shape) {
  // What wgmma adds up; of blocks, what they add up to.
  float d[MAX_SUMS], blocks[MAX_SUMS / 2];
  UNROLL for (uint32_t i = 0; i < MAX_SUMS; ++i) d[i] = 0;
  bool scaled = isScaled(p->format);
  if (!scaled)
    UNROLL for (uint32_t i = 0; i < MAX_SUMS / 2; ++i) blocks[i] = 0;
  uint32_t steps = (uint32_t)((t->rows + STEP - 1) / STEP);
  if (steps == 0) {
    storeTile(p, t, shape.width, d);
    return;
  }
  Sides s = {.a = sideA(p), .b = sideB(p)};
  s.readers[0] = makeReader(&s.a, t, t->n);
  UNROLL for (uint32_t i = 0; i < 2; ++i) if (i < shape.width / HEIGHT)
      s.readers[1 + i] = makeReader(&s.b, t, t->k + i * HEIGHT);
  // Slots of the ring: of the next step to store, and of the next to copy.
  uint32_t take = ringOf(shape), give = take;
  UNROLL for (uint32_t i = 0; i < 3; ++i) if (i < shape.ring) {
    copyStep(&s, t, i, steps, give, shape.width);
    give = nextSlot(shape, give);
  }
  waitForStep(shape);
  gq_dev_barrier(); // The last tile's stages have been read.
  storeStep(&s, t, 0, steps, take, stageAt(shape, 0), shape.width);
  take = nextSlot(shape, take);
  if (shape.wgmma)
    gq_dev_fence_async();
  gq_dev_barrier();
  uint32_t block = p->format == GQ_FORMAT_NONE
                       ? 32
                       : (uint32_t)gqFormatGetTraits(p->format).blockColumns;
  // A step is multiplied in parts, so that each ends where a block may.
  uint32_t parts = scaled || block >= STEP ? 1 : STEP / block;
  uint32_t step = 0, index = 0;
  // At least once: wgmma's sums must not merge with zeros behind the loop.
  do {
    Stage stage = stageAt(shape, index);
    index = index + 1 == shape.stages ? 0 : index + 1;
    UNROLL for (uint32_t part = 0; part < 2; ++part) {
      if (part >= parts)
        continue;
      bool begins = scaled ? step == 0 : block <= STEP || step % 2 == 0;
      bool ends =
          !scaled && (block <= STEP || step % 2 == 1 || step + 1 == steps);
      multiply(d, !begins, stage, shape, part * (4 / parts), 4 / parts);
      if (part == 0) {
        if (shape.wgmma)
          GQ_DEV_WGMMA_WAIT(1); // what read the next stage last
        copyStep(&s, t, step + shape.ring, steps, give, shape.width);
        give = nextSlot(shape, give);
        waitForStep(shape);
        storeStep(&s, t, step + 1, steps, take, stageAt(shape, index),
                  shape.width);
        take = nextSlot(shape, take);
      }
      if (ends) {
        if (shape.wgmma)
          GQ_DEV_WGMMA_WAIT(0);
        promote(p->format, blocks, d, stage, part);
      }
    }
    if (shape.wgmma)
      gq_dev_fence_async();
    gq_dev_barrier();
  } while (++step < steps);
  if (shape.wgmma)
    GQ_DEV_WGMMA_WAIT(0);
  storeTile(p, t, shape.width, scaled ? d : blocks);
}

GQ_DEV void multiplyTiles(const Problem *p, bool wgmma) {
  Shape shape = {
      .width = gq_dev_grouped_wgrad_width(p->format, wgmma),
      .stages = gq_dev_grouped_wgrad_stages(wgmma),
      .ring = gq_dev_grouped_wgrad_ring(wgmma),
      .copied = gq_dev_grouped_wgrad_copied(p->format, wgmma),
      .wgmma = wgmma,
  };
  Place GQ_SHARED *places = placesOf(shape);
  makePlaces(p, places);
  uint32_t each = tilesOf(p->n, HEIGHT) * tilesOf(p->k, shape.width);
  if (each == 0)
    return;
  uint32_t e = 0, index = gq_dev_cta();
  while (true) {
    NO_UNROLL for (; e < p->groups && index >= each; index -= each)++ e;
    if (e >= p->groups)
      break;
    Tile t = findTile(p, places, e, index, shape.width);
    multiplyTile(p, &t, shape);
    index += gq_dev_num_ctas();
  }
}

#endif // GQ_KERNELS_KERNELS_GROUPED_WGRAD_MULTIPLY_H
