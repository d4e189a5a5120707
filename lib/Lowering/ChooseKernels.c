//===- ChooseKernels.c - gq-choose-kernels -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChooseKernels.h"

#include "../IR/Checks.h"
#include "Passes.h"
#include "Query.h"
#include "Remarks.h"

#include "runtime_kernels/kernels/Launch.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char passName[] = "gq-choose-kernels";

static const char *const names[] = {
    [GQ_MM_KERNEL_AUTO] = "auto",         [GQ_MM_KERNEL_ANY] = "any",
    [GQ_MM_KERNEL_DECODE8] = "decode8",   [GQ_MM_KERNEL_DECODE16] = "decode16",
    [GQ_MM_KERNEL_TILES32] = "tiles32",   [GQ_MM_KERNEL_TILES64] = "tiles64",
    [GQ_MM_KERNEL_TILES128] = "tiles128", [GQ_MM_KERNEL_TILES256] = "tiles256",
};

/// M, G and K; GQ_DYNAMIC where not static.
typedef struct Extents {
  int64_t rows, groups, k;
} Extents;

static Extents extentsOf(const gqGroupedMm *desc) {
  return (Extents){gqDim(desc->a, 0), gqDim(desc->b, 0),
                   gqDataColumns(desc->b)};
}

static bool hasStaticRows(Extents extents) {
  return extents.rows != GQ_DYNAMIC && extents.groups != GQ_DYNAMIC;
}

bool gqEpilogueIsOfF32(MlirRegion epilogue) {
  MlirBlock body = mlirRegionGetFirstBlock(epilogue);
  return mlirTypeIsAF32(mlirValueGetType(mlirBlockGetArgument(body, 0)));
}

bool gqMmIsCrowded(MlirOperation op) {
  gqGroupedMm desc = gqGroupedMmGet(op);
  MlirRegion epilogue = gqEpilogueOf(op);
  if (mlirRegionIsNull(epilogue))
    return false;
  if (mlirValueIsNull(desc.scaleOffsets))
    return gqEpilogueIsOfF32(epilogue);
  return !mlirValueIsNull(desc.columnScales) || !mlirValueIsNull(desc.bias);
}

gqMmCandidates gqMmKernelCandidates(MlirOperation op) {
  gqGroupedMm desc = gqGroupedMmGet(op);
  bool all = hasStaticRows(extentsOf(&desc)), crowded = gqMmIsCrowded(op);
  gqMmCandidates candidates = {0};
  const struct {
    bool fits;
    gqMmKernel kernel;
    int32_t atMost;
  } kernels[GQ_MAX_MM_CANDIDATES] = {
      {true, GQ_MM_KERNEL_DECODE8, 7},
      {true, GQ_MM_KERNEL_DECODE16, 16},
      {all, GQ_MM_KERNEL_TILES32, 24},
      {true, GQ_MM_KERNEL_TILES64, crowded ? INT32_MAX : 56},
      {!crowded, GQ_MM_KERNEL_TILES128, INT32_MAX},
  };
  for (int i = 0; i < GQ_MAX_MM_CANDIDATES; ++i)
    if (kernels[i].fits) {
      candidates.kernels[candidates.size] = kernels[i].kernel;
      candidates.atMost[candidates.size++] = kernels[i].atMost;
    }
  return candidates;
}

/// Why a requested kernel cannot be used; null if it can.
static const char *findFault(gqMmKernel kernel, const gqGroupedMm *desc,
                             bool hopper) {
  if (kernel >= GQ_MM_KERNEL_DECODE8 && !hopper)
    return "is a kernel of sm_90a";
  if (kernel >= GQ_MM_KERNEL_DECODE8 && desc->bMajor == GQ_MAJOR_N)
    return "is for weights with K innermost";
  return NULL;
}

/// The kernel, and the reason in `reason`. Auto if each launch is to choose.
static gqMmKernel choose(MlirOperation op, const gqGroupedMm *desc, bool hopper,
                         char *reason, size_t size) {
  Extents extents = extentsOf(desc);
  if (!hopper) {
    snprintf(reason, size, "the other kernels are for sm_90a");
    return GQ_MM_KERNEL_ANY;
  }
  if (desc->bMajor == GQ_MAJOR_N) {
    snprintf(reason, size, "the other kernels need K innermost in the weights");
    return GQ_MM_KERNEL_ANY;
  }
  if (extents.k != GQ_DYNAMIC && extents.k % 32 != 0) {
    snprintf(reason, size, "K = %" PRId64 " is not a multiple of 32",
             extents.k);
    return GQ_MM_KERNEL_ANY;
  }
  if (!hasStaticRows(extents)) {
    snprintf(reason, size,
             "M and G are known at the launch, which picks one of several");
    return GQ_MM_KERNEL_AUTO;
  }
  gqMmCandidates candidates = gqMmKernelCandidates(op);
  int i = 0;
  while (i + 1 < candidates.size &&
         extents.rows > extents.groups * candidates.atMost[i])
    ++i;
  snprintf(reason, size, "%" PRId64 " rows in %" PRId64 " groups", extents.rows,
           extents.groups);
  return candidates.kernels[i];
}

/// The same of a gq.grouped_wgrad.
static const char *findWgradFault(gqMmKernel kernel, bool hopper) {
  if (kernel != GQ_MM_KERNEL_ANY && kernel != GQ_MM_KERNEL_TILES128)
    return "is a kernel of gq.grouped_mm";
  return kernel == GQ_MM_KERNEL_TILES128 && !hopper ? "is a kernel of sm_90a"
                                                    : NULL;
}

/// Makes it the op's kernel and says why, as a missed remark if the kernel was
/// not made for the chip.
static void setKernel(MlirOperation op, gqMmKernel kernel, const char *reason) {
  char text[160];
  if (kernel != GQ_MM_KERNEL_AUTO)
    mlirOperationSetAttributeByName(
        op, mlirStringRefCreateFromCString("kernel"),
        gqMmKernelAttrGet(mlirOperationGetContext(op), kernel));
  snprintf(text, sizeof(text), "kernel '%s': %s", names[kernel], reason);
  (kernel == GQ_MM_KERNEL_ANY ? gqRemarkMissed : gqRemarkPassed)(
      mlirOperationGetLocation(op), passName, text);
}

static bool chooseWgradKernel(MlirOperation op, bool hopper) {
  gqMmKernel given = gqMmGetKernel(op);
  if (given != GQ_MM_KERNEL_AUTO) {
    const char *fault = findWgradFault(given, hopper);
    return !fault || gqOpError(op, "kernel '%s' %s", names[given], fault);
  }
  if (hopper)
    setKernel(op, GQ_MM_KERNEL_TILES128, "sm_90a has wgmma");
  else
    setKernel(op, GQ_MM_KERNEL_ANY, "the other kernel is for sm_90a");
  return true;
}

static bool chooseKernel(MlirOperation op, bool hopper) {
  gqGroupedMm desc = gqGroupedMmGet(op);
  gqMmKernel given = gqMmGetKernel(op);
  if (given != GQ_MM_KERNEL_AUTO) {
    const char *fault = findFault(given, &desc, hopper);
    return !fault || gqOpError(op, "kernel '%s' %s", names[given], fault);
  }
  char reason[96];
  gqMmKernel kernel = choose(op, &desc, hopper, reason, sizeof(reason));
  setKernel(op, kernel, reason);
  return true;
}

/// Whether it is an op with the attribute `kernel`.
static bool hasKernel(MlirOperation op) {
  return gqOperationIsAGroupedMm(op) || gqOperationIsAGroupedWgrad(op);
}

MlirLogicalResult gqChooseKernels(MlirOperation module, const char *chip) {
  gqOpList ops = gqCollect(module, hasKernel);
  bool valid = true, hopper = strcmp(chip, "sm_90a") == 0;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= gqOperationIsAGroupedMm(ops.ops[i])
                 ? chooseKernel(ops.ops[i], hopper)
                 : chooseWgradKernel(ops.ops[i], hopper);
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
