//===- CudaDriver.c - the CUDA driver, opened at run time -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *symbol;
  size_t offset;
} entryPoints[] = {
#define GQ_CUDA_ENTRY(NAME, SYMBOL, PARAMETERS)                                \
  {#SYMBOL, offsetof(gqCudaDriver, NAME)},
    GQ_CUDA_FUNCTIONS(GQ_CUDA_ENTRY)
#undef GQ_CUDA_ENTRY
};

/// The driver, or why there is none; written once.
static gqCudaDriver theDriver;
static gqStatus theStatus = GQ_OK;
static char theMessage[512];

static gqStatus findEntryPoints(void *library, const char *path) {
  for (size_t i = 0; i < sizeof(entryPoints) / sizeof(entryPoints[0]); ++i) {
    void *address = dlsym(library, entryPoints[i].symbol);
    if (!address)
      return gqFail(GQ_NO_DRIVER,
                    "the CUDA driver %s has no %s: CUDA 11.8 or later is "
                    "needed",
                    path, entryPoints[i].symbol);
    memcpy((char *)&theDriver + entryPoints[i].offset, &address,
           sizeof(address));
  }
  return GQ_OK;
}

static gqStatus openDriver(void) {
  const char *path = getenv("GQ_CUDA_DRIVER");
  if (!path || !*path)
    path = "libcuda.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return gqFail(GQ_NO_DRIVER, "no CUDA driver: %s", dlerror());
  gqStatus status = findEntryPoints(library, path);
  if (status != GQ_OK)
    return status;
  status = gqCudaCheck(&theDriver, theDriver.cuInit(/*flags=*/0), "cuInit");
  if (status == GQ_NO_DRIVER || status == GQ_NO_DEVICE)
    return gqFail(status, "no CUDA %s: %s",
                  status == GQ_NO_DRIVER ? "driver" : "device",
                  gqGetLastErrorMessage());
  return status;
}

static void openDriverOnce(void) {
  theStatus = openDriver();
  if (theStatus != GQ_OK)
    snprintf(theMessage, sizeof(theMessage), "%s", gqGetLastErrorMessage());
}

gqStatus gqCudaGetDriver(const gqCudaDriver **driver) {
  static pthread_once_t opened = PTHREAD_ONCE_INIT;
  pthread_once(&opened, openDriverOnce);
  *driver = &theDriver;
  return theStatus == GQ_OK ? GQ_OK : gqFail(theStatus, "%s", theMessage);
}

static gqStatus statusOf(CUresult result) {
  switch (result) {
  case CUDA_SUCCESS:
    return GQ_OK;
  case CUDA_ERROR_OUT_OF_MEMORY:
    return GQ_OUT_OF_MEMORY;
  case CUDA_ERROR_STUB_LIBRARY:
    return GQ_NO_DRIVER;
  case CUDA_ERROR_NO_DEVICE:
    return GQ_NO_DEVICE;
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
    return GQ_UNSUPPORTED_CHIP;
  }
  return GQ_CUDA_ERROR;
}

gqStatus gqCudaCheck(const gqCudaDriver *driver, CUresult result,
                     const char *call) {
  if (result == CUDA_SUCCESS)
    return GQ_OK;
  const char *name, *text;
  if (driver->cuGetErrorName(result, &name) != CUDA_SUCCESS)
    name = "unknown error";
  if (driver->cuGetErrorString(result, &text) != CUDA_SUCCESS)
    text = "the driver has no description";
  return gqFail(statusOf(result), "%s: %s (%d): %s", call, name, result, text);
}
