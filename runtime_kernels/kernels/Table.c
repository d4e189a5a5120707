//===- Table.c - a function of one input, tabulated -----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Table.h"

#include "runtime_kernels/arch/Nvptx.h"
#include "runtime_kernels/kernels/Kernels.h"

enum {
  /// The numbers of a table, as bf16 rotated left by one bit: their magnitudes
  /// from 2^-23 up to 64, and the sign last.
  FIRST = (127 - 23) << 8,
  ENTRIES = (23 + 6) << 8,
};

_Static_assert(ENTRIES * sizeof(float) < 1 << 16, "16 bits say where");

/// The values of FIRST + i; then that of 0, and of what is computed with it.
static GQ_SHARED _Alignas(16) float table[ENTRIES + 4] GQ_UNINITIALIZED;

/// The number whose bits rotated by one are `rotated`.
GQ_DEV float numberOf(uint32_t rotated) {
  return gq_dev_f32_from_bits((rotated >> 1 | rotated << 15) << 16);
}

GQ_DEV_KERNEL void gq_dev_fill_table(gq_dev_tabulated *function) {
#pragma clang loop unroll(disable)
  for (uint32_t i = gq_dev_thread(); i <= ENTRIES / 4;
       i += gq_dev_num_threads()) {
    uint32_t first = i < ENTRIES / 4 ? FIRST + 4 * i : 0;
    float values[4];
    function(numberOf(first), numberOf(first + 1), numberOf(first + 2),
             numberOf(first + 3), values);
    for (int k = 0; k < 4; ++k)
      table[4 * i + k] = values[k];
  }
  gq_dev_barrier();
}

/// The float that begins at a byte, a multiple of 4. Of a parameter clang does
/// not know that it is the table, of which it would say the same of any byte.
GQ_DEV float floatAt(const uint8_t GQ_SHARED *p, uint32_t byte) {
  return *(const float GQ_SHARED *)(p + byte);
}

GQ_DEV_KERNEL uint32_t gq_dev_look_up16(const uint32_t words[8],
                                        float values[16]) {
  const uint8_t GQ_SHARED *p = (const uint8_t GQ_SHARED *)table;
  const uint32_t both = 0x00010001;
  // The largest number, and the smallest one but 0, each less 1.
  uint32_t largest = 0, smallest = ~0u;
#pragma clang loop unroll(full)
  for (int i = 0; i < 8; ++i) {
    uint32_t rotated = gq_dev_select_bits(~both, words[i] << 1, words[i] >> 15);
    largest = gq_dev_max_u16x2(largest, rotated);
    smallest = gq_dev_add_min_u16x2(rotated, 0xffff * both, smallest);
    // What is outside, 0 too, has the value of 0.
    uint32_t index =
        gq_dev_add_min_u16x2(rotated, (0x10000 - FIRST) * both, ENTRIES * both);
    // Of both halves, below 2^16. Hidden, or each would be shifted by itself.
    uint32_t bytes = gq_dev_here(index * sizeof(float));
    values[2 * i] = floatAt(p, bytes & 0xffff);
    values[2 * i + 1] = floatAt(p, bytes >> 16);
  }
  const uint32_t least = (FIRST - 1) * both,
                 most = (FIRST + ENTRIES - 1) * both;
  bool small = gq_dev_max_u16x2(smallest, least) != smallest;
  bool large = gq_dev_min_u16x2(largest, most) != largest;
  return !small && !large;
}
