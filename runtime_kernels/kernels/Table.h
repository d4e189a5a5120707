//===- Table.h - a function of one input, tabulated --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a producer computes of one input of bf16 alone, such as silu, a CTA can
// compute once for each number that is likely, in shared memory: then an
// element is looked up. Same bits, since the same function makes the table.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_TABLE_H
#define GQ_KERNELS_KERNELS_TABLE_H

#include <stdint.h>

/// Computes four elements of the function, as the lowering generates it.
typedef void gq_dev_tabulated(float x0, float x1, float x2, float x3,
                              float values[4]);

/// Fills the CTA's table. All threads take part; the table is there after it.
void gq_dev_fill_table(gq_dev_tabulated *function);

/// Looks up 16 elements, in words of two. If 0 is returned, values may be
/// wrong: the magnitude of one that is not 0 is not in [2^-23, 64), or one is
/// -0.
uint32_t gq_dev_look_up16(const uint32_t words[8], float values[16]);

#endif // GQ_KERNELS_KERNELS_TABLE_H
