//===- Inline.h - how device functions are declared --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The headers below runtime_kernels/ are compiled twice: into the CPU runtime
// and, freestanding, into the GPU's device functions. They use <stdint.h>,
// <stdbool.h> and builtins that lower inline; there is no libc and no libm.
//
// Their results are defined to the byte, so both compilations need
// -ffp-contract=off, IEEE division and denormals, round to nearest even, and
// no -ffast-math.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_INLINE_H
#define GQ_KERNELS_INLINE_H

#ifdef __FAST_MATH__
#error "gq's numerics are defined to the byte: compile without -ffast-math"
#endif

/// Declares a device function. Always inlined: arguments that are constant in
/// the caller then specialize it.
#define GQ_DEV static inline __attribute__((always_inline))

/// GQ_DEV_CHIP is defined where the chip's instructions are available
/// (arch/Nvptx.h), or emulated by the tests: then a header has its fast forms
/// besides its reference forms. GQ_GLOBAL marks what a pointer points to as the
/// global memory of a GPU.
#ifdef __NVPTX__
#define GQ_DEV_CHIP
#define GQ_GLOBAL __attribute__((address_space(1)))
#else
#define GQ_GLOBAL
#endif

#endif // GQ_KERNELS_INLINE_H
