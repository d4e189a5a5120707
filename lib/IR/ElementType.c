//===- ElementType.c - element types of MLIR and of gq ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementType.h"

#include "mlir-c/BuiltinTypes.h"

static bool convertIntegerType(MlirType type, gqElementType *result) {
  switch (mlirIntegerTypeGetWidth(type)) {
  case 1:
    *result = GQ_I1;
    return true;
  case 8:
    *result = GQ_I8;
    return true;
  case 16:
    *result = GQ_I16;
    return true;
  case 32:
    *result = GQ_I32;
    return true;
  case 64:
    *result = GQ_I64;
    return true;
  }
  return false;
}

bool gqElementTypeOf(MlirType type, gqElementType *result) {
  static const struct {
    bool (*matches)(MlirType);
    gqElementType type;
  } others[] = {
      {mlirTypeIsAIndex, GQ_I64},
      {mlirTypeIsAF16, GQ_F16},
      {mlirTypeIsABF16, GQ_BF16},
      {mlirTypeIsAF32, GQ_F32},
      {mlirTypeIsAF64, GQ_F64},
      {mlirTypeIsAFloat8E4M3FN, GQ_F8E4M3FN},
      {mlirTypeIsAFloat8E5M2, GQ_F8E5M2},
      {mlirTypeIsAFloat8E8M0FNU, GQ_F8E8M0FNU},
  };
  if (mlirTypeIsAInteger(type))
    return convertIntegerType(type, result);
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    if (!others[i].matches(type))
      continue;
    *result = others[i].type;
    return true;
  }
  return false;
}
