//===- SharedRng.h - the random bits of a CTA ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of Philox are the same for all blocks, and too many for registers.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_TRANSFORMS_SHAREDRNG_H
#define GQ_KERNELS_TRANSFORMS_SHAREDRNG_H

#include "runtime_kernels/arch/Nvptx.h"
#include "runtime_kernels/transforms/Philox.h"

static GQ_SHARED uint32_t
    gq_dev_shared_keys[GQ_DEV_PHILOX_KEYS] GQ_UNINITIALIZED;
static GQ_SHARED uint64_t gq_dev_shared_offset GQ_UNINITIALIZED;

/// Computes the keys of `state`, seed and offset, for all threads of the CTA,
/// of which there are as many as keys at least; known after a barrier.
GQ_DEV void gq_dev_share_rng(const uint64_t GQ_GLOBAL *state) {
  uint32_t thread = gq_dev_thread();
  if (thread == 0)
    gq_dev_shared_offset = state[1];
  if (thread < GQ_DEV_PHILOX_KEYS)
    gq_dev_shared_keys[thread] = gq_dev_philox_key(state[0], thread);
}

/// After each barrier it is loaded again rather than kept.
GQ_DEV gq_dev_rng_keys gq_dev_shared_rng(void) {
  gq_dev_rng_keys rng = {.offset = gq_dev_shared_offset};
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < GQ_DEV_PHILOX_KEYS; ++i)
    rng.keys.words[i] = gq_dev_shared_keys[i];
  return rng;
}

#endif // GQ_KERNELS_TRANSFORMS_SHAREDRNG_H
