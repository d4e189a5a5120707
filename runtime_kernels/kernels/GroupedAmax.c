//===- GroupedAmax.c - the kernel of largest magnitudes -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The jobs of the kernel of tiles, loaded as there, but nothing is quantized:
// lanes measure rows and columns as if each row and column of a job were a
// block, and thread i combines row i and column i and raises what is in memory.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/AmaxGroups.h"
#include "runtime_kernels/kernels/tiles/LongBlocks.h"
#include "runtime_kernels/kernels/tiles/Loop.h"
#include "runtime_kernels/transforms/Hadamard.h"

/// Where the results go.
typedef struct Results {
  uint32_t GQ_GLOBAL *amax, *columnwise, *rows, *columns;
  int32_t parts;
} Results;

/// Raises a word, which is at least 0.
GQ_DEV void raise(bool wanted, uint32_t GQ_GLOBAL *p, float amax) {
  if (wanted && amax > 0.0f)
    gq_dev_atomic_max(p, gq_dev_f32_bits(amax));
}

/// A lane's elements of a column, `x` of each row, through a Hadamard transform
/// of 16 rows, as gq_dev_hadamard16 has it, but for its last step, between
/// elements 8 apart. Those of rows that other lanes have are exchanged. All
/// lanes take part.
GQ_DEV void transformColumn(const Op *o, Place place, uint32_t signs,
                            float x[ROWS]) {
  uint32_t own = signs >> place.row % GQ_DEV_HADAMARD_SIZE;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    x[r] = gq_dev_f32_from_bits(gq_dev_f32_bits(x[r]) ^ (own >> r & 1) << 31);
#pragma clang loop unroll(full)
  for (uint32_t stride = 1; stride < GQ_DEV_HADAMARD_SIZE / 2; stride *= 2) {
    uint32_t down = stride / rowsOfLane(o);
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r) {
      if (down == 0 && !(r & stride)) {
        float a = x[r], b = x[r | stride];
        x[r] = a + b;
        x[r | stride] = a - b;
      } else if (down > 0 && r < rowsOfLane(o)) {
        float other = gq_dev_f32_from_bits(
            gq_dev_shuffle_xor(gq_dev_f32_bits(x[r]), down * lanesAcross(o)));
        x[r] = place.down & down ? other - x[r] : x[r] + other;
      }
    }
  }
}

/// The largest magnitude of one of a lane's two columns, the second one if
/// `second`, after the last step: its partner, `distance` lanes away, has the
/// other rows of both, and takes the other column. The larger one of |a + b|
/// and |a - b| is |a| + |b|. All lanes take part.
GQ_DEV float amaxOfSums(const Op *o, bool second, uint32_t distance,
                        const float x[2][ROWS]) {
  float max = 0.0f;
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o)) {
      float given = second ? x[0][r] : x[1][r];
      float other = gq_dev_f32_from_bits(
          gq_dev_shuffle_xor(gq_dev_f32_bits(given), distance));
      max = gq_dev_max_number(max, __builtin_fabsf(second ? x[1][r] : x[0][r]) +
                                       __builtin_fabsf(other));
    }
  return max;
}

/// The largest magnitudes of a warp's columns after the transform. Rounding
/// keeps an order, so that the largest one is rounded alone. All lanes take
/// part.
GQ_DEV void measureTransformed(const Op *o, const Job GQ_SHARED *job,
                               uint32_t pass, uint32_t signs,
                               const Held *held) {
  Place place = placeOfLane(o, job, pass);
  uint32_t perWord = gq_dev_elements_per_word(o->heldType);
  uint32_t partner = GQ_DEV_HADAMARD_SIZE / 2 / rowsOfLane(o);
  bool second = place.down & partner;
  float GQ_SHARED *columns =
      &columnAmax[place.row / rowsOfWarp(o)][place.column + second];
#pragma clang loop unroll(full)
  for (uint32_t pair = 0; pair < GQ_DEV_UNIT / 2; ++pair) {
    float x[2][ROWS] = {{0}};
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o)) {
        const uint32_t *words = held->words[r] + pair * 2 / perWord;
        float both[2] = {0.0f, 0.0f};
        gq_dev_unpack(o->heldType, words[0], both);
        if (perWord == 1)
          both[1] = gq_dev_f32_from_bits(words[1]);
        x[0][r] = both[0];
        x[1][r] = both[1];
      }
    transformColumn(o, place, signs, x[0]);
    transformColumn(o, place, signs, x[1]);
    float max = amaxOfSums(o, second, partner * lanesAcross(o), x);
#pragma clang loop unroll(full)
    for (uint32_t down = 1; down < LANES_DOWN; down *= 2)
      if (down != partner)
        max = gq_dev_max_number(
            max, gq_dev_f32_from_bits(gq_dev_shuffle_xor(
                     gq_dev_f32_bits(max), down * lanesAcross(o))));
    if ((place.down & ~partner) == 0)
      columns[pair * 2] = gq_dev_hadamard_rounded(max);
  }
}

/// Raises the results by what the lanes have measured of a job. All threads
/// take part.
GQ_DEV void raiseResults(const Op *o, const Results *results,
                         const Job GQ_SHARED *job) {
  uint32_t thread = gq_dev_here(gq_dev_thread());
  float amax = 0.0f;
  if (o->rowwise.exists) {
    amax = gq_dev_max_number(rowAmax[0][thread], rowAmax[1][thread]);
    raise(results->parts & GQ_DEV_AMAX_OF_ROWS && thread < job->rows,
          results->rows + job->inputRow + thread, amax);
  }
  if (o->columnwise.exists) {
    float column = 0.0f;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; ++i)
      if (i < TILE / rowsOfWarp(o))
        column = gq_dev_max_number(column, columnAmax[i][thread]);
    raise(results->parts & GQ_DEV_AMAX_OF_COLUMNS && job->group >= 0 &&
              thread < job->columns,
          results->columns + job->group * o->columns + job->inputColumn +
              thread,
          column);
    if (results->parts & GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS) {
      uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(column));
      raise(gq_dev_is_first_lane() && job->group >= 0,
            results->columnwise + job->group, gq_dev_f32_from_bits(bits));
    }
    amax = o->rowwise.exists ? amax : column;
  }
  if (results->parts & GQ_DEV_AMAX_OF_GROUPS) {
    uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(amax));
    raise(gq_dev_is_first_lane() && job->group >= 0, results->amax + job->group,
          gq_dev_f32_from_bits(bits));
  }
}

/// A direction with blocks as long as a job, and without outputs.
GQ_DEV Direction measuredDirection(bool exists, gqElementType heldType) {
  return (Direction){
      .exists = exists,
      .traits = gqFormatGetTraits(GQ_DEV_AMAX_FORMAT),
      .heldType = heldType,
      .scaler = {.format = GQ_DEV_AMAX_FORMAT},
      .outerKind = GQ_OUTER_NONE,
      .scalesSize = INT64_MAX,
  };
}

GQ_DEV_KERNEL void
gq_dev_grouped_amax(GQ_DEV_PARAMETERS(GQ_GROUPED_AMAX_OPERANDS)) {
  if (gq_dev_is_noop(noopFlag))
    return;
  bool ofColumns =
      parts & (GQ_DEV_AMAX_OF_COLUMNS | GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS);
  bool transforms = transform == GQ_TRANSFORM_HADAMARD16;
  bool ofRaw = parts & GQ_DEV_AMAX_OF_ROWS ||
               (parts & GQ_DEV_AMAX_OF_GROUPS && (!ofColumns || transforms));
  Op op = {
      .load = load,
      .inputs = inputs,
      .rows = rows,
      .columns = columns,
      .rowIndices = rowIndices,
      .sourceRows = sourceRows,
      .groups = (uint32_t)groups,
      .format = GQ_DEV_AMAX_FORMAT,
      .rowIndexBits = rowIndexBits,
      .heldType = (gqElementType)heldType,
      .rowwise = measuredDirection(ofRaw, (gqElementType)heldType),
      .columnwise =
          measuredDirection(ofColumns && !transforms, (gqElementType)heldType),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
      .allGroups = amaxGroupsOf(offsets, firstDims, lastDims, groups, rows,
                                columns, offsetBits, parts),
      .ragged = parts & GQ_DEV_RAGGED,
      .allRows = rowsMode == GQ_ROWS_ALL && parts & GQ_DEV_AMAX_OF_ROWS,
  };
  Op measured = op;
  measured.columnwise.exists = ofColumns;
  const Results results = {amax, columnwiseAmax, rowAmax, columnAmax, parts};
  Plan plan = makePlan(&op);
  if (sharedFaults && gq_dev_cta() == 0 && gq_dev_thread() == 0)
    gq_dev_atomic_or(status, sharedFaults);
  beginJobs(&op, &plan);
  for (uint32_t n = 0; n < kept.jobs; ++n) {
    const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
#pragma clang loop unroll(disable)
    for (uint32_t pass = 0; pass < numPasses(&op); ++pass) {
      Held held = takeElements(&op, n, pass);
      measureLane(&op, job, pass, n % 2, &held);
      if (transforms && ofColumns)
        measureTransformed(&op, job, pass, (uint32_t)signs, &held);
    }
    gq_dev_barrier();
    raiseResults(&measured, &results, job);
    findMoreJobs(&op, n);
    gq_dev_barrier();
  }
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}
