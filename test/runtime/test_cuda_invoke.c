//===- test_cuda_invoke.c - compile and run, over a fake driver -----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No GPU and no kernels: where arguments and results of a function for the
// target "cuda" are, and which failures reach its caller.
//
//===----------------------------------------------------------------------===//

#define _POSIX_C_SOURCE 200112L // setenv

#include "test_cuda_fake.h"

#include "gq/Runtime/Cuda.h"
#include "gq/Runtime/Executable.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/// A new result is freed on its device, in order with the stream of the call.
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
      "demands (16 bytes requested)";
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

//===----------------------------------------------------------------------===//
// Two devices
//===----------------------------------------------------------------------===//

enum { THREADS_A_DEVICE = 3, CALLS = 20 };

/// A thread that calls a function on a device.
typedef struct Caller {
  gqExecutable *executable;
  int32_t device;
  gqStatus status;
  DLManagedTensor *outputs[CALLS][2];
} Caller;

static void *callOnDevice(void *data) {
  Caller *caller = data;
  float values[4] = {0};
  int64_t size = 4;
  DLTensor tensor = {.data = values,
                     .device = {kDLCUDA, caller->device},
                     .ndim = 1,
                     .dtype = {kDLFloat, 32, 1},
                     .shape = &size};
  DLTensor *inputs[] = {&tensor};
  caller->status = gqSetDevice(caller->device);
  for (int i = 0; i < CALLS && caller->status == GQ_OK; ++i)
    caller->status =
        gqInvoke(caller->executable, "main", inputs, 1, caller->outputs[i], 2);
  return NULL;
}

/// One executable, called on two devices at the same time: each has its own
/// copy of the kernels and the constant, and results are where they were made.
/// The driver refuses to use what is of another device's context.
static void testTwoDevices(void **state) {
  (void)state;
  static const float expected[] = {1, 2, 3, 4};
  enum { CALLERS = THREADS_A_DEVICE * FAKE_DEVICES };
  gqExecutable *executable =
      compile("func.func @main(%x: tensor<?xf32>)\n"
              "    -> (tensor<?xf32>, tensor<4xf32>) {\n"
              "  %sum = arith.addf %x, %x : tensor<?xf32>\n"
              "  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]>\n"
              "      : tensor<4xf32>\n"
              "  return %sum, %c : tensor<?xf32>, tensor<4xf32>\n"
              "}\n");
  int modules = fakeCudaCalls("cuModuleLoadDataEx");
  static Caller callers[CALLERS];
  pthread_t threads[CALLERS];
  for (int i = 0; i < CALLERS; ++i) {
    callers[i] = (Caller){.executable = executable, .device = i % FAKE_DEVICES};
    assert_int_equal(
        pthread_create(&threads[i], NULL, callOnDevice, &callers[i]), 0);
  }
  for (int i = 0; i < CALLERS; ++i)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < CALLERS; ++i) {
    assert_int_equal(callers[i].status, GQ_OK);
    for (int call = 0; call < CALLS; ++call)
      for (int r = 0; r < 2; ++r) {
        DLTensor *output = &callers[i].outputs[call][r]->dl_tensor;
        assert_int_equal(output->device.device_id, callers[i].device);
        if (r == 1)
          assert_memory_equal(output->data, expected, sizeof(expected));
      }
  }
  assert_int_equal(fakeCudaCalls("cuModuleLoadDataEx"), modules + 2);
  for (int d = 0; d < FAKE_DEVICES; ++d) {
    assert_int_equal(fakeCuda.modules[d], 1);
    assert_int_equal(fakeCuda.launches[d], THREADS_A_DEVICE * CALLS);
  }
  // Wherever this thread works.
  for (int i = 0; i < CALLERS; ++i)
    for (int call = 0; call < CALLS; ++call)
      for (int r = 0; r < 2; ++r)
        callers[i].outputs[call][r]->deleter(callers[i].outputs[call][r]);
  assert_int_equal(fakeCuda.liveAllocations, FAKE_DEVICES);
  gqExecutableDestroy(executable);
  assert_int_equal(fakeCuda.liveAllocations, 0);
  for (int d = 0; d < FAKE_DEVICES; ++d)
    assert_int_equal(fakeCuda.modules[d], 0);
  assert_int_equal(gqCudaStatus(), GQ_OK);
}

//===----------------------------------------------------------------------===//
// Extents that are known only then
//===----------------------------------------------------------------------===//

enum { MAX_ARGUMENTS = 9, ARGUMENT_SIZE = 1 << 17 };

/// An argument whose extents are all dynamic. In a dimension that is free, no
/// other extent says what there should be.
typedef struct Dynamic {
  uint8_t code, bits;
  int32_t rank;
  int64_t sizes[3];
  bool isFree[3];
} Dynamic;

/// A gq op on the arguments of a function.
typedef struct Launched {
  const char *mlir;
  Dynamic arguments[MAX_ARGUMENTS];
} Launched;

#define BF16(RANK, ...)                                                        \
  {.code = kDLBfloat, .bits = 16, .rank = RANK, __VA_ARGS__}
#define F32(RANK, ...) {.code = kDLFloat, .bits = 32, .rank = RANK, __VA_ARGS__}
#define I32(RANK, ...) {.code = kDLInt, .bits = 32, .rank = RANK, __VA_ARGS__}
#define BYTES(RANK, ...) {.code = kDLUInt, .bits = 8, .rank = RANK, __VA_ARGS__}
#define SIZES(...) .sizes = {__VA_ARGS__}
#define FREE .isFree = {true, true, true}

static const Launched launched[] = {
    {"func.func @main(%x: memref<?x?xbf16>, %q: memref<?x?xi8>,\n"
     "    %s: memref<?x?xf8E4M3FN>) {\n"
     "  gq.block_quantize format(nvfp4) ins(%x : memref<?x?xbf16>)\n"
     "      outs(%q, %s : memref<?x?xi8>, memref<?x?xf8E4M3FN>)\n"
     "  return\n}\n",
     {BF16(2, SIZES(8, 64)), BYTES(2, SIZES(8, 32)), BYTES(2, SIZES(8, 4))}},
    {"func.func @main(%x: memref<?x?xf32>, %q: memref<?x?xf8E4M3FN>,\n"
     "    %s: memref<?x?xf32>) {\n"
     "  gq.block_quantize format(fp8_e4m3_128x128)\n"
     "      ins(%x : memref<?x?xf32>)\n"
     "      outs(%q, %s : memref<?x?xf8E4M3FN>, memref<?x?xf32>)\n"
     "  return\n}\n",
     {F32(2, SIZES(128, 256)), BYTES(2, SIZES(128, 256)), F32(2, SIZES(1, 2))}},
    {"func.func @main(%x: memref<?x?xf8E4M3FN>, %o: memref<?xi32>,\n"
     "    %so: memref<?xi32>, %s: memref<?x?xf8E4M3FN>) {\n"
     "  gq.preprocess_grouped_matmul_sf format(nvfp4)\n"
     "      ins(%x : memref<?x?xf8E4M3FN>)\n"
     "      groups(%o, %so : memref<?xi32>, memref<?xi32>)\n"
     "      outs(%s : memref<?x?xf8E4M3FN>)\n"
     "  return\n}\n",
     {BYTES(2, SIZES(8, 4), .isFree = {true, false}), I32(1, SIZES(3), FREE),
      I32(1, SIZES(2), FREE), BYTES(2, SIZES(256, 4))}},
    // Rows alone, linear.
    {"func.func @main(%x: memref<?x?xbf16>, %o: memref<?xi32>,\n"
     "    %q: memref<?x?xi8>, %s: memref<?x?xf8E4M3FN>) {\n"
     "  gq.grouped_block_quantize format(nvfp4) scale_layout(linear)\n"
     "      ins(%x : memref<?x?xbf16>) groups(%o : memref<?xi32>)\n"
     "      outs(%q, %s : memref<?x?xi8>, memref<?x?xf8E4M3FN>)\n"
     "  return\n}\n",
     {BF16(2, SIZES(8, 64)), I32(1, SIZES(3), FREE), BYTES(2, SIZES(8, 32)),
      BYTES(2, SIZES(8, 4))}},
    // All operands with one entry per group.
    {"func.func @main(%x: memref<?x?xbf16>, %i: memref<?xi32>,\n"
     "    %o: memref<?xi32>, %so: memref<?xi32>, %g: memref<?xf32>,\n"
     "    %q: memref<?x?xi8>, %s: memref<?x?xf8E4M3FN>,\n"
     "    %a: memref<?xf32>, %b: memref<?x?xf32>) {\n"
     "  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x?xbf16>)\n"
     "      row_indices(%i : memref<?xi32>)\n"
     "      groups(%o, %so : memref<?xi32>, memref<?xi32>)\n"
     "      global_scale(%g : memref<?xf32>)\n"
     "      outs(%q, %s : memref<?x?xi8>, memref<?x?xf8E4M3FN>)\n"
     "      amax_out(%a : memref<?xf32>) dbias_out(%b : memref<?x?xf32>)\n"
     "  return\n}\n",
     {BF16(2, SIZES(5, 64), .isFree = {true, false}), I32(1, SIZES(8)),
      I32(1, SIZES(3), FREE), I32(1, SIZES(2)), F32(1, SIZES(2)),
      BYTES(2, SIZES(8, 32)), BYTES(2, SIZES(256, 4)), F32(1, SIZES(2)),
      F32(2, SIZES(2, 64))}},
    // Columns, of a format that does not transpose, with derived offsets.
    {"func.func @main(%x: memref<?x?xbf16>, %o: memref<?xi32>,\n"
     "    %q: memref<?x?xf8E4M3FN>, %s: memref<?xf8E8M0FNU>,\n"
     "    %a: memref<?xf32>) {\n"
     "  gq.grouped_block_quantize format(mxfp8_e4m3)\n"
     "      ins(%x : memref<?x?xbf16>) groups(%o : memref<?xi32>)\n"
     "      columnwise_outs(%q, %s : memref<?x?xf8E4M3FN>,\n"
     "                               memref<?xf8E8M0FNU>)\n"
     "      amax_out(%a : memref<?xf32>)\n"
     "  return\n}\n",
     {BF16(2, SIZES(8, 64)), I32(1, SIZES(3)), BYTES(2, SIZES(8, 64)),
      BYTES(1, SIZES(512), FREE), F32(1, SIZES(2))}},
    // Groups of their own shapes.
    {"func.func @main(%x: memref<?xbf16>, %o: memref<?xi32>,\n"
     "    %m: memref<?xi32>, %k: memref<?xi32>, %q: memref<?xi8>,\n"
     "    %s: memref<?xf8E4M3FN>) {\n"
     "  gq.grouped_block_quantize format(nvfp4)\n"
     "      ins(%x : memref<?xbf16>) groups(%o : memref<?xi32>)\n"
     "      shapes(%m, %k : memref<?xi32>, memref<?xi32>)\n"
     "      outs(%q, %s : memref<?xi8>, memref<?xf8E4M3FN>)\n"
     "  return\n}\n",
     {BF16(1, SIZES(128)), I32(1, SIZES(3)), I32(1, SIZES(2)), I32(1, SIZES(2)),
      BYTES(1, SIZES(64)), BYTES(1, SIZES(1024), FREE)}},
    // Inputs of several shapes.
    {"func.func @main(%x: memref<?x?xbf16>, %r: memref<?xf32>,\n"
     "    %c: memref<?xf32>, %o: memref<?xi32>, %so: memref<?xi32>,\n"
     "    %q: memref<?x?xi8>, %s: memref<?x?xf8E4M3FN>) {\n"
     "  gq.grouped_block_quantize format(nvfp4)\n"
     "      ins(%x, %r, %c : memref<?x?xbf16>, memref<?xf32>, memref<?xf32>)\n"
     "      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>,\n"
     "            affine_map<(m, k) -> (k)>]\n"
     "      groups(%o, %so : memref<?xi32>, memref<?xi32>)\n"
     "      outs(%q, %s : memref<?x?xi8>, memref<?x?xf8E4M3FN>) producer {\n"
     "  ^bb0(%e: bf16, %f: f32, %g: f32):\n"
     "    %0 = arith.extf %e : bf16 to f32\n"
     "    %1 = arith.mulf %0, %f : f32\n"
     "    %2 = arith.addf %1, %g : f32\n"
     "    gq.yield %2 : f32\n  }\n"
     "  return\n}\n",
     {BF16(2, SIZES(8, 64)), F32(1, SIZES(8)), F32(1, SIZES(64)),
      I32(1, SIZES(3), FREE), I32(1, SIZES(2), FREE), BYTES(2, SIZES(8, 32)),
      BYTES(2, SIZES(256, 4))}},
    {"func.func @main(%a: memref<?x?xi8>, %b: memref<?x?x?xi8>,\n"
     "    %sa: memref<?x?xf8E4M3FN>, %sb: memref<?x?x?xf8E4M3FN>,\n"
     "    %o: memref<?xi32>, %so: memref<?xi32>, %f: memref<?xf32>,\n"
     "    %c: memref<?x?xf32>) {\n"
     "  gq.grouped_mm format(nvfp4)\n"
     "      ins(%a, %b : memref<?x?xi8>, memref<?x?x?xi8>)\n"
     "      scales(%sa, %sb : memref<?x?xf8E4M3FN>, memref<?x?x?xf8E4M3FN>)\n"
     "      groups(%o, %so : memref<?xi32>, memref<?xi32>)\n"
     "      alpha(%f : memref<?xf32>) outs(%c : memref<?x?xf32>)\n"
     "  return\n}\n",
     {BYTES(2, SIZES(8, 32)), BYTES(3, SIZES(2, 16, 32)),
      BYTES(2, SIZES(256, 4)), BYTES(3, SIZES(2, 128, 4)),
      I32(1, SIZES(3), FREE), I32(1, SIZES(2)), F32(1, SIZES(2)),
      F32(2, SIZES(8, 16))}},
    // Scales of other shapes, and everything optional.
    {"func.func @main(%a: memref<?x?xf8E4M3FN>, %b: memref<?x?x?xf8E4M3FN>,\n"
     "    %sa: memref<?x?xf32>, %sb: memref<?x?x?xf32>, %o: memref<?xi32>,\n"
     "    %r: memref<?xf32>, %cs: memref<?x?xf32>, %bias: memref<?x?xbf16>,\n"
     "    %c: memref<?x?xf32>) {\n"
     "  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)\n"
     "      scale_layout(linear)\n"
     "      ins(%a, %b : memref<?x?xf8E4M3FN>, memref<?x?x?xf8E4M3FN>)\n"
     "      scales(%sa, %sb : memref<?x?xf32>, memref<?x?x?xf32>)\n"
     "      groups(%o : memref<?xi32>)\n"
     "      row_scales(%r : memref<?xf32>)\n"
     "      column_scales(%cs : memref<?x?xf32>)\n"
     "      bias(%bias : memref<?x?xbf16>) outs(%c : memref<?x?xf32>)\n"
     "  return\n}\n",
     {BYTES(2, SIZES(8, 256)), BYTES(3, SIZES(2, 128, 256)),
      F32(2, SIZES(8, 2)), F32(3, SIZES(2, 1, 2)), I32(1, SIZES(3)),
      F32(1, SIZES(8)), F32(2, SIZES(2, 128)), BF16(2, SIZES(2, 128)),
      F32(2, SIZES(8, 128))}},
    {"func.func @main(%a: memref<?x?xf8E4M3FN>, %b: memref<?x?x?xf8E5M2>,\n"
     "    %o: memref<?xi32>, %c: memref<?x?xbf16>) {\n"
     "  gq.grouped_mm\n"
     "      ins(%a, %b : memref<?x?xf8E4M3FN>, memref<?x?x?xf8E5M2>)\n"
     "      groups(%o : memref<?xi32>) outs(%c : memref<?x?xbf16>)\n"
     "  return\n}\n",
     {BYTES(2, SIZES(8, 64)), BYTES(3, SIZES(2, 16, 64)), I32(1, SIZES(3)),
      BF16(2, SIZES(8, 16))}},
};

/// Invokes with the extents of `argument` in dimension `dim` one more, or as
/// they are. Returns the launches.
static gqStatus launchWith(gqExecutable *executable, const Launched *op,
                           int argument, int dim, size_t *launches) {
  DLTensor tensors[MAX_ARGUMENTS], *inputs[MAX_ARGUMENTS];
  int64_t sizes[MAX_ARGUMENTS][3];
  char *memory = malloc(MAX_ARGUMENTS * ARGUMENT_SIZE);
  size_t count = 0, before = fakeCudaCalls("cuLaunchKernelEx");
  assert_non_null(memory);
  for (; count < MAX_ARGUMENTS && op->arguments[count].bits; ++count) {
    const Dynamic *dynamic = &op->arguments[count];
    memcpy(sizes[count], dynamic->sizes, sizeof(sizes[count]));
    tensors[count] = (DLTensor){.data = memory + count * ARGUMENT_SIZE,
                                .device = {kDLCUDA, 0},
                                .ndim = dynamic->rank,
                                .dtype = {dynamic->code, dynamic->bits, 1},
                                .shape = sizes[count]};
    inputs[count] = &tensors[count];
  }
  if (argument >= 0)
    ++sizes[argument][dim];
  gqStatus status = gqInvoke(executable, "main", inputs, count, NULL, 0);
  free(memory);
  *launches = (size_t)fakeCudaCalls("cuLaunchKernelEx") - before;
  return status;
}

static void refuseExtents(const Launched *op) {
  gqExecutable *executable = compile(op->mlir);
  size_t launches;
  if (launchWith(executable, op, -1, 0, &launches) != GQ_OK)
    fail_msg("%s%s", op->mlir, gqGetLastErrorMessage());
  assert_true(launches > 0);
  for (int i = 0; i < MAX_ARGUMENTS && op->arguments[i].bits; ++i)
    for (int dim = 0; dim < op->arguments[i].rank; ++dim) {
      gqStatus status = launchWith(executable, op, i, dim, &launches);
      bool isFree = op->arguments[i].isFree[dim];
      if (status != (isFree ? GQ_OK : GQ_INVALID_ARGUMENT) ||
          (launches > 0) != isFree)
        fail_msg("%sargument %d, dimension %d: %d, %zu launches", op->mlir, i,
                 dim, (int)status, launches);
    }
  gqExecutableDestroy(executable);
}

/// Operands that do not fit each other are not launched.
static void testExtents(void **state) {
  (void)state;
  // PTX will do.
  setenv("GQ_CUDA_TOOLKIT", "", 1);
  for (size_t i = 0; i < sizeof(launched) / sizeof(*launched); ++i)
    refuseExtents(&launched[i]);
  // Columns of an odd number, which only the input has.
  static const Launched columns = {
      "func.func @main(%x: memref<?x?xbf16>, %o: memref<?xi32>,\n"
      "    %q: memref<?xi8>, %s: memref<?xf8E4M3FN>) {\n"
      "  gq.grouped_block_quantize format(nvfp4)\n"
      "      ins(%x : memref<?x?xbf16>) groups(%o : memref<?xi32>)\n"
      "      columnwise_outs(%q, %s : memref<?xi8>, memref<?xf8E4M3FN>)\n"
      "  return\n}\n",
      {BF16(2, SIZES(8, 64)), I32(1, SIZES(3)), BYTES(1, SIZES(2048)),
       BYTES(1, SIZES(2048))}};
  size_t launches;
  gqExecutable *executable = compile(columns.mlir);
  assert_int_equal(launchWith(executable, &columns, -1, 0, &launches), GQ_OK);
  launchWith(executable, &columns, 0, 1, &launches);
  assert_string_equal(gqGetLastErrorMessage(),
                      "grouped_block_quantize: inputs has the extent 65 in "
                      "dimension 1, expected 80");
  gqExecutableDestroy(executable);
  executable = compile(launched[0].mlir);
  launchWith(executable, &launched[0], 2, 0, &launches);
  assert_string_equal(gqGetLastErrorMessage(),
                      "block_quantize: scales has the extent 9 in dimension "
                      "0, expected 8");
  launchWith(executable, &launched[0], 1, 1, &launches);
  assert_string_equal(gqGetLastErrorMessage(),
                      "block_quantize: data has the extent 33 in dimension "
                      "1, expected 40");
  gqExecutableDestroy(executable);
  unsetenv("GQ_CUDA_TOOLKIT");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testCompileOnly),
      cmocka_unit_test_setup(testChip, setUp),
      cmocka_unit_test_setup(testResults, setUp),
      cmocka_unit_test_setup(testFreshResult, setUp),
      cmocka_unit_test_setup(testConstant, setUp),
      cmocka_unit_test_setup(testPlaces, setUp),
      cmocka_unit_test_setup(testTwoDevices, setUp),
      cmocka_unit_test_setup(testFailures, setUp),
      cmocka_unit_test_setup(testHostCopy, setUp),
      cmocka_unit_test_setup(testExtents, setUp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
