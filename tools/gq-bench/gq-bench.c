//===- gq-bench.c - how fast compiled graphs are --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpu.h"
#include "Graph.h"
#include "Meter.h"
#include "Problem.h"
#include "Report.h"

#include "gq/Runtime/Cpu.h"
#include "gq/Runtime/Cuda.h"
#include "gq/Runtime/Executable.h"
#include "tools/common/Device.h"
#include "tools/common/Tools.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: gq-bench [options]\n"
    "\n"
    "Measures graphs of separate ops, compiled to one kernel and left "
    "separate,\n"
    "beside copies in the same memory. The table's measure is bytes that must "
    "be\n"
    "read and written once, over time, over the best copy. On a GPU it fails\n"
    "if a fused op takes longer than separate ones.\n"
    "\n"
    "  --target=cuda|cpu   where to run (cuda)\n"
    "  --operator=NAME     measure this one; may be given again (all; on the "
    "CPU,\n"
    "                      unless quick, one of each kind)\n"
    "  --shape=MxKxG       of M rows in G groups and K columns; may be given "
    "again;\n"
    "                      N of a matmul is in the operator's name\n"
    "  --shapes=NAME       a set of shapes: models (of layers of experts; what "
    "is\n"
    "                      measured if no shape is given), training (1024\n"
    "                      to 32768 rows in 8 groups by 2048, 4096 and 8192),\n"
    "                      groups (128 of 16 to 256 rows on average by 8192),\n"
    "                      cpu or small (on the CPU what is measured, if\n"
    "                      quick small)\n"
    "  --group-sizes=NAME  uneven (drawn from 64 to 191 parts of the rows), "
    "equal "
    "or\n"
    "                      zipf (parts of 1, 1/2, 1/3 and so on, in random "
    "order)\n"
    "                      (uneven)\n"
    "  --capacity=N        matrices have N times the rows that are in groups "
    "(1)\n"
    "  --group-multiple=N  groups have a multiple of N rows, but for the last "
    "(1)\n"
    "  --times             measure too what a call takes the host, which waits "
    "for\n"
    "                      nothing on a GPU, and what each graph takes to "
    "compile:\n"
    "                      without a cache and from the cache\n"
    "  --quick             few repetitions, no warm-up; on the CPU small "
    "shapes\n"
    "  --json FILE         write the results as JSON\n"
    "  --svg FILE          draw the results\n"
    "  --from FILE         draw what --json wrote, and measure nothing\n"
    "  --help, --version\n"
    "\n"
    "operators:\n";

/// Prints the message of the last failure. `what`, if not null, is what failed.
static int fail(const char *what) {
  fprintf(stderr, "gq-bench: %s%s%s\n", what ? what : "", what ? ": " : "",
          gqGetLastErrorMessage());
  return EXIT_FAILURE;
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

typedef struct Extents {
  int64_t rows, columns, groups;
} Extents;

typedef struct Options {
  const char *target;
  const char *json, *svg, *from;
  bool isQuick, times;
  Grouping grouping;
  /// Those that were given.
  const Operator **operators;
  Extents *shapes;
  size_t numOperators, numShapes;
} Options;

/// Sets of shapes.
static const Extents models[] = {
    {32768, 8192, 8}, {8192, 5120, 128}, {4096, 8192, 128}, {128, 5120, 128}};
static const Extents training[] = {
    {1024, 2048, 8},  {1024, 4096, 8},  {1024, 8192, 8},  {2048, 2048, 8},
    {2048, 4096, 8},  {2048, 8192, 8},  {4096, 2048, 8},  {4096, 4096, 8},
    {4096, 8192, 8},  {8192, 2048, 8},  {8192, 4096, 8},  {8192, 8192, 8},
    {16384, 2048, 8}, {16384, 4096, 8}, {16384, 8192, 8}, {32768, 2048, 8},
    {32768, 4096, 8}, {32768, 8192, 8}};

static const Extents groups[] = {
    {2048, 8192, 128}, {4096, 8192, 128},  {5120, 8192, 128}, {6144, 8192, 128},
    {8192, 8192, 128}, {16384, 8192, 128}, {32768, 8192, 128}};
static const Extents cpu[] = {{8192, 5120, 128}, {128, 5120, 128}};
static const Extents small[] = {{256, 512, 8}, {16, 1024, 16}};

typedef struct ShapeSet {
  const char *name;
  const Extents *shapes;
  size_t count;
} ShapeSet;

enum { LARGEST_SET = sizeof(training) / sizeof(*training) };

static const ShapeSet shapeSets[] = {
    {"models", models, sizeof(models) / sizeof(*models)},
    {"training", training, LARGEST_SET},
    {"groups", groups, sizeof(groups) / sizeof(*groups)},
    {"cpu", cpu, sizeof(cpu) / sizeof(*cpu)},
    {"small", small, sizeof(small) / sizeof(*small)}};

static bool addShapes(const char *name, Options *options) {
  for (size_t i = 0; i < sizeof(shapeSets) / sizeof(*shapeSets); ++i)
    if (strcmp(shapeSets[i].name, name) == 0) {
      memcpy(options->shapes + options->numShapes, shapeSets[i].shapes,
             shapeSets[i].count * sizeof(Extents));
      options->numShapes += shapeSets[i].count;
      return true;
    }
  fprintf(stderr,
          "gq-bench: --shapes=%s: expected models, training, groups, cpu or "
          "small\n",
          name);
  return false;
}

/// Takes a number from 1 to `most`, and `end` behind it, off the text.
static bool parseNumber(const char **text, char end, int64_t most,
                        int64_t *number) {
  char *rest;
  *number = strtoll(*text, &rest, 10);
  if (rest == *text || *rest != end || *number < 1 || *number > most)
    return false;
  *text = rest + 1;
  return true;
}

/// Rows and padded scale rows are i32 in the graphs' offsets.
static bool parseShape(const char *text, Extents *shape) {
  const char *rest = text;
  if (parseNumber(&rest, 'x', (1 << 30) - 1, &shape->rows) &&
      parseNumber(&rest, 'x', (1 << 30) - 1, &shape->columns) &&
      parseNumber(&rest, '\0', (1 << 20) - 1, &shape->groups) &&
      shape->columns % 32 == 0)
    return true;
  fprintf(stderr,
          "gq-bench: --shape=%s: expected MxKxG, K a multiple of 32, such as "
          "8192x5120x128\n",
          text);
  return false;
}

static bool parseGroupMultiple(const char *text, int64_t *multiple) {
  const char *rest = text;
  if (parseNumber(&rest, '\0', (1 << 30) - 1, multiple))
    return true;
  fprintf(stderr,
          "gq-bench: --group-multiple=%s: expected a number of rows, such as "
          "128\n",
          text);
  return false;
}

static bool parseCapacity(const char *text, int64_t *capacity) {
  const char *rest = text;
  if (parseNumber(&rest, '\0', 64, capacity))
    return true;
  fprintf(stderr, "gq-bench: --capacity=%s: expected a number from 1 to 64\n",
          text);
  return false;
}

static bool parseGroupSizes(const char *text, GroupSizes *sizes) {
  if (groupSizesFind(text, sizes))
    return true;
  fprintf(stderr,
          "gq-bench: --group-sizes=%s: expected uneven, equal or zipf\n", text);
  return false;
}

static bool parseOperator(const char *name, const Operator **op) {
  *op = operatorFind(name);
  if (!*op)
    fprintf(stderr,
            "gq-bench: --operator=%s: there is none of this name; see "
            "--help\n",
            name);
  return *op;
}

static void printUsage(void) {
  fputs(usage, stdout);
  for (size_t i = 0; i < numOperators; ++i)
    printf("  %s\n", operators[i].name);
}

/// Returns false if the program should end, with `*exitCode`.
static bool parseOptions(int argc, char **argv, Options *options,
                         int *exitCode) {
  static const struct option known[] = {
      {"target", required_argument, NULL, 't'},
      {"operator", required_argument, NULL, 'o'},
      {"shape", required_argument, NULL, 's'},
      {"shapes", required_argument, NULL, 'n'},
      {"group-multiple", required_argument, NULL, 'm'},
      {"group-sizes", required_argument, NULL, 'z'},
      {"capacity", required_argument, NULL, 'c'},
      {"times", no_argument, NULL, 'i'},
      {"quick", no_argument, NULL, 'q'},
      {"json", required_argument, NULL, 'j'},
      {"svg", required_argument, NULL, 'g'},
      {"from", required_argument, NULL, 'f'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'v'},
      {0}};
  *exitCode = EXIT_FAILURE;
  for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (c) {
    case 't':
      options->target = optarg;
      break;
    case 'o':
      if (!parseOperator(optarg, &options->operators[options->numOperators++]))
        return false;
      break;
    case 's':
      if (!parseShape(optarg, &options->shapes[options->numShapes++]))
        return false;
      break;
    case 'n':
      if (!addShapes(optarg, options))
        return false;
      break;
    case 'm':
      if (!parseGroupMultiple(optarg, &options->grouping.multiple))
        return false;
      break;
    case 'z':
      if (!parseGroupSizes(optarg, &options->grouping.sizes))
        return false;
      break;
    case 'c':
      if (!parseCapacity(optarg, &options->grouping.capacity))
        return false;
      break;
    case 'i':
      options->times = true;
      break;
    case 'q':
      options->isQuick = true;
      break;
    case 'j':
      options->json = optarg;
      break;
    case 'g':
      options->svg = optarg;
      break;
    case 'f':
      options->from = optarg;
      break;
    case 'h':
      *exitCode = EXIT_SUCCESS;
      printUsage();
      return false;
    case 'v':
      *exitCode = EXIT_SUCCESS;
      fputs("gq-bench " GQ_VERSION "\n", stdout);
      return false;
    default: // getopt_long has said what is wrong.
      return false;
    }
  }
  if (optind < argc) {
    fprintf(stderr, "gq-bench: '%s' is no option; see --help\n", argv[optind]);
    return false;
  }
  if (strcmp(options->target, "cpu") == 0 ||
      strcmp(options->target, "cuda") == 0)
    return true;
  fprintf(stderr, "gq-bench: --target=%s: expected cpu or cuda\n",
          options->target);
  return false;
}

//===----------------------------------------------------------------------===//
// Machine
//===----------------------------------------------------------------------===//

/// Copies the first line of a file after `prefix`, if there is one.
static void findLine(const char *path, const char *prefix,
                     char line[REPORT_NAME_SIZE]) {
  char text[256];
  FILE *file = fopen(path, "r");
  while (file && fgets(text, sizeof(text), file)) {
    if (strncmp(text, prefix, strlen(prefix)) != 0)
      continue;
    text[strcspn(text, "\n")] = '\0';
    snprintf(line, REPORT_NAME_SIZE, "%.*s", REPORT_NAME_SIZE - 1,
             text + strlen(prefix));
    break;
  }
  if (file)
    fclose(file);
}

static gqStatus describeMachine(const char *target, Machine *machine) {
  snprintf(machine->target, REPORT_NAME_SIZE, "%s", target);
  if (strcmp(target, "cpu") == 0) {
    snprintf(machine->name, REPORT_NAME_SIZE, "a CPU");
    findLine("/proc/cpuinfo", "model name\t: ", machine->name);
    gqCpuInfo cpu;
    gqGetCpuInfo(&cpu);
    snprintf(machine->isa, REPORT_NAME_SIZE, "%s", cpu.isa);
    machine->threads = cpu.numThreads;
    if (getloadavg(&machine->load, 1) != 1)
      machine->load = 0;
    return GQ_OK;
  }
  gqDeviceInfo info;
  gqStatus status = gqGetDeviceInfo(&info);
  if (status != GQ_OK)
    return status;
  snprintf(machine->name, REPORT_NAME_SIZE, "%s", info.name);
  snprintf(machine->chip, REPORT_NAME_SIZE, "%s", info.chip);
  snprintf(machine->cuda, REPORT_NAME_SIZE, "%d.%d", info.cudaVersion / 1000,
           info.cudaVersion % 1000 / 10);
  findLine("/sys/module/nvidia/version", "", machine->driver);
  return GQ_OK;
}

static void setDate(char date[REPORT_NAME_SIZE]) {
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(date, REPORT_NAME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

//===----------------------------------------------------------------------===//
// Measurement
//===----------------------------------------------------------------------===//

/// A graph in both forms. The separate ops work on the arguments of `problem`,
/// the fused one on those of them that it has.
typedef struct Case {
  const Operator *op;
  const Shape *shape;
  const char *target;
  Graph fusedGraph, separateGraph;
  Path fused, separate;
  Problem problem;
  /// What the fused op wrote.
  char *outputs;
} Case;

static gqCompileOptions optionsOf(const Case *c, bool fuse) {
  return (gqCompileOptions){
      .target = c->target, .noFusion = !fuse, .fuseQuantization = fuse};
}

static gqStatus compile(const Case *c, Graph *graph, bool fuse, Path *path) {
  gqCompileOptions options = optionsOf(c, fuse);
  *path = (Path){NULL, graph, &c->problem};
  if (!graphCreate(c->op, c->shape, /*isSeparate=*/!fuse, graph))
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  return gqCompile(graph->text, strlen(graph->text), &options,
                   &path->executable);
}

/// Measures a path on outputs that are poisoned before and returned after.
static gqStatus measurePath(Meter *meter, Case *c, Path *path, int poison,
                            char *outputs, double *microseconds) {
  gqStatus status = problemPoison(&c->problem, poison);
  if (status == GQ_OK)
    status = meterWarmUp(meter);
  if (status == GQ_OK)
    status =
        meterMeasure(meter, pathInvoke, path,
                     meterLaunches(meter, c->problem.numSets), microseconds);
  return status == GQ_OK ? problemReadOutputs(&c->problem, outputs) : status;
}

/// Every byte of the outputs is owned by some group, so that bytes which are
/// equal over different poison have been written by both.
static gqStatus compareOutputs(const char *fused, const char *separate,
                               size_t size) {
  size_t different = 0;
  for (size_t i = 0; i < size; ++i)
    different += fused[i] != separate[i];
  return different == 0 ? GQ_OK
                        : gqFail(GQ_CUDA_ERROR,
                                 "%zu of %zu bytes are not what the separate "
                                 "ops write: the times mean nothing",
                                 different, size);
}

static gqStatus measureRowCopy(Meter *meter, Row *row) {
  CopyTimes times;
  gqStatus status = meterWarmUp(meter);
  if (status == GQ_OK)
    status = meterCopy(meter, (size_t)row->bytes / 2, &times);
  if (status == GQ_OK) {
    row->copyMicroseconds = copyTimesBest(&times);
    row->memcpyMicroseconds = times.memcpyMicroseconds;
  }
  return status;
}

/// Measures both paths, and compares what they write. Each has the smaller one
/// of the time it had and the new one.
static gqStatus measurePaths(Meter *meter, Case *c, Row *row) {
  size_t size = problemOutputSize(&c->problem);
  // What is before in outputs, so that what is not written differs; but rows in
  // no group are not.
  uint8_t before = c->shape->rows > c->shape->groupRows ? 0x5a : 0xa5;
  double fused = 0, separate = 0;
  gqStatus status =
      measurePath(meter, c, &c->fused, before, c->outputs, &fused);
  if (status == GQ_OK)
    status =
        measurePath(meter, c, &c->separate, 0x5a, c->outputs + size, &separate);
  row->microseconds = fmin(row->microseconds, fused);
  row->separateMicroseconds = fmin(row->separateMicroseconds, separate);
  return status == GQ_OK ? compareOutputs(c->outputs, c->outputs + size, size)
                         : status;
}

static gqStatus measureCase(Meter *meter, Case *c, Row *row) {
  c->outputs = malloc(2 * problemOutputSize(&c->problem));
  if (!c->outputs)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  gqStatus status = measureRowCopy(meter, row);
  row->microseconds = row->separateMicroseconds = HUGE_VAL;
  if (status == GQ_OK)
    status = measurePaths(meter, c, row);
  // Now and then the same kernel's two times differ by as much.
  if (status == GQ_OK && rowIsSlower(row))
    status = measurePaths(meter, c, row);
  return status;
}

/// Compiles the fused graph again, which is in the cache by now: without the
/// cache, then from it.
static gqStatus measureCompiler(const Case *c, Row *row) {
  gqCompileOptions options = optionsOf(c, /*fuse=*/true);
  double *times[] = {&row->coldMilliseconds, &row->cachedMilliseconds};
  const char *text = c->fusedGraph.text;
  Stopwatch clock;
  gqStatus status = stopwatchCreate((DLDevice){kDLCPU, 0}, &clock);
  for (int i = 0; i < 2 && status == GQ_OK; ++i) {
    gqExecutable *executable = NULL;
    options.cacheDir = i == 0 ? "" : NULL;
    status = stopwatchStart(&clock);
    if (status == GQ_OK)
      status = gqCompile(text, strlen(text), &options, &executable);
    if (status == GQ_OK)
      status = stopwatchStop(&clock, times[i]);
    *times[i] *= 1e-3;
    gqExecutableDestroy(executable);
  }
  stopwatchDestroy(&clock);
  return status;
}

/// What is not the device's time. On the CPU a call is its work.
static gqStatus measureTimes(Meter *meter, Case *c, Row *row) {
  gqStatus status = measureCompiler(c, row);
  return status == GQ_OK && meter->stopwatch.isCuda
             ? stopwatchHostTime(&meter->stopwatch, pathInvokeRepeatedly,
                                 &c->fused, &row->hostMicroseconds)
             : status;
}

static gqStatus prepareCase(Meter *meter, Case *c, Row *row) {
  gqStatus status = compile(c, &c->fusedGraph, /*fuse=*/true, &c->fused);
  if (status == GQ_OK)
    status = compile(c, &c->separateGraph, /*fuse=*/false, &c->separate);
  if (status != GQ_OK)
    return status;
  // Amaxes write nothing that drives a matrix out of L2, and lines of it may
  // stay until its next turn: four times as many sets.
  double touched = (double)row->bytes / (c->op->parts & IS_AMAX ? 4 : 1);
  int64_t sets = meterSets(meter, touched, problemSetSize(&c->separateGraph));
  return problemCreate(meter->device, c->shape, &c->separateGraph, sets,
                       &c->problem);
}

static gqStatus runCase(Meter *meter, Case *c, bool times, Row *row) {
  gqStatus status = prepareCase(meter, c, row);
  if (status == GQ_OK)
    status = measureCase(meter, c, row);
  if (status == GQ_OK && times)
    status = measureTimes(meter, c, row);
  problemFree(&c->problem);
  gqExecutableDestroy(c->fused.executable);
  gqExecutableDestroy(c->separate.executable);
  graphFree(&c->fusedGraph);
  graphFree(&c->separateGraph);
  free(c->outputs);
  return status;
}

/// Measures an operator at a shape, prints and appends its row.
static bool runRow(Meter *meter, const Options *options, const Operator *op,
                   const Shape *shape, Report *report) {
  Case c = {.op = op, .shape = shape, .target = options->target};
  Row row = {.rows = shape->groupRows,
             .columns = shape->columns,
             .groups = shape->groups,
             .bytes = (int64_t)operatorBytes(op, shape),
             .flops = (int64_t)operatorFlops(op, shape)};
  snprintf(row.name, sizeof(row.name), "%s", op->name);
  gqStatus status = runCase(meter, &c, options->times, &row);
  if (status == GQ_OK)
    status = reportAddRow(report, &row);
  if (status == GQ_OK) {
    reportPrintRow(report, &row, stdout);
    fflush(stdout);
    return true;
  }
  fprintf(stderr,
          "gq-bench: %s, %" PRId64 "x%" PRId64 " in %" PRId64 " groups: %s\n",
          op->name, shape->groupRows, shape->columns, shape->groups,
          gqGetLastErrorMessage());
  return false;
}

static gqStatus measureCopies(Meter *meter, Report *report) {
  gqStatus status = meterWarmUp(meter);
  for (size_t size = meter->plan.firstCopy;
       size <= meter->plan.lastCopy && status == GQ_OK; size *= 2) {
    CopyTimes times;
    status = meterCopy(meter, size, &times);
    if (status == GQ_OK)
      status =
          reportAddCopy(report, &(CopyRow){(int64_t)size, copyTimesBest(&times),
                                           times.memcpyMicroseconds,
                                           times.kernelMicroseconds});
  }
  return status;
}

/// What rows are compared with.
static gqStatus measureMachine(Meter *meter, Report *report) {
  gqStatus status = measureCopies(meter, report);
  if (status == GQ_OK)
    status = meterLaunch(meter, &report->launchMicroseconds);
  if (status == GQ_OK && !meter->stopwatch.isCuda)
    status = cpuFlopRate(meter->numThreads, &report->peakTeraflopsPerSecond);
  return status;
}

static int writeFiles(const Options *options, const Report *report) {
  if (options->json && reportWriteJson(report, options->json) != GQ_OK)
    return fail(options->json);
  if (options->svg && reportWriteSvg(report, options->svg) != GQ_OK)
    return fail(options->svg);
  return EXIT_SUCCESS;
}

/// Every operator at every shape. A row that fails is left out. Files have all
/// rows so far, so that a run that is cut short keeps them.
static bool runRows(Meter *meter, const Options *options, Report *report) {
  bool succeeded = true;
  for (size_t i = 0; i < options->numOperators; ++i) {
    for (size_t j = 0; j < options->numShapes; ++j) {
      const Extents *extents = &options->shapes[j];
      Shape shape;
      if (!shapeInit(&shape, extents->rows, extents->columns, extents->groups,
                     &options->grouping)) {
        fprintf(stderr, "gq-bench: out of memory\n");
        return false;
      }
      succeeded &=
          runRow(meter, options, options->operators[i], &shape, report);
      shapeFree(&shape);
      if (writeFiles(options, report) != EXIT_SUCCESS)
        return false;
    }
  }
  return succeeded;
}

static int runAll(const Options *options, Report *report) {
  Meter meter;
  bool isCuda = strcmp(options->target, "cuda") == 0;
  gqStatus status = meterCreate(isCuda, options->isQuick, &meter);
  setDate(report->date);
  report->grouping = options->grouping;
  if (status == GQ_OK)
    status = describeMachine(options->target, &report->machine);
  // Without the kernel only memcpy copies, which rows are still compared with.
  bool succeeded = status != GQ_OK || meterAddKernel(&meter) == GQ_OK;
  if (!succeeded)
    fail("only cuMemcpyAsync or memcpy copies");
  if (status == GQ_OK)
    status = measureMachine(&meter, report);
  int exitCode = EXIT_FAILURE;
  if (status != GQ_OK) {
    fail(NULL);
  } else {
    reportPrintHeader(report, stdout);
    reportPrintColumns(report, options->times, stdout);
    fflush(stdout);
    if (runRows(&meter, options, report) && succeeded)
      exitCode = EXIT_SUCCESS;
  }
  meterDestroy(&meter);
  return exitCode;
}

//===----------------------------------------------------------------------===//
// Main
//===----------------------------------------------------------------------===//

/// What is measured by default.
static void setDefaults(Options *options) {
  /// One of each kind, since each takes a CPU seconds.
  static const char *const kinds[] = {
      "quantize-bf16",     "quantize-bf16-both", "te-bf16-columns",
      "te-bf16-both",      "mxfp8-bf16",         "mxfp8-bf16-both",
      "delayed-e4m3-bf16", "amax-bf16",          "amax-bf16-rows",
      "dequantize-nvfp4",  "dequantize-mxfp8",   "dequantize-e4m3",
      "mm-nvfp4-n1536",    "mm-fp8-n1536",       "mm-e4m3-n1536"};
  bool isCuda = strcmp(options->target, "cuda") == 0;
  if (!options->numOperators && (isCuda || options->isQuick)) {
    for (size_t i = 0; i < numOperators; ++i)
      // On a CPU, large products take minutes.
      if (isCuda || operators[i].outColumns < 2048)
        options->operators[options->numOperators++] = &operators[i];
  } else if (!options->numOperators) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i)
      options->operators[options->numOperators++] = operatorFind(kinds[i]);
  }
  if (!options->numShapes)
    addShapes(isCuda ? "models" : options->isQuick ? "small" : "cpu", options);
}

static int run(Options *options) {
  Report report = {.date = ""};
  int exitCode = EXIT_SUCCESS;
  setDefaults(options);
  if (!options->from)
    exitCode = runAll(options, &report);
  else if (reportReadJson(options->from, &report) != GQ_OK)
    exitCode = fail(options->from);
  else
    exitCode = writeFiles(options, &report);
  // On a CPU, and where repetitions are few, times differ by more.
  if (strcmp(report.machine.target, "cuda") == 0 && !options->isQuick &&
      reportPrintSlower(&report, stderr))
    exitCode = EXIT_FAILURE;
  reportFree(&report);
  return exitCode;
}

int gqBenchMain(int argc, char **argv) {
  // Room for what is given and for the defaults.
  size_t count = (size_t)argc * LARGEST_SET + numOperators;
  Options options = {.target = "cuda",
                     .grouping = {.multiple = 1, .capacity = 1},
                     .operators = calloc(count, sizeof(Operator *)),
                     .shapes = calloc(count, sizeof(Extents))};
  int exitCode = EXIT_FAILURE;
  if (!options.operators || !options.shapes)
    fprintf(stderr, "gq-bench: out of memory\n");
  else if (parseOptions(argc, argv, &options, &exitCode))
    exitCode = run(&options);
  free(options.operators);
  free(options.shapes);
  return exitCode;
}
