//===- Fiber.c - functions with stacks of their own -----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include <stdlib.h>

enum { STACK = 256 << 10 };

/// Makes the stack and what begins on it.
static _Bool prepare(Fiber *fiber, void (*body)(void)) {
  fiber->stack = malloc(STACK);
  if (!fiber->stack || getcontext(&fiber->begin))
    return 0;
  fiber->begin.uc_stack.ss_sp = fiber->stack;
  fiber->begin.uc_stack.ss_size = STACK;
  fiber->begin.uc_link = NULL;
  makecontext(&fiber->begin, body, 0);
  return 1;
}

#ifdef __x86_64__

// Where fiberResume() was called.
static void *caller[5];

// No code of a sanitizer: no frame is left for good.
__attribute__((noinline, no_sanitize("address"))) static void
run(Fiber *fiber, _Bool begins) {
  if (__builtin_setjmp(caller))
    return;
  if (begins)
    setcontext(&fiber->begin);
  __builtin_longjmp(fiber->place, 1);
}

_Bool fiberResume(Fiber *fiber, void (*body)(void)) {
  _Bool begins = !fiber->stack;
  if (begins && !prepare(fiber, body))
    return 0;
  run(fiber, begins);
  return 1;
}

__attribute__((noinline, no_sanitize("address"))) void
fiberYield(Fiber *fiber) {
  if (!__builtin_setjmp(fiber->place))
    __builtin_longjmp(caller, 1);
}

#else

static ucontext_t caller;

_Bool fiberResume(Fiber *fiber, void (*body)(void)) {
  if (!fiber->stack && !prepare(fiber, body))
    return 0;
  return swapcontext(&caller, &fiber->begin) == 0;
}

void fiberYield(Fiber *fiber) { swapcontext(&fiber->begin, &caller); }

#endif
