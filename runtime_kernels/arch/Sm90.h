//===- Sm90.h - what Hopper's matrix units and barriers have -----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions for kernels whose warps have roles: barriers in shared memory,
// asynchronous copies, wgmma. One function an instruction. Addresses of shared
// memory are 32 bits.
//
// A warpgroup is four warps, the first of which has a number divisible by 4.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_ARCH_SM90_H
#define GQ_KERNELS_ARCH_SM90_H

#include "runtime_kernels/arch/Mma.h"

/// Gives registers of this warpgroup's threads back, or takes some, until each
/// has `n`, a constant multiple of 8. What is taken must have been given back
/// before, or the taker waits forever: the sum over all threads of the CTA
/// never exceeds that at entry.
#define GQ_DEV_GIVE_REGISTERS(n)                                               \
  __asm__ volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";")
#define GQ_DEV_TAKE_REGISTERS(n)                                               \
  __asm__ volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";")

//===----------------------------------------------------------------------===//
// Barriers in shared memory: 8 bytes each
//===----------------------------------------------------------------------===//

/// A barrier whose phase is complete after `count` arrivals. One thread does
/// it; the others see it after gq_dev_fence_barriers and a barrier of the CTA.
GQ_DEV void gq_dev_mbarrier_init(uint32_t barrier, uint32_t count) {
  __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                   "r"(count)
                   : "memory");
}
GQ_DEV void gq_dev_fence_barriers(void) {
  __asm__ volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Those that wait for the phase see what this thread wrote before.
GQ_DEV void gq_dev_mbarrier_arrive(uint32_t barrier) {
  __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier)
                   : "memory");
}

/// Arrives, at a barrier that counts on it, when the copies that this thread
/// began are there.
GQ_DEV void gq_dev_mbarrier_arrive_copied(uint32_t barrier) {
  __asm__ volatile(
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier)
      : "memory");
}

/// Waits until the phase of this parity is complete; of a new barrier, that of
/// parity 1 is.
GQ_DEV void gq_dev_mbarrier_wait(uint32_t barrier, uint32_t parity) {
  __asm__ volatile(
      "{\n\t"
      ".reg .pred done;\n\t"
      "WAIT_%=:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
      "@done bra DONE_%=;\n\t"
      "bra WAIT_%=;\n\t"
      "DONE_%=:\n\t"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Begins to copy `size` bytes, a multiple of 16 as both addresses are, and
/// arrives at the barrier, whose phase waits for the copy too.
GQ_DEV void gq_dev_copy_bulk(uint32_t to, const void GQ_GLOBAL *from,
                             uint32_t size, uint32_t barrier) {
  __asm__ volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n\t"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%2], [%3], %1, [%0];" ::"r"(barrier),
      "r"(size), "r"(to), "l"(from)
      : "memory");
}

/// What this thread stored to shared memory is seen by the matrix units of
/// warpgroups that it tells afterwards.
GQ_DEV void gq_dev_fence_async(void) {
  __asm__ volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// What this thread stored to global memory, or was told of, is seen by bulk
/// copies of those that it tells, or by its own.
GQ_DEV void gq_dev_fence_async_global(void) {
  __asm__ volatile("fence.proxy.async.global;" ::: "memory");
}

/// Adds to a word; who waits for it sees what this thread, and those that told
/// it, wrote before.
GQ_DEV void gq_dev_tell(uint32_t GQ_GLOBAL *p, uint32_t x) {
  __asm__ volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(x)
                   : "memory");
}

/// Waits until a word is at least x.
GQ_DEV void gq_dev_wait_for_word(const uint32_t GQ_GLOBAL *p, uint32_t x) {
  __asm__ volatile("{\n\t"
                   ".reg .pred done;\n\t"
                   ".reg .b32 word;\n\t"
                   "WAIT_%=:\n\t"
                   "ld.acquire.gpu.global.u32 word, [%0];\n\t"
                   "setp.ge.u32 done, word, %1;\n\t"
                   "@!done bra WAIT_%=;\n\t"
                   "}" ::"l"(p),
                   "r"(x)
                   : "memory");
}

//===----------------------------------------------------------------------===//
// wgmma: 64 rows in the registers of a warpgroup
//===----------------------------------------------------------------------===//

/// Before the first wgmma, and after registers that one uses were written.
GQ_DEV void gq_dev_wgmma_fence(void) {
  __asm__ volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Those issued since the last commit become a group.
GQ_DEV void gq_dev_wgmma_commit(void) {
  __asm__ volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most the constant `n` groups are not complete.
#define GQ_DEV_WGMMA_WAIT(n)                                                   \
  __asm__ volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")

/// Describes a B whose n are rows of 128 bytes, 64 f16 of k, at a multiple of
/// 1024: 16 bytes number c of row r are at number c ^ r % 8. 16 k on is 2 more.
GQ_DEV uint64_t gq_dev_wgmma_b(uint32_t address) {
  const uint64_t swizzle128 = (uint64_t)1 << 62;
  const uint64_t eightRows = (uint64_t)(1024 >> 4) << 32;
  return (address & 0x3ffff) >> 4 | (uint64_t)1 << 16 | eightRows | swizzle128;
}

// d += A * B in f32 of f16 or bf16. Thread t of the warpgroup holds, of A, the
// k 2 * q and 2 * q + 1 (q = t % 4) of rows 16 * (t / 32) + t % 32 / 4 and that
// + 8, then the same of k + 8; of D, in d[4 * j + i], row + 8 * (i / 2) and n
// 8 * j + 2 * q + i % 2.

#define GQ_WGMMA_D8(i)                                                         \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),  \
      "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

/// d[16], d[32], d[64] and d[128] += a * B for n = 32, 64, 128 and 256.
#define GQ_WGMMA_16(TYPE)                                                      \
  GQ_DEV void gq_dev_wgmma_m64n32k16_##TYPE(float *d, const uint32_t a[4],     \
                                            uint64_t b) {                      \
    __asm__ volatile(                                                          \
        "wgmma.mma_async.sync.aligned.m64n32k16.f32." #TYPE "." #TYPE " "      \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "   \
        "%15}, {%16, %17, %18, %19}, %20, 1, 1, 1, 0;"                         \
        : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8)                                       \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                 \
  }                                                                            \
  GQ_DEV void gq_dev_wgmma_m64n64k16_##TYPE(float *d, const uint32_t a[4],     \
                                            uint64_t b) {                      \
    __asm__ volatile(                                                          \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." #TYPE "." #TYPE " "      \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "   \
        "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "    \
        "%28, %29, %30, %31}, {%32, %33, %34, %35}, %36, 1, 1, 1, 0;"          \
        : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8), GQ_WGMMA_D8(16), GQ_WGMMA_D8(24)     \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                 \
  }                                                                            \
  GQ_DEV void gq_dev_wgmma_m64n128k16_##TYPE(float *d, const uint32_t a[4],    \
                                             uint64_t b) {                     \
    __asm__ volatile(                                                          \
        "wgmma.mma_async.sync.aligned.m64n128k16.f32." #TYPE "." #TYPE " "     \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "   \
        "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "    \
        "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "    \
        "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "    \
        "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "                  \
        "{%64, %65, %66, %67}, %68, 1, 1, 1, 0;"                               \
        : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8), GQ_WGMMA_D8(16), GQ_WGMMA_D8(24),    \
          GQ_WGMMA_D8(32), GQ_WGMMA_D8(40), GQ_WGMMA_D8(48), GQ_WGMMA_D8(56)   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                 \
  }                                                                            \
  GQ_DEV void gq_dev_wgmma_m64n256k16_##TYPE(float *d, const uint32_t a[4],    \
                                             uint64_t b) {                     \
    __asm__ volatile(                                                          \
        "wgmma.mma_async.sync.aligned.m64n256k16.f32." #TYPE "." #TYPE " "     \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "        \
        "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "    \
        "%27, "                                                                \
        "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "    \
        "%41, "                                                                \
        "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, "    \
        "%55, "                                                                \
        "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, "    \
        "%69, "                                                                \
        "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, "    \
        "%83, "                                                                \
        "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, "    \
        "%97, "                                                                \
        "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, "     \
        "%109, %110, %111, "                                                   \
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "   \
        "%123, %124, %125, "                                                   \
        "%126, %127}, "                                                        \
        "{%128, %129, %130, %131}, %132, 1, 1, 1, 0;"                          \
        : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8), GQ_WGMMA_D8(16), GQ_WGMMA_D8(24),    \
          GQ_WGMMA_D8(32), GQ_WGMMA_D8(40), GQ_WGMMA_D8(48), GQ_WGMMA_D8(56),  \
          GQ_WGMMA_D8(64), GQ_WGMMA_D8(72), GQ_WGMMA_D8(80), GQ_WGMMA_D8(88),  \
          GQ_WGMMA_D8(96), GQ_WGMMA_D8(104), GQ_WGMMA_D8(112),                 \
          GQ_WGMMA_D8(120)                                                     \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                 \
  }
GQ_WGMMA_16(f16)
GQ_WGMMA_16(bf16)
#undef GQ_WGMMA_16

/// d[64] = or, if `add`, += A * B for n = 128, A being 64 rows as
/// gq_dev_wgmma_b describes them.
GQ_DEV void gq_dev_wgmma_shared_m64n128k16_f16(float *d, bool add, uint64_t a,
                                               uint64_t b) {
  __asm__ volatile(
      "{\n\t"
      ".reg .pred add;\n\t"
      "setp.ne.b32 add, %66, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
      "%46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63}, "
      "%64, %65, add, 1, 1, 0, 0;\n\t"
      "}"
      : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8), GQ_WGMMA_D8(16), GQ_WGMMA_D8(24),
        GQ_WGMMA_D8(32), GQ_WGMMA_D8(40), GQ_WGMMA_D8(48), GQ_WGMMA_D8(56)
      : "l"(a), "l"(b), "r"((uint32_t)add));
}

/// d[128] = or, if `add`, += A * B for n = 256, A being 64 rows as
/// gq_dev_wgmma_b describes them.
GQ_DEV void gq_dev_wgmma_shared_m64n256k16_f16(float *d, bool add, uint64_t a,
                                               uint64_t b) {
  __asm__ volatile(
      "{\n\t"
      ".reg .pred add;\n\t"
      "setp.ne.b32 add, %130, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
      "%46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, "
      "%78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, "
      "%94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, "
      "%108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, "
      "%124, %125, %126, %127}, "
      "%128, %129, add, 1, 1, 0, 0;\n\t"
      "}"
      : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8), GQ_WGMMA_D8(16), GQ_WGMMA_D8(24),
        GQ_WGMMA_D8(32), GQ_WGMMA_D8(40), GQ_WGMMA_D8(48), GQ_WGMMA_D8(56),
        GQ_WGMMA_D8(64), GQ_WGMMA_D8(72), GQ_WGMMA_D8(80), GQ_WGMMA_D8(88),
        GQ_WGMMA_D8(96), GQ_WGMMA_D8(104), GQ_WGMMA_D8(112), GQ_WGMMA_D8(120)
      : "l"(a), "l"(b), "r"((uint32_t)add));
}

// The same of codes of 8 bits, 32 k at a time, A in shared memory as well: 64
// rows as gq_dev_wgmma_b describes them, 128 k in their 128 bytes. D is as
// above, d = A * B unless `add`. Hopper keeps about 14 bits of a sum of these
// products, those below 2^-13 of the largest one are lost.

#define GQ_WGMMA_F8_N32(A, B)                                                  \
  GQ_DEV void gq_dev_wgmma_m64n32k32_##A##_##B(float *d, bool add, uint64_t a, \
                                               uint64_t b) {                   \
    __asm__ volatile(                                                          \
        "{\n\t"                                                                \
        ".reg .pred add;\n\t"                                                  \
        "setp.ne.b32 add, %18, 0;\n\t"                                         \
        "wgmma.mma_async.sync.aligned.m64n32k32.f32." #A "." #B " {"           \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
        "}, %16, %17, add, 1, 1;\n\t"                                          \
        "}"                                                                    \
        : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8)                                       \
        : "l"(a), "l"(b), "r"((uint32_t)add));                                 \
  }

#define GQ_WGMMA_F8_N64(A, B)                                                  \
  GQ_DEV void gq_dev_wgmma_m64n64k32_##A##_##B(float *d, bool add, uint64_t a, \
                                               uint64_t b) {                   \
    __asm__ volatile(                                                          \
        "{\n\t"                                                                \
        ".reg .pred add;\n\t"                                                  \
        "setp.ne.b32 add, %34, 0;\n\t"                                         \
        "wgmma.mma_async.sync.aligned.m64n64k32.f32." #A "." #B " {"           \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "    \
        "%15, "                                                                \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, "    \
        "%29, %30, %31"                                                        \
        "}, %32, %33, add, 1, 1;\n\t"                                          \
        "}"                                                                    \
        : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8), GQ_WGMMA_D8(16), GQ_WGMMA_D8(24)     \
        : "l"(a), "l"(b), "r"((uint32_t)add));                                 \
  }

#define GQ_WGMMA_F8_N128(A, B)                                                 \
  GQ_DEV void gq_dev_wgmma_m64n128k32_##A##_##B(float *d, bool add,            \
                                                uint64_t a, uint64_t b) {      \
    __asm__ volatile(                                                          \
        "{\n\t"                                                                \
        ".reg .pred add;\n\t"                                                  \
        "setp.ne.b32 add, %66, 0;\n\t"                                         \
        "wgmma.mma_async.sync.aligned.m64n128k32.f32." #A "." #B " {"          \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "    \
        "%15, "                                                                \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, "    \
        "%29, %30, %31, "                                                      \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, "    \
        "%45, %46, %47, "                                                      \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "    \
        "%61, %62, %63"                                                        \
        "}, %64, %65, add, 1, 1;\n\t"                                          \
        "}"                                                                    \
        : GQ_WGMMA_D8(0), GQ_WGMMA_D8(8), GQ_WGMMA_D8(16), GQ_WGMMA_D8(24),    \
          GQ_WGMMA_D8(32), GQ_WGMMA_D8(40), GQ_WGMMA_D8(48), GQ_WGMMA_D8(56)   \
        : "l"(a), "l"(b), "r"((uint32_t)add));                                 \
  }

#define GQ_WGMMA_F8_TYPES(N)                                                   \
  GQ_WGMMA_F8_N##N(e4m3, e4m3) GQ_WGMMA_F8_N##N(e4m3, e5m2)                    \
      GQ_WGMMA_F8_N##N(e5m2, e4m3) GQ_WGMMA_F8_N##N(e5m2, e5m2)
GQ_WGMMA_F8_TYPES(32)
GQ_WGMMA_F8_TYPES(64)
GQ_WGMMA_F8_TYPES(128)
#undef GQ_WGMMA_F8_TYPES
#undef GQ_WGMMA_F8_N32
#undef GQ_WGMMA_F8_N64
#undef GQ_WGMMA_F8_N128

#undef GQ_WGMMA_D8

/// Stores four 8x8 matrices of 16-bit elements. Lane l holds, of each, elements
/// 2 * (l % 4) and that + 1 of row l / 4, and gives the address of row l % 8 of
/// matrix l / 8: 16 bytes.
GQ_DEV void gq_dev_store_matrices(uint32_t address, const uint32_t x[4]) {
  __asm__ volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
      :
      : "r"(address), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
      : "memory");
}

/// Stores four 8x8 matrices of 16-bit elements, transposed. Lane l holds, of
/// each, elements 2 * (l % 4) and that + 1 of row l / 4, and gives the address
/// of column l % 8 of matrix l / 8: 16 bytes.
GQ_DEV void gq_dev_store_matrices_transposed(uint32_t address,
                                             const uint32_t x[4]) {
  __asm__ volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
      :
      : "r"(address), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
      : "memory");
}

#endif // GQ_KERNELS_ARCH_SM90_H
