//===- test_cuda_fake.c - a CUDA driver without a GPU ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test_cuda_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FakeCuda fakeCuda = {.capability = 90};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The entry points that were called.
static struct {
  const char *function;
  int count;
} calls[64];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/// Counts a call and returns how it ends.
static CUresult enter(const char *function) {
  pthread_mutex_lock(&mutex);
  size_t i = 0;
  while (calls[i].function && strcmp(calls[i].function, function) != 0)
    ++i;
  calls[i].function = function;
  ++calls[i].count;
  static int total = 0;
  int number = total++;
  pthread_mutex_unlock(&mutex);
  bool fails = fakeCuda.failing && strcmp(fakeCuda.failing, function) == 0;
  if (fakeCuda.failsFrom > 0)
    fails |= number == fakeCuda.failsFrom - 1 ||
             (fakeCuda.staysFailing && number >= fakeCuda.failsFrom);
  return fails ? fakeCuda.failure : CUDA_SUCCESS;
}

int fakeCudaCalls(const char *function) {
  int count = 0;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; calls[i].function; ++i)
    if (!function || strcmp(calls[i].function, function) == 0)
      count += calls[i].count;
  pthread_mutex_unlock(&mutex);
  return count;
}

/// Notes what a call was passed: threads may call at the same time.
#define NOTE(STATEMENT)                                                        \
  do {                                                                         \
    pthread_mutex_lock(&mutex);                                                \
    STATEMENT;                                                                 \
    pthread_mutex_unlock(&mutex);                                              \
  } while (0)

/// Counts the call of the enclosing function, and ends it if it is to fail.
#define ENTER()                                                                \
  do {                                                                         \
    CUresult result = enter(__func__);                                         \
    if (result != CUDA_SUCCESS)                                                \
      return result;                                                           \
  } while (0)

/// What belongs to another context than the current one:
/// CUDA_ERROR_INVALID_HANDLE.
enum { ELSEWHERE = 400 };

#define FAKE GQ_EXPORT CUresult

FAKE cuInit(unsigned flags) {
  (void)flags;
  ENTER();
  return CUDA_SUCCESS;
}

/// These two describe a failure and are no part of what is counted.
FAKE cuGetErrorName(CUresult error, const char **name) {
  static const struct {
    CUresult error;
    const char *name;
  } names[] = {{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
               {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
               {101, "CUDA_ERROR_INVALID_DEVICE"},
               {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
               {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
               {ELSEWHERE, "CUDA_ERROR_INVALID_HANDLE"},
               {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (names[i].error != error)
      continue;
    *name = names[i].name;
    return CUDA_SUCCESS;
  }
  return 1;
}

FAKE cuGetErrorString(CUresult error, const char **text) {
  (void)error;
  *text = "as the test demands";
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

struct CUctx_st {
  CUdevice device;
};

/// The primary context of each device, and another one.
static struct CUctx_st contexts[2][FAKE_DEVICES] = {{{0}, {1}}, {{0}, {1}}};
static _Thread_local CUcontext current = NULL;
/// What cuCtxPushCurrent covered.
static _Thread_local CUcontext covered = NULL;

CUcontext fakeCudaGetContext(int device, bool isPrimary) {
  return device < 0 ? NULL : &contexts[isPrimary ? 0 : 1][device];
}

void fakeCudaSetContext(int device, bool isPrimary) {
  current = fakeCudaGetContext(device, isPrimary);
}

FAKE cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER();
  *device = ordinal;
  return ordinal >= 0 && ordinal < FAKE_DEVICES ? CUDA_SUCCESS : 101;
}

FAKE cuDeviceGetName(char *name, int size, CUdevice device) {
  ENTER();
  snprintf(name, (size_t)size, "fake device %d", device);
  return CUDA_SUCCESS;
}

FAKE cuDriverGetVersion(int *version) {
  ENTER();
  *version = 13000;
  return CUDA_SUCCESS;
}

FAKE cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                          CUdevice device) {
  (void)device;
  ENTER();
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = FAKE_MULTIPROCESSORS;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = fakeCuda.capability / 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = fakeCuda.capability % 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    *value = FAKE_L2_SIZE;
    return CUDA_SUCCESS;
  }
  return 1;
}

FAKE cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER();
  *context = &contexts[0][device];
  return CUDA_SUCCESS;
}

FAKE cuCtxGetCurrent(CUcontext *context) {
  ENTER();
  *context = current;
  return CUDA_SUCCESS;
}

FAKE cuCtxSetCurrent(CUcontext context) {
  ENTER();
  current = context;
  return CUDA_SUCCESS;
}

FAKE cuCtxPushCurrent_v2(CUcontext context) {
  ENTER();
  covered = current;
  current = context;
  return CUDA_SUCCESS;
}

FAKE cuCtxPopCurrent_v2(CUcontext *context) {
  ENTER();
  *context = current;
  current = covered;
  return CUDA_SUCCESS;
}

FAKE cuCtxGetDevice(CUdevice *device) {
  ENTER();
  if (!current)
    return 201;
  *device = current->device;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Also what stands for its functions.
struct CUmod_st {
  CUcontext context;
};

FAKE cuModuleLoadDataEx(CUmodule *module, const void *image,
                        unsigned numOptions, CUjit_option *options,
                        void **values) {
  (void)image;
  int level = -1;
  char *log = NULL;
  size_t logSize = 0;
  for (unsigned i = 0; i < numOptions; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      log = values[i];
    else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      logSize = (size_t)values[i];
    else if (options[i] == CU_JIT_OPTIMIZATION_LEVEL)
      level = (int)(intptr_t)values[i];
  }
  if (fakeCuda.jitLog && log && strlen(fakeCuda.jitLog) < logSize)
    strcpy(log, fakeCuda.jitLog);
  NOTE(fakeCuda.jitOptimizationLevel = level);
  ENTER();
  *module = malloc(sizeof(struct CUmod_st));
  (*module)->context = current;
  NOTE(++fakeCuda.modules[current->device]);
  return CUDA_SUCCESS;
}

FAKE cuModuleUnload(CUmodule module) {
  ENTER();
  if (module->context != current)
    return ELSEWHERE;
  free(module);
  NOTE(--fakeCuda.modules[current->device]; fakeCuda.unloadedIn = current);
  return CUDA_SUCCESS;
}

FAKE cuModuleGetFunction(CUfunction *function, CUmodule module,
                         const char *name) {
  (void)name;
  ENTER();
  if (module->context != current)
    return ELSEWHERE;
  *function = (CUfunction)module;
  return CUDA_SUCCESS;
}

FAKE cuModuleGetGlobal_v2(CUdeviceptr *memory, size_t *size, CUmodule module,
                          const char *name) {
  ENTER();
  if (module->context != current)
    return ELSEWHERE;
  if (!fakeCuda.global || strcmp(name, fakeCuda.global) != 0)
    return CUDA_ERROR_NOT_FOUND;
  *memory = (CUdeviceptr)(uintptr_t)module;
  *size = 1;
  return CUDA_SUCCESS;
}

FAKE cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                        int value) {
  (void)function;
  ENTER();
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    NOTE(fakeCuda.sharedLimit = value);
  return CUDA_SUCCESS;
}

FAKE cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                      void **parameters, void **extra) {
  (void)extra;
  ENTER();
  if (((CUmodule)function)->context != current)
    return ELSEWHERE;
  NOTE({
    fakeCuda.launch = *config;
    fakeCuda.launchParameters = parameters;
    for (unsigned i = 0; i < config->numAttrs; ++i)
      fakeCuda.launchAttributes[i] = config->attrs[i];
    ++fakeCuda.launches[current->device];
  });
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// A stream or an event, which has its flags.
static void *makeHandle(unsigned flags) {
  unsigned *handle = malloc(sizeof(flags));
  *handle = flags;
  return handle;
}

FAKE cuStreamCreate(CUstream *stream, unsigned flags) {
  ENTER();
  *stream = makeHandle(flags);
  return CUDA_SUCCESS;
}

FAKE cuStreamDestroy_v2(CUstream stream) {
  ENTER();
  free(stream);
  return CUDA_SUCCESS;
}

FAKE cuStreamSynchronize(CUstream stream) {
  ENTER();
  NOTE(fakeCuda.stream = stream);
  return CUDA_SUCCESS;
}

FAKE cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  (void)event;
  (void)flags;
  ENTER();
  NOTE(fakeCuda.stream = stream);
  return CUDA_SUCCESS;
}

FAKE cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  ENTER();
  *status = fakeCuda.isCapturing && stream == fakeCuda.capturing;
  return CUDA_SUCCESS;
}

FAKE cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                               unsigned long long *id, CUgraph *graph,
                               const void **dependencies,
                               size_t *numDependencies) {
  (void)graph;
  (void)dependencies;
  (void)numDependencies;
  ENTER();
  if (fakeCuda.isCapturing && fakeCuda.isCaptureBlocking && !stream)
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = fakeCuda.isCapturing && stream == fakeCuda.capturing;
  *id = *status ? (unsigned long long)fakeCuda.captures : 0;
  return CUDA_SUCCESS;
}

FAKE cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  ENTER();
  CUstreamCaptureMode before = fakeCuda.threadMode;
  NOTE(fakeCuda.threadMode = *mode);
  *mode = before;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

FAKE cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  ENTER();
  fakeCuda.capturing = stream;
  fakeCuda.captureMode = mode;
  fakeCuda.isCapturing = true;
  ++fakeCuda.captures;
  return CUDA_SUCCESS;
}

/// The capture ends however the call does.
FAKE cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  bool isCaptured = fakeCuda.isCapturing && stream == fakeCuda.capturing;
  fakeCuda.isCapturing = false;
  ENTER();
  if (!isCaptured)
    return ELSEWHERE;
  *graph = malloc(1);
  return CUDA_SUCCESS;
}

FAKE cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
                                 unsigned long long flags) {
  (void)graph;
  (void)flags;
  ENTER();
  *executable = malloc(1);
  return CUDA_SUCCESS;
}

FAKE cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  (void)executable;
  ENTER();
  NOTE(fakeCuda.stream = stream);
  return CUDA_SUCCESS;
}

FAKE cuGraphExecDestroy(CUgraphExec executable) {
  ENTER();
  free(executable);
  return CUDA_SUCCESS;
}

FAKE cuGraphDestroy(CUgraph graph) {
  ENTER();
  free(graph);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

FAKE cuEventCreate(CUevent *event, unsigned flags) {
  ENTER();
  *event = makeHandle(flags);
  return CUDA_SUCCESS;
}

FAKE cuEventDestroy_v2(CUevent event) {
  ENTER();
  free(event);
  return CUDA_SUCCESS;
}

FAKE cuEventRecord(CUevent event, CUstream stream) {
  (void)event;
  ENTER();
  NOTE(fakeCuda.stream = stream);
  return CUDA_SUCCESS;
}

FAKE cuEventSynchronize(CUevent event) {
  (void)event;
  ENTER();
  return CUDA_SUCCESS;
}

FAKE cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  (void)start;
  (void)end;
  ENTER();
  *milliseconds = 0.5f;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// An allocation of the host with its kind and its device before it.
typedef struct Allocation {
  bool isManaged;
  CUdevice device;
  _Alignas(16) char data[];
} Allocation;

static Allocation *allocationOf(CUdeviceptr memory) {
  return (Allocation *)(uintptr_t)(memory - offsetof(Allocation, data));
}

static CUdeviceptr allocate(size_t size, bool isManaged) {
  Allocation *allocation = malloc(sizeof(Allocation) + size);
  allocation->isManaged = isManaged;
  allocation->device = current->device;
  memset(allocation->data, 0xa5, size);
  NOTE(++fakeCuda.liveAllocations);
  return (CUdeviceptr)(uintptr_t)allocation->data;
}

static CUresult release(CUdeviceptr memory) {
  if (allocationOf(memory)->device != current->device)
    return ELSEWHERE;
  free(allocationOf(memory));
  NOTE(--fakeCuda.liveAllocations; fakeCuda.freedIn = current);
  return CUDA_SUCCESS;
}

struct CUmemPoolHandle_st {
  CUdevice device;
};

FAKE cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  ENTER();
  NOTE(fakeCuda.pool = *properties);
  *pool = malloc(sizeof(struct CUmemPoolHandle_st));
  (*pool)->device = properties->location.id;
  return CUDA_SUCCESS;
}

FAKE cuMemPoolDestroy(CUmemoryPool pool) {
  ENTER();
  free(pool);
  return CUDA_SUCCESS;
}

FAKE cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                           void *value) {
  (void)pool;
  ENTER();
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    NOTE(memcpy(&fakeCuda.poolThreshold, value, sizeof(uint64_t)));
  return CUDA_SUCCESS;
}

FAKE cuMemAllocFromPoolAsync(CUdeviceptr *memory, size_t size,
                             CUmemoryPool pool, CUstream stream) {
  ENTER();
  if (pool->device != current->device)
    return ELSEWHERE;
  NOTE(fakeCuda.stream = stream);
  *memory = allocate(size, /*isManaged=*/false);
  return CUDA_SUCCESS;
}

FAKE cuMemFreeAsync(CUdeviceptr memory, CUstream stream) {
  ENTER();
  NOTE(fakeCuda.stream = stream; fakeCuda.freeMode = fakeCuda.threadMode);
  return release(memory);
}

FAKE cuMemAlloc_v2(CUdeviceptr *memory, size_t size) {
  ENTER();
  *memory = allocate(size, /*isManaged=*/false);
  return CUDA_SUCCESS;
}

FAKE cuMemAllocManaged(CUdeviceptr *memory, size_t size, unsigned flags) {
  (void)flags;
  ENTER();
  *memory = allocate(size, /*isManaged=*/true);
  return CUDA_SUCCESS;
}

FAKE cuMemFree_v2(CUdeviceptr memory) {
  ENTER();
  return release(memory);
}

FAKE cuPointerGetAttribute(void *value, CUpointer_attribute attribute,
                           CUdeviceptr memory) {
  ENTER();
  if (attribute != CU_POINTER_ATTRIBUTE_IS_MANAGED)
    return 1;
  *(unsigned *)value = allocationOf(memory)->isManaged;
  return CUDA_SUCCESS;
}

FAKE cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t size,
                   CUstream stream) {
  ENTER();
  NOTE(fakeCuda.stream = stream);
  memcpy((void *)(uintptr_t)target, (void *)(uintptr_t)source, size);
  return CUDA_SUCCESS;
}

FAKE cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count,
                      CUstream stream) {
  ENTER();
  NOTE(fakeCuda.stream = stream);
  for (size_t i = 0; i < count; ++i)
    ((uint16_t *)(uintptr_t)target)[i] = value;
  return CUDA_SUCCESS;
}

FAKE cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count,
                      CUstream stream) {
  ENTER();
  NOTE(fakeCuda.stream = stream);
  for (size_t i = 0; i < count; ++i)
    ((uint32_t *)(uintptr_t)target)[i] = value;
  return CUDA_SUCCESS;
}

FAKE cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
  (void)flags;
  ENTER();
  fakeCuda.registered = memory;
  fakeCuda.registeredSize = size;
  return CUDA_SUCCESS;
}

FAKE cuMemHostUnregister(void *memory) {
  ENTER();
  if (memory == fakeCuda.registered)
    fakeCuda.registered = NULL;
  return CUDA_SUCCESS;
}
