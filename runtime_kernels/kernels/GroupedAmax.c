//===- GroupedAmax.c - the kernel of largest magnitudes -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The jobs of the kernel of tiles, each done by a warp alone, but nothing is
// quantized. Lanes keep the largest magnitudes of what they load, raise rows
// after each pass, and columns and groups after each job. If columns of 16-bit
// elements are transformed, lanes are tall, so that each has whole blocks of
// them.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/AmaxGroups.h"
#include "runtime_kernels/kernels/tiles/Alone.h"
#include "runtime_kernels/kernels/tiles/Transform.h"

enum {
  /// The most columns that are a lane's own in the end.
  OWN_COLUMNS = GQ_DEV_UNIT / 2,
};

/// What there is to measure, and where the results go.
typedef struct Results {
  uint32_t GQ_GLOBAL *amax, *columnwise, *rows, *columns;
  int32_t parts;
  /// Whether anything is of columns, and whether these are transformed first,
  /// with the signs of their rows.
  bool ofColumns, transforms;
  uint32_t signs;
} Results;

/// What a lane has found in a job.
typedef struct Found {
  /// The largest word of all.
  uint32_t all;
  /// The largest words of its columns, in the first row.
  Held columns;
  /// The largest magnitudes of its own columns after the transform, times 4: of
  /// all four of a tall lane, of every second one of others.
  float transformed[OWN_COLUMNS];
} Found;

/// Raises *p, the bits of a float that is not negative, to `amax`.
GQ_DEV void raise(bool wanted, uint32_t GQ_GLOBAL *p, float amax) {
  if (wanted && amax > 0.0f)
    gq_dev_atomic_max(p, gq_dev_f32_bits(amax));
}

/// Raises the word of a job's group, if it has one, by what lanes have. All
/// lanes take part.
GQ_DEV void raiseGroup(const Op *o, const Job GQ_SHARED *job,
                       uint32_t GQ_GLOBAL *groups, float amax) {
  uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(amax));
  raise(gq_dev_is_first_lane() && isInGroup(o, job->group), groups + job->group,
        gq_dev_f32_from_bits(bits));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The largest word of a lane's row number r.
GQ_DEV uint32_t maxOfRow(const Op *o, const Held *held, uint32_t r) {
  if (isTall(o))
    return gq_dev_max_word(o->heldType, *tallWord((Held *)held, r, 0),
                           *tallWord((Held *)held, r, 1));
  return gq_dev_max_words(o->heldType, held->words[r % ROWS], wordsOfLane(o));
}

/// Raises the rows of a pass: of two lanes side by side, 1, 2, 4 and so on
/// apart, each takes half of what both have, as long as there are several rows.
/// All lanes take part.
GQ_DEV void raiseRows(const Op *o, const Results *results,
                      const Job GQ_SHARED *job, Place place,
                      uint32_t max[WORDS]) {
  uint32_t across = place.column / columnsOfLane(o), row = place.row;
#pragma clang loop unroll(full)
  for (uint32_t distance = 1; distance < GQ_DEV_WARP; distance *= 2) {
    uint32_t half = rowsOfLane(o) / 2 / distance;
    if (distance >= lanesAcross(o))
      continue;
    if (half > 0) {
      halveMax(o, o->heldType, across & distance, distance, half, max);
      row += across & distance ? half : 0;
    } else {
      max[0] = gq_dev_max_word(o->heldType, max[0],
                               gq_dev_shuffle_xor(max[0], distance));
    }
  }
  raise(across < rowsOfLane(o) && row < job->rows,
        results->rows + job->inputRow + row,
        gq_dev_amax_of_word(o->heldType, max[0]));
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Raises a magnitude by those after the last step: the larger one of |a + b|
/// and |a - b| is |a| + |b|.
GQ_DEV float raisedBySum(float max, float a, float b) {
  return gq_dev_max_number(max, __builtin_fabsf(a) + __builtin_fabsf(b));
}

/// Raises those of a tall lane's columns.
GQ_DEV void measureTransformedTall(const Op *o, Place place, uint32_t signs,
                                   const Held *held, float max[OWN_COLUMNS]) {
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TALL_COLUMNS / 2; ++i) {
    float x[2][2][ROWS]; // Of two columns, the upper and the lower half.
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < TALL_ROWS; ++r) {
      float pair[2];
      gq_dev_unpack(o->heldType, *tallWord((Held *)held, r, i), pair);
      x[0][r / ROWS][r % ROWS] = pair[0];
      x[1][r / ROWS][r % ROWS] = pair[1];
    }
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < 2; ++j) {
      addNear(o, place, signs, ROWS, x[j][0]);
      addNear(o, place, signs >> ROWS, ROWS, x[j][1]);
#pragma clang loop unroll(full)
      for (uint32_t r = 0; r < ROWS; ++r)
        max[i * 2 + j] = raisedBySum(max[i * 2 + j], x[j][0][r], x[j][1][r]);
    }
  }
}

/// The same of other lanes, which hold float32: in the last step, each of two
/// takes one of each pair of columns. All lanes take part.
GQ_DEV void measureTransformedF32(const Op *o, Place place, uint32_t signs,
                                  const Held *held, float max[OWN_COLUMNS]) {
  uint32_t rows = rowsOfLane(o), distance = partnerOf(o) * lanesAcross(o);
  bool second = place.down & partnerOf(o);
  signs >>= place.row % GQ_DEV_HADAMARD_SIZE;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < OWN_COLUMNS; ++i) {
    float x[2][ROWS];
#pragma clang loop unroll(full)
    for (uint32_t j = 0; j < 2; ++j) {
#pragma clang loop unroll(full)
      for (uint32_t r = 0; r < ROWS; ++r)
        x[j][r] =
            r < rows ? gq_dev_f32_from_bits(held->words[r][i * 2 + j]) : 0.0f;
      addNear(o, place, signs, rows, x[j]);
    }
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
      if (r < rows) {
        float given = second ? x[0][r] : x[1][r];
        float other = gq_dev_f32_from_bits(
            gq_dev_shuffle_xor(gq_dev_f32_bits(given), distance));
        max[i] = raisedBySum(max[i], second ? x[1][r] : x[0][r], other);
      }
  }
}

/// Raises what a lane has found of columns by a pass. All lanes take part.
GQ_DEV void measureColumns(const Op *o, const Results *results, Place place,
                           const Held *held, Found *found) {
  if (results->transforms && isTall(o)) {
    measureTransformedTall(o, place, results->signs, held, found->transformed);
  } else if (results->transforms) {
    measureTransformedF32(o, place, results->signs, held, found->transformed);
  } else {
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < ROWS; ++r)
#pragma clang loop unroll(full)
      for (uint32_t i = 0; i < WORDS; ++i)
        if (r < rowsOfLane(o) && i < wordsOfLane(o))
          found->columns.words[0][i] = gq_dev_max_word(
              o->heldType, found->columns.words[0][i], held->words[r][i]);
  }
}

/// The magnitudes of a lane's own columns, the number of these, the first one
/// and how far the next one is from it.
typedef struct OwnColumns {
  float amax[OWN_COLUMNS];
  uint32_t count, first, step;
} OwnColumns;

/// Those of what its lanes have found in a job. All lanes take part.
GQ_DEV OwnColumns ownColumnsOf(const Op *o, const Results *results, Place place,
                               const Found *found) {
  OwnColumns own = {{0.0f}, ownColumns(o), firstOwnColumn(o, place), 1};
  if (!results->transforms) {
    columnMagnitudes(o, &found->columns, place, own.amax);
    return own;
  }
  own.count = TALL_COLUMNS;
  own.first = place.column;
  if (!isTall(o)) {
    own.count = OWN_COLUMNS;
    own.first += place.down & partnerOf(o) ? 1 : 0;
    own.step = 2;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < OWN_COLUMNS; ++i) {
    if (i >= own.count)
      continue;
    float max = found->transformed[i];
#pragma clang loop unroll(full)
    for (uint32_t down = 1; down < LANES_DOWN; down *= 2)
      if (!isTall(o) && down < lanesDown(o) && down != partnerOf(o))
        max = gq_dev_max_number(
            max, gq_dev_f32_from_bits(gq_dev_shuffle_xor(
                     gq_dev_f32_bits(max), down * lanesAcross(o))));
    // Rounding keeps an order, so that the largest one is rounded alone.
    own.amax[i] = gq_dev_hadamard_rounded(max);
  }
  return own;
}

/// Raises the columns of a job, and its group by them if they are transformed.
/// All lanes take part.
GQ_DEV void raiseColumns(const Op *o, const Results *results,
                         const Job GQ_SHARED *job, const Found *found) {
  Place place = placeOfLane(o, job, 0);
  const OwnColumns own = ownColumnsOf(o, results, place, found);
  if (results->parts & GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS) {
    float max = 0.0f;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < OWN_COLUMNS; ++i)
      max = i < own.count ? gq_dev_max_number(max, own.amax[i]) : max;
    raiseGroup(o, job, results->columnwise, max);
  }
  if (!(results->parts & GQ_DEV_AMAX_OF_COLUMNS))
    return;
  float GQ_SHARED *columns = columnAmax[thisWarp()];
  gq_dev_warp_barrier(); // Others may still read those of the job before.
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < OWN_COLUMNS; ++i)
    if (i < own.count)
      columns[own.first + i * own.step] = own.amax[i];
  gq_dev_warp_barrier();
  uint32_t GQ_GLOBAL *to =
      results->columns + job->group * o->columns + job->inputColumn;
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < TILE / GQ_DEV_WARP; ++i) {
    uint32_t column = i * GQ_DEV_WARP + place.thread % GQ_DEV_WARP;
    raise(isInGroup(o, job->group) && column < job->columns, to + column,
          columns[column]);
  }
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

/// Measures a job. All lanes of its warp take part.
GQ_DEV void measureJob(const Op *o, const Results *results,
                       const Job GQ_SHARED *job) {
  Found found = {0};
#pragma clang loop unroll(disable)
  for (uint32_t pass = 0; pass < passesOf(o, job); ++pass) {
    const Held held = loadLane(o, job, pass);
    const Place place = placeOfLane(o, job, pass);
    uint32_t max[WORDS];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < TALL_ROWS; ++r)
      if (r < rowsOfLane(o)) {
        max[r] = maxOfRow(o, &held, r);
        found.all = gq_dev_max_word(o->heldType, found.all, max[r]);
      }
    if (results->parts & GQ_DEV_AMAX_OF_ROWS)
      raiseRows(o, results, job, place, max);
    if (results->ofColumns)
      measureColumns(o, results, place, &held, &found);
  }
  if (results->ofColumns)
    raiseColumns(o, results, job, &found);
  if (results->parts & GQ_DEV_AMAX_OF_GROUPS)
    raiseGroup(o, job, results->amax,
               gq_dev_amax_of_word(o->heldType, found.all));
}

/// By what policy L2 keeps a matrix. Of one that does not fit, elements are the
/// first that it gives up, so that those that came before them stay, and a part
/// is still there when it is quantized: a twentieth less for both directions of
/// current scaling from 42 MB on. One of 34 MB or less is there as a whole, and
/// took up to a tenth more with this policy (H200, whose L2 has 60 MB). Rows
/// that are gathered may be read several times.
GQ_DEV uint64_t l2PolicyOf(const Op *o) {
  const int64_t most = 36 << 20;
  int64_t bytes = o->rows * o->columns * gqElementTypeSize(o->heldType);
  return gq_dev_l2_policy(!o->gathers && bytes > most);
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

/// A direction without outputs, whose blocks are as long as a job: it says how
/// jobs are cut.
GQ_DEV Direction measuredDirection(gqElementType heldType) {
  return (Direction){
      .traits = gqFormatGetTraits(GQ_DEV_AMAX_FORMAT),
      .heldType = heldType,
      .scaler = {.format = GQ_DEV_AMAX_FORMAT},
      .outerKind = GQ_OUTER_NONE,
  };
}

GQ_DEV_KERNEL void
gq_dev_grouped_amax(GQ_DEV_PARAMETERS(GQ_GROUPED_AMAX_OPERANDS)) {
  if (gq_dev_is_noop(noopFlag))
    return;
  const Results results = {
      .amax = amax,
      .columnwise = columnwiseAmax,
      .rows = rowAmax,
      .columns = columnAmax,
      .parts = parts,
      .ofColumns =
          parts & (GQ_DEV_AMAX_OF_COLUMNS | GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS),
      .transforms = transform == GQ_TRANSFORM_HADAMARD16,
      .signs = (uint32_t)signs,
  };
  Op op = {
      .load = load,
      .inputs = inputs,
      .rows = rows,
      .columns = columns,
      .rowIndices = rowIndices,
      .sourceRows = sourceRows,
      .groups = (uint32_t)groups,
      .format = GQ_DEV_AMAX_FORMAT,
      // Lanes as for columns that are transformed.
      .parts = results.transforms ? GQ_DEV_COLUMNWISE | GQ_DEV_UNUSUAL : 0,
      .rowIndexBits = rowIndexBits,
      .heldType = (gqElementType)heldType,
      .rowwise = measuredDirection((gqElementType)heldType),
      .columnwise = measuredDirection((gqElementType)heldType),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
      .allGroups = amaxGroupsOf(offsets, firstDims, lastDims, groups, rows,
                                columns, offsetBits, parts),
      .ragged = parts & GQ_DEV_RAGGED,
      .allRows = rowsMode == GQ_ROWS_ALL && parts & GQ_DEV_AMAX_OF_ROWS &&
                 !(parts & GQ_DEV_RAGGED),
      .measures = true,
      .alone = true,
  };
  (void)ctas;
  op.isWide = hasWideWarps(&op);
  if (loadsByPolicy(&op))
    op.l2Policy = l2PolicyOf(&op);
  touchFirstLines(&op);
  Plan plan = makePlan(&op);
  if (sharedFaults && gq_dev_cta() == 0 && gq_dev_thread() == 0)
    gq_dev_atomic_or(status, sharedFaults);
  beginWarpJobs(&op, &plan);
  for (uint32_t n = 0; hasJob(n); ++n) {
    measureJob(&op, &results, warpJob(n));
    findMoreJobsOfWarp(&op, n);
  }
  gq_dev_wait_for_copies(); // Of what was touched, long ago.
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}
