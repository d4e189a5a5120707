//===- test_cuda_absent.c - the CUDA runtime where there is no GPU --------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run once for each way not to have a GPU, which its argument names; the driver
// is opened once a process.
//
//===----------------------------------------------------------------------===//

#include "test_cuda_fake.h"

#include "gq/Runtime/Cuda.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/// How a call must fail: its status, and what is in the message.
static gqStatus expected;
static const char *part;

static void assertAbsent(gqStatus status) {
  assert_int_equal(status, expected);
  if (!strstr(gqGetLastErrorMessage(), part))
    fail_msg("expected '%s' in '%s'", part, gqGetLastErrorMessage());
}

static void testStatusFunctions(void **state) {
  (void)state;
  int32_t device;
  char chip[GQ_CHIP_SIZE];
  void *pointer = &pointer;
  double microseconds;
  assertAbsent(gqDeviceChip(chip));
  assertAbsent(gqGetDevice(&device));
  assertAbsent(gqSetDevice(0));
  assertAbsent(gqSynchronize());
  assertAbsent(gqStreamStatus(NULL));
  assertAbsent(gqDeviceAlloc(16, &pointer));
  assert_null(pointer);
  assertAbsent(gqCopyToDevice(NULL, NULL, 16));
  assertAbsent(gqCopyToHost(NULL, NULL, 16));
  pointer = &pointer;
  assertAbsent(gqEventCreate(&pointer));
  assert_null(pointer);
  assertAbsent(gqEventRecord(NULL));
  assertAbsent(gqEventElapsed(NULL, NULL, &microseconds));
}

/// Generated code runs without a crash, and its caller learns what is wrong.
static void testGeneratedCode(void **state) {
  (void)state;
  static char image[] = "an image";
  void *module = mgpuModuleLoad(image, sizeof(image));
  assert_non_null(module);
  assert_int_equal(gqCudaStatus(), GQ_OK);
  void *stream = mgpuStreamCreate();
  void *memory = mgpuMemAlloc(16, stream, false);
  assert_null(memory);
  assert_null(gqStreamStatusWord(stream));
  void *kernel = mgpuModuleGetFunction(module, "kernel");
  assert_null(kernel);
  mgpuLaunchKernel(kernel, gqDeviceMultiprocessorCount(), 1, 1, 1, 1, 1, 0,
                   stream, NULL, NULL, 0);
  mgpuMemFree(memory, stream);
  mgpuModuleUnload(module);
  assertAbsent(gqCudaStatus());
  assert_int_equal(gqCudaStatus(), GQ_OK);
  assert_int_equal(gqDeviceMultiprocessorCount(), 1);
  assertAbsent(gqCudaStatus());
}

static void *askInThread(void *result) {
  char chip[GQ_CHIP_SIZE];
  bool isSame =
      gqDeviceChip(chip) == expected && strstr(gqGetLastErrorMessage(), part);
  *(bool *)result = isSame;
  return NULL;
}

/// Another thread is told the same.
static void testThread(void **state) {
  (void)state;
  pthread_t thread;
  bool isSame = false;
  assert_int_equal(pthread_create(&thread, NULL, askInThread, &isSame), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(isSame);
}

int main(int argc, char **argv) {
  const char *way = argc == 2 ? argv[1] : "";
  if (strcmp(way, "missing") == 0) {
    expected = GQ_NO_DRIVER;
    part = "no CUDA driver: ";
  } else if (strcmp(way, "incomplete") == 0) {
    expected = GQ_NO_DRIVER;
    part = " has no cuInit: CUDA 11.8 or later is needed";
  } else if (strcmp(way, "no-device") == 0) {
    fakeCuda.failing = "cuInit";
    fakeCuda.failure = CUDA_ERROR_NO_DEVICE;
    expected = GQ_NO_DEVICE;
    part = "no CUDA device: cuInit: CUDA_ERROR_NO_DEVICE (100): ";
  } else {
    fprintf(stderr, "usage: %s missing|incomplete|no-device\n", argv[0]);
    return 2;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testStatusFunctions),
      cmocka_unit_test(testGeneratedCode),
      cmocka_unit_test(testThread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
