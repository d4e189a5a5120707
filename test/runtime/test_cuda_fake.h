//===- test_cuda_fake.h - a CUDA driver without a GPU ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of libcuda that the runtime uses, for tests of its logic:
// they count calls, note what they are passed, and fail on demand, and where
// modules, kernels, pools and memory are not of the current context or its
// device. Memory is the host's, nothing is asynchronous, and kernels do
// nothing. The runtime opens it by $GQ_CUDA_DRIVER; a test that links it sees
// the same state.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_RUNTIME_TEST_CUDA_FAKE_H
#define GQ_TEST_RUNTIME_TEST_CUDA_FAKE_H

#include "lib/Runtime/CudaDriver.h"

#include <stdbool.h>

enum {
  FAKE_DEVICES = 2,
  FAKE_MULTIPROCESSORS = 132,
  FAKE_L2_SIZE = 1 << 16,
};

typedef struct FakeCuda {
  /// The entry point that fails, as exported, and how. Null: none.
  const char *failing;
  CUresult failure;
  /// The call that fails, counted from 1 over all entry points; 0: none. And
  /// whether those after it fail too, as if the device were gone.
  int failsFrom;
  bool staysFailing;
  /// What the compiler of PTX leaves in its log.
  const char *jitLog;
  /// A global of all modules; null: none.
  const char *global;
  /// The compute capability of all devices: 9.0 is 90.
  int capability;
  /// The stream that is being captured, if any.
  CUstream capturing;
  bool isCapturing;
  /// Whether it waits for the null stream.
  bool isCaptureBlocking;
  int captures;
  /// The thread's mode, and what it was when memory was freed.
  CUstreamCaptureMode threadMode, freeMode;
  CUstreamCaptureMode captureMode;

  /// The last calls' arguments.
  CUlaunchConfig launch;
  CUlaunchAttribute launchAttributes[2];
  void **launchParameters;
  int jitOptimizationLevel;
  int sharedLimit;
  CUstream stream;
  /// The contexts in which modules were unloaded or memory was freed.
  CUcontext unloadedIn, freedIn;
  CUmemPoolProps pool;
  uint64_t poolThreshold;
  void *registered;
  size_t registeredSize;
  /// Allocations that were not freed.
  int liveAllocations;
  /// On each device, the modules that were not unloaded, and the launches.
  int modules[FAKE_DEVICES], launches[FAKE_DEVICES];
} FakeCuda;

GQ_EXPORT extern FakeCuda fakeCuda;

/// How often an entry point was called; null for all of them together.
GQ_EXPORT int fakeCudaCalls(const char *function);

/// Makes a context of `device` current in this thread: its primary one, or
/// another. A negative device makes none current.
GQ_EXPORT void fakeCudaSetContext(int device, bool isPrimary);
GQ_EXPORT CUcontext fakeCudaGetContext(int device, bool isPrimary);

#endif // GQ_TEST_RUNTIME_TEST_CUDA_FAKE_H
