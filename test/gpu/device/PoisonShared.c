//===- PoisonShared.c - shared memory that holds NaN ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PoisonShared.h"

void poisonShared(Handle function, int multiprocessors, Handle stream) {
  // What a CTA of Hopper may have at most: one fits on a multiprocessor.
  PoisonSharedOperands o = {.bytes = 227 * 1024};
  CU(FuncSetAttribute(function, FUNCTION_ATTRIBUTE_DYNAMIC_SHARED,
                      (int)o.bytes));
  void *parameters[] = {&o};
  CU(LaunchKernel(function, (unsigned)multiprocessors, 1, 1, 256, 1, 1,
                  (unsigned)o.bytes, stream, parameters, NULL));
}
