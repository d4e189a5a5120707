//===- producers.c - the arithmetic of producers --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of floats of all exponents, compared with the processor's division:
// random mantissas and those at the ends, of usual magnitudes and not, so that
// both ways are taken. Reciprocals are off by one now and then, as the chip's.
// Tables: every number of bf16 is looked up, or said to be outside.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Producers.h"
#include "runtime_kernels/kernels/Table.h"

#include "Emulator.h"

#include "runtime_kernels/codecs/Float.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = 1, numWrong;

static uint32_t random32(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

static float floatOf(uint32_t exponent) {
  static const uint32_t ends[] = {0,        1,        2,       0x3fffff,
                                  0x400000, 0x7ffffe, 0x7fffff};
  uint32_t bits = random32();
  uint32_t mantissa = bits % 4 ? bits >> 9 : ends[(bits >> 2) % 7];
  return gq_dev_f32_from_bits((bits & 1u << 31) | exponent << 23 | mantissa);
}

typedef void divide4(const float a[4], const float b[4], float quotients[4]);

static void check(divide4 *divide, const float a[4], const float b[4]) {
  float found[4];
  divide(a, b, found);
  for (int i = 0; i < 4; ++i) {
    float expected = a[i] / b[i];
    bool same = gq_dev_f32_bits(found[i]) == gq_dev_f32_bits(expected) ||
                (isnan(found[i]) && isnan(expected));
    if (!same && numWrong++ < 10)
      printf("%a / %a: %a, expected %a\n", (double)a[i], (double)b[i],
             (double)found[i], (double)expected);
  }
}

/// Arguments around 0, those of all magnitudes, and those whose exponentials
/// are too large or too small. Where 2^f is rounded otherwise than the chip's,
/// a sum is off by a few units of the last place.
static void checkExpPlus(void) {
  static const float constants[] = {1.0f, -1.0f, 0x1p-60f, 1000.0f};
  for (uint32_t k = 0; k < 1u << 20; ++k) {
    float x = k % 2 ? floatOf(96 + random32() % 40) : floatOf(random32() % 256);
    float c = constants[k / 2 % 4];
    float found = gq_dev_exp_plus(x, c);
    double exponential = exp((double)x);
    bool right = isnan(x) ? isnan(found)
                 : exponential >= 0x1p128
                     ? isinf(found)
                     : fabs((double)found - (exponential + (double)c)) <=
                           1e-6 * (exponential + fabs((double)c));
    if (!right && numWrong++ < 10)
      printf("exp(%a) + %a: %a\n", (double)x, (double)c, (double)found);
  }
}

/// Of both signs, and of each number another value.
static float tabulated(float x) { return x < 0 ? x * x : x - 3.0f; }

static void tabulate(float x0, float x1, float x2, float x3, float values[4]) {
  values[0] = tabulated(x0);
  values[1] = tabulated(x1);
  values[2] = tabulated(x2);
  values[3] = tabulated(x3);
}

static void fillTable(void *context) {
  (void)context;
  gq_dev_fill_table(tabulate);
}

/// Each number in each place of 16, beside others that are in the table, which
/// are right if all are said to be.
static void checkTable(void) {
  emulatorRun(1, 512, fillTable, NULL);
  for (uint32_t i = 0; i < 1u << 20; ++i) {
    uint16_t numbers[16];
    for (uint32_t k = 0; k < 16; ++k)
      numbers[k] =
          (uint16_t)((random32() & 1) << 15 | 0x3f80 | random32() % 128);
    numbers[i % 16] = (uint16_t)(i / 16);
    uint32_t words[8];
    float values[16];
    for (int k = 0; k < 8; ++k)
      words[k] = numbers[2 * k] | (uint32_t)numbers[2 * k + 1] << 16;
    bool found = gq_dev_look_up16(words, values);
    float magnitude = fabsf(gq_dev_f32_from_bits(i / 16 << 16));
    bool wrong =
        found != ((magnitude >= 0x1p-23f && magnitude < 64.0f) || i / 16 == 0);
    for (uint32_t k = 0; found && k < 16; ++k)
      wrong |= values[k] !=
               tabulated(gq_dev_f32_from_bits((uint32_t)numbers[k] << 16));
    if (wrong && numWrong++ < 10)
      printf("looking up %04x in place %u, %d\n", i / 16, i % 16, found);
  }
}

int main(void) {
  float a[4], b[4];
  // Every pair of exponents; three others that are usual, or not.
  for (uint32_t i = 0; i < 256; ++i)
    for (uint32_t j = 0; j < 256; ++j)
      for (int k = 0; k < 32; ++k) {
        for (int n = 0; n < 4; ++n) {
          a[n] = floatOf(n && k % 2 ? 120 + random32() % 16 : i);
          b[n] = floatOf(n && k % 2 ? 120 + random32() % 16 : j);
        }
        check(gq_dev_divide4, a, b);
        for (int n = 0; n < 4; ++n)
          b[n] = fmaxf(fabsf(b[n]), 1.0f);
        check(gq_dev_divide4_by_more, a, b);
      }
  // Usual ones, as they occur.
  for (int k = 0; k < 4000000; ++k) {
    for (int n = 0; n < 4; ++n) {
      a[n] = floatOf(110 + random32() % 24);
      b[n] = floatOf(124 + random32() % 12);
    }
    check(gq_dev_divide4, a, b);
    for (int n = 0; n < 4; ++n)
      b[n] = 1.0f + fabsf(b[n]);
    check(gq_dev_divide4_by_more, a, b);
  }
  checkExpPlus();
  checkTable();
  for (uint32_t k = 0; k < 1u << 22; ++k) {
    float x = gq_dev_f32_from_bits(random32()), rounded[4];
    gq_dev_round4_to_bf16((float[]){x, 1.0f, x, -x}, rounded);
    float once = gq_dev_rounded_to_bf16(x);
    float expected = gq_dev_f32_from_bf16(gq_dev_bf16_from_f32(x));
    const float all[] = {once, rounded[0], rounded[2], -rounded[3]};
    for (int i = 0; i < 4; ++i)
      if (gq_dev_f32_bits(all[i]) != gq_dev_f32_bits(expected) &&
          !isnan(expected) && numWrong++ < 10)
        printf("%a to bf16: %a, expected %a\n", (double)x, (double)all[i],
               (double)expected);
  }
  printf("%llu wrong\n", (unsigned long long)numWrong);
  return numWrong != 0;
}
