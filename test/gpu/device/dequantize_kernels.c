//===- dequantize_kernels.c - the test kernels of dequantization ----------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define SM120 (__CUDA_ARCH__ == 1200)

#include "Bounds.h"
#include "DequantizeKernels.h"
