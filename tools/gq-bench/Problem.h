//===- Problem.h - operands in memory ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQBENCH_PROBLEM_H
#define GQ_TOOLS_GQBENCH_PROBLEM_H

#include "Graph.h"

#include "gq/Runtime/Executable.h"
#include "gq/Runtime/Status.h"

/// The arguments of one call.
typedef struct Operands {
  DLTensor tensors[MAX_ARGUMENTS];
} Operands;

/// Arguments for calls that rotate through all sets.
typedef struct Problem {
  DLDevice device;
  /// The tensors' extents; borrowed.
  Graph *graph;
  int64_t numSets;
  Operands *sets;
} Problem;

/// The bytes of a set of arguments.
double problemSetSize(const Graph *graph);

/// Allocates arguments for the graph and fills the inputs, each set with other
/// values. problemFree() has to follow a failure too.
gqStatus problemCreate(DLDevice device, const Shape *shape, Graph *graph,
                       int64_t numSets, Problem *problem);
void problemFree(Problem *problem);

/// Sets each byte of the outputs.
gqStatus problemPoison(Problem *problem, int byte);

/// The bytes of the outputs of all sets, and these bytes.
size_t problemOutputSize(const Problem *problem);
gqStatus problemReadOutputs(const Problem *problem, char *bytes);

/// A compiled graph to be called on a problem, which has the graph's arguments
/// and maybe intermediates that it does not have.
typedef struct Path {
  gqExecutable *executable;
  const Graph *graph;
  const Problem *problem;
} Path;

/// Calls it on the i-th set; a Work.
gqStatus pathInvoke(void *path, int64_t i);

/// Calls it so many times, always on the first set, and waits for none: what
/// stopwatchHostTime() calls.
gqStatus pathInvokeRepeatedly(void *path, int count);

#endif // GQ_TOOLS_GQBENCH_PROBLEM_H
