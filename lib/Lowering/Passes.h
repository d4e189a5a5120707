//===- Passes.h - bodies of the gq passes -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One C function per pass, called by Passes.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_PASSES_H
#define GQ_LIB_LOWERING_PASSES_H

#include "mlir-c/IR.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

MlirLogicalResult gqCheckNames(MlirOperation module);
MlirLogicalResult gqCheckTypes(MlirOperation root);
void gqFuseScaleLayout(MlirOperation root);
void gqFuseDirections(MlirOperation root);
void gqFuseRowAmax(MlirOperation root);
void gqFuseFakeQuantize(MlirOperation root, bool kernels);
void gqFuseRowGathers(MlirOperation root);
void gqFuseProducers(MlirOperation root);
void gqExpandProducers(MlirOperation root);
void gqFuseEpilogues(MlirOperation root, bool dequantize);
void gqExpandEpilogues(MlirOperation root, bool kernels);
MlirLogicalResult gqProtectArguments(MlirOperation module);
void gqFreshInits(MlirOperation root);
void gqStrictFloats(MlirOperation root);
MlirLogicalResult gqExpandSmallFloats(MlirOperation root);
MlirLogicalResult gqPackSubbyte(MlirOperation module);
MlirLogicalResult gqFinalizeBoundary(MlirOperation module);
void gqLowerDeallocations(MlirOperation root);
MlirLogicalResult gqConvertToRuntime(MlirOperation module);
MlirLogicalResult gqChooseKernels(MlirOperation module, const char *chip);
MlirLogicalResult gqConvertToGpu(MlirOperation module, const char *chip,
                                 bool fuseQuantization);
void gqPrepareKernels(MlirOperation root);
void gqCollapseLoops(MlirOperation root);
void gqShareKernels(MlirOperation module);
MlirLogicalResult gqDeviceMemory(MlirOperation module);
MlirLogicalResult gqAttachTarget(MlirOperation module, const char *chip,
                                 int32_t opt);

/// Moves each gpu.module of a module into a module of its own. They are in one
/// that is in `module` and returned.
MlirOperation gqSeparateGpuModules(MlirOperation module);

/// Moves what became of them back, and destroys what they were in.
void gqJoinGpuModules(MlirOperation separated);

/// The text of the pipeline from tensors to the LLVM dialect. Owned by the
/// caller. No text of a user's is ever part of a pipeline's: it would have to
/// be quoted, and not everything can be.
char *gqCpuPipeline(bool fuse);

/// The same with kernels for an NVIDIA GPU: what comes before
/// convert-gq-to-gpu, between that and gq-attach-target, and between that and
/// gq-modules-to-binaries, which end it.
char *gqNvvmPipelineToBuffers(bool fuse);
char *gqNvvmPipelineToKernels(void);
char *gqNvvmPipelineToLlvm(void);

/// Says why kernels cannot be made with an image format, "fatbin", "bin" or
/// "isa", and an optimization level, 0 to 3; null if they can.
const char *gqNvvmOptionsCheck(const char *format, int32_t opt);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_PASSES_H
