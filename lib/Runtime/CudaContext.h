//===- CudaContext.h - contexts, pending failures, captures ------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CUDACONTEXT_H
#define GQ_LIB_RUNTIME_CUDACONTEXT_H

#include "CudaDriver.h"

#include <stdbool.h>

/// The status word of a stream.
typedef struct gqCudaStatusWord {
  CUstream stream;
  CUdeviceptr address;
  struct gqCudaStatusWord *next;
} gqCudaStatusWord;

/// Memory of a pool.
typedef struct gqCudaMemory {
  void *address;
  CUstream stream;
  /// The capture in which it was allocated.
  uint64_t capture;
  struct gqCudaMemory *next;
} gqCudaMemory;

/// What the runtime keeps for a context. Made at its first use, never freed.
typedef struct gqCudaContext {
  const gqCudaDriver *driver;
  CUcontext handle;
  CUdevice device;
  /// The primary context of its device, retained by us.
  bool isPrimary;
  int multiprocessorCount;
  /// Null before the first allocation; guarded by gqCudaLock().
  CUmemoryPool pool;
  /// Memory that belongs to graphs, and memory that will be freed when its
  /// stream is not captured any more; guarded likewise.
  struct gqCudaMemory *captured, *deferred;
  /// Guarded by gqCudaLock().
  gqCudaStatusWord *statusWords;
  /// Words that are zero, for streams whose first use is captured in a graph;
  /// likewise.
  CUdeviceptr spareWords;
  int numSpareWords;
  struct gqCudaContext *next;
} gqCudaContext;

/// Finds the context that is current in this thread, or makes the primary
/// context of device 0 current.
gqStatus gqCudaEnter(gqCudaContext **context);

/// Finds the primary context of a device, without making it current.
gqStatus gqCudaGetPrimary(int32_t ordinal, gqCudaContext **context);

/// Makes `context` current until gqCudaPop(). Returns false if that fails, and
/// also if the driver is already shut down, as it may be when destructors run:
/// then `*status` is GQ_OK.
bool gqCudaPush(const gqCudaContext *context, gqStatus *status);
void gqCudaPop(const gqCudaContext *context);

/// gqCudaCheck() for a call in `context`.
static inline gqStatus gqCudaCheckCall(const gqCudaContext *context,
                                       CUresult result, const char *call) {
  return gqCudaCheck(context->driver, result, call);
}

/// Calls a function of the driver.
#define GQ_CUDA_CALL(CONTEXT, FUNCTION, ...)                                   \
  gqCudaCheckCall(CONTEXT, (CONTEXT)->driver->FUNCTION(__VA_ARGS__), #FUNCTION)

/// Guards what contexts share between threads. Held for the first use of
/// something and for look-ups, never for a call that waits.
void gqCudaLock(void);
void gqCudaUnlock(void);

/// Finds whether `stream` is being captured.
gqStatus gqCudaIsCapturing(const gqCudaContext *context, CUstream stream,
                           bool *isCapturing);

/// Finds the number of the capture of `stream`; 0 if it is not captured. That
/// of the null stream is not 0 either while a stream that waits for it is
/// captured.
gqStatus gqCudaFindCapture(const gqCudaContext *context, CUstream stream,
                           uint64_t *capture);

/// Fails if `stream` is being captured. For what cannot be part of a graph:
/// `what` completes "... cannot be captured".
gqStatus gqCudaRefuseCapture(const gqCudaContext *context, CUstream stream,
                             const char *what);

/// Enters for a function that generated code calls: returns null if a failure
/// is pending in this thread, or if there is one now.
gqCudaContext *gqCudaBegin(void);

/// Makes a failure pending for gqCudaStatus(), unless one is already. GQ_OK is
/// not a failure.
void gqCudaPend(gqStatus status);

#endif // GQ_LIB_RUNTIME_CUDACONTEXT_H
