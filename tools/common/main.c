//===- main.c - a program of one tool -------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// GQ_TOOL_MAIN is one of the functions of Tools.h.
int GQ_TOOL_MAIN(int argc, char **argv);

int main(int argc, char **argv) { return GQ_TOOL_MAIN(argc, argv); }
