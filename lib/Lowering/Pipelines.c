//===- Pipelines.c - pipelines as text ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Passes.h"

#include "../Support/Text.h"

#include <string.h>

/// Upstream's cse before any fusion of gq ops, so that two users of one
/// quantization share it; and before eliminate-empty-tensors, which makes equal
/// ops differ.
static const char fusion[] =
    "func.func(convert-elementwise-to-linalg,linalg-fuse-elementwise-ops),"
    "canonicalize,cse,"
    "gq-fuse-scale-layout,gq-fuse-row-gather,gq-fuse-directions,"
    "gq-fuse-row-amax,";

/// From tensors to buffers that are freed. Loops may yield another buffer than
/// they got, as one over layers does. A forall is a loop on the host, since
/// what it launches is parallel itself; buffer deallocation crashes on one.
static const char bufferization[] =
    "gq-pack-subbyte,"
    "func.func(convert-elementwise-to-linalg,gq-fresh-inits),"
    "canonicalize,cse,"
    "eliminate-empty-tensors,"
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map "
    "allow-return-allocs-from-loops},"
    "scf-forall-to-for,canonicalize,cse,"
    "gq-finalize-boundary,"
    "ownership-based-buffer-deallocation,"
    "canonicalize,buffer-deallocation-simplification,"
    "gq-lower-deallocations,"
    "bufferization-lower-deallocations,cse,canonicalize,"
    "convert-bufferization-to-memref";

/// A kernel for each linalg op that is left. Loops over any number of
/// dimensions become one, so that whatever is innermost is spread over the
/// threads of a block and no extent is limited by that of a grid.
static const char linalgToKernels[] =
    "func.func(linalg-generalize-named-ops),"
    "gq-prepare-kernels,"
    "func.func(convert-linalg-to-parallel-loops),"
    "gq-collapse-loops,"
    "func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=128 "
    "no-min-max-bounds},gpu-map-parallel-loops,convert-parallel-loops-to-gpu),"
    "canonicalize,cse,"
    "gpu-launch-sink-index-computations,gpu-kernel-outlining,"
    "gq-share-kernels,";

static const char loopsToBranches[] =
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,";

/// The math functions have no bf16 and no f16: those are computed in f32, one
/// rounding per operation.
static const char mathInF32[] =
    "math-extend-to-supported-types{extra-types=f32,f64 target-type=f32},"
    "gq-strict-floats";

/// The lowering of element-wise ops on the CPU, with bf16 and f16 arithmetic in
/// f32; %s is mathInF32.
static const char scalars[] =
    "gq-expand-small-floats,"
    "arith-emulate-unsupported-floats{source-types=bf16,f16 target-type=f32},"
    "gq-strict-floats,"
    "func.func(%s),"
    "arith-expand{include-bf16=true},"
    "canonicalize,"
    "convert-math-to-llvm,convert-math-to-libm,";

/// From loops and calls to the LLVM dialect; %s are the options of
/// finalize-memref-to-llvm.
static const char toLlvm[] =
    "convert-vector-to-llvm,finalize-memref-to-llvm%s,convert-arith-to-llvm,"
    "convert-index-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"
    "canonicalize,cse,reconcile-unrealized-casts";

/// The beginning of both pipelines. The first passes look at the module as its
/// author wrote it.
static void printFrontend(gqText *text, bool fuse) {
  gqTextPrintf(text, "gq-check-names,gq-check-types,gq-protect-arguments,");
  if (fuse)
    gqTextPrintf(text, "%s", fusion);
}

static void printToLlvm(gqText *text, const char *memrefOptions) {
  gqTextPrintf(text, scalars, mathInF32);
  gqTextPrintf(text, toLlvm, memrefOptions);
}

char *gqCpuPipeline(bool fuse) {
  gqText text = {0};
  printFrontend(&text, fuse);
  gqTextPrintf(&text, "gq-expand-producers,gq-expand-epilogues,%s",
               bufferization);
  gqTextPrintf(&text, ",convert-gq-to-runtime,");
  gqTextPrintf(&text, "func.func(convert-linalg-to-loops),canonicalize,%s",
               loopsToBranches);
  printToLlvm(&text, "");
  return gqTextOrAbort(&text);
}

char *gqNvvmPipelineToBuffers(bool fuse) {
  gqText text = {0};
  printFrontend(&text, fuse);
  if (fuse)
    gqTextPrintf(&text, "gq-fuse-producers,gq-fuse-epilogues{dequantize},");
  gqTextPrintf(&text, "gq-expand-epilogues{kernels},%s", bufferization);
  return gqTextOrAbort(&text);
}

char *gqNvvmPipelineToKernels(void) {
  gqText text = {0};
  gqTextPrintf(&text, "gq-share-kernels,%sgq-device-memory,%s", linalgToKernels,
               loopsToBranches);
  gqTextPrintf(&text,
               "gpu.module(gq-check-types,gq-expand-small-floats,%s,"
               "convert-gpu-to-nvvm)",
               mathInF32);
  return gqTextOrAbort(&text);
}

char *gqNvvmPipelineToLlvm(void) {
  gqText text = {0};
  printToLlvm(&text, "{use-generic-functions=true}");
  gqTextPrintf(&text, ",gpu-to-llvm,reconcile-unrealized-casts");
  return gqTextOrAbort(&text);
}

const char *gqNvvmOptionsCheck(const char *format, int32_t opt) {
  if (strcmp(format, "fatbin") != 0 && strcmp(format, "bin") != 0 &&
      strcmp(format, "isa") != 0)
    return "requires format to be fatbin, bin or isa";
  if (opt < 0 || opt > 3)
    return "requires opt to be 0 to 3";
  return NULL;
}
