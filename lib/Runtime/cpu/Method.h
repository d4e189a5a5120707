//===- Method.h - what quantizing depends on ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPU_METHOD_H
#define GQ_LIB_RUNTIME_CPU_METHOD_H

#include "lib/Runtime/CpuTiles.h"
#include "runtime_kernels/scalers/Block.h"

/// What a direction of a tile depends on; format and recipe are constants in
/// the callers.
typedef struct Method {
  gqFormat format;
  gqRecipe recipe;
  gqFormatTraits traits;
  const gqCpuTileDirection *direction;
} Method;

#endif // GQ_LIB_RUNTIME_CPU_METHOD_H
