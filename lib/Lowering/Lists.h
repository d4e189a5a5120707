//===- Lists.h - what passes collect ------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_LISTS_H
#define GQ_LIB_LOWERING_LISTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Returns `array`, which was allocated or is null, with room for one more
/// element after `size`.
void *gqGrow(void *array, intptr_t size, intptr_t *capacity,
             size_t elementSize);

/// Operations. Freed with gqOpListFree.
typedef struct gqOpList {
  MlirOperation *ops;
  intptr_t size, capacity;
} gqOpList;

void gqOpListAdd(gqOpList *list, MlirOperation op);
/// The number of `op` in a list; -1 if it is not there.
intptr_t gqOpListFind(const gqOpList *list, MlirOperation op);
void gqOpListFree(gqOpList *list);

/// A map from the values of a body to those of its copy. Values that it does
/// not hold are not part of the body and stay as they are.
typedef struct gqValueMap {
  MlirValue *from, *to;
  intptr_t size, fromCapacity, toCapacity;
} gqValueMap;

void gqValueMapAdd(gqValueMap *map, MlirValue from, MlirValue to);
bool gqValueMapHas(const gqValueMap *map, MlirValue value);
MlirValue gqValueMapGet(const gqValueMap *map, MlirValue value);
void gqValueMapFree(gqValueMap *map);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_LISTS_H
