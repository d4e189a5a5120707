//===- GroupedMm.c - launches of the grouped matmul -----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ChooseKernels.h"
#include "../Fusion.h"
#include "Launches.h"

/// An op, and what its description does not say.
typedef struct Mm {
  gqGroupedMm desc;
  MlirRegion epilogue;
  gqPairs pairs;
  gqGpuAddress statusWord;
  /// Whether the kernels quantize, as an op behind says: of the product there
  /// is nothing but the type.
  bool quantizes;
  gqGroupedBlockQuantize quantization;
} Mm;

/// What the kernels write.
static MlirValue outOf(const Mm *mm) {
  return mm->quantizes ? mm->quantization.rowwise.data : mm->desc.out;
}

/// Rows of scales of `a`, and of the outputs, if they have any.
static gqExtent buildScaleRows(const gqLauncher *launcher, const Mm *mm) {
  gqExtent rows = gqBuildExtent(launcher, mm->desc.aScales, 0, 1);
  return mm->quantizes
             ? gqBuildLesser(launcher, rows,
                             gqBuildExtent(launcher,
                                           mm->quantization.rowwise.scales, 0,
                                           1))
             : rows;
}

/// The operands of its kernels, the struct of all families, for more than
/// `moreThan` and at most `atMost` rows per group.
static gqGroupedMmTilesOperands buildMmOperands(const gqLauncher *launcher,
                                                const Mm *mm, int32_t tokens,
                                                int32_t moreThan,
                                                int32_t atMost) {
  const gqGroupedMm *desc = &mm->desc;
  gqElementType outType = gqBufferType(desc->out);
  bool tiled = !mlirValueIsNull(desc->scaleOffsets);
  bool linear = !tiled && !mlirValueIsNull(desc->aScales);
  bool kInnermost = desc->bMajor == GQ_MAJOR_K;
  gqExtent above = gqBuildExtent(launcher, desc->b, 1, 1);
  gqExtent inner = gqBuildExtent(launcher, desc->b, 2, gqElementsOf(desc->b));
  MlirValue outer =
      mm->quantizes ? gqOuterScale(&mm->quantization, &mm->quantization.rowwise)
                    : (MlirValue){NULL};
  return (gqGroupedMmTilesOperands){
      .a = gqBuildAddress(launcher, desc->a),
      .aStride = gqBuildRowStride(launcher, desc->a, 1),
      .aScales = gqBuildAddress(launcher, desc->aScales),
      .aScaleStride =
          linear ? gqBuildRowStride(launcher, desc->aScales, sizeof(float))
                 : gqFixedExtent(launcher, 0),
      .scaleRows =
          tiled ? buildScaleRows(launcher, mm) : gqFixedExtent(launcher, 0),
      .b = gqBuildAddress(launcher, desc->b),
      .bScales = gqBuildAddress(launcher, desc->bScales),
      .offsets = gqBuildAddress(launcher, desc->offsets),
      .numOffsets = gqBuildCount(launcher, desc->offsets),
      .scaleOffsets = gqBuildAddress(launcher, desc->scaleOffsets),
      .groups = gqBuildExtent(launcher, desc->b, 0, 1),
      .alpha = gqBuildAddress(launcher, desc->alpha),
      .rowScales = gqBuildAddress(launcher, desc->rowScales),
      .columnScales = gqBuildAddress(launcher, desc->columnScales),
      .bias = gqBuildAddress(launcher, desc->bias),
      .out = gqBuildAddress(launcher, outOf(mm)),
      .outStride = gqBuildRowStride(launcher, outOf(mm),
                                    gqElementTypeSize(gqBufferType(outOf(mm)))),
      .rows = gqBuildExtent(launcher, desc->a, 0, 1),
      .n = kInnermost ? above : inner,
      .k = kInnermost ? inner : above,
      .status = mm->statusWord,
      .workspace = gqNoAddress,
      .format = gqConstant((int32_t)desc->format),
      .bFormat = gqConstant((int32_t)desc->bFormat),
      .aType = gqConstant(gqBufferType(desc->a)),
      .bType = gqConstant(gqBufferType(desc->b)),
      .bMajor = gqConstant((int32_t)desc->bMajor),
      .biasType = gqConstant(gqBufferType(desc->bias)),
      .offsetBits = gqConstant(gqIntegerBits(desc->offsets)),
      .outType = gqConstant(outType),
      .epilogue = {true, mm->epilogue},
      .pairs = gqConstant((int32_t)mm->pairs),
      .valueType = gqConstant(gqValueType(mm->epilogue, desc->out)),
      .outFormat = gqConstant(mm->quantizes ? (int32_t)mm->quantization.format
                                            : GQ_FORMAT_NONE),
      .outRecipe = gqConstant((int32_t)mm->quantization.recipe),
      .outScales = gqBuildAddress(launcher, mm->quantization.rowwise.scales),
      .outOuter = gqBuildAddress(launcher, outer),
      .outOuterKind = gqConstant(
          mm->quantizes ? gqOuterKindOfDirection(&mm->quantization,
                                                 &mm->quantization.rowwise)
                        : GQ_OUTER_NONE),
      .tokens = gqConstant(tokens),
      .moreThan = gqConstant(moreThan),
      .atMost = gqConstant(atMost),
  };
}

/// Dequantizes the tokens of `operands` to a workspace, which is returned.
static MlirValue launchMmPrepare(const gqLauncher *launcher,
                                 gqGroupedMmTilesOperands *operands,
                                 bool *valid) {
  gqGpuPlan plan = gqGpuBuildPlan(&launcher->builder,
                                  GQ_KERNEL_GROUPED_MM_PREPARE, operands);
  int64_t rows = operands->rows.fixed, groups = operands->groups.fixed,
          k = operands->k.fixed;
  bool fixed = rows != GQ_DYNAMIC && groups != GQ_DYNAMIC && k != GQ_DYNAMIC;
  MlirValue workspace = gqBuildAlloc(
      &launcher->builder, plan.workspace,
      fixed ? gq_dev_grouped_mm_prepared_size(rows, groups, k) : GQ_DYNAMIC);
  operands->workspace = gqBuildAddress(launcher, workspace);
  gqGroupedMmTilesOperands without = *operands;
  without.epilogue = (gqGpuFunction){true, {NULL}};
  without.outFormat = gqConstant(GQ_FORMAT_NONE);
  without.outScales = without.outOuter = gqNoAddress;
  *valid = gqLaunchPlanned(launcher, GQ_KERNEL_GROUPED_MM_PREPARE,
                           "grouped_mm_prepare", &without,
                           gq_dev_grouped_mm_prepare_bounds(), plan);
  return workspace;
}

/// Launches one of its kernels.
static bool launchMmKernel(const gqLauncher *launcher, const Mm *mm,
                           gqMmKernel kernel, int32_t moreThan,
                           int32_t atMost) {
  const gqGroupedMm *desc = &mm->desc;
  const struct {
    const char *name;
    gqKernelFamily family;
    int32_t tokens;
  } kernels[] = {
      [GQ_MM_KERNEL_ANY] = {"grouped_mm_any", GQ_KERNEL_GROUPED_MM_ANY,
                            GQ_DEV_GROUPED_MM_FEW_TOKENS},
      [GQ_MM_KERNEL_DECODE8] = {"grouped_mm_decode8",
                                GQ_KERNEL_GROUPED_MM_DECODE, 8},
      [GQ_MM_KERNEL_DECODE16] = {"grouped_mm_decode16",
                                 GQ_KERNEL_GROUPED_MM_DECODE, 16},
      [GQ_MM_KERNEL_TILES32] = {"grouped_mm_tiles32",
                                GQ_KERNEL_GROUPED_MM_TILES, 32},
      [GQ_MM_KERNEL_TILES64] = {"grouped_mm_tiles64",
                                GQ_KERNEL_GROUPED_MM_TILES, 64},
      [GQ_MM_KERNEL_TILES128] = {"grouped_mm_tiles128",
                                 GQ_KERNEL_GROUPED_MM_TILES, 128},
      [GQ_MM_KERNEL_TILES256] = {"grouped_mm_tiles256",
                                 GQ_KERNEL_GROUPED_MM_TILES,
                                 GQ_DEV_GROUPED_MM_PREPARED_TOKENS},
  };
  gqKernelFamily family = kernels[kernel].family;
  gqGroupedMmTilesOperands operands =
      buildMmOperands(launcher, mm, kernels[kernel].tokens, moreThan, atMost);
  bool prepares = kernel == GQ_MM_KERNEL_TILES256, valid = true;
  MlirValue workspace = {NULL};
  if (prepares)
    workspace = launchMmPrepare(launcher, &operands, &valid);
  gq_dev_bounds bounds =
      family == GQ_KERNEL_GROUPED_MM_TILES
          ? gq_dev_grouped_mm_tiles_bounds(
                desc->format, kernels[kernel].tokens,
                (mlirRegionIsNull(mm->epilogue) && !mm->quantizes) ||
                        gqValueType(mm->epilogue, desc->out) != GQ_F32
                    ? 2
                    : 4)
      : family == GQ_KERNEL_GROUPED_MM_DECODE
          ? gq_dev_grouped_mm_decode_bounds(kernels[kernel].tokens)
          : gq_dev_grouped_mm_any_bounds(mm->quantizes);
  valid = valid && gqLaunchKernel(launcher, family, kernels[kernel].name,
                                  &operands, bounds);
  if (prepares)
    gqBuildDealloc(&launcher->builder, workspace);
  return valid;
}

bool gqLaunchGroupedMm(const gqLauncher *launcher, MlirOperation op,
                       MlirOperation quantization, gqGpuAddress statusWord) {
  Mm mm = {.desc = gqGroupedMmGet(op),
           .epilogue = gqEpilogueOf(op),
           .pairs = gqGroupedMmGetPairs(op),
           .statusWord = statusWord,
           .quantizes = !mlirOperationIsNull(quantization)};
  if (mm.quantizes)
    mm.quantization = gqGroupedBlockQuantizeGet(quantization);
  const char *fault =
      mlirRegionIsNull(mm.epilogue) ? NULL : gqCheckKernelEpilogue(op);
  if (fault)
    return gqOpError(op,
                     "needs its epilogue %s as an op of its own to be lowered "
                     "to kernels; run gq-expand-epilogues{kernels} before "
                     "bufferization",
                     fault);
  gqMmKernel kernel = gqMmGetKernel(op);
  // Codes that are multiplied as such are not dequantized.
  if (kernel == GQ_MM_KERNEL_TILES256 && mlirValueIsNull(mm.desc.scaleOffsets))
    kernel = GQ_MM_KERNEL_TILES128;
  if (kernel != GQ_MM_KERNEL_AUTO)
    return launchMmKernel(launcher, &mm, kernel, -1, INT32_MAX);
  gqMmCandidates candidates = gqMmKernelCandidates(op);
  bool valid = true;
  for (int i = 0; i < candidates.size; ++i)
    valid = valid && launchMmKernel(launcher, &mm, candidates.kernels[i],
                                    i ? candidates.atMost[i - 1] : -1,
                                    candidates.atMost[i]);
  return valid;
}
