//===- Driver.h - the CUDA driver, opened at run time ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few driver functions that the test needs, declared here because a build
// machine has no CUDA headers. Any failure ends the program.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DRIVER_H
#define GQ_TEST_GPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t DevicePtr;
typedef void *Handle;

/// CUdevice_attribute
enum {
  ATTRIBUTE_MULTIPROCESSORS = 16,
  ATTRIBUTE_L2_BYTES = 38,
};

/// CUfunction_attribute
enum {
  FUNCTION_ATTRIBUTE_DYNAMIC_SHARED = 8,
};

/// CUstream_flags
enum {
  /// Work of the stream waits for copies and sets of memory before it, which
  /// are the null stream's, and which the host does not wait for.
  STREAM_AFTER_NULL = 0,
};

#define DRIVER_FUNCTIONS(F)                                                    \
  F(Init, "cuInit", (unsigned flags))                                          \
  F(DeviceGet, "cuDeviceGet", (int *device, int ordinal))                      \
  F(DeviceGetName, "cuDeviceGetName", (char *name, int size, int device))      \
  F(DeviceGetAttribute, "cuDeviceGetAttribute",                                \
    (int *value, int attribute, int device))                                   \
  F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                        \
    (Handle * context, int device))                                            \
  F(CtxSetCurrent, "cuCtxSetCurrent", (Handle context))                        \
  F(CtxSynchronize, "cuCtxSynchronize", (void))                                \
  F(ModuleLoadData, "cuModuleLoadData", (Handle * module, const void *image))  \
  F(ModuleGetFunction, "cuModuleGetFunction",                                  \
    (Handle * function, Handle module, const char *name))                      \
  F(FuncSetAttribute, "cuFuncSetAttribute",                                    \
    (Handle function, int attribute, int value))                               \
  F(MemAlloc, "cuMemAlloc_v2", (DevicePtr * p, size_t bytes))                  \
  F(MemFree, "cuMemFree_v2", (DevicePtr p))                                    \
  F(MemcpyHtoD, "cuMemcpyHtoD_v2",                                             \
    (DevicePtr to, const void *from, size_t bytes))                            \
  F(MemcpyDtoH, "cuMemcpyDtoH_v2", (void *to, DevicePtr from, size_t bytes))   \
  F(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                   \
    (DevicePtr to, DevicePtr from, size_t bytes, Handle stream))               \
  F(MemsetD8, "cuMemsetD8_v2", (DevicePtr to, unsigned char x, size_t bytes))  \
  F(StreamCreate, "cuStreamCreate", (Handle * stream, unsigned flags))         \
  F(StreamSynchronize, "cuStreamSynchronize", (Handle stream))                 \
  F(StreamBeginCapture, "cuStreamBeginCapture_v2", (Handle stream, int mode))  \
  F(StreamEndCapture, "cuStreamEndCapture", (Handle stream, Handle * graph))   \
  F(GraphInstantiate, "cuGraphInstantiateWithFlags",                           \
    (Handle * executable, Handle graph, unsigned long long flags))             \
  F(GraphLaunch, "cuGraphLaunch", (Handle executable, Handle stream))          \
  F(GraphExecDestroy, "cuGraphExecDestroy", (Handle executable))               \
  F(GraphDestroy, "cuGraphDestroy", (Handle graph))                            \
  F(EventCreate, "cuEventCreate", (Handle * event, unsigned flags))            \
  F(EventRecord, "cuEventRecord", (Handle event, Handle stream))               \
  F(EventSynchronize, "cuEventSynchronize", (Handle event))                    \
  F(EventElapsedTime, "cuEventElapsedTime",                                    \
    (float *milliseconds, Handle begin, Handle end))                           \
  F(LaunchKernel, "cuLaunchKernel",                                            \
    (Handle function, unsigned gridX, unsigned gridY, unsigned gridZ,          \
     unsigned ctaX, unsigned ctaY, unsigned ctaZ, unsigned sharedMemory,       \
     Handle stream, void **parameters, void **extra))

typedef struct Driver {
#define DECLARE(NAME, SYMBOL, PARAMETERS) int(*NAME) PARAMETERS;
  DRIVER_FUNCTIONS(DECLARE)
#undef DECLARE
} Driver;

extern Driver cu;

/// Opens the driver and makes device 0 current. Returns the device.
int driverOpen(void);

/// Ends the program if a driver call failed.
void driverCheck(int result, const char *call, int line);
#define CU(CALL) driverCheck(cu.CALL, #CALL, __LINE__)

/// A module from a file.
Handle driverLoad(const char *path);

#endif // GQ_TEST_GPU_DRIVER_H
