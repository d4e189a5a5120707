//===- Baseline.c - loops for what the compiler is told -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define GQ_CPU_KERNELS gqCpuKernelsBaseline
#include "Kernels.h"
