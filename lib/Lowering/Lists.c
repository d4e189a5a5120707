//===- Lists.c - what passes collect ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lists.h"
#include "../Support/Memory.h"

#include <stdlib.h>

void *gqGrow(void *array, intptr_t size, intptr_t *capacity,
             size_t elementSize) {
  if (size < *capacity)
    return array;
  *capacity = *capacity ? 2 * *capacity : 16;
  void *larger = realloc(array, (size_t)*capacity * elementSize);
  if (!larger)
    gqOutOfMemory();
  return larger;
}

void gqOpListAdd(gqOpList *list, MlirOperation op) {
  list->ops =
      gqGrow(list->ops, list->size, &list->capacity, sizeof(MlirOperation));
  list->ops[list->size++] = op;
}

intptr_t gqOpListFind(const gqOpList *list, MlirOperation op) {
  for (intptr_t i = 0; i < list->size; ++i)
    if (mlirOperationEqual(list->ops[i], op))
      return i;
  return -1;
}

void gqOpListFree(gqOpList *list) {
  free(list->ops);
  *list = (gqOpList){0};
}

void gqValueMapAdd(gqValueMap *map, MlirValue from, MlirValue to) {
  map->from =
      gqGrow(map->from, map->size, &map->fromCapacity, sizeof(MlirValue));
  map->to = gqGrow(map->to, map->size, &map->toCapacity, sizeof(MlirValue));
  map->from[map->size] = from;
  map->to[map->size++] = to;
}

bool gqValueMapHas(const gqValueMap *map, MlirValue value) {
  for (intptr_t i = 0; i < map->size; ++i)
    if (mlirValueEqual(map->from[i], value))
      return true;
  return false;
}

MlirValue gqValueMapGet(const gqValueMap *map, MlirValue value) {
  for (intptr_t i = 0; i < map->size; ++i)
    if (mlirValueEqual(map->from[i], value))
      return map->to[i];
  return value;
}

void gqValueMapFree(gqValueMap *map) {
  free(map->from);
  free(map->to);
  *map = (gqValueMap){0};
}
