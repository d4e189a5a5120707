//===- CpuKernels.h - loops for several instruction sets ---------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What takes time, cpu/*.h, is one source: plain C, whose loops compilers turn
// into SIMD code, and for rows vectors that are written out (cpu/Simd.h). It is
// compiled once for each instruction set of CpuIsa.def; the best one that the
// machine has is used. The bytes are the same: no rounding is left out or done
// elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUKERNELS_H
#define GQ_LIB_RUNTIME_CPUKERNELS_H

#include "CpuDequantize.h"
#include "CpuMm.h"
#include "CpuQuantize.h"

typedef struct gqCpuKernels {
  /// gqCpuQuantize, gqCpuMeasure, gqCpuSumColumns and gqCpuDequantize of a
  /// job.
  void (*quantize)(const gqCpuQuantization *q, const gqCpuJob *job);
  void (*measure)(const gqBuffer *input, const gqBuffer *rowIndices,
                  const gqCpuJob *job, gqCpuAmaxes amaxes);
  void (*sumColumns)(const gqBuffer *input, const gqBuffer *rowIndices,
                     const gqCpuJob *job, const gqBuffer *out);
  void (*dequantize)(const gqCpuDequantization *q, const gqCpuJob *job);
  /// gqCpuMmSum.
  void (*sumProducts)(const gqCpuMmMatrix *a, int64_t row, int64_t rows,
                      const gqCpuMmMatrix *b, int64_t column, int64_t columns,
                      int64_t depth, gqCpuMmTile *tile);
  /// gqCpuQuantizeSquares.
  void (*quantizeSquares)(const gqCpuTile *tile, gqRecipe recipe,
                          const gqCpuTileDirection *direction,
                          gqCpuTileCodes codes, gqCpuTileScales *scales);
} gqCpuKernels;

/// Those of the best instruction set that the machine has, or of the one that
/// the environment variable GQ_CPU_ISA names, if the machine has that:
/// "baseline", "avx2" or "avx512". It is read once.
const gqCpuKernels *gqCpuGetKernels(void);

/// The name of that instruction set.
const char *gqCpuIsa(void);

#endif // GQ_LIB_RUNTIME_CPUKERNELS_H
