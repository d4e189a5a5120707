//===- PoisonShared.h - shared memory that holds NaN -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel reads of shared memory without having stored it is mostly zero,
// or what the same kernel left there. A kernel that fills it with NaN, launched
// before the one that is tested, makes it show.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_POISONSHARED_H
#define GQ_TEST_GPU_POISONSHARED_H

#include "Driver.h"

/// The one parameter of `poison_shared`.
typedef struct PoisonSharedOperands {
  int64_t bytes;
} PoisonSharedOperands;

/// Fills all of each multiprocessor's. Of kernel `poison_shared`.
void poisonShared(Handle function, int multiprocessors, Handle stream);

/// Defines the kernel, in a file that defines KERNEL: 0xff in all bytes is NaN
/// as f32, f16, bf16, e4m3 and e8m0.
#define DEFINE_POISON_SHARED                                                   \
  KERNEL poison_shared(PoisonSharedOperands o) {                               \
    for (uint32_t at = gq_dev_thread() * 4; at < (uint32_t)o.bytes;            \
         at += gq_dev_num_threads() * 4)                                       \
      gq_dev_store_shared4(gq_dev_dynamic_shared_address() + at, UINT32_MAX);  \
  }

#endif // GQ_TEST_GPU_POISONSHARED_H
