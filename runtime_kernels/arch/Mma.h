//===- Mma.h - shared memory and matrix units of all chips -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What matrix products need on every chip, one function per instruction.
// Addresses of shared memory are 32 bits.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_MMA_H
#define GQ_KERNELS_ARCH_MMA_H

#include "runtime_kernels/arch/Nvptx.h"

/// The memory that a launch asks for, at a multiple of 1024.
extern GQ_SHARED __attribute__((aligned(1024))) uint8_t gq_dev_dynamic_shared[];

/// Its address.
GQ_DEV uint32_t gq_dev_dynamic_shared_address(void) {
  return (uint32_t)(uintptr_t)gq_dev_dynamic_shared;
}

GQ_DEV void GQ_SHARED *gq_dev_shared_pointer(uint32_t address) {
  return (void GQ_SHARED *)(uintptr_t)address;
}

/// 128 threads wait for each other at barrier `id`, a constant of 1 to 15: with
/// an `id` that is not, all 16 are reserved.
#define GQ_DEV_NAMED_BARRIER128(id)                                            \
  __asm__ volatile("bar.sync " #id ", 128;" ::: "memory")

/// The same of 256 threads.
#define GQ_DEV_NAMED_BARRIER256(id)                                            \
  __asm__ volatile("bar.sync " #id ", 256;" ::: "memory")

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

GQ_DEV gq_dev_u32x4 gq_dev_load_shared16(uint32_t address) {
  gq_dev_u32x4 x;
  __asm__ volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                   : "r"(address));
  return x;
}

GQ_DEV gq_dev_u32x2 gq_dev_load_shared8(uint32_t address) {
  gq_dev_u32x2 x;
  __asm__ volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                   : "=r"(x.x), "=r"(x.y)
                   : "r"(address));
  return x;
}

GQ_DEV uint32_t gq_dev_load_shared4(uint32_t address) {
  uint32_t x;
  __asm__ volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address));
  return x;
}

GQ_DEV uint32_t gq_dev_load_shared2(uint32_t address) {
  uint16_t x;
  __asm__ volatile("ld.shared.b16 %0, [%1];" : "=h"(x) : "r"(address));
  return x;
}

GQ_DEV void gq_dev_store_shared16(uint32_t address, gq_dev_u32x4 x) {
  __asm__ volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address),
                   "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w)
                   : "memory");
}

GQ_DEV void gq_dev_store_shared8(uint32_t address, uint32_t x, uint32_t y) {
  __asm__ volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(x),
                   "r"(y)
                   : "memory");
}

GQ_DEV void gq_dev_store_shared4(uint32_t address, uint32_t x) {
  __asm__ volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(x) : "memory");
}

/// Begin to copy 16 bytes past L1, or 4, both aligned to their size; a missing
/// source is not read and gives zeros.
GQ_DEV void gq_dev_begin_copy16_l2(bool exists, uint32_t to,
                                   const void GQ_GLOBAL *from) {
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
                   "l"(from), "r"(exists ? 16 : 0)
                   : "memory");
}
GQ_DEV void gq_dev_begin_copy4(bool exists, uint32_t to,
                               const void GQ_GLOBAL *from) {
  __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
                   "l"(from), "r"(exists ? 4 : 0)
                   : "memory");
}

/// Makes a group of the copies that this thread began since the last commit.
GQ_DEV void gq_dev_commit_copies(void) {
  __asm__ volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most the constant `n` of them are not complete.
#define GQ_DEV_WAIT_FOR_COPIES(n)                                              \
  __asm__ volatile("cp.async.wait_group " #n ";" ::: "memory")

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// 16, 1 and 2 aligned bytes that are read once, past L1; zeros if they do not
/// exist.
#define GQ_DEV_LOAD_STREAMED16(NAME, LINE)                                     \
  GQ_DEV gq_dev_u32x4 NAME(bool exists, const void GQ_GLOBAL *p) {             \
    gq_dev_u32x4 x = {0, 0, 0, 0};                                             \
    __asm__ volatile("{\n\t"                                                   \
                     ".reg .pred exists;\n\t"                                  \
                     "setp.ne.b32 exists, %5, 0;\n\t"                          \
                     "@exists ld.global.nc.L1::no_allocate" LINE               \
                     ".v4.b32 {%0, %1, %2, %3}, [%4];\n\t"                     \
                     "}"                                                       \
                     : "+r"(x.x), "+r"(x.y), "+r"(x.z), "+r"(x.w)              \
                     : "l"(p), "r"((uint32_t)exists));                         \
    return x;                                                                  \
  }
GQ_DEV_LOAD_STREAMED16(gq_dev_load_streamed16, "")
/// The same; L2 has the whole line of 128 bytes afterwards.
GQ_DEV_LOAD_STREAMED16(gq_dev_load_streamed16_line, ".L2::128B")
#undef GQ_DEV_LOAD_STREAMED16
GQ_DEV uint32_t gq_dev_load_streamed1(bool exists, const void GQ_GLOBAL *p) {
  uint16_t x = 0;
  __asm__ volatile("{\n\t"
                   ".reg .pred exists;\n\t"
                   "setp.ne.b32 exists, %2, 0;\n\t"
                   "@exists ld.global.nc.b8 %0, [%1];\n\t"
                   "}"
                   : "+h"(x)
                   : "l"(p), "r"((uint32_t)exists));
  return x;
}
GQ_DEV uint32_t gq_dev_load_streamed2(bool exists, const void GQ_GLOBAL *p) {
  uint16_t x = 0;
  __asm__ volatile("{\n\t"
                   ".reg .pred exists;\n\t"
                   "setp.ne.b32 exists, %2, 0;\n\t"
                   "@exists ld.global.nc.b16 %0, [%1];\n\t"
                   "}"
                   : "+h"(x)
                   : "l"(p), "r"((uint32_t)exists));
  return x;
}

//===----------------------------------------------------------------------===//
// Arithmetic on pairs of halves, and their products
//===----------------------------------------------------------------------===//

GQ_DEV uint32_t gq_dev_multiply_f16x2(uint32_t a, uint32_t b) {
  uint32_t d;
  __asm__("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}

/// The same of bf16, and a * b + c; denormals are kept.
GQ_DEV uint32_t gq_dev_multiply_bf16x2(uint32_t a, uint32_t b) {
  uint32_t d;
  __asm__("mul.rn.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
GQ_DEV uint32_t gq_dev_fma_bf16x2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  __asm__("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

/// c += A * B for f16 of 16 rows, 8 columns and 16 k. Of A, lane l has row
/// l / 4 and k 2 * (l % 4) and the one after in a[0], row + 8 in a[1], k + 8 in
/// a[2] and a[3]; of B, column l / 4 and the same k in b[0] and b[1]; of C,
/// columns 2 * (l % 4) and the one after, of row l / 4 first, then of row + 8.
GQ_DEV void gq_dev_mma_m16n8k16_f16(float c[4], const uint32_t a[4],
                                    const uint32_t b[2]) {
  __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%0, %1, %2, %3};"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                     "r"(b[1]));
}

#endif // GQ_KERNELS_ARCH_MMA_H
