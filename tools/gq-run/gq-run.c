//===- gq-run.c - compile an MLIR file and run it -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "gq/Runtime/Cuda.h"
#include "gq/Runtime/Executable.h"
#include "tools/common/Device.h"
#include "tools/common/File.h"
#include "tools/common/Tools.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: gq-run FILE.mlir [options]\n"
    "\n"
    "Compiles an MLIR module (- reads it from the standard input) and runs "
    "one\n"
    "of its functions.\n"
    "\n"
    "  --entry=NAME        the function to run (main)\n"
    "  --target=cpu|cuda   where to run it (cpu)\n"
    "  --in A.npy          the next argument of the function. bf16 is uint16,\n"
    "                      f8 and packed f4 are uint8. An array has the shape\n"
    "                      of the argument, or is flat with as many elements\n"
    "  --out DIR           write the results to DIR/0.npy, DIR/1.npy, ...;\n"
    "                      8-bit data as uint8, bf16 as uint16\n"
    "  --repeat=N          run N times, each time on the same data, and print\n"
    "                      the median time\n"
    "  --host-time         print the time that a call takes the host, which "
    "waits\n"
    "                      for no device: of calls after the first, the best\n"
    "                      of 30 times 50\n"
    "  --graph             capture the call in a CUDA graph and run that;\n"
    "                      results must be written into arguments\n"
    "  --no-fusion         leave the ops of the graph as they are\n"
    "  --fuse-quantization\n"
    "                      have a GPU's matmuls quantize their outputs\n"
    "  --help, --version\n";

/// Prints the message of the last failure. `what`, if not null, is what failed.
static int fail(const char *what) {
  fprintf(stderr, "gq-run: %s%s%s\n", what ? what : "", what ? ": " : "",
          gqGetLastErrorMessage());
  return EXIT_FAILURE;
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

typedef struct Options {
  const char *file;
  const char *entry;
  const char *out;
  /// The files of --in, in order.
  const char **inputs;
  size_t numInputs;
  /// 0 if --repeat was not given.
  long repeat;
  bool hostTime, graph;
  gqCompileOptions compile;
} Options;

static bool parseRepeat(const char *text, long *repeat) {
  char *end;
  errno = 0;
  *repeat = strtol(text, &end, 10);
  if (*repeat > 0 && *text && !*end && !errno)
    return true;
  fprintf(stderr, "gq-run: --repeat=%s: expected a positive number\n", text);
  return false;
}

/// Returns false if the program should end, with `*exitCode`.
static bool parseOptions(int argc, char **argv, Options *options,
                         int *exitCode) {
  static const struct option known[] = {
      {"entry", required_argument, NULL, 'e'},
      {"target", required_argument, NULL, 't'},
      {"in", required_argument, NULL, 'i'},
      {"out", required_argument, NULL, 'o'},
      {"repeat", required_argument, NULL, 'r'},
      {"host-time", no_argument, NULL, 'c'},
      {"graph", no_argument, NULL, 'g'},
      {"no-fusion", no_argument, NULL, 'n'},
      {"fuse-quantization", no_argument, NULL, 'q'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'v'},
      {0}};
  *exitCode = EXIT_FAILURE;
  for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (c) {
    case 'e':
      options->entry = optarg;
      break;
    case 't':
      options->compile.target = optarg;
      break;
    case 'i':
      options->inputs[options->numInputs++] = optarg;
      break;
    case 'o':
      options->out = optarg;
      break;
    case 'r':
      if (!parseRepeat(optarg, &options->repeat))
        return false;
      break;
    case 'c':
      options->hostTime = true;
      break;
    case 'g':
      options->graph = true;
      break;
    case 'n':
      options->compile.noFusion = true;
      break;
    case 'q':
      options->compile.fuseQuantization = true;
      break;
    case 'h':
    case 'v':
      *exitCode = EXIT_SUCCESS;
      fputs(c == 'h' ? usage : "gq-run " GQ_VERSION "\n", stdout);
      return false;
    default: // getopt_long has said what is wrong.
      return false;
    }
  }
  if (argc - optind != 1) {
    fprintf(stderr, "gq-run: expected one MLIR file, found %d; see --help\n",
            argc - optind);
    return false;
  }
  options->file = argv[optind];
  return true;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static gqStatus readSource(const char *path, char **text, size_t *length) {
  return strcmp(path, "-") == 0 ? fileReadAll(stdin, text, length)
                                : fileRead(path, text, length);
}

/// Returns null after a message.
static gqExecutable *compileFile(const Options *options) {
  char *text;
  size_t length = 0;
  if (readSource(options->file, &text, &length) != GQ_OK) {
    fail(options->file);
    return NULL;
  }
  gqExecutable *executable;
  if (gqCompile(text, length, &options->compile, &executable) != GQ_OK)
    fail(NULL);
  free(text);
  return executable;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// An argument of the function.
typedef struct Input {
  NpyArray array;
  /// The copy of the array that the function works on.
  DLTensor tensor;
} Input;

static gqStatus readArray(const char *path, NpyArray *array) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return gqFail(GQ_IO_ERROR, "%s", strerror(errno));
  gqStatus status = npyRead(file, array);
  fclose(file);
  return status;
}

/// Gives a flat array the shape of the argument if it has that many elements,
/// solving for one dynamic extent. What does not fit is left for gqTypeCheck to
/// report.
static void reshapeFlat(const gqType *type, NpyArray *array) {
  if (array->rank != 1 || type->rank == 1)
    return;
  int64_t elements = array->shape[0], known = 1;
  int32_t dynamic = -1;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->sizes[i] >= 0) {
      if (__builtin_mul_overflow(known, type->sizes[i], &known))
        return;
    } else if (dynamic < 0)
      dynamic = i;
    else
      return;
  }
  bool fits =
      dynamic < 0 ? known == elements : known != 0 && elements % known == 0;
  if (!fits)
    return;
  array->rank = type->rank < 0 ? 0 : type->rank;
  for (int32_t i = 0; i < array->rank; ++i)
    array->shape[i] = i == dynamic ? elements / known : type->sizes[i];
}

static gqStatus readInput(const char *path, const gqType *type, DLDevice device,
                          Input *input) {
  gqStatus status = readArray(path, &input->array);
  if (status != GQ_OK)
    return status;
  reshapeFlat(type, &input->array);
  DLTensor tensor = {.data = input->array.data,
                     .device = {kDLCPU, 0},
                     .ndim = input->array.rank,
                     .dtype = input->array.dtype,
                     .shape = input->array.shape};
  status = gqTypeCheck(type, &tensor);
  if (status != GQ_OK)
    return status;
  // Scalars stay on the CPU.
  if (type->rank >= 0)
    tensor.device = device;
  status = deviceAlloc(tensor.device, input->array.size, &tensor.data);
  if (status == GQ_OK)
    input->tensor = tensor;
  return status;
}

/// Reads the arguments in order; `inputs` has room for them.
static bool readInputs(const Options *options, const gqSignature *signature,
                       DLDevice device, Input *inputs) {
  if (options->numInputs != (size_t)signature->numInputs) {
    fprintf(stderr,
            "gq-run: function '%s' takes %d arguments, found %zu --in\n",
            signature->name, signature->numInputs, options->numInputs);
    return false;
  }
  for (size_t i = 0; i < options->numInputs; ++i) {
    const char *path = options->inputs[i];
    if (readInput(path, &signature->inputs[i], device, &inputs[i]) == GQ_OK)
      continue;
    fprintf(stderr, "gq-run: argument %zu (%s): %s\n", i, path,
            gqGetLastErrorMessage());
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Writes a tensor on any device.
static gqStatus writeTensor(FILE *file, const DLTensor *tensor) {
  DLDevice cpu = {kDLCPU, 0};
  size_t size = (size_t)tensor->dtype.bits * tensor->dtype.lanes / 8;
  for (int i = 0; i < tensor->ndim; ++i)
    size *= (size_t)tensor->shape[i];
  DLTensor copy = *tensor;
  copy.device = cpu;
  copy.byte_offset = 0;
  gqStatus status = deviceAlloc(cpu, size, &copy.data);
  if (status == GQ_OK)
    status = deviceRead(tensor->device, copy.data,
                        (char *)tensor->data + tensor->byte_offset, size);
  if (status == GQ_OK)
    status = npyWrite(file, &copy);
  deviceFree(cpu, copy.data);
  return status;
}

/// Writes a tensor to a file that has no name yet.
static gqStatus writeArray(int folder, const DLTensor *tensor,
                           OutputFile *file) {
  gqStatus status = outputFileOpen(folder, file);
  if (status == GQ_OK)
    status = writeTensor(file->stream, tensor);
  return status == GQ_OK ? outputFileClose(file) : status;
}

/// The name of the file of a result.
typedef struct ResultName {
  char text[16];
} ResultName;

static ResultName resultName(int32_t i) {
  ResultName name;
  snprintf(name.text, sizeof(name.text), "%d.npy", i);
  return name;
}

/// Writes all results or, if one cannot be written, none. `files` has room for
/// them, and is empty.
static gqStatus writeResults(int folder, DLManagedTensor **outputs,
                             int32_t count, OutputFile *files) {
  gqStatus status = GQ_OK;
  int32_t failed = 0, numPlaced = 0;
  for (; failed < count && status == GQ_OK; failed += status == GQ_OK)
    status = writeArray(folder, &outputs[failed]->dl_tensor, &files[failed]);
  for (; numPlaced < count && status == GQ_OK; numPlaced += status == GQ_OK) {
    status = outputFilePlace(&files[numPlaced], resultName(numPlaced).text);
    failed = numPlaced;
  }
  if (status == GQ_OK)
    return GQ_OK;
  for (int32_t i = 0; i < count; ++i)
    outputFileDiscard(&files[i]);
  for (int32_t i = 0; i < numPlaced; ++i)
    unlinkat(folder, resultName(i).text, 0);
  return gqFail(status, "%s: %s", resultName(failed).text,
                gqGetLastErrorMessage());
}

static gqStatus writeFolder(const char *path, DLManagedTensor **outputs,
                            int32_t count) {
  bool isNew = mkdir(path, 0777) == 0;
  if (!isNew && errno != EEXIST)
    return gqFail(GQ_IO_ERROR, "%s: %s", path, strerror(errno));
  int folder = -1;
  OutputFile *files = calloc((size_t)count + 1, sizeof(OutputFile));
  gqStatus status = files ? outputFolderOpen(path, &folder)
                          : gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  if (status == GQ_OK)
    status = writeResults(folder, outputs, count, files);
  free(files);
  if (folder >= 0)
    close(folder);
  if (status == GQ_OK)
    return GQ_OK;
  if (isNew)
    rmdir(path);
  return gqFail(status, "%s: %s", path, gqGetLastErrorMessage());
}

static void printResults(const gqSignature *signature,
                         DLManagedTensor **outputs) {
  for (int32_t i = 0; i < signature->numResults; ++i) {
    const DLTensor *tensor = &outputs[i]->dl_tensor;
    printf("result %d: %s [", i, gqElementTypeName(signature->results[i].type));
    for (int d = 0; d < tensor->ndim; ++d)
      printf("%s%" PRId64, d ? ", " : "", tensor->shape[d]);
    printf("]\n");
  }
}

//===----------------------------------------------------------------------===//
// Invocation
//===----------------------------------------------------------------------===//

/// A function with its arguments and, after an invocation, its results.
typedef struct Run {
  gqExecutable *executable;
  const gqSignature *signature;
  Input *inputs;
  DLTensor **tensors;
  DLManagedTensor **outputs;
  Stopwatch stopwatch;
  /// With --graph: a stream of the run's own, and its call captured.
  void *stream, *graph;
} Run;

static void releaseOutputs(Run *run) {
  for (int32_t i = 0; i < run->signature->numResults; ++i) {
    if (run->outputs[i])
      run->outputs[i]->deleter(run->outputs[i]);
    run->outputs[i] = NULL;
  }
}

/// Calls the function with the arguments as they are.
static gqStatus call(void *context) {
  Run *run = context;
  releaseOutputs(run);
  return gqInvoke(run->executable, run->signature->name, run->tensors,
                  (size_t)run->signature->numInputs, run->outputs,
                  (size_t)run->signature->numResults);
}

/// New copies of the arguments, which the function may write.
static gqStatus writeArguments(Run *run) {
  gqStatus status = GQ_OK;
  for (int32_t i = 0; i < run->signature->numInputs && status == GQ_OK; ++i) {
    Input *input = &run->inputs[i];
    status = deviceWrite(input->tensor.device, input->tensor.data,
                         input->array.data, input->array.size);
    run->tensors[i] = &input->tensor;
  }
  return status;
}

/// What a captured call allocates belongs to the graph.
static gqStatus checkOutputs(const Run *run) {
  for (int32_t i = 0; i < run->signature->numResults; ++i) {
    bool isArgument = false;
    for (int32_t j = 0; j < run->signature->numInputs; ++j)
      isArgument |= run->outputs[i]->dl_tensor.data == run->tensors[j]->data;
    if (!isArgument)
      return gqFail(GQ_INVALID_ARGUMENT,
                    "--graph: result %d is not written into an argument", i);
  }
  return GQ_OK;
}

/// Captures the call, after one that loads the kernels.
static gqStatus capture(Run *run) {
  gqStatus status = gqSynchronize(); // Arguments are of the default stream.
  if (status == GQ_OK)
    status = gqStreamCreate(&run->stream);
  if (status != GQ_OK)
    return status;
  gqSetStream(run->stream);
  status = writeArguments(run);
  if (status == GQ_OK)
    status = call(run);
  if (status == GQ_OK)
    status = checkOutputs(run);
  return status == GQ_OK ? deviceCapture(call, run, &run->graph) : status;
}

static gqStatus invoke(Run *run, double *microseconds) {
  gqStatus status = writeArguments(run);
  if (status == GQ_OK)
    status = stopwatchStart(&run->stopwatch);
  if (status == GQ_OK)
    status = run->graph ? gqGraphLaunch(run->graph) : call(run);
  return status == GQ_OK ? stopwatchStop(&run->stopwatch, microseconds)
                         : status;
}

/// Invokes the function `count` times. The results are those of the last time.
static gqStatus invokeRepeatedly(Run *run, long count, double *median) {
  double *times = calloc((size_t)count, sizeof(double));
  if (!times)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  gqStatus status = GQ_OK;
  for (long i = 0; i < count && status == GQ_OK; ++i)
    status = invoke(run, &times[i]);
  *median = stopwatchMedian(times, (size_t)count);
  free(times);
  return status;
}

/// Calls that wait for nothing, as many as the queue of a stream holds. Results
/// that are arguments are not returned.
static gqStatus callRepeatedly(void *context, int count) {
  Run *run = context;
  const gqSignature *signature = run->signature;
  bool isFresh = false;
  for (int32_t i = 0; i < signature->numResults; ++i)
    isFresh |= signature->sources[i] < 0;
  gqStatus status = GQ_OK;
  for (int i = 0; i < count && status == GQ_OK; ++i) {
    releaseOutputs(run);
    status = gqInvoke(run->executable, signature->name, run->tensors,
                      (size_t)signature->numInputs, run->outputs,
                      isFresh ? (size_t)signature->numResults : 0);
  }
  return status;
}

static int runAndReport(const Options *options, Run *run) {
  const gqSignature *signature = run->signature;
  double median = 0, host = 0;
  if ((options->graph && capture(run) != GQ_OK) ||
      (options->hostTime && (writeArguments(run) != GQ_OK ||
                             stopwatchHostTime(&run->stopwatch, callRepeatedly,
                                               run, &host) != GQ_OK)) ||
      invokeRepeatedly(run, options->repeat ? options->repeat : 1, &median) !=
          GQ_OK)
    return fail(signature->name);
  if (options->out &&
      writeFolder(options->out, run->outputs, signature->numResults) != GQ_OK)
    return fail(NULL);
  if (!options->out)
    printResults(signature, run->outputs);
  if (options->repeat)
    printf("median of %ld: %.3f us\n", options->repeat, median);
  if (options->hostTime)
    printf("host: %.3f us\n", host);
  return EXIT_SUCCESS;
}

/// Allocates what a run needs, and releases it afterwards.
static int runFunction(const Options *options, gqExecutable *executable,
                       const gqSignature *signature) {
  // One more than needed: calloc(0) may return null.
  size_t numInputs = (size_t)signature->numInputs + 1;
  size_t numResults = (size_t)signature->numResults + 1;
  Run run = {executable,
             signature,
             calloc(numInputs, sizeof(Input)),
             calloc(numInputs, sizeof(DLTensor *)),
             calloc(numResults, sizeof(DLManagedTensor *)),
             {0},
             NULL,
             NULL};
  const char *target = options->compile.target;
  bool isCuda = target && strcmp(target, "cuda") == 0;
  DLDevice device;
  int exitCode = EXIT_FAILURE;
  if (!run.inputs || !run.tensors || !run.outputs)
    fprintf(stderr, "gq-run: out of memory\n");
  else if (options->graph && !isCuda)
    fprintf(stderr, "gq-run: --graph needs --target=cuda\n");
  else if (deviceOf(isCuda, &device) != GQ_OK ||
           stopwatchCreate(device, &run.stopwatch) != GQ_OK)
    fail(NULL);
  else if (readInputs(options, signature, device, run.inputs))
    exitCode = runAndReport(options, &run);
  if (run.graph)
    gqGraphDestroy(run.graph);
  if (run.outputs)
    releaseOutputs(&run);
  for (int32_t i = 0; run.inputs && i < signature->numInputs; ++i) {
    free(run.inputs[i].array.data);
    deviceFree(run.inputs[i].tensor.device, run.inputs[i].tensor.data);
  }
  stopwatchDestroy(&run.stopwatch);
  if (run.stream) {
    gqSetStream(NULL);
    gqStreamDestroy(run.stream);
  }
  free(run.inputs);
  free(run.tensors);
  free(run.outputs);
  return exitCode;
}

static int runFile(const Options *options) {
  gqExecutable *executable = compileFile(options);
  if (!executable)
    return EXIT_FAILURE;
  const gqSignature *signature;
  int exitCode =
      gqExecutableGetSignature(executable, options->entry, &signature) == GQ_OK
          ? runFunction(options, executable, signature)
          : fail(NULL);
  gqExecutableDestroy(executable);
  return exitCode;
}

int gqRunMain(int argc, char **argv) {
  Options options = {.entry = "main",
                     .inputs = calloc((size_t)argc, sizeof(char *))};
  int exitCode = EXIT_FAILURE;
  if (!options.inputs) {
    fprintf(stderr, "gq-run: out of memory\n");
  } else if (parseOptions(argc, argv, &options, &exitCode)) {
    options.compile.sourceName =
        strcmp(options.file, "-") == 0 ? "<stdin>" : options.file;
    exitCode = runFile(&options);
  }
  free(options.inputs);
  return exitCode;
}
