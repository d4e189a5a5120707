//===- Avx512.c - loops for AVX-512 (F, BW, DQ, VL) -----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifdef __x86_64__
#define GQ_CPU_KERNELS gqCpuKernelsAvx512
#include "Kernels.h"
#endif
