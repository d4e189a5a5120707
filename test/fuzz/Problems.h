//===- Problems.h - sound calls of the ops, of a fuzzer's bytes --*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call of an op of gq/Runtime/Ops.def in which everything goes together:
// operands and attributes that the op must accept. What is in the operands is
// not among them yet, but for integers, which say where groups are.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_FUZZ_PROBLEMS_H
#define GQ_TEST_FUZZ_PROBLEMS_H

#include "Input.h"

#include "gq/Runtime/Cpu.h"

enum {
  MAX_OPERANDS = 32,
  MAX_ATTRIBUTES = 8,
  /// Of integers, in an operand; and operands of them.
  MAX_INTEGERS = 256,
  MAX_LISTS = 8,
};

/// What an operand of integers holds.
typedef struct Integers {
  int64_t count, values[MAX_INTEGERS];
} Integers;

/// A call of an op.
typedef struct Problem {
  /// Without memory: those that are there point to nothing in particular.
  gqBuffer operands[MAX_OPERANDS];
  /// Null for an operand that may hold anything.
  Integers *integers[MAX_OPERANDS];
  int32_t attributes[MAX_ATTRIBUTES];
  Integers lists[MAX_LISTS];
  int32_t numLists;
} Problem;

typedef struct Op {
  const char *name;
  size_t numOperands;
  /// Which operands are written.
  const bool *written;
  /// Makes a sound problem of one that is all zeros.
  void (*make)(Input *input, Problem *problem);
  void (*run)(const Problem *problem);
} Op;

/// The ops, in the order of GQ_OP.
extern const Op ops[];
extern const uint32_t numOps;

#endif // GQ_TEST_FUZZ_PROBLEMS_H
