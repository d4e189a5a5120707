//===- PackSubbyte.c - gq-pack-subbyte ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An f4 tensor is retyped in place: [.., K] f4 to [.., K/2] i8. That is right
// only for operations that do not look at the last extent or the element type,
// so there is a list of them; everything is checked before anything changes.
//
// Bufferization drops encodings, so this is the last place that can see whether
// scales in tiles stay what they are: there is a list for them too.
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "Build.h"
#include "Functions.h"
#include "Passes.h"
#include "Query.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

enum { MAX_RANK = 16 };

static bool isF4Tensor(MlirType type) {
  return mlirTypeIsARankedTensor(type) &&
         mlirTypeIsAFloat4E2M1FN(mlirShapedTypeGetElementType(type));
}

/// Whether `type` is f4 in a form that has no packed storage here: a scalar, a
/// vector, a memref, an unranked tensor, a tensor of rank 0 or above MAX_RANK.
static bool isUnpackableF4(MlirType type) {
  if (mlirTypeIsAFloat4E2M1FN(type))
    return true;
  if (!mlirTypeIsAShaped(type) ||
      !mlirTypeIsAFloat4E2M1FN(mlirShapedTypeGetElementType(type)))
    return false;
  return !isF4Tensor(type) || mlirShapedTypeGetRank(type) == 0 ||
         mlirShapedTypeGetRank(type) > MAX_RANK;
}

static bool hasOddExtent(MlirType type) {
  intptr_t last = mlirShapedTypeGetRank(type) - 1;
  return !mlirShapedTypeIsDynamicDim(type, last) &&
         mlirShapedTypeGetDimSize(type, last) % 2 != 0;
}

static MlirType packed(MlirType type) {
  if (!isF4Tensor(type))
    return type;
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t shape[MAX_RANK];
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  if (!mlirShapedTypeIsDynamicDim(type, rank - 1))
    shape[rank - 1] /= 2;
  return mlirRankedTensorTypeGet(
      rank, shape, mlirIntegerTypeGet(mlirTypeGetContext(type), 8),
      mlirRankedTensorTypeGetEncoding(type));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Calls `check` on the types of the operands, results and block arguments of
/// `op` and on those of its signature; stops at the first for which it is true.
static bool anyType(MlirOperation op, bool (*check)(MlirType)) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (check(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return true;
  if (gqMakesType(op, check))
    return true;
  gqSignature signature = gqSignatureOf(op);
  bool found = false;
  for (intptr_t i = 0; i < signature.numInputs + signature.numResults; ++i)
    found |= check(signature.types[i]);
  gqSignatureFree(&signature);
  return found;
}

static bool isLastDynamic(MlirType type) {
  return mlirShapedTypeIsDynamicDim(type, mlirShapedTypeGetRank(type) - 1);
}

static bool isDynamicF4(MlirType type) {
  return isF4Tensor(type) && isLastDynamic(type);
}

static bool isOddF4(MlirType type) {
  return isF4Tensor(type) && mlirShapedTypeGetRank(type) > 0 &&
         hasOddExtent(type);
}

/// Operations that mean the same on the packed tensor and whatever the encoding
/// is, or that `packOp` mends.
static bool isKnown(MlirOperation op) {
  static const char *const known[] = {
      "builtin.module",
      "func.func",
      "func.call",
      "func.return",
      "cf.br",
      "cf.cond_br",
      "cf.switch",
      "scf.if",
      "scf.for",
      "scf.forall",
      "scf.forall.in_parallel",
      "scf.index_switch",
      "scf.execute_region",
      "scf.while",
      "scf.condition",
      "scf.yield",
      "tensor.empty",
      "tensor.cast",
      "tensor.dim",
      "arith.select",
      NULL,
  };
  return gqIsOfDialect(op, "gq.") || gqIsOneOf(op, known);
}

static bool isReshape(MlirOperation op) {
  static const char *const reshapes[] = {"tensor.expand_shape",
                                         "tensor.collapse_shape", NULL};
  return gqIsOneOf(op, reshapes);
}

static bool isSlice(MlirOperation op) {
  static const char *const slices[] = {"tensor.extract_slice",
                                       "tensor.insert_slice",
                                       "tensor.parallel_insert_slice", NULL};
  return gqIsOneOf(op, slices);
}

/// The type of what a slice is of, or goes into.
static MlirType wholeOfSlice(MlirOperation op) {
  bool isExtract = gqIsNamed(op, "tensor.extract_slice");
  return mlirValueGetType(mlirOperationGetOperand(op, isExtract ? 0 : 1));
}

/// The constant value of an index, or -1.
static int64_t constantIndex(MlirValue value) {
  if (!mlirValueIsAOpResult(value))
    return -1;
  MlirOperation op = mlirOpResultGetOwner(value);
  return gqIsNamed(op, "arith.constant")
             ? mlirIntegerAttrGetValueInt(gqGetAttribute(op, "value"))
             : -1;
}

static bool isTiled(MlirType type) {
  return mlirTypeIsARankedTensor(type) &&
         gqAttributeIsATile128x4(mlirRankedTensorTypeGetEncoding(type));
}

static bool isUntiled(MlirType type) {
  return mlirTypeIsATensor(type) && !isTiled(type);
}

static int64_t arrayElement(MlirOperation op, const char *name, intptr_t i) {
  return mlirDenseI64ArrayGetElement(gqGetAttribute(op, name), i);
}

/// Whether `size` is known and a multiple of `unit`.
static bool isMultiple(int64_t size, int64_t unit) {
  return size != mlirShapedTypeGetDynamicSize() && size % unit == 0;
}

static bool isWholeTiles(int64_t size) { return isMultiple(size, 128); }

/// Whether a slice of an f4 tensor has whole bytes.
static bool slicesWholeBytes(MlirOperation op) {
  intptr_t last = mlirShapedTypeGetRank(wholeOfSlice(op)) - 1;
  return isMultiple(arrayElement(op, "static_offsets", last), 2) &&
         isMultiple(arrayElement(op, "static_sizes", last), 2) &&
         arrayElement(op, "static_strides", last) == 1;
}

/// Whether a slice of tiled scales of type `type`, [..., rows, columns], has
/// whole tiles in whole rows: then its bytes are those of its own layout.
static bool slicesWholeTiles(MlirOperation op, MlirType type) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (rank < 2 || mlirShapedTypeIsDynamicDim(type, rank - 1))
    return false;
  for (intptr_t i = 0; i < rank; ++i)
    if (arrayElement(op, "static_strides", i) != 1)
      return false;
  return isWholeTiles(arrayElement(op, "static_offsets", rank - 2)) &&
         isWholeTiles(arrayElement(op, "static_sizes", rank - 2)) &&
         arrayElement(op, "static_offsets", rank - 1) == 0 &&
         arrayElement(op, "static_sizes", rank - 1) ==
             mlirShapedTypeGetDimSize(type, rank - 1);
}

/// Whether the bytes of scales in tiles are in the order of either type of a
/// reshape: matrices of whole tiles, one after the other, whose rows are as
/// long. A flat type has them all in a row.
static bool reshapesWholeTiles(MlirOperation op) {
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirType to = mlirValueGetType(mlirOperationGetResult(op, 0));
  bool expands = gqIsNamed(op, "tensor.expand_shape");
  MlirType less = expands ? from : to, more = expands ? to : from;
  intptr_t rank = mlirShapedTypeGetRank(more);
  intptr_t lessRank = mlirShapedTypeGetRank(less);
  if (rank < 2 || mlirShapedTypeIsDynamicDim(more, rank - 1))
    return false;
  int64_t columns = mlirShapedTypeGetDimSize(more, rank - 1);
  bool sameColumns =
      lessRank < 2 || (!mlirShapedTypeIsDynamicDim(less, lessRank - 1) &&
                       mlirShapedTypeGetDimSize(less, lessRank - 1) == columns);
  return sameColumns && columns % 4 == 0 &&
         isWholeTiles(mlirShapedTypeGetDimSize(more, rank - 2));
}

/// What touches scales in tiles keeps the encoding and does not look at them by
/// row and column.
static bool checkTiled(MlirOperation op) {
  static const char *const filled[] = {"linalg.fill", "arith.constant", NULL};
  if ((gqIsOfDialect(op, "tensor.") || gqIsOneOf(op, filled)) &&
      anyType(op, isUntiled))
    return gqOpError(op, "changes the encoding #gq.tile128x4 of a tensor of "
                         "scales; their bytes would be read in the wrong "
                         "layout");
  if (isSlice(op))
    return slicesWholeTiles(op, wholeOfSlice(op)) ||
           gqOpError(
               op, "cuts tiles of #gq.tile128x4; a slice must have all columns "
                   "of rows whose first and whose number are static "
                   "multiples of 128, with unit strides");
  if (isReshape(op))
    return reshapesWholeTiles(op) ||
           gqOpError(op, "cuts tiles of #gq.tile128x4; a reshape must keep the "
                         "columns and split or join rows, a static multiple "
                         "of 128 each");
  return isKnown(op) || gqIsOneOf(op, filled) ||
         gqOpError(op, "uses a tensor with the encoding #gq.tile128x4 but may "
                       "not keep it; gq, func, cf and scf ops, tensor.empty, "
                       "tensor.cast, tensor.dim, linalg.fill, slices and "
                       "reshapes of whole tiles do");
}

static bool check(MlirOperation op) {
  if (anyType(op, isTiled) && !checkTiled(op))
    return false;
  if (anyType(op, isUnpackableF4))
    return gqOpError(op, "has f4E2M1FN outside of a ranked tensor; only "
                         "tensors can be packed (run gq-pack-subbyte before "
                         "bufferization and vectorization)");
  if (!anyType(op, isF4Tensor))
    return true;
  if (!isKnown(op) && !isReshape(op) && !isSlice(op))
    return gqOpError(op, "uses an f4E2M1FN tensor, which gq-pack-subbyte "
                         "cannot pack here; it packs those of gq, func, cf and "
                         "scf ops, arith.select, tensor.empty, tensor.cast, "
                         "tensor.dim, tensor.expand_shape and collapse_shape, "
                         "tensor.extract_slice, insert_slice and "
                         "parallel_insert_slice");
  if (anyType(op, isOddF4))
    return gqOpError(op, "has an f4E2M1FN tensor with an odd last extent; two "
                         "elements share a byte");
  if (isReshape(op) && anyType(op, isDynamicF4))
    return gqOpError(op, "needs static last extents to be packed");
  if (isSlice(op) && !slicesWholeBytes(op))
    return gqOpError(op, "needs a static even offset and size of the last "
                         "extent, with a unit stride, to be packed; two "
                         "elements share a byte");
  if (gqIsNamed(op, "tensor.dim") &&
      constantIndex(mlirOperationGetOperand(op, 1)) < 0)
    return gqOpError(op, "needs a constant index to be packed");
  return true;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// A dynamic last extent of an f4 tensor counts elements; of the packed one,
/// bytes.
static void halveLastSize(MlirOperation empty) {
  intptr_t last = mlirOperationGetNumOperands(empty) - 1;
  gqBuilder builder = gqBuilderBefore(empty);
  MlirType index = mlirIndexTypeGet(builder.context);
  MlirValue operands[] = {mlirOperationGetOperand(empty, last),
                          gqBuildConstant(&builder, index, 2)};
  mlirOperationSetOperand(
      empty, last,
      gqBuildValue(&builder, "arith.ceildivui", 2, operands, index));
}

/// Halves the last number of an attribute, which counts elements and is static.
static void halveLast(MlirOperation op, const char *name) {
  int64_t numbers[MAX_RANK];
  intptr_t size = mlirDenseArrayGetNumElements(gqGetAttribute(op, name));
  for (intptr_t i = 0; i < size; ++i)
    numbers[i] = arrayElement(op, name, i);
  numbers[size - 1] /= 2;
  mlirOperationSetAttributeByName(
      op, mlirStringRefCreateFromCString(name),
      mlirDenseI64ArrayGet(mlirOperationGetContext(op), size, numbers));
}

/// Replaces the last extent of a packed tensor by twice that.
static void doubleLastSize(MlirOperation dim) {
  gqBuilder builder = gqBuilderBefore(dim);
  MlirType index = mlirIndexTypeGet(builder.context);
  MlirValue dimOperands[] = {mlirOperationGetOperand(dim, 0),
                             mlirOperationGetOperand(dim, 1)};
  MlirValue operands[] = {
      gqBuildValue(&builder, "tensor.dim", 2, dimOperands, index),
      gqBuildConstant(&builder, index, 2)};
  mlirValueReplaceAllUsesOfWith(
      mlirOperationGetResult(dim, 0),
      gqBuildValue(&builder, "arith.muli", 2, operands, index));
  mlirOperationDestroy(dim);
}

static void packSignature(MlirOperation op) {
  gqSignature signature = gqSignatureOf(op);
  for (intptr_t i = 0; i < signature.numInputs + signature.numResults; ++i)
    signature.types[i] = packed(signature.types[i]);
  if (signature.types)
    gqSetSignature(op, &signature);
  gqSignatureFree(&signature);
}

static void packValue(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (isF4Tensor(type))
    mlirValueSetType(value, packed(type));
}

static void packOp(MlirOperation op) {
  if (gqIsNamed(op, "tensor.empty")) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (isF4Tensor(type) && isLastDynamic(type))
      halveLastSize(op);
  }
  if (gqIsNamed(op, "tensor.expand_shape") &&
      isF4Tensor(mlirValueGetType(mlirOperationGetResult(op, 0))))
    halveLast(op, "static_output_shape");
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    packValue(mlirOperationGetResult(op, i));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block =
             mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        packValue(mlirBlockGetArgument(block, i));
  packSignature(op);
}

/// Whether `op` asks for the last extent of an f4 tensor.
static bool isLastDimOfF4(MlirOperation op) {
  if (!gqIsNamed(op, "tensor.dim"))
    return false;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  return isF4Tensor(type) && constantIndex(mlirOperationGetOperand(op, 1)) ==
                                 mlirShapedTypeGetRank(type) - 1;
}

static bool isSliceOfF4(MlirOperation op) {
  return isSlice(op) && isF4Tensor(wholeOfSlice(op));
}

MlirLogicalResult gqPackSubbyte(MlirOperation module) {
  gqOpList ops = gqCollect(module, NULL);
  bool valid = true;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= check(ops.ops[i]);
  if (valid) {
    gqOpList dims = gqCollect(module, isLastDimOfF4);
    gqOpList slices = gqCollect(module, isSliceOfF4);
    for (intptr_t i = 0; i < ops.size; ++i)
      packOp(ops.ops[i]);
    for (intptr_t i = 0; i < slices.size; ++i) {
      halveLast(slices.ops[i], "static_offsets");
      halveLast(slices.ops[i], "static_sizes");
    }
    for (intptr_t i = 0; i < dims.size; ++i)
      doubleLastSize(dims.ops[i]);
    gqOpListFree(&slices);
    gqOpListFree(&dims);
  }
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
