//===- GroupedAmax.c - the kernel of largest magnitudes -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The jobs of the kernel of tiles, loaded as there, but nothing is quantized.
// Without columns a warp does a job alone: its lanes keep the largest magnitude
// of what they load, raise rows after each pass and the group at the end. With
// columns, or if groups are ragged, lanes measure rows and columns as if each
// row and column of a job were a block, and thread i combines row i and column
// i and raises.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/AmaxGroups.h"
#include "runtime_kernels/kernels/tiles/Alone.h"
#include "runtime_kernels/kernels/tiles/LongBlocks.h"
#include "runtime_kernels/transforms/Hadamard.h"

/// What there is to measure, and where the results go.
typedef struct Results {
  uint32_t GQ_GLOBAL *amax, *columnwise, *rows, *columns;
  int32_t parts;
  /// Whether anything is of columns, and whether these are transformed first,
  /// with the signs of their rows.
  bool ofColumns, transforms;
  uint32_t signs;
} Results;

/// Raises a word, which is at least 0.
GQ_DEV void raise(bool wanted, uint32_t GQ_GLOBAL *p, float amax) {
  if (wanted && amax > 0.0f)
    gq_dev_atomic_max(p, gq_dev_f32_bits(amax));
}

/// Raises the word of a job's group, if it has one, by what lanes have. All
/// lanes take part.
GQ_DEV void raiseGroup(const Job GQ_SHARED *job, uint32_t GQ_GLOBAL *groups,
                       float amax) {
  uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(amax));
  raise(gq_dev_is_first_lane() && job->group >= 0, groups + job->group,
        gq_dev_f32_from_bits(bits));
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
  if (results->ofColumns) {
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
    if (results->parts & GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS)
      raiseGroup(job, results->columnwise, column);
    amax = o->rowwise.exists ? amax : column;
  }
  if (results->parts & GQ_DEV_AMAX_OF_GROUPS)
    raiseGroup(job, results->amax, amax);
}

/// Raises the rows of a warp's pass: of the lanes side by side, each has one of
/// their rows. All lanes take part.
GQ_DEV void raiseRows(const Op *o, const Results *results,
                      const Job GQ_SHARED *job, Place place,
                      uint32_t max[ROWS]) {
  uint32_t own = 0, across = place.column / columnsOfLane(o);
#pragma clang loop unroll(full)
  for (uint32_t r = 0; r < ROWS; ++r)
    if (r < rowsOfLane(o)) {
#pragma clang loop unroll(full)
      for (uint32_t lanes = 1; lanes < 8; lanes *= 2)
        max[r] = gq_dev_max_word(o->heldType, max[r],
                                 gq_dev_shuffle_xor(max[r], lanes));
      own = across == r ? max[r] : own;
    }
  uint32_t row = place.row + across;
  raise(across < rowsOfLane(o) && row < job->rows,
        results->rows + job->inputRow + row,
        gq_dev_amax_of_word(o->heldType, own));
}

/// Measures the warp's job number n. All lanes take part.
GQ_DEV void measureWarpJob(const Op *o, const Results *results, uint32_t n) {
  const Job GQ_SHARED *job = warpJob(n);
  uint32_t most = 0;
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < passesOf(o, job); ++pass) {
    const Held held = takeElementsOfWarp(o, n, pass);
    uint32_t max[ROWS];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rowsOfLane(o)) {
        max[r] = gq_dev_max_words(o->heldType, held.words[r], wordsOfLane(o));
        most = gq_dev_max_word(o->heldType, most, max[r]);
      }
    if (results->parts & GQ_DEV_AMAX_OF_ROWS)
      raiseRows(o, results, job, placeOfLane(o, job, pass), max);
  }
  if (results->parts & GQ_DEV_AMAX_OF_GROUPS)
    raiseGroup(job, results->amax, gq_dev_amax_of_word(o->heldType, most));
}

/// Measures the CTA's job number n. All threads take part.
GQ_DEV void measureJob(const Op *o, const Results *results, uint32_t n) {
  const Job GQ_SHARED *job = &jobs[n % (2 * BATCH)];
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < numPasses(o); ++pass) {
    Held held = takeElements(o, n, pass);
    measureLane(o, job, pass, n % 2, &held);
    if (results->transforms)
      measureTransformed(o, job, pass, results->signs, &held);
  }
  gq_dev_barrier();
  raiseResults(o, results, job);
  findMoreJobs(o, n);
  gq_dev_barrier();
}

/// Has the first lines of the matrix brought to L2, one by each thread, while
/// groups are summed up: nothing is written, so that memory has nothing else to
/// do. A copy to where nobody looks does it in less time than a prefetch
/// (Find.h).
GQ_DEV void touchFirstLines(const Op *o) {
  enum { LINE = 128 };
  static GQ_SHARED uint32_t copies[THREADS] GQ_UNINITIALIZED;
  const gq_dev_matrix *matrix = o->inputs;
  if (!gq_dev_only_loads(o->load) || o->gathers || o->ragged ||
      matrix->stride != o->columns)
    return;
  int64_t at = ((int64_t)gq_dev_cta() * THREADS + gq_dev_thread()) * LINE;
  if (at < o->rows * o->columns * gqElementTypeSize(o->heldType))
    gq_dev_begin_copy_word_of_line(
        &copies[gq_dev_thread()], (const uint8_t GQ_GLOBAL *)matrix->data + at);
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
  const Results results = {
      .amax = amax,
      .columnwise = columnwiseAmax,
      .rows = rowAmax,
      .columns = columnAmax,
      .parts = parts,
      .ofColumns = ofColumns,
      .transforms = ofColumns && transform == GQ_TRANSFORM_HADAMARD16,
      .signs = (uint32_t)signs,
  };
  bool ofRaw =
      parts & GQ_DEV_AMAX_OF_ROWS ||
      (parts & GQ_DEV_AMAX_OF_GROUPS && (!ofColumns || results.transforms));
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
      .columnwise = measuredDirection(ofColumns && !results.transforms,
                                      (gqElementType)heldType),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
      .allGroups = amaxGroupsOf(offsets, firstDims, lastDims, groups, rows,
                                columns, offsetBits, parts),
      .ragged = parts & GQ_DEV_RAGGED,
      .allRows = rowsMode == GQ_ROWS_ALL && parts & GQ_DEV_AMAX_OF_ROWS,
      .alone = gq_dev_measures_alone(parts),
  };
  op.isWide = hasWideWarps(&op);
  touchFirstLines(&op);
  Plan plan = makePlan(&op);
  if (sharedFaults && gq_dev_cta() == 0 && gq_dev_thread() == 0)
    gq_dev_atomic_or(status, sharedFaults);
  if (op.alone) {
    beginWarpJobs(&op, &plan);
    for (uint32_t n = 0; hasJob(n); ++n) {
      measureWarpJob(&op, &results, n);
      findMoreJobsOfWarp(&op, n);
    }
  } else {
    beginJobs(&op, &plan);
    for (uint32_t n = 0; n < keptLoop.jobs; ++n)
      measureJob(&op, &results, n);
  }
  gq_dev_wait_for_copies(); // Of what was touched, long ago.
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}
