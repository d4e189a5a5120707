//===- GroupedAmax.c - the kernel of largest magnitudes -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The jobs of the kernel of tiles, and how their elements are loaded, with
// nothing to be quantized: lanes measure rows and columns as if all of a job's
// were a block, thread i puts together row i and column i, and raises what is
// in memory.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/AmaxGroups.h"
#include "runtime_kernels/kernels/tiles/LongBlocks.h"
#include "runtime_kernels/kernels/tiles/Loop.h"

/// Where the results go.
typedef struct Results {
  uint32_t GQ_GLOBAL *amax, *rows, *columns;
  int32_t parts;
} Results;

/// Raises a word, which is at least 0.
GQ_DEV void raise(bool wanted, uint32_t GQ_GLOBAL *p, float amax) {
  if (wanted && amax > 0.0f)
    gq_dev_atomic_max(p, gq_dev_f32_bits(amax));
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
    raise(job->group >= 0 && thread < job->columns,
          results->columns + job->group * o->columns + job->inputColumn +
              thread,
          column);
    amax = o->rowwise.exists ? amax : column;
  }
  if (results->parts & GQ_DEV_AMAX_OF_GROUPS) {
    uint32_t bits = gq_dev_max_of_lanes(gq_dev_f32_bits(amax));
    raise(gq_dev_is_first_lane() && job->group >= 0, results->amax + job->group,
          gq_dev_f32_from_bits(bits));
  }
}

/// A direction of blocks as long as a job, which goes nowhere.
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
  bool ofColumns = parts & GQ_DEV_AMAX_OF_COLUMNS;
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
      .rowwise = measuredDirection(parts & GQ_DEV_AMAX_OF_ROWS || !ofColumns,
                                   (gqElementType)heldType),
      .columnwise = measuredDirection(ofColumns, (gqElementType)heldType),
      .gathers = rowIndexBits && gq_dev_reads_matrix(load),
      .allGroups = amaxGroupsOf(offsets, firstDims, lastDims, groups, rows,
                                columns, offsetBits, parts),
      .ragged = parts & GQ_DEV_RAGGED,
      .allRows = rowsMode == GQ_ROWS_ALL && parts & GQ_DEV_AMAX_OF_ROWS,
  };
  const Results results = {amax, rowAmax, columnAmax, parts};
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
    }
    gq_dev_barrier();
    raiseResults(&op, &results, job);
    findMoreJobs(&op, n);
    gq_dev_barrier();
  }
  if (rowIndexBits)
    gq_dev_check_row_indices(rowIndices, rowIndexBits, sourceRows, rows,
                             status);
}
