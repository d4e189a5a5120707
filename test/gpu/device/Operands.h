//===- Operands.h - what the test kernels are given --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of each kernel family, <Name>Operands: its operands but the constants, as a
// test kernel has them as its one parameter. Addresses are integers; what the
// hook reads is a matrix.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_OPERANDS_H
#define GQ_TEST_GPU_OPERANDS_H

#include "runtime_kernels/kernels/Operands.h"

#include <stdint.h>

#define OPERAND_FIELD(ROLE, TYPE, NAME)                                        \
  GQ_IF_HOOK_##ROLE(uint64_t input; int64_t inputStride;)                      \
      GQ_IF_ADDRESS_##ROLE(uint64_t NAME;) GQ_IF_NUMBER_##ROLE(int64_t NAME;)
#define DECLARE_OPERANDS(FAMILY, NAME, FUNCTION, THREADS)                      \
  typedef struct NAME##Operands {                                              \
    GQ_##FAMILY##_OPERANDS(OPERAND_FIELD)                                      \
  } NAME##Operands;
GQ_KERNEL_FAMILIES(DECLARE_OPERANDS)
#undef DECLARE_OPERANDS

#endif // GQ_TEST_GPU_OPERANDS_H
