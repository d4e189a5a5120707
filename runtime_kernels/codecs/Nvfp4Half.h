//===- Nvfp4Half.h - NVFP4 products as f16, exactly --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What matrix units multiply on chips that have no NVFP4: an e2m1 code times
// its block's e4m3 scale times 2^-14. It is a multiple of 2^-24, f16's smallest
// denormal, of at most 6 significant bits and at most 2688 * 2^-14, so an f16
// has it exactly, and matrix units honour denormals. bf16 would have it too,
// but makes it with more instructions; e4m3 has not all of them.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_CODECS_NVFP4HALF_H
#define GQ_KERNELS_CODECS_NVFP4HALF_H

#include "runtime_kernels/arch/Mma.h"

/// What the product of two such values is to be multiplied by.
#define GQ_DEV_NVFP4_HALF_UNIT 0x1p28f

/// The same of codes without a scale.
#define GQ_DEV_E2M1_UNIT 0x1p14f

/// The e4m3 code in byte `i` as f16, in both halves.
GQ_DEV uint32_t gq_dev_nvfp4_half_scale(uint32_t codes, uint32_t i) {
  return gq_dev_f16x2_from_e4m3x2(gq_dev_permute(codes, 0, i | i << 4));
}

/// Codes 0 to 7 of a word times 2^-14, in the order (0, 2), (4, 6), (1, 3),
/// (5, 7). As bits of an f16 of exponent bias 15, a code of bias 1 is itself
/// times 2^-14: its sign goes to bit 15, the rest to bits 9 to 11. That is all
/// in the upper byte; so four bytes hold the upper bytes of four halves, of the
/// odd codes without a shift of the sign.
GQ_DEV void gq_dev_e2m1_half8(uint32_t codes, uint32_t out[4]) {
  uint32_t odd = (codes & 0x80808080) | (codes >> 3 & 0x0e0e0e0e);
  uint32_t even = (codes << 4 & 0x80808080) | (codes << 1 & 0x0e0e0e0e);
  out[0] = gq_dev_permute(even, 0, 0x1404);
  out[1] = gq_dev_permute(even, 0, 0x3424);
  out[2] = gq_dev_permute(odd, 0, 0x1404);
  out[3] = gq_dev_permute(odd, 0, 0x3424);
}

/// The same times a scale in both halves.
GQ_DEV void gq_dev_nvfp4_half8(uint32_t codes, uint32_t scale,
                               uint32_t out[4]) {
  gq_dev_e2m1_half8(codes, out);
  out[0] = gq_dev_multiply_f16x2(out[0], scale);
  out[1] = gq_dev_multiply_f16x2(out[1], scale);
  out[2] = gq_dev_multiply_f16x2(out[2], scale);
  out[3] = gq_dev_multiply_f16x2(out[3], scale);
}

#endif // GQ_KERNELS_CODECS_NVFP4HALF_H
