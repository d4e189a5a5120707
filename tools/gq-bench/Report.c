//===- Report.c - what was measured, as a table ---------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <inttypes.h>
#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void reportFree(Report *report) {
  free(report->copies);
  free(report->rows);
  *report = (Report){.date = ""};
}

gqStatus reportAddCopy(Report *report, const CopyRow *copy) {
  CopyRow *copies =
      realloc(report->copies, (report->numCopies + 1) * sizeof(CopyRow));
  if (!copies)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  report->copies = copies;
  copies[report->numCopies++] = *copy;
  return GQ_OK;
}

gqStatus reportAddRow(Report *report, const Row *row) {
  Row *rows = realloc(report->rows, (report->numRows + 1) * sizeof(Row));
  if (!rows)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  report->rows = rows;
  rows[report->numRows++] = *row;
  return GQ_OK;
}

double copyRate(const CopyRow *copy) {
  return 2.0 * (double)copy->bytes / copy->microseconds * 1e-6;
}

double rowRate(const Row *row) {
  return (double)row->bytes / row->microseconds * 1e-6;
}

double rowFlopRate(const Row *row) {
  return (double)row->flops / row->microseconds * 1e-6;
}

double reportPeak(const Report *report) {
  double peak = 0;
  for (size_t i = 0; i < report->numCopies; ++i) {
    double rate = copyRate(&report->copies[i]);
    peak = rate > peak ? rate : peak;
  }
  return peak;
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

void reportPrintHeader(const Report *report, FILE *file) {
  const Machine *machine = &report->machine;
  fprintf(file, "%s", machine->name);
  if (*machine->chip)
    fprintf(file, ", %s", machine->chip);
  if (*machine->driver)
    fprintf(file, ", driver %s", machine->driver);
  if (*machine->cuda)
    fprintf(file, ", CUDA %s", machine->cuda);
  fprintf(file, ", %s\n\n", report->date);
  for (size_t i = 0; i < report->numCopies; ++i)
    fprintf(file, "copy of %4" PRId64 " MiB %27.2f us %8.3f TB/s\n",
            report->copies[i].bytes >> 20, report->copies[i].microseconds,
            copyRate(&report->copies[i]));
  fprintf(file, "peak %49.3f TB/s\n", reportPeak(report));
  const Grouping *grouping = &report->grouping;
  if (grouping->sizes != GROUPS_UNEVEN)
    fprintf(file, "%s groups\n", groupSizesNames[grouping->sizes]);
  if (grouping->multiple > 1)
    fprintf(file, "groups of a multiple of %" PRId64 " rows\n",
            grouping->multiple);
  if (grouping->capacity > 1)
    fprintf(file, "%" PRId64 " times the rows that are in groups\n",
            grouping->capacity);
  fprintf(file, "\n");
}

void reportPrintColumns(FILE *file) {
  fprintf(file, "%-27s %14s %6s %10s %13s %8s %8s %8s %10s %8s %12s %8s\n",
          "operator", "shape", "groups", "us", "bytes", "TB/s", "of peak",
          "TFLOP/s", "copy us", "x copy", "separate us", "speed-up");
}

void reportPrintRow(const Report *report, const Row *row, FILE *file) {
  char shape[64], flops[32] = "";
  if (row->flops)
    snprintf(flops, sizeof(flops), "%.4g", rowFlopRate(row));
  snprintf(shape, sizeof(shape), "%" PRId64 "x%" PRId64, row->rows,
           row->columns);
  fprintf(file,
          "%-27s %14s %6" PRId64 " %10.2f %13" PRId64 " %8.3f %8.3f %8s %10.2f "
          "%8.2f %12.2f %8.2f\n",
          row->name, shape, row->groups, row->microseconds, row->bytes,
          rowRate(row), rowRate(row) / reportPeak(report), flops,
          row->copyMicroseconds, row->microseconds / row->copyMicroseconds,
          row->separateMicroseconds,
          row->separateMicroseconds / row->microseconds);
}
