//===- Store.h - what a job stores at its end --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scales, which a job has collected in shared memory, leave it here; and what
// leaves bytewise.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TILES_STORE_H
#define GQ_KERNELS_KERNELS_TILES_STORE_H

#include "runtime_kernels/kernels/tiles/Lanes.h"

/// Where largest magnitudes go. Kept like what the loop keeps.
static volatile GQ_SHARED struct {
  float GQ_GLOBAL *amax;
} partial GQ_UNINITIALIZED;

/// Stores the sum of a column of a job. As what adds tiles up has it, -0 is 0.
GQ_DEV void storeJobSum(const Op *o, const Job GQ_SHARED *job, uint32_t column,
                        float sum) {
  gqElementType type = job->hasGroupSums ? o->dbiasType : GQ_F32;
  storeSum(job->sums, type, column, sum + 0.0f);
}

/// Stores the first `count` bytes of `words`, all at once if `aligned` and
/// there are `full`, 4, 8 or 16, of them.
GQ_DEV void storeBytes(uint8_t GQ_GLOBAL *p, const uint32_t words[4],
                       uint32_t count, uint32_t full, bool aligned) {
  if (__builtin_expect(aligned && count == full, 1)) {
    if (full == 16)
      *(gq_dev_u32x4 GQ_GLOBAL *)p =
          (gq_dev_u32x4){words[0], words[1], words[2], words[3]};
    else if (full == 8)
      *(gq_dev_u32x2 GQ_GLOBAL *)p = (gq_dev_u32x2){words[0], words[1]};
    else
      *(uint32_t GQ_GLOBAL *)p = words[0];
    return;
  }
  // Rare, and so short: code that is not executed is loaded all the same. Words
  // are chosen when they are in registers, not their addresses, which would put
  // them into local memory.
  const uint32_t w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3];
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < full && i < count; ++i) {
    uint32_t low = i & 4 ? w1 : w0, high = i & 4 ? w3 : w2;
    p[i] = (uint8_t)((i & 8 ? high : low) >> i % 4 * 8);
  }
}

GQ_DEV bool isAligned(const void GQ_GLOBAL *p, int64_t stride, uint32_t unit) {
  return (((uint64_t)p | (uint64_t)stride) & (unit - 1)) == 0;
}

/// Stores the scales of a job that are in shared memory: tiles of 512 bytes, or
/// a row for each of `rows` threads.
GQ_DEV void storeScales(const Direction *d, const JobOutput GQ_SHARED *to,
                        uint32_t rows, const gq_dev_u32x4 GQ_SHARED *from,
                        uint32_t thread) {
  if (d->tiled) {
    if (thread * 16 < to->scaleBytes) {
      gq_dev_u32x4 words = from[thread];
      uint32_t w[4] = {words.x, words.y, words.z, words.w};
      storeBytes(to->scales + thread * 16, w, 16, 16,
                 isAligned(to->scales, 0, 16));
    }
    return;
  }
  uint32_t full = numScaleColumns(d);
  if (thread < rows) {
    const uint32_t GQ_SHARED *p =
        (const uint32_t GQ_SHARED *)from + thread * (full / 4);
    uint32_t w[4] = {p[0], full == 8 ? p[1] : 0};
    uint8_t GQ_GLOBAL *row = to->scales + thread * to->scalesPitch;
    storeBytes(row, w, to->scaleBytes, full, isAligned(row, 0, full));
  }
}

#endif // GQ_KERNELS_KERNELS_TILES_STORE_H
