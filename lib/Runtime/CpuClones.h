//===- CpuClones.h - one function for several instruction sets ---*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUCLONES_H
#define GQ_LIB_RUNTIME_CPUCLONES_H

/// Compiles a function for AVX2 as well as for the baseline; the loader picks.
/// Both compute the same bytes: no operation is contracted or reordered, only
/// done on more lanes. Needs an ELF loader with indirect functions.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define GQ_CPU_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define GQ_CPU_CLONES
#endif

#endif // GQ_LIB_RUNTIME_CPUCLONES_H
