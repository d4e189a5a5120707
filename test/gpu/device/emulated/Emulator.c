//===- Emulator.c - the threads of a GPU on one of the CPU ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulator.h"
#include "Fiber.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_THREADS = 1024,
  MAX_COPIES = 128,
  MAX_PRODUCTS = 16,
  MAX_NAMED = 16,
  MAX_OWNED = 1 << 14,
  SHARED = 227 << 10,
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
  /// How many groups had been committed when it began.
  uint32_t group;
} Copy;

/// A barrier in shared memory.
typedef struct Barrier {
  /// Copies that its phase waits for.
  int32_t copies;
  uint8_t count, left, phase, magic;
} Barrier;

/// A copy that a barrier's phase waits for.
typedef struct OwnedCopy {
  Copy copy;
  Barrier *barrier;
} OwnedCopy;

_Static_assert(sizeof(Barrier) == 8, "the size of the GPU's");

typedef struct Thread {
  Fiber fiber;
  bool done;
  /// What it waits for: that the meeting's round is no longer this one.
  Meeting *meeting;
  uint32_t round;
  /// Those it has not waited for.
  Copy copies[MAX_COPIES];
  uint32_t numCopies, copyGroups;
  /// The same of products, and the group of each.
  EmulatedProduct products[MAX_PRODUCTS];
  uint32_t groupOfProduct[MAX_PRODUCTS];
  uint32_t numProducts, productGroups;
  /// A barrier in shared memory that it waits for, and the parity.
  const Barrier *barrier;
  uint32_t parity;
  /// A word that it waits for, and how large it must be.
  const uint32_t *word;
  uint32_t least;
} Thread;

static Thread threads[MAX_THREADS];
static OwnedCopy owned[MAX_OWNED];
static uint32_t numOwned;
static Meeting warps[MAX_THREADS / EMULATOR_WARP], cta, named[MAX_NAMED];
static _Alignas(1024) uint8_t shared[SHARED];
static uint32_t current, numThreads, ctaNumber, numCtas, randomState = 1;
static void (*threadBody)(void *);
static void *threadContext;

uint32_t emulatorThread(void) { return current; }
uint32_t emulatorNumThreads(void) { return numThreads; }
uint32_t emulatorCta(void) { return ctaNumber; }
uint32_t emulatorNumCtas(void) { return numCtas; }

void emulatorFail(const char *what) {
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
    emulatorFail("lanes do different things at once");
  Thread *thread = &threads[current];
  thread->meeting = meeting;
  thread->round = meeting->round;
  if (++meeting->arrived == meeting->size) {
    meeting->arrived = 0;
    ++meeting->round;
  }
  fiberYield(&thread->fiber);
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
  const Copy c = {to, from, size, thread->copyGroups};
  if (nextRandom() >> 23)
    copy(c);
  else if (thread->numCopies < MAX_COPIES)
    thread->copies[thread->numCopies++] = c;
  else
    emulatorFail("too many copies");
}

void emulatorCommitCopies(void) { ++threads[current].copyGroups; }

void emulatorWaitForGroups(uint32_t groups) {
  Thread *thread = &threads[current];
  uint32_t left = 0;
  for (uint32_t i = 0; i < thread->numCopies; ++i)
    if (thread->copies[i].group + groups < thread->copyGroups)
      copy(thread->copies[i]);
    else
      thread->copies[left++] = thread->copies[i];
  thread->numCopies = left;
}

void emulatorWaitForCopies(void) {
  emulatorCommitCopies();
  emulatorWaitForGroups(0);
}

void *emulatorShared(uint32_t address) {
  if (address >= SHARED)
    emulatorFail("an address beyond shared memory");
  return shared + address;
}

void emulatorNamedBarrier(uint32_t id, uint32_t size) {
  named[id].size = size;
  meet(&named[id], 'n');
}

enum { MAGIC = 0xba };

void emulatorBarrierInit(void *barrier, uint32_t count) {
  *(Barrier *)barrier = (Barrier){0, (uint8_t)count, (uint8_t)count, 0, MAGIC};
}

/// Something that its phase waits for has happened.
static void proceed(Barrier *b) {
  if (b->left || b->copies)
    return;
  b->left = b->count;
  ++b->phase;
}

static Barrier *barrierAt(void *barrier) {
  if (((Barrier *)barrier)->magic != MAGIC)
    emulatorFail("no barrier");
  return barrier;
}

void emulatorBarrierArrive(void *barrier) {
  Barrier *b = barrierAt(barrier);
  --b->left;
  proceed(b);
}

void emulatorBarrierArriveCopied(void *barrier) {
  Thread *thread = &threads[current];
  Barrier *b = barrierAt(barrier);
  if (numOwned + thread->numCopies > MAX_OWNED)
    emulatorFail("too many copies");
  for (uint32_t i = 0; i < thread->numCopies; ++i)
    owned[numOwned++] = (OwnedCopy){thread->copies[i], b};
  b->copies += (int32_t)thread->numCopies;
  thread->numCopies = 0;
  emulatorBarrierArrive(b);
}

/// Makes about half of the copies that barriers wait for.
static void copySome(void) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < numOwned; ++i)
    if (nextRandom() % 2) {
      copy(owned[i].copy);
      --owned[i].barrier->copies;
      proceed(owned[i].barrier);
    } else {
      owned[left++] = owned[i];
    }
  numOwned = left;
}

/// Whether the phase of that parity is complete: the current one has the other.
static bool isComplete(const Barrier *barrier, uint32_t parity) {
  return barrier->phase % 2 != parity;
}

void emulatorBarrierWait(void *barrier, uint32_t parity) {
  Thread *thread = &threads[current];
  thread->barrier = barrierAt(barrier);
  thread->parity = parity;
  fiberYield(&thread->fiber);
  thread->barrier = NULL;
}

void emulatorWaitForWord(const uint32_t *word, uint32_t least) {
  Thread *thread = &threads[current];
  thread->word = word;
  thread->least = least;
  fiberYield(&thread->fiber);
  thread->word = NULL;
}

void emulatorBeginProduct(const EmulatedProduct *product) {
  Thread *thread = &threads[current];
  if (nextRandom() % 2 && !thread->numProducts) {
    product->compute(product);
    return;
  }
  if (thread->numProducts == MAX_PRODUCTS)
    emulatorFail("too many products");
  thread->groupOfProduct[thread->numProducts] = thread->productGroups;
  thread->products[thread->numProducts++] = *product;
}

void emulatorCommitProducts(void) { ++threads[current].productGroups; }

void emulatorWaitForProducts(uint32_t groups) {
  Thread *thread = &threads[current];
  uint32_t left = 0;
  for (uint32_t i = 0; i < thread->numProducts; ++i)
    if (thread->groupOfProduct[i] + groups < thread->productGroups) {
      thread->products[i].compute(&thread->products[i]);
    } else {
      thread->groupOfProduct[left] = thread->groupOfProduct[i];
      thread->products[left++] = thread->products[i];
    }
  thread->numProducts = left;
}

/// One CTA after the other.
static void threadMain(void) {
  for (;;) {
    threadBody(threadContext);
    Thread *thread = &threads[current];
    if (thread->numCopies || thread->numProducts)
      emulatorFail("copies or products that nobody waited for");
    thread->done = true;
    fiberYield(&thread->fiber);
  }
}

static bool canRun(const Thread *thread) {
  return !thread->done &&
         (!thread->meeting || thread->meeting->round != thread->round) &&
         (!thread->barrier || isComplete(thread->barrier, thread->parity)) &&
         (!thread->word || *thread->word >= thread->least);
}

static void runCta(void) {
  cta = (Meeting){.size = numThreads};
  memset(named, 0, sizeof(named));
  memset(shared, 0xff, sizeof(shared)); // NaN
  for (uint32_t i = 0; i < numThreads; ++i) {
    Thread *thread = &threads[i];
    thread->done = false;
    thread->meeting = NULL;
    thread->barrier = NULL;
    thread->word = NULL;
    warps[i / EMULATOR_WARP] = (Meeting){.size = EMULATOR_WARP};
  }
  numOwned = 0;
  for (;;) {
    bool copying = numOwned > 0;
    if (nextRandom() % 4 == 0)
      copySome();
    // From a random thread on, all that can run.
    uint32_t first = nextRandom() % numThreads, ran = 0, left = 0;
    for (uint32_t i = 0; i < numThreads; ++i) {
      current = (first + i) % numThreads;
      left += !threads[current].done;
      if (!canRun(&threads[current]))
        continue;
      ++ran;
      if (!fiberResume(&threads[current].fiber, threadMain))
        emulatorFail("out of memory");
    }
    if (left == 0 && numOwned)
      emulatorFail("copies that nobody waited for");
    if (left == 0)
      return;
    if (ran == 0 && !copying)
      emulatorFail("threads wait in vain");
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
  float magnitude = fabsf(x) < max ? fabsf(x) : max;
  uint32_t bits;
  memcpy(&bits, &magnitude, sizeof(bits));
  int exponent = (int)(bits >> 23) - 127;
  int bias = (1 << (6 - mantissaBits)) - 1;
  // The unit of the last place, of a denormal that of the smallest normal.
  int unit = (exponent > 1 - bias ? exponent : 1 - bias) - mantissaBits;
  // Neither frexp() nor rint(): a third of the time went there.
  uint64_t scaleBits = (uint64_t)(1023 - unit) << 52;
  double scale, whole = 0x1.8p52;
  memcpy(&scale, &scaleBits, sizeof(scale));
  double rounded = (double)magnitude * scale + whole - whole;
  int steps = (int)rounded, normal = 1 << mantissaBits;
  int code =
      unit == 1 - bias - mantissaBits
          ? steps
          : steps - normal + ((unit + mantissaBits + bias) << mantissaBits);
  return (uint8_t)(sign | code);
}
