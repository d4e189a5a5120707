//===- CudaContext.c - contexts, pending failures, captures ---------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"

#include "runtime_kernels/kernels/Launch.h"

#include "gq/Runtime/Cuda.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void gqCudaLock(void) { pthread_mutex_lock(&mutex); }
void gqCudaUnlock(void) { pthread_mutex_unlock(&mutex); }

/// Guarded by the mutex; its elements stay.
static gqCudaContext *contexts = NULL;

static gqStatus createContext(const gqCudaDriver *driver, CUcontext handle,
                              CUdevice device, gqCudaContext **context) {
  int count;
  gqStatus status =
      gqCudaCheck(driver,
                  driver->cuDeviceGetAttribute(
                      &count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
                  "cuDeviceGetAttribute");
  if (status != GQ_OK)
    return status;
  gqCudaContext *result = calloc(1, sizeof(gqCudaContext));
  if (!result)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  *result = (gqCudaContext){.driver = driver,
                            .handle = handle,
                            .device = device,
                            .multiprocessorCount = count,
                            .next = contexts};
  *context = contexts = result;
  return GQ_OK;
}

/// Under the lock: finds or makes what is kept for `handle`, a context of
/// `device`.
static gqStatus findContext(const gqCudaDriver *driver, CUcontext handle,
                            CUdevice device, gqCudaContext **context) {
  for (gqCudaContext *known = contexts; known; known = known->next) {
    if (known->handle != handle)
      continue;
    *context = known;
    return GQ_OK;
  }
  return createContext(driver, handle, device, context);
}

/// Under the lock: the same for the primary context of `device`, which is
/// retained once.
static gqStatus findPrimary(const gqCudaDriver *driver, CUdevice device,
                            gqCudaContext **context) {
  for (gqCudaContext *known = contexts; known; known = known->next) {
    if (!known->isPrimary || known->device != device)
      continue;
    *context = known;
    return GQ_OK;
  }
  CUcontext handle = NULL;
  *context = NULL;
  gqStatus status =
      gqCudaCheck(driver, driver->cuDevicePrimaryCtxRetain(&handle, device),
                  "cuDevicePrimaryCtxRetain");
  if (status == GQ_OK)
    status = findContext(driver, handle, device, context);
  if (status == GQ_OK)
    (*context)->isPrimary = true;
  return status;
}

gqStatus gqCudaGetPrimary(int32_t ordinal, gqCudaContext **context) {
  const gqCudaDriver *driver;
  CUdevice device;
  gqStatus status = gqCudaGetDriver(&driver);
  if (status == GQ_OK)
    status = gqCudaCheck(driver, driver->cuDeviceGet(&device, ordinal),
                         "cuDeviceGet");
  if (status != GQ_OK)
    return status;
  gqCudaLock();
  status = findPrimary(driver, device, context);
  gqCudaUnlock();
  return status;
}

/// Finds what is kept for `handle`, the current context.
static gqStatus getCurrent(const gqCudaDriver *driver, CUcontext handle,
                           gqCudaContext **context) {
  CUdevice device;
  gqStatus status =
      gqCudaCheck(driver, driver->cuCtxGetDevice(&device), "cuCtxGetDevice");
  if (status != GQ_OK)
    return status;
  gqCudaLock();
  status = findContext(driver, handle, device, context);
  gqCudaUnlock();
  return status;
}

static gqStatus makePrimaryCurrent(int32_t ordinal, gqCudaContext **context) {
  gqStatus status = gqCudaGetPrimary(ordinal, context);
  if (status != GQ_OK)
    return status;
  return GQ_CUDA_CALL(*context, cuCtxSetCurrent, (*context)->handle);
}

gqStatus gqCudaEnter(gqCudaContext **context) {
  static _Thread_local gqCudaContext *last = NULL;
  const gqCudaDriver *driver;
  CUcontext handle = NULL;
  gqStatus status = gqCudaGetDriver(&driver);
  if (status == GQ_OK)
    status = gqCudaCheck(driver, driver->cuCtxGetCurrent(&handle),
                         "cuCtxGetCurrent");
  if (status == GQ_OK && (!last || last->handle != handle))
    status = handle ? getCurrent(driver, handle, &last)
                    : makePrimaryCurrent(0, &last);
  *context = last;
  return status;
}

bool gqCudaPush(const gqCudaContext *context, gqStatus *status) {
  CUresult result = context->driver->cuCtxPushCurrent(context->handle);
  *status = result == CUDA_ERROR_DEINITIALIZED
                ? GQ_OK
                : gqCudaCheckCall(context, result, "cuCtxPushCurrent");
  return result == CUDA_SUCCESS;
}

void gqCudaPop(const gqCudaContext *context) {
  CUcontext ignored;
  context->driver->cuCtxPopCurrent(&ignored);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

gqStatus gqGetDevice(int32_t *device) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK)
    *device = context->device;
  return status;
}

gqStatus gqSetDevice(int32_t device) {
  gqCudaContext *context;
  return makePrimaryCurrent(device, &context);
}

/// The device of the current context, else device 0. Makes no context.
static gqStatus getDevice(const gqCudaDriver *driver, CUdevice *device) {
  CUcontext handle = NULL;
  gqStatus status =
      gqCudaCheck(driver, driver->cuCtxGetCurrent(&handle), "cuCtxGetCurrent");
  if (status != GQ_OK)
    return status;
  if (handle)
    return gqCudaCheck(driver, driver->cuCtxGetDevice(device),
                       "cuCtxGetDevice");
  return gqCudaCheck(driver, driver->cuDeviceGet(device, 0), "cuDeviceGet");
}

static gqStatus getCapability(const gqCudaDriver *driver, int *major,
                              int *minor) {
  CUdevice device;
  gqStatus status = getDevice(driver, &device);
  if (status != GQ_OK)
    return status;
  CUresult result = driver->cuDeviceGetAttribute(
      major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (result == CUDA_SUCCESS)
    result = driver->cuDeviceGetAttribute(
        minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return gqCudaCheck(driver, result, "cuDeviceGetAttribute");
}

gqStatus gqDeviceChip(char name[GQ_CHIP_SIZE]) {
  const gqCudaDriver *driver;
  int major = 0, minor = 0;
  gqStatus status = gqCudaGetDriver(&driver);
  if (status == GQ_OK)
    status = getCapability(driver, &major, &minor);
  if (status != GQ_OK)
    return status;
  bool hasSpecific = minor == 0 && (major == 9 || major == 10 || major == 12);
  snprintf(name, GQ_CHIP_SIZE, "sm_%d%d%s", major, minor,
           hasSpecific ? "a" : "");
  return GQ_OK;
}

gqStatus gqGetDeviceInfo(gqDeviceInfo *info) {
  gqCudaContext *context;
  int l2 = 0, version = 0;
  *info = (gqDeviceInfo){.name = ""};
  gqStatus status = gqCudaEnter(&context);
  if (status == GQ_OK)
    status = gqDeviceChip(info->chip);
  if (status == GQ_OK)
    status = GQ_CUDA_CALL(context, cuDeviceGetName, info->name,
                          (int)sizeof(info->name), context->device);
  if (status == GQ_OK)
    status = GQ_CUDA_CALL(context, cuDriverGetVersion, &version);
  if (status == GQ_OK)
    status = GQ_CUDA_CALL(context, cuDeviceGetAttribute, &l2,
                          CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, context->device);
  if (status != GQ_OK)
    return status;
  info->cudaVersion = version;
  info->multiprocessorCount = context->multiprocessorCount;
  info->l2Size = l2;
  return GQ_OK;
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

gqStatus gqCudaIsCapturing(const gqCudaContext *context, CUstream stream,
                           bool *isCapturing) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  gqStatus status =
      GQ_CUDA_CALL(context, cuStreamIsCapturing, stream, &capture);
  *isCapturing = capture != CU_STREAM_CAPTURE_STATUS_NONE;
  return status;
}

gqStatus gqCudaFindCapture(const gqCudaContext *context, CUstream stream,
                           uint64_t *capture) {
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  unsigned long long id = 0;
  CUresult result = context->driver->cuStreamGetCaptureInfo(
      stream, &state, &id, /*graph=*/NULL, /*dependencies=*/NULL,
      /*numDependencies=*/NULL);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
    *capture = UINT64_MAX;
    return GQ_OK;
  }
  *capture = state == CU_STREAM_CAPTURE_STATUS_NONE ? 0 : id;
  return gqCudaCheckCall(context, result, "cuStreamGetCaptureInfo");
}

gqStatus gqCudaRefuseCapture(const gqCudaContext *context, CUstream stream,
                             const char *what) {
  bool isCapturing;
  gqStatus status = gqCudaIsCapturing(context, stream, &isCapturing);
  if (status != GQ_OK || !isCapturing)
    return status;
  return gqFail(GQ_CUDA_ERROR, "%s cannot be captured in a CUDA graph", what);
}

//===----------------------------------------------------------------------===//
// Pending failures
//===----------------------------------------------------------------------===//

/// The message is kept beside the status, since functions that return theirs
/// may fail in between.
static _Thread_local gqStatus pending = GQ_OK;
static _Thread_local char *pendingMessage = NULL;

void gqCudaPend(gqStatus status) {
  if (status == GQ_OK || pending != GQ_OK)
    return;
  pending = status;
  const char *message = gqGetLastErrorMessage();
  size_t size = strlen(message) + 1;
  pendingMessage = malloc(size);
  if (pendingMessage)
    memcpy(pendingMessage, message, size);
}

gqStatus gqCudaStatus(void) {
  gqStatus status = pending;
  if (status != GQ_OK)
    gqFail(status, "%s", pendingMessage ? pendingMessage : "out of memory");
  free(pendingMessage);
  pendingMessage = NULL;
  pending = GQ_OK;
  return status;
}

gqCudaContext *gqCudaBegin(void) {
  if (pending != GQ_OK)
    return NULL;
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  gqCudaPend(status);
  return status == GQ_OK ? context : NULL;
}

int64_t gqDeviceMultiprocessorCount(void) {
  gqCudaContext *context = gqCudaBegin();
  return context ? context->multiprocessorCount : 1;
}

gqLaunchPlan gqPlanLaunch(int64_t family, int64_t extent0, int64_t extent1,
                          int64_t extent2, int64_t extent3, int64_t extent4,
                          int64_t extent5, int64_t extent6, int64_t extent7) {
  const int64_t extents[GQ_LAUNCH_EXTENTS] = {
      extent0, extent1, extent2, extent3, extent4, extent5, extent6, extent7};
  gqLaunchPlan plan = {0};
  switch (gq_dev_plan(family, extents, gqDeviceMultiprocessorCount(), &plan)) {
  case GQ_DEV_PLANNED:
    break;
  case GQ_DEV_UNKNOWN_FAMILY:
    gqCudaPend(gqFail(GQ_INVALID_ARGUMENT,
                      "the runtime knows no kernel family %" PRId64
                      "; it is older than the code that it runs",
                      family));
    break;
  case GQ_DEV_BAD_EXTENTS:
    gqCudaPend(gqFail(
        GQ_INVALID_ARGUMENT,
        "an extent of a kernel is negative, or more than a device "
        "has room for: one of %" PRId64 ", %" PRId64 ", %" PRId64 ", ...",
        extent0, extent1, extent2));
  }
  return plan;
}

void mgpuSetDefaultDevice(int32_t device) {
  if (pending == GQ_OK)
    gqCudaPend(gqSetDevice(device));
}
