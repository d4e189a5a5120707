//===- Graph.h - the graphs that are measured --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQBENCH_GRAPH_H
#define GQ_TOOLS_GQBENCH_GRAPH_H

#include "gq/Runtime/Types.h"

#include <stdbool.h>
#include <stddef.h>

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Something to measure: what becomes one kernel when it is fused.
typedef struct Operator {
  /// As on the command line and in reports.
  const char *name;
  gqElementType element;
  /// Inputs [M, K] of the producer; one without a producer.
  int numInputs;
  /// The body of a linalg.generic that makes %r of %u, and of %v if there are
  /// two inputs; null for none. It is of element type bf16.
  const char *producer;
  bool globalScale;
} Operator;

extern const Operator operators[];
extern const size_t numOperators;

/// Null if there is none of this name.
const Operator *operatorFind(const char *name);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Rows in uneven groups of consecutive rows, scales padded group by group.
typedef struct Shape {
  int64_t rows, columns, groups;
  /// [groups + 1] and [groups], owned.
  int32_t *offsets, *scaleOffsets;
  int64_t scaleRows;
} Shape;

/// Draws the groups, the same ones each time. `columns` is a multiple of 16,
/// and offsets fit into i32. False if there is no memory.
bool shapeInit(Shape *shape, int64_t rows, int64_t columns, int64_t groups);
void shapeFree(Shape *shape);

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

typedef enum Role {
  /// Random elements.
  ROLE_INPUT,
  ROLE_OFFSETS,
  ROLE_SCALE_OFFSETS,
  ROLE_GLOBAL_SCALE,
  /// What separate ops hand to each other.
  ROLE_INTERMEDIATE,
  ROLE_OUTPUT,
} Role;

/// An argument of the graph's function, as stored.
typedef struct Argument {
  Role role;
  gqElementType type;
  int rank;
  int64_t sizes[2];
} Argument;

enum {
  MAX_ARGUMENTS = 16,
};

typedef struct Graph {
  /// Of the function @main; owned.
  char *text;
  int numArguments, numResults;
  Argument arguments[MAX_ARGUMENTS];
} Graph;

/// The operator as a frontend writes it: producer, block_quantize,
/// preprocess_grouped_matmul_sf. With `keepsIntermediates` what is between them
/// is arguments and results too, so that nothing is allocated when the ops stay
/// separate; without it they can be fused. The other arguments are the same and
/// in the same order. False if there is no memory.
bool graphCreate(const Operator *op, const Shape *shape,
                 bool keepsIntermediates, Graph *graph);
void graphFree(Graph *graph);

size_t argumentSize(const Argument *argument);

/// The bytes that must be read and written once, whatever the kernels do:
/// inputs, data, scales without padding. The offsets are not worth counting.
double operatorBytes(const Operator *op, const Shape *shape);

#endif // GQ_TOOLS_GQBENCH_GRAPH_H
