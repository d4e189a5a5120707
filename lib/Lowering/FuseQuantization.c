//===- FuseQuantization.c - a quantization behind a matmul -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Found on buffers, since a launch has all results of the two ops: neither the
// ops nor the CPU need to know. The launch is where the quantization is, so
// that nothing in between may change or free what the matmul reads.
//
//===----------------------------------------------------------------------===//

#include "FuseQuantization.h"

#include "../IR/Checks.h"
#include "../IR/GroupedBlockQuantize.h"
#include "ChooseKernels.h"
#include "Fusion.h"
#include "Query.h"
#include "Remarks.h"

#include "gq-c/Dialect.h"

#include "mlir-c/BuiltinTypes.h"

static const char passName[] = "convert-gq-to-gpu";

/// The only op that quantizes the product of `mm`; null if there is none, or if
/// it does something else.
static MlirOperation findReader(MlirOperation mm) {
  MlirOperation reader = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(gqGroupedMmGet(mm).out);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!gqOperationIsAGroupedBlockQuantize(user))
      continue;
    if (!mlirOperationIsNull(reader))
      return (MlirOperation){NULL};
    reader = user;
  }
  return reader;
}

/// Whether the product is memory for these two ops alone.
static bool isBetweenThem(MlirValue product, MlirOperation mm,
                          MlirOperation quantization) {
  MlirOperation alloc = gqDefiningOp(product);
  if (mlirOperationIsNull(alloc) || !gqIsNamed(alloc, "memref.alloc"))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(product);
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!mlirOperationEqual(user, mm) &&
        !mlirOperationEqual(user, quantization) &&
        !gqIsNamed(user, "memref.dealloc"))
      return false;
  }
  return true;
}

/// Whether the matmul can wait for what comes before the quantization in its
/// block.
static bool canWait(MlirOperation mm, MlirOperation quantization) {
  static const char *const harmless[] = {"memref.alloc",
                                         "memref.cast",
                                         "memref.dim",
                                         "memref.expand_shape",
                                         "memref.get_global",
                                         "memref.collapse_shape",
                                         "memref.subview",
                                         "memref.reinterpret_cast",
                                         "memref.memory_space_cast",
                                         NULL};
  if (!mlirBlockEqual(mlirOperationGetBlock(mm),
                      mlirOperationGetBlock(quantization)))
    return false;
  for (MlirOperation op = mlirOperationGetNextInBlock(mm);
       !mlirOperationIsNull(op) && !mlirOperationEqual(op, quantization);
       op = mlirOperationGetNextInBlock(op))
    if (!gqIsOneOf(op, harmless) && !gqIsOfDialect(op, "arith."))
      return false;
  return true;
}

/// Whether rows, with or without a given outer scale, are all that the op
/// computes. Rows of no group may be anything in it, as in a product.
static bool quantizesRows(const gqGroupedBlockQuantize *desc) {
  const MlirValue others[] = {desc->rowIndices,
                              desc->scaleOffsetsOut,
                              desc->firstDims,
                              desc->lastDims,
                              desc->columnwise.data,
                              desc->columnwise.scales,
                              desc->rngState,
                              desc->scale,
                              desc->scaleInv,
                              desc->noopFlag,
                              desc->amax,
                              desc->rowAmax,
                              desc->dbias,
                              desc->columnwise.outerAmax};
  for (size_t i = 0; i < sizeof(others) / sizeof(*others); ++i)
    if (!mlirValueIsNull(others[i]))
      return false;
  gqDirectionTraits rowwise = gqDirectionGetTraits(&desc->rowwise);
  return mlirRegionIsNull(desc->producer) &&
         !mlirValueIsNull(desc->rowwise.data) &&
         !mlirValueIsNull(desc->rowwise.scales) &&
         !gqHoldsNumbers(&desc->rowwise) && gqDirectionIsUsual(&rowwise) &&
         gqOuterKindOfDirection(desc, &desc->rowwise) <= GQ_OUTER_PER_GROUP;
}

/// Whether blocks are of 16 or 32 columns, with scales in tiles.
static bool hasTiledBlocks(const gqGroupedBlockQuantize *desc) {
  gqFormatTraits traits = gqFormatGetTraits(desc->format);
  return gqFormatHasBlockScales(desc->format) && traits.blockRows == 1 &&
         traits.scaleType != GQ_F32 &&
         desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4;
}

static bool haveSameGroups(const gqGroupedMm *mm,
                           const gqGroupedBlockQuantize *desc) {
  return !mlirValueIsNull(mm->scaleOffsets) &&
         !mlirValueIsNull(desc->scaleOffsets) &&
         mlirValueEqual(mm->offsets, desc->offsets) &&
         mlirValueEqual(mm->scaleOffsets, desc->scaleOffsets);
}

/// Whether the quantization writes to an operand of the matmul.
static bool writesOperand(MlirOperation mm,
                          const gqGroupedBlockQuantize *desc) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(mm); ++i) {
    MlirValue operand = mlirOperationGetOperand(mm, i);
    if (mlirValueEqual(operand, desc->rowwise.data) ||
        mlirValueEqual(operand, desc->rowwise.scales))
      return true;
  }
  return false;
}

/// What the kernels do not compute of an op whose outputs are quantized; null
/// if they compute all of it.
static const char *checkKernel(MlirOperation op, const gqGroupedMm *desc) {
  gqMmKernel kernel = gqMmGetKernel(op);
  if (kernel == GQ_MM_KERNEL_TILES256)
    return "tiles256 does not quantize";
  bool rest =
      !mlirValueIsNull(desc->columnScales) || !mlirValueIsNull(desc->bias);
  // With an epilogue gq-choose-kernels does not have it.
  return rest && (kernel == GQ_MM_KERNEL_TILES128 ||
                  (kernel == GQ_MM_KERNEL_AUTO &&
                   mlirRegionIsNull(gqEpilogueOf(op))))
             ? "tiles128 quantizes nothing with column scales or a bias"
             : NULL;
}

/// Returns why the two cannot be one launch, or null if they can.
static const char *check(MlirOperation mm, MlirOperation quantization) {
  gqGroupedMm desc = gqGroupedMmGet(mm);
  gqGroupedBlockQuantize q = gqGroupedBlockQuantizeGet(quantization);
  if (!quantizesRows(&q))
    return "the quantization is of more than rows of groups, or in a way that "
           "a matmul's kernels have not";
  if (!hasTiledBlocks(&q))
    return "scales are not of 16 or 32 columns in tile128x4";
  if (!haveSameGroups(&desc, &q))
    return "the two have not the same offsets and scale offsets";
  if (!isBetweenThem(desc.out, mm, quantization))
    return "the product is not just for the quantization";
  if (!canWait(mm, quantization) || writesOperand(mm, &q))
    return "what the matmul reads may have changed before the quantization";
  return checkKernel(mm, &desc);
}

gqRequantizations gqFindRequantizations(MlirOperation module) {
  gqRequantizations all = {0};
  gqOpList mms = gqCollect(module, gqOperationIsAGroupedMm);
  for (intptr_t i = 0; i < mms.size; ++i) {
    MlirOperation mm = mms.ops[i], reader = findReader(mm);
    if (mlirOperationIsNull(reader))
      continue;
    const char *reason = check(mm, reader);
    MlirLocation location = mlirOperationGetLocation(reader);
    if (reason) {
      gqRemarkMissed(location, passName, reason);
      continue;
    }
    gqRemarkPassed(location, passName,
                   "the kernels of the matmul in front quantize");
    gqOpListAdd(&all.mms, mm);
    gqOpListAdd(&all.quantizations, reader);
  }
  gqOpListFree(&mms);
  return all;
}

void gqRequantizationsFree(gqRequantizations *all) {
  gqOpListFree(&all->mms);
  gqOpListFree(&all->quantizations);
}

MlirOperation gqRequantizationBehind(const gqRequantizations *all,
                                     MlirOperation mm) {
  intptr_t i = gqOpListFind(&all->mms, mm);
  return i < 0 ? (MlirOperation){NULL} : all->quantizations.ops[i];
}

void gqDestroyRequantization(MlirOperation mm, MlirOperation quantization) {
  MlirValue product = gqGroupedMmGet(mm).out;
  mlirOperationDestroy(quantization);
  mlirOperationDestroy(mm);
  for (MlirOpOperand use = mlirValueGetFirstUse(product);
       !mlirOpOperandIsNull(use); use = mlirValueGetFirstUse(product))
    mlirOperationDestroy(mlirOpOperandGetOwner(use));
  mlirOperationDestroy(gqDefiningOp(product));
}
