//===- Problem.c - operands in memory -------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"
#include "Values.h"

#include "tools/common/Device.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static DLDataType dtypeOf(gqElementType type) {
  uint8_t bits = (uint8_t)(8 * gqElementTypeSize(type));
  if (type == GQ_BF16)
    return (DLDataType){kDLBfloat, bits, 1};
  if (type == GQ_F32 || type == GQ_F16)
    return (DLDataType){kDLFloat, bits, 1};
  return (DLDataType){type == GQ_I32 || type == GQ_I64 ? kDLInt : kDLUInt, bits,
                      1};
}

/// Writes `factor` times each of these floats.
static gqStatus writeTimes(DLDevice device, void *memory, const float *floats,
                           size_t size, float factor) {
  float *products = malloc(size);
  if (!products)
    return GQ_OUT_OF_MEMORY;
  for (size_t i = 0; i < size / sizeof(float); ++i)
    products[i] = factor * floats[i];
  gqStatus status = deviceWrite(device, memory, products, size);
  free(products);
  return status;
}

/// Intermediates and outputs stay as they are.
static gqStatus fillArgument(DLDevice device, const Shape *shape,
                             const Argument *argument, void *memory,
                             uint32_t seed) {
  // As a frontend would make it from an amax of 4.
  static const float globalScale = 672;
  static const int64_t rngState[] = {42, 1};
  size_t size = argumentSize(argument);
  switch (argument->role) {
  case ROLE_INPUT:
    return valuesFill(device, memory, argument->type, size, seed);
  case ROLE_OFFSETS:
    return deviceWrite(device, memory, shape->offsets, size);
  case ROLE_SCALE_OFFSETS:
    return deviceWrite(device, memory, shape->scaleOffsets, size);
  case ROLE_COUNTS:
    return deviceWrite(device, memory, shape->counts, size);
  case ROLE_ROW_INDICES:
    return deviceWrite(device, memory, shape->rowIndices, size);
  case ROLE_PER_GROUP:
    return deviceWrite(device, memory, shape->perGroup, size);
  case ROLE_PER_GROUP_TRANSFORMED:
    return writeTimes(device, memory, shape->perGroup, size, 2);
  case ROLE_PER_GROUP_PRODUCED:
    return writeTimes(device, memory, shape->perGroup, size, 4);
  case ROLE_GLOBAL_SCALE:
    return deviceWrite(device, memory, &globalScale, size);
  case ROLE_RNG_STATE:
    return deviceWrite(device, memory, rngState, size);
  case ROLE_INTERMEDIATE:
  case ROLE_OUTPUT:
    break;
  }
  return GQ_OK;
}

static gqStatus createArgument(const Problem *problem, const Shape *shape,
                               Argument *argument, uint32_t seed,
                               DLTensor *tensor) {
  *tensor = (DLTensor){.device = problem->device,
                       .ndim = argument->rank,
                       .dtype = dtypeOf(argument->type),
                       .shape = argument->sizes};
  gqStatus status =
      deviceAlloc(problem->device, argumentSize(argument), &tensor->data);
  return status == GQ_OK ? fillArgument(problem->device, shape, argument,
                                        tensor->data, seed)
                         : status;
}

double problemSetSize(const Graph *graph) {
  double size = 0;
  for (int j = 0; j < graph->numArguments; ++j)
    size += (double)argumentSize(&graph->arguments[j]);
  return size;
}

gqStatus problemCreate(DLDevice device, const Shape *shape, Graph *graph,
                       int64_t numSets, Problem *problem) {
  *problem = (Problem){device, graph, numSets,
                       calloc((size_t)numSets, sizeof(Operands))};
  if (!problem->sets)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  gqStatus status = GQ_OK;
  uint32_t seed = 0;
  for (int64_t i = 0; i < numSets; ++i)
    for (int j = 0; j < graph->numArguments && status == GQ_OK; ++j)
      status = createArgument(problem, shape, &graph->arguments[j], ++seed,
                              &problem->sets[i].tensors[j]);
  return status;
}

void problemFree(Problem *problem) {
  for (int64_t i = 0; problem->sets && i < problem->numSets; ++i)
    for (int j = 0; j < problem->graph->numArguments; ++j)
      deviceFree(problem->device, problem->sets[i].tensors[j].data);
  free(problem->sets);
  problem->sets = NULL;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

gqStatus problemPoison(Problem *problem, int byte) {
  gqStatus status = GQ_OK;
  for (int j = 0; j < problem->graph->numArguments; ++j) {
    const Argument *argument = &problem->graph->arguments[j];
    if (argument->role != ROLE_OUTPUT)
      continue;
    size_t size = argumentSize(argument);
    void *bytes = malloc(size);
    if (!bytes)
      return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
    memset(bytes, byte, size);
    for (int64_t i = 0; i < problem->numSets && status == GQ_OK; ++i)
      status = deviceWrite(problem->device, problem->sets[i].tensors[j].data,
                           bytes, size);
    free(bytes);
  }
  return status;
}

static bool isOutput(const Problem *problem, int j) {
  return problem->graph->arguments[j].role == ROLE_OUTPUT;
}

size_t problemOutputSize(const Problem *problem) {
  size_t size = 0;
  for (int j = 0; j < problem->graph->numArguments; ++j)
    if (isOutput(problem, j))
      size += argumentSize(&problem->graph->arguments[j]);
  return size * (size_t)problem->numSets;
}

gqStatus problemReadOutputs(const Problem *problem, char *bytes) {
  gqStatus status = GQ_OK;
  for (int64_t i = 0; i < problem->numSets; ++i) {
    for (int j = 0; j < problem->graph->numArguments; ++j) {
      if (!isOutput(problem, j) || status != GQ_OK)
        continue;
      size_t size = argumentSize(&problem->graph->arguments[j]);
      status = deviceRead(problem->device, bytes,
                          problem->sets[i].tensors[j].data, size);
      bytes += size;
    }
  }
  return status;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The problem's arguments, without those that the graph lacks.
static size_t selectArguments(const Path *path, Operands *operands,
                              DLTensor **inputs) {
  const Graph *all = path->problem->graph;
  bool hasIntermediates = path->graph->numArguments == all->numArguments;
  size_t count = 0;
  for (int j = 0; j < all->numArguments; ++j)
    if (hasIntermediates || all->arguments[j].role != ROLE_INTERMEDIATE)
      inputs[count++] = &operands->tensors[j];
  return count;
}

gqStatus pathInvoke(void *context, int64_t i) {
  const Path *path = context;
  DLTensor *inputs[MAX_ARGUMENTS];
  size_t numInputs = selectArguments(
      path, &path->problem->sets[i % path->problem->numSets], inputs);
  // All results are arguments.
  return gqInvoke(path->executable, "main", inputs, numInputs, NULL, 0);
}

gqStatus pathInvokeRepeatedly(void *context, int count) {
  gqStatus status = GQ_OK;
  for (int i = 0; i < count && status == GQ_OK; ++i)
    status = pathInvoke(context, 0);
  return status;
}
