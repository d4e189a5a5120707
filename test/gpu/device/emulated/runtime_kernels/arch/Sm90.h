//===- Sm90.h - Hopper's matrix units and barriers, emulated -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the place of runtime_kernels/arch/Sm90.h. A wgmma takes an A of
// registers when it is issued, and reads shared memory then or when it is
// waited for.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_SM90_H
#define GQ_KERNELS_ARCH_SM90_H

#include "runtime_kernels/arch/Mma.h"
#include "runtime_kernels/codecs/E4M3.h"
#include "runtime_kernels/codecs/E5M2.h"

#define GQ_DEV_GIVE_REGISTERS(n)
#define GQ_DEV_TAKE_REGISTERS(n)

GQ_DEV void gq_dev_mbarrier_init(uint32_t barrier, uint32_t count) {
  emulatorBarrierInit(emulatorShared(barrier), count);
}
GQ_DEV void gq_dev_fence_barriers(void) {}
GQ_DEV void gq_dev_mbarrier_arrive(uint32_t barrier) {
  emulatorBarrierArrive(emulatorShared(barrier));
}
GQ_DEV void gq_dev_mbarrier_wait(uint32_t barrier, uint32_t parity) {
  emulatorBarrierWait(emulatorShared(barrier), parity);
}
GQ_DEV void gq_dev_mbarrier_arrive_copied(uint32_t barrier) {
  emulatorBarrierArriveCopied(emulatorShared(barrier));
}
GQ_DEV void gq_dev_fence_async(void) {}
GQ_DEV void gq_dev_fence_async_global(void) {}
GQ_DEV void gq_dev_tell(uint32_t *p, uint32_t x) { *p += x; }
GQ_DEV void gq_dev_wait_for_word(const uint32_t *p, uint32_t x) {
  emulatorWaitForWord(p, x);
}
GQ_DEV void gq_dev_copy_bulk(uint32_t to, const void *from, uint32_t size,
                             uint32_t barrier) {
  if ((to | (uintptr_t)from | size) % 16)
    emulatorFail("a bulk copy that is not aligned");
  __builtin_memcpy(emulatorShared(to), from, size);
  emulatorBarrierArrive(emulatorShared(barrier));
}

GQ_DEV void gq_dev_wgmma_fence(void) { emulatorExchange('f', 0); }
GQ_DEV void gq_dev_wgmma_commit(void) { emulatorCommitProducts(); }
#define GQ_DEV_WGMMA_WAIT(n) emulatorWaitForProducts(n)

GQ_DEV uint64_t gq_dev_wgmma_b(uint32_t address) {
  if (address % 1024)
    emulatorFail("B is not at a multiple of 1024");
  return address >> 4;
}

/// 32 bytes of row `row` of a matrix that gq_dev_wgmma_b describes: its rows
/// are 128 bytes, of which the 16 bytes number c are at c ^ row % 8.
GQ_DEV void emulatorRow(uint64_t matrix, uint32_t row, uint32_t out[2][4]) {
  for (uint32_t half = 0; half < 2; ++half) {
    uint32_t piece = (uint32_t)(matrix % 8) + half;
    __builtin_memcpy(out[half],
                     emulatorShared((uint32_t)(matrix / 8 * 128) + row * 128 +
                                    ((piece ^ row % 8) << 4)),
                     16);
  }
}

GQ_DEV void emulatorMultiply(const EmulatedProduct *product) {
  uint32_t lane = emulatorThread() % EMULATOR_WARP;
  for (uint32_t j = 0; j < product->columns / 2; ++j) {
    uint32_t a[2][4], b[2][4];
    emulatorRow(product->b, j / 4 * 8 + lane % 4 * 2 + j % 2, b);
    if (product->isShared)
      emulatorRow(product->shared,
                  emulatorThread() % 128 / EMULATOR_WARP * 16 + lane / 4 +
                      j / 2 % 2 * 8,
                  a);
    else
      for (uint32_t half = 0; half < 2; ++half)
        for (uint32_t q = 0; q < 4; ++q)
          a[half][q] = product->a[q][j / 2 % 2 + 2 * half];
    if (product->begins)
      product->sums[j] = 0;
    for (uint32_t half = 0; half < 2; ++half)
      product->sums[j] += product->dot(a[half], b[half]);
  }
}

/// emulatorDot of bf16.
GQ_DEV float emulatorDotBf16(const uint32_t a[4], const uint32_t b[4]) {
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    for (int half = 0; half < 32; half += 16)
      sum += gq_dev_f32_from_bf16((uint16_t)(a[i] >> half)) *
             gq_dev_f32_from_bf16((uint16_t)(b[i] >> half));
  return sum;
}

GQ_DEV void
gq_dev_wgmma(uint32_t columns, float *d, const uint32_t a[4], uint64_t b,
             float (*dot)(const uint32_t a[4], const uint32_t b[4])) {
  uint32_t all[EMULATOR_WARP][4];
  emulatorExchangeWords(a, 4, all);
  EmulatedProduct product = {.compute = emulatorMultiply,
                             .dot = dot,
                             .columns = columns,
                             .sums = d,
                             .b = b};
  __builtin_memcpy(product.a, all[gq_dev_lane() / 4 * 4], sizeof(product.a));
  emulatorBeginProduct(&product);
}

#define GQ_WGMMA_16(N, TYPE, DOT)                                              \
  GQ_DEV void gq_dev_wgmma_m64n##N##k16_##TYPE(float *d, const uint32_t a[4],  \
                                               uint64_t b) {                   \
    gq_dev_wgmma(N, d, a, b, DOT);                                             \
  }
#define GQ_WGMMA_16_TYPES(N)                                                   \
  GQ_WGMMA_16(N, f16, emulatorDot) GQ_WGMMA_16(N, bf16, emulatorDotBf16)
GQ_WGMMA_16_TYPES(32)
GQ_WGMMA_16_TYPES(64)
GQ_WGMMA_16_TYPES(128)
GQ_WGMMA_16_TYPES(256)
#undef GQ_WGMMA_16_TYPES
#undef GQ_WGMMA_16

GQ_DEV void gq_dev_wgmma_shared(uint32_t columns, float *d, bool add,
                                uint64_t a, uint64_t b,
                                float (*dot)(const uint32_t a[4],
                                             const uint32_t b[4])) {
  emulatorExchange('w', 0);
  const EmulatedProduct product = {.compute = emulatorMultiply,
                                   .dot = dot,
                                   .columns = columns,
                                   .sums = d,
                                   .begins = !add,
                                   .b = b,
                                   .isShared = true,
                                   .shared = a};
  emulatorBeginProduct(&product);
}

GQ_DEV void gq_dev_wgmma_shared_m64n128k16_f16(float *d, bool add, uint64_t a,
                                               uint64_t b) {
  gq_dev_wgmma_shared(128, d, add, a, b, emulatorDot);
}
GQ_DEV void gq_dev_wgmma_shared_m64n256k16_f16(float *d, bool add, uint64_t a,
                                               uint64_t b) {
  gq_dev_wgmma_shared(256, d, add, a, b, emulatorDot);
}

/// Of 16 codes of 8 bits.
GQ_DEV float emulatorDot8(const uint32_t a[4], const uint32_t b[4],
                          float (*ofA)(uint8_t), float (*ofB)(uint8_t)) {
  float sum = 0;
  for (int i = 0; i < 16; ++i)
    sum += ofA((uint8_t)(a[i / 4] >> 8 * (i % 4))) *
           ofB((uint8_t)(b[i / 4] >> 8 * (i % 4)));
  return sum;
}

#define GQ_WGMMA_F8(N, A, B)                                                   \
  static float emulatorDot_n##N##_##A##_##B(const uint32_t a[4],               \
                                            const uint32_t b[4]) {             \
    return emulatorDot8(a, b, gq_dev_f32_from_##A, gq_dev_f32_from_##B);       \
  }                                                                            \
  GQ_DEV void gq_dev_wgmma_m64n##N##k32_##A##_##B(float *d, bool add,          \
                                                  uint64_t a, uint64_t b) {    \
    gq_dev_wgmma_shared(N, d, add, a, b, emulatorDot_n##N##_##A##_##B);        \
  }
#define GQ_WGMMA_F8_TYPES(N)                                                   \
  GQ_WGMMA_F8(N, e4m3, e4m3)                                                   \
  GQ_WGMMA_F8(N, e4m3, e5m2)                                                   \
  GQ_WGMMA_F8(N, e5m2, e4m3)                                                   \
  GQ_WGMMA_F8(N, e5m2, e5m2)
GQ_WGMMA_F8_TYPES(32)
GQ_WGMMA_F8_TYPES(64)
GQ_WGMMA_F8_TYPES(128)
#undef GQ_WGMMA_F8_TYPES
#undef GQ_WGMMA_F8

GQ_DEV void gq_dev_store_matrices(uint32_t address, const uint32_t x[4]) {
  uint32_t all[EMULATOR_WARP][4], lane = gq_dev_lane();
  emulatorExchangeWords(x, 4, all);
  uint32_t *to = emulatorShared(address);
  for (uint32_t i = 0; i < 4; ++i)
    to[i] = all[lane % 8 * 4 + i][lane / 8];
  gq_dev_warp_barrier();
}

GQ_DEV void gq_dev_store_matrices_transposed(uint32_t address,
                                             const uint32_t x[4]) {
  uint32_t all[EMULATOR_WARP][4], lane = gq_dev_lane();
  emulatorExchangeWords(x, 4, all);
  uint16_t *to = emulatorShared(address);
  for (uint32_t row = 0; row < 8; ++row)
    to[row] =
        (uint16_t)(all[row * 4 + lane % 8 / 2][lane / 8] >> 16 * (lane % 2));
  gq_dev_warp_barrier();
}

#endif // GQ_KERNELS_ARCH_SM90_H
