//===- Driver.c - the CUDA driver, emulated -------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As much of it as the tests use. The device's memory is that of the program,
// its kernels are emulatedKernels, and a launch is over when it returns. A
// graph is its one launch.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "../Driver.h"
#include "Emulator.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Launch {
  void (*function)(const void *);
  _Alignas(16) char operands[512];
  unsigned ctas, threads;
} Launch;

/// What is being captured, and the only graph.
static bool captures;
static Launch captured;

static void body(void *context) {
  Launch *launch = context;
  launch->function(&launch->operands);
}

static void run(Launch *launch) {
  emulatorRun(launch->ctas, launch->threads, body, launch);
}

static int getAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == ATTRIBUTE_MULTIPROCESSORS ? 2 : 1 << 20;
  return 0;
}

static int getFunction(Handle *function, Handle module, const char *name) {
  (void)module;
  for (const EmulatedKernel *k = emulatedKernels; k->name; ++k)
    if (strcmp(k->name, name) == 0) {
      *function = (Handle)(uintptr_t)k;
      return 0;
    }
  fprintf(stderr, "there is no kernel %s\n", name);
  return 500;
}

static int allocate(DevicePtr *p, size_t bytes) {
  void *memory = malloc(bytes);
  *p = (DevicePtr)(uintptr_t)memory;
  return memory ? 0 : 2;
}

static int release(DevicePtr p) {
  free((void *)(uintptr_t)p);
  return 0;
}

static int copyIn(DevicePtr to, const void *from, size_t bytes) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return 0;
}

static int copyOut(void *to, DevicePtr from, size_t bytes) {
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return 0;
}

static int set(DevicePtr to, unsigned char x, size_t bytes) {
  memset((void *)(uintptr_t)to, x, bytes);
  return 0;
}

static int copyOnDevice(DevicePtr to, DevicePtr from, size_t bytes,
                        Handle stream) {
  (void)stream;
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return 0;
}

static int setFunctionAttribute(Handle function, int attribute, int value) {
  (void)function, (void)attribute, (void)value;
  return 0;
}

static int destroy(Handle object) { return (void)object, 0; }

static int synchronize(void) { return 0; }
static int synchronizeStream(Handle stream) { return (void)stream, 0; }

static int createStream(Handle *stream, unsigned flags) {
  (void)flags;
  *stream = &captured;
  return 0;
}

static int beginCapture(Handle stream, int mode) {
  (void)stream, (void)mode;
  captures = true;
  return 0;
}

static int endCapture(Handle stream, Handle *graph) {
  (void)stream;
  captures = false;
  *graph = &captured;
  return 0;
}

static int instantiate(Handle *executable, Handle graph,
                       unsigned long long flags) {
  (void)flags;
  *executable = graph;
  return 0;
}

static int launchGraph(Handle executable, Handle stream) {
  (void)stream;
  run(executable);
  return 0;
}

static int launchKernel(Handle function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned ctaX, unsigned ctaY,
                        unsigned ctaZ, unsigned sharedMemory, Handle stream,
                        void **parameters, void **extra) {
  (void)gridY, (void)gridZ, (void)ctaY, (void)ctaZ, (void)sharedMemory;
  (void)stream, (void)extra;
  const EmulatedKernel *kernel = function;
  Launch launch = {
      .function = kernel->function, .ctas = gridX, .threads = ctaX};
  if (kernel->size > sizeof(launch.operands))
    return 1;
  memcpy(launch.operands, parameters[0], kernel->size);
  if (captures)
    captured = launch;
  else
    run(&launch);
  return 0;
}

Driver cu = {
    .DeviceGetAttribute = getAttribute,
    .ModuleGetFunction = getFunction,
    .MemAlloc = allocate,
    .MemFree = release,
    .MemcpyHtoD = copyIn,
    .MemcpyDtoH = copyOut,
    .MemcpyDtoDAsync = copyOnDevice,
    .FuncSetAttribute = setFunctionAttribute,
    .GraphExecDestroy = destroy,
    .GraphDestroy = destroy,
    .MemsetD8 = set,
    .CtxSynchronize = synchronize,
    .StreamSynchronize = synchronizeStream,
    .StreamCreate = createStream,
    .StreamBeginCapture = beginCapture,
    .StreamEndCapture = endCapture,
    .GraphInstantiate = instantiate,
    .GraphLaunch = launchGraph,
    .LaunchKernel = launchKernel,
};

void driverCheck(int result, const char *call, int line) {
  if (!result)
    return;
  fprintf(stderr, "line %d: %s: error %d\n", line, call, result);
  exit(2);
}
