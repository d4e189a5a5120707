//===- CudaStream.c - streams, events, status words -----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"

#include "gq/Runtime/Cuda.h"
#include "runtime_kernels/kernels/Launch.h"

#include <stdbool.h>
#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static _Thread_local void *currentStream = NULL;

void gqSetStream(void *stream) { currentStream = stream; }
void *gqGetStream(void) { return currentStream; }

static gqStatus synchronize(const gqCudaContext *context, CUstream stream) {
  return GQ_CUDA_CALL(context, cuStreamSynchronize, stream);
}

gqStatus gqSynchronize(void) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  return status == GQ_OK ? synchronize(context, currentStream) : status;
}

gqStatus gqStreamCreate(void **stream) {
  gqCudaContext *context;
  CUstream result = NULL;
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK)
    status =
        GQ_CUDA_CALL(context, cuStreamCreate, &result, CU_STREAM_NON_BLOCKING);
  *stream = status == GQ_OK ? result : NULL;
  return status;
}

gqStatus gqStreamDestroy(void *stream) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status != GQ_OK || !stream)
    return status;
  return GQ_CUDA_CALL(context, cuStreamDestroy, stream);
}

void *mgpuStreamCreate(void) { return currentStream; }
void mgpuStreamDestroy(void *stream) { (void)stream; }
void mgpuStreamSynchronize(void *stream) { (void)stream; }

void mgpuStreamWaitEvent(void *stream, void *event) {
  const gqCudaContext *context = gqCudaBegin();
  if (context)
    gqCudaPend(
        GQ_CUDA_CALL(context, cuStreamWaitEvent, stream, event, /*flags=*/0));
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

static gqStatus createEvent(const gqCudaContext *context, unsigned flags,
                            void **event) {
  CUevent result = NULL;
  gqStatus status = GQ_CUDA_CALL(context, cuEventCreate, &result, flags);
  *event = result;
  return status;
}

static gqStatus recordEvent(const gqCudaContext *context, CUevent event,
                            CUstream stream) {
  return GQ_CUDA_CALL(context, cuEventRecord, event, stream);
}

static gqStatus synchronizeEvent(const gqCudaContext *context, CUevent event) {
  return GQ_CUDA_CALL(context, cuEventSynchronize, event);
}

gqStatus gqEventCreate(void **event) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  *event = NULL;
  return status == GQ_OK ? createEvent(context, CU_EVENT_DEFAULT, event)
                         : status;
}

gqStatus gqEventDestroy(void *event) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status != GQ_OK || !event)
    return status;
  return GQ_CUDA_CALL(context, cuEventDestroy, event);
}

gqStatus gqEventRecord(void *event) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  return status == GQ_OK ? recordEvent(context, event, currentStream) : status;
}

gqStatus gqEventElapsed(void *start, void *end, double *microseconds) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK)
    status = synchronizeEvent(context, end);
  if (status != GQ_OK)
    return status;
  float milliseconds = 0;
  status = GQ_CUDA_CALL(context, cuEventElapsedTime, &milliseconds, start, end);
  *microseconds = milliseconds * 1e3;
  return status;
}

void *mgpuEventCreate(void) {
  const gqCudaContext *context = gqCudaBegin();
  void *event = NULL;
  if (context)
    gqCudaPend(createEvent(context, CU_EVENT_DISABLE_TIMING, &event));
  return event;
}

/// Even while a failure is pending: nothing else will do it.
void mgpuEventDestroy(void *event) {
  if (event)
    gqCudaPend(gqEventDestroy(event));
}

void mgpuEventSynchronize(void *event) {
  const gqCudaContext *context = gqCudaBegin();
  if (context)
    gqCudaPend(synchronizeEvent(context, event));
}

void mgpuEventRecord(void *event, void *stream) {
  const gqCudaContext *context = gqCudaBegin();
  if (context)
    gqCudaPend(recordEvent(context, event, stream));
}

//===----------------------------------------------------------------------===//
// Status words
//===----------------------------------------------------------------------===//

/// Under the lock. Null if there is none yet.
static gqCudaStatusWord *findWord(const gqCudaContext *context,
                                  CUstream stream) {
  gqCudaStatusWord *word = context->statusWords;
  while (word && word->stream != stream)
    word = word->next;
  return word;
}

static gqStatus clearWord(const gqCudaContext *context, CUdeviceptr address,
                          CUstream stream) {
  return GQ_CUDA_CALL(context, cuMemsetD32Async, address, /*value=*/0,
                      /*count=*/1, stream);
}

/// Allocates words that are zero for what comes later in `stream`.
static gqStatus allocateWords(const gqCudaContext *context, CUstream stream,
                              size_t count, CUdeviceptr *address) {
  const gqCudaDriver *driver = context->driver;
  gqStatus status =
      gqCudaCheck(driver, driver->cuMemAlloc(address, count * sizeof(uint32_t)),
                  "cuMemAlloc");
  if (status != GQ_OK)
    return status;
  status = GQ_CUDA_CALL(context, cuMemsetD32Async, *address, /*value=*/0, count,
                        stream);
  if (status != GQ_OK)
    driver->cuMemFree(*address);
  return status;
}

/// Under the lock: has spare words for captures to come. They are zero for any
/// stream, hence the wait, at the first use of a context alone.
static gqStatus stockSpares(gqCudaContext *context, CUstream stream) {
  enum { COUNT = 64 };
  if (context->spareWords)
    return GQ_OK;
  CUdeviceptr address = 0;
  gqStatus status = allocateWords(context, stream, COUNT, &address);
  if (status != GQ_OK)
    return status;
  status = synchronize(context, stream);
  if (status != GQ_OK) {
    context->driver->cuMemFree(address);
    return status;
  }
  context->spareWords = address;
  context->numSpareWords = COUNT;
  return GQ_OK;
}

/// Under the lock: a word that is zero for what comes later in `stream`. In a
/// capture, where nothing can be allocated, it is a spare one.
static gqStatus createWord(gqCudaContext *context, CUstream stream,
                           CUdeviceptr *address) {
  bool isCapturing = false;
  gqStatus status = gqCudaIsCapturing(context, stream, &isCapturing);
  if (status != GQ_OK)
    return status;
  if (!isCapturing) {
    status = stockSpares(context, stream);
    return status == GQ_OK ? allocateWords(context, stream, 1, address)
                           : status;
  }
  if (!context->numSpareWords)
    return gqCudaRefuseCapture(context, stream, "the first use of a stream");
  *address = context->spareWords + --context->numSpareWords * sizeof(uint32_t);
  return GQ_OK;
}

/// Under the lock: finds the word of a stream or makes it.
static gqStatus getWord(gqCudaContext *context, CUstream stream,
                        CUdeviceptr *address) {
  gqCudaStatusWord *word = findWord(context, stream);
  if (word) {
    *address = word->address;
    return GQ_OK;
  }
  word = calloc(1, sizeof(gqCudaStatusWord));
  if (!word)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  gqStatus status = createWord(context, stream, address);
  if (status != GQ_OK) {
    free(word);
    return status;
  }
  *word = (gqCudaStatusWord){stream, *address, context->statusWords};
  context->statusWords = word;
  return GQ_OK;
}

uint32_t *gqStreamStatusWord(void *stream) {
  gqCudaContext *context = gqCudaBegin();
  if (!context)
    return NULL;
  CUdeviceptr address = 0;
  gqCudaLock();
  gqStatus status = getWord(context, stream, &address);
  gqCudaUnlock();
  gqCudaPend(status);
  return status == GQ_OK ? (uint32_t *)(uintptr_t)address : NULL;
}

/// Reads and clears a word, and waits for the stream.
static gqStatus takeWord(const gqCudaContext *context, CUdeviceptr address,
                         CUstream stream, uint32_t *bits) {
  gqStatus status =
      GQ_CUDA_CALL(context, cuMemcpyAsync, (CUdeviceptr)(uintptr_t)bits,
                   address, sizeof(*bits), stream);
  if (status == GQ_OK)
    status = clearWord(context, address, stream);
  // Also after a failure: `bits` must not be written once we have returned.
  gqStatus synchronized = synchronize(context, stream);
  return status == GQ_OK ? synchronized : status;
}

static gqStatus statusOfBits(uint32_t bits) {
  if (!bits)
    return GQ_OK;
  if (bits == GQ_DEV_STATUS_ROW_INDICES)
    return gqFail(GQ_INVALID_ROW_INDICES,
                  "a kernel of this stream took zeros for rows: row_indices "
                  "are not all in [0, N) for the N rows of a gathered input");
  bool offsets = bits & GQ_DEV_STATUS_OFFSETS;
  bool scaleOffsets = bits & GQ_DEV_STATUS_SCALE_OFFSETS;
  bool rowIndices = bits & GQ_DEV_STATUS_ROW_INDICES;
  bool sizes = bits & GQ_DEV_STATUS_SIZES;
  return gqFail(
      GQ_INVALID_OFFSETS, "a kernel of this stream dropped rows:%s%s%s%s%s",
      offsets ? " offsets do not describe groups, which must not decrease and "
                "lie in [0, M]"
              : "",
      offsets && scaleOffsets ? ";" : "",
      scaleOffsets ? " scale_offsets do not fit the groups, they must be "
                     "increasing multiples of 128 with each group's padded "
                     "rows inside the scales"
                   : "",
      sizes ? " an output is smaller than the groups need" : "",
      rowIndices ? "; row_indices are not all in [0, N)" : "");
}

gqStatus gqStreamStatus(void *stream) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK)
    status = gqCudaRefuseCapture(context, stream, "gqStreamStatus");
  if (status != GQ_OK)
    return status;
  gqCudaLock();
  const gqCudaStatusWord *word = findWord(context, stream);
  gqCudaUnlock();
  // Words stay where they are once they are listed.
  if (!word)
    return synchronize(context, stream);
  uint32_t bits = 0;
  status = takeWord(context, word->address, stream, &bits);
  return status == GQ_OK ? statusOfBits(bits) : status;
}
