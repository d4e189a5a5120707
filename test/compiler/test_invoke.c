//===- test_invoke.c - arguments, results, calls --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "gq/Runtime/Cpu.h"

#include <malloc.h>
#include <pthread.h>

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A result in an argument, a new one and a scalar, in this order; extents
/// are known at run time only. The generic op reads its init: upstream's fusion
/// would give it another one otherwise.
static const char threeResults[] =
    "#id = affine_map<(i, j) -> (i, j)>\n"
    "func.func @main(%a: tensor<?x3xf32>, %s: f32, %out: tensor<?x3xf32>)\n"
    "    -> (tensor<?x3xf32>, tensor<?x3xf32>, f32) {\n"
    "  %r = linalg.generic {indexing_maps = [#id, #id],\n"
    "      iterator_types = [\"parallel\", \"parallel\"]}\n"
    "      ins(%a : tensor<?x3xf32>) outs(%out : tensor<?x3xf32>) {\n"
    "  ^bb0(%x: f32, %o: f32):\n"
    "    %p = arith.mulf %x, %s : f32\n"
    "    %y = arith.addf %p, %o : f32\n"
    "    linalg.yield %y : f32\n"
    "  } -> tensor<?x3xf32>\n"
    "  %f = arith.addf %a, %a : tensor<?x3xf32>\n"
    "  %t = arith.addf %s, %s : f32\n"
    "  return %r, %f, %t : tensor<?x3xf32>, tensor<?x3xf32>, f32\n"
    "}\n";

static void testThreeResults(void **state) {
  (void)state;
  float a[] = {1, 2, 3, 4, 5, 6}, s = 10, out[6] = {0};
  Tensor storage[3];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, a, 2, (int64_t[]){2, 3}),
      makeScalar(&storage[1], float32Type, &s),
      makeTensor(&storage[2], float32Type, out, 2, (int64_t[]){2, 3})};
  DLManagedTensor *outputs[3];
  gqExecutable *executable = compile(threeResults);
  invoke(executable, NULL, inputs, 3, outputs, 3);
  // Results outlive the code that made them.
  gqExecutableDestroy(executable);

  const DLTensor *view = &outputs[0]->dl_tensor;
  const DLTensor *fresh = &outputs[1]->dl_tensor;
  const DLTensor *scalar = &outputs[2]->dl_tensor;
  assert_ptr_equal(view->data, out);
  assert_ptr_not_equal(fresh->data, a);
  for (int i = 0; i < 2; ++i) {
    const DLTensor *tensor = &outputs[i]->dl_tensor;
    assertDtype(outputs[i], float32Type);
    assert_int_equal(tensor->device.device_type, kDLCPU);
    assert_int_equal(tensor->ndim, 2);
    assert_int_equal(tensor->shape[0], 2);
    assert_int_equal(tensor->shape[1], 3);
    assert_int_equal(tensor->strides[0], 3);
    assert_int_equal(tensor->strides[1], 1);
  }
  for (int i = 0; i < 6; ++i) {
    assert_float_equal(out[i], 10 * a[i], 0);
    assert_float_equal(((const float *)fresh->data)[i], 2 * a[i], 0);
  }
  assert_int_equal(scalar->ndim, 0);
  assert_float_equal(*(const float *)scalar->data, 20, 0);
  for (int i = 0; i < 3; ++i)
    release(outputs[i]);
}

/// A new result of some MiB begins with a huge page, and is all there.
static void testLargeResult(void **state) {
  (void)state;
  enum { ROWS = 400001, ELEMENTS = 3 * ROWS, HUGE_PAGE = 2 << 20 };
  float *a = calloc(ELEMENTS, sizeof(*a)), *out = calloc(ELEMENTS, sizeof(*a));
  float s = 10;
  assert_non_null(a);
  assert_non_null(out);
  for (int i = 0; i < ELEMENTS; ++i)
    a[i] = (float)i;
  Tensor storage[3];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, a, 2, (int64_t[]){ROWS, 3}),
      makeScalar(&storage[1], float32Type, &s),
      makeTensor(&storage[2], float32Type, out, 2, (int64_t[]){ROWS, 3})};
  DLManagedTensor *outputs[3];
  gqExecutable *executable = compile(threeResults);
  invoke(executable, NULL, inputs, 3, outputs, 3);
  gqExecutableDestroy(executable);
  const float *fresh = outputs[1]->dl_tensor.data;
  assert_int_equal((uintptr_t)fresh % HUGE_PAGE, 0);
  for (int i = 0; i < ELEMENTS; ++i)
    assert_true(fresh[i] == 2 * a[i]);
  for (int i = 0; i < 3; ++i)
    release(outputs[i]);
  free(a);
  free(out);
}

static void testByteOffset(void **state) {
  (void)state;
  float a[] = {-1, 1, 2, 3}, s = 10, out[] = {0, 0, 0, 1, 2, 3};
  Tensor storage[3];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, a, 2, (int64_t[]){1, 3}),
      makeScalar(&storage[1], float32Type, &s),
      makeTensor(&storage[2], float32Type, out, 2, (int64_t[]){1, 3})};
  inputs[0]->byte_offset = sizeof(float);
  inputs[2]->byte_offset = 3 * sizeof(float);
  DLManagedTensor *outputs[3];
  gqExecutable *executable = compile(threeResults);
  invoke(executable, NULL, inputs, 3, outputs, 3);
  const DLTensor *view = &outputs[0]->dl_tensor;
  assert_ptr_equal((char *)view->data + view->byte_offset, out + 3);
  assert_memory_equal(out, ((float[]){0, 0, 0, 11, 22, 33}), sizeof(out));
  for (int i = 0; i < 3; ++i)
    release(outputs[i]);
  gqExecutableDestroy(executable);
}

/// Whether a result is written into an argument that begins `distance` floats
/// behind another one, which has 6.
static gqStatus invokeAtDistance(gqExecutable *executable, int distance) {
  float memory[18] = {0}, s = 10;
  Tensor storage[3];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, memory + 6, 2, (int64_t[]){2, 3}),
      makeScalar(&storage[1], float32Type, &s),
      makeTensor(&storage[2], float32Type, memory + 6 + distance, 2,
                 (int64_t[]){2, 3})};
  DLManagedTensor *outputs[3];
  gqStatus status = gqInvoke(executable, NULL, inputs, 3, outputs, 3);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(!!outputs[i], status == GQ_OK);
    if (outputs[i])
      release(outputs[i]);
  }
  return status;
}

static void testOverlap(void **state) {
  (void)state;
  gqExecutable *executable = compile(threeResults);
  const gqSignature *signature;
  gqExecutableGetSignature(executable, NULL, &signature);
  assert_false(signature->written[0]);
  assert_false(signature->written[1]);
  assert_true(signature->written[2]);
  for (int distance = -6; distance <= 6; ++distance) {
    bool apart = distance == -6 || distance == 6;
    assert_int_equal(invokeAtDistance(executable, distance),
                     apart ? GQ_OK : GQ_INVALID_ARGUMENT);
    if (!apart)
      assertMessage("argument 2 is written and overlaps argument 0 in memory");
  }
  // A scalar is read before anything is written; an empty tensor is nowhere.
  float a[6] = {0}, out[6] = {0};
  Tensor storage[3];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, a, 2, (int64_t[]){2, 3}),
      makeScalar(&storage[1], float32Type, out + 1),
      makeTensor(&storage[2], float32Type, out, 2, (int64_t[]){2, 3})};
  DLManagedTensor *outputs[3];
  invoke(executable, NULL, inputs, 3, outputs, 3);
  for (int i = 0; i < 3; ++i)
    release(outputs[i]);
  for (int i = 0; i < 3; i += 2)
    makeTensor(&storage[i], float32Type, out + i, 2, (int64_t[]){0, 3});
  invoke(executable, NULL, inputs, 3, outputs, 3);
  for (int i = 0; i < 3; ++i)
    release(outputs[i]);
  gqExecutableDestroy(executable);
}

/// Arguments that are only read may share memory, whichever op reads them.
static void testOverlapOfReads(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func private @head(%a: tensor<3xf32>) -> f32 {\n"
              "  %c = arith.constant 0 : index\n"
              "  %e = tensor.extract %a[%c] : tensor<3xf32>\n"
              "  return %e : f32\n"
              "}\n"
              "func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>,\n"
              "    %c: memref<3xf32>) -> (tensor<3xf32>, f32) {\n"
              "  %i = arith.constant 0 : index\n"
              "  %h = call @head(%b) : (tensor<3xf32>) -> f32\n"
              "  %l = memref.load %c[%i] : memref<3xf32>\n"
              "  %s = arith.addf %h, %l : f32\n"
              "  %r = arith.addf %a, %b : tensor<3xf32>\n"
              "  return %r, %s : tensor<3xf32>, f32\n"
              "}\n");
  float a[] = {1, 2, 3};
  Tensor storage;
  DLTensor *tensor = makeVector(&storage, float32Type, a, 3);
  DLTensor *inputs[] = {tensor, tensor, tensor};
  DLManagedTensor *outputs[2];
  invoke(executable, "main", inputs, 3, outputs, 2);
  const float *sum = outputs[0]->dl_tensor.data;
  assert_float_equal(sum[2], 6, 0);
  assert_float_equal(*(const float *)outputs[1]->dl_tensor.data, 2, 0);
  release(outputs[0]);
  release(outputs[1]);
  gqExecutableDestroy(executable);
}

static void testEmptyTensors(void **state) {
  (void)state;
  float s = 10;
  Tensor storage[3];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, NULL, 2, (int64_t[]){0, 3}),
      makeScalar(&storage[1], float32Type, &s),
      makeTensor(&storage[2], float32Type, NULL, 2, (int64_t[]){0, 3})};
  DLManagedTensor *outputs[3];
  gqExecutable *executable = compile(threeResults);
  invoke(executable, NULL, inputs, 3, outputs, 3);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(outputs[i]->dl_tensor.ndim, i < 2 ? 2 : 0);
    if (i < 2)
      assert_int_equal(outputs[i]->dl_tensor.shape[0], 0);
    release(outputs[i]);
  }
  gqExecutableDestroy(executable);
}

/// A single scalar is returned differently from one among several results.
static void testOneScalar(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func @main(%a: i64, %b: i64) -> i1 {\n"
              "  %r = arith.cmpi slt, %a, %b : i64\n"
              "  return %r : i1\n"
              "}\n");
  int64_t a = 1, b = INT64_MAX;
  Tensor storage[2];
  DLTensor *inputs[] = {makeScalar(&storage[0], int64Type, &a),
                        makeScalar(&storage[1], int64Type, &b)};
  DLManagedTensor *output;
  invoke(executable, "main", inputs, 2, &output, 1);
  assertDtype(output, boolType);
  assert_int_equal(*(const uint8_t *)output->dl_tensor.data, 1);
  release(output);
  gqExecutableDestroy(executable);
}

static void testNoResult(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func @store(%x: i32, %to: memref<i32>) {\n"
              "  memref.store %x, %to[] : memref<i32>\n"
              "  return\n"
              "}\n");
  int32_t x = 42, to = 0;
  Tensor storage[2];
  DLTensor *inputs[] = {makeScalar(&storage[0], int32Type, &x),
                        makeScalar(&storage[1], int32Type, &to)};
  invoke(executable, "store", inputs, 2, NULL, 0);
  assert_int_equal(to, 42);
  gqExecutableDestroy(executable);
}

/// Results whose memory is not obviously the caller's to free: a constant, one
/// buffer twice, a part of an argument, an argument returned by a callee.
static const char ownership[] =
    "func.func @constant() -> tensor<2xi32> {\n"
    "  %c = arith.constant dense<[7, 8]> : tensor<2xi32>\n"
    "  return %c : tensor<2xi32>\n"
    "}\n"
    "func.func @twice(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {\n"
    "  %r = arith.addi %a, %a : tensor<2xi32>\n"
    "  return %r, %r : tensor<2xi32>, tensor<2xi32>\n"
    "}\n"
    "func.func @slice(%a: tensor<4xi32>) -> tensor<2xi32> {\n"
    "  %r = tensor.extract_slice %a[2][2][1]\n"
    "      : tensor<4xi32> to tensor<2xi32>\n"
    "  return %r : tensor<2xi32>\n"
    "}\n"
    "func.func @callee(%a: tensor<2xi32>) -> tensor<2xi32> {\n"
    "  return %a : tensor<2xi32>\n"
    "}\n"
    "func.func @caller(%a: tensor<2xi32>) -> tensor<2xi32> {\n"
    "  %r = call @callee(%a) : (tensor<2xi32>) -> tensor<2xi32>\n"
    "  return %r : tensor<2xi32>\n"
    "}\n";

static void testOwnership(void **state) {
  (void)state;
  static const struct {
    const char *function;
    int64_t inputSize;
    int numResults;
    int32_t expected[2];
  } cases[] = {{"constant", 0, 1, {7, 8}},
               {"twice", 2, 2, {2, 4}},
               {"slice", 4, 1, {3, 4}},
               {"callee", 2, 1, {1, 2}},
               {"caller", 2, 1, {1, 2}}};
  gqExecutable *executable = compile(ownership);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    int32_t a[] = {1, 2, 3, 4};
    Tensor storage;
    DLTensor *input = makeVector(&storage, int32Type, a, cases[i].inputSize);
    DLManagedTensor *outputs[2];
    invoke(executable, cases[i].function, &input, cases[i].inputSize ? 1 : 0,
           outputs, cases[i].numResults);
    for (int r = 0; r < cases[i].numResults; ++r) {
      assert_memory_equal(outputs[r]->dl_tensor.data, cases[i].expected, 8);
      release(outputs[r]);
    }
  }
  gqExecutableDestroy(executable);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// Invokes `@main` on a vector of two elements; the result must be of `dtype`
/// and hold `expected`.
static void runUnary(const char *mlir, DLDataType inputDtype, void *input,
                     DLDataType dtype, const void *expected, size_t size) {
  gqExecutable *executable = compile(mlir);
  Tensor storage;
  DLTensor *tensor = makeVector(&storage, inputDtype, input, 2);
  DLManagedTensor *output;
  invoke(executable, "main", &tensor, 1, &output, 1);
  assertDtype(output, dtype);
  assert_memory_equal(output->dl_tensor.data, expected, size);
  release(output);
  gqExecutableDestroy(executable);
}

/// x + x for a type that arith adds with `op`.
static void runSum(const char *type, const char *op, DLDataType dtype,
                   void *input, const void *expected, size_t size) {
  char mlir[512];
  snprintf(mlir, sizeof(mlir),
           "func.func @main(%%a: tensor<?x%s>) -> tensor<?x%s> {\n"
           "  %%r = arith.%s %%a, %%a : tensor<?x%s>\n"
           "  return %%r : tensor<?x%s>\n"
           "}\n",
           type, type, op, type, type);
  runUnary(mlir, dtype, input, dtype, expected, size);
}

static void testElementTypes(void **state) {
  (void)state;
  runSum("i8", "addi", int8Type, (int8_t[]){3, -64}, (int8_t[]){6, -128}, 2);
  runSum("i16", "addi", int16Type, (int16_t[]){3, -5}, (int16_t[]){6, -10}, 4);
  runSum("i32", "addi", int32Type, (int32_t[]){3, -5}, (int32_t[]){6, -10}, 8);
  runSum("i64", "addi", int64Type, (int64_t[]){3, -5}, (int64_t[]){6, -10}, 16);
  runSum("index", "addi", int64Type, (int64_t[]){3, 5}, (int64_t[]){6, 10}, 16);
  // 1.5 and -2 double to 3 and -4.
  runSum("f16", "addf", float16Type, (uint16_t[]){0x3e00, 0xc000},
         (uint16_t[]){0x4200, 0xc400}, 4);
  runSum("bf16", "addf", bfloat16Type, (uint16_t[]){0x3fc0, 0xc000},
         (uint16_t[]){0x4040, 0xc080}, 4);
  runSum("f32", "addf", float32Type, (float[]){1.5, -2}, (float[]){3, -4}, 8);
  runSum("f64", "addf", float64Type, (double[]){1.5, -2}, (double[]){3, -4},
         16);
  // 1-bit addition is exclusive or.
  runSum("i1", "addi", boolType, (uint8_t[]){1, 0}, (uint8_t[]){0, 0}, 2);
}

/// Small floats only pass through.
static void testFloat8(void **state) {
  (void)state;
  static const struct {
    const char *type;
    DLDataType dtype;
  } cases[] = {{"f8E4M3FN", {10, 8, 1}},
               {"f8E5M2", {12, 8, 1}},
               {"f8E8M0FNU", {14, 8, 1}}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char mlir[512];
    snprintf(mlir, sizeof(mlir),
             "func.func @main(%%a: tensor<4x%s>) -> tensor<2x%s> {\n"
             "  %%r = tensor.extract_slice %%a[2][2][1]\n"
             "      : tensor<4x%s> to tensor<2x%s>\n"
             "  return %%r : tensor<2x%s>\n"
             "}\n",
             cases[i].type, cases[i].type, cases[i].type, cases[i].type,
             cases[i].type);
    gqExecutable *executable = compile(mlir);
    uint8_t a[] = {1, 2, 3, 4};
    const DLDataType given[] = {cases[i].dtype, uint8Type, int8Type};
    for (int d = 0; d < 3; ++d) {
      Tensor storage;
      DLTensor *input = makeVector(&storage, given[d], a, 4);
      DLManagedTensor *output;
      invoke(executable, "main", &input, 1, &output, 1);
      assertDtype(output, cases[i].dtype);
      assert_memory_equal(output->dl_tensor.data, a + 2, 2);
      release(output);
    }
    gqExecutableDestroy(executable);
  }
}

/// The other dtypes that bytes may come in; a view keeps its argument's.
static void testAlternativeDtypes(void **state) {
  (void)state;
  static const struct {
    const char *type;
    DLDataType dtype;
  } cases[] = {{"i8", {kDLUInt, 8, 1}},
               {"i8", {17, 4, 2}},
               {"i1", {kDLUInt, 8, 1}},
               {"bf16", {kDLUInt, 16, 1}}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char mlir[256];
    snprintf(mlir, sizeof(mlir),
             "func.func @main(%%a: tensor<?x%s>) -> tensor<?x%s> {\n"
             "  return %%a : tensor<?x%s>\n"
             "}\n",
             cases[i].type, cases[i].type, cases[i].type);
    uint16_t a[] = {1, 2};
    runUnary(mlir, cases[i].dtype, a, cases[i].dtype, a, 2);
  }
}

/// A byte that is a bool but neither 0 nor 1, in a tensor and as a scalar.
static void testBoolBytes(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func @main(%a: tensor<?xi1>, %s: i1, %t: i1)\n"
              "    -> (tensor<?xi32>, i32) {\n"
              "  %r = arith.extui %a : tensor<?xi1> to tensor<?xi32>\n"
              "  %x = arith.extui %s : i1 to i32\n"
              "  %y = arith.extui %t : i1 to i32\n"
              "  %z = arith.addi %x, %y : i32\n"
              "  return %r, %z : tensor<?xi32>, i32\n"
              "}\n");
  uint8_t a[] = {0, 1, 2, 255};
  Tensor storage[3];
  DLTensor *inputs[] = {makeVector(&storage[0], uint8Type, a, 4),
                        makeScalar(&storage[1], uint8Type, &a[2]),
                        makeScalar(&storage[2], boolType, &a[3])};
  DLManagedTensor *outputs[2];
  invoke(executable, NULL, inputs, 3, outputs, 2);
  assert_memory_equal(outputs[0]->dl_tensor.data, ((int32_t[]){0, 1, 1, 1}),
                      16);
  assert_int_equal(*(const int32_t *)outputs[1]->dl_tensor.data, 2);
  release(outputs[0]);
  release(outputs[1]);
  gqExecutableDestroy(executable);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Two new results whose extents the caller chooses.
static const char twoFills[] =
    "func.func @main(%m: index, %n: index, %k: index)\n"
    "    -> (tensor<?xf32>, tensor<?x?xf32>) {\n"
    "  %c = arith.constant 1.0 : f32\n"
    "  %e = tensor.empty(%m) : tensor<?xf32>\n"
    "  %f = linalg.fill ins(%c : f32) outs(%e : tensor<?xf32>)\n"
    "      -> tensor<?xf32>\n"
    "  %g = tensor.empty(%n, %k) : tensor<?x?xf32>\n"
    "  %h = linalg.fill ins(%c : f32) outs(%g : tensor<?x?xf32>)\n"
    "      -> tensor<?x?xf32>\n"
    "  return %f, %h : tensor<?xf32>, tensor<?x?xf32>\n"
    "}\n";

static gqStatus runTwoFills(gqExecutable *executable, int64_t m, int64_t n,
                            int64_t k, DLManagedTensor **outputs) {
  Tensor storage[3];
  DLTensor *inputs[] = {makeScalar(&storage[0], int64Type, &m),
                        makeScalar(&storage[1], int64Type, &n),
                        makeScalar(&storage[2], int64Type, &k)};
  return gqInvoke(executable, "main", inputs, 3, outputs, 2);
}

/// Extents that no memory can hold end the call, not the process.
static void testExtents(void **state) {
  (void)state;
  static const int64_t big = (int64_t)1 << 60, small = INT64_MIN;
  const struct {
    int64_t n, k;
    gqStatus status;
    const char *message;
  } cases[] = {
      {2, 3, GQ_OK, NULL},
      {0, 5, GQ_OK, NULL},
      {big, 1, GQ_OUT_OF_MEMORY, "a tensor needs 46116860184273"},
      {-1, 1, GQ_OUT_OF_MEMORY, "a tensor has a negative extent"},
      {small, 1, GQ_OUT_OF_MEMORY, "a tensor has a negative extent"},
      // The number of bytes wraps around: to 0, to a small one, to a positive
      // one.
      {4 * big, 1, GQ_OUT_OF_MEMORY, "more elements than there can be"},
      {4 * big + 1, 1, GQ_OUT_OF_MEMORY, "more elements than there can be"},
      {big, 16, GQ_OUT_OF_MEMORY, "more elements than there can be"},
      {big + 1, 16, GQ_OUT_OF_MEMORY, "more elements than there can be"},
      {small, -1, GQ_OUT_OF_MEMORY, "more elements than there can be"},
      // No memory is needed, or some.
      {-1, 0, GQ_INVALID_ARGUMENT, "result 1: its extent 0 would be -1"},
      {0, -1, GQ_INVALID_ARGUMENT, "result 1: its extent 1 would be -1"},
      {-2, -3, GQ_INVALID_ARGUMENT, "result 1: its extent 0 would be -2"},
  };
  gqExecutable *executable = compile(twoFills);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    DLManagedTensor *outputs[2];
    assert_int_equal(
        runTwoFills(executable, 4, cases[i].n, cases[i].k, outputs),
        cases[i].status);
    if (cases[i].status != GQ_OK) {
      assertMessage(cases[i].message);
      assert_null(outputs[0]);
      assert_null(outputs[1]);
      continue;
    }
    assert_int_equal(outputs[1]->dl_tensor.shape[0], cases[i].n);
    assert_int_equal(outputs[1]->dl_tensor.shape[1], cases[i].k);
    release(outputs[0]);
    release(outputs[1]);
  }
  gqExecutableDestroy(executable);
}

/// The bytes that malloc has handed out.
static size_t heapSize(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// What a call had allocated before it ran out of memory is freed.
static void testMemoryOfFailedCall(void **state) {
  (void)state;
  gqExecutable *executable = compile(twoFills);
  DLManagedTensor *outputs[2];
  size_t before = heapSize();
  for (int i = 0; i < 10; ++i)
    assert_int_equal(runTwoFills(executable, 1 << 20, -1, 1, outputs),
                     GQ_OUT_OF_MEMORY);
  assert_true(heapSize() < before + (1 << 20));
  gqExecutableDestroy(executable);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static void testSignature(void **state) {
  (void)state;
  gqExecutable *executable = compile(threeResults);
  const gqSignature *signature;
  assert_int_equal(gqExecutableGetSignature(executable, NULL, &signature),
                   GQ_OK);
  assert_string_equal(signature->name, "main");
  assert_int_equal(signature->numInputs, 3);
  assert_int_equal(signature->numResults, 3);
  assert_int_equal(signature->inputs[0].type, GQ_F32);
  assert_int_equal(signature->inputs[0].rank, 2);
  assert_int_equal(signature->inputs[0].sizes[0], -1);
  assert_int_equal(signature->inputs[0].sizes[1], 3);
  assert_int_equal(signature->inputs[1].rank, -1);
  assert_int_equal(signature->results[2].rank, -1);
  assert_memory_equal(signature->sources, ((int32_t[]){2, -1, -1}), 12);
  gqExecutableDestroy(executable);
}

/// Names need not be identifiers, nor unlike those of the C library, and two
/// modules may have the same.
static void testNames(void **state) {
  (void)state;
  char mlir[512];
  gqExecutable *executables[2];
  for (int i = 0; i < 2; ++i) {
    snprintf(mlir, sizeof(mlir),
             "func.func @\"odd name\\n\"() -> i32 {\n"
             "  %%r = call @exit() : () -> i32\n"
             "  return %%r : i32\n"
             "}\n"
             "func.func @exit() -> i32 {\n"
             "  %%r = arith.constant %d : i32\n"
             "  return %%r : i32\n"
             "}\n",
             i);
    executables[i] = compile(mlir);
  }
  for (int i = 0; i < 2; ++i) {
    DLManagedTensor *output;
    invoke(executables[i], "odd name\n", NULL, 0, &output, 1);
    assert_int_equal(*(const int32_t *)output->dl_tensor.data, i);
    release(output);
    gqExecutableDestroy(executables[i]);
  }
}

/// LLVM knows what functions of these names do, and the table's name is taken;
/// a module's own functions still do something else.
static void testLibraryNames(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func @exp10(%x: f64) -> f64 {\n"
              "  %c = arith.constant 100.0 : f64\n"
              "  %r = arith.addf %x, %c : f64\n"
              "  return %r : f64\n"
              "}\n"
              "memref.global @gq_module_table : memref<f64> = dense<4.0>\n"
              "func.func @main() -> f64 {\n"
              "  %p = memref.get_global @gq_module_table : memref<f64>\n"
              "  %c = memref.load %p[] : memref<f64>\n"
              "  %r = call @exp10(%c) : (f64) -> f64\n"
              "  return %r : f64\n"
              "}\n");
  DLManagedTensor *output;
  invoke(executable, "main", NULL, 0, &output, 1);
  assert_true(*(const double *)output->dl_tensor.data == 104.0);
  release(output);
  gqExecutableDestroy(executable);
}

/// The attribute in which gq-finalize-boundary leaves the signatures means
/// nothing in a module's text.
static void testBoundaryAttribute(void **state) {
  (void)state;
  gqExecutable *executable = compile(
      "func.func private @a() attributes {gq.boundary = 1 : i32}\n"
      "func.func private @b() attributes {gq.boundary = {\n"
      "    inputs = [], results = [], sources = array<i32>}} {\n"
      "  return\n"
      "}\n"
      "llvm.func @c() attributes {gq.boundary = {inputs = []}} {\n"
      "  llvm.return\n"
      "}\n"
      "func.func @main(%x: i32) -> i32 attributes {gq.boundary = {}} {\n"
      "  call @b() : () -> ()\n"
      "  return %x : i32\n"
      "}\n");
  const gqSignature *signature;
  assert_int_equal(gqExecutableGetSignature(executable, NULL, &signature),
                   GQ_OK);
  assert_string_equal(signature->name, "main");
  assert_int_equal(signature->numInputs, 1);
  gqExecutableDestroy(executable);
}

/// Copies between layouts are calls of the runtime.
static void testStridedCopy(void **state) {
  (void)state;
  gqExecutable *executable = compile(
      "func.func @main(%a: tensor<2x2x?xi16>, %b: tensor<2x4x?xi16>)\n"
      "    -> tensor<2x4x?xi16> {\n"
      "  %c2 = arith.constant 2 : index\n"
      "  %n = tensor.dim %a, %c2 : tensor<2x2x?xi16>\n"
      "  %r = tensor.insert_slice %a into %b[0, 1, 1] [2, 2, %n] [1, 1, 1]\n"
      "      : tensor<2x2x?xi16> into tensor<2x4x?xi16>\n"
      "  return %r : tensor<2x4x?xi16>\n"
      "}\n");
  int16_t a[12], b[32] = {0};
  for (int i = 0; i < 12; ++i)
    a[i] = i + 1;
  Tensor storage[2];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], int16Type, a, 3, (int64_t[]){2, 2, 3}),
      makeTensor(&storage[1], int16Type, b, 3, (int64_t[]){2, 4, 4})};
  DLManagedTensor *output;
  invoke(executable, "main", inputs, 2, &output, 1);
  assert_ptr_equal(output->dl_tensor.data, b);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) {
        bool inside = j >= 1 && j < 3 && k >= 1;
        int expected = inside ? a[(i * 2 + j - 1) * 3 + k - 1] : 0;
        assert_int_equal(b[(i * 4 + j) * 4 + k], expected);
      }
  release(output);
  gqExecutableDestroy(executable);
}

/// Functions of the C library and of libm are found in the process.
static void testProcessSymbols(void **state) {
  (void)state;
  gqExecutable *executable =
      compile("func.func private @llabs(i64) -> i64\n"
              "func.func @main(%a: i64, %x: f64) -> (i64, f64) {\n"
              "  %r = call @llabs(%a) : (i64) -> i64\n"
              "  %y = math.erf %x : f64\n"
              "  return %r, %y : i64, f64\n"
              "}\n");
  int64_t a = -3;
  double x = 10;
  Tensor storage[2];
  DLTensor *inputs[] = {makeScalar(&storage[0], int64Type, &a),
                        makeScalar(&storage[1], float64Type, &x)};
  DLManagedTensor *outputs[2];
  invoke(executable, NULL, inputs, 2, outputs, 2);
  assert_int_equal(*(const int64_t *)outputs[0]->dl_tensor.data, 3);
  assert_true(*(const double *)outputs[1]->dl_tensor.data == 1.0);
  release(outputs[0]);
  release(outputs[1]);
  gqExecutableDestroy(executable);
}

/// Constructors run when the module is loaded, destructors when it is
/// destroyed. Each of these appends its digit to a number, the former in the
/// module, the latter in ours.
static const char constructors[] =
    "llvm.mlir.global internal @order(0 : i64) : i64\n"
    "llvm.mlir.global internal @address(0 : i64) : i64\n"
    "llvm.mlir.global_ctors ctors = [@one, @two],\n"
    "    priorities = [200 : i32, 100 : i32], data = [#llvm.zero, #llvm.zero]\n"
    "llvm.mlir.global_dtors dtors = [@three, @four],\n"
    "    priorities = [200 : i32, 100 : i32], data = [#llvm.zero, #llvm.zero]\n"
    "llvm.func internal @append(%log: !llvm.ptr, %digit: i64) {\n"
    "  %ten = llvm.mlir.constant(10 : i64) : i64\n"
    "  %old = llvm.load %log : !llvm.ptr -> i64\n"
    "  %shifted = llvm.mul %old, %ten : i64\n"
    "  %new = llvm.add %shifted, %digit : i64\n"
    "  llvm.store %new, %log : i64, !llvm.ptr\n"
    "  llvm.return\n"
    "}\n"
    "llvm.func internal @outside(%digit: i64) {\n"
    "  %p = llvm.mlir.addressof @address : !llvm.ptr\n"
    "  %address = llvm.load %p : !llvm.ptr -> i64\n"
    "  %log = llvm.inttoptr %address : i64 to !llvm.ptr\n"
    "  llvm.call @append(%log, %digit) : (!llvm.ptr, i64) -> ()\n"
    "  llvm.return\n"
    "}\n"
    "llvm.func @one() {\n"
    "  %log = llvm.mlir.addressof @order : !llvm.ptr\n"
    "  %digit = llvm.mlir.constant(1 : i64) : i64\n"
    "  llvm.call @append(%log, %digit) : (!llvm.ptr, i64) -> ()\n"
    "  llvm.return\n"
    "}\n"
    "llvm.func @two() {\n"
    "  %log = llvm.mlir.addressof @order : !llvm.ptr\n"
    "  %digit = llvm.mlir.constant(2 : i64) : i64\n"
    "  llvm.call @append(%log, %digit) : (!llvm.ptr, i64) -> ()\n"
    "  llvm.return\n"
    "}\n"
    "llvm.func @three() {\n"
    "  %digit = llvm.mlir.constant(3 : i64) : i64\n"
    "  llvm.call @outside(%digit) : (i64) -> ()\n"
    "  llvm.return\n"
    "}\n"
    "llvm.func @four() {\n"
    "  %digit = llvm.mlir.constant(4 : i64) : i64\n"
    "  llvm.call @outside(%digit) : (i64) -> ()\n"
    "  llvm.return\n"
    "}\n"
    "func.func @main(%address: i64) -> i64 {\n"
    "  %p = llvm.mlir.addressof @address : !llvm.ptr\n"
    "  llvm.store %address, %p : i64, !llvm.ptr\n"
    "  %log = llvm.mlir.addressof @order : !llvm.ptr\n"
    "  %v = llvm.load %log : !llvm.ptr -> i64\n"
    "  return %v : i64\n"
    "}\n";

static void testConstructors(void **state) {
  (void)state;
  gqExecutable *executable = compile(constructors);
  int64_t log = 0, address = (int64_t)(intptr_t)&log;
  Tensor storage;
  DLTensor *input = makeScalar(&storage, int64Type, &address);
  DLManagedTensor *output;
  invoke(executable, "main", &input, 1, &output, 1);
  // The lowest priority first.
  assert_int_equal(*(const int64_t *)output->dl_tensor.data, 21);
  release(output);
  assert_int_equal(log, 0);
  gqExecutableDestroy(executable);
  // The highest priority first.
  assert_int_equal(log, 34);
}

//===----------------------------------------------------------------------===//
// gq ops
//===----------------------------------------------------------------------===//

static const char quantize[] =
    "func.func @main(%x: tensor<?x16xf32>, %offsets: tensor<2xi32>,\n"
    "    %sf_offsets: tensor<1xi32>)\n"
    "    -> (tensor<?x16xf4E2M1FN>,\n"
    "        tensor<128x4xf8E4M3FN, #gq.tile128x4>) {\n"
    "  %c0 = arith.constant 0 : index\n"
    "  %m = tensor.dim %x, %c0 : tensor<?x16xf32>\n"
    "  %q0 = tensor.empty(%m) : tensor<?x16xf4E2M1FN>\n"
    "  %sf0 = tensor.empty() : tensor<128x4xf8E4M3FN, #gq.tile128x4>\n"
    "  %q, %sf = gq.grouped_block_quantize format(nvfp4)\n"
    "      ins(%x : tensor<?x16xf32>)\n"
    "      groups(%offsets, %sf_offsets : tensor<2xi32>, tensor<1xi32>)\n"
    "      outs(%q0, %sf0 : tensor<?x16xf4E2M1FN>,\n"
    "           tensor<128x4xf8E4M3FN, #gq.tile128x4>)\n"
    "      -> tensor<?x16xf4E2M1FN>,\n"
    "         tensor<128x4xf8E4M3FN, #gq.tile128x4>\n"
    "  return %q, %sf : tensor<?x16xf4E2M1FN>,\n"
    "      tensor<128x4xf8E4M3FN, #gq.tile128x4>\n"
    "}\n";

/// Quantizes a row of sixes, which is a row of the largest code at scale 1.
/// The second offset decides whether the call may succeed.
static gqStatus runQuantize(gqExecutable *executable, int32_t lastOffset,
                            DLManagedTensor **outputs) {
  float x[16];
  for (int i = 0; i < 16; ++i)
    x[i] = 6;
  int32_t offsets[] = {0, lastOffset}, scaleOffset = 0;
  Tensor storage[3];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, x, 2, (int64_t[]){1, 16}),
      makeVector(&storage[1], int32Type, offsets, 2),
      makeVector(&storage[2], int32Type, &scaleOffset, 1)};
  return gqInvoke(executable, "main", inputs, 3, outputs, 2);
}

static void checkQuantized(DLManagedTensor **outputs) {
  const uint8_t *data = outputs[0]->dl_tensor.data;
  const uint8_t *scales = outputs[1]->dl_tensor.data;
  assertDtype(outputs[0], int8Type);
  assert_int_equal(outputs[0]->dl_tensor.shape[1], 8);
  for (int i = 0; i < 8; ++i)
    assert_int_equal(data[i], 0x77);
  assertDtype(outputs[1], float8E4M3FNType);
  assert_int_equal(scales[0], 0x38);
  for (int i = 1; i < 512; ++i)
    assert_int_equal(scales[i], 0);
  release(outputs[0]);
  release(outputs[1]);
}

/// What a gq op finds wrong with its data is the status of the invocation, and
/// of that one only.
static void testStatus(void **state) {
  (void)state;
  gqExecutable *executable = compile(quantize);
  DLManagedTensor *outputs[2];
  assert_int_equal(runQuantize(executable, 1, outputs), GQ_OK);
  checkQuantized(outputs);
  assert_int_equal(runQuantize(executable, 2, outputs), GQ_INVALID_OFFSETS);
  assert_string_not_equal(gqGetLastErrorMessage(), "");
  assert_null(outputs[0]);
  assert_null(outputs[1]);
  assert_int_equal(runQuantize(executable, 1, outputs), GQ_OK);
  checkQuantized(outputs);
  gqExecutableDestroy(executable);
}

/// A failure that a direct call of the runtime left behind is not the next
/// invocation's.
static void testPendingStatus(void **state) {
  (void)state;
  gqExecutable *executable = compile(quantize);
  DLManagedTensor *outputs[2];
  gqCpuBlockQuantize(&(gqBlockQuantizeOperands){0}, /*format=*/99,
                     GQ_SCALE_LAYOUT_LINEAR);
  assert_int_equal(runQuantize(executable, 1, outputs), GQ_OK);
  checkQuantized(outputs);
  gqExecutableDestroy(executable);
}

/// Quantizes in two ops.
static const char twoOps[] =
    "!tiled = tensor<128x4xf8E4M3FN, #gq.tile128x4>\n"
    "func.func @main(%x: tensor<1x16xf32>, %offsets: tensor<2xi32>,\n"
    "    %sf_offsets: tensor<1xi32>)\n"
    "    -> (tensor<1x16xf4E2M1FN>, !tiled) {\n"
    "  %q0 = tensor.empty() : tensor<1x16xf4E2M1FN>\n"
    "  %linear0 = tensor.empty() : tensor<1x1xf8E4M3FN>\n"
    "  %sf0 = tensor.empty() : !tiled\n"
    "  %q, %linear = gq.block_quantize format(nvfp4)\n"
    "      ins(%x : tensor<1x16xf32>)\n"
    "      outs(%q0, %linear0\n"
    "          : tensor<1x16xf4E2M1FN>, tensor<1x1xf8E4M3FN>)\n"
    "      -> tensor<1x16xf4E2M1FN>, tensor<1x1xf8E4M3FN>\n"
    "  %sf = gq.preprocess_grouped_matmul_sf format(nvfp4)\n"
    "      ins(%linear : tensor<1x1xf8E4M3FN>)\n"
    "      groups(%offsets, %sf_offsets : tensor<2xi32>, tensor<1xi32>)\n"
    "      outs(%sf0 : !tiled) -> !tiled\n"
    "  return %q, %sf : tensor<1x16xf4E2M1FN>, !tiled\n"
    "}\n";

/// The bytes are the same; a message tells which op ran.
static void testFusion(void **state) {
  (void)state;
  static const char *const ops[] = {"grouped_block_quantize: offsets[1] = 2",
                                    "preprocess_grouped_matmul_sf: offsets[1] "
                                    "= 2"};
  for (int noFusion = 0; noFusion < 2; ++noFusion) {
    gqCompileOptions options = {.cacheDir = "", .noFusion = noFusion};
    gqExecutable *executable;
    if (gqCompile(twoOps, strlen(twoOps), &options, &executable) != GQ_OK)
      fail_msg("%s", gqGetLastErrorMessage());
    DLManagedTensor *outputs[2];
    assert_int_equal(runQuantize(executable, 1, outputs), GQ_OK);
    checkQuantized(outputs);
    assert_int_equal(runQuantize(executable, 2, outputs), GQ_INVALID_OFFSETS);
    assertMessage(ops[noFusion]);
    gqExecutableDestroy(executable);
  }
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

typedef struct Worker {
  gqExecutable *executable;
  int32_t lastOffset;
  gqStatus expected;
  /// cmocka's assertions work in the main thread only.
  int failures;
} Worker;

static void *work(void *argument) {
  Worker *worker = argument;
  for (int i = 0; i < 2000; ++i) {
    DLManagedTensor *outputs[2];
    if (runQuantize(worker->executable, worker->lastOffset, outputs) !=
        worker->expected) {
      ++worker->failures;
      continue;
    }
    if (worker->expected != GQ_OK) {
      worker->failures += outputs[0] || outputs[1];
      continue;
    }
    worker->failures += *(const uint8_t *)outputs[0]->dl_tensor.data != 0x77;
    release(outputs[0]);
    release(outputs[1]);
  }
  return NULL;
}

/// One thread succeeds while the other fails, in the same executable.
static void testInvokeInThreads(void **state) {
  (void)state;
  gqExecutable *executable = compile(quantize);
  Worker workers[] = {{executable, 1, GQ_OK, 0},
                      {executable, 2, GQ_INVALID_OFFSETS, 0}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(workers[i].failures, 0);
  }
  gqExecutableDestroy(executable);
}

static void *compileInThread(void *argument) {
  gqCompileOptions options = {.cacheDir = ""};
  gqCompile(quantize, strlen(quantize), &options, argument);
  return NULL;
}

static void testCompileInThreads(void **state) {
  (void)state;
  gqExecutable *executables[2] = {0};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    assert_int_equal(
        pthread_create(&threads[i], NULL, compileInThread, &executables[i]), 0);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_non_null(executables[i]);
    DLManagedTensor *outputs[2];
    assert_int_equal(runQuantize(executables[i], 1, outputs), GQ_OK);
    checkQuantized(outputs);
    gqExecutableDestroy(executables[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      // The first, so that two threads meet the registration of the passes.
      cmocka_unit_test(testCompileInThreads),
      cmocka_unit_test(testThreeResults),
      cmocka_unit_test(testLargeResult),
      cmocka_unit_test(testByteOffset),
      cmocka_unit_test(testOverlap),
      cmocka_unit_test(testOverlapOfReads),
      cmocka_unit_test(testEmptyTensors),
      cmocka_unit_test(testOneScalar),
      cmocka_unit_test(testNoResult),
      cmocka_unit_test(testOwnership),
      cmocka_unit_test(testElementTypes),
      cmocka_unit_test(testFloat8),
      cmocka_unit_test(testAlternativeDtypes),
      cmocka_unit_test(testBoolBytes),
      cmocka_unit_test(testExtents),
      cmocka_unit_test(testMemoryOfFailedCall),
      cmocka_unit_test(testSignature),
      cmocka_unit_test(testNames),
      cmocka_unit_test(testLibraryNames),
      cmocka_unit_test(testBoundaryAttribute),
      cmocka_unit_test(testStridedCopy),
      cmocka_unit_test(testProcessSymbols),
      cmocka_unit_test(testConstructors),
      cmocka_unit_test(testStatus),
      cmocka_unit_test(testPendingStatus),
      cmocka_unit_test(testFusion),
      cmocka_unit_test(testInvokeInThreads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
