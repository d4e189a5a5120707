//===- Memory.c - when there is none --------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <stdio.h>
#include <stdlib.h>

void gqOutOfMemory(void) {
  fputs("gq: out of memory\n", stderr);
  abort();
}
