//===- test_errors.c - what compilation and calls refuse ------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "lib/Support/Text.h"

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static void refuseCompilation(const char *mlir, const char *message) {
  gqCompileOptions options = {.cacheDir = "", .sourceName = "model.mlir"};
  gqExecutable *executable = (gqExecutable *)&options;
  assert_int_equal(gqCompile(mlir, strlen(mlir), &options, &executable),
                   GQ_COMPILE_ERROR);
  assert_null(executable);
  assertMessage(message);
}

static void testParseError(void **state) {
  (void)state;
  refuseCompilation("func.func @main() {\n  oops\n}\n",
                    "model.mlir:2:3: error: ");
}

/// Bytecode is not read; corrupt bytecode would hang the reader.
static void testBytecode(void **state) {
  (void)state;
  refuseCompilation("ML\xefR\rMLIR22.1.8",
                    "expected MLIR text, found bytecode");
  refuseCompilation("ML\xefR", "expected MLIR text, found bytecode");
  refuseCompilation("ML", "model.mlir:1:1: error: ");
}

static void repeat(gqText *text, const char *part, int count) {
  while (count-- > 0)
    gqTextPrintf(text, "%s", part);
}

/// The parser would run out of stack.
static void testNesting(void **state) {
  (void)state;
  static const struct {
    const char *before, *open, *middle, *close, *after;
  } cases[] = {
      {"func.func @f() attributes {a = ", "[", "", "]", "} { return }"},
      {"func.func private @f(tuple<", "tuple<", "", ">", ">)"},
      {"func.func @f() {", "scf.execute_region {", "scf.yield", "}",
       " return }"},
      {"#m = affine_map<(d0) -> (", "(", "d0", ")", ")>"},
      {"#m = affine_map<(d0) -> (", "- ", "d0", "", ")>"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    gqText text = {0};
    repeat(&text, cases[i].before, 1);
    repeat(&text, cases[i].open, 200000);
    repeat(&text, cases[i].middle, 1);
    repeat(&text, cases[i].close, 200000);
    repeat(&text, cases[i].after, 1);
    refuseCompilation(text.data,
                      "brackets, signs or aliases are nested more than 256");
    gqTextFree(&text);
  }
  // As deep as is allowed, and what only looks deep.
  gqText text = {0};
  gqTextPrintf(&text, "// ");
  repeat(&text, "(", 1000);
  gqTextPrintf(&text, "\nfunc.func @main() attributes {s = \"\\\"");
  repeat(&text, "[", 1000);
  gqTextPrintf(&text, "\", a = ");
  repeat(&text, "[", 255);
  repeat(&text, "]", 255);
  gqTextPrintf(&text, "} {\n  return\n}\n");
  for (int i = 0; i < 1000; ++i)
    gqTextPrintf(&text, "func.func private @f%d() -> (i32)\n", i);
  gqExecutableDestroy(compile(text.data));
  gqTextFree(&text);
}

/// An alias for each of `count` attributes or types, each of which has the one
/// before it, between `before` and `after`. Then a function with the last one.
static gqText chainOfAliases(char sigil, int count, const char *before,
                             const char *between, const char *after) {
  gqText text = {0};
  gqTextPrintf(&text, "%ca0 = %s\n", sigil, sigil == '#' ? "[]" : "i32");
  for (int i = 1; i < count; ++i) {
    gqTextPrintf(&text, "%ca%d = %s%ca%d", sigil, i, before, sigil, i - 1);
    if (between)
      gqTextPrintf(&text, "%s%ca%d", between, sigil, i - 1);
    gqTextPrintf(&text, "%s\n", after);
  }
  gqTextPrintf(&text, "func.func @main() attributes {a = %ca%d} {\n", sigil,
               count - 1);
  gqTextPrintf(&text, "  return\n}\n");
  return text;
}

/// So that nothing in the text is deep, or long.
static void testAliases(void **state) {
  (void)state;
  static const struct {
    char sigil;
    int count;
    const char *before, *between, *after;
  } cases[] = {
      {'#', 100000, "[", NULL, "]"},
      {'!', 100000, "tuple<", NULL, ">"},
      {'#', 100000, "// #b =\n  [\n", NULL, "]"},
      {'#', 250, "[[", NULL, "]]"},
      {'#', 40, "[", ", ", "]"},
      {'!', 40, "tuple\n<", ", ", "\n>"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    gqText text =
        chainOfAliases(cases[i].sigil, cases[i].count, cases[i].before,
                       cases[i].between, cases[i].after);
    refuseCompilation(text.data, "aliases are nested more than 256 deep, or an "
                                 "alias stands for more than 2^20 others");
    gqTextFree(&text);
  }
  // As many as are allowed.
  gqText text = chainOfAliases('#', 127, "[", NULL, "]");
  gqExecutableDestroy(compile(text.data));
  gqTextFree(&text);
  text = chainOfAliases('!', 10, "tuple<", ", ", ">");
  gqExecutableDestroy(compile(text.data));
  gqTextFree(&text);
  gqTextPrintf(&text, "#a = [\"#b = [#a]\"]\n#b = [#a]\n");
  for (int i = 0; i < 1000; ++i)
    gqTextPrintf(&text, "#c%d = [#a, #b, !llvm.ptr]\n", i);
  gqTextPrintf(&text, "func.func @main(%%x: i32) {\n");
  for (int i = 0; i < 1000; ++i)
    gqTextPrintf(&text, "  %%%d = arith.addi %%x, %%x {a = #c999} : i32\n", i);
  gqTextPrintf(&text, "  return\n}\n");
  gqExecutableDestroy(compile(text.data));
  gqTextFree(&text);
}

/// MLIR would end the process, for one of the targets at least.
static void testUnpassableTypes(void **state) {
  (void)state;
  static const struct {
    const char *mlir, *type;
  } cases[] = {
      {"func.func @odd(%a: memref<*xtf32>) { return }\n",
       "a memref without a rank"},
      {"func.func private @odd(%a: memref<*xtf32>)\n"
       "    attributes {llvm.emit_c_interface} { return }\n",
       "a memref without a rank"},
      {"func.func private @odd() -> memref<*xtf32>\n"
       "    attributes {llvm.emit_c_interface}\n",
       "a memref without a rank"},
      {"func.func @odd(%a: !async.token) { return }\n",
       "a token or a value of the async dialect"},
      {"func.func private @odd() -> !async.value<f32>\n"
       "    attributes {llvm.emit_c_interface}\n",
       "a token or a value of the async dialect"},
  };
  static const char *const targets[] = {"cpu", "cuda"};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
    for (int target = 0; target < 2; ++target) {
      char message[128];
      gqCompileOptions options = {.target = targets[target],
                                  .chip = target ? "sm_90a" : NULL,
                                  .cacheDir = ""};
      gqExecutable *executable;
      assert_int_equal(gqCompile(cases[i].mlir, strlen(cases[i].mlir), &options,
                                 &executable),
                       GQ_COMPILE_ERROR);
      snprintf(message, sizeof(message),
               "<mlir>:1:1: error: 'func.func' op has a caller, who cannot "
               "pass %s",
               cases[i].type);
      assertMessage(message);
    }
}

static void testDiagnostics(void **state) {
  (void)state;
  // The text of a caller who gives it no name.
  gqExecutable *executable;
  assert_int_equal(gqCompile("oops", 4, NULL, &executable), GQ_COMPILE_ERROR);
  assertMessage("<mlir>:1:1: error: ");
  // The error and its note.
  const char *mismatch = "func.func @main(%a: i32) -> i64 {\n"
                         "  %0 = arith.addi %a, %a : i32\n"
                         "  return %0 : i64\n"
                         "}\n";
  refuseCompilation(mismatch, "model.mlir:3:10: error: use of value '%0'");
  refuseCompilation(mismatch, "model.mlir:2:3: note: prior use here");
}

static void testUnsupportedTypes(void **state) {
  (void)state;
  refuseCompilation("func.func @f(%a: i32, %b: tensor<2xi4>) {\n"
                    "  return\n"
                    "}\n",
                    "argument 1 of function 'f': a caller cannot pass "
                    "memref<2xi4>");
  refuseCompilation("func.func @f(%a: memref<2x2xf32, strided<[4, 1]>>) {\n"
                    "  return\n"
                    "}\n",
                    "argument 0 of function 'f': a caller cannot pass ");
  refuseCompilation("func.func @f(%a: tensor<1x1x1x1x1x1x1x1x1xf32>) {\n"
                    "  return\n"
                    "}\n",
                    "argument 0 of function 'f': a caller cannot pass ");
}

static void testMissingSymbol(void **state) {
  (void)state;
  // Declared and not called is not an error.
  refuseCompilation("func.func private @gq_test_nowhere(i64)\n"
                    "func.func private @gq_test_unused(i64)\n"
                    "func.func @main(%a: i64) {\n"
                    "  call @gq_test_nowhere(%a) : (i64) -> ()\n"
                    "  return\n"
                    "}\n",
                    "undefined: gq_test_nowhere (declared in the module; ");
}

/// An op that is left over is reported with its types.
static void testNoLowering(void **state) {
  (void)state;
  refuseCompilation("func.func @main(%x: f32) -> f32 {\n"
                    "  %y = arith.truncf %x : f32 to tf32\n"
                    "  %z = arith.extf %y : tf32 to f32\n"
                    "  return %z : f32\n"
                    "}\n",
                    "model.mlir:2:8: error: 'arith.truncf' op on these types "
                    "has no lowering: (f32) -> (tf32)");
}

static void testNestedModule(void **state) {
  (void)state;
  refuseCompilation("module {\n"
                    "  module {\n"
                    "    func.func @main() {\n"
                    "      return\n"
                    "    }\n"
                    "  }\n"
                    "}\n",
                    "model.mlir:2:3: error: a module in a module");
}

/// A module's own symbols must not be what the lowering calls.
static void testReservedNames(void **state) {
  (void)state;
  static const char *const names[] = {"gqCpuBlockQuantize",
                                      "gqHeapAllocate",
                                      "mgpuMemAlloc",
                                      "malloc",
                                      "free",
                                      "memrefCopy",
                                      "erff",
                                      "cbrtf",
                                      "acosh",
                                      "pow",
                                      "puts",
                                      "printF32",
                                      "gqDeviceConstant",
                                      "gq_kernels_0",
                                      "llvm.sqrt.f32",
                                      "_mlir_ciface_main",
                                      "_mlir_memref_to_llvm_alloc"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    char mlir[256], message[128];
    snprintf(message, sizeof(message),
             "model.mlir:2:1: error: the name '%s' is reserved", names[i]);
    snprintf(mlir, sizeof(mlir),
             "func.func @main() { return }\n"
             "func.func @%s() { return }\n",
             names[i]);
    refuseCompilation(mlir, message);
    snprintf(mlir, sizeof(mlir),
             "func.func @main() { return }\n"
             "memref.global @%s : memref<f64> = dense<1.0>\n",
             names[i]);
    refuseCompilation(mlir, message);
  }
  refuseCompilation("func.func @f() { return }\n"
                    "func.func private @_mlir_ciface_f()\n",
                    "the name '_mlir_ciface_f' is reserved");
  refuseCompilation("func.func @main() { return }\n"
                    "llvm.func @llvm.nothing(f32) -> f32\n",
                    "model.mlir:2:1: error: the name 'llvm.nothing' is "
                    "reserved for LLVM's intrinsics");
  // A module may call them.
  gqExecutableDestroy(compile("func.func private @malloc(i64) -> !llvm.ptr\n"
                              "func.func private @free(!llvm.ptr)\n"
                              "func.func @main(%n: i64) {\n"
                              "  %p = call @malloc(%n) : (i64) -> !llvm.ptr\n"
                              "  call @free(%p) : (!llvm.ptr) -> ()\n"
                              "  return\n"
                              "}\n"));
}

/// An error that only the backend sees must neither print nor end the process.
static void testBackendError(void **state) {
  (void)state;
  refuseCompilation("func.func @main() {\n"
                    "  llvm.inline_asm has_side_effects\n"
                    "      \"gq_no_instruction\", \"\" : () -> ()\n"
                    "  return\n"
                    "}\n",
                    "gq_no_instruction");
}

static void testUnknownTarget(void **state) {
  (void)state;
  gqCompileOptions options = {.cacheDir = "", .target = "abacus"};
  gqExecutable *executable;
  assert_int_equal(gqCompile("", 0, &options, &executable),
                   GQ_INVALID_ARGUMENT);
  assert_null(executable);
  assertMessage("unknown target 'abacus'");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static void testUnknownFunction(void **state) {
  (void)state;
  gqExecutable *executable = compile("func.func @f() {\n  return\n}\n"
                                     "func.func @g() {\n  return\n}\n"
                                     "func.func private @h() {\n  return\n}\n");
  const gqSignature *signature;
  assert_int_equal(gqExecutableGetSignature(executable, "h", &signature),
                   GQ_INVALID_ARGUMENT);
  assert_null(signature);
  assert_string_equal(gqGetLastErrorMessage(),
                      "no function 'h'; the module has 'f', 'g'");
  assert_int_equal(gqExecutableGetSignature(executable, NULL, &signature),
                   GQ_INVALID_ARGUMENT);
  assert_string_equal(gqGetLastErrorMessage(),
                      "name one of the module's functions: 'f', 'g'");
  assert_int_equal(gqInvoke(executable, "h", NULL, 0, NULL, 0),
                   GQ_INVALID_ARGUMENT);
  gqExecutableDestroy(executable);
}

static void testNoFunction(void **state) {
  (void)state;
  refuseCompilation("", "the module has no public function");
  refuseCompilation("func.func private @f() {\n  return\n}\n",
                    "the module has no public function");
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static const char copy[] =
    "func.func @main(%a: tensor<?x4xf32>, %n: i32) -> tensor<?x4xf32> {\n"
    "  return %a : tensor<?x4xf32>\n"
    "}\n";

static float data[32];
static int32_t number;

/// Invokes @main with `tensor` as its first argument, which must be refused.
static void refuseArgument(gqExecutable *executable, DLTensor *tensor,
                           const char *message) {
  Tensor storage;
  DLTensor *inputs[] = {tensor, makeScalar(&storage, int32Type, &number)};
  DLManagedTensor *output = (DLManagedTensor *)&output;
  assert_int_equal(gqInvoke(executable, NULL, inputs, 2, &output, 1),
                   GQ_INVALID_ARGUMENT);
  assert_null(output);
  assert_string_equal(gqGetLastErrorMessage(), message);
}

static void testArgumentTypes(void **state) {
  (void)state;
  gqExecutable *executable = compile(copy);
  Tensor t;
  int64_t shape[] = {2, 4};
  refuseArgument(executable, NULL,
                 "argument 0: expected float32 [?, 4], found null");
  refuseArgument(executable, makeTensor(&t, int32Type, data, 2, shape),
                 "argument 0: expected float32 [?, 4], found int32 [2, 4]");
  refuseArgument(executable, makeTensor(&t, uint16Type, data, 2, shape),
                 "argument 0: expected float32 [?, 4], found uint16 [2, 4]");
  refuseArgument(
      executable, makeTensor(&t, packedFloat4Type, data, 2, shape),
      "argument 0: expected float32 [?, 4], found float4_e2m1fn_x2 [2, 4]");
  refuseArgument(executable,
                 makeTensor(&t, (DLDataType){kDLFloat, 32, 2}, data, 2, shape),
                 "argument 0: expected float32 [?, 4], found float32x2 [2, 4]");
  refuseArgument(executable, makeVector(&t, float32Type, data, 8),
                 "argument 0: expected float32 [?, 4], found float32 [8]");
  refuseArgument(executable,
                 makeTensor(&t, float32Type, data, 2, (int64_t[]){4, 2}),
                 "argument 0: expected float32 [?, 4], found float32 [4, 2]");
  gqExecutableDestroy(executable);
}

static void testArgumentMemory(void **state) {
  (void)state;
  gqExecutable *executable = compile(copy);
  Tensor t;
  int64_t shape[] = {2, 4}, strides[] = {8, 1};
  DLTensor *tensor = makeTensor(&t, float32Type, data, 2, shape);
  tensor->strides = strides;
  refuseArgument(executable, tensor,
                 "argument 0: expected row-major contiguous memory, found "
                 "shape [2, 4] with strides [8, 1]");
  // A single row does not use its stride.
  tensor->shape[0] = 1;
  assert_int_equal(gqTypeCheck(&(gqType){GQ_F32, 2, {-1, 4}}, tensor), GQ_OK);
  tensor = makeTensor(&t, float32Type, data, 2, shape);
  tensor->device.device_type = kDLCUDA;
  refuseArgument(executable, tensor,
                 "argument 0: expected a tensor on the CPU, found DLPack "
                 "device type 2");
  refuseArgument(executable, makeTensor(&t, float32Type, NULL, 2, shape),
                 "argument 0: expected data, found null");
  tensor = makeTensor(&t, float32Type, data, 2, shape);
  tensor->byte_offset = 2;
  Tensor storage;
  DLTensor *inputs[] = {tensor, makeScalar(&storage, int32Type, &number)};
  DLManagedTensor *output;
  assert_int_equal(gqInvoke(executable, NULL, inputs, 2, &output, 1),
                   GQ_INVALID_ARGUMENT);
  assertMessage("argument 0: expected data aligned to 4 bytes");
  gqExecutableDestroy(executable);
}

/// The message names the argument that is wrong, not the first.
static void testSecondArgument(void **state) {
  (void)state;
  gqExecutable *executable = compile(copy);
  Tensor storage[2];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, data, 2, (int64_t[]){2, 4}),
      makeVector(&storage[1], float32Type, data, 5)};
  DLManagedTensor *output;
  assert_int_equal(gqInvoke(executable, NULL, inputs, 2, &output, 1),
                   GQ_INVALID_ARGUMENT);
  assert_string_equal(gqGetLastErrorMessage(),
                      "argument 1: expected int32 [], found float32 [5]");
  gqExecutableDestroy(executable);
}

static void testCounts(void **state) {
  (void)state;
  gqExecutable *executable = compile(copy);
  Tensor storage[2];
  DLTensor *inputs[] = {
      makeTensor(&storage[0], float32Type, data, 2, (int64_t[]){2, 4}),
      makeScalar(&storage[1], int32Type, &number)};
  DLManagedTensor *outputs[2] = {(DLManagedTensor *)inputs, NULL};
  assert_int_equal(gqInvoke(executable, NULL, inputs, 1, outputs, 1),
                   GQ_INVALID_ARGUMENT);
  assert_null(outputs[0]);
  assert_string_equal(gqGetLastErrorMessage(),
                      "function 'main' takes 2 arguments, found 1");
  assert_int_equal(gqInvoke(executable, NULL, inputs, 2, outputs, 2),
                   GQ_INVALID_ARGUMENT);
  assert_string_equal(gqGetLastErrorMessage(),
                      "function 'main' has 1 results, found room for 2");
  gqExecutableDestroy(executable);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testParseError),
      cmocka_unit_test(testBytecode),
      cmocka_unit_test(testNesting),
      cmocka_unit_test(testAliases),
      cmocka_unit_test(testUnpassableTypes),
      cmocka_unit_test(testDiagnostics),
      cmocka_unit_test(testUnsupportedTypes),
      cmocka_unit_test(testMissingSymbol),
      cmocka_unit_test(testNoLowering),
      cmocka_unit_test(testNestedModule),
      cmocka_unit_test(testReservedNames),
      cmocka_unit_test(testBackendError),
      cmocka_unit_test(testUnknownTarget),
      cmocka_unit_test(testUnknownFunction),
      cmocka_unit_test(testNoFunction),
      cmocka_unit_test(testArgumentTypes),
      cmocka_unit_test(testArgumentMemory),
      cmocka_unit_test(testSecondArgument),
      cmocka_unit_test(testCounts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
