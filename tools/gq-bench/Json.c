//===- Json.c - what was measured, as JSON --------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "tools/common/File.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Null if it is not known.
static json_t *text(const char *text) {
  return *text ? json_string(text) : json_null();
}
static json_t *number(double number) {
  return number > 0 ? json_real(number) : json_null();
}

static json_t *writeMachine(const Machine *machine) {
  bool isCpu = *machine->isa;
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "target",
                   machine->target, "name", machine->name, "chip",
                   text(machine->chip), "driver", text(machine->driver), "cuda",
                   text(machine->cuda), "isa", text(machine->isa), "threads",
                   isCpu ? json_integer(machine->threads) : json_null(), "load",
                   isCpu ? json_real(machine->load) : json_null());
}

static json_t *writeCopy(const CopyRow *copy) {
  return json_pack("{s:I, s:f, s:o, s:o, s:f}", "bytes",
                   (json_int_t)copy->bytes, "microseconds", copy->microseconds,
                   "memcpyMicroseconds", number(copy->memcpyMicroseconds),
                   "kernelMicroseconds", number(copy->kernelMicroseconds),
                   "terabytesPerSecond", copyRate(copy));
}

static json_t *writeShares(const double shares[NUM_SHARES]) {
  json_t *object = json_object();
  for (int i = 0; i < NUM_SHARES; ++i)
    json_object_set_new(object, shareNames[i], json_real(shares[i]));
  return object;
}

static json_t *writeRow(const Report *report, const Row *row) {
  double shares[NUM_SHARES];
  rowShares(report, row, shares);
  return json_pack(
      "{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
      "s:o, s:s, s:o, s:o, s:o, s:o}",
      "operator", row->name, "rows", (json_int_t)row->rows, "columns",
      (json_int_t)row->columns, "groups", (json_int_t)row->groups, "bytes",
      (json_int_t)row->bytes, "flops", (json_int_t)row->flops, "microseconds",
      row->microseconds, "terabytesPerSecond", rowRate(row),
      "teraflopsPerSecond", rowFlopRate(row), "fractionOfPeak",
      rowRate(row) / reportPeak(report), "copyMicroseconds",
      row->copyMicroseconds, "timeOverCopy",
      row->microseconds / row->copyMicroseconds, "separateMicroseconds",
      row->separateMicroseconds, "speedUp",
      row->separateMicroseconds / row->microseconds, "memcpyMicroseconds",
      number(row->memcpyMicroseconds), "limit", shareNames[rowLimit(shares)],
      "shares", writeShares(shares), "hostMicroseconds",
      number(row->hostMicroseconds), "coldMilliseconds",
      number(row->coldMilliseconds), "cachedMilliseconds",
      number(row->cachedMilliseconds));
}

static gqStatus writeRoot(FILE *file, const void *root) {
  errno = 0;
  // All digits, so that what is read draws the same picture.
  return json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17))
             ? gqFail(GQ_IO_ERROR, "%s", strerror(errno ? errno : EIO))
             : GQ_OK;
}

gqStatus reportWriteJson(const Report *report, const char *path) {
  json_t *copies = json_array(), *rows = json_array();
  for (size_t i = 0; i < report->numCopies; ++i)
    json_array_append_new(copies, writeCopy(&report->copies[i]));
  for (size_t i = 0; i < report->numRows; ++i)
    json_array_append_new(rows, writeRow(report, &report->rows[i]));
  json_t *root = json_pack(
      "{s:s, s:s, s:o, s:f, s:o, s:o, s:I, s:s, s:I, s:o, s:o}", "gq",
      GQ_VERSION, "date", report->date, "machine",
      writeMachine(&report->machine), "peakTerabytesPerSecond",
      reportPeak(report), "peakTeraflopsPerSecond",
      number(report->peakTeraflopsPerSecond), "launchMicroseconds",
      number(report->launchMicroseconds), "groupMultiple",
      (json_int_t)report->grouping.multiple, "groupSizes",
      groupSizesNames[report->grouping.sizes], "capacity",
      (json_int_t)report->grouping.capacity, "copies", copies, "rows", rows);
  if (!root)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  gqStatus status = fileWrite(path, writeRoot, root);
  json_decref(root);
  return status;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static gqStatus invalid(const json_error_t *error) {
  return gqFail(GQ_IO_ERROR, "not a report of gq-bench: %s (line %d)",
                error->text, error->line);
}

/// A number of an object; 0 where there is none.
static double optional(json_t *object, const char *name) {
  return json_number_value(json_object_get(object, name));
}

/// Copies text; what is null becomes empty.
static void readText(const char *text, char target[REPORT_NAME_SIZE]) {
  snprintf(target, REPORT_NAME_SIZE, "%s", text ? text : "");
}

static gqStatus readMachine(json_t *value, Machine *machine) {
  json_error_t error;
  const char *target, *name;
  json_t *chip, *driver, *cuda;
  if (json_unpack_ex(value, &error, 0, "{s:s, s:s, s:o, s:o, s:o}", "target",
                     &target, "name", &name, "chip", &chip, "driver", &driver,
                     "cuda", &cuda))
    return invalid(&error);
  readText(target, machine->target);
  readText(name, machine->name);
  readText(json_string_value(chip), machine->chip);
  readText(json_string_value(driver), machine->driver);
  readText(json_string_value(cuda), machine->cuda);
  readText(json_string_value(json_object_get(value, "isa")), machine->isa);
  machine->threads = (int64_t)optional(value, "threads");
  machine->load = optional(value, "load");
  return GQ_OK;
}

static gqStatus readCopy(json_t *value, Report *report) {
  json_error_t error;
  json_int_t bytes;
  CopyRow copy;
  if (json_unpack_ex(value, &error, 0, "{s:I, s:F}", "bytes", &bytes,
                     "microseconds", &copy.microseconds))
    return invalid(&error);
  copy.bytes = bytes;
  copy.memcpyMicroseconds = optional(value, "memcpyMicroseconds");
  copy.kernelMicroseconds = optional(value, "kernelMicroseconds");
  return reportAddCopy(report, &copy);
}

static gqStatus readRow(json_t *value, Report *report) {
  json_error_t error;
  json_int_t rows, columns, groups, bytes, flops = 0;
  const char *name;
  Row row;
  if (json_unpack_ex(
          value, &error, 0, "{s:s, s:I, s:I, s:I, s:I, s?I, s:F, s:F, s:F}",
          "operator", &name, "rows", &rows, "columns", &columns, "groups",
          &groups, "bytes", &bytes, "flops", &flops, "microseconds",
          &row.microseconds, "copyMicroseconds", &row.copyMicroseconds,
          "separateMicroseconds", &row.separateMicroseconds))
    return invalid(&error);
  if (row.microseconds <= 0 || row.copyMicroseconds <= 0 ||
      row.separateMicroseconds <= 0)
    return gqFail(GQ_IO_ERROR, "not a report of gq-bench: a time of a row is "
                               "not positive");
  readText(name, row.name);
  row.rows = rows;
  row.columns = columns;
  row.groups = groups;
  row.bytes = bytes;
  row.flops = flops;
  row.memcpyMicroseconds = optional(value, "memcpyMicroseconds");
  row.hostMicroseconds = optional(value, "hostMicroseconds");
  row.coldMilliseconds = optional(value, "coldMilliseconds");
  row.cachedMilliseconds = optional(value, "cachedMilliseconds");
  return reportAddRow(report, &row);
}

static gqStatus readReport(json_t *root, Report *report) {
  json_error_t error;
  const char *date, *sizes;
  json_t *machine, *copies, *rows, *value;
  json_int_t multiple, capacity;
  size_t i;
  if (json_unpack_ex(root, &error, 0, "{s:s, s:I, s:s, s:I, s:o, s:o, s:o}",
                     "date", &date, "groupMultiple", &multiple, "groupSizes",
                     &sizes, "capacity", &capacity, "machine", &machine,
                     "copies", &copies, "rows", &rows))
    return invalid(&error);
  report->grouping = (Grouping){.multiple = multiple, .capacity = capacity};
  if (!groupSizesFind(sizes, &report->grouping.sizes))
    return gqFail(GQ_IO_ERROR, "not a report of gq-bench: groupSizes");
  readText(date, report->date);
  report->peakTeraflopsPerSecond = optional(root, "peakTeraflopsPerSecond");
  report->launchMicroseconds = optional(root, "launchMicroseconds");
  gqStatus status = readMachine(machine, &report->machine);
  json_array_foreach(copies, i, value) {
    if (status == GQ_OK)
      status = readCopy(value, report);
  }
  if (status == GQ_OK && !(reportPeak(report) > 0))
    status = gqFail(GQ_IO_ERROR, "not a report of gq-bench: no copies");
  json_array_foreach(rows, i, value) {
    if (status == GQ_OK)
      status = readRow(value, report);
  }
  return status;
}

gqStatus reportReadJson(const char *path, Report *report) {
  json_error_t error;
  *report = (Report){.date = ""};
  json_t *root = json_load_file(path, 0, &error);
  if (!root)
    return json_error_code(&error) == json_error_cannot_open_file
               ? gqFail(GQ_IO_ERROR, "%s", strerror(errno))
               : gqFail(GQ_IO_ERROR, "%s (line %d)", error.text, error.line);
  gqStatus status = readReport(root, report);
  json_decref(root);
  if (status != GQ_OK)
    reportFree(report);
  return status;
}
