//===- Emulator.h - the threads of a GPU on one of the CPU -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs device functions that are compiled for the CPU: one CTA after another,
// each thread of a CTA on a stack of its own. A thread runs until it waits for
// others; who runs next is random, so that what lacks a barrier gives wrong
// results sooner or later. It ends the program when threads wait for each other
// in vain, or when the lanes of a warp do different things at once.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_EMULATOR_H
#define GQ_TEST_GPU_EMULATOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
  EMULATOR_WARP = 32,
};

/// Calls body(context) on every thread of a grid.
void emulatorRun(uint32_t ctas, uint32_t threads, void (*body)(void *context),
                 void *context);

// For the threads.
uint32_t emulatorThread(void);
uint32_t emulatorNumThreads(void);
uint32_t emulatorCta(void);
uint32_t emulatorNumCtas(void);
void emulatorBarrier(void);

/// All lanes of a warp call it with the same `kind`; each gets the values of
/// all, valid until its next call.
const uint64_t *emulatorExchange(char kind, uint64_t value);

/// Copies at once or when the thread waits for it, so that what relies on
/// either shows; zeros if `from` is null.
void emulatorBeginCopy(void *to, const void *from, uint32_t size);
void emulatorWaitForCopies(void);

/// Those begun since the last commit become a group; waits until at most
/// `groups` groups are under way.
void emulatorCommitCopies(void);
void emulatorWaitForGroups(uint32_t groups);

/// A CTA's dynamic shared memory, of which nothing is known when it begins.
void *emulatorShared(uint32_t address);

/// `threads` threads wait for each other at barrier `id`.
void emulatorNamedBarrier(uint32_t id, uint32_t threads);

/// Barriers in shared memory.
void emulatorBarrierInit(void *barrier, uint32_t count);
void emulatorBarrierArrive(void *barrier);
void emulatorBarrierWait(void *barrier, uint32_t parity);

/// Waits until a word of global memory is at least `least`.
void emulatorWaitForWord(const uint32_t *word, uint32_t least);

/// Arrives; the phase also waits for the copies that the thread began, which
/// are made some time later.
void emulatorBarrierArriveCopied(void *barrier);

/// A thread's part of a product: sums[j] += A * B for as many j as half of the
/// columns.
typedef struct EmulatedProduct {
  void (*compute)(const struct EmulatedProduct *);
  /// Of 16 bytes of a row of A and as many of a column of B.
  float (*dot)(const uint32_t a[4], const uint32_t b[4]);
  uint32_t columns;
  float *sums;
  /// Instead of what sums[j] was.
  bool begins;
  uint64_t b;
  /// Of the lanes of the quad; or, if A is in shared memory, where.
  uint32_t a[4][4];
  bool isShared;
  uint64_t shared;
} EmulatedProduct;

/// Computes it at once, if all before it are, or when the thread waits for its
/// group.
void emulatorBeginProduct(const EmulatedProduct *product);
void emulatorCommitProducts(void);
void emulatorWaitForProducts(uint32_t groups);

/// Ends the program.
void emulatorFail(const char *what);

/// The code of x with so many mantissa bits, rounded to nearest even, saturated
/// to `max`; NaN is 0x7f.
uint8_t emulatorFp8(float x, int mantissaBits, float max);

#endif // GQ_TEST_GPU_EMULATOR_H
