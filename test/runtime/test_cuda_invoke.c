//===- test_cuda_invoke.c - compile and run, over a fake driver -----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No GPU and no kernels: where arguments and results of a function for the
// target "cuda" are, and which failures reach its caller.
//
//===----------------------------------------------------------------------===//

#include "test_cuda_fake.h"

#include "gq/Runtime/Cuda.h"
#include "gq/Runtime/Executable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

static gqExecutable *compileFor(const char *mlir, const char *chip) {
  gqCompileOptions options = {.target = "cuda", .cacheDir = "", .chip = chip};
  gqExecutable *executable;
  if (gqCompile(mlir, strlen(mlir), &options, &executable) != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
  return executable;
}

static gqExecutable *compile(const char *mlir) {
  return compileFor(mlir, "sm_90a");
}

/// Returns an argument and asks the driver something.
static const char ask[] =
    "func.func private @gqDeviceMultiprocessorCount() -> i64\n"
    "func.func @main(%x: tensor<?xf32>, %n: i64) -> (tensor<?xf32>, i64) {\n"
    "  %count = call @gqDeviceMultiprocessorCount() : () -> i64\n"
    "  %sum = arith.addi %n, %count : i64\n"
    "  return %x, %sum : tensor<?xf32>, i64\n"
    "}\n";

/// The two arguments of @main, where they belong.
typedef struct Arguments {
  float data[3];
  int64_t size, number;
  DLTensor tensor, scalar;
} Arguments;

static void initArguments(Arguments *arguments) {
  *arguments = (Arguments){.size = 3, .number = 1000};
  arguments->tensor = (DLTensor){.data = arguments->data,
                                 .device = {kDLCUDA, 0},
                                 .ndim = 1,
                                 .dtype = {kDLFloat, 32, 1},
                                 .shape = &arguments->size};
  arguments->scalar = (DLTensor){.data = &arguments->number,
                                 .device = {kDLCPU, 0},
                                 .dtype = {kDLInt, 64, 1}};
}

static gqStatus invoke(gqExecutable *executable, Arguments *arguments,
                       DLManagedTensor **outputs) {
  DLTensor *inputs[] = {&arguments->tensor, &arguments->scalar};
  return gqInvoke(executable, "main", inputs, 2, outputs, 2);
}

static void refuse(gqExecutable *executable, Arguments *arguments,
                   gqStatus status, const char *message) {
  DLManagedTensor *outputs[2];
  assert_int_equal(invoke(executable, arguments, outputs), status);
  assert_null(outputs[0]);
  assert_null(outputs[1]);
  assert_string_equal(gqGetLastErrorMessage(), message);
}

static int setUp(void **state) {
  (void)state;
  fakeCuda = (FakeCuda){.capability = 90};
  gqCudaStatus();
  return 0;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// With a chip, nothing is asked of the driver: this is the first test.
static void testCompileOnly(void **state) {
  (void)state;
  gqExecutable *executable = compile(ask);
  const gqSignature *signature;
  assert_int_equal(gqExecutableGetSignature(executable, NULL, &signature),
                   GQ_OK);
  assert_int_equal(signature->numResults, 2);
  gqExecutableDestroy(executable);
  assert_int_equal(fakeCudaCalls(NULL), 0);
}

static void testChip(void **state) {
  (void)state;
  gqExecutableDestroy(compileFor(ask, NULL));
  gqCompileOptions options = {
      .target = "cuda", .cacheDir = "", .chip = "sm_90a}"};
  gqExecutable *executable;
  assert_int_equal(gqCompile("", 0, &options, &executable),
                   GQ_INVALID_ARGUMENT);
  assert_string_equal(gqGetLastErrorMessage(),
                      "chip 'sm_90a}': expected a name such as sm_90a");
  options.chip = NULL;
  fakeCuda.failing = "cuDeviceGetAttribute";
  fakeCuda.failure = 719;
  assert_int_equal(gqCompile("", 0, &options, &executable), GQ_CUDA_ERROR);
}

/// A tensor comes back as a view on the device, a scalar on the CPU.
static void testResults(void **state) {
  (void)state;
  gqExecutable *executable = compile(ask);
  Arguments arguments;
  initArguments(&arguments);
  DLManagedTensor *outputs[2];
  if (invoke(executable, &arguments, outputs) != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
  assert_int_equal(outputs[0]->dl_tensor.device.device_type, kDLCUDA);
  assert_int_equal(outputs[0]->dl_tensor.device.device_id, 0);
  assert_ptr_equal(outputs[0]->dl_tensor.data, arguments.data);
  assert_int_equal(outputs[1]->dl_tensor.device.device_type, kDLCPU);
  assert_int_equal(*(int64_t *)outputs[1]->dl_tensor.data,
                   1000 + FAKE_MULTIPROCESSORS);
  outputs[0]->deleter(outputs[0]);
  outputs[1]->deleter(outputs[1]);
  gqExecutableDestroy(executable);
  assert_int_equal(fakeCudaCalls("cuStreamSynchronize"), 0);
}

/// A fresh result is freed on its device, in order with the stream of the call.
static void testFreshResult(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func @main(%n: index) -> tensor<?x4xi8> {\n"
              "  %r = tensor.empty(%n) : tensor<?x4xi8>\n"
              "  return %r : tensor<?x4xi8>\n"
              "}\n");
  static char stream;
  int64_t rows = 3;
  DLTensor scalar = {
      .data = &rows, .device = {kDLCPU, 0}, .dtype = {kDLInt, 64, 1}};
  DLTensor *inputs[] = {&scalar};
  DLManagedTensor *output;
  gqSetStream(&stream);
  gqStatus status = gqInvoke(executable, "main", inputs, 1, &output, 1);
  gqSetStream(NULL);
  if (status != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
  assert_int_equal(output->dl_tensor.device.device_type, kDLCUDA);
  assert_int_equal(output->dl_tensor.shape[0], 3);
  assert_int_equal(fakeCuda.liveAllocations, 1);
  assert_ptr_equal(fakeCuda.stream, &stream);
  fakeCuda.stream = NULL;
  output->deleter(output);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  assert_ptr_equal(fakeCuda.stream, &stream);
  // Memory runs out: there is no result.
  fakeCuda.failing = "cuMemAllocFromPoolAsync";
  fakeCuda.failure = CUDA_ERROR_OUT_OF_MEMORY;
  assert_int_equal(gqInvoke(executable, "main", inputs, 1, &output, 1),
                   GQ_OUT_OF_MEMORY);
  assert_null(output);
  gqExecutableDestroy(executable);
}

/// A constant is copied to the device once, and freed with its code.
static void testConstant(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func @main() -> tensor<2x2xi32> {\n"
              "  %r = arith.constant dense<[[1, 2], [3, 4]]>"
              " : tensor<2x2xi32>\n"
              "  return %r : tensor<2x2xi32>\n"
              "}\n");
  static const int32_t expected[] = {1, 2, 3, 4};
  for (int i = 0; i < 2; ++i) {
    DLManagedTensor *output;
    if (gqInvoke(executable, "main", NULL, 0, &output, 1) != GQ_OK)
      fail_msg("%s", gqGetLastErrorMessage());
    assert_memory_equal(output->dl_tensor.data, expected, sizeof(expected));
    assert_int_equal(fakeCuda.liveAllocations, 2);
    output->deleter(output);
    assert_int_equal(fakeCuda.liveAllocations, 1);
  }
  gqExecutableDestroy(executable);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

static void testPlaces(void **state) {
  (void)state;
  gqExecutable *executable = compile(ask);
  Arguments arguments;
  initArguments(&arguments);
  arguments.tensor.device.device_type = kDLCPU;
  refuse(executable, &arguments, GQ_INVALID_ARGUMENT,
         "argument 0: expected a tensor on CUDA device 0, found the CPU");
  arguments.tensor.device = (DLDevice){kDLCUDA, 1};
  refuse(executable, &arguments, GQ_INVALID_ARGUMENT,
         "argument 0: expected a tensor on CUDA device 0, found device 1; see "
         "gqSetDevice");
  initArguments(&arguments);
  arguments.scalar.device.device_type = kDLCUDA;
  refuse(executable, &arguments, GQ_INVALID_ARGUMENT,
         "argument 1: expected a tensor on the CPU, found DLPack device type "
         "2");
  // Tensors may be where the thread works.
  initArguments(&arguments);
  assert_int_equal(gqSetDevice(1), GQ_OK);
  arguments.tensor.device.device_id = 1;
  DLManagedTensor *outputs[2];
  assert_int_equal(invoke(executable, &arguments, outputs), GQ_OK);
  assert_int_equal(outputs[0]->dl_tensor.device.device_id, 1);
  outputs[0]->deleter(outputs[0]);
  outputs[1]->deleter(outputs[1]);
  assert_int_equal(gqSetDevice(0), GQ_OK);
  gqExecutableDestroy(executable);
}

/// What fails in generated code, and what was pending before.
static void testFailures(void **state) {
  (void)state;
  static const char message[] =
      "cuMemAllocFromPoolAsync: CUDA_ERROR_LAUNCH_FAILED (719): as the test "
      "demands (16 bytes asked for)";
  gqExecutable *executable =
      compile("func.func private @mgpuMemAlloc(i64, !llvm.ptr, i8) "
              "-> !llvm.ptr\n"
              "func.func @main(%x: tensor<?xf32>, %n: i64)\n"
              "    -> (tensor<?xf32>, i64) {\n"
              "  %stream = llvm.mlir.zero : !llvm.ptr\n"
              "  %size = arith.constant 16 : i64\n"
              "  %shared = arith.constant 0 : i8\n"
              "  %p = call @mgpuMemAlloc(%size, %stream, %shared)\n"
              "      : (i64, !llvm.ptr, i8) -> !llvm.ptr\n"
              "  return %x, %n : tensor<?xf32>, i64\n"
              "}\n");
  Arguments arguments;
  initArguments(&arguments);
  fakeCuda.failing = "cuMemAllocFromPoolAsync";
  fakeCuda.failure = 719;
  refuse(executable, &arguments, GQ_CUDA_ERROR, message);
  mgpuMemAlloc(16, NULL, false);
  fakeCuda.failing = NULL;
  refuse(executable, &arguments, GQ_CUDA_ERROR, message);
  DLManagedTensor *outputs[2];
  assert_int_equal(invoke(executable, &arguments, outputs), GQ_OK);
  outputs[0]->deleter(outputs[0]);
  outputs[1]->deleter(outputs[1]);
  gqExecutableDestroy(executable);
}

/// A copy that would read the host's memory does not link.
static void testHostCopy(void **state) {
  (void)state;
  static const char mlir[] = "func.func private @memrefCopy(i64)\n"
                             "func.func @main(%size: i64) {\n"
                             "  call @memrefCopy(%size) : (i64) -> ()\n"
                             "  return\n"
                             "}\n";
  gqCompileOptions options = {
      .target = "cuda", .cacheDir = "", .chip = "sm_90a"};
  gqExecutable *executable;
  assert_int_equal(gqCompile(mlir, strlen(mlir), &options, &executable),
                   GQ_COMPILE_ERROR);
  assert_non_null(strstr(gqGetLastErrorMessage(), "memrefCopy"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testCompileOnly),
      cmocka_unit_test_setup(testChip, setUp),
      cmocka_unit_test_setup(testResults, setUp),
      cmocka_unit_test_setup(testFreshResult, setUp),
      cmocka_unit_test_setup(testConstant, setUp),
      cmocka_unit_test_setup(testPlaces, setUp),
      cmocka_unit_test_setup(testFailures, setUp),
      cmocka_unit_test_setup(testHostCopy, setUp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
