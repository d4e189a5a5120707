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

/// What an operator has besides its input. Results are in tiles of 128x4.
enum {
  HAS_ROWS = 1 << 0,
  HAS_COLUMNS = 1 << 1,
  HAS_BOTH = HAS_ROWS | HAS_COLUMNS,
  /// In bf16.
  HAS_DBIAS = 1 << 2,
  HAS_GLOBAL_SCALE = 1 << 3,
  /// One per group, for the recipe te.
  HAS_OUTER_AMAX = 1 << 4,
  /// The kernel derives the scale offsets.
  HAS_PACKED_SCALES = 1 << 5,
  /// Rows of the input are picked by an index tensor.
  HAS_GATHER = 1 << 6,
  /// The op is not a quantization, but the grouped matmul of quantized data:
  /// input and weights [G, N, K] have the format, weights of a format with
  /// blocks of 1 by 128 that with 128 by 128; the result is `element`.
  HAS_PRODUCT = 1 << 7,
  /// It is the gradient of weights, [G, N, K], from the columnwise directions
  /// of [M, N] and of the input; the result is `element`.
  HAS_GRADIENT = 1 << 8,
  /// Blocks of 16 by 16 in both directions.
  HAS_SQUARES = 1 << 9,
  /// Columns are transformed; all directions are rounded stochastically.
  HAS_HADAMARD = 1 << 10,
  HAS_STOCHASTIC = 1 << 11,
  /// It is the dequantization of one direction; the result is `element`.
  /// Scales of f32 are linear.
  IS_DEQUANTIZED = 1 << 12,
  /// Of a format with a single scale: the scale of each group is given, and its
  /// amax is found in the same pass.
  HAS_DELAYED_SCALE = 1 << 13,
  /// Of such a format: the scale follows from the amax, found by an op before.
  HAS_CURRENT_SCALE = 1 << 14,
  /// Of two scales for a block the better one is taken, in both directions.
  HAS_FOUR_OVER_SIX = 1 << 15,
  /// Outer amaxes of rows and, of the columnwise direction, of the columns of a
  /// group, which gq.grouped_amax finds before and which are results, too.
  HAS_TOKENS = 1 << 16,
  /// It is gq.grouped_amax: of groups and, with HAS_HADAMARD, of their columns
  /// after the transform; of rows and of columns of a group, as the directions
  /// say.
  IS_AMAX = 1 << 17,
  /// It is gq.group_offsets, of the rows of each group.
  IS_OFFSETS = 1 << 18,
  /// It makes the numbers that codes stand for; separately, of two ops.
  IS_FAKE = 1 << 19,
  /// Of a product with a producer: what that takes is not next to each other,
  /// but in its two halves.
  HAS_HALVES = 1 << 20,
  /// A product by the kernel that has a workspace.
  HAS_WORKSPACE = 1 << 21,
  /// Of a product: what is stored is quantized to the same format.
  IS_REQUANTIZED = 1 << 22,
};

/// An element-wise op of bf16 before the quantization.
typedef struct Producer {
  /// [M, K] each; 1 or 2.
  int numInputs;
  /// The body of a linalg.generic that makes %r of %u, and of %v if there are
  /// two inputs.
  const char *body;
} Producer;

/// Something to measure: ops that become one kernel when fused.
typedef struct Operator {
  /// As on the command line and in reports.
  const char *name;
  gqElementType element;
  gqFormat format;
  /// HAS_ bits; a direction at least, but of an amax and of offsets.
  unsigned parts;
  /// Null for none; there is none with a gather.
  const Producer *producer;
  /// N, of a product or a gradient.
  int64_t outColumns;
} Operator;

extern const Operator operators[];
extern const size_t numOperators;

/// Null if no operator has this name.
const Operator *operatorFind(const char *name);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

typedef enum GroupSizes {
  /// Drawn from 64 to 191 parts of the rows.
  GROUPS_UNEVEN,
  GROUPS_EQUAL,
  /// One part for the largest group, 1/2 for the next, 1/3 and so on, in random
  /// order: as experts are chosen.
  GROUPS_ZIPF,
  NUM_GROUP_SIZES
} GroupSizes;

/// Their names on the command line and in reports.
extern const char *const groupSizesNames[NUM_GROUP_SIZES];

/// False if nothing has this name.
bool groupSizesFind(const char *name, GroupSizes *sizes);

/// How rows are divided into groups.
typedef struct Grouping {
  GroupSizes sizes;
  /// All groups but the last have a multiple of so many rows.
  int64_t multiple;
  /// Matrices have so many times the rows that are in groups.
  int64_t capacity;
} Grouping;

/// Groups of consecutive rows, scales padded group by group.
typedef struct Shape {
  /// Of matrices, and those of them that are in groups.
  int64_t rows, groupRows;
  int64_t columns, groups;
  /// [groups + 1] and [groups], owned.
  int32_t *offsets, *scaleOffsets;
  /// [groups], owned: the rows of each.
  int32_t *counts;
  int64_t scaleRows;
  /// [rows], owned: all rows in random order.
  int32_t *rowIndices;
  /// [groups], owned; from 4 to 5.
  float *perGroup;
} Shape;

/// Draws groups of so many rows in all, the same ones each time. `columns` is a
/// multiple of 32, and offsets fit into i32. False if there is no memory.
bool shapeInit(Shape *shape, int64_t groupRows, int64_t columns, int64_t groups,
               const Grouping *grouping);
void shapeFree(Shape *shape);

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

typedef enum Role {
  /// Random elements.
  ROLE_INPUT,
  ROLE_OFFSETS,
  ROLE_SCALE_OFFSETS,
  ROLE_COUNTS,
  ROLE_ROW_INDICES,
  ROLE_GLOBAL_SCALE,
  /// A float of each group, from 4 to 5: an outer amax or a scale.
  ROLE_PER_GROUP,
  /// Twice that, where columns are transformed, by which values grow.
  ROLE_PER_GROUP_TRANSFORMED,
  /// Four times that, where a producer multiplies.
  ROLE_PER_GROUP_PRODUCED,
  ROLE_RNG_STATE,
  /// What separate ops pass to each other.
  ROLE_INTERMEDIATE,
  ROLE_OUTPUT,
} Role;

/// An argument of the graph's function, as stored.
typedef struct Argument {
  Role role;
  gqElementType type;
  int rank;
  int64_t sizes[3];
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

/// The operator as a frontend writes it: a gather or a producer, then
/// block_quantize and preprocess_grouped_matmul_sf, or, for what these two do
/// not make, a grouped_block_quantize for each direction. With `isSeparate`
/// what is between the ops is arguments and results too, so that nothing but a
/// kernel's workspace is allocated when they stay separate, and packed scale
/// offsets are computed by a linalg.generic; without it the graph becomes one
/// kernel. The other arguments are the same and in the same order. A product is
/// one op in either case, and so is a dequantization; one that is requantized
/// has its epilogue in either; a current scale has its
/// grouped_amax in either. False if there is no memory.
bool graphCreate(const Operator *op, const Shape *shape, bool isSeparate,
                 Graph *graph);
void graphFree(Graph *graph);

size_t argumentSize(const Argument *argument);

/// The bytes that must be read and written once, whatever the kernels do:
/// inputs, data, scales and columns without padding, dbias; of a product
/// tokens, weights and result; the input of a current scale twice. Offsets,
/// indices, scales and amaxes of groups are not worth counting, but where
/// offsets are all there is.
double operatorBytes(const Operator *op, const Shape *shape);

/// The multiplications and additions of a product or a gradient, of rows that
/// are in groups; 0 for all else.
double operatorFlops(const Operator *op, const Shape *shape);

#endif // GQ_TOOLS_GQBENCH_GRAPH_H
