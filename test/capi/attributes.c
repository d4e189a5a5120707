//===- attributes.c - attributes and descriptions through C ------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq-c/Dialect.h"
#include "gq-c/Passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int setUp(void **state) {
  MlirContext context = mlirContextCreate();
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__gq__(), context);
  *state = context.ptr;
  return 0;
}

static int tearDown(void **state) {
  mlirContextDestroy((MlirContext){*state});
  return 0;
}

static void reportError(MlirStringRef text, void *reported) {
  *(bool *)reported |= text.length > 0;
}

static MlirAttribute parse(MlirContext context, const char *text) {
  return mlirAttributeParseGet(context, mlirStringRefCreateFromCString(text));
}

static void attributesMatchTheirText(void **state) {
  MlirContext context = {*state};
  assert_true(mlirAttributeEqual(gqFormatAttrGet(context, GQ_FORMAT_NVFP4),
                                 parse(context, "#gq<format(nvfp4)>")));
  assert_int_equal(
      gqFormatAttrGetValue(parse(context, "#gq<format(fp8_e5m2_128x128)>")),
      GQ_FORMAT_FP8_E5M2_128X128);
  assert_true(mlirAttributeEqual(gqRecipeAttrGet(context, GQ_RECIPE_TE),
                                 parse(context, "#gq<recipe(te)>")));
  assert_int_equal(gqRecipeAttrGetValue(parse(context, "#gq<recipe(nvfuser)>")),
                   GQ_RECIPE_NVFUSER);
  assert_int_equal(
      gqScaleLayoutAttrGetValue(parse(context, "#gq<scale_layout(tile128x4)>")),
      GQ_SCALE_LAYOUT_TILE128X4);
  assert_int_equal(gqScaleLayoutAttrGetValue(
                       gqScaleLayoutAttrGet(context, GQ_SCALE_LAYOUT_LINEAR)),
                   GQ_SCALE_LAYOUT_LINEAR);
  assert_int_equal(gqMajorAttrGetValue(parse(context, "#gq<major(n)>")),
                   GQ_MAJOR_N);
  assert_true(mlirAttributeEqual(gqMajorAttrGet(context, GQ_MAJOR_K),
                                 parse(context, "#gq<major(k)>")));
  assert_int_equal(gqRowsAttrGetValue(parse(context, "#gq<rows(grouped)>")),
                   GQ_ROWS_GROUPED);
  assert_true(mlirAttributeEqual(gqRowsAttrGet(context, GQ_ROWS_ALL),
                                 parse(context, "#gq<rows(all)>")));
  gqDirectionTraits traits = {.blockRows = 16, .blockColumns = 1};
  MlirAttribute direction = gqDirectionAttrGet(context, &traits);
  assert_true(mlirAttributeEqual(
      direction, parse(context, "#gq.direction<rounding = nearest, transform = "
                                "none, block = 16x1>")));
  gqDirectionTraits read = gqDirectionAttrGetTraits(direction);
  assert_int_equal(read.blockRows, 16);
  assert_int_equal(read.blockColumns, 1);
  gqDirectionTraits all = {.rounding = GQ_ROUNDING_STOCHASTIC,
                           .transform = GQ_TRANSFORM_HADAMARD16,
                           .signs = 0xD7E8,
                           .outer = GQ_OUTER_OF_COLUMN,
                           .fourOverSix = GQ_FOUR_OVER_SIX_MSE,
                           .scaleMax = 256,
                           .blockRows = 16,
                           .blockColumns = 16};
  direction = gqDirectionAttrGet(context, &all);
  assert_true(mlirAttributeEqual(
      direction,
      parse(context,
            "#gq.direction<rounding = stochastic, transform = hadamard16, "
            "signs = 0xD7E8, block = 16x16, outer = column, four_over_six = "
            "mse, scale_max = 256>")));
  read = gqDirectionAttrGetTraits(direction);
  assert_int_equal(gqDirectionPack(&read), gqDirectionPack(&all));
  all = gqDirectionUnpack(gqDirectionPack(&read));
  assert_memory_equal(&all, &read, sizeof(all));
  read = gqDirectionAttrGetTraits(parse(context, "#gq.direction<>"));
  assert_int_equal(read.rounding, GQ_ROUNDING_NEAREST);
  assert_int_equal(read.transform, GQ_TRANSFORM_NONE);
  assert_int_equal(read.blockRows, 0);
  assert_true(gqAttributeIsADirection(direction));
  assert_false(gqAttributeIsADirection(mlirUnitAttrGet(context)));
  assert_true(mlirAttributeEqual(gqTile128x4AttrGet(context),
                                 parse(context, "#gq.tile128x4")));
  assert_true(gqAttributeIsATile128x4(gqTile128x4AttrGet(context)));
  assert_false(gqAttributeIsATile128x4(mlirUnitAttrGet(context)));
  assert_false(gqAttributeIsATile128x4(mlirAttributeGetNull()));
}

static void enumerationsListTheirKeywords(void **state) {
  (void)state;
  assert_string_equal(gqEnumGetKeyword("format", 0), "nvfp4");
  assert_string_equal(gqEnumGetKeyword("recipe", 0), "nvfuser");
  assert_string_equal(gqEnumGetKeyword("recipe", 1), "te");
  assert_null(gqEnumGetKeyword("recipe", 2));
  assert_null(gqEnumGetKeyword("recipe", -1));
  assert_string_equal(gqEnumGetKeyword("mm_kernel", 7), "tiles256");
  assert_string_equal(gqEnumGetKeyword("four_over_six", 2), "mse");
  assert_string_equal(gqEnumGetKeyword("rounding", 1), "stochastic");
  assert_string_equal(gqEnumGetKeyword("transform", 1), "hadamard16");
  assert_null(gqEnumGetKeyword("colour", 0));
}

/// A memref block argument of `shape`.
static MlirValue argument(MlirBlock block, MlirType element, intptr_t rank,
                          const int64_t *shape) {
  MlirType type =
      mlirMemRefTypeContiguousGet(element, rank, shape, mlirAttributeGetNull());
  return mlirBlockAddArgument(block, type,
                              mlirLocationUnknownGet(mlirTypeGetContext(type)));
}

/// Get returns what Create was given, with and without the optional operand.
static void descriptionsRoundTrip(void **state) {
  MlirContext context = {*state};
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirType i8 = mlirIntegerTypeGet(context, 8);
  MlirType i32 = mlirIntegerTypeGet(context, 32);
  MlirType f32 = mlirF32TypeGet(context);
  MlirType e4m3 = mlirFloat8E4M3FNTypeGet(context);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  gqGroupedMm desc = {
      .format = GQ_FORMAT_NVFP4,
      .bFormat = GQ_FORMAT_NVFP4,
      .scaleLayout = GQ_SCALE_LAYOUT_TILE128X4,
      .a = argument(block, i8, 2, (int64_t[]){8, 32}),
      .b = argument(block, i8, 3, (int64_t[]){2, 16, 32}),
      .aScales = argument(block, e4m3, 2, (int64_t[]){256, 4}),
      .bScales = argument(block, e4m3, 3, (int64_t[]){2, 128, 4}),
      .offsets = argument(block, i32, 1, (int64_t[]){3}),
      .scaleOffsets = argument(block, i32, 1, (int64_t[]){2}),
      .out = argument(block, f32, 2, (int64_t[]){8, 16}),
  };
  for (int withAlpha = 0; withAlpha < 2; ++withAlpha) {
    if (withAlpha)
      desc.alpha = argument(block, f32, 1, (int64_t[]){2});
    MlirOperation op = gqGroupedMmCreate(location, &desc);
    assert_true(mlirOperationVerify(op));
    assert_true(gqOperationIsAGroupedMm(op));
    assert_false(gqOperationIsABlockQuantize(op));
    assert_int_equal(mlirOperationGetNumResults(op), 0);
    gqGroupedMm read = gqGroupedMmGet(op);
    assert_int_equal(read.format, desc.format);
    assert_int_equal(read.bFormat, desc.bFormat);
    assert_int_equal(read.scaleLayout, desc.scaleLayout);
    assert_true(mlirAttributeIsNull(mlirOperationGetAttributeByName(
        op, mlirStringRefCreateFromCString("b_format"))));
    assert_true(mlirValueEqual(read.bScales, desc.bScales));
    assert_true(mlirValueEqual(read.scaleOffsets, desc.scaleOffsets));
    assert_ptr_equal(read.alpha.ptr, desc.alpha.ptr);
    assert_true(mlirValueEqual(read.out, desc.out));
    mlirOperationDestroy(op);
  }

  // No formats, and different formats of a and b.
  MlirType e5m2 = mlirFloat8E5M2TypeGet(context);
  gqGroupedMm plain = {
      .format = GQ_FORMAT_NONE,
      .bFormat = GQ_FORMAT_NONE,
      .scaleLayout = GQ_SCALE_LAYOUT_TILE128X4,
      .a = argument(block, e4m3, 2, (int64_t[]){8, 256}),
      .b = argument(block, e5m2, 3, (int64_t[]){2, 16, 256}),
      .offsets = desc.offsets,
      .bias = argument(block, f32, 2, (int64_t[]){2, 16}),
      .out = desc.out,
  };
  for (int withFormat = 0; withFormat < 2; ++withFormat) {
    if (withFormat) {
      plain.format = GQ_FORMAT_FP8_E4M3_1X128;
      plain.bFormat = GQ_FORMAT_FP8_E5M2_128X128;
      plain.scaleLayout = GQ_SCALE_LAYOUT_LINEAR;
      plain.aScales = argument(block, f32, 2, (int64_t[]){8, 2});
      plain.bScales = argument(block, f32, 3, (int64_t[]){2, 1, 2});
    }
    MlirOperation mm = gqGroupedMmCreate(location, &plain);
    assert_true(mlirOperationVerify(mm));
    gqGroupedMm read = gqGroupedMmGet(mm);
    assert_int_equal(read.format, plain.format);
    assert_int_equal(read.bFormat, plain.bFormat);
    assert_ptr_equal(read.aScales.ptr, plain.aScales.ptr);
    assert_true(mlirValueIsNull(read.scaleOffsets));
    assert_true(mlirValueEqual(read.bias, plain.bias));
    mlirOperationDestroy(mm);
  }

  gqGroupedWgrad wgrad = {
      .format = GQ_FORMAT_MXFP8_E5M2,
      .bFormat = GQ_FORMAT_MXFP8_E4M3,
      .scaleLayout = GQ_SCALE_LAYOUT_TILE128X4,
      .a = argument(block, e5m2, 2, (int64_t[]){8, 32}),
      .b = argument(block, e4m3, 2, (int64_t[]){8, 64}),
      .aScales = argument(block, mlirFloat8E8M0FNUTypeGet(context), 1,
                          (int64_t[]){1024}),
      .bScales = argument(block, mlirFloat8E8M0FNUTypeGet(context), 1,
                          (int64_t[]){1024}),
      .offsets = desc.offsets,
      .out = argument(block, f32, 3, (int64_t[]){2, 32, 64}),
  };
  MlirOperation gradient = gqGroupedWgradCreate(location, &wgrad);
  assert_true(mlirOperationVerify(gradient));
  assert_true(gqOperationIsAGroupedWgrad(gradient));
  gqGroupedWgrad readGradient = gqGroupedWgradGet(gradient);
  assert_int_equal(readGradient.bFormat, wgrad.bFormat);
  assert_true(mlirValueEqual(readGradient.bScales, wgrad.bScales));
  assert_true(mlirValueIsNull(readGradient.alpha));
  assert_true(mlirValueEqual(readGradient.out, wgrad.out));
  mlirOperationDestroy(gradient);

  gqGroupedDequantize dequantize = {
      .format = GQ_FORMAT_NVFP4,
      .recipe = GQ_RECIPE_TE,
      .scaleLayout = GQ_SCALE_LAYOUT_TILE128X4,
      .axis = GQ_AXIS_COLUMNWISE,
      .scaleMax = 256,
      .data = argument(block, mlirFloat4E2M1FNTypeGet(context), 1,
                       (int64_t[]){1024}),
      .scales = argument(block, e4m3, 1, (int64_t[]){1024}),
      .offsets = desc.offsets,
      .outerAmax = argument(block, f32, 0, NULL),
      .out = argument(block, f32, 2, (int64_t[]){8, 64}),
  };
  MlirOperation numbers = gqGroupedDequantizeCreate(location, &dequantize);
  assert_true(mlirOperationVerify(numbers));
  assert_true(gqOperationIsAGroupedDequantize(numbers));
  gqGroupedDequantize readNumbers = gqGroupedDequantizeGet(numbers);
  assert_int_equal(readNumbers.recipe, GQ_RECIPE_TE);
  assert_int_equal(readNumbers.axis, GQ_AXIS_COLUMNWISE);
  assert_int_equal(readNumbers.scaleMax, 256);
  assert_true(mlirValueEqual(readNumbers.outerAmax, dequantize.outerAmax));
  assert_true(mlirValueIsNull(readNumbers.scaleInv));
  assert_true(mlirValueEqual(readNumbers.out, dequantize.out));
  mlirOperationDestroy(numbers);

  gqBlockDequantize linear = {
      .format = GQ_FORMAT_FP8_E4M3_1X128,
      .scaleLayout = GQ_SCALE_LAYOUT_LINEAR,
      .data = argument(block, e4m3, 2, (int64_t[]){8, 256}),
      .scales = argument(block, f32, 2, (int64_t[]){8, 2}),
      .out = argument(block, f32, 2, (int64_t[]){8, 256}),
  };
  numbers = gqBlockDequantizeCreate(location, &linear);
  assert_true(mlirOperationVerify(numbers));
  assert_true(gqOperationIsABlockDequantize(numbers));
  assert_true(
      mlirValueEqual(gqBlockDequantizeGet(numbers).scales, linear.scales));
  mlirOperationDestroy(numbers);

  gqGroupedBlockQuantize quantize = {
      .format = GQ_FORMAT_NVFP4,
      .scaleLayout = GQ_SCALE_LAYOUT_TILE128X4,
      .rows = GQ_ROWS_GROUPED,
      .numInputs = 1,
      .inputs = {argument(block, f32, 2, (int64_t[]){8, 64})},
      .offsets = desc.offsets,
      .scaleOffsets = desc.scaleOffsets,
      .globalScale = argument(block, f32, 0, NULL),
      .rowwise = {.data = desc.a, .scales = desc.aScales},
  };
  MlirOperation op = gqGroupedBlockQuantizeCreate(location, &quantize);
  assert_true(mlirOperationVerify(op));
  gqGroupedBlockQuantize read = gqGroupedBlockQuantizeGet(op);
  assert_int_equal(read.rows, GQ_ROWS_GROUPED);
  assert_true(mlirValueEqual(read.globalScale, quantize.globalScale));
  assert_true(mlirValueEqual(read.rowwise.data, quantize.rowwise.data));
  mlirOperationDestroy(op);
  assert_true(mlirValueIsNull(read.rowIndices));

  // With row indices and without a global scale.
  quantize.inputs[0] = argument(block, f32, 2, (int64_t[]){5, 64});
  quantize.rowIndices =
      argument(block, mlirIntegerTypeGet(context, 64), 1, (int64_t[]){8});
  quantize.globalScale = (MlirValue){NULL};
  op = gqGroupedBlockQuantizeCreate(location, &quantize);
  assert_true(mlirOperationVerify(op));
  read = gqGroupedBlockQuantizeGet(op);
  assert_true(mlirValueEqual(read.rowIndices, quantize.rowIndices));
  assert_true(mlirValueEqual(read.offsets, quantize.offsets));
  assert_true(mlirValueIsNull(read.globalScale));
  mlirOperationDestroy(op);

  // Everything that groups of rows can have.
  quantize.recipe = GQ_RECIPE_TE;
  quantize.scaleOffsets = (MlirValue){NULL};
  quantize.rowwise.outerAmax = argument(block, f32, 0, NULL);
  gqDirectionTraits traits = {.transform = GQ_TRANSFORM_HADAMARD16,
                              .signs = 0xD7E8};
  quantize.columnwise.attribute = gqDirectionAttrGet(context, &traits);
  quantize.columnwise.outerAmax = argument(block, f32, 1, (int64_t[]){2});
  quantize.columnwise.data = argument(block, i8, 1, (int64_t[]){2048});
  quantize.columnwise.scales = argument(block, e4m3, 1, (int64_t[]){1024});
  quantize.amax = argument(block, f32, 1, (int64_t[]){2});
  quantize.dbias = argument(block, f32, 2, (int64_t[]){2, 64});
  quantize.scaleOffsetsOut = argument(block, i32, 1, (int64_t[]){2});
  op = gqGroupedBlockQuantizeCreate(location, &quantize);
  assert_true(mlirOperationVerify(op));
  read = gqGroupedBlockQuantizeGet(op);
  assert_int_equal(read.recipe, GQ_RECIPE_TE);
  assert_true(mlirValueIsNull(read.scaleOffsets));
  assert_true(
      mlirValueEqual(read.rowwise.outerAmax, quantize.rowwise.outerAmax));
  assert_true(
      mlirValueEqual(read.columnwise.outerAmax, quantize.columnwise.outerAmax));
  assert_true(mlirAttributeIsNull(read.rowwise.attribute));
  assert_true(mlirAttributeEqual(read.columnwise.attribute,
                                 quantize.columnwise.attribute));
  assert_true(mlirValueEqual(read.columnwise.data, quantize.columnwise.data));
  assert_true(
      mlirValueEqual(read.columnwise.scales, quantize.columnwise.scales));
  assert_true(mlirValueEqual(read.amax, quantize.amax));
  assert_true(mlirValueEqual(read.dbias, quantize.dbias));
  assert_true(mlirValueEqual(read.scaleOffsetsOut, quantize.scaleOffsetsOut));
  mlirOperationDestroy(op);

  // Ragged groups.
  gqGroupedBlockQuantize ragged = {
      .format = GQ_FORMAT_MXFP8_E4M3,
      .scaleLayout = GQ_SCALE_LAYOUT_LINEAR,
      .numInputs = 1,
      .inputs = {argument(block, f32, 1, (int64_t[]){512})},
      .offsets = desc.offsets,
      .firstDims = argument(block, i32, 1, (int64_t[]){2}),
      .lastDims = argument(block, i32, 1, (int64_t[]){2}),
      .columnwise = {.data = argument(block, e4m3, 1, (int64_t[]){512}),
                     .scales =
                         argument(block, mlirFloat8E8M0FNUTypeGet(context), 1,
                                  (int64_t[]){16})},
  };
  op = gqGroupedBlockQuantizeCreate(location, &ragged);
  assert_true(mlirOperationVerify(op));
  read = gqGroupedBlockQuantizeGet(op);
  assert_int_equal(read.format, GQ_FORMAT_MXFP8_E4M3);
  assert_true(mlirValueEqual(read.firstDims, ragged.firstDims));
  assert_true(mlirValueEqual(read.lastDims, ragged.lastDims));
  assert_true(mlirValueIsNull(read.rowwise.data));
  assert_true(mlirValueEqual(read.columnwise.data, ragged.columnwise.data));
  mlirOperationDestroy(op);
  mlirBlockDestroy(block);
}

/// A tool that has not registered the upstream passes, as a plugin's may not
/// have: an error, which does not end the process.
static void pipelinesNeedUpstreamPasses(void **state) {
  MlirContext context = {*state};
  gqRegisterPasses();
  static const char *const pipelines[] = {"gq-to-cpu", "gq-to-nvvm"};
  for (size_t i = 0; i < 2; ++i) {
    MlirPassManager manager = mlirPassManagerCreate(context);
    bool reported = false;
    assert_true(mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(
        mlirPassManagerGetAsOpPassManager(manager),
        mlirStringRefCreateFromCString(pipelines[i]), reportError, &reported)));
    assert_true(reported);
    mlirPassManagerDestroy(manager);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(attributesMatchTheirText, setUp,
                                      tearDown),
      cmocka_unit_test(enumerationsListTheirKeywords),
      cmocka_unit_test_setup_teardown(descriptionsRoundTrip, setUp, tearDown),
      cmocka_unit_test_setup_teardown(pipelinesNeedUpstreamPasses, setUp,
                                      tearDown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
