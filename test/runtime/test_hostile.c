//===- test_hostile.c - offsets that are not as they must be --------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list that the kernels are tested with. On the CPU an op refuses all of
// it, names what is wrong and writes nothing.
//
//===----------------------------------------------------------------------===//

#include "../gpu/device/Hostile.h"
#include "Problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 160, SCALE_COLUMNS = COLUMNS / 16, SCALE_STRIDE = 12, N_ = 8 };

/// The ops, and the kinds of groups of gq.grouped_block_quantize.
typedef enum Kind {
  GIVEN,
  PACKED,
  BOTH,
  RAGGED,
  LAYOUT,
  MATMUL,
  GRADIENT,
} Kind;

/// The outputs, in the order of HostileArray.
enum { SCALES, COLUMNWISE_DATA, COLUMNWISE_SCALES, DATA, NUM_OUTPUTS };

/// What an entry of the list changes.
typedef struct Hostile {
  Kind kind;
  gqElementType type;
  /// Offsets, scale offsets, first and last dimensions: integers of `type`.
  int64_t integers[4][HOSTILE_GROUPS + 1];
  /// Of one element, or a row of scales in tiles, up to and with each group.
  int64_t needed[3][HOSTILE_GROUPS];
  int64_t sizes[3];
} Hostile;

static void store(Hostile *h, HostileArray array, int entry, int64_t value) {
  void *integers = h->integers[array - HOSTILE_OFFSETS];
  if (h->type == GQ_I64)
    ((int64_t *)integers)[entry] = hostileValue(value, 64);
  else
    ((int32_t *)integers)[entry] = (int32_t)hostileValue(value, 32);
}

static int64_t lastDimOf(Kind kind, int e) {
  static const int64_t ragged[HOSTILE_GROUPS] = {160, 32, 64, 96};
  return kind == RAGGED ? ragged[e] : COLUMNS;
}

static Hostile hostileNew(Kind kind, gqElementType type) {
  Hostile h = {.kind = kind, .type = type};
  int64_t begin = 0, sizes[3] = {0};
  for (int e = 0; e < HOSTILE_GROUPS; ++e) {
    int64_t m = hostileRows[e], k = lastDimOf(kind, e);
    store(&h, HOSTILE_OFFSETS, e, kind == RAGGED ? begin : hostileOffsets[e]);
    store(&h, HOSTILE_SCALE_OFFSETS, e, hostileScaleOffsets[e]);
    store(&h, HOSTILE_FIRST_DIMS, e, m);
    store(&h, HOSTILE_LAST_DIMS, e, k);
    begin += m * k;
    // In tiles; groups of rows have a matrix of them.
    sizes[SCALES] += up(m, 128) * (kind == RAGGED ? up(k / 16, 4) : 1);
    sizes[COLUMNWISE_DATA] += k * up(m, 32) / 2;
    sizes[COLUMNWISE_SCALES] += up(k, 128) * up(up(m, 32) / 16, 4);
    for (int i = 0; i < 3; ++i)
      h.needed[i][e] = sizes[i];
  }
  store(&h, HOSTILE_OFFSETS, HOSTILE_GROUPS,
        kind == RAGGED ? begin : HOSTILE_GROUPED_ROWS);
  memcpy(h.sizes, sizes, sizeof(sizes));
  if (kind != PACKED && kind != BOTH && kind != RAGGED)
    h.sizes[SCALES] = HOSTILE_SCALE_ROWS;
  return h;
}

/// Makes the change; false if the op has nothing of what is changed.
static bool change(Hostile *h, const HostileCase *c) {
  bool columnwise = h->kind == BOTH || h->kind == RAGGED;
  bool packed = h->kind == PACKED || columnwise;
  for (const HostileChange *i = c->changes; i->array; ++i) {
    bool has = i->array == HOSTILE_OFFSETS ? true
               : i->array == HOSTILE_SCALE_OFFSETS
                   ? !packed && h->kind != GRADIENT
               : i->array == HOSTILE_SCALES ? packed
               : i->array > HOSTILE_SCALES  ? columnwise
                                            : h->kind == RAGGED;
    if (!has)
      return false;
    if (i->array < HOSTILE_SCALES) {
      store(h, i->array, i->entry, i->value);
      continue;
    }
    int output = i->array - HOSTILE_SCALES;
    // Scales of groups of rows are whole tiles.
    int64_t less = output == SCALES && h->kind != RAGGED ? 128 : 1;
    h->sizes[output] = h->needed[output][i->entry] - less;
  }
  return true;
}

/// Runs the op, whose outputs are `outputs`.
static void run(Hostile *h, void *input, const Memory *outputs) {
  bool ragged = h->kind == RAGGED;
  int64_t columnwise = h->kind == BOTH || ragged;
  int64_t elements = 0;
  for (int e = 0; e < HOSTILE_GROUPS; ++e)
    elements += hostileRows[e] * lastDimOf(h->kind, e);
  gqBuffer offsets = vector(h->integers[0], h->type, HOSTILE_GROUPS + 1);
  gqBuffer scaleOffsets = vector(h->integers[1], h->type, HOSTILE_GROUPS);
  gqBuffer scales = matrix(outputs[SCALES].bytes, GQ_F8E4M3FN, h->sizes[SCALES],
                           SCALE_STRIDE);
  gqBuffer data = matrix(outputs[DATA].bytes, GQ_I8, HOSTILE_ROWS, COLUMNS / 2);
  gqGroupedBlockQuantizeOperands quantize = {
      .input = ragged ? vector(input, GQ_F32, elements)
                      : matrix(input, GQ_F32, HOSTILE_ROWS, COLUMNS),
      .offsets = offsets,
      .data = ragged ? vector(outputs[DATA].bytes, GQ_I8, elements / 2) : data,
      .scales =
          ragged ? vector(outputs[SCALES].bytes, GQ_F8E4M3FN, h->sizes[SCALES])
                 : scales,
  };
  if (h->kind == GIVEN)
    quantize.scaleOffsets = scaleOffsets;
  if (ragged) {
    quantize.firstDims = vector(h->integers[2], h->type, HOSTILE_GROUPS);
    quantize.lastDims = vector(h->integers[3], h->type, HOSTILE_GROUPS);
  }
  if (columnwise) {
    quantize.columnwiseData = vector(outputs[COLUMNWISE_DATA].bytes, GQ_I8,
                                     h->sizes[COLUMNWISE_DATA]);
    quantize.columnwiseScales =
        vector(outputs[COLUMNWISE_SCALES].bytes, GQ_F8E4M3FN,
               h->sizes[COLUMNWISE_SCALES]);
  }
  gqPreprocessGroupedMatmulSfOperands layout = {
      .input = matrix(input, GQ_F8E4M3FN, HOSTILE_ROWS, SCALE_COLUMNS),
      .offsets = offsets,
      .scaleOffsets = scaleOffsets,
      .scales = scales,
  };
  // Codes and scales that are read may be anything, such as the input's bytes.
  gqGroupedMmOperands mm = {
      .a = matrix(input, GQ_I8, HOSTILE_ROWS, COLUMNS / 2),
      .b = cube(input, GQ_I8, HOSTILE_GROUPS, N_, COLUMNS / 2),
      .aScales = matrix(input, GQ_F8E4M3FN, HOSTILE_SCALE_ROWS, SCALE_STRIDE),
      .bScales = cube(input, GQ_F8E4M3FN, HOSTILE_GROUPS, 128, SCALE_STRIDE),
      .offsets = offsets,
      .scaleOffsets = scaleOffsets,
      .out = matrix(outputs[DATA].bytes, GQ_F32, HOSTILE_ROWS, N_),
  };
  // Of formats whose columnwise data is [M, N], as there are so many rows.
  gqBuffer columnwiseData = matrix(input, GQ_F8E4M3FN, HOSTILE_ROWS, 32);
  gqBuffer columnwiseScales = vector(input, GQ_F8E8M0FNU, 128 * 64);
  gqGroupedWgradOperands gradient = {
      .a = columnwiseData,
      .b = columnwiseData,
      .aScales = columnwiseScales,
      .bScales = columnwiseScales,
      .offsets = offsets,
      .out = cube(outputs[DATA].bytes, GQ_F32, HOSTILE_GROUPS, 32, 32),
  };
  if (h->kind == LAYOUT)
    gqCpuPreprocessGroupedMatmulSf(&layout, GQ_FORMAT_NVFP4,
                                   GQ_SCALE_LAYOUT_TILE128X4);
  else if (h->kind == MATMUL)
    gqCpuGroupedMm(&mm, GQ_FORMAT_NVFP4, GQ_FORMAT_NVFP4,
                   GQ_SCALE_LAYOUT_TILE128X4, GQ_MAJOR_K);
  else if (h->kind == GRADIENT)
    gqCpuGroupedWgrad(&gradient, GQ_FORMAT_MXFP8_E4M3, GQ_FORMAT_MXFP8_E4M3,
                      GQ_SCALE_LAYOUT_TILE128X4);
  else
    gqCpuGroupedBlockQuantize(&quantize, GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER,
                              GQ_SCALE_LAYOUT_TILE128X4, GQ_ROWS_ALL, 0, 0);
}

static bool isUntouched(const Memory *memory) {
  for (int64_t i = 0; i < memory->size; ++i)
    if (memory->bytes[i] != memory->poison)
      return false;
  return true;
}

static void testCase(Kind kind, gqElementType type, const HostileCase *c) {
  Hostile h = hostileNew(kind, type);
  if (!change(&h, c))
    return;
  float *input = calloc(HOSTILE_ROWS * COLUMNS, sizeof(float));
  for (int i = 0; i < HOSTILE_ROWS * COLUMNS; ++i)
    input[i] = (float)(int32_t)randomBits() * 0x1p-31f;
  Memory outputs[NUM_OUTPUTS];
  for (int i = 0; i < NUM_OUTPUTS; ++i)
    outputs[i] = memoryNew(HOSTILE_ROWS * COLUMNS, 0xa5);

  run(&h, input, outputs);
  gqStatus status = gqCpuStatus();
  bool sound = hostileIsSound(c);
  if (status != (sound ? GQ_OK : GQ_INVALID_OFFSETS))
    fail_msg("%s, op %d: %s", c->name, kind, gqStatusName(status));
  for (int i = 0; i < NUM_OUTPUTS && !sound; ++i)
    if (!isUntouched(&outputs[i]))
      fail_msg("%s, op %d: output %d is written", c->name, kind, i);
  if (sound && isUntouched(&outputs[kind == LAYOUT ? SCALES : DATA]))
    fail_msg("op %d writes nothing", kind);

  static const char *const names[] = {
      NULL,         "offsets[", "scale_offsets[",  "first_dims[",
      "last_dims[", "scales ",  "columnwise_data", "columnwise_scales"};
  const char *name = sound ? "" : names[c->changes[0].array];
  // Extents that are too large are those of a group.
  const char *message = sound ? "" : gqGetLastErrorMessage();
  if (!strstr(message, name) && !strstr(message, ": group "))
    fail_msg("%s, op %d: %s", c->name, kind, message);

  for (int i = 0; i < NUM_OUTPUTS; ++i)
    memoryFree(&outputs[i]);
  free(input);
}

static void testHostile(void **state) {
  (void)state;
  for (int kind = GIVEN; kind <= GRADIENT; ++kind)
    for (int i = 0; i < NUM_HOSTILE_CASES; ++i) {
      testCase((Kind)kind, GQ_I32, &hostileCases[i]);
      testCase((Kind)kind, GQ_I64, &hostileCases[i]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testHostile)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
