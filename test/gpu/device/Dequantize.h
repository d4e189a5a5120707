//===- Dequantize.h - problems for the kernel of dequantization ---*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random problems of every format, direction, layout and type, of any bytes,
// against the CPU's op, which is compared with an oracle elsewhere
// (test_dequantize.py). Then offsets that are invalid: then only
// that nothing outside of the operands is touched, and no row in no group.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEQUANTIZE_H
#define GQ_TEST_GPU_DEQUANTIZE_H

#include "Guarded.h"
#include "Operands.h"

#include "runtime_kernels/kernels/Launch.h"

enum {
  NUM_MEASURED_DEQUANTIZE_VARIANTS = 22,
  /// More than two for each thread of a CTA, which few problems have.
  DEQUANTIZE_GROUPS = 300,
  DEQUANTIZE_POISON = 0xa5
};

/// The constants of a kernel.
typedef struct DequantizeVariant {
  const char *name;
  gqFormat format;
  gqElementType dataType;
  gqRecipe recipe;
  gqScaleLayout layout;
  /// GQ_DEV_ bits.
  int32_t parts, offsetBits;
  gqOuterKind outerKind;
  gqScaleMax scaleMax;
  gqElementType outType;
  /// Whether it has dequantizeEpilogue, and of what type.
  bool hasEpilogue;
  gqElementType valueType;
} DequantizeVariant;

/// The problems' epilogue, between the types of the last one.
uint32_t dequantizeEpilogue(uint32_t bits, uint32_t second);

extern const DequantizeVariant dequantizeVariants[];
extern const int numDequantizeVariants;

/// What is dequantized.
typedef struct DequantizeProblem {
  DequantizeVariant v;
  gqFormatTraits traits;
  bool columnwise, ragged, givesScaleOffsets;
  int64_t groups, rows, columns;
  /// Of each group.
  int64_t m[DEQUANTIZE_GROUPS], k[DEQUANTIZE_GROUPS];
  /// Integers of offsetBits.
  int64_t offsets[DEQUANTIZE_GROUPS + 1], scaleOffsets[DEQUANTIZE_GROUPS];
  /// In elements as stored, but for `out`.
  int64_t dataSize, dataStride, scalesSize, scaleColumns, outStride;
  int64_t shift;
} DequantizeProblem;

enum {
  DEQUANTIZE_DATA,
  DEQUANTIZE_SCALES,
  DEQUANTIZE_OFFSETS,
  DEQUANTIZE_SCALE_OFFSETS,
  DEQUANTIZE_FIRST_DIMS,
  DEQUANTIZE_LAST_DIMS,
  DEQUANTIZE_OUTER,
  DEQUANTIZE_OUT,
  DEQUANTIZE_STATUS,
  DEQUANTIZE_ARRAYS
};

/// Its operands on the host.
typedef struct DequantizeMemory {
  Guarded arrays[DEQUANTIZE_ARRAYS];
} DequantizeMemory;

/// What the kernel is given, arrays being at these addresses.
DequantizeTilesOperands
dequantizeOperands(const DequantizeProblem *p,
                   const uint64_t addresses[DEQUANTIZE_ARRAYS]);

/// Runs the kernel of `p->v`, on the host's memory or a copy, which is copied
/// back. Returns whether nothing around was written.
typedef bool DequantizeRun(const DequantizeProblem *p,
                           DequantizeMemory *memory);

/// Runs `count` random problems, `sameNan` if NaN must be that of the chip, and
/// the hostile ones; of the variants only, or of any constants. Returns how
/// many failed.
int64_t dequantizeTest(DequantizeRun *run, bool ofVariants, bool sameNan,
                       int64_t count, int64_t *passed);

#endif // GQ_TEST_GPU_DEQUANTIZE_H
