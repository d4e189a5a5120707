//===- Fusion.c - what the fusions share --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"

#include "../IR/Checks.h"
#include "Build.h"
#include "ChooseKernels.h"
#include "Query.h"

#include "runtime_kernels/kernels/Launch.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

bool gqIsProducerInput(MlirType type) {
  return mlirTypeIsARankedTensor(type) &&
         mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) &&
         gqIsFloat(mlirShapedTypeGetElementType(type));
}

bool gqOffsetsHaveEnd(const gqGroupedBlockQuantize *desc) {
  int64_t groups = gqDim(desc->scaleOffsets, 0);
  return mlirValueIsNull(desc->scaleOffsets) ||
         (groups != GQ_DYNAMIC && gqDim(desc->offsets, 0) == groups + 1);
}

bool gqFitsWholeRows(const gqGroupedBlockQuantize *desc) {
  int64_t extents[2];
  gqGroupedBlockQuantizeExtents(desc, extents);
  return extents[1] != GQ_DYNAMIC && gq_dev_whole_rows_fit(extents[1]);
}

bool gqKernelMakesNumbers(const gqGroupedBlockQuantize *desc) {
  const MlirValue others[] = {desc->columnwise.data, desc->firstDims,
                              desc->amax, desc->dbias, desc->scaleInv};
  gqDirectionTraits rowwise = gqDirectionGetTraits(&desc->rowwise);
  bool alone = true;
  for (size_t i = 0; i < sizeof(others) / sizeof(*others); ++i)
    alone &= mlirValueIsNull(others[i]);
  // With an outer amax a row, it has to compute that.
  return alone && gqFormatHasBlockScales(desc->format) &&
         gqFormatGetTraits(desc->format).blockRows == 1 &&
         gqDirectionIsUsual(&rowwise) &&
         (mlirValueIsNull(desc->rowAmax) ? rowwise.outer == GQ_OUTER_OF_GROUP
                                         : gqFitsWholeRows(desc));
}

MlirLocation gqFusedLocation(MlirOperation a, MlirOperation b) {
  MlirLocation locations[] = {mlirOperationGetLocation(a),
                              mlirOperationGetLocation(b)};
  return mlirLocationFusedGet(mlirOperationGetContext(a), 2, locations,
                              (MlirAttribute){NULL});
}

void gqReplaceResults(MlirOperation op, MlirOperation fused) {
  const gqOpInfo *info = gqOpInfoOf(op);
  for (intptr_t i = 0; i < info->numOperands; ++i) {
    if (info->operands[i].role == GQ_IN)
      continue;
    MlirValue result = gqResultAt(op, i);
    if (!mlirValueIsNull(result))
      mlirValueReplaceAllUsesOfWith(result, gqResultAt(fused, i));
  }
}

MlirOperation
gqReplaceGroupedBlockQuantize(MlirOperation op, MlirLocation location,
                              const gqGroupedBlockQuantize *desc) {
  MlirOperation replacement = gqGroupedBlockQuantizeRebuild(op, location, desc);
  gqBuilder builder = gqBuilderBefore(op);
  gqInsert(&builder, replacement);
  gqReplaceResults(op, replacement);
  mlirOperationDestroy(op);
  return replacement;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static bool isConstant(MlirValue value) {
  MlirOperation op = gqDefiningOp(value);
  return !mlirOperationIsNull(op) && gqIsNamed(op, "arith.constant");
}

const char *gqCheckScalar(MlirOperation op, MlirBlock body) {
  bool scalar = gqIsOfDialect(op, "arith.") || gqIsOfDialect(op, "math.") ||
                gqIsNamed(op, "linalg.yield");
  if (!scalar || mlirOperationGetNumRegions(op))
    return "an op that is not one of arith or math computes an element";
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (!gqIsDefinedIn(operand, body) && !isConstant(operand))
      return "an element is computed with a value from outside that is not "
             "constant";
  }
  return NULL;
}

const char *gqCheckScalars(MlirBlock body) {
  const char *reason = NULL;
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !reason && !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    reason = gqCheckScalar(op, body);
  return reason;
}

void gqCloneConstants(MlirBlock body, MlirBlock to, gqValueMap *map) {
  for (MlirOperation op = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
      MlirValue operand = mlirOperationGetOperand(op, i);
      if (gqIsNamed(op, "tensor.extract") || gqIsDefinedIn(operand, body) ||
          gqValueMapHas(map, operand))
        continue;
      MlirOperation clone = mlirOperationClone(gqDefiningOp(operand));
      mlirBlockAppendOwnedOperation(to, clone);
      gqValueMapAdd(map, operand, mlirOperationGetResult(clone, 0));
    }
}

bool gqIsDequantization(MlirOperation op) {
  return gqOperationIsABlockDequantize(op) ||
         gqOperationIsAGroupedDequantize(op);
}

bool gqTakesEpilogues(MlirOperation op) {
  return gqIsDequantization(op) || gqOperationIsAGroupedMm(op);
}

const char *gqCheckKernelEpilogue(MlirOperation op) {
  if (!gqOperationIsAGroupedMm(op))
    return NULL;
  gqMmKernel kernel = gqMmGetKernel(op);
  bool f32 = gqEpilogueIsOfF32(gqEpilogueOf(op)), crowded = gqMmIsCrowded(op);
  if (f32 && kernel == GQ_MM_KERNEL_TILES256)
    return "of f32 in tiles256";
  if (!crowded)
    return NULL;
  if (f32 && kernel == GQ_MM_KERNEL_TILES128 &&
      mlirValueIsNull(gqGroupedMmGet(op).scaleOffsets))
    return "of f32 of 8-bit codes in tiles128";
  return kernel == GQ_MM_KERNEL_TILES128
             ? "of column scales or a bias in tiles128"
         : kernel == GQ_MM_KERNEL_TILES256
             ? "of column scales or a bias in tiles256"
             : NULL;
}

MlirOperation gqOpCreateWithOut(MlirOperation op, MlirLocation location,
                                MlirValue out, const gqOpExtras *extras) {
  const gqOpInfo *info = gqOpInfoOf(op);
  union {
    gqGroupedMm mm;
    gqBlockDequantize block;
    gqGroupedDequantize grouped;
  } desc = {0};
  gqOpRead(op, &desc, 0);
  *gqOperandMember(info, &desc, info->numOperands - 1) = out;
  return gqOpCreate(location, info, &desc, extras);
}

void gqAppendYield(MlirBlock body, MlirValue value, MlirLocation location) {
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString("gq.yield"), location);
  mlirOperationStateAddOperands(&state, 1, &value);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&state));
}
