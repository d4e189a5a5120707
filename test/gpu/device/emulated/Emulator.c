//===- Emulator.c - the threads of a GPU on one of the CPU ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulator.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
  MAX_THREADS = 1024,
  MAX_COPIES = 64,
  STACK = 256 << 10,
};

/// Those who wait for each other: a warp or the CTA.
typedef struct Meeting {
  uint32_t size, arrived;
  /// How often all have met.
  uint32_t round;
  char kind;
  uint64_t values[2][EMULATOR_WARP];
} Meeting;

typedef struct Copy {
  void *to;
  const void *from;
  uint32_t size;
} Copy;

typedef struct Thread {
  ucontext_t context;
  char *stack;
  bool done;
  /// What it waits for: that the meeting's round is no longer this one.
  Meeting *meeting;
  uint32_t round;
  /// Those it has not waited for.
  Copy copies[MAX_COPIES];
  uint32_t numCopies;
} Thread;

static Thread threads[MAX_THREADS];
static Meeting warps[MAX_THREADS / EMULATOR_WARP], cta;
static ucontext_t scheduler;
static uint32_t current, numThreads, ctaNumber, numCtas, randomState = 1;
static void (*threadBody)(void *);
static void *threadContext;

uint32_t emulatorThread(void) { return current; }
uint32_t emulatorNumThreads(void) { return numThreads; }
uint32_t emulatorCta(void) { return ctaNumber; }
uint32_t emulatorNumCtas(void) { return numCtas; }

static void fail(const char *what) {
  fprintf(stderr, "emulator: %s (CTA %u, thread %u)\n", what, ctaNumber,
          current);
  abort();
}

static uint32_t nextRandom(void) {
  randomState = randomState * 1664525 + 1013904223;
  return randomState >> 8;
}

static void meet(Meeting *meeting, char kind) {
  if (meeting->arrived == 0)
    meeting->kind = kind;
  else if (meeting->kind != kind)
    fail("lanes do different things at once");
  Thread *thread = &threads[current];
  thread->meeting = meeting;
  thread->round = meeting->round;
  if (++meeting->arrived == meeting->size) {
    meeting->arrived = 0;
    ++meeting->round;
  }
  swapcontext(&thread->context, &scheduler);
}

void emulatorBarrier(void) { meet(&cta, '|'); }

const uint64_t *emulatorExchange(char kind, uint64_t value) {
  Meeting *warp = &warps[current / EMULATOR_WARP];
  uint64_t *values = warp->values[warp->round % 2];
  values[current % EMULATOR_WARP] = value;
  meet(warp, kind);
  return values;
}

static void copy(Copy c) {
  if (c.from)
    memcpy(c.to, c.from, c.size);
  else
    memset(c.to, 0, c.size);
}

void emulatorBeginCopy(void *to, const void *from, uint32_t size) {
  Thread *thread = &threads[current];
  const Copy c = {to, from, size};
  if (nextRandom() >> 23)
    copy(c);
  else if (thread->numCopies < MAX_COPIES)
    thread->copies[thread->numCopies++] = c;
  else
    fail("too many copies");
}

void emulatorWaitForCopies(void) {
  Thread *thread = &threads[current];
  for (uint32_t i = 0; i < thread->numCopies; ++i)
    copy(thread->copies[i]);
  thread->numCopies = 0;
}

static void threadMain(void) {
  threadBody(threadContext);
  if (threads[current].numCopies)
    fail("copies that nobody waited for");
  threads[current].done = true;
}

static bool canRun(const Thread *thread) {
  return !thread->done &&
         (!thread->meeting || thread->meeting->round != thread->round);
}

static void runCta(void) {
  cta = (Meeting){.size = numThreads};
  for (uint32_t i = 0; i < numThreads; ++i) {
    Thread *thread = &threads[i];
    if (!thread->stack && !(thread->stack = malloc(STACK)))
      fail("out of memory");
    thread->done = false;
    thread->meeting = NULL;
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack;
    thread->context.uc_stack.ss_size = STACK;
    thread->context.uc_link = &scheduler;
    makecontext(&thread->context, threadMain, 0);
    warps[i / EMULATOR_WARP] = (Meeting){.size = EMULATOR_WARP};
  }
  for (;;) {
    // From a random thread on, all that can run.
    uint32_t first = nextRandom() % numThreads, ran = 0, left = 0;
    for (uint32_t i = 0; i < numThreads; ++i) {
      current = (first + i) % numThreads;
      left += !threads[current].done;
      if (!canRun(&threads[current]))
        continue;
      ++ran;
      swapcontext(&scheduler, &threads[current].context);
    }
    if (left == 0)
      return;
    if (ran == 0)
      fail("threads wait in vain");
  }
}

void emulatorRun(uint32_t ctas, uint32_t size, void (*body)(void *),
                 void *context) {
  numThreads = size;
  numCtas = ctas;
  threadBody = body;
  threadContext = context;
  // From a random CTA on.
  uint32_t first = nextRandom() % ctas;
  for (uint32_t i = 0; i < ctas; ++i) {
    ctaNumber = (first + i) % ctas;
    runCta();
  }
}

uint8_t emulatorFp8(float x, int mantissaBits, float max) {
  if (isnan(x))
    return 0x7f;
  uint8_t sign = signbit(x) ? 0x80 : 0;
  double magnitude = fmin(fabs((double)x), (double)max);
  int exponent;
  frexp(magnitude, &exponent);
  exponent = magnitude > 0 ? exponent : -1000;
  int bias = (1 << (6 - mantissaBits)) - 1;
  // The unit of the last place, of a denormal that of the smallest normal.
  int unit = (exponent - 1 > 1 - bias ? exponent - 1 : 1 - bias) - mantissaBits;
  double rounded = fmin(rint(ldexp(magnitude, -unit)), 1e9);
  int steps = (int)rounded, normal = 1 << mantissaBits;
  int code =
      unit == 1 - bias - mantissaBits
          ? steps
          : steps - normal + ((unit + mantissaBits + bias) << mantissaBits);
  return (uint8_t)(sign | code);
}
