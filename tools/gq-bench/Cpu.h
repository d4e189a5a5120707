//===- Cpu.h - what all cores can do -----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQBENCH_CPU_H
#define GQ_TOOLS_GQBENCH_CPU_H

#include "gq/Runtime/Status.h"

#include <stddef.h>

/// Copies with so many threads, a part each. Errors: GQ_OUT_OF_MEMORY.
gqStatus cpuCopy(int numThreads, void *to, const void *from, size_t size);

/// Measures the float32 operations of so many threads in a second, in TFLOP/s:
/// multiplications and additions in registers, with the best instruction set
/// that there is. Errors: GQ_OUT_OF_MEMORY.
gqStatus cpuFlopRate(int numThreads, double *teraflopsPerSecond);

#endif // GQ_TOOLS_GQBENCH_CPU_H
