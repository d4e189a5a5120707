//===- Problem.h - memory and operands for the tests -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outputs lie between guards and are filled with a poison beforehand, so that
// a test sees which bytes an op writes.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_RUNTIME_PROBLEM_H
#define GQ_TEST_RUNTIME_PROBLEM_H

#include "gq/Runtime/Cpu.h"

#include <stdint.h>

enum { GUARD = 256 };

/// Poisoned memory between guards.
typedef struct Memory {
  uint8_t *allocation;
  uint8_t *bytes;
  int64_t size;
  uint8_t poison;
} Memory;

Memory memoryNew(int64_t size, uint8_t poison);
void memoryFree(Memory *memory);

/// The guards still hold the poison.
void assertGuards(const Memory *memory);

/// The memory holds `expected`, and the guards the poison.
void assertBytes(const char *what, const Memory *memory,
                 const uint8_t *expected);

/// Memory and guards hold nothing but the poison.
void assertUntouched(const Memory *memory);

/// Contiguous operands.
gqBuffer scalar(void *data, gqElementType type);
gqBuffer vector(void *data, gqElementType type, int64_t size);
gqBuffer matrix(void *data, gqElementType type, int64_t rows, int64_t columns);
gqBuffer cube(void *data, gqElementType type, int64_t a, int64_t b, int64_t c);

int64_t up(int64_t x, int64_t unit);

/// The same sequence in every problem.
uint32_t randomBits(void);

/// The documented position of a scale; the code under test has its own.
int64_t tiledByte(int64_t scaleOffset, int64_t r, int64_t c, int64_t p);

/// No op has failed since the status was last read.
void assertOk(void);

/// The sizes of a problem with everything that is awkward: rows before and
/// after all groups, empty groups, gaps between the groups' scales, padding
/// columns.
enum {
  M = 700,
  K = 1136, // 71 scale columns: more than a chunk of the fused op, not 4n.
  C = K / 16,
  P = 72,
  G = 6,
  R = 1408,
  N = 77,
};

typedef struct Problem {
  int64_t offsets[G + 1];
  int64_t scaleOffsets[G];
  float globalScale;
  float globalScales[G];
  float alpha[G];
  /// Room for f32.
  void *input;
  uint8_t *b, *bScales;
  /// Outputs, and the intermediate result that the two ops share.
  Memory data, scales, linearScales, out;

  gqBlockQuantizeOperands quantize;
  gqPreprocessGroupedMatmulSfOperands preprocess;
  gqGroupedBlockQuantizeOperands grouped;
  gqGroupedMmOperands mm;
} Problem;

/// A problem whose outputs hold `poison`.
Problem problemNew(gqElementType type, uint8_t poison);

/// Fills the operands of all ops. They point into the problem, so this is done
/// when it has its place.
void makeOperands(Problem *p, gqElementType type);

void problemFree(Problem *p);

/// Run the ops on the problem's operands; rows = all.
void runQuantize(Problem *p);
void runPreprocess(Problem *p);
void runGrouped(Problem *p);
void runMm(Problem *p);

#endif // GQ_TEST_RUNTIME_PROBLEM_H
