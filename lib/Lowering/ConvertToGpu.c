//===- ConvertToGpu.c - convert-gq-to-gpu ------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op becomes kernels (GpuKernel.h) of the device functions in
// runtime_kernels/kernels/, one or several, whose launches are in Kernels/:
// here is which an op gets. Quantization goes through rows where it can; where
// columns, column sums or groups of their own shapes ask for more, through
// tiles.
//
//===----------------------------------------------------------------------===//

#include "FuseQuantization.h"
#include "Fusion.h"
#include "GpuOperands.h"
#include "Kernels/Launches.h"
#include "Passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

/// Declares the functions of gq/Runtime/Cuda.h that the launches call. False,
/// after an error, if the module has others of their names.
static bool declareHostFunctions(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType pointer = mlirLLVMPointerTypeGet(context, 0);
  const struct {
    const char *name;
    intptr_t numOperands;
    const MlirType *operands;
    const MlirType *result;
  } functions[] = {
      {"gqGetStream", 0, NULL, &pointer},
      {"gqStreamStatusWord", 1, &pointer, &pointer},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i)
    if (!gqDeclareFunction(
            module, functions[i].name,
            mlirFunctionTypeGet(context, functions[i].numOperands,
                                functions[i].operands, 1, functions[i].result)))
      return false;
  return gqGpuDeclarePlan(module);
}

/// Whether a kernel of rows computes all of it.
static bool hasOnlyRows(const gqGroupedBlockQuantize *desc) {
  int32_t parts = gqPartsOf(desc) & ~(GQ_DEV_UNUSUAL | GQ_DEV_MADE);
  gqDirectionTraits rowwise = gqDirectionGetTraits(&desc->rowwise);
  return gqFormatHasBlockScales(desc->format) &&
         gqFormatGetTraits(desc->format).blockRows == 1 &&
         !gqDirectionHasSquares(&rowwise) &&
         !gqDirectionHasFourOverSix(&rowwise) &&
         (parts == GQ_DEV_ROWWISE ||
          parts == (GQ_DEV_ROWWISE | GQ_DEV_SCALE_OFFSETS) ||
          (parts == (GQ_DEV_ROWWISE | GQ_DEV_SCALE_OFFSETS_OUT) &&
           desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4));
}

/// gq.block_quantize as an op on one group of all rows.
static gqGroupedBlockQuantize groupOfAllRows(const gqBlockQuantize *desc) {
  return (gqGroupedBlockQuantize){
      .format = desc->format,
      .recipe = GQ_RECIPE_NVFUSER,
      .scaleLayout = desc->scaleLayout,
      .rows = GQ_ROWS_GROUPED,
      .numInputs = 1,
      .inputs = {desc->input},
      .globalScale = desc->globalScale,
      .rowwise = {.data = desc->data, .scales = desc->scales}};
}

/// gq.block_dequantize as an op on one group of all rows, without offsets.
static gqGroupedDequantize allRowsOf(const gqBlockDequantize *desc) {
  return (gqGroupedDequantize){
      .format = desc->format,
      .recipe = GQ_RECIPE_NVFUSER,
      .scaleLayout = desc->scaleLayout,
      .axis = GQ_AXIS_ROWWISE,
      .data = desc->data,
      .scales = desc->scales,
      .globalScale = desc->globalScale,
      .out = desc->out,
  };
}

static bool launchOp(const gqLauncher *launcher, MlirOperation op) {
  if (gqOperationIsABlockQuantize(op)) {
    gqBlockQuantize desc = gqBlockQuantizeGet(op);
    if (gqFormatGetTraits(desc.format).blockRows == 1)
      return gqLaunchBlockQuantize(launcher, &desc);
    gqGroupedBlockQuantize group = groupOfAllRows(&desc);
    return gqLaunchQuantizeTiles(launcher, &group, gqBuildStatusWord(launcher));
  }
  gqGpuAddress statusWord = gqBuildStatusWord(launcher);
  if (gqOperationIsAPreprocessGroupedMatmulSf(op)) {
    gqPreprocessGroupedMatmulSf desc = gqPreprocessGroupedMatmulSfGet(op);
    return gqLaunchSwizzleScales(launcher, &desc, statusWord);
  }
  if (gqOperationIsAGroupedMm(op))
    return gqLaunchGroupedMm(launcher, op, (MlirOperation){NULL}, statusWord);
  if (gqOperationIsAUpdateScales(op)) {
    gqUpdateScales desc = gqUpdateScalesGet(op);
    return gqLaunchUpdateScales(launcher, &desc);
  }
  if (gqOperationIsAGroupOffsets(op)) {
    gqGroupOffsets desc = gqGroupOffsetsGet(op);
    return gqLaunchGroupOffsets(launcher, &desc, statusWord);
  }
  if (gqOperationIsAGroupedAmax(op)) {
    gqGroupedAmax desc = gqGroupedAmaxGet(op);
    return gqLaunchGroupedAmax(launcher, &desc, statusWord);
  }
  if (gqOperationIsAGroupedWgrad(op))
    return gqLaunchGroupedWgrad(launcher, op, statusWord);
  if (gqOperationIsABlockDequantize(op)) {
    gqBlockDequantize desc = gqBlockDequantizeGet(op);
    gqGroupedDequantize rows = allRowsOf(&desc);
    return gqLaunchDequantize(launcher, &rows, gqEpilogueOf(op), statusWord);
  }
  if (gqOperationIsAGroupedDequantize(op)) {
    gqGroupedDequantize desc = gqGroupedDequantizeGet(op);
    return gqLaunchDequantize(launcher, &desc, gqEpilogueOf(op), statusWord);
  }
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  if ((gqHoldsNumbers(&desc.rowwise) || gqHoldsNumbers(&desc.columnwise)) &&
      !gqKernelMakesNumbers(&desc))
    return gqOpError(op, "has no GPU kernel that makes numbers instead of "
                         "codes but for 'data' with no other result, of rows "
                         "in blocks with one row, with no outer amax, one for "
                         "a group, or one for a row that is computed with "
                         "them; a quantization and gq.grouped_dequantize make "
                         "them");
  if (!mlirValueIsNull(desc.rowAmax))
    return gqLaunchQuantizeWholeRows(launcher, op, &desc, statusWord);
  return hasOnlyRows(&desc)
             ? gqLaunchQuantizeRows(launcher, &desc, statusWord)
             : gqLaunchQuantizeTiles(launcher, &desc, statusWord);
}

/// Whether an op can be converted; else there was an error.
static bool isConvertible(MlirOperation module, MlirOperation op) {
  return gqCheckLowerable(op) &&
         (!mlirOperationIsNull(gqEnclosingFunction(op, module)) ||
          gqOpError(op, "needs to be in a func.func of the module itself to "
                        "be lowered to kernels"));
}

static bool convert(MlirOperation module, MlirOperation op, int32_t *number,
                    const char *chip) {
  if (!isConvertible(module, op))
    return false;
  gqLauncher launcher = gqLauncherAt(module, op, number, chip);
  if (!gqBuildOperandChecks(&launcher.builder, module, op) ||
      !launchOp(&launcher, op))
    return false;
  mlirOperationDestroy(op);
  return true;
}

/// Converts a gq.grouped_mm whose kernels do what the op behind does.
static bool convertBoth(MlirOperation module, MlirOperation mm,
                        MlirOperation quantization, int32_t *number,
                        const char *chip) {
  if (!isConvertible(module, mm) || !isConvertible(module, quantization))
    return false;
  gqLauncher launcher = gqLauncherAt(module, quantization, number, chip);
  if (!gqBuildRequantizationChecks(&launcher.builder, module, mm,
                                   quantization) ||
      !gqLaunchGroupedMm(&launcher, mm, quantization,
                         gqBuildStatusWord(&launcher)))
    return false;
  gqDestroyRequantization(mm, quantization);
  return true;
}

MlirLogicalResult gqConvertToGpu(MlirOperation module, const char *chip,
                                 bool fuseQuantization) {
  gqRequantizations fused = {0};
  if (fuseQuantization)
    fused = gqFindRequantizations(module);
  gqOpList ops = gqCollect(module, gqIsComputeOp);
  bool valid = ops.size == 0 || declareHostFunctions(module);
  int32_t number = 0;
  if (valid)
    for (intptr_t i = 0; i < ops.size; ++i) {
      MlirOperation behind = gqRequantizationBehind(&fused, ops.ops[i]);
      if (!mlirOperationIsNull(behind))
        valid &= convertBoth(module, ops.ops[i], behind, &number, chip);
      else if (gqOpListFind(&fused.quantizations, ops.ops[i]) < 0)
        valid &= convert(module, ops.ops[i], &number, chip);
    }
  if (ops.size)
    mlirOperationSetAttributeByName(
        module, mlirStringRefCreateFromCString("gpu.container_module"),
        mlirUnitAttrGet(mlirOperationGetContext(module)));
  gqOpListFree(&ops);
  gqRequantizationsFree(&fused);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
