//===- Heap.c - memory of generated code ----------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Heap.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

/// What one call has allocated and not freed.
typedef struct Heap {
  void **blocks;
  size_t count;
  size_t capacity;
  /// Leaves the generated code.
  jmp_buf failure;
  /// That of the call which this one is made from, if any.
  struct Heap *outer;
} Heap;

/// Of the call that this thread is in.
static _Thread_local Heap *current;

static bool reserve(Heap *heap) {
  if (heap->count < heap->capacity)
    return true;
  size_t capacity = heap->capacity ? 2 * heap->capacity : 16;
  void **blocks = realloc(heap->blocks, capacity * sizeof(void *));
  if (!blocks)
    return false;
  heap->blocks = blocks;
  heap->capacity = capacity;
  return true;
}

/// Ends the call.
_Noreturn static void fail(Heap *heap, uint64_t size) {
  if (size > PTRDIFF_MAX)
    gqFail(GQ_OUT_OF_MEMORY,
           "out of memory: a tensor has a negative extent, or more elements "
           "than there can be");
  else
    gqFail(GQ_OUT_OF_MEMORY, "out of memory: a tensor needs %llu bytes",
           (unsigned long long)size);
  longjmp(heap->failure, 1);
}

/// As malloc. The C library gets large blocks from the system and gives them
/// back, above 32 MB always, so that each page of a matrix between two ops is a
/// fault at each call: 28 of 113 ms of silu and quantization at 8192 by 5120.
/// In huge pages there are 512 times fewer.
static void *allocate(size_t size) {
  enum { HUGE_PAGE = 2 << 20 };
  if (size < 2 * HUGE_PAGE || size > PTRDIFF_MAX - HUGE_PAGE)
    return malloc(size);
  size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void *block = aligned_alloc(HUGE_PAGE, whole);
  if (!block)
    return malloc(size);
  // Whether the system has any does not matter.
  (void)madvise(block, whole, MADV_HUGEPAGE);
  return block;
}

void *gqHeapAllocate(uint64_t size) {
  Heap *heap = current;
  if (!heap)
    return malloc(size);
  void *block = size <= PTRDIFF_MAX && reserve(heap) ? allocate(size) : NULL;
  // No bytes need no memory.
  if (!block && size)
    fail(heap, size);
  if (block)
    heap->blocks[heap->count++] = block;
  return block;
}

void gqHeapFree(void *memory) {
  // What was allocated last is usually freed first.
  for (size_t i = current ? current->count : 0; i > 0; --i) {
    if (current->blocks[i - 1] != memory)
      continue;
    current->blocks[i - 1] = current->blocks[--current->count];
    break;
  }
  free(memory);
}

/// Returns whether `entry` came to its end.
static bool enter(Heap *heap, gqEntry entry, void *const *results,
                  void *const *arguments) {
  if (setjmp(heap->failure))
    return false;
  entry(results, arguments);
  return true;
}

gqStatus gqHeapCall(gqEntry entry, void *const *results,
                    void *const *arguments) {
  Heap heap = {.outer = current};
  current = &heap;
  bool finished = enter(&heap, entry, results, arguments);
  current = heap.outer;
  // What is left after a call that finished belongs to its results.
  for (size_t i = 0; !finished && i < heap.count; ++i)
    free(heap.blocks[i]);
  free(heap.blocks);
  return finished ? GQ_OK : GQ_OUT_OF_MEMORY;
}
