//===- Report.c - what was measured, as a table ---------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

RateUnit reportRateUnit(const Report *report) {
  return strcmp(report->machine.target, "cpu") == 0 ? (RateUnit){"GB/s", 1000}
                                                    : (RateUnit){"TB/s", 1};
}

const char *const shareNames[NUM_SHARES] = {"memory", "flops", "latency",
                                            "instructions"};

void rowShares(const Report *report, const Row *row,
               double shares[NUM_SHARES]) {
  double memory = rowRate(row) / reportPeak(report);
  double flops = report->peakTeraflopsPerSecond > 0
                     ? rowFlopRate(row) / report->peakTeraflopsPerSecond
                     : 0;
  double latency = report->launchMicroseconds / row->microseconds;
  double rest = 1 - latency - (memory > flops ? memory : flops);
  shares[SHARE_MEMORY] = memory;
  shares[SHARE_FLOPS] = flops;
  shares[SHARE_LATENCY] = latency;
  shares[SHARE_INSTRUCTIONS] = rest > 0 ? rest : 0;
}

int rowLimit(const double shares[NUM_SHARES]) {
  int limit = 0;
  for (int i = 1; i < NUM_SHARES; ++i)
    if (shares[i] > shares[limit])
      limit = i;
  return limit;
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
  if (*machine->isa)
    fprintf(file, ", %s, %" PRId64 " threads, load %.2f", machine->isa,
            machine->threads, machine->load);
  fprintf(file, ", %s\n\n", report->date);
  RateUnit unit = reportRateUnit(report);
  for (size_t i = 0; i < report->numCopies; ++i) {
    const CopyRow *copy = &report->copies[i];
    bool isMemcpy = copy->microseconds == copy->memcpyMicroseconds;
    fprintf(file, "copy of %4" PRId64 " MiB %27.2f us %8.3f %s, by %s\n",
            copy->bytes >> 20, copy->microseconds,
            copyRate(copy) * unit.perTerabyte, unit.name,
            isMemcpy                               ? "memcpy"
            : strcmp(machine->target, "cuda") == 0 ? "a kernel"
                                                   : "all threads");
  }
  fprintf(file, "peak %49.3f %s\n", reportPeak(report) * unit.perTerabyte,
          unit.name);
  if (report->peakTeraflopsPerSecond > 0)
    fprintf(file, "float32 %46.3f TFLOP/s\n", report->peakTeraflopsPerSecond);
  if (report->launchMicroseconds > 0)
    fprintf(file, "launch %44.2f us\n", report->launchMicroseconds);
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

bool rowIsSlower(const Row *row) {
  return row->microseconds > 1.03 * row->separateMicroseconds;
}

size_t reportPrintSlower(const Report *report, FILE *file) {
  size_t count = 0;
  for (size_t i = 0; i < report->numRows; ++i) {
    const Row *row = &report->rows[i];
    if (!rowIsSlower(row))
      continue;
    ++count;
    fprintf(file,
            "gq-bench: %s, %" PRId64 "x%" PRId64 " in %" PRId64
            " groups: fused it takes %.2f times as long as separate ops\n",
            row->name, row->rows, row->columns, row->groups,
            row->microseconds / row->separateMicroseconds);
  }
  return count;
}

void reportPrintColumns(const Report *report, bool times, FILE *file) {
  fprintf(file, "%-27s %14s %6s %10s %13s %8s %8s %8s %10s %8s %12s %8s  %-17s",
          "operator", "shape", "groups", "us", "bytes",
          reportRateUnit(report).name, "of peak", "TFLOP/s", "copy us",
          "x copy", "separate us", "speed-up", "limit");
  if (times)
    fprintf(file, " %8s %10s %9s", "host us", "compile ms", "cached ms");
  fprintf(file, "\n");
}

void reportPrintRow(const Report *report, const Row *row, FILE *file) {
  char shape[64], flops[32] = "", host[32] = "-";
  double shares[NUM_SHARES];
  rowShares(report, row, shares);
  int limit = rowLimit(shares);
  if (row->flops)
    snprintf(flops, sizeof(flops), "%.4g", rowFlopRate(row));
  snprintf(shape, sizeof(shape), "%" PRId64 "x%" PRId64, row->rows,
           row->columns);
  fprintf(file,
          "%-27s %14s %6" PRId64 " %10.2f %13" PRId64 " %8.3f %8.3f %8s %10.2f "
          "%8.2f %12.2f %8.2f  %-12s %4.2f",
          row->name, shape, row->groups, row->microseconds, row->bytes,
          rowRate(row) * reportRateUnit(report).perTerabyte,
          rowRate(row) / reportPeak(report), flops, row->copyMicroseconds,
          row->microseconds / row->copyMicroseconds, row->separateMicroseconds,
          row->separateMicroseconds / row->microseconds, shareNames[limit],
          shares[limit]);
  if (row->hostMicroseconds > 0)
    snprintf(host, sizeof(host), "%.2f", row->hostMicroseconds);
  if (row->coldMilliseconds > 0)
    fprintf(file, " %8s %10.1f %9.2f", host, row->coldMilliseconds,
            row->cachedMilliseconds);
  fprintf(file, "\n");
}
