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

/// silu(%u) * %v. The flags are of the exponential function and of the
/// division.
#define SILU_TIMES_UP(EXP, DIVISION)                                           \
  {2, "    %one = arith.constant 1.0 : f32\n"                                  \
      "    %gate = arith.extf %u : bf16 to f32\n"                              \
      "    %up = arith.extf %v : bf16 to f32\n"                                \
      "    %neg = arith.negf %gate : f32\n"                                    \
      "    %exp = math.exp %neg " EXP ": f32\n"                                \
      "    %den = arith.addf %exp, %one : f32\n"                               \
      "    %silu = arith.divf %gate, %den " DIVISION ": f32\n"                 \
      "    %product = arith.mulf %silu, %up : f32\n"                           \
      "    %r = arith.truncf %product : f32 to bf16\n"}
static const Producer siluTimesUp = SILU_TIMES_UP("", "");
/// By the chip's approximations.
static const Producer fastSiluTimesUp =
    SILU_TIMES_UP("fastmath<afn> ", "fastmath<arcp,afn> ");

static const Producer silu = {1, "    %one = arith.constant 1.0 : f32\n"
                                 "    %in = arith.extf %u : bf16 to f32\n"
                                 "    %neg = arith.negf %in : f32\n"
                                 "    %exp = math.exp %neg : f32\n"
                                 "    %den = arith.addf %exp, %one : f32\n"
                                 "    %silu = arith.divf %in, %den : f32\n"
                                 "    %r = arith.truncf %silu : f32 to bf16\n"};

/// %u times the derivative of gelu at %v, which is, with a = sqrt(2/pi),
/// b = 0.044715 a and t = tanh(a v + b v^3),
/// (1 + t + v (1 - t^2) (a + 3 b v^2)) / 2.
static const Producer dgelu = {
    2, "    %one = arith.constant 1.0 : f32\n"
       "    %half = arith.constant 0.5 : f32\n"
       "    %a = arith.constant 0.797884583 : f32\n"
       "    %b = arith.constant 0.0356774069 : f32\n"
       "    %b3 = arith.constant 0.107032225 : f32\n"
       "    %grad = arith.extf %u : bf16 to f32\n"
       "    %in = arith.extf %v : bf16 to f32\n"
       "    %square = arith.mulf %in, %in : f32\n"
       "    %b_square = arith.mulf %b, %square : f32\n"
       "    %factor = arith.addf %a, %b_square : f32\n"
       "    %arg = arith.mulf %in, %factor : f32\n"
       "    %t = math.tanh %arg : f32\n"
       "    %t_square = arith.mulf %t, %t : f32\n"
       "    %dt = arith.subf %one, %t_square : f32\n"
       "    %b3_square = arith.mulf %b3, %square : f32\n"
       "    %dfactor = arith.addf %a, %b3_square : f32\n"
       "    %in_dt = arith.mulf %in, %dt : f32\n"
       "    %slope = arith.mulf %in_dt, %dfactor : f32\n"
       "    %one_t = arith.addf %one, %t : f32\n"
       "    %sum = arith.addf %one_t, %slope : f32\n"
       "    %dgelu = arith.mulf %half, %sum : f32\n"
       "    %product = arith.mulf %grad, %dgelu : f32\n"
       "    %r = arith.truncf %product : f32 to bf16\n"};

enum {
  NVFP4 = GQ_FORMAT_NVFP4,
  MXFP4 = GQ_FORMAT_MXFP4,
  MXFP8 = GQ_FORMAT_MXFP8_E4M3,
  FP8_BLOCKS = GQ_FORMAT_FP8_E4M3_1X128,
};

const Operator operators[] = {
    {"quantize-bf16", GQ_BF16, NVFP4, HAS_ROWS, NULL, 0},
    {"quantize-f16", GQ_F16, NVFP4, HAS_ROWS, NULL, 0},
    {"quantize-f32", GQ_F32, NVFP4, HAS_ROWS, NULL, 0},
    {"quantize-bf16-global-scale", GQ_BF16, NVFP4, HAS_ROWS | HAS_GLOBAL_SCALE,
     NULL, 0},
    {"quantize-bf16-packed", GQ_BF16, NVFP4, HAS_ROWS | HAS_PACKED_SCALES, NULL,
     0},
    {"quantize-bf16-dbias", GQ_BF16, NVFP4, HAS_ROWS | HAS_DBIAS, NULL, 0},
    {"quantize-bf16-both", GQ_BF16, NVFP4, HAS_BOTH, NULL, 0},
    {"te-bf16", GQ_BF16, NVFP4, HAS_ROWS | HAS_OUTER_AMAX, NULL, 0},
    {"te-bf16-both", GQ_BF16, NVFP4, HAS_BOTH | HAS_OUTER_AMAX, NULL, 0},
    {"te-bf16-both-dbias", GQ_BF16, NVFP4,
     HAS_BOTH | HAS_OUTER_AMAX | HAS_DBIAS, NULL, 0},
    {"te-bf16-both-16x16", GQ_BF16, NVFP4,
     HAS_BOTH | HAS_OUTER_AMAX | HAS_SQUARES, NULL, 0},
    {"te-bf16-both-four-over-six", GQ_BF16, NVFP4,
     HAS_BOTH | HAS_OUTER_AMAX | HAS_FOUR_OVER_SIX, NULL, 0},
    {"te-bf16-tokens", GQ_BF16, NVFP4, HAS_ROWS | HAS_TOKENS, NULL, 0},
    {"te-bf16-both-tokens", GQ_BF16, NVFP4, HAS_BOTH | HAS_TOKENS, NULL, 0},
    {"te-bf16-columns", GQ_BF16, NVFP4, HAS_COLUMNS | HAS_OUTER_AMAX, NULL, 0},
    {"te-bf16-columns-hadamard", GQ_BF16, NVFP4,
     HAS_COLUMNS | HAS_OUTER_AMAX | HAS_HADAMARD, NULL, 0},
    {"te-bf16-columns-gradient", GQ_BF16, NVFP4,
     HAS_COLUMNS | HAS_OUTER_AMAX | HAS_HADAMARD | HAS_STOCHASTIC, NULL, 0},
    // Activations and gradients as Transformer Engine's recipe has them.
    {"te-bf16-both-hadamard", GQ_BF16, NVFP4,
     HAS_BOTH | HAS_OUTER_AMAX | HAS_HADAMARD, NULL, 0},
    {"te-bf16-both-gradient", GQ_BF16, NVFP4,
     HAS_BOTH | HAS_OUTER_AMAX | HAS_HADAMARD | HAS_STOCHASTIC, NULL, 0},
    {"silu-quantize-bf16", GQ_BF16, NVFP4, HAS_ROWS, &siluTimesUp, 0},
    {"silu-fastmath-quantize-bf16", GQ_BF16, NVFP4, HAS_ROWS, &fastSiluTimesUp,
     0},
    {"silu-te-bf16-both", GQ_BF16, NVFP4, HAS_BOTH | HAS_OUTER_AMAX,
     &siluTimesUp, 0},
    {"silu-mxfp8-bf16-both", GQ_BF16, MXFP8, HAS_BOTH, &siluTimesUp, 0},
    {"gather-quantize-bf16", GQ_BF16, NVFP4, HAS_ROWS | HAS_GATHER, NULL, 0},
    {"mxfp8-bf16", GQ_BF16, MXFP8, HAS_ROWS, NULL, 0},
    {"mxfp8-bf16-dbias", GQ_BF16, MXFP8, HAS_ROWS | HAS_DBIAS, NULL, 0},
    {"mxfp8-bf16-both", GQ_BF16, MXFP8, HAS_BOTH, NULL, 0},
    {"mxfp8-bf16-both-dbias", GQ_BF16, MXFP8, HAS_BOTH | HAS_DBIAS, NULL, 0},
    {"dgelu-mxfp8-bf16-both-dbias", GQ_BF16, MXFP8, HAS_BOTH | HAS_DBIAS,
     &dgelu, 0},
    {"mxfp4-bf16", GQ_BF16, MXFP4, HAS_ROWS, NULL, 0},
    {"mxfp4-bf16-both", GQ_BF16, MXFP4, HAS_BOTH, NULL, 0},
    {"fp8-1x128-bf16", GQ_BF16, FP8_BLOCKS, HAS_ROWS, NULL, 0},
    {"fp8-1x128-bf16-both", GQ_BF16, FP8_BLOCKS, HAS_BOTH, NULL, 0},
    {"delayed-e4m3-bf16", GQ_BF16, GQ_FORMAT_FP8_E4M3,
     HAS_ROWS | HAS_DELAYED_SCALE, NULL, 0},
    {"delayed-e4m3-bf16-both", GQ_BF16, GQ_FORMAT_FP8_E4M3,
     HAS_BOTH | HAS_DELAYED_SCALE, NULL, 0},
    {"current-e4m3-bf16", GQ_BF16, GQ_FORMAT_FP8_E4M3,
     HAS_ROWS | HAS_CURRENT_SCALE, NULL, 0},
    {"current-e4m3-bf16-both", GQ_BF16, GQ_FORMAT_FP8_E4M3,
     HAS_BOTH | HAS_CURRENT_SCALE, NULL, 0},
    {"group-offsets", GQ_BF16, NVFP4, IS_OFFSETS, NULL, 0},
    {"amax-bf16", GQ_BF16, NVFP4, IS_AMAX, NULL, 0},
    {"amax-bf16-rows", GQ_BF16, NVFP4, IS_AMAX | HAS_ROWS, NULL, 0},
    {"amax-bf16-both", GQ_BF16, NVFP4, IS_AMAX | HAS_BOTH, NULL, 0},
    {"amax-bf16-hadamard", GQ_BF16, NVFP4, IS_AMAX | HAS_HADAMARD, NULL, 0},
    {"dequantize-nvfp4", GQ_BF16, NVFP4, HAS_ROWS | IS_DEQUANTIZED, NULL, 0},
    {"dequantize-nvfp4-columns", GQ_BF16, NVFP4, HAS_COLUMNS | IS_DEQUANTIZED,
     NULL, 0},
    {"dequantize-mxfp4", GQ_BF16, MXFP4, HAS_ROWS | IS_DEQUANTIZED, NULL, 0},
    {"dequantize-mxfp8", GQ_BF16, MXFP8, HAS_ROWS | IS_DEQUANTIZED, NULL, 0},
    {"dequantize-mxfp8-columns", GQ_BF16, MXFP8, HAS_COLUMNS | IS_DEQUANTIZED,
     NULL, 0},
    {"dequantize-fp8", GQ_BF16, FP8_BLOCKS, HAS_ROWS | IS_DEQUANTIZED, NULL, 0},
    {"dequantize-e4m3", GQ_BF16, GQ_FORMAT_FP8_E4M3, HAS_ROWS | IS_DEQUANTIZED,
     NULL, 0},
    {"dequantize-nvfp4-silu", GQ_BF16, NVFP4, HAS_ROWS | IS_DEQUANTIZED, &silu,
     0},
    {"fake-nvfp4", GQ_BF16, NVFP4, HAS_ROWS | IS_FAKE, NULL, 0},
    {"fake-mxfp8", GQ_BF16, MXFP8, HAS_ROWS | IS_FAKE, NULL, 0},
    // N of Llama 4 Maverick (K 5120, 128 experts), DeepSeek-V3 (7168, 256) and
    // Qwen3-235B (4096, 128).
    {"mm-nvfp4-n8192", GQ_BF16, NVFP4, HAS_PRODUCT, NULL, 8192},
    {"mm-nvfp4-n2048", GQ_BF16, NVFP4, HAS_PRODUCT, NULL, 2048},
    {"mm-nvfp4-n1536", GQ_BF16, NVFP4, HAS_PRODUCT, NULL, 1536},
    {"mm-nvfp4-n8192-tiles256", GQ_BF16, NVFP4, HAS_PRODUCT | HAS_WORKSPACE,
     NULL, 8192},
    {"mm-nvfp4-n1536-tiles256", GQ_BF16, NVFP4, HAS_PRODUCT | HAS_WORKSPACE,
     NULL, 1536},
    // Gate and up beside each other, and what is made of them.
    {"mm-nvfp4-n8192-silu", GQ_BF16, NVFP4, HAS_PRODUCT, &siluTimesUp, 8192},
    {"mm-nvfp4-n1536-silu", GQ_BF16, NVFP4, HAS_PRODUCT, &siluTimesUp, 1536},
    {"mm-nvfp4-n8192-silu-halves", GQ_BF16, NVFP4, HAS_PRODUCT | HAS_HALVES,
     &siluTimesUp, 8192},
    {"mm-nvfp4-n1536-silu-halves", GQ_BF16, NVFP4, HAS_PRODUCT | HAS_HALVES,
     &siluTimesUp, 1536},
    // Quantized for the next layer.
    {"mm-nvfp4-n8192-silu-quantized", GQ_BF16, NVFP4,
     HAS_PRODUCT | IS_REQUANTIZED, &siluTimesUp, 8192},
    {"mm-nvfp4-n1536-silu-quantized", GQ_BF16, NVFP4,
     HAS_PRODUCT | IS_REQUANTIZED, &siluTimesUp, 1536},
    {"mm-mxfp8-n8192", GQ_BF16, MXFP8, HAS_PRODUCT, NULL, 8192},
    {"mm-mxfp8-n2048", GQ_BF16, MXFP8, HAS_PRODUCT, NULL, 2048},
    {"mm-mxfp4-n8192", GQ_BF16, MXFP4, HAS_PRODUCT, NULL, 8192},
    // Blocks of 1 by 128, of weights 128 by 128; one scale a group.
    {"mm-fp8-n8192", GQ_BF16, FP8_BLOCKS, HAS_PRODUCT, NULL, 8192},
    {"mm-fp8-n1536", GQ_BF16, FP8_BLOCKS, HAS_PRODUCT, NULL, 1536},
    {"mm-e4m3-n8192", GQ_BF16, GQ_FORMAT_FP8_E4M3, HAS_PRODUCT, NULL, 8192},
    {"mm-e4m3-n1536", GQ_BF16, GQ_FORMAT_FP8_E4M3, HAS_PRODUCT, NULL, 1536},
    {"wgrad-nvfp4-n8192", GQ_BF16, NVFP4, HAS_GRADIENT, NULL, 8192},
    {"wgrad-nvfp4-n1536", GQ_BF16, NVFP4, HAS_GRADIENT, NULL, 1536},
    {"wgrad-mxfp8-n2048", GQ_BF16, MXFP8, HAS_GRADIENT, NULL, 2048},
};

/// Whether the format has one scale a group, which is not stored.
static bool hasOneScale(gqFormatTraits traits) {
  return traits.scaleRule == GQ_SCALE_RULE_GIVEN;
}

/// Of the weights of a product.
static gqFormatTraits weightsTraits(const Operator *op) {
  return gqFormatGetTraits(op->format == FP8_BLOCKS ? GQ_FORMAT_FP8_E4M3_128X128
                                                    : op->format);
}

/// Bytes of an element, with its part of its block's scale.
static double bytesOfElement(gqFormatTraits traits) {
  double bytes = (double)traits.dataBits / 8;
  if (!hasOneScale(traits))
    bytes += (double)gqElementTypeSize(traits.scaleType) /
             (double)(traits.blockRows * traits.blockColumns);
  return bytes;
}

/// Columns that are stored of a product: with an epilogue one for two.
static int64_t storedColumns(const Operator *op) {
  return op->producer ? op->outColumns / 2 : op->outColumns;
}

const size_t numOperators = sizeof(operators) / sizeof(operators[0]);

const Operator *operatorFind(const char *name) {
  for (size_t i = 0; i < numOperators; ++i)
    if (strcmp(operators[i].name, name) == 0)
      return &operators[i];
  return NULL;
}

double operatorBytes(const Operator *op, const Shape *shape) {
  gqFormatTraits traits = gqFormatGetTraits(op->format);
  double columns = (double)shape->columns;
  double input = (double)gqElementTypeSize(op->element) *
                 (op->producer ? op->producer->numInputs : 1);
  double direction = bytesOfElement(traits);
  double rows = (double)shape->groupRows;
  if (op->parts & IS_OFFSETS) // Counts, and both offsets.
    return 4 * (3 * (double)shape->groups + 1);
  if (op->parts & HAS_PRODUCT) {
    int64_t used = 0;
    for (int64_t e = 0; e < shape->groups; ++e)
      used += shape->offsets[e + 1] > shape->offsets[e];
    double n = (double)op->outColumns;
    double weights = bytesOfElement(weightsTraits(op));
    return (rows * direction + (double)used * n * weights) * columns +
           rows * (double)storedColumns(op) *
               (op->parts & IS_REQUANTIZED
                    ? direction
                    : (double)gqElementTypeSize(op->element));
  }
  if (op->parts & HAS_GRADIENT) {
    double n = (double)op->outColumns;
    return rows * (columns + n) * direction +
           (double)shape->groups * n * columns *
               (double)gqElementTypeSize(op->element);
  }
  if (op->parts & IS_DEQUANTIZED)
    return rows * columns * (direction + input);
  if (op->parts & IS_FAKE)
    return rows * columns * 2 * input;
  // Amaxes of rows and columns, in f32.
  double amaxes =
      4 * ((op->parts & HAS_ROWS ? rows : 0) +
           (op->parts & HAS_COLUMNS ? (double)shape->groups * columns : 0));
  if (op->parts & IS_AMAX)
    return rows * columns * input + amaxes;
  int directions = !!(op->parts & HAS_ROWS) + !!(op->parts & HAS_COLUMNS);
  bool isTwice = op->parts & HAS_CURRENT_SCALE ||
                 (op->parts & HAS_TOKENS && op->parts & HAS_COLUMNS);
  int readings = isTwice ? 2 : 1;
  double bytes = rows * columns * (readings * input + directions * direction);
  if (op->parts & HAS_DBIAS)
    bytes += 2 * (double)shape->groups * columns;
  if (op->parts & HAS_TOKENS)
    bytes += amaxes;
  return bytes;
}

double operatorFlops(const Operator *op, const Shape *shape) {
  return op->parts & (HAS_PRODUCT | HAS_GRADIENT)
             ? 2.0 * (double)shape->groupRows * (double)shape->columns *
                   (double)op->outColumns
             : 0;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

const char *const groupSizesNames[NUM_GROUP_SIZES] = {"uneven", "equal",
                                                      "zipf"};

bool groupSizesFind(const char *name, GroupSizes *sizes) {
  for (int i = 0; i < NUM_GROUP_SIZES; ++i)
    if (strcmp(name, groupSizesNames[i]) == 0) {
      *sizes = (GroupSizes)i;
      return true;
    }
  return false;
}

/// How many of all the parts each group has; returns their sum.
static int64_t drawParts(int64_t *parts, int64_t groups, GroupSizes sizes,
                         uint32_t *state) {
  int64_t sum = 0;
  for (int64_t e = 0; e < groups; ++e)
    sum += parts[e] = sizes == GROUPS_UNEVEN  ? 64 + valuesRandom(state) % 128
                      : sizes == GROUPS_EQUAL ? 1
                                              : (1 << 20) / (e + 1);
  for (int64_t e = 0; sizes == GROUPS_ZIPF && e < groups; ++e) {
    int64_t other = valuesRandom(state) % (e + 1), part = parts[e];
    parts[e] = parts[other];
    parts[other] = part;
  }
  return sum;
}

static void drawGroups(Shape *shape, const int64_t *parts, int64_t sum,
                       int64_t unit) {
  int64_t before = 0, end = 0, scaleRow = 0;
  for (int64_t e = 0; e < shape->groups; ++e) {
    int64_t begin = end;
    before += parts[e];
    end = before < sum ? before * shape->groupRows / sum / unit * unit
                       : shape->groupRows;
    shape->offsets[e] = (int32_t)begin;
    shape->scaleOffsets[e] = (int32_t)scaleRow;
    shape->counts[e] = (int32_t)(end - begin);
    scaleRow += (end - begin + 127) / 128 * 128;
  }
  shape->offsets[shape->groups] = (int32_t)shape->groupRows;
  shape->scaleRows = scaleRow;
}

static void shuffleRows(Shape *shape, uint32_t *state) {
  for (int64_t m = 0; m < shape->rows; ++m) {
    int64_t other = valuesRandom(state) % (m + 1);
    shape->rowIndices[m] = shape->rowIndices[other];
    shape->rowIndices[other] = (int32_t)m;
  }
}

bool shapeInit(Shape *shape, int64_t groupRows, int64_t columns, int64_t groups,
               const Grouping *grouping) {
  int64_t rows = groupRows * grouping->capacity;
  *shape = (Shape){.rows = rows,
                   .groupRows = groupRows,
                   .columns = columns,
                   .groups = groups};
  size_t count = (size_t)groups;
  shape->offsets = calloc(count + 1, sizeof(int32_t));
  shape->scaleOffsets = calloc(count, sizeof(int32_t));
  shape->counts = calloc(count, sizeof(int32_t));
  shape->rowIndices = calloc((size_t)rows, sizeof(int32_t));
  shape->perGroup = calloc(count, sizeof(float));
  int64_t *parts = calloc(count, sizeof(int64_t));
  bool allocated = shape->offsets && shape->scaleOffsets && shape->counts &&
                   shape->rowIndices && shape->perGroup && parts;
  if (allocated) {
    uint32_t state = 1;
    int64_t sum = drawParts(parts, groups, grouping->sizes, &state);
    drawGroups(shape, parts, sum, grouping->multiple);
    shuffleRows(shape, &state);
    for (int64_t e = 0; e < groups; ++e) // Values are below 4.
      shape->perGroup[e] = 4 + (float)valuesRandom(&state) * 0x1p-24f;
  } else {
    shapeFree(shape);
  }
  free(parts);
  return allocated;
}

void shapeFree(Shape *shape) {
  free(shape->offsets);
  free(shape->scaleOffsets);
  free(shape->counts);
  free(shape->rowIndices);
  free(shape->perGroup);
  *shape = (Shape){0};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

enum {
  TYPE_SIZE = 96,
  LIST_SIZE = 1024,
};

/// The text of a graph being written, with what occurs in several places.
typedef struct Builder {
  FILE *text;
  Graph *graph;
  const Operator *op;
  const Shape *shape;
  gqFormatTraits traits;
  bool isSeparate;
  char input[TYPE_SIZE], offsets[TYPE_SIZE], scaleOffsets[TYPE_SIZE];
  char data[TYPE_SIZE], linear[TYPE_SIZE], tiled[TYPE_SIZE];
  char columnData[TYPE_SIZE], columnTiled[TYPE_SIZE], dbias[TYPE_SIZE];
  /// One float per group, per row, and per column of a group.
  char perGroup[TYPE_SIZE], perRow[TYPE_SIZE], perColumn[TYPE_SIZE];
  char weights[TYPE_SIZE], weightScales[TYPE_SIZE], product[TYPE_SIZE],
      stored[TYPE_SIZE], storedData[TYPE_SIZE], storedTiled[TYPE_SIZE],
      gradientData[TYPE_SIZE], gradient[TYPE_SIZE];
  /// The operands of groups() for rows and for columns.
  char groups[3 * TYPE_SIZE], columnGroups[3 * TYPE_SIZE];
  /// global_scale() or outer_amax().
  char outer[TYPE_SIZE];
  /// What is returned: a result for each output and intermediate, %q for %q0.
  char results[LIST_SIZE], resultTypes[LIST_SIZE];
} Builder;

static bool has(const Builder *b, unsigned part) { return b->op->parts & part; }

/// Whether an op before the quantization makes %a.
static bool hasActivation(const Builder *b) {
  return b->op->producer || has(b, HAS_GATHER);
}

/// Whether scales, if there are some, are float32 and not in tiles.
static bool hasLinearScales(const Builder *b) {
  return b->traits.scaleType == GQ_F32;
}

/// Whether block_quantize and preprocess_grouped_matmul_sf make all of it.
static bool isTwoOps(const Builder *b) {
  return (b->op->parts &
          ~(unsigned)(HAS_ROWS | HAS_GLOBAL_SCALE | HAS_GATHER)) == 0 &&
         !hasLinearScales(b);
}

/// Whether gq.grouped_amax finds the amaxes of rows, or of columns.
static bool hasAmaxes(const Builder *b, unsigned direction) {
  return (has(b, HAS_TOKENS) || has(b, IS_AMAX)) && has(b, direction);
}

static bool hasScaleOffsets(const Builder *b) {
  return !hasLinearScales(b) && (!has(b, HAS_PACKED_SCALES) || b->isSeparate);
}

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static int64_t tiledColumns(const Builder *b) {
  return roundUp(b->shape->columns / b->traits.blockColumns, 4);
}

/// Of what is stored of a product.
static int64_t storedTiledColumns(const Builder *b) {
  return roundUp(storedColumns(b->op) / b->traits.blockColumns, 4);
}

/// Whether the epilogue of a product is part of the op.
static bool hasEpilogue(const Builder *b) {
  return b->op->producer && (!b->isSeparate || has(b, IS_REQUANTIZED));
}

static int64_t linearColumns(const Builder *b) {
  return b->shape->columns / b->traits.blockColumns;
}

/// Rows of scales of a group's weights.
static int64_t weightScaleRows(const Builder *b) {
  int64_t height = weightsTraits(b->op).blockRows, n = b->op->outColumns;
  return hasLinearScales(b) ? (n + height - 1) / height : roundUp(n, 128);
}

/// The columns of the transposed matrices of all groups, or of their scales.
static int64_t transposedColumns(const Builder *b, bool ofScales) {
  const int32_t *offsets = b->shape->offsets;
  int64_t sum = 0;
  for (int64_t e = 0; e < b->shape->groups; ++e) {
    int64_t rows = roundUp(offsets[e + 1] - offsets[e], 32);
    int64_t block = b->traits.blockColumns, blocks = (rows + block - 1) / block;
    sum += !ofScales ? rows : hasLinearScales(b) ? blocks : roundUp(blocks, 4);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Of a tensor's elements.
static const char *elementName(gqElementType type) {
  return type == GQ_F32 ? "f32" : type == GQ_F16 ? "f16" : "bf16";
}

/// Of a tensor's codes.
static const char *codeName(gqCode code) {
  switch (code) {
#define GQ_CODE(NAME, BITS, TYPE, MLIR_TYPE, MAX)                              \
  case GQ_CODE_##NAME:                                                         \
    return #MLIR_TYPE;
    GQ_CODES(GQ_CODE)
#undef GQ_CODE
  }
  return "";
}

/// Of a tensor's scales.
static const char *scaleName(gqScaleRule rule) {
  switch (rule) {
#define GQ_SCALE_RULE(NAME, TYPE, MLIR_TYPE)                                   \
  case GQ_SCALE_RULE_##NAME:                                                   \
    return #MLIR_TYPE;
    GQ_SCALE_RULES(GQ_SCALE_RULE)
#undef GQ_SCALE_RULE
  }
  return "";
}

static void nameMatrix(char name[TYPE_SIZE], int64_t columns,
                       const char *element, const char *encoding) {
  snprintf(name, TYPE_SIZE, "tensor<?x%" PRId64 "x%s%s>", columns, element,
           encoding);
}

static void nameTypes(Builder *b) {
  static const char tiles[] = ", #gq.tile128x4";
  int64_t k = b->shape->columns, groups = b->shape->groups;
  const char *data = codeName(b->traits.code);
  const char *scale = scaleName(b->traits.scaleRule);
  nameMatrix(b->input, k, elementName(b->op->element), "");
  nameMatrix(b->data, k, data, "");
  nameMatrix(b->linear, k / b->traits.blockColumns, scale, "");
  nameMatrix(b->tiled, tiledColumns(b), scale, tiles);
  snprintf(b->columnData, TYPE_SIZE, "tensor<?x%s>", data);
  snprintf(b->columnTiled, TYPE_SIZE, "tensor<?x%s%s>", scale,
           hasLinearScales(b) ? "" : tiles);
  snprintf(b->dbias, TYPE_SIZE, "tensor<%" PRId64 "x%" PRId64 "xbf16>", groups,
           k);
  int64_t n = b->op->outColumns;
  snprintf(b->weights, TYPE_SIZE,
           "tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>", groups, n, k,
           data);
  snprintf(b->weightScales, TYPE_SIZE,
           "tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s%s>", groups,
           weightScaleRows(b),
           hasLinearScales(b) ? linearColumns(b) : tiledColumns(b), scale,
           hasLinearScales(b) ? "" : tiles);
  nameMatrix(b->product, n, elementName(b->op->element), "");
  nameMatrix(b->stored, storedColumns(b->op), elementName(b->op->element), "");
  nameMatrix(b->storedData, storedColumns(b->op), data, "");
  nameMatrix(b->storedTiled, storedTiledColumns(b), scale, tiles);
  nameMatrix(b->gradientData, n, data, "");
  snprintf(b->gradient, TYPE_SIZE,
           "tensor<%" PRId64 "x%" PRId64 "x%" PRId64 "x%s>", groups, n, k,
           elementName(b->op->element));
  snprintf(b->offsets, TYPE_SIZE, "tensor<%" PRId64 "xi32>", groups + 1);
  snprintf(b->scaleOffsets, TYPE_SIZE, "tensor<%" PRId64 "xi32>", groups);
  snprintf(b->perGroup, TYPE_SIZE, "tensor<%" PRId64 "xf32>", groups);
  snprintf(b->perRow, TYPE_SIZE, "tensor<?xf32>");
  snprintf(b->perColumn, TYPE_SIZE, "tensor<%" PRId64 "x%" PRId64 "xf32>",
           groups, k);
  snprintf(b->columnGroups, sizeof(b->columnGroups), "%%o : %s", b->offsets);
  if (hasScaleOffsets(b))
    snprintf(b->groups, sizeof(b->groups), "%%o, %%so : %s, %s", b->offsets,
             b->scaleOffsets);
  else
    memcpy(b->groups, b->columnGroups, sizeof(b->groups));
  if (has(b, HAS_GLOBAL_SCALE))
    snprintf(b->outer, TYPE_SIZE, "global_scale(%%g : tensor<f32>)");
  if (has(b, HAS_OUTER_AMAX))
    snprintf(b->outer, TYPE_SIZE, "outer_amax(%%g : %.48s)", b->perGroup);
  if (has(b, HAS_DELAYED_SCALE))
    snprintf(b->outer, TYPE_SIZE, "scale(%%g : %.48s)", b->perGroup);
  if (has(b, HAS_CURRENT_SCALE))
    snprintf(b->outer, TYPE_SIZE, "outer_amax(%%m : %.48s)", b->perGroup);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Prints an argument and notes how it is stored, and the result that is
/// written into it.
static void addArgument(Builder *b, const char *name, const char *type,
                        Argument argument) {
  Graph *graph = b->graph;
  fprintf(b->text, "%s%%%s: %s", graph->numArguments ? ",\n    " : "", name,
          type);
  graph->arguments[graph->numArguments++] = argument;
  if (argument.role != ROLE_OUTPUT && argument.role != ROLE_INTERMEDIATE)
    return;
  const char *comma = graph->numResults++ ? ", " : "";
  size_t length = strlen(b->results), typesLength = strlen(b->resultTypes);
  snprintf(b->results + length, LIST_SIZE - length, "%s%%%.*s", comma,
           (int)strlen(name) - 1, name);
  snprintf(b->resultTypes + typesLength, LIST_SIZE - typesLength, "%s%s", comma,
           type);
}

static void addInputs(Builder *b) {
  const Operator *op = b->op;
  const Shape *s = b->shape;
  Argument input = {ROLE_INPUT, op->element, 2, {s->rows, s->columns}};
  if (has(b, IS_OFFSETS)) {
    addArgument(b, "c", b->scaleOffsets,
                (Argument){ROLE_COUNTS, GQ_I32, 1, {s->groups}});
    return;
  }
  addArgument(b, "x", b->input, input);
  if (op->producer && op->producer->numInputs == 2)
    addArgument(b, "y", b->input, input);
  if (has(b, HAS_GATHER))
    addArgument(b, "i", "tensor<?xi32>",
                (Argument){ROLE_ROW_INDICES, GQ_I32, 1, {s->rows}});
  addArgument(b, "o", b->offsets,
              (Argument){ROLE_OFFSETS, GQ_I32, 1, {s->groups + 1}});
  if (!has(b, HAS_PACKED_SCALES) && !has(b, IS_AMAX) && !has(b, IS_FAKE) &&
      !hasLinearScales(b))
    addArgument(b, "so", b->scaleOffsets,
                (Argument){ROLE_SCALE_OFFSETS, GQ_I32, 1, {s->groups}});
  if (has(b, HAS_GLOBAL_SCALE))
    addArgument(b, "g", "tensor<f32>",
                (Argument){ROLE_GLOBAL_SCALE, GQ_F32, 0, {0}});
  if (has(b, HAS_OUTER_AMAX) || has(b, HAS_DELAYED_SCALE))
    addArgument(b, "g", b->perGroup,
                (Argument){has(b, HAS_HADAMARD) ? ROLE_PER_GROUP_TRANSFORMED
                           : op->producer       ? ROLE_PER_GROUP_PRODUCED
                                                : ROLE_PER_GROUP,
                           GQ_F32,
                           1,
                           {s->groups}});
  if (has(b, HAS_STOCHASTIC))
    addArgument(b, "rng", "tensor<2xi64>",
                (Argument){ROLE_RNG_STATE, GQ_I64, 1, {2}});
}

/// The scales of rows.
static void addRowScales(Builder *b, const char *name, Role role) {
  const Shape *s = b->shape;
  bool linear = hasLinearScales(b);
  addArgument(b, name, linear ? b->linear : b->tiled,
              (Argument){role,
                         b->traits.scaleType,
                         2,
                         {linear ? s->rows : s->scaleRows,
                          linear ? linearColumns(b) : tiledColumns(b)}});
}

/// All arguments of a product.
static void addProductArguments(Builder *b) {
  const Shape *s = b->shape;
  gqFormatTraits traits = b->traits;
  int64_t n = b->op->outColumns, k = s->columns * traits.dataBits / 8;
  addArgument(b, "x", b->data,
              (Argument){ROLE_INPUT, traits.dataType, 2, {s->rows, k}});
  bool one = hasOneScale(traits);
  int64_t columns = hasLinearScales(b) ? linearColumns(b) : tiledColumns(b);
  if (!one)
    addRowScales(b, "sx", ROLE_INPUT);
  addArgument(b, "w", b->weights,
              (Argument){ROLE_INPUT, traits.dataType, 3, {s->groups, n, k}});
  if (!one)
    addArgument(b, "sw", b->weightScales,
                (Argument){ROLE_INPUT,
                           traits.scaleType,
                           3,
                           {s->groups, weightScaleRows(b), columns}});
  addArgument(b, "o", b->offsets,
              (Argument){ROLE_OFFSETS, GQ_I32, 1, {s->groups + 1}});
  if (one) // The product of both scales.
    addArgument(b, "g", b->perGroup,
                (Argument){ROLE_PER_GROUP, GQ_F32, 1, {s->groups}});
  else if (!hasLinearScales(b))
    addArgument(b, "so", b->scaleOffsets,
                (Argument){ROLE_SCALE_OFFSETS, GQ_I32, 1, {s->groups}});
  if (b->op->producer && !hasEpilogue(b))
    addArgument(b, "a0", b->product,
                (Argument){ROLE_INTERMEDIATE, b->op->element, 2, {s->rows, n}});
  Argument stored = {
      ROLE_OUTPUT, b->op->element, 2, {s->rows, storedColumns(b->op)}};
  if (!has(b, IS_REQUANTIZED)) {
    addArgument(b, "p0", b->stored, stored);
    return;
  }
  if (b->isSeparate) {
    stored.role = ROLE_INTERMEDIATE;
    addArgument(b, "p0", b->stored, stored);
  }
  addArgument(
      b, "q0", b->storedData,
      (Argument){ROLE_OUTPUT,
                 traits.dataType,
                 2,
                 {s->rows, storedColumns(b->op) * traits.dataBits / 8}});
  addArgument(b, "t0", b->storedTiled,
              (Argument){ROLE_OUTPUT,
                         traits.scaleType,
                         2,
                         {s->scaleRows, storedTiledColumns(b)}});
}

/// The columnwise codes and scales of a matrix of so many columns.
static void addColumns(Builder *b, const char *codes, const char *scales,
                       const char *type, int64_t columns) {
  gqFormatTraits traits = b->traits;
  int64_t bits = traits.dataBits;
  Argument data = {
      ROLE_INPUT, traits.dataType, 2, {b->shape->rows, columns * bits / 8}};
  if (traits.transposes)
    data = (Argument){ROLE_INPUT,
                      traits.dataType,
                      1,
                      {transposedColumns(b, false) * columns * bits / 8}};
  addArgument(b, codes, type, data);
  addArgument(b, scales, b->columnTiled,
              (Argument){ROLE_INPUT,
                         traits.scaleType,
                         1,
                         {transposedColumns(b, true) * roundUp(columns, 128)}});
}

/// All arguments of a gradient.
static void addGradientArguments(Builder *b) {
  const Shape *s = b->shape;
  int64_t n = b->op->outColumns;
  bool flat = b->traits.transposes;
  addColumns(b, "y", "sy", flat ? b->columnData : b->gradientData, n);
  addColumns(b, "x", "sx", flat ? b->columnData : b->data, s->columns);
  addArgument(b, "o", b->offsets,
              (Argument){ROLE_OFFSETS, GQ_I32, 1, {s->groups + 1}});
  addArgument(
      b, "p0", b->gradient,
      (Argument){ROLE_OUTPUT, b->op->element, 3, {s->groups, n, s->columns}});
}

/// All arguments of a dequantization.
static void addDequantizeArguments(Builder *b) {
  const Shape *s = b->shape;
  gqFormatTraits traits = b->traits;
  if (has(b, HAS_COLUMNS)) {
    addColumns(b, "q", "t", traits.transposes ? b->columnData : b->data,
               s->columns);
  } else {
    addArgument(b, "q", b->data,
                (Argument){ROLE_INPUT,
                           traits.dataType,
                           2,
                           {s->rows, s->columns * traits.dataBits / 8}});
    if (hasOneScale(traits))
      addArgument(b, "g", b->perGroup,
                  (Argument){ROLE_PER_GROUP, GQ_F32, 1, {s->groups}});
    else
      addRowScales(b, "t", ROLE_INPUT);
  }
  addArgument(b, "o", b->offsets,
              (Argument){ROLE_OFFSETS, GQ_I32, 1, {s->groups + 1}});
  addArgument(
      b, "p0", b->input,
      (Argument){ROLE_OUTPUT, b->op->element, 2, {s->rows, s->columns}});
}

/// The rowwise codes, and their scales if they have some.
static void addCodes(Builder *b, Role role) {
  const Shape *s = b->shape;
  gqFormatTraits traits = b->traits;
  addArgument(b, "q0", b->data,
              (Argument){role,
                         traits.dataType,
                         2,
                         {s->rows, s->columns * traits.dataBits / 8}});
  if (!hasOneScale(traits))
    addRowScales(b, "t0", role);
}

/// What the ops pass to each other.
static void addIntermediates(Builder *b) {
  const Shape *s = b->shape;
  if (has(b, IS_FAKE)) {
    addCodes(b, ROLE_INTERMEDIATE);
    return;
  }
  if (hasActivation(b))
    addArgument(
        b, "a0", b->input,
        (Argument){
            ROLE_INTERMEDIATE, b->op->element, 2, {s->rows, s->columns}});
  if (isTwoOps(b))
    addArgument(b, "l0", b->linear,
                (Argument){ROLE_INTERMEDIATE,
                           b->traits.scaleType,
                           2,
                           {s->rows, s->columns / b->traits.blockColumns}});
  if (has(b, HAS_PACKED_SCALES))
    addArgument(b, "so0", b->scaleOffsets,
                (Argument){ROLE_INTERMEDIATE, GQ_I32, 1, {s->groups}});
}

/// What gq.grouped_amax gives back.
static void addAmaxes(Builder *b) {
  const Shape *s = b->shape;
  if (has(b, IS_AMAX) && !has(b, HAS_BOTH))
    addArgument(b, "m0", b->perGroup,
                (Argument){ROLE_OUTPUT, GQ_F32, 1, {s->groups}});
  if (has(b, IS_AMAX) && has(b, HAS_HADAMARD))
    addArgument(b, "w0", b->perGroup,
                (Argument){ROLE_OUTPUT, GQ_F32, 1, {s->groups}});
  if (hasAmaxes(b, HAS_ROWS))
    addArgument(b, "r0", b->perRow,
                (Argument){ROLE_OUTPUT, GQ_F32, 1, {s->rows}});
  if (hasAmaxes(b, HAS_COLUMNS))
    addArgument(b, "k0", b->perColumn,
                (Argument){ROLE_OUTPUT, GQ_F32, 2, {s->groups, s->columns}});
}

static void addOutputs(Builder *b) {
  const Shape *s = b->shape;
  addAmaxes(b);
  if (has(b, IS_OFFSETS)) {
    addArgument(b, "o0", b->offsets,
                (Argument){ROLE_OUTPUT, GQ_I32, 1, {s->groups + 1}});
    addArgument(b, "so0", b->scaleOffsets,
                (Argument){ROLE_OUTPUT, GQ_I32, 1, {s->groups}});
  }
  if (has(b, IS_AMAX) || has(b, IS_OFFSETS))
    return;
  if (has(b, IS_FAKE)) {
    addArgument(
        b, "p0", b->input,
        (Argument){ROLE_OUTPUT, b->op->element, 2, {s->rows, s->columns}});
    return;
  }
  gqFormatTraits traits = b->traits;
  Argument data = {ROLE_OUTPUT,
                   traits.dataType,
                   2,
                   {s->rows, s->columns * traits.dataBits / 8}};
  if (has(b, HAS_ROWS))
    addCodes(b, ROLE_OUTPUT);
  if (has(b, HAS_COLUMNS)) {
    int64_t elements = s->columns * transposedColumns(b, /*ofScales=*/false);
    int64_t scales =
        transposedColumns(b, true) *
        (hasLinearScales(b) ? s->columns : roundUp(s->columns, 128));
    if (traits.transposes)
      addArgument(b, "cq0", b->columnData,
                  (Argument){ROLE_OUTPUT,
                             traits.dataType,
                             1,
                             {elements * traits.dataBits / 8}});
    else
      addArgument(b, "cq0", b->data, data);
    if (!hasOneScale(traits))
      addArgument(b, "ct0", b->columnTiled,
                  (Argument){ROLE_OUTPUT, traits.scaleType, 1, {scales}});
  }
  if (has(b, HAS_DBIAS))
    addArgument(b, "b0", b->dbias,
                (Argument){ROLE_OUTPUT, GQ_BF16, 2, {s->groups, s->columns}});
  if (hasOneScale(traits)) {
    Argument perGroup = {ROLE_OUTPUT, GQ_F32, 1, {s->groups}};
    addArgument(b, "m0", b->perGroup, perGroup);
    addArgument(b, "i0", b->perGroup, perGroup);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The intermediates, where they are not arguments.
/// Of the ops' intermediates, which have as many rows as `%<of>`.
static void printEmpties(Builder *b, const char *of, const char *type) {
  fprintf(b->text,
          "  %%c0 = arith.constant 0 : index\n"
          "  %%rows = tensor.dim %%%s, %%c0 : %s\n",
          of, type);
  if (hasActivation(b))
    fprintf(b->text, "  %%a0 = tensor.empty(%%rows) : %s\n", b->input);
  if (isTwoOps(b))
    fprintf(b->text, "  %%l0 = tensor.empty(%%rows) : %s\n", b->linear);
}

static void printProducer(Builder *b) {
  const char *element = elementName(b->op->element), *type = b->input;
  bool isBinary = b->op->producer->numInputs == 2;
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
          element, b->op->producer->body, element, type);
}

static void printGather(Builder *b) {
  const char *element = elementName(b->op->element), *type = b->input;
  fprintf(b->text,
          "  %%a = linalg.generic {indexing_maps = [#outer, #id], "
          "iterator_types = [\"parallel\", \"parallel\"]}\n"
          "      ins(%%i : tensor<?xi32>) outs(%%a0 : %s) {\n"
          "  ^bb0(%%u: i32, %%init: %s):\n"
          "    %%row = arith.index_cast %%u : i32 to index\n"
          "    %%k = linalg.index 1 : index\n"
          "    %%r = tensor.extract %%x[%%row, %%k] : %s\n"
          "    linalg.yield %%r : %s\n  } -> %s\n",
          type, element, type, element, type);
}

/// Scale offsets as the sums of padded rows of all groups before.
static void printScaleOffsets(Builder *b) {
  const char *all = b->offsets, *type = b->scaleOffsets;
  int64_t groups = b->shape->groups;
  fprintf(b->text,
          "  %%zero = arith.constant 0 : i32\n"
          "  %%pad = arith.constant 127 : i32\n"
          "  %%mask = arith.constant -128 : i32\n"
          "  %%zeros = linalg.fill ins(%%zero : i32) outs(%%so0 : %s) -> %s\n",
          type, type);
  for (int i = 0; i < 2; ++i)
    fprintf(b->text,
            "  %%o%d = tensor.extract_slice %%o[%d] [%" PRId64 "] [1] : %s to "
            "%s\n",
            i + 1, i, groups, all, type);
  fprintf(b->text,
          "  %%so = linalg.generic {indexing_maps = [#inner, #inner, #outer], "
          "iterator_types = [\"parallel\", \"reduction\"]}\n"
          "      ins(%%o1, %%o2 : %s, %s) outs(%%zeros : %s) {\n"
          "  ^bb0(%%begin: i32, %%end: i32, %%sum: i32):\n"
          "    %%rows = arith.subi %%end, %%begin : i32\n"
          "    %%more = arith.addi %%rows, %%pad : i32\n"
          "    %%padded = arith.andi %%more, %%mask : i32\n"
          "    %%e = linalg.index 0 : index\n"
          "    %%j = linalg.index 1 : index\n"
          "    %%before = arith.cmpi ult, %%j, %%e : index\n"
          "    %%term = arith.select %%before, %%padded, %%zero : i32\n"
          "    %%r = arith.addi %%sum, %%term : i32\n"
          "    linalg.yield %%r : i32\n  } -> %s\n",
          type, type, type, type);
}

/// Quantizes `input`, one of %x and %a.
static void printTwoOps(Builder *b, const char *input) {
  const char *format = b->traits.name;
  fprintf(b->text,
          "  %%q, %%l = gq.block_quantize format(%s) ins(%s : %s) %s\n"
          "      outs(%%q0, %%l0 : %s, %s) -> %s, %s\n",
          format, input, b->input, b->outer, b->data, b->linear, b->data,
          b->linear);
  fprintf(b->text,
          "  %%t = gq.preprocess_grouped_matmul_sf format(%s)\n"
          "      ins(%%l : %s) groups(%s)\n"
          "      outs(%%t0 : %s) -> %s\n",
          format, b->linear, b->groups, b->tiled, b->tiled);
}

/// What a direction has of its own.
static const char *directionOf(Builder *b, bool columnwise) {
  if (has(b, HAS_SQUARES))
    return columnwise ? " columnwise<block = 16x16>"
                      : " rowwise<block = 16x16>";
  if (has(b, HAS_TOKENS))
    return columnwise ? " columnwise<outer = column>" : " rowwise<outer = row>";
  if (has(b, HAS_FOUR_OVER_SIX))
    return columnwise ? " columnwise<four_over_six = mae, scale_max = 256>"
                      : " rowwise<four_over_six = mae, scale_max = 256>";
  if (!columnwise)
    return has(b, HAS_STOCHASTIC) ? " rowwise<rounding = stochastic>" : "";
  if (!has(b, HAS_HADAMARD))
    return "";
  return has(b, HAS_STOCHASTIC)
             ? " columnwise<rounding = stochastic, transform = hadamard16, "
               "signs = 0xD7E8>"
             : " columnwise<transform = hadamard16, signs = 0xD7E8>";
}

/// The same by an op of rows, or columns. dbias is of the last one.
/// Where there are rows in no group, they are left alone.
static const char *rowsOf(const Builder *b) {
  return b->shape->rows > b->shape->groupRows ? " rows(grouped)" : "";
}

static void printGroupedOp(Builder *b, const char *input, bool columnwise) {
  FILE *text = b->text;
  const char *c = columnwise ? "c" : "";
  const char *data =
      columnwise && b->traits.transposes ? b->columnData : b->data;
  bool linear = hasLinearScales(b);
  const char *scales = columnwise ? b->columnTiled
                       : linear   ? b->linear
                                  : b->tiled;
  bool hasDbias = has(b, HAS_DBIAS) && columnwise == has(b, HAS_COLUMNS);
  char outer[2 * TYPE_SIZE];
  snprintf(outer, sizeof(outer), "%s", b->outer);
  if (has(b, HAS_TOKENS))
    snprintf(outer, sizeof(outer),
             columnwise ? "columnwise_outer_amax(%%k : %s)"
                        : "outer_amax(%%r : %s)",
             columnwise ? b->perColumn : b->perRow);
  bool isTe = has(b, HAS_OUTER_AMAX) || has(b, HAS_TOKENS);
  fprintf(text,
          "  %%%sq, %%%st%s = gq.grouped_block_quantize format(%s)%s%s%s%s\n"
          "      ins(%s : %s) groups(%s) %s%s\n"
          "      %souts(%%%sq0, %%%st0 : %s, %s)",
          c, c, hasDbias ? ", %b" : "", b->traits.name,
          isTe ? " recipe(te)" : "", linear ? " scale_layout(linear)" : "",
          rowsOf(b), directionOf(b, columnwise), input, b->input,
          columnwise ? b->columnGroups : b->groups, outer,
          has(b, HAS_STOCHASTIC) ? " rng_state(%rng : tensor<2xi64>)" : "",
          columnwise ? "columnwise_" : "", c, c, data, scales);
  if (hasDbias)
    fprintf(text, " dbias_out(%%b0 : %s)", b->dbias);
  fprintf(text, " -> %s, %s%s%s\n", data, scales, hasDbias ? ", " : "",
          hasDbias ? b->dbias : "");
}

/// Of a format with a single scale, by an op of rows, or columns. Amax and
/// inverse scale are of that of rows.
static void printScaledOp(Builder *b, const char *input, bool columnwise) {
  FILE *text = b->text;
  bool delayed = has(b, HAS_DELAYED_SCALE);
  fprintf(text, "  %s = gq.grouped_quantize format(%s)%s\n",
          columnwise ? "%cq"
          : delayed  ? "%q, %m, %i"
                     : "%q, %i",
          b->traits.name, rowsOf(b));
  fprintf(text, "      ins(%s : %s) groups(%s) %s\n", input, b->input,
          b->columnGroups, b->outer);
  if (columnwise) {
    fprintf(text, "      columnwise_outs(%%cq0 : %s) -> %s\n", b->columnData,
            b->columnData);
    return;
  }
  fprintf(text, "      outs(%%q0 : %s)", b->data);
  if (delayed)
    fprintf(text, " amax_out(%%m0 : %s)", b->perGroup);
  fprintf(text, " scale_inv_out(%%i0 : %s)\n      -> %s, ", b->perGroup,
          b->data);
  if (delayed)
    fprintf(text, "%s, ", b->perGroup);
  fprintf(text, "%s\n", b->perGroup);
}

/// %m and %w, or %r and %k: the amaxes of groups and of their transformed
/// columns, or of rows and of columns.
static void printAmax(Builder *b) {
  const struct {
    bool exists;
    const char *value, *name, *type;
  } results[] = {
      {!hasAmaxes(b, HAS_ROWS) && !hasAmaxes(b, HAS_COLUMNS), "m", "amax",
       b->perGroup},
      {has(b, IS_AMAX) && has(b, HAS_HADAMARD), "w", "columnwise_amax",
       b->perGroup},
      {hasAmaxes(b, HAS_ROWS), "r", "row_amax", b->perRow},
      {hasAmaxes(b, HAS_COLUMNS), "k", "column_amax", b->perColumn},
  };
  const size_t count = sizeof(results) / sizeof(*results);
  const char *before = "  ";
  for (size_t i = 0; i < count; ++i)
    if (results[i].exists) {
      fprintf(b->text, "%s%%%s", before, results[i].value);
      before = ", ";
    }
  fprintf(b->text, " = gq.grouped_amax%s%s ins(%%x : %s) groups(%s)\n     ",
          rowsOf(b),
          results[1].exists ? directionOf(b, /*columnwise=*/true) : "",
          b->input, b->columnGroups);
  for (size_t i = 0; i < count; ++i)
    if (results[i].exists)
      fprintf(b->text, " %s_out(%%%s0 : %s)", results[i].name, results[i].value,
              results[i].type);
  before = " -> ";
  for (size_t i = 0; i < count; ++i)
    if (results[i].exists) {
      fprintf(b->text, "%s%s", before, results[i].type);
      before = ", ";
    }
  fprintf(b->text, "\n");
}

static void printOffsets(Builder *b) {
  fprintf(b->text,
          "  %%o, %%so = gq.group_offsets ins(%%c : %s)\n"
          "      outs(%%o0, %%so0 : %s, %s) -> %s, %s\n",
          b->scaleOffsets, b->offsets, b->scaleOffsets, b->offsets,
          b->scaleOffsets);
}

/// %p of %a, whose columns are pairs.
static void printPairs(Builder *b) {
  const char *element = elementName(b->op->element);
  fprintf(b->text,
          "  %%zero = arith.constant 0 : index\n"
          "  %%rows = tensor.dim %%a, %%zero : %s\n",
          b->product);
  bool halves = has(b, HAS_HALVES);
  int64_t columns = storedColumns(b->op);
  for (int i = 0; i < 2; ++i)
    fprintf(b->text,
            "  %%a%d = tensor.extract_slice %%a[0, %" PRId64
            "] [%%rows, %" PRId64 "] [1, %d] : %s to %s\n",
            i + 1, halves ? i * columns : i, columns, halves ? 1 : 2,
            b->product, b->stored);
  fprintf(b->text,
          "  %%p = linalg.map ins(%%a1, %%a2 : %s, %s) outs(%%p0 : %s)\n"
          "  (%%u: %s, %%v: %s, %%init: %s) {\n%s    linalg.yield %%r : %s\n  "
          "}\n",
          b->stored, b->stored, b->stored, element, element, element,
          b->op->producer->body, element);
}

/// %p, or %a where the epilogue is another op.
static void printProduct(Builder *b) {
  bool linear = hasLinearScales(b), one = hasOneScale(b->traits);
  bool fused = hasEpilogue(b);
  const char *out = b->op->producer && !fused ? "a" : "p";
  const char *type = *out == 'a' ? b->product : b->stored;
  if (has(b, IS_REQUANTIZED) && !b->isSeparate)
    fprintf(b->text,
            "  %%zero = arith.constant 0 : index\n"
            "  %%rows = tensor.dim %%x, %%zero : %s\n"
            "  %%p0 = tensor.empty(%%rows) : %s\n",
            b->data, b->stored);
  fprintf(b->text, "  %%%s = gq.grouped_mm", out);
  if (!one)
    fprintf(b->text, " format(%s) b_format(%s)%s", b->traits.name,
            weightsTraits(b->op).name, linear ? " scale_layout(linear)" : "");
  if (has(b, HAS_WORKSPACE))
    fputs(" kernel(tiles256)", b->text);
  if (fused)
    fprintf(b->text, " pairs(%s)",
            has(b, HAS_HALVES) ? "halves" : "interleaved");
  fprintf(b->text, " ins(%%x, %%w : %s, %s)\n     ", b->data, b->weights);
  if (one)
    fprintf(b->text, " groups(%s) alpha(%%g : %s)\n", b->columnGroups,
            b->perGroup);
  else
    fprintf(b->text, " scales(%%sx, %%sw : %s, %s) groups(%s)\n",
            linear ? b->linear : b->tiled, b->weightScales,
            linear ? b->columnGroups : b->groups);
  if (fused) {
    const char *element = elementName(b->op->element);
    fprintf(b->text,
            "      epilogue {\n  ^bb0(%%u: %s, %%v: %s):\n%s"
            "    gq.yield %%r : %s\n  }\n",
            element, element, b->op->producer->body, element);
  }
  fprintf(b->text, "      outs(%%%s0 : %s) -> %s\n", out, type, type);
  if (b->op->producer && !fused)
    printPairs(b);
  if (has(b, IS_REQUANTIZED))
    fprintf(b->text,
            "  %%q, %%t = gq.grouped_block_quantize format(%s) rows(grouped)\n"
            "      ins(%%p : %s) groups(%s) outs(%%q0, %%t0 : %s, %s)\n"
            "      -> %s, %s\n",
            b->traits.name, b->stored, b->groups, b->storedData, b->storedTiled,
            b->storedData, b->storedTiled);
}

static void printGradient(Builder *b) {
  bool flat = b->traits.transposes;
  fprintf(b->text,
          "  %%p = gq.grouped_wgrad format(%s) ins(%%y, %%x : %s, %s)\n"
          "      scales(%%sy, %%sx : %s, %s) groups(%%o : %s)\n"
          "      outs(%%p0 : %s) -> %s\n",
          b->traits.name, flat ? b->columnData : b->gradientData,
          flat ? b->columnData : b->data, b->columnTiled, b->columnTiled,
          b->offsets, b->gradient, b->gradient);
}

/// %p, or %a where something is computed from it.
static void printDequantize(Builder *b) {
  const char *out = b->op->producer ? "a" : "p";
  bool columns = has(b, HAS_COLUMNS), linear = hasLinearScales(b);
  const char *data = columns && b->traits.transposes ? b->columnData : b->data;
  if (b->op->producer && !b->isSeparate)
    printEmpties(b, "p0", b->input);
  fprintf(b->text, "  %%%s = gq.grouped_dequantize ", out);
  if (hasOneScale(b->traits))
    fprintf(b->text,
            "ins(%%q : %s) groups(%%o : %s)\n"
            "      scale_inv(%%g : %s)",
            data, b->offsets, b->perGroup);
  else
    fprintf(b->text,
            "format(%s)%s%s ins(%%q : %s)\n"
            "      scales(%%t : %s) groups(%%o : %s)\n     ",
            b->traits.name, linear ? " scale_layout(linear)" : "",
            columns ? " axis(columnwise)" : "", data,
            columns  ? b->columnTiled
            : linear ? b->linear
                     : b->tiled,
            b->offsets);
  fprintf(b->text, " outs(%%%s0 : %s) -> %s\n", out, b->input, b->input);
  if (b->op->producer)
    fprintf(b->text,
            "  %%p = linalg.map ins(%%a : %s) outs(%%p0 : %s)\n"
            "  (%%u: %s, %%init: %s) {\n%s    linalg.yield %%r : %s\n  }\n",
            b->input, b->input, elementName(b->op->element),
            elementName(b->op->element), b->op->producer->body,
            elementName(b->op->element));
}

/// The numbers that codes stand for, as one op or by way of codes.
static void printFake(Builder *b) {
  const char *format = b->traits.name;
  if (!b->isSeparate) {
    fprintf(b->text,
            "  %%p = gq.grouped_block_quantize format(%s) rows(grouped)\n"
            "      ins(%%x : %s) groups(%s) outs(%%p0 : %s) -> %s\n",
            format, b->input, b->columnGroups, b->input, b->input);
    return;
  }
  fprintf(b->text,
          "  %%q, %%t = gq.grouped_block_quantize format(%s)%s\n"
          "      ins(%%x : %s) groups(%s)\n"
          "      outs(%%q0, %%t0 : %s, %s) -> %s, %s\n",
          format, rowsOf(b), b->input, b->columnGroups, b->data, b->tiled,
          b->data, b->tiled);
  printDequantize(b);
}

static void printBody(Builder *b) {
  if (has(b, IS_FAKE)) {
    printFake(b);
    return;
  }
  if (has(b, IS_DEQUANTIZED)) {
    printDequantize(b);
    return;
  }
  if (has(b, IS_OFFSETS)) {
    printOffsets(b);
    return;
  }
  if (has(b, HAS_PRODUCT)) {
    printProduct(b);
    return;
  }
  if (has(b, HAS_GRADIENT)) {
    printGradient(b);
    return;
  }
  const char *input = hasActivation(b) ? "%a" : "%x";
  if (!b->isSeparate)
    printEmpties(b, "x", b->input);
  if (b->op->producer)
    printProducer(b);
  if (has(b, HAS_GATHER))
    printGather(b);
  if (has(b, HAS_PACKED_SCALES) && b->isSeparate)
    printScaleOffsets(b);
  if (isTwoOps(b)) {
    printTwoOps(b, input);
    return;
  }
  if (has(b, HAS_CURRENT_SCALE) || has(b, HAS_TOKENS) || has(b, IS_AMAX))
    printAmax(b);
  if (has(b, IS_AMAX))
    return;
  void (*print)(Builder *, const char *, bool) =
      hasOneScale(b->traits) ? printScaledOp : printGroupedOp;
  if (has(b, HAS_ROWS))
    print(b, input, /*columnwise=*/false);
  if (has(b, HAS_COLUMNS))
    print(b, input, /*columnwise=*/true);
}

static void printFunction(Builder *b) {
  fprintf(b->text, "#id = affine_map<(m, k) -> (m, k)>\n"
                   "#outer = affine_map<(m, k) -> (m)>\n"
                   "#inner = affine_map<(m, k) -> (k)>\n"
                   "func.func @main(");
  if (has(b, IS_DEQUANTIZED)) {
    addDequantizeArguments(b);
    if (b->isSeparate)
      addIntermediates(b);
  } else if (has(b, HAS_PRODUCT)) {
    addProductArguments(b);
  } else if (has(b, HAS_GRADIENT)) {
    addGradientArguments(b);
  } else {
    addInputs(b);
    if (b->isSeparate)
      addIntermediates(b);
    addOutputs(b);
  }
  fprintf(b->text, ")\n    -> (%s) {\n", b->resultTypes);
  printBody(b);
  fprintf(b->text, "  return %s : %s\n}\n", b->results, b->resultTypes);
}

bool graphCreate(const Operator *op, const Shape *shape, bool isSeparate,
                 Graph *graph) {
  *graph = (Graph){.text = NULL};
  size_t length;
  Builder builder = {.text = open_memstream(&graph->text, &length),
                     .graph = graph,
                     .op = op,
                     .shape = shape,
                     .traits = gqFormatGetTraits(op->format),
                     .isSeparate = isSeparate};
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
