//===- Producers.h - arithmetic of producers ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the generated hook of a producer calls where the compiler's own form is
// slower. Same bits as the operations of the producer.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_PRODUCERS_H
#define GQ_KERNELS_KERNELS_PRODUCERS_H

#include "runtime_kernels/arch/Nvptx.h"

/// quotients[i] = a[i] / b[i], rounded to nearest even. Four at once share a
/// branch: the compiler's division has one each, after which a call.
void gq_dev_divide4(const float a[4], const float b[4], float quotients[4]);

/// The same of b >= 1, or NaN.
void gq_dev_divide4_by_more(const float a[4], const float b[4],
                            float quotients[4]);

/// The same, but without a branch: if 0 is returned, quotients may be wrong.
uint32_t gq_dev_divide4_usual(const float a[4], const float b[4],
                              float quotients[4]);
uint32_t gq_dev_divide4_by_more_usual(const float a[4], const float b[4],
                                      float quotients[4]);

/// exp(x) + c, each rounded, of a c whose magnitude is between 2^-60 and 2^60.
float gq_dev_exp_plus(float x, float c);

/// x rounded to bf16, to nearest even. The conversion of a single number
/// waits for the unit of transcendental functions, that of a pair does not.
float gq_dev_rounded_to_bf16(float x);

/// The same of four, in pairs, as kernels hold them.
void gq_dev_round4_to_bf16(const float x[4], float rounded[4]);

/// Floats that are bf16, as words of two and back.
void gq_dev_pack16(const float x[16], uint32_t words[8]);
void gq_dev_unpack16(const uint32_t words[8], float x[16]);

void gq_dev_copy16(const uint32_t words[8], uint32_t copy[8]);

/// Moves 16 bf16, in words of two, down by one, `last`, a bf16, to the end, and
/// returns what was the first: a loop over an array that is in registers.
float gq_dev_shift16(uint32_t words[8], float last);

#endif // GQ_KERNELS_KERNELS_PRODUCERS_H
