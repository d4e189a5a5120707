//===- compiled.c - tests of compiled graphs on a GPU ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program does with a compiled graph beyond calling it once: CUDA
// graphs, several streams, several threads, offsets that are wrong. Bytes are
// compared with those of the CPU target over equally poisoned outputs. The last
// line counts the tests.
//
//===----------------------------------------------------------------------===//

#include "compiled.h"

#include "gq/Runtime/Cuda.h"
#include "gq/Runtime/Executable.h"
#include "tools/common/Device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROWS = 1000,
  COLUMNS = 1024,
  GROUPS = 8,
  SCALE_ROWS = 2048, // room for any groups
  SCALE_COLUMNS = COLUMNS / 16,

  ARGUMENTS = 5,
  FIRST_OUTPUT = 3,
  CASES = 4,
  STREAMS = 2,
  POISON = 0xa5,
  SKIPPED = 77,
};

static const char text[] =
    "func.func @main(%x: tensor<?x1024xbf16>, %o: tensor<9xi32>,\n"
    "    %so: tensor<8xi32>, %q0: tensor<?x1024xf4E2M1FN>,\n"
    "    %t0: tensor<?x64xf8E4M3FN, #gq.tile128x4>)\n"
    "    -> (tensor<?x1024xf4E2M1FN>,\n"
    "        tensor<?x64xf8E4M3FN, #gq.tile128x4>) {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %m = tensor.dim %x, %c0 : tensor<?x1024xbf16>\n"
    "  %l0 = tensor.empty(%m) : tensor<?x64xf8E4M3FN>\n"
    "  %q, %l = gq.block_quantize format(nvfp4)\n"
    "      ins(%x : tensor<?x1024xbf16>)\n"
    "      outs(%q0, %l0 : tensor<?x1024xf4E2M1FN>, tensor<?x64xf8E4M3FN>)\n"
    "      -> tensor<?x1024xf4E2M1FN>, tensor<?x64xf8E4M3FN>\n"
    "  %t = gq.preprocess_grouped_matmul_sf format(nvfp4)\n"
    "      ins(%l : tensor<?x64xf8E4M3FN>)\n"
    "      groups(%o, %so : tensor<9xi32>, tensor<8xi32>)\n"
    "      outs(%t0 : tensor<?x64xf8E4M3FN, #gq.tile128x4>)\n"
    "      -> tensor<?x64xf8E4M3FN, #gq.tile128x4>\n"
    "  return %q, %t : tensor<?x1024xf4E2M1FN>,\n"
    "                  tensor<?x64xf8E4M3FN, #gq.tile128x4>\n"
    "}\n";

/// The same with a flag as the last argument, which leaves outputs as they are.
static const char noopText[] =
    "func.func @main(%x: tensor<?x1024xbf16>, %o: tensor<9xi32>,\n"
    "    %so: tensor<8xi32>, %q0: tensor<?x1024xf4E2M1FN>,\n"
    "    %t0: tensor<?x64xf8E4M3FN, #gq.tile128x4>, %flag: tensor<i32>)\n"
    "    -> (tensor<?x1024xf4E2M1FN>,\n"
    "        tensor<?x64xf8E4M3FN, #gq.tile128x4>) {\n"
    "  %q, %t = gq.grouped_block_quantize format(nvfp4)\n"
    "      ins(%x : tensor<?x1024xbf16>)\n"
    "      groups(%o, %so : tensor<9xi32>, tensor<8xi32>)\n"
    "      noop_flag(%flag : tensor<i32>)\n"
    "      outs(%q0, %t0 : tensor<?x1024xf4E2M1FN>,\n"
    "                      tensor<?x64xf8E4M3FN, #gq.tile128x4>)\n"
    "      -> tensor<?x1024xf4E2M1FN>, tensor<?x64xf8E4M3FN, #gq.tile128x4>\n"
    "  return %q, %t : tensor<?x1024xf4E2M1FN>,\n"
    "                  tensor<?x64xf8E4M3FN, #gq.tile128x4>\n"
    "}\n";

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static const struct {
  const char *name;
  DLDataType dtype;
  int rank;
  int64_t shape[2];
} arguments[ARGUMENTS] = {
    {"input", {kDLBfloat, 16, 1}, 2, {ROWS, COLUMNS}},
    {"offsets", {kDLInt, 32, 1}, 1, {GROUPS + 1}},
    {"scale offsets", {kDLInt, 32, 1}, 1, {GROUPS}},
    {"data", {kDLUInt, 8, 1}, 2, {ROWS, COLUMNS / 2}},
    {"scales", {kDLUInt, 8, 1}, 2, {SCALE_ROWS, SCALE_COLUMNS}}};

static size_t sizeOf(int argument) {
  size_t size = arguments[argument].dtype.bits / 8;
  for (int i = 0; i < arguments[argument].rank; ++i)
    size *= (size_t)arguments[argument].shape[i];
  return size;
}

/// The arguments of a call, on the CPU or on the GPU.
typedef struct Call {
  DLTensor tensors[ARGUMENTS];
} Call;

static gqStatus createCall(DLDevice device, Call *call) {
  gqStatus status = GQ_OK;
  *call = (Call){0};
  for (int i = 0; i < ARGUMENTS && status == GQ_OK; ++i) {
    call->tensors[i] = (DLTensor){.device = device,
                                  .ndim = arguments[i].rank,
                                  .dtype = arguments[i].dtype,
                                  .shape = (int64_t *)arguments[i].shape};
    status = deviceAlloc(device, sizeOf(i), &call->tensors[i].data);
  }
  return status;
}

static void freeCall(Call *call) {
  for (int i = 0; i < ARGUMENTS; ++i)
    deviceFree(call->tensors[i].device, call->tensors[i].data);
}

/// `more`, if not null, is one more input.
static gqStatus invokeWith(gqExecutable *executable, Call *call,
                           DLTensor *more) {
  DLTensor *inputs[ARGUMENTS + 1] = {[ARGUMENTS] = more};
  DLManagedTensor *outputs[ARGUMENTS - FIRST_OUTPUT];
  for (int i = 0; i < ARGUMENTS; ++i)
    inputs[i] = &call->tensors[i];
  gqStatus status =
      gqInvoke(executable, "main", inputs, ARGUMENTS + (more != NULL), outputs,
               ARGUMENTS - FIRST_OUTPUT);
  for (int i = 0; i < ARGUMENTS - FIRST_OUTPUT && status == GQ_OK; ++i)
    outputs[i]->deleter(outputs[i]);
  return status;
}

static gqStatus invoke(gqExecutable *executable, Call *call) {
  return invokeWith(executable, call, NULL);
}

/// Loads inputs of the CPU into the GPU, and poisons the outputs there.
static gqStatus load(const Call *call, const Call *host) {
  gqStatus status = GQ_OK;
  for (int i = 0; i < ARGUMENTS && status == GQ_OK; ++i) {
    const DLTensor *tensor = &call->tensors[i];
    if (i < FIRST_OUTPUT) {
      status = deviceWrite(tensor->device, tensor->data, host->tensors[i].data,
                           sizeOf(i));
      continue;
    }
    void *poison = malloc(sizeOf(i));
    if (!poison)
      return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
    memset(poison, POISON, sizeOf(i));
    status = deviceWrite(tensor->device, tensor->data, poison, sizeOf(i));
    free(poison);
  }
  return status;
}

/// Compares the outputs on the GPU with those of the CPU.
static gqStatus compare(const Call *call, const Call *expected) {
  for (int i = FIRST_OUTPUT; i < ARGUMENTS; ++i) {
    size_t size = sizeOf(i), different = 0;
    unsigned char *found = malloc(size);
    const unsigned char *bytes = expected->tensors[i].data;
    if (!found)
      return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
    gqStatus status =
        deviceRead(call->tensors[i].device, found, call->tensors[i].data, size);
    for (size_t j = 0; j < size && status == GQ_OK; ++j)
      different += found[j] != bytes[j];
    free(found);
    if (status != GQ_OK)
      return status;
    if (different)
      return gqFail(GQ_CUDA_ERROR, "%zu of %zu bytes of the %s differ",
                    different, size, arguments[i].name);
  }
  return GQ_OK;
}

//===----------------------------------------------------------------------===//
// Fixture
//===----------------------------------------------------------------------===//

/// What all tests use. Cases are on the CPU, with their right outputs; calls
/// are on the GPU, one per stream.
typedef struct Fixture {
  gqExecutable *cpu, *cuda;
  Call cases[CASES], hostile, calls[STREAMS];
  void *streams[STREAMS];
} Fixture;

static uint32_t randomNext(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/// Groups between random rows, the first and last ones often in none; gaps of
/// 128 rows between some groups' scales.
static void fillCase(Call *call, uint32_t seed) {
  uint16_t *x = call->tensors[0].data;
  int32_t *offsets = call->tensors[1].data;
  int32_t *scaleOffsets = call->tensors[2].data;
  for (int i = 0; i < ROWS * COLUMNS; ++i) // from 2^-7 to 2^9, both signs
    x[i] = (uint16_t)(0x3c00 + randomNext(&seed) % 0x800 +
                      (randomNext(&seed) & 1) * 0x8000);
  int32_t row = (int32_t)(randomNext(&seed) % 10), scaleRow = 0;
  for (int e = 0; e < GROUPS; ++e) {
    int32_t rows = (int32_t)(randomNext(&seed) % (2 * ROWS / GROUPS));
    rows = rows < ROWS - row ? rows : ROWS - row;
    offsets[e] = row;
    scaleOffsets[e] = scaleRow;
    row += rows;
    // At most 7 + 8 parts of 128 rows for at most 1000 rows in 8 groups.
    scaleRow += (rows + 127) / 128 * 128;
    if (e == (int)(seed % GROUPS))
      scaleRow += 128;
  }
  offsets[GROUPS] = row;
  for (int i = FIRST_OUTPUT; i < ARGUMENTS; ++i)
    memset(call->tensors[i].data, POISON, sizeOf(i));
}

static gqStatus compile(const char *module, const char *target,
                        gqExecutable **executable) {
  gqCompileOptions options = {.target = target, .cacheDir = ""};
  return gqCompile(module, strlen(module), &options, executable);
}

static gqStatus createCases(Fixture *fixture) {
  DLDevice cpu;
  gqStatus status = deviceOf(/*isCuda=*/false, &cpu);
  for (int i = 0; i < CASES && status == GQ_OK; ++i) {
    status = createCall(cpu, &fixture->cases[i]);
    if (status != GQ_OK)
      break;
    fillCase(&fixture->cases[i], (uint32_t)i + 1);
    status = invoke(fixture->cpu, &fixture->cases[i]);
  }
  if (status == GQ_OK)
    status = createCall(cpu, &fixture->hostile);
  if (status != GQ_OK)
    return status;
  fillCase(&fixture->hostile, 1);
  ((int32_t *)fixture->hostile.tensors[1].data)[3] = ROWS + 1;
  return GQ_OK;
}

static gqStatus createFixture(Fixture *fixture) {
  DLDevice cuda;
  gqStatus status = compile(text, "cpu", &fixture->cpu);
  if (status == GQ_OK)
    status = compile(text, "cuda", &fixture->cuda);
  if (status == GQ_OK)
    status = createCases(fixture);
  if (status == GQ_OK)
    status = deviceOf(/*isCuda=*/true, &cuda);
  for (int i = 0; i < STREAMS && status == GQ_OK; ++i) {
    status = gqStreamCreate(&fixture->streams[i]);
    gqSetStream(fixture->streams[i]);
    if (status == GQ_OK)
      status = createCall(cuda, &fixture->calls[i]);
  }
  return status;
}

static void freeFixture(Fixture *fixture) {
  for (int i = 0; i < STREAMS; ++i) {
    gqSetStream(fixture->streams[i]);
    freeCall(&fixture->calls[i]);
    gqSynchronize();
    gqSetStream(NULL);
    gqStreamDestroy(fixture->streams[i]);
  }
  for (int i = 0; i < CASES; ++i)
    freeCall(&fixture->cases[i]);
  freeCall(&fixture->hostile);
  gqExecutableDestroy(fixture->cpu);
  gqExecutableDestroy(fixture->cuda);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// Checks what a stream and its call come to.
static gqStatus finish(const Call *call, const Call *expected) {
  gqStatus status = gqStreamStatus(gqGetStream());
  return status == GQ_OK ? compare(call, expected) : status;
}

/// The status of a stream whose kernels met wrong offsets, told once.
static gqStatus expectInvalidOffsets(void) {
  gqStatus status = gqStreamStatus(gqGetStream());
  if (status == GQ_OK)
    return gqFail(GQ_CUDA_ERROR, "wrong offsets were not noticed");
  return status == GQ_INVALID_OFFSETS ? gqStreamStatus(gqGetStream()) : status;
}

/// What is captured.
typedef struct Captured {
  gqExecutable *executable;
  Call *call;
  /// Null if there is none.
  DLTensor *flag;
} Captured;

static gqStatus invokeCaptured(void *context) {
  const Captured *captured = context;
  return invokeWith(captured->executable, captured->call, captured->flag);
}

static gqStatus replay(void *graph, Call *call, const Call *expected) {
  gqStatus status = load(call, expected);
  if (status == GQ_OK)
    status = gqGraphLaunch(graph);
  return status == GQ_OK ? finish(call, expected) : status;
}

/// A graph that was captured once reads inputs and offsets anew.
static gqStatus testGraph(Fixture *fixture) {
  Call *call = &fixture->calls[0];
  Captured captured = {fixture->cuda, call, NULL};
  void *graph = NULL;
  gqSetStream(fixture->streams[0]);
  gqStatus status = load(call, &fixture->cases[0]);
  if (status == GQ_OK)
    status = invoke(fixture->cuda, call);
  if (status == GQ_OK)
    status = finish(call, &fixture->cases[0]);
  if (status == GQ_OK)
    status = deviceCapture(invokeCaptured, &captured, &graph);
  for (int i = 1; i <= 2 * CASES && status == GQ_OK; ++i)
    status = replay(graph, call, &fixture->cases[i % CASES]);
  if (status == GQ_OK)
    status = load(call, &fixture->hostile);
  if (status == GQ_OK)
    status = gqGraphLaunch(graph);
  if (status == GQ_OK)
    status = expectInvalidOffsets();
  if (status == GQ_OK)
    status = replay(graph, call, &fixture->cases[0]);
  gqGraphDestroy(graph);
  return status;
}

/// Replays with the flag that is given. While it is set, the outputs are those
/// of `expected` that were there before: poison.
static gqStatus replayFlagged(void *graph, const Captured *captured,
                              int32_t flag, const Call *inputs,
                              const Call *expected) {
  gqStatus status = load(captured->call, inputs);
  if (status == GQ_OK)
    status = deviceWrite(captured->flag->device, captured->flag->data, &flag,
                         sizeof(flag));
  if (status == GQ_OK)
    status = gqGraphLaunch(graph);
  return status == GQ_OK ? finish(captured->call, expected) : status;
}

/// A graph that was captured once reads the flag anew.
static gqStatus testNoopFlag(Fixture *fixture) {
  Call *call = &fixture->calls[0];
  DLTensor flag = {.device = call->tensors[0].device, .dtype = {kDLInt, 32, 1}};
  Captured captured = {NULL, call, &flag};
  Call poison = {0};
  void *graph = NULL;
  gqSetStream(fixture->streams[0]);
  gqStatus status = compile(noopText, "cuda", &captured.executable);
  if (status == GQ_OK)
    status = deviceAlloc(flag.device, sizeof(int32_t), &flag.data);
  if (status == GQ_OK)
    status = createCall(fixture->cases[0].tensors[0].device, &poison);
  if (status == GQ_OK) {
    fillCase(&poison, 1);
    const int32_t unset = 0;
    status = deviceWrite(flag.device, flag.data, &unset, sizeof(unset));
  }
  if (status == GQ_OK)
    status = load(call, &fixture->cases[0]);
  if (status == GQ_OK)
    status = invokeCaptured(&captured);
  if (status == GQ_OK)
    status = finish(call, &fixture->cases[0]);
  if (status == GQ_OK)
    status = deviceCapture(invokeCaptured, &captured, &graph);
  for (int i = 0; i < 2 * CASES && status == GQ_OK; ++i) {
    const Call *inputs = &fixture->cases[i % CASES];
    status = replayFlagged(graph, &captured, i + 1, inputs, &poison);
    if (status == GQ_OK)
      status = replayFlagged(graph, &captured, 0, inputs, inputs);
  }
  gqGraphDestroy(graph);
  freeCall(&poison);
  deviceFree(flag.device, flag.data);
  gqExecutableDestroy(captured.executable);
  return status;
}

/// One thread that goes from stream to stream without waiting.
static gqStatus testAlternatingStreams(Fixture *fixture) {
  gqStatus status = GQ_OK;
  for (int round = 0; round < 10 && status == GQ_OK; ++round) {
    for (int i = 0; i < STREAMS && status == GQ_OK; ++i) {
      gqSetStream(fixture->streams[i]);
      status = load(&fixture->calls[i], &fixture->cases[(round + i) % CASES]);
    }
    for (int i = 0; i < 20 * STREAMS && status == GQ_OK; ++i) {
      gqSetStream(fixture->streams[i % STREAMS]);
      status = invoke(fixture->cuda, &fixture->calls[i % STREAMS]);
    }
    for (int i = 0; i < STREAMS && status == GQ_OK; ++i) {
      gqSetStream(fixture->streams[i]);
      status = finish(&fixture->calls[i], &fixture->cases[(round + i) % CASES]);
    }
  }
  return status;
}

/// A thread with a stream of its own.
typedef struct Worker {
  Fixture *fixture;
  int index;
  pthread_t thread;
  gqStatus status;
  char message[512];
} Worker;

static void *work(void *argument) {
  Worker *worker = argument;
  Fixture *fixture = worker->fixture;
  Call *call = &fixture->calls[worker->index];
  gqSetStream(fixture->streams[worker->index]);
  for (int i = 0; i < 100 && worker->status == GQ_OK; ++i) {
    const Call *expected = &fixture->cases[(i + worker->index) % CASES];
    worker->status = load(call, expected);
    if (worker->status == GQ_OK)
      worker->status = invoke(fixture->cuda, call);
    if (worker->status == GQ_OK)
      worker->status = finish(call, expected);
  }
  snprintf(worker->message, sizeof(worker->message), "%s",
           gqGetLastErrorMessage());
  return NULL;
}

static gqStatus testThreads(Fixture *fixture) {
  Worker workers[STREAMS];
  gqStatus status = GQ_OK;
  int started = 0;
  for (; started < STREAMS; ++started) {
    workers[started] = (Worker){.fixture = fixture, .index = started};
    if (pthread_create(&workers[started].thread, NULL, work,
                       &workers[started]) != 0)
      break;
  }
  for (int i = 0; i < started; ++i)
    pthread_join(workers[i].thread, NULL);
  if (started < STREAMS)
    return gqFail(GQ_OUT_OF_MEMORY, "no thread could be started");
  for (int i = 0; i < STREAMS && status == GQ_OK; ++i)
    if (workers[i].status != GQ_OK)
      status =
          gqFail(workers[i].status, "thread %d: %s", i, workers[i].message);
  return status;
}

/// Wrong offsets show on the stream that they were used on, and only there.
static gqStatus testStatusOfStreams(Fixture *fixture) {
  const Call *inputs[STREAMS] = {&fixture->hostile, &fixture->cases[1]};
  gqStatus status = GQ_OK;
  for (int i = 0; i < STREAMS && status == GQ_OK; ++i) {
    gqSetStream(fixture->streams[i]);
    status = load(&fixture->calls[i], inputs[i]);
    if (status == GQ_OK)
      status = invoke(fixture->cuda, &fixture->calls[i]);
  }
  if (status == GQ_OK)
    status = finish(&fixture->calls[1], &fixture->cases[1]);
  gqSetStream(fixture->streams[0]);
  if (status == GQ_OK)
    status = expectInvalidOffsets();
  // The stream is as good as before.
  if (status == GQ_OK)
    status = load(&fixture->calls[0], &fixture->cases[2]);
  if (status == GQ_OK)
    status = invoke(fixture->cuda, &fixture->calls[0]);
  return status == GQ_OK ? finish(&fixture->calls[0], &fixture->cases[2])
                         : status;
}

static int runTests(Fixture *fixture) {
  static const struct {
    const char *name;
    gqStatus (*run)(Fixture *fixture);
  } tests[] = {{"replays of a captured call", testGraph},
               {"replays while a flag is set", testNoopFlag},
               {"a thread on two streams", testAlternatingStreams},
               {"two threads", testThreads},
               {"the status of each stream", testStatusOfStreams}};
  const int count = sizeof(tests) / sizeof(tests[0]);
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    if (tests[i].run(fixture) == GQ_OK)
      continue;
    ++failed;
    printf("FAIL %s: %s\n", tests[i].name, gqGetLastErrorMessage());
  }
  printf("%d passed, %d failed\n", count - failed, failed);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int gqTestCompiledMain(int argc, char **argv) {
  (void)argc;
  (void)argv;
  int32_t device;
  Fixture fixture = {0};
  gqStatus status = gqGetDevice(&device);
  if (status == GQ_NO_DRIVER || status == GQ_NO_DEVICE) {
    printf("not run: %s\n", gqGetLastErrorMessage());
    return SKIPPED;
  }
  if (status == GQ_OK)
    status = createFixture(&fixture);
  int exitCode = EXIT_FAILURE;
  if (status == GQ_OK)
    exitCode = runTests(&fixture);
  else
    printf("FAIL set-up: %s\n0 passed, 1 failed\n", gqGetLastErrorMessage());
  freeFixture(&fixture);
  return exitCode;
}
