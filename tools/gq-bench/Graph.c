//===- Graph.c - the graphs that are measured -----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include "Values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static const char siluTimesUp[] = "    %one = arith.constant 1.0 : f32\n"
                                  "    %gate = arith.extf %u : bf16 to f32\n"
                                  "    %up = arith.extf %v : bf16 to f32\n"
                                  "    %neg = arith.negf %gate : f32\n"
                                  "    %exp = math.exp %neg : f32\n"
                                  "    %den = arith.addf %exp, %one : f32\n"
                                  "    %silu = arith.divf %gate, %den : f32\n"
                                  "    %product = arith.mulf %silu, %up : f32\n"
                                  "    %r = arith.truncf %product : f32 to "
                                  "bf16\n";

const Operator operators[] = {
    {"quantize-bf16", GQ_BF16, 1, NULL, false},
    {"quantize-f16", GQ_F16, 1, NULL, false},
    {"quantize-f32", GQ_F32, 1, NULL, false},
    {"quantize-bf16-global-scale", GQ_BF16, 1, NULL, true},
    {"silu-quantize-bf16", GQ_BF16, 2, siluTimesUp, false},
};
const size_t numOperators = sizeof(operators) / sizeof(operators[0]);

const Operator *operatorFind(const char *name) {
  for (size_t i = 0; i < numOperators; ++i)
    if (strcmp(operators[i].name, name) == 0)
      return &operators[i];
  return NULL;
}

double operatorBytes(const Operator *op, const Shape *shape) {
  double element =
      (double)op->numInputs * (double)gqElementTypeSize(op->element) + 0.5 +
      1.0 / 16;
  return (double)shape->rows * (double)shape->columns * element;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// A group has 64 to 191 parts of all the parts there are.
static void drawGroups(Shape *shape, const int64_t *parts, int64_t sum) {
  int64_t before = 0, scaleRow = 0;
  for (int64_t e = 0; e < shape->groups; ++e) {
    int64_t begin = before * shape->rows / sum;
    before += parts[e];
    int64_t end = before * shape->rows / sum;
    shape->offsets[e] = (int32_t)begin;
    shape->scaleOffsets[e] = (int32_t)scaleRow;
    scaleRow += (end - begin + 127) / 128 * 128;
  }
  shape->offsets[shape->groups] = (int32_t)shape->rows;
  shape->scaleRows = scaleRow;
}

bool shapeInit(Shape *shape, int64_t rows, int64_t columns, int64_t groups) {
  *shape = (Shape){.rows = rows, .columns = columns, .groups = groups};
  size_t count = (size_t)groups;
  shape->offsets = calloc(count + 1, sizeof(int32_t));
  shape->scaleOffsets = calloc(count, sizeof(int32_t));
  int64_t *parts = calloc(count, sizeof(int64_t));
  bool allocated = shape->offsets && shape->scaleOffsets && parts;
  if (allocated) {
    uint32_t state = 1;
    int64_t sum = 0;
    for (int64_t e = 0; e < groups; ++e)
      sum += parts[e] = 64 + valuesRandom(&state) % 128;
    drawGroups(shape, parts, sum);
  } else {
    shapeFree(shape);
  }
  free(parts);
  return allocated;
}

void shapeFree(Shape *shape) {
  free(shape->offsets);
  free(shape->scaleOffsets);
  shape->offsets = shape->scaleOffsets = NULL;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

enum {
  BLOCK = 16,
  TYPE_SIZE = 96,
};

/// The text of a graph in the making, with the types that occur everywhere.
typedef struct Builder {
  FILE *text;
  Graph *graph;
  const Operator *op;
  const Shape *shape;
  bool keepsIntermediates;
  char input[TYPE_SIZE], offsets[TYPE_SIZE], scaleOffsets[TYPE_SIZE];
  char data[TYPE_SIZE], linear[TYPE_SIZE], tiled[TYPE_SIZE];
} Builder;

static const char *elementName(gqElementType type) {
  return type == GQ_F32 ? "f32" : type == GQ_F16 ? "f16" : "bf16";
}

static int64_t tiledColumns(const Shape *shape) {
  return (shape->columns / BLOCK + 3) / 4 * 4;
}

static void nameTypes(Builder *b) {
  int64_t k = b->shape->columns, groups = b->shape->groups;
  snprintf(b->input, TYPE_SIZE, "tensor<?x%" PRId64 "x%s>", k,
           elementName(b->op->element));
  snprintf(b->offsets, TYPE_SIZE, "tensor<%" PRId64 "xi32>", groups + 1);
  snprintf(b->scaleOffsets, TYPE_SIZE, "tensor<%" PRId64 "xi32>", groups);
  snprintf(b->data, TYPE_SIZE, "tensor<?x%" PRId64 "xf4E2M1FN>", k);
  snprintf(b->linear, TYPE_SIZE, "tensor<?x%" PRId64 "xf8E4M3FN>", k / BLOCK);
  snprintf(b->tiled, TYPE_SIZE, "tensor<?x%" PRId64 "xf8E4M3FN, #gq.tile128x4>",
           tiledColumns(b->shape));
}

/// Prints an argument and notes how it is stored.
static void addArgument(Builder *b, const char *name, const char *type,
                        Argument argument) {
  Graph *graph = b->graph;
  fprintf(b->text, "%s%%%s: %s", graph->numArguments ? ",\n    " : "", name,
          type);
  graph->arguments[graph->numArguments++] = argument;
}

static void addArguments(Builder *b) {
  const Operator *op = b->op;
  const Shape *s = b->shape;
  Argument input = {ROLE_INPUT, op->element, 2, {s->rows, s->columns}};
  Argument activation = input;
  activation.role = ROLE_INTERMEDIATE;
  addArgument(b, "x", b->input, input);
  if (op->numInputs == 2)
    addArgument(b, "y", b->input, input);
  addArgument(b, "o", b->offsets,
              (Argument){ROLE_OFFSETS, GQ_I32, 1, {s->groups + 1}});
  addArgument(b, "so", b->scaleOffsets,
              (Argument){ROLE_SCALE_OFFSETS, GQ_I32, 1, {s->groups}});
  if (op->globalScale)
    addArgument(b, "g", "tensor<f32>",
                (Argument){ROLE_GLOBAL_SCALE, GQ_F32, 0, {0}});
  if (op->producer && b->keepsIntermediates)
    addArgument(b, "a0", b->input, activation);
  if (b->keepsIntermediates)
    addArgument(
        b, "l0", b->linear,
        (Argument){
            ROLE_INTERMEDIATE, GQ_F8E4M3FN, 2, {s->rows, s->columns / BLOCK}});
  addArgument(b, "q0", b->data,
              (Argument){ROLE_OUTPUT, GQ_I8, 2, {s->rows, s->columns / 2}});
  addArgument(
      b, "t0", b->tiled,
      (Argument){ROLE_OUTPUT, GQ_F8E4M3FN, 2, {s->scaleRows, tiledColumns(s)}});
}

/// What keepsIntermediates passes as arguments.
static void printEmpties(Builder *b) {
  fprintf(b->text,
          "  %%c0 = arith.constant 0 : index\n"
          "  %%m = tensor.dim %%x, %%c0 : %s\n"
          "  %%l0 = tensor.empty(%%m) : %s\n",
          b->input, b->linear);
  if (b->op->producer)
    fprintf(b->text, "  %%a0 = tensor.empty(%%m) : %s\n", b->input);
}

static void printProducer(Builder *b) {
  const char *element = elementName(b->op->element), *type = b->input;
  bool isBinary = b->op->numInputs == 2;
  fprintf(b->text,
          "  %%a = linalg.generic {indexing_maps = [%s#id, #id], "
          "iterator_types = [\"parallel\", \"parallel\"]}\n"
          "      ins(%%x%s : %s%s%s) outs(%%a0 : %s) {\n"
          "  ^bb0(%%u: %s, ",
          isBinary ? "#id, " : "", isBinary ? ", %y" : "", type,
          isBinary ? ", " : "", isBinary ? type : "", type, element);
  if (isBinary)
    fprintf(b->text, "%%v: %s, ", element);
  fprintf(b->text, "%%init: %s):\n%s    linalg.yield %%r : %s\n  } -> %s\n",
          element, b->op->producer, element, type);
}

static void printQuantization(Builder *b) {
  fprintf(b->text,
          "  %%q, %%l = gq.block_quantize format(nvfp4) ins(%%%s : %s) %s\n"
          "      outs(%%q0, %%l0 : %s, %s) -> %s, %s\n",
          b->op->producer ? "a" : "x", b->input,
          b->op->globalScale ? "global_scale(%g : tensor<f32>)" : "", b->data,
          b->linear, b->data, b->linear);
  fprintf(b->text,
          "  %%t = gq.preprocess_grouped_matmul_sf format(nvfp4)\n"
          "      ins(%%l : %s) groups(%%o, %%so : %s, %s)\n"
          "      outs(%%t0 : %s) -> %s\n",
          b->linear, b->offsets, b->scaleOffsets, b->tiled, b->tiled);
}

static void printFunction(Builder *b) {
  bool hasActivation = b->op->producer && b->keepsIntermediates;
  char results[4 * TYPE_SIZE];
  snprintf(results, sizeof(results), "%s%s%s%s%s, %s",
           hasActivation ? b->input : "", hasActivation ? ", " : "",
           b->keepsIntermediates ? b->linear : "",
           b->keepsIntermediates ? ", " : "", b->data, b->tiled);
  b->graph->numResults = 2 + hasActivation + b->keepsIntermediates;
  fprintf(b->text, "#id = affine_map<(m, k) -> (m, k)>\nfunc.func @main(");
  addArguments(b);
  fprintf(b->text, ")\n    -> (%s) {\n", results);
  if (!b->keepsIntermediates)
    printEmpties(b);
  if (b->op->producer)
    printProducer(b);
  printQuantization(b);
  fprintf(b->text, "  return %s%s%%q, %%t : %s\n}\n",
          hasActivation ? "%a, " : "", b->keepsIntermediates ? "%l, " : "",
          results);
}

bool graphCreate(const Operator *op, const Shape *shape,
                 bool keepsIntermediates, Graph *graph) {
  *graph = (Graph){.text = NULL};
  size_t length;
  Builder builder = {.text = open_memstream(&graph->text, &length),
                     .graph = graph,
                     .op = op,
                     .shape = shape,
                     .keepsIntermediates = keepsIntermediates};
  if (!builder.text)
    return false;
  nameTypes(&builder);
  printFunction(&builder);
  return fclose(builder.text) == 0;
}

void graphFree(Graph *graph) {
  free(graph->text);
  graph->text = NULL;
}

size_t argumentSize(const Argument *argument) {
  size_t size = (size_t)gqElementTypeSize(argument->type);
  for (int i = 0; i < argument->rank; ++i)
    size *= (size_t)argument->sizes[i];
  return size;
}
