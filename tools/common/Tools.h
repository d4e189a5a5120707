//===- Tools.h - the command-line tools as functions -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each is the `main` of a program of its own. Those that run modules are also
// in one program for machines without LLVM, where a copy of LLVM each would be
// large.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_COMMON_TOOLS_H
#define GQ_TOOLS_COMMON_TOOLS_H

int gqRunMain(int argc, char **argv);
int gqBenchMain(int argc, char **argv);
int gqTranslateMain(int argc, char **argv);

#endif // GQ_TOOLS_COMMON_TOOLS_H
