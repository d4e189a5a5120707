//===- Hostile.h - offsets that are not as they must be ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One list for the kernels of rows, of tiles and of scales: changes to a
// problem of four groups. What must become of it is what
// runtime_kernels/groups/Faults.h says, written down a second time by each
// test.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_HOSTILE_H
#define GQ_TEST_GPU_HOSTILE_H

#include <stdint.h>

enum {
  HOSTILE_GROUPS = 4,
  /// Five of them in no group.
  HOSTILE_ROWS = 265,
  HOSTILE_SCALE_ROWS = 640,
};

static const int64_t hostileRows[HOSTILE_GROUPS] = {70, 0, 130, 60};
static const int64_t hostileOffsets[HOSTILE_GROUPS + 1] = {0, 70, 70, 200, 260};
static const int64_t hostileScaleOffsets[HOSTILE_GROUPS] = {0, 128, 256, 512};

/// What is changed: an entry of an array or, where groups follow each other in
/// an output, its size, so that group `entry` lacks its last scale or byte.
typedef enum HostileArray {
  HOSTILE_OFFSETS,
  HOSTILE_SCALE_OFFSETS,
  HOSTILE_FIRST_DIMS,
  HOSTILE_LAST_DIMS,
  HOSTILE_SCALES,
  HOSTILE_COLUMNWISE_DATA,
  HOSTILE_COLUMNWISE_SCALES,
} HostileArray;

typedef struct HostileCase {
  const char *name;
  int count;
  struct {
    HostileArray array;
    int entry;
    int64_t value;
  } changes[HOSTILE_GROUPS + 1];
} HostileCase;

/// Stands for 2^62 or, of i32, 2^30.
#define HUGE_OFFSET INT64_MAX

static const HostileCase hostileCases[] = {
    {"well-behaved", 0, {{0}}},
    {"first negative", 1, {{HOSTILE_OFFSETS, 0, -5}}},
    {"one very negative", 1, {{HOSTILE_OFFSETS, 2, -HUGE_OFFSET}}},
    {"one huge", 1, {{HOSTILE_OFFSETS, 1, HUGE_OFFSET}}},
    {"first beyond", 1, {{HOSTILE_OFFSETS, 0, HUGE_OFFSET}}},
    {"last beyond", 1, {{HOSTILE_OFFSETS, 4, HUGE_OFFSET}}},
    {"last just beyond", 1, {{HOSTILE_OFFSETS, 4, HOSTILE_ROWS + 1}}},
    {"all huge",
     5,
     {{HOSTILE_OFFSETS, 0, HUGE_OFFSET},
      {HOSTILE_OFFSETS, 1, HUGE_OFFSET},
      {HOSTILE_OFFSETS, 2, HUGE_OFFSET},
      {HOSTILE_OFFSETS, 3, HUGE_OFFSET},
      {HOSTILE_OFFSETS, 4, HUGE_OFFSET}}},
    {"decreasing", 1, {{HOSTILE_OFFSETS, 2, 30}}},
    {"nearly back to 0", 1, {{HOSTILE_OFFSETS, 3, 1}}},
    {"last decreasing", 1, {{HOSTILE_OFFSETS, 4, 190}}},
    {"up and down", 2, {{HOSTILE_OFFSETS, 1, 200}, {HOSTILE_OFFSETS, 3, 40}}},
    {"scales not aligned", 1, {{HOSTILE_SCALE_OFFSETS, 2, 257}}},
    {"scales negative", 1, {{HOSTILE_SCALE_OFFSETS, 0, -128}}},
    {"scales of an empty group", 1, {{HOSTILE_SCALE_OFFSETS, 1, -1}}},
    {"scales beyond", 1, {{HOSTILE_SCALE_OFFSETS, 3, HOSTILE_SCALE_ROWS}}},
    {"scales huge",
     2,
     {{HOSTILE_SCALE_OFFSETS, 1, HUGE_OFFSET},
      {HOSTILE_SCALE_OFFSETS, 3, -HUGE_OFFSET}}},
    {"scales overlap", 1, {{HOSTILE_SCALE_OFFSETS, 2, 0}}},
    {"offsets and scales",
     2,
     {{HOSTILE_OFFSETS, 4, HOSTILE_ROWS + 1}, {HOSTILE_SCALE_OFFSETS, 0, 64}}},
    {"first dim huge", 1, {{HOSTILE_FIRST_DIMS, 0, HUGE_OFFSET}}},
    {"first dim negative", 1, {{HOSTILE_FIRST_DIMS, 2, -1}}},
    {"last dim huge", 1, {{HOSTILE_LAST_DIMS, 2, HUGE_OFFSET}}},
    {"last dim odd", 1, {{HOSTILE_LAST_DIMS, 3, 97}}},
    {"last dim negative", 1, {{HOSTILE_LAST_DIMS, 3, -32}}},
    {"scales too small", 1, {{HOSTILE_SCALES, 2, 0}}},
    {"last scale missing", 1, {{HOSTILE_SCALES, 3, 0}}},
    {"columnwise data too small", 1, {{HOSTILE_COLUMNWISE_DATA, 2, 0}}},
    {"columnwise scales too small", 1, {{HOSTILE_COLUMNWISE_SCALES, 2, 0}}},
    {"offsets and sizes",
     2,
     {{HOSTILE_OFFSETS, 0, -5}, {HOSTILE_COLUMNWISE_SCALES, 3, 0}}},
};

enum { NUM_HOSTILE_CASES = sizeof(hostileCases) / sizeof(*hostileCases) };

/// The value of a change to integers of so many bits.
static inline int64_t hostileValue(int64_t value, int bits) {
  int64_t huge = bits == 64 ? INT64_C(1) << 62 : INT64_C(1) << 30;
  return value == HUGE_OFFSET ? huge : value == -HUGE_OFFSET ? -huge : value;
}

#endif // GQ_TEST_GPU_HOSTILE_H
