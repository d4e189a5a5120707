//===- CpuGroupedAmax.c - gq.grouped_amax on the CPU ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include "CpuCheck.h"
#include "CpuGroups.h"
#include "CpuQuantize.h"

#include <stddef.h>

/// The op as check() found it.
typedef struct Problem {
  const gqGroupedAmaxOperands *operands;
  gqRows rows;
  gqDirectionTraits columnwise;
  gqCpuGrouping grouping;
  bool gathers, ragged;
} Problem;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Which optional operands are present.
static bool checkPresence(gqCpuOp *op, Problem *p) {
  const gqGroupedAmaxOperands *operands = p->operands;
  bool ofRows = !gqBufferIsAbsent(&operands->rowAmax) ||
                !gqBufferIsAbsent(&operands->columnAmax);
  p->gathers = !gqBufferIsAbsent(&operands->rowIndices);
  p->ragged = !gqBufferIsAbsent(&operands->firstDims);
  if (gqBufferIsAbsent(&operands->amax) &&
      gqBufferIsAbsent(&operands->columnwiseAmax) && !ofRows)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "amax, columnwise_amax, row_amax and column_amax are "
                     "absent, expected one of them");
  if (!gqBufferIsAbsent(&operands->columnwiseAmax) &&
      p->columnwise.transform == GQ_TRANSFORM_NONE)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "columnwise_amax is for a transform of columns");
  const char *lacks = gqDirectionLacks(&p->columnwise, GQ_FORMAT_NVFP4,
                                       GQ_RECIPE_TE, true, false);
  if (lacks)
    return gqCpuFail(op, GQ_INVALID_ARGUMENT, "expected %s", lacks);
  if (p->ragged == gqBufferIsAbsent(&operands->lastDims))
    return gqCpuFail(op, GQ_INVALID_ARGUMENT,
                     "expected both first_dims and last_dims or neither");
  return !p->ragged || (!p->gathers && !ofRows) ||
         gqCpuFail(op, GQ_INVALID_ARGUMENT,
                   "%s needs rows of the same number of columns, there must be "
                   "no last_dims",
                   p->gathers                              ? "row_indices"
                   : !gqBufferIsAbsent(&operands->rowAmax) ? "row_amax"
                                                           : "column_amax");
}

/// The input and the groups in it. Columns are a multiple of 16, as those of
/// nvfp4 are.
static bool checkInput(gqCpuOp *op, Problem *p) {
  const gqGroupedAmaxOperands *operands = p->operands;
  const gqBuffer none = {0};
  bool valid = p->ragged
                   ? gqCpuCheckFlat(op, "input", GQ_READ, &operands->input,
                                    GQ_TYPES_FLOAT, GQ_ANY_EXTENT, "[N]")
                   : gqCpuCheckInput(op, GQ_FORMAT_NVFP4, &operands->input,
                                     &operands->rowIndices);
  const gqBuffer *counted =
      p->gathers ? &operands->rowIndices : &operands->input;
  gqCpuGrouping *grouping = &p->grouping;
  if (!valid || !gqCpuCheckGroups(op, &operands->offsets, &none,
                                  p->ragged ? "element" : "row",
                                  counted->sizes[0], &grouping->groups))
    return false;
  grouping->format = GQ_FORMAT_NVFP4;
  grouping->columns = operands->input.sizes[1];
  if (!p->ragged)
    return true;
  valid = gqCpuCheckGroupDims(op, &operands->firstDims, &operands->lastDims,
                              &operands->offsets, &grouping->groups);
  for (int64_t e = 0; valid && e < grouping->groups.numGroups; ++e)
    valid = gqCpuCheckGroupShape(op, grouping, e);
  return valid;
}

static bool checkOutputs(gqCpuOp *op, const Problem *p) {
  const gqGroupedAmaxOperands *operands = p->operands;
  int64_t groups = p->grouping.groups.numGroups;
  const gqRequirement columns = {.name = "column_amax",
                                 .buffer = &operands->columnAmax,
                                 .types = GQ_TYPES_F32,
                                 .placement = GQ_CONTIGUOUS,
                                 .access = GQ_WRITTEN,
                                 .rank = 2,
                                 .sizes = {groups, p->grouping.columns},
                                 .shape = "[G, K]"};
  return (gqBufferIsAbsent(&operands->amax) ||
          gqCpuCheckFlat(op, "amax", GQ_WRITTEN, &operands->amax, GQ_TYPES_F32,
                         groups, "[G]")) &&
         (gqBufferIsAbsent(&operands->columnwiseAmax) ||
          gqCpuCheckFlat(op, "columnwise_amax", GQ_WRITTEN,
                         &operands->columnwiseAmax, GQ_TYPES_F32, groups,
                         "[G]")) &&
         gqCpuCheckFlag(op, "noop_flag", &operands->noopFlag) &&
         (gqBufferIsAbsent(&operands->rowAmax) ||
          gqCpuCheckFlat(op, "row_amax", GQ_WRITTEN, &operands->rowAmax,
                         GQ_TYPES_F32, p->grouping.groups.numRows, "[M]")) &&
         (gqBufferIsAbsent(&operands->columnAmax) ||
          gqCpuCheckOperand(op, &columns));
}

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

/// A matrix of `rows` by `columns`: from row `begin` on or, if ragged, from
/// element `begin`.
static gqBuffer matrixAt(const Problem *p, int64_t begin, int64_t rows,
                         int64_t columns) {
  const gqBuffer *input = &p->operands->input;
  gqBuffer matrix = *input;
  matrix.rank = 2;
  matrix.sizes[0] = rows;
  matrix.sizes[1] = columns;
  if (p->ragged) {
    matrix.strides[0] = columns;
    matrix.strides[1] = 1;
    matrix.data = (uint8_t *)input->data +
                  begin * gqElementTypeSize((gqElementType)input->type);
  } else if (!p->gathers) {
    matrix.data = gqCpuRow(input, begin);
  }
  return matrix;
}

static float *entry(const gqBuffer *buffer, int64_t i) {
  return gqBufferIsAbsent(buffer) ? NULL : (float *)buffer->data + i;
}

/// What is wanted of a group, or of rows in no group.
static gqCpuAmaxes amaxesOf(const Problem *p, const gqCpuGroup *group) {
  const gqGroupedAmaxOperands *operands = p->operands;
  int64_t e = group->index;
  gqCpuAmaxes amaxes = {.rows = entry(&operands->rowAmax, group->begin)};
  if (e < 0)
    return amaxes;
  amaxes.amax = entry(&operands->amax, e);
  amaxes.columnwise = entry(&operands->columnwiseAmax, e);
  amaxes.columns = entry(&operands->columnAmax, e * group->columns);
  amaxes.transform = p->columnwise.transform;
  amaxes.signs = p->columnwise.signs;
  return amaxes;
}

static void doJob(const void *problem, const gqCpuJob *job) {
  const Problem *p = problem;
  const gqCpuGroup *group = &job->group;
  gqBuffer input = matrixAt(p, group->begin, group->rows, group->columns);
  gqBuffer rowIndices = p->operands->rowIndices;
  if (p->gathers)
    rowIndices.data =
        (uint8_t *)rowIndices.data +
        group->begin * gqElementTypeSize((gqElementType)rowIndices.type);
  gqCpuMeasure(&input, &rowIndices, job, amaxesOf(p, group));
}

static void run(const Problem *p) {
  const gqCpuMatrices matrices = {.grouping = p->grouping,
                                  .outside =
                                      p->rows == GQ_ROWS_ALL &&
                                      !gqBufferIsAbsent(&p->operands->rowAmax),
                                  .jobRows = GQ_CPU_JOB_ROWS,
                                  .jobColumns = GQ_CPU_JOB_COLUMNS,
                                  .cost = 1};
  gqCpuJob job = gqCpuBeforeFirstJob;
  while (gqCpuNextMatrix(&matrices, &job))
    gqCpuClearAmaxes(job.group.rows, job.group.columns,
                     amaxesOf(p, &job.group));
  gqCpuRunMatrices(&matrices, doJob, p);
}

void gqCpuGroupedAmax(const gqGroupedAmaxOperands *operands, int32_t rows,
                      int32_t columnwise) {
  gqCpuOp op;
  if (!gqCpuBegin(&op, "grouped_amax"))
    return;
  Problem problem = {.operands = operands,
                     .rows = (gqRows)rows,
                     .columnwise = gqDirectionUnpack(columnwise)};
  if (gqCpuCheckRows(&op, rows) && checkPresence(&op, &problem) &&
      checkInput(&op, &problem) && checkOutputs(&op, &problem) &&
      gqCpuCheckOverlap(&op) && !gqCpuIsSet(&operands->noopFlag))
    run(&problem);
  gqCpuEnd(&op);
}
