//===- Mma.h - shared memory and matrix units, emulated ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the place of runtime_kernels/arch/Mma.h, as Nvptx.h does of its own.
// Addresses of shared memory are offsets into one array.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_MMA_H
#define GQ_KERNELS_ARCH_MMA_H

#include "runtime_kernels/arch/Nvptx.h"

GQ_DEV uint32_t gq_dev_dynamic_shared_address(void) { return 0; }

GQ_DEV void *gq_dev_shared_pointer(uint32_t address) {
  return emulatorShared(address);
}

#define GQ_DEV_NAMED_BARRIER128(id) emulatorNamedBarrier(id, 128)
#define GQ_DEV_NAMED_BARRIER256(id) emulatorNamedBarrier(id, 256)

GQ_DEV gq_dev_u32x4 gq_dev_load_shared16(uint32_t address) {
  return *(gq_dev_u32x4 *)emulatorShared(address);
}
GQ_DEV gq_dev_u32x2 gq_dev_load_shared8(uint32_t address) {
  return *(gq_dev_u32x2 *)emulatorShared(address);
}
GQ_DEV uint32_t gq_dev_load_shared4(uint32_t address) {
  return *(uint32_t *)emulatorShared(address);
}
GQ_DEV uint32_t gq_dev_load_shared2(uint32_t address) {
  return *(uint16_t *)emulatorShared(address);
}
GQ_DEV void gq_dev_store_shared16(uint32_t address, gq_dev_u32x4 x) {
  *(gq_dev_u32x4 *)emulatorShared(address) = x;
}

GQ_DEV void gq_dev_store_shared8(uint32_t address, uint32_t x, uint32_t y) {
  uint32_t *to = emulatorShared(address);
  to[0] = x;
  to[1] = y;
}
GQ_DEV void gq_dev_store_shared4(uint32_t address, uint32_t x) {
  *(uint32_t *)emulatorShared(address) = x;
}

GQ_DEV void gq_dev_begin_copy16_l2(bool exists, uint32_t to, const void *from) {
  emulatorBeginCopy(emulatorShared(to), exists ? from : 0, 16);
}
GQ_DEV void gq_dev_begin_copy4(bool exists, uint32_t to, const void *from) {
  emulatorBeginCopy(emulatorShared(to), exists ? from : 0, 4);
}
GQ_DEV void gq_dev_commit_copies(void) { emulatorCommitCopies(); }
#define GQ_DEV_WAIT_FOR_COPIES(n) emulatorWaitForGroups(n)

GQ_DEV gq_dev_u32x4 gq_dev_load_streamed16(bool exists, const void *p) {
  return exists ? *(const gq_dev_u32x4 *)p : (gq_dev_u32x4){0};
}
GQ_DEV gq_dev_u32x4 gq_dev_load_streamed16_line(bool exists, const void *p) {
  return gq_dev_load_streamed16(exists, p);
}
GQ_DEV uint32_t gq_dev_load_streamed1(bool exists, const void *p) {
  return exists ? *(const uint8_t *)p : 0;
}
GQ_DEV uint32_t gq_dev_load_streamed2(bool exists, const void *p) {
  return exists ? *(const uint16_t *)p : 0;
}

GQ_DEV uint32_t gq_dev_multiply_f16x2(uint32_t a, uint32_t b) {
  float x[2];
  for (int i = 0; i < 2; ++i)
    x[i] = gq_dev_f32_from_f16((uint16_t)(a >> 16 * i)) *
           gq_dev_f32_from_f16((uint16_t)(b >> 16 * i));
  return gq_dev_f16x2_from_f32(x[0], x[1]);
}

GQ_DEV uint32_t gq_dev_fma_bf16x2(uint32_t a, uint32_t b, uint32_t c) {
  float x[2];
  for (int i = 0; i < 2; ++i)
    x[i] = gq_dev_f32_from_bf16((uint16_t)(a >> 16 * i)) *
               gq_dev_f32_from_bf16((uint16_t)(b >> 16 * i)) +
           gq_dev_f32_from_bf16((uint16_t)(c >> 16 * i));
  return gq_dev_bf16x2_from_f32(x[0], x[1]);
}
GQ_DEV uint32_t gq_dev_multiply_bf16x2(uint32_t a, uint32_t b) {
  return gq_dev_fma_bf16x2(a, b, 0x80008000);
}

/// What lane `lane` has of pairs a[0] to a[3], which its quad multiplies by
/// pairs b[0] and b[1] of k 0 to 7 and 8 to 15.
GQ_DEV float emulatorDot(const uint32_t a[4], const uint32_t b[4]) {
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    for (int half = 0; half < 32; half += 16)
      sum += gq_dev_f32_from_f16((uint16_t)(a[i] >> half)) *
             gq_dev_f32_from_f16((uint16_t)(b[i] >> half));
  return sum;
}

/// x[lane][i] of all lanes of the warp.
GQ_DEV void emulatorExchangeWords(const uint32_t *x, uint32_t count,
                                  uint32_t out[EMULATOR_WARP][4]) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t *lanes = emulatorExchange('x', x[i]);
    for (uint32_t lane = 0; lane < EMULATOR_WARP; ++lane)
      out[lane][i] = (uint32_t)lanes[lane];
  }
}

GQ_DEV void gq_dev_mma_m16n8k16_f16(float c[4], const uint32_t a[4],
                                    const uint32_t b[2]) {
  uint32_t as[EMULATOR_WARP][4], bs[EMULATOR_WARP][4];
  emulatorExchangeWords(a, 4, as);
  emulatorExchangeWords(b, 2, bs);
  uint32_t row = gq_dev_lane() / 4, column = gq_dev_lane() % 4 * 2;
  for (uint32_t i = 0; i < 4; ++i)
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t x[4], y[4];
      for (uint32_t q = 0; q < 4; ++q) {
        x[q] = as[row * 4 + q][i / 2 + 2 * half];
        y[q] = bs[(column + i % 2) * 4 + q][half];
      }
      c[i] += emulatorDot(x, y);
    }
}

#endif // GQ_KERNELS_ARCH_MMA_H
