//===- Fiber.h - functions with stacks of their own --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread of the CPU runs them in turns. ucontext.h begins one; to switch,
// it calls the system each time, which took most of the tests' time.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_DEVICE_EMULATED_FIBER_H
#define GQ_TEST_GPU_DEVICE_EMULATED_FIBER_H

#include <ucontext.h>

/// Zero at first, and never freed.
typedef struct Fiber {
  ucontext_t begin;
  void *place[5];
  char *stack;
} Fiber;

/// Runs the fiber, from its last fiberYield() on, or else `body`, which does
/// not return. Returns false if there is no memory for its stack.
_Bool fiberResume(Fiber *fiber, void (*body)(void));

/// Goes back to where fiberResume() was called.
void fiberYield(Fiber *fiber);

#endif // GQ_TEST_GPU_DEVICE_EMULATED_FIBER_H
