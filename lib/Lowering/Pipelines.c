//===- Pipelines.c - pipelines as text ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Toolkit.h"

#include <stdio.h>
#include <stdlib.h>

// Upstream's cse before any fusion, so that two users of one quantization share
// it; and before eliminate-empty-tensors, which makes equal ops differ.
#define GQ_FUSE                                                                \
  "func.func(convert-elementwise-to-linalg,linalg-fuse-elementwise-ops),"      \
  "canonicalize,cse,gq-fuse-scale-layout,"

// From tensors to buffers that are freed.
#define GQ_BUFFERIZE                                                           \
  "gq-pack-subbyte,"                                                           \
  "func.func(convert-elementwise-to-linalg),canonicalize,cse,"                 \
  "eliminate-empty-tensors,"                                                   \
  "one-shot-bufferize{bufferize-function-boundaries "                          \
  "function-boundary-type-conversion=identity-layout-map},"                    \
  "canonicalize,cse,"                                                          \
  "gq-finalize-boundary,"                                                      \
  "ownership-based-buffer-deallocation,"                                       \
  "canonicalize,buffer-deallocation-simplification,"                           \
  "bufferization-lower-deallocations,cse,canonicalize,"                        \
  "convert-bufferization-to-memref,"

// libm has no bf16 and no f16: those are computed in f32, one rounding per
// operation.
#define GQ_SCALARS                                                             \
  "arith-emulate-unsupported-floats{source-types=bf16,f16 target-type=f32},"   \
  "func.func(math-extend-to-supported-types{extra-types=f32,f64 "              \
  "target-type=f32}),"                                                         \
  "arith-expand{include-bf16=true},"                                           \
  "canonicalize,"                                                              \
  "convert-math-to-llvm,convert-math-to-libm,"

// From loops and calls to the LLVM dialect; `MEMREF` are the options of
// finalize-memref-to-llvm.
#define GQ_TO_LLVM(MEMREF)                                                     \
  "convert-vector-to-llvm,finalize-memref-to-llvm" MEMREF                      \
  ",convert-arith-to-llvm,"                                                    \
  "convert-index-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"             \
  "canonicalize,cse,reconcile-unrealized-casts"

#define GQ_LOOPS_TO_BRANCHES                                                   \
  "expand-strided-metadata,lower-affine,convert-scf-to-cf,"

#define GQ_CPU                                                                 \
  "gq-expand-producers," GQ_BUFFERIZE "convert-gq-to-runtime,"                 \
  "func.func(convert-linalg-to-loops),"                                        \
  "canonicalize," GQ_LOOPS_TO_BRANCHES GQ_SCALARS GQ_TO_LLVM("")

const char *gqCpuPipeline(bool fuse) { return fuse ? GQ_FUSE GQ_CPU : GQ_CPU; }

char *gqNvvmPipeline(const gqNvvmOptions *options) {
  char *pipeline = NULL;
  size_t length = 0;
  FILE *text = open_memstream(&pipeline, &length);
  if (!text)
    abort(); // As MLIR itself does when it is out of memory.
  if (options->fuse)
    fprintf(text, GQ_FUSE "gq-fuse-producers,");
  fprintf(text, GQ_BUFFERIZE "convert-gq-to-gpu,gq-device-memory,");
  fprintf(text, "gq-attach-target{chip=%s opt=%d},", options->chip,
          options->opt);
  fprintf(text, "gpu.module(math-extend-to-supported-types{extra-types=f32,f64 "
                "target-type=f32},convert-gpu-to-nvvm),");
  fprintf(text, GQ_LOOPS_TO_BRANCHES GQ_SCALARS GQ_TO_LLVM(
                    "{use-generic-functions=true}") ",gpu-to-llvm,");
  const char *toolkit = gqCudaToolkit();
  fprintf(text, "gpu-module-to-binary{format=%s%s%s}", options->format,
          toolkit ? " toolkit=" : "", toolkit ? toolkit : "");
  fclose(text);
  return pipeline;
}
