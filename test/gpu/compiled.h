//===- compiled.h - tests of compiled graphs on a GPU ------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_COMPILED_H
#define GQ_TEST_GPU_COMPILED_H

/// The main of a program of its own, and part of the program that
/// tools/bundle.sh packs. Takes no arguments; returns 77 if there is no GPU.
int gqTestCompiledMain(int argc, char **argv);

#endif // GQ_TEST_GPU_COMPILED_H
