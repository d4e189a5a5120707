//===- Guarded.c - memory whose surroundings are watched -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guarded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Guarded guardedNew(int64_t size, int64_t shift, uint8_t poison) {
  int64_t page = sysconf(_SC_PAGESIZE), padded = (size + 15) / 16 * 16 + 16;
  int64_t inner = (padded + page - 1) / page * page;
  Guarded g = {.size = size, .pagesSize = inner + 2 * page, .poison = poison};
  g.pages = mmap(NULL, (size_t)g.pagesSize, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (g.pages == MAP_FAILED) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  mprotect(g.pages, (size_t)page, PROT_NONE);
  mprotect(g.pages + page + inner, (size_t)page, PROT_NONE);
  memset(g.pages + page, poison, (size_t)inner);
  g.bytes = g.pages + page + inner - padded + (shift ? 16 - shift : 16);
  if (shift == 0 && size % 16 == 0)
    g.bytes = g.pages + page + inner - size;
  return g;
}

void guardedFree(Guarded *g) { munmap(g->pages, (size_t)g->pagesSize); }

bool guardsHold(const Guarded *g) {
  int64_t page = sysconf(_SC_PAGESIZE);
  bool hold = true;
  for (const uint8_t *p = g->pages + page; p < g->bytes; ++p)
    hold &= *p == g->poison;
  for (const uint8_t *p = g->bytes + g->size;
       p < g->pages + g->pagesSize - page; ++p)
    hold &= *p == g->poison;
  return hold;
}
