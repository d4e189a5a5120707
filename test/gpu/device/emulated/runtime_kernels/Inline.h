//===- Inline.h - device functions that need not be fast ---------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In place of runtime_kernels/Inline.h where threads are emulated: functions
// are inlined as the compiler likes. To inline all of them takes minutes.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_INLINE_H
#define GQ_KERNELS_INLINE_H

#define GQ_DEV static inline

/// The chip's instructions are emulated, too.
#define GQ_DEV_CHIP
#define GQ_GLOBAL

#endif // GQ_KERNELS_INLINE_H
