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
  /// Of a CPU: the instruction set, the threads of a large op, and how many
  /// threads of all programs wanted to run in the minute before. Else 0.
  char isa[REPORT_NAME_SIZE];
  int64_t threads;
  double load;
} Machine;

/// A copy within the device.
typedef struct CopyRow {
  int64_t bytes;
  /// Of the faster way to do it.
  double microseconds;
  /// Of each way (Meter.h), 0 where it is not known.
  double memcpyMicroseconds, kernelMicroseconds;
} CopyRow;

/// An operator at a shape.
typedef struct Row {
  char name[REPORT_NAME_SIZE];
  int64_t rows, columns, groups;
  int64_t bytes;
  /// 0 of what is no matrix product, and of reports that do not say.
  int64_t flops;
  double microseconds;
  /// Of a copy that reads and writes as many bytes, and of memcpy or
  /// cuMemcpyAsync, 0 where it is not known.
  double copyMicroseconds, memcpyMicroseconds;
  /// Of the same graph with its ops separate.
  double separateMicroseconds;
  /// What a call takes the host, what the graph takes to compile, and to load
  /// from the cache; 0 where it was not measured.
  double hostMicroseconds, coldMilliseconds, cachedMilliseconds;
} Row;

/// What a row's time is made of, each as a part of it. Bytes at the rate of the
/// peak copy; operations of a product at the peak rate; a launch that does
/// nearly nothing; and what is left when the launch and the larger one of the
/// first two are taken away: other instructions, and waiting of any kind.
enum { SHARE_MEMORY, SHARE_FLOPS, SHARE_LATENCY, SHARE_INSTRUCTIONS };
enum { NUM_SHARES = SHARE_INSTRUCTIONS + 1 };
extern const char *const shareNames[NUM_SHARES];

typedef struct Report {
  /// UTC, as ISO 8601 has it.
  char date[REPORT_NAME_SIZE];
  Machine machine;
  Grouping grouping;
  /// 0 where they are not known: a launch that does nearly nothing; float32
  /// operations of a CPU.
  double launchMicroseconds, peakTeraflopsPerSecond;
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

/// The unit in which people read rates of this machine, and how many of it a
/// TB/s is.
typedef struct RateUnit {
  const char *name;
  double perTerabyte;
} RateUnit;
RateUnit reportRateUnit(const Report *report);

/// The shares of a row's time, and the largest of them, which limits it.
void rowShares(const Report *report, const Row *row, double shares[NUM_SHARES]);
int rowLimit(const double shares[NUM_SHARES]);

/// Whether the fused op takes longer than separate ones, by more than what two
/// measurements of the same kernel differ.
bool rowIsSlower(const Row *row);

/// Prints the rows that are; returns their number.
size_t reportPrintSlower(const Report *report, FILE *file);

void reportPrintHeader(const Report *report, FILE *file);
/// With `times`, those of the host and of the compiler too.
void reportPrintColumns(const Report *report, bool times, FILE *file);
void reportPrintRow(const Report *report, const Row *row, FILE *file);

/// Write a report as JSON, and read what was written. Errors: GQ_IO_ERROR, the
/// message says what is wrong, but does not name the file.
gqStatus reportWriteJson(const Report *report, const char *path);
gqStatus reportReadJson(const char *path, Report *report);

/// Draws the fraction of the peak of each row. Errors: GQ_IO_ERROR.
gqStatus reportWriteSvg(const Report *report, const char *path);

#endif // GQ_TOOLS_GQBENCH_REPORT_H
