//===- test_cuda.c - the CUDA runtime's logic, over a fake driver ---------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without a GPU: what the runtime asks the driver, in which order, and what it
// does with the answers. $GQ_CUDA_DRIVER names the fake. The runtime keeps what
// it made for a context, so tests count calls from their start and use modules
// and streams of their own.
//
//===----------------------------------------------------------------------===//

#include "test_cuda_fake.h"

#include "gq/Runtime/Cuda.h"
#include "runtime_kernels/kernels/Launch.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

static char image[] = "an image", ptx[] = ".version 8.6\n.target sm_90a\n";

static char hostMemory[64];

/// Streams are addresses that nobody else uses.
static char streams[32];
static int numStreams = 0;

static CUstream makeStream(void) {
  return (CUstream)(void *)&streams[numStreams++];
}

static void failNext(const char *function, CUresult failure) {
  fakeCuda.failing = function;
  fakeCuda.failure = failure;
}

/// Checks the last failure, and lets the driver succeed again.
static void assertFailure(gqStatus status, gqStatus expected,
                          const char *message) {
  fakeCuda.failing = NULL;
  assert_int_equal(status, expected);
  assert_string_equal(gqGetLastErrorMessage(), message);
}

/// Each test starts in the primary context of device 0, with nothing pending.
static int setUp(void **state) {
  (void)state;
  fakeCuda = (FakeCuda){.capability = 90};
  fakeCudaSetContext(0, /*isPrimary=*/true);
  gqSetStream(NULL);
  gqCudaStatus();
  return 0;
}

static void launchOn(void *kernel, intptr_t gridX, int32_t sharedSize,
                     void *stream) {
  mgpuLaunchKernel(kernel, gridX, 2, 3, 128, 4, 1, sharedSize, stream, NULL,
                   NULL, 0);
}

/// Runs `body` in another thread and waits for it.
static void inThread(void *(*body)(void *), void *argument) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Recording a module needs no driver: this is the first test.
static void testRecording(void **state) {
  (void)state;
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *other = mgpuModuleLoadJIT(ptx, 3);
  assert_non_null(module);
  assert_non_null(other);
  mgpuModuleUnload(module);
  mgpuModuleUnload(other);
  mgpuModuleUnload(NULL);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  assert_int_equal(fakeCudaCalls(NULL), 0);
}

static void testLoading(void **state) {
  (void)state;
  int loads = fakeCudaCalls("cuModuleLoadDataEx");
  int lookUps = fakeCudaCalls("cuModuleGetFunction");
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  assert_non_null(kernel);
  assert_int_equal(fakeCuda.jitOptimizationLevel, -1);
  // The name counts, not its address.
  const char name[] = "kernel";
  assert_ptr_equal(mgpuModuleGetFunction(module, name), kernel);
  assert_int_equal(fakeCudaCalls("cuModuleGetFunction"), lookUps + 1);
  assert_ptr_not_equal(mgpuModuleGetFunction(module, "other"), kernel);
  assert_int_equal(fakeCudaCalls("cuModuleGetFunction"), lookUps + 2);
  assert_int_equal(fakeCudaCalls("cuModuleLoadDataEx"), loads + 1);
  mgpuModuleUnload(module);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void testOptimizationLevel(void **state) {
  (void)state;
  void *module = mgpuModuleLoadJIT(ptx, 2);
  assert_non_null(mgpuModuleGetFunction(module, "kernel"));
  assert_int_equal(fakeCuda.jitOptimizationLevel, 2);
  mgpuModuleUnload(module);
}

/// Each context has its own copy, which is unloaded in it.
static void testContexts(void **state) {
  (void)state;
  int loads = fakeCudaCalls("cuModuleLoadDataEx");
  int unloads = fakeCudaCalls("cuModuleUnload");
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  fakeCudaSetContext(1, /*isPrimary=*/false);
  void *other = mgpuModuleGetFunction(module, "kernel");
  assert_ptr_not_equal(other, kernel);
  assert_int_equal(fakeCudaCalls("cuModuleLoadDataEx"), loads + 2);
  fakeCudaSetContext(0, /*isPrimary=*/true);
  assert_ptr_equal(mgpuModuleGetFunction(module, "kernel"), kernel);
  assert_int_equal(fakeCudaCalls("cuModuleLoadDataEx"), loads + 2);
  mgpuModuleUnload(module);
  assert_int_equal(fakeCudaCalls("cuModuleUnload"), unloads + 2);
  assert_ptr_equal(fakeCuda.unloadedIn,
                   fakeCudaGetContext(0, /*isPrimary=*/true));
  int32_t device;
  assert_int_equal(gqGetDevice(&device), GQ_OK);
  assert_int_equal(device, 0);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

/// At the end of a program the driver may be gone before the module is.
static void testUnloadingLate(void **state) {
  (void)state;
  void *module = mgpuModuleLoad(image, sizeof(image));
  assert_non_null(mgpuModuleGetFunction(module, "kernel"));
  failNext("cuCtxPushCurrent_v2", CUDA_ERROR_DEINITIALIZED);
  mgpuModuleUnload(module);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

/// Loads `data` as PTX, which fails, and checks the message.
static void refuseLoad(char *data, CUresult failure, gqStatus expected,
                       const char *message) {
  void *module = mgpuModuleLoadJIT(data, 3);
  failNext("cuModuleLoadDataEx", failure);
  assert_null(mgpuModuleGetFunction(module, "kernel"));
  assertFailure(gqCudaStatus(), expected, message);
  // What failed to load is tried again.
  assert_non_null(mgpuModuleGetFunction(module, "kernel"));
  mgpuModuleUnload(module);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void testRefusedImages(void **state) {
  (void)state;
  refuseLoad(ptx, CUDA_ERROR_NO_BINARY_FOR_GPU, GQ_UNSUPPORTED_CHIP,
             "the kernels were not compiled for this chip (sm_90a): "
             "cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209): as the "
             "test demands");
  refuseLoad(ptx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, GQ_CUDA_ERROR,
             "the driver is too old for the PTX (sm_90a): "
             "cuModuleLoadDataEx: unknown error (222): as the test demands");
  refuseLoad(ptx, CUDA_ERROR_OUT_OF_MEMORY, GQ_OUT_OF_MEMORY,
             "the kernels cannot be loaded (sm_90a): cuModuleLoadDataEx: "
             "CUDA_ERROR_OUT_OF_MEMORY (2): as the test demands");
  fakeCuda.jitLog = "ptxas: line 5: nonsense\nptxas: aborted\n";
  refuseLoad(ptx, CUDA_ERROR_INVALID_PTX, GQ_CUDA_ERROR,
             "the driver refuses the PTX (sm_90a): cuModuleLoadDataEx: "
             "CUDA_ERROR_INVALID_PTX (218): as the test demands\n"
             "ptxas: line 5: nonsense\nptxas: aborted");
}

/// The driver calls PTX for another chip invalid.
static void testOtherChips(void **state) {
  (void)state;
  static const struct {
    int capability;
    char ptx[32];
    gqStatus expected;
  } cases[] = {
      {90, ".target sm_100a", GQ_UNSUPPORTED_CHIP},
      {90, ".target sm_100", GQ_UNSUPPORTED_CHIP},
      {100, ".target sm_90a", GQ_UNSUPPORTED_CHIP},
      {100, ".target sm_90", GQ_CUDA_ERROR},
      {90, ".target sm_90a", GQ_CUDA_ERROR},
      {90, "no target", GQ_CUDA_ERROR},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    void *module = mgpuModuleLoadJIT((void *)cases[i].ptx, 3);
    fakeCuda.capability = cases[i].capability;
    failNext("cuModuleLoadDataEx", CUDA_ERROR_INVALID_PTX);
    assert_null(mgpuModuleGetFunction(module, "kernel"));
    assert_int_equal(gqCudaStatus(), cases[i].expected);
    mgpuModuleUnload(module);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void testLaunch(void **state) {
  (void)state;
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  CUstream stream = makeStream();
  void *parameters[] = {NULL};
  int launches = fakeCudaCalls("cuLaunchKernelEx");
  int synchronizations = fakeCudaCalls("cuStreamSynchronize");
  mgpuLaunchKernel(kernel, 1, 2, 3, 4, 5, 6, 7, stream, parameters, NULL, 1);
  assert_int_equal(fakeCudaCalls("cuLaunchKernelEx"), launches + 1);
  const CUlaunchConfig *launch = &fakeCuda.launch;
  assert_int_equal(launch->gridDimX, 1);
  assert_int_equal(launch->gridDimY, 2);
  assert_int_equal(launch->gridDimZ, 3);
  assert_int_equal(launch->blockDimX, 4);
  assert_int_equal(launch->blockDimY, 5);
  assert_int_equal(launch->blockDimZ, 6);
  assert_int_equal(launch->sharedMemBytes, 7);
  assert_int_equal(launch->numAttrs, 0);
  assert_ptr_equal(launch->hStream, stream);
  assert_ptr_equal(fakeCuda.launchParameters, parameters);
  mgpuLaunchClusterKernel(kernel, 8, 9, 10, 16, 18, 20, 4, 5, 6, 0, stream,
                          parameters, NULL, 1);
  assert_int_equal(launch->gridDimY, 18);
  assert_int_equal(launch->numAttrs, 1);
  assert_int_equal(fakeCuda.launchAttributes[0].id,
                   CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  assert_int_equal(fakeCuda.launchAttributes[0].value.clusterDim.x, 8);
  assert_int_equal(fakeCuda.launchAttributes[0].value.clusterDim.y, 9);
  assert_int_equal(fakeCuda.launchAttributes[0].value.clusterDim.z, 10);
  assert_int_equal(fakeCudaCalls("cuStreamSynchronize"), synchronizations);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  mgpuModuleUnload(module);
}

/// Kernels of an image that says so may start before the one before them ends.
static void testProgrammaticLaunch(void **state) {
  (void)state;
  fakeCuda.global = GQ_PROGRAMMATIC_LAUNCH;
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  launchOn(kernel, 1, 0, NULL);
  const CUlaunchAttribute *attributes = fakeCuda.launchAttributes;
  assert_int_equal(fakeCuda.launch.numAttrs, 1);
  assert_int_equal(attributes[0].id,
                   CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  assert_int_equal(attributes[0].value.programmaticStreamSerializationAllowed,
                   1);
  mgpuLaunchClusterKernel(kernel, 2, 1, 1, 2, 1, 1, 32, 1, 1, 0, NULL, NULL,
                          NULL, 0);
  assert_int_equal(fakeCuda.launch.numAttrs, 2);
  assert_int_equal(attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  assert_int_equal(attributes[1].id,
                   CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  mgpuModuleUnload(module);
}

/// Shared memory beyond the default is asked for when it grows.
static void testSharedMemory(void **state) {
  (void)state;
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  int requests = fakeCudaCalls("cuFuncSetAttribute");
  launchOn(kernel, 1, 48 << 10, NULL);
  assert_int_equal(fakeCudaCalls("cuFuncSetAttribute"), requests);
  launchOn(kernel, 1, 100 << 10, NULL);
  launchOn(kernel, 1, 80 << 10, NULL);
  launchOn(kernel, 1, 100 << 10, NULL);
  assert_int_equal(fakeCudaCalls("cuFuncSetAttribute"), requests + 1);
  assert_int_equal(fakeCuda.sharedLimit, 100 << 10);
  launchOn(kernel, 1, 200 << 10, NULL);
  assert_int_equal(fakeCuda.sharedLimit, 200 << 10);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  mgpuModuleUnload(module);
}

static void testGrids(void **state) {
  (void)state;
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  int launches = fakeCudaCalls("cuLaunchKernelEx");
  launchOn(kernel, 0, 0, NULL);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  launchOn(kernel, (intptr_t)1 << 32, 0, NULL);
  assertFailure(gqCudaStatus(), GQ_INVALID_ARGUMENT,
                "kernel 'kernel': no device has a grid of 4294967296 x 2 x 3");
  launchOn(kernel, -1, 0, NULL);
  assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
  assert_int_equal(fakeCudaCalls("cuLaunchKernelEx"), launches);
  mgpuModuleUnload(module);
}

static void testRefusedLaunch(void **state) {
  (void)state;
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  failNext("cuLaunchKernelEx", 719);
  launchOn(kernel, 1, 16, NULL);
  assertFailure(gqCudaStatus(), GQ_CUDA_ERROR,
                "kernel 'kernel': cuLaunchKernelEx: CUDA_ERROR_LAUNCH_FAILED "
                "(719): as the test demands (grid 1 x 2 x 3, block 128 x 4 x "
                "1, 16 bytes of shared memory)");
  mgpuModuleUnload(module);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static void *seeStream(void *stream) {
  *(void **)stream = gqGetStream();
  return NULL;
}

static void testStream(void **state) {
  (void)state;
  CUstream stream = makeStream();
  int calls = fakeCudaCalls(NULL);
  assert_null(mgpuStreamCreate());
  gqSetStream(stream);
  assert_ptr_equal(gqGetStream(), stream);
  assert_ptr_equal(mgpuStreamCreate(), stream);
  mgpuStreamSynchronize(stream);
  mgpuStreamDestroy(stream);
  assert_int_equal(fakeCudaCalls(NULL), calls);
  void *seen = stream;
  inThread(seeStream, &seen);
  assert_null(seen);
  assert_int_equal(gqSynchronize(), GQ_OK);
  assert_ptr_equal(fakeCuda.stream, stream);
}

static void testStreamCreation(void **state) {
  (void)state;
  void *stream;
  assert_int_equal(gqStreamCreate(&stream), GQ_OK);
  assert_int_equal(*(unsigned *)stream, CU_STREAM_NON_BLOCKING);
  failNext("cuStreamDestroy_v2", 719);
  assertFailure(gqStreamDestroy(stream), GQ_CUDA_ERROR,
                "cuStreamDestroy: CUDA_ERROR_LAUNCH_FAILED (719): as the test "
                "demands");
  assert_int_equal(gqStreamDestroy(stream), GQ_OK);
  assert_int_equal(gqStreamDestroy(NULL), GQ_OK);
  failNext("cuStreamCreate", 719);
  assertFailure(gqStreamCreate(&stream), GQ_CUDA_ERROR,
                "cuStreamCreate: CUDA_ERROR_LAUNCH_FAILED (719): as the test "
                "demands");
  assert_null(stream);
}

static void testEvents(void **state) {
  (void)state;
  CUstream stream = makeStream();
  void *event = mgpuEventCreate();
  assert_int_equal(*(unsigned *)event, CU_EVENT_DISABLE_TIMING);
  mgpuEventRecord(event, stream);
  assert_ptr_equal(fakeCuda.stream, stream);
  mgpuStreamWaitEvent(NULL, event);
  mgpuEventSynchronize(event);
  mgpuEventDestroy(event);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  void *start, *end;
  double microseconds;
  assert_int_equal(gqEventCreate(&start), GQ_OK);
  assert_int_equal(*(unsigned *)start, CU_EVENT_DEFAULT);
  assert_int_equal(gqEventCreate(&end), GQ_OK);
  gqSetStream(stream);
  assert_int_equal(gqEventRecord(start), GQ_OK);
  assert_ptr_equal(fakeCuda.stream, stream);
  assert_int_equal(gqEventRecord(end), GQ_OK);
  assert_int_equal(gqEventElapsed(start, end, &microseconds), GQ_OK);
  assert_true(microseconds == 500);
  assert_int_equal(gqEventDestroy(start), GQ_OK);
  assert_int_equal(gqEventDestroy(end), GQ_OK);
}

//===----------------------------------------------------------------------===//
// Status words
//===----------------------------------------------------------------------===//

static void testStatusWords(void **state) {
  (void)state;
  CUstream first = makeStream(), second = makeStream();
  uint32_t *word = gqStreamStatusWord(first);
  assert_int_equal(*word, 0);
  assert_ptr_equal(fakeCuda.stream, first);
  uint32_t *other = gqStreamStatusWord(second);
  assert_ptr_not_equal(word, other);
  int allocations = fakeCudaCalls("cuMemAlloc_v2");
  assert_ptr_equal(gqStreamStatusWord(first), word);
  assert_int_equal(fakeCudaCalls("cuMemAlloc_v2"), allocations);
  // Another context has other words.
  fakeCudaSetContext(0, /*isPrimary=*/false);
  assert_ptr_not_equal(gqStreamStatusWord(first), word);
  fakeCudaSetContext(0, /*isPrimary=*/true);
  *other = GQ_DEV_STATUS_OFFSETS;
  assert_int_equal(gqStreamStatus(first), GQ_OK);
  assert_ptr_equal(fakeCuda.stream, first);
  assertFailure(gqStreamStatus(second), GQ_INVALID_OFFSETS,
                "a kernel of this stream dropped rows: offsets do not "
                "describe groups, which must not decrease and lie in [0, M]");
  // It is reported once.
  assert_int_equal(*other, 0);
  assert_int_equal(gqStreamStatus(second), GQ_OK);
  *other = GQ_DEV_STATUS_SCALE_OFFSETS;
  assert_int_equal(gqStreamStatus(second), GQ_INVALID_OFFSETS);
  assert_non_null(strstr(gqGetLastErrorMessage(), "rows: scale_offsets do"));
  *other = GQ_DEV_STATUS_OFFSETS | GQ_DEV_STATUS_SCALE_OFFSETS;
  assert_int_equal(gqStreamStatus(second), GQ_INVALID_OFFSETS);
  assert_non_null(strstr(gqGetLastErrorMessage(), "[0, M]; scale_offsets do"));
  *other = GQ_DEV_STATUS_SIZES;
  assertFailure(gqStreamStatus(second), GQ_INVALID_OFFSETS,
                "a kernel of this stream dropped rows: an output is smaller "
                "than the groups need");
  *other = GQ_DEV_STATUS_ROW_INDICES;
  assertFailure(gqStreamStatus(second), GQ_INVALID_ROW_INDICES,
                "a kernel of this stream took zeros for rows: row_indices are "
                "not all in [0, N) for the N rows of a gathered input");
  *other = GQ_DEV_STATUS_OFFSETS | GQ_DEV_STATUS_ROW_INDICES;
  assert_int_equal(gqStreamStatus(second), GQ_INVALID_OFFSETS);
  assert_non_null(strstr(gqGetLastErrorMessage(), "[0, M]; row_indices are"));
}

/// Without a word it only waits.
static void testStatusWithoutWord(void **state) {
  (void)state;
  CUstream stream = makeStream();
  int copies = fakeCudaCalls("cuMemcpyAsync");
  assert_int_equal(gqStreamStatus(stream), GQ_OK);
  assert_ptr_equal(fakeCuda.stream, stream);
  assert_int_equal(fakeCudaCalls("cuMemcpyAsync"), copies);
  failNext("cuStreamSynchronize", 719);
  assertFailure(gqStreamStatus(stream), GQ_CUDA_ERROR,
                "cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (719): as the "
                "test demands");
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// Calls that would break a capture are refused before the driver sees them.
static void testFirstUseInCapture(void **state) {
  (void)state;
  // A context of its own, so that its first allocation is here.
  fakeCudaSetContext(1, /*isPrimary=*/true);
  CUstream stream = makeStream();
  void *module = mgpuModuleLoad(image, sizeof(image));
  gqSetStream(stream);
  fakeCuda.capturing = stream;
  fakeCuda.isCapturing = true;
  int loads = fakeCudaCalls("cuModuleLoadDataEx");
  int allocations = fakeCudaCalls("cuMemAlloc_v2");
  int synchronizations = fakeCudaCalls("cuStreamSynchronize");
  assert_null(mgpuModuleGetFunction(module, "kernel"));
  assertFailure(gqCudaStatus(), GQ_CUDA_ERROR,
                "the first use of a kernel cannot be captured in a CUDA graph");
  assert_null(gqStreamStatusWord(stream));
  assertFailure(gqCudaStatus(), GQ_CUDA_ERROR,
                "the first use of a stream cannot be captured in a CUDA graph");
  void *word = NULL;
  assert_null(gqDeviceConstant(&word, hostMemory, 4));
  assertFailure(
      gqCudaStatus(), GQ_CUDA_ERROR,
      "the first use of a constant cannot be captured in a CUDA graph");
  assert_null(mgpuMemAlloc(64, stream, false));
  assertFailure(gqCudaStatus(), GQ_CUDA_ERROR,
                "the first allocation cannot be captured in a CUDA graph");
  assertFailure(gqStreamStatus(stream), GQ_CUDA_ERROR,
                "gqStreamStatus cannot be captured in a CUDA graph");
  assert_int_equal(fakeCudaCalls("cuModuleLoadDataEx"), loads);
  assert_int_equal(fakeCudaCalls("cuMemAlloc_v2"), allocations);
  assert_int_equal(fakeCudaCalls("cuStreamSynchronize"), synchronizations);
  mgpuModuleUnload(module);
}

/// Not so a stream's first use where the context was used before.
static void testFirstUseOfStreamInCapture(void **state) {
  (void)state;
  CUstream used = makeStream(), captured = makeStream();
  uint32_t *before = gqStreamStatusWord(used);
  assert_non_null(before);
  fakeCuda.capturing = captured;
  fakeCuda.isCapturing = true;
  int allocations = fakeCudaCalls("cuMemAlloc_v2");
  uint32_t *word = gqStreamStatusWord(captured);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  assert_non_null(word);
  assert_int_equal(*word, 0);
  assert_ptr_not_equal(word, before);
  assert_ptr_equal(gqStreamStatusWord(captured), word);
  assert_int_equal(fakeCudaCalls("cuMemAlloc_v2"), allocations);
  fakeCuda.isCapturing = false;
  *word = GQ_DEV_STATUS_OFFSETS;
  assert_int_equal(gqStreamStatus(captured), GQ_INVALID_OFFSETS);
}

/// What generated code does in an invocation.
static void runGenerated(void *module, CUstream stream) {
  void *memory = mgpuMemAlloc(64, stream, false);
  assert_non_null(gqStreamStatusWord(stream));
  launchOn(mgpuModuleGetFunction(module, "kernel"), 1, 0, stream);
  mgpuMemFree(memory, stream);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void testCaptureAfterWarmUp(void **state) {
  (void)state;
  CUstream stream = makeStream();
  void *module = mgpuModuleLoad(image, sizeof(image));
  gqSetStream(stream);
  runGenerated(module, stream);
  int allocations = fakeCudaCalls("cuMemAlloc_v2");
  fakeCuda.capturing = stream;
  fakeCuda.isCapturing = true;
  runGenerated(module, stream);
  assert_int_equal(fakeCudaCalls("cuMemAlloc_v2"), allocations);
  mgpuModuleUnload(module);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

static void testGraph(void **state) {
  (void)state;
  CUstream stream = makeStream(), other = makeStream();
  void *graph;
  gqSetStream(stream);
  assert_int_equal(gqGraphBegin(), GQ_OK);
  assert_true(fakeCuda.isCapturing);
  assert_ptr_equal(fakeCuda.capturing, stream);
  assert_int_equal(fakeCuda.captureMode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  int destroyed = fakeCudaCalls("cuGraphDestroy");
  assert_int_equal(gqGraphEnd(&graph), GQ_OK);
  assert_non_null(graph);
  assert_false(fakeCuda.isCapturing);
  // Only what can be launched is kept.
  assert_int_equal(fakeCudaCalls("cuGraphDestroy"), destroyed + 1);
  // It is launched in the stream that the thread has by then.
  gqSetStream(other);
  assert_int_equal(gqGraphLaunch(graph), GQ_OK);
  assert_ptr_equal(fakeCuda.stream, other);
  destroyed = fakeCudaCalls("cuGraphExecDestroy");
  assert_int_equal(gqGraphDestroy(graph), GQ_OK);
  assert_int_equal(gqGraphDestroy(NULL), GQ_OK);
  assert_int_equal(fakeCudaCalls("cuGraphExecDestroy"), destroyed + 1);
}

static void testGraphOfDefaultStream(void **state) {
  (void)state;
  int captures = fakeCudaCalls("cuStreamBeginCapture_v2");
  // Null and CU_STREAM_LEGACY.
  for (intptr_t stream = 0; stream < 2; ++stream) {
    gqSetStream((void *)stream);
    assertFailure(gqGraphBegin(), GQ_INVALID_ARGUMENT,
                  "the legacy default stream cannot be captured in a CUDA "
                  "graph; set another with gqSetStream");
  }
  assert_int_equal(fakeCudaCalls("cuStreamBeginCapture_v2"), captures);
}

static void testGraphFailures(void **state) {
  (void)state;
  static const char *const calls[][2] = {
      {"cuStreamBeginCapture_v2", "cuStreamBeginCapture"},
      {"cuStreamEndCapture", "cuStreamEndCapture"},
      {"cuGraphInstantiateWithFlags", "cuGraphInstantiateWithFlags"},
      {"cuGraphLaunch", "cuGraphLaunch"},
      {"cuGraphExecDestroy", "cuGraphExecDestroy"}};
  gqSetStream(makeStream());
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); ++i) {
    char expected[128];
    void *graph = &graph;
    snprintf(expected, sizeof(expected),
             "%s: CUDA_ERROR_LAUNCH_FAILED (719): as the test demands",
             calls[i][1]);
    failNext(calls[i][0], 719);
    gqStatus status = gqGraphBegin();
    if (status == GQ_OK)
      status = gqGraphEnd(&graph);
    bool captured = status == GQ_OK;
    if (status == GQ_OK)
      status = gqGraphLaunch(graph);
    if (status == GQ_OK)
      status = gqGraphDestroy(graph);
    assertFailure(status, GQ_CUDA_ERROR, expected);
    assert_false(fakeCuda.isCapturing);
    if (captured)
      assert_int_equal(gqGraphDestroy(graph), GQ_OK);
    else if (i > 0)
      assert_null(graph);
  }
  // A capture that never began.
  void *graph = &graph;
  assert_int_equal(gqGraphEnd(&graph), GQ_CUDA_ERROR);
  assert_null(graph);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

static void *seePending(void *status) {
  *(gqStatus *)status = gqCudaStatus();
  return NULL;
}

/// The first failure is kept, with its message; what follows does nothing.
static void testPending(void **state) {
  (void)state;
  CUstream stream = makeStream();
  uint32_t value = 1;
  void *memory = mgpuMemAlloc(64, stream, false);
  void *module = mgpuModuleLoad(image, sizeof(image));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  failNext("cuMemcpyAsync", 719);
  mgpuMemcpy(memory, &value, 4, stream);
  fakeCuda.failing = NULL;
  int launches = fakeCudaCalls("cuLaunchKernelEx");
  int copies = fakeCudaCalls("cuMemcpyAsync");
  launchOn(kernel, 1, 0, stream);
  mgpuMemcpy(memory, &value, 4, stream);
  assert_null(mgpuMemAlloc(64, stream, false));
  assert_null(mgpuMemAlloc(64, stream, true));
  assert_null(mgpuEventCreate());
  assert_null(mgpuModuleGetFunction(module, "kernel"));
  assert_null(gqStreamStatusWord(stream));
  assert_int_equal(gqDeviceMultiprocessorCount(), 1);
  assert_int_equal(fakeCudaCalls("cuLaunchKernelEx"), launches);
  assert_int_equal(fakeCudaCalls("cuMemcpyAsync"), copies);
  // What is owned is released anyway.
  mgpuMemFree(memory, stream);
  mgpuModuleUnload(module);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  // Another thread knows nothing of it, and functions that return a status
  // may fail in between.
  gqStatus seen = GQ_CUDA_ERROR;
  inThread(seePending, &seen);
  assert_int_equal(seen, GQ_OK);
  assert_int_equal(gqSetDevice(77), GQ_CUDA_ERROR);
  assertFailure(gqCudaStatus(), GQ_CUDA_ERROR,
                "cuMemcpyAsync: CUDA_ERROR_LAUNCH_FAILED (719): as the test "
                "demands");
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void *kernelOfTest, *moduleOfTest, *memoryOfTest, *eventOfTest;
static CUstream streamOfTest;

static void doLoad(void) {
  void *module = mgpuModuleLoad(image, sizeof(image));
  mgpuModuleGetFunction(module, "kernel");
  mgpuModuleUnload(module);
}
static void doLaunch(void) { launchOn(kernelOfTest, 1, 0, NULL); }
static void doLaunchShared(void) { launchOn(kernelOfTest, 1, 1 << 17, NULL); }
static void doWord(void) { gqStreamStatusWord(streamOfTest); }
static void doWaitEvent(void) { mgpuStreamWaitEvent(NULL, eventOfTest); }
static void doCreateEvent(void) { mgpuEventDestroy(mgpuEventCreate()); }
static void doRecord(void) { mgpuEventRecord(eventOfTest, NULL); }
static void doWait(void) { mgpuEventSynchronize(eventOfTest); }
static void doAllocate(void) { mgpuMemAlloc(4, NULL, false); }
static void doAllocateShared(void) { mgpuMemAlloc(4, NULL, true); }
static void doFree(void) { mgpuMemFree(memoryOfTest, NULL); }
static void doCopy(void) { mgpuMemcpy(memoryOfTest, hostMemory, 4, NULL); }
static void doSet16(void) { mgpuMemset16(memoryOfTest, 1, 2, NULL); }
static void doSet32(void) { mgpuMemset32(memoryOfTest, 1, 2, NULL); }
static void doRegister(void) { mgpuMemHostRegister(hostMemory, 64); }
static void doUnregister(void) { mgpuMemHostUnregister(hostMemory); }
static void doSetDevice(void) { mgpuSetDefaultDevice(0); }
static void doConstant(void) {
  void *word = NULL;
  gqDeviceConstant(&word, hostMemory, 4);
  gqDeviceConstantRelease(&word);
}
static void doRelease(void) { gqDeviceRelease(0, NULL, memoryOfTest); }

/// Every driver call that generated code leads to is named when it fails.
/// What an op writes overlaps nothing else: then nothing is launched, and the
/// next op is another matter.
static void testOverlap(void **state) {
  (void)state;
  enum {
#define GQ_OP(OP, MNEMONIC) NUMBER_OF_##OP,
#include "gq/Runtime/Ops.def"
    BLOCK_QUANTIZE = NUMBER_OF_BlockQuantize,
    GROUPED_BLOCK_QUANTIZE = NUMBER_OF_GroupedBlockQuantize
  };
  enum {
#define GQ_GROUPED_BLOCK_QUANTIZE_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE) \
  NUMBER_OF_##NAME,
#include "gq/Runtime/Ops.def"
    OFFSETS = NUMBER_OF_offsets,
    DATA = NUMBER_OF_data,
    SCALES = NUMBER_OF_scales,
    SCALE_OFFSETS_OUT = NUMBER_OF_scale_offsets_out
  };
  gqLaunchOperand(0, 0x1000, 4, 128, 128);
  gqLaunchOperand(0, 0x1000, 4, 128, 128); // Another input, the same memory.
  gqLaunchOperand(OFFSETS, 0x2000, 1, 12, 0);
  gqLaunchOperand(DATA, 0x3000, 4, 32, 36);
  gqLaunchOperand(SCALES, 0x3020, 4, 4, 36); // In the gaps of data.
  gqLaunchOperand(SCALE_OFFSETS_OUT, 0x200c, 1, 8, 0);
  gqLaunchCheck(GROUPED_BLOCK_QUANTIZE);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  gqLaunchOperand(OFFSETS, 0x2000, 1, 12, 0);
  gqLaunchOperand(SCALE_OFFSETS_OUT, 0x2004, 1, 8, 0);
  gqLaunchCheck(GROUPED_BLOCK_QUANTIZE);
  assert_null(mgpuModuleGetFunction(NULL, "kernel"));
  assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
  assert_string_equal(gqGetLastErrorMessage(),
                      "grouped_block_quantize: scale_offsets_out is written "
                      "and overlaps offsets in memory");
  gqLaunchOperand(2, 0x2000, 1, 12, 0);
  gqLaunchCheck(BLOCK_QUANTIZE);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  // Code of another version.
  gqLaunchOperand(SCALE_OFFSETS_OUT, 0x2000, 1, 12, 0);
  gqLaunchCheck(BLOCK_QUANTIZE);
  assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
}

/// The extents that an op asks for, rounded up.
static void testExtents(void **state) {
  (void)state;
  enum {
#define GQ_OP(OP, MNEMONIC) NUMBER_OF_##OP,
#include "gq/Runtime/Ops.def"
    GROUPED_MM = NUMBER_OF_GroupedMm
  };
  enum {
#define GQ_GROUPED_MM_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE) MM_##NAME,
#include "gq/Runtime/Ops.def"
    OUT = MM_out
  };
  gqLaunchExtent(GROUPED_MM, OUT, 0, 0, 0, 16, 4);
  gqLaunchExtent(GROUPED_MM, OUT, 0, 4, 1, 16, 4);
  gqLaunchExtent(GROUPED_MM, OUT, 0, 4, 64, 16, 4);
  gqLaunchExtent(GROUPED_MM, OUT, 0, 8, 65, 16, 4);
  gqLaunchExtent(GROUPED_MM, OUT, 0, INT64_MAX, INT64_MAX, 1, 1);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  gqLaunchExtent(GROUPED_MM, OUT, 1, 8, 7, 1, 1);
  assert_null(mgpuModuleGetFunction(NULL, "kernel"));
  assertFailure(gqCudaStatus(), GQ_INVALID_ARGUMENT,
                "grouped_mm: out has the extent 8 in dimension 1, expected 7");
  static const int64_t impossible[] = {INT64_MIN, -1, INT64_MAX};
  for (int i = 0; i < 3; ++i) {
    gqLaunchExtent(GROUPED_MM, OUT, 1, impossible[i], impossible[i], 1, 128);
    assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
  }
  // Code of another version.
  gqLaunchExtent(GROUPED_MM, 99, 0, 1, 1, 1, 1);
  assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
  gqLaunchExtent(-1, 0, 0, 1, 1, 1, 1);
  assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
  gqLaunchExtent(GROUPED_MM, OUT, 0, 1, 1, 0, 1);
  assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
}

static void testNamedFailures(void **state) {
  (void)state;
  static const struct {
    const char *symbol, *name;
    void (*run)(void);
  } cases[] = {
      {"cuCtxGetCurrent", "cuCtxGetCurrent", doLaunch},
      {"cuCtxPushCurrent_v2", "cuCtxPushCurrent", doRelease},
      {"cuCtxSetCurrent", "cuCtxSetCurrent", doSetDevice},
      {"cuDeviceGet", "cuDeviceGet", doSetDevice},
      {"cuModuleLoadDataEx", "cuModuleLoadDataEx", doLoad},
      {"cuModuleGetFunction", "kernel 'kernel': cuModuleGetFunction", doLoad},
      {"cuModuleGetGlobal_v2", "cuModuleGetGlobal", doLoad},
      {"cuModuleUnload", "cuModuleUnload", doLoad},
      {"cuStreamIsCapturing", "cuStreamIsCapturing", doLoad},
      {"cuLaunchKernelEx", "kernel 'kernel': cuLaunchKernelEx", doLaunch},
      {"cuFuncSetAttribute", "kernel 'kernel': cuFuncSetAttribute",
       doLaunchShared},
      {"cuMemAlloc_v2", "cuMemAlloc", doWord},
      {"cuMemAlloc_v2", "cuMemAlloc", doConstant},
      {"cuMemcpyAsync", "cuMemcpyAsync", doConstant},
      {"cuStreamSynchronize", "cuStreamSynchronize", doConstant},
      {"cuCtxPushCurrent_v2", "cuCtxPushCurrent", doConstant},
      {"cuMemFree_v2", "cuMemFree", doConstant},
      {"cuMemsetD32Async", "cuMemsetD32Async", doWord},
      {"cuStreamWaitEvent", "cuStreamWaitEvent", doWaitEvent},
      {"cuEventCreate", "cuEventCreate", doCreateEvent},
      {"cuEventDestroy_v2", "cuEventDestroy", doCreateEvent},
      {"cuEventRecord", "cuEventRecord", doRecord},
      {"cuEventSynchronize", "cuEventSynchronize", doWait},
      {"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync", doAllocate},
      {"cuMemAllocManaged", "cuMemAllocManaged", doAllocateShared},
      {"cuMemFreeAsync", "cuMemFreeAsync", doFree},
      {"cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo", doFree},
      {"cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo", doAllocate},
      {"cuThreadExchangeStreamCaptureMode", "cuThreadExchangeStreamCaptureMode",
       doFree},
      {"cuMemcpyAsync", "cuMemcpyAsync", doCopy},
      {"cuMemsetD16Async", "cuMemsetD16Async", doSet16},
      {"cuMemsetD32Async", "cuMemsetD32Async", doSet32},
      {"cuMemHostRegister_v2", "cuMemHostRegister", doRegister},
      {"cuMemHostUnregister", "cuMemHostUnregister", doUnregister},
  };
  moduleOfTest = mgpuModuleLoad(image, sizeof(image));
  kernelOfTest = mgpuModuleGetFunction(moduleOfTest, "kernel");
  memoryOfTest = mgpuMemAlloc(64, NULL, false);
  eventOfTest = mgpuEventCreate();
  streamOfTest = makeStream();
  assert_int_equal(gqCudaStatus(), GQ_OK);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char expected[128];
    snprintf(expected, sizeof(expected), "%s: CUDA_ERROR_LAUNCH_FAILED (719)",
             cases[i].name);
    failNext(cases[i].symbol, 719);
    cases[i].run();
    fakeCuda.failing = NULL;
    assert_int_equal(gqCudaStatus(), GQ_CUDA_ERROR);
    if (!strstr(gqGetLastErrorMessage(), expected))
      fail_msg("expected '%s' in '%s'", expected, gqGetLastErrorMessage());
  }
  mgpuMemFree(memoryOfTest, NULL);
  mgpuEventDestroy(eventOfTest);
  mgpuModuleUnload(moduleOfTest);
}

/// A failure leaves nothing behind.
static void testNothingLeaks(void **state) {
  (void)state;
  CUstream stream = makeStream();
  int live = fakeCuda.liveAllocations;
  void *word = NULL;
  failNext("cuMemcpyAsync", 719);
  assert_null(gqDeviceConstant(&word, hostMemory, 4));
  assert_int_equal(gqCudaStatus(), GQ_CUDA_ERROR);
  assert_null(word);
  assert_int_equal(fakeCuda.liveAllocations, live);
  failNext("cuMemsetD32Async", 719);
  assert_null(gqStreamStatusWord(stream));
  assert_int_equal(gqCudaStatus(), GQ_CUDA_ERROR);
  assert_int_equal(fakeCuda.liveAllocations, live);
  fakeCuda.failing = NULL;
  assert_non_null(gqStreamStatusWord(stream));
  // A context whose first pool cannot be set up gets another.
  fakeCudaSetContext(1, /*isPrimary=*/false);
  int destroyed = fakeCudaCalls("cuMemPoolDestroy");
  failNext("cuMemPoolSetAttribute", 719);
  assert_null(mgpuMemAlloc(64, NULL, false));
  assertFailure(gqCudaStatus(), GQ_CUDA_ERROR,
                "cuMemPoolSetAttribute: CUDA_ERROR_LAUNCH_FAILED (719): as "
                "the test demands");
  assert_int_equal(fakeCudaCalls("cuMemPoolDestroy"), destroyed + 1);
  mgpuMemFree(mgpuMemAlloc(64, NULL, false), NULL);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void testOutOfMemory(void **state) {
  (void)state;
  static const char message[] =
      "cuMemAllocFromPoolAsync: CUDA_ERROR_OUT_OF_MEMORY (2): as the test "
      "demands (4096 bytes requested)";
  failNext("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
  assert_null(mgpuMemAlloc(4096, NULL, false));
  assertFailure(gqCudaStatus(), GQ_OUT_OF_MEMORY, message);
  failNext("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
  void *memory = &memory;
  assertFailure(gqDeviceAlloc(4096, &memory), GQ_OUT_OF_MEMORY, message);
  assert_null(memory);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static void testMemory(void **state) {
  (void)state;
  CUstream stream = makeStream();
  int allocations = fakeCudaCalls("cuMemAllocFromPoolAsync");
  assert_null(mgpuMemAlloc(0, stream, false));
  assert_null(mgpuMemAlloc(0, stream, true));
  mgpuMemFree(NULL, stream);
  assert_int_equal(fakeCudaCalls("cuMemAllocFromPoolAsync"), allocations);
  uint32_t *memory = mgpuMemAlloc(16, stream, false);
  assert_ptr_equal(fakeCuda.stream, stream);
  mgpuMemset32(memory, 7, 4, NULL);
  assert_null(fakeCuda.stream);
  mgpuMemset16(memory + 1, 1, 2, stream);
  uint32_t values[4] = {0};
  mgpuMemcpy(values, memory, sizeof(values), stream);
  mgpuMemcpy(values, memory, 0, stream);
  assert_int_equal(values[0], 7);
  assert_int_equal(values[1], 0x10001);
  assert_int_equal(values[2], 7);
  mgpuMemFree(memory, stream);
  assert_ptr_equal(fakeCuda.stream, stream);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

/// One pool a context, on its device, that keeps what is freed.
static void testPool(void **state) {
  (void)state;
  fakeCudaSetContext(0, /*isPrimary=*/false);
  int pools = fakeCudaCalls("cuMemPoolCreate");
  void *first = mgpuMemAlloc(16, NULL, false);
  void *second = mgpuMemAlloc(16, NULL, false);
  assert_int_equal(fakeCudaCalls("cuMemPoolCreate"), pools + 1);
  assert_int_equal(fakeCuda.pool.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  assert_int_equal(fakeCuda.pool.location.id, 0);
  assert_true(fakeCuda.poolThreshold == UINT64_MAX);
  mgpuMemFree(first, NULL);
  mgpuMemFree(second, NULL);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void testManagedMemory(void **state) {
  (void)state;
  int frees = fakeCudaCalls("cuMemFree_v2");
  void *memory = mgpuMemAlloc(16, NULL, true);
  assert_non_null(memory);
  mgpuMemFree(memory, NULL);
  assert_int_equal(fakeCudaCalls("cuMemFree_v2"), frees + 1);
  assert_int_equal(fakeCuda.liveAllocations, 0);
}

static void testHelpers(void **state) {
  (void)state;
  CUstream stream = makeStream();
  gqSetStream(stream);
  void *memory = &memory;
  assert_int_equal(gqDeviceAlloc(0, &memory), GQ_OK);
  assert_null(memory);
  assert_int_equal(gqDeviceFree(NULL), GQ_OK);
  uint32_t in = 5, out = 0;
  assert_int_equal(gqDeviceAlloc(sizeof(in), &memory), GQ_OK);
  assert_ptr_equal(fakeCuda.stream, stream);
  assert_int_equal(gqCopyToDevice(memory, &in, sizeof(in)), GQ_OK);
  assert_int_equal(gqCopyToHost(&out, memory, sizeof(out)), GQ_OK);
  assert_int_equal(out, 5);
  assert_int_equal(gqDeviceFree(memory), GQ_OK);
  assert_int_equal(fakeCuda.liveAllocations, 0);
}

static void *releaseMemory(void *memory) {
  gqDeviceRelease(1, streams, memory);
  return NULL;
}

/// Memory is released on its device, also where none is current.
static void testRelease(void **state) {
  (void)state;
  fakeCudaSetContext(1, /*isPrimary=*/true);
  void *memory = mgpuMemAlloc(16, NULL, false);
  fakeCudaSetContext(0, /*isPrimary=*/true);
  inThread(releaseMemory, memory);
  assert_ptr_equal(fakeCuda.freedIn, fakeCudaGetContext(1, /*isPrimary=*/true));
  assert_ptr_equal(fakeCuda.stream, streams);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  gqDeviceRelease(1, NULL, NULL);
  int32_t device;
  assert_int_equal(gqGetDevice(&device), GQ_OK);
  assert_int_equal(device, 0);
}

/// Memory of before a capture is freed after it, that of the capture at once.
static void testReleaseInCapture(void **state) {
  (void)state;
  CUstream stream = makeStream();
  void *before = mgpuMemAlloc(16, stream, false);
  fakeCuda.isCapturing = true;
  fakeCuda.capturing = stream;
  fakeCuda.captures = 7;
  void *within = mgpuMemAlloc(16, stream, false);
  gqDeviceRelease(0, stream, before);
  assert_int_equal(fakeCuda.liveAllocations, 2);
  gqDeviceRelease(0, stream, within);
  assert_int_equal(fakeCuda.liveAllocations, 1);
  // Still captured, then not any more.
  gqDeviceRelease(0, stream, mgpuMemAlloc(16, stream, false));
  assert_int_equal(fakeCuda.liveAllocations, 1);
  fakeCuda.isCapturing = false;
  gqDeviceRelease(0, stream, mgpuMemAlloc(16, stream, false));
  assert_int_equal(fakeCuda.liveAllocations, 0);
  // The null stream, which a captured one waits for.
  fakeCuda.isCapturing = fakeCuda.isCaptureBlocking = true;
  gqDeviceRelease(0, NULL, mgpuMemAlloc(16, stream, false));
  assert_int_equal(fakeCuda.liveAllocations, 1);
  fakeCuda.isCapturing = false;
  mgpuMemFree(mgpuMemAlloc(16, stream, false), stream);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  // In this thread another stream may be captured.
  assert_int_equal(fakeCuda.freeMode, CU_STREAM_CAPTURE_MODE_RELAXED);
  assert_int_equal(fakeCuda.threadMode, 0);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

/// What generated code calls for memref.alloc and memref.dealloc.
static void testGenericFunctions(void **state) {
  (void)state;
  CUstream stream = makeStream();
  gqSetStream(stream);
  void *memory = _mlir_memref_to_llvm_alloc(16);
  void *aligned = _mlir_memref_to_llvm_aligned_alloc(64, 16);
  assert_non_null(memory);
  assert_non_null(aligned);
  assert_ptr_equal(fakeCuda.stream, stream);
  assert_int_equal(fakeCuda.liveAllocations, 2);
  fakeCuda.stream = NULL;
  _mlir_memref_to_llvm_free(memory);
  _mlir_memref_to_llvm_free(aligned);
  _mlir_memref_to_llvm_free(NULL);
  assert_ptr_equal(fakeCuda.stream, stream);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

/// One copy per context, which is waited for, and none after the release.
static void testConstants(void **state) {
  (void)state;
  static const uint32_t data[] = {1, 2, 3};
  void *word = NULL, *other = NULL;
  CUstream stream = makeStream();
  gqSetStream(stream);
  assert_null(gqDeviceConstant(&word, data, 0));
  int waits = fakeCudaCalls("cuStreamSynchronize");
  uint32_t *copy = gqDeviceConstant(&word, data, sizeof(data));
  assert_memory_equal(copy, data, sizeof(data));
  assert_ptr_not_equal(copy, data);
  assert_ptr_equal(fakeCuda.stream, stream);
  assert_int_equal(fakeCudaCalls("cuStreamSynchronize"), waits + 1);
  // The word tells constants apart, not the address of their data.
  assert_ptr_not_equal(gqDeviceConstant(&other, data, sizeof(data)), copy);
  fakeCudaSetContext(1, /*isPrimary=*/true);
  uint32_t *second = gqDeviceConstant(&word, data, sizeof(data));
  assert_ptr_not_equal(second, copy);
  fakeCudaSetContext(0, /*isPrimary=*/true);
  // From now on it can be captured.
  fakeCuda.capturing = stream;
  fakeCuda.isCapturing = true;
  assert_ptr_equal(gqDeviceConstant(&word, data, sizeof(data)), copy);
  assert_int_equal(fakeCuda.liveAllocations, 3);
  gqDeviceConstantRelease(&other);
  gqDeviceConstantRelease(&word);
  assert_null(word);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  assert_ptr_equal(fakeCuda.freedIn, fakeCudaGetContext(0, /*isPrimary=*/true));
  gqDeviceConstantRelease(&word);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

/// At the end of a program the driver may be gone before a constant is.
static void testReleasingLate(void **state) {
  (void)state;
  void *word = NULL;
  assert_non_null(gqDeviceConstant(&word, hostMemory, 4));
  failNext("cuCtxPushCurrent_v2", CUDA_ERROR_DEINITIALIZED);
  gqDeviceConstantRelease(&word);
  assert_null(word);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

typedef struct ConstantUser {
  void **word;
  void *copy;
} ConstantUser;

static void *useConstant(void *data) {
  ConstantUser *user = data;
  fakeCudaSetContext(0, /*isPrimary=*/true);
  user->copy = gqDeviceConstant(user->word, hostMemory, sizeof(hostMemory));
  return NULL;
}

/// Threads that are the first at the same time get one copy.
static void testConstantInThreads(void **state) {
  (void)state;
  enum { THREADS = 8 };
  void *word = NULL;
  pthread_t threads[THREADS];
  ConstantUser users[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    users[i] = (ConstantUser){&word, NULL};
    assert_int_equal(pthread_create(&threads[i], NULL, useConstant, &users[i]),
                     0);
  }
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < THREADS; ++i)
    assert_ptr_equal(users[i].copy, users[0].copy);
  assert_non_null(users[0].copy);
  gqDeviceConstantRelease(&word);
}

static void testHostMemory(void **state) {
  (void)state;
  struct {
    char *allocated, *aligned;
    int64_t offset, sizes[2], strides[2];
  } memref = {hostMemory, hostMemory, 1, {3, 2}, {2, 1}};
  mgpuMemHostRegister(hostMemory, 64);
  assert_ptr_equal(fakeCuda.registered, hostMemory);
  assert_int_equal(fakeCuda.registeredSize, 64);
  mgpuMemHostRegisterMemRef(2, &memref, 4);
  assert_ptr_equal(fakeCuda.registered, hostMemory + 4);
  assert_int_equal(fakeCuda.registeredSize, 24);
  mgpuMemHostUnregisterMemRef(2, &memref, 4);
  assert_null(fakeCuda.registered);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  static const int64_t impossible[][2] = {{INT64_C(1) << 40, INT64_C(1) << 40},
                                          {-1, 2}};
  for (int i = 0; i < 2; ++i) {
    memcpy(memref.sizes, impossible[i], sizeof(memref.sizes));
    mgpuMemHostRegisterMemRef(2, &memref, 4);
    assert_null(fakeCuda.registered);
    assertFailure(gqCudaStatus(), GQ_INVALID_ARGUMENT,
                  "a memref to register has a negative extent, or more "
                  "elements than there can be");
  }
}

//===----------------------------------------------------------------------===//
// Devices and threads
//===----------------------------------------------------------------------===//

static void testChip(void **state) {
  (void)state;
  static const struct {
    int capability;
    const char *name;
  } cases[] = {{80, "sm_80"},    {86, "sm_86"},    {89, "sm_89"},
               {90, "sm_90a"},   {100, "sm_100a"}, {103, "sm_103"},
               {120, "sm_120a"}, {121, "sm_121"}};
  char name[GQ_CHIP_SIZE];
  int contexts = fakeCudaCalls("cuCtxSetCurrent");
  fakeCudaSetContext(-1, false);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    fakeCuda.capability = cases[i].capability;
    assert_int_equal(gqDeviceChip(name), GQ_OK);
    assert_string_equal(name, cases[i].name);
  }
  assert_int_equal(fakeCudaCalls("cuCtxSetCurrent"), contexts);
}

static void testDeviceInfo(void **state) {
  (void)state;
  gqDeviceInfo info;
  fakeCudaSetContext(1, /*isPrimary=*/true);
  assert_int_equal(gqGetDeviceInfo(&info), GQ_OK);
  assert_string_equal(info.name, "fake device 1");
  assert_string_equal(info.chip, "sm_90a");
  assert_int_equal(info.cudaVersion, 13000);
  assert_int_equal(info.multiprocessorCount, FAKE_MULTIPROCESSORS);
  assert_int_equal(info.l2Size, FAKE_L2_SIZE);
  failNext("cuDriverGetVersion", 719);
  assertFailure(gqGetDeviceInfo(&info), GQ_CUDA_ERROR,
                "cuDriverGetVersion: CUDA_ERROR_LAUNCH_FAILED (719): as the "
                "test demands");
}

static void testDevices(void **state) {
  (void)state;
  int32_t device;
  assert_int_equal(gqSetDevice(1), GQ_OK);
  assert_int_equal(gqGetDevice(&device), GQ_OK);
  assert_int_equal(device, 1);
  mgpuSetDefaultDevice(0);
  assert_int_equal(gqGetDevice(&device), GQ_OK);
  assert_int_equal(device, 0);
  assert_int_equal(gqDeviceMultiprocessorCount(), FAKE_MULTIPROCESSORS);
  assertFailure(gqSetDevice(2), GQ_CUDA_ERROR,
                "cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101): as the test "
                "demands");
  mgpuSetDefaultDevice(-1);
  assert_int_equal(gqCudaStatus(), GQ_CUDA_ERROR);
}

/// What launches depend on is taken in the order of the families' lists.
static void testPlans(void **state) {
  (void)state;
  // 16 pieces of 8 rows, a warp each.
  gqLaunchPlan plan =
      gqPlanLaunch(GQ_KERNEL_QUANTIZE_ROWS, 128, 256, 0, 0, 0, 0, 0, 0);
  assert_int_equal(plan.grid, 4);
  assert_int_equal(plan.workspace, 0);
  // Of two kernels one is launched, that of large matrices with a CTA for each
  // multiprocessor.
  for (int64_t rows = 1023; rows <= 1024; ++rows) {
    bool large = rows == 1024;
    plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_ROWS, rows, 5120, 0, 1,
                        GQ_DEV_ROWS_SMALL, 0, 0, 0);
    assert_int_equal(plan.grid == 0, large);
    plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_ROWS, rows, 5120, 0, 1,
                        GQ_DEV_ROWS_LARGE, 0, 0, 0);
    assert_int_equal(plan.grid, large ? FAKE_MULTIPROCESSORS : 0);
  }
  // The scales of 128 by 256 elements.
  plan = gqPlanLaunch(GQ_KERNEL_SWIZZLE_SCALES, 128, 16, 0, GQ_FORMAT_NVFP4, 0,
                      0, 0, 0);
  assert_int_equal(plan.grid, 4);
  plan = gqPlanLaunch(GQ_KERNEL_SWIZZLE_SCALES, 128, 16, 0,
                      GQ_FORMAT_MXFP8_E4M3, 0, 0, 0, 0);
  assert_int_equal(plan.grid, 8);
  // Tiles beyond what is needed to fill the device wait for it.
  plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_TILES, 128, 128, 1,
                      GQ_DEV_ROWWISE | GQ_DEV_DBIAS, GQ_FORMAT_MXFP8_E4M3,
                      GQ_BF16, 0, 0);
  assert_int_equal(plan.grid, 4);
  assert_int_equal(plan.workspace,
                   gq_dev_tiles_workspace(128, 128, 1, GQ_DEV_DBIAS));
  plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_TILES, 128, 128, 1, GQ_DEV_ROWWISE,
                      GQ_FORMAT_MXFP8_E4M3, GQ_BF16, 0, 0);
  assert_int_equal(plan.workspace, 0);
  // Two tiles for a CTA with codes of 8 bits, unless groups have up to 64 rows
  // on average; rounds of CTAs with codes of 4.
  enum { GROUPS = 128, BOTH = GQ_DEV_ROWWISE | GQ_DEV_COLUMNWISE };
  const int64_t three = 3 * FAKE_MULTIPROCESSORS;
  const int64_t four = 4 * FAKE_MULTIPROCESSORS;
  const struct {
    gqFormat format;
    int32_t parts;
    int64_t rows, groups, grid;
  } tiles[] = {
      {GQ_FORMAT_MXFP8_E4M3, GQ_DEV_ROWWISE, 3840, 1, (30 + 1 + 2) * 10},
      {GQ_FORMAT_MXFP8_E4M3, GQ_DEV_ROWWISE, 6400, 1, three},
      {GQ_FORMAT_MXFP8_E4M3, BOTH, 12800, 1, 500},
      {GQ_FORMAT_MXFP8_E4M3, GQ_DEV_ROWWISE, 128000, 2000, three},
      {GQ_FORMAT_MXFP8_E4M3, GQ_DEV_ROWWISE, 128000, 1969, 5000},
      {GQ_FORMAT_NVFP4, GQ_DEV_ROWWISE, 128000, 260, four},
      {GQ_FORMAT_NVFP4, GQ_DEV_ROWWISE, 128000, 270, 4 * four},
      {GQ_FORMAT_NVFP4, GQ_DEV_COLUMNWISE, 128000, 270, 4 * four},
      {GQ_FORMAT_NVFP4, BOTH, 128000, 260, four},
      {GQ_FORMAT_NVFP4, BOTH, 128000, 270, 8 * four},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_SQUARES, 128000, 270, 8 * four},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_DBIAS, 128000, 270, 4 * four},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_UNUSUAL, 128000, 270, 4 * three},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_UNUSUAL | GQ_DEV_FITS_FOUR, 128000, 270,
       4 * four},
      {GQ_FORMAT_MXFP4, BOTH, 128000, 270, 4 * three},
  };
  for (size_t i = 0; i < sizeof(tiles) / sizeof(*tiles); ++i) {
    plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_TILES, tiles[i].rows, 1280,
                        tiles[i].groups, tiles[i].parts, tiles[i].format,
                        GQ_BF16, 0, 0);
    assert_int_equal(plan.grid, tiles[i].grid);
  }
  // Ragged groups, of elements: two tiles of 128 by 128 for a CTA.
  plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_TILES, 16384 * 1000, 1, 4,
                      GQ_DEV_ROWWISE | GQ_DEV_RAGGED, GQ_FORMAT_MXFP8_E4M3,
                      GQ_BF16, 0, 0);
  assert_int_equal(plan.grid, 500);
  // Amaxes: as many CTAs as fit.
  plan = gqPlanLaunch(GQ_KERNEL_GROUPED_AMAX, 128000, 1280, 1, 6, 0, 0, 0, 0);
  assert_int_equal(plan.grid, four / 4 * 6);
  plan = gqPlanLaunch(GQ_KERNEL_GROUPED_AMAX, 1280, 1280, 1, 4, 0, 0, 0, 0);
  assert_int_equal(plan.grid, (10 + 1 + 2) * 10 / 4 + 1);
  // Small groups, of up to so many rows on average.
  const struct {
    gqFormat format;
    int32_t parts;
    int64_t most;
  } small[] = {
      {GQ_FORMAT_NVFP4, BOTH, 64},
      {GQ_FORMAT_NVFP4, GQ_DEV_COLUMNWISE | GQ_DEV_SQUARES, 48},
      {GQ_FORMAT_NVFP4, GQ_DEV_ROWWISE | GQ_DEV_DBIAS, 48},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_UNUSUAL, 128},
      {GQ_FORMAT_NVFP4, GQ_DEV_COLUMNWISE | GQ_DEV_UNUSUAL, 64},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_UNUSUAL | GQ_DEV_SQUARES, 48},
      {GQ_FORMAT_MXFP4, BOTH, 128},
      {GQ_FORMAT_MXFP4, BOTH | GQ_DEV_AMAX, 64},
      {GQ_FORMAT_MXFP8_E4M3, BOTH, 48},
      {GQ_FORMAT_MXFP8_E4M3, GQ_DEV_COLUMNWISE, 40},
      {GQ_FORMAT_FP8_E4M3, BOTH, 40},
      {GQ_FORMAT_MXFP8_E4M3, GQ_DEV_ROWWISE | GQ_DEV_DBIAS, 48},
  };
  for (size_t i = 0; i < sizeof(small) / sizeof(*small); ++i)
    for (int more = 0; more < 2; ++more) {
      plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_SMALL_GROUPS,
                          GROUPS * small[i].most + more, 8192, GROUPS,
                          small[i].parts, small[i].format, GQ_BF16, 0, 0);
      assert_int_equal(plan.grid == 0, more);
    }
  // As many CTAs as fit, or with codes of 8 bits in both directions up to three
  // times as many, with the elements of one and a half tiles each.
  const struct {
    gqFormat format;
    int32_t parts;
    int64_t rows, grid;
  } rounds[] = {
      {GQ_FORMAT_MXFP8_E4M3, BOTH, 2304, three},
      {GQ_FORMAT_MXFP8_E4M3, BOTH, 2432, 2 * three},
      {GQ_FORMAT_MXFP8_E4M3, BOTH, 3456, 2 * three},
      {GQ_FORMAT_MXFP8_E4M3, BOTH, 3584, 3 * three},
      {GQ_FORMAT_FP8_E4M3, BOTH | GQ_DEV_AMAX, 4096, 3 * three},
      {GQ_FORMAT_MXFP8_E4M3, GQ_DEV_COLUMNWISE, 4096, three},
      {GQ_FORMAT_NVFP4, BOTH, 4096, four},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_UNUSUAL, 4096, three},
      {GQ_FORMAT_NVFP4, BOTH | GQ_DEV_UNUSUAL | GQ_DEV_FITS_FOUR, 4096, three},
      {GQ_FORMAT_NVFP4, GQ_DEV_COLUMNWISE | GQ_DEV_UNUSUAL, 4096, three},
      {GQ_FORMAT_NVFP4, GQ_DEV_COLUMNWISE | GQ_DEV_UNUSUAL | GQ_DEV_FITS_FOUR,
       4096, four},
  };
  for (size_t i = 0; i < sizeof(rounds) / sizeof(*rounds); ++i) {
    plan =
        gqPlanLaunch(GQ_KERNEL_QUANTIZE_SMALL_GROUPS, rounds[i].rows, 8192,
                     GROUPS, rounds[i].parts, rounds[i].format, GQ_BF16, 0, 0);
    assert_int_equal(plan.grid, rounds[i].grid);
  }
  // A CTA for four rows, and one for the padding of a group, as many as fit; of
  // two or three rounds fewer.
  const struct {
    int64_t rows, groups, ctas, grid;
  } whole[] = {{128, 1, 3, 33},
               {128 * 15, 1, 3, (15 * 32 + 1 + 1) / 2},
               {128 * 30, 1, 3, (30 * 32 + 1 + 2) / 3},
               {128 * 40, 1, 3, three},
               {128 * three, 1, 3, three},
               {128, 8 * three, 3, three},
               {0, 8 * three, 3, three},
               {12800, 1, 0, 3201}};
  for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); ++i) {
    plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_WHOLE_ROWS, whole[i].rows, 8192,
                        whole[i].groups, whole[i].ctas, 0, 0, 0, 0);
    assert_int_equal(plan.grid, whole[i].grid);
  }
  plan = gqPlanLaunch(GQ_KERNEL_REDUCE_TILES, 128, 128, 5,
                      GQ_DEV_AMAX | GQ_DEV_DBIAS, 0, 0, 0, 0);
  assert_int_equal(plan.grid, 10);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  plan = gqPlanLaunch(99, 1, 1, 1, 1, 1, 1, 1, 1);
  assert_int_equal(plan.grid, 0);
  assertFailure(gqCudaStatus(), GQ_INVALID_ARGUMENT,
                "the runtime knows no kernel family 99; it is older than the "
                "code that it runs");
}

/// Extents that would overflow the arithmetic of a plan, or what the device
/// function keeps them as, are refused.
static void testPlansOfImpossibleExtents(void **state) {
  (void)state;
  static const struct {
    gqKernelFamily family;
    int64_t extents[4];
  } cases[] = {
      {GQ_KERNEL_QUANTIZE_ROWS, {-1, 64, 1, 0}},
      {GQ_KERNEL_QUANTIZE_ROWS, {INT64_MAX, 1, 1, 0}},
      {GQ_KERNEL_QUANTIZE_ROWS, {INT64_MAX, INT64_MAX, INT64_MAX, 0}},
      {GQ_KERNEL_QUANTIZE_ROWS, {0, INT64_C(1) << 40, INT64_C(1) << 40, 0}},
      {GQ_KERNEL_QUANTIZE_ROWS, {64, 64, -1, 0}},
      {GQ_KERNEL_SWIZZLE_SCALES,
       {1, INT64_C(1) << 60, 1, GQ_FORMAT_FP8_E4M3_1X128}},
      {GQ_KERNEL_SWIZZLE_SCALES, {INT64_MIN, 4, 1, GQ_FORMAT_NVFP4}},
      // Kept in 32 bits.
      {GQ_KERNEL_QUANTIZE_TILES, {128, 128, INT64_C(1) << 31, GQ_DEV_AMAX}},
      {GQ_KERNEL_QUANTIZE_TILES, {(INT64_C(1) << 48) + 1, 1, 1, GQ_DEV_DBIAS}},
      {GQ_KERNEL_REDUCE_TILES,
       {INT64_C(1) << 30, INT64_C(1) << 30, 1, GQ_DEV_DBIAS}},
      {GQ_KERNEL_GROUPED_MM_ANY, {-1, 1, 1, 16}},
      {GQ_KERNEL_GROUPED_MM_ANY, {1, 1, INT64_C(1) << 31, 16}},
      {GQ_KERNEL_GROUPED_MM_DECODE, {1, 1, 1, (INT64_C(1) << 32) + 16}},
      {GQ_KERNEL_GROUPED_MM_TILES, {1, INT64_MAX, 256, 128}},
      {GQ_KERNEL_GROUPED_MM_PREPARE, {1, INT64_C(1) << 47, 1, 256}},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    const int64_t *x = cases[i].extents;
    gqLaunchPlan plan = gqPlanLaunch(cases[i].family, x[0], x[1], x[2], x[3],
                                     -1, INT32_MAX, 0, 0);
    assert_int_equal(plan.grid, 0);
    assert_int_equal(plan.workspace, 0);
    assert_int_equal(gqCudaStatus(), GQ_INVALID_ARGUMENT);
    assert_non_null(strstr(gqGetLastErrorMessage(), "an extent of a kernel"));
  }
  // The most that there can be, in one group and in as many as rows.
  gqLaunchPlan plan =
      gqPlanLaunch(GQ_KERNEL_QUANTIZE_TILES, INT64_C(1) << 24, INT64_C(1) << 24,
                   1, GQ_DEV_ROWWISE | GQ_DEV_AMAX | GQ_DEV_DBIAS,
                   GQ_FORMAT_MXFP8_E4M3, GQ_BF16, 0, 0);
  assert_int_equal(plan.grid, INT32_MAX);
  plan = gqPlanLaunch(GQ_KERNEL_QUANTIZE_TILES, INT64_C(1) << 24,
                      INT64_C(1) << 24, INT64_C(1) << 24,
                      GQ_DEV_ROWWISE | GQ_DEV_AMAX | GQ_DEV_DBIAS,
                      GQ_FORMAT_MXFP8_E4M3, GQ_BF16, 0, 0);
  assert_int_equal(plan.grid, 3 * FAKE_MULTIPROCESSORS);
  assert_true(plan.workspace > INT64_C(1) << 48);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void *useDevice(void *device) {
  gqGetDevice(device);
  return NULL;
}

/// A thread without a context gets the primary one of device 0, retained once
/// for all.
static void testPrimaryContext(void **state) {
  (void)state;
  int32_t device = -1;
  inThread(useDevice, &device);
  assert_int_equal(device, 0);
  int retained = fakeCudaCalls("cuDevicePrimaryCtxRetain");
  device = -1;
  inThread(useDevice, &device);
  assert_int_equal(device, 0);
  assert_int_equal(fakeCudaCalls("cuDevicePrimaryCtxRetain"), retained);
}

enum { THREADS = 8 };

static void *getKernel(void *module) {
  return mgpuModuleGetFunction(module, "kernel");
}

/// Threads that meet at the first use load once and see the same kernel.
static void testThreads(void **state) {
  (void)state;
  int loads = fakeCudaCalls("cuModuleLoadDataEx");
  void *module = mgpuModuleLoad(image, sizeof(image));
  pthread_t threads[THREADS];
  void *kernels[THREADS];
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, getKernel, module), 0);
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_join(threads[i], &kernels[i]), 0);
  for (int i = 0; i < THREADS; ++i) {
    assert_non_null(kernels[i]);
    assert_ptr_equal(kernels[i], kernels[0]);
  }
  assert_int_equal(fakeCudaCalls("cuModuleLoadDataEx"), loads + 1);
  mgpuModuleUnload(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRecording),
      cmocka_unit_test_setup(testLoading, setUp),
      cmocka_unit_test_setup(testOptimizationLevel, setUp),
      cmocka_unit_test_setup(testContexts, setUp),
      cmocka_unit_test_setup(testUnloadingLate, setUp),
      cmocka_unit_test_setup(testRefusedImages, setUp),
      cmocka_unit_test_setup(testOtherChips, setUp),
      cmocka_unit_test_setup(testLaunch, setUp),
      cmocka_unit_test_setup(testProgrammaticLaunch, setUp),
      cmocka_unit_test_setup(testSharedMemory, setUp),
      cmocka_unit_test_setup(testGrids, setUp),
      cmocka_unit_test_setup(testRefusedLaunch, setUp),
      cmocka_unit_test_setup(testStream, setUp),
      cmocka_unit_test_setup(testStreamCreation, setUp),
      cmocka_unit_test_setup(testEvents, setUp),
      cmocka_unit_test_setup(testStatusWords, setUp),
      cmocka_unit_test_setup(testStatusWithoutWord, setUp),
      cmocka_unit_test_setup(testFirstUseInCapture, setUp),
      cmocka_unit_test_setup(testFirstUseOfStreamInCapture, setUp),
      cmocka_unit_test_setup(testCaptureAfterWarmUp, setUp),
      cmocka_unit_test_setup(testGraph, setUp),
      cmocka_unit_test_setup(testGraphOfDefaultStream, setUp),
      cmocka_unit_test_setup(testGraphFailures, setUp),
      cmocka_unit_test_setup(testPending, setUp),
      cmocka_unit_test_setup(testOverlap, setUp),
      cmocka_unit_test_setup(testExtents, setUp),
      cmocka_unit_test_setup(testNamedFailures, setUp),
      cmocka_unit_test_setup(testNothingLeaks, setUp),
      cmocka_unit_test_setup(testOutOfMemory, setUp),
      cmocka_unit_test_setup(testMemory, setUp),
      cmocka_unit_test_setup(testPool, setUp),
      cmocka_unit_test_setup(testManagedMemory, setUp),
      cmocka_unit_test_setup(testHelpers, setUp),
      cmocka_unit_test_setup(testRelease, setUp),
      cmocka_unit_test_setup(testReleaseInCapture, setUp),
      cmocka_unit_test_setup(testGenericFunctions, setUp),
      cmocka_unit_test_setup(testConstants, setUp),
      cmocka_unit_test_setup(testReleasingLate, setUp),
      cmocka_unit_test_setup(testConstantInThreads, setUp),
      cmocka_unit_test_setup(testHostMemory, setUp),
      cmocka_unit_test_setup(testChip, setUp),
      cmocka_unit_test_setup(testDeviceInfo, setUp),
      cmocka_unit_test_setup(testDevices, setUp),
      cmocka_unit_test_setup(testPrimaryContext, setUp),
      cmocka_unit_test_setup(testThreads, setUp),
      cmocka_unit_test(testPlans),
      cmocka_unit_test(testPlansOfImpossibleExtents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
