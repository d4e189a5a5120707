//===- Pipelines.c - pipelines as text ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

// Upstream's cse before any fusion, so that two users of one quantization share
// it; and before eliminate-empty-tensors, which makes equal ops differ.
#define GQ_FUSE                                                                \
  "func.func(convert-elementwise-to-linalg,linalg-fuse-elementwise-ops),"      \
  "canonicalize,cse,gq-fuse-scale-layout,"

#define GQ_TENSORS_TO_LLVM                                                     \
  /* Tensors. */                                                               \
  "gq-expand-producers,"                                                       \
  "gq-pack-subbyte,"                                                           \
  "func.func(convert-elementwise-to-linalg),canonicalize,cse," /* Tensors to   \
                                                                  buffers. */  \
  "eliminate-empty-tensors,"                                                   \
  "one-shot-bufferize{bufferize-function-boundaries "                          \
  "function-boundary-type-conversion=identity-layout-map},"                    \
  "canonicalize,cse,"                                                          \
  "gq-finalize-boundary,"                                                      \
  "ownership-based-buffer-deallocation,"                                       \
  "canonicalize,buffer-deallocation-simplification,"                           \
  "bufferization-lower-deallocations,cse,canonicalize,"                        \
  "convert-bufferization-to-memref," /* Buffers to loops and calls. */         \
  "convert-gq-to-runtime,"                                                     \
  "func.func(convert-linalg-to-loops),"                                        \
  "canonicalize,"                                                              \
  "expand-strided-metadata,lower-affine,convert-scf-to-cf," /* Scalars: bf16   \
                                                               and f16 are     \
                                                               computed in     \
                                                               f32, one        \
                                                               rounding per    \
                                                               operation. */   \
  "arith-emulate-unsupported-floats{source-types=bf16,f16 target-type=f32},"   \
  "func.func(math-extend-to-supported-types{extra-types=f32,f64 "              \
  "target-type=f32}),"                                                         \
  "arith-expand{include-bf16=true},"                                           \
  "canonicalize," /* The LLVM dialect. */                                      \
  "convert-math-to-llvm,convert-math-to-libm,"                                 \
  "convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,"      \
  "convert-index-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"             \
  "canonicalize,cse,reconcile-unrealized-casts"

const char *gqCpuPipeline(bool fuse) {
  return fuse ? GQ_FUSE GQ_TENSORS_TO_LLVM : GQ_TENSORS_TO_LLVM;
}
