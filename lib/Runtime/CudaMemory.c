//===- CudaMemory.c - device memory ---------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"

#include "gq/Runtime/Cuda.h"

#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Pool
//===----------------------------------------------------------------------===//

/// A pool of our own, which keeps freed memory: with the default settings,
/// every synchronization returns memory to the system and the next allocation
/// maps it again, and the device's default pool is not ours to configure.
static gqStatus createPool(gqCudaContext *context) {
  const gqCudaDriver *driver = context->driver;
  CUmemPoolProps properties = {
      .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
      .location = {CU_MEM_LOCATION_TYPE_DEVICE, context->device}};
  CUmemoryPool pool;
  gqStatus status = gqCudaCheck(
      driver, driver->cuMemPoolCreate(&pool, &properties), "cuMemPoolCreate");
  if (status != GQ_OK)
    return status;
  uint64_t kept = UINT64_MAX;
  status = gqCudaCheck(driver,
                       driver->cuMemPoolSetAttribute(
                           pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept),
                       "cuMemPoolSetAttribute");
  if (status == GQ_OK)
    context->pool = pool;
  else
    driver->cuMemPoolDestroy(pool);
  return status;
}

static gqStatus getPool(gqCudaContext *context, CUstream stream,
                        CUmemoryPool *pool) {
  gqStatus status = GQ_OK;
  gqCudaLock();
  if (!context->pool)
    status = gqCudaRefuseCapture(context, stream, "the first allocation");
  if (!context->pool && status == GQ_OK)
    status = createPool(context);
  *pool = context->pool;
  gqCudaUnlock();
  return status;
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

/// The failure of an allocation, with its size.
static gqStatus checkAllocation(const gqCudaContext *context, CUresult result,
                                const char *call, size_t size) {
  gqStatus status = gqCudaCheckCall(context, result, call);
  if (status == GQ_OK)
    return status;
  return gqFail(status, "%s (%zu bytes requested)", gqGetLastErrorMessage(),
                size);
}

static void push(gqCudaMemory **list, gqCudaMemory *memory) {
  gqCudaLock();
  memory->next = *list;
  *list = memory;
  gqCudaUnlock();
}

/// Adds memory to a list of the context.
static gqStatus record(gqCudaMemory **list, void *address, CUstream stream,
                       uint64_t capture) {
  gqCudaMemory *memory = malloc(sizeof(gqCudaMemory));
  if (!memory)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  *memory = (gqCudaMemory){address, stream, capture, NULL};
  push(list, memory);
  return GQ_OK;
}

/// The capture in which memory was allocated, which is then forgotten; else 0.
static uint64_t takeCapture(gqCudaContext *context, const void *address) {
  uint64_t capture = 0;
  gqCudaLock();
  for (gqCudaMemory **at = &context->captured; *at; at = &(*at)->next) {
    gqCudaMemory *memory = *at;
    if (memory->address != address)
      continue;
    capture = memory->capture;
    *at = memory->next;
    free(memory);
    break;
  }
  gqCudaUnlock();
  return capture;
}

/// Frees memory in the order of `stream`. This thread may be capturing another
/// stream; only in the relaxed mode does that go on.
static gqStatus freeNow(const gqCudaContext *context, void *address,
                        CUstream stream) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  gqStatus status =
      GQ_CUDA_CALL(context, cuThreadExchangeStreamCaptureMode, &mode);
  if (status != GQ_OK)
    return status;
  status = GQ_CUDA_CALL(context, cuMemFreeAsync,
                        (CUdeviceptr)(uintptr_t)address, stream);
  context->driver->cuThreadExchangeStreamCaptureMode(&mode);
  return status;
}

/// Frees what waits for the end of captures that have ended.
static gqStatus freeDeferred(gqCudaContext *context) {
  gqStatus status = GQ_OK;
  gqCudaLock();
  gqCudaMemory *waiting = context->deferred;
  context->deferred = NULL;
  gqCudaUnlock();
  while (waiting) {
    gqCudaMemory *memory = waiting;
    waiting = memory->next;
    uint64_t capture;
    if (status == GQ_OK)
      status = gqCudaFindCapture(context, memory->stream, &capture);
    if (status != GQ_OK || capture) {
      push(&context->deferred, memory);
      continue;
    }
    status = freeNow(context, memory->address, memory->stream);
    free(memory);
  }
  return status;
}

static gqStatus allocate(gqCudaContext *context, size_t size, CUstream stream,
                         void **memory) {
  *memory = NULL;
  if (size == 0)
    return GQ_OK;
  CUmemoryPool pool;
  uint64_t capture;
  gqStatus status = getPool(context, stream, &pool);
  if (status == GQ_OK)
    status = gqCudaFindCapture(context, stream, &capture);
  if (status == GQ_OK)
    status = freeDeferred(context);
  if (status != GQ_OK)
    return status;
  CUdeviceptr address = 0;
  status = checkAllocation(
      context,
      context->driver->cuMemAllocFromPoolAsync(&address, size, pool, stream),
      "cuMemAllocFromPoolAsync", size);
  *memory = (void *)(uintptr_t)address;
  if (status != GQ_OK || !capture)
    return status;
  status = record(&context->captured, *memory, stream, capture);
  if (status != GQ_OK) {
    freeNow(context, *memory, stream);
    *memory = NULL;
  }
  return status;
}

static gqStatus allocateManaged(const gqCudaContext *context, size_t size,
                                void **memory) {
  *memory = NULL;
  if (size == 0)
    return GQ_OK;
  CUdeviceptr address = 0;
  gqStatus status = checkAllocation(
      context,
      context->driver->cuMemAllocManaged(&address, size, CU_MEM_ATTACH_GLOBAL),
      "cuMemAllocManaged", size);
  *memory = (void *)(uintptr_t)address;
  return status;
}

/// Frees memory, but not in a capture that began after it was allocated: the
/// capture would fail. Then it is freed after the capture.
static gqStatus release(gqCudaContext *context, void *memory, CUstream stream) {
  uint64_t capture, own = takeCapture(context, memory);
  gqStatus status = gqCudaFindCapture(context, stream, &capture);
  if (status != GQ_OK)
    return status;
  if (capture && capture != own)
    return record(&context->deferred, memory, stream, 0);
  return freeNow(context, memory, stream);
}

/// Managed memory is not from a pool, and is freed without a stream.
static bool isManaged(const gqCudaContext *context, const void *memory) {
  unsigned managed = 0;
  return context->driver->cuPointerGetAttribute(
             &managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
             (CUdeviceptr)(uintptr_t)memory) == CUDA_SUCCESS &&
         managed;
}

gqStatus gqDeviceAlloc(size_t size, void **memory) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  *memory = NULL;
  return status == GQ_OK ? allocate(context, size, gqGetStream(), memory)
                         : status;
}

gqStatus gqDeviceFree(void *memory) {
  gqCudaContext *context;
  if (!memory)
    return GQ_OK;
  gqStatus status = gqCudaEnter(&context);
  return status == GQ_OK ? release(context, memory, gqGetStream()) : status;
}

static gqStatus releaseOn(int32_t device, CUstream stream, void *memory) {
  gqCudaContext *context;
  gqStatus status = gqCudaGetPrimary(device, &context);
  if (status != GQ_OK || !gqCudaPush(context, &status))
    return status;
  status = release(context, memory, stream);
  gqCudaPop(context);
  return status;
}

void gqDeviceRelease(int32_t device, void *stream, void *memory) {
  if (memory)
    gqCudaPend(releaseOn(device, stream, memory));
}

void *mgpuMemAlloc(uint64_t size, void *stream, bool isHostShared) {
  gqCudaContext *context = gqCudaBegin();
  void *memory = NULL;
  if (context)
    gqCudaPend(isHostShared ? allocateManaged(context, size, &memory)
                            : allocate(context, size, stream, &memory));
  return memory;
}

/// Even while a failure is pending: nothing else will do it.
void mgpuMemFree(void *memory, void *stream) {
  gqCudaContext *context;
  if (!memory)
    return;
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK && isManaged(context, memory))
    status = GQ_CUDA_CALL(context, cuMemFree, (CUdeviceptr)(uintptr_t)memory);
  else if (status == GQ_OK)
    status = release(context, memory, stream);
  gqCudaPend(status);
}

void *_mlir_memref_to_llvm_alloc(int64_t size) {
  return mgpuMemAlloc((uint64_t)size, gqGetStream(), /*isHostShared=*/false);
}

/// An allocation is aligned to 256 bytes.
void *_mlir_memref_to_llvm_aligned_alloc(int64_t alignment, int64_t size) {
  (void)alignment;
  return _mlir_memref_to_llvm_alloc(size);
}

void _mlir_memref_to_llvm_free(void *memory) {
  mgpuMemFree(memory, gqGetStream());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static gqStatus copy(const gqCudaContext *context, void *target,
                     const void *source, size_t size, CUstream stream) {
  if (size == 0)
    return GQ_OK;
  return GQ_CUDA_CALL(context, cuMemcpyAsync, (CUdeviceptr)(uintptr_t)target,
                      (CUdeviceptr)(uintptr_t)source, size, stream);
}

static gqStatus copyAndWait(void *target, const void *source, size_t size) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK)
    status = copy(context, target, source, size, gqGetStream());
  return status == GQ_OK ? gqSynchronize() : status;
}

gqStatus gqCopyToDevice(void *target, const void *source, size_t size) {
  return copyAndWait(target, source, size);
}

gqStatus gqCopyToHost(void *target, const void *source, size_t size) {
  return copyAndWait(target, source, size);
}

void mgpuMemcpy(void *target, void *source, size_t size, void *stream) {
  const gqCudaContext *context = gqCudaBegin();
  if (context)
    gqCudaPend(copy(context, target, source, size, stream));
}

void mgpuMemset32(void *target, unsigned int value, size_t count,
                  void *stream) {
  const gqCudaContext *context = gqCudaBegin();
  if (context && count)
    gqCudaPend(GQ_CUDA_CALL(context, cuMemsetD32Async,
                            (CUdeviceptr)(uintptr_t)target, value, count,
                            stream));
}

void mgpuMemset16(void *target, unsigned short value, size_t count,
                  void *stream) {
  const gqCudaContext *context = gqCudaBegin();
  if (context && count)
    gqCudaPend(GQ_CUDA_CALL(context, cuMemsetD16Async,
                            (CUdeviceptr)(uintptr_t)target, value, count,
                            stream));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The copy of a constant in one context. A constant's word is a list of them.
typedef struct Copy {
  const gqCudaContext *context;
  CUdeviceptr address;
  struct Copy *next;
} Copy;

/// The copy in `context`, or null. If there is none, lists `copy`, which may be
/// null.
static const Copy *findOrList(void **word, const gqCudaContext *context,
                              Copy *copy) {
  gqCudaLock();
  const Copy *found = *word;
  while (found && found->context != context)
    found = found->next;
  if (!found && copy) {
    copy->next = *word;
    *word = copy;
    found = copy;
  }
  gqCudaUnlock();
  return found;
}

/// Waits, so that any stream may read the copy from then on.
static gqStatus upload(const gqCudaContext *context, const void *data,
                       size_t size, CUdeviceptr *address) {
  const gqCudaDriver *driver = context->driver;
  gqStatus status = gqCudaRefuseCapture(context, gqGetStream(),
                                        "the first use of a constant");
  if (status == GQ_OK)
    status = checkAllocation(context, driver->cuMemAlloc(address, size),
                             "cuMemAlloc", size);
  if (status != GQ_OK)
    return status;
  status = copyAndWait((void *)(uintptr_t)*address, data, size);
  if (status != GQ_OK)
    driver->cuMemFree(*address);
  return status;
}

/// Makes a copy and lists it, unless another thread has been faster.
static gqStatus createCopy(const gqCudaContext *context, void **word,
                           const void *data, size_t size, const Copy **listed) {
  Copy *copy = calloc(1, sizeof(Copy));
  if (!copy)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  copy->context = context;
  gqStatus status = upload(context, data, size, &copy->address);
  if (status == GQ_OK)
    *listed = findOrList(word, context, copy);
  if (*listed == copy)
    return GQ_OK;
  if (status == GQ_OK)
    context->driver->cuMemFree(copy->address);
  free(copy);
  return status;
}

void *gqDeviceConstant(void **word, const void *data, size_t size) {
  const gqCudaContext *context = size ? gqCudaBegin() : NULL;
  if (!context)
    return NULL;
  const Copy *copy = findOrList(word, context, /*copy=*/NULL);
  if (!copy)
    gqCudaPend(createCopy(context, word, data, size, &copy));
  return copy ? (void *)(uintptr_t)copy->address : NULL;
}

static gqStatus freeCopy(const Copy *copy) {
  gqStatus status;
  if (!gqCudaPush(copy->context, &status))
    return status;
  status = GQ_CUDA_CALL(copy->context, cuMemFree, copy->address);
  gqCudaPop(copy->context);
  return status;
}

/// Even while a failure is pending: nothing else will do it.
void gqDeviceConstantRelease(void **word) {
  for (Copy *copy = *word, *next; copy; copy = next) {
    next = copy->next;
    gqCudaPend(freeCopy(copy));
    free(copy);
  }
  *word = NULL;
}

//===----------------------------------------------------------------------===//
// Host memory
//===----------------------------------------------------------------------===//

void mgpuMemHostRegister(void *memory, uint64_t size) {
  const gqCudaContext *context = gqCudaBegin();
  if (context)
    gqCudaPend(
        GQ_CUDA_CALL(context, cuMemHostRegister, memory, size, /*flags=*/0));
}

/// Even while a failure is pending: nothing else will do it.
void mgpuMemHostUnregister(void *memory) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK)
    status = GQ_CUDA_CALL(context, cuMemHostUnregister, memory);
  gqCudaPend(status);
}

/// A ranked memref as generated code lays it out: its sizes, then its strides.
typedef struct Memref {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
} Memref;

void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                               int64_t elementSize) {
  const Memref *memref = descriptor;
  int64_t size = elementSize;
  bool overflow = false;
  for (int64_t i = 0; i < rank; ++i)
    overflow |= __builtin_mul_overflow(size, memref->sizesAndStrides[i], &size);
  if (overflow || size < 0)
    gqCudaPend(gqFail(GQ_INVALID_ARGUMENT,
                      "a memref to register has a negative extent, or more "
                      "elements than there can be"));
  else
    mgpuMemHostRegister(memref->aligned + memref->offset * elementSize,
                        (uint64_t)size);
}

void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor,
                                 int64_t elementSize) {
  (void)rank;
  const Memref *memref = descriptor;
  mgpuMemHostUnregister(memref->aligned + memref->offset * elementSize);
}
