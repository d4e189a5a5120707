//===- Hostile.h - offsets that are not as they must be ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of ../Hostile.def in C. What must become of it each test writes down
// once more: of the kernels what runtime_kernels/groups/Faults.h says, of the
// CPU that it writes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_HOSTILE_H
#define GQ_TEST_GPU_HOSTILE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  HOSTILE_GROUPS = 0
#define HOSTILE_GROUP(...) +1
#include "../Hostile.def"
  ,
  /// Those of all groups.
  HOSTILE_GROUPED_ROWS = 0
#define HOSTILE_GROUP(ROWS, ...) +ROWS
#include "../Hostile.def"
  ,
  HOSTILE_ROWS = HOSTILE_GROUPED_ROWS + 5,
  HOSTILE_SCALE_ROWS = 640,
};

static const int64_t hostileRows[HOSTILE_GROUPS] = {
#define HOSTILE_GROUP(ROWS, ...) ROWS,
#include "../Hostile.def"
};
static const int64_t hostileOffsets[HOSTILE_GROUPS + 1] = {
#define HOSTILE_GROUP(ROWS, OFFSET, ...) OFFSET,
#include "../Hostile.def"
    HOSTILE_GROUPED_ROWS};
static const int64_t hostileScaleOffsets[HOSTILE_GROUPS] = {
#define HOSTILE_GROUP(ROWS, OFFSET, SCALE_OFFSET) SCALE_OFFSET,
#include "../Hostile.def"
};

/// What is changed.
typedef enum HostileArray {
  HOSTILE_NOTHING,
  HOSTILE_OFFSETS,
  HOSTILE_SCALE_OFFSETS,
  HOSTILE_FIRST_DIMS,
  HOSTILE_LAST_DIMS,
  HOSTILE_SCALES,
  HOSTILE_COLUMNWISE_DATA,
  HOSTILE_COLUMNWISE_SCALES,
} HostileArray;

typedef struct HostileChange {
  HostileArray array;
  int entry;
  int64_t value;
} HostileChange;

typedef struct HostileCase {
  const char *name;
  /// Up to the first of nothing.
  HostileChange changes[HOSTILE_GROUPS + 2];
} HostileCase;

#define HUGE INT64_MAX
#define CHANGE(ARRAY, ENTRY, VALUE) {HOSTILE_##ARRAY, ENTRY, VALUE}
static const HostileCase hostileCases[] = {
#define HOSTILE_CASE(NAME, ...) {NAME, {__VA_ARGS__}},
#include "../Hostile.def"
};
#undef CHANGE
#undef HUGE

enum { NUM_HOSTILE_CASES = sizeof(hostileCases) / sizeof(*hostileCases) };

/// Whether nothing is changed.
static inline bool hostileIsSound(const HostileCase *c) {
  return c->changes[0].array == HOSTILE_NOTHING;
}

/// The value of a change to integers of so many bits.
static inline int64_t hostileValue(int64_t value, int bits) {
  int64_t huge = bits == 64 ? INT64_C(1) << 62 : INT64_C(1) << 30;
  return value == INT64_MAX ? huge : value == -INT64_MAX ? -huge : value;
}

#endif // GQ_TEST_GPU_HOSTILE_H
