//===- Report.h - what was measured ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The measure is bytes that must be read and written once, over time, over the
// best copy of the same run. TB is 10^12 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQBENCH_REPORT_H
#define GQ_TOOLS_GQBENCH_REPORT_H

#include "Graph.h"

#include "gq/Runtime/Status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
  REPORT_NAME_SIZE = 128,
};

/// Where it was measured. Text is empty where it is not known.
typedef struct Machine {
  /// "cpu" or "cuda".
  char target[REPORT_NAME_SIZE];
  char name[REPORT_NAME_SIZE];
  /// Such as "sm_90a", "580.159.04" and "13.0".
  char chip[REPORT_NAME_SIZE], driver[REPORT_NAME_SIZE], cuda[REPORT_NAME_SIZE];
} Machine;

/// A copy within the device.
typedef struct CopyRow {
  int64_t bytes;
  double microseconds;
} CopyRow;

/// An operator at a shape.
typedef struct Row {
  char name[REPORT_NAME_SIZE];
  int64_t rows, columns, groups;
  int64_t bytes;
  /// 0 of what is no matrix product, and of reports that do not say.
  int64_t flops;
  double microseconds;
  /// Of a copy that reads and writes as many bytes.
  double copyMicroseconds;
  /// Of the same graph with its ops separate.
  double separateMicroseconds;
} Row;

typedef struct Report {
  /// UTC, as ISO 8601 has it.
  char date[REPORT_NAME_SIZE];
  Machine machine;
  Grouping grouping;
  size_t numCopies, numRows;
  CopyRow *copies;
  Row *rows;
} Report;

void reportFree(Report *report);

/// Append a copy or a row, which is copied. Errors: GQ_OUT_OF_MEMORY.
gqStatus reportAddCopy(Report *report, const CopyRow *copy);
gqStatus reportAddRow(Report *report, const Row *row);

double copyRate(const CopyRow *copy); // TB/s
double rowRate(const Row *row);       // TB/s
double rowFlopRate(const Row *row);   // TFLOP/s
/// The rate of the best copy, in TB/s.
double reportPeak(const Report *report);

void reportPrintHeader(const Report *report, FILE *file);
void reportPrintColumns(FILE *file);
void reportPrintRow(const Report *report, const Row *row, FILE *file);

/// Write a report as JSON, and read what was written. Errors: GQ_IO_ERROR, the
/// message says what is wrong, but does not name the file.
gqStatus reportWriteJson(const Report *report, const char *path);
gqStatus reportReadJson(const char *path, Report *report);

/// Draws the fraction of the peak of each row. Errors: GQ_IO_ERROR.
gqStatus reportWriteSvg(const Report *report, const char *path);

#endif // GQ_TOOLS_GQBENCH_REPORT_H
