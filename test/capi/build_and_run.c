//===- build_and_run.c - the C API of dialect and passes ---------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the unfused graph with the C API, runs the fusion, and prints the
// module before and after. The same file is the test of the installed package.
//
//===----------------------------------------------------------------------===//

#include "gq-c/Dialect.h"
#include "gq-c/Passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"

#include <stdio.h>

static MlirStringRef string(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void print(MlirStringRef text, void *userData) {
  fwrite(text.data, 1, text.length, userData);
}

static MlirType tensor(MlirType element, int64_t rows, int64_t columns,
                       MlirAttribute encoding) {
  int64_t shape[] = {rows, columns};
  return mlirRankedTensorTypeGet(columns ? 2 : 1, shape, element, encoding);
}

/// @quantize(x, offsets, scale_offsets, data, linear, tiled): quantizes x, then
/// lays out its scales.
static MlirModule buildGraph(MlirContext context) {
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirModule module = mlirModuleCreateEmpty(location);
  MlirAttribute none = mlirAttributeGetNull();
  MlirType i32 = mlirIntegerTypeGet(context, 32);
  MlirType f4 = mlirFloat4E2M1FNTypeGet(context);
  MlirType e4m3 = mlirFloat8E4M3FNTypeGet(context);
  int64_t dynamic = mlirShapedTypeGetDynamicSize();
  MlirType inputs[] = {
      tensor(mlirBF16TypeGet(context), dynamic, 256, none),
      tensor(i32, 9, 0, none),
      tensor(i32, 8, 0, none),
      tensor(f4, dynamic, 256, none),
      tensor(e4m3, dynamic, 16, none),
      tensor(e4m3, dynamic, 16, gqTile128x4AttrGet(context)),
  };
  MlirLocation locations[] = {location, location, location,
                              location, location, location};
  MlirBlock body = mlirBlockCreate(6, inputs, locations);

  gqBlockQuantize quantize = {
      .format = GQ_FORMAT_NVFP4,
      .scaleLayout = GQ_SCALE_LAYOUT_LINEAR,
      .input = mlirBlockGetArgument(body, 0),
      .data = mlirBlockGetArgument(body, 3),
      .scales = mlirBlockGetArgument(body, 4),
  };
  MlirOperation quantized = gqBlockQuantizeCreate(location, &quantize);
  mlirBlockAppendOwnedOperation(body, quantized);

  gqPreprocessGroupedMatmulSf preprocess = {
      .format = GQ_FORMAT_NVFP4,
      .scaleLayout = GQ_SCALE_LAYOUT_TILE128X4,
      .input = mlirOperationGetResult(quantized, 1),
      .offsets = mlirBlockGetArgument(body, 1),
      .scaleOffsets = mlirBlockGetArgument(body, 2),
      .scales = mlirBlockGetArgument(body, 5),
  };
  MlirOperation laidOut =
      gqPreprocessGroupedMatmulSfCreate(location, &preprocess);
  mlirBlockAppendOwnedOperation(body, laidOut);

  MlirValue results[] = {mlirOperationGetResult(quantized, 0),
                         mlirOperationGetResult(laidOut, 0)};
  MlirOperationState state =
      mlirOperationStateGet(string("func.return"), location);
  mlirOperationStateAddOperands(&state, 2, results);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&state));

  MlirType resultTypes[] = {inputs[3], inputs[5]};
  MlirNamedAttribute attributes[] = {
      mlirNamedAttributeGet(mlirIdentifierGet(context, string("sym_name")),
                            mlirStringAttrGet(context, string("quantize"))),
      mlirNamedAttributeGet(mlirIdentifierGet(context, string("function_type")),
                            mlirTypeAttrGet(mlirFunctionTypeGet(
                                context, 6, inputs, 2, resultTypes))),
  };
  state = mlirOperationStateGet(string("func.func"), location);
  mlirOperationStateAddAttributes(&state, 2, attributes);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module),
                                mlirOperationCreate(&state));
  return module;
}

static bool run(MlirContext context, MlirModule module, const char *pipeline) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirOpPassManager passes = mlirPassManagerGetAsOpPassManager(manager);
  bool success = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
                     passes, string(pipeline), print, stderr)) &&
                 mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(
                     manager, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(manager);
  return success;
}

int main(void) {
  mlirRegisterAllPasses();
  gqRegisterPasses();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__gq__(), registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextLoadAllAvailableDialects(context);

  MlirModule module = buildGraph(context);
  if (!mlirOperationVerify(mlirModuleGetOperation(module)))
    return 1;
  // CHECK: gq.block_quantize format(nvfp4)
  // CHECK: gq.preprocess_grouped_matmul_sf format(nvfp4)
  mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);

  if (!run(context, module, "gq-fuse-scale-layout"))
    return 1;
  // CHECK-NOT: gq.block_quantize
  // CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0 :
  // tensor<?x256xbf16>) CHECK-SAME: groups(%arg1, %arg2 : tensor<9xi32>,
  // tensor<8xi32>) CHECK-SAME: outs(%arg3, %arg5 :
  mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);

  if (!run(context, module, "gq-to-cpu"))
    return 1;
  // CHECK: llvm.call @gqCpuGroupedBlockQuantize
  mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);

  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
